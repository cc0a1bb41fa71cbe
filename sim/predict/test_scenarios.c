#include "test_scenarios.h"

#include <stdio.h>
#include <unistd.h>

#include "ar_text.h"
#include "test_outcome.h"

struct ar_arena scenarios_arena;
struct ar_inputs *scenarios_inputs;
char scenarios_trace[SCENARIOS_PATH], scenarios_run[SCENARIOS_PATH];

/* Tests run in processes of their own, hence the process number. */
void scenarios_enter(void)
{
    snprintf(scenarios_trace, sizeof scenarios_trace, "%s/%d-small.csv", AR_TEST_BINARY_DIR,
             (int)getpid());
    snprintf(scenarios_run, sizeof scenarios_run, "%s/%d.run.csv", AR_TEST_BINARY_DIR,
             (int)getpid());
    test_write_file(scenarios_trace, "# batch = 10\n# precision = fp32\n# optimizer_s = 0.0005\n"
                                     "layer,forward_s,backward_s,gradient_elements\n"
                                     "a,0.001,0.002,1000000\n");
    scenarios_inputs = ar_inputs_create(&scenarios_arena);
    cr_assert_not_null(scenarios_inputs);
}

void scenarios_leave(void)
{
    remove(scenarios_trace);
    remove(scenarios_run);
    ar_arena_end(&scenarios_arena);
}

void scenarios_set(struct ar_scenario *scenario, const char *text)
{
    static const struct ar_origin origin = {.where = "--given", .status = AR_USAGE};
    char *rest = ar_arena_text(&scenarios_arena, text);
    for (char *part; (part = ar_next_part(&rest, ';')) != NULL && part[0] != '\0';) {
        char *value = strchr(part, '=');
        *value++ = '\0';
        TEST_OK(ar_scenario_set(scenario, ar_key_find(part), &origin, value, &why));
    }
}

struct ar_scenario scenarios_of(const char *text)
{
    struct ar_scenario scenario = ar_scenario_begin(&scenarios_arena, scenarios_inputs);
    scenarios_set(&scenario, text);
    return scenario;
}

void scenarios_load(struct ar_scenario *scenario)
{
    TEST_OK(ar_scenario_load(scenario, &why));
}

struct ar_scenario scenarios_loaded(const char *text)
{
    struct ar_scenario scenario = scenarios_of(text);
    scenarios_load(&scenario);
    return scenario;
}
