/** \file test_cluster_load.h
 * Clusters for tests: loading that must work.
 */
#ifndef AR_TEST_CLUSTER_LOAD_H
#define AR_TEST_CLUSTER_LOAD_H

#include "ar_cluster.h"
#include "test_topo_files.h"

/** Loads, failing the test with the error line; `settings` ends with NULL and may be NULL. */
struct ar_cluster *test_load(const char *path, const char *const *settings);

/** Loads the small cluster of test_topo_files.h with settings. */
struct ar_cluster *test_load_small(const char *const *settings);

#endif
