/* list: clusters, traces, algorithms and all else to choose from, and the columns of the results.
 * verify: a proof by execution that the algorithms are right. */
#include <inttypes.h>
#include <stdio.h>
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

static void show_algorithms(void)
{
    for (size_t i = 0; i < ar_operations_count; i++) {
        printf("%s%s (%s)\n", i > 0 ? "\n" : "", ar_operations[i]->name, ar_operations[i]->command);
        for (size_t j = 0; j < ar_algorithms_count; j++) {
            const struct ar_algorithm *algorithm = ar_algorithms[j];
            if (algorithm->operation == ar_operations[i]) {
                printf("  %-21s %s\n      shape:  %s\n      time:   %s\n      source: %s\n",
                       algorithm->name, algorithm->title, ar_algorithm_shape_help(algorithm),
                       algorithm->formula, algorithm->source);
            }
        }
    }
    puts("\n"
         "alpha latency of a hop, B its bandwidth, n payload, gamma reduction cost per byte; prove "
         "them with 'allreckon verify'");
}

static void show_operations(void)
{
    for (size_t i = 0; i < ar_operations_count; i++) {
        const struct ar_operation *operation = ar_operations[i];
        printf("%-14s payload: %s; busbw: %g of algbw on 8 GPUs; algorithms:", operation->command,
               operation->payload, ar_operation_busbw_Bps(operation, 1, 8));
        for (size_t j = 0; j < ar_algorithms_count; j++) {
            if (ar_algorithms[j]->operation == operation) {
                printf(" %s", ar_algorithms[j]->name);
            }
        }
        puts("");
    }
}

/* A shipped file while it is listed. */
struct listed_file {
    const char *name, *path;
    struct ar_arena *arena;
};

static enum ar_status show_cluster(const struct listed_file *file, struct ar_error *err)
{
    struct ar_cluster *cluster;
    AR_TRY(
        ar_cluster_load(file->path, (struct ar_settings){.count = 0}, file->arena, &cluster, err));
    printf("%-18s %s\n", file->name, ar_cluster_facts(cluster)->description);
    return AR_OK;
}

static void show_fabrics(void)
{
    for (size_t i = 0; i < ar_fabric_texts_count; i++) {
        const struct ar_fabric_text *fabric = &ar_fabric_texts[i];
        printf("%-12s %s\n             keys: %s\n", fabric->word, fabric->title, fabric->keys);
    }
    puts("the key fabric of a cluster file names one; routes over several cables: fabric.routes = "
         "ideal, dmodk or hash:SEED");
}

static enum ar_status show_trace(const struct listed_file *file, struct ar_error *err)
{
    (void)err;
    puts(file->name);
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
        printf("%-18s %-28s %s\n", model->name, size, model->source);
    }
    return AR_OK;
}

static void show_evoformers(void)
{
    struct ar_arena arena AR_ENDS_HERE = {NULL};
    struct ar_csv_list *list;
    struct ar_error err;
    char path[RESOURCE_PATH];
    if (resource_find(RESOURCE_EVOFORMERS, "list", "evoformers", path, &err) == AR_OK &&
        ar_evoformers_load(path, &arena, &list, &err) == AR_OK) {
        puts("of --strategy dap:");
        for (size_t i = 0; i < list->count; i++) {
            const struct ar_evoformer *model = (const struct ar_evoformer *)list->rows + i;
            printf("  %-22s %s\n", model->name, model->source);
        }
    }
}

static enum ar_status show_operators(const struct listed_file *file, struct ar_error *err)
{
    struct ar_operators *operators;
    AR_TRY(ar_operators_load(file->path, file->arena, &operators, err));
    printf("%-18s %u operators\n", file->name, operators->count);
    return AR_OK;
}

static void show_strategies(void)
{
    for (size_t i = 0; i < ar_strategies_count; i++) {
        bool has_bound = ar_strategies[i]->staleness == AR_STALENESS_NAMED;
        printf("%s%-*s %s\n", ar_strategies[i]->name, 14 - (int)strlen(ar_strategies[i]->name),
               has_bound ? ":S" : "", ar_strategies[i]->title);
    }
    puts("schedules of a pipeline:");
    for (size_t i = 0; i < ar_schedules_count; i++) {
        printf("  %s%-*s %s\n", ar_schedules[i]->name, 12 - (int)strlen(ar_schedules[i]->name),
               ar_schedules[i]->has_chunks ? ":V" : "", ar_schedules[i]->title);
    }
}

