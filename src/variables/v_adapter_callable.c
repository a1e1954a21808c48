/* Functions of an array library: np.add, np.sum, np.float64 ...
 *
 * Known by identity; a call goes to the adapter.  Attributes that are callables
 * of the same adapter (np.add.reduce) are followed, plain data attributes of the
 * object's own dict become constants or break.
 */
#include "variables/kinds.h"

#include "compat/object.h"
#include "compat/type.h"

DtStatus
dt_adapter_callable_build(DtTrace *trace, PyObject *object, const DtSource *source, bool trusted,
                          DtVar **out)
{
    DT_TRY(dt_build_guard_identity(trace, object, source, trusted));
    DtObjectVar *self;
    DT_TRY(dt_object_new(trace, DT_KIND_ADAPTER_CALLABLE, object, source, &self));
    self->adapter = dt_adapter_of_callable(object);
    DT_TRY(dt_trace_use_adapter(trace, self->adapter));
    *out = &self->base;
    return DT_OK;
}

static DtStatus
callable_call(DtTrace *trace, DtVar *var, const DtArgs *args, DtVar **out)
{
    DtObjectVar *self = (DtObjectVar *)var;
    return self->adapter->call(self->adapter, trace, self->object, args, out);
}

/* A ufunc's methods are builtin methods bound to it; making one runs no user code when the attribute is a
 * method descriptor of a static type. */
static DtStatus
callable_getattro(DtTrace *trace, DtVar *var, PyObject *name, DtVar **out)
{
    DtObjectVar *self = (DtObjectVar *)var;
    PyTypeObject *type = Py_TYPE(self->object);
    PyObject *found = dt_type_lookup(type, name);
    if (found != NULL && Py_IS_TYPE(found, &PyMethodDescr_Type)
        && !(type->tp_flags & Py_TPFLAGS_HEAPTYPE)) {
        PyObject *bound = dt_trace_keep_take(
            trace, Py_TYPE(found)->tp_descr_get(found, self->object, (PyObject *)type));
        if (bound == NULL) {
            return DT_ERROR;
        }
        const DtAdapter *adapter = dt_adapter_of_callable(bound);
        if (adapter == NULL) {
            return dt_break(trace, DT_BREAK_ARRAY_OP, "method '%s' of an array function",
                            dt_kinds_text(name));
        }
        return dt_build_known(trace, bound, out);
    }
    return dt_break(trace, DT_BREAK_ATTRIBUTE, "attribute '%s' of an array function",
                    dt_kinds_text(name));
}

static PyTypeObject *
callable_type(DtTrace *trace, DtVar *self)
{
    (void)trace;
    return Py_TYPE(((DtObjectVar *)self)->object);
}

static PyObject *
callable_as_constant(DtTrace *trace, DtVar *self)
{
    (void)trace;
    return ((DtObjectVar *)self)->object;
}

static DtStatus
callable_reconstruct(DtCodegen *codegen, DtVar *var)
{
    bool done;
    DT_TRY(dt_kinds_load_source(codegen, var, &done));
    return done ? DT_OK : dt_codegen_const(codegen, ((DtObjectVar *)var)->object);
}

const DtVarType dt_kind_type_ADAPTER_CALLABLE = {
    .kind = DT_KIND_ADAPTER_CALLABLE,
    .tp_call = callable_call,
    .tp_getattro = callable_getattro,
    .python_type = callable_type,
    .as_constant = callable_as_constant,
    .reconstruct = callable_reconstruct,
};
