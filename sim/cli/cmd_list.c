/* list: what there is to choose from, and the columns of the results. verify: a proof by execution
 * that the algorithms are right. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ar_cluster.h"
#include "ar_measured_set.h"
#include "ar_row.h"
#include "ar_step.h"
#include "ar_verify.h"
#include "commands.h"
#include "lists.h"
#include "published_rows.h"
#include "resource.h"
#include "training_file.h"

static void list_all_algorithms(void)
{
    for (size_t i = 0; i < ar_algorithms_count; i++) {
        const struct ar_algorithm *algorithm = ar_algorithms[i];
        printf("%s\n  %s\n  shape:  %s\n  time:   %s\n  source: %s\n", algorithm->name,
               algorithm->title, algorithm->shape_help, algorithm->formula, algorithm->source);
    }
    puts("alpha latency of a hop, B its bandwidth, n payload, gamma reduction cost per byte; prove "
         "them with 'allreckon verify'");
}

/* The names of shipped files, and a word where there are none. */
static size_t shipped_names(enum resource kind, const char *noun,
                            char names[RESOURCE_NAMES_MAX][64])
{
    size_t count = resource_names(kind, names);
    if (count == 0) {
        fprintf(stderr, "allreckon: note: no %s found beside the program\n", noun);
    }
    return count;
}

static void list_clusters(void)
{
    char names[RESOURCE_NAMES_MAX][64];
    size_t count = shipped_names(RESOURCE_CLUSTER, "clusters", names);
    for (size_t i = 0; i < count; i++) {
        char path[RESOURCE_PATH];
        struct ar_error err;
        struct ar_cluster *cluster;
        if (resource_find(RESOURCE_CLUSTER, "list", names[i], path, &err) == AR_OK &&
            ar_cluster_load(path, (struct ar_settings){.count = 0}, &cluster, &err) == AR_OK) {
            printf("%-18s %s\n", names[i], ar_cluster_facts(cluster)->description);
            ar_cluster_destroy(cluster);
        } else {
            printf("%-18s cannot be read: %s\n", names[i], err.text);
        }
    }
}

static void list_traces(void)
{
    char names[RESOURCE_NAMES_MAX][64];
    size_t count = shipped_names(RESOURCE_TRACE, "traces", names);
    for (size_t i = 0; i < count; i++) {
        puts(names[i]);
    }
}

static void list_runs(void)
{
    char names[RESOURCE_NAMES_MAX][64];
    size_t count = shipped_names(RESOURCE_RUN, "runs", names);
    for (size_t i = 0; i < count; i++) {
        struct ar_error err;
        struct training_file *file;
        if (training_file_load(names[i], &file, &err) == AR_OK) {
            printf("%-18s %s\n", names[i], ar_csv_directive_text(file->csv, "title", ""));
            training_file_destroy(file);
        } else {
            printf("%-18s cannot be read: %s\n", names[i], err.text);
        }
    }
}

/* The rows of the tables of published runs. */
static void list_published(void)
{
    char names[RESOURCE_NAMES_MAX][64];
    size_t count = shipped_names(RESOURCE_PUBLISHED, "published runs", names);
    for (size_t i = 0; i < count; i++) {
        char path[RESOURCE_PATH];
        struct ar_error err;
        struct published_rows rows = {.count = 0};
        if (strcmp(names[i], "ranges") == 0) {
            continue; /* what is not known of clusters, for all rows */
        }
        if (resource_find(RESOURCE_PUBLISHED, "list", names[i], path, &err) == AR_OK &&
            published_read_file(path, &rows, &err) == AR_OK) {
            for (size_t j = 0; j < rows.count; j++) {
                printf("%-18s %-18s %s%s\n", names[i], rows.rows[j].cells[PUBLISHED_row],
                       rows.rows[j].cells[PUBLISHED_title],
                       published_is_context(&rows.rows[j]) ? " (not predicted)" : "");
            }
        } else {
            printf("%-18s cannot be read: %s\n", names[i], err.text);
        }
        published_free(&rows);
    }
}

