/* The probes of a run, and what those of a tier have in common. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plan.h"
#include "probes.h"

enum { ALL_PAIRS_RANKS = 16, LATENCY_BYTES = 8 };

/* One pair, with every size; the tier is followed by the ranks: "node:0-3". */
static enum ar_status add_pair(const struct backend *backend, struct measurement row,
                               const uint64_t *elements, size_t count, struct plan *plan,
                               struct ar_error *err)
{
    snprintf(row.tier, sizeof row.tier, "%s:%" PRIu32 "-%" PRIu32,
             backend->tier(row.ranks, row.from, row.to), row.from, row.to);
    row.probe = PROBE_LATENCY;
    row.name = probe_name(row.probe);
    row.elements = LATENCY_BYTES / row.type->bytes;
    enum ar_status status = plan_add(plan, &row, err);
    row.probe = PROBE_BANDWIDTH;
    row.name = probe_name(row.probe);
    for (size_t i = 0; status == AR_OK && i < count; i++) {
        row.elements = elements[i];
        status = plan_add(plan, &row, err);
    }
    return status;
}

static enum ar_status add_pairs(const struct backend *backend, struct measurement row,
                                const uint64_t *elements, size_t count, struct plan *plan,
                                struct ar_error *err)
{
    enum ar_status status = AR_OK;
    uint32_t starts = row.ranks <= ALL_PAIRS_RANKS ? row.ranks : 1;
    for (row.from = 0; status == AR_OK && row.from < starts; row.from++) {
        for (row.to = row.from + 1; status == AR_OK && row.to < row.ranks; row.to++) {
            status = add_pair(backend, row, elements, count, plan, err);
        }
    }
    return status;
}

/* Copies and sums within rank 0. */
static enum ar_status add_local(struct measurement row, enum probe probe, const uint64_t *elements,
                                size_t count, struct plan *plan, struct ar_error *err)
{
    enum ar_status status = AR_OK;
    row.probe = probe;
    row.name = probe_name(probe);
    for (size_t i = 0; status == AR_OK && i < count; i++) {
        row.elements = elements[i];
        status = plan_add(plan, &row, err);
    }
    return status;
}

enum ar_status plan_probes(const struct options *options, const struct backend *backend,
                           const struct manner *manner, uint32_t ranks, struct plan *plan,
                           struct ar_error *err)
{
    static const uint64_t nothing = 0;
    struct measurement row = {.ranks = ranks,
                              .ranks_per_node = ranks,
                              .channels = 1,
                              .shape = {.x = ranks, .y = 1},
                              .repetitions = manner->repetitions};
    uint64_t *elements;
    size_t count;
    if (backend->tier == NULL) {
        return ar_error_set(err, AR_USAGE, "--probes: found with backend %s; expected another one",
                            backend->name);
    }
    enum ar_status status = element_find("--datatype", options->datatype, &row.type, err);
    if (status == AR_OK) {
        status = plan_elements(options, row.type, "64MiB", &elements, &count, err);
    }
    if (status != AR_OK) {
        return status;
    }
    status = add_pairs(backend, row, elements, count, plan, err);
    snprintf(row.tier, sizeof row.tier, "%s", manner->memory->name);
    if (status == AR_OK) {
        status = add_local(row, PROBE_COPY, elements, count, plan, err);
    }
    if (status == AR_OK) {
        status = add_local(row, PROBE_REDUCE, elements, count, plan, err);
    }
    if (status == AR_OK) {
        status = add_local(row, PROBE_LAUNCH, &nothing, 1, plan, err);
    }
    free(elements);
    return status;
}

/* The same probe of the same tier, whatever the pair. */
static bool belong_together(const struct measurement *a, const struct measurement *b)
{
    size_t length = strcspn(a->tier, ":");
    return a->probe == b->probe && a->elements == b->elements && a->ranks == b->ranks &&
           strcspn(b->tier, ":") == length && strncmp(a->tier, b->tier, length) == 0;
}

/* A row with the times of all pairs of the tier of row `first` of `count` rows. */
static enum ar_status add_joined(struct plan *plan, size_t first, size_t count,
                                 struct ar_error *err)
{
    struct measurement joined = plan->rows[first];
    uint32_t repetitions = joined.repetitions;
    uint32_t pairs = 0;
    for (size_t i = first; i < count; i++) {
        pairs += belong_together(&plan->rows[first], &plan->rows[i]);
    }
    joined.repetitions = pairs * repetitions;
    joined.tier[strcspn(joined.tier, ":")] = '\0';
    enum ar_status status = plan_add(plan, &joined, err);
    if (status != AR_OK) {
        return status;
    }
    double *times_s = plan->rows[plan->count - 1].times_s;
    for (size_t i = first; i < count; i++) {
        if (belong_together(&plan->rows[first], &plan->rows[i])) {
            memcpy(times_s, plan->rows[i].times_s, repetitions * sizeof *times_s);
            times_s += repetitions;
        }
    }
    return AR_OK;
}

enum ar_status plan_join_tiers(struct plan *plan, struct ar_error *err)
{
    size_t count = plan->count;
    enum ar_status status = AR_OK;
    for (size_t i = 0; status == AR_OK && i < count; i++) {
        bool is_link = strchr(plan->rows[i].tier, ':') != NULL;
        bool is_first = is_link;
        for (size_t j = 0; j < i; j++) {
            is_first = is_first && !belong_together(&plan->rows[j], &plan->rows[i]);
        }
        if (is_first) {
            status = add_joined(plan, i, count, err);
        }
    }
    return status;
}
