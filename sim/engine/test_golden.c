#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "test_golden_cases.h"
#include "test_support.h"

static const char golden_path[] = AR_TEST_SOURCE_DIR "/sim/engine/golden_allreduce.csv";

/* Compares what precedes the last comma as text, and what follows it as a number. */
static void expect_same_row(const char *frozen, const char *found)
{
    const char *frozen_time = strrchr(frozen, ',');
    const char *found_time = strrchr(found, ',');
    cr_assert(frozen_time != NULL && found_time != NULL);
    bool is_same_case = frozen_time - frozen == found_time - found &&
                        strncmp(frozen, found, (size_t)(found_time - found)) == 0;
    cr_assert(is_same_case, "the file has\n%swhere make_golden writes\n%s", frozen, found);
    double frozen_s = strtod(frozen_time + 1, NULL);
    double found_s = strtod(found_time + 1, NULL);
    cr_expect(frozen_s > 0 && support_near(frozen_s, found_s, 1e-9),
              "a prediction changed by %+.3g %%:\n%swas frozen, now\n%s",
              100 * (found_s / frozen_s - 1), frozen, found);
}

Test(golden, predictions_are_those_that_were_frozen)
{
    char *text = NULL;
    size_t size = 0;
    struct ar_error err = {.text = ""};
    FILE *memory = open_memstream(&text, &size);
    cr_assert_eq(golden_write(AR_TEST_SOURCE_DIR "/topologies/machines", memory, &err), AR_OK, "%s",
                 err.text);
    cr_assert_eq(fclose(memory), 0);
    FILE *found = fmemopen(text, size, "r");
    FILE *frozen = fopen(golden_path, "r");
    cr_assert(found != NULL && frozen != NULL, "cannot read %s", golden_path);
    char found_line[256];
    char frozen_line[256];
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
    cr_expect_geq(rows, 24);
    fclose(found);
    fclose(frozen);
    free(text);
}
