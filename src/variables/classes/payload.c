/* The part of an instance that a builtin base keeps: of a subclass of list its
 * items, of a subclass of dict its entries, of a subclass of int the number.
 *
 *   instance tracker ─► attributes        as of any instance
 *                    └► payload tracker   of the builtin kind; the base's own
 *                                         methods work on it
 *
 * Invariants: a payload is not seen by the program, the instance is; the payload
 * of an existing instance has the instance's source, so that loading it gives
 * the instance; its items are read behind the back of what the class overrides.
 *
 * Not in here: which methods are the base's (inherited.c, payload_methods.c).
 */
#include "compat/dict.h"
#include "compat/object.h"
#include "compat/set.h"
#include "compat/type.h"
#include "variables/classes/array_part.h"
#include "variables/kinds.h"
#include "variables/containers/set_layout.h"

#include <string.h>

/* Longer ones are not followed: each item would be a tracker. */
#define MAX_ITEMS 65536

typedef DtStatus (*PayloadBuilder)(DtTrace *, PyObject *object, const DtSource *source,
                                   PyTypeObject *base, DtVar **out);

typedef struct PayloadRow {
    PyTypeObject *type;
    const char *module, *name; /* NULL: `type` is given */
    PayloadBuilder build;      /* NULL: existing instances are not followed */
    bool own;                  /* instances of the type itself are such instances */
    bool hidden;               /* `contents` instead of a payload */
    const char *fill;          /* what __new__ calls with its argument, if C has no __init__ */
} PayloadRow;

static DtStatus build_sequence(DtTrace *, PyObject *, const DtSource *, PyTypeObject *, DtVar **);
static DtStatus build_dict(DtTrace *, PyObject *, const DtSource *, PyTypeObject *, DtVar **);
static DtStatus build_set(DtTrace *, PyObject *, const DtSource *, PyTypeObject *, DtVar **);
static DtStatus build_constant(DtTrace *, PyObject *, const DtSource *, PyTypeObject *, DtVar **);

static DtStatus build_hidden(DtTrace *, PyObject *, const DtSource *, PyTypeObject *, DtVar **);

/* Subtypes come before their bases. */
static PayloadRow rows[] = {
    {&PyODict_Type, NULL, NULL, build_dict, true, false, NULL},
    {NULL, "collections", "defaultdict", build_dict, true, false, NULL},
    {&PyDict_Type, NULL, NULL, build_dict, false, false, NULL},
    {&PyList_Type, NULL, NULL, build_sequence, false, false, NULL},
    {&PyTuple_Type, NULL, NULL, build_sequence, false, false, NULL},
    {&PySet_Type, NULL, NULL, build_set, false, false, NULL},
    {&PyFrozenSet_Type, NULL, NULL, build_set, false, false, NULL},
    {&PyLong_Type, NULL, NULL, build_constant, false, false, NULL},
    {&PyFloat_Type, NULL, NULL, build_constant, false, false, NULL},
    {&PyComplex_Type, NULL, NULL, build_constant, false, false, NULL},
    {&PyUnicode_Type, NULL, NULL, build_constant, false, false, NULL},
    {&PyBytes_Type, NULL, NULL, build_constant, false, false, NULL},
    {NULL, "collections", "deque", build_hidden, true, true, NULL},
    {NULL, "types", "SimpleNamespace", build_hidden, true, true, NULL},
    {NULL, "_random", "Random", NULL, true, true, "seed"},
};
#define ROW_COUNT (sizeof(rows) / sizeof(rows[0]))

int
dt_payload_init(void)
{
    for (size_t i = 0; i < ROW_COUNT; i++) {
        if (rows[i].type == NULL) {
            PyObject *type = dt_import_attr(rows[i].module, rows[i].name);
            if (type == NULL) {
                return -1;
            }
            rows[i].type = (PyTypeObject *)type; /* kept for the life of the process */
        }
    }
    return 0;
}

static const PayloadRow *
find_row(PyTypeObject *type)
{
    for (size_t i = 0; i < ROW_COUNT; i++) {
        if (rows[i].type == type) {
            return &rows[i];
        }
    }
    return NULL;
}

