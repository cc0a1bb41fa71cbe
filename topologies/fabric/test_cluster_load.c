#include "test_cluster_load.h"
#include "test_setting.h"

#include <criterion/criterion.h>
#include <string.h>
#include <unistd.h>

enum { SETTINGS_MAX = 16 };

static struct ar_arena arena; /* of a test, which is a process */

struct ar_cluster *test_load(const char *path, const char *const *settings)
{
    size_t count = 0;
    while (settings != NULL && settings[count] != NULL) {
        count++;
    }
    struct ar_cluster *cluster = NULL;
    struct ar_error err;
    struct ar_setting list[SETTINGS_MAX];
    cr_assert(count <= SETTINGS_MAX);
    enum ar_status status = ar_cluster_load(
        path, ar_settings_of_option("--set", settings, count, list), &arena, &cluster, &err);
    cr_assert(status == AR_OK, "%s", err.text);
    return cluster;
}

struct ar_cluster *test_load_small(const char *const *settings)
{
    char path[TEST_PATH_SIZE];
    test_file_make(test_small_cluster, strlen(test_small_cluster), path);
    struct ar_cluster *cluster = test_load(path, settings);
    unlink(path);
    return cluster;
}
