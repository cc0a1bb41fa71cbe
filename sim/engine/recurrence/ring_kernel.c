#include "ring_kernel.h"

static inline double later(double a, double b)
{
    return a > b ? a : b;
}

/* The loops take their arrays as parameters: compilers believe `restrict` there. */
VECTOR_CODE
static void send_first(size_t count, const double *restrict oldest_s, const double *restrict bytes,
                       const double *restrict s_per_byte, const double *restrict latency_s,
                       const double *restrict now_s, double *restrict start_s,
                       double *restrict free_s, double *restrict arrival_s)
{
    for (size_t i = 0; i < count; i++) {
        double start = later(later(now_s[i], free_s[i]), oldest_s[i]);
        double left = start + bytes[i] * s_per_byte[i];
        start_s[i] = start;
        free_s[i] = left;
        arrival_s[i] = left + latency_s[i];
    }
}

void ring_kernel_begin(size_t count, const struct ring_step *step)
{
    send_first(count, step->oldest_s, step->bytes, step->s_per_byte, step->latency_s, step->now_s,
               step->start_s, step->free_s, step->arrival_s);
}

VECTOR_CODE
static void send_again(size_t count, const double *restrict arrived_s,
                       const double *restrict oldest_s, const double *restrict bytes,
                       const double *restrict s_per_byte, const double *restrict latency_s,
                       double reduce_s_per_byte, double *restrict start_s, double *restrict free_s,
                       double *restrict arrival_s)
{
    for (size_t i = 0; i < count; i++) {
        double now = later(arrived_s[i], start_s[i]) + bytes[i] * reduce_s_per_byte;
        double start = later(later(now, free_s[i]), oldest_s[i]);
        double left = start + bytes[i] * s_per_byte[i];
        start_s[i] = start;
        free_s[i] = left;
        arrival_s[i] = left + latency_s[i];
    }
}

void ring_kernel_step(size_t count, const struct ring_step *step)
{
    send_again(count, step->arrived_s, step->oldest_s, step->bytes, step->s_per_byte,
               step->latency_s, step->reduce_s_per_byte, step->start_s, step->free_s,
               step->arrival_s);
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
        double left = later(later(now, free_s[i]), oldest_s[i]) + bytes[i] * s_per_byte[i];
        free_s[i] = left;
        arrival_s[i] = left + latency_s[i];
    }
}

void ring_kernel_hidden(size_t count, const struct ring_step *step)
{
    send_hidden(count, step->arrived_s, step->oldest_s, step->bytes, step->s_per_byte,
                step->latency_s, step->reduce_s_per_byte, step->free_s, step->arrival_s);
}

VECTOR_CODE
static void receive_last(size_t count, const double *restrict arrived_s,
                         const double *restrict bytes, double reduce_s_per_byte,
                         const double *restrict start_s, double *restrict now_s)
{
    for (size_t i = 0; i < count; i++) {
        now_s[i] = later(arrived_s[i], start_s[i]) + bytes[i] * reduce_s_per_byte;
    }
}

void ring_kernel_end(size_t count, const struct ring_step *step)
{
    receive_last(count, step->arrived_s, step->bytes, step->reduce_s_per_byte, step->start_s,
                 step->now_s);
}

VECTOR_CODE
static void send_down(size_t count, const double *restrict oldest_s, const double *restrict bytes,
                      const double *restrict s_per_byte, const double *restrict latency_s,
                      double reduce_s_per_byte, double *restrict now_s, double *restrict free_s,
                      double *restrict arrival_s, double *restrict next_now_s)
{
    for (size_t i = 0; i < count; i++) {
        double start = later(later(now_s[i], free_s[i]), oldest_s[i]);
        double left = start + bytes[i] * s_per_byte[i];
        double arrival = left + latency_s[i];
        now_s[i] = start;
        free_s[i] = left;
        arrival_s[i] = arrival;
        next_now_s[i] = later(arrival, next_now_s[i]) + bytes[i] * reduce_s_per_byte;
    }
}

void ring_kernel_chain(size_t count, const struct chain_step *step)
{
    send_down(count, step->oldest_s, step->bytes, step->s_per_byte, step->latency_s,
              step->reduce_s_per_byte, step->now_s, step->free_s, step->arrival_s,
              step->next_now_s);
}
