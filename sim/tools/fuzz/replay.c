/* Without libFuzzer: runs every target on its seeds, on beginnings and on damaged copies of them.
 */
#include <glob.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"

enum { FILE_BYTES = 1 << 20, STRIDE_MIN = 13, PLACES = 8 };

static void replay_input(uint8_t *bytes, size_t size)
{
    size_t stride = size / PLACES > STRIDE_MIN ? size / PLACES : STRIDE_MIN;
    LLVMFuzzerTestOneInput(bytes, size);
    for (size_t i = 0; i < size; i += stride) {
        static const uint8_t damage[] = {'\0', '-', '9', '\n', 0xff};
        uint8_t kept = bytes[i];
        LLVMFuzzerTestOneInput(bytes, i);
        bytes[i] = damage[i % sizeof damage];
        LLVMFuzzerTestOneInput(bytes, size);
        bytes[i] = kept;
    }
}

static size_t replay_file(const char *path, uint8_t *bytes)
{
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        return 0;
    }
    size_t size = fread(bytes, 1, FILE_BYTES, file);
    fclose(file);
    replay_input(bytes, size);
    return 1;
}

static size_t replay_target(const struct fuzz_target *target, uint8_t *bytes)
{
    char seeds[512];
    size_t count = 0;
    glob_t found;
    snprintf(seeds, sizeof seeds, "%s", target->seeds);
    fuzz_begin(target->name);
    for (char *at = strtok(seeds, " "); at != NULL; at = strtok(NULL, " ")) {
        if (glob(at, 0, NULL, &found) == 0) {
            for (size_t i = 0; i < found.gl_pathc; i++) {
                count += replay_file(found.gl_pathv[i], bytes);
            }
            globfree(&found);
        }
    }
    fprintf(stderr, "%-14s%4zu seeds\n", target->name, count);
    return count;
}

/* Begins in the source folder. */
int main(void)
{
    uint8_t *bytes = malloc(FILE_BYTES);
    bool has_all = bytes != NULL;
    for (const struct fuzz_target *at = fuzz_targets; has_all && at->name != NULL; at++) {
        has_all = replay_target(at, bytes) > 0;
    }
    free(bytes);
    return has_all ? 0 : 1;
}
