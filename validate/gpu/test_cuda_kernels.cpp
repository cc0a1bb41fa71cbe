/* The kernels compiled for the processor: what nvcc gives them is declared here, so that
 * cuda_kernels.cu is compiled as it is. */
#include <cuda_runtime_api.h>

#include <functional>

#include "test_cuda_runtime.h"

#define __syncthreads()         standin_meet(0)
#define __syncthreads_or(value) standin_meet(value)

/* As in cuda_runtime.h, where it is for nvcc alone. */
template <typename... Parameters, typename... Arguments>
static cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t *config,
                                      void (*kernel)(Parameters...), Arguments... arguments)
{
    using function = std::function<void()>;
    return standin_launch(
        config, [](void *called) { (*static_cast<function *>(called))(); },
        [](void *ended) { delete static_cast<function *>(ended); },
        new function([=] { kernel(arguments...); }));
}

#include "cuda_kernels.cu"
