/* Contexts counted in the bins of a property (method 5c): whole numbers only.
 *
 * Rows stand in the order of a property, one bit each; every bin begins with a new word. A context
 * is a base (rows as bits) and one more condition. For each context: its rows, and how many more
 * pairs of them lie within a window than the table leads one to expect (the lift).
 * Cells, that is bins of a context, are listed where the rows of the context are rare; with
 * `with_empty` also those that hold none, where a new row would be alone.
 */
#include "kernel.h"

enum { MOST_WINDOWS = 8, SMALL = 65535, ENOUGH = 5 };

struct tally {
    int64_t words, bins, windows, known, least, with_empty;
    double rarity; /* the least rarity of a cell */
    double bar;    /* the least product of rarity and lift */
    const int32_t *starts; /* bins + 1: the first word of each bin */
    const int32_t *low, *high; /* windows x bins: the bins of the window around a bin */
    const int32_t *mass; /* windows x bins: rows of the table in that window */
    const uint64_t *bases, *conditions; /* rows as bits */
    int64_t room; /* for cells */
};

SHARED(tally);

/* Lay conditions out in the order of a property: each row sets the bits of its code's conditions. */
EXPORT void tally_lay_out(int64_t rows, const int32_t *slots, const int32_t *order, const uint16_t *codes,
                   const int32_t *first, const int32_t *listed, int64_t words, uint64_t *bits)
{
    for (int64_t i = 0; i < rows; i++) {
        const int32_t slot = slots[i];
        const uint16_t code = codes[order[i]];
        const uint64_t bit = (uint64_t)1 << (slot & 63);
        for (int32_t k = first[code]; k < first[code + 1]; k++)
            bits[(int64_t)listed[k] * words + (slot >> 6)] |= bit;
    }
}

/* Join each base with up to three more conditions. */
EXPORT void tally_join(int64_t words, int64_t contexts, const int32_t *members, const uint64_t *conditions,
                uint64_t *out)
{
    for (int64_t e = 0; e < contexts; e++) {
        uint64_t *to = out + e * words;
        memcpy(to, conditions + members[4 * e] * words, (size_t)words * sizeof *to);
        for (int k = 1; k < 4 && members[4 * e + k] >= 0; k++) {
            const uint64_t *with = conditions + members[4 * e + k] * words;
            for (int64_t w = 0; w < words; w++) to[w] &= with[w];
        }
    }
}

/* Whether every bin is one word: as many words as bins may also be two for one and none for another. */
static int is_word_by_word(const struct tally *t)
{
    for (int64_t b = 0; b <= t->bins; b++)
        if (t->starts[b] != b) return 0;
    return 1;
}

static int64_t histogram(const struct tally *t, const uint64_t *base, const uint64_t *with,
                         int by_word, int32_t *before)
{
    int32_t count = 0;
    before[0] = 0;
    if (by_word) { /* no inner loop */
        for (int32_t b = 0; b < (int32_t)t->bins; b++) {
            count += (int32_t)__builtin_popcountll(base[b] & with[b]);
            before[b + 1] = count;
        }
        return count;
    }
    for (int64_t b = 0; b < t->bins; b++) {
        for (int32_t w = t->starts[b]; w < t->starts[b + 1]; w++)
            count += (int32_t)__builtin_popcountll(base[w] & with[w]);
        before[b + 1] = count;
    }
    return count;
}

/* Pairs of rows of a context within a window, and what to expect of it. */
static int64_t pairs_within(const struct tally *t, int64_t window, const int32_t *before,
                            int64_t *expected)
{
    const int32_t *low = t->low + window * t->bins, *high = t->high + window * t->bins;
    const int32_t *mass = t->mass + window * t->bins;
    int64_t own = 0, usual = 0;
    if (t->known <= SMALL) { /* 32 bits are enough, and lanes are twice as many */
        uint32_t few = 0, some = 0;
        for (int32_t i = 0; i < (int32_t)t->bins; i++) {
            const uint32_t here = (uint32_t)(before[i + 1] - before[i]);
            few += here * (uint32_t)(before[high[i]] - before[low[i]]);
            some += here * (uint32_t)mass[i];
        }
        *expected = some;
        return few;
    }
    for (int64_t i = 0; i < t->bins; i++) {
        const int64_t here = before[i + 1] - before[i];
        own += here * (before[high[i]] - before[low[i]]);
        usual += here * mass[i];
    }
    *expected = usual;
    return own;
}

static int may_be_rare(const struct tally *t, int64_t bin, const int32_t *before,
                       const int32_t *most, int64_t windows)
{
    for (int64_t w = 0; w < windows; w++) {
        const int64_t at = w * t->bins + bin;
        if (before[t->high[at]] - before[t->low[at]] <= most[w]) return 1;
    }
    return 0;
}

/* Count contexts: the rows and the lift of each, and rare cells with their rarities. Windows come
 * from the widest to the narrowest; once too few rows are within one to tell anything, narrower ones
 * tell nothing either. Return how many cells there are, which may be more than there is room for. */
