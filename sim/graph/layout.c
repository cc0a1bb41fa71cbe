#include "ar_layout.h"

#include "ar_numbers.h"
#include "ar_strategy.h"

const char *const ar_offload_names[] = {AR_OFFLOAD_LIST(AR_LIST_SECOND) NULL};
const char *const ar_dispatcher_names[] = {AR_DISPATCHER_LIST(AR_LIST_SECOND) NULL};

/* GPUs that see other sequences. */
static uint32_t count_sequences(const struct ar_layout *layout)
{
    return layout->sizes[AR_AXIS_REP] * layout->sizes[AR_AXIS_DP] * layout->sizes[AR_AXIS_EP];
}

uint32_t ar_layout_replicas(const struct ar_layout *layout)
{
    return count_sequences(layout) * layout->sizes[AR_AXIS_CP];
}

uint32_t ar_layout_shards(const struct ar_layout *layout)
{
    return ar_layout_replicas(layout) / layout->sizes[AR_AXIS_REP];
}

uint32_t ar_layout_batches(const struct ar_layout *layout)
{
    return layout->global_batch / (count_sequences(layout) * layout->micro_batch);
}

struct ar_pipeline ar_layout_pipeline(const struct ar_layout *layout)
{
    return (struct ar_pipeline){.stages = layout->sizes[AR_AXIS_PP],
                                .batches = ar_layout_batches(layout),
                                .chunks = layout->chunks};
}

/* Whether the ends of the pipeline count as layers, so that they have one less. */
static bool has_lighter_ends(uint32_t layers, uint32_t places)
{
    return layers % places != 0 && (layers + 2) % places == 0;
}

uint32_t ar_layout_place_layers(const struct ar_layout *layout, uint32_t place)
{
    uint32_t layers = layout->trace != NULL ? layout->trace->layers_count : layout->model->layers;
    uint32_t places = layout->sizes[AR_AXIS_PP] * layout->chunks;
    if (has_lighter_ends(layers, places)) {
        return (layers + 2) / places - (place == 0 || place == places - 1 ? 1 : 0);
    }
    return layers / places + (place < layers % places ? 1 : 0);
}

uint32_t ar_layout_stage_layers(const struct ar_layout *layout, uint32_t stage)
{
    uint32_t layers = 0;
    for (uint32_t chunk = 0; chunk < layout->chunks; chunk++) {
        layers += ar_layout_place_layers(layout, chunk * layout->sizes[AR_AXIS_PP] + stage);
    }
    return layers;
}

struct ar_transformer_slice ar_layout_slice(const struct ar_layout *layout)
{
    return (struct ar_transformer_slice){.micro_batch = layout->micro_batch,
                                         .tp = layout->sizes[AR_AXIS_TP],
                                         .ep = layout->sizes[AR_AXIS_EP],
                                         .cp = layout->sizes[AR_AXIS_CP],
                                         .is_sequence_parallel = layout->is_sequence_parallel,
                                         .attention = layout->attention,
                                         .precision = layout->precision,
                                         .again = layout->recompute.modules,
                                         .elementwise = layout->elementwise};
}

uint32_t ar_layout_again_layers(const struct ar_layout *layout, uint32_t place)
{
    uint32_t layers = ar_layout_place_layers(layout, place), most = layout->recompute.layers;
    return layout->recompute.modules == 0 ? 0 : most > 0 && most < layers ? most : layers;
}

/* --- what cannot be laid out ------------------------------------------------------------------ */

static enum ar_status check_divides(const char *where, const char *what, uint64_t whole,
                                    const char *parts_name, uint64_t parts, struct ar_error *err)
{
    AR_REFUSE(parts == 0 || whole % parts != 0, err, AR_USAGE,
              "%s: found %s %llu; expected a multiple of %llu, %s", where, what,
              (unsigned long long)whole, (unsigned long long)parts, parts_name);
    return AR_OK;
}

enum ar_status ar_layout_check_sparse(const char *where, const struct ar_layout *layout,
                                      struct ar_error *err)
{
    AR_REFUSE(
        layout->sparse_frac != 0 && !layout->strategy->sends_buckets, err, AR_USAGE,
        "%s: found strategy %s; expected data, whose replicas sum gradients of all parameters",
        where, layout->strategy->name);
    return AR_OK;
}

