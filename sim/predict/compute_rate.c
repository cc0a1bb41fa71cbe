/* Compute times scaled to measured rates of one GPU. */
#include "ar_scenario.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "ar_text.h"
#include "ar_units.h"

static int compare_batches(const void *a, const void *b)
{
    const struct compute_rate *first = a;
    const struct compute_rate *second = b;
    return (first->batch > second->batch) - (first->batch < second->batch);
}

enum ar_status compute_rates_parse(const char *where, const char *text, struct ar_arena *arena,
                                   struct compute_rates **rates, struct ar_error *err)
{
    struct compute_rates *parsed = ar_arena_alloc(arena, 1, sizeof *parsed);
    char *rest = ar_arena_text(arena, text);
    for (char *item; (item = ar_next_part(&rest, ',')) != NULL;) {
        uint64_t batch;
        double rate;
        struct ar_error ignored;
        char shown[64], *value = item;
        ar_copy_text(shown, sizeof shown, item);
        char *first = ar_next_part(&value, '=');
        if (value == NULL || ar_parse_count("", first, 1, 1000000, &batch, &ignored) != AR_OK ||
            ar_parse_number("", value, 1e-6, 1e12, &rate, &ignored) != AR_OK) {
            return ar_error_set(
                err, AR_USAGE,
                "%s: found \"%.40s\"; expected BATCH=SAMPLES_PER_S above zero, such "
                "as 32=950 or 32=950,64=1100",
                where, shown);
        }
        for (size_t i = 0; i < parsed->count; i++) {
            if (parsed->list[i].batch == batch) {
                return ar_error_set(err, AR_USAGE,
                                    "%s: found batch %" PRIu64 " twice; expected it once", where,
                                    batch);
            }
        }
        if (parsed->count == COMPUTE_RATES_MAX) {
            return ar_error_set(err, AR_USAGE, "%s: found more than %d batches; expected fewer",
                                where, COMPUTE_RATES_MAX);
        }
        parsed->list[parsed->count++] =
            (struct compute_rate){.batch = (uint32_t)batch, .samples_per_s = rate, .factor = 1};
    }
    qsort(parsed->list, parsed->count, sizeof parsed->list[0], compare_batches);
    *rates = parsed;
    return AR_OK;
}

void compute_rate_set(struct compute_rate *rate, double compute_s)
{
    rate->factor = rate->batch / compute_s / rate->samples_per_s;
}

double compute_rates_factor(const struct compute_rates *rates, uint32_t batch)
{
    const struct compute_rate *list = rates->list;
    if (batch <= list[0].batch) {
        return list[0].factor;
    }
    for (size_t i = 1; i < rates->count; i++) {
        if (batch <= list[i].batch) {
            double part = log2((double)batch / list[i - 1].batch) /
                          log2((double)list[i].batch / list[i - 1].batch);
            return list[i - 1].factor + part * (list[i].factor - list[i - 1].factor);
        }
    }
    return list[rates->count - 1].factor;
}
