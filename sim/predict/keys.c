/* The table of keys: how the text of each is read into the scenario, and its value printed. */
#include <inttypes.h>
#include <string.h>

#include "ar_scenario.h"
#include "ar_text.h"
#include "ar_units.h"

/* Functions for the column `parse`. Few need the key, its origin or an error. */
#define KEY_UNUSED __attribute__((unused))
#define KEY_PARSE(value)                                                                           \
    static enum ar_status key_parse_##value(struct ar_scenario *scenario,                          \
                                            enum ar_key key KEY_UNUSED,                            \
                                            const struct ar_origin *origin KEY_UNUSED,             \
                                            const char *text, struct ar_error *err KEY_UNUSED)

/* --- values of any key ------------------------------------------------------------------------ */

/* The field of a key in a scenario. */
static void *field_of(struct ar_scenario *scenario, enum ar_key key)
{
    return (char *)scenario + ar_keys[key].field;
}

KEY_PARSE(text)
{
    *(const char **)field_of(scenario, key) = text;
    return AR_OK;
}

KEY_PARSE(count)
{
    uint64_t count = 0;
    AR_TRY(ar_parse_count(origin->where, text, (uint64_t)ar_keys[key].min,
                          (uint64_t)ar_keys[key].max, &count, err));
    *(uint32_t *)field_of(scenario, key) = (uint32_t)count;
    return AR_OK;
}

KEY_PARSE(number)
{
    return ar_parse_number(origin->where, text, ar_keys[key].min, ar_keys[key].max,
                           field_of(scenario, key), err);
}

/* The place of a word, as an enum has it. */
KEY_PARSE(choice)
{
    return ar_parse_choice(origin->where, text, ar_keys[key].words, field_of(scenario, key), err);
}

KEY_PARSE(flag)
{
    static const char *const no_or_yes[] = {"no", "yes", NULL};
    unsigned place;
    AR_TRY(ar_parse_choice(origin->where, text, no_or_yes, &place, err));
    *(bool *)field_of(scenario, key) = place == 1;
    return AR_OK;
}

/* Keys that repeat: texts, one KEY=VALUE of a KEY allowed: the last would win silently. */
KEY_PARSE(setting)
{
    struct ar_settings *settings = field_of(scenario, key);
    const struct ar_setting *old =
        strchr(text, '=') != NULL ? ar_settings_find(settings, text) : NULL;
    AR_REFUSE(old != NULL, err, origin->status, "%s: found \"%.60s\" and \"%.60s\"; expected one",
              origin->where, old->text, text);
    struct ar_setting *list = ar_arena_alloc(scenario->arena, settings->count + 1, sizeof *list);
    for (size_t i = 0; i < settings->count; i++) { /* other scenarios have the old list */
        list[i] = settings->list[i];
    }
    list[settings->count] =
        (struct ar_setting){.text = text, .where = origin->where, .status = origin->status};
    *settings = (struct ar_settings){.list = list, .count = settings->count + 1};
    return AR_OK;
}

/* With a space before each but the first; what changes the cluster has a name of its own. */
void ar_key_print(const struct ar_scenario *scenario, enum ar_key key, FILE *file)
{
    const char *name = key == AR_KEY_SET ? "" : ar_key_name(key);
    const char *is = key == AR_KEY_SET ? "" : "=";
    if (ar_keys[key].parse != key_parse_setting) {
        if (ar_scenario_has(scenario, key)) {
            fprintf(file, "%s%s%s%s", ftell(file) > 0 ? " " : "", name, is,
                    scenario->origins[key].text);
        }
        return;
    }
    const struct ar_settings *settings = field_of((struct ar_scenario *)scenario, key);
    for (size_t i = 0; i < settings->count; i++) {
        fprintf(file, "%s%s%s%s", ftell(file) > 0 ? " " : "", name, is, settings->list[i].text);
    }
}

/* --- values of one key ------------------------------------------------------------------------ */

