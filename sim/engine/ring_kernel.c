#include "ring_kernel.h"

#include <string.h>

#include "ar_numbers.h"

/* The loops take their arrays as parameters: compilers believe `restrict` there. */
VECTOR_CODE
static void send_again(size_t count, const double *restrict arrived_s,
                       const double *restrict oldest_s, const double *restrict bytes,
                       const double *restrict s_per_byte, const double *restrict latency_s,
                       double reduce_s_per_byte, double *restrict start_s, double *restrict free_s,
                       double *restrict arrival_s)
{
    for (size_t i = 0; i < count; i++) {
        double now = ar_later_s(arrived_s[i], start_s[i]) + bytes[i] * reduce_s_per_byte;
        double start = ar_later_s(ar_later_s(now, free_s[i]), oldest_s[i]);
        double left = start + bytes[i] * s_per_byte[i];
        start_s[i] = start;
        free_s[i] = left;
        arrival_s[i] = left + latency_s[i];
    }
}

void ring_kernel_begin(const struct ring_step *step, size_t count)
{
    /* Nothing was received that is to be reduced, and nothing was sent. */
    memset(step->start_s, 0, count * sizeof *step->start_s);
    send_again(count, step->now_s, step->oldest_s, step->bytes, step->s_per_byte, step->latency_s,
               0, step->start_s, step->free_s, step->arrival_s);
}

void ring_kernel_step(const struct ring_step *step, size_t first, size_t count)
{
    send_again(count, step->arrived_s + first, step->oldest_s + first, step->bytes + first,
               step->s_per_byte + first, step->latency_s + first, step->reduce_s_per_byte,
               step->start_s + first, step->free_s + first, step->arrival_s + first);
}

VECTOR_CODE
static void send_hidden(size_t count, const double *restrict arrived_s,
                        const double *restrict oldest_s, const double *restrict bytes,
                        const double *restrict s_per_byte, const double *restrict latency_s,
                        double reduce_s_per_byte, double *restrict free_s,
                        double *restrict arrival_s)
{
    for (size_t i = 0; i < count; i++) {
        double now = arrived_s[i] + bytes[i] * reduce_s_per_byte;
        double left =
            ar_later_s(ar_later_s(now, free_s[i]), oldest_s[i]) + bytes[i] * s_per_byte[i];
        free_s[i] = left;
        arrival_s[i] = left + latency_s[i];
    }
}

void ring_kernel_hidden(const struct ring_step *step, size_t first, size_t count)
{
    send_hidden(count, step->arrived_s + first, step->oldest_s + first, step->bytes + first,
                step->s_per_byte + first, step->latency_s + first, step->reduce_s_per_byte,
                step->free_s + first, step->arrival_s + first);
}

VECTOR_CODE
static void receive_last(size_t count, const double *restrict arrived_s,
                         const double *restrict bytes, double reduce_s_per_byte,
                         const double *restrict start_s, double *restrict now_s)
{
    for (size_t i = 0; i < count; i++) {
        now_s[i] = ar_later_s(arrived_s[i], start_s[i]) + bytes[i] * reduce_s_per_byte;
    }
}

void ring_kernel_end(const struct ring_step *step, size_t count)
{
    receive_last(count, step->arrived_s, step->bytes, step->reduce_s_per_byte, step->start_s,
                 step->now_s);
}
