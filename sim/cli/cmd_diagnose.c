/* diagnose: a measured step beside the predicted one, its MFU, and where the difference may lie. */
#include <math.h>
#include <stdlib.h>

#include "ar_numbers.h"
#include "ar_row.h"
#include "ar_units.h"
#include "ar_what_if.h"
#include "commands.h"
#include "made_by.h"

/* Two times or rates that differ by less than this fraction count as equal. */
#define SAME_FRAC 0.03
/* Another unit of the measured number is offered if it brings the step within this factor of the
 * predicted one; of a number that is far off, within the fourth root of how far. */
#define NEAR_FACTOR 1.5
/* A cause explains a step if with it the step is predicted within this factor: a choice. */
#define EXPLAINED_FACTOR 1.2

/* A row: the step as measured, as predicted, read in another unit, or predicted with a cause. */
#define FINDING_LIST(X)                                                                            \
    X(string, kind, "measured, predicted, a reading of the number, or a cause", .heading = "")     \
    X(string, name, "name of the reading or cause", .heading = "")                                 \
    X(number, iteration_s, "time of a step", .heading = "step\n(s)", .decimals = 4)                \
    X(number, tokens_per_s, "tokens per second of all GPUs", .heading = "tokens/s")                \
    X(number, mfu_frac,                                                                            \
      "operations over the dense peak, attention counted over all pairs of tokens",                \
      .heading = "mfu\n(%)", .factor = 100, .decimals = 1)                                         \
    X(number, mfu_causal_frac, "the same, attention counted over the pairs before a token",        \
      .heading = "causal\n(%)", .factor = 100, .decimals = 1)                                      \
    X(number, ratio, "this time over the measured one", .heading = "/ measured", .decimals = 2)    \
    X(string, text, "what it is", .heading = "what it is")

struct finding {
    FINDING_LIST(AR_LIST_FIELD)
};

#define FINDING(kind_, field, ...) AR_COLUMN(kind_, struct finding, field, #field, __VA_ARGS__),
static const struct ar_column finding_columns[] = {FINDING_LIST(FINDING)};

enum { FINDINGS_MAX = 80 };
#define FILE_NAME "diagnose.csv" /* in --out */

struct diagnosis {
    const struct ar_scenario *scenario;
    double measured_s, predicted_s;
    bool may_not_fit;         /* the step as predicted takes more memory than there is */
    double claimed;           /* the MFU that was reported, if it was */
    bool is_claim_alone;      /* no step was measured beside it */
    double tokens;            /* in a step */
    double flop, causal_flop; /* of a step; `causal`: attention to earlier tokens alone */
    double peak;              /* dense peak of all GPUs, flop/s */
    struct finding list[FINDINGS_MAX];
    size_t count, readings_count;
    bool is_explained; /* by a cause alone, or by how the MFU was counted */
};

static void add_finding(struct diagnosis *diagnosis, const char *kind, const char *name,
                        double step_s, const char *text)
{
    if (diagnosis->count < FINDINGS_MAX) {
        diagnosis->list[diagnosis->count++] =
            (struct finding){.kind = kind,
                             .name = name,
                             .iteration_s = step_s,
                             .tokens_per_s = diagnosis->tokens / step_s,
                             .mfu_frac = diagnosis->flop / step_s / diagnosis->peak,
                             .mfu_causal_frac = diagnosis->causal_flop / step_s / diagnosis->peak,
                             .ratio = step_s / diagnosis->measured_s,
                             .text = text};
    }
}

/* Distance of two times on a logarithmic scale. */
static double log_ratio(double one, double other)
{
    return fabs(log(one / other));
}

