/* Finds NumPy's inner loops by NumPy's own resolution.
 *
 * `ufunc._resolve_dtypes_and_context` and `_get_strided_loop` answer what a call
 * of the ufunc would run; where a NumPy lacks them, `resolve_dtypes` names the
 * types and the ufunc's legacy table has the function.  Answers are kept for the
 * life of the process: there are few, and executables borrow them.
 */
#include "backend/native/loops.h"

#include <stdlib.h>

#include "compat/errors.h"

#define NONE DT_ALLOW_NONE
#define CONTIG DT_ALLOW_CONTIG
#define STRIDED DT_ALLOW_STRIDED
#define ANY DT_ALLOW_ANY
#define KEEPS DT_UFUNC_KEEPS
#define RAISES DT_UFUNC_RAISES
#define POWER DT_UFUNC_POWER
#define SIGNS DT_UFUNC_SIGNS
#define EVEN DT_UFUNC_EVEN
#define OPPOSITE DT_UFUNC_OPPOSITE
static const DtUfuncRow ufunc_rows[] = {
#define UFUNC(NAME, REAL, COMPLEX, FLAGS) {#NAME, REAL, COMPLEX, FLAGS},
#include "backend/native/ufuncs.def"
#undef UFUNC
};
#undef NONE
#undef CONTIG
#undef STRIDED
#undef ANY
#undef KEEPS
#undef RAISES
#undef POWER
#undef SIGNS
#undef EVEN
#undef OPPOSITE
enum { NROWS = sizeof(ufunc_rows) / sizeof(ufunc_rows[0]) };

/* What the capsule of _get_strided_loop holds; NumPy documents it in that method's docstring. */
typedef struct CallInfo {
    PyArrayMethod_StridedLoop *strided_loop;
    PyArrayMethod_Context *context;
    NpyAuxData *auxdata;
    npy_bool requires_pyapi;
    npy_bool no_floatingpoint_errors;
} CallInfo;
static const char call_info_name[] = "numpy_1.24_ufunc_call_info";

/* A function of the legacy table behind the modern signature. */
typedef struct LegacyLoop {
    NpyAuxData base; /* must be first: it is what the loop is handed */
    PyUFuncGenericFunction function;
    void *data;
} LegacyLoop;

static PyObject *rows_by_ufunc; /* ufunc -> index of its row */
static PyObject *loops;         /* (ufunc, types...) -> capsule of DtLoop, or None */

static int
fill_rows(void)
{
    PyObject *umath = PyImport_ImportModule("numpy._core.umath");
    PyObject *rows = PyDict_New();
    for (int i = 0; umath != NULL && rows != NULL && i < NROWS; i++) {
        PyObject *ufunc = PyObject_GetAttrString(umath, ufunc_rows[i].name);
        if (ufunc == NULL) {
            /* Not in this NumPy: AttributeError is the answer to the question. */
            PyErr_Clear();
            continue;
        }
        PyObject *index = PyLong_FromLong(i);
        if (index == NULL || PyDict_SetItem(rows, ufunc, index) < 0) {
            Py_CLEAR(rows);
        }
        Py_XDECREF(index);
        Py_DECREF(ufunc);
    }
    if (umath == NULL) {
        Py_CLEAR(rows);
    }
    Py_XDECREF(umath);
    rows_by_ufunc = rows;
    return rows == NULL ? -1 : 0;
}

static int
legacy_call(PyArrayMethod_Context *Py_UNUSED(context), char *const *data,
            const npy_intp *dimensions, const npy_intp *strides, NpyAuxData *auxdata)
{
    const LegacyLoop *legacy = (const LegacyLoop *)auxdata;
    legacy->function((char **)data, dimensions, strides, legacy->data);
    return 0;
}

bool
dt_loop_takes(const DtLoop *loop, uint32_t i, int type_num)
{
    return type_num == loop->types[i] || PyArray_EquivTypenums(type_num, loop->types[i]);
}

bool
dt_loop_knows_type(int type_num)
{
    return type_num == NPY_BOOL || (type_num >= NPY_BYTE && type_num <= NPY_DOUBLE)
           || type_num == NPY_CFLOAT || type_num == NPY_CDOUBLE;
}

/* A tuple of `types` and one None for the output. */
static PyObject *
types_tuple(PyObject *first, PyObject *const *types, uint32_t nin)
{
    Py_ssize_t offset = first != NULL;
    PyObject *tuple = PyTuple_New(nin + 1);
    if (tuple == NULL) {
        return NULL;
    }
    if (first != NULL) {
        PyTuple_SET_ITEM(tuple, 0, Py_NewRef(first));
    }
    for (uint32_t i = 0; i < nin; i++) {
        PyObject *item = types[i];
        int num = PyArray_DescrCheck(item) ? ((PyArray_Descr *)item)->type_num : -1;
        /* As a key, two names of one integer are two. */
        bool named = first != NULL && (num == NPY_LONGLONG || num == NPY_ULONGLONG);
        item = named ? Py_BuildValue("(Oi)", item, num) : Py_NewRef(item);
        if (item == NULL) {
            Py_DECREF(tuple);
            return NULL;
        }
        PyTuple_SET_ITEM(tuple, offset + i, item);
    }
    if (first == NULL) {
        PyTuple_SET_ITEM(tuple, nin, Py_NewRef(Py_None));
    }
    return tuple;
}

