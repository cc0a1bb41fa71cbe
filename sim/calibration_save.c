/* The files of a calibrated cluster: a copy of the cluster file, and the cost table. */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "ar_output.h"
#include "ar_text.h"
#include "calibration.h"

#define BLOCK_BEGIN "# --- calibrated by 'allreckon calibrate' ---"
#define BLOCK_END   "# --- end of what was calibrated ---"

enum { NAME_ROOM = 128, REMARK_ROOM = 400, LINE_ROOM = 8192, PATH_ROOM = 3700 };

/* --- what is said of the fit -------------------------------------------------------------- */

struct remarks {
    char *lines[AR_LIBRARY_NODES_MOST * 4 + 512];
    size_t count;
    bool is_short_of_memory;
};

enum { REMARKS_MOST = sizeof((struct remarks *)0)->lines / sizeof(char *) };

static void remark(struct remarks *remarks, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void remark(struct remarks *remarks, const char *format, ...)
{
    char text[REMARK_ROOM];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (remarks->count == REMARKS_MOST) {
        return;
    }
    for (char *at = text; *at != '\0'; at++) { /* a comment is one line, whatever a log says */
        *at = (char)((unsigned char)*at < 0x20 || *at == 0x7f ? '?' : *at);
    }
    remarks->lines[remarks->count] = strdup(text);
    remarks->is_short_of_memory |= remarks->lines[remarks->count] == NULL;
    remarks->count += remarks->lines[remarks->count] != NULL;
}

static void remark_nodes(struct remarks *remarks, const char *what,
                         const struct ar_library_nodes *nodes)
{
    char text[REMARK_ROOM / 2] = "none";
    size_t used = 0;
    for (size_t i = 0; i < nodes->count && used + 12 < sizeof text; i++) {
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%" PRIu32, i > 0 ? ", " : "",
                                 nodes->counts[i]);
    }
    remark(remarks, "%s: %s", what, text);
}

static void remark_unidentified(struct remarks *remarks, const struct ar_library *library)
{
    char text[REMARK_ROOM - 80] = "";
    size_t used = 0;
    for (int i = 0; i < AR_LIBRARY_PARAMETERS_COUNT; i++) {
        if (!library->is_identified[i] && used + 40 < sizeof text) {
            used += (size_t)snprintf(text + used, sizeof text - used, "%s%s", used > 0 ? ", " : "",
                                     ar_library_parameter_name((enum ar_library_parameter)i));
        }
    }
    remark(remarks, "not identified by the data, near their prior: %s", used > 0 ? text : "none");
}

static void remark_measured(const struct campaign *campaign, struct remarks *remarks)
{
    for (size_t i = 0; i < campaign->runs_count; i++) {
        const struct campaign_run *run = &campaign->runs[i];
        remark(remarks,
               "measured: %.240s, line %" PRIu64 ": %zu rows of %" PRIu32 " GPUs on %" PRIu32
               " node%s",
               run->path, run->line, run->rows_count, run->ranks, run->nodes,
               run->nodes == 1 ? "" : "s");
    }
    if (campaign->library[0] != '\0') {
        remark(remarks, "measured library: %s", campaign->library);
    }
    if (campaign->gpu[0] != '\0') {
        remark(remarks, "measured GPU: %s", campaign->gpu);
    }
}

static void remark_fit(const struct calibration *calibration, const struct campaign *campaign,
                       const struct options *options, struct remarks *remarks)
{
    char text[ACCURACY_TEXT];
    char date[16];
    time_t now = time(NULL);
    struct tm utc;
    strftime(date, sizeof date, "%Y-%m-%d", gmtime_r(&now, &utc));
    remark(remarks, "program: allreckon " AR_VERSION ", %s", date);
    remark_measured(campaign, remarks);
    remark(remarks, "times: %s; cluster: %.200s", campaign->time, options->cluster);
    remark_nodes(remarks, "nodes fitted", &calibration->table.fitted);
    remark_nodes(remarks, "nodes held out", &calibration->table.held_out);
    for (size_t i = 0; i < calibration->lines_count; i++) {
        remark(remarks, "error, %s", accuracy_text(&calibration->lines[i], text));
    }
    remark_unidentified(remarks, &calibration->table.library);
}

/* --- the copy of the cluster file --------------------------------------------------------- */

struct entry {
    char key[NAME_ROOM];
    char line[LINE_ROOM / 2]; /* `key = value ; source` */
    bool is_written;
};

enum { ENTRIES_MOST = SETTINGS_MOST + 3 };

