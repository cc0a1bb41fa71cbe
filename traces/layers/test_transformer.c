#include "test_traces.h"

static struct ar_transformer gpt3(void)
{
    struct ar_transformer model = {.layers = 96,
                                   .hidden = 12288,
                                   .heads = 96,
                                   .seq = 2048,
                                   .vocab = 51200,
                                   .has_positions = true,
                                   .has_dropout = true};
    TEST_OK(ar_transformer_settle("gpt", &model, &why));
    return model;
}

/* Work of all products of two sequences. */
static double gemm_flop(const struct ar_transformer *model, uint32_t tp, uint32_t cp,
                        enum ar_transformer_pass pass)
{
    const struct ar_transformer_slice slice = {.micro_batch = 2, .tp = tp, .ep = 1, .cp = cp};
    return test_products_flop(model, &slice, pass);
}

Test(transformer, work_is_that_of_arxiv_2104_04473_and_of_its_products_and_twice_it_backward)
{
    struct ar_transformer model = gpt3();
    double h = model.hidden, l = model.layers, s = model.seq;
    double all = 24 * s * l * h * h * (1 + s / (6 * h) + 51200.0 / (12 * l * h));
    cr_assert_float_eq(ar_transformer_forward_flop(&model), all, 1e-9 * all);
    cr_assert_float_eq(gemm_flop(&model, 1, 1, AR_PASS_FORWARD), 2 * all, 1e-9 * all);
    cr_assert_float_eq(gemm_flop(&model, 8, 1, AR_PASS_FORWARD), 2 * all / 8, 1e-9 * all);
    cr_assert_float_eq(gemm_flop(&model, 8, 1, AR_PASS_BACKWARD), 2 * all / 4, 1e-9 * all);
}

Test(transformer, gpus_of_a_sequence_have_a_part_of_all_work_and_of_its_activations)
{
    struct ar_transformer model = gpt3();
    const struct ar_transformer_slice whole = {.micro_batch = 2, .tp = 1, .ep = 1};
    struct ar_transformer_slice part = whole;
    part.cp = 1;
    double bytes = ar_transformer_activation_bytes(&model, &whole);
    cr_assert_eq(ar_transformer_activation_bytes(&model, &part), bytes);
    part.cp = 4;
    cr_assert_float_eq(ar_transformer_activation_bytes(&model, &part), bytes / 4, 1);
    cr_assert_eq(ar_transformer_state_bytes(&model, &part), 2 * 2048.0 / 4 * 12288 * 2);
    cr_assert_eq(ar_transformer_keys_bytes(&model, &part), 2 * 2 * 2048.0 * 12288 * 2,
                 "keys and values of all tokens");
    for (int pass = AR_PASS_FORWARD; pass <= AR_PASS_BACKWARD; pass++) {
        enum ar_transformer_pass one = (enum ar_transformer_pass)pass;
        double flop = gemm_flop(&model, 8, 1, one);
        cr_assert_float_eq(gemm_flop(&model, 8, 4, one), flop / 4, 1e-9 * flop);
    }
    struct ar_kernels kernels;
    part.attention = AR_ATTENTION_FLASH2;
    ar_transformer_kernels(&model, &part, AR_PART_LAYER, AR_PASS_FORWARD, &kernels);
    for (size_t i = 0; i < kernels.count; i++) {
        if (kernels.list[i].kind == AR_KERNEL_FLASH2) {
            cr_assert_eq(kernels.list[i].attention.queries, 512);
            cr_assert_eq(kernels.list[i].attention.keys, 2048);
        }
    }
}

Test(transformer, adapters_alone_are_trained)
{
    struct ar_transformer full = gpt3(), model = gpt3();
    double h = model.hidden, s = model.seq, experts;
    model.lora = 16;
    double adapters = 16 * (h + 3 * h + h + h); /* of a layer */
    cr_assert_eq(ar_transformer_trained_parameters(&model, 1, 1, AR_PART_LAYER, &experts),
                 adapters);
    cr_assert_eq(ar_transformer_trained_parameters(&model, 8, 1, AR_PART_LAYER, &experts),
                 adapters / 8);
    cr_assert_eq(ar_transformer_trained_parameters(&model, 1, 1, AR_PART_EMBEDDING, &experts), 0);
    cr_assert_eq(ar_transformer_parameters(&model) - ar_transformer_parameters(&full),
                 96 * adapters);
    double forward = gemm_flop(&full, 1, 1, AR_PASS_FORWARD);
    double added = 2 * 2 * s * 96 * adapters; /* of two sequences */
    double scores = 2 * 96 * 4 * s * s * h;   /* which have no weights */
    cr_assert_float_eq(gemm_flop(&model, 1, 1, AR_PASS_FORWARD), forward + added, 1e-9 * forward);
    cr_assert_float_eq(gemm_flop(&model, 1, 1, AR_PASS_BACKWARD), forward + scores + 2 * added,
                       1e-9 * forward);
}

