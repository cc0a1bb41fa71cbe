/* The part of a transformer on one GPU: its kernels, and the bytes that it keeps and sends. */
#include <math.h>

#include "transformer.h"

const char *const ar_attention_names[] = {AR_ATTENTION_LIST(AR_LIST_SECOND) NULL};

/* Fractions of the peak that FlashAttention of 2022 reaches: see ar_attention_kind. */
#define FLASH1_FORWARD_FRAC  0.40
#define FLASH1_BACKWARD_FRAC 0.30

/* --- what is computed ---------------------------------------------------------------------- */

/* A part on one GPU, and the kernels that it is made into. */
struct part {
    const struct ar_transformer *model;
    const struct ar_transformer_slice *slice;
    struct ar_kernels *kernels; /* NULL: sizes alone are asked for */
    bool is_backward;
    double tokens;  /* T / cp, of products */
    double outside; /* tokens that norms and residuals see */
    double hidden;  /* h */
    double query;   /* q / t */
    double keys;    /* g / t; a GPU has at least one head of them */
    double values;  /* as many, of the size of values */
    double context; /* outputs of attention */
    double ffn;     /* f / t, all matrices of a gated one apart */
    double element_bytes;
    bool has_casts; /* operands of products are narrower than what is stored */
    bool is_frozen; /* weights have no gradients */
};

/* Tokens of a sequence that a GPU has. */
static double slice_seq(const struct ar_transformer *model,
                        const struct ar_transformer_slice *slice)
{
    return (double)model->seq / (slice->cp > 0 ? slice->cp : 1);
}

static struct part find_part(const struct ar_transformer *model,
                             const struct ar_transformer_slice *slice)
{
    double tokens = slice->micro_batch * slice_seq(model, slice);
    double kv_heads = fmax(1, (double)model->kv_heads / slice->tp);
    double product_bytes = ar_precisions[slice->precision].bytes;
    return (struct part){.model = model,
                         .slice = slice,
                         .tokens = tokens,
                         .outside = slice->is_sequence_parallel ? tokens / slice->tp : tokens,
                         .hidden = model->hidden,
                         .query = (double)model->heads * model->head_dim / slice->tp,
                         .keys = kv_heads * model->head_dim,
                         .values = kv_heads * model->value_dim,
                         .context = (double)model->heads * model->value_dim / slice->tp,
                         .ffn = (double)model->ffn / slice->tp,
                         .element_bytes = ar_stored_bytes(slice->precision),
                         .has_casts = ar_stored_bytes(slice->precision) > product_bytes,
                         .is_frozen = model->lora > 0};
}

static void add_kernel(const struct part *part, struct ar_kernel kernel)
{
    struct ar_kernels *kernels = part->kernels;
    kernel.lacking_frac = kernels->lacking_frac;
    kernels->list[kernels->count++] = kernel;
}

static void add_memory(const struct part *part, const char *name, double bytes)
{
    add_kernel(part, (struct ar_kernel){.name = name, .kind = AR_KERNEL_MEMORY, .bytes = bytes});
}

/* Norms and activations: several operations on each element, in one kernel if they are fused. */
static void add_elementwise(const struct part *part, const char *name, double bytes)
{
    add_memory(part, name, part->kernels->elementwise * bytes);
}

static void add_cast(const struct part *part, double elements)
{
    add_kernel(part,
               (struct ar_kernel){.name = "cast", .kind = AR_KERNEL_CAST, .elements = elements});
}

static void add_gemm(const struct part *part, const char *name, double count, double m, double n,
                     double k)
{
    add_kernel(part, (struct ar_kernel){.name = name,
                                        .kind = AR_KERNEL_GEMM,
                                        .gemm = {.count = (uint64_t)ceil(count),
                                                 .m = (uint64_t)ceil(m),
                                                 .n = (uint64_t)ceil(n),
                                                 .k = (uint64_t)ceil(k)}});
}

/* The gradient of a bias sums that of the output over the tokens. */
static void add_bias(const struct part *part, bool is_there, double rows, double columns)
{
    if (part->is_backward && is_there) {
        add_memory(part, "bias gradient", rows * columns * part->element_bytes);
    }
}

/* A product with weights of columns x inner: forward, or the gradients of data and weights. Before
 * a product in fp8 its input, backward the gradient of its output, is made from the stored one;
 * weights once for all micro-batches, which is left out. */
