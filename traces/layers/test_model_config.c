#include "test_traces.h"

/* Reads a text as a file. */
static enum ar_status read_text(const char *text, struct ar_transformer **model,
                                struct ar_error *err)
{
    const char *path = test_write("config.json", text, strlen(text));
    enum ar_status status = ar_model_config_load(path, &test_arena, model, err);
    unlink(path);
    return status;
}

/* A file begins with CONFIG(), goes on with the keys that only it has, and ends with a brace. */
#define KEY(name, value) ", \"" #name "\": " #value
#define CONFIG(type, layers, hidden, ffn, heads, kv_heads, vocab, positions)                       \
    "{\"model_type\": \"" #type "\"" KEY(num_hidden_layers, layers) KEY(hidden_size, hidden)       \
        KEY(intermediate_size, ffn) KEY(num_attention_heads, heads)                                \
            KEY(num_key_value_heads, kv_heads) KEY(vocab_size, vocab)                              \
                KEY(max_position_embeddings, positions)

/* Keys that cost nothing, as files of the type have them. */
#define LLAMA(layers, hidden, ffn, heads)                                                          \
    CONFIG(llama, layers, hidden, ffn, heads, 8, 128256, 8192)                                     \
    KEY(architectures, ["LlamaForCausalLM"])                                                       \
    KEY(attention_bias, false)                                                                     \
    KEY(attention_dropout, 0.0)                                                                    \
    KEY(hidden_act, "silu")                                                                        \
    KEY(rope_scaling, null)                                                                        \
    KEY(rope_theta, 500000.0)                                                                      \
    KEY(tie_word_embeddings, false) KEY(pretraining_tp, 1) KEY(bos_token_id, 128000) "}"

/* Latent attention, and experts of which some are shared and some layers have none. */
#define DEEPSEEK(config, query_latent, experts, expert_ffn, shared, per_token, dense)              \
    config KEY(q_lora_rank, query_latent) KEY(kv_lora_rank, 512) KEY(qk_nope_head_dim, 128)        \
        KEY(qk_rope_head_dim, 64) KEY(v_head_dim, 128) KEY(n_routed_experts, experts)              \
            KEY(moe_intermediate_size, expert_ffn) KEY(n_shared_experts, shared)                   \
                KEY(num_experts_per_tok, per_token) KEY(first_k_dense_replace, dense)
#define DEEPSEEK_V3                                                                                \
    DEEPSEEK(CONFIG(deepseek_v3, 61, 7168, 18432, 128, 128, 129280, 4096), 1536, 256, 2048, 1, 8,  \
             3)                                                                                    \
    KEY(moe_layer_freq, 1)                                                                         \
    KEY(num_nextn_predict_layers, 1)                                                               \
    KEY(n_group, 8) KEY(tie_word_embeddings, false) KEY(quantization_config, {}) "}"
#define OPT(layers, hidden, ffn, heads)                                                            \
    "{\"model_type\": \"opt\"" KEY(num_hidden_layers, layers) KEY(hidden_size, hidden)             \
        KEY(ffn_dim, ffn) KEY(num_attention_heads, heads) KEY(vocab_size, 50272)                   \
            KEY(max_position_embeddings, 2048) KEY(word_embed_proj_dim, hidden)                    \
                KEY(dropout, 0.1) "}"

/* Parameters as their authors published them, and how far from them a count may be: published ones
 * are rounded, or count what is no weight of a layer. */
