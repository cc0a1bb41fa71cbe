/** \file ar_signals.h
 * The signals that end the program on the user's wish: SIGINT, SIGTERM and SIGHUP.
 *
 * They are held back while a file gets its name, so that it is whole or not there, and while a pool
 * works, which takes them at the one place where it waits.
 */
#pragma once

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

enum { AR_SIGNALS_COUNT = 3 };

/** How signals were taken before. */
struct ar_signals {
    sigset_t mask;
    struct sigaction actions[AR_SIGNALS_COUNT];
};

/** Holds the signals back until ar_signals_restore(). */
void ar_signals_hold(struct ar_signals *before);

/** Holds them back, too; one that is let through all the same, as by ppoll() with `before->mask`,
 * only makes ar_signals_arrived() true, unless it was ignored before (as by nohup). */
void ar_signals_catch(struct ar_signals *before);

/** The mask of now without these signals: of programs that are started meanwhile. */
sigset_t ar_signals_mask(void);

/** Lets in what was held back, and waits for it so long, in seconds: for those who wait for what
 * cannot be polled. */
void ar_signals_let_in(double time_s);

/** Whether a signal was let through since the program began. */
bool ar_signals_arrived(void);

/** fork() of a process that is killed with this one. */
pid_t ar_fork(void);

/** Goes back to how it was; a signal that was held back comes now. */
void ar_signals_restore(const struct ar_signals *before);
