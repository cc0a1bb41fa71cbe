/* A config.json of Hugging Face's transformers becomes a transformer: two tables say what a type of
 * model has by itself, and what each key means. The names and defaults are those of
 * huggingface/transformers, src/transformers/models/TYPE/configuration_TYPE.py. */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "ar_file.h"
#include "ar_numbers.h"
#include "ar_text.h"
#include "ar_transformer.h"

enum { CONFIG_BYTES_MAX = 4 << 20, LEFT_OUT_TEXT = 400, VALUE_TEXT = 60 };

/* --- types of models -------------------------------------------------------------------------- */

/* The layers in which attention sees a window, where no `layer_types` says. */
enum windows { WINDOWS_NONE, WINDOWS_ALL, WINDOWS_FROM_KEY, WINDOWS_BUT_EVERY };

#define GATED .is_gated = true, .biases = AR_BIASES_NONE
#define GPT   .biases = AR_BIASES_ALL, .has_positions = true
/* What a type of model has where no key says otherwise. */
static const struct model_type {
    const char *name;
    bool is_gated;
    bool is_tied; /* the output has no matrix of its own */
    enum ar_biases biases;
    uint32_t norms; /* of a layer; 0: 2 */
    bool has_positions;
    uint32_t positions_extra; /* rows of their embedding that no token has */
    bool has_head_norms;
    bool is_parallel;
    enum windows windows;
    uint32_t window_period; /* of WINDOWS_BUT_EVERY: each of so many layers sees all tokens */
} model_types[] = {
    /* clang-format off: a line for each type */
    {.name = "llama", GATED},
    {.name = "mistral", GATED, .windows = WINDOWS_ALL},
    {.name = "mixtral", GATED, .windows = WINDOWS_ALL},
    {.name = "qwen2", .is_gated = true, .biases = AR_BIASES_QKV, .windows = WINDOWS_FROM_KEY},
    {.name = "qwen2_moe", .is_gated = true, .biases = AR_BIASES_QKV, .windows = WINDOWS_FROM_KEY},
    {.name = "qwen3", GATED, .has_head_norms = true, .windows = WINDOWS_FROM_KEY},
    {.name = "qwen3_moe", GATED, .has_head_norms = true, .windows = WINDOWS_FROM_KEY},
    {.name = "deepseek_v2", GATED},
    {.name = "deepseek_v3", GATED},
    {.name = "gpt2", GPT, .is_tied = true},
    {.name = "gpt_neox", .biases = AR_BIASES_ALL, .is_parallel = true},
    {.name = "opt", GPT, .is_tied = true, .positions_extra = 2},
    {.name = "mpt", .biases = AR_BIASES_NONE, .is_tied = true, .has_positions = true},
    {.name = "gemma", GATED, .is_tied = true},
    {.name = "gemma2",
     GATED,
     .is_tied = true,
     .norms = 4,
     .windows = WINDOWS_BUT_EVERY,
     .window_period = 2},
    {.name = "gemma3_text",
     GATED,
     .is_tied = true,
     .norms = 4,
     .has_head_norms = true,
     .windows = WINDOWS_BUT_EVERY,
     .window_period = 6},
    {.name = "phi", .biases = AR_BIASES_ALL, .norms = 1, .is_parallel = true},
    {.name = "phi3", GATED, .windows = WINDOWS_ALL},
    /* clang-format on */
};

/* --- keys ------------------------------------------------------------------------------------- */

enum meaning {
    MEANS_SIZE,   /* a count above 0, into a field of struct config */
    MEANS_FLAG,   /* true or false, into a field */
    MEANS_DROP,   /* a rate of dropout, which costs the same whatever it is */
    MEANS_ONLY,   /* one of the values of `expected`; all else is refused */
    MEANS_LAYERS, /* names of the attention of each layer */
    MEANS_KEYS,   /* an object with keys of this table */
    MEANS_LEFT    /* costs something that nobody here knows */
};

/* A file as it is read: `model` has what can be said in one field. */
struct config {
    struct ar_transformer model;
    uint32_t expert_ffn, shared_experts, expansion, nope_dim, embedded, window_first;
    bool is_tied, has_qkv_bias, has_no_biases, is_windowed, has_alibi, has_positions;
    bool is_given_layers; /* layer_types was there */
};

#define TO(place) offsetof(struct config, place)
#define KEY_SIZE(key, place)                                                                       \
    {                                                                                              \
        .name = key, .meaning = MEANS_SIZE, .field = TO(place)                                     \
    }
