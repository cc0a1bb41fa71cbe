/** \file fingerprint.h
 * What tells one sweep from another: a hash (FNV-1a, 64 bits) over everything that decides its
 * rows.
 *
 * It covers the values of the cluster and of the trace as they were read, not the text or the place
 * of the files, so that a comment may change and a copy will do.
 */
#ifndef AR_FINGERPRINT_H
#define AR_FINGERPRINT_H

#include "plan.h"

uint64_t fingerprint_start(void);
void fingerprint_add(uint64_t *hash, const void *bytes, size_t size);

void fingerprint_add_cluster(uint64_t *hash, const struct ar_cluster *cluster);
void fingerprint_add_trace(uint64_t *hash, const struct ar_trace *trace);

/** Adds a fitted library; NULL adds nothing. */
void fingerprint_add_library(uint64_t *hash, const struct ar_library *library);

/** The other parameters of a plan. */
void fingerprint_add_plan(uint64_t *hash, const struct plan *plan);

void fingerprint_add_point(uint64_t *hash, const struct point *point);

#endif
