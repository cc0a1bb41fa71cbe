/* GPUs by number and generation. */
#include "machine.h"

#include <stddef.h>
#include <string.h>

#define A100_40 "a100-40gb-sxm", "2.302ps/B"
#define A100_80 "a100-80gb-sxm", "1.639ps/B"
#define V100    "v100-sxm2", "3.846ps/B"
#define H100    "h100-sxm", "0.924ps/B"

/* PCI numbers: the PCI ID Repository (pci.ids). Costs: topologies/machines, where each has its
 * source. */
static const struct gpu_model models[] = {
    {0x10de1db1, AR_GPU_VOLTA, "NVIDIA Tesla V100 SXM2 16GB", "16GB", V100},
    {0x10de1db5, AR_GPU_VOLTA, "NVIDIA Tesla V100 SXM2 32GB", "32GB", V100},
    {0x10de1db8, AR_GPU_VOLTA, "NVIDIA Tesla V100 SXM3 32GB", "32GB", V100},
    {0x10de20b0, AR_GPU_AMPERE, "NVIDIA A100 SXM4 40GB", "40GB", A100_40},
    {0x10de20b2, AR_GPU_AMPERE, "NVIDIA A100 SXM4 80GB", "80GB", A100_80},
    {0x10de20b5, AR_GPU_AMPERE, "NVIDIA A100 PCIe 80GB", "80GB", NULL, NULL},
    {0x10de20f1, AR_GPU_AMPERE, "NVIDIA A100 PCIe 40GB", "40GB", NULL, NULL},
    {0x10de2330, AR_GPU_HOPPER, "NVIDIA H100 SXM5 80GB", "80GB", H100},
    {0x10de2331, AR_GPU_HOPPER, "NVIDIA H100 PCIe 80GB", "80GB", NULL, NULL},
    {0x10de2335, AR_GPU_HOPPER, "NVIDIA H200 SXM5 141GB", "141GB", "h200-sxm", "0.645ps/B"},
    {0x10de2901, AR_GPU_BLACKWELL, "NVIDIA B200 180GB", "180GB", "b200", "0.387ps/B"},
    {0x1002740c, AR_GPU_CDNA2, "AMD Instinct MI250X, one GCD", "64GB", NULL, "2.186ps/B"},
    {0x100274a1, AR_GPU_CDNA3, "AMD Instinct MI300X", "192GB", NULL, "0.675ps/B"},
};

const struct gpu_model *gpu_model_find(uint32_t pci)
{
    for (size_t i = 0; i < sizeof models / sizeof models[0]; i++) {
        if (models[i].pci == pci) {
            return &models[i];
        }
    }
    return NULL;
}

#define AIST  "AIST abci2.0benchmark, p2pBandwidthLatencyTest, one direction"
#define SHARE "the share that AIST measured on NVLink3"
#define NCCL(release, link_bus_Bps, net)                                                           \
    release, link_bus_Bps, "8.4us", "3.4us", "5.7us", net,                                         \
        "NVIDIA/nccl v" release "-1, src/graph/tuning.cc: ring, Simple"
#define RCCL(link)                                                                                 \
    NULL, 0, "17us", link, "3.6us", "15.1us",                                                      \
        "ROCm/rccl 0cbce2a7, src/graph/tuning.cc: ring, Simple"

const struct gpu_kind gpu_kinds[AR_GPU_GENERATIONS_COUNT] = {
    [AR_GPU_VOLTA] = {6, 24.24e9, AIST ", 48.48 GB/s of two", 8e9, NCCL("2.8.4", 22e9, "9.6us")},
    [AR_GPU_AMPERE] = {12, 274e9 / 12, AIST ", 274 GB/s of 12", 16e9, NCCL("2.18.3", 20e9, "14us")},
    [AR_GPU_HOPPER] = {18, 411e9 / 18, "91.3 % of 25 GB/s, " SHARE, 32e9,
                       NCCL("2.21.5", 20e9, "14us")},
    [AR_GPU_BLACKWELL] = {18, 822e9 / 18, "91.3 % of 50 GB/s, " SHARE, 32e9,
                          NCCL("2.27.7", 40e9, "14us")},
    [AR_GPU_CDNA2] = {0, 50e9, "nominal: LUMI documentation, LUMI-G", 16e9, RCCL("3.6us")},
    [AR_GPU_CDNA3] = {0, 64e9, "nominal: AMD Instinct MI300X data sheet", 32e9, RCCL("2.1us")},
    [AR_GPU_CDNA4] = {0, 76.8e9, "nominal: AMD Instinct MI355X data sheet", 32e9, RCCL("2.1us")},
};

bool gpu_generation_find(const char *capability, enum ar_gpu_generation *generation)
{
    static const struct {
        const char *text;
        enum ar_gpu_generation generation;
    } rows[] = {{"70", AR_GPU_VOLTA},  {"80", AR_GPU_AMPERE},     {"86", AR_GPU_AMPERE},
                {"90", AR_GPU_HOPPER}, {"100", AR_GPU_BLACKWELL}, {"103", AR_GPU_BLACKWELL},
                {"910", AR_GPU_CDNA2}, {"gfx90a", AR_GPU_CDNA2},  {"940", AR_GPU_CDNA3},
                {"941", AR_GPU_CDNA3}, {"942", AR_GPU_CDNA3},     {"gfx942", AR_GPU_CDNA3},
                {"950", AR_GPU_CDNA4}, {"gfx950", AR_GPU_CDNA4}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (strcmp(rows[i].text, capability) == 0) {
            *generation = rows[i].generation;
            return true;
        }
    }
    return false;
}
