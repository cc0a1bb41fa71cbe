/* A fuzz target of all readers: under libFuzzer with ALLRECKON_FUZZ=ON, else a test that replays
 * files (fuzz_replay.c). What can be finished is a cluster file that loads. */
#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "ar_discover.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static const struct ar_setting list[] = {{"nodes=2", "fuzz", AR_USAGE},
                                             {"rack.nodes=0", "fuzz", AR_USAGE},
                                             {"hca.bandwidth=1GB/s", "fuzz", AR_USAGE},
                                             {"nvlink.bandwidth=1GB/s", "fuzz", AR_USAGE},
                                             {"pcie.bandwidth=1GB/s", "fuzz", AR_USAGE}};
    struct ar_error err;
    struct ar_arena arena = {NULL};
    struct ar_discovery *discovery = NULL;
    struct ar_topo *topo = NULL;
    char *text = ar_arena_alloc(&arena, size + 1, 1);
    assert(text != NULL);
    if (size > 0) {
        memcpy(text, bytes, size);
    }
    enum ar_status status = ar_discover_begin(
        (struct ar_settings){list, sizeof list / sizeof *list}, &arena, &discovery, &err);
    assert(status == AR_OK);
    status = ar_discover_parse(discovery, "fuzz", text, size, &err);
    assert(status == AR_OK || status == AR_BAD_DATA);
    if (status == AR_OK) {
        status = ar_discover_finish(discovery, "fuzz", &topo, &err);
        assert(status == AR_OK || status == AR_BAD_DATA || status == AR_USAGE);
        assert((status == AR_OK) == (topo != NULL));
    }
    ar_arena_end(&arena);
    return 0;
}
