/** \file ar_row.h
 * A result row: what every command prints and every sweep stores.
 *
 * CSV, JSON, tables and the documentation come from one list of columns (ar_record.h). Names carry
 * their unit: `_s` seconds, `_bytes`, `_Bps` bytes per second, `_frac` a ratio. A value that does
 * not apply, or that is no finite number, is empty in CSV and null in JSON.
 */
#pragma once

#include <stdio.h>

#include "ar_record.h"

/** The remark of tables on rows that are not exact; its source is sim/engine/README.md. */
#define AR_ROW_ESTIMATED                                                                           \
    "estimated; recurrence is 0 to 0.3 % (median all-reduce, worst 31) off simgrid"

/* clang-format off */
/** Columns in order: kind (text, word, count, number or flag), name, meaning, look in a table. */
#define AR_COLUMN_LIST(X) \
    X(text, cluster, "cluster name") \
    X(word, trace, "name of the trace or workload; empty for a bare collective", .heading = "workload") \
    X(count, batch_per_gpu, "samples per GPU and step") \
    X(word, precision, "of compute, and of gradients unless wire differs") \
    X(count, gpus, "ranks of all groups", .heading = "gpus") \
    X(count, nodes, "nodes that hold them") \
    X(word, algorithm, "algorithm of the operation", .heading = "algorithm") \
    X(word, runnable_by, "libraries that run the algorithm by themselves, each with its first release", .heading = "runnable by") \
    X(word, shape, "XxY, what X and Y mean is the algorithm's matter; empty for the ring", .heading = "shape") \
    X(count, channels, "rings, or pairs of trees, over which the payload is split", .heading = "channels") \
    X(word, engine, "engine that produced the row", .heading = "engine") \
    X(count, payload_bytes, "bytes as nccl-tests counts them; of a step, those of all buckets", \
      .heading = "payload (B)") \
    X(number, iteration_s, "time of one training step: compute_s + exposed_s + input_wait_s + bubble_s", \
      .heading = "iteration\n(ms)", .factor = 1e3, .decimals = 3) \
    X(number, compute_s, "overhead, forward, backward and optimizer of one GPU", \
      .heading = "compute\n(ms)", .factor = 1e3, .decimals = 3) \
    X(number, allreduce_s, "time the communication stream is busy, all buckets; of a bare collective its time", \
      .heading = "allreduce\n(ms)", .factor = 1e3, .decimals = 3) \
    X(number, exposed_s, "what a step takes beyond compute_s, input_wait_s and bubble_s", \
      .heading = "exposed\n(ms)", .factor = 1e3, .decimals = 3) \
    X(number, samples_per_s, "samples per second of all GPUs", .heading = "samples/s") \
    X(number, efficiency_frac, "samples per second and GPU, over that of the baseline", \
      .heading = "efficiency\n(%)", .factor = 100, .decimals = 2) \
    X(word, baseline, "what is 100 %: gpu (one, compute only) or node (one, flat ring); of layouts so many gpus", .heading = "of one") \
    X(count, messages_count, "messages of the step, all ranks, channels and buckets", .heading = "messages") \
    X(number, wall_s, "real time the engine took") \
    X(word, version, "version of Allreckon") \
    X(count, window, "messages a rank may have in flight per channel") \
    X(word, bucket, "fusion rule") \
    X(count, buckets_count, "all-reduces per step") \
    X(number, forward_s, "forward pass") \
    X(number, backward_s, "backward pass") \
    X(number, optimizer_s, "optimizer step") \
    X(number, overhead_s, "per-step time outside layers and optimizer") \
    X(number, setup_s, "constant part of allreduce_s, by the closed form") \
    X(number, latency_s, "latency part of allreduce_s, by the closed form") \
    X(number, bandwidth_s, "bandwidth part of allreduce_s, by the closed form") \
    X(number, reduction_s, "reduction part of allreduce_s, by the closed form") \
    X(number, algbw_Bps, "payload / time, bare collective only", \
      .heading = "algbw\nGB/s", .factor = 1e-9, .decimals = 3) \
    X(number, busbw_Bps, "algbw times the operation's factor for N ranks of a group, as in nccl-tests: 2(N-1)/N of an all-reduce", \
      .heading = "busbw\nGB/s", .factor = 1e-9, .decimals = 3) \
    X(number, jitter_frac, "coefficient of variation of compute times per rank and step") \
    X(count, seed, "of the jitter") \
    X(count, iterations_count, "steps averaged over") \
    X(number, iteration_ci95_s, "half the 95 % confidence interval of iteration_s") \
    X(text, settings, "--set values, then slow-link=, down-link=, straggler=, term= and samples-per-s-at= ones") \
    X(text, engine_options, "engine version and pinned options") \
    X(number, low_s, "95 % band of iteration_s, or of a bare allreduce_s; engine library", \
      .heading = "low\n(ms)", .factor = 1e3, .decimals = 3) \
    X(number, high_s, "its upper end", .heading = "high\n(ms)", .factor = 1e3, .decimals = 3) \
    X(number, gradient_scale, "what gradient elements were multiplied by; empty for a bare collective") \
    X(word, framework, "what happens between the layers: name of its terms, or none") \
    X(word, wire, "precision of gradients on the wire") \
    X(number, copy_s, "part of allreduce_s: packing and unpacking of buckets") \
    X(number, contention_s, "part of exposed_s: the backward pass is slower beside all-reduces") \
    X(number, input_wait_s, "the step waits for its input") \
    X(flag, exact, "no: the engine neglects something here; empty: it does not say", \
      .heading = "", .mark = "~", .legend = AR_ROW_ESTIMATED) \
    X(text, status, "ok, or why the row has no result", .heading = "status", .usual = "ok") \
    X(word, operation, "what the collective achieves: allreduce, allgather, ...", .heading = "operation") \
    X(text, mesh, "axes of the GPUs, outermost first; empty: one group", .heading = "mesh") \
    X(text, along, "the axes along which the collective runs", .heading = "along") \
    X(count, groups, "groups in which it runs at once; empty without a mesh", .heading = "groups") \
    X(count, root, "place of the root in its group; empty where there is none", .heading = "root") \
    X(count, global_batch, "sequences of a step of a workload, all GPUs") \
    X(count, micro_batch, "sequences that a replica works on at a time", .heading = "micro\nbatch") \
    X(word, strategy, "what becomes of replicas: data, zero1, ssp:3, ...; or of one model: rotate, ...", \
      .heading = "strategy") \
    X(word, schedule, "of the pipeline: gpipe, 1f1b, interleaved:V; of operators their placement; depth and rounds", \
      .heading = "schedule") \
    X(word, recompute, "what the backward pass computes again: none, selective, selective:mlp, full, full:K, ...", .heading = "recompute") \
    X(flag, sequence_parallel, "tensor parallelism splits norms and residuals by tokens") \
    X(word, attention, "how attention is computed: unfused, flash1, flash2") \
    X(flag, overlap, "gradients are summed beside the last backward pass") \
    X(count, prefetch, "layers whose parameters zero3 gathers ahead") \
    X(number, imbalance, "tokens of the fullest experts over the mean; empty without experts") \
    X(number, tokens_per_s, "tokens per second of all GPUs", .heading = "tokens/s") \
    X(number, tflops_per_gpu, "1e12 floating-point operations per second and GPU, what is recomputed in full counted", \
      .heading = "Tflop/s\nper gpu", .decimals = 1) \
    X(number, mfu_frac, "operations that the model needs, recomputation not counted, over the peak of the GPUs", \
      .heading = "mfu\n(%)", .factor = 100, .decimals = 1) \
    X(number, bubble_s, "a stage of the pipeline waits for another one, mean over the stages; or a worker for slower ones", \
      .heading = "waiting\n(ms)", .factor = 1e3, .decimals = 3) \
    X(number, bubble_frac, "bubble_s without slowest_s, / compute_s: (p-1)/(m V) where messages are free and stages alike", \
      .heading = "bubble\n(%)", .factor = 100, .decimals = 1) \
    X(number, exposed_pp_s, "part of exposed_s: messages between stages", .heading = "exposed\npp (s)", .decimals = 4) \
    X(number, exposed_dp_s, "part of exposed_s: gradients and parameters of replicas", \
      .heading = "exposed\ndp (s)", .decimals = 4) \
    X(number, exposed_ep_s, "part of exposed_s: tokens on their way to experts and back; or of replicas along ep", \
      .heading = "exposed\nep (s)", .decimals = 4) \
    X(number, exposed_tp_s, "part of exposed_s: collectives of tensor parallelism", \
      .heading = "exposed\ntp (s)", .decimals = 4) \
    X(number, exposed_cp_s, "part of exposed_s: keys and values of context parallelism; or of replicas along cp alone", \
      .heading = "exposed\ncp (s)", .decimals = 4) \
    X(number, memory_bytes, "of the fullest GPU: parameters, gradients, optimizer, activations", \
      .heading = "memory\n(GB)", .factor = 1e-9, .decimals = 1) \
    X(flag, fits, "memory_bytes is at most gpu.memory", \
      .heading = "", .mark = "!", .legend = "does not fit into gpu.memory") \
    X(number, slowest_s, "part of bubble_s: the expected wait for the slowest GPU, whose times spread by 2 % where no --jitter says") \
    X(number, reserved_bytes, "what PyTorch's allocator takes for memory_bytes while there is room: 1.2 times as much, at most gpu.memory") \
    X(number, busiest_frac, "share of a step of a workload in which its busiest link is busy, also while computations hide it", \
      .heading = "busiest\nlink (%)", .factor = 100, .decimals = 1) \
    X(number, energy_j, "joules in links of all GPUs, of a step of a workload also in products and memory; not idle power, operands in caches, optimizer, hosts, cooling")
