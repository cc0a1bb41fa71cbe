#include "crew.h"

/* What the ranks of a crew begin and end with. */
struct views {
    const struct crew *crew;
    struct payload_view *of; /* each rank */
    size_t bytes;
    unsigned char *seen; /* what the host can read; in host memory the buffer itself */
};

static enum ar_status find_views(const struct crew *crew, const struct payload *payload,
                                 struct ar_arena *arena, struct views *views, struct ar_error *err)
{
    *views = (struct views){.crew = crew, .bytes = measurement_bytes(payload->measurement)};
    views->of = ar_arena_alloc(arena, crew->count, sizeof *views->of);
    AR_NEED(views->of, err, "the expected results");
    for (uint32_t i = 0; i < crew->count; i++) {
        AR_TRY(payload_see(payload, crew->first + i, arena, &views->of[i], err));
    }
    if (crew->memory->is_host) {
        views->seen = crew->buffers[0];
        return AR_OK;
    }
    return memory_host.allocate(arena, views->bytes, &views->seen, err);
}

static enum ar_status fill(const struct views *views, struct ar_error *err)
{
    const struct crew *crew = views->crew;
    for (uint32_t i = 0; i < crew->count; i++) {
        payload_fill(&views->of[i], views->seen);
        if (!crew->memory->is_host) {
            AR_TRY(crew->memory->copy(crew->buffers[i], views->seen, views->bytes, err));
        }
    }
    return AR_OK;
}

static enum ar_status check(const struct views *views, struct mismatch *mismatch,
                            struct ar_error *err)
{
    const struct crew *crew = views->crew;
    unsigned char **results = crew->results != NULL ? crew->results : crew->buffers;
    for (uint32_t i = 0; i < crew->count; i++) {
        if (!crew->memory->is_host) {
            AR_TRY(crew->memory->copy(views->seen, results[i], views->bytes, err));
        }
        payload_check(&views->of[i], views->seen, mismatch);
    }
    return AR_OK;
}

enum ar_status crew_repeat(struct crew *crew, const struct run_config *config,
                           const struct payload *payload, struct ar_arena *arena,
                           struct measurement *measurement, struct ar_error *err)
{
    uint32_t warmup = measurement->is_check ? 0 : config->warmup;
    struct views views = {.crew = crew};
    if (crew->count > 0) {
        AR_TRY(find_views(crew, payload, arena, &views, err));
    }
    for (uint32_t i = 0; i < warmup + measurement->repetitions; i++) {
        double time_s = 0;
        AR_TRY(fill(&views, err));
        AR_TRY(crew->run(crew, &time_s, err));
        AR_TRY(check(&views, &measurement->mismatch, err));
        if (i >= warmup) {
            measurement->times_s[i - warmup] = time_s;
        }
    }
    return AR_OK;
}
