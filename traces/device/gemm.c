/* Matrix products and attention by the laws of ar_device_cost.h. */
#include <math.h>

#include "ar_device_cost.h"

enum { PART_MIN = 4096 }; /* depth of a part of k; products up to it were measured to run in one */

static double value(const struct ar_device_cost *cost, enum ar_precision precision,
                    enum ar_cost quantity)
{
    return cost->value[quantity][precision];
}

static double stored_bytes(enum ar_precision precision)
{
    return ar_precision_bytes(ar_precision_stored(precision));
}

static double floored_s(const struct ar_device_cost *cost, enum ar_precision precision,
                        double time_s)
{
    return fmax(time_s, value(cost, precision, AR_COST_KERNEL_FLOOR));
}

/* The multiprocessors' time with tiles of rows x columns and k in `parts`. */
static double tiles_s(const struct ar_device_cost *cost, enum ar_precision precision,
                      const struct ar_gemm *gemm, double rows, double columns, double parts)
{
    double processors = value(cost, precision, AR_COST_MULTIPROCESSORS);
    double rate = value(cost, precision, AR_COST_GEMM_EFFICIENCY) *
                  value(cost, precision, AR_COST_PEAK) / processors;
    double edge = value(cost, precision, AR_COST_GEMM_EDGE);
    double slow = (1 + edge * (1 / rows + 1 / columns)) / (1 + edge * (1.0 / 256 + 1.0 / 128));
    double tiles = (double)gemm->count * ceil((double)gemm->m / rows) *
                   ceil((double)gemm->n / columns) * parts;
    double depth = (double)gemm->k / parts + value(cost, precision, AR_COST_GEMM_DEPTH);
    return ceil(tiles / processors) * 2 * rows * columns * depth * slow / rate;
}

double ar_device_product_s(const struct ar_device_cost *cost, enum ar_precision precision,
                           const struct ar_gemm *gemm, double bytes)
{
    static const double tiles[][2] = {{256, 128}, {128, 256}, {128, 128},
                                      {128, 64},  {64, 128},  {64, 64}};
    double best_s = INFINITY;
    double sums = (double)gemm->count * (double)gemm->m * (double)gemm->n;
    for (double parts = 1; parts == 1 || (double)gemm->k / parts >= PART_MIN; parts *= 2) {
        double partial_bytes = parts > 1 ? 2 * parts * sums * ar_precision_bytes(AR_FP32) : 0;
        double traffic_s = (bytes + partial_bytes) / value(cost, precision, AR_COST_MEMORY);
        for (size_t i = 0; i < sizeof tiles / sizeof tiles[0]; i++) {
            double time_s = tiles_s(cost, precision, gemm, tiles[i][0], tiles[i][1], parts);
            best_s = fmin(best_s, fmax(time_s, traffic_s));
        }
    }
    return value(cost, precision, AR_COST_GEMM_FIXED) + best_s;
}

double ar_device_gemm_s(const struct ar_device_cost *cost, enum ar_precision precision,
                        const struct ar_gemm *gemm)
{
    double operands = ((double)gemm->m + (double)gemm->n) * (double)gemm->k;
    double products = (double)gemm->m * (double)gemm->n;
    double bytes = (double)gemm->count *
                   (operands * ar_precision_bytes(precision) + products * stored_bytes(precision));
    return floored_s(cost, precision, ar_device_product_s(cost, precision, gemm, bytes));
}

double ar_device_attention_s(const struct ar_device_cost *cost, enum ar_precision precision,
                             const struct ar_attention *attention)
{
    double pairs = (double)attention->queries * (double)attention->keys;
    double flop = 4 * (double)attention->count * pairs * (double)attention->head_elements *
                  (attention->is_causal ? 0.5 : 1) * (attention->is_backward ? 2.5 : 1);
    double efficiency =
        value(cost, precision,
              attention->is_backward ? AR_COST_ATTENTION_BACKWARD : AR_COST_ATTENTION_FORWARD);
    return floored_s(cost, precision, flop / (efficiency * value(cost, precision, AR_COST_PEAK)));
}

double ar_device_memory_s(const struct ar_device_cost *cost, enum ar_precision precision,
                          double bytes)
{
    return floored_s(cost, precision, bytes / value(cost, precision, AR_COST_MEMORY));
}

double ar_device_peak_flops(const struct ar_device_cost *cost, enum ar_precision precision)
{
    return value(cost, precision, AR_COST_PEAK);
}
