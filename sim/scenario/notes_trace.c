/* What a reader should know of a trace: what can hardly be meant. */
#include <inttypes.h>
#include <math.h>

#include "ar_note.h"
#include "ar_run.h"
#include "ar_units.h"

/* A layer of a step that somebody measured on one GPU takes less, and the step takes more. */
#define LAYER_MAX_S 1.0
#define STEP_MIN_S  1e-6

static bool note_unit(FILE *notes, const struct ar_trace *trace)
{
    char shown[AR_UNIT_TEXT];
    const struct ar_layer *slowest = &trace->layers[0];
    for (uint32_t i = 1; i < trace->layers_count; i++) {
        const struct ar_layer *layer = &trace->layers[i];
        slowest = fmax(layer->forward_s, layer->backward_s) >
                          fmax(slowest->forward_s, slowest->backward_s)
                      ? layer
                      : slowest;
    }
    double layer_s = fmax(slowest->forward_s, slowest->backward_s);
    double step_s = ar_trace_compute_s(trace);
    bool is_slow = trace->is_timed && layer_s > LAYER_MAX_S;
    bool is_fast = trace->is_timed && step_s < STEP_MIN_S;
    if (is_slow) {
        ar_note(notes,
                "trace %s: layer \"%s\" takes %s; its file is read in seconds, is it in ms "
                "or us?",
                trace->name, slowest->name, ar_format_seconds(layer_s, shown));
    }
    if (is_fast) {
        ar_note(notes, "trace %s: a step takes %s; its file is read in seconds", trace->name,
                ar_format_seconds(step_s, shown));
    }
    return is_slow || is_fast;
}

bool ar_note_trace(FILE *notes, const struct ar_scenario *scenario)
{
    const struct ar_trace *trace = scenario->trace;
    double memory_bytes = ar_cluster_facts(scenario->cluster)->gpu_memory_bytes;
    char needed[AR_UNIT_TEXT];
    char there[AR_UNIT_TEXT];
    bool is_noted = note_unit(notes, trace);
    bool fits = memory_bytes <= 0 || trace->memory_bytes <= memory_bytes;
    if (!fits) {
        ar_note(notes,
                "batch %" PRIu32 ": activations, weights and gradients take about %s, more than "
                "gpu.memory, %s",
                trace->batch, ar_format_bytes((uint64_t)trace->memory_bytes, needed),
                ar_format_bytes((uint64_t)memory_bytes, there));
    }
    return is_noted || !fits;
}
