#include "ar_evoformer.h"

/* Constants of all models: heads of both attentions, channels of a head of pairs and of the outer
 * product, how much wider a transition is. Supplement of AlphaFold 2, algorithms 7 to 15. */
enum { ROW_HEADS = 8, PAIR_HEADS = 4, OUTER_CHANNELS = 32, WIDER = 4 };

static const char *const purposes[] = {"training", "inference", NULL};

#define COUNT(field) AR_COLUMN(count, struct ar_evoformer, field, #field, "", .min = 1, .max = 1e6)
static const struct ar_column evoformer_columns[] = {
    AR_COLUMN(string, struct ar_evoformer, name, "name", "a name"),
    COUNT(blocks),
    COUNT(sequences),
    COUNT(msa_channels),
    COUNT(extra_blocks),
    COUNT(extra_sequences),
    COUNT(extra_channels),
    COUNT(residues),
    COUNT(pair_channels),
    AR_COLUMN(number, struct ar_evoformer, passes, "passes", "a number from 1 on", .min = 1,
              .max = 100),
    AR_COLUMN(number, struct ar_evoformer, parameters, "parameters", "a number", .min = 1,
              .max = 1e12),
    AR_COLUMN(choice, struct ar_evoformer, is_inference, "purpose", "", .names = purposes,
              .may_be_missing = true),
    AR_COLUMN(string, struct ar_evoformer, source, "source", "where the shape was published"),
};

const struct ar_columns ar_evoformer_columns = AR_COLUMNS(evoformer_columns);

/* --- kernels ------------------------------------------------------------------------------- */

/* Times of the kernels of a part, summed up. */
struct kernel_sum {
    const struct ar_device_cost *cost;
    enum ar_precision precision;
    double time_s;
};

static void sum_product(struct kernel_sum *sum, uint64_t count, uint64_t m, uint64_t n, uint64_t k)
{
    const struct ar_gemm gemm = {.count = count, .m = m, .n = n, .k = k};
    sum->time_s += ar_device_gemm_s(sum->cost, sum->precision, &gemm);
}

/* A kernel that reads or writes `elements` so many times. */
static void sum_memory(struct kernel_sum *sum, double times, double elements)
{
    double bytes = times * elements * ar_stored_bytes(sum->precision);
    sum->time_s += ar_device_memory_s(sum->cost, sum->precision, bytes);
}

/* Attention on `count` lines of `length`, from its projected inputs to the residual: scores, one
 * kernel for bias, mask and softmax, values, gate, output. Without scores one mean of the queries
 * of a line stands for all. */
static void sum_attention(struct kernel_sum *sum, uint64_t count, uint64_t length, uint64_t heads,
                          uint64_t channels, bool has_scores)
{
    uint64_t tokens = count * length;
    if (has_scores) {
        sum_product(sum, count * heads, length, length, channels / heads);
        sum_memory(sum, 2, (double)count * (double)heads * (double)length * (double)length);
        sum_product(sum, count * heads, length, channels / heads, length);
    } else {
        sum_memory(sum, 2, (double)(tokens * channels));
    }
    sum_memory(sum, 3, (double)(tokens * channels));
    sum_product(sum, 1, tokens, channels, channels);
    sum_memory(sum, 3, (double)(tokens * channels));
}

/* A norm and a projection to `wide` channels. */
static void sum_input(struct kernel_sum *sum, uint64_t tokens, uint64_t channels, uint64_t wide)
{
    sum_memory(sum, 2, (double)(tokens * channels));
    sum_product(sum, 1, tokens, wide, channels);
}

static void sum_transition(struct kernel_sum *sum, uint64_t tokens, uint64_t channels)
{
    sum_input(sum, tokens, channels, WIDER * channels);
    sum_memory(sum, 2, (double)(tokens * WIDER * channels));
    sum_product(sum, 1, tokens, channels, WIDER * channels);
    sum_memory(sum, 3, (double)(tokens * channels));
}

static void sum_outer(struct kernel_sum *sum, uint64_t sequences, uint64_t residues, uint64_t parts,
                      uint64_t channels)
{
    const uint64_t outer = OUTER_CHANNELS, pairs = residues * residues / parts;
    sum_product(sum, 1, residues / parts * outer, residues * outer, sequences);
    sum_memory(sum, 2, (double)(pairs * outer * outer)); /* another order of axes */
    sum_product(sum, 1, pairs, channels, outer * outer);
    sum_memory(sum, 3, (double)(pairs * channels));
}

