#include "ar_units.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct unit {
    const char *name;
    double factor; /* value in SI base units */
};

static const struct unit size_units[] = {
    {"B", 1},           {"kB", 1e3},           {"MB", 1e6},
    {"GB", 1e9},        {"TB", 1e12},          {"KiB", 1024.0},
    {"MiB", 1048576.0}, {"GiB", 1073741824.0}, {"TiB", 1099511627776.0},
    {NULL, 0},
};

static const struct unit rate_units[] = {
    {"B/s", 1},         {"kB/s", 1e3},     {"MB/s", 1e6},        {"GB/s", 1e9},
    {"TB/s", 1e12},     {"KiB/s", 1024.0}, {"MiB/s", 1048576.0}, {"GiB/s", 1073741824.0},
    {"bps", 0.125},     {"kbps", 0.125e3}, {"Mbps", 0.125e6},    {"Gbps", 0.125e9},
    {"Tbps", 0.125e12}, {NULL, 0},
};

static const struct unit time_units[] = {
    {"s", 1}, {"ms", 1e-3}, {"us", 1e-6}, {"ns", 1e-9}, {"ps", 1e-12}, {NULL, 0},
};

static const struct unit cost_units[] = {
    {"s/B", 1}, {"us/B", 1e-6}, {"ns/B", 1e-9}, {"ps/B", 1e-12}, {"fs/B", 1e-15}, {NULL, 0},
};

static const struct unit energy_units[] = {{"pJ/b", 8e-12}, {"pJ/B", 1e-12}, {NULL, 0}};

static const struct {
    const struct unit *units;
    const char *expected;
} quantities[] = {[AR_QUANTITY_SIZE] = {size_units, "a size such as 51.1MB, 64MiB or 256B"},
                  [AR_QUANTITY_RATE] = {rate_units, "a rate such as 10.2GB/s or 100Gbps"},
                  [AR_QUANTITY_TIME] = {time_units, "a time such as 3.4us or 0.5ms"},
                  [AR_QUANTITY_COST] = {cost_units, "a cost per byte such as 3.85ps/B"},
                  [AR_QUANTITY_ENERGY] = {energy_units, "an energy per bit such as 10pJ/b"}};

/* A decimal number as people write it: no hexadecimal, no "inf", no "nan". */
static bool parse_decimal(const char *text, double *value, const char **rest)
{
    const char *start = text + strspn(text, " ");
    const char *digits = start + (*start == '-' || *start == '+');
    if (strspn(digits, ".0123456789") == 0 || strpbrk(digits, "xX") == digits + 1) {
        return false;
    }
    char *end;
    *value = strtod(start, &end);
    *rest = end;
    return end != start && isfinite(*value);
}

static enum ar_status refuse_quantity(const char *where, const char *text, const char *missing,
                                      const char *expected, const char *limit, struct ar_error *err)
{
    return ar_error_set(err, AR_BAD_DATA, "%s: found \"%s\"%s; expected %s%s", where, text, missing,
                        expected, limit);
}

enum ar_status ar_parse_quantity(const char *where, const char *text, enum ar_quantity quantity,
                                 double *value, struct ar_error *err)
{
    double number;
    const char *rest, *expected = quantities[quantity].expected;
    const struct unit *units = quantities[quantity].units;
    bool is_size = quantity == AR_QUANTITY_SIZE;
    AR_REFUSE_BY(!parse_decimal(text, &number, &rest),
                 refuse_quantity(where, text, "", expected, "", err));
    AR_REFUSE_BY(signbit(number),
                 refuse_quantity(where, text, "", expected, ", not negative", err));
    rest += strspn(rest, " ");
    if (*rest == '\0') {
        return is_size
                   ? ar_error_set(err, AR_BAD_DATA,
                                  "%s: found \"%s\" without a unit; expected %s (bytes: %.20sB)",
                                  where, text, expected, text)
                   : refuse_quantity(where, text, " without a unit", expected, "", err);
    }
    while (units->name != NULL && strcmp(rest, units->name) != 0) {
        units++;
    }
    AR_REFUSE(units->name == NULL && is_size && strlen(rest) == 1 && strchr("KMGT", *rest) != NULL,
              err, AR_BAD_DATA,
              "%s: found unit \"%s\" in \"%s\"; expected %.*s%siB, which nccl-tests calls so, or "
              "%.*s%sB in powers of 1000",
              where, rest, text, (int)(rest - text), text, rest, (int)(rest - text), text, rest);
    AR_REFUSE(units->name == NULL, err, AR_BAD_DATA, "%s: found unit \"%s\" in \"%s\"; expected %s",
              where, rest, text, expected);
    number *= units->factor;
    AR_REFUSE_BY(!isfinite(number),
                 refuse_quantity(where, text, "", expected, ", less enormous", err));
    AR_REFUSE_BY(quantity == AR_QUANTITY_RATE && number <= 0,
                 refuse_quantity(where, text, "", expected, " above zero", err));
    /* "51.1MB" is not exactly 51100000 in binary: number and product round by 2^-53 each. Below
     * 2^50 that is a quarter of a byte at most, so the nearest whole number is the one meant. */
    double whole = is_size ? nearbyint(number) : number;
    AR_REFUSE_BY(is_size && (fabs(number - whole) > number * 0x1p-52 || whole >= 0x1p50),
                 refuse_quantity(where, text, "", "a whole number of bytes below 2^50", "", err));
    *value = whole;
    return AR_OK;
}

