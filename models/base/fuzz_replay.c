/* Without libFuzzer: runs a fuzz target on files, on their beginnings and on damaged copies. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

enum { FILE_BYTES = 1 << 20, STRIDE = 13 };

static void replay(uint8_t *bytes, size_t size)
{
    LLVMFuzzerTestOneInput(bytes, size);
    for (size_t i = 0; i < size; i += STRIDE) {
        static const uint8_t damage[] = {'\0', '-', '9', '\n', 0xff};
        uint8_t kept = bytes[i];
        LLVMFuzzerTestOneInput(bytes, i);
        bytes[i] = damage[i / STRIDE % sizeof damage];
        LLVMFuzzerTestOneInput(bytes, size);
        bytes[i] = kept;
    }
}

int main(int argc, char **argv)
{
    uint8_t *bytes = malloc(FILE_BYTES);
    if (bytes == NULL || argc < 2) {
        fprintf(stderr, "usage: %s FILE...\n", argv[0]);
        return 64;
    }
    for (int i = 1; i < argc; i++) {
        FILE *file = fopen(argv[i], "rb");
        if (file == NULL) {
            fprintf(stderr, "%s cannot be opened\n", argv[i]);
            return 66;
        }
        size_t size = fread(bytes, 1, FILE_BYTES, file);
        fclose(file);
        replay(bytes, size);
    }
    free(bytes);
    return 0;
}
