/* The rows of a sweep on stdout: all, or the best. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sweep_files.h"

/* Which axes a table shows in front, and how wide. */
struct front {
    const struct axes *axes;
    size_t axis[AXES_MAX];
    int width[AXES_MAX];
    size_t count;
};

/* The value without its `KEY=`, which is the head of the column. */
static const char *plain(const struct axis *axis, const char *value)
{
    size_t length = strlen(axis->name);
    const char *equals = strchr(value, '=');
    return equals != NULL && strncmp(value, axis->name, length) == 0 ? equals + 1 : value;
}

static struct front make_front(const struct axes *axes, enum ar_row_format format)
{
    struct front front = {.axes = axes};
    for (size_t i = 0; format == AR_ROW_TABLE && i < axes->count; i++) {
        const struct axis *axis = &axes->list[i];
        if (axis->count < 2 || strcmp(axis->name, "engine") == 0) {
            continue;
        }
        int width = (int)strlen(axis->name);
        for (size_t j = 0; j < axis->count; j++) {
            int length = (int)strlen(plain(axis, axis->values[j]));
            width = length > width ? length : width;
        }
        front.axis[front.count] = i;
        front.width[front.count++] = width;
    }
    return front;
}

static void print_front_head(const struct front *front)
{
    for (size_t i = 0; i < front->count; i++) {
        printf("%*s ", front->width[i], front->axes->list[front->axis[i]].name);
    }
}

static void print_front(const struct front *front, uint32_t variant, bool is_bare)
{
    for (size_t i = 0; i < front->count; i++) {
        const struct axis *axis = &front->axes->list[front->axis[i]];
        const char *value = plain(axis, axes_value(front->axes, front->axis[i], variant));
        printf("%*s ", front->width[i], is_bare && axis->is_of_steps ? "-" : value);
    }
}

/* Prints one row after the other; the first one begins with what comes before all. */
struct printer {
    const struct space *space;
    const struct journal *journal;
    enum ar_row_format format;
    struct front front;
    size_t printed;
    bool is_bare; /* of the table begun last */
};

static enum ar_status print_row(struct printer *printer, uint32_t point, bool *is_estimate,
                                struct ar_error *err)
{
    struct ar_row row;
    bool is_bare = point >= printer->space->steps_count;
    AR_TRY(journal_read_row(printer->journal, point, &row, err));
    if (printer->format == AR_ROW_TABLE && printer->printed > 0 && is_bare != printer->is_bare) {
        putchar('\n');
    }
    if (printer->printed == 0 || (printer->format == AR_ROW_TABLE && is_bare != printer->is_bare)) {
        print_front_head(&printer->front);
        ar_rows_begin(stdout, printer->format, is_bare);
    }
    print_front(&printer->front, printer->space->points[point].variant, is_bare);
    ar_rows_add(stdout, printer->format, &row, printer->printed == 0);
    *is_estimate = strstr(row.engine_options, " approximate") != NULL;
    printer->is_bare = is_bare;
    printer->printed++;
    return AR_OK;
}

static struct printer begin(const struct space *space, const struct journal *journal,
                            enum ar_row_format format)
{
    return (struct printer){.space = space,
                            .journal = journal,
                            .format = format,
                            .front = make_front(&space->variants.axes, format)};
}

/* Nothing printed yet is an empty list, which has a head too. */
static void end(const struct printer *printer)
{
    if (printer->printed == 0) {
        ar_rows_begin(stdout, printer->format, false);
    }
    ar_rows_end(stdout, printer->format, printer->printed == 0);
}

enum ar_status sweep_print(const struct space *space, const struct journal *journal,
                           enum ar_row_format format, size_t *estimates, struct ar_error *err)
{
    struct printer printer = begin(space, journal, format);
    enum ar_status status = AR_OK;
    *estimates = 0;
    for (uint32_t i = 0; status == AR_OK && !ferror(stdout) && i < space->points_count; i++) {
        bool is_estimate = false;
        status = print_row(&printer, i, &is_estimate, err);
        *estimates += is_estimate;
    }
    end(&printer);
    return status;
}

/* The fastest step of a GPU count under a condition. */
struct best {
    uint32_t point;
    double iteration_s; /* INFINITY: none yet */
};

static size_t find_count(const struct space *space, uint64_t gpus)
{
    size_t index = 0;
    while (index + 1 < space->gpus_count && space->gpus[index] != gpus) {
        index++;
    }
    return index;
}

static enum ar_status find_best(const struct space *space, const struct journal *journal,
                                struct best *bests, struct ar_error *err)
{
    enum ar_status status = AR_OK;
    for (uint32_t i = 0; status == AR_OK && i < space->steps_count; i++) {
        struct ar_row row;
        const struct point *point = &space->points[i];
        size_t condition = axes_condition(&space->variants.axes, point->variant);
        struct best *best = &bests[condition * space->gpus_count +
                                   find_count(space, ar_shape_ranks(&point->shape))];
        if (!journal->is_ok[i]) {
            continue;
        }
        status = journal_read_row(journal, i, &row, err);
        if (status == AR_OK && row.iteration_s < best->iteration_s) {
            *best = (struct best){i, row.iteration_s};
        }
    }
    return status;
}

enum ar_status sweep_print_best(const struct space *space, const struct journal *journal,
                                enum ar_row_format format, struct ar_error *err)
{
    struct printer printer = begin(space, journal, format);
    size_t count = space->variants.axes.variants_count * space->gpus_count;
    struct best *bests = malloc(count * sizeof *bests);
    if (bests == NULL) {
        return ar_error_no_memory(err, "the best rows");
    }
    for (size_t i = 0; i < count; i++) {
        bests[i].iteration_s = INFINITY;
    }
    enum ar_status status = find_best(space, journal, bests, err);
    for (size_t i = 0; status == AR_OK && i < count; i++) {
        bool is_estimate;
        if (isfinite(bests[i].iteration_s)) {
            status = print_row(&printer, bests[i].point, &is_estimate, err);
        }
    }
    end(&printer);
    free(bests);
    return status;
}