enum ar_status ar_layout_check_recompute(const char *where, const struct ar_layout *layout,
                                         struct ar_error *err)
{
    const struct ar_recompute *recompute = &layout->recompute;
    bool has_experts = layout->model->experts > 0;
    uint32_t most = 0;
    AR_REFUSE(has_experts ? (recompute->modules & AR_AGAIN_MLP) != 0
                          : (recompute->modules & (AR_AGAIN_MOE | AR_AGAIN_MOE_ACT)) != 0,
              err, AR_USAGE, "%s: found %s of a model %s experts; expected %s there", where,
              has_experts ? "mlp" : "moe or moe_act", has_experts ? "with" : "without",
              has_experts ? "moe" : "mlp");
    for (uint32_t i = 0; i < layout->sizes[AR_AXIS_PP] * layout->chunks; i++) {
        uint32_t layers = ar_layout_place_layers(layout, i);
        most = layers > most ? layers : most;
    }
    AR_REFUSE(recompute->layers > most, err, AR_USAGE,
              "%s: found %u layers; expected 1 to %u, the layers of a stage%s", where,
              recompute->layers, most, layout->chunks > 1 ? " in a chunk" : "");
    return AR_OK;
}

enum ar_status ar_layout_check(const char *where, const struct ar_layout *layout,
                               struct ar_error *err)
{
    static const char by_tp[] = "tp of the mesh";
    const struct ar_transformer *model = layout->model;
    uint32_t tp = layout->sizes[AR_AXIS_TP], ep = layout->sizes[AR_AXIS_EP];
    uint32_t cp = layout->sizes[AR_AXIS_CP], stages = layout->sizes[AR_AXIS_PP];
    uint64_t places = (uint64_t)stages * layout->chunks;
    AR_TRY(check_divides(where, "heads", model->heads, by_tp, tp, err));
    if (tp % model->kv_heads != 0) { /* else each GPU has a copy of one */
        AR_TRY(check_divides(where, "kv-heads", model->kv_heads, by_tp, tp, err));
    }
    AR_TRY(check_divides(where, "ffn", model->ffn, by_tp, tp, err));
    AR_TRY(check_divides(where, "shared experts", model->shared_ffn, by_tp, tp, err));
    AR_TRY(check_divides(where, "ffn of dense layers", model->dense_ffn, by_tp, tp, err));
    AR_REFUSE(layout->strategy == &ar_strategy_zero3_lists &&
                  (model->key_latent > 0 || model->shared_ffn > 0 || model->dense_layers > 0),
              err, AR_USAGE,
              "%s: found strategy %s for latent attention or unlike layers; expected another one",
              where, layout->strategy->name);
    AR_REFUSE(layout->is_sequence_parallel && tp == 1, err, AR_USAGE,
              "%s: found sequence parallelism without tensor parallelism; expected tp above 1",
              where);
    AR_REFUSE(layout->overlaps_tensor && !layout->is_sequence_parallel, err, AR_USAGE,
              "%s: found tensor parallelism beside products; expected also --sequence-parallel yes",
              where);
    if (cp > 1) {
        AR_TRY(
            check_divides(where, "seq", model->seq, "twice cp of the mesh", 2 * (uint64_t)cp, err));
    }
    if (layout->is_sequence_parallel) {
        AR_TRY(check_divides(where, "seq", model->seq, cp > 1 ? "cp times tp of the mesh" : by_tp,
                             (uint64_t)cp * tp, err));
    }
    AR_REFUSE(ep > 1 && model->experts == 0, err, AR_USAGE,
              "%s: found ep=%u for a model without experts; expected --experts, or ep=1", where,
              ep);
    if (model->experts > 0) {
        AR_TRY(check_divides(where, "experts", model->experts, "ep of the mesh", ep, err));
    }
    AR_REFUSE(
        layout->sizes[AR_AXIS_REP] > 1 &&
            (!layout->strategy->shards_optimizer || layout->strategy == &ar_strategy_zero3_lists),
        err, AR_USAGE,
        "%s: found rep=%u, copies of shards, with strategy %s; expected zero1, zero2 or zero3",
        where, layout->sizes[AR_AXIS_REP], layout->strategy->name);
    AR_TRY(check_divides(where, "global-batch", layout->global_batch,
                         layout->sizes[AR_AXIS_REP] > 1
                             ? "rep times dp times ep times the micro-batch"
                             : "dp times ep times the micro-batch",
                         (uint64_t)count_sequences(layout) * layout->micro_batch, err));
    AR_REFUSE(layout->schedule->has_chunks && stages == 1, err, AR_USAGE,
              "%s: found schedule %s:%u without a pipeline; expected pp above 1, or 1f1b", where,
              layout->schedule->name, layout->chunks);
    AR_REFUSE(model->layers + (has_lighter_ends(model->layers, (uint32_t)places) ? 2 : 0) < places,
              err, AR_USAGE, "%s: found layers %u; expected at least %llu, stages times chunks",
              where, model->layers, (unsigned long long)places);
    return layout->schedule->has_chunks
               ? check_divides(where, "micro-batches of a replica", ar_layout_batches(layout),
                               "the stages, as interleaved schedules need it", stages, err)
               : AR_OK;
}