struct copy {
    struct entry entries[ENTRIES_MOST];
    size_t entries_count;
    const struct remarks *remarks;
};

/* Cuts the blanks around a key. */
static void take_key(const char *from, size_t length, char key[NAME_ROOM])
{
    while (length > 0 && strchr(" \t", *from) != NULL) {
        from++;
        length--;
    }
    while (length > 0 && strchr(" \t", from[length - 1]) != NULL) {
        length--;
    }
    snprintf(key, NAME_ROOM, "%.*s", (int)length, from);
}

/* A later value of a key takes the place of an earlier one, as with --set. */
static void set_entry(struct copy *copy, const char *key, const char *value, const char *source)
{
    size_t place = 0;
    while (place < copy->entries_count && strcmp(copy->entries[place].key, key) != 0) {
        place++;
    }
    copy->entries_count += place == copy->entries_count;
    struct entry *entry = &copy->entries[place];
    snprintf(entry->key, sizeof entry->key, "%s", key);
    snprintf(entry->line, sizeof entry->line, "%s = %s ; %s", key, value, source);
}

/* The description of the cluster, and what is different here; that of an earlier calibration is
 * replaced. */
static void set_description(const struct calibration *calibration, const char *description,
                            struct copy *copy)
{
    char text[200];
    const char *earlier = strstr(description, ", NCCL fitted to ");
    size_t length = earlier != NULL ? (size_t)(earlier - description) : strlen(description);
    snprintf(text, sizeof text, "%.*s, NCCL fitted to %" PRIu32 " rows",
             (int)(length < 150 ? length : 150), description,
             calibration->table.library.rows_count);
    set_entry(copy, "description", text + (length == 0 ? 2 : 0), "'allreckon calibrate'");
}

static void set_entries(const struct options *options, const char *name, struct copy *copy)
{
    for (size_t i = 0; i < options->settings_count; i++) {
        const char *equals = strchr(options->settings[i], '=');
        char key[NAME_ROOM];
        take_key(options->settings[i], (size_t)(equals - options->settings[i]), key);
        set_entry(copy, key, equals + 1 + strspn(equals + 1, " \t"),
                  "--set of 'allreckon calibrate'");
    }
    set_entry(copy, "name", name, "name of this file");
    set_entry(copy, "library.cost_table", name, "'allreckon calibrate', see the head of the file");
}

static struct entry *entry_of_line(struct copy *copy, const char *line)
{
    const char *equals = strchr(line, '=');
    char key[NAME_ROOM];
    if (line[strspn(line, " \t")] == '#' || equals == NULL) {
        return NULL;
    }
    take_key(line, (size_t)(equals - line), key);
    for (size_t i = 0; i < copy->entries_count; i++) {
        if (strcmp(copy->entries[i].key, key) == 0) {
            return &copy->entries[i];
        }
    }
    return NULL;
}

static void write_block(FILE *target, const struct remarks *remarks)
{
    fprintf(target, "%s\n", BLOCK_BEGIN);
    for (size_t i = 0; i < remarks->count; i++) {
        fprintf(target, "# %s\n", remarks->lines[i]);
    }
    fprintf(target, "%s\n", BLOCK_END);
}

/* Copies the lines; the block of an earlier calibration is left out. */
static void copy_lines(FILE *source, FILE *target, struct copy *copy)
{
    char line[LINE_ROOM];
    bool is_in_block = false;
    write_block(target, copy->remarks);
    while (fgets(line, sizeof line, source) != NULL) {
        line[strcspn(line, "\r\n")] = '\0';
        bool begins = strcmp(line, BLOCK_BEGIN) == 0;
        bool ends = is_in_block && strcmp(line, BLOCK_END) == 0;
        struct entry *entry = entry_of_line(copy, line);
        if (!begins && !is_in_block) {
            fprintf(target, "%s\n", entry != NULL ? entry->line : line);
        }
        if (entry != NULL) {
            entry->is_written = true;
        }
        is_in_block = (is_in_block || begins) && !ends;
    }
    for (size_t i = 0; i < copy->entries_count; i++) {
        if (!copy->entries[i].is_written) {
            fprintf(target, "%s\n", copy->entries[i].line);
        }
    }
}

