#include "ar_boxing.h"

#include <math.h>
#include <string.h>

#include "ar_text.h"
#include "ar_units.h"

static bool parse_one(const char *text, struct ar_placement *placement)
{
    uint64_t dimension = 0;
    if (strcmp(text, "B") == 0 || strcmp(text, "P") == 0) {
        *placement = (struct ar_placement){.kind = text[0] == 'B' ? AR_PLACEMENT_BROADCAST
                                                                  : AR_PLACEMENT_PARTIAL};
        return true;
    }
    if (text[0] != 'S' || ar_parse_count("", text + 1, 0, 15, &dimension, AR_IGNORED) != AR_OK) {
        return false;
    }
    *placement =
        (struct ar_placement){.kind = AR_PLACEMENT_SPLIT, .dimension = (uint32_t)dimension};
    return true;
}

enum ar_status ar_placements_parse(const char *where, const char *text,
                                   struct ar_placements *placements, struct ar_error *err)
{
    char copy[32];
    bool is_good = strlen(text) < sizeof copy;
    ar_copy_text(copy, sizeof copy, text);
    char *rest = copy;
    placements->axes_count = 0;
    for (char *part; is_good && (part = ar_next_part(&rest, ',')) != NULL;) {
        is_good = placements->axes_count < AR_BOXING_AXES_MAX &&
                  parse_one(part, &placements->axes[placements->axes_count]);
        placements->axes_count++;
    }
    AR_REFUSE(!is_good || placements->axes_count == 0, err, AR_USAGE,
              "%s: found \"%.40s\"; expected S0, S1, ... (split along a dimension of the tensor), "
              "B (broadcast) or P (partial sums), or two of them for two axes: S0,B",
              where, text);
    return AR_OK;
}

static bool placements_are_same(const struct ar_placement *one, const struct ar_placement *other)
{
    return one->kind == other->kind &&
           (one->kind != AR_PLACEMENT_SPLIT || one->dimension == other->dimension);
}

/* The operation of a group of p GPUs; NULL: nothing is sent. */
static const struct ar_operation *operation_of(const struct ar_placement *from,
                                               const struct ar_placement *to)
{
    if (placements_are_same(from, to) || from->kind == AR_PLACEMENT_BROADCAST ||
        (from->kind == AR_PLACEMENT_SPLIT && to->kind == AR_PLACEMENT_PARTIAL)) {
        return NULL;
    }
    if (from->kind == AR_PLACEMENT_SPLIT) {
        return to->kind == AR_PLACEMENT_SPLIT ? &ar_operation_all_to_all : &ar_operation_all_gather;
    }
    return to->kind == AR_PLACEMENT_SPLIT ? &ar_operation_reduce_scatter : &ar_operation_all_reduce;
}

/* Bytes that p GPUs send in all to do it to `whole` bytes. */
static double operation_bytes(const struct ar_operation *operation, double whole, uint32_t p)
{
    if (operation == NULL || p == 1) {
        return 0;
    }
    double passes = operation == &ar_operation_all_reduce ? 2 : 1;
    return passes * whole * (p - 1) / (operation == &ar_operation_all_to_all ? p : 1);
}

/* The steps of one order of the axes. What other axes split is the smaller for this one, by their
 * placement at that time. */
static void make_in_order(const struct ar_placements *from, const struct ar_placements *to,
                          const uint32_t *sizes, uint64_t tensor_bytes, bool is_backward,
                          struct ar_boxing *boxing)
{
    struct ar_placements now = *from;
    *boxing = (struct ar_boxing){.steps_count = from->axes_count};
    for (uint32_t i = 0; i < from->axes_count; i++) {
        uint32_t axis = is_backward ? from->axes_count - 1 - i : i;
        double whole = (double)tensor_bytes;
        uint32_t groups = 1;
        for (uint32_t other = 0; other < from->axes_count; other++) {
            if (other != axis) {
                groups *= sizes[other];
                whole /= now.axes[other].kind == AR_PLACEMENT_SPLIT ? sizes[other] : 1;
            }
        }
        struct ar_boxing_step *step = &boxing->steps[i];
        step->axis = axis;
        step->groups = groups;
        step->operation = sizes[axis] > 1 ? operation_of(&now.axes[axis], &to->axes[axis]) : NULL;
        /* A buffer of an all-to-all is the part that a GPU has. */
        double share = step->operation == &ar_operation_all_to_all ? sizes[axis] : 1;
        step->payload_bytes = step->operation != NULL ? (uint64_t)(whole / share) : 0;
        step->bytes = groups * operation_bytes(step->operation, whole, sizes[axis]);
        boxing->bytes += step->bytes;
        now.axes[axis] = to->axes[axis];
    }
}

