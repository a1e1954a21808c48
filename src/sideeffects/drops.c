/* What the writes let go of.
 *
 * A finaliser, or the callback of a weak reference, runs as soon as the last reference goes, and
 * sees what was written so far.  The replay writes each container once, so it can't promise that
 * moment for an object that lies in one: such a trace breaks.
 *
 * Not in here: values of a running frame's own slots (symbolic/segment.c).
 */
#include "compat/dict.h"
#include "compat/object.h"
#include "sideeffects/entries.h"
#include "variables/kinds.h"

/* Runs code when it dies, as far as this can be seen now. */
static bool
acts_when_it_dies(PyObject *object)
{
    PyTypeObject *type = Py_TYPE(object);
    if (PyType_Check(object)) {
        return false;
    }
    if (type->tp_finalize != NULL || type->tp_del != NULL) {
        return true;
    }
    if (type->tp_weaklistoffset == 0) { /* negative: before the object, 3.12 on */
        return false;
    }
    PyWeakReference *ref = *(PyWeakReference **)((char *)object + type->tp_weaklistoffset);
    for (; ref != NULL; ref = ref->wr_next) {
        if (ref->wr_callback != NULL) {
            return true;
        }
    }
    return false;
}

/* The existing object behind a tracker, realised or not. */
static PyObject *
object_of(DtVar *var)
{
    if (var->type->kind == DT_KIND_LAZY && ((DtLazyVar *)var)->real == NULL) {
        return ((DtLazyVar *)var)->object;
    }
    var = dt_var_peek(var);
    return var->source != NULL ? dt_payload_object(var) : NULL;
}

static DtStatus
check_object(DtTrace *trace, PyObject *object)
{
    if (object == NULL || !acts_when_it_dies(object)) {
        return DT_OK;
    }
    return dt_break(trace, DT_BREAK_OBJECT_MUTATION,
                    "a %s that may act when it dies is taken out of what holds it",
                    Py_TYPE(object)->tp_name);
}

/* `seen`: what the result or a write reaches, which does not die. */
static DtStatus
check_value(DtTrace *trace, const DtMap *seen, DtVar *value)
{
    if (value == NULL || dt_map_get(seen, dt_var_peek(value)) != NULL) {
        return DT_OK;
    }
    return check_object(trace, object_of(value));
}

static DtStatus
check_entry(DtTrace *trace, const DtMap *seen, const DtJournalEntry *entry)
{
    PyObject *old = NULL;
    switch ((DtEntryKind)entry->kind) {
    case DT_ENTRY_ATTR: {
        const DtInstanceVar *instance = (const DtInstanceVar *)entry->object;
        if (entry->object->type->kind == DT_KIND_INSTANCE && instance->object != NULL
            && dt_object_instance_dict_get(instance->object, entry->name, &old) == 1
            && (entry->value == NULL || object_of(entry->value) != old)) {
            DtVar *known = dt_map_get(&trace->by_object, old);
            return known != NULL && dt_map_get(seen, dt_var_peek(known)) != NULL
                       ? DT_OK
                       : check_object(trace, old);
        }
        return DT_OK;
    }
    case DT_ENTRY_CELL:
        return check_value(trace, seen, entry->value);
    case DT_ENTRY_CONTENTS:
        for (uint32_t i = 0; i < entry->count; i++) {
            if (entry->object->type->kind == DT_KIND_BYTEARRAY) {
                break;
            }
            DT_TRY(check_value(trace, seen, entry->items[i]));
            if (entry->values != NULL) {
                DT_TRY(check_value(trace, seen, entry->values[i]));
            }
        }
        return DT_OK;
    default:
        return DT_OK;
    }
}

DtStatus
dt_drops_check(DtTrace *trace, const DtMap *seen)
{
    const DtJournal *journal = trace->journal;
    for (uint32_t i = 0; i < journal->entries.count; i++) {
        DT_TRY(check_entry(trace, seen, &journal->entries.items[i]));
    }
    return DT_OK;
}
