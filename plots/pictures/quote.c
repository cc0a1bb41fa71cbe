#include "ar_plot_quote.h"

#include <string.h>

#include "ar_text.h"

/* `instead[i]` stands for `marks[i]` within the text. */
static void write_safe(FILE *file, const char *text, const char *marks, const char *const *instead)
{
    while (*text != '\0') {
        size_t size = ar_utf8_size(text);
        const char *mark = strchr(marks, *text);
        if (size == 0) {
            fputc('?', file);
        } else if (mark != NULL) {
            fputs(instead[mark - marks], file);
        } else if ((unsigned char)*text < ' ' || *text == 0x7f) {
            fputc(' ', file);
        } else {
            fwrite(text, 1, size, file);
        }
        text += size == 0 ? 1 : size;
    }
}

void ar_plot_write_text(FILE *file, const char *text)
{
    static const char *const instead[] = {"''"};
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
    static const char *const instead[] = {"&amp;", "&lt;", "&gt;", "&quot;", "&#39;", "\n"};
    write_safe(file, text, "&<>\"'\n", instead);
}
