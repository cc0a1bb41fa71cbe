#include "ar_operation.h"

#include <string.h>

#include "ar_text.h"

/* The part of a span that an element of it belongs to: the last one that begins, at part * count /
 * parts rounded down, at or before it. */
static uint32_t part_with(struct ar_span whole, uint32_t parts, uint64_t element)
{
    return (uint32_t)(((element - whole.first + 1) * parts - 1) / whole.count);
}

static bool is_owner(const struct ar_operation_place *place, uint32_t position)
{
    struct ar_span span = {.first = 0, .count = place->elements};
    for (uint32_t i = 0; i < AR_DIMENSIONS_MAX; i++) {
        uint32_t length = ar_shape_length(place->shape, i);
        uint32_t part = part_with(span, length, place->element);
        if (position % length != part) {
            return false;
        }
        span = ar_span_part(span, length, part);
        position /= length;
    }
    return true;
}

static uint32_t find_behind(const struct ar_operation_place *place)
{
    uint32_t x = place->shape->x;
    uint32_t y = ar_shape_ranks(place->shape) / x;
    uint32_t part =
        part_with((struct ar_span){.first = 0, .count = place->elements}, x * y, place->element);
    uint32_t column = (place->position % x + x - part / y) % x;
    uint32_t row = (place->position / x + y - part % y) % y;
    return row * x + column;
}

static bool is_one_of(const struct ar_operation_place *place, enum ar_operation_who who,
                      uint32_t position)
{
    switch (who) {
    case AR_WHO_ALL:
        return true;
    case AR_WHO_ROOT:
        return position == 0;
    case AR_WHO_LAST:
        return position == ar_shape_ranks(place->shape) - 1;
    case AR_WHO_OWNER:
        return is_owner(place, position);
    case AR_WHO_BEHIND:
        return position == find_behind(place);
    }
    return false;
}

bool ar_operation_holds(const struct ar_operation *operation,
                        const struct ar_operation_place *place, uint32_t contributor)
{
    return place->position == contributor && is_one_of(place, operation->holds, contributor);
}

bool ar_operation_wants(const struct ar_operation *operation,
                        const struct ar_operation_place *place, uint32_t contributor)
{
    return is_one_of(place, operation->wants, place->position) &&
           is_one_of(place, operation->wants_from, contributor);
}

double ar_operation_busbw_Bps(const struct ar_operation *operation, double algbw_Bps,
                              uint32_t ranks)
{
    return operation->rounds == 0
               ? algbw_Bps
               : algbw_Bps * operation->rounds * ((double)ranks - 1) / (double)ranks;
}

#define OPERATION(symbol, name_, command_, title_, rounds_, holds_, wants_, from_, payload_, ...)  \
    const struct ar_operation ar_operation_##symbol = {.name = (name_),                            \
                                                       .command = (command_),                      \
                                                       .title = (title_),                          \
                                                       .rounds = (rounds_),                        \
                                                       .holds = AR_WHO_##holds_,                   \
                                                       .wants = AR_WHO_##wants_,                   \
                                                       .wants_from = AR_WHO_##from_,               \
                                                       .payload = (payload_),                      \
                                                       __VA_ARGS__}

/* Symbol, name, command, title, rounds, who holds, who wants, from whom, what a payload counts. */
OPERATION(all_reduce, "all-reduce", "allreduce", "every GPU gets the sum of all", 2, ALL, ALL, ALL,
          "the buffer of one rank", );
OPERATION(reduce_scatter, "reduce-scatter", "reducescatter",
          "every GPU gets its part of the sum of all", 1, ALL, OWNER, ALL,
          "what one rank gives, N times what it gets", .has_parts = true);
OPERATION(all_gather, "all-gather", "allgather", "every GPU gets the parts of all", 1, OWNER, ALL,
          OWNER, "what one rank gets, N times what it gives", .has_parts = true);
OPERATION(broadcast, "broadcast", "broadcast", "every GPU gets what one has", 0, ROOT, ALL, ROOT,
          "the buffer of the root", .has_root = true);
OPERATION(reduce, "reduce", "reduce", "one GPU gets the sum of all", 0, ALL, ROOT, ALL,
          "the buffer of one rank", .has_root = true);
OPERATION(gather, "gather", "gather", "one GPU gets the parts of all", 1, OWNER, ROOT, OWNER,
          "what the root gets, N times what each rank gives", .has_parts = true, .has_root = true);
OPERATION(scatter, "scatter", "scatter", "every GPU gets its part of what one has", 1, ROOT, OWNER,
          ROOT, "what the root gives, N times what each rank gets", .has_parts = true,
          .has_root = true);
OPERATION(all_to_all, "all-to-all", "alltoall", "every GPU gets a part from every other", 1, ALL,
          ALL, BEHIND, "the buffer of one rank, N times what it gives to each", .has_parts = true);
OPERATION(send, "send", "send", "one message from a GPU to the one before it", 0, ROOT, LAST, ROOT,
          "the message", .has_root = true, .is_in_order = true);

#define ADDRESS(name) &ar_operation_##name,
const struct ar_operation *const ar_operations[] = {AR_OPERATION_LIST(ADDRESS)};
const size_t ar_operations_count = sizeof ar_operations / sizeof ar_operations[0];

enum ar_status ar_operation_find(const char *where, const char *command,
                                 const struct ar_operation **operation, struct ar_error *err)
{
    const char *commands[sizeof ar_operations / sizeof ar_operations[0]];
    for (size_t i = 0; i < ar_operations_count; i++) {
        if (strcmp(command, ar_operations[i]->command) == 0) {
            *operation = ar_operations[i];
            return AR_OK;
        }
        commands[i] = ar_operations[i]->command;
    }
    return ar_error_unknown(err, AR_USAGE, where, "operation", command, commands,
                            ar_operations_count);
}
