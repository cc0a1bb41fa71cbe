/* Time to train: run files, one step of each phase, and the number of steps. */
#include "training.h"

#include <inttypes.h>
#include <math.h>

#include "ar_inputs.h"
#include "ar_kind.h"
#include "ar_text.h"
#include "ar_units.h"
#include "key_texts.h"

#define EPOCHS_MAX    1e6
#define IMAGES_MAX    1e15 /* more than there are; counts of them are exact in a double */
#define ROUNDING_FRAC 1e-9 /* less than this part of a step is rounding, not time */

/* --- run files ----------------------------------------------------------------------------- */

/* How an epoch ends. */
static const char *const partials[] = {"drop", "keep", NULL};

#define FILE_COLUMN(kind, field, name, ...)                                                        \
    AR_COLUMN(kind, struct training_file, field, name, __VA_ARGS__)
#define OPTIONAL .may_be_missing = true
static const struct ar_column file_columns[] = {
    FILE_COLUMN(count, version, "run", "1, the version of run files that this program reads",
                .min = 1, .max = 1),
    FILE_COLUMN(string, name, "name", "the name of the run", OPTIONAL),
    FILE_COLUMN(string, title, "title", "", OPTIONAL, .may_be_empty = true),
    FILE_COLUMN(string, source, "source", "", OPTIONAL, .may_be_empty = true),
    FILE_COLUMN(count, images, "images", "", .min = 1, .max = IMAGES_MAX),
    FILE_COLUMN(count, eval_images, "evalimages", "", .max = IMAGES_MAX, OPTIONAL),
    FILE_COLUMN(number, eval_every, "evalevery", "a number of epochs, or 0 for no evaluation",
                .max = EPOCHS_MAX, OPTIONAL),
    FILE_COLUMN(choice, keeps_partial, "lastpartial", "", .names = partials, OPTIONAL),
    FILE_COLUMN(number, published_s, "published", "the seconds that the run took, above 0",
                .min = 1e-3, .max = 1e12, OPTIONAL),
    FILE_COLUMN(string, differs, "differs", "", OPTIONAL, .may_be_empty = true),
};

#define PHASE(kind, field, ...) AR_COLUMN(kind, struct training_phase, field, #field, __VA_ARGS__)
static const struct ar_column phase_columns[] = {
    PHASE(number, first_epoch, "a number of epochs", .max = EPOCHS_MAX),
    PHASE(number, last_epoch, "a number of epochs", .max = EPOCHS_MAX),
    PHASE(count, batch_per_gpu, "a whole number of samples, at least 1", .min = 1,
          .max = IMAGES_MAX, OPTIONAL),
    PHASE(count, batch_total, "a whole number of samples, at least 1", .min = 1, .max = IMAGES_MAX,
          OPTIONAL),
};

