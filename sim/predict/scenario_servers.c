/* Strategies with servers: what follows where no key says, and what cannot run. */
#include <inttypes.h>

#include "ar_note.h"
#include "ar_run.h"

enum { STEPS_STANDARD = 20, UNITS_STANDARD = 10 };

/* The keys of servers, those of work units behind the others. */
static const enum ar_key server_keys[] = {AR_KEY_SERVERS,    AR_KEY_SERVERS_AT, AR_KEY_WORKER,
                                          AR_KEY_PUSH_EVERY, AR_KEY_PULL,       AR_KEY_UNITS,
                                          AR_KEY_BACKUPS,    AR_KEY_TAIL};
enum { SERVER_KEYS = 5, ALL_KEYS = sizeof server_keys / sizeof server_keys[0] };

bool ar_key_is_of_strategy(enum ar_key key, const struct ar_strategy *strategy)
{
    int i = 0;
    while (i < ALL_KEYS && server_keys[i] != key) {
        i++;
    }
    return i == ALL_KEYS || (strategy->is_asynchronous && i < SERVER_KEYS) || strategy->deals_units;
}

bool ar_scenario_draws(const struct ar_scenario *scenario)
{
    const struct ar_strategy *strategy = scenario->layout.strategy;
    const struct ar_async run = {.staleness = scenario->async.staleness,
                                 .every = scenario->async.every};
    bool is_loose = strategy != NULL && strategy->is_asynchronous && ar_async_is_loose(&run);
    return scenario->jitter_frac > 0 || is_loose || (strategy != NULL && strategy->deals_units);
}

static enum ar_status refuse_keys(const struct ar_scenario *scenario, struct ar_error *err)
{
    const struct ar_strategy *strategy = scenario->layout.strategy;
    for (int i = 0; i < ALL_KEYS; i++) {
        if (ar_scenario_has(scenario, server_keys[i]) &&
            !ar_key_is_of_strategy(server_keys[i], strategy)) {
            return ar_scenario_refuse(scenario, server_keys[i], err,
                                      "found with strategy %s; expected it with %s", strategy->name,
                                      i < SERVER_KEYS ? "ps-sync, ps-async, ssp:S or work-units"
                                                      : "work-units");
        }
    }
    return AR_OK;
}

static enum ar_status check_keys(const struct ar_scenario *scenario, struct ar_error *err)
{
    static const enum ar_key others[] = {AR_KEY_ALGORITHM, AR_KEY_SHAPE};
    const struct ar_strategy *strategy = scenario->layout.strategy;
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        if (ar_scenario_has(scenario, others[i])) {
            return ar_scenario_refuse(scenario, others[i], err,
                                      "found with strategy %s, whose workers send to servers; "
                                      "expected none",
                                      strategy->name);
        }
    }
    if (!scenario->engine->has_timeline) {
        return ar_scenario_refuse(scenario, AR_KEY_ENGINE, err,
                                  "found %s, which does not say when ranks do what; expected "
                                  "recurrence or simgrid with strategy %s",
                                  scenario->engine->name, strategy->name);
    }
    return AR_OK;
}

static enum ar_status check_mesh(const struct ar_scenario *scenario, struct ar_error *err)
{
    if (ar_scenario_is_laid_out(scenario) && scenario->layout.model == NULL) {
        return ar_scenario_refuse(scenario, AR_KEY_STRATEGY, err,
                                  "found %s with a workload that is no transformer; expected one, "
                                  "or --trace",
                                  scenario->layout.strategy->name);
    }
    if (!ar_scenario_is_laid_out(scenario) ||
        scenario->layout.sizes[AR_AXIS_DP] == ar_layout_gpus(&scenario->layout)) {
        return AR_OK;
    }
    char text[AR_MESH_TEXT];
    return ar_scenario_refuse(scenario, AR_KEY_MESH, err,
                              "found %s with strategy %s; expected dp alone, since each GPU is a "
                              "worker with all parameters",
                              ar_mesh_format(&scenario->mesh, text),
                              scenario->layout.strategy->name);
}

enum ar_status ar_scenario_load_servers(struct ar_scenario *scenario, struct ar_error *err)
{
    const struct ar_strategy *strategy = scenario->layout.strategy;
    AR_TRY(refuse_keys(scenario, err));
    if (!strategy->is_asynchronous) {
        return AR_OK;
    }
    AR_TRY(check_keys(scenario, err));
    AR_TRY(check_mesh(scenario, err));
    if (!ar_scenario_has(scenario, AR_KEY_ITERATIONS)) {
        scenario->iterations_count = STEPS_STANDARD;
    }
    scenario->algorithm = &ar_algorithm_ring; /* of the node that is 100 % */
    return scenario->gpus > 0 ? ar_scenario_settle_servers(scenario, err) : AR_OK;
}

