/* Where the time of a step with servers goes: workers, what they send, what bounds it. */
#include <inttypes.h>
#include <stdio.h>

#include "ar_units.h"
#include "explain.h"

static void print_part(const char *name, double time_s, double all_s)
{
    char text[AR_UNIT_TEXT];
    printf("  %-26s %12s %8.2f %%\n", name, time_s > 0 ? ar_format_seconds(time_s, text) : "-",
           100 * time_s / all_s);
}

static void print_split(const struct ar_timing *timing)
{
    struct ar_async_split split = ar_async_split_mean(&timing->async);
    printf("\nwhere the time of a worker goes, mean over the workers\n");
    print_part("compute", split.compute_s, timing->iteration_s);
    print_part("push, not hidden", split.push_s, timing->iteration_s);
    print_part("wait for slower workers", split.wait_s, timing->iteration_s);
    print_part("pull, not hidden", split.pull_s, timing->iteration_s);
    print_part("step", timing->iteration_s, timing->iteration_s);
}

/* The slowest and the fastest worker. */
static void print_ends(const struct ar_timing *timing)
{
    const struct ar_async *run = &timing->async;
    uint32_t first = 0, last = 0;
    char text[AR_UNIT_TEXT];
    for (uint32_t i = 1; i < run->workers; i++) {
        first = run->end_s[i] < run->end_s[first] ? i : first;
        last = run->end_s[i] > run->end_s[last] ? i : last;
    }
    const uint32_t ends[] = {first, last};
    bool is_even = run->end_s[last] <= run->end_s[first] * (1 + 1e-9);
    printf("\nworkers, a step of each: compute, push, wait, pull%s\n",
           is_even ? "; all are alike" : "");
    for (int i = 0; i < (is_even ? 1 : 2); i++) {
        const struct ar_async_split *split = &run->splits[ends[i]];
        const double parts_s[] = {split->compute_s, split->push_s, split->wait_s, split->pull_s};
        printf("  %-8s %6" PRIu32 " %12s",
               is_even  ? "as"
               : i == 0 ? "fastest"
                        : "slowest",
               ends[i], ar_format_seconds(run->end_s[ends[i]] / run->steps_count, text));
        for (int j = 0; j < 4; j++) {
            double part_s = parts_s[j] / run->steps_count;
            printf(" %12s", part_s > 0 ? ar_format_seconds(part_s, text) : "-");
        }
        puts("");
    }
}

/* What no order of messages can be faster than: the HCA of a node of workers, and those of the
 * servers. */
static void print_bounds(const struct ar_timing *timing)
{
    const struct ar_async *run = &timing->async;
    const struct ar_cluster_facts *facts = ar_cluster_facts(run->cluster);
    char bytes[AR_UNIT_TEXT], text[AR_UNIT_TEXT];
    double node_Bps =
        ar_cluster_link_cost(run->cluster, AR_LINK_HCA_BANDWIDTH) * facts->hcas_per_node;
    double each = (double)timing->payload_bytes / run->every;
    uint32_t each_node = facts->gpus_per_node / run->gpus_each;
    double of_node = run->workers < each_node ? run->workers : each_node;
    printf("\nwhat is sent: each worker pushes and pulls %s; slices: %" PRIu32 "; servers: %" PRIu32
           "; steps between: %" PRIu32 "; timed by engine %s\n",
           ar_format_bytes(timing->payload_bytes, bytes), run->slices_count, run->servers,
           run->every, timing->job->engine->name);
    if (node_Bps > 0 && run->servers_at == AR_SERVERS_AT_NODES) {
        printf("  %-42s %12s\n", "a node's HCAs alone, each way",
               ar_format_seconds(of_node * each / node_Bps, text));
        printf("  %-42s %12s\n", "the servers' HCAs alone, each way",
               ar_format_seconds(run->workers * each / (run->servers * node_Bps), text));
    }
}

void explain_servers(const struct ar_timing *timing, const struct ar_row *row)
{
    const struct ar_async *run = &timing->async;
    char text[AR_UNIT_TEXT];
    printf("%s on %" PRIu64 " GPUs of %s, %s, %" PRIu32 " servers at %s: %s per step, mean of "
           "%" PRIu32 " steps\n",
           row->trace, row->gpus, row->cluster, row->strategy, run->servers,
           ar_servers_at_names[run->servers_at], ar_format_seconds(timing->iteration_s, text),
           run->steps_count);
    print_split(timing);
    print_ends(timing);
    print_bounds(timing);
    if (timing->layout.strategy->deals_units) {
        printf("\nunits: %" PRIu32 " a step; %" PRIu64 " of all steps were begun again, %" PRIu64
               " of them done first so\n",
               timing->units.count, timing->units.backups_count, timing->units.won_count);
    }
}
