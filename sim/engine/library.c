/* The engines of a communication library: collectives one after the other, each as long as the
 * calls of the library that make it, from the time at which it is ready on all ranks. They know
 * nodes and ranks of the cluster, and nothing of its links.
 *
 * `library` is what was measured: the fitted model, with its error. `nccl` is NCCL's own cost
 * model: the constants of a release and the rates of the cluster's rings. Nothing is fitted, so
 * there is no band. */
#include "ar_library_engine.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "ar_text.h"

bool ar_library_engine_ignores(const struct ar_engine *engine, const char *key)
{
    enum { ASKED = 3 }; /* NCCL's own model asks for the first ones */
    static const char *const keys[] = {"nvlink.pairs", "hcas",    "hca.attached", "nvlink.",
                                       "pcie.",        "hca",     "net.",         "rack.",
                                       "fabric",       "tree.",   "torus.",       "dragonfly",
                                       "router.",      "switch.", "collective."};
    size_t i = 0, count = sizeof keys / sizeof keys[0];
    while (i < count && strncmp(key, keys[i], strlen(keys[i])) != 0) {
        i++;
    }
    return engine->predict_call != NULL && i < count && (engine->has_band || i >= ASKED);
}

/* --- the library's table of a cluster ----------------------------------------------------- */

/* The rings of a domain leave it by the HCAs of all its hosts, as fast as they go within it. */
double ar_library_engine_net_bus(const struct ar_cluster_facts *facts)
{
    double all_Bps = facts->library_net_bus_Bps * facts->nvlink_domain_nodes;
    return facts->nvlink_domain_nodes > 1 ? fmin(all_Bps, facts->library_node_bus_Bps) : all_Bps;
}

enum ar_status ar_library_engine_tuning(const struct ar_cluster *cluster, const char *release,
                                        const struct ar_library_table *table,
                                        struct ar_tuning *tuning, struct ar_error *err)
{
    const struct ar_cluster_facts *facts = ar_cluster_facts(cluster);
    struct ar_tuning found = ar_tuning_nccl_2_8_4(0, 0);
    double costs[AR_LINK_COSTS_COUNT]; /* 0: not known */
    const char *where = release != NULL ? "--tuning" : "library.release";
    const char *named = release != NULL ? release : facts->library_release;
    if (named[0] == '\0' && release == NULL) {
        named = (table != NULL ? &table->library.tuning : &found)->release->release;
    }
    enum ar_status status = ar_tuning_find(where, named, facts->library_node_bus_Bps,
                                           facts->library_net_bus_Bps, &found, err);
    if (status != AR_OK) {
        return release != NULL ? ar_error_blame(status, AR_USAGE, err) : status;
    }
    *tuning = found;
    tuning->links = facts->has_nvswitch ? TUNING_NVSWITCH
                    : facts->has_nvlink ? TUNING_NVLINK_MESH
                                        : TUNING_PCIE;
    tuning->hcas = facts->hcas_per_node * facts->nvlink_domain_nodes;
    tuning->net_bus_Bps = ar_library_engine_net_bus(facts);
    ar_cluster_keep_link_costs(cluster, costs);
    tuning->net_payload_Bps = tuning->hcas * costs[AR_LINK_HCA_BANDWIDTH]; /* of a domain */
    ar_tuning_set_generation(tuning, facts->gpu_generation);
    tuning->has_near_hcas = facts->has_hcas_on_switches;
    tuning->has_collnet = facts->has_library_collnet;
    tuning->cpu = facts->cpu_vendor;
    tuning->hca_kind = facts->hca_kind;
    tuning->net_latency_s = facts->library_net_latency_s;
    if (facts->library_channels > 0) {
        tuning->channels = facts->library_channels;
    }
    return AR_OK;
}

/* --- calls -------------------------------------------------------------------------------- */

size_t ar_library_engine_calls(const struct ar_collective *collective, uint64_t elements,
                               struct ar_library_run runs[AR_LIBRARY_CALLS_MAX])
{
    enum ar_library_call call;
    const struct ar_cluster_facts *facts = ar_cluster_facts(collective->cluster);
    uint32_t gpus = facts->gpus_per_node * facts->nvlink_domain_nodes;
    uint32_t ranks = ar_shape_ranks(&collective->shape);
    double bytes = (double)elements * collective->element_bytes;
    if (!ar_library_call_find(collective->operation, &call)) {
        return 0;
    }
    size_t count = ranks > 1 ? 1 : 0;
    if (ar_collective_groups(collective) == 1) {
        count = ar_library_calls(ar_algorithm_calls(collective->algorithm), call,
                                 &collective->shape, gpus, bytes, runs);
    } else { /* those of a node share its HCAs, groups within a node disturb nobody */
        uint32_t members = ar_mesh_node_members(&collective->mesh, gpus);
        runs[0] = (struct ar_library_run){
            .nodes = (ranks + members - 1) / members, .ranks = ranks, .bytes = bytes, .call = call};
        runs[0].sharers = runs[0].nodes > 1 ? gpus / members : 1;
    }
    return call >= AR_PRICED_CALLS && runs[0].nodes > 1 ? 0 : count;
}

