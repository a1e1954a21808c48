/* Lists that existed before, and the contents of deques, of any length.
 *
 *   [ head │ ....... gap ....... │ end ]      known are what stands at the start and at the end;
 *     ▲         nobody has asked     ▲        append() adds at the end, pop(0) takes off the start,
 *   hist[0]                      hist[-1]     an item of the gap that is asked for joins its end
 *       │
 *       │ anything that looks at all that is in it
 *       ▼ dt_growing_list_read(), in place
 *     LIST     its length guarded, what stands at both ends and lazy items for the gap
 *
 * A list of results grows from call to call, and who appends to it, or looks at the last result,
 * does not ask how long it is: one entry serves all lengths.  Its length is a number like another,
 * so `len(hist) % 10 == 0` is the guard.
 *
 * Invariants: an item of before that is known is guarded to be there, and the two ends do not meet.
 * Only dt_var_receiver() gives away a list that nobody has read; dt_var_build() and
 * dt_var_realize() read it first.
 *
 * Not in here: what the methods do to a list (v_list.c), items at numbers that vary
 * (stored_items.c), replaying (sideeffects/diff.c).
 */
#include <string.h>

#include "compat/list.h"
#include "variables/kinds.h"

/* Longer input lists are not followed: each item would be a tracker. */
#define MAX_INPUT_ITEMS 65536
/* So many items are guarded to be there before a length says it of all. */
#define MOST_KNOWN 64

DtStatus
dt_list_build(DtTrace *trace, PyObject *object, const DtSource *source, bool trusted, DtVar **out)
{
    (void)trusted; /* contents change without the type or module that leads to the list */
    DtGrowingListVar *self = DT_KINDS_NEW(trace, GROWING_LIST, DtGrowingListVar, source);
    if (self == NULL) {
        return DT_ERROR;
    }
    self->list.cls = self->layout = &PyList_Type;
    self->list.object = object;
    *out = &self->list.base;
    return DT_OK;
}

DtStatus
dt_growing_list_of_deque(DtTrace *trace, PyObject *deque, const DtSource *source,
                         PyTypeObject *layout, DtVar **out)
{
    DT_TRY(dt_list_build(trace, deque, source, false, out));
    ((DtGrowingListVar *)*out)->layout = layout;
    ((DtGrowingListVar *)*out)->guarded = true;
    return dt_guard_deque(trace, source, deque, true);
}

static bool
is_growing(const DtVar *var)
{
    return var->type->kind == DT_KIND_GROWING_LIST;
}

DtStatus
dt_growing_list_guard(DtTrace *trace, DtVar *var)
{
    DtGrowingListVar *self = (DtGrowingListVar *)var;
    if (!is_growing(var) || self->guarded) {
        return DT_OK;
    }
    self->guarded = true;
    return dt_guard_type(trace, var->source, &PyList_Type);
}

/* ---- What was in it -------------------------------------------------------------------------- */

static bool
is_deque(const DtGrowingListVar *self)
{
    return self->layout != &PyList_Type;
}

static Py_ssize_t
count_before(const DtGrowingListVar *self)
{
    return self->layout->tp_as_sequence->sq_length(self->list.object);
}

static bool
is_being_sorted(const DtGrowingListVar *self)
{
    return !is_deque(self) && dt_list_is_being_sorted(self->list.object);
}

/* An item of before, whose source is of one kind or the other; from the end where `index` is
 * negative. */
static DtStatus
build_item(DtTrace *trace, DtGrowingListVar *self, DtSourceKind of_list, DtSourceKind of_deque,
           int64_t index, DtVar **out)
{
    Py_ssize_t at = index < 0 ? count_before(self) + index : index;
    const DtSource *base = self->list.base.source, *source;
    PyObject *item;
    if (is_deque(self)) {
        source = dt_source_get(trace, of_deque, base, (PyObject *)self->layout, index);
        item = self->layout->tp_as_sequence->sq_item(self->list.object, at);
        item = dt_trace_keep_take(trace, item);
        if (item == NULL) {
            return DT_ERROR;
        }
    }
    else {
        source = dt_source_get(trace, of_list, base, NULL, index);
        item = PyList_GET_ITEM(self->list.object, at);
    }
    return source != NULL ? dt_var_build_lazy(trace, item, source, out) : DT_ERROR;
}

