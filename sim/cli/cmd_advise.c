/* advise: the fastest layout of a model, what a training with it takes, and what changes that.
 * train of a model (--workload): what a training takes alone. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ar_failures.h"
#include "ar_numbers.h"
#include "ar_row.h"
#include "ar_units.h"
#include "ar_what_if.h"
#include "commands.h"
#include "lists.h"
#include "variants.h"

enum { LOSSES_SHOWN = 3, DAY_S = 86400, HOUR_S = 3600 };

/* A row of the output: a plan, a part of its step that is lost, or the plan with one change. */
#define ADVICE_LIST(X)                                                                             \
    X(string, kind, "plan, loss or change", .heading = "")                                         \
    X(string, name, "name of the loss or change", .heading = "")                                   \
    X(count, gpus, "number of GPUs", .heading = "gpus")                                            \
    X(string, mesh, "layout", .heading = "mesh")                                                   \
    X(number, iteration_s, "time of a step, or the part of it that is lost",                       \
      .heading = "step\n(s)", .decimals = 3)                                                       \
    X(number, tokens_per_s, "tokens per second of all GPUs", .heading = "tokens/s")                \
    X(number, mfu_frac, "operations of the model over the dense peak", .heading = "mfu\n(%)",      \
      .factor = 100, .decimals = 1)                                                                \
    X(number, useful_frac, "share of the time that failures leave", .heading = "useful\n(%)",      \
      .factor = 100, .decimals = 1, .is_rare = true)                                               \
    X(number, days, "days of the training, failures included", .heading = "days", .decimals = 1,   \
      .is_rare = true)                                                                             \
    X(number, cost, "GPU hours times --price", .heading = "cost", .is_rare = true)                 \
    X(number, energy_kWh, "GPU hours times --power", .heading = "kWh", .is_rare = true)            \
    X(string, text, "the row in words")

struct advice {
    ADVICE_LIST(AR_LIST_FIELD)
};

#define ADVICE(kind_, field, ...) AR_COLUMN(kind_, struct advice, field, #field, __VA_ARGS__),
static const struct ar_column advice_columns[] = {ADVICE_LIST(ADVICE)};

/* The options as numbers (NAN: not given), and the rows so far. */
struct adviser {
    const struct options *options;
    struct ar_arena *arena;
    double tokens, price, power_W, mtbf_s, checkpoint_s;
    bool plans_only;    /* no losses and no changes */
    bool is_mesh_fixed; /* --mesh is one layout */
    bool has_largest;   /* there is a plan of gpus_max */
    uint64_t gpus_max;  /* the largest number of GPUs, whose plan is changed */
    uint64_t gpus_half; /* half of it, if it was added to the numbers that were asked for; else 0 */
    struct advice half; /* the plan of half the GPUs as a change; its kind is NULL: there is none */
    struct advice *list;
    size_t count;
};

/* Mean time between failures, which falls with the number of GPUs. */
static double find_mtbf_s(const struct adviser *adviser, uint64_t gpus)
{
    return adviser->mtbf_s * (double)adviser->gpus_max / (double)gpus;
}

/* Computes time, failures and cost of a training from one of its steps. */
static struct advice find_training(struct adviser *adviser, const char *kind, const char *name,
                                   const struct ar_row *row)
{
    struct advice advice = {.kind = kind,
                            .name = name,
                            .mesh = ar_arena_text(adviser->arena, row->mesh),
                            .gpus = row->gpus,
                            .iteration_s = row->iteration_s,
                            .tokens_per_s = row->tokens_per_s,
                            .mfu_frac = row->mfu_frac};
    double mtbf_s = find_mtbf_s(adviser, row->gpus);
    advice.useful_frac = ar_useful_frac(mtbf_s, adviser->checkpoint_s,
                                        ar_daly_interval_s(mtbf_s, adviser->checkpoint_s));
    double useful = isnan(advice.useful_frac) ? 1 : advice.useful_frac;
    double time_s = adviser->tokens / row->tokens_per_s / useful;
    double gpu_hours = (double)row->gpus * time_s / HOUR_S;
    advice.days = time_s / DAY_S;
    advice.cost = gpu_hours * adviser->price;
    advice.energy_kWh = gpu_hours * adviser->power_W / 1000;
    return advice;
}

