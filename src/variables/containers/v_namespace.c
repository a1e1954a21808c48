/* globals(), the __dict__ of modules and sys.modules: dicts of names that are read, stored and
 * deleted one by one, as the statements do that use a global or an attribute of a module.
 *
 * Invariant: the tracker keeps nothing of the dict; every name is looked up, guarded and written
 * where global variables and attributes of modules are.  Whatever looks at all names is a break,
 * and so is a change of sys.modules.
 *
 * Not in here: where the names of a frame are (symbolic/frame_dicts.c).
 */
#include "compat/dict.h"
#include "variables/kinds.h"

bool
dt_namespace_is_one(DtTrace *trace, PyObject *dict)
{
    PyObject *value, *name = PyUnicode_InternFromString("__spec__"); /* of all modules */
    bool found = name == NULL || dt_dict_get(dict, name, &value) == 1;
    Py_XDECREF(name);
    PyErr_Clear(); /* MemoryError: it is taken for one */
    return found || dt_map_get(&trace->namespaces, dict) != NULL;
}

DtStatus
dt_namespace_new(DtTrace *trace, PyObject *dict, DtVar *module, const DtSource *function,
                 DtVar **out)
{
    DtNamespaceVar *self = dt_map_get(&trace->namespaces, dict);
    if (self == NULL && dt_map_get(&trace->by_object, dict) != NULL) {
        return dt_break(trace, DT_BREAK_ATTRIBUTE, "names that were read as those of a dict");
    }
    if (self == NULL) {
        self = DT_KINDS_NEW(trace, NAMESPACE, DtNamespaceVar, NULL);
        if (self == NULL) {
            return DT_ERROR;
        }
        self->dict = dict;
        self->module = module;
        self->function = function;
        if (dt_map_set(&trace->arena, &trace->namespaces, dict, self) != 0) {
            return dt_no_memory();
        }
    }
    *out = &self->base;
    return DT_OK;
}

DtStatus
dt_namespace_build(DtTrace *trace, PyObject *object, const DtSource *source, bool trusted,
                   DtVar **out)
{
    DT_TRY(dt_build_guard_identity(trace, object, source, trusted));
    DT_TRY(dt_namespace_new(trace, object, NULL, NULL, out));
    ((DtNamespaceVar *)*out)->modules = object == PyImport_GetModuleDict();
    (*out)->source = source;
    return DT_OK;
}

/* The name as it is looked up; *out NULL: it is no plain str. */
static DtStatus
name_of(DtTrace *trace, DtVar *key, PyObject **out)
{
    DT_TRY(dt_var_realize(trace, key, &key));
    PyObject *name = dt_var_as_constant(trace, key);
    if (name == NULL || !PyUnicode_CheckExact(name)) {
        return dt_break(trace, DT_BREAK_ATTRIBUTE, "a name in globals() that is a %s",
                        dt_kinds_type_name(trace, key));
    }
    name = Py_NewRef(name);
    PyUnicode_InternInPlace(&name);
    *out = dt_trace_keep_take(trace, name);
    return *out != NULL ? DT_OK : DT_ERROR;
}

/* Another module that is imported does not matter, unless one was looked for that was not there. */
static DtStatus
find_module(DtTrace *trace, const DtNamespaceVar *self, PyObject *name, DtVar **out)
{
    PyObject *module;
    const DtSource *all = dt_source_get(trace, DT_SOURCE_OBJECT, NULL, self->dict, 0);
    const DtSource *source = all != NULL ? dt_source_item(trace, all, name) : NULL;
    if (source == NULL) {
        return DT_ERROR;
    }
    if (dt_dict_get(self->dict, name, &module) != 1) {
        *out = NULL;
        return dt_guard_dict_keys(trace, all, self->dict);
    }
    DT_TRY(dt_guard_present(trace, source));
    return dt_var_build_lazy(trace, module, source, out);
}

