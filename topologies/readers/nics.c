/* Which of the NICs are the HCAs that GPUs talk through, and how fast they are. */
#include <stdlib.h>
#include <string.h>

#include "ar_units.h"
#include "machine.h"

/* Leaves out those that are not wanted, with a note that names them. */
static enum ar_status keep(struct ar_discovery *machine, const struct nic **list, size_t *count,
                           bool (*is_wanted)(const struct nic *nic, double rate_bps),
                           double rate_bps, const char *why, struct ar_error *err)
{
    char names[200] = "";
    size_t used = 0, kept = 0;
    for (size_t i = 0; i < *count; i++) {
        if (is_wanted(list[i], rate_bps)) {
            list[kept++] = list[i];
        } else if (used < sizeof names) {
            used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", used > 0 ? " " : "",
                                     list[i]->name);
        }
    }
    *count = kept;
    return used == 0 ? AR_OK
                     : machine_note(machine, err, "NICs that are not counted, since they %s: %s",
                                    why, names);
}

static bool is_up(const struct nic *nic, double rate_bps)
{
    (void)rate_bps;
    return !nic->is_down;
}

static bool is_placed(const struct nic *nic, double rate_bps)
{
    (void)rate_bps;
    return nic->near != NIC_SOMEWHERE;
}

static bool is_near(const struct nic *nic, double rate_bps)
{
    (void)rate_bps;
    return nic->near >= 0;
}

static bool is_fast(const struct nic *nic, double rate_bps)
{
    return nic->rate_bps <= 0 || nic->rate_bps >= rate_bps;
}

static const struct nic *fastest(const struct nic *const *list, size_t count)
{
    const struct nic *best = NULL;
    for (size_t i = 0; i < count; i++) {
        bool is_better = list[i]->rate_bps > (best != NULL ? best->rate_bps : 0);
        best = is_better ? list[i] : best;
    }
    return best;
}

static bool is_any(const struct nic *const *list, size_t count,
                   bool (*is_wanted)(const struct nic *nic, double rate_bps))
{
    for (size_t i = 0; i < count; i++) {
        if (is_wanted(list[i], 0)) {
            return true;
        }
    }
    return false;
}

/* As many on each switch? */
static bool are_even(const struct nic *const *list, size_t count, uint32_t gpus_count,
                     uint32_t switches)
{
    uint32_t of_switch[AR_TOPO_GPUS_MAX] = {0};
    for (size_t i = 0; i < count; i++) {
        if (list[i]->near < 0 || (uint32_t)list[i]->near >= gpus_count) {
            return false;
        }
        of_switch[(uint32_t)list[i]->near / (gpus_count / switches)]++;
    }
    for (uint32_t s = 1; s < switches; s++) {
        if (of_switch[s] != of_switch[0]) {
            return false;
        }
    }
    return count > 0;
}

static enum ar_status say(struct ar_discovery *machine, enum ar_topo_key key, const char *text,
                          const char *source, struct ar_error *err)
{
    struct fact *fact = &machine->facts[key];
    if (fact->text == NULL) {
        fact->text = ar_arena_text(machine->arena, text);
        fact->source = source;
    }
    return fact->text != NULL && source != NULL ? AR_OK : ar_error_no_memory(err, "the NICs");
}

/* Several ports for each GPU are one HCA of their sum. */
static enum ar_status say_hcas(struct ar_discovery *machine, const struct nic *const *list,
                               size_t count, const struct nic *rated, uint32_t gpus_count,
                               uint32_t switches, struct ar_error *err)
{
    char text[AR_UNIT_TEXT];
    size_t ports = gpus_count > 0 && count > gpus_count ? count / gpus_count : 1;
    if (gpus_count > 0 && (count % ports != 0 || gpus_count % (count / ports) != 0)) {
        return machine_note(machine, err,
                            "%zu NICs are no divisor of %u GPUs, which a cluster file asks for",
                            count, gpus_count);
    }
    snprintf(text, sizeof text, "%zu", count / ports);
    AR_TRY(say(machine, TOPO_HCAS, text,
               ar_arena_format(machine->arena, "%s, the first of %zu NICs%s", list[0]->source,
                               count, ports > 1 ? ", several to one HCA of their sum" : ""),
               err));
    if (rated != NULL) {
        snprintf(text, sizeof text, "%.6gGbps", rated->rate_bps * (double)ports / 1e9);
        AR_TRY(say(machine, TOPO_HCA_BANDWIDTH, text,
                   ar_arena_format(machine->arena, "%s%s, nominal", rated->rate_source,
                                   ports > 1 ? ", the ports of an HCA" : ""),
                   err));
    }
    bool is_known = is_any(list, count, is_placed) && switches > 0;
    bool is_on_switch =
        is_known && count / ports % switches == 0 && are_even(list, count, gpus_count, switches);
    return !is_known ? AR_OK
                     : say(machine, TOPO_HCA_ATTACHED, is_on_switch ? "switch" : "host",
                           list[0]->near_source, err);
}

enum ar_status machine_say_hcas(struct ar_discovery *machine, uint32_t gpus_count,
                                uint32_t switches, struct ar_error *err)
{
    const struct nic *list[MACHINE_NICS_MAX];
    size_t count = machine->nics_count;
    for (size_t i = 0; i < count; i++) {
        list[i] = &machine->nics[i];
    }
    AR_TRY(keep(machine, list, &count, is_up, 0, "are down", err));
    const struct nic *of_all = fastest(list, count);
    if (is_any(list, count, is_placed)) { /* others are the same by another name, or far */
        size_t placed = 0;
        for (size_t i = 0; i < count; i++) {
            list[placed] = list[i];
            placed += is_placed(list[i], 0);
        }
        count = placed;
    }
    if (is_any(list, count, is_near)) {
        AR_TRY(keep(machine, list, &count, is_near, 0, "are below no PCIe switch with a GPU", err));
    }
    const struct nic *rated = fastest(list, count);
    if (rated != NULL) {
        AR_TRY(keep(machine, list, &count, is_fast, rated->rate_bps, "are slower", err));
    }
    rated = rated != NULL ? rated : of_all;
    return count == 0 ? AR_OK : say_hcas(machine, list, count, rated, gpus_count, switches, err);
}
