/* Descriptors that the trace makes: property, classmethod and staticmethod of functions. */
#include "variables/classes/made.h"

/* What stands for an argument while the descriptor is made; a break for what would be asked in
 * Python. */
static DtStatus
real_part(DtTrace *trace, DtVar *part, PyObject **real)
{
    *real = dt_var_peek_constant(part) == Py_None ? Py_None : dt_payload_object(part);
    if (*real == Py_None || (*real != NULL && Py_IS_TYPE(*real, &PyProperty_Type))) {
        return DT_OK;
    }
    if (part->type->kind != DT_KIND_FUNCTION) {
        return dt_break(trace, DT_BREAK_UNKNOWN_CALLABLE, "a descriptor made of a %s",
                        part->type->name);
    }
    return *real != NULL ? DT_OK : dt_made_function(trace, (DtFunctionVar *)part, real);
}

/* maker(*args): a class, or what makes a property of a property. */
static DtStatus
make_descriptor(DtTrace *trace, PyObject *maker, DtVar *const *args, uint32_t count, DtVar **out)
{
    PyObject *real[4] = {NULL};
    DtVar **parts = DT_ARENA_ARRAY(&trace->arena, DtVar *, count + 1);
    if (parts == NULL) {
        return dt_no_memory();
    }
    for (uint32_t i = 0; i < count; i++) {
        DT_TRY(dt_var_realize(trace, args[i], &parts[i]));
        DT_TRY(real_part(trace, parts[i], &real[i]));
    }
    PyObject *object = PyObject_Vectorcall(maker, real, count, NULL);
    if (object == NULL) {
        return dt_raise_from_exception(trace);
    }
    object = dt_trace_keep_take(trace, object);
    if (object == NULL) {
        return DT_ERROR;
    }
    DtMade made = {.maker = maker, .args = parts, .nargs = count};
    return dt_made_register(trace, object, DT_KIND_OPAQUE, made, out);
}

static DtStatus
call_descriptor_class(DtTrace *trace, DtVar *self, const DtArgs *args, DtVar **out)
{
    return make_descriptor(trace, dt_payload_object(self), args->pos, args->npos, out);
}

/* property.getter(self, value) and its like: only the property knows whether its docstring is the
 * getter's. */
static DtStatus
copy_property(DtTrace *trace, DtVar *self, const char *method, DtVar *value, DtVar **out)
{
    PyObject *maker = PyObject_GetAttrString((PyObject *)&PyProperty_Type, method);
    maker = dt_trace_keep_take(trace, maker);
    DtVar *args[] = {self, value};
    return maker != NULL ? make_descriptor(trace, maker, args, 2, out) : DT_ERROR;
}

static DtStatus
call_getter(DtTrace *trace, DtVar *self, const DtArgs *args, DtVar **out)
{
    return copy_property(trace, self, "getter", args->pos[0], out);
}

static DtStatus
call_setter(DtTrace *trace, DtVar *self, const DtArgs *args, DtVar **out)
{
    return copy_property(trace, self, "setter", args->pos[0], out);
}

static DtStatus
call_deleter(DtTrace *trace, DtVar *self, const DtArgs *args, DtVar **out)
{
    return copy_property(trace, self, "deleter", args->pos[0], out);
}

static const DtMethodRow property_rows[] = {
    {"getter", call_getter, 1, 1, false},
    {"setter", call_setter, 1, 1, false},
    {"deleter", call_deleter, 1, 1, false},
    {NULL, NULL, 0, 0, false},
};

const DtMethodRow *
dt_made_property_row(PyObject *name)
{
    for (const DtMethodRow *row = property_rows; row->name != NULL; row++) {
        if (PyUnicode_CompareWithASCIIString(name, row->name) == 0) {
            return row;
        }
    }
    return NULL;
}

static const DtMethodRow rows[] = {
    {"classmethod", call_descriptor_class, 1, 1, false},
    {"property", call_descriptor_class, 0, 3, false},
    {"staticmethod", call_descriptor_class, 1, 1, false},
    {NULL, NULL, 0, 0, false},
};

const DtBuiltinTable dt_builtin_descriptors_table = {"builtins", rows};
