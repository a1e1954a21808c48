/* Casts that promotion asks for, where the result has only one right value.
 *
 * Integers widen exactly; integers to floats round once, to nearest even, as NumPy's
 * C casts do; floats widen exactly.  Everything else (narrowing, float16, long double,
 * objects) is NumPy's business: those nodes are called.
 */
#include <math.h>
#include <stdint.h>

#include "backend/native/loops.h"
#include "backend/native/vector.h"

typedef struct Complex64 {
    float re, im;
} Complex64;
typedef struct Complex128 {
    double re, im;
} Complex128;

/* Source and destination are dense, or the source is a scalar of stride 0 and there is one element.
 */
#define CAST_LOOP(NAME, FROM, TO, EXPR)                                                            \
    DT_VECTOR static int cast_##NAME(                                                              \
        PyArrayMethod_Context *Py_UNUSED(context), char *const *data, const npy_intp *dimensions,  \
        const npy_intp *Py_UNUSED(strides), NpyAuxData *Py_UNUSED(auxdata))                        \
    {                                                                                              \
        const FROM *restrict from = (const FROM *)data[0];                                         \
        TO *restrict to = (TO *)data[1];                                                           \
        for (npy_intp i = 0, n = dimensions[0]; i < n; i++) {                                      \
            FROM x = from[i];                                                                      \
            to[i] = EXPR;                                                                          \
        }                                                                                          \
        return 0;                                                                                  \
    }

