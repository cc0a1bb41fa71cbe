/* Exported timelines, read back with a JSON parser: valid, nested, and equal to the predictions. */
#include <jansson.h>
#include <math.h>
#include <stdlib.h>

#include "exports.h"
#include "test_cli.h"

TestSuite(timeline, .init = cli_enter, .fini = cli_leave);

enum { BUCKETS_MAX = 256, TRACKS_MAX = 256 };

/* A step, added up from its slices; times in whole nanoseconds. */
struct tally {
    size_t processes, tracks;
    int64_t iteration_ns; /* end of the last optimizer */
    int64_t wait_ns;
    size_t layers, buckets;
    int64_t start_ns[BUCKETS_MAX]; /* of a bucket on the first rank */
    int64_t finish_ns[BUCKETS_MAX];
    int64_t payload_bytes; /* of all buckets, ranks and channels */
};

/* One track while its slices are read. */
struct track {
    json_int_t process, thread;
    int64_t begin_ns, end_ns; /* of the last outer slice */
    int64_t filled_ns;        /* what lies in it fills it up to here */
};

static const char *text_of(const json_t *event, const char *key)
{
    const char *text = json_string_value(json_object_get(event, key));
    cr_assert_not_null(text, "an event without %s", key);
    return text;
}

static json_int_t count_of(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    cr_assert(json_is_integer(value), "no count %s", key);
    return json_integer_value(value);
}

/* Microseconds with three decimals: whole nanoseconds. */
static int64_t ns_of(const json_t *event, const char *key)
{
    const json_t *value = json_object_get(event, key);
    cr_assert(json_is_number(value), "an event without %s", key);
    double ns = json_number_value(value) * 1e3;
    cr_assert_float_eq(ns, round(ns), 1e-3, "%s: %.9g ns", key, ns);
    return llround(ns);
}

static void expect_filled(const struct track *track)
{
    cr_expect(track->filled_ns == track->begin_ns || track->filled_ns == track->end_ns,
              "a slice that ends at %ld ns is filled up to %ld ns", track->end_ns,
              track->filled_ns);
}

/* Slices come in the order of their begins; those in an outer one, if there are any, fill it.
 * Returns whether the slice is an inner one. */
static bool push_slice(struct track *track, const json_t *event)
{
    int64_t begin_ns = ns_of(event, "ts"), end_ns = begin_ns + ns_of(event, "dur");
    const char *name = text_of(event, "name");
    bool is_inner = begin_ns < track->end_ns;
    cr_assert_gt(end_ns, begin_ns, "%s takes no time", name);
    if (is_inner) {
        cr_assert_eq(begin_ns, track->filled_ns, "%s does not follow what was before", name);
        cr_assert_leq(end_ns, track->end_ns, "%s overlaps the end of what it began in", name);
    } else {
        expect_filled(track);
        track->begin_ns = begin_ns;
        track->end_ns = end_ns;
    }
    track->filled_ns = is_inner ? end_ns : begin_ns;
    return is_inner;
}

static void tally_compute(const json_t *event, bool is_inner, struct tally *tally)
{
    const char *name = text_of(event, "name");
    int64_t dur_ns = ns_of(event, "dur"), end_ns = ns_of(event, "ts") + dur_ns;
    bool is_optimizer = !is_inner && strcmp(name, "optimizer") == 0;
    tally->layers += is_inner;
    tally->wait_ns += !is_inner && strcmp(name, "wait") == 0 ? dur_ns : 0;
    if (is_optimizer && end_ns > tally->iteration_ns) {
        tally->iteration_ns = end_ns;
    }
}

static void tally_stream(const json_t *event, bool is_inner, struct tally *tally)
{
    unsigned number;
    if (is_inner) {
        return;
    }
    cr_assert_eq(sscanf(text_of(event, "name"), "bucket %u: ", &number), 1);
    cr_assert(number >= 1 && number <= BUCKETS_MAX);
    int64_t *start_ns = &tally->start_ns[number - 1], *finish_ns = &tally->finish_ns[number - 1];
    int64_t begin_ns = ns_of(event, "ts"), end_ns = begin_ns + ns_of(event, "dur");
    *start_ns = *finish_ns == 0 || begin_ns < *start_ns ? begin_ns : *start_ns;
    *finish_ns = end_ns > *finish_ns ? end_ns : *finish_ns;
    tally->buckets = number > tally->buckets ? number : tally->buckets;
    tally->payload_bytes += count_of(json_object_get(event, "args"), "channel_bytes");
}

