/* What roles send and get on several streams at once shares links. Alone a work keeps a link busy
 * for a part of its time; if the parts of two works on one link are above 1 in sum, both go slower
 * by that: a link that serves both in turn is never idle, and each needs it as long as before. */
#include <math.h>
#include <stdlib.h>

#include "step_parts.h"

bool step_can_share(const struct ar_step *step)
{
    bool has[AR_STREAMS_COUNT] = {false};
    bool has_both = false;
    for (uint32_t i = 0; i < step->graph->tasks_count && !has_both; i++) {
        const struct ar_task *task = &step->graph->tasks[i];
        bool is_sent = step->graph->works[task->work].kind != AR_TASK_COMPUTE;
        has[task->stream] = has[task->stream] || is_sent;
        has_both = has[AR_STREAM_COMPUTE] && has[AR_STREAM_GRADIENTS];
    }
    return step->engine->has_messages && !step->graph->has_series && has_both;
}

/* Numbers the works that are sent; the rest shares nothing. */
static enum ar_status number_works(struct ar_step *step, struct step_sharing *sharing,
                                   struct ar_error *err)
{
    const struct ar_graph *graph = step->graph;
    struct ar_arena *memory = &step->memory;
    sharing->works = ar_arena_alloc(memory, graph->works_count, sizeof *sharing->works);
    sharing->numbers = ar_arena_alloc(memory, graph->works_count, sizeof *sharing->numbers);
    sharing->speeds = ar_arena_alloc(memory, graph->works_count, sizeof *sharing->speeds);
    AR_NEED(sharing->works && sharing->numbers && sharing->speeds, err, "the works of a step");
    for (uint32_t i = 0; i < graph->works_count; i++) {
        if (graph->works[i].kind != AR_TASK_COMPUTE) {
            sharing->numbers[i] = (uint32_t)sharing->count;
            sharing->works[sharing->count++] = i;
        }
    }
    return AR_OK;
}

enum ar_status step_sharing_begin(struct ar_step *step, struct step_sharing *sharing,
                                  struct ar_error *err)
{
    struct ar_arena *memory = &step->memory;
    AR_TRY(number_works(step, sharing, err));
    sharing->loads = ar_arena_alloc(memory, sharing->count, sizeof *sharing->loads);
    sharing->sendings = ar_arena_alloc(memory, step->graph->roles_count, sizeof *sharing->sendings);
    sharing->windows = ar_arena_alloc(memory, step->graph->roles_count, sizeof *sharing->windows);
    sharing->list = ar_arena_alloc(memory, 2 * (size_t)step->graph->tasks_count,
                                   sizeof *sharing->list); /* a message is of two roles */
    AR_NEED(sharing->loads && sharing->sendings && sharing->windows && sharing->list, err,
            "the works of a step");
    return AR_OK;
}

static enum ar_status load_links(struct ar_step *step, uint32_t number,
                                 struct step_sharing *sharing, struct ar_error *err)
{
    const struct ar_work *work = &step->graph->works[sharing->works[number]];
    struct ar_collective collective = step_collective(step, work);
    uint64_t elements = step_elements(work, &collective);
    if (sharing->loads[number] != NULL) {
        return AR_OK;
    }
    struct ar_link_load *loads =
        ar_arena_alloc(&step->memory, ar_cluster_links_count(collective.cluster), sizeof *loads);
    AR_NEED(loads, err, "the links of a step");
    sharing->loads[number] = loads;
    const struct ar_closed *plan;
    AR_TRY(step_find_plan(step, sharing->works[number], &plan, err));
    if (plan == NULL) {
        return ar_link_load_add(&collective, &elements, 1, loads, err);
    }
    const struct ar_phase *phases;
    const struct ar_pattern *patterns;
    uint32_t phases_count = ar_closed_phases(plan, &phases, &patterns);
    return ar_link_load_add_patterns(&collective, phases, patterns, phases_count, &elements, 1,
                                     loads, err);
}

/* Works that meet nothing have no list. */
static enum ar_status note_speed(struct ar_step *step, struct step_sharing *sharing, uint32_t one,
                                 uint32_t other, double speed_frac, struct ar_error *err)
{
    double **speeds = &sharing->speeds[sharing->works[one]];
    if (*speeds == NULL) {
        *speeds = ar_arena_alloc(&step->memory, sharing->count, sizeof **speeds);
    }
    AR_NEED(*speeds, err, "the works of a step");
    (*speeds)[other] = speed_frac;
    return AR_OK;
}

/* A work does not slow itself down. */
static bool is_known(const struct step_sharing *sharing, uint32_t one, uint32_t other)
{
    const double *speeds = sharing->speeds[sharing->works[one]];
    return one == other || (speeds != NULL && speeds[other] > 0);
}

