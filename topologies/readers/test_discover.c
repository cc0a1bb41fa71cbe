/* Cluster files of fixtures, and files that contradict each other, say too little or are broken. */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "ar_discover.h"
#include "test_setting.h"

#define FIXTURES AR_TEST_SOURCE_DIR "/topologies/readers/fixtures/"

static struct ar_arena arena;
static char *written;
static size_t written_bytes;
static struct ar_error err; /* of the latest call */

static const char *finish_text(struct ar_discovery *discovery)
{
    struct ar_topo *topo = NULL;
    if (ar_discover_finish(discovery, "mine", &topo, &err) != AR_OK) {
        return NULL;
    }
    free(written);
    FILE *file = open_memstream(&written, &written_bytes);
    fputc('\n', file);
    ar_topo_write(topo, file);
    for (const char *const *note = ar_discover_notes(discovery); *note != NULL; note++) {
        fprintf(file, "note: %s\n", *note);
    }
    fclose(file);
    return written;
}

/* The cluster file of a text or, if there is none, of fixtures, and of settings, both with blanks
 * between; NULL and the error otherwise. Lives until the next call. */
static const char *discover_either(const char *files, const char *text, const char *settings)
{
    ar_arena_end(&arena);
    struct ar_discovery *discovery = NULL;
    char *rest = ar_arena_text(&arena, files);
    char *copy = ar_arena_text(&arena, text);
    enum ar_status status =
        ar_discover_begin(test_settings("--set", settings, " ", &arena), &arena, &discovery, &err);
    if (status == AR_OK && *rest == '\0') {
        status = ar_discover_parse(discovery, "text", copy, strlen(copy), &err);
    }
    for (char *word; status == AR_OK && (word = strtok_r(NULL, " ", &rest)) != NULL;) {
        status = ar_discover_read(discovery, ar_arena_format(&arena, FIXTURES "%s", word), &err);
    }
    return status == AR_OK ? finish_text(discovery) : NULL;
}

static const char *discover(const char *files, const char *settings)
{
    return discover_either(files, "", settings);
}

static const char *discover_text(const char *text, const char *settings)
{
    return discover_either("", text, settings);
}

/* Each of `lines`, NULL at the end, begins a line of the file; after " ; " its source ends so. */
static void expect_lines(const char *topo, const char *const *lines)
{
    cr_assert_not_null(topo, "%s", err.text);
    for (; *lines != NULL; lines++) {
        char *key = ar_arena_format(&arena, "\n%s", *lines);
        cr_expect_not_null(strstr(topo, key), "no %s in%s", *lines, topo);
    }
}
#define EXPECT(topo, ...) expect_lines(topo, (const char *const[]){__VA_ARGS__, NULL})

#define SEVERAL "nodes=4 rack.nodes=0"

Test(discover, a_dump_of_nccl_gives_a_node_and_each_value_its_line_but_what_is_set)
{
    const char *topo = discover("switch.xml", SEVERAL);
    EXPECT(topo, "name = mine ;", "nodes = 4 ; --set", "gpus_per_node = 4 ;",
           "gpu.model = NVIDIA A100 SXM4 80GB ; " FIXTURES "switch.xml:11: PCI device 10de:20b2",
           "gpu.generation = ampere ; " FIXTURES "switch.xml:6:", "cpu.vendor = amd ;",
           "nvlink.pairs = switch ; " FIXTURES "switch.xml:7:", "nvlink.bandwidth = 274GB/s ;",
           "pcie.switches = 2 ;", "pcie.bandwidth = 31.508GB/s ;",
           "hcas = 2 ; " FIXTURES "switch.xml:19:", "hca.bandwidth = 200Gbps ;",
           "hca.attached = switch ;", "net.latency = 14us ; assumed", "note: library.channels, the",
           "library.node_bus = 240GB/s ; 12 NVLinks at 20 GB/s", "library.net_bus = 48GB/s ;",
           "note: NICs that are not counted, since they are below no PCIe switch with a GPU: eth0");
    EXPECT(discover("switch.xml", SEVERAL " hcas=4 hca.bandwidth=100Gbps"), "hcas = 4 ; --set",
           "hca.bandwidth = 100Gbps ; --set", "hca.attached = switch ;");
}

Test(discover, links_between_gpus_are_pairs_with_weights)
{
    EXPECT(discover("mesh.xml", SEVERAL), "gpus_per_node = 3 ;", "nvlink.pairs = 0-1 0-2 1-2:2 ;",
           "nvlink.bandwidth = 50GB/s ;", "gpu.generation = cdna2 ;", "pcie.switches = 1 ;",
           "hcas = 1 ;");
}

