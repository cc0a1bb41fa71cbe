#include "ports.h"

static bool same_port(struct port a, struct port b)
{
    return a.channel == b.channel && a.peer == b.peer && a.sends == b.sends;
}

uint32_t ports_find(const struct ports *ports, struct port port)
{
    uint32_t i = 0;
    while (i < ports->count && !same_port(ports->ports[i], port)) {
        i++;
    }
    return i;
}

static enum ar_status add_port(struct port port, struct ar_arena *arena, struct ports *ports,
                               struct ar_error *err)
{
    uint32_t count = ports->count;
    if (ports_find(ports, port) < count) {
        return AR_OK;
    }
    if ((count & (count - 1)) == 0) { /* full at none and at powers of two */
        struct port *larger = ar_arena_alloc(arena, 2 * count + 1, sizeof *larger);
        AR_NEED(larger, err, "the ports of a rank");
        for (uint32_t i = 0; i < count; i++) {
            larger[i] = ports->ports[i];
        }
        ports->ports = larger;
    }
    ports->ports[ports->count++] = port;
    return AR_OK;
}

static enum ar_status add_ports(const struct measurement *measurement, uint32_t channel,
                                uint32_t position, struct ar_arena *arena, struct ports *ports,
                                struct ar_error *err)
{
    const struct ar_algorithm *algorithm = measurement->algorithm;
    struct ar_order order = measurement_order(measurement);
    uint32_t steps = ar_algorithm_steps(algorithm, &measurement->shape);
    uint64_t elements = measurement_part(measurement, channel).count;
    for (uint32_t step = 0; step < steps; step++) {
        struct ar_move move =
            ar_algorithm_move(algorithm, &measurement->shape, elements, position, step);
        if (move.sends) {
            struct port port = {channel, ar_order_rank(&order, channel, move.send_to), true};
            AR_TRY(add_port(port, arena, ports, err));
        }
        if (move.receive != AR_RECEIVE_NONE) {
            struct port port = {channel, ar_order_rank(&order, channel, move.receive_from), false};
            AR_TRY(add_port(port, arena, ports, err));
        }
    }
    return AR_OK;
}

enum ar_status ports_create(const struct measurement *measurement, uint32_t rank,
                            struct ar_arena *arena, struct ports *ports, struct ar_error *err)
{
    struct ar_order order = measurement_order(measurement);
    *ports = (struct ports){.ports = NULL, .count = 0};
    if (measurement->probe != PROBE_NONE) {
        bool is_from = rank == measurement->from;
        uint32_t peer = is_from ? measurement->to : measurement->from;
        if (probe_is_of_link(measurement->probe) && (is_from || rank == measurement->to)) {
            AR_TRY(add_port((struct port){0, peer, true}, arena, ports, err));
            AR_TRY(add_port((struct port){0, peer, false}, arena, ports, err));
        }
        return AR_OK;
    }
    for (uint32_t channel = 0; channel < measurement->channels; channel++) {
        uint32_t position = ar_order_position(&order, channel, rank);
        AR_TRY(add_ports(measurement, channel, position, arena, ports, err));
    }
    return AR_OK;
}

enum ar_status ports_create_all(const struct measurement *measurement, struct ar_arena *arena,
                                struct ports **ports, struct ar_error *err)
{
    *ports = ar_arena_alloc(arena, measurement->ranks, sizeof **ports);
    AR_NEED(*ports, err, "the ports of all ranks");
    for (uint32_t rank = 0; rank < measurement->ranks; rank++) {
        AR_TRY(ports_create(measurement, rank, arena, &(*ports)[rank], err));
    }
    return AR_OK;
}

uint32_t ports_other_end(const struct ports *ports, uint32_t rank, uint32_t index)
{
    struct port port = ports[rank].ports[index];
    struct port other = {.channel = port.channel, .peer = rank, .sends = !port.sends};
    return ports_find(&ports[port.peer], other);
}
