/* Parameter servers: parameters lie on servers in shards; workers push their gradients there and
 * pull what comes of them. What differs is how far a worker may be ahead of the slowest one: not at
 * all; as far as it gets (Downpour: Dean et al., Large Scale Distributed Deep Networks, NIPS 2012);
 * some steps (Ho et al., More Effective Distributed ML via a Stale Synchronous Parallel Parameter
 * Server, NIPS 2013). */
#include "ar_strategy.h"

const struct ar_strategy ar_strategy_ps_sync = {
    .name = "ps-sync",
    .title = "parameter servers, all workers in step",
    .is_asynchronous = true,
};

const struct ar_strategy ar_strategy_ps_async = {
    .name = "ps-async",
    .title = "parameter servers, no worker waits for another",
    .is_asynchronous = true,
    .staleness = AR_STALENESS_FREE,
};

const struct ar_strategy ar_strategy_ssp = {
    .name = "ssp",
    .title = "parameter servers, no worker is more than S steps ahead of another",
    .is_asynchronous = true,
    .staleness = AR_STALENESS_NAMED,
};

/* Work units: a coordinator deals units to workers that ask for them, which then push the sum of
 * what they found to parameter servers, and pull (Sandblaster: Dean et al., Large Scale Distributed
 * Deep Networks, NIPS 2012). */
const struct ar_strategy ar_strategy_work_units = {
    .name = "work-units",
    .title = "units are dealt to workers that ask; the slowest are done twice",
    .is_asynchronous = true,
    .deals_units = true,
};