void ar_boxing_make(const struct ar_placements *from, const struct ar_placements *to,
                    const uint32_t *sizes, uint64_t tensor_bytes, struct ar_boxing *boxing)
{
    struct ar_boxing other;
    make_in_order(from, to, sizes, tensor_bytes, false, boxing);
    make_in_order(from, to, sizes, tensor_bytes, true, &other);
    *boxing = other.bytes < boxing->bytes ? other : *boxing;
}

/* --- to other GPUs ---------------------------------------------------------------------------- */

double ar_boxing_message_bytes(const struct ar_placement *from, uint32_t p,
                               const struct ar_placement *to, uint32_t q, uint64_t tensor_bytes,
                               uint32_t source, uint32_t target)
{
    double whole = (double)tensor_bytes;
    bool is_own = source == target % p;
    /* The elements that part `source` of p and part `target` of q have in common. */
    double first = fmax(source / (double)p, target / (double)q);
    double end = fmin((source + 1.0) / p, (target + 1.0) / q);
    double overlap_frac = end > first ? end - first : 0;
    switch (from->kind) {
    case AR_PLACEMENT_SPLIT:
        if (to->kind == AR_PLACEMENT_PARTIAL) { /* an addend with nothing else in it */
            return target == source % q ? whole / p : 0;
        }
        return to->kind == AR_PLACEMENT_BROADCAST ? whole / p
               : placements_are_same(from, to)    ? whole * overlap_frac
                                                  : whole / p / q;
    case AR_PLACEMENT_BROADCAST:
        if (to->kind == AR_PLACEMENT_PARTIAL) { /* all in one addend */
            return source == 0 && target == 0 ? whole : 0;
        }
        return is_own ? whole / (to->kind == AR_PLACEMENT_SPLIT ? q : 1) : 0;
    default:
        return to->kind != AR_PLACEMENT_PARTIAL ? whole / q : target == source % q ? whole : 0;
    }
}

void ar_boxing_between(const struct ar_placement *from, uint32_t p, const struct ar_placement *to,
                       uint32_t q, uint64_t tensor_bytes, struct ar_boxing *boxing)
{
    struct ar_boxing_step messages = {.operation = &ar_operation_send};
    for (uint32_t i = 0; i < p; i++) {
        double sent_bytes = 0;
        for (uint32_t j = 0; j < q; j++) {
            double bytes = ar_boxing_message_bytes(from, p, to, q, tensor_bytes, i, j);
            uint64_t payload_bytes = (uint64_t)ceil(bytes);
            sent_bytes += bytes;
            messages.groups += bytes > 0;
            messages.payload_bytes =
                payload_bytes > messages.payload_bytes ? payload_bytes : messages.payload_bytes;
        }
        messages.bytes += sent_bytes;
    }
    *boxing = (struct ar_boxing){.steps_count = 1, .steps = {messages}, .bytes = messages.bytes};
    if (from->kind == AR_PLACEMENT_PARTIAL && to->kind == AR_PLACEMENT_BROADCAST && q > 1) {
        boxing->steps[boxing->steps_count++] = (struct ar_boxing_step){
            .operation = &ar_operation_all_gather,
            .payload_bytes = tensor_bytes,
            .groups = 1,
            .bytes = operation_bytes(&ar_operation_all_gather, (double)tensor_bytes, q)};
        boxing->bytes += boxing->steps[1].bytes;
    }
}
