/* Phases in which switches sum: a pipeline. */
#include <string.h>

#include "recurrence.h"

static double later(double a_s, double b_s)
{
    return a_s > b_s ? a_s : b_s;
}

/* A pipeline on one lane: what stays the same from part to part. */
struct sums_run {
    struct recurrence *recurrence;
    const struct ar_line_sums *sums;
    const struct ar_line_sum *lines; /* those of the lane */
    uint32_t lines_count;
    double *at_s;     /* [position]: where the part is */
    double *free_s;   /* [line]: it takes the next part */
    double *finish_s; /* [line][window]: parts have left it */
};

/* A part in a line: it begins when all members have it and the line and its window are free. */
static void run_line(const struct sums_run *run, uint32_t index, uint32_t part, double bytes)
{
    const struct ar_line_sum *sum = &run->lines[index];
    const struct ar_message_cost *cost = run->recurrence->cost;
    double busy_bytes = ar_line_busy_bytes(sum, cost, bytes);
    uint32_t window = run->recurrence->collective->window;
    double *finish_s = &run->finish_s[(size_t)index * window + part % window];
    double start_s = later(run->free_s[index], *finish_s);
    for (uint32_t i = 0; i < sum->line.count; i++) {
        start_s = later(start_s, run->at_s[sum->line.first + i * sum->line.stride]);
    }
    run->free_s[index] = start_s + busy_bytes * sum->pace_s_per_byte;
    *finish_s = start_s + busy_bytes * sum->alone_s_per_byte + ar_line_latency_s(sum, cost, bytes);
    for (uint32_t i = 0; i < sum->line.count; i++) {
        run->at_s[sum->line.first + i * sum->line.stride] = *finish_s;
    }
}

/* Lines of a stage by its first one on the lane. */
static void run_stage(const struct sums_run *run, const uint32_t *first, uint32_t part,
                      uint32_t step, uint64_t elements)
{
    const struct ar_collective *collective = run->recurrence->collective;
    for (uint32_t i = first[0]; i < first[1]; i++) {
        uint64_t largest = ar_line_elements(collective, &run->sums->lines[i].line, elements, step);
        run_line(run, i - (uint32_t)(run->lines - run->sums->lines), part,
                 (double)(largest * collective->element_bytes));
    }
}

size_t recurrence_sums_room(const struct recurrence *recurrence)
{
    size_t max = 0;
    for (uint32_t i = 0; i < recurrence->phases_count; i++) {
        const struct ar_line_sums *sums = recurrence->patterns[i].line_sums;
        if (sums != NULL) { /* all lanes have as many lines */
            size_t lines = sums->first[sums->stages] - sums->first[0];
            max = lines > max ? lines : max;
        }
    }
    return max * (1 + recurrence->collective->window) + 2 * (size_t)recurrence->positions;
}

void recurrence_run_sums(struct recurrence *recurrence, const struct ar_phase *phase,
                         const struct ar_line_sums *sums, uint32_t lane, uint64_t elements,
                         uint32_t first_step)
{
    const uint32_t *first = &sums->first[lane * sums->stages];
    uint32_t positions = recurrence->positions;
    struct sums_run run = {.recurrence = recurrence,
                           .sums = sums,
                           .lines = sums->lines + first[0],
                           .lines_count = first[sums->stages] - first[0],
                           .at_s = recurrence->sums_s,
                           .free_s = recurrence->sums_s + positions};
    size_t flights = (size_t)run.lines_count * recurrence->collective->window;
    run.finish_s = run.free_s + run.lines_count;
    memset(run.free_s, 0, (run.lines_count + flights) * sizeof *run.free_s);
    double *begin_s = run.finish_s + flights;
    for (uint32_t i = 0; i < positions; i++) { /* what the phase before has sent arrives first */
        begin_s[i] = recurrence_finish(recurrence, i);
    }
    memset(recurrence->flights_s, 0,
           (size_t)positions * recurrence->collective->window * sizeof *recurrence->flights_s);
    for (uint32_t part = 0; part < phase->steps / phase->period; part++) {
        memcpy(run.at_s, begin_s, positions * sizeof *begin_s);
        for (uint32_t stage = 0; stage < sums->stages; stage++) {
            run_stage(&run, &first[stage], part, first_step + part * phase->period + stage,
                      elements);
        }
    }
    for (uint32_t i = 0; i < positions; i++) { /* the last part has come last */
        recurrence->states[i] = (struct rank_state){.now_s = run.at_s[i], .peer = UINT32_MAX};
    }
}
