/* A one-dimensional Gaussian mixture by EM with annihilation (Figueiredo & Jain 2002), as in
 * method/mixture.py, which says why each step is as it is; names are the same. Sums run in eight lanes, and
 * exponential and logarithm are our own, so that every build, every C library and the twin in NumPy
 * (method/mixture.py) give the same bits. */
#include "kernel.h"

enum { FEW_COMPONENTS = 8, MOST_SWEEPS = 200 };
#define ANNIHILATED 1.0 /* PARAMETERS / 2: a component with no more rows dies */
#define TIE 1e-9
#define COARSE_TOLERANCE 2.0
#define TOLERANCE 0.5
#define LEAST_TOTAL 1e-100
#define STALE 300.0
#define SMALLEST (-700.0)
#define NEGLIGIBLE (-45.0) /* e to this power, times all components, is lost by rounding */
#define HALF_LOG_TAU 0.918938533204672741780329736406

/* Arrays by point are padded to a multiple of LANES: the last value again, for no rows. */
struct mixture {
    int64_t points, components;
    const double *values, *counts;
    double rows, floor;
    double *weights, *means, *widths;         /* by component */
    double *reference, *total, *room, *parts; /* by point; `parts` by component and point */
    int64_t *from, *to;                       /* between which points a component's parts may not be zero */
};

static double as_double(uint64_t bits)
{
    double number;
    memcpy(&number, &bits, sizeof number);
    return number;
}

static uint64_t as_bits(double number)
{
    uint64_t bits;
    memcpy(&bits, &number, sizeof bits);
    return bits;
}

/* e to a power between `least` and 700, where `least` is not below -700; 0 for lesser ones. A power of 2 by
 * the bits of its exponent, times the series of what is left, at most half the logarithm of 2 (by Estrin's
 * scheme). */
static inline double exponential(double x, double least)
{
    const double shift = 0x1.8p52; /* the sum has a whole number in its last bits */
    double shifted = x * 0x1.71547652b82fep0 + shift;
    double power = shifted - shift;
    double r = (x - power * 0x1.62e42fee00000p-1) - power * 0x1.a39ef35793c76p-33;
    double r2 = r * r, r4 = r2 * r2, r8 = r4 * r4;
    double s0 = (1.0 + r) + (1.0 / 2 + 1.0 / 6 * r) * r2;
    double s4 = (1.0 / 24 + 1.0 / 120 * r) + (1.0 / 720 + 1.0 / 5040 * r) * r2;
    double s8 = (1.0 / 40320 + 1.0 / 362880 * r) + (1.0 / 3628800 + 1.0 / 39916800 * r) * r2;
    double s12 = 1.0 / 479001600 + 1.0 / 6227020800 * r;
    double series = (s0 + s4 * r4) + (s8 + s12 * r4) * r8;
    series *= as_double((as_bits(shifted) << 52) + 0x3ff0000000000000u);
    return x > least ? series : 0.0;
}

/* The natural logarithm of a positive, normal number: its exponent, and the series of the inverse hyperbolic
 * tangent for what is left, which is between the roots of 1/2 and of 2. */
static inline double logarithm(double x)
{
    const uint64_t root = 0x3fe6a09e667f3bcdu; /* of 1/2 */
    uint64_t bits = as_bits(x) - root + 0x4000000000000000u; /* so that no exponent is negative */
    double power = as_double((bits >> 52) + 0x4330000000000000u) - (0x1p52 + 1024.0);
    double m = as_double((bits & 0x000fffffffffffffu) + root);
    double s = (m - 1.0) / (m + 1.0), t = s * s;
    double t2 = t * t, t4 = t2 * t2;
    double s0 = (1.0 / 3 + 1.0 / 5 * t) + (1.0 / 7 + 1.0 / 9 * t) * t2;
    double s4 = (1.0 / 11 + 1.0 / 13 * t) + (1.0 / 15 + 1.0 / 17 * t) * t2;
    double s8 = (1.0 / 19 + 1.0 / 21 * t) + 1.0 / 23 * t2;
    double series = (s0 + (s4 + s8 * t4) * t4) * t;
    return power * 0x1.62e42fee00000p-1 + (power * 0x1.a39ef35793c76p-33 + 2.0 * (s + s * series));
}