/* --- sentences -------------------------------------------------------------------------------- */

/* Describes a plan; a figure that an option decides stands beside the name of the option. */
static const char *say_plan(struct adviser *adviser, const struct advice *plan,
                            const struct ar_row *row, const struct ar_layout *layout)
{
    char cost[AR_UNIT_TEXT];
    struct ar_arena *arena = adviser->arena;
    bool has_stages = strstr(row->mesh, "pp=") != NULL;
    bool gathers_ahead = layout->overlaps_gather && layout->strategy->shards_optimizer &&
                         !layout->strategy->shards_all;
    char *text = ar_arena_format(
        arena,
        "%s on %s GPU%s of %s: %s a step, %s tokens/s, by %s%s%s, micro-batch %" PRIu64
        ", recompute %s%s%s%s%s%s.",
        row->trace, AR_SHOW_NUMBER((double)row->gpus), row->gpus == 1 ? "" : "s", row->cluster,
        AR_SHOW_SECONDS(row->iteration_s), AR_SHOW_NUMBER(row->tokens_per_s), row->mesh,
        row->mesh[0] != '\0' ? ", " : "", row->strategy, row->micro_batch, row->recompute,
        has_stages ? ", " : "", has_stages ? row->schedule : "",
        layout->is_sequence_parallel ? ", sequence parallel" : "",
        layout->overlaps_tensor ? ", tensor parallelism beside its products" : "",
        gathers_ahead ? ", parameters gathered beside the forward pass" : "");
    if (!isnan(plan->days)) {
        text = ar_arena_format(arena, "%s %s tokens (--tokens) take %.3g days%s.", text,
                               adviser->options->tokens, plan->days,
                               isnan(plan->useful_frac) ? "" : ", failures included");
    }
    if (!isnan(plan->useful_frac)) {
        double mtbf_s = find_mtbf_s(adviser, row->gpus);
        text = ar_arena_format(
            arena,
            "%s %.3g %% of the time is useful, with a failure every %.3g h (--mtbf) and a "
            "checkpoint of %s s (--checkpoint) every %s (Daly; Young: %s).",
            text, 100 * plan->useful_frac, mtbf_s / HOUR_S, adviser->options->checkpoint,
            AR_SHOW_DURATION(ar_daly_interval_s(mtbf_s, adviser->checkpoint_s)),
            AR_SHOW_DURATION(ar_young_interval_s(mtbf_s, adviser->checkpoint_s)));
    }
    if (!isnan(plan->cost)) {
        text = ar_arena_format(arena, "%s %s GPU hours at %s (--price) cost %s.", text,
                               AR_SHOW_NUMBER(plan->cost / adviser->price), adviser->options->price,
                               AR_SHOW_NUMBER(plan->cost));
    }
    return isnan(plan->energy_kWh)
               ? text
               : ar_arena_format(arena, "%s %s W a GPU (--power) are %s kWh.", text,
                                 adviser->options->power, ar_format_number(plan->energy_kWh, cost));
}

/* Compares a changed plan with the plan; nothing is said of days where both are the same. */
static const char *say_change(struct adviser *adviser, const char *what, const struct advice *plan,
                              const struct advice *changed)
{
    double percent = 100 * (changed->tokens_per_s / plan->tokens_per_s - 1);
    const char *rate = AR_SHOW_NUMBER(changed->tokens_per_s);
    if (fabs(percent) < 0.5) {
        return ar_arena_format(adviser->arena, "%s: %s tokens/s, the same within 0.5 %%", what,
                               rate);
    }
    const char *text = ar_arena_format(adviser->arena, "%s: %s tokens/s, %.3g %% %s", what, rate,
                                       fabs(percent), percent > 0 ? "more" : "less");
    return isnan(changed->days) ? text
                                : ar_arena_format(adviser->arena, "%s, %+.3g days", text,
                                                  changed->days - plan->days);
}

/* --- losses and changes ----------------------------------------------------------------------- */

struct loss {
    const char *name, *text;
    double time_s;
};

