/* What the fake says of its devices and of errors: pairs of devices are linked by NVLink. */
#include <cuda_runtime_api.h>
#include <string.h>

cudaError_t cudaDeviceCanAccessPeer(int *can_access, int device, int peer)
{
    *can_access = device != peer;
    return cudaSuccess;
}

cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned int flags)
{
    (void)peer;
    (void)flags;
    return cudaErrorPeerAccessAlreadyEnabled;
}

cudaError_t cudaDeviceGetP2PAttribute(int *value, enum cudaDeviceP2PAttr attribute, int from,
                                      int to)
{
    *value = attribute == cudaDevP2PAttrAccessSupported || (from / 2 == to / 2);
    return cudaSuccess;
}

cudaError_t cudaDriverGetVersion(int *version)
{
    *version = 13000;
    return cudaSuccess;
}

cudaError_t cudaRuntimeGetVersion(int *version)
{
    *version = 13000;
    return cudaSuccess;
}

cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *properties, int device)
{
    (void)device;
    memset(properties, 0, sizeof *properties);
    return cudaSuccess;
}

cudaError_t cudaGetLastError(void)
{
    return cudaSuccess;
}

const char *cudaGetErrorString(cudaError_t code)
{
    return code == cudaErrorInvalidResourceHandle ? "invalid resource handle" : "an error";
}

const char *cudaGetErrorName(cudaError_t code)
{
    return code == cudaErrorInvalidResourceHandle ? "cudaErrorInvalidResourceHandle" : "cudaError";
}