static DtStatus
item_before(DtTrace *trace, DtGrowingListVar *self, int64_t index, DtVar **out)
{
    return build_item(trace, self, DT_SOURCE_LIST_ITEM, DT_SOURCE_DEQUE_ITEM, index, out);
}

DtStatus
dt_growing_list_before(DtTrace *trace, DtGrowingListVar *self, DtVar ***items)
{
    *items = DT_ARENA_ARRAY(&trace->arena, DtVar *, self->first + self->last + 1);
    if (*items == NULL) {
        return dt_no_memory();
    }
    for (uint32_t i = 0; i < self->first; i++) {
        DT_TRY(item_before(trace, self, i, &(*items)[i]));
    }
    for (uint32_t i = 0; i < self->last; i++) {
        DT_TRY(item_before(trace, self, (int64_t)i - self->last, &(*items)[self->first + i]));
    }
    return DT_OK;
}

DtStatus
dt_growing_list_read(DtTrace *trace, DtVar *var)
{
    DtGrowingListVar *self = (DtGrowingListVar *)var;
    DtSeqVar *list = &self->list;
    Py_ssize_t before = count_before(self);
    if (is_being_sorted(self)) {
        return dt_break(trace, DT_BREAK_OBJECT_MUTATION, "a list that is being sorted");
    }
    if (before > MAX_INPUT_ITEMS) {
        return dt_break(trace, DT_BREAK_UNROLL_LIMIT, "a %s of %zd items",
                        is_deque(self) ? "deque" : "list", before);
    }
    DT_TRY(is_deque(self) ? dt_guard_deque(trace, var->source, self->list.object, false)
                          : dt_guard_length(trace, var->source, &PyList_Type, before));
    uint32_t total = (uint32_t)before, gap = total - self->first - self->last;
    uint32_t end = list->count - self->head, count = self->head + gap + end;
    DtVar **items = DT_ARENA_ARRAY(&trace->arena, DtVar *, count + 1);
    DtVar **old = DT_ARENA_ARRAY(&trace->arena, DtVar *, total + 1), **ends;
    if (items == NULL || old == NULL) {
        return dt_no_memory();
    }
    DT_TRY(dt_growing_list_before(trace, self, &ends));
    memcpy(old, ends, self->first * sizeof(DtVar *));
    memcpy(old + self->first + gap, ends + self->first, self->last * sizeof(DtVar *));
    for (uint32_t i = self->first; i < self->first + gap; i++) {
        DT_TRY(build_item(trace, self, DT_SOURCE_INDEX, DT_SOURCE_BASE_INDEX, i, &old[i]));
    }
    memcpy(items + self->head, old + self->first, gap * sizeof(DtVar *));
    if (list->count > 0) {
        memcpy(items, list->items, self->head * sizeof(DtVar *));
        memcpy(items + self->head + gap, list->items + self->head, end * sizeof(DtVar *));
    }
    DT_TRY(dt_stored_settle(trace, self, old, items));
    DT_TRY(dt_journal_was_read(trace, var, old, total));
    var->type = dt_var_type_of(DT_KIND_LIST);
    list->items = items;
    list->count = list->capacity = count;
    return DT_OK;
}

/* ---- How long it is -------------------------------------------------------------------------- */

static const DtSource *
size_source(DtTrace *trace, const DtGrowingListVar *self)
{
    const DtSource *base = self->list.base.source;
    return is_deque(self)
               ? dt_source_get(trace, DT_SOURCE_DEQUE_SIZE, base, (PyObject *)self->layout, 0)
               : dt_source_get(trace, DT_SOURCE_LIST_SIZE, base, NULL, 0);
}