struct ar_library_row ar_library_engine_row(const struct ar_cluster *cluster,
                                            const struct ar_library_row *row)
{
    struct ar_library_row found = *row;
    uint32_t nodes = ar_cluster_facts(cluster)->nvlink_domain_nodes;
    found.run.nodes = (row->run.nodes + nodes - 1) / nodes;
    return found;
}

/* --- checks ------------------------------------------------------------------------------- */

/* A tree needs a release that has it, and before 2.10 nodes. */
static enum ar_status library_check_tree(const struct ar_engine *engine,
                                         const struct ar_tuning *tuning,
                                         const struct ar_library_run *run, struct ar_error *err)
{
    if (ar_tuning_has(tuning, AR_CALLS_TREE, run) || run->ranks == 1) {
        return AR_OK;
    }
    AR_REFUSE(run->nodes > 1, err, AR_USAGE,
              "engine %s: found algorithm tree, which %s does not have; expected auto, ring, "
              "torus2d or hierarchical",
              engine->name, tuning->release->name);
    return ar_error_set(err, AR_USAGE,
                        "engine %s: found algorithm tree on one node, where %s has none; "
                        "expected auto or ring",
                        engine->name, tuning->release->name);
}

static enum ar_status library_check(const struct ar_engine *engine,
                                    const struct ar_collective *collective,
                                    const struct ar_library *library, struct ar_error *err)
{
    const char *cluster = ar_cluster_facts(collective->cluster)->name;
    struct ar_library_run runs[AR_LIBRARY_CALLS_MAX];
    enum ar_library_call call;
    bool is_known =
        ar_library_call_find(collective->operation, &call) && !ar_engine_lacks_call(engine, call);
    bool leaves_node = is_known && ar_shape_ranks(&collective->shape) > 1 &&
                       ar_library_engine_calls(collective, 1, runs) == 0;
    AR_REFUSE(!is_known || leaves_node, err, AR_USAGE,
              "engine %s: found %s, which NCCL sends as messages and %s; expected --engine "
              "recurrence, simgrid or closed",
              engine->name, collective->operation->name,
              leaves_node ? "of which measurements tell in a node alone" : "has no price of");
    AR_REFUSE(library == NULL && engine->has_band, err, AR_USAGE,
              "engine library: cluster %s has no library.cost_table; expected a cluster from "
              "'allreckon calibrate LOG... --cluster %s --out NAME.topo', or library.release, "
              "library.node_bus and gpu.generation, by which other machines tell",
              cluster, cluster);
    AR_REFUSE(library == NULL, err, AR_USAGE,
              "engine %s: cluster %s has no library.node_bus; expected the bandwidth of the rings "
              "that NCCL finds in a node and across the network, such as --set "
              "library.node_bus=132GB/s --set library.net_bus=24GB/s",
              engine->name, cluster);
    const struct ar_tuning *tuning = &library->tuning;
    enum ar_calls calls = ar_algorithm_calls(collective->algorithm);
    if (calls == AR_CALLS_NONE) {
        char names[128] = "auto";
        for (size_t i = 0; i < ar_algorithms_count; i++) {
            const struct ar_algorithm *known = ar_algorithms[i];
            if (known->operation == collective->operation && known->calls != AR_CALLS_NONE) {
                ar_append_text(names, sizeof names, ", %s", known->name);
            }
        }
        return ar_error_set(
            err, AR_USAGE,
            "engine %s: found algorithm %s, which it has no formula for; expected one of %s",
            engine->name, ar_algorithm_name(collective->algorithm), names);
    }
    bool is_grid = calls == AR_CALLS_TORUS || calls == AR_CALLS_LEADERS;
    AR_REFUSE(
        is_grid && ar_collective_groups(collective) > 1, err, AR_USAGE,
        "engine %s: found %s in %" PRIu32 " groups at once; expected auto, ring or tree there",
        engine->name, ar_algorithm_name(collective->algorithm), ar_collective_groups(collective));
    size_t count = ar_library_engine_calls(collective, 1, runs);
    if (calls == AR_CALLS_TREE) {
        AR_TRY(library_check_tree(engine, tuning, &runs[0], err));
    }
    for (size_t i = 0; i < count; i++) {
        AR_REFUSE(runs[i].nodes > 1 && !(tuning->net_bus_Bps > 0), err, AR_USAGE,
                  engine->has_band && library->told == NULL
                      ? "engine %s: the cost table of cluster %s is of one node; expected one that "
                        "was fitted with library.net_bus"
                      : "engine %s: cluster %s has no library.net_bus; expected the bandwidth of "
                        "the rings that NCCL finds across the network",
                  engine->name, cluster);
    }
    return AR_OK;
}