/* --- what decides a step ---------------------------------------------------------------------- */

#define ADD(value) ar_hash_bytes(hash, &(value), sizeof(value))

void ar_layout_hash(const struct ar_layout *layout, uint64_t *hash)
{
    const struct ar_strategy *strategy = layout->strategy;
    bool is_alone = ar_layout_replicas(layout) == 1;
    bool is_fused = layout->attention != AR_ATTENTION_UNFUSED;
    struct ar_recompute recompute = layout->recompute;
    if (is_fused && (recompute.modules & AR_AGAIN_LAYER) == 0) {
        recompute.modules &= ~(unsigned)AR_AGAIN_CORE_ATTN;
    }
    recompute.layers = recompute.modules != 0 ? recompute.layers : 0;
    bool is_zero1 = strategy->shards_optimizer && !strategy->shards_gradients;
    strategy = is_alone && is_zero1 ? &ar_strategy_data : strategy;
    bool overlaps = layout->overlaps && !is_alone;
    bool overlaps_gather =
        layout->overlaps_gather && !is_alone && strategy->shards_optimizer && !strategy->shards_all;
    bool overlaps_pipeline = layout->overlaps_pipeline && layout->sizes[AR_AXIS_PP] > 1;
    ADD(layout->sizes);
    ADD(layout->global_batch);
    ADD(layout->micro_batch);
    ADD(layout->schedule);
    ADD(layout->chunks);
    ADD(recompute.modules);
    ADD(recompute.layers);
    ADD(strategy);
    ADD(layout->is_sequence_parallel);
    ADD(layout->overlaps_tensor);
    ADD(layout->overlaps_experts);
    ADD(layout->dispatcher);
    ADD(layout->attention);
    ADD(overlaps);
    ADD(overlaps_gather);
    ADD(overlaps_pipeline);
    ADD(layout->prefetch);
    ADD(layout->precision);
    ADD(layout->gradients);
    ADD(layout->offload);
    ADD(layout->sparse_frac);
}

double ar_layout_expert_bytes(const struct ar_layout *layout)
{
    const struct ar_transformer *model = layout->model;
    if (model == NULL || model->experts == 0) {
        return 0;
    }
    struct ar_transformer_slice slice = ar_layout_slice(layout);
    double copies = model->top_k, ep = layout->sizes[AR_AXIS_EP];
    if (layout->dispatcher == AR_DISPATCHER_DEEPEP) {
        double places = layout->expert_nodes > 1 ? layout->expert_nodes : ep;
        double kept = ar_stored_bytes(layout->precision);
        /* How many of `places`, the nodes or GPUs that hold experts, a token may reach: its router
         * chooses some groups of experts, each on places of its own, and experts of these groups
         * alone (DeepSeek-V3: 4 of 8 groups; arXiv:2412.19437, section 2.1.2). */
        double missed = model->expert_groups > 1 && model->top_groups > 0 ? 1 : 0;
        for (uint32_t i = 0; i < model->top_groups && missed > 0; i++) {
            double groups = model->expert_groups, of_place = fmax(groups / places, 1);
            missed *= fmax(groups - of_place - i, 0) / (groups - i);
        }
        places *= 1 - missed;
        copies = places * (1 - pow(1 - 1 / places, copies));
        copies *= (ar_precisions[layout->precision].bytes / kept + 1) / 2;
    }
    return ar_transformer_state_bytes(model, &slice) * copies * model->imbalance *
           ar_transformer_mixture_frac(model);
}

/* --- what it takes ---------------------------------------------------------------------------- */

