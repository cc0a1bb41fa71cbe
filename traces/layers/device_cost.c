/* Device cost tables: their files, and the time laws of ar_device_cost.h. */
#include "ar_device_cost.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "ar_csv.h"
#include "ar_file.h"
#include "ar_numbers.h"
#include "ar_text.h"

const char *const ar_layer_kinds[] = {AR_LAYER_KIND_LIST(AR_LIST_SECOND) NULL};

/* --- measured convolutions ----------------------------------------------------------------- */

#define COUNT(field)                                                                               \
    AR_COLUMN(count, struct ar_conv_point, field, #field, "", .min = 1, .max = 1000000)
#define TIME(pass, name)                                                                           \
    AR_COLUMN(number, struct ar_conv_point, time_s[pass], name,                                    \
              "seconds > 0 and at most 10, as of one kernel", .min = 1e-12, .max = 10)

static const struct ar_column point_columns[] = {
    AR_COLUMN(choice, struct ar_conv_point, precision, "precision", "",
              .names = ar_precision_names),
    COUNT(batch),
    COUNT(width),
    COUNT(channels_in),
    COUNT(channels_out),
    COUNT(kernel),
    COUNT(stride),
    TIME(AR_CONV_FORWARD, "forward_s"),
    TIME(AR_CONV_BACKWARD_DATA, "backward_data_s"),
    TIME(AR_CONV_BACKWARD_WEIGHTS, "backward_weights_s"),
};

static const struct ar_column point_directives[] = {{.name = "source",
                                                     .kind = AR_COLUMN_string,
                                                     .help = "",
                                                     .may_be_empty = true,
                                                     .may_be_missing = true}};

AR_ORDER(compare_points, struct ar_conv_point, AR_RISES(precision), AR_RISES(width),
         AR_RISES(channels_in), AR_RISES(channels_out), AR_RISES(kernel), AR_RISES(stride),
         AR_RISES(batch))

enum ar_status ar_conv_points_load(const char *path, struct ar_arena *arena,
                                   struct ar_conv_points *points, struct ar_error *err)
{
    const char *source; /* for people, not used */
    struct ar_csv *csv;
    AR_TRY(ar_csv_load(path, arena, &csv, err));
    struct ar_conv_points made = {.count = csv->rows_count};
    AR_TRY(ar_csv_read_directives(csv, AR_COLUMNS(point_directives), &source, err));
    AR_TRY(ar_csv_read_rows(csv, AR_COLUMNS(point_columns), NULL, &made.list, err));
    qsort(made.list, made.count, sizeof *made.list, compare_points);
    for (size_t i = 1; i < made.count; i++) {
        const struct ar_conv_point *point = &made.list[i];
        AR_REFUSE(compare_points(point - 1, point) == 0, err, AR_BAD_DATA,
                  "%s: %s convolution of width %" PRIu32 ", channels %" PRIu32 " to %" PRIu32
                  ", batch %" PRIu32 " is given twice; expected it once",
                  path, ar_precision_names[point->precision], point->width, point->channels_in,
                  point->channels_out, point->batch);
    }
    *points = made;
    return AR_OK;
}

/* --- the cost table ------------------------------------------------------------------------ */

static const char *const quantity_names[] = {AR_COST_LIST(AR_LIST_SECOND) NULL};

static const struct quantity {
    const char *unit;
    double min, max;
    double standard; /* where a table does not say; NAN: it must */
    enum ar_cost_group group;
} quantities[] = {AR_COST_LIST(AR_LIST_VALUES)};

/* The precision of a row: one of the list, or ANY for all that other rows name. */
enum { ANY = AR_PRECISIONS_COUNT };
static const char *const precision_names[] = {AR_PRECISION_LIST(AR_LIST_SECOND)[ANY] = "any", NULL};

struct cost_row {
    enum ar_cost quantity;
    unsigned precision;
    double value;
    const char *unit;
    const char *source;
};

static const struct ar_column cost_columns[] = {
    AR_COLUMN(choice, struct cost_row, quantity, "quantity", "", .names = quantity_names),
    AR_COLUMN(choice, struct cost_row, precision, "precision", "", .names = precision_names),
    AR_COLUMN(number, struct cost_row, value, "value", ""),
    AR_COLUMN(string, struct cost_row, unit, "unit", ""),
    AR_COLUMN(string, struct cost_row, source, "source", "where the value comes from"),
};

struct cost_head {
    const char *source;
    const char *convolutions;
    const char *base;
};

static const struct ar_column cost_directives[] = {
    AR_COLUMN(string, struct cost_head, source, "source", "", .may_be_empty = true,
              .may_be_missing = true),
    AR_COLUMN(string, struct cost_head, convolutions, "convolutions", "a file",
              .may_be_missing = true),
    AR_COLUMN(string, struct cost_head, base, "base", "a device cost table",
              .may_be_missing = true),
};

/* Reads the rows; sets which precisions the table has, where it says so. */
static enum ar_status read_costs(const struct ar_csv *csv, struct ar_device_cost *cost,
                                 struct ar_error *err)
{
    struct cost_row *rows;
    for (int i = 0; i < AR_COSTS_COUNT * AR_PRECISIONS_COUNT; i++) {
        cost->value[i / AR_PRECISIONS_COUNT][i % AR_PRECISIONS_COUNT] = (double)NAN;
    }
    AR_TRY(ar_csv_read_rows(csv, AR_COLUMNS(cost_columns), NULL, &rows, err));
    for (size_t i = 0; i < csv->rows_count; i++) {
        const struct quantity *quantity = &quantities[rows[i].quantity];
        unsigned first = rows[i].precision == ANY ? 0 : rows[i].precision;
        unsigned last = rows[i].precision == ANY ? AR_PRECISIONS_COUNT - 1 : rows[i].precision;
        AR_CSV_REFUSE(strcmp(rows[i].unit, quantity->unit) != 0, csv, i, "unit", err,
                      "%s, the unit of %s", quantity->unit, quantity_names[rows[i].quantity]);
        AR_CSV_REFUSE(rows[i].value < quantity->min || rows[i].value > quantity->max, csv, i,
                      "value", err, "a number from %g to %g", quantity->min, quantity->max);
        for (unsigned k = first; k <= last; k++) {
            AR_CSV_REFUSE(!isnan(cost->value[rows[i].quantity][k]), csv, i, "quantity", err,
                          "each quantity once for each precision");
            cost->value[rows[i].quantity][k] = rows[i].value;
        }
        cost->precisions |= rows[i].precision == ANY ? 0 : 1u << rows[i].precision;
    }
    return AR_OK;
}

enum ar_status ar_device_cost_complete(const char *path, const struct ar_device_cost *base,
                                       struct ar_device_cost *cost, struct ar_error *err)
{
    unsigned all = base != NULL ? base->precisions : (1u << AR_PRECISIONS_COUNT) - 1;
    cost->precisions = cost->precisions != 0 ? cost->precisions : all;
    for (unsigned i = 0; i < AR_PRECISIONS_COUNT; i++) {
        bool is_here = (cost->precisions >> i & 1) != 0;
        bool has_group[AR_COST_GROUPS_COUNT] = {false};
        for (size_t k = 0; k < AR_COSTS_COUNT; k++) {
            double *value = &cost->value[k][i];
            if (isnan(*value) && base != NULL && quantities[k].group != AR_COST_OF_CONVOLUTIONS) {
                *value = base->value[k][i];
            }
            *value = is_here ? *value : (double)NAN; /* rows of ANY speak for those of the table */
            has_group[quantities[k].group] |= !isnan(*value);
        }
        /* The precision must have all of its groups, by their defaults or in the table: kernels,
         * those of which it has a quantity, and one of convolutions and products. */
        has_group[AR_COST_OF_KERNELS] = true;
        has_group[AR_COST_OF_CONVOLUTIONS] |= !has_group[AR_COST_OF_PRODUCTS];
        for (size_t k = 0; k < AR_COSTS_COUNT && is_here; k++) {
            if (has_group[quantities[k].group] && isnan(cost->value[k][i])) {
                cost->value[k][i] = quantities[k].standard;
            }
            AR_REFUSE(has_group[quantities[k].group] && isnan(cost->value[k][i]), err, AR_BAD_DATA,
                      "%s: quantity \"%s\" is missing for %s%s", path, quantity_names[k],
                      ar_precision_names[i],
                      (all >> i & 1) == 0 ? ", which its base does not have" : "");
        }
    }
    return AR_OK;
}

enum ar_status ar_device_cost_load(const char *path, struct ar_arena *arena,
                                   struct ar_device_cost **cost, struct ar_error *err)
{
    struct cost_head head = {.source = ""};
    struct ar_csv *csv;
    AR_TRY(ar_csv_load(path, arena, &csv, err));
    struct ar_device_cost *made = ar_arena_alloc(arena, 1, sizeof *made);
    AR_TRY(ar_csv_read_directives(csv, AR_COLUMNS(cost_directives), &head, err));
    AR_TRY(read_costs(csv, made, err));
    ar_copy_stem(made->name, sizeof made->name, path, ".cost.csv");
    made->source = head.source;
    if (head.convolutions != NULL) { /* they lie beside the cost table */
        int folder_bytes = (int)(basename(path) - path);
        AR_REFUSE(!ar_file_is_below(head.convolutions), err, AR_BAD_DATA,
                  "%.200s: convolutions: found \"%.100s\"; expected a file beside it or below it",
                  path, head.convolutions);
        AR_TRY(ar_conv_points_load(
            ar_arena_format(arena, "%.*s%s", folder_bytes, path, head.convolutions), arena,
            &made->points, err));
    }
    made->base = head.base;
    AR_TRY(head.base == NULL ? ar_device_cost_complete(path, NULL, made, err) : AR_OK);
    *cost = made;
    return AR_OK;
}

/* --- what a table has ---------------------------------------------------------------------- */

bool ar_device_cost_has_group(const struct ar_device_cost *cost, enum ar_precision precision,
                              enum ar_cost_group group)
{
    int first = 0;
    while (quantities[first].group != group) {
        first++;
    }
    return !isnan(cost->value[first][precision]);
}

struct ar_device_cost *ar_device_cost_single(const struct ar_device_cost *cost,
                                             struct ar_arena *arena)
{
    struct ar_device_cost *single = ar_arena_copy(arena, cost, 1, sizeof *single);
    single->is_single = true;
    for (int i = 0; i < AR_PRECISIONS_COUNT; i++) {
        single->value[AR_COST_KERNEL_FLOOR][i] = 0;
    }
    return single;
}

char *ar_device_cost_precisions(const struct ar_device_cost *cost,
                                char text[AR_DEVICE_COST_PRECISIONS_TEXT])
{
    text[0] = '\0';
    for (int i = 0; i < AR_PRECISIONS_COUNT; i++) {
        if (ar_device_cost_has_group(cost, (enum ar_precision)i, AR_COST_OF_KERNELS)) {
            ar_append_text(text, AR_DEVICE_COST_PRECISIONS_TEXT, "%s%s",
                           text[0] != '\0' ? ", " : "", ar_precision_names[i]);
        }
    }
    return text;
}

/* --- matrix products, attention, memory ---------------------------------------------------- */

/* Operations per second of one multiprocessor at an efficiency, in the state of the table. */
static double processor_rate(const struct ar_device_cost *cost, enum ar_precision precision,
                             enum ar_cost efficiency)
{
    double clocks = cost->is_single ? 1 : cost->value[AR_COST_GEMM_SUSTAINED][precision];
    return clocks * cost->value[efficiency][precision] * cost->value[AR_COST_PEAK][precision] /
           cost->value[AR_COST_MULTIPROCESSORS][precision];
}

double ar_device_product_s(const struct ar_device_cost *cost, enum ar_precision precision,
                           const struct ar_gemm *gemm, double bytes)
{
    static const double tiles[][2] = {{256, 128}, {128, 256}, {128, 128},
                                      {128, 64},  {64, 128},  {64, 64}};
    double best_s = INFINITY;
    double sums = (double)gemm->count * (double)gemm->m * (double)gemm->n;
    double side_min = cost->value[AR_COST_GEMM_TILE][precision];
    double part_min = cost->value[AR_COST_GEMM_PART][precision];
    double memory_Bps =
        cost->value[AR_COST_GEMM_MEMORY][precision] * cost->value[AR_COST_MEMORY][precision];
    for (double parts = 1; parts == 1 || (double)gemm->k / parts >= part_min; parts *= 2) {
        double partial_bytes = parts > 1 ? 2 * parts * sums * ar_precisions[AR_FP32].bytes : 0;
        double traffic_s = (bytes + partial_bytes) / memory_Bps;
        for (size_t i = 0; i < sizeof tiles / sizeof tiles[0]; i++) {
            if (fmin(tiles[i][0], tiles[i][1]) >= side_min) {
                /* The multiprocessors' time with tiles of rows x columns and k in `parts`. */
                double rate = processor_rate(cost, precision, AR_COST_GEMM_EFFICIENCY);
                double edge = cost->value[AR_COST_GEMM_EDGE][precision];
                double slow = (1 + edge * (1 / tiles[i][0] + 1 / tiles[i][1])) /
                              (1 + edge * (1.0 / 256 + 1.0 / 128));
                double all_tiles = (double)gemm->count * ceil((double)gemm->m / tiles[i][0]) *
                                   ceil((double)gemm->n / tiles[i][1]) * parts;
                double waves = ceil(all_tiles / cost->value[AR_COST_MULTIPROCESSORS][precision]);
                double depth = (double)gemm->k / parts + cost->value[AR_COST_GEMM_DEPTH][precision];
                double alone_s = waves * 2 * tiles[i][0] * tiles[i][1] * depth * slow / rate;
                double powers =
                    fmin(fmax(log10(alone_s / 1e-4), 0), 2); /* of ten, from 0.1 ms to 10 ms */
                double heat = cost->is_single ? cost->value[AR_COST_GEMM_HEAT][precision] : 0;
                double time_s = alone_s * (1 + heat * powers);
                double larger_s = fmax(time_s, traffic_s); /* a maximum with a round corner */
                double ratio = larger_s > 0 ? fmin(time_s, traffic_s) / larger_s : 0;
                best_s = fmin(best_s, larger_s * sqrt(sqrt(1 + ratio * ratio * ratio * ratio)));
            }
        }
    }
    return cost->value[AR_COST_GEMM_FIXED][precision] + best_s;
}

double ar_device_gemm_s(const struct ar_device_cost *cost, enum ar_precision precision,
                        const struct ar_gemm *gemm)
{
    double own = cost->value[AR_COST_GEMM_OPERAND][precision];
    double element_bytes = own > 0 ? own : ar_precisions[precision].bytes;
    double elements = (double)gemm->count * ((double)gemm->m + (double)gemm->n) * (double)gemm->k;
    double products = (double)gemm->count * (double)gemm->m * (double)gemm->n;
    double operands_bytes = elements * element_bytes;
    double time_s = ar_device_product_s(cost, precision, gemm,
                                        operands_bytes + products * ar_stored_bytes(precision));
    double ragged_s = cost->value[AR_COST_GEMM_RAGGED][precision];
    if (ragged_s > 0 && gemm->m % 4 != 0) {
        time_s += ragged_s + operands_bytes / cost->value[AR_COST_MEMORY][precision];
    }
    return fmax(time_s, cost->value[AR_COST_KERNEL_FLOOR][precision]);
}

double ar_device_cast_s(const struct ar_device_cost *cost, enum ar_precision precision,
                        double elements)
{
    double bytes = elements * cost->value[AR_COST_CAST_BYTES][precision];
    return ar_precisions[precision].bytes < ar_stored_bytes(precision)
               ? cost->value[AR_COST_CAST_FIXED][precision] +
                     ar_device_memory_s(cost, precision, bytes)
               : 0;
}

enum ar_precision ar_attention_precision(enum ar_precision precision)
{
    enum ar_precision stored = ar_precisions[precision].stored;
    return ar_precisions[precision].bytes < ar_precisions[stored].bytes ? stored : precision;
}

double ar_device_attention_s(const struct ar_device_cost *cost, enum ar_precision products,
                             const struct ar_attention *attention)
{
    const double rows = 128; /* queries of a tile */
    enum ar_precision precision = ar_attention_precision(products);
    double count = (double)attention->count, head = (double)attention->head_elements;
    double kv_count = attention->kv_count > 0 ? (double)attention->kv_count : count;
    double queries = (double)attention->queries, keys = (double)attention->keys;
    double mean_keys = attention->is_causal ? (keys + fmin(rows, keys)) / 2 : keys;
    double flop =
        (attention->is_backward ? 10 : 4) * head + cost->value[AR_COST_ATTENTION_EXP][precision];
    double pair_s = flop / processor_rate(cost, precision,
                                          attention->is_backward ? AR_COST_ATTENTION_BACKWARD
                                                                 : AR_COST_ATTENTION_FORWARD);
    double processors = cost->value[AR_COST_MULTIPROCESSORS][precision];
    double tiles = count * ceil(queries / rows) / processors; /* of one multiprocessor */
    double compute_s = rows * pair_s * (tiles * mean_keys + keys / 2) +
                       cost->value[AR_COST_ATTENTION_TILE][precision] * (tiles + 0.5);
    double bytes = 2 * (count * queries + kv_count * keys) * head * ar_stored_bytes(precision);
    double passes =
        cost->value[AR_COST_ATTENTION_PASSES][precision] * (attention->is_backward ? 2 : 1);
    return fmax(cost->value[AR_COST_ATTENTION_FIXED][precision] + compute_s +
                    passes * bytes / cost->value[AR_COST_MEMORY][precision],
                cost->value[AR_COST_KERNEL_FLOOR][precision]);
}

double ar_device_memory_s(const struct ar_device_cost *cost, enum ar_precision precision,
                          double bytes)
{
    return fmax(bytes / cost->value[AR_COST_MEMORY][precision],
                cost->value[AR_COST_KERNEL_FLOOR][precision]);
}

double ar_device_peak_flops(const struct ar_device_cost *cost, enum ar_precision precision)
{
    return cost->value[AR_COST_PEAK][precision];
}

/* --- convolutions -------------------------------------------------------------------------- */

double ar_device_cost_marginal_s(const struct ar_device_cost *cost,
                                 const struct ar_layer_work *work, enum ar_conv_pass pass,
                                 enum ar_precision precision)
{
    static const enum ar_cost rates[] = {AR_COST_FORWARD_RATE, AR_COST_DATA_RATE,
                                         AR_COST_WEIGHTS_RATE};
    double flop = 2 * (double)work->macs;
    if (work->kernel == 3 && work->stride == 1) {
        flop /= cost->value[AR_COST_WINOGRAD][precision];
    }
    double bytes =
        ((double)work->input_elements + (double)work->output_elements) * ar_stored_bytes(precision);
    return fmax(flop / cost->value[rates[pass]][precision],
                bytes / cost->value[AR_COST_MEMORY][precision]);
}

/* A pass as a product; strides leave no work out of the gradient of the data. */
static double implicit_product_s(const struct ar_device_cost *cost,
                                 const struct ar_layer_work *work, enum ar_conv_pass pass,
                                 enum ar_precision precision, uint32_t batch)
{
    uint64_t outputs = work->output_elements;
    uint64_t inputs = work->input_elements;
    uint64_t features_out = work->channels_out > 0 ? work->channels_out : outputs;
    uint64_t features_in = work->channels_in > 0 ? work->channels_in : inputs;
    const struct ar_gemm forward = {1, batch * (outputs / features_out), features_out,
                                    work->macs / outputs};
    const struct ar_gemm gemms[AR_CONV_PASSES_COUNT] = {
        [AR_CONV_FORWARD] = forward,
        [AR_CONV_BACKWARD_DATA] = {1, batch * (inputs / features_in), features_in,
                                   work->macs / inputs},
        [AR_CONV_BACKWARD_WEIGHTS] = {1, forward.k, forward.n, forward.m},
    };
    double elements =
        (double)batch * ((double)inputs + (double)outputs) + (double)forward.n * (double)forward.k;
    return ar_device_product_s(cost, precision, &gemms[pass],
                               elements * ar_stored_bytes(precision));
}

double ar_device_cost_conv_s(const struct ar_device_cost *cost, const struct ar_layer_work *work,
                             enum ar_conv_pass pass, enum ar_precision precision, uint32_t batch)
{
    static const enum ar_cost fixed[] = {AR_COST_FORWARD_FIXED, AR_COST_DATA_FIXED,
                                         AR_COST_WEIGHTS_FIXED};
    assert(batch >= 1);
    if (work->kind == AR_LAYER_LOCAL &&
        ar_device_cost_has_group(cost, precision, AR_COST_OF_PRODUCTS)) {
        /* A pass of a locally connected layer; see the header. */
        double flop = 2 * (double)batch * (double)work->macs;
        double elements = (double)work->macs + (double)batch * ((double)work->input_elements +
                                                                (double)work->output_elements);
        double rate =
            cost->value[AR_COST_GEMM_EFFICIENCY][precision] * cost->value[AR_COST_PEAK][precision];
        return fmax(flop / rate,
                    elements * ar_stored_bytes(precision) / cost->value[AR_COST_MEMORY][precision]);
    }
    if (!ar_device_cost_has_group(cost, precision, AR_COST_OF_CONVOLUTIONS)) {
        return implicit_product_s(cost, work, pass, precision, batch);
    }
    double marginal_s = ar_device_cost_marginal_s(cost, work, pass, precision);
    struct ar_conv_point shape = {.precision = precision,
                                  .width = work->width,
                                  .channels_in = work->channels_in,
                                  .channels_out = work->channels_out,
                                  .kernel = work->kernel,
                                  .stride = work->stride};
    const struct ar_conv_point *points = NULL; /* of the shape, in ascending batch */
    size_t points_count = 0;
    for (size_t i = 0; i < cost->points.count; i++) {
        shape.batch = cost->points.list[i].batch; /* any */
        if (compare_points(&cost->points.list[i], &shape) == 0) {
            points = points_count++ == 0 ? &cost->points.list[i] : points;
        }
    }
    if (points_count > 0) {
        /* Time at `batch` from measured points of one shape in ascending batch; see the header. */
        const struct ar_conv_point *last = &points[points_count - 1];
        double samples = batch;
        if (batch <= points[0].batch) {
            double min_s = points[0].time_s[pass] * samples / points[0].batch;
            return fmax(min_s, points[0].time_s[pass] - (points[0].batch - samples) * marginal_s);
        }
        for (size_t i = 1; i < points_count; i++) {
            if (batch <= points[i].batch) {
                double part =
                    (samples - points[i - 1].batch) / (points[i].batch - points[i - 1].batch);
                return points[i - 1].time_s[pass] * (1 - part) + points[i].time_s[pass] * part;
            }
        }
        double slope_s = fmin(marginal_s, last->time_s[pass] / last->batch);
        return last->time_s[pass] + (samples - last->batch) * slope_s;
    }
    return cost->value[fixed[pass]][precision] + batch * marginal_s;
}

/* --- layers -------------------------------------------------------------------------------- */

void ar_device_cost_layer_s(const struct ar_device_cost *cost, const struct ar_layer_work *work,
                            enum ar_precision precision, uint32_t batch, double *forward_s,
                            double *backward_s)
{
    static const struct {
        bool is_in_table;
        enum ar_cost passes[2];
    } kinds[AR_LAYER_KINDS_COUNT] = {
        [AR_LAYER_BN] = {true, {AR_COST_BN_FORWARD, AR_COST_BN_BACKWARD}},
        [AR_LAYER_RELU] = {true, {AR_COST_RELU_FORWARD, AR_COST_RELU_BACKWARD}},
        [AR_LAYER_ADD] = {true, {AR_COST_ADD_FORWARD, AR_COST_ADD_BACKWARD}},
    };
    if (work->macs > 0) {
        *forward_s = *backward_s = 0;
        for (int pass = AR_CONV_FORWARD; pass < AR_CONV_PASSES_COUNT; pass++) {
            double time_s =
                pass == AR_CONV_BACKWARD_DATA && work->is_first
                    ? 0
                    : ar_device_cost_conv_s(cost, work, (enum ar_conv_pass)pass, precision, batch);
            time_s = time_s > 0 ? fmax(time_s, cost->value[AR_COST_KERNEL_FLOOR][precision]) : 0;
            *(pass == AR_CONV_FORWARD ? forward_s : backward_s) += time_s;
        }
        return;
    }
    double *times_s[] = {forward_s, backward_s};
    double outputs = (double)work->output_elements;
    bool is_own_kernel =
        work->kind != AR_LAYER_ADD || cost->value[AR_COST_ADD_IS_FUSED][precision] < 0.5;
    for (int i = 0; i < 2; i++) { /* bound by the memory: elements read and written for a sample */
        double twice = i == 1 && work->kind == AR_LAYER_MAXPOOL ? 2 : 1;
        double elements = kinds[work->kind].is_in_table
                              ? outputs * cost->value[kinds[work->kind].passes[i]][precision]
                              : twice * ((double)work->input_elements + outputs);
        double time_s =
            batch * elements * ar_stored_bytes(precision) / cost->value[AR_COST_MEMORY][precision];
        *times_s[i] = time_s > 0 && is_own_kernel
                          ? fmax(time_s, cost->value[AR_COST_KERNEL_FLOOR][precision])
                          : time_s;
    }
}

double ar_device_cost_optimizer_s(const struct ar_device_cost *cost, enum ar_precision precision,
                                  uint64_t parameters)
{
    double bytes = (double)parameters * cost->value[AR_COST_OPTIMIZER_BYTES][precision];
    double launches_s = cost->value[AR_COST_OPTIMIZER_KERNELS][precision] *
                        cost->value[AR_COST_KERNEL_FLOOR][precision];
    return fmax(launches_s, bytes / cost->value[AR_COST_MEMORY][precision]);
}