PyTypeObject *
dt_build_layout(PyTypeObject *cls)
{
    PyObject *mro = cls->tp_mro;
    PyTypeObject *root = NULL;
    for (Py_ssize_t i = 0; mro != NULL && i < PyTuple_GET_SIZE(mro); i++) {
        PyTypeObject *base = (PyTypeObject *)PyTuple_GET_ITEM(mro, i);
        bool found = find_row(base) != NULL || dt_array_part_of(base) != NULL;
        /* A type made by C may look like one of a class statement. */
        if (!found && (base == &PyBaseObject_Type || dt_build_is_like_statement(base))) {
            continue;
        }
        if (root == NULL && found) {
            root = base;
        }
        else if (root == NULL || !PyType_IsSubtype(root, base)) {
            return NULL;
        }
    }
    return mro == NULL ? NULL : root != NULL ? root : &PyBaseObject_Type;
}

bool
dt_payload_is_own(PyTypeObject *cls)
{
    const PayloadRow *row = find_row(cls);
    return row != NULL && row->own;
}

bool
dt_payload_fits(PyObject *object)
{
    PyTypeObject *type = Py_TYPE(object), *layout = dt_build_layout(type);
    const PayloadRow *row = layout != NULL ? find_row(layout) : NULL;
    const DtArrayPart *part = layout != NULL ? dt_array_part_of(layout) : NULL;
    if (part != NULL) {
        return type != layout && part->fits(object);
    }
    return row != NULL && row->build != NULL && (type != layout || row->own);
}

DtVar *
dt_payload_unless(DtVar *var, const char *const *names)
{
    DtVar *payload = dt_payload_of(var);
    PyTypeObject *cls = payload != var ? ((DtInstanceVar *)var)->cls : NULL;
    PyTypeObject *layout = cls != NULL ? dt_build_layout(cls) : NULL;
    for (; layout != NULL && *names != NULL; names++) {
        PyObject *name = PyUnicode_InternFromString(*names);
        bool same = name != NULL && dt_type_lookup(cls, name) == dt_type_lookup(layout, name);
        PyErr_Clear(); /* no memory: not followed */
        Py_XDECREF(name);
        if (!same) {
            return NULL;
        }
    }
    return layout != NULL ? payload : NULL;
}

DtVar *
dt_payload_of(DtVar *var)
{
    DtVar *payload = var->type->kind == DT_KIND_INSTANCE ? ((DtInstanceVar *)var)->payload : NULL;
    return payload != NULL ? payload : var;
}

DtVar *
dt_payload_index(DtVar *var)
{
    /* CPython does not ask an int for its __index__, not even one that has its own. */
    DtVar *payload = dt_payload_of(var);
    PyObject *value = dt_var_peek_constant(payload);
    return value != NULL && PyLong_CheckExact(value) ? payload : var;
}

DtStatus
dt_payload_adopt(DtTrace *trace, DtInstanceVar *owner, DtVar *payload)
{
    owner->payload = payload;
    return dt_map_set(&trace->arena, &trace->payload_owners, payload, owner) == 0 ? DT_OK
                                                                                  : dt_no_memory();
}

DtInstanceVar *
dt_payload_owner(const DtTrace *trace, const DtVar *payload)
{
    return dt_map_get(&trace->payload_owners, payload);
}

DtVar *
dt_payload_whole(const DtTrace *trace, DtVar *var)
{
    DtKind kind = var->type->kind;
    DtInstanceVar *owner =
        kind == DT_KIND_LIST || kind == DT_KIND_DICT ? dt_payload_owner(trace, var) : NULL;
    return owner != NULL && owner->payload == var ? &owner->base : var;
}

/* ---- Existing instances ---------------------------------------------------------------------- */

static DtStatus
build_sequence(DtTrace *trace, PyObject *object, const DtSource *source, PyTypeObject *base,
               DtVar **out)
{
    bool is_list = base == &PyList_Type;
    Py_ssize_t count = Py_SIZE(object);
    if (count > MAX_ITEMS) {
        return dt_break(trace, DT_BREAK_UNROLL_LIMIT, "a %s of %zd items", Py_TYPE(object)->tp_name,
                        count);
    }
    DT_TRY(dt_guard_length(trace, source, Py_TYPE(object), count));
    DtVar **items = DT_ARENA_ARRAY(&trace->arena, DtVar *, count + 1);
    if (items == NULL) {
        return dt_no_memory();
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        const DtSource *item =
            dt_source_get(trace, DT_SOURCE_BASE_INDEX, source, (PyObject *)base, i);
        if (item == NULL) {
            return DT_ERROR;
        }
        PyObject *value = is_list ? PyList_GET_ITEM(object, i) : PyTuple_GET_ITEM(object, i);
        DT_TRY(dt_var_build_lazy(trace, value, item, &items[i]));
    }
    DT_TRY(dt_sequence_new(trace, is_list ? DT_KIND_LIST : DT_KIND_TUPLE, items, (uint32_t)count,
                           out));
    (*out)->mutation = is_list ? DT_VALUE_MUTATION_EXISTING : DT_IMMUTABLE;
    (*out)->source = source;
    return DT_OK;
}

