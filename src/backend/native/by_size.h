/* Elements by their size alone: a move does not ask what they mean.
 *
 * A loop that is written once, as a macro of the element's type, gets a copy for each size: with
 * the size known, an element is one register, where a copy of unknown size would be a call.
 */
#ifndef DT_BACKEND_NATIVE_BY_SIZE_H
#define DT_BACKEND_NATIVE_BY_SIZE_H

#include <stdint.h>

/* The widest element: a complex of two doubles. */
typedef struct DtTwoWords {
    uint64_t words[2];
} DtTwoWords;

/* LOOP(T) for the T of `size` bytes: 1, 2, 4, 8 or 16. */
#define DT_BY_SIZE(size, LOOP)                                                                     \
    do {                                                                                           \
        switch (size) {                                                                            \
        case 1:                                                                                    \
            LOOP(uint8_t)                                                                          \
            break;                                                                                 \
        case 2:                                                                                    \
            LOOP(uint16_t)                                                                         \
            break;                                                                                 \
        case 4:                                                                                    \
            LOOP(uint32_t)                                                                         \
            break;                                                                                 \
        case 8:                                                                                    \
            LOOP(uint64_t)                                                                         \
            break;                                                                                 \
        default:                                                                                   \
            LOOP(DtTwoWords)                                                                       \
            break;                                                                                 \
        }                                                                                          \
    } while (0)

#endif
