/** \file lines.h
 * Output of programs, line by line: a file may be that of several, one after the other.
 */
#ifndef AR_MACHINE_LINES_H
#define AR_MACHINE_LINES_H

#include "machine.h"

enum { WORDS_MAX = 400 };

/** The words of a line, cut at blanks in place. */
struct words {
    char *list[WORDS_MAX];
    size_t count;
};

/** The matrix of `nvidia-smi topo -m`. */
struct matrix;
enum ar_status matrix_begin(const struct source *source, struct matrix **matrix,
                            struct ar_error *err);
enum ar_status matrix_line(struct matrix *matrix, const struct source *source,
                           const struct words *words, struct ar_error *err);
/** Says what it has; false in `is_there` if there was none. */
enum ar_status matrix_finish(struct matrix *matrix, struct source *source, bool *is_there,
                             struct ar_error *err);

/** The HCA and port that lines of ibstat and ibv_devinfo are about. */
struct hca {
    char name[64];
    uint64_t port, lanes, ports_count;
    struct nic *nic;
};
enum ar_status hca_line(struct hca *hca, const struct source *source, const struct words *words,
                        struct ar_error *err);

/** Reads a text; refused if nothing in it is known. */
enum ar_status lines_read(struct source *source, char *text, size_t bytes, struct ar_error *err);

#endif