static void add_product(const struct part *part, const char *name, double count, double rows,
                        double columns, double inner)
{
    if (part->has_casts) {
        add_cast(part, count * rows * (part->is_backward ? columns : inner));
    }
    if (!part->is_backward) {
        add_gemm(part, name, count, rows, columns, inner);
        return;
    }
    add_gemm(part, name, count, rows, inner, columns);
    if (!part->is_frozen) {
        add_gemm(part, name, count, inner, columns, rows);
    }
}

/* The adapter of a product, if there are any: its two products, never in fp8, and its sum with the
 * output, backward with the gradient of the input. */
static void add_adapter(const struct part *part, double columns, double inner)
{
    double rank = part->model->lora;
    struct part trained = *part;
    trained.is_frozen = false;
    trained.has_casts = false;
    if (rank > 0) {
        double summed = part->is_backward ? inner : columns;
        add_product(&trained, "adapter", 1, part->tokens, rank, inner);
        add_product(&trained, "adapter", 1, part->tokens, columns, rank);
        add_memory(part, "adapter sum", 3 * part->tokens * summed * part->element_bytes);
    }
}

/* A fused kernel; one whose values are narrower than its keys counts as one of the mean size. */
static void add_fused(const struct part *part, double keys)
{
    const struct ar_transformer *model = part->model;
    const struct ar_transformer_slice *slice = part->slice;
    struct ar_attention attention = {
        .count = (uint64_t)slice->micro_batch * model->heads / slice->tp,
        .kv_count = slice->micro_batch * (uint64_t)fmax(1, (double)model->kv_heads / slice->tp),
        .queries = (uint64_t)slice_seq(model, slice),
        .keys = (uint64_t)keys,
        .head_elements = (model->head_dim + model->value_dim) / 2,
        .is_causal = true,
        .is_backward = part->is_backward};
    add_kernel(part, (struct ar_kernel){.name = "attention",
                                        .kind = slice->attention == AR_ATTENTION_FLASH1
                                                    ? AR_KERNEL_FLASH1
                                                    : AR_KERNEL_FLASH2,
                                        .attention = attention});
}

static void add_attention(const struct part *part)
{
    const struct ar_transformer *model = part->model;
    const struct ar_transformer_slice *slice = part->slice;
    if (slice->attention == AR_ATTENTION_UNFUSED) {
        /* Softmax of the scores with its scale and mask is one kernel that reads and writes them,
         * as is its dropout, which has a mask of one byte; backward reads the output as well. */
        double count = (double)slice->micro_batch * model->heads / slice->tp;
        double queries = slice_seq(model, slice), scores = count * queries * model->seq;
        add_memory(part, "softmax", (part->is_backward ? 3 : 2) * scores * part->element_bytes);
        if (model->has_dropout) {
            add_memory(part, "attention dropout", scores * (2 * part->element_bytes + 1));
        }
        add_memory(part, "context copy",
                   2 * count * queries * model->value_dim * part->element_bytes);
        for (int i = 0; i < (part->is_backward ? 2 : 1); i++) {
            add_gemm(part, "scores", count, queries, model->seq, model->head_dim);
            add_gemm(part, "context", count, queries, model->value_dim, model->seq);
        }
        return;
    }
    double windowed = transformer_window_frac(model);
    if (windowed < 1) {
        part->kernels->lacking_frac = windowed;
        add_fused(part, model->seq);
    }
    if (windowed > 0) {
        part->kernels->lacking_frac = 1 - windowed;
        add_fused(part, transformer_window_keys(model));
    }
    part->kernels->lacking_frac = 0;
}

/* A norm reads and writes its input; backward it reads input and gradient twice, for those of its
 * weights and for that of the input, which it writes (NVIDIA/apex, csrc/layer_norm_cuda_kernel.cu);
 * once where its weights are not trained.
 * The residual with its bias and dropout reads two and writes one, and a mask of one byte. */
static void add_norm(const struct part *part)
{
    double state = part->outside * part->hidden * part->element_bytes;
    double passes = !part->is_backward ? 2 : part->is_frozen ? 3 : 5;
    add_elementwise(part, "norm", passes * state);
}

static void add_residual(const struct part *part)
{
    double elements = part->outside * part->hidden;
    double passes = part->is_backward ? 2 : 3;
    add_memory(part, "residual",
               elements * (passes * part->element_bytes + (part->model->has_dropout ? 1 : 0)));
    if (part->is_backward) { /* gradients of both ways are added */
        add_memory(part, "gradient sum", 3 * elements * part->element_bytes);
    }
}

/* Tokens of the networks that a router chooses: those of the fullest GPU for all its experts. */
static double count_routed_tokens(const struct part *part)
{
    return part->tokens * part->model->top_k * (part->slice->ep > 1 ? part->model->imbalance : 1);
}

