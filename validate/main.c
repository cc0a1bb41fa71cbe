/* allreckon-validate: plans, runs, checks, writes. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "ar_file.h"
#include "cases.h"

/* One run of the program. */
struct session {
    int argc;
    char **argv;
    struct arguments arguments;
    const struct backend *backend;
    struct ar_arena *arena;
    struct machine machine;
    struct cases cases;
    size_t wrong;     /* cases with wrong elements */
    bool fails_alone; /* this process failed, perhaps without the others */
};

static int report_failure(enum ar_status status, const struct ar_error *err)
{
    fprintf(stderr, "allreckon-validate: %s\n", err->text);
    return ar_status_exit_code(status);
}

static void show_progress(const struct session *session, size_t done)
{
    if (!session->machine.is_first || session->arguments.quiet || !isatty(STDERR_FILENO)) {
        return;
    }
    bool is_last = done == session->cases.count;
    fprintf(stderr, is_last ? "\r\033[K" : "\r%zu of %zu cases", done, session->cases.count);
}

static enum ar_status run_rows(struct session *session, struct ar_error *err)
{
    struct cases *cases = &session->cases;
    for (size_t i = 0; i < cases->count; i++) {
        struct measurement *row = &cases->rows[i];
        struct ar_arena arena AR_ENDS_HERE = {NULL};
        show_progress(session, i);
        AR_TRY(session->backend->run(&session->arguments.config, &arena, row, err));
        session->wrong += row->mismatch.wrong > 0;
        if (row->mismatch.wrong > 0 && session->machine.is_first) {
            char text[MEASUREMENT_TEXT];
            fprintf(stderr,
                    "allreckon-validate: note: %s: %" PRIu64 " of %" PRIu64
                    " elements wrong; the first, element %" PRIu64 " of rank %" PRIu32
                    ", is %g; expected %g\n",
                    measurement_text(row, text), row->mismatch.wrong,
                    row->elements * row->ranks * row->repetitions, row->mismatch.element,
                    row->mismatch.rank, row->mismatch.found, row->mismatch.expected);
        }
    }
    show_progress(session, cases->count);
    return AR_OK;
}

static void write_rows(FILE *file, struct session *session)
{
    result_write_head(file, session->backend, &session->arguments.config, session->argc,
                      session->argv);
    for (size_t i = 0; i < session->cases.count; i++) {
        result_write_row(file, session->backend, &session->cases.rows[i]);
    }
}

static enum ar_status measure_cases(struct session *session, struct ar_error *err)
{
    struct ar_output *output;
    const char *out = session->arguments.out;
    if (out != NULL && session->machine.is_first) {
        /* Finds out that a file cannot be written before hours are spent on its rows. */
        AR_TRY(ar_output_begin(out, session->arena, &output, err));
        ar_output_abort(output);
    }
    AR_TRY(run_rows(session, err));
    if (!session->machine.is_first) {
        return AR_OK;
    }
    if (out == NULL) {
        write_rows(stdout, session);
        AR_REFUSE(fflush(stdout) != 0 || ferror(stdout), err, AR_IO, "stdout: cannot write: %s",
                  strerror(errno != 0 ? errno : EIO));
        return AR_OK;
    }
    AR_TRY(ar_output_begin(out, session->arena, &output, err));
    write_rows(output->file, session);
    return ar_output_commit(output, err);
}

static enum ar_status run_session(void *context, struct ar_error *err)
{
    struct session *session = context;
    AR_TRY(session->backend->start(&session->arguments.config, &session->machine, err));
    AR_TRY(cases_create(&session->arguments, session->backend, &session->machine, session->arena,
                        &session->cases, err));
    enum ar_status status = measure_cases(session, err);
    session->fails_alone = status != AR_OK;
    AR_TRY(status);
    AR_REFUSE(session->wrong > 0, err, AR_INTERNAL,
              "%zu of %zu cases have wrong elements; expected none", session->wrong,
              session->cases.count);
    if (session->machine.is_first && !session->arguments.quiet) {
        fprintf(stderr, "allreckon-validate: note: %zu cases, every element as expected\n",
                session->cases.count);
    }
    return AR_OK;
}

int main(int argc, char **argv)
{
    struct ar_arena arena AR_ENDS_HERE = {NULL};
    struct session session = {.argc = argc, .argv = argv, .arena = &arena};
    struct ar_error err = {.status = AR_OK};
    enum ar_status status = arguments_parse(argc, argv, &session.arguments, &session.backend, &err);
    if (status != AR_OK) {
        return report_failure(status, &err);
    }
    if (session.arguments.help) {
        usage_write(stdout);
        return 0;
    }
    if (session.arguments.version) {
        puts("allreckon-validate " AR_VERSION);
        return 0;
    }
    status = ar_memory_guard(run_session, &session, &err);
    session.fails_alone = session.fails_alone || status == AR_NO_MEMORY;
    int code = ar_status_exit_code(status);
    if (status != AR_OK && (session.machine.is_first || session.fails_alone)) {
        code = report_failure(status, &err);
    }
    if (session.backend->stop != NULL) {
        session.backend->stop(session.fails_alone ? code : 0);
    }
    return code;
}
