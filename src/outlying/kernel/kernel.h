/* What the sources share. */
#ifndef KERNEL_H
#define KERNEL_H

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#if defined(__AVX2__)
#include <immintrin.h>
#endif

#if defined(FLT_EVAL_METHOD) && FLT_EVAL_METHOD != 0
#error "doubles are computed with more than their precision here; use NumPy"
#endif

#if defined(_WIN32)
#define EXPORT __declspec(dllexport)
#else
#define EXPORT __attribute__((visibility("default")))
#endif

/* A struct that Python fills or reads: it looks up its size here. See structs.py. */
#define SHARED(name) EXPORT const int64_t size_of_##name = sizeof(struct name)

#define LANES 8 /* sums are taken in so many, in an order that NumPy can keep */

/* Vectors of GCC and Clang: what the processor cannot do at once is done in several steps. */
typedef double half __attribute__((vector_size(LANES / 2 * sizeof(double))));
struct lanes {
    half low, high;
};

static inline struct lanes load(const double *numbers)
{
    struct lanes found;
    memcpy(&found.low, numbers, sizeof found.low);
    memcpy(&found.high, numbers + LANES / 2, sizeof found.high);
    return found;
}

static inline void add(struct lanes *sums, struct lanes more)
{
    sums->low += more.low;
    sums->high += more.high;
}

static inline struct lanes product(struct lanes one, struct lanes other)
{
    return (struct lanes){one.low * other.low, one.high * other.high};
}

static inline double of_lanes(struct lanes sums)
{
    half four = sums.low + sums.high;
    return (four[0] + four[2]) + (four[1] + four[3]);
}

static inline int popcount(uint64_t word) { return __builtin_popcountll(word); }
static inline double larger(double one, double other) { return one > other ? one : other; }

/* Whether a value lies before a point: it is less, or not larger. */
static inline int lies_before(double value, double point, int is_right)
{
    return is_right ? value <= point : value < point;
}

enum { AHEAD = 8 };

/* Count how many of the next values lie before a point, without a branch. */
static inline int64_t next_before(const double *values, double point, int is_right)
{
#if defined(__AVX2__)
    __m256d all = _mm256_set1_pd(point);
    __m256d low = _mm256_loadu_pd(values), high = _mm256_loadu_pd(values + 4);
    low = is_right ? _mm256_cmp_pd(low, all, _CMP_LE_OQ) : _mm256_cmp_pd(low, all, _CMP_LT_OQ);
    high = is_right ? _mm256_cmp_pd(high, all, _CMP_LE_OQ) : _mm256_cmp_pd(high, all, _CMP_LT_OQ);
    return popcount((uint64_t)(_mm256_movemask_pd(low) | _mm256_movemask_pd(high) << 4));
#else
    int64_t steps = 0;
    for (int at = 0; at < AHEAD; at++)
        steps += lies_before(values[at], point, is_right);
    return steps;
#endif
}

#endif
