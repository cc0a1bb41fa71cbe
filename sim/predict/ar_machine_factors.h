/** \file ar_machine_factors.h
 * What measured machines tell of a machine that has no rows: factors on the constants of the
 * library's release and on what the machine's specification says, and bands. They are shipped
 * (validate/data, factors.csv and kinds.csv); ar_new_machine.h makes them.
 *
 * Links in a node, and what GPUs cost, are alike on GPUs of a generation, the ramps of a kernel in
 * releases, what crosses the network on HCAs of a kind: these are the classes of a parameter.
 */
#pragma once

#include "ar_cluster.h"
#include "ar_library_fit.h"
#include "ar_record.h"

/** Factors and bands for calls and for messages. */
enum ar_learnt_part { AR_LEARNT_CALLS, AR_LEARNT_MESSAGES, AR_LEARNT_PARTS };

/** The classes of a parameter, and the number of that of a machine with this release of the library
 * (NULL: a set without calls). */
struct ar_machine_classes {
    const char *const *names;
    uint32_t count;
};

const struct ar_machine_classes *ar_machine_classes(enum ar_learnt_part part, size_t parameter);
uint32_t ar_machine_class(enum ar_learnt_part part, size_t parameter,
                          const struct ar_cluster_facts *facts, const struct ar_release *release);

/** Whether a parameter is of what crosses the network. */
bool ar_machine_is_of_net(enum ar_learnt_part part, size_t parameter);

extern const char *const ar_learnt_part_names[AR_LEARNT_PARTS];
const char *ar_machine_parameter_name(enum ar_learnt_part part, size_t parameter);

/** A factor as it is written. */
struct ar_learnt_factor {
    ar_cell_string part;               /**< `calls` or `messages` */
    ar_cell_string parameter;          /**< of ar_library_fit.h, or a key of cluster files */
    ar_cell_string class;              /**< generation of GPUs, kind of HCAs, or releases */
    ar_cell_number factor, error_frac; /**< its standard error is that of its logarithm */
    ar_cell_count sets;                /**< measured ones of this class */
};

extern const struct ar_columns ar_learnt_factor_columns;

/** Kinds of rows: calls or messages, in a node, across InfiniBand, whose constants NCCL has, or
 * another network, below 1 MiB or from there on. Calls and messages share places. */
enum { AR_MACHINE_PLACES = 6, AR_MACHINE_KINDS = 2 * AR_MACHINE_PLACES };

/** The place of rows of so many nodes and bytes on a machine with these HCAs. */
size_t ar_machine_place(uint32_t nodes, double bytes, enum ar_hca_kind hcas);

/** How well rows of a kind (AR_MACHINE_KINDS) are predicted on left-out machines, as written. */
struct ar_learnt_kind {
    ar_cell_string kind;          /**< `calls in a node from 1 MiB on` */
    ar_cell_count machines, rows; /**< those of at least 1 KiB */
    ar_cell_number unfitted_frac; /**< median of |predicted / measured - 1|, nothing fitted, */
    ar_cell_number factors_frac;  /**< and with the factors */
    ar_cell_number weight;        /**< of the logarithms of these: 0, 0.5 or 1, as is best */
    ar_cell_number reach;         /**< half of the 95 % band (ar_conformal.h); NAN: none */
};

extern const struct ar_columns ar_learnt_kind_columns;
extern const char *const ar_learnt_kind_names[AR_MACHINE_KINDS];

/** The factors of one machine: logarithms of those on calls and on the numbers of messages (which
 * the file, or ar_link_fit_open(), has), and the bands. */
struct ar_machine_factors {
    double calls[AR_LIBRARY_PARAMETERS_COUNT];
    double messages[AR_LINK_COSTS_COUNT];
    struct ar_library_told told;        /**< of calls */
    struct ar_told message_kinds[2][2]; /**< as those of calls */
};

/** The factors that a list has for a machine of these GPUs and HCAs with this release of the
 * library; of its kinds of rows nothing is known. */
struct ar_machine_factors ar_learnt_machine_factors(const struct ar_learnt_factor *rows,
                                                    size_t count,
                                                    const struct ar_cluster_facts *facts,
                                                    const struct ar_release *release);

/** The same of the shipped files, with kinds of rows. */
enum ar_status ar_machine_factors_read(const struct ar_cluster_facts *facts,
                                       const struct ar_release *release,
                                       struct ar_machine_factors *factors, struct ar_error *err);
