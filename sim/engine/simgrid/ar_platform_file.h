/** \file platform.h
 * A user's own SimGrid platform file as cluster (ar_platform.h).
 *
 * SimGrid answers every question in a forked child that loads the file: what hosts and links there
 * are, which links and latency the route of a pair has, and which rates flows get that are under
 * way together. Hosts are ranked in the natural order of their names: gpu-2 comes before gpu-10.
 *
 * Rates are measured: the flows are sent at once, with sizes for which all would take the same time
 * if the guess were right. As long as all flows are under way nobody's rate changes, so those that
 * end first have been measured; the rest is then made to end earlier, until all are.
 */
#ifndef AR_SIM_PLATFORM_H
#define AR_SIM_PLATFORM_H

#include <stdbool.h>
#include <stddef.h>

#include "ar_platform.h"

/** Does a text name a platform file, by its ending `.xml`? */
bool ar_platform_file_is_named(const char *text);

/** Loads a platform file as cluster in an arena; path and settings are borrowed, these as in
 * ar_cluster_from_platform(). Errors are AR_USAGE for a setting, AR_NO_INPUT for a file that cannot
 * be read and AR_BAD_DATA for what SimGrid does not take, or less than two hosts. */
enum ar_status ar_platform_file_load(const char *path, struct ar_settings settings,
                                     struct ar_arena *arena, struct ar_cluster **cluster,
                                     struct ar_error *err);

#endif
