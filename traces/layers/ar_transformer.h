/** \file ar_transformer.h
 * A transformer: its shape, and what a part of it costs one GPU in kernels, bytes and parameters.
 *
 * A layer is attention and a feed-forward network, each behind a norm and with a residual. Sharded
 * over `tp` GPUs as Megatron-LM does it (arXiv:1909.08053), a GPU has heads / tp heads and ffn / tp
 * columns; the norms and residuals see all tokens, or with sequence parallelism (arXiv:2205.05198)
 * tokens / tp of them. A mixture of experts has `experts` feed-forward networks, of which a token
 * takes `top_k`; experts / ep of them are on one GPU, and the fullest has `imbalance` times as many
 * tokens as the mean.
 *
 * With b sequences of s tokens, T = b s, hidden size h, q = heads * head_dim, g = kv_heads *
 * head_dim, f = ffn and t = tp the forward pass of a layer has the products (rows x columns x
 * inner)
 *
 *     T x (q + 2 g)/t x h,  attention,  T x h x q/t,  T x f/t x h (twice if gated),  T x h x f/t
 *
 * and the backward pass two of the same size for each. Attention is two batched products of b
 * heads/t and the softmax between them in memory, or one fused kernel. All else is bound by memory:
 * how often a kernel reads or writes its tensor is in transformer_kernels.c.
 *
 * With `cp` GPUs to a sequence a GPU has T / cp tokens of it, and of attention s / cp queries and
 * all s keys.
 *
 * A latent attention (MLA, arXiv:2405.04434) makes queries from a vector of `query_latent` numbers,
 * keys and values from one of `key_latent`, and adds `rope_dim` numbers to each key that all heads
 * share. The products that make the latent vectors are on every GPU, those behind them sharded:
 *
 *     T x query_latent x h,  T x q/t x query_latent,  T x (key_latent + rope_dim) x h,
 *     T x heads (head_dim - rope_dim + value_dim)/t x key_latent
 *
 * Where layers differ, all of a model count as a mean one, which has each kernel for the share of
 * the layers that have it: a mixture whose first `dense_layers` have one network of `dense_ffn`,
 * and attention of which `window_layers` see the last `window` tokens alone. Sums over a model are
 * right; a stage that has those layers, or has none of them, is taken to be like the others.
 *
 * Adapters of low rank (LoRA, arXiv:2106.09685) of rank R stand beside the products of attention,
 * those of queries, keys and values and the projection: T x R x inner and T x columns x R. They
 * alone are trained, so the backward pass has no gradients of other weights, and one product in
 * place of two for each of them.
 *
 * A model has 2 * multiply-accumulates of all products, attention counted over all pairs of tokens
 * also where it is causal: that of arXiv:2104.04473, equation 3, divided by 4/3 or not.
 */
#pragma once

#include "ar_csv.h"
#include "ar_device_cost.h"

/** Which products add a bias; norms have one where all have. */
enum ar_biases {
    AR_BIASES_BY_POSITIONS, /**< all products of a model with learned positions, else none */
    AR_BIASES_NONE,
    AR_BIASES_QKV, /**< queries, keys and values */
    AR_BIASES_ALL
};

/** The most layers of a model. */
enum { AR_TRANSFORMER_LAYERS_MAX = 10000 };

struct ar_transformer {
    const char *name;
    uint32_t layers;
    uint32_t hidden;
    uint32_t heads;
    uint32_t kv_heads; /**< heads of keys and values; 0: as many as heads */
    uint32_t head_dim; /**< 0: hidden / heads */
    uint32_t ffn;      /**< 0: 4 hidden, gated 8/3 hidden */
    uint32_t seq;
    uint32_t vocab;
    bool is_gated;      /**< the feed-forward network has three matrices (SwiGLU), not two */
    bool is_untied;     /**< the output has a matrix of its own */
    bool has_positions; /**< learned ones, an embedding of `seq` rows */
    bool has_dropout;   /**< in attention and at residuals */
    uint32_t experts;   /**< 0: no mixture */
    uint32_t top_k;     /**< experts of a token */
    uint32_t lora;      /**< rank of adapters, which alone are trained; 0: none */
    double
        imbalance; /**< tokens of the fullest GPU over their mean, where experts are spread; 0: 1 */
    const char *source;

