/* Ranks on the GPUs of this process; more ranks than GPUs share them. */
#include <stdlib.h>

#include "backend.h"
#include "cuda_device.h"
#include "cuda_probes.h"
#include "cuda_schedule.h"
#include "memory_device.h"

enum { RANKS_MAX = 256, RANKS_STANDARD = 4 };

static uint32_t gpus;

static enum ar_status start(const struct run_config *config, struct machine *machine,
                            struct ar_error *err)
{
    (void)config;
    *machine = (struct machine){
        .is_first = true, .ranks_max = RANKS_MAX, .ranks_standard = RANKS_STANDARD};
    AR_TRY(cuda_count(&gpus, err));
    return cuda_enable_peers(gpus, err);
}

static void stop(int code)
{
    (void)code;
}

static void describe(FILE *file)
{
    cuda_describe(file, gpus);
    fprintf(file, "# ranks: one per GPU; of more than %u, several VIRTUAL RANKS share a GPU\n",
            gpus);
}

static const char *tier(uint32_t ranks, uint32_t from, uint32_t to)
{
    return cuda_tier(cuda_device_of(gpus, ranks, from), cuda_device_of(gpus, ranks, to));
}

static enum ar_status fill(struct cuda_schedule *schedule, const struct payload *payload,
                           unsigned char *capacity, struct ar_error *err)
{
    for (uint32_t rank = 0; rank < payload->ranks; rank++) {
        unsigned char *pattern;
        AR_TRY(payload_pattern(payload, rank, &pattern, err));
        payload_fill(payload, pattern, capacity);
        free(pattern);
        AR_TRY(cuda_schedule_write(schedule, rank, capacity, err));
    }
    return AR_OK;
}

static enum ar_status check(struct cuda_schedule *schedule, const struct payload *payload,
                            unsigned char *capacity, struct mismatch *mismatch,
                            struct ar_error *err)
{
    for (uint32_t rank = 0; rank < payload->ranks; rank++) {
        AR_TRY(cuda_schedule_read(schedule, rank, capacity, err));
        payload_check(payload, rank, capacity, mismatch);
    }
    return AR_OK;
}

static enum ar_status repeat_all(const struct run_config *config, struct cuda_schedule *schedule,
                                 const struct payload *payload, unsigned char *capacity,
                                 struct measurement *measurement, struct ar_error *err)
{
    uint32_t warmup = measurement->is_check ? 0 : config->warmup;
    for (uint32_t i = 0; i < warmup + measurement->repetitions; i++) {
        double time_s = 0;
        AR_TRY(fill(schedule, payload, capacity, err));
        AR_TRY(cuda_schedule_run(schedule, &time_s, err));
        AR_TRY(check(schedule, payload, capacity, &measurement->mismatch, err));
        if (i >= warmup) {
            measurement->times_s[i - warmup] = time_s;
        }
    }
    return AR_OK;
}

/* After a failure the program ends. */
static enum ar_status run_schedule(const struct run_config *config, const struct payload *payload,
                                   unsigned char *capacity, struct measurement *measurement,
                                   struct ar_error *err)
{
    struct cuda_schedule *schedule;
    AR_TRY(cuda_schedule_create(measurement, config, gpus, &schedule, err));
    AR_TRY(repeat_all(config, schedule, payload, capacity, measurement, err));
    cuda_schedule_destroy(schedule); /* not after a failure: a GPU that hangs would be waited for */
    return AR_OK;
}

static enum ar_status run(const struct run_config *config, struct measurement *measurement,
                          struct ar_error *err)
{
    struct payload payload;
    unsigned char *capacity;
    measurement->nodes = 1;
    if (measurement->probe != PROBE_NONE) {
        return cuda_probe_run(config, gpus, measurement, err);
    }
    AR_TRY(payload_create(measurement->type, measurement->ranks, measurement->elements, &payload,
                          err));
    enum ar_status status = memory_host.allocate(measurement_bytes(measurement), &capacity, err);
    if (status == AR_OK) {
        status = run_schedule(config, &payload, capacity, measurement, err);
        memory_host.release(capacity);
    }
    payload_destroy(&payload);
    return status;
}

const struct backend backend_cuda = {
    .name = "cuda",
    .summary = "GPUs of this machine, several virtual ranks on one if asked for more",
    .memories = {&memory_device},
    .has_graphs = true,
    .start = start,
    .stop = stop,
    .describe = describe,
    .tier = tier,
    .run = run,
};
