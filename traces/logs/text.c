#include "nccl_text.h"
#include "osu.h"
#include "readers.h"

/* A job script may run both programs, one after the other. */
struct text {
    struct ar_nccl_text nccl;
    struct ar_osu_text osu;
};

static enum ar_status take_line(struct text *text, struct ar_span line, uint64_t number,
                                struct ar_error *err)
{
    if (ar_osu_is_title(line)) {
        AR_TRY(ar_nccl_text_end(&text->nccl, true, err));
        return ar_osu_line(&text->osu, line, number, err);
    }
    if (text->osu.is_open && !ar_nccl_is_head(line)) {
        return ar_osu_line(&text->osu, line, number, err);
    }
    text->osu.is_open = false;
    return ar_nccl_text_line(&text->nccl, line, number, err);
}

static enum ar_status take_lines(struct text *text, struct ar_lines lines, struct ar_error *err)
{
    struct ar_span line;
    while (ar_lines_next(&lines, &line)) {
        AR_TRY(take_line(text, ar_strip_prefix(line), lines.line, err));
    }
    return ar_nccl_text_end(&text->nccl, false, err);
}

enum ar_status ar_read_text(struct ar_logs *logs, const char *bytes_text, size_t bytes,
                            struct ar_error *err)
{
    struct text text = {.nccl = {.logs = logs}, .osu = {.logs = logs}};
    enum ar_status status = take_lines(&text, ar_lines_of(bytes_text, bytes), err);
    ar_nccl_drop(&text.nccl.run);
    return status;
}
