/* Sweeps over sorted values, and over rows in the order of their values. */
#include "kernel.h"

/* Count, for each of ascending points, the values that are less, or not larger. From one point to the
 * next by ever larger steps, then by halves: so few points among many values take little time. */
EXPORT void sweep_places(const double *values, int64_t count, const double *points, int64_t number,
                         int64_t is_right, int64_t *places)
{
    int64_t place = 0;
    for (int64_t at = 0; at < number; at++) {
        int64_t step = 1;
        while (place + step <= count && lies_before(values[place + step - 1], points[at], is_right)) {
            place += step;
            step *= 2;
        }
        for (; step > 0; step /= 2)
            if (place + step <= count && lies_before(values[place + step - 1], points[at], is_right))
                place += step;
        places[at] = place;
    }
}

/* Count, for each of some values, the edges up to it; of what is no number, one more than all of them. As
 * many halves are taken for every value, several values at once: nothing is left for the processor to guess,
 * and while one waits for an edge the others go on. */
EXPORT void sweep_locate(const double *edges, int64_t count, const double *values, int64_t number, int32_t *places)
{
    enum { TOGETHER = 16 };
    for (int64_t start = 0; start < number; start += TOGETHER) {
        const int64_t some = number - start < TOGETHER ? number - start : TOGETHER;
        double own[TOGETHER] = {0};
        int32_t found[TOGETHER] = {0};
        memcpy(own, values + start, (size_t)some * sizeof *own);
        for (int64_t left = count; left > 1; left -= left / 2) {
            const int32_t half = (int32_t)(left / 2);
            for (int k = 0; k < TOGETHER; k++)
                found[k] += edges[found[k] + half] <= own[k] ? half : 0;
        }
        for (int64_t k = 0; k < some; k++) {
            const int32_t place = found[k] + (count > 0 && edges[found[k]] <= own[k]);
            places[start + k] = own[k] == own[k] ? place : (int32_t)count + 1;
        }
    }
}

/* Several sweeps at once, each over a part of the values: while one waits for its next values the others
 * go on. Each looks at some values ahead, of which nearly always enough are too large: nothing is left
 * for the processor to guess. */
enum { SWEEPS = 8 };

/* Count the values from which a point at most so far away is still below another one. */
static int64_t count_below(const double *values, int64_t count, double reach, double end)
{
    int64_t place = 0;
    while (count > 0) {
        int64_t half = (count + 1) / 2;
        int is_below = values[place + half - 1] + reach < end;
        place += is_below ? half : 0;
        count = is_below ? count - half : half - 1;
    }
    return place;
}

/* Add up, for each of ascending values, how many are at most so much larger, or lie before; note these
 * numbers where there is room for them. */
static inline int64_t ends_of(const double *values, int64_t count, double reach, int64_t *ends)
{
    /* of so many values the windows end before the last ones, which can be looked at ahead */
    int64_t inner = count > AHEAD ? count_below(values, count, reach, values[count - AHEAD]) : 0;
    int64_t part = inner / SWEEPS, total = 0, place[SWEEPS] = {0};
    for (int sweep = 0; part > 0 && sweep < SWEEPS; sweep++) {
        double most = values[sweep * part] + reach;
        sweep_places(values, count, &most, 1, 1, &place[sweep]);
    }
    for (int64_t at = 0; at < part; at++)
        for (int sweep = 0; sweep < SWEEPS; sweep++) {
            double most = values[sweep * part + at] + reach;
            int64_t steps;
            do {
                steps = next_before(values + place[sweep], most, 1);
                place[sweep] += steps;
            } while (steps == AHEAD);
            total += place[sweep];
            if (ends)
                ends[sweep * part + at] = place[sweep];
        }
    int64_t end = place[SWEEPS - 1];
    for (int64_t at = SWEEPS * part; at < count; at++) {
        double most = values[at] + reach;
        while (end < count && values[end] <= most)
            end++;
        total += end;
        if (ends)
            ends[at] = end;
    }
    return total;
}

