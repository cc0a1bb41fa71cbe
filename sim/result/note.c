#include "ar_note.h"

#include <stdarg.h>

void ar_note(FILE *notes, const char *format, ...)
{
    if (notes == NULL) {
        return;
    }
    va_list arguments;
    va_start(arguments, format);
    fputs("allreckon: note: ", notes);
    vfprintf(notes, format, arguments);
    fputc('\n', notes);
    va_end(arguments);
}

void ar_note_flush(FILE *notes)
{
    if (notes != NULL) {
        fflush(notes);
    }
}
