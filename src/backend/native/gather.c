/* Reads operands that are not dense in the order of the walk: blocks gathered into scratch, in the
 * order that NumPy's iterator would have used.  Blocks that lie together are read where they are.
 */
#include <string.h>

#include "backend/native/native.h"
#include "backend/native/vector.h"

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

typedef struct Pair {
    uint64_t a, b;
} Pair;

DT_VECTOR static void
copy_apart(char *to, const char *from, npy_intp stride, npy_intp count, uint8_t size)
{
    switch (size) {
    case 1:
        COPY_RUN(uint8_t)
        break;
    case 2:
        COPY_RUN(uint16_t)
        break;
    case 4:
        COPY_RUN(uint32_t)
        break;
    case 8:
        COPY_RUN(uint64_t)
        break;
    default:
        COPY_RUN(Pair)
        break;
    }
}

static inline void
copy_run(char *to, const char *from, npy_intp stride, npy_intp count, uint8_t size)
{
    if (stride == size) {
        memcpy(to, from, (size_t)(count * size));
    }
    else {
        copy_apart(to, from, stride, count, size);
    }
}

DtReader
dt_reader_make(const DtLayout *layout, const npy_intp *strides, PyArrayObject *array, uint8_t size)
{
    int last = layout->nwalk - 1;
    npy_intp dense = size;
    DtReader reader = {
        .data = PyArray_BYTES(array),
        .strides = strides,
        .linear = true,
        .periodic = last > 0,
    };
    for (int i = last; i >= 0; i--) {
        reader.linear = reader.linear && strides[i] == dense;
        reader.periodic = reader.periodic && (i == last || strides[i] == 0);
        dense *= layout->walk_shape[i];
    }
    return reader;
}

char *
dt_reader_block(DtReader *reader, const DtLayout *layout, npy_intp start, npy_intp count,
                uint8_t size)
{
    int last = layout->nwalk - 1;
    npy_intp position[DT_FUSED_MAX_NDIM];
    npy_intp inner = layout->walk_shape[last];
    npy_intp stride = reader->strides[last];
    char *from = reader->data;
    if (reader->linear) {
        return from + start * size;
    }
    for (int i = last; i >= 0; i--) {
        position[i] = start % layout->walk_shape[i];
        start /= layout->walk_shape[i];
        from += position[i] * reader->strides[i];
    }
    bool within = position[last] + count <= inner;
    if (within && stride == size) {
        return from;
    }
    /* What comes after the same element is the same: repeated ones, and rows that are all alike. */
    bool repeats = reader->periodic || (within && stride == 0);
    if (repeats && from == reader->last && count <= reader->last_count) {
        return reader->scratch;
    }
    reader->last = repeats ? from : NULL;
    reader->last_count = count;
    if (within) {
        copy_run(reader->scratch, from, stride, count, size);
        return reader->scratch;
    }
    char *to = reader->scratch;
    for (;;) {
        npy_intp run = inner - position[last];
        run = run < count ? run : count;
        copy_run(to, from, stride, run, size);
        to += run * size;
        count -= run;
        if (count == 0) {
            return reader->scratch;
        }
        /* To the start of the next row. */
        from -= position[last] * stride;
        position[last] = 0;
        for (int i = last - 1; i >= 0; i--) {
            from += reader->strides[i];
            if (++position[i] < layout->walk_shape[i]) {
                break;
            }
            from -= position[i] * reader->strides[i];
            position[i] = 0;
        }
    }
}
