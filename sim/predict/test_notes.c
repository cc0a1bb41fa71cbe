/* Notes: said where they are true, and where the answer depends on them. */
#include <stdlib.h>

#include "ar_kind.h"
#include "test_outcome.h"
#include "test_scenarios.h"

TestSuite(notes, .init = scenarios_enter, .fini = scenarios_leave);

/* All notes on one scenario. */
static const char *notes_of(const char *text)
{
    struct ar_scenario scenario = scenarios_loaded(text);
    char *notes;
    TEST_TEXT(notes, ar_note_before(stream, &scenario, 0));
    return ar_arena_own(&scenarios_arena, notes, free);
}

static void expect_note(const char *text, const char *expected)
{
    const char *notes = notes_of(text);
    cr_expect_not_null(strstr(notes, expected), "%s: \"%s\" lacks \"%s\"", text, notes, expected);
}

static void expect_none(const char *text, const char *unexpected)
{
    const char *notes = notes_of(text);
    cr_expect_null(strstr(notes, unexpected), "%s: %s", text, notes);
}

#define STEP  "cluster=abci-v100;trace=resnet50-v1.5;algorithm=torus2d;gpus=256;"
#define BARE  "cluster=abci-v100;payload=1MB;"
#define TIMES "no --framework: compute and messages alone take time"

/* A framework slows the baseline node down, too: here by more than it slows the step down. */
Test(notes, an_ideal_step_is_a_bound_of_the_time_not_of_the_efficiency)
{
    struct ar_row ideal, horovod;
    struct ar_scenario first = scenarios_loaded(STEP);
    struct ar_scenario second = scenarios_loaded(STEP "framework=horovod");
    TEST_OK(ar_run(&first, &ideal, &why));
    TEST_OK(ar_run(&second, &horovod, &why));
    cr_expect_lt(ideal.iteration_s, horovod.iteration_s);
    cr_expect_lt(ideal.efficiency_frac, horovod.efficiency_frac);
    expect_note(STEP, TIMES "; what is left out makes a step longer, not always the efficiency "
                            "lower; --framework typical adds what any run has");
    expect_note(STEP "baseline=gpu", "makes a step longer, and the efficiency lower");
    expect_none(STEP "framework=horovod", TIMES);
    expect_note(STEP "framework=horovod", "published steps of traces with a framework took ");
    expect_none(STEP, "how sure");
    expect_none(STEP "jitter=0.1", TIMES);
    expect_none(BARE "gpus=8;algorithm=ring", TIMES);
}

Test(notes, what_became_of_a_number_of_gpus_is_said_unless_it_is_to_be_expected)
{
    expect_note(BARE "gpus=13;algorithm=torus2d",
                "torus2d on 13 GPUs is 1x13, a ring: there is no other grid");
    expect_note(BARE "gpus=998;algorithm=torus2d", "torus2d is 2x499, the squarest grid; --shape");
    expect_note(BARE "gpus=6;algorithm=tree;shape=best", "tree 3x2 is the fastest of 1 by engine");
    expect_note(BARE "gpus=6;algorithm=tree", "tree on 6 GPUs is 3x2: groups of 3, since");
    expect_note(BARE "gpus=13;algorithm=hierarchical", "is 1x13: groups of 1, since groups of a");
    expect_none(BARE "gpus=13;algorithm=torus2d;shape=1x13", "is 1x13");
    expect_none(BARE "gpus=64;algorithm=torus2d", "GPUs is");
    expect_none(BARE "gpus=8;algorithm=tree", "GPUs is");
    expect_none(BARE "gpus=3;algorithm=tree", "GPUs is");
    expect_none(BARE "gpus=13;algorithm=ring", "GPUs is");
}

#define NOTHING "changes nothing: no message among"

Test(notes, a_changed_link_that_no_message_takes_is_named)
{
    expect_note(BARE "gpus=16;algorithm=ring;slow-link=node-99.hca-0:4",
                "--slow-link node-99.hca-0:4 " NOTHING " 16 GPUs takes it");
    expect_note(BARE "gpus=16;algorithm=ring;slow-link=rack-0:4", NOTHING);
    expect_none(BARE "gpus=320;algorithm=ring;slow-link=rack-0:4", NOTHING);
    expect_none(BARE "gpus=16;algorithm=ring;slow-link=node-3.hca-0:4", NOTHING);
    expect_note(BARE "gpus=4;algorithm=ring;slow-link=node-0.hca-0:4", NOTHING);
    expect_none(BARE "gpus=13;algorithm=ring;slow-link=node-3.pcie-0:4", NOTHING);
}

