/** \file ar_note.h
 * What a reader of results should know, beside them.
 */
#pragma once

#include <stdio.h>

/** Writes `allreckon: note: ` and a line to `notes`, NULL where notes are not wanted; control
 * characters of what it quotes become blanks. The command line holds them back: those of a command
 * that ends with an error are shown only if they were flushed before. */
void ar_note(FILE *notes, const char *format, ...) __attribute__((format(printf, 2, 3)));

/** Shows the notes so far: checks are over, and long work or output follows. */
void ar_note_flush(FILE *notes);
