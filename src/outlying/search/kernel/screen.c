/* The screen, compiled: what search/screen/ computes with NumPy, context by context.
 *
 * A context is a set of conditions; each condition is a row of bits, one for each screened row of
 * the table, laid out in the order of the property's values, so that the rows of a group of
 * neighbouring values fill words of their own. For one property and many contexts:
 *
 *   1. AND the words of the conditions, count the bits: rows by group.
 *   2. Mean and variance from the counts; from these the window (Parzen bandwidth).
 *   3. Pairs of rows within the window. Where each distinct value is a group, by two pointers along
 *      the values. Otherwise by tables of shares: the share of pairs of rows of two groups that lie
 *      within a window on a ladder (two rungs an octave), each made when it is first needed; between
 *      two rungs the number of pairs is interpolated. Only pairs of groups near enough have an entry:
 *      a table is stored by diagonals, eight groups at a time.
 *   4. Pairs of a row of the context and any row: the lift.
 *   5. Rows near the object: a range of the same bits, found by binary search.
 *
 * The results are those of NumPy to the last bit, whatever the build: shares are whole numbers of
 * PARTS, so that their sums are exact in any order; other sums are taken in eight lanes, the order of
 * `in_lanes` in screen/pairs.py; there is no contraction to fused operations (-ffp-contract=off).
 * All memory that outlives a call is the caller's. Several threads may share a property: tables are
 * made with the same content by whoever comes first, and published by a flag.
 */
#include <float.h>
#include <math.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#if defined(__SSE2__)
#include <immintrin.h>
#endif

#if defined(FLT_EVAL_METHOD) && FLT_EVAL_METHOD != 0
#error "doubles are computed with more than their precision here; use the NumPy screen"
#endif

#define LANES 8
#define FIGURES 6
#define PARTS 16384.0
#define SAME (1 + 1e-12)
#define POINT 1e-4
#define LEAST_VARIANCE 1e-10
#define SAME_DENSITY 1e-9 /* of method/measure.py */
#define HALF_ROOT 0.70710678118654757 /* sqrt(0.5), rounded */
#define LEAST_POWER (-24)
#define MOST_POWER 13

/* Vectors of GCC and Clang: what the processor cannot do at once is done in several steps. */
typedef double half __attribute__((vector_size(LANES / 2 * sizeof(double))));
struct lanes {
    half low, high;
};

enum kind { LADDER, DISTINCT, CATEGORIES };

/* A property in groups; arrays by group are padded with zeros to `padded`, a multiple of LANES. */
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
};

/* A rung: what is missing for a row to be its own neighbour, how many of all rows are near a row of
 * each group, the number of diagonals of each eight groups, and the diagonals. */
struct rung {
    double *rest, *around, *own; /* `own`: the share of pairs of rows of the same group */
    int16_t *shares;             /* two diagonals side by side, beginning with the next group */
    int64_t *diagonals;          /* by two */
};

struct scratch {
    uint64_t *words;
    int32_t *numbers;
    double *counts;  /* the same numbers */
    int16_t *pairs;  /* and again, each with the next one; diagonals reach beyond the last group */
    double *totals; /* running totals of counts, and of sizes */
};

static int popcount(uint64_t word) { return __builtin_popcountll(word); }

/* The words of a context's conditions from one word to another. A negative number is no condition;
 * the last row of bits stands for none at all. */
static void intersect(uint64_t *found, const uint64_t *bits, int64_t stride, int64_t conditions,
                      const int64_t *context, int64_t length, int64_t from, int64_t to)
{
    int64_t used = 0;
    const uint64_t *before = NULL;
    for (int64_t place = 0; place < length; place++) {
        if (context[place] < 0)
            continue;
        const uint64_t *row = bits + context[place] * stride;
        if (used == 0)
            before = row;
        else if (used == 1)
            for (int64_t word = from; word < to; word++)
                found[word] = before[word] & row[word];
        else
            for (int64_t word = from; word < to; word++)
                found[word] &= row[word];
        used++;
    }
    if (used == 0)
        before = bits + (conditions - 1) * stride;
    if (used < 2)
        memcpy(found + from, before + from, (size_t)(to - from) * sizeof *found);
}

