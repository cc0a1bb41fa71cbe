#include "ar_expect.h"

#include <fnmatch.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ar_numbers.h"
#include "ar_units.h"
#include "suspects.h"

/* --- rows ---------------------------------------------------------------------------------- */

/* Scatter of machines that nothing was fitted to. */
static double unfitted_spread(const struct ar_compared *row)
{
    return !row->measured->is_call                       ? AR_EXPECT_SPREAD_MESSAGES
           : row->payload_bytes >= AR_EXPECT_LARGE_BYTES ? AR_EXPECT_SPREAD_LARGE
                                                         : AR_EXPECT_SPREAD_SMALL;
}

/* HCAs are not so much faster than their cluster file says; in no row of the shipped sets. */
#define HCA_EXCESS 1.1

/* Whether a call takes less time than the HCAs of a node need for what they send at least: all of
 * the payload but the node's own part. */
static bool exceeds_hcas(const struct ar_tuning *tuning, const struct ar_compared *compared)
{
    const struct ar_library_run *run = &compared->row.run;
    double rate_Bps = run->bytes * (1 - 1.0 / run->nodes) / compared->row.time_s;
    return tuning != NULL && tuning->net_payload_Bps > 0 && compared->measured->is_call &&
           rate_Bps > HCA_EXCESS * tuning->net_payload_Bps;
}

/* A row and its band: where factors come from other machines (`is_told`), that of machines left
 * out of their fit; else that of the prediction or, if this is narrower, of machines that nothing
 * was fitted to. */
static struct ar_expected make_row(bool is_told, const struct ar_tuning *tuning,
                                   struct ar_compared *compared)
{
    double measured_s = compared->row.time_s, expected_s = compared->prediction.time_s;
    double band = compared->prediction.high_s / expected_s;
    double unfitted = exp(AR_BAND95_DEVIATIONS * unfitted_spread(compared));
    double half = !isfinite(band) ? unfitted : is_told ? band : fmin(unfitted, band);
    compared->prediction.low_s = expected_s / half;
    compared->prediction.high_s = expected_s * half;
    bool is_fast = !(measured_s >= expected_s / half) || exceeds_hcas(tuning, compared);
    return (struct ar_expected){.compared = *compared,
                                .ratio_frac = expected_s / measured_s,
                                .verdict = measured_s > expected_s * half ? AR_SLOW
                                           : is_fast                      ? AR_FAST
                                                                          : AR_AS_EXPECTED,
                                .suspect_s = NAN,
                                .suspect = ""};
}

/* --- likelihood ---------------------------------------------------------------------------- */

/* Bands rest on a fit of the machine or, if there is none, of other machines (new_machine.c). Few
 * rows or machines tell them, so residuals follow Student's t with `freedom` degrees. Below the
 * least share a suspect explains nothing that an error of the model would not, unless the rows of
 * the fit tell what that is. */
static const struct basis {
    double freedom, band_scales; /* half a band, in scales of the distribution */
    double least_frac;
} fitted_basis = {8, AR_BAND95_DEVIATIONS, 0}, told_basis = {4, 2.776, 0.2};

/* Rows of a ranking: measured ones behind those that the library was fitted to, which tell the
 * errors of the model. Of more, evenly chosen ones stand for all. */
enum { KNOWN_MAX = 200, MEASURED_MAX = 400, RANKED_MAX = KNOWN_MAX + MEASURED_MAX };

struct ranking {
    const struct ar_expected *rows[RANKED_MAX];
    size_t places[RANKED_MAX]; /* in the measured rows */
    size_t known, count;       /* those of the fit, and all */
    double *factor;            /* room for that of Cholesky: the covariance of residuals is L L^T */
    double *model, *alike;     /* [row][row]: covariance of the model's errors; of changed rows */
    const struct ar_library_prediction *expected; /* of all measured rows */
    const struct basis *basis;
    struct suspect_rings rings; /* as the links are */
};

/* The least scatter of one row, that which fits take; else this share of its band's variance. */
#define ROW_SPREAD 0.04
#define OWN_FRAC   0.1
/* Errors of a model at sizes s and 16 s are correlated by 0.6; those of other operations or node
 * counts have half of that in common. These two and the share above are the likeliest values for
 * 31 measured sets with which nothing is known to be wrong. */
#define LENGTH_LOG2 4.0
#define COMMON_FRAC 0.5
/* Errors of the change that a suspect makes, as shares of its logarithm: of all rows together, and
 * of each. They run over sizes faster than those of the model, since a choice or a bottleneck
 * changes. Chosen on logs of simgrid (sim/tools/expect_table) for five of twelve machines; half or
 * twice these values finds up to 3 % fewer. */
#define CHANGE_FRAC        0.3
#define CHANGE_OWN_FRAC    0.1
#define CHANGE_LENGTH_LOG2 2.0
/* A row that is predicted to feel a part of a change may feel all of it, or nothing: this share of
 * that variance is kept. Chosen on the same logs of six machines (74 to 81 % first); of the other
 * six 75 in place of 73 % are. */
