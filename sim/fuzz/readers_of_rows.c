/* Targets of what sweeps, reports and scenarios read. */
#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ar_hash.h"
#include "ar_inputs.h"
#include "ar_kind.h"
#include "ar_page.h"
#include "ar_plot_table.h"
#include "ar_run.h"
#include "fuzz.h"
#include "journal.h"
#include "published.h"

/* --- tables that are shipped, and copies of them
 * -------------------------------------------------- */

enum ar_status fuzz_library(const struct fuzz_input *input, struct ar_error *err)
{
    struct ar_library_table *table = ar_arena_alloc(input->arena, 1, sizeof *table);
    return ar_library_table_read(input->path, table, err);
}

enum ar_status fuzz_transformers(const struct fuzz_input *input, struct ar_error *err)
{
    struct ar_transformers *transformers;
    return ar_transformers_load(input->path, input->arena, &transformers, err);
}

enum ar_status fuzz_evoformers(const struct fuzz_input *input, struct ar_error *err)
{
    struct ar_evoformers *evoformers;
    return ar_evoformers_load(input->path, input->arena, &evoformers, err);
}

enum ar_status fuzz_published(const struct fuzz_input *input, struct ar_error *err)
{
    struct published_rows rows;
    const struct published_request request = {
        .files = &input->path, .files_count = 1, .given = ar_scenario_begin(input->arena)};
    return published_read(&request, &rows, err);
}

/* --- keys: lines of `name value`
 * ------------------------------------------------------------------ */

enum { TEXTS_MAX = 8 };

struct texts {
    const char *list[AR_KEYS_COUNT][TEXTS_MAX + 1]; /* ended by NULL */
    bool is_small; /* what they ask for is quick and stays in this process */
};

static bool is_small(enum ar_key key, const char *value)
{
    static const char *const apart[] = {"simgrid", "best", "auto", "anneal"};
    size_t digits = strspn(value, "0123456789");
    bool is_small = digits < 4 && strchr(value, '/') == NULL;
    for (size_t i = 0; i < sizeof apart / sizeof apart[0]; i++) {
        is_small = is_small && strcmp(value, apart[i]) != 0;
    }
    return is_small && (key != AR_KEY_MESH || strlen(value) < 16);
}

static void take_lines(char *rest, struct texts *texts)
{
    texts->is_small = true;
    for (char *line; (line = strsep(&rest, "\n")) != NULL;) {
        const char *name = strsep(&line, " ");
        enum ar_key key = ar_key_find(name);
        if (line != NULL && key != AR_KEYS_COUNT) {
            size_t count = 0;
            while (count < TEXTS_MAX && texts->list[key][count] != NULL) {
                count++;
            }
            texts->list[key][ar_key_is(key, AR_KEY_REPEATS) ? count : 0] = line;
            texts->list[key][TEXTS_MAX] = NULL;
            texts->is_small = texts->is_small && is_small(key, line);
        }
    }
}

static enum ar_status set_keys(const struct texts *texts, struct ar_scenario *scenario,
                               struct ar_error *err)
{
    for (int i = 0; i < AR_KEYS_COUNT; i++) {
        const struct ar_origin origin = {.where = ar_keys[i].option, .status = AR_USAGE};
        for (int k = 0; texts->list[i][k] != NULL; k++) {
            AR_TRY(ar_scenario_set(scenario, (enum ar_key)i, &origin, texts->list[i][k], err));
        }
    }
    return AR_OK;
}

/* Loaded if they are small, and run if that is quick. */
enum ar_status fuzz_keys(const struct fuzz_input *input, struct ar_error *err)
{
    struct ar_scenario scenario = ar_scenario_begin(input->arena);
    struct ar_inputs *inputs = ar_inputs_create(input->arena);
    struct ar_row *row = ar_arena_alloc(input->arena, 1, sizeof *row);
    struct texts *texts = ar_arena_alloc(input->arena, 1, sizeof *texts);
    take_lines(ar_arena_text(input->arena, input->bytes), texts);
    AR_TRY(set_keys(texts, &scenario, err));
    AR_TRY(ar_scenario_require(&scenario, AR_KEY_CLUSTER, err));
    if (!texts->is_small) {
        return AR_OK;
    }
    AR_TRY(ar_scenario_load(&scenario, inputs, err));
    AR_TRY(scenario.gpus > 0 ? AR_OK : ar_scenario_require(&scenario, AR_KEY_GPUS, err));
    if (ar_scenario_kind(&scenario)->is_collective) {
        AR_TRY(ar_scenario_require(&scenario, AR_KEY_PAYLOAD, err));
        AR_TRY(ar_scenario_require(&scenario, AR_KEY_ALGORITHM, err));
    }
    return ar_run_cost_s(&scenario) < 0.01 ? ar_run(&scenario, row, err) : AR_OK;
}