/* The length that it had as a number of each call. */
static DtStatus
size_before(DtTrace *trace, DtGrowingListVar *self, const DtSym **out)
{
    const DtSource *source = size_source(trace, self);
    DtNumber hint = {.i = count_before(self)};
    if (source == NULL) {
        return DT_ERROR;
    }
    DT_TRY(dt_growing_list_guard(trace, &self->list.base));
    return dt_trace_symbol(trace, source, DT_SYM_INT, hint, out);
}

bool
dt_growing_list_is_free(const DtTrace *trace, const DtGrowingListVar *self)
{
    return trace->options.dynamic != 0 && !self->list.base.source->synthetic
           && !is_being_sorted(self);
}

bool
dt_growing_list_varies(DtTrace *trace, DtGrowingListVar *self)
{
    if (!dt_growing_list_is_free(trace, self)) {
        return false;
    }
    if (self->list.count > 0 || self->first > 0 || self->last > 0 || self->nstored > 0) {
        return true;
    }
    const DtSource *source = size_source(trace, self);
    if (source == NULL) {
        PyErr_Clear(); /* MemoryError, which the next allocation reports */
    }
    return source != NULL && dt_symbolic_has_varied(trace, source);
}

/* len(list); *out NULL: it was read, or has to be. */
static DtStatus
size_now(DtTrace *trace, DtGrowingListVar *self, const DtSym **out)
{
    *out = NULL;
    if (!dt_growing_list_varies(trace, self)) {
        return DT_OK;
    }
    const DtSym *before;
    int64_t more = (int64_t)self->list.count - self->first - self->last;
    DT_TRY(size_before(trace, self, &before));
    return dt_sym_offset(&trace->arena, before, more, out);
}

static DtStatus
growing_list_length(DtTrace *trace, DtVar *var, DtVar **out)
{
    const DtSym *size;
    DT_TRY(size_now(trace, (DtGrowingListVar *)var, &size));
    if (size != NULL) {
        return dt_var_sym(trace, size, out);
    }
    DT_TRY(dt_growing_list_read(trace, var));
    return dt_var_length(trace, var, out);
}

static DtStatus
growing_list_bool(DtTrace *trace, DtVar *var, bool *out)
{
    const DtSym *size, *zero, *some = NULL;
    *out = ((DtSeqVar *)var)->count > 0;
    if (*out) {
        return dt_growing_list_guard(trace, var);
    }
    DT_TRY(size_now(trace, (DtGrowingListVar *)var, &size));
    zero = size != NULL ? dt_sym_int(&trace->arena, 0) : NULL;
    if (zero != NULL) {
        DT_TRY(dt_sym_binary(&trace->arena, DT_SYM_OP_GT, size, zero, &some));
    }
    if (some != NULL) {
        return dt_trace_decide(trace, some, out);
    }
    DT_TRY(dt_growing_list_read(trace, var));
    return dt_var_truth(trace, var, out);
}

/* ---- Its ends -------------------------------------------------------------------------------- */

/* That the two ends are apart in every call. */
static DtStatus
guard_apart(DtTrace *trace, DtGrowingListVar *self)
{
    const DtSym *size, *known, *enough = NULL;
    bool holds;
    if (self->first == 0 || self->last == 0) {
        return DT_OK; /* each item of an end says that it is there */
    }
    DT_TRY(size_before(trace, self, &size));
    known = dt_sym_int(&trace->arena, (int64_t)self->first + self->last);
    if (known == NULL) {
        return dt_no_memory();
    }
    DT_TRY(dt_sym_binary(&trace->arena, DT_SYM_OP_GE, size, known, &enough));
    return dt_trace_decide(trace, enough, &holds);
}

/* Moves `count` items from the gap to one of the ends; *done false: so many are not known to be in
 * it. */
