/* sum(), min(), max(), any() and all() of Python with an array: one node, however long it is.
 *
 *   max(a)  ──► builtins.max(a), a NumPy scalar: the first of the greatest, NaN being greater than
 *               nothing
 *   any(a)  ──► bool(numpy.logical_or.reduce(a))
 *
 * sum() adds one item after the other, which numpy.sum() does not.
 * Not in here: other arguments, arrays of more dimensions or of other items; these are iterated.
 */
#include "adapters/numbers.h"
#include "adapters/numpy/internal.h"

#include <string.h>

/* What sum() makes of items of that type and the 0 that it starts with. */
static int
type_of_sum(int type_num)
{
    return type_num == NPY_BOOL ? NPY_LONG : type_num;
}

static int
type_of_item(int type_num)
{
    return type_num;
}

static const struct {
    const char *name, *target;
    int (*type)(int type_num); /* of the result; NULL: a ufunc's reduction, as a bool */
    DtNpOp op;
} rows[] = {
    {"sum", "builtins.sum", type_of_sum, 0},  {"min", "builtins.min", type_of_item, 0},
    {"max", "builtins.max", type_of_item, 0}, {"any", NULL, NULL, DT_NP_logical_or},
    {"all", NULL, NULL, DT_NP_logical_and},
};

static bool
is_plain_row(const DtArrayVar *array)
{
    const DtMeta *meta = array->meta;
    int type_num = meta->dtype != NULL ? dt_np_descr(meta->dtype)->type_num : NPY_VOID;
    return meta->type == &PyArray_Type && meta->ndim == 1 && !dt_np_size_is(meta->shape[0], 0)
           && (type_num == NPY_BOOL || type_num == NPY_LONG || type_num == NPY_FLOAT
               || type_num == NPY_DOUBLE);
}

DtStatus
dt_np_fold(DtTrace *trace, PyObject *builtin, DtArrayVar *array, DtVar **out)
{
    size_t i = 0;
    const char *name = ((PyCFunctionObject *)builtin)->m_ml->ml_name;
    while (i < Py_ARRAY_LENGTH(rows) && strcmp(rows[i].name, name) != 0) {
        i++;
    }
    *out = NULL;
    if (i == Py_ARRAY_LENGTH(rows) || !is_plain_row(array)) {
        return DT_OK;
    }
    if (dt_trace_depends_on_data(trace, array->meta->shape[0])) {
        DT_TRY(dt_np_expect_more_items(trace, array, 1, 0, &array));
    }
    DtNpOperand operand;
    if (rows[i].type == NULL) {
        DtVar *truth;
        DT_TRY(dt_np_reduce(trace, rows[i].op, array, 1, true, NULL, false, &truth));
        DT_TRY(dt_np_need_operand(trace, truth, name, &operand));
        return dt_number_emit_named(trace, "builtins", "bool", "builtins.bool", &operand.operand, 1,
                                    'b', out);
    }
    DT_TRY(dt_np_need_operand(trace, &array->base, name, &operand));
    PyObject *dtype = dt_np_dtype(rows[i].type(dt_np_descr(array->meta->dtype)->type_num));
    DtMeta *meta = dtype != NULL ? dt_np_meta(trace, dtype, 0) : NULL;
    if (meta == NULL) {
        return DT_ERROR;
    }
    dt_np_meta_unwrap(meta);
    return dt_number_emit_meta(trace, rows[i].target, builtin, &operand.operand, 1, meta, out);
}
