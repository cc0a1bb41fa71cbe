/** \file test_nccl_standin.h
 * What tests ask of the NCCL of test_nccl_standin.c besides NCCL's own functions.
 */
#pragma once

/** Communicators that have not been destroyed. */
int nccl_standin_alive(void);
