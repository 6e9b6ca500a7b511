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
 * Given back are, for each object, the contexts that reach a threshold, those of up to one
 * condition, and the strongest. Strengths are compared as products of rarity and lift, rounded; ties
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
    int64_t object_words;
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
};

/* By how much a bound is too large at least, so that rounding does not matter. */
#define SAFE (1 + 1e-9)

/* A context as all its objects see it. */
struct seen {
    const uint64_t *words;  /* among which rows near an object are counted */
    const int32_t *before;  /* running totals of their bits */
    struct typical typical;
    double inside[MOST_SCALES]; /* by scale; NaN where it is not known */
    const struct range *narrow, *wide; /* rows near each object, at least; NULL if not known */
    int may_lead;
    double many, strength; /* see find_bounds */
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
    int64_t at = ranking->count;
    if (at == most && (most == 0 || !is_before(place, &ranking->places[at - 1])))
        return;
    if (at < most)
        ranking->count++;
    else
        at--;
    for (; at > 0 && is_before(place, &ranking->places[at - 1]); at--)
        ranking->places[at] = ranking->places[at - 1];
    ranking->places[at] = *place;
    if (ranking->count == most)
        ranking->least = ranking->places[most - 1].key;
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
        if (figures == NULL || contexts == NULL) {
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
    found->count++;
}

/* Whether a context is given back whatever else is found. */
static int is_kept(const struct run *r, const struct place *place)
{
    return place->length <= 1 || place->found[3] / place->found[4] >= r->b->close;
}

/* Whether a context may be extended, for objects all of whose shorter contexts are screened. */
static int may_lead(const struct batch *b, int32_t length, const struct seen *c)
{
    return length < b->most && c->typical.rows >= b->least_rows[length + 1];
}

/* Whether an object is too ordinary in a context of several conditions: rarity and strength fall as
 * the rows near it grow, and so many are near it at least. */
static int is_ordinary(const struct run *r, const struct seen *c, int64_t object, int32_t length)
{
    const struct batch *b = r->b;
    const struct typical *t = &c->typical;
    const struct state *state = &r->states[object];
    if (c->narrow == NULL)
        return 0;
    double near = rows_within(c, c->narrow[object]) * b->share_near;
    double rarity = t->inside / near;
    if (!(near * b->needed > t->known) && b->scales > 1) {
        double wide = rows_within(c, c->wide[object]) * b->share_near;
        if (!(wide * b->needed > t->known)) /* a typical member has no more rows near it than known */
            rarity = larger(rarity, t->known / wide);
    }
    double strength = rarity * t->lift * b->discounts[length];
    int leads = c->may_lead && length >= b->levels[object] && !(strength < state->leading);
    return near > 0 && rarity < b->close && strength < state->strong && !leads;
}

/* The same for most, soon: with more rows near it than `many` no wider window counts and it is not
 * rare, and with more than these by its least strength that matters it is not strong. */
static void find_bounds(const struct run *r, struct seen *c, int32_t length)
{
    const struct batch *b = r->b;
    const struct typical *t = &c->typical;
    double many = larger(t->known / b->needed, t->inside / b->close) / b->share_near * SAFE;
    double strength = t->inside * t->lift * b->discounts[length] / b->share_near * SAFE;
    c->limits = c->may_lead ? r->leading : r->strong;
    c->many = length > 1 && c->narrow != NULL ? many : NAN;
    c->strength = strength;
}

static int is_surely_ordinary(const struct seen *c, int64_t object)
{
    double near = rows_within(c, c->narrow[object]);
    return near > c->many && near > c->strength * c->limits[object];
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
    if (length > 1 && is_ordinary(r, c, object, length))
        return;
    struct rarest found = rarest_of(r, c, b->values[object]);
    double rarity = found.inside / found.near;
    double strength = rarity * found.lift * b->discounts[length];
    int64_t key = isnan(strength) ? -1 : key_of(strength);
    int is_long = key >= state->beam.least && key >= 0 && c->may_lead && length >= b->levels[object];
    int is_strong = rarity > 1 + SAME_DENSITY && key >= 0 && key >= state->strongest.least;
    if (!is_long && !is_strong && length > 1 && !(rarity >= b->close))
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
    if (is_kept(r, &place))
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
    int64_t number = 0;
    for (int64_t word = 0; word < words; word++)
        number += popcount(one[word] & other[word]);
    return (double)number;
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
static struct seen seen_of(struct run *r, double rows, const uint64_t *near, int32_t length)
{
    int has_one = near == r->s.words;
    struct seen c = {.words = near, .before = has_one ? r->s.before : r->before};
    c.typical = typical_of(r->p, &r->s, rows);
    c.may_lead = may_lead(r->b, length, &c);
    int window = window_of(c.typical.width);
    c.narrow = ranges_within(r, window);
    c.wide = ranges_within(r, window < 0 || window + STEPS >= WINDOWS ? window : window + STEPS);
    if (c.wide == NULL)
        c.narrow = NULL;
    if (!has_one)
        count_before(r->before, near, r->p->near_words);
    for (int place = 0; place < MOST_SCALES; place++)
        c.inside[place] = NAN;
    find_bounds(r, &c, length);
    return c;
}

/* Whether objects are counted in the same layout as what is typical. */
static int has_one_layout(const struct run *r) { return r->b->words == r->b->near_words; }

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
        uint64_t objects = b->has[(b->conditions - 1) * b->object_words + word];
        for (int32_t place = 0; place < length; place++)
            objects &= b->has[context[place] * b->object_words + word];
        for (; objects != 0; objects &= objects - 1) {
            int32_t object = (int32_t)(word * 64 + __builtin_ctzll(objects));
            r->members[count] = object;
            count += !isnan(b->values[object]) && length <= b->levels[object];
        }
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
        intersect_all(r->s.words, b->words, context, length, b->conditions - 1, r->p->words);
        r->s.words[r->p->words] = 0;
        if (!has_one_layout(r)) {
            intersect_all(r->near, b->near_words, context, length, b->conditions - 1,
                          r->p->near_words);
            r->near[r->p->near_words] = 0;
        }
        const uint64_t *near = has_one_layout(r) ? r->s.words : r->near;
        struct seen c = seen_of(r, count_groups(r->p, &r->s), near, length);
        for (int64_t at = 0; at < members; at++) {
            int32_t object = r->members[at];
            b->screened[object]++;
            if (isnan(c.many) || !is_surely_ordinary(&c, object))
                take(r, object, context, length, &c);
        }
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
            if (!(rows_in(r->row_base, b->row_words[condition], b->row_stride)
                  >= b->least_rows[length + 1]))
                continue;
            if (!is_free(b, context, length, condition) || is_earlier(leaders, number, place))
                continue;
            intersect_words(r->s.words, r->base, b->words[condition], r->p->words);
            double rows = count_groups(r->p, &r->s);
            if (!has_one_layout(r))
                intersect_words(r->near, r->near_base, b->near_words[condition], r->p->near_words);
            const uint64_t *near = has_one_layout(r) ? r->s.words : r->near;
            struct seen c = seen_of(r, rows, near, length + 1);
            context[length] = condition;
            b->screened[object]++;
            take(r, object, context, length + 1, &c);
        }
    }
}

