#include "ar_runnable.h"

#include <stdio.h>
#include <string.h>

#include "ar_text.h"

#define RELEASE(major, minor) (1000 * (major) + (minor))

/* Algorithms of libraries, each from a release on; those before its first one are not known. A row
 * stands for the pairs of an operation and an algorithm that there are. Sources. NCCL:
 * src/graph/tuning.cc and the release notes (trees 2.4; CollNet direct and chain 2.14, from two
 * nodes on, the default of NCCL_COLLNET_NODE_THRESHOLD in the user guide; NVLS 2.17,
 * between nodes, which is not told apart, and of other operations 2.18; PAT 2.23, whose steps are
 * those of Bruck's with one rank on each node). RCCL follows NCCL's code of its number and has
 * rings and trees. Open MPI: ompi/mca/coll/tuned/coll_tuned_OPERATION_decision.c; its linear
 * all-to-all is all messages at once, its pipeline our chain. MPICH: src/mpi/coll, the algorithms
 * of MPIR_CVAR_OPERATION_INTRA_ALGORITHM; its pairwise reduce-scatter sends the messages of a ring
 * to other ranks. Names of both beside ours: validate/data/called.csv. */
static const struct run {
    const char *libraries;
    uint32_t since;
    const char *operations, *algorithms;
    enum ar_spread spread_min;
} runs[] = {
    {"nccl rccl", RELEASE(2, 3), "allreduce reducescatter allgather broadcast reduce", "ring chain",
     AR_ONE_NODE},
    {"nccl rccl", RELEASE(2, 4), "allreduce", "tree", AR_ONE_NODE},
    {"nccl", RELEASE(2, 14), "allreduce", "collnet-direct", AR_NODES},
    {"nccl", RELEASE(2, 17), "allreduce", "in-network", AR_ONE_NODE},
    {"nccl", RELEASE(2, 18), "reducescatter allgather", "in-network", AR_ONE_NODE},
    {"nccl", RELEASE(2, 23), "reducescatter allgather", "bruck", AR_NODES_OF_ONE_RANK},
    {"openmpi mpich", RELEASE(4, 1), "allreduce", "recursive-doubling halving-doubling",
     AR_ONE_NODE},
    {"openmpi mpich", RELEASE(4, 1), "reducescatter", "ring recursive-halving", AR_ONE_NODE},
    {"openmpi mpich", RELEASE(4, 1), "allgather", "ring recursive-doubling bruck", AR_ONE_NODE},
    {"openmpi mpich", RELEASE(4, 1), "broadcast reduce gather scatter",
     "binomial scatter-allgather reducescatter-gather", AR_ONE_NODE},
    {"openmpi mpich", RELEASE(4, 1), "alltoall", "linear pairwise bruck", AR_ONE_NODE},
    {"openmpi", RELEASE(4, 1), "allreduce", "ring", AR_ONE_NODE},
    {"openmpi", RELEASE(4, 1), "allgather broadcast reduce gather scatter",
     "neighbour chain linear", AR_ONE_NODE},
};

enum { RUNS = sizeof runs / sizeof runs[0] };

enum ar_status ar_runner_parse(const char *where, const char *text, struct ar_runner *runner,
                               struct ar_error *err)
{
    char name[AR_WORD_SIZE];
    size_t size = strcspn(text, "-");
    const char *release = text + size;
    uint32_t major = 0, minor = 0, asked = UINT32_MAX;
    int end = 0;
    snprintf(name, sizeof name, "%.*s", (int)size, text);
    if (*release != '\0') {
        bool is_release = sscanf(release, "-%3u.%3u%n", &major, &minor, &end) == 2 &&
                          strspn(release + end, ".0123456789") == strlen(release + end);
        asked = is_release ? RELEASE(major, minor) : 0;
    }
    for (size_t i = 0; i < RUNS; i++) { /* the first row of a library has its first release */
        if (ar_text_has_word(runs[i].libraries, name) && asked >= runs[i].since) {
            *runner = (struct ar_runner){text, size, asked};
            return AR_OK;
        }
    }
    return ar_error_set(err, AR_USAGE,
                        "%s: found \"%.60s\"; expected nccl or rccl (from 2.3 on), openmpi or "
                        "mpich (from 4.1 on), such as nccl-2.23; without a release the newest",
                        where, text);
}

static bool is_run(const struct run *run, const struct ar_algorithm *algorithm,
                   enum ar_spread spread)
{
    return ar_text_has_word(run->operations, algorithm->operation->command) &&
           ar_text_has_word(run->algorithms, algorithm->name) && spread >= run->spread_min;
}

bool ar_runner_runs(const struct ar_runner *runner, const struct ar_algorithm *algorithm,
                    enum ar_spread spread)
{
    bool runs_it = runner->text == NULL || algorithm == NULL;
    for (size_t i = 0; i < RUNS && !runs_it; i++) {
        char name[AR_WORD_SIZE];
        snprintf(name, sizeof name, "%.*s", (int)runner->name_size, runner->text);
        runs_it = ar_text_has_word(runs[i].libraries, name) && runs[i].since <= runner->release &&
                  is_run(&runs[i], algorithm, spread);
    }
    return runs_it;
}

const char *ar_runners_format(const struct ar_algorithm *algorithm, enum ar_spread spread,
                              char text[AR_RUNNERS_TEXT])
{
    text[0] = '\0';
    for (size_t i = 0; i < RUNS && algorithm != NULL; i++) {
        AR_EACH_WORD(name, is_run(&runs[i], algorithm, spread) ? runs[i].libraries : "") {
            ar_append_text(text, AR_RUNNERS_TEXT, "%s%s-%u.%u", text[0] != '\0' ? " " : "", name,
                           runs[i].since / 1000, runs[i].since % 1000);
        }
    }
    return text;
}
