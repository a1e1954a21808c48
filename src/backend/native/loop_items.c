/* NumPy's arrays and scalars in loops over numbers (scalar_loops/loop_values.h): float64, int64 and
 * bool, whose items lie where C reads them.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "adapters/numpy/random_bits.h"
#include "backend/native/fpflags.h"
#include "backend/native/loops.h"
#include "backend/native/native.h"
#include "scalar_loops/loop_values.h"

static DtLoopKind
kind_of(int type_num)
{
    return type_num == NPY_DOUBLE  ? DT_LOOP_ITEM_FLOAT
           : type_num == NPY_INT64 ? DT_LOOP_ITEM_INT
           : type_num == NPY_BOOL  ? DT_LOOP_ITEM_BOOL
                                   : DT_LOOP_NOTHING;
}

static bool
describe(PyObject *object, DtLoopArray *array)
{
    PyArrayObject *self = (PyArrayObject *)object;
    if (!PyArray_CheckExact(object)) {
        return false;
    }
    int ndim = PyArray_NDIM(self);
    DtLoopKind item = kind_of(PyArray_TYPE(self));
    if (ndim < 1 || ndim > DT_LOOP_MOST_AXES || item == DT_LOOP_NOTHING
        || !PyArray_ISBEHAVED_RO(self) || dt_np_warns_on_write(self)) {
        return false;
    }
    array->data = PyArray_BYTES(self);
    array->item = (uint8_t)item;
    array->ndim = (uint8_t)ndim;
    array->writable = PyArray_ISWRITEABLE(self);
    for (int i = 0; i < ndim; i++) {
        array->sizes[i] = PyArray_DIM(self, i);
        array->strides[i] = PyArray_STRIDE(self, i);
    }
    return true;
}

static DtLoopKind
read_scalar(PyObject *object, DtLoopRegister *value)
{
    PyTypeObject *type = Py_TYPE(object);
    if (type == &PyDoubleArrType_Type) {
        value->d = PyArrayScalar_VAL(object, Double);
        return DT_LOOP_ITEM_FLOAT;
    }
    if (type == &PyInt64ArrType_Type) {
        value->i = PyArrayScalar_VAL(object, Int64);
        return DT_LOOP_ITEM_INT;
    }
    if (type == &PyBoolArrType_Type) {
        value->i = object == PyArrayScalar_True;
        return DT_LOOP_ITEM_BOOL;
    }
    return DT_LOOP_NOTHING;
}

static PyObject *
make_scalar(DtLoopKind kind, DtLoopRegister value)
{
    PyObject *scalar;
    if (kind == DT_LOOP_ITEM_BOOL) {
        return Py_NewRef(value.i ? PyArrayScalar_True : PyArrayScalar_False);
    }
    if (kind == DT_LOOP_ITEM_FLOAT) {
        scalar = PyArrayScalar_New(Double);
        if (scalar != NULL) {
            PyArrayScalar_ASSIGN(scalar, Double, value.d);
        }
        return scalar;
    }
    scalar = PyArrayScalar_New(Int64);
    if (scalar != NULL) {
        PyArrayScalar_ASSIGN(scalar, Int64, value.i);
    }
    return scalar;
}

static bool
reports_as_expected(void)
{
    unsigned watched;
    if (dt_errstate_watched(0, &watched) < 0) {
        PyErr_Clear(); /* what hindered asking hinders the operation, which reports it */
        return false;
    }
    return !(watched & DT_FP_UNDER);
}

/* ---- Ufuncs of doubles ----------------------------------------------------------------------- */

static bool
run_loop(const DtLoopCall *call, double a, double b, double *result)
{
    const DtLoop *loop = call->data;
    npy_intp one = 1, strides[DT_LOOP_MAX_ARGS] = {0};
    char *args[DT_LOOP_MAX_ARGS] = {(char *)&a, (char *)&b};
    args[loop->nargs - 1] = (char *)result;
    strides[loop->nargs - 1] = sizeof(*result);
    dt_fpflags_clear();
    if (loop->call(loop->context, args, &one, strides, loop->auxdata) < 0) {
        PyErr_Clear(); /* the frame makes the call again, and reports it */
        return false;
    }
    unsigned flags = loop->no_flags ? 0 : dt_fpflags_read();
    dt_fpflags_clear();
    return !(flags & (DT_FP_INVALID | DT_FP_DIVIDE | DT_FP_OVER));
}

/* Kept for the life of the process, as loops are. */
typedef struct Row {
    DtLoopCall call;
    struct Row *next;
} Row;

