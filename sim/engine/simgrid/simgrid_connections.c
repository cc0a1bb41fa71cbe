#include "simgrid_connections.h"

#include <assert.h>

#include <simgrid/actor.h>
#include <simgrid/engine.h>

#include "simgrid_wait.h"

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

static struct flight *flight_at(const struct flights *flights, uint32_t index)
{
    uint32_t place = flights->first + index;
    return &flights->ring[place < flights->capacity ? place : place - flights->capacity];
}

static void leave(struct flight *flight)
{
    if (flight->comm != NULL) {
        flight->left_s = simgrid_wait(flight->comm);
        flight->comm = NULL;
    }
}

static void sleep_until(double time_s)
{
    if (simgrid_get_clock() < time_s) {
        sg_actor_sleep_until(time_s);
    }
}

void flight_await(sg_comm_t comm, double latency_s)
{
    sleep_until(simgrid_wait(comm) + latency_s);
}

static void land(struct flights *flights, uint32_t index)
{
    struct flight *flight = flight_at(flights, index);
    leave(flight);
    sleep_until(flight->left_s + flight->latency_s);
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

void flights_await_left(struct flights *flights, uint32_t peer)
{
    for (uint32_t i = flights->count; i-- > 0;) {
        if (flight_at(flights, i)->peer == peer) {
            leave(flight_at(flights, i));
            return;
        }
    }
}

void flights_add(struct flights *flights, struct flight flight)
{
    assert(flights->count < flights->capacity);
    *flight_at(flights, flights->count++) = flight;
}
