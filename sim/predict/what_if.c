#include "ar_what_if.h"

#include <inttypes.h>
#include <string.h>

#include "ar_kind.h"
#include "ar_text.h"
#include "ar_units.h"

/* Links outside NVLink: a faster network needs faster PCIe links, too. */
#define NETWORK "hca. pcie. rack. tree. torus. dragonfly."

const struct ar_what_if ar_what_if_plans[AR_WHAT_IF_PLANS] = {
    {"network-x2", "twice the rate of HCAs, of their PCIe links and of switches", AR_KEY_SET,
     .links = NETWORK, .factor = 2},
    {"slow-hca", "one HCA at a quarter of its rate", AR_KEY_SLOW_LINK, .value = "node-0.hca-0:4"},
    {"straggler", "one GPU of the busiest stage that computes 1.2 times as long", AR_KEY_STRAGGLER,
     .value = "1.2"},
    {"next-gpu", "GPUs of the next generation with the memory and links of these", AR_KEY_SET,
     .value = NULL},
};

const struct ar_what_if ar_what_if_causes[] = {
    {"overlap-off", "gradients are summed behind the backward pass, not beside it", AR_KEY_OVERLAP,
     .value = "no"},
    {"overlap-tensor-off", "collectives of tensor parallelism do not run beside their products",
     AR_KEY_OVERLAP_TENSOR, .value = "no"},
    {"overlap-experts-off", "nothing hides what experts exchange", AR_KEY_OVERLAP_EXPERTS,
     .value = "no"},
    {"prefetch-off", "parameters are gathered when they are needed, not ahead", AR_KEY_PREFETCH,
     .value = "0"},
    {"unfused", "attention is not fused", AR_KEY_ATTENTION, .value = "unfused"},
    {"flash1", "attention is FlashAttention of 2022", AR_KEY_ATTENTION, .value = "flash1"},
    {"recompute-full", "all activations are computed again", AR_KEY_RECOMPUTE, .value = "full"},
    {"recompute-none", "no activations are computed again", AR_KEY_RECOMPUTE, .value = "none"},
    {"fp32", "products run in fp32", AR_KEY_PRECISION, .value = "fp32"},
    {"bf16", "products run in bf16", AR_KEY_PRECISION, .value = "bf16"},
    {"fp8", "products run in fp8", AR_KEY_PRECISION, .value = "fp8"},
    {"hca-half", "half of the HCAs' rate: some are unused, or GPUDirect RDMA is off", AR_KEY_SET,
     .links = "hca.", .factor = 0.5},
    {"hca-tenth", "a tenth of the HCAs' rate: sockets in place of RDMA", AR_KEY_SET,
     .links = "hca.", .factor = 0.1},
    {"slow-hca", "one HCA or cable at a quarter of its rate", AR_KEY_SLOW_LINK,
     .value = "node-0.hca-0:4"},
    {"network-x2", "the network is twice as fast as the cluster file says", AR_KEY_SET,
     .links = NETWORK, .factor = 2},
    {"nvlink-off", "GPUs of a node do not use NVLink", AR_KEY_SET, .value = "nvlink.pairs=none"},
    {"straggler", "one GPU of the busiest stage computes 1.2 times as long: throttled, or shared",
     AR_KEY_STRAGGLER, .value = "1.2"},
    {"eager", "norms, RoPE and activations are not fused: eager PyTorch without torch.compile",
     AR_KEY_FRAMEWORK, .value = "eager-llama", .is_of_gated = true},
    {"host", "the host launches kernels no faster than that of Megatron-DeepSpeed",
     AR_KEY_FRAMEWORK, .value = "megatron-deepspeed"},
};
const size_t ar_what_if_causes_count = sizeof ar_what_if_causes / sizeof ar_what_if_causes[0];

