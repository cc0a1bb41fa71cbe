#include "reproduce.h"

#include <errno.h>
#include <fnmatch.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ar_inputs.h"
#include "ar_kind.h"
#include "ar_library_engine.h"
#include "ar_text.h"
#include "key_texts.h"

/* --- ranges -------------------------------------------------------------------------------- */

static enum ar_status refuse_range(const char *where, const struct published_range *range,
                                   const char *expected, struct ar_error *err)
{
    return ar_error_set(err, AR_BAD_DATA, "%s: found \"%.80s\"; expected %s", where, range->text,
                        expected);
}

/* Finds the parameter: `set.KEY`, `term.KEY`, a key, or `run`. */
static enum ar_status find_parameter(const char *where, struct published_range *range,
                                     struct ar_error *err)
{
    const char *name = range->parameter;
    const char *names[AR_KEYS_COUNT + 1] = {"run"};
    size_t count = 1;
    bool is_set = strncmp(name, "set.", 4) == 0 && name[4] != '\0';
    bool is_term = strncmp(name, "term.", 5) == 0 && name[5] != '\0';
    if (is_set || is_term) {
        range->key = is_set ? AR_KEY_SET : AR_KEY_TERM;
        range->setting = strchr(name, '.') + 1;
        return AR_OK;
    }
    range->key = ar_key_find(name);
    if (range->key == AR_KEYS_COUNT ? strcmp(name, names[0]) == 0
                                    : ar_key_is(range->key, AR_KEY_IN_PUBLISHED) &&
                                          !ar_key_is(range->key, AR_KEY_REPEATS)) {
        return AR_OK;
    }
    for (int i = 0; i < AR_KEYS_COUNT; i++) {
        if (ar_key_is((enum ar_key)i, AR_KEY_IN_PUBLISHED)) {
            names[count++] = ar_key_name((enum ar_key)i);
        }
    }
    return ar_error_unknown(err, AR_BAD_DATA, where, "parameter", name, names, count);
}

/* Parses an end: a number and its unit. */
static bool parse_end(const char *text, double *number, const char **unit)
{
    char *end;
    errno = 0;
    *number = strtod(text, &end);
    *unit = end + strspn(end, " ");
    return end != text && errno == 0 && isfinite(*number);
}

/* Parses `PARAMETER=a|b` or `PARAMETER=low..high`; `where` begins the error line. Refused are
 * parameters that are none, one choice only, ends that are no numbers, that have different units or
 * are in the wrong order, and a number between two ends for a parameter that takes no fractions. A
 * unit behind the first end may be left out. */
static enum ar_status parse_published_range(struct ar_arena *arena, const char *where,
                                            const char *text, const char *source,
                                            struct published_range *range, struct ar_error *err)
{
    char *pieces = ar_arena_text(arena, text);
    char *values = strchr(pieces, '=');
    const char *low_unit;
    *range = (struct published_range){.text = ar_arena_text(arena, text),
                                      .source = ar_arena_text(arena, source),
                                      .parameter = pieces};
    AR_REFUSE_BY(values == NULL, refuse_range(where, range, "KEY=a|b or KEY=low..high", err));
    *values++ = '\0';
    AR_TRY(find_parameter(where, range, err));
    char *dots = strstr(values, "..");
    if (dots == NULL || strchr(values, '|') != NULL) {
        const char **choices = ar_arena_alloc(arena, strlen(values) + 1, sizeof *choices);
        bool is_wrong = false;
        for (char *choice; (choice = strsep(&values, "|")) != NULL;) {
            choices[range->choices_count++] = choice;
            is_wrong = is_wrong || choice[0] == '\0';
        }
        range->choices = choices;
        return is_wrong || range->choices_count < 2
                   ? refuse_range(where, range, "KEY=a|b with 2 or more choices, or KEY=low..high",
                                  err)
                   : AR_OK;
    }
    *dots = '\0';
    AR_REFUSE_BY(
        range->setting == NULL &&
            (range->key == AR_KEYS_COUNT || !ar_key_is(range->key, AR_KEY_IS_NUMBER)),
        refuse_range(where, range, "choices KEY=a|b, since the parameter takes no fractions", err));
    return parse_end(values, &range->low, &low_unit) &&
                   parse_end(dots + 2, &range->high, &range->unit) &&
                   (low_unit[0] == '\0' || strcmp(low_unit, range->unit) == 0) &&
                   range->low <= range->high
               ? AR_OK
               : refuse_range(where, range,
                              "KEY=low..high, one unit, the lower first: set.net.latency=2us..9us",
                              err);
}

