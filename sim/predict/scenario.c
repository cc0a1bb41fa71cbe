#include "ar_kind.h"

#include <stdarg.h>
#include <string.h>

enum { ITERATIONS_STANDARD = 20, WINDOW_STANDARD = 8 };

struct ar_scenario ar_scenario_begin(struct ar_arena *arena)
{
    struct ar_error ignored; /* there is an engine of that name */
    struct ar_scenario scenario = {.arena = arena,
                                   .operation = &ar_operation_all_reduce,
                                   .precision = AR_FP16,
                                   .gradient_scale = 1,
                                   .compute_factor = 1,
                                   .layout = {.micro_batch = 1,
                                              .schedule = ar_schedules[1],
                                              .chunks = 1,
                                              .strategy = &ar_strategy_data,
                                              .attention = AR_ATTENTION_FLASH2,
                                              .prefetch = 1,
                                              .overlaps = true},
                                   .async = {.every = 1, .gpus_each = 1},
                                   .units = {.has_backups = true},
                                   .placement = "greedy",
                                   .depth = 1,
                                   .rounds = 1,
                                   .baseline = AR_BASELINE_NODE,
                                   .window = WINDOW_STANDARD,
                                   .seed = 1,
                                   .iterations_count = 1,
                                   .iterations_with_jitter = ITERATIONS_STANDARD};
    (void)ar_engine_find("", ar_keys[AR_KEY_ENGINE].standard, &scenario.engine, &ignored);
    return scenario;
}

/* --- keys ----------------------------------------------------------------------------------- */

enum ar_status ar_scenario_set(struct ar_scenario *scenario, enum ar_key key,
                               const struct ar_origin *origin, const char *text,
                               struct ar_error *err)
{
    const struct ar_origin option = {.where = ar_keys[key].option, .status = AR_USAGE};
    origin = origin != NULL ? origin : &option;
    AR_TRY(
        ar_error_blame(ar_keys[key].parse(scenario, key, origin, text, err), origin->status, err));
    scenario->origins[key] = *origin;
    return AR_OK;
}

void ar_scenario_unset(struct ar_scenario *scenario, enum ar_key key)
{
    scenario->origins[key] = (struct ar_origin){.where = NULL};
}

const char *ar_scenario_where(const struct ar_scenario *scenario, enum ar_key key)
{
    return ar_scenario_has(scenario, key) ? scenario->origins[key].where : ar_keys[key].option;
}

enum ar_status ar_scenario_refuse(const struct ar_scenario *scenario, enum ar_key key,
                                  struct ar_error *err, const char *format, ...)
{
    char text[sizeof err->text];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return ar_error_set(err,
                        ar_scenario_has(scenario, key) ? scenario->origins[key].status : AR_USAGE,
                        "%s: %s", ar_scenario_where(scenario, key), text);
}

enum ar_status ar_scenario_require(const struct ar_scenario *scenario, enum ar_key key,
                                   struct ar_error *err)
{
    if (ar_scenario_has(scenario, key)) {
        return AR_OK;
    }
    const struct ar_key_row *row = &ar_keys[key];
    return ar_error_set(err, AR_USAGE, "option %s is missing; expected %s %s, %s", row->option,
                        row->option, row->placeholder, row->help);
}

/* Length of KEY in `KEY = VALUE`, and where it begins. */
static size_t take_key(const char **text)
{
    *text += strspn(*text, " \t");
    return strcspn(*text, "= \t");
}

bool ar_setting_is_same(const char *text, const char *other)
{
    size_t length = take_key(&text);
    return take_key(&other) == length && strncmp(text, other, length) == 0;
}

const struct ar_setting *ar_settings_find(const struct ar_settings *settings, const char *text)
{
    for (size_t i = 0; i < settings->count; i++) {
        if (ar_setting_is_same(settings->list[i].text, text)) {
            return &settings->list[i];
        }
    }
    return NULL;
}

enum ar_status ar_scenario_replace(struct ar_scenario *scenario, enum ar_key key,
                                   const struct ar_origin *origin, const char *text,
                                   struct ar_error *err)
{
    struct ar_settings *settings = key == AR_KEY_TERM ? &scenario->terms : &scenario->settings;
    const struct ar_setting *old = ar_settings_find(settings, text);
    if (old == NULL) {
        return ar_scenario_set(scenario, key, origin, text, err);
    }
    struct ar_setting *list = ar_arena_alloc(scenario->arena, settings->count, sizeof *list);
    AR_NEED(list, err, "the settings");
    memcpy(list, settings->list, settings->count * sizeof *list);
    list[old - settings->list] =
        (struct ar_setting){.text = text, .where = origin->where, .status = origin->status};
    settings->list = list;
    return AR_OK;
}

/* --- what is to be run ------------------------------------------------------------------------ */

struct ar_collective ar_scenario_collective(const struct ar_scenario *scenario)
{
    const struct ar_kind *kind = ar_scenario_kind(scenario);
    enum ar_precision precision = kind->has_wire        ? scenario->wire
                                  : kind->is_collective ? scenario->precision
                                                        : ar_precision_stored(scenario->precision);
    uint32_t channels = scenario->channels * ar_algorithm_channels(scenario->algorithm);
    return (struct ar_collective){.cluster = scenario->cluster,
                                  .operation = scenario->operation,
                                  .algorithm = scenario->algorithm,
                                  .shape = scenario->shape,
                                  .mesh = scenario->mesh,
                                  .root = scenario->root,
                                  .channels = channels,
                                  .window = scenario->window,
                                  .element_bytes = ar_precision_bytes(precision)};
}

uint32_t ar_scenario_fused_bytes(const struct ar_scenario *scenario)
{
    bool is_later = scenario->fusion.closes_when_reached != 0;
    uint32_t wire = ar_precision_bytes(scenario->wire);
    uint32_t kept = ar_precision_bytes(ar_framework_wire(scenario->framework, scenario->precision));
    return is_later && kept > wire ? kept : wire;
}

enum ar_status ar_scenario_workload(const struct ar_scenario *scenario, struct ar_arena *arena,
                                    struct ar_workload **workload, struct ar_error *err)
{
    struct ar_job job = ar_scenario_job(scenario);
    job.trace = scenario->trace;
    job.fused_bytes = ar_scenario_fused_bytes(scenario);
    job.framework = scenario->framework;
    return ar_job_workload(&job, arena, workload, err);
}
