/** \file ar_log.h
 * Measured collectives, read from the logs of the programs that measured them.
 *
 * A file holds one run or several: a job script that ran three tests leaves three, a table of
 * several GPU counts has one per count. All are delivered, in the order of the file, each with its
 * lines. What a log does not say is not guessed: counts are 0, numbers NaN, texts empty.
 *
 * The format is found from the content (README.md of the folder says which versions were read):
 * - nccl-tests text: 12 columns (before 2.13), 13 with `root`, 21 with `-I 1`; columns are found by
 *   the header, so that time stamps and further columns do no harm;
 * - nccl-tests JSON (`-J`), schema 1 to 3 and the unnumbered one before;
 * - OSU micro-benchmarks: osu_latency, osu_bw, osu_allreduce and other collectives;
 * - CSV of the project's own harness, and its tables of published measurements.
 *
 * Sizes are what nccl-tests prints as `size`: of an all-reduce, broadcast or reduce the bytes of
 * one rank's buffer, of the others the bytes of all ranks' parts together (OSU prints its own
 * sizes: of all-gather, all-to-all, gather and scatter one part). algbw is size / time. busbw is
 * algbw times 2(N-1)/N for all-reduce, (N-1)/N for all-gather, reduce-scatter, all-to-all, gather
 * and scatter, 1 for the rest. Both are recomputed from time, size and ranks; printed ones that are
 * far from that are an error, since then something in the file is not what it seems.
 *
 * Every error is one line that begins with `path:line:`, or `path:` where no line is to blame.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ar_csv.h"
#include "ar_error.h"
#include "ar_operation.h"

/** Largest file that is read, and largest JSON file, whose tree takes several times its size. */
#define AR_LOG_BYTES_MAX      ((size_t)512 * 1024 * 1024)
#define AR_LOG_JSON_BYTES_MAX ((size_t)64 * 1024 * 1024)

enum ar_log_format {
    AR_LOG_NCCL_TEXT,
    AR_LOG_NCCL_JSON,
    AR_LOG_OSU,
    AR_LOG_HARNESS,
    AR_LOG_PUBLISHED,
};

enum ar_log_collective {
    AR_LOG_OTHER, /**< something else; `collective_name` has the log's word for it */
    AR_LOG_ALL_REDUCE,
    AR_LOG_REDUCE_SCATTER,
    AR_LOG_ALL_GATHER,
    AR_LOG_REDUCE,
    AR_LOG_BROADCAST,
    AR_LOG_ALL_TO_ALL,
    AR_LOG_SEND_RECV,
    AR_LOG_GATHER,
    AR_LOG_SCATTER,
    AR_LOG_SEND,
    AR_LOG_LATENCY,   /**< one message from rank to rank, half a round trip */
    AR_LOG_BANDWIDTH, /**< many messages in flight from rank to rank */
};

/** Name of a collective (`all-reduce`); static storage. */
const char *ar_log_collective_name(enum ar_log_collective collective);

/** Its operation; NULL: there is none here, as of send-receive, where each rank does both. */
const struct ar_operation *ar_log_operation(enum ar_log_collective collective);

/** One measured way of a row. */
struct ar_log_timing {
    double time_s;    /**< NaN if not measured, otherwise above zero */
    double algbw_Bps; /**< as printed; NaN if not */
    double busbw_Bps; /**< as printed; NaN if not */
    double wrong;     /**< elements with a wrong result; NaN if not checked */
};

enum { AR_LOG_WORD = 24 };

struct ar_log_row {
    uint64_t line; /**< in the file; of JSON, where its document begins */
    uint64_t payload_bytes;
    uint64_t count;             /**< elements as nccl-tests prints them; 0 if unknown */
    char datatype[AR_LOG_WORD]; /**< as printed (`float`, `half`, `float16`); may be empty */
    char redop[AR_LOG_WORD];    /**< `sum`, `max`, ...; empty or `none` */
    double root;                /**< rank as printed, -1 for none; NaN if unknown */
    struct ar_log_timing out_of_place;
    struct ar_log_timing in_place;
};

