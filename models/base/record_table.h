/** \file record_table.h
 * Private to this folder: what the writers of records share.
 */
#pragma once

#include "ar_record.h"

enum { RECORD_CELL = 400 };

uint64_t record_count(const struct ar_column *column, const void *record);
double record_number(const struct ar_column *column, const void *record);

/** The text of a cell in CSV; `room` is for what is no text. */
const char *record_cell(const struct ar_column *column, const void *record, char room[RECORD_CELL]);

/** Appends what a table shows of a field, terminated; empty where nothing applies. */
void record_keep_cell(FILE *cells, const struct ar_column *column, const void *record);

/** Writes the table of the cells kept. */
void record_end_table(struct ar_records *records);
