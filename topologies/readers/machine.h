/** \file machine.h
 * Private to this folder: what files say of one node of a machine, each value with where it stood.
 *
 * A fact is the text of a key of a cluster file, with `FILE:LINE: what stood there`. NICs are kept
 * by name, since several files may describe one; cluster_file.c makes HCAs of them.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "ar_discover.h"
#include "ar_gpu_generation.h"
#include "topo_values.h"

enum { MACHINE_NICS_MAX = 256, MACHINE_NOTES_MAX = 64, MACHINE_TEXT_MAX = 120 };

/** A fact besides the keys: how many NVLinks a pair of weight 1 has, or a GPU to its switches. */
enum { FACT_LINKS = AR_TOPO_KEYS_COUNT, FACTS_COUNT };

struct fact {
    const char *text, *source; /**< NULL: no file says it */
};

/** Where a NIC is, besides the number of the first GPU below the same PCIe switch. */
enum { NIC_SOMEWHERE = -2, NIC_ON_HOST = -1 };

struct nic {
    const char *name, *source;
    int32_t near; /**< a GPU, NIC_ON_HOST or NIC_SOMEWHERE */
    const char *near_source;
    double rate_bps; /**< 0: not known */
    const char *rate_source;
    bool is_down;
};

struct ar_discovery {
    struct ar_arena *arena;
    struct fact facts[FACTS_COUNT];
    struct nic nics[MACHINE_NICS_MAX];
    size_t nics_count;
    const char *notes[MACHINE_NOTES_MAX + 1];
    size_t notes_count;
    bool is_amd; /**< a GPU is one of AMD */
    struct ar_settings settings;
    struct ar_topo_entries set; /**< the settings as values, which win over files */
};

/** The file that is being read. */
struct source {
    struct ar_discovery *machine;
    const char *path;
    uint64_t line;
};

/** Refuses a line of a source, with a text such as `found ...; expected ...`. */
#define SOURCE_REFUSE(found, source, err, ...)                                                     \
    AR_REFUSE_LINE(found, err, (source)->path, (source)->line, __VA_ARGS__)

/** Adds a fact; `what` tells what stood there. Refused if another file says otherwise and no
 * setting decides, or if the text cannot stand in a cluster file. */
enum ar_status fact_add(const struct source *source, unsigned fact, const char *text,
                        const char *what, struct ar_error *err);
enum ar_status fact_add_count(const struct source *source, unsigned fact, uint64_t count,
                              const char *what, struct ar_error *err);

/** The NIC of a name and port (0 and 1: the first one), made if it is new. */
enum ar_status nic_find(const struct source *source, const char *name, uint64_t port,
                        struct nic **nic, struct ar_error *err);

/** The same for a NIC below the PCIe switch `group`, if one of the GPUs is in that group, else on
 * the host; the first file that says where it is holds. */
enum ar_status nic_add(const struct source *source, const char *name, uint64_t port, uint32_t group,
                       const uint32_t *groups, uint32_t gpus_count, struct nic **nic,
                       struct ar_error *err);

/** Sets how fast a NIC is. Refused if another file says otherwise. */
enum ar_status nic_set_rate(const struct source *source, struct nic *nic, double rate_bps,
                            struct ar_error *err);

/** Adds a note for people, the arena's, once; those beyond MACHINE_NOTES_MAX are dropped. */
void discovery_note(struct ar_discovery *machine, const char *text);

/** NVLinks between each two GPUs and from each to switches. */
struct links {
    uint16_t between[AR_TOPO_GPUS_MAX][AR_TOPO_GPUS_MAX];
    uint16_t to_switch[AR_TOPO_GPUS_MAX];
};

/** Adds `nvlink.pairs` and how many NVLinks the weight 1 means. */
enum ar_status facts_add_links(const struct source *source, uint32_t gpus_count,
                               const struct links *links, const char *what, struct ar_error *err);

/** Adds `pcie.switches` where GPUs of one group share a PCIe switch; a spread that no cluster file
 * can describe becomes a note. */
enum ar_status facts_add_switches(const struct source *source, uint32_t gpus_count,
                                  const uint32_t *groups, struct ar_error *err);

/** The readers: a topology file of NCCL (XML), and output of nvidia-smi and ibstat. */
enum ar_status nccl_topology_read(struct source *source, const char *text, size_t bytes,
                                  struct ar_error *err);
enum ar_status text_dumps_read(struct source *source, char *text, size_t bytes,
                               struct ar_error *err);

/** Values that all GPUs of a generation share, and those of the libraries that run on them. */
struct gpu_kind {
    uint32_t links;              /**< NVLinks of a GPU; 0: they have no switches */
    double link_Bps;             /**< payload of an NVLink, one direction */
    const char *link_source;     /**< where that is from */
    double pcie_transfers_per_s; /**< of a lane, 16 of which each GPU has */
    const char *library_release; /**< or NULL: none is chosen */
    double link_bus_Bps;         /**< of its rings over an NVLink (src/graph/topo.h); 0: unknown */
    const char *setup, *link_latency, *pcie_latency, *net_latency;
    const char *latency_source;
};
extern const struct gpu_kind gpu_kinds[AR_GPU_GENERATIONS_COUNT];

/** Rate of a PCIe link, from transfers/s of a lane, less the coding; 0: no such speed. */
double pcie_rate_Bps(double transfers_per_s, uint64_t lanes);