double ar_layout_parameters(const struct ar_layout *layout, uint32_t layers, bool has_embedding,
                            bool has_head, bool is_trained, double *experts)
{
    double (*count)(const struct ar_transformer *, uint32_t, uint32_t, enum ar_transformer_part,
                    double *) =
        is_trained ? ar_transformer_trained_parameters : ar_transformer_part_parameters;
    uint32_t tp = layout->sizes[AR_AXIS_TP], ep = layout->sizes[AR_AXIS_EP];
    double none, dense = layers * count(layout->model, tp, ep, AR_PART_LAYER, experts);
    *experts *= layers;
    dense += has_embedding ? count(layout->model, tp, ep, AR_PART_EMBEDDING, &none) : 0;
    return dense + (has_head ? count(layout->model, tp, ep, AR_PART_HEAD, &none) : 0);
}

/* Parameters that a GPU of a stage holds, or those that are trained, without `experts`; the last
 * stage of several has a copy of a tied embedding. */
static double stage_parameters(const struct ar_layout *layout, uint32_t stage, bool is_trained,
                               double *experts)
{
    const struct ar_transformer *model = layout->model;
    bool is_last = stage == layout->sizes[AR_AXIS_PP] - 1;
    bool has_copy = is_last && stage > 0 && !model->is_untied && !(is_trained && model->lora > 0);
    return ar_layout_parameters(layout, ar_layout_stage_layers(layout, stage), stage == 0, is_last,
                                is_trained, experts) +
           (has_copy ? (double)model->hidden * model->vocab / layout->sizes[AR_AXIS_TP] : 0);
}

/* Bytes of a gradient where it is summed. */
static double gradient_bytes(const struct ar_layout *layout)
{
    return ar_precisions[layout->strategy->shards_gradients ? layout->gradients : AR_FP32].bytes;
}

double ar_layout_offload_bytes(const struct ar_layout *layout)
{
    return gradient_bytes(layout) + ar_stored_bytes(layout->precision);
}

/* Bytes of parameters that are held `copies` times: themselves, and of those that are trained the
 * gradients, and master copies, means and variances of Adam in fp32. Parameters that are never
 * trained are held in the precision of products (MLPerf training v4.0, NVIDIA's LoRA of Llama 2
 * 70B, megatron_gpt_peft_tuning_config.yaml: fp8_params). Whole gradients are summed
 * over micro-batches in fp32 (Megatron-LM, megatron/training/theoretical_memory_usage.py: 18 bytes,
 * or 6 + 12 / copies); shards of them lie as they are sent (DeepSpeed, ZeRO-3: 16 / copies). */
static double state_bytes(const struct ar_layout *layout, double held, double trained,
                          uint32_t copies)
{
    const struct ar_strategy *strategy = layout->strategy;
    double own = ar_stored_bytes(layout->precision);
    double frozen = layout->model->lora > 0 ? ar_precisions[layout->precision].bytes : own;
    double gradient = gradient_bytes(layout);
    double optimizer =
        layout->offload == AR_OFFLOAD_OPTIMIZER ? 0 : 3.0 * ar_precisions[AR_FP32].bytes;
    return (trained * own + (held - trained) * frozen) / (strategy->shards_all ? copies : 1) +
           trained * (gradient / (strategy->shards_gradients ? copies : 1) +
                      optimizer / (strategy->shards_optimizer ? copies : 1));
}

/* Where whole layers are gathered: parameters of the one that computes and of those ahead, and the
 * gradient of one before it is sent. */
static double gathered_bytes(const struct ar_layout *layout)
{
    double experts;
    uint32_t whole = layout->prefetch + 1;
    double layer =
        ar_transformer_part_parameters(layout->model, layout->sizes[AR_AXIS_TP],
                                       layout->sizes[AR_AXIS_EP], AR_PART_LAYER, &experts);
    if (!layout->strategy->gathers_layers || ar_layout_shards(layout) == 1) {
        return 0;
    }
    whole = whole < layout->model->layers ? whole : layout->model->layers;
    return (layer + experts) *
           (whole * ar_stored_bytes(layout->precision) + ar_precisions[layout->gradients].bytes);
}

/* Bytes that a layer keeps if some modules are computed again. */
static double kept_bytes(const struct ar_layout *layout, unsigned again)
{
    struct ar_transformer_slice slice = ar_layout_slice(layout);
    slice.again = again;
    return ar_transformer_activation_bytes(layout->model, &slice);
}

