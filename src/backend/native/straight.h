/* The straight line that a fused stage is for a few elements: straight.c. */
#ifndef DT_BACKEND_NATIVE_STRAIGHT_H
#define DT_BACKEND_NATIVE_STRAIGHT_H

#include "backend/native/native.h"

enum {
    DT_STRAIGHT_MOST = 64, /* elements, where none has more than eight bytes */
    DT_STRAIGHT_PAYS = 3,  /* steps of ours, from which on it is faster than NumPy's loops are */
};

/* The stage's line, made at first use; NULL: it has none for so many elements, or there is no
 * memory for it.  To be taken when no other code of Python can run before it is done with. */
DtStraight *dt_straight_get(const DtFused *fused, npy_intp total);
void dt_straight_free(DtStraight *straight);
/* Makes room for so many elements, so that the frame may be another one; false: it is not for so
 * many, or there is no memory. */
bool dt_straight_reserve(DtStraight *straight, npy_intp total);

/* Runs it over `total` elements, dense in one order: slots say where operands, numbers that are not
 * constant, and results are.  False: what came out is not sure to be all that NumPy's loops give,
 * and they are to be run. */
bool dt_straight_run(DtStraight *straight, char *const *slots, npy_intp total);

/* How a few elements lie in an operand. */
typedef struct DtFewInput {
    npy_intp key[1 + 2 * DT_FUSED_MAX_NDIM]; /* of the array, or of the one that it is a view of */
    npy_intp first;                          /* element: bytes from that array's first one */
    npy_intp offsets[DT_STRAIGHT_MOST];      /* of the elements from the first one */
    bool dense;                              /* they lie one behind the other */
} DtFewInput;

/* What is known of operands of certain shapes and strides: fused_few.c. */
typedef struct DtFew {
    bool known;     /* there is a key */
    bool serves;    /* such operands can be run so */
    unsigned turn;  /* keys that there have been */
    npy_intp total; /* elements ... */
    npy_intp shape[DT_FUSED_MAX_NDIM];
    int order; /* ... dense in this order; 0: their own: */
    DtStrides *strides;
    bool columns;
    npy_intp rows, length; /* of what is reduced */
    DtFewInput *inputs;
} DtFew;

/* With nothing known, to be freed; NULL: no memory. */
DtFew *dt_few_new(const DtFused *fused);
/* What the line's stage keeps of that; NULL: no memory. */
DtFew *dt_straight_few(DtStraight *straight);
/* Runs it over such operands, which begin where slots say. */
bool dt_straight_run_few(DtStraight *straight, const DtFew *few, char *const *slots);

/* The steps alone; false: they were in vain.  Results are in their places (fills.h).  Flags that
 * are looked at on the way are added to `flags`; those at the beginning are the caller's to look
 * at, if the line clears any. */
bool dt_straight_go(DtStraight *straight, const DtFew *few, char *const *slots, unsigned *flags);
bool dt_straight_clears(const DtStraight *straight);
char *dt_straight_place(const DtStraight *straight, uint16_t slot);

/* Results of what is reduced: rows, or columns. */
static inline npy_intp
dt_few_results(const DtFew *few)
{
    return few->columns ? few->length : few->rows;
}
/* fused_few.c: finds out how the operands of this run lie; -1 with MemoryError. */
int dt_few_learn(const DtFused *fused, const DtNativeRun *run, DtStraight *straight, DtFew *few);

#endif