/* Count the rows by group; return all rows, those without a value included. */
static double count_groups(const struct property *p, const struct scratch *s)
{
    int64_t rows = 0;
    memset(s->numbers, 0, ((size_t)p->padded + 1) * sizeof *s->numbers);
    for (int64_t word = 0; word < p->words; word++) {
        int number = popcount(s->words[word]);
        rows += number;
        if (p->is_plain)
            s->numbers[word] = number;
        else
            s->numbers[p->group_of_word[word]] += number;
    }
    s->numbers[p->groups] = 0; /* rows without a value */
    for (int64_t group = 0; group < p->padded; group++)
        s->counts[group] = s->numbers[group];
    if (p->kind == LADDER)
        for (int64_t group = 0; group < p->padded; group++) {
            s->pairs[2 * group] = (int16_t)s->numbers[group];
            s->pairs[2 * group + 1] = (int16_t)s->numbers[group + 1];
        }
    return (double)rows;
}

static struct lanes load(const double *numbers)
{
    struct lanes found;
    memcpy(&found.low, numbers, sizeof found.low);
    memcpy(&found.high, numbers + LANES / 2, sizeof found.high);
    return found;
}

static void add(struct lanes *sums, struct lanes more)
{
    sums->low += more.low;
    sums->high += more.high;
}

static struct lanes product(struct lanes one, struct lanes other)
{
    return (struct lanes){one.low * other.low, one.high * other.high};
}

static double of_lanes(struct lanes sums)
{
    half four = sums.low + sums.high;
    return (four[0] + four[2]) + (four[1] + four[3]);
}

static double sum(const struct property *p, const double *counts)
{
    struct lanes sums = {{0}, {0}};
    for (int64_t group = 0; group < p->padded; group += LANES)
        add(&sums, load(counts + group));
    return of_lanes(sums);
}

static double weighted(const struct property *p, const double *counts, const double *weights)
{
    struct lanes sums = {{0}, {0}};
    for (int64_t group = 0; group < p->padded; group += LANES)
        add(&sums, product(load(counts + group), load(weights + group)));
    return of_lanes(sums);
}

static double variance(const struct property *p, const double *counts, double known, double mean)
{
    if (p->kind == LADDER) {
        double found = weighted(p, counts, p->squares) / known - mean * mean;
        return found < LEAST_VARIANCE ? LEAST_VARIANCE : found;
    }
    struct lanes sums = {{0}, {0}};
    int64_t groups = 0;
    for (int64_t group = 0; group < p->padded; group += LANES) {
        struct lanes deviations = load(p->means + group);
        deviations.low -= mean;
        deviations.high -= mean;
        add(&sums, product(product(load(counts + group), deviations), deviations));
    }
    for (int64_t group = 0; group < p->groups; group++)
        groups += counts[group] > 0;
    return groups > 1 ? of_lanes(sums) / known : 0.0;
}

/* --- pairs by tables of shares ---------------------------------------------------------------- */

static struct rung rung_at(const struct property *p, int64_t number)
{
    struct rung rung;
    rung.rest = (double *)(p->ladder + number * p->rung_bytes);
    rung.around = rung.rest + p->padded;
    rung.own = rung.around + p->padded;
    rung.diagonals = (int64_t *)(rung.own + p->padded);
    rung.shares = (int16_t *)(rung.diagonals + p->padded / LANES);
    return rung;
}

static double smaller(double one, double other) { return one < other ? one : other; }
static double larger(double one, double other) { return one > other ? one : other; }

static double below(double distance, double radius)
{
    double inside = smaller(larger(distance + radius, 0.0), 2 * radius);
    return inside * inside / 2 + 2 * radius * larger(distance - radius, 0.0);
}

