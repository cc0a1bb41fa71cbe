/* Which events are kept, and what of them. */
#include "event.h"

#include <string.h>

/* Hours of a profile, far above any. */
#define US_MAX 1e12L

static const char node_prefix[] = "autograd::engine::evaluate_function: ";
static const char accumulate[] = "torch::autograd::AccumulateGrad";

static bool begins_with(const char *text, const char *prefix)
{
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

/* Operators that read a batch, and with which input. */
static const struct {
    const char *name;
    unsigned input;
} batch_readers[] = {{"aten::conv1d", 0},
                     {"aten::conv2d", 0},
                     {"aten::conv3d", 0},
                     {"aten::embedding", 1},
                     {"aten::linear", 0}};

static uint64_t batch_of(const struct kineto_event *event)
{
    for (size_t i = 0; i < sizeof batch_readers / sizeof batch_readers[0]; i++) {
        const struct kineto_dims *dims = &event->dims[batch_readers[i].input];
        if (strcmp(event->name, batch_readers[i].name) == 0 && dims->count >= 2) {
            return dims->first;
        }
    }
    return 0;
}

static enum ar_status keep_op(struct ar_kineto *kineto, const struct kineto_op *op,
                              const char *name, struct ar_error *err)
{
    struct kineto_op *list = kineto_grow(kineto, kineto->ops, kineto->ops_count, sizeof *list);
    const char *interned = name != NULL ? kineto_intern(kineto, name) : NULL;
    if (list == NULL || (name != NULL && interned == NULL)) {
        kineto->ops = list != NULL ? list : kineto->ops;
        return ar_error_no_memory(err, "the events of a trace");
    }
    kineto->ops = list;
    list[kineto->ops_count] = *op;
    list[kineto->ops_count++].name = interned;
    return AR_OK;
}

static uint64_t at_least_0(int64_t number)
{
    return number > 0 ? (uint64_t)number : 0;
}

static enum ar_status keep_comm(struct ar_kineto *kineto, const struct kineto_event *event,
                                struct ar_error *err)
{
    struct kineto_comm *list =
        kineto_grow(kineto, kineto->comms, kineto->comms_count, sizeof *list);
    AR_NEED(list, err, "the events of a trace");
    kineto->comms = list;
    struct kineto_comm *comm = &list[kineto->comms_count++];
    *comm = (struct kineto_comm){.name = kineto_intern(kineto, event->collective),
                                 .dtype = kineto_intern(kineto, event->dtype),
                                 .ranks = kineto_intern(kineto, event->ranks),
                                 .in_elements = at_least_0(event->in_elements),
                                 .out_elements = at_least_0(event->out_elements),
                                 .group_size = at_least_0(event->group_size)};
    if (event->in_elements < 0 && event->out_elements < 0) {
        comm->in_elements = event->dims[0].elements;
    }
    return comm->name != NULL && comm->dtype != NULL && comm->ranks != NULL
               ? AR_OK
               : ar_error_no_memory(err, "the events of a trace");
}

/* Whether an op marks a step, or the end of one. */
static bool is_mark(const char *name, struct kineto_op *op)
{
    static const char step[] = "ProfilerStep#";
    if (begins_with(name, step)) {
        op->kind = KINETO_STEP;
        op->number = 0;
        for (name += sizeof step - 1; *name >= '0' && *name <= '9' && op->number < INT32_MAX;
             name++) {
            op->number = 10 * op->number + (*name - '0');
        }
        return true;
    }
    op->kind = KINETO_OPTIMIZER;
    return begins_with(name, "Optimizer.step#");
}

static enum ar_status keep_cpu_op(struct ar_kineto *kineto, const struct kineto_event *event,
                                  struct kineto_op *op, struct ar_error *err)
{
    const char *name = event->name;
    if (begins_with(name, node_prefix)) {
        name += sizeof node_prefix - 1;
        op->kind = strcmp(name, accumulate) == 0 ? KINETO_ACCUMULATE : KINETO_NODE;
        return keep_op(kineto, op, name, err);
    }
    if (strcmp(name, accumulate) == 0) {
        op->kind = KINETO_SHAPE;
        op->elements = event->dims[0].elements;
        return keep_op(kineto, op, event->input_type, err);
    }
    if (strcmp(name, "record_param_comms") == 0) {
        op->kind = KINETO_COLLECTIVE;
        op->comm = (uint32_t)kineto->comms_count;
        AR_TRY(keep_comm(kineto, event, err));
        return keep_op(kineto, op, NULL, err);
    }
    if (is_mark(name, op)) {
        return keep_op(kineto, op, NULL, err);
    }
    op->kind = KINETO_FORWARD;
    op->batch = batch_of(event);
    return event->sequence >= 0 ? keep_op(kineto, op, NULL, err) : AR_OK;
}

static enum ar_status keep_launch(struct ar_kineto *kineto, const struct kineto_event *event,
                                  struct kineto_op *op, struct ar_error *err)
{
    if (event->correlation < 0) {
        return AR_OK;
    }
    struct kineto_launch *list =
        kineto_grow(kineto, kineto->launches, kineto->launches_count, sizeof *list);
    AR_NEED(list, err, "the events of a trace");
    kineto->launches = list;
    list[kineto->launches_count++] = (struct kineto_launch){
        .at_s = op->start_s, .thread = op->thread, .correlation = event->correlation};
    return AR_OK;
}

static enum ar_status keep_kernel(struct ar_kineto *kineto, const struct kineto_event *event,
                                  struct kineto_op *op, struct ar_error *err)
{
    struct kineto_kernel *list =
        kineto_grow(kineto, kineto->kernels, kineto->kernels_count, sizeof *list);
    AR_NEED(list, err, "the events of a trace");
    kineto->kernels = list;
    list[kineto->kernels_count++] =
        (struct kineto_kernel){.start_s = op->start_s,
                               .end_s = op->end_s,
                               .correlation = event->correlation,
                               .device = event->device >= 0 ? event->device : event->pid,
                               .is_collective = begins_with(event->name, "nccl")};
    return AR_OK;
}

/* The categories that are kept; those with a capital are of older profilers. */
static const struct {
    const char *name;
    enum ar_status (*keep)(struct ar_kineto *kineto, const struct kineto_event *event,
                           struct kineto_op *op, struct ar_error *err);
} categories[] = {
    {"cpu_op", keep_cpu_op},     {"cuda_runtime", keep_launch},    {"kernel", keep_kernel},
    {"gpu_memcpy", keep_kernel}, {"gpu_memset", keep_kernel},      {"cuda_driver", keep_launch},
    {"Operator", keep_cpu_op},   {"user_annotation", keep_cpu_op}, {"Runtime", keep_launch},
    {"Kernel", keep_kernel},     {"Memcpy", keep_kernel},          {"Memset", keep_kernel}};

/* When an event was, by the first one. */
static enum ar_status take_times(const struct kineto_event *event, long double *origin_us,
                                 struct kineto_op *op, struct ar_error *err)
{
    if (*origin_us < 0) {
        *origin_us = event->start_us;
    }
    long double start_us = event->start_us - *origin_us;
    if (!(event->start_us >= 0) || !(event->duration_us >= 0) || !(start_us < US_MAX) ||
        !(start_us > -US_MAX) || !(event->duration_us < US_MAX)) {
        return ar_error_set(err, AR_BAD_DATA,
                            "event \"%.60s\" begins at %.17Lg and takes %.17Lg; expected "
                            "microseconds, at most 1e12 of the whole trace",
                            event->name, event->start_us, event->duration_us);
    }
    op->start_s = (double)(start_us / 1e6L);
    op->end_s = (double)((start_us + event->duration_us) / 1e6L);
    return AR_OK;
}

enum ar_status kineto_event_keep(struct ar_kineto *kineto, const struct kineto_event *event,
                                 long double *origin_us, struct ar_error *err)
{
    struct kineto_op op = {
        .thread = (int64_t)((uint64_t)event->pid << 32 ^ (uint64_t)event->tid),
        .number = event->sequence,
        .forward_thread = event->forward_thread,
        .parent = KINETO_NONE,
        .comm = KINETO_NONE,
    };
    if (strcmp(event->phase, "X") != 0) {
        return AR_OK;
    }
    for (size_t i = 0; i < sizeof categories / sizeof categories[0]; i++) {
        if (strcmp(event->category, categories[i].name) == 0) {
            AR_TRY(take_times(event, origin_us, &op, err));
            return categories[i].keep(kineto, event, &op, err);
        }
    }
    return AR_OK;
}
