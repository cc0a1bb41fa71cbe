#include "backends.h"

#include <string.h>

#include "ar_text.h"

const struct backend *const backends[] = {
    &backend_host,
#ifdef VALIDATE_HAS_MPI
    &backend_mpi,
#endif
#ifdef VALIDATE_HAS_CUDA
    &backend_cuda,
#endif
#ifdef VALIDATE_HAS_NCCL
    &backend_nccl,
#endif
};

const size_t backends_count = sizeof backends / sizeof backends[0];

enum ar_status backend_find(const char *name, const struct backend **backend, struct ar_error *err)
{
    static const char *const all[] = {"host", "mpi", "cuda", "nccl"};
    enum { ALL_COUNT = sizeof all / sizeof all[0] };
    for (size_t i = 0; i < backends_count; i++) {
        if (strcmp(name, backends[i]->name) == 0) {
            *backend = backends[i];
            return AR_OK;
        }
    }
    for (size_t i = 0; i < ALL_COUNT; i++) {
        if (strcmp(name, all[i]) == 0) {
            return ar_error_set(err, AR_USAGE,
                                "--backend: this program was built without %s; expected one that "
                                "--help lists",
                                name);
        }
    }
    return ar_error_unknown(err, AR_USAGE, "--backend", "backend", name, all, ALL_COUNT);
}
