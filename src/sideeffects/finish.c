/* At the end of a trace: which of the recorded changes can anybody see?
 *
 *   result ─┐
 *   writes ─┴─► everything reachable ─► attributes of new objects among it
 *
 * Existing objects are always seen; a new one only if the result or a visible
 * write reaches it.
 */
#include "sideeffects/entries.h"

#include "compat/object.h"
#include "compat/type.h"
#include "variables/classes/payloads.h"

typedef struct Reach {
    DtMap seen;
    DT_VEC(DtVar *) work;
} Reach;

static DtStatus
reach_var(DtTrace *trace, DtVar *var, void *arg)
{
    Reach *reach = arg;
    var = dt_var_peek(var);
    if (dt_map_get(&reach->seen, var) != NULL) {
        return DT_OK;
    }
    if (dt_map_set(&trace->arena, &reach->seen, var, var) != 0
        || dt_vec_push(&trace->arena, &reach->work, var) != 0) {
        return dt_no_memory();
    }
    return DT_OK;
}

static DtStatus
reach_attributes(DtTrace *trace, const DtVar *object, Reach *reach)
{
    const DtJournal *journal = trace->journal;
    uint32_t at = (uint32_t)(uintptr_t)dt_map_get(&journal->latest, object);
    for (; at != 0; at = journal->entries.items[at - 1].previous) {
        const DtJournalEntry *entry = &journal->entries.items[at - 1];
        if (entry->kind == DT_ENTRY_ATTR && entry->value != NULL) {
            DT_TRY(reach_var(trace, entry->value, reach));
        }
    }
    return DT_OK;
}

static bool
is_new(const DtVar *object)
{
    return object->mutation == DT_ATTRIBUTE_MUTATION_NEW
           || object->mutation == DT_VALUE_MUTATION_NEW;
}

/* The __dict__ of a new object is seen if the object is, or itself. */
static bool
is_of_new(const DtVar *object)
{
    return object->type->kind == DT_KIND_DICT && ((const DtDictVar *)object)->owner != NULL;
}

static DtStatus
reach_all(DtTrace *trace, DtVar *result, Reach *reach)
{
    const DtJournal *journal = trace->journal;
    DT_TRY(reach_var(trace, result, reach));
    for (uint32_t i = 0; i < journal->entries.count; i++) {
        const DtJournalEntry *entry = &journal->entries.items[i];
        if (entry->kind == DT_ENTRY_GLOBAL) {
            if (entry->value != NULL) {
                DT_TRY(reach_var(trace, entry->value, reach));
            }
        }
        else if (!is_new(entry->object) && !is_of_new(entry->object)) {
            DT_TRY(reach_var(trace, entry->object, reach));
        }
    }
    while (reach->work.count > 0) {
        DtVar *var = reach->work.items[--reach->work.count];
        DT_TRY(reach_attributes(trace, var, reach));
        if (var->type->kind == DT_KIND_CELL) {
            DtVar *contents = ((DtCellVar *)var)->contents;
            if (contents != NULL) {
                DT_TRY(reach_var(trace, contents, reach));
            }
        }
        else if (var->type->children != NULL) {
            DT_TRY(var->type->children(trace, var, reach_var, reach));
        }
    }
    return DT_OK;
}

/* `kind`, or the next one, which deletes, if there is no value. */
static DtStatus
add_write(DtTrace *trace, DtWrite write, DtVar *value)
{
    if (value == NULL) {
        write.kind++;
    }
    DT_TRY(dt_diff_set_value(trace, &write, value));
    return dt_vec_push(&trace->arena, &trace->journal->writes, write) == 0 ? DT_OK : dt_no_memory();
}

static DtStatus
add_cell(DtTrace *trace, const DtJournalEntry *entry)
{
    DtCellVar *cell = (DtCellVar *)entry->object;
    if (cell->contents == entry->value) {
        return DT_OK;
    }
    return add_write(trace,
                     (DtWrite){.kind = cell->root_slot >= 0 ? DT_WRITE_DEREF : DT_WRITE_CELL,
                               .object = entry->object},
                     cell->contents);
}

/* The attributes of an object whose class has a __setattr__ or __delattr__ of Python are stored
 * behind its back: what those do was traced. */
static uint8_t
attribute_write(DtTrace *trace, DtVar *object)
{
    PyTypeObject *type = dt_var_python_type(trace, object);
    bool plain = type == NULL || type->tp_setattro == PyObject_GenericSetAttr
                 || object->type->kind != DT_KIND_INSTANCE;
    return plain ? DT_WRITE_ATTR : DT_WRITE_OWN_ATTR;
}

/* An attribute that holds again what it held: nothing was stored or deleted in between that is
 * replayed, so there is nothing to write.  The value says where it was read. */