Test(discover, files_complete_each_other)
{
    EXPECT(discover("switch.xml matrix-nics.txt ibstat.txt", SEVERAL),
           "gpus_per_node = 4 ; " FIXTURES "switch.xml",
           "note: NICs that are not counted, since they are down: mlx5_2");
    EXPECT(discover("static.xml ibstat.txt", SEVERAL " nvlink.pairs=none"), "hcas = 2 ;",
           "hca.bandwidth = 200Gbps ; " FIXTURES "ibstat.txt:9:");
}

Test(discover, a_matrix_has_nvlinks_and_what_is_below_one_switch)
{
    EXPECT(discover("matrix-nics.txt ibstat.txt", SEVERAL " gpu.generation=ampere"),
           "nvlink.pairs = switch ;", "nvlink.bandwidth = 274GB/s ;", "pcie.switches = 2 ;",
           "pcie.bandwidth = 31.508GB/s ; assumed", "hcas = 2 ;", "hca.attached = switch ;",
           "hca.bandwidth = 200Gbps ;",
           "note: NICs that are not counted, since they are below no PCIe switch with a GPU: "
           "mlx5_bond_0");
    EXPECT(discover("matrix-names.txt",
                    SEVERAL " gpu.generation=volta pcie.switches=2 hca.bandwidth=200Gbps"),
           "nvlink.pairs = 0-1:2 0-2 1-3 2-3:2 ;", "nvlink.bandwidth = 24.24GB/s ;", "hcas = 1 ;",
           "hca.attached = host ;", "hca.bandwidth = 200Gbps ;",
           "note: " FIXTURES "matrix-names.txt: GPUs are not spread evenly");
}

Test(discover, several_ports_for_each_gpu_are_one_hca_of_their_sum)
{
    EXPECT(discover_text("<system><cpu><pci class='0x060400' link_speed='8 GT/s'>"
                         "<pci class='0x030200' busid='a' link_speed='8 GT/s'><gpu dev='0'/></pci>"
                         "<pci class='0x020000' busid='b'><nic><net name='a0' speed='180000'/><net "
                         "name='a1' port='2' speed='180000'/></nic></pci></pci></cpu></system>",
                         SEVERAL),
           "hcas = 1 ;", "hca.bandwidth = 360Gbps ;");
}

Test(discover, gpus_of_amd_that_are_not_known_have_the_constants_of_its_library)
{
    EXPECT(discover_text("<system><cpu><pci class='0x060400' link_speed='8 GT/s'>"
                         "<pci class='0x038000' busid='a' link_speed='8 GT/s'>"
                         "<gpu dev='0' gcn='906'/></pci></pci></cpu></system>",
                         "nodes=1"),
           "collective.setup = 17us ; assumed: ROCm/rccl");
    cr_expect_not_null(strstr(written, "those of GPUs of unknown generation as of cdna2"), "%s",
                       written);
}

/* --- refusals --------------------------------------------------------------------------------- */

static void expect_refused(const char *topo, enum ar_status status, const char *text)
{
    cr_assert_null(topo, "%s", topo);
    cr_expect_eq(err.status, status);
    cr_expect_not_null(strstr(err.text, text), "\"%s\" is not in: %s", text, err.text);
    cr_expect_null(strchr(err.text, '\n'));
}

Test(discover, a_contradiction_names_both_files_and_a_setting_ends_it)
{
    expect_refused(
        discover("mesh.xml switch.xml", "nodes=1 cpu.vendor=amd gpu.generation=ampere"),
        AR_BAD_DATA,
        "switch.xml:11: found gpus_per_node 4 (GPUs from here on); expected 3, as " FIXTURES
        "mesh.xml:");
    expect_refused(discover("matrix-names.txt mesh.xml", "nodes=1 gpus_per_node=4 hcas=1"),
                   AR_BAD_DATA, "mesh.xml:7: found nvlink.pairs 0-1 0-2 1-2:2");
    cr_expect_not_null(discover("matrix-names.txt mesh.xml",
                                "nodes=1 gpus_per_node=4 hcas=1 nvlink.pairs=all pcie.switches=1 "
                                "pcie.bandwidth=16GB/s nvlink.bandwidth=50GB/s"),
                       "%s", err.text);
}