static const struct published_model {
    const char *name, *text;
    double parameters, tolerance;
} published[] = {
    {"Llama 3 8B", LLAMA(32, 4096, 14336, 32), 8.030e9, 1e-4},
    {"Llama 3 405B", LLAMA(126, 16384, 53248, 128), 405.85e9, 1e-4},
    {"Mixtral 8x7B",
     CONFIG(mixtral, 32, 4096, 14336, 32, 8, 32000, 32768) KEY(num_local_experts, 8)
         KEY(num_experts_per_tok, 2) KEY(sliding_window, null) "}",
     46.703e9, 1e-4},
    {"Llama 4 Maverick", /* 402e9 with its eyes, which are left out */
     "{\"vision_config\": {\"a\": 1}, \"text_config\": " CONFIG(llama4_text, 48, 5120, 8192, 40, 8,
                                                                202048, 1048576)
         KEY(intermediate_size_mlp, 16384) KEY(num_local_experts, 128) KEY(num_experts_per_tok, 1)
             KEY(interleave_moe_layer_step, 2) KEY(head_dim, 128) "}}",
     401e9, 5e-3},
    {"DeepSeek-V3", DEEPSEEK_V3, 671.03e9, 1e-3},
    {"Kimi K2", /* arXiv:2507.20534, table 2: 1.04e12 */
     DEEPSEEK(CONFIG(kimi_k2, 61, 7168, 18432, 64, 64, 163840, 131072), 1536, 384, 2048, 1, 8,
              1) "}",
     1.04e12, 2e-2},
    {"DeepSeek-V2-Lite",
     DEEPSEEK(CONFIG(deepseek_v2, 27, 2048, 10944, 16, 16, 102400, 163840), null, 64, 1408, 2, 6,
              1) "}",
     15.706e9, 1e-4},
    {"DeepSeek-V2", /* arXiv:2405.04434 */
     DEEPSEEK(CONFIG(deepseek_v2, 60, 5120, 12288, 128, 128, 102400, 163840), 1536, 160, 1536, 2, 6,
              1) "}",
     235.74e9, 1e-4},
    {"GLM-4.5", /* arXiv:2508.06471, table 1: 355e9, with a layer that is left out here */
     CONFIG(glm4_moe, 92, 5120, 12288, 96, 8, 151552, 131072) KEY(moe_intermediate_size, 1536)
         KEY(n_routed_experts, 160) KEY(n_shared_experts, 1) KEY(num_experts_per_tok, 8)
             KEY(first_k_dense_replace, 3) KEY(head_dim, 128) KEY(attention_bias, true)
                 KEY(use_qk_norm, true) "}",
     355e9, 1e-2},
    {"gpt-oss-120b", /* arXiv:2508.10925, table 1 */
     CONFIG(gpt_oss, 36, 2880, 2880, 64, 8, 201088, 131072) KEY(num_local_experts, 128)
         KEY(experts_per_token, 4) KEY(head_dim, 64) KEY(sliding_window, 128) "}",
     116.83e9, 1e-3},
    /* Its norms of queries and keys are of all heads together, not of each. */
    {"OLMo 2 7B", CONFIG(olmo2, 32, 4096, 11008, 32, 32, 100352, 4096) "}", 7.2986e9, 1e-4},
    {"OLMoE 1B-7B", /* arXiv:2409.02060 */
     CONFIG(olmoe, 16, 2048, 1024, 16, 16, 50304, 4096) KEY(num_experts, 64)
         KEY(num_experts_per_tok, 8) "}",
     6.9e9, 1e-2},
    {"Granite 3.0 8B",
     CONFIG(granite, 40, 4096, 12800, 32, 8, 49155, 4096) KEY(tie_word_embeddings, true) "}", 8.1e9,
     1e-2},
    /* arXiv:2402.16819: 3.2e9 in embeddings and 12.5e9 besides */
    {"Nemotron-4 15B", CONFIG(nemotron, 32, 6144, 24576, 48, 8, 256000, 4096) "}", 15.7e9, 1e-2},
    {"StarCoder2 7B",
     CONFIG(starcoder2, 32, 4608, 18432, 36, 4, 49152, 16384) KEY(sliding_window, 4096)
         KEY(use_bias, true) "}",
     7.174e9, 1e-3},
    {"GPT-2", /* the small one */
     "{\"model_type\": \"gpt2\"" KEY(n_layer, 12) KEY(n_embd, 768) KEY(n_head, 12)
         KEY(n_positions, 1024) KEY(vocab_size, 50257) KEY(attn_pdrop, 0.1) "}",
     124.44e6, 1e-4},
    {"OPT-175B", OPT(96, 12288, 49152, 96), 175e9, 5e-3}, /* arXiv:2205.01068, table 1 */
    {"OPT-6.7B", OPT(32, 4096, 16384, 32), 6.658e9, 1e-4},
    {"Qwen2-72B",
     CONFIG(qwen2, 80, 8192, 29568, 64, 8, 152064, 131072) KEY(use_sliding_window, false)
         KEY(sliding_window, 131072) KEY(max_window_layers, 80) "}",
     72.706e9, 1e-4},
    {"Qwen3-30B-A3B",
     CONFIG(qwen3_moe, 48, 2048, 6144, 32, 4, 151936, 40960) KEY(moe_intermediate_size, 768)
         KEY(num_experts, 128) KEY(num_experts_per_tok, 8) KEY(head_dim, 128)
             KEY(decoder_sparse_step, 1) KEY(mlp_only_layers, []) "}",
     30.532e9, 1e-4},
    {"Qwen1.5-MoE-A2.7B",
     CONFIG(qwen2_moe, 24, 2048, 5632, 16, 16, 151936, 8192) KEY(moe_intermediate_size, 1408)
         KEY(num_experts, 60) KEY(shared_expert_intermediate_size, 5632) KEY(num_experts_per_tok, 4)
             KEY(decoder_sparse_step, 1) "}",
     14.316e9, 1e-4},
    {"Mistral 7B",
     CONFIG(mistral, 32, 4096, 14336, 32, 8, 32000, 32768) KEY(sliding_window, 4096) "}", 7.2417e9,
     1e-4},
    {"Phi-3 mini", CONFIG(phi3, 32, 3072, 8192, 32, 32, 32064, 4096) KEY(sliding_window, 2047) "}",
     3.8211e9, 1e-4},
    {"Phi-2", CONFIG(phi, 32, 2560, 10240, 32, 32, 51200, 2048) "}", 2.7797e9, 1e-4},
    {"GPT-NeoX-20B",
     CONFIG(gpt_neox, 44, 6144, 24576, 64, 64, 50432, 2048) KEY(use_parallel_residual, true) "}",
     20.555e9, 1e-3},
    {"MPT-7B",
     "{\"model_type\": \"mpt\"" KEY(n_layers, 32) KEY(d_model, 4096) KEY(n_heads, 32)
         KEY(expansion_ratio, 4) KEY(vocab_size, 50432) KEY(max_seq_len, 2048) KEY(no_bias, true)
             KEY(learned_pos_emb, true) ", \"attn_config\": {\"alibi\": true, \"attn_pdrop\": 0}}",
     6.6493e9, 1e-4},
    {"Gemma 7B", CONFIG(gemma, 28, 3072, 24576, 16, 16, 256000, 8192) KEY(head_dim, 256) "}",
     8.5377e9, 1e-4},
    {"Gemma 2 9B",
     CONFIG(gemma2, 42, 3584, 14336, 16, 8, 256000, 8192) KEY(head_dim, 256)
         KEY(sliding_window, 4096) KEY(attn_logit_softcapping, 50.0) "}",
     9.2417e9, 1e-4},
    {"OLMo 3 32B",
     CONFIG(olmo3, 64, 5120, 27648, 40, 8, 100278, 65536) KEY(sliding_window, 4096) "}", 32.2e9,
     5e-3},
    {"SmolLM3 3B", CONFIG(smollm3, 36, 2048, 11008, 16, 4, 128256, 65536) "}", 3.075e9, 1e-3},
    {"Apertus 8B", CONFIG(apertus, 32, 4096, 21504, 32, 8, 131072, 65536) "}", 8.05e9, 1e-3},
    {"Seed-OSS 36B",
     CONFIG(seed_oss, 64, 5120, 27648, 80, 8, 155136, 524288) KEY(head_dim, 128)
         KEY(attention_bias, true) KEY(attention_out_bias, false) "}",
     36.15e9, 1e-3},
    {"MiniMax-M2", /* 230e9 with layers that predict further tokens, which are left out */
     CONFIG(minimax_m2, 62, 3072, 1536, 48, 8, 200064, 196608) KEY(num_local_experts, 256)
         KEY(num_experts_per_tok, 8) KEY(head_dim, 128) KEY(num_mtp_modules, 3) "}",
     230e9, 1e-2},
    {"GLM-4 9B", CONFIG(glm4, 40, 4096, 13696, 32, 2, 151552, 32768) KEY(attention_bias, true) "}",
     9.4e9, 1e-3},
    {"Granite 3.0 3B",
     CONFIG(granitemoe, 32, 1536, 512, 24, 8, 49155, 4096) KEY(num_local_experts, 40)
         KEY(num_experts_per_tok, 8) KEY(tie_word_embeddings, true) "}",
     3.3e9, 1e-2},
    {"Command R", CONFIG(cohere, 40, 8192, 22528, 64, 64, 256000, 8192) "}", 34.981e9, 1e-4},
    {"BLOOM", /* without the norm of its embedding */
     "{\"model_type\": \"bloom\"" KEY(n_layer, 70) KEY(n_embed, 14336) KEY(num_attention_heads, 112)
         KEY(seq_length, 2048) KEY(vocab_size, 250880) "}",
     176.247271424e9, 1e-6},
    {"Gemma 3 1B",
     CONFIG(gemma3_text, 26, 1152, 6912, 4, 1, 262144, 32768) KEY(head_dim, 256)
         KEY(sliding_window, 512) KEY(sliding_window_pattern, 6) "}",
     999.886e6, 1e-5},
};

