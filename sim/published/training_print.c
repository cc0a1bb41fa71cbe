/* Runs as table, CSV and JSON. */
#include <math.h>
#include <string.h>

#include "ar_text.h"
#include "training.h"

/* A phase or the total, as it is written. */
struct line {
#define X(kind, name, help) ar_cell_##kind name;
    TRAINING_COLUMN_LIST(X)
#undef X
    char epochs[48]; /* what follows is for tables */
    char clock[48];
    double compute_frac, exposed_frac, other_frac, evaluation_frac;
};

static const struct ar_column line_list[] = {
#define X(kind, field, help) AR_COLUMN(kind, struct line, field, #field, help),
    TRAINING_COLUMN_LIST(X)
#undef X
};

/* clang-format off */
#define SHOWN(kind, field, ...) AR_COLUMN(kind, struct line, field, #field, "", __VA_ARGS__)
#define SHARE(field, heading_) SHOWN(number, field, .heading = heading_, .factor = 100, .decimals = 1)
static const struct ar_column table_list[] = {
    SHOWN(text,   run,             .heading = "run"),
    SHOWN(count,  gpus,            .heading = "gpus"),
    SHOWN(text,   phase,           .heading = "phase"),
    SHOWN(text,   epochs,          .heading = "epochs"),
    SHOWN(count,  batch_per_gpu,   .heading = "batch/GPU"),
    SHOWN(count,  batch_total,     .heading = "batch"),
    SHOWN(number, steps_count,     .heading = "steps", .decimals = AR_DECIMALS_NEEDED),
    SHOWN(number, iteration_s,     .heading = "iteration\n(ms)", .factor = 1e3, .decimals = 3),
    SHOWN(number, images_per_s,    .heading = "images/s"),
    SHOWN(number, efficiency_frac, .heading = "efficiency\n(%)", .factor = 100, .decimals = 2),
    SHOWN(number, time_s,          .heading = "time (s)", .decimals = 3),
    SHOWN(text,   clock,           .heading = "(min:s)"),
    SHARE(compute_frac, "compute\n(%)"),
    SHARE(exposed_frac, "exposed\n(%)"),
    SHARE(other_frac, "other\n(%)"),
    SHARE(evaluation_frac, "evaluation\n(%)"),
};
/* clang-format on */

#define COPY(field) ar_copy_text(line.field, sizeof line.field, row->field)

/* `phase` 0 is the first one; phases_count is the total, which shares what all phases share. */
static struct line make_line(const struct training *training, size_t index)
{
    bool is_total = index == training->phases_count;
    const struct training_phase *phase = is_total ? &training->total : &training->phases[index];
    const struct ar_row *row = &training->rows[is_total ? 0 : index];
    struct line line = {.gpus = training->gpus,
                        .first_epoch = phase->first_epoch,
                        .last_epoch = phase->last_epoch,
                        .batch_per_gpu = phase->batch_per_gpu,
                        .batch_total = phase->batch_total,
                        .steps_count = phase->steps_count,
                        .iteration_s = phase->iteration_s,
                        .images_per_s = phase->images_per_s,
                        .efficiency_frac = phase->efficiency_frac,
                        .time_s = phase->time_s,
                        .compute_s = phase->compute_s,
                        .exposed_s = phase->exposed_s,
                        .other_s = phase->other_s,
                        .evaluation_s = phase->evaluation_s,
                        .evaluation_images_per_s = phase->evaluation_images_per_s};
    ar_copy_text(line.run, sizeof line.run, training->name);
    snprintf(line.phase, sizeof line.phase, "%zu", index + 1);
    if (is_total) {
        ar_copy_text(line.phase, sizeof line.phase, "total");
    }
    COPY(cluster);
    COPY(algorithm);
    COPY(shape);
    COPY(trace);
    COPY(precision);
    COPY(engine);
    COPY(baseline);
    COPY(settings);
    COPY(version);
    return line;
}

struct ar_columns training_columns(enum ar_format format)
{
    return format == AR_FORMAT_TABLE ? AR_COLUMNS(table_list) : AR_COLUMNS(line_list);
}

/* What only a table has. */
static void show_line(struct line *line)
{
    double tenths = round(line->time_s * 10); /* 59.97 s are 1:00.0 */
    double minutes = floor(tenths / 600);
    snprintf(line->epochs, sizeof line->epochs, "%g-%g", line->first_epoch, line->last_epoch);
    snprintf(line->clock, sizeof line->clock, "%.0f:%04.1f", minutes,
             (tenths - 600 * minutes) / 10);
    line->compute_frac = line->compute_s / line->time_s;
    line->exposed_frac = line->exposed_s / line->time_s;
    line->other_frac = line->other_s / line->time_s;
    line->evaluation_frac = line->evaluation_s / line->time_s;
}

void training_write(struct ar_records *records, const struct training *training)
{
    for (size_t i = 0; i <= training->phases_count; i++) {
        struct line line = make_line(training, i);
        show_line(&line);
        ar_records_add(records, &line);
    }
}
