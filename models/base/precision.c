#include "ar_precision.h"

#include <string.h>

#include "ar_csv.h"

static const struct {
    const char *name;
    uint32_t bytes;
} precisions[] = {[AR_FP16] = {"fp16", 2}, [AR_FP32] = {"fp32", 4}};

uint32_t ar_precision_bytes(enum ar_precision precision)
{
    return precisions[precision].bytes;
}

const char *ar_precision_name(enum ar_precision precision)
{
    return precisions[precision].name;
}

enum ar_status ar_precision_parse(const char *where, const char *text, enum ar_precision *precision,
                                  struct ar_error *err)
{
    char shown[64];
    for (int i = 0; i < AR_PRECISIONS_COUNT; i++) {
        if (strcmp(text, precisions[i].name) == 0) {
            *precision = (enum ar_precision)i;
            return AR_OK;
        }
    }
    return ar_error_set(err, AR_BAD_DATA, "%s: found \"%s\"; expected fp16 or fp32", where,
                        ar_csv_show(text, shown));
}