static bool
is_put_back(const DtTrace *trace, const DtJournalEntry *entry)
{
    const DtSource *source = entry->value != NULL ? entry->value->source : NULL;
    const DtSource *object = entry->object->source;
    if (source == NULL || object == NULL || source->base != object || source->key != entry->name
        || (source->kind != DT_SOURCE_ATTR && source->kind != DT_SOURCE_OWN_ATTR)) {
        return false;
    }
    /* A class attribute would be read by the same source: only an own one was there before. */
    const DtInstanceVar *instance = (const DtInstanceVar *)entry->object;
    PyObject *value = NULL;
    if (entry->object->type->kind != DT_KIND_INSTANCE || instance->object == NULL
        || dt_type_lookup(instance->cls, entry->name) != NULL
        || dt_object_instance_dict_get(instance->object, entry->name, &value) != 1) {
        return false;
    }
    for (uint32_t at = entry->previous; at != 0;
         at = trace->journal->entries.items[at - 1].previous) {
        if (trace->journal->entries.items[at - 1].kind == DT_ENTRY_ATTR
            && trace->journal->entries.items[at - 1].name == entry->name) {
            return false;
        }
    }
    return true;
}

/* First what new objects hold, of which nobody knows yet; then everything else, in order. */
static DtStatus
add_writes(DtTrace *trace, Reach *reach, bool of_new)
{
    DtJournal *journal = trace->journal;
    for (uint32_t i = 0; i < journal->entries.count; i++) {
        const DtJournalEntry *entry = &journal->entries.items[i];
        if ((entry->kind == DT_ENTRY_ATTR && is_new(entry->object)) != of_new) {
            continue;
        }
        switch ((DtEntryKind)entry->kind) {
        case DT_ENTRY_ATTR:
            if (dt_map_get(&reach->seen, entry->object) != NULL && !is_put_back(trace, entry)) {
                DT_TRY(add_write(trace,
                                 (DtWrite){.kind = attribute_write(trace, entry->object),
                                           .object = entry->object,
                                           .name = entry->name},
                                 entry->value));
            }
            break;
        case DT_ENTRY_GLOBAL:
            DT_TRY(add_write(trace,
                             (DtWrite){.kind = entry->globals == trace->globals
                                                   ? DT_WRITE_GLOBAL
                                                   : DT_WRITE_OTHER_GLOBAL,
                                       .globals = entry->globals,
                                       .name = entry->name},
                             entry->value));
            break;
        case DT_ENTRY_CELL:
            DT_TRY(add_cell(trace, entry));
            break;
        case DT_ENTRY_CONTENTS:
            if (!is_of_new(entry->object) || dt_map_get(&reach->seen, entry->object) != NULL) {
                DT_TRY(dt_diff_contents(trace, entry));
            }
            break;
        case DT_ENTRY_CALL: {
            DtWrite write = {.kind = DT_WRITE_CALL,
                             .object = entry->object,
                             .values = entry->items,
                             .count = entry->count};
            if (dt_vec_push(&trace->arena, &journal->writes, write) != 0) {
                return dt_no_memory();
            }
            break;
        }
        }
    }
    return DT_OK;
}

/* An existing instance, or NULL. */
static const DtInstanceVar *
existing_instance(const DtVar *var)
{
    const DtInstanceVar *instance = (const DtInstanceVar *)var;
    return var->type->kind == DT_KIND_INSTANCE && instance->object != NULL && var->source != NULL
                   && dt_object_type_has_dict(instance->cls)
               ? instance
               : NULL;
}

/* An existing dict that is not known to be the attributes of an instance, or NULL. */
static const DtDictVar *
existing_dict(const DtVar *var)
{
    const DtDictVar *dict = (const DtDictVar *)var;
    return dt_dict_is(var) && dict->object != NULL && var->source != NULL
                   && var->source->kind != DT_SOURCE_ATTR_DICT && PyDict_CheckExact(dict->object)
               ? dict
               : NULL;
}

/* A later call may pass an instance and its own __dict__ where this one has two things. */
static DtStatus
guard_dict(DtTrace *trace, const DtVar *changed, const DtVar *other)
{
    const DtInstanceVar *instance = existing_instance(changed);
    const DtDictVar *dict = existing_dict(instance != NULL ? other : changed);
    if (instance == NULL) {
        instance = existing_instance(other);
    }
    return instance != NULL && dict != NULL
               ? dt_guard_not_dict_of(trace, instance->base.source, dict->base.source)
               : DT_OK;
}

/* An object that the trace changed must not be another one that it read: a later call may pass the
 * same object twice. */