/* A key of a dict or set: guarded with all the others, so it is known. */
static DtStatus
build_key(DtTrace *trace, PyObject *key, DtEntry *out)
{
    DtVar *var;
    DT_TRY(dt_trace_keep(trace, key));
    DT_TRY(dt_constant_is_safe(key) ? dt_var_const(trace, key, &var)
                                    : dt_build_known(trace, key, &var));
    return dt_dict_key(trace, var, out);
}

static DtStatus
build_dict(DtTrace *trace, PyObject *object, const DtSource *source, PyTypeObject *base,
           DtVar **out)
{
    (void)base;
    DtDictVar *self;
    PyObject *keys = dt_trace_keep_take(trace, dt_dict_keys_in_order(object));
    if (keys == NULL && PyErr_ExceptionMatches(PyExc_KeyError)) {
        PyErr_Clear(); /* KeyError: a method of dict has changed an OrderedDict behind its back */
        return dt_break(trace, DT_BREAK_UNKNOWN_TYPE, "a %s that has lost count of its keys",
                        Py_TYPE(object)->tp_name);
    }
    if (keys == NULL) {
        return DT_ERROR;
    }
    DT_TRY(dt_guard_dict_keys(trace, source, object));
    DT_TRY(dt_dict_new(trace, &self));
    self->base.source = source;
    self->base.mutation = DT_VALUE_MUTATION_EXISTING;
    self->object = object;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(keys); i++) {
        PyObject *key = PyTuple_GET_ITEM(keys, i), *value;
        DtEntry entry;
        DT_TRY(build_key(trace, key, &entry));
        const DtSource *item = dt_source_get(trace, DT_SOURCE_BASE_ITEM, source, key, 0);
        if (item == NULL) {
            return DT_ERROR;
        }
        if (dt_dict_get(object, key, &value) != 1) {
            return dt_break(trace, DT_BREAK_UNKNOWN_TYPE,
                            "a %s with keys that can't be looked up without calling code",
                            Py_TYPE(object)->tp_name);
        }
        DT_TRY(dt_var_build_lazy(trace, value, item, &entry.value));
        if (dt_vec_push(&trace->arena, self, entry) < 0) {
            return dt_no_memory();
        }
    }
    *out = &self->base;
    return DT_OK;
}

/* Only identity says that a frozenset holds what it held. */
static DtStatus
build_set(DtTrace *trace, PyObject *object, const DtSource *source, PyTypeObject *base, DtVar **out)
{
    if (base == &PySet_Type) {
        return dt_set_build_part(trace, object, source, out);
    }
    DT_TRY(dt_guard_identity(trace, source, object));
    /* The order of its elements is that of its own table. */
    PyObject *plain = dt_trace_keep_take(trace, dt_set_clone(object, base));
    PyObject *items = plain != NULL ? dt_trace_keep_take(trace, PySequence_Tuple(plain)) : NULL;
    DtDictVar *self;
    if (items == NULL) {
        return DT_ERROR;
    }
    DT_TRY(dt_set_new(trace, base, &self));
    self->object = plain;
    DT_TRY(dt_layout_begin_real(trace, self));
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(items); i++) {
        DtEntry entry;
        DT_TRY(build_key(trace, PyTuple_GET_ITEM(items, i), &entry));
        if (dt_vec_push(&trace->arena, self, entry) < 0) {
            return dt_no_memory();
        }
    }
    self->base.mutation = DT_IMMUTABLE;
    *out = &self->base;
    return DT_OK;
}

/* The plain value of an instance of a subclass of an immutable builtin type; no user code runs. */
static PyObject *
plain_value(PyObject *object, PyTypeObject *base)
{
    if (base == &PyLong_Type) {
        return PyLong_Type.tp_as_number->nb_positive(object); /* a copy of a subclass */
    }
    if (base == &PyFloat_Type) {
        return PyFloat_FromDouble(PyFloat_AS_DOUBLE(object));
    }
    if (base == &PyComplex_Type) {
        return PyComplex_FromCComplex(((PyComplexObject *)object)->cval);
    }
    if (base == &PyUnicode_Type) {
        return PyUnicode_FromObject(object);
    }
    return PyBytes_FromStringAndSize(PyBytes_AS_STRING(object), PyBytes_GET_SIZE(object));
}

