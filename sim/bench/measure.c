/* Runs a command and writes what all of it cost to a file: wall_s cpu_s memory_bytes.
 *
 * Processor time is that of all its processes; memory is the peak of the largest of them. Ends with
 * the command's exit code, or 128 and its signal. */
#include <sys/wait.h>
#include <unistd.h>

#include "ar_numbers.h"
#include "usage.h"

enum { USAGE = 64, INTERNAL = 70, IO_ERROR = 74, NOT_FOUND = 127 };

static int write_figures(const char *path, double wall_s, const struct rusage *usage)
{
    FILE *file = fopen(path, "w");
    if (file == NULL) {
        return IO_ERROR;
    }
    fprintf(file, "%.6f ", wall_s);
    write_usage(file, usage);
    int failed = ferror(file);
    return fclose(file) != 0 || failed != 0 ? IO_ERROR : 0;
}

int main(int argc, char **argv)
{
    if (argc < 3) {
        fputs("usage: measure FILE COMMAND...\n", stderr);
        return USAGE;
    }
    double began_s = ar_clock_s();
    pid_t child = fork();
    if (child == 0) {
        execvp(argv[2], argv + 2);
        perror(argv[2]);
        _exit(NOT_FOUND);
    }
    int wait_status;
    struct rusage usage;
    if (child < 0 || wait4(child, &wait_status, 0, &usage) != child) {
        perror("measure");
        return INTERNAL;
    }
    int failed = write_figures(argv[1], ar_clock_s() - began_s, &usage);
    if (failed != 0) {
        perror(argv[1]);
        return failed;
    }
    return WIFSIGNALED(wait_status) ? 128 + WTERMSIG(wait_status) : WEXITSTATUS(wait_status);
}