enum ar_status training_file_load(const char *name, struct ar_arena *arena,
                                  const struct training_file **file, struct ar_error *err)
{
    char path[RESOURCE_PATH], stem[RESOURCE_PATH];
    struct ar_csv *csv;
    struct training_file *made = ar_arena_alloc(arena, 1, sizeof *made);
    AR_TRY(resource_find(RESOURCE_RUN, "train", name, path, err));
    AR_TRY(ar_csv_load(path, arena, &csv, err));
    ar_copy_stem(stem, sizeof stem, path, ".run.csv");
    made->csv = csv;
    made->name = ar_arena_text(arena, stem);
    /* Reads the directives: the file's own, and keys of a scenario. */
    struct key_columns room;
    uint64_t gpus = 0;
    const struct ar_columns columns = key_columns(&room, AR_COLUMNS(file_columns), AR_KEY_IN_RUN,
                                                  offsetof(struct training_file, keys));
    AR_TRY(ar_csv_read_directives(csv, columns, made, err));
    bool has_images = ar_csv_find_directive(csv, "evalimages") != NULL;
    bool has_every = ar_csv_find_directive(csv, "evalevery") != NULL;
    AR_REFUSE((made->eval_images > 0 && !has_every) || (made->eval_every > 0 && !has_images), err,
              AR_BAD_DATA,
              "%s: directive \"%s\" is missing; expected the images of an evaluation and the "
              "epochs between evaluations, or neither",
              csv->path, has_every ? "evalimages" : "evalevery");
    if (made->keys[AR_KEY_GPUS] != NULL &&
        ar_parse_count("", made->keys[AR_KEY_GPUS], 1, UINT32_MAX, &gpus, err) != AR_OK) {
        return ar_csv_directive_error(csv, "gpus", "a whole number from 1 to 4294967295", err);
    }
    made->gpus = (uint32_t)gpus;
    /* Reads the phases, which follow each other without gaps and overlaps. */
    double end = 0;
    made->phases_count = csv->rows_count;
    AR_TRY(ar_csv_read_rows(csv, AR_COLUMNS(phase_columns), NULL, &made->phases, err));
    bool has_total = ar_csv_find_column(csv, "batch_total") != SIZE_MAX;
    AR_REFUSE_LINE(has_total == (ar_csv_find_column(csv, "batch_per_gpu") != SIZE_MAX), err,
                   csv->path, csv->header_line,
                   "found %s \"batch_per_gpu\" and \"batch_total\"; expected one of them",
                   has_total ? "columns" : "neither of the columns");
    AR_REFUSE_LINE(csv->rows_count == 0 || csv->rows_count > TRAINING_PHASES_MAX, err, csv->path,
                   csv->header_line, "found %zu phases; expected 1 to %d", csv->rows_count,
                   TRAINING_PHASES_MAX);
    for (size_t i = 0; i < made->phases_count; i++) {
        const struct training_phase *phase = &made->phases[i];
        AR_CSV_REFUSE(i == 0 && phase->first_epoch != 0, csv, i, "first_epoch", err,
                      "0, where the run begins");
        AR_CSV_REFUSE(phase->first_epoch != end, csv, i, "first_epoch", err,
                      "%.12g, where the phase of line %" PRIu64 " ends: phases in order, no %s",
                      end, csv->lines[i - 1], phase->first_epoch > end ? "gaps" : "overlaps");
        AR_CSV_REFUSE(phase->last_epoch <= phase->first_epoch, csv, i, "last_epoch", err,
                      "a number above first_epoch");
        end = phase->last_epoch;
    }
    *file = made;
    return AR_OK;
}

/* The batch of each GPU, and by how many the file's one is divided for it: 1, the GPUs of the file,
 * or `gpus` if the file has none. */
static uint64_t batch_per_gpu(const struct training_file *file, size_t phase, uint32_t gpus,
                              uint64_t *parts)
{
    const struct training_phase *found = &file->phases[phase];
    *parts = found->batch_total == 0 ? 1 : file->gpus > 0 ? file->gpus : gpus;
    return (found->batch_per_gpu + found->batch_total) / *parts;
}

bool training_file_fits(const struct training_file *file, uint32_t gpus)
{
    uint64_t parts;
    for (size_t i = 0; i < file->phases_count; i++) {
        if (batch_per_gpu(file, i, gpus, &parts) > file->images / gpus) {
            return false;
        }
    }
    return true;
}

/* --- the steps of a run -------------------------------------------------------------------- */