static DtStatus
ask_for(DtTrace *trace, DtGrowingListVar *self, int64_t count, bool at_start, bool *done)
{
    DtSeqVar *list = &self->list;
    int64_t known = (int64_t)self->first + self->last;
    *done = count <= count_before(self) - known && known + count <= MOST_KNOWN
            && self->nstored == 0; /* of which one may be meant */
    if (!*done) {
        return DT_OK;
    }
    DT_TRY(dt_growing_list_guard(trace, &list->base));
    for (; count > 0; count--) {
        DtVar *item;
        int64_t index = at_start ? (int64_t)self->first : -(int64_t)self->last - 1;
        DT_TRY(item_before(trace, self, index, &item));
        DT_TRY(dt_list_splice(trace, list, self->head, 0, &item, 1));
        self->head += at_start;
        self->first += at_start;
        self->last += !at_start;
    }
    return guard_apart(trace, self);
}

/* Where list[index] is in `items`, once it was asked for; *found false: it is not known to be
 * there. */
static DtStatus
find_item(DtTrace *trace, DtGrowingListVar *self, int64_t index, uint32_t *at, bool *found)
{
    int64_t end = (int64_t)self->list.count - self->head;
    int64_t missing = index >= 0 ? index + 1 - self->head : -index - end;
    *found = true;
    if (missing > 0) {
        DT_TRY(ask_for(trace, self, missing, index >= 0, found));
    }
    *at = (uint32_t)(index >= 0 ? index : index + self->list.count);
    return DT_OK;
}

/* The number that a part of a slice is; *known false: it is none, or a large one. */
static int64_t
small_number(DtVar *var, bool *known)
{
    PyObject *number = dt_var_peek_constant(var);
    int overflow = 0;
    *known = number != NULL && PyLong_CheckExact(number);
    int64_t value = *known ? PyLong_AsLongLongAndOverflow(number, &overflow) : 0;
    *known = *known && overflow == 0 && value >= -INT32_MAX && value <= INT32_MAX;
    return value;
}

/* Whether the number is the length of before and a constant. */
static bool
is_from_size(const DtSym *sym, const DtSym *size, int64_t *offset)
{
    *offset = 0;
    while (sym != NULL && !dt_sym_equal(sym, size)) {
        const DtSym *base;
        int64_t more;
        dt_sym_split_offset(sym, &base, &more);
        if (base == sym || __builtin_add_overflow(*offset, more, offset)) {
            return false;
        }
        sym = base;
    }
    return sym != NULL;
}

/* The same of a key; one that is the length and a constant is counted from the end. */
static DtStatus
index_of(DtTrace *trace, DtGrowingListVar *self, DtVar *key, int64_t *index, bool *known)
{
    const DtSym *size;
    *index = small_number(key, known);
    if (key->type->kind != DT_KIND_SYMBOLIC) {
        return DT_OK;
    }
    int64_t more = (int64_t)self->list.count - self->first - self->last;
    DT_TRY(size_before(trace, self, &size));
    *known = is_from_size(((DtSymVar *)key)->sym, size, index) && *index < more
             && *index >= more - MOST_KNOWN;
    *index -= *known ? more : 0;
    return DT_OK;
}

/* list[start:stop] at one of the ends; *out NULL: elsewhere. */
static DtStatus
take_slice(DtTrace *trace, DtGrowingListVar *self, const DtSeqVar *slice, DtVar **out)
{
    PyObject *none = Py_None;
    bool no_start = dt_var_peek_constant(slice->items[0]) == none, known_start;
    bool no_stop = dt_var_peek_constant(slice->items[1]) == none, known_stop, found;
    int64_t start = small_number(slice->items[0], &known_start);
    int64_t stop = small_number(slice->items[1], &known_stop);
    uint32_t from, to;
    *out = NULL;
    if (dt_var_peek_constant(slice->items[2]) != none || (!no_start && !known_start)
        || (!no_stop && !known_stop)) {
        return DT_OK;
    }
    bool at_start = start >= 0 && stop > start;
    bool at_end = !no_start && start < 0 && (no_stop || (stop < 0 && start < stop));
    if (!at_start && !at_end) {
        return DT_OK;
    }
    DT_TRY(find_item(trace, self, at_start ? stop - 1 : start, &from, &found));
    if (!found) {
        return DT_OK;
    }
    to = at_start ? (uint32_t)stop : (uint32_t)((int64_t)self->list.count + (no_stop ? 0 : stop));
    from = at_start ? (uint32_t)start : from;
    return dt_var_list(trace, self->list.items + from, to - from, out);
}

