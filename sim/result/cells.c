#include "cells.h"

#include <inttypes.h>
#include <math.h>

#include "ar_csv.h"
#include "ar_record.h"

void cell_csv_text(FILE *file, const char *value)
{
    ar_csv_write_cell(file, value, true);
}

void cell_csv_count(FILE *file, uint64_t value)
{
    if (value != CELL_NO_COUNT) {
        fprintf(file, "%" PRIu64, value);
    }
}

void cell_csv_number(FILE *file, double value)
{
    if (isfinite(value)) {
        fprintf(file, "%.9g", value);
    }
}

void cell_json_text(FILE *file, const char *value)
{
    ar_json_text(file, value);
}

void cell_json_count(FILE *file, uint64_t value)
{
    fputs(value == CELL_NO_COUNT ? "null" : "", file);
    cell_csv_count(file, value);
}

void cell_json_number(FILE *file, double value)
{
    fputs(isfinite(value) ? "" : "null", file);
    cell_csv_number(file, value);
}
