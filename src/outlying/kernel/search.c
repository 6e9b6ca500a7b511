/* The search for one property, for many objects at once: what search/guided.py does by NumPy.
 *
 * All contexts of few conditions are screened, then a beam search extends the strongest ones of each
 * object. What is typical in a context does not depend on the object: short contexts are taken one
 * after the other, each with all objects that lie in it, and only the rows near each object are
 * counted for it. These are a range of the context's rows by value: with running totals of their
 * bits, the number is a difference.
 *
 * Wider windows are looked at only where they may show the needed rarity, which a count of the rows
 * near the object rules out for most; what is typical at a scale is found once for a context.
 *
 * An object is soon found to be ordinary in most contexts: the rows within a somewhat narrower window,
 * whose range of bits is known for each object, are some of those near it.
 *
 * Given back are, for each object, the contexts that reach a threshold, those of up to one
 * condition, and the strongest. A quick search gives back the one without conditions, those that reach
 * the threshold and a strength that the caller sets for each object, and their parts, on which it
 * depends whether they are reported. Strengths are compared as products of rarity and lift, rounded; ties
 * are broken by fewer conditions, more rows, and the order of the conditions: so there is one answer,
 * in whatever order contexts are looked at.
 */
#include "screen.h"

#define MOST_SCALES 8
#define MOST_CONDITIONS 16
#define MOST_KEPT 32  /* the beam, or the strongest */
#define ROUNDED 39    /* bits of a strength that do not count */
#define STEPS 16      /* windows an octave for which rows around objects are found */
#define LEAST_POWER (-24)
#define MOST_POWER 14
#define WINDOWS (STEPS * (MOST_POWER - LEAST_POWER))
#define FOUND 8       /* numbers that are given back for a context */

/* What is searched. Conditions have places in a pool; the last one stands for none. */
struct batch {
    int64_t objects, conditions, contexts, length, most, beam, strongest, scales, attribute, row_stride;
    int64_t object_words, is_quick;
    double close, needed, share_near; /* the rarity that is given back, and that counts */
    const uint64_t *const *words;     /* of conditions, in the layout of the property */
    const uint64_t *const *near_words;
    const uint64_t *const *row_words; /* and in the order of rows, of `row_stride` words */
    const int32_t *attribute_of; /* of conditions; -1 for none */
    const double *least_rows;    /* that a context of so many conditions keeps */
    const double *discounts;     /* of strengths, by number of conditions */
    const int32_t *context;      /* `length` places each; the first ones are none in short ones */
    const uint64_t *has;         /* objects that have a condition, as bits of `object_words` */
    const int64_t *first;        /* where the objects of each context begin in `object_of`; NULL if */
    const int32_t *object_of;    /* all that have its conditions and that many levels are in it */
    const double *values;  /* of objects; NaN for those that take no part */
    const double *bars;    /* of a quick search: the least strengths that matter, by object */
    const int64_t *levels; /* of objects: all contexts of so many conditions are among the short */
    const int64_t *own;    /* where the conditions of objects begin in `own_conditions` */
    const int32_t *own_conditions;
    const int32_t *own_places; /* the other way round: a line for each object */
    int64_t *screened;         /* contexts that were looked at, by object; to be counted */
};

/* What is given back; it is to be freed by `search_free`. */
struct results {
    int64_t count, room;
    double *figures; /* object, rows, known, inside, near, width, lift, scale */
    int32_t *contexts; /* `most` places among the object's own each */
};

struct place {
    int64_t key; /* a strength, rounded */
    int32_t length, context[MOST_CONDITIONS]; /* places among the object's own, ascending */
    double found[FOUND];
};

/* The strongest so far, in order; `least` is the key that one more must have. */
struct ranking {
    int64_t count;
    struct place *places;
    uint8_t order[MOST_KEPT]; /* of these, the strongest first */
    int64_t least;
};

/* Where the bits of the rows within a window around an object begin and end. */
struct range {
    int32_t first, end;
};

/* An object, and the least strengths that matter: to be among the strongest, to be extended. */
struct state {
    double strong, leading;
    struct ranking beam, strongest;
    int64_t kept; /* the last context that was given back; of a quick search only */
};

/* Contexts that were extended. */
struct leaders {
    int64_t count;
    struct place places[MOST_KEPT];
};

/* By how much a bound is too large at least, so that rounding does not matter. */
#define SAFE (1 + 1e-9)

/* Contexts of a few conditions, each once: a hash table with open addressing. */
struct parts {
    int64_t count, room; /* the latter a power of two */
    struct part {
        uint64_t first, second; /* sixteen bits for a condition; no condition is 0 */
    } *items;
};

/* A context as all its objects see it. */
struct seen {
    const uint64_t *words;  /* among which rows near an object are counted */
    const int32_t *before;  /* running totals of their bits */
    struct typical typical;
    double inside[MOST_SCALES]; /* by scale; NaN where it is not known */
    const struct range *narrow, *wide; /* rows near each object, at least; NULL if not known */
    int may_lead;
    double rare, narrow_most, strength, wide_strength; /* rows near an object; see find_bounds */
    const double *limits;
};

