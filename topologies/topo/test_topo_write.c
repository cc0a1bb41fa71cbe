#include <criterion/criterion.h>
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ar_topo.h"
#include "test_topo_files.h"

static struct ar_arena arena;

static struct ar_topo *load(const char *path)
{
    struct ar_topo *topo = NULL;
    struct ar_error err;
    cr_assert_eq(ar_topo_load(path, &arena, &topo, &err), AR_OK, "%s", err.text);
    return topo;
}

static struct ar_topo *load_text(const char *text)
{
    char path[TEST_PATH_SIZE];
    struct ar_topo *topo = load(test_file_make(text, strlen(text), path));
    unlink(path);
    return topo;
}

/* What is written, in memory of the caller. */
static char *written(const struct ar_topo *topo)
{
    char *text = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&text, &size);
    ar_topo_write(topo, file);
    fclose(file);
    return text;
}

static void expect_written(const struct ar_topo *topo, const char *expected)
{
    char *text = written(topo);
    cr_expect_str_eq(text, expected);
    free(text);
}

static char *read_bytes(const char *path)
{
    char *bytes = calloc(1, 1 << 16);
    FILE *file = fopen(path, "r");
    cr_assert(file != NULL && fread(bytes, 1, (1 << 16) - 1, file) > 0);
    fclose(file);
    return bytes;
}

Test(topo_write, every_shipped_file_comes_out_byte_for_byte)
{
    size_t count = 0;
    DIR *folder = opendir(AR_TEST_SOURCE_DIR "/topologies/machines");
    cr_assert(folder != NULL);
    for (struct dirent *entry = readdir(folder); entry != NULL; entry = readdir(folder)) {
        char path[TEST_PATH_SIZE + 256];
        const char *ending = strstr(entry->d_name, ".topo");
        if (ending == NULL || ending[5] != '\0') {
            continue;
        }
        snprintf(path, sizeof path, AR_TEST_SOURCE_DIR "/topologies/machines/%s", entry->d_name);
        struct ar_topo *topo = load(path);
        char *bytes = read_bytes(path);
        expect_written(topo, bytes);
        free(bytes);
        ar_arena_end(&arena);
        count++;
    }
    closedir(folder);
    cr_expect_geq(count, 7);
}

Test(topo_write, what_nobody_changed_stays_as_it_was_written)
{
    static const char text[] = "# comment\r\n\n  nodes  =4;x ; y\t\r\n\tname = a\n";
    struct ar_topo *topo = load_text(text);
    expect_written(topo, text);
    ar_arena_end(&arena);
}

Test(topo_write, a_value_replaces_its_line_and_a_new_one_comes_last)
{
    struct ar_error err;
    struct ar_topo *topo = load_text("# a\nnodes = 4 ; x\n# b\nname = a ; y\n");
    cr_assert_eq(ar_topo_set(topo, "net.latency", "2us", "measured; twice", &err), AR_OK);
    cr_assert_eq(ar_topo_set(topo, " nodes ", " 8 ", "z", &err), AR_OK);
    cr_assert_eq(ar_topo_set(topo, "net.latency", "3us", "measured", &err), AR_OK);
    expect_written(topo, "# a\nnodes = 8 ; z\n# b\nname = a ; y\nnet.latency = 3us ; measured\n");
    ar_arena_end(&arena);
}

Test(topo_write, a_value_that_is_not_one_line_is_refused)
{
    struct ar_error err;
    struct ar_topo *topo = load_text("nodes = 4 ; x\n");
    cr_expect_eq(ar_topo_set(topo, "node", "8", "z", &err), AR_USAGE);
    cr_expect(strstr(err.text, "did you mean \"nodes\"?") != NULL, "%s", err.text);
    cr_expect_eq(ar_topo_set(topo, "#nodes", "8", "z", &err), AR_USAGE);
    cr_expect_eq(ar_topo_set(topo, "description", "a; b", "z", &err), AR_USAGE);
    cr_expect_eq(ar_topo_set(topo, "description", "a\nb", "z", &err), AR_USAGE);
    cr_expect_eq(ar_topo_set(topo, "description", "a", "b\n", &err), AR_USAGE);
    expect_written(topo, "nodes = 4 ; x\n");
    ar_arena_end(&arena);
}

Test(topo_write, the_block_at_the_head_replaces_an_earlier_one_and_no_value)
{
    struct ar_error err;
    struct ar_topo *topo = load_text("# made\r\n# earlier\nname = a\n# end\r\n# kept\nnodes = 4\n");
    const char *const texts[] = {"one", "two"};
    cr_assert_eq(ar_topo_set_head(topo, "# made", texts, 2, "# end", &err), AR_OK);
    expect_written(topo, "# made\n# one\n# two\n# end\n# made\r\n# earlier\nname = a\n# end\r\n"
                         "# kept\nnodes = 4\n");
    const char *const lines[] = {"two\nlines"};
    cr_expect_eq(ar_topo_set_head(topo, "# made", lines, 1, "# end", &err), AR_USAGE);
    cr_assert_eq(ar_topo_set_head(topo, "# made", texts, 1, "# end", &err), AR_OK);
    expect_written(topo, "# made\n# one\n# end\n# made\r\n# earlier\nname = a\n# end\r\n"
                         "# kept\nnodes = 4\n");
    ar_arena_end(&arena);
}