/* Takes the loop's types from a tuple of dtypes; false if one is nothing for fused code. */
static bool
take_types(DtLoop *loop, PyObject *dtypes)
{
    if (!PyTuple_Check(dtypes) || PyTuple_GET_SIZE(dtypes) != loop->nargs) {
        return false;
    }
    bool is_complex = false;
    for (int i = 0; i < loop->nargs; i++) {
        PyObject *item = PyTuple_GET_ITEM(dtypes, i);
        if (!PyArray_DescrCheck(item)) {
            return false;
        }
        PyArray_Descr *descr = (PyArray_Descr *)item;
        if (!dt_loop_knows_type(descr->type_num) || !PyArray_ISNBO(descr->byteorder)) {
            return false;
        }
        loop->types[i] = descr->type_num;
        loop->sizes[i] = (uint8_t)PyDataType_ELSIZE(descr);
        loop->out = descr;
        is_complex = is_complex || PyTypeNum_ISCOMPLEX(descr->type_num);
    }
    if (loop->row == NULL) {
        return true; /* with core dimensions: nothing is laid out anew */
    }
    loop->allow = is_complex ? loop->row->complex_kind : loop->row->real;
    return loop->allow != DT_ALLOW_NONE;
}

/* By NumPy's resolution; `keep` gets what keeps the loop alive.  1 found, 0 not, -1 error or not
 * offered. */
static int
resolve_modern(DtLoop *loop, PyObject *ufunc, PyObject *types, PyObject **keep)
{
    int found = -1;
    PyObject *filled = NULL;
    PyObject *pair = PyObject_CallMethod(ufunc, "_resolve_dtypes_and_context", "(O)", types);
    if (pair == NULL || !PyTuple_Check(pair) || PyTuple_GET_SIZE(pair) != 2) {
        goto done;
    }
    PyObject *capsule = PyTuple_GET_ITEM(pair, 1);
    filled = PyObject_CallMethod(ufunc, "_get_strided_loop", "(O)", capsule);
    if (filled == NULL) {
        goto done;
    }
    const CallInfo *info = PyCapsule_GetPointer(capsule, call_info_name);
    if (info == NULL) {
        goto done;
    }
    loop->call = info->strided_loop;
    loop->context = info->context;
    loop->auxdata = info->auxdata;
    loop->no_flags = info->no_floatingpoint_errors;
    found = !info->requires_pyapi && take_types(loop, PyTuple_GET_ITEM(pair, 0));
    if (found) {
        *keep = Py_NewRef(pair);
    }
done:
    Py_XDECREF(filled);
    Py_XDECREF(pair);
    return found;
}

/* By the legacy table. */
static int
resolve_legacy(DtLoop *loop, PyObject *ufunc, PyObject *types, PyObject **keep)
{
    const PyUFuncObject *table = (const PyUFuncObject *)ufunc;
    PyObject *dtypes = PyObject_CallMethod(ufunc, "resolve_dtypes", "(O)", types);
    if (dtypes == NULL) {
        return -1;
    }
    if (!take_types(loop, dtypes)) {
        Py_DECREF(dtypes);
        return 0;
    }
    for (int i = 0; i < table->ntypes; i++) {
        bool same = true;
        for (int j = 0; j < loop->nargs && same; j++) {
            same = table->types[i * table->nargs + j] == loop->types[j];
        }
        if (!same) {
            continue;
        }
        LegacyLoop *legacy = calloc(1, sizeof(LegacyLoop));
        if (legacy == NULL) {
            Py_DECREF(dtypes);
            PyErr_NoMemory();
            return -1;
        }
        legacy->function = table->functions[i];
        legacy->data = table->data == NULL ? NULL : (void *)table->data[i];
        loop->call = legacy_call;
        loop->auxdata = &legacy->base;
        *keep = dtypes;
        return 1;
    }
    Py_DECREF(dtypes);
    return 0;
}

/* Makes the loop; *out = NULL if there is none. */
static DtStatus
make_loop(PyObject *ufunc, const DtUfuncRow *row, PyObject *const *types, uint32_t nin,
          DtLoop **out)
{
    PyObject *keep = NULL;
    DtLoop *loop = calloc(1, sizeof(DtLoop));
    PyObject *tuple = types_tuple(NULL, types, nin);
    if (loop == NULL || tuple == NULL) {
        free(loop);
        Py_XDECREF(tuple);
        return dt_no_memory();
    }
    loop->row = row;
    loop->nargs = (uint8_t)(nin + 1);
    int found = resolve_modern(loop, ufunc, tuple, &keep);
    if (found < 0 && PyErr_ExceptionMatches(PyExc_AttributeError)) {
        /* This NumPy does not offer the private methods. */
        PyErr_Clear();
        found = resolve_legacy(loop, ufunc, tuple, &keep);
    }
    Py_DECREF(tuple);
    if (found <= 0) {
        free(loop);
        if (found < 0 && PyErr_Occurred() && PyErr_ExceptionMatches(PyExc_MemoryError)) {
            return DT_ERROR;
        }
        /* "No loop for these types": the call itself will say so, from the user's line. */
        PyErr_Clear();
        *out = NULL;
        return DT_OK;
    }
    if (row != NULL) {
        loop->quads = dt_quads_find(row->name, loop->types, loop->nargs);
    }
    /* `keep` is never released: the loop borrows from it and lives as long as the process. */
    *out = loop;
    return DT_OK;
}

