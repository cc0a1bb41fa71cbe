/* The probes of a run, and what those of a tier have in common. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cases.h"
#include "rank.h"

enum { ALL_PAIRS_RANKS = 16, LATENCY_BYTES = 8 };

/* One pair, with every size; the tier is followed by the ranks: "node:0-3". */
static enum ar_status add_pair(const struct backend *backend, struct measurement row,
                               const uint64_t *elements, size_t count, struct cases *cases,
                               struct ar_error *err)
{
    snprintf(row.tier, sizeof row.tier, "%s:%" PRIu32 "-%" PRIu32,
             backend->tier(row.ranks, row.from, row.to), row.from, row.to);
    row.probe = PROBE_LATENCY;
    row.name = probe_name(row.probe);
    row.elements = LATENCY_BYTES / row.type->bytes;
    AR_TRY(cases_add(cases, &row, err));
    row.probe = PROBE_BANDWIDTH;
    row.name = probe_name(row.probe);
    for (size_t i = 0; i < count; i++) {
        row.elements = elements[i];
        AR_TRY(cases_add(cases, &row, err));
    }
    return AR_OK;
}

static enum ar_status add_pairs(const struct backend *backend, struct measurement row,
                                const uint64_t *elements, size_t count, struct cases *cases,
                                struct ar_error *err)
{
    uint32_t starts = row.ranks <= ALL_PAIRS_RANKS ? row.ranks : 1;
    for (row.from = 0; row.from < starts; row.from++) {
        for (row.to = row.from + 1; row.to < row.ranks; row.to++) {
            AR_TRY(add_pair(backend, row, elements, count, cases, err));
        }
    }
    return AR_OK;
}

/* Copies and sums within rank 0. */
static enum ar_status add_local(struct measurement row, enum probe probe, const uint64_t *elements,
                                size_t count, struct cases *cases, struct ar_error *err)
{
    row.probe = probe;
    row.name = probe_name(probe);
    for (size_t i = 0; i < count; i++) {
        row.elements = elements[i];
        AR_TRY(cases_add(cases, &row, err));
    }
    return AR_OK;
}

enum ar_status cases_add_probes(const struct arguments *arguments, const struct backend *backend,
                                uint32_t ranks, struct cases *cases, struct ar_error *err)
{
    static const uint64_t nothing = 0;
    struct measurement row = {.ranks = ranks,
                              .ranks_per_node = ranks,
                              .channels = 1,
                              .shape = {.x = ranks, .y = 1},
                              .repetitions = arguments->config.repetitions};
    uint64_t *elements;
    size_t count;
    if (backend->tier == NULL) {
        return ar_error_set(err, AR_USAGE, "--probes: found with backend %s; expected another one",
                            backend->name);
    }
    AR_TRY(element_find("--datatype", arguments->datatype, &row.type, err));
    AR_TRY(cases_elements(arguments, row.type, "64MiB", cases->arena, &elements, &count, err));
    AR_TRY(add_pairs(backend, row, elements, count, cases, err));
    snprintf(row.tier, sizeof row.tier, "%s", arguments->config.memory->name);
    AR_TRY(add_local(row, PROBE_COPY, elements, count, cases, err));
    AR_TRY(add_local(row, PROBE_REDUCE, elements, count, cases, err));
    return add_local(row, PROBE_LAUNCH, &nothing, 1, cases, err);
}

/* The same probe of the same tier, whatever the pair. */
static bool belong_together(const struct measurement *a, const struct measurement *b)
{
    size_t length = strcspn(a->tier, ":");
    return a->probe == b->probe && a->elements == b->elements && a->ranks == b->ranks &&
           strcspn(b->tier, ":") == length && strncmp(a->tier, b->tier, length) == 0;
}

/* A row with the times of all pairs of the tier of row `first` of `count` rows. */
static enum ar_status add_joined(struct cases *cases, size_t first, size_t count,
                                 struct ar_error *err)
{
    struct measurement joined = cases->rows[first];
    uint32_t repetitions = joined.repetitions;
    uint32_t pairs = 0;
    for (size_t i = first; i < count; i++) {
        pairs += belong_together(&cases->rows[first], &cases->rows[i]);
    }
    joined.repetitions = pairs * repetitions;
    joined.tier[strcspn(joined.tier, ":")] = '\0';
    AR_TRY(cases_add(cases, &joined, err));
    double *times_s = cases->rows[cases->count - 1].times_s;
    for (size_t i = first; i < count; i++) {
        if (belong_together(&cases->rows[first], &cases->rows[i])) {
            memcpy(times_s, cases->rows[i].times_s, repetitions * sizeof *times_s);
            times_s += repetitions;
        }
    }
    return AR_OK;
}

enum ar_status cases_join_tiers(struct cases *cases, struct ar_error *err)
{
    size_t count = cases->count;
    for (size_t i = 0; i < count; i++) {
        bool is_link = strchr(cases->rows[i].tier, ':') != NULL;
        bool is_first = is_link;
        for (size_t j = 0; j < i; j++) {
            is_first = is_first && !belong_together(&cases->rows[j], &cases->rows[i]);
        }
        if (is_first) {
            AR_TRY(add_joined(cases, i, count, err));
        }
    }
    return AR_OK;
}