/* A number or text: only the very object is known to have this value. */
static DtStatus
build_constant(DtTrace *trace, PyObject *object, const DtSource *source, PyTypeObject *base,
               DtVar **out)
{
    DT_TRY(dt_guard_identity(trace, source, object));
    PyObject *value = plain_value(object, base);
    return dt_var_const_take(trace, value, out);
}

/* ---- Types whose methods are polyfills ------------------------------------------------------- */

static PyTypeObject *
deque_type(void)
{
    return rows[ROW_COUNT - 3].type;
}

/* The items of a deque, each read by its own method. */
static DtStatus
build_items(DtTrace *trace, PyObject *object, const DtSource *source, PyTypeObject *base,
            DtVar **out)
{
    Py_ssize_t count = base->tp_as_sequence->sq_length(object);
    DtVar **items = DT_ARENA_ARRAY(&trace->arena, DtVar *, count + 1);
    if (count > MAX_ITEMS) {
        return dt_break(trace, DT_BREAK_UNROLL_LIMIT, "a deque of %zd items", count);
    }
    if (items == NULL) {
        return dt_no_memory();
    }
    DT_TRY(dt_guard_deque(trace, source, object));
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *value = dt_trace_keep_take(trace, base->tp_as_sequence->sq_item(object, i));
        const DtSource *item =
            dt_source_get(trace, DT_SOURCE_BASE_INDEX, source, (PyObject *)base, i);
        if (value == NULL || item == NULL) {
            return DT_ERROR;
        }
        DT_TRY(dt_var_build_lazy(trace, value, item, &items[i]));
    }
    DT_TRY(dt_var_list(trace, items, (uint32_t)count, out));
    (*out)->mutation = DT_VALUE_MUTATION_EXISTING;
    (*out)->source = source;
    return DT_OK;
}

static DtStatus
build_hidden(DtTrace *trace, PyObject *object, const DtSource *source, PyTypeObject *base,
             DtVar **out)
{
    *out = NULL;
    if (base != deque_type()) {
        return DT_OK;
    }
    return build_items(trace, object, source, base, out);
}

/* [maxlen, number of changes] of a deque. */
static DtStatus
make_more(DtTrace *trace, DtInstanceVar *self)
{
    DtVar *items[2];
    PyObject *limit = Py_NewRef(Py_None);
    if (self->object != NULL) { /* past what a subclass has under the name */
        PyObject *member = dt_type_own_lookup_text(deque_type(), "maxlen");
        Py_DECREF(limit);
        limit = member != NULL
                    ? Py_TYPE(member)->tp_descr_get(member, self->object, (PyObject *)self->cls)
                    : NULL;
    }
    DT_TRY(dt_var_const_take(trace, limit, &items[0]));
    DT_TRY(dt_var_int(trace, 0, &items[1]));
    return dt_var_list(trace, items, 2, &self->more);
}

static DtStatus
adopt_contents(DtTrace *trace, DtInstanceVar *self, DtVar *contents)
{
    if (dt_build_layout(self->cls) == deque_type()) {
        DT_TRY(make_more(trace, self));
    }
    if (contents == NULL) {
        return DT_OK;
    }
    self->contents = contents;
    return dt_map_set(&trace->arena, &trace->payload_owners, contents, self) == 0 ? DT_OK
                                                                                  : dt_no_memory();
}

bool
dt_payload_is_hidden(PyTypeObject *layout)
{
    const PayloadRow *row = find_row(layout);
    return row != NULL && row->hidden;
}

/* The generator of random numbers of 3.10 is seeded before any __init__ runs. */
static DtStatus
fill_hidden(DtTrace *trace, const PayloadRow *row, DtInstanceVar *self, const DtArgs *args)
{
    if (args->npos != 1 || args->nkw > 0) {
        return dt_break(trace, DT_BREAK_UNKNOWN_CALLABLE, "an instance of %s is made of %u values",
                        row->type->tp_name, (unsigned)(args->npos + args->nkw));
    }
    PyObject *method = PyObject_GetAttrString((PyObject *)row->type, row->fill);
    method = dt_trace_keep_take(trace, method);
    DtVar *function, *pos[2] = {&self->base, args->pos[0]}, *result;
    DtArgs given = dt_args_of(pos, 2);
    if (method == NULL) {
        return DT_ERROR;
    }
    DT_TRY(dt_build_known(trace, method, &function));
    return dt_var_call(trace, function, &given, &result);
}

