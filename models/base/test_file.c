#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ar_file.h"
#include "ar_signals.h"
#include "test_outcome.h"

/* A new directory for each test, which is in it. */
static char folder[512];

static struct ar_arena arena;
static struct ar_output *output; /* of a test, which is a process */
static struct ar_error err;

static void make_folder(void)
{
    snprintf(folder, sizeof folder, "%s/test-output-XXXXXX", AR_TEST_BINARY_DIR);
    cr_assert_not_null(mkdtemp(folder));
    cr_assert_eq(chdir(folder), 0);
}

static void remove_folder(void)
{
    char command[600];
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    cr_assert_eq(system(command), 0);
}

TestSuite(output, .init = make_folder, .fini = remove_folder);

static void expect_file(const char *path, const char *text)
{
    char found[256] = "";
    FILE *file = fopen(path, "r");
    cr_assert_not_null(file, "%s is not there", path);
    found[fread(found, 1, sizeof found - 1, file)] = '\0';
    fclose(file);
    cr_expect_str_eq(found, text);
}

static size_t files_count(void)
{
    size_t count = 0;
    DIR *directory = opendir(".");
    cr_assert_not_null(directory);
    for (struct dirent *entry = readdir(directory); entry != NULL; entry = readdir(directory)) {
        count += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    }
    closedir(directory);
    return count;
}

static void expect_error(enum ar_status status, const char *path, const char *cause)
{
    cr_expect_eq(status, AR_IO);
    cr_expect_eq(err.status, AR_IO);
    cr_expect_eq(strncmp(err.text, path, strlen(path)), 0, "%s", err.text);
    cr_expect_not_null(strstr(err.text, cause), "%s", err.text);
    cr_expect_null(strchr(err.text, '\n'));
}

Test(output, a_commit_makes_or_replaces_a_file_at_once_and_an_abort_changes_nothing)
{
    const char *before = NULL; /* the text of the file, if there is one */
    for (int round = 0; round < 4; round++) {
        bool commits = round % 2 == 1;
        TEST_OK(ar_output_begin("x.csv", &arena, &output, &why));
        fprintf(output->file, "text of round %d", round);
        fflush(output->file);
        if (commits) {
            cr_expect(before != NULL || access("x.csv", F_OK) == -1);
            TEST_OK(ar_output_commit(output, &why));
            before = round == 1 ? "text of round 1" : "text of round 3";
        } else {
            ar_output_abort(output);
        }
        cr_expect_eq(files_count(), before != NULL, "nothing is left beside it");
        if (before != NULL) {
            expect_file("x.csv", before);
        }
    }
}

Test(output, a_directory_or_a_device_is_no_file_to_write)
{
    cr_assert_eq(mkdir("x", 0777), 0);
    expect_error(ar_output_begin("x", &arena, &output, &err), "x", "it is a directory");
    expect_error(ar_output_begin("/dev/null", &arena, &output, &err), "/dev/null",
                 "no regular file");
    struct stat info;
    cr_expect(stat("/dev/null", &info) == 0 && S_ISCHR(info.st_mode), "/dev/null was replaced");
    cr_expect_eq(files_count(), 1);
}

Test(output, a_path_that_cannot_be_is_an_error_that_names_it)
{
    char longer[8000];
    expect_error(ar_output_begin("no/x.csv", &arena, &output, &err), "no/x.csv", strerror(ENOENT));
    test_write_file("x", "old");
    expect_error(ar_output_begin("x/y", &arena, &output, &err), "x/y", strerror(ENOTDIR));
    expect_file("x", "old");
    memset(longer, 'a', sizeof longer - 1);
    longer[sizeof longer - 1] = '\0';
    expect_error(ar_output_begin(longer, &arena, &output, &err), "aaa", "too long");
    expect_error(ar_make_directory(longer, &err), "aaa", "too long");
    cr_expect_eq(files_count(), 1);
}

/* Runs a check in a child, since it changes the process for good; the child exits with 0. */
static void in_child(int (*check)(size_t), size_t argument)
{
    pid_t child = fork();
    cr_assert(child >= 0);
    if (child == 0) {
        _exit(check(argument));
    }
    int state = -1;
    waitpid(child, &state, 0);
    cr_expect(WIFEXITED(state) && WEXITSTATUS(state) == 0, "the child failed check %d",
              WIFEXITED(state) ? WEXITSTATUS(state) : -1);
}

