#include "key_values.h"

#include <inttypes.h>
#include <string.h>

#include "ar_text.h"
#include "ar_units.h"

/* --- values of any key ------------------------------------------------------------------------ */

/* The field of a key in a scenario. */
static void *field_of(struct ar_scenario *scenario, enum ar_key key)
{
    return (char *)scenario + ar_keys[key].field;
}

static const void *value_of(const struct ar_scenario *scenario, enum ar_key key)
{
    return (const char *)scenario + ar_keys[key].field;
}

KEY_PARSE(text)
{
    const char **value = field_of(scenario, key);
    *value = text;
    return AR_OK;
}

KEY_PARSE(count)
{
    uint64_t count = 0;
    uint32_t *value = field_of(scenario, key);
    AR_TRY(ar_parse_count(origin->where, text, (uint64_t)ar_keys[key].min,
                          (uint64_t)ar_keys[key].max, &count, err));
    *value = (uint32_t)count;
    return AR_OK;
}

KEY_PARSE(number)
{
    return ar_parse_number(origin->where, text, ar_keys[key].min, ar_keys[key].max,
                           field_of(scenario, key), err);
}

/* The place of a word, as an enum has it. */
KEY_PARSE(choice)
{
    unsigned place;
    AR_TRY(ar_parse_choice(origin->where, text, ar_keys[key].words, &place, err));
    memcpy(field_of(scenario, key), &place, sizeof place);
    return AR_OK;
}

KEY_PARSE(yes_or_no)
{
    static const char *const words[] = {"no", "yes", NULL};
    unsigned place;
    bool *value = field_of(scenario, key);
    AR_TRY(ar_parse_choice(origin->where, text, words, &place, err));
    *value = place == 1;
    return AR_OK;
}

KEY_PARSE(setting)
{
    struct ar_settings *settings = field_of(scenario, key);
    struct ar_setting *list = ar_arena_alloc(scenario->arena, settings->count + 1, sizeof *list);
    for (size_t i = 0; i < settings->count; i++) {
        list[i] = settings->list[i];
    }
    list[settings->count] =
        (struct ar_setting){.text = text, .where = origin->where, .status = origin->status};
    *settings = (struct ar_settings){.list = list, .count = settings->count + 1};
    return AR_OK;
}

/* Prints a value that is parsed by its type. */
KEY_PRINT(value)
{
    const struct ar_key_row *row = &ar_keys[key];
    const void *value = value_of(scenario, key);
    unsigned place;
    if (row->parse == key_parse_count) {
        fprintf(file, "%" PRIu32, *(const uint32_t *)value);
    } else if (row->parse == key_parse_number) {
        fprintf(file, "%.17g", *(const double *)value);
    } else if (row->parse == key_parse_choice) {
        memcpy(&place, value, sizeof place);
        fputs(row->words[place], file);
    } else if (row->parse == key_parse_yes_or_no) {
        fputs(*(const bool *)value ? "yes" : "no", file);
    } else {
        const char *text = *(const char *const *)value;
        fputs(text != NULL ? text : "", file);
    }
}

/* As a setting, `name=value`, if it was set; a value that was not is no setting. */
KEY_PRINT(as_set)
{
    if (!ar_scenario_has(scenario, key)) {
        return;
    }
    fprintf(file, "%s%s=", ftell(file) > 0 ? " " : "", ar_key_name(key));
    if (ar_keys[key].parse == key_parse_number) {
        fprintf(file, "%.10g", *(const double *)value_of(scenario, key));
    } else {
        key_print_value(scenario, key, file);
    }
}

/* `name=text`, with a space before each but the first of the file; what changes the cluster has a
 * name of its own. */
KEY_PRINT(settings)
{
    const struct ar_settings *settings = value_of(scenario, key);
    for (size_t i = 0; i < settings->count; i++) {
        fprintf(file, "%s%s%s%s", ftell(file) > 0 ? " " : "",
                key == AR_KEY_SET ? "" : ar_key_name(key), key == AR_KEY_SET ? "" : "=",
                settings->list[i].text);
    }
}

/* --- values of one key ------------------------------------------------------------------------ */

KEY_PARSE(algorithm)
{
    return ar_algorithm_find_or_auto(origin->where, scenario->operation, text, &scenario->algorithm,
                                     err);
}

KEY_PARSE(operation)
{
    return ar_operation_find(origin->where, text, &scenario->operation, err);
}

KEY_PARSE(mesh)
{
    if (strcmp(text, "all") == 0) {
        return ar_error_set(err, AR_USAGE,
                            "%s: found \"all\", which only sweep --workload tries; expected axes "
                            "such as pp=4,dp=16,tp=8",
                            origin->where);
    }
    return ar_mesh_parse(origin->where, text, &scenario->mesh, err);
}

KEY_PARSE(along)
{
    return scenario->mesh.axes_count > 0
               ? ar_mesh_set_along(origin->where, text, &scenario->mesh, err)
               : ar_error_set(err, AR_USAGE,
                              "%s: found \"%.60s\" without a mesh; expected its axes before, such "
                              "as --mesh dp=32,tp=8",
                              origin->where, text);
}

