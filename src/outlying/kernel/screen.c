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
#include "screen.h"

#include <stdatomic.h>
#if defined(__SSE2__)
#include <immintrin.h>
#endif

#define FIGURES 6
#define PARTS 16384.0
#define POINT 1e-4
#define LEAST_VARIANCE 1e-10
#define HALF_ROOT 0.70710678118654757 /* sqrt(0.5), rounded */
#define LEAST_POWER (-24)
#define MOST_POWER 13

/* A rung: what is missing for a row to be its own neighbour, how many of all rows are near a row of
 * each group, the number of diagonals of each eight groups, and the diagonals. */
struct rung {
    double *around;
    int32_t *rest, *own; /* `own`: the share of pairs of rows of the same group */
    int64_t *diagonals;  /* by two */
    int16_t *shares;     /* two diagonals side by side, beginning with the next group */
};

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

/* Two numbers as two of 16 bits, one behind the other in memory. */
static int32_t side_by_side(int32_t one, int32_t next)
{
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    return (int32_t)((uint32_t)one << 16 | (uint32_t)next);
#else
    return (int32_t)((uint32_t)next << 16 | (uint32_t)one);
#endif
}

#if defined(__AVX2__)
/* The bits of eight words, in their order. */
static __m256i bits_of_eight(const uint64_t *words)
{
    const __m256i low = _mm256_set1_epi8(15), zero = _mm256_setzero_si256();
    const __m256i bits = _mm256_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4,
                                          0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4);
    __m256i sums[2];
    for (int half = 0; half < 2; half++) {
        __m256i some = _mm256_loadu_si256((const __m256i *)(words + 4 * half));
        __m256i even = _mm256_shuffle_epi8(bits, _mm256_and_si256(some, low));
        __m256i odd = _mm256_shuffle_epi8(
            bits, _mm256_and_si256(_mm256_srli_epi16(some, 4), low));
        sums[half] = _mm256_sad_epu8(_mm256_add_epi8(even, odd), zero);
    }
    __m256 both = _mm256_shuffle_ps(_mm256_castsi256_ps(sums[0]), _mm256_castsi256_ps(sums[1]), 0x88);
    return _mm256_permute4x64_epi64(_mm256_castps_si256(both), 0xd8);
}

/* Running totals of eight numbers, up to each. */
static __m256i running(__m256i numbers)
{
    numbers = _mm256_add_epi32(numbers, _mm256_slli_si256(numbers, 4));
    numbers = _mm256_add_epi32(numbers, _mm256_slli_si256(numbers, 8));
    __m256i lower = _mm256_permutevar8x32_epi32(numbers, _mm256_set1_epi32(3));
    return _mm256_add_epi32(numbers, _mm256_blend_epi32(_mm256_setzero_si256(), lower, 0xf0));
}

/* Count the bits of words, eight at a time, and their running totals; return how many were done. */
static int64_t count_eights(const struct property *p, const struct scratch *s, int32_t *rows)
{
    int64_t word = 0;
    for (; word + 8 <= p->words; word += 8) {
        __m256i numbers = bits_of_eight(s->words + word);
        __m256i totals = _mm256_add_epi32(running(numbers), _mm256_set1_epi32(*rows));
        _mm256_storeu_si256((__m256i *)(s->numbers + word), numbers);
        _mm256_storeu_si256((__m256i *)(s->before + word),  _mm256_sub_epi32(totals, numbers));
        *rows = _mm256_extract_epi32(totals, 7);
    }
    return word;
}
#else
static int64_t count_eights(const struct property *p, const struct scratch *s, int32_t *rows)
{
    (void)p, (void)s, (void)rows;
    return 0;
}
#endif

/* Count the rows by group, and note running totals by word; return all rows, those without a value
 * included. */