#define KEY_FLAG(key, place)                                                                       \
    {                                                                                              \
        .name = key, .meaning = MEANS_FLAG, .field = TO(place)                                     \
    }
#define KEY_ONLY(key, json)                                                                        \
    {                                                                                              \
        .name = key, .meaning = MEANS_ONLY, .expected = json                                       \
    }
#define KEY(key, what)                                                                             \
    {                                                                                              \
        .name = key, .meaning = what                                                               \
    }
/* The first row of a field names it where it is missing. */
static const struct config_key {
    const char *name;
    enum meaning meaning;
    size_t field;
    const char *expected; /* JSON, a list of values */
} config_keys[] = {
    KEY_SIZE("num_hidden_layers", model.layers),
    KEY_SIZE("n_layer", model.layers),
    KEY_SIZE("n_layers", model.layers),
    KEY_SIZE("hidden_size", model.hidden),
    KEY_SIZE("n_embd", model.hidden),
    KEY_SIZE("d_model", model.hidden),
    KEY_SIZE("num_attention_heads", model.heads),
    KEY_SIZE("n_head", model.heads),
    KEY_SIZE("n_heads", model.heads),
    KEY_SIZE("vocab_size", model.vocab),
    KEY_SIZE("max_position_embeddings", model.seq),
    KEY_SIZE("n_positions", model.seq),
    KEY_SIZE("max_seq_len", model.seq),
    KEY_SIZE("num_key_value_heads", model.kv_heads),
    KEY_SIZE("kv_n_heads", model.kv_heads),
    KEY_SIZE("head_dim", model.head_dim),
    KEY_SIZE("intermediate_size", model.ffn),
    KEY_SIZE("n_inner", model.ffn),
    KEY_SIZE("ffn_dim", model.ffn),
    KEY_SIZE("expansion_ratio", expansion),
    KEY_SIZE("word_embed_proj_dim", embedded),
    KEY_SIZE("num_local_experts", model.experts),
    KEY_SIZE("num_experts", model.experts),
    KEY_SIZE("n_routed_experts", model.experts),
    KEY_SIZE("num_experts_per_tok", model.top_k),
    KEY_SIZE("moe_intermediate_size", expert_ffn),
    KEY_SIZE("n_shared_experts", shared_experts),
    KEY_SIZE("shared_expert_intermediate_size", model.shared_ffn),
    KEY_SIZE("first_k_dense_replace", model.dense_layers),
    KEY_SIZE("q_lora_rank", model.query_latent),
    KEY_SIZE("kv_lora_rank", model.key_latent),
    KEY_SIZE("qk_nope_head_dim", nope_dim),
    KEY_SIZE("qk_rope_head_dim", model.rope_dim),
    KEY_SIZE("v_head_dim", model.value_dim),
    KEY_SIZE("sliding_window", model.window),
    KEY_FLAG("use_sliding_window", is_windowed),
    KEY_SIZE("max_window_layers", window_first),
    KEY("layer_types", MEANS_LAYERS),
    KEY_ONLY("sliding_window_pattern", "[6]"),
    KEY_FLAG("tie_word_embeddings", is_tied),
    KEY_FLAG("attention_bias", has_qkv_bias),
    KEY_FLAG("qkv_bias", has_qkv_bias),
    KEY_FLAG("no_bias", has_no_biases),
    KEY_ONLY("enable_bias", "[true]"),
    KEY_ONLY("mlp_bias", "[false]"),
    KEY_FLAG("use_parallel_residual", model.is_parallel),
    KEY_FLAG("learned_pos_emb", has_positions),
    KEY_FLAG("alibi", has_alibi),
    KEY("attn_config", MEANS_KEYS),
    KEY_ONLY("attn_type", "[\"multihead_attention\", \"grouped_query_attention\"]"),
    KEY_ONLY("qk_ln", "[false]"),
    KEY_ONLY("qk_layernorm", "[false]"),
    KEY_ONLY("add_cross_attention", "[false]"),
    KEY_ONLY("decoder_sparse_step", "[1]"),
    KEY_ONLY("moe_layer_freq", "[1]"),
    KEY_ONLY("mlp_only_layers", "[[]]"),
    KEY("attn_pdrop", MEANS_DROP),
    KEY("resid_pdrop", MEANS_DROP),
    KEY("embd_pdrop", MEANS_DROP),
    KEY("emb_pdrop", MEANS_DROP),
    KEY("dropout", MEANS_DROP),
    KEY("attention_dropout", MEANS_DROP),
    KEY("hidden_dropout", MEANS_DROP),
    KEY("num_nextn_predict_layers", MEANS_LEFT),
    KEY("attn_logit_softcapping", MEANS_LEFT),
    KEY("final_logit_softcapping", MEANS_LEFT),
    KEY("layerdrop", MEANS_LEFT),
};

