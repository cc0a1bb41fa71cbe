/* compare_published ROOT: prints tables of validate/ACCURACY.md. ROOT is the source tree. */
#include <stdio.h>

#include "ar_record.h"
#include "throughput.h"

#define LIKE                                                                                       \
    AR_COLUMN(count, struct ar_throughput, batch, "batch", "", .heading = "batch"),                \
        AR_COLUMN(number, struct ar_throughput, published, "published", "",                        \
                  .heading = "published"),                                                         \
        AR_COLUMN(number, struct ar_throughput, predicted, "model", "", .heading = "model"),       \
        AR_COLUMN(number, struct ar_throughput, error_frac, "error", "", .heading = "error (%)",   \
                  .factor = 100, .decimals = 1, .is_signed = true)

static const struct ar_column training_columns[] = {
    AR_COLUMN(string, struct ar_throughput, framework, "framework", "", .heading = "framework"),
    AR_COLUMN(string, struct ar_throughput, hardware, "machine", "", .heading = "machine"),
    AR_COLUMN(count, struct ar_throughput, gpus, "gpus", "", .heading = "GPUs"),
    AR_COLUMN(choice, struct ar_throughput, precision, "precision", "", .heading = "precision",
              .names = ar_precision_names),
    LIKE,
};

static const struct ar_column forward_columns[] = {LIKE};

#define SPREAD(field, name)                                                                        \
    AR_COLUMN(number, struct ar_gpu_spread, field, name, "", .heading = name, .decimals = 4)

static const struct ar_column spread_columns[] = {
    AR_COLUMN(count, struct ar_gpu_spread, rows_count, "rows", "", .heading = "rows"),
    SPREAD(median, "coefficient of variation"),
    SPREAD(low, "lower quartile"),
    SPREAD(high, "upper quartile"),
};

enum { ALL, ONE_GPU, NODES };

static void print_rows(const struct ar_throughput *rows, size_t count, int which,
                       struct ar_columns columns)
{
    struct ar_records table;
    ar_records_begin(&table, stdout, AR_VIEW(AR_FORMAT_MARKDOWN), columns);
    for (size_t i = 0; i < count; i++) {
        if (which == ALL || (which == ONE_GPU) == (rows[i].gpus == 1)) {
            ar_records_add(&table, &rows[i]);
        }
    }
    ar_records_end(&table);
}

static enum ar_status print_all(const char *root, struct ar_arena *arena, struct ar_error *err)
{
    struct ar_throughput *rows;
    size_t count;
    static const enum ar_precision published[] = {AR_FP16, AR_FP32};
    enum { PUBLISHED = sizeof published / sizeof published[0] };
    struct ar_gpu_spread spreads[PUBLISHED];
    AR_TRY(ar_throughput_training(root, arena, &rows, &count, err));
    puts("Training on one GPU, images/s\n");
    print_rows(rows, count, ONE_GPU, AR_COLUMNS(training_columns));
    puts("\nTraining on several GPUs of a node, images/s; the model has no communication\n");
    print_rows(rows, count, NODES, AR_COLUMNS(training_columns));
    for (int i = 0; i < PUBLISHED; i++) {
        AR_TRY(ar_gpu_spread_estimate(rows, count, published[i], arena, &spreads[i], err));
    }
    puts("\nSpread of the GPUs of a node in fp16 and fp32\n");
    ar_records_write(stdout, AR_VIEW(AR_FORMAT_MARKDOWN), AR_COLUMNS(spread_columns), spreads,
                     PUBLISHED, sizeof spreads[0]);
    AR_TRY(ar_throughput_forward_only(root, arena, &rows, &count, err));
    puts("\nForward only, one GPU, fp16, images/s\n");
    print_rows(rows, count, ALL, AR_COLUMNS(forward_columns));
    return AR_OK;
}

int main(int argc, char **argv)
{
    struct ar_error err;
    struct ar_arena arena = {NULL};
    if (argc != 2) {
        fprintf(stderr, "usage: compare_published ROOT\n");
        return ar_status_exit_code(AR_USAGE);
    }
    enum ar_status status = print_all(argv[1], &arena, &err);
    ar_arena_end(&arena);
    if (status != AR_OK) {
        fprintf(stderr, "compare_published: %s\n", err.text);
    }
    return ar_status_exit_code(status);
}
