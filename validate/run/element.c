#include "element.h"

#include <string.h>

#include "ar_text.h"

/* IEEE 754 binary16, converted by the compiler; Clang 14 has it for storage alone, and on x86-64
 * only with F16C, which every processor since 2013 has. */
#if defined(__clang__)
#if defined(__x86_64__)
#pragma clang attribute push(__attribute__((target("f16c"))), apply_to = function)
#endif
typedef __fp16 half;
#else
__extension__ typedef _Float16 half;
#endif

/* Buffers come from malloc() and spans begin at whole elements, so elements are aligned. The loops
 * are there twice: for any processor, and as wide vectors. TSan starts after clones are chosen. */
#if defined(__x86_64__)
#include <immintrin.h>
#define HAS_WIDE __builtin_cpu_supports("avx2") /* with f16c, which Clang does not know */
#define WIDE     __attribute__((target("avx2,f16c")))
#else
#define HAS_WIDE false
#define WIDE
#endif
#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__)
#define ALSO_WIDE __attribute__((target_clones("avx2", "default")))
#else
#define ALSO_WIDE
#endif

static inline __attribute__((always_inline)) void
half_reduce_loop(unsigned char *sum, const unsigned char *addend, uint64_t count)
{
    half *restrict total = (half *)(void *)sum;
    const half *restrict other = (const half *)(const void *)addend;
    for (uint64_t i = 0; i < count; i++) {
        total[i] = (half)((float)total[i] + (float)other[i]);
    }
}

static WIDE void half_reduce_wide(unsigned char *sum, const unsigned char *addend, uint64_t count)
{
    uint64_t i = 0;
#if defined(__x86_64__) /* compilers do not find vectors of halves */
    for (; i + 8 <= count; i += 8) {
        __m128i *at = (__m128i *)(void *)(sum + 2 * i);
        const __m128i *from = (const __m128i *)(const void *)(addend + 2 * i);
        __m256 total = _mm256_add_ps(_mm256_cvtph_ps(_mm_loadu_si128(at)),
                                     _mm256_cvtph_ps(_mm_loadu_si128(from)));
        _mm_storeu_si128(at, _mm256_cvtps_ph(total, _MM_FROUND_TO_NEAREST_INT));
    }
#endif
    half_reduce_loop(sum + 2 * i, addend + 2 * i, count - i);
}

static void half_reduce(unsigned char *sum, const unsigned char *addend, uint64_t count)
{
    (HAS_WIDE ? half_reduce_wide : half_reduce_loop)(sum, addend, count);
}

static void half_store(unsigned char *at, uint32_t value)
{
    half stored = (half)(float)value;
    memcpy(at, &stored, sizeof stored);
}

static double half_load(const unsigned char *at)
{
    half stored;
    memcpy(&stored, at, sizeof stored);
    return (double)(float)stored;
}

#if defined(__clang__) && defined(__x86_64__)
#pragma clang attribute pop
#endif

static ALSO_WIDE void single_reduce(unsigned char *sum, const unsigned char *addend, uint64_t count)
{
    float *restrict total = (float *)(void *)sum;
    const float *restrict other = (const float *)(const void *)addend;
    for (uint64_t i = 0; i < count; i++) {
        total[i] += other[i];
    }
}

static void single_store(unsigned char *at, uint32_t value)
{
    float single = (float)value;
    memcpy(at, &single, sizeof single);
}

static double single_load(const unsigned char *at)
{
    float single;
    memcpy(&single, at, sizeof single);
    return (double)single;
}

const struct element_type element_fp32 = {
    .name = "fp32",
    .bytes = 4,
    .exact_max = 1u << 24,
    .store = single_store,
    .load = single_load,
    .reduce = single_reduce,
};

const struct element_type element_fp16 = {
    .name = "fp16",
    .bytes = 2,
    .exact_max = 1u << 11,
    .store = half_store,
    .load = half_load,
    .reduce = half_reduce,
};

enum ar_status element_find(const char *where, const char *name, const struct element_type **type,
                            struct ar_error *err)
{
    static const struct element_type *const types[] = {&element_fp32, &element_fp16};
    static const char *const names[] = {"fp32", "fp16"};
    for (size_t i = 0; i < 2; i++) {
        if (strcmp(name, types[i]->name) == 0) {
            *type = types[i];
            return AR_OK;
        }
    }
    return ar_error_unknown(err, AR_USAGE, where, "datatype", name, names, 2);
}