struct run {
    const struct property *p;
    const struct batch *b;
    struct scratch s;
    uint64_t *base, *near_base, *row_base, *near; /* words of a context to extend, and of one */
    int32_t *before;
    struct range *ranges[WINDOWS]; /* of all objects; NULL where not needed so far */
    struct state *states;
    double *strong, *leading; /* of objects: the least strengths that matter, the other way round */
    struct place *places; /* of all rankings */
    int32_t *members;     /* objects of a context */
    uint64_t *with_value; /* objects that have the property and so many levels, as bits */
    struct seen seen;     /* the context that is looked at */
    double per_near, per_rare, per_needed; /* what bounds are made of; see find_bounds */
    struct leaders *leaders; /* of one object, by number of conditions */
    int64_t *earlier;        /* for each context given back, the one before of the same object */
    struct parts parts;      /* those of one object that were looked at */
    struct results *results;
    int is_short_of_memory;
};

/* --- rows near an object ----------------------------------------------------------------------- */

static double bits_before(const struct seen *c, int64_t bit)
{
    uint64_t rest = c->words[bit >> 6] & (((uint64_t)1 << (bit & 63)) - 1);
    return c->before[bit >> 6] + popcount(rest);
}

/* The cell that a value lies in, or the first or last one. */
static int64_t cell_of(const struct property *p, double value)
{
    double cell = (value - p->cells_from) * p->cells_each;
    return !(cell > 0) ? 0 : cell < (double)p->cells ? (int64_t)cell : p->cells - 1;
}

/* Among rows by value, the first one that is not further than a radius below a value, or the first
 * one that is further above it. Rounding may be off by a cell. */
static int64_t first_within(const struct property *p, double value, double radius)
{
    int64_t cell = cell_of(p, value - radius);
    int64_t first = p->cell_starts[cell > 0 ? cell - 1 : 0];
    int64_t size = p->cell_starts[cell + 2 < p->cells ? cell + 2 : p->cells] - first;
    while (size > 0) {
        int64_t step = (size + 1) / 2;
        first = value - p->near_values[first + step - 1] <= radius ? first : first + step;
        size -= step;
    }
    return first;
}

static int64_t end_within(const struct property *p, double value, double radius)
{
    int64_t cell = cell_of(p, value + radius);
    int64_t end = p->cell_starts[cell > 0 ? cell - 1 : 0];
    int64_t size = p->cell_starts[cell + 2 < p->cells ? cell + 2 : p->cells] - end;
    while (size > 0) {
        int64_t step = (size + 1) / 2;
        end = p->near_values[end + step - 1] - value <= radius ? end + step : end;
        size -= step;
    }
    return end;
}

/* The bits of rows by value that are not further than a radius from an object. */
static struct range range_within(const struct property *p, double value, double radius)
{
    int64_t first = first_within(p, value, radius), end = end_within(p, value, radius);
    if (end <= first)
        return (struct range){0, 0};
    if (p->slots == NULL)
        return (struct range){(int32_t)first, (int32_t)end};
    return (struct range){(int32_t)p->slots[first], (int32_t)p->slots[end - 1] + 1};
}

static double rows_within(const struct seen *c, struct range range)
{
    return bits_before(c, range.end) - bits_before(c, range.first);
}

static double radius_of(const struct property *p, double width)
{
    return isnan(width) || p->kind == CATEGORIES ? 0.0 : width / 2 * SAME;
}

/* Rows near an object within a window, at least itself, as if counted among the screened rows. */
static double rows_near(const struct run *r, const struct seen *c, double value, double width)
{
    struct range range = range_within(r->p, value, radius_of(r->p, width));
    return larger(rows_within(c, range), 1.0) * r->b->share_near;
}

/* The widest window of some that is no wider than this one; -1 if there is none. */
static int window_of(double width)
{
    uint64_t bits;
    memcpy(&bits, &width, sizeof bits);
    int64_t window = (int64_t)(bits >> 48) - (1023 + LEAST_POWER) * STEPS;
    return !(width > 0) || window < 0 ? -1 : window < WINDOWS ? (int)window : WINDOWS - 1;
}

/* Where rows within a window around each object are, found when the window is first needed; NULL
 * if there is none, or memory is short: this only serves to be fast. */
static const struct range *ranges_within(struct run *r, int window)
{
    if (window < 0 || r->ranges[window] != NULL)
        return window < 0 ? NULL : r->ranges[window];
    uint64_t bits = (uint64_t)(window + (1023 + LEAST_POWER) * STEPS) << 48;
    struct range *found = malloc((size_t)r->b->objects * sizeof *found);
    double width;
    memcpy(&width, &bits, sizeof width);
    for (int64_t object = 0; found != NULL && object < r->b->objects; object++)
        found[object] = range_within(r->p, r->b->values[object], radius_of(r->p, width));
    r->ranges[window] = found;
    return found;
}

