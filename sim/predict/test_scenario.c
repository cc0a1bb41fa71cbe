/* A scenario is what its keys say, and what follows from its inputs where they say nothing. */

#include "ar_kind.h"
#include "ar_numbers.h"
#include "test_outcome.h"
#include "test_scenarios.h"

TestSuite(scenario, .init = scenarios_enter, .fini = scenarios_leave);

#define STEP "cluster=abci-v100;gpus=8;algorithm=ring;trace=resnet50-v1.5"

/* A step of the small trace; `more` begins with a semicolon or is empty. */
static const char *small(const char *more)
{
    return ar_arena_format(&scenarios_arena,
                           "cluster=flat;gpus=2;algorithm=ring;engine=closed;trace=%s%s",
                           scenarios_trace, more);
}

/* --- names ------------------------------------------------------------------------------------ */

Test(scenario, a_key_is_found_by_its_own_name_with_dashes_or_underscores_alone)
{
    for (int i = 0; i < AR_KEYS_COUNT; i++) {
        char directive[AR_KEY_TEXT];
        const char *name = ar_key_name((enum ar_key)i);
        cr_expect_eq(ar_key_find(name), (enum ar_key)i, "%s", name);
        cr_expect_eq(ar_key_find(ar_key_directive(name, directive)), (enum ar_key)i, "%s",
                     directive);
        cr_expect_null(strchr(directive, '-'), "%s", directive);
        char *shorter = ar_arena_text(&scenarios_arena, name);
        char *other = ar_arena_text(&scenarios_arena, name);
        shorter[strlen(name) - 1] = '\0';
        other[0] = (char)(other[0] - 'a' + 'A');
        const char *const others[] = {ar_arena_format(&scenarios_arena, "%ss", name), shorter,
                                      other, ar_keys[i].option, ""};
        for (size_t k = 0; k < sizeof others / sizeof others[0]; k++) {
            cr_expect_eq(ar_key_find(others[k]), AR_KEYS_COUNT, "%s", others[k]);
        }
    }
}

/* --- errors ----------------------------------------------------------------------------------- */

/* Texts that keys refuse, when they are set or when the scenario is loaded; others refuse "0",
 * which is too small, or no word of theirs. */
static const char wrong[] =
    ";cluster=no-such-cluster;set=no.such.key=1;slow-link=no-such-link:2;down-link=rack-1;"
    "operation=alltoal;mesh=dp=0;along=dp;algorithm=rnig;shape=2by2;runnable-by=nccl2.23;payload=1;"
    "trace=no-such-trace;batch=1.5;precision=fp8;bucket=groups:0;straggler=1;"
    "framework=no-such-framework;term=no.such.term=1;workload=no-such-model;imbalance=0.5;"
    "strategy=none;pull=some;backups=maybe;tail=1;schedule=2f2b;sequence-parallel=maybe;"
    "overlap=maybe;overlap-tensor=maybe;overlap-gather=maybe;overlap-pipeline=maybe;prefetch=99;"
    "operators=googlenet;placement=greedy;sparse=2;samples-per-s-at=32;engine=sun;tuning=1.0;"
    "jitter=1.5;seed=-1;";

static void expect_refused(enum ar_key key, const struct ar_origin *origin)
{
    struct ar_error err = {.text = ""};
    struct ar_scenario scenario = scenarios_of(STEP);
    const char *name = ar_arena_format(&scenarios_arena, ";%s=", ar_key_name(key));
    const char *at = strstr(wrong, name);
    char *text = ar_arena_text(&scenarios_arena, at != NULL ? at + strlen(name) : "0");
    text[strcspn(text, ";")] = '\0';
    enum ar_status status = ar_scenario_set(&scenario, key, origin, text, &err);
    if (status == AR_OK) {
        status = ar_scenario_load(&scenario, &err);
    }
    /* A name of something that is not there is one wherever it stood. */
    bool is_name = key == AR_KEY_CLUSTER || key == AR_KEY_TRACE || key == AR_KEY_FRAMEWORK;
    enum ar_status expected = is_name ? AR_NO_INPUT : origin->status;
    cr_expect_eq(status, expected, "%s: %d, %s", ar_key_name(key), (int)status, err.text);
    cr_expect_eq(err.status, status, "%s", ar_key_name(key));
    cr_expect_eq(strncmp(err.text, origin->where, strlen(origin->where)), 0, "%s", err.text);
    cr_expect_eq(err.text[strlen(origin->where)], ':', "%s", err.text);
}

Test(scenario, an_error_begins_with_where_the_value_stood_and_has_its_status)
{
    static const struct ar_origin line = {.where = "a.run.csv:12: line", .status = AR_BAD_DATA};
    for (int i = 0; i < AR_KEYS_COUNT; i++) {
        struct ar_origin option = {.where = ar_keys[i].option, .status = AR_USAGE};
        expect_refused((enum ar_key)i, &option);
        if (i != AR_KEY_TUNING) { /* an option only */
            expect_refused((enum ar_key)i, &line);
        }
    }
}

/* --- copies and replacements ------------------------------------------------------------------ */

