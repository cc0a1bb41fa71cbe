#include "ar_measured_set.h"

#include <string.h>

#include "ar_csv.h"
#include "ar_text.h"

enum { SET, FILE_NAME, CLUSTER, ENGINE, ALGORITHM, SOURCE, COLUMNS_COUNT };

enum ar_status ar_measured_sets_read(const char *path, struct ar_arena *arena,
                                     struct ar_measured_set **sets, size_t *count,
                                     struct ar_error *err)
{
    static const char *const names[COLUMNS_COUNT] = {"set",    "file",      "cluster",
                                                     "engine", "algorithm", "source"};
    size_t places[COLUMNS_COUNT];
    struct ar_csv *csv;
    AR_TRY(ar_csv_load(path, arena, &csv, err));
    AR_TRY(ar_csv_find_columns(csv, names, COLUMNS_COUNT, places, err));
    struct ar_measured_set *made = ar_arena_alloc(arena, csv->rows_count + 1, sizeof *made);
    if (made == NULL) {
        return ar_error_no_memory(err, "measured sets");
    }
    for (size_t i = 0; i < csv->rows_count; i++) {
        made[i] = (struct ar_measured_set){.name = ar_csv_cell(csv, i, places[SET]),
                                           .cluster = ar_csv_cell(csv, i, places[CLUSTER]),
                                           .engine = ar_csv_cell(csv, i, places[ENGINE]),
                                           .algorithm = ar_csv_cell(csv, i, places[ALGORITHM]),
                                           .source = ar_csv_cell(csv, i, places[SOURCE])};
    }
    *sets = made;
    *count = csv->rows_count;
    return AR_OK;
}

const struct ar_measured_set *ar_measured_set_of(const struct ar_measured_set *sets, size_t count,
                                                 const char *path)
{
    char stem[256];
    ar_copy_stem(stem, sizeof stem, path, ".csv");
    for (size_t i = 0; i < count; i++) {
        if (strcmp(stem, sets[i].name) == 0) {
            return &sets[i];
        }
    }
    return NULL;
}
