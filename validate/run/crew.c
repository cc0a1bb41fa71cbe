#include "crew.h"

/* `seen` is what the host can read; in host memory the buffer itself. */
static enum ar_status fill(const struct crew *crew, const struct payload *payload, size_t bytes,
                           unsigned char *seen, struct ar_error *err)
{
    for (uint32_t i = 0; i < crew->count; i++) {
        payload_fill(payload, crew->first + i, seen);
        if (!crew->memory->is_host) {
            AR_TRY(crew->memory->copy(crew->buffers[i], seen, bytes, err));
        }
    }
    return AR_OK;
}

static enum ar_status check(const struct crew *crew, const struct payload *payload, size_t bytes,
                            unsigned char *seen, struct mismatch *mismatch, struct ar_error *err)
{
    for (uint32_t i = 0; i < crew->count; i++) {
        if (!crew->memory->is_host) {
            AR_TRY(crew->memory->copy(seen, crew->buffers[i], bytes, err));
        }
        payload_check(payload, crew->first + i, seen, mismatch);
    }
    return AR_OK;
}

enum ar_status crew_repeat(struct crew *crew, const struct run_config *config,
                           const struct payload *payload, struct ar_arena *arena,
                           struct measurement *measurement, struct ar_error *err)
{
    size_t bytes = measurement_bytes(measurement);
    uint32_t warmup = measurement->is_check ? 0 : config->warmup;
    unsigned char *seen = NULL;
    if (crew->count > 0 && crew->memory->is_host) {
        seen = crew->buffers[0];
    } else if (crew->count > 0) {
        AR_TRY(memory_host.allocate(arena, bytes, &seen, err));
    }
    for (uint32_t i = 0; i < warmup + measurement->repetitions; i++) {
        double time_s = 0;
        AR_TRY(fill(crew, payload, bytes, seen, err));
        AR_TRY(crew->run(crew, &time_s, err));
        AR_TRY(check(crew, payload, bytes, seen, &measurement->mismatch, err));
        if (i >= warmup) {
            measurement->times_s[i - warmup] = time_s;
        }
    }
    return AR_OK;
}
