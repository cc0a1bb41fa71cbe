#include "nccl_lines.h"

#include <stdlib.h>

/* `[1,0]<stdout>:` of Open MPI, with or without a time stamp before it. */
static size_t tag_bytes(struct ar_span line)
{
    static const char *const tags[] = {"]<stdout>:", "]<stderr>:"};
    struct ar_span start = {line.at, line.bytes < 120 ? line.bytes : 120};
    for (size_t i = 0; i < 2; i++) {
        struct ar_span rest;
        if (ar_span_behind(start, tags[i], &rest)) {
            return (size_t)(rest.at - line.at);
        }
    }
    return 0;
}

/* `0: ` of srun --label, `[0] ` of Hydra. */
static size_t label_bytes(struct ar_span line)
{
    bool is_bracket = line.bytes > 0 && line.at[0] == '[';
    size_t start = is_bracket;
    size_t digits = ar_span_digits(line, start);
    size_t end = start + digits;
    if (digits == 0 || end >= line.bytes || line.at[end] != (is_bracket ? ']' : ':')) {
        return 0;
    }
    struct ar_span rest = ar_span_after(line, end + 1);
    bool is_apart = rest.bytes == 0 || rest.at[0] == ' ' || rest.at[0] == '\t' || rest.at[0] == '#';
    return is_apart && !ar_span_starts(ar_span_trim(rest), "NCCL ") ? end + 1 : 0;
}

/* `(head, rank=0, pid=3808) ` of Ray, `2024-05-01T10:00:00.1Z ` of containers. */
static size_t note_bytes(struct ar_span line)
{
    struct ar_span rest = line;
    struct ar_span word = ar_span_word(&rest);
    if (word.bytes > 19 && ar_span_digits(word, 0) == 4 && word.at[4] == '-' &&
        word.at[10] == 'T') {
        return word.bytes;
    }
    size_t end = ar_span_find(line, ")");
    struct ar_span note = {line.at, end};
    bool is_ray =
        ar_span_starts(line, "(") && end < line.bytes && end < 120 && ar_span_has(note, "pid=");
    return is_ray ? end + 1 : 0;
}

struct ar_span ar_strip_prefix(struct ar_span line)
{
    for (int i = 0; i < 4; i++) {
        size_t bytes = tag_bytes(line);
        bytes = bytes > 0 ? bytes : label_bytes(line);
        bytes = bytes > 0 ? bytes : note_bytes(line);
        if (bytes == 0) {
            break;
        }
        line = ar_span_trim(ar_span_after(line, bytes));
    }
    return line;
}

/* Place of `:pid:tid [`, with which every message of NCCL begins after its host. */
static size_t find_process(struct ar_span span)
{
    for (size_t i = 0; i < span.bytes; i++) {
        if (span.at[i] == ':') {
            size_t pid = ar_span_digits(span, i + 1);
            size_t colon = i + 1 + pid;
            size_t tid = ar_span_digits(span, colon + 1);
            size_t blank = colon + 1 + tid;
            if (pid > 0 && tid > 0 && span.at[colon] == ':' && blank + 1 < span.bytes &&
                span.at[blank] == ' ' && span.at[blank + 1] == '[') {
                return i;
            }
        }
    }
    return span.bytes;
}

bool ar_split_message(struct ar_span line, struct ar_span *head, struct ar_span *glued,
                      struct ar_span *message)
{
    static const char *const kinds[] = {"NCCL INFO ", "NCCL WARN ", "NCCL TRACE ", "NCCL ERROR "};
    *head = line;
    *glued = *message = ar_span_after(line, line.bytes);
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        size_t place = ar_span_find(line, kinds[i]);
        if (place == line.bytes) {
            continue;
        }
        *message = ar_span_after(line, place);
        struct ar_span before = {line.at, place};
        size_t host_end = find_process(before);
        size_t host = host_end == before.bytes ? 0 : host_end;
        while (host > 0 && line.at[host - 1] != ' ' && line.at[host - 1] != '\t') {
            host--;
        }
        *head = ar_span_trim((struct ar_span){line.at, host});
        *glued = (struct ar_span){line.at + host, host_end - host};
        return true;
    }
    return false;
}

/* Reads `key number`, both removed from the line. */
static bool take_count(struct ar_span *line, const char *key, uint64_t *count)
{
    struct ar_span rest = *line;
    struct ar_span word = ar_span_word(&rest);
    struct ar_span number = ar_span_word(&rest);
    if (!ar_span_is(word, key) || !ar_span_count(number, count)) {
        return false;
    }
    *line = rest;
    return true;
}

bool ar_parse_rank(struct ar_span line, struct ar_nccl_rank *rank, char gpu[AR_LOG_TEXT])
{
    struct ar_span rest = ar_span_unmarked(line);
    struct ar_nccl_rank found = {.rank = 0};
    uint64_t device;
    if (!take_count(&rest, "Rank", &found.rank)) {
        return false;
    }
    take_count(&rest, "Group", &found.group);
    take_count(&rest, "Pid", &found.pid);
    struct ar_span on = ar_span_word(&rest);
    struct ar_span host = ar_span_word(&rest);
    if (!ar_span_is(on, "on") || host.bytes == 0 || !take_count(&rest, "device", &device)) {
        return false;
    }
    ar_span_copy(host, found.host, sizeof found.host);
    size_t bus_end = ar_span_find(rest, "]");
    struct ar_span name = ar_span_trim(ar_span_after(rest, bus_end + 1));
    ar_span_copy(name, gpu, AR_LOG_TEXT);
    *rank = found;
    return true;
}

bool ar_parse_sweep(struct ar_span line, struct ar_nccl_sweep *sweep)
{
    struct ar_span rest = ar_span_unmarked(line);
    struct ar_nccl_sweep found = {.threads = 0};
    uint64_t min_bytes;
    if (!take_count(&rest, "nThread", &found.threads) || !take_count(&rest, "nGpus", &found.gpus) ||
        !take_count(&rest, "minBytes", &min_bytes) ||
        !take_count(&rest, "maxBytes", &found.max_bytes)) {
        return false;
    }
    struct ar_span key = ar_span_word(&rest);
    struct ar_span step = ar_span_word(&rest);
    size_t unit = ar_span_find(step, "(");
    if (ar_span_is(key, "step:") && ar_span_count((struct ar_span){step.at, unit}, &found.step)) {
        found.is_factor = ar_span_is(ar_span_after(step, unit), "(factor)");
    }
    *sweep = found;
    return true;
}