static DtStatus
growing_list_subscript(DtTrace *trace, DtVar *var, DtVar *key, DtVar **out)
{
    DtGrowingListVar *self = (DtGrowingListVar *)var;
    bool found = false;
    *out = NULL;
    if (dt_growing_list_varies(trace, self) && key->type->kind == DT_KIND_SLICE) {
        DT_TRY(take_slice(trace, self, (DtSeqVar *)key, out));
    }
    else if (dt_growing_list_varies(trace, self)) {
        int64_t index;
        uint32_t at = 0;
        DT_TRY(index_of(trace, self, key, &index, &found));
        if (found) {
            DT_TRY(find_item(trace, self, index, &at, &found));
        }
        *out = found ? self->list.items[at] : NULL;
    }
    if (*out == NULL) {
        DT_TRY(dt_stored_find(trace, self, key, out));
    }
    if (*out != NULL) {
        return DT_OK;
    }
    DT_TRY(dt_growing_list_read(trace, var));
    return dt_var_subscript(trace, var, key, out);
}

/* ---- Changing -------------------------------------------------------------------------------- */

static DtStatus
remove_item(DtTrace *trace, DtGrowingListVar *self, uint32_t at)
{
    DT_TRY(dt_kinds_will_change(trace, &self->list.base));
    DT_TRY(dt_list_splice(trace, &self->list, at, 1, NULL, 0));
    self->head -= at < self->head;
    return DT_OK;
}

/* Takes list[key] out, `key` NULL for the last; *item NULL: the list has to be read. */
static DtStatus
take_item(DtTrace *trace, DtGrowingListVar *self, DtVar *key, DtVar **item)
{
    bool found = key == NULL;
    int64_t index = -1;
    uint32_t at = 0;
    *item = NULL;
    if (!dt_growing_list_is_free(trace, self)) {
        return DT_OK;
    }
    if (key != NULL) {
        DT_TRY(dt_var_realize(trace, key, &key));
        DT_TRY(index_of(trace, self, key, &index, &found));
    }
    if (found && is_growing(&self->list.base)) {
        DT_TRY(find_item(trace, self, index, &at, &found));
        *item = found ? self->list.items[at] : NULL;
    }
    return *item != NULL ? remove_item(trace, self, at) : DT_OK;
}

static DtStatus
growing_list_ass_subscript(DtTrace *trace, DtVar *var, DtVar *key, DtVar *value)
{
    DtGrowingListVar *self = (DtGrowingListVar *)var;
    bool found = false;
    uint32_t at = 0;
    if (value == NULL) {
        DtVar *item;
        DT_TRY(take_item(trace, self, key, &item));
        if (item != NULL) {
            return DT_OK;
        }
    }
    else if (dt_growing_list_varies(trace, self)) {
        int64_t index;
        DT_TRY(index_of(trace, self, key, &index, &found));
        if (found) {
            DT_TRY(find_item(trace, self, index, &at, &found));
        }
    }
    if (found) {
        DT_TRY(dt_kinds_will_change(trace, var));
        self->list.items[at] = value;
        return DT_OK;
    }
    if (value != NULL) {
        DT_TRY(dt_stored_put(trace, self, key, value, &found));
    }
    if (found) {
        return DT_OK;
    }
    DT_TRY(dt_growing_list_read(trace, var));
    return dt_var_ass_subscript(trace, var, key, value);
}

