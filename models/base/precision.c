#include "ar_precision.h"

const char *const ar_precision_names[] = {
#define X(symbol, name, bytes, stored) name,
    AR_PRECISION_LIST(X)
#undef X
        NULL};

static const struct {
    uint32_t bytes;
    enum ar_precision stored;
} facts[] = {
#define X(symbol, name, bytes, stored) {bytes, stored},
    AR_PRECISION_LIST(X)
#undef X
};

uint32_t ar_precision_bytes(enum ar_precision precision)
{
    return facts[precision].bytes;
}

enum ar_precision ar_precision_stored(enum ar_precision precision)
{
    return facts[precision].stored;
}
