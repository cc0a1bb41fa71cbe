#include "ar_plot_quote.h"

#include <stdbool.h>
#include <string.h>

#include "ar_text.h"

/* Below a blank, one of the second set of control characters (which terminals obey), or DEL. */
static bool is_control(const char *text)
{
    const unsigned char *bytes = (const unsigned char *)text;
    return bytes[0] < ' ' || bytes[0] == 0x7f || (bytes[0] == 0xc2 && bytes[1] < 0xa0);
}

/* `instead[i]` stands for `marks[i]` within the text; ]]> is nowhere allowed in an SVG. */
static void write_safe(FILE *file, const char *text, const char *marks, const char *const *instead)
{
    while (*text != '\0') {
        size_t size = ar_utf8_size(text);
        const char *mark = strchr(marks, *text);
        if (size == 0) {
            fputc('?', file);
        } else if (mark != NULL) {
            fputs(instead[mark - marks], file);
        } else if (is_control(text)) {
            fputc(' ', file);
        } else if (strncmp(text, "]]>", 3) == 0 && strchr(marks, '>') == NULL) {
            fputs("]] ", file);
            size = 2;
        } else {
            fwrite(text, 1, size, file);
        }
        text += size == 0 ? 1 : size;
    }
}

void ar_plot_write_text(FILE *file, const char *text)
{
    static const char *const instead[] = {"’"};
    fputc('\'', file);
    write_safe(file, text, "'", instead);
    fputc('\'', file);
}

void ar_plot_write_cell(FILE *file, const char *text)
{
    static const char *const instead[] = {"'", ";"};
    write_safe(file, text, "\",", instead);
}

void ar_plot_write_html(FILE *file, const char *text)
{
    static const char *const instead[] = {"&amp;", "&lt;", "&gt;", "&quot;", "&#39;", "\n", "\t"};
    write_safe(file, text, "&<>\"'\n\t", instead);
}
