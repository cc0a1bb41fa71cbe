#include "test_golden_file.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "test_support.h"

enum { LINE_SIZE = 512 };

/* Whether two cells are the same number or text. */
static bool is_same_cell(const char *frozen, const char *found)
{
    char *frozen_end;
    char *found_end;
    double frozen_number = strtod(frozen, &frozen_end);
    double found_number = strtod(found, &found_end);
    bool are_numbers = *frozen_end == '\0' && *found_end == '\0' && found_end != found;
    return strcmp(frozen, found) == 0 ||
           (are_numbers && support_near(frozen_number, found_number, 1e-9));
}

static void expect_same_row(const char *frozen, const char *found)
{
    char frozen_copy[LINE_SIZE];
    char found_copy[LINE_SIZE];
    char *frozen_rest = strcpy(frozen_copy, frozen);
    char *found_rest = strcpy(found_copy, found);
    while (frozen_rest != NULL && found_rest != NULL) {
        char *frozen_cell = strsep(&frozen_rest, ",\n");
        char *found_cell = strsep(&found_rest, ",\n");
        cr_expect(is_same_cell(frozen_cell, found_cell),
                  "a prediction changed: \"%s\" is now \"%s\":\n%swas frozen, now\n%s", frozen_cell,
                  found_cell, frozen, found);
    }
    cr_expect_eq(frozen_rest == NULL, found_rest == NULL, "%swas frozen, now\n%s", frozen, found);
}

void golden_file_expect(const char *path, const char *folder, golden_writer *write, int rows_min)
{
    char *text = NULL;
    size_t size = 0;
    struct ar_error err = {.text = ""};
    FILE *memory = open_memstream(&text, &size);
    cr_assert_eq(write(folder, memory, &err), AR_OK, "%s", err.text);
    cr_assert_eq(fclose(memory), 0);
    FILE *found = fmemopen(text, size, "r");
    FILE *frozen = fopen(path, "r");
    cr_assert(found != NULL && frozen != NULL, "cannot read %s", path);
    char found_line[LINE_SIZE];
    char frozen_line[LINE_SIZE];
    int rows = 0;
    while (fgets(found_line, sizeof found_line, found) != NULL) {
        cr_assert_not_null(fgets(frozen_line, sizeof frozen_line, frozen), "the file is too short");
        if (found_line[0] == '#' || strncmp(found_line, "cluster,", 8) == 0) {
            cr_expect_str_eq(frozen_line, found_line);
            continue;
        }
        expect_same_row(frozen_line, found_line);
        rows++;
    }
    cr_expect_null(fgets(frozen_line, sizeof frozen_line, frozen), "the file is too long");
    cr_expect_geq(rows, rows_min);
    fclose(found);
    fclose(frozen);
    free(text);
}
