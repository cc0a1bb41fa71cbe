/* Profiles that are no use: each is refused with one line that says where and why. */
#include <unistd.h>
#include <zlib.h>

#include "ar_kineto.h"
#include "test_kineto.h"

static struct ar_arena arena; /* of a test, which is a process */
static const struct ar_kineto_request request = {0};

static enum ar_status import(const char *text, size_t bytes, struct ar_error *err)
{
    struct ar_kineto_step *step = NULL;
    char *copy = ar_arena_alloc(&arena, bytes + 1, 1);
    memcpy(copy, text, bytes);
    return ar_kineto_parse("p.json", copy, bytes, &request, &arena, &step, err);
}

Test(kineto_bad, texts_that_are_no_profile)
{
    static const char *const rows[][2] = {
        {"", "p.json:1: empty; expected JSON"},
        {"hello", "p.json:1: no object; expected JSON"},
        {"{}\n{}", "p.json:2: more behind the object"},
        {"{\"traceEvents\":\n[{\"a\":}]}", "p.json:2: parse error"},
        {"{\"traceEvents\":[", "p.json:1: no value that ends"},
        {"{\"a\"}", "p.json:1: no key with a value"},
        {"{\"a\":{\"traceEvents\":[]}}", "no traceEvents"},
        {"{\"traceEvents\":[]}", "p.json: no events of a GPU"},
        {"{\"a\":[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[",
         "one deeper than 64 others"},
    };
    TEST_PAIRS_FAIL(AR_BAD_DATA, rows, import(given, strlen(given), &why));
}

Test(kineto_bad, profiles_without_what_is_needed_and_every_beginning_of_one)
{
    static const struct {
        const char *from, *to, *fragment;
    } rows[] = {
        {"\"cat\":\"kernel\"", "\"cat\":\"other\"", "p.json: no events of a GPU"},
        {"Optimizer.step#", "Optimizer.zero#", "p.json: no Optimizer.step#... among 2"},
        {"\"cat\":\"cuda_runtime\"", "\"cat\":\"other\"",
         "p.json: none of 2 steps has a backward pass"},
        {"evaluate_function", "function", "p.json: none of 2 steps has a backward pass"},
        {"ProfilerStep#6", "ProfilerStep#5",
         "p.json: ProfilerStep#5 is there twice; expected a trace of one"},
        {"\"device\":0,\"stream\":20", "\"device\":3,\"stream\":20",
         "p.json: events of GPUs 0 and 3"},
        {"\"dur\":100", "\"dur\":-1", "begins at 1510 and takes -1; expected microseconds"},
        {"\"ts\":1510", "\"ts\":1e40", "expected microseconds, at most 1e12"},
        {"msg nelems", "messages",
         "p.json: neither shapes nor collectives say how large the 3 gradients"},
    };
    const char *text = test_fixture(&arena, "ddp.json");
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const char *changed = test_changed(&arena, text, rows[i].from, rows[i].to);
        TEST_FAILS(AR_BAD_DATA, rows[i].fragment, import(changed, strlen(changed), &why));
    }
    size_t length = strlen(text);
    for (size_t bytes = 1; bytes < length - 2; bytes += 97) {
        TEST_FAILS(AR_BAD_DATA, "p.json:", import(text, bytes, &why));
    }
}

/* --- files --------------------------------------------------------------------------------- */

static struct ar_kineto_step *step;

static enum ar_status load(const void *bytes, size_t count, struct ar_error *err)
{
    char path[] = "/tmp/test_kineto_XXXXXX";
    step = NULL;
    FILE *file = fdopen(mkstemp(path), "w");
    fwrite(bytes, 1, count, file);
    fclose(file);
    enum ar_status status = ar_kineto_load(path, &request, &arena, &step, err);
    unlink(path);
    return status;
}

Test(kineto_bad, compressed_files_are_read_unless_they_are_cut_or_broken)
{
    const char *text = test_fixture(&arena, "ddp.json");
    unsigned char packed[1 << 15];
    z_stream stream = {.next_in = (Bytef *)(uintptr_t)text,
                       .avail_in = (uInt)strlen(text),
                       .next_out = packed,
                       .avail_out = sizeof packed};
    cr_assert_eq(deflateInit2(&stream, 9, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
    cr_assert_eq(deflate(&stream, Z_FINISH), Z_STREAM_END);
    size_t count = stream.total_out;
    deflateEnd(&stream);
    TEST_OK(load(packed, count, &why));
    cr_expect_eq(step->trace.layers_count, 4, "as of its text");
    cr_expect_float_eq(step->trace.layers[0].backward_s, 204e-6, 1e-9);
    TEST_FAILS(AR_BAD_DATA, ": gzip is broken: unexpected end of file",
               load(packed, count / 2, &why));
    memset(packed + count / 2, 'x', 40);
    TEST_FAILS(AR_BAD_DATA, "; expected a whole file", load(packed, count, &why));
    TEST_FAILS(AR_BAD_DATA, ":1: empty; expected JSON", load("", 0, &why));
}

Test(kineto_bad, paths_that_are_no_file)
{
    TEST_FAILS(AR_NO_INPUT, "/no/such.json: No such file",
               ar_kineto_load("/no/such.json", &request, &arena, &step, &why));
    TEST_FAILS(AR_NO_INPUT, "/tmp: cannot be read: Is a directory",
               ar_kineto_load("/tmp", &request, &arena, &step, &why));
}
