/* Exception objects: making them, and what C gives them.
 *
 *   class call ─► the class's __new__ keeps the arguments ─► __init__ (of C: a row here;
 *                 of Python: traced) ─► instance tracker with an exception state
 *
 * An exception is an instance like any other, so attributes, methods and
 * special methods that Python code defines work as for user classes; only what
 * the C types of the standard exceptions define is here, one row for each
 * attribute, method and kind of __init__.
 *
 * An existing exception is read where it lies, and not changed in what C keeps
 * of it.
 *
 * Not in here: attributes (exception_attr.c), raising and contexts (exception.c), making an
 * exception again that leaves the trace (exception_leaves.c).
 */
#include <string.h>

#include "compat/object.h"
#include "compat/type.h"
#include "variables/exceptions/exception_state.h"

static DtStatus
unknown_text(DtTrace *trace, DtVar *self)
{
    return dt_break(trace, DT_BREAK_RAISES, "the text of a %s is looked at",
                    dt_exception_instance(self)->cls->tp_name);
}

DtStatus
dt_exception_args(DtTrace *trace, DtVar *self, DtVar **out)
{
    *out = dt_exception_state(self)->args;
    return *out != NULL ? dt_var_realize(trace, *out, out) : unknown_text(trace, self);
}

/* ---- Existing exceptions --------------------------------------------------------------------- */

DtStatus
dt_exception_read(DtTrace *trace, DtVar *self, PyObject *name, DtVar **out)
{
    PyObject *descriptor = dt_type_lookup(dt_exception_instance(self)->cls, name);
    PyObject *value = descriptor != NULL
                          ? dt_object_member(dt_exception_instance(self)->object, descriptor)
                          : NULL;
    *out = NULL;
    if (value == NULL || self->source == NULL) {
        return DT_OK;
    }
    const DtSource *source = dt_source_get(trace, DT_SOURCE_MEMBER, self->source, name, 0);
    return source != NULL ? dt_var_build_lazy(trace, value, source, out) : DT_ERROR;
}

DtStatus
dt_exception_build(DtTrace *trace, PyObject *object, const DtSource *source, bool trusted,
                   DtVar **out)
{
    (void)trusted; /* the type can change under a trusted object */
    DtInstanceVar *self = DT_KINDS_NEW(trace, INSTANCE, DtInstanceVar, source);
    DtExceptionState *state = DT_ARENA_NEW(&trace->arena, DtExceptionState);
    PyObject *name = dt_trace_keep_take(trace, PyUnicode_InternFromString("args"));
    if (self == NULL || state == NULL || name == NULL) {
        return self == NULL || name == NULL ? DT_ERROR : dt_no_memory();
    }
    DT_TRY(dt_guard_type_version(trace, source, Py_TYPE(object)));
    DT_TRY(dt_trace_keep(trace, (PyObject *)Py_TYPE(object)));
    self->object = object;
    self->cls = Py_TYPE(object);
    self->exception = state;
    *out = &self->base;
    return dt_exception_read(trace, *out, name, &state->args);
}

/* ---- Fields: members of the C structs -------------------------------------------------------- */

DtExceptionField *
dt_exception_field(const DtExceptionState *state, PyObject *name)
{
    for (uint32_t i = 0; i < state->nfields; i++) {
        if (PyUnicode_CompareWithASCIIString(name, state->fields[i].name) == 0) {
            return &state->fields[i];
        }
    }
    return NULL;
}

/* Room for `count` fields in a state that nobody shares yet. */
static DtStatus
new_fields(DtTrace *trace, DtExceptionState *state, const char *const *names, uint32_t count)
{
    state->fields = DT_ARENA_ARRAY(&trace->arena, DtExceptionField, count);
    if (state->fields == NULL) {
        return dt_no_memory();
    }
    state->nfields = count;
    for (uint32_t i = 0; i < count; i++) {
        state->fields[i] = (DtExceptionField){names[i], dt_none(trace)};
    }
    return DT_OK;
}

/* ---- __init__ of the C types ----------------------------------------------------------------- */

typedef struct InitRow {
    PyObject **type;       /* which C type's tp_init it is */
    const char *fields[4]; /* keyword arguments among them from `keywords` on */
    uint32_t nfields;
    uint32_t keywords;
    /* Fills the fields that come from positional arguments; NULL: none do. */
    void (*fill)(DtExceptionField *fields, DtSeqVar *args);
} InitRow;

static void
fill_first(DtExceptionField *fields, DtSeqVar *args)
{
    if (args->count > 0) {
        fields[0].value = args->items[0];
    }
}

static void
fill_only(DtExceptionField *fields, DtSeqVar *args)
{
    if (args->count == 1) {
        fields[0].value = args->items[0];
    }
}

