/* Numbers that are written where a mask is true.
 *
 *   a[mask] = number        ──►  a[...] = where(mask, number, a)
 *   a[mask, 0] = number     ──►  a[:, 0][...] = where(mask, number, a[:, 0])
 *   a[rows] = number        ──►  a[...] = where(rows[:, newaxis], number, a)
 *
 * The mask is an array that the graph has made, so nothing that is written can change it, and the
 * number is one that the array's dtype keeps as it is, so no cast can report anything.  The same
 * items are the same then, and what was no item keeps its bits: where() only moves them.
 *
 * Written so, it is elementwise like all around it: a stage takes it together with what makes the
 * mask, an array of the graph is made once, and arithmetic that follows reads the value.
 *
 * It writes the other items with what they hold.  No thread of the program can be at those of an
 * array that the graph has made, or has just written as a whole; other arrays are left to the
 * kernel.
 *
 * Not in here: other masks and values, which NumPy or a kernel (native/kernels_picked.c) writes.
 */
#include "adapters/numpy/index.h"

#include <float.h>
#include <math.h>

#include "adapters/numpy/ufuncs.h"
#include "variables/kinds.h"

/* ---- The number ------------------------------------------------------------------------------ */

static bool
int_fits(PyObject *value, int num, uint32_t size)
{
    int overflow;
    long long number = PyLong_AsLongLongAndOverflow(value, &overflow);
    if (overflow != 0) {
        return false;
    }
    if (PyTypeNum_ISFLOAT(num) || PyTypeNum_ISCOMPLEX(num)) {
        return llabs(number) <= 1 << 11; /* exact in all of them */
    }
    uint32_t bits = 8 * size;
    if (PyTypeNum_ISUNSIGNED(num)) {
        return number >= 0 && (bits >= 63 || number < 1LL << bits);
    }
    return PyTypeNum_ISSIGNED(num)
           && (bits >= 64 || (number >= -(1LL << (bits - 1)) && number < 1LL << (bits - 1)));
}

static bool
float_fits(double value, int num)
{
    switch (num) {
    case NPY_DOUBLE:
    case NPY_CDOUBLE:
        return true;
    case NPY_FLOAT:
    case NPY_CFLOAT: /* what rounds to no finite or no normal number may be reported */
        return value == 0 || !isfinite(value)
               || (fabs(value) <= (double)FLT_MAX && fabs(value) >= (double)FLT_MIN);
    default:
        return false;
    }
}

/* Whether an array of `dtype` keeps the number as it is, whatever it is when the graph runs. */
static bool
is_kept(const DtNpOperand *value, PyObject *dtype)
{
    const PyArray_Descr *descr = dt_np_descr(dtype);
    int num = descr->type_num;
    if (value->array != NULL) { /* no array of no axes: its memory may be what is written */
        return value->array->meta->ndim == 0 && !dt_np_is_ndarray(value->array)
               && value->dtype == dtype;
    }
    if (value->constant == NULL) {
        return value->sym != NULL && value->sym->type == DT_SYM_FLOAT && num == NPY_DOUBLE;
    }
    if (PyBool_Check(value->constant)) {
        return true;
    }
    if (PyLong_CheckExact(value->constant)) {
        return int_fits(value->constant, num, (uint32_t)PyDataType_ELSIZE(descr));
    }
    return PyFloat_CheckExact(value->constant)
           && float_fits(PyFloat_AS_DOUBLE(value->constant), num);
}

/* ---- The array ------------------------------------------------------------------------------- */

/* `now`: what stands for the array's items when they are read. */
static bool
is_made_anew(const DtArrayVar *self, const DtOperand *now)
{
    const DtNode *owner;
    DtOperand operand = dt_np_node(self);
    return now->u.node != self->node || dt_graph_memory(&operand, &owner) == DT_MEMORY_OWN;
}

/* ---- The mask -------------------------------------------------------------------------------- */

/* An array of truths that the graph has made, in memory of its own. */
static DtArrayVar *
own_mask(DtVar *item)
{
    const DtNode *owner;
    DtArrayVar *mask = dt_np_array_of(item);
    if (mask == NULL || mask->meta->ndim == 0 || !dt_np_is_ndarray(mask)
        || dt_np_descr(mask->meta->dtype)->type_num != NPY_BOOL) {
        return NULL;
    }
    DtOperand operand = dt_np_node(mask);
    return mask->node->kind == DT_NODE_CALL && dt_graph_memory(&operand, &owner) == DT_MEMORY_OWN
               ? mask
               : NULL;
}

