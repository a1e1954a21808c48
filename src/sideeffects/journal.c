/* Recording changes, and taking them back.
 *
 * Invariants: an entry's object is a realised tracker; the entries of one
 * object are chained from the latest back; several stores to one name become
 * one entry with the last value, unless a deletion stands between them (the
 * order of keys in a dict can be seen).  Undo records exist only once a mark
 * was made.
 *
 * What is not in here: which effects are visible (finish.c), how they are
 * written (replay.c).
 */
#include <string.h>

#include "compat/type.h"
#include "sideeffects/entries.h"

#include "variables/kinds.h"
#include "variables/classes/payloads.h"

DtStatus
dt_journal_init(DtTrace *trace)
{
    trace->journal = DT_ARENA_NEW(&trace->arena, DtJournal);
    return trace->journal != NULL ? DT_OK : dt_no_memory();
}

static DtStatus
add_undo(DtTrace *trace, DtUndo undo)
{
    DtJournal *journal = trace->journal;
    if (journal->epoch == 0) {
        return DT_OK;
    }
    return dt_vec_push(&trace->arena, &journal->undo, undo) == 0 ? DT_OK : dt_no_memory();
}

static const void *
entry_target(const DtJournalEntry *entry)
{
    return entry->kind == DT_ENTRY_GLOBAL ? (const void *)entry->globals
                                          : (const void *)entry->object;
}

static DtStatus
add_entry(DtTrace *trace, DtJournalEntry entry)
{
    DtJournal *journal = trace->journal;
    const void *target = entry_target(&entry);
    entry.previous = (uint32_t)(uintptr_t)dt_map_get(&journal->latest, target);
    if (dt_vec_push(&trace->arena, &journal->entries, entry) != 0
        || dt_map_set(&trace->arena, &journal->latest, target,
                      (void *)(uintptr_t)journal->entries.count)
               != 0) {
        return dt_no_memory();
    }
    return add_undo(trace, (DtUndo){.kind = DT_UNDO_ENTRY});
}

/* The latest entry of `kind` and `name` for a target, or NULL; *index gets its place. */
static DtJournalEntry *
find_entry(const DtTrace *trace, const void *target, DtEntryKind kind, PyObject *name,
           uint32_t *index)
{
    const DtJournal *journal = trace->journal;
    uint32_t at = (uint32_t)(uintptr_t)dt_map_get(&journal->latest, target);
    while (at != 0) {
        DtJournalEntry *entry = &journal->entries.items[at - 1];
        if (entry->kind == kind
            && (name == NULL || entry->name == name || PyUnicode_Compare(entry->name, name) == 0)) {
            *index = at - 1;
            return entry;
        }
        at = entry->previous;
    }
    return NULL;
}

/* A store or deletion of a name in an object or in globals. */
static DtStatus
set_name(DtTrace *trace, DtJournalEntry entry)
{
    uint32_t index;
    bool hashed = entry.object != NULL && entry.object->type->kind == DT_KIND_INSTANCE
                  && ((const DtInstanceVar *)entry.object)->hashed;
    trace->hashed_changed |= hashed;
    trace->effects++;
    DtJournalEntry *found =
        find_entry(trace, entry_target(&entry), (DtEntryKind)entry.kind, entry.name, &index);
    if (found != NULL && found->value != NULL && entry.value != NULL) {
        DT_TRY(add_undo(trace,
                        (DtUndo){.kind = DT_UNDO_VALUE, .index = index, .value = found->value}));
        found->value = entry.value;
        return DT_OK;
    }
    DT_TRY(dt_trace_keep(trace, entry.name));
    return add_entry(trace, entry);
}

static DtVar *
get_name(DtTrace *trace, const void *target, DtEntryKind kind, PyObject *name, bool *deleted)
{
    uint32_t index;
    const DtJournalEntry *found = find_entry(trace, target, kind, name, &index);
    *deleted = found != NULL && found->value == NULL;
    return found != NULL ? found->value : NULL;
}

/* ---- Attributes and globals ------------------------------------------------------------------ */

/* Would object.__setattr__ do exactly what the trace saw: no code runs, and it can't fail?  A
 * __setattr__ of Python was followed already when its class has one. */
