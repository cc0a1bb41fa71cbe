#include "test_traces.h"

#include <stdlib.h>
#include <unistd.h>

#include "ar_transformer.h"

static struct ar_error err;

/* Reads a text as a file. */
static enum ar_status read_text(const char *text, struct ar_arena *arena,
                                struct ar_transformer **model)
{
    char path[] = "/tmp/config-XXXXXX";
    int file = mkstemp(path);
    cr_assert(file >= 0);
    cr_assert_eq(write(file, text, strlen(text)), (ssize_t)strlen(text));
    close(file);
    enum ar_status status = ar_model_config_load(path, arena, model, &err);
    unlink(path);
    return status;
}

#define LLAMA3(layers, hidden, ffn, heads)                                                         \
    "{\"model_type\": \"llama\", \"architectures\": [\"LlamaForCausalLM\"], "                      \
    "\"num_hidden_layers\": " layers ", \"hidden_size\": " hidden ", \"intermediate_size\": " ffn  \
    ", \"num_attention_heads\": " heads                                                            \
    ", \"num_key_value_heads\": 8, \"vocab_size\": 128256, \"max_position_embeddings\": 8192, "    \
    "\"attention_bias\": false, \"attention_dropout\": 0.0, \"hidden_act\": \"silu\", "            \
    "\"rope_scaling\": null, \"rope_theta\": 500000.0, \"tie_word_embeddings\": false, "           \
    "\"pretraining_tp\": 1, \"bos_token_id\": 128000, \"torch_dtype\": \"bfloat16\"}"

#define DEEPSEEK_V3                                                                                \
    "{\"model_type\": \"deepseek_v3\", \"num_hidden_layers\": 61, \"hidden_size\": 7168, "         \
    "\"intermediate_size\": 18432, \"moe_intermediate_size\": 2048, \"n_routed_experts\": 256, "   \
    "\"n_shared_experts\": 1, \"num_experts_per_tok\": 8, \"first_k_dense_replace\": 3, "          \
    "\"moe_layer_freq\": 1, \"num_attention_heads\": 128, \"num_key_value_heads\": 128, "          \
    "\"q_lora_rank\": 1536, \"kv_lora_rank\": 512, \"qk_nope_head_dim\": 128, "                    \
    "\"qk_rope_head_dim\": 64, \"v_head_dim\": 128, \"vocab_size\": 129280, "                      \
    "\"max_position_embeddings\": 4096, \"num_nextn_predict_layers\": 1, \"n_group\": 8, "         \
    "\"tie_word_embeddings\": false, \"quantization_config\": {\"quant_method\": \"fp8\"}}"

/* Parameters as their authors published them, and how far from them a count may be: published ones
 * are rounded, or count what is no weight of a layer. */
