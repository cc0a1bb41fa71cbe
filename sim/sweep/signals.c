#include "signals.h"

#include <stddef.h>

static const int numbers[SIGNALS_COUNT] = {SIGINT, SIGTERM, SIGHUP};

void signals_hold(void (*handler)(int), struct signals *before)
{
    struct sigaction action = {.sa_handler = handler};
    sigset_t held;
    sigemptyset(&held);
    for (int i = 0; i < SIGNALS_COUNT; i++) {
        sigaddset(&held, numbers[i]);
    }
    sigprocmask(SIG_BLOCK, &held, &before->mask);
    for (int i = 0; i < SIGNALS_COUNT; i++) {
        sigaction(numbers[i], NULL, &before->actions[i]);
        if (handler != NULL && before->actions[i].sa_handler != SIG_IGN) {
            sigaction(numbers[i], &action, NULL);
        }
    }
}

void signals_restore(const struct signals *before)
{
    for (int i = 0; i < SIGNALS_COUNT; i++) {
        sigaction(numbers[i], &before->actions[i], NULL);
    }
    sigprocmask(SIG_SETMASK, &before->mask, NULL);
}
