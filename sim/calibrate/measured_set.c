#include "ar_measured_set.h"

#include <string.h>

#include "ar_csv.h"
#include "ar_text.h"

static const struct ar_column columns[] = {
    AR_COLUMN(string, struct ar_measured_set, name, "set", "a name"),
    AR_COLUMN(string, struct ar_measured_set, file, "file", "a file name"),
    AR_COLUMN(string, struct ar_measured_set, cluster, "cluster", "a cluster"),
    AR_COLUMN(string, struct ar_measured_set, engine, "engine", "an engine"),
    AR_COLUMN(string, struct ar_measured_set, algorithm, "algorithm", "a name"),
    AR_COLUMN(string, struct ar_measured_set, source, "source", "a source"),
};

enum ar_status ar_measured_sets_read(const char *path, struct ar_arena *arena,
                                     struct ar_measured_set **sets, size_t *count,
                                     struct ar_error *err)
{
    struct ar_csv *csv;
    AR_TRY(ar_csv_load(path, arena, &csv, err));
    *count = csv->rows_count;
    *sets = ar_arena_alloc(arena, csv->rows_count + 1, sizeof **sets);
    return *sets != NULL ? ar_csv_read_rows(csv, AR_COLUMNS(columns), *sets, sizeof **sets, err)
                         : ar_error_no_memory(err, "measured sets");
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