Test(discover, all_that_is_missing_is_asked_for_at_once_and_settings_come_before_files)
{
#define FABRIC "--fabric non-blocking|rails|... (see list fabrics) "
#define PAIRS  "--set nvlink.pairs=switch|all|none|0-1...; "
    static const char *const rows[][3] = {
        {"static.xml", "",
         "discover: found too little; expected also --nodes N " FABRIC PAIRS
         "discover: key \"nodes\": found nowhere; expected at least 1, since every cluster file "
         "has one, key \"hca.bandwidth\""},
        {"ibstat.txt", "nodes=2 fabric=fat-tree",
         "also --set rack.nodes=NODES (of a leaf; see list fabrics) " PAIRS "discover: key"},
        {"ibstat.txt", "fabric=torus gpus_per_node=4",
         "0-1...; discover: key \"nodes\": found nowhere; expected at least 1, since every cluster "
         "file has one, key \"pcie.switches\""},
        {"ibstat.txt", "nodes=2 rack.nodes=0", "also " PAIRS "discover: key \"gpus_per_node\""},
        {"mesh.xml", "nodes=4 tree.rails=nvlink",
         "--set: key \"tree.rails\": found \"nvlink\"; expected none"},
        {"switch.xml", "nodes=4 tree.rails=nvlink hcas=3",
         "key \"hcas\": found \"3\"; expected a divisor of gpus_per_node"},
        {"none.xml", "hcas=abc", "--set: key \"hcas\": found \"abc\"; expected a whole number"},
        {"none.xml", "nodes=0", "--set: key \"nodes\": found \"0\""},
        {"none.xml", "nvlink.pairs=0-1,2-3", "--set: key \"nvlink.pairs\": found \"0-1,2-3\""},
        {"none.xml", "nvlink.bandwidth=50", "found \"50\" without a unit"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        expect_refused(discover(rows[i][0], rows[i][1]), AR_USAGE, rows[i][2]);
    }
}

static const struct {
    const char *text, *error;
} broken[] = {
    {"", "text: found nothing that is known; expected a topology file of NCCL"},
    {"<html/>", "text:1: found XML of <html>; expected <system>, a topology"},
    {"<system>\n<cpu>", "text:2: broken XML: no element found; expected a whole topology file"},
    {"<system><gpu dev='0'/></system>", "found <gpu> outside of <pci>"},
    {"<system><pci class='0x030200'><gpu dev='x'/></pci></system>",
     "text:1: attribute \"dev\": found \"x\""},
    {"<system><pci class='0x030200'><gpu><nvlink count='999'/></gpu></pci></system>",
     "attribute \"count\": found \"999\""},
    {"<system><cpu host_hash='1'/><cpu host_hash='2'/></system>", "found a second host"},
    {"GPU0 GPU1 CPU\nGPU0 X NV2 0\n", "text:1: found no row of GPU1"},
    {"GPU0 GPU1\nGPU0 X\n", "text:2: found 2 words in the row of GPU0; expected 3"},
    {"GPU0 GPU1\nGPU0 NV2 X\n", "text:2: found \"NV2\" between GPU0 and GPU0; expected X"},
    {"GPU0 GPU1\nGPU0 X NV99\n", "found \"NV99\"; expected NV1 to NV64"},
    {"GPU0 GPU1\nGPU0 X PIG\n", "found \"PIG\" between GPU0 and GPU1; expected X, NV#, PIX"},
    {"GPU0 GPU1\nGPU0 X SYS\nGPU0 X SYS\n", "text:3: found GPU0 a second time"},
    {"CA 'a;b'\nPort 1:\n", "found the byte 0x3b in a text"},
    {"CA 'a'\nPort 1:\nState: Active\nRate: 1e30\n", "found a rate of 1e+30 Gb/s of NIC a"},
    {"CA 'a'\nPort 1:\nState: Active\nRate: 100\nCA 'a'\nPort 1:\nRate: 200\n",
     "text:7: found 200 Gb/s of NIC a; expected 100 Gb/s, as text:4"},
};

Test(discover, broken_files_and_those_of_too_many_gpus_are_refused_with_their_line)
{
    for (size_t i = 0; i < sizeof broken / sizeof broken[0]; i++) {
        expect_refused(discover_text(broken[i].text, "nodes=1"), AR_BAD_DATA, broken[i].error);
    }
    char text[8192] = "<system>";
    size_t used = strlen(text);
    for (size_t i = 0; i < 100; i++) {
        used += (size_t)snprintf(text + used, sizeof text - used, "<pci class='0x030200'/>");
    }
    expect_refused(discover_text(text, "nodes=1"), AR_BAD_DATA, "found more than 64 GPUs");
}
