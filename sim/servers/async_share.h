/** \file async_share.h
 * Max-min fair rates of transfers that have many messages each.
 *
 * A transfer is what a worker exchanges with all shards at once; its messages advance together, so
 * that it takes of each link the part of its bytes that cross it. With rates x and parts c,
 * sum(c x) <= bandwidth on every link, and no transfer can have more without taking from one that
 * has less or as much. Links that take the same parts of the same transfers are one, and links that
 * can never be full because others would be before them are left out.
 */
#ifndef AR_ASYNC_SHARE_H
#define AR_ASYNC_SHARE_H

#include "async_plan.h"

/** Transfers of a worker. */
enum { ASYNC_PUSH, ASYNC_PULL, ASYNC_WAYS };

/** What a transfer takes of a link, or a link gives to a transfer. */
struct async_use {
    uint32_t other;    /**< link of a transfer, transfer of a link */
    double s_per_byte; /**< seconds of the whole link for each byte of the transfer */
};

struct async_share {
    uint32_t transfers_count; /**< worker * ASYNC_WAYS + way */
    uint32_t links_count;
    struct async_use *of_links, *of_transfers;
    uint32_t *link_begin, *transfer_begin; /**< and the end */
    double *latency_s;                     /**< [transfer][slice] */
    double *bytes; /**< [transfer][slice]: with what the gaps of messages stand for */
    /* While rates are found: */
    double *left, *load; /* [link]: part not given away; s_per_byte of those that wait */
    uint32_t *waiting;   /* [link]: transfers without a rate */
    uint32_t *busy;      /* links in use */
    double *rate_Bps;    /**< [transfer]: result; 0 of one that is not active */
    uint64_t messages;   /**< of an exchange of one slice, all workers */
};

enum ar_status async_share_make(const struct ar_async *run, const struct async_plan *plan,
                                struct ar_arena *arena, struct async_share *share,
                                struct ar_error *err);

/** Writes rate_Bps of the transfers that are listed; infinite for one that crosses no link. */
void async_share_rates(struct async_share *share, const uint32_t *active, uint32_t active_count);

#endif
