#include "ar_signals.h"

#include <poll.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <unistd.h>

static const int numbers[AR_SIGNALS_COUNT] = {SIGINT, SIGTERM, SIGHUP};

/* A signal handler can say something to nobody but a variable like this one. */
static volatile sig_atomic_t has_arrived;

static void note_arrival(int number)
{
    (void)number;
    has_arrived = 1;
}

bool ar_signals_arrived(void)
{
    return has_arrived != 0;
}

void ar_signals_hold(struct ar_signals *before)
{
    sigset_t held;
    sigemptyset(&held);
    for (int i = 0; i < AR_SIGNALS_COUNT; i++) {
        sigaddset(&held, numbers[i]);
        sigaction(numbers[i], NULL, &before->actions[i]);
    }
    sigprocmask(SIG_BLOCK, &held, &before->mask);
}

void ar_signals_catch(struct ar_signals *before)
{
    struct sigaction action = {.sa_handler = note_arrival};
    ar_signals_hold(before);
    for (int i = 0; i < AR_SIGNALS_COUNT; i++) {
        if (before->actions[i].sa_handler != SIG_IGN) {
            sigaction(numbers[i], &action, NULL);
        }
    }
}

sigset_t ar_signals_mask(void)
{
    sigset_t mask;
    sigprocmask(SIG_BLOCK, NULL, &mask);
    for (int i = 0; i < AR_SIGNALS_COUNT; i++) {
        sigdelset(&mask, numbers[i]);
    }
    return mask;
}

void ar_signals_let_in(double time_s)
{
    const time_t whole_s = (time_t)time_s;
    const struct timespec time = {.tv_sec = whole_s,
                                  .tv_nsec = (long)(1e9 * (time_s - (double)whole_s))};
    const sigset_t mask = ar_signals_mask();
    (void)ppoll(NULL, 0, &time, &mask);
}

void ar_signals_restore(const struct ar_signals *before)
{
    for (int i = 0; i < AR_SIGNALS_COUNT; i++) {
        sigaction(numbers[i], &before->actions[i], NULL);
    }
    sigprocmask(SIG_SETMASK, &before->mask, NULL);
}

pid_t ar_fork(void)
{
    pid_t parent = getpid();
    fflush(NULL); /* nothing is to be printed twice */
    pid_t child = fork();
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != parent) {
            _exit(1); /* it died before it could be asked to take this process along */
        }
    }
    return child;
}