enum { AR_LOG_TEXT = 96 };

/** A line that NCCL logs with NCCL_DEBUG=INFO: `Using network IB`. */
struct ar_log_message {
    const char *text;
    uint64_t line, pid;
};

/** One run: rows measured with the same program on the same ranks. */
struct ar_log {
    enum ar_log_format format;
    enum ar_log_collective collective;
    /** The log does not name the collective, its numbers do: all-to-all then looks like all-gather,
     * send-receive of 2 ranks like all-reduce. */
    bool is_inferred;
    char collective_name[AR_LOG_TEXT]; /**< as the log says it; may be empty */
    const char *path;                  /**< name of the file; owned by the ar_logs */
    uint64_t first_line, last_line;
    char tool[AR_LOG_TEXT];    /**< `nccl-tests 2.17.6`, `OSU 7.3`; of the harness its backend */
    char library[AR_LOG_TEXT]; /**< `NCCL 2.8.4`; empty if unknown */
    char gpu[AR_LOG_TEXT];     /**< `Tesla V100-SXM2-16GB`, of rank 0; empty if unknown */
    /** Ranks that take part in one collective, and the hosts they are on; 0 if unknown. Who knows
     * them from elsewhere may set them before ar_log_check(). */
    uint32_t ranks, nodes;
    bool is_complete;            /**< the program's closing lines are there */
    bool is_graph;               /**< its calls are launched as a CUDA graph (-G) */
    uint64_t out_of_bounds;      /**< wrong results that the closing lines count */
    char system[AR_LOG_TEXT];    /**< machine, of a table of several; these three else empty */
    char grid[AR_LOG_WORD];      /**< lengths of the torus of its nodes: `4x4x4` */
    char remark[AR_LOG_TEXT];    /**< `UCX_MAX_RNDV_RAILS=1` */
    bool has_gpu_buffers;        /**< tables of MPI: the buffers lie on GPUs */
    char algorithm[AR_LOG_TEXT]; /**< of the harness; of tables of MPI its word; else empty */
    char shape[AR_LOG_TEXT];     /**< in tables of the harness: these three, else empty and 0 */
    char tier[AR_LOG_TEXT];
    uint32_t channels;
    struct ar_log_row *rows;
    size_t rows_count;
    struct ar_log_message *messages; /**< of text of nccl-tests, by processes that it lists */
    size_t messages_count;
    struct ar_arena *arena; /**< the arena of the ar_logs */
};

struct ar_logs {
    const char *path;
    struct ar_log *runs;
    size_t runs_count;
    const struct ar_csv *csv; /**< the CSV file, with its `# key: value` lines; else NULL */
    struct ar_arena *arena;   /**< all of this lies in it */
};

/** Reads a file (or a pipe) in any of the formats into an arena. On success at least one run has
 * rows; a run of a test that failed may have none. Errors: AR_NO_INPUT when the file
 * cannot be read, AR_BAD_DATA for its content. */
enum ar_status ar_logs_load(const char *path, struct ar_arena *arena, struct ar_logs **logs,
                            struct ar_error *err);

/** Reads a text in memory in the same way; `path` names it in messages. */
enum ar_status ar_logs_parse(const char *path, const char *text, size_t bytes,
                             struct ar_arena *arena, struct ar_logs **logs, struct ar_error *err);

/** Refuses a line of a run, with what was found and expected. */
#define AR_LOG_REFUSE(found, run, line, err, ...)                                                  \
    AR_REFUSE_LINE(found, err, (run)->path, line, __VA_ARGS__)

/** Checks that `run` can be compared with a model: it has rows of bytes, a known number of ranks
 * above one, right results and one datatype. Else AR_BAD_DATA; a line says what is in the way. */
enum ar_status ar_log_check(const struct ar_log *run, struct ar_error *err);
