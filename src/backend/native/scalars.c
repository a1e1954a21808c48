/* The numbers of a fused stage: symbols, Python numbers of the graph, NumPy scalars and arrays of
 * no dimensions, each converted to its loop's type once per call.
 *
 * Python numbers that are constants were converted by the planner (fuse.c, kernels.c).
 */
#include <string.h>

#include "backend/native/cells.h"

/* NumPy's own way asks for a dtype, which takes longer than the arithmetic. */
static inline bool
read_exact(PyObject *object, int type_num, void *cell)
{
#define EXACT(NUMBER, NAME)                                                                        \
    case NPY_##NUMBER:                                                                             \
        if (!Py_IS_TYPE(object, &Py##NAME##ArrType_Type)) {                                        \
            return false;                                                                          \
        }                                                                                          \
        memcpy(cell, &PyArrayScalar_VAL(object, NAME), sizeof(PyArrayScalar_VAL(object, NAME)));   \
        return true;
    switch (type_num) {
        EXACT(DOUBLE, Double)
        EXACT(LONG, Long)
        EXACT(LONGLONG, LongLong)
        EXACT(FLOAT, Float)
        EXACT(INT, Int)
        EXACT(BOOL, Bool)
    default:
        return false;
    }
#undef EXACT
}

bool
dt_scalar_read(PyObject *object, int type_num, void *cell)
{
    if (object == NULL) {
        return false;
    }
    if (read_exact(object, type_num, cell)) {
        return true;
    }
    if (PyArray_CheckExact(object)) {
        PyArrayObject *array = (PyArrayObject *)object;
        if (PyArray_NDIM(array) != 0 || PyArray_TYPE(array) != type_num
            || !PyArray_ISNOTSWAPPED(array)) {
            return false;
        }
        memcpy(cell, PyArray_DATA(array), (size_t)PyArray_ITEMSIZE(array));
        return true;
    }
    if (!PyArray_CheckScalar(object)) {
        return false;
    }
    PyArray_Descr *descr = PyArray_DescrFromScalar(object);
    bool same = descr != NULL && descr->type_num == type_num;
    Py_XDECREF(descr);
    if (same) {
        PyArray_ScalarAsCtype(object, cell);
    }
    return same;
}

/* A number without an object. */
static bool
fill_from_cell(const DtFusedScalar *scalar, const DtCell *from, void *cell)
{
    bool weak = scalar->kind == DT_SCALAR_NUMBER;
    if (weak && scalar->box.type == DT_CELL_DOUBLE) {
        return dt_cast_double(from->d, scalar->type_num, cell);
    }
    if (weak && scalar->box.type == DT_CELL_INT) {
        return dt_cast_int(from->i, scalar->type_num, cell);
    }
    if (weak && scalar->type_num != NPY_BOOL) {
        return dt_cast_int(from->b, scalar->type_num, cell);
    }
    if (weak || scalar->from_type == scalar->type_num) {
        memcpy(cell, from, sizeof(*from));
        return true;
    }
    char *data[2] = {(char *)from, cell};
    npy_intp one = 1, strides[2] = {0, 0};
    dt_cast_get(scalar->from_type, scalar->type_num)(NULL, data, &one, strides, NULL);
    return true;
}

DtFusedRun
dt_scalar_fill(const DtFusedScalar *scalar, const DtNativeRun *run, void *cell)
{
    if (scalar->kind == DT_SCALAR_CONST) {
        memcpy(cell, scalar->cell, sizeof(scalar->cell));
        return DT_FUSED_OK;
    }
    if (scalar->kind == DT_SCALAR_SYM) {
        DtNumber number;
        if (!dt_sym_eval(scalar->sym, run->symbols, &number)) {
            return DT_FUSED_REPLAY;
        }
        bool fits;
        if (scalar->sym->type == DT_SYM_FLOAT) {
            fits = dt_cast_double(number.d, scalar->type_num, cell);
        }
        else if (scalar->type_num == NPY_BOOL) {
            *(npy_bool *)cell = number.i != 0;
            fits = scalar->sym->type == DT_SYM_BOOL;
        }
        else {
            fits = dt_cast_int(number.i, scalar->type_num, cell);
        }
        return fits ? DT_FUSED_OK : DT_FUSED_CALL;
    }
    if (scalar->box.node != NULL && run->values[scalar->box.node->index] == NULL) {
        return fill_from_cell(scalar, &run->cells[scalar->box.cell], cell) ? DT_FUSED_OK
                                                                           : DT_FUSED_CALL;
    }
    if (scalar->kind == DT_SCALAR_NUMBER) {
        PyObject *number = dt_native_value(run, &scalar->value);
        return number != NULL && dt_cast_number(number, scalar->type_num, cell) ? DT_FUSED_OK
                                                                                : DT_FUSED_CALL;
    }
    uint64_t raw[2] = {0, 0};
    bool direct = scalar->from_type == scalar->type_num;
    if (!dt_scalar_read(dt_native_value(run, &scalar->value), scalar->from_type,
                        direct ? cell : raw)) {
        return DT_FUSED_CALL;
    }
    if (!direct) {
        char *data[2] = {(char *)raw, cell};
        npy_intp one = 1, strides[2] = {0, 0};
        dt_cast_get(scalar->from_type, scalar->type_num)(NULL, data, &one, strides, NULL);
    }
    return DT_FUSED_OK;
}