DtStatus
dt_loop_get(PyObject *ufunc, PyObject *const *types, uint32_t nin, const DtLoop **out)
{
    *out = NULL;
    if (!PyObject_TypeCheck(ufunc, &PyUFunc_Type) || ((PyUFuncObject *)ufunc)->nout != 1
        || ((PyUFuncObject *)ufunc)->nin != (int)nin || nin + 1 > DT_LOOP_MAX_ARGS) {
        return DT_OK;
    }
    if ((rows_by_ufunc == NULL && fill_rows() < 0)
        || (loops == NULL && (loops = PyDict_New()) == NULL)) {
        return DT_ERROR;
    }
    PyObject *index = PyDict_GetItemWithError(rows_by_ufunc, ufunc);
    if (index == NULL) {
        return PyErr_Occurred() ? DT_ERROR : DT_OK;
    }
    PyObject *key = types_tuple(ufunc, types, nin);
    if (key == NULL) {
        return DT_ERROR;
    }
    DtStatus status = DT_ERROR;
    PyObject *capsule = NULL;
    PyObject *known = PyDict_GetItemWithError(loops, key);
    if (known != NULL) {
        *out = known == Py_None ? NULL : PyCapsule_GetPointer(known, NULL);
        status = DT_OK;
        goto done;
    }
    if (PyErr_Occurred()) {
        goto done;
    }
    DtLoop *loop;
    status = make_loop(ufunc, &ufunc_rows[PyLong_AsLong(index)], types, nin, &loop);
    if (status != DT_OK) {
        goto done;
    }
    capsule = loop == NULL ? Py_NewRef(Py_None) : PyCapsule_New(loop, NULL, NULL);
    if (capsule == NULL || PyDict_SetItem(loops, key, capsule) < 0) {
        free(loop);
        status = DT_ERROR;
        goto done;
    }
    *out = loop;
done:
    Py_XDECREF(capsule);
    Py_DECREF(key);
    return status;
}

DtStatus
dt_loop_get_core(const char *module, const char *name, PyArray_Descr *descr, uint32_t nin,
                 const DtLoop **out)
{
    static PyObject *known; /* (module, name, type, nin) -> capsule or None */
    PyObject *types[DT_LOOP_MAX_ARGS] = {(PyObject *)descr, (PyObject *)descr};
    PyObject *from = NULL, *ufunc = NULL, *capsule = NULL;
    DtLoop *loop = NULL;
    DtStatus status = DT_ERROR;
    *out = NULL;
    PyObject *key = Py_BuildValue("(ssiI)", module, name, descr->type_num, nin);
    if (key == NULL || (known == NULL && (known = PyDict_New()) == NULL)) {
        goto done;
    }
    capsule = Py_XNewRef(PyDict_GetItemWithError(known, key));
    if (capsule != NULL) {
        *out = capsule == Py_None ? NULL : PyCapsule_GetPointer(capsule, NULL);
        status = DT_OK;
        goto done;
    }
    from = PyErr_Occurred() ? NULL : PyImport_ImportModule(module);
    ufunc = from == NULL ? NULL : PyObject_GetAttrString(from, name);
    if (ufunc == NULL && PyErr_ExceptionMatches(PyExc_AttributeError)) {
        PyErr_Clear(); /* not in this NumPy: called */
    }
    if (PyErr_Occurred()) {
        goto done;
    }
    if (ufunc != NULL && PyObject_TypeCheck(ufunc, &PyUFunc_Type)
        && ((PyUFuncObject *)ufunc)->core_enabled && ((PyUFuncObject *)ufunc)->nin == (int)nin
        && ((PyUFuncObject *)ufunc)->nout == 1) {
        status = make_loop(ufunc, NULL, types, nin, &loop);
        if (status != DT_OK) {
            goto done;
        }
    }
    status = DT_ERROR;
    capsule = loop == NULL ? Py_NewRef(Py_None) : PyCapsule_New(loop, NULL, NULL);
    if (capsule == NULL || PyDict_SetItem(known, key, capsule) < 0) {
        free(loop);
        goto done;
    }
    *out = loop;
    status = DT_OK;
done:
    Py_XDECREF(capsule);
    Py_XDECREF(ufunc);
    Py_XDECREF(from);
    Py_XDECREF(key);
    return status;
}
