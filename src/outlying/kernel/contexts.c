/* Which conditions go together, for many objects at once: what search/contexts.py finds by NumPy.
 *
 * Conditions have places in a pool that all objects share. A context of two conditions is listed once,
 * whichever objects have both; so is one of three, for objects that have so few of these that all are
 * screened. Contexts that keep too few rows are left out.
 */
#include "screen.h"

#define LENGTH 3 /* places for conditions; the first ones are -1 where there are fewer */

struct pool {
    int64_t conditions, objects, most, most_triples, row_stride, object_words;
    const uint64_t *const *row_words; /* rows of conditions as bits */
    const int32_t *attribute_of;
    const double *least_rows; /* that a context of so many conditions keeps */
    const uint64_t *has;      /* objects that have a condition, as bits */
    const int64_t *own;       /* where the conditions of objects begin in `own_conditions` */
    const int32_t *own_conditions;
    int64_t *levels; /* all contexts of so many conditions are listed for an object; to be found */
};

struct listed {
    int64_t count, room;
    int32_t *contexts;
};

struct listing {
    const struct pool *p;
    struct listed *listed;
    uint64_t *both, *objects; /* rows, and objects, of a pair */
    int32_t *stamps, *later;  /* conditions seen so far, and those that go with one */
    int is_short_of_memory;
};

static void list_context(struct listing *l, int32_t one, int32_t two, int32_t three)
{
    struct listed *found = l->listed;
    if (found->count == found->room) {
        int64_t room = found->room ? 2 * found->room : 4096;
        int32_t *more = realloc(found->contexts, (size_t)(room * LENGTH) * sizeof *more);
        if (more == NULL) {
            l->is_short_of_memory = 1;
            return;
        }
        found->contexts = more;
        found->room = room;
    }
    int32_t *context = found->contexts + LENGTH * found->count++;
    context[0] = one;
    context[1] = two;
    context[2] = three;
}

static double rows_of(const struct listing *l, const uint64_t *one, int32_t other)
{
    const uint64_t *words = l->p->row_words[other];
    int64_t rows = 0;
    for (int64_t word = 0; word < l->p->row_stride; word++)
        rows += popcount(one[word] & words[word]);
    return (double)rows;
}

/* Intersect the rows of two conditions; return how many are left. */
static double pair_up(const struct listing *l, int32_t one, int32_t other)
{
    const uint64_t *words = l->p->row_words[one], *others = l->p->row_words[other];
    int64_t rows = 0;
    for (int64_t word = 0; word < l->p->row_stride; word++) {
        l->both[word] = words[word] & others[word];
        rows += popcount(l->both[word]);
    }
    return (double)rows;
}

static int are_apart(const struct pool *p, int32_t one, int32_t other)
{
    return p->attribute_of[one] != p->attribute_of[other];
}

/* Whether an object has no more contexts of three conditions than are screened without a choice. */
static int has_few_triples(const struct listing *l, int64_t object)
{
    const struct pool *p = l->p;
    const int32_t *own = p->own_conditions + p->own[object];
    int64_t count = p->own[object + 1] - p->own[object], triples = 0;
    for (int64_t one = 0; one < count; one++)
        for (int64_t two = one + 1; two < count; two++) {
            if (!are_apart(p, own[one], own[two])
                || pair_up(l, own[one], own[two]) < larger(p->least_rows[2], p->least_rows[3]))
                continue;
            for (int64_t three = two + 1; three < count; three++)
                if (are_apart(p, own[one], own[three]) && are_apart(p, own[two], own[three])) {
                    triples += rows_of(l, l->both, own[three]) >= p->least_rows[3];
                    if (triples > p->most_triples)
                        return 0;
                }
        }
    return 1;
}

