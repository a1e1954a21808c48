/* Which object stands for the dtype of an array.
 *
 * Everywhere else equal dtypes are one (dt_np_one_dtype).  NumPy goes by the object where it may
 * give an array itself: np.asarray(x, "f8") is x if NumPy's own object for float64 stands in x, and
 * a view of x if an equal one does, as in arrays that were pickled.  Of an input, and of its views,
 * a guard says which.  What operations make has NumPy's own object here, also where NumPy hands on
 * an operand's.
 *
 * Not in here: what is made of it (sequence.c); the guard (arrays.c).
 */
#include "adapters/numpy/internal.h"

#include <string.h>

bool
dt_np_is_usual_dtype(PyObject *dtype)
{
    const PyArray_Descr *descr = dt_np_descr(dtype);
    return dt_np_dtype_captured(descr) && dtype == dt_np_dtype(descr->type_num);
}

/* The array that has the same object: an input, or what an operation has made. */
static const DtNode *
first_with_object(const DtNode *node)
{
    while (node->kind == DT_NODE_CALL && node->naliases > 0 && node->args[0].kind == DT_OPERAND_NODE
           && strcmp(node->target, dt_np_target(DT_NP_nd_view)) != 0) {
        const DtNode *base = node->args[0].u.node;
        if (base->results[node->args[0].result].dtype != node->results[0].dtype) {
            break;
        }
        node = base;
    }
    return node;
}

DtStatus
dt_np_has_usual_dtype(DtTrace *trace, const DtArrayVar *array, bool *usual)
{
    const DtNode *node = first_with_object(array->node);
    if (!dt_np_is_usual_dtype(array->meta->dtype)) { /* swapped bytes: each may have its own */
        return dt_break(trace, DT_BREAK_ARRAY_OP, "an array under a dtype of swapped bytes");
    }
    *usual = node->kind != DT_NODE_INPUT || !(node->results[0].layout & DT_LAYOUT_OWN_DTYPE);
    return node->kind == DT_NODE_INPUT && node->source != NULL
               ? dt_np_guard_dtype_object(trace, node)
               : DT_OK;
}
