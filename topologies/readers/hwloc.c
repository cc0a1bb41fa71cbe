/* XML of hwloc (lstopo --of xml), versions 2 and 3: objects that are bridges, PCI devices and what
 * the system calls these. NVSwitches are seen, NVLinks are not. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpus.h"
#include "pci.h"
#include "xml.h"

enum { OBJECT_OTHER, OBJECT_HOST_BRIDGE, OBJECT_PCI };

struct hwloc {
    struct pci_tree tree;
    unsigned char kinds[XML_DEPTH_MAX]; /* of the elements that are open */
    bool has_nic, has_gpu;              /* the last PCI device is one, that is kept */
    uint64_t switch_line;
};

/* `0302 [10de:20b2] [10de:1463] a1`: class, vendor and device. */
static enum ar_status begin_device(struct hwloc *hwloc, const struct source *source,
                                   const char *const *attributes, struct ar_error *err)
{
    struct pci_tree *tree = &hwloc->tree;
    unsigned kind = 0, vendor = 0, device = 0;
    const char *type = xml_attribute(attributes, "pci_type");
    const char *speed = xml_attribute(attributes, "pci_link_speed");
    const char *busid = xml_attribute(attributes, "pci_busid");
    int count = type != NULL ? sscanf(type, "%4x [%4x:%4x]", &kind, &vendor, &device) : 0;
    bool is_bridge = kind >> 8 == 0x06 && kind != 0x0680;
    bool is_gpu = kind >> 8 == 0x03 && (vendor == 0x10de || vendor == 0x1002);
    bool is_nic = kind >> 8 == 0x02;
    if (count < 3 && type != NULL) {
        return source_refuse(source, err,
                             "attribute \"pci_type\" is \"%.60s\"; expected class [vendor:device]",
                             type);
    }
    hwloc->has_gpu = hwloc->has_nic = false;
    tree->tops += tree->open == 0;
    if (kind == 0x0680 && vendor == 0x10de && hwloc->switch_line == 0) {
        hwloc->switch_line = source->line;
    }
    char *name = ar_arena_format(source->machine->arena, "%.40s", busid != NULL ? busid : "");
    AR_NEED(name, err, source->path);
    double pcie_Bps = speed != NULL ? strtod(speed, NULL) * 1e9 : 0;
    if (is_gpu && !is_bridge) {
        hwloc->has_gpu = true;
        return pci_add_gpu(
            source, tree,
            &(struct pci_gpu){.busid = name,
                              .line = source->line,
                              .number = tree->gpus_count,
                              .pci = vendor << 16 | device,
                              .top = tree->tops,
                              .pcie_Bps = pcie_Bps > 0 && pcie_Bps < 1e12 ? pcie_Bps : 0},
            err);
    }
    hwloc->has_nic = is_nic;
    return is_nic ? pci_add_nic(source, tree,
                                &(struct pci_nic){.name = name,
                                                  .line = source->line,
                                                  .top = tree->open > 0 ? tree->tops : PCI_NO_TOP},
                                err)
                  : AR_OK;
}

/* A GPU of the driver (nvml0, rsmi0), a device of InfiniBand verbs (osdev_type 3, from version 3 on
 * the bit 32). */
static enum ar_status begin_os_device(struct hwloc *hwloc, const struct source *source,
                                      const char *const *attributes, struct ar_error *err)
{
    unsigned number = 0;
    struct pci_tree *tree = &hwloc->tree;
    const char *name = xml_attribute(attributes, "name");
    const char *type = xml_attribute(attributes, "osdev_type");
    if (name == NULL || type == NULL) {
        return AR_OK;
    }
    if (hwloc->has_gpu && sscanf(name, "%*4[a-z]%3u", &number) == 1) {
        struct pci_gpu *gpu = &tree->gpus[tree->gpus_count - 1];
        bool is_driver = strncmp(name, "nvml", 4) == 0 || strncmp(name, "rsmi", 4) == 0;
        gpu->number = is_driver ? number : gpu->number;
        gpu->is_confirmed = gpu->is_confirmed || is_driver;
    }
    if (hwloc->has_nic && (strcmp(type, "3") == 0 || strcmp(type, "32") == 0)) {
        struct pci_nic *nic = &tree->nics[tree->nics_count - 1];
        nic->name = ar_arena_format(source->machine->arena, "%.40s", name);
        nic->is_confirmed = true;
        return nic->name != NULL ? AR_OK : ar_error_no_memory(err, source->path);
    }
    return AR_OK;
}