    /* Rows of transformers.csv leave the following fields 0; a config.json may set them. */
    enum ar_biases biases;
    uint32_t norms;         /**< norms of a layer; 0: 2 */
    uint32_t positions;     /**< learned ones, the longest sequence; 0: `seq` */
    uint32_t spare_rows;    /**< rows of their embedding that no token has */
    uint32_t value_dim;     /**< size of a head's values; 0: head_dim */
    uint32_t query_latent;  /**< size of the vector that queries are made from; 0: hidden */
    uint32_t key_latent;    /**< the same of keys and values; 0: no latent attention */
    uint32_t rope_dim;      /**< numbers of head_dim that are not made from the latent vector */
    uint32_t shared_ffn;    /**< columns of all experts that every token takes */
    uint32_t dense_layers;  /**< layers of a mixture that have one network in its place */
    uint32_t dense_ffn;     /**< columns of that network */
    uint32_t expert_groups; /**< groups of experts, of which routers choose some first; 0: one */
    uint32_t top_groups;    /**< groups that experts of a token are taken from */
    uint32_t window;        /**< tokens that attention sees in some layers; 0: all */
    uint32_t window_layers; /**< the number of these layers */
    bool has_head_norms;    /**< queries and keys are normalized, head by head */
    bool is_parallel;       /**< attention and network take the same input and are summed once */
    const char *left_out;   /**< keys of the file whose cost is unknown here; NULL: none */
    uint64_t digest;        /**< hash of the file; 0: a row of a table */
};

/** Kinds of attention: two products with the softmax between them in memory, or one kernel
 * that keeps no matrix of scores. `flash2` runs at the efficiencies of the cost table, which are
 * those of the fused kernel of TensorRT-LLM where one was measured, not of the package
 * flash-attn; its forerunner at 40 % of the peak forward and 30 % backward, the middles of 30 to 50
 * and 25 to 35 % on an A100 (arXiv:2307.08691, section 1), and never faster than its successor. */
#define AR_ATTENTION_LIST(X)                                                                       \
    X(AR_ATTENTION_UNFUSED, "unfused")                                                             \
    X(AR_ATTENTION_FLASH1, "flash1")                                                               \
    X(AR_ATTENTION_FLASH2, "flash2")

enum ar_attention_kind { AR_ATTENTION_LIST(AR_LIST_FIRST) };
extern const char *const ar_attention_names[]; /**< NULL ends them */

/** Modules of a layer that may be computed again in the backward pass, as bits, and the whole
 * layer. Their names are those of Megatron core (--recompute-modules). Attention as one kernel
 * keeps no scores, so that computing it again is not needed and takes no time. */
enum ar_again {
    AR_AGAIN_CORE_ATTN = 1 << 0,
    AR_AGAIN_LAYERNORM = 1 << 1,
    AR_AGAIN_MLP = 1 << 2,     /**< a network that is no mixture of experts */
    AR_AGAIN_MOE = 1 << 3,     /**< a mixture of experts */
    AR_AGAIN_MOE_ACT = 1 << 4, /**< the activation function of experts alone */
    AR_AGAIN_LAYER = 1 << 5    /**< all but the inputs of layers */
};

/** Activations that the backward pass computes again, of each place of a pipeline with layers. */
struct ar_recompute {
    unsigned modules; /**< enum ar_again; 0: nothing */
    uint32_t layers;  /**< of the place, from its first on; 0: all */
};
#define AR_RECOMPUTE_NONE      ((struct ar_recompute){.modules = 0})
#define AR_RECOMPUTE_SELECTIVE ((struct ar_recompute){.modules = AR_AGAIN_CORE_ATTN})
#define AR_RECOMPUTE_FULL      ((struct ar_recompute){.modules = AR_AGAIN_LAYER})

/** Reads and prints `none`, `selective` (core_attn), `selective:core_attn+mlp`, `full`, or `full:K`
 * for the first K layers of each place. AR_USAGE: none of these. */
enum { AR_RECOMPUTE_TEXT = 64 };
enum ar_status ar_recompute_parse(const char *where, const char *text,
                                  struct ar_recompute *recompute, struct ar_error *err);
const char *ar_recompute_format(struct ar_recompute recompute, char text[AR_RECOMPUTE_TEXT]);

/** The part of a model that a GPU has, and how it computes it. */
struct ar_transformer_slice {
    uint32_t micro_batch; /**< sequences */
    uint32_t tp;
    uint32_t ep;
    uint32_t cp; /**< 0: 1 */
    bool is_sequence_parallel;
    enum ar_attention_kind attention;
    enum ar_precision precision;
    unsigned again;     /**< modules that a layer computes again, enum ar_again */
    double elementwise; /**< factor on the bytes of norms and activations; 0: 1 */
};

/** A part of a model: one layer, what comes before the first and after the last one. */
enum ar_transformer_part { AR_PART_LAYER, AR_PART_EMBEDDING, AR_PART_HEAD };