/* Adds units that the measured time or rate may be in by mistake, if they explain it. */
static void add_readings(struct diagnosis *diagnosis, const struct options *options)
{
    const struct ar_scenario *scenario = diagnosis->scenario;
    const struct ar_layout *layout = &scenario->layout;
    double gpus = scenario->gpus;
    const char *step = options->step_s, *rate = options->tokens_per_s;
    const struct {
        const char *name, *text;
        const char *given; /* the option that it is a reading of; NULL: it was not given */
        double factor;     /* the rate in this unit times this is the rate of all GPUs */
    } readings[] = {
        {"of-one-gpu", "the rate is that of one GPU: times the GPUs", rate, gpus},
        {"of-one-node", "the rate is that of one node: times the nodes", rate,
         gpus / ar_cluster_facts(scenario->cluster)->gpus_per_node},
        {"of-one-replica", "the rate is that of one replica: times the replicas", rate,
         ar_layout_replicas(layout)},
        {"sequences", "the rate is of sequences: times the tokens of one", rate,
         layout->model->seq},
        {"micro-batch", "the time is that of one micro-batch: a step has more of them",
         step != NULL ? step : rate, 1.0 / ar_layout_batches(layout)},
        {"times-gpus", "the rate was multiplied by the GPUs twice", rate, 1 / gpus},
        {"of-all-gpus", "the rate is that of all GPUs: over the GPUs",
         diagnosis->is_claim_alone ? options->tflops : NULL, 1 / gpus},
        {"milliseconds", "the time is in milliseconds", step, 1000},
    };
    double wrong = log_ratio(diagnosis->measured_s, diagnosis->predicted_s);
    for (size_t i = 0; i < sizeof readings / sizeof readings[0]; i++) {
        double step_s = diagnosis->measured_s / readings[i].factor;
        double apart = log_ratio(step_s, diagnosis->predicted_s);
        bool is_same =
            readings[i].factor == 1 || (i == 2 && readings[0].factor == readings[2].factor);
        if (readings[i].given != NULL && !is_same && apart < fmax(log(NEAR_FACTOR), wrong / 4) &&
            apart < wrong - log(NEAR_FACTOR)) {
            add_finding(diagnosis, "reading", readings[i].name, step_s, readings[i].text);
            diagnosis->readings_count++;
        }
    }
}

AR_ORDER(compare_findings, struct finding,
         AR_COMPARE(log_ratio(a->ratio, 1), log_ratio(b->ratio, 1)))

/* Adds causes that bring the predicted step nearer to the measured one, the nearest first. */
static void add_causes(struct diagnosis *diagnosis)
{
    size_t first = diagnosis->count;
    double apart = log_ratio(diagnosis->measured_s, diagnosis->predicted_s);
    for (size_t i = 0; i < ar_what_if_causes_count; i++) {
        struct ar_row row;
        /* A cause may have no meaning, such as another GPU's precision. */
        if (ar_what_if_run(diagnosis->scenario, &ar_what_if_causes[i], &row, AR_IGNORED) == AR_OK &&
            (row.fits != 0 || diagnosis->may_not_fit) &&
            log_ratio(row.iteration_s, diagnosis->measured_s) < apart - 0.01) {
            add_finding(diagnosis, "cause", ar_what_if_causes[i].name, row.iteration_s,
                        ar_what_if_causes[i].text);
        }
    }
    qsort(diagnosis->list + first, diagnosis->count - first, sizeof *diagnosis->list,
          compare_findings);
    diagnosis->is_explained |= diagnosis->count > first &&
                               log_ratio(diagnosis->list[first].ratio, 1) < log(EXPLAINED_FACTOR);
}

/* Adds a peak, or a way to count operations, if the step has the claimed MFU by it; where no step
 * was measured, if the step that has it is nearer to the predicted one, and near. `ratio`: the MFU
 * by it over the MFU of this program. */
static void add_mfu(struct diagnosis *diagnosis, const char *name, double ratio, const char *text)
{
    double own = diagnosis->flop / diagnosis->measured_s / diagnosis->peak;
    double step_s = diagnosis->measured_s * (diagnosis->is_claim_alone ? ratio : 1);
    double apart = log_ratio(step_s, diagnosis->predicted_s);
    double apart_as_given = log_ratio(diagnosis->measured_s, diagnosis->predicted_s);
    if (diagnosis->is_claim_alone
            ? apart < log(EXPLAINED_FACTOR) && apart < apart_as_given - SAME_FRAC
            : log_ratio(diagnosis->claimed / own, ratio) < SAME_FRAC) {
        add_finding(diagnosis, "mfu", name, step_s, text);
    }
}

