#include <stdlib.h>
#include <unistd.h>

#include "ar_strategy.h"
#include "test_outcome.h"

/* Hops of 1 s, and of 10 bytes per second. */
static const double latency_s = 1, rate_Bps = 10;

static struct ar_hop_time hop(const void *context, uint32_t from, uint32_t to, uint64_t bytes)
{
    (void)context, (void)from, (void)to;
    return (struct ar_hop_time){.time_s = (double)bytes / rate_Bps, .latency_s = latency_s};
}

static const struct ar_hops hops = {.find = hop};
static struct ar_arena arena; /* of a test, which is a process */

static const char *file_of(const char *text)
{
    static char path[32];
    strcpy(path, "operators-XXXXXX");
    int file = mkstemp(path);
    cr_assert_eq(write(file, text, strlen(text)), (ssize_t)strlen(text));
    close(file);
    return path;
}

static struct ar_operators *read_operators(const char *text)
{
    struct ar_operators *operators = NULL;
    const char *path = file_of(text);
    TEST_OK(ar_operators_load(path, &arena, &operators, &why));
    unlink(path);
    return operators;
}

static uint32_t messages;

/* The time of a placement; counts messages. */
static double end_of(const struct ar_operators *operators, const uint32_t *devices, uint32_t count)
{
    struct ar_arena scratch AR_ENDS_HERE = {NULL};
    struct ar_graph *graph = ar_operators_graph(operators, devices, count, &hops, &scratch);
    TEST_OK(ar_graph_schedule(graph, &why));
    messages = graph->tasks_count - operators->count;
    return ar_graph_end_s(graph);
}

#define HEADER "name,time_s,output_bytes,needs,memory_bytes\n"
static const char two_branches[] = HEADER "a,1,20,,6\nb,4,10,a,6\nc,4,10,a,6\nd,1,0,b+c,6\n";

Test(operators, devices_and_their_ports_by_hand)
{
    static const char fan_out[] = HEADER "a,0,20,,\nb,0,0,a,\nc,0,0,a,\n";
    static const char fan_in[] = HEADER "a,0,20,,\nb,0,20,,\nc,0,0,a+b,\n";
    static const struct {
        const char *title, *text;
        uint32_t devices[4];
        double end_s;
        uint32_t messages;
    } cases[] = {{"alone", two_branches, {0, 0, 0, 0}, 10, 0},
                 {"a is there at 1 + 2 + 1; c ends at 8 and is back at 10",
                  two_branches,
                  {0, 0, 1, 0},
                  11,
                  2},
                 {"b is there at 5 + 2, c at 9 + 1 + 1", two_branches, {0, 0, 0, 1}, 12, 2},
                 {"several share a message", two_branches, {0, 1, 1, 1}, 1 + 2 + 1 + 9, 1},
                 {"a port sends one message at a time", fan_out, {0, 1, 2}, 2 + 2 + 1, 2},
                 {"and receives one", fan_in, {0, 1, 2}, 2 + 2 + 1, 2}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        cr_expect_eq(end_of(read_operators(cases[i].text), cases[i].devices, 3), cases[i].end_s,
                     "%s", cases[i].title);
        cr_expect_eq(messages, cases[i].messages, "%s: %u", cases[i].title, messages);
    }
}

static double found(const struct ar_operators *operators, bool is_annealed, uint64_t seed,
                    double room_bytes, uint32_t *devices)
{
    const struct ar_placement_search search = {.devices_count = 3,
                                               .hops = &hops,
                                               .room_bytes = room_bytes,
                                               .is_annealed = is_annealed,
                                               .seed = seed};
    uint32_t *made;
    TEST_OK(ar_placement_find(operators, &search, &arena, &made, &why));
    memcpy(devices, made, operators->count * sizeof *devices);
    for (uint32_t i = 0; i < 3 && room_bytes > 0; i++) {
        cr_expect(ar_operators_memory_bytes(operators, devices, i) <= room_bytes);
    }
    return end_of(operators, devices, 3);
}

