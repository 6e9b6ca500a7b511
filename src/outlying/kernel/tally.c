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
    int64_t alike; /* the first bins, whose rows are alike; those of a last one are not */
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

/* Whether every bin is one word: as many words as bins may also be two for one and none for another. */
static int is_word_by_word(const struct tally *t)
{
    for (int64_t b = 0; b <= t->bins; b++)
        if (t->starts[b] != b) return 0;
    return 1;
}

/* Contexts are counted side by side, so that a step of all is one of the processor's. */
enum { AT_ONCE = 8 };
typedef int32_t few __attribute__((vector_size(AT_ONCE * 4), aligned(4)));
typedef int64_t many __attribute__((vector_size(AT_ONCE * 8), aligned(8)));

struct counted { /* some contexts */
    few sizes, *before;       /* rows in all, and before each bin (bins + 1) */
    many own[MOST_WINDOWS];   /* pairs of rows within each window */
    few most[MOST_WINDOWS];   /* rows in a window around a cell that may be rare */
    double lifts[AT_ONCE];
    int64_t usable;           /* windows that tell of any of them how rare a cell is */
};

static int32_t histogram(const struct tally *t, const uint64_t *base, const uint64_t *with, int by_word,
                         few *before, int lane)
{
    int32_t count = 0;
    before[0][lane] = 0;
    if (by_word) /* no inner loop */
        for (int32_t b = 0; b < (int32_t)t->bins; b++) {
            count += (int32_t)__builtin_popcountll(base[b] & with[b]);
            before[b + 1][lane] = count;
        }
    else
        for (int64_t b = 0; b < t->bins; b++) {
            for (int32_t w = t->starts[b]; w < t->starts[b + 1]; w++)
                count += (int32_t)__builtin_popcountll(base[w] & with[w]);
            before[b + 1][lane] = count;
        }
    return count;
}

/* Pairs of alike rows of contexts within a window, and what to expect of it. */
static void pairs_within(const struct tally *t, int64_t window, const few *before, many *own, many *usual)
{
    const int32_t *low = t->low + window * t->bins, *high = t->high + window * t->bins;
    const int32_t *mass = t->mass + window * t->bins;
    if (t->known <= SMALL) { /* 32 bits are enough, without a sign, and lanes are twice as many */
        typedef uint32_t small __attribute__((vector_size(AT_ONCE * 4)));
        small some = {0}, all = {0};
        for (int64_t i = 0; i < t->alike; i++) {
            const small here = (small)(before[i + 1] - before[i]);
            some += here * (small)(before[high[i]] - before[low[i]]);
            all += here * (uint32_t)mass[i];
        }
        *own = __builtin_convertvector(some, many);
        *usual = __builtin_convertvector(all, many);
        return;
    }
    *own = *usual = (many){0};
    for (int64_t i = 0; i < t->alike; i++) {
        const many here = __builtin_convertvector(before[i + 1] - before[i], many);
        *own += here * __builtin_convertvector(before[high[i]] - before[low[i]], many);
        *usual += here * (int64_t)mass[i];
    }
}

/* Find how much tighter the property is in contexts, and what a rare cell of theirs may hold. Windows
 * come from the widest to the narrowest; once too few rows are within one to tell anything, narrower
 * ones tell nothing either. */
static void compare(const struct tally *t, struct counted *c)
{
    int goes_on[AT_ONCE], open = 0, usable[AT_ONCE] = {0};
    c->usable = 0;
    for (int k = 0; k < AT_ONCE; k++) {
        c->lifts[k] = 0.0;
        open += goes_on[k] = c->sizes[k] >= t->least && c->sizes[k] > 0;
    }
    for (int w = 0; w < t->windows && open; w++) {
        many usual;
        pairs_within(t, w, c->before, &c->own[w], &usual);
        for (int k = 0; k < AT_ONCE; k++) {
            const double own = (double)c->own[w][k], size = c->sizes[k];
            if (!goes_on[k]) continue;
            if (usual[k] >= ENOUGH * t->known)
                c->lifts[k] = larger(c->lifts[k], own * (double)t->known / (size * (double)usual[k]));
            if (own >= t->rarity * size) c->usable = usable[k] = w + 1;
            else if (usual[k] < 2 * ENOUGH * t->known) goes_on[k] = 0, open--; /* next: half as many */
        }
    }
    for (int k = 0; k < AT_ONCE; k++) {
        const double size = c->sizes[k];
        if (c->lifts[k] * size > (double)t->known) c->lifts[k] = (double)t->known / size;
        for (int64_t w = 0; w < c->usable; w++) /* no division but where a cell may be rare */
            c->most[w][k] =
                w < usable[k] ? (int32_t)((double)c->own[w][k] / (t->rarity * size) * (1 + 1e-9)) : -1;
    }
}

