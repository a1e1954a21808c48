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
 * Not in here: which methods are the base's (inherited.c, payload_methods.c);
 * reading an existing instance (payload_existing.c), making one again (payload_rebuild.c).
 */
#include "compat/import.h"
#include "compat/type.h"
#include "variables/classes/array_part.h"
#include "variables/classes/payload_parts.h"

typedef struct PayloadRow {
    PyTypeObject *type;
    const char *module, *name; /* NULL: `type` is given */
    DtPayloadBuilder build;    /* NULL: existing instances are not followed */
    bool own;                  /* instances of the type itself are such instances */
    bool hidden;               /* `contents` instead of a payload */
    const char *fill;          /* what __new__ calls with its argument, if C has no __init__ */
    DtStatus (*make_more)(DtTrace *, DtInstanceVar *self, PyTypeObject *base); /* NULL: no `more` */
} PayloadRow;

/* Subtypes come before their bases. */
static PayloadRow rows[] = {
    {&PyODict_Type, NULL, NULL, dt_payload_dict, true, false, NULL, NULL},
    {NULL, "collections", "defaultdict", dt_payload_dict, true, false, NULL, NULL},
    {&PyDict_Type, NULL, NULL, dt_payload_dict, false, false, NULL, NULL},
    {&PyList_Type, NULL, NULL, dt_payload_sequence, false, false, NULL, NULL},
    {&PyTuple_Type, NULL, NULL, dt_payload_sequence, false, false, NULL, NULL},
    {&PySet_Type, NULL, NULL, dt_payload_set, false, false, NULL, NULL},
    {&PyFrozenSet_Type, NULL, NULL, dt_payload_set, false, false, NULL, NULL},
    {&PyLong_Type, NULL, NULL, dt_payload_constant, false, false, NULL, NULL},
    {&PyFloat_Type, NULL, NULL, dt_payload_constant, false, false, NULL, NULL},
    {&PyComplex_Type, NULL, NULL, dt_payload_constant, false, false, NULL, NULL},
    {&PyUnicode_Type, NULL, NULL, dt_payload_constant, false, false, NULL, NULL},
    {&PyBytes_Type, NULL, NULL, dt_payload_constant, false, false, NULL, NULL},
    {NULL, "collections", "deque", dt_growing_list_of_deque, true, true, NULL,
     dt_payload_deque_limit},
    {NULL, "types", "SimpleNamespace", dt_payload_nothing, true, true, NULL, NULL},
    {NULL, "_random", "Random", NULL, true, true, "seed", NULL},
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
dt_payload_raised(DtTrace *trace, DtStatus status, const DtVar *var, const DtVar *payload)
{
    return status == DT_RAISE && payload != var && dt_raised_matches(trace, PyExc_TypeError)
               ? dt_raised_break(trace)
               : status;
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

/* ---- Types whose methods are polyfills ------------------------------------------------------- */

static DtStatus
adopt_contents(DtTrace *trace, DtInstanceVar *self, DtVar *contents)
{
    PyTypeObject *layout = dt_build_layout(self->cls);
    const PayloadRow *row = find_row(layout);
    if (row->make_more != NULL) {
        DT_TRY(row->make_more(trace, self, layout));
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
