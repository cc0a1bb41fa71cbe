#include "ar_gsl.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

/* --- the handler ------------------------------------------------------------------------------ */

/* GSL's handler belongs to the process, so this does, too. */
static struct {
    pthread_mutex_t mutex;
    uint32_t holders;
    gsl_error_handler_t *before; /* of the program; NULL: GSL's own */
} held = {.mutex = PTHREAD_MUTEX_INITIALIZER};

static _Thread_local uint32_t times_held; /* by this thread */

static void pass_on_error(const char *reason, const char *file, int line, int code)
{
    if (times_held > 0) {
        return;
    }
    pthread_mutex_lock(&held.mutex);
    gsl_error_handler_t *before = held.before;
    pthread_mutex_unlock(&held.mutex);
    if (before == NULL) {
        gsl_stream_printf("ERROR", file, line, reason); /* as GSL does where no handler is set */
        fflush(stdout);
        abort();
    }
    before(reason, file, line, code);
}

void ar_gsl_begin(void)
{
    times_held++;
    pthread_mutex_lock(&held.mutex);
    if (held.holders++ == 0) {
        held.before = gsl_set_error_handler(pass_on_error);
    }
    pthread_mutex_unlock(&held.mutex);
}

void ar_gsl_end(void)
{
    pthread_mutex_lock(&held.mutex);
    if (--held.holders == 0) {
        gsl_error_handler_t *present = gsl_set_error_handler(held.before);
        if (present != pass_on_error) { /* the program has set another one since */
            gsl_set_error_handler(present);
        }
    }
    pthread_mutex_unlock(&held.mutex);
    times_held--;
}

static void end_hold(void *hold)
{
    (void)hold;
    ar_gsl_end();
}

void ar_gsl_hold(struct ar_arena *arena)
{
    ar_gsl_begin();
    ar_arena_own(arena, &held, end_hold);
}

/* --- codes and generators --------------------------------------------------------------------- */

enum ar_status ar_gsl_status(int code, const char *what, struct ar_error *err)
{
    ar_memory_require(code != GSL_ENOMEM, what);
    AR_REFUSE(code != GSL_SUCCESS, err, AR_INTERNAL, "%s: %s", what, gsl_strerror(code));
    return AR_OK;
}

AR_DESTROYER(free_generator, gsl_rng_free)

gsl_rng *ar_gsl_generator(struct ar_arena *arena, unsigned long seed)
{
    ar_gsl_begin();
    gsl_rng *made = gsl_rng_alloc(gsl_rng_mt19937);
    ar_gsl_end();
    ar_arena_own(arena, made, free_generator);
    gsl_rng_set(made, seed);
    return made;
}
