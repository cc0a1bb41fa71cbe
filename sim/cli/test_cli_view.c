/* How results are shown; names that other programs would take for something else; every shipped
 * machine. */
#include <stdlib.h>

#include "test_cli.h"

TestSuite(cli_view, .init = cli_enter_measured, .fini = cli_leave);

#define STEP "--cluster cluster.topo --trace resnet50-v1.5"

Test(cli_view, tables_and_help_fit_80_characters, CLI_NO_NEW_CODE)
{
    static const char *const lines[] = {
        "predict " STEP " --gpus 128 --algorithm hierarchical --check",
        "sweep " STEP " --gpus 16,32 --batch 16,32 --set hca.bandwidth=10GB/s,12GB/s --payload 1MB",
        "sweep " STEP " --gpus 16 --engine closed,recurrence --best",
        "allreduce --cluster cluster.topo --gpus 64 --algorithm torus2d --payload 1KiB:1GiB:x8",
        "allreduce --cluster abci-v100-nccl2.8 --gpus 64 --engine library --payload 1MiB",
        "train example sony-v2-3456",
        "links --cluster cluster.topo --gpus 16 --algorithm torus2d --payload 1MiB | sed 1,/^$/d",
        "compare abci.csv --cluster abci-v100-nccl2.8",
        "--help; for command in $($AR --help | sed -n 's/^  \\([a-z]*\\) .*/\\1/p'); do $AR "
        "$command --help; done",
    };
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        /* characters, not bytes */
        cli_good("{ $AR %s; } >shown && LC_ALL=C tr -d '\\200-\\277' <shown | "
                 "LC_ALL=C awk 'length > 80 {print >\"/dev/stderr\"; exit 1}'",
                 lines[i]);
    }
}

Test(cli_view, a_wide_terminal_shows_more)
{
    static const char line[] = "$AR predict " STEP " --gpus 128 --algorithm tree --quiet";
    const char *narrow = cli_good("COLUMNS=80 %s", line).out;
    const char *wide = cli_good("COLUMNS=132 %s", line).out;
    CLI_LACKS(narrow, "of one");
    CLI_HAS(wide, "of one");
    cr_expect_str_eq(cli_good("COLUMNS=20 %s", line).out, narrow);
    cr_expect_str_eq(cli_good("COLUMNS=wide %s", line).out, narrow);
}

Test(cli_view, columns_are_those_that_were_asked_for)
{
    cr_expect_str_eq(cli_good("$AR sweep " STEP " --gpus 4 --algorithms ring --engine closed "
                              "--format csv --columns gpus,exact,algorithm")
                         .out,
                     "gpus,exact,algorithm\n4,yes,ring\n");
    struct cli_run run =
        cli_good("$AR predict --cluster dgx-a100 --workload mpt-1b --mesh dp=8 --global-batch 8 "
                 "--quiet --columns compute_s");
    CLI_HAS(run.out, "compute_s");
    cr_expect_lt(atof(strchr(run.out, '\n')), 10, "in seconds, as the heading says: %s", run.out);
}

Test(cli_view, estimates_are_marked_and_explained)
{
    const char *out = cli_good("$AR sweep " STEP " --gpus 16,8 --quiet").out;
    cr_expect_eq(cli_lines_with(out, "~ estimated; recurrence is 0 to 0.3 % (median all-red"), 3,
                 "of all, of the best, of those simulated: %s", out);
    const char *torus = strstr(out, "2x8");
    const char *ring = strstr(out, "ring");
    cr_assert(torus != NULL && ring != NULL);
    cr_expect_lt(strcspn(torus, "~"), strcspn(torus, "\n"), "%s", out);
    cr_expect_gt(strcspn(ring, "~"), strcspn(ring, "\n"), "%s", out);
    out = cli_good("$AR sweep " STEP " --gpus 16 --algorithms ring --quiet").out;
    CLI_LINES(out, "~", 0);
}

Test(cli_view, notes_do_not_cut_into_rows, CLI_NO_NEW_CODE)
{
    static const char line[] = "$AR sweep " STEP " --gpus 8:1024:x2 --engine closed --format json "
                               "--columns gpus,algorithm,shape,iteration_s";
    const char *rows = cli_good("%s", line).out;
    cr_expect_str_eq(cli_good("%s 2>&1 | grep -v '^allreckon: note: '", line).out, rows);
}

