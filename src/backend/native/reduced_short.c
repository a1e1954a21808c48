/* Rows of a few elements, reduced without a call for each; and rows that are added up to one.
 *
 * Entering NumPy's loop takes longer than to add up three numbers.  These loops do what it does:
 * sums of floats in the order of the pairwise sum (fewer than 8 in sequence, else eight sums side
 * by side and the rest in sequence), added to the identity; of integers, and of extremes, the order
 * does not show.  Columns are reduced in sequence.  Whether this NumPy's loop agrees is tried out
 * once for each.
 *
 * What depends on how NumPy was compiled is in doubt, and then the rows are NumPy's: a result that
 * is a NaN, since it may be one of several; an extreme that is a zero, since it may be either.
 */
#include <string.h>

#include "backend/native/native.h"
#include "backend/native/vector.h"

typedef bool ShortRows(const char *from, char *to, npy_intp rows, npy_intp length);

#define EACH_ROW(NAME, T, BEFORE, ROW)                                                             \
    DT_VECTOR static bool NAME(const char *from, char *to, npy_intp rows, npy_intp length)         \
    {                                                                                              \
        const T *x = (const T *)from;                                                              \
        int doubt = 0;                                                                             \
        BEFORE                                                                                     \
        for (npy_intp row = 0; row < rows; row++, x += length) {                                   \
            T result;                                                                              \
            ROW((T *)to)[row] = result;                                                            \
        }                                                                                          \
        return !doubt;                                                                             \
    }

#define SUM_OF_FLOATS                                                                              \
    npy_intp i = 0;                                                                                \
    result = -0.0;                                                                                 \
    if (length >= 8) {                                                                             \
        __typeof__(result) r[8];                                                                   \
        for (int k = 0; k < 8; k++) {                                                              \
            r[k] = x[k];                                                                           \
        }                                                                                          \
        for (i = 8; i + 8 <= length; i += 8) {                                                     \
            for (int k = 0; k < 8; k++) {                                                          \
                r[k] += x[i + k];                                                                  \
            }                                                                                      \
        }                                                                                          \
        result = ((r[0] + r[1]) + (r[2] + r[3])) + ((r[4] + r[5]) + (r[6] + r[7]));                \
    }                                                                                              \
    for (; i < length; i++) {                                                                      \
        result += x[i];                                                                            \
    }                                                                                              \
    result = 0 + result;                                                                           \
    doubt |= result != result;

#define SUM_OF_INTEGERS                                                                            \
    result = 0;                                                                                    \
    for (npy_intp i = 0; i < length; i++) {                                                        \
        result += x[i];                                                                            \
    }

#define FIND_NANS                                                                                  \
    for (npy_intp i = 0; i < rows * length; i++) {                                                 \
        doubt |= x[i] != x[i];                                                                     \
    }
#define NO_NANS

#define EXTREME(COMPARE)                                                                           \
    npy_intp i = 1;                                                                                \
    result = x[0];                                                                                 \
    if (length >= 8) {                                                                             \
        __typeof__(result) r[4] = {x[0], x[1], x[2], x[3]};                                        \
        for (i = 4; i + 4 <= length; i += 4) {                                                     \
            for (int k = 0; k < 4; k++) {                                                          \
                r[k] = COMPARE(x[i + k], r[k]) ? x[i + k] : r[k];                                  \
            }                                                                                      \
        }                                                                                          \
        r[0] = COMPARE(r[1], r[0]) ? r[1] : r[0];                                                  \
        r[2] = COMPARE(r[3], r[2]) ? r[3] : r[2];                                                  \
        result = COMPARE(r[2], r[0]) ? r[2] : r[0];                                                \
    }                                                                                              \
    for (; i < length; i++) {                                                                      \
        result = COMPARE(x[i], result) ? x[i] : result;                                            \
    }
#define DOUBT_ZEROS doubt |= result == 0;
#define IS_MORE(A, B) ((A) > (B))
#define IS_LESS(A, B) ((A) < (B))
/* Quiet ones, so that a NaN raises no flag. */
#define IS_GREATER(A, B) __builtin_isgreater(A, B)
#define IS_SMALLER(A, B) __builtin_isless(A, B)

