/* A config.json of Hugging Face's transformers becomes a transformer: two tables say what a type of
 * model has by itself, and what each key means. The names and defaults are those of
 * huggingface/transformers, src/transformers/models/TYPE/configuration_TYPE.py. */
#include <fnmatch.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "ar_file.h"
#include "ar_numbers.h"
#include "ar_text.h"
#include "ar_transformer.h"

enum { CONFIG_BYTES_MAX = 4 << 20, LEFT_OUT_TEXT = 400, VALUE_TEXT = 60, SIZE_MOST = 100000000 };

/* --- types of models -------------------------------------------------------------------------- */

/* Traits that a type of model has where no key says otherwise. */
enum {
    GATED = 1,       /* three matrices in a feed-forward network */
    TIED = 2,        /* the output has no matrix of its own */
    POSITIONS = 4,   /* learned ones */
    PARALLEL = 8,    /* attention and network */
    HEAD_NORMS = 16, /* of queries and keys */
    ASKED = 32,      /* windows of attention only with use_sliding_window, from a layer on */
    SHARED = 64      /* each layer of experts has one that all tokens take */
};
enum { NO_LAYER = 0, EVERY_LAYER = 1 << 30 };

static const struct model_type {
    const char *name;
    enum ar_biases biases;
    unsigned traits;
    uint32_t norms;  /* of a layer */
    uint32_t extra;  /* rows of the embedding of positions that no token has */
    uint32_t period; /* layers among which one sees all tokens, the others a window */
    uint32_t vocab;  /* where files leave it out */
} model_types[] = {
    {"llama", AR_BIASES_NONE, GATED, 2, 0, NO_LAYER, 0},
    {"llama4_text", AR_BIASES_NONE, GATED | SHARED, 2, 0, NO_LAYER, 0},
    {"mistral", AR_BIASES_NONE, GATED, 2, 0, EVERY_LAYER, 0},
    {"mixtral", AR_BIASES_NONE, GATED, 2, 0, EVERY_LAYER, 0},
    {"qwen2", AR_BIASES_QKV, GATED | ASKED, 2, 0, EVERY_LAYER, 0},
    {"qwen2_moe", AR_BIASES_QKV, GATED | ASKED, 2, 0, EVERY_LAYER, 0},
    {"qwen2_vl", AR_BIASES_QKV, GATED | ASKED, 2, 0, EVERY_LAYER, 0},
    {"qwen2_5_vl", AR_BIASES_QKV, GATED | ASKED, 2, 0, EVERY_LAYER, 0},
    {"qwen3", AR_BIASES_NONE, GATED | ASKED | HEAD_NORMS, 2, 0, EVERY_LAYER, 0},
    {"qwen3_vl_text", AR_BIASES_NONE, GATED | HEAD_NORMS, 2, 0, NO_LAYER, 0},
    {"qwen3_vl_moe_text", AR_BIASES_NONE, GATED | HEAD_NORMS, 2, 0, NO_LAYER, 0},
    {"qwen3_moe", AR_BIASES_NONE, GATED | ASKED | HEAD_NORMS, 2, 0, EVERY_LAYER, 0},
    {"deepseek_v2", AR_BIASES_NONE, GATED, 2, 0, NO_LAYER, 0},
    {"deepseek_v3", AR_BIASES_NONE, GATED, 2, 0, NO_LAYER, 0},
    {"deepseek_v32", AR_BIASES_NONE, GATED, 2, 0, NO_LAYER, 0},
    {"kimi_k2", AR_BIASES_NONE, GATED, 2, 0, NO_LAYER, 0},
    {"minimax_m2", AR_BIASES_NONE, GATED | HEAD_NORMS, 2, 0, NO_LAYER, 0},
    {"glm4", AR_BIASES_NONE, GATED, 4, 0, NO_LAYER, 0},
    {"glm4_moe", AR_BIASES_NONE, GATED, 2, 0, NO_LAYER, 0},
    {"gpt_oss", AR_BIASES_ALL, GATED, 2, 0, 2, 0},
    {"seed_oss", AR_BIASES_QKV, GATED, 2, 0, NO_LAYER, 0},
    {"olmo2", AR_BIASES_NONE, GATED | HEAD_NORMS, 2, 0, NO_LAYER, 0},
    {"olmo3", AR_BIASES_NONE, GATED | HEAD_NORMS, 2, 0, 4, 0},
    {"olmoe", AR_BIASES_NONE, GATED | HEAD_NORMS, 2, 0, NO_LAYER, 0},
    {"granite", AR_BIASES_NONE, GATED, 2, 0, NO_LAYER, 0},
    {"granitemoe", AR_BIASES_NONE, GATED, 2, 0, NO_LAYER, 0},
    {"smollm3", AR_BIASES_NONE, GATED | TIED, 2, 0, NO_LAYER, 0},
    {"apertus", AR_BIASES_NONE, HEAD_NORMS, 2, 0, NO_LAYER, 0},
    {"cohere", AR_BIASES_NONE, GATED | TIED | PARALLEL, 1, 0, NO_LAYER, 0},
    {"nemotron", AR_BIASES_NONE, 0, 2, 0, NO_LAYER, 0},
    {"starcoder2", AR_BIASES_ALL, TIED, 2, 0, EVERY_LAYER, 0},
    {"gpt2", AR_BIASES_ALL, TIED | POSITIONS, 2, 0, NO_LAYER, 0},
    {"gpt_neox", AR_BIASES_ALL, PARALLEL, 2, 0, NO_LAYER, 0},
    {"bloom", AR_BIASES_ALL, TIED, 2, 0, NO_LAYER, 0},
    {"opt", AR_BIASES_ALL, TIED | POSITIONS, 2, 2, NO_LAYER, 0},
    {"mpt", AR_BIASES_NONE, TIED | POSITIONS, 2, 0, NO_LAYER, 0},
    {"gemma", AR_BIASES_NONE, GATED | TIED, 2, 0, NO_LAYER, 0},
    {"gemma2", AR_BIASES_NONE, GATED | TIED, 4, 0, 2, 0},
    {"gemma3_text", AR_BIASES_NONE, GATED | TIED | HEAD_NORMS, 4, 0, 6, 262208},
    {"phi", AR_BIASES_ALL, PARALLEL, 1, 0, NO_LAYER, 0},
    {"phi3", AR_BIASES_NONE, GATED, 2, 0, EVERY_LAYER, 0},
};