static int write_to_protected_directory(size_t ignored)
{
    (void)ignored;
    if (chmod(folder, 0555) != 0 || (geteuid() == 0 && seteuid(65534) != 0)) {
        return 1;
    }
    if (ar_output_begin("x.csv", &arena, &output, &err) != AR_IO) {
        return 2;
    }
    return strstr(err.text, strerror(EACCES)) != NULL ? 0 : 3;
}

Test(output, an_unwritable_directory_is_an_error)
{
    in_child(write_to_protected_directory, 0);
    chmod(folder, 0777);
    cr_expect_eq(files_count(), 0);
}

static int commit_more_than_fits(size_t bytes)
{
    /* A limit on the size of files fails writes as a full disk does. */
    struct rlimit limit = {.rlim_cur = 1000, .rlim_max = 1000};
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &limit);
    if (ar_output_begin("x.csv", &arena, &output, &err) != AR_OK) {
        return 1;
    }
    for (size_t i = 0; i < bytes; i++) {
        fputc('a', output->file);
    }
    if (ar_output_commit(output, &err) != AR_IO || err.status != AR_IO) {
        return 2;
    }
    return strncmp(err.text, "x.csv", 5) == 0 && strchr(err.text, '\n') == NULL ? 0 : 3;
}

Test(output, a_disk_that_fills_up_keeps_the_existing_file_and_leaves_nothing)
{
    test_write_file("x.csv", "old");
    in_child(commit_more_than_fits, 1001);    /* fails in the flush of the commit */
    in_child(commit_more_than_fits, 1000000); /* in a write, long before */
    expect_file("x.csv", "old");
    cr_expect_eq(files_count(), 1);
}

Test(output, a_target_that_becomes_a_directory_is_an_error_at_commit)
{
    TEST_OK(ar_output_begin("x.csv", &arena, &output, &why));
    cr_assert_eq(mkdir("x.csv", 0777), 0);
    expect_error(ar_output_commit(output, &err), "x.csv", strerror(EISDIR));
    cr_expect_eq(files_count(), 1, "a temporary file is left");
}

Test(output, directories_are_made_with_their_parents_and_may_exist)
{
    static const char *const names[] = {"a/b/c", "a/b/c", "a/b/c/", "a//d", "."};
    struct stat info;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        TEST_OK(ar_make_directory(names[i], &why));
        cr_expect(stat(names[i], &info) == 0 && S_ISDIR(info.st_mode), "%s", names[i]);
    }
    cr_expect_eq(ar_make_directory("/", &err), AR_OK);
}

Test(output, a_directory_that_cannot_be_made_is_an_error_that_names_the_part)
{
    test_write_file("x", "old");
    expect_error(ar_make_directory("x/y", &err), "x", "found a file");
    expect_error(ar_make_directory("x", &err), "x", "found a file");
    expect_error(ar_make_directory("", &err), "", "empty path");
    expect_error(ar_make_directory("/proc/nothing", &err), "/proc/nothing",
                 "cannot make the directory");
    expect_file("x", "old");
}

/* --- directories for other programs -------------------------------------------------------- */

Test(output, directories_for_other_programs_go_with_their_arenas)
{
    struct ar_arena arenas[2] = {{0}};
    const char *paths[2];
    for (size_t i = 0; i < 2; i++) {
        TEST_OK(ar_scratch_make(folder, &arenas[i], &paths[i], &why));
        test_write_file(ar_arena_format(&arenas[i], "%s/x", paths[i]), "x");
        cr_expect_eq(files_count(), 1 + i);
    }
    for (size_t i = 0; i < 2; i++) {
        ar_arena_end(&arenas[i]);
        cr_expect_eq(files_count(), 1 - i);
    }
}

Test(output, a_signal_waits_until_the_directory_is_gone)
{
    const char *path;
    TEST_OK(ar_scratch_make(folder, &arena, &path, &why));
    raise(SIGTERM);
    cr_expect_not(ar_signals_arrived());
    ar_signals_let_in(0);
    cr_expect(ar_signals_arrived());
    ar_arena_end(&arena);
    cr_expect_eq(files_count(), 0);
}

/* --- what ends with the process ------------------------------------------------------------ */

static int write_and_die(size_t ignored)
{
    (void)ignored;
    return ar_output_begin("x.csv", &arena, &output, &err) != AR_OK ||
           fputs("half of it", output->file) < 0 || fflush(output->file) != 0;
}

Test(output, a_process_that_dies_while_it_writes_leaves_nothing)
{
    in_child(write_and_die, 0);
    cr_expect_eq(files_count(), 0);
}