Test(transformer, operands_of_products_in_fp8_are_cast_and_norms_that_are_not_fused_move_more)
{
    struct ar_transformer gpt = {
        .layers = 1, .hidden = 1024, .heads = 16, .seq = 2048, .vocab = 51200};
    struct ar_transformer_slice slice = {.micro_batch = 1, .tp = 1, .ep = 1, .precision = AR_FP8};
    struct ar_kernels kernels, eager;
    double forward = 0, backward = 0;
    TEST_OK(ar_transformer_settle("gpt", &gpt, &why));
    for (int pass = 0; pass < 2; pass++) {
        ar_transformer_kernels(&gpt, &slice, AR_PART_LAYER, (enum ar_transformer_pass)pass,
                               &kernels);
        for (size_t i = 0; i < kernels.count; i++) {
            bool is_cast = strcmp(kernels.list[i].name, "cast") == 0;
            *(pass == 0 ? &forward : &backward) += is_cast ? kernels.list[i].elements : 0;
        }
    }
    cr_assert_eq(forward, (1 + 1 + 1 + 4) * 2048.0 * 1024, "inputs of the four products");
    cr_assert_eq(backward, (3 + 1 + 4 + 1) * 2048.0 * 1024, "gradients of their outputs");
    slice.precision = AR_BF16;
    ar_transformer_kernels(&gpt, &slice, AR_PART_LAYER, AR_PASS_FORWARD, &kernels);
    slice.elementwise = 3;
    ar_transformer_kernels(&gpt, &slice, AR_PART_LAYER, AR_PASS_FORWARD, &eager);
    for (size_t i = 0; i < kernels.count; i++) {
        const char *name = kernels.list[i].name;
        bool is_fused = strcmp(name, "norm") == 0 || strcmp(name, "activation") == 0;
        cr_expect_neq(kernels.list[i].kind, AR_KERNEL_CAST, "bf16 is stored as it is used");
        cr_expect_eq(eager.list[i].bytes, (is_fused ? 3 : 1) * kernels.list[i].bytes, "%s", name);
    }
}

/* In fp8 attention stays in bf16, and FlashAttention of 2022 is slower than its successor. */
Test(transformer, flash1_is_never_faster_than_flash2_nor_in_fp8_than_in_bf16)
{
    static const char *const names[] = {"a100-80gb-sxm", "h100-sxm", "b200"};
    const struct ar_attention attention = {
        .count = 64, .queries = 4096, .keys = 4096, .head_elements = 128, .is_causal = true};
    for (size_t i = 0; i < 2 * sizeof names / sizeof names[0]; i++) {
        struct ar_kernels first = {.count = 1}, second = {.count = 1};
        struct ar_device_cost *cost = test_cost(names[i / 2]);
        first.list[0] = (struct ar_kernel){.kind = AR_KERNEL_FLASH1, .attention = attention};
        second.list[0] = (struct ar_kernel){.kind = AR_KERNEL_FLASH2, .attention = attention};
        first.list[0].attention.is_backward = second.list[0].attention.is_backward = i % 2 == 1;
        double first_s = ar_kernels_s(&first, cost, AR_BF16);
        cr_expect_geq(first_s, ar_kernels_s(&second, cost, AR_BF16), "%s", names[i / 2]);
        cr_expect_eq(first_s, ar_kernels_s(&first, cost, AR_FP8), "%s", names[i / 2]);
    }
}

Test(transformer, activations_are_those_of_arxiv_2205_05198)
{
    struct ar_transformer model = gpt3();
    struct ar_transformer_slice slice = {.micro_batch = 1, .tp = 8, .ep = 1};
    double sbh = 2048.0 * 12288, scores = 5.0 * 96 * 2048 / 12288;
    cr_assert_float_eq(ar_transformer_activation_bytes(&model, &slice),
                       sbh * (10 + 24 / 8.0 + scores / 8), 1);
    slice.again = AR_AGAIN_CORE_ATTN;
    cr_assert_float_eq(ar_transformer_activation_bytes(&model, &slice), sbh * (10 + 24 / 8.0), 1);
    slice.again = AR_AGAIN_LAYER;
    cr_assert_float_eq(ar_transformer_activation_bytes(&model, &slice), 2 * sbh, 1);
    slice.again = 0;
    slice.is_sequence_parallel = true;
    cr_assert_float_eq(ar_transformer_activation_bytes(&model, &slice), sbh / 8 * (34 + scores), 1);
}

/* By the table of arXiv:2205.05198, section 4.1: a network keeps 16 s b h of two activations behind
 * its input, a norm 2 s b h of output. */