static double whole_weight(const struct mixture *m)
{
    double sum = 0;
    for (int64_t k = 0; k < m->components; k++)
        sum += m->weights[k];
    return sum;
}

/* Raise the references to the logarithms of a component's parts: log(weight * density). */
static void raise_references(const struct mixture *m, double height, double mean, double inverse)
{
    for (int64_t i = 0; i < m->points; i++) {
        double scaled = (m->values[i] - mean) * inverse, part = height - 0.5 * scaled * scaled;
        m->reference[i] = part > m->reference[i] ? part : m->reference[i];
    }
}

/* Whether the parts of a component are too small for some values in a row. */
static int is_below(const struct mixture *m, double least, int64_t at, double height, double mean,
                    double inverse)
{
    int above = 0;
    for (int64_t i = at; i < at + LANES; i++) {
        double scaled = (m->values[i] - mean) * inverse;
        above += height - 0.5 * scaled * scaled - m->reference[i] > least;
    }
    return above == 0;
}

static void find_parts(const double *restrict values, const double *restrict reference, int64_t points,
                       double height, double mean, double inverse, double least, double *restrict part,
                       double *restrict total)
{
    for (int64_t i = 0; i < points; i++) {
        double scaled = (values[i] - mean) * inverse;
        part[i] = exponential(height - 0.5 * scaled * scaled - reference[i], least);
        total[i] += part[i];
    }
}

/* Compute the parts of all components anew, with weights that sum to 1 and fresh references. Parts less than e
 * to the power of `least` beside the largest one are zero. */
static void refresh(struct mixture *m, double least)
{
    double whole = whole_weight(m);
    for (int64_t i = 0; i < m->points; i++) {
        m->reference[i] = -INFINITY;
        m->total[i] = 0;
    }
    for (int64_t k = 0; k < m->components; k++) {
        m->weights[k] /= whole;
        raise_references(m, logarithm(m->weights[k] / m->widths[k]), m->means[k], 1 / m->widths[k]);
    }
    for (int64_t k = 0; k < m->components; k++) {
        double height = logarithm(m->weights[k] / m->widths[k]), mean = m->means[k], inverse = 1 / m->widths[k];
        double *part = m->parts + k * m->points;
        int64_t from = 0, to = m->points;
        while (from < to && is_below(m, least, from, height, mean, inverse))
            from += LANES;
        while (from < to && is_below(m, least, to - LANES, height, mean, inverse))
            to -= LANES;
        m->from[k] = from;
        m->to[k] = to;
        find_parts(m->values + from, m->reference + from, to - from, height, mean, inverse, least,
                   part + from, m->total + from);
    }
}

static int64_t lightest(const struct mixture *m)
{
    double least = m->weights[0];
    for (int64_t k = 1; k < m->components; k++)
        least = m->weights[k] < least ? m->weights[k] : least;
    int64_t k = 0;
    while (m->weights[k] > least + TIE)
        k++;
    return k;
}

/* Remove a component; the parts of the others are to be computed anew. */
static void drop(struct mixture *m, int64_t index)
{
    size_t after = (size_t)(--m->components - index) * sizeof(double);
    memmove(m->weights + index, m->weights + index + 1, after);
    memmove(m->means + index, m->means + index + 1, after);
    memmove(m->widths + index, m->widths + index + 1, after);
}

/* Return the mass of a component and find its mean; rows are shared by `rates` times the parts. */
static double mass_of(const struct mixture *m, int64_t index, const double *rates, double *mean)
{
    const double *part = m->parts + index * m->points;
    struct lanes mass = {{0}, {0}}, sum = {{0}, {0}};
    for (int64_t at = m->from[index]; at < m->to[index]; at += LANES) {
        struct lanes share = product(load(part + at), load(rates + at));
        add(&mass, share);
        add(&sum, product(share, load(m->values + at)));
    }
    *mean = of_lanes(sum) / of_lanes(mass);
    return of_lanes(mass);
}