/* --- keys ------------------------------------------------------------------------------------- */

enum meaning {
    MEANS_SIZE,   /* a count, into a field of struct config; 0 is as a missing key */
    MEANS_FLAG,   /* true or false, into a field */
    MEANS_DROP,   /* a rate of dropout; all rates above 0 cost the same */
    MEANS_ONLY,   /* one of the values of `expected`; all else is refused */
    MEANS_LAYERS, /* names of the attention of each layer */
    MEANS_KEYS,   /* an object with keys of this table */
    MEANS_LEFT    /* costs something that nobody here knows */
};

/* A file as it is read: `model` has what can be said in one field. */
struct config {
    struct ar_transformer model;
    uint32_t expert_ffn, shared_experts, dense_ffn, expert_step, expansion, nope_dim, embedded,
        window_first, unscaled_seq;
    bool is_tied, has_qkv_bias, has_no_biases, is_windowed, has_alibi, has_positions;
    uint32_t given_layers; /* names in layer_types; 0: it was not there */
};

#define TO(place) offsetof(struct config, place)
static const struct config_key {
    const char *names; /* words */
    enum meaning meaning;
    size_t field;
    const char *expected; /* JSON, a list of values */
} config_keys[] = {
    {"num_hidden_layers n_layer n_layers", MEANS_SIZE, TO(model.layers), NULL},
    {"hidden_size n_embd n_embed d_model", MEANS_SIZE, TO(model.hidden), NULL},
    {"num_attention_heads n_head n_heads", MEANS_SIZE, TO(model.heads), NULL},
    {"vocab_size", MEANS_SIZE, TO(model.vocab), NULL},
    {"max_position_embeddings n_positions max_seq_len seq_length", MEANS_SIZE, TO(model.seq), NULL},
    {"original_max_position_embeddings initial_context_length", MEANS_SIZE, TO(unscaled_seq), NULL},
    {"num_key_value_heads kv_n_heads", MEANS_SIZE, TO(model.kv_heads), NULL},
    {"head_dim", MEANS_SIZE, TO(model.head_dim), NULL},
    {"intermediate_size n_inner ffn_dim", MEANS_SIZE, TO(model.ffn), NULL},
    {"expansion_ratio", MEANS_SIZE, TO(expansion), NULL},
    {"word_embed_proj_dim", MEANS_SIZE, TO(embedded), NULL},
    {"num_local_experts num_experts n_routed_experts", MEANS_SIZE, TO(model.experts), NULL},
    {"num_experts_per_tok experts_per_token", MEANS_SIZE, TO(model.top_k), NULL},
    {"n_group", MEANS_SIZE, TO(model.expert_groups), NULL},
    {"topk_group", MEANS_SIZE, TO(model.top_groups), NULL},
    {"moe_intermediate_size", MEANS_SIZE, TO(expert_ffn), NULL},
    {"intermediate_size_mlp", MEANS_SIZE, TO(dense_ffn), NULL},
    {"interleave_moe_layer_step", MEANS_SIZE, TO(expert_step), NULL},
    {"n_shared_experts", MEANS_SIZE, TO(shared_experts), NULL},
    {"shared_expert_intermediate_size", MEANS_SIZE, TO(model.shared_ffn), NULL},
    {"first_k_dense_replace", MEANS_SIZE, TO(model.dense_layers), NULL},
    {"q_lora_rank", MEANS_SIZE, TO(model.query_latent), NULL},
    {"kv_lora_rank", MEANS_SIZE, TO(model.key_latent), NULL},
    {"qk_nope_head_dim", MEANS_SIZE, TO(nope_dim), NULL},
    {"qk_rope_head_dim", MEANS_SIZE, TO(model.rope_dim), NULL},
    {"v_head_dim", MEANS_SIZE, TO(model.value_dim), NULL},
    {"sliding_window", MEANS_SIZE, TO(model.window), NULL},
    {"use_sliding_window", MEANS_FLAG, TO(is_windowed), NULL},
    {"max_window_layers", MEANS_SIZE, TO(window_first), NULL},
    {"layer_types", MEANS_LAYERS, 0, NULL},
    {"sliding_window_pattern", MEANS_ONLY, 0, "[6]"},
    {"tie_word_embeddings", MEANS_FLAG, TO(is_tied), NULL},
    {"attention_bias qkv_bias", MEANS_FLAG, TO(has_qkv_bias), NULL},
    {"no_bias", MEANS_FLAG, TO(has_no_biases), NULL},
    {"enable_bias use_bias", MEANS_ONLY, 0, "[true]"},
    {"mlp_bias qk_ln qk_layernorm add_cross_attention", MEANS_ONLY, 0, "[false]"},
    {"use_qk_norm", MEANS_FLAG, TO(model.has_head_norms), NULL},
    {"use_parallel_residual", MEANS_FLAG, TO(model.is_parallel), NULL},
    {"learned_pos_emb", MEANS_FLAG, TO(has_positions), NULL},
    {"alibi", MEANS_FLAG, TO(has_alibi), NULL},
    {"attn_config rope_scaling rope_parameters", MEANS_KEYS, 0, NULL},
    {"attn_type", MEANS_ONLY, 0, "[\"multihead_attention\", \"grouped_query_attention\"]"},
    {"decoder_sparse_step moe_layer_freq", MEANS_ONLY, 0, "[1]"},
    {"mlp_only_layers", MEANS_ONLY, 0, "[[]]"},
    {"attn_pdrop resid_pdrop embd_pdrop emb_pdrop dropout attention_dropout hidden_dropout "
     "residual_dropout embedding_dropout",
     MEANS_DROP, 0, NULL},
    {"num_nextn_predict_layers attn_logit_softcapping final_logit_softcapping layerdrop "
     "attention_chunk_size",
     MEANS_LEFT, 0, NULL},
};

