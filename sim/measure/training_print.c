/* Which columns runs have. */
#include "training.h"

#define PHASE(kind, field, ...) AR_COLUMN(kind, struct training_phase, field, #field, __VA_ARGS__)
#define STEP(name, help)        AR_COLUMN(text, struct training_phase, row.name, #name, help)

/* clang-format off */
static const struct ar_column all_columns[] = {
    PHASE(string, run,             "name of the run"),
    PHASE(count,  gpus,            "ranks N"),
    PHASE(text,   phase,           "1, 2, ... or total"),
    PHASE(number, first_epoch,     "the phase begins with it"),
    PHASE(number, last_epoch,      "the phase ends before it"),
    PHASE(count,  batch_per_gpu,   "samples per GPU and step"),
    PHASE(count,  batch_total,     "samples per step"),
    PHASE(number, steps_count,     "training steps"),
    PHASE(number, iteration_s,     "time of a step, mean"),
    PHASE(number, samples_per_s,    "of a step; of the total with evaluations"),
    PHASE(number, efficiency_frac, "of a step; of the total without evaluations"),
    PHASE(number, time_s,          "time of the phase; of the total: time to train"),
    PHASE(number, compute_s,       "of it compute"),
    PHASE(number, exposed_s,       "of it communication that is not hidden"),
    PHASE(number, other_s,         "of it the rest of the steps"),
    PHASE(number, evaluation_s,    "of it evaluations"),
    PHASE(number, evaluation_samples_per_s, "of an evaluation"),
    AR_COLUMN(flag, struct training_phase, row.exact, "exact",
                                   "whether the engine neglects nothing of a step; of the total: of any"),
    STEP(cluster,                  "as in predict, also those below"),
    STEP(algorithm, ""), STEP(shape, ""), STEP(trace, ""), STEP(precision, ""), STEP(engine, ""),
    STEP(baseline, ""), STEP(strategy, ""), STEP(settings, ""), STEP(version, ""),
};

#define SHOWN(kind, field, ...) PHASE(kind, field, "", __VA_ARGS__)
#define SHARE(field, heading_, priority_) \
    SHOWN(number, field, .heading = heading_, .factor = 100, .decimals = 1, .priority = priority_)
static const struct ar_column table_columns[] = {
    SHOWN(string, run,             .heading = "run"),
    SHOWN(count,  gpus,            .heading = "gpus"),
    SHOWN(text,   phase,           .heading = "phase"),
    SHOWN(text,   epochs,          .heading = "epochs"),
    SHOWN(count,  batch_per_gpu,   .heading = "batch/GPU"),
    SHOWN(count,  batch_total,     .heading = "batch", .priority = 8),
    SHOWN(number, steps_count,     .heading = "steps", .decimals = AR_DECIMALS_NEEDED, .priority = 5),
    SHOWN(number, iteration_s,     .heading = "iteration\n(ms)", .factor = 1e3, .decimals = 3),
    SHOWN(number, samples_per_s,    .heading = "samples/s", .priority = 9),
    SHOWN(number, efficiency_frac, .heading = "efficiency\n(%)", .factor = 100, .decimals = 2),
    SHOWN(number, time_s,          .heading = "time (s)", .decimals = 3),
    SHOWN(text,   clock,           .heading = "(min:s)", .priority = 6),
    SHARE(compute_frac,    "compute\n(%)", 10),
    SHARE(exposed_frac,    "exposed\n(%)", 7),
    SHARE(other_frac,      "other\n(%)", 12),
    SHARE(evaluation_frac, "evaluation\n(%)", 11),
};
/* clang-format on */

struct ar_columns training_columns(const struct ar_view *view)
{
    return view->format == AR_FORMAT_TABLE ? AR_COLUMNS(table_columns) : AR_COLUMNS(all_columns);
}
