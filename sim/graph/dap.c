/* Dynamic axial parallelism of Evoformer blocks (FastFold: Cheng et al., arXiv:2203.00854): tp GPUs
 * have a sample between them, cut along rows or columns; all sum their gradients beside the
 * backward pass, in buckets. Collectives run beside what does not need them: gathered biases beside
 * the projection of queries, gathered factors beside gates, and the MSA turns back beside the work
 * on pairs, as in github hpcaitech/FastFold, fastfold/model/fastnn (duality async operations). A
 * block is computed again before its backward pass, and sends again. */
#include "ar_evoformer.h"
#include "ar_strategy.h"

/* Size of a bucket of gradients: bucket_cap_mb of PyTorch's DistributedDataParallel. */
#define BUCKET_BYTES (25.0 * 1048576)

enum { MSA_BEFORE = -1, PAIR_BEFORE = -2, NOTHING = -3, NEEDS_MAX = 2 };

/* A step of a block: a part that is computed, or a tensor that is sent; up to two it needs. */
struct place {
    const char *name;
    const struct ar_operation *operation; /* NULL: computed */
    int what;                             /* ar_evoformer_part, or ar_evoformer_tensor */
    int needs[NEEDS_MAX];
};

#define GATHERED (&ar_operation_all_gather)
#define TURNED   (&ar_operation_all_to_all)

static const struct place places[] = {
    {"row bias", NULL, AR_EVOFORMER_ROW_BIAS, {PAIR_BEFORE, NOTHING}}, /* 0 */
    {"row bias", GATHERED, AR_EVOFORMER_ROW_BIASES, {0, NOTHING}},
    {"row input", NULL, AR_EVOFORMER_ROW_INPUT, {MSA_BEFORE, NOTHING}},
    {"row attention", NULL, AR_EVOFORMER_ROW, {1, 2}},
    {"MSA to columns", TURNED, AR_EVOFORMER_MSA_PARTS, {3, NOTHING}},
    {"column attention, transition", NULL, AR_EVOFORMER_COLUMN, {4, NOTHING}}, /* 5 */
    {"outer product input", NULL, AR_EVOFORMER_OUTER_INPUT, {5, NOTHING}},
    {"outer product", GATHERED, AR_EVOFORMER_OUTER_FACTORS, {6, NOTHING}},
    {"outer product mean", NULL, AR_EVOFORMER_OUTER, {7, PAIR_BEFORE}},
    {"MSA to rows", TURNED, AR_EVOFORMER_MSA_PARTS, {5, NOTHING}},
    {"triangle out, input", NULL, AR_EVOFORMER_TRIANGLE_INPUT, {8, NOTHING}}, /* 10 */
    {"triangle out", GATHERED, AR_EVOFORMER_TRIANGLE_FACTORS, {10, NOTHING}},
    {"triangle out, gate", NULL, AR_EVOFORMER_TRIANGLE_GATE, {8, NOTHING}},
    {"triangle out", NULL, AR_EVOFORMER_TRIANGLE, {11, 12}},
    {"pairs to columns", TURNED, AR_EVOFORMER_PAIR_PARTS, {13, NOTHING}},
    {"triangle in, input", NULL, AR_EVOFORMER_TRIANGLE_INPUT, {14, NOTHING}}, /* 15 */
    {"triangle in", GATHERED, AR_EVOFORMER_TRIANGLE_FACTORS, {15, NOTHING}},
    {"triangle in, gate", NULL, AR_EVOFORMER_TRIANGLE_GATE, {14, NOTHING}},
    {"triangle in", NULL, AR_EVOFORMER_TRIANGLE, {16, 17}},
    {"pairs to rows", TURNED, AR_EVOFORMER_PAIR_PARTS, {18, NOTHING}},
    {"start bias", NULL, AR_EVOFORMER_PAIR_BIAS, {19, NOTHING}}, /* 20 */
    {"start bias", GATHERED, AR_EVOFORMER_PAIR_BIASES, {20, NOTHING}},
    {"start input", NULL, AR_EVOFORMER_PAIR_INPUT, {19, NOTHING}},
    {"start attention", NULL, AR_EVOFORMER_PAIR, {21, 22}},
    {"pairs to columns", TURNED, AR_EVOFORMER_PAIR_PARTS, {23, NOTHING}},
    {"end bias", NULL, AR_EVOFORMER_PAIR_BIAS, {24, NOTHING}}, /* 25 */
    {"end bias", GATHERED, AR_EVOFORMER_PAIR_BIASES, {25, NOTHING}},
    {"end input", NULL, AR_EVOFORMER_PAIR_INPUT, {24, NOTHING}},
    {"end attention", NULL, AR_EVOFORMER_PAIR, {26, 27}},
    {"pair transition", NULL, AR_EVOFORMER_TRANSITION, {28, NOTHING}},
    {"pairs to rows", TURNED, AR_EVOFORMER_PAIR_PARTS, {29, NOTHING}}, /* 30 */
};