Test(operators, a_search_never_ends_later_than_it_began)
{
    static const char *const graphs[] = {
        two_branches, HEADER "a,1,2,,1\nb,9,1,a,1\nc,8,1,a,1\nd,7,1,a,1\ne,1,0,b+c+d,1\n",
        HEADER "a,1,200,,1\nb,1,200,a,1\nc,1,200,b,1\n",
        HEADER "a,5,1,,1\nb,5,1,,1\nc,5,1,,1\nd,5,1,a+b,1\ne,5,1,b+c,1\nf,1,1,d+e,1\n"};
    for (size_t i = 0; i < sizeof graphs / sizeof graphs[0]; i++) {
        struct ar_operators *operators = read_operators(graphs[i]);
        uint32_t devices[8], again[8];
        double alone_s = 0;
        for (uint32_t j = 0; j < operators->count; j++) {
            alone_s += operators->list[j].time_s;
        }
        double greedy_s = found(operators, false, 1, 0, devices);
        double annealed_s = found(operators, true, 7, 0, devices);
        cr_expect(greedy_s <= alone_s, "%zu: %g", i, greedy_s);
        cr_expect(annealed_s <= greedy_s, "%zu: %g", i, annealed_s);
        found(operators, true, 7, 0, again);
        cr_expect_arr_eq(devices, again, operators->count * sizeof *devices, "the same seed");
    }
    uint32_t devices[8];
    struct ar_operators *fan = read_operators(graphs[1]);
    cr_expect_lt(found(fan, false, 1, 0, devices), 15, "three devices beat one, which takes 26");
}

Test(operators, what_does_not_fit_is_spread_or_refused)
{
    struct ar_operators *operators = read_operators(two_branches);
    uint32_t devices[4];
    found(operators, true, 1, 12, devices);
    const struct ar_placement_search search = {.devices_count = 2, .hops = &hops, .room_bytes = 8};
    uint32_t *made;
    TEST_FAILS(AR_USAGE, "has no room on 2 GPUs",
               ar_placement_find(operators, &search, &arena, &made, &why));
}

Test(operators, wrong_files_are_refused_where_they_are_wrong)
{
    static const struct {
        const char *text, *wanted;
        bool is_placement;
    } cases[] = {{HEADER "a,1,1,c,\nb,1,1,a,\nc,1,1,b,\n", "in a circle, which needs \"a\"", false},
                 {HEADER "a,1,1,,\na,1,1,,\n", ":3: column \"name\" is \"a\"", false},
                 {HEADER "a,1,1,,\nb,1,1,x,\n", ":3: column \"needs\" is \"x\"", false},
                 {HEADER "a,1,1,a,\n", "\"a\" is this one", false},
                 {HEADER "a,,1,,\n", ":2: operator \"a\" has neither a time nor work", false},
                 {HEADER "a,-1,1,,\n", ":2: column \"time_s\" is \"-1\"", false},
                 {"name,time_s,needs\na,1,\n", "output_bytes", false},
                 {HEADER, "found no operators", false},
                 {"operator,device\na,0\nb,0\nc,2\nd,0\n", ":4: column \"device\" is \"2\"", true},
                 {"operator,device\na,0\nx,0\n", ":3: column \"operator\" is \"x\"", true},
                 {"operator,device\na,0\na,1\n", ":3: column \"operator\" is \"a\"", true},
                 {"operator,device\na,0\nb,1\nc,1\n", "operator \"d\" is on no device", true},
                 {"operator\na\n", "device", true}};
    const struct ar_operators *placed = read_operators(two_branches);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct ar_operators *operators;
        uint32_t *devices;
        const char *path = file_of(cases[i].text);
        TEST_FAILS(AR_BAD_DATA, cases[i].wanted,
                   cases[i].is_placement
                       ? ar_placement_load(path, placed, 2, &arena, &devices, &why)
                       : ar_operators_load(path, &arena, &operators, &why));
        unlink(path);
    }
}

Test(operators, a_written_placement_is_read_back)
{
    struct ar_operators *operators = read_operators(two_branches);
    const uint32_t written[] = {1, 0, 1, 0};
    char *text;
    uint32_t *devices;
    TEST_TEXT(text, ar_placement_write(stream, operators, written));
    const char *path = file_of(text);
    free(text);
    TEST_OK(ar_placement_load(path, operators, 2, &arena, &devices, &why));
    cr_expect_arr_eq(devices, written, sizeof written);
    unlink(path);
}

