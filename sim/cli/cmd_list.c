/* list: clusters, traces, algorithms and all else to choose from, and the columns of the results.
 * verify: a proof by execution that the algorithms are right. */
#include <fnmatch.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ar_cluster.h"
#include "ar_measured_set.h"
#include "ar_row.h"
#include "ar_units.h"
#include "ar_verify.h"
#include "commands.h"
#include "lists.h"
#include "reproduce.h"
#include "training.h"

/* Where a topic is shown: a line for each item, which begins with its name; what is behind it in
 * deeper lines belongs to it, and lines of two blanks to the heading before them. */
struct lister {
    FILE *out;
    bool is_whole; /* with what is said below a list; else items alone are wanted */
};

static void say_below(const struct lister *list, const char *text)
{
    if (list->is_whole) {
        fprintf(list->out, "%s\n", text);
    }
}

static void show_algorithms(const struct lister *list)
{
    for (size_t i = 0; i < ar_operations_count; i++) {
        fprintf(list->out, "%s%s (%s)\n", i > 0 ? "\n" : "", ar_operations[i]->name,
                ar_operations[i]->command);
        for (size_t j = 0; j < ar_algorithms_count; j++) {
            const struct ar_algorithm *algorithm = ar_algorithms[j];
            if (algorithm->operation == ar_operations[i]) {
                fprintf(list->out,
                        "  %-21s %s%s\n      shape:  %s\n      time:   %s\n      source: %s\n",
                        algorithm->name, algorithm->title,
                        ar_algorithm_is_of_nccl(algorithm) ? " (a call of NCCL and RCCL)" : "",
                        ar_algorithm_shape_help(algorithm), algorithm->formula, algorithm->source);
            }
        }
    }
    say_below(
        list,
        "\n"
        "alpha latency of a hop, B its bandwidth, n payload, gamma reduction cost per byte; prove "
        "them with 'allreckon verify'");
}

static void show_operations(const struct lister *list)
{
    for (size_t i = 0; i < ar_operations_count; i++) {
        const struct ar_operation *operation = ar_operations[i];
        fprintf(list->out,
                "%-14s payload: %s; busbw: %g of algbw on 8 GPUs; algorithms:", operation->command,
                operation->payload, ar_operation_busbw_Bps(operation, 1, 8));
        for (size_t j = 0; j < ar_algorithms_count; j++) {
            if (ar_algorithms[j]->operation == operation) {
                fprintf(list->out, " %s", ar_algorithms[j]->name);
            }
        }
        fputs("\n", list->out);
    }
}

/* A shipped file while it is listed. */
struct listed_file {
    const struct lister *list;
    const char *name, *path;
    struct ar_arena *arena;
};

static enum ar_status show_cluster(const struct listed_file *file, struct ar_error *err)
{
    struct ar_cluster *cluster;
    AR_TRY(
        ar_cluster_load(file->path, (struct ar_settings){.count = 0}, file->arena, &cluster, err));
    fprintf(file->list->out, "%-18s %s\n", file->name, ar_cluster_facts(cluster)->description);
    return AR_OK;
}

static void show_fabrics(const struct lister *list)
{
    for (size_t i = 0; i < ar_fabric_texts_count; i++) {
        const struct ar_fabric_text *fabric = &ar_fabric_texts[i];
        fprintf(list->out, "%-12s %s\n             keys: %s\n", fabric->word, fabric->title,
                fabric->keys);
    }
    say_below(
        list,
        "the key fabric of a cluster file names one; routes over several cables: fabric.routes = "
        "ideal, dmodk or hash:SEED");
}

static enum ar_status show_trace(const struct listed_file *file, struct ar_error *err)
{
    (void)err;
    fprintf(file->list->out, "%s\n", file->name);
    return AR_OK;
}

static enum ar_status show_workloads(const struct listed_file *file, struct ar_error *err)
{
    struct ar_csv_list *list;
    AR_TRY(ar_transformers_load(file->path, file->arena, &list, err));
    for (size_t i = 0; i < list->count; i++) {
        struct ar_transformer *model = (struct ar_transformer *)list->rows + i;
        struct ar_error ignored;
        char size[48] = "by options";
        if (ar_transformer_settle("", model, &ignored) == AR_OK) {
            snprintf(size, sizeof size, "%.4g billion parameters",
                     ar_transformer_parameters(model) / 1e9);
        }
        fprintf(file->list->out, "%-18s %-28s %s\n", model->name, size, model->source);
    }
    return AR_OK;
}

