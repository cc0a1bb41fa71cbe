/* The C library: keeps texts of keys, makes a scenario of them, fills its row. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "allreckon.h"
#include "ar_kind.h"
#include "ar_text.h"

enum { TEXTS_MAX = 256 };

struct setting {
    enum ar_key key;
    char *text;
};

struct allreckon {
    struct setting settings[TEXTS_MAX]; /* in the order in which they were set */
    size_t settings_count;
    struct ar_error err;
    char *notes;
    size_t notes_bytes;
    struct ar_row row;
};

const char *allreckon_version(void)
{
    return ALLRECKON_VERSION;
}

struct allreckon *allreckon_create(void)
{
    struct allreckon *prediction = calloc(1, sizeof *prediction);
    if (prediction != NULL) {
        ar_record_clear(ar_row_columns, &prediction->row);
    }
    return prediction;
}

void allreckon_destroy(struct allreckon *prediction)
{
    if (prediction == NULL) {
        return;
    }
    for (size_t i = 0; i < prediction->settings_count; i++) {
        free(prediction->settings[i].text);
    }
    free(prediction->notes);
    free(prediction);
}

static int return_code(struct allreckon *prediction, enum ar_status status)
{
    if (status == AR_OK) {
        prediction->err.text[0] = '\0';
    }
    return ar_status_exit_code(status);
}

static enum ar_status add_key(struct allreckon *prediction, const char *name, const char *value)
{
    AR_REFUSE(name == NULL, &prediction->err, AR_USAGE,
              "allreckon_set: found no key (NULL); expected one, such as \"%s\"",
              ar_key_name(AR_KEY_CLUSTER));
    enum ar_key key = ar_key_find(name);
    if (key == AR_KEYS_COUNT) {
        const char *names[AR_KEYS_COUNT];
        for (int i = 0; i < AR_KEYS_COUNT; i++) {
            names[i] = ar_key_name((enum ar_key)i);
        }
        return ar_error_unknown(&prediction->err, AR_USAGE, "allreckon_set", "key", name, names,
                                AR_KEYS_COUNT);
    }
    if (value == NULL || !ar_key_is(key, AR_KEY_REPEATS)) {
        size_t kept = 0;
        for (size_t i = 0; i < prediction->settings_count; i++) {
            if (prediction->settings[i].key == key) {
                free(prediction->settings[i].text);
            } else {
                prediction->settings[kept++] = prediction->settings[i];
            }
        }
        prediction->settings_count = kept;
    }
    if (value == NULL) {
        return AR_OK;
    }
    AR_REFUSE(prediction->settings_count == TEXTS_MAX, &prediction->err, AR_USAGE,
              "%s: found more than %d values; expected at most %d", name, TEXTS_MAX, TEXTS_MAX);
    char *text = strdup(value);
    AR_REFUSE(text == NULL, &prediction->err, AR_NO_MEMORY, "out of memory for a prediction");
    prediction->settings[prediction->settings_count++] = (struct setting){key, text};
    return AR_OK;
}

int allreckon_set(struct allreckon *prediction, const char *key, const char *value)
{
    return prediction != NULL ? return_code(prediction, add_key(prediction, key, value))
                              : ar_status_exit_code(AR_USAGE);
}

struct request {
    struct allreckon *prediction;
    struct ar_arena *arena;
    FILE *notes;
};

static enum ar_status run_prediction(void *context, struct ar_error *err)
{
    const struct request *request = context;
    struct allreckon *prediction = request->prediction;
    FILE *notes = request->notes;
    struct ar_scenario scenario =
        ar_scenario_begin(request->arena, ar_inputs_create(request->arena));
    for (int key = 0; key < AR_KEYS_COUNT; key++) {
        AR_EACH(const struct setting, setting, prediction->settings, prediction->settings_count) {
            if (setting->key == (enum ar_key)key) {
                AR_TRY(ar_scenario_set(&scenario, setting->key, NULL, setting->text,
                                       &prediction->err));
            }
        }
    }
    AR_TRY(ar_scenario_require(&scenario, AR_KEY_CLUSTER, err));
    bool may_say_gpus =
        ar_scenario_has(&scenario, AR_KEY_MESH) || ar_scenario_has(&scenario, AR_KEY_WORKLOAD);
    AR_TRY(may_say_gpus ? AR_OK : ar_scenario_require(&scenario, AR_KEY_GPUS, err));
    AR_TRY(ar_scenario_load(&scenario, err));
    if (ar_scenario_kind(&scenario)->is_collective) {
        AR_TRY(ar_scenario_require(&scenario, AR_KEY_PAYLOAD, err));
    }
    ar_note_assumed(notes, &scenario);
    ar_note_before(notes, &scenario, 0);
    return ar_run(&scenario, &prediction->row, err);
}

