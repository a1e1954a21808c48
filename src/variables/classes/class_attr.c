/* Attributes that the trace gives classes, or takes from them.
 *
 *   existing class ─► journal entry; look-ups through any class below find it
 *   class that the trace has made ─► the real class that stands for it has it, too
 *
 * What is stored lies in a class as a stand-in (class_statement.c), so whoever
 * finds it there gets the tracker.
 *
 * Invariant: a real class that existed before is never changed while tracing.  Of
 * those, only names are written that nothing but an attribute look-up asks for:
 * no special methods, which the interpreter looks up in many places.
 *
 * Not in here: reading attributes (v_class.c, instance_attr.c).
 */
#include "compat/type_names.h"
#include "variables/classes/class_fields.h"
#include "variables/substitutes.h"

static bool
is_special(PyObject *name)
{
    Py_ssize_t length = PyUnicode_GET_LENGTH(name);
    return length > 4 && PyUnicode_READ_CHAR(name, 0) == '_' && PyUnicode_READ_CHAR(name, 1) == '_'
           && PyUnicode_READ_CHAR(name, length - 1) == '_'
           && PyUnicode_READ_CHAR(name, length - 2) == '_';
}

/* ---- Reading what was written ---------------------------------------------------------------- */

/* The latest write of the name to the class itself, or NULL. */
static const DtClassWrite *
find_write(const DtTrace *trace, PyTypeObject *cls, PyObject *name)
{
    for (uint32_t i = trace->class_writes.count; i > 0; i--) {
        const DtClassWrite *write = &trace->class_writes.items[i - 1];
        if (write->cls == cls
            && (write->name == name || PyUnicode_Compare(write->name, name) == 0)) {
            return write;
        }
    }
    return NULL;
}

PyObject *
dt_class_own_attr(const DtTrace *trace, PyTypeObject *cls, PyObject *name)
{
    const DtClassWrite *write = trace->class_writes.count > 0 ? find_write(trace, cls, name) : NULL;
    return write != NULL ? write->stand_in : dt_type_own_lookup(cls, name);
}

bool
dt_class_is_written(const DtTrace *trace, PyObject *dict)
{
    for (uint32_t i = 0; i < trace->class_writes.count; i++) {
        if (dt_type_dict(trace->class_writes.items[i].cls) == dict) {
            return true;
        }
    }
    return false;
}

DtStatus
dt_class_find_written(DtTrace *trace, PyTypeObject *cls, PyObject *name, DtClassAttr *out,
                      bool *done)
{
    PyObject *mro = cls->tp_mro;
    *done = false;
    for (Py_ssize_t i = 0; mro != NULL && i < PyTuple_GET_SIZE(mro); i++) {
        PyTypeObject *base = (PyTypeObject *)PyTuple_GET_ITEM(mro, i);
        const DtClassWrite *write = find_write(trace, base, name);
        *done = *done || write != NULL;
        PyObject *found = write != NULL ? write->stand_in : dt_type_own_lookup(base, name);
        if (found == NULL) {
            continue;
        }
        if (!*done) {
            return DT_OK; /* it hides what may have been written to the bases */
        }
        out->found = found;
        out->trusted = true;
        DT_TRY(dt_trace_keep(trace, found));
        break;
    }
    if (*done && out->found != dt_class_own_attr(trace, cls, name)
        && (cls->tp_flags & Py_TPFLAGS_HEAPTYPE) && dt_made_find(trace, (PyObject *)cls) == NULL) {
        /* No class on the way to it has the name. */
        const DtSource *source = dt_source_get(trace, DT_SOURCE_OBJECT, NULL, (PyObject *)cls, 0);
        return source != NULL ? dt_guard_class_version(trace, source, cls) : DT_ERROR;
    }
    return *done && out->found != NULL ? dt_class_guard_descriptor(trace, out->found) : DT_OK;
}

/* ---- Existing classes ------------------------------------------------------------------------ */

/* The tracker under which the journal has the attributes of the class. */
static DtStatus
changed_class(DtTrace *trace, PyTypeObject *cls, DtVar **out)
{
    *out = dt_map_get(&trace->changed_classes, cls);
    if (*out != NULL) {
        return DT_OK;
    }
    DT_TRY(dt_build_known(trace, (PyObject *)cls, out));
    (*out)->mutation = DT_ATTRIBUTE_MUTATION_EXISTING;
    return dt_map_set(&trace->arena, &trace->changed_classes, cls, *out) == 0 ? DT_OK
                                                                              : dt_no_memory();
}

static DtStatus
refuse(DtTrace *trace, PyTypeObject *cls, PyObject *name)
{
    return dt_break(trace, DT_BREAK_OBJECT_MUTATION, "attribute '%s' of class %s is set",
                    dt_kinds_text(name), cls->tp_name);
}

/* Whether type.__setattr__ would do nothing but to store the name. */
static bool
is_stored_plainly(PyTypeObject *cls, PyObject *name)
{
    PyTypeObject *meta = Py_TYPE(cls);
    PyObject *of_meta = dt_type_lookup(meta, name);
    return meta->tp_setattro == PyType_Type.tp_setattro && PyUnicode_CheckExact(name)
           && (of_meta == NULL || !dt_descr_is_data(of_meta));
}

