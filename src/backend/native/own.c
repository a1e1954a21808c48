/* Loops of our own, for array functions that are no ufuncs: where() and astype().
 *
 * Both only move or convert elements, so their bits don't depend on how they are run.
 */
#include <stdint.h>

#include "backend/native/loops.h"
#include "backend/native/vector.h"

/* Neither touches the flags of earlier loops; a narrowing cast raises its own, as NumPy's does.
 * astype() lays out its result by another rule than ufuncs when an operand has zero or negative
 * strides. */
static const DtUfuncRow where_row = {"where", DT_ALLOW_ANY, DT_ALLOW_ANY,
                                     DT_UFUNC_KEEPS | DT_UFUNC_MOVES};
static const DtUfuncRow astype_row = {"astype", DT_ALLOW_STRIDED, DT_ALLOW_STRIDED, DT_UFUNC_KEEPS};

typedef struct Pair {
    uint64_t a, b;
} Pair;

/* X and Y are the elements, or the one of an operand of stride 0. */
#define WHERE_BODY(X, Y)                                                                           \
    for (npy_intp i = 0; i < n; i++) {                                                             \
        T_ a = X, b = Y;                                                                           \
        out[i] = condition[i] ? a : b;                                                             \
    }

/* Strides are the element's size or 0; the common cases get loops that a compiler can vectorise.
 * The result may take the place of x or y. */
#define WHERE_LOOP(SIZE, T)                                                                        \
    DT_VECTOR static int where_##SIZE(PyArrayMethod_Context *Py_UNUSED(context),                   \
                                      char *const *data, const npy_intp *dimensions,               \
                                      const npy_intp *strides, NpyAuxData *Py_UNUSED(auxdata))     \
    {                                                                                              \
        typedef T T_;                                                                              \
        const npy_bool *condition = (const npy_bool *)data[0];                                     \
        const T *x = (const T *)data[1], *y = (const T *)data[2];                                  \
        T *out = (T *)data[3];                                                                     \
        npy_intp n = dimensions[0];                                                                \
        npy_intp dc = strides[0] != 0, dx = strides[1] != 0, dy = strides[2] != 0;                 \
        T x0 = x[0], y0 = y[0];                                                                    \
        if (!dc) {                                                                                 \
            bool first = condition[0];                                                             \
            for (npy_intp i = 0; i < n; i++) {                                                     \
                out[i] = first ? x[i * dx] : y[i * dy];                                            \
            }                                                                                      \
        }                                                                                          \
        else if (dx && dy) {                                                                       \
            WHERE_BODY(x[i], y[i])                                                                 \
        }                                                                                          \
        else if (dx) {                                                                             \
            WHERE_BODY(x[i], y0)                                                                   \
        }                                                                                          \
        else if (dy) {                                                                             \
            WHERE_BODY(x0, y[i])                                                                   \
        }                                                                                          \
        else {                                                                                     \
            WHERE_BODY(x0, y0)                                                                     \
        }                                                                                          \
        return 0;                                                                                  \
    }
WHERE_LOOP(1, uint8_t)
WHERE_LOOP(2, uint16_t)
WHERE_LOOP(4, uint32_t)
WHERE_LOOP(8, uint64_t)
WHERE_LOOP(16, Pair)

/* Loops by type number, filled at first use under the GIL; their dtypes are kept for the process.
 */
enum { TYPES = NPY_CDOUBLE + 1 };
static DtLoop where_loops[TYPES];
static DtLoop astype_loops[TYPES][TYPES];

static uint8_t
type_size(PyArray_Descr *descr)
{
    return (uint8_t)PyDataType_ELSIZE(descr);
}

const DtLoop *
dt_own_where(int type_num)
{
    if (!dt_loop_knows_type(type_num)) {
        return NULL;
    }
    DtLoop *loop = &where_loops[type_num];
    if (loop->row == NULL) {
        PyArray_Descr *descr = PyArray_DescrFromType(type_num);
        uint8_t size = type_size(descr);
        *loop = (DtLoop){
            .call = size == 1   ? where_1
                    : size == 2 ? where_2
                    : size == 4 ? where_4
                    : size == 8 ? where_8
                                : where_16,
            .row = &where_row,
            .nargs = 4,
            .allow = DT_ALLOW_ANY,
            .types = {NPY_BOOL, type_num, type_num, type_num},
            .sizes = {1, size, size, size},
            .quads = dt_quads_where(size),
            .out = descr,
        };
    }
    return loop;
}

const DtLoop *
dt_own_astype(int from, int to)
{
    if (!dt_loop_knows_type(from) || !dt_loop_knows_type(to)
        || dt_cast_get_explicit(from, to) == NULL) {
        return NULL;
    }
    DtLoop *loop = &astype_loops[from][to];
    if (loop->row == NULL) {
        PyArray_Descr *source = PyArray_DescrFromType(from);
        PyArray_Descr *target = PyArray_DescrFromType(to);
        *loop = (DtLoop){
            .call = dt_cast_get_explicit(from, to),
            .row = &astype_row,
            .nargs = 2,
            .allow = DT_ALLOW_STRIDED,
            .types = {from, to},
            .sizes = {type_size(source), type_size(target)},
            .out = target,
        };
        Py_DECREF(source);
    }
    return loop;
}