#define PART_FRAC 0.2

static bool is_same_test(const struct ar_expected *a, const struct ar_expected *b)
{
    return strcmp(a->compared.operation, b->compared.operation) == 0 &&
           a->compared.row.run.ranks == b->compared.row.run.ranks &&
           a->compared.row.run.nodes == b->compared.row.run.nodes;
}

static double correlate_rows(const struct ar_expected *a, const struct ar_expected *b,
                             double length_log2)
{
    double distance =
        log2((double)a->compared.payload_bytes / (double)b->compared.payload_bytes) / length_log2;
    return exp(-distance * distance / 2) * (is_same_test(a, b) ? 1 : COMMON_FRAC);
}

/* Scale of the logarithm of a row by its band, which make_row() made. */
static double row_spread(const struct ranking *ranking, const struct ar_compared *row)
{
    return log(row->prediction.high_s / row->prediction.time_s) / ranking->basis->band_scales;
}

/* Chooses the rows. */
static void begin_ranking(const struct ar_measured *measured, const struct ar_library_table *table,
                          const struct ar_expectation *expectation, struct ar_arena *arena,
                          struct ranking *ranking)
{
    static const struct ar_measured_row call = {.is_call = true};
    struct ar_expected *known = ar_arena_alloc(arena, KNOWN_MAX, sizeof *known);
    size_t seen = 0, count = 0;
    uint32_t rows = table != NULL && table->library.rows != NULL ? table->library.rows_count : 0;
    for (uint32_t i = 0; i < rows; i += (rows + KNOWN_MAX - 1) / KNOWN_MAX) {
        const struct ar_library_row *row = &table->library.rows[i];
        struct ar_compared compared = {
            .measured = &call,
            .row = *row,
            .operation = ar_library_operations[row->run.call]->command,
            .payload_bytes = (uint64_t)row->run.bytes,
            .prediction = ar_library_predict(&table->library, row->calls, &row->run)};
        ranking->rows[count] = &known[count];
        known[count++] = make_row(false, NULL, &compared);
    }
    ranking->known = count;
    size_t step = (expectation->rows_count + MEASURED_MAX - 1) / MEASURED_MAX;
    AR_EACH(const struct ar_expected, row, expectation->rows, expectation->rows_count) {
        if (suspect_asks(measured, row->compared.measured) && seen++ % step == 0) {
            ranking->rows[count] = row;
            ranking->places[count++] = (size_t)(row->compared.measured - measured->rows);
        }
    }
    ranking->count = count;
    ranking->factor = ar_arena_room(arena, count * count, sizeof *ranking->factor);
    ranking->model = ar_arena_room(arena, count * count, sizeof *ranking->model);
    ranking->alike = ar_arena_room(arena, count * count, sizeof *ranking->alike);
    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j <= i; j++) {
            const struct ar_expected *a = ranking->rows[i], *b = ranking->rows[j];
            ranking->model[i * count + j] = (1 - OWN_FRAC) * row_spread(ranking, &a->compared) *
                                            row_spread(ranking, &b->compared) *
                                            correlate_rows(a, b, LENGTH_LOG2);
            ranking->alike[i * count + j] = correlate_rows(a, b, CHANGE_LENGTH_LOG2);
        }
    }
}

/* The largest difference of times of a row, as a logarithm. */
static double largest_change(const struct ranking *ranking,
                             const struct ar_library_prediction *predictions,
                             const struct ar_library_prediction *others)
{
    double largest = 0;
    for (size_t i = ranking->known; i < ranking->count; i++) {
        size_t place = ranking->places[i];
        largest = fmax(largest, fabs(log(predictions[place].time_s / others[place].time_s)));
    }
    return largest;
}

/* Residuals of a suspect's times, and their errors: `own` as a variance of each row, `shared` as a
 * deviation that rows have in common. Fitted rows of a choice tell less, the further away. */