static double width_of(const struct mixture *m, int64_t index, const double *rates, double mean, double mass)
{
    const double *part = m->parts + index * m->points;
    struct lanes sum = {{0}, {0}};
    for (int64_t at = m->from[index]; at < m->to[index]; at += LANES) {
        struct lanes far = load(m->values + at), share = product(load(part + at), load(rates + at));
        far.low -= mean;
        far.high -= mean;
        add(&sum, product(share, product(far, far)));
    }
    return larger(m->floor, sqrt(of_lanes(sum) / mass));
}

static void find_rates(const struct mixture *m)
{
    for (int64_t i = 0; i < m->points; i++)
        m->room[i] = m->counts[i] / m->total[i];
}

/* Update all components at once; kill those without rows, or else the lightest one. */
static void thin_out(struct mixture *m)
{
    int64_t kept = 0, number = m->components;
    find_rates(m);
    for (int64_t k = 0; k < number; k++) {
        double mean, mass = mass_of(m, k, m->room, &mean);
        if (mass <= ANNIHILATED)
            continue;
        m->means[kept] = mean;
        m->widths[kept] = width_of(m, k, m->room, mean, mass);
        m->weights[kept++] = (mass - ANNIHILATED) / m->rows;
    }
    m->components = kept;
    if (kept == number)
        drop(m, lightest(m));
}

/* Find the exponents of a component's parts; return whether the references are stale. */
static int find_exponents(const struct mixture *m, int64_t index, double *restrict exponents)
{
    double height = logarithm(m->weights[index] / m->widths[index]), mean = m->means[index];
    double factor = -0.5 / (m->widths[index] * m->widths[index]);
    const double *restrict values = m->values, *restrict reference = m->reference;
    int64_t stale = 0;
    for (int64_t i = 0; i < m->points; i++) {
        double far = values[i] - mean;
        exponents[i] = far * far * factor + height - reference[i];
        stale += exponents[i] > STALE;
    }
    return stale > 0;
}

static void exponentials(const double *restrict exponents, int64_t points, double *restrict part)
{
    for (int64_t i = 0; i < points; i++)
        part[i] = exponential(exponents[i], SMALLEST);
}

/* Put the part of an updated component in its place. */
static void replace(struct mixture *m, int64_t index)
{
    if (find_exponents(m, index, m->room)) {
        refresh(m, SMALLEST);
        return;
    }
    exponentials(m->room, m->points, m->parts + index * m->points);
    m->from[index] = 0;
    m->to[index] = m->points;
    memset(m->total, 0, (size_t)m->points * sizeof *m->total);
    for (int64_t k = 0; k < m->components; k++)
        for (int64_t i = m->from[k]; i < m->to[k]; i++)
            m->total[i] += m->parts[k * m->points + i];
}

/* Update one component; return whether it lives. */
static int update(struct mixture *m, int64_t index)
{
    double mean, mass;
    find_rates(m);
    mass = mass_of(m, index, m->room, &mean);
    if (mass <= ANNIHILATED && m->components > 1) {
        drop(m, index);
        refresh(m, SMALLEST);
        return 0;
    }
    m->widths[index] = width_of(m, index, m->room, mean, mass);
    m->means[index] = mean;
    m->weights[index] = (mass - ANNIHILATED) / m->rows * whole_weight(m);
    replace(m, index);
    return 1;
}

/* Update each component once, each with fresh responsibilities; then have weights that sum to 1. */
static void sweep(struct mixture *m)
{
    int64_t index = 0;
    while (index < m->components)
        index += update(m, index);
    double whole = whole_weight(m), least = INFINITY;
    for (int64_t k = 0; k < m->components; k++)
        m->weights[k] /= whole;
    for (int64_t k = 0; k < m->components; k++)
        for (int64_t i = m->from[k]; i < m->to[k]; i++)
            m->parts[k * m->points + i] *= 1 / whole;
    for (int64_t i = 0; i < m->points; i++) {
        m->total[i] *= 1 / whole;
        least = m->total[i] < least ? m->total[i] : least;
    }
    if (least < LEAST_TOTAL)
        refresh(m, SMALLEST);
}

