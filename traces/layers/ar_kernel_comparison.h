/** \file ar_kernel_comparison.h
 * Single kernels as they were measured, beside what cost tables say of them.
 *
 * A file is a CSV of matrix products, with the columns `gpu,precision,m,n,k,time_s`, or of causal
 * attention of whole sequences, forward: `gpu,precision,batch,sequence,heads,kv_heads,
 * head_elements,time_s` (kv_heads 0: as many as heads); or `device` for gpu, `dtype` for precision,
 * `batch_size`, `seq_len`, `num_heads`, `num_kv_heads` and `head_dim` for the sizes of attention.
 * `gpu` is the name of a cost table, or a100, h100, h200. Kernels ran one by one, so the table is
 * that of ar_device_cost_single(); products in a precision narrower than what is stored include the
 * cast of their m x k. Errors are predicted / measured - 1.
 */
#pragma once

#include "ar_csv.h"
#include "ar_device_cost.h"

/** One measured kernel. */
struct ar_measured_kernel {
    const char *gpu; /**< as in the file */
    enum ar_precision precision;
    uint64_t m, n, k;                                         /**< of a product; of attention 0 */
    uint64_t batch, sequence, heads, kv_heads, head_elements; /**< of attention; of a product 0 */
    double time_s;
};

struct ar_measured_kernels {
    const struct ar_csv *csv; /**< for error lines; its rows are those of the list */
    struct ar_measured_kernel *list;
    size_t count;
    bool are_attention;
};

/** Whether a file has the columns of one of both tables. */
bool ar_kernels_are_in(const struct ar_csv *csv);

/** Reads such a file. AR_BAD_DATA where a cell is wrong, or there is no row. */
enum ar_status ar_measured_kernels_read(const struct ar_csv *csv,
                                        struct ar_measured_kernels *kernels, struct ar_error *err);

/** The name of the cost table of the `gpu` of a row. */
const char *ar_kernel_cost_name(const char *gpu);

/** Errors of the rows of one GPU and precision, as they are written. */
struct ar_kernel_error {
    ar_cell_string gpu, precision;
    ar_cell_string kind; /**< product, attention */
    ar_cell_count count;
    ar_cell_number median_frac; /**< median of the absolute errors */
    ar_cell_number mean_frac;   /**< mean of the signed errors */
    ar_cell_number p95_frac;    /**< 95th percentile of the absolute errors */
};

extern const struct ar_columns ar_kernel_error_columns;

/** Sums up the errors of the rows that are of the GPU and precision of `first`; `errors` has room
 * for as many as there are kernels. */
struct ar_kernel_error ar_kernel_error_of(const struct ar_measured_kernels *kernels,
                                          const struct ar_measured_kernel *first,
                                          const struct ar_device_cost *single, double *errors);
