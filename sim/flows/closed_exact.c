/* Where the closed form is what a simulation of all messages finds, and why where not. */
#include "ar_exchange.h"
#include "ar_line_sums.h"
#include "closed.h"

static bool has_chains(const struct ar_closed *closed)
{
    for (uint32_t i = 0; i < closed->phases_count; i++) {
        const struct ar_pattern *pattern = &closed->patterns[i];
        for (uint32_t j = 0; j < pattern->walks_count; j++) {
            if (!pattern->walks[j].is_ring) {
                return true;
            }
        }
    }
    return false;
}

/* Why an exchange is not exact, among all phases. */
static const char *why_not_exact_exchange(const struct ar_closed *closed, uint32_t index,
                                          uint64_t elements)
{
    const struct ar_exchange *exchange = closed->patterns[index].exchange;
    uint32_t channels = closed->collective.channels;
    uint32_t pieces = closed->phases[index].pieces;
    bool are_whole = exchange->smallest == pieces;
    bool goes_on_otherwise = false;
    for (uint32_t i = 0; i < closed->phases_count; i++) {
        goes_on_otherwise |= closed->patterns[i].exchange == NULL && closed->phases[i].steps > 0;
    }
    if (!exchange->is_uniform) {
        return "the messages of a step differ";
    }
    if (elements % ((uint64_t)channels * (are_whole ? 1 : pieces)) != 0) {
        return "messages of a step have different sizes";
    }
    if (!exchange->is_full && (exchange->is_shared || goes_on_otherwise) &&
        closed->phases_count > 1) {
        return "ranks begin phases at different times";
    }
    return "";
}

/* Why a phase of sums is not exact. */
static const char *why_not_exact_sums(const struct ar_closed *closed, uint32_t index,
                                      uint64_t elements)
{
    uint64_t pieces = (uint64_t)closed->collective.channels * closed->phases[index].pieces;
    return !closed->patterns[index].is_uniform         ? "the lines of a stage of sums differ"
           : closed->patterns[index].line_sums->is_met ? "stages of a pipeline share links"
           : elements % pieces != 0                    ? "parts have different sizes"
                                                       : "";
}

static const char *why_not_exact_phase(const struct ar_closed *closed, uint32_t index,
                                       uint64_t elements)
{
    const struct ar_pattern *pattern = &closed->patterns[index];
    uint64_t whole =
        (uint64_t)closed->collective.channels * ar_shape_ranks(&closed->collective.shape);
    if (closed->phases[index].steps == 0) {
        return "";
    }
    if (pattern->exchange != NULL) {
        return why_not_exact_exchange(closed, index, elements);
    }
    if (pattern->line_sums != NULL) {
        return why_not_exact_sums(closed, index, elements);
    }
    if (closed->phases[index].kind == AR_PHASE_TREE) {
        return "parts that go up a tree meet parts that come down";
    }
    if (!pattern->is_uniform) {
        return "the hops of a phase differ";
    }
    return pattern->is_shared && elements % whole != 0 ? "messages of different sizes share a link"
                                                       : "";
}

const char *closed_why_not_exact(const struct ar_closed *closed, uint64_t elements)
{
    bool is_shared = false;
    for (uint32_t i = 0; i < closed->phases_count; i++) {
        const struct ar_pattern *pattern = &closed->patterns[i];
        bool has_walks =
            closed->phases[i].steps > 0 && pattern->exchange == NULL && pattern->line_sums == NULL;
        const char *why = why_not_exact_phase(closed, i, elements);
        if (why[0] != '\0') {
            return why;
        }
        is_shared = is_shared || (has_walks && pattern->is_shared);
    }
    /* The head of a chain sends without waiting for a receive, so it runs ahead. */
    return is_shared && has_chains(closed) ? "messages of different steps share a link" : "";
}

/* Some ranks of an exchange have less to do than others, and end before them. */
static bool has_idle_ranks(const struct ar_closed *closed)
{
    bool has = false;
    for (uint32_t i = 0; i < closed->phases_count; i++) {
        const struct ar_exchange *exchange = closed->patterns[i].exchange;
        has |= exchange != NULL && !exchange->is_full && !exchange->is_private;
    }
    return has;
}

bool closed_is_ragged(const struct ar_closed *closed)
{
    return has_chains(closed) || has_idle_ranks(closed);
}

bool ar_closed_is_exact(const struct ar_closed *closed, uint64_t elements, bool in_queue)
{
    return closed_why_not_exact(closed, elements)[0] == '\0' &&
           !(in_queue && closed_is_ragged(closed));
}