static void show_evoformers(const struct lister *list)
{
    struct ar_arena arena AR_ENDS_HERE = {NULL};
    struct ar_csv_list *models;
    struct ar_error err;
    char path[RESOURCE_PATH];
    if (resource_find(RESOURCE_EVOFORMERS, "list", "evoformers", path, &err) == AR_OK &&
        ar_evoformers_load(path, &arena, &models, &err) == AR_OK) {
        fputs("of --strategy dap:\n", list->out);
        for (size_t i = 0; i < models->count; i++) {
            const struct ar_evoformer *model = (const struct ar_evoformer *)models->rows + i;
            fprintf(list->out, "  %-22s %s\n", model->name, model->source);
        }
    }
}

static enum ar_status show_operators(const struct listed_file *file, struct ar_error *err)
{
    struct ar_operators *operators;
    AR_TRY(ar_operators_load(file->path, file->arena, &operators, err));
    fprintf(file->list->out, "%-18s %u operators\n", file->name, operators->count);
    return AR_OK;
}

static void show_strategies(const struct lister *list)
{
    for (size_t i = 0; i < ar_strategies_count; i++) {
        bool has_bound = ar_strategies[i]->staleness == AR_STALENESS_NAMED;
        fprintf(list->out, "%s%-*s %s\n", ar_strategies[i]->name,
                14 - (int)strlen(ar_strategies[i]->name), has_bound ? ":S" : "",
                ar_strategies[i]->title);
    }
    fputs("schedules of a pipeline:\n", list->out);
    for (size_t i = 0; i < ar_schedules_count; i++) {
        fprintf(list->out, "  %s%-*s %s\n", ar_schedules[i]->name,
                12 - (int)strlen(ar_schedules[i]->name), ar_schedules[i]->has_chunks ? ":V" : "",
                ar_schedules[i]->title);
    }
}

static enum ar_status show_run(const struct listed_file *file, struct ar_error *err)
{
    const struct training_file *run;
    AR_TRY(training_file_load(file->name, file->arena, &run, err));
    fprintf(file->list->out, "%-18s %s\n", file->name, run->title != NULL ? run->title : "");
    return AR_OK;
}

static enum ar_status show_published(const struct listed_file *file, struct ar_error *err)
{
    struct published_rows rows = {.count = 0};
    const struct ar_scenario given = ar_scenario_begin(file->arena);
    if (!published_has_rows(file->name)) {
        return AR_OK;
    }
    AR_TRY(published_read_file(file->path, &given, &rows, err));
    for (size_t i = 0; i < rows.count; i++) {
        const struct published *row = &rows.rows[i];
        fprintf(file->list->out, "%-18s %-18s %s%s\n", file->name, row->name, row->title,
                published_is_context(row) ? " (not predicted)" : "");
    }
    return AR_OK;
}

static enum ar_status show_framework(const struct listed_file *file, struct ar_error *err)
{
    struct ar_framework *framework;
    AR_TRY(ar_framework_load(file->path, file->arena, &framework, err));
    fprintf(file->list->out, "%-18s %s\n", file->name, framework->description);
    return AR_OK;
}

static void show_terms(const struct lister *list)
{
    fprintf(list->out, "%-18s %s\n", "none", "all terms off");
    fputs("terms, to be changed by --term KEY=VALUE:\n", list->out);
    for (int i = 0; i < AR_TERMS_COUNT; i++) {
        fprintf(list->out, "  %-18s %-10s %s\n", ar_terms[i].key, ar_term_kinds[ar_terms[i].kind],
                ar_terms[i].meaning);
    }
}

static void show_engines(const struct lister *list)
{
    for (size_t i = 0; i < ar_engines_count; i++) {
        fprintf(list->out, "%-10s %s\n", ar_engines[i]->name, ar_engines[i]->title);
    }
    for (size_t i = 0; list->is_whole && i < ar_releases_count; i++) {
        fprintf(list->out, "%s %s%s", i == 0 ? "values of library.release:" : "",
                ar_releases[i].release, i + 1 == ar_releases_count ? "\n" : "");
    }
}

static enum ar_status show_sets(const struct listed_file *file, struct ar_error *err)
{
    struct ar_measured_index index = {.sets_count = 0};
    if (strcmp(file->name, "index") != 0) {
        return AR_OK; /* a set */
    }
    AR_TRY(ar_measured_index_read(file->path, file->arena, &index, err));
    for (size_t i = 0; i < index.sets_count; i++) {
        fprintf(file->list->out, "%-30s --cluster %s --engine %s: %s\n", index.sets[i].name,
                index.sets[i].cluster, index.sets[i].engine, index.sets[i].source);
    }
    return AR_OK;
}

/* A published system: what may be asked of it, and the answer. */
struct system_row {
    const char *system, *source, *question, *command, *published, *ours, *left_out;
};

