/* Modules: attributes are read from the module's own dict.
 *
 * An attribute's source is an ATTR on the module, whose guards compare one
 * version of the dict.  A missing name would ask the module's __getattr__, which
 * is user code: a graph break.
 */
#include "variables/kinds.h"

#include "compat/dict.h"
#include "compat/type.h"

DtStatus
dt_module_build(DtTrace *trace, PyObject *object, const DtSource *source, bool trusted, DtVar **out)
{
    DT_TRY(dt_build_guard_identity(trace, object, source, trusted));
    DtObjectVar *self;
    DT_TRY(dt_object_new(trace, DT_KIND_MODULE, object, source, &self));
    *out = &self->base;
    return DT_OK;
}

static const char *
module_name(PyObject *module)
{
    PyObject *dict = PyModule_GetDict(module);
    PyObject *name = dict != NULL ? PyDict_GetItemString(dict, "__name__") : NULL;
    return name != NULL && PyUnicode_Check(name) ? dt_kinds_text(name) : "?";
}

static DtStatus
module_getattro(DtTrace *trace, DtVar *var, PyObject *name, DtVar **out)
{
    DtObjectVar *self = (DtObjectVar *)var;
    bool deleted = false;
    DtVar *stored = dt_journal_get_attr(trace, var, name, &deleted);
    if (stored != NULL) {
        *out = stored;
        return DT_OK;
    }
    PyTypeObject *type = Py_TYPE(self->object);
    if (deleted || (type != &PyModule_Type && type->tp_getattro != PyModule_Type.tp_getattro)) {
        return dt_break(trace, DT_BREAK_ATTRIBUTE, "attribute '%s' of module %s",
                        dt_kinds_text(name), module_name(self->object));
    }
    /* A data descriptor of the module's type (a property of a module subclass) comes first. */
    PyObject *of_type = dt_type_lookup(type, name);
    if (of_type != NULL && Py_TYPE(of_type)->tp_descr_set != NULL) {
        return dt_break(trace, DT_BREAK_ATTRIBUTE, "attribute '%s' of module %s is computed",
                        dt_kinds_text(name), module_name(self->object));
    }
    PyObject *value;
    if (dt_dict_get(PyModule_GetDict(self->object), name, &value) != 1) {
        return dt_break(trace, DT_BREAK_ATTRIBUTE, "module %s has no attribute '%s' in its dict",
                        module_name(self->object), dt_kinds_text(name));
    }
    const DtSource *source = dt_source_attr(trace, self->base.source, name);
    return source != NULL ? dt_var_build_lazy(trace, value, source, out) : DT_ERROR;
}

static DtStatus
module_setattro(DtTrace *trace, DtVar *var, PyObject *name, DtVar *value)
{
    if (!Py_IS_TYPE(((DtObjectVar *)var)->object, &PyModule_Type)) {
        return dt_break(trace, DT_BREAK_OBJECT_MUTATION, "attribute '%s' of a subclass of module",
                        dt_kinds_text(name));
    }
    return dt_journal_set_attr(trace, var, name, value);
}

static PyTypeObject *
module_type(DtTrace *trace, DtVar *self)
{
    (void)trace;
    return Py_TYPE(((DtObjectVar *)self)->object);
}

static DtStatus
module_reconstruct(DtCodegen *codegen, DtVar *var)
{
    bool done;
    DT_TRY(dt_kinds_load_source(codegen, var, &done));
    return done ? DT_OK : dt_codegen_const(codegen, ((DtObjectVar *)var)->object);
}

static void
module_repr(DtVar *var, DtStrbuf *buf)
{
    dt_strbuf_addf(buf, "<module %s>", module_name(((DtObjectVar *)var)->object));
}

const DtVarType dt_kind_type_MODULE = {
    .kind = DT_KIND_MODULE,
    .tp_getattro = module_getattro,
    .tp_setattro = module_setattro,
    .python_type = module_type,
    .reconstruct = module_reconstruct,
    .repr = module_repr,
};
