/** \file ar_estimate.h
 * Predictions of measured rows: from what is known of the machine beforehand, or by a fit to some
 * of them.
 *
 * Calls of a library are predicted by its cost model (models/library), messages by the closed form
 * of their algorithm on the numbers of the cluster (models/fit). With nothing fitted these are
 * the priors of the cost model, and the numbers of the cluster file. Messages are fitted to runs of
 * at most AR_ESTIMATE_RANKS_MAX ranks.
 */
#pragma once

#include "ar_library_fit.h"
#include "ar_measured.h"

/** Ranks of messages that are fitted; all are predicted. A choice: a fit then takes seconds. */
enum { AR_ESTIMATE_RANKS_MAX = 256 };

struct ar_estimate {
    bool has_library; /**< calls were fitted; else the library has its priors */
    struct ar_library library;
    bool has_links; /**< messages were fitted: */
    struct ar_link_fit links;
    /** One for each row. A time that could not be predicted is NAN, and so are the ends of a band
     * where no messages were fitted. The band of messages is the scatter of the fitted rows, wider
     * on more nodes (ar_residual_away()). */
    struct ar_library_prediction *predictions;
};

/** Whether a fit takes the row, if it is asked to. */
bool ar_estimate_takes(const struct ar_measured_row *row);

/** Gives the links of a cluster the numbers that others (`request->factors`) tell of messages. */
void ar_estimate_tell_links(const struct ar_measured_request *request, struct ar_cluster *cluster);

/** Fits calls and messages to those rows that `is_fitted` marks (NULL: nothing is fitted) and
 * predicts all. The machines of the rows are left as they were. AR_BAD_DATA if one kind of rows
 * cannot be fitted or predicted, with a line why; `*estimate` then has the other kind. */
enum ar_status ar_estimate_run(const struct ar_measured *measured, const bool *is_fitted,
                               struct ar_arena *arena, struct ar_estimate **estimate,
                               struct ar_error *err);

/** Corrects predictions by a fit: subtracts the errors that the fitted rows beside them let expect
 * (ar_residual.h), also those of more than AR_ESTIMATE_RANKS_MAX ranks. A cluster file that
 * `calibrate` writes has no such corrections. */
void ar_estimate_correct(const struct ar_measured *measured, const bool *is_fitted,
                         struct ar_arena *arena, struct ar_estimate *estimate);