double count_groups(const struct property *p, const struct scratch *s)
{
    int32_t rows = 0;
    if (p->is_plain) {
        for (int64_t word = count_eights(p, s, &rows); word < p->words; word++) {
            int32_t number = popcount(s->words[word]);
            s->before[word] = rows;
            rows += number;
            s->numbers[word] = number;
        }
    } else {
        memset(s->numbers, 0, ((size_t)p->padded + 1) * sizeof *s->numbers);
        for (int64_t word = 0; word < p->words; word++) {
            int32_t number = popcount(s->words[word]);
            s->before[word] = rows;
            rows += number;
            s->numbers[p->group_of_word[word]] += number;
        }
        s->numbers[p->groups] = 0; /* rows without a value */
    }
    s->before[p->words] = rows;
    for (int64_t group = 0; group < p->padded; group++)
        s->counts[group] = s->numbers[group];
    if (p->kind == LADDER)
        for (int64_t group = 0; group < p->padded; group++)
            s->pairs[group] = side_by_side(s->numbers[group], s->numbers[group + 1]);
    return (double)rows;
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

/* Known rows, mean and variance, where groups have an inner spread. */
static double moments(const struct property *p, const double *counts, double *known, double *mean)
{
    struct lanes rows = {{0}, {0}}, sums = {{0}, {0}}, squares = {{0}, {0}};
    for (int64_t group = 0; group < p->padded; group += LANES) {
        struct lanes some = load(counts + group);
        add(&rows, some);
        add(&sums, product(some, load(p->means + group)));
        add(&squares, product(some, load(p->squares + group)));
    }
    *known = of_lanes(rows);
    *mean = of_lanes(sums) / *known;
    double found = of_lanes(squares) / *known - *mean * *mean;
    return found < LEAST_VARIANCE ? LEAST_VARIANCE : found;
}

/* --- pairs by tables of shares ---------------------------------------------------------------- */

static struct rung rung_at(const struct property *p, int64_t number)
{
    struct rung rung;
    rung.around = (double *)(p->ladder + number * p->rung_bytes);
    rung.diagonals = (int64_t *)(rung.around + p->padded);
    rung.rest = (int32_t *)(rung.diagonals + p->padded / LANES);
    rung.own = rung.rest + p->padded;
    rung.shares = (int16_t *)(rung.own + p->padded);
    return rung;
}

static double smaller(double one, double other) { return one < other ? one : other; }

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
            double own = parts_within(p, one, one, radius);
            rung.own[one] = (int32_t)own;
            rung.rest[one] = (int32_t)(PARTS - own);
            around[one] += own * p->sizes[one] + (PARTS - own);
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

/* Ordered pairs of rows within the window of a rung, in parts: each number of rows times what is near
 * one of them, in its own group and, twice, in the later ones along diagonals, two of these at a time.
 * All are whole numbers, and those of one group stay below 2**31. */
#if defined(__AVX2__)
static double pairs_on(const struct property *p, const struct rung *rung, const struct scratch *s)
{
    __m256i found = _mm256_setzero_si256();
    for (int64_t group = 0; group < p->padded; group += LANES) {
        const __m256i *shares = (const __m256i *)(rung->shares + group * (p->padded + 2));
        const int32_t *pairs = s->pairs + group + 1;
        int64_t diagonals = rung->diagonals[group / LANES];
        __m256i near = _mm256_setzero_si256();
        for (int64_t two = 0; two < diagonals; two++) {
            __m256i counts = _mm256_loadu_si256((const __m256i *)(pairs + two * 2));
            near = _mm256_add_epi32(
                near, _mm256_madd_epi16(_mm256_loadu_si256(shares + two), counts));
        }
        __m256i rows = _mm256_loadu_si256((const __m256i *)(s->numbers + group));
        __m256i own = _mm256_loadu_si256((const __m256i *)(rung->own + group));
        near = _mm256_add_epi32(_mm256_add_epi32(near, near), _mm256_mullo_epi32(rows, own));
        near = _mm256_add_epi32(near, _mm256_loadu_si256((const __m256i *)(rung->rest + group)));
        __m256i odd = _mm256_mul_epi32(_mm256_srli_epi64(rows, 32), _mm256_srli_epi64(near, 32));
        found = _mm256_add_epi64(found, _mm256_add_epi64(_mm256_mul_epi32(rows, near), odd));
    }
    int64_t parts[4];
    _mm256_storeu_si256((__m256i *)parts, found);
    return (double)(parts[0] + parts[1] + parts[2] + parts[3]);
}
#else
/* Shares along diagonals times the numbers of rows that they lead to, for each of eight groups. */
static void along_diagonals(const int16_t *shares, const int32_t *pairs, int64_t number,
                            int32_t *near)
{
#if defined(__SSE2__)
    __m128i low = _mm_setzero_si128(), high = _mm_setzero_si128();
    for (int64_t two = 0; two < number; two++) {
        const __m128i *some = (const __m128i *)(shares + two * 2 * LANES);
        const __m128i *counts = (const __m128i *)(pairs + two * 2);
        low = _mm_add_epi32(low, _mm_madd_epi16(_mm_loadu_si128(some), _mm_loadu_si128(counts)));
        high = _mm_add_epi32(
            high, _mm_madd_epi16(_mm_loadu_si128(some + 1), _mm_loadu_si128(counts + 1)));
    }
    _mm_storeu_si128((__m128i *)near, low);
    _mm_storeu_si128((__m128i *)near + 1, high);
#else
    memset(near, 0, LANES * sizeof *near);
    for (int64_t two = 0; two < number; two++)
        for (int lane = 0; lane < LANES; lane++) {
            int16_t counts[2];
            memcpy(counts, pairs + two * 2 + lane, sizeof counts);
            const int16_t *some = shares + (two * LANES + lane) * 2;
            near[lane] += (int32_t)some[0] * counts[0] + (int32_t)some[1] * counts[1];
        }
#endif
}

static double pairs_on(const struct property *p, const struct rung *rung, const struct scratch *s)
{
    int64_t found = 0;
    for (int64_t group = 0; group < p->padded; group += LANES) {
        int32_t near[LANES];
        const int32_t *numbers = s->numbers + group, *own = rung->own + group;
        along_diagonals(rung->shares + group * (p->padded + 2), s->pairs + group + 1,
                        rung->diagonals[group / LANES], near);
        for (int lane = 0; lane < LANES; lane++)
            found += (int64_t)numbers[lane]
                   * (2 * near[lane] + numbers[lane] * own[lane] + rung->rest[group + lane]);
    }
    return (double)found;
}
#endif

/* Pairs within the context, and of a row of it and any row; the latter only where asked for. */
static void pairs_by_ladder(const struct property *p, const struct scratch *s, double width,
                            double *pairs, double *others)
{
    static const double least = 1.0 / (1 << -LEAST_POWER), most = (1 << MOST_POWER) * (1 - 1e-9);
    uint64_t bits;
    double mantissa = smaller(larger(width, least), most);
    memcpy(&bits, &mantissa, sizeof bits);
    int power = (int)(bits >> 52) - 1022; /* as by frexp */
    bits = (bits & (((uint64_t)1 << 52) - 1)) | (uint64_t)1022 << 52;
    memcpy(&mantissa, &bits, sizeof mantissa);
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
int64_t place_after(const double *numbers, int64_t count, double number)
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

double inside_of(const struct property *p, const struct scratch *s, double known, double width)
{
    double pairs;
    close_pairs(p, s, width, &pairs, NULL);
    return corrected(p, pairs, known, known) / known;
}

static struct typical typical_number(const struct property *p, const struct scratch *s)
{
    struct typical t;
    double pairs, others;
    double spread;
    if (p->kind == LADDER) {
        spread = moments(p, s->counts, &t.known, &t.centre);
    } else {
        t.known = sum(p, s->counts);
        t.centre = weighted(p, s->counts, p->means) / t.known;
        spread = variance(p, s->counts, t.known, t.centre);
    }
    t.width = sqrt(spread) * p->widths[(int64_t)t.known];
    if (!(t.width > 0))
        t.width = NAN;
    close_pairs(p, s, t.width, &pairs, &others);
    t.inside = isnan(t.width) ? NAN : corrected(p, pairs, t.known, t.known) / t.known;
    double around = corrected(p, others, t.known, p->total) / t.known;
    t.lift = t.inside / t.known / (around / p->total);
    return t;
}

static struct typical typical_category(const struct property *p, const struct scratch *s)
{
    struct typical t = {.known = sum(p, s->counts), .width = 1.0};
    double most = 0;
    int64_t commonest = 0;
    s->counts[p->groups - 1] = 0; /* the categories left out */
    for (int64_t group = 0; group < p->groups; group++)
        if (s->counts[group] > most) {
            most = s->counts[group];
            commonest = group;
        }
    t.inside = weighted(p, s->counts, s->counts) / t.known;
    if (!(t.inside > 0))
        t.inside = NAN;
    t.centre = most == t.known ? p->codes[commonest] : -1.0;
    t.lift = t.inside / t.known / (weighted(p, s->counts, p->sizes) / (t.known * p->total));
    return t;
}

struct typical typical_of(const struct property *p, const struct scratch *s, double rows)
{
    struct typical t = p->kind == CATEGORIES ? typical_category(p, s) : typical_number(p, s);
    t.rows = rows;
    return t;
}

int get_scratch(const struct property *p, struct scratch *s)
{
    s->words = malloc(((size_t)p->words + 1) * sizeof *s->words);
    s->numbers = calloc((size_t)p->padded + 1, sizeof *s->numbers);
    s->counts = calloc((size_t)p->padded, sizeof *s->counts);
    s->pairs = calloc(2 * (size_t)p->padded + 2 * LANES, sizeof *s->pairs);
    s->before = malloc(((size_t)p->words + 1) * sizeof *s->before);
    s->totals = malloc(2 * ((size_t)p->groups + 1) * sizeof *s->totals);
    return s->words != NULL && s->numbers != NULL && s->counts != NULL && s->pairs != NULL
        && s->before != NULL && s->totals != NULL;
}

void free_scratch(struct scratch *s)
{
    free(s->words);
    free(s->numbers);
    free(s->counts);
    free(s->pairs);
    free(s->before);
    free(s->totals);
}

/* The functions return 0 if memory is short. */

/* What is typical in contexts; `figures` has a row for each kind of figure. */
EXPORT int screen_figures(const struct property *p, const uint64_t *bits, int64_t conditions,
                          const int64_t *contexts, int64_t count, int64_t length, double *figures)
{
    struct scratch s;
    int is_ready = get_scratch(p, &s);
    for (int64_t place = 0; is_ready && place < count; place++) {
        intersect(s.words, bits, p->words, conditions, contexts + place * length, length, 0,
                  p->words);
        struct typical t = typical_of(p, &s, count_groups(p, &s));
        double found[FIGURES] = {t.rows, t.known, t.inside, t.width, t.centre, t.lift};
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
        intersect(s.words, bits, p->words, conditions, contexts + place * length, length, 0,
                  p->words);
        count_groups(p, &s);
        inside[place] = p->kind == CATEGORIES ? typical_category(p, &s).inside
                                              : inside_of(p, &s, sum(p, s.counts), widths[place]);
    }
    free_scratch(&s);
    return is_ready;
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
