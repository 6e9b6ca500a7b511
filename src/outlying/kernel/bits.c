/* Conditions as bits in the order of a property. A row is looked up once for 64 conditions: their marks are
 * turned into a word for each row, these words are put in order, and 64 of them are turned back. */
#include "screen.h"

enum { WORD = 64 };

/* Turn 64 words of 64 bits: bit i of word j becomes bit j of word i (Hacker's Delight, 7-3). */
static void transpose(uint64_t *words)
{
    uint64_t mask = 0x00000000ffffffffu;
    for (int width = 32; width; width /= 2, mask ^= mask << width)
        for (int at = 0; at < WORD; at = ((at | width) + 1) & ~width) {
            uint64_t moved = ((words[at] >> width) ^ words[at | width]) & mask;
            words[at] ^= moved << width;
            words[at | width] ^= moved;
        }
}

/* Return eight marks, each 0 or 1, as bits. */
static uint64_t packed(const uint8_t *marks)
{
    uint64_t found = 0;
    for (int at = 0; at < 8; at++)
        found |= (uint64_t)marks[at] << (8 * at);
    return (found * 0x0102040810204080u) >> 56;
}

/* Write for each row which of up to 64 conditions it satisfies. */
static void by_row(const uint8_t *const *marks, int64_t count, int64_t rows, uint64_t *found)
{
    for (int64_t first = 0; first < rows; first += WORD) {
        uint64_t words[WORD] = {0};
        int64_t here = rows - first < WORD ? rows - first : WORD;
        for (int64_t item = 0; item < count; item++) {
            const uint8_t *own = marks[item] + first;
            int64_t row = 0;
            for (; row + 8 <= here; row += 8)
                words[item] |= packed(own + row) << row;
            for (; row < here; row++)
                words[item] |= (uint64_t)own[row] << row;
        }
        transpose(words);
        memcpy(found + first, words, (size_t)here * sizeof *words);
    }
}

/* Lay out the marks of conditions by the rows that `sources` names, 64 for each word; one beyond the last row
 * is no row. Return 0 without memory. */
EXPORT int64_t bits_lay_out(const uint8_t *const *marks, int64_t count, int64_t rows, const int64_t *sources,
                            int64_t words, uint64_t *const *found)
{
    uint64_t *rows_as_words = malloc((size_t)(rows + 1) * sizeof *rows_as_words);
    if (!rows_as_words)
        return 0;
    rows_as_words[rows] = 0;
    for (int64_t first = 0; first < count; first += WORD) {
        int64_t some = count - first < WORD ? count - first : WORD;
        by_row(marks + first, some, rows, rows_as_words);
        for (int64_t word = 0; word < words; word++) {
            uint64_t here[WORD];
            for (int bit = 0; bit < WORD; bit++)
                here[bit] = rows_as_words[sources[word * WORD + bit]];
            transpose(here);
            for (int64_t item = 0; item < some; item++)
                found[first + item][word] = here[item];
        }
    }
    free(rows_as_words);
    return 1;
}
