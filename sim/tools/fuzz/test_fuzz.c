/* One program for all targets: the variable AR_FUZZ names one, or `list` for what there is. Under
 * libFuzzer (ALLRECKON_FUZZ=ON) it searches; else it is a test. */
#include "test_fuzz.h"

#include <assert.h>
#include <dirent.h>
#include <fcntl.h>
#include <glob.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "commands.h"

enum { WORDS_MAX = 24, PATH_SIZE = 512 };

static struct {
    const struct fuzz_target *target;
    char directory[PATH_SIZE - 256];
    char path[PATH_SIZE];
    char other[PATH_SIZE];
    FILE *notes;
    bool says; /* AR_FUZZ_SAYS=1: what became of each input */
} fuzz;

/* --- files --------------------------------------------------------------------------------- */

void fuzz_write(const char *path, const char *bytes, size_t size)
{
    int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    assert(file >= 0);
    ssize_t written = size > 0 ? write(file, bytes, size) : 0;
    assert(written == (ssize_t)size);
    close(file);
}

void fuzz_make_directory(const char *path)
{
    if (mkdir(path, 0700) == 0) {
        return;
    }
    DIR *directory = opendir(path);
    assert(directory != NULL);
    for (struct dirent *entry; (entry = readdir(directory)) != NULL;) {
        unlinkat(dirfd(directory), entry->d_name, 0); /* but . and .. */
    }
    closedir(directory);
}

static void remove_directory(void)
{
    char page[PATH_SIZE + 8];
    snprintf(page, sizeof page, "%s/page", fuzz.directory);
    fuzz_make_directory(page);
    rmdir(page);
    fuzz_make_directory(fuzz.directory);
    rmdir(fuzz.directory);
}

/* A child, such as SimGrid's, has the default handlers: its parent deals with its end, not
 * libFuzzer. */
static void forget_handlers(void)
{
    static const int signals[] = {SIGABRT, SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGALRM};
    for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++) {
        signal(signals[i], SIG_DFL);
    }
}

/* --- targets ------------------------------------------------------------------------------- */

/* Chooses the target of a name. */
static void fuzz_begin(const char *name)
{
    const char *folder = getenv("TMPDIR");
    if (name == NULL || strcmp(name, "list") == 0) {
        for (const struct fuzz_target *at = fuzz_targets; at->name != NULL; at++) {
            printf("%s %s\n", at->name, at->seeds);
        }
        exit(0);
    }
    fuzz.says = getenv("AR_FUZZ_SAYS") != NULL;
    fuzz.target = fuzz_targets;
    while (fuzz.target->name != NULL && strcmp(fuzz.target->name, name) != 0) {
        fuzz.target++;
    }
    if (fuzz.target->name == NULL) {
        fprintf(stderr, "AR_FUZZ: unknown target \"%s\"; expected one of AR_FUZZ=list\n", name);
        exit(64);
    }
    if (fuzz.notes == NULL) {
        snprintf(fuzz.directory, sizeof fuzz.directory, "%s/allreckon-fuzz-XXXXXX",
                 folder != NULL ? folder : "/tmp");
        fuzz.notes = fopen("/dev/null", "we");
        if (mkdtemp(fuzz.directory) == NULL || fuzz.notes == NULL ||
            freopen("/dev/null", "we", stdout) == NULL) {
            perror(fuzz.directory);
            exit(74);
        }
        setenv("PATH", fuzz.directory, 1); /* gnuplot is slow and is not ours */
        atexit(remove_directory);
        pthread_atfork(NULL, NULL, forget_handlers);
    }
    snprintf(fuzz.path, sizeof fuzz.path, "%s/%s", fuzz.directory,
             fuzz.target->file != NULL ? fuzz.target->file : "none");
    snprintf(fuzz.other, sizeof fuzz.other, "%s/other.topo", fuzz.directory);
}

static enum ar_status run_target_command(struct ar_arena *arena, struct ar_error *err)
{
    char *words[WORDS_MAX + 1];
    int count = 0;
    struct command command;
    struct options *options = ar_arena_alloc(arena, 1, sizeof *options);
    char *notes_text = ar_arena_text(arena, "");
    char *rest = ar_arena_text(arena, fuzz.target->command);
    for (char *word; (word = strsep(&rest, " ")) != NULL && count < WORDS_MAX; count++) {
        words[count] = strcmp(word, "@") == 0   ? fuzz.path
                       : strcmp(word, "%") == 0 ? fuzz.other
                                                : word;
    }
    words[count] = NULL;
    AR_TRY(command_find(words[0], &command, err));
    AR_TRY(options_parse(&command, arena, count, words, options, err));
    options->notes = fuzz.notes;
    options->notes_text = &notes_text;
    return command.run(options, err);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

/* A bad input is refused with a reason, and is nobody's fault but its own. */
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct ar_arena arena = {.bytes_max = AR_ARENA_BYTES_MAX};
    struct ar_error err = {.status = AR_OK};
    char *text = ar_arena_alloc(&arena, size + 1, 1);
    memcpy(text, size > 0 ? (const char *)bytes : "", size);
    const struct fuzz_input input = {.path = fuzz.path,
                                     .directory = fuzz.directory,
                                     .bytes = text,
                                     .size = size,
                                     .arena = &arena};
    if (fuzz.target->file != NULL) {
        fuzz_write(fuzz.path, text, size);
    }
    enum ar_status status = fuzz.target->read != NULL ? fuzz.target->read(&input, &err)
                                                      : run_target_command(&arena, &err);
    if (fuzz.says) {
        fprintf(stderr, "status %d: %s\n", (int)status, status != AR_OK ? err.text : "");
    }
    if (status == AR_INTERNAL || status == AR_NO_MEMORY ||
        (status != AR_OK && (err.text[0] == '\0' || err.status != status))) {
        fprintf(stderr, "%s: status %d: %s\n", fuzz.target->name, (int)status, err.text);
        abort();
    }
    ar_arena_end(&arena);
    return 0;
}

int LLVMFuzzerInitialize(int *argc, char ***argv);

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    fuzz_begin(getenv("AR_FUZZ"));
    return 0;
}

#ifdef FUZZ_REPLAY
/* --- without libFuzzer: every target on its seeds, on beginnings and damaged copies of them --- */

enum { FILE_BYTES = 1 << 20, STRIDE_MIN = 13, PLACES = 8 };

static size_t replay_file(const char *path, uint8_t *bytes)
{
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        return 0;
    }
    size_t size = fread(bytes, 1, FILE_BYTES, file);
    fclose(file);
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
#endif