static enum ar_status write_cluster(const struct calibration *calibration,
                                    const struct remarks *remarks, const struct options *options,
                                    const struct ar_cluster *cluster, const char *source_path,
                                    const char *name, FILE *target, struct ar_error *err)
{
    FILE *source = fopen(source_path, "re");
    struct copy *copy = calloc(1, sizeof *copy);
    enum ar_status status = AR_OK;
    if (source == NULL) {
        status =
            ar_error_set(err, AR_NO_INPUT, "%.300s: cannot read: %s", source_path, strerror(errno));
    } else if (copy == NULL) {
        status = ar_error_no_memory(err, "the cluster file");
    } else {
        copy->remarks = remarks;
        set_entries(options, name, copy);
        set_description(calibration, ar_cluster_facts(cluster)->description, copy);
        copy_lines(source, target, copy);
    }
    if (status == AR_OK && ferror(source) != 0) {
        status = ar_error_set(err, AR_NO_INPUT, "%.300s: cannot read", source_path);
    }
    if (source != NULL) {
        fclose(source);
    }
    free(copy);
    return status;
}

/* --- both files --------------------------------------------------------------------------- */

static enum ar_status check_path(const char *source, const char *path, char name[NAME_ROOM],
                                 struct ar_error *err)
{
    const char *slash = strrchr(path, '/');
    const char *base = slash != NULL ? slash + 1 : path;
    size_t length = strlen(base);
    size_t plain =
        strspn(base, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.");
    if (length < 6 || length > 60 || plain != length || base[0] == '.' ||
        strcmp(base + length - 5, ".topo") != 0 || strlen(path) > PATH_ROOM) {
        return ar_error_set(err, AR_USAGE,
                            "--out: found \"%.200s\"; expected NAME.topo, with a NAME of letters, "
                            "digits, '-', '_' and '.'",
                            path);
    }
    struct stat a;
    struct stat b;
    if (stat(source, &a) == 0 && stat(path, &b) == 0 && a.st_dev == b.st_dev &&
        a.st_ino == b.st_ino) {
        return ar_error_set(err, AR_USAGE,
                            "--out: found \"%.200s\", the cluster that is calibrated; expected "
                            "another file",
                            path);
    }
    snprintf(name, NAME_ROOM, "%.*s", (int)(length - 5), base);
    return AR_OK;
}

/* The table first: a cluster file never names one that is not there. */
static enum ar_status commit_both(struct ar_output *table, struct ar_output *cluster,
                                  struct ar_error *err)
{
    bool was_there = access(table->path, F_OK) == 0;
    enum ar_status status = ar_output_commit(table, err);
    if (status != AR_OK) {
        ar_output_abort(cluster);
        return status;
    }
    status = ar_output_commit(cluster, err);
    if (status != AR_OK && !was_there) {
        unlink(table->path);
    }
    return status;
}

static enum ar_status save(const struct calibration *calibration, const struct remarks *remarks,
                           const struct options *options, const struct ar_cluster *cluster,
                           const char *source, const char *path, struct ar_error *err)
{
    char name[NAME_ROOM];
    char table_path[PATH_ROOM + 64];
    struct ar_output table;
    struct ar_output copy;
    enum ar_status status = check_path(source, path, name, err);
    if (status != AR_OK) {
        return status;
    }
    snprintf(table_path, sizeof table_path, "%.*s.library.csv", (int)strlen(path) - 5, path);
    status = ar_output_open(table_path, &table, err);
    if (status != AR_OK) {
        return status;
    }
    status = ar_output_open(path, &copy, err);
    if (status != AR_OK) {
        ar_output_abort(&table);
        return status;
    }
    ar_library_table_write(&calibration->table, (const char *const *)remarks->lines, remarks->count,
                           table.file);
    status = write_cluster(calibration, remarks, options, cluster, source, name, copy.file, err);
    if (status != AR_OK) {
        ar_output_abort(&table);
        ar_output_abort(&copy);
        return status;
    }
    return commit_both(&table, &copy, err);
}

enum ar_status calibration_save(const struct calibration *calibration,
                                const struct campaign *campaign, const struct options *options,
                                const struct ar_cluster *cluster, const char *source,
                                const char *path, struct ar_error *err)
{
    struct remarks *remarks = calloc(1, sizeof *remarks);
    if (remarks == NULL) {
        return ar_error_no_memory(err, "the comments of a cluster");
    }
    remark_fit(calibration, campaign, options, remarks);
    enum ar_status status = remarks->is_short_of_memory
                                ? ar_error_no_memory(err, "the comments of a cluster")
                                : save(calibration, remarks, options, cluster, source, path, err);
    for (size_t i = 0; i < remarks->count; i++) {
        free(remarks->lines[i]);
    }
    free(remarks);
    return status;
}
