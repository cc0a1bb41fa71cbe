#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "topo_values.h"

enum { WEIGHT_MAX = 64, DIGITS_MAX = 4 };

/* Reads a number of at most DIGITS_MAX digits and moves `text` behind it. */
static bool read_number(const char **text, uint32_t *number)
{
    size_t digits = strspn(*text, "0123456789");
    if (digits == 0 || digits > DIGITS_MAX) {
        return false;
    }
    *number = (uint32_t)strtoul(*text, NULL, 10);
    *text += digits;
    return true;
}

/* Reads "a-b" or "a-b:weight". */
static bool read_pair(const char *text, uint32_t *a, uint32_t *b, uint32_t *weight)
{
    *weight = 1;
    if (!read_number(&text, a) || *text++ != '-' || !read_number(&text, b)) {
        return false;
    }
    if (*text == ':') {
        text++;
        if (!read_number(&text, weight)) {
            return false;
        }
    }
    return *text == '\0';
}

static enum ar_status add_pair(const char *where, const char *text, uint32_t gpus_count,
                               struct ar_topo_values *values, struct ar_error *err)
{
    uint32_t a, b, weight;
    if (!read_pair(text, &a, &b, &weight)) {
        return ar_error_set(err, AR_BAD_DATA,
                            "%s: found \"%.40s\"; expected all, none, switch or a list of pairs "
                            "such as 0-1 0-2:2",
                            where, text);
    }
    if (a >= gpus_count || b >= gpus_count) {
        return ar_error_set(err, AR_BAD_DATA,
                            "%s: found \"%.40s\"; expected GPUs numbered from 0 to %u", where, text,
                            gpus_count - 1);
    }
    if (a == b) {
        return ar_error_set(err, AR_BAD_DATA, "%s: found \"%.40s\"; expected two different GPUs",
                            where, text);
    }
    if (weight < 1 || weight > WEIGHT_MAX) {
        return ar_error_set(err, AR_BAD_DATA, "%s: found \"%.40s\"; expected a weight from 1 to %d",
                            where, text, WEIGHT_MAX);
    }
    if (values->weight[a][b] != 0) {
        return ar_error_set(err, AR_BAD_DATA,
                            "%s: found \"%.40s\" a second time; expected each pair once", where,
                            text);
    }
    values->weight[a][b] = values->weight[b][a] = (uint8_t)weight;
    return AR_OK;
}

static void add_all_pairs(uint32_t gpus_count, struct ar_topo_values *values)
{
    for (uint32_t a = 0; a < gpus_count; a++) {
        for (uint32_t b = 0; b < gpus_count; b++) {
            values->weight[a][b] = a != b;
        }
    }
}

enum ar_status ar_topo_parse_pairs(const char *where, const char *text, uint32_t gpus_count,
                                   struct ar_topo_values *values, struct ar_error *err)
{
    if (strcmp(text, "none") == 0) {
        return AR_OK;
    }
    if (strcmp(text, "switch") == 0) {
        values->is_switched = true;
        return AR_OK;
    }
    if (strcmp(text, "all") == 0) {
        add_all_pairs(gpus_count, values);
        return AR_OK;
    }
    while (*text != '\0') {
        char word[42];
        size_t length = strcspn(text, " \t");
        snprintf(word, sizeof word, "%.*s", (int)length, text);
        AR_TRY(add_pair(where, word, gpus_count, values, err));
        text += length;
        text += strspn(text, " \t");
    }
    return AR_OK;
}
