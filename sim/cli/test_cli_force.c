/* Output that is there already: of the same command, of another one, of nobody knows whom. */
#include <criterion/criterion.h>
#include <string.h>
#include <unistd.h>

#include "test_cli.h"

TestSuite(cli_force, .init = cli_enter_measured, .fini = cli_leave);

#define CALIBRATE "calibrate " CLI_MEASURED " --cluster abci-v100 "

#define SWEEP "$AR sweep --cluster cluster.topo --trace resnet50-v1.5 --engine closed --gpus "

Test(cli_force, a_second_sweep_replaces_the_first_with_all_its_files_if_it_is_to)
{
    cli_good(SWEEP "4,8 --payload 1MB,2MB --out o");
    cr_expect_eq(access("o/payload.csv", F_OK), 0);
    const char *before = cli_read("o/sweep.csv");
    cli_fails(64,
              "o/command.txt: found the output of another command; expected --force to overwrite "
              "it, or another --out",
              SWEEP "4 --quiet --out o");
    cr_expect_str_eq(cli_read("o/sweep.csv"), before);
    cli_good(SWEEP "4 --out o --force");
    cr_expect_neq(access("o/payload.csv", F_OK), 0, "plot would draw it");
    cr_expect_lt(strlen(cli_read("o/sweep.csv")), strlen(before));
    cli_good("$AR sweep --cluster dgx-a100 --workload mpt-7b --gpus 8 --mesh all --global-batch 16 "
             "--out o --force");
    cr_expect_neq(access("o/sweep.csv", F_OK), 0, "report would show both");
    cli_good(SWEEP "4 --out o --force");
    cr_expect_neq(access("o/layouts.csv", F_OK), 0, "plot would draw it");
}

Test(cli_force, a_complete_sweep_is_not_computed_again)
{
    cli_good(SWEEP "4,8,16 --out o");
    const char *before = cli_read("o/sweep.csv");
    struct cli_run run = cli_good(SWEEP "4:16:x2 --out o --resume");
    cr_expect_eq(cli_lines_with(run.err, "o: complete, "), 1, "%s", run.err);
    cr_expect_str_empty(run.out);
    cr_expect_str_eq(cli_read("o/sweep.csv"), before, "with the same wall_s");
    cr_expect_neq(access("o/sweep.journal", F_OK), 0);
    static const char *const damages[] = {"truncate -s -3", "truncate -s 0", "echo junk >",
                                          "sed -i 2d"};
    for (size_t i = 0; i < sizeof damages / sizeof damages[0]; i++) {
        cli_good("%s o/sweep.csv", damages[i]);
        run = cli_good(SWEEP "4:16:x2 --out o --resume");
        cr_expect_eq(cli_lines_with(run.err, "o: complete, "), 0, "%s: %s", damages[i], run.err);
        cr_expect_eq(cli_table(cli_read("o/sweep.csv"))->rows_count, cli_table(before)->rows_count,
                     "%s", damages[i]);
    }
}

Test(cli_force, a_sweep_of_a_changed_cluster_is_not_complete)
{
    cli_good(SWEEP "4,8 --out o");
    const char *before = cli_read("o/sweep.csv");
    cli_good("sed -i 's/^net.latency *= 9.6us/net.latency = 90us/' cluster.topo");
    struct cli_run run = cli_good(SWEEP "4,8 --out o --resume");
    cr_expect_eq(cli_lines_with(run.err, "note: 0 of "), 1, "%s", run.err);
    cr_expect_str_neq(cli_read("o/sweep.csv"), before);
}

Test(cli_force, force_begins_a_stopped_sweep_anew)
{
    cli_run("trap '' XFSZ; (ulimit -f 8; " SWEEP "8:64:x2 --out o --quiet 2>/dev/null)");
    cr_expect_eq(access("o/sweep.journal", F_OK), 0);
    cli_good(SWEEP "4 --out o --force");
    cr_expect_neq(access("o/sweep.journal", F_OK), 0);
}

/* A command, the same one written otherwise, another one. */
Test(cli_force, only_the_same_command_overwrites)
{
    static const struct {
        const char *first;
        const char *same;
        const char *other;
    } rows[] = {
        {"train example --out t", "train --out ./t --format csv --quiet example",
         "train example --gpus 64 --out t"},
        {"export --format simgrid-xml --cluster flat --gpus 4 --out x",
         "export --gpus 4 --cluster flat --format simgrid-xml --out x --quiet",
         "export --format simgrid-xml --cluster flat --gpus 8 --out x"},
        {"export --format chrome-trace --cluster flat --gpus 4 --algorithm ring --trace trace.csv "
         "--out j",
         "export --format chrome-trace --cluster flat --gpus 4 --algorithm ring --trace trace.csv "
         "--out j",
         "export --format chrome-trace --cluster flat --gpus 8 --algorithm ring --trace trace.csv "
         "--out j"},
        {"sweep --cluster flat --trace trace.csv --gpus 2 --out s",
         "sweep --cluster flat --trace trace.csv --gpus 2 --out s --jobs 1 --best",
         "train example --out s"},
        {CALIBRATE "--out c.topo", "calibrate --out c.topo --quiet abci.csv --cluster abci-v100",
         CALIBRATE "--hold-out none --out c.topo"},
        {CALIBRATE "--out d.topo", CALIBRATE "--out d.topo --format json",
         "export --format simgrid-xml --cluster flat --gpus 4 --out d.topo"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        cli_good("$AR %s", rows[i].first);
        cli_good("$AR %s", rows[i].same);
        cli_fails(64, "found the output of another command", "$AR %s", rows[i].other);
        cli_good("$AR %s --force", rows[i].other);
    }
}

Test(cli_force, a_file_of_the_user_is_not_overwritten)
{
    cli_good("mkdir t s; echo mine >t/train.csv; echo mine >s/sweep.csv; echo mine >x.xml; echo "
             "mine >c.topo; echo mine >d.library.csv");
    static const char *const lines[] = {
        "train example --out t", "sweep --cluster flat --trace trace.csv --gpus 2 --quiet --out s",
        "export --format simgrid-xml --cluster flat --gpus 4 --out x.xml", CALIBRATE "--out c.topo",
        CALIBRATE "--out d.topo"};
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        cli_fails(64, "found the output of another command", "$AR %s", lines[i]);
    }
    cr_expect_str_eq(cli_good("cat t/train.csv s/sweep.csv x.xml c.topo d.library.csv").out,
                     "mine\nmine\nmine\nmine\nmine\n");
}

Test(cli_force, a_directory_says_by_which_command_it_was_made)
{
    cli_good(SWEEP "4 --term 'cycle.time=1 ms' --jobs 1 --out 'o p'");
    cr_expect_eq(cli_lines_with(cli_read("o p/command.txt"),
                                "allreckon sweep --cluster cluster.topo --trace resnet50-v1.5 "
                                "--term 'cycle.time=1 ms' --engine closed --gpus 4"),
                 1, "%s", cli_read("o p/command.txt"));
}
