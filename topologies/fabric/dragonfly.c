#include "dragonfly.h"

/* Spines that leaves tell apart. */
static uint32_t spine_links(const struct ar_dragonfly *dragonfly)
{
    return dragonfly->is_bundled ? 1 : dragonfly->spines;
}

static uint32_t global_links(const struct ar_dragonfly *dragonfly)
{
    return dragonfly->is_bundled ? 1 : dragonfly->global_links;
}

static uint32_t links_of_group(const struct ar_dragonfly *dragonfly)
{
    uint32_t routers = dragonfly->routers;
    return dragonfly->spines > 0 ? 2 * routers * spine_links(dragonfly) : routers * (routers - 1);
}

uint64_t ar_dragonfly_links(const struct ar_dragonfly *dragonfly)
{
    uint64_t groups = dragonfly->groups;
    uint64_t routers = dragonfly->routers;
    uint64_t in_group =
        dragonfly->spines > 0 ? 2 * routers * spine_links(dragonfly) : routers * (routers - 1);
    return groups * in_group + groups * (groups - 1) * global_links(dragonfly);
}

struct ar_dragonfly_link ar_dragonfly_link_at(const struct ar_dragonfly *dragonfly, uint32_t index)
{
    uint32_t in_group = links_of_group(dragonfly);
    uint32_t first_global = dragonfly->groups * in_group;
    if (index >= first_global) {
        uint32_t cables = global_links(dragonfly);
        uint32_t pair = (index - first_global) / cables;
        uint32_t group = pair / (dragonfly->groups - 1);
        uint32_t peer = pair % (dragonfly->groups - 1);
        return (struct ar_dragonfly_link){AR_DRAGONFLY_GLOBAL, group, peer + (peer >= group),
                                          (index - first_global) % cables};
    }
    uint32_t group = index / in_group;
    uint32_t local = index % in_group;
    if (dragonfly->spines > 0) {
        uint32_t spines = spine_links(dragonfly);
        return (struct ar_dragonfly_link){local % 2 == 0 ? AR_DRAGONFLY_UP : AR_DRAGONFLY_DOWN,
                                          group, local / 2 / spines, local / 2 % spines};
    }
    uint32_t a = local / (dragonfly->routers - 1);
    uint32_t b = local % (dragonfly->routers - 1);
    return (struct ar_dragonfly_link){AR_DRAGONFLY_LOCAL, group, a, b + (b >= a)};
}

uint32_t ar_dragonfly_index(const struct ar_dragonfly *dragonfly, struct ar_dragonfly_link link)
{
    uint32_t in_group = links_of_group(dragonfly);
    uint32_t first = link.group * in_group;
    switch (link.kind) {
    case AR_DRAGONFLY_LOCAL:
        return first + link.a * (dragonfly->routers - 1) + link.b - (link.b > link.a);
    case AR_DRAGONFLY_UP:
        return first + 2 * (link.a * spine_links(dragonfly) + link.b);
    case AR_DRAGONFLY_DOWN:
        return first + 2 * (link.a * spine_links(dragonfly) + link.b) + 1;
    case AR_DRAGONFLY_GLOBAL:
        break;
    }
    uint32_t pair = link.group * (dragonfly->groups - 1) + link.a - (link.a > link.group);
    return dragonfly->groups * in_group + pair * global_links(dragonfly) + link.b;
}

uint32_t ar_dragonfly_width(const struct ar_dragonfly *dragonfly, enum ar_dragonfly_kind kind)
{
    if (!dragonfly->is_bundled || kind == AR_DRAGONFLY_LOCAL) {
        return 1;
    }
    return kind == AR_DRAGONFLY_GLOBAL ? dragonfly->global_links : dragonfly->spines;
}

uint32_t ar_dragonfly_gateway(const struct ar_dragonfly *dragonfly, uint32_t group, uint32_t peer,
                              uint32_t cable)
{
    uint64_t peers = dragonfly->groups - 1;
    uint32_t switches = dragonfly->spines > 0 ? dragonfly->spines : dragonfly->routers;
    uint64_t each = (dragonfly->global_links * peers + switches - 1) / switches;
    uint32_t down = (group + dragonfly->groups - peer - 1) % dragonfly->groups;
    uint32_t number = dragonfly->is_palmtree ? down : peer - (peer > group);
    return (uint32_t)((cable * peers + number) / each);
}

uint32_t ar_dragonfly_ways(const struct ar_dragonfly *dragonfly, uint32_t source,
                           uint32_t destination)
{
    if (source / dragonfly->routers != destination / dragonfly->routers) {
        return dragonfly->global_links;
    }
    return dragonfly->spines > 0 ? dragonfly->spines : 1;
}

/* From a router to the router (spine) `b`; or back. */
static uint32_t add_local(const struct ar_dragonfly *dragonfly, bool is_back,
                          struct ar_dragonfly_link link, uint32_t count, uint32_t *links)
{
    if (dragonfly->spines > 0) {
        link.kind = is_back ? AR_DRAGONFLY_DOWN : AR_DRAGONFLY_UP;
        link.b = dragonfly->is_bundled ? 0 : link.b;
    } else if (link.a == link.b) {
        return count;
    } else if (is_back) {
        link = (struct ar_dragonfly_link){AR_DRAGONFLY_LOCAL, link.group, link.b, link.a};
    }
    links[count] = ar_dragonfly_index(dragonfly, link);
    return count + 1;
}

uint32_t ar_dragonfly_route(const struct ar_dragonfly *dragonfly, uint32_t source,
                            uint32_t destination, uint32_t way,
                            uint32_t links[AR_DRAGONFLY_ROUTE_MAX])
{
    uint32_t from = source / dragonfly->routers;
    uint32_t to = destination / dragonfly->routers;
    uint32_t a = source % dragonfly->routers;
    uint32_t b = destination % dragonfly->routers;
    if (source == destination) {
        return 0;
    }
    if (from == to) {
        uint32_t middle = dragonfly->spines > 0 ? way : b;
        struct ar_dragonfly_link up = {AR_DRAGONFLY_LOCAL, from, a, middle};
        uint32_t count = add_local(dragonfly, false, up, 0, links);
        struct ar_dragonfly_link down = {AR_DRAGONFLY_LOCAL, from, b, middle};
        return add_local(dragonfly, true, down, count, links);
    }
    struct ar_dragonfly_link out = {AR_DRAGONFLY_LOCAL, from, a,
                                    ar_dragonfly_gateway(dragonfly, from, to, way)};
    struct ar_dragonfly_link in = {AR_DRAGONFLY_LOCAL, to, b,
                                   ar_dragonfly_gateway(dragonfly, to, from, way)};
    struct ar_dragonfly_link global = {AR_DRAGONFLY_GLOBAL, from, to,
                                       dragonfly->is_bundled ? 0 : way};
    uint32_t count = add_local(dragonfly, false, out, 0, links);
    links[count++] = ar_dragonfly_index(dragonfly, global);
    return add_local(dragonfly, true, in, count, links);
}
