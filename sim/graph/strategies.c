#include "ar_strategy.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "ar_text.h"
#include "ar_units.h"

/* --- strategies with servers, whose steps are asynchronous runs (sim/servers) ----------------- */

/* Parameter servers: parameters lie on servers in shards; workers push their gradients there and
 * pull what comes of them. What differs is how far a worker may be ahead of the slowest one: not at
 * all; as far as it gets (Downpour: Dean et al., Large Scale Distributed Deep Networks, NIPS 2012);
 * some steps (Ho et al., More Effective Distributed ML via a Stale Synchronous Parallel Parameter
 * Server, NIPS 2013). */
const struct ar_strategy ar_strategy_ps_sync = {
    .name = "ps-sync",
    .title = "parameter servers, all workers in step",
    .is_asynchronous = true,
};

const struct ar_strategy ar_strategy_ps_async = {
    .name = "ps-async",
    .title = "parameter servers, no worker waits for another",
    .is_asynchronous = true,
    .staleness = AR_STALENESS_FREE,
};

const struct ar_strategy ar_strategy_ssp = {
    .name = "ssp",
    .title = "parameter servers, no worker is more than S steps ahead of another",
    .is_asynchronous = true,
    .staleness = AR_STALENESS_NAMED,
};

/* Work units: a coordinator deals units to workers that ask for them, which then push the sum of
 * what they found to parameter servers, and pull (Sandblaster: Dean et al., Large Scale Distributed
 * Deep Networks, NIPS 2012). */
const struct ar_strategy ar_strategy_work_units = {
    .name = "work-units",
    .title = "units are dealt to workers that ask; the slowest are done twice",
    .is_asynchronous = true,
    .deals_units = true,
};

/* --- the list --------------------------------------------------------------------------------- */

#define ADDRESS(name) &ar_strategy_##name,
const struct ar_strategy *const ar_strategies[] = {AR_STRATEGY_LIST(ADDRESS)};
const size_t ar_strategies_count = sizeof ar_strategies / sizeof ar_strategies[0];

enum ar_status ar_strategy_parse(const char *where, const char *text,
                                 const struct ar_strategy **strategy, uint32_t *staleness,
                                 struct ar_error *err)
{
    char name[AR_STRATEGY_TEXT];
    const struct ar_strategy *found = NULL;
    uint64_t bound = 0;
    size_t length = strcspn(text, ":");
    const char *names[sizeof ar_strategies / sizeof ar_strategies[0]];
    ar_copy_text(name, length < sizeof name ? length + 1 : sizeof name, text);
    for (size_t i = 0; i < ar_strategies_count; i++) {
        names[i] = ar_strategies[i]->name;
        const char *alias = ar_strategies[i]->alias;
        bool is_meant = strcmp(names[i], name) == 0 || (alias != NULL && strcmp(alias, name) == 0);
        found = is_meant ? ar_strategies[i] : found;
    }
    AR_REFUSE(strcmp(name, "hsdp") == 0, err, AR_USAGE,
              "%s: found hsdp; expected zero3 with --mesh rep=COPIES,dp=SHARDS", where);
    AR_REFUSE_BY(found == NULL, ar_error_unknown(err, AR_USAGE, where, "strategy", name, names,
                                                 ar_strategies_count));
    bool is_named = found->staleness == AR_STALENESS_NAMED;
    AR_REFUSE(is_named && ar_parse_count(where, text[length] == '\0' ? "" : text + length + 1, 0,
                                         AR_STALENESS_NAMED - 1, &bound, AR_IGNORED) != AR_OK,
              err, AR_USAGE,
              "%s: found \"%.60s\"; expected %s:S with S steps, 0 or more, that a worker may be "
              "ahead of the slowest, such as %s:3",
              where, text, name, name);
    AR_REFUSE(!is_named && text[length] != '\0', err, AR_USAGE,
              "%s: found \"%.60s\"; expected %s alone", where, text, name);
    *strategy = found;
    *staleness = is_named ? (uint32_t)bound : found->staleness;
    return AR_OK;
}

void ar_strategy_format(const struct ar_strategy *strategy, uint32_t staleness,
                        char text[AR_STRATEGY_TEXT])
{
    ar_copy_text(text, AR_STRATEGY_TEXT, strategy->name);
    if (strategy->staleness == AR_STALENESS_NAMED) {
        snprintf(text, AR_STRATEGY_TEXT, "%s:%" PRIu32, strategy->name, staleness);
    }
}

/* --- times of the parts of a transformer ------------------------------------------------------ */

/* Training in fp8 computes the head in bf16: NVIDIA/Megatron-LM, whose output layer is not one of
 * Transformer Engine's unless asked (pull request 4825 of 2026, fp8_output_proj). */
static double pass_s(const struct ar_layout *layout, const struct ar_device_cost *cost,
                     enum ar_transformer_part part, enum ar_transformer_pass pass)
{
    struct ar_kernels kernels;
    struct ar_transformer_slice slice = ar_layout_slice(layout);
    enum ar_precision stored = ar_precisions[layout->precision].stored;
    bool is_narrow = ar_precisions[layout->precision].bytes < ar_precisions[stored].bytes;
    bool is_wide_head = part == AR_PART_HEAD && is_narrow &&
                        ar_device_cost_has_group(cost, stored, AR_COST_OF_PRODUCTS);
    slice.precision = is_wide_head ? stored : layout->precision;
    ar_transformer_kernels(layout->model, &slice, part, pass, &kernels);
    return ar_kernels_s(&kernels, cost, slice.precision);
}