static const struct published_model {
    const char *name, *text;
    double parameters, tolerance;
} published[] = {
    {"Llama 3 8B", LLAMA3("32", "4096", "14336", "32"), 8.030e9, 1e-4},
    {"Llama 3 70B", LLAMA3("80", "8192", "28672", "64"), 70.554e9, 1e-4},
    {"Llama 3 405B", LLAMA3("126", "16384", "53248", "128"), 405.85e9, 1e-4},
    {"Mixtral 8x7B",
     "{\"model_type\": \"mixtral\", \"num_hidden_layers\": 32, \"hidden_size\": 4096, "
     "\"intermediate_size\": 14336, \"num_attention_heads\": 32, \"num_key_value_heads\": 8, "
     "\"vocab_size\": 32000, \"max_position_embeddings\": 32768, \"num_local_experts\": 8, "
     "\"num_experts_per_tok\": 2, \"sliding_window\": null, \"tie_word_embeddings\": false}",
     46.703e9, 1e-4},
    {"DeepSeek-V3", DEEPSEEK_V3, 671.03e9, 1e-3},
    {"Kimi K2", /* arXiv:2507.20534, table 2: 1.04e12 */
     "{\"model_type\": \"kimi_k2\", \"num_hidden_layers\": 61, \"hidden_size\": 7168, "
     "\"intermediate_size\": 18432, \"moe_intermediate_size\": 2048, \"n_routed_experts\": 384, "
     "\"n_shared_experts\": 1, \"num_experts_per_tok\": 8, \"first_k_dense_replace\": 1, "
     "\"num_attention_heads\": 64, \"num_key_value_heads\": 64, \"q_lora_rank\": 1536, "
     "\"kv_lora_rank\": 512, \"qk_nope_head_dim\": 128, \"qk_rope_head_dim\": 64, "
     "\"v_head_dim\": 128, \"vocab_size\": 163840, \"max_position_embeddings\": 131072}",
     1.04e12, 2e-2},
    {"GLM-4.5", /* arXiv:2508.06471, table 1: 355e9, with a layer that is left out here */
     "{\"model_type\": \"glm4_moe\", \"num_hidden_layers\": 92, \"hidden_size\": 5120, "
     "\"intermediate_size\": 12288, \"moe_intermediate_size\": 1536, \"n_routed_experts\": 160, "
     "\"n_shared_experts\": 1, \"num_experts_per_tok\": 8, \"first_k_dense_replace\": 3, "
     "\"num_attention_heads\": 96, \"num_key_value_heads\": 8, \"head_dim\": 128, "
     "\"attention_bias\": true, \"use_qk_norm\": true, \"vocab_size\": 151552, "
     "\"max_position_embeddings\": 131072, \"tie_word_embeddings\": false}",
     355e9, 1e-2},
    {"gpt-oss-120b", /* arXiv:2508.10925, table 1 */
     "{\"model_type\": \"gpt_oss\", \"num_hidden_layers\": 36, \"hidden_size\": 2880, "
     "\"intermediate_size\": 2880, \"num_local_experts\": 128, \"experts_per_token\": 4, "
     "\"num_attention_heads\": 64, \"num_key_value_heads\": 8, \"head_dim\": 64, "
     "\"attention_bias\": true, \"vocab_size\": 201088, \"max_position_embeddings\": 131072, "
     "\"sliding_window\": 128, \"swiglu_limit\": 7.0, \"tie_word_embeddings\": false}",
     116.83e9, 1e-3},
    {"OLMo 2 7B", /* whose norms of queries and keys are of all heads together, not of each */
     "{\"model_type\": \"olmo2\", \"num_hidden_layers\": 32, \"hidden_size\": 4096, "
     "\"intermediate_size\": 11008, \"num_attention_heads\": 32, \"num_key_value_heads\": 32, "
     "\"vocab_size\": 100352, \"max_position_embeddings\": 4096, \"tie_word_embeddings\": false}",
     7.2986e9, 1e-4},
    {"OLMoE 1B-7B", /* arXiv:2409.02060 */
     "{\"model_type\": \"olmoe\", \"num_hidden_layers\": 16, \"hidden_size\": 2048, "
     "\"intermediate_size\": 1024, \"num_experts\": 64, \"num_experts_per_tok\": 8, "
     "\"num_attention_heads\": 16, \"num_key_value_heads\": 16, \"vocab_size\": 50304, "
     "\"max_position_embeddings\": 4096, \"clip_qkv\": null, \"tie_word_embeddings\": false}",
     6.9e9, 1e-2},
    {"Granite 3.0 8B",
     "{\"model_type\": \"granite\", \"num_hidden_layers\": 40, \"hidden_size\": 4096, "
     "\"intermediate_size\": 12800, \"num_attention_heads\": 32, \"num_key_value_heads\": 8, "
     "\"vocab_size\": 49155, \"max_position_embeddings\": 4096, \"embedding_multiplier\": 12.0, "
     "\"logits_scaling\": 16.0, \"tie_word_embeddings\": true}",
     8.1e9, 1e-2},
    {"Nemotron-4 15B", /* arXiv:2402.16819: 3.2e9 in embeddings and 12.5e9 besides */
     "{\"model_type\": \"nemotron\", \"num_hidden_layers\": 32, \"hidden_size\": 6144, "
     "\"intermediate_size\": 24576, \"num_attention_heads\": 48, \"num_key_value_heads\": 8, "
     "\"vocab_size\": 256000, \"max_position_embeddings\": 4096, \"hidden_act\": \"relu2\"}",
     15.7e9, 1e-2},
    {"StarCoder2 7B",
     "{\"model_type\": \"starcoder2\", \"num_hidden_layers\": 32, \"hidden_size\": 4608, "
     "\"intermediate_size\": 18432, \"num_attention_heads\": 36, \"num_key_value_heads\": 4, "
     "\"vocab_size\": 49152, \"max_position_embeddings\": 16384, \"sliding_window\": 4096, "
     "\"use_bias\": true, \"residual_dropout\": 0.0}",
     7.174e9, 1e-3},
    {"DeepSeek-V2-Lite",
     "{\"model_type\": \"deepseek_v2\", \"num_hidden_layers\": 27, \"hidden_size\": 2048, "
     "\"intermediate_size\": 10944, \"moe_intermediate_size\": 1408, \"n_routed_experts\": 64, "
     "\"n_shared_experts\": 2, \"num_experts_per_tok\": 6, \"first_k_dense_replace\": 1, "
     "\"num_attention_heads\": 16, \"num_key_value_heads\": 16, \"q_lora_rank\": null, "
     "\"kv_lora_rank\": 512, \"qk_nope_head_dim\": 128, \"qk_rope_head_dim\": 64, "
     "\"v_head_dim\": 128, \"vocab_size\": 102400, \"max_position_embeddings\": 163840}",
     15.706e9, 1e-4},
    {"GPT-2", /* the small one */
     "{\"model_type\": \"gpt2\", \"n_layer\": 12, \"n_embd\": 768, \"n_head\": 12, "
     "\"n_positions\": 1024, \"n_ctx\": 1024, \"vocab_size\": 50257, \"attn_pdrop\": 0.1}",
     124.44e6, 1e-4},
    {"OPT-175B", /* arXiv:2205.01068, table 1 */
     "{\"model_type\": \"opt\", \"num_hidden_layers\": 96, \"hidden_size\": 12288, \"ffn_dim\": "
     "49152, \"num_attention_heads\": 96, \"vocab_size\": 50272, \"max_position_embeddings\": "
     "2048, \"word_embed_proj_dim\": 12288, \"dropout\": 0.1}",
     175e9, 5e-3},
    {"OPT-6.7B",
     "{\"model_type\": \"opt\", \"num_hidden_layers\": 32, \"hidden_size\": 4096, \"ffn_dim\": "
     "16384, \"num_attention_heads\": 32, \"vocab_size\": 50272, \"max_position_embeddings\": "
     "2048, \"word_embed_proj_dim\": 4096, \"dropout\": 0.1}",
     6.658e9, 1e-4},
    {"Qwen2-72B",
     "{\"model_type\": \"qwen2\", \"num_hidden_layers\": 80, \"hidden_size\": 8192, "
     "\"intermediate_size\": 29568, \"num_attention_heads\": 64, \"num_key_value_heads\": 8, "
     "\"vocab_size\": 152064, \"max_position_embeddings\": 131072, \"use_sliding_window\": false, "
     "\"sliding_window\": 131072, \"max_window_layers\": 80, \"tie_word_embeddings\": false}",
     72.706e9, 1e-4},
    {"Qwen3-30B-A3B",
     "{\"model_type\": \"qwen3_moe\", \"num_hidden_layers\": 48, \"hidden_size\": 2048, "
     "\"intermediate_size\": 6144, \"moe_intermediate_size\": 768, \"num_experts\": 128, "
     "\"num_experts_per_tok\": 8, \"num_attention_heads\": 32, \"num_key_value_heads\": 4, "
     "\"head_dim\": 128, \"vocab_size\": 151936, \"max_position_embeddings\": 40960, "
     "\"decoder_sparse_step\": 1, \"mlp_only_layers\": [], \"tie_word_embeddings\": false}",
     30.532e9, 1e-4},
    {"DeepSeek-V2", /* arXiv:2405.04434 */
     "{\"model_type\": \"deepseek_v2\", \"num_hidden_layers\": 60, \"hidden_size\": 5120, "
     "\"intermediate_size\": 12288, \"moe_intermediate_size\": 1536, \"n_routed_experts\": 160, "
     "\"n_shared_experts\": 2, \"num_experts_per_tok\": 6, \"first_k_dense_replace\": 1, "
     "\"num_attention_heads\": 128, \"num_key_value_heads\": 128, \"q_lora_rank\": 1536, "
     "\"kv_lora_rank\": 512, \"qk_nope_head_dim\": 128, \"qk_rope_head_dim\": 64, "
     "\"v_head_dim\": 128, \"vocab_size\": 102400, \"max_position_embeddings\": 163840}",
     235.74e9, 1e-4},
    {"Qwen1.5-MoE-A2.7B",
     "{\"model_type\": \"qwen2_moe\", \"num_hidden_layers\": 24, \"hidden_size\": 2048, "
     "\"intermediate_size\": 5632, \"moe_intermediate_size\": 1408, \"num_experts\": 60, "
     "\"shared_expert_intermediate_size\": 5632, \"num_experts_per_tok\": 4, "
     "\"num_attention_heads\": 16, \"num_key_value_heads\": 16, \"vocab_size\": 151936, "
     "\"max_position_embeddings\": 8192, \"decoder_sparse_step\": 1}",
     14.316e9, 1e-4},
    {"Gemma 3 1B",
     "{\"model_type\": \"gemma3_text\", \"num_hidden_layers\": 26, \"hidden_size\": 1152, "
     "\"intermediate_size\": 6912, \"num_attention_heads\": 4, \"num_key_value_heads\": 1, "
     "\"head_dim\": 256, \"vocab_size\": 262144, \"max_position_embeddings\": 32768, "
     "\"sliding_window\": 512, \"sliding_window_pattern\": 6}",
     999.886e6, 1e-4},
    {"Mistral 7B",
     "{\"model_type\": \"mistral\", \"num_hidden_layers\": 32, \"hidden_size\": 4096, "
     "\"intermediate_size\": 14336, \"num_attention_heads\": 32, \"num_key_value_heads\": 8, "
     "\"vocab_size\": 32000, \"max_position_embeddings\": 32768, \"sliding_window\": 4096}",
     7.2417e9, 1e-4},
    {"Phi-3 mini",
     "{\"model_type\": \"phi3\", \"num_hidden_layers\": 32, \"hidden_size\": 3072, "
     "\"intermediate_size\": 8192, \"num_attention_heads\": 32, \"num_key_value_heads\": 32, "
     "\"vocab_size\": 32064, \"max_position_embeddings\": 4096, \"sliding_window\": 2047}",
     3.8211e9, 1e-4},
    {"Phi-2",
     "{\"model_type\": \"phi\", \"num_hidden_layers\": 32, \"hidden_size\": 2560, "
     "\"intermediate_size\": 10240, \"num_attention_heads\": 32, \"vocab_size\": 51200, "
     "\"max_position_embeddings\": 2048, \"tie_word_embeddings\": false, \"resid_pdrop\": 0.1}",
     2.7797e9, 1e-4},
    {"GPT-NeoX-20B",
     "{\"model_type\": \"gpt_neox\", \"num_hidden_layers\": 44, \"hidden_size\": 6144, "
     "\"intermediate_size\": 24576, \"num_attention_heads\": 64, \"vocab_size\": 50432, "
     "\"max_position_embeddings\": 2048, \"use_parallel_residual\": true, "
     "\"tie_word_embeddings\": false}",
     20.555e9, 1e-3},
    {"MPT-7B",
     "{\"model_type\": \"mpt\", \"n_layers\": 32, \"d_model\": 4096, \"n_heads\": 32, "
     "\"expansion_ratio\": 4, \"vocab_size\": 50432, \"max_seq_len\": 2048, \"no_bias\": true, "
     "\"learned_pos_emb\": true, \"attn_config\": {\"alibi\": true, \"attn_pdrop\": 0}}",
     6.6493e9, 1e-4},
    {"Gemma 7B",
     "{\"model_type\": \"gemma\", \"num_hidden_layers\": 28, \"hidden_size\": 3072, "
     "\"intermediate_size\": 24576, \"num_attention_heads\": 16, \"num_key_value_heads\": 16, "
     "\"head_dim\": 256, \"vocab_size\": 256000, \"max_position_embeddings\": 8192}",
     8.5377e9, 1e-4},
    {"Gemma 2 9B",
     "{\"model_type\": \"gemma2\", \"num_hidden_layers\": 42, \"hidden_size\": 3584, "
     "\"intermediate_size\": 14336, \"num_attention_heads\": 16, \"num_key_value_heads\": 8, "
     "\"head_dim\": 256, \"vocab_size\": 256000, \"max_position_embeddings\": 8192, "
     "\"sliding_window\": 4096, \"attn_logit_softcapping\": 50.0}",
     9.2417e9, 1e-4},
};