/* --- one object in one context ------------------------------------------------------------------ */

struct rarest {
    double inside, near, width, lift, scale;
};

/* Take in an object that was not drawn, where all rows of the sample are equal. */
static void join(const struct run *r, const struct typical *t, double value, struct rarest *best)
{
    const struct property *p = r->p;
    double apart = fabs(value - t->centre), rows = t->known * p->share;
    double width = apart > 0 ? apart / sqrt(rows) * p->widths[(int64_t)t->known] : NAN;
    if (!(width > 0))
        return;
    int64_t end = place_after(p->near_values, p->near_count, t->centre + width / 2);
    int64_t first = 0, size = p->near_count;
    while (size > 0) { /* the first one not below */
        int64_t half = size / 2;
        if (p->near_values[first + half] < t->centre - width / 2) {
            first += half + 1;
            size -= half + 1;
        } else {
            size = half;
        }
    }
    double count = (double)p->near_count, around = (double)(end - first) / count;
    best->inside = t->known;
    best->width = width;
    best->lift = 1 / larger(around, 1 / count);
}

/* Keep a scale where the object is rarer at it. */
static void look(const struct run *r, struct seen *c, int place, double near, struct rarest *best)
{
    double known = c->typical.known, scale = (double)(1 << place);
    double least = best->inside / best->near * (1 + SAME_DENSITY);
    if (!(known / near > least)) /* no rarity is larger */
        return;
    if (isnan(c->inside[place]))
        c->inside[place] = inside_of(r->p, &r->s, known, scale * c->typical.width);
    if (c->inside[place] / near > least) {
        best->inside = c->inside[place];
        best->near = near;
        best->width = scale * c->typical.width;
        best->scale = scale;
    }
}

/* Look at wider windows as long as they may show the needed rarity. Windows are nested: where a wider
 * one holds no more rows near the object, it shows a rarity at least as large. */
static void widen(const struct run *r, struct seen *c, double value, struct rarest *best)
{
    double known = c->typical.known, needed = r->b->needed, narrow = best->near;
    if (isnan(c->typical.width) || !(narrow * needed <= known))
        return;
    for (int place = 1; place < r->b->scales; place++) {
        double near = rows_near(r, c, value, (double)(1 << place) * c->typical.width);
        int counts = near * needed <= known;
        if (place > 1 && (near > narrow || !counts))
            look(r, c, place - 1, narrow, best);
        if (!counts)
            return;
        narrow = near;
    }
    look(r, c, (int)r->b->scales - 1, narrow, best);
}

static struct rarest rarest_of(const struct run *r, struct seen *c, double value)
{
    const struct typical *t = &c->typical;
    struct rarest best = {t->inside, 1, t->width, t->lift, 1};
    if (r->p->kind == CATEGORIES && t->centre == value)
        best.inside = NAN; /* there is no other category */
    else if (r->p->kind != CATEGORIES && isnan(t->width) && t->known > 0 && !r->p->is_whole)
        join(r, t, value, &best);
    best.near = rows_near(r, c, value, best.width);
    if (r->b->scales > 1)
        widen(r, c, value, &best);
    return best;
}

/* --- the strongest ------------------------------------------------------------------------------ */

static int is_before(const struct place *one, const struct place *other)
{
    if (one->key != other->key)
        return one->key > other->key;
    if (one->length != other->length)
        return one->length < other->length;
    if (one->found[1] != other->found[1])
        return one->found[1] > other->found[1];
    for (int32_t place = 0; place < one->length; place++)
        if (one->context[place] != other->context[place])
            return one->context[place] < other->context[place];
    return 0;
}

static void rank(struct ranking *ranking, int64_t most, const struct place *place)
{
    struct place *places = ranking->places;
    uint8_t *order = ranking->order;
    int64_t at = ranking->count;
    if (at == most && (most == 0 || !is_before(place, &places[order[at - 1]])))
        return;
    if (at < most)
        order[ranking->count++] = (uint8_t)at;
    else
        at--;
    uint8_t own = order[at];
    for (; at > 0 && is_before(place, &places[order[at - 1]]); at--)
        order[at] = order[at - 1];
    order[at] = own;
    places[own] = *place;
    if (ranking->count == most)
        ranking->least = places[order[most - 1]].key;
}

/* The least strength whose key is no less than this one; 0 for none. */
static double strength_of(int64_t key)
{
    int64_t bits = (key << ROUNDED) - ((int64_t)1 << (ROUNDED - 1));
    double strength;
    memcpy(&strength, &bits, sizeof strength);
    return key > 0 ? strength : 0.0;
}