enum { PLACES = sizeof places / sizeof places[0], MSA_LAST = 9, PAIR_LAST = PLACES - 1 };

struct dap {
    const struct ar_parts_request *request;
    struct ar_operators *operators;
    uint32_t msa, pair;   /* what the next block needs; AR_NO_TASK: nothing */
    double waiting_bytes; /* gradients that are to be summed */
    uint32_t *sums;
    uint32_t sums_count;
};

static struct ar_operator operator_of(const struct dap *dap, const struct ar_evoformer_block *block,
                                      int index, bool is_backward)
{
    const struct ar_parts_request *request = dap->request;
    const struct place *place = &places[index];
    enum ar_duty duty = is_backward ? AR_DUTY_BACKWARD : AR_DUTY_FORWARD;
    if (place->operation == NULL) {
        double time_s = ar_evoformer_part_s(block, (enum ar_evoformer_part)place->what,
                                            request->cost, request->precision);
        return (struct ar_operator){
            .name = place->name, .time_s = is_backward ? 2 * time_s : time_s, .duty = duty};
    }
    bool is_sum = is_backward && place->operation == &ar_operation_all_gather;
    return (struct ar_operator){
        .name = place->name,
        .output_bytes = (uint64_t)ar_evoformer_bytes(block, (enum ar_evoformer_tensor)place->what,
                                                     request->precision),
        .operation = block->parts == 1 ? NULL
                     : is_sum          ? &ar_operation_reduce_scatter
                                       : place->operation,
        .stream = AR_STREAM_PARTS,
        .axes = 1u << AR_AXIS_TP,
        .duty = duty};
}

static void need_operator(const struct dap *dap, uint32_t other)
{
    if (other != AR_NO_TASK) {
        ar_operators_need(dap->operators, other);
    }
}

static void add_forward(struct dap *dap, const struct ar_evoformer_block *block, enum ar_duty duty)
{
    uint32_t first = dap->operators->count, msa = dap->msa, pair = dap->pair;
    for (int i = 0; i < PLACES; i++) {
        struct ar_operator op = operator_of(dap, block, i, false);
        op.duty = duty;
        ar_operators_add(dap->operators, &op);
        for (int j = 0; j < NEEDS_MAX; j++) {
            int at = places[i].needs[j];
            need_operator(dap, at == NOTHING       ? AR_NO_TASK
                               : at == MSA_BEFORE  ? msa
                               : at == PAIR_BEFORE ? pair
                                                   : first + (uint32_t)at);
        }
    }
    dap->msa = first + MSA_LAST;
    dap->pair = first + PAIR_LAST;
}

/* Backwards, what needed a place before is needed by it. `msa` and `pair` are what the block after
 * this one has made of its inputs. */
static void add_backward(struct dap *dap, const struct ar_evoformer_block *block)
{
    uint32_t msa = dap->msa, pair = dap->pair;
    add_forward(dap, block, AR_DUTY_BACKWARD); /* again */
    uint32_t again = dap->pair, first = dap->operators->count;
    for (int i = PLACES - 1; i >= 0; i--) {
        struct ar_operator op = operator_of(dap, block, i, true);
        ar_operators_add(dap->operators, &op);
        need_operator(dap, i == PAIR_LAST ? pair : i == MSA_LAST ? msa : AR_NO_TASK);
        need_operator(dap, i == PAIR_LAST || i == MSA_LAST ? again : AR_NO_TASK);
        for (int user = i + 1; user < PLACES; user++) {
            for (int j = 0; j < NEEDS_MAX; j++) {
                need_operator(dap, places[user].needs[j] == i
                                       ? first + (uint32_t)(PLACES - 1 - user)
                                       : AR_NO_TASK);
            }
        }
    }
    dap->msa = first + PLACES - 1 - 2;  /* the inputs of rows */
    dap->pair = first + PLACES - 1 - 0; /* their bias, which comes last */
}

