/* Sweeps over sorted values, and over rows in the order of their values. */
#include "screen.h"

/* Whether a value lies before a point. */
static int is_before(double value, double point, int64_t is_right)
{
    return is_right ? value <= point : value < point;
}

/* Count, for each of ascending points, the values that are less, or not larger. From one point to the
 * next by ever larger steps, then by halves: so few points among many values take little time. */
EXPORT void sweep_places(const double *values, int64_t count, const double *points, int64_t number,
                         int64_t is_right, int64_t *places)
{
    int64_t place = 0;
    for (int64_t at = 0; at < number; at++) {
        int64_t step = 1;
        while (place + step <= count && is_before(values[place + step - 1], points[at], is_right)) {
            place += step;
            step *= 2;
        }
        for (; step > 0; step /= 2)
            if (place + step <= count && is_before(values[place + step - 1], points[at], is_right))
                place += step;
        places[at] = place;
    }
}

/* Find where cells of equal width begin among ascending values, from the first value to the last. */
EXPORT void sweep_cells(const double *values, int64_t count, int64_t cells, int32_t *starts)
{
    double each = (values[count - 1] - values[0]) / (double)cells;
    int64_t place = 0;
    starts[0] = 0;
    for (int64_t cell = 1; cell < cells; cell++) {
        double begin = values[0] + (double)cell * each;
        while (place < count && values[place] < begin)
            place++;
        starts[cell] = (int32_t)place;
    }
    starts[cells] = (int32_t)count;
}

/* Several sweeps at once, each over a part of the values: which of its two places goes on is no guess of
 * the processor, as that would fail every other time, and while one waits for its next value the others
 * go on. */
enum { SWEEPS = 4 };

static int64_t total_of(const double *values, int64_t count, double reach, int64_t at, int64_t end,
                        int64_t place, int64_t total)
{
    for (; at < end; at++) {
        double most = values[at] + reach;
        while (place < count && values[place] <= most)
            place++;
        total += place;
    }
    return total;
}

static int64_t first_after(const double *values, int64_t count, double most)
{
    int64_t place = 0, left = count;
    while (left > 0) {
        int64_t half = (left + 1) / 2;
        if (values[place + half - 1] <= most) {
            place += half;
            left -= half;
        } else {
            left = half - 1;
        }
    }
    return place;
}

/* Add up, for each of ascending values, how many are at most so much larger. */
EXPORT int64_t sweep_total(const double *values, int64_t count, double reach)
{
    int64_t part = count / SWEEPS, at[SWEEPS], end[SWEEPS], place[SWEEPS], total[SWEEPS] = {0};
    for (int sweep = 0; sweep < SWEEPS; sweep++) {
        at[sweep] = sweep * part;
        end[sweep] = (sweep + 1) * part;
        place[sweep] = part ? first_after(values, count, values[at[sweep]] + reach) : 0;
    }
    /* Every step moves one of two places, so that none leaves the values in as many steps. */
    for (int is_going = 1; is_going;) {
        int64_t steps = INT64_MAX;
        for (int sweep = 0; sweep < SWEEPS; sweep++) {
            int64_t left = end[sweep] - at[sweep], above = count - place[sweep];
            steps = left < steps ? left : steps;
            steps = above < steps ? above : steps;
        }
        is_going = steps > 0;
        for (; steps > 0; steps--)
            for (int sweep = 0; sweep < SWEEPS; sweep++) {
                int64_t goes = values[place[sweep]] <= values[at[sweep]] + reach;
                total[sweep] += place[sweep] & (goes - 1);
                place[sweep] += goes;
                at[sweep] += 1 - goes;
            }
    }
    int64_t sum = total_of(values, count, reach, SWEEPS * part, count, part ? place[SWEEPS - 1] : 0, 0);
    for (int sweep = 0; sweep < SWEEPS; sweep++)
        sum = total_of(values, count, reach, at[sweep], end[sweep], place[sweep],
                       sum + total[sweep]);
    return sum;
}

/* Count the rows around each of ascending values, at most so far away; `before` are the rows before each
 * value, and all of them. One value reaches another where the earlier of both reaches the later. */
EXPORT void sweep_around(const double *values, int64_t count, const int64_t *before, double reach,
                         int64_t *around)
{
    int64_t first = 0, end = 0;
    for (int64_t at = 0; at < count; at++) {
        double most = values[at] + reach;
        while (end < count && values[end] <= most)
            end++;
        while (values[first] + reach < values[at])
            first++;
        around[at] = before[end] - before[first];
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
enum { BLOCK = 128, LANES = 8 };

static double sum_of(const double *numbers, int64_t count)
{
    if (count > BLOCK) {
        int64_t half = count / 2;
        half -= half % LANES;
        return sum_of(numbers, half) + sum_of(numbers + half, count - half);
    }
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

/* Return the variance of ascending values, not all equal, in units of their spread; `room` takes as
 * many numbers. */
EXPORT double sweep_variance(const double *values, int64_t count, double *room)
{
    double least = values[0], spread = values[count - 1] - least, number = (double)count;
    for (int64_t at = 0; at < count; at++)
        room[at] = (values[at] - least) / spread;
    double mean = sum_of(room, count) / number;
    for (int64_t at = 0; at < count; at++) {
        double deviation = room[at] - mean;
        room[at] = deviation * deviation;
    }
    return sum_of(room, count) / number;
}
