#include "pool_socket.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/* Writes all bytes, reads exactly so many; false if the other side is gone. */
static bool send_all(int end, const void *bytes, size_t size)
{
    const char *at = bytes;
    while (size > 0) {
        ssize_t count = send(end, at, size, MSG_NOSIGNAL);
        if (count < 0 && errno != EINTR) {
            return false;
        }
        at += count > 0 ? count : 0;
        size -= count > 0 ? (size_t)count : 0;
    }
    return true;
}

static bool receive_all(int end, void *bytes, size_t size)
{
    char *at = bytes;
    while (size > 0) {
        ssize_t count = read(end, at, size);
        if (count == 0 || (count < 0 && errno != EINTR)) {
            return false;
        }
        at += count > 0 ? count : 0;
        size -= count > 0 ? (size_t)count : 0;
    }
    return true;
}

bool socket_send_request(int end, const struct request *request)
{
    return send_all(end, request, (1 + request->count) * sizeof request->items[0]);
}

bool socket_receive_request(int end, struct request *request)
{
    return receive_all(end, &request->count, sizeof request->count) &&
           receive_all(end, request->items, request->count * sizeof request->items[0]);
}

bool socket_send_answer(int end, const struct ar_pool_answer *answer)
{
    return send_all(end, answer, sizeof *answer + answer->bytes_count);
}

bool socket_receive_answer(int end, struct ar_pool_answer *answer)
{
    return receive_all(end, answer, sizeof *answer) &&
           receive_all(end, answer->bytes, answer->bytes_count);
}

pid_t socket_fork(int *end, struct ar_error *err)
{
    int ends[2];
    pid_t parent = getpid();
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
        (void)ar_error_set(err, AR_NO_MEMORY, "cannot open a pipe to a worker: %s",
                           strerror(errno));
        return -1;
    }
    fflush(NULL); /* nothing is to be printed twice */
    pid_t process = fork();
    if (process < 0) {
        (void)ar_error_set(err, AR_NO_MEMORY, "cannot fork a worker: %s", strerror(errno));
        close(ends[0]);
    } else if (process == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != parent) {
            _exit(1); /* it died before it could be asked to take this process along */
        }
        close(ends[0]);
        *end = ends[1];
        return 0;
    }
    close(ends[1]);
    *end = ends[0];
    return process;
}

int socket_reap(pid_t process)
{
    int wait_status = 0;
    while (waitpid(process, &wait_status, 0) < 0 && errno == EINTR) {
    }
    return wait_status;
}
