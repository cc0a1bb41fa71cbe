#include "ar_library.h"

#include <math.h>

#include "ar_gpu_generation.h"

const struct ar_choice_facts ar_choices[AR_CHOICES_COUNT] = {
#define X(symbol, algorithm, protocol, name) {AR_CHOICE_##algorithm, AR_PROTOCOL_##protocol, name},
    AR_CHOICE_LIST(X)
#undef X
};

const char *const ar_gpu_generation_names[] = {
#define X(symbol, word) word,
    AR_GPU_GENERATION_LIST(X)
#undef X
        NULL};

const char *const ar_cpu_vendor_names[] = {
    [AR_CPU_INTEL] = "intel", [AR_CPU_AMD] = "amd", [AR_CPU_OTHER] = "other", NULL};

struct ar_library_hops ar_library_ring_hops(const struct ar_library_run *run)
{
    const struct ar_library_call_facts *call = &ar_library_call_facts[run->call];
    double rounds = call->rounds;
    double net = rounds * (run->nodes - 1);
    double all = rounds * (run->ranks - 1);
    return (struct ar_library_hops){
        .node = all - net, .net = net, .parts = call->is_chain ? run->ranks : all};
}

struct ar_library_hops ar_library_tree_hops(const struct ar_library_run *run)
{
    return (struct ar_library_hops){.node = 2 * ((double)run->ranks / run->nodes - 1),
                                    .net = 2 * log2(run->nodes)};
}
