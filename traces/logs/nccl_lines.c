#include "nccl_lines.h"

#include <stdlib.h>
#include <string.h>

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static size_t digits_at(struct ar_span span, size_t start)
{
    size_t end = start;
    while (end < span.bytes && is_digit(span.at[end])) {
        end++;
    }
    return end - start;
}

/* `[1,0]<stdout>:` of Open MPI, with or without a time stamp before it. */
static size_t tag_bytes(struct ar_span line)
{
    static const char *const tags[] = {"]<stdout>:", "]<stderr>:"};
    struct ar_span start = {line.at, line.bytes < 120 ? line.bytes : 120};
    for (size_t i = 0; i < 2; i++) {
        size_t place = ar_span_find(start, tags[i]);
        if (place < start.bytes) {
            return place + strlen(tags[i]);
        }
    }
    return 0;
}

/* `0: ` of srun --label, `[0] ` of Hydra. */
static size_t label_bytes(struct ar_span line)
{
    bool is_bracket = line.bytes > 0 && line.at[0] == '[';
    size_t start = is_bracket;
    size_t digits = digits_at(line, start);
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
    if (word.bytes > 19 && digits_at(word, 0) == 4 && word.at[4] == '-' && word.at[10] == 'T') {
        return word.bytes;
    }
    size_t end = ar_span_find(line, ")");
    struct ar_span note = {line.at, end};
    bool is_ray = ar_span_starts(line, "(") && end < line.bytes && end < 120 &&
                  ar_span_find(note, "pid=") < note.bytes;
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
            size_t pid = digits_at(span, i + 1);
            size_t colon = i + 1 + pid;
            size_t tid = digits_at(span, colon + 1);
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

static struct ar_span without_mark(struct ar_span line)
{
    while (line.bytes > 0 && line.at[0] == '#') {
        line = ar_span_trim(ar_span_after(line, 1));
    }
    return line;
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
    struct ar_span rest = without_mark(line);
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
    struct ar_span rest = without_mark(line);
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

static enum ar_nccl_column column_of(struct ar_span name)
{
    static const struct {
        const char *name;
        enum ar_nccl_column column;
    } names[] = {
        {"size", AR_COLUMN_SIZE},        {"count", AR_COLUMN_COUNT},  {"type", AR_COLUMN_TYPE},
        {"redop", AR_COLUMN_REDOP},      {"root", AR_COLUMN_ROOT},    {"time", AR_COLUMN_TIME},
        {"cputime", AR_COLUMN_CPU_TIME}, {"algbw", AR_COLUMN_ALGBW},  {"busbw", AR_COLUMN_BUSBW},
        {"error", AR_COLUMN_ERROR},      {"#wrong", AR_COLUMN_WRONG}, {"wrong", AR_COLUMN_WRONG},
    };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (ar_span_is(name, names[i].name)) {
            return names[i].column;
        }
    }
    return AR_COLUMN_SKIPPED;
}

bool ar_parse_header(struct ar_span line, struct ar_nccl_header *header)
{
    struct ar_span words[AR_NCCL_COLUMNS_MAX];
    size_t count = ar_span_words(without_mark(line), words, AR_NCCL_COLUMNS_MAX);
    struct ar_nccl_header found = {.needed = 0};
    unsigned seen[AR_COLUMN_WRONG + 1] = {0};
    if (count > AR_NCCL_COLUMNS_MAX || count < 6) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        enum ar_nccl_column column = column_of(words[i]);
        found.columns[i] = column;
        found.is_in_place[i] = column >= AR_COLUMN_TIME && seen[column] > 0;
        seen[column]++;
        found.needed = column != AR_COLUMN_SKIPPED ? i + 1 : found.needed;
    }
    bool has_time = seen[AR_COLUMN_TIME] > 0 || seen[AR_COLUMN_CPU_TIME] > 0;
    if (found.columns[0] != AR_COLUMN_SIZE || found.columns[1] != AR_COLUMN_COUNT || !has_time) {
        return false;
    }
    *header = found;
    return true;
}

