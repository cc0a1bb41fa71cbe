#include "test_topo_files.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

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

const char *test_shipped_path(const char *name, char path[TEST_PATH_SIZE])
{
    snprintf(path, TEST_PATH_SIZE, "%s/topologies/machines/%s.topo", AR_TEST_SOURCE_DIR, name);
    return path;
}
