#include "ar_error.h"

#include <inttypes.h>

int ar_status_exit_code(enum ar_status status)
{
    static const int codes[] = {AR_STATUS_LIST(AR_LIST_SECOND)};
    return codes[status];
}

enum ar_status ar_error_set(struct ar_error *err, enum ar_status status, const char *format, ...)
{
    AR_PRINT_ARGUMENTS(err->text, format);
    for (char *at = err->text; *at != '\0'; at++) { /* one line, whatever it quotes */
        *at = (unsigned char)*at < 0x20 || *at == 0x7f ? '?' : *at;
    }
    err->status = status;
    return status;
}

enum ar_status ar_error_in_line(struct ar_error *err, const char *path, uint64_t line,
                                const char *format, ...)
{
    char text[sizeof err->text];
    AR_PRINT_ARGUMENTS(text, format);
    return ar_error_set(err, AR_BAD_DATA, "%.280s:%" PRIu64 ": %s", path, line, text);
}

enum ar_status ar_error_blame(enum ar_status status, enum ar_status origin, struct ar_error *err)
{
    return status == AR_USAGE || status == AR_BAD_DATA ? err->status = origin : status;
}
