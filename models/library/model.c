/* The parameters of the fitted model, where they start, and how long a choice takes by them. */
#include <math.h>

#include "ar_library_fit.h"

/* Simple chains send a slot of each channel at a time: NVIDIA/nccl, 4 MiB of buffer, 8 steps. */
#define SLOT_BYTES 524288.0

/* 512 threads of a channel have at least 8 bytes each, from each rank: NVIDIA/nccl v2.18.3-1,
 * src/include/comm.h, NCCL_LL_THREAD_THRESHOLD, src/graph/tuning.cc, src/enqueue.cc. */
#define KNEE_BYTES 4096.0

#define FACTS(symbol, name, unit, prior, choice, given, spread, source)                            \
    {name, unit, AR_PRIOR_##prior, AR_##choice, given, spread, source},
const struct ar_library_parameter_facts ar_library_parameters[AR_LIBRARY_PARAMETERS_COUNT] = {
    AR_LIBRARY_PARAMETER_LIST(FACTS)};

/* 0 where nothing says. */
static double read_prior(const struct ar_tuning *tuning,
                         const struct ar_library_parameter_facts *facts)
{
    const struct ar_release *release = tuning->release;
    switch (facts->prior) {
    case AR_PRIOR_BASE:
        return release->latency[facts->choice].base * 1e-6;
    case AR_PRIOR_NODE: /* ll hops of one node are as those of several */
        return ar_tuning_node_latency(tuning, facts->choice, facts->choice == AR_RING_LL) * 1e-6;
    case AR_PRIOR_NET: /* simple rings pay it on the plateau: they are of large messages */
        return ar_tuning_net_latency(tuning, facts->choice) *
               (facts->choice == AR_RING_SIMPLE
                    ? ar_tuning_caps(tuning->release, tuning->generation)->plateau
                    : 1) *
               1e-6;
    case AR_PRIOR_LL_SHARE:
        return 1 / release->ll_divisor;
    case AR_PRIOR_LL128_SHARE:
        return release->ll128_share;
    case AR_PRIOR_TREE_SHARE:
        return release->tree_share;
    case AR_PRIOR_CHUNK:
        return tuning->channels * SLOT_BYTES;
    case AR_PRIOR_KNEE:
        return tuning->channels * KNEE_BYTES;
    case AR_PRIOR_NODE_BUS:
        return tuning->node_bus_Bps;
    case AR_PRIOR_NET_BUS: /* NCCL knows classes of speeds, which hold nothing back */
        return tuning->net_payload_Bps > 0 ? tuning->net_payload_Bps : tuning->net_bus_Bps;
    default:
        return 0;
    }
}

double ar_library_parameter_prior(const struct ar_tuning *tuning,
                                  enum ar_library_parameter parameter)
{
    const struct ar_library_parameter_facts *facts = &ar_library_parameters[parameter];
    double prior = read_prior(tuning, facts);
    prior = prior > 0 ? prior : facts->given;
    return tuning->factor_logs != NULL ? prior * exp(tuning->factor_logs[parameter]) : prior;
}

bool ar_library_parameter_is_of_net(enum ar_library_parameter parameter)
{
    enum ar_prior prior = ar_library_parameters[parameter].prior;
    return prior == AR_PRIOR_NET || prior == AR_PRIOR_NET_BUS || parameter == AR_NET_LATENCY ||
           parameter == AR_GROWTH || parameter == AR_LL_NET_SHARE || parameter == AR_NET_RAMP ||
           parameter == AR_TREE_SHARE;
}

const char *ar_library_parameter_prior_source(const struct ar_tuning *tuning,
                                              enum ar_library_parameter parameter)
{
    const char *source = ar_library_parameters[parameter].source;
    if (tuning->factor_logs != NULL) {
        return "NCCL's constant or the cluster's rate, times a factor of measured machines";
    }
    return source[0] != '\0' ? source : tuning->release->source;
}

#define LL128_DATA         (120.0 / 128) /* of a line; the rest are its flags */
#define TREE_LL_CHUNK      65536.0       /* see the header */
#define CHAIN_RAMPS        4.0           /* hops of a chain whose ramp is seen */
#define DOUBLINGS_BELOW    2.0           /* see the header */
#define PAIR_CROSSINGS     0.5           /* of a tree on two nodes: see the header */
#define ROUNDING           0.2           /* of the knee: how wide its corner is */
#define SEND_CHANNEL_BYTES 65536.0       /* see the header */

/* --- bandwidths --------------------------------------------------------------------------- */

/* How much longer a byte takes among n nodes than between two. */
static double net_growth(const double *values, const struct ar_library_run *run)
{
    double of_doubling = values[AR_GROWTH];
    double doublings = log2(run->nodes) - 1;
    return of_doubling >= 1 ? 1 + (of_doubling - 1) * doublings
                            : pow(of_doubling, fmin(doublings, DOUBLINGS_BELOW));
}

/* The bandwidth of the network for one of the calls that share it. */
static double net_bandwidth(const struct ar_tuning *tuning, const double *values,
                            const struct ar_library_run *run)
{
    return values[AR_NET_BANDWIDTH] / net_growth(values, run) * ar_tuning_net_share(tuning, run);
}

/* `crossings` is how often a byte leaves a node, of those of a ring. */
static double shared_bandwidth(const struct ar_tuning *tuning, const double *values,
                               enum ar_choice_protocol protocol, const struct ar_library_run *run,
                               double crossings)
{
    double shares[] = {values[AR_LL_SHARE], values[AR_LL128_SHARE], 1};
    double net_shares[] = {values[AR_LL_NET_SHARE], LL128_DATA, 1};
    bool is_chain = ar_library_is_chain(run->call);
    double found = values[AR_NODE_BANDWIDTH] * shares[protocol];
    if (run->nodes > 1) {
        found = fmin(found, net_bandwidth(tuning, values, run) * net_shares[protocol] / crossings);
    }
    return is_chain && protocol == AR_PROTOCOL_LL ? found * values[AR_CHAIN_LL_SHARE] : found;
}

/* --- hops --------------------------------------------------------------------------------- */

/* How far the ramp has gone at a size. */
static double ramp_share(const double *values, enum ar_choice_protocol protocol, double bytes)
{
    return protocol == AR_PROTOCOL_SIMPLE ? 0 : bytes / (bytes + values[AR_HALF]);
}

/* The ramp of a hop of a pipeline that the slowest hop sets the pace of. */
static double slowest_ramp(const double *values, enum ar_choice_protocol protocol, double bytes,
                           const struct ar_library_run *run)
{
    return values[run->nodes > 1 ? AR_NET_RAMP : AR_RAMP] * ramp_share(values, protocol, bytes);
}

/* max(0, bytes - knee) with a round corner, 0 at 0. */
static double over_knee(const double *values, double bytes)
{
    double knee = values[AR_KNEE];
    double corner = pow(ROUNDING * knee, 2);
    return (bytes + sqrt(pow(bytes - knee, 2) + corner) - sqrt(pow(knee, 2) + corner)) / 2;
}

/* Latencies of all hops that `bytes` go at once, each with a ramp; `net` is that of the network. */
static double hop_times(const double *values, enum ar_choice_protocol protocol,
                        const struct ar_library_hops *hops, double net_s, double bytes)
{
    double share = ramp_share(values, protocol, bytes);
    double node_s = values[AR_LL_NODE_LATENCY + protocol] + values[AR_RAMP] * share;
    return hops->node * node_s +
           hops->net * (net_s * values[AR_NET_LATENCY] + values[AR_NET_RAMP] * share);
}

/* --- choices ------------------------------------------------------------------------------ */

static double ring_time(const struct ar_tuning *tuning, const double *values,
                        enum ar_choice_protocol protocol, const struct ar_library_run *run)
{
    struct ar_library_hops hops = ar_library_ring_hops(run);
    double part = run->bytes / run->ranks;
    double rest = protocol == AR_PROTOCOL_LL ? over_knee(values, part) : part;
    double own_step = protocol == AR_PROTOCOL_SIMPLE ? values[AR_OWN_STEP] : 1;
    double parts = hops.parts + (run->nodes == 1 ? own_step : 0);
    return values[AR_LL_BASE + protocol] +
           hop_times(values, protocol, &hops, values[AR_LL_NET_LATENCY + protocol], part) +
           parts * rest / shared_bandwidth(tuning, values, protocol, run, 1);
}

/* The first chunk goes hop by hop, the others behind it. */
static double chain_time(const struct ar_tuning *tuning, const double *values,
                         enum ar_choice_protocol protocol, const struct ar_library_run *run)
{
    struct ar_library_hops hops = ar_library_ring_hops(run);
    double bytes = run->bytes;
    double time_s = values[AR_LL_BASE + protocol] +
                    fmin(CHAIN_RAMPS, run->ranks - 1) * slowest_ramp(values, protocol, bytes, run) +
                    bytes / shared_bandwidth(tuning, values, protocol, run, 1);
    if (protocol != AR_PROTOCOL_LL) {
        double chunk = bytes * values[AR_CHAIN_CHUNK] / (bytes + values[AR_CHAIN_CHUNK]);
        time_s += hops.node * chunk / values[AR_NODE_BANDWIDTH];
        time_s += hops.net > 0 ? hops.net * chunk / net_bandwidth(tuning, values, run) : 0;
    }
    return time_s;
}

static double tree_time(const struct ar_tuning *tuning, const double *values,
                        enum ar_choice_protocol protocol, const struct ar_library_run *run)
{
    struct ar_library_hops hops = {.node = 2 * ((double)run->ranks / run->nodes - 1),
                                   .net = 2 * log2(run->nodes)}; /* up and down */
    bool is_ll = protocol == AR_PROTOCOL_LL;
    double of_bytes =
        shared_bandwidth(tuning, values, protocol, run, run->nodes == 2 ? PAIR_CROSSINGS : 1);
    double chunk = is_ll ? fmin(run->bytes, TREE_LL_CHUNK) : run->bytes;
    /* How long a hop of a tree in a node takes beside that of a ring, by NCCL's constants. */
    enum ar_choice tree = (enum ar_choice)(AR_TREE_LL + protocol);
    enum ar_library_parameter ring = (enum ar_library_parameter)(AR_LL_NODE_LATENCY + protocol);
    double hop_share = ar_tuning_node_latency(tuning, tree, true) * 1e-6 /
                       read_prior(tuning, &ar_library_parameters[ring]);
    double time_s =
        values[AR_LL_BASE + protocol] +
        hop_times(values, protocol, &hops, values[AR_TREE_LL_NET_LATENCY + protocol], chunk) +
        hops.node * values[AR_LL_NODE_LATENCY + protocol] * (hop_share - 1);
    if (!is_ll) {
        return time_s + 2 * run->bytes / (of_bytes * values[AR_TREE_SHARE]);
    }
    return time_s + hops.net * over_knee(values, chunk) * 2 / of_bytes +
           2 * (run->bytes / chunk - 1) *
               (slowest_ramp(values, protocol, chunk, run) + 2 * chunk / of_bytes);
}

/* See the header. */
static double send_time(const struct ar_tuning *tuning, const double *values,
                        enum ar_choice_protocol protocol, const struct ar_library_run *run)
{
    double part = run->bytes / run->ranks;
    double rate = shared_bandwidth(tuning, values, protocol, run, 1);
    double own_step = protocol == AR_PROTOCOL_SIMPLE ? values[AR_OWN_STEP] : 1;
    double of_parts = (run->ranks - 1 + own_step) * part;
    double of_channel = fmin(part, SEND_CHANNEL_BYTES) * tuning->channels;
    return values[AR_LL_BASE + protocol] + values[AR_LL_NODE_LATENCY + protocol] +
           fmax(of_parts, of_channel) / rate;
}

/* The bytes of a chunk of NVLS if its channels send a chunk to each GPU of a node at once, and how
 * many channels it has: NVIDIA/nccl v2.27.3-1, src/enqueue.cc, calcCollChunking,
 * src/transport/nvls.cc, NVLS_NCHANNELS_SM90, NVLS_CHUNKSIZE. */
static double nvls_chunk(const struct ar_tuning *tuning, bool is_tree,
                         const struct ar_library_run *run, double *channels)
{
    static const struct {
        double rounds, bytes;
    } smaller[][3] = {{{64, 65536}, {8, 32768}, {2, 16384}}, {{4, 65536}, {1, 32768}}};
    *channels = tuning->generation < AR_GPU_BLACKWELL ? 16 : run->nodes > 1 ? 32 : 24;
    double chunk = is_tree && run->nodes >= 4 ? 65536 : 131072;
    double chunks = *channels * run->ranks / run->nodes;
    for (size_t i = 0; i < 3; i++) {
        bool is_small = run->bytes < smaller[is_tree][i].rounds * chunks * chunk;
        chunk = is_small ? fmin(chunk, smaller[is_tree][i].bytes) : chunk;
    }
    return chunk;
}

/* See the header. */
static double nvls_time(const struct ar_tuning *tuning, const double *values, enum ar_choice choice,
                        const struct ar_library_run *run)
{
    struct ar_library_run empty = *run;
    empty.bytes = 0;
    bool is_tree = choice == AR_NVLS_TREE, is_whole = run->call == AR_ALL_REDUCE;
    double gpus = (double)run->ranks / run->nodes, channels;
    double chunk = nvls_chunk(tuning, is_tree, run, &channels);
    double flag_s = ar_tuning_node_latency(tuning, AR_RING_LL, false) * 1e-6;
    double node_s = 1 / (values[AR_NODE_BANDWIDTH] * values[AR_SWITCH_BANDWIDTH]);
    double net_s = run->nodes > 1 ? 1 / net_bandwidth(tuning, values, run) : 0;
    double crossings = is_tree && run->nodes > 2 ? 2 : 1;
    double byte_s = fmax(node_s * (is_whole ? 1 + 1 / gpus : 1) +
                             (is_tree ? 2 : 1) * flag_s / (channels * chunk),
                         net_s * crossings);
    double first_s = (is_whole ? 2 : 1) * (node_s + net_s * (is_tree ? log2(run->nodes) : 1));
    double round = fmin(run->bytes, channels * gpus * chunk);
    return ar_tuning_time(tuning, choice, &empty) * values[AR_SWITCH_LATENCY] + round * first_s +
           (run->bytes - round) * byte_s;
}

/* NCCL's own formula with the fitted bandwidths, for choices that nobody measured apart. */
static double scaled_time(const struct ar_tuning *tuning, const double *values,
                          enum ar_choice choice, const struct ar_library_run *run)
{
    struct ar_tuning own = *tuning;
    struct ar_library_run empty = *run;
    own.node_bus_Bps = values[AR_NODE_BANDWIDTH];
    own.net_bus_Bps = values[AR_NET_BANDWIDTH] / net_growth(values, run);
    empty.bytes = 0;
    double latency_s = ar_tuning_time(&own, choice, &empty);
    double bytes_s = ar_tuning_time(&own, choice, run) - latency_s;
    return latency_s * values[AR_SWITCH_LATENCY] + bytes_s / values[AR_SWITCH_BANDWIDTH];
}

double ar_library_time(const struct ar_tuning *tuning,
                       const double values[AR_LIBRARY_PARAMETERS_COUNT], enum ar_choice choice,
                       const struct ar_library_run *run)
{
    enum ar_choice_protocol protocol = ar_choices[choice].protocol;
    double fill_s = protocol == AR_PROTOCOL_SIMPLE /* that it loses while its slots fill */
                        ? values[AR_FILL] * run->bytes / (run->bytes + values[AR_FILL_HALF])
                        : 0;
    switch (ar_choices[choice].algorithm) {
    case AR_CHOICE_RING:
        return ar_library_is_chain(run->call) ? chain_time(tuning, values, protocol, run)
                                              : ring_time(tuning, values, protocol, run) + fill_s;
    case AR_CHOICE_TREE:
        return tree_time(tuning, values, protocol, run) + fill_s;
    case AR_CHOICE_SEND:
        return send_time(tuning, values, protocol, run) + fill_s;
    case AR_CHOICE_NVLS:
    case AR_CHOICE_NVLS_TREE:
        return nvls_time(tuning, values, choice, run) + fill_s;
    default:
        return scaled_time(tuning, values, choice, run) + fill_s;
    }
}