static DtStatus
growing_list_binary(DtTrace *trace, DtBinaryOp op, DtVar *left, DtVar *right, DtVar **out)
{
    if (op == DT_BINARY_INPLACE_ADD && is_growing(left)) {
        DT_TRY(dt_growing_list_guard(trace, left));
        *out = left;
        return dt_list_extend(trace, (DtSeqVar *)left, right);
    }
    DT_TRY(dt_var_realize(trace, left, &left));
    return dt_var_binary(trace, op, left, right, out);
}

/* ---- Methods --------------------------------------------------------------------------------- */

/* As a list's own: the list may have been read since the method was taken from it. */
static DtStatus
call_as_list(DtTrace *trace, DtVar *var, const char *name, const DtArgs *args, DtVar **out)
{
    if (is_growing(var)) {
        DT_TRY(dt_growing_list_read(trace, var));
    }
    const DtMethodRow *row = var->type->methods;
    while (strcmp(row->name, name) != 0) {
        row++;
    }
    return row->call(trace, var, args, out);
}

static DtStatus
growing_list_insert(DtTrace *trace, DtVar *var, const DtArgs *args, DtVar **out)
{
    DtGrowingListVar *self = (DtGrowingListVar *)var;
    bool known;
    int64_t at = small_number(args->pos[0], &known);
    if (!is_growing(var) || !known || at < 0 || at > self->head || self->nstored > 0
        || !dt_growing_list_is_free(trace, self)) {
        return call_as_list(trace, var, "insert", args, out);
    }
    DT_TRY(dt_kinds_will_change(trace, var));
    DT_TRY(dt_list_splice(trace, &self->list, at, 0, &args->pos[1], 1));
    self->head++;
    *out = dt_none(trace);
    return DT_OK;
}

static DtStatus
growing_list_pop(DtTrace *trace, DtVar *var, const DtArgs *args, DtVar **out)
{
    *out = NULL;
    if (is_growing(var)) {
        DtVar *key = args->npos > 0 ? args->pos[0] : NULL;
        DT_TRY(take_item(trace, (DtGrowingListVar *)var, key, out));
    }
    return *out != NULL ? DT_OK : call_as_list(trace, var, "pop", args, out);
}

static const DtMethodRow growing_list_methods[] = {
    {"insert", growing_list_insert, 2, 2, false},
    {"pop", growing_list_pop, 0, 1, false},
    {NULL, NULL, 0, 0, false},
};

static DtStatus
growing_list_getattro(DtTrace *trace, DtVar *var, PyObject *name, DtVar **out)
{
    static const char *const at_the_end[] = {"append", "extend", NULL};
    const DtVarType *list = dt_var_type_of(DT_KIND_LIST);
    const DtMethodRow *row = dt_kinds_find_method(var->type, name);
    if (row == NULL && dt_kinds_is_among(name, at_the_end)) {
        row = dt_kinds_find_method(list, name);
    }
    if (row == NULL) {
        DT_TRY(dt_growing_list_read(trace, var));
        return list->tp_getattro(trace, var, name, out);
    }
    DT_TRY(dt_growing_list_guard(trace, var));
    return dt_kinds_method_row(trace, var, row, name, out);
}

static PyTypeObject *
growing_list_type(DtTrace *trace, DtVar *self)
{
    return dt_growing_list_guard(trace, self) == DT_OK ? &PyList_Type : NULL;
}

const DtVarType dt_kind_type_GROWING_LIST = {
    .kind = DT_KIND_GROWING_LIST,
    .nb_binary = growing_list_binary,
    .nb_bool = growing_list_bool,
    .sq_length = growing_list_length,
    .mp_subscript = growing_list_subscript,
    .mp_ass_subscript = growing_list_ass_subscript,
    .tp_getattro = growing_list_getattro,
    .methods = growing_list_methods,
    .python_type = growing_list_type,
    .children = dt_stored_children,
};
