#include "ar_hash.h"

#include <stdlib.h>

#include "ar_scenario.h"

#define ADD(value) ar_hash_bytes(hash, &(value), sizeof(value))

static void add_trace(const struct ar_trace *trace, uint64_t *hash)
{
    ADD(trace->optimizer_s);
    ADD(trace->step_overhead_s);
    ADD(trace->layers_count);
    for (uint32_t i = 0; i < trace->layers_count; i++) {
        const struct ar_layer *layer = &trace->layers[i];
        ADD(layer->forward_s);
        ADD(layer->backward_s);
        ADD(layer->tensors_first);
        ADD(layer->tensors_count);
    }
    ar_hash_bytes(hash, trace->tensor_elements,
                  trace->tensors_count * sizeof *trace->tensor_elements);
}

static void add_loaded(const struct ar_scenario *scenario, uint64_t *hash)
{
    const struct ar_library *library = ar_scenario_fitted(scenario);
    for (size_t i = 0; i < ar_cluster_parameters_count(scenario->cluster); i++) {
        struct ar_cluster_parameter parameter = ar_cluster_parameter(scenario->cluster, i);
        ar_hash_text(hash, parameter.key);
        ar_hash_text(hash, parameter.text);
    }
    if (library != NULL) {
        ADD(library->values);
        ADD(library->covariance);
        ADD(library->residual_frac);
    }
    if (scenario->trace != NULL) {
        add_trace(scenario->trace, hash);
    }
}

void ar_scenario_hash(const struct ar_scenario *scenario, uint64_t *hash)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *file = open_memstream(&text, &bytes);
    for (int i = 0; file != NULL && i < AR_KEYS_COUNT; i++) {
        if (ar_keys[i].print != NULL) {
            ar_keys[i].print(scenario, (enum ar_key)i, file);
            fputc('\n', file);
        }
    }
    if (file == NULL || fclose(file) != 0) {
        ar_memory_fail("a fingerprint");
    }
    ar_hash_bytes(hash, text, bytes);
    add_loaded(scenario, hash);
    free(text);
}
