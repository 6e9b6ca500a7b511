/* Sorted values and sorted points: how many values lie before each point, in one sweep over both. */
#include "screen.h"

/* Count, for each of ascending points, the values that are less, or not larger. */
EXPORT void sweep_places(const double *values, int64_t count, const double *points, int64_t number,
                         int64_t is_right, int64_t *places)
{
    int64_t place = 0;
    for (int64_t at = 0; at < number; at++) {
        if (is_right)
            while (place < count && values[place] <= points[at])
                place++;
        else
            while (place < count && values[place] < points[at])
                place++;
        places[at] = place;
    }
}

/* Add up, for each of ascending values, how many are at most so much larger. */
EXPORT int64_t sweep_total(const double *values, int64_t count, double reach)
{
    int64_t place = 0, total = 0;
    for (int64_t at = 0; at < count; at++) {
        double end = values[at] + reach;
        while (place < count && values[place] <= end)
            place++;
        total += place;
    }
    return total;
}
