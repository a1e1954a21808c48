/* Sizes that the graph computes.
 *
 *   len(x[mask])         an int of the graph; as a size it is that of x[mask] again
 *   np.zeros(k), x[:k]   for an int k of the graph: a symbol without a source
 *   x[a] + x[b]          has to be of one size: x[b] goes through a node that sees to it
 *
 * A size that no guard can ask for is a symbol without a source; sizes that are known to be equal
 * have the same.  Where NumPy would need two others to be equal, they are expected to be: if they
 * are not, the run is dropped, and the call is made again plainly.
 */
#include "adapters/numbers.h"
#include "adapters/numpy/index.h"

#include <string.h>

#include "variables/kinds.h"

#define NUMBERS "dyntrace._numbers"

/* ---- Sizes as numbers ------------------------------------------------------------------------ */

/* The first result in the graph with an axis of that size. */
static bool
find_home(const DtTrace *trace, const DtSym *size, DtOperand *array, uint32_t *axis)
{
    const DtGraph *graph = trace->graph;
    for (uint32_t i = 0; i < graph->nodes.count; i++) {
        DtNode *node = graph->nodes.items[i];
        for (uint32_t j = 0; j < node->nresults; j++) {
            const DtMeta *meta = &node->results[j];
            for (uint32_t k = 0; meta->type == &PyArray_Type && k < meta->ndim; k++) {
                if (dt_sym_equal(meta->shape[k], size)) {
                    *array = (DtOperand){.kind = DT_OPERAND_NODE, .result = j, .u.node = node};
                    *axis = k;
                    return true;
                }
            }
        }
    }
    return false;
}

static bool
is_extent_of(const DtNode *node, PyObject *extent, const DtOperand *array, uint32_t axis)
{
    return node->kind == DT_NODE_CALL && node->callee == extent
           && node->args[0].u.node == array->u.node && node->args[0].result == array->result
           && PyLong_AsLong(node->args[1].u.object) == (long)axis; /* it is a small one */
}

/* The size of an axis: of one array with that size it is asked once. */
static DtStatus
emit_extent(DtTrace *trace, const DtOperand *array, uint32_t axis, DtVar **out)
{
    const DtGraph *graph = trace->graph;
    PyObject *extent = dt_number_function(NUMBERS, "extent");
    if (extent == NULL) {
        return DT_ERROR;
    }
    for (uint32_t i = array->u.node->index + 1; i < graph->nodes.count; i++) {
        if (is_extent_of(graph->nodes.items[i], extent, array, axis)) {
            DtMeta *meta = DT_ARENA_NEW(&trace->arena, DtMeta);
            if (meta == NULL) {
                return dt_no_memory();
            }
            *meta = dt_number_meta('i');
            return dt_var_array(trace, graph->nodes.items[i], 0, meta, out);
        }
    }
    DtOperand args[2] = {*array};
    DT_TRY(dt_np_int_operand(trace, axis, &args[1]));
    return dt_number_emit(trace, NUMBERS ".extent", extent, args, 2, 'i', out);
}

DtStatus
dt_np_axis_size(DtTrace *trace, const DtArrayVar *array, uint32_t axis, DtVar **out)
{
    const DtSym *size = array->meta->shape[axis];
    DtOperand home;
    if (!dt_trace_depends_on_data(trace, size)) {
        return dt_var_sym(trace, size, out);
    }
    if (!find_home(trace, size, &home, &axis)) {
        home = dt_np_node(array); /* it belongs to a tracer around this one */
    }
    return emit_extent(trace, &home, axis, out);
}

/* ---- Numbers as sizes ------------------------------------------------------------------------ */

static bool
same_bound(const DtSizeBound *a, const DtSizeBound *b)
{
    bool numbers = a->number != NULL && b->number != NULL;
    return a->node == b->node && a->result == b->result
           && (numbers ? dt_sym_equal(a->number, b->number) : a->number == b->number);
}

static bool
same_origin(const DtSizeOrigin *a, const DtSizeOrigin *b)
{
    bool sizes = a->of != NULL && b->of != NULL;
    return (sizes ? dt_sym_equal(a->of, b->of) : a->of == b->of) && a->step == b->step
           && same_bound(&a->first, &b->first) && same_bound(&a->last, &b->last);
}

