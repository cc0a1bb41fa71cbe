/* The scenario of a run: what is given, what its file says. */
#include <inttypes.h>
#include <string.h>

#include "ar_text.h"
#include "training_file.h"

/* A file named by a relative path lies beside the run file; names are looked up. */
static const char *resolve(const struct training_file *file, struct ar_arena *arena,
                           const char *value)
{
    const char *dot = strrchr(value, '.');
    const char *slash = strrchr(file->csv->path, '/');
    bool is_file = strchr(value, '/') != NULL ||
                   (dot != NULL && (strcmp(dot, ".topo") == 0 || strcmp(dot, ".xml") == 0 ||
                                    strcmp(dot, ".csv") == 0));
    if (!is_file || value[0] == '/' || slash == NULL) {
        return value;
    }
    return ar_arena_format(arena, "%.*s%s", (int)(slash - file->csv->path) + 1, file->csv->path,
                           value);
}

/* Whether one of the settings given is of the same KEY. */
static bool is_given(const struct ar_settings *given, const char *text)
{
    for (size_t i = 0; i < given->count; i++) {
        if (ar_setting_is_same(given->list[i].text, text)) {
            return true;
        }
    }
    return false;
}

/* Adds the settings of a list of the file that are not given. */
static enum ar_status add_list(enum ar_key key, const struct ar_origin *origin, const char *list,
                               const struct ar_settings *given, struct ar_scenario *scenario,
                               struct ar_error *err)
{
    char *rest = ar_arena_text(scenario->arena, list);
    if (rest == NULL) {
        return ar_error_no_memory(err, "the settings of a run");
    }
    for (char *part; (part = ar_next_part(&rest, ';')) != NULL;) {
        if (part[0] == '\0') {
            return ar_error_set(err, AR_BAD_DATA,
                                "%s: found nothing; expected KEY=VALUE, or several separated by "
                                "\";\"",
                                origin->where);
        }
        if (!is_given(given, part)) {
            AR_TRY(ar_scenario_set(scenario, key, origin, part, err));
        }
    }
    return AR_OK;
}

/* Takes a directive, if it is a key that is not given. */
static enum ar_status take_directive(const struct training_file *file,
                                     const struct ar_csv_directive *directive,
                                     const struct ar_scenario *given, struct ar_scenario *scenario,
                                     struct ar_error *err)
{
    enum ar_key key = ar_key_find(directive->key);
    if (key == AR_KEYS_COUNT || !ar_key_is(key, AR_KEY_IN_RUN)) {
        return AR_OK;
    }
    const char *value = directive->value;
    struct ar_origin origin = {.where = ar_arena_format(scenario->arena, "%s:%" PRIu64 ": %s",
                                                        file->csv->path, directive->line,
                                                        ar_key_name(key)),
                               .status = AR_BAD_DATA};
    if (ar_key_is(key, AR_KEY_IS_PATH)) {
        value = resolve(file, scenario->arena, value);
    }
    if (origin.where == NULL || value == NULL) {
        return ar_error_no_memory(err, "a run");
    }
    if (ar_key_is(key, AR_KEY_REPEATS)) {
        return add_list(key, &origin, value, key == AR_KEY_SET ? &given->settings : &given->terms,
                        scenario, err);
    }
    return ar_scenario_has(given, key) ? AR_OK
                                       : ar_scenario_set(scenario, key, &origin, value, err);
}

static enum ar_status check_required(const struct training_file *file,
                                     const struct ar_scenario *scenario, struct ar_error *err)
{
    static const enum ar_key needed[] = {AR_KEY_CLUSTER, AR_KEY_GPUS, AR_KEY_ALGORITHM,
                                         AR_KEY_TRACE};
    for (size_t i = 0; i < sizeof needed / sizeof needed[0]; i++) {
        if (!ar_scenario_has(scenario, needed[i])) {
            return ar_error_set(err, AR_BAD_DATA,
                                "%s: directive \"%s\" is missing; expected it or the option %s",
                                file->csv->path, ar_key_name(needed[i]), ar_keys[needed[i]].option);
        }
    }
    return AR_OK;
}

enum ar_status training_scenario(const struct training_file *file, const struct ar_scenario *given,
                                 struct ar_scenario *scenario, bool *is_shape_dropped,
                                 struct ar_error *err)
{
    *scenario = *given;
    for (size_t i = 0; i < file->csv->directives_count; i++) {
        AR_TRY(take_directive(file, &file->csv->directives[i], given, scenario, err));
    }
    AR_TRY(check_required(file, scenario, err));
    *is_shape_dropped = !ar_scenario_has(given, AR_KEY_SHAPE) &&
                        ar_scenario_has(scenario, AR_KEY_SHAPE) && file->gpus > 0 &&
                        scenario->gpus != file->gpus;
    if (*is_shape_dropped) {
        ar_scenario_unset(scenario, AR_KEY_SHAPE);
    }
    return AR_OK;
}
