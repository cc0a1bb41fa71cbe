/* Schedules of GOAL, read back: every send has its receive, nothing waits for itself, and by the
 * clocks of LogGOPSim they take what `recurrence` says. */
#include <math.h>
#include <stdlib.h>

#include "exports.h"
#include "test_cli.h"
#include "test_outcome.h"

TestSuite(goal, .init = cli_enter, .fini = cli_leave);

enum { OPS_MAX = 100000, NEEDS_MAX = 300000, RANKS_MAX = 64 };

struct op {
    enum { CALC, SEND, RECV } kind;
    unsigned rank, peer, tag, cpu;
    double size;      /* bytes, or nanoseconds */
    unsigned missing; /* needs that are not done */
    unsigned needed;  /* first of those that need it, 0: none */
    unsigned match;   /* of a send: its receive */
    double ready_s;
    bool is_matched, is_posted, has_arrived;
};

struct schedule {
    unsigned ranks, ops_count, needs_count;
    unsigned first[RANKS_MAX + 1]; /* op of label 1 of a rank */
    struct op ops[OPS_MAX];
    struct {
        unsigned op, next; /* next: of those that need the same one, 0: none */
    } needs[NEEDS_MAX];
};

static void add_op(struct schedule *schedule, const char *line)
{
    struct op *op = &schedule->ops[schedule->ops_count++];
    unsigned label;
    char kind[8], rest[64];
    cr_assert(schedule->ops_count < OPS_MAX);
    cr_assert_eq(sscanf(line, "l%u: %7s %63[^\n]", &label, kind, rest), 3, "%s", line);
    op->rank = schedule->ranks - 1;
    cr_assert_eq(label, schedule->ops_count - schedule->first[op->rank], "%s", line);
    op->kind = strcmp(kind, "calc") == 0 ? CALC : strcmp(kind, "send") == 0 ? SEND : RECV;
    if (op->kind == CALC) {
        cr_assert_eq(sscanf(rest, "%lf cpu %u", &op->size, &op->cpu), 2, "%s", line);
        return;
    }
    const char *form = op->kind == SEND ? "%lfb to %u tag %u cpu %u" : "%lfb from %u tag %u cpu %u";
    cr_assert_eq(sscanf(rest, form, &op->size, &op->peer, &op->tag, &op->cpu), 4, "%s", line);
    cr_assert(op->size >= 1, "%s", line);
}

static void add_need(struct schedule *schedule, const char *line)
{
    unsigned label, other, first = schedule->first[schedule->ranks - 1];
    cr_assert_eq(sscanf(line, "l%u requires l%u", &label, &other), 2, "%s", line);
    cr_assert(label >= 1 && other >= 1 && first + label <= schedule->ops_count &&
                  first + other <= schedule->ops_count,
              "%s names a label that does not stand before it", line);
    cr_assert(schedule->needs_count + 1 < NEEDS_MAX);
    struct op *needed = &schedule->ops[first + other - 1];
    unsigned last = needed->needed;
    cr_expect(last == 0 || schedule->needs[last].op != first + label - 1, "twice: %s", line);
    schedule->needs[++schedule->needs_count].op = first + label - 1;
    schedule->needs[schedule->needs_count].next = needed->needed;
    needed->needed = schedule->needs_count;
    schedule->ops[first + label - 1].missing++;
}

/* The k-th send from a rank to another with a tag and the k-th receive are one message. */
static void match_messages(struct schedule *schedule)
{
    AR_EACH(struct op, send, schedule->ops, schedule->ops_count) {
        if (send->kind != SEND) {
            continue;
        }
        cr_assert(send->peer < schedule->ranks && send->peer != send->rank);
        unsigned k = schedule->first[send->peer];
        for (; k < schedule->first[send->peer + 1]; k++) {
            struct op *recv = &schedule->ops[k];
            if (recv->kind == RECV && !recv->is_matched && recv->peer == send->rank &&
                recv->tag == send->tag) {
                recv->is_matched = true;
                break;
            }
        }
        cr_assert(k < schedule->first[send->peer + 1], "a send without its receive");
        cr_assert_eq(schedule->ops[k].size, send->size, "they differ in size");
        send->match = k;
    }
    for (unsigned i = 0; i < schedule->ops_count; i++) {
        cr_assert(schedule->ops[i].kind != RECV || schedule->ops[i].is_matched,
                  "a receive without its send");
    }
}

