/* What files say, put together. */
#include "machine.h"

#include <stdarg.h>
#include <string.h>

#include "ar_numbers.h"

enum ar_status source_refuse(const struct source *source, struct ar_error *err, const char *format,
                             ...)
{
    char text[sizeof err->text];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return ar_error_set(err, AR_BAD_DATA, "%.200s:%llu: %.300s", source->path,
                        (unsigned long long)source->line, text);
}

enum ar_status machine_note(struct ar_discovery *machine, struct ar_error *err, const char *format,
                            ...)
{
    char text[400];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    for (size_t i = 0; i < machine->notes_count; i++) {
        if (strcmp(machine->notes[i], text) == 0) {
            return AR_OK;
        }
    }
    if (machine->notes_count == MACHINE_NOTES_MAX) {
        return AR_OK;
    }
    machine->notes[machine->notes_count] = ar_arena_text(machine->arena, text);
    return machine->notes[machine->notes_count++] != NULL ? AR_OK
                                                          : ar_error_no_memory(err, "notes");
}

/* Texts of files stand in a cluster file: one line of plain characters, no ';'. */
static enum ar_status check_text(const struct source *source, const char *text,
                                 struct ar_error *err)
{
    size_t length = strlen(text);
    for (size_t i = 0; i < length; i++) {
        if (text[i] < ' ' || text[i] > '~' || text[i] == ';') {
            return source_refuse(source, err,
                                 "found the byte 0x%02x in a text; expected letters, digits and "
                                 "signs but ';'",
                                 (unsigned char)text[i]);
        }
    }
    return length > 0 && length <= AR_TOPO_LINE_MAX / 2
               ? AR_OK
               : source_refuse(source, err, "found a text of %zu characters; expected 1 to %d",
                               length, AR_TOPO_LINE_MAX / 2);
}

static const char *where(const struct source *source, const char *what)
{
    return ar_arena_format(source->machine->arena, "%s:%llu: %s", source->path,
                           (unsigned long long)source->line, what);
}

static const char *name_of(unsigned fact)
{
    return fact < AR_TOPO_KEYS_COUNT ? ar_topo_keys[fact].name : "NVLinks";
}

bool machine_is_set(const struct ar_discovery *machine, unsigned fact)
{
    return fact < AR_TOPO_KEYS_COUNT &&
           ar_topo_entries_find(&machine->set, (enum ar_topo_key)fact) != NULL;
}

enum ar_status machine_say(const struct source *source, unsigned fact, const char *text,
                           const char *what, struct ar_error *err)
{
    struct ar_discovery *machine = source->machine;
    struct fact *known = &machine->facts[fact];
    AR_TRY(check_text(source, text, err));
    AR_TRY(check_text(source, what, err));
    if (known->text != NULL) {
        bool is_same = strcmp(known->text, text) == 0;
        return is_same || machine_is_set(machine, fact)
                   ? AR_OK
                   : source_refuse(source, err, "found %s %.60s (%.60s); expected %.60s, as %.120s",
                                   name_of(fact), text, what, known->text, known->source);
    }
    known->text = ar_arena_text(machine->arena, text);
    known->source = where(source, what);
    return known->text != NULL && known->source != NULL ? AR_OK
                                                        : ar_error_no_memory(err, source->path);
}

/* --- NICs ------------------------------------------------------------------------------------ */

enum ar_status machine_nic(const struct source *source, const char *name, uint64_t port,
                           struct nic **nic, struct ar_error *err)
{
    struct ar_discovery *machine = source->machine;
    AR_TRY(check_text(source, name, err));
    const char *whole =
        port > 1 ? ar_arena_format(machine->arena, "%.60s/%llu", name, (unsigned long long)port)
                 : ar_arena_format(machine->arena, "%.60s", name);
    AR_NEED(whole, err, source->path);
    for (size_t i = 0; i < machine->nics_count; i++) {
        if (strcmp(machine->nics[i].name, whole) == 0) {
            *nic = &machine->nics[i];
            return AR_OK;
        }
    }
    if (machine->nics_count == MACHINE_NICS_MAX) {
        return source_refuse(source, err, "found more than %d NICs; expected at most %d",
                             MACHINE_NICS_MAX, MACHINE_NICS_MAX);
    }
    *nic = &machine->nics[machine->nics_count++];
    **nic = (struct nic){.name = whole, .near = NIC_SOMEWHERE, .source = where(source, whole)};
    return (*nic)->source != NULL ? AR_OK : ar_error_no_memory(err, source->path);
}