static void suspect_errors(const struct ranking *ranking, const struct suspect *suspect,
                           const struct ar_library_prediction *predictions, double *residuals,
                           double *own, double *shared)
{
    bool is_exact = suspect->target == SUSPECT_TIME || suspect->target == SUSPECT_AS_BUSBW;
    double own_frac = suspect->scatter_frac > 0 ? suspect->scatter_frac : CHANGE_OWN_FRAC;
    double largest = largest_change(ranking, predictions, ranking->expected);
    for (size_t i = 0; i < ranking->count; i++) {
        const struct ar_compared *row = &ranking->rows[i]->compared;
        const struct ar_library_prediction *with =
            i < ranking->known ? &row->prediction : &predictions[ranking->places[i]];
        double spread = row_spread(ranking, row), unfitted = unfitted_spread(row);
        double change = is_exact ? 0 : log(with->time_s / row->prediction.time_s);
        bool is_other = row->measured->is_call && with->choice != row->prediction.choice;
        double wider = is_other ? fmax(0, unfitted * unfitted - spread * spread) : 0, told = 0;
        for (size_t k = 0; k < ranking->known && is_other; k++) {
            double alike = correlate_rows(ranking->rows[k], ranking->rows[i], LENGTH_LOG2);
            bool is_told = ranking->rows[k]->compared.prediction.choice == with->choice;
            told = is_told ? fmax(told, alike * alike) : told;
        }
        residuals[i] = log(row->row.time_s / with->time_s);
        own[i] =
            fmax(OWN_FRAC * spread * spread, ROW_SPREAD * ROW_SPREAD) + pow(own_frac * change, 2);
        double part = fabs(change) * (largest - fabs(change));
        shared[i] = sqrt(pow(CHANGE_FRAC * change, 2) + PART_FRAC * part + wider * (1 - told));
    }
}

/* Logarithm of the likelihood of the measured times (multivariate t), but for what all suspects
 * share. The covariance is positive definite: each row has scatter of its own. */
static double rank_times(const struct ranking *ranking, const struct suspect *suspect,
                         const struct ar_library_prediction *predictions)
{
    size_t n = ranking->count;
    double *l = ranking->factor, freedom = ranking->basis->freedom;
    double own[RANKED_MAX], shared[RANKED_MAX], residuals[RANKED_MAX], squares = 0, log_volume = 0;
    suspect_errors(ranking, suspect, predictions, residuals, own, shared);
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j <= i; j++) {
            double sum = ranking->model[i * n + j] +
                         shared[i] * shared[j] * ranking->alike[i * n + j] + (i == j ? own[i] : 0);
            for (size_t k = 0; k < j; k++) {
                sum -= l[i * n + k] * l[j * n + k];
            }
            l[i * n + j] = i == j ? sqrt(fmax(sum, 1e-12)) : sum / l[j * n + j];
            residuals[i] -= j < i ? l[i * n + j] * residuals[j] : 0;
        }
        residuals[i] /= l[i * n + i];
        squares += residuals[i] * residuals[i];
        log_volume += log(l[i * n + i]);
    }
    return -log_volume - (freedom + (double)n) / 2 * log1p(squares / freedom);
}

/* --- suspects ------------------------------------------------------------------------------ */

/* Share of the squared logarithms of measured over expected that other times explain: of all rows
 * or, if that is more, of those from 1 MiB on; at most 0 if it is of all. */
static double explained_share(const struct ranking *ranking,
                              const struct ar_library_prediction *predictions)
{
    double before[2] = {0, 0}, after[2] = {0, 0}; /* of all, of large ones */
    for (size_t i = ranking->known; i < ranking->count; i++) {
        const struct ar_compared *row = &ranking->rows[i]->compared;
        double with_s = predictions[ranking->places[i]].time_s;
        for (int kind = 0; kind <= (row->payload_bytes >= AR_EXPECT_LARGE_BYTES); kind++) {
            before[kind] += pow(log(row->row.time_s / row->prediction.time_s), 2);
            after[kind] += pow(log(row->row.time_s / with_s), 2);
        }
    }
    double of_all = before[0] > 0 ? 1 - after[0] / before[0] : 0;
    return of_all > 0 && before[1] > 0 ? fmax(of_all, 1 - after[1] / before[1]) : of_all;
}

/* The factor of a suspect that explains most, with the likelihood of all its factors that are
 * possible here, each as probable beforehand; false if there is none that explains enough: others
 * only make residuals more alike. `*is_unseen` says whether it changes nothing here. */
static bool judge_suspect(const struct ar_measured *measured, const struct suspect *suspect,
                          struct ranking *ranking, struct ar_arena *arena,
                          struct ar_suspicion *suspicion, bool *is_unseen)
{
    bool is_nothing = suspect == &suspects[0];
    double prior =
        is_nothing ? log(2) : log(2 * (double)(suspects_count - 1) * fmax(1, suspect->rarity));
    double best = -INFINITY, sum = 0;
    int factors = 0, ways = suspect->is_hidden ? 2 : 1; /* that trees wait for a slow link */
    *is_unseen = false;
    for (int i = 0; i < ways * SUSPECT_FACTORS_MAX && suspect->factors[i / ways] > 0; i++) {
        struct ar_library_prediction *predictions;
        if (suspect_predict(measured, suspect, suspect->factors[i / ways], i % ways == 1,
                            ranking->expected, &ranking->rings, arena, &predictions,
                            AR_IGNORED) != AR_OK) {
            continue;
        }
        factors++;
        *is_unseen =
            !is_nothing && largest_change(ranking, predictions, ranking->expected) < ROW_SPREAD;
        double score = rank_times(ranking, suspect, predictions);
        double explained_frac = explained_share(ranking, predictions);
        if (*is_unseen || !isfinite(score) ||
            !(is_nothing || ranking->known > 0 || explained_frac > ranking->basis->least_frac)) {
            continue;
        }
        sum = score > best ? 1 + sum * exp(best - score) : sum + exp(score - best);
        if (score > best) {
            best = score;
            *suspicion = (struct ar_suspicion){.name = suspect->name,
                                               .sentence = suspect->sentence,
                                               .factor = suspect->factors[i / ways],
                                               .explained_frac = explained_frac,
                                               .look = suspect->look,
                                               .source = suspect->source,
                                               .predictions = predictions};
        }
    }
    suspicion->factor = factors > 1 ? suspicion->factor : NAN;
    suspicion->score = best + log(sum / factors) - prior;
    return sum > 0;
}

