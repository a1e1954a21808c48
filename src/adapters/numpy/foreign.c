/* Ufuncs that are not NumPy's own: scipy.special's, Numba's, those of other extensions.
 *
 * One gets a number behind those of ops.def when it is first met, and is traced like NumPy's from
 * there on; graphs call it (python/dyntrace/_foreign.py).  They are kept for the process.
 * Not in here: ufuncs of objects, which run Python code (numpy.frompyfunc), those with core
 * dimensions, with more than three inputs, or with operands of their own making (which write what
 * they read): these are graph breaks.
 */
#include "adapters/numpy/internal.h"

#include <string.h>

#include "compat/import.h"

enum { MOST = 512 };

static struct Foreign {
    PyObject *ufunc;  /* owned */
    PyObject *called; /* the same, raising where it would warn; owned */
    char *target;     /* "ufunc.erf" */
} foreign[MOST];
static int count;

/* Does it compute with numbers, item by item, and write nothing but its results? */
static bool
is_taken(const PyUFuncObject *ufunc)
{
    bool numbers = false;
    for (int i = 0; i < ufunc->nargs; i++) {
        if (ufunc->op_flags != NULL && ufunc->op_flags[i] != 0) {
            return false;
        }
    }
    for (int i = 0; i < ufunc->ntypes; i++) {
        bool objects = memchr(ufunc->types + i * ufunc->nargs, NPY_OBJECT, (size_t)ufunc->nargs);
        numbers = numbers || !objects;
    }
    return numbers && !ufunc->core_enabled && ufunc->nin >= 1 && ufunc->nin <= 3 && ufunc->nout >= 1
           && ufunc->nout <= DT_NP_MAXOUTS;
}

int
dt_np_foreign_op(PyObject *object)
{
    static const char prefix[] = "ufunc.";
    for (int i = 0; i < count; i++) {
        if (foreign[i].ufunc == object) {
            return DT_NP_OP_COUNT + i;
        }
    }
    const PyUFuncObject *ufunc = (const PyUFuncObject *)object;
    if (count == MOST || ufunc->name == NULL || !is_taken(ufunc)) {
        return -1;
    }
    PyObject *raising = dt_import_attr("dyntrace._foreign", "raising");
    PyObject *called = raising != NULL ? PyObject_CallOneArg(raising, object) : NULL;
    size_t size = strlen(ufunc->name) + sizeof(prefix);
    char *target = PyMem_RawMalloc(size);
    Py_XDECREF(raising);
    if (called == NULL || target == NULL) {
        PyMem_RawFree(target);
        Py_XDECREF(called);
        if (!PyErr_Occurred()) {
            PyErr_NoMemory();
        }
        return -2;
    }
    (void)PyOS_snprintf(target, size, "%s%s", prefix, ufunc->name);
    foreign[count] = (struct Foreign){Py_NewRef(object), called, target};
    return DT_NP_OP_COUNT + count++;
}

bool
dt_np_is_foreign(DtNpOp op)
{
    return (int)op >= DT_NP_OP_COUNT;
}

PyObject *
dt_np_foreign_callee(DtNpOp op)
{
    return foreign[(int)op - DT_NP_OP_COUNT].ufunc;
}

const char *
dt_np_foreign_target(DtNpOp op)
{
    return foreign[(int)op - DT_NP_OP_COUNT].target;
}

PyObject *
dt_np_called_ufunc(DtNpOp op)
{
    return dt_np_is_foreign(op) ? foreign[(int)op - DT_NP_OP_COUNT].called : dt_np_callee(op);
}