/* Begins a phase: its numbers of the file, and its batch per GPU. */
static enum ar_status begin_phase(const struct training *training, size_t index,
                                  struct ar_error *err)
{
    const struct training_file *file = training->file;
    struct training_phase *phase = &training->phases[index];
    uint32_t gpus = training->scenario.gpus;
    uint64_t parts, batch = batch_per_gpu(file, index, gpus, &parts);
    *phase = file->phases[index];
    const char *column = phase->batch_total > 0 ? "batch_total" : "batch_per_gpu";
    AR_CSV_REFUSE(phase->batch_total > 0 && batch * parts != phase->batch_total, file->csv, index,
                  column, err, "a multiple of %" PRIu64 ", the number of GPUs", parts);
    AR_CSV_REFUSE(batch > file->images / gpus, file->csv, index, column, err,
                  "a total batch of at most the %" PRIu64 " images of an epoch, not %" PRIu64
                  " on each of %" PRIu32 " GPUs",
                  file->images, batch, gpus);
    phase->run = file->name;
    phase->gpus = gpus;
    snprintf(phase->phase, sizeof phase->phase, "%zu", index + 1);
    phase->batch_per_gpu = batch;
    phase->batch_total = batch * gpus;
    return AR_OK;
}

/* The phases without results. */
static enum ar_status training_begin(const struct training_file *file,
                                     const struct ar_scenario *given, struct training *training,
                                     struct ar_error *err)
{
    static const enum ar_key of_algorithm[] = {AR_KEY_ALGORITHM, AR_KEY_SHAPE};
    struct ar_scenario *scenario = &training->scenario;
    *training =
        (struct training){.file = file, .scenario = *given, .phases_count = file->phases_count};
    AR_TRY(key_texts_add(file->keys, file->csv, scenario, err));
    const struct ar_strategy *strategy = scenario->layout.strategy;
    bool needs_algorithm = strategy == NULL || strategy->sends_buckets;
    /* Refuses a run that lacks a key, or whose GPUs have no samples of their own, or whose steps
     * differ: a run counts the samples of all GPUs in steps that are alike. */
    static const enum ar_key needed[] = {AR_KEY_CLUSTER, AR_KEY_GPUS, AR_KEY_ALGORITHM,
                                         AR_KEY_TRACE};
    for (size_t i = 0; i < sizeof needed / sizeof needed[0]; i++) {
        bool is_needed = needed[i] != AR_KEY_ALGORITHM || needs_algorithm;
        AR_REFUSE(is_needed && !ar_scenario_has(scenario, needed[i]), err, AR_BAD_DATA,
                  "%s: directive \"%s\" is missing; expected it or the option %s", file->csv->path,
                  ar_key_name(needed[i]), ar_keys[needed[i]].option);
    }
    bool has_others = strategy != NULL && strategy->operators != NULL &&
                      (!strategy->has_replicas || strategy->schedulers > 0);
    AR_REFUSE_BY(has_others || (strategy != NULL && strategy->ends_runs),
                 ar_scenario_refuse(scenario, AR_KEY_STRATEGY, err,
                                    "found %s; expected a strategy in which every GPU has samples "
                                    "of its own, and which sends in every step",
                                    strategy->name));
    for (int i = 0; i < 2 && !needs_algorithm; i++) {
        if (!ar_scenario_has(given, of_algorithm[i])) { /* the file's are for other strategies */
            scenario->origins[of_algorithm[i]] = (struct ar_origin){.where = NULL};
        }
    }
    training->is_shape_dropped = !ar_scenario_has(given, AR_KEY_SHAPE) &&
                                 ar_scenario_has(scenario, AR_KEY_SHAPE) && file->gpus > 0 &&
                                 scenario->gpus != file->gpus;
    if (training->is_shape_dropped) {
        scenario->origins[AR_KEY_SHAPE] = (struct ar_origin){.where = NULL};
    }
    AR_TRY(ar_scenario_load_cluster(scenario, err));
    training->phases =
        ar_arena_alloc(given->arena, file->phases_count + 1, sizeof *training->phases);
    training->total = &training->phases[file->phases_count];
    for (size_t i = 0; i < file->phases_count; i++) {
        AR_TRY(begin_phase(training, i, err));
    }
    return AR_OK;
}