/* 1: some logs confirm a suspect, and none denies it; -1: all deny it; else 0. `*said` gets the
 * first line that does. HCAs are few if so many are listed, `[0]mlx5_0:1/IB [1]...`, as the
 * suspect's largest factor leaves. */
static int ask_logs(const struct ar_cluster_facts *facts, const struct ar_measured *measured,
                    const struct suspect *suspect, struct ar_arena *arena, const char **said)
{
    size_t answers[2] = {0, 0}, runs = 0; /* yes and no */
    AR_EACH(const struct ar_measured_row, row, measured->rows, measured->rows_count) {
        const struct ar_log_message *telling = NULL;
        int clue = SUSPECT_CLUES_MAX;
        const struct ar_log *run = row->run;
        if (row > measured->rows && run == row[-1].run) {
            continue;
        }
        double gpus = (double)row->call.run.ranks / row->call.run.nodes; /* of each node */
        double hcas = facts->hcas_per_node * gpus / facts->gpus_per_node;
        const char *more = ar_arena_format(arena, "[%.0f]", floor(suspect->factors[0] * hcas));
        AR_EACH(const struct ar_log_message, message, run->messages, run->messages_count) {
            for (int i = 0; i < clue && suspect->clues[i] != NULL; i++) {
                if (fnmatch(suspect->clues[i] + 1, message->text, FNM_CASEFOLD) == 0 &&
                    !(suspect->clues[i][0] == '<' && strstr(message->text, more) != NULL)) {
                    clue = i;
                    telling = message;
                }
            }
        }
        bool is_no = telling != NULL && suspect->clues[clue][0] == '-';
        if (telling != NULL &&
            answers[0] + answers[1] == 0) { /* what is ruled out needs fewer words */
            *said = ar_arena_format(arena, "%s:%" PRIu64 "%s%s", run->path, telling->line,
                                    is_no ? "" : ": ", is_no ? "" : telling->text);
        }
        runs++;
        answers[is_no] += telling != NULL;
    }
    return answers[0] > 0 && answers[1] == 0 ? 1 : answers[1] == runs ? -1 : 0;
}

/* Appends an item to a list of them, `a, b`. */
static const char *append_item(const char *list, const char *item, struct ar_arena *arena)
{
    return ar_arena_format(arena, "%s%s%s", list, list[0] != '\0' ? ", " : "", item);
}

/* Suspects are not told apart that have this probability together, nor those whose times differ by
 * less than the scatter of two rows. */
#define LIKELY_FRAC 0.95

AR_ORDER(compare_suspicions, struct ar_suspicion, AR_FALLS(is_named), AR_FALLS(score))