#define TEXT(field) AR_COLUMN(string, struct system_row, field, #field, "a text")
static const struct ar_column system_columns[] = {TEXT(system),  TEXT(source),    TEXT(question),
                                                  TEXT(command), TEXT(published), TEXT(ours),
                                                  TEXT(left_out)};
#undef TEXT

static enum ar_status show_systems(const struct listed_file *file, struct ar_error *err)
{
    struct ar_csv_list *list;
    if (strcmp(file->name, "systems") != 0) {
        return AR_OK; /* not the table of systems */
    }
    AR_TRY(ar_csv_load_list(file->path, file->arena, AR_COLUMNS(system_columns),
                            sizeof(struct system_row), &list, err));
    for (size_t i = 0; i < list->count; i++) {
        const struct system_row *row = (const struct system_row *)list->rows + i;
        fprintf(file->list->out,
                "%s (%s)\n      %s\n      $ %s\n      published: %s\n      ours: %s\n"
                "      left out: %s\n",
                row->system, row->source, row->question, row->command, row->published, row->ours,
                row->left_out);
    }
    return AR_OK;
}

static void show_columns(const struct lister *list)
{
    ar_columns_describe(list->out, ar_row_columns);
}

/* A topic shows its files, one after the other, and what there is besides. */
static const struct topic {
    const char *name;
    void (*show_rest)(const struct lister *list);
    enum ar_status (*show)(const struct listed_file *file, struct ar_error *err);
    enum resource kind; /* of the files, if `show` is set */
} topics[] = {
    {"algorithms", .show_rest = show_algorithms},
    {"operations", .show_rest = show_operations},
    {"clusters", NULL, show_cluster, RESOURCE_CLUSTER},
    {"fabrics", .show_rest = show_fabrics},
    {"traces", NULL, show_trace, RESOURCE_TRACE},
    {"runs", NULL, show_run, RESOURCE_RUN},
    {"workloads", show_evoformers, show_workloads, RESOURCE_WORKLOADS},
    {"operators", NULL, show_operators, RESOURCE_OPERATORS},
    {"strategies", .show_rest = show_strategies},
    {"frameworks", show_terms, show_framework, RESOURCE_FRAMEWORK},
    {"published", NULL, show_published, RESOURCE_PUBLISHED},
    {"engines", .show_rest = show_engines},
    {"sets", NULL, show_sets, RESOURCE_SETS},
    {"systems", NULL, show_systems, RESOURCE_SETS},
    {"columns", .show_rest = show_columns},
};

/* A file that cannot be read does not hide the others. */
static void show_topic(const struct lister *list, const struct topic *topic)
{
    char names[RESOURCE_NAMES_MAX][64];
    size_t count = topic->show != NULL ? resource_names(topic->kind, names) : 0;
    for (size_t i = 0; i < count; i++) {
        char path[RESOURCE_PATH];
        struct ar_error err;
        struct ar_arena arena AR_ENDS_HERE = {NULL};
        const struct listed_file file = {list, names[i], path, &arena};
        if (resource_find(topic->kind, "list", names[i], path, &err) != AR_OK ||
            topic->show(&file, &err) != AR_OK) {
            fprintf(list->out, "%-18s cannot be read: %s\n", names[i], err.text);
        }
    }
    if (topic->show_rest != NULL) {
        topic->show_rest(list);
    }
}

/* An item of a topic; `of` is the heading that it is under. */
struct listed_item {
    const char *topic, *of, *name, *text;
};

#define ITEM(field, help) AR_COLUMN(string, struct listed_item, field, #field, help)
static const struct ar_column item_columns[] = {
    ITEM(topic, "of the list"), ITEM(of, "what the item belongs to"),
    ITEM(name, "as options take it"), ITEM(text, "what it is")};

struct items {
    const char *pattern; /* in their name or text, in any case of letters; NULL: all */
    struct listed_item *list;
    size_t count;
};

static bool is_asked_for(const struct items *items, const struct listed_item *item)
{
    return items->pattern == NULL || fnmatch(items->pattern, item->name, FNM_CASEFOLD) == 0 ||
           fnmatch(items->pattern, item->text, FNM_CASEFOLD) == 0;
}

/* Adds the items of a topic. Lines of a blank or two are items under a heading, deeper ones go on
 * with the item before them. */
