/* Exact looks: what all rows say of a property in a context, and of an object there.
 *
 * Conditions are rows as bits, in the order of the table, or laid out by value: each row has a place in
 * the order of the property's values, known beforehand; its bit is set there. What is laid out once serves
 * all contexts with that condition: their rows are in the order of their values without having been sorted,
 * and the rows near an object are a range of bits. */
#include "screen.h"

/* A numeric column with all rows. */
struct column {
    int64_t known;
    const double *values;  /* of the rows that have one, ascending */
    const int32_t *places; /* of all rows among them; those without a value come last */
    /* Where values of evenly spaced cells begin among them, to find one soon. */
    int64_t cells;
    double cells_from, cells_each; /* the least value, and cells for each unit */
    const int32_t *cell_starts;
};

/* Values far below the first cell, or beyond the last, belong to these. No branches: none could be
 * foreseen. */
static inline int64_t cell_of(const struct column *c, double value)
{
    double cell = (value - c->cells_from) * c->cells_each, last = (double)(c->cells - 1);
    cell = cell > 0 ? cell : 0;
    return (int64_t)(cell < last ? cell : last);
}

/* Note where the values of each cell begin. The same function tells the cell of a point: so values of
 * earlier cells are less than it, those of later ones larger, whatever was rounded. */
EXPORT void look_cells(const struct column *c, int32_t *starts)
{
    int64_t cell = 0;
    for (int64_t at = 0; at < c->known; at++)
        for (int64_t own = cell_of(c, c->values[at]); cell <= own; cell++)
            starts[cell] = (int32_t)at;
    for (; cell <= c->cells; cell++)
        starts[cell] = (int32_t)c->known;
}

/* Count the values before a point, of which there are at least `place` and at most `end`: by ever larger
 * steps, then by halves. */
static int64_t place_beyond(const struct column *c, double point, int is_right, int64_t place,
                            int64_t end)
{
    int64_t step = 1;
    while (place + step <= end && lies_before(c->values[place + step - 1], point, is_right)) {
        place += step;
        step *= 2;
    }
    for (step /= 2; step > 0; step /= 2)
        if (place + step <= end && lies_before(c->values[place + step - 1], point, is_right))
            place += step;
    return place;
}

/* Count the values before a point, of which there are at least `place`: from where its cell begins. Most
 * cells have few values; what is behind them is beyond the point. */
static inline int64_t place_of(const struct column *c, double point, int is_right, int64_t place)
{
    int64_t cell = cell_of(c, point), start = c->cell_starts[cell], end = c->cell_starts[cell + 1];
    if (end > start + AHEAD || start + AHEAD > c->known)
        return place_beyond(c, point, is_right, place > start ? place : start, end);
    return start + next_before(c->values + start, point, is_right);
}

static inline uint64_t joined(const uint64_t *const *conditions, int64_t number, int64_t word)
{
    uint64_t all = conditions[0][word];
    for (int64_t item = 1; item < number; item++)
        all &= conditions[item][word];
    return all;
}

/* Count the rows that satisfy some conditions, one at least. */
EXPORT int64_t look_rows(const uint64_t *const *conditions, int64_t number, int64_t words)
{
    int64_t rows = 0;
    for (int64_t word = 0; word < words; word++)
        rows += popcount(joined(conditions, number, word));
    return rows;
}

/* Lay rows out by value; all bits are 0 before. */
EXPORT void look_lay_out(const struct column *c, const uint64_t *rows, int64_t words, uint64_t *bits)
{
    for (int64_t word = 0; word < words; word++)
        for (uint64_t left = rows[word]; left; left &= left - 1) {
            int32_t place = c->places[64 * word + __builtin_ctzll(left)];
            bits[place >> 6] |= (uint64_t)1 << (place & 63);
        }
}

/* The rows of a context: all of them, those that have a value, and the variance of these. */
struct members {
    int64_t rows, known;
    double variance;
};

/* Take the values of rows laid out by value, ascending; return how many there are. */
EXPORT int64_t look_values(const struct column *c, const uint64_t *bits, double *values)
{
    int64_t known = 0, words = c->known / 64;
    uint64_t last = ((uint64_t)1 << (c->known & 63)) - 1;
    for (int64_t word = 0; word < words + (last != 0); word++)
        for (uint64_t left = word < words ? bits[word] : bits[word] & last; left; left &= left - 1)
            values[known++] = c->values[64 * word + __builtin_ctzll(left)];
    return known;
}

/* Join conditions that are laid out by value, and take the values of the rows if there are enough. */
EXPORT void look_members(const struct column *c, const uint64_t *const *conditions, int64_t number,
                         int64_t words, double least, uint64_t *bits, double *values,
                         struct members *found)
{
    memcpy(bits, conditions[0], (size_t)words * sizeof *bits);
    for (int64_t item = 1; item < number; item++)
        for (int64_t word = 0; word < words; word++)
            bits[word] &= conditions[item][word];
    for (int64_t word = 0; word < words; word++)
        found->rows += popcount(bits[word]);
    if ((double)found->rows >= least)
        found->known = look_values(c, bits, values);
    if (found->known > 0 && values[0] != values[found->known - 1])
        found->variance = sweep_variance(values, found->known);
}