Test(cli_view, no_note_comes_before_an_error_that_ends_the_command)
{
    static const char *const lines[] = {
        "sweep " STEP " --gpus 4 --batch 0",
        "compare abci.csv --cluster abci-v100-nccl2.8 --set net.bandwidth=-1GB/s",
        "predict " STEP " --gpus 12 --algorithm torus2d --framework no.csv",
        "predict " STEP " --gpus 12 --algorithm torus2d --engine library",
        "explain " STEP " --gpus 12 --algorithm torus2d --shape 5x5"};
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        struct cli_run run = cli_run("$AR %s", lines[i]);
        cr_expect_neq(run.code, 0, "%s", lines[i]);
        cr_expect_eq(cli_lines_with(run.err, ""), 1, "%s: %s", lines[i], run.err);
    }
    cli_run("trap '' XFSZ; (ulimit -f 8; $AR sweep " STEP " --gpus 8:64:x2 --engine closed --out "
            "stopped 2>/dev/null)");
    cli_fails(64, "of a sweep that did not finish",
              "$AR sweep " STEP " --gpus 8:64:x2 --engine closed --out stopped");
}

Test(cli_view, a_sweep_ends_with_the_best_of_each_count_and_some_simulated, CLI_NO_NEW_CODE)
{
    const char *out = cli_good("$AR sweep " STEP " --gpus 8,16 --quiet --engine closed").out;
    const char *best =
        cli_good("$AR sweep " STEP " --gpus 8,16 --quiet --engine closed --best").out;
    const char *end = strstr(out, "\nthe best for each GPU count:\n");
    cr_assert_not_null(end, "%s", out);
    const char *begin = strchr(end + 1, '\n') + 1;
    const char *checked = strstr(begin, "\nof these, simulated by SimGrid:\n");
    cr_assert_not_null(checked, "%s", out);
    cr_expect(strlen(best) == (size_t)(checked - begin) && strncmp(begin, best, strlen(best)) == 0,
              "%s", out);
    CLI_HAS(checked, "  closed ", "  simgrid ");
    CLI_LACKS(cli_good("$AR sweep " STEP " --gpus 4,8 --algorithms ring,tree --engine simgrid").out,
              "simulated by SimGrid");
}

Test(cli_view, a_short_sweep_shows_its_progress_on_a_terminal_only)
{
    static const char line[] = "$AR sweep " STEP " --gpus 8,16 --algorithms ring";
    CLI_LACKS(cli_good(line).err, "of 2 points");
    CLI_HAS(cli_good_on_terminal(line), "\r0 of 2 points");
    CLI_LACKS(cli_good_on_terminal("$AR sweep " STEP " --gpus 8,16 --algorithms ring --quiet"),
              "of 2 points");
}

/* --- names ------------------------------------------------------------------------------------ */

Test(cli_view, what_predict_and_a_collective_leave_can_be_reported)
{
    cli_good("$AR predict --cluster abci-v100 --gpus 1024 --algorithm torus2d --trace "
             "resnet50-v1.5 --framework typical --out step");
    struct cli_run run = cli_good("$AR report step");
    CLI_HAS(run.out, "What: On 1,024 GPUs of abci-v100 a step of resnet50-v1.5 takes");
    CLI_HAS(run.out, "1024 V100: 84.75 % (the fastest here ", "Half of 39 published steps of ");
    cli_good("$AR allreduce --cluster abci-v100 --gpus 8 --payload 1KiB,1MiB --out call --quiet");
    CLI_SHOWS("report call", "What: On 8 GPUs of abci-v100 one allreduce of 1.049");
    cli_fails(64, "--force", "$AR allreduce --cluster flat --gpus 8 --payload 8B --out step");
}

TestSuite(cli_names, .init = cli_enter, .fini = cli_leave);

/* The command that a page names, run by a shell, makes the same page again. */
#define AGAIN                                                                                      \
    "allreckon() { \"$AR\" \"$@\"; } && "                                                          \
    "eval \"$(sed '/^allreckon sweep, command/,$d' \"./$N/command.txt\") --out again --quiet\" "   \
    "&& "                                                                                          \
    "cmp again/parameters.csv \"./$N/parameters.csv\""

Test(cli_names, names_of_files_are_names_wherever_they_go)
{
    static const char *const names[] = {
        "<touch oops|'; system('touch oops'); \"`touch oops`$(touch oops)\\",
        "--help @oops {a}_b^c %s%n\n]]><script>alert(1)<!-- #&amp;*~ $'x'"};
    cli_need_gnuplot();
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        setenv("N", names[i], 1);
        cli_good("cp cluster.topo \"./$N.topo\"");
        cli_good("$AR sweep --cluster \"./$N.topo\" --trace resnet50-v1.5 --engine closed --gpus "
                 "4,8 --algorithms ring --quiet --out \"$N\"");
        cli_good("$AR report --quiet -- \"$N\"");
        cli_good("$AR export --format simgrid-xml --cluster \"./$N.topo\" --gpus 4 --quiet --out "
                 "\"$N.xml\"");
        cli_good("rm -rf again && " AGAIN);
        cli_good("test $(grep -c '<script' \"./$N/report.html\") = 1");
        cli_good("! grep -F -e '<touch' -e ']]>' \"./$N/report.html\" \"./$N.xml\"");
    }
    cli_good("$AR plot --quiet -- \"$N\" >plotted && ! grep -F ']]>' \"./$N/efficiency.svg\"");
    cli_good("! find . -name oops | grep .");
}

