#include "answer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ar_text.h"

enum { ANSWERS_SIZE = 4 * sizeof(struct answer) };

/* Writes a byte, or two for one that would end a line. */
static size_t escape(char byte, char *target)
{
    if (byte != '\n' && byte != '\\') {
        *target = byte;
        return 1;
    }
    target[0] = '\\';
    target[1] = byte == '\n' ? 'n' : '\\';
    return 2;
}

void answer_unescape(char *text)
{
    char *to = text;
    for (const char *from = text; *from != '\0'; from++) {
        bool is_escape = from[0] == '\\' && from[1] != '\0';
        from += is_escape;
        *to++ = (char)(is_escape && *from == 'n' ? '\n' : *from);
    }
    *to = '\0';
}

void answer_write(uint32_t point, const struct ar_row *row, struct answer *answer)
{
    char line[ANSWER_TEXT_MAX + 1] = "";
    FILE *file = fmemopen(line, sizeof line, "w");
    answer->point = point;
    answer->is_ok = strcmp(row->status, "ok") == 0;
    answer->length = 0;
    if (file == NULL) {
        answer->is_ok = 0; /* no memory for the row; --resume tries again */
        return;
    }
    ar_rows_add(file, AR_ROW_CSV, row, true);
    fclose(file);
    for (size_t i = 0; line[i] != '\0' && (line[i] != '\n' || line[i + 1] != '\0'); i++) {
        answer->length += (uint32_t)escape(line[i], answer->text + answer->length);
    }
}

void answer_compute(struct space *space, uint32_t number, struct answer *answer)
{
    struct ar_row row = ar_row_empty();
    struct ar_error err = {.status = AR_OK};
    const struct point *point = &space->points[number];
    const struct plan *plan;
    if (variants_plan(&space->variants, point->variant, &plan, &err) == AR_OK) {
        (void)plan_run(plan, point, &row, &err); /* the row says how it went */
    } else {
        ar_copy_text(row.status, sizeof row.status, err.text); /* a file is gone meanwhile */
    }
    answer_write(number, &row, answer);
}

void answer_lost(struct space *space, uint32_t number, int wait_status, struct answer *answer)
{
    struct ar_row row = ar_row_empty();
    struct ar_error ignored;
    const struct point *point = &space->points[number];
    const struct plan *plan;
    if (variants_plan(&space->variants, point->variant, &plan, &ignored) == AR_OK) {
        plan_row(plan, point, &row);
    }
    snprintf(row.status, sizeof row.status, "the worker process ended with %s %d",
             WIFSIGNALED(wait_status) ? "signal" : "code",
             WIFSIGNALED(wait_status) ? WTERMSIG(wait_status) : WEXITSTATUS(wait_status));
    answer_write(number, &row, answer);
}

enum ar_status answers_create(struct answers *answers, struct ar_error *err)
{
    *answers = (struct answers){.bytes = malloc(ANSWERS_SIZE)};
    return answers->bytes != NULL ? AR_OK : ar_error_no_memory(err, "the answers of a worker");
}

void answers_destroy(struct answers *answers)
{
    free(answers->bytes);
    answers->bytes = NULL;
}

ssize_t answers_read(struct answers *answers, int end)
{
    memmove(answers->bytes, answers->bytes + answers->taken, answers->used - answers->taken);
    answers->used -= answers->taken;
    answers->taken = 0;
    ssize_t count = read(end, answers->bytes + answers->used, ANSWERS_SIZE - answers->used);
    answers->used += count > 0 ? (size_t)count : 0;
    return count;
}

bool answers_take(struct answers *answers, struct answer *answer)
{
    size_t there = answers->used - answers->taken;
    if (there < ANSWER_HEAD) {
        return false;
    }
    memcpy(answer, answers->bytes + answers->taken, ANSWER_HEAD);
    if (answer->length > ANSWER_TEXT_MAX || there < ANSWER_HEAD + answer->length) {
        return false;
    }
    memcpy(answer->text, answers->bytes + answers->taken + ANSWER_HEAD, answer->length);
    answers->taken += ANSWER_HEAD + answer->length;
    return true;
}

bool answer_send(int end, const void *bytes, size_t size)
{
    const char *at = bytes;
    while (size > 0) {
        ssize_t count = send(end, at, size, MSG_NOSIGNAL);
        if (count < 0 && errno != EINTR) {
            return false;
        }
        at += count > 0 ? count : 0;
        size -= count > 0 ? (size_t)count : 0;
    }
    return true;
}

bool answer_receive(int end, void *bytes, size_t size)
{
    char *at = bytes;
    while (size > 0) {
        ssize_t count = read(end, at, size);
        if (count == 0 || (count < 0 && errno != EINTR)) {
            return false;
        }
        at += count > 0 ? count : 0;
        size -= count > 0 ? (size_t)count : 0;
    }
    return true;
}
