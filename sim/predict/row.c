#include "ar_row.h"

/* clang-format off */
#define SHOWN(kind, field, ...) AR_COLUMN(kind, struct ar_row, field, #field, "", __VA_ARGS__)

static const struct ar_column all_columns[] = {
#define X(kind, field, help) AR_COLUMN(kind, struct ar_row, field, #field, help),
    AR_COLUMN_LIST(X)
#undef X
};

#define ESTIMATE \
    SHOWN(flag, exact, .heading = "", .is_rare = true, .mark = "~", \
          .legend = "an estimate: the engine neglects something here; --engine simgrid simulates")

/* Behind the columns that a table shows, the others, for those who ask for them. */
static const struct ar_column bare_columns[] = {
    SHOWN(count,  gpus,           .heading = "gpus"),
    SHOWN(text,   mesh,           .heading = "mesh", .is_rare = true, .priority = 7),
    SHOWN(text,   along,          .heading = "along", .is_rare = true),
    SHOWN(count,  groups,         .heading = "groups", .is_rare = true, .priority = 5),
    SHOWN(count,  root,           .heading = "root", .is_rare = true, .priority = 7),
    SHOWN(text,   algorithm,      .heading = "algorithm"),
    SHOWN(text,   shape,          .heading = "shape", .is_rare = true),
    SHOWN(count,  channels,       .heading = "channels", .is_rare = true, .priority = 8),
    SHOWN(text,   engine,         .heading = "engine", .priority = 1),
    ESTIMATE,
    SHOWN(count,  payload_bytes,  .heading = "payload (B)"),
    SHOWN(number, allreduce_s,    .heading = "time (us)", .factor = 1e6, .decimals = 2),
    SHOWN(number, low_s,          .heading = "low (us)", .factor = 1e6, .decimals = 2, .is_rare = true, .priority = 3),
    SHOWN(number, high_s,         .heading = "high (us)", .factor = 1e6, .decimals = 2, .is_rare = true, .priority = 3),
    SHOWN(number, algbw_Bps,      .heading = "algbw\nGB/s", .factor = 1e-9, .decimals = 3, .priority = 4),
    SHOWN(number, busbw_Bps,      .heading = "busbw\nGB/s", .factor = 1e-9, .decimals = 3, .priority = 2),
    SHOWN(count,  messages_count, .heading = "messages", .is_rare = true, .priority = 9),
    SHOWN(text,   status,         .heading = "status", .usual = "ok", .is_rare = true),
#define X(kind, field, help) AR_COLUMN(kind, struct ar_row, field, #field, help),
    AR_COLUMN_LIST(X)
#undef X
};

