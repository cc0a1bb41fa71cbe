/** \file ranks_transport.h
 * What the ranks of a launcher say to each other.
 *
 * Messages are bytes with a tag; those between two ranks come in order. The functions are those of
 * MPI, which ends the program if it cannot do what it is asked.
 */
#ifndef AR_RANKS_TRANSPORT_H
#define AR_RANKS_TRANSPORT_H

#include <stdbool.h>

struct ranks_message {
    int from;
    int tag;
    int bytes_count;
};

struct ranks_transport {
    void (*begin)(int *rank, int *count);
    void (*end)(void);
    void (*abort)(int exit_code);

    /** Brings so many bytes of every rank to rank 0, which alone has `all`. */
    void (*gather)(const void *own, int bytes_count, void *all);
    /** Brings a number of rank 0 to every rank. */
    void (*share)(int *value);

    void (*send)(int to, int tag, const void *bytes, int bytes_count);
    /** Whether a message is there; `receive` takes it. */
    bool (*probe)(struct ranks_message *message);
    void (*receive)(const struct ranks_message *message, void *bytes);
};

/** By MPI; NULL if the program was built without. */
const struct ranks_transport *ranks_mpi(void);

#endif
