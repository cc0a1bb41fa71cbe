#include <glob.h>
#include <stdlib.h>
#include <unistd.h>

#include "ar_file.h"
#include "test_cluster_load.h"
#include "test_outcome.h"
#include "test_setting.h"

static struct ar_arena arena; /* of a test, which is a process */

/* The small cluster with another line, or with a setting. Units, rates and times have tests in
 * models/base. */
struct bad_case {
    const char *drop;     /* the line that starts so is left out, or NULL */
    const char *add;      /* appended, or NULL */
    const char *settings; /* with commas between */
    const char *expected;
};

static const struct bad_case bad_cases[] = {
    {NULL, "hca.bandwith = 1GB/s ; x\n", "",
     ":18: unknown key \"hca.bandwith\"; did you mean \"hca.bandwidth\"?"},
    {NULL, "zzzzzzzzzzzzzzz = 1\n", "", "unknown key \"zzzzzzzzzzzzzzz\"; expected one of name"},
    {NULL, "hcas = 2 ; again\n", "",
     ":18: key \"hcas\": found a second time; expected once (first in line 12)"},
    {NULL, "a line without a value\n", "", "expected key = value"},
    {NULL, "gpu.model =", "", ":18: key \"gpu.model\": found no value"},
    {NULL, "gpu.m\xc3\xb6", "", "found the byte 0xc3"},
    {"name", NULL, "", "key \"name\": found nowhere"},
    {"nvlink.bandwidth", NULL, "", "key \"nvlink.bandwidth\": found nowhere"},
    {"pcie.bandwidth", NULL, "", "key \"pcie.bandwidth\": found nowhere"},
    {"pcie.latency", NULL, "nvlink.pairs=none", "key \"pcie.latency\": found nowhere"},
    {"pcie.switches", NULL, "nvlink.pairs=none", "expected at least 1, since some"},
    {"hcas", NULL, "", "key \"hcas\": found nowhere; expected at least 1"},
    {"rack.uplink_bandwidth", NULL, "", "key \"rack.uplink_bandwidth\""},
    {"hcas", "hcas = 0 ; x\n", "", ":17: key \"hcas\": found \"0\"; expected"},
    {"hcas", "hcas = 3 ; x\n", "", "expected a divisor of gpus_per_node"},
    {NULL, "tree.groups = 4 x 8 ; y\n", "",
     ":18: key \"tree.groups\": found \"\"; expected a whole number"},
    {"pcie.switches", NULL, "hca.attached=switch", "expected host, since the nodes have"},
    {"hcas", "hcas = 1 ; x\n", "hca.attached=switch",
     "expected host, or hcas a multiple of pcie.switches"},
};

#define TORUS(lengths) "rack.nodes=0,fabric=torus,torus.link_bandwidth=7GB/s,torus.lengths=" lengths
#define DRAGONFLY(kind, groups, routers, cables)                                                   \
    "rack.nodes=0,fabric=" kind ",dragonfly.groups=" groups ",dragonfly.routers=" routers          \
    ",dragonfly.global_links=" cables                                                              \
    ",dragonfly.local_bandwidth=6GB/s,dragonfly.global_bandwidth=4GB/s"

