/* list: clusters, traces, algorithms and all else to choose from, and the columns of the results.
 * verify: a proof by execution that the algorithms are right. */
#include <fnmatch.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "ar_cluster.h"
#include "ar_file.h"
#include "ar_measured_set.h"
#include "ar_row.h"
#include "ar_verify.h"
#include "commands.h"
#include "lists.h"
#include "reproduce.h"
#include "training.h"

/* An item of a topic; `of` is the heading that it is under. Lines behind the first are indented. */
struct listed_item {
    const char *topic, *of, *name, *text;
};

#define ITEM(field, help) AR_COLUMN(string, struct listed_item, field, #field, help)
static const struct ar_column item_columns[] = {
    ITEM(topic, "of the list"), ITEM(of, "what the item belongs to"),
    ITEM(name, "as options take it"), ITEM(text, "what it is")};

#define NEXT_LINE "\n      "

/* Items that were found, and the heading of the next ones. */
struct lister {
    struct ar_arena *arena;
    struct ar_inputs *inputs;
    struct ar_arena *scratch; /* ends with the file that is listed */
    const char *topic, *of;
    const char *file, *path; /* name and place of the file that is listed */
    const char *pattern;     /* of the texts that are kept, in any case of letters; NULL: all */
    struct listed_item *list;
    size_t count;
};

/* Adds an item if it or its heading has the pattern. */
static void keep_item(struct lister *list, const char *name, const char *text)
{
    const char *const texts[] = {name, text, list->of != NULL ? list->of : ""};
    bool is_kept = list->pattern == NULL;
    for (size_t i = 0; !is_kept && i < sizeof texts / sizeof texts[0]; i++) {
        is_kept = fnmatch(list->pattern, texts[i], FNM_CASEFOLD) == 0;
    }
    if (is_kept) {
        *AR_ARENA_ADD(list->arena, list->list, list->count) =
            (struct listed_item){list->topic, list->of, ar_arena_text(list->arena, name), text};
    }
}

#define add_item(list, name, ...) keep_item(list, name, ar_arena_format((list)->arena, __VA_ARGS__))

static void list_algorithms_of_all(struct lister *list)
{
    for (size_t i = 0; i < ar_operations_count; i++) {
        list->of = ar_arena_format(list->arena, "%s (%s)", ar_operations[i]->name,
                                   ar_operations[i]->command);
        for (size_t j = 0; j < ar_algorithms_count; j++) {
            const struct ar_algorithm *algorithm = ar_algorithms[j];
            if (algorithm->operation == ar_operations[i]) {
                char runners[AR_RUNNERS_TEXT];
                bool has_runners =
                    ar_runners_format(algorithm, AR_NODES_OF_ONE_RANK, runners)[0] != '\0';
                add_item(list, algorithm->name,
                         "%s%s%s%s" NEXT_LINE "shape:  %s" NEXT_LINE "time:   %s" NEXT_LINE
                         "source: %s",
                         algorithm->title, has_runners ? " (run by " : "", runners,
                         has_runners ? ")" : "", ar_algorithm_shape_help(algorithm),
                         algorithm->formula, algorithm->source);
            }
        }
    }
}

static void list_operations_of_all(struct lister *list)
{
    for (size_t i = 0; i < ar_operations_count; i++) {
        const struct ar_operation *operation = ar_operations[i];
        const char *names = "";
        for (size_t j = 0; j < ar_algorithms_count; j++) {
            if (ar_algorithms[j]->operation == operation) {
                names = ar_arena_format(list->arena, "%s %s", names, ar_algorithms[j]->name);
            }
        }
        add_item(list, operation->command,
                 "payload: %s; busbw: %g of algbw on 8 GPUs; algorithms:%s", operation->payload,
                 ar_operation_busbw_Bps(operation, 1, 8), names);
    }
}

static enum ar_status list_cluster(struct lister *list, struct ar_error *err)
{
    struct ar_cluster *cluster;
    AR_TRY(ar_cluster_load(list->path, (struct ar_settings){.count = 0}, list->scratch, &cluster,
                           err));
    add_item(list, list->file, "%s", ar_cluster_facts(cluster)->description);
    return AR_OK;
}

static void list_fabrics(struct lister *list)
{
    AR_EACH(const struct ar_fabric_text, fabric, ar_fabric_texts, ar_fabric_texts_count) {
        add_item(list, fabric->word, "%s" NEXT_LINE "keys: %s", fabric->title, fabric->keys);
    }
}

static enum ar_status list_trace(struct lister *list, struct ar_error *err)
{
    (void)err;
    add_item(list, list->file, "%s", "");
    return AR_OK;
}

