/* A discovery: what the files say, put together. */
#include <inttypes.h>
#include <string.h>

#include "ar_file.h"
#include "ar_numbers.h"
#include "machine.h"

enum ar_status ar_discover_begin(struct ar_settings settings, struct ar_arena *arena,
                                 struct ar_discovery **discovery, struct ar_error *err)
{
    struct ar_discovery *made = ar_arena_alloc(arena, 1, sizeof *made);
    made->arena = arena;
    made->settings = settings;
    made->set.path = "discover";
    AR_TRY(ar_topo_entries_apply(settings, arena, &made->set, err));
    /* Parses the values of settings, which need no file; NVLinks for a node of any size. */
    struct ar_topo_entries checked = made->set;
    struct ar_topo_values *values = ar_arena_alloc(arena, 1, sizeof *values);
    if (ar_topo_entries_find(&checked, TOPO_GPUS) == NULL) {
        ar_topo_entries_store((struct ar_topo_entry){.key = TOPO_GPUS, .text = "64"}, &checked);
    }
    AR_TRY(ar_topo_values_parse(&checked, values, err));
    *discovery = made;
    return AR_OK;
}

enum ar_status ar_discover_parse(struct ar_discovery *discovery, const char *path, char *text,
                                 size_t bytes, struct ar_error *err)
{
    size_t blank = strspn(text, " \t\r\n");
    struct source source = {
        .machine = discovery, .path = ar_topo_shown_path(path, discovery->arena), .line = 1};
    return blank < bytes && text[blank] == '<' ? nccl_topology_read(&source, text, bytes, err)
                                               : text_dumps_read(&source, text, bytes, err);
}

enum ar_status ar_discover_read(struct ar_discovery *discovery, const char *path,
                                struct ar_error *err)
{
    char *text = NULL;
    size_t bytes = 0;
    AR_TRY(ar_file_read(path, AR_DISCOVER_BYTES_MAX, "what a machine says of itself",
                        discovery->arena, &text, &bytes, err));
    return ar_discover_parse(discovery, path, text, bytes, err);
}

const char *const *ar_discover_notes(const struct ar_discovery *discovery)
{
    return discovery->notes;
}

void discovery_note(struct ar_discovery *machine, const char *text)
{
    for (size_t i = 0; i < machine->notes_count; i++) {
        if (strcmp(machine->notes[i], text) == 0) {
            return;
        }
    }
    if (machine->notes_count < MACHINE_NOTES_MAX) {
        machine->notes[machine->notes_count++] = text;
    }
}

/* --- facts ------------------------------------------------------------------------------------ */

/* Texts of files go into a cluster file: one line of plain characters, without ';'. */
static enum ar_status fact_check_text(const struct source *source, const char *text,
                                      struct ar_error *err)
{
    size_t length = strlen(text);
    for (size_t i = 0; i < length; i++) {
        SOURCE_REFUSE(text[i] < ' ' || text[i] > '~' || text[i] == ';', source, err,
                      "found the byte 0x%02x in a text; expected letters, digits, signs but ';'",
                      (unsigned char)text[i]);
    }
    SOURCE_REFUSE(length == 0 || length > AR_TOPO_LINE_MAX / 2, source, err,
                  "found a text of %zu characters; expected 1 to %d", length, AR_TOPO_LINE_MAX / 2);
    return AR_OK;
}

static const char *source_text(const struct source *source, const char *what)
{
    return ar_arena_format(source->machine->arena, "%s:%" PRIu64 ": %s", source->path, source->line,
                           what);
}

/* Whether a setting gives a key. */
static bool fact_is_set(const struct ar_discovery *machine, unsigned fact)
{
    return fact < AR_TOPO_KEYS_COUNT &&
           ar_topo_entries_find(&machine->set, (enum ar_topo_key)fact) != NULL;
}

enum ar_status fact_add(const struct source *source, unsigned fact, const char *text,
                        const char *what, struct ar_error *err)
{
    struct ar_discovery *machine = source->machine;
    struct fact *known = &machine->facts[fact];
    AR_TRY(fact_check_text(source, text, err));
    AR_TRY(fact_check_text(source, what, err));
    if (known->text == NULL) {
        *known = (struct fact){ar_arena_text(machine->arena, text), source_text(source, what)};
        return AR_OK;
    }
    const char *name = fact < AR_TOPO_KEYS_COUNT ? ar_topo_keys[fact].name : "NVLinks";
    SOURCE_REFUSE(strcmp(known->text, text) != 0 && !fact_is_set(machine, fact), source, err,
                  "found %s %.60s (%.60s); expected %.60s, as %.120s", name, text, what,
                  known->text, known->source);
    return AR_OK;
}

enum ar_status fact_add_count(const struct source *source, unsigned fact, uint64_t count,
                              const char *what, struct ar_error *err)
{
    char text[24];
    snprintf(text, sizeof text, "%" PRIu64, count);
    return fact_add(source, fact, text, what, err);
}

/* --- NICs ------------------------------------------------------------------------------------- */

enum ar_status nic_find(const struct source *source, const char *name, uint64_t port,
                        struct nic **nic, struct ar_error *err)
{
    struct ar_discovery *machine = source->machine;
    AR_TRY(fact_check_text(source, name, err));
    const char *whole = port > 1 ? ar_arena_format(machine->arena, "%.60s/%" PRIu64, name, port)
                                 : ar_arena_format(machine->arena, "%.60s", name);
    for (size_t i = 0; i < machine->nics_count; i++) {
        if (strcmp(machine->nics[i].name, whole) == 0) {
            *nic = &machine->nics[i];
            return AR_OK;
        }
    }
    SOURCE_REFUSE(machine->nics_count == MACHINE_NICS_MAX, source, err,
                  "found more than %d NICs; expected at most %d", MACHINE_NICS_MAX,
                  MACHINE_NICS_MAX);
    *nic = &machine->nics[machine->nics_count++];
    **nic =
        (struct nic){.name = whole, .near = NIC_SOMEWHERE, .source = source_text(source, whole)};
    return AR_OK;
}

