#include "ar_failures.h"

#include <math.h>

double ar_young_interval_s(double mtbf_s, double checkpoint_s)
{
    return sqrt(2 * checkpoint_s * mtbf_s);
}

double ar_daly_interval_s(double mtbf_s, double checkpoint_s)
{
    double ratio = checkpoint_s / (2 * mtbf_s);
    return ratio >= 1
               ? mtbf_s
               : ar_young_interval_s(mtbf_s, checkpoint_s) * (1 + sqrt(ratio) / 3 + ratio / 9) -
                     checkpoint_s;
}

double ar_useful_frac(double mtbf_s, double checkpoint_s, double interval_s)
{
    return interval_s / mtbf_s * exp(-checkpoint_s / mtbf_s) /
           expm1((interval_s + checkpoint_s) / mtbf_s);
}
