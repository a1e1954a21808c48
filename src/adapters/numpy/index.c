/* What is read from arrays by index, their length, and iteration over a short first axis.
 *
 * Not in here: views (index_view.c), copies by index arrays (index_arrays.c), writing (writes.c).
 */
#include "adapters/numpy/index.h"

#include <string.h>

/* An index, item by item. */
typedef struct Key {
    DtVar *items[DT_NP_MAX_ITEMS];
    uint32_t count;
    bool advanced; /* with index arrays */
} Key;

static DtStatus
read_key(DtTrace *trace, DtVar *var, Key *key)
{
    DtVar **parts = &var;
    bool many;
    key->count = 1;
    if (var->type->kind != DT_KIND_LIST) {
        DT_TRY(dt_np_items(trace, var, &parts, &key->count, &many));
    }
    if (key->count > DT_NP_MAX_ITEMS) {
        return dt_break(trace, DT_BREAK_RAISES, "an index with %u items", key->count);
    }
    key->advanced = false;
    for (uint32_t i = 0; i < key->count; i++) {
        DT_TRY(dt_var_realize(trace, parts[i], &key->items[i]));
        key->items[i] = dt_var_peek(key->items[i]);
        key->advanced = key->advanced || dt_np_is_index_array(key->items[i]);
    }
    return DT_OK;
}

DtStatus
dt_np_subscript(const DtAdapter *adapter, DtTrace *trace, DtArrayVar *self, DtVar *key, DtVar **out)
{
    DtNpView view = {.base = self->meta, .reads = true};
    Key read;
    (void)adapter;
    DT_TRY(dt_np_read_key(trace, key, &key));
    if (!dt_np_is_ndarray(self)) {
        return dt_break(trace, DT_BREAK_ARRAY_OP, "an index into a NumPy scalar");
    }
    DT_TRY(read_key(trace, key, &read));
    if (read.advanced) {
        return dt_np_take_items(trace, self, key, read.items, read.count, out);
    }
    DT_TRY(dt_np_view_read(trace, read.items, read.count, &view));
    return dt_np_view_emit(trace, self, key, &view, out);
}

DtStatus
dt_np_region(DtTrace *trace, DtArrayVar *self, DtVar *key, DtNpRegion *out)
{
    DtNpView view = {.base = self->meta};
    Key read;
    DT_TRY(read_key(trace, key, &read));
    out->advanced = read.advanced;
    if (out->advanced) {
        DT_TRY(dt_np_need_items(trace, self->meta));
        return dt_np_need_items_in_slices(trace, self, read.items, read.count);
    }
    DT_TRY(dt_np_view_read(trace, read.items, read.count, &view));
    if (view.ndim > DT_NP_MAXDIMS) {
        return dt_break(trace, DT_BREAK_ARRAY_KIND, "an array of %u dimensions", view.ndim);
    }
    out->item = view.ndim == 0 && !view.ellipsis;
    out->ndim = view.ndim;
    memcpy(out->shape, view.shape, sizeof(view.shape[0]) * view.ndim);
    return DT_OK;
}

/* ---- Length and iteration -------------------------------------------------------------------- */

DtStatus
dt_np_length(const DtAdapter *adapter, DtTrace *trace, DtArrayVar *self, DtVar **out)
{
    (void)adapter;
    if (self->meta->ndim == 0) {
        return dt_break(trace, DT_BREAK_RAISES, "len() of an array without dimensions");
    }
    return dt_np_axis_size(trace, self, 0, out);
}

#define MAX_UNROLLED 64

DtStatus
dt_np_iter(const DtAdapter *adapter, DtTrace *trace, DtArrayVar *self, DtVar **out)
{
    (void)adapter;
    if (self->meta->ndim == 0) {
        return dt_break(trace, DT_BREAK_RAISES, "iteration over an array without dimensions");
    }
    int64_t size = self->meta->shape[0]->hint.i;
    if (size > MAX_UNROLLED) {
        return dt_break(trace, DT_BREAK_UNROLL_LIMIT, "iteration over %lld rows of an array",
                        (long long)size);
    }
    DT_TRY(dt_trace_specialize(trace, self->meta->shape[0]));
    return dt_iter_array(trace, self, out);
}
