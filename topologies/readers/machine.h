/** \file machine.h
 * What files say of one node of a machine: values of cluster keys, and its NICs by name, each with
 * where it was said.
 */
#ifndef AR_MACHINE_H
#define AR_MACHINE_H

#include <stdbool.h>
#include <stdint.h>

#include "ar_discover.h"
#include "topo_values.h"

enum { MACHINE_NICS_MAX = 256, MACHINE_NOTES_MAX = 64, MACHINE_TEXT_MAX = 120 };

/** A fact behind the keys: NVLinks of a pair of weight 1, of a GPU's port with switches. */
enum { FACT_LINKS = AR_TOPO_KEYS_COUNT, FACTS_COUNT };

/** A value and `FILE:LINE: what stood there`; NULL: nobody said it. */
struct fact {
    const char *text, *source;
};

/** Where a NIC is, besides the number of the first GPU that is below the same PCIe switch. */
enum { NIC_SOMEWHERE = -2, NIC_ON_HOST = -1 };

struct nic {
    const char *name;
    const char *source;
    int32_t near;
    const char *near_source;
    double rate_bps; /**< 0: nobody said it */
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
    struct ar_topo_entries set; /**< by them, which end every quarrel */
};

/** The file that is being read. */
struct source {
    struct ar_discovery *machine;
    const char *path;
    uint64_t line;
};

/** `PATH:LINE: found ...; expected ...`, AR_BAD_DATA. */
enum ar_status source_refuse(const struct source *source, struct ar_error *err, const char *format,
                             ...) __attribute__((format(printf, 3, 4)));

/** Whether a setting says a key. */
bool machine_is_set(const struct ar_discovery *machine, unsigned fact);

/** Says a fact; `what` tells what stood there. Refused if it was said otherwise before, or if the
 * text is none of a cluster file. */
enum ar_status machine_say(const struct source *source, unsigned fact, const char *text,
                           const char *what, struct ar_error *err);

/** The NIC of a name and port (0 and 1: the first one), made if it is new. */
enum ar_status machine_nic(const struct source *source, const char *name, uint64_t port,
                           struct nic **nic, struct ar_error *err);

/** Where it is, how fast it is. Refused if it was said otherwise before. */
enum ar_status nic_say_near(const struct source *source, struct nic *nic, int32_t near,
                            struct ar_error *err);
enum ar_status nic_say_rate(const struct source *source, struct nic *nic, double rate_bps,
                            struct ar_error *err);

/** Adds a line for people; those beyond MACHINE_NOTES_MAX are dropped. */
enum ar_status machine_note(struct ar_discovery *machine, struct ar_error *err, const char *format,
                            ...) __attribute__((format(printf, 3, 4)));

/** Says `nvlink.pairs` and the number of links of NVLinks between each two GPUs. `what` tells what
 * stood there. */
struct links {
    uint16_t between[AR_TOPO_GPUS_MAX][AR_TOPO_GPUS_MAX];
    uint16_t to_switch[AR_TOPO_GPUS_MAX];
};
enum ar_status machine_say_links(const struct source *source, uint32_t gpus_count,
                                 const struct links *links, const char *what, struct ar_error *err);

/** Says `pcie.switches` of the groups that GPUs are in: those of one group share a PCIe switch.
 * Groups that a cluster file cannot say are noted. */
enum ar_status machine_say_switches(const struct source *source, uint32_t gpus_count,
                                    const uint32_t *groups, struct ar_error *err);

/** What NICs together say: `hcas`, their rate and where they hang; those that do not take part are
 * noted. `gpus_count` and `switches` are 0 if they are not known. */
enum ar_status machine_say_hcas(struct ar_discovery *machine, uint32_t gpus_count,
                                uint32_t switches, struct ar_error *err);

#endif
