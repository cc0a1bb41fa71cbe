/* Operators: making and ordering them; CSV files of them and of their placements. */
#include "ar_operators.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ar_csv.h"
#include "ar_numbers.h"
#include "ar_text.h"

enum ar_status ar_operators_create(const char *where, uint64_t count, struct ar_arena *arena,
                                   struct ar_operators **operators, struct ar_error *err)
{
    AR_REFUSE(count > AR_OPERATORS_MAX, err, AR_USAGE,
              "%s: found %" PRIu64 " operators; expected at most %d", where, count,
              AR_OPERATORS_MAX);
    *operators = ar_arena_alloc(arena, 1, sizeof **operators);
    **operators = (struct ar_operators){.path = where, .arena = arena};
    return AR_OK;
}

uint32_t ar_operators_add(struct ar_operators *operators, const struct ar_operator *op)
{
    struct ar_operator *made = AR_ARENA_ADD(operators->arena, operators->list, operators->count);
    *made = *op;
    made->needs_first = operators->needs_count;
    made->needs_count = 0;
    return operators->count - 1;
}

void ar_operators_need(struct ar_operators *operators, uint32_t other)
{
    *AR_ARENA_ADD(operators->arena, operators->needs, operators->needs_count) = other;
    operators->list[operators->count - 1].needs_count++;
}

static bool has_work(const struct ar_operator *op)
{
    return op->work_flop > 0 || op->work_bytes > 0;
}

void ar_operators_time(struct ar_operators *operators, const struct ar_device_cost *cost,
                       enum ar_precision precision)
{
    double rate_flops = ar_device_peak_flops(cost, precision) *
                        cost->value[AR_COST_GEMM_EFFICIENCY][precision] *
                        cost->value[AR_COST_GEMM_SUSTAINED][precision];
    AR_EACH(struct ar_operator, op, operators->list, operators->count) {
        double products_s = op->work_flop / rate_flops;
        double memory_s = ar_device_memory_s(cost, precision, op->work_bytes);
        if (has_work(op)) {
            op->time_s = products_s > memory_s ? products_s : memory_s;
        }
    }
}

/* --- the order -------------------------------------------------------------------------------- */

/* An operator on the way to the end. */
struct rank {
    double way_s;    /* from its start on, on the longest way */
    uint32_t level;  /* operators behind it, on the way that has most */
    uint32_t number; /* of the operator */
};

AR_ORDER(compare_ranks, struct rank, AR_FALLS(way_s), AR_FALLS(level), AR_RISES(number))

enum ar_status ar_operators_settle(struct ar_operators *operators, struct ar_arena *arena,
                                   struct ar_error *err)
{
    size_t count = (size_t)operators->count + 1;
    struct rank *ranks = ar_arena_alloc(arena, count, sizeof *ranks); /* by number */
    uint32_t *waiting = ar_arena_alloc(arena, count, sizeof *waiting);
    uint32_t *order = ar_arena_alloc(arena, count, sizeof *order);
    uint32_t found = 0;
    /* From the ends backwards: each operator once all that need it are done. */
    for (uint32_t i = 0; i < operators->needs_count; i++) {
        waiting[operators->needs[i]]++;
    }
    for (uint32_t i = 0; i < operators->count; i++) {
        ranks[i].number = i;
        order[found] = i;
        found += waiting[i] == 0;
    }
    for (uint32_t done = 0; done < found; done++) {
        const struct ar_operator *op = &operators->list[order[done]];
        struct rank *rank = &ranks[order[done]];
        rank->way_s += op->time_s;
        AR_EACH(const uint32_t, other, operators->needs + op->needs_first, op->needs_count) {
            struct rank *needed = &ranks[*other];
            needed->way_s = rank->way_s > needed->way_s ? rank->way_s : needed->way_s;
            needed->level = rank->level >= needed->level ? rank->level + 1 : needed->level;
            if (--waiting[*other] == 0) {
                order[found++] = *other;
            }
        }
    }
    for (uint32_t i = 0; found < operators->count; i++) {
        const struct ar_operator *op = &operators->list[i];
        AR_REFUSE(waiting[i] > 0, err, AR_BAD_DATA,
                  "%s:%" PRIu64
                  ": operators need each other in a circle, which needs \"%.60s\"; expected none",
                  operators->path, op->line, op->name != NULL ? op->name : "");
    }
    qsort(ranks, operators->count, sizeof *ranks, compare_ranks);
    for (uint32_t i = 0; i < operators->count; i++) {
        order[i] = ranks[i].number;
    }
    operators->order = order;
    return AR_OK;
}

