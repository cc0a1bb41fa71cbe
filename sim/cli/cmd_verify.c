/* verify: a proof by execution that the algorithms are right. */
#include <inttypes.h>
#include <stdio.h>

#include "ar_verify.h"
#include "commands.h"
#include "lists.h"

enum { RANKS_MAX = 256 }; /* cost grows with the cube of the ranks */

/* Those of the algorithms that are of an operation. */
static enum ar_status verify(const struct ar_operation *operation,
                             const struct ar_algorithm *const *algorithms, size_t count,
                             const uint64_t *ranks, size_t ranks_count, struct ar_error *err)
{
    for (size_t i = 0; i < count; i++) {
        uint64_t cases = 0;
        if (algorithms[i]->operation != operation) {
            continue;
        }
        for (size_t j = 0; j < ranks_count; j++) {
            AR_TRY(ar_verify_ranks(algorithms[i], (uint32_t)ranks[j], &cases, err));
        }
        printf("%-14s %-20s %6" PRIu64 " cases, each contribution exactly once\n", operation->name,
               algorithms[i]->name, cases);
    }
    return AR_OK;
}

enum ar_status command_verify(const struct options *options, struct ar_error *err)
{
    const struct ar_operation **operations;
    const struct ar_algorithm **algorithms;
    uint64_t *ranks;
    size_t operations_count, algorithms_count, ranks_count;
    AR_TRY(list_operations(options->arena, "--operation", options->operation, &operations,
                           &operations_count, err));
    AR_TRY(list_algorithms(options->arena, "--algorithms",
                           operations_count == 1 ? operations[0] : NULL, options->algorithms, false,
                           &algorithms, &algorithms_count, err));
    AR_TRY(list_counts(options->arena, "--gpus", options->gpus_list, RANKS_MAX, &ranks,
                       &ranks_count, err));
    for (size_t i = 0; i < operations_count; i++) {
        AR_TRY(verify(operations[i], algorithms, algorithms_count, ranks, ranks_count, err));
    }
    puts("cases of shape and number of elements; contributions where the operation wants them");
    return AR_OK;
}