/* The range of a parameter of a row, or of a key without a setting; NULL: none. */
static struct published_range *find_range(const struct published *row, enum ar_key key,
                                          const char *setting)
{
    AR_EACH(struct published_range, range, row->ranges, row->ranges_count) {
        bool has_settings = setting != NULL && range->setting != NULL;
        if (range->key == key && (has_settings ? ar_setting_is_same(range->setting, setting)
                                               : setting == range->setting)) {
            return range;
        }
    }
    return NULL;
}

/* Whether a scenario has a value of the parameter. */
static bool range_is_fixed(const struct published_range *range, const struct ar_scenario *scenario)
{
    if (range->setting == NULL) {
        return range->key != AR_KEYS_COUNT && ar_scenario_has(scenario, range->key);
    }
    return ar_settings_find(range->key == AR_KEY_SET ? &scenario->settings : &scenario->terms,
                            range->setting) != NULL;
}

/* --- rows ---------------------------------------------------------------------------------- */

const char *const published_quantities[] = {"efficiency_frac", "images_per_s", "samples_per_s",
                                            "iteration_s",     "tokens_per_s", "train_s",
                                            "tflops_per_gpu",  "mfu_frac",     NULL};

#define ROW(kind, field, name, ...) AR_COLUMN(kind, struct published, field, name, __VA_ARGS__)
#define OPTIONAL                    .may_be_missing = true, .may_be_empty = true
static const struct ar_column row_columns[] = {
    ROW(string, name, "row", "a name"),
    ROW(string, title, "title", "", OPTIONAL),
    ROW(choice, quantity, "quantity", "", .names = published_quantities),
    ROW(number, measured, "measured", "a number above 0, in the unit of the quantity", .min = 1e-12,
        .max = 1e15, .may_be_empty = true),
    ROW(number, measured_error, "measured_error", "half the width of an error bar, >= 0",
        .max = 1e15, OPTIONAL),
    ROW(string, source, "source", "where the number was published"),
    ROW(string, how_read, "how_read", "", OPTIONAL),
    ROW(string, run, "run", "", OPTIONAL),
    ROW(string, assume, "assume", "", OPTIONAL),
    ROW(string, fitted, "fitted", "", OPTIONAL),
};

/* Reads the ranges of a row's own. */
static enum ar_status read_assumptions(const struct ar_scenario *given, struct published *row,
                                       struct ar_error *err)
{
    row->ranges = ar_arena_alloc(given->arena, RANGES_MAX + 1, sizeof *row->ranges);
    AR_EACH_PART(part, ar_arena_text(given->arena, row->assume != NULL ? row->assume : ""), ';') {
        struct published_range range;
        if (part[0] == '\0') {
            continue;
        }
        AR_REFUSE(row->ranges_count == RANGES_MAX, err, AR_BAD_DATA,
                  "%s: found more than %d ranges in \"assume\"", row->where, RANGES_MAX);
        AR_TRY(parse_published_range(given->arena, row->where, part, "row", &range, err));
        AR_REFUSE(find_range(row, range.key, range.setting) != NULL, err, AR_BAD_DATA,
                  "%s: found %s twice in \"assume\"", row->where, range.parameter);
        if (!range_is_fixed(&range, given)) {
            row->ranges[row->ranges_count++] = range;
        }
    }
    return AR_OK;
}

/* The cells of a row must fit together, whatever its cluster. */
static enum ar_status check_row(const struct published *row, struct ar_error *err)
{
    bool is_train = row->quantity == QUANTITY_TRAIN_S;
    AR_REFUSE(!published_is_context(row) && isnan(row->measured), err, AR_BAD_DATA,
              "%s: found no measured value; expected one, or no cluster", row->where);
    AR_REFUSE(!published_is_context(row) && is_train != (row->run != NULL), err, AR_BAD_DATA,
              "%s: found quantity %s and run \"%.40s\"; expected a run file with train_s alone",
              row->where, published_quantities[row->quantity], row->run != NULL ? row->run : "");
    AR_REFUSE(is_train &&
                  (row->keys[AR_KEY_BATCH] != NULL || find_range(row, AR_KEY_BATCH, NULL) != NULL),
              err, AR_BAD_DATA,
              "%s: found a batch; expected none: run files have them (assume run=A|B for others)",
              row->where);
    return AR_OK;
}