/* Files may come from strangers: they name no others but those beside them. */
Test(cli_names, a_file_names_no_other_that_lies_elsewhere)
{
    static const char *const paths[] = {"../x.csv", "/etc/passwd", "a/../../x.csv", ".."};
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
        setenv("N", paths[i], 1);
        cli_good(
            "printf '# run = 1\\n# cluster = flat\\n# gpus = 4\\n# images = 9\\n"
            "# trace = %%s\\nfirst_epoch,last_epoch,batch_per_gpu\\n0,9,16\\n' \"$N\" >a.run.csv");
        cli_fails(65, "expected a shipped name, or a file beside this one", "$AR train a.run.csv");
    }
}

Test(cli_names, control_characters_are_refused)
{
    setenv("N", "a\033[31m", 1);
    cli_fails(64, "found byte 0x1b in \"a?[31m\"; expected no control",
              "$AR predict --cluster \"$N\"");
}

/* --- machines --------------------------------------------------------------------------------- */

TestSuite(cli_machines, .init = cli_enter, .fini = cli_leave);

Test(cli_machines, two_nodes_of_each_sum_by_messages_by_nccl_where_it_says_how_and_show_their_links)
{
    struct cli_table *machines =
        cli_table(cli_good("echo name,gpus,engines; for file in " AR_TEST_SOURCE_DIR
                           "/topologies/machines/*.topo; do awk -v name=$(basename $file .topo) "
                           "'/^nodes = / {nodes = $3} /^gpus_per_node = / {gpus = $3} "
                           "/^library.net_bus = / {library = 1} END {print name \",\" gpus * "
                           "(nodes == 1 ? 1 : 2) \",\" 1 + library}' $file; done")
                      .out);
    size_t libraries = 0;
    for (size_t i = 1; i < machines->rows_count; i += AR_TEST_STRIDE) {
        static const char *const engines[] = {"recurrence", "nccl"};
        const char *name = cli_cell(machines, i, "name"), *gpus = cli_cell(machines, i, "gpus");
        for (size_t e = 0; e < (size_t)cli_number(machines, i, "engines"); e++) {
            struct cli_table *table =
                cli_rows("allreduce --cluster %s --gpus %s --payload 8MiB --engine %s", name, gpus,
                         engines[e]);
            double time_s = cli_number(table, 1, "allreduce_s");
            cr_expect(time_s > 20e-6 && time_s < 0.1, "%s, %s: %g s", name, engines[e], time_s);
            libraries += e;
        }
        CLI_HAS(
            cli_good("$AR links --cluster %s --gpus %s --payload 8MiB --algorithm ring", name, gpus)
                .out,
            "node-0.");
    }
    cr_expect(machines->rows_count > 30 && libraries >= 20 / AR_TEST_STRIDE, "%zu, %zu",
              machines->rows_count, libraries);
}

Test(cli_machines, a_job_of_fugaku_has_a_torus_of_its_own)
{
    static const char line[] = "allreduce --cluster fugaku --gpus 64 --algorithm ring --payload "
                               "64KiB --set torus.lengths=4x4x4 %s";
    double time_s = cli_value("allreduce_s", line, "");
    cr_expect_eq(time_s, cli_value("allreduce_s", line, "--set nodes=64"));
    cr_expect_eq(time_s, cli_value("allreduce_s", line, "--set torus.wraps=1x1x1"));
    cr_expect_lt(time_s, cli_value("allreduce_s", line, "--set torus.wraps=0x0x0"));
}

/* Two GPUs in eight of each node, and their HCAs: a quarter of the rate of the network, which is
 * all that a GiB takes there. */
Test(cli_machines, gpus_of_nodes_that_are_filled_in_part_have_their_own_hcas_only)
{
    cli_write("part.csv", "# source: test\n"
                          "collective,gpus,nodes,payload_bytes,time_us\n"
                          "all_reduce,20,10,1073741824,20000\n"
                          "all_reduce,80,10,1073741824,6000\n"
                          "alltoall,20,10,1073741824,20000\n"
                          "alltoall,80,10,1073741824,20000\n");
    struct cli_table *rows = cli_rows("compare part.csv --cluster dgx-h100 --engine nccl");
    double part_s = cli_number(rows, 1, "predicted_s");
    double full_s = cli_number(rows, 2, "predicted_s");
    cr_assert_eq(rows->rows_count, 1 + 4);
    cr_expect_str_eq(cli_cell(rows, 1, "payload_bytes"), "1073741824", "all digits");
    cr_expect(part_s > 3 * full_s && part_s < 4.2 * full_s, "%g s, %g s", part_s, full_s);
}