static DtStatus
check_plain_attribute(DtTrace *trace, DtVar *object, PyObject *name)
{
    const char *text = dt_kinds_text(name);
    PyTypeObject *type = dt_var_python_type(trace, object);
    DtKind kind = object->type->kind;
    if (type == NULL || !dt_var_is_mutable(object)
        || !(kind == DT_KIND_INSTANCE || kind == DT_KIND_FUNCTION || kind == DT_KIND_PARTIAL)) {
        return dt_break(trace, DT_BREAK_OBJECT_MUTATION, "attribute '%s' of a %s is changed", text,
                        object->type->name);
    }
    PyObject *descriptor = dt_type_lookup(type, name);
    bool is_slot = descriptor != NULL && Py_IS_TYPE(descriptor, &PyMemberDescr_Type);
    if (is_slot || kind == DT_KIND_FUNCTION) { /* whose parts function_attr.c has checked */
        return DT_OK;
    }
    if (descriptor != NULL && Py_TYPE(descriptor)->tp_descr_set != NULL) {
        return dt_break(trace, DT_BREAK_OBJECT_MUTATION,
                        "'%s' of a %s is a descriptor with a setter", text, type->tp_name);
    }
    if (type->tp_dictoffset == 0) {
        return dt_kinds_raise(trace, "AttributeError", "'%s' object has no attribute '%s'",
                              type->tp_name, text);
    }
    return DT_OK;
}

/* The dict of a plain module: its attributes are the globals of its functions, so both are recorded
 * as globals.  NULL for anything else. */
static PyObject *
module_dict(DtVar *object)
{
    PyObject *module = object->type->kind == DT_KIND_MODULE ? dt_payload_object(object) : NULL;
    if (module == NULL || Py_TYPE(module)->tp_setattro != PyModule_Type.tp_setattro) {
        return NULL;
    }
    PyObject *dict = PyModule_GetDict(module);
    return dict != NULL && PyDict_CheckExact(dict) ? dict : NULL;
}

/* Whether the attribute lies in a dict that the program has asked for. */
static bool
has_attributes(const DtVar *object, PyObject *name)
{
    const DtInstanceVar *instance = (const DtInstanceVar *)object;
    return object->type->kind == DT_KIND_INSTANCE && instance->attributes != NULL
           && !dt_attr_dict_is_slot(instance->cls, name);
}

DtStatus
dt_journal_set_attr(DtTrace *trace, DtVar *object, PyObject *name, DtVar *value)
{
    DT_TRY(dt_var_realize(trace, object, &object));
    PyObject *globals = module_dict(object);
    if (globals != NULL) {
        return dt_journal_set_global(trace, globals, name, value);
    }
    if (object->type->kind != DT_KIND_CLASS) { /* of which class_attr.c has checked it */
        DT_TRY(check_plain_attribute(trace, object, name));
    }
    else if (trace->journal->epoch != 0) {
        return dt_break(trace, DT_BREAK_OBJECT_MUTATION,
                        "a class is changed where it may be taken back");
    }
    if (has_attributes(object, name)) {
        return dt_attr_dict_store(trace, object, name, value);
    }
    return set_name(
        trace,
        (DtJournalEntry){.kind = DT_ENTRY_ATTR, .object = object, .name = name, .value = value});
}

DtVar *
dt_journal_get_attr(DtTrace *trace, DtVar *object, PyObject *name, bool *deleted)
{
    object = dt_var_peek(object);
    if (has_attributes(object, name)) {
        DtVar *found;
        *deleted = dt_attr_dict_find(trace, object, name, &found) != DT_OK || found == NULL;
        PyErr_Clear(); /* MemoryError, which the next allocation reports */
        return *deleted ? NULL : found;
    }
    PyObject *globals = module_dict(object);
    if (globals != NULL) {
        return dt_journal_get_global(trace, globals, name, deleted);
    }
    return get_name(trace, object, DT_ENTRY_ATTR, name, deleted);
}

DtStatus
dt_journal_set_global(DtTrace *trace, PyObject *globals, PyObject *name, DtVar *value)
{
    DT_TRY(dt_trace_keep(trace, globals));
    return set_name(trace,
                    (DtJournalEntry){
                        .kind = DT_ENTRY_GLOBAL, .globals = globals, .name = name, .value = value});
}

DtVar *
dt_journal_get_global(DtTrace *trace, PyObject *globals, PyObject *name, bool *deleted)
{
    return get_name(trace, globals, DT_ENTRY_GLOBAL, name, deleted);
}

