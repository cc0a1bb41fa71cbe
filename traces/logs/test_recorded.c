/* Steps that other programs wrote down. */

#include "test_recorded.h"
#include "test_outcome.h"

#define FIXTURES AR_TEST_SOURCE_DIR "/traces/logs/steps/"

static struct ar_arena arena; /* of a test, which is a process */

static const struct ar_recorded *load(const char *name)
{
    struct ar_recorded *recorded = NULL;
    TEST_OK(
        ar_recorded_load(ar_arena_format(&arena, FIXTURES "%s", name), &arena, &recorded, &why));
    return recorded;
}

/* Data parallel layers send gradients beside the backward pass; activations of a hybrid go along TP
 * and hold the layer up; a trace of Chakra is in the order of its needs. */
Test(recorded, each_form_of_step_has_its_tasks)
{
    static const char *const rows[][3] = {
        {"data.txt", "ASTRA-sim",
         "c100000 c200000 c50000 c50000 +allreduce:1:8388608<3 c60000 c200000 "
         "+allreduce:1:4194304<6 c250000 c150000 +allreduce:1:1048576<9 c300<10"},
        {"simai.txt", "SimAI",
         "c1 c400000 allgather:4:2097152 c900000 alltoall:2:4194304 c100000 "
         "allreduce:4:1048576 c100000 c100000 +allreduce:3:2097152<8 c900000 "
         "alltoall:2:4194304 c1 +reducescatter:1:16777216<12 c300000 c300000 c1 c1 "
         "+allgather:3:8388608<17 c300<18"},
        {"hybrid.txt", "ASTRA-sim",
         "c100 allgather/n:4:4096 c100 c200 c300 c200 +allgather/n:4:4096<5 c300 "
         "+allreduce:1:8192<7 c0<6 c0<8"},
        {"step.et", "Chakra",
         "c1000000 c700000 +allreduce:7:4194304<1 c800000 +allgather/n:7:1048576<3 c100000<4"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct ar_recorded *recorded = load(rows[i][0]);
        cr_expect_str_eq(recorded->form, rows[i][1]);
        cr_expect_str_eq(test_tasks_text(recorded), rows[i][2], "%s", rows[i][0]);
    }
    const struct ar_recorded *simai = load("simai.txt"), *chakra = load("step.et");
    cr_expect(simai->tp == 2 && simai->ep == 2 && simai->gpus == 8);
    cr_assert_eq(chakra->notes_count, 1);
    cr_expect_not_null(strstr(chakra->notes[0], "55 us of nodes of the processor"));
}

static const char *const broken[][2] = {
    {"", "found no whole message behind 0 nodes; expected a trace of Chakra (.et), or"},
    {"DATUM\n1\n", "x:1: unknown parallelism \"DATUM\"; did you mean \"DATA\"?"},
    {"DATA\n", "x:1: found no number of layers; expected one number"},
    {"DATA\nx\n", "x:2: layers: found \"x\""},
    {"DATA\n1\na -1 1 NONE 0 1 NONE 0 1 NONE 0\n", "x:3: found 11 words for layer 1 of 1"},
    {"DATA\n2\na -1 1 NONE 0 1 NONE 0 1 NONE 0 1\n", "x:3: found 0 words for layer 2 of 2"},
    {"DATA\n1\na -1 1 NONE 0 1 NONE 0 1 ALLREDUCES 8 1\n", "x:3: found ALLREDUCES; expected NONE"},
    {"DATA\n1\na -1 -1 NONE 0 1 NONE 0 1 NONE 0 1\n", "x:3: compute time: found \"-1\""},
    {"DATA\n1\na -1 0 NONE 0 1 NONE 0 1 NONE 0 1\nb\n", "x:4: found more layers"},
    {"HYBRID_TRANSFORMER_FWD_IN_BCKWD ep: x\n1\n", "x:1: ep:: found \"x\""},
    {"HYBRID_TRANSFORMER_FWD_IN_BCKWD checkpoints: 2 1\n1\n", "x:1: found checkpoints; expected"},
    {"DATA\n0\n", "found nothing that a GPU does"},
};

Test(recorded, broken_files_are_refused_with_their_line)
{
    struct ar_recorded *recorded = NULL;
    TEST_PAIRS_FAIL(AR_BAD_DATA, broken,
                    ar_recorded_parse("x", ar_arena_text(&arena, given), strlen(given), &arena,
                                      &recorded, &why));
}

/* A node of two bytes of number and type, with needs. */
#define METADATA "\x07\x0a\x05\x30\x2e\x30\x2e\x34"

static const struct {
    const char *bytes;
    size_t count;
    const char *error;
} nodes[] = {
    {METADATA "\x04\x08\x01\x18\x05", 13, "x: node 1: found a message; expected computations"},
    {METADATA "\x04\x08\x01\x18\x07", 13, "x: node 1: found no known comm_type"},
    {METADATA "\x07\x08\x01\x18\x04\x2a\x01\x01", 16, "x: node 1: found a circle of needs"},
    {METADATA "\x04\x08\x01\x18\x04\x04\x08\x01\x18\x04", 18,
     "x: node 1: found its number a second time"},
    {METADATA "\x7f\x08\x01", 11, "found no whole message behind 0 nodes"},
    {METADATA, 8, "found nothing that a GPU does"},
};

Test(recorded, broken_traces_are_refused_with_their_node)
{
    for (size_t i = 0; i < sizeof nodes / sizeof nodes[0]; i++) {
        struct ar_recorded *recorded = NULL;
        char bytes[32] = "";
        memcpy(bytes, nodes[i].bytes, nodes[i].count);
        TEST_FAILS(AR_BAD_DATA, nodes[i].error,
                   ar_recorded_parse("x", bytes, nodes[i].count, &arena, &recorded, &why));
    }
}
