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

/** Room for the names of the links of a path. */
enum { TEST_NAMES_SIZE = 2048, TEST_DOWN_MAX = 8 };

/** Writes the names of the links of the path from rank a to rank b, in order, with blanks between;
 * nothing where there is no way. */
const char *test_link_names(const struct ar_cluster *cluster, uint32_t a, uint32_t b,
                            char text[TEST_NAMES_SIZE]);

/** Takes links down, by names; at most TEST_DOWN_MAX. */
enum ar_status test_take_down(struct ar_cluster *cluster, const char *const *names, size_t count,
                              struct ar_error *err);

/** Loads the small cluster with settings and takes links of it down; the status of that or, after
 * it, of all its GPUs reaching each other. */
enum ar_status test_load_down(const char *const *settings, const char *const *down, size_t count,
                              struct ar_cluster **cluster, struct ar_error *err);

#endif