/* Finds by which peak, or which way to count operations, the step has the MFU that was reported. */
static void explain_mfu(struct diagnosis *diagnosis, const struct options *options)
{
    const struct ar_layout *layout = &diagnosis->scenario->layout;
    double parameters = ar_transformer_parameters(layout->model);
    char names[RESOURCE_NAMES_MAX][64];
    size_t count = resource_names(RESOURCE_COST, names), before = diagnosis->count;
    add_mfu(diagnosis, "agrees", 1, "the dense peak, attention over all pairs of tokens");
    add_mfu(diagnosis, "causal", diagnosis->causal_flop / diagnosis->flop,
            "attention is counted over the pairs before a token alone");
    add_mfu(diagnosis, "6NT", 6 * parameters * diagnosis->tokens / diagnosis->flop,
            "6 operations for each parameter and token: attention is not counted, embeddings are");
    double pairs_flop = 2 * (diagnosis->flop - diagnosis->causal_flop);
    double both = (6 * parameters * diagnosis->tokens + pairs_flop) / diagnosis->flop;
    add_mfu(diagnosis, "6NT-attention", both < 1 + SAME_FRAC ? -1 : both,
            "6 operations for each parameter and token, embeddings too, and attention (nanoGPT)");
    add_mfu(diagnosis, "hfu",
            ar_layout_hardware_flop(layout) / diagnosis->flop *
                ((layout->recompute.modules & AR_AGAIN_LAYER) != 0 ? 1 : 4.0 / 3),
            "what is recomputed in full is counted (HFU)");
    add_mfu(diagnosis, "sparse", 0.5, "the peak is that with sparsity, twice the dense");
    for (size_t i = 0; i < count; i++) {
        const struct ar_input *input;
        for (enum ar_precision p = AR_FP16; p < AR_PRECISIONS_COUNT; p++) {
            if (ar_inputs_find(options->inputs, RESOURCE_COST, "", names[i], &input, AR_IGNORED) ==
                    AR_OK &&
                ar_device_cost_has_group(input->cost, p, AR_COST_OF_PRODUCTS)) {
                double peak = diagnosis->scenario->gpus * ar_device_peak_flops(input->cost, p);
                bool is_none = diagnosis->is_claim_alone || fabs(peak / diagnosis->peak - 1) < 1e-6;
                add_mfu(diagnosis, "other-peak", is_none ? -1 : diagnosis->peak / peak,
                        ar_arena_format(options->arena, "the peak is that of %s in %s", names[i],
                                        ar_precision_names[p]));
            }
        }
    }
    diagnosis->is_explained = diagnosis->is_claim_alone && diagnosis->count > before;
    if (diagnosis->count == before && !diagnosis->is_claim_alone) {
        add_finding(diagnosis, "mfu", "unknown", diagnosis->measured_s,
                    "no peak or count that is known here gives the MFU that was reported");
    }
}

/* Reads what was reported: the time of a step, the rate, or how well the GPUs are used, alone or
 * beside one of them, counted as this program does. */
static enum ar_status read_measured(const struct options *options, struct diagnosis *diagnosis,
                                    struct ar_error *err)
{
    bool is_time = options->step_s != NULL, is_rate = options->tokens_per_s != NULL;
    bool is_mfu = options->mfu != NULL, is_flops = options->tflops != NULL;
    double number = NAN, tflops = NAN;
    int steps_count = is_time + is_rate, uses_count = is_mfu + is_flops;
    AR_REFUSE(steps_count > 1 || uses_count > 1 || steps_count + uses_count == 0, err, AR_USAGE,
              "diagnose: found %s; expected one of --tokens-per-s and --step-s, or one of --mfu "
              "and --tflops-per-gpu",
              steps_count + uses_count > 0 ? "both" : "neither");
    AR_TRY(option_number("--mfu (0.4 for 40 %)", options->mfu, 1e-6, 2, &diagnosis->claimed, err));
    AR_TRY(option_number("--tflops-per-gpu", options->tflops, 1e-3, 1e9, &tflops, err));
    AR_TRY(option_number("--step-s (seconds)", options->step_s, 1e-6, 1e9, &number, err));
    AR_TRY(option_number("--tokens-per-s", options->tokens_per_s, 1e-6, 1e15, &number, err));
    if (is_flops) {
        diagnosis->claimed = tflops * 1e12 * diagnosis->scenario->gpus / diagnosis->peak;
    }
    diagnosis->is_claim_alone = steps_count == 0;
    diagnosis->measured_s = is_time   ? number
                            : is_rate ? diagnosis->tokens / number
                                      : diagnosis->flop / diagnosis->claimed / diagnosis->peak;
    return AR_OK;
}

