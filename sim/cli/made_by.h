/** \file made_by.h
 * Marks that say which command made an output: no command overwrites that of another one without
 * --force.
 *
 * The mark is `allreckon COMMAND, command HASH`. A file has it in a comment; a directory has it in
 * its file `command.txt`, which begins with the command line and ends with the notes. The hash is
 * that of the options and arguments that decide the contents, so that the same command overwrites
 * its own output, also with another number of --jobs. A file without any mark is kept, too.
 */
#pragma once

#include "ar_file.h"
#include "exports.h"
#include "options.h"

/** The mark of a command, in the arena of the options. */
const char *made_by(const struct options *options);

/** Refuses a path where another command's file lies, unless there is --force. NULL: no output. */
enum ar_status made_by_check_file(const struct options *options, const char *path,
                                  struct ar_error *err);

/** The same for the directory --out, in which the command writes the files `names`, words.
 * A directory with the mark `more` is the command's, too (NULL: there is none). Makes the
 * directory; if it stays empty, it goes with the arena of the options. With --force, files that
 * another command left go then, too, if this one has signed the directory and not written them. */
enum ar_status made_by_check_directory(const struct options *options, const char *names,
                                       const char *more, struct ar_error *err);

/** Whether the path is that of a regular file. */
bool made_by_is_file(const char *path);

/** Whether `command.txt` of the directory --out has a mark. */
bool made_by_has_mark(const struct options *options, const char *mark);

/** Signs the directory --out when all files but pictures are there. Writes `parameters.csv`, the
 * options that were given and decide the contents, and `parameters` (NULL: no others); then
 * `command.txt`, with the mark `more` unless that is NULL. */
enum ar_status made_by_sign(const struct options *options, const char *more,
                            const struct parameters *parameters, struct ar_error *err);

/** Begins the output of a command, into --out, a file that appears whole or not at all, or to
 * stdout; `*mark` is for its comments. */
enum ar_status made_by_begin(const struct options *options, struct ar_output **output,
                             const char **mark, struct ar_error *err);
enum ar_status made_by_end(struct ar_output *output, struct ar_error *err);