/* A value that `read` finds by the text alone, for these fields of the scenario. */
#define KEY_READ(value, read, ...)                                                                 \
    KEY_PARSE(value)                                                                               \
    {                                                                                              \
        return read(origin->where, text, __VA_ARGS__, err);                                        \
    }
KEY_READ(runner, ar_runner_parse, &scenario->runner)
KEY_READ(operation, ar_operation_find, &scenario->operation)
KEY_READ(mesh, ar_mesh_parse, &scenario->mesh)
KEY_READ(strategy, ar_strategy_parse, &scenario->layout.strategy, &scenario->async.staleness)
KEY_READ(schedule, ar_schedule_parse, &scenario->layout.schedule, &scenario->layout.chunks)
KEY_READ(recompute, ar_recompute_parse, &scenario->layout.recompute)
KEY_READ(bucket, ar_fusion_parse, &scenario->fusion)
KEY_READ(engine, ar_engine_find, &scenario->engine)

KEY_PARSE(algorithm)
{
    return ar_algorithm_find_or_auto(origin->where, scenario->operation, text, &scenario->algorithm,
                                     err);
}

KEY_PARSE(along)
{
    return scenario->mesh.axes_count > 0
               ? ar_mesh_set_along(origin->where, text, &scenario->mesh, err)
               : ar_error_set(err, AR_USAGE,
                              "%s: found \"%.60s\" without a mesh, such as --mesh dp=32,tp=8",
                              origin->where, text);
}

KEY_PARSE(shape)
{
    scenario->has_best_shape = strcmp(text, "best") == 0;
    return scenario->has_best_shape ? AR_OK
                                    : ar_shape_parse(origin->where, text, &scenario->shape, err);
}

KEY_PARSE(payload)
{
    AR_TRY(ar_parse_bytes(origin->where, text, &scenario->payload_bytes, err));
    AR_REFUSE(scenario->payload_bytes == 0, err, AR_USAGE,
              "%s: found \"%.60s\"; expected a size above zero", origin->where, text);
    return AR_OK;
}

KEY_PARSE(samples_per_s_at)
{
    char *rate = ar_arena_text(scenario->arena, text);
    const char *first = ar_next_part(&rate, '=');
    uint64_t batch;
    AR_REFUSE(rate == NULL || ar_parse_count("", first, 1, 1000000, &batch, AR_IGNORED) != AR_OK ||
                  ar_parse_number("", rate, 1e-6, 1e12, &scenario->rate.samples_per_s,
                                  AR_IGNORED) != AR_OK,
              err, AR_USAGE,
              "%s: found \"%.40s\"; expected BATCH=SAMPLES_PER_S above zero, such as 32=950",
              origin->where, text);
    scenario->rate.batch = (uint32_t)batch;
    return AR_OK;
}

/* RANK:FACTOR; whether there is such a rank is seen when the number of GPUs is known. */
KEY_PARSE(straggler)
{
    uint32_t count = scenario->stragglers_count;
    struct ar_straggler *list = ar_arena_alloc(scenario->arena, count + 1, sizeof *list);
    char *factor = ar_arena_text(scenario->arena, text);
    const char *rank_text = ar_next_part(&factor, ':');
    uint64_t rank = 0;
    AR_REFUSE(factor == NULL ||
                  ar_parse_count("", rank_text, 0, UINT32_MAX - 1, &rank, AR_IGNORED) != AR_OK ||
                  ar_parse_number("", factor, 1, 1e6, &list[count].factor, AR_IGNORED) != AR_OK,
              err, AR_USAGE,
              "%s: found \"%.60s\"; expected RANK:FACTOR, of compute time, from 1 to 1e6: 17:1.5",
              origin->where, text);
    list[count].rank = (uint32_t)rank;
    for (uint32_t i = 0; i < count; i++) {
        list[i] = scenario->stragglers[i];
        AR_REFUSE(list[i].rank == rank, err, AR_USAGE,
                  "%s: found rank %" PRIu64 " twice; expected it once", origin->where, rank);
    }
    scenario->stragglers = list;
    scenario->stragglers_count = count + 1;
    return AR_OK;
}

