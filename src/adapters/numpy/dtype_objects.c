/* Which object stands for the dtype of an array.
 *
 * Everywhere else equal dtypes are one (dt_np_one_dtype).  NumPy goes by the object where it may
 * give an array itself: np.asarray(x, "f8") is x if NumPy's own object for float64 stands in x, and
 * a view of x if an equal one does, as in arrays that were pickled.
 *
 *   an input ──► a guard says which       a view, a copy, a reduction ──► the one of its array
 *   of a ufunc ──► resolve_dtypes() of the objects of the operands       any other ──► NumPy's own
 *
 * Not in here: what is made of it (sequence.c); the guard (arrays.c).
 */
#include "adapters/numpy/internal.h"

#include <string.h>

#include "variables/kinds.h"

enum { MOST_VISITED = 256 }; /* after so many nodes: NumPy's own */

typedef struct Place {
    const DtNode *node;
    uint32_t result;
} Place;

bool
dt_np_is_usual_dtype(PyObject *dtype)
{
    const PyArray_Descr *descr = dt_np_descr(dtype);
    return dt_np_dtype_captured(descr) && dtype == dt_np_dtype(descr->type_num);
}

static PyObject *
dtype_of(Place place)
{
    return place.node->results[place.result].dtype;
}

static int
type_of(Place place)
{
    return dt_np_descr(dtype_of(place))->type_num;
}

/* Does NumPy give the result the dtype object of the first operand?  In any case only where both
 * are of one type. */
static bool
hands_on(const DtNode *node)
{
    static const char *const makers[] = {
        "ndarray.copy",  "numpy.copy",  "ndarray.flatten", "numpy.take",      "operator.getitem",
        "numpy.sort",    "numpy.roll",  "numpy.repeat",    "numpy.partition", "numpy.array",
        "numpy.cumprod", "numpy.tile",  "numpy.cumsum",    "numpy.insert",    "numpy.delete",
        "numpy.pad",     "numpy.unique"};
    if (strcmp(node->target, dt_np_target(DT_NP_nd_view)) == 0) {
        return node->nargs == 1; /* not where it was asked for another one */
    }
    for (size_t i = 0; i < Py_ARRAY_LENGTH(makers); i++) {
        if (strcmp(node->target, makers[i]) == 0) {
            return true;
        }
    }
    size_t length = strlen(node->target);
    bool reduction = length > 7 && strcmp(node->target + length - 7, ".reduce") == 0;
    return reduction || node->naliases > 0;
}

/* What has handed its dtype object on to this array, as views and copies do. */
static Place
origin_of(Place place)
{
    while (place.node->kind == DT_NODE_CALL && place.node->nargs > 0
           && place.node->args[0].kind == DT_OPERAND_NODE) {
        Place base = {place.node->args[0].u.node, place.node->args[0].result};
        if (!hands_on(place.node) || type_of(base) != type_of(place)) {
            break;
        }
        place = base;
    }
    return place;
}

/* Swapped bytes have no object of NumPy's own: any one will do. */
static DtStatus
of_input(DtTrace *trace, const DtNode *node, PyObject **out)
{
    const DtMeta *meta = &node->results[0];
    *out = meta->dtype;
    if (node->source == NULL || !PyType_IsSubtype(meta->type, &PyArray_Type)) {
        return DT_OK;
    }
    if (dt_np_is_usual_dtype(meta->dtype)) {
        DT_TRY(dt_np_guard_dtype_object(trace, node));
        if (meta->layout & DT_LAYOUT_OWN_DTYPE) {
            PyArray_Descr *own = PyArray_DescrNew(dt_np_descr(meta->dtype));
            *out = dt_trace_keep_take(trace, (PyObject *)own);
        }
    }
    return *out != NULL ? DT_OK : DT_ERROR;
}

