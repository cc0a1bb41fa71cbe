#include "answer_find.h"

#include <math.h>
#include <string.h>

/* Engines agree no better: what differs by less takes the same time. */
#define SAME_FRAC 1e-6

#define CELL(kind, field)                                                                          \
    AR_COLUMN(kind, struct row, field, #field, "", .may_be_empty = true, .may_be_missing = true)
static const struct ar_column columns[] = {CELL(string, cluster),
                                           CELL(string, trace),
                                           CELL(string, algorithm),
                                           CELL(string, shape),
                                           CELL(string, engine),
                                           CELL(string, baseline),
                                           CELL(string, operation),
                                           CELL(string, mesh),
                                           CELL(string, strategy),
                                           CELL(string, status),
                                           CELL(count, gpus),
                                           CELL(count, payload_bytes),
                                           CELL(number, iteration_s),
                                           CELL(number, compute_s),
                                           CELL(number, allreduce_s),
                                           CELL(number, exposed_s),
                                           CELL(number, samples_per_s),
                                           CELL(number, efficiency_frac),
                                           CELL(number, setup_s),
                                           CELL(number, latency_s),
                                           CELL(number, bandwidth_s),
                                           CELL(number, reduction_s),
                                           CELL(number, busbw_Bps),
                                           CELL(number, low_s),
                                           CELL(number, high_s),
                                           CELL(number, tokens_per_s),
                                           CELL(number, mfu_frac),
                                           CELL(number, bubble_s),
                                           CELL(number, memory_bytes),
                                           CELL(flag, exact),
                                           CELL(flag, fits),
                                           AR_COLUMN_OTHERS};

const struct circumstance circumstances[CIRCUMSTANCES] = {
    {.column = "cluster", .is_subject = true},
    {.column = "trace"},
    {.column = "batch_per_gpu"},
    {.column = "precision"},
    {.column = "baseline"},
    {.column = "settings", .is_key_value = true},
    {.column = "gradient_scale"},
    {.column = "wire"},
    {.column = "framework"},
    {.column = "jitter_frac"},
    {.column = "seed"},
    {.column = "engine"},
    {.column = "operation", .is_subject = true},
    {.column = "mesh"},
    {.column = "along"},
    {.column = "root"},
    {.column = "global_batch"},
    {.column = "micro_batch"},
    {.column = "strategy", .usual = "data"},
    {.column = "schedule"},
    {.column = "recompute"},
    {.column = "sequence_parallel"},
    {.column = "attention"},
    {.column = "overlap"},
    {.column = "prefetch"},
    {.column = "bucket"}};

bool answer_is_parameter(const char *column)
{
    static const char *const others[] = {"gpus",  "nodes",    "algorithm",
                                         "shape", "channels", "payload_bytes"};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        if (strcmp(column, others[i]) == 0) {
            return true;
        }
    }
    for (size_t i = 0; i < CIRCUMSTANCES; i++) {
        if (strcmp(column, circumstances[i].column) == 0) {
            return true;
        }
    }
    return false;
}

/* --- finding ------------------------------------------------------------------------------ */

bool rows_is_same(const char *a, const char *b)
{
    return strcmp(a != NULL ? a : "", b != NULL ? b : "") == 0;
}

bool rows_have_result(const struct rows *rows, size_t i)
{
    const struct row *row = &rows->list[i];
    return (row->status == NULL || strcmp(row->status, "ok") == 0) && row->gpus != AR_NO_COUNT &&
           !isnan(rows->is_step ? row->iteration_s : row->allreduce_s);
}

bool rows_are_alike(const struct rows *rows, size_t a, size_t b)
{
    for (size_t i = 0; i < CIRCUMSTANCES; i++) {
        size_t place = rows->places[i];
        if (place != SIZE_MAX &&
            strcmp(ar_csv_cell(rows->csv, a, place), ar_csv_cell(rows->csv, b, place)) != 0) {
            return false;
        }
    }
    return rows->is_step || rows->list[a].payload_bytes == rows->list[b].payload_bytes;
}