Test(model_config, parameters_are_the_published_ones)
{
    AR_EACH(const struct published_model, row, published, sizeof published / sizeof published[0]) {
        struct ar_transformer *model;
        TEST_OK(read_text(row->text, &model, &why));
        TEST_OK(ar_transformer_settle(row->name, model, &why));
        double count = ar_transformer_parameters(model);
        cr_expect_float_eq(count, row->parameters, row->tolerance * row->parameters,
                           "%s: %.5g counted, %.5g published", row->name, count, row->parameters);
        model->seq++; /* learned positions, but for spare ones of OPT, bound a sequence */
        cr_expect_eq(ar_transformer_settle(row->name, model, AR_IGNORED),
                     model->has_positions ? AR_USAGE : AR_OK, "%s", row->name);
    }
}

#define SMALL                                                                                      \
    KEY(num_hidden_layers, 2) KEY(hidden_size, 64) KEY(num_attention_heads, 4) KEY(vocab_size, 9)

/* Each of these differs from a file that is read in one place. */
Test(model_config, what_it_cannot_use_is_refused_by_its_name)
{
    static const char *const wrong[][2] = {
        {"{\"workload_graph\": []}",
         "expected a model; a profile of PyTorch is named *trace.json or"},
        {"{\"model_type\": \"mamba\"}", "key \"model_type\": found \"mamba\"; expected llama"},
        {"{\"model_type\": \"llama\"" KEY(hidden_size, 64) "}",
         "key \"num_hidden_layers (n_layer, n_layers)\": found none; expected a count above 0"},
        {"{\"model_type\": \"llama\", \"hidden_size\": \"64\"}",
         "key \"hidden_size\": found \"64\"; expected a count"},
        {"{\"model_type\": \"llama\", \"mlp_bias\": true}",
         "key \"mlp_bias\": found true; expected [false]"},
        {"{\"model_type\": \"opt\"" SMALL ", \"word_embed_proj_dim\": 32}",
         "key \"word_embed_proj_dim\": found 32; expected 64"},
        {"{\"model_type\": \"qwen3\", \"layer_types\": [\"linear_attention\"]}",
         "key \"layer_types\": found \"linear_attention\""},
        {"{\"model_type\": \"qwen3\", \"layer_types\": \"full_attention\"}",
         "expected a list with a name for each layer"},
        {"{\"model_type\": \"qwen3\"" SMALL ", \"intermediate_size\": 64, \"layer_types\": "
         "[\"sliding_attention\", \"sliding_attention\", \"full_attention\"]}",
         "key \"layer_types\": found 3 names; expected 2, one for each layer"},
        {"{\"model_type\": \"llama\"" SMALL "}", "key \"intermediate_size\": found none"},
        {"{\"model_type\": \"deepseek_v3\"" SMALL ", \"intermediate_size\": 64, "
         "\"kv_lora_rank\": 512, \"qk_nope_head_dim\": 128}",
         "key \"qk_rope_head_dim\": found none"},
        {"{\"model_type\": \"mpt\"" SMALL ", \"expansion_ratio\": 67108864}",
         "key \"expansion_ratio\": found 67108864, times 64; expected a product of at most"},
        {"{\"model_type\": \"llama\",}", ":1: "},
        {"[]", "found no object"},
    };
    struct ar_transformer *model = NULL;
    TEST_PAIRS_FAIL(AR_BAD_DATA, wrong, read_text(given, &model, &why));
}

