/* compare_published ROOT: prints the tables of accuracy in README.md. ROOT is the source tree. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "gpu_spread.h"

static void print_training(const struct ar_throughput *rows, size_t rows_count, int one_gpu)
{
    printf("| framework | machine | GPUs | precision | batch | published | model | error |\n"
           "|---|---|--:|---|--:|--:|--:|--:|\n");
    for (size_t i = 0; i < rows_count; i++) {
        const struct ar_throughput *row = &rows[i];
        if ((row->gpus == 1) == (one_gpu != 0)) {
            printf("| %s | %s | %" PRIu32 " | %s | %" PRIu32 " | %.0f | %.0f | %+.1f %% |\n",
                   row->framework, row->hardware, row->gpus, ar_precision_name(row->precision),
                   row->batch, row->published, row->predicted, 100 * ar_throughput_error_frac(row));
        }
    }
}

static void print_forward_only(const struct ar_throughput *rows, size_t rows_count)
{
    printf("| batch | published | model | error |\n|--:|--:|--:|--:|\n");
    for (size_t i = 0; i < rows_count; i++) {
        printf("| %" PRIu32 " | %.0f | %.0f | %+.1f %% |\n", rows[i].batch, rows[i].published,
               rows[i].predicted, 100 * ar_throughput_error_frac(&rows[i]));
    }
}

static enum ar_status print_spread(const struct ar_throughput *rows, size_t rows_count,
                                   struct ar_error *err)
{
    static const enum ar_precision precisions[] = {AR_FP16, AR_FP32};
    printf("| precision | rows | coefficient of variation | quartiles |\n|---|--:|--:|--:|\n");
    for (size_t i = 0; i < 2; i++) {
        struct ar_gpu_spread spread;
        enum ar_status status =
            ar_gpu_spread_estimate(rows, rows_count, precisions[i], &spread, err);
        if (status != AR_OK) {
            return status;
        }
        printf("| %s | %zu | %.4f | %.4f to %.4f |\n", ar_precision_name(precisions[i]),
               spread.rows_count, spread.median, spread.low, spread.high);
    }
    return AR_OK;
}

static enum ar_status print_all(const char *root, struct ar_error *err)
{
    struct ar_throughput *rows;
    size_t rows_count;
    enum ar_status status = ar_throughput_training(root, &rows, &rows_count, err);
    if (status != AR_OK) {
        return status;
    }
    printf("Training on one GPU, images/s\n\n");
    print_training(rows, rows_count, 1);
    printf("\nTraining on several GPUs of a node, images/s; the model has no communication\n\n");
    print_training(rows, rows_count, 0);
    printf("\nSpread of the GPUs of a node (gpu_spread.h)\n\n");
    status = print_spread(rows, rows_count, err);
    free(rows);
    if (status != AR_OK) {
        return status;
    }
    status = ar_throughput_forward_only(root, &rows, &rows_count, err);
    if (status != AR_OK) {
        return status;
    }
    printf("\nForward only, one GPU, fp16, images/s\n\n");
    print_forward_only(rows, rows_count);
    free(rows);
    return AR_OK;
}

int main(int argc, char **argv)
{
    struct ar_error err;
    if (argc != 2) {
        fprintf(stderr, "usage: compare_published ROOT\n");
        return ar_status_exit_code(AR_USAGE);
    }
    enum ar_status status = print_all(argv[1], &err);
    if (status != AR_OK) {
        fprintf(stderr, "compare_published: %s\n", err.text);
    }
    return ar_status_exit_code(status);
}