/* The share of pairs of rows of two groups, the first one not behind the other, in parts. */
static double parts_within(const struct property *p, int64_t one, int64_t other, double radius)
{
    double low = p->lows[one], high = p->highs[one];
    double other_low = p->lows[other], other_high = p->highs[other];
    double width = high - low, other_width = other_high - other_low;
    if (other_high - low <= radius)
        return PARTS;
    if (width < POINT || other_width < POINT)
        return fabs((low + high) / 2 - (other_low + other_high) / 2) <= radius * SAME ? PARTS : 0.0;
    double area = below(high - other_low, radius) - below(low - other_low, radius)
                - below(high - other_high, radius) + below(low - other_high, radius);
    return smaller(larger(rint(area / (width * other_width) * PARTS), 0.0), PARTS);
}

static void make_rung(const struct property *p, const struct scratch *s, int64_t number)
{
    struct rung rung = rung_at(p, number);
    double radius = ldexp(number % 2 ? HALF_ROOT : 0.5, (int)(number / 2) + LEAST_POWER);
    double *around = s->totals; /* added up here: other threads may make the same rung */
    memset(around, 0, (size_t)p->groups * sizeof *around);
    for (int64_t group = 0; group < p->padded; group += LANES) {
        int16_t *shares = rung.shares + group * (p->padded + 2);
        int64_t most = 0;
        for (int64_t lane = 0; lane < LANES && group + lane < p->groups; lane++) {
            int64_t one = group + lane;
            rung.own[one] = parts_within(p, one, one, radius);
            rung.rest[one] = PARTS - rung.own[one];
            around[one] += rung.own[one] * p->sizes[one] + rung.rest[one];
            for (int64_t other = one + 1; other < p->groups; other++) {
                if (p->lows[other] - p->highs[one] > radius * SAME) /* as are all further groups */
                    break;
                double parts = parts_within(p, one, other, radius);
                int64_t diagonal = other - one - 1;
                if (diagonal >= most)
                    most = diagonal + 1;
                shares[(diagonal / 2 * LANES + lane) * 2 + diagonal % 2] = (int16_t)parts;
                around[one] += parts * p->sizes[other];
                around[other] += parts * p->sizes[one];
            }
        }
        rung.diagonals[group / LANES] = (most + 1) / 2;
    }
    for (int64_t group = 0; group < p->groups; group++)
        rung.around[group] = around[group];
    atomic_store_explicit(p->made + number, 1, memory_order_release);
}

/* Sums over some diagonals, two at a time: shares times the counts of the groups they lead to. */
static void along_diagonals(const int16_t *shares, const int16_t *pairs, int64_t number,
                            int32_t *near)
{
#if defined(__AVX2__)
    __m256i sums = _mm256_setzero_si256();
    for (int64_t two = 0; two < number; two++) {
        __m256i some = _mm256_loadu_si256((const __m256i *)(shares + two * 2 * LANES));
        __m256i counts = _mm256_loadu_si256((const __m256i *)(pairs + two * 4));
        sums = _mm256_add_epi32(sums, _mm256_madd_epi16(some, counts));
    }
    _mm256_storeu_si256((__m256i *)near, sums);
#elif defined(__SSE2__)
    __m128i low = _mm_setzero_si128(), high = _mm_setzero_si128();
    for (int64_t two = 0; two < number; two++) {
        const __m128i *some = (const __m128i *)(shares + two * 2 * LANES);
        const __m128i *counts = (const __m128i *)(pairs + two * 4);
        low = _mm_add_epi32(low, _mm_madd_epi16(_mm_loadu_si128(some), _mm_loadu_si128(counts)));
        high = _mm_add_epi32(
            high, _mm_madd_epi16(_mm_loadu_si128(some + 1), _mm_loadu_si128(counts + 1)));
    }
    _mm_storeu_si128((__m128i *)near, low);
    _mm_storeu_si128((__m128i *)near + 1, high);
#else
    memset(near, 0, LANES * sizeof *near);
    for (int64_t two = 0; two < number; two++)
        for (int lane = 0; lane < 2 * LANES; lane++)
            near[lane / 2] += (int32_t)shares[two * 2 * LANES + lane] * pairs[two * 4 + lane];
#endif
}

