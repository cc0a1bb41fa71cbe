#include "ar_runnable.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ar_text.h"

#define RELEASE(major, minor) (1000 * (major) + (minor))

/* Releases before `first` are not in the table of runs. */
static const struct library {
    const char *name;
    uint32_t first;
} libraries[] = {{"nccl", RELEASE(2, 3)},
                 {"rccl", RELEASE(2, 4)},
                 {"openmpi", RELEASE(4, 1)},
                 {"mpich", RELEASE(4, 0)}};

enum { LIBRARIES = sizeof libraries / sizeof libraries[0] };

/* Sources. NCCL: src/graph/tuning.cc and the release notes (trees 2.4; CollNet direct and chain
 * 2.14; NVLS 2.17, between nodes, which is not told apart, and of other operations 2.18; PAT 2.23,
 * whose steps are those of Bruck's with one rank on each node). RCCL follows NCCL's code of its
 * number and has rings and trees. Open MPI: ompi/mca/coll/tuned/coll_tuned_OPERATION_decision.c;
 * its linear all-to-all is all messages at once, its pipeline our chain. MPICH: src/mpi/coll, the
 * algorithms of MPIR_CVAR_OPERATION_INTRA_ALGORITHM; its pairwise reduce-scatter sends the messages
 * of a ring to other ranks. Names of both beside ours: validate/data/called.csv. */
static const struct run {
    const char *library;
    uint32_t since;
    const char *operation, *algorithms;
    bool wants_one_per_node;
} runs[] = {
    {"nccl", RELEASE(2, 3), "allreduce reducescatter allgather", "ring", false},
    {"nccl", RELEASE(2, 3), "broadcast reduce", "chain", false},
    {"nccl", RELEASE(2, 4), "allreduce", "tree", false},
    {"nccl", RELEASE(2, 14), "allreduce", "collnet-direct", false},
    {"nccl", RELEASE(2, 17), "allreduce", "in-network", false},
    {"nccl", RELEASE(2, 18), "reducescatter allgather", "in-network", false},
    {"nccl", RELEASE(2, 23), "reducescatter allgather", "bruck", true},
    {"rccl", RELEASE(2, 4), "allreduce reducescatter allgather", "ring", false},
    {"rccl", RELEASE(2, 4), "broadcast reduce", "chain", false},
    {"rccl", RELEASE(2, 4), "allreduce", "tree", false},
    {"openmpi", RELEASE(4, 1), "allreduce", "ring recursive-doubling halving-doubling", false},
    {"openmpi", RELEASE(4, 1), "reducescatter", "ring recursive-halving", false},
    {"openmpi", RELEASE(4, 1), "allgather", "ring recursive-doubling bruck neighbour", false},
    {"openmpi", RELEASE(4, 1), "broadcast", "chain binomial scatter-allgather", false},
    {"openmpi", RELEASE(4, 1), "reduce", "chain binomial reducescatter-gather", false},
    {"openmpi", RELEASE(4, 1), "gather scatter", "linear binomial", false},
    {"openmpi", RELEASE(4, 1), "alltoall", "linear pairwise bruck", false},
    {"mpich", RELEASE(4, 0), "allreduce", "recursive-doubling halving-doubling", false},
    {"mpich", RELEASE(4, 0), "reducescatter", "ring recursive-halving", false},
    {"mpich", RELEASE(4, 0), "allgather", "ring recursive-doubling bruck", false},
    {"mpich", RELEASE(4, 0), "broadcast", "binomial scatter-allgather", false},
    {"mpich", RELEASE(4, 0), "reduce", "binomial reducescatter-gather", false},
    {"mpich", RELEASE(4, 0), "gather scatter", "binomial", false},
    {"mpich", RELEASE(4, 0), "alltoall", "linear pairwise bruck", false},
};

enum ar_status ar_runner_parse(const char *where, const char *text, struct ar_runner *runner,
                               struct ar_error *err)
{
    const char *dash = strchr(text, '-');
    size_t size = dash != NULL ? (size_t)(dash - text) : strlen(text);
    uint32_t major = 0, minor = 0;
    int end = 0;
    for (size_t i = 0; i < LIBRARIES; i++) {
        const struct library *library = &libraries[i];
        if (strlen(library->name) != size || strncmp(library->name, text, size) != 0) {
            continue;
        }
        if (dash != NULL && (sscanf(dash, "-%3u.%3u%n", &major, &minor, &end) != 2 ||
                             strspn(dash + end, ".0123456789") != strlen(dash + end))) {
            break;
        }
        uint32_t release = dash != NULL ? RELEASE(major, minor) : UINT32_MAX;
        if (release < library->first) {
            return ar_error_set(err, AR_USAGE, "%s: found %.60s; expected %s-%u.%u or later", where,
                                text, library->name, library->first / 1000, library->first % 1000);
        }
        *runner = (struct ar_runner){.library = library->name, .text = text, .release = release};
        return AR_OK;
    }
    return ar_error_set(err, AR_USAGE,
                        "%s: found \"%.60s\"; expected nccl, rccl, openmpi or mpich, with a "
                        "release such as nccl-2.23, or without it for the newest",
                        where, text);
}

static bool is_run(const struct run *run, const struct ar_algorithm *algorithm,
                   bool is_one_per_node)
{
    return ar_text_has_word(run->operation, algorithm->operation->command) &&
           ar_text_has_word(run->algorithms, algorithm->name) &&
           (is_one_per_node || !run->wants_one_per_node);
}

bool ar_runner_runs(const struct ar_runner *runner, const struct ar_algorithm *algorithm,
                    bool is_one_per_node)
{
    bool runs_it = runner->library == NULL || algorithm == NULL;
    for (size_t i = 0; i < sizeof runs / sizeof runs[0] && !runs_it; i++) {
        runs_it = strcmp(runs[i].library, runner->library) == 0 &&
                  runs[i].since <= runner->release && is_run(&runs[i], algorithm, is_one_per_node);
    }
    return runs_it;
}

const char *ar_runners_format(const struct ar_algorithm *algorithm, bool is_one_per_node,
                              char text[AR_RUNNERS_TEXT])
{
    size_t used = 0;
    text[0] = '\0';
    for (size_t i = 0; algorithm != NULL && i < sizeof runs / sizeof runs[0]; i++) {
        if (is_run(&runs[i], algorithm, is_one_per_node) && used < AR_RUNNERS_TEXT) {
            used += (size_t)snprintf(text + used, AR_RUNNERS_TEXT - used, "%s%s-%u.%u",
                                     used > 0 ? " " : "", runs[i].library, runs[i].since / 1000,
                                     runs[i].since % 1000);
        }
    }
    return text;
}
