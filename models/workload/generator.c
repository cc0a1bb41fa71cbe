#include "generator.h"

#include <gsl/gsl_errno.h>

enum ar_status generator_create(unsigned long seed, gsl_rng **generator, struct ar_error *err)
{
    /* GSL aborts on errors unless told not to; here only memory can fail, and that is checked. */
    gsl_error_handler_t *old = gsl_set_error_handler_off();
    gsl_rng *made = gsl_rng_alloc(gsl_rng_mt19937);
    gsl_set_error_handler(old);
    if (made == NULL) {
        return ar_error_no_memory(err, "a random generator");
    }
    gsl_rng_set(made, seed);
    *generator = made;
    return AR_OK;
}
