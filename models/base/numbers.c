#include "ar_numbers.h"

#include <assert.h>
#include <stdlib.h>

AR_ORDER(compare_numbers, double, AR_COMPARE(*a, *b))

void ar_sort(double *values, size_t count)
{
    if (count > 1) {
        qsort(values, count, sizeof *values, compare_numbers);
    }
}

double ar_quantile(const double *sorted, size_t count, double fraction)
{
    assert(count > 0);
    double place = fraction * (double)(count - 1);
    size_t below = (size_t)place;
    if (below + 1 >= count) {
        return sorted[count - 1];
    }
    double part = place - (double)below;
    return (1 - part) * sorted[below] + part * sorted[below + 1];
}