static void rank_suspects(const struct ar_measured *measured, struct ar_arena *arena,
                          struct ar_expectation *expectation)
{
    struct ranking *ranking = ar_arena_alloc(arena, 1, sizeof *ranking);
    struct ar_suspicion *list = ar_arena_alloc(arena, suspects_count, sizeof *list);
    size_t count = 0;
    double sum = 0, best[2] = {-INFINITY, -INFINITY}; /* scores of others, and of those named */
    struct ar_library_prediction *expected =
        ar_arena_alloc(arena, measured->rows_count + 1, sizeof *expected);
    for (size_t i = 0; i < expectation->rows_count; i++) {
        const struct ar_compared *row = &expectation->rows[i].compared;
        expected[row->measured - measured->rows] = row->prediction;
    }
    ranking->expected = expected;
    ranking->basis = measured->request->factors != NULL ? &told_basis : &fitted_basis;
    begin_ranking(measured, measured->request->scenario->table, expectation, arena, ranking);
    const struct ar_cluster_facts *facts = ar_cluster_facts(measured->request->scenario->cluster);
    expectation->unseen = expectation->log = "";
    for (size_t i = 0; i < suspects_count; i++) {
        struct ar_suspicion *suspicion = &list[count];
        const char *said = "", *name = suspects[i].name;
        bool is_unseen = false;
        int answer = ask_logs(facts, measured, &suspects[i], arena, &said);
        if (answer != 0) {
            const char *lead = answer > 0 ? "" : "not ";
            expectation->log = append_item(
                expectation->log, ar_arena_format(arena, "%s%s (%s)", lead, name, said), arena);
        }
        if (answer >= 0 &&
            judge_suspect(measured, &suspects[i], ranking, arena, suspicion, &is_unseen)) {
            suspicion->log = answer > 0 ? said : "";
            suspicion->is_named = answer > 0 && suspicion->explained_frac > told_basis.least_frac;
            best[suspicion->is_named] = fmax(best[suspicion->is_named], suspicion->score);
            count++;
        }
        if (is_unseen) {
            expectation->unseen = append_item(expectation->unseen, name, arena);
        }
    }
    for (size_t i = 0; i < count; i++) {
        list[i].score += list[i].is_named ? fmax(0, best[0] - best[1]) : 0;
    }
    qsort(list, count, sizeof *list, compare_suspicions);
    for (size_t i = 0; i < count; i++) {
        sum += exp(list[i].score - list[0].score);
    }
    double before_frac = 0;
    for (size_t i = 0; i < count; i++) {
        list[i].likely_frac = exp(list[i].score - list[0].score) / sum;
        list[i].is_equal =
            before_frac < LIKELY_FRAC ||
            largest_change(ranking, list[0].predictions, list[i].predictions) < 2 * ROW_SPREAD;
        before_frac += list[i].likely_frac;
    }
    for (size_t i = 0; i < expectation->rows_count && count > 0; i++) {
        struct ar_expected *row = &expectation->rows[i];
        row->suspect_s = list[0].predictions[row->compared.measured - measured->rows].time_s;
        row->suspect = list[0].name;
    }
    expectation->suspicions = list;
    expectation->suspicions_count = count;
}

/* --- the answer ---------------------------------------------------------------------------- */

/* Rows of one operation on some GPUs that are slow, one size after the other. */
struct slow_part {
    const struct ar_expected *first, *last;
    bool is_to_end; /* there is no larger size */
    size_t count;
    double log_ratio; /* sum */
};

/* The part whose rows lose most in sum. Rows are in order of operation, GPUs and size. */
static struct slow_part find_slow_part(const struct ar_expectation *expectation)
{
    struct slow_part worst = {.count = 0}, part = {.count = 0};
    for (size_t i = 0; i < expectation->rows_count; i++) {
        const struct ar_expected *row = &expectation->rows[i];
        if (row->verdict != AR_SLOW) {
            part.count = 0;
            continue;
        }
        if (part.count == 0 || !is_same_test(part.first, row)) {
            part = (struct slow_part){.first = row};
        }
        part.last = row;
        part.is_to_end = i + 1 == expectation->rows_count || !is_same_test(row, row + 1);
        part.count++;
        part.log_ratio += log(row->ratio_frac);
        worst = part.log_ratio < worst.log_ratio ? part : worst;
    }
    return worst;
}

/* `1 MiB`, in the largest binary unit without a fraction. */
static const char *format_power(uint64_t bytes, struct ar_arena *arena)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB"};
    int unit = 0;
    for (; unit < 3 && bytes % 1024 == 0; unit++) {
        bytes /= 1024;
    }
    return ar_arena_format(arena, "%" PRIu64 " %s", bytes, units[unit]);
}

/* Returns the names of suspects behind the one at `first` that the rows do not tell from it. */
static const char *list_equals(const struct ar_expectation *expectation, size_t first,
                               struct ar_arena *arena)
{
    const char *names = "";
    for (size_t i = first + 1; i < expectation->suspicions_count; i++) {
        const struct ar_suspicion *other = &expectation->suspicions[i];
        if (other->is_equal == 1) {
            const char *name = other->look[0] != '\0' ? other->name : "a wrong expectation";
            names = append_item(names, name, arena);
        }
    }
    return names;
}

/* Returns what may be wrong. */
static const char *describe_suspect(const struct ar_expectation *expectation,
                                    struct ar_arena *arena)
{
    const struct ar_suspicion *first = &expectation->suspicions[0];
    if (expectation->suspicions_count == 0) {
        return "some rows have no prediction, so suspects are not ranked";
    }
    const char *lead = "most likely";
    if (first->look[0] == '\0' && expectation->suspicions_count > 1) {
        lead = ar_arena_format(arena, "%.0f %% likely none of the suspects, else",
                               100 * first->likely_frac);
        first++;
    }
    if (!(first->explained_frac >= told_basis.least_frac)) {
        return "the likeliest suspect explains less than a fifth of it: the fault may be another "
               "one, or the prediction wrong";
    }
    const char *equals = list_equals(expectation, (size_t)(first - expectation->suspicions), arena);
    const char *log =
        first->is_named ? ar_arena_format(arena, "the log says so, %s; ", first->log) : "";
    const char *factor = isfinite(first->factor) && first->factor != 1
                             ? ar_arena_format(arena, "factor %g, ", first->factor)
                             : "";
    return ar_arena_format(arena, "%s %s (%s%sexplains %.0f %% of the gap)%s%s; next: %s", lead,
                           first->sentence, log, factor, 100 * first->explained_frac,
                           equals[0] != '\0' ? "; these rows do not tell it from " : "", equals,
                           first->look);
}