/* The symbol that has the origin. */
static DtStatus
symbol_of(DtTrace *trace, const DtSizeOrigin *origin, const DtSym **out)
{
    for (uint32_t id = 0; id < trace->symbols.count; id++) {
        const DtSymbol *known = &trace->symbols.items[id];
        if (known->origin != NULL && same_origin(known->origin, origin)) {
            *out = dt_sym_symbol(&trace->arena, id, DT_SYM_INT, known->hint);
            return *out != NULL ? DT_OK : dt_no_memory();
        }
    }
    DtSizeOrigin *copy = DT_ARENA_NEW(&trace->arena, DtSizeOrigin);
    if (copy == NULL) {
        return dt_no_memory();
    }
    *copy = *origin;
    DT_TRY(dt_trace_symbol(trace, NULL, DT_SYM_INT, (DtNumber){.i = 2}, out));
    trace->symbols.items[(*out)->id].origin = copy;
    return DT_OK;
}

/* Is the number the size of an array?  Then *out is that. */
static DtStatus
is_extent(const DtArrayVar *number, const DtSym **out)
{
    PyObject *extent = dt_number_function(NUMBERS, "extent");
    const DtNode *node = number->node;
    *out = NULL;
    if (extent == NULL) {
        return DT_ERROR;
    }
    if (node->kind == DT_NODE_CALL && node->callee == extent) {
        const DtOperand *array = &node->args[0];
        long axis = PyLong_AsLong(node->args[1].u.object); /* it is a small one */
        *out = array->u.node->results[array->result].shape[axis];
    }
    return DT_OK;
}

DtStatus
dt_np_size_of(DtTrace *trace, DtVar *var, const DtSym **out)
{
    DT_TRY(dt_var_realize(trace, var, &var));
    var = dt_var_peek(var);
    if (!dt_np_is_integer(var)) {
        return dt_np_sym_of(trace, var, out);
    }
    const DtArrayVar *number = (const DtArrayVar *)var;
    DT_TRY(is_extent(number, out));
    if (*out != NULL) {
        return DT_OK;
    }
    DtSizeOrigin origin = {.first = {.node = number->node, .result = number->result}};
    return symbol_of(trace, &origin, out);
}

bool
dt_np_is_computed_int(const DtTrace *trace, const DtSym *size)
{
    const DtSizeOrigin *origin =
        size->op == DT_SYM_OP_SYMBOL ? trace->symbols.items[size->id].origin : NULL;
    return origin != NULL && origin->of == NULL && origin->step == 0;
}

/* A size and an offset: the sum. */
static DtStatus
find_sum(DtTrace *trace, const DtSym *size, DtOperand *out, bool *found)
{
    const DtSym *base;
    int64_t offset;
    DtOperand terms[2];
    DtVar *sum;
    *found = false;
    dt_sym_split_offset(size, &base, &offset);
    if (base == NULL || base == size || offset == 0) {
        return DT_OK;
    }
    DT_TRY(dt_np_find_size(trace, base, &terms[0], found));
    if (!*found) {
        return DT_OK;
    }
    DT_TRY(dt_np_int_operand(trace, offset, &terms[1]));
    DT_TRY(dt_number_emit_named(trace, "operator", "add", "operator.add", terms, 2, 'i', &sum));
    return dt_graph_operand(trace, sum, out, found);
}

DtStatus
dt_np_find_size(DtTrace *trace, const DtSym *size, DtOperand *out, bool *found)
{
    uint32_t axis;
    DtVar *number;
    *found = true;
    if (dt_np_is_computed_int(trace, size)) {
        const DtSizeOrigin *origin = trace->symbols.items[size->id].origin;
        *out = (DtOperand){.kind = DT_OPERAND_NODE,
                           .result = origin->first.result,
                           .u.node = (DtNode *)origin->first.node};
        return DT_OK;
    }
    if (!find_home(trace, size, out, &axis)) {
        return find_sum(trace, size, out, found);
    }
    DT_TRY(emit_extent(trace, out, axis, &number));
    return dt_graph_operand(trace, number, out, found);
}