static void take_metadata(const json_t *event, struct track *tracks, struct tally *tally)
{
    const char *name = text_of(event, "name");
    const json_t *args = json_object_get(event, "args");
    if (strcmp(name, "process_name") == 0) {
        cr_assert_eq(strncmp(text_of(args, "name"), "rank ", 5), 0);
        tally->processes++;
    } else if (strcmp(name, "thread_name") == 0) {
        cr_assert_lt(tally->tracks, (size_t)TRACKS_MAX);
        tracks[tally->tracks++] =
            (struct track){.process = count_of(event, "pid"), .thread = count_of(event, "tid")};
    } else {
        cr_assert_not_null(strstr(name, "_sort_index"));
        count_of(args, "sort_index");
    }
}

/* Reads a whole file and checks what must hold for each. */
static struct tally read_timeline(const char *text)
{
    struct tally tally = {.processes = 0};
    struct track tracks[TRACKS_MAX];
    json_error_t error;
    size_t index;
    json_t *event;
    json_t *root = json_loads(text, JSON_REJECT_DUPLICATES, &error);
    cr_assert_not_null(root, "line %d: %s", error.line, error.text);
    json_t *events = json_object_get(root, "traceEvents");
    cr_assert(json_is_array(events));
    cr_assert_str_eq(text_of(root, "displayTimeUnit"), "ms");
    cr_assert_not_null(json_object_get(json_object_get(root, "otherData"), "row"));
    json_array_foreach(events, index, event)
    {
        if (strcmp(text_of(event, "ph"), "M") == 0) {
            take_metadata(event, tracks, &tally);
            continue;
        }
        cr_assert_str_eq(text_of(event, "ph"), "X");
        struct track *track = tracks, *const end = tracks + tally.tracks;
        while (track < end && track->thread != count_of(event, "tid")) {
            track++;
        }
        cr_assert(track < end, "a slice on a track without a name");
        cr_assert_eq(track->process, count_of(event, "pid"));
        bool is_inner = push_slice(track, event);
        bool is_compute = strcmp(text_of(event, "cat"), "compute") == 0;
        (is_compute ? tally_compute : tally_stream)(event, is_inner, &tally);
    }
    for (size_t i = 0; i < tally.tracks; i++) {
        expect_filled(&tracks[i]);
    }
    json_decref(root);
    return tally;
}

/* As in job_time() of timing.c: a bucket may begin on a rank before the last rank has ended the
 * one before. */
static int64_t busy_ns(const struct tally *tally)
{
    int64_t busy = 0;
    int64_t last = 0;
    for (size_t i = 0; i < tally->buckets; i++) {
        busy += tally->finish_ns[i] - (tally->start_ns[i] > last ? tally->start_ns[i] : last);
        last = tally->finish_ns[i];
    }
    return busy;
}

static double cell_ns(const struct cli_table *row, const char *column)
{
    return atof(cli_cell(row, 1, column)) * 1e9;
}

#define RESNET "--trace resnet50-v1.5 "

