/* What makes ranks and steps differ from each other. */
#include <inttypes.h>
#include <string.h>

#include "ar_text.h"
#include "ar_units.h"
#include "plan.h"

enum { ITERATIONS_STANDARD = 20, ITERATIONS_MAX = 100000 };

#define FACTOR_MAX 1e6

static bool is_straggler(const struct plan *plan, uint32_t rank)
{
    for (uint32_t i = 0; i < plan->stragglers_count; i++) {
        if (plan->stragglers[i].rank == rank) {
            return true;
        }
    }
    return false;
}

/* Parses RANK:FACTOR; whether there is such a rank is seen when the number of GPUs is known. */
static enum ar_status parse_straggler(const char *text, struct plan *plan, struct ar_error *err)
{
    char rank_text[24];
    uint64_t rank;
    double factor;
    struct ar_error ignored;
    size_t length = strcspn(text, ":");
    ar_copy_text(rank_text, length < sizeof rank_text ? length + 1 : sizeof rank_text, text);
    if (text[length] == '\0' || length >= sizeof rank_text ||
        ar_parse_count("", rank_text, 0, UINT32_MAX - 1, &rank, &ignored) != AR_OK ||
        ar_parse_number("", text + length + 1, 1, FACTOR_MAX, &factor, &ignored) != AR_OK) {
        return ar_error_set(err, AR_USAGE,
                            "--straggler: found \"%.60s\"; expected RANK:FACTOR with a factor of "
                            "compute time from 1 to 1e6, such as 17:1.5",
                            text);
    }
    if (is_straggler(plan, (uint32_t)rank)) {
        return ar_error_set(err, AR_USAGE,
                            "--straggler: found rank %" PRIu64 " twice; expected it once", rank);
    }
    plan->stragglers[plan->stragglers_count++] = (struct ar_straggler){(uint32_t)rank, factor};
    return AR_OK;
}

enum ar_status plan_parse_uneven(const struct options *options, struct plan *plan,
                                 struct ar_error *err)
{
    uint64_t iterations;
    enum ar_status status = AR_OK;
    plan->jitter_frac = ar_framework_number(plan->framework, AR_TERM_JITTER);
    if (options->jitter != NULL) {
        status = ar_parse_number("--jitter", options->jitter, 0, 1, &plan->jitter_frac, err);
    }
    if (status == AR_OK) {
        status = ar_parse_count("--seed", options->seed, 0, UINT32_MAX, &plan->seed, err);
    }
    uint32_t steps = options->jitter_steps > 0 ? options->jitter_steps : ITERATIONS_STANDARD;
    iterations = plan->jitter_frac > 0 ? steps : 1;
    if (status == AR_OK && options->iterations != NULL) {
        status = ar_parse_count("--iterations", options->iterations, 1, ITERATIONS_MAX, &iterations,
                                err);
    }
    plan->iterations_count = (uint32_t)iterations;
    plan->stragglers_count = 0;
    for (size_t i = 0; status == AR_OK && i < options->stragglers.count; i++) {
        status = parse_straggler(options->stragglers.texts[i], plan, err);
    }
    return option_status(status, err);
}

enum ar_status plan_check_stragglers(const struct plan *plan, uint32_t gpus, struct ar_error *err)
{
    for (uint32_t i = 0; i < plan->stragglers_count; i++) {
        if (plan->stragglers[i].rank >= gpus) {
            return ar_error_set(err, AR_USAGE,
                                "--straggler: found rank %" PRIu32 " of %" PRIu32
                                " GPUs; expected 0 to %" PRIu32,
                                plan->stragglers[i].rank, gpus, gpus - 1);
        }
    }
    return AR_OK;
}
