/* Copies of a few elements, into places of a frame and out of them: fills.c. */
#ifndef DT_BACKEND_NATIVE_FILLS_H
#define DT_BACKEND_NATIVE_FILLS_H

#include <stdbool.h>

#include "adapters/numpy/api.h"

/* How an operand comes into its place, with what is over in a group of four filled. */
typedef struct DtFill DtFill;
struct DtFill {
    void (*copy)(const DtFill *fill, const char *from);
    char *place;
    const npy_intp *offsets; /* of elements from the first one; NULL: one behind the other */
    npy_intp total, whole;   /* elements, and those of whole groups */
    uint16_t slot;           /* who knows where it comes from */
    uint8_t size;            /* of an element */
};

/* Chooses how it is copied, by the rest. */
void dt_fill_choose(DtFill *fill);
/* Elements `start` up to `end` of the place become the one at `from`. */
void dt_fill_repeat(char *place, const char *from, npy_intp start, npy_intp end, uint8_t size);

/* Copies a result out of its place; false: there is a NaN in it. */
typedef bool DtTake(const char *place, char *to, npy_intp bytes);
/* For results of that type and length. */
DtTake *dt_take_choose(int type_num, npy_intp bytes);

#endif