int allreckon_run(struct allreckon *prediction)
{
    struct ar_arena arena AR_ENDS_HERE = {.bytes_max = AR_ARENA_BYTES_MAX};
    if (prediction == NULL) {
        return ar_status_exit_code(AR_USAGE);
    }
    free(prediction->notes);
    prediction->notes = NULL;
    ar_record_clear(ar_row_columns, &prediction->row);
    FILE *notes = open_memstream(&prediction->notes, &prediction->notes_bytes);
    if (notes == NULL) {
        return return_code(prediction, ar_error_set(&prediction->err, AR_NO_MEMORY,
                                                    "out of memory for the notes"));
    }
    struct request request = {prediction, &arena, notes};
    enum ar_status status = ar_memory_guard(run_prediction, &request, &prediction->err);
    fclose(notes);
    return return_code(prediction, status);
}

const char *allreckon_error(const struct allreckon *prediction)
{
    return prediction != NULL ? prediction->err.text
                              : "found no prediction (NULL); expected that of allreckon_create()";
}

const char *allreckon_notes(const struct allreckon *prediction)
{
    return prediction != NULL && prediction->notes != NULL ? prediction->notes : "";
}

static const struct ar_column *find_column(const char *name)
{
    return name != NULL ? ar_column_find(ar_row_columns, name, strlen(name)) : NULL;
}

double allreckon_number(const struct allreckon *prediction, const char *name)
{
    const struct ar_column *column = find_column(name);
    if (prediction == NULL || column == NULL) {
        return NAN;
    }
    const char *row = (const char *)&prediction->row;
    switch (column->kind) {
    case AR_COLUMN_number:
        return *(const double *)(row + column->offset);
    case AR_COLUMN_count: {
        uint64_t count = *(const uint64_t *)(row + column->offset);
        return count != AR_NO_COUNT ? (double)count : NAN;
    }
    case AR_COLUMN_flag: {
        int flag = *(const int8_t *)(row + column->offset);
        return flag != AR_NO_FLAG ? (double)flag : NAN;
    }
    default:
        return NAN;
    }
}

const char *allreckon_text(const struct allreckon *prediction, const char *name)
{
    const struct ar_column *column = find_column(name);
    return prediction != NULL && column != NULL && column->kind == AR_COLUMN_text
               ? (const char *)&prediction->row + column->offset
               : "";
}

const char *allreckon_key(size_t number)
{
    return number < AR_KEYS_COUNT ? ar_key_name((enum ar_key)number) : NULL;
}

const char *allreckon_column(size_t number)
{
    return number < ar_row_columns.count ? ar_row_columns.list[number].name : NULL;
}

const char *allreckon_key_help(size_t number)
{
    return number < AR_KEYS_COUNT ? ar_keys[number].help : NULL;
}

const char *allreckon_column_help(size_t number)
{
    return number < ar_row_columns.count ? ar_row_columns.list[number].help : NULL;
}

char allreckon_column_type(size_t number)
{
    static const char types[] = {[AR_COLUMN_text] = 't',
                                 [AR_COLUMN_count] = 'c',
                                 [AR_COLUMN_number] = 'n',
                                 [AR_COLUMN_flag] = 'f'};
    return number < ar_row_columns.count ? types[ar_row_columns.list[number].kind] : '\0';
}

int allreckon_key_repeats(size_t number)
{
    return number < AR_KEYS_COUNT && ar_key_is((enum ar_key)number, AR_KEY_REPEATS);
}