Test(model_config, parameters_are_the_published_ones)
{
    for (size_t i = 0; i < sizeof published / sizeof published[0]; i++) {
        const struct published_model *row = &published[i];
        struct ar_arena arena AR_ENDS_HERE = {NULL};
        struct ar_transformer *model;
        cr_assert_eq(read_text(row->text, &arena, &model), AR_OK, "%s: %s", row->name, err.text);
        cr_assert_eq(ar_transformer_settle(row->name, model, &err), AR_OK, "%s", err.text);
        double count = ar_transformer_parameters(model);
        cr_expect_float_eq(count, row->parameters, row->tolerance * row->parameters,
                           "%s: %.5g counted, %.5g published", row->name, count, row->parameters);
        model->seq++; /* learned positions, but for spare ones of OPT, bound a sequence */
        cr_expect_eq(ar_transformer_settle(row->name, model, &err),
                     model->has_positions ? AR_USAGE : AR_OK, "%s", row->name);
    }
}

#define SMALL                                                                                      \
    ", \"num_hidden_layers\": 2, \"hidden_size\": 64, \"num_attention_heads\": 4, "                \
    "\"vocab_size\": 9"

/* Each of these differs from a file that is read in one place. */
Test(model_config, what_it_cannot_use_is_refused_by_its_name)
{
    static const struct {
        const char *text, *found;
    } wrong[] = {
        {"{\"traceEvents\": []}", "expected a model; a profile of PyTorch is named *trace.json or"},
        {"{\"model_type\": \"mamba\"}", "key \"model_type\": found \"mamba\"; expected llama"},
        {"{\"model_type\": \"llama\", \"hidden_size\": 64}",
         "key \"num_hidden_layers (n_layer, n_layers)\": found none; expected a count above 0"},
        {"{\"model_type\": \"llama\", \"hidden_size\": \"64\"}",
         "key \"hidden_size\": found \"64\"; expected a count"},
        {"{\"model_type\": \"llama\", \"mlp_bias\": true}",
         "key \"mlp_bias\": found true; expected [false]"},
        {"{\"model_type\": \"qwen3_moe\", \"decoder_sparse_step\": 2}",
         "key \"decoder_sparse_step\": found 2; expected [1]"},
        {"{\"model_type\": \"opt\", \"num_hidden_layers\": 1, \"hidden_size\": 1024, "
         "\"num_attention_heads\": 16, \"vocab_size\": 9, \"word_embed_proj_dim\": 512}",
         "key \"word_embed_proj_dim\": found 512; expected 1024"},
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
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        struct ar_arena arena AR_ENDS_HERE = {NULL};
        struct ar_transformer *model = NULL;
        cr_expect_eq(read_text(wrong[i].text, &arena, &model), AR_BAD_DATA, "%s", wrong[i].text);
        cr_expect(strstr(err.text, wrong[i].found) != NULL, "%s", err.text);
    }
}

