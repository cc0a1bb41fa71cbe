/* How busy links and GPUs were in a simulation: the choice of those that are shown, and Paje's
 * format.
 *
 * Format: "Paje trace file", https://github.com/schnorr/pajeng/wiki. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "exports.h"

double usage_share(const struct ar_timing *timing, const struct usage_item *item, uint32_t bin)
{
    const struct ar_usage *usage = timing->job->usage;
    return fmin(1, (double)usage->amounts[item->item][bin] / (usage->bin_s * item->capacity));
}

/* --- what is shown ---------------------------------------------------------------------------- */

struct busy_link {
    uint32_t link;
    double busy_s;
};

static int compare_busy(const void *a, const void *b)
{
    const struct busy_link *one = a, *other = b;
    bool is_equal = one->busy_s == other->busy_s;
    return (is_equal ? one->link > other->link : one->busy_s < other->busy_s) ? 1 : -1;
}

void usage_choose(const struct ar_timing *timing, struct usage_shown *shown)
{
    struct ar_arena arena AR_ENDS_HERE = {NULL};
    const struct ar_usage *usage = timing->job->usage;
    const struct ar_cluster *cluster = timing->job->collective.cluster;
    struct busy_link *links = ar_arena_alloc(&arena, usage->links_count + 1u, sizeof *links);
    uint32_t ranks[TIMELINE_RANKS];
    *shown = (struct usage_shown){.count = 0};
    for (uint32_t link = 0; link < usage->links_count; link++) {
        double busy_s = ar_usage_total(usage, link) / ar_cluster_link_bandwidth(cluster, link);
        if (busy_s > 0) {
            links[shown->links_used++] = (struct busy_link){link, busy_s};
        }
    }
    qsort(links, shown->links_used, sizeof *links, compare_busy);
    for (; shown->count < shown->links_used && shown->count < USAGE_LINKS_MAX; shown->count++) {
        uint32_t link = links[shown->count].link;
        struct usage_item *item = &shown->items[shown->count];
        item->item = link;
        item->capacity = ar_cluster_link_bandwidth(cluster, link);
        ar_cluster_link_name(cluster, link, item->name, sizeof item->name);
    }
    shown->links_count = shown->count;
    uint32_t ranks_count =
        timeline_choose_ranks(usage->ranks_count, ar_cluster_facts(cluster)->gpus_per_node, ranks);
    for (uint32_t i = 0; i < ranks_count; i++) {
        struct usage_item *item = &shown->items[shown->count++];
        item->item = usage->links_count + ranks[i];
        item->capacity = 1;
        ar_host_name(ranks[i], item->name, sizeof item->name);
    }
}

/* --- Paje ------------------------------------------------------------------------------------- */

enum { CONTAINER_TYPE, VARIABLE_TYPE, CONTAINER, VALUE, END };

/* Each event is defined by its number and the names and types of its fields. */
static void write_definition(FILE *file, const char *name, int number, const char *fields)
{
    fprintf(file, "%%EventDef %s %d\n%s%%EndEventDef\n", name, number, fields);
}

void usage_write_paje(FILE *file, const struct ar_timing *timing, const char *made_by)
{
    const struct ar_usage *usage = timing->job->usage;
    struct usage_shown shown;
    double end_s = 0;
    usage_choose(timing, &shown);
    fprintf(file, "# %s; %" PRIu32 " of %" PRIu32 " links\n", made_by, shown.links_count,
            shown.links_used);
    write_definition(file, "PajeDefineContainerType", CONTAINER_TYPE,
                     "% Alias string\n% Type string\n% Name string\n");
    write_definition(file, "PajeDefineVariableType", VARIABLE_TYPE,
                     "% Alias string\n% Type string\n% Name string\n% Color color\n");
    write_definition(file, "PajeCreateContainer", CONTAINER,
                     "% Time date\n% Alias string\n% Type string\n% Container string\n% Name "
                     "string\n");
    write_definition(file, "PajeSetVariable", VALUE,
                     "% Time date\n% Type string\n% Container string\n% Value double\n");
    write_definition(file, "PajeDestroyContainer", END,
                     "% Time date\n% Type string\n% Name string\n");
    fprintf(file, "%d LINK 0 link\n%d GPU 0 gpu\n", CONTAINER_TYPE, CONTAINER_TYPE);
    fprintf(file, "%d LINKBUSY LINK busy \"0 0 1\"\n%d GPUBUSY GPU busy \"0 1 0\"\n", VARIABLE_TYPE,
            VARIABLE_TYPE);
    for (uint32_t i = 0; i < shown.count; i++) {
        const char *type = i < shown.links_count ? "LINK" : "GPU";
        fprintf(file, "%d 0 I%" PRIu32 " %s 0 \"%s\"\n", CONTAINER, i, type, shown.items[i].name);
    }
    for (uint32_t bin = 0; bin < AR_USAGE_BINS; bin++) {
        for (uint32_t i = 0; i < shown.count; i++) {
            const struct usage_item *item = &shown.items[i];
            double share = usage_share(timing, item, bin);
            if (bin == 0 || share != usage_share(timing, item, bin - 1)) {
                fprintf(file, "%d %.9f %sBUSY I%" PRIu32 " %.4f\n", VALUE, bin * usage->bin_s,
                        i < shown.links_count ? "LINK" : "GPU", i, share);
                end_s = bin * usage->bin_s;
            }
        }
    }
    for (uint32_t i = 0; i < shown.count; i++) {
        fprintf(file, "%d %.9f %s I%" PRIu32 "\n", END, end_s,
                i < shown.links_count ? "LINK" : "GPU", i);
    }
}