/* The speed of two works beside each other. */
static enum ar_status find_speed(struct ar_step *step, uint32_t one, uint32_t other,
                                 struct step_sharing *sharing, struct ar_error *err)
{
    const struct ar_cluster *cluster = step->collective.cluster;
    const struct ar_work *works = step->graph->works;
    double one_s = works[sharing->works[one]].time_s, other_s = works[sharing->works[other]].time_s;
    double busiest = 1;
    AR_TRY(load_links(step, one, sharing, err));
    AR_TRY(load_links(step, other, sharing, err));
    for (uint32_t link = 0; link < ar_cluster_links_count(cluster); link++) {
        double a = (double)sharing->loads[one][link].bytes / one_s;
        double b = (double)sharing->loads[other][link].bytes / other_s;
        if (a > 0 && b > 0) {
            busiest = fmax(busiest, (a + b) / ar_cluster_link_bandwidth(cluster, link));
        }
    }
    AR_TRY(note_speed(step, sharing, one, other, 1 / busiest, err));
    AR_TRY(note_speed(step, sharing, other, one, 1 / busiest, err));
    sharing->is_needed = sharing->is_needed || busiest > 1;
    return AR_OK;
}

static int compare_begins(const void *a, const void *b)
{
    const struct ar_sending *first = a;
    const struct ar_sending *second = b;
    if (first->role != second->role) {
        return first->role < second->role ? -1 : 1;
    }
    if (first->begin_s != second->begin_s) {
        return first->begin_s < second->begin_s ? -1 : 1;
    }
    return (first->task > second->task) - (first->task < second->task);
}

/* When the second streams of roles are busy, or messages to them on such. */
static void find_windows(const struct ar_graph *graph, struct ar_interval *windows)
{
    for (uint32_t role = 0; role < graph->roles_count; role++) {
        windows[role] = (struct ar_interval){.begin_s = INFINITY, .end_s = 0};
    }
    for (uint32_t i = 0; i < graph->roles_count * AR_STREAMS_COUNT; i++) {
        uint32_t first = i % AR_STREAMS_COUNT == AR_STREAM_COMPUTE ? AR_NO_TASK : graph->first[i];
        for (uint32_t number = first; number != AR_NO_TASK; number = graph->tasks[number].after) {
            const struct ar_task *task = &graph->tasks[number];
            const uint32_t ends[] = {task->role, task->to};
            for (int end = 0; end < 2; end++) {
                struct ar_interval *window = &windows[ends[end]];
                window->begin_s = fmin(window->begin_s, task->start_s);
                window->end_s = fmax(window->end_s, task->end_s);
            }
        }
    }
}

/* Adds a task to what a role sends and gets while its second stream is busy. */
static void add(const struct ar_graph *graph, const struct step_sharing *sharing, uint32_t number,
                uint32_t role, uint32_t *count)
{
    const struct ar_task *task = &graph->tasks[number];
    const struct ar_interval *window = &sharing->windows[role];
    if (task->start_s < window->end_s && task->end_s > window->begin_s) {
        sharing->list[(*count)++] = (struct ar_sending){.begin_s = task->start_s,
                                                        .end_s = task->end_s,
                                                        .work = sharing->numbers[task->work],
                                                        .task = number,
                                                        .role = role,
                                                        .from = ar_task_from(task)};
    }
}

static void list_roles(const struct ar_graph *graph, const struct step_sharing *sharing)
{
    uint32_t count = 0;
    find_windows(graph, sharing->windows);
    for (uint32_t i = 0; i < graph->tasks_count; i++) {
        const struct ar_task *task = &graph->tasks[i];
        bool is_sent = graph->works[task->work].kind != AR_TASK_COMPUTE;
        if (is_sent) {
            add(graph, sharing, i, task->role, &count);
        }
        if (is_sent && task->to != task->role) {
            add(graph, sharing, i, task->to, &count);
        }
    }
    qsort(sharing->list, count, sizeof *sharing->list, compare_begins);
    for (uint32_t role = 0, i = 0; role < graph->roles_count; role++) {
        struct ar_sendings *sendings = &sharing->sendings[role];
        double last_s = 0;
        *sendings = (struct ar_sendings){.list = sharing->list + i};
        for (; i < count && sharing->list[i].role == role; i++) {
            last_s = fmax(last_s, sharing->list[i].end_s);
            sharing->list[i].last_s = last_s;
            sendings->count++;
        }
    }
}

/* Finds the speeds of those that are under way at once. */
static enum ar_status meet(struct ar_step *step, const struct ar_sendings *sendings,
                           struct step_sharing *sharing, struct ar_error *err)
{
    for (uint32_t i = 0; i < sendings->count; i++) {
        const struct ar_sending *one = &sendings->list[i];
        for (uint32_t j = i + 1; j < sendings->count; j++) {
            const struct ar_sending *other = &sendings->list[j];
            if (other->begin_s >= one->end_s) {
                break;
            }
            if (ar_sending_shares(one->from, other->from) &&
                !is_known(sharing, one->work, other->work)) {
                AR_TRY(find_speed(step, one->work, other->work, sharing, err));
            }
        }
    }
    return AR_OK;
}

enum ar_status step_sharing_find(struct ar_step *step, struct step_sharing *sharing,
                                 struct ar_error *err)
{
    list_roles(step->graph, sharing);
    for (uint32_t role = 0; role < step->graph->roles_count; role++) {
        AR_TRY(meet(step, &sharing->sendings[role], sharing, err));
    }
    return AR_OK;
}
