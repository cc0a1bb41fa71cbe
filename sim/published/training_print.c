/* Runs as table, CSV and JSON. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "ar_text.h"
#include "training.h"

/* A phase or the total, as it is written. */
struct line {
#define X(kind, name, help) ar_cell_##kind name;
    TRAINING_COLUMN_LIST(X)
#undef X
};

static const struct ar_column line_list[] = {
#define X(kind, field, help) AR_COLUMN(kind, struct line, field, #field, help),
    TRAINING_COLUMN_LIST(X)
#undef X
};

static const struct ar_columns line_columns = {line_list, sizeof line_list / sizeof line_list[0]};

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

static const char *show_count(uint64_t count, char text[24])
{
    snprintf(text, 24, count == AR_ROW_NO_COUNT ? "-" : "%" PRIu64, count);
    return text;
}

static void write_table(FILE *file, const struct line *line)
{
    char epochs[48];
    char batch[24];
    char total[24];
    char clock[48];
    double tenths = round(line->time_s * 10); /* 59.97 s are 1:00.0 */
    double minutes = floor(tenths / 600);
    double percent = 100 / line->time_s;
    snprintf(epochs, sizeof epochs, "%g-%g", line->first_epoch, line->last_epoch);
    snprintf(clock, sizeof clock, "%.0f:%04.1f", minutes, (tenths - 600 * minutes) / 10);
    fprintf(file, "%-20s %6" PRIu64 " %-5s %11s %9s %12s %10.10g %14.3f %12.0f %14.2f", line->run,
            line->gpus, line->phase, epochs, show_count(line->batch_per_gpu, batch),
            show_count(line->batch_total, total), line->steps_count, line->iteration_s * 1e3,
            line->images_per_s, line->efficiency_frac * 100);
    fprintf(file, " %12.3f %10s %11.1f %11.1f %9.1f %14.1f\n", line->time_s, clock,
            line->compute_s * percent, line->exposed_s * percent, line->other_s * percent,
            line->evaluation_s * percent);
}

void training_write_begin(FILE *file, enum ar_format format)
{
    if (format == AR_FORMAT_CSV) {
        struct ar_records records; /* the header alone: runs follow one by one */
        ar_records_begin(&records, file, format, line_columns);
    } else if (format == AR_FORMAT_JSON) {
        fputc('[', file);
    } else {
        fprintf(file,
                "%-20s %6s %-5s %11s %9s %12s %10s %14s %12s %14s %12s %10s %11s %11s %9s %14s\n",
                "run", "gpus", "phase", "epochs", "batch/GPU", "batch", "steps", "iteration (ms)",
                "images/s", "efficiency (%)", "time (s)", "(min:s)", "compute (%)", "exposed (%)",
                "other (%)", "evaluation (%)");
    }
}

void training_write(FILE *file, enum ar_format format, const struct training *training,
                    bool is_first)
{
    for (size_t i = 0; i <= training->phases_count; i++) {
        const struct line line = make_line(training, i);
        if (format == AR_FORMAT_CSV) {
            ar_record_write_line(file, line_columns, &line);
        } else if (format == AR_FORMAT_JSON) {
            fputs(is_first && i == 0 ? "\n  " : ",\n  ", file);
            ar_json_object(file, line_columns, &line);
        } else {
            write_table(file, &line);
        }
    }
}

void training_write_end(FILE *file, enum ar_format format, bool is_empty)
{
    if (format == AR_FORMAT_JSON) {
        fputs(is_empty ? "]\n" : "\n]\n", file);
    }
}
