#include "ar_precision.h"

const char *const ar_precision_names[] = {[AR_FP16] = "fp16", [AR_FP32] = "fp32", NULL};

uint32_t ar_precision_bytes(enum ar_precision precision)
{
    return precision == AR_FP16 ? 2 : 4;
}
