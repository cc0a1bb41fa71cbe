/** \file test_topo_files.h
 * Cluster files for tests: a small valid one, shipped ones, and files made from text.
 */
#pragma once

#include <stddef.h>

/** Room enough for the name of a temporary file. */
enum { TEST_PATH_SIZE = 512 };

/** A small valid cluster: 6 nodes of 4 GPUs in racks of 2, 2 PCIe switches, 2 HCAs. */
extern const char test_small_cluster[];

/** Writes `size` bytes to a new file under the build folder; the caller unlinks it. */
const char *test_file_make(const char *content, size_t size, char path[TEST_PATH_SIZE]);

/** Path of a shipped cluster. */
const char *test_shipped_path(const char *name, char path[TEST_PATH_SIZE]);
