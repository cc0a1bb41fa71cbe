#include "measurement.h"

#include <inttypes.h>
#include <stdio.h>

struct ar_order measurement_order(const struct measurement *measurement)
{
    const struct ar_algorithm *algorithm = measurement->algorithm;
    bool is_mirrored = algorithm != NULL && algorithm->has_mirror;
    return (struct ar_order){.ranks = measurement->ranks,
                             .node_members = measurement->ranks_per_node,
                             .channels = measurement->channels,
                             .mirror_group = is_mirrored ? measurement->shape.x : 0};
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

const char *measurement_text(const struct measurement *measurement, char text[MEASUREMENT_TEXT])
{
    char shape[AR_SHAPE_TEXT];
    snprintf(text, MEASUREMENT_TEXT, "%s %s, %" PRIu32 " channel%s, %" PRIu64 " %s element%s",
             measurement->name, ar_shape_format(&measurement->shape, shape), measurement->channels,
             measurement->channels == 1 ? "" : "s", measurement->elements, measurement->type->name,
             measurement->elements == 1 ? "" : "s");
    return text;
}
