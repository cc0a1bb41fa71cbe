/* Networks of ASTRA-sim's analytical back ends (astra-sim/astra-network-analytical): a YAML of four
 * lists, a value for each dimension, the innermost first. Its GB are 2^30 bytes; a message crosses
 * two links of a Switch, one of a FullyConnected. A cluster has GPUs that are all joined in the
 * first dimension, and a switch for those of each number in the second. */
#include <inttypes.h>
#include <string.h>
#include <yaml.h>

#include "ar_text.h"
#include "ar_units.h"
#include "lines.h"

enum { DIMENSIONS_MAX = 2, VALUE_TEXT = 40 };
enum { LIST_TOPOLOGY, LIST_COUNT, LIST_BANDWIDTH, LIST_LATENCY, LISTS_COUNT };
static const char *const list_names[] = {"topology", "npus_count", "bandwidth", "latency", NULL};

struct network {
    char texts[LISTS_COUNT][DIMENSIONS_MAX][VALUE_TEXT];
    uint64_t lines[LISTS_COUNT];
    size_t counts[LISTS_COUNT];
    unsigned list;  /* that is read; LISTS_COUNT: another key's */
    unsigned depth; /* mappings and lists that are open */
};

static enum ar_status take_scalar(struct network *network, const struct source *source,
                                  const char *text, struct ar_error *err)
{
    if (network->depth == 1) { /* a key */
        for (network->list = 0; network->list < LISTS_COUNT; network->list++) {
            if (strcmp(text, list_names[network->list]) == 0) {
                network->lines[network->list] = source->line;
                return network->counts[network->list] == 0
                           ? AR_OK
                           : source_refuse(source, err, "found %s a second time; expected once",
                                           text);
            }
        }
        return AR_OK;
    }
    if (network->list == LISTS_COUNT) {
        return AR_OK;
    }
    size_t *count = &network->counts[network->list];
    if (*count == DIMENSIONS_MAX) {
        return source_refuse(source, err,
                             "found %s of more than %d dimensions, which no cluster file says; "
                             "expected GPUs of a node, and nodes",
                             list_names[network->list], DIMENSIONS_MAX);
    }
    ar_copy_text(network->texts[network->list][(*count)++], VALUE_TEXT, text);
    return AR_OK;
}

static enum ar_status take_event(struct network *network, struct source *source,
                                 const yaml_event_t *event, struct ar_error *err)
{
    source->line = event->start_mark.line + 1;
    switch (event->type) {
    case YAML_ALIAS_EVENT:
        return source_refuse(source, err, "found an alias; expected plain values");
    case YAML_MAPPING_START_EVENT:
    case YAML_SEQUENCE_START_EVENT:
        network->depth++;
        return network->depth <= 2 &&
                       (event->type == YAML_MAPPING_START_EVENT) == (network->depth == 1)
                   ? AR_OK
                   : source_refuse(source, err,
                                   "found a list or mapping too many; expected lists "
                                   "of values, topology: [ Switch ] and so on");
    case YAML_MAPPING_END_EVENT:
    case YAML_SEQUENCE_END_EVENT:
        network->depth--;
        return AR_OK;
    case YAML_SCALAR_EVENT:
        return take_scalar(network, source, (const char *)event->data.scalar.value, err);
    default:
        return AR_OK;
    }
}

static enum ar_status read_events(yaml_parser_t *parser, struct network *network,
                                  struct source *source, struct ar_error *err)
{
    for (bool is_over = false; !is_over;) {
        yaml_event_t event;
        if (!yaml_parser_parse(parser, &event)) {
            source->line = parser->problem_mark.line + 1;
            return source_refuse(source, err, "broken YAML: %.100s; expected lists of values",
                                 parser->problem != NULL ? parser->problem : "unreadable");
        }
        is_over = event.type == YAML_STREAM_END_EVENT;
        enum ar_status status = take_event(network, source, &event, err);
        yaml_event_delete(&event);
        AR_TRY(status);
    }
    return AR_OK;
}

/* --- what it says ---------------------------------------------------------------------------- */

/* One dimension, in numbers. */
struct dimension {
    bool is_switch;
    uint64_t count;
    double bandwidth_GiBps, latency_ns;
};

static enum ar_status read_dimension(const struct network *network, struct source *source,
                                     size_t place, struct dimension *dimension,
                                     struct ar_error *err)
{
    char where[260];
    const char *kind = network->texts[LIST_TOPOLOGY][place];
    bool is_joined = strcmp(kind, "FullyConnected") == 0;
    dimension->is_switch = strcmp(kind, "Switch") == 0;
    snprintf(where, sizeof where, "%.200s:%" PRIu64, source->path, network->lines[LIST_COUNT]);
    AR_TRY(ar_parse_count(where, network->texts[LIST_COUNT][place], 1, AR_TOPO_NODES_MAX,
                          &dimension->count, err));
    snprintf(where, sizeof where, "%.200s:%" PRIu64, source->path, network->lines[LIST_BANDWIDTH]);
    AR_TRY(ar_parse_number(where, network->texts[LIST_BANDWIDTH][place], 1e-3, 1e6,
                           &dimension->bandwidth_GiBps, err));
    snprintf(where, sizeof where, "%.200s:%" PRIu64, source->path, network->lines[LIST_LATENCY]);
    AR_TRY(ar_parse_number(where, network->texts[LIST_LATENCY][place], 0, 1e9,
                           &dimension->latency_ns, err));
    source->line = network->lines[LIST_TOPOLOGY];
    bool is_small_ring = strcmp(kind, "Ring") == 0 && dimension->count <= 3;
    bool is_known = dimension->is_switch || (place == 0 && (is_joined || is_small_ring));
    return is_known ? AR_OK
                    : source_refuse(source, err,
                                    "found %.40s of %" PRIu64 " as dimension %zu, which no cluster "
                                    "file says; expected %s",
                                    kind, dimension->count, place + 1,
                                    place == 0 ? "Switch or FullyConnected" : "Switch");
}

