/* Transformers: their file, their floating-point operations and parameters. */
#include "transformer.h"

#include <math.h>

#include "ar_trace.h"

enum ar_status ar_transformer_settle(const char *where, struct ar_transformer *model,
                                     struct ar_error *err)
{
    AR_REFUSE(model->layers == 0 || model->hidden == 0 || model->heads == 0 || model->seq == 0 ||
                  model->vocab == 0,
              err, AR_USAGE,
              "%s: found %u layers, %u hidden, %u heads, a sequence of %u and a vocabulary of %u; "
              "expected all above 0: --layers, --hidden, --heads, --seq, --vocab",
              where, model->layers, model->hidden, model->heads, model->seq, model->vocab);
    model->kv_heads = model->kv_heads > 0 ? model->kv_heads : model->heads;
    AR_REFUSE(model->head_dim == 0 && model->hidden % model->heads != 0, err, AR_USAGE,
              "%s: found %u heads; expected a divisor of the hidden size %u", where, model->heads,
              model->hidden);
    AR_REFUSE(model->heads % model->kv_heads != 0, err, AR_USAGE,
              "%s: found %u heads of keys and values; expected a divisor of the %u heads", where,
              model->kv_heads, model->heads);
    AR_REFUSE(model->seq > model->positions && model->positions > 0, err, AR_USAGE,
              "%s: found sequences of %u tokens; expected at most %u, the learned positions", where,
              model->seq, model->positions);
    AR_REFUSE(model->dense_layers > model->layers, err, AR_USAGE,
              "%s: found %u layers; expected at least %u, those without experts", where,
              model->layers, model->dense_layers);
    AR_REFUSE(model->key_latent > 0 && model->lora > 0, err, AR_USAGE,
              "%s: found adapters of rank %u on latent attention; expected none", where,
              model->lora);
    model->imbalance = model->imbalance > 0 ? model->imbalance : 1;
    model->norms = model->norms > 0 ? model->norms : 2;
    model->head_dim = model->head_dim > 0 ? model->head_dim : model->hidden / model->heads;
    model->ffn = model->ffn > 0    ? model->ffn
                 : model->is_gated ? model->hidden / 3 * 8
                                   : 4 * model->hidden;
    model->value_dim = model->value_dim > 0 ? model->value_dim : model->head_dim;
    AR_REFUSE(model->experts > 0 && (model->top_k == 0 || model->top_k > model->experts), err,
              AR_USAGE, "%s: found top-k %u of %u experts; expected 1 to %u", where, model->top_k,
              model->experts, model->experts);
    AR_REFUSE(model->lora > model->hidden, err, AR_USAGE,
              "%s: found adapters of rank %u; expected at most the hidden size %u", where,
              model->lora, model->hidden);
    double parameters = ar_transformer_parameters(model);
    AR_REFUSE(model->layers > AR_TRANSFORMER_LAYERS_MAX || parameters > AR_TRACE_ELEMENTS_MAX, err,
              AR_USAGE, "%s: found %u layers and %.3g parameters; expected at most %d and %.3g",
              where, model->layers, parameters, AR_TRANSFORMER_LAYERS_MAX,
              (double)AR_TRACE_ELEMENTS_MAX);
    return AR_OK;
}

/* --- the file ------------------------------------------------------------------------------ */

#define CELL(kind, field, name, ...)                                                               \
    AR_COLUMN(kind, struct ar_transformer, field, name, __VA_ARGS__)
#define SIZE(field) CELL(count, field, #field, "a count", .max = 1e8, .may_be_empty = true)
static const struct ar_column transformer_columns[] = {
    CELL(string, name, "name", "a name"),
    SIZE(layers),
    SIZE(hidden),
    SIZE(heads),
    SIZE(kv_heads),
    SIZE(head_dim),
    SIZE(ffn),
    SIZE(seq),
    SIZE(vocab),
    CELL(flag, is_gated, "gated", ""),
    CELL(flag, is_untied, "untied", ""),
    CELL(flag, has_positions, "positions", ""),
    CELL(flag, has_dropout, "dropout", ""),
    SIZE(experts),
    SIZE(top_k),
    CELL(string, source, "source", "where the shape was published"),
};

const struct ar_columns ar_transformer_columns = AR_COLUMNS(transformer_columns);

/* --- what is counted ------------------------------------------------------------------------ */

bool transformer_has_biases(const struct ar_transformer *model)
{
    return model->biases == AR_BIASES_ALL ||
           (model->biases == AR_BIASES_BY_POSITIONS && model->has_positions);
}

double transformer_window_keys(const struct ar_transformer *model)
{
    double window = model->window, seq = model->seq;
    return model->window > 0 && model->window < model->seq ? 2 * window - window * window / seq
                                                           : seq;
}

double transformer_window_frac(const struct ar_transformer *model)
{
    return model->window > 0 && model->window < model->seq
               ? (double)model->window_layers / model->layers
               : 0;
}

double ar_transformer_mixture_frac(const struct ar_transformer *model)
{
    return model->experts == 0        ? 0
           : model->dense_layers == 0 ? 1
                                      : 1 - (double)model->dense_layers / model->layers;
}

double ar_transformer_attention_flop(const struct ar_transformer *model)
{
    double sizes = (double)model->heads * model->head_dim + (double)model->heads * model->value_dim;
    double windowed = transformer_window_frac(model);
    double keys = (1 - windowed) * model->seq + windowed * transformer_window_keys(model);
    return 2 * model->seq * (model->layers * (sizes * keys));
}

/* Weights of a layer's attention on one of tp GPUs, all but biases and norms of hidden states;
 * `has_norms`: those of latent vectors count. */
