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

/* Elements of a type that are worked on at once: four, or two that fill a register. */
#define VECTOR(T)                                                                                  \
    T __attribute__((vector_size(sizeof(T) == 8 ? 16 : 4 * sizeof(T)), aligned(sizeof(T)),         \
                     may_alias))
#define EACH_OF_QUAD(T) for (int i = 0; i < (sizeof(T) == 8 ? 2 : 1); i++)

/* Where byte i of a word in memory is in the word.  A word is read again as a whole at once, in the
 * time of four if it was written in four. */
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define BYTE_SHIFT(I) (8 * (I))
#else
#define BYTE_SHIFT(I) (24 - 8 * (I))
#endif

/* The result may take the place of an operand. */
#define QUADS_TWO(UFUNC, NAME, TYPES, T, RESULT)                                                   \
    static void NAME(char *const *args, npy_intp quads)                                            \
    {                                                                                              \
        typedef VECTOR(T) Vector;                                                                  \
        const Vector *a = (const Vector *)args[0], *b = (const Vector *)args[1];                   \
        Vector *to = (Vector *)args[2];                                                            \
        do {                                                                                       \
            EACH_OF_QUAD(T)                                                                        \
            {                                                                                      \
                Vector x = *a++, y = *b++;                                                         \
                *to++ = (Vector)(RESULT);                                                          \
            }                                                                                      \
        } while (--quads > 0);                                                                     \
    }
#define QUADS_ONE(UFUNC, NAME, TYPES, T, RESULT)                                                   \
    static void NAME(char *const *args, npy_intp quads)                                            \
    {                                                                                              \
        typedef VECTOR(T) Vector;                                                                  \
        const Vector *a = (const Vector *)args[0];                                                 \
        Vector *to = (Vector *)args[1];                                                            \
        do {                                                                                       \
            EACH_OF_QUAD(T)                                                                        \
            {                                                                                      \
                Vector x = *a++;                                                                   \
                *to++ = (Vector)(RESULT);                                                          \
            }                                                                                      \
        } while (--quads > 0);                                                                     \
    }
#define QUADS_TEST(UFUNC, NAME, TYPES, T, RESULT)                                                  \
    static void NAME(char *const *args, npy_intp quads)                                            \
    {                                                                                              \
        const T *a = (const T *)args[0], *b = (const T *)args[1];                                  \
        char *to = args[2];                                                                        \
        do {                                                                                       \
            uint32_t truths = 0;                                                                   \
            for (int i = 0; i < 4; i++) {                                                          \
                T x = *a++, y = *b++;                                                              \
                truths |= (uint32_t)(RESULT) << BYTE_SHIFT(i);                                     \
            }                                                                                      \
            memcpy(to, &truths, sizeof(truths));                                                   \
            to += sizeof(truths);                                                                  \
        } while (--quads > 0);                                                                     \
    }

/* The operand that compares so with the other one.  Which one NumPy's loop takes of two zeros of
 * different sign, and of NaNs, depends on how it was compiled: then the result is in doubt, and a
 * flag is raised for who calls us. */
