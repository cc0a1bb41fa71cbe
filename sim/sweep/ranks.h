/** \file ranks.h
 * A sweep on the ranks of a launcher: mpirun or srun.
 *
 * Every rank reads the same command line and files and finds the same points, which the ranks make
 * sure of. Rank 0 gives points out, gathers the rows, keeps the journal and writes the output;
 * every rank computes with worker processes of its own. These are forked by a server process, which
 * is forked before MPI starts: fork() and the memory of a fast network do not go together.
 */
#ifndef AR_RANKS_H
#define AR_RANKS_H

#include "sweep.h"

/** Runs a sweep of which every rank has made its space, or failed to (`status` and `err`). Rank 0
 * returns what became of it, the others AR_OK. A program that was built without MPI fails
 * (AR_USAGE): it would do the same sweep on every rank. */
enum ar_status ranks_run(struct sweep *sweep, enum ar_status status, struct ar_error *err);

#endif
