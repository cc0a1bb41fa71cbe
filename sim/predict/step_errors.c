#include "ar_step_errors.h"

#include <float.h>
#include <inttypes.h>
#include <string.h>

#include "ar_csv.h"
#include "ar_inputs.h"
#include "ar_kind.h"
#include "ar_text.h"

const char *const ar_step_class_names[AR_STEP_CLASSES] = {
    "none", "traces with a framework", "transformers on A100 and later", "transformers"};

enum ar_step_class ar_step_class(const struct ar_scenario *scenario)
{
    const struct ar_cluster_facts *facts = ar_cluster_facts(scenario->cluster);
    enum ar_step_class class = ar_scenario_kind(scenario)->published;
    bool is_v100 = facts->has_gpu_generation && facts->gpu_generation == AR_GPU_VOLTA;
    return class == AR_STEP_OF_TRANSFORMER && is_v100                    ? AR_STEP_ON_V100
           : class == AR_STEP_OF_TRACE && ar_scenario_is_ideal(scenario) ? AR_STEP_LIKE_NONE
                                                                         : class;
}

bool ar_step_class_tells(enum ar_step_class published, enum ar_step_class of)
{
    return published == of || (published == AR_STEP_OF_TRANSFORMER && of == AR_STEP_ON_V100);
}

#define ERRORS(kind, field, name, ...)                                                             \
    AR_COLUMN(kind, struct ar_step_errors, field, name, __VA_ARGS__)
#define TIMES(field, help)                                                                         \
    ERRORS(number, field, #field, help, .may_be_empty = true, .min = DBL_MIN, .max = DBL_MAX)

static const struct ar_column columns[] = {
    ERRORS(string, steps, "steps", "which published ones tell"),
    ERRORS(string, without, "without", "the table of runs that is left out; -: none"),
    ERRORS(count, rows, "rows", "that nothing was fitted to"),
    ERRORS(count, tables, "tables", "that they are from, which count alike"),
    TIMES(low, "measured time over the predicted one: lower end of a 95 % band"),
    TIMES(half_low, "lower end of a band that holds half of the rows"),
    TIMES(half_high, "its upper end"),
    TIMES(high, "upper end of the 95 % band; empty: fewer than 19 rows"),
    ERRORS(string, gpus, "gpus", "cost tables of the GPUs of the rows"),
};

const struct ar_columns ar_step_errors_columns = AR_COLUMNS(columns);

enum ar_status ar_step_errors_read(enum ar_step_class class, const char *without,
                                   struct ar_arena *arena, struct ar_step_errors *errors,
                                   struct ar_error *err)
{
    struct ar_csv_list *list;
    char path[RESOURCE_PATH];
    *errors = (struct ar_step_errors){.rows = 0};
    AR_TRY(resource_find(RESOURCE_SETS, "reproduce", "step_errors", path, err));
    AR_TRY(ar_csv_load_list(path, arena, ar_step_errors_columns, &list, err));
    AR_EACH(const struct ar_step_errors, row, list->rows, list->count) {
        if (strcmp(row->steps, ar_step_class_names[class]) == 0 &&
            (strcmp(row->without, "-") == 0 || strcmp(row->without, without) == 0)) {
            *errors = *row;
        }
    }
    return AR_OK;
}

void ar_note_step_errors(FILE *notes, const struct ar_scenario *scenario)
{
    struct ar_arena arena AR_ENDS_HERE = {NULL};
    struct ar_step_errors errors;
    enum ar_step_class class = ar_step_class(scenario);
    if (ar_step_errors_read(class, "", &arena, &errors, AR_IGNORED) == AR_OK && errors.rows > 0) {
        const char *gpu = scenario->cost != NULL ? scenario->cost->name : "";
        bool is_new = gpu[0] != '\0' && !ar_text_has_word(errors.gpus, gpu);
        ar_note(notes,
                "how sure: half of %" PRIu64 " published steps of %s took %.2f to %.2f times what "
                "was predicted of them, 95 %% took %.2f to %.2f times%s%s",
                errors.rows, errors.steps, errors.half_low, errors.half_high, errors.low,
                errors.high, is_new ? "; none of them on GPUs of cost table " : "",
                is_new ? gpu : "");
    }
}
