/* Draws that give several numbers: shuffle(), sample() and choices() of numbers of one kind.
 *
 *   random.sample(range(n), 2) ─► dyntrace._draws.sample(<generator>, range(n), 2), two results
 *
 * How many numbers come out has to be known; a list of them is what the call gives, or what the
 * list that is shuffled holds from then on.
 *
 * Breaks: items of other kinds, and too many of them.
 */
#include <string.h>

#include "adapters/numbers.h"
#include "adapters/std_random.h"
#include "compat/import.h"
#include "variables/kinds.h"

/* So many outputs a node may have, and so many items a list that is made for it. */
enum { MOST = 256, OPERANDS = 5 };

/* The node's operands behind the generator, and what it gives. */
typedef struct Several {
    const char *name;
    DtVar *operands[OPERANDS - 1];
    uint32_t noperands;
    char kind;
    int64_t count;
} Several;

static DtStatus
refuse(DtTrace *trace, const char *name, const char *what)
{
    return dt_break(trace, DT_BREAK_UNKNOWN_CALLABLE, "random.Random.%s() %s", name, what);
}

/* Arguments by position or name, in the order of `names`, which ends with NULL; *ok false: they do
 * not fit, which the call itself says. */
static DtStatus
bind(DtTrace *trace, const DtArgs *args, const char *const *names, DtVar **out, bool *ok)
{
    uint32_t n = 0;
    for (; names[n] != NULL; n++) {
        out[n] = n < args->npos ? args->pos[n] : NULL;
        DtVar *named = dt_args_keyword(args, names[n]);
        *ok = *ok && (named == NULL || out[n] == NULL);
        out[n] = named != NULL ? named : out[n];
        if (out[n] != NULL) {
            DT_TRY(dt_var_realize(trace, out[n], &out[n]));
        }
    }
    uint32_t bound = 0;
    for (uint32_t i = 0; i < n; i++) {
        bound += out[i] != NULL;
    }
    *ok = *ok && bound == args->npos + args->nkw;
    return DT_OK;
}

/* How many numbers a sequence has. */
static int64_t
length_of(DtTrace *trace, DtVar *population)
{
    if (population->type->kind != DT_KIND_RANGE) {
        return ((const DtSeqVar *)population)->count;
    }
    Py_ssize_t length = PyObject_Length(dt_var_as_constant(trace, population));
    PyErr_Clear(); /* a range longer than any list: taken for empty, which is refused */
    return length < 0 ? 0 : length;
}

/* The first operand: numbers of one kind. */
static DtStatus
take_population(DtTrace *trace, DtVar *population, Several *draw)
{
    draw->operands[draw->noperands++] = population;
    DT_TRY(dt_random_kind_of_items(trace, dt_var_peek(population), MOST, &draw->kind));
    return draw->kind != 0 ? DT_OK : refuse(trace, draw->name, "of such items");
}

/* The number `k` of items that are wanted. */
static DtStatus
take_count(DtTrace *trace, DtVar *count, Several *draw)
{
    PyObject *known = dt_var_as_constant(trace, count);
    draw->count = known != NULL && PyLong_CheckExact(known) ? PyLong_AsLongLong(known) : -1;
    PyErr_Clear(); /* too large for an int64_t: too many */
    draw->operands[draw->noperands++] = count;
    return draw->count >= 0 && draw->count <= MOST ? DT_OK
                                                   : refuse(trace, draw->name, "of so many items");
}

static DtStatus
emit(DtTrace *trace, DtArrayVar *self, const Several *draw, DtVar ***items)
{
    static const uint32_t mutated[] = {0};
    const char *target = dt_arena_printf(&trace->arena, "dyntrace._draws.%s", draw->name);
    DtOperand operands[OPERANDS] = {
        {.kind = DT_OPERAND_NODE, .result = self->result, .u.node = self->node}};
    DtMeta *results = DT_ARENA_ARRAY(&trace->arena, DtMeta, (size_t)draw->count);
    *items = DT_ARENA_ARRAY(&trace->arena, DtVar *, (size_t)draw->count);
    PyObject *callee = dt_trace_keep_take(trace, dt_import_attr("dyntrace._draws", draw->name));
    if (callee == NULL || target == NULL || results == NULL || *items == NULL) {
        return callee == NULL ? DT_ERROR : dt_no_memory();
    }
    for (uint32_t i = 0; i < draw->noperands; i++) {
        bool ok;
        DT_TRY(dt_graph_operand(trace, draw->operands[i], &operands[i + 1], &ok));
        if (!ok) {
            return refuse(trace, draw->name, "with such an argument");
        }
    }
    for (int64_t i = 0; i < draw->count; i++) {
        results[i] = dt_number_meta(draw->kind);
    }
    DtNode *node;
    DtCallSpec spec = {
        .target = target,
        .callee = callee,
        .args = operands,
        .nargs = draw->noperands + 1,
        .results = results,
        .nresults = (uint32_t)draw->count,
        .effect = DT_EFFECT_MUTATES,
        .mutated = mutated,
        .nmutated = 1,
    };
    DT_TRY(dt_graph_call(trace, &spec, &node));
    for (uint32_t i = 0; i < draw->count; i++) {
        DT_TRY(dt_var_array(trace, node, i, &results[i], &(*items)[i]));
    }
    return DT_OK;
}

