/** \file recorded.h
 * How the readers make recorded steps.
 */
#pragma once

#include "ar_recorded.h"

/** Readers of a whole text into a step that has its path and room for no task yet. */
enum ar_status astra_text_read(struct ar_recorded *recorded, char *text, size_t bytes,
                               struct ar_arena *arena, struct ar_error *err);
enum ar_status chakra_read(struct ar_recorded *recorded, const char *bytes, size_t count,
                           struct ar_arena *arena, struct ar_error *err);

/** Gives the step room for so many tasks and needs, once. */
enum ar_status recorded_room(struct ar_recorded *recorded, size_t tasks, size_t needs,
                             struct ar_arena *arena, struct ar_error *err);
