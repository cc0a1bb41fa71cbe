#include "key_texts.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "ar_file.h"
#include "ar_text.h"

struct ar_columns key_columns(struct key_columns *room, struct ar_columns first,
                              enum ar_key_use use, size_t offset)
{
    struct ar_columns columns = {.list = room->list, .count = first.count};
    assert(first.count + AR_KEYS_COUNT <= KEY_COLUMNS_MAX);
    memcpy(room->list, first.list, first.count * sizeof *first.list);
    for (enum ar_key key = 0; key < AR_KEYS_COUNT; key++) {
        if (ar_key_is(key, use)) {
            room->list[columns.count++] =
                (struct ar_column){.name = ar_key_directive(ar_key_name(key), room->names[key]),
                                   .kind = AR_COLUMN_string,
                                   .offset = offset + (size_t)key * sizeof(char *),
                                   .size = sizeof(char *),
                                   .help = ar_keys[key].help,
                                   .may_be_empty = true,
                                   .may_be_missing = true};
        }
    }
    return columns;
}

/* Adds settings or terms, separated by `;`, unless the scenario has one of the same KEY. */
static enum ar_status add_list(enum ar_key key, const struct ar_origin *origin, const char *list,
                               struct ar_scenario *scenario, struct ar_error *err)
{
    const struct ar_settings given = key == AR_KEY_SET ? scenario->settings : scenario->terms;
    AR_EACH_PART(part, ar_arena_text(scenario->arena, list), ';') {
        AR_REFUSE(part[0] == '\0', err, AR_BAD_DATA,
                  "%s: found nothing; expected KEY=VALUE, or several separated by \";\"",
                  origin->where);
        if (ar_settings_find(&given, part) == NULL) {
            AR_TRY(ar_scenario_set(scenario, key, origin, part, err));
        }
    }
    return AR_OK;
}

enum ar_status key_texts_add(const char *const texts[AR_KEYS_COUNT], const struct ar_csv *file,
                             struct ar_scenario *scenario, struct ar_error *err)
{
    for (enum ar_key key = 0; key < AR_KEYS_COUNT; key++) {
        const char *text = texts[key];
        char directive[AR_KEY_TEXT];
        bool repeats = ar_key_is(key, AR_KEY_REPEATS);
        struct ar_origin origin = {.where = ar_keys[key].option, .status = AR_BAD_DATA};
        if (text == NULL || (!repeats && ar_scenario_has(scenario, key))) {
            continue;
        }
        if (file != NULL) { /* `a.run.csv:12: batch` */
            const char *name = ar_key_name(key);
            const struct ar_csv_directive *line =
                ar_csv_find_directive(file, ar_key_directive(name, directive));
            origin.where = ar_arena_format(scenario->arena, "%s:%" PRIu64 ": %s", file->path,
                                           line->line, name);
        }
        if (file != NULL && ar_key_is(key, AR_KEY_IS_PATH)) {
            /* In a run file a relative path lies beside that file or below it; others are names. */
            const char *dot = strrchr(text, '.');
            bool is_file = strchr(text, '/') != NULL ||
                           (dot != NULL && (strcmp(dot, ".topo") == 0 || strcmp(dot, ".csv") == 0));
            AR_REFUSE(!ar_file_is_below(text), err, AR_BAD_DATA,
                      "%s: found \"%.100s\"; expected a shipped name, or a file beside this one or "
                      "below it (the command line may name any)",
                      origin.where, text);
            if (is_file && text[0] != '/') {
                text = ar_arena_format(scenario->arena, "%.*s%s",
                                       (int)(basename(file->path) - file->path), file->path, text);
            }
        }
        AR_TRY(repeats ? add_list(key, &origin, text, scenario, err)
                       : ar_scenario_set(scenario, key, &origin, text, err));
    }
    return AR_OK;
}
