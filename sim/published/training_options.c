/* The options of a predicted run: those given, those of its file, defaults. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "ar_text.h"
#include "ar_units.h"
#include "commands.h"
#include "training_file.h"

enum kind { TEXT, PATH, LIST };

/* A directive that is an option; `offset` leads to its place in struct options. */
static const struct key {
    const char *name;
    enum kind kind;
    size_t offset;
    bool is_required;
} keys[TRAINING_KEYS_COUNT] = {
    {"cluster", PATH, offsetof(struct options, cluster), true},
    {"gpus", TEXT, offsetof(struct options, gpus), true},
    {"algorithm", TEXT, offsetof(struct options, algorithm), true},
    {"shape", TEXT, offsetof(struct options, shape), false},
    {"trace", PATH, offsetof(struct options, trace), true},
    {"precision", TEXT, offsetof(struct options, precision), false},
    {"framework", PATH, offsetof(struct options, framework), false},
    {"images_per_s_at", TEXT, offsetof(struct options, images_per_s_at), false},
    {"bucket", TEXT, offsetof(struct options, bucket), false},
    {"channels", TEXT, offsetof(struct options, channels), false},
    {"window", TEXT, offsetof(struct options, window), false},
    {"engine", TEXT, offsetof(struct options, engine), false},
    {"jitter", TEXT, offsetof(struct options, jitter), false},
    {"iterations", TEXT, offsetof(struct options, iterations), false},
    {"seed", TEXT, offsetof(struct options, seed), false},
    {"baseline", TEXT, offsetof(struct options, baseline), false},
    {"set", LIST, offsetof(struct options, settings), false},
    {"term", LIST, offsetof(struct options, terms), false},
};

/* A file named by a relative path lies beside the run file; names are looked up. */
static const char *resolve(const struct training_file *file, const char *value,
                           char path[RESOURCE_PATH])
{
    const char *dot = strrchr(value, '.');
    const char *slash = strrchr(file->csv->path, '/');
    bool is_file = strchr(value, '/') != NULL ||
                   (dot != NULL && (strcmp(dot, ".topo") == 0 || strcmp(dot, ".xml") == 0 ||
                                    strcmp(dot, ".csv") == 0));
    if (!is_file || value[0] == '/' || slash == NULL) {
        return value;
    }
    int folder = (int)(slash - file->csv->path) + 1;
    if ((size_t)folder + strlen(value) >= RESOURCE_PATH) {
        return value; /* too long to be there: the reader says so */
    }
    snprintf(path, RESOURCE_PATH, "%.*s%s", folder, file->csv->path, value);
    return path;
}

/* Whether one of the values given is of the same KEY=. */
static bool is_given(const struct option_values *given, const char *text)
{
    size_t length = strcspn(text, "= \t");
    for (size_t i = 0; i < given->count; i++) {
        const char *other = given->texts[i] + strspn(given->texts[i], " \t");
        if (strcspn(other, "= \t") == length && strncmp(other, text, length) == 0) {
            return true;
        }
    }
    return false;
}

/* Adds the values of a list of the file that are not given. `text` is cut at its semicolons. */
static enum ar_status add_list(const struct training_file *file, const struct key *key, char *text,
                               struct option_values *values, struct ar_error *err)
{
    const struct option_values given = *values;
    for (char *rest = text, *part; (part = strsep(&rest, ";")) != NULL;) {
        part += strspn(part, " \t");
        part[strcspn(part, "\t")] = '\0';
        for (size_t end = strlen(part); end > 0 && part[end - 1] == ' '; end--) {
            part[end - 1] = '\0';
        }
        if (part[0] == '\0' || values->count == SETTINGS_MAX) {
            return ar_error_set(err, AR_BAD_DATA,
                                "%s:%" PRIu64 ": %s: found %s; expected KEY=VALUE, or several "
                                "separated by \";\"",
                                file->csv->path, ar_csv_find_directive(file->csv, key->name)->line,
                                key->name, part[0] == '\0' ? "nothing" : "too many values");
        }
        if (!is_given(&given, part)) {
            values->texts[values->count++] = part;
        }
    }
    return AR_OK;
}