static const char *describe_slow(const struct ar_expectation *expectation, struct ar_arena *arena)
{
    struct slow_part slow = find_slow_part(expectation);
    const char *title = slow.first->compared.measured->operation->name;
    const char *first = format_power(slow.first->compared.payload_bytes, arena);
    const char *last = format_power(slow.last->compared.payload_bytes, arena);
    const char *range = slow.is_to_end    ? ar_arena_format(arena, "from %s on", first)
                        : slow.count == 1 ? ar_arena_format(arena, "at %s", first)
                                          : ar_arena_format(arena, "from %s to %s", first, last);
    double percent = 100 * exp(slow.log_ratio / (double)slow.count);
    return ar_arena_format(arena,
                           "%c%s on %" PRIu32 " GPUs reaches %.*f %% of what this machine should "
                           "give %s%s; %s.",
                           title[0] - ('a' - 'A'), title + 1, slow.first->compared.row.run.ranks,
                           percent < 1 ? 2 : 0, percent, range,
                           percent < 1 ? " (check the units of these rows)" : "",
                           describe_suspect(expectation, arena));
}

/* Finds the factor, either way, of the median band. */
static double find_median_band(const struct ar_expectation *expectation, struct ar_arena *arena)
{
    double *factors = ar_arena_alloc(arena, expectation->rows_count + 1, sizeof *factors);
    for (size_t i = 0; i < expectation->rows_count; i++) {
        const struct ar_library_prediction *expected = &expectation->rows[i].compared.prediction;
        factors[i] = expected->high_s / expected->time_s;
    }
    ar_sort(factors, expectation->rows_count);
    return ar_quantile(factors, expectation->rows_count, 0.5);
}

static const char *describe_answer(const struct ar_expectation *expectation,
                                   const struct ar_tuning *tuning, struct ar_arena *arena)
{
    const struct ar_suspicion *first = &expectation->suspicions[0];
    size_t count = expectation->rows_count, with[] = {[AR_FAST] = 0}; /* verdicts */
    bool is_nothing = expectation->suspicions_count == 0 || first->look[0] == '\0';
    bool is_possible = true;
    for (size_t i = 0; i < count; i++) {
        with[expectation->rows[i].verdict]++;
        is_possible = is_possible && !exceeds_hcas(tuning, &expectation->rows[i].compared);
    }
    size_t good = with[AR_AS_EXPECTED], fast = with[AR_FAST];
    bool are_few = is_nothing ? 5 * good >= 4 * count : good + fast == count && 20 * fast <= count;
    if (good == count || (are_few && is_possible)) {
        return ar_arena_format(
            arena,
            "%s as fast as this machine should be, within the bands (a factor of %.2g either way "
            "in the median)%s",
            good < count
                ? ar_arena_format(arena, "%zu of %zu rows are", good, count)
                : ar_arena_format(arena, "All %zu row%s", count, count == 1 ? " is" : "s are"),
            find_median_band(expectation, arena),
            !is_nothing    ? ar_arena_format(arena, ". If anything, %s%s: %s.", first->sentence,
                                          first->is_named ? ", as the log says" : "", first->look)
            : good < count ? "; nothing seems wrong."
            : expectation->suspicions_count == 0 || first->likely_frac >= 0.5
                ? "."
                : ar_arena_format(arena, ". It is %.0f %% likely that nothing is wrong.",
                                  100 * first->likely_frac));
    }
    return with[AR_SLOW] >= fast && is_possible
               ? describe_slow(expectation, arena)
               : ar_arena_format(arena,
                                 "%zu of %zu row%s %s faster than this machine should be%s: check "
                                 "units and the cluster file; %s.",
                                 fast, count, count == 1 ? "" : "s", fast == 1 ? "is" : "are",
                                 with[AR_SLOW] == 0
                                     ? ""
                                     : ar_arena_format(arena, ", %zu slower", with[AR_SLOW]),
                                 describe_suspect(expectation, arena));
}

