/* obj.__dict__: the attributes of an instance as a dict.
 *
 *   instance tracker ──attributes──► dict tracker ◄──owner── (of a new instance)
 *
 * Once the program has asked for it, the dict tracker is where the attributes are: reading and
 * storing an attribute goes to it, slots apart (dt_journal_get_attr(), dt_journal_set_attr()).
 *
 * Invariants: the dict of an existing instance is an existing dict, read and written like any
 * other; that of a new one is loaded from its owner, and its writes are visible if one of the two
 * is.  What was stored before the program asked is replayed before the writes to the dict.
 *
 * Not in here: the __dict__ of classes, modules and functions, and assigning to __dict__.
 */
#include "compat/object.h"
#include "compat/type.h"
#include "variables/kinds.h"
#include "variables/substitutes.h"

static DtStatus
of_existing(DtTrace *trace, DtInstanceVar *self, PyObject *name, DtDictVar **out)
{
    const DtSource *source = NULL;
    if (self->base.source != NULL) {
        source = dt_source_get(trace, DT_SOURCE_ATTR_DICT, self->base.source, name, 0);
    }
    PyObject *real = dt_object_dict(self->object);
    if (source == NULL || real == NULL) {
        return PyErr_Occurred()
                   ? DT_ERROR
                   : dt_break(trace, DT_BREAK_ATTRIBUTE, "__dict__ of a %s", self->cls->tp_name);
    }
    DtVar *dict;
    DT_TRY(dt_var_build(trace, real, source, &dict));
    DT_TRY(dt_var_realize(trace, dict, &dict));
    if (dict->type->kind != DT_KIND_DICT) {
        return dt_break(trace, DT_BREAK_ATTRIBUTE, "__dict__ of a %s, which is a %s",
                        self->cls->tp_name, dict->type->name);
    }
    *out = (DtDictVar *)dict;
    return DT_OK;
}

/* What the trace has stored so far; a slot is no attribute of the dict. */
static DtStatus
apply_stores(DtTrace *trace, DtInstanceVar *self, DtDictVar *dict)
{
    PyObject **names;
    uint32_t count;
    DT_TRY(dt_journal_changed_names(trace, &self->base, &names, &count));
    for (uint32_t i = 0; i < count; i++) {
        if (dt_attr_dict_is_slot(self->cls, names[i])) {
            continue;
        }
        bool deleted;
        DtVar *key, *value = dt_journal_get_attr(trace, &self->base, names[i], &deleted);
        DT_TRY(dt_var_const(trace, names[i], &key));
        DT_TRY(dt_dict_replay(trace, dict, key, value));
    }
    return DT_OK;
}

bool
dt_attr_dict_is_slot(PyTypeObject *cls, PyObject *name)
{
    PyObject *found = dt_type_lookup(cls, name);
    return found != NULL && Py_IS_TYPE(found, &PyMemberDescr_Type);
}

DtStatus
dt_attr_dict_get(DtTrace *trace, DtVar *var, PyObject *name, DtVar **out)
{
    DtInstanceVar *self = (DtInstanceVar *)var;
    if (self->attributes == NULL) {
        DtDictVar *dict;
        if (dt_exception_is(var) || !dt_instance_has_dict(var)
            || dt_substitute_hides_class(self->cls)
            || dt_instance_overrides(var, "__getattribute__")) {
            return dt_break(trace, DT_BREAK_ATTRIBUTE, "__dict__ of a %s", self->cls->tp_name);
        }
        if (self->object != NULL) {
            DT_TRY(of_existing(trace, self, name, &dict));
        }
        else {
            DT_TRY(dt_dict_new(trace, &dict));
            dict->base.mutation = DT_VALUE_MUTATION_EXISTING; /* its changes are written, not it */
            dict->owner = var;
        }
        DT_TRY(apply_stores(trace, self, dict));
        self->attributes = dict;
    }
    *out = &self->attributes->base;
    return DT_OK;
}

DtStatus
dt_attr_dict_find(DtTrace *trace, DtVar *var, PyObject *name, DtVar **out)
{
    DtVar *key;
    DtDictEntry entry, *found;
    DT_TRY(dt_var_const(trace, name, &key));
    DT_TRY(dt_dict_key(trace, key, &entry));
    DT_TRY(dt_dict_find(trace, ((DtInstanceVar *)var)->attributes, &entry, &found));
    *out = found != NULL ? found->value : NULL;
    return DT_OK;
}

DtStatus
dt_attr_dict_store(DtTrace *trace, DtVar *var, PyObject *name, DtVar *value)
{
    DtVar *key, *dict = &((DtInstanceVar *)var)->attributes->base;
    DT_TRY(dt_var_const(trace, name, &key));
    return dict->type->mp_ass_subscript(trace, dict, key, value);
}
