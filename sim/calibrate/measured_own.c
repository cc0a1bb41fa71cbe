/* Runs of our own algorithms in files of the harness. */
#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "ar_measured.h"

static const struct ar_algorithm *find_algorithm(const char *name)
{
    const struct ar_algorithm *algorithm = NULL;
    struct ar_error ignored;
    (void)ar_algorithm_find("algorithm", &ar_operation_all_reduce, name, &algorithm, &ignored);
    return algorithm;
}

bool measured_run_is_own(const struct ar_log *run)
{
    return run->format == AR_LOG_HARNESS && strcmp(run->tool, "nccl") != 0 &&
           find_algorithm(run->algorithm) != NULL;
}

/* `window: 8 slots of at most 262144 bytes` */
uint32_t measured_own_window(const struct ar_logs *logs)
{
    const struct ar_csv_directive *said =
        logs->csv != NULL ? ar_csv_find_directive(logs->csv, "window") : NULL;
    const char *text = said != NULL ? said->value : "";
    unsigned long window = isdigit((unsigned char)text[0]) ? strtoul(text, NULL, 10) : 0;
    return window <= AR_WINDOW_MAX ? (uint32_t)window : 0;
}

static enum ar_status find_shape(const struct ar_log *run, uint32_t gpus,
                                 const struct ar_algorithm *algorithm, struct ar_shape *shape,
                                 struct ar_error *err)
{
    struct ar_error why;
    if (run->shape[0] == '\0') {
        *shape = ar_algorithm_default_shape(algorithm, run->ranks, gpus);
        return AR_OK;
    }
    if (ar_shape_parse("shape", run->shape, shape, &why) != AR_OK) {
        return ar_log_refuse(run, run->first_line, err, "%s", why.text);
    }
    return ar_shape_ranks(shape) == run->ranks
               ? AR_OK
               : ar_log_refuse(run, run->first_line, err,
                               "found shape %.40s of %" PRIu32 " ranks; expected X*Y = %" PRIu32,
                               run->shape, run->ranks, run->ranks);
}

static enum ar_status find_element_bytes(const struct ar_log *run, uint32_t *element_bytes,
                                         struct ar_error *err)
{
    for (size_t i = 0; i < run->rows_count; i++) {
        const struct ar_log_row *row = &run->rows[i];
        uint64_t bytes = row->count > 0 ? row->payload_bytes / row->count : *element_bytes;
        if ((bytes != 2 && bytes != 4) || (i > 0 && bytes != *element_bytes)) {
            return ar_log_refuse(run, row->line, err,
                                 "found elements of %" PRIu64 " bytes; expected 2 or 4, the same "
                                 "in all rows of a run",
                                 bytes);
        }
        *element_bytes = (uint32_t)bytes;
    }
    return AR_OK;
}

enum ar_status measured_own_collective(const struct ar_log *run, uint32_t window,
                                       const struct ar_cluster *cluster,
                                       struct ar_collective *collective, struct ar_error *err)
{
    struct ar_error why;
    uint32_t gpus = ar_cluster_facts(cluster)->gpus_per_node;
    struct ar_collective made = {.cluster = cluster,
                                 .operation = &ar_operation_all_reduce,
                                 .algorithm = find_algorithm(run->algorithm),
                                 .channels = run->channels,
                                 .window = window,
                                 .element_bytes = 4,
                                 .has_plain_orders = true}; /* the harness knows no cluster */
    /* Ranks fill the nodes of a collective, so a run that leaves GPUs idle is another one. */
    if (run->nodes > 1 && run->ranks / run->nodes != gpus) {
        return ar_log_refuse(run, run->first_line, err,
                             "found %" PRIu32 " ranks on %" PRIu32 " nodes of %" PRIu32
                             " GPUs; expected full nodes (--set gpus_per_node=%" PRIu32 "?)",
                             run->ranks, run->nodes, gpus, run->ranks / run->nodes);
    }
    AR_TRY(find_shape(run, gpus, made.algorithm, &made.shape, err));
    AR_TRY(find_element_bytes(run, &made.element_bytes, err));
    if (ar_collective_check(&made, &why) != AR_OK) {
        return ar_log_refuse(run, run->first_line, err, "%s", why.text);
    }
    *collective = made;
    return AR_OK;
}