/* Several arguments: the very tuple that is args. */
static void
fill_code(DtExceptionField *fields, DtSeqVar *args)
{
    fill_first(fields, args);
    if (args->count > 1) {
        fields[0].value = &args->base;
    }
}

static const InitRow init_rows[] = {
    {&PyExc_BaseException, {NULL}, 0, 0, NULL},
    {&PyExc_StopIteration, {"value"}, 1, 1, fill_first},
    {&PyExc_SystemExit, {"code"}, 1, 1, fill_code},
    {&PyExc_AttributeError, {"name", "obj"}, 2, 0, NULL},
    {&PyExc_NameError, {"name"}, 1, 0, NULL},
    {&PyExc_ImportError, {"msg", "name", "path", "name_from"}, 4, 1, fill_only},
};

static const InitRow *
find_init(PyTypeObject *type)
{
    for (size_t i = 0; i < sizeof(init_rows) / sizeof(init_rows[0]); i++) {
        if (((PyTypeObject *)*init_rows[i].type)->tp_init == type->tp_init) {
            return &init_rows[i];
        }
    }
    return NULL;
}

/* The field of keyword `name`, if this CPython's type has such a member. */
static DtExceptionField *
keyword_field(const InitRow *row, PyTypeObject *type, DtExceptionState *state, PyObject *name)
{
    DtExceptionField *field = dt_exception_field(state, name);
    bool member = field != NULL && dt_type_lookup(type, name) != NULL;
    return member && field >= state->fields + row->keywords ? field : NULL;
}

static DtStatus
run_init(DtTrace *trace, DtVar *self, PyTypeObject *type, const DtArgs *args)
{
    /* That of groups is BaseException's, and their fields are filled before. */
    const InitRow *row = dt_group_is_class(type) ? &init_rows[0] : find_init(type);
    if (row == NULL) {
        return dt_break(trace, DT_BREAK_UNKNOWN_CALLABLE, "__init__ of a %s", type->tp_name);
    }
    if (row->nfields == row->keywords && args->nkw > 0) {
        return dt_raise(trace, PyExc_TypeError, "%.200s() takes no keyword arguments",
                        dt_exception_instance(self)->cls->tp_name);
    }
    DtExceptionState *state;
    DT_TRY(dt_exception_change(trace, dt_exception_instance(self), &state));
    DT_TRY(dt_var_tuple(trace, args->pos, args->npos, &state->args));
    if (row->nfields > 0) {
        DT_TRY(new_fields(trace, state, row->fields, row->nfields));
    }
    if (row->fill != NULL) {
        row->fill(state->fields, (DtSeqVar *)state->args);
    }
    for (uint32_t i = 0; i < args->nkw; i++) {
        DtExceptionField *field = keyword_field(row, type, state, args->kwnames[i]);
        if (field == NULL) {
            return dt_break(trace, DT_BREAK_CALL_MISMATCH, "%s() with keyword argument '%s'",
                            type->tp_name, dt_kinds_text(args->kwnames[i]));
        }
        field->value = args->kw[i];
    }
    return DT_OK;
}

/* ---- Making ---------------------------------------------------------------------------------- */

/* Types whose __new__ or __init__ computes: a real one is made of the same constants. */
static DtStatus
make_prototype(DtTrace *trace, PyTypeObject *cls, const DtArgs *args, DtVar **out)
{
    bool constant =
        dt_type_is_static(cls) && args->nkw == 0 && (PyObject *)cls != PyExc_MemoryError;
    PyObject *values = PyTuple_New((Py_ssize_t)args->npos);
    if (values == NULL) {
        return DT_ERROR;
    }
    for (uint32_t i = 0; i < args->npos && constant; i++) {
        PyObject *value = dt_var_as_constant(trace, args->pos[i]);
        constant = value != NULL && dt_constant_is_safe(value);
        PyTuple_SET_ITEM(values, (Py_ssize_t)i, Py_XNewRef(value));
    }
    if (!constant) {
        Py_DECREF(values);
        return dt_break(trace, DT_BREAK_UNKNOWN_CALLABLE, "an instance of %s is made",
                        cls->tp_name);
    }
    PyObject *made = PyObject_CallObject((PyObject *)cls, values);
    Py_DECREF(values);
    if (made == NULL) {
        return dt_raise_from_exception(trace);
    }
    made = dt_trace_keep_take(trace, made);
    if (made == NULL) {
        return DT_ERROR;
    }
    DtInstanceVar *self;
    DtVar *made_of;
    DT_TRY(dt_var_tuple(trace, args->pos, args->npos, &made_of));
    DtExceptionState *state;
    /* OSError answers with a class of its own for some numbers. */
    DT_TRY(dt_exception_new(trace, Py_TYPE(made), NULL, 0, &self));
    DT_TRY(dt_exception_change(trace, self, &state));
    state->prototype = made;
    state->made_by = cls;
    state->made_of = made_of;
    DT_TRY(dt_constant_wrap_take(trace, Py_NewRef(((PyBaseExceptionObject *)made)->args),
                                 &state->args));
    *out = &self->base;
    return DT_OK;
}