/* All ranks are shown: up to eight, of nodes of one GPU. A timeline is that of one step. */
Test(timeline, slices_nest_and_add_up_to_the_prediction)
{
    static const struct {
        unsigned gpus;
        const char *options;
    } rows[] = {
        {4, RESNET "--algorithm ring --engine simgrid"},
        {6, RESNET "--algorithm ring --engine recurrence --channels 3 --bucket tensor"},
        {8, RESNET "--algorithm torus2d --shape 4x2 --engine simgrid --precision fp32"},
        {8, RESNET "--algorithm torus2d --engine recurrence --batch 16 --bucket horovod"},
        {6, RESNET "--algorithm torus2d --shape 6x1 --engine simgrid --bucket one"},
        {8, RESNET "--algorithm hierarchical --shape 2x4 --engine simgrid --bucket 4MiB"},
        {8, RESNET "--algorithm hierarchical --shape 4x2 --engine recurrence --window 1"},
        {8, "--trace trace.csv --algorithm ring --set collective.setup=0s"},
        {8, RESNET "--algorithm ring --jitter 0.1 --seed 3"},
        {8, RESNET "--algorithm torus2d --jitter 0.1 --seed 4 --engine recurrence"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const char *options = rows[i].options;
        struct cli_run run = cli_good("$AR export --quiet --format chrome-trace --cluster flat "
                                      "--gpus %u %s",
                                      rows[i].gpus, options);
        struct cli_table *row = cli_rows(
            "predict --quiet --cluster flat --gpus %u %s --iterations 1", rows[i].gpus, options);
        struct tally tally = read_timeline(run.out);
        double buckets = cli_number(row, 1, "buckets_count");
        cr_expect_eq(tally.processes, rows[i].gpus);
        cr_expect_eq((double)tally.tracks, rows[i].gpus * (1 + cli_number(row, 1, "channels")));
        cr_expect_eq((double)tally.buckets, buckets);
        cr_expect_float_eq((double)tally.iteration_ns, cell_ns(row, "iteration_s"), 1.5,
                           "%s: iteration of %ld ns", options, tally.iteration_ns);
        cr_expect_float_eq((double)busy_ns(&tally), cell_ns(row, "allreduce_s"), 1 + 1.5 * buckets,
                           "%s: stream busy for %ld ns", options, busy_ns(&tally));
        cr_expect_eq((double)tally.payload_bytes,
                     rows[i].gpus * cli_number(row, 1, "payload_bytes"));
    }
}

static const char *const passes[] = {"forward", "backward", "optimizer"};

/* Begin and duration of a slice of a rank, ns. */
static void find_slice(const json_t *root, json_int_t rank, const char *name, int64_t ns[2])
{
    size_t index;
    json_t *event;
    json_array_foreach(json_object_get(root, "traceEvents"), index, event)
    {
        if (count_of(event, "pid") == rank + 1 && strcmp(text_of(event, "name"), name) == 0) {
            ns[0] = ns_of(event, "ts");
            ns[1] = ns_of(event, "dur");
            return;
        }
    }
    cr_assert_fail("rank %d has no slice %s", (int)rank, name);
}

/* Each rank computes at its own speed, and begins the optimizer when it has the sum. */
Test(timeline, of_a_slower_rank_is_stretched)
{
    json_t *root = json_loads(cli_good("$AR export --format chrome-trace --cluster flat --gpus 4 "
                                       "--algorithm ring --straggler 2:1.5 --quiet " RESNET)
                                  .out,
                              0, NULL);
    for (size_t i = 0; i < 3; i++) {
        int64_t even_ns[2], slow_ns[2];
        find_slice(root, 1, passes[i], even_ns);
        find_slice(root, 2, passes[i], slow_ns);
        cr_expect_float_eq((double)slow_ns[1], 1.5 * (double)even_ns[1], 3, "%s", passes[i]);
    }
    int64_t wait_ns[2], optimizer_ns[2];
    find_slice(root, 1, "wait", wait_ns);
    find_slice(root, 1, "optimizer", optimizer_ns);
    cr_expect_eq(wait_ns[0] + wait_ns[1], optimizer_ns[0]);
    json_decref(root);
}

Test(timeline, of_one_gpu_is_its_compute)
{
#define ALONE "--cluster abci-v100 --gpus 1 --algorithm ring --quiet " RESNET
    static const char *const columns[] = {"forward_s", "backward_s", "optimizer_s"};
    const char *text = cli_good("$AR export --format chrome-trace " ALONE).out;
    struct tally tally = read_timeline(text);
    struct cli_table *row = cli_rows("predict " ALONE);
    json_t *root = json_loads(text, 0, NULL);
    cr_expect_eq(tally.tracks, 1);
    cr_expect_eq(tally.buckets, 0);
    cr_expect_eq(tally.wait_ns, 0);
    cr_expect_float_eq((double)tally.iteration_ns, cell_ns(row, "compute_s"), 1.5);
    for (size_t i = 0; i < 3; i++) {
        int64_t ns[2];
        find_slice(root, 0, passes[i], ns);
        cr_expect_float_eq((double)ns[1], cell_ns(row, columns[i]), 1.5, "%s", passes[i]);
    }
    json_decref(root);
}

Test(timeline, waits_for_what_the_backward_pass_does_not_hide)
{
    const char *options = "--cluster abci-v100 --gpus 64 --algorithm ring --quiet " RESNET;
    struct tally tally =
        read_timeline(cli_good("$AR export --format chrome-trace %s", options).out);
    struct cli_table *row = cli_rows("predict %s", options);
    double wait_ns = (double)tally.wait_ns / (double)tally.processes;
    cr_expect_eq(tally.processes, TIMELINE_RANKS);
    /* Not all are the last rank to finish, but among the last. */
    cr_expect_leq(wait_ns, cell_ns(row, "exposed_s") + 1.5);
    cr_expect_gt(wait_ns, 0.95 * cell_ns(row, "exposed_s"));
}

Test(timeline, of_a_workload_ends_before_waits_for_the_slowest_gpu_and_says_so)
{
#define ON_2 "export --format chrome-trace --cluster dgx-a100 --workload mpt-1b --gpus 2 "
    CLI_NOTES(ON_2 "--global-batch 2", "are waits for the slowest one (--jitter 0 leaves");
}

Test(timeline, is_the_same_in_a_file_and_the_second_time)
{
    const char *line = "$AR export --format chrome-trace --cluster flat --gpus 40 --algorithm "
                       "torus2d --trace trace.csv";
    struct cli_run first = cli_good("%s", line);
    cr_expect_str_empty(cli_good("%s --out step.json", line).out);
    cr_expect_str_eq(first.out, cli_read("step.json"));
    cr_expect_eq(read_timeline(first.out).processes, 8);
}

Test(timeline, has_the_layers_by_name_whatever_the_name)
{
    cli_good("printf '# batch = 8\\n# precision = fp16\\nlayer,forward_s,backward_s,"
             "gradient_elements\\n\"a\"\"b\\\\\",0.001,0.002,1000\\nfree,0,0,0\\n' >odd.csv");
    struct cli_run run = cli_good("$AR export --format chrome-trace --cluster flat --gpus 2 "
                                  "--algorithm ring --trace odd.csv");
    struct tally tally = read_timeline(run.out);
    cr_expect_eq(tally.processes, 2);
    cr_expect_eq(tally.layers, 2 * 2, "a layer that takes no time is left out");
    CLI_COUNTS(run.out, {"\"name\": \"a\\\"b\\\\\"", 4},
               {"\"name\": \"rank 1 (node 1, GPU 0)\"", 1});
}

Test(timeline, ranks_that_stand_for_all_are_of_the_first_nodes_and_the_last)
{
    static const struct {
        uint32_t ranks, per_node, count, chosen[TIMELINE_RANKS];
    } rows[] = {
        {1, 4, 1, {0}},
        {6, 4, 6, {0, 1, 2, 3, 4, 5}},
        {64, 4, 8, {0, 1, 2, 3, 4, 8, 12, 63}},
        {16, 8, 6, {0, 1, 2, 3, 8, 15}},
        {8, 1, 8, {0, 1, 2, 3, 4, 5, 6, 7}},
        {100, 1, 8, {0, 1, 2, 3, 4, 5, 6, 99}},
        {16, 2, 8, {0, 1, 2, 4, 6, 8, 10, 15}},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        uint32_t chosen[TIMELINE_RANKS] = {0};
        uint32_t count = timeline_choose_ranks(rows[i].ranks, rows[i].per_node, chosen);
        cr_expect_eq(count, rows[i].count, "%u ranks: %u", rows[i].ranks, count);
        cr_expect_arr_eq(chosen, rows[i].chosen, sizeof chosen, "%u ranks", rows[i].ranks);
    }
}

/* --- the trace of a simulation ---------------------------------------------------------------- */

/* The integral of a counter over time in seconds; its values are parts of a whole. */
static double counted_s(const json_t *root, const char *name, size_t *events_count)
{
    double sum_s = 0, last = 0, last_us = 0;
    size_t index;
    json_t *event;
    *events_count = 0;
    json_array_foreach(json_object_get(root, "traceEvents"), index, event)
    {
        if (strcmp(text_of(event, "ph"), "C") == 0 && strcmp(text_of(event, "name"), name) == 0) {
            double now_us = json_number_value(json_object_get(event, "ts"));
            sum_s += last * (now_us - last_us) * 1e-6;
            last_us = now_us;
            last = json_number_value(json_object_get(json_object_get(event, "args"), "busy"));
            cr_expect(last >= 0 && last <= 1, "%s: %.9g", name, last);
            ++*events_count;
        }
    }
    return sum_s;
}

#define SIMULATED "predict --cluster abci-v100 --engine simgrid --gpus 64 --algorithm torus2d "

Test(timeline, of_a_simulation_shows_the_busiest_links_and_the_gpus_in_bounded_space)
{
    size_t gpu_events, link_events, none;
    struct cli_table *row = cli_rows(SIMULATED RESNET "--out traced");
    json_t *root = json_loads(cli_read("traced/trace.json"), JSON_REJECT_DUPLICATES, NULL);
    cr_assert_not_null(root);
    double computed_s = atof(cli_cell(row, 1, "forward_s")) + atof(cli_cell(row, 1, "backward_s"));
    cr_expect_float_eq(counted_s(root, "gpu-63", &gpu_events), computed_s, 1e-3 * computed_s);
    cr_expect_gt(counted_s(root, "node-0.hca-0.out", &link_events), 0);
    cr_expect(gpu_events > 1 && gpu_events < 512);
    cr_expect(link_events > 1 && link_events < 512);
    (void)counted_s(root, "gpu-62", &none);
    cr_expect_eq(none, 0, "GPUs in between are left out");
    CLI_HAS(cli_read("traced/trace.paje"), "PajeSetVariable", "node-0.hca-0.out");
    CLI_HAS(cli_read("traced/command.txt"), "of 64 GPUs");
    json_decref(root);
}

Test(timeline, of_a_simulation_is_left_where_one_is_and_over_no_file_of_others)
{
    cli_good("$AR predict --cluster flat --gpus 4 --algorithm ring " RESNET "--out plain && "
             "test -e plain/step.csv && ! test -e plain/trace.json");
    cli_fails(64, "another command",
              "mkdir own; echo 1 > own/trace.json; $AR " SIMULATED RESNET
              "--out own; code=$?; rm -r own; exit $code");
}