/* Settings of the small cluster, with commas between, and the error. */
static const char *const bad_settings[][2] = {
    {"fabric=thin-tree", "found \"thin-tree\"; expected fat-tree"},
    {"tree.groups=4x0", "found \"0\"; expected a whole number from 1"},
    {"tree.groups=1x2x3x4x5x6x7x8x9", "expected at most 8 items"},
    {"tree.uplink_bandwidth=1GB/s 2", "found \"2\" without a unit; expected a rate"},
    {"pcie.switches=3", "expected a divisor of gpus_per_node"},
    {"gpus_per_node=65", "expected a whole number from 1 to 64"},
    {"nodes=0", "--set: key \"nodes\": found \"0\""},
    {"hca.bandwidth=1e-9B/s", "expected a rate"},
    {"net.latency=1e9s", "at most 1000s"},
    {"gpu.reduce_cost=2s/B", "at most 1s/B"},
    {"name=a b", "expected letters, digits"},
    {"nvlink.pairs=0-4", "found \"0-4\"; expected all, none"},
    {"nvlink.pairs=0-1 2-2", "found \"2-2\"; expected all, none"},
    {"nvlink.pairs=0-1 1-0", "found \"1-0\"; expected all, none"},
    {"nvlink.pairs=0-1:0", "from 0 to 3, with a weight from 1 to 64"},
    {"hcas", "--set: found \"hcas\"; expected key = value"},
    {"net.energy=0pJ/b", "expected an energy from 0.001 to"},
    {"name=a\nb", "found the byte 0x0a"},
    {"hcas=2 ; x", "found \"2 ; x\""},
    {"gpus_per_node=64,nodes=1000000", "expected fewer, since the cluster has more than 2^31"},
    {"tree.groups=2", "key \"tree.uplinks\": found nowhere; expected as many items as"},
    {"tree.groups=2,tree.uplinks=2x2", "found \"2x2\"; expected as many items as"},
    {"tree.groups=2,tree.uplinks=2", "key \"tree.uplink_bandwidth\": found nowhere"},
    {"rack.nodes=0,tree.groups=2", "expected none, or rack.nodes, since groups are of"},
    {"tree.switches=2x2", "found \"2x2\"; expected an item for racks and one for each"},
    {"rack.uplinks=4,tree.switches=3", "found \"3\"; expected divisors of the uplinks"},
    {"rack.uplinks=4,tree.groups=2,tree.uplinks=6,tree.uplink_bandwidth=1GB/"
     "s,tree.switches=4x6,fabric.routes=dmodk",
     "found \"4x6\"; expected divisors of the uplinks on both sides: those of level 2 are 6"},
    {"rack.uplinks=0", "found \"0\"; expected at least 1, since there are several racks"},
    {"rack.nodes=0,rack.uplinks=0,tree.rails=spine", "found \"0\"; expected at least 1"},
    {"tree.rails=nvlink,nvlink.pairs=0-1", "expected none or spine, since some pairs of"},
    {"tree.rails=spine,hcas=1", "found \"spine\"; expected none, since nodes have one HCA"},
    {"nvlink.domain_nodes=2", "found \"2\"; expected 1, or nvlink.pairs = switch"},
    {"fabric.routes=hash:-1", "found \"-1\"; expected a whole number"},
    {"fabric.routes=random", "found \"random\"; expected ideal, dmodk or hash:SEED"},
    {TORUS("4x4"),
     "key \"nodes\": found \"6\"; expected 16, the routers of torus.lengths times router.nodes"},
    {TORUS("6x1x1x1x1x1x1"), "expected the lengths of at most 6 dimensions"},
    {TORUS("1048576x1048576x1048576x1048576"), "expected fewer, for at most 1048576 nodes"},
    {TORUS("2x3,torus.wraps=1"), "expected a 0 or 1 for each of torus.lengths"},
    {TORUS("2x3,torus.wraps=1x2"), "torus.wraps"},
    {TORUS("2x3,torus.links_at_once=4"), "expected it or hca.bandwidth"},
    {TORUS("600,nodes=600"), "expected lengths with routes of at most 184 links, not of 300"},
    {"fabric=torus,torus.lengths=2x3,torus.link_bandwidth=7GB/s",
     "key \"rack.nodes\": found \"2\"; expected fabric = fat-tree, or none"},
    {"torus.lengths=2x3", "expected fabric = torus or mesh, or none"},
    {"dragonfly.groups=2", "expected fabric = dragonfly or dragonfly+, or none"},
    {"rack.nodes=0,fabric=torus",
     "key \"torus.lengths\": found nowhere; expected counts, since the fabric is a torus"},
    {DRAGONFLY("dragonfly", "4", "2", "1"),
     "key \"nodes\": found \"6\"; expected 8, the routers of all groups of the dragonfly times"},
    {DRAGONFLY("dragonfly", "3", "2", "1") ",dragonfly.spines=2",
     "expected fabric = dragonfly+, or none"},
    {DRAGONFLY("dragonfly+", "3", "2", "1"),
     "key \"dragonfly.spines\": found nowhere; expected at least 1, since the fabric is"},
};

/* The small cluster without the line of key `drop`. */
static void make_content(const struct bad_case *bad, char content[4096])
{
    content[0] = '\0';
    for (const char *line = test_small_cluster; *line != '\0';) {
        size_t length = strcspn(line, "\n") + 1;
        size_t key = bad->drop != NULL ? strlen(bad->drop) : 0;
        if (bad->drop == NULL || strncmp(line, bad->drop, key) != 0 || line[key] != ' ') {
            strncat(content, line, length);
        }
        line += length;
    }
    strcat(content, bad->add != NULL ? bad->add : "");
}