static DtStatus
guard_aliases(DtTrace *trace, const DtVar *changed)
{
    PyTypeObject *type = dt_var_python_type(trace, (DtVar *)changed);
    if (changed->type->kind == DT_KIND_FUNCTION || changed->type->kind == DT_KIND_CLASS) {
        return DT_OK; /* functions and classes are known by identity already */
    }
    for (uint32_t i = 0; trace->by_object.count > 0 && i <= trace->by_object.mask; i++) {
        DtVar *other =
            trace->by_object.slots[i].key != NULL ? trace->by_object.slots[i].value : NULL;
        if (other == NULL) {
            continue;
        }
        other = dt_var_peek(other);
        DT_TRY(guard_dict(trace, changed, other));
        if (other == changed || other->source == NULL || is_new(other) || !dt_var_is_mutable(other)
            || dt_var_python_type(trace, other) != type) {
            continue;
        }
        DT_TRY(dt_guard_alias(trace, changed->source, other->source, false));
    }
    return DT_OK;
}

/* The existing instance whose attributes a dict is, which its changes change; else the object. */
static const DtVar *
owner_of(DtTrace *trace, const DtVar *changed)
{
    const DtInstanceVar *owner = dt_payload_owner(trace, changed);
    if (owner != NULL) {
        return &owner->base;
    }
    bool attributes = dt_dict_is(changed) && changed->source->kind == DT_SOURCE_ATTR_DICT;
    for (uint32_t i = 0; attributes && i <= trace->by_object.mask; i++) {
        const DtVar *other = trace->by_object.slots[i].key != NULL
                                 ? dt_var_peek(trace->by_object.slots[i].value)
                                 : NULL;
        owner = (const DtInstanceVar *)other;
        if (other != NULL && other->type->kind == DT_KIND_INSTANCE
            && (const DtVar *)owner->attributes == changed) {
            return other;
        }
    }
    return changed;
}

/* An object and its __dict__ came in by ways of their own, or another object that has the same one,
 * and one of them was changed: the other tracker has not seen it. */
static DtStatus
check_dict(DtTrace *trace, const DtVar *changed)
{
    const DtInstanceVar *instance = (const DtInstanceVar *)changed;
    PyObject *real = dt_dict_is(changed) ? ((const DtDictVar *)changed)->object : NULL;
    if (changed->type->kind == DT_KIND_INSTANCE && instance->object != NULL) {
        real = dt_object_existing_dict(instance->object);
        DtVar *other = real != NULL ? dt_map_get(&trace->by_object, real) : NULL;
        if (other != NULL && dt_var_peek(other) != (DtVar *)instance->attributes) {
            return dt_break(trace, DT_BREAK_OBJECT_MUTATION,
                            "a %s and its __dict__ are inputs, and one is changed",
                            instance->cls->tp_name);
        }
    }
    for (uint32_t i = 0; real != NULL && trace->by_object.count > 0 && i <= trace->by_object.mask;
         i++) {
        DtVar *other = trace->by_object.slots[i].key != NULL
                           ? dt_var_peek(trace->by_object.slots[i].value)
                           : NULL;
        instance = (const DtInstanceVar *)other;
        if (other != NULL && other != changed && other->type->kind == DT_KIND_INSTANCE
            && instance->object != NULL && dt_object_existing_dict(instance->object) == real
            && (DtVar *)instance->attributes != changed) {
            return dt_break(trace, DT_BREAK_OBJECT_MUTATION,
                            "a %s and its __dict__ are inputs, and one is changed",
                            instance->cls->tp_name);
        }
    }
    return DT_OK;
}

DtStatus
dt_journal_finish(DtTrace *trace, DtVar *result)
{
    DtJournal *journal = trace->journal;
    if (journal->entries.count == 0) {
        return DT_OK;
    }
    Reach reach = {0};
    DT_TRY(reach_all(trace, result, &reach));
    DT_TRY(add_writes(trace, &reach, true));
    DT_TRY(add_writes(trace, &reach, false));
    DT_TRY(dt_drops_check(trace, &reach.seen));
    DtMap guarded = {0};
    for (uint32_t i = 0; i < journal->entries.count; i++) {
        const DtVar *object = journal->entries.items[i].object;
        if (object != NULL) {
            DT_TRY(check_dict(trace, object));
        }
        if (object == NULL || object->source == NULL || is_new(object)
            || dt_map_get(&guarded, object) != NULL) {
            continue;
        }
        if (dt_map_set(&trace->arena, &guarded, object, (void *)object) != 0) {
            return dt_no_memory();
        }
        DT_TRY(guard_aliases(trace, owner_of(trace, object)));
    }
    return DT_OK;
}

bool
dt_journal_has_effects(const DtTrace *trace)
{
    return trace->journal->writes.count > 0;
}
