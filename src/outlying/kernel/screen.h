/* What screen.c (what is typical in contexts) and search.c (the search for one property) share. */
#ifndef SCREEN_H
#define SCREEN_H

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#if defined(__AVX2__)
#include <immintrin.h>
#endif

#if defined(FLT_EVAL_METHOD) && FLT_EVAL_METHOD != 0
#error "doubles are computed with more than their precision here; use the NumPy screen"
#endif

#if defined(_WIN32)
#define EXPORT __declspec(dllexport)
#define OURS
#else
#define EXPORT __attribute__((visibility("default")))
#define OURS __attribute__((visibility("hidden")))
#endif

#define SAME (1 + 1e-12)
#define SAME_DENSITY 1e-9 /* of method/measure.py */

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

enum kind { LADDER, DISTINCT, CATEGORIES };

/* A property in groups; arrays by group are padded with zeros to `padded`, a multiple of eight. */
struct property {
    int64_t kind, words, groups, padded, is_plain, is_whole, distances_count;
    double share, total; /* all rows for each screened one; screened rows that have a value */
    const int32_t *group_of_word; /* `groups` for rows that have no value */
    const double *means, *squares, *sizes, *lows, *highs;
    const double *distances; /* between distinct values, ascending */
    const double *widths;    /* of the window by the number of known rows, for a deviation of 1 */
    const double *codes;     /* of categories */
    _Atomic uint8_t *made;   /* which rungs of the ladder are there */
    char *ladder;
    int64_t rung_bytes;
    /* The rows among which those near an object are counted: ascending values, and where the bit of
     * each is; without `slots` one after the other. */
    int64_t near_count, near_words;
    const double *near_values;
    const int64_t *slots;
    /* Where values of evenly spaced cells begin among them, to find one soon. */
    int64_t cells;
    double cells_from, cells_each; /* the least value, and cells for each unit */
    const int32_t *cell_starts;
};

/* Memory for one context after the other. */
struct scratch {
    uint64_t *words;
    int32_t *numbers;
    double *counts; /* the same numbers */
    int32_t *pairs; /* and again, each with the next one; diagonals reach beyond the last group */
    int32_t *before; /* running totals of the bits of `words` */
    double *totals; /* running totals of counts, and of sizes */
};

/* What is typical of a property in a context; NaN where nothing compares. */
struct typical {
    double rows, known;
    double inside; /* rows near a typical member, itself included */
    double width, centre, lift;
};

OURS int get_scratch(const struct property *p, struct scratch *s);
OURS void free_scratch(struct scratch *s);
OURS double count_groups(const struct property *p, const struct scratch *s);
OURS struct typical typical_of(const struct property *p, const struct scratch *s, double rows);
OURS double inside_of(const struct property *p, const struct scratch *s, double known, double width);
EXPORT void sweep_places(const double *values, int64_t count, const double *points, int64_t number,
                         int64_t is_right, int64_t *places);
EXPORT int64_t sweep_total(const double *values, int64_t count, double reach);
EXPORT double sweep_variance(const double *values, int64_t count);
OURS int64_t place_after(const double *numbers, int64_t count, double number);

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