static enum ar_status say(struct source *source, const struct network *network, int list,
                          enum ar_topo_key key, const char *form, double number, const char *what,
                          struct ar_error *err)
{
    char text[AR_UNIT_TEXT];
    source->line = network->lines[list];
    snprintf(text, sizeof text, form, number);
    return machine_say(source, key, text, what, err);
}

static enum ar_status say_links(struct source *source, const struct network *network,
                                const struct dimension *dimension, bool is_net,
                                struct ar_error *err)
{
    double hops = dimension->is_switch ? 2 : 1;
    AR_TRY(say(source, network, LIST_BANDWIDTH, is_net ? TOPO_HCA_BANDWIDTH : TOPO_NVLINK_BANDWIDTH,
               "%.6gGiB/s", dimension->bandwidth_GiBps, "GB of 2^30 bytes, as in ASTRA-sim", err));
    return say(source, network, LIST_LATENCY, is_net ? TOPO_NET_LATENCY : TOPO_NVLINK_LATENCY,
               "%.6gns", hops * dimension->latency_ns,
               dimension->is_switch ? "of two links" : "of a link", err);
}

/* A first dimension that is too large for a node is one of nodes with one GPU each. */
static enum ar_status say_all(struct source *source, const struct network *network,
                              const struct dimension *dimensions, size_t count,
                              struct ar_error *err)
{
    const struct dimension *node = &dimensions[0];
    bool is_large = count == 1 && node->is_switch && node->count > AR_TOPO_GPUS_MAX;
    const struct dimension *net = count == 2 ? &dimensions[1] : is_large ? node : NULL;
    double gpus = is_large ? 1 : (double)node->count;
    const char *what = "NPUs";
    AR_TRY(say(source, network, LIST_COUNT, TOPO_GPUS, "%.0f", gpus, what, err));
    AR_TRY(say(source, network, LIST_COUNT, TOPO_NODES, "%.0f",
               net != NULL ? (double)net->count : 1, what, err));
    AR_TRY(say(source, network, LIST_TOPOLOGY, TOPO_COLLECTIVE_SETUP, "%.0fs", 0,
               "ASTRA-sim's networks have none", err));
    if (gpus > 1) {
        source->line = network->lines[LIST_TOPOLOGY];
        AR_TRY(machine_say(source, TOPO_NVLINK_PAIRS, node->is_switch ? "switch" : "all",
                           network->texts[LIST_TOPOLOGY][0], err));
        AR_TRY(say_links(source, network, node, false, err));
    }
    if (net == NULL) {
        return AR_OK;
    }
    AR_TRY(say(source, network, LIST_COUNT, TOPO_HCAS, "%.0f", gpus, "a link for each NPU", err));
    source->line = network->lines[LIST_TOPOLOGY];
    AR_TRY(gpus > 1 ? machine_say(source, TOPO_TREE_RAILS, "nvlink",
                                  "a switch for the NPUs of each number", err)
                    : machine_say(source, TOPO_RACK_NODES, "0", "one switch", err));
    return say_links(source, network, net, true, err);
}

bool astra_network_is(const char *text)
{
    return strncmp(text, "npus_count:", 11) == 0 || strstr(text, "\nnpus_count:") != NULL;
}

enum ar_status astra_network_read(struct source *source, const char *text, size_t bytes,
                                  struct ar_error *err)
{
    struct network network = {.list = LISTS_COUNT};
    struct dimension dimensions[DIMENSIONS_MAX];
    yaml_parser_t parser;
    AR_NEED(yaml_parser_initialize(&parser), err, source->path);
    yaml_parser_set_input_string(&parser, (const unsigned char *)text, bytes);
    enum ar_status status = read_events(&parser, &network, source, err);
    yaml_parser_delete(&parser);
    AR_TRY(status);
    size_t count = network.counts[LIST_TOPOLOGY];
    for (int list = 0; list < LISTS_COUNT; list++) {
        source->line = network.lines[list] > 0 ? network.lines[list] : source->line;
        if (network.counts[list] != count || count == 0) {
            return source_refuse(source, err,
                                 "found %zu values of %s; expected one for each dimension (%zu)",
                                 network.counts[list], list_names[list], count);
        }
    }
    for (size_t i = 0; i < count; i++) {
        AR_TRY(read_dimension(&network, source, i, &dimensions[i], err));
    }
    return say_all(source, &network, dimensions, count, err);
}
