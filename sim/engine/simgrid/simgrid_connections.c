#include "simgrid_connections.h"

#include <assert.h>

struct link_end *link_ends_find(struct link_ends *ends, uint32_t peer, bool *is_new)
{
    *is_new = false;
    for (uint32_t i = 0; i < ends->count; i++, ends->last = (ends->last + 1) % ends->count) {
        if (ends->ends[ends->last].peer == peer) {
            return &ends->ends[ends->last];
        }
    }
    *is_new = true;
    assert(ends->count <= AR_PERIOD_MAX);
    ends->last = ends->count++;
    return &ends->ends[ends->last];
}

void link_ends_keep_last(struct link_ends *ends)
{
    if (ends->count > 1) {
        ends->ends[0] = ends->ends[ends->last];
        ends->count = 1;
        ends->last = 0;
    }
}

uint32_t link_end_fill(const struct link_end *end, uint64_t bytes, uint32_t max)
{
    double leaving_s = (double)bytes / end->bandwidth_Bps;
    if (end->latency_s >= leaving_s * (max - 1)) {
        return max;
    }
    uint32_t fill = (uint32_t)(end->latency_s / leaving_s) + 2;
    return fill < max ? fill : max;
}

static struct flight *flight_at(const struct flights *flights, uint32_t index)
{
    uint32_t place = flights->first + index;
    return &flights->ring[place < flights->capacity ? place : place - flights->capacity];
}

static void land(struct flights *flights, uint32_t index)
{
    sg_comm_wait(flight_at(flights, index)->comm);
    for (uint32_t i = index; i > 0; i--) {
        *flight_at(flights, i) = *flight_at(flights, i - 1);
    }
    flights->first = flights->first + 1 < flights->capacity ? flights->first + 1 : 0;
    flights->count--;
}

void flights_land(struct flights *flights)
{
    land(flights, 0);
}

void flights_await(struct flights *flights, uint32_t max)
{
    while (flights->count >= max) {
        land(flights, 0);
    }
}

void flights_await_peer(struct flights *flights, uint32_t peer, uint32_t max)
{
    uint32_t to_peer = 0;
    for (uint32_t i = 0; i < flights->count; i++) {
        to_peer += flight_at(flights, i)->peer == peer;
    }
    for (uint32_t i = 0; to_peer >= max;) {
        if (flight_at(flights, i)->peer == peer) {
            land(flights, i);
            to_peer--;
        } else {
            i++;
        }
    }
}

void flights_add(struct flights *flights, struct flight flight)
{
    assert(flights->count < flights->capacity);
    *flight_at(flights, flights->count++) = flight;
}