static double attention_weights(const struct ar_transformer *model, uint32_t tp, bool has_norms)
{
    double h = model->hidden;
    double q = (double)model->heads * model->head_dim;
    double context = (double)model->heads * model->value_dim;
    double heads = fmax(model->kv_heads, tp);
    if (model->key_latent == 0) {
        return (q + context + heads * model->head_dim + heads * model->value_dim) * h / tp;
    }
    double latent = model->key_latent, rope = model->rope_dim, query_latent = model->query_latent;
    double fresh = (double)model->heads * (model->head_dim - rope + model->value_dim);
    return (query_latent > 0 ? h * query_latent + query_latent * q / tp : h * q / tp) +
           h * (latent + rope) + latent * fresh / tp + context * h / tp +
           (has_norms ? query_latent + latent : 0);
}

/* Weights of one feed-forward network of `ffn` columns on one of tp GPUs. */
static double network_weights(const struct ar_transformer *model, double ffn, uint32_t tp)
{
    return (model->is_gated ? 3 : 2) * model->hidden * ffn / tp;
}

double ar_transformer_forward_flop(const struct ar_transformer *model)
{
    double h = model->hidden, mixture = ar_transformer_mixture_frac(model);
    double routed = model->top_k * network_weights(model, model->ffn, 1) +
                    network_weights(model, model->shared_ffn, 1) + h * model->experts;
    double plain = network_weights(model, model->experts > 0 ? model->dense_ffn : model->ffn, 1);
    double per_token =
        attention_weights(model, 1, false) + mixture * routed + (1 - mixture) * plain;
    return 2 * model->seq * (model->layers * per_token + h * model->vocab) +
           ar_transformer_attention_flop(model);
}

/* Parameters of the adapters of a layer: two matrices for each of its two products. */
static double adapter_parameters(const struct ar_transformer *model, uint32_t tp)
{
    double h = model->hidden, q = (double)model->heads * model->head_dim;
    double g = fmax(model->kv_heads, tp) * model->head_dim;
    return model->lora * (2 * h + 2 * q + 2 * g) / tp;
}

double ar_transformer_part_parameters(const struct ar_transformer *model, uint32_t tp, uint32_t ep,
                                      enum ar_transformer_part part, double *experts)
{
    double h = model->hidden;
    double q = (double)model->heads * model->head_dim;
    double g = fmax(model->kv_heads, tp) * model->head_dim;
    double mixture = ar_transformer_mixture_frac(model);
    double network = network_weights(model, model->ffn, tp);
    double plain = model->experts > 0 ? network_weights(model, model->dense_ffn, tp) : network;
    bool has_bias = transformer_has_biases(model);
    double norms = model->norms > 0 ? model->norms : 2;
    double rows = (model->positions > 0 ? model->positions : model->seq) + model->spare_rows;
    *experts = 0;
    switch (part) {
    case AR_PART_LAYER:
        *experts = model->experts > 0 ? mixture * (model->experts * network / ep) : 0;
        return adapter_parameters(model, tp) + attention_weights(model, tp, true) +
               mixture * (h * model->experts + network_weights(model, model->shared_ffn, tp)) +
               (1 - mixture) * plain + norms * (has_bias ? 2 * h : h) +
               (has_bias                         ? 2 * h + (q + 2 * g + model->ffn) / tp
                : model->biases == AR_BIASES_QKV ? (q + 2 * g) / tp
                                                 : 0) +
               (model->has_head_norms ? 2 * model->head_dim : 0);
    case AR_PART_EMBEDDING:
        return h * model->vocab / tp + (model->has_positions ? h * rows : 0);
    default:
        return (model->is_untied ? h * model->vocab / tp : 0) + (has_bias ? 2 * h : h);
    }
}

double ar_transformer_trained_parameters(const struct ar_transformer *model, uint32_t tp,
                                         uint32_t ep, enum ar_transformer_part part,
                                         double *experts)
{
    if (model->lora == 0) {
        return ar_transformer_part_parameters(model, tp, ep, part, experts);
    }
    *experts = 0;
    return part == AR_PART_LAYER ? adapter_parameters(model, tp) : 0;
}

double ar_transformer_parameters(const struct ar_transformer *model)
{
    double experts, ignored;
    double layer = ar_transformer_part_parameters(model, 1, 1, AR_PART_LAYER, &experts);
    return model->layers * (layer + experts) +
           ar_transformer_part_parameters(model, 1, 1, AR_PART_EMBEDDING, &ignored) +
           ar_transformer_part_parameters(model, 1, 1, AR_PART_HEAD, &ignored);
}

double ar_transformer_tensors(const struct ar_transformer *model, uint32_t ep,
                              enum ar_transformer_part part)
{
    bool has_bias = transformer_has_biases(model);
    double networks = model->experts > 0 ? (double)model->experts / ep : 1;
    double mixture = ar_transformer_mixture_frac(model), norm = has_bias ? 2 : 1;
    double latents = model->key_latent == 0 ? 0 : model->query_latent > 0 ? 2 : 1;
    double attention = model->key_latent == 0 ? 2 : 3 + latents; /* matrices */
    if (model->lora > 0) {
        return part == AR_PART_LAYER ? 4 : 0;
    }
    switch (part) {
    case AR_PART_LAYER:
        return (attention + mixture * (2 * networks + (model->shared_ffn > 0 ? 2 : 0)) +
                (1 - mixture) * 2) *
                   (has_bias ? 2 : 1) +
               mixture + model->norms * norm + latents + (model->has_head_norms ? 2 : 0) +
               (model->biases == AR_BIASES_QKV ? 1 : 0);
    case AR_PART_EMBEDDING:
        return model->has_positions ? 2 : 1;
    default:
        return (model->is_untied ? 1 : 0) + norm;
    }
}
