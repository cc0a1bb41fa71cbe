#include "ar_strategy.h"

#include <string.h>

#include "ar_text.h"

const struct ar_strategy *const ar_strategies[] = {
#define X(name) &ar_strategy_##name,
    AR_STRATEGY_LIST(X)
#undef X
};
const size_t ar_strategies_count = sizeof ar_strategies / sizeof ar_strategies[0];

enum ar_status ar_strategy_find(const char *where, const char *name,
                                const struct ar_strategy **strategy, struct ar_error *err)
{
    const char *names[sizeof ar_strategies / sizeof ar_strategies[0]];
    for (size_t i = 0; i < ar_strategies_count; i++) {
        names[i] = ar_strategies[i]->name;
        if (strcmp(names[i], name) == 0) {
            *strategy = ar_strategies[i];
            return AR_OK;
        }
    }
    return ar_error_unknown(err, AR_USAGE, where, "strategy", name, names, ar_strategies_count);
}

static double pass_s(const struct ar_layout *layout, const struct ar_device_cost *cost,
                     enum ar_transformer_part part, enum ar_transformer_pass pass)
{
    struct ar_kernels kernels;
    struct ar_transformer_slice slice = ar_layout_slice(layout);
    ar_transformer_kernels(layout->model, &slice, part, pass, &kernels);
    return ar_kernels_s(&kernels, cost, layout->precision);
}

void ar_part_times_make(const struct ar_layout *layout, const struct ar_device_cost *cost,
                        struct ar_part_times *times)
{
    static const uint64_t many = 1000000000; /* parameters, far from the floor of a kernel */
    for (int i = 0; i < AR_PARTS_COUNT; i++) {
        enum ar_transformer_part part = (enum ar_transformer_part)i;
        times->forward_s[part] = pass_s(layout, cost, part, AR_PASS_FORWARD);
        times->backward_s[part] = pass_s(layout, cost, part, AR_PASS_BACKWARD);
    }
    if (layout->recompute == AR_RECOMPUTE_FULL) {
        times->backward_s[AR_PART_LAYER] += times->forward_s[AR_PART_LAYER];
    } else if (layout->recompute == AR_RECOMPUTE_SELECTIVE && !layout->is_fused) {
        times->backward_s[AR_PART_LAYER] +=
            pass_s(layout, cost, AR_PART_LAYER, AR_PASS_AGAIN_ATTENTION);
    }
    times->optimizer_s = ar_device_cost_optimizer_s(cost, layout->precision, many) / (double)many;
}
