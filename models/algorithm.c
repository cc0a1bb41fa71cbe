#include <string.h>

#include "algorithms.h"
#include "ar_text.h"

const struct ar_algorithm *const ar_algorithms[] = {
#define X(name) &ar_algorithm_##name,
    AR_ALGORITHM_LIST(X)
#undef X
};
const size_t ar_algorithms_count = sizeof ar_algorithms / sizeof ar_algorithms[0];

enum ar_status ar_algorithm_find(const char *where, const char *name,
                                 const struct ar_algorithm **algorithm, struct ar_error *err)
{
    const char *names[sizeof ar_algorithms / sizeof ar_algorithms[0]];
    for (size_t i = 0; i < ar_algorithms_count; i++) {
        if (strcmp(name, ar_algorithms[i]->name) == 0) {
            *algorithm = ar_algorithms[i];
            return AR_OK;
        }
        names[i] = ar_algorithms[i]->name;
    }
    return ar_error_unknown(err, AR_USAGE, where, "algorithm", name, names, ar_algorithms_count);
}

uint32_t ar_algorithm_steps(const struct ar_algorithm *algorithm, const struct ar_shape *shape)
{
    struct ar_phase phases[AR_PHASES_MOST];
    uint32_t phases_count = algorithm->phases(shape, phases);
    uint32_t steps = 0;
    for (uint32_t i = 0; i < phases_count; i++) {
        steps += phases[i].steps;
    }
    return steps;
}

uint64_t ar_algorithm_messages(const struct ar_algorithm *algorithm, const struct ar_shape *shape)
{
    struct ar_phase phases[AR_PHASES_MOST];
    uint32_t phases_count = algorithm->phases(shape, phases);
    uint64_t messages = 0;
    for (uint32_t i = 0; i < phases_count; i++) {
        messages += phases[i].messages;
    }
    return messages;
}