static void note_diagnosis(FILE *notes, const struct diagnosis *diagnosis)
{
    const struct ar_scenario *scenario = diagnosis->scenario;
    const struct finding *measured = diagnosis->list;
    ar_note(notes,
            "mfu: operations of the model over %.4g Tflop/s a GPU, the dense peak of cost table %s "
            "in %s; recomputed ones are not counted",
            diagnosis->peak / scenario->gpus / 1e12, scenario->cost->name,
            ar_precision_names[scenario->layout.precision]);
    if (measured->mfu_causal_frac > 1) {
        ar_note(notes, "an mfu of %.0f %% cannot be: the number is of something else%s",
                100 * measured->mfu_causal_frac,
                diagnosis->readings_count > 0 ? "" : ", or the model, batch or GPUs are others");
        if (diagnosis->readings_count == 0) {
            return;
        }
    }
    ar_note(notes, "%s",
            diagnosis->readings_count > 0
                ? "the number fits the prediction if it is read as below; give it so to see causes"
            : log_ratio(measured->iteration_s, diagnosis->predicted_s) < SAME_FRAC
                ? "the step is as long as predicted, within 3 %"
            : !diagnosis->is_explained
                ? "no cause that is known here explains the step alone: several may come together, "
                  "or options, layout or cluster are not those of the run"
                : "one number cannot tell causes apart that give the same step: check the first "
                  "ones, or measure a step without communication, and compare");
}

enum ar_status command_diagnose(const struct options *options, struct ar_error *err)
{
    struct ar_view view;
    struct ar_scenario scenario;
    struct ar_row row;
    struct diagnosis *diagnosis = ar_arena_alloc(options->arena, 1, sizeof *diagnosis);
    AR_TRY(option_view(options, AR_COLUMNS(finding_columns), &view, err));
    AR_TRY(option_require_key(options, AR_KEY_WORKLOAD, err));
    AR_TRY(made_by_check_directory(options, FILE_NAME, NULL, err));
    AR_TRY(options_load(options, &scenario, err));
    AR_SCENARIO_REFUSE(scenario.layout.model == NULL, &scenario, AR_KEY_WORKLOAD, err,
                       "found a step whose operations are not known; expected a transformer");
    const struct ar_layout *layout = &scenario.layout;
    diagnosis->scenario = &scenario;
    diagnosis->tokens = (double)layout->global_batch * layout->model->seq;
    diagnosis->flop = ar_layout_model_flop(layout);
    diagnosis->causal_flop =
        diagnosis->flop - 1.5 * layout->global_batch * ar_transformer_attention_flop(layout->model);
    diagnosis->peak = scenario.gpus * ar_device_peak_flops(scenario.cost, layout->precision);
    AR_TRY(read_measured(options, diagnosis, err));
    ar_note_before(option_notes(options), &scenario, ar_run_cost_s(&scenario));
    AR_TRY(ar_run(&scenario, &row, err));
    diagnosis->predicted_s = row.iteration_s;
    diagnosis->may_not_fit = row.fits == 0;
    add_finding(diagnosis, "measured", "", diagnosis->measured_s, "as it was given");
    add_finding(diagnosis, "predicted", "", diagnosis->predicted_s, "with nothing wrong");
    if (diagnosis->claimed > 0) {
        explain_mfu(diagnosis, options);
    }
    add_readings(diagnosis, options);
    if (diagnosis->readings_count == 0 && diagnosis->list[0].mfu_causal_frac <= 1) {
        add_causes(diagnosis);
    }
    note_diagnosis(option_notes(options), diagnosis);
    if (options->out != NULL) {
        struct parameters parameters = {.arena = options->arena};
        AR_TRY(ar_records_save(options->out, FILE_NAME, AR_COLUMNS(finding_columns),
                               diagnosis->list, diagnosis->count, err));
        parameters_add_scenario(&parameters, &scenario);
        AR_TRY(made_by_sign(options, NULL, &parameters, err));
    }
    ar_note_flush(option_notes(options));
    ar_records_write(stdout, &view, AR_COLUMNS(finding_columns), diagnosis->list, diagnosis->count);
    return AR_OK;
}