static uint64_t hash_of(const struct ar_scenario *scenario)
{
    uint64_t hash = AR_HASH_BEGIN;
    ar_scenario_hash(scenario, &hash);
    return hash;
}

Test(scenario, a_copy_that_is_changed_leaves_the_original_as_it_was)
{
    struct ar_scenario original =
        scenarios_loaded(STEP ";engine=closed;set=net.latency=3us;term=step.floor=1ms;"
                              "straggler=1:1.5;slow-link=node-0.hca-0:2");
    struct ar_scenario before = original;
    struct ar_row row, again;
    uint64_t hash = hash_of(&original);
    TEST_OK(ar_run(&original, &row, &why));
    struct ar_scenario copy = original;
    static const struct ar_origin origin = {.where = "--set", .status = AR_USAGE};
    TEST_OK(ar_scenario_replace(&copy, AR_KEY_SET, &origin, "net.latency=9us", &why));
    scenarios_set(&copy, "set=hca.bandwidth=5GB/s;term=compute.scale=2;straggler=2:3;batch=16;"
                         "slow-link=node-1.hca-0:4;window=1");
    copy.cluster = NULL;
    scenarios_load(&copy);
    cr_expect_neq(hash_of(&copy), hash);
    cr_expect_eq(memcmp(&original, &before, sizeof before), 0);
    cr_expect_eq(hash_of(&original), hash);
    cr_expect_str_eq(original.settings.list[0].text, "net.latency=3us");
    TEST_OK(ar_run(&original, &again, &why));
    cr_expect_eq(again.iteration_s, row.iteration_s);
    cr_expect_str_eq(again.settings, row.settings);
}

Test(scenario, a_replacement_takes_the_place_of_the_setting_of_the_same_key)
{
    static const struct ar_origin origin = {.where = "a.csv:7: set", .status = AR_BAD_DATA};
    struct ar_scenario scenario =
        scenarios_of("set=net.latency=3us;set=hca.bandwidth=5GB/s;term=step.floor=1ms");
    struct ar_error err;
    ar_scenario_replace(&scenario, AR_KEY_SET, &origin, "net.latency=9us", &err);
    cr_assert_eq(scenario.settings.count, 2);
    cr_expect_str_eq(scenario.settings.list[0].text, "net.latency=9us");
    cr_expect_str_eq(scenario.settings.list[0].where, origin.where);
    cr_expect_eq(scenario.settings.list[0].status, AR_BAD_DATA);
    cr_expect_str_eq(scenario.settings.list[1].text, "hca.bandwidth=5GB/s");
    ar_scenario_replace(&scenario, AR_KEY_SET, &origin, "net.latency.more=1us", &err);
    cr_assert_eq(scenario.settings.count, 3);
    ar_scenario_replace(&scenario, AR_KEY_TERM, &origin, " step.floor = 2ms", &err);
    cr_assert_eq(scenario.terms.count, 1);
    cr_expect_str_eq(scenario.terms.list[0].text, " step.floor = 2ms");
    cr_expect_eq(scenario.settings.count, 3);
}

Test(scenario, settings_are_the_same_if_their_keys_are)
{
    cr_expect(ar_setting_is_same("a.b=1", "a.b=2"));
    cr_expect(ar_setting_is_same(" a.b = 1", "a.b=1"));
    cr_expect(!ar_setting_is_same("a.b=1", "a.c=1"));
    cr_expect(!ar_setting_is_same("a.b=1", "a.bc=1"));
    cr_expect(!ar_setting_is_same("a.bc=1", "a.b=1"));
}

/* --- what follows ----------------------------------------------------------------------------- */

Test(scenario, batch_precision_and_channels_follow_trace_and_node_unless_they_are_set)
{
    const char *const rows[][2] = {{small(""), "fp32 10 1"},
                                   {STEP, "fp16 32 2"},
                                   {STEP ";batch=16;precision=fp32;channels=3", "fp32 16 3"}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct ar_scenario made = scenarios_loaded(rows[i][0]);
        cr_expect_str_eq(ar_arena_format(&scenarios_arena, "%s %u %u",
                                         ar_precision_names[made.precision], made.batch,
                                         made.channels),
                         rows[i][1]);
        made.origins[AR_KEY_BATCH] = (struct ar_origin){.where = NULL};
        scenarios_load(&made);
        cr_expect_eq(made.batch, i == 0 ? 10 : 32);
    }
}

Test(scenario, jitter_buckets_and_steps_follow_the_framework_unless_they_are_set)
{
#define TERMS ";term=jitter=0.07;term=fusion.rule=one"
    static const char *const rows[][2] = {
        {STEP, "0 ddp 1"},
        {STEP TERMS, "0.07 one 20"},
        {STEP TERMS ";jitter=0.01;bucket=groups:3;iterations=4", "0.01 groups:3 4"}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct ar_scenario made = scenarios_loaded(rows[i][0]);
        cr_expect_str_eq(ar_arena_format(&scenarios_arena, "%g %s %u", made.jitter_frac,
                                         made.fusion.text, made.iterations_count),
                         rows[i][1]);
        cr_expect(i == 0 || made.buckets_count == (i == 1 ? 1 : 3));
    }
    struct ar_scenario shipped = scenarios_loaded(STEP ";framework=horovod");
    cr_expect_eq(shipped.jitter_frac, shipped.framework->terms[AR_TERM_JITTER].number);
    cr_expect_gt(shipped.jitter_frac, 0);
    cr_expect_str_eq(shipped.fusion.text, shipped.framework->terms[AR_TERM_FUSION_RULE].text);
}