static int64_t key_of(double strength)
{
    int64_t bits;
    memcpy(&bits, &strength, sizeof bits);
    return (bits + ((int64_t)1 << (ROUNDED - 1))) >> ROUNDED;
}

/* Note a context of an object, by conditions of the pool, in the order of the object's own. */
static struct place placed(const struct batch *b, int64_t object, const int32_t *context,
                           int32_t length)
{
    const int32_t *own_places = b->own_places + object * b->conditions;
    struct place place = {.length = length};
    for (int32_t number = 0; number < length; number++) {
        int32_t own = own_places[context[number]], at = number;
        for (; at > 0 && place.context[at - 1] > own; at--)
            place.context[at] = place.context[at - 1];
        place.context[at] = own;
    }
    return place;
}

static void keep(struct run *r, const struct place *place)
{
    struct results *found = r->results;
    int64_t most = r->b->most > 0 ? r->b->most : 1;
    if (found->count == found->room) {
        int64_t room = found->room ? 2 * found->room : 1024;
        double *figures = realloc(found->figures, (size_t)room * FOUND * sizeof *figures);
        if (figures != NULL)
            found->figures = figures;
        int32_t *contexts = realloc(found->contexts, (size_t)(room * most) * sizeof *contexts);
        if (contexts != NULL)
            found->contexts = contexts;
        int64_t *earlier = realloc(r->earlier, (size_t)room * sizeof *earlier);
        if (earlier != NULL)
            r->earlier = earlier;
        if (figures == NULL || contexts == NULL || earlier == NULL) {
            r->is_short_of_memory = 1;
            return;
        }
        found->room = room;
    }
    memcpy(found->figures + found->count * FOUND, place->found, sizeof place->found);
    int32_t *context = found->contexts + found->count * most;
    for (int64_t number = 0; number < most; number++) {
        int64_t at = number - (most - place->length);
        context[number] = at < 0 ? -1 : place->context[at];
    }
    struct state *state = &r->states[(int64_t)place->found[0]];
    r->earlier[found->count] = state->kept;
    state->kept = found->count++;
}

/* Whether a context is given back whatever else is found. */
static int is_kept(const struct run *r, int32_t length, int64_t object, double rarity,
                   double strength)
{
    if (r->b->is_quick)
        return length == 0 || (rarity >= r->b->close && strength >= r->b->bars[object]);
    return length <= 1 || rarity >= r->b->close;
}

/* Whether a context may be extended, for objects all of whose shorter contexts are screened. */
static int may_lead(const struct batch *b, int32_t length, const struct seen *c)
{
    return length < b->most && c->typical.rows >= b->least_rows[length + 1];
}

/* Find how many rows must be near an object at least that it is too ordinary in a context of several
 * conditions: with more than `rare` it is not rare, with more than `narrow_most` no wider window
 * counts, and with more than these by its least strength that matters it is not strong, in the first
 * window and in wider ones. */
static void find_bounds(const struct run *r, struct seen *c, int32_t length)
{
    const struct batch *b = r->b;
    const struct typical *t = &c->typical;
    double factor = t->lift * b->discounts[length] * r->per_near;
    c->limits = c->may_lead ? r->leading : r->strong;
    c->rare = b->is_quick ? 0 : t->inside * r->per_rare;
    c->narrow_most = b->scales > 1 ? t->known * r->per_needed : 0;
    c->strength = t->inside * factor;
    c->wide_strength = b->is_quick ? t->known * factor : INFINITY; /* rare is not enough here */
}

/* Drop objects of a context that are too ordinary by these bounds; return how many are left. */
static int64_t drop_many(const struct run *r, const struct seen *c, int64_t members)
{
    int64_t left = 0;
    for (int64_t at = 0; at < members; at++) {
        int32_t object = r->members[at];
        double near = rows_within(c, c->narrow[object]), limit = c->limits[object];
        int is_ordinary = (near > c->rare) & (near > c->strength * limit)
                        & ((near > c->narrow_most) | (near > c->wide_strength * limit));
        r->members[left] = object;
        left += !is_ordinary;
    }
    return left;
}

/* Whether an object is too ordinary in a context of several conditions: rarity and strength fall as
 * the rows near it grow, and so many are near it at least. */
static int is_ordinary(const struct run *r, const struct seen *c, int64_t object, int32_t length)
{
    const struct batch *b = r->b;
    const struct typical *t = &c->typical;
    const struct state *state = &r->states[object];
    double near = rows_within(c, c->narrow[object]) * b->share_near;
    double rarity = t->inside / near, wide = rows_within(c, c->wide[object]) * b->share_near;
    if (b->scales > 1 && !(wide * b->needed > t->known))
        rarity = larger(rarity, t->known / wide); /* no rarity is larger */
    double strength = rarity * t->lift * b->discounts[length];
    int leads = c->may_lead & (length >= b->levels[object]) & !(strength < state->leading);
    int is_common = rarity < b->close, is_weak = strength < state->strong;
    return (near > 0) & (b->is_quick ? is_common | is_weak : is_common & is_weak) & !leads;
}

