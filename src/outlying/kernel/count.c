/* What passes over large tables count: bins of numbers, and rows by bin. */
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

/* Find the bins of numbers, as `Grid.codes` does: cells of equal width, the first two of which are for what
 * is missing and what is less than all, each with a line from places to codes. Single frequent values have
 * codes of their own, some shifts off. */
EXPORT void count_bins(const double *numbers, int64_t number, double first, double factor, double cells,
                       const double *slopes, const double *offsets, const double *atoms,
                       const int64_t *shifts, int64_t atom_count, int64_t *codes)
{
    for (int64_t at = 0; at < number; at++) {
        double place = (numbers[at] - first) * factor + 2.0, most = cells + 2.0;
        place = place < 1.0 ? 1.0 : place;
        place = place > most ? most : place;
        place = place == place ? place : 0.0;
        int32_t cell = (int32_t)place;
        codes[at] = (int32_t)(place * slopes[cell] + offsets[cell]);
    }
    for (int64_t atom = 0; atom < atom_count; atom++)
        for (int64_t at = 0; at < number; at++)
            codes[at] += numbers[at] == atoms[atom] ? shifts[atom] : 0;
}
