/** \file pool_socket.h
 * Processes of a pool and the sockets that join them: items go one way, answers the other.
 */
#ifndef AR_POOL_SOCKET_H
#define AR_POOL_SOCKET_H

#include "ar_pool.h"

/** Items for a worker, in order; sent without those that are not there. */
struct request {
    uint32_t count;
    uint32_t items[AR_POOL_CHUNK_MAX];
};

/** Forks a process that is killed with this one; 0 in it, -1 on failure. */
pid_t socket_fork(int *end, struct ar_error *err);

/** Waits for the end of a process; returns what waitpid() says. */
int socket_reap(pid_t process);

/** Each is false if the other side is gone. */
bool socket_send_request(int end, const struct request *request);
bool socket_receive_request(int end, struct request *request);
bool socket_send_answer(int end, const struct ar_pool_answer *answer);
bool socket_receive_answer(int end, struct ar_pool_answer *answer);

#endif
