/* NumPy's inner loops, looked up once per (ufunc, operand types) and process. */
#ifndef DT_BACKEND_NATIVE_LOOPS_H
#define DT_BACKEND_NATIVE_LOOPS_H

#include <stdbool.h>

#include "backend/native/quads.h"
#include "core/status.h"

enum { DT_LOOP_MAX_ARGS = 4 };

/* What operands a loop may get without changing bits; see ufuncs.def. */
typedef enum DtAllow { DT_ALLOW_NONE, DT_ALLOW_CONTIG, DT_ALLOW_STRIDED, DT_ALLOW_ANY } DtAllow;

enum {
    DT_UFUNC_KEEPS = 1,
    DT_UFUNC_RAISES = 2,
    DT_UFUNC_POWER = 4,
    DT_UFUNC_MOVES = 8,
    DT_UFUNC_SIGNS = 16,
    DT_UFUNC_EVEN = 32,
    DT_UFUNC_OPPOSITE = 64,
};

typedef struct DtUfuncRow {
    const char *name;
    uint8_t real;         /* DtAllow */
    uint8_t complex_kind; /* DtAllow */
    uint8_t flags;        /* DT_UFUNC_* */
} DtUfuncRow;

typedef struct DtLoop {
    PyArrayMethod_StridedLoop *call;
    PyArrayMethod_Context *context;
    NpyAuxData *auxdata;
    const DtUfuncRow *row;
    uint8_t nargs;                   /* inputs and the one output */
    uint8_t allow;                   /* DtAllow for these types */
    bool no_flags;                   /* NumPy does not look at floating-point flags after it */
    int types[DT_LOOP_MAX_ARGS];     /* type numbers of the loop */
    uint8_t sizes[DT_LOOP_MAX_ARGS]; /* bytes per element */
    DtQuads *quads;     /* the same for a few elements, flags and NaNs apart; or NULL */
    PyArray_Descr *out; /* DT_BORROWED from the cache, which lives as long as the process */
} DtLoop;

/* The loop for `types`: per input a dtype, or the Python class int, float or complex for a weak
 * scalar. *out = NULL: this ufunc or these types are not to be called directly. */
DtStatus dt_loop_get(PyObject *ufunc, PyObject *const *types, uint32_t nin,
                     const DtLoop **out) DT_MUST_CHECK;

/* Does NumPy give one element the bits that the loop gives it, called with the strides of arrays or
 * numbers?  For loops that choose their code by strides it is tried out, once per loop and form:
 * handed over as numbers, or in arrays (of one or two dimensions, or beside a number). */
typedef enum DtTried { DT_TRIED_NUMBERS, DT_TRIED_ARRAYS } DtTried;
DtStatus dt_loop_try(PyObject *ufunc, const DtLoop *loop, DtTried form, bool *same) DT_MUST_CHECK;

/* The loop of a ufunc with core dimensions and one output, all of type `descr`; *out = NULL: there
 * is none to be called directly.  `row` is NULL. */
DtStatus dt_loop_get_core(const char *module, const char *name, PyArray_Descr *descr, uint32_t nin,
                          const DtLoop **out) DT_MUST_CHECK;

/* Items of this type as operand i, with no cast?  Types of other names and the same items (long and
 * long long, where both have 64 bits) are none to NumPy either. */
bool dt_loop_takes(const DtLoop *loop, uint32_t i, int type_num);

/* Is it a type number that fused code handles (bool, integers, float32/64, complex64/128)? */
bool dt_loop_knows_type(int type_num);

/* The loop that casts one type to another without loss of meaning (bits are unique), with the
 * signature of an inner loop; NULL if there is none. */
PyArrayMethod_StridedLoop *dt_cast_get(int from, int to);

/* The same for astype(): narrowing among integers and among floats, and truth, as well. */
PyArrayMethod_StridedLoop *dt_cast_get_explicit(int from, int to);

/* Loops of our own, for operations that are no ufuncs; NULL if there is none for these types. */
const DtLoop *dt_own_where(int type_num);      /* (bool, T, T) -> T */
const DtLoop *dt_own_astype(int from, int to); /* from -> to */

/* Writes the Python number `value` as `type_num` into 16 bytes; false if it doesn't fit or isn't a
 * number (no exception is set). */
bool dt_cast_number(PyObject *value, int type_num, void *cell);
/* The same for numbers without objects. */
bool dt_cast_int(int64_t value, int type_num, void *cell);
bool dt_cast_double(double value, int type_num, void *cell);

#endif
