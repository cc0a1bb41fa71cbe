/** \file ar_gpu_generation.h
 * Facts about chips that a communication library asks for: GPU generation, CPU vendor, HCA kind.
 */
#pragma once

#include "ar_list.h"

/** The oldest of each vendor first: symbol, word of the key `gpu.generation`. */
#define AR_GPU_GENERATION_LIST(X)                                                                  \
    X(AR_GPU_VOLTA, "volta")                                                                       \
    X(AR_GPU_AMPERE, "ampere")                                                                     \
    X(AR_GPU_HOPPER, "hopper")                                                                     \
    X(AR_GPU_BLACKWELL, "blackwell")                                                               \
    X(AR_GPU_CDNA2, "cdna2")                                                                       \
    X(AR_GPU_CDNA3, "cdna3")                                                                       \
    X(AR_GPU_CDNA4, "cdna4")

enum ar_gpu_generation { AR_GPU_GENERATION_LIST(AR_LIST_FIRST) AR_GPU_GENERATIONS_COUNT };

/** The words, and NULL. */
extern const char *const ar_gpu_generation_names[AR_GPU_GENERATIONS_COUNT + 1];

/** Words of the key `cpu.vendor`. */
enum ar_cpu_vendor { AR_CPU_INTEL, AR_CPU_AMD, AR_CPU_OTHER, AR_CPU_VENDORS_COUNT };

extern const char *const ar_cpu_vendor_names[AR_CPU_VENDORS_COUNT + 1];

/** How the network is reached, words of the key `hca.kind`: verbs over InfiniBand or Ethernet, the
 * plug-ins of Slingshot, of AWS (EFA) and of Google (TCPX), or sockets. */
enum ar_hca_kind {
    AR_HCA_INFINIBAND,
    AR_HCA_ROCE,
    AR_HCA_SLINGSHOT,
    AR_HCA_EFA,
    AR_HCA_TCPX,
    AR_HCA_SOCKETS,
    AR_HCA_KINDS_COUNT
};

extern const char *const ar_hca_kind_names[AR_HCA_KINDS_COUNT + 1];