static void sum_triangle(struct kernel_sum *sum, uint64_t residues, uint64_t parts,
                         uint64_t channels)
{
    uint64_t pairs = residues * residues / parts;
    sum_memory(sum, 4, (double)(pairs * channels)); /* another order of axes, of both */
    sum_product(sum, channels, residues / parts, residues, residues);
    sum_input(sum, pairs, channels, channels);
    sum_memory(sum, 4, (double)(pairs * channels));
}

double ar_evoformer_part_s(const struct ar_evoformer_block *block, enum ar_evoformer_part part,
                           const struct ar_device_cost *cost, enum ar_precision precision)
{
    const struct ar_evoformer *model = block->model;
    struct kernel_sum sum = {.cost = cost, .precision = precision};
    uint64_t p = block->parts, r = model->residues, pairs = r * r / p, wide = model->pair_channels;
    uint64_t s = block->is_extra ? model->extra_sequences : model->sequences;
    uint64_t narrow = block->is_extra ? model->extra_channels : model->msa_channels;
    switch (part) {
    case AR_EVOFORMER_ROW_BIAS:
        sum_input(&sum, pairs, wide, ROW_HEADS);
        break;
    case AR_EVOFORMER_ROW_INPUT: /* queries, keys, values, gates */
        sum_input(&sum, s * r / p, narrow, 4 * narrow);
        break;
    case AR_EVOFORMER_ROW:
        sum_attention(&sum, s / p, r, ROW_HEADS, narrow, true);
        break;
    case AR_EVOFORMER_COLUMN:
        sum_input(&sum, s * r / p, narrow, 4 * narrow);
        sum_attention(&sum, r / p, s, ROW_HEADS, narrow, !block->is_extra);
        sum_transition(&sum, s * r / p, narrow);
        break;
    case AR_EVOFORMER_OUTER_INPUT:
        sum_input(&sum, s * r / p, narrow, 2 * OUTER_CHANNELS);
        break;
    case AR_EVOFORMER_OUTER:
        sum_outer(&sum, s, r, p, wide);
        break;
    case AR_EVOFORMER_TRIANGLE_INPUT: /* two factors and their gates */
        sum_input(&sum, pairs, wide, 4 * wide);
        sum_memory(&sum, 6, (double)(pairs * wide));
        break;
    case AR_EVOFORMER_TRIANGLE_GATE:
        sum_product(&sum, 1, pairs, wide, wide);
        sum_memory(&sum, 2, (double)(pairs * wide));
        break;
    case AR_EVOFORMER_TRIANGLE:
        sum_triangle(&sum, r, p, wide);
        break;
    case AR_EVOFORMER_PAIR_BIAS:
        sum_input(&sum, pairs, wide, PAIR_HEADS);
        break;
    case AR_EVOFORMER_PAIR_INPUT:
        sum_product(&sum, 1, pairs, 4 * wide, wide);
        break;
    case AR_EVOFORMER_PAIR:
        sum_attention(&sum, r / p, r, PAIR_HEADS, wide, true);
        break;
    case AR_EVOFORMER_TRANSITION:
        sum_transition(&sum, pairs, wide);
        break;
    }
    return sum.time_s;
}

double ar_evoformer_bytes(const struct ar_evoformer_block *block, enum ar_evoformer_tensor tensor,
                          enum ar_precision precision)
{
    const struct ar_evoformer *model = block->model;
    double r = (double)model->residues, bytes = ar_stored_bytes(precision);
    double s = (double)(block->is_extra ? model->extra_sequences : model->sequences);
    double narrow = (double)(block->is_extra ? model->extra_channels : model->msa_channels);
    double wide = (double)model->pair_channels;
    switch (tensor) {
    case AR_EVOFORMER_ROW_BIASES:
        return r * r * ROW_HEADS * bytes;
    case AR_EVOFORMER_OUTER_FACTORS:
        return s * r * OUTER_CHANNELS * bytes;
    case AR_EVOFORMER_TRIANGLE_FACTORS:
        return r * r * wide * bytes;
    case AR_EVOFORMER_PAIR_BIASES:
        return r * r * PAIR_HEADS * bytes;
    case AR_EVOFORMER_MSA_PARTS:
        return s * r * narrow * bytes / block->parts;
    default:
        return r * r * wide * bytes / block->parts;
    }
}
