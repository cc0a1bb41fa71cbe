#include "ar_note.h"

#include <stdarg.h>
#include <stdlib.h>

#include "ar_text.h"

void ar_note(FILE *notes, const char *format, ...)
{
    if (notes == NULL) {
        return;
    }
    char *line = NULL;
    va_list arguments;
    va_start(arguments, format);
    if (vasprintf(&line, format, arguments) >= 0) {
        ar_text_to_line(line); /* one line, whatever it quotes */
        fprintf(notes, "allreckon: note: %s\n", line);
        free(line);
    }
    va_end(arguments);
}

void ar_note_flush(FILE *notes)
{
    if (notes != NULL) {
        fflush(notes);
    }
}
