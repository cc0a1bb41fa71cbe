#include "msccl.h"

#include <inttypes.h>

#include "ar_multiple.h"
#include "msccl_gpu.h"

static const struct msccl_kind kinds[] = {
    {&ar_operation_all_reduce, "allreduce", 'i', true, false, false},
    {&ar_operation_reduce_scatter, "reduce_scatter", 'i', true, false, true},
    {&ar_operation_all_gather, "allgather", 'o', true, true, false},
    {&ar_operation_broadcast, "broadcast", 'o', true, false, false},
    {&ar_operation_reduce, "reduce", 's', false, false, false},
    {&ar_operation_all_to_all, "alltoall", 's', false, false, false},
    {&ar_operation_gather, "custom", 'i', true, false, false},
    {&ar_operation_scatter, "custom", 'i', true, false, false},
    {&ar_operation_send, "custom", 'i', true, false, false},
};

static const char *type_of(const struct msccl_operation *operation)
{
    bool is_sum = operation->receive == AR_RECEIVE_REDUCE;
    return operation->from != 0                    ? "cpy"
           : operation->receive == AR_RECEIVE_NONE ? "s"
           : !operation->sends                     ? is_sum ? "rrc" : "r"
           : !is_sum                               ? "rcs"
           : operation->is_sum_read                ? "rrcs"
                                                   : "rrs";
}

static void write_step(FILE *file, uint32_t step, const char *type, char from, int64_t from_chunk,
                       char to, int64_t to_chunk, uint32_t count, const struct msccl_wait *wait,
                       bool is_waited_for)
{
    fprintf(file,
            "      <step s=\"%" PRIu32 "\" type=\"%s\" srcbuf=\"%c\" srcoff=\"%" PRId64
            "\" dstbuf=\"%c\" dstoff=\"%" PRId64 "\" cnt=\"%" PRIu32 "\" depid=\"%" PRId64
            "\" deps=\"%" PRId64 "\" hasdep=\"%d\"/>\n",
            step, type, from, from_chunk, to, to_chunk, count,
            wait != NULL ? (int64_t)wait->block : -1, wait != NULL ? (int64_t)wait->step : -1,
            is_waited_for);
}

/* All waits but the last are steps of their own. */
static void write_operation(FILE *file, const struct msccl_gpu *gpu,
                            const struct msccl_operation *operation)
{
    const struct msccl_wait *waits = &gpu->waits[operation->waits];
    uint32_t last = operation->waits_count > 0 ? operation->waits_count - 1 : 0;
    for (uint32_t i = 0; i < last; i++) {
        write_step(file, operation->step - last + i, "nop", 'i', -1, 'o', -1, 0, &waits[i], false);
    }
    bool is_copy = operation->from != 0, is_in = operation->from == 'i' && is_copy;
    write_step(
        file, operation->step, type_of(operation), is_copy ? operation->from : gpu->kind->buffer,
        is_in ? operation->outer : operation->chunk, is_copy ? operation->to : gpu->kind->buffer,
        is_copy && !is_in ? operation->outer : operation->chunk, 1,
        operation->waits_count > 0 ? &waits[last] : NULL, operation->is_waited_for);
}

static int64_t peer_of(uint32_t rank)
{
    return rank == MSCCL_NONE ? -1 : (int64_t)rank;
}

static void write_gpu(FILE *file, const struct msccl_gpu *gpu)
{
    const struct msccl_kind *kind = gpu->kind;
    bool is_custom = kind->buffer == 'i' && kind->operation->has_root;
    fprintf(file,
            "  <gpu id=\"%" PRIu32 "\" i_chunks=\"%" PRIu32 "\" o_chunks=\"%" PRIu32
            "\" s_chunks=\"%" PRIu32 "\">\n",
            gpu->rank, gpu->chunks / (kind->has_part_in ? gpu->ranks : 1),
            is_custom ? 0 : gpu->chunks / (kind->has_part_out ? gpu->ranks : 1),
            kind->is_in_place ? 0 : gpu->chunks);
    for (uint32_t i = 0; i < gpu->blocks_count; i++) {
        const struct msccl_block *block = &gpu->blocks[i];
        fprintf(file,
                "    <tb id=\"%" PRIu32 "\" send=\"%" PRId64 "\" recv=\"%" PRId64
                "\" chan=\"%" PRIu32 "\">\n",
                i, peer_of(block->to), peer_of(block->from), block->channel);
        for (uint32_t k = 0; k < gpu->operations_count; k++) {
            if (gpu->operations[k].block == i) {
                write_operation(file, gpu, &gpu->operations[k]);
            }
        }
        fprintf(file, "    </tb>\n");
    }
    fprintf(file, "  </gpu>\n");
}

/* --- the file --------------------------------------------------------------------------------- */

/* Makes parts of the elements whole numbers, or elements more than there may be. */
static void divide(struct msccl_gpu *gpu, uint32_t parts)
{
    uint64_t wanted = (uint64_t)parts * (gpu->elements / ar_common_divisor(gpu->elements, parts));
    gpu->elements = wanted <= MSCCL_CHUNKS_MAX ? (uint32_t)wanted : MSCCL_CHUNKS_MAX + 1;
}

