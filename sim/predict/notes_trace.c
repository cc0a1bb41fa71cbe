/* What a reader should know of a trace: what can hardly be meant. */
#include <inttypes.h>
#include <math.h>

#include "ar_note.h"
#include "ar_run.h"
#include "ar_units.h"

/* A layer that somebody measured on one GPU takes less. */
#define LAYER_MAX_S 1.0

static bool note_unit(FILE *notes, const struct ar_trace *trace)
{
    char shown[AR_UNIT_TEXT];
    for (uint32_t i = 0; trace->is_timed && i < trace->layers_count; i++) {
        const struct ar_layer *layer = &trace->layers[i];
        double layer_s = fmax(layer->forward_s, layer->backward_s);
        if (layer_s > LAYER_MAX_S) {
            ar_note(notes,
                    "trace %s: layer \"%s\" takes %s; its file is read in seconds, is it in ms "
                    "or us?",
                    trace->name, layer->name, ar_format_seconds(layer_s, shown));
            return true;
        }
    }
    return false;
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
