/* A program that was built without MPI. */
#include <inttypes.h>

#include "sweep.h"

enum ar_status ranks_run(struct sweep *sweep, enum ar_status status, struct ar_error *err)
{
    AR_TRY(status);
    return ar_error_set(err, AR_USAGE,
                        "sweep: found %" PRIu32 " ranks of a launcher, but this allreckon was "
                        "built without MPI; expected one process, or a build with MPI",
                        sweep->request->launcher.ranks);
}
