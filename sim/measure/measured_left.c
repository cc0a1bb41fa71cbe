/* Rows that are not used: whose, and why. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "ar_measured.h"
#include "ar_note.h"

void ar_measured_leave(struct ar_measured_left *left, const struct ar_log *run)
{
    left->first = left->first != NULL ? left->first : run;
    left->rows_count += run->rows_count;
}

bool ar_measured_takes(const struct ar_calibrate_request *request, const struct ar_log *run)
{
    bool says_none = run->system[0] == '\0' && request->known_count == 0;
    return (request->system == NULL || says_none || strcmp(run->system, request->system) == 0) &&
           (request->ranks_per_node == 0 || run->ranks == run->nodes * request->ranks_per_node);
}

enum ar_status measured_check_systems(const struct ar_calibrate_request *request,
                                      const struct ar_measured *measured, struct ar_error *err)
{
    const struct ar_log *first = NULL;
    for (size_t i = 0; i < request->paths_count; i++) {
        const struct ar_logs *logs = measured->logs[i];
        for (size_t k = 0; k < logs->runs_count; k++) {
            const struct ar_log *run = &logs->runs[k];
            if (run->system[0] == '\0' || !ar_measured_takes(request, run)) {
                continue;
            }
            first = first != NULL ? first : run;
            if (strcmp(run->system, first->system) != 0) {
                return ar_log_refuse(run, run->first_line, err,
                                     "found system \"%.60s\" behind \"%.60s\"; expected one, or "
                                     "the shipped cluster or measured set of one ('allreckon list "
                                     "sets')",
                                     run->system, first->system);
            }
        }
    }
    return AR_OK;
}

const char *const ar_measured_left_texts[MEASURED_REASONS] = {
    [MEASURED_NO_OPERATION] = "operations that are not modelled",
    [MEASURED_NO_ALGORITHM] = "algorithms that are not modelled",
    [MEASURED_ON_GPUS] = "buffers on GPUs in tables of MPI",
    [MEASURED_OTHER_RANKS] = "algorithms that are not modelled on so many ranks",
    [MEASURED_OTHER_SYSTEM] = "other machines, or ranks per node"};

void ar_measured_note_left(const char *command, enum measured_kind reason,
                           const struct ar_measured_left *left, FILE *notes)
{
    const struct ar_log *run = left->first;
    if (run != NULL) {
        ar_note(notes,
                "%s: %zu rows not used (first %s:%" PRIu64 ", %s%s%.40s on %" PRIu32
                " ranks): of %s%s",
                command, left->rows_count, run->path, run->first_line,
                ar_log_collective_name(run->collective), run->algorithm[0] != '\0' ? " " : "",
                run->algorithm, run->ranks, ar_measured_left_texts[reason],
                reason == MEASURED_NO_ALGORITHM ? " (validate/data/called.csv has those that are)"
                                                : "");
    }
}

/* Of rows that are all of other machines, or ranks per node, says what the first is of. */
static enum ar_status refuse_others(const struct ar_calibrate_request *request,
                                    const struct ar_log *first, struct ar_error *err)
{
    char found[96] = "", asked[96] = "", ranks[32] = "";
    if (first->system[0] != '\0') {
        snprintf(found, sizeof found, " of system \"%.60s\"", first->system);
    }
    if (request->system != NULL) {
        snprintf(asked, sizeof asked, " of system \"%.60s\"", request->system);
    }
    if (request->ranks_per_node > 0) {
        snprintf(ranks, sizeof ranks, ", %" PRIu32 " on each node", request->ranks_per_node);
    }
    return ar_log_refuse(first, first->first_line, err,
                         "found first %" PRIu32 " ranks on %" PRIu32 " nodes%s, and no row that is "
                         "asked for; expected ranks%s%s, as the cluster or set was measured on",
                         first->ranks, first->nodes, found, asked, ranks);
}

enum ar_status measured_refuse_all(const struct ar_calibrate_request *request,
                                   const struct ar_measured *measured, struct ar_error *err)
{
    const struct ar_log *other = measured->left[MEASURED_OTHER_SYSTEM].first;
    bool is_other = other != NULL;
    for (int i = 0; i < MEASURED_OTHER_SYSTEM; i++) {
        is_other = is_other && measured->left[i].first == NULL;
    }
    return is_other ? refuse_others(request, other, err)
                    : ar_error_set(err, AR_BAD_DATA,
                                   "%s: found no collective in the logs that is modelled; expected "
                                   "calls of a library (of the harness: backend nccl, algorithm "
                                   "nccl-allreduce), or algorithms of 'allreckon list algorithms'",
                                   request->command);
}
