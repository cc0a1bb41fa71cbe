#include "pool_server.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sweep.h"

/* Adds the points of a request, if one is there; false at the end. */
static bool take_request(struct pool *pool, int end)
{
    struct request request;
    struct pollfd asked = {.fd = end, .events = POLLIN};
    if (poll(&asked, 1, 0) <= 0) {
        return true;
    }
    if (!answer_receive(end, &request.count, sizeof request.count) ||
        !answer_receive(end, request.points, request.count * sizeof request.points[0])) {
        return false;
    }
    pool_add(pool, request.points, request.count);
    return true;
}

static bool send_answers(struct pool *pool, int end)
{
    struct answer answer;
    while (pool_take(pool, &answer)) {
        if (!answer_send(end, &answer, ANSWER_HEAD + answer.length)) {
            return false;
        }
    }
    return true;
}

/* Never returns. */
static void serve(struct space *space, uint32_t jobs, int end, pid_t parent)
{
    struct pool *pool = NULL;
    struct signals before;
    struct ar_error err;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) {
        _exit(1);
    }
    signals_hold(sweep_interrupt, &before);
    bool is_running = pool_create(space, jobs, &before, &pool, &err) == AR_OK;
    while (is_running && !sweep_is_interrupted()) {
        is_running = pool_wait(pool, end, &err) == AR_OK && send_answers(pool, end) &&
                     take_request(pool, end);
    }
    pool_destroy(pool);
    _exit(is_running ? 0 : 1);
}

enum ar_status pool_server_start(struct space *space, uint32_t jobs, struct pool_server *server,
                                 struct ar_error *err)
{
    int ends[2];
    pid_t parent = getpid();
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
        return ar_error_set(err, AR_NO_MEMORY, "cannot open a pipe to the workers: %s",
                            strerror(errno));
    }
    pid_t process = fork();
    if (process == 0) {
        close(ends[0]);
        serve(space, jobs, ends[1], parent);
    }
    close(ends[1]);
    if (process < 0) {
        close(ends[0]);
        return ar_error_set(err, AR_NO_MEMORY, "cannot fork a worker: %s", strerror(errno));
    }
    *server = (struct pool_server){.process = process, .end = ends[0]};
    return AR_OK;
}

void pool_server_stop(struct pool_server *server)
{
    if (server->process > 0) {
        close(server->end); /* it kills its workers and ends */
        while (waitpid(server->process, NULL, 0) < 0 && errno == EINTR) {
        }
        server->process = 0;
    }
}