/* Find the conditions behind one that some objects have, too; return how many. */
static int64_t find_later(const struct listing *l, const uint64_t *objects, int32_t condition,
                          int32_t stamp)
{
    const struct pool *p = l->p;
    int64_t count = 0;
    for (int64_t word = 0; word < p->object_words; word++)
        for (uint64_t rest = objects[word]; rest != 0; rest &= rest - 1) {
            int64_t object = word * 64 + __builtin_ctzll(rest);
            for (int64_t at = p->own[object]; at < p->own[object + 1]; at++) {
                int32_t other = p->own_conditions[at];
                if (other > condition && l->stamps[other] != stamp) {
                    l->stamps[other] = stamp;
                    l->later[count++] = other;
                }
            }
        }
    return count;
}

/* List the contexts of a pair and one more condition, for objects of which all are listed. */
static void list_triples(struct listing *l, int32_t one, int32_t two, int32_t stamp)
{
    const struct pool *p = l->p;
    const uint64_t *first = p->has + one * p->object_words, *second = p->has + two * p->object_words;
    for (int64_t word = 0; word < p->object_words; word++) {
        l->objects[word] = first[word] & second[word];
        for (uint64_t rest = l->objects[word]; rest != 0; rest &= rest - 1)
            if (p->levels[word * 64 + __builtin_ctzll(rest)] < LENGTH)
                l->objects[word] &= ~(rest & -rest);
    }
    int32_t *later = l->later;
    l->later += p->conditions;
    int64_t count = find_later(l, l->objects, two, stamp);
    for (int64_t at = 0; at < count; at++) {
        int32_t three = l->later[at];
        if (are_apart(p, one, three) && are_apart(p, two, three)
            && rows_of(l, l->both, three) >= p->least_rows[3])
            list_context(l, one, two, three);
    }
    l->later = later;
}

static void list_pairs(struct listing *l, int32_t one, int32_t *stamp)
{
    const struct pool *p = l->p;
    int64_t count = find_later(l, p->has + one * p->object_words, one, ++*stamp);
    for (int64_t at = 0; at < count && !l->is_short_of_memory; at++) {
        int32_t two = l->later[at];
        if (!are_apart(p, one, two) || pair_up(l, one, two) < p->least_rows[2])
            continue;
        list_context(l, -1, one, two);
        if (p->most >= LENGTH)
            list_triples(l, one, two, ++*stamp);
    }
}

static void list_all(struct listing *l)
{
    const struct pool *p = l->p;
    int32_t last = (int32_t)p->conditions - 1, stamp = 0; /* the last one stands for none */
    for (int64_t object = 0; object < p->objects; object++)
        p->levels[object] = p->most >= LENGTH && has_few_triples(l, object) ? LENGTH : 2;
    list_context(l, -1, -1, -1);
    for (int32_t one = 0; one < last && p->most >= 1; one++)
        if (rows_of(l, p->row_words[last], one) >= p->least_rows[1])
            list_context(l, -1, -1, one);
    for (int32_t one = 0; one < last && p->most >= 2; one++)
        list_pairs(l, one, &stamp);
}

/* List the short contexts of all objects, each once; 0 if memory is short. */
EXPORT int contexts_list(const struct pool *p, struct listed *listed)
{
    size_t conditions = (size_t)p->conditions;
    struct listing l = {.p = p, .listed = listed};
    l.both = malloc(((size_t)p->row_stride + 1) * sizeof *l.both);
    l.objects = malloc(((size_t)p->object_words + 1) * sizeof *l.objects);
    l.stamps = calloc(conditions, sizeof *l.stamps);
    l.later = malloc(2 * conditions * sizeof *l.later);
    int is_ready = l.both != NULL && l.objects != NULL && l.stamps != NULL && l.later != NULL;
    if (is_ready)
        list_all(&l);
    free(l.both);
    free(l.objects);
    free(l.stamps);
    free(l.later);
    return is_ready && !l.is_short_of_memory;
}

EXPORT void contexts_free(struct listed *listed) { free(listed->contexts); }
