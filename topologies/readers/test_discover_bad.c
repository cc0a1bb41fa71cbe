/* Files that contradict each other, say too little, or are broken: one line each. */
#include <criterion/criterion.h>
#include <string.h>

#include "test_discover.h"

static void refuse(const char *topo, const struct ar_error *err, enum ar_status status,
                   const char *text)
{
    cr_assert_null(topo, "%s", topo);
    cr_expect_eq(err->status, status);
    cr_expect_not_null(strstr(err->text, text), "\"%s\" is not in: %s", text, err->text);
    cr_expect_null(strchr(err->text, '\n'));
}

Test(discover_bad, a_contradiction_names_both_files_and_a_setting_ends_it)
{
    struct ar_error err;
    refuse(discover("mesh.xml switch.xml", "nodes=1 cpu.vendor=amd gpu.generation=ampere", &err),
           &err, AR_BAD_DATA,
           "switch.xml:11: found gpus_per_node 4 (GPUs from here on); expected 3, as " FIXTURES
           "mesh.xml:");
    refuse(discover("matrix-names.txt mesh.xml", "nodes=1 gpus_per_node=4 hcas=1", &err), &err,
           AR_BAD_DATA, "mesh.xml:7: found nvlink.pairs 0-1 0-2 1-2:2");
    cr_expect_not_null(discover("matrix-names.txt mesh.xml",
                                "nodes=1 gpus_per_node=4 hcas=1 nvlink.pairs=all pcie.switches=1 "
                                "pcie.bandwidth=16GB/s nvlink.bandwidth=50GB/s",
                                &err),
                       "%s", err.text);
}

Test(discover_bad, all_that_is_missing_is_asked_for_at_once)
{
    struct ar_error err;
    refuse(
        discover("static.xml", "", &err), &err, AR_USAGE,
        "discover: the files do not say all; expected also --nodes N --fabric "
        "non-blocking|rails|... (see list fabrics) --set nvlink.pairs=switch|all|none|0-1... --set "
        "nvlink.bandwidth=RATE (unless none) --set hca.bandwidth=RATE");
    refuse(discover("ibstat.txt", "nodes=2 fabric=fat-tree", &err), &err, AR_USAGE,
           "also --set rack.nodes=N --set rack.uplinks=N --set rack.uplink_bandwidth=RATE --set "
           "gpus_per_node=N --set nvlink.pairs=");
    refuse(discover("ibstat.txt", "fabric=torus gpus_per_node=4", &err), &err, AR_USAGE,
           "also --set torus.lengths=NxN --set torus.link_bandwidth=RATE --set nvlink.pairs=");
    refuse(discover("ibstat.txt", "nodes=2 rack.nodes=0", &err), &err, AR_USAGE,
           "--set gpus_per_node=N --set nvlink.pairs=switch|all|none|0-1... --set "
           "nvlink.bandwidth=RATE (unless none) --set pcie.switches=N (unless switch or all) --set "
           "pcie.bandwidth=RATE (unless switch or all)");
    refuse(discover("mesh.xml", "nodes=4 tree.rails=nvlink", &err), &err, AR_USAGE,
           "--set: found rails for nodes with one HCA (");
    refuse(discover("switch.xml", "nodes=4 tree.rails=nvlink hcas=3", &err), &err, AR_USAGE,
           "key \"hcas\": found \"3\"; expected a divisor of gpus_per_node");
}

Test(discover_bad, a_setting_that_is_no_value_is_refused_before_files_are_read)
{
    static const char *const rows[][2] = {
        {"hcas=abc", "--set: key \"hcas\": found \"abc\"; expected a whole number"},
        {"nodes=0", "--set: key \"nodes\": found \"0\""},
        {"nvlink.pairs=0-1,2-3", "--set: key \"nvlink.pairs\": found \"0-1,2-3\""},
        {"nvlink.bandwidth=50", "found \"50\" without a unit"}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct ar_error err;
        refuse(discover("none.xml", rows[i][0], &err), &err, AR_USAGE, rows[i][1]);
    }
}

static const struct {
    const char *text, *error;
} broken[] = {
    {"", "text: found nothing that is known; expected a topology file of NCCL"},
    {"hello\n", "text: found nothing that is known"},
    {"<html/>", "text:1: found XML of <html>; expected <system>, a topology"},
    {"<system>\n<cpu>", "text:2: broken XML: no element found; expected a whole topology file"},
    {"<!DOCTYPE s [\n<!ENTITY a \"b\">]><system/>",
     "text:2: found the declaration of an entity, \"a\"; expected none"},
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

Test(discover_bad, broken_files_are_refused_with_their_line)
{
    for (size_t i = 0; i < sizeof broken / sizeof broken[0]; i++) {
        struct ar_error err;
        refuse(discover_text(broken[i].text, "nodes=1", &err), &err, AR_BAD_DATA, broken[i].error);
    }
}

Test(discover_bad, deep_and_large_documents_are_refused)
{
    struct ar_error err;
    char text[8192] = "<system>";
    size_t used = strlen(text);
    for (size_t i = 0; i < 500; i++) {
        used += (size_t)snprintf(text + used, sizeof text - used, "<cpu>");
    }
    refuse(discover_text(text, "nodes=1", &err), &err, AR_BAD_DATA, "nested deeper than 128");
    used = (size_t)snprintf(text, sizeof text, "<system>");
    for (size_t i = 0; i < 100; i++) {
        used += (size_t)snprintf(text + used, sizeof text - used, "<pci class='0x030200'/>");
    }
    refuse(discover_text(text, "nodes=1", &err), &err, AR_BAD_DATA, "found more than 64 GPUs");
}
