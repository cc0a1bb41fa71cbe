/** \file log_options.h
 * The options of commands that read measured rows, as a request.
 */
#ifndef AR_LOG_OPTIONS_H
#define AR_LOG_OPTIONS_H

#include "ar_calibrate.h"
#include "options.h"

/** Parses what calibrate and compare have in common. Texts and lists are those of the options and
 * of the scenario, which stays where it is. */
enum ar_status log_options_parse(const struct options *options, const struct ar_scenario *scenario,
                                 struct ar_calibrate_request *request, struct ar_error *err);

#endif
