/* Writing the table of a fitted library. */
#include <inttypes.h>
#include <math.h>

#include "ar_csv.h"
#include "table.h"

static void write_nodes(FILE *file, const char *key, const struct ar_library_nodes *nodes)
{
    fprintf(file, "# %s:", key);
    for (size_t i = 0; i < nodes->count; i++) {
        fprintf(file, " %" PRIu32, nodes->counts[i]);
    }
    fputc('\n', file);
}

static void write_head(const struct ar_library_table *table, FILE *file)
{
    const struct ar_library *library = &table->library;
    fprintf(file,
            "# format: %d\n# tuning: %s\n# node_bus_Bps: %.17g\n# net_bus_Bps: %.17g\n"
            "# channels: %" PRIu32 "\n# node_links: %s\n"
            "# residual_frac: %.17g\n# rows: %" PRIu32 "\n",
            TABLE_FORMAT, library->tuning.release->name, library->tuning.node_bus_Bps,
            library->tuning.net_bus_Bps, library->tuning.channels,
            library->tuning.is_pcie ? TABLE_PCIE : TABLE_NVLINK, library->residual_frac,
            library->rows_count);
    write_nodes(file, "fitted_nodes", &table->fitted);
    write_nodes(file, "held_out_nodes", &table->held_out);
}

static void write_header(FILE *file)
{
    static const char *const lead[] = TABLE_LEAD_COLUMNS;
    for (size_t i = 0; i < COLUMN_COVARIANCE; i++) {
        fprintf(file, "%s%s", i > 0 ? "," : "", lead[i]);
    }
    for (int i = 0; i < AR_LIBRARY_PARAMETERS_COUNT; i++) {
        fprintf(file, "," TABLE_COVARIANCE "%s", ar_library_parameters[i].name);
    }
    fputc('\n', file);
}

static void write_row(const struct ar_library *library, enum ar_library_parameter parameter,
                      FILE *file)
{
    fprintf(file, "%s,%.17g,%s,%.6g,%s,%.17g", ar_library_parameters[parameter].name,
            library->values[parameter], ar_library_parameters[parameter].unit,
            sqrt(library->covariance[parameter][parameter]),
            library->is_identified[parameter] ? "yes" : "no",
            ar_library_parameter_prior(&library->tuning, parameter));
    ar_csv_write_cell(file, ar_library_parameter_prior_source(&library->tuning, parameter), false);
    for (int i = 0; i < AR_LIBRARY_PARAMETERS_COUNT; i++) {
        fprintf(file, ",%.17g", library->covariance[parameter][i]);
    }
    fputc('\n', file);
}

void ar_library_table_write(const struct ar_library_table *table, const char *const *comments,
                            size_t comments_count, FILE *file)
{
    write_head(table, file);
    for (size_t i = 0; i < comments_count; i++) {
        fprintf(file, "# %s\n", comments[i]);
    }
    write_header(file);
    for (int i = 0; i < AR_LIBRARY_PARAMETERS_COUNT; i++) {
        write_row(&table->library, (enum ar_library_parameter)i, file);
    }
}
