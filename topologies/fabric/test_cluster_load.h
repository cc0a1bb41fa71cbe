/** \file test_cluster_load.h
 * Clusters for tests: a small valid one, shipped ones, and those of a text; loading must work.
 */
#pragma once

#include "ar_cluster.h"

/** Room enough for the name of a temporary file. */
enum { TEST_PATH_SIZE = 512 };

/** A small valid cluster: 6 nodes of 4 GPUs in racks of 2, 2 PCIe switches, 2 HCAs. */
extern const char test_small_cluster[];

/** Writes `size` bytes to a new file under the build folder; the caller unlinks it. */
const char *test_file_make(const char *content, size_t size, char path[TEST_PATH_SIZE]);

/** A list of settings for the loaders below; NULL is one, too. */
#define TEST_SETTINGS(...)                                                                         \
    (const char *const[])                                                                          \
    {                                                                                              \
        __VA_ARGS__, NULL                                                                          \
    }

/** Loads a shipped cluster, one of a text, or the small one; the test fails with the error line. */
struct ar_cluster *test_load_shipped(const char *name, const char *const *settings);
struct ar_cluster *test_load_text(const char *text, const char *const *settings);
struct ar_cluster *test_load_small(const char *const *settings);

/** Room for the names of the links of a path. */
enum { TEST_NAMES_SIZE = 8192 };

/** Writes the names of the links of the path from rank a to rank b, in order, blanks between. */
const char *test_link_names(const struct ar_cluster *cluster, uint32_t a, uint32_t b,
                            char text[TEST_NAMES_SIZE]);

/** Makes links slow by one setting, which must be right. */
void test_slow_links(struct ar_cluster *cluster, const char *text);
