/* What passes over large tables count: rows by code. */
#include "kernel.h"

/* Count codes, each in its place; return how many have none. */
EXPORT int64_t count_codes(const int64_t *codes, int64_t number, int64_t *counts, int64_t size)
{
    int64_t beyond = 0;
    for (int64_t at = 0; at < number; at++)
        if ((uint64_t)codes[at] < (uint64_t)size)
            counts[codes[at]]++;
        else
            beyond++;
    return beyond;
}

/* Count the codes of some rows, each in its place; return how many have none. */
EXPORT int64_t count_codes_of(const int64_t *codes, const int64_t *rows, int64_t number, int64_t *counts,
                              int64_t size)
{
    int64_t beyond = 0;
    for (int64_t at = 0; at < number; at++)
        if ((uint64_t)codes[rows[at]] < (uint64_t)size)
            counts[codes[rows[at]]]++;
        else
            beyond++;
    return beyond;
}
