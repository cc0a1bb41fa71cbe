#pragma once

#include <inttypes.h>
#include <stdio.h>
#include <sys/resource.h>

/** Writes the processor time in seconds and the peak of memory in bytes, and ends the line. */
static inline void write_usage(FILE *file, const struct rusage *usage)
{
    double cpu_s = (double)(usage->ru_utime.tv_sec + usage->ru_stime.tv_sec) +
                   1e-6 * (double)(usage->ru_utime.tv_usec + usage->ru_stime.tv_usec);
    fprintf(file, "%.6f %" PRIu64 "\n", cpu_s, (uint64_t)usage->ru_maxrss * 1024);
}
