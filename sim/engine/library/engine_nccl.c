/* NCCL's own cost model as an engine: the constants of a release and the rates of the cluster's
 * rings. Nothing is fitted, so there is no band. */
#include <stdio.h>

#include "ar_text.h"
#include "library_engine.h"

static struct ar_library_prediction predict(const struct ar_library *library, enum ar_calls calls,
                                            const struct ar_library_run *run)
{
    return ar_tuning_predict(&library->tuning, calls, run);
}

extern const struct ar_engine ar_engine_nccl;

static enum ar_status run(struct ar_trial *trial, struct ar_error *err)
{
    char head[AR_OPTIONS_TEXT];
    (void)err;
    snprintf(head, sizeof head, "own constants of %s", trial->library->tuning.release->name);
    library_engine_run(trial, &ar_engine_nccl, head);
    ar_copy_text(trial->note, sizeof trial->note, "NCCL's own cost model, fitted to nothing");
    return AR_OK;
}

const struct ar_engine ar_engine_nccl = {
    .name = "nccl",
    .title = "NCCL's own cost model by release (library.release): nothing fitted, no error known",
    .needs_library = true,
    .cost = LIBRARY_ENGINE_COST,
    .check = library_engine_check,
    .predict = predict,
    .run = run,
};
