#include "ar_workload.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "ar_text.h"
#include "ar_units.h"

#define MIB 1048576ull

struct named_rule {
    const char *name;
    struct ar_fusion fusion;
};

static const struct named_rule named_rules[] = {
    /* torch.nn.parallel.DistributedDataParallel: bucket_cap_mb=25, first bucket 1 MiB */
    {"ddp", {.first_bytes = MIB, .bytes = 25 * MIB, .closes_when_reached = 1}},
    /* Horovod, docs/tensor-fusion.rst: default fusion buffer of 64 MB, which it counts in MiB; 0
     * switches fusion off */
    {"horovod", {.first_bytes = 64 * MIB, .bytes = 64 * MIB}},
    {"one", {.first_bytes = UINT64_MAX, .bytes = UINT64_MAX}},
    {"tensor", {.first_bytes = 0, .bytes = 0}},
};

enum ar_status ar_fusion_parse(const char *where, const char *text, struct ar_fusion *fusion,
                               struct ar_error *err)
{
    struct ar_fusion parsed = {.first_bytes = 0};
    bool is_named = false;
    for (size_t i = 0; i < sizeof named_rules / sizeof named_rules[0]; i++) {
        if (strcmp(text, named_rules[i].name) == 0) {
            parsed = named_rules[i].fusion;
            is_named = true;
        }
    }
    if (!is_named && (text[0] < '0' || text[0] > '9')) {
        return ar_error_set(err, AR_USAGE,
                            "%s: found \"%s\"; expected ddp, horovod, one, tensor or a size such "
                            "as 25MiB",
                            where, text);
    }
    if (!is_named) {
        enum ar_status status = ar_parse_bytes(where, text, &parsed.bytes, err);
        if (status != AR_OK) {
            return status;
        }
        parsed.first_bytes = parsed.bytes;
    }
    ar_copy_text(parsed.text, sizeof parsed.text, text);
    *fusion = parsed;
    return AR_OK;
}

/* Adds a tensor to the last bucket, or to a new one where the rule says so. */
static void add_tensor(const struct ar_fusion *fusion, uint64_t elements, uint32_t element_bytes,
                       double ready_s, struct ar_workload *workload)
{
    uint32_t count = workload->buckets_count;
    struct ar_bucket *last = count > 0 ? &workload->buckets[count - 1] : NULL;
    bool is_new = last == NULL;
    if (last != NULL) {
        uint64_t threshold = count == 1 ? fusion->first_bytes : fusion->bytes;
        uint64_t held = last->elements * element_bytes;
        is_new = fusion->closes_when_reached ? held >= threshold
                                             : held + elements * element_bytes > threshold;
    }
    if (is_new) {
        last = &workload->buckets[workload->buckets_count++];
        *last = (struct ar_bucket){.elements = 0};
    }
    last->elements += elements;
    last->tensors_count++;
    last->ready_s = ready_s;
}

enum ar_status ar_workload_create(const struct ar_trace *trace, const struct ar_fusion *fusion,
                                  uint32_t element_bytes, struct ar_workload **workload,
                                  struct ar_error *err)
{
    if (trace->tensors_count == 0) {
        return ar_error_set(err, AR_BAD_DATA,
                            "trace %s: found no gradients; expected a layer with parameters",
                            trace->name);
    }
    struct ar_workload *made = calloc(1, sizeof *made);
    struct ar_bucket *buckets = calloc(trace->tensors_count, sizeof *buckets);
    if (made == NULL || buckets == NULL) {
        free(made);
        free(buckets);
        return ar_error_no_memory(err, "the buckets of a step");
    }
    made->buckets = buckets;
    made->forward_end_s = trace->step_overhead_s + ar_trace_forward_s(trace);
    double now_s = made->forward_end_s;
    for (uint32_t i = trace->layers_count; i-- > 0;) {
        const struct ar_layer *layer = &trace->layers[i];
        now_s += layer->backward_s;
        for (uint32_t tensor = layer->tensors_count; tensor-- > 0;) {
            add_tensor(fusion, trace->tensor_elements[layer->tensors_first + tensor], element_bytes,
                       now_s, made);
        }
    }
    made->backward_end_s = now_s;
    made->optimizer_s = trace->optimizer_s;
    *workload = made;
    return AR_OK;
}

void ar_workload_destroy(struct ar_workload *workload)
{
    if (workload != NULL) {
        free(workload->buckets);
        free(workload);
    }
}
