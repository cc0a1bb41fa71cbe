/* make_resnet50: writes traces/resnet50-v1.5.csv to standard output. */
#include "ar_error.h"
#include "resnet50.h"

int main(void)
{
    ar_resnet50_write(stdout);
    return fflush(stdout) == 0 ? 0 : ar_status_exit_code(AR_IO);
}
