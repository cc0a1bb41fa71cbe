/* Prints what ar_logs_load() reads as CSV, one line per row: to see what a log is taken for. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "ar_log.h"

static void print_text(const char *text)
{
    putchar('"');
    for (; *text != '\0'; text++) {
        if (*text == '"') {
            putchar('"');
        }
        putchar(*text);
    }
    printf("\",");
}

/* What was not measured stays empty. */
static void print_number(double number)
{
    if (!isnan(number)) {
        printf("%.9g", number);
    }
    putchar(',');
}

static void print_timing(const struct ar_log_timing *timing)
{
    print_number(timing->time_s);
    print_number(timing->algbw_Bps);
    print_number(timing->busbw_Bps);
    if (timing->wrong >= 0) {
        printf("%" PRId64, timing->wrong);
    }
}

static void print_run(const struct ar_log *run, size_t number)
{
    for (size_t i = 0; i < run->rows_count; i++) {
        const struct ar_log_row *row = &run->rows[i];
        print_text(run->path);
        printf("%" PRIu64 ",%zu,%s,", row->line, number, ar_log_format_name(run->format));
        print_text(run->tool);
        print_text(run->library);
        printf("%s,", ar_log_collective_name(run->collective));
        print_text(run->algorithm);
        print_text(run->shape);
        printf("%" PRIu32 ",%" PRIu32 ",", run->ranks, run->nodes);
        print_text(run->gpu);
        print_text(row->datatype);
        print_text(row->redop);
        printf("%" PRIu64 ",%" PRIu64 ",", row->payload_bytes, row->count);
        print_timing(&row->out_of_place);
        putchar(',');
        print_timing(&row->in_place);
        printf("\n");
    }
}

static enum ar_status print_file(const char *path, struct ar_error *err)
{
    struct ar_logs *logs;
    enum ar_status status = ar_logs_load(path, &logs, err);
    if (status != AR_OK) {
        return status;
    }
    for (size_t i = 0; i < logs->runs_count; i++) {
        const struct ar_log *run = &logs->runs[i];
        struct ar_error why;
        print_run(run, i + 1);
        if (ar_log_check(run, AR_LOG_ALL_REDUCE, 2, &why) != AR_OK) {
            fprintf(stderr, "print_logs: not to be fitted: %s\n", why.text);
        }
    }
    ar_logs_destroy(logs);
    return AR_OK;
}

int main(int argc, char **argv)
{
    struct ar_error err;
    if (argc < 2) {
        fprintf(stderr, "usage: print_logs LOG...\n");
        return ar_status_exit_code(AR_USAGE);
    }
    printf("path,line,run,format,tool,library,collective,algorithm,shape,ranks,nodes,gpu,datatype,"
           "redop,payload_bytes,count,out_of_place_s,out_of_place_algbw_Bps,"
           "out_of_place_busbw_Bps,out_of_place_wrong,in_place_s,in_place_algbw_Bps,"
           "in_place_busbw_Bps,in_place_wrong\n");
    enum ar_status worst = AR_OK;
    for (int i = 1; i < argc; i++) {
        enum ar_status status = print_file(argv[i], &err);
        if (status != AR_OK) {
            fprintf(stderr, "print_logs: %s\n", err.text);
            worst = status;
        }
    }
    return ar_status_exit_code(worst);
}
