/** \file test_files.h
 * Cluster files for tests: a small valid one, files made from text, and loading that must work.
 */
#ifndef AR_TEST_FILES_H
#define AR_TEST_FILES_H

#include "ar_cluster.h"

/** Room enough for the name of a temporary file. */
enum { TEST_PATH_SIZE = 512 };

/** A small valid cluster: 6 nodes of 4 GPUs in racks of 2, 2 PCIe switches, 2 HCAs. */
extern const char test_small_cluster[];

/** Writes `size` bytes to a new file under the build folder; the caller unlinks it. */
const char *test_file_make(const char *content, size_t size, char path[TEST_PATH_SIZE]);

/** Path of a shipped cluster. */
const char *test_shipped_path(const char *name, char path[TEST_PATH_SIZE]);

/** Loads, failing the test with the error line; `settings` ends with NULL and may be NULL. */
struct ar_cluster *test_load(const char *path, const char *const *settings);

/** Loads the small cluster with settings. */
struct ar_cluster *test_load_small(const char *const *settings);

#endif