/* What is less of the better row: time of a sample, or of a collective. */
static double cost_of(const struct rows *rows, size_t i)
{
    const struct row *row = &rows->list[i];
    return !rows->is_step           ? row->allreduce_s
           : row->samples_per_s > 0 ? 1 / row->samples_per_s
                                    : row->iteration_s;
}

static bool is_chosen(const struct rows *rows, const struct choice *choice, size_t i)
{
    const struct row *row = &rows->list[i];
    return rows_have_result(rows, i) && i != choice->but && row->gpus == choice->gpus &&
           (choice->payload_bytes == AR_NO_COUNT || row->payload_bytes == choice->payload_bytes) &&
           (choice->alike == SIZE_MAX || rows_are_alike(rows, choice->alike, i)) &&
           (choice->algorithm == NULL || rows_is_same(row->algorithm, choice->algorithm)) &&
           (choice->operation == NULL || rows_is_same(row->operation, choice->operation)) &&
           (choice->strategy == NULL || rows_is_same(row->strategy, choice->strategy));
}

size_t rows_best(const struct rows *rows, const struct choice *choice)
{
    size_t best = SIZE_MAX;
    for (size_t i = 0; i < rows->count; i++) {
        if (is_chosen(rows, choice, i) &&
            (best == SIZE_MAX || cost_of(rows, i) < cost_of(rows, best) * (1 - SAME_FRAC))) {
            best = i;
        }
    }
    return best;
}

struct others rows_others(const struct rows *rows, size_t best)
{
    struct others others = {.next = SIZE_MAX, .last = SIZE_MAX};
    for (size_t i = 0; i < rows->count; i++) {
        struct choice choice = {.gpus = rows->list[best].gpus,
                                .payload_bytes = AR_NO_COUNT,
                                .alike = best,
                                .but = SIZE_MAX,
                                .algorithm = rows->list[i].algorithm};
        if (!is_chosen(rows, &choice, i) || rows_best(rows, &choice) != i ||
            rows_is_same(rows->list[i].algorithm, rows->list[best].algorithm)) {
            continue;
        }
        bool is_next = others.count == 0 || cost_of(rows, i) < cost_of(rows, others.next);
        bool is_last = others.count == 0 || cost_of(rows, i) > cost_of(rows, others.last);
        others.next = is_next ? i : others.next;
        others.last = is_last ? i : others.last;
        others.count++;
    }
    return others;
}

/* --- a file ------------------------------------------------------------------------------- */

enum ar_status rows_read(const struct ar_csv *csv, struct ar_arena *arena, struct rows *rows,
                         struct ar_error *err)
{
    *rows = (struct rows){.csv = csv, .count = csv->rows_count};
    rows->list = answer_room(csv, AR_COLUMNS(columns), sizeof *rows->list, arena);
    AR_TRY(answer_read(csv, AR_COLUMNS(columns), sizeof *rows->list, rows->list, err));
    rows->is_named = ar_arena_alloc(arena, rows->count + 1, sizeof *rows->is_named);
    AR_NEED(rows->is_named, err, "the report");
    for (size_t i = 0; i < CIRCUMSTANCES; i++) {
        rows->places[i] = ar_csv_find_column(csv, circumstances[i].column);
    }
    for (size_t i = 0; i < rows->count; i++) {
        rows->is_step = rows->is_step || !isnan(rows->list[i].iteration_s);
    }
    return AR_OK;
}

uint64_t rows_most_gpus(const struct rows *rows)
{
    uint64_t most = 0;
    for (size_t i = 0; i < rows->count; i++) {
        most = rows_have_result(rows, i) && rows->list[i].gpus > most ? rows->list[i].gpus : most;
    }
    return most;
}

/* The least or the largest payload among rows of so many GPUs. */
uint64_t rows_payload(const struct rows *rows, uint64_t gpus, bool is_least)
{
    uint64_t payload = AR_NO_COUNT;
    for (size_t i = 0; i < rows->count; i++) {
        uint64_t bytes = rows->list[i].payload_bytes;
        if (rows_have_result(rows, i) && rows->list[i].gpus == gpus &&
            (payload == AR_NO_COUNT || (is_least ? bytes < payload : bytes > payload))) {
            payload = bytes;
        }
    }
    return payload;
}
