/** \file transformer.h
 * Traits of a transformer that both its counts and its kernels need.
 */
#pragma once

#include "ar_transformer.h"

/** Whether all products add a bias. */
bool transformer_has_biases(const struct ar_transformer *model);

/** Keys that a causal attention over a window counts as: of s tokens that see the w before them
 * there are s w - w^2 / 2 pairs, half of this times s. It is s where the window is the sequence. */
double transformer_window_keys(const struct ar_transformer *model);

/** Share of the layers whose attention sees the window alone. */
double transformer_window_frac(const struct ar_transformer *model);
