/** \file test_discover.h
 * Discovers fixtures in tests.
 */
#ifndef TEST_DISCOVER_H
#define TEST_DISCOVER_H

#include "ar_discover.h"

#define FIXTURES AR_TEST_SOURCE_DIR "/topologies/readers/fixtures/"

/** The cluster file of files (names of fixtures, with blanks between) and settings (with blanks
 * between); NULL and the error otherwise. Lives until the next call. */
const char *discover(const char *files, const char *settings, struct ar_error *err);

/** The same of a text. */
const char *discover_text(const char *text, const char *settings, struct ar_error *err);

#endif