static enum ar_status list_workloads(struct lister *list, struct ar_error *err)
{
    struct ar_csv_list *models;
    AR_TRY(ar_csv_load_list(list->path, list->scratch, ar_transformer_columns, &models, err));
    AR_EACH(struct ar_transformer, model, models->rows, models->count) {
        char size[48] = "by options";
        if (ar_transformer_settle("", model, AR_IGNORED) == AR_OK) {
            snprintf(size, sizeof size, "%.4g billion parameters",
                     ar_transformer_parameters(model) / 1e9);
        }
        add_item(list, model->name, "%-28s %s", size, model->source);
    }
    return AR_OK;
}

static enum ar_status list_gpu(struct lister *list, struct ar_error *err)
{
    const struct ar_input *input;
    AR_TRY(ar_inputs_find(list->inputs, RESOURCE_COST, "list", list->path, &input, err));
    const struct ar_device_cost *cost = input->cost;
    enum ar_precision precision = AR_BF16; /* what is shown of a table, else fp16 or fp32 */
    if (!ar_device_cost_has_group(cost, AR_BF16, AR_COST_OF_PRODUCTS)) {
        bool has_fp16 = ar_device_cost_has_group(cost, AR_FP16, AR_COST_OF_PRODUCTS);
        precision = has_fp16 ? AR_FP16 : AR_FP32;
    }
    add_item(list, list->file, "%5.4g Tflop/s in %s, memory %.3g TB/s; %s; %s",
             ar_device_peak_flops(cost, precision) / 1e12, ar_precision_names[precision],
             cost->value[AR_COST_MEMORY][precision] / 1e12, AR_SHOW_PRECISIONS(cost), cost->source);
    return AR_OK;
}

/* The first line of a template says what the picture shows. */
static enum ar_status list_picture(struct lister *list, struct ar_error *err)
{
    char *text;
    size_t bytes;
    AR_TRY(ar_file_read(list->path, 1 << 20, "a template", list->scratch, &text, &bytes, err));
    if (strcmp(list->file, "style") != 0) {
        text[strcspn(text, "\n")] = '\0';
        add_item(list, list->file, "%s", text + strspn(text, "# "));
    }
    return AR_OK;
}

static void list_other_workloads(struct lister *list)
{
    const struct ar_input *input;
    char names[RESOURCE_NAMES_MAX][64];
    size_t count = resource_names(RESOURCE_MODEL, names);
    for (size_t i = 0; i < count; i++) {
        if (ar_inputs_find(list->inputs, RESOURCE_MODEL, "list", names[i], &input, AR_IGNORED) ==
            AR_OK) {
            const char *size = ar_arena_format(list->arena, "%.4g billion parameters",
                                               ar_transformer_parameters(input->model) / 1e9);
            add_item(list, names[i], "%-28s %s", size, "config.json of Hugging Face");
        }
    }
    if (ar_inputs_find(list->inputs, RESOURCE_EVOFORMERS, "list", "evoformers", &input,
                       AR_IGNORED) == AR_OK) {
        list->of = "of --strategy dap:";
        AR_EACH(const struct ar_evoformer, model, input->list->rows, input->list->count) {
            add_item(list, model->name, "%s", model->source);
        }
    }
}

static enum ar_status list_operators(struct lister *list, struct ar_error *err)
{
    struct ar_csv *operators;
    AR_TRY(ar_csv_load(list->path, list->scratch, &operators, err));
    add_item(list, list->file, "%zu operators", operators->rows_count);
    return AR_OK;
}

static void list_strategies(struct lister *list)
{
    for (size_t i = 0; i < ar_strategies_count; i++) {
        bool has_bound = ar_strategies[i]->staleness == AR_STALENESS_NAMED;
        add_item(
            list,
            ar_arena_format(list->arena, "%s%s", ar_strategies[i]->name, has_bound ? ":S" : ""),
            "%s", ar_strategies[i]->title);
    }
    list->of = "schedules of a pipeline:";
    for (size_t i = 0; i < ar_schedules_count; i++) {
        add_item(list,
                 ar_arena_format(list->arena, "%s%s", ar_schedules[i]->name,
                                 ar_schedules[i]->has_chunks ? ":V" : ""),
                 "%s", ar_schedules[i]->title);
    }
}

static enum ar_status list_run(struct lister *list, struct ar_error *err)
{
    const struct training_file *run;
    AR_TRY(training_file_load(list->path, list->scratch, &run, err));
    add_item(list, list->file, "%s", run->title != NULL ? run->title : "");
    return AR_OK;
}

