/** \file work.h
 * The directory in which pictures are made before they are moved to their place.
 */
#ifndef AR_PLOT_WORK_H
#define AR_PLOT_WORK_H

#include <stdio.h>

#include "ar_error.h"

enum { AR_PLOT_PATH_SIZE = 3800, AR_PLOT_WORK_SIZE = AR_PLOT_PATH_SIZE + 24 };

/** Makes the output directory, if it is not there, and in it a directory of a new name; `work_dir`
 * is empty on failure. */
enum ar_status ar_plot_work_make(const char *output_dir, char work_dir[AR_PLOT_WORK_SIZE],
                                 struct ar_error *err);

/** Removes the directory and the files in it; an empty name is allowed. */
void ar_plot_work_remove(const char *work_dir);

/** Appends a template to a script. */
enum ar_status ar_plot_copy_template(const char *template_dir, const char *name, FILE *target,
                                     struct ar_error *err);

#endif