enum ar_status nic_say_near(const struct source *source, struct nic *nic, int32_t near,
                            struct ar_error *err)
{
    bool is_known = nic->near != NIC_SOMEWHERE;
    if (nic->near == near || (is_known && machine_is_set(source->machine, TOPO_HCAS))) {
        return AR_OK;
    }
    if (is_known) {
        return source_refuse(
            source, err, "found NIC %.40s %s; expected what %.120s says (or --set hcas=N)",
            nic->name, near < 0 ? "on the host" : "on a switch with other GPUs", nic->near_source);
    }
    nic->near = near;
    nic->near_source = where(source, nic->name);
    return nic->near_source != NULL ? AR_OK : ar_error_no_memory(err, source->path);
}

enum ar_status nic_say_rate(const struct source *source, struct nic *nic, double rate_bps,
                            struct ar_error *err)
{
    char what[MACHINE_TEXT_MAX];
    if (nic->rate_bps == rate_bps || machine_is_set(source->machine, TOPO_HCA_BANDWIDTH)) {
        return AR_OK;
    }
    if (!(rate_bps >= 1e8 && rate_bps <= 1e14)) {
        return source_refuse(source, err,
                             "found a rate of %g Gb/s of NIC %.40s; expected 0.1 to 100000 Gb/s",
                             rate_bps / 1e9, nic->name);
    }
    if (nic->rate_bps > 0) {
        return source_refuse(
            source, err,
            "found %.6g Gb/s of NIC %.40s; expected %.6g Gb/s, as %.120s (or --set "
            "hca.bandwidth=RATE)",
            rate_bps / 1e9, nic->name, nic->rate_bps / 1e9, nic->rate_source);
    }
    snprintf(what, sizeof what, "%s %.6g Gb/s", nic->name, rate_bps / 1e9);
    nic->rate_bps = rate_bps;
    nic->rate_source = where(source, what);
    return nic->rate_source != NULL ? AR_OK : ar_error_no_memory(err, source->path);
}

/* --- GPUs among themselves ------------------------------------------------------------------- */

enum { PAIRS_TEXT = AR_TOPO_GPUS_MAX * AR_TOPO_GPUS_MAX / 2 * 12 };

/* `0-1 0-2:2 ...`, as weights of `unit` links; `all` if all are the same. */
static const char *pairs_text(struct ar_arena *arena, uint32_t gpus_count,
                              const struct links *links, uint32_t unit)
{
    char *text = ar_arena_alloc(arena, PAIRS_TEXT, 1);
    size_t used = 0;
    bool are_all = true;
    for (uint32_t a = 0; text != NULL && a < gpus_count; a++) {
        for (uint32_t b = a + 1; b < gpus_count; b++) {
            uint32_t weight = links->between[a][b] / unit;
            are_all = are_all && weight == 1;
            const char *gap = used > 0 ? " " : "";
            const char *form = weight > 1 ? "%s%u-%u:%u" : "%s%u-%u";
            used += weight == 0
                        ? 0
                        : (size_t)snprintf(text + used, PAIRS_TEXT - used, form, gap, a, b, weight);
        }
    }
    return text == NULL ? NULL : are_all ? "all" : text;
}

static enum ar_status say_count(const struct source *source, unsigned fact, uint64_t count,
                                const char *what, struct ar_error *err)
{
    char text[24];
    snprintf(text, sizeof text, "%llu", (unsigned long long)count);
    return machine_say(source, fact, text, what, err);
}

enum ar_status machine_say_links(const struct source *source, uint32_t gpus_count,
                                 const struct links *links, const char *what, struct ar_error *err)
{
    uint32_t unit = 0;
    uint32_t fewest = UINT32_MAX;
    for (uint32_t a = 0; a < gpus_count; a++) {
        fewest = links->to_switch[a] < fewest ? links->to_switch[a] : fewest;
        for (uint32_t b = a + 1; b < gpus_count; b++) {
            unit = ar_common_divisor(unit, links->between[a][b]);
        }
    }
    if (gpus_count < 2) {
        return AR_OK;
    }
    if (fewest > 0) {
        AR_TRY(machine_say(source, TOPO_NVLINK_PAIRS, "switch", what, err));
        return say_count(source, FACT_LINKS, fewest, what, err);
    }
    if (unit == 0) {
        return machine_say(source, TOPO_NVLINK_PAIRS, "none", what, err);
    }
    const char *pairs = pairs_text(source->machine->arena, gpus_count, links, unit);
    AR_NEED(pairs, err, source->path);
    AR_TRY(machine_say(source, TOPO_NVLINK_PAIRS, pairs, what, err));
    return say_count(source, FACT_LINKS, unit, what, err);
}

enum ar_status machine_say_switches(const struct source *source, uint32_t gpus_count,
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
        return machine_note(source->machine, err,
                            "%.200s: GPUs are not spread evenly, in their order, over PCIe "
                            "switches, which a cluster file cannot say",
                            source->path);
    }
    snprintf(what, sizeof what, "%u GPUs below %u PCIe switches or ports", gpus_count, switches);
    return say_count(source, TOPO_PCIE_SWITCHES, switches, what, err);
}
