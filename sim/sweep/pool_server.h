/** \file pool_server.h
 * A pool in a process of its own, for a rank whose process talks MPI.
 */
#ifndef AR_POOL_SERVER_H
#define AR_POOL_SERVER_H

#include "pool.h"

struct pool_server {
    pid_t process;
    int end; /**< socket: requests go in, answers come out */
};

/** Forks the server. It ends with this process, when `end` is closed, or by SIGTERM. */
enum ar_status pool_server_start(struct space *space, uint32_t jobs, struct pool_server *server,
                                 struct ar_error *err);

/** Ends it with its workers. */
void pool_server_stop(struct pool_server *server);

#endif