enum ar_transformer_pass {
    AR_PASS_FORWARD,
    AR_PASS_BACKWARD,
    AR_PASS_AGAIN /**< what the backward pass of a layer computes again before */
};

enum ar_kernel_kind {
    AR_KERNEL_GEMM,
    AR_KERNEL_CAST, /**< makes operands of a product; none where they are stored so */
    AR_KERNEL_FLASH1,
    AR_KERNEL_FLASH2,
    AR_KERNEL_MEMORY
};

struct ar_kernel {
    const char *name;
    enum ar_kernel_kind kind;
    double lacking_frac; /**< share of the layers that do not have it, 0 where all are alike */
    union {              /* by kind */
        struct ar_gemm gemm;
        struct ar_attention attention;
        double elements; /**< of a cast */
        double bytes;    /**< read and written */
    };
};

enum { AR_KERNELS_MAX = 80 };

struct ar_kernels {
    struct ar_kernel list[AR_KERNELS_MAX];
    size_t count;
    double lacking_frac; /**< of those that are added next */
    double elementwise;  /**< factor on the bytes of norms and activations */
};

/** Fills in what follows from the rest where it is 0, and refuses (AR_USAGE) a shape that is none;
 * `where` begins the error line. */
enum ar_status ar_transformer_settle(const char *where, struct ar_transformer *model,
                                     struct ar_error *err);

/** The kernels of a part in a pass. */
void ar_transformer_kernels(const struct ar_transformer *model,
                            const struct ar_transformer_slice *slice, enum ar_transformer_part part,
                            enum ar_transformer_pass pass, struct ar_kernels *kernels);

/** Their time on a device. */
double ar_kernels_s(const struct ar_kernels *kernels, const struct ar_device_cost *cost,
                    enum ar_precision precision);

/** FLOPs of a forward pass for one sequence, on all GPUs; times 3 with the backward pass. */
double ar_transformer_forward_flop(const struct ar_transformer *model);

/** The operations of attention among them; a causal one needs half of these. */
double ar_transformer_attention_flop(const struct ar_transformer *model);

/** Share of the layers that are a mixture of experts: 0 of a model without. */
double ar_transformer_mixture_frac(const struct ar_transformer *model);

/** Parameters that a GPU holds of a part, and those of the whole model (tp = ep = 1). `experts`
 * gets those of a layer's experts, which are spread over ep; the sum of the others is returned. The
 * second function counts the trained parameters: all, or the adapters alone. */
double ar_transformer_part_parameters(const struct ar_transformer *model, uint32_t tp, uint32_t ep,
                                      enum ar_transformer_part part, double *experts);
double ar_transformer_trained_parameters(const struct ar_transformer *model, uint32_t tp,
                                         uint32_t ep, enum ar_transformer_part part,
                                         double *experts);
double ar_transformer_parameters(const struct ar_transformer *model);

/** Trained tensors that a GPU holds of a part: matrices, those of queries, keys and values and of a
 * gated network's input as one each, and biases and norms. */
double ar_transformer_tensors(const struct ar_transformer *model, uint32_t ep,
                              enum ar_transformer_part part);

/** Bytes that a layer keeps of one micro-batch for its backward pass, after arXiv:2205.05198:
 * s b h (10 + 24/t + 5 a s / (h t)) for a GPT in fp16, nothing recomputed, no sequence parallel. */
double ar_transformer_activation_bytes(const struct ar_transformer *model,
                                       const struct ar_transformer_slice *slice);

/** Bytes of the hidden states of one micro-batch: what a layer hands to the next one, and what a
 * collective of tensor parallelism carries. */
double ar_transformer_state_bytes(const struct ar_transformer *model,
                                  const struct ar_transformer_slice *slice);

/** Bytes of the keys and values that context parallelism gathers for one layer and micro-batch: all
 * tokens, and the heads that a GPU has. */
double ar_transformer_keys_bytes(const struct ar_transformer *model,
                                 const struct ar_transformer_slice *slice);

/** Reads the shape of a model from a config.json as Hugging Face's transformers write it, for the
 * types of models of the table in model_config.c. A key that costs something is used, or refused
 * (AR_BAD_DATA) by its name with what was found and what is expected; keys that nobody here knows
 * are listed in `left_out`. `seq` is the longest sequence that the file allows. */
enum ar_status ar_model_config_load(const char *path, struct ar_arena *arena,
                                    struct ar_transformer **model, struct ar_error *err);

/** The columns of a table of named ones (traces/workloads/transformers.csv): what is empty is 0. */
extern const struct ar_columns ar_transformer_columns;
