/* Graph files of NCCL (NCCL_GRAPH_DUMP_FILE): the rings, trees, ... that its search found, and how
 * fast it took them to be. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "ar_units.h"
#include "xml.h"

enum { RING = 0 }; /* id of the graph of rings */

struct graphs {
    uint64_t id, channels, line;
    double intra_GBps, inter_GBps;
    uint32_t gpus, channel; /* of the first ring; channels up to now */
    bool is_ring, has_ring, has_net;
};

static enum ar_status read_speed(const struct source *source, const char *const *attributes,
                                 const char *name, double *GBps, struct ar_error *err)
{
    char place[300];
    const char *text = xml_attribute(attributes, name);
    snprintf(place, sizeof place, "%.200s:%" PRIu64 ": attribute \"%s\"", source->path,
             source->line, name);
    *GBps = 0;
    return text == NULL ? AR_OK : ar_parse_number(place, text, 0, 1e5, GBps, err);
}

static enum ar_status begin_graph(struct graphs *graphs, const struct source *source,
                                  const char *const *attributes, struct ar_error *err)
{
    AR_TRY(xml_count(source, attributes, "id", UINT32_MAX, UINT32_MAX, &graphs->id, err));
    graphs->is_ring = graphs->id == RING && !graphs->has_ring;
    if (!graphs->is_ring) {
        return AR_OK;
    }
    graphs->has_ring = true;
    graphs->line = source->line;
    AR_TRY(xml_count(source, attributes, "nchannels", 0, 512, &graphs->channels, err));
    AR_TRY(read_speed(source, attributes, "speedintra", &graphs->intra_GBps, err));
    return read_speed(source, attributes, "speedinter", &graphs->inter_GBps, err);
}

static enum ar_status begin(void *state, const struct source *source, unsigned depth,
                            const char *name, const char *const *attributes, struct ar_error *err)
{
    struct graphs *graphs = state;
    if (strcmp(name, "graph") == 0 && depth == 1) {
        return begin_graph(graphs, source, attributes, err);
    }
    graphs->channel += graphs->is_ring && strcmp(name, "channel") == 0;
    graphs->gpus += graphs->is_ring && graphs->channel == 1 && strcmp(name, "gpu") == 0;
    graphs->has_net = graphs->has_net || (graphs->is_ring && strcmp(name, "net") == 0);
    return AR_OK;
}

static enum ar_status say(const struct source *source, enum ar_topo_key key, const char *form,
                          double value, const char *what, struct ar_error *err)
{
    char text[AR_UNIT_TEXT];
    snprintf(text, sizeof text, form, value);
    return machine_say(source, key, text, what, err);
}

static enum ar_status finish(void *state, const struct source *at_end, struct ar_error *err)
{
    const struct graphs *graphs = state;
    struct source source = *at_end;
    char what[MACHINE_TEXT_MAX];
    if (!graphs->has_ring || graphs->channels == 0) {
        return source_refuse(&source, err,
                             "found no rings; expected <graph id=\"0\" nchannels=...>");
    }
    source.line = graphs->line;
    double channels = (double)graphs->channels;
    snprintf(what, sizeof what, "%" PRIu64 " rings, doubled when they are set up (connect.cc)",
             graphs->channels);
    AR_TRY(say(&source, TOPO_LIBRARY_CHANNELS, "%.0f", 2 * channels, what, err));
    if (graphs->intra_GBps > 0) {
        snprintf(what, sizeof what, "%" PRIu64 " rings of speedintra %g GB/s", graphs->channels,
                 graphs->intra_GBps);
        AR_TRY(say(&source, TOPO_LIBRARY_NODE_BUS, "%.6gGB/s", channels * graphs->intra_GBps, what,
                   err));
    }
    if (graphs->has_net && graphs->inter_GBps > 0) {
        snprintf(what, sizeof what, "%" PRIu64 " rings of speedinter %g GB/s", graphs->channels,
                 graphs->inter_GBps);
        AR_TRY(say(&source, TOPO_LIBRARY_NET_BUS, "%.6gGB/s", channels * graphs->inter_GBps, what,
                   err));
    }
    return graphs->gpus == 0
               ? AR_OK
               : say(&source, TOPO_GPUS, "%.0f", graphs->gpus, "GPUs of the first ring", err);
}

const struct xml_kind nccl_graph_kind = {.root = "graphs",
                                         .title = "graph file of NCCL",
                                         .state_bytes = sizeof(struct graphs),
                                         .begin = begin,
                                         .finish = finish};
