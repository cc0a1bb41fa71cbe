/** \file test_fake_nccl.h
 * An NCCL without a GPU, for tests of how collectives are composed: what the ranks of one process
 * ask for in a group is done when the group ends, if all ranks of a communicator asked for the
 * same.
 */
#pragma once

#include "nccl_ranks.h"

/** The functions of the fake. */
struct nccl_library fake_nccl(void);

/** Communicators that have not been destroyed. */
int fake_nccl_leaks(void);