/* Keys that cost nothing; those that begin with _ or end with _token_id do not, either. */
static const char free_keys[] =
    "model_type architectures auto_map torch_dtype dtype transformers_version use_cache "
    "initializer_range init_std init_config init_device rms_norm_eps layer_norm_eps "
    "layer_norm_epsilon norm_eps norm_type hidden_act hidden_activation activation_function "
    "activation activation_dropout rope_theta rope_scaling rope_parameters rope_local_base_freq "
    "rotary_pct rotary_emb_base partial_rotary_factor original_max_position_embeddings "
    "pretraining_tp router_aux_loss_coef router_jitter_noise output_router_logits norm_topk_prob "
    "topk_method topk_group n_group scoring_func routed_scaling_factor aux_loss_alpha seq_aux "
    "ep_size query_pre_attn_scalar cache_implementation n_ctx scale_attn_weights "
    "scale_attn_by_inverse_layer_idx reorder_and_upcast_attn summary_activation "
    "summary_first_dropout summary_proj_to_labels summary_type summary_use_proj "
    "task_specific_params prefix do_layer_norm_before layer_norm_elementwise_affine verbose "
    "logit_scale embedding_fraction softmax_scale prefix_lm attn_impl alibi_bias_max "
    "attn_uses_sequence_id clip_qkv gradient_checkpointing tokenizer_class classifier_dropout "
    "is_decoder quantization_config tokenizer_name attn_implementation resid_dropout";

/* --- reading ---------------------------------------------------------------------------------- */

struct config_reader {
    const char *path;
    struct config config;
    char left_out[LEFT_OUT_TEXT];
    struct ar_error *err;
};

static enum ar_status refuse_value(const struct config_reader *reader, const char *key,
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
    size_t used = strlen(reader->left_out);
    if (!says_nothing) {
        snprintf(reader->left_out + used, sizeof reader->left_out - used, "%s%.60s",
                 used > 0 ? ", " : "", key);
    }
}

/* Counts layers by the name of their attention. */
static enum ar_status take_layers(struct config_reader *reader, const char *key,
                                  const json_t *value)
{
    size_t i;
    json_t *layer;
    reader->config.is_given_layers = json_is_array(value);
    json_array_foreach(value, i, layer)
    {
        const char *name = json_string_value(layer);
        bool is_window = name != NULL && strcmp(name, "sliding_attention") == 0;
        if (!is_window && (name == NULL || strcmp(name, "full_attention") != 0)) {
            return refuse_value(reader, key, layer, "\"full_attention\" or \"sliding_attention\"");
        }
        reader->config.model.window_layers += is_window;
    }
    return AR_OK;
}

static enum ar_status check_value(const struct config_reader *reader, const struct config_key *row,
                                  const json_t *value)
{
    json_t *list = json_loads(row->expected, 0, NULL), *one;
    size_t i;
    bool is_there = false;
    json_array_foreach(list, i, one)
    {
        is_there = is_there || json_equal(one, value);
    }
    json_decref(list);
    return is_there ? AR_OK : refuse_value(reader, row->name, value, row->expected);
}

static enum ar_status take_keys(struct config_reader *reader, const json_t *object);

static enum ar_status take_value(struct config_reader *reader, const struct config_key *row,
                                 const json_t *value)
{
    void *field = (char *)&reader->config + row->field;
    switch (row->meaning) {
    case MEANS_SIZE:
        if (!json_is_integer(value) || json_integer_value(value) < 0 ||
            json_integer_value(value) > 100000000) {
            return refuse_value(reader, row->name, value, "a count up to 100000000");
        }
        *(uint32_t *)field = (uint32_t)json_integer_value(value);
        return AR_OK;
    case MEANS_FLAG:
        *(bool *)field = json_is_true(value);
        return json_is_boolean(value) ? AR_OK
                                      : refuse_value(reader, row->name, value, "true or false");
    case MEANS_DROP:
        reader->config.model.has_dropout |= json_number_value(value) > 0;
        return json_is_number(value) ? AR_OK
                                     : refuse_value(reader, row->name, value, "a rate of dropout");
    case MEANS_ONLY:
        return check_value(reader, row, value);
    case MEANS_LAYERS:
        return take_layers(reader, row->name, value);
    case MEANS_KEYS:
        return json_is_object(value) ? take_keys(reader, value)
                                     : refuse_value(reader, row->name, value, "an object");
    case MEANS_LEFT:
        break;
    }
    leave_out(reader, row->name, value);
    return AR_OK;
}

