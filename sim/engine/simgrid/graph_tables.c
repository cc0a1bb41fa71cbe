/* Child side of a graph: who waits for whom, and which collectives there are. */
#include "graph_child.h"

#include <simgrid/semaphore.h>

#include "simgrid_child.h"

static const char tables[] = "the tasks of its ranks";

static void list_needs(struct graph_run *run)
{
    const struct ar_graph *graph = run->graph;
    run->needed_first = child_alloc(graph->tasks_count + 2, sizeof *run->needed_first, tables);
    run->needed_by = child_alloc(graph->needs_count, sizeof *run->needed_by, tables);
    run->missing =
        child_alloc((size_t)graph->tasks_count * run->places, sizeof *run->missing, tables);
    for (uint32_t i = 0; i < graph->needs_count; i++) {
        run->needed_first[graph->needs[i].task + 2]++;
    }
    for (uint32_t i = 2; i < graph->tasks_count + 2; i++) {
        run->needed_first[i] += run->needed_first[i - 1];
    }
    for (uint32_t i = 0; i < graph->tasks_count; i++) {
        for (uint32_t need = graph->tasks[i].need; need != AR_NO_TASK;
             need = graph->needs[need].next) {
            run->needed_by[run->needed_first[graph->needs[need].task + 1]++] = i;
            for (uint32_t place = 0; place < run->places; place++) {
                run->missing[(size_t)i * run->places + place]++;
            }
        }
    }
}

/* Do works go over the same lanes? Then their messages follow each other there. */
static bool is_alike(const struct graph_run *run, uint32_t one, uint32_t other)
{
    const struct ar_work *works = run->graph->works;
    const struct ar_graph_sending *sendings = run->trial->sendings;
    return works[one].operation == works[other].operation && works[one].axes == works[other].axes &&
           sendings[one].collective.element_bytes == sendings[other].collective.element_bytes;
}

static void add_simulation(struct graph_run *run, uint32_t work, enum ar_stream stream)
{
    struct simulation **own = &run->simulations[(size_t)work * AR_STREAMS_COUNT + stream];
    for (uint32_t i = 0; *own == NULL && i < run->graph->works_count; i++) {
        if (graph_simulation(run, i, stream) != NULL && is_alike(run, i, work)) {
            *own = graph_simulation(run, i, stream);
        }
    }
    if (*own == NULL) {
        *own = child_alloc(1, sizeof **own, "its collectives");
        **own = (struct simulation){.collective = &run->trial->sendings[work].collective,
                                    .number = run->simulations_count++};
        simulation_create(*own);
    }
}

static void create_simulations(struct graph_run *run)
{
    const struct ar_graph *graph = run->graph;
    run->channels_max = 1;
    run->simulations = child_alloc((size_t)graph->works_count * AR_STREAMS_COUNT,
                                   sizeof(struct simulation *), "its collectives");
    for (uint32_t i = 0; i < graph->tasks_count; i++) {
        const struct ar_work *work = &graph->works[graph->tasks[i].work];
        const struct ar_graph_sending *sending = &run->trial->sendings[graph->tasks[i].work];
        if (work->kind == AR_TASK_COMPUTE) {
            continue;
        }
        if (sending->collective.channels > run->channels_max) {
            run->channels_max = sending->collective.channels;
        }
        if (work->kind == AR_TASK_COLLECTIVE) {
            add_simulation(run, graph->tasks[i].work, graph->tasks[i].stream);
        }
    }
}

static void create_streams(struct graph_run *run)
{
    uint32_t rows = run->graph->roles_count * AR_STREAMS_COUNT;
    run->streams =
        child_alloc((size_t)rows * run->places * run->channels_max, sizeof *run->streams, tables);
    for (uint32_t row = 0; row < rows; row++) {
        for (uint32_t place = 0; place < run->places; place++) {
            sg_bar_t *together =
                child_alloc(run->channels_max + 1, sizeof *together, "its channels");
            sg_sem_t wake = sg_sem_init(0);
            for (uint32_t channel = 0; channel < run->channels_max; channel++) {
                uint32_t role = row / AR_STREAMS_COUNT;
                enum ar_stream stream = (enum ar_stream)(row % AR_STREAMS_COUNT);
                *graph_stream(run, role, stream, place, channel) =
                    (struct stream){.run = run,
                                    .role = role,
                                    .place = place,
                                    .channel = channel,
                                    .stream = stream,
                                    .waits_for = AR_NO_TASK,
                                    .wake = wake,
                                    .together = together};
            }
        }
    }
}

void graph_create(struct graph_run *run, const struct ar_graph_trial *trial)
{
    const struct ar_graph *graph = trial->graph;
    *run = (struct graph_run){
        .trial = trial, .graph = graph, .places = trial->ranks / graph->roles_count};
    size_t times = (size_t)graph->tasks_count * run->places;
    run->begin_s = child_alloc(times, sizeof *run->begin_s, tables);
    run->end_s = child_alloc(times, sizeof *run->end_s, tables);
    for (uint32_t i = 0; i < graph->works_count && run->there_s == NULL; i++) {
        if (graph->works[i].latency_s > 0) {
            run->there_s = child_alloc(times, sizeof *run->there_s, tables);
        }
    }
    list_needs(run);
    create_simulations(run);
    create_streams(run);
}