static enum ar_status list_published(struct lister *list, struct ar_error *err)
{
    struct ar_csv *runs;
    if (!published_has_rows(list->file)) {
        return AR_OK;
    }
    AR_TRY(ar_csv_load(list->path, list->scratch, &runs, err));
    list->of = list->file;
    for (size_t i = 0; i < runs->rows_count; i++) {
        const char *name = ar_csv_text(runs, i, "row"), *title = ar_csv_text(runs, i, "title");
        add_item(list, name, "%s%s", title[0] != '\0' ? title : name,
                 ar_csv_text(runs, i, "cluster")[0] != '\0' ? "" : " (not predicted)");
    }
    return AR_OK;
}

static enum ar_status list_framework(struct lister *list, struct ar_error *err)
{
    struct ar_framework *framework;
    AR_TRY(ar_framework_load(list->path, list->scratch, &framework, err));
    add_item(list, list->file, "%s", framework->description);
    return AR_OK;
}

static void list_terms(struct lister *list)
{
    add_item(list, "none", "all terms off");
    list->of = "terms, to be changed by --term KEY=VALUE:";
    for (int i = 0; i < AR_TERMS_COUNT; i++) {
        add_item(list, ar_terms[i].key, "%-10s %s", ar_term_kinds[ar_terms[i].kind],
                 ar_terms[i].meaning);
    }
}

static void list_engines(struct lister *list)
{
    const char *releases = "";
    for (size_t i = 0; i < ar_engines_count; i++) {
        add_item(list, ar_engines[i]->name, "%s", ar_engines[i]->title);
    }
    for (size_t i = 0; i < ar_releases_count; i++) {
        releases = ar_arena_format(list->arena, "%s %s", releases, ar_releases[i].release);
    }
    add_item(list, "library.release", "key of a cluster for engine nccl:%s", releases);
}