/* A file may give sizes that are counts each, but of no model that there could be. */
Test(model_config, models_of_absurd_size_are_refused)
{
    struct ar_transformer model = {
        .layers = 100000000, .hidden = 64, .heads = 1, .seq = 8, .vocab = 8};
    cr_expect_eq(ar_transformer_settle("", &model, &err), AR_USAGE);
    cr_expect(strstr(err.text, "found 100000000 layers") != NULL, "%s", err.text);
    model.layers = 1;
    model.hidden = 100000000;
    model.ffn = model.head_dim = 0;
    cr_expect_eq(ar_transformer_settle("", &model, &err), AR_USAGE);
    cr_expect(strstr(err.text, "parameters; expected at most") != NULL, "%s", err.text);
}

Test(model_config, keys_without_a_known_cost_are_named)
{
    struct ar_arena arena AR_ENDS_HERE = {NULL};
    struct ar_transformer *model;
    cr_assert_eq(read_text(DEEPSEEK_V3, &arena, &model), AR_OK, "%s", err.text);
    cr_assert_str_eq(model->left_out, "num_nextn_predict_layers");
    cr_assert_eq(read_text(LLAMA3("1", "64", "64", "8"), &arena, &model), AR_OK);
    cr_assert_null(model->left_out);
}

static double products_flop(const struct ar_transformer *model, enum ar_transformer_pass pass)
{
    const struct ar_transformer_slice slice = {.micro_batch = 1, .tp = 1, .ep = 1};
    struct ar_kernels kernels;
    double flop = 0;
    for (int part = AR_PART_LAYER; part <= AR_PART_HEAD; part++) {
        ar_transformer_kernels(model, &slice, (enum ar_transformer_part)part, pass, &kernels);
        for (size_t i = 0; i < kernels.count; i++) {
            const struct ar_kernel *kernel = &kernels.list[i];
            double each = 2.0 * (double)kernel->gemm.count * (double)kernel->gemm.m *
                          (double)kernel->gemm.n * (double)kernel->gemm.k;
            flop += kernel->kind != AR_KERNEL_GEMM
                        ? 0
                        : (1 - kernel->lacking_frac) * each *
                              (part == AR_PART_LAYER ? model->layers : 1);
        }
    }
    return flop;
}

