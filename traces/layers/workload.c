#include "ar_workload.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "ar_text.h"
#include "ar_units.h"

#define MIB 1048576ull

static const struct {
    const char *name;
    struct ar_fusion fusion;
} named_rules[] = {
    /* torch.nn.parallel.DistributedDataParallel: bucket_cap_mb=25, first bucket 1 MiB */
    {"ddp", {.first_bytes = MIB, .bytes = 25 * MIB, .closes_when_reached = 1}},
    /* Horovod, docs/tensor-fusion.rst: default fusion buffer of 64 MB, which it counts in MiB; 0
     * switches fusion off */
    {"horovod", {.first_bytes = 64 * MIB, .bytes = 64 * MIB}},
    {"one", {.first_bytes = UINT64_MAX, .bytes = UINT64_MAX}},
    {"tensor", {.first_bytes = 0, .bytes = 0}},
};

enum ar_status ar_fusion_parse(const char *where, const char *text, struct ar_fusion *fusion,
                               struct ar_error *err)
{
    struct ar_fusion parsed = {.first_bytes = 0};
    bool is_named = false;
    for (size_t i = 0; i < sizeof named_rules / sizeof named_rules[0]; i++) {
        if (strcmp(text, named_rules[i].name) == 0) {
            parsed = named_rules[i].fusion;
            is_named = true;
        }
    }
    if (strncmp(text, "groups:", 7) == 0) {
        uint64_t count;
        AR_REFUSE(ar_parse_count("", text + 7, 1, UINT32_MAX, &count, AR_IGNORED) != AR_OK, err,
                  AR_USAGE,
                  "%s: found \"groups:%.20s\"; expected groups:K with a whole number of at least 1",
                  where, text + 7);
        parsed.groups = (uint32_t)count;
    } else if (!is_named) {
        AR_REFUSE(text[0] < '0' || text[0] > '9', err, AR_USAGE,
                  "%s: found \"%s\"; expected ddp, horovod, one, tensor or a size such as 25MiB, "
                  "or groups:K",
                  where, text);
        AR_TRY(ar_parse_bytes(where, text, &parsed.bytes, err));
        AR_REFUSE(parsed.bytes == 0, err, AR_USAGE,
                  "%s: found \"%s\"; expected a size above 0, or tensor: no fusion", where, text);
        parsed.first_bytes = parsed.bytes;
    }
    ar_copy_text(parsed.text, sizeof parsed.text, text);
    *fusion = parsed;
    return AR_OK;
}

double ar_slowdown_advance(const struct ar_slowdown *slowdown, double now_s, double work_s,
                           uint32_t *next)
{
    for (; *next < slowdown->intervals_count; (*next)++) {
        const struct ar_interval *busy = &slowdown->intervals[*next];
        double free_s = fmax(0, busy->begin_s - now_s);
        if (work_s <= free_s) {
            break;
        }
        if (busy->end_s <= now_s) {
            continue;
        }
        double begin_s = fmax(now_s, busy->begin_s);
        double slow_s = (work_s - free_s) / slowdown->speed_frac;
        if (begin_s + slow_s <= busy->end_s) {
            return begin_s + slow_s;
        }
        work_s -= free_s + (busy->end_s - begin_s) * slowdown->speed_frac;
        now_s = busy->end_s;
    }
    return now_s + work_s;
}

/* The group of a tensor, counted in the order of the layers. The first ones have one tensor more if
 * there are some over. */
static uint32_t group_of(uint32_t tensor, uint32_t tensors_count, uint32_t groups)
{
    groups = groups < tensors_count ? groups : tensors_count;
    uint32_t each = tensors_count / groups;
    uint32_t over = tensors_count % groups;
    uint32_t in_larger = over * (each + 1);
    return tensor < in_larger ? tensor / (each + 1) : over + (tensor - in_larger) / each;
}

enum ar_status ar_workload_make(const struct ar_workload_request *request, struct ar_arena *arena,
                                struct ar_workload **workload, struct ar_error *err)
{
    const struct ar_trace *trace = request->trace;
    AR_REFUSE(trace->tensors_count == 0, err, AR_BAD_DATA,
              "trace %s: found no gradients; expected a layer with parameters", trace->name);
    struct ar_workload *made =
        ar_arena_alloc(arena, 1, sizeof *made + trace->tensors_count * sizeof made->buckets[0]);
    made->forward_end_s = trace->step_overhead_s + ar_trace_forward_s(trace);
    double *parts_end_s = ar_arena_alloc(arena, trace->layers_count + 2u, sizeof *parts_end_s);
    made->parts_end_s = parts_end_s;
    const struct ar_fusion *fusion = request->fusion;
    const struct ar_cycle *cycle = &request->cycle;
    double now_s = made->forward_end_s;
    double even_s = now_s; /* without slowdown */
    double last_sent_s = 0;
    uint32_t next = 0, parts = 0, index = 0; /* of a tensor in the order of the backward pass */
    parts_end_s[parts++] = now_s;
    for (uint32_t i = trace->layers_count; i-- > 0;) {
        const struct ar_layer *layer = &trace->layers[i];
        now_s = ar_slowdown_advance(&request->slowdown, now_s, layer->backward_s, &next);
        even_s += layer->backward_s;
        double sent_s = now_s; /* as soon as its tensors may be sent */
        if (cycle->time_s > 0) {
            /* At the end of the negotiation that they take part in. */
            double first_s = cycle->phase_frac * cycle->time_s;
            double period_s = fmax(cycle->time_s, cycle->negotiate_s);
            double tick = fmax(0, ceil((now_s - first_s) / period_s));
            if (tick > 0 && first_s + (tick - 1) * period_s >= now_s) {
                tick--; /* the quotient was rounded up */
            }
            sent_s = fmax(now_s, first_s + tick * period_s) + cycle->negotiate_s;
        }
        parts_end_s[parts] = now_s;
        parts += layer->tensors_count > 0;
        for (uint32_t k = layer->tensors_count; k-- > 0; index++) {
            /* Tensors of one bucket are sent together, so that a later tick begins a new one; a
             * group waits for all it has. */
            uint64_t elements = trace->tensor_elements[layer->tensors_first + k];
            uint32_t tensors = trace->tensors_count, tensor = tensors - 1 - index;
            bool begins = made->buckets_count == 0;
            struct ar_bucket *last = &made->buckets[begins ? 0 : made->buckets_count - 1];
            if (!begins && fusion->groups > 0) {
                begins = group_of(tensor, tensors, fusion->groups) !=
                         group_of(tensor + 1, tensors, fusion->groups);
            } else if (!begins) {
                uint64_t threshold = made->buckets_count == 1 ? fusion->first_bytes : fusion->bytes;
                double held = (double)last->elements * request->element_bytes;
                bool is_full =
                    fusion->closes_when_reached
                        ? held >= (double)threshold
                        : held + (double)elements * request->element_bytes > (double)threshold;
                begins = is_full || (cycle->time_s > 0 && sent_s > last_sent_s);
            }
            if (begins) {
                last = &made->buckets[made->buckets_count++];
                *last = (struct ar_bucket){.first_layer = i};
            }
            last_sent_s = sent_s;
            last->elements += elements;
            last->tensors_count++;
            last->wait_s = sent_s - now_s;
            last->ready_s = now_s;
            last->parts = parts;
            last->layer = i;
        }
    }
    made->backward_end_s = now_s;
    made->stretch_s = now_s - even_s;
    *workload = made;
    return AR_OK;
}
