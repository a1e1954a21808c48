/* What the writes let go of.
 *
 * A finaliser, or the callback of a weak reference, runs as soon as the last reference goes, and
 * sees what was written so far.  The replay writes each container once, after everything was read,
 * so it can't promise that moment.  A trace under which somebody acts breaks; where nobody does,
 * a guard says so of whatever lies there in a later call.
 *
 * Not in here: values of a running frame's own slots (symbolic/segment.c), what happens when an
 * object goes (compat/dying.h).
 */
#include "compat/dict.h"
#include "compat/dying.h"
#include "compat/function.h"
#include "compat/object.h"
#include "compat/type_names.h"
#include "sideeffects/entries.h"
#include "variables/kinds.h"
#include "variables/classes/payloads.h"

/* Of so many items of one container, each has its own guard. */
#define MOST_ITEMS 8

typedef struct Drops {
    DtTrace *trace;
    const DtMap *seen; /* what the result or a write reaches, which does not go */
    DtDying play;
    bool going; /* second round: things go; in the first, what is referenced anew is noted */
} Drops;

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
check_object(Drops *drops, PyObject *object)
{
    if (!drops->going || object == NULL || dt_dying_goes(&drops->play, object)) {
        return DT_OK;
    }
    return dt_break(drops->trace, DT_BREAK_OBJECT_MUTATION,
                    "a %s that may act when it dies is taken out of what holds it",
                    Py_TYPE(object)->tp_name);
}

/* What is stored instead; *source is where it is read in a later call, NULL: it is made. */
static void
note_successor(Drops *drops, DtVar *value, const DtSource **source)
{
    *source = value != NULL ? dt_var_peek(value)->source : NULL;
    if (*source != NULL && (*source)->synthetic) {
        *source = NULL;
    }
    PyObject *object = *source != NULL ? object_of(value) : NULL;
    if (object != NULL && !drops->going) {
        dt_dying_stays(&drops->play, object);
    }
}

static bool
is_seen(const Drops *drops, DtVar *value)
{
    return value == NULL || dt_map_get(drops->seen, dt_var_peek(value)) != NULL;
}

/* What lay under a name.  It may live on because the trace has stored or returned it: known by this
 * very name (*done), so in every call, or by another one. */
static DtStatus
check_named(Drops *drops, PyObject *old, PyObject *name, DtVar *value, const DtSource **stays,
            bool *done)
{
    DtVar *known = old != NULL ? dt_map_get(&drops->trace->by_object, old) : NULL;
    bool lives = known != NULL && is_seen(drops, known);
    const DtSource *source = lives ? dt_var_peek(known)->source : NULL;
    *done = source != NULL && source->key == name;
    if (*done) {
        return DT_OK;
    }
    note_successor(drops, lives ? known : value, stays);
    return check_object(drops, old);
}

/* ---- Names ----------------------------------------------------------------------------------- */

static DtStatus
check_attr(Drops *drops, const DtJournalEntry *entry)
{
    DtVar *object = entry->object;
    PyObject *real = dt_payload_object(object), *old = NULL;
    const DtSource *stays;
    bool done;
    if (object->source == NULL || real == NULL) {
        return DT_OK; /* made by the trace: what it held was the trace's */
    }
    if (PyType_Check(real)) {
        old = dt_type_own_find((PyTypeObject *)real, entry->name);
    }
    else if (dt_object_instance_dict_get(real, entry->name, &old) != 1) {
        PyObject *descriptor = dt_type_lookup(Py_TYPE(real), entry->name);
        old = descriptor != NULL ? dt_object_member(real, descriptor) : NULL;
    }
    DT_TRY(check_named(drops, old, entry->name, entry->value, &stays, &done));
    return done || !drops->going
               ? DT_OK
               : dt_guard_quiet_attr(drops->trace, object->source, entry->name, stays);
}

static DtStatus
check_global(Drops *drops, const DtJournalEntry *entry)
{
    DtTrace *trace = drops->trace;
    PyObject *old = NULL;
    const DtSource *globals = NULL, *stays;
    bool done;
    if (dt_dict_get(entry->globals, entry->name, &old) != 1) {
        old = NULL;
    }
    DT_TRY(check_named(drops, old, entry->name, entry->value, &stays, &done));
    if (done || !drops->going) {
        return DT_OK;
    }
    if (entry->globals != trace->globals) {
        globals = dt_source_get(trace, DT_SOURCE_OBJECT, NULL, entry->globals, 0);
        if (globals == NULL) {
            return DT_ERROR;
        }
    }
    return dt_guard_quiet_global(trace, globals, entry->name, stays);
}

/* ---- Contents -------------------------------------------------------------------------------- */

