/* The kernels compiled for the processor: what nvcc gives them is declared here, so that
 * cuda_kernels.cu is compiled as it is. */
#include <cuda_runtime_api.h>

#include <functional>

#include "test_cuda_runtime.h"

#define __syncthreads() standin_meet(0)
#define __syncthreads_or(value) standin_meet(value)

static void call_function(void *function)
{
    (*static_cast<std::function<void()> *>(function))();
}

static void delete_function(void *function)
{
    delete static_cast<std::function<void()> *>(function);
}

/* As in cuda_runtime.h, where it is for nvcc alone. */
template <typename... Parameters, typename... Arguments>
static cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t *config,
                                      void (*kernel)(Parameters...), Arguments... arguments)
{
    auto *call = new std::function<void()>([=] { kernel(arguments...); });
    return standin_launch(config, call_function, delete_function, call);
}

#include "cuda_kernels.cu"