/* __init__, of C or of Python. */
static DtStatus
finish_init(DtTrace *trace, DtVar *self, PyTypeObject *native, const DtArgs *args)
{
    if (dt_exception_instance(self)->cls->tp_init == native->tp_init) {
        return run_init(trace, self, native, args);
    }
    DtVar *init, *result;
    DT_TRY(dt_instance_special(trace, self, "__init__", &init));
    DT_TRY(dt_var_call(trace, init, args, &result));
    DT_TRY(dt_var_realize(trace, result, &result));
    if (dt_var_peek_constant(result) != Py_None) {
        return dt_raise(trace, PyExc_TypeError, "__init__() should return None, not '%.200s'",
                        dt_kinds_type_name(trace, result));
    }
    return DT_OK;
}

DtStatus
dt_exception_make(DtTrace *trace, DtVar *cls_var, const DtArgs *args, DtVar **out)
{
    PyTypeObject *cls = (PyTypeObject *)((DtObjectVar *)cls_var)->object;
    PyTypeObject *native = cls;
    while (!dt_type_is_static(native)) {
        native = native->tp_base;
    }
    bool plain = ((PyTypeObject *)PyExc_BaseException)->tp_new == cls->tp_new
                 && (dt_type_is_static(cls) ? find_init(cls) != NULL : true);
    if (Py_TYPE(cls)->tp_call != PyType_Type.tp_call || (cls->tp_flags & Py_TPFLAGS_IS_ABSTRACT)
        || cls->tp_finalize != NULL || cls->tp_del != NULL) {
        return dt_break(trace, DT_BREAK_UNKNOWN_CALLABLE, "an instance of %s is made",
                        cls->tp_name);
    }
    if (dt_group_is_class(cls)) {
        DT_TRY(dt_class_guard_unchanged(trace, cls_var));
        DT_TRY(dt_group_make(trace, cls_var, args, out));
        return finish_init(trace, *out, native, args);
    }
    if (!plain) {
        return make_prototype(trace, cls, args, out);
    }
    DT_TRY(dt_class_guard_unchanged(trace, cls_var));
    DtInstanceVar *self;
    DT_TRY(dt_exception_new(trace, cls, args->pos, args->npos, &self));
    self->cls_var = cls_var;
    *out = &self->base;
    return finish_init(trace, *out, native, args);
}

/* ---- Methods --------------------------------------------------------------------------------- */

static DtStatus
call_known(DtTrace *trace, PyObject *callable, DtVar *arg, DtVar **out)
{
    DtVar *var;
    DtArgs args = dt_args_of(&arg, 1);
    DT_TRY(dt_build_known(trace, callable, &var));
    return dt_var_call(trace, var, &args, out);
}

static DtStatus
repr_of(DtTrace *trace, DtVar *value, DtVar **out)
{
    PyObject *repr = PyDict_GetItemString(trace->builtins, "repr");
    if (repr == NULL || !PyCFunction_CheckExact(repr)) {
        return dt_break(trace, DT_BREAK_UNKNOWN_CALLABLE, "repr() of another kind");
    }
    return call_known(trace, repr, value, out);
}

static DtStatus
base_str(DtTrace *trace, DtVar *self, DtVar **out)
{
    DtVar *var;
    DT_TRY(dt_exception_args(trace, self, &var));
    DtSeqVar *args = (DtSeqVar *)var;
    if (args->count == 0) {
        return dt_var_const_take(trace, PyUnicode_FromString(""), out);
    }
    DtVar *value = args->count == 1 ? args->items[0] : &args->base;
    return call_known(trace, (PyObject *)&PyUnicode_Type, value, out);
}

