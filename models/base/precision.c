#include "ar_precision.h"

#include "ar_text.h"

const char *const ar_precision_names[] = {[AR_FP16] = "fp16", [AR_FP32] = "fp32", NULL};

uint32_t ar_precision_bytes(enum ar_precision precision)
{
    return precision == AR_FP16 ? 2 : 4;
}

enum ar_status ar_precision_parse(const char *where, const char *text, enum ar_precision *precision,
                                  struct ar_error *err)
{
    unsigned place;
    AR_TRY(ar_parse_choice(where, text, ar_precision_names, &place, err));
    *precision = (enum ar_precision)place;
    return AR_OK;
}

const char *ar_precision_name(enum ar_precision precision)
{
    return ar_precision_names[precision];
}
