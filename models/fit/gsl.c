#include "ar_gsl.h"

enum ar_status ar_gsl_status(int code, const char *what, struct ar_error *err)
{
    if (code == GSL_ENOMEM) {
        ar_memory_fail(what);
    }
    return code == GSL_SUCCESS ? AR_OK
                               : ar_error_set(err, AR_INTERNAL, "%s: %s", what, gsl_strerror(code));
}

static void free_generator(void *generator)
{
    gsl_rng_free(generator);
}

gsl_rng *ar_gsl_generator(struct ar_arena *arena, unsigned long seed)
{
    gsl_error_handler_t *handler = gsl_set_error_handler_off();
    gsl_rng *made = gsl_rng_alloc(gsl_rng_mt19937);
    gsl_set_error_handler(handler);
    ar_arena_own(arena, made, free_generator);
    gsl_rng_set(made, seed);
    return made;
}
