/** \file ar_new_machine.h
 * Predictions of a machine without rows of its own, by what all other measured machines tell.
 *
 * The parameters of a machine differ by factors from the constants of the library's release and the
 * machine's specification. The factors are a linear mixed model (ar_hierarchy.h): a mean, a
 * deviation of the generation of the GPUs, for what crosses the network of the kind of HCAs, for
 * the ramps of a kernel of the release, and one of the machine. Calls have the parameters of
 * ar_library_fit.h: rows of all machines, with errors of Student's t, are linearised at its present
 * factors, ten times (Gauss-Newton). Messages (all-to-alls that leave a node) have the numbers of
 * ar_link_fit.h, as the fit of each set found them.
 *
 * Factors of the network are held close to 1: most kinds of HCAs were measured on one or two
 * machines, and machines that are left out are predicted better by the constants themselves.
 */
#pragma once

#include "ar_estimate.h"
#include "ar_hierarchy.h"
#include "ar_machine_factors.h"
#include "ar_measured_set.h"

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

/** Adds a set, with nothing fitted and with all rows fitted; one without a machine adds nothing. */
enum ar_status ar_learnt_add(struct ar_learnt *learnt, const struct ar_set_rows *rows,
                             const struct ar_estimate *unfitted, const struct ar_estimate *fitted,
                             struct ar_error *err);

/** Factors of calls and of messages by all machines but one; by all (NULL) they have errors. */
struct ar_learnt_factors {
    struct ar_hierarchy parts[AR_LEARNT_PARTS];
};

enum ar_status ar_learnt_solve(struct ar_learnt *learnt, const char *without,
                               struct ar_learnt_factors *factors, struct ar_error *err);

/** Lists the factors of all classes (0 sets: the mean of the others); all of it is the arena's. */
struct ar_learnt_factor *ar_learnt_list(const struct ar_learnt *learnt,
                                        const struct ar_learnt_factors *factors,
                                        struct ar_arena *arena, size_t *count);
