/* The table of kinds, filled from kinds.def, and what is generic over kinds.
 *
 * Invariant: after dt_variables_init() each entry of the table has every slot
 * that its type, its base or the common base defines.  A row of kinds.def
 * without a type does not link; a row whose type names another kind aborts at
 * start-up.
 *
 * Not in here: what the slots do (v_*.c) and who calls them (dispatch.c).
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "compat/dict.h"
#include "compat/iterators.h"
#include "compat/lru_cache.h"
#include "compat/type.h"
#include "variables/fold.h"
#include "variables/proxy.h"

static DtVarType table[DT_KIND_COUNT];

typedef struct KindRow {
    const DtVarType *type;
    const char *text;
    DtMutation mutation; /* of an input */
    size_t size;
} KindRow;

/* Payload struct of each kind. */
#define PAYLOAD_NULL DtVar
#define PAYLOAD_LAZY DtLazyVar
#define PAYLOAD_CONSTANT DtConstVar
#define PAYLOAD_SYMBOLIC DtSymVar
#define PAYLOAD_ARRAY DtArrayVar
#define PAYLOAD_TUPLE DtSeqVar
#define PAYLOAD_LIST DtSeqVar
#define PAYLOAD_GROWING_LIST DtGrowingListVar
#define PAYLOAD_DICT DtDictVar
#define PAYLOAD_GROWING_DICT DtGrowingDictVar
#define PAYLOAD_SET DtDictVar
#define PAYLOAD_BYTEARRAY DtBytesVar
#define PAYLOAD_RANGE DtRangeVar
#define PAYLOAD_SLICE DtSeqVar
#define PAYLOAD_DICT_VIEW DtDictViewVar
#define PAYLOAD_MAPPING_PROXY DtProxyVar
#define PAYLOAD_NAMESPACE DtNamespaceVar
#define PAYLOAD_IDENTITY DtIdentityVar
#define PAYLOAD_WEAKREF DtWeakrefVar
#define PAYLOAD_ITERATOR DtIterVar
#define PAYLOAD_GENERATOR DtGeneratorVar
#define PAYLOAD_COROUTINE DtGeneratorVar
#define PAYLOAD_ASYNC_GENERATOR DtGeneratorVar
#define PAYLOAD_CELL DtCellVar
#define PAYLOAD_FUNCTION DtFunctionVar
#define PAYLOAD_BOUND_METHOD DtMethodVar
#define PAYLOAD_METHOD_ROW DtMethodRowVar
#define PAYLOAD_BUILTIN DtObjectVar
#define PAYLOAD_CLASS DtObjectVar
#define PAYLOAD_INSTANCE DtInstanceVar
#define PAYLOAD_TRACEBACK DtVar
#define PAYLOAD_STRANGER DtStrangerVar
#define PAYLOAD_MODULE DtObjectVar
#define PAYLOAD_PARTIAL DtPartialVar
#define PAYLOAD_ADAPTER_CALLABLE DtObjectVar
#define PAYLOAD_OPAQUE DtObjectVar