static enum ar_status show_run(const struct listed_file *file, struct ar_error *err)
{
    const struct training_file *run;
    AR_TRY(training_file_load(file->name, file->arena, &run, err));
    printf("%-18s %s\n", file->name, run->title != NULL ? run->title : "");
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
        printf("%-18s %-18s %s%s\n", file->name, row->name, row->title,
               published_is_context(row) ? " (not predicted)" : "");
    }
    return AR_OK;
}

static enum ar_status show_framework(const struct listed_file *file, struct ar_error *err)
{
    struct ar_framework *framework;
    AR_TRY(ar_framework_load(file->path, file->arena, &framework, err));
    printf("%-18s %s\n", file->name, framework->description);
    return AR_OK;
}

static void show_terms(void)
{
    printf("%-18s %s\n", "none", "all terms off");
    puts("terms, to be changed by --term KEY=VALUE:");
    for (int i = 0; i < AR_TERMS_COUNT; i++) {
        printf("  %-18s %-10s %s\n", ar_terms[i].key, ar_term_kinds[ar_terms[i].kind],
               ar_terms[i].meaning);
    }
}

static void show_engines(void)
{
    for (size_t i = 0; i < ar_engines_count; i++) {
        printf("%-10s %s\n", ar_engines[i]->name, ar_engines[i]->title);
    }
    printf("values of library.release:");
    for (size_t i = 0; i < ar_releases_count; i++) {
        printf(" %s", ar_releases[i].release);
    }
    puts("");
}

static enum ar_status show_sets(const struct listed_file *file, struct ar_error *err)
{
    struct ar_measured_index index = {.sets_count = 0};
    if (strcmp(file->name, "index") != 0) {
        return AR_OK; /* a set */
    }
    AR_TRY(ar_measured_index_read(file->path, file->arena, &index, err));
    for (size_t i = 0; i < index.sets_count; i++) {
        printf("%-30s --cluster %s --engine %s: %s\n", index.sets[i].name, index.sets[i].cluster,
               index.sets[i].engine, index.sets[i].source);
    }
    return AR_OK;
}

static void show_columns(void)
{
    ar_columns_describe(stdout, ar_row_columns);
}

/* A topic shows its files, one after the other, and what there is besides. */
static const struct topic {
    const char *name;
    void (*show_rest)(void);
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
    {"columns", .show_rest = show_columns},
};

/* A file that cannot be read does not hide the others. */
static void show_topic(const struct topic *topic)
{
    char names[RESOURCE_NAMES_MAX][64];
    size_t count = topic->show != NULL ? resource_names(topic->kind, names) : 0;
    for (size_t i = 0; i < count; i++) {
        char path[RESOURCE_PATH];
        struct ar_error err;
        struct ar_arena arena AR_ENDS_HERE = {NULL};
        const struct listed_file file = {names[i], path, &arena};
        if (resource_find(topic->kind, "list", names[i], path, &err) != AR_OK ||
            topic->show(&file, &err) != AR_OK) {
            printf("%-18s cannot be read: %s\n", names[i], err.text);
        }
    }
    if (topic->show_rest != NULL) {
        topic->show_rest();
    }
}

enum ar_status command_list(const struct options *options, struct ar_error *err)
{
    enum { TOPICS = sizeof topics / sizeof topics[0] };
    const char *names[TOPICS + 1] = {NULL};
    unsigned asked;
    for (size_t i = 0; i < TOPICS; i++) {
        names[i] = topics[i].name;
    }
    if (options->arguments_count == 1) {
        AR_TRY(ar_error_as_usage(ar_parse_choice("list", options->arguments[0], names, &asked, err),
                                 err));
        show_topic(&topics[asked]);
        return AR_OK;
    }
    for (size_t i = 0; i < TOPICS - 1; i++) { /* the last one, columns, only if it is asked for */
        printf("%s%s:\n", i > 0 ? "\n" : "", topics[i].name);
        show_topic(&topics[i]);
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