/* A file may give sizes that are counts each, but of no model that there could be. */
Test(model_config, models_of_absurd_size_are_refused)
{
    struct ar_transformer model = {
        .layers = 100000000, .hidden = 64, .heads = 1, .seq = 8, .vocab = 8};
    TEST_FAILS(AR_USAGE, "found 100000000 layers", ar_transformer_settle("", &model, &why));
    model.layers = 1;
    model.hidden = 100000000;
    model.ffn = model.head_dim = 0;
    TEST_FAILS(AR_USAGE, "parameters; expected at most", ar_transformer_settle("", &model, &why));
}

Test(model_config, keys_without_a_known_cost_are_named)
{
    struct ar_transformer *model;
    TEST_OK(read_text(DEEPSEEK_V3, &model, &why));
    cr_assert_str_eq(model->left_out, "num_nextn_predict_layers");
    TEST_OK(read_text(LLAMA(1, 64, 64, 8), &model, &why));
    cr_assert_null(model->left_out);
}

/* Latent attention, shared experts and dense layers: the products are the work that is counted. */
Test(model_config, the_products_of_deepseek_are_its_work)
{
    struct ar_transformer *model;
    TEST_OK(read_text(DEEPSEEK_V3, &model, &why));
    TEST_OK(ar_transformer_settle("deepseek", model, &why));
    const struct ar_transformer_slice slice = {.micro_batch = 1, .tp = 1, .ep = 1};
    double flop = ar_transformer_forward_flop(model);
    cr_assert_float_eq(test_products_flop(model, &slice, AR_PASS_FORWARD), flop, 1e-9 * flop);
    cr_assert_float_eq(test_products_flop(model, &slice, AR_PASS_BACKWARD), 2 * flop, 1e-9 * flop);
    /* 37 billion of the parameters are those of a token (arXiv:2412.19437); embeddings are no
     * product. */
    double active = (flop - ar_transformer_attention_flop(model)) / 2 / model->seq;
    cr_assert_float_eq(active + (double)model->hidden * model->vocab, 37.5e9, 0.3e9, "%g", active);
}

/* A window of the sequence's length is none; of w tokens there are s w - w^2 / 2 pairs. */
Test(model_config, windows_of_attention_save_the_pairs_outside)
{
    struct ar_transformer model = {
        .layers = 4, .hidden = 64, .heads = 1, .seq = 1024, .vocab = 64, .window_layers = 2};
    TEST_OK(ar_transformer_settle("", &model, &why));
    double all = ar_transformer_attention_flop(&model);
    model.window = 1024;
    cr_assert_eq(ar_transformer_attention_flop(&model), all);
    model.window = 256;
    double pairs = 1024.0 * 256 - 256.0 * 256 / 2, triangle = 1024.0 * 1024 / 2;
    cr_assert_float_eq(ar_transformer_attention_flop(&model), all * (0.5 + 0.5 * pairs / triangle),
                       1e-9 * all);
}
