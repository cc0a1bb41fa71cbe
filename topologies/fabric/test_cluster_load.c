#include "test_cluster_load.h"
#include "fabric.h"
#include "test_cluster_file.h"

#include <criterion/criterion.h>
#include <string.h>
#include <unistd.h>

static struct ar_arena arena; /* of a test, which is a process */

struct ar_cluster *test_load(const char *path, const char *const *settings)
{
    return test_cluster_of_file(path, settings, &arena);
}

struct ar_cluster *test_load_small(const char *const *settings)
{
    char path[TEST_PATH_SIZE];
    test_file_make(test_small_cluster, strlen(test_small_cluster), path);
    struct ar_cluster *cluster = test_load(path, settings);
    unlink(path);
    return cluster;
}

const char *test_link_names(const struct ar_cluster *cluster, uint32_t a, uint32_t b,
                            char text[TEST_NAMES_SIZE])
{
    struct ar_path path;
    size_t length = 0;
    ar_path_find(cluster, a, b, &path);
    text[0] = '\0';
    for (uint32_t i = 0; i < path.links_count; i++) {
        char name[64];
        ar_cluster_link_name(cluster, path.links[i], name, sizeof name);
        length += (size_t)snprintf(text + length, TEST_NAMES_SIZE - length, "%s%s",
                                   i > 0 ? " " : "", name);
    }
    return text;
}

enum ar_status test_take_down(struct ar_cluster *cluster, const char *const *names, size_t count,
                              struct ar_error *err)
{
    struct ar_setting list[TEST_DOWN_MAX];
    cr_assert(count <= TEST_DOWN_MAX);
    const struct ar_link_settings settings = {
        .down = ar_settings_of_option("--down-link", names, count, list)};
    return ar_cluster_change_links(cluster, &settings, err);
}

enum ar_status test_load_down(const char *const *settings, const char *const *down, size_t count,
                              struct ar_cluster **cluster, struct ar_error *err)
{
    *cluster = test_load_small(settings);
    AR_TRY(test_take_down(*cluster, down, count, err));
    return ar_cluster_check_reach(*cluster, (uint32_t)ar_cluster_gpus_count(*cluster), err);
}