/* Gradients that wait are summed by all GPUs, which work on parts of samples. */
static void add_sum(struct dap *dap)
{
    const struct ar_parts_request *request = dap->request;
    uint32_t axes = (request->sizes[AR_AXIS_DP] > 1 ? 1u << AR_AXIS_DP : 0) |
                    (request->sizes[AR_AXIS_TP] > 1 ? 1u << AR_AXIS_TP : 0);
    const struct ar_operator op = {.name = "gradients",
                                   .output_bytes = (uint64_t)dap->waiting_bytes,
                                   .operation = axes != 0 ? &ar_operation_all_reduce : NULL,
                                   .stream = AR_STREAM_GRADIENTS,
                                   .axes = axes,
                                   .duty = AR_DUTY_BACKWARD};
    dap->sums[dap->sums_count++] = ar_operators_add(dap->operators, &op);
    ar_operators_need(dap->operators, dap->pair);
    ar_operators_need(dap->operators, dap->msa);
    dap->waiting_bytes = 0;
}

static enum ar_status operators_of(const struct ar_parts_request *request, struct ar_arena *arena,
                                   struct ar_operators **operators, struct ar_error *err)
{
    const struct ar_evoformer *model = request->evoformer;
    uint64_t blocks = model->blocks + model->extra_blocks;
    struct ar_evoformer_block main = {.model = model, .parts = request->sizes[AR_AXIS_TP]};
    struct ar_evoformer_block extra = main;
    struct dap dap = {.request = request, .msa = AR_NO_TASK, .pair = AR_NO_TASK};
    uint64_t count = (uint64_t)(model->passes + 3) * blocks * (PLACES + 1) + 1;
    uint64_t tp = request->sizes[AR_AXIS_TP];
    const uint32_t *sizes = request->sizes;
    AR_REFUSE(
        sizes[AR_AXIS_PP] > 1 || sizes[AR_AXIS_REP] > 1 || sizes[AR_AXIS_EP] > 1 ||
            sizes[AR_AXIS_CP] > 1,
        err, AR_USAGE,
        "--mesh: found pp=%u, rep=%u, ep=%u, cp=%u with strategy dap; expected dp and tp alone",
        sizes[AR_AXIS_PP], sizes[AR_AXIS_REP], sizes[AR_AXIS_EP], sizes[AR_AXIS_CP]);
    AR_REFUSE(
        model->residues % tp != 0 || model->sequences % tp != 0 || model->extra_sequences % tp != 0,
        err, AR_USAGE,
        "%s: found %llu residues and %llu sequences (%llu extra); expected multiples of tp, %llu",
        request->where, (unsigned long long)model->residues, (unsigned long long)model->sequences,
        (unsigned long long)model->extra_sequences, (unsigned long long)tp);
    AR_TRY(ar_operators_create(request->where, count, arena, &dap.operators, err));
    dap.sums = ar_arena_alloc(arena, blocks, sizeof *dap.sums);
    extra.is_extra = true;
    /* Forward passes that no backward pass follows, or as much of one as is left: whole blocks. */
    for (double passes = model->passes; passes > 0; passes--) {
        double part = passes < 1 ? passes : 1;
        for (uint64_t i = 0; i < (uint64_t)(part * (double)model->extra_blocks + 0.5); i++) {
            add_forward(&dap, &extra, AR_DUTY_FORWARD);
        }
        for (uint64_t i = 0; i < (uint64_t)(part * (double)model->blocks + 0.5); i++) {
            add_forward(&dap, &main, AR_DUTY_FORWARD);
        }
    }
    *operators = dap.operators;
    if (model->is_inference) {
        return AR_OK;
    }
    for (uint64_t i = 0; i < blocks; i++) {
        add_backward(&dap, i < model->blocks ? &main : &extra);
        dap.waiting_bytes +=
            model->parameters / (double)blocks * ar_precisions[request->sent].bytes;
        if (dap.waiting_bytes >= BUCKET_BYTES || i + 1 == blocks) {
            add_sum(&dap);
        }
    }
    /* Adam in mixed precision: gradients and parameters as they are, master copy, mean and variance
     * in fp32 are read and written. */
    double bytes = model->parameters *
                   (2.0 * ar_precisions[request->sent].bytes + 6.0 * ar_precisions[AR_FP32].bytes);
    const struct ar_operator optimizer = {
        .name = "optimizer",
        .time_s = ar_device_memory_s(request->cost, request->precision, bytes),
        .duty = AR_DUTY_OPTIMIZER};
    ar_operators_add(dap.operators, &optimizer);
    for (uint32_t i = 0; i < dap.sums_count; i++) {
        ar_operators_need(dap.operators, dap.sums[i]);
    }
    return AR_OK;
}

const struct ar_strategy ar_strategy_dap = {
    .name = "dap",
    .title = "Evoformer blocks cut along rows or columns (FastFold), tp GPUs to a sample",
    .operators = operators_of,
    .takes_evoformer = true,
};
