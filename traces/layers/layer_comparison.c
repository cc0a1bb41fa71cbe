#include "ar_layer_comparison.h"

#include <math.h>
#include <string.h>

#define MS      .factor = 1e3, .decimals = 3
#define PERCENT .factor = 100, .decimals = 1, .is_signed = true

#define COLUMN(kind, field, ...)                                                                   \
    AR_COLUMN(kind, struct ar_compared_layer, field, #field, __VA_ARGS__),

/* The first column is one of layers, not of kinds. */
static const struct ar_column columns[] = {
    AR_COLUMN(string, struct ar_compared_layer, layer, "layer", "name", .heading = "layer"),
    AR_COMPARED_LAYER_LIST(COLUMN)};

enum { COLUMNS = sizeof columns / sizeof columns[0] };

const struct ar_columns ar_compared_layer_columns = {columns, COLUMNS};

/* Sums have no name and are never ready. */
const struct ar_columns ar_compared_kind_columns = {columns + 1, COLUMNS - 3};

static double error_frac(double computed_s, double measured_s)
{
    return measured_s > 0 ? computed_s / measured_s - 1 : (double)NAN;
}

static void set_errors(struct ar_compared_layer *row)
{
    row->forward_error_frac = error_frac(row->forward_predicted_s, row->forward_measured_s);
    row->backward_error_frac = error_frac(row->backward_predicted_s, row->backward_measured_s);
}

static void add_to_kind(struct ar_compared_layer *sum, const struct ar_compared_layer *row)
{
    sum->layers++;
    sum->forward_measured_s += row->forward_measured_s;
    sum->forward_predicted_s += row->forward_predicted_s;
    sum->backward_measured_s += row->backward_measured_s;
    sum->backward_predicted_s += row->backward_predicted_s;
}

enum ar_status ar_layer_comparison_make(const struct ar_trace *measured,
                                        const struct ar_trace *computed,
                                        const struct ar_trace_file *file, struct ar_arena *arena,
                                        struct ar_layer_comparison *comparison,
                                        struct ar_error *err)
{
    struct ar_layer_comparison made = {.layers_count = measured->layers_count};
    struct ar_compared_layer sums[AR_LAYER_KINDS_COUNT + 1] = {0}; /* the last is of all */
    double ready_measured_s = 0, ready_predicted_s = 0;
    for (uint32_t i = 0; i < measured->layers_count || i < computed->layers_count; i++) {
        const char *found = i < measured->layers_count ? measured->layers[i].name : "no more";
        const char *expected = i < computed->layers_count ? computed->layers[i].name : "no more";
        AR_REFUSE(strcmp(found, expected) != 0, err, AR_BAD_DATA,
                  "%s: layer %u is %s; expected %s, as in %s", measured->name, i + 1, found,
                  expected, computed->name);
    }
    made.layers = ar_arena_alloc(arena, made.layers_count, sizeof *made.layers);
    made.kinds = ar_arena_alloc(arena, AR_LAYER_KINDS_COUNT + 1, sizeof *made.kinds);
    for (uint32_t i = measured->layers_count; i-- > 0;) {
        const struct ar_layer *layer = &measured->layers[i];
        const struct ar_layer *other = &computed->layers[i];
        bool has_gradients = layer->tensors_count > 0;
        ready_measured_s += layer->backward_s;
        ready_predicted_s += other->backward_s;
        made.layers[i] = (struct ar_compared_layer){
            .layer = layer->name,
            .kind = ar_layer_kinds[file->work[i].kind],
            .layers = 1,
            .forward_measured_s = layer->forward_s,
            .forward_predicted_s = other->forward_s,
            .backward_measured_s = layer->backward_s,
            .backward_predicted_s = other->backward_s,
            .ready_measured_s = has_gradients ? ready_measured_s : (double)NAN,
            .ready_predicted_s = has_gradients ? ready_predicted_s : (double)NAN};
        set_errors(&made.layers[i]);
    }
    for (size_t i = 0; i < made.layers_count; i++) {
        add_to_kind(&sums[file->work[i].kind], &made.layers[i]);
        add_to_kind(&sums[AR_LAYER_KINDS_COUNT], &made.layers[i]);
    }
    for (size_t i = 0; i <= AR_LAYER_KINDS_COUNT; i++) {
        if (sums[i].layers > 0) {
            sums[i].kind = i < AR_LAYER_KINDS_COUNT ? ar_layer_kinds[i] : "all";
            sums[i].ready_measured_s = sums[i].ready_predicted_s = (double)NAN;
            set_errors(&sums[i]);
            made.kinds[made.kinds_count++] = sums[i];
        }
    }
    *comparison = made;
    return AR_OK;
}

/* --- writing ------------------------------------------------------------------------------- */

void ar_layer_comparison_write(FILE *file, const struct ar_view *view,
                               const struct ar_layer_comparison *comparison)
{
    const struct ar_compared_layer *layers = comparison->layers;
    size_t count = comparison->layers_count;
    if (view->format == AR_FORMAT_JSON) {
        fputs("{\n  \"layers\": ", file);
        ar_json_array(file, ar_compared_layer_columns, layers, count);
        fputs(",\n  \"kinds\": ", file);
        ar_json_array(file, ar_compared_kind_columns, comparison->kinds, comparison->kinds_count);
        fputs("\n}\n", file);
        return;
    }
    ar_records_write(file, view, ar_compared_layer_columns, layers, count);
    if (view->format == AR_FORMAT_CSV) {
        return;
    }
    struct ar_view own = *view;
    own.columns = NULL; /* chosen of the layers */
    fputc('\n', file);
    ar_records_write(file, &own, ar_compared_kind_columns, comparison->kinds,
                     comparison->kinds_count);
}
