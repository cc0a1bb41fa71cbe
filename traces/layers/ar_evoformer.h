/** \file ar_evoformer.h
 * The Evoformer of AlphaFold 2 (Jumper et al., Nature 596 (2021), supplement, algorithms 6 to 15):
 * its shape, and what the parts of a block cost one GPU.
 *
 * A block works on s sequences of r residues with c_m channels (MSA), and on r x r pairs with c_z.
 * Dynamic axial parallelism (FastFold: Cheng et al., arXiv:2203.00854) cuts both along one of their
 * first two axes over p GPUs; a part needs 1/p of the time, but for what kernels take at least. The
 * extra stack has few blocks with more sequences, fewer channels and an attention along columns
 * that keeps no scores.
 *
 * Products by the cost table; norms, gates, softmax and residuals are bound by memory, as often as
 * evoformer.c says. The backward pass takes each kernel twice. Templates, embeddings, the structure
 * module and the losses are left out.
 */
#pragma once

#include "ar_csv.h"
#include "ar_device_cost.h"

struct ar_evoformer {
    const char *name;
    uint64_t blocks, sequences, msa_channels;
    uint64_t extra_blocks, extra_sequences, extra_channels;
    uint64_t residues, pair_channels;
    double passes;     /**< forward passes of a step on average, with recycling */
    double parameters; /**< parameters of the whole model, whose gradients are summed */
    bool is_inference; /**< no backward pass follows */
    const char *source;
};

/** The columns of a table of named ones (traces/operators/evoformers.csv). */
extern const struct ar_columns ar_evoformer_columns;

/** Parts of a block: computations between two collectives. */
enum ar_evoformer_part {
    AR_EVOFORMER_ROW_BIAS, /**< bias from the pairs, for the attention along rows of the MSA */
    AR_EVOFORMER_ROW_INPUT,
    AR_EVOFORMER_ROW,
    AR_EVOFORMER_COLUMN, /**< attention along columns, and the transition */
    AR_EVOFORMER_OUTER_INPUT,
    AR_EVOFORMER_OUTER, /**< mean of outer products */
    AR_EVOFORMER_TRIANGLE_INPUT,
    AR_EVOFORMER_TRIANGLE_GATE,
    AR_EVOFORMER_TRIANGLE, /**< a product over the third corner */
    AR_EVOFORMER_PAIR_BIAS,
    AR_EVOFORMER_PAIR_INPUT,
    AR_EVOFORMER_PAIR, /**< attention around a corner */
    AR_EVOFORMER_TRANSITION
};

/** A block of one of the stacks over some GPUs. */
struct ar_evoformer_block {
    const struct ar_evoformer *model;
    bool is_extra;
    uint32_t parts; /**< GPUs; divide residues and sequences */
};

/** Time of a part in the forward pass. */
double ar_evoformer_part_s(const struct ar_evoformer_block *block, enum ar_evoformer_part part,
                           const struct ar_device_cost *cost, enum ar_precision precision);

/** Tensors that are sent between parts, in bytes as nccl-tests counts them: gathered are the bias
 * of heads, one factor of outer products and triangles; all-to-alls turn rows into columns. */
enum ar_evoformer_tensor {
    AR_EVOFORMER_ROW_BIASES,
    AR_EVOFORMER_OUTER_FACTORS,
    AR_EVOFORMER_TRIANGLE_FACTORS,
    AR_EVOFORMER_PAIR_BIASES,
    AR_EVOFORMER_MSA_PARTS,
    AR_EVOFORMER_PAIR_PARTS
};
double ar_evoformer_bytes(const struct ar_evoformer_block *block, enum ar_evoformer_tensor tensor,
                          enum ar_precision precision);