enum ar_status training_step(const struct training *training, size_t phase,
                             struct ar_scenario *step, struct ar_error *err)
{
    const struct ar_csv *csv = training->file->csv;
    struct ar_arena *arena = training->scenario.arena;
    struct ar_origin origin = {
        .where = ar_arena_format(arena, "%s:%" PRIu64 ": batch", csv->path, csv->lines[phase]),
        .status = AR_BAD_DATA};
    const char *batch = ar_arena_format(arena, "%" PRIu64, training->phases[phase].batch_per_gpu);
    *step = training->scenario;
    AR_TRY(ar_scenario_set(step, AR_KEY_BATCH, &origin, batch, err));
    return ar_scenario_load(step, err);
}

/* --- results ------------------------------------------------------------------------------- */

/* Multiples of `every` in (0, epoch]; a multiple that rounding puts just above `epoch` is in. */
static double evaluations_until(double epoch, double every)
{
    return every > 0 ? floor(epoch / every * (1 + 1e-12)) : 0;
}

/* The results that follow from all `phases[i].row`. */
static void training_end(struct training *training)
{
    const struct training_file *file = training->file;
    struct training_phase *phases = training->phases;
    struct training_phase *total = &phases[training->phases_count];
    double steps_s = 0;
    double baseline_s = 0; /* of the baseline, for the same images */
    *total = (struct training_phase){.run = phases[0].run,
                                     .phase = "total",
                                     .gpus = phases[0].gpus,
                                     .batch_per_gpu = phases[0].batch_per_gpu,
                                     .batch_total = phases[0].batch_total,
                                     .row = phases[0].row,
                                     .evaluation_samples_per_s = (double)NAN};
    AR_EACH(struct training_phase, phase, phases, training->phases_count) {
        const struct ar_row *row = &phase->row;
        double epochs = phase->last_epoch - phase->first_epoch;
        uint64_t whole = file->images / phase->batch_total;
        bool has_partial = file->keeps_partial && file->images % phase->batch_total != 0;
        double pass_s =
            ceil((double)file->eval_images / (double)phase->batch_total) * row->forward_s;
        double other_s = row->iteration_s - row->compute_s - row->exposed_s;
        bool is_rounding = fabs(other_s) < ROUNDING_FRAC * row->iteration_s;
        phase->steps_count = epochs * (double)(whole + has_partial);
        phase->images_count = file->keeps_partial ? epochs * (double)file->images
                                                  : phase->steps_count * (double)phase->batch_total;
        phase->evaluations_count = 0;
        if (file->eval_images > 0) {
            phase->evaluations_count = evaluations_until(phase->last_epoch, file->eval_every) -
                                       evaluations_until(phase->first_epoch, file->eval_every);
        }
        phase->evaluation_s = file->eval_images > 0 ? phase->evaluations_count * pass_s : 0;
        phase->evaluation_samples_per_s =
            phase->evaluation_s > 0 ? (double)file->eval_images / pass_s : (double)NAN;
        phase->compute_s = phase->steps_count * row->compute_s;
        phase->exposed_s = phase->steps_count * row->exposed_s;
        phase->other_s = is_rounding ? 0 : phase->steps_count * other_s;
        double time_s = phase->steps_count * row->iteration_s;
        phase->time_s = time_s + phase->evaluation_s;
        if (phase->batch_per_gpu != total->batch_per_gpu) {
            total->batch_per_gpu = total->batch_total = AR_NO_COUNT;
        }
        total->last_epoch = phase->last_epoch;
        total->steps_count += phase->steps_count;
        total->images_count += phase->images_count;
        total->time_s += phase->time_s;
        total->compute_s += phase->compute_s;
        total->exposed_s += phase->exposed_s;
        total->other_s += phase->other_s;
        total->evaluation_s += phase->evaluation_s;
        total->evaluations_count += phase->evaluations_count;
        if (row->exact == 0 || total->row.exact == 1) { /* one estimate makes it one */
            total->row.exact = row->exact;
        }
        steps_s += time_s;
        baseline_s += time_s * row->efficiency_frac;
    }
    total->row.iteration_s = steps_s / total->steps_count;
    total->row.efficiency_frac = baseline_s / steps_s;
    total->row.samples_per_s = total->images_count / total->time_s;
    if (total->evaluation_s > 0) {
        total->evaluation_samples_per_s =
            total->evaluations_count * (double)file->eval_images / total->evaluation_s;
    }
}

