/* Real objects that stand for what the trace makes: classes, descriptors, and the values in a
 * class.
 *
 * The class of a class statement is a real one while tracing.  What it holds under its names is the
 * value itself where that exists, else a *stand-in*, a function of the same code or a plain object,
 * that leads back to the tracker: whatever finds it in the class gets the tracker.
 *
 * Invariant: no stand-in leaves the trace; no guard looks at one.
 */
#include "compat/type.h"
#include "variables/classes/made.h"

DtMade *
dt_made_find(const DtTrace *trace, PyObject *object)
{
    return trace->made.count > 0 ? dt_map_get(&trace->made, object) : NULL;
}

/* `object`, which is kept, stands for `var` from now on. */
static DtStatus
stand_for(DtTrace *trace, PyObject *object, DtVar *var)
{
    return dt_map_set(&trace->arena, &trace->by_object, object, var) == 0
                   && dt_map_set(&trace->arena, &trace->stand_ins, object, var) == 0
               ? DT_OK
               : dt_no_memory();
}

DtStatus
dt_made_register(DtTrace *trace, PyObject *object, DtKind kind, DtMade made, DtVar **out)
{
    DtMade *copy = DT_ARENA_NEW(&trace->arena, DtMade);
    DtObjectVar *self;
    if (copy == NULL) {
        return dt_no_memory();
    }
    *copy = made;
    copy->real = object;
    DT_TRY(dt_object_new(trace, kind, object, NULL, &self));
    *out = &self->base;
    if (kind == DT_KIND_CLASS) {
        self->base.mutation = DT_ATTRIBUTE_MUTATION_NEW;
    }
    if (dt_map_set(&trace->arena, &trace->made, object, copy) != 0) {
        return dt_no_memory();
    }
    return stand_for(trace, object, *out);
}

static DtStatus
refuse_value(DtTrace *trace, DtVar *value)
{
    return dt_break(trace, DT_BREAK_UNKNOWN_CALLABLE, "a class body with a %s",
                    dt_kinds_type_name(trace, value));
}

DtStatus
dt_made_function(DtTrace *trace, DtFunctionVar *function, PyObject **out)
{
    *out = dt_trace_keep_take(trace, PyFunction_New((PyObject *)function->code, function->globals));
    PyObject *name = dt_trace_keep_take(trace, PyUnicode_InternFromString("__isabstractmethod__"));
    if (*out == NULL || name == NULL) {
        return DT_ERROR;
    }
    bool deleted;
    DtVar *abstract = dt_journal_get_attr(trace, &function->base, name, &deleted);
    if (abstract != NULL && dt_var_peek_constant(abstract) == Py_True
        && PyObject_SetAttr(*out, name, Py_True) < 0) {
        return DT_ERROR;
    }
    return stand_for(trace, *out, &function->base);
}

static bool
type_takes_part(PyTypeObject *type)
{
    return type->tp_descr_get != NULL || type->tp_descr_set != NULL
           || dt_hooks_type_has(type, "__set_name__");
}

static DtStatus
stand_in_object(DtTrace *trace, DtVar *value, PyObject **out)
{
    PyTypeObject *type = dt_var_python_type(trace, value);
    if (type == NULL || type_takes_part(type)) {
        return refuse_value(trace, value);
    }
    *out = dt_trace_keep_take(trace,
                              PyObject_CallNoArgs((PyObject *)&PyBaseObject_Type)); /* object() */
    return *out != NULL ? stand_for(trace, *out, value) : DT_ERROR;
}

/* An object of a class of the program that takes part in look-ups, or hears of the class: itself,
 * or an empty one of that class. */
static DtStatus
stand_in_descriptor(DtTrace *trace, DtVar *value, PyObject **out)
{
    DtInstanceVar *instance = (DtInstanceVar *)value;
    if (!dt_build_is_user_class(instance->cls)) {
        return refuse_value(trace, value);
    }
    DT_TRY(dt_instance_stand_in(trace, value, out));
    return instance->object == NULL ? stand_for(trace, *out, value) : DT_OK;
}

/* What type() looks at itself has to be what it is. */
static bool
is_read_by_type(PyObject *name)
{
    static const char *const names[] = {
        "__slots__", "__match_args__", "__qualname__", "__module__", "__doc__", "__name__", NULL};
    return dt_kinds_is_among(name, names);
}

/* The real object that stands for a value in the real class. */
DtStatus
dt_made_stand_in(DtTrace *trace, PyObject *name, DtVar *value, PyObject **out)
{
    PyObject *object = dt_payload_object(value);
    if (value->type->kind == DT_KIND_CONSTANT
        && dt_constant_is_safe(((DtConstVar *)value)->value)) {
        *out = ((DtConstVar *)value)->value;
        return DT_OK;
    }
    if (is_read_by_type(name)) {
        *out = dt_var_as_constant(trace, value);
        return *out != NULL && dt_constant_is_safe(*out) ? DT_OK : refuse_value(trace, value);
    }
    switch (value->type->kind) {
    case DT_KIND_FUNCTION:
        if (object == NULL) {
            return dt_made_function(trace, (DtFunctionVar *)value, out);
        }
        *out = object;
        return DT_OK;
    case DT_KIND_CLASS:
        *out = object;
        return dt_hooks_type_has(Py_TYPE(object), "__get__")
                       || dt_hooks_type_has(Py_TYPE(object), "__set_name__")
                   ? refuse_value(trace, value)
                   : DT_OK;
    case DT_KIND_BUILTIN:
    case DT_KIND_OPAQUE:
        *out = object;
        return !dt_type_is_static(Py_TYPE(object)) ? refuse_value(trace, value) : DT_OK;
    case DT_KIND_INSTANCE:
        if (type_takes_part(((DtInstanceVar *)value)->cls)) {
            return stand_in_descriptor(trace, value, out);
        }
        return stand_in_object(trace, value, out);
    default:
        return stand_in_object(trace, value, out);
    }
}
