/** \file answer.h
 * A row on its way from the process that computed it to the one that keeps it.
 *
 * The text is the row's CSV line, as one line whatever its cells hold: a newline is `\n` and a
 * backslash `\\`. Between processes, requests are a count and so many point numbers, and answers
 * the structure below, cut behind its text.
 */
#ifndef AR_ANSWER_H
#define AR_ANSWER_H

#include "ar_row.h"
#include "space.h"

enum { ANSWER_TEXT_MAX = 3 * sizeof(struct ar_row), CHUNK_MAX = 64 };

struct answer {
    uint32_t point;
    uint32_t is_ok; /**< 0: the point failed, the row says why */
    uint32_t length;
    char text[ANSWER_TEXT_MAX]; /**< not terminated while on its way */
};

/** Bytes of an answer in front of its text. */
enum { ANSWER_HEAD = offsetof(struct answer, text) };

/** Points to compute, in order. */
struct request {
    uint32_t count;
    uint32_t points[CHUNK_MAX];
};

/** Makes the answer of a row. */
void answer_write(uint32_t point, const struct ar_row *row, struct answer *answer);

/** Turns `text` back into the CSV line it stands for, in place; it is terminated. */
void answer_unescape(char *text);

/** Computes a point; a failure is in the row. */
void answer_compute(struct space *space, uint32_t point, struct answer *answer);

/** The row of a point whose process died, as waitpid() says. */
void answer_lost(struct space *space, uint32_t point, int wait_status, struct answer *answer);

/** Answers that come through a file descriptor. */
struct answers {
    char *bytes; /**< room for a few answers; owned */
    size_t used;
    size_t taken;
};

enum ar_status answers_create(struct answers *answers, struct ar_error *err);
void answers_destroy(struct answers *answers);

/** Reads what is there; returns what read() does. Call it only when answers_take() has nothing. */
ssize_t answers_read(struct answers *answers, int end);

/** Takes the next whole answer; false if there is none. */
bool answers_take(struct answers *answers, struct answer *answer);

/** Writes all bytes to a socket, reads exactly so many; false if the other side is gone. */
bool answer_send(int end, const void *bytes, size_t size);
bool answer_receive(int end, void *bytes, size_t size);

#endif