/* --- journals
 * ------------------------------------------------------------------------------------- */

enum { POINTS = 16 };

/* Writes lines with the checksums that they must have, behind the header of their sweep. */
static void write_journal(const struct fuzz_input *input, const char *header)
{
    FILE *file = fopen(input->path, "w");
    char *rest = ar_arena_text(input->arena, input->bytes);
    assert(file != NULL);
    fputs(header, file);
    for (char *line; (line = strsep(&rest, "\n")) != NULL && rest != NULL;) {
        uint64_t hash = AR_HASH_BEGIN;
        char *sum = strstr(line, " SUM ");
        if (sum == NULL) {
            fprintf(file, "%s\n", line);
            continue;
        }
        *sum = '\0';
        ar_hash_bytes(&hash, sum + 5, strlen(sum + 5));
        fprintf(file, "%s %08" PRIx32 " %s\n", line, (uint32_t)(hash ^ hash >> 32), sum + 5);
    }
    fclose(file);
}

static void read_points(const struct journal *journal, struct ar_row *row)
{
    struct ar_error err;
    for (uint32_t point = 0; point < POINTS; point++) {
        if (journal_has_row(journal, point)) {
            (void)journal_read_row(journal, point, row, &err);
        }
    }
}

enum ar_status fuzz_journal(const struct fuzz_input *input, struct ar_error *err)
{
    char header[512] = "";
    struct journal *journal = ar_arena_alloc(input->arena, 1, sizeof *journal);
    struct ar_row *row = ar_arena_alloc(input->arena, 1, sizeof *row);
    struct journal_request request = {
        .directory = input->directory, .fingerprint = 1, .points_count = POINTS, .forces = true};
    AR_TRY(journal_open(&request, input->arena, journal, err));
    rewind(journal->file);
    assert(fgets(header, sizeof header, journal->file) != NULL);
    journal_close(journal, true);
    /* Its own first line, or the input's. */
    write_journal(input, input->bytes[0] == 'a' ? "" : header);
    request.forces = false;
    request.resumes = true;
    enum ar_status status = journal_open(&request, input->arena, journal, err);
    if (status == AR_OK) {
        read_points(journal, row);
        journal_close(journal, true);
    }
    return status;
}

/* --- what commands left
 * ----------------------------------------------------------------------------- */

/* As each of the files that pictures are drawn from. */
enum ar_status fuzz_table(const struct fuzz_input *input, struct ar_error *err)
{
    enum ar_status status = AR_OK;
    for (int i = 0; i < AR_PLOT_FILES; i++) {
        enum ar_plot_file file = (enum ar_plot_file)i;
        struct ar_plot_table *table = ar_arena_alloc(input->arena, 1, sizeof *table);
        status = ar_plot_table_read(input->path, &file, input->arena, table, err);
    }
    return status;
}

/* Writes a file of a report, if the input is one of the name. */
static void write_if_named(const struct fuzz_input *input, const char *directory, const char *name)
{
    size_t length = strlen(name);
    if (input->size > length + 2 && strncmp(input->bytes + 2, name, length) == 0) {
        fuzz_write(ar_arena_format(input->arena, "%s/%s", directory, name), input->bytes,
                   input->size);
    }
}

/* The first line of the input names the file, such as `# sweep.csv`; beside it lies what others
 * need. */
enum ar_status fuzz_report(const struct fuzz_input *input, struct ar_error *err)
{
    static const char *const files[] = {
        "sweep.csv",  "payload.csv",   "layouts.csv", "step.csv",       "pipeline.csv",
        "train.csv",  "reproduce.csv", "curves.csv",  "compare.csv",    "accuracy.csv",
        "layers.csv", "kinds.csv",     "sets.csv",    "parameters.csv", "command.txt"};
    static const char step[] = "gpus\n4\n";
    struct ar_page page;
    const char *directory = ar_arena_format(input->arena, "%s/page", input->directory);
    const struct ar_page_request request = {
        .directory = directory,
        .out = ar_arena_format(input->arena, "%s/report.html", input->directory),
        .page_dir = FUZZ_SOURCE "/plots/report",
        .template_dir = FUZZ_SOURCE "/plots/templates",
        .made_by = "fuzz",
        .columns = &ar_row_columns,
        .columns_count = 1};
    fuzz_make_directory(directory);
    fuzz_write(ar_arena_format(input->arena, "%s/step.csv", directory), FUZZ_TEXT(step));
    fuzz_write(ar_arena_format(input->arena, "%s/accuracy.csv", directory), FUZZ_TEXT(step));
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        write_if_named(input, directory, files[i]);
    }
    return ar_page_write(&request, input->arena, &page, err);
}
