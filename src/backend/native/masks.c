/* How many of a mask are true; see masks.h. */
#include "backend/native/masks.h"

#include "backend/native/vector.h"

DT_VECTOR npy_intp
dt_count_truths(const npy_bool *mask, npy_intp total)
{
    DtTruths all = 0;
    npy_intp count = 0, i = 0;
    for (; i + 8 <= total; i += 8) {
        DtTruths eight = dt_eight_truths(mask + i);
        all |= eight;
        count += __builtin_popcountll(eight);
    }
    for (; i < total; i++) {
        all |= mask[i];
        count += mask[i];
    }
    return all & ~DT_ALL_TRUE ? -1 : count;
}
