/* What an index is made of: shared by index.c, index_view.c, index_arrays.c and writes.c. */
#ifndef DT_ADAPTERS_NUMPY_INDEX_H
#define DT_ADAPTERS_NUMPY_INDEX_H

#include "adapters/numpy/internal.h"

#define DT_NP_MAX_ITEMS (2 * DT_NP_MAXDIMS)

/* ---- Views (index_view.c) -------------------------------------------------------------------- */

/* A view of `base` that is being put together. */
typedef struct DtNpView {
    const DtMeta *base;
    const DtSym *shape[DT_NP_MAX_ITEMS];
    int8_t source[DT_NP_MAX_ITEMS]; /* base axis of a result axis, -1 for a new one */
    uint32_t ndim;
    uint32_t axis;               /* next base axis */
    bool partial[DT_NP_MAXDIMS]; /* base axis is not taken whole */
    bool stepped[DT_NP_MAXDIMS]; /* with a step other than 1 */
    bool negative;
    bool ellipsis; /* an Ellipsis was written: 0-d results stay arrays */
    bool reads;    /* nothing is written there */
    bool items;    /* and it is one item */
} DtNpView;

typedef enum DtNpItemKind {
    DT_NP_ITEM_INT,
    DT_NP_ITEM_SLICE,
    DT_NP_ITEM_NEW,
    DT_NP_ITEM_ELLIPSIS
} DtNpItemKind;

/* What an item is that is no index array; breaks if it is nothing that an index is made of. */
DtStatus dt_np_item_kind(DtTrace *, DtVar *item, DtNpItemKind *kind) DT_MUST_CHECK;
bool dt_np_is_ellipsis(DtVar *item);
/* An integer that the graph computes as an index: its value is checked when it runs. */
bool dt_np_is_integer(DtVar *item);

/* The same that NumPy takes into an array of int64 beside Python's. */
bool dt_np_is_index_number(DtVar *item);

/* Add an axis to the view: a slice of the next one of the base, a new one of one item, or all up to
 * axis `until` of the base as they are. */
DtStatus dt_np_view_slice(DtTrace *, DtNpView *, DtSeqVar *slice) DT_MUST_CHECK;
DtStatus dt_np_view_new_axis(DtTrace *, DtNpView *) DT_MUST_CHECK;
void dt_np_view_whole(DtNpView *, uint32_t until);
/* All items of an index that has no index arrays. */
DtStatus dt_np_view_read(DtTrace *, DtVar *const *items, uint32_t count, DtNpView *) DT_MUST_CHECK;
/* self[key], a view or an item. */
DtStatus dt_np_view_emit(DtTrace *, DtArrayVar *self, DtVar *key, const DtNpView *,
                         DtVar **out) DT_MUST_CHECK;

/* ---- Index arrays (index_arrays.c) ----------------------------------------------------------- */

/* The realised key, with an index array in the place of each range(). */
DtStatus dt_np_read_key(DtTrace *, DtVar *key, DtVar **out) DT_MUST_CHECK;
/* An index array, or a sequence or bool that stands for one. */
bool dt_np_is_index_array(DtVar *item);
/* The size of what a mask selects, or of where it is true. */
DtStatus dt_np_count_of_mask(DtTrace *, const DtArrayVar *mask, const DtSym **out) DT_MUST_CHECK;
/* self[key], a copy; `items`: of the key, with index arrays among them. */
DtStatus dt_np_take_items(DtTrace *, DtArrayVar *self, DtVar *key, DtVar *const *items,
                          uint32_t count, DtVar **out) DT_MUST_CHECK;
/* Breaks where index arrays stand beside a slice of nothing. */
DtStatus dt_np_need_items_in_slices(DtTrace *, const DtArrayVar *self, DtVar *const *items,
                                    uint32_t count) DT_MUST_CHECK;

/* ---- Masks that say where a number is written (fills.c) -------------------------------------- */

/* self[key] = value, if it is such an assignment; *done says whether it was one. */
DtStatus dt_np_fill_masked(DtTrace *, DtArrayVar *self, DtVar *key, DtVar *value,
                           bool *done) DT_MUST_CHECK;

#endif
