#include <math.h>

#include "ar_strategy.h"
#include "test_outcome.h"

static struct ar_transformer gpt;
static struct ar_part_times times = {.forward_s = {[AR_PART_LAYER] = 1},
                                     .backward_s = {[AR_PART_LAYER] = 2}};

static struct ar_layout layout_of(uint32_t pp, uint32_t dp, uint32_t tp, const char *schedule)
{
    gpt = (struct ar_transformer){
        .layers = 24, .hidden = 1024, .heads = 16, .seq = 2048, .vocab = 51200};
    TEST_OK(ar_transformer_settle("gpt", &gpt, &why));
    struct ar_layout layout = {.model = &gpt,
                               .sizes = {pp, 1, dp, 1, 1, tp},
                               .global_batch = 8 * dp,
                               .micro_batch = 1,
                               .prefetch = 1,
                               .strategy = &ar_strategy_data};
    TEST_OK(ar_schedule_parse("", schedule, &layout.schedule, &layout.chunks, &why));
    return layout;
}

/* The graph with all that is sent at one time; its end, and the bytes that each rank's collectives
 * of an axis carry. */
struct made {
    double end_s, bubble_frac, bytes[AR_AXES_COUNT], messages;
};

static struct made make(const struct ar_layout *layout, double sent_s)
{
    struct ar_arena arena AR_ENDS_HERE = {NULL};
    struct ar_graph *graph;
    struct ar_graph_split splits[64];
    struct made made = {.end_s = 0};
    TEST_OK(ar_layout_check("--mesh", layout, &why));
    graph = ar_strategy_graph(layout, &times, &arena);
    for (uint32_t i = 0; i < graph->works_count; i++) {
        graph->works[i].time_s =
            graph->works[i].kind == AR_TASK_COMPUTE ? graph->works[i].time_s : sent_s;
    }
    TEST_OK(ar_graph_schedule(graph, &why));
    ar_graph_split(graph, splits);
    struct ar_graph_split mean = ar_graph_split_mean(splits, graph->roles_count);
    double busy_s = 0, sum_s = mean.bubble_s;
    for (int i = 0; i < AR_DUTIES_COUNT; i++) {
        busy_s += mean.duty_s[i];
    }
    for (int i = 0; i < AR_AXES_COUNT; i++) {
        sum_s += mean.axis_s[i];
    }
    made.end_s = ar_graph_end_s(graph);
    made.bubble_frac = mean.bubble_s / busy_s;
    cr_assert_float_eq(sum_s + busy_s, made.end_s, 1e-9 * made.end_s);
    AR_EACH(const struct ar_task, task, graph->tasks, graph->tasks_count) {
        const struct ar_work *work = &graph->works[task->work];
        for (int axis = 0; axis < AR_AXES_COUNT && task->role == 0; axis++) {
            made.bytes[axis] += (work->axes >> axis & 1) * task->count * (double)work->bytes;
        }
        made.messages += work->kind == AR_TASK_MESSAGE;
    }
    return made;
}