/* Keys that cost nothing; those that begin with _ or end with _token_id do not, either. */
static const char free_keys[] =
    "model_type architectures auto_map torch_dtype dtype transformers_version use_cache "
    "initializer_range init_std init_config init_device rms_norm_eps layer_norm_eps "
    "layer_norm_epsilon norm_eps norm_epsilon norm_type hidden_act hidden_activation "
    "activation_function activation activation_dropout rope_theta rope_type type factor beta_fast "
    "beta_slow mscale mscale_all_dim low_freq_factor high_freq_factor short_factor long_factor "
    "attention_factor truncate full_attention sliding_attention rope_local_base_freq rotary_pct "
    "rotary_emb_base partial_rotary_factor pretraining_tp router_aux_loss_coef "
    "router_jitter_noise output_router_logits norm_topk_prob topk_method scoring_func "
    "routed_scaling_factor aux_loss_alpha seq_aux ep_size query_pre_attn_scalar "
    "cache_implementation n_ctx scale_attn_weights scale_attn_by_inverse_layer_idx "
    "reorder_and_upcast_attn summary_activation summary_first_dropout summary_proj_to_labels "
    "summary_type summary_use_proj task_specific_params prefix do_layer_norm_before "
    "layer_norm_elementwise_affine verbose logit_scale embedding_fraction softmax_scale prefix_lm "
    "attn_impl alibi_bias_max attn_uses_sequence_id clip_qkv gradient_checkpointing "
    "tokenizer_class classifier_dropout is_decoder quantization_config tokenizer_name "
    "attn_implementation resid_dropout swiglu_limit embedding_multiplier logits_scaling "
    "residual_multiplier attention_multiplier no_rope_layers attn_scale attn_temperature_tuning "
    "floor_scale for_llm_compression mrope_section rotary_dim use_routing_bias qk_norm_type "
    "slow_but_exact masked_softmax_fusion bias_dropout_fusion attention_softmax_in_fp32 "
    "offset_alibi skip_bias_add no_rope_layer_interval";

