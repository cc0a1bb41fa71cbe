/** \file ar_text.h
 * Small helpers on names, used in messages.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "ar_error.h"

/** The entry of `names` nearest to `name` in edit distance, where two neighbours swapped are one
 * edit, or NULL when none is near: about a third of the longer name at most may change.
 * `names_count` may be 0. The result points into `names`. */
const char *ar_nearest_name(const char *name, const char *const *names, size_t names_count);

/** Reports `WHERE: unknown NOUN "NAME"` with those of `names` that it is part of, in letters of any
 * case, else with the nearest, or with all of them when none is near; returns `status`. */
enum ar_status ar_error_unknown(struct ar_error *err, enum ar_status status, const char *where,
                                const char *noun, const char *name, const char *const *names,
                                size_t names_count);

/** Place of `text` in `names`, ended by NULL; AR_BAD_DATA: `WHERE: found "x"; expected a or b`. */
enum ar_status ar_parse_choice(const char *where, const char *text, const char *const *names,
                               unsigned *place, struct ar_error *err);

/** Writes `a, b or c`, cut if too long; returns `text`. */
const char *ar_list_choices(const char *const *names, char *text, size_t size);

/** Bytes of the UTF-8 character that `text` begins with; 0 if it is none. `text` is terminated. */
size_t ar_utf8_size(const char *text);

/** Makes a text one line that terminals print as it is: control characters become blanks. */
void ar_text_to_line(char *text);

/** Copies `source` into `target` of `size` bytes, always terminated, cut if too long. */
void ar_copy_text(char *target, size_t size, const char *source);

/** Writes behind the text that is in `text` of `size` bytes, cut if too long. */
void ar_append_text(char *text, size_t size, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/** Copies the file name of `path`, without folders and without `suffix`, as ar_copy_text() does. */
void ar_copy_stem(char *target, size_t size, const char *path, const char *suffix);

/** Writes a text as one word of a shell: as it is, or in single quotes. */
void ar_write_shell_word(FILE *file, const char *text);

/** Writes words, separated by blanks or ends of lines, from column `at` on, and a newline. A line
 * that is broken ends with `joint`, the next one begins with `indent` blanks. With a joint the
 * words are those of a command line, in which an option stays with its value. */
enum { AR_HELP_WIDTH = 80 };
void ar_write_words(FILE *file, const char *text, size_t length, size_t at, size_t indent,
                    const char *joint);

/** A text without the blanks around it; those behind it are cut off. */
char *ar_trim(char *text);

/** Cuts the next part off `*rest` at a `separator`, without the blanks around it; NULL when there
 * is none left. The text is changed. */
char *ar_next_part(char **rest, char separator);

/** The head of a loop over the parts of `text`, which is changed; NULL has none. */
#define AR_EACH_PART(part, text, separator)                                                        \
    for (char *part##_rest_ = (text), *part;                                                       \
         (part = ar_next_part(&part##_rest_, (separator))) != NULL;)

/** Copies the next word of a text of words with blanks between them, cut if too long, and moves
 * `*text` on; false when there is none left. */
enum { AR_WORD_SIZE = 80 };
bool ar_next_word(const char **text, char word[AR_WORD_SIZE]);

/** The head of a loop over the words of such a text. */
#define AR_EACH_WORD(word, text)                                                                   \
    for (const char *word##_rest_ = (text); word##_rest_ != NULL; word##_rest_ = NULL)             \
        for (char word[AR_WORD_SIZE]; ar_next_word(&word##_rest_, word);)

/** Whether such a text has a word. */
bool ar_text_has_word(const char *text, const char *word);

/* --- settings --------------------------------------------------------------------------------- */

struct ar_setting {
    const char *text;      /**< `net.latency=2.4us` */
    const char *where;     /**< begins error lines: `--set`, `sony.run.csv:12: set` */
    enum ar_status status; /**< of wrong values: AR_USAGE, or of a file AR_BAD_DATA */
};

/** Settings in order; which one of a KEY wins is for the user of them to say. Borrowed. */
struct ar_settings {
    const struct ar_setting *list;
    size_t count;
};
