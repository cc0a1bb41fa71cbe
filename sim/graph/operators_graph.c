/* From placed operators to a task graph: a role for each device, messages where a need crosses. */
#include <stdlib.h>
#include <string.h>

#include "ar_heap.h"
#include "ar_numbers.h"
#include "ar_operators.h"

/* A message: one operator's output on its way to one other device. */
struct message {
    uint32_t producer, to;
    uint32_t turn;  /* of the producer */
    uint32_t first; /* position of one that needs it, in the order of the operators */
    uint32_t task;
    uint32_t next;  /* of the same producer; AR_NO_TASK: none */
    double ready_s; /* if no port were ever taken */
};

struct placed {
    const struct ar_operators *operators;
    const uint32_t *devices;
    const struct ar_hops *hops;
    struct ar_graph *graph;
    /* For each operator: */
    uint32_t *tasks;
    uint32_t *messages;  /* the first one in `list` */
    uint32_t *positions; /* in their order */
    uint32_t *turns;     /* in which they begin */
    uint32_t *missing;   /* needs that are not done */
    uint32_t *needed_by; /* [number + 1]: where the list of those that need it begins in `who` */
    uint32_t *who;
    double *ends_s;      /* if no port were ever taken */
    struct ar_heap heap; /* operators all of whose needs are there, by their positions */
    /* For each device: */
    double *free_s;
    uint32_t *last_in; /* the message that it received last */
    struct message *list;
    uint32_t list_count;
};

static struct message *find_message(const struct placed *placed, uint32_t producer, uint32_t to)
{
    uint32_t i = placed->messages[producer];
    while (i != AR_NO_TASK && placed->list[i].to != to) {
        i = placed->list[i].next;
    }
    return i != AR_NO_TASK ? &placed->list[i] : NULL;
}

static struct ar_hop_time hop_of(const struct placed *placed, uint32_t producer, uint32_t to)
{
    return placed->hops->find(placed->hops->context, placed->devices[producer], to,
                              placed->operators->list[producer].output_bytes);
}

/* When an output is on a device if no port were ever taken; notes the message if it takes one. */
static double find_arrival(struct placed *placed, uint32_t producer, uint32_t to, uint32_t position)
{
    double ready_s = placed->ends_s[producer];
    if (placed->devices[producer] == to) {
        return ready_s;
    }
    if (find_message(placed, producer, to) == NULL) {
        placed->list[placed->list_count] = (struct message){.producer = producer,
                                                            .to = to,
                                                            .turn = placed->turns[producer],
                                                            .first = position,
                                                            .next = placed->messages[producer],
                                                            .ready_s = ready_s};
        placed->messages[producer] = placed->list_count++;
    }
    struct ar_hop_time hop = hop_of(placed, producer, to);
    return ready_s + hop.time_s + hop.latency_s;
}

/* --- turns: who is ready first begins first --------------------------------------------------- */

static void push_operator(struct placed *placed, uint32_t number)
{
    const struct ar_operator *op = &placed->operators->list[number];
    struct ar_due ready = {.order = placed->positions[number], .number = number};
    for (uint32_t j = 0; j < op->needs_count; j++) {
        double there_s = find_arrival(placed, placed->operators->needs[op->needs_first + j],
                                      placed->devices[number], placed->positions[number]);
        ready.time_s = there_s > ready.time_s ? there_s : ready.time_s;
    }
    ar_heap_push(&placed->heap, ready);
}

static void add_operators(struct placed *placed)
{
    const struct ar_operators *operators = placed->operators;
    /* Who needs whom, as lists; needs that are missing. */
    for (uint32_t i = 0; i < operators->needs_count; i++) {
        placed->needed_by[operators->needs[i]]++;
    }
    for (uint32_t i = 0; i < operators->count; i++) {
        placed->needed_by[i + 1] += placed->needed_by[i];
        placed->positions[operators->order[i]] = i;
        placed->missing[i] = operators->list[i].needs_count;
    }
    for (uint32_t i = operators->count; i-- > 0;) {
        const struct ar_operator *op = &operators->list[i];
        AR_EACH(const uint32_t, other, operators->needs + op->needs_first, op->needs_count) {
            placed->who[--placed->needed_by[*other]] = i;
        }
    }
    for (uint32_t i = 0; i < operators->count; i++) {
        if (placed->missing[i] == 0) {
            push_operator(placed, i);
        }
    }
    for (uint32_t turn = 0; placed->heap.count > 0; turn++) {
        struct ar_due ready = ar_heap_pop(&placed->heap);
        const struct ar_operator *op = &placed->operators->list[ready.number];
        uint32_t device = placed->devices[ready.number];
        bool is_sent = op->operation != NULL;
        bool waits = !is_sent && placed->free_s[device] > ready.time_s;
        double end_s = (waits ? placed->free_s[device] : ready.time_s) + op->time_s;
        placed->ends_s[ready.number] = end_s;
        placed->free_s[device] = is_sent ? placed->free_s[device] : end_s;
        placed->turns[ready.number] = turn;
        const struct ar_work work = {.kind = is_sent ? AR_TASK_COLLECTIVE : AR_TASK_COMPUTE,
                                     .time_s = is_sent ? AR_GRAPH_UNTIMED : op->time_s,
                                     .operation = op->operation,
                                     .axes = op->axes,
                                     .bytes = is_sent ? op->output_bytes : 0};
        const struct ar_task task = {.work = ar_graph_work(placed->graph, &work),
                                     .count = 1,
                                     .role = device,
                                     .to = device,
                                     .stream = is_sent ? op->stream : AR_STREAM_COMPUTE,
                                     .duty = op->duty,
                                     .name = op->name};
        placed->tasks[ready.number] = ar_graph_add(placed->graph, &task);
        for (uint32_t i = placed->needed_by[ready.number]; i < placed->needed_by[ready.number + 1];
             i++) {
            if (--placed->missing[placed->who[i]] == 0) {
                push_operator(placed, placed->who[i]);
            }
        }
    }
}

