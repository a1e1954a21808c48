/* Copies of a few elements: for each kind of operand, number and result a function that knows what
 * it is, chosen when it is known how they lie.  A call of memcpy would take longer.
 */
#include "backend/native/fills.h"

#include <string.h>

#include "backend/native/by_size.h"

/* ---- Into places ----------------------------------------------------------------------------- */

#define REPEAT(T)                                                                                  \
    {                                                                                              \
        T element;                                                                                 \
        memcpy(&element, from, sizeof(T));                                                         \
        for (npy_intp i = start; i < end; i++) {                                                   \
            memcpy(place + i * (npy_intp)sizeof(T), &element, sizeof(T));                          \
        }                                                                                          \
    }

void
dt_fill_repeat(char *place, const char *from, npy_intp start, npy_intp end, uint8_t size)
{
    DT_BY_SIZE(size, REPEAT);
}

static inline void
copy(char *to, const char *from, npy_intp bytes)
{
    for (; bytes >= 16; bytes -= 16, to += 16, from += 16) {
        memcpy(to, from, 16);
    }
    for (; bytes >= 4; bytes -= 4, to += 4, from += 4) {
        memcpy(to, from, 4);
    }
    for (; bytes > 0; bytes--) {
        *to++ = *from++;
    }
}

static void
copy_16(const DtFill *fill, const char *from)
{
    memcpy(fill->place, from, 16);
}

static void
copy_32(const DtFill *fill, const char *from)
{
    memcpy(fill->place, from, 32);
}

static void
copy_whole(const DtFill *fill, const char *from)
{
    copy(fill->place, from, fill->total * fill->size);
}

static void
copy_part(const DtFill *fill, const char *from)
{
    copy(fill->place, from, fill->total * fill->size);
    dt_fill_repeat(fill->place, fill->place, fill->total, fill->whole, fill->size);
}

#define GATHER(T)                                                                                  \
    static void gather_##T(const DtFill *fill, const char *from)                                   \
    {                                                                                              \
        const npy_intp *offsets = fill->offsets;                                                   \
        T *to = (T *)fill->place;                                                                  \
        npy_intp i = 0;                                                                            \
        for (; i < fill->total; i++) {                                                             \
            memcpy(to + i, from + offsets[i], sizeof(T));                                          \
        }                                                                                          \
        for (; i < fill->whole; i++) {                                                             \
            to[i] = to[0];                                                                         \
        }                                                                                          \
    }                                                                                              \
    static void spread_##T(const DtFill *fill, const char *from)                                   \
    {                                                                                              \
        T number, *to = (T *)fill->place;                                                          \
        memcpy(&number, from, sizeof(T));                                                          \
        for (npy_intp i = 0; i < fill->whole; i++) {                                               \
            to[i] = number;                                                                        \
        }                                                                                          \
    }
GATHER(uint8_t)
GATHER(uint16_t)
GATHER(uint32_t)
GATHER(uint64_t)
GATHER(DtTwoWords)

#define CHOOSE_GATHER(T) fill->copy = gather_##T;
#define CHOOSE_SPREAD(T) fill->copy = spread_##T;

void
dt_fill_choose(DtFill *fill)
{
    if (fill->offsets != NULL) {
        DT_BY_SIZE(fill->size, CHOOSE_GATHER);
    }
    else if (fill->total == 0) {
        DT_BY_SIZE(fill->size, CHOOSE_SPREAD);
    }
    else if (fill->total < fill->whole) {
        fill->copy = copy_part;
    }
    else {
        npy_intp bytes = fill->total * fill->size;
        fill->copy = bytes == 16 ? copy_16 : bytes == 32 ? copy_32 : copy_whole;
    }
}

/* ---- Out of places --------------------------------------------------------------------------- */

#define TAKE(T, BITS)                                                                              \
    {                                                                                              \
        typedef T Group __attribute__((vector_size(16)));                                          \
        typedef BITS Found __attribute__((vector_size(16)));                                       \
        Found nans = {0};                                                                          \
        for (; bytes >= 16; bytes -= 16, to += 16, place += 16) {                                  \
            Group group;                                                                           \
            memcpy(&group, place, 16);                                                             \
            nans |= group != group;                                                                \
            memcpy(to, &group, 16);                                                                \
        }                                                                                          \
        BITS found = 0;                                                                            \
        for (size_t i = 0; i < 16 / sizeof(T); i++) {                                              \
            found |= nans[i];                                                                      \
        }                                                                                          \
        for (; bytes > 0; bytes -= (npy_intp)sizeof(T), to += sizeof(T), place += sizeof(T)) {     \
            T item;                                                                                \
            memcpy(&item, place, sizeof(T));                                                       \
            found |= item != item;                                                                 \
            memcpy(to, &item, sizeof(T));                                                          \
        }                                                                                          \
        return found == 0;                                                                         \
    }

/* Of any length; of one number; and of the lengths that are most frequent. */
#define TAKES(T, BITS)                                                                             \
    static bool take_##T(const char *place, char *to, npy_intp bytes)                              \
        TAKE(T, BITS) static bool take_##T##_one(const char *place, char *to, npy_intp bytes)      \
    {                                                                                              \
        T item;                                                                                    \
        (void)bytes;                                                                               \
        memcpy(&item, place, sizeof(T));                                                           \
        memcpy(to, &item, sizeof(T));                                                              \
        return item == item;                                                                       \
    }                                                                                              \
    static bool take_##T##_16(const char *place, char *to, npy_intp bytes)                         \
    {                                                                                              \
        bytes = 16;                                                                                \
        TAKE(T, BITS)                                                                              \
    }                                                                                              \
    static bool take_##T##_32(const char *place, char *to, npy_intp bytes)                         \
    {                                                                                              \
        bytes = 32;                                                                                \
        TAKE(T, BITS)                                                                              \
    }
TAKES(double, int64_t)
TAKES(float, int32_t)

static bool
take_bytes(const char *place, char *to, npy_intp bytes)
{
    copy(to, place, bytes);
    return true;
}

DtTake *
dt_take_choose(int type_num, npy_intp bytes)
{
    if (type_num == NPY_DOUBLE || type_num == NPY_CDOUBLE) {
        return bytes == 32   ? take_double_32
               : bytes == 16 ? take_double_16
               : bytes == 8  ? take_double_one
                             : take_double;
    }
    if (type_num == NPY_FLOAT || type_num == NPY_CFLOAT) {
        return bytes == 32   ? take_float_32
               : bytes == 16 ? take_float_16
               : bytes == 4  ? take_float_one
                             : take_float;
    }
    return take_bytes;
}