/* A wrong setting is a wrong use of the program. */
static void expect_refusal(const char *path, const char *settings, const char *expected)
{
    struct ar_error err;
    struct ar_cluster *cluster = NULL;
    enum ar_status status = ar_cluster_load(path, test_settings("--set", settings, ",", &arena),
                                            &arena, &cluster, &err);
    cr_expect_null(cluster, "outputs are written only on success");
    bool is_there = access(path, R_OK) == 0 && strstr(err.text, "Is a directory") == NULL;
    enum ar_status wanted = strstr(err.text, "--set: ") != NULL ? AR_USAGE
                            : is_there                          ? AR_BAD_DATA
                                                                : AR_NO_INPUT;
    cr_expect(strstr(err.text, expected) != NULL, "\"%s\" lacks \"%s\"", err.text, expected);
    cr_expect_eq(status, wanted, "%s: status %d", err.text, (int)status);
    cr_expect_eq(err.status, status);
    cr_expect(strchr(err.text, '\n') == NULL);
}

static void expect_bytes_refused(const char *bytes, size_t size, const char *settings,
                                 const char *expected)
{
    char path[TEST_PATH_SIZE];
    expect_refusal(test_file_make(bytes, size, path), settings, expected);
    unlink(path);
}

Test(topo, a_wrong_file_or_setting_is_refused_with_one_clear_line)
{
    for (size_t i = 0; i < sizeof bad_cases / sizeof bad_cases[0]; i++) {
        char content[4096];
        make_content(&bad_cases[i], content);
        expect_bytes_refused(content, strlen(content), bad_cases[i].settings,
                             bad_cases[i].expected);
    }
    for (size_t i = 0; i < sizeof bad_settings / sizeof bad_settings[0]; i++) {
        expect_bytes_refused(test_small_cluster, strlen(test_small_cluster), bad_settings[i][0],
                             bad_settings[i][1]);
    }
}

Test(topo, files_without_values_bytes_that_are_no_text_and_over_long_lines_are_refused)
{
    expect_bytes_refused("# only a comment\n\n", 18, "", "found no values");
    expect_bytes_refused("\x7f\n", 2, "", ":1: found the byte 0x7f");
    expect_bytes_refused("nodes = 4\0 ; x\n", 15, "", ":1: found the byte 0x00");
    char line[8001];
    memset(line, 'x', 8000);
    line[8000] = '\n';
    expect_bytes_refused(line, 8001, "", ":1: found more than 4000 characters in a line");
    memcpy(line, "gpu.model = ", 12);
    line[1000] = '\n';
    expect_bytes_refused(line, 1001, "", "found a value of 988 characters; expected at most 200");
}

Test(topo, a_file_without_its_last_newline_is_whole_and_other_cuts_lack_keys)
{
    size_t size = strlen(test_small_cluster);
    for (size_t cut = 0; cut < size / 2; cut++) {
        expect_bytes_refused(test_small_cluster, cut, "", ": ");
    }
    char path[TEST_PATH_SIZE];
    struct ar_cluster *cluster;
    test_file_make(test_small_cluster, size - 1, path);
    TEST_OK(ar_cluster_load(path, (struct ar_settings){0}, &arena, &cluster, &why));
    unlink(path);
}

Test(topo, a_missing_file_a_directory_and_an_endless_one_are_refused_also_of_long_paths)
{
    expect_refusal("/nonexistent/x.topo", "",
                   "/nonexistent/x.topo: No such file or directory; expected a cluster file");
    expect_refusal(AR_TEST_BINARY_DIR, "", ": Is a directory; expected a");
    expect_refusal("/dev/zero", "", "larger than 1048576 bytes; expected a cluster");
    /* A long path leaves room for the message. */
    char path[TEST_PATH_SIZE + 300];
    snprintf(path, sizeof path, "%s/%0200d.topo", AR_TEST_BINARY_DIR, 0);
    test_write_file(path, "nodes = many ; x\n");
    expect_refusal(path, "",
                   "0.topo:1: key \"nodes\": found \"many\"; expected a whole number from 1 to");
    unlink(path);
}