AR_ORDER(compare_losses, struct loss, AR_FALLS(time_s))

/* Adds the largest parts of a step besides the model's operations at the dense peak. */
static void add_losses(struct adviser *adviser, const struct ar_row *row,
                       const struct ar_layout *layout)
{
    double useful_s = row->mfu_frac * row->iteration_s;
    double flop = ar_layout_model_flop(layout);
    double again_s = 3 * row->forward_s * (ar_layout_hardware_flop(layout) / flop - 1);
    struct loss losses[] = {
        {"kernels", "kernels that run below the dense peak",
         row->compute_s - row->optimizer_s - again_s - useful_s},
        {"recompute", "activations that are computed again", again_s},
        {"optimizer", "the optimizer", row->optimizer_s},
        {"exposed-dp", "gradients and parameters of replicas that nothing hides",
         row->exposed_dp_s},
        {"exposed-tp", "tensor parallelism that nothing hides", row->exposed_tp_s},
        {"exposed-pp", "messages between stages that nothing hides", row->exposed_pp_s},
        {"exposed-ep", "tokens on their way to experts", row->exposed_ep_s},
        {"exposed-cp", "keys and values of other tokens", row->exposed_cp_s},
        {"bubble", "stages that wait for others", row->bubble_s - fmax(row->slowest_s, 0)},
        {"slowest", "GPUs that wait for the slowest one", row->slowest_s},
    };
    size_t count = sizeof losses / sizeof losses[0];
    for (size_t i = 0; i < count; i++) {
        losses[i].time_s = losses[i].time_s > 0 ? losses[i].time_s : 0; /* also NAN */
    }
    qsort(losses, count, sizeof *losses, compare_losses);
    for (size_t i = 0; i < LOSSES_SHOWN && losses[i].time_s > 1e-3 * row->iteration_s; i++) {
        struct advice loss;
        ar_record_clear(AR_COLUMNS(advice_columns), &loss);
        loss.kind = "loss";
        loss.name = losses[i].name;
        loss.iteration_s = losses[i].time_s;
        loss.text = ar_arena_format(adviser->arena, "%s: %s, %.3g %% of a step", losses[i].text,
                                    AR_SHOW_SECONDS(losses[i].time_s),
                                    100 * losses[i].time_s / row->iteration_s);
        *AR_ARENA_ADD(adviser->arena, adviser->list, adviser->count) = loss;
    }
}

/* Adds the plan with each change, predicted for the layout of the plan. */
static enum ar_status add_changes(struct adviser *adviser, const struct ar_scenario *scenario,
                                  const struct advice *plan, struct ar_error *err)
{
    for (size_t i = 0; i < AR_WHAT_IF_PLANS; i++) {
        struct ar_what_if change = ar_what_if_plans[i];
        struct ar_row row;
        if (i == AR_WHAT_IF_NEXT_GPU) {
            const char *next = ar_what_if_next_gpu(scenario->cost->name);
            if (next == NULL) {
                continue;
            }
            change.value = ar_arena_format(adviser->arena, "gpu.cost_table=%s", next);
            change.text = ar_arena_format(adviser->arena, "%s (%s)", change.text, next);
        }
        enum ar_status status = ar_what_if_run(scenario, &change, &row, err);
        if (status != AR_OK) { /* the change has no meaning, such as a slow HCA on one node */
            ar_note(option_notes(adviser->options), "left out: %s", err->text); /* has its name */
            continue;
        }
        struct advice changed = find_training(adviser, "change", change.name, &row);
        if (i == AR_WHAT_IF_NEXT_GPU) { /* --price and --power are those of the present GPUs */
            changed.cost = changed.energy_kWh = NAN;
        }
        changed.text = say_change(adviser, change.text, plan, &changed);
        *AR_ARENA_ADD(adviser->arena, adviser->list, adviser->count) = changed;
    }
    if (adviser->half.kind != NULL) {
        adviser->half.text =
            say_change(adviser, "half the GPUs, with their own layout", plan, &adviser->half);
        *AR_ARENA_ADD(adviser->arena, adviser->list, adviser->count) = adviser->half;
    } else if (adviser->gpus_max % 2 == 0 && !adviser->is_mesh_fixed) {
        ar_note(option_notes(adviser->options), "half the GPUs is left out: no layout fits there");
    }
    return AR_OK;
}