/* --- parts of a model ------------------------------------------------------------------------- */

static struct ar_layer layers[] = {{.name = "conv", .forward_s = 30, .backward_s = 60},
                                   {.name = "fc", .forward_s = 10, .backward_s = 20}};
static uint64_t tensors[] = {960, 240};
static struct ar_trace trace = {.name = "two",
                                .batch = 2,
                                .layers = layers,
                                .layers_count = 2,
                                .tensor_elements = tensors,
                                .tensors_count = 2};

static struct ar_parts_request parts_of(const struct ar_layer_work *work, uint32_t devices)
{
    layers[0].tensors_count = layers[1].tensors_count = layers[1].tensors_first = 1;
    return (struct ar_parts_request){.where = "--gpus",
                                     .trace = &trace,
                                     .work = work,
                                     .devices = devices,
                                     .depth = 1,
                                     .rounds = 1,
                                     .sent = AR_FP16};
}

static double step_of(const struct ar_strategy *strategy, uint32_t devices, uint32_t depth,
                      uint32_t rounds, bool has_answers)
{
    struct ar_parts_request request = parts_of(NULL, devices);
    struct ar_operators *operators;
    request.depth = depth;
    request.rounds = rounds;
    uint32_t placed[4096];
    TEST_OK(strategy->operators(&request, &arena, &operators, &why));
    TEST_OK(ar_operators_settle(operators, &arena, &why));
    for (uint32_t i = 0; i < operators->count; i++) {
        bool is_answer = operators->list[i].duty == AR_DUTY_BACKWARD;
        operators->list[i].output_bytes *= has_answers || !is_answer;
        placed[i] = operators->list[i].device;
    }
    return end_of(operators, placed, devices);
}

Test(operators, on_a_ring_what_a_worker_sends_does_not_grow_with_the_workers)
{
    double compute_s = 120, bytes = 1200 * 2;
    for (uint32_t workers = 2; workers <= 16; workers *= 2) {
        cr_expect_float_eq(step_of(&ar_strategy_rotate, workers, 1, 1, true),
                           compute_s + bytes / rate_Bps + workers * latency_s, 1e-9, "%u", workers);
    }
    cr_expect_eq(step_of(&ar_strategy_rotate, 1, 1, 1, true), compute_s);
}

Test(operators, with_two_parts_one_is_sent_while_the_other_is_worked_on)
{
    tensors[0] = 160, tensors[1] = 40; /* 400 bytes: a part of a half round takes 5 of 15 s */
    double hidden_s = step_of(&ar_strategy_rotate, 4, 2, 1, true);
    cr_expect_float_eq(step_of(&ar_strategy_rotate, 4, 1, 1, true), 120 + 40 + 4, 1e-9);
    cr_expect_float_eq(hidden_s, 120 + 5 + 1, 1e-9, "all but the last part: %g", hidden_s);
}

Test(operators, a_round_of_a_star_takes_two_latencies_and_all_its_bytes)
{
    double compute_s = 120, bytes = 1200 * 2;
    tensors[0] = 960, tensors[1] = 240;
    for (uint32_t workers = 1; workers <= 8; workers *= 2) {
        for (uint32_t rounds = 1; rounds <= 4; rounds *= 4) {
            double each_s =
                2 * latency_s + workers * bytes / rounds / rate_Bps + compute_s / rounds;
            cr_expect_float_eq(step_of(&ar_strategy_star, workers + 1, 1, rounds, false),
                               rounds * each_s, 1e-9);
            cr_expect_float_eq(step_of(&ar_strategy_star, workers + 1, 1, rounds, true),
                               rounds * (each_s + bytes / rounds / rate_Bps), 1e-9);
        }
    }
}

Test(operators, rounds_under_way_hide_what_a_star_sends)
{
    tensors[0] = 160, tensors[1] = 40;
    double two_s = step_of(&ar_strategy_star, 3, 2, 12, false);
    cr_expect_lt(two_s, step_of(&ar_strategy_star, 3, 1, 12, false));
    cr_expect_geq(two_s, 120, "the workers compute all the time at best");
    cr_expect_lt(two_s, 120 + 12, "%g", two_s);
}