static void find_log_densities(const double *restrict total, const double *restrict reference, int64_t points,
                               double *restrict logs)
{
    for (int64_t i = 0; i < points; i++)
        logs[i] = logarithm(total[i]) + reference[i] - HALF_LOG_TAU;
}

static double message_length(const struct mixture *m)
{
    double logs = 0, count = (double)m->components;
    struct lanes sum = {{0}, {0}};
    find_log_densities(m->total, m->reference, m->points, m->room);
    for (int64_t at = 0; at < m->points; at += LANES)
        add(&sum, product(load(m->room + at), load(m->counts + at)));
    for (int64_t k = 0; k < m->components; k++)
        logs += logarithm(m->rows * m->weights[k] / 12);
    return logs + count / 2 * logarithm(m->rows / 12) + count * 1.5 - of_lanes(sum);
}

/* Sweep over the components until the message length stands still; return that length. */
static double converge(struct mixture *m, double tolerance)
{
    double length = message_length(m);
    for (int turn = 0; turn < MOST_SWEEPS; turn++) {
        double before = length;
        sweep(m);
        length = message_length(m);
        if (fabs(before - length) <= tolerance)
            break;
    }
    return length;
}

/* Thin out, then go down to a single component; leave the parameters of least message length. */
static void fit(struct mixture *m, double *best)
{
    double least = INFINITY;
    int64_t kept = 0;
    refresh(m, m->components > FEW_COMPONENTS ? NEGLIGIBLE : SMALLEST);
    while (m->components > FEW_COMPONENTS) {
        thin_out(m);
        refresh(m, m->components > FEW_COMPONENTS ? NEGLIGIBLE : SMALLEST);
    }
    for (;;) {
        double length = converge(m, COARSE_TOLERANCE);
        size_t bytes = (size_t)m->components * sizeof(double);
        if (!kept || length < least - TIE * fabs(length)) {
            least = length;
            kept = m->components;
            memcpy(best, m->weights, bytes);
            memcpy(best + FEW_COMPONENTS, m->means, bytes);
            memcpy(best + 2 * FEW_COMPONENTS, m->widths, bytes);
        }
        if (m->components == 1)
            break;
        drop(m, lightest(m));
        refresh(m, SMALLEST);
    }
    m->components = kept;
    memcpy(m->weights, best, (size_t)kept * sizeof(double));
    memcpy(m->means, best + FEW_COMPONENTS, (size_t)kept * sizeof(double));
    memcpy(m->widths, best + 2 * FEW_COMPONENTS, (size_t)kept * sizeof(double));
    refresh(m, SMALLEST);
    converge(m, TOLERANCE);
}

/* Fit a mixture to ascending values with the rows of each, both padded; `rows` are all rows. It starts from
 * `components` means and widths, which are replaced; so are the weights. Return how many are left, unordered;
 * 0 without memory. */
EXPORT int64_t mixture_fit(const double *values, const double *counts, int64_t points, double rows,
                           double floor, int64_t components, double *weights, double *means, double *widths)
{
    double *room = malloc((size_t)((components + 3) * points + 3 * FEW_COMPONENTS) * sizeof(double));
    int64_t *ends = malloc((size_t)(2 * components) * sizeof *ends);
    if (room && ends) {
        struct mixture m = {.points = points, .components = components, .values = values, .counts = counts,
                            .rows = rows, .floor = floor, .weights = weights, .means = means, .widths = widths,
                            .reference = room, .total = room + points, .room = room + 2 * points,
                            .parts = room + 3 * points, .from = ends, .to = ends + components};
        fit(&m, m.parts + components * points);
        components = m.components;
    } else {
        components = 0;
    }
    free(room);
    free(ends);
    return components;
}