/* Whether a slot of the class's instances lies under the name: what they hold would be hidden. */
static bool
hides_slot(PyTypeObject *cls, PyObject *name)
{
    /* A slot can't be put there later: it is made with its class. */
    PyObject *found = PyUnicode_Check(name) ? dt_type_find(cls, name) : NULL;
    return found != NULL && Py_IS_TYPE(found, &PyMemberDescr_Type);
}

/* Deletes what the class has not: AttributeError, with this version's text. */
static DtStatus
raise_missing(DtTrace *trace, PyTypeObject *cls, PyObject *name)
{
    PyObject *like = PyObject_CallFunction((PyObject *)&PyType_Type, "s(){}", cls->tp_name);
    if (like == NULL) {
        return DT_ERROR;
    }
    int status = PyObject_SetAttr(like, name, NULL);
    Py_DECREF(like);
    return status < 0 ? dt_raise_from_exception(trace) : refuse(trace, cls, name);
}

static DtStatus
set_existing(DtTrace *trace, DtVar *self, PyObject *name, DtVar *value)
{
    PyTypeObject *cls = dt_class_type(self);
    DtClassWrite write = {.cls = cls, .name = name};
    if (!dt_build_is_user_class(cls) || is_special(name) || !is_stored_plainly(cls, name)
        || dt_substitute_hides_class(cls) || hides_slot(cls, name)) {
        return refuse(trace, cls, name);
    }
    if (Py_TYPE(cls)->tp_flags & Py_TPFLAGS_HEAPTYPE) {
        DT_TRY(dt_guard_type_version(trace, self->source, Py_TYPE(cls)));
    }
    if (value != NULL) {
        DT_TRY(dt_var_realize(trace, value, &value));
        DT_TRY(dt_made_stand_in(trace, name, value, &write.stand_in));
        DT_TRY(dt_trace_keep(trace, write.stand_in));
    }
    else {
        DT_TRY(dt_class_guard_unchanged(trace, self));
        if (dt_class_own_attr(trace, cls, name) == NULL) {
            return raise_missing(trace, cls, name);
        }
    }
    DtVar *changed;
    DT_TRY(changed_class(trace, cls, &changed));
    DT_TRY(dt_journal_set_attr(trace, changed, name, value));
    return dt_vec_push(&trace->arena, &trace->class_writes, write) == 0 ? DT_OK : dt_no_memory();
}

/* ---- Classes that the trace has made --------------------------------------------------------- */

/* What type acts upon, or what acts when the class or an object of it dies. */
static bool
is_acted_upon(PyObject *name)
{
    static const char *const names[] = {"__del__",   "__class__",           "__bases__",
                                        "__dict__",  "__abstractmethods__", "__mro__",
                                        "__slots__", "__init_subclass__",   NULL};
    return dt_kinds_is_among(name, names);
}

/* What type keeps outside of the class's dict. */
static bool
is_name_of_class(PyObject *name)
{
    static const char *const names[] = {"__name__", "__qualname__", NULL};
    return dt_kinds_is_among(name, names);
}

/* What the trace shows of its dict follows. */
static DtStatus
show_again(DtTrace *trace, PyTypeObject *cls, PyObject *name, DtVar *value)
{
    DtVar *key, *shown = dt_map_get(&trace->shown_classes, dt_type_dict(cls));
    if (shown == NULL || is_name_of_class(name)) {
        return DT_OK;
    }
    DT_TRY(dt_var_const(trace, name, &key));
    return dt_var_ass_subscript(trace, shown, key, value);
}

static DtStatus
set_made(DtTrace *trace, DtVar *self, PyObject *name, DtVar *value)
{
    PyTypeObject *cls = dt_class_type(self);
    PyObject *object = NULL;
    PyObject *of_meta = dt_type_lookup(Py_TYPE(cls), name);
    bool plain = of_meta == dt_type_lookup(&PyType_Type, name) || is_stored_plainly(cls, name);
    if (!PyUnicode_CheckExact(name) || !plain || is_acted_upon(name) || hides_slot(cls, name)
        || Py_TYPE(cls)->tp_setattro != PyType_Type.tp_setattro) {
        return refuse(trace, cls, name);
    }
    if (value != NULL) {
        DT_TRY(dt_var_realize(trace, value, &value));
        DT_TRY(dt_made_stand_in(trace, name, value, &object));
    }
    if (PyObject_SetAttr((PyObject *)cls, name, object) < 0) {
        return dt_raise_from_exception(trace);
    }
    DT_TRY(show_again(trace, cls, name, value));
    return dt_journal_set_attr(trace, self, name, value);
}

DtStatus
dt_class_setattr(DtTrace *trace, DtVar *self, PyObject *name, DtVar *value)
{
    PyTypeObject *cls = dt_class_type(self);
    const DtMade *made = dt_made_find(trace, (PyObject *)cls);
    if (made == NULL && dt_map_get(&trace->shown_classes, dt_type_dict(cls)) != NULL) {
        return refuse(trace, cls, name);
    }
    if (made != NULL) {
        return set_made(trace, self, name, value);
    }
    if ((cls->tp_flags & Py_TPFLAGS_IMMUTABLETYPE) && Py_TYPE(cls) == &PyType_Type) {
        /* It lets nothing be set: CPython says so. */
        return PyObject_SetAttr((PyObject *)cls, name, value != NULL ? Py_None : NULL) < 0
                   ? dt_raise_from_exception(trace)
                   : refuse(trace, cls, name);
    }
    return set_existing(trace, self, name, value);
}
