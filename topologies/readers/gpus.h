/** \file gpus.h
 * What is known of GPUs by their PCI number and generation, and of the libraries that run on them:
 * values of the shipped clusters, which files of machines do not say.
 */
#ifndef AR_MACHINE_GPUS_H
#define AR_MACHINE_GPUS_H

#include <stdbool.h>
#include <stdint.h>

#include "ar_gpu_generation.h"

struct gpu_model {
    uint32_t pci; /**< vendor << 16 | device */
    enum ar_gpu_generation generation;
    const char *name, *memory;
    const char *cost_table, *reduce_cost; /**< or NULL */
};

/** NULL: not known. */
const struct gpu_model *gpu_model_find(uint32_t pci);

/** What is the same for a generation. */
struct gpu_kind {
    uint32_t links;              /**< NVLinks of a GPU; 0: they have no switches */
    double link_Bps;             /**< payload of an NVLink, one direction */
    const char *link_source;     /**< where that is from */
    double pcie_transfers_per_s; /**< of a lane, 16 of which each GPU has */
    const char *library_release; /**< or NULL: none is chosen */
    const char *setup, *link_latency, *pcie_latency, *net_latency;
    const char *latency_source;
};
extern const struct gpu_kind gpu_kinds[AR_GPU_GENERATIONS_COUNT];

/** Generation by compute capability (`80`) or AMD's target (`906`, `gfx942`); false: not known. */
bool gpu_generation_find(const char *capability, enum ar_gpu_generation *generation);

#endif
