#include "fingerprint.h"

#include <string.h>

uint64_t fingerprint_start(void)
{
    return 0xcbf29ce484222325u; /* FNV's offset basis */
}

void fingerprint_add(uint64_t *hash, const void *bytes, size_t size)
{
    const unsigned char *at = bytes;
    for (size_t i = 0; i < size; i++) {
        *hash = (*hash ^ at[i]) * 0x100000001b3u;
    }
}

/* With its end, so that "ab" and "c" are not "a" and "bc". */
static void add_text(uint64_t *hash, const char *text)
{
    fingerprint_add(hash, text, strlen(text) + 1);
}

#define ADD(value) fingerprint_add(hash, &(value), sizeof(value))

void fingerprint_add_trace(uint64_t *hash, const struct ar_trace *trace)
{
    add_text(hash, trace->name);
    ADD(trace->precision);
    ADD(trace->batch);
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
    fingerprint_add(hash, trace->tensor_elements,
                    trace->tensors_count * sizeof *trace->tensor_elements);
}

void fingerprint_add_cluster(uint64_t *hash, const struct ar_cluster *cluster)
{
    for (size_t i = 0; i < ar_cluster_parameters_count(cluster); i++) {
        struct ar_cluster_parameter parameter = ar_cluster_parameter(cluster, i);
        add_text(hash, parameter.key);
        add_text(hash, parameter.text);
    }
}

void fingerprint_add_library(uint64_t *hash, const struct ar_library *library)
{
    if (library != NULL) {
        ADD(library->values);
        ADD(library->covariance);
        ADD(library->residual_frac);
    }
}

/* The terms that the times of the trace do not show. */
static void add_framework(uint64_t *hash, const struct ar_framework *framework)
{
    add_text(hash, framework->name);
    for (int i = 0; i < AR_TERMS_COUNT; i++) {
        ADD(framework->terms[i].number);
    }
}

void fingerprint_add_plan(uint64_t *hash, const struct plan *plan)
{
    add_framework(hash, plan->framework);
    ADD(plan->wire);
    add_text(hash, plan->fusion.text);
    ADD(plan->fusion.first_bytes);
    ADD(plan->fusion.bytes);
    ADD(plan->fusion.closes_when_reached);
    ADD(plan->fusion.groups);
    ADD(plan->baseline);
    ADD(plan->precision);
    ADD(plan->gradient_scale);
    ADD(plan->channels);
    ADD(plan->window);
    ADD(plan->jitter_frac);
    ADD(plan->seed);
    ADD(plan->iterations_count);
    add_text(hash, plan->settings);
}

void fingerprint_add_point(uint64_t *hash, const struct point *point)
{
    add_text(hash, ar_algorithm_name(point->algorithm));
    add_text(hash, point->engine->name);
    ADD(point->shape.x);
    ADD(point->shape.y);
    ADD(point->payload_bytes);
}
