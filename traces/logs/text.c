#include "nccl_text.h"
#include "osu.h"

/* A job script may run both programs, one after the other. */
struct text {
    struct ar_nccl_text nccl;
    struct ar_osu_text osu;
};

static enum ar_status take_line(struct text *text, struct ar_span line, uint64_t number,
                                struct ar_error *err)
{
    if (ar_osu_is_title(line)) {
        enum ar_status status = ar_nccl_text_end(&text->nccl, true, err);
        return status != AR_OK ? status : ar_osu_line(&text->osu, line, number, err);
    }
    if (text->osu.is_open && !ar_nccl_is_head(line)) {
        return ar_osu_line(&text->osu, line, number, err);
    }
    text->osu.is_open = false;
    return ar_nccl_text_line(&text->nccl, line, number, err);
}

enum ar_status ar_read_text(struct ar_logs *logs, const char *bytes_text, size_t bytes,
                            struct ar_error *err)
{
    struct text text = {.nccl = {.logs = logs}, .osu = {.logs = logs}};
    struct ar_lines lines = ar_lines_of(bytes_text, bytes);
    struct ar_span line;
    enum ar_status status = AR_OK;
    while (status == AR_OK && ar_lines_next(&lines, &line)) {
        status = take_line(&text, ar_strip_prefix(line), lines.line, err);
    }
    if (status == AR_OK) {
        status = ar_nccl_text_end(&text.nccl, false, err);
    }
    ar_nccl_drop(&text.nccl.run);
    return status;
}