enum ar_status nic_add(const struct source *source, const char *name, uint64_t port, uint32_t group,
                       const uint32_t *groups, uint32_t gpus_count, struct nic **nic,
                       struct ar_error *err)
{
    int32_t near = NIC_ON_HOST;
    for (uint32_t g = gpus_count; g > 0; g--) {
        near = groups[g - 1] == group ? (int32_t)g - 1 : near;
    }
    AR_TRY(nic_find(source, name, port, nic, err));
    if ((*nic)->near == NIC_SOMEWHERE) {
        (*nic)->near = near;
        (*nic)->near_source = source_text(source, (*nic)->name);
    }
    return AR_OK;
}

enum ar_status nic_set_rate(const struct source *source, struct nic *nic, double rate_bps,
                            struct ar_error *err)
{
    char what[MACHINE_TEXT_MAX];
    if (nic->rate_bps == rate_bps || fact_is_set(source->machine, TOPO_HCA_BANDWIDTH)) {
        return AR_OK;
    }
    SOURCE_REFUSE(!(rate_bps >= 1e8 && rate_bps <= 1e14), source, err,
                  "found a rate of %g Gb/s of NIC %.40s; expected 0.1 to 100000 Gb/s",
                  rate_bps / 1e9, nic->name);
    SOURCE_REFUSE(
        nic->rate_bps > 0, source, err,
        "found %.6g Gb/s of NIC %.40s; expected %.6g Gb/s, as %.120s (or --set hca.bandwidth=RATE)",
        rate_bps / 1e9, nic->name, nic->rate_bps / 1e9, nic->rate_source);
    snprintf(what, sizeof what, "%s %.6g Gb/s", nic->name, rate_bps / 1e9);
    nic->rate_bps = rate_bps;
    nic->rate_source = source_text(source, what);
    return AR_OK;
}

/* --- GPUs among themselves -------------------------------------------------------------------- */

/* `0-1 0-2:2 ...`, with weights as multiples of `unit` links; `all` if all are 1. */
static const char *pairs_text(struct ar_arena *arena, uint32_t gpus_count,
                              const struct links *links, uint32_t unit)
{
    enum { TEXT_SIZE = AR_TOPO_GPUS_MAX * AR_TOPO_GPUS_MAX / 2 * 12 };
    char *text = ar_arena_alloc(arena, TEXT_SIZE, 1);
    bool are_all = true;
    for (uint32_t a = 0; a < gpus_count; a++) {
        for (uint32_t b = a + 1; b < gpus_count; b++) {
            uint32_t weight = links->between[a][b] / unit;
            are_all = are_all && weight == 1;
            if (weight > 0) {
                ar_append_text(text, TEXT_SIZE, weight > 1 ? "%s%u-%u:%u" : "%s%u-%u",
                               text[0] != '\0' ? " " : "", a, b, weight);
            }
        }
    }
    return are_all ? "all" : text;
}

enum ar_status facts_add_links(const struct source *source, uint32_t gpus_count,
                               const struct links *links, const char *what, struct ar_error *err)
{
    uint32_t unit = 0;
    uint32_t fewest = UINT32_MAX; /* links to switches */
    for (uint32_t a = 0; a < gpus_count; a++) {
        fewest = links->to_switch[a] < fewest ? links->to_switch[a] : fewest;
        for (uint32_t b = a + 1; b < gpus_count; b++) {
            unit = ar_common_divisor(unit, links->between[a][b]);
        }
    }
    if (gpus_count < 2) {
        return AR_OK;
    }
    const char *pairs = fewest > 0  ? "switch"
                        : unit == 0 ? "none"
                                    : pairs_text(source->machine->arena, gpus_count, links, unit);
    AR_TRY(fact_add(source, TOPO_NVLINK_PAIRS, pairs, what, err));
    return fewest > 0 || unit > 0
               ? fact_add_count(source, FACT_LINKS, fewest > 0 ? fewest : unit, what, err)
               : AR_OK;
}

enum ar_status facts_add_switches(const struct source *source, uint32_t gpus_count,
                                  const uint32_t *groups, struct ar_error *err)
{
    uint32_t switches = 0;
    char what[MACHINE_TEXT_MAX];
    for (uint32_t g = 0; g < gpus_count; g++) {
        switches += g == 0 || groups[g] != groups[g - 1];
    }
    bool is_even = switches > 0 && gpus_count % switches == 0;
    for (uint32_t g = 0; is_even && g < gpus_count; g++) {
        uint32_t first = g / (gpus_count / switches) * (gpus_count / switches);
        is_even = groups[g] == groups[first];
        for (uint32_t h = 0; is_even && h < first; h++) {
            is_even = groups[h] != groups[g];
        }
    }
    if (!is_even) {
        discovery_note(
            source->machine,
            ar_arena_format(
                source->machine->arena,
                "%.200s: GPUs are not spread evenly, in their order, over PCIe switches, "
                "which a cluster file cannot describe",
                source->path));
        return AR_OK;
    }
    snprintf(what, sizeof what, "%u GPUs below %u PCIe switches or ports", gpus_count, switches);
    return fact_add_count(source, TOPO_PCIE_SWITCHES, switches, what, err);
}
