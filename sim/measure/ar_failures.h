/** \file ar_failures.h
 * Time that failures take of a run that writes checkpoints.
 *
 * A run on GPUs that fail every M seconds in the mean, at random, writes a checkpoint of d seconds
 * after each t seconds of work, and reads one in d seconds when it starts again. Young's interval
 * is sqrt(2 d M) (CACM 17, 1974). Daly's is, for d below 2 M (Future Generation Computer Systems
 * 22, 2006),
 *
 *     t = sqrt(2 d M) (1 + sqrt(d / (2 M)) / 3 + d / (2 M) / 9) - d
 *
 * and M otherwise. W seconds of work take M exp(d / M) (exp((t + d) / M) - 1) W / t (Daly); the
 * share of useful time is W over that.
 */
#pragma once

/** Seconds of work between checkpoints, above 0; both arguments are seconds above 0. */
double ar_young_interval_s(double mtbf_s, double checkpoint_s);
double ar_daly_interval_s(double mtbf_s, double checkpoint_s);

/** Share of the time that is work, of runs with an interval of work between checkpoints. */
double ar_useful_frac(double mtbf_s, double checkpoint_s, double interval_s);
