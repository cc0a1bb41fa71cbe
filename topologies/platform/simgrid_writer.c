#include "simgrid_writer.h"

/* Nothing computes on the hosts by their speed: kernels take times from cost tables. */
static const char host_speed[] = "1Gf";

/* A link that never limits is this much wider than the HCAs or GPUs of its node together. */
static const double net_width = 1000;

void ar_simgrid_begin(const struct ar_cluster *cluster, const char *routing, FILE *file)
{
    fprintf(file,
            "<?xml version='1.0'?>\n"
            "<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n"
            "<platform version=\"4.1\">\n"
            "<zone id=\"cluster\" routing=\"%s\">\n"
            "<prop id=\"name\" value=\"%s\"/>\n",
            routing, cluster->facts.name);
}

void ar_simgrid_end(FILE *file)
{
    fprintf(file, "</zone>\n</platform>\n");
}

void ar_simgrid_write_host(uint32_t rank, FILE *file)
{
    char name[AR_SIMGRID_NAME_SIZE];
    fprintf(file, "<host id=\"%s\" speed=\"%s\" core=\"1\"/>\n",
            ar_host_name(rank, name, sizeof name), host_speed);
}

static void write_link(const char *name, double bandwidth_Bps, double latency_s, FILE *file)
{
    fprintf(file,
            "<link id=\"%s\" bandwidth=\"%.17gBps\" latency=\"%.17gs\" "
            "sharing_policy=\"SHARED\"/>\n",
            name, bandwidth_Bps, latency_s);
}

void ar_simgrid_write_link(const struct ar_cluster *cluster, uint32_t link, double latency_s,
                           FILE *file)
{
    char name[AR_SIMGRID_NAME_SIZE];
    write_link(ar_cluster_link_name(cluster, link, name, sizeof name),
               ar_cluster_link_bandwidth(cluster, link), latency_s, file);
}

void ar_simgrid_write_net_link(const char *name, double bandwidth_Bps, double latency_s, FILE *file)
{
    write_link(name, net_width * bandwidth_Bps, latency_s, file);
}

void ar_simgrid_write_hop(const char *name, FILE *file)
{
    fprintf(file, "<link_ctn id=\"%s\" direction=\"NONE\"/>", name);
}
