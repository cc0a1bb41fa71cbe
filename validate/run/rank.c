#include "rank.h"

#include <stdlib.h>

#include "ar_clock.h"

/* What a rank keeps over the repetitions. */
struct work {
    struct execution execution;
    const struct payload *payload;
    unsigned char *pattern; /* what it puts in */
    unsigned char *seen;    /* what the host can read; the buffer itself if it is in host memory */
};

/* To be destroyed after a failure too. */
static enum ar_status work_create(const struct execution *execution, const struct payload *payload,
                                  struct work *work, struct ar_error *err)
{
    const struct memory *memory = execution->config->memory;
    size_t bytes = measurement_bytes(execution->measurement);
    *work = (struct work){.execution = *execution, .payload = payload};
    AR_TRY(payload_pattern(payload, execution->transport->rank, &work->pattern, err));
    AR_TRY(memory->allocate(bytes, &work->execution.buffer, err));
    if (!memory->is_host) {
        return memory_host.allocate(bytes, &work->seen, err);
    }
    work->seen = work->execution.buffer;
    return AR_OK;
}

static void work_destroy(struct work *work)
{
    const struct memory *memory = work->execution.config->memory;
    if (work->execution.buffer != NULL) {
        memory->release(work->execution.buffer);
    }
    if (!memory->is_host && work->seen != NULL) {
        memory_host.release(work->seen);
    }
    free(work->pattern);
}

static enum ar_status fill(struct work *work, struct ar_error *err)
{
    const struct memory *memory = work->execution.config->memory;
    payload_fill(work->payload, work->pattern, work->seen);
    return memory->is_host ? AR_OK
                           : memory->write(work->execution.buffer, work->seen,
                                           measurement_bytes(work->execution.measurement), err);
}

static enum ar_status check(struct work *work, struct mismatch *mismatch, struct ar_error *err)
{
    const struct memory *memory = work->execution.config->memory;
    if (!memory->is_host) {
        AR_TRY(memory->read(work->seen, work->execution.buffer,
                            measurement_bytes(work->execution.measurement), err));
    }
    payload_check(work->payload, work->execution.transport->rank, work->seen, mismatch);
    return AR_OK;
}

static enum ar_status repeat(struct work *work, double *time_s, struct mismatch *mismatch,
                             struct ar_error *err)
{
    struct transport *transport = work->execution.transport;
    AR_TRY(fill(work, err));
    AR_TRY(transport->calls->barrier(transport,
                                     barrier_timeout_s(work->execution.config->timeout_s), err));
    double begin_s = ar_clock_s();
    AR_TRY(execution_run(&work->execution, err));
    *time_s = ar_clock_s() - begin_s;
    return check(work, mismatch, err);
}

enum ar_status rank_run(const struct measurement *measurement, const struct run_config *config,
                        const struct payload *payload, const struct ports *ports,
                        struct transport *transport, struct rank_result *result,
                        struct ar_error *err)
{
    struct execution execution = {
        .measurement = measurement, .config = config, .ports = ports, .transport = transport};
    struct work work;
    uint32_t warmup = measurement->is_check ? 0 : config->warmup;
    enum ar_status status = work_create(&execution, payload, &work, err);
    for (uint32_t i = 0; status == AR_OK && i < warmup + measurement->repetitions; i++) {
        double time_s = 0;
        status = repeat(&work, &time_s, &result->mismatch, err);
        if (i >= warmup) {
            result->times_s[i - warmup] = time_s;
        }
    }
    work_destroy(&work);
    return status;
}