/* --- the table -------------------------------------------------------------------------------- */

#define COLLECTIVE  AR_KEY_OF_COLLECTIVE
#define STEP        AR_KEY_OF_STEP
#define BARE        AR_KEY_OF_BARE
#define LAYOUT      AR_KEY_OF_LAYOUT
#define PLACED      AR_KEY_OF_PLACED
#define PUBLISHED   AR_KEY_IN_PUBLISHED
#define CLUSTER     (AR_KEY_OF_CLUSTER | AR_KEY_OF_COLLECTIVE)
#define FILES       (AR_KEY_IN_RUN | AR_KEY_IN_PUBLISHED)
#define CHOICE      AR_KEY_IS_CHOICE
#define SETTING     AR_KEY_IS_SETTING
#define REPEATS     AR_KEY_REPEATS
#define PATH        AR_KEY_IS_PATH
#define NUMBER      AR_KEY_IS_NUMBER
#define SERVERS     (AR_KEY_OF_STEP | AR_KEY_OF_LAYOUT | AR_KEY_IN_RUN | AR_KEY_IS_SETTING)
#define FIELD(name) offsetof(struct ar_scenario, name)

#define TEXT   AR_LIST_OF_TEXTS, key_parse_text
#define TEXTS  AR_LIST_OF_TEXTS, key_parse_setting
#define COUNT  AR_LIST_OF_COUNTS, key_parse_count
#define REAL   AR_LIST_OF_TEXTS, key_parse_number
#define CHOSEN AR_LIST_OF_TEXTS, key_parse_choice
#define FLAG   AR_LIST_OF_TEXTS, key_parse_flag

/* A size of a workload, 0 unless it is set. */
#define MODEL_SIZE(name) LAYOUT | PUBLISHED, COUNT, FIELD(model.name), 1, 100000000

