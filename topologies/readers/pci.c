#include "pci.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "ar_units.h"
#include "gpus.h"

enum ar_status pci_add_gpu(const struct source *source, struct pci_tree *tree,
                           const struct pci_gpu *gpu, struct ar_error *err)
{
    if (tree->gpus_count == AR_TOPO_GPUS_MAX) {
        return source_refuse(source, err, "found more than %d GPUs; expected those of one node",
                             AR_TOPO_GPUS_MAX);
    }
    tree->gpus[tree->gpus_count++] = *gpu;
    return AR_OK;
}

enum ar_status pci_add_nic(const struct source *source, struct pci_tree *tree,
                           const struct pci_nic *nic, struct ar_error *err)
{
    if (tree->nics_count == MACHINE_NICS_MAX) {
        return source_refuse(source, err, "found more than %d NICs; expected those of one node",
                             MACHINE_NICS_MAX);
    }
    tree->nics[tree->nics_count++] = *nic;
    return AR_OK;
}

double pci_rate_Bps(double transfers_per_s, uint64_t lanes)
{
    static const double speeds[] = {2.5e9, 5e9, 8e9, 16e9, 32e9, 64e9};
    for (size_t i = 0; i < sizeof speeds / sizeof speeds[0]; i++) {
        if (transfers_per_s == speeds[i]) {
            double coding = i < 2 ? 0.8 : 128.0 / 130.0;
            return transfers_per_s * (double)lanes * coding / 8;
        }
    }
    return 0;
}

static int compare_numbers(const void *a, const void *b)
{
    const struct pci_gpu *first = a, *second = b;
    return first->number != second->number
               ? (first->number > second->number ? 1 : -1)
               : (first->line > second->line) - (first->line < second->line);
}

static void keep_confirmed(struct pci_tree *tree)
{
    bool has_gpu = false, has_nic = false;
    for (uint32_t i = 0; i < tree->gpus_count; i++) {
        has_gpu = has_gpu || tree->gpus[i].is_confirmed;
    }
    for (uint32_t i = 0; i < tree->nics_count; i++) {
        has_nic = has_nic || tree->nics[i].is_confirmed;
    }
    uint32_t kept = 0;
    for (uint32_t i = 0; i < tree->gpus_count; i++) {
        if (tree->gpus[i].is_confirmed || !has_gpu) {
            tree->gpus[kept++] = tree->gpus[i];
        }
    }
    tree->gpus_count = kept;
    kept = 0;
    for (uint32_t i = 0; i < tree->nics_count; i++) {
        if (tree->nics[i].is_confirmed || !has_nic) {
            tree->nics[kept++] = tree->nics[i];
        }
    }
    tree->nics_count = kept;
    qsort(tree->gpus, tree->gpus_count, sizeof tree->gpus[0], compare_numbers);
}

/* The model and what comes with it, of the first GPU; others are compared. */
static enum ar_status say_models(struct source *source, const struct pci_tree *tree,
                                 struct ar_error *err)
{
    char what[MACHINE_TEXT_MAX];
    for (uint32_t i = 0; i < tree->gpus_count; i++) {
        const struct gpu_model *model = gpu_model_find(tree->gpus[i].pci);
        source->line = tree->gpus[i].line;
        source->machine->is_amd |= tree->gpus[i].pci >> 16 == 0x1002;
        snprintf(what, sizeof what, "PCI device %04" PRIx32 ":%04" PRIx32, tree->gpus[i].pci >> 16,
                 tree->gpus[i].pci & 0xffff);
        if (model == NULL) {
            continue;
        }
        AR_TRY(machine_say(source, TOPO_GPU_MODEL, model->name, what, err));
        AR_TRY(machine_say(source, TOPO_GPU_GENERATION, ar_gpu_generation_names[model->generation],
                           what, err));
        AR_TRY(machine_say(source, TOPO_GPU_MEMORY, model->memory, what, err));
        if (model->cost_table != NULL) {
            AR_TRY(machine_say(source, TOPO_GPU_COST_TABLE, model->cost_table, what, err));
        }
        if (model->reduce_cost != NULL) {
            AR_TRY(machine_say(source, TOPO_GPU_REDUCE_COST, model->reduce_cost, what, err));
        }
    }
    return AR_OK;
}

static enum ar_status say_pcie(struct source *source, const struct pci_tree *tree,
                               struct ar_error *err)
{
    char text[AR_UNIT_TEXT];
    const struct pci_gpu *slowest = &tree->gpus[0];
    double fastest_Bps = 0;
    for (uint32_t i = 0; i < tree->gpus_count; i++) {
        bool is_slower = tree->gpus[i].pcie_Bps < slowest->pcie_Bps;
        slowest = is_slower ? &tree->gpus[i] : slowest;
        fastest_Bps = tree->gpus[i].pcie_Bps > fastest_Bps ? tree->gpus[i].pcie_Bps : fastest_Bps;
    }
    if (slowest->pcie_Bps <= 0) {
        return AR_OK;
    }
    source->line = slowest->line;
    if (fastest_Bps > slowest->pcie_Bps) {
        AR_TRY(machine_note(source->machine, err,
                            "%.200s:%" PRIu64 ": GPU %" PRIu64
                            " has a slower PCIe link than others; all are taken as slow",
                            source->path, slowest->line, slowest->number));
    }
    snprintf(text, sizeof text, "%.5gGB/s", slowest->pcie_Bps / 1e9);
    return machine_say(source, TOPO_PCIE_BANDWIDTH, text, "PCIe link of a GPU, raw", err);
}

static enum ar_status say_nics(struct source *source, const struct pci_tree *tree,
                               struct ar_error *err)
{
    for (uint32_t i = 0; i < tree->nics_count; i++) {
        const struct pci_nic *seen = &tree->nics[i];
        struct nic *nic = NULL;
        int32_t near = NIC_ON_HOST;
        for (uint32_t g = tree->gpus_count; g > 0; g--) {
            near = tree->gpus[g - 1].top == seen->top ? (int32_t)g - 1 : near;
        }
        source->line = seen->line;
        AR_TRY(machine_nic(source, seen->name, seen->port, &nic, err));
        AR_TRY(nic_say_near(source, nic, near, err));
        if (seen->rate_bps > 0) {
            AR_TRY(nic_say_rate(source, nic, seen->rate_bps, err));
        }
    }
    return AR_OK;
}

enum ar_status pci_say(struct source *source, struct pci_tree *tree, struct ar_error *err)
{
    char text[AR_UNIT_TEXT];
    uint32_t groups[AR_TOPO_GPUS_MAX];
    keep_confirmed(tree);
    if (tree->gpus_count > 0) {
        source->line = tree->gpus[0].line;
        snprintf(text, sizeof text, "%" PRIu32, tree->gpus_count);
        AR_TRY(machine_say(source, TOPO_GPUS, text, "GPUs from here on", err));
        for (uint32_t g = 0; g < tree->gpus_count; g++) {
            groups[g] = tree->gpus[g].top;
        }
        AR_TRY(machine_say_switches(source, tree->gpus_count, groups, err));
        AR_TRY(say_pcie(source, tree, err));
        AR_TRY(say_models(source, tree, err));
    }
    return say_nics(source, tree, err);
}
