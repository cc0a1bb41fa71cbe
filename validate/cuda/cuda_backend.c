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
    enum ar_status status = AR_OK;
    for (uint32_t rank = 0; status == AR_OK && rank < payload->ranks; rank++) {
        unsigned char *pattern;
        status = payload_pattern(payload, rank, &pattern, err);
        if (status == AR_OK) {
            payload_fill(payload, pattern, capacity);
            free(pattern);
            status = cuda_schedule_write(schedule, rank, capacity, err);
        }
    }
    return status;
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
                                 const struct payload *payload, struct measurement *measurement,
                                 struct ar_error *err)
{
    unsigned char *capacity;
    uint32_t warmup = measurement->is_check ? 0 : config->warmup;
    enum ar_status status = memory_host.allocate(measurement_bytes(measurement), &capacity, err);
    if (status != AR_OK) {
        return status;
    }
    for (uint32_t i = 0; status == AR_OK && i < warmup + measurement->repetitions; i++) {
        double time_s = 0;
        status = fill(schedule, payload, capacity, err);
        if (status == AR_OK) {
            status = cuda_schedule_run(schedule, &time_s, err);
        }
        if (status == AR_OK) {
            status = check(schedule, payload, capacity, &measurement->mismatch, err);
        }
        if (i >= warmup) {
            measurement->times_s[i - warmup] = time_s;
        }
    }
    memory_host.release(capacity);
    return status;
}

static enum ar_status run(const struct run_config *config, struct measurement *measurement,
                          struct ar_error *err)
{
    struct payload payload;
    struct cuda_schedule *schedule;
    measurement->nodes = 1;
    if (measurement->probe != PROBE_NONE) {
        return cuda_probe_run(config, gpus, measurement, err);
    }
    enum ar_status status =
        payload_create(measurement->type, measurement->ranks, measurement->elements, &payload, err);
    if (status != AR_OK) {
        return status;
    }
    status = cuda_schedule_create(measurement, config, gpus, &schedule, err);
    if (status == AR_OK) {
        status = repeat_all(config, schedule, &payload, measurement, err);
    }
    if (status == AR_OK) { /* else the program ends, and a GPU that hangs would be waited for */
        cuda_schedule_destroy(schedule);
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