/* The same for those that are left. */
static int64_t drop_more(const struct run *r, const struct seen *c, int64_t members, int32_t length)
{
    int64_t left = 0;
    for (int64_t at = 0; at < members; at++) {
        int32_t object = r->members[at];
        r->members[left] = object;
        left += !is_ordinary(r, c, object, length);
    }
    return left;
}

/* Note what strengths matter to an object, the other way round. */
static void note_limits(struct run *r, int64_t object)
{
    const struct state *state = &r->states[object];
    r->strong[object] = 1 / state->strong;
    r->leading[object] = 1 / (state->leading < state->strong ? state->leading : state->strong);
}

/* Look at an object in a context: is it to be given back, or among the strongest? */
static void take(struct run *r, int64_t object, const int32_t *context, int32_t length,
                 struct seen *c)
{
    const struct batch *b = r->b;
    struct state *state = &r->states[object];
    struct rarest found = rarest_of(r, c, b->values[object]);
    double rarity = found.inside / found.near;
    double strength = rarity * found.lift * b->discounts[length];
    int64_t key = isnan(strength) ? -1 : key_of(strength);
    int is_long = key >= state->beam.least && key >= 0 && c->may_lead && length >= b->levels[object];
    int is_strong = b->strongest > 0 && rarity > 1 + SAME_DENSITY && key >= 0
                 && key >= state->strongest.least;
    int is_given = is_kept(r, length, object, rarity, strength);
    if (!is_long && !is_strong && !is_given)
        return;
    struct place place = placed(b, object, context, length);
    double figures[FOUND] = {(double)object, c->typical.rows, c->typical.known, found.inside,
                             found.near,     found.width,     found.lift,       found.scale};
    place.key = key;
    memcpy(place.found, figures, sizeof figures);
    if (is_long) {
        rank(&state->beam, b->beam, &place);
        state->leading = strength_of(state->beam.least);
    }
    if (is_strong) {
        rank(&state->strongest, b->strongest, &place);
        state->strong = strength_of(state->strongest.least);
    }
    note_limits(r, object);
    if (is_given)
        keep(r, &place);
}

/* --- contexts ------------------------------------------------------------------------------------ */

static void intersect_words(uint64_t *found, const uint64_t *one, const uint64_t *other,
                            int64_t words)
{
    for (int64_t word = 0; word < words; word++)
        found[word] = one[word] & other[word];
}

static void intersect_all(uint64_t *found, const uint64_t *const *words, const int32_t *context,
                          int32_t length, int64_t last, int64_t count)
{
    if (length < 2) {
        memcpy(found, words[length ? context[0] : last], (size_t)count * sizeof *found);
        return;
    }
    intersect_words(found, words[context[0]], words[context[1]], count);
    for (int32_t number = 2; number < length; number++)
        intersect_words(found, found, words[context[number]], count);
}

static double rows_in(const uint64_t *one, const uint64_t *other, int64_t words)
{
    int64_t number = 0, more = 0, word = 0;
    for (; word + 4 <= words; word += 4) {
        number += popcount(one[word] & other[word]) + popcount(one[word + 1] & other[word + 1]);
        more += popcount(one[word + 2] & other[word + 2]) + popcount(one[word + 3] & other[word + 3]);
    }
    for (; word < words; word++)
        number += popcount(one[word] & other[word]);
    return (double)(number + more);
}

static void count_before(int32_t *before, const uint64_t *words, int64_t count)
{
    int32_t total = 0;
    for (int64_t word = 0; word < count; word++) {
        before[word] = total;
        total += popcount(words[word]);
    }
    before[count] = total;
}

/* See the context whose words are in the scratch memory. */
static struct seen *seen_of(struct run *r, const uint64_t *near, int32_t length)
{
    struct seen *c = &r->seen;
    double rows = count_groups(r->p, &r->s);
    int has_one = near == r->s.words;
    c->words = near;
    c->before = has_one ? r->s.before : r->before;
    if (!has_one)
        count_before(r->before, near, r->p->near_words);
    c->typical = typical_of(r->p, &r->s, rows);
    c->may_lead = may_lead(r->b, length, c);
    for (int place = 0; place < MOST_SCALES; place++)
        c->inside[place] = NAN;
    return c;
}

/* Look at some objects in a context; most of them are soon found to be ordinary there. */
static void take_members(struct run *r, struct seen *c, int64_t members, const int32_t *context,
                         int32_t length)
{
    int window = length > 1 ? window_of(c->typical.width) : -1;
    c->narrow = ranges_within(r, window);
    c->wide = ranges_within(r, window < 0 || window + STEPS >= WINDOWS ? window : window + STEPS);
    for (int64_t at = 0; !r->b->is_quick && at < members; at++)
        r->b->screened[r->members[at]]++;
    if (c->narrow != NULL && c->wide != NULL) {
        find_bounds(r, c, length);
        members = drop_many(r, c, members);
        members = drop_more(r, c, members, length);
    }
    for (int64_t at = 0; at < members; at++)
        take(r, r->members[at], context, length, c);
}