EACH_ROW(sum_doubles, double, NO_NANS, SUM_OF_FLOATS)
EACH_ROW(sum_floats, float, NO_NANS, SUM_OF_FLOATS)
EACH_ROW(sum_longs, uint64_t, NO_NANS, SUM_OF_INTEGERS)
EACH_ROW(sum_ints, uint32_t, NO_NANS, SUM_OF_INTEGERS)
EACH_ROW(most_doubles, double, FIND_NANS, EXTREME(IS_GREATER) DOUBT_ZEROS)
EACH_ROW(most_floats, float, FIND_NANS, EXTREME(IS_GREATER) DOUBT_ZEROS)
EACH_ROW(most_longs, int64_t, NO_NANS, EXTREME(IS_MORE))
EACH_ROW(most_ints, int32_t, NO_NANS, EXTREME(IS_MORE))
EACH_ROW(least_doubles, double, FIND_NANS, EXTREME(IS_SMALLER) DOUBT_ZEROS)
EACH_ROW(least_floats, float, FIND_NANS, EXTREME(IS_SMALLER) DOUBT_ZEROS)
EACH_ROW(least_longs, int64_t, NO_NANS, EXTREME(IS_LESS))
EACH_ROW(least_ints, int32_t, NO_NANS, EXTREME(IS_LESS))

/* ---- Columns --------------------------------------------------------------------------------- */

typedef bool ShortColumns(const char *from, char *to, bool begin, npy_intp rows, npy_intp length);

/* The results are written when all is sure. */
#define EACH_COLUMN(NAME, T, FIRST, NEXT, ODD, DOUBTFUL)                                           \
    static bool NAME(const char *from, char *to, bool begin, npy_intp rows, npy_intp length)       \
    {                                                                                              \
        const T *x = (const T *)from;                                                              \
        T results[DT_REDUCED_SHORT];                                                               \
        int doubt = 0;                                                                             \
        for (npy_intp k = 0; k < length; k++) {                                                    \
            T next = x[k], result = begin ? FIRST : ((T *)to)[k];                                  \
            doubt |= ODD(next);                                                                    \
            for (npy_intp row = begin ? 1 : 0; row < rows; row++) {                                \
                next = x[row * length + k];                                                        \
                doubt |= ODD(next);                                                                \
                result = NEXT;                                                                     \
            }                                                                                      \
            doubt |= DOUBTFUL(result);                                                             \
            results[k] = result;                                                                   \
        }                                                                                          \
        if (!doubt) {                                                                              \
            memcpy(to, results, (size_t)length * sizeof(T));                                       \
        }                                                                                          \
        return !doubt;                                                                             \
    }

#define SURE(X) 0
#define IS_NAN(X) ((X) != (X))
#define IS_NAN_OR_ZERO(X) ((X) != (X) || (X) == 0)
#define ADDED(NAME, T, DOUBTFUL) EACH_COLUMN(NAME, T, 0 + next, result + next, SURE, DOUBTFUL)
#define EXTREME_OF(NAME, T, COMPARE, ODD, DOUBTFUL)                                                \
    EACH_COLUMN(NAME, T, next, COMPARE(next, result) ? next : result, ODD, DOUBTFUL)

ADDED(add_doubles, double, IS_NAN)
ADDED(add_floats, float, IS_NAN)
ADDED(add_longs, uint64_t, SURE)
ADDED(add_ints, uint32_t, SURE)
EXTREME_OF(raise_doubles, double, IS_GREATER, IS_NAN, IS_NAN_OR_ZERO)
EXTREME_OF(raise_floats, float, IS_GREATER, IS_NAN, IS_NAN_OR_ZERO)
EXTREME_OF(raise_longs, int64_t, IS_MORE, SURE, SURE)
EXTREME_OF(raise_ints, int32_t, IS_MORE, SURE, SURE)
EXTREME_OF(lower_doubles, double, IS_SMALLER, IS_NAN, IS_NAN_OR_ZERO)
EXTREME_OF(lower_floats, float, IS_SMALLER, IS_NAN, IS_NAN_OR_ZERO)
EXTREME_OF(lower_longs, int64_t, IS_LESS, SURE, SURE)
EXTREME_OF(lower_ints, int32_t, IS_LESS, SURE, SURE)