enum ar_status published_read_file(const char *path, const struct ar_scenario *given,
                                   struct published_rows *rows, struct ar_error *err)
{
    struct key_columns room;
    struct ar_csv *csv;
    struct ar_error cause;
    const struct ar_columns columns = key_columns(
        &room, AR_COLUMNS(row_columns), AR_KEY_IN_PUBLISHED, offsetof(struct published, keys));
    char *table = ar_arena_text(given->arena, path);
    AR_TRY(ar_csv_load(path, given->arena, &csv, err));
    ar_copy_stem(table, strlen(path) + 1, path, ".csv");
    rows->rows = ar_arena_grow(given->arena, rows->rows, rows->count, csv->rows_count + 1,
                               sizeof *rows->rows);
    const struct published begin = {.measured = NAN,
                                    .predicted = NAN,
                                    .low = NAN,
                                    .high = NAN,
                                    .error_frac = NAN,
                                    .measured_s = NAN,
                                    .predicted_s = NAN};
    struct published *all = rows->rows + rows->count, *read;
    AR_TRY(ar_csv_read_rows(csv, columns, &begin, &read, err));
    memcpy(all, read, csv->rows_count * sizeof *all);
    for (size_t i = 0; i < csv->rows_count; i++) {
        struct published *row = &all[i];
        row->table = table;
        row->where =
            ar_arena_format(given->arena, "%s: row \"%.40s\"", AR_SHOW_WHERE(csv, i), row->name);
        row->title = row->title != NULL ? row->title : row->name;
        /* The title up to its first comma, or the table. */
        const char *comma = strchr(row->title, ',');
        row->software = comma == NULL ? row->table
                                      : ar_arena_format(given->arena, "%.*s",
                                                        (int)(comma - row->title), row->title);
        row->scenario = *given;
        enum ar_status status = key_texts_add(row->keys, NULL, &row->scenario, &cause);
        /* A wrong cell is wrong data, not wrong usage. */
        AR_REFUSE(status != AR_OK, err, status == AR_USAGE ? AR_BAD_DATA : status, "%s: %s",
                  row->where, cause.text);
        row->gpus = row->scenario.gpus > 0 ? row->scenario.gpus : AR_NO_COUNT;
        row->algorithm = row->keys[AR_KEY_ALGORITHM];
        AR_TRY(read_assumptions(given, row, err));
        AR_TRY(check_row(row, err));
        for (const struct published *other = rows->rows; other < row; other++) {
            AR_REFUSE(strcmp(other->name, row->name) == 0, err, AR_BAD_DATA,
                      "%s: found the name again; expected it once (%s)", row->where, other->where);
        }
        rows->count++;
    }
    return AR_OK;
}

/* --- ranges of clusters -------------------------------------------------------------------- */

/* The shipped files of ranges that hold for all rows of a cluster, and of errors of other tools. */
static const char ranges_name[] = "ranges", peers_name[] = "peers";

bool published_has_rows(const char *name)
{
    return strcmp(name, ranges_name) != 0 && strcmp(name, peers_name) != 0;
}

struct range_line {
    const char *cluster, *key, *low, *high, *source;
    const char *given; /* name of a key that a row must have; NULL: none */
    struct published_range range;
};

#define LINE(kind, field, ...) AR_COLUMN(kind, struct range_line, field, #field, __VA_ARGS__)
static const struct ar_column line_columns[] = {
    LINE(string, cluster, "a cluster, or a pattern of names"),
    LINE(string, key, "a parameter"),
    LINE(string, low, "the lower end"),
    LINE(string, high, "the upper end"),
    LINE(string, source, "where the ends of the range are from"),
    LINE(string, given, "the name of a key", .may_be_missing = true, .may_be_empty = true),
};

/* Whether a line holds for a row: its cluster and key are the row's, which leaves the parameter
 * open and reacts to it. */
static bool line_concerns(const struct range_line *line, const struct published *row)
{
    const struct published_range *range = &line->range;
    const struct ar_scenario *scenario = &row->scenario;
    if (published_is_context(row) || fnmatch(line->cluster, scenario->cluster_name, 0) != 0 ||
        (line->given != NULL && !ar_scenario_has(scenario, ar_key_find(line->given))) ||
        range_is_fixed(range, scenario)) {
        return false;
    }
    bool is_jitter = range->key == AR_KEY_TERM && ar_scenario_has(scenario, AR_KEY_JITTER) &&
                     strcmp(range->setting, ar_terms[AR_TERM_JITTER].key) == 0;
    bool is_unknown_to_engine = range->key == AR_KEY_SET &&
                                ar_library_engine_ignores(scenario->engine, range->setting) &&
                                find_range(row, AR_KEY_ENGINE, NULL) == NULL;
    bool is_of_traces =
        ar_scenario_kind(scenario)->has_layout && ar_key_is(range->key, AR_KEY_OF_STEP);
    return !is_jitter && !is_unknown_to_engine && !is_of_traces;
}