/* Latent attention, shared experts and dense layers: the products are the work that is counted. */
Test(model_config, the_products_of_deepseek_are_its_work)
{
    struct ar_arena arena AR_ENDS_HERE = {NULL};
    struct ar_transformer *model;
    cr_assert_eq(read_text(DEEPSEEK_V3, &arena, &model), AR_OK, "%s", err.text);
    cr_assert_eq(ar_transformer_settle("deepseek", model, &err), AR_OK, "%s", err.text);
    double flop = ar_transformer_forward_flop(model);
    cr_assert_float_eq(products_flop(model, AR_PASS_FORWARD), flop, 1e-9 * flop);
    cr_assert_float_eq(products_flop(model, AR_PASS_BACKWARD), 2 * flop, 1e-9 * flop);
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
    cr_assert_eq(ar_transformer_settle("", &model, &err), AR_OK);
    double all = ar_transformer_attention_flop(&model);
    model.window = 1024;
    cr_assert_eq(ar_transformer_attention_flop(&model), all);
    model.window = 256;
    double pairs = 1024.0 * 256 - 256.0 * 256 / 2, triangle = 1024.0 * 1024 / 2;
    cr_assert_float_eq(ar_transformer_attention_flop(&model), all * (0.5 + 0.5 * pairs / triangle),
                       1e-9 * all);
}