/* --- hashes ----------------------------------------------------------------------------------- */

/* Keys that a fingerprint covers. Those of its points are not: GPUs, algorithm, shape, payload,
 * engine. */
Test(scenario, any_change_of_a_key_is_another_hash_and_the_same_keys_are_the_same)
{
    char *rest = ar_arena_format(
        &scenarios_arena,
        "jitter=0.01;cluster=flat;set=net.latency=3us;slow-link=node-0.hca-0:2;batch=16;"
        "precision=fp32;bucket=one;straggler=1:2;framework=horovod;term=step.floor=1ms;"
        "samples-per-s-at=32=800;gradient-scale=2;baseline=gpu;channels=1;window=2;jitter=0.05;"
        "iterations=7;seed=9;trace=%s",
        scenarios_trace);
    uint64_t hashes[32];
    size_t count = 0;
    for (char *change; (change = strsep(&rest, ";")) != NULL; count++) {
        const char *text = ar_arena_format(&scenarios_arena, STEP ";jitter=0.01;%s", change);
        struct ar_scenario scenario = scenarios_loaded(text);
        struct ar_scenario again = scenarios_loaded(text);
        hashes[count] = hash_of(&scenario);
        cr_expect_eq(hash_of(&again), hashes[count], "%s", change);
        for (size_t j = 0; j < count; j++) {
            cr_expect_neq(hashes[count], hashes[j], "%s and change %zu", change, j);
        }
    }
    struct ar_scenario point = scenarios_loaded(
        STEP ";jitter=0.01;gpus=16;algorithm=torus2d;shape=4x4;engine=closed;payload=1MB");
    cr_expect_eq(hash_of(&point), hashes[0]);
}

/* A trace or a framework of the same name with another number in it. */
Test(scenario, any_number_of_a_file_changes_the_hash)
{
    static const char *const numbers[][3] = {
        {"0.0005", "0.001,0.002,1000000", "4"}, {"0.0005", "0.003,0.002,1000000", "4"},
        {"0.0005", "0.001,0.003,1000000", "4"}, {"0.0005", "0.001,0.002,1000002", "4"},
        {"0.0007", "0.001,0.002,1000000", "4"}, {"0.0005", "0.001,0.002,1000000", "2"}};
    enum { FILES = sizeof numbers / sizeof numbers[0] };
    uint64_t hashes[FILES];
    for (size_t i = 0; i < FILES; i++) {
        test_write_file(scenarios_trace,
                        ar_arena_format(&scenarios_arena,
                                        "# batch = 10\n# precision = fp32\n# optimizer_s = %s\n"
                                        "layer,forward_s,backward_s,gradient_elements\na,%s\n",
                                        numbers[i][0], numbers[i][1]));
        test_write_file(scenarios_run,
                        ar_arena_format(&scenarios_arena,
                                        "term,value,source\nfusion.passes,%s,me\n", numbers[i][2]));
        scenarios_inputs = ar_inputs_create(&scenarios_arena);
        struct ar_scenario scenario = scenarios_loaded(
            ar_arena_format(&scenarios_arena, "%s;framework=%s", small(""), scenarios_run));
        hashes[i] = hash_of(&scenario);
        for (size_t j = 0; j < i; j++) {
            cr_expect_neq(hashes[i], hashes[j], "files %zu and %zu", i, j);
        }
    }
}

Test(scenario, texts_are_hashed_with_their_ends)
{
    uint64_t one = AR_HASH_BEGIN, other = AR_HASH_BEGIN;
    ar_hash_text(&one, "ab");
    ar_hash_text(&one, "c");
    ar_hash_text(&other, "a");
    ar_hash_text(&other, "bc");
    cr_expect_neq(one, other);
}

/* --- files ------------------------------------------------------------------------------------ */

Test(scenario, a_file_is_read_once)
{
    struct ar_scenario first = scenarios_loaded(small(""));
    test_write_file(scenarios_trace, "# batch = 20\n# precision = fp16\n"
                                     "layer,forward_s,backward_s,gradient_elements\n"
                                     "a,0.1,0.2,5\n");
    struct ar_scenario second = scenarios_loaded(small(""));
    cr_expect_eq(second.batch, 10);
    cr_expect_eq(ar_trace_compute_s(second.trace), ar_trace_compute_s(first.trace));
    cr_expect_eq(hash_of(&second), hash_of(&first));
    scenarios_inputs = ar_inputs_create(&scenarios_arena);
    cr_expect_eq(scenarios_loaded(small("")).batch, 20, "other inputs read it again");
}