/* Adds the ranges of the shipped file. Lines that hold for fewer rows come later and take the place
 * of more general ones: any cluster, a cluster, those with a given key. */
static enum ar_status add_ranges(const char *path, struct ar_arena *arena,
                                 const struct published_rows *rows, struct ar_error *err)
{
    struct ar_csv *csv;
    AR_TRY(ar_csv_load(path, arena, &csv, err));
    struct range_line *lines;
    AR_TRY(ar_csv_read_rows(csv, AR_COLUMNS(line_columns), NULL, &lines, err));
    for (size_t i = 0; i < csv->rows_count; i++) {
        const char *text =
            ar_arena_format(arena, "%s=%s..%s", lines[i].key, lines[i].low, lines[i].high);
        AR_TRY(parse_published_range(arena, AR_SHOW_WHERE(csv, i), text, lines[i].source,
                                     &lines[i].range, err));
    }
    for (size_t i = 0; i < 3 * csv->rows_count; i++) {
        const struct range_line *line = &lines[i % csv->rows_count];
        size_t pass = line->given != NULL ? 2 : strcmp(line->cluster, "*") == 0 ? 0 : 1;
        for (size_t j = 0; pass == i / csv->rows_count && j < rows->count; j++) {
            struct published *row = &rows->rows[j];
            struct published_range *old = find_range(row, line->range.key, line->range.setting);
            if (!line_concerns(line, row) || (old != NULL && strcmp(old->source, "row") == 0)) {
                continue;
            }
            AR_REFUSE(old == NULL && row->ranges_count == RANGES_MAX, err, AR_BAD_DATA,
                      "%s: found more than %d ranges", row->where, RANGES_MAX);
            *(old != NULL ? old : &row->ranges[row->ranges_count++]) = line->range;
        }
    }
    return AR_OK;
}

/* --- other tools --------------------------------------------------------------------------- */

#define PEER(kind, field, help, ...)                                                               \
    AR_COLUMN(kind, struct published_peer, field, #field, help, __VA_ARGS__)
static const struct ar_column peer_columns[] = {
    PEER(string, software, "the software of rows"),
    PEER(string, table, "the file of the rows"),
    PEER(count, gpus_min, "the least number of GPUs", .min = 1, .max = 1e9),
    PEER(count, gpus_max, "the largest number of GPUs", .min = 1, .max = 1e9),
    PEER(string, peer, "a tool"),
    PEER(number, error_frac, "its error, a number above 0", .min = 1e-6, .max = 1e3),
    PEER(string, statistic, "mean or median"),
    PEER(string, rows, "the rows that it was run on"),
    PEER(string, source, "who states it"),
};

enum ar_status published_read(const struct published_request *request, struct published_rows *rows,
                              struct ar_error *err)
{
    char names[RESOURCE_NAMES_MAX][64];
    char path[RESOURCE_PATH];
    const char *pattern = request->pattern;
    bool is_named = request->files_count > 0;
    size_t count = is_named ? request->files_count : resource_names(RESOURCE_PUBLISHED, names);
    *rows = (struct published_rows){.count = 0};
    for (size_t i = 0; i < count; i++) {
        const char *name = is_named ? request->files[i] : names[i];
        if (is_named || published_has_rows(name)) {
            AR_TRY(resource_find(RESOURCE_PUBLISHED, "reproduce", name, path, err));
            AR_TRY(published_read_file(path, &request->given, rows, err));
        }
    }
    size_t all = rows->count;
    rows->count = 0;
    for (size_t i = 0; i < all; i++) {
        if (pattern == NULL || fnmatch(pattern, rows->rows[i].name, 0) == 0) {
            rows->rows[rows->count++] = rows->rows[i];
        }
    }
    AR_REFUSE(all == 0, err, AR_BAD_DATA, "reproduce: found no rows in the files");
    AR_REFUSE(rows->count == 0, err, AR_USAGE,
              "--rows: found \"%.60s\"; expected the name of one of the %zu rows, or a pattern "
              "such as \"sony*\"",
              pattern, all);
    AR_TRY(resource_find(RESOURCE_PUBLISHED, "reproduce", peers_name, path, err));
    struct ar_csv_list *peers;
    AR_TRY(ar_csv_load_list(path, request->given.arena, AR_COLUMNS(peer_columns), &peers, err));
    rows->peers = peers->rows;
    rows->peers_count = peers->count;
    AR_TRY(resource_find(RESOURCE_PUBLISHED, "reproduce", ranges_name, path, err));
    return add_ranges(path, request->given.arena, rows, err);
}
