/* Layouts are kept: most calls of a stage find operands of the shapes and strides of the call
 * before.
 *
 * A stage has the last one, with a key of all that it was computed from.  A run takes it, under the
 * GIL, and gives it back, since the GIL may be released in between: who finds none makes one.
 */
#include <stdlib.h>
#include <string.h>

#include "backend/native/walk.h"

/* Items of the key for each array: dimensions, sizes, strides. */
static size_t
key_items(const DtFused *fused)
{
    return 1 + 2 * (size_t)fused->ndim;
}

static DtLayout *
new_layout(const DtFused *fused)
{
    size_t nin = fused->ninputs, nout = fused->noutputs, row = sizeof(DtStrides);
    size_t key = (nin + nout) * key_items(fused) * sizeof(npy_intp);
    size_t size = sizeof(DtLayout) + (nin + 2 * nout) * row + nin * sizeof(DtReader) + key;
    DtLayout *layout = calloc(1, size); /* its first key is compared with none */
    if (layout == NULL) {
        PyErr_NoMemory();
        return NULL;
    }
    layout->walk_strides = (DtStrides *)(layout + 1);
    layout->strides = layout->walk_strides + nin;
    layout->target_strides = layout->strides + nout;
    layout->readers = (DtReader *)(layout->target_strides + nout);
    layout->key = (npy_intp *)(layout->readers + nin);
    return layout;
}

/* Sets the layout's key; was it that before? */
static bool
note_arrays(const DtFused *fused, PyArrayObject *const *arrays, const DtTarget *targets,
            DtLayout *layout)
{
    npy_intp *key = layout->key;
    bool same = true;
    for (uint32_t i = 0; i < fused->ninputs; i++, key += key_items(fused)) {
        same = dt_layout_note(key, arrays[i]) && same;
    }
    for (uint32_t i = 0; i < fused->noutputs; i++, key += key_items(fused)) {
        same = dt_layout_note(key, targets[i].array) && same;
    }
    return same;
}

static bool
have_axes(const DtFused *fused, PyArrayObject *const *arrays)
{
    bool have = true;
    for (uint32_t i = 0; i < fused->ninputs; i++) {
        have = have && PyArray_NDIM(arrays[i]) <= (int)fused->ndim;
    }
    return have;
}

DtFusedRun
dt_layout_kept_take(const DtFused *fused, PyArrayObject *const *arrays, DtTarget *targets,
                    DtLayout **out)
{
    if (fused->dense_called || !have_axes(fused, arrays)) {
        return DT_FUSED_CALL;
    }
    DtLayout *layout = *fused->layout != NULL ? *fused->layout : new_layout(fused);
    *fused->layout = NULL;
    *out = layout;
    if (layout == NULL) {
        return DT_FUSED_ERROR;
    }
    if (!note_arrays(fused, arrays, targets, layout) || !layout->is_known) {
        layout->is_known = true;
        layout->serves = dt_layout_compute(fused, arrays, targets, layout);
        for (uint32_t i = 0; i < fused->ninputs && layout->serves; i++) {
            layout->serves = dt_layout_allows(fused, i, arrays[i], layout);
            layout->readers[i] =
                dt_reader_make(layout, layout->walk_strides[i], fused->inputs[i].size);
        }
    }
    else {
        dt_layout_drop_targets(fused, layout, targets);
    }
    return layout->serves ? DT_FUSED_OK : DT_FUSED_CALL;
}

void
dt_layout_kept_give(const DtFused *fused, DtLayout *layout)
{
    if (*fused->layout == NULL) {
        *fused->layout = layout;
    }
    else {
        free(layout);
    }
}