/* clang-format on */

enum { AR_ROW_TEXT = AR_CELL_TEXT };
#define AR_ROW_NO_COUNT AR_NO_COUNT

struct ar_row {
    AR_COLUMN_LIST(AR_LIST_FIELD)
};

_Static_assert(sizeof(struct ar_row) < 4096, "rows are small enough for the stack");

/** All columns: those of CSV and JSON. */
extern const struct ar_columns ar_row_columns;

/** The rows of a table have one kind, which decides its columns. */
enum ar_row_kind { AR_ROW_BARE, AR_ROW_STEP, AR_ROW_LAYOUT, AR_ROW_KINDS };

/** The kind of a filled row. */
enum ar_row_kind ar_row_kind_of(const struct ar_row *row);

/** The columns of a table: those that people read first, behind which are all for --columns. */
enum { AR_ROW_COLUMNS_MAX = 180 };
struct ar_row_table {
    struct ar_column list[AR_ROW_COLUMNS_MAX];
    size_t count;
};
void ar_row_table_make(enum ar_row_kind kind, struct ar_row_table *table);

/** Writes rows of one kind to a file; write errors are left for ferror(). */
void ar_rows_write(FILE *file, const struct ar_view *view, const struct ar_row *rows, size_t count);

/* --- what a reader should know beside rows --- */

/** Writes `allreckon: note: ` and a line to `notes`, NULL where notes are not wanted; control
 * characters of what it quotes become blanks. The command line holds them back: those of a command
 * that ends with an error are shown only if they were flushed before. */
void ar_note(FILE *notes, const char *format, ...) __attribute__((format(printf, 2, 3)));

/** Shows the notes so far: checks are over, and long work or output follows. */
void ar_note_flush(FILE *notes);