/* Add up, for each of ascending values, how many are at most so much larger. */
EXPORT int64_t sweep_total(const double *values, int64_t count, double reach)
{
    return ends_of(values, count, reach, NULL);
}

/* Count the rows around each of ascending values, at most so far away; `before` are the rows before each
 * value, and all of them. One value reaches another where the earlier of both reaches the later: windows
 * that ended before a value do not reach it. There is room for one number more than values, all 0. */
EXPORT void sweep_around(const double *values, int64_t count, const int64_t *before, double reach,
                         int64_t *ended, int64_t *around)
{
    int64_t first = 0;
    ends_of(values, count, reach, around);
    for (int64_t at = 0; at < count; at++)
        ended[around[at]]++;
    for (int64_t at = 0; at < count; at++) {
        first += ended[at];
        around[at] = before[around[at]] - before[first];
    }
}

/* Take the values of marked rows; return how many there are. There is room for all. */
EXPORT int64_t sweep_taken(const double *values, const int64_t *rows, int64_t count,
                           const uint8_t *marks, double *taken)
{
    int64_t number = 0;
    for (int64_t at = 0; at < count; at++) {
        taken[number] = values[at];
        number += marks[rows[at]] != 0;
    }
    return number;
}

/* Sums are taken as NumPy takes them: in eight lanes, blocks of up to 128 pair by pair. */
#define BLOCK 128

static double sum_of_block(const double *numbers, int64_t count)
{
    double sum = 0;
    int64_t at = 0;
    if (count >= LANES) {
        double lanes[LANES];
        memcpy(lanes, numbers, sizeof lanes);
        for (at = LANES; at + LANES <= count; at += LANES)
            for (int lane = 0; lane < LANES; lane++)
                lanes[lane] += numbers[at + lane];
        sum = ((lanes[0] + lanes[1]) + (lanes[2] + lanes[3])) +
              ((lanes[4] + lanes[5]) + (lanes[6] + lanes[7]));
    }
    for (; at < count; at++)
        sum += numbers[at];
    return sum;
}

/* What is added up of each of some values, times its rows where these are given. */
enum kind_of_term { OFFSET, SQUARE, ABOVE, BELOW, ITSELF };

struct terms {
    const double *values;
    const int64_t *rows;
    double least, spread; /* offsets are counted from the least value, in units of the spread */
    double centre;        /* what squares of offsets, and values above or below, are counted from */
    enum kind_of_term kind;
};

static void fill(const struct terms *t, int64_t first, int64_t count, double *numbers)
{
    const double *values = t->values + first;
    for (int64_t at = 0; t->kind <= SQUARE && at < count; at++)
        numbers[at] = (values[at] - t->least) / t->spread;
    for (int64_t at = 0; t->kind == SQUARE && at < count; at++) {
        double deviation = numbers[at] - t->centre;
        numbers[at] = deviation * deviation;
    }
    for (int64_t at = 0; t->kind == ABOVE && at < count; at++)
        numbers[at] = larger(values[at] - t->centre, 0);
    for (int64_t at = 0; t->kind == BELOW && at < count; at++)
        numbers[at] = larger(-(values[at] - t->centre), 0);
    if (t->kind == ITSELF)
        memcpy(numbers, values, (size_t)count * sizeof *numbers);
    for (int64_t at = 0; t->rows && at < count; at++)
        numbers[at] *= (double)t->rows[first + at];
}

static double sum_of(const struct terms *t, int64_t first, int64_t count)
{
    if (count > BLOCK) {
        int64_t half = count / 2;
        half -= half % LANES;
        return sum_of(t, first, half) + sum_of(t, first + half, count - half);
    }
    double numbers[BLOCK];
    fill(t, first, count, numbers);
    return sum_of_block(numbers, count);
}