/* ---- Lengths of slices ----------------------------------------------------------------------- */

/* *computed is set for a bound that the graph computes. */
static DtStatus
read_bound(DtTrace *trace, DtVar *var, DtSizeBound *out, bool *computed)
{
    *out = (DtSizeBound){0};
    DT_TRY(dt_var_realize(trace, var, &var));
    var = dt_var_peek(var);
    if (dt_np_is_none(var)) {
        return DT_OK;
    }
    if (dt_np_is_integer(var)) {
        out->node = ((DtArrayVar *)var)->node;
        out->result = ((DtArrayVar *)var)->result;
        *computed = true;
        return DT_OK;
    }
    DT_TRY(dt_np_sym_of(trace, var, &out->number));
    if (out->number == NULL) {
        return dt_break(trace, DT_BREAK_ARRAY_OP, "a slice whose bound is a %s", var->type->name);
    }
    return DT_OK;
}

static bool
lies_between(const DtSizeBound *bound, int64_t low, int64_t high)
{
    return bound->number != NULL && dt_sym_is_const(bound->number) && bound->number->hint.i >= low
           && bound->number->hint.i <= high;
}

/* x[1:-1] and x[:-2] are as long as x[2:]. */
static DtStatus
normalize(DtTrace *trace, DtSizeOrigin *origin)
{
    const DtSizeBound none = {0};
    bool to_end = same_bound(&origin->last, &none);
    bool from_start = same_bound(&origin->first, &none);
    if (origin->step != 1 || !(from_start || lies_between(&origin->first, 0, INT32_MAX))
        || !(to_end || lies_between(&origin->last, INT32_MIN, -1))) {
        return DT_OK;
    }
    int64_t cut = from_start ? 0 : origin->first.number->hint.i;
    cut -= to_end ? 0 : origin->last.number->hint.i;
    origin->last = none;
    origin->first = (DtSizeBound){.number = dt_np_size(trace, cut)};
    return origin->first.number != NULL ? DT_OK : DT_ERROR;
}

DtStatus
dt_np_computed_length(DtTrace *trace, const DtSym *size, DtSeqVar *slice, int64_t step,
                      const DtSym **out)
{
    DtSizeOrigin origin = {.of = size, .step = step};
    const DtSizeBound none = {0};
    bool computed = dt_trace_depends_on_data(trace, size);
    *out = NULL;
    DT_TRY(read_bound(trace, slice->items[0], &origin.first, &computed));
    DT_TRY(read_bound(trace, slice->items[1], &origin.last, &computed));
    if (!computed) {
        return DT_OK;
    }
    if (same_bound(&origin.first, &none) && same_bound(&origin.last, &none)
        && (step == 1 || step == -1)) {
        *out = size;
        return DT_OK;
    }
    DT_TRY(normalize(trace, &origin));
    return symbol_of(trace, &origin, out);
}

DtStatus
dt_np_computed_range(DtTrace *trace, DtVar *const *bounds, const DtSym *step, const DtSym **out)
{
    DtSizeOrigin origin = {0};
    bool computed = true;
    DT_TRY(dt_trace_specialize(trace, step));
    origin.step = step->hint.i;
    if (origin.step == 0) {
        return dt_break(trace, DT_BREAK_RAISES, "a range with step 0");
    }
    DT_TRY(read_bound(trace, bounds[0], &origin.first, &computed));
    DT_TRY(read_bound(trace, bounds[1], &origin.last, &computed));
    *out = NULL;
    if (origin.step == 1 && lies_between(&origin.first, 0, 0)) {
        DT_TRY(is_extent((const DtArrayVar *)dt_var_peek(bounds[1]), out)); /* not negative */
    }
    return *out != NULL ? DT_OK : symbol_of(trace, &origin, out);
}

/* ---- Sizes that have to be equal ------------------------------------------------------------- */

