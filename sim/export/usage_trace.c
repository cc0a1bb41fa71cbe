/* How busy links and GPUs were in a simulation: the choice of those that are shown, and Paje's
 * format.
 *
 * Format: "Paje trace file", https://github.com/schnorr/pajeng/wiki. */
#include <math.h>
#include <stdlib.h>

#include "ar_numbers.h"
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

AR_ORDER(compare_busy, struct busy_link, AR_FALLS(busy_s), AR_RISES(link))

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

/* Each event is defined by its number and the names and types of its fields. */
static const char paje_head[] =
    "%EventDef PajeDefineContainerType 0\n% Alias string\n% Type string\n% Name string\n"
    "%EndEventDef\n%EventDef PajeDefineVariableType 1\n% Alias string\n% Type string\n"
    "% Name string\n% Color color\n%EndEventDef\n%EventDef PajeCreateContainer 2\n% Time date\n"
    "% Alias string\n% Type string\n% Container string\n% Name string\n%EndEventDef\n"
    "%EventDef PajeSetVariable 3\n% Time date\n% Type string\n% Container string\n"
    "% Value double\n%EndEventDef\n0 LINK 0 link\n0 GPU 0 gpu\n"
    "1 LINKBUSY LINK busy \"0 0 1\"\n1 GPUBUSY GPU busy \"0 1 0\"\n";

void usage_write_paje(FILE *file, const struct ar_timing *timing, const char *made_by)
{
    struct usage_shown shown;
    usage_choose(timing, &shown);
    fprintf(file, "# %s; %u of %u links\n%s", made_by, shown.links_count, shown.links_used,
            paje_head);
    for (uint32_t i = 0; i < shown.count; i++) {
        fprintf(file, "2 0 I%u %s 0 \"%s\"\n", i, i < shown.links_count ? "LINK" : "GPU",
                shown.items[i].name);
    }
    for (uint32_t bin = 0; bin < AR_USAGE_BINS; bin++) {
        for (uint32_t i = 0; i < shown.count; i++) {
            double share = usage_share(timing, &shown.items[i], bin);
            if (bin == 0 || share != usage_share(timing, &shown.items[i], bin - 1)) {
                fprintf(file, "3 %.9f %sBUSY I%u %.4f\n", bin * timing->job->usage->bin_s,
                        i < shown.links_count ? "LINK" : "GPU", i, share);
            }
        }
    }
}