static enum ar_status list_sets(struct lister *list, struct ar_error *err)
{
    struct ar_measured_index index = {.sets_count = 0};
    AR_TRY(ar_measured_index_read(list->path, list->scratch, &index, err));
    for (size_t i = 0; i < index.sets_count; i++) {
        add_item(list, index.sets[i].name, "--cluster %s --engine %s: %s", index.sets[i].cluster,
                 index.sets[i].engine, index.sets[i].source);
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

static enum ar_status list_systems(struct lister *list, struct ar_error *err)
{
    struct ar_csv_list *systems;
    AR_TRY(ar_csv_load_list(list->path, list->scratch, AR_COLUMNS(system_columns), &systems, err));
    AR_EACH(const struct system_row, row, systems->rows, systems->count) {
        add_item(list, row->system,
                 "(%s)" NEXT_LINE "%s" NEXT_LINE "$ %s" NEXT_LINE "published: %s" NEXT_LINE
                 "ours: %s" NEXT_LINE "left out: %s",
                 row->source, row->question, row->command, row->published, row->ours,
                 row->left_out);
    }
    return AR_OK;
}

static void list_columns(struct lister *list)
{
    AR_EACH(const struct ar_column, column, ar_row_columns.list, ar_row_columns.count) {
        add_item(list, column->name, "%-7s %s", ar_column_kind_names[column->kind], column->help);
    }
}

/* A topic lists its files, one after the other, and what there is besides. */
static const struct topic {
    const char *name;
    void (*list_rest)(struct lister *list);
    enum ar_status (*list_file)(struct lister *list, struct ar_error *err);
    enum resource kind; /* of the files, if `list_file` is set */
    const char *only;   /* the one file that is listed; NULL: all */
    const char *below;  /* said below a whole list; NULL: nothing */
} topics[] = {
    {"algorithms", .list_rest = list_algorithms_of_all,
     .below = "alpha latency of a hop, B its bandwidth, n payload, gamma reduction cost per byte; "
              "prove them with 'allreckon verify'"},
    {"operations", .list_rest = list_operations_of_all},
    {"clusters", .list_file = list_cluster, .kind = RESOURCE_CLUSTER},
    {"gpus", .list_file = list_gpu, .kind = RESOURCE_COST,
     .below = "the key gpu.cost_table of a cluster names one, or a file of yours with what differs "
              "from one of these (traces/layers/README.md)"},
    {"fabrics", .list_rest = list_fabrics,
     .below = "the key fabric of a cluster file names one; routes over several cables: "
              "fabric.routes = ideal, dmodk or hash:SEED"},
    {"traces", .list_file = list_trace, .kind = RESOURCE_TRACE},
    {"runs", .list_file = list_run, .kind = RESOURCE_RUN},
    {"workloads", .list_rest = list_other_workloads, .list_file = list_workloads,
     .kind = RESOURCE_WORKLOADS},
    {"operators", .list_file = list_operators, .kind = RESOURCE_OPERATORS},
    {"strategies", .list_rest = list_strategies},
    {"frameworks", .list_rest = list_terms, .list_file = list_framework,
     .kind = RESOURCE_FRAMEWORK},
    {"engines", .list_rest = list_engines},
    {"sets", .list_file = list_sets, .kind = RESOURCE_SETS, .only = "index"},
    {"systems", .list_file = list_systems, .kind = RESOURCE_SETS, .only = "systems"},
    {"pictures", .list_file = list_picture, .kind = RESOURCE_PICTURE,
     .below =
         "'allreckon plot' and 'report' draw them, and --out of others; a template restyles one"},
    {"published", .list_file = list_published, .kind = RESOURCE_PUBLISHED},
    {"columns", .list_rest = list_columns},
};

/* Adds the items of a topic. A file that cannot be read does not hide the others. */
static void list_topic(struct lister *list, const struct topic *topic)
{
    char names[RESOURCE_NAMES_MAX][64];
    size_t count = topic->list_file == NULL ? 0
                   : topic->only != NULL    ? 1
                                            : resource_names(topic->kind, names);
    struct ar_arena scratch AR_ENDS_HERE = {NULL};
    list->scratch = &scratch;
    list->topic = topic->name;
    list->of = NULL;
    for (size_t i = 0; i < count; i++) {
        char path[RESOURCE_PATH];
        struct ar_error err;
        list->file = topic->only != NULL ? topic->only : ar_arena_text(list->arena, names[i]);
        list->path = path;
        if (resource_find(topic->kind, "list", list->file, path, &err) != AR_OK ||
            topic->list_file(list, &err) != AR_OK) {
            add_item(list, list->file, "cannot be read: %s", err.text);
        }
        ar_arena_end(&scratch);
    }
    if (topic->list_rest != NULL) {
        topic->list_rest(list);
    }
}

enum ar_status command_list(const struct options *options, struct ar_error *err)
{
    enum { TOPICS = sizeof topics / sizeof topics[0] };
    const char *names[TOPICS + 1] = {NULL};
    unsigned first = 0, end = TOPICS - 2; /* the last ones, which are long, only if asked for */
    struct lister list = {.arena = options->arena, .inputs = options->inputs};
    struct ar_view view;
    AR_TRY(option_view(options, AR_COLUMNS(item_columns), &view, err));
    for (size_t i = 0; i < TOPICS; i++) {
        names[i] = topics[i].name;
    }
    if (options->arguments_count > 0) {
        AR_TRY(ar_error_blame(ar_parse_choice("list", options->arguments[0], names, &first, err),
                              AR_USAGE, err));
        end = first + 1;
    }
    if (options->arguments_count == 2) {
        list.pattern = ar_arena_format(options->arena, "*%s*", options->arguments[1]);
    }
    bool is_table = view.format == AR_FORMAT_TABLE;
    for (unsigned i = first; i < end; i++) {
        size_t before = list.count;
        list_topic(&list, &topics[i]);
        if (is_table && options->arguments_count == 0) {
            printf("%s%s:\n", i > 0 ? "\n" : "", topics[i].name);
        }
        if (is_table) {
            /* An item is a line, with a heading before those that have one. */
            const char *of = NULL;
            for (size_t k = before; k < list.count; k++) {
                const struct listed_item *item = &list.list[k];
                if (item->of != NULL && item->of != of) {
                    printf("%s%s\n", k > before ? "\n" : "", item->of);
                }
                of = item->of;
                int width = item->text[0] == '\0' ? 0 : of != NULL ? 21 : 18;
                printf("%s%-*s%s%s\n", of != NULL ? "  " : "", width, item->name,
                       width > 0 ? " " : "", item->text);
            }
        }
        if (is_table && list.pattern == NULL && topics[i].below != NULL) {
            printf("\n%s\n", topics[i].below);
        }
    }
    AR_REFUSE(list.pattern != NULL && list.count == 0, err, AR_USAGE,
              "list: found none of %s with \"%.60s\"; expected a part of a name or of what "
              "'allreckon list %s' says, * and ? among it",
              topics[first].name, options->arguments[1], topics[first].name);
    if (!is_table) {
        /* Texts are one line each. */
        for (size_t i = 0; i < list.count; i++) {
            const char *rest = list.list[i].text, *next, *text = "";
            for (; (next = strstr(rest, NEXT_LINE)) != NULL; rest = next + strlen(NEXT_LINE)) {
                text = ar_arena_format(list.arena, "%s%.*s; ", text, (int)(next - rest), rest);
            }
            list.list[i].text = ar_arena_format(list.arena, "%s%s", text, rest);
        }
        ar_records_write(stdout, &view, AR_COLUMNS(item_columns), list.list, list.count);
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