static struct schedule *read_goal(const char *text)
{
    struct schedule *schedule = calloc(1, sizeof *schedule);
    unsigned expected = 0;
    cr_assert_not_null(schedule);
    for (const char *line = text; *line != '\0'; line = strchr(line, '\n') + 1) {
        if (strncmp(line, "num_ranks ", 10) == 0) {
            cr_assert_eq(sscanf(line, "num_ranks %u", &expected), 1);
        } else if (strncmp(line, "rank ", 5) == 0) {
            schedule->first[schedule->ranks++] = schedule->ops_count;
            cr_assert(schedule->ranks < RANKS_MAX);
        } else if (line[0] == 'l') {
            (strncmp(line + strcspn(line, " \n"), " requires", 9) == 0 ? add_need
                                                                       : add_op)(schedule, line);
        } else {
            cr_assert(line[0] == '}' || strncmp(line, "// ", 3) == 0, "%.80s", line);
        }
    }
    cr_assert_eq(schedule->ranks, expected);
    schedule->first[schedule->ranks] = schedule->ops_count;
    match_messages(schedule);
    return schedule;
}

struct clocks {
    double cpu_s[RANKS_MAX][256], out_s[RANKS_MAX], in_s[RANKS_MAX];
};

static double start_s(const struct clocks *clocks, const struct op *op)
{
    double cpu_s = op->kind == RECV ? 0 : clocks->cpu_s[op->rank][op->cpu];
    return fmax(op->ready_s, fmax(cpu_s, op->kind == SEND ? clocks->out_s[op->rank] : 0));
}

/* LogGP as LogGOPSim counts it, without its `cpu`s: a byte less, a port each way. Always goes on
 * with what can begin first. */
static double run_goal(struct schedule *schedule, double latency_s, double byte_s)
{
    struct clocks clocks = {.in_s = {0}};
    double end_s = 0;
    for (unsigned left = schedule->ops_count; left > 0; left--) {
        struct op *next = NULL;
        AR_EACH(struct op, op, schedule->ops, schedule->ops_count) {
            bool can = !op->is_posted && op->missing == 0 && (op->kind != RECV || op->has_arrived);
            bool is_first = can && (next == NULL || start_s(&clocks, op) < start_s(&clocks, next));
            next = is_first ? op : next;
        }
        cr_assert_not_null(next, "%u operations wait for each other", left);
        next->is_posted = true;
        double done_s = start_s(&clocks, next);
        if (next->kind == CALC) {
            clocks.cpu_s[next->rank][next->cpu] = done_s += next->size * 1e-9;
        } else if (next->kind == SEND) {
            double bytes_s = (next->size - 1) * byte_s;
            struct op *recv = &schedule->ops[next->match];
            double begin_s = fmax(done_s + latency_s, clocks.in_s[next->peer]);
            clocks.out_s[next->rank] = done_s + bytes_s;
            clocks.in_s[next->peer] = begin_s + bytes_s;
            recv->has_arrived = true;
            recv->ready_s = fmax(recv->ready_s, begin_s + bytes_s);
        }
        for (unsigned i = next->needed; i > 0; i = schedule->needs[i].next) {
            struct op *op = &schedule->ops[schedule->needs[i].op];
            op->missing--;
            op->ready_s = fmax(op->ready_s, done_s);
        }
        end_s = fmax(end_s, done_s);
    }
    return end_s;
}

/* A rank that takes no part in some channels names their beginning once. */
Test(goal, schedules_say_their_command_and_each_need_once)
{
    const char *text = cli_good("$AR export --format goal --cluster flat --operation send --gpus 3 "
                                "--channels 2 --payload 1MiB")
                           .out;
    CLI_HAS(text, "// allreckon export, command ");
    free(read_goal(text));
}

/* LogGOPSim counts a byte less of each message. Two trees share a port, each message in its turn
 * where `recurrence` shares it in halves; a rank that is folded away waits until its message has
 * arrived, here it has left. Of steps there are the computations, and each bucket as soon as its
 * gradients are there; stages with their messages. A sender goes on when its message has left,
 * where `recurrence` lets it wait for the arrival; what is sent on two streams shares a port. */
