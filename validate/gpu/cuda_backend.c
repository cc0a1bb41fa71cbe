/* The backend `cuda`: ranks on the GPUs of this process; more ranks than GPUs share them. */
#include "backend.h"
#include "cuda_device.h"
#include "cuda_schedule.h"

enum { RANKS_MAX = 256, RANKS_STANDARD = 4 };

static uint32_t gpus;

static enum ar_status cuda_start(const struct run_config *config, struct machine *machine,
                                 struct ar_error *err)
{
    (void)config;
    *machine = (struct machine){
        .is_first = true, .ranks_max = RANKS_MAX, .ranks_standard = RANKS_STANDARD};
    AR_TRY(cuda_count(&gpus, err));
    return cuda_enable_peers(gpus, err);
}

static void cuda_stop(int code)
{
    (void)code;
}

static void cuda_describe_run(FILE *file)
{
    cuda_describe(file, gpus);
    fprintf(file, "# ranks: one per GPU; of more than %u, several VIRTUAL RANKS share a GPU\n",
            gpus);
}

static const char *cuda_tier_of_ranks(uint32_t ranks, uint32_t from, uint32_t to)
{
    return cuda_tier(cuda_device_of(gpus, ranks, from), cuda_device_of(gpus, ranks, to));
}

static enum ar_status cuda_run(const struct run_config *config, struct ar_arena *arena,
                               struct measurement *measurement, struct ar_error *err)
{
    struct payload payload;
    struct crew *crew;
    measurement->nodes = 1;
    if (measurement->probe != PROBE_NONE) {
        return cuda_probe_run(config, gpus, arena, measurement, err);
    }
    AR_TRY(payload_create(measurement, arena, &payload, err));
    AR_TRY(cuda_schedule_create(measurement, config, gpus, arena, &crew, err));
    return crew_repeat(crew, config, &payload, arena, measurement, err);
}

const struct backend backend_cuda = {
    .name = "cuda",
    .summary = "GPUs of this machine, several virtual ranks on one if asked for more",
    .memories = {&memory_device},
    .has_graphs = true,
    .start = cuda_start,
    .stop = cuda_stop,
    .describe = cuda_describe_run,
    .tier = cuda_tier_of_ranks,
    .run = cuda_run,
};