static bool
has_name(PyObject *const *names, uint32_t count, PyObject *name)
{
    for (uint32_t i = 0; i < count; i++) {
        if (PyUnicode_Compare(names[i], name) == 0) {
            return true;
        }
    }
    return false;
}

static void
remove_name(PyObject **names, uint32_t *count, PyObject *name)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < *count; i++) {
        if (PyUnicode_Compare(names[i], name) != 0) {
            names[kept++] = names[i];
        }
    }
    *count = kept;
}

/* The names of attributes that were written, in the order in which the object has them; `deleted`:
 * also those that are gone. */
static DtStatus
written_names(DtTrace *trace, DtVar *object, bool deleted, PyObject ***names, uint32_t *count)
{
    DtJournal *journal = trace->journal;
    object = dt_var_peek(object);
    *count = 0;
    *names = DT_ARENA_ARRAY(&trace->arena, PyObject *, journal->entries.count + 1);
    if (*names == NULL) {
        return dt_no_memory();
    }
    for (uint32_t i = 0; i < journal->entries.count; i++) {
        const DtJournalEntry *entry = &journal->entries.items[i];
        if (entry->kind != DT_ENTRY_ATTR || entry->object != object) {
            continue;
        }
        if (entry->value == NULL) {
            remove_name(*names, count, entry->name);
        }
        if ((entry->value != NULL || deleted) && !has_name(*names, *count, entry->name)) {
            (*names)[(*count)++] = entry->name; /* stored again, it keeps its place */
        }
    }
    return DT_OK;
}

DtStatus
dt_journal_own_names(DtTrace *trace, DtVar *object, PyObject ***names, uint32_t *count)
{
    return written_names(trace, object, false, names, count);
}

DtStatus
dt_journal_changed_names(DtTrace *trace, DtVar *object, PyObject ***names, uint32_t *count)
{
    return written_names(trace, object, true, names, count);
}

/* ---- Cells ----------------------------------------------------------------------------------- */

DtStatus
dt_journal_set_cell(DtTrace *trace, DtCellVar *cell, DtVar *contents)
{
    if (!dt_var_is_mutable(&cell->base)) {
        return dt_break(trace, DT_BREAK_OBJECT_MUTATION,
                        "a cell that can't be reached again is written");
    }
    bool same = contents == NULL || cell->contents == NULL
                    ? contents == cell->contents
                    : dt_var_peek(contents) == dt_var_peek(cell->contents);
    if (same) {
        return DT_OK;
    }
    trace->effects++;
    DT_TRY(add_undo(trace, (DtUndo){.kind = DT_UNDO_CELL,
                                    .var = &cell->base,
                                    .value = cell->contents,
                                    .written = cell->written}));
    if (cell->base.mutation == DT_VALUE_MUTATION_EXISTING && !cell->written) {
        DT_TRY(add_entry(trace, (DtJournalEntry){.kind = DT_ENTRY_CELL,
                                                 .object = &cell->base,
                                                 .value = cell->contents}));
    }
    cell->contents = contents;
    cell->written = true;
    return DT_OK;
}

/* ---- Calls ----------------------------------------------------------------------------------- */

DtStatus
dt_journal_call(DtTrace *trace, DtVar *callable, DtVar **args, uint32_t count)
{
    trace->effects++;
    return add_entry(trace, (DtJournalEntry){.kind = DT_ENTRY_CALL,
                                             .object = dt_var_peek(callable),
                                             .items = args,
                                             .count = count});
}

/* ---- Contents of containers ------------------------------------------------------------------ */

/* What an existing container holds before its first change: the replay writes the difference. */
static DtStatus
snapshot(DtTrace *trace, DtVar *var)
{
    DtJournalEntry entry = {.kind = DT_ENTRY_CONTENTS, .object = var};
    DtKind kind = var->type->kind;
    if (kind != DT_KIND_LIST && kind != DT_KIND_GROWING_LIST && kind != DT_KIND_DICT
        && kind != DT_KIND_GROWING_DICT && kind != DT_KIND_SET && kind != DT_KIND_BYTEARRAY
        && kind != DT_KIND_ITERATOR) {
        return dt_break(trace, DT_BREAK_OBJECT_MUTATION, "a %s that existed before is changed",
                        var->type->name);
    }
    if (kind == DT_KIND_DICT) {
        entry.changes = ((DtDictVar *)var)->changes;
    }
    DT_TRY(dt_diff_items(trace, var, &entry.items, &entry.values, &entry.count));
    return add_entry(trace, entry);
}