static const char *describe_basis(const struct ar_measured *measured,
                                  const struct ar_expectation *expectation, struct ar_arena *arena)
{
    const struct ar_scenario *scenario = measured->request->scenario;
    const struct ar_tuning *tuning = ar_comparison_reference(scenario);
    const char *name = ar_cluster_facts(scenario->cluster)->name;
    bool is_one_size = true;
    for (size_t i = 1; i < expectation->rows_count; i++) {
        double more = (double)expectation->rows[i].compared.payload_bytes /
                      (double)expectation->rows[0].compared.payload_bytes;
        is_one_size = is_one_size && fabs(more - 1) < 0.01;
    }
    return ar_arena_format(
        arena, "expected: engine %s, cluster %s, %s; %zu row%s%s", scenario->engine->name, name,
        (measured->calls_count == 0 && measured->request->factors == NULL) || tuning == NULL
            ? "messages on its links"
        : scenario->table != NULL ? "fitted to measured rows"
        : measured->request->factors != NULL
            ? ar_arena_format(arena,
                              "nothing fitted here: what %" PRIu64
                              " sets of other machines tell%s%s and the specification",
                              measured->request->factors->told.sets_count,
                              measured->calls_count > 0 ? ", constants of " : "",
                              measured->calls_count > 0 ? tuning->release->name : "")
            : ar_arena_format(arena,
                              "nothing fitted: constants of %s and the specification, with "
                              "the scatter of machines that were not fitted",
                              tuning->release->name),
        expectation->rows_count, expectation->rows_count == 1 ? "" : "s",
        is_one_size ? " of one size: suspects cannot be told apart" : "");
}

/* --- all of it ----------------------------------------------------------------------------- */

enum ar_status ar_expect_run(const struct ar_measured *measured, struct ar_arena *arena,
                             struct ar_expectation *expectation, struct ar_error *err)
{
    struct ar_comparison *comparison = &expectation->comparison;
    const struct ar_tuning *tuning = ar_comparison_reference(measured->request->scenario);
    *expectation = (struct ar_expectation){.rows_count = 0};
    AR_TRY(ar_comparison_run(measured, arena, comparison, err));
    expectation->rows_count = comparison->rows_count;
    expectation->rows =
        ar_arena_alloc(arena, comparison->rows_count + 1, sizeof *expectation->rows);
    for (size_t i = 0; i < comparison->rows_count; i++) {
        expectation->rows[i] =
            make_row(measured->request->factors != NULL, tuning, &comparison->rows[i]);
    }
    rank_suspects(measured, arena, expectation);
    expectation->answer = describe_answer(expectation, tuning, arena);
    expectation->alike = list_equals(expectation, 0, arena);
    expectation->basis = describe_basis(measured, expectation, arena);
    return AR_OK;
}

enum ar_status ar_expect_require(const struct ar_expectation *expectation, double least_frac,
                                 struct ar_error *err)
{
    const struct ar_expected *worst = NULL;
    size_t below = 0, large = 0;
    AR_EACH(const struct ar_expected, row, expectation->rows, expectation->rows_count) {
        if (row->compared.payload_bytes >= AR_EXPECT_LARGE_BYTES) {
            large++;
            below += row->ratio_frac < least_frac;
            worst = worst == NULL || row->ratio_frac < worst->ratio_frac ? row : worst;
        }
    }
    AR_REFUSE(worst == NULL, err, AR_BAD_DATA,
              "--require: found no row from 1 MiB on; expected some");
    AR_REFUSE(below != 0, err, AR_NOT_MET,
              "--require: %zu of %zu rows from 1 MiB on are below %g of what is expected; the "
              "worst, %s of %s on %" PRIu32 " GPUs, has %.3f",
              below, large, least_frac, worst->compared.operation,
              AR_SHOW_BYTES(worst->compared.payload_bytes), worst->compared.row.run.ranks,
              worst->ratio_frac);
    return AR_OK;
}

/* --- as records ---------------------------------------------------------------------------- */

static const char *const verdict_names[] = {
    [AR_AS_EXPECTED] = "as expected", [AR_SLOW] = "slow", [AR_FAST] = "fast: check units", NULL};

#define ROW(kind, field, name, ...) AR_COLUMN(kind, struct ar_expected, field, name, __VA_ARGS__)
#define MICROSECONDS(title)         .heading = title "\n(us)", .factor = 1e6, .decimals = 1
#define SUSPICION(kind, field, name, ...)                                                          \
    AR_COLUMN(kind, struct ar_suspicion, field, name, __VA_ARGS__)

static const struct ar_column row_columns[] = {
    ROW(string, compared.operation, "operation", "collective", .heading = "operation"),
    ROW(count, compared.row.run.nodes, "nodes", "of the run", .heading = "nodes", .priority = 4),
    ROW(count, compared.row.run.ranks, "gpus", "of the run", .heading = "gpus"),
    ROW(count, compared.payload_bytes, "payload_bytes", "of one rank", .heading = "payload\n(B)"),
    ROW(string, compared.choice, "choice", "algorithm and protocol that are expected",
        .heading = "choice", .priority = 6),
    ROW(number, compared.row.time_s, "measured_s", "time", MICROSECONDS("measured")),
    ROW(number, compared.prediction.time_s, "expected_s",
        "time of a machine that is as it should be", MICROSECONDS("expected")),
    ROW(number, compared.prediction.low_s, "low_s", "of the 95 % band", MICROSECONDS("low"),
        .priority = 3),
    ROW(number, compared.prediction.high_s, "high_s", "of the 95 % band", MICROSECONDS("high"),
        .priority = 3),
    ROW(number, ratio_frac, "ratio_frac", "measured rate over the expected one",
        .heading = "rate\n(%)", .factor = 100, .decimals = 0),
    ROW(choice, verdict, "verdict", "whether the time is inside the band", .heading = "verdict",
        .names = verdict_names),
    ROW(number, suspect_s, "suspect_s", "time with the first suspect", MICROSECONDS("suspect"),
        .is_rare = true, .priority = 5),
    ROW(string, suspect, "suspect", "the first suspect"),
};