/* What resolve_dtypes() takes for a number; NULL: it is not known. */
static PyObject *
of_number(const DtOperand *operand)
{
    if (operand->kind == DT_OPERAND_SYM && operand->u.sym->type != DT_SYM_BOOL) {
        return (PyObject *)(operand->u.sym->type == DT_SYM_INT ? &PyLong_Type : &PyFloat_Type);
    }
    PyObject *object = operand->kind == DT_OPERAND_CONST ? operand->u.object : NULL;
    bool number = object != NULL
                  && (PyLong_CheckExact(object) || PyFloat_CheckExact(object)
                      || PyComplex_CheckExact(object));
    return number ? (PyObject *)Py_TYPE(object) : NULL;
}

/* Options that say nothing about the dtype of the result. */
static bool
has_plain_options(const DtNode *node)
{
    static const char *const names[] = {"casting", "order", "subok", "where", NULL};
    for (Py_ssize_t i = 0; node->kwnames != NULL && i < PyTuple_GET_SIZE(node->kwnames); i++) {
        if (!dt_kinds_is_among(PyTuple_GET_ITEM(node->kwnames, i), names)) {
            return false;
        }
    }
    return true;
}

static DtStatus object_of(DtTrace *trace, Place place, uint32_t *visited, PyObject **out);

/* *out stays as it is where the call has options or operands that are not known. */
static DtStatus
of_ufunc(DtTrace *trace, Place place, uint32_t *visited, PyObject **out)
{
    const DtNode *node = place.node;
    const PyUFuncObject *ufunc = (const PyUFuncObject *)node->callee;
    Py_ssize_t options = node->kwnames != NULL ? PyTuple_GET_SIZE(node->kwnames) : 0;
    if ((Py_ssize_t)node->nargs != ufunc->nin + options || !has_plain_options(node)) {
        return DT_OK;
    }
    PyObject *dtypes = dt_trace_keep_take(trace, PyTuple_New(ufunc->nargs));
    if (dtypes == NULL) {
        return DT_ERROR;
    }
    for (int i = 0; i < ufunc->nargs; i++) {
        PyObject *dtype = Py_None;
        if (i < ufunc->nin && node->args[i].kind == DT_OPERAND_NODE) {
            Place operand = {node->args[i].u.node, node->args[i].result};
            DT_TRY(object_of(trace, operand, visited, &dtype));
        }
        else if (i < ufunc->nin) {
            dtype = of_number(&node->args[i]);
        }
        if (dtype == NULL) {
            return DT_OK;
        }
        PyTuple_SET_ITEM(dtypes, i, Py_NewRef(dtype));
    }
    PyObject *found = dt_trace_keep_take(
        trace, PyObject_CallMethod(node->callee, "resolve_dtypes", "(O)", dtypes));
    if (found == NULL) {
        return dt_break_on_exception(trace);
    }
    *out = PyTuple_GET_ITEM(found, ufunc->nin + (Py_ssize_t)place.result);
    return DT_OK;
}

static DtStatus
object_of(DtTrace *trace, Place place, uint32_t *visited, PyObject **out)
{
    place = origin_of(place);
    *out = dtype_of(place);
    if (++*visited > MOST_VISITED) {
        return DT_OK;
    }
    if (place.node->kind == DT_NODE_INPUT) {
        return of_input(trace, place.node, out);
    }
    PyObject *callee = place.node->callee;
    bool ufunc = callee != NULL && Py_IS_TYPE(callee, &PyUFunc_Type);
    return ufunc ? of_ufunc(trace, place, visited, out) : DT_OK;
}

DtStatus
dt_np_has_usual_dtype(DtTrace *trace, const DtArrayVar *array, bool *usual)
{
    uint32_t visited = 0;
    PyObject *object;
    if (!dt_np_is_usual_dtype(array->meta->dtype)) { /* swapped bytes: each may have its own */
        return dt_break(trace, DT_BREAK_ARRAY_OP, "an array under a dtype of swapped bytes");
    }
    DT_TRY(object_of(trace, (Place){array->node, array->result}, &visited, &object));
    *usual = object == array->meta->dtype;
    return DT_OK;
}
