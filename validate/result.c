/* The file of results: lines about the run, and a row for each measurement. */
#include "cases.h"

#include <inttypes.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "ar_numbers.h"
#include "ar_text.h"

enum { LINE_SIZE = 256 };

void result_write_head(FILE *file, const struct backend *backend, const struct run_config *config,
                       int argc, char *const *argv)
{
    struct utsname system = {.sysname = "unknown"};
    char date[64];
    time_t now = time(NULL);
    struct tm utc;
    uname(&system);
    fputs("# program: allreckon-validate " AR_VERSION "\n# command:", file);
    for (int i = 0; i < argc; i++) {
        struct ar_arena arena AR_ENDS_HERE = {NULL};
        char *word = ar_arena_text(&arena, argv[i]);
        ar_text_to_line(word); /* an end of line within a word would end the comment */
        fputc(' ', file);
        ar_write_shell_word(file, word);
    }
    strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &utc));
    fprintf(file, "\n# date: %s\n", date);
    fprintf(file, "# host: %s\n", system.nodename);
    fprintf(file, "# system: %s %s %s\n", system.sysname, system.release, system.machine);
    /* The processor's name where Linux says it, else the architecture. */
    char line[LINE_SIZE];
    const char *name = system.machine;
    FILE *info = fopen("/proc/cpuinfo", "re");
    while (info != NULL && fgets(line, sizeof line, info) != NULL) {
        char *colon = strchr(line, ':');
        if (strncmp(line, "model name", 10) == 0 && colon != NULL && colon[1] == ' ') {
            line[strcspn(line, "\n")] = '\0';
            name = colon + 2;
            break;
        }
    }
    if (info != NULL) {
        fclose(info);
    }
    fprintf(file, "# processor: %s, %ld cores online\n", name, sysconf(_SC_NPROCESSORS_ONLN));
    fputs("# compiler: " __VERSION__ "\n", file);
    fprintf(file, "# backend: %s, %s memory\n", backend->name, config->memory->name);
    backend->describe(file);
    fprintf(file, "# window: %" PRIu32 " slots of at most %" PRIu32 " bytes\n", config->window,
            config->slot_bytes);
    fprintf(file, "# warmup: %" PRIu32 "\n", config->warmup);
    fputs("backend,operation,algorithm,shape,root,channels,ranks,nodes,datatype,element_bytes,"
          "payload_bytes,repetitions,time_median_s,time_min_s,time_p10_s,time_p90_s,algbw_Bps,"
          "busbw_Bps,wrong,tier\n",
          file);
}

static void write_times(FILE *file, struct measurement *measurement)
{
    static const double fractions[] = {0.5, 0, 0.1, 0.9};
    double *times_s = measurement->times_s;
    ar_sort(times_s, measurement->repetitions);
    for (size_t i = 0; i < sizeof fractions / sizeof fractions[0]; i++) {
        if (!measurement->is_check) {
            fprintf(file, "%.9g", ar_quantile(times_s, measurement->repetitions, fractions[i]));
        }
        fputc(',', file);
    }
    /* Bandwidths at the median time, as nccl-tests count them. */
    const struct ar_operation *operation = measurement->operation;
    double time_s = ar_quantile(times_s, measurement->repetitions, 0.5);
    if (measurement->is_check || operation == NULL || time_s <= 0) {
        fputs(",,", file);
        return;
    }
    double algbw_Bps = (double)measurement_bytes(measurement) / time_s;
    fprintf(file, "%.9g,%.9g,", algbw_Bps,
            ar_operation_busbw_Bps(operation, algbw_Bps, measurement->ranks));
}

void result_write_row(FILE *file, const struct backend *backend, struct measurement *measurement)
{
    const struct ar_operation *operation = measurement->operation;
    fprintf(file, "%s,%s,%s,%s,", backend->name, operation != NULL ? operation->command : "",
            measurement->name, AR_SHOW_SHAPE(&measurement->shape));
    if (operation != NULL && operation->has_root) {
        fprintf(file, "%" PRIu32, measurement->root);
    }
    fprintf(file, ",%" PRIu32 ",%" PRIu32 ",%" PRIu32 ",%s,%" PRIu32 ",%" PRIu64 ",%" PRIu32 ",",
            measurement->channels, measurement->ranks, measurement->nodes, measurement->type->name,
            measurement->type->bytes, measurement_bytes(measurement), measurement->repetitions);
    write_times(file, measurement);
    fprintf(file, "%" PRIu64 ",%s\n", measurement->mismatch.wrong, measurement->tier);
}