/* Makes a plan of the fastest layout of a number of GPUs; numbers come in rising order. */
static enum ar_status take_best(void *taker, const struct ar_row *row,
                                const struct ar_scenario *scenario, struct ar_error *err)
{
    struct adviser *adviser = taker;
    AR_SCENARIO_REFUSE(scenario->layout.model == NULL, scenario, AR_KEY_WORKLOAD, err,
                       "found a step whose operations are not known; expected a transformer");
    adviser->gpus_max = adviser->is_mesh_fixed ? row->gpus : adviser->gpus_max;
    if (row->gpus * 2 == adviser->gpus_max) {
        adviser->half = find_training(adviser, "change", "half-gpus", row);
    }
    if (row->gpus == adviser->gpus_half) {
        return AR_OK;
    }
    struct advice plan = find_training(adviser, "plan", "", row);
    plan.text = say_plan(adviser, &plan, row, &scenario->layout);
    *AR_ARENA_ADD(adviser->arena, adviser->list, adviser->count) = plan;
    if (row->gpus < adviser->gpus_max) {
        return AR_OK;
    }
    adviser->has_largest = true;
    ar_note_layout(option_notes(adviser->options), scenario);
    if (adviser->plans_only) {
        return AR_OK;
    }
    add_losses(adviser, row, &scenario->layout);
    return add_changes(adviser, scenario, &plan, err);
}

/* --- the command ------------------------------------------------------------------------------ */

/* Reads a number above 0; NAN: the option was not given. */
static enum ar_status read_number(const char *where, const char *text, double *number,
                                  struct ar_error *err)
{
    *number = NAN;
    return option_number(where, text, 1e-9, 1e18, number, err);
}

/* Reads a number of tokens, which may end with M, B or T. */
static enum ar_status read_tokens(struct ar_arena *arena, const char *text, double *tokens,
                                  struct ar_error *err)
{
    size_t length = text != NULL ? strlen(text) : 0;
    const char *unit = length > 1 ? strchr("MBT", text[length - 1]) : NULL;
    const char *digits = unit != NULL ? ar_arena_format(arena, "%.*s", (int)length - 1, text) : "";
    enum ar_status status = read_number("--tokens", digits, tokens, AR_IGNORED);
    *tokens *= unit == NULL ? 1 : *unit == 'M' ? 1e6 : *unit == 'B' ? 1e9 : 1e12;
    return status == AR_OK ? AR_OK
                           : read_number("--tokens (such as 300B or 15T)", text, tokens, err);
}

static enum ar_status read_numbers(struct adviser *adviser, struct ar_error *err)
{
    const struct options *options = adviser->options;
    AR_TRY(read_tokens(adviser->arena, options->tokens, &adviser->tokens, err));
    AR_TRY(read_number("--price", options->price, &adviser->price, err));
    AR_TRY(read_number("--power", options->power, &adviser->power_W, err));
    AR_TRY(read_number("--mtbf", options->mtbf, &adviser->mtbf_s, err));
    AR_TRY(read_number("--checkpoint", options->checkpoint, &adviser->checkpoint_s, err));
    adviser->mtbf_s *= HOUR_S;
    AR_REFUSE(isnan(adviser->mtbf_s) != isnan(adviser->checkpoint_s), err, AR_USAGE,
              "%s: found %s alone; expected --mtbf and --checkpoint together",
              options->command->name, isnan(adviser->mtbf_s) ? "--checkpoint" : "--mtbf");
    AR_REFUSE(adviser->checkpoint_s >= adviser->mtbf_s, err, AR_USAGE,
              "--checkpoint: found %s s with a failure every %s h; expected less than that",
              options->checkpoint, options->mtbf);
    return isnan(adviser->tokens) && (options->price != NULL || options->power != NULL)
               ? ar_error_set(err, AR_USAGE,
                              "%s: found --price or --power without --tokens; expected it, too",
                              options->command->name)
               : AR_OK;
}