static void add_activation(const struct part *part, double tokens, double ffn)
{
    double passes = part->is_backward ? 3 : 2; /* in, out, gradient */
    add_elementwise(part, "activation",
                    tokens * ffn * part->element_bytes *
                        (part->model->is_gated ? 1.5 * passes : passes));
}

/* `networks` of `ffn` columns, all matrices of a gated one apart, which share the tokens. */
static void add_networks(const struct part *part, double networks, double tokens, double ffn)
{
    const struct ar_transformer *model = part->model;
    double columns = (model->is_gated ? 2 : 1) * ffn;
    double rows = tokens / networks;
    bool is_biased = transformer_has_biases(model) && model->lora == 0;
    add_product(part, "ffn in", networks, rows, columns, part->hidden);
    add_activation(part, tokens, ffn);
    add_product(part, "ffn out", networks, rows, part->hidden, ffn);
    add_bias(part, is_biased, tokens, columns);
    add_bias(part, is_biased, tokens, part->hidden);
}

/* Each GPU has experts / ep networks, and of the tokens of all ep GPUs those that they take. */
static void add_feed_forward(const struct part *part)
{
    const struct ar_transformer *model = part->model;
    if (model->experts == 0) {
        add_networks(part, 1, part->tokens, part->ffn);
        return;
    }
    double networks = (double)model->experts / part->slice->ep;
    double tokens = count_routed_tokens(part);
    double dense = 1 - ar_transformer_mixture_frac(model);
    part->kernels->lacking_frac = dense;
    add_product(part, "router", 1, part->tokens, model->experts, part->hidden);
    add_memory(part, "dispatch", 4 * tokens * part->hidden * part->element_bytes);
    add_networks(part, networks, tokens, part->ffn);
    if (model->shared_ffn > 0) {
        add_networks(part, 1, part->tokens, (double)model->shared_ffn / part->slice->tp);
    }
    part->kernels->lacking_frac = 1 - dense;
    if (dense > 0) {
        add_networks(part, 1, part->tokens, (double)model->dense_ffn / part->slice->tp);
    }
    part->kernels->lacking_frac = 0;
}

static void add_layer(const struct part *part)
{
    const struct ar_transformer *model = part->model;
    bool is_biased = transformer_has_biases(model) && model->lora == 0;
    bool has_qkv_bias = is_biased || (model->biases == AR_BIASES_QKV && model->lora == 0);
    add_norm(part);
    /* Queries, keys and values from the hidden state, or from normalized latent vectors. */
    double columns = part->query + part->keys + part->values;
    double norm_passes = part->is_backward ? 5 : 2;
    if (model->key_latent == 0) {
        add_product(part, "qkv", 1, part->tokens, columns, part->hidden);
        add_adapter(part, columns, part->hidden);
    } else {
        double rope = model->rope_dim, key_latent = model->key_latent;
        double query_input = model->query_latent > 0 ? model->query_latent : part->hidden;
        double fresh = part->keys * (model->head_dim - rope) / model->head_dim + part->values;
        if (model->query_latent > 0) {
            add_product(part, "query latent", 1, part->tokens, query_input, part->hidden);
        }
        add_product(part, "queries", 1, part->tokens, part->query, query_input);
        add_product(part, "key latent", 1, part->tokens, key_latent + rope, part->hidden);
        add_product(part, "keys, values", 1, part->tokens, fresh, key_latent);
        add_elementwise(part, "latent norms",
                        norm_passes * part->tokens * (model->query_latent + key_latent) *
                            part->element_bytes);
        add_memory(part, "rope key copies", 2 * part->tokens * part->keys * part->element_bytes);
    }
    if (model->has_head_norms) {
        add_elementwise(part, "head norms",
                        norm_passes * part->tokens * (part->query + part->keys) *
                            part->element_bytes);
    }
    if (part->is_backward) { /* gradients of queries, keys and values become one tensor */
        add_memory(part, "qkv gradient", 2 * part->tokens * columns * part->element_bytes);
    }
    add_attention(part);
    add_product(part, "projection", 1, part->tokens, part->hidden, part->context);
    add_adapter(part, part->hidden, part->context);
    add_bias(part, has_qkv_bias, part->tokens, part->query + part->keys + part->values);
    add_bias(part, is_biased, part->tokens, part->hidden);
    add_residual(part);
    for (uint32_t norm = 1; norm < model->norms; norm++) {
        add_norm(part);
    }
    add_feed_forward(part);
    add_residual(part);
}