const struct ar_key_row ar_keys[AR_KEYS_COUNT] = {
    [AR_KEY_CLUSTER] = {"--cluster", "C", NULL,
                        "a shipped cluster (see 'allreckon list') or a .topo file; sweep: a list",
                        CLUSTER | FILES | PATH, TEXT, FIELD(cluster_name)},
    [AR_KEY_SET] =
        {"--set", "KEY=VALUE", NULL,
         "change a value of the cluster: net.latency=2.4us, fabric.routes=hash:1; repeatable",
         CLUSTER | FILES | SETTING | REPEATS, TEXTS, FIELD(settings)},
    [AR_KEY_SLOW_LINK] =
        {"--slow-link", "LINK:F", NULL,
         "divide a link's bandwidth by F: node-3.hca-0:4, rack-2:1.5, one direction "
         "node-3.hca-0.out:4; repeatable",
         CLUSTER | SETTING | REPEATS, TEXTS, FIELD(slow_links)},
    [AR_KEY_DOWN_LINK] = {"--down-link", "HCA", NULL,
                          "an HCA that is down, node-3.hca-0: the others of its node share its "
                          "messages, as in a communicator made anew; repeatable",
                          CLUSTER | SETTING | REPEATS, TEXTS, FIELD(down_links)},
    [AR_KEY_OPERATION] = {"--operation", "O", "allreduce",
                          "what the collective achieves, see 'allreckon list operations'", BARE,
                          AR_LIST_OF_TEXTS, key_parse_operation},
    [AR_KEY_GPUS] = {"--gpus", "N", NULL, "number of GPUs, one rank each", COLLECTIVE | FILES,
                     COUNT, FIELD(gpus), 1, UINT32_MAX},
    [AR_KEY_MESH] =
        {"--mesh", "A=n,B=m", NULL,
         "named axes of all GPUs, outermost first, such as pp=4,dp=16,tp=8: a "
         "collective runs along some of them, in all groups at once, a workload lies "
         "on all (rep: copies of what dp, ep and cp shard, HSDP); of a sweep of layouts also all, "
         "which tries each that divides, or all,cp=N",
         BARE | LAYOUT | PLACED | PUBLISHED, AR_LIST_OF_TEXTS, key_parse_mesh},
    [AR_KEY_ALONG] = {"--along", "A", NULL,
                      "axis of --mesh along which the collective runs, or several: pp,dp; may be "
                      "left out if there is one",
                      BARE, AR_LIST_OF_TEXTS, key_parse_along},
    [AR_KEY_ALGORITHM] = {"--algorithm", "A", NULL,
                          "of the operation, see 'allreckon list algorithms'; auto, the default: "
                          "the fastest, or the choice of the library; of --workload ring",
                          COLLECTIVE | FILES, AR_LIST_OF_TEXTS, key_parse_algorithm},
    [AR_KEY_SHAPE] = {"--shape", "XxY|best", NULL,
                      "logical grid with X*Y = N, or the fastest; default: squarest grid, groups "
                      "of one node",
                      COLLECTIVE | FILES, AR_LIST_OF_TEXTS, key_parse_shape},
    [AR_KEY_RUNNABLE_BY] = {"--runnable-by", "LIB", NULL,
                            "algorithms that a library runs by itself: nccl-2.23, rccl, "
                            "openmpi-5.0 or mpich-4.3; without a release its newest",
                            COLLECTIVE, AR_LIST_OF_TEXTS, key_parse_runner},
    [AR_KEY_ROOT] = {"--root", "R", "0",
                     "place in its group of who gives or gets all; a send goes to the rank before",
                     BARE, COUNT, FIELD(root), 0, UINT32_MAX},
    [AR_KEY_PAYLOAD] = {"--payload", "SIZE", NULL,
                        "bytes as nccl-tests counts them ('allreckon list operations'): 64MiB", 0,
                        AR_LIST_OF_SIZES, key_parse_payload},
    [AR_KEY_TRACE] = {"--trace", "T", NULL,
                      "a shipped trace (see 'allreckon list'), or the path of a CSV file",
                      STEP | FILES | PATH, AR_LIST_OF_TEXTS, key_parse_text, FIELD(trace_name)},
    [AR_KEY_WORKLOAD] =
        {"--workload", "W", NULL,
         "a transformer laid out on --mesh (see 'allreckon list workloads'): "
         "gpt and llama take their shape from the options below, others may; or the path "
         "of a model's config.json (Hugging Face), or of a step of ASTRA-sim, SimAI, Chakra (.et) "
         "or one rank's profile of PyTorch (trace.json, .json.gz)",
         LAYOUT | PLACED | PUBLISHED, TEXT, FIELD(workload_name)},
    [AR_KEY_LAYERS] = {"--layers", "L", NULL, "layers of the workload", MODEL_SIZE(layers)},
    [AR_KEY_HIDDEN] = {"--hidden", "H", NULL, "its hidden size", MODEL_SIZE(hidden)},
    [AR_KEY_HEADS] = {"--heads", "A", NULL, "its heads of attention", MODEL_SIZE(heads)},
    [AR_KEY_KV_HEADS] = {"--kv-heads", "G", NULL,
                         "heads of keys and values; default: the workload's, or as many as heads",
                         MODEL_SIZE(kv_heads)},
    [AR_KEY_FFN] = {"--ffn", "F", NULL,
                    "size of its feed-forward networks; default: its own, or 4 hidden (gated: 8/3)",
                    MODEL_SIZE(ffn)},
    [AR_KEY_SEQ] = {"--seq", "S", NULL, "tokens of a sequence", MODEL_SIZE(seq)},
    [AR_KEY_VOCAB] = {"--vocab", "V", NULL, "tokens that there are", MODEL_SIZE(vocab)},
    [AR_KEY_EXPERTS] = {"--experts", "E", NULL, "feed-forward networks of each layer",
                        MODEL_SIZE(experts)},
    [AR_KEY_TOP_K] = {"--top-k", "K", NULL, "experts that a token takes", MODEL_SIZE(top_k)},
    [AR_KEY_LORA] = {"--lora", "R", NULL,
                     "train adapters of rank R beside the products of attention, not all weights",
                     SETTING | MODEL_SIZE(lora)},
    [AR_KEY_IMBALANCE] = {"--imbalance", "F", "1",
                          "tokens that the experts of the fullest GPU get over the mean of all",
                          LAYOUT | PUBLISHED, REAL, FIELD(model.imbalance), 1, 1e6},
    [AR_KEY_GLOBAL_BATCH] = {"--global-batch", "B", NULL, "sequences of a step, all GPUs",
                             LAYOUT | PUBLISHED, COUNT, FIELD(layout.global_batch), 1, 1 << 24},
    [AR_KEY_MICRO_BATCH] = {"--micro-batch", "B", "1",
                            "sequences that a replica works on at a time", LAYOUT | PUBLISHED,
                            COUNT, FIELD(layout.micro_batch), 1, UINT32_MAX},
    [AR_KEY_STRATEGY] =
        {"--strategy", "S", "data",
         "what becomes of replicas, see 'allreckon list strategies': data, zero1, zero2, "
         "zero3 (or fsdp), ...; with servers ps-sync, ps-async, ssp:S, work-units; of one model on "
         "all GPUs partitioned, rotate, star, dap",
         LAYOUT | STEP | PLACED | FILES, AR_LIST_OF_TEXTS, key_parse_strategy},
    [AR_KEY_SERVERS] = {"--servers", "N", NULL,
                        "parameter servers; default: as many as nodes of workers", SERVERS, COUNT,
                        FIELD(async.servers), 1, 1000000},
    [AR_KEY_SERVERS_AT] = {"--servers-at", "PLACE", "nodes",
                           "nodes (of their own, behind those of the workers), workers (beside "
                           "them) or both (N nodes, and one beside workers of each node: BytePS)",
                           SERVERS, CHOSEN, FIELD(async.servers_at), .words = ar_servers_at_names},
    [AR_KEY_WORKER] = {"--worker", "W", "gpu",
                       "who pushes and pulls: each gpu, or a node, whose GPUs sum first", SERVERS,
                       CHOSEN, FIELD(async.worker), .words = ar_worker_names},
    [AR_KEY_PUSH_EVERY] = {"--push-every", "K", "1",
                           "steps that a worker computes before it pushes and pulls", SERVERS,
                           COUNT, FIELD(async.every), 1, 10000},
    [AR_KEY_PULL] = {"--pull", "P", "whole",
                     "a step begins with all parameters (whole), or with its first slice while "
                     "the next one is pulled (sliced, as in LightLDA)",
                     SERVERS, CHOSEN, FIELD(async.pull), .words = ar_pull_names},
    [AR_KEY_UNITS] = {"--units", "U", NULL,
                      "of work-units: units of a step, each a batch of a GPU; default: 10 a worker",
                      SERVERS, COUNT, FIELD(units.count), 1, 1000000},
    [AR_KEY_BACKUPS] = {"--backups", "yes|no", "yes",
                        "of work-units: the slowest are done twice at the end", SERVERS, FLAG,
                        FIELD(units.has_backups)},
    [AR_KEY_TAIL] = {"--tail", "A", NULL,
                     "of work-units: times of units are Pareto with this exponent, above 1",
                     SERVERS, REAL, FIELD(units.tail), 1.01, 100},
    [AR_KEY_SCHEDULE] = {"--schedule", "S", "1f1b",
                         "of the pipeline: gpipe, 1f1b or interleaved:V, V chunks on a stage",
                         LAYOUT | PUBLISHED, AR_LIST_OF_TEXTS, key_parse_schedule},
    [AR_KEY_RECOMPUTE] =
        {"--recompute", "R", "none",
         "activations that the backward pass computes again: none, selective (attention), "
         "selective:M+N with modules core_attn, layernorm, mlp, moe, moe_act, full (all but the "
         "inputs of layers) or full:K (K layers of each stage, or of its chunks)",
         LAYOUT | PUBLISHED, AR_LIST_OF_TEXTS, key_parse_recompute},
    [AR_KEY_OFFLOAD] = {"--offload", "O", "none",
                        "what lies in the memory of the host: none, or optimizer, which the CPUs "
                        "of the node then run (ZeRO-Offload); see cpu.link_bandwidth",
                        LAYOUT | PUBLISHED | SETTING, CHOSEN, FIELD(layout.offload),
                        .words = ar_offload_names},
    [AR_KEY_SEQUENCE_PARALLEL] = {"--sequence-parallel", "yes|no", "no",
                                  "tp also splits norms and residuals, by tokens",
                                  LAYOUT | PUBLISHED, FLAG, FIELD(layout.is_sequence_parallel)},
    [AR_KEY_ATTENTION] = {"--attention", "A", "flash2",
                          "unfused (products, and the softmax in memory), flash1 or flash2 (one "
                          "kernel: FlashAttention of 2022; that of the cost table)",
                          LAYOUT | PUBLISHED, CHOSEN, FIELD(layout.attention),
                          .words = ar_attention_names},
    [AR_KEY_OVERLAP] = {"--overlap", "yes|no", "yes",
                        "gradients are summed layer by layer beside the last backward pass",
                        LAYOUT | PUBLISHED, FLAG, FIELD(layout.overlaps)},
    [AR_KEY_OVERLAP_TENSOR] = {"--overlap-tensor", "yes|no", "no",
                               "collectives of tensor parallelism run beside the products that "
                               "they belong to, in tp pieces; with --sequence-parallel",
                               LAYOUT | PUBLISHED | SETTING, FLAG, FIELD(layout.overlaps_tensor)},
    [AR_KEY_OVERLAP_EXPERTS] = {"--overlap-experts", "yes|no", NULL,
                                "what experts exchange of one micro-batch is sent while another "
                                "one is computed, as in DualPipe and Megatron core; default: no",
                                LAYOUT | PUBLISHED | SETTING, FLAG, FIELD(layout.overlaps_experts)},
    [AR_KEY_DISPATCHER] = {"--dispatcher", "D", NULL,
                           "how tokens reach experts: alltoall, once each, as NCCL does (default); "
                           "or deepep, once to a node, in fp8 where products are",
                           LAYOUT | PUBLISHED | SETTING, CHOSEN, FIELD(layout.dispatcher),
                           .words = ar_dispatcher_names},
    [AR_KEY_OVERLAP_GATHER] = {"--overlap-gather", "yes|no", "no",
                               "zero1 and zero2 gather the parameters that the step before updated "
                               "layer by layer beside the first forward pass, not at the end",
                               LAYOUT | PUBLISHED | SETTING, FLAG, FIELD(layout.overlaps_gather)},
    [AR_KEY_OVERLAP_PIPELINE] = {"--overlap-pipeline", "yes|no", NULL,
                                 "a stage computes while its message leaves to the next one; "
                                 "default: yes with --schedule interleaved, as Megatron core",
                                 LAYOUT | PUBLISHED | SETTING, FLAG,
                                 FIELD(layout.overlaps_pipeline)},
    [AR_KEY_PREFETCH] = {"--prefetch", "K", "1", "layers whose parameters zero3 gathers ahead",
                         STEP | LAYOUT | PUBLISHED, COUNT, FIELD(layout.prefetch), 0,
                         AR_PREFETCH_MAX},
    [AR_KEY_OPERATORS] = {"--operators", "G.csv", NULL,
                          "a graph of operators in place of a trace: a shipped one (see "
                          "'allreckon list operators'), or the path of a CSV file of "
                          "name,time_s,output_bytes,needs, which are names joined by +",
                          PLACED | PATH, TEXT, FIELD(operators_name)},
    [AR_KEY_PLACEMENT] = {"--placement", "P", "greedy",
                          "where operators lie: greedy or anneal, which look for a place, or a CSV "
                          "file of operator,device",
                          PLACED | PATH, TEXT, FIELD(placement)},
    [AR_KEY_DEPTH] = {"--depth", "D", "1",
                      "rotate: parts of the model of a worker; star: rounds under way", PLACED,
                      COUNT, FIELD(depth), 1, 1000},
    [AR_KEY_ROUNDS] = {"--rounds", "K", "1", "star: rounds of a step, each for a part of the model",
                       PLACED, COUNT, FIELD(rounds), 1, 100000},
    [AR_KEY_GRADIENTS] = {"--gradients", "P", NULL,
                          "precision of gradients on the wire, of zero3 in memory, too: fp16, "
                          "fp32, bf16, tf32; fp8, int8, log8, of 8 bits; int4, fp4, of 4, without "
                          "scales; mxfp4 with its own, 4.25; conversion is not counted; default: "
                          "that of the activations, or wire.precision of --framework",
                          STEP | LAYOUT | FILES, CHOSEN, FIELD(layout.gradients),
                          .words = ar_wire_precision_names},
    [AR_KEY_SPARSE] = {"--sparse", "F", NULL,
                       "replicas exchange a fraction F of all gradients, the largest: values and "
                       "places of 4 bytes, by an all-gather; choosing and adding them is not "
                       "counted; default: all, by an all-reduce",
                       STEP | LAYOUT | PUBLISHED | SETTING, REAL, FIELD(layout.sparse_frac), 1e-9,
                       1},
    [AR_KEY_BATCH] = {"--batch", "B", NULL,
                      "samples per GPU and step; default: the trace's own, or 32",
                      STEP | AR_KEY_IN_PUBLISHED, COUNT, FIELD(batch), 1, 1000000},
    [AR_KEY_PRECISION] = {"--precision", "P", NULL,
                          "fp16, fp32, bf16, fp8 or tf32, of compute and gradients (on the wire: "
                          "see wire.precision of --framework; fp8 has those of bf16); of a "
                          "workload also fp8_block or nvfp4; others of --gradients where a cost "
                          "table has them; default: the trace's own, or fp16",
                          COLLECTIVE | FILES, AR_LIST_OF_TEXTS, key_parse_choice, FIELD(precision),
                          .words = ar_precision_names},
    [AR_KEY_BUCKET] = {"--bucket", "RULE", NULL,
                       "gradient fusion: ddp (25 MiB), horovod (64 MiB), one, tensor, groups:K, or "
                       "a size such as 16MiB; default: the framework's, or ddp",
                       STEP | FILES | CHOICE, AR_LIST_OF_SIZES, key_parse_bucket},
    [AR_KEY_FRAMEWORK] = {"--framework", "F", NULL,
                          "what happens between the layers: a shipped framework (see 'allreckon "
                          "list frameworks'), or a CSV file of terms; default: none",
                          STEP | LAYOUT | FILES | PATH, AR_LIST_OF_TEXTS, key_parse_text,
                          FIELD(framework_name)},
    [AR_KEY_TERM] = {"--term", "KEY=VALUE", NULL,
                     "change a term of the framework, such as cycle.time=1ms; may be repeated",
                     STEP | LAYOUT | FILES | SETTING | REPEATS, TEXTS, FIELD(terms)},
    [AR_KEY_SAMPLES_PER_S_AT] =
        {"--samples-per-s-at", "B=V", NULL,
         "scale compute to the rate V that one GPU had at batch B; of a workload: that one "
         "replica, pp x cp x tp GPUs, had with B sequences a step",
         STEP | LAYOUT | FILES | SETTING, AR_LIST_OF_TEXTS, key_parse_samples_per_s_at},
    [AR_KEY_GRADIENT_SCALE] = {"--gradient-scale", "F", NULL,
                               "gradients F times as large, compute unchanged; default: 1", STEP,
                               REAL, FIELD(gradient_scale), 1e-6, 1000},
    [AR_KEY_ENGINE] = {"--engine", "E", "recurrence",
                       "recurrence (messages as array arithmetic), simgrid (simulates each), "
                       "closed (formula), library (measured: calibrate), nccl (its own cost model)",
                       COLLECTIVE | FILES, AR_LIST_OF_TEXTS, key_parse_engine},
    [AR_KEY_BASELINE] = {"--baseline", "B", "node",
                         "100 % efficiency: gpu (one GPU, no communication) or node (flat ring)",
                         STEP | FILES, CHOSEN, FIELD(baseline), .words = ar_baseline_names},
    [AR_KEY_CHANNELS] = {"--channels", "C", NULL,
                         "rings, or pairs of trees, the payload is split over; default: HCAs of a "
                         "node",
                         COLLECTIVE | FILES | CHOICE, COUNT, FIELD(channels), 1, AR_CHANNELS_MAX},
    [AR_KEY_WINDOW] = {"--window", "W", "8",
                       "messages in flight per connection; 1: each must arrive before the next",
                       COLLECTIVE | FILES | CHOICE, COUNT, FIELD(window), 1, AR_WINDOW_MAX},
    [AR_KEY_TUNING] = {"--tuning", "RELEASE", NULL,
                       "NCCL whose cost model chooses, gives the priors and is the reference: "
                       "one of 'allreckon list engines', such as 2.18.3, which stands for all of "
                       "2.18; default: library.release of the cluster, else 2.8.4",
                       0, TEXT, FIELD(release)},
    [AR_KEY_JITTER] = {"--jitter", "FRAC", NULL,
                       "compute times vary by this coefficient of variation per rank and step, "
                       "such as 0.05; default: the framework's, or 0; of a workload the "
                       "expected wait for the slowest GPU at 0.02, nothing drawn",
                       STEP | LAYOUT | PLACED | FILES | NUMBER, REAL, FIELD(jitter_frac), 0, 1},
    [AR_KEY_ITERATIONS] = {"--iterations", "K", NULL,
                           "steps run back to back and averaged over; default: 1, with jitter 20",
                           STEP | LAYOUT | PLACED | AR_KEY_IN_RUN, COUNT, FIELD(iterations_count),
                           1, 100000},
    [AR_KEY_SEED] = {"--seed", "S", "1",
                     "of the jitter and of the starts of asynchronous workers; the same "
                     "seed gives the same result",
                     STEP | LAYOUT | PLACED | AR_KEY_IN_RUN, COUNT, FIELD(seed), 0, UINT32_MAX},
    [AR_KEY_STRAGGLER] = {"--straggler", "RANK:F", NULL,
                          "a GPU that computes F times as long, such as 17:1.5; repeatable",
                          STEP | LAYOUT | PLACED | SETTING | REPEATS, AR_LIST_OF_TEXTS,
                          key_parse_straggler, 0},
};

/* --- names ------------------------------------------------------------------------------------ */

const char *ar_key_name(enum ar_key key)
{
    return ar_keys[key].option + 2;
}

bool ar_key_is(enum ar_key key, enum ar_key_use use)
{
    return (ar_keys[key].uses & (unsigned)use) != 0;
}

const char *ar_key_directive(const char *name, char text[AR_KEY_TEXT])
{
    ar_copy_text(text, AR_KEY_TEXT, name);
    for (char *at = text; (at = strchr(at, '-')) != NULL;) {
        *at = '_';
    }
    return text;
}

enum ar_key ar_key_find(const char *name)
{
    char wanted[AR_KEY_TEXT], own[AR_KEY_TEXT];
    ar_key_directive(name, wanted);
    for (enum ar_key key = 0; key < AR_KEYS_COUNT; key++) {
        if (strcmp(ar_key_directive(ar_key_name(key), own), wanted) == 0) {
            return key;
        }
    }
    return AR_KEYS_COUNT;
}