/* --- messages --------------------------------------------------------------------------------- */

AR_ORDER(compare_messages, struct message, AR_RISES(ready_s), AR_RISES(turn), AR_RISES(first))

/* Messages in the order in which they are ready: each waits for both ports. That order goes along
 * with all that waits, so that there is no circle. */
static void add_messages(struct placed *placed)
{
    for (uint32_t i = 0; i < placed->list_count; i++) {
        struct message *message = &placed->list[i];
        uint32_t from = placed->devices[message->producer];
        struct ar_hop_time hop = hop_of(placed, message->producer, message->to);
        const struct ar_work work = {.kind = AR_TASK_MESSAGE,
                                     .time_s = hop.time_s,
                                     .latency_s = hop.latency_s,
                                     .operation = &ar_operation_send,
                                     .axes = 1 << AR_AXIS_PP,
                                     .bytes =
                                         placed->operators->list[message->producer].output_bytes};
        message->task = ar_graph_add(
            placed->graph,
            &(struct ar_task){.work = ar_graph_work(placed->graph, &work),
                              .count = 1,
                              .role = from,
                              .to = message->to,
                              .stream = AR_STREAM_GRADIENTS,
                              .name = placed->operators->list[message->producer].name});
        ar_graph_need(placed->graph, message->task, placed->tasks[message->producer]);
        ar_graph_need(placed->graph, message->task, placed->last_in[message->to]);
        placed->last_in[message->to] = message->task;
        message->next = placed->messages[message->producer];
        placed->messages[message->producer] = i;
    }
}

struct ar_graph *ar_operators_graph(const struct ar_operators *operators, const uint32_t *devices,
                                    uint32_t devices_count, const struct ar_hops *hops,
                                    struct ar_arena *arena)
{
    struct ar_arena scratch AR_ENDS_HERE = {NULL};
    size_t count = (size_t)operators->count + 1, needs = (size_t)operators->needs_count + 1;
    struct placed placed = {
        .operators = operators,
        .devices = devices,
        .hops = hops,
        .graph = ar_graph_create(arena, devices_count),
        .tasks = ar_arena_alloc(&scratch, count, sizeof *placed.tasks),
        .messages = ar_arena_alloc(&scratch, count, sizeof *placed.messages),
        .positions = ar_arena_alloc(&scratch, count, sizeof *placed.positions),
        .turns = ar_arena_alloc(&scratch, count, sizeof *placed.turns),
        .missing = ar_arena_alloc(&scratch, count, sizeof *placed.missing),
        .needed_by = ar_arena_alloc(&scratch, count, sizeof *placed.needed_by),
        .who = ar_arena_alloc(&scratch, needs, sizeof *placed.who),
        .ends_s = ar_arena_alloc(&scratch, count, sizeof *placed.ends_s),
        .heap.list = ar_arena_alloc(&scratch, count, sizeof *placed.heap.list),
        .free_s = ar_arena_alloc(&scratch, devices_count, sizeof *placed.free_s),
        .last_in = ar_arena_alloc(&scratch, devices_count, sizeof *placed.last_in),
        .list = ar_arena_alloc(&scratch, needs, sizeof *placed.list)};
    memset(placed.messages, 0xff, count * sizeof *placed.messages); /* AR_NO_TASK */
    memset(placed.last_in, 0xff, devices_count * sizeof *placed.last_in);
    add_operators(&placed);
    qsort(placed.list, placed.list_count, sizeof *placed.list, compare_messages);
    memset(placed.messages, 0xff, count * sizeof *placed.messages);
    add_messages(&placed);
    for (uint32_t number = 0; number < operators->count; number++) {
        const struct ar_operator *op = &operators->list[number];
        AR_EACH(const uint32_t, other, operators->needs + op->needs_first, op->needs_count) {
            const struct message *message = find_message(&placed, *other, devices[number]);
            ar_graph_need(placed.graph, placed.tasks[number],
                          message != NULL ? message->task : placed.tasks[*other]);
        }
    }
    return placed.graph;
}