static enum ar_status prepare(struct msccl_gpu *gpu, struct ar_arena *arena, struct ar_error *err)
{
    const struct ar_collective *collective = gpu->collective;
    gpu->phases_count = ar_algorithm_phases(collective->algorithm, &collective->shape, gpu->phases);
    gpu->elements = collective->operation->has_parts ? gpu->ranks : 1;
    for (uint32_t i = 0; i < gpu->phases_count; i++) {
        divide(gpu, gpu->phases[i].parts);
        divide(gpu, gpu->phases[i].pieces > 0 ? gpu->phases[i].pieces : 1);
    }
    if (gpu->elements > MSCCL_CHUNKS_MAX / collective->channels) {
        return msccl_refuse(gpu, "chunks", MSCCL_CHUNKS_MAX, err);
    }
    gpu->chunks = gpu->elements * collective->channels;
    size_t steps = (size_t)MSCCL_BLOCKS_MAX * (MSCCL_STEPS_MAX + 1);
    gpu->operations = ar_arena_alloc(arena, steps, sizeof *gpu->operations);
    gpu->waits = ar_arena_alloc(arena, steps, sizeof *gpu->waits);
    gpu->blocks = ar_arena_alloc(arena, MSCCL_BLOCKS_MAX, sizeof *gpu->blocks);
    gpu->written = ar_arena_alloc(arena, gpu->chunks, sizeof *gpu->written);
    gpu->read = ar_arena_alloc(arena, (size_t)gpu->chunks * MSCCL_BLOCKS_MAX, sizeof *gpu->read);
    gpu->is_read = ar_arena_alloc(arena, gpu->chunks, sizeof *gpu->is_read);
    AR_NEED(gpu->operations && gpu->waits && gpu->blocks && gpu->written && gpu->read &&
                gpu->is_read,
            err, "thread blocks");
    return AR_OK;
}

/* All GPUs, without writing anything: what is refused is refused before. */
static enum ar_status make_all(struct msccl_gpu *gpu, struct ar_error *err)
{
    gpu->is_crowded = false;
    gpu->shared = gpu->kind->is_in_place ? 0 : gpu->groups;
    gpu->width = 0;
    for (uint32_t i = 0; i < gpu->phases_count; i++) {
        bool is_passed = msccl_is_passed_on(gpu, &gpu->phases[i]);
        gpu->width += is_passed;
        gpu->shared = is_passed ? gpu->shared : gpu->groups;
    }
    gpu->width += gpu->shared;
    if (gpu->width * gpu->collective->channels > MSCCL_CHANNELS_MAX) {
        return msccl_refuse(gpu, "channels", MSCCL_CHANNELS_MAX, err);
    }
    for (gpu->rank = 0; gpu->rank < gpu->ranks; gpu->rank++) {
        AR_TRY(msccl_make_gpu(gpu, err));
    }
    return AR_OK;
}

static const struct msccl_kind *find_kind(const struct ar_operation *operation)
{
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        if (kinds[i].operation == operation) {
            return &kinds[i];
        }
    }
    return NULL;
}

/* Refuses what MSCCL has no words for. */
static enum ar_status check(const struct ar_collective *collective, struct ar_error *err)
{
    if (collective->algorithm == NULL) {
        return ar_error_set(err, AR_USAGE,
                            "--algorithm: found auto, which needs a payload to choose; expected "
                            "the name of an algorithm with --format msccl");
    }
    if (collective->algorithm->wants_sums) {
        return ar_error_set(err, AR_USAGE,
                            "--algorithm: found %s, whose sums switches make; expected one whose "
                            "ranks send to ranks with --format msccl",
                            collective->algorithm->name);
    }
    if (ar_shape_ranks(&collective->shape) < 2) {
        return ar_error_set(err, AR_USAGE,
                            "--gpus: found 1, which sends nothing; expected several GPUs with "
                            "--format msccl");
    }
    if (find_kind(collective->operation) == NULL || ar_collective_groups(collective) > 1) {
        return ar_error_set(err, AR_USAGE,
                            "--format msccl: found %s in %" PRIu32
                            " groups; expected a collective of all GPUs",
                            collective->operation->name, ar_collective_groups(collective));
    }
    return AR_OK;
}

enum ar_status msccl_write(FILE *file, const struct ar_collective *collective, const char *made_by,
                           struct msccl_use *use, struct ar_error *err)
{
    struct ar_arena arena AR_ENDS_HERE = {NULL};
    struct msccl_gpu gpu = {.collective = collective,
                            .kind = find_kind(collective->operation),
                            .order = ar_collective_order(collective),
                            .groups = 1,
                            .ranks = ar_shape_ranks(&collective->shape)};
    AR_TRY(check(collective, err));
    AR_TRY(prepare(&gpu, &arena, err));
    AR_TRY(make_all(&gpu, err));
    if (gpu.is_crowded) {
        gpu.groups = (gpu.ranks - 2) / MSCCL_PEERS_MAX + 1;
        AR_TRY(make_all(&gpu, err));
    }
    *use =
        (struct msccl_use){gpu.kind->name, gpu.kind->is_in_place, gpu.width * collective->channels};
    fprintf(file,
            "<algo name=\"%s\" proto=\"Simple\" nchannels=\"%" PRIu32 "\" nchunksperloop=\"%" PRIu32
            "\" ngpus=\"%" PRIu32
            "\" coll=\"%s\" inplace=\"%d\" outofplace=\"%d\" minBytes=\"0\">\n",
            collective->algorithm->name, use->channels, gpu.chunks, gpu.ranks, gpu.kind->name,
            gpu.kind->is_in_place, !gpu.kind->is_in_place);
    for (gpu.rank = 0; gpu.rank < gpu.ranks; gpu.rank++) {
        AR_TRY(msccl_make_gpu(&gpu, err));
        write_gpu(file, &gpu);
    }
    fprintf(file, "</algo>\n<!-- %s -->\n", made_by);
    return AR_OK;
}
