/* Prints what ar_logs_load() reads as CSV, one line per row: to see what a log is taken for. */
#include <stdio.h>

#include "ar_log.h"
#include "ar_record.h"

struct printed {
    const char *path, *format, *collective;
    uint64_t run;
    struct ar_log log;
    struct ar_log_row row;
};

#define PRINTED(kind, field, name) AR_COLUMN(kind, struct printed, field, name, "")
static const struct ar_column columns[] = {
    PRINTED(string, path, "path"),
    PRINTED(count, row.line, "line"),
    PRINTED(count, run, "run"),
    PRINTED(string, format, "format"),
    PRINTED(text, log.tool, "tool"),
    PRINTED(text, log.library, "library"),
    PRINTED(string, collective, "collective"),
    PRINTED(text, log.algorithm, "algorithm"),
    PRINTED(text, log.shape, "shape"),
    PRINTED(count, log.ranks, "ranks"),
    PRINTED(count, log.nodes, "nodes"),
    PRINTED(text, log.gpu, "gpu"),
    PRINTED(word, row.datatype, "datatype"),
    PRINTED(word, row.redop, "redop"),
    PRINTED(count, row.payload_bytes, "payload_bytes"),
    PRINTED(count, row.count, "count"),
    PRINTED(number, row.out_of_place.time_s, "out_of_place_s"),
    PRINTED(number, row.out_of_place.algbw_Bps, "out_of_place_algbw_Bps"),
    PRINTED(number, row.out_of_place.busbw_Bps, "out_of_place_busbw_Bps"),
    PRINTED(number, row.out_of_place.wrong, "out_of_place_wrong"),
    PRINTED(number, row.in_place.time_s, "in_place_s"),
    PRINTED(number, row.in_place.algbw_Bps, "in_place_algbw_Bps"),
    PRINTED(number, row.in_place.busbw_Bps, "in_place_busbw_Bps"),
    PRINTED(number, row.in_place.wrong, "in_place_wrong"),
};

static enum ar_status print_file(const char *path, struct ar_records *records, struct ar_error *err)
{
    struct ar_arena arena AR_ENDS_HERE = {NULL};
    struct ar_logs *logs;
    AR_TRY(ar_logs_load(path, &arena, &logs, err));
    for (size_t i = 0; i < logs->runs_count; i++) {
        const struct ar_log *run = &logs->runs[i];
        struct printed printed = {.path = path,
                                  .format = ar_log_format_name(run->format),
                                  .collective = ar_log_collective_name(run->collective),
                                  .run = i + 1,
                                  .log = *run};
        struct ar_error why;
        for (size_t k = 0; k < run->rows_count; k++) {
            printed.row = run->rows[k];
            ar_records_add(records, &printed);
        }
        if (ar_log_check(run, AR_LOG_ALL_REDUCE, 2, &why) != AR_OK) {
            fprintf(stderr, "print_logs: not to be fitted: %s\n", why.text);
        }
    }
    return AR_OK;
}

int main(int argc, char **argv)
{
    struct ar_records records;
    struct ar_error err;
    if (argc < 2) {
        fprintf(stderr, "usage: print_logs LOG...\n");
        return ar_status_exit_code(AR_USAGE);
    }
    ar_records_begin(&records, stdout, AR_VIEW(AR_FORMAT_CSV), AR_COLUMNS(columns));
    enum ar_status worst = AR_OK;
    for (int i = 1; i < argc; i++) {
        enum ar_status status = print_file(argv[i], &records, &err);
        if (status != AR_OK) {
            fprintf(stderr, "print_logs: %s\n", err.text);
            worst = status;
        }
    }
    ar_records_end(&records);
    return ar_status_exit_code(worst);
}