Test(notes, numbers_that_the_cluster_does_not_give_are_named_where_they_matter)
{
#define UNSAID                                                                                     \
    "nodes = 4\ngpus_per_node = 1\nhcas = 1\nhca.bandwidth = 10GB/s\nnet.latency = 5us\n"          \
    "library.node_bus = 100GB/s\nlibrary.net_bus = 90GB/s\n"
    const char *path = ar_arena_format(&scenarios_arena, "%s.topo", scenarios_trace);
    test_write_file(path, "name = small\n" UNSAID "gpu.generation = volta\ncpu.vendor = intel\n");
#define SMALL(text) ar_arena_format(&scenarios_arena, "cluster=%s;payload=64MB;" text, path)
    expect_note(SMALL("gpus=4;algorithm=ring"),
                "cluster small gives no gpu.reduce_cost: taken as 0");
    expect_note(SMALL("gpus=4;algorithm=ring"), "gives no collective.setup: taken as 0");
    expect_none(SMALL("gpus=4;algorithm=ring;set=collective.setup=0s"), "collective.setup: taken");
    expect_none(SMALL("gpus=1;algorithm=ring"), "taken as");
    expect_none(SMALL("gpus=4;algorithm=direct"), "net.message_gap");
    expect_note(
        ar_arena_format(&scenarios_arena, "cluster=%s;payload=1KiB;gpus=4;algorithm=direct", path),
        "cluster small gives no net.message_gap: taken as 0, though many small messages");
    expect_none(
        ar_arena_format(&scenarios_arena, "cluster=%s;payload=1KiB;gpus=4;algorithm=ring", path),
        "net.message_gap");
    expect_note(SMALL("gpus=4;algorithm=tree;engine=nccl;set=library.release=2.8.4"),
                "cluster small gives no library.channels: taken as 4");
    expect_none(SMALL("gpus=4;algorithm=tree;engine=nccl;set=library.channels=4"), "taken as");
    expect_none(BARE "gpus=8;algorithm=ring", "taken as");
    remove(path);
    path = ar_arena_format(&scenarios_arena, "%s.unsaid.topo", scenarios_trace);
    test_write_file(path, "name = unsaid\n" UNSAID);
    expect_note(SMALL("gpus=4;algorithm=tree;engine=nccl;set=library.channels=4"),
                "cluster unsaid gives no gpu.generation: taken as volta");
    expect_note(SMALL("gpus=4;algorithm=ring;engine=nccl;set=library.release=2.21.5"),
                "cluster unsaid gives no cpu.vendor: taken as intel");
    remove(path);
}

Test(notes, fewer_gpus_than_a_node_has_are_not_compared_with_themselves)
{
    expect_note(STEP "gpus=1;algorithm=ring", "1 GPU of a node of 4: efficiency compares with a");
    expect_none(STEP "gpus=1;algorithm=ring;baseline=gpu", "of a node of 4");
    expect_none(STEP "gpus=4;algorithm=ring", "of a node of 4");
}

Test(notes, operations_that_a_library_was_not_measured_with)
{
#define MEASURED "cluster=abci-v100-nccl2.8;payload=1MB;gpus=8;engine=library;operation="
    expect_note(MEASURED "allgather", "no all-gather was measured: its times follow from");
    expect_none(MEASURED "allreduce", "was measured");
}

Test(notes, nvlink_switches_that_are_taken_to_sum)
{
    static const char taken[] = "cluster dgx-h100 gives no nvlink.sums: taken as yes";
#define H100 "cluster=dgx-h100;payload=1MB;gpus=8;"
    expect_note(H100 "algorithm=in-network", taken);
    expect_none(H100 "algorithm=in-network;set=nvlink.sums=yes", taken);
    expect_none(H100 "algorithm=ring", taken);
}