/* --- reading ---------------------------------------------------------------------------------- */

struct config_reader {
    const char *path;
    struct config config;
    char left_out[LEFT_OUT_TEXT];
    struct ar_error *err;
};

static enum ar_status refuse_key(const struct config_reader *reader, const char *key,
                                 const json_t *value, const char *expected)
{
    char *text = value != NULL ? json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT) : NULL;
    enum ar_status status =
        ar_error_set(reader->err, AR_BAD_DATA, "%s: key \"%.60s\": found %.*s; expected %s",
                     reader->path, key, VALUE_TEXT, text != NULL ? text : "none", expected);
    free(text);
    return status;
}

static void leave_out(struct config_reader *reader, const char *key, const json_t *value)
{
    bool says_nothing = json_is_null(value) || json_is_false(value) ||
                        (json_is_number(value) && json_number_value(value) == 0);
    if (!says_nothing) {
        ar_append_text(reader->left_out, sizeof reader->left_out, "%s%.60s",
                       reader->left_out[0] != '\0' ? ", " : "", key);
    }
}

/* One of the values of a list. */
static enum ar_status check_value(const struct config_reader *reader, const char *expected,
                                  const char *key, const json_t *value)
{
    json_t *list = json_loads(expected, 0, NULL), *one;
    size_t i;
    bool is_there = false;
    json_array_foreach(list, i, one)
    {
        is_there = is_there || json_equal(one, value);
    }
    json_decref(list);
    return is_there ? AR_OK : refuse_key(reader, key, value, expected);
}

/* Counts layers by the name of their attention. */
static enum ar_status take_layers(struct config_reader *reader, const char *key,
                                  const json_t *value)
{
    size_t i;
    json_t *layer;
    AR_REFUSE_BY(!json_is_array(value),
                 refuse_key(reader, key, value, "a list with a name for each layer"));
    reader->config.model.window_layers = 0;
    json_array_foreach(value, i, layer)
    {
        AR_TRY(check_value(reader, "[\"full_attention\", \"sliding_attention\"]", key, layer));
        reader->config.model.window_layers += json_string_value(layer)[0] == 's';
    }
    reader->config.given_layers = (uint32_t)i;
    return AR_OK;
}

static enum ar_status take_keys(struct config_reader *reader, const json_t *object);

static enum ar_status take_value(struct config_reader *reader, const struct config_key *row,
                                 const char *key, const json_t *value)
{
    void *field = (char *)&reader->config + row->field;
    switch (row->meaning) {
    case MEANS_SIZE:
        AR_REFUSE_BY(!json_is_integer(value) || json_integer_value(value) < 0 ||
                         json_integer_value(value) > SIZE_MOST,
                     refuse_key(reader, key, value, "a count up to 100000000"));
        *(uint32_t *)field = (uint32_t)json_integer_value(value);
        return AR_OK;
    case MEANS_FLAG:
        *(bool *)field = json_is_true(value);
        return json_is_boolean(value) ? AR_OK : refuse_key(reader, key, value, "true or false");
    case MEANS_DROP:
        reader->config.model.has_dropout |= json_number_value(value) > 0;
        return json_is_number(value) ? AR_OK : refuse_key(reader, key, value, "a rate of dropout");
    case MEANS_ONLY:
        return check_value(reader, row->expected, key, value);
    case MEANS_LAYERS:
        return take_layers(reader, key, value);
    case MEANS_KEYS:
        return json_is_object(value) ? take_keys(reader, value)
                                     : refuse_key(reader, key, value, "an object");
    case MEANS_LEFT:
        break;
    }
    leave_out(reader, key, value);
    return AR_OK;
}

