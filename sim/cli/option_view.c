/* How a command shows records: --format, --columns, the width of the terminal. */
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "ar_units.h"
#include "options.h"

enum { WIDTH_MIN = 80, WIDTH_MAX = 10000 };

size_t option_width(void)
{
    struct winsize size;
    uint64_t width;
    struct ar_error ignored;
    const char *columns = getenv("COLUMNS");
    if (columns == NULL ||
        ar_parse_count("COLUMNS", columns, 1, WIDTH_MAX, &width, &ignored) != AR_OK) {
        width = ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
    }
    return width > WIDTH_MIN ? (size_t)width : WIDTH_MIN;
}

enum ar_status option_view(const struct options *options, struct ar_columns columns,
                           struct ar_view *view, struct ar_error *err)
{
    *view = (struct ar_view){.width = option_width(), .columns = options->columns};
    AR_TRY(ar_format_parse("--format", options->format, &view->format, err));
    return columns.count > 0 ? ar_view_check("--columns", view, columns, err) : AR_OK;
}
