/** \file test_platform_text.h
 * For tests: SimGrid platforms from a few words, and clusters of them.
 */
#ifndef AR_TEST_PLATFORM_TEXT_H
#define AR_TEST_PLATFORM_TEXT_H

#include <stdio.h>

#include "ar_platform.h"

enum { PATH_SIZE = 512 };

#define HEAD                                                                                       \
    "<?xml version='1.0'?>\n<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n"      \
    "<platform version=\"4.1\">\n"
#define FOOT              "</platform>\n"
#define HOST(name)        "<host id=\"" name "\" speed=\"1Gf\"/>\n"
#define LINK(name, rest)  "<link id=\"" name "\" " rest "/>\n"
#define HOP(name)         "<link_ctn id=\"" name "\"/>"
#define ROUTE(a, b, hops) "<route src=\"" a "\" dst=\"" b "\" symmetrical=\"NO\">" hops "</route>\n"
/* SimGrid 4.0 stops at a <cluster> outside of a <zone>. */
#define ZONE "<zone id=\"world\" routing=\"Full\">"
#define CLUSTER(hosts, rest)                                                                       \
    ZONE "<cluster id=\"c\" prefix=\"gpu-\" suffix=\"\" radical=\"0-" hosts                        \
         "\" speed=\"1Gf\" bw=\"10GBps\" lat=\"5us\" " rest "/></zone>\n"

/** A new platform file to write to; the caller closes and unlinks it. */
FILE *platform_text_make(char path[PATH_SIZE]);

/** The cluster of a platform file; `settings` ends with NULL and may be NULL. */
struct ar_cluster *platform_text_open(const char *path, const char *const *settings);

/** The cluster of a platform text, whose file stays: every question loads it again. */
struct ar_cluster *platform_text_load(const char *text, const char *const *settings,
                                      char path[PATH_SIZE]);

/** Removes the file; the cluster stays until the end of the test. */
void platform_text_unload(const char *path);

#endif
