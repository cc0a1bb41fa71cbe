/* A program without MPI under a launcher. */

#include "test_cli.h"

TestSuite(ranks_none, .init = cli_enter, .fini = cli_leave);

#define SWEEP "$AR sweep --cluster flat --trace trace.csv --gpus 4 --engine closed --format csv"

Test(ranks_none, a_sweep_on_several_ranks_is_refused_once)
{
    static const char *const launchers[] = {
        "OMPI_COMM_WORLD_SIZE=3 OMPI_COMM_WORLD_RANK=", "PMI_SIZE=3 PMI_RANK=",
        "SLURM_STEP_NUM_TASKS=3 SLURM_PROCID="};
    for (size_t i = 0; i < sizeof launchers / sizeof launchers[0]; i++) {
        struct cli_run run = cli_run("env %s0 " SWEEP, launchers[i]);
        cli_expect_error(&run, launchers[i], 64, "found 3 ranks of a launcher, but this");
        run = cli_run("env %s2 " SWEEP, launchers[i]);
        cr_expect_eq(run.code, 64);
        cr_expect_str_empty(run.out);
        cr_expect_str_empty(run.err);
    }
}

Test(ranks_none, one_rank_is_a_process_like_any_other)
{
    cr_expect_gt(cli_table(cli_good("env PMI_SIZE=1 PMI_RANK=0 " SWEEP).out)->rows_count, 1);
}