enum ar_status training_predict(const struct training_file *file, const struct ar_scenario *given,
                                struct training *training, struct ar_error *err)
{
    AR_TRY(training_begin(file, given, training, err));
    struct training_phase *phases = training->phases;
    for (size_t i = 0; i < training->phases_count; i++) {
        struct ar_scenario step;
        size_t same = 0; /* the step of an earlier phase with the same batch, or a new one */
        while (phases[same].batch_per_gpu != phases[i].batch_per_gpu) {
            same++;
        }
        if (same < i) {
            phases[i].row = phases[same].row;
            continue;
        }
        AR_TRY(training_step(training, i, &step, err));
        phases[i].choice = step.choice;
        AR_TRY(ar_run(&step, &phases[i].row, err));
    }
    training_end(training);
    return AR_OK;
}

/* --- as records ---------------------------------------------------------------------------- */

#define STEP(kind, name, ...) AR_COLUMN(kind, struct training_phase, row.name, #name, __VA_ARGS__)
#define SECONDS(field, help, title, priority_)                                                     \
    PHASE(number, field, help, .heading = title, .decimals = 3, .priority = priority_)

/* clang-format off */
static const struct ar_column columns[] = {
    PHASE(string, run,             "name of the run", .heading = "run"),
    PHASE(count,  gpus,            "ranks N", .heading = "gpus"),
    PHASE(text,   phase,           "1, 2, ... or total", .heading = "phase"),
    PHASE(number, first_epoch,     "the phase begins with it", .heading = "from\nepoch",
          .decimals = AR_DECIMALS_NEEDED, .priority = 4),
    PHASE(number, last_epoch,      "the phase ends before it", .heading = "to\nepoch",
          .decimals = AR_DECIMALS_NEEDED),
    PHASE(count,  batch_per_gpu,   "samples per GPU and step", .heading = "batch\n/GPU"),
    PHASE(count,  batch_total,     "samples per step", .heading = "batch", .priority = 8),
    PHASE(number, steps_count,     "training steps", .heading = "steps",
          .decimals = AR_DECIMALS_NEEDED, .priority = 5),
    STEP(number, iteration_s,     "time of a step, mean", .heading = "iteration\n(ms)",
          .factor = 1e3, .decimals = 3),
    STEP(number, samples_per_s,   "of a step; of the total with evaluations",
          .heading = "samples/s", .priority = 9),
    STEP(number, efficiency_frac, "of a step; of the total without evaluations",
          .heading = "efficiency\n(%)", .factor = 100, .decimals = 2),
    SECONDS(time_s,                "time of the phase; of the total: time to train", "time (s)", 0),
    SECONDS(compute_s,             "of it compute", "compute\n(s)", 10),
    SECONDS(exposed_s,             "of it communication that is not hidden", "exposed\n(s)", 7),
    SECONDS(other_s,               "of it the rest of the steps", "other\n(s)", 12),
    SECONDS(evaluation_s,          "of it evaluations", "evaluation\n(s)", 11),
    PHASE(number, evaluation_samples_per_s, "of an evaluation"),
    STEP(flag, exact, "whether the engine neglects nothing of a step; of the total: of any",
         .heading = "", .mark = "~", .legend = AR_ROW_ESTIMATED, .is_rare = true),
    STEP(text, cluster,            "as in predict, also those below"),
    STEP(text, algorithm, ""), STEP(text, shape, ""), STEP(text, trace, ""),
    STEP(text, precision, ""), STEP(text, engine, ""), STEP(text, baseline, ""),
    STEP(text, strategy, ""), STEP(text, settings, ""), STEP(text, version, ""),
};
/* clang-format on */

const struct ar_columns training_columns = {columns, sizeof columns / sizeof columns[0]};