static double pairs_on(const struct property *p, const struct rung *rung, const struct scratch *s)
{
    struct lanes sums = {{0}, {0}};
    for (int64_t group = 0; group < p->padded; group += LANES) {
        int32_t near[LANES];
        double twice[LANES];
        along_diagonals(rung->shares + group * (p->padded + 2), s->pairs + 2 * (group + 1),
                        rung->diagonals[group / LANES], near);
        for (int lane = 0; lane < LANES; lane++)
            twice[lane] = 2.0 * near[lane];
        struct lanes counts = load(s->counts + group), all = load(rung->rest + group);
        add(&all, product(load(rung->own + group), counts));
        add(&all, load(twice));
        add(&sums, product(counts, all));
    }
    return of_lanes(sums);
}

/* Pairs within the context, and of a row of it and any row; the latter only where asked for. */
static void pairs_by_ladder(const struct property *p, const struct scratch *s, double width,
                            double *pairs, double *others)
{
    static const double least = 1.0 / (1 << -LEAST_POWER), most = (1 << MOST_POWER) * (1 - 1e-9);
    int power;
    double mantissa = frexp(smaller(larger(width, least), most), &power);
    int upper = mantissa >= HALF_ROOT;
    double low = upper ? HALF_ROOT : 0.5, high = upper ? 1.0 : HALF_ROOT;
    double way = (mantissa - low) / (high - low);
    int64_t number = 2 * (power - 1 - LEAST_POWER) + upper;
    double own[2], all[2] = {0};
    for (int next = 0; next < 2; next++) {
        if (!atomic_load_explicit(p->made + number + next, memory_order_acquire))
            make_rung(p, s, number + next);
        struct rung rung = rung_at(p, number + next);
        own[next] = pairs_on(p, &rung, s) / PARTS;
        if (others != NULL)
            all[next] = weighted(p, s->counts, rung.around) / PARTS;
    }
    *pairs = own[0] + (own[1] - own[0]) * way;
    if (others != NULL)
        *others = all[0] + (all[1] - all[0]) * way;
}

/* --- pairs of distinct values ----------------------------------------------------------------- */

/* The first place whose number is larger, in an ascending list. */
static int64_t place_after(const double *numbers, int64_t count, double number)
{
    const double *base = numbers;
    while (count > 0) {
        int64_t half = (count + 1) / 2;
        base = base[half - 1] <= number ? base + half : base;
        count -= half;
    }
    return base - numbers;
}

static void pairs_by_value(const struct property *p, const struct scratch *s, double width,
                           double *pairs, double *others)
{
    int64_t level = place_after(p->distances, p->distances_count, width / 2 * SAME) - 1;
    double limit = p->distances[level] * SAME, found = 0, all = 0;
    double *own = s->totals, *sizes = s->totals + p->groups + 1;
    own[0] = sizes[0] = 0;
    for (int64_t group = 0; group < p->groups; group++) {
        own[group + 1] = own[group] + s->counts[group];
        sizes[group + 1] = sizes[group] + p->sizes[group];
    }
    int64_t first = 0, end = 0;
    for (int64_t group = 0; group < p->groups; group++) {
        while (p->lows[group] - p->lows[first] > limit)
            first++;
        while (end < p->groups && p->lows[end] - p->lows[group] <= limit)
            end++;
        found += s->counts[group] * (own[end] - own[first]);
        all += s->counts[group] * (sizes[end] - sizes[first]);
    }
    *pairs = found;
    if (others != NULL)
        *others = all;
}

/* --- figures ---------------------------------------------------------------------------------- */

/* In a sample, a row counts as its own neighbour as often as in all rows: once. */
static double corrected(const struct property *p, double pairs, double known, double others)
{
    if (p->is_whole)
        return pairs;
    return (pairs - known) * others / larger(others - 1.0, 1.0) + known / p->share;
}

