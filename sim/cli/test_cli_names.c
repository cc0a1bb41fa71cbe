/* Names that shells, gnuplot, browsers and terminals would take for something else. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "test_cli.h"

TestSuite(cli_names, .init = cli_enter, .fini = cli_leave);

/* What a page says makes it again, run by a shell, makes it again. */
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
    if (system("command -v gnuplot >/dev/null") != 0) {
        cr_skip_test("no gnuplot");
    }
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
    cli_fails(64, "found byte 0x1b in \"a?[31m\"; expected names", "$AR predict --cluster \"$N\"");
}
