/* Work units: a coordinator deals units to workers that ask for them, which then push the sum of
 * what they found to parameter servers, and pull (Sandblaster: Dean et al., Large Scale Distributed
 * Deep Networks, NIPS 2012). */
#include "ar_strategy.h"

const struct ar_strategy ar_strategy_work_units = {
    .name = "work-units",
    .title = "units are dealt to workers that ask; the slowest are done twice",
    .is_asynchronous = true,
    .deals_units = true,
};