static DtStatus
exception_str(DtTrace *trace, DtVar *self, const DtArgs *ignored, DtVar **out)
{
    (void)ignored;
    const DtExceptionState *state = dt_exception_state(self);
    reprfunc str = ((PyTypeObject *)PyExc_BaseException)->tp_str;
    PyTypeObject *native = dt_exception_instance(self)->cls;
    while (!dt_type_is_static(native)) {
        native = native->tp_base;
    }
    if (state->prototype != NULL) {
        /* Its arguments are constants, and a class of Python would not have come here. */
        PyObject *text = native->tp_str(state->prototype);
        return text != NULL ? dt_var_const_take(trace, text, out) : dt_raise_from_exception(trace);
    }
    if (state->args == NULL) {
        return unknown_text(trace, self);
    }
    if (native->tp_str == str) {
        return base_str(trace, self, out);
    }
    if (dt_group_is_class(native)) {
        return dt_group_str(trace, self, out);
    }
    if (native->tp_str == ((PyTypeObject *)PyExc_KeyError)->tp_str) {
        /* The key itself, so that an empty one can be seen. */
        DtVar *args;
        DT_TRY(dt_exception_args(trace, self, &args));
        return ((DtSeqVar *)args)->count == 1 ? repr_of(trace, ((DtSeqVar *)args)->items[0], out)
                                              : base_str(trace, self, out);
    }
    if (native->tp_str == ((PyTypeObject *)PyExc_ImportError)->tp_str
        && !dt_exception_exists(self)) {
        DtVar *message;
        DT_TRY(dt_var_realize(trace, state->fields[0].value, &message));
        PyObject *value = dt_var_peek_constant(message);
        if (value != NULL && PyUnicode_CheckExact(value)) {
            *out = message;
            return DT_OK;
        }
        return base_str(trace, self, out);
    }
    return unknown_text(trace, self);
}

static DtStatus
exception_repr(DtTrace *trace, DtVar *self, const DtArgs *ignored, DtVar **out)
{
    (void)ignored;
    DtVar *inside, *tuple;
    DT_TRY(dt_exception_args(trace, self, &tuple));
    DtSeqVar *args = (DtSeqVar *)tuple;
    DT_TRY(repr_of(trace, args->count == 1 ? args->items[0] : &args->base, &inside));
    PyObject *text = dt_var_as_constant(trace, inside);
    if (text == NULL) {
        return unknown_text(trace, self);
    }
    const char *name = dt_exception_instance(self)->cls->tp_name, *dot = strrchr(name, '.');
    return dt_var_const_take(trace,
                             PyUnicode_FromFormat(args->count == 1 ? "%s(%U)" : "%s%U",
                                                  dot != NULL ? dot + 1 : name, text),
                             out);
}

static DtStatus
add_note(DtTrace *trace, DtVar *self, const DtArgs *args, DtVar **out)
{
    DtVar *note, *notes;
    DT_TRY(dt_var_realize(trace, args->pos[0], &note));
    PyTypeObject *type = dt_var_python_type(trace, note);
    if (type != &PyUnicode_Type) {
        return dt_raise(trace, PyExc_TypeError, "note must be a str, not '%s'",
                        dt_kinds_type_name(trace, note));
    }
    PyObject *name = dt_trace_keep_take(trace, PyUnicode_InternFromString("__notes__"));
    if (name == NULL) {
        return DT_ERROR;
    }
    DtVar *missing;
    DtStatus status = dt_var_getattr(trace, self, name, &notes);
    if (dt_kinds_take_raised(trace, status, PyExc_AttributeError, &missing)) {
        DT_TRY(dt_var_list(trace, NULL, 0, &notes));
        status = dt_var_setattr(trace, self, name, notes);
    }
    DT_TRY(status);
    DT_TRY(dt_var_realize(trace, notes, &notes));
    if (notes->type->kind != DT_KIND_LIST) {
        return dt_raise(trace, PyExc_TypeError, "Cannot add note: __notes__ is not a list");
    }
    return dt_var_call_method(trace, notes, "append", &note, 1, out);
}

static DtStatus
with_traceback(DtTrace *trace, DtVar *self, const DtArgs *args, DtVar **out)
{
    *out = self;
    return dt_exception_set_traceback(trace, self, args->pos[0]);
}

static const DtMethodRow method_rows[] = {
    {"__str__", exception_str, 0, 0, false},
    {"__repr__", exception_repr, 0, 0, false},
    {"add_note", add_note, 1, 1, false},
    {"with_traceback", with_traceback, 1, 1, false},
    {NULL, NULL, 0, 0, false},
};

DtStatus
dt_exception_call(DtTrace *trace, DtVar *self, PyObject *descriptor, const DtArgs *args,
                  DtVar **out)
{
    PyTypeObject *owner = PyDescr_TYPE(descriptor);
    PyObject *name = PyDescr_NAME(descriptor);
    if (PyUnicode_CompareWithASCIIString(name, "__init__") == 0) {
        *out = dt_none(trace);
        return run_init(trace, self, owner, args);
    }
    const DtMethodRow *const tables[] = {method_rows, dt_group_rows};
    for (int i = 0; i < 2; i++) {
        for (const DtMethodRow *row = tables[i]; row->name != NULL; row++) {
            if (PyUnicode_CompareWithASCIIString(name, row->name) == 0) {
                return dt_kinds_call_row(trace, self, row, args, out);
            }
        }
    }
    return dt_break(trace, DT_BREAK_ATTRIBUTE, "%s() of an exception", dt_kinds_text(name));
}