/* ---- Which loops have one -------------------------------------------------------------------- */

static struct {
    const char *ufunc;
    int type_num;
    ShortRows *rows;
    ShortColumns *columns;
    enum { UNTRIED, AGREES, DIFFERS } state;
} table[] = {
    {"add", NPY_DOUBLE, sum_doubles, add_doubles, UNTRIED},
    {"add", NPY_FLOAT, sum_floats, add_floats, UNTRIED},
    {"add", NPY_INT64, sum_longs, add_longs, UNTRIED},
    {"add", NPY_INT32, sum_ints, add_ints, UNTRIED},
    {"maximum", NPY_DOUBLE, most_doubles, raise_doubles, UNTRIED},
    {"maximum", NPY_FLOAT, most_floats, raise_floats, UNTRIED},
    {"maximum", NPY_INT64, most_longs, raise_longs, UNTRIED},
    {"maximum", NPY_INT32, most_ints, raise_ints, UNTRIED},
    {"minimum", NPY_DOUBLE, least_doubles, lower_doubles, UNTRIED},
    {"minimum", NPY_FLOAT, least_floats, lower_floats, UNTRIED},
    {"minimum", NPY_INT64, least_longs, lower_longs, UNTRIED},
    {"minimum", NPY_INT32, least_ints, lower_ints, UNTRIED},
};

/* `count` numbers of the type, scattered over some orders of magnitude. */
static void
fill(char *to, int type_num, npy_intp count)
{
    double x = 0.3;
    for (npy_intp i = 0; i < count; i++) {
        x = 3.7 * x * (1 - x);
        double number = (x - 0.4) * (double)(1 << (i % 11));
        switch (type_num) {
        case NPY_DOUBLE:
            ((double *)to)[i] = number;
            break;
        case NPY_FLOAT:
            ((float *)to)[i] = (float)number;
            break;
        case NPY_INT32:
            ((int32_t *)to)[i] = (int32_t)(number * 1000) | 1;
            break;
        default:
            ((int64_t *)to)[i] = (int64_t)(number * 1000) | 1;
            break;
        }
    }
}

static bool
agrees(const DtFusedReduce *reduce, ShortRows *rows, ShortColumns *columns)
{
    enum { ROWS = 8 };
    uint64_t elements[ROWS * DT_REDUCED_SHORT];
    uint64_t results[DT_REDUCED_SHORT], expected[DT_REDUCED_SHORT];
    npy_intp size = reduce->loop->sizes[0];
    DtOutcome outcome = {0};
    bool same = true;
    fill((char *)elements, reduce->loop->types[0], ROWS * DT_REDUCED_SHORT);
    for (npy_intp length = 1; length <= DT_REDUCED_SHORT && same; length++) {
        for (npy_intp i = 0; i < ROWS; i++) {
            dt_reduced_row(reduce, (char *)expected + i * size,
                           (char *)elements + i * length * size, length, &outcome);
        }
        same = rows((char *)elements, (char *)results, ROWS, length)
               && memcmp(results, expected, (size_t)(ROWS * size)) == 0;
        dt_reduced_columns(reduce, (char *)expected, (char *)elements, true, ROWS, length,
                           &outcome);
        same = same && columns((char *)elements, (char *)results, true, ROWS, length)
               && memcmp(results, expected, (size_t)(length * size)) == 0;
    }
    return same && !outcome.failed;
}

void
dt_reduced_find_short(DtFusedReduce *reduce)
{
    const DtLoop *loop = reduce->loop;
    for (size_t i = 0; i < Py_ARRAY_LENGTH(table); i++) {
        if (loop->types[0] != table[i].type_num || strcmp(loop->row->name, table[i].ufunc) != 0) {
            continue;
        }
        if (table[i].state == UNTRIED) {
            table[i].state = agrees(reduce, table[i].rows, table[i].columns) ? AGREES : DIFFERS;
        }
        reduce->short_rows = table[i].state == AGREES ? table[i].rows : NULL;
        reduce->short_columns = table[i].state == AGREES ? table[i].columns : NULL;
    }
}