static enum ar_status take_keys(struct config_reader *reader, const json_t *object)
{
    const size_t rows_count = sizeof config_keys / sizeof config_keys[0];
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)object, key, value)
    {
        bool is_free = key[0] == '_' || ar_text_has_word(free_keys, key) ||
                       fnmatch("?*_token_id", key, 0) == 0;
        size_t row = 0;
        while (row < rows_count && !ar_text_has_word(config_keys[row].names, key)) {
            row++;
        }
        if (row < rows_count && !json_is_null(value)) { /* null is what a missing key is */
            AR_TRY(take_value(reader, &config_keys[row], key, value));
        } else if (row == rows_count && !is_free) {
            leave_out(reader, key, value);
        }
    }
    return AR_OK;
}

/* --- from keys to a model --------------------------------------------------------------------- */

/* Refuses a file without a key that its model cannot be without: a size that no other one tells. */
static enum ar_status check_missing(const struct config_reader *reader)
{
    const struct ar_transformer *model = &reader->config.model;
    bool has_latents = model->key_latent > 0;
    const struct {
        const char *key;
        bool is_missing;
    } required[] = {
        {"num_hidden_layers (n_layer, n_layers)", model->layers == 0},
        {"hidden_size (n_embd, d_model)", model->hidden == 0},
        {"num_attention_heads (n_head, n_heads)", model->heads == 0},
        {"vocab_size", model->vocab == 0},
        {"intermediate_size", model->is_gated && model->ffn == 0 &&
                                  (reader->config.expert_ffn == 0 || model->dense_layers > 0)},
        {"moe_intermediate_size", model->dense_layers > 0 && reader->config.expert_ffn == 0},
        {"qk_nope_head_dim", has_latents && reader->config.nope_dim == 0},
        {"qk_rope_head_dim", has_latents && model->rope_dim == 0},
        {"v_head_dim", has_latents && model->value_dim == 0},
    };
    for (size_t i = 0; i < sizeof required / sizeof required[0]; i++) {
        AR_REFUSE_BY(required[i].is_missing,
                     refuse_key(reader, required[i].key, NULL, "a count above 0"));
    }
    return AR_OK;
}

static enum ar_status multiply_sizes(const struct config_reader *reader, const char *key,
                                     uint32_t count, uint32_t size, uint32_t *product)
{
    AR_REFUSE((uint64_t)count * size > SIZE_MOST, reader->err, AR_BAD_DATA,
              "%s: key \"%s\": found %u, times %u; expected a product of at most %d", reader->path,
              key, count, size, SIZE_MOST);
    *product = count * size;
    return AR_OK;
}

/* Refuses what is missing, and makes one field of several keys. */
static enum ar_status finish_config(struct config_reader *reader, const struct model_type *type)
{
    struct config *config = &reader->config;
    struct ar_transformer *model = &config->model;
    AR_TRY(check_missing(reader));
    AR_REFUSE(config->given_layers != 0 && config->given_layers != model->layers, reader->err,
              AR_BAD_DATA,
              "%s: key \"layer_types\": found %u names; expected %u, one for each layer",
              reader->path, config->given_layers, model->layers);
    AR_REFUSE(config->embedded > 0 && config->embedded != model->hidden, reader->err, AR_BAD_DATA,
              "%s: key \"word_embed_proj_dim\": found %u; expected %u, hidden_size", reader->path,
              config->embedded, model->hidden);
    if (config->unscaled_seq > 0 && config->unscaled_seq < model->seq) {
        model->seq = config->unscaled_seq; /* longer ones come late in a training, if at all */
    }
    model->is_untied = !config->is_tied;
    model->has_positions = config->has_positions && !config->has_alibi;
    model->positions = model->has_positions ? model->seq : 0;
    model->spare_rows = type->extra;
    if (config->has_no_biases) {
        model->biases = AR_BIASES_NONE;
    } else if (model->biases == AR_BIASES_NONE && config->has_qkv_bias) {
        model->biases = AR_BIASES_QKV;
    }
    if (config->expansion > 0) {
        AR_TRY(multiply_sizes(reader, "expansion_ratio", config->expansion, model->hidden,
                              &model->ffn));
    }
    if (model->key_latent > 0) {
        model->kv_heads = 0; /* each head has keys and values of its own */
        model->head_dim = config->nope_dim + model->rope_dim;
    }
    if (config->expert_step > 1 && model->experts > 0) { /* every so many layers have experts */
        model->dense_layers = model->layers - model->layers / config->expert_step;
    }
    if (model->experts > 0) {
        uint32_t dense_ffn = config->dense_ffn > 0 ? config->dense_ffn : model->ffn;
        config->shared_experts = (type->traits & SHARED) != 0 ? 1 : config->shared_experts;
        model->dense_ffn = model->dense_layers > 0 ? dense_ffn : 0;
        model->ffn = config->expert_ffn > 0 ? config->expert_ffn : model->ffn;
    }
    if (config->shared_experts > 0) {
        AR_TRY(multiply_sizes(reader, "n_shared_experts", config->shared_experts, model->ffn,
                              &model->shared_ffn));
    }
    bool is_asked = (type->traits & ASKED) != 0;
    uint32_t without = is_asked           ? config->window_first
                       : type->period > 0 ? model->layers / type->period
                                          : model->layers;
    bool has_windows = model->window > 0 && without < model->layers;
    if (config->given_layers == 0 && has_windows && (!is_asked || config->is_windowed)) {
        model->window_layers = model->layers - without;
    }
    return AR_OK;
}