/* Bytes that the layers of a stage keep for one micro-batch in one of its chunks, as a mean. */
static double chunk_bytes(const struct ar_layout *layout, uint32_t stage)
{
    double layers = (double)ar_layout_stage_layers(layout, stage) / layout->chunks, again = 0;
    for (uint32_t chunk = 0; chunk < layout->chunks; chunk++) {
        again += ar_layout_again_layers(layout, chunk * layout->sizes[AR_AXIS_PP] + stage);
    }
    again /= layout->chunks;
    return kept_bytes(layout, layout->recompute.modules) * again +
           kept_bytes(layout, 0) * (layers - again);
}

/* Activations that are computed again are there for one layer at a time: all of it, or those of
 * some modules but the scores of attention, which arXiv:2205.05198 leaves out. Logits are there as
 * they were computed and in fp32, in place of which exponentials and the gradient come (Megatron-LM
 * v2.6, megatron/mpu/cross_entropy.py). */
static double activation_bytes(const struct ar_layout *layout, uint32_t stage)
{
    const struct ar_pipeline pipeline = ar_layout_pipeline(layout);
    struct ar_transformer_slice slice = ar_layout_slice(layout);
    unsigned modules = layout->recompute.modules;
    double again =
        (modules & AR_AGAIN_LAYER) != 0
            ? kept_bytes(layout, 0)
            : kept_bytes(layout, modules & AR_AGAIN_CORE_ATTN) - kept_bytes(layout, modules);
    double logits = stage == pipeline.stages - 1
                        ? (double)layout->micro_batch * layout->model->seq / slice.cp *
                              layout->model->vocab / slice.tp *
                              (ar_stored_bytes(layout->precision) + ar_precisions[AR_FP32].bytes)
                        : 0;
    return chunk_bytes(layout, stage) * ar_schedule_kept(layout->schedule, &pipeline, stage) +
           again + logits;
}

struct ar_layout_memory ar_layout_memory(const struct ar_layout *layout)
{
    struct ar_layout_memory most = {.states_bytes = 0};
    uint32_t stages = layout->sizes[AR_AXIS_PP];
    for (uint32_t stage = 0; stage < stages; stage++) {
        double experts, trained_experts;
        double held = stage_parameters(layout, stage, false, &experts);
        double trained = stage_parameters(layout, stage, true, &trained_experts);
        struct ar_layout_memory one = {
            .states_bytes = state_bytes(layout, held, trained, ar_layout_shards(layout)) +
                            state_bytes(layout, experts, trained_experts,
                                        layout->sizes[AR_AXIS_DP] * layout->sizes[AR_AXIS_CP]) +
                            gathered_bytes(layout),
            .activations_bytes = activation_bytes(layout, stage)};
        if (one.states_bytes + one.activations_bytes > most.states_bytes + most.activations_bytes) {
            most = one;
        }
    }
    return most;
}

double ar_layout_model_flop(const struct ar_layout *layout)
{
    const struct ar_transformer *model = layout->model;
    double forward = ar_transformer_forward_flop(model);
    double attention = ar_transformer_attention_flop(model); /* which has no weights */
    return layout->global_batch * (model->lora > 0 ? 2 * forward + attention : 3 * forward);
}

/* How often a layer is computed again in full, as a mean of all layers. */
static double again_in_full(const struct ar_layout *layout)
{
    double layers = 0;
    for (uint32_t i = 0; i < layout->sizes[AR_AXIS_PP] * layout->chunks; i++) {
        layers += ar_layout_again_layers(layout, i);
    }
    return (layout->recompute.modules & AR_AGAIN_LAYER) != 0 ? layers / layout->model->layers : 0;
}

double ar_layout_hardware_flop(const struct ar_layout *layout)
{
    struct ar_transformer head = *layout->model;
    head.layers = head.dense_layers = head.window = 0;
    return ar_layout_model_flop(layout) +
           layout->global_batch * again_in_full(layout) *
               (ar_transformer_forward_flop(layout->model) - ar_transformer_forward_flop(&head));
}

double ar_layout_masked_flop(const struct ar_layout *layout)
{
    return layout->attention == AR_ATTENTION_UNFUSED
               ? 0
               : 0.5 * (3 + again_in_full(layout)) * layout->global_batch *
                     ar_transformer_attention_flop(layout->model);
}
