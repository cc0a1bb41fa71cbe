/** \file test_nccl_standin.h
 * Functions that the NCCL of test_nccl_standin.c offers to tests, besides NCCL's own functions.
 */
#pragma once

/** Communicators that have not been destroyed. */
int nccl_standin_alive(void);