/* ---- The three ------------------------------------------------------------------------------- */

static DtStatus
shuffle(DtTrace *trace, DtArrayVar *self, const DtArgs *args, DtVar **out)
{
    static const char *const names[] = {"x", NULL};
    Several draw = {.name = "shuffle"};
    DtVar *list, **items;
    bool ok = true;
    DT_TRY(bind(trace, args, names, &list, &ok));
    if (!ok || list == NULL || list->type->kind != DT_KIND_LIST) {
        return refuse(trace, draw.name, "of such an argument");
    }
    DtSeqVar *order = (DtSeqVar *)list;
    *out = trace->none;
    if (order->count < 2 && order->cls == &PyList_Type) {
        return DT_OK; /* nothing is drawn */
    }
    DT_TRY(take_population(trace, list, &draw));
    draw.count = order->count;
    DT_TRY(emit(trace, self, &draw, &items));
    DT_TRY(dt_kinds_will_change(trace, list));
    memcpy(order->items, items, sizeof(items[0]) * order->count);
    return DT_OK;
}

static DtStatus
sample(DtTrace *trace, DtArrayVar *self, const DtArgs *args, DtVar **out)
{
    static const char *const names[] = {"population", "k", NULL};
    Several draw = {.name = "sample"};
    DtVar *bound[2], **items = NULL;
    bool ok = true;
    DT_TRY(bind(trace, args, names, bound, &ok));
    if (!ok || bound[0] == NULL || bound[1] == NULL) {
        return refuse(trace, draw.name, "with such arguments");
    }
    DT_TRY(take_population(trace, bound[0], &draw));
    DT_TRY(take_count(trace, bound[1], &draw));
    if (draw.count > length_of(trace, bound[0])) {
        return refuse(trace, draw.name, "of so many items");
    }
    if (draw.count > 0) {
        DT_TRY(emit(trace, self, &draw, &items));
    }
    return dt_var_list(trace, items, (uint32_t)draw.count, out);
}

static DtStatus
choices(DtTrace *trace, DtArrayVar *self, const DtArgs *args, DtVar **out)
{
    static const char *const names[] = {"population", "weights", "cum_weights", "k", NULL};
    Several draw = {.name = "choices"};
    DtVar *bound[4], **items;
    bool ok = true;
    char kind;
    DT_TRY(bind(trace, args, names, bound, &ok));
    if (!ok || args->npos > 2 || bound[0] == NULL) {
        return refuse(trace, draw.name, "with such arguments");
    }
    DT_TRY(take_population(trace, bound[0], &draw));
    int64_t length = length_of(trace, bound[0]);
    for (int i = 1; i < 3; i++) {
        bound[i] = bound[i] != NULL ? bound[i] : trace->none;
        DT_TRY(dt_var_realize(trace, bound[i], &bound[i]));
        draw.operands[draw.noperands++] = bound[i];
        if (dt_var_peek_constant(bound[i]) == Py_None) {
            continue;
        }
        DT_TRY(dt_random_kind_of_items(trace, dt_var_peek(bound[i]), MOST, &kind));
        if (kind == 0 || length_of(trace, bound[i]) != length) {
            return refuse(trace, draw.name, "with such weights");
        }
    }
    if (bound[3] == NULL) {
        DT_TRY(dt_var_int(trace, 1, &bound[3]));
    }
    DT_TRY(take_count(trace, bound[3], &draw));
    if (draw.count == 0 || length == 0) {
        return refuse(trace, draw.name, "of no items");
    }
    DT_TRY(emit(trace, self, &draw, &items));
    return dt_var_list(trace, items, (uint32_t)draw.count, out);
}

const DtRandomSeveral dt_random_several[] = {
    {"shuffle", shuffle},
    {"sample", sample},
    {"choices", choices},
    {NULL, NULL},
};