static const struct ar_layer_work work[] = {{.kind = AR_LAYER_CONV,
                                             .input_elements = 8 * 8 * 3,
                                             .output_elements = 8 * 8 * 5,
                                             .width = 8,
                                             .channels_in = 3,
                                             .channels_out = 5,
                                             .kernel = 3,
                                             .stride = 1},
                                            {.kind = AR_LAYER_FC,
                                             .input_elements = 320,
                                             .output_elements = 10,
                                             .width = 1,
                                             .kernel = 1,
                                             .stride = 1}};

static const struct ar_operators *partitioned(const struct ar_layer_work *parts, uint32_t devices)
{
    struct ar_parts_request request = parts_of(parts, devices);
    struct ar_operators *operators;
    TEST_OK(ar_strategy_partitioned.operators(&request, &arena, &operators, &why));
    return operators;
}

Test(operators, strips_send_halos_to_neighbours_and_all_to_the_classifier)
{
    const struct ar_operators *operators = partitioned(work, 4);
    /* Rows of operators: overhead, conv, fc, fc backward, conv backward, 6 sums, optimizer. */
    const struct ar_operator *list = operators->list;
    cr_assert_eq(operators->count, 12 * 4);
    cr_expect_eq(list[0].output_bytes, 8 * 3 * 2 * 2, "a row of the input, batch 2, 2 bytes");
    cr_expect_eq(list[4].output_bytes, 320 / 4 * 2 * 2, "its outputs");
    cr_expect_eq(list[5].needs_count, 3);
    cr_expect_eq(list[4].needs_count, 2, "the border has one neighbour");
    cr_expect_eq(list[8].needs_count, 4);
    cr_expect_eq(list[12].output_bytes, 320 / 4 * 2 * 2, "of the classifier's input");
    cr_expect_eq(list[16].output_bytes, tensors[0] / 4 * 2, "what is shared, in 4 parts");
    cr_expect_eq(list[5].time_s, layers[0].forward_s / 4);
    cr_expect_eq(list[44].time_s,
                 trace.optimizer_s * (double)(4 * tensors[0] + tensors[1]) /
                     (double)(4 * (tensors[0] + tensors[1])),
                 "each updates a quarter of the classifier");
    for (uint32_t devices = 4; devices <= 11; devices += 7) { /* no work, and too many */
        struct ar_parts_request request = parts_of(devices == 4 ? NULL : work, devices);
        struct ar_operators *none;
        TEST_FAILS(AR_USAGE, "--gpus: found",
                   ar_strategy_partitioned.operators(&request, &arena, &none, &why));
    }
}

Test(operators, a_mean_over_all_places_is_sent_whole)
{
    struct ar_layer_work mean[] = {work[0], work[1]};
    mean[0].kind = AR_LAYER_AVGPOOL;
    const struct ar_operators *operators = partitioned(mean, 4);
    cr_expect_eq(operators->list[4].output_bytes, 320 * 2 * 2, "sums of all means");
    cr_expect_eq(operators->list[12].output_bytes, 320 * 2 * 2, "sums of all gradients");
}

Test(operators, tiles_of_a_locally_connected_layer_keep_their_weights)
{
    struct ar_layer_work local[] = {work[0], work[1]};
    local[0].kind = AR_LAYER_LOCAL;
    local[0].kernel = 7;
    const struct ar_operators *operators = partitioned(local, 16);
    cr_expect_eq(operators->count, 6 * 16, "overhead, twice two layers, optimizer: no sums");
    cr_expect_str_eq(operators->cut, "tiles=4x4");
    /* Three columns or rows reach over two tiles of two; two of them, with the corners, are a
     * message of 2 x 4 of 3 channels. */
    cr_expect_eq(operators->list[0].output_bytes, 2 * (2 + 2) * 3 * 2 * 2);
    cr_expect_eq(operators->list[16].needs_count, 5, "a corner: itself, two down, two across");
    cr_expect_eq(operators->list[16 + 5].needs_count, 7, "inside: three at each side but itself");
    cr_expect_eq(operators->list[5 * 16].time_s, trace.optimizer_s / 16);
    cr_expect_eq(operators->list[16].memory_bytes,
                 2 * tensors[0] / 16 * 2 + 8 * 8 * 5 * trace.batch / 16 * 2,
                 "weights and gradients, outputs, of fp16");
}
