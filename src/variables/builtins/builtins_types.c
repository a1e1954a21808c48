/* Rows of module `builtins` about types and attributes, and those that are
 * refused: what would print, read or depend on addresses is a graph break.
 */
#include <string.h>

#include "compat/type.h"
#include "variables/fold.h"

static DtStatus
call_type(DtTrace *trace, DtVar *self, const DtArgs *args, DtVar **out)
{
    if (args->npos == 2) {
        return dt_kinds_mismatch(trace, self, "type", args);
    }
    if (args->npos != 1) {
        DtArgs with_class;
        DT_TRY(dt_args_prepend(trace, args, self, &with_class));
        return dt_made_class(trace, &with_class, out);
    }
    return dt_class_of(trace, args->pos[0], out);
}

static DtStatus
attribute_name(DtTrace *trace, DtVar *var, PyObject **out)
{
    PyObject *name = dt_var_as_constant(trace, var);
    if (name == NULL || !PyUnicode_CheckExact(name)) {
        return dt_kinds_raise(trace, "TypeError", "attribute name must be string");
    }
    Py_INCREF(name);
    PyUnicode_InternInPlace(&name);
    *out = dt_trace_keep_take(trace, name);
    return *out != NULL ? DT_OK : DT_ERROR;
}

/* Takes the exception if reading the attribute says that it is missing. */
static bool
take_attribute_error(DtTrace *trace, DtStatus status)
{
    if (status != DT_RAISE || !dt_raised_matches(trace, PyExc_AttributeError)) {
        return false;
    }
    (void)dt_raised_take(trace);
    return true;
}

static DtStatus
call_getattr(DtTrace *trace, DtVar *self, const DtArgs *args, DtVar **out)
{
    (void)self;
    PyObject *name;
    DT_TRY(attribute_name(trace, args->pos[1], &name));
    DtStatus status = dt_var_getattr(trace, args->pos[0], name, out);
    if (args->npos == 3 && take_attribute_error(trace, status)) {
        *out = args->pos[2];
        return DT_OK;
    }
    return status;
}

static DtStatus
call_vars(DtTrace *trace, DtVar *self, const DtArgs *args, DtVar **out)
{
    (void)self;
    PyObject *name = dt_trace_keep_take(trace, PyUnicode_InternFromString("__dict__"));
    if (name == NULL) {
        return DT_ERROR;
    }
    if (args->npos == 0) {
        return dt_frame_locals(trace, out);
    }
    DtStatus status = dt_var_getattr(trace, args->pos[0], name, out);
    if (take_attribute_error(trace, status)) {
        return dt_raise(trace, PyExc_TypeError, "vars() argument must have __dict__ attribute");
    }
    return status;
}

static DtStatus
call_locals(DtTrace *trace, DtVar *self, const DtArgs *args, DtVar **out)
{
    (void)self;
    (void)args;
    return dt_frame_locals(trace, out);
}

static DtStatus
call_globals(DtTrace *trace, DtVar *self, const DtArgs *args, DtVar **out)
{
    (void)self;
    (void)args;
    return dt_frame_globals(trace, out);
}

static DtStatus
call_hasattr(DtTrace *trace, DtVar *self, const DtArgs *args, DtVar **out)
{
    (void)self;
    PyObject *name;
    DtVar *ignored;
    DT_TRY(attribute_name(trace, args->pos[1], &name));
    DtStatus status = dt_var_getattr(trace, args->pos[0], name, &ignored);
    if (status == DT_OK || take_attribute_error(trace, status)) {
        return dt_var_bool(trace, status == DT_OK, out);
    }
    return status;
}

static DtStatus
call_setattr(DtTrace *trace, DtVar *self, const DtArgs *args, DtVar **out)
{
    (void)self;
    PyObject *name;
    DT_TRY(attribute_name(trace, args->pos[1], &name));
    *out = dt_none(trace);
    return dt_var_setattr(trace, args->pos[0], name, args->pos[2]);
}

static DtStatus
call_delattr(DtTrace *trace, DtVar *self, const DtArgs *args, DtVar **out)
{
    (void)self;
    PyObject *name;
    DT_TRY(attribute_name(trace, args->pos[1], &name));
    *out = dt_none(trace);
    return dt_var_setattr(trace, args->pos[0], name, NULL);
}

static DtStatus
call_callable(DtTrace *trace, DtVar *self, const DtArgs *args, DtVar **out)
{
    (void)self;
    PyTypeObject *type = dt_var_python_type(trace, args->pos[0]);
    if (type == NULL) {
        return dt_break(trace, DT_BREAK_UNKNOWN_CALLABLE, "callable() of a %s",
                        dt_var_peek(args->pos[0])->type->name);
    }
    return dt_var_bool(trace, type->tp_call != NULL, out);
}

static DtStatus
call_refused(DtTrace *trace, DtVar *self, const DtArgs *args, DtVar **out)
{
    (void)args;
    (void)out;
    return dt_break(trace, DT_BREAK_UNKNOWN_CALLABLE, "%s() is called",
                    ((DtObjectVar *)self)->row->name);
}

static DtStatus
call_object(DtTrace *trace, DtVar *self, const DtArgs *args, DtVar **out)
{
    (void)args;
    DtInstanceVar *instance = DT_KINDS_NEW(trace, INSTANCE, DtInstanceVar, NULL);
    if (instance == NULL) {
        return DT_ERROR;
    }
    instance->base.mutation = DT_ATTRIBUTE_MUTATION_NEW;
    instance->cls = &PyBaseObject_Type;
    instance->cls_var = self;
    *out = &instance->base;
    return DT_OK;
}

static const DtMethodRow type_rows[] = {
    {"callable", call_callable, 1, 1, false}, {"delattr", call_delattr, 2, 2, false},
    {"vars", call_vars, 0, 1, false},         {"globals", call_globals, 0, 0, false},
    {"locals", call_locals, 0, 0, false},     {"getattr", call_getattr, 2, 3, false},
    {"hasattr", call_hasattr, 2, 2, false},   {"id", dt_identity_of, 1, 1, false},
    {"input", call_refused, 0, -1, true},     {"object", call_object, 0, 0, false},
    {"open", call_refused, 0, -1, true},      {"setattr", call_setattr, 3, 3, false},
    {"type", call_type, 1, 3, false},         {NULL, NULL, 0, 0, false},
};

const DtBuiltinTable dt_builtin_types_table = {"builtins", type_rows};
