/* Reads operands that are not dense in the order of the walk: blocks gathered into scratch, in the
 * order that NumPy's iterator would have used.  Blocks that lie together are read where they are.
 */
#include <string.h>

#include "backend/native/by_size.h"
#include "backend/native/vector.h"
#include "backend/native/walk.h"

/* A run of one repeated element, or of elements apart. */
#define COPY_RUN(T)                                                                                \
    if (stride == 0) {                                                                             \
        T one = *(const T *)from;                                                                  \
        for (npy_intp i = 0; i < count; i++) {                                                     \
            ((T *)to)[i] = one;                                                                    \
        }                                                                                          \
    }                                                                                              \
    else {                                                                                         \
        for (npy_intp i = 0; i < count; i++) {                                                     \
            ((T *)to)[i] = *(const T *)(from + i * stride);                                        \
        }                                                                                          \
    }

DT_VECTOR static void
copy_apart(char *to, const char *from, npy_intp stride, npy_intp count, uint8_t size)
{
    DT_BY_SIZE(size, COPY_RUN);
}

/* The other way round. */
#define SPREAD_RUN(T)                                                                              \
    for (npy_intp i = 0; i < count; i++) {                                                         \
        *(T *)(to + i * stride) = ((const T *)from)[i];                                            \
    }

DT_VECTOR static void
spread_apart(char *to, npy_intp stride, const char *from, npy_intp count, uint8_t size)
{
    DT_BY_SIZE(size, SPREAD_RUN);
}

void
dt_copy_from(char *to, const char *from, npy_intp stride, npy_intp count, uint8_t size)
{
    if (stride == size) {
        memcpy(to, from, (size_t)(count * size));
    }
    else {
        copy_apart(to, from, stride, count, size);
    }
}

void
dt_copy_to(char *to, npy_intp stride, const char *from, npy_intp count, uint8_t size)
{
    if (stride == size) {
        memcpy(to, from, (size_t)(count * size));
    }
    else {
        spread_apart(to, stride, from, count, size);
    }
}

#define EXPAND(T)                                                                                  \
    for (npy_intp row = 0; row < rows; row++) {                                                    \
        T one = ((const T *)from)[row], *place = (T *)to + row * length;                           \
        for (npy_intp i = 0; i < length; i++) {                                                    \
            place[i] = one;                                                                        \
        }                                                                                          \
    }

DT_VECTOR void
dt_copy_expanded(char *to, const char *from, npy_intp rows, npy_intp length, uint8_t size)
{
    DT_BY_SIZE(size, EXPAND);
}

DtReader
dt_reader_make(const DtLayout *layout, const npy_intp *strides, uint8_t size)
{
    int last = layout->nwalk - 1;
    DtReader reader = {
        .strides = strides,
        .linear = dt_layout_is_linear(layout, strides, size),
        .periodic = last > 0,
    };
    for (int i = 0; i < last; i++) {
        reader.periodic = reader.periodic && strides[i] == 0;
    }
    return reader;
}

char *
dt_reader_block(DtReader *reader, const DtLayout *layout, npy_intp start, npy_intp count,
                uint8_t size)
{
    int last = layout->nwalk - 1;
    npy_intp stride = reader->strides[last];
    DtRuns runs;
    if (reader->linear) {
        return reader->data + start * size;
    }
    dt_runs_begin(&runs, layout, reader->strides, reader->data, start);
    npy_intp length = dt_runs_length(&runs, layout, count);
    bool within = length == count;
    if (within && stride == size) {
        return runs.at;
    }
    /* What comes after the same element is the same: repeated ones, and rows that are all alike. */
    bool repeats = reader->periodic || (within && stride == 0);
    if (repeats && runs.at == reader->last && count <= reader->last_count) {
        return reader->scratch;
    }
    reader->last = repeats ? runs.at : NULL;
    reader->last_count = count;
    for (char *to = reader->scratch;;) {
        dt_copy_from(to, runs.at, stride, length, size);
        to += length * size;
        count -= length;
        if (count == 0) {
            return reader->scratch;
        }
        dt_runs_next(&runs, layout, reader->strides);
        length = dt_runs_length(&runs, layout, count);
    }
}
