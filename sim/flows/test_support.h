/** \file test_support.h
 * For tests of models/ and sim/: shipped clusters, collectives and traces in one line each. What
 * cannot be had fails the test with the error line.
 */
#pragma once

#include <criterion/criterion.h>
#include <stdbool.h>

#include "ar_closed.h"
#include "ar_collective.h"
#include "ar_link_load.h"
#include "ar_trace.h"

/** Loads a shipped cluster; `settings` are `KEY=VALUE KEY=VALUE`, or NULL. */
struct ar_cluster *support_cluster(const char *name, const char *settings);

/** `flat` with the constants of a textbook: a latency of 5 us, 25 GB/s, 4 ps to add up a byte, a
 * setup of 7 us; its switch sums. */
struct ar_cluster *support_textbook(void);

/** Loads a cluster anew with every time and cost multiplied by `factor`, rates divided by it. */
struct ar_cluster *support_slower(const struct ar_cluster *cluster, double factor);

const struct ar_algorithm *support_algorithm(const char *name);

/** One channel, a window of 8, elements of 4 bytes. */
struct ar_collective support_collective(const struct ar_cluster *cluster, const char *algorithm,
                                        uint32_t x, uint32_t y);

/** As support_collective(), by an algorithm of any operation. */
struct ar_collective support_collective_of(const struct ar_cluster *cluster,
                                           const struct ar_algorithm *algorithm, uint32_t x,
                                           uint32_t y);

/** The same on a shipped cluster. */
struct ar_collective support_on(const char *cluster, const char *algorithm, uint32_t x, uint32_t y);

/** The loads of all links by some collectives; freed by the caller. */
struct ar_link_load *support_loads(const struct ar_collective *collective, const uint64_t *elements,
                                   size_t count);

/** The closed form of a collective. */
struct ar_closed_time support_closed(const struct ar_collective *collective, uint64_t elements);

/** The shipped ResNet-50 on a V100. */
struct ar_trace *support_resnet50(uint32_t batch, enum ar_precision precision);

/** |a - b| <= tolerance * max(|a|, |b|). */
bool support_near(double a, double b, double tolerance);

/** Expects that; a format and its arguments may say what is compared. */
#define SUPPORT_NEAR(found, expected, tolerance, ...)                                              \
    do {                                                                                           \
        double near_found = found, near_expected = expected;                                       \
        cr_expect(support_near(near_found, near_expected, tolerance),                              \
                  "%s: %s is %.17g, not %.17g", support_text(" " __VA_ARGS__), #found, near_found, \
                  near_expected);                                                                  \
    } while (0)

/** A text until the next call; the operation, algorithm, cluster, shape, channels and window of a
 * collective. */
const char *support_text(const char *format, ...) __attribute__((format(printf, 1, 2)));
const char *support_name(const struct ar_collective *collective);

/** The collective of an algorithm in its default shape; whether it can run. */
bool support_default(const struct ar_cluster *cluster, const struct ar_algorithm *algorithm,
                     uint32_t ranks, uint32_t node_ranks, struct ar_collective *collective);