static bool is_free(const char *key)
{
    static const char ending[] = "_token_id";
    size_t length = strlen(key), tail = sizeof ending - 1;
    return key[0] == '_' || ar_text_has_word(free_keys, key) ||
           (length > tail && strcmp(key + length - tail, ending) == 0);
}

static enum ar_status take_keys(struct config_reader *reader, const json_t *object)
{
    const size_t rows_count = sizeof config_keys / sizeof config_keys[0];
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)object, key, value)
    {
        size_t row = 0;
        while (row < rows_count && strcmp(config_keys[row].name, key) != 0) {
            row++;
        }
        if (row < rows_count && !json_is_null(value)) { /* null is what a missing key is */
            AR_TRY(take_value(reader, &config_keys[row], value));
        } else if (row == rows_count && !is_free(key)) {
            leave_out(reader, key, value);
        }
    }
    return AR_OK;
}

/* --- what follows ----------------------------------------------------------------------------- */

/* Layers whose attention sees a window alone. */
static uint32_t count_windows(const struct config *config, const struct model_type *type)
{
    uint32_t layers = config->model.layers, first = config->window_first;
    switch (type->windows) {
    case WINDOWS_ALL:
        return layers;
    case WINDOWS_FROM_KEY:
        return config->is_windowed && first < layers ? layers - first : 0;
    case WINDOWS_BUT_EVERY:
        return layers - layers / type->window_period;
    case WINDOWS_NONE:
        break;
    }
    return 0;
}

/* Refuses what is missing, and makes one field of several keys. */
static enum ar_status finish_config(struct config_reader *reader, const struct model_type *type)
{
    struct config *config = &reader->config;
    struct ar_transformer *model = &config->model;
    static const size_t required[] = {TO(model.layers), TO(model.hidden), TO(model.heads),
                                      TO(model.vocab)};
    for (size_t i = 0; i < sizeof required / sizeof required[0]; i++) {
        const struct config_key *row = config_keys;
        while (row->field != required[i]) {
            row++;
        }
        if (*(uint32_t *)((char *)config + required[i]) == 0) {
            return refuse_value(reader, row->name, NULL, "a count above 0");
        }
    }
    if (config->embedded > 0 && config->embedded != model->hidden) {
        return ar_error_set(reader->err, AR_BAD_DATA,
                            "%s: key \"word_embed_proj_dim\": found %u; expected %u, hidden_size",
                            reader->path, config->embedded, model->hidden);
    }
    model->is_untied = !config->is_tied;
    model->has_positions = config->has_positions && !config->has_alibi;
    model->position_rows = model->has_positions ? model->seq + type->positions_extra : 0;
    if (config->has_no_biases) {
        model->biases = AR_BIASES_NONE;
    } else if (model->biases == AR_BIASES_NONE && config->has_qkv_bias) {
        model->biases = AR_BIASES_QKV;
    }
    if (config->expansion > 0) {
        model->ffn = config->expansion * model->hidden;
    }
    if (model->key_latent > 0) {
        model->kv_heads = 0; /* each head has keys and values of its own */
        model->head_dim = config->nope_dim + model->rope_dim;
    }
    if (model->experts > 0 && config->expert_ffn > 0) {
        model->dense_ffn = model->dense_layers > 0 ? model->ffn : 0;
        model->ffn = config->expert_ffn;
    }
    if (config->shared_experts > 0) {
        model->shared_ffn = config->shared_experts * model->ffn;
    }
    if (model->dense_layers > model->layers) {
        return ar_error_set(reader->err, AR_BAD_DATA,
                            "%s: key \"first_k_dense_replace\": found %u; expected at most %u, "
                            "the layers",
                            reader->path, model->dense_layers, model->layers);
    }
    if (!config->is_given_layers) {
        model->window_layers = count_windows(config, type);
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
    return refuse_value(reader, "model_type", value,
                        ar_list_choices(names, expected, sizeof expected));
}

static enum ar_status read_config(struct config_reader *reader, const json_t *root)
{
    const struct model_type *type = NULL;
    AR_TRY(find_type(reader, root, &type));
    reader->config = (struct config){.model = {.is_gated = type->is_gated,
                                               .biases = type->biases,
                                               .norms = type->norms,
                                               .has_head_norms = type->has_head_norms,
                                               .is_parallel = type->is_parallel},
                                     .is_tied = type->is_tied,
                                     .has_positions = type->has_positions};
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
