/** \file test_cluster_file.h
 * For tests: a cluster from a file, which must load.
 */
#pragma once

#include "ar_cluster.h"
#include "test_outcome.h"
#include "test_setting.h"

enum { TEST_SETTINGS_MAX = 32 };

/** Loads, failing the test with the error line; `settings` ends with NULL and may be NULL. */
static inline struct ar_cluster *test_cluster_of_file(const char *path, const char *const *settings,
                                                      struct ar_arena *arena)
{
    size_t count = 0;
    while (settings != NULL && settings[count] != NULL) {
        count++;
    }
    struct ar_cluster *cluster = NULL;
    struct ar_setting list[TEST_SETTINGS_MAX];
    cr_assert(count <= TEST_SETTINGS_MAX);
    TEST_OK(ar_cluster_load(path, ar_settings_of_option("--set", settings, count, list), arena,
                            &cluster, &why));
    return cluster;
}