/* Bytes of a gradient that kernels read: a narrower one is so on the wire alone, but for shards,
 * which lie as they are sent. */
static double kept_gradient_bytes(const struct ar_layout *layout)
{
    double sent = ar_precisions[layout->gradients].bytes;
    double own = ar_stored_bytes(layout->precision);
    return layout->strategy->shards_gradients ? sent : fmax(sent, own);
}

/* Bytes of the optimizer's kernels for each parameter, as Megatron-LM v2.6 and apex launch them
 * (megatron/optimizer/optimizer.py, multi_tensor_*): the gradient is divided by the replicas,
 * widened to fp32, in fp16 unscaled and checked, read for the norm of all and clipped by it; Adam
 * reads it, and reads and writes master copy, mean and variance; the parameter is made from the
 * master copy, and the gradient is set to zero. */
static double optimizer_bytes(const struct ar_layout *layout)
{
    const double wide = ar_precisions[AR_FP32].bytes;
    double gradient = kept_gradient_bytes(layout);
    double divided = ar_layout_replicas(layout) > 1 ? 2 * gradient : 0;
    double widened = gradient < wide ? gradient + wide : 0;
    double unscaled = layout->precision == AR_FP16 ? 2 * wide : 0;
    double clipped = wide + 2 * wide, updated = 7 * wide;
    double made = wide + ar_stored_bytes(layout->precision);
    return divided + widened + unscaled + clipped + updated + made + gradient;
}

static double count_launched(const struct ar_layout *layout, enum ar_transformer_part part,
                             enum ar_transformer_pass pass)
{
    struct ar_kernels kernels;
    struct ar_transformer_slice slice = ar_layout_slice(layout);
    ar_transformer_kernels(layout->model, &slice, part, pass, &kernels);
    double count = 0;
    for (size_t i = 0; i < kernels.count; i++) {
        count += 1 - kernels.list[i].lacking_frac;
    }
    return count;
}

void ar_part_times_make(const struct ar_layout *layout, const struct ar_device_cost *cost,
                        double factor, const struct ar_framework *framework,
                        struct ar_part_times *times)
{
    double batches = ar_layout_batches(layout);
    /* Every kernel of a pass, also those of what is recomputed, costs the host the same. */
    double kernel_s = framework->terms[AR_TERM_HOST_KERNEL].number;
    struct ar_host_times host = {.batch_s = framework->terms[AR_TERM_HOST_BATCH].number,
                                 .collective_s = framework->terms[AR_TERM_HOST_COLLECTIVE].number,
                                 .tensor_s = framework->terms[AR_TERM_HOST_TENSOR].number,
                                 .is_blocking = framework->terms[AR_TERM_HOST_BLOCKING].number > 0};
    host.is_on = kernel_s + host.batch_s + host.collective_s > 0;
    for (int i = 0; i < AR_PARTS_COUNT; i++) {
        enum ar_transformer_part part = (enum ar_transformer_part)i;
        host.forward_s[i] = kernel_s * count_launched(layout, part, AR_PASS_FORWARD);
        host.backward_s[i] = kernel_s * count_launched(layout, part, AR_PASS_BACKWARD);
    }
    host.again_s = host.backward_s[AR_PART_LAYER] +
                   kernel_s * count_launched(layout, AR_PART_LAYER, AR_PASS_AGAIN);
    times->host = host;
    for (int i = 0; i < AR_PARTS_COUNT; i++) {
        enum ar_transformer_part part = (enum ar_transformer_part)i;
        double experts;
        double dense = ar_transformer_trained_parameters(layout->model, layout->sizes[AR_AXIS_TP],
                                                         layout->sizes[AR_AXIS_EP], part, &experts);
        /* The gradients of all micro-batches but the first are added to those that are there: two
         * reads and a write of each. Sharded ones are a small part of that. */
        double bytes = 3 * (dense + experts) * kept_gradient_bytes(layout);
        double accumulate_s =
            batches > 1 && !layout->strategy->shards_gradients
                ? (batches - 1) / batches * ar_device_memory_s(cost, layout->precision, bytes)
                : 0;
        times->forward_s[part] = pass_s(layout, cost, part, AR_PASS_FORWARD);
        times->backward_s[part] = pass_s(layout, cost, part, AR_PASS_BACKWARD) + accumulate_s;
    }
    times->again_s =
        times->backward_s[AR_PART_LAYER] + pass_s(layout, cost, AR_PART_LAYER, AR_PASS_AGAIN);
    static const double many = 1e9; /* bytes, far from the floor of a kernel */
    times->memory_s = ar_device_memory_s(cost, layout->precision, many) / many;
    times->optimizer_s = optimizer_bytes(layout) * times->memory_s;
    for (int i = 0; i < AR_PARTS_COUNT; i++) {
        times->forward_s[i] *= factor;
        times->backward_s[i] *= factor;
    }
    times->again_s *= factor;
    times->optimizer_s *= factor;
    if (layout->offload == AR_OFFLOAD_OPTIMIZER) {
        times->optimizer_s = ar_layout_offload_bytes(layout) / layout->host_link_Bps +
                             AR_OFFLOAD_UPDATE_BYTES / layout->host_update_Bps;
    }
    times->memory_s *= factor;
}