/* A value that has gone from where its source says that it lies. */
static DtStatus
check_value(Drops *drops, DtVar *value, DtVar *successor)
{
    const DtSource *stays;
    if (is_seen(drops, value)) {
        return DT_OK;
    }
    note_successor(drops, successor, &stays);
    DT_TRY(check_object(drops, object_of(value)));
    const DtSource *source = dt_var_peek(value)->source;
    return source != NULL && drops->going ? dt_guard_quiet(drops->trace, source, stays) : DT_OK;
}

/* An exhausted one lets go of its list. */
static DtStatus
check_iterator(Drops *drops, const DtIterVar *iterator)
{
    if (!iterator->exhausted || iterator->subject == NULL || iterator->subject->source == NULL) {
        return DT_OK;
    }
    DT_TRY(check_object(drops, object_of(iterator->subject)));
    return drops->going ? dt_guard_quiet(drops->trace, iterator->subject->source, NULL) : DT_OK;
}

/* What was taken off a list of any length was asked for. */
static DtStatus
check_ends(Drops *drops, DtGrowingListVar *list)
{
    DtVar **before;
    DT_TRY(dt_growing_list_before(drops->trace, list, &before));
    for (uint32_t i = 0; i < list->first + list->last; i++) {
        DT_TRY(check_value(drops, before[i], NULL));
    }
    for (uint32_t i = 0; i < list->nstored; i++) {
        DT_TRY(check_value(drops, list->stored[i].before, list->stored[i].value));
    }
    return DT_OK;
}

static DtStatus
check_asked(Drops *drops, const DtGrowingDictVar *dict)
{
    for (uint32_t i = 0; i < dict->asked.count; i++) {
        const DtAskedKey *key = &dict->asked.items[i];
        if (key->before != NULL && key->before != key->value) {
            DT_TRY(check_value(drops, key->before, NULL));
        }
    }
    return DT_OK;
}

static DtStatus
check_contents(Drops *drops, const DtJournalEntry *entry)
{
    uint32_t gone = 0;
    DtKind kind = entry->object->type->kind;
    if (kind == DT_KIND_BYTEARRAY) {
        return DT_OK;
    }
    if (kind == DT_KIND_GROWING_LIST) {
        return check_ends(drops, (DtGrowingListVar *)entry->object);
    }
    if (kind == DT_KIND_GROWING_DICT) {
        return check_asked(drops, (const DtGrowingDictVar *)entry->object);
    }
    if (kind == DT_KIND_ITERATOR) {
        return check_iterator(drops, (const DtIterVar *)entry->object);
    }
    for (uint32_t i = 0; i < entry->count; i++) {
        gone += !is_seen(drops, entry->items[i]);
        gone += entry->values != NULL && !is_seen(drops, entry->values[i]);
    }
    const DtInstanceVar *owner = dt_payload_owner(drops->trace, entry->object);
    DtVar *container = owner != NULL ? (DtVar *)owner : entry->object;
    PyObject *real = container->source != NULL ? dt_payload_object(container) : NULL;
    bool by_items = owner == NULL && entry->object->type->kind != DT_KIND_SET;
    if (real != NULL && (gone > MOST_ITEMS || (gone > 0 && !by_items))) {
        if (!drops->going) {
            return DT_OK;
        }
        if (!dt_dying_contents_go(&drops->play, real)) {
            return dt_break(drops->trace, DT_BREAK_OBJECT_MUTATION,
                            "something in a %s may act when it dies", Py_TYPE(real)->tp_name);
        }
        return dt_guard_quiet_contents(drops->trace, container->source);
    }
    for (uint32_t i = 0; i < entry->count; i++) {
        DT_TRY(check_value(drops, entry->items[i], NULL));
        if (entry->values != NULL) {
            DT_TRY(check_value(drops, entry->values[i], NULL));
        }
    }
    return DT_OK;
}

static DtStatus
check_entry(Drops *drops, const DtJournalEntry *entry)
{
    switch ((DtEntryKind)entry->kind) {
    case DT_ENTRY_ATTR:
        return check_attr(drops, entry);
    case DT_ENTRY_GLOBAL:
        return check_global(drops, entry);
    case DT_ENTRY_CELL:
        return check_value(drops, entry->value, ((DtCellVar *)entry->object)->contents);
    case DT_ENTRY_CONTENTS:
        return check_contents(drops, entry);
    case DT_ENTRY_CALL:
        return DT_OK; /* no user code runs in it */
    }
    return DT_OK;
}

DtStatus
dt_drops_check(DtTrace *trace, const DtMap *seen)
{
    const DtJournal *journal = trace->journal;
    Drops drops = {.trace = trace, .seen = seen};
    DtStatus status = DT_OK;
    dt_dying_begin(&drops.play, &trace->kept_set);
    for (int round = 0; round < 2 && status == DT_OK; round++) {
        drops.going = round == 1;
        for (uint32_t i = 0; i < journal->entries.count && status == DT_OK; i++) {
            status = check_entry(&drops, &journal->entries.items[i]);
        }
    }
    dt_dying_end(&drops.play);
    return status;
}