EXPORT int64_t tally_count(const struct tally *t, int64_t contexts, const int32_t *base_of,
                    const int32_t *condition_of, int32_t *sizes, double *lifts,
                    int32_t *cell_context, int32_t *cell_bin, double *cell_rarity)
{
    const int64_t bins = t->bins;
    const int by_word = is_word_by_word(t);
    int32_t *before = malloc((size_t)(bins + 1) * sizeof *before);
    int64_t cells = 0, own[MOST_WINDOWS];
    int32_t most[MOST_WINDOWS];
    if (!before) return -1;
    for (int64_t e = 0; e < contexts; e++) {
        const uint64_t *base = t->bases + base_of[e] * t->words;
        const uint64_t *with = t->conditions + condition_of[e] * t->words;
        const int64_t size = histogram(t, base, with, by_word, before);
        double lift = 0.0;
        int64_t windows = 0, usable = 0;
        sizes[e] = (int32_t)size;
        lifts[e] = 0.0;
        if (size < t->least) continue;
        for (; windows < t->windows; windows++) {
            int64_t usual;
            own[windows] = pairs_within(t, windows, before, &usual);
            const int is_known = usual >= ENOUGH * t->known;
            if (is_known) {
                const double ratio = (double)own[windows] * (double)t->known /
                                     ((double)size * (double)usual);
                if (ratio > lift) lift = ratio;
            }
            if ((double)own[windows] >= t->rarity * (double)size) usable = windows + 1;
            else if (usual < 2 * ENOUGH * t->known) break; /* the next one holds half as many */
        }
        if (lift * (double)size > (double)t->known) lift = (double)t->known / (double)size;
        lifts[e] = lift;
        const double least = t->rarity * (double)size, bar = t->bar * (double)size;
        for (int64_t w = 0; w < usable; w++) /* no division but where a cell may be rare */
            most[w] = (int32_t)((double)own[w] / least * (1 + 1e-9));
        for (int64_t i = 0; usable && i < bins; i++) {
            if (!may_be_rare(t, i, before, most, usable)) continue;
            if (before[i + 1] == before[i] && !t->with_empty) continue;
            double best = 0.0;
            for (int64_t w = 0; w < usable; w++) {
                const int32_t near = before[t->high[w * bins + i]] - before[t->low[w * bins + i]];
                const double ratio = (double)own[w] / (double)(near ? near : 1);
                if (ratio > best) best = ratio;
            }
            if (best < least || best * lift < bar) continue;
            if (cells < t->room) {
                cell_context[cells] = (int32_t)e;
                cell_bin[cells] = (int32_t)i;
                cell_rarity[cells] = best / (double)size;
            }
            cells++;
        }
    }
    free(before);
    return cells;
}

struct around {
    int64_t rows, size, attributes, least;
    double concentration;
    const int32_t *low, *high;  /* of each row: the members of the group around its value */
    const uint8_t *is_own;      /* whether the row itself is one of them */
    const uint8_t *skipped;     /* attributes that are not asked */
    const uint16_t *own, *codes; /* attributes x rows, and x members in the order of values */
    const int32_t *offsets, *first, *listed; /* the conditions of each code, by attribute (+ 1) */
    const int32_t *from, *to;   /* the codes of each condition */
};

SHARED(around);

/* List which conditions of rows those around them share, more than others of the group do. */
EXPORT int64_t tally_shared(const struct around *g, int32_t *row, int32_t *condition)
{
    int32_t *before = calloc(65538, sizeof *before);
    int64_t found = 0;
    if (!before) return -1;
    for (int64_t a = 0; a < g->attributes; a++) {
        const uint16_t *codes = g->codes + a * g->size, *own = g->own + a * g->rows;
        const int32_t *first = g->first + g->offsets[a];
        if (g->skipped[a]) continue;
        const int32_t count = g->offsets[a + 1] - g->offsets[a];
        memset(before, 0, (size_t)(count + 1) * sizeof *before);
        for (int64_t i = 0; i < g->size; i++) before[codes[i] + 1]++;
        for (int32_t code = 0; code < count; code++) before[code + 1] += before[code];
        for (int64_t r = 0; r < g->rows; r++)
            for (int32_t k = first[own[r]]; k < first[own[r] + 1]; k++) {
                const int32_t c = g->listed[k];
                const double size = before[g->to[c] + 1] - before[g->from[c]];
                const double others = g->high[r] - g->low[r] - g->is_own[r];
                int64_t hits = -(int64_t)g->is_own[r];
                for (int32_t i = g->low[r]; i < g->high[r]; i++)
                    hits += codes[i] >= g->from[c] && codes[i] <= g->to[c];
                if (hits < g->least || (double)hits * (double)g->size < g->concentration * size * others)
                    continue;
                row[found] = (int32_t)r;
                condition[found++] = c;
            }
    }
    free(before);
    return found;
}

/* Give each row the first cell that holds it; cells come in the order of their strength. */
EXPORT int64_t tally_assign(const struct tally *t, int64_t cells, const int32_t *bin_of,
                     const int32_t *members, const int32_t *rows, int32_t *found)
{
    uint64_t *open = malloc((size_t)t->words * sizeof *open);
    int64_t *left = calloc((size_t)t->bins, sizeof *left);
    if (!open || !left) {
        free(open);
        free(left);
        return -1;
    }
    for (int64_t b = 0; b < t->bins; b++)
        for (int32_t w = t->starts[b]; w < t->starts[b + 1]; w++) {
            open[w] = 0;
            for (int bit = 0; bit < 64; bit++)
                if (rows[(int64_t)w * 64 + bit] >= 0) open[w] |= (uint64_t)1 << bit, left[b]++;
        }
    for (int64_t c = 0; c < cells; c++) {
        const int32_t b = bin_of[c];
        if (!left[b]) continue;
        for (int32_t w = t->starts[b]; w < t->starts[b + 1]; w++) {
            uint64_t here = open[w];
            for (int k = 0; k < 4 && members[4 * c + k] >= 0; k++)
                here &= t->conditions[members[4 * c + k] * t->words + w];
            open[w] &= ~here;
            left[b] -= __builtin_popcountll(here);
            for (; here; here &= here - 1)
                found[rows[(int64_t)w * 64 + __builtin_ctzll(here)]] = (int32_t)c;
        }
    }
    free(open);
    free(left);
    return 0;
}
