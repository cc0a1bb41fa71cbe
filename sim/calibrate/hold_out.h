/** \file hold_out.h
 * Which measured rows are fitted, and which are held out to say how well others are predicted.
 */
#ifndef AR_HOLD_OUT_H
#define AR_HOLD_OUT_H

#include "ar_measured.h"

/** Splits the counts of the rows (ar_measured_groups()) as the request says. By default the largest
 * one is held out; with one count there is nothing to hold. AR_USAGE for counts that nobody
 * measured or that leave nothing to fit. */
enum ar_status hold_out_split(const struct ar_calibrate_request *request,
                              const struct ar_measured *measured, struct ar_library_nodes *fitted,
                              struct ar_library_nodes *held_out, struct ar_error *err);

#endif
