#include "measurement.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct ar_order measurement_order(const struct measurement *measurement)
{
    const struct ar_algorithm *algorithm = measurement->algorithm;
    const struct ar_operation *operation = measurement->operation;
    bool is_mirrored = algorithm != NULL && algorithm->has_mirror;
    bool is_in_order = algorithm == NULL || (operation != NULL && operation->is_in_order);
    return (struct ar_order){
        .ranks = measurement->ranks,
        .node_members = is_in_order ? 1 : measurement->ranks_per_node,
        .channels = measurement->channels,
        .mirror_group = is_mirrored ? measurement->shape.x : 0,
        .has_root = operation != NULL && operation->has_root,
        .root = measurement->root,
    };
}

struct ar_span measurement_part(const struct measurement *measurement, uint32_t channel)
{
    return ar_span_part((struct ar_span){.first = 0, .count = measurement->elements},
                        measurement->channels, channel);
}

uint64_t measurement_bytes(const struct measurement *measurement)
{
    return measurement->elements * measurement->type->bytes;
}

uint64_t measurement_message_max(const struct measurement *measurement)
{
    struct ar_phase phases[AR_PHASES_MAX];
    uint32_t count = ar_algorithm_phases(measurement->algorithm, &measurement->shape, phases);
    uint64_t largest = measurement->probe != PROBE_NONE ? measurement->elements : 0;
    for (uint32_t channel = 0; channel < measurement->channels; channel++) {
        uint64_t elements = measurement_part(measurement, channel).count;
        for (uint32_t i = 0; i < count; i++) {
            uint64_t share = (elements + phases[i].parts - 1) / phases[i].parts;
            largest = phases[i].steps > 0 && share > largest ? share : largest;
        }
    }
    return largest;
}

const char *measurement_text(const struct measurement *measurement, char text[MEASUREMENT_TEXT])
{
    snprintf(text, MEASUREMENT_TEXT, "%s %s %s, %" PRIu32 " channel%s, %" PRIu64 " %s element%s",
             measurement->operation->name, measurement->name, AR_SHOW_SHAPE(&measurement->shape),
             measurement->channels, measurement->channels == 1 ? "" : "s", measurement->elements,
             measurement->type->name, measurement->elements == 1 ? "" : "s");
    return text;
}

const char *probe_name(enum probe probe)
{
    static const char *const names[] = {"",           "probe-latency", "probe-bandwidth",
                                        "probe-copy", "probe-reduce",  "probe-launch"};
    return names[probe];
}

/* --- host memory -------------------------------------------------------------------------- */

enum { ALIGNMENT = 4096 };

static enum ar_status host_allocate(struct ar_arena *arena, size_t bytes, unsigned char **memory,
                                    struct ar_error *err)
{
    (void)err;
    size_t pages = (bytes + ALIGNMENT) / ALIGNMENT; /* at least one */
    *memory = ar_arena_own(arena, aligned_alloc(ALIGNMENT, pages * ALIGNMENT), free);
    return AR_OK;
}

static enum ar_status host_copy(unsigned char *to, const unsigned char *from, size_t bytes,
                                struct ar_error *err)
{
    (void)err;
    memcpy(to, from, bytes);
    return AR_OK;
}

static enum ar_status host_reduce(const struct element_type *type, unsigned char *sum,
                                  const unsigned char *addend, uint64_t count, struct ar_error *err)
{
    (void)err;
    type->reduce(sum, addend, count);
    return AR_OK;
}

const struct memory memory_host = {
    .name = "host",
    .is_host = true,
    .allocate = host_allocate,
    .copy = host_copy,
    .reduce = host_reduce,
};
