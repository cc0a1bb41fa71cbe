/** \file signals.h
 * The signals that end the program on the user's wish: SIGINT, SIGTERM and SIGHUP.
 *
 * They are held back while a file is written, so that it is whole or not there, and during a sweep,
 * which takes them at the one place where it waits.
 */
#ifndef AR_SIGNALS_H
#define AR_SIGNALS_H

#include <signal.h>

enum { SIGNALS_COUNT = 3 };

/** How signals were taken before. */
struct signals {
    sigset_t mask;
    struct sigaction actions[SIGNALS_COUNT];
};

/** Holds the signals back until signals_restore(). With a `handler` (it may be NULL), a signal that
 * is let through all the same, as by ppoll(), calls it, unless it was ignored before (as by nohup).
 */
void signals_hold(void (*handler)(int), struct signals *before);

/** Goes back to how it was; a signal that was held back comes now. */
void signals_restore(const struct signals *before);

#endif