#define TO_REAL(FROM, FROM_T, TO, TO_T) CAST_LOOP(FROM##_##TO, FROM_T, TO_T, (TO_T)x)
#define TO_COMPLEX(FROM, FROM_T)                                                                   \
    CAST_LOOP(FROM##_c8, FROM_T, Complex64, ((Complex64){(float)x, 0.0f}))                         \
    CAST_LOOP(FROM##_c16, FROM_T, Complex128, ((Complex128){(double)x, 0.0}))
#define TO_FLOATS(FROM, FROM_T)                                                                    \
    TO_REAL(FROM, FROM_T, f4, float) TO_REAL(FROM, FROM_T, f8, double) TO_COMPLEX(FROM, FROM_T)

/* All integer targets are made for every source; the table below offers the safe ones. */
TO_REAL(u1, uint8_t, u1, uint8_t)
TO_REAL(u1, uint8_t, u2, uint16_t)
TO_REAL(u1, uint8_t, u4, uint32_t)
TO_REAL(u1, uint8_t, u8, uint64_t)
TO_REAL(i1, int8_t, u2, uint16_t)
TO_REAL(i1, int8_t, u4, uint32_t)
TO_REAL(i1, int8_t, u8, uint64_t)
TO_REAL(u2, uint16_t, u4, uint32_t)
TO_REAL(u2, uint16_t, u8, uint64_t)
TO_REAL(i2, int16_t, u4, uint32_t)
TO_REAL(i2, int16_t, u8, uint64_t)
TO_REAL(u4, uint32_t, u8, uint64_t)
TO_REAL(i4, int32_t, u8, uint64_t)
TO_REAL(u8, uint64_t, u8, uint64_t)
TO_FLOATS(u1, uint8_t)
TO_FLOATS(i1, int8_t)
TO_FLOATS(u2, uint16_t)
TO_FLOATS(i2, int16_t)
TO_FLOATS(u4, uint32_t)
TO_FLOATS(i4, int32_t)
TO_FLOATS(u8, uint64_t)
TO_FLOATS(i8, int64_t)
TO_REAL(u2, uint16_t, u1, uint8_t)
TO_REAL(u4, uint32_t, u1, uint8_t)
TO_REAL(u8, uint64_t, u1, uint8_t)
TO_REAL(u2, uint16_t, u2, uint16_t)
TO_REAL(u4, uint32_t, u2, uint16_t)
TO_REAL(u8, uint64_t, u2, uint16_t)
TO_REAL(u4, uint32_t, u4, uint32_t)
TO_REAL(u8, uint64_t, u4, uint32_t)
TO_REAL(f4, float, f8, double)
TO_REAL(f8, double, f4, float)
TO_COMPLEX(f4, float)
CAST_LOOP(f8_c16, double, Complex128, ((Complex128){x, 0.0}))
CAST_LOOP(c16_c8, Complex128, Complex64, ((Complex64){(float)x.re, (float)x.im}))
CAST_LOOP(c16_c16, Complex128, Complex128, x)
/* A byte of a bool that is neither 0 nor 1 (a view of other bytes) is true, and no other number. */
#define BOOL_TO(TO, TO_T) CAST_LOOP(b1_##TO, uint8_t, TO_T, (TO_T)(x != 0))
BOOL_TO(u1, uint8_t)
BOOL_TO(u2, uint16_t)
BOOL_TO(u4, uint32_t)
BOOL_TO(u8, uint64_t)
BOOL_TO(f4, float)
BOOL_TO(f8, double)
CAST_LOOP(b1_c8, uint8_t, Complex64, ((Complex64){x != 0 ? 1.0f : 0.0f, 0.0f}))
CAST_LOOP(b1_c16, uint8_t, Complex128, ((Complex128){x != 0 ? 1.0 : 0.0, 0.0}))
CAST_LOOP(u1_b1, uint8_t, uint8_t, x != 0)
CAST_LOOP(u2_b1, uint16_t, uint8_t, x != 0)
CAST_LOOP(u4_b1, uint32_t, uint8_t, x != 0)
CAST_LOOP(u8_b1, uint64_t, uint8_t, x != 0)
CAST_LOOP(f4_b1, float, uint8_t, x != 0)
CAST_LOOP(f8_b1, double, uint8_t, x != 0)
CAST_LOOP(c8_b1, Complex64, uint8_t, x.re != 0 || x.im != 0)
CAST_LOOP(c16_b1, Complex128, uint8_t, x.re != 0 || x.im != 0)
CAST_LOOP(c8_c16, Complex64, Complex128, ((Complex128){(double)x.re, (double)x.im}))

/* Type numbers by layout: LONG and LONGLONG (and INT on some systems) are one. */
typedef enum Layout {
    L_U1,
    L_I1,
    L_U2,
    L_I2,
    L_U4,
    L_I4,
    L_U8,
    L_I8,
    L_F4,
    L_F8,
    L_C8,
    L_C16,
    L_B1, /* only a source */
    L_COUNT
} Layout;

static int
layout_of(int type_num)
{
    switch (type_num) {
    case NPY_BOOL:
        return L_B1;
    case NPY_FLOAT:
        return L_F4;
    case NPY_DOUBLE:
        return L_F8;
    case NPY_CFLOAT:
        return L_C8;
    case NPY_CDOUBLE:
        return L_C16;
    default:
        break;
    }
    static const uint8_t sizes[] = {
        [NPY_BYTE] = 1,
        [NPY_UBYTE] = 1,
        [NPY_SHORT] = 2,
        [NPY_USHORT] = 2,
        [NPY_INT] = sizeof(int),
        [NPY_UINT] = sizeof(int),
        [NPY_LONG] = sizeof(long),
        [NPY_ULONG] = sizeof(long),
        [NPY_LONGLONG] = 8,
        [NPY_ULONGLONG] = 8,
    };
    if (type_num < NPY_BYTE || type_num > NPY_ULONGLONG) {
        return -1;
    }
    int size = sizes[type_num];
    int index = size == 1 ? L_U1 : size == 2 ? L_U2 : size == 4 ? L_U4 : L_U8;
    return index + PyTypeNum_ISSIGNED(type_num);
}

/* Integers keep their low bits when they get narrower; floats round to nearest. */
static PyArrayMethod_StridedLoop *const narrowing[L_COUNT][L_COUNT] = {
    [L_U1] = {[L_U1] = cast_u1_u1},
    [L_U2] = {[L_U1] = cast_u2_u1, [L_U2] = cast_u2_u2},
    [L_U4] = {[L_U1] = cast_u4_u1, [L_U2] = cast_u4_u2, [L_U4] = cast_u4_u4},
    [L_U8] = {[L_U1] = cast_u8_u1, [L_U2] = cast_u8_u2, [L_U4] = cast_u8_u4, [L_U8] = cast_u8_u8},
    [L_F4] = {[L_F4] = cast_u4_u4},
    [L_F8] = {[L_F4] = cast_f8_f4, [L_F8] = cast_u8_u8},
    [L_C8] = {[L_C8] = cast_u8_u8},
    [L_C16] = {[L_C8] = cast_c16_c8, [L_C16] = cast_c16_c16},
};

static PyArrayMethod_StridedLoop *const truth[L_COUNT] = {
    [L_U1] = cast_u1_b1, [L_I1] = cast_u1_b1, [L_U2] = cast_u2_b1, [L_I2] = cast_u2_b1,
    [L_U4] = cast_u4_b1, [L_I4] = cast_u4_b1, [L_U8] = cast_u8_b1, [L_I8] = cast_u8_b1,
    [L_F4] = cast_f4_b1, [L_F8] = cast_f8_b1, [L_C8] = cast_c8_b1, [L_C16] = cast_c16_b1,
    [L_B1] = cast_u1_u1,
};

/* Sign extension is the same for signed and unsigned targets, so one row serves both. */
static PyArrayMethod_StridedLoop *const casts[L_COUNT][L_COUNT] = {
    [L_B1] = {[L_U1] = cast_b1_u1,
              [L_I1] = cast_b1_u1,
              [L_U2] = cast_b1_u2,
              [L_I2] = cast_b1_u2,
              [L_U4] = cast_b1_u4,
              [L_I4] = cast_b1_u4,
              [L_U8] = cast_b1_u8,
              [L_I8] = cast_b1_u8,
              [L_F4] = cast_b1_f4,
              [L_F8] = cast_b1_f8,
              [L_C8] = cast_b1_c8,
              [L_C16] = cast_b1_c16},
    [L_U1] = {[L_U1] = cast_u1_u1,
              [L_U2] = cast_u1_u2,
              [L_I2] = cast_u1_u2,
              [L_U4] = cast_u1_u4,
              [L_I4] = cast_u1_u4,
              [L_U8] = cast_u1_u8,
              [L_I8] = cast_u1_u8,
              [L_F4] = cast_u1_f4,
              [L_F8] = cast_u1_f8,
              [L_C8] = cast_u1_c8,
              [L_C16] = cast_u1_c16},
    [L_I1] = {[L_I2] = cast_i1_u2,
              [L_I4] = cast_i1_u4,
              [L_I8] = cast_i1_u8,
              [L_F4] = cast_i1_f4,
              [L_F8] = cast_i1_f8,
              [L_C8] = cast_i1_c8,
              [L_C16] = cast_i1_c16},
    [L_U2] = {[L_U4] = cast_u2_u4,
              [L_I4] = cast_u2_u4,
              [L_U8] = cast_u2_u8,
              [L_I8] = cast_u2_u8,
              [L_F4] = cast_u2_f4,
              [L_F8] = cast_u2_f8,
              [L_C8] = cast_u2_c8,
              [L_C16] = cast_u2_c16},
    [L_I2] = {[L_I4] = cast_i2_u4,
              [L_I8] = cast_i2_u8,
              [L_F4] = cast_i2_f4,
              [L_F8] = cast_i2_f8,
              [L_C8] = cast_i2_c8,
              [L_C16] = cast_i2_c16},
    [L_U4] = {[L_U8] = cast_u4_u8,
              [L_I8] = cast_u4_u8,
              [L_F4] = cast_u4_f4,
              [L_F8] = cast_u4_f8,
              [L_C8] = cast_u4_c8,
              [L_C16] = cast_u4_c16},
    [L_I4] = {[L_I8] = cast_i4_u8,
              [L_F4] = cast_i4_f4,
              [L_F8] = cast_i4_f8,
              [L_C8] = cast_i4_c8,
              [L_C16] = cast_i4_c16},
    [L_U8] = {[L_U8] = cast_u8_u8,
              [L_F4] = cast_u8_f4,
              [L_F8] = cast_u8_f8,
              [L_C8] = cast_u8_c8,
              [L_C16] = cast_u8_c16},
    [L_I8] = {[L_I8] = cast_u8_u8,
              [L_F4] = cast_i8_f4,
              [L_F8] = cast_i8_f8,
              [L_C8] = cast_i8_c8,
              [L_C16] = cast_i8_c16},
    [L_F4] = {[L_F8] = cast_f4_f8, [L_C8] = cast_f4_c8, [L_C16] = cast_f4_c16},
    [L_F8] = {[L_C16] = cast_f8_c16},
    [L_C8] = {[L_C16] = cast_c8_c16},
};

PyArrayMethod_StridedLoop *
dt_cast_get(int from, int to)
{
    int source = layout_of(from);
    int target = layout_of(to);
    return source < 0 || target < 0 ? NULL : casts[source][target];
}

PyArrayMethod_StridedLoop *
dt_cast_get_explicit(int from, int to)
{
    int source = layout_of(from);
    int target = layout_of(to);
    if (source < 0 || target < 0) {
        return NULL;
    }
    if (to == NPY_BOOL) {
        return truth[source];
    }
    if (target < L_F4 && source < L_F4) {
        /* The unsigned target of the same width has the same bits. */
        int width = target & ~1;
        bool wider = (target >> 1) > (source >> 1);
        return wider ? casts[source][width | 1] : narrowing[source & ~1][width];
    }
    return casts[source][target] != NULL ? casts[source][target] : narrowing[source][target];
}

bool
dt_cast_int(int64_t value, int type_num, void *cell)
{
    int layout = layout_of(type_num);
    if (type_num == NPY_BOOL || layout < 0) {
        return false;
    }
    if (layout >= L_F4) {
        return dt_cast_double((double)value, type_num, cell);
    }
#define STORE(L, T, LOW, HIGH)                                                                     \
    case L:                                                                                        \
        if (value < (LOW) || value > (HIGH)) {                                                     \
            return false;                                                                          \
        }                                                                                          \
        *(T *)cell = (T)value;                                                                     \
        return true;
    switch (layout) {
        STORE(L_U1, uint8_t, 0, UINT8_MAX)
        STORE(L_I1, int8_t, INT8_MIN, INT8_MAX)
        STORE(L_U2, uint16_t, 0, UINT16_MAX)
        STORE(L_I2, int16_t, INT16_MIN, INT16_MAX)
        STORE(L_U4, uint32_t, 0, UINT32_MAX)
        STORE(L_I4, int32_t, INT32_MIN, INT32_MAX)
        STORE(L_U8, uint64_t, 0, INT64_MAX)
        STORE(L_I8, int64_t, INT64_MIN, INT64_MAX)
    default:
        return false;
    }
#undef STORE
}

bool
dt_cast_double(double value, int type_num, void *cell)
{
    float narrow = (float)value;
    switch (type_num) {
    case NPY_DOUBLE:
        *(double *)cell = value;
        return true;
    case NPY_CDOUBLE:
        *(Complex128 *)cell = (Complex128){value, 0.0};
        return true;
    case NPY_FLOAT:
        *(float *)cell = narrow;
        break;
    case NPY_CFLOAT:
        *(Complex64 *)cell = (Complex64){narrow, 0.0f};
        break;
    default:
        return false;
    }
    /* NumPy reports an overflow here. */
    return !isinf(narrow) || isinf(value);
}

bool
dt_cast_number(PyObject *value, int type_num, void *cell)
{
    if (PyBool_Check(value)) {
        if (type_num == NPY_BOOL) {
            *(npy_bool *)cell = value == Py_True;
            return true;
        }
        return dt_cast_int(value == Py_True, type_num, cell);
    }
    if (PyLong_CheckExact(value)) {
        int overflow;
        int64_t number = PyLong_AsLongLongAndOverflow(value, &overflow);
        return overflow == 0 && dt_cast_int(number, type_num, cell);
    }
    if (PyFloat_CheckExact(value)) {
        return dt_cast_double(PyFloat_AS_DOUBLE(value), type_num, cell);
    }
    if (PyComplex_CheckExact(value)) {
        Complex128 number = {PyComplex_RealAsDouble(value), PyComplex_ImagAsDouble(value)};
        Complex64 narrow = {(float)number.re, (float)number.im};
        if (type_num == NPY_CDOUBLE) {
            *(Complex128 *)cell = number;
            return true;
        }
        if (type_num == NPY_CFLOAT) {
            *(Complex64 *)cell = narrow;
            return (!isinf(narrow.re) || isinf(number.re))
                   && (!isinf(narrow.im) || isinf(number.im));
        }
    }
    return false;
}
