/* Ports of HCAs: ibstat, and ibv_devinfo, which says rates with -v only. */
#include <stdlib.h>
#include <string.h>

#include "ar_text.h"
#include "lines.h"

/* The word behind a label of one or two words; NULL: the line has another label. */
static const char *behind(const struct words *words, const char *first, const char *second)
{
    size_t count = second != NULL ? 2 : 1;
    bool is_label = words->count > count && strcmp(words->list[0], first) == 0 &&
                    (second == NULL || strcmp(words->list[1], second) == 0);
    return is_label ? words->list[count] : NULL;
}

static enum ar_status begin_port(struct hca *hca, const struct source *source, const char *number,
                                 struct ar_error *err)
{
    if (hca->name[0] == '\0') {
        return AR_OK;
    }
    hca->port = strtoul(number, NULL, 10) & 0xff;
    hca->lanes = 0;
    hca->ports_count++;
    return machine_nic(source, hca->name, hca->port, &hca->nic, err);
}

/* `4X (2)` lanes of `50.0 Gbps (64)`. */
static enum ar_status take_speed(struct hca *hca, const struct source *source, const char *speed,
                                 struct ar_error *err)
{
    double lane_bps = strtod(speed, NULL) * 1e9;
    return hca->lanes > 0 && lane_bps > 0
               ? nic_say_rate(source, hca->nic, (double)hca->lanes * lane_bps, err)
               : AR_OK;
}

enum ar_status hca_line(struct hca *hca, const struct source *source, const struct words *words,
                        struct ar_error *err)
{
    const char *word;
    if ((words->count == 2 && (word = behind(words, "CA", NULL)) != NULL && word[0] == '\'') ||
        (word = behind(words, "hca_id:", NULL)) != NULL) {
        hca->nic = NULL;
        ar_copy_text(hca->name, sizeof hca->name, word + (word[0] == '\''));
        hca->name[strcspn(hca->name, "'")] = '\0';
        return AR_OK;
    }
    if ((words->count == 2 && (word = behind(words, "Port", NULL)) != NULL &&
         word[strspn(word, "0123456789")] == ':') ||
        (word = behind(words, "port:", NULL)) != NULL) {
        return begin_port(hca, source, word, err);
    }
    if (hca->nic == NULL) {
        return AR_OK;
    }
    if ((word = behind(words, "State:", NULL)) != NULL ||
        (word = behind(words, "state:", NULL)) != NULL) {
        hca->nic->is_down = strcmp(word, "Active") != 0 && strcmp(word, "PORT_ACTIVE") != 0;
    } else if ((word = behind(words, "Rate:", NULL)) != NULL && !hca->nic->is_down) {
        return nic_say_rate(source, hca->nic, strtod(word, NULL) * 1e9, err);
    } else if ((word = behind(words, "active_width:", NULL)) != NULL) {
        hca->lanes = strtoul(word, NULL, 10) & 0xff;
    } else if ((word = behind(words, "active_speed:", NULL)) != NULL && !hca->nic->is_down) {
        return take_speed(hca, source, word, err);
    }
    return AR_OK;
}
