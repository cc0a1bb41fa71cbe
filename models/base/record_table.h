/** \file record_table.h
 * Private to this folder: what the writers of records share.
 */
#pragma once

#include "ar_record.h"

enum { RECORD_CELL = 400 };

/** The text of a cell in CSV, empty where nothing applies; `room` is for what is no text. */
const char *record_cell(const struct ar_column *column, const void *record, char room[RECORD_CELL]);

/** Appends what a table shows of a field, terminated; empty where nothing applies. */
void record_keep_cell(FILE *cells, const struct ar_column *column, const void *record);

/** Writes the table of the cells kept. */
void record_end_table(struct ar_records *records);