static enum ar_status find_type(struct config_reader *reader, const json_t *root,
                                const struct model_type **type)
{
    enum { TYPES = sizeof model_types / sizeof model_types[0] };
    const char *names[TYPES + 1] = {NULL};
    char expected[400];
    const json_t *value = json_object_get(root, "model_type");
    for (size_t i = 0; i < TYPES; i++) {
        names[i] = model_types[i].name;
        if (json_is_string(value) && strcmp(json_string_value(value), names[i]) == 0) {
            *type = &model_types[i];
            return AR_OK;
        }
    }
    return refuse_key(reader, "model_type", value,
                      value == NULL
                          ? "a model; a profile of PyTorch is named *trace.json or *.json.gz, a "
                            "step of Chakra .et (protobuf, not JSON)"
                          : ar_list_choices(names, expected, sizeof expected));
}

static enum ar_status read_config(struct config_reader *reader, const json_t *root)
{
    const struct model_type *type = NULL;
    const json_t *text = json_object_get(root, "text_config"), *other;
    const char *key;
    if (json_is_object(text)) { /* of a model that also sees or hears, which is left out */
        json_object_foreach((json_t *)root, key, other)
        {
            if (json_is_object(other) && other != text && strstr(key, "_config") != NULL) {
                leave_out(reader, key, other);
            }
        }
        root = text;
    }
    AR_TRY(find_type(reader, root, &type));
    reader->config = (struct config){.model = {.is_gated = (type->traits & GATED) != 0,
                                               .biases = type->biases,
                                               .norms = type->norms,
                                               .vocab = type->vocab,
                                               .has_head_norms = (type->traits & HEAD_NORMS) != 0,
                                               .is_parallel = (type->traits & PARALLEL) != 0},
                                     .is_tied = (type->traits & TIED) != 0,
                                     .has_positions = (type->traits & POSITIONS) != 0};
    AR_TRY(take_keys(reader, root));
    return finish_config(reader, type);
}

enum ar_status ar_model_config_load(const char *path, struct ar_arena *arena,
                                    struct ar_transformer **model, struct ar_error *err)
{
    char *text;
    size_t bytes;
    json_error_t cause;
    struct config_reader reader = {.path = path, .err = err};
    AR_TRY(ar_file_read(path, CONFIG_BYTES_MAX, "the config.json of a model", arena, &text, &bytes,
                        err));
    json_t *root = json_loadb(text, bytes, JSON_REJECT_DUPLICATES, &cause);
    if (!json_is_object(root)) {
        json_decref(root);
        return ar_error_set(
            err, AR_BAD_DATA, "%s:%d: %s; expected the config.json of a model, an object", path,
            root == NULL ? cause.line : 1, root == NULL ? cause.text : "found no object");
    }
    enum ar_status status = read_config(&reader, root);
    json_decref(root);
    AR_TRY(status);
    struct ar_transformer *made = ar_arena_alloc(arena, 1, sizeof *made);
    *made = reader.config.model;
    made->name = ar_arena_text(arena, path);
    made->source = made->name;
    made->left_out = reader.left_out[0] != '\0' ? ar_arena_text(arena, reader.left_out) : NULL;
    ar_hash_bytes(&made->digest, text, bytes);
    *model = made;
    return AR_OK;
}