DtStatus
dt_payload_new_hidden(DtTrace *trace, DtInstanceVar *self, const DtArgs *args)
{
    const PayloadRow *row = find_row(dt_build_layout(self->cls));
    DtVar *contents;
    DT_TRY(dt_var_list(trace, NULL, 0, &contents));
    DT_TRY(adopt_contents(trace, self, contents));
    return row->fill != NULL && row->type->tp_init == PyBaseObject_Type.tp_init
                   && args->npos + args->nkw > 0
               ? fill_hidden(trace, row, self, args)
               : DT_OK;
}

DtStatus
dt_payload_build(DtTrace *trace, DtInstanceVar *self)
{
    PyTypeObject *layout = dt_build_layout(self->cls);
    const PayloadRow *row = layout != NULL ? find_row(layout) : NULL;
    const DtArrayPart *part = layout != NULL ? dt_array_part_of(layout) : NULL;
    if (part != NULL) {
        DT_TRY(dt_memory_of_array(trace, part->adapter, self->object, self->base.source));
        return part->build(trace, self);
    }
    if (row == NULL || row->build == NULL) {
        return DT_OK;
    }
    DtVar *payload;
    DT_TRY(row->build(trace, self->object, self->base.source, layout, &payload));
    return row->hidden ? adopt_contents(trace, self, payload)
                       : dt_payload_adopt(trace, self, payload);
}

/* ---- New instances --------------------------------------------------------------------------- */

DtStatus
dt_payload_new(DtTrace *trace, PyTypeObject *base, const DtArgs *args, DtVar **out)
{
    DtVar *cls;
    DtArgs none = {0};
    PyTypeObject *plain = PyType_IsSubtype(base, &PyDict_Type) ? &PyDict_Type : base;
    /* What can be changed is filled by __init__. */
    bool filled_later = plain == &PyDict_Type || base == &PyList_Type || base == &PySet_Type;
    DT_TRY(dt_build_known(trace, (PyObject *)plain, &cls));
    DT_TRY(dt_var_call(trace, cls, filled_later ? &none : args, out));
    DT_TRY(dt_var_realize(trace, *out, out));
    if (dt_var_python_type(trace, *out) != plain) {
        return dt_break(trace, DT_BREAK_UNKNOWN_CALLABLE, "%s.__new__() of a %s", base->tp_name,
                        (*out)->type->name);
    }
    return DT_OK;
}

/* The state of a generator of random numbers, out of the bytes that the polyfills keep it as. */
static PyObject *
unpack_state(PyObject *bytes)
{
    Py_ssize_t count = PyBytes_GET_SIZE(bytes) / (Py_ssize_t)sizeof(uint32_t);
    PyObject *state = PyTuple_New(count);
    for (Py_ssize_t i = 0; state != NULL && i < count; i++) {
        uint32_t word;
        memcpy(&word, PyBytes_AS_STRING(bytes) + i * (Py_ssize_t)sizeof(word), sizeof(word));
        PyObject *number = PyLong_FromUnsignedLong(word);
        if (number == NULL) {
            Py_CLEAR(state);
            break;
        }
        PyTuple_SET_ITEM(state, i, number);
    }
    return state;
}

/* rebuild_hidden(cls, contents[, maxlen]) */
static PyObject *
rebuild_hidden(PyObject *module, PyObject *const *args, Py_ssize_t nargs)
{
    (void)module;
    PyTypeObject *cls = (PyTypeObject *)args[0], *base = dt_build_layout(cls);
    PyObject *contents = args[1], *none = PyTuple_New(0);
    PyObject *made = base != NULL && none != NULL ? base->tp_new(cls, none, NULL) : NULL;
    Py_XDECREF(none);
    if (made == NULL) {
        if (!PyErr_Occurred()) {
            PyErr_SetString(PyExc_TypeError, "the class has no builtin base any more");
        }
        return NULL;
    }
    int status = 0;
    if (nargs > 2) {
        PyObject *given = PyTuple_Pack(2, contents, args[2]);
        status = given != NULL ? base->tp_init(made, given, NULL) : -1;
        Py_XDECREF(given);
    }
    else if (PyList_GET_SIZE(contents) > 0) {
        PyObject *state = unpack_state(PyList_GET_ITEM(contents, 0));
        PyObject *done = state != NULL
                             ? PyObject_CallMethod((PyObject *)base, "setstate", "OO", made, state)
                             : NULL;
        Py_XDECREF(state);
        Py_XDECREF(done);
        status = done != NULL ? 0 : -1;
    }
    if (status < 0) {
        Py_CLEAR(made);
    }
    return made;
}

