/* Elementwise operations on few elements.
 *
 * To enter one of NumPy's loops takes several times as long as to add four numbers: it tells
 * strides and overlaps apart and then prepares for many elements.  Arithmetic whose result is
 * unique can be done without (quads.def): these functions know all that beforehand, and no
 * remainder is left. They may raise more flags than NumPy's loops do, and of two NaNs keep the
 * other one: who calls them looks for both and does not use what came out then (straight.c).
 */
#include "backend/native/quads.h"

#include <stdbool.h>
#include <string.h>

#include "backend/native/fpflags.h"

/* Where byte i of a word in memory is in the word. */
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define BYTE_SHIFT(I) (8 * (I))
#else
#define BYTE_SHIFT(I) (24 - 8 * (I))
#endif

/* What two elements compare to. */
#define LANE(T) __typeof__(_Generic((T)0, double: (int64_t)0, float: (int32_t)0, default: (T)0))

#define REGISTER 16
#define VERSION
#define NAMED(NAME) NAME
#include "backend/native/quads_loops.h"

/* Nearly every processor of today has these; whether one does is known when it runs. */
#if defined(__x86_64__) && defined(__GNUC__)
#define REGISTER 32
#define VERSION __attribute__((target("avx2")))
#define NAMED(NAME) NAME##_wide
#include "backend/native/quads_loops.h"
#define IS_WIDE __builtin_cpu_supports("avx2")
#define EITHER(NAME) {NAME, NAME##_wide}
#else
#define IS_WIDE 0
#define EITHER(NAME) {NAME, NAME}
#endif

DtQuads *
dt_quads_where(int size)
{
    static DtQuads *const wheres[][2] = {EITHER(where_1), EITHER(where_4), EITHER(where_8)};
    int row = size == 8 ? 2 : size == 4 ? 1 : size == 1 ? 0 : -1;
    return row >= 0 ? wheres[row][IS_WIDE != 0] : NULL;
}

/* ---- Which there are ------------------------------------------------------------------------- */

typedef enum Types { DOUBLE, FLOAT, WORD, HALF, SIGNED_WORD, SIGNED_HALF, TRUTH } Types;

static const struct {
    const char *ufunc;
    DtQuads *quads[2]; /* for narrow registers, and for wide ones */
    Types types;
    int nargs;
    bool tests;
} table[] = {
#define QUADS_TWO(UFUNC, NAME, TYPES, T, RESULT) {#UFUNC, EITHER(NAME), TYPES, 3, false},
#define QUADS_ONE(UFUNC, NAME, TYPES, T, RESULT) {#UFUNC, EITHER(NAME), TYPES, 2, false},
#define QUADS_LANE(UFUNC, NAME, TYPES, T, RESULT) {#UFUNC, EITHER(NAME), TYPES, 2, false},
#define QUADS_TEST(UFUNC, NAME, TYPES, T, RESULT) {#UFUNC, EITHER(NAME), TYPES, 3, true},
#define QUADS_CHOICE(UFUNC, NAME, TYPES, T, OPERATOR) {#UFUNC, EITHER(NAME), TYPES, 3, false},
#define QUADS_CLIP(UFUNC, NAME, TYPES, T) {#UFUNC, EITHER(NAME), TYPES, 4, false},
#include "backend/native/quads.def"
#undef QUADS_TWO
#undef QUADS_ONE
#undef QUADS_LANE
#undef QUADS_TEST
#undef QUADS_CHOICE
#undef QUADS_CLIP
};

static bool
is_of(Types types, int type_num)
{
    bool is_signed = PyTypeNum_ISSIGNED(type_num), is_int = PyTypeNum_ISINTEGER(type_num);
    PyArray_Descr *descr = PyArray_DescrFromType(type_num);
    npy_intp size = PyDataType_ELSIZE(descr);
    Py_DECREF(descr);
    switch (types) {
    case DOUBLE:
        return type_num == NPY_DOUBLE;
    case FLOAT:
        return type_num == NPY_FLOAT;
    case WORD:
        return is_int && size == 8;
    case HALF:
        return is_int && size == 4;
    case SIGNED_WORD:
        return is_int && is_signed && size == 8;
    case SIGNED_HALF:
        return is_int && is_signed && size == 4;
    case TRUTH:
        break;
    }
    return type_num == NPY_BOOL;
}

DtQuads *
dt_quads_find(const char *ufunc, const int *types, int nargs)
{
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        bool fits = table[i].nargs == nargs && strcmp(table[i].ufunc, ufunc) == 0;
        for (int j = 0; fits && j < nargs - 1; j++) {
            fits = is_of(table[i].types, types[j]) && types[j] == types[0];
        }
        if (fits && types[nargs - 1] == (table[i].tests ? NPY_BOOL : types[0])) {
            return table[i].quads[IS_WIDE != 0];
        }
    }
    return NULL;
}
