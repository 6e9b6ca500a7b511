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