/* Whether objects are counted in the same layout as what is typical. */
static int has_one_layout(const struct run *r) { return r->b->words == r->b->near_words; }

/* See a context of conditions of the pool. */
static struct seen *look_at(struct run *r, const int32_t *context, int32_t length)
{
    const struct batch *b = r->b;
    int64_t last = b->conditions - 1;
    intersect_all(r->s.words, b->words, context, length, last, r->p->words);
    r->s.words[r->p->words] = 0;
    if (has_one_layout(r))
        return seen_of(r, r->s.words, length);
    intersect_all(r->near, b->near_words, context, length, last, r->p->near_words);
    r->near[r->p->near_words] = 0;
    return seen_of(r, r->near, length);
}

/* Find the objects of a context that have a value of the property; return how many. */
static int64_t find_members(struct run *r, int64_t number, const int32_t *context, int32_t length)
{
    const struct batch *b = r->b;
    int64_t count = 0;
    if (b->first != NULL) {
        for (int64_t at = b->first[number]; at < b->first[number + 1]; at++) {
            r->members[count] = b->object_of[at];
            count += !isnan(b->values[b->object_of[at]]);
        }
        return count;
    }
    for (int64_t word = 0; word < b->object_words; word++) {
        uint64_t objects = r->with_value[length * b->object_words + word];
        for (int32_t place = 0; place < length; place++)
            objects &= b->has[context[place] * b->object_words + word];
        for (; objects != 0; objects &= objects - 1)
            r->members[count++] = (int32_t)(word * 64 + __builtin_ctzll(objects));
    }
    return count;
}

static void short_contexts(struct run *r)
{
    const struct batch *b = r->b;
    for (int64_t number = 0; number < b->contexts && !r->is_short_of_memory; number++) {
        const int32_t *context = b->context + number * b->length;
        int32_t length = (int32_t)b->length;
        int is_own = 0;
        for (; length > 0 && *context < 0; context++)
            length--;
        for (int32_t place = 0; place < length; place++)
            is_own |= b->attribute_of[context[place]] == b->attribute;
        int64_t members = is_own ? 0 : find_members(r, number, context, length);
        if (members == 0)
            continue;
        take_members(r, look_at(r, context, length), members, context, length);
    }
}

/* Whether a leader with one more condition is also an earlier leader with another one. */
static int is_earlier(const struct place *leaders, int64_t number, int32_t condition)
{
    const struct place *own = &leaders[number];
    for (int64_t earlier = 0; earlier < number; earlier++) {
        int32_t others = 0, is_it = 0;
        for (int32_t place = 0; place < own->length; place++) {
            int32_t item = leaders[earlier].context[place], is_shared = 0;
            for (int32_t mine = 0; mine < own->length; mine++)
                is_shared |= own->context[mine] == item;
            others += !is_shared;
            is_it |= !is_shared && item == condition;
        }
        if (others == 1 && is_it)
            return 1;
    }
    return 0;
}

static int is_free(const struct batch *b, const int32_t *context, int32_t length, int32_t condition)
{
    int32_t attribute = b->attribute_of[condition];
    int is_used = attribute == b->attribute;
    for (int32_t place = 0; place < length; place++)
        is_used |= b->attribute_of[context[place]] == attribute;
    return !is_used;
}

/* Extend the strongest contexts of an object by one condition. */
static void extend(struct run *r, int64_t object, const struct place *leaders, int64_t count)
{
    const struct batch *b = r->b;
    const int32_t *own = b->own_conditions + b->own[object];
    int32_t conditions = (int32_t)(b->own[object + 1] - b->own[object]);
    for (int64_t number = 0; number < count && !r->is_short_of_memory; number++) {
        int32_t context[MOST_CONDITIONS], length = leaders[number].length;
        for (int32_t place = 0; place < length; place++)
            context[place] = own[leaders[number].context[place]];
        intersect_all(r->base, b->words, context, length, b->conditions - 1, r->p->words);
        if (!has_one_layout(r))
            intersect_all(r->near_base, b->near_words, context, length, b->conditions - 1,
                          r->p->near_words);
        intersect_all(r->row_base, b->row_words, context, length, b->conditions - 1, b->row_stride);
        for (int32_t place = 0; place < conditions; place++) {
            int32_t condition = own[place];
            if (!is_free(b, context, length, condition)
                || !(rows_in(r->row_base, b->row_words[condition], b->row_stride)
                     >= b->least_rows[length + 1])
                || is_earlier(leaders, number, place))
                continue;
            intersect_words(r->s.words, r->base, b->words[condition], r->p->words);
            if (!has_one_layout(r))
                intersect_words(r->near, r->near_base, b->near_words[condition], r->p->near_words);
            struct seen *c = seen_of(r, has_one_layout(r) ? r->s.words : r->near, length + 1);
            context[length] = condition;
            r->members[0] = (int32_t)object;
            take_members(r, c, 1, context, length + 1);
        }
    }
}

