/** \file pipeline.h
 * The tasks of a step as rows: what every stage of the pipeline, or worker, does when.
 */
#ifndef AR_PIPELINE_H
#define AR_PIPELINE_H

#include "ar_record.h"
#include "ar_scenario.h"
#include "ar_timing.h"

/** A picture shows no more. */
enum { PIPELINE_TASKS_MAX = 20000 };

/** Spans of a step with servers that are noted at most. */
enum { PIPELINE_SPANS_MAX = 10000000 };

/** Writes the tasks of a step that was run: stage, kind (a pass, or the axis along which it sends),
 * stream, micro-batch, chunk, begin and end. AR_USAGE if there are more than a picture shows; with
 * servers as many workers as that, of a run that noted its spans. */
enum ar_status pipeline_write(FILE *file, const struct ar_timing *timing, struct ar_error *err);

/** How many workers that are. */
uint32_t pipeline_workers(const struct ar_async *run);

/** Room for the spans of a step with servers (ar_async.h). */
uint64_t pipeline_spans(const struct ar_scenario *scenario);

#endif
