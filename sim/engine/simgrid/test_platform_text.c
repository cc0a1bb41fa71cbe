#include "test_platform_text.h"

#include <criterion/criterion.h>
#include <unistd.h>

#include "ar_platform_file.h"
#include "test_setting.h"

enum { SETTINGS_MAX = 8 };

FILE *platform_text_make(char path[PATH_SIZE])
{
    snprintf(path, PATH_SIZE, "%s/platform-XXXXXX.xml", AR_TEST_BINARY_DIR);
    int descriptor = mkstemps(path, 4);
    FILE *file = descriptor >= 0 ? fdopen(descriptor, "w") : NULL;
    cr_assert(file != NULL, "cannot make %s", path);
    return file;
}

static size_t count_settings(const char *const *settings)
{
    size_t count = 0;
    while (settings != NULL && settings[count] != NULL) {
        count++;
    }
    return count;
}

static struct ar_arena arena; /* of all platforms of a test, which is a process */

struct ar_cluster *platform_text_open(const char *path, const char *const *settings)
{
    struct ar_cluster *cluster = NULL;
    struct ar_error err = {.text = ""};
    struct ar_setting list[SETTINGS_MAX];
    size_t count = count_settings(settings);
    cr_assert(count <= SETTINGS_MAX);
    enum ar_status status = ar_platform_file_load(
        path, ar_settings_of_option("--set", settings, count, list), &arena, &cluster, &err);
    cr_assert(status == AR_OK, "%s", err.text);
    return cluster;
}

struct ar_cluster *platform_text_load(const char *text, const char *const *settings,
                                      char path[PATH_SIZE])
{
    FILE *file = platform_text_make(path);
    fputs(text, file);
    cr_assert_eq(fclose(file), 0);
    return platform_text_open(path, settings);
}

void platform_text_unload(const char *path)
{
    unlink(path);
}