/* Return in which of the contexts a bin may be rare: -1, elsewhere 0. */
static few may_be_rare(const struct tally *t, int64_t bin, const struct counted *c)
{
    few is_rare = {0};
    for (int64_t w = 0; w < c->usable; w++) {
        const int64_t at = w * t->bins + bin;
        is_rare |= c->before[t->high[at]] - c->before[t->low[at]] <= c->most[w];
    }
    return t->with_empty ? is_rare : is_rare & (c->before[bin + 1] > c->before[bin]);
}

/* Return how many times fewer rows of a context lie around a bin than around its typical row, times
 * the rows of the context; 0 where that is not enough. */
static double rarity_of(const struct tally *t, int64_t bin, const struct counted *c, int lane)
{
    const double size = c->sizes[lane];
    double best = 0.0;
    for (int64_t w = 0; w < c->usable && c->most[w][lane] >= 0; w++) {
        const int64_t at = w * t->bins + bin;
        const int32_t near = c->before[t->high[at]][lane] - c->before[t->low[at]][lane];
        best = larger(best, (double)c->own[w][lane] / (double)(near ? near : 1));
    }
    return best < t->rarity * size || best * c->lifts[lane] < t->bar * size ? 0.0 : best;
}

/* Count contexts: the rows and the lift of each, and rare cells with their rarities. Return how many
 * cells there are, which may be more than there is room for. */
EXPORT int64_t tally_count(const struct tally *t, int64_t contexts, const int32_t *base_of,
                    const int32_t *condition_of, int32_t *sizes, double *lifts,
                    int32_t *cell_context, int32_t *cell_bin, double *cell_rarity)
{
    const int by_word = is_word_by_word(t);
    struct counted c = {.before = calloc((size_t)t->bins + 1, sizeof *c.before)};
    few *rare = calloc((size_t)t->bins, sizeof *rare); /* by bin, in which contexts */
    int64_t cells = 0;
    for (int64_t e = 0; c.before && rare && e < contexts; e += AT_ONCE) {
        const int some = (int)(contexts - e < AT_ONCE ? contexts - e : AT_ONCE);
        few any = {0};
        for (int k = 0; k < some; k++)
            c.sizes[k] = histogram(t, t->bases + base_of[e + k] * t->words,
                                   t->conditions + condition_of[e + k] * t->words, by_word, c.before, k);
        for (int k = some; k < AT_ONCE; k++) c.sizes[k] = 0;
        compare(t, &c);
        memcpy(sizes + e, &c.sizes, (size_t)some * sizeof *sizes);
        memcpy(lifts + e, c.lifts, (size_t)some * sizeof *lifts);
        for (int64_t b = 0; c.usable && b < t->bins; b++) any |= rare[b] = may_be_rare(t, b, &c);
        for (int k = 0; k < some; k++)
            for (int64_t b = 0; any[k] && b < t->bins; b++) {
                const double rarity = rare[b][k] ? rarity_of(t, b, &c, k) : 0.0;
                if (rarity == 0.0) continue;
                if (cells < t->room) {
                    cell_context[cells] = (int32_t)(e + k);
                    cell_bin[cells] = (int32_t)b;
                    cell_rarity[cells] = rarity / (double)c.sizes[k];
                }
                cells++;
            }
    }
    cells = c.before && rare ? cells : -1;
    free(c.before);
    free(rare);
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