static void close_pairs(const struct property *p, const struct scratch *s, double width,
                        double *pairs, double *others)
{
    if (isnan(width))
        width = 1.0;
    if (p->kind == DISTINCT)
        pairs_by_value(p, s, width, pairs, others);
    else
        pairs_by_ladder(p, s, width, pairs, others);
}

static void numeric_figures(const struct property *p, const struct scratch *s, double *figures)
{
    double known = sum(p, s->counts), pairs, others;
    double centre = weighted(p, s->counts, p->means) / known;
    double width = sqrt(variance(p, s->counts, known, centre)) * p->widths[(int64_t)known];
    if (!(width > 0))
        width = NAN;
    close_pairs(p, s, width, &pairs, &others);
    double inside = isnan(width) ? NAN : corrected(p, pairs, known, known) / known;
    double around = corrected(p, others, known, p->total) / known;
    figures[1] = known;
    figures[2] = inside;
    figures[3] = width;
    figures[4] = centre;
    figures[5] = inside / known / (around / p->total);
}

static void categorical_figures(const struct property *p, const struct scratch *s, double *figures)
{
    double known = sum(p, s->counts), most = 0;
    int64_t commonest = 0;
    s->counts[p->groups - 1] = 0; /* the categories left out */
    for (int64_t group = 0; group < p->groups; group++)
        if (s->counts[group] > most) {
            most = s->counts[group];
            commonest = group;
        }
    double inside = weighted(p, s->counts, s->counts) / known;
    if (!(inside > 0))
        inside = NAN;
    figures[1] = known;
    figures[2] = inside;
    figures[3] = 1.0;
    figures[4] = most == known ? p->codes[commonest] : -1.0;
    figures[5] = inside / known / (weighted(p, s->counts, p->sizes) / (known * p->total));
}

static int get_scratch(const struct property *p, struct scratch *s)
{
    s->words = malloc(((size_t)p->words + 1) * sizeof *s->words);
    s->numbers = malloc(((size_t)p->padded + 1) * sizeof *s->numbers);
    s->counts = calloc((size_t)p->padded, sizeof *s->counts);
    s->pairs = calloc(4 * (size_t)p->padded + 4 * LANES, sizeof *s->pairs);
    s->totals = malloc(2 * ((size_t)p->groups + 1) * sizeof *s->totals);
    return s->words != NULL && s->numbers != NULL && s->counts != NULL && s->pairs != NULL
        && s->totals != NULL;
}

static void free_scratch(struct scratch *s)
{
    free(s->words);
    free(s->numbers);
    free(s->counts);
    free(s->pairs);
    free(s->totals);
}

#if defined(_WIN32)
#define EXPORT __declspec(dllexport)
#else
#define EXPORT __attribute__((visibility("default")))
#endif

/* The functions return 0 if memory is short. */

/* What is typical in contexts; `figures` has a row for each kind of figure. */
EXPORT int screen_figures(const struct property *p, const uint64_t *bits, int64_t conditions,
                          const int64_t *contexts, int64_t count, int64_t length, double *figures)
{
    struct scratch s;
    int is_ready = get_scratch(p, &s);
    for (int64_t place = 0; is_ready && place < count; place++) {
        double found[FIGURES];
        intersect(s.words, bits, p->words, conditions, contexts + place * length, length, 0,
                  p->words);
        found[0] = count_groups(p, &s);
        if (p->kind == CATEGORIES)
            categorical_figures(p, &s, found);
        else
            numeric_figures(p, &s, found);
        for (int kind = 0; kind < FIGURES; kind++)
            figures[kind * count + place] = found[kind];
    }
    free_scratch(&s);
    return is_ready;
}

