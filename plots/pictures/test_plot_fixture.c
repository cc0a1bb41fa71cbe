#include "test_plot_fixture.h"
#include "test_outcome.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

const char header[] =
    "cluster,trace,batch_per_gpu,precision,gpus,nodes,algorithm,shape,channels,engine,"
    "payload_bytes,iteration_s,compute_s,allreduce_s,exposed_s,samples_per_s,efficiency_frac,"
    "baseline,messages_count,wall_s,version,window,bucket,buckets_count,forward_s,backward_s,"
    "optimizer_s,overhead_s,setup_s,latency_s,bandwidth_s,reduction_s,engine_options,status\n";

char directory[64];
char text[1 << 20];
struct ar_arena arena;

const char *in_directory(const char *name)
{
    static char paths[4][256];
    static int turn;
    char *path = paths[turn++ % 4];
    snprintf(path, sizeof paths[0], "%s/%s", directory, name);
    return path;
}

void make_directory(void)
{
    strcpy(directory, "/tmp/ar plot's \"test\"-XXXXXX");
    cr_assert_not_null(mkdtemp(directory));
}

void remove_directory(void)
{
    DIR *stream = opendir(directory);
    for (struct dirent *entry; (entry = readdir(stream)) != NULL;) {
        unlinkat(dirfd(stream), entry->d_name, 0);
        unlinkat(dirfd(stream), entry->d_name, AT_REMOVEDIR);
    }
    closedir(stream);
    rmdir(directory);
    ar_arena_end(&arena);
}

void write_file(const char *name, const char *content)
{
    test_write_file(in_directory(name), content);
}

size_t read_file(const char *name)
{
    FILE *file = fopen(in_directory(name), "r");
    cr_assert_not_null(file, "%s is missing", name);
    size_t size = fread(text, 1, sizeof text - 1, file);
    text[size] = '\0';
    fclose(file);
    return size;
}

void expect_in(const char *name, const char *fragment)
{
    read_file(name);
    cr_expect_not_null(strstr(text, fragment), "%s does not have \"%s\"", name, fragment);
}

void expect_content(const char *name, const char *content)
{
    read_file(name);
    cr_expect_str_eq(text, content, "%s", name);
}

unsigned count_outputs(void)
{
    unsigned count = 0;
    DIR *stream = opendir(directory);
    for (struct dirent *entry; (entry = readdir(stream)) != NULL;) {
        const char *name = entry->d_name;
        count += strcmp(name, ".") != 0 && strcmp(name, "..") != 0 &&
                 strcmp(name, "sweep.csv") != 0 && strcmp(name, "payload.csv") != 0 &&
                 strcmp(name, "gnuplot") != 0;
    }
    closedir(stream);
    return count;
}

void add_row(FILE *file, unsigned gpus, const char *algorithm, const char *shape,
             const char *engine, double iteration_s, double allreduce_s, const char *status)
{
    fprintf(file,
            "abci-v100,resnet50-v1.5,32,fp16,%u,%u,%s,%s,2,%s,51100000,%g,0.07,%g,%g,%g,%g,gpu,"
            "100,0.1,0.1.0,8,25MiB,3,0.021,0.043,0.001,0.005,0,0,0,0,,%s\n",
            gpus, gpus / 4, algorithm, shape, engine, iteration_s, allreduce_s, iteration_s - 0.07,
            32 * gpus / iteration_s, 0.07 / iteration_s, status);
}

FILE *open_sweep(const char *columns)
{
    FILE *file = fopen(in_directory("sweep.csv"), "w");
    cr_assert_not_null(file);
    fprintf(file, "%s%s", columns, header);
    return file;
}

void write_sweep(void)
{
    FILE *file = open_sweep("");
    add_row(file, 16, "ring", "-", "simgrid", 0.080, 0.020, "ok");
    add_row(file, 16, "torus2d", "4x4", "simgrid", 0.075, 0.010, "ok");
    add_row(file, 16, "torus2d", "8x2", "simgrid", 0.070, 0.001, "\"aborted: \"\"no\"\" route\"");
    add_row(file, 64, "ring", "-", "closed", 0.090, 0.040, "ok");
    add_row(file, 64, "hierarchical", "4", "closed", 0.085, 0.030, "ok");
    add_row(file, 64, "torus2d", "4x16", "closed", 0.077, 0.013, "ok");
    add_row(file, 64, "torus2d", "8x8", "closed", 0.076, 0.011, "ok");
    add_row(file, 64, "torus2d", "16x4", "closed", 0.078, 0.014, "ok");
    cr_assert_eq(fclose(file), 0);
}

void write_payloads(void)
{
    FILE *file = fopen(in_directory("payload.csv"), "w");
    cr_assert_not_null(file);
    fprintf(file, "busbw_Bps,%s", header);
    for (unsigned long bytes = 0; bytes <= 1ul << 26; bytes = bytes == 0 ? 1024 : bytes * 16) {
        double time_s = 1e-4 + (double)bytes * 2e-10;
        fprintf(file, "%g,abci-v100,,,,64,16,ring,-,2,simgrid,%lu,,,%g,,,,,,,,,,,,,,,,,,,,ok\n",
                (double)bytes / time_s, bytes, time_s);
    }
    cr_assert_eq(fclose(file), 0);
}

struct ar_plot_request a_request(void)
{
    return (struct ar_plot_request){.path = directory, .template_dir = TEMPLATES};
}

unsigned count_drawn(const struct ar_plot_report *report)
{
    unsigned count = 0;
    for (size_t i = 0; i < report->pictures_count; i++) {
        count += report->pictures[i].is_drawn;
    }
    return count;
}

void expect_whole(const struct ar_plot_report *report, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        char name[64];
        cr_expect(report->pictures[i].is_drawn, "%s", report->pictures[i].name);
        cr_expect_null(report->pictures[i].reason);
        snprintf(name, sizeof name, "%s.gp", report->pictures[i].name);
        cr_expect_gt(read_file(name), 1000);
        snprintf(name, sizeof name, "%s.svg", report->pictures[i].name);
        expect_in(name, "</svg>");
        cr_expect_not_null(strstr(text, "<text"), "text stays text");
        snprintf(name, sizeof name, "%s.png", report->pictures[i].name);
        size_t size = read_file(name);
        cr_expect_eq(memcmp(text, "\x89PNG\r\n\x1a\n", 8), 0);
        cr_expect_eq(memcmp(text + size - 8, "IEND\xAE\x42\x60\x82", 8), 0);
    }
}

void need_gnuplot(void)
{
    if (system("gnuplot --version >/dev/null 2>&1") != 0) {
        cr_skip_test("gnuplot is not installed");
    }
}

struct ar_plot_report draw_request(const struct ar_plot_request *request)
{
    struct ar_plot_report report = {NULL};
    need_gnuplot();
    TEST_OK(ar_plot_draw(request, &arena, &report, &why));
    return report;
}

struct ar_plot_report draw_where(const char *where)
{
    struct ar_plot_request request = a_request();
    request.where = where;
    return draw_request(&request);
}

struct ar_plot_report draw(void)
{
    return draw_where(NULL);
}

struct ar_plot_report draw_sweep(void)
{
    write_sweep();
    return draw();
}

void expect_refused(const struct ar_plot_request *request, enum ar_status status,
                    const char *expected)
{
    struct ar_plot_report report;
    TEST_FAILS(status, expected, ar_plot_draw(request, &arena, &report, &why));
}
