#include "steps.h"

#include <inttypes.h>
#include <string.h>

/* Collectives say "Float", inputs of operators "float" or "c10::Half". */
static const struct {
    const char *name;
    uint32_t bytes;
    const char *precision; /* its name here, "" if it is no precision of training */
} types[] = {{"Float", 4, "fp32"},     {"float", 4, "fp32"},    {"Half", 2, "fp16"},
             {"c10::Half", 2, "fp16"}, {"BFloat16", 2, "bf16"}, {"c10::BFloat16", 2, "bf16"},
             {"Double", 8, ""},        {"double", 8, ""},       {"Long", 8, ""},
             {"Int", 4, ""},           {"Short", 2, ""},        {"Byte", 1, ""},
             {"Char", 1, ""},          {"Bool", 1, ""}};

uint32_t kineto_type_bytes(const char *type)
{
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        if (strcmp(types[i].name, type) == 0) {
            return types[i].bytes;
        }
    }
    return 0;
}

bool kineto_type_precision(const char *type, enum ar_precision *precision)
{
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        for (unsigned k = 0; strcmp(types[i].name, type) == 0 && ar_precision_names[k] != NULL;
             k++) {
            if (strcmp(types[i].precision, ar_precision_names[k]) == 0) {
                *precision = (enum ar_precision)k;
                return true;
            }
        }
    }
    return false;
}

static const struct kineto_op *op_of(const struct kineto_steps *steps,
                                     const struct kineto_step *step, size_t arrival)
{
    return &steps->kineto->ops[steps->arrivals[step->arrivals_first + arrival].op];
}

size_t kineto_sizes_count(const struct kineto_steps *steps, const struct kineto_step *step)
{
    size_t first = 0;
    while (first < step->arrivals_count &&
           op_of(steps, step, first)->start_s <= step->last_forward_s) {
        first++;
    }
    return step->arrivals_count - first;
}

/* The tensors of a trace in the order of arrival: backwards. Sums of buckets must agree. */
static enum ar_status take_parameters(const struct kineto_steps *steps,
                                      const struct kineto_step *step, size_t first,
                                      const struct ar_trace *parameters, uint64_t *elements,
                                      struct ar_error *err)
{
    uint64_t sum = 0;
    const char *path = steps->kineto->path;
    size_t count = step->arrivals_count - first;
    if (count != parameters->tensors_count) {
        return ar_error_set(err, AR_BAD_DATA,
                            "%.300s: %zu gradients arrive in a step, and %.63s has %u tensors; "
                            "expected the parameters of the same model",
                            path, count, parameters->name, parameters->tensors_count);
    }
    for (size_t i = 0; i < count; i++) {
        const struct kineto_op *op = op_of(steps, step, first + i);
        elements[first + i] = parameters->tensor_elements[count - 1 - i];
        sum += elements[first + i];
        if (op->elements > 0 && op->elements != elements[first + i]) {
            return ar_error_set(err, AR_BAD_DATA,
                                "%.300s: gradient %zu has %" PRIu64 " elements, and %.63s %" PRIu64
                                "; expected the parameters of the same model",
                                path, i + 1, op->elements, parameters->name, elements[first + i]);
        }
        if (op->bucket_elements > 0 && op->bucket_elements != sum) {
            return ar_error_set(err, AR_BAD_DATA,
                                "%.300s: the bucket that gradient %zu completes has %" PRIu64
                                " elements, and in %.63s %" PRIu64
                                "; expected the parameters of the same model",
                                path, i + 1, op->bucket_elements, parameters->name, sum);
        }
        sum = op->bucket_elements > 0 ? 0 : sum;
    }
    return AR_OK;
}

static enum ar_status take_recorded(const struct kineto_steps *steps,
                                    const struct kineto_step *step, size_t first,
                                    uint64_t *elements, enum kineto_sizes *from,
                                    struct ar_error *err)
{
    uint64_t sum = 0;
    bool has_shapes = true;
    for (size_t i = first; i < step->arrivals_count; i++) {
        has_shapes = has_shapes && op_of(steps, step, i)->elements > 0;
    }
    for (size_t i = first; i < step->arrivals_count; i++) {
        const struct kineto_op *op = op_of(steps, step, i);
        elements[i] = has_shapes ? op->elements : op->bucket_elements;
        if (elements[i] > AR_TRACE_ELEMENTS_MAX - sum) {
            return ar_error_set(err, AR_BAD_DATA,
                                "%.300s: more than 2^50 elements of gradients; expected fewer",
                                steps->kineto->path);
        }
        sum += elements[i];
    }
    *from = has_shapes ? KINETO_SIZES_SHAPES : KINETO_SIZES_BUCKETS;
    return sum > 0 ? AR_OK
                   : ar_error_set(err, AR_BAD_DATA,
                                  "%.300s: neither shapes nor collectives say how large the %zu "
                                  "gradients are; expected a profile with record_shapes=True, or "
                                  "--parameters TRACE",
                                  steps->kineto->path, step->arrivals_count - first);
}

enum ar_status kineto_sizes_find(const struct kineto_steps *steps, const struct kineto_step *step,
                                 const struct ar_trace *parameters, struct ar_arena *arena,
                                 uint64_t **elements, enum kineto_sizes *from, struct ar_error *err)
{
    size_t first = step->arrivals_count - kineto_sizes_count(steps, step);
    uint64_t *made = ar_arena_alloc(arena, step->arrivals_count + 1, sizeof *made);
    AR_NEED(made, err, steps->kineto->path);
    if (parameters != NULL) {
        AR_TRY(take_parameters(steps, step, first, parameters, made, err));
        *from = KINETO_SIZES_PARAMETERS;
    } else {
        AR_TRY(take_recorded(steps, step, first, made, from, err));
    }
    *elements = made;
    return AR_OK;
}