static PyMethodDef rebuild_hidden_def = {"rebuild", (PyCFunction)(void (*)(void))rebuild_hidden,
                                         METH_FASTCALL, NULL};

DtStatus
dt_payload_reconstruct_hidden(DtCodegen *codegen, DtInstanceVar *self)
{
    DtTrace *trace = dt_codegen_trace(codegen);
    PyObject *function = dt_trace_keep_take(trace, PyCFunction_New(&rebuild_hidden_def, NULL));
    if (function == NULL) {
        return DT_ERROR;
    }
    DT_TRY(dt_codegen_push_callable(codegen, function));
    DT_TRY(dt_codegen_var(codegen, self->cls_var));
    DT_TRY(dt_codegen_var(codegen, self->contents));
    if (self->more != NULL) {
        DT_TRY(dt_codegen_var(codegen, ((DtSeqVar *)self->more)->items[0]));
    }
    return dt_codegen_call(codegen, self->more != NULL ? 3 : 2);
}

/* rebuild(cls, plain): an instance of the subclass with the contents of the plain object, made
 * without asking what the class overrides. */
static PyObject *
rebuild(PyObject *module, PyObject *const *args, Py_ssize_t nargs)
{
    (void)module;
    if (nargs != 2) {
        PyErr_SetString(PyExc_TypeError, "rebuild takes a class and a plain object");
        return NULL;
    }
    PyTypeObject *cls = (PyTypeObject *)args[0];
    PyTypeObject *base = dt_build_layout(cls);
    PyObject *plain = args[1];
    bool fill =
        base != NULL
        && (PyType_IsSubtype(base, &PyDict_Type) || base == &PyList_Type || base == &PySet_Type);
    PyObject *tuple = base == NULL ? NULL : fill ? PyTuple_New(0) : PyTuple_Pack(1, plain);
    PyObject *made = tuple != NULL ? base->tp_new(cls, tuple, NULL) : NULL;
    Py_XDECREF(tuple);
    int status = 0;
    if (made == NULL) {
        if (!PyErr_Occurred()) {
            PyErr_SetString(PyExc_TypeError, "the class has no builtin base any more");
        }
        return NULL;
    }
    if (base == &PyList_Type) {
        status = PyList_SetSlice(made, 0, 0, plain);
    }
    else if (base == &PySet_Type) {
        PyObject *item, *iterator = PyObject_GetIter(plain); /* an exact set: hashes again only */
        status = iterator != NULL ? 0 : -1;
        while (status == 0 && (item = PyIter_Next(iterator)) != NULL) {
            status = PySet_Add(made, item);
            Py_DECREF(item);
        }
        Py_XDECREF(iterator);
    }
    else if (fill) {
        PyObject *key, *value;
        Py_ssize_t pos = 0;
        while (status == 0 && PyDict_Next(plain, &pos, &key, &value)) {
            status = base == &PyODict_Type ? PyODict_SetItem(made, key, value)
                                           : PyDict_SetItem(made, key, value);
        }
    }
    if (status < 0) {
        Py_CLEAR(made);
    }
    return made;
}

static PyMethodDef rebuild_def = {"rebuild", (PyCFunction)(void (*)(void))rebuild, METH_FASTCALL,
                                  NULL};

DtStatus
dt_payload_reconstruct(DtCodegen *codegen, DtInstanceVar *self)
{
    DtTrace *trace = dt_codegen_trace(codegen);
    PyObject *function = dt_trace_keep_take(trace, PyCFunction_New(&rebuild_def, NULL));
    if (function == NULL) {
        return DT_ERROR;
    }
    DT_TRY(dt_codegen_push_callable(codegen, function));
    DT_TRY(dt_codegen_var(codegen, self->cls_var));
    DT_TRY(dt_codegen_var(codegen, self->payload));
    return dt_codegen_call(codegen, 2);
}
