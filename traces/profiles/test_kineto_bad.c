/* Profiles that are no use: each is refused with one line that says where and why. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "ar_kineto.h"
#include "test_kineto.h"

static struct ar_arena arena;
static struct ar_error err;

static void leave(void)
{
    ar_arena_end(&arena);
}
TestSuite(kineto_bad, .fini = leave);

static enum ar_status import(const char *text, const struct ar_kineto_request *request)
{
    struct ar_kineto *kineto = NULL;
    struct ar_kineto_step *step = NULL;
    enum ar_status status = ar_kineto_parse("p.json", text, strlen(text), &arena, &kineto, &err);
    return status != AR_OK ? status : ar_kineto_step_create(kineto, request, &arena, &step, &err);
}

static void expect_refused(const char *text, const char *fragment)
{
    cr_assert_eq(import(text, &(const struct ar_kineto_request){0}), AR_BAD_DATA, "%s", fragment);
    cr_expect(strncmp(err.text, "p.json:", 7) == 0, "%s", err.text);
    cr_expect(strstr(err.text, fragment) != NULL, "%s does not say %s", err.text, fragment);
    cr_expect_null(strchr(err.text, '\n'));
}

Test(kineto_bad, texts_that_are_no_profile)
{
    static const struct {
        const char *text;
        const char *fragment;
    } rows[] = {
        {"", "p.json: empty; expected JSON"},
        {"hello", "p.json:1: byte 1: lexical error"},
        {"{}\n{}", "p.json:2: byte 4: parse error: trailing garbage"},
        {"{\"traceEvents\":\n[{]", "p.json:2: byte 19: parse error"},
        {"{\"traceEvents\":[", "byte 16: parse error: premature EOF"},
        {"[1]", "byte 1: a list; expected an object with traceEvents"},
        {"3", "no traceEvents"},
        {"{\"a\":[1]}", "no traceEvents"},
        {"{\"a\":{\"traceEvents\":[]}}", "no traceEvents"},
        {"{\"traceEvents\":[]}", "no events of a GPU"},
        {"{\"a\":1111111111111111111111111111111111111111111111111111111111111111}",
         "a number of 64 characters; expected at most 63"},
        {"{\"a\":[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[",
         "values within more than 64 others"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        expect_refused(rows[i].text, rows[i].fragment);
    }
}

Test(kineto_bad, profiles_without_what_is_needed)
{
    static const struct {
        const char *from;
        const char *to;
        const char *fragment;
    } rows[] = {
        {"\"cat\":\"kernel\"", "\"cat\":\"other\"", "no events of a GPU"},
        {"Optimizer.step#", "Optimizer.zero#",
         "no step of an optimizer (Optimizer.step#...) among 2"},
        {"\"cat\":\"cuda_runtime\"", "\"cat\":\"other\"", "none of 2 steps has a backward pass"},
        {"evaluate_function", "function", "none of 2 steps has a backward pass"},
        {"ProfilerStep#6", "ProfilerStep#5",
         "ProfilerStep#5 is there twice; expected a trace of one"},
        {"\"device\":0,\"stream\":20", "\"device\":3,\"stream\":20", "events of GPUs 0 and 3"},
        {"\"dur\":100", "\"dur\":-1", "begins at 1510 and takes -1; expected microseconds"},
        {"\"ts\":1510", "\"ts\":1e40", "expected microseconds, at most 1e12"},
        {"msg nelems", "messages", "neither shapes nor collectives say how large the 3 gradients"},
    };
    const char *text = test_fixture(&arena, "ddp.json");
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        expect_refused(test_changed(&arena, text, rows[i].from, rows[i].to), rows[i].fragment);
    }
}

Test(kineto_bad, every_beginning_of_a_profile)
{
    const char *text = test_fixture(&arena, "ddp.json");
    size_t length = strlen(text);
    for (size_t bytes = 1; bytes < length - 2; bytes += 97) {
        struct ar_kineto *kineto = NULL;
        cr_assert_eq(ar_kineto_parse("p.json", text, bytes, &arena, &kineto, &err), AR_BAD_DATA,
                     "%zu bytes", bytes);
        cr_expect_null(kineto);
    }
}

Test(kineto_bad, much_between_two_keys)
{
    enum { BLANKS = 3 << 20 }; /* less than is refused, but not twice */
    static const char *const middles[] = {"{\"ph\": \"X\"}", ""};
    char *text = ar_arena_alloc(&arena, 2 * BLANKS + 100, 1);
    for (int i = 0; i < 2; i++) {
        struct ar_kineto *kineto = NULL;
        int bytes =
            sprintf(text, "{\"traceEvents\": [%*s%s%*s]}", BLANKS, "", middles[i], BLANKS, "");
        enum ar_status status =
            ar_kineto_parse("p.json", text, (size_t)bytes, &arena, &kineto, &err);
        cr_expect_eq(status, i == 0 ? AR_OK : AR_BAD_DATA, "%s", err.text);
    }
    cr_expect_not_null(strstr(err.text, "without a key"), "%s", err.text);
}

