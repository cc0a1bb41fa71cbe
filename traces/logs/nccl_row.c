#include "nccl_row.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* Names of the columns; some have two. */
static const struct {
    const char *name;
    enum ar_nccl_column column;
} names[] = {
    {"size", AR_COLUMN_SIZE},        {"count", AR_COLUMN_COUNT},  {"type", AR_COLUMN_TYPE},
    {"redop", AR_COLUMN_REDOP},      {"root", AR_COLUMN_ROOT},    {"time", AR_COLUMN_TIME},
    {"cputime", AR_COLUMN_CPU_TIME}, {"algbw", AR_COLUMN_ALGBW},  {"busbw", AR_COLUMN_BUSBW},
    {"error", AR_COLUMN_ERROR},      {"#wrong", AR_COLUMN_WRONG}, {"wrong", AR_COLUMN_WRONG},
};
enum { NAMES_COUNT = sizeof names / sizeof names[0] };

static enum ar_nccl_column column_of(struct ar_span name)
{
    for (size_t i = 0; i < NAMES_COUNT; i++) {
        if (ar_span_is(name, names[i].name)) {
            return names[i].column;
        }
    }
    return AR_COLUMN_SKIPPED;
}

static const char *name_of(enum ar_nccl_column column)
{
    size_t i = 0;
    while (i + 1 < NAMES_COUNT && names[i].column != column) {
        i++;
    }
    return names[i].name;
}

bool ar_parse_header(struct ar_span line, struct ar_nccl_header *header)
{
    struct ar_span words[AR_NCCL_COLUMNS_MAX];
    size_t count = ar_span_words(ar_span_unmarked(line), words, AR_NCCL_COLUMNS_MAX);
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
        struct ar_span word = ar_span_of(words->text[place]);
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
        return ar_span_starts(glued, "-1") ? 2 : ar_span_digits(glued, 0) > 0;
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

/* Times in us, bandwidths in GB/s. */
static void set_number(struct ar_log_row *row, struct ar_nccl_extra *extra,
                       enum ar_nccl_column column, bool is_in_place, struct ar_printed printed)
{
    struct ar_row_digits *digits = &extra->digits[is_in_place];
    if (column == AR_COLUMN_TIME) {
        digits->time = ar_printed_times(printed, 1e-6);
    } else if (column == AR_COLUMN_ALGBW) {
        digits->algbw = ar_printed_times(printed, 1e9);
    } else if (column == AR_COLUMN_BUSBW) {
        digits->busbw = ar_printed_times(printed, 1e9);
    } else if (column == AR_COLUMN_WRONG && printed.value >= 0 && printed.value < 9e18) {
        (is_in_place ? &row->in_place : &row->out_of_place)->wrong = (int64_t)printed.value;
    } else if (column == AR_COLUMN_ROOT && fabs(printed.value) < 1e9) {
        extra->root = (int64_t)printed.value;
    }
}

/* False when the word is not what the column holds. */
static bool set_word(struct ar_log_row *row, struct ar_nccl_extra *extra,
                     enum ar_nccl_column column, bool is_in_place, struct ar_span word)
{
    struct ar_printed printed;
    switch (column) {
    case AR_COLUMN_SKIPPED:
    case AR_COLUMN_CPU_TIME:
    case AR_COLUMN_ERROR:
        return true;
    case AR_COLUMN_SIZE:
        return ar_span_count(word, &row->payload_bytes);
    case AR_COLUMN_COUNT:
        return ar_span_count(word, &row->count);
    case AR_COLUMN_TYPE:
        ar_span_copy(word, row->datatype, AR_LOG_WORD);
        return true;
    case AR_COLUMN_REDOP:
        ar_span_copy(word, row->redop, AR_LOG_WORD);
        return true;
    default:
        if (is_absent(word)) {
            return true;
        }
        if (!ar_span_number(word, &printed.value, &printed.half_digit)) {
            return false;
        }
        set_number(row, extra, column, is_in_place, printed);
        return true;
    }
}

enum ar_status ar_parse_row(const char *path, const struct ar_nccl_header *header,
                            const struct ar_nccl_words *words, struct ar_log_row *row,
                            struct ar_nccl_extra *extra, struct ar_error *err)
{
    for (size_t i = 0; i < header->needed; i++) {
        enum ar_nccl_column column = header->columns[i];
        if (column == AR_COLUMN_CPU_TIME) {
            return ar_error_set(err, AR_BAD_DATA,
                                "%s:%" PRIu64 ": column \"cputime\" (-C 1) is the time to launch; "
                                "expected column \"time\"",
                                path, header->line);
        }
        if (!set_word(row, extra, column, header->is_in_place[i], ar_span_of(words->text[i]))) {
            return ar_error_set(err, AR_BAD_DATA,
                                "%s:%" PRIu64 ": column \"%s\" is \"%s\"; expected a number or N/A",
                                path, row->line, name_of(column), words->text[i]);
        }
    }
    return AR_OK;
}
