#include "element.h"

#include <string.h>

#include "ar_text.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

enum { HALF_ROUND = 8192 }; /* singles per half step, 2^(23-10) */

static uint32_t bits_of_float(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static float float_of_bits(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

float half_to_float(uint16_t half)
{
    uint32_t sign = (uint32_t)(half & 0x8000u) << 16;
    uint32_t magnitude = half & 0x7fffu;
    if (magnitude >= 0x7c00u) { /* infinite, NaN */
        return float_of_bits(sign | 0x7f800000u | (magnitude & 0x3ffu) << 13);
    }
    if (magnitude < 0x400u) { /* subnormal: units of 2^-24 */
        float value = (float)magnitude * 0x1p-24f;
        return sign != 0 ? -value : value;
    }
    return float_of_bits(sign | ((magnitude << 13) + (112u << 23)));
}

uint16_t half_from_float(float value)
{
    uint32_t bits = bits_of_float(value);
    uint16_t sign = (uint16_t)(bits >> 16 & 0x8000u);
    bits &= 0x7fffffffu;
    if (bits > 0x7f800000u) {
        return sign | 0x7e00u;
    }
    if (bits >= 0x47800000u) { /* 2^16 and more */
        return sign | 0x7c00u;
    }
    if (bits < 0x38800000u) { /* below 2^-14: adding 0.5 rounds to units of 2^-24 in hardware */
        float shifted = float_of_bits(bits) + 0.5f;
        return (uint16_t)(sign | (bits_of_float(shifted) - bits_of_float(0.5f)));
    }
    uint32_t odd = bits / HALF_ROUND & 1u;
    bits += HALF_ROUND / 2 - 1 + odd;
    return (uint16_t)(sign | ((bits - (112u << 23)) >> 13));
}

void half_reduce_portable(unsigned char *sum, const unsigned char *addend, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++) {
        uint16_t a;
        uint16_t b;
        memcpy(&a, sum + 2 * i, sizeof a);
        memcpy(&b, addend + 2 * i, sizeof b);
        a = half_from_float(half_to_float(a) + half_to_float(b));
        memcpy(sum + 2 * i, &a, sizeof a);
    }
}

#if defined(__x86_64__)
__attribute__((target("avx,f16c"))) static void
half_reduce_f16c(unsigned char *sum, const unsigned char *addend, uint64_t count)
{
    uint64_t i = 0;
    for (; i + 8 <= count; i += 8) {
        __m128i *at = (__m128i *)(void *)(sum + 2 * i);
        const __m128i *from = (const __m128i *)(const void *)(addend + 2 * i);
        __m256 total = _mm256_add_ps(_mm256_cvtph_ps(_mm_loadu_si128(at)),
                                     _mm256_cvtph_ps(_mm_loadu_si128(from)));
        _mm_storeu_si128(at, _mm256_cvtps_ph(total, _MM_FROUND_TO_NEAREST_INT));
    }
    half_reduce_portable(sum + 2 * i, addend + 2 * i, count - i);
}
#endif

static void half_reduce(unsigned char *sum, const unsigned char *addend, uint64_t count)
{
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2")) { /* they all have f16c, which Clang does not know */
        half_reduce_f16c(sum, addend, count);
        return;
    }
#endif
    half_reduce_portable(sum, addend, count);
}

static void half_store(unsigned char *at, uint32_t value)
{
    uint16_t half = half_from_float((float)value);
    memcpy(at, &half, sizeof half);
}

static double half_load(const unsigned char *at)
{
    uint16_t half;
    memcpy(&half, at, sizeof half);
    return (double)half_to_float(half);
}

/* Buffers come from malloc() and spans begin at whole elements, so floats are aligned. */
static inline __attribute__((always_inline)) void
single_reduce_loop(unsigned char *sum, const unsigned char *addend, uint64_t count)
{
    float *restrict total = (float *)(void *)sum;
    const float *restrict other = (const float *)(const void *)addend;
    for (uint64_t i = 0; i < count; i++) {
        total[i] += other[i];
    }
}

#if defined(__x86_64__)
__attribute__((target("avx2"))) static void
single_reduce_avx2(unsigned char *sum, const unsigned char *addend, uint64_t count)
{
    single_reduce_loop(sum, addend, count);
}
#endif

static void single_reduce(unsigned char *sum, const unsigned char *addend, uint64_t count)
{
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2")) {
        single_reduce_avx2(sum, addend, count);
        return;
    }
#endif
    single_reduce_loop(sum, addend, count);
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