static void long_contexts(struct run *r, int64_t object)
{
    struct state *state = &r->states[object];
    struct ranking *beam = &state->beam;
    for (int32_t length = 0; length < MOST_CONDITIONS; length++)
        r->leaders[length].count = 0;
    while (beam->count > 0) {
        struct leaders *leaders = &r->leaders[beam->places[0].length];
        leaders->count = beam->count;
        for (int64_t number = 0; number < beam->count; number++)
            leaders->places[number] = beam->places[beam->order[number]];
        beam->count = beam->least = 0;
        state->leading = 0;
        note_limits(r, object);
        extend(r, object, leaders->places, leaders->count);
    }
}

/* Whether a part of a context that was looked at was looked at, too: all short ones were, and of the
 * others those with a leader in them. */
static int was_seen(const struct run *r, int64_t object, const int32_t *part, int32_t length)
{
    if (length <= r->b->levels[object])
        return 1;
    const struct leaders *leaders = &r->leaders[length - 1];
    for (int64_t number = 0; number < leaders->count; number++) {
        const struct place *leader = &leaders->places[number];
        int32_t shared = 0;
        for (int32_t place = 0; place < leader->length; place++)
            for (int32_t own = 0; own < length; own++)
                shared += leader->context[place] == part[own];
        if (shared == leader->length)
            return 1;
    }
    return 0;
}

/* Give back a part of a context, by places among the object's own, where it reaches the threshold. */
static void keep_part(struct run *r, int64_t object, const int32_t *part, int32_t length)
{
    const struct batch *b = r->b;
    struct place place = {.length = length};
    int32_t context[MOST_CONDITIONS];
    for (int32_t number = 0; number < length; number++) {
        place.context[number] = part[number];
        context[number] = b->own_conditions[b->own[object] + part[number]];
    }
    struct seen *c = look_at(r, context, length);
    struct rarest found = rarest_of(r, c, b->values[object]);
    if (!(found.inside / found.near >= b->close))
        return;
    double figures[FOUND] = {(double)object, c->typical.rows, c->typical.known, found.inside,
                             found.near,     found.width,     found.lift,       found.scale};
    memcpy(place.found, figures, sizeof figures);
    keep(r, &place);
}

/* Find where a context of some conditions is, or would be. */
static struct part *place_of(const struct parts *parts, struct part part)
{
    uint64_t hash = (part.first ^ part.second * 0x9e3779b97f4a7c15) * 0xd6e8feb86659fd93;
    for (uint64_t at = hash >> 32;; at++) {
        struct part *item = &parts->items[at & (uint64_t)(parts->room - 1)];
        if (item->first == 0 || (item->first == part.first && item->second == part.second))
            return item;
    }
}

static int make_room(struct parts *parts)
{
    struct parts more = {.room = parts->room ? 2 * parts->room : 1024};
    more.items = calloc((size_t)more.room, sizeof *more.items);
    if (more.items == NULL)
        return 0;
    for (int64_t at = 0; at < parts->room; at++)
        if (parts->items[at].first != 0)
            *place_of(&more, parts->items[at]) = parts->items[at];
    more.count = parts->count;
    free(parts->items);
    *parts = more;
    return 1;
}

/* Whether a context is met for the first time. */
static int is_new(struct run *r, const int32_t *context, int32_t length)
{
    uint64_t bits[2] = {0};
    if (length < 1 || length > 8)
        return 1;
    for (int32_t place = 0; place < length; place++) {
        if (context[place] >= UINT16_MAX)
            return 1;
        bits[place / 4] |= (uint64_t)(context[place] + 1) << place % 4 * 16;
    }
    if (2 * r->parts.count >= r->parts.room && !make_room(&r->parts)) {
        r->is_short_of_memory = 1;
        return 0;
    }
    struct part part = {bits[0], bits[1]}, *found = place_of(&r->parts, part);
    int is_it = found->first == 0;
    *found = part;
    r->parts.count += is_it;
    return is_it;
}

/* Read a context that was given back; return how many conditions it has. */
static int32_t kept_context(const struct run *r, int64_t at, int32_t *own)
{
    int64_t most = r->b->most > 0 ? r->b->most : 1;
    int32_t length = 0;
    for (int64_t number = 0; number < most; number++) {
        own[length] = r->results->contexts[at * most + number];
        length += own[length] >= 0;
    }
    return length;
}

