/* Cluster files of fixtures. */
#include "test_discover.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

enum { SETTINGS_MAX = 8 };

static struct ar_arena arena;
static char *written;
static size_t written_bytes;

static enum ar_status begin(const char *settings, struct ar_discovery **discovery,
                            struct ar_error *err)
{
    struct ar_setting *list = ar_arena_alloc(&arena, SETTINGS_MAX, sizeof *list);
    char *rest = ar_arena_text(&arena, settings);
    size_t count = 0;
    for (char *word; (word = strtok_r(NULL, " ", &rest)) != NULL;) {
        list[count++] = (struct ar_setting){word, "--set", AR_USAGE};
    }
    return ar_discover_begin((struct ar_settings){list, count}, &arena, discovery, err);
}

static const char *finish(struct ar_discovery *discovery, struct ar_error *err)
{
    struct ar_topo *topo = NULL;
    if (ar_discover_finish(discovery, "mine", &topo, err) != AR_OK) {
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

const char *discover(const char *files, const char *settings, struct ar_error *err)
{
    ar_arena_end(&arena);
    struct ar_discovery *discovery = NULL;
    char *rest = ar_arena_text(&arena, files);
    if (begin(settings, &discovery, err) != AR_OK) {
        return NULL;
    }
    for (char *word; (word = strtok_r(NULL, " ", &rest)) != NULL;) {
        if (ar_discover_read(discovery, ar_arena_format(&arena, FIXTURES "%s", word), err) !=
            AR_OK) {
            return NULL;
        }
    }
    return finish(discovery, err);
}

const char *discover_text(const char *text, const char *settings, struct ar_error *err)
{
    ar_arena_end(&arena);
    struct ar_discovery *discovery = NULL;
    char *copy = ar_arena_text(&arena, text);
    return begin(settings, &discovery, err) == AR_OK &&
                   ar_discover_parse(discovery, "text", copy, strlen(copy), err) == AR_OK
               ? finish(discovery, err)
               : NULL;
}

/* Each of `lines`, NULL at the end, begins a line of the file; after " ; " its source ends so. */
static void expect(const char *topo, const struct ar_error *err, const char *const *lines)
{
    cr_assert_not_null(topo, "%s", err->text);
    for (; *lines != NULL; lines++) {
        char *key = ar_arena_format(&arena, "\n%s", *lines);
        cr_expect_not_null(strstr(topo, key), "no %s in%s", *lines, topo);
    }
}
#define EXPECT(topo, ...) expect(topo, &err, (const char *const[]){__VA_ARGS__, NULL})

#define SEVERAL "nodes=4 rack.nodes=0"

Test(discover, a_dump_of_nccl_gives_a_node_and_each_value_its_line)
{
    struct ar_error err;
    const char *topo = discover("switch.xml", SEVERAL, &err);
    EXPECT(topo, "name = mine ;", "nodes = 4 ; --set", "gpus_per_node = 4 ;",
           "gpu.model = NVIDIA A100 SXM4 80GB ; " FIXTURES "switch.xml:11: PCI device 10de:20b2",
           "gpu.generation = ampere ; " FIXTURES "switch.xml:6:", "cpu.vendor = amd ;",
           "nvlink.pairs = switch ; " FIXTURES "switch.xml:7:", "nvlink.bandwidth = 274GB/s ;",
           "pcie.switches = 2 ;", "pcie.bandwidth = 31.508GB/s ;",
           "hcas = 2 ; " FIXTURES "switch.xml:19:", "hca.bandwidth = 200Gbps ;",
           "hca.attached = switch ;", "net.latency = 14us ; assumed",
           "note: NICs that are not counted, since they are below no PCIe switch with a GPU: eth0");
}

Test(discover, what_is_set_leaves_the_rest_as_the_files_say)
{
    struct ar_error err;
    EXPECT(discover("switch.xml", SEVERAL " hcas=4 hca.bandwidth=100Gbps", &err),
           "hcas = 4 ; --set", "hca.bandwidth = 100Gbps ; --set", "hca.attached = switch ;");
}

Test(discover, links_between_gpus_are_pairs_with_weights)
{
    struct ar_error err;
    EXPECT(discover("mesh.xml", SEVERAL, &err), "gpus_per_node = 3 ;",
           "nvlink.pairs = 0-1 0-2 1-2:2 ;", "nvlink.bandwidth = 50GB/s ;",
           "gpu.generation = cdna2 ;", "pcie.switches = 1 ;", "hcas = 1 ;");
}

Test(discover, files_complete_each_other)
{
    struct ar_error err;
    EXPECT(discover("switch.xml matrix-nics.txt ibstat.txt devinfo.txt", SEVERAL, &err),
           "gpus_per_node = 4 ; " FIXTURES "switch.xml",
           "note: NICs that are not counted, since they are down: mlx5_2");
    EXPECT(discover("static.xml ibstat.txt", SEVERAL " nvlink.pairs=none", &err), "hcas = 2 ;",
           "hca.bandwidth = 200Gbps ; " FIXTURES "ibstat.txt:9:");
}

Test(discover, a_matrix_has_nvlinks_and_what_is_below_one_switch)
{
    struct ar_error err;
    EXPECT(discover("matrix-nics.txt ibstat.txt", SEVERAL " gpu.generation=ampere", &err),
           "nvlink.pairs = switch ;", "nvlink.bandwidth = 274GB/s ;", "pcie.switches = 2 ;",
           "pcie.bandwidth = 31.508GB/s ; assumed", "hcas = 2 ;", "hca.attached = switch ;",
           "hca.bandwidth = 200Gbps ;",
           "note: NICs that are not counted, since they are below no PCIe switch with a GPU: "
           "mlx5_bond_0");
    EXPECT(discover("matrix-names.txt devinfo.txt", SEVERAL " gpu.generation=volta pcie.switches=2",
                    &err),
           "nvlink.pairs = 0-1:2 0-2 1-3 2-3:2 ;", "nvlink.bandwidth = 24.24GB/s ;", "hcas = 1 ;",
           "hca.attached = host ;", "hca.bandwidth = 200Gbps ;",
           "note: " FIXTURES "matrix-names.txt: GPUs are not spread evenly");
}

Test(discover, several_ports_for_each_gpu_are_one_hca_of_their_sum)
{
    struct ar_error err;
    EXPECT(
        discover_text("<system><cpu><pci class='0x060400' link_speed='8 GT/s'>"
                      "<pci class='0x030200' busid='a' link_speed='8 GT/s'><gpu dev='0'/></pci>"
                      "<pci class='0x020000' busid='b'><nic><net name='a0' speed='180000'/>"
                      "<net name='a1' port='2' speed='180000'/></nic></pci></pci></cpu></system>",
                      SEVERAL, &err),
        "hcas = 1 ;", "hca.bandwidth = 360Gbps ;");
}

Test(discover, gpus_of_amd_that_are_not_known_have_the_constants_of_its_library)
{
    struct ar_error err;
    EXPECT(discover_text("<system><cpu><pci class='0x060400' link_speed='8 GT/s'>"
                         "<pci class='0x038000' busid='a' link_speed='8 GT/s'>"
                         "<gpu dev='0' gcn='906'/></pci></pci></cpu></system>",
                         "nodes=1", &err),
           "collective.setup = 17us ; assumed: ROCm/rccl");
    cr_expect_not_null(strstr(written, "ring, Simple; those of GPUs of unknown generation as of "
                                       "cdna2"),
                       "%s", written);
}