#define LANE(T) __typeof__(_Generic((T)0, double: (int64_t)0, float: (int32_t)0, default: (T)0))
#define CHOOSE(X, OPERATOR, Y, RESULT)                                                             \
    Mask is_##RESULT = (Mask)((X)OPERATOR(Y));                                                     \
    Vector RESULT = (Vector)(((Mask)(X) & is_##RESULT) | ((Mask)(Y) & ~is_##RESULT));              \
    doubt |= ((Mask)((X) == (Y)) & (Mask)((Mask)(X) != (Mask)(Y)));                                \
    doubt |= (Mask)((X) != (X)) | (Mask)((Y) != (Y));
#define RAISE_DOUBT                                                                                \
    bool in_doubt = false;                                                                         \
    for (size_t k = 0; k < sizeof(doubt) / sizeof(doubt[0]); k++) {                                \
        in_doubt |= doubt[k] != 0;                                                                 \
    }                                                                                              \
    if (in_doubt) {                                                                                \
        dt_fpflags_raise();                                                                        \
    }
#define QUADS_CHOICE(UFUNC, NAME, TYPES, T, OPERATOR)                                              \
    static void NAME(char *const *args, npy_intp quads)                                            \
    {                                                                                              \
        typedef VECTOR(T) Vector;                                                                  \
        typedef VECTOR(LANE(T)) Mask;                                                              \
        const Vector *a = (const Vector *)args[0], *b = (const Vector *)args[1];                   \
        Vector *to = (Vector *)args[2];                                                            \
        Mask doubt = {0};                                                                          \
        do {                                                                                       \
            EACH_OF_QUAD(T)                                                                        \
            {                                                                                      \
                Vector x = *a++, y = *b++;                                                         \
                CHOOSE(x, OPERATOR, y, chosen)                                                     \
                *to++ = chosen;                                                                    \
            }                                                                                      \
        } while (--quads > 0);                                                                     \
        RAISE_DOUBT                                                                                \
    }
#define QUADS_CLIP(UFUNC, NAME, TYPES, T)                                                          \
    static void NAME(char *const *args, npy_intp quads)                                            \
    {                                                                                              \
        typedef VECTOR(T) Vector;                                                                  \
        typedef VECTOR(LANE(T)) Mask;                                                              \
        const Vector *a = (const Vector *)args[0], *b = (const Vector *)args[1];                   \
        const Vector *c = (const Vector *)args[2];                                                 \
        Vector *to = (Vector *)args[3];                                                            \
        Mask doubt = {0};                                                                          \
        do {                                                                                       \
            EACH_OF_QUAD(T)                                                                        \
            {                                                                                      \
                Vector x = *a++, low = *b++, high = *c++;                                          \
                CHOOSE(x, >, low, above)                                                           \
                CHOOSE(above, <, high, between)                                                    \
                *to++ = between;                                                                   \
            }                                                                                      \
        } while (--quads > 0);                                                                     \
        RAISE_DOUBT                                                                                \
    }
#include "backend/native/quads.def"
#undef QUADS_TWO
#undef QUADS_ONE
#undef QUADS_TEST
#undef QUADS_CHOICE
#undef QUADS_CLIP

#define WHERE(SIZE, T)                                                                             \
    static void where_##SIZE(char *const *args, npy_intp quads)                                    \
    {                                                                                              \
        const npy_bool *condition = (const npy_bool *)args[0];                                     \
        typedef VECTOR(T) Vector;                                                                  \
        enum { LANES = sizeof(Vector) / sizeof(T) };                                               \
        const Vector *a = (const Vector *)args[1], *b = (const Vector *)args[2];                   \
        Vector *to = (Vector *)args[3];                                                            \
        do {                                                                                       \
            EACH_OF_QUAD(T)                                                                        \
            {                                                                                      \
                Vector mask = {0}, x = *a++, y = *b++;                                             \
                for (int k = 0; k < LANES; k++) {                                                  \
                    mask[k] = (T) - (*condition++ != 0);                                           \
                }                                                                                  \
                *to++ = (x & mask) | (y & ~mask);                                                  \
            }                                                                                      \
        } while (--quads > 0);                                                                     \
    }
WHERE(1, uint8_t)
WHERE(4, uint32_t)
WHERE(8, uint64_t)

DtQuads *
dt_quads_where(int size)
{
    return size == 8 ? where_8 : size == 4 ? where_4 : size == 1 ? where_1 : NULL;
}

/* ---- Which there are ------------------------------------------------------------------------- */

typedef enum Types { DOUBLE, FLOAT, WORD, HALF, SIGNED_WORD, SIGNED_HALF, TRUTH } Types;

static const struct {
    const char *ufunc;
    DtQuads *quads;
    Types types;
    int nargs;
    bool tests;
} table[] = {
#define QUADS_TWO(UFUNC, NAME, TYPES, T, RESULT) {#UFUNC, NAME, TYPES, 3, false},
#define QUADS_ONE(UFUNC, NAME, TYPES, T, RESULT) {#UFUNC, NAME, TYPES, 2, false},
#define QUADS_TEST(UFUNC, NAME, TYPES, T, RESULT) {#UFUNC, NAME, TYPES, 3, true},
#define QUADS_CHOICE(UFUNC, NAME, TYPES, T, OPERATOR) {#UFUNC, NAME, TYPES, 3, false},
#define QUADS_CLIP(UFUNC, NAME, TYPES, T) {#UFUNC, NAME, TYPES, 4, false},
#include "backend/native/quads.def"
#undef QUADS_TWO
#undef QUADS_ONE
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
            return table[i].quads;
        }
    }
    return NULL;
}