/* Rows near a typical member of contexts within windows of these widths. */
EXPORT int screen_inside(const struct property *p, const uint64_t *bits, int64_t conditions,
                         const int64_t *contexts, int64_t count, int64_t length,
                         const double *widths, double *inside)
{
    struct scratch s;
    int is_ready = get_scratch(p, &s);
    for (int64_t place = 0; is_ready && place < count; place++) {
        double pairs;
        intersect(s.words, bits, p->words, conditions, contexts + place * length, length, 0,
                  p->words);
        count_groups(p, &s);
        if (p->kind == CATEGORIES) {
            double found[FIGURES];
            categorical_figures(p, &s, found);
            inside[place] = found[2];
            continue;
        }
        double known = sum(p, s.counts);
        close_pairs(p, &s, widths[place], &pairs, NULL);
        inside[place] = corrected(p, pairs, known, known) / known;
    }
    free_scratch(&s);
    return is_ready;
}

/* Rows by a value of theirs: ascending values, and the bit of each in a row of words; without `slots`
 * one after the other. */
struct ordered {
    const double *values;
    const int64_t *slots;
    int64_t count;
    double value;   /* of the object */
    int64_t middle; /* the first place beyond it */
};

/* The bits from the first row within a radius of the object to behind the last; 0 for none. */
static int bits_within(const struct ordered *o, double radius, int64_t *from, int64_t *to)
{
    int64_t first = o->middle, end = o->middle;
    for (int64_t size = o->middle; size > 0;) {
        int64_t step = (size + 1) / 2;
        first = o->value - o->values[first - step] <= radius ? first - step : first;
        size -= step;
    }
    for (int64_t size = o->count - o->middle; size > 0;) {
        int64_t step = (size + 1) / 2;
        end = o->values[end + step - 1] - o->value <= radius ? end + step : end;
        size -= step;
    }
    if (end == first)
        return 0;
    *from = o->slots ? o->slots[first] : first;
    *to = (o->slots ? o->slots[end - 1] : end - 1) + 1;
    return 1;
}

/* Count the bits of words within a range. */
static double bits_in(const uint64_t *words, int64_t from, int64_t to)
{
    int64_t first = from >> 6, last = (to - 1) >> 6, number = 0;
    uint64_t begin = ~(uint64_t)0 << (from & 63), end = ~(uint64_t)0 >> (63 - ((to - 1) & 63));
    if (first == last)
        return popcount(words[first] & begin & end);
    for (int64_t word = first + 1; word < last; word++)
        number += popcount(words[word]);
    return (double)(number + popcount(words[first] & begin) + popcount(words[last] & end));
}

/* Rows of contexts within a radius of a value. */
EXPORT int screen_near(const uint64_t *bits, int64_t stride, int64_t conditions,
                       const int64_t *contexts, int64_t count, int64_t length, const double *values,
                       const int64_t *slots, int64_t known, double value, const double *radii,
                       double *near)
{
    struct ordered o = {values, slots, known, value, place_after(values, known, value)};
    uint64_t *words = malloc(((size_t)stride + 1) * sizeof *words);
    for (int64_t place = 0; words != NULL && place < count; place++) {
        int64_t from, to;
        near[place] = 0;
        if (!bits_within(&o, radii[place], &from, &to))
            continue;
        intersect(words, bits, stride, conditions, contexts + place * length, length, from >> 6,
                  ((to - 1) >> 6) + 1);
        near[place] = bits_in(words, from, to);
    }
    free(words);
    return words != NULL;
}

/* Rows of contexts, by bits in any order. */
EXPORT int screen_rows(const uint64_t *bits, int64_t stride, int64_t conditions,
                       const int64_t *contexts, int64_t count, int64_t length, int64_t *rows)
{
    uint64_t *words = malloc(((size_t)stride + 1) * sizeof *words);
    for (int64_t place = 0; words != NULL && place < count; place++) {
        int64_t number = 0;
        intersect(words, bits, stride, conditions, contexts + place * length, length, 0, stride);
        for (int64_t word = 0; word < stride; word++)
            number += popcount(words[word]);
        rows[place] = number;
    }
    free(words);
    return words != NULL;
}

