/** \file ar_note.h
 * What a reader of results should know, beside them.
 */
#ifndef AR_NOTE_H
#define AR_NOTE_H

#include <stdio.h>

/** Writes `allreckon: note: ` and a line to `notes`, which is stderr, or NULL where notes are not
 * wanted. */
void ar_note(FILE *notes, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