double ar_operators_memory_bytes(const struct ar_operators *operators, const uint32_t *devices,
                                 uint32_t device)
{
    double bytes = 0;
    for (uint32_t i = 0; i < operators->count; i++) {
        bytes += devices[i] == device ? (double)operators->list[i].memory_bytes : 0;
    }
    return bytes;
}

/* --- files ------------------------------------------------------------------------------------ */

struct operator_row {
    struct ar_operator op;
    const char *needs;
};

#define BYTES_MAX              1e18 /* more than any memory */
#define CELL(kind, field, ...) AR_COLUMN(kind, struct operator_row, op.field, #field, __VA_ARGS__)
static const struct ar_column operator_columns[] = {
    CELL(string, name, "a name"),
    CELL(number, time_s, "seconds >= 0", .max = 1e9, .may_be_empty = true, .may_be_missing = true),
    CELL(number, work_flop, "floating-point operations >= 0", .max = 1e24, .may_be_empty = true,
         .may_be_missing = true),
    CELL(number, work_bytes, "bytes read and written >= 0", .max = BYTES_MAX, .may_be_empty = true,
         .may_be_missing = true),
    CELL(count, output_bytes, "", .max = BYTES_MAX),
    AR_COLUMN(string, struct operator_row, needs, "needs", "names of operators, joined by +",
              .may_be_empty = true),
    CELL(count, memory_bytes, "", .max = BYTES_MAX, .may_be_empty = true, .may_be_missing = true),
    AR_COLUMN(choice, struct operator_row, op.duty, "pass", "", .names = ar_duty_names,
              .may_be_empty = true, .may_be_missing = true),
};

struct placement_row {
    const char *op;
    uint64_t device;
};

static const struct ar_column placement_columns[] = {
    AR_COLUMN(string, struct placement_row, op, "operator", "the name of an operator"),
    AR_COLUMN(count, struct placement_row, device, "device", ""),
};

/* --- names ------------------------------------------------------------------------------------ */

/* Numbers of operators in the order of their names, for bsearch(). */
struct named {
    const char *name;
    uint32_t number;
};

AR_ORDER(compare_names, struct named, AR_SPELLS(name))

/* The names that lie in `count` structs of `size` bytes, from the first one on. */
static struct named *sort_names(const char *const *first, size_t size, uint32_t count,
                                struct ar_arena *arena)
{
    struct named *names = ar_arena_alloc(arena, count + 1u, sizeof *names);
    for (uint32_t i = 0; i < count; i++) {
        names[i] =
            (struct named){*(const char *const *)(const void *)((const char *)first + i * size), i};
    }
    qsort(names, count, sizeof *names, compare_names);
    return names;
}

static const struct named *find_name(const struct named *names, uint32_t count, const char *name)
{
    const struct named wanted = {.name = name};
    return bsearch(&wanted, names, count, sizeof *names, compare_names);
}

/* --- operators -------------------------------------------------------------------------------- */

static enum ar_status read_needs(const struct ar_csv *csv, uint32_t number, const char *text,
                                 const struct named *names, struct ar_operators *operators,
                                 struct ar_error *err)
{
    AR_EACH_PART(part, ar_arena_text(operators->arena, text), '+') {
        const struct named *need = find_name(names, (uint32_t)csv->rows_count, part);
        AR_CSV_REFUSE(need == NULL || need->number == number, csv, number, "needs", err,
                      need == NULL ? "names of operators; there is no \"%s\""
                                   : "names of others; \"%s\" is this one",
                      AR_SHOW_CELL(part));
        ar_operators_need(operators, need->number);
    }
    return AR_OK;
}

