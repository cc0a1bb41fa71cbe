/* Writes a timed trace. */
#include <inttypes.h>

#include "ar_csv.h"
#include "ar_trace_file.h"

static void write_tensors(FILE *file, const struct ar_trace *trace, const struct ar_layer *layer)
{
    const uint64_t *elements = trace->tensor_elements + layer->tensors_first;
    for (uint32_t i = 0; i < layer->tensors_count; i++) {
        fprintf(file, "%s%" PRIu64, i > 0 ? "+" : "", elements[i]);
    }
    fputs(layer->tensors_count == 0 ? "0\n" : "\n", file);
}

void ar_trace_write(FILE *file, const struct ar_trace *trace)
{
    fprintf(file, "# source = %s\n# batch = %u\n# precision = %s\n", trace->source, trace->batch,
            ar_precision_names[trace->precision]);
    fprintf(file, "# optimizer_s = %.9g\n# overhead_s = %.9g\n", trace->optimizer_s,
            trace->step_overhead_s);
    if (trace->work != NULL) {
        fprintf(file, "# work = %s\n", trace->work);
    }
    if (trace->cost_table != NULL) {
        fprintf(file, "# cost_table = %s\n", trace->cost_table);
    }
    fputs("layer,forward_s,backward_s,gradient_elements\n", file);
    for (uint32_t i = 0; i < trace->layers_count; i++) {
        const struct ar_layer *layer = &trace->layers[i];
        ar_csv_write_cell(file, layer->name, true);
        fprintf(file, ",%.9g,%.9g,", layer->forward_s, layer->backward_s);
        write_tensors(file, trace, layer);
    }
}
