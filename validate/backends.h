/** \file backends.h
 * The table of the backends that this program was built with; the first one is the default.
 */
#ifndef AR_VALIDATE_BACKENDS_H
#define AR_VALIDATE_BACKENDS_H

#include "backend.h"

extern const struct backend *const backends[];
extern const size_t backends_count;

/** Finds a backend; the error says which there are, or that it is not in this build. */
enum ar_status backend_find(const char *name, const struct backend **backend, struct ar_error *err);

#endif
