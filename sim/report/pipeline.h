/** \file pipeline.h
 * The tasks of a step of a workload as rows: what every stage of the pipeline does when.
 */
#ifndef AR_PIPELINE_H
#define AR_PIPELINE_H

#include "ar_record.h"
#include "ar_step.h"

/** A picture shows no more. */
enum { PIPELINE_TASKS_MAX = 20000 };

/** Writes the tasks of a step that was run: stage, kind (a pass, or the axis along which it sends),
 * stream, micro-batch, chunk, begin and end. AR_USAGE if there are more than a picture shows. */
enum ar_status pipeline_write(FILE *file, const struct ar_step *step, struct ar_error *err);

#endif