/* --- running ------------------------------------------------------------------------------ */

/* The library's calls one after the other. Their errors are of the same fit: the ends of their
 * bands add up, as if they always erred together. Options are `head` and the choices' names. */
static void library_run_calls(struct ar_trial *trial, const struct ar_engine *engine,
                              const char *head, const char *note)
{
    struct ar_library_run runs[AR_LIBRARY_CALLS_MAX];
    enum ar_calls calls = ar_algorithm_calls(trial->collective.algorithm);
    bool is_made[AR_CHOICES_COUNT] = {false};
    double free_s = 0;
    for (uint32_t i = 0; i < trial->calls_count; i++) {
        bool is_even;
        double start_s = fmax(ar_trial_ready_on_all(trial, i, &is_even), free_s), time_s = 0;
        uint64_t elements = trial->calls[i].elements;
        size_t count =
            elements > 0 ? ar_library_engine_calls(&trial->collective, elements, runs) : 0;
        for (size_t k = 0; k < count; k++) {
            struct ar_library_prediction prediction =
                engine->predict_call(trial->library, calls, &runs[k]);
            time_s += trial->band == AR_BAND_LOW    ? prediction.low_s
                      : trial->band == AR_BAND_HIGH ? prediction.high_s
                                                    : prediction.time_s;
            is_made[prediction.choice] = true;
        }
        free_s = start_s + trial->calls[i].copy_s + time_s;
        trial->times[i] = (struct ar_call_time){.start_s = start_s, .finish_s = free_s};
    }
    for (uint32_t rank = 0;
         trial->rank_finish_s != NULL && rank < ar_collective_ranks(&trial->collective); rank++) {
        trial->rank_finish_s[rank] = free_s;
    }
    trial->messages_count = 0;
    trial->exact = false;
    ar_copy_text(trial->note, sizeof trial->note, note);
    ar_copy_text(trial->options, sizeof trial->options, head);
    ar_append_text(trial->options, sizeof trial->options, ":");
    for (int i = 0; i < AR_CHOICES_COUNT; i++) {
        if (is_made[i]) {
            ar_append_text(trial->options, sizeof trial->options, " %s", ar_choices[i].name);
        }
    }
}

static enum ar_status library_run(struct ar_trial *trial, struct ar_error *err)
{
    char head[AR_OPTIONS_TEXT];
    (void)err;
    const struct ar_library *library = trial->library;
    const char *release = library->tuning.release->name;
    if (library->told != NULL) {
        snprintf(head, sizeof head, "library %s, by %" PRIu64 " sets of other machines", release,
                 library->told->sets_count);
    } else {
        snprintf(head, sizeof head, "library %s, fitted to %" PRIu32 " rows", release,
                 library->rows_count);
    }
    library_run_calls(trial, &ar_engine_library, head,
                      library->told != NULL ? "what other machines tell"
                                            : "a model fitted to measurements");
    return AR_OK;
}

const struct ar_engine ar_engine_library = {
    .name = "library",
    .title = "calls of the communication library: what 'calibrate' fitted, else what measured "
             "machines tell of another, with the error",
    .cost = {.trial_s = 50e-6, .rank_s = 100e-9}, /* a formula per all-reduce */
    .check = library_check,
    .has_band = true,
    .predict_call = ar_library_predict,
    .run = library_run,
};

static struct ar_library_prediction nccl_predict_call(const struct ar_library *library,
                                                      enum ar_calls calls,
                                                      const struct ar_library_run *run)
{
    return ar_tuning_predict(&library->tuning, calls, run);
}

static enum ar_status nccl_model_run(struct ar_trial *trial, struct ar_error *err)
{
    char head[AR_OPTIONS_TEXT];
    (void)err;
    snprintf(head, sizeof head, "own constants of %s", trial->library->tuning.release->name);
    library_run_calls(trial, &ar_engine_nccl, head, "NCCL's own cost model, fitted to nothing");
    return AR_OK;
}

const struct ar_engine ar_engine_nccl = {
    .name = "nccl",
    .title = "NCCL's own cost model by release (library.release): nothing fitted, no error known",
    .cost = {.trial_s = 50e-6, .rank_s = 100e-9},
    .check = library_check,
    .predict_call = nccl_predict_call,
    .run = nccl_model_run,
};
