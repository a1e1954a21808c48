/* NumPy's function tables, and the adapter as the core sees it.
 *
 * Importing costs what `import numpy` costs and nothing more: every callable of
 * NumPy that the adapter needs is looked up at its first use (table.c).
 * Not in here: any decision about arrays.
 */
#define DT_NUMPY_API_HERE
#include "adapters/numpy/api.h"

#include "adapters/numpy/internal.h"
#include "adapters/numpy/random.h"
#include "compat/dying.h"

const DtAdapter dt_np_adapter = {
    .name = "numpy",
    .is_array = dt_np_is_array,
    .owns_callable = dt_np_owns_callable,
    .build = dt_np_build,
    .follows = dt_np_follows,
    .call = dt_np_call,
    .binary = dt_np_binary,
    .compare = dt_np_compare,
    .unary = dt_np_unary,
    .truth = dt_np_truth,
    .length = dt_np_length,
    .subscript = dt_np_subscript,
    .ass_subscript = dt_np_ass_subscript,
    .getattr = dt_np_getattr,
    .call_method = dt_np_call_method,
    .iter = dt_np_iter,
    .setattr = dt_np_setattr,
    .contains = dt_np_contains,
    .fold = dt_np_fold,
    .text = dt_number_text,
    .is_fixed = dt_np_is_fixed,
    .number_kind = dt_np_number_kind,
    .number = dt_number_call,
    .expect = dt_number_expect,
    .check = dt_np_check,
    .tell_apart = dt_np_tell_apart,
    .print_guard = dt_np_print_guard,
    .print_found = dt_np_print_found,
    .of_items = dt_np_of_items,
    .dim = dt_np_dim,
    .extent = dt_np_adapter_extent,
    .spec_to_object = dt_np_spec_to_object,
    .spec_from_object = dt_np_spec_from_object,
    .check_state = dt_np_check_state,
    .save = dt_np_save,
    .restore = dt_np_restore,
    .can_write = dt_np_can_write,
};

/* An array holds the owner of its memory.  Objects among its items are not looked at. */
static int
traverse_array(PyObject *object, visitproc visit, void *arg)
{
    PyArrayObject *array = (PyArrayObject *)object;
    if (PyDataType_REFCHK(PyArray_DESCR(array))) {
        return 1;
    }
    return PyArray_BASE(array) != NULL ? visit(PyArray_BASE(array), arg) : 0;
}

int
dt_numpy_import(void)
{
    return PyArray_ImportNumPyAPI() < 0 || PyUFunc_ImportUFuncAPI() < 0 ? -1 : 0;
}

int
dt_numpy_init(void)
{
    if (dt_numpy_import() < 0) {
        return -1;
    }
    if (dt_adapter_by_name(dt_np_adapter.name) != NULL) {
        return 0; /* importing NumPy has led here before */
    }
    dt_np_arrays_init();
    if (dt_dying_register(&PyArray_Type, traverse_array) < 0) {
        PyErr_SetString(PyExc_SystemError, "too many kinds of arrays");
        return -1;
    }
    return dt_adapter_register(&dt_np_adapter) < 0 || dt_adapter_register(&dt_np_called_adapter) < 0
               ? -1
               : dt_adapter_register(&dt_np_random_adapter);
}
