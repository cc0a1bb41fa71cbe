/** \file walks.h
 * Private to this folder: how the walks of a node are found.
 */
#ifndef AR_TOPO_WALKS_H
#define AR_TOPO_WALKS_H

#include "fabric.h"

/** The walks of a node, a pure function of its NVLink pairs and HCAs; `count` is 0 if they are the
 * plain zigzags. */
void ar_topo_find_walks(const struct ar_topo_values *values, struct ar_walks *walks);

/** Searches walks along NVLinks alone, by backtracking with a limited number of steps:
 *
 * - from the last GPU back to the first there is an NVLink, too, if such walks are found;
 * - begins and ends are spread evenly over the HCAs (ar_walks.h);
 * - with 1 HCA or an even number of them, each odd walk is the one before it backwards, if such
 *   walks are found;
 * - the largest load of an NVLink (walks over weight) is least for all walks together, then for the
 *   first ones among such sets. Least as far as the search went: it gives up a bound after a fixed
 *   number of steps.
 *
 * Their number is the least that could fill all NVLinks of a GPU and serve all HCAs evenly, 64 at
 * most; if these are not found, the least that serves the HCAs evenly. False, with `count` 0, if
 * none are found. */
bool ar_topo_search_walks(const struct ar_topo_values *values, struct ar_walks *walks);

#endif