Test(transformer, modules_that_are_computed_again_keep_their_inputs_alone)
{
    static const struct {
        unsigned again;
        double kept; /* in s b h bytes */
        size_t products;
    } cases[] = {{AR_AGAIN_CORE_ATTN, 34, 2},
                 {AR_AGAIN_CORE_ATTN | AR_AGAIN_MLP, 18, 4},
                 {AR_AGAIN_CORE_ATTN | AR_AGAIN_LAYERNORM, 30, 2},
                 {AR_AGAIN_CORE_ATTN | AR_AGAIN_LAYERNORM | AR_AGAIN_MLP, 14, 4},
                 {AR_AGAIN_CORE_ATTN | AR_AGAIN_LAYER, 2, 6}};
    struct ar_transformer model = gpt3();
    double sbh = 2048.0 * 12288;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct ar_transformer_slice slice = {
            .micro_batch = 1, .tp = 1, .ep = 1, .again = cases[i].again};
        struct ar_kernels kernels;
        size_t products = 0;
        cr_expect_float_eq(ar_transformer_activation_bytes(&model, &slice) / sbh, cases[i].kept,
                           1e-9, "%zu", i);
        ar_transformer_kernels(&model, &slice, AR_PART_LAYER, AR_PASS_AGAIN, &kernels);
        for (size_t j = 0; j < kernels.count; j++) {
            products += kernels.list[j].kind == AR_KERNEL_GEMM;
        }
        cr_expect_eq(products, cases[i].products, "%zu", i);
        slice.attention = AR_ATTENTION_FLASH2;
        slice.again = AR_AGAIN_CORE_ATTN;
        ar_transformer_kernels(&model, &slice, AR_PART_LAYER, AR_PASS_AGAIN, &kernels);
        cr_expect_eq(kernels.count, 0, "one kernel keeps no scores");
    }
    model.experts = 8;
    model.top_k = 2;
    struct ar_transformer_slice slice = {.micro_batch = 1, .tp = 1, .ep = 1};
    double all = ar_transformer_activation_bytes(&model, &slice);
    slice.again = AR_AGAIN_MOE_ACT;
    cr_expect_float_eq((all - ar_transformer_activation_bytes(&model, &slice)) / sbh, 16, 1e-9,
                       "the output of the activation function, of two experts");
    slice.again = AR_AGAIN_MOE;
    cr_expect_float_eq((all - ar_transformer_activation_bytes(&model, &slice)) / sbh, 32, 1e-9);
}

Test(transformer, what_is_computed_again_is_read_and_printed)
{
    static const char *const good[] = {
        "none", "selective", "selective:core_attn+layernorm+mlp", "selective:moe_act",
        "full", "full:3"};
    static const char *const bad[] = {
        "",          "some",   "full:",   "full:0",         "selective:",
        "full:core", "none:1", "full:-1", "selective:mlp+", "selective:mlp,moe"};
    char text[AR_RECOMPUTE_TEXT];
    struct ar_recompute found;
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        TEST_OK(ar_recompute_parse("--recompute", good[i], &found, &why));
        cr_expect_str_eq(ar_recompute_format(found, text), good[i]);
    }
    TEST_EACH_FAILS(AR_USAGE, given, bad, ar_recompute_parse("--recompute", given, &found, &why));
}

Test(transformer, of_a_mixture_a_token_takes_some_experts)
{
    struct ar_transformer dense = gpt3(), mixture = gpt3();
    double experts;
    mixture.experts = 8;
    mixture.top_k = 2;
    double network = 2.0 * dense.hidden * dense.ffn;
    cr_assert_float_eq(ar_transformer_forward_flop(&mixture) - ar_transformer_forward_flop(&dense),
                       2.0 * 2048 * 96 * (network + dense.hidden * 8.0), 1e9);
    (void)ar_transformer_part_parameters(&mixture, 2, 4, AR_PART_LAYER, &experts);
    cr_assert_float_eq(experts, 8 * network / 2 / 4, 1);
}

Test(transformer, the_fullest_gpu_has_more_tokens_where_experts_are_spread)
{
    struct ar_transformer even = gpt3(), uneven = gpt3();
    even.experts = uneven.experts = 8;
    even.top_k = uneven.top_k = 2;
    uneven.imbalance = 1.5;
    for (uint32_t ep = 1; ep <= 4; ep *= 4) {
        const struct ar_transformer_slice slice = {.micro_batch = 1, .tp = 1, .ep = ep};
        struct ar_kernels one, other;
        ar_transformer_kernels(&even, &slice, AR_PART_LAYER, AR_PASS_FORWARD, &one);
        ar_transformer_kernels(&uneven, &slice, AR_PART_LAYER, AR_PASS_FORWARD, &other);
        for (size_t i = 0; i < one.count; i++) {
            bool is_ffn = strncmp(one.list[i].name, "ffn", 3) == 0;
            if (one.list[i].kind == AR_KERNEL_GEMM) {
                cr_expect_eq((double)other.list[i].gemm.m,
                             (double)one.list[i].gemm.m * (is_ffn && ep > 1 ? 1.5 : 1), "%s",
                             one.list[i].name);
            }
        }
    }
}

Test(transformer, a_shape_that_is_none_is_refused)
{
    struct ar_transformer models[] = {gpt3(), gpt3(), gpt3(), gpt3()};
    models[0].head_dim = 0;
    models[0].heads = 7;
    models[1].kv_heads = 7;
    models[2].layers = 0;
    models[3].lora = 12289;
    static const char *const expected[] = {
        "7 heads;", "7 heads of keys", "0 layers,",
        "gpt: found adapters of rank 12289; expected at most the hidden size 12288"};
    for (size_t i = 0; i < sizeof models / sizeof models[0]; i++) {
        TEST_FAILS(AR_USAGE, expected[i], ar_transformer_settle("gpt", &models[i], &why));
    }
}