Test(topo, all_keys_that_are_missing_are_named_at_once)
{
    static const char content[] = "name = x\nnodes = 2\nhcas = 1\nrack.nodes = 1\n";
    expect_bytes_refused(
        content, sizeof content - 1, "",
        ": key \"gpus_per_node\": found nowhere; expected at least 1, since every cluster file has "
        "one, key \"hca.bandwidth\": found nowhere; expected a rate, since the nodes have HCAs, "
        "key \"net.latency\": found nowhere");
    expect_bytes_refused(content, sizeof content - 1, "", "key \"rack.uplinks\": found nowhere");
}

/* --- writing ---------------------------------------------------------------------------------- */

static struct ar_topo *load_file(const char *path)
{
    struct ar_topo *topo = NULL;
    TEST_OK(ar_topo_load(path, &arena, &topo, &why));
    return topo;
}

static struct ar_topo *load_text(const char *text)
{
    char path[TEST_PATH_SIZE];
    struct ar_topo *topo = load_file(test_file_make(text, strlen(text), path));
    unlink(path);
    return topo;
}

static void expect_written(const struct ar_topo *topo, const char *expected)
{
    char *text;
    TEST_TEXT(text, ar_topo_write(topo, stream));
    cr_expect_str_eq(text, expected);
    free(text);
}

Test(topo, every_shipped_file_comes_out_byte_for_byte)
{
    glob_t files;
    cr_assert_eq(glob(AR_TEST_SOURCE_DIR "/topologies/machines/*.topo", 0, NULL, &files), 0);
    for (size_t i = 0; i < files.gl_pathc; i++) {
        char *bytes;
        size_t count;
        TEST_OK(ar_file_read(files.gl_pathv[i], 1 << 16, "", &arena, &bytes, &count, &why));
        expect_written(load_file(files.gl_pathv[i]), bytes);
    }
    globfree(&files);
}

Test(topo, a_value_replaces_its_line_a_new_one_comes_last_and_the_rest_stays_as_it_was_written)
{
    static const char text[] = "# comment\r\n\n  nodes  =4;x ; y\t\r\n\tname = a\n";
    expect_written(load_text(text), text);
    struct ar_topo *topo = load_text("# a\nnodes = 4 ; x\n# b\nname = a ; y\n");
    TEST_OK(ar_topo_set(topo, "net.latency", "2us", "measured; twice", &why));
    TEST_OK(ar_topo_set(topo, " nodes ", " 8 ", "z", &why));
    TEST_OK(ar_topo_set(topo, "net.latency", "3us", "measured", &why));
    expect_written(topo, "# a\nnodes = 8 ; z\n# b\nname = a ; y\nnet.latency = 3us ; measured\n");
}

Test(topo, a_value_that_is_not_one_line_is_refused)
{
    struct ar_topo *topo = load_text("nodes = 4 ; x\n");
    TEST_FAILS(AR_USAGE, "expected one of nodes gpus_per_node",
               ar_topo_set(topo, "node", "8", "z", &why));
    TEST_FAILS(AR_USAGE, "", ar_topo_set(topo, "#nodes", "8", "z", &why));
    TEST_FAILS(AR_USAGE, "", ar_topo_set(topo, "description", "a; b", "z", &why));
    TEST_FAILS(AR_USAGE, "", ar_topo_set(topo, "description", "a\nb", "z", &why));
    TEST_FAILS(AR_USAGE, "", ar_topo_set(topo, "description", "a", "b\n", &why));
    expect_written(topo, "nodes = 4 ; x\n");
}

Test(topo, the_block_at_the_head_replaces_an_earlier_one_and_no_value)
{
    struct ar_topo *topo = load_text("# made\r\n# earlier\nname = a\n# end\r\n# kept\nnodes = 4\n");
    const char *const texts[] = {"one", "two"};
    TEST_OK(ar_topo_set_head(topo, "# made", texts, 2, "# end", &why));
    expect_written(topo, "# made\n# one\n# two\n# end\n# made\r\n# earlier\nname = a\n# end\r\n"
                         "# kept\nnodes = 4\n");
    const char *const lines[] = {"two\nlines"};
    TEST_FAILS(AR_USAGE, "", ar_topo_set_head(topo, "# made", lines, 1, "# end", &why));
    TEST_OK(ar_topo_set_head(topo, "# made", texts, 1, "# end", &why));
    expect_written(topo, "# made\n# one\n# end\n# made\r\n# earlier\nname = a\n# end\r\n"
                         "# kept\nnodes = 4\n");
}