/* A module is computed again as it went forward. The inputs of products behind a norm are made from
 * its output, in fp8 by a cast. */
static void add_again(const struct part *part)
{
    const struct ar_transformer *model = part->model;
    const struct ar_transformer_slice *slice = part->slice;
    const unsigned network = AR_AGAIN_MLP | AR_AGAIN_MOE;
    if ((slice->again & AR_AGAIN_LAYER) != 0) {
        add_layer(part);
        return;
    }
    if ((slice->again & AR_AGAIN_CORE_ATTN) != 0 && slice->attention == AR_ATTENTION_UNFUSED) {
        add_attention(part);
    }
    uint32_t norms = model->norms < 2 ? model->norms : 2; /* before attention and the network */
    for (uint32_t norm = 0; norm < norms && (slice->again & AR_AGAIN_LAYERNORM) != 0; norm++) {
        bool casts = part->has_casts && (norm == 0 || (slice->again & network) == 0);
        add_norm(part);
        if (casts) {
            add_cast(part, part->tokens * part->hidden);
        }
    }
    if ((slice->again & network) != 0) {
        add_feed_forward(part);
    } else if ((slice->again & AR_AGAIN_MOE_ACT) != 0) {
        double tokens = count_routed_tokens(part);
        part->kernels->lacking_frac = 1 - ar_transformer_mixture_frac(model);
        add_activation(part, tokens, part->ffn);
    }
}

/* Rows of the table are read and written; the gradient is added to them, if they are trained. */
static void add_embedding(const struct part *part)
{
    double state = part->tokens * part->hidden * part->element_bytes;
    if (part->is_backward && part->is_frozen) {
        return;
    }
    add_memory(part, "embedding", (part->is_backward ? 3 : 2) * state);
    if (part->model->has_dropout && !part->is_backward) {
        add_memory(part, "embedding dropout", 2 * state);
    }
}

/* The loss takes logits in fp32, each step a kernel of its own (Megatron-LM v2.6,
 * megatron/mpu/cross_entropy.py): they are widened, their maximum is found and taken away,
 * exponentials are taken, summed and divided by the sum; backward these become the gradient, which
 * is scaled and narrowed. Of 4 bytes each: 1 write, 1 read, 2, 2, 1, 2; and 2, 1. */
static void add_head(const struct part *part)
{
    double columns = (double)part->model->vocab / part->slice->tp;
    double logits = part->tokens * columns;
    double passes = part->is_backward ? 3 : 9;
    add_norm(part);
    add_product(part, "logits", 1, part->tokens, columns, part->hidden);
    add_memory(part, "loss", logits * (4 * passes + part->element_bytes));
}

void ar_transformer_kernels(const struct ar_transformer *model,
                            const struct ar_transformer_slice *slice, enum ar_transformer_part part,
                            enum ar_transformer_pass pass, struct ar_kernels *kernels)
{
    kernels->count = 0;
    kernels->lacking_frac = 0;
    kernels->elementwise = slice->elementwise > 0 ? slice->elementwise : 1;
    struct part made = find_part(model, slice);
    made.kernels = kernels;
    made.is_backward = pass == AR_PASS_BACKWARD;
    if (part == AR_PART_LAYER) {
        (pass == AR_PASS_AGAIN ? add_again : add_layer)(&made);
    } else if (pass != AR_PASS_AGAIN) {
        (part == AR_PART_HEAD ? add_head : add_embedding)(&made);
    }
}

/* FlashAttention of 2022 at its part of the peak; never faster than its successor. */
static double flash1_s(const struct ar_attention *attention, const struct ar_device_cost *cost,
                       enum ar_precision products)
{
    enum ar_precision precision = ar_attention_precision(products);
    double pairs = (double)attention->queries * (double)attention->keys;
    double flop = 4 * (double)attention->count * pairs * (double)attention->head_elements *
                  (attention->is_causal ? 0.5 : 1);
    double work = attention->is_backward ? 2.5 / FLASH1_BACKWARD_FRAC : 1 / FLASH1_FORWARD_FRAC;
    double time_s = work * flop / ar_device_peak_flops(cost, precision);
    return ar_device_cost_has_group(cost, precision, AR_COST_OF_ATTENTION)
               ? fmax(time_s, ar_device_attention_s(cost, precision, attention))
               : time_s;
}

