#include "lines.h"

#include <string.h>

/* Drops colours and underlines (ESC [ ... m), in place, and what else is no text. */
static void clean(char *line)
{
    char *to = line;
    for (const char *from = line; *from != '\0';) {
        if (from[0] == '\033' && from[1] == '[') {
            from += 2 + strcspn(from + 2, "ABCDEFGHJKSTfmnsulh");
            from += *from != '\0';
        } else {
            *to++ = (unsigned char)*from < ' ' ? ' ' : *from;
            from++;
        }
    }
    *to = '\0';
}

static enum ar_status cut(const struct source *source, char *line, struct words *words,
                          struct ar_error *err)
{
    char *rest = line;
    words->count = 0;
    clean(line);
    for (char *word; (word = strtok_r(NULL, " ", &rest)) != NULL;) {
        if (words->count == WORDS_MAX) {
            return source_refuse(source, err, "found more than %d words in a line; expected fewer",
                                 WORDS_MAX);
        }
        words->list[words->count++] = word;
    }
    return AR_OK;
}

enum ar_status lines_read(struct source *source, char *text, size_t bytes, struct ar_error *err)
{
    struct words words;
    struct matrix *matrix = NULL;
    struct hca hca = {.port = 0};
    bool has_matrix = false;
    char *end = text + bytes;
    AR_TRY(matrix_begin(source, &matrix, err));
    source->line = 0;
    for (char *line = text, *next; line < end; line = next) {
        char *newline = memchr(line, '\n', (size_t)(end - line));
        next = newline != NULL ? newline + 1 : end;
        if (newline != NULL) {
            *newline = '\0';
        }
        source->line++;
        AR_TRY(cut(source, line, &words, err));
        if (words.count > 0) {
            AR_TRY(matrix_line(matrix, source, &words, err));
            AR_TRY(hca_line(&hca, source, &words, err));
        }
    }
    AR_TRY(matrix_finish(matrix, source, &has_matrix, err));
    return has_matrix || hca.ports_count > 0
               ? AR_OK
               : ar_error_set(err, AR_BAD_DATA,
                              "%.200s: found nothing that is known; expected a topology "
                              "file of NCCL, output of nvidia-smi topo -m, ibstat or ibv_devinfo",
                              source->path);
}
