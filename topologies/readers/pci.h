/** \file pci.h
 * GPUs and NICs as they hang on a tree of PCIe bridges.
 */
#ifndef AR_MACHINE_PCI_H
#define AR_MACHINE_PCI_H

#include "machine.h"

struct pci_gpu {
    const char *busid;
    uint64_t line;
    uint64_t number; /**< of the driver, or in order */
    uint32_t pci;    /**< vendor << 16 | device; 0: not said */
    uint32_t top;    /**< number of the bridge on the host that it is below, or of its own port */
    double pcie_Bps; /**< 0: not said */
    bool is_confirmed;
};

struct pci_nic {
    const char *name;
    uint64_t line, port;
    uint32_t top; /**< PCI_NO_TOP: none that a GPU could be below */
    double rate_bps;
    bool is_confirmed;
};

#define PCI_NO_TOP UINT32_MAX

struct pci_tree {
    struct pci_gpu gpus[AR_TOPO_GPUS_MAX];
    uint32_t gpus_count;
    struct pci_nic nics[MACHINE_NICS_MAX];
    uint32_t nics_count;
    uint32_t tops; /**< bridges and devices on the host up to now */
    unsigned open; /**< bridges and devices that are open */
};

/** Refused if there are too many. */
enum ar_status pci_add_gpu(const struct source *source, struct pci_tree *tree,
                           const struct pci_gpu *gpu, struct ar_error *err);
enum ar_status pci_add_nic(const struct source *source, struct pci_tree *tree,
                           const struct pci_nic *nic, struct ar_error *err);

/** Drops GPUs and NICs that are not confirmed where others of their kind are, sorts the GPUs by
 * number, and says all that the tree has. */
enum ar_status pci_say(struct source *source, struct pci_tree *tree, struct ar_error *err);

/** Rate of a PCIe link: transfers/s of a lane and lanes, less the coding; 0: none such. */
double pci_rate_Bps(double transfers_per_s, uint64_t lanes);

#endif
