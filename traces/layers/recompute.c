/* Modules that the backward pass computes again: how they are written. */
#include <inttypes.h>
#include <string.h>

#include "ar_text.h"
#include "ar_transformer.h"
#include "ar_units.h"

/* The modules of enum ar_again, by the place of their bits. */
static const char *const again_names[] = {"core_attn", "layernorm", "mlp", "moe", "moe_act", NULL};

/* Reads modules that are joined by +, at least one. */
static bool parse_modules(const char *text, unsigned *modules)
{
    char name[AR_RECOMPUTE_TEXT];
    do {
        size_t length = strcspn(text, "+");
        unsigned place;
        ar_copy_text(name, length < sizeof name ? length + 1 : sizeof name, text);
        if (ar_parse_choice("", name, again_names, &place, AR_IGNORED) != AR_OK) {
            return false;
        }
        *modules |= 1u << place;
        text += length;
    } while (*text++ == '+');
    return true;
}

enum ar_status ar_recompute_parse(const char *where, const char *text,
                                  struct ar_recompute *recompute, struct ar_error *err)
{
    static const char selective[] = "selective:", full[] = "full:";
    struct ar_recompute found = AR_RECOMPUTE_NONE;
    uint64_t layers = 0;
    bool is_known = true;
    if (strcmp(text, "selective") == 0) {
        found = AR_RECOMPUTE_SELECTIVE;
    } else if (strncmp(text, selective, sizeof selective - 1) == 0) {
        is_known = parse_modules(text + sizeof selective - 1, &found.modules);
    } else if (strcmp(text, "full") == 0) {
        found = AR_RECOMPUTE_FULL;
    } else if (strcmp(text, "none") != 0) {
        is_known =
            strncmp(text, full, sizeof full - 1) == 0 &&
            ar_parse_count("", text + sizeof full - 1, 1, UINT32_MAX, &layers, AR_IGNORED) == AR_OK;
        found = AR_RECOMPUTE_FULL;
        found.layers = (uint32_t)layers;
    }
    AR_REFUSE(
        !is_known, err, AR_USAGE,
        "%s: found \"%.60s\"; expected none, selective, full, full:K with K layers of each stage, "
        "or selective: with some of core_attn, layernorm, mlp, moe and moe_act joined by +",
        where, text);
    *recompute = found;
    return AR_OK;
}

const char *ar_recompute_format(struct ar_recompute recompute, char text[AR_RECOMPUTE_TEXT])
{
    const char *joint = "selective:";
    ar_copy_text(text, AR_RECOMPUTE_TEXT, recompute.modules == 0 ? "none" : "");
    if (recompute.modules == AR_AGAIN_CORE_ATTN) {
        ar_copy_text(text, AR_RECOMPUTE_TEXT, "selective");
    } else if ((recompute.modules & AR_AGAIN_LAYER) != 0) {
        ar_copy_text(text, AR_RECOMPUTE_TEXT, "full");
        if (recompute.layers > 0) {
            ar_append_text(text, AR_RECOMPUTE_TEXT, ":%" PRIu32, recompute.layers);
        }
    } else {
        for (int i = 0; again_names[i] != NULL; i++) {
            if ((recompute.modules >> i & 1) != 0) {
                ar_append_text(text, AR_RECOMPUTE_TEXT, "%s%s", joint, again_names[i]);
                joint = "+";
            }
        }
    }
    return text;
}