static bool is_absent(struct ar_span word)
{
    return ar_span_is(word, "N/A") || ar_span_is(word, "n/a");
}

bool ar_is_row_start(struct ar_span line)
{
    struct ar_span words[3];
    uint64_t count;
    size_t found = ar_span_words(line, words, 3);
    bool is_type = found < 3 || (words[2].at[0] >= 'a' && words[2].at[0] <= 'z');
    return found >= 2 && ar_span_count(words[0], &count) && ar_span_count(words[1], &count) &&
           is_type;
}

/* `-1[0]`: Hydra writes its label in front of every piece of a line, joined to the piece before. */
static struct ar_span without_label(struct ar_span word)
{
    return (struct ar_span){word.at, ar_span_find(word, "[")};
}

bool ar_is_row_rest(struct ar_span line)
{
    double value, half_digit;
    bool is_any = false;
    for (struct ar_span word = ar_span_word(&line); word.bytes > 0; word = ar_span_word(&line)) {
        struct ar_span number = without_label(word);
        if (number.bytes > 0 && !is_absent(number) &&
            !ar_span_number(number, &value, &half_digit)) {
            return false;
        }
        is_any = is_any || number.bytes > 0;
    }
    return is_any;
}

void ar_words_append(struct ar_nccl_words *words, struct ar_span line)
{
    for (struct ar_span word = ar_span_word(&line);
         word.bytes > 0 && words->count < AR_NCCL_COLUMNS_MAX; word = ar_span_word(&line)) {
        struct ar_span value = without_label(word);
        if (value.bytes > 0) {
            ar_span_copy(value, words->text[words->count++], AR_NCCL_WORD);
        }
    }
}

void ar_words_fill_operation(struct ar_nccl_words *words, const struct ar_nccl_header *header)
{
    size_t place = 0;
    while (place < header->needed && header->columns[place] != AR_COLUMN_REDOP) {
        place++;
    }
    double value, half_digit;
    if (place < header->needed && place < words->count && words->count < AR_NCCL_COLUMNS_MAX) {
        struct ar_span word = {words->text[place], strlen(words->text[place])};
        if (ar_span_number(word, &value, &half_digit)) {
            memmove(words->text[place + 1], words->text[place],
                    (words->count - place) * sizeof words->text[0]);
            strcpy(words->text[place], "none");
            words->count++;
        }
    }
}

/* What nccl-tests can have printed there; the rest is the host. Where host and value both are
 * digits the value is lost, which matters for none of these columns. */
static size_t value_bytes(enum ar_nccl_column column, struct ar_span glued)
{
    static const char *const operations[] = {"sum", "prod", "max", "min", "avg", "mulsum", "none"};
    if (column == AR_COLUMN_ROOT) {
        return ar_span_starts(glued, "-1") ? 2 : digits_at(glued, 0) > 0;
    }
    if (column == AR_COLUMN_WRONG) {
        return ar_span_starts(glued, "0");
    }
    for (size_t i = 0; column == AR_COLUMN_REDOP && i < 7; i++) {
        if (ar_span_starts(glued, operations[i])) {
            return strlen(operations[i]);
        }
    }
    return 0;
}

void ar_words_append_glued(struct ar_nccl_words *words, enum ar_nccl_column column,
                           struct ar_span glued)
{
    bool is_glued = column == AR_COLUMN_ROOT || column == AR_COLUMN_REDOP ||
                    column == AR_COLUMN_WRONG || column == AR_COLUMN_ERROR;
    if (!is_glued || glued.bytes == 0 || words->count >= AR_NCCL_COLUMNS_MAX) {
        return;
    }
    size_t bytes = value_bytes(column, glued);
    struct ar_span absent = {"N/A", 3};
    struct ar_span value = bytes > 0 ? (struct ar_span){glued.at, bytes} : absent;
    ar_span_copy(value, words->text[words->count++], AR_NCCL_WORD);
}
