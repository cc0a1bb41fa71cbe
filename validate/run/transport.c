#include "transport.h"

uint32_t ports_find(const struct ports *ports, struct port port)
{
    uint32_t i = 0;
    while (i < ports->count &&
           !(ports->ports[i].channel == port.channel && ports->ports[i].peer == port.peer &&
             ports->ports[i].sends == port.sends)) {
        i++;
    }
    return i;
}

static void add_port(struct port port, struct ar_arena *arena, struct ports *ports)
{
    if (ports_find(ports, port) == ports->count) {
        *AR_ARENA_ADD(arena, ports->ports, ports->count) = port;
    }
}

struct ports ports_create(const struct measurement *measurement, uint32_t rank,
                          struct ar_arena *arena)
{
    struct ar_order order = measurement_order(measurement);
    struct ports ports = {.ports = NULL, .count = 0};
    if (measurement->probe != PROBE_NONE) {
        bool is_from = rank == measurement->from;
        uint32_t peer = is_from ? measurement->to : measurement->from;
        if (probe_is_of_link(measurement->probe) && (is_from || rank == measurement->to)) {
            add_port((struct port){0, peer, true}, arena, &ports);
            add_port((struct port){0, peer, false}, arena, &ports);
        }
        return ports;
    }
    for (uint32_t channel = 0; channel < measurement->channels; channel++) {
        uint32_t position = ar_order_position(&order, channel, rank);
        const struct ar_algorithm *algorithm = measurement->algorithm;
        uint32_t steps = ar_algorithm_steps(algorithm, &measurement->shape);
        uint64_t elements = measurement_part(measurement, channel).count;
        for (uint32_t step = 0; step < steps; step++) {
            struct ar_move move =
                ar_algorithm_move(algorithm, &measurement->shape, elements, position, step);
            if (move.sends) {
                uint32_t peer = ar_order_rank(&order, channel, move.send_to);
                add_port((struct port){channel, peer, true}, arena, &ports);
            }
            if (move.receive != AR_RECEIVE_NONE) {
                uint32_t peer = ar_order_rank(&order, channel, move.receive_from);
                add_port((struct port){channel, peer, false}, arena, &ports);
            }
        }
    }
    return ports;
}

struct ports *ports_create_all(const struct measurement *measurement, struct ar_arena *arena)
{
    struct ports *ports = ar_arena_alloc(arena, measurement->ranks, sizeof *ports);
    for (uint32_t rank = 0; rank < measurement->ranks; rank++) {
        ports[rank] = ports_create(measurement, rank, arena);
    }
    return ports;
}
