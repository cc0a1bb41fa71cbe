/* The shipped ResNet-50 beside published throughput of V100 nodes, without communication. */
#include <math.h>

#include "ar_csv.h"
#include "test_traces.h"

struct published {
    const char *framework;
    enum ar_precision precision;
    uint32_t batch, gpus; /* batch 0: not stated */
    double images_per_s;
};

static const struct ar_column columns[] = {
    AR_COLUMN(string, struct published, framework, "framework", ""),
    AR_COLUMN(choice, struct published, precision, "precision", "", .names = ar_precision_names),
    AR_COLUMN(count, struct published, batch, "batch_per_gpu", "", .may_be_empty = true),
    AR_COLUMN(count, struct published, gpus, "gpus", ""),
    AR_COLUMN(number, struct published, images_per_s, "images_per_s", ""),
    AR_COLUMN_OTHERS,
};

Test(throughput, mxnet_and_single_precision_are_met_within_10_to_14_percent)
{
    size_t of_one = 0, of_nodes = 0;
    struct ar_csv *csv;
    TEST_OK(ar_csv_load(AR_TEST_SOURCE_DIR "/validate/data/v100_resnet50_training.csv", &test_arena,
                        &csv, &why));
    struct published *rows;
    TEST_OK(ar_csv_read_rows(csv, AR_COLUMNS(columns), NULL, &rows, &why));
    AR_EACH(const struct published, row, rows, csv->rows_count) {
        if (row->batch == 0) {
            continue;
        }
        struct ar_trace *trace = test_resnet50(
            (struct ar_trace_request){.batch = row->batch, .precision = row->precision});
        double error = row->gpus * row->batch / ar_trace_compute_s(trace) / row->images_per_s - 1;
        bool is_mxnet = strncmp(row->framework, "MXNet", 5) == 0;
        if (row->gpus == 1) {
            double most = is_mxnet ? 0.10 : row->precision == AR_FP32 ? 0.13 : INFINITY;
            cr_expect_lt(fabs(error), most, "%s batch %u: %.3f", row->framework, row->batch, error);
            of_one += is_mxnet;
        } else if (is_mxnet) {
            cr_expect(error > -0.08 && error < 0.14, "%u GPUs, batch %u: %.3f", row->gpus,
                      row->batch, error);
            of_nodes++;
        }
    }
    cr_expect_eq(of_one, 10);
    cr_expect_eq(of_nodes, 32);
}