/* --- all of it, where all rows are screened ---------------------------------------------------- */

/* An object in one context, at the scale at which it is rarest; see PropertyScreen._widen. */
struct rarest {
    double inside, near, width, scale;
};

static double near_object(const struct ordered *o, const uint64_t *words, double width)
{
    int64_t from, to;
    double radius = isnan(width) ? 0.0 : width / 2 * SAME;
    return bits_within(o, radius, &from, &to) ? larger(bits_in(words, from, to), 1.0) : 1.0;
}

/* Keep a scale where the object is rarer at it. */
static void look(const struct property *p, const struct scratch *s, double known, double width,
                 double scale, double near, struct rarest *best)
{
    double least = best->inside / best->near * (1 + SAME_DENSITY), pairs;
    if (!(known / near > least)) /* no rarity is larger */
        return;
    close_pairs(p, s, scale * width, &pairs, NULL);
    double inside = corrected(p, pairs, known, known) / known;
    if (inside / near > least)
        *best = (struct rarest){inside, near, scale * width, scale};
}

/* Look at wider windows as long as they may show the needed rarity. */
static void widen(const struct property *p, const struct scratch *s, const struct ordered *o,
                  double known, double needed, int64_t scales, struct rarest *best)
{
    double width = best->width, narrow = best->near, scale = 1;
    if (isnan(width) || !(narrow * needed <= known))
        return;
    for (int64_t place = 1; place < scales; place++) {
        scale *= 2;
        double near = near_object(o, s->words, scale * width);
        int counts = near * needed <= known;
        if (place > 1 && (near > narrow || !counts)) /* else the wider one shows at least as much */
            look(p, s, known, width, scale / 2, narrow, best);
        if (!counts)
            return;
        narrow = near;
    }
    look(p, s, known, width, scale, narrow, best);
}

/* The object in contexts, by numbers; `figures` are those of screen_figures, or NULL. `needed` is the
 * rarity below which wider windows do not count, up to rounding. The results: rows, known, inside,
 * near, width, lift, scale. */
EXPORT int screen_rarest(const struct property *p, const uint64_t *bits, int64_t conditions,
                         const int64_t *contexts, int64_t count, int64_t length,
                         const double *figures, const double *values, const int64_t *slots,
                         int64_t ordered, double value, double needed, int64_t scales,
                         double *results)
{
    struct scratch s;
    struct ordered o = {values, slots, ordered, value, place_after(values, ordered, value)};
    int is_ready = get_scratch(p, &s);
    for (int64_t place = 0; is_ready && place < count; place++) {
        double found[FIGURES];
        intersect(s.words, bits, p->words, conditions, contexts + place * length, length, 0,
                  p->words);
        if (figures == NULL) {
            found[0] = count_groups(p, &s);
            numeric_figures(p, &s, found);
        } else {
            for (int kind = 0; kind < FIGURES; kind++)
                found[kind] = figures[kind * count + place];
        }
        struct rarest best = {found[2], near_object(&o, s.words, found[3]), found[3], 1};
        if (scales > 1 && best.near * needed <= found[1]) {
            if (figures != NULL)
                count_groups(p, &s);
            widen(p, &s, &o, found[1], needed, scales, &best);
        }
        double result[] = {found[0], found[1], best.inside, best.near, best.width, found[5],
                           best.scale};
        for (int kind = 0; kind < (int)(sizeof result / sizeof *result); kind++)
            results[kind * count + place] = result[kind];
    }
    free_scratch(&s);
    return is_ready;
}

/* Which build suits this processor: the level of x86-64, or 0. */
EXPORT int screen_level(void)
{
#if defined(__x86_64__)
    __builtin_cpu_init();
    if (!__builtin_cpu_supports("popcnt") || !__builtin_cpu_supports("sse4.2"))
        return 1;
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("bmi2")
        || !__builtin_cpu_supports("fma"))
        return 2;
    return 3;
#else
    return 0;
#endif
}
