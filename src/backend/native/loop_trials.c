/* Trials of NumPy's loops on one element.
 *
 * Loops that choose their code by strides may give one element other bits than many, and NumPy
 * hands single elements over with strides of its own.  Whether they are the bits of a plain call of
 * the loop is tried out on numbers of all sizes.
 */
#include <math.h>
#include <string.h>

#include "backend/native/cells_choose.h"
#include "backend/native/fpflags.h"

enum { MOST_LOOPS = 64, TRIALS = 96, MOST_INPUTS = 2 };

/* How an operand is handed over. */
enum { NUMBER, ROW, MATRIX };

/* The ways that two operands can meet; of one operand the first column counts. */
static const uint8_t as_numbers[][MOST_INPUTS] = {{NUMBER, NUMBER}};
static const uint8_t as_arrays[][MOST_INPUTS] = {{ROW, ROW},    {MATRIX, MATRIX}, {ROW, NUMBER},
                                                 {NUMBER, ROW}, {ROW, MATRIX},    {MATRIX, NUMBER}};

typedef struct Trial {
    PyObject *ufunc;
    const DtLoop *loop;
    uint32_t nin;
    uint64_t state; /* of the numbers */
} Trial;

static double
draw(Trial *trial, int number)
{
    trial->state ^= trial->state << 13;
    trial->state ^= trial->state >> 7;
    trial->state ^= trial->state << 17;
    /* Of all sizes, and within the domain of inverse functions as often as not. */
    return ldexp((double)(trial->state >> 11), -53 + (number & 1 ? 0 : number / 8));
}

static PyObject *
operand(const DtCell *cell, int type_num, uint8_t form)
{
    PyArray_Descr *descr = PyArray_DescrFromType(type_num);
    npy_intp shape[2] = {1, 1};
    if (form == NUMBER) {
        PyObject *number = PyArray_Scalar((void *)cell, descr, NULL);
        Py_DECREF(descr);
        return number;
    }
    PyObject *array =
        PyArray_NewFromDescr(&PyArray_Type, descr, (int)form, shape, NULL, NULL, 0, NULL);
    if (array != NULL) {
        memcpy(PyArray_BYTES((PyArrayObject *)array), cell,
               (size_t)PyArray_ITEMSIZE((PyArrayObject *)array));
    }
    return array;
}

/* The bits that NumPy gives, compared with the loop's. */
static bool
compare(const Trial *trial, DtCell *cells, const uint8_t *forms)
{
    const DtLoop *loop = trial->loop;
    PyObject *args[MOST_INPUTS] = {NULL}, *result = NULL;
    npy_intp one = 1, strides[DT_LOOP_MAX_ARGS] = {0};
    char *data[DT_LOOP_MAX_ARGS] = {NULL};
    DtCell theirs = {.raw = 0};
    bool same = true;
    for (uint32_t i = 0; i < trial->nin; i++) {
        args[i] = operand(&cells[i], loop->types[i], forms[i]);
        same = same && args[i] != NULL;
        data[i] = (char *)&cells[i];
        strides[i] = forms[i] == NUMBER ? 0 : loop->sizes[i];
    }
    cells[trial->nin].raw = 0;
    data[trial->nin] = (char *)&cells[trial->nin];
    strides[trial->nin] = loop->sizes[trial->nin];
    result = same ? PyObject_Vectorcall(trial->ufunc, args, trial->nin, NULL) : NULL;
    if (result != NULL && PyArray_CheckExact(result) && PyArray_NDIM((PyArrayObject *)result) > 0) {
        PyArrayObject *array = (PyArrayObject *)result;
        PyObject *item = PyArray_Scalar(PyArray_DATA(array), PyArray_DESCR(array), result);
        Py_SETREF(result, item);
    }
    if (result == NULL) {
        PyErr_Clear(); /* no memory, or no such type: nothing is known */
    }
    same = result != NULL && dt_scalar_read(result, loop->types[trial->nin], &theirs)
           && loop->call(loop->context, data, &one, strides, loop->auxdata) >= 0
           && theirs.raw == cells[trial->nin].raw;
    Py_XDECREF(result);
    Py_XDECREF(args[0]);
    Py_XDECREF(args[1]);
    return same;
}

static bool
gives_same(Trial *trial, const uint8_t (*forms)[MOST_INPUTS], size_t nforms)
{
    for (int number = 0; number < TRIALS; number++) {
        DtCell cells[MOST_INPUTS + 1] = {{.raw = 0}};
        for (uint32_t i = 0; i < trial->nin; i++) {
            double value = draw(trial, number);
            switch (dt_cell_type_of_num(trial->loop->types[i])) {
            case DT_CELL_DOUBLE:
                cells[i].d = value;
                break;
            case DT_CELL_FLOAT:
                cells[i].f = (float)value;
                break;
            default:
                return false;
            }
        }
        if (!compare(trial, cells, forms[(size_t)number % nforms])) {
            return false;
        }
    }
    return true;
}

DtStatus
dt_loop_try(PyObject *ufunc, const DtLoop *loop, DtTried form, bool *same)
{
    static struct {
        const DtLoop *loop;
        DtTried form;
        bool same;
    } known[MOST_LOOPS];
    static uint32_t nknown;
    for (uint32_t i = 0; i < nknown; i++) {
        if (known[i].loop == loop && known[i].form == form) {
            *same = known[i].same;
            return DT_OK;
        }
    }
    *same = false;
    Trial trial = {ufunc, loop, (uint32_t)loop->nargs - 1, 88172645463325252u};
    if (nknown == MOST_LOOPS || trial.nin > MOST_INPUTS) {
        return DT_OK;
    }
    PyObject *token; /* no error of a trial is reported, or raised */
    if (dt_errstate_raise(DT_REGION_IGNORES_ALL, &token) < 0) {
        return DT_ERROR;
    }
    bool found = form == DT_TRIED_NUMBERS
                     ? gives_same(&trial, as_numbers, Py_ARRAY_LENGTH(as_numbers))
                     : gives_same(&trial, as_arrays, Py_ARRAY_LENGTH(as_arrays));
    dt_fpflags_clear();
    if (token != NULL && dt_errstate_restore(token) < 0) {
        return DT_ERROR;
    }
    known[nknown].loop = loop;
    known[nknown].form = form;
    known[nknown++].same = found;
    *same = found;
    return DT_OK;
}
