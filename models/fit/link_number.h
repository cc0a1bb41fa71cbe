/** \file link_number.h
 * Private to this folder: the numbers of a cluster before and after a fit.
 */
#ifndef AR_LINK_NUMBER_H
#define AR_LINK_NUMBER_H

#include "ar_fit.h"
#include "ar_link_fit.h"

/** A number that nothing is fitted to. */
struct ar_link_number ar_link_number_start(const struct ar_cluster *cluster,
                                           enum ar_link_cost cost);

/** Takes what a fit found of a parameter. */
void ar_link_number_take(const struct ar_fit *fit, size_t parameter, struct ar_link_number *number);

#endif
