/** \file page.h
 * What the parts of a page are made from.
 */
#ifndef AR_PAGE_PARTS_H
#define AR_PAGE_PARTS_H

#include <stdio.h>

#include "ar_csv.h"
#include "ar_page.h"

/** The files, in the order of their tables on the page; the first ones, to payloads, are rows of
 * results. */
enum page_file {
    PAGE_STEP,
    PAGE_SWEEP,
    PAGE_LAYOUTS,
    PAGE_PAYLOADS,
    PAGE_TRAIN,
    PAGE_RESULTS,
    PAGE_CHANGES,
    PAGE_CURVES,
    PAGE_ACCURACY,
    PAGE_COMPARED,
    PAGE_KINDS,
    PAGE_LAYERS,
    PAGE_SETS,
    PAGE_TASKS,
    PAGE_PARAMETERS,
    PAGE_FILES
};

extern const struct page_source {
    const char *name;  /**< of the file */
    const char *title; /**< of its table */
} page_sources[PAGE_FILES];

struct page_picture {
    const char *name;
    const char *svg;
    struct page_picture *next;
};

/** Why pictures are not drawn, or what gnuplot said of one that is. */
struct page_reason {
    const char *names; /**< of the pictures, separated by commas */
    const char *reason;
    struct page_reason *next;
};

struct page_parts {
    const struct ar_page_request *request;
    struct ar_arena *arena;
    struct ar_csv *files[PAGE_FILES]; /**< NULL: not there */
    struct page_picture *pictures;    /**< in order */
    const char *title;                /**< what the page is about */
    const char *answer;               /**< sentences */
    struct page_reason *reasons;
    const char *command; /**< without --out; NULL: not known */
    char *notes;         /**< of the command, a line each, until they are written; "": none */
};

/** Reads the files of the directory. */
enum ar_status page_read(struct page_parts *parts, struct ar_error *err);

/** Draws the pictures. */
enum ar_status page_draw(struct page_parts *parts, struct ar_error *err);

/** Finds the title and the answer. */
enum ar_status page_answer(struct page_parts *parts, struct ar_error *err);

/** Writes sections; nothing of what is not there. */
void page_write_tables(FILE *file, const struct page_parts *parts);
void page_write_parameters(FILE *file, const struct page_parts *parts);
enum ar_status page_write_timeline(FILE *file, const struct page_parts *parts,
                                   struct ar_error *err);

#endif