enum ar_status ar_operators_load(const char *path, struct ar_arena *arena,
                                 struct ar_operators **operators, struct ar_error *err)
{
    struct ar_csv *csv;
    struct ar_operators *made;
    AR_TRY(ar_csv_load(path, arena, &csv, err));
    AR_REFUSE(csv->rows_count == 0, err, AR_BAD_DATA,
              "%s: found no operators; expected at least one", path);
    const struct operator_row begin = {.op.time_s = NAN};
    struct operator_row *rows;
    AR_TRY(ar_csv_read_rows(csv, AR_COLUMNS(operator_columns), &begin, &rows, err));
    AR_TRY(ar_error_blame(ar_operators_create(csv->path, csv->rows_count, arena, &made, err),
                          AR_BAD_DATA, err));
    uint32_t count = (uint32_t)csv->rows_count;
    const struct named *names = sort_names(&rows[0].op.name, sizeof *rows, count, arena);
    for (uint32_t i = 1; i < count; i++) {
        if (strcmp(names[i - 1].name, names[i].name) == 0) {
            uint32_t later = names[i].number > names[i - 1].number ? i : i - 1;
            return ar_csv_error(csv, names[later].number, "name", err, "a name that is there once");
        }
    }
    for (uint32_t i = 0; i < count; i++) {
        struct ar_operator op = rows[i].op;
        bool is_by_work = has_work(&op);
        AR_REFUSE(is_by_work == !isnan(op.time_s), err, AR_BAD_DATA,
                  "%s:%" PRIu64
                  ": operator \"%.60s\" has %s; expected time_s, or work_flop and work_bytes",
                  csv->path, csv->lines[i], op.name,
                  is_by_work ? "a time and work" : "neither a time nor work");
        op.line = csv->lines[i];
        op.time_s = is_by_work ? 0 : op.time_s;
        ar_operators_add(made, &op);
        AR_TRY(rows[i].needs != NULL && rows[i].needs[0] != '\0'
                   ? read_needs(csv, i, rows[i].needs, names, made, err)
                   : AR_OK);
    }
    AR_TRY(ar_operators_settle(made, arena, err));
    *operators = made;
    return AR_OK;
}

/* --- placements ------------------------------------------------------------------------------- */

enum ar_status ar_placement_load(const char *path, const struct ar_operators *operators,
                                 uint32_t devices_count, struct ar_arena *arena, uint32_t **devices,
                                 struct ar_error *err)
{
    struct ar_csv *csv;
    AR_TRY(ar_csv_load(path, arena, &csv, err));
    struct placement_row *rows;
    const struct named *names =
        sort_names(&operators->list[0].name, sizeof *operators->list, operators->count, arena);
    uint32_t *made = ar_arena_room(arena, operators->count, sizeof *made);
    memset(made, 0xff, operators->count * sizeof *made); /* UINT32_MAX: no device yet */
    AR_TRY(ar_csv_read_rows(csv, AR_COLUMNS(placement_columns), NULL, &rows, err));
    for (size_t i = 0; i < csv->rows_count; i++) {
        const struct named *found = find_name(names, operators->count, rows[i].op);
        AR_CSV_REFUSE(found == NULL, csv, i, "operator", err, "an operator of %.120s",
                      operators->path);
        AR_CSV_REFUSE(made[found->number] != UINT32_MAX, csv, i, "operator", err,
                      "each operator once");
        AR_CSV_REFUSE(rows[i].device >= devices_count, csv, i, "device", err,
                      "a whole number from 0 to %" PRIu32 ", a GPU of --gpus", devices_count - 1);
        made[found->number] = (uint32_t)rows[i].device;
    }
    for (uint32_t i = 0; i < operators->count; i++) {
        AR_REFUSE(
            made[i] == UINT32_MAX, err, AR_BAD_DATA,
            "%s: operator \"%.60s\" is on no device; expected a row for each operator of %.120s",
            csv->path, operators->list[i].name, operators->path);
    }
    *devices = made;
    return AR_OK;
}

void ar_placement_write(FILE *file, const struct ar_operators *operators, const uint32_t *devices)
{
    fputs("operator,device\n", file);
    for (uint32_t i = 0; i < operators->count; i++) {
        ar_csv_write_cell(file, operators->list[i].name, true);
        fprintf(file, ",%" PRIu32 "\n", devices[i]);
    }
}
