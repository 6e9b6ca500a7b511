/* Exact looks: what all rows say of a property in a context, and of an object there.
 *
 * Conditions are rows as bits, in the order of the table. Each row of a context has a place in the order
 * of the property's values, known beforehand; its bit is set there. So the rows are in the order of
 * their values without having been sorted, and the rows near an object are a range of bits. */
#include "screen.h"

/* A numeric column with all rows. */
struct column {
    int64_t known;
    const double *values;  /* of the rows that have one, ascending */
    const int32_t *places; /* of all rows among them; `known` where there is no value */
    /* Where values of evenly spaced cells begin among them, to find one soon. */
    int64_t cells;
    double cells_from, cells_each; /* the least value, and cells for each unit */
    const int32_t *cell_starts;
};

/* Values far below the first cell, or beyond the last, belong to these. */
static int64_t cell_of(const struct column *c, double value)
{
    double cell = (value - c->cells_from) * c->cells_each;
    if (!(cell > 0))
        return 0;
    return cell < (double)c->cells ? (int64_t)cell : c->cells - 1;
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

static int is_before(double value, double point, int is_right)
{
    return is_right ? value <= point : value < point;
}

/* Count the values before a point, of which there are at least `place`: from where its cell begins by
 * ever larger steps, then by halves. */
static inline int64_t place_of(const struct column *c, double point, int is_right, int64_t place)
{
    int64_t cell = cell_of(c, point), end = c->cell_starts[cell + 1], step = 1;
    if (c->cell_starts[cell] > place)
        place = c->cell_starts[cell];
    while (place + step <= end && is_before(c->values[place + step - 1], point, is_right)) {
        place += step;
        step *= 2;
    }
    for (step /= 2; step > 0; step /= 2)
        if (place + step <= end && is_before(c->values[place + step - 1], point, is_right))
            place += step;
    return place;
}

static uint64_t joined(const uint64_t *const *conditions, int64_t number, int64_t word)
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

/* Lay the bits of rows out by value. Those without one have the place behind all others. */
static void lay_out(const struct column *c, const uint64_t *const *conditions, int64_t number,
                       int64_t words, uint64_t *bits)
{
    memset(bits, 0, (size_t)(c->known / 64 + 1) * sizeof *bits);
    for (int64_t word = 0; word < words; word++) {
        uint64_t left = joined(conditions, number, word);
        const int32_t *places = c->places + 64 * word;
        for (; left; left &= left - 1) {
            int32_t place = places[__builtin_ctzll(left)];
            bits[place >> 6] |= (uint64_t)1 << (place & 63);
        }
    }
    bits[c->known >> 6] &= ~((uint64_t)1 << (c->known & 63));
}

/* Put the rows of a context in the order of their values; return how many of them have one. */
EXPORT int64_t look_values(const struct column *c, const uint64_t *const *conditions, int64_t number,
                           int64_t words, uint64_t *bits, double *values)
{
    int64_t known = 0;
    lay_out(c, conditions, number, words, bits);
    for (int64_t word = 0; word <= c->known / 64; word++)
        for (uint64_t left = bits[word]; left; left &= left - 1)
            values[known++] = c->values[64 * word + __builtin_ctzll(left)];
    return known;
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

static int64_t bits_between(const uint64_t *bits, int64_t first, int64_t end)
{
    if (first >= end)
        return 0;
    int64_t word = first >> 6, last = (end - 1) >> 6;
    uint64_t head = ~(uint64_t)0 << (first & 63), tail = ~(uint64_t)0 >> (63 - ((end - 1) & 63));
    if (word == last)
        return popcount(bits[word] & head & tail);
    int64_t count = popcount(bits[word] & head) + popcount(bits[last] & tail);
    for (word++; word < last; word++)
        count += popcount(bits[word]);
    return count;
}

/* Count the rows within ever larger distances of a point: of all rows that have a value, or of those
 * with bits. Return for how many distances: beyond the first, only while `needed` times as many rows are
 * no more than are known. */
EXPORT int64_t look_near(const struct column *c, const uint64_t *bits, int64_t known, double point,
                         const double *reaches, int64_t number, double needed, int64_t *near)
{
    int64_t at = 0;
    for (; at < number; at++) {
        int64_t first = place_of(c, point - reaches[at], 0, 0);
        int64_t end = place_of(c, point + reaches[at], 1, 0);
        near[at] = bits ? bits_between(bits, first, end) : end - first;
        if (at > 0 && !((double)near[at] * needed <= (double)known))
            break;
    }
    return at;
}

/* Count the rows of a context within a distance of a point. */
EXPORT int64_t look_near_rows(const struct column *c, const uint64_t *const *conditions,
                              int64_t number, int64_t words, double point, double reach)
{
    int64_t first = place_of(c, point - reach, 0, 0), end = place_of(c, point + reach, 1, 0);
    int64_t count = 0;
    for (int64_t word = 0; word < words; word++) {
        const int32_t *places = c->places + 64 * word;
        for (uint64_t left = joined(conditions, number, word); left; left &= left - 1) {
            int32_t place = places[__builtin_ctzll(left)];
            count += place >= first && place < end;
        }
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