/* The array that a function of _numbers gives back, if it is as it should be. */
static DtStatus
emit_same_array(DtTrace *trace, const char *target, PyObject *callee, const DtOperand *args,
                uint32_t nargs, const DtMeta *base, const DtSym **shape, DtArrayVar **out)
{
    static const DtAlias of_first = {0, 0};
    DtMeta meta = *base;
    DtVar *found;
    if (callee == NULL) {
        return DT_ERROR;
    }
    meta.shape = shape;
    meta.layout &= ~(uint32_t)DT_LAYOUT_FRESH;
    DtCallSpec spec = {
        .target = target,
        .callee = callee,
        .args = args,
        .nargs = nargs,
        .results = &meta,
        .nresults = 1,
        .aliases = &of_first,
        .naliases = 1,
    };
    DT_TRY(dt_np_emit(trace, &spec, &found));
    *out = dt_np_array_of(found);
    return DT_OK;
}

/* The operand becomes the result of a node that sees to its size. */
static DtStatus
expect_size(DtTrace *trace, DtNpOperand *operand, uint32_t axis, const DtSym *size)
{
    const DtMeta *base = operand->array->meta;
    DtOperand args[3] = {operand->operand};
    const DtSym **shape = DT_ARENA_ARRAY(&trace->arena, const DtSym *, base->ndim + 1);
    if (shape == NULL) {
        return dt_no_memory();
    }
    memcpy(shape, base->shape, sizeof(shape[0]) * base->ndim);
    shape[axis] = size;
    DT_TRY(dt_np_int_operand(trace, axis, &args[1]));
    DT_TRY(dt_np_size_operand(trace, size, &args[2]));
    DT_TRY(emit_same_array(trace, NUMBERS ".sized", dt_number_function(NUMBERS, "sized"), args, 3,
                           base, shape, &operand->array));
    operand->operand = dt_np_node(operand->array);
    return DT_OK;
}

DtStatus
dt_np_expect_more_items(DtTrace *trace, DtArrayVar *array, uint32_t mask, int64_t than,
                        DtArrayVar **out)
{
    DtOperand args[3] = {dt_np_node(array)}, axes[DT_NP_MAXDIMS];
    uint32_t count = 0;
    for (uint32_t axis = 0; axis < array->meta->ndim; axis++) {
        if (mask & (1u << axis)) {
            DT_TRY(dt_np_int_operand(trace, axis, &axes[count++]));
        }
    }
    DT_TRY(dt_np_tuple_operand(trace, axes, count, &args[1]));
    DT_TRY(dt_np_int_operand(trace, than, &args[2]));
    return emit_same_array(trace, NUMBERS ".longer", dt_number_function(NUMBERS, "longer"), args, 3,
                           array->meta, (const DtSym **)array->meta->shape, out);
}

/* The size of a result's axis, counted from the last one, as the operands before `until` say it. */
static const DtSym *
size_before(const DtNpOperand *operands, uint32_t until, uint32_t from_end)
{
    for (uint32_t i = 0; i < until; i++) {
        const DtMeta *meta = operands[i].array != NULL ? operands[i].array->meta : NULL;
        if (meta != NULL && from_end < meta->ndim
            && !dt_np_size_is(meta->shape[meta->ndim - 1 - from_end], 1)) {
            return meta->shape[meta->ndim - 1 - from_end];
        }
    }
    return NULL;
}

DtStatus
dt_np_agree(DtTrace *trace, DtNpOperand *operands, uint32_t count)
{
    for (uint32_t i = 1; i < count; i++) {
        for (uint32_t axis = 0; operands[i].array != NULL && axis < operands[i].array->meta->ndim;
             axis++) {
            const DtMeta *meta = operands[i].array->meta;
            const DtSym *own = meta->shape[axis];
            const DtSym *size = size_before(operands, i, meta->ndim - 1 - axis);
            bool settled = size == NULL || dt_np_size_is(own, 1) || dt_sym_equal(own, size);
            if (!settled
                && (dt_trace_depends_on_data(trace, own)
                    || dt_trace_depends_on_data(trace, size))) {
                DT_TRY(expect_size(trace, &operands[i], axis, size));
            }
        }
    }
    return DT_OK;
}
