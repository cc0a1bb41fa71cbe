#include "test_cluster_load.h"
#include "test_cluster_file.h"
#include "test_outcome.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static struct ar_arena arena; /* of a test, which is a process */

const char test_small_cluster[] = "# small cluster for tests\n"
                                  "name = small ; test\n"
                                  "nodes = 6 ; test\n"
                                  "gpus_per_node = 4 ; test\n"
                                  "\n"
                                  "nvlink.pairs = all ; test\n"
                                  "nvlink.bandwidth = 40GB/s ; test\n"
                                  "nvlink.latency = 2us ; test\n"
                                  "pcie.switches = 2 ; test\n"
                                  "pcie.bandwidth = 16GB/s ; test\n"
                                  "pcie.latency = 4us ; test\n"
                                  "hcas = 2 ; test\n"
                                  "hca.bandwidth = 10GB/s ; test\n"
                                  "net.latency = 8us ; test\n"
                                  "rack.nodes = 2 ; test\n"
                                  "rack.uplinks = 1 ; test\n"
                                  "rack.uplink_bandwidth = 100Gbps ; test\n";

const char *test_file_make(const char *content, size_t size, char path[TEST_PATH_SIZE])
{
    snprintf(path, TEST_PATH_SIZE, "%s/test-XXXXXX", AR_TEST_BINARY_DIR);
    int descriptor = mkstemp(path);
    cr_assert(descriptor >= 0, "cannot make %s", path);
    cr_assert(write(descriptor, content, size) == (ssize_t)size);
    close(descriptor);
    return path;
}

struct ar_cluster *test_load_shipped(const char *name, const char *const *settings)
{
    const char *path =
        ar_arena_format(&arena, AR_TEST_SOURCE_DIR "/topologies/machines/%s.topo", name);
    return test_cluster_of_file(path, settings, &arena);
}

struct ar_cluster *test_load_text(const char *text, const char *const *settings)
{
    char path[TEST_PATH_SIZE];
    test_file_make(text, strlen(text), path);
    struct ar_cluster *cluster = test_cluster_of_file(path, settings, &arena);
    unlink(path);
    return cluster;
}

struct ar_cluster *test_load_small(const char *const *settings)
{
    return test_load_text(test_small_cluster, settings);
}

const char *test_link_names(const struct ar_cluster *cluster, uint32_t a, uint32_t b,
                            char text[TEST_NAMES_SIZE])
{
    struct ar_path path;
    size_t length = 0;
    ar_cluster_path(cluster, a, b, &path);
    text[0] = '\0';
    for (uint32_t i = 0; i < path.links_count; i++) {
        char name[64];
        ar_cluster_link_name(cluster, path.links[i], name, sizeof name);
        length += (size_t)snprintf(text + length, TEST_NAMES_SIZE - length, "%s%s",
                                   i > 0 ? " " : "", name);
    }
    return text;
}

void test_slow_links(struct ar_cluster *cluster, const char *text)
{
    const struct ar_setting slow = {text, "--slow-link", AR_USAGE};
    TEST_OK(ar_cluster_slow_links(cluster, (struct ar_settings){&slow, 1}, &why));
}