static enum ar_status begin_info(const struct source *source, const char *const *attributes,
                                 struct ar_error *err)
{
    const char *name = xml_attribute(attributes, "name");
    const char *value = xml_attribute(attributes, "value");
    if (name == NULL || value == NULL || strcmp(name, "CPUVendor") != 0) {
        return AR_OK;
    }
    const char *word = strcmp(value, "GenuineIntel") == 0   ? "intel"
                       : strcmp(value, "AuthenticAMD") == 0 ? "amd"
                                                            : "other";
    return machine_say(source, TOPO_CPU_VENDOR, word, "CPUVendor", err);
}

static enum ar_status begin(void *state, const struct source *source, unsigned depth,
                            const char *name, const char *const *attributes, struct ar_error *err)
{
    struct hwloc *hwloc = state;
    const char *type = xml_attribute(attributes, "type");
    const char *bridge = xml_attribute(attributes, "bridge_type");
    hwloc->kinds[depth] = OBJECT_OTHER;
    if (strcmp(name, "info") == 0) {
        return begin_info(source, attributes, err);
    }
    if (strcmp(name, "object") != 0 || type == NULL) {
        return AR_OK;
    }
    if (strcmp(type, "OSDev") == 0) {
        return begin_os_device(hwloc, source, attributes, err);
    }
    bool is_bridge = strcmp(type, "Bridge") == 0;
    if (is_bridge && bridge != NULL && bridge[0] == '0') {
        hwloc->kinds[depth] = OBJECT_HOST_BRIDGE;
        return AR_OK;
    }
    if (!is_bridge && strcmp(type, "PCIDev") != 0) {
        return AR_OK;
    }
    hwloc->kinds[depth] = OBJECT_PCI;
    AR_TRY(begin_device(hwloc, source, attributes, err));
    hwloc->tree.open++;
    return AR_OK;
}

static void end(void *state, unsigned depth, const char *name)
{
    struct hwloc *hwloc = state;
    (void)name;
    hwloc->tree.open -= hwloc->kinds[depth] == OBJECT_PCI;
}

static enum ar_status finish(void *state, const struct source *at_end, struct ar_error *err)
{
    struct hwloc *hwloc = state;
    struct source source = *at_end;
    uint32_t verbs = 0;
    for (uint32_t i = 0; i < hwloc->tree.nics_count; i++) {
        verbs += hwloc->tree.nics[i].is_confirmed;
    }
    if (verbs == 0 && hwloc->tree.nics_count > 0) { /* Ethernet that MPI and NCCL reach by TCP */
        AR_TRY(machine_note(source.machine, err,
                            "%.200s: none of %u network devices has InfiniBand verbs; they are not "
                            "counted as HCAs",
                            source.path, hwloc->tree.nics_count));
        hwloc->tree.nics_count = 0;
    }
    AR_TRY(pci_say(&source, &hwloc->tree, err));
    source.line = hwloc->switch_line;
    return hwloc->switch_line == 0 || hwloc->tree.gpus_count < 2
               ? AR_OK
               : machine_say(&source, TOPO_NVLINK_PAIRS, "switch", "an NVSwitch", err);
}

const struct xml_kind hwloc_kind = {.root = "topology",
                                    .title = "topology of hwloc",
                                    .state_bytes = sizeof(struct hwloc),
                                    .begin = begin,
                                    .end = end,
                                    .finish = finish};
