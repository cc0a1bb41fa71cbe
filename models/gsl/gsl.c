#include "ar_gsl.h"

enum ar_status ar_gsl_status(int code, const char *what, struct ar_error *err)
{
    switch (code) {
    case GSL_SUCCESS:
        return AR_OK;
    case GSL_ENOMEM:
        return ar_error_no_memory(err, what);
    default:
        return ar_error_set(err, AR_INTERNAL, "%s: %s", what, gsl_strerror(code));
    }
}

enum ar_status ar_gsl_generator(unsigned long seed, gsl_rng **generator, struct ar_error *err)
{
    gsl_error_handler_t *handler = gsl_set_error_handler_off();
    gsl_rng *made = gsl_rng_alloc(gsl_rng_mt19937);
    gsl_set_error_handler(handler);
    AR_TRY(ar_gsl_status(made != NULL ? GSL_SUCCESS : GSL_ENOMEM, "a random generator", err));
    gsl_rng_set(made, seed);
    *generator = made;
    return AR_OK;
}