static void add_items(struct ar_arena *arena, const struct topic *topic, struct items *items)
{
    enum { DEEP = 4 };
    char *text = NULL;
    size_t bytes = 0;
    FILE *file = open_memstream(&text, &bytes);
    show_topic(&(const struct lister){.out = file}, topic);
    fclose(file);
    char *rest = ar_arena_text(arena, text), *line;
    struct listed_item item = {.topic = topic->name};
    free(text);
    while ((line = strsep(&rest, "\n")) != NULL) {
        size_t indent = strspn(line, " "), next = rest != NULL ? strspn(rest, " ") : 0;
        char *name = line + indent, *end = name + strcspn(name, " ");
        if (indent >= DEEP) {
            item.text = ar_arena_format(arena, "%s; %s", item.text, name);
        } else if (indent == 0 && next > 0 && next < DEEP) {
            item.of = line;
        } else {
            item.of = indent == 0 ? NULL : item.of;
            item.name = name;
            item.text = end + strspn(end, " ");
            *end = '\0';
        }
        bool is_whole = next < DEEP && item.name == name && *name != '\0';
        if ((is_whole || (indent >= DEEP && next < DEEP)) && is_asked_for(items, &item)) {
            items->list = ar_arena_grow(arena, items->list, items->count, 1, sizeof item);
            items->list[items->count++] = item;
        }
    }
}

enum ar_status command_list(const struct options *options, struct ar_error *err)
{
    enum { TOPICS = sizeof topics / sizeof topics[0] };
    const char *names[TOPICS + 1] = {NULL};
    unsigned first = 0, end = TOPICS - 1; /* the last one, columns, only if it is asked for */
    struct items items = {.pattern = NULL};
    struct ar_view view;
    AR_TRY(option_view(options, AR_COLUMNS(item_columns), &view, err));
    for (size_t i = 0; i < TOPICS; i++) {
        names[i] = topics[i].name;
    }
    if (options->arguments_count > 0) {
        AR_TRY(ar_error_as_usage(ar_parse_choice("list", options->arguments[0], names, &first, err),
                                 err));
        end = first + 1;
    }
    if (options->arguments_count == 2) {
        items.pattern = ar_arena_format(options->arena, "*%s*", options->arguments[1]);
    }
    bool is_whole = view.format == AR_FORMAT_TABLE && items.pattern == NULL;
    for (unsigned i = first; i < end; i++) {
        if (!is_whole) {
            add_items(options->arena, &topics[i], &items);
            continue;
        }
        if (options->arguments_count == 0) {
            printf("%s%s:\n", i > 0 ? "\n" : "", topics[i].name);
        }
        show_topic(&(const struct lister){.out = stdout, .is_whole = true}, &topics[i]);
    }
    if (items.pattern != NULL && items.count == 0) {
        return ar_error_set(
            err, AR_USAGE,
            "list: found none of %s with \"%.60s\"; expected a part of a name or of "
            "what 'allreckon list %s' says, * and ? among it",
            topics[first].name, options->arguments[1], topics[first].name);
    }
    for (size_t i = 0; view.format == AR_FORMAT_TABLE && i < items.count; i++) {
        printf("%-18s %s\n", items.list[i].name, items.list[i].text);
    }
    if (view.format != AR_FORMAT_TABLE) {
        ar_records_write(stdout, &view, AR_COLUMNS(item_columns), items.list, items.count,
                         sizeof *items.list);
    }
    return AR_OK;
}

/* --- verify ----------------------------------------------------------------------------------- */

enum { VERIFIED_RANKS_MAX = 256 }; /* cost grows with the cube of the ranks */

enum ar_status command_verify(const struct options *options, struct ar_error *err)
{
    const struct ar_operation **operations;
    const struct ar_algorithm **algorithms;
    uint64_t *ranks;
    size_t operations_count, algorithms_count, ranks_count;
    AR_TRY(list_operations(options->arena, "--operation", options->operation, &operations,
                           &operations_count, err));
    AR_TRY(list_algorithms(options->arena, "--algorithms",
                           operations_count == 1 ? operations[0] : NULL, options->algorithms, false,
                           &algorithms, &algorithms_count, err));
    AR_TRY(list_counts(options->arena, "--gpus", options->gpus_list, VERIFIED_RANKS_MAX, &ranks,
                       &ranks_count, err));
    for (size_t i = 0; i < operations_count * algorithms_count; i++) {
        const struct ar_operation *operation = operations[i / algorithms_count];
        const struct ar_algorithm *algorithm = algorithms[i % algorithms_count];
        uint64_t cases = 0;
        if (algorithm->operation != operation) {
            continue;
        }
        for (size_t j = 0; j < ranks_count; j++) {
            AR_TRY(ar_verify_ranks(algorithm, (uint32_t)ranks[j], &cases, err));
        }
        printf("%-14s %-20s %6" PRIu64 " cases, each contribution exactly once\n", operation->name,
               algorithm->name, cases);
    }
    puts("cases of shape and number of elements; contributions where the operation wants them");
    return AR_OK;
}