/* Add up how many of all values lie within a distance of each of some ascending ones. */
EXPORT int64_t look_around(const struct column *c, const double *values, int64_t count, double reach)
{
    int64_t first = 0, last = 0, total = 0;
    for (int64_t at = 0; at < count; at++) {
        last = place_of(c, values[at] + reach, 1, last);
        first = place_of(c, values[at] - reach, 0, first);
        total += last - first;
    }
    return total;
}

/* Count the rows between two places that satisfy some conditions, all laid out by value. */
static int64_t bits_between(const uint64_t *const *conditions, int64_t number, int64_t first,
                            int64_t end)
{
    if (first >= end)
        return 0;
    int64_t word = first >> 6, last = (end - 1) >> 6;
    uint64_t head = ~(uint64_t)0 << (first & 63), tail = ~(uint64_t)0 >> (63 - ((end - 1) & 63));
    if (word == last)
        return popcount(joined(conditions, number, word) & head & tail);
    int64_t count = popcount(joined(conditions, number, word) & head) +
                    popcount(joined(conditions, number, last) & tail);
    for (word++; word < last; word++)
        count += popcount(joined(conditions, number, word));
    return count;
}

/* Count the rows of a context, laid out by value, whose values lie between two others. */
EXPORT int64_t look_within(const struct column *c, const uint64_t *const *conditions, int64_t number,
                           double low, double high)
{
    return bits_between(conditions, number, place_of(c, low, 0, 0), place_of(c, high, 1, 0));
}

/* Count some of ascending values that are before a point. */
static int64_t place_in(const double *values, int64_t count, double point, int is_right)
{
    int64_t place = 0;
    while (count > 0) {
        int64_t half = (count + 1) / 2;
        int is_first = lies_before(values[place + half - 1], point, is_right);
        place += is_first ? half : 0;
        count = is_first ? count - half : half - 1;
    }
    return place;
}

/* Count the rows within ever larger distances of a point, some times half a width: those with bits in a
 * column, or without bits those of the given values. Return for how many distances: beyond the first, only
 * while `needed` times as many rows are no more than are known. */
EXPORT int64_t look_near(const struct column *c, const uint64_t *bits, const double *values,
                         int64_t known, double point, double width, const double *scales,
                         int64_t number, double needed, int64_t *near)
{
    int64_t at = 0;
    for (; at < number; at++) {
        double reach = scales[at] * width / 2;
        if (bits)
            near[at] = look_within(c, &bits, 1, point - reach, point + reach);
        else
            near[at] = place_in(values, known, point + reach, 1) -
                       place_in(values, known, point - reach, 0);
        if (at > 0 && !((double)near[at] * needed <= (double)known))
            break;
    }
    return at;
}

/* Add up how many of ascending values are at most so much larger than each, for several distances. */
EXPORT void look_totals(const double *values, int64_t known, double width, const double *scales,
                        int64_t number, int64_t *totals)
{
    for (int64_t at = 0; at < number; at++)
        totals[at] = sweep_total(values, known, scales[at] * width / 2);
}

/* Take the values of the rows of a context, times a factor, in the order of the table, but for those that
 * are missing; return how many there are. There is room for one more. */
EXPORT int64_t look_gather(const double *values, double factor, const uint64_t *const *conditions,
                           int64_t number, int64_t words, double *gathered)
{
    int64_t count = 0;
    for (int64_t word = 0; word < words; word++)
        for (uint64_t left = joined(conditions, number, word); left; left &= left - 1) {
            double value = values[64 * word + __builtin_ctzll(left)] * factor + 0.0;
            gathered[count] = value;
            count += value == value;
        }
    return count;
}

/* Count the rows of a context whose values, times a factor, lie between two others. */
EXPORT int64_t look_between(const double *values, double factor, const uint64_t *const *conditions,
                            int64_t number, int64_t words, double low, double high)
{
    int64_t count = 0;
    for (int64_t word = 0; word < words; word++)
        for (uint64_t left = joined(conditions, number, word); left; left &= left - 1) {
            double value = values[64 * word + __builtin_ctzll(left)] * factor;
            count += value >= low && value <= high;
        }
    return count;
}

/* Count the rows of a context by category; codes are -1 where there is none. Return all rows. */
EXPORT int64_t look_categories(const int32_t *codes, const uint64_t *const *conditions, int64_t number,
                               int64_t words, int64_t *counts)
{
    int64_t rows = 0;
    for (int64_t word = 0; word < words; word++) {
        uint64_t left = joined(conditions, number, word);
        rows += popcount(left);
        for (; left; left &= left - 1) {
            int32_t code = codes[64 * word + __builtin_ctzll(left)];
            if (code >= 0)
                counts[code]++;
        }
    }
    return rows;
}