struct ar_async ar_scenario_async(const struct ar_scenario *scenario)
{
    uint32_t per_node = ar_cluster_facts(scenario->cluster)->gpus_per_node;
    struct ar_async run = scenario->async;
    run.cluster = scenario->cluster;
    run.gpus_each = 1;
    if (run.worker == AR_WORKER_NODE) {
        run.gpus_each = scenario->gpus < per_node ? scenario->gpus : per_node;
    }
    run.workers = scenario->gpus / run.gpus_each;
    if (!ar_scenario_has(scenario, AR_KEY_SERVERS)) {
        run.servers = (scenario->gpus - 1) / per_node + 1;
    }
    return run;
}

struct ar_units ar_scenario_units(const struct ar_scenario *scenario)
{
    struct ar_units units = scenario->units;
    if (!ar_scenario_has(scenario, AR_KEY_UNITS)) {
        units.count = UNITS_STANDARD * ar_scenario_async(scenario).workers;
    }
    return units;
}

enum ar_status ar_scenario_settle_servers(struct ar_scenario *scenario, struct ar_error *err)
{
    AR_TRY(ar_scenario_check_gpus(scenario, err));
    scenario->shape = (struct ar_shape){.x = scenario->gpus, .y = 1};
    for (uint32_t i = 0; i < scenario->stragglers_count; i++) {
        if (scenario->stragglers[i].rank >= scenario->gpus) {
            return ar_scenario_refuse(
                scenario, AR_KEY_STRAGGLER, err,
                "found rank %" PRIu32 " of %" PRIu32 " GPUs; expected 0 to %" PRIu32,
                scenario->stragglers[i].rank, scenario->gpus, scenario->gpus - 1);
        }
    }
    const struct ar_origin *origin = &scenario->origins[AR_KEY_SERVERS];
    const struct ar_async run = ar_scenario_async(scenario);
    if (scenario->gpus % run.gpus_each != 0) {
        return ar_scenario_refuse(scenario, AR_KEY_WORKER, err,
                                  "found node with %" PRIu32
                                  " GPUs; expected whole nodes of %" PRIu32,
                                  scenario->gpus, run.gpus_each);
    }
    return ar_error_blame(ar_async_check(ar_scenario_where(scenario, AR_KEY_SERVERS), &run, err),
                          origin->where != NULL ? origin->status : AR_USAGE, err);
}

void ar_note_servers(FILE *notes, const struct ar_scenario *scenario)
{
    const struct ar_strategy *strategy = scenario->layout.strategy;
    if (!strategy->is_asynchronous) {
        return;
    }
    const struct ar_async run = ar_scenario_async(scenario);
    ar_note(notes,
            "%" PRIu32 " workers, one on each %s (--worker); %" PRIu32 " servers %s%s (--servers, "
            "--servers-at), which add and store in no time; the optimizer's time counts at the "
            "workers; means of %" PRIu32 " steps (--iterations)",
            run.workers, run.worker == AR_WORKER_GPU ? "GPU" : "node", run.servers,
            run.servers_at == AR_SERVERS_AT_WORKERS ? "beside the workers"
                                                    : "on nodes of their own",
            run.servers_at == AR_SERVERS_AT_BOTH ? " and one on each node of workers" : "",
            scenario->iterations_count);
    if (run.servers_at == AR_SERVERS_AT_BOTH && scenario->trace != NULL && !strategy->deals_units) {
        ar_note(notes, "--servers-at both gains where messages are the bound, by pulls beside "
                       "pushes, slice by slice; slices are "
                       "the buckets: --bucket 4MiB makes them as small as BytePS does");
    }
    if (strategy->deals_units) {
        ar_note(notes,
                "%" PRIu32 " units of a batch each (--units), %s (--backups); a step ends when "
                "all workers have pushed and pulled",
                ar_scenario_units(scenario).count,
                scenario->units.has_backups ? "the slowest are done twice" : "none is done twice");
    } else if (ar_async_is_loose(&run)) {
        ar_note(notes,
                "workers begin scattered over the computation of %s, drawn from --seed: nobody "
                "starts them in step%s",
                run.every == 1 ? "a step" : "an exchange",
                scenario->jitter_frac > 0 ? ""
                                          : "; without --jitter they slowly fall in step again");
    }
}