static void list_frameworks(void)
{
    char names[RESOURCE_NAMES_MAX][64];
    size_t count = shipped_names(RESOURCE_FRAMEWORK, "frameworks", names);
    printf("%-18s %s\n", "none", "all terms off");
    for (size_t i = 0; i < count; i++) {
        char path[RESOURCE_PATH];
        struct ar_error err;
        struct ar_framework *framework = NULL;
        bool is_read = resource_find(RESOURCE_FRAMEWORK, "list", names[i], path, &err) == AR_OK &&
                       ar_framework_load(path, &framework, &err) == AR_OK;
        printf("%-18s %s%s\n", names[i],
               is_read ? "" : "cannot be read: ", is_read ? framework->description : err.text);
        ar_framework_destroy(framework);
    }
    puts("terms, to be changed by --term KEY=VALUE:");
    for (int i = 0; i < AR_TERMS_COUNT; i++) {
        printf("  %-18s %-10s %s\n", ar_term_key((enum ar_term)i), ar_term_unit((enum ar_term)i),
               ar_term_meaning((enum ar_term)i));
    }
}

static void list_engines(void)
{
    for (size_t i = 0; i < ar_engines_count; i++) {
        printf("%-10s %s\n", ar_engines[i]->name, ar_engines[i]->title);
    }
    printf("values of library.release:");
    for (size_t i = 0; ar_tuning_release_at(i) != NULL; i++) {
        printf(" %s", ar_tuning_release_at(i));
    }
    puts("");
}

static void list_sets(void)
{
    char path[RESOURCE_PATH];
    struct ar_error err;
    struct ar_arena arena = {0};
    struct ar_measured_set *sets;
    size_t count;
    if (resource_find(RESOURCE_SETS, "list", "index", path, &err) != AR_OK ||
        ar_measured_sets_read(path, &arena, &sets, &count, &err) != AR_OK) {
        printf("cannot be read: %s\n", err.text);
        count = 0;
    }
    for (size_t i = 0; i < count; i++) {
        printf("%-30s --cluster %s --engine %s: %s\n", sets[i].name, sets[i].cluster,
               sets[i].engine, sets[i].source);
    }
    ar_arena_end(&arena);
}

static void list_columns(void)
{
    struct ar_error ignored; /* the list is short */
    (void)ar_columns_describe(stdout, ar_row_columns, &ignored);
}

static const struct {
    const char *name;
    void (*write)(void);
} topics[] = {
    {"algorithms", list_all_algorithms},
    {"clusters", list_clusters},
    {"traces", list_traces},
    {"runs", list_runs},
    {"frameworks", list_frameworks},
    {"published", list_published},
    {"engines", list_engines},
    {"sets", list_sets},
    {"columns", list_columns},
};

enum ar_status command_list(const struct options *options, struct ar_error *err)
{
    size_t count = sizeof topics / sizeof topics[0];
    if (options->arguments_count == 1) {
        for (size_t i = 0; i < count; i++) {
            if (strcmp(options->arguments[0], topics[i].name) == 0) {
                topics[i].write();
                return AR_OK;
            }
        }
        return ar_error_set(err, AR_USAGE,
                            "list: found \"%s\"; expected algorithms, clusters, traces, runs, "
                            "frameworks, published, engines, sets or columns",
                            options->arguments[0]);
    }
    for (size_t i = 0; i < count - 1; i++) { /* columns only when asked for */
        printf("%s%s:\n", i > 0 ? "\n" : "", topics[i].name);
        topics[i].write();
    }
    return AR_OK;
}

static enum ar_status verify_all(const struct ar_algorithm *const *algorithms, size_t count,
                                 const uint64_t *ranks, size_t ranks_count, struct ar_error *err)
{
    for (size_t i = 0; i < count; i++) {
        uint64_t cases = 0;
        for (size_t j = 0; j < ranks_count; j++) {
            enum ar_status status = ar_verify_ranks(algorithms[i], (uint32_t)ranks[j], &cases, err);
            if (status != AR_OK) {
                return status;
            }
        }
        printf("%-14s %" PRIu64 " cases of shape and element count: every contribution reduced "
               "exactly once\n",
               algorithms[i]->name, cases);
    }
    return AR_OK;
}

enum ar_status command_verify(const struct options *options, struct ar_error *err)
{
    enum { RANKS_MAX = 256 }; /* cost grows with the cube of the ranks */
    const struct ar_algorithm **algorithms = NULL;
    uint64_t *ranks = NULL;
    size_t algorithms_count;
    size_t ranks_count;
    enum ar_status status =
        list_algorithms("--algorithms", options->algorithms, &algorithms, &algorithms_count, err);
    if (status == AR_OK) {
        status = list_counts("--gpus", options->gpus_list, RANKS_MAX, &ranks, &ranks_count, err);
    }
    if (status == AR_OK) {
        status = verify_all(algorithms, algorithms_count, ranks, ranks_count, err);
        free(ranks);
    }
    free(algorithms);
    return status;
}