static void long_contexts(struct run *r, int64_t object)
{
    struct state *state = &r->states[object];
    struct ranking *beam = &state->beam;
    struct place leaders[MOST_KEPT];
    while (beam->count > 0) {
        int64_t count = beam->count;
        memcpy(leaders, beam->places, (size_t)count * sizeof *leaders);
        beam->count = beam->least = 0;
        state->leading = 0;
        extend(r, object, leaders, count);
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
    r->members = malloc(((size_t)r->b->objects + 1) * sizeof *r->members);
    r->strong = malloc((2 * (size_t)r->b->objects + 1) * sizeof *r->strong);
    r->leading = r->strong == NULL ? NULL : r->strong + r->b->objects;
    for (int64_t object = 0; r->strong != NULL && object < 2 * r->b->objects; object++)
        r->strong[object] = INFINITY;
    r->states = calloc((size_t)r->b->objects + 1, sizeof *r->states);
    r->places = malloc((2 * (size_t)r->b->objects + 1) * MOST_KEPT * sizeof *r->places);
    for (int64_t object = 0; r->states != NULL && object < r->b->objects; object++) {
        r->states[object].beam.places = r->places + 2 * object * MOST_KEPT;
        r->states[object].strongest.places = r->places + (2 * object + 1) * MOST_KEPT;
    }
    return get_scratch(r->p, &r->s) && r->base != NULL && r->near_base != NULL && r->row_base != NULL
        && r->near != NULL && r->before != NULL && r->members != NULL && r->strong != NULL && r->states != NULL && r->places != NULL;
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
    free(r->places);
}

/* Search a property for all objects of a batch; 0 if memory is short. */
EXPORT int search_property(const struct property *p, const struct batch *b, struct results *results)
{
    struct run r = {.p = p, .b = b, .results = results};
    int is_ready = get_memory(&r);
    if (is_ready) {
        short_contexts(&r);
        for (int64_t object = 0; object < b->objects; object++) {
            struct state *state = &r.states[object];
            if (isnan(b->values[object]))
                continue;
            long_contexts(&r, object);
            for (int64_t number = 0; number < state->strongest.count; number++)
                if (!is_kept(&r, &state->strongest.places[number]))
                    keep(&r, &state->strongest.places[number]);
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