/* A quick search gives back only what is strong; whether that is reported depends on parts of it. */
static void keep_parts(struct run *r, int64_t object)
{
    if (r->parts.count > 0)
        memset(r->parts.items, 0, (size_t)r->parts.room * sizeof *r->parts.items);
    r->parts.count = 0;
    for (int64_t at = r->states[object].kept; at >= 0; at = r->earlier[at]) {
        int32_t own[MOST_CONDITIONS];
        is_new(r, own, kept_context(r, at, own)); /* nor are these looked at again */
    }
    for (int64_t at = r->states[object].kept; at >= 0 && !r->is_short_of_memory; at = r->earlier[at]) {
        int32_t own[MOST_CONDITIONS], length = kept_context(r, at, own);
        for (uint32_t chosen = 1; chosen + 1 < (uint32_t)1 << length; chosen++) {
            int32_t part[MOST_CONDITIONS], count = 0;
            for (int32_t place = 0; place < length; place++)
                if (chosen >> place & 1)
                    part[count++] = own[place];
            if (was_seen(r, object, part, count) && is_new(r, part, count))
                keep_part(r, object, part, count);
        }
    }
}

static int get_memory(struct run *r)
{
    size_t words = (size_t)r->p->words + 1, near = (size_t)r->p->near_words + 1;
    r->base = malloc(words * sizeof *r->base);
    r->near_base = malloc(near * sizeof *r->near_base);
    r->row_base = malloc(((size_t)r->b->row_stride + 1) * sizeof *r->row_base);
    r->near = malloc(near * sizeof *r->near);
    r->before = malloc(near * sizeof *r->before);
    r->with_value = calloc((MOST_CONDITIONS + 1) * (size_t)r->b->object_words + 1,
                           sizeof *r->with_value);
    r->members = malloc(((size_t)r->b->objects + 1) * sizeof *r->members);
    r->strong = malloc((2 * (size_t)r->b->objects + 1) * sizeof *r->strong);
    r->leading = r->strong == NULL ? NULL : r->strong + r->b->objects;
    r->leaders = calloc(MOST_CONDITIONS + 1, sizeof *r->leaders);
    r->states = calloc((size_t)r->b->objects + 1, sizeof *r->states);
    r->places = malloc((2 * (size_t)r->b->objects + 1) * MOST_KEPT * sizeof *r->places);
    for (int64_t object = 0; r->states != NULL && object < r->b->objects; object++) {
        r->states[object].beam.places = r->places + 2 * object * MOST_KEPT;
        r->states[object].strongest.places = r->places + (2 * object + 1) * MOST_KEPT;
        r->states[object].kept = -1;
        r->states[object].strong = r->b->is_quick ? r->b->bars[object] : 0.0;
    }
    return get_scratch(r->p, &r->s) && r->base != NULL && r->near_base != NULL && r->row_base != NULL
        && r->near != NULL && r->before != NULL && r->members != NULL && r->with_value != NULL
        && r->strong != NULL && r->leaders != NULL
        && r->states != NULL && r->places != NULL;
}

static void free_memory(struct run *r)
{
    free_scratch(&r->s);
    free(r->base);
    free(r->near_base);
    free(r->row_base);
    free(r->near);
    free(r->before);
    for (int window = 0; window < WINDOWS; window++)
        free(r->ranges[window]);
    free(r->states);
    free(r->strong);
    free(r->members);
    free(r->with_value);
    free(r->leaders);
    free(r->earlier);
    free(r->parts.items);
    free(r->places);
}

/* Note whether an object has a value, and what matters to it. */
static void note_object(struct run *r, int64_t object)
{
    const struct batch *b = r->b;
    note_limits(r, object);
    if (!isnan(b->values[object]))
        for (int32_t length = 0; length <= b->levels[object]; length++)
            r->with_value[length * b->object_words + object / 64] |= (uint64_t)1 << object % 64;
}

/* Search a property for all objects of a batch; 0 if memory is short. */
EXPORT int search_property(const struct property *p, const struct batch *b, struct results *results)
{
    struct run r = {.p = p, .b = b, .results = results, .per_near = SAFE / b->share_near};
    r.per_rare = r.per_near / b->close;
    r.per_needed = r.per_near / b->needed;
    int is_ready = get_memory(&r);
    if (is_ready) {
        for (int64_t object = 0; object < b->objects; object++)
            note_object(&r, object);
        short_contexts(&r);
        for (int64_t object = 0; object < b->objects; object++) {
            struct state *state = &r.states[object];
            if (isnan(b->values[object]))
                continue;
            long_contexts(&r, object);
            if (b->is_quick)
                keep_parts(&r, object);
            for (int64_t number = 0; number < state->strongest.count; number++) {
                const struct place *place = &state->strongest.places[state->strongest.order[number]];
                double rarity = place->found[3] / place->found[4];
                if (!is_kept(&r, place->length, object, rarity, INFINITY))
                    keep(&r, place);
            }
        }
    }
    free_memory(&r);
    return is_ready && !r.is_short_of_memory;
}

EXPORT void search_free(struct results *results)
{
    free(results->figures);
    free(results->contexts);
}