enum ar_status ar_parse_bytes(const char *where, const char *text, uint64_t *bytes,
                              struct ar_error *err)
{
    double value;
    AR_TRY(ar_parse_quantity(where, text, AR_QUANTITY_SIZE, &value, err));
    *bytes = (uint64_t)value;
    return AR_OK;
}

enum ar_status ar_parse_count(const char *where, const char *text, uint64_t min, uint64_t max,
                              uint64_t *count, struct ar_error *err)
{
    char *end;
    errno = 0;
    unsigned long long value = strtoull(text, &end, 10);
    bool is_plain = text[0] >= '0' && text[0] <= '9' && *end == '\0' && errno == 0;
    if (!is_plain || value < min || value > max) {
        char limits[64];
        snprintf(limits, sizeof limits,
                 max == UINT64_MAX ? " of at least %" PRIu64 : " from %" PRIu64 " to %" PRIu64, min,
                 max);
        return refuse_quantity(where, text, "", "a whole number", limits, err);
    }
    *count = value;
    return AR_OK;
}

enum ar_status ar_parse_number(const char *where, const char *text, double min, double max,
                               double *number, struct ar_error *err)
{
    double value;
    const char *rest;
    AR_REFUSE(!parse_decimal(text, &value, &rest) || *rest != '\0' || value < min || value > max,
              err, AR_BAD_DATA, "%s: found \"%s\"; expected a number from %g to %g", where, text,
              min, max);
    *number = value;
    return AR_OK;
}

/* Prints with the largest unit of `units` (ascending by 1000 each) that keeps the number >= 1. */
static const char *format_scaled(double value, const char *const *names, size_t names_count,
                                 char text[AR_UNIT_TEXT])
{
    size_t i = 0;
    while (i + 1 < names_count && value >= 999.95) {
        value /= 1000;
        i++;
    }
    snprintf(text, AR_UNIT_TEXT, "%.4g %s", value, names[i]);
    return text;
}

const char *ar_format_bytes(uint64_t bytes, char text[AR_UNIT_TEXT])
{
    static const char *const names[] = {"B", "kB", "MB", "GB", "TB"};
    return format_scaled((double)bytes, names, 5, text);
}

const char *ar_format_rate(double rate_Bps, char text[AR_UNIT_TEXT])
{
    static const char *const names[] = {"B/s", "kB/s", "MB/s", "GB/s", "TB/s"};
    return format_scaled(rate_Bps, names, 5, text);
}

const char *ar_format_seconds(double time_s, char text[AR_UNIT_TEXT])
{
    static const char *const names[] = {"ns", "us", "ms", "s"};
    return format_scaled(time_s * 1e9, names, 4, text);
}

const char *ar_format_number(double number, char text[AR_UNIT_TEXT])
{
    bool is_whole = fabs(number) >= 1e4 && fabs(number) < 1e15;
    snprintf(text, AR_UNIT_TEXT, is_whole ? "%.0f" : "%.4g", number);
    size_t sign = text[0] == '-';
    for (size_t at = strcspn(text, ".e"); at > sign + 3;) {
        at -= 3;
        memmove(text + at + 1, text + at, strlen(text + at) + 1);
        text[at] = ',';
    }
    return text;
}

const char *ar_format_duration(double time_s, char text[AR_UNIT_TEXT])
{
    if (time_s < 100) {
        snprintf(text, AR_UNIT_TEXT, "%.0f s", time_s);
    } else if (time_s < 6000) {
        snprintf(text, AR_UNIT_TEXT, "%.0f min", time_s / 60);
    } else {
        snprintf(text, AR_UNIT_TEXT, "%.3g h", time_s / 3600);
    }
    return text;
}

/* --- precisions ------------------------------------------------------------------------------- */

const char *const ar_precision_names[] = {AR_PRECISION_LIST(AR_LIST_SECOND) NULL};

const char *const ar_wire_precision_names[] = {AR_WIRE_PRECISION_LIST(AR_LIST_SECOND) NULL};

const struct ar_precision_row ar_precisions[] = {AR_PRECISION_LIST(AR_LIST_VALUES)};

double ar_stored_bytes(enum ar_precision precision)
{
    return ar_precisions[ar_precisions[precision].stored].bytes;
}

bool ar_precision_is_sent(enum ar_precision precision)
{
    const size_t sent =
        sizeof ar_wire_precision_names / sizeof ar_wire_precision_names[0] - 1; /* without NULL */
    return (size_t)precision < sent;
}