static const DtLoopCall *
call_of(const DtLoop *loop)
{
    static Row *rows;
    for (Row *row = rows; row != NULL; row = row->next) {
        if (row->call.data == loop) {
            return &row->call;
        }
    }
    Row *row = malloc(sizeof(*row));
    if (row == NULL) {
        return NULL;
    }
    *row = (Row){{run_loop, loop}, rows};
    rows = row;
    return &row->call;
}

/* A ufunc that gives one number the bits that NumPy gives it, whatever the strides. */
static const DtLoopCall *
find_function(PyObject *callable, int count)
{
    if (!PyObject_TypeCheck(callable, &PyUFunc_Type) || ((PyUFuncObject *)callable)->nin != count
        || ((PyUFuncObject *)callable)->nout != 1) {
        return NULL;
    }
    PyObject *real = (PyObject *)PyArray_DescrFromType(NPY_DOUBLE), *types[] = {real, real};
    const DtLoop *loop = NULL;
    bool same = true;
    DtStatus status = dt_loop_get(callable, types, (uint32_t)count, &loop);
    Py_DECREF(real);
    if (status == DT_OK && loop != NULL && loop->allow >= DT_ALLOW_STRIDED
        && !(loop->row->flags & (DT_UFUNC_POWER | DT_UFUNC_RAISES))) {
        bool doubles = true;
        for (int i = 0; i < loop->nargs; i++) {
            doubles &= loop->types[i] == NPY_DOUBLE;
        }
        if (doubles && loop->allow != DT_ALLOW_ANY) {
            status = dt_loop_try(callable, loop, DT_TRIED_NUMBERS, &same);
        }
        if (status == DT_OK && doubles && same) {
            return call_of(loop);
        }
    }
    PyErr_Clear(); /* MemoryError: it is called plainly */
    return NULL;
}

/* ---- Numbers drawn at random ----------------------------------------------------------------- */

static DtLoopDraw
find_method(PyObject *generator, const char *name, int count)
{
    static const struct {
        const char *name;
        uint8_t least, most, how;
        bool legacy; /* of RandomState alone */
    } rows[] = {
        {"random", 0, 0, DT_LOOP_DRAW_RANDOM, false},
        {"rand", 0, 0, DT_LOOP_DRAW_RANDOM, true},
        {"random_sample", 0, 0, DT_LOOP_DRAW_RANDOM, true},
        {"uniform", 2, 2, DT_LOOP_DRAW_UNIFORM, false},
        {"randint", 1, 2, DT_LOOP_DRAW_INT, true},
    };
    int cls = dt_np_random_bits_class(generator);
    for (size_t i = 0; i < Py_ARRAY_LENGTH(rows) && cls != 0; i++) {
        if (strcmp(rows[i].name, name) == 0 && count >= rows[i].least && count <= rows[i].most
            && (cls == 1 || !rows[i].legacy)) {
            return (DtLoopDraw)rows[i].how;
        }
    }
    return DT_LOOP_DRAW_NONE;
}

static bool
draw(PyObject *generator, DtLoopDraw how, DtLoopRegister a, DtLoopRegister b, DtLoopDrawn *drawn,
     DtLoopRegister *out)
{
    DtRandomBits bits;
    int64_t count = 1;
    uint64_t below;
    double range = how == DT_LOOP_DRAW_UNIFORM ? b.d - a.d : 0, number;
    if ((how == DT_LOOP_DRAW_INT && (__builtin_sub_overflow(b.i, a.i, &count) || count < 1))
        || !isfinite(range) || range < 0 || !dt_np_random_bits(generator, &bits)
        || bits.size > DT_LOOP_MOST_DRAWN) {
        return false;
    }
    drawn->place = bits.place;
    drawn->size = bits.size;
    memcpy(drawn->before, bits.place, bits.size);
    if (how == DT_LOOP_DRAW_INT) {
        bool made = dt_np_random_below(&bits, (uint64_t)count - 1, &below);
        out->i = made ? a.i + (int64_t)below : 0;
        return made;
    }
    if (!dt_np_random_double(&bits, &number)) {
        return false;
    }
    out->d = how == DT_LOOP_DRAW_UNIFORM ? a.d + range * number : number;
    return true;
}

void
dt_native_register_loop_items(void)
{
    static const DtLoopLibrary library = {
        describe, read_scalar, make_scalar, reports_as_expected, find_function, find_method, draw};
    dt_loop_values_set_library(&library);
}