KEY_PARSE(shape)
{
    scenario->has_best_shape = strcmp(text, "best") == 0;
    return scenario->has_best_shape ? AR_OK
                                    : ar_shape_parse(origin->where, text, &scenario->shape, err);
}

KEY_PARSE(payload)
{
    AR_TRY(ar_parse_bytes(origin->where, text, &scenario->payload_bytes, err));
    return scenario->payload_bytes > 0
               ? AR_OK
               : ar_error_set(err, AR_USAGE, "%s: found \"%.60s\"; expected a size above zero",
                              origin->where, text);
}

KEY_PARSE(bucket)
{
    return ar_fusion_parse(origin->where, text, &scenario->fusion, err);
}

/* A term, or a value of the cluster, is set once: the last one would win in silence. */
KEY_PARSE(setting_once)
{
    const struct ar_setting *old = ar_settings_find(value_of(scenario, key), text);
    return old == NULL ? key_parse_setting(scenario, key, origin, text, err)
                       : ar_error_set(err, origin->status,
                                      "%s: found \"%.60s\" and \"%.60s\"; expected one",
                                      origin->where, old->text, text);
}

KEY_PARSE(samples_per_s_at)
{
    struct compute_rates *rates = NULL;
    AR_TRY(compute_rates_parse(origin->where, text, scenario->arena, &rates, err));
    scenario->rates = rates;
    return key_parse_text(scenario, key, origin, text, err);
}

KEY_PARSE(engine)
{
    return ar_engine_find(origin->where, text, &scenario->engine, err);
}

KEY_PARSE(strategy)
{
    return ar_strategy_parse(origin->where, text, &scenario->layout.strategy,
                             &scenario->async.staleness, err);
}

KEY_PARSE(schedule)
{
    return ar_schedule_parse(origin->where, text, &scenario->layout.schedule,
                             &scenario->layout.chunks, err);
}

/* RANK:FACTOR; whether there is such a rank is seen when the number of GPUs is known. */
static enum ar_status parse_rank_factor(const struct ar_origin *origin, const char *text,
                                        struct ar_straggler *straggler, struct ar_error *err)
{
    char rank_text[24];
    uint64_t rank = 0;
    double factor = 0;
    struct ar_error ignored;
    size_t length = strcspn(text, ":");
    ar_copy_text(rank_text, length < sizeof rank_text ? length + 1 : sizeof rank_text, text);
    if (text[length] == '\0' || length >= sizeof rank_text ||
        ar_parse_count("", rank_text, 0, UINT32_MAX - 1, &rank, &ignored) != AR_OK ||
        ar_parse_number("", text + length + 1, 1, 1e6, &factor, &ignored) != AR_OK) {
        return ar_error_set(err, AR_USAGE,
                            "%s: found \"%.60s\"; expected RANK:FACTOR with a factor of compute "
                            "time from 1 to 1e6, such as 17:1.5",
                            origin->where, text);
    }
    *straggler = (struct ar_straggler){.rank = (uint32_t)rank, .factor = factor};
    return AR_OK;
}

KEY_PARSE(straggler)
{
    uint32_t count = scenario->stragglers_count;
    struct ar_straggler *list = ar_arena_alloc(scenario->arena, count + 1, sizeof *list);
    AR_TRY(parse_rank_factor(origin, text, &list[count], err));
    for (uint32_t i = 0; i < count; i++) {
        list[i] = scenario->stragglers[i];
        if (list[i].rank == list[count].rank) {
            return ar_error_set(err, AR_USAGE, "%s: found rank %" PRIu32 " twice; expected it once",
                                origin->where, list[i].rank);
        }
    }
    AR_TRY(key_parse_setting(scenario, key, origin, text, err));
    scenario->stragglers = list;
    scenario->stragglers_count = count + 1;
    return AR_OK;
}

KEY_PRINT(mesh)
{
    char text[AR_MESH_TEXT];
    fputs(ar_mesh_format(&scenario->mesh, text), file);
}

KEY_PRINT(along)
{
    char text[AR_MESH_TEXT];
    fputs(ar_mesh_format_along(&scenario->mesh, text), file);
}

KEY_PRINT(trace)
{
    fputs(scenario->trace != NULL ? scenario->trace->name : "", file);
}

KEY_PRINT(precision)
{
    fprintf(file, "%s, %s on the wire", ar_precision_names[scenario->precision],
            ar_precision_names[scenario->wire]);
}

KEY_PRINT(strategy)
{
    char text[AR_STRATEGY_TEXT];
    fputs(ar_strategy_format(scenario->layout.strategy, scenario->async.staleness, text), file);
}

KEY_PRINT(schedule)
{
    fprintf(file, "%s:%" PRIu32, scenario->layout.schedule->name, scenario->layout.chunks);
}

KEY_PRINT(bucket)
{
    fputs(scenario->fusion.text, file);
}

KEY_PRINT(framework)
{
    fputs(scenario->framework->name, file);
    for (int i = 0; i < AR_TERMS_COUNT; i++) {
        fprintf(file, " %.17g", ar_framework_number(scenario->framework, (enum ar_term)i));
    }
}