static struct ar_trace model(uint64_t *elements, uint32_t count)
{
    return (struct ar_trace){.name = "model", .tensors_count = count, .tensor_elements = elements};
}

Test(kineto_bad, parameters_of_another_model)
{
    uint64_t right[] = {432, 2560, 10}, other[] = {432, 2561, 10}, few[] = {432, 2570};
    struct ar_trace trace = model(right, 3);
    const struct ar_kineto_request request = {.parameters = &trace};
    const char *buckets = test_fixture(&arena, "ddp.json"),
               *shapes = test_fixture(&arena, "shapes.json");
    cr_expect_eq(import(buckets, &request), AR_OK, "%s", err.text);
    cr_expect_eq(import(shapes, &request), AR_OK, "%s", err.text);
    trace = model(other, 3);
    cr_expect_eq(import(buckets, &request), AR_BAD_DATA);
    cr_expect_str_eq(err.text,
                     "p.json: the bucket that gradient 2 completes has 2570 elements, and "
                     "in model 2571; expected the parameters of the same model");
    cr_expect_eq(import(shapes, &request), AR_BAD_DATA);
    cr_expect_str_eq(err.text, "p.json: gradient 2 has 2560 elements, and model 2561; expected the "
                               "parameters of the same model");
    trace = model(few, 2);
    cr_expect_eq(import(buckets, &request), AR_BAD_DATA);
    cr_expect_str_eq(err.text, "p.json: 3 gradients arrive in a step, and model has 2 tensors; "
                               "expected the parameters of the same model");
}

/* --- files --------------------------------------------------------------------------------- */

static enum ar_status load(const char *bytes, size_t count, char path[64])
{
    struct ar_kineto *kineto = NULL;
    strcpy(path, "/tmp/test_kineto_XXXXXX");
    FILE *file = fdopen(mkstemp(path), "w");
    fwrite(bytes, 1, count, file);
    fclose(file);
    enum ar_status status = ar_kineto_load(path, &arena, &kineto, &err);
    unlink(path);
    return status;
}

Test(kineto_bad, compressed_files_that_are_cut_or_broken)
{
    const char *text = test_fixture(&arena, "ddp.json");
    char path[64], expected[128];
    unsigned char packed[1 << 15];
    z_stream stream = {.next_in = (Bytef *)(uintptr_t)text,
                       .avail_in = (uInt)strlen(text),
                       .next_out = packed,
                       .avail_out = sizeof packed};
    cr_assert_eq(deflateInit2(&stream, 9, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
    cr_assert_eq(deflate(&stream, Z_FINISH), Z_STREAM_END);
    size_t count = stream.total_out;
    deflateEnd(&stream);
    cr_expect_eq(load((const char *)packed, count, path), AR_OK);
    cr_expect_eq(load((const char *)packed, count / 2, path), AR_BAD_DATA);
    snprintf(expected, sizeof expected, "%s: gzip is broken behind byte ", path);
    cr_expect(strncmp(err.text, expected, strlen(expected)) == 0, "%s", err.text);
    cr_expect(strstr(err.text, "unexpected end of file") != NULL, "%s", err.text);
    memset(packed + count / 2, 'x', 40);
    cr_expect_eq(load((const char *)packed, count, path), AR_BAD_DATA);
    cr_expect(strstr(err.text, "; expected a whole file") != NULL, "%s", err.text);
    cr_expect_eq(load("", 0, path), AR_BAD_DATA);
    cr_expect(strstr(err.text, ": empty; expected JSON") != NULL, "%s", err.text);
}

Test(kineto_bad, paths_that_are_no_file)
{
    struct ar_kineto *kineto = NULL;
    cr_expect_eq(ar_kineto_load("/no/such.json", &arena, &kineto, &err), AR_NO_INPUT);
    cr_expect(strstr(err.text, "No such file") != NULL, "%s", err.text);
    cr_expect_eq(ar_kineto_load("/tmp", &arena, &kineto, &err), AR_NO_INPUT);
    cr_expect(strstr(err.text, "Is a directory") != NULL, "%s", err.text);
}