static const KindRow rows[DT_KIND_COUNT] = {
#define KIND(NAME, TEXT, MUTATION)                                                                 \
    [DT_KIND_##NAME] = {&dt_kind_type_##NAME, TEXT, DT_##MUTATION, sizeof(PAYLOAD_##NAME)},
#include "variables/kinds.def"
#undef KIND
};

/* ---- Start-up -------------------------------------------------------------------------------- */

#define INHERIT(slot)                                                                              \
    if (into->slot == NULL) {                                                                      \
        into->slot = from->slot;                                                                   \
    }

static void
inherit_slots(DtVarType *into, const DtVarType *from)
{
    INHERIT(nb_binary)
    INHERIT(nb_negative)
    INHERIT(nb_positive)
    INHERIT(nb_invert)
    INHERIT(nb_bool)
    INHERIT(sq_length)
    INHERIT(mp_subscript)
    INHERIT(mp_ass_subscript)
    INHERIT(sq_contains)
    INHERIT(tp_call)
    INHERIT(tp_getattro)
    INHERIT(tp_setattro)
    INHERIT(tp_iter)
    INHERIT(tp_iternext)
    INHERIT(tp_richcompare)
    INHERIT(methods)
    INHERIT(getsets)
    INHERIT(python_type)
    INHERIT(as_constant)
    INHERIT(reconstruct)
    INHERIT(children)
    INHERIT(repr)
}

void
dt_variables_init(void)
{
    for (int kind = 0; kind < DT_KIND_COUNT; kind++) {
        const DtVarType *type = rows[kind].type;
        if (type->kind != (DtKind)kind) {
            Py_FatalError("dyntrace: a type of variables/ is registered under another kind");
        }
        DtVarType *into = &table[kind];
        *into = *type;
        into->name = rows[kind].text;
        for (const DtVarType *base = type->base; base != NULL; base = base->base) {
            inherit_slots(into, base);
        }
        inherit_slots(into, &dt_kind_base);
    }
}

int
dt_variables_load(void)
{
    static enum { NEW, LOADING, LOADED } state;
    if (state == NEW) {
        state = LOADING;
        if (dt_lru_cache_init() < 0 || dt_iterators_init() < 0 || dt_build_init() < 0
            || dt_payload_init() < 0 || dt_proxy_init() < 0 || dt_dict_init() < 0
            || dt_builtin_init() < 0) {
            return -1;
        }
        state = LOADED;
    }
    if (state == LOADING) { /* it has failed, or another thread is at it */
        PyErr_SetString(PyExc_RuntimeError, "dyntrace's tables are not loaded");
        return -1;
    }
    return 0;
}

const DtVarType *
dt_var_type_of(DtKind kind)
{
    return &table[kind];
}

/* ---- Making, copying ------------------------------------------------------------------------- */

size_t
dt_kinds_size(DtKind kind)
{
    return rows[kind].size;
}

void *
dt_kinds_new(DtTrace *trace, DtKind kind, size_t size, const DtSource *source)
{
    DtVar *var = dt_arena_alloc(&trace->arena, size);
    if (var == NULL) {
        PyErr_NoMemory();
        return NULL;
    }
    var->type = &table[kind];
    var->source = source;
    var->mutation = source != NULL ? (uint8_t)rows[kind].mutation : DT_IMMUTABLE;
    return var;
}

static bool
is_list(const DtVar *var)
{
    return var->type->kind == DT_KIND_LIST || var->type->kind == DT_KIND_GROWING_LIST;
}

/* A snapshot is the struct, followed by its array of items or entries. */
static bool
payload_array(const DtVar *var, const void **array, size_t *size)
{
    if (is_list(var)) {
        const DtSeqVar *list = (const DtSeqVar *)var;
        *array = list->items;
        *size = list->count * sizeof(DtVar *);
        return true;
    }
    if (var->type->kind == DT_KIND_DICT || var->type->kind == DT_KIND_SET) {
        const DtDictVar *dict = (const DtDictVar *)var;
        *array = dict->items;
        *size = dict->count * sizeof(DtDictEntry);
        return true;
    }
    if (var->type->kind == DT_KIND_GROWING_DICT) {
        const DtGrowingDictVar *dict = (const DtGrowingDictVar *)var;
        *array = dict->asked.items;
        *size = dict->asked.count * sizeof(DtAskedKey);
        return true;
    }
    if (dt_generator_is(var)) {
        const DtGeneratorVar *generator = (const DtGeneratorVar *)var;
        *array = generator->values;
        *size = generator->nvalues * sizeof(DtVar *);
        return true;
    }
    return false;
}

void *
dt_payload_snapshot(DtTrace *trace, const DtVar *var)
{
    size_t head = rows[var->type->kind].size;
    const void *array = NULL;
    size_t size = 0;
    (void)payload_array(var, &array, &size);
    char *copy = dt_arena_alloc(&trace->arena, head + size);
    if (copy == NULL) {
        PyErr_NoMemory();
        return NULL;
    }
    memcpy(copy, var, head);
    if (size > 0) {
        memcpy(copy + head, array, size);
    }
    return copy;
}

DtStatus
dt_payload_restore(DtTrace *trace, DtVar *var, const void *snapshot)
{
    size_t head = rows[((const DtVar *)snapshot)->type->kind].size; /* a list may be read since */
    const void *array = NULL;
    size_t size = 0;
    memcpy(var, snapshot, head);
    if (!payload_array(var, &array, &size) || size == 0) {
        return DT_OK;
    }
    /* A new array: the snapshot must survive another change and rollback. */
    void *fresh = dt_arena_alloc(&trace->arena, size);
    if (fresh == NULL) {
        return dt_no_memory();
    }
    memcpy(fresh, (const char *)snapshot + head, size);
    if (is_list(var)) {
        ((DtSeqVar *)var)->items = fresh;
        ((DtSeqVar *)var)->capacity = ((DtSeqVar *)var)->count;
    }
    else if (var->type->kind == DT_KIND_GROWING_DICT) {
        ((DtGrowingDictVar *)var)->asked.items = fresh;
        ((DtGrowingDictVar *)var)->asked.capacity = ((DtGrowingDictVar *)var)->asked.count;
    }
    else if (dt_generator_is(var)) {
        ((DtGeneratorVar *)var)->values = fresh;
    }
    else {
        ((DtDictVar *)var)->items = fresh;
        ((DtDictVar *)var)->capacity = ((DtDictVar *)var)->count;
    }
    return DT_OK;
}

PyObject *
dt_payload_object(DtVar *var)
{
    var = dt_var_peek(var);
    switch (var->type->kind) {
    case DT_KIND_LAZY:
        return ((DtLazyVar *)var)->object;
    case DT_KIND_CONSTANT:
        return ((DtConstVar *)var)->value;
    case DT_KIND_FUNCTION:
        return ((DtFunctionVar *)var)->function;
    case DT_KIND_INSTANCE:
        return ((DtInstanceVar *)var)->object;
    case DT_KIND_DICT:
    case DT_KIND_GROWING_DICT:
    case DT_KIND_SET:
        return ((DtDictVar *)var)->object;
    case DT_KIND_BYTEARRAY:
        return ((DtBytesVar *)var)->object;
    case DT_KIND_CELL:
        return ((DtCellVar *)var)->cell;
    case DT_KIND_BUILTIN:
    case DT_KIND_CLASS:
    case DT_KIND_MODULE:
    case DT_KIND_ADAPTER_CALLABLE:
    case DT_KIND_OPAQUE:
        return ((DtObjectVar *)var)->object;
    case DT_KIND_PARTIAL:
        return ((DtPartialVar *)var)->object;
    default:
        return NULL;
    }
}

/* ---- Messages -------------------------------------------------------------------------------- */

bool
dt_kinds_is_among(PyObject *str, const char *const *names)
{
    for (; *names != NULL; names++) {
        if (PyUnicode_CompareWithASCIIString(str, *names) == 0) {
            return true;
        }
    }
    return false;
}

const char *
dt_kinds_text(PyObject *str)
{
    const char *text = PyUnicode_AsUTF8(str);
    if (text == NULL) {
        PyErr_Clear(); /* a lone surrogate: the text is for a message only */
        return "?";
    }
    return text;
}

const char *
dt_kinds_type_name(DtTrace *trace, DtVar *var)
{
    PyTypeObject *type = dt_var_python_type(trace, var);
    if (type == NULL) {
        return var->type->name;
    }
    return type->tp_name;
}

/* ---- Rows of methods ------------------------------------------------------------------------- */

const DtMethodRow *
dt_kinds_find_method(const DtVarType *type, PyObject *name)
{
    for (const DtMethodRow *row = type->methods; row != NULL && row->name != NULL; row++) {
        if (PyUnicode_CompareWithASCIIString(name, row->name) == 0) {
            return row;
        }
    }
    return NULL;
}

/* Does the class itself define the method?  What it inherits names one class where it is called,
 * and another where it was bound before. */
static bool
is_own_method(PyTypeObject *type, const char *name)
{
    PyObject *text = PyUnicode_InternFromString(name);
    PyObject *found = type != NULL && text != NULL ? dt_type_own_lookup(type, text) : NULL;
    Py_XDECREF(text);
    return found != NULL;
}

DtStatus
dt_kinds_mismatch(DtTrace *trace, DtVar *self, const char *name, const DtArgs *args)
{
    PyObject *callable = NULL, *receiver = NULL;
    DtKind kind = self->type->kind;
    if (kind == DT_KIND_BUILTIN || kind == DT_KIND_CLASS) {
        callable = Py_NewRef(((DtObjectVar *)self)->object);
    }
    else {
        PyTypeObject *type = dt_var_python_type(trace, self);
        DT_TRY(dt_fold_stand_in(trace, self, &receiver));
        callable = is_own_method(type, name) ? PyObject_GetAttrString(receiver, name) : NULL;
        Py_DECREF(receiver);
        PyErr_Clear(); /* a method that only we have: breaks below */
    }
    bool builtin = callable != NULL && !PyFunction_Check(callable) && !PyMethod_Check(callable);
    DtStatus status = builtin ? dt_fold_failure(trace, callable, args)
                              : dt_break(trace, DT_BREAK_CALL_MISMATCH,
                                         "%s() is called with arguments that do not fit", name);
    Py_XDECREF(callable);
    return status;
}

bool
dt_kinds_row_fits(const DtMethodRow *row, const DtArgs *args)
{
    return args->npos >= (uint32_t)row->min_args
           && (row->max_args < 0 || args->npos <= (uint32_t)row->max_args)
           && (args->nkw == 0 || row->keywords);
}

DtStatus
dt_kinds_call_row(DtTrace *trace, DtVar *self, const DtMethodRow *row, const DtArgs *args,
                  DtVar **out)
{
    return dt_kinds_row_fits(row, args) ? row->call(trace, self, args, out)
                                        : dt_kinds_mismatch(trace, self, row->name, args);
}

DtStatus
dt_kinds_method_row(DtTrace *trace, DtVar *self, const DtMethodRow *row, PyObject *name,
                    DtVar **out)
{
    DtMethodRowVar *method = DT_KINDS_NEW(trace, METHOD_ROW, DtMethodRowVar, NULL);
    if (method == NULL) {
        return DT_ERROR;
    }
    DT_TRY(dt_trace_keep(trace, name));
    method->self = self;
    method->row = row;
    method->name = name;
    *out = &method->base;
    return DT_OK;
}

/* ---- Arguments ------------------------------------------------------------------------------- */

DtStatus
dt_args_prepend(DtTrace *trace, const DtArgs *args, DtVar *first, DtArgs *out)
{
    DtVar **pos = DT_ARENA_ARRAY(&trace->arena, DtVar *, args->npos + 1);
    if (pos == NULL) {
        return dt_no_memory();
    }
    pos[0] = first;
    if (args->npos > 0) {
        memcpy(pos + 1, args->pos, args->npos * sizeof(DtVar *));
    }
    *out = *args;
    out->pos = pos;
    out->npos = args->npos + 1;
    return DT_OK;
}

DtVar *
dt_args_keyword(const DtArgs *args, const char *name)
{
    DtVar *found = NULL;
    for (uint32_t i = 0; i < args->nkw; i++) {
        if (PyUnicode_CompareWithASCIIString(args->kwnames[i], name) == 0) {
            found = args->kw[i];
        }
    }
    return found;
}

DtVar *
dt_args_at(const DtArgs *args, uint32_t index, const char *name)
{
    return index < args->npos ? args->pos[index] : dt_args_keyword(args, name);
}

DtStatus
dt_args_kwnames(DtTrace *trace, const DtArgs *args, PyObject **out)
{
    *out = NULL;
    if (args->nkw == 0) {
        return DT_OK;
    }
    *out = dt_trace_keep_take(trace, PyTuple_New(args->nkw));
    for (uint32_t i = 0; *out != NULL && i < args->nkw; i++) {
        PyTuple_SET_ITEM(*out, i, Py_NewRef(args->kwnames[i]));
    }
    return *out != NULL ? DT_OK : DT_ERROR;
}

/* ---- Change ---------------------------------------------------------------------------------- */

DtStatus
dt_kinds_will_change(DtTrace *trace, DtVar *var)
{
    if (dt_var_is_immutable(var)) {
        return dt_break(trace, DT_BREAK_OBJECT_MUTATION, "a %s that can't be changed is changed",
                        var->type->name);
    }
    return dt_journal_will_change(trace, var);
}

DtStatus
dt_kinds_load_source(DtCodegen *codegen, DtVar *var, bool *done)
{
    *done = var->source != NULL && !var->source->synthetic;
    return *done ? dt_codegen_source(codegen, var->source) : DT_OK;
}

/* ---- The common base ------------------------------------------------------------------------- */

static DtStatus
base_bool(DtTrace *trace, DtVar *self, bool *out)
{
    if (self->type->sq_length == NULL) {
        *out = true;
        return DT_OK;
    }
    DtVar *length;
    DT_TRY(self->type->sq_length(trace, self, &length));
    return dt_var_truth(trace, length, out);
}

static DtStatus
base_contains(DtTrace *trace, DtVar *self, DtVar *item, DtVar **out)
{
    /* Item by item: an iterator is left behind the one that was found. */
    DtVar *iterator, *candidate;
    DtStatus status = dt_var_iter(trace, self, &iterator);
    if (status == DT_RAISE && dt_raised_matches(trace, PyExc_TypeError)) {
        (void)dt_raised_take(trace);
        return dt_raise(trace, PyExc_TypeError, "argument of type '%.200s' is not iterable",
                        dt_kinds_type_name(trace, self));
    }
    DT_TRY(status);
    for (uint32_t i = 0; i < trace->options.unroll_limit; i++) {
        DT_TRY(dt_var_iternext(trace, iterator, &candidate));
        bool found = false;
        if (candidate != NULL) {
            DT_TRY(dt_sequence_item_equal(trace, candidate, item, &found));
        }
        if (candidate == NULL || found) {
            return dt_var_bool(trace, found, out);
        }
    }
    return dt_break(trace, DT_BREAK_UNROLL_LIMIT, "more than %u items are searched",
                    trace->options.unroll_limit);
}

static DtStatus
base_getattro(DtTrace *trace, DtVar *self, PyObject *name, DtVar **out)
{
    PyTypeObject *type = dt_var_python_type(trace, self);
    const DtMethodRow *row = dt_kinds_find_method(self->type, name);
    if (row != NULL && type != NULL && dt_type_lookup(type, name) == NULL) {
        row = NULL; /* a frozenset lacks methods that a set has */
    }
    if (row != NULL) {
        return dt_kinds_method_row(trace, self, row, name, out);
    }
    PyObject *found = type != NULL ? dt_type_lookup(type, name) : NULL;
    if (found != NULL && !(type->tp_flags & Py_TPFLAGS_HEAPTYPE)
        && Py_IS_TYPE(found, &PyClassMethodDescr_Type)) {
        return dt_builtin_class_method(trace, type, name, out);
    }
    if (found == Py_None) { /* __hash__ of what can't be hashed */
        *out = dt_none(trace);
        return DT_OK;
    }
    PyObject *wrapper = dt_slot_method_find(type, name);
    if (wrapper != NULL) {
        DtVar *function;
        DT_TRY(dt_build_known(trace, wrapper, &function));
        return dt_method_new(trace, function, self, out);
    }
    for (const DtGetSetRow *get = self->type->getsets; get != NULL && get->name != NULL; get++) {
        if (PyUnicode_CompareWithASCIIString(name, get->name) == 0) {
            return get->get(trace, self, out);
        }
    }
    if (PyUnicode_CompareWithASCIIString(name, "__class__") == 0) {
        return dt_class_shown(trace, self, out);
    }
    if (type != NULL && dt_type_lookup(type, name) == NULL && type->tp_dictoffset == 0) {
        return dt_raise(trace, PyExc_AttributeError, "'%.100s' object has no attribute '%U'",
                        type->tp_name, name);
    }
    return dt_break(trace, DT_BREAK_MISSING_SLOT, "attribute '%s' of a %s", dt_kinds_text(name),
                    self->type->name);
}

static DtStatus
base_richcompare(DtTrace *trace, int op, DtVar *left, DtVar *right, DtVar **out)
{
    (void)op;
    PyTypeObject *type = dt_var_python_type(trace, left);
    *out = dt_not_implemented(trace);
    bool can_change = type != NULL && (type->tp_flags & Py_TPFLAGS_HEAPTYPE);
    if ((left == right && !can_change)
        || (type != NULL
            && (type->tp_richcompare == NULL
                || type->tp_richcompare == PyBaseObject_Type.tp_richcompare))) {
        /* By identity, as long as a metaclass of Python does not learn to compare. */
        return can_change ? dt_guard_type_version(trace, left->source, type) : DT_OK;
    }
    return dt_break(trace, DT_BREAK_MISSING_SLOT, "comparison of a %s", left->type->name);
}

static DtStatus
base_reconstruct(DtCodegen *codegen, DtVar *self)
{
    bool done;
    DT_TRY(dt_kinds_load_source(codegen, self, &done));
    if (done) {
        return DT_OK;
    }
    return dt_break(dt_codegen_trace(codegen), DT_BREAK_RECONSTRUCT,
                    "a %s made in the function can't be rebuilt", self->type->name);
}

static DtStatus
base_children(DtTrace *trace, DtVar *self, DtStatus (*visit)(DtTrace *, DtVar *, void *), void *arg)
{
    (void)trace;
    (void)self;
    (void)visit;
    (void)arg;
    return DT_OK;
}

static void
base_repr(DtVar *self, DtStrbuf *buf)
{
    dt_strbuf_addf(buf, "<%s", self->type->name);
    if (self->source != NULL) {
        dt_strbuf_add(buf, " ");
        dt_source_print(self->source, buf);
    }
    dt_strbuf_add(buf, ">");
}

const DtVarType dt_kind_base = {
    .nb_bool = base_bool,
    .sq_contains = base_contains,
    .tp_getattro = base_getattro,
    .tp_richcompare = base_richcompare,
    .reconstruct = base_reconstruct,
    .children = base_children,
    .repr = base_repr,
};

const DtVarType dt_kind_type_NULL = {.kind = DT_KIND_NULL};