/* Return the variance of ascending values, not all equal, in units of their spread. Each stands for one
 * row, or for as many as are given; `number` is how many these are in all. */
static double variance_of(const double *values, const int64_t *rows, int64_t count, double number)
{
    struct terms t = {values, rows, values[0], values[count - 1] - values[0], 0, OFFSET};
    t.centre = sum_of(&t, 0, count) / number;
    t.kind = SQUARE;
    return sum_of(&t, 0, count) / number;
}

EXPORT double sweep_variance(const double *values, int64_t count)
{
    return variance_of(values, NULL, count, (double)count);
}

EXPORT double sweep_weighted_variance(const double *values, const int64_t *rows, int64_t count,
                                      int64_t number)
{
    return variance_of(values, rows, count, (double)number);
}

/* Return the means over rows of values, of how far they are above a point, and below it. */
EXPORT void sweep_means(const double *values, const int64_t *rows, int64_t count, double point,
                        double *means)
{
    struct terms t = {values, rows, 0, 0, point, ITSELF};
    double number = 0;
    for (int64_t at = 0; at < count; at++)
        number += (double)rows[at];
    for (int kind = 0; kind < 3; kind++) {
        static const enum kind_of_term kinds[] = {ITSELF, ABOVE, BELOW};
        t.kind = kinds[kind];
        means[kind] = sum_of(&t, 0, count) / number;
    }
}

/* Count the rows of each of ascending values: values, rows, and the rows before each and in all. Return
 * how many there are. */
EXPORT int64_t sweep_distinct(const double *values, int64_t count, double *distinct, int64_t *rows,
                              int64_t *before)
{
    int64_t number = 0;
    before[0] = 0;
    for (int64_t at = 0; at < count; at++)
        if (at + 1 == count || values[at + 1] != values[at]) {
            distinct[number] = values[before[number]];
            rows[number] = at + 1 - before[number];
            before[++number] = at + 1;
        }
    return number;
}

/* Return the number at a place of the order of some, by Hoare's quickselect; they change places. */
static double selected(double *numbers, int64_t count, int64_t place)
{
    int64_t low = 0, high = count - 1;
    while (low < high) {
        double pivot = numbers[low + (high - low) / 2];
        int64_t left = low, right = high;
        while (left <= right) {
            while (numbers[left] < pivot)
                left++;
            while (numbers[right] > pivot)
                right--;
            if (left <= right) {
                double other = numbers[left];
                numbers[left++] = numbers[right];
                numbers[right--] = other;
            }
        }
        if (place <= right)
            high = right;
        else if (place >= left)
            low = left;
        else
            break;
    }
    return numbers[place];
}

/* Return the median of the steps between ascending values, two at least; `room` takes as many numbers. */
EXPORT double sweep_median_step(const double *values, int64_t count, double *room)
{
    int64_t steps = count - 1;
    for (int64_t at = 0; at < steps; at++)
        room[at] = values[at + 1] - values[at];
    double upper = selected(room, steps, steps / 2), lower = 0;
    if (steps % 2)
        return upper;
    lower = room[0]; /* the largest of those before the middle */
    for (int64_t at = 1; at < steps / 2; at++)
        lower = larger(lower, room[at]);
    return (lower + upper) / 2;
}

/* Join ascending values that are dense enough to ranges, which end where the next one is too far off, or
 * at a point between. Return how many ranges there are: their first values, and their last. */
EXPORT int64_t sweep_ranges(const double *values, const double *densities, int64_t count, double least,
                            double widest, double point, double *firsts, double *lasts)
{
    int64_t number = 0;
    for (int64_t at = 0; at < count; at++) {
        double value = values[at], last = number > 0 ? lasts[number - 1] : value;
        if (densities[at] < least)
            continue;
        if (number == 0 || value - last > widest || (last < point && point <= value))
            firsts[number++] = value;
        lasts[number - 1] = value;
    }
    return number;
}