static enum ar_status take_key(const struct training_file *file, size_t index,
                               struct training_options *joined, struct ar_error *err)
{
    const struct key *key = &keys[index];
    const struct ar_csv_directive *found = ar_csv_find_directive(file->csv, key->name);
    void *place = (char *)&joined->options + key->offset;
    if (found == NULL || (key->kind != LIST && *(const char **)place != NULL)) {
        return AR_OK;
    }
    const char *value = found->value;
    joined->lines[index] = found->line;
    if (key->kind == LIST) {
        bool is_alone = ((struct option_values *)place)->count == 0;
        char **copy = &joined->lists[strcmp(key->name, "term") == 0];
        joined->lines[index] = is_alone ? found->line : 0; /* whose value is wrong is not known */
        *copy = strdup(value);
        return *copy == NULL ? ar_error_no_memory(err, "the settings of a run")
                             : add_list(file, key, *copy, place, err);
    }
    if (key->kind == PATH) {
        size_t path = strcmp(key->name, "cluster") == 0 ? 0
                      : strcmp(key->name, "trace") == 0 ? 1
                                                        : 2;
        value = resolve(file, value, joined->paths[path]);
    }
    *(const char **)place = value;
    return AR_OK;
}

static enum ar_status check_required(const struct training_file *file,
                                     const struct training_options *joined, struct ar_error *err)
{
    for (size_t i = 0; i < TRAINING_KEYS_COUNT; i++) {
        const char *const *place =
            (const char *const *)((const char *)&joined->options + keys[i].offset);
        if (keys[i].is_required && *place == NULL) {
            return ar_error_set(err, AR_BAD_DATA,
                                "%s: directive \"%s\" is missing; expected it or the option --%s",
                                file->csv->path, keys[i].name, keys[i].name);
        }
    }
    return AR_OK;
}

/* The shape of the file is one of its number of GPUs. */
static enum ar_status take_gpus(const struct training_file *file, const struct options *given,
                                struct training_options *joined, struct ar_error *err)
{
    uint64_t gpus;
    enum ar_status status =
        ar_parse_count("--gpus", joined->options.gpus, 1, UINT32_MAX, &gpus, err);
    if (status != AR_OK) {
        return option_status(status, err);
    }
    joined->gpus = (uint32_t)gpus;
    if (given->shape == NULL && joined->options.shape != NULL && file->gpus > 0 &&
        gpus != file->gpus) {
        joined->options.shape = NULL;
        joined->is_shape_dropped = true;
    }
    return AR_OK;
}

enum ar_status training_options_create(const struct training_file *file,
                                       const struct options *given, struct training_options *joined,
                                       struct ar_error *err)
{
    enum ar_status status = AR_OK;
    *joined = (struct training_options){.options = *given};
    joined->options.quiet = true;
    for (size_t i = 0; status == AR_OK && i < TRAINING_KEYS_COUNT; i++) {
        status = take_key(file, i, joined, err);
    }
    if (status == AR_OK) {
        status = check_required(file, joined, err);
    }
    if (status == AR_OK) {
        status = take_gpus(file, given, joined, err);
    }
    if (status != AR_OK) {
        training_options_destroy(joined);
        return status;
    }
    options_complete(COMMAND_PREDICT, &joined->options);
    return AR_OK;
}

void training_options_destroy(struct training_options *joined)
{
    free(joined->lists[0]);
    free(joined->lists[1]);
    joined->lists[0] = joined->lists[1] = NULL;
}

/* Whether a text begins with the option of a directive: with dashes, where that has underscores. */
static bool is_option(const char *text, const char *name)
{
    size_t i = 0;
    while (name[i] != '\0' && text[i] == (name[i] == '_' ? '-' : name[i])) {
        i++;
    }
    return name[i] == '\0' && text[i] == ':';
}

/* The line of the file whose value an error text speaks of; 0 if it is not of the file. */
static uint64_t find_line(const struct training_options *joined, const struct training_file *file,
                          size_t phase, const char *text)
{
    if (strncmp(text, "--", 2) != 0) { /* a trace that was measured at another batch */
        return strstr(text, " batch ") != NULL ? file->csv->lines[phase] : 0;
    }
    for (size_t i = 0; i < TRAINING_KEYS_COUNT; i++) {
        if (is_option(text + 2, keys[i].name)) {
            return joined->lines[i];
        }
    }
    return strncmp(text, "--batch:", strlen("--batch:")) == 0 ? file->csv->lines[phase] : 0;
}

enum ar_status training_options_blame(const struct training_options *joined,
                                      const struct training_file *file, size_t phase,
                                      enum ar_status status, struct ar_error *err)
{
    char text[sizeof err->text];
    uint64_t line = find_line(joined, file, phase, err->text);
    if (line == 0) {
        return status;
    }
    ar_copy_text(text, sizeof text, err->text + strspn(err->text, "-"));
    return ar_error_set(err, status == AR_USAGE ? AR_BAD_DATA : status, "%s:%" PRIu64 ": %s",
                        file->csv->path, line, text);
}