static const struct ar_column step_columns[] = {
    SHOWN(count,  gpus,            .heading = "gpus"),
    SHOWN(text,   strategy,        .heading = "strategy", .usual = "data", .is_rare = true),
    SHOWN(text,   algorithm,       .heading = "algorithm", .is_rare = true),
    SHOWN(text,   shape,           .heading = "shape", .is_rare = true),
    SHOWN(text,   engine,          .heading = "engine", .priority = 1),
    ESTIMATE,
    SHOWN(number, iteration_s,     .heading = "iteration\n(ms)", .factor = 1e3, .decimals = 3),
    SHOWN(number, low_s,           .heading = "low\n(ms)", .factor = 1e3, .decimals = 3, .is_rare = true, .priority = 3),
    SHOWN(number, high_s,          .heading = "high\n(ms)", .factor = 1e3, .decimals = 3, .is_rare = true, .priority = 3),
    SHOWN(number, compute_s,       .heading = "compute\n(ms)", .factor = 1e3, .decimals = 3, .priority = 7),
    SHOWN(number, allreduce_s,     .heading = "allreduce\n(ms)", .factor = 1e3, .decimals = 3, .priority = 8),
    SHOWN(number, exposed_s,       .heading = "exposed\n(ms)", .factor = 1e3, .decimals = 3, .priority = 4),
    SHOWN(number, samples_per_s,    .heading = "samples/s", .decimals = 0, .priority = 2),
    SHOWN(number, efficiency_frac, .heading = "efficiency\n(%)", .factor = 100, .decimals = 2),
    SHOWN(text,   baseline,        .heading = "of one", .priority = 9),
    SHOWN(text,   status,          .heading = "status", .usual = "ok", .is_rare = true),
#define X(kind, field, help) AR_COLUMN(kind, struct ar_row, field, #field, help),
    AR_COLUMN_LIST(X)
#undef X
};
static const struct ar_column layout_columns[] = {
    SHOWN(text,   trace,           .heading = "workload", .priority = 6),
    SHOWN(count,  gpus,            .heading = "gpus"),
    SHOWN(text,   mesh,            .heading = "mesh"),
    SHOWN(text,   strategy,        .heading = "strategy", .priority = 10),
    SHOWN(text,   schedule,        .heading = "schedule", .priority = 11),
    SHOWN(count,  micro_batch,     .heading = "micro\nbatch", .priority = 8),
    SHOWN(text,   recompute,       .heading = "recompute", .priority = 12),
    SHOWN(text,   engine,          .heading = "engine", .priority = 13),
    ESTIMATE,
    SHOWN(number, iteration_s,     .heading = "iteration\n(s)", .decimals = 4),
    SHOWN(number, tokens_per_s,    .heading = "tokens/s", .decimals = 0, .priority = 3),
    SHOWN(number, tflops_per_gpu,  .heading = "Tflop/s\nper gpu", .decimals = 1, .priority = 1),
    SHOWN(number, mfu_frac,        .heading = "mfu\n(%)", .factor = 100, .decimals = 1, .priority = 2),
    SHOWN(number, bubble_frac,     .heading = "bubble\n(%)", .factor = 100, .decimals = 1, .priority = 4),
    SHOWN(number, exposed_pp_s,    .heading = "exposed\npp (s)", .decimals = 4, .priority = 9),
    SHOWN(number, exposed_dp_s,    .heading = "exposed\ndp (s)", .decimals = 4, .priority = 9),
    SHOWN(number, exposed_ep_s,    .heading = "exposed\nep (s)", .decimals = 4, .is_rare = true, .priority = 9),
    SHOWN(number, exposed_tp_s,    .heading = "exposed\ntp (s)", .decimals = 4, .priority = 9),
    SHOWN(number, memory_bytes,    .heading = "memory\n(GB)", .factor = 1e-9, .decimals = 1, .priority = 5),
    SHOWN(flag,   fits,            .heading = "", .is_rare = true, .mark = "!", .legend = "does not fit into gpu.memory"),
    SHOWN(text,   status,          .heading = "status", .usual = "ok", .is_rare = true),
#define X(kind, field, help) AR_COLUMN(kind, struct ar_row, field, #field, help),
    AR_COLUMN_LIST(X)
#undef X
};
static const struct ar_column placed_columns[] = {
    SHOWN(text,   trace,           .heading = "operators", .priority = 6),
    SHOWN(count,  gpus,            .heading = "gpus"),
    SHOWN(text,   mesh,            .heading = "mesh", .is_rare = true),
    SHOWN(text,   strategy,        .heading = "strategy", .priority = 5),
    SHOWN(text,   schedule,        .heading = "placement", .is_rare = true, .priority = 1),
    SHOWN(text,   engine,          .heading = "engine", .priority = 9),
    ESTIMATE,
    SHOWN(number, iteration_s,     .heading = "iteration\n(ms)", .factor = 1e3, .decimals = 3),
    SHOWN(number, compute_s,       .heading = "compute\n(ms)", .factor = 1e3, .decimals = 3, .priority = 7),
    SHOWN(number, exposed_s,       .heading = "exposed\n(ms)", .factor = 1e3, .decimals = 3, .priority = 4),
    SHOWN(number, bubble_s,        .heading = "waiting\n(ms)", .factor = 1e3, .decimals = 3, .priority = 4),
    SHOWN(number, samples_per_s,   .heading = "samples/s", .decimals = 1, .is_rare = true, .priority = 2),
    SHOWN(number, efficiency_frac, .heading = "efficiency\n(%)", .factor = 100, .decimals = 2, .is_rare = true),
    SHOWN(count,  messages_count,  .heading = "messages", .priority = 8),
    SHOWN(number, memory_bytes,    .heading = "memory\n(GB)", .factor = 1e-9, .decimals = 2, .is_rare = true, .priority = 3),
    SHOWN(flag,   fits,            .heading = "", .is_rare = true, .mark = "!", .legend = "does not fit into gpu.memory"),
    SHOWN(text,   status,          .heading = "status", .usual = "ok", .is_rare = true),
#define X(kind, field, help) AR_COLUMN(kind, struct ar_row, field, #field, help),
    AR_COLUMN_LIST(X)
#undef X
};
/* clang-format on */

const struct ar_columns ar_row_columns = {all_columns, sizeof all_columns / sizeof all_columns[0]};

/* One collective has no trace, a step of a trace no global batch, one of operators no algorithm. */
enum ar_row_kind ar_row_kind_of(const struct ar_row *row)
{
    return row->trace[0] == '\0'                  ? AR_ROW_BARE
           : row->global_batch != AR_ROW_NO_COUNT ? AR_ROW_LAYOUT
           : row->bucket[0] == '\0' && (row->algorithm[0] == '\0' || row->baseline[0] == '\0')
               ? AR_ROW_PLACED
               : AR_ROW_STEP;
}

struct ar_columns ar_row_columns_of(const struct ar_view *view, enum ar_row_kind kind)
{
    if (view->format == AR_FORMAT_CSV || view->format == AR_FORMAT_JSON) {
        return ar_row_columns;
    }
    return kind == AR_ROW_BARE     ? AR_COLUMNS(bare_columns)
           : kind == AR_ROW_STEP   ? AR_COLUMNS(step_columns)
           : kind == AR_ROW_PLACED ? AR_COLUMNS(placed_columns)
                                   : AR_COLUMNS(layout_columns);
}

void ar_row_clear(struct ar_row *row)
{
    ar_record_clear(ar_row_columns, row);
}

void ar_rows_write(FILE *file, const struct ar_view *view, const struct ar_row *rows, size_t count)
{
    enum ar_row_kind kind = count > 0 ? ar_row_kind_of(&rows[0]) : AR_ROW_STEP;
    ar_records_write(file, view, ar_row_columns_of(view, kind), rows, count, sizeof *rows);
}
