/** \file ar_new_machine.h
 * Predictions of a machine without rows of its own, by what all other measured machines tell.
 *
 * The parameters of a machine differ by factors from the constants of the library's release and the
 * machine's specification. The factors are a linear mixed model (ar_hierarchy.h): a mean, a
 * deviation of the generation of the GPUs, for what crosses the network of the kind of HCAs, for
 * the ramps of a kernel of the release, and one of the machine. Calls have the parameters of
 * ar_library_fit.h: rows of all machines are linearised at its present factors, ten times
 * (Gauss-Newton), with Huber's weights. Messages (all-to-all) have the numbers of ar_link_fit.h, as
 * the fit of each set found them.
 *
 * Factors of the network are held close to 1: most kinds of HCAs were measured on one or two
 * machines, and machines that are left out are predicted better by the constants themselves.
 */
#pragma once

#include "ar_estimate.h"
#include "ar_hierarchy.h"
#include "ar_measured_set.h"
#include "ar_record.h"

/** Factors and bands for calls and for messages. */
enum ar_learnt_part { AR_LEARNT_CALLS, AR_LEARNT_MESSAGES, AR_LEARNT_PARTS };

/** Factors that the rows of one set tell. */
struct ar_learnt_set {
    const struct ar_set_rows *rows;
    struct ar_tuning tuning; /**< of its calls, */
    size_t calls_count;      /**< of at least 1 KiB; 0: none */
    struct ar_hierarchy_group groups[AR_LEARNT_PARTS];
    bool has_messages;
};

struct ar_learnt {
    struct ar_learnt_set *sets; /**< with room for all */
    size_t sets_count;
};

/** Adds a set, with nothing fitted and fitted to all of its rows; one without a machine's name adds
 * nothing. */
enum ar_status ar_learnt_add(struct ar_learnt *learnt, const struct ar_set_rows *rows,
                             const struct ar_estimate *unfitted, const struct ar_estimate *fitted,
                             struct ar_error *err);

/** The factors of calls and of messages by all machines but one (`without`, NULL: all). */
struct ar_learnt_factors {
    struct ar_hierarchy parts[AR_LEARNT_PARTS];
};

enum ar_status ar_learnt_solve(struct ar_learnt *learnt, const char *without,
                               struct ar_learnt_factors *factors, struct ar_error *err);

/** A factor as it is written. */
struct ar_learnt_factor {
    ar_cell_string part;               /**< `calls` or `messages` */
    ar_cell_string parameter;          /**< of ar_library_fit.h, or a key of cluster files */
    ar_cell_string class;              /**< generation of GPUs, kind of HCAs, or releases */
    ar_cell_number factor, error_frac; /**< its standard error is that of its logarithm */
    ar_cell_count sets;                /**< measured ones of this class */
};

extern const struct ar_columns ar_learnt_factor_columns;

/** Lists the factors of all classes (0 sets: the mean of the others); all of it is the arena's. */
struct ar_learnt_factor *ar_learnt_list(const struct ar_learnt *learnt,
                                        const struct ar_learnt_factors *factors,
                                        struct ar_arena *arena, size_t *count);

/** The factors that a list has for a machine of these GPUs and HCAs with this release of the
 * library; of its kinds of rows nothing is known. */
struct ar_machine_factors ar_learnt_machine_factors(const struct ar_learnt_factor *rows,
                                                    size_t count,
                                                    const struct ar_cluster_facts *facts,
                                                    const struct ar_release *release);

/** How well rows of one kind (AR_MACHINE_KINDS) are predicted on machines that are left out, as it
 * is written. */
struct ar_learnt_kind {
    ar_cell_string kind;          /**< `calls in a node from 1 MiB on` */
    ar_cell_count machines, rows; /**< those of at least 1 KiB */
    ar_cell_number unfitted_frac; /**< median of |predicted / measured - 1|, nothing fitted, */
    ar_cell_number factors_frac;  /**< and with the factors */
    ar_cell_flag has_factors;     /**< these are better */
    ar_cell_number reach;         /**< half of the 95 % band (ar_conformal.h); NAN: none */
};

extern const struct ar_columns ar_learnt_kind_columns;
extern const char *const ar_learnt_kind_names[AR_MACHINE_KINDS];

/** Reads factors.csv and kinds.csv of `folder` (empty, or with the slash at its end) for a machine
 * of these GPUs and HCAs, and a release of the library. */
enum ar_status ar_machine_factors_read(const char *folder, const struct ar_cluster_facts *facts,
                                       const struct ar_release *release,
                                       struct ar_machine_factors *factors, struct ar_error *err);