Test(goal, collectives_and_steps_take_what_recurrence_says)
{
#define GPT                                                                                        \
    "--workload gpt --layers 4 --hidden 256 --heads 4 --seq 128 --vocab 1000 --attention unfused "
    static const struct {
        const char *verb, *options;
        double near;
    } cases[] = {
        {"allreduce", "--algorithm ring --gpus 5", 2e-5},
        {"allreduce", "--algorithm torus2d --shape 4x4 --gpus 16", 2e-5},
        {"allreduce", "--algorithm blueconnect --shape 4x2x2 --gpus 16", 2e-5},
        {"allreduce", "--algorithm hierarchical --shape 4x4 --gpus 16", 2e-5},
        {"allreduce", "--algorithm tree --shape 4x4 --gpus 16", 0.05},
        {"allreduce", "--algorithm recursive-doubling --gpus 11", 0.02},
        {"allreduce", "--algorithm halving-doubling --gpus 16", 2e-5},
        {"allreduce", "--algorithm swing --gpus 8", 2e-5},
        {"allreduce", "--algorithm direct --gpus 8", 2e-5},
        {"allgather", "--algorithm bruck --gpus 7", 2e-5},
        {"allgather", "--algorithm neighbour --gpus 8", 2e-5},
        {"reducescatter", "--algorithm recursive-halving --gpus 8", 2e-5},
        {"broadcast", "--algorithm chain --gpus 6", 2e-5},
        {"broadcast", "--algorithm binomial --gpus 8", 2e-5},
        {"broadcast", "--algorithm scatter-allgather --gpus 8", 2e-5},
        {"reduce", "--algorithm tree --gpus 8", 2e-5},
        {"gather", "--algorithm linear --gpus 8", 2e-5},
        {"scatter", "--algorithm binomial --gpus 8", 2e-5},
        {"alltoall", "--algorithm pairwise --gpus 6", 2e-5},
        {"alltoall", "--algorithm linear --gpus 6", 2e-5},
        {"alltoall", "--algorithm bruck --gpus 8", 2e-5},
        {"send", "--gpus 3", 2e-5},
        {"predict", "--gpus 4 --algorithm ring --trace resnet50-v1.5", 1e-4},
        {"predict", "--gpus 4 --algorithm ring --trace resnet50-v1.5 --straggler 2:1.3", 1e-3},
        {"predict", GPT "--mesh pp=2,dp=2 --global-batch 8 --jitter 0", 3e-3},
        {"predict", GPT "--mesh pp=2,tp=2 --global-batch 4 --schedule gpipe --jitter 0", 3e-3},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char options[300];
        bool is_step = strcmp(cases[i].verb, "predict") == 0;
        snprintf(options, sizeof options, "--cluster flat --channels 1%s %s",
                 is_step ? "" : " --payload 1MiB", cases[i].options);
        double expected_s =
            cli_value(is_step ? "iteration_s" : "allreduce_s", "%s %s", cases[i].verb, options);
        struct schedule *schedule =
            read_goal(cli_good("$AR export --format goal %s %s %s", is_step ? "" : "--operation",
                               is_step ? "" : cases[i].verb, options)
                          .out);
        double time_s = run_goal(schedule, 10e-6, 1e-10); /* of flat */
        free(schedule);
        cr_expect(fabs(time_s / expected_s - 1) <= cases[i].near, "%s %s: %g us, expected %g us",
                  cases[i].verb, cases[i].options, time_s * 1e6, expected_s * 1e6);
    }
}

/* Computations have lines, too, and products of counts do not wrap. */
Test(goal, schedules_beyond_a_size_are_refused)
{
    struct ar_arena arena AR_ENDS_HERE = {NULL};
    struct ar_graph *graph = ar_graph_create(&arena, 1);
    const struct ar_work work = {.kind = AR_TASK_COMPUTE, .time_s = 1e-3};
    const struct ar_task task = {.work = ar_graph_work(graph, &work), .count = 1000};
    const struct ar_graph_sending sending = {.collective = {.channels = 32}};
    ar_graph_add(graph, &task);
    struct ar_graph_trial trial = {.graph = graph, .ranks = 10001, .sendings = &sending};
    TEST_FAILS(AR_USAGE, "found at least 10001000 messages",
               goal_write(stdout, &trial, "a test", &why));
    graph->works[0].kind = AR_TASK_MESSAGE;
    graph->tasks[0].count = trial.ranks = UINT32_MAX;
    cr_expect_eq(ar_graph_trial_messages(&trial, 1), UINT64_MAX);
    TEST_FAILS(AR_USAGE, "messages", goal_write(stdout, &trial, "a test", &why));
}