/* Reads the numbers of GPUs, and adds half of the largest one to those that are planned; one layout
 * (--mesh) has as many as its places. */
static enum ar_status plan_gpus(struct adviser *adviser, struct options *options,
                                struct ar_error *err)
{
    const char *list = options->gpus_list;
    uint64_t *gpus;
    size_t count;
    bool has_half = false;
    const char *mesh = option_key(options, AR_KEY_MESH);
    adviser->is_mesh_fixed = mesh != NULL && strncmp(mesh, "all", 3) != 0;
    if (adviser->is_mesh_fixed) {
        return AR_OK;
    }
    if (list == NULL) {
        struct ar_scenario scenario;
        key_set others = ~(KEY_BIT(AR_KEY_CLUSTER) | KEY_BIT(AR_KEY_SET));
        AR_TRY(options_scenario(options, others, &scenario, err));
        AR_TRY(ar_scenario_load_cluster(&scenario, err));
        list = ar_arena_format(options->arena, "%" PRIu64,
                               (uint64_t)ar_cluster_gpus_count(scenario.cluster));
        ar_note(option_notes(options), "--gpus: all %s of the cluster", list);
    }
    AR_TRY(list_counts(options->arena, "--gpus", list, UINT32_MAX, &gpus, &count, err));
    for (size_t i = 0; i < count; i++) {
        adviser->gpus_max = gpus[i] > adviser->gpus_max ? gpus[i] : adviser->gpus_max;
    }
    for (size_t i = 0; i < count; i++) {
        has_half = has_half || gpus[i] * 2 == adviser->gpus_max;
    }
    if (!has_half && adviser->gpus_max % 2 == 0 && !adviser->plans_only) {
        adviser->gpus_half = adviser->gpus_max / 2;
        list = ar_arena_format(options->arena, "%s,%" PRIu64, list, adviser->gpus_half);
    }
    options->gpus_list = list;
    return AR_OK;
}

enum ar_status command_advise(const struct options *options, struct ar_error *err)
{
    static const char *const all[] = {"all"};
    struct adviser adviser = {.options = options,
                              .arena = options->arena,
                              .plans_only = options->command->bit == 1u << COMMAND_train};
    struct options sweep = *options;
    struct ar_view view;
    AR_TRY(option_view(options, AR_COLUMNS(advice_columns), &view, err));
    AR_TRY(option_require_key(options, AR_KEY_CLUSTER, err));
    AR_TRY(option_require_key(options, AR_KEY_WORKLOAD, err));
    for (const enum ar_key *key = layout_conditions; *key != AR_KEYS_COUNT; key++) {
        const char *text = option_key(options, *key);
        AR_REFUSE(text != NULL && key_is_list(*key, text), err, AR_USAGE,
                  "%s: found --%s %.60s; expected one value; several are for 'sweep --best'",
                  options->command->name, ar_key_name(*key), text);
    }
    AR_TRY(read_numbers(&adviser, err));
    AR_TRY(plan_gpus(&adviser, &sweep, err));
    if (option_key(options, AR_KEY_MESH) == NULL) {
        sweep.keys[AR_KEY_MESH] = (struct option_values){(const char **)all, 1};
    }
    sweep.algorithms = sweep.shapes = "all";
    sweep.best = true;
    AR_TRY(command_sweep_for(&sweep, options, take_best, &adviser, err));
    if (!adviser.has_largest) {
        ar_note(option_notes(options), "--gpus %" PRIu64 " is left out: no layout divides, or fits",
                adviser.gpus_max);
    }
    if (options->out != NULL) {
        AR_TRY(ar_records_save(options->out, "advice.csv", AR_COLUMNS(advice_columns), adviser.list,
                               adviser.count, err));
    }
    ar_note_flush(option_notes(options));
    ar_records_write(stdout, &view, AR_COLUMNS(advice_columns), adviser.list, adviser.count);
    for (size_t i = 0; view.format == AR_FORMAT_TABLE && i < adviser.count; i++) {
        printf("%s%s\n", i == 0 ? "\n" : "", adviser.list[i].text);
    }
    return AR_OK;
}