static DtStatus
whole(DtTrace *trace, DtVar **out)
{
    return dt_var_slice(trace, trace->none, trace->none, trace->none, out);
}

/* The part of `self` whose first axes the mask has: of a[mask, key] it is a[:, key].  *mask: NULL
 * if the key is another one. */
static DtStatus
masked_part(DtTrace *trace, DtArrayVar *self, DtVar *key, DtArrayVar **part, DtArrayVar **mask)
{
    DtVar **items, *parts[2 * DT_NP_MAXDIMS], *view;
    uint32_t count, nparts = 0;
    bool many;
    *part = self;
    *mask = own_mask(key);
    if (*mask != NULL || key->type->kind != DT_KIND_TUPLE) {
        return DT_OK;
    }
    DT_TRY(dt_np_items(trace, key, &items, &count, &many));
    DtArrayVar *first = many && count > 1 && count <= DT_NP_MAXDIMS ? own_mask(items[0]) : NULL;
    if (first == NULL) {
        return DT_OK;
    }
    while (nparts < first->meta->ndim) {
        DT_TRY(whole(trace, &parts[nparts++]));
    }
    for (uint32_t i = 1; i < count; i++) {
        DtVar *item = dt_var_peek(items[i]);
        PyObject *constant = dt_var_peek_constant(item);
        if (item->type->kind != DT_KIND_SLICE
            && (constant == NULL || !PyLong_CheckExact(constant))) {
            return DT_OK;
        }
        parts[nparts++] = item;
    }
    DT_TRY(dt_var_tuple(trace, parts, nparts, &view));
    DT_TRY(dt_var_subscript(trace, &self->base, view, &view));
    *part = dt_np_array_of(view);
    *mask = *part != NULL && dt_np_is_ndarray(*part) ? first : NULL;
    return DT_OK;
}

/* The mask with an axis of one item for each that it lacks. */
static DtStatus
over_all_axes(DtTrace *trace, DtArrayVar *mask, uint32_t ndim, DtVar **out)
{
    DtVar *parts[DT_NP_MAXDIMS], *key;
    *out = &mask->base;
    if (mask->meta->ndim == ndim) {
        return DT_OK;
    }
    for (uint32_t i = 0; i < ndim; i++) {
        parts[i] = trace->none;
        if (i < mask->meta->ndim) {
            DT_TRY(whole(trace, &parts[i]));
        }
    }
    DT_TRY(dt_var_tuple(trace, parts, ndim, &key));
    return dt_var_subscript(trace, &mask->base, key, out);
}

DtStatus
dt_np_fill_masked(DtTrace *trace, DtArrayVar *self, DtVar *key, DtVar *value, bool *done)
{
    DtNpOperand operands[2];
    DtArrayVar *part, *mask;
    PyObject *dtype = self->meta->dtype;
    bool ok, same = true;
    *done = false;
    if (!dt_np_dtype_captured(dt_np_descr(dtype))) {
        return DT_OK;
    }
    DT_TRY(dt_np_operand(trace, value, &operands[0], &ok));
    if (!ok || !is_kept(&operands[0], dtype)) {
        return DT_OK;
    }
    DT_TRY(masked_part(trace, self, key, &part, &mask));
    if (mask == NULL || part->meta->ndim < mask->meta->ndim) {
        return DT_OK;
    }
    for (uint32_t i = 0; i < mask->meta->ndim && same; i++) {
        DT_TRY(dt_trace_unify(trace, part->meta->shape[i], mask->meta->shape[i], &same));
    }
    DT_TRY(dt_np_operand(trace, &part->base, &operands[1], &ok));
    DT_TRY(dt_np_result_type(trace, operands, 2, &dtype));
    if (!same || dtype != self->meta->dtype || !is_made_anew(part, &operands[1].operand)) {
        return DT_OK;
    }
    DtVar *choices[3] = {NULL, value, &part->base}, *made;
    DtArgs args = dt_args_of(choices, 3);
    DT_TRY(over_all_axes(trace, mask, part->meta->ndim, &choices[0]));
    DT_TRY(dt_np_fn_where(trace, DT_NP_where, &args, &made));
    *done = true;
    return dt_np_put_result(trace, part, made, NPY_NO_CASTING, "an assignment by a mask");
}