Test(strategy, the_bubble_is_that_of_the_schedule_where_messages_are_free)
{
    static const struct {
        const char *schedule;
        uint32_t stages;
        double bubble;
    } cases[] = {{"gpipe", 4, 3.0 / 8},          {"1f1b", 4, 3.0 / 8},
                 {"1f1b", 8, 7.0 / 8},           {"interleaved:2", 4, 3.0 / 16},
                 {"interleaved:3", 4, 3.0 / 24}, {"interleaved:3", 8, 7.0 / 24},
                 {"interleaved:6", 2, 1.0 / 48}, {"1f1b", 1, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct ar_layout layout = layout_of(cases[i].stages, 2, 2, cases[i].schedule);
        struct made made = make(&layout, 0);
        cr_assert_float_eq(made.bubble_frac, cases[i].bubble, 1e-12, "%s on %u stages: %g",
                           cases[i].schedule, cases[i].stages, made.bubble_frac);
        cr_assert_float_eq(made.end_s, 8 * 3 * 24.0 / cases[i].stages * (1 + cases[i].bubble),
                           1e-9);
    }
}

Test(strategy, tensor_parallelism_sums_hidden_states_four_times_a_layer_and_batch)
{
    struct ar_layout layout = layout_of(1, 1, 4, "1f1b");
    double state = 2048.0 * 1024 * 2;
    double loss = 8 * 2048.0 * 3 * 4; /* three numbers of each token */
    struct made plain = make(&layout, 1);
    cr_assert_eq(plain.bytes[AR_AXIS_TP], 8 * state * (24 * 4 + 2) + loss, "once at either end");
    layout.recompute = AR_RECOMPUTE_FULL;
    cr_assert_eq(make(&layout, 1).bytes[AR_AXIS_TP], 8 * state * (24 * 6 + 2) + loss);
    layout.recompute = AR_RECOMPUTE_NONE;
    layout.is_sequence_parallel = true;
    cr_assert_eq(make(&layout, 1).bytes[AR_AXIS_TP] - loss, 2 * (plain.bytes[AR_AXIS_TP] - loss),
                 "a reduce-scatter and an all-gather carry half as much each");
}

Test(strategy, k_layers_of_a_stage_are_computed_again_and_keep_their_inputs)
{
    const double again_s = times.again_s;
    times.again_s = 3;
    struct ar_layout layout = layout_of(4, 2, 2, "1f1b"); /* 6 layers a stage, 8 micro-batches */
    layout.overlaps = true;                               /* the last of which go layer by layer */
    layout.attention = AR_ATTENTION_FLASH2;
    gpt.vocab = 1024; /* so that logits do not fill the last stage */
    double none = ar_layout_memory(&layout).activations_bytes, state = 2048.0 * 1024 * 2;
    double plain_s = make(&layout, 0).end_s, sent = make(&layout, 0).bytes[AR_AXIS_TP];
    struct ar_transformer_slice slice = ar_layout_slice(&layout);
    double layer = ar_transformer_activation_bytes(&gpt, &slice);
    for (uint32_t layers = 1; layers <= 6; layers++) {
        layout.recompute = (struct ar_recompute){.modules = AR_AGAIN_LAYER, .layers = layers};
        TEST_OK(ar_layout_check_recompute("--recompute", &layout, &why));
        struct made made = make(&layout, 0);
        cr_expect_float_eq(made.end_s - plain_s, (8 + 3) * layers, 1e-9,
                           "a second each, also while the pipeline fills");
        cr_expect_float_eq(made.bytes[AR_AXIS_TP] - sent, 8 * layers * 2 * state, 1);
        cr_expect_float_eq(none - ar_layout_memory(&layout).activations_bytes,
                           4.0 * layers * (layer - state) - layer, 1,
                           "of four micro-batches; one layer is there whole");
        cr_expect_float_eq(ar_layout_hardware_flop(&layout) - ar_layout_model_flop(&layout),
                           layers / 6.0 * 16 *
                               (ar_transformer_forward_flop(&gpt) - 2 * 2048.0 * 1024 * 1024),
                           1e6);
        cr_expect_float_eq(ar_layout_masked_flop(&layout),
                           (3 + layers / 6.0) * 8 * ar_transformer_attention_flop(&gpt), 1e6);
    }
    layout.recompute.layers = 0;
    struct made full = make(&layout, 0);
    layout.recompute.layers = 6;
    cr_expect_eq(make(&layout, 0).end_s, full.end_s);
    layout.recompute.layers = 7;
    TEST_FAILS(AR_USAGE, "--recompute: found 7 layers; expected 1 to 6, the layers of a stage",
               ar_layout_check_recompute("--recompute", &layout, &why));
    layout.recompute = (struct ar_recompute){.modules = AR_AGAIN_MLP};
    cr_expect_float_eq(make(&layout, 0).bytes[AR_AXIS_TP] - sent, 8 * 6 * state, 1,
                       "behind the network alone");
    layout.recompute = (struct ar_recompute){.modules = AR_AGAIN_MOE};
    TEST_FAILS(AR_USAGE,
               "--recompute: found moe or moe_act of a model without experts; expected mlp there",
               ar_layout_check_recompute("--recompute", &layout, &why));
    times.again_s = again_s;
}

Test(strategy, layers_that_do_not_divide_are_dealt_to_all_places)
{
    static const struct {
        uint32_t layers, stages, chunks, first, second, last;
    } cases[] = {{96, 8, 2, 6, 6, 6},   {126, 16, 1, 7, 8, 7}, {126, 8, 8, 1, 2, 1},
                 {126, 16, 8, 0, 1, 0}, {24, 5, 1, 5, 5, 4},   {7, 2, 1, 4, 3, 3}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct ar_layout layout = layout_of(cases[i].stages, 1, 1, "1f1b");
        uint32_t places = cases[i].stages * cases[i].chunks, layers = 0, of_stages = 0;
        gpt.layers = cases[i].layers;
        layout.chunks = cases[i].chunks;
        for (uint32_t place = 0; place < places; place++) {
            layers += ar_layout_place_layers(&layout, place);
        }
        for (uint32_t stage = 0; stage < cases[i].stages; stage++) {
            of_stages += ar_layout_stage_layers(&layout, stage);
        }
        cr_expect_eq(layers, cases[i].layers);
        cr_expect_eq(of_stages, cases[i].layers);
        cr_expect_eq(ar_layout_place_layers(&layout, 0), cases[i].first);
        cr_expect_eq(ar_layout_place_layers(&layout, 1), cases[i].second);
        cr_expect_eq(ar_layout_place_layers(&layout, places - 1), cases[i].last);
    }
}

Test(strategy, a_pipeline_is_as_slow_as_its_longest_stage)
{
    struct ar_layout layout = layout_of(5, 1, 1, "1f1b");
    double end_s = make(&layout, 0).end_s;
    cr_expect_geq(end_s, 3 * 5 + 8 * 3 * 5 + 3 * 2 * 5, "the fourth stage, with 5 layers");
    cr_expect_lt(end_s, 3 * 5 * (8 + 4), "as if all had 5 layers");
    layout = layout_of(4, 1, 1, "interleaved:6");
    gpt.layers = 22; /* the embedding and the head are alone on their places */
    layout.global_batch = 4;
    double parts_s = 3 * 22 * 4 / 4.0; /* of a stage, in the mean */
    end_s = make(&layout, 0).end_s;
    cr_expect_geq(end_s, parts_s);
    cr_expect_leq(end_s, 3 * (6 * 4 + 3));
}

Test(strategy, gpus_of_a_sequence_gather_its_keys_and_values_and_share_gradients)
{
    struct ar_layout layout = layout_of(1, 2, 1, "1f1b");
    double parameters = ar_transformer_parameters(&gpt), keys = 2 * 2048.0 * 1024 * 2;
    layout.sizes[AR_AXIS_CP] = 4;
    struct made made = make(&layout, 0);
    cr_assert_eq(made.bytes[AR_AXIS_CP], 8 * 24 * 3 * keys + 2 * parameters,
                 "gathered twice, scattered once; and a sum of gradients, of all replicas");
    cr_assert_eq(made.bytes[AR_AXIS_DP], 2 * parameters);
    cr_assert_float_eq(make(&layout, 0.5).end_s, 8 * 24 * 3 * (1 + 0.5) + 0.5, 1e-9,
                       "none of it is hidden");
    layout.recompute = AR_RECOMPUTE_FULL;
    cr_assert_eq(make(&layout, 0).bytes[AR_AXIS_CP], 8 * 24 * 4 * keys + 2 * parameters);
    cr_assert_eq(ar_layout_replicas(&layout), 8);
    cr_assert_eq(ar_layout_batches(&layout), 8, "as many sequences as without");
    layout.strategy = &ar_strategy_zero1;
    cr_assert_float_eq(ar_layout_memory(&layout).states_bytes, (6 + 12.0 / 8) * parameters, 1);
    layout = layout_of(1, 1, 2, "1f1b");
    double state = make(&layout, 0).bytes[AR_AXIS_TP];
    layout.sizes[AR_AXIS_CP] = 2;
    made = make(&layout, 0);
    cr_assert_eq(made.bytes[AR_AXIS_TP], state / 2, "tensor parallelism sums half the tokens");
    double none, shard = 0;
    for (int part = AR_PART_LAYER; part <= AR_PART_HEAD; part++) {
        shard += (part == AR_PART_LAYER ? 24 : 1) *
                 ar_transformer_part_parameters(&gpt, 2, 1, (enum ar_transformer_part)part, &none);
    }
    cr_assert_eq(made.bytes[AR_AXIS_CP], 8 * 24 * 3 * keys / 2 + 2 * shard, "half of the heads");
}

Test(strategy, the_fullest_gpu_sets_what_experts_exchange)
{
    struct ar_layout layout = layout_of(1, 1, 1, "1f1b");
    layout.sizes[AR_AXIS_EP] = 4;
    layout.global_batch = 32;
    gpt.experts = 8, gpt.top_k = 2;
    const double state = 2048.0 * 1024 * 2;
    double dense = 0;
    for (int i = 0; i < 2; i++) {
        gpt.imbalance = i == 0 ? 1 : 1.5;
        double bytes = make(&layout, 0).bytes[AR_AXIS_EP];
        dense = i == 0 ? bytes - 8 * 24 * 4 * 2 * state : dense; /* gradients of the rest */
        cr_expect_eq(bytes, dense + 8 * 24 * 4 * 2 * state * gpt.imbalance,
                     "to experts and back, forward and backward");
    }
    double end_s = make(&layout, 0.1).end_s, all_s = 8 * 24 * 4 * 0.1;
    layout.overlaps_experts = true;
    cr_expect_float_eq(make(&layout, 0.1).end_s, end_s - all_s, 1e-6, "beside computations");
    /* Copies of a token for two experts: on four GPUs; on two nodes; on four GPUs whose experts are
     * in two groups, if the router takes one group. */
    double copies[] = {4 * (1 - 9.0 / 16), 2 * (1 - 0.25), 2 * (1 - 0.25)};
    layout.dispatcher = AR_DISPATCHER_DEEPEP;
    for (int i = 0; i < 3; i++) {
        gpt.expert_groups = i == 2 ? 2 : 0, gpt.top_groups = 1;
        layout.expert_nodes = i == 1 ? 2 : 1;
        layout.precision = i == 1 ? AR_FP8 : AR_BF16;
        double halved = i == 1 ? 0.75 : 1; /* one of two exchanges */
        cr_expect_eq(make(&layout, 0).bytes[AR_AXIS_EP],
                     dense + 8 * 24 * 4 * copies[i] * halved * state * 1.5);
    }
    layout.dispatcher = AR_DISPATCHER_ALL_TO_ALL;
    layout.recompute = (struct ar_recompute){.modules = AR_AGAIN_MOE};
    cr_expect_eq(make(&layout, 0).bytes[AR_AXIS_EP], dense + 8 * 24 * 6 * 2 * state * 1.5);
}

Test(strategy, experts_have_replicas_along_dp_and_cp)
{
    struct ar_layout layout = layout_of(1, 1, 1, "1f1b");
    gpt.experts = 4, gpt.top_k = 1, gpt.imbalance = 1;
    layout.sizes[AR_AXIS_EP] = layout.sizes[AR_AXIS_CP] = 2;
    layout.global_batch = 2;
    double experts, dense = 0;
    double layer = ar_transformer_part_parameters(&gpt, 1, 2, AR_PART_LAYER, &experts);
    dense = 24 * layer + ar_transformer_parameters(&gpt) - 24 * (layer + 2 * experts);
    double keys = 24 * 3 * 2 * 2048.0 * 1024 * 2, tokens = 24 * 4 * 2048.0 / 2 * 1024 * 2;
    struct made made = make(&layout, 0);
    cr_expect_eq(made.bytes[AR_AXIS_CP], keys + 2 * (dense + 24 * experts));
    cr_expect_eq(made.bytes[AR_AXIS_EP], tokens + 2 * dense);
}

Test(strategy, tensor_parallelism_beside_products_hides_all_but_one_piece)
{
    struct ar_layout layout = layout_of(1, 1, 4, "1f1b");
    layout.is_sequence_parallel = true;
    double bytes = make(&layout, 1).bytes[AR_AXIS_TP];
    layout.overlaps_tensor = true;
    cr_assert_eq(make(&layout, 1).bytes[AR_AXIS_TP], bytes, "in two parts");
    double sent = 2 * (24 * 2 + 1), loss = 3; /* of a pass, and forward */
    cr_assert_float_eq(make(&layout, 0.1).end_s, 8 * (24 * 3 + 0.1 * (2 * sent + loss)), 1e-6,
                       "a part as short as the computation is hidden");
    cr_assert_float_eq(make(&layout, 1).end_s, 8 * (2 * sent + 2 * sent + loss), 1e-6,
                       "computations are hidden, too");
    layout.is_sequence_parallel = false;
    TEST_FAILS(AR_USAGE, "--mesh: found", ar_layout_check("--mesh", &layout, &why));
}

Test(strategy, a_step_takes_as_long_as_its_host_needs_if_that_is_slower_than_the_gpu)
{
    struct ar_layout layout = layout_of(1, 1, 2, "1f1b");
    double gpu_s = make(&layout, 0).end_s;
    times.host = (struct ar_host_times){.forward_s = {[AR_PART_LAYER] = 3},
                                        .backward_s = {[AR_PART_LAYER] = 5},
                                        .batch_s = 1,
                                        .collective_s = 0.5,
                                        .is_on = true};
    double sent = 2 * (24 * 2 + 1) + 3;
    double host_s = 8 * (24 * (3 + 5) + 1 + 0.5 * sent);
    cr_expect_float_eq(make(&layout, 0).end_s, host_s, 1e-9);
    times.host.is_blocking = true;
    cr_expect_float_eq(make(&layout, 0).end_s, host_s + gpu_s, 1e-9, "one after the other");
    times.host =
        (struct ar_host_times){.forward_s = {[AR_PART_LAYER] = 0.9}, .batch_s = 1, .is_on = true};
    cr_expect_float_eq(make(&layout, 0).end_s, gpu_s, 1e-9, "the GPU is slower in both passes");
    layout = layout_of(4, 1, 1, "1f1b");
    times.host.is_on = false;
    gpu_s = make(&layout, 0.25).end_s;
    times.host.is_on = true;
    times.host.batch_s = 0.5;
    cr_expect_float_eq(make(&layout, 0.25).end_s, gpu_s, 1e-9);
    times.host.forward_s[AR_PART_LAYER] = 2;
    times.host.batch_s = 0;
    cr_expect_float_eq(make(&layout, 0).end_s, (8 + 3) * 6 * (2 + 2), 1e-9,
                       "forward the host is slower, on each stage");
    times.host.is_on = false;
}

Test(strategy, stages_hand_on_hidden_states_once_each_way)
{
    struct ar_layout layout = layout_of(4, 1, 1, "1f1b");
    cr_assert_eq(make(&layout, 1).messages, 2 * 8 * 3 + 2, "and a tied embedding's gradients");
    gpt.lora = 8;
    cr_assert_eq(make(&layout, 1).messages, 2 * 8 * 3, "which adapters leave as it is");
    layout = layout_of(4, 1, 1, "interleaved:2");
    gpt.is_untied = true;
    cr_assert_eq(make(&layout, 1).messages, 2 * 8 * 7);
}

Test(strategy, replicas_exchange_the_bytes_of_their_parameters)
{
    struct ar_layout layout = layout_of(1, 8, 1, "1f1b");
    double parameters = ar_transformer_parameters(&gpt);
    layout.global_batch = 8;
    cr_assert_eq(make(&layout, 0).bytes[AR_AXIS_DP], 2 * parameters);
    layout.overlaps = true;
    cr_assert_eq(make(&layout, 0).bytes[AR_AXIS_DP], 2 * parameters);
    layout.strategy = &ar_strategy_zero1;
    cr_assert_eq(make(&layout, 0).bytes[AR_AXIS_DP], 4 * parameters);
    layout.strategy = &ar_strategy_zero3;
    cr_assert_eq(make(&layout, 0).bytes[AR_AXIS_DP], 6 * parameters,
                 "gathered forward and backward, scattered once");
    layout.global_batch = 24;
    cr_assert_eq(make(&layout, 0).bytes[AR_AXIS_DP], 18 * parameters, "for each micro-batch");
    layout.strategy = &ar_strategy_zero2;
    cr_assert_eq(make(&layout, 0).bytes[AR_AXIS_DP], (3 + 1) * 2 * parameters,
                 "gradients of each micro-batch, and parameters once");
    cr_assert_float_eq(make(&layout, 1.5).end_s, 3 * 24 * 3 + 1.5 + 1.5, 1e-9,
                       "all but the last layer's are hidden, the gather is not");
    layout.overlaps = false;
    cr_assert_eq(make(&layout, 0).bytes[AR_AXIS_DP], (3 + 1) * 2 * parameters);
    cr_assert_float_eq(make(&layout, 5).end_s, 3 * (24 * 3 + 5) + 5, 1e-9, "nothing is");
}

Test(strategy, copies_of_what_replicas_share_sum_the_shards_beside_the_next_ones)
{
    struct ar_layout layout = layout_of(1, 8, 1, "1f1b");
    double parameters = ar_transformer_parameters(&gpt);
    layout.sizes[AR_AXIS_REP] = 4;
    layout.global_batch = 96;
    TEST_FAILS(AR_USAGE, "--mesh: found", ar_layout_check("--mesh", &layout, &why));
    layout.strategy = &ar_strategy_zero3;
    struct made made = make(&layout, 1);
    cr_expect_eq(made.bytes[AR_AXIS_DP], 18 * parameters);
    cr_expect_float_eq(made.bytes[AR_AXIS_REP], 3 * 2 * parameters / 8, 100);
    double copied = ar_layout_memory(&layout).states_bytes;
    layout.sizes[AR_AXIS_REP] = 1;
    layout.global_batch = 24;
    cr_expect_eq(copied, ar_layout_memory(&layout).states_bytes);
    cr_expect_float_eq(made.end_s, make(&layout, 1).end_s + 1, 1e-9, "but for the last one");
}

Test(strategy, fully_sharded_stages_gather_their_parameters_for_each_micro_batch)
{
    struct ar_layout layout = layout_of(2, 4, 1, "1f1b");
    layout.strategy = &ar_strategy_zero3;
    gpt.is_untied = true;
    double experts;
    double stage = 12 * ar_transformer_part_parameters(&gpt, 1, 1, AR_PART_LAYER, &experts) +
                   ar_transformer_part_parameters(&gpt, 1, 1, AR_PART_EMBEDDING, &experts);
    cr_assert_eq(make(&layout, 0).bytes[AR_AXIS_DP], 8 * 3 * 2 * stage, "of the first stage");
    layout.strategy = &ar_strategy_zero3_lists;
    cr_assert_gt(make(&layout, 0).bytes[AR_AXIS_DP], 8 * 2 * 2 * stage);
}

Test(strategy, replicas_with_adapters_exchange_the_gradients_of_those_alone)
{
    struct ar_layout layout = layout_of(1, 8, 1, "1f1b");
    layout.global_batch = 8;
    gpt.lora = 8;
    double adapters = 24 * 8 * 6 * 1024.0, held = ar_transformer_parameters(&gpt);
    cr_assert_eq(make(&layout, 0).bytes[AR_AXIS_DP], 2 * adapters);
    cr_assert_float_eq(ar_layout_memory(&layout).states_bytes, 2 * held + 16 * adapters, 1);
    layout.precision = AR_FP8;
    cr_assert_float_eq(ar_layout_memory(&layout).states_bytes, held + 17 * adapters, 1,
                       "frozen weights are held in fp8");
    layout.precision = AR_BF16;
    layout.strategy = &ar_strategy_zero1;
    cr_assert_eq(make(&layout, 0).bytes[AR_AXIS_DP], 4 * adapters);
    layout.strategy = &ar_strategy_zero3;
    cr_assert_eq(make(&layout, 0).bytes[AR_AXIS_DP], 4 * held + 2 * adapters,
                 "all parameters are gathered");
    layout.strategy = &ar_strategy_zero3_lists;
    double lists = make(&layout, 0).bytes[AR_AXIS_DP];
    gpt.lora = 0;
    cr_assert_lt(lists, make(&layout, 0).bytes[AR_AXIS_DP]);
    double s = 2048, attention = 24 * 4 * 1024 * s * s, all = ar_layout_model_flop(&layout);
    gpt.lora = 8;
    cr_assert_float_eq(all - ar_layout_model_flop(&layout),
                       8 * (ar_transformer_forward_flop(&gpt) - attention), 1e-9 * all,
                       "gradients of weights are not needed");
}

Test(strategy, what_is_sent_beside_computations_is_hidden_but_for_the_first_and_the_last)
{
    struct ar_layout layout = layout_of(1, 8, 1, "1f1b");
    layout.global_batch = 8;
    cr_assert_float_eq(make(&layout, 5).end_s, 24 * 3 + 5, 1e-9);
    layout.overlaps = true;
    cr_assert_float_eq(make(&layout, 1.5).end_s, 24 * 3 + 1.5, 1e-9, "gradients beside backward");
    layout.overlaps = false;
    layout.strategy = &ar_strategy_zero3;
    cr_assert_float_eq(make(&layout, 0.5).end_s, 0.5 + 24 * 3 + 0.5, 1e-9,
                       "only the first gather and the last reduce-scatter are waited for");
    cr_assert_float_eq(make(&layout, 4).end_s, 3 * 24 * 4.0, 4 + 2 + 1,
                       "all that is sent, on one stream");
    layout.prefetch = 0;
    cr_assert_float_eq(make(&layout, 0.5).end_s, 24 * 3 + 48 * 0.5 + 0.5, 1e-9,
                       "every gather is waited for, reduce-scatters are not");
}

Test(strategy, collectives_of_lists_cost_the_host_views_and_copies_for_every_rank)
{
    struct ar_layout layout = layout_of(1, 8, 1, "1f1b");
    layout.global_batch = 8;
    layout.strategy = &ar_strategy_zero3_lists;
    double layers = 24 * 12.0 * 1024 * 1024, ends = 2 * 51200.0 * 1024, norms = 24 * 2 * 1024.0;
    struct made made = make(&layout, 0);
    cr_assert_eq(made.bytes[AR_AXIS_DP], 2 * (3 * (layers + ends) + norms));
    double gathers = 2 * (24 * 4 + 2), scatters = 24 * (4 + 2) + 2;
    double copied_s = 8 * (gathers * (2.26e-6 + 10.8e-6) + scatters * (2 * 2.26e-6 + 10.8e-6));
    cr_assert_float_eq(made.end_s, 24 * 3 + copied_s, 1e-9);
    cr_assert_float_eq(make(&layout, 1).end_s, made.end_s + gathers + scatters, 1e-9,
                       "nothing is hidden");
    layout.recompute = AR_RECOMPUTE_FULL;
    cr_assert_eq(make(&layout, 0).bytes[AR_AXIS_DP], made.bytes[AR_AXIS_DP],
                 "a layer of 13 million parameters is kept until its backward pass");
    gpt.hidden = 16384, gpt.heads = gpt.kv_heads = 128, gpt.head_dim = 128, gpt.ffn = 4 * 16384;
    double matrix = 16384.0 * 16384 * 2;
    double before = make(&layout, 0).bytes[AR_AXIS_DP];
    layout.recompute = AR_RECOMPUTE_NONE;
    cr_assert_eq(before - make(&layout, 0).bytes[AR_AXIS_DP], 24 * 8 * matrix,
                 "all but the last matrix are gathered again");
}

Test(strategy, sparse_gradients_are_gathered_with_their_places)
{
    struct ar_layout layout = layout_of(1, 8, 1, "1f1b");
    layout.global_batch = 8;
    layout.sparse_frac = 0.01;
    double sent = ceil(0.01 * ar_transformer_parameters(&gpt));
    struct made made = make(&layout, 5);
    cr_assert_eq(made.bytes[AR_AXIS_DP], 8 * sent * (2 + 4), "of each rank, a value and a place");
    cr_assert_float_eq(made.end_s, 24 * 3 + 5, 1e-9);
    layout.gradients = AR_FP8;
    cr_assert_eq(make(&layout, 5).bytes[AR_AXIS_DP], 8 * sent * (1 + 4));
    TEST_OK(ar_layout_check_sparse("--sparse", &layout, &why));
    layout.strategy = &ar_strategy_zero1;
    TEST_FAILS(AR_USAGE,
               "--sparse: found strategy zero1; expected data, whose replicas sum gradients of all "
               "parameters",
               ar_layout_check_sparse("--sparse", &layout, &why));
}

Test(strategy, independent_replicas_gather_once_at_the_end)
{
    struct ar_layout layout = layout_of(1, 8, 1, "1f1b");
    layout.strategy = &ar_strategy_independent;
    struct made made = make(&layout, 5);
    cr_assert_float_eq(made.end_s, 8 * 24 * 3 + 5, 1e-9);
    cr_assert_eq(made.bytes[AR_AXIS_DP], 8 * 2 * ar_transformer_parameters(&gpt));
}

Test(strategy, memory_is_that_of_the_papers)
{
    struct ar_layout layout = layout_of(1, 64, 1, "1f1b");
    double parameters = ar_transformer_parameters(&gpt);
    cr_assert_float_eq(ar_layout_memory(&layout).states_bytes, 18 * parameters, 1);
    layout.strategy = &ar_strategy_zero1;
    cr_assert_float_eq(ar_layout_memory(&layout).states_bytes, (6 + 12.0 / 64) * parameters, 1);
    layout.gradients = AR_FP16;
    layout.strategy = &ar_strategy_zero2;
    cr_assert_float_eq(ar_layout_memory(&layout).states_bytes, (2 + 14.0 / 64) * parameters, 1);
    layout.strategy = &ar_strategy_zero3;
    double ignored, layer = ar_transformer_part_parameters(&gpt, 1, 1, AR_PART_LAYER, &ignored);
    cr_assert_float_eq(ar_layout_memory(&layout).states_bytes,
                       16 * parameters / 64 + layer * (2 * 2 + 2), 1);
    layout.prefetch = 3;
    cr_assert_float_eq(ar_layout_memory(&layout).states_bytes,
                       16 * parameters / 64 + layer * (4 * 2 + 2), 1);
}

/* Times of parts on a device whose GPU is slower by a factor, without terms of a framework. */
static struct ar_part_times times_on(const char *device, const struct ar_layout *layout,
                                     double slower)
{
    struct ar_arena arena AR_ENDS_HERE = {NULL};
    struct ar_device_cost *cost;
    struct ar_part_times made;
    struct ar_framework none;
    ar_framework_clear(&none);
    const char *path =
        ar_arena_format(&arena, AR_TEST_SOURCE_DIR "/traces/device/%s.cost.csv", device);
    TEST_OK(ar_device_cost_load(path, &arena, &cost, &why));
    ar_part_times_make(layout, cost, slower, &none, &made);
    return made;
}

Test(strategy, an_optimizer_on_the_host_leaves_the_gpu_and_takes_the_time_of_links_and_cpus)
{
    static const char device[] = "a100-80gb-sxm";
    struct ar_layout layout = layout_of(1, 8, 1, "1f1b");
    double parameters = ar_transformer_parameters(&gpt);
    layout.strategy = &ar_strategy_zero1;
    struct ar_part_times here = times_on(device, &layout, 1);
    layout.offload = AR_OFFLOAD_OPTIMIZER;
    layout.host_link_Bps = 10e9;
    layout.host_update_Bps = 6e9;
    struct ar_part_times there = times_on(device, &layout, 1);
    cr_expect_float_eq(there.optimizer_s, (4 + 2) / 10e9 + 30 / 6e9, 1e-20,
                       "gradients in fp32, parameters in fp16");
    cr_expect_eq(times_on(device, &layout, 2).optimizer_s, there.optimizer_s, "a slower GPU");
    cr_expect_eq(there.backward_s[AR_PART_LAYER], here.backward_s[AR_PART_LAYER]);
    cr_expect_float_eq(ar_layout_memory(&layout).states_bytes, 6 * parameters, 1);
    layout.strategy = &ar_strategy_zero2;
    cr_expect_float_eq(times_on(device, &layout, 1).optimizer_s, (2 + 2) / 10e9 + 30 / 6e9, 1e-20,
                       "as they are sent");
    cr_expect_float_eq(ar_layout_memory(&layout).states_bytes, (2 + 2.0 / 8) * parameters, 1);
}

/* GPT of 24 layers: 12 tensors of a layer with biases, word and position embeddings, a norm. */
Test(strategy, an_optimizer_of_many_tensors_waits_for_its_launches)
{
    static const struct {
        const struct ar_strategy *strategy;
        double tensors;
    } cases[] = {{&ar_strategy_data, 24 * 12 + 4},
                 {&ar_strategy_zero1, (24 * 12 + 4) / 8.0},
                 {&ar_strategy_zero3, 24 * 12 + 4}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct ar_layout layout = layout_of(1, 8, 1, "1f1b");
        gpt.has_positions = true;
        layout.strategy = cases[i].strategy;
        double none_s = make(&layout, 0).end_s;
        times.host.tensor_s = 0.5;
        cr_expect_float_eq(make(&layout, 0).end_s - none_s, 0.5 * cases[i].tensors, 1e-6);
        times.optimizer_s = 1;
        double updated_s = make(&layout, 0).end_s;
        times.host.tensor_s = 0;
        cr_expect_eq(make(&layout, 0).end_s, updated_s, "the GPU is slower");
        times.optimizer_s = 0;
    }
    gpt.experts = 8, gpt.has_positions = false;
    cr_expect_eq(ar_transformer_tensors(&gpt, 4, AR_PART_LAYER), 2 + 2 * 2 + 1 + 2);
    gpt.lora = 8;
    cr_expect_eq(ar_transformer_tensors(&gpt, 4, AR_PART_LAYER), 4);
}

Test(strategy, the_head_is_in_bf16_where_layers_are_in_fp8)
{
    struct ar_layout layout = layout_of(1, 1, 1, "1f1b");
    gpt.hidden = 4096, gpt.heads = gpt.kv_heads = 32, gpt.head_dim = 128, gpt.ffn = 16384;
    layout.attention = AR_ATTENTION_FLASH2;
    layout.precision = layout.gradients = AR_BF16;
    struct ar_part_times wide = times_on("h100-sxm", &layout, 1);
    layout.precision = AR_FP8;
    struct ar_part_times narrow = times_on("h100-sxm", &layout, 1);
    cr_expect_eq(narrow.forward_s[AR_PART_HEAD], wide.forward_s[AR_PART_HEAD]);
    cr_expect_eq(narrow.backward_s[AR_PART_HEAD], wide.backward_s[AR_PART_HEAD]);
    cr_expect_lt(narrow.forward_s[AR_PART_LAYER], 0.9 * wide.forward_s[AR_PART_LAYER]);
}

/* Sizes are those of pp, rep, dp, ep, cp and tp. */
static void expect_refused(const uint32_t sizes[AR_AXES_COUNT], const char *schedule,
                           uint32_t batch, bool is_sequence_parallel, const char *found)
{
    struct ar_layout layout = layout_of(1, 1, 1, schedule);
    memcpy(layout.sizes, sizes, sizeof layout.sizes);
    layout.global_batch = batch;
    layout.is_sequence_parallel = is_sequence_parallel;
    TEST_FAILS(AR_USAGE, found, ar_layout_check("--mesh", &layout, &why));
}

Test(strategy, a_layout_that_does_not_divide_is_refused_in_one_line)
{
    expect_refused((uint32_t[]){25, 1, 1, 1, 1, 1}, "1f1b", 8, false,
                   "layers 24; expected at least 25, stages times chunks");
    expect_refused((uint32_t[]){1, 1, 1, 1, 1, 3}, "1f1b", 8, false,
                   "heads 16; expected a multiple of 3, tp of the mesh");
    expect_refused((uint32_t[]){1, 1, 2, 1, 1, 1}, "1f1b", 7, false,
                   "global-batch 7; expected a multiple of 2, dp times ep times the micro-batch");
    expect_refused((uint32_t[]){1, 1, 2, 1, 1, 1}, "interleaved:2", 16, false,
                   "schedule interleaved:2 without a pipeline; expected pp above 1, or 1f1b");
    expect_refused((uint32_t[]){1, 1, 2, 1, 3, 1}, "1f1b", 16, false,
                   "seq 2048; expected a multiple of 6, twice cp of the mesh");
    expect_refused((uint32_t[]){1, 1, 2, 1, 512, 8}, "1f1b", 16, true,
                   "seq 2048; expected a multiple of 4096, cp times tp of the mesh");
    expect_refused((uint32_t[]){1, 1, 1, 2, 1, 1}, "1f1b", 8, false,
                   "ep=2 for a model without experts; expected --experts, or ep=1");
    expect_refused((uint32_t[]){1, 1, 1, 1, 1, 1}, "1f1b", 8, true,
                   "sequence parallelism without tensor parallelism; expected tp above 1");
}

Test(strategy, what_needs_a_recorded_collective_of_one_gpu_waits_for_what_that_would_wait_for)
{
#define SENT(name, along, needs, is_apart)                                                         \
    {                                                                                              \
        .operation = name, .bytes = 8, .groups = along, .is_beside = is_apart,                     \
        .needs_first = needs, .needs_count = 1                                                     \
    }
    static struct ar_recorded_task tasks[] = {{.time_s = 1},
                                              SENT("allreduce", AR_RECORDED_DP, 0, true),
                                              SENT("allreduce", AR_RECORDED_TP, 1, false),
                                              SENT("allgather", AR_RECORDED_TP, 2, false),
                                              {.time_s = 2, .needs_first = 3, .needs_count = 1}};
    static uint32_t needs[] = {0, 1, 2, 3};
    const struct ar_recorded recorded = {
        .tasks = tasks, .tasks_count = 5, .needs = needs, .needs_count = 4};
    struct ar_layout layout = layout_of(1, 2, 1, "1f1b");
    layout.recorded = &recorded;
    cr_expect_eq(make(&layout, 4).end_s, 1 + 4 + 2);
    layout.sizes[AR_AXIS_TP] = 2;
    cr_expect_eq(make(&layout, 4).end_s, 1 + 4 + 4 + 4 + 2);
}