const struct ar_columns ar_expect_columns = AR_COLUMNS(row_columns);

static const struct ar_column suspicion_columns[] = {
    SUSPICION(string, name, "suspect", "a name", .heading = "suspect"),
    SUSPICION(number, factor, "factor", "of the rate or time that it changes", .heading = "factor",
              .decimals = AR_DECIMALS_NEEDED, .is_rare = true),
    SUSPICION(number, likely_frac, "likely_frac", "probability among the suspects",
              .heading = "likely\n(%)", .factor = 100, .decimals = 0),
    SUSPICION(number, explained_frac, "explained_frac",
              "share of the squared logarithms of measured over expected",
              .heading = "explains\n(%)", .factor = 100, .decimals = 0),
    SUSPICION(flag, is_equal, "is_equal", "the rows do not tell it from the first one"),
    SUSPICION(string, sentence, "sentence", "what is wrong", .heading = "what is wrong"),
    SUSPICION(string, look, "next", "what to look at or to set"),
    SUSPICION(string, source, "source", "where that is documented"),
    SUSPICION(string, log, "log", "line of a log that says so"),
};

static const struct ar_column answer_columns[] = {
    AR_COLUMN(string, struct ar_expectation, answer, "answer", "what is wrong, in words"),
    AR_COLUMN(string, struct ar_expectation, alike, "alike",
              "suspects that the rows do not tell from the first one"),
    AR_COLUMN(string, struct ar_expectation, unseen, "unseen", "suspects that change no row here"),
    AR_COLUMN(string, struct ar_expectation, log, "log",
              "suspects that logs name or rule out, with their lines"),
    AR_COLUMN(string, struct ar_expectation, basis, "basis", "what expected times come from"),
};

void ar_expect_write(FILE *file, const struct ar_view *view,
                     const struct ar_expectation *expectation)
{
    enum { SHOWN = 3 };
    bool is_table = view->format == AR_FORMAT_TABLE, is_json = view->format == AR_FORMAT_JSON;
    if (is_table) {
        const char *const lines[][2] = {{"", expectation->answer},
                                        {"", expectation->basis},
                                        {"the log says: ", expectation->log},
                                        {"these rows cannot show: ", expectation->unseen}};
        for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
            if (lines[i][1][0] != '\0') {
                fprintf(file, "%s%s\n", lines[i][0], lines[i][1]);
            }
        }
        fputc('\n', file);
    }
    if (is_json) {
        for (size_t i = 0; i < sizeof answer_columns / sizeof answer_columns[0]; i++) {
            fprintf(file, "%s\"%s\": ", i == 0 ? "{" : ",\n", answer_columns[i].name);
            ar_json_text(
                file, *(const char *const *)((const char *)expectation + answer_columns[i].offset));
        }
        fputs(",\n\"rows\": ", file);
    }
    ar_records_write(file, view, ar_expect_columns, expectation->rows, expectation->rows_count);
    if (is_json) {
        fputs(",\"suspects\": ", file);
        ar_json_array(file, AR_COLUMNS(suspicion_columns), expectation->suspicions,
                      expectation->suspicions_count);
        fputs("}\n", file);
    }
    if (is_table) {
        fputc('\n', file);
        size_t count =
            expectation->suspicions_count < SHOWN ? expectation->suspicions_count : SHOWN;
        ar_records_write(file, AR_VIEW(AR_FORMAT_TABLE), AR_COLUMNS(suspicion_columns),
                         expectation->suspicions, count);
        AR_EACH(const struct ar_suspicion, suspicion, expectation->suspicions, count) {
            if (suspicion->look[0] != '\0') {
                fprintf(file, "%s: %s (%s)\n", suspicion->name, suspicion->look, suspicion->source);
            }
        }
    }
}

enum ar_status ar_expect_save(const struct ar_expectation *expectation, const char *directory,
                              struct ar_error *err)
{
    AR_TRY(
        ar_records_save(directory, "answer.csv", AR_COLUMNS(answer_columns), expectation, 1, err));
    AR_TRY(ar_records_save(directory, "expect.csv", ar_expect_columns, expectation->rows,
                           expectation->rows_count, err));
    AR_TRY(ar_records_save(directory, "suspects.csv", AR_COLUMNS(suspicion_columns),
                           expectation->suspicions, expectation->suspicions_count, err));
    return ar_comparison_save(&expectation->comparison, directory, err);
}