double ar_kernels_s(const struct ar_kernels *kernels, const struct ar_device_cost *cost,
                    enum ar_precision precision)
{
    double time_s = 0;
    AR_EACH(const struct ar_kernel, kernel, kernels->list, kernels->count) {
        double there = 1 - kernel->lacking_frac;
        switch (kernel->kind) {
        case AR_KERNEL_GEMM:
            time_s += there * ar_device_gemm_s(cost, precision, &kernel->gemm);
            break;
        case AR_KERNEL_FLASH1:
            time_s += there * flash1_s(&kernel->attention, cost, precision);
            break;
        case AR_KERNEL_FLASH2:
            time_s += there * ar_device_attention_s(cost, precision, &kernel->attention);
            break;
        case AR_KERNEL_CAST:
            time_s += there * ar_device_cast_s(cost, precision, kernel->elements);
            break;
        case AR_KERNEL_MEMORY:
            time_s += there * ar_device_memory_s(cost, precision, kernel->bytes);
            break;
        }
    }
    return time_s;
}

/* --- what is kept and sent ------------------------------------------------------------------ */

double ar_transformer_state_bytes(const struct ar_transformer *model,
                                  const struct ar_transformer_slice *slice)
{
    return slice->micro_batch * slice_seq(model, slice) * model->hidden *
           ar_stored_bytes(slice->precision);
}

double ar_transformer_keys_bytes(const struct ar_transformer *model,
                                 const struct ar_transformer_slice *slice)
{
    struct part sizes = find_part(model, slice);
    return slice->micro_batch * (double)model->seq * (sizes.keys + sizes.values) *
           sizes.element_bytes;
}

/* Inputs of norms and masks of dropouts are kept for all tokens that the GPU sees outside of tensor
 * parallelism; the rest is spread over it. Inputs of products are kept as these take them, in fp8
 * beside the tensors that other kernels keep (NVIDIA/TransformerEngine,
 * transformer_engine/pytorch/module/linear.py); those of the feed-forward network's products are
 * not kept where its weights are not trained. A network that is computed again keeps its input
 * alone, as the norm gives it, and a norm that is so none of its output (NVIDIA/Megatron-LM,
 * megatron/core/transformer/transformer_layer.py, recompute_mlp and recompute_input_layernorm). */
double ar_transformer_activation_bytes(const struct ar_transformer *model,
                                       const struct ar_transformer_slice *slice)
{
    struct part sizes = find_part(model, slice);
    double e = sizes.element_bytes;
    double state = sizes.outside * sizes.hidden;
    double mixture = ar_transformer_mixture_frac(model);
    double plain = model->experts > 0 ? (double)model->dense_ffn / slice->tp : sizes.ffn;
    double routed = mixture * model->top_k * sizes.ffn;
    double columns = routed + mixture * model->shared_ffn / slice->tp +
                     (1 - mixture) * plain; /* of the networks that a token takes */
    double masks = model->has_dropout ? 1 : 0;
    double scores = (double)slice->micro_batch * model->heads / slice->tp *
                    slice_seq(model, slice) * model->seq;
    if ((slice->again & AR_AGAIN_LAYER) != 0) {
        return state * e;
    }
    bool has_network = (slice->again & (AR_AGAIN_MLP | AR_AGAIN_MOE)) == 0;
    double trained = sizes.is_frozen ? 0 : 1;
    double input = ar_precisions[slice->precision].bytes; /* of a product */
    double context = e + (input < e ? input : 0);         /* what attention gives */
    double normed =
        (slice->again & AR_AGAIN_LAYERNORM) != 0 ? 0 : input + (has_network ? trained * input : e);
    double outside = state * (model->norms * e + normed + 2 * masks); /* norms, products; masks */
    /* The input of an activation function lies in the precision of products where products have no
     * gradients of weights (MLPerf training v4.0, NVIDIA's LoRA of Llama 2 70B: FP8_ACTIVATION). */
    double taken = sizes.is_frozen && input < e ? input : e;
    double activated = (slice->again & AR_AGAIN_MOE_ACT) != 0 ? columns - routed : columns;
    double network =
        has_network ? columns * (model->is_gated ? 2 : 1) * taken + activated * trained * input : 0;
    double latent = model->query_latent + model->key_latent; /* before and behind its norm */
    double head_norms = model->has_head_norms ? sizes.query + sizes.keys : 0;
    double inside = sizes.tokens *
                    (sizes.query * e + sizes.context * context + (sizes.keys + sizes.values) * e +
                     latent * (e + trained * input) + head_norms * e + network);
    bool has_scores =
        slice->attention == AR_ATTENTION_UNFUSED && (slice->again & AR_AGAIN_CORE_ATTN) == 0;
    return outside + inside + (has_scores ? scores * (e + masks * (e + 1)) : 0);
}
