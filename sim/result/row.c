#include "ar_row.h"

/* clang-format off */
#define SHOWN(kind, field, ...) AR_COLUMN(kind, struct ar_row, field, #field, "", __VA_ARGS__)

static const struct ar_column all_columns[] = {
#define X(kind, field, help) AR_COLUMN(kind, struct ar_row, field, #field, help),
    AR_COLUMN_LIST(X)
#undef X
};

static const struct ar_column bare_columns[] = {
    SHOWN(count,  gpus,           .heading = "gpus"),
    SHOWN(text,   algorithm,      .heading = "algorithm"),
    SHOWN(text,   shape,          .heading = "shape", .is_rare = true),
    SHOWN(count,  channels,       .heading = "channels", .is_rare = true),
    SHOWN(text,   engine,         .heading = "engine"),
    SHOWN(count,  payload_bytes,  .heading = "payload (B)"),
    SHOWN(number, allreduce_s,    .heading = "time (us)", .factor = 1e6, .decimals = 2),
    SHOWN(number, low_s,          .heading = "low (us)", .factor = 1e6, .decimals = 2, .is_rare = true),
    SHOWN(number, high_s,         .heading = "high (us)", .factor = 1e6, .decimals = 2, .is_rare = true),
    SHOWN(number, algbw_Bps,      .heading = "algbw\nGB/s", .factor = 1e-9, .decimals = 3),
    SHOWN(number, busbw_Bps,      .heading = "busbw\nGB/s", .factor = 1e-9, .decimals = 3),
    SHOWN(count,  messages_count, .heading = "messages", .is_rare = true),
    SHOWN(text,   status,         .heading = "status", .usual = "ok", .is_rare = true),
};

static const struct ar_column step_columns[] = {
    SHOWN(count,  gpus,            .heading = "gpus"),
    SHOWN(text,   algorithm,       .heading = "algorithm"),
    SHOWN(text,   shape,           .heading = "shape", .is_rare = true),
    SHOWN(text,   engine,          .heading = "engine"),
    SHOWN(number, iteration_s,     .heading = "iteration\n(ms)", .factor = 1e3, .decimals = 3),
    SHOWN(number, low_s,           .heading = "low\n(ms)", .factor = 1e3, .decimals = 3, .is_rare = true),
    SHOWN(number, high_s,          .heading = "high\n(ms)", .factor = 1e3, .decimals = 3, .is_rare = true),
    SHOWN(number, compute_s,       .heading = "compute\n(ms)", .factor = 1e3, .decimals = 3),
    SHOWN(number, allreduce_s,     .heading = "allreduce\n(ms)", .factor = 1e3, .decimals = 3),
    SHOWN(number, exposed_s,       .heading = "exposed\n(ms)", .factor = 1e3, .decimals = 3),
    SHOWN(number, images_per_s,    .heading = "images/s", .decimals = 0),
    SHOWN(number, efficiency_frac, .heading = "efficiency\n(%)", .factor = 100, .decimals = 2),
    SHOWN(text,   baseline,        .heading = "of one"),
    SHOWN(text,   status,          .heading = "status", .usual = "ok", .is_rare = true),
};
/* clang-format on */

const struct ar_columns ar_row_columns = {all_columns, sizeof all_columns / sizeof all_columns[0]};

struct ar_columns ar_row_columns_of(enum ar_format format, bool are_bare)
{
    if (format == AR_FORMAT_CSV || format == AR_FORMAT_JSON) {
        return ar_row_columns;
    }
    return are_bare ? AR_COLUMNS(bare_columns) : AR_COLUMNS(step_columns);
}

void ar_row_clear(struct ar_row *row)
{
    ar_record_clear(ar_row_columns, row);
}

enum ar_status ar_rows_write(FILE *file, enum ar_format format, const struct ar_row *rows,
                             size_t count, struct ar_error *err)
{
    bool are_bare = count > 0 && rows[0].trace[0] == '\0';
    return ar_records_write(file, format, ar_row_columns_of(format, are_bare), rows, count,
                            sizeof *rows, err);
}
