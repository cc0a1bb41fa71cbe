/* The sum of the kernels on a processor, one thread of the GPU after the other. */
#include "cuda_reduce.h"

extern "C" void kernels_reduce_on_host(uint32_t element_bytes, unsigned char *sum,
                                       const unsigned char *addend, uint64_t count,
                                       uint64_t threads);

extern "C" void kernels_reduce_on_host(uint32_t element_bytes, unsigned char *sum,
                                       const unsigned char *addend, uint64_t count,
                                       uint64_t threads)
{
    struct reduce_cut cut = reduce_cut_run(element_bytes, sum, addend, count);
    for (uint64_t thread = 0; thread < threads; thread++) {
        if (element_bytes == sizeof(float)) {
            reduce_share_single((float *)sum, (const float *)addend, cut, thread, threads);
        } else {
            reduce_share_half((__half *)sum, (const __half *)addend, cut, thread, threads);
        }
    }
}