const char *ar_what_if_next_gpu(const char *cost_table)
{
    static const char *const generations[][2] = {{"v100-sxm2", "a100-80gb-sxm"},
                                                 {"a100-40gb-sxm", "h100-sxm"},
                                                 {"a100-80gb-sxm", "h100-sxm"},
                                                 {"h100-sxm", "b200"},
                                                 {"h200-sxm", "b200"},
                                                 {"b200", "b300"},
                                                 {"gb200", "gb300"},
                                                 {"mi300x", "mi355x"}};
    for (size_t i = 0; i < sizeof generations / sizeof generations[0]; i++) {
        if (strcmp(generations[i][0], cost_table) == 0) {
            return generations[i][1];
        }
    }
    return NULL;
}

/* Finds the first GPU of the stage that computes longest. A slow GPU of another stage may cost
 * nothing: that stage waits for the longest one in any case. */
static enum ar_status find_busiest_stage(const struct ar_scenario *scenario, struct ar_arena *arena,
                                         uint32_t *rank, struct ar_error *err)
{
    struct ar_timing timing;
    struct ar_job job = ar_scenario_job(scenario);
    double longest_s = 0;
    job.is_row_alone = true;
    AR_TRY(ar_predict(&job, arena, &timing, err));
    uint32_t roles = timing.graph != NULL ? timing.graph->roles_count : 0; /* servers have none */
    struct ar_graph_split *splits = ar_arena_alloc(arena, roles + 1, sizeof *splits);
    if (roles > 0) {
        ar_graph_split(timing.graph, splits);
    }
    for (uint32_t role = 0; role < roles; role++) {
        double compute_s = 0;
        for (int i = 0; i < AR_DUTIES_COUNT; i++) {
            compute_s += splits[role].duty_s[i];
        }
        if (compute_s > longest_s) {
            longest_s = compute_s;
            *rank = role * (scenario->gpus / roles);
        }
    }
    return AR_OK;
}

enum ar_status ar_what_if_run(const struct ar_scenario *scenario, const struct ar_what_if *change,
                              struct ar_row *row, struct ar_error *err)
{
    const struct ar_origin origin = {.where = change->name, .status = AR_USAGE};
    struct ar_arena arena AR_ENDS_HERE = {NULL};
    struct ar_scenario changed = *scenario;
    changed.arena = &arena;
    AR_REFUSE(change->is_of_gated && !scenario->layout.model->is_gated, err, AR_USAGE,
              "%s: the model has no gated feed-forward network", origin.where);
    if (change->value == NULL) {
        /* Multiplies rates whose key begins with one of the words; AR_USAGE if there is none. */
        const struct ar_cluster *cluster = changed.cluster;
        size_t count = 0;
        for (size_t i = 0; i < ar_cluster_parameters_count(cluster); i++) {
            const struct ar_cluster_parameter parameter = ar_cluster_parameter(cluster, i);
            double rate_Bps;
            bool is_meant = false;
            AR_EACH_WORD(word, change->links) {
                is_meant = is_meant || strncmp(parameter.key, word, strlen(word)) == 0;
            }
            if (is_meant && ar_parse_quantity("", parameter.text, AR_QUANTITY_RATE, &rate_Bps,
                                              AR_IGNORED) == AR_OK) {
                AR_TRY(
                    ar_scenario_replace(&changed, AR_KEY_SET, &origin,
                                        ar_arena_format(changed.arena, "%s=%.17gB/s", parameter.key,
                                                        rate_Bps * change->factor),
                                        err));
                count++;
            }
        }
        AR_REFUSE(count == 0, err, AR_USAGE, "%s: the cluster has no rate of %s", origin.where,
                  change->links);
    } else if (change->key == AR_KEY_STRAGGLER) {
        uint32_t rank = 0;
        AR_TRY(find_busiest_stage(scenario, &arena, &rank, err));
        AR_TRY(ar_scenario_set(&changed, change->key, &origin,
                               ar_arena_format(&arena, "%" PRIu32 ":%s", rank, change->value),
                               err));
    } else if (change->key == AR_KEY_SET) {
        AR_TRY(ar_scenario_replace(&changed, AR_KEY_SET, &origin, change->value, err));
    } else {
        AR_TRY(ar_scenario_set(&changed, change->key, &origin, change->value, err));
    }
    changed.cluster = NULL;
    AR_TRY(ar_scenario_load(&changed, err));
    return ar_run(&changed, row, err);
}
