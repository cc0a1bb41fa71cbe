#include "nccl_library.h"

#include <dlfcn.h>
#include <string.h>

enum ar_status nccl_library_load(struct nccl_library *library, struct ar_error *err)
{
    void *handle = dlopen("libnccl.so.2", RTLD_NOW | RTLD_LOCAL);
    if (handle == NULL) {
        return ar_error_set(err, AR_UNAVAILABLE, "found no NCCL (%.200s); expected libnccl.so.2",
                            dlerror());
    }
#define X(member, function)                                                                        \
    {                                                                                              \
        void *found = dlsym(handle, #function);                                                    \
        if (found == NULL) {                                                                       \
            return ar_error_set(err, AR_UNAVAILABLE,                                               \
                                "libnccl.so.2 has no " #function "; expected NCCL 2.18 or later"); \
        }                                                                                          \
        memcpy(&library->member, &found, sizeof found);                                            \
    }
    NCCL_FUNCTIONS(X)
#undef X
    return AR_OK;
}

enum ar_status nccl_check(const struct nccl_library *library, ncclResult_t code, const char *call,
                          struct ar_error *err)
{
    if (code == ncclSuccess) {
        return AR_OK;
    }
    return ar_error_set(err, AR_INTERNAL, "%s: %s", call, library->get_error_string(code));
}
