/* Masks, eight truths at a time. */
#ifndef DT_BACKEND_NATIVE_MASKS_H
#define DT_BACKEND_NATIVE_MASKS_H

#include <string.h>

#include "backend/native/native.h"

typedef uint64_t DtTruths; /* eight of them */
#define DT_ALL_TRUE 0x0101010101010101u
/* The first truth is the lowest byte. */
#define DT_FIRST_IS_LOWEST (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__)

static inline DtTruths
dt_eight_truths(const npy_bool *mask)
{
    DtTruths eight;
    memcpy(&eight, mask, sizeof(eight));
    return eight;
}

/* masks.c: how many there are; -1: there are truths that are not 1. */
npy_intp dt_count_truths(const npy_bool *mask, npy_intp total);

#endif