DtStatus
dt_journal_was_read(DtTrace *trace, DtVar *list, DtVar *const *items, uint32_t count)
{
    uint32_t index;
    DtJournalEntry *entry = find_entry(trace, list, DT_ENTRY_CONTENTS, NULL, &index);
    if (entry == NULL) {
        return DT_OK;
    }
    entry->items = DT_ARENA_ARRAY(&trace->arena, DtVar *, count + 1);
    if (entry->items == NULL) {
        return dt_no_memory();
    }
    memcpy(entry->items, items, count * sizeof(DtVar *));
    entry->count = count;
    return DT_OK;
}

DtStatus
dt_journal_was_read_now(DtTrace *trace, DtVar *dict)
{
    uint32_t index;
    DtJournalEntry *entry = find_entry(trace, dict, DT_ENTRY_CONTENTS, NULL, &index);
    if (entry == NULL) {
        return DT_OK;
    }
    entry->changes = ((DtDictVar *)dict)->changes;
    return dt_diff_items(trace, dict, &entry->items, &entry->values, &entry->count);
}

bool
dt_journal_has_changed(const DtTrace *trace, DtVar *container)
{
    uint32_t index;
    return find_entry(trace, container, DT_ENTRY_CONTENTS, NULL, &index) != NULL;
}

/* A copy of the payload for a rollback, once per mark. */
static DtStatus
save_payload(DtTrace *trace, DtVar *var)
{
    DtJournal *journal = trace->journal;
    if (journal->epoch == 0
        || (uint32_t)(uintptr_t)dt_map_get(&journal->saved, var) == journal->epoch) {
        return DT_OK;
    }
    const void *saved = dt_payload_snapshot(trace, var);
    if (saved == NULL) {
        return DT_ERROR;
    }
    if (dt_map_set(&trace->arena, &journal->saved, var, (void *)(uintptr_t)journal->epoch) != 0) {
        return dt_no_memory();
    }
    return add_undo(trace, (DtUndo){.kind = DT_UNDO_PAYLOAD, .var = var, .saved = saved});
}

DtStatus
dt_journal_will_change(DtTrace *trace, DtVar *var)
{
    var = dt_var_peek(var);
    if (!dt_var_is_mutable(var)) {
        return dt_break(trace, DT_BREAK_OBJECT_MUTATION,
                        "a %s that can't be written back is changed", var->type->name);
    }
    uint32_t index;
    trace->effects++;
    if (var->mutation == DT_VALUE_MUTATION_EXISTING
        && find_entry(trace, var, DT_ENTRY_CONTENTS, NULL, &index) == NULL) {
        DT_TRY(snapshot(trace, var));
        bool walked = var->type->kind != DT_KIND_SET; /* whose own steps say what came when */
        if (walked && dt_vec_push(&trace->arena, &trace->changed, var) != 0) {
            return dt_no_memory();
        }
    }
    return save_payload(trace, var);
}

/* ---- Rollback -------------------------------------------------------------------------------- */

DtJournalMark
dt_journal_mark(const DtTrace *trace)
{
    trace->journal->epoch++;
    return trace->journal->undo.count;
}

static DtStatus
undo_one(DtTrace *trace, const DtUndo *undo)
{
    DtJournal *journal = trace->journal;
    switch ((DtUndoKind)undo->kind) {
    case DT_UNDO_ENTRY: {
        const DtJournalEntry *entry = &journal->entries.items[--journal->entries.count];
        if (dt_map_set(&trace->arena, &journal->latest, entry_target(entry),
                       (void *)(uintptr_t)entry->previous)
            != 0) {
            return dt_no_memory();
        }
        break;
    }
    case DT_UNDO_VALUE:
        journal->entries.items[undo->index].value = undo->value;
        break;
    case DT_UNDO_CELL:
        ((DtCellVar *)undo->var)->contents = undo->value;
        ((DtCellVar *)undo->var)->written = undo->written;
        break;
    case DT_UNDO_PAYLOAD:
        return dt_payload_restore(trace, undo->var, undo->saved);
    }
    return DT_OK;
}

DtStatus
dt_journal_rollback(DtTrace *trace, DtJournalMark mark)
{
    DtJournal *journal = trace->journal;
    while (journal->undo.count > mark) {
        DtUndo undo = journal->undo.items[--journal->undo.count];
        DT_TRY(undo_one(trace, &undo));
    }
    journal->epoch++;
    return DT_OK;
}
