/* The fit of a link to messages between two processes. */
#include <criterion/criterion.h>
#include <math.h>

#include "ar_link_fit.h"
#include "test_support.h"

enum { SIZES = 12 };

static const struct ar_pair_link *find(const struct ar_cluster *cluster, const char *name)
{
    const struct ar_pair_link *link;
    struct ar_error err;
    cr_assert_eq(ar_pair_link_find("--pair", name, cluster, &link, &err), AR_OK);
    return link;
}

static size_t add_rows(struct ar_pair_row *rows, bool is_alone, double latency_s,
                       double bandwidth_Bps)
{
    for (size_t i = 0; i < SIZES; i++) {
        double bytes = 256 << i;
        rows[i] = (struct ar_pair_row){
            .bytes = bytes, .time_s = latency_s + bytes / bandwidth_Bps, .is_alone = is_alone};
    }
    return SIZES;
}

Test(pair_fit, latency_and_bandwidth_come_back_and_other_links_stay)
{
    struct ar_cluster *cluster = support_cluster("abci-v100", NULL);
    const struct ar_pair_link *network = find(cluster, "network");
    struct ar_pair_row rows[2 * SIZES];
    struct ar_link_fit fit;
    struct ar_error err;
    size_t count = add_rows(rows, true, 4e-6, 9e9);
    count += add_rows(rows + count, false, 1e-6, 9e9);
    cr_assert_eq(ar_pair_fit(network, cluster, rows, count, &fit, &err), AR_OK);
    cr_expect(support_near(fit.numbers[network->latency].value, 4e-6, 0.01));
    cr_expect(support_near(fit.numbers[network->bandwidth].value, 9e9, 0.01));
    cr_expect_eq(fit.numbers[network->latency].state, AR_LINK_IDENTIFIED);
    cr_expect_eq(fit.numbers[AR_LINK_NVLINK_LATENCY].state, AR_LINK_UNUSED);
    cr_expect_eq(fit.rows_count, count);
}

Test(pair_fit, many_messages_in_flight_say_nothing_of_the_latency)
{
    struct ar_cluster *cluster = support_cluster("abci-v100", NULL);
    const struct ar_pair_link *nvlink = find(cluster, "nvlink");
    struct ar_pair_row rows[SIZES];
    struct ar_link_fit fit;
    struct ar_error err;
    size_t count = add_rows(rows, false, 1e-6, 30e9);
    cr_assert_eq(ar_pair_fit(nvlink, cluster, rows, count, &fit, &err), AR_OK);
    cr_expect_eq(fit.numbers[nvlink->latency].state, AR_LINK_UNUSED);
    cr_expect(isnan(fit.numbers[nvlink->latency].error_frac));
    cr_expect(support_near(fit.numbers[nvlink->bandwidth].value, 30e9, 0.01));
}

Test(pair_fit, only_the_network_is_between_nodes)
{
    struct ar_cluster *cluster = support_cluster("abci-v100", NULL);
    cr_expect_eq(find(cluster, "nvlink")->nodes, 1);
    cr_expect_eq(find(cluster, "pcie")->nodes, 1);
    cr_expect_eq(find(cluster, "network")->nodes, 2);
}

Test(pair_fit, a_link_must_be_named_and_there)
{
    struct ar_cluster *cluster =
        support_cluster("abci-v100", (const char *const[]){"net.latency=0s", NULL});
    const struct ar_pair_link *link;
    struct ar_error err;
    cr_expect_eq(ar_pair_link_find("--pair", NULL, cluster, &link, &err), AR_USAGE);
    cr_expect_eq(ar_pair_link_find("--pair", "wire", cluster, &link, &err), AR_USAGE);
    cr_expect_eq(ar_pair_link_find("--pair", "network", cluster, &link, &err), AR_BAD_DATA);
}