/* *out NULL: there is no such name, which is guarded. */
static DtStatus
find(DtTrace *trace, DtNamespaceVar *self, DtVar *key, PyObject **name, DtVar **out)
{
    PyObject *value = NULL;
    bool deleted = false;
    DT_TRY(name_of(trace, key, name));
    if (self->modules) {
        return find_module(trace, self, *name, out);
    }
    if (self->module == NULL) {
        return dt_frame_find_global(trace, self->dict, self->function, *name, out);
    }
    *out = dt_journal_get_attr(trace, self->module, *name, &deleted);
    if (*out != NULL || deleted) {
        return DT_OK;
    }
    int found = dt_dict_get(self->dict, *name, &value);
    if (found < 0) {
        return dt_break(trace, DT_BREAK_ATTRIBUTE, "a module with odd names");
    }
    if (found == 0) {
        return dt_guard_attr_absent(trace, self->module->source, *name);
    }
    return dt_var_getattr(trace, self->module, *name, out);
}

static DtStatus
namespace_subscript(DtTrace *trace, DtVar *self, DtVar *key, DtVar **out)
{
    PyObject *name;
    DT_TRY(find(trace, (DtNamespaceVar *)self, key, &name, out));
    return *out != NULL ? DT_OK : dt_raise_value(trace, PyExc_KeyError, key);
}

static DtStatus
namespace_ass_subscript(DtTrace *trace, DtVar *var, DtVar *key, DtVar *value)
{
    DtNamespaceVar *self = (DtNamespaceVar *)var;
    PyObject *name;
    DtVar *found;
    if (self->modules) {
        return dt_break(trace, DT_BREAK_OBJECT_MUTATION, "sys.modules is changed");
    }
    if (value != NULL) {
        DT_TRY(name_of(trace, key, &name));
    }
    else {
        DT_TRY(find(trace, self, key, &name, &found));
        if (found == NULL) {
            return dt_raise_value(trace, PyExc_KeyError, key);
        }
    }
    return self->module != NULL ? dt_var_setattr(trace, self->module, name, value)
                                : dt_journal_set_global(trace, self->dict, name, value);
}

static DtStatus
namespace_contains(DtTrace *trace, DtVar *self, DtVar *item, DtVar **out)
{
    PyObject *name;
    DtVar *found;
    DT_TRY(find(trace, (DtNamespaceVar *)self, item, &name, &found));
    return dt_var_bool(trace, found != NULL, out);
}

static DtStatus
namespace_get(DtTrace *trace, DtVar *self, const DtArgs *args, DtVar **out)
{
    PyObject *name;
    DT_TRY(find(trace, (DtNamespaceVar *)self, args->pos[0], &name, out));
    if (*out == NULL) {
        *out = args->npos > 1 ? args->pos[1] : dt_none(trace);
    }
    return DT_OK;
}

static const DtMethodRow namespace_methods[] = {
    {"get", namespace_get, 1, 2, false},
    {NULL, NULL, 0, 0, false},
};

static PyTypeObject *
namespace_type(DtTrace *trace, DtVar *self)
{
    (void)trace;
    (void)self;
    return &PyDict_Type;
}

static DtStatus
namespace_bool(DtTrace *trace, DtVar *self, bool *out)
{
    (void)out;
    return dt_break(trace, DT_BREAK_ATTRIBUTE, "the truth of a %s", self->type->name);
}

static DtStatus
namespace_compare(DtTrace *trace, int op, DtVar *left, DtVar *right, DtVar **out)
{
    (void)op;
    (void)right;
    (void)out;
    return dt_break(trace, DT_BREAK_ATTRIBUTE, "comparison of a %s", left->type->name);
}

const DtVarType dt_kind_type_NAMESPACE = {
    .kind = DT_KIND_NAMESPACE,
    .nb_bool = namespace_bool,
    .mp_subscript = namespace_subscript,
    .mp_ass_subscript = namespace_ass_subscript,
    .sq_contains = namespace_contains,
    .tp_richcompare = namespace_compare,
    .methods = namespace_methods,
    .python_type = namespace_type,
};
