/* Single numbers out of a generator's bits, without a call of NumPy.
 *
 * What NumPy's methods do for one number: the same words of the generator, the same arithmetic.
 * Whether that is so is tried out once, on generators of our own (random_bits.c).
 */
#ifndef DT_ADAPTERS_NUMPY_RANDOM_BITS_H
#define DT_ADAPTERS_NUMPY_RANDOM_BITS_H

#include <stdbool.h>
#include <stdint.h>

#include "compat/python.h"

/* What the capsule of a bit generator points to, as NumPy documents it (numpy/random/bitgen.h). */
typedef struct DtBitGen {
    void *state;
    uint64_t (*next_uint64)(void *);
    uint32_t (*next_uint32)(void *);
    double (*next_double)(void *);
    uint64_t (*next_raw)(void *);
} DtBitGen;

/* A generator that nobody else draws from at the moment. */
typedef struct DtRandomBits {
    const DtBitGen *gen;
    char *place;  /* what draws of the words that lie ready change ... */
    uint8_t size; /* ... so many bytes, a multiple of eight or four */
    int ready;    /* words of 32 bits that lie ready */
    bool words;   /* they may be drawn one by one */
    /* Where a RandomState keeps the second of a pair of normal numbers: a flag of four bytes, and
     * eight bytes behind it the number.  NULL: it is no RandomState. */
    char *half;
} DtRandomBits;

enum { DT_RANDOM_HALF_SIZE = 16 };

/* Is it an instance of RandomState (1), of Generator (2), or of neither (0)? */
int dt_np_random_bits_class(PyObject *generator);

/* False: numbers of this generator are drawn by NumPy.  No user code, no error. */
bool dt_np_random_bits(PyObject *generator, DtRandomBits *bits);

/* random(); false, nothing drawn: not enough words lie ready. */
bool dt_np_random_double(DtRandomBits *bits, double *out);
/* RandomState.randint(0, max + 1); false as above, or another range than this knows. */
bool dt_np_random_below(DtRandomBits *bits, uint64_t max, uint64_t *out);
/* RandomState.standard_normal(); false as above. */
bool dt_np_random_normal(DtRandomBits *bits, double *out);

#endif
