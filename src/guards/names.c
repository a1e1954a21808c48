/* What entries remember of classes that are written; see names.h.
 *
 * Values are compared by address, so the program holds those that count: weakly
 * where their type allows that.  Names are compared by address too: only interned
 * ones can be free.
 */
#include "guards/names.h"

#include "compat/type.h"

struct DtLookedUp {
    PyTypeObject *type;
    DtLookedUp *previous; /* of the same name */
};

void
dt_names_note(DtTrace *trace, PyTypeObject *type, PyObject *name)
{
    DtGuardRecipe *recipe = trace->guards;
    if (recipe == NULL || recipe->names_lost || !(type->tp_flags & Py_TPFLAGS_HEAPTYPE)) {
        return;
    }
    recipe->names_lost = true; /* unless all of this succeeds */
    if (!PyUnicode_CheckExact(name)) {
        return;
    }
    PyObject *interned = Py_NewRef(name);
    PyUnicode_InternInPlace(&interned);
    DtLookedUp *first = dt_map_get(&recipe->looked_up, interned), *found = first;
    while (found != NULL && found->type != type) {
        found = found->previous;
    }
    bool noted = found != NULL;
    if (!noted && dt_trace_keep(trace, interned) == DT_OK
        && dt_trace_keep(trace, (PyObject *)type) == DT_OK) {
        found = DT_ARENA_NEW(&trace->arena, DtLookedUp);
        if (found != NULL) {
            *found = (DtLookedUp){type, first};
            noted = dt_map_set(&trace->arena, &recipe->looked_up, interned, found) == 0;
        }
    }
    Py_DECREF(interned);
    if (!noted) {
        PyErr_Clear(); /* MemoryError: then no name is free, which is safe */
        return;
    }
    recipe->names_lost = false;
}

/* Whether the name in the class's own dict may change without a word. */
static bool
is_free(const DtGuardRecipe *recipe, PyTypeObject *base, PyObject *name)
{
    if (!PyUnicode_CheckExact(name) || !PyUnicode_CHECK_INTERNED(name)
        || PyUnicode_GET_LENGTH(name) == 0 || PyUnicode_READ_CHAR(name, 0) == '_') {
        return false;
    }
    const DtLookedUp *found = dt_map_get(&recipe->looked_up, name);
    while (found != NULL && !PyType_IsSubtype(found->type, base)) {
        found = found->previous;
    }
    return found == NULL;
}

/* Whether the trace writes a name that it relies on: the classes are others after every call. */
static bool
is_changed_by_trace(const DtTrace *trace, const DtTypeState *state)
{
    for (uint32_t i = 0; i < trace->class_writes.count; i++) {
        const DtClassWrite *write = &trace->class_writes.items[i];
        if (PyType_IsSubtype(state->type, write->cls)
            && !is_free(trace->guards, write->cls, write->name)) {
            return true;
        }
    }
    return false;
}

static DtStatus
remember_dict(DtLower *lower, PyTypeObject *base, DtTypeNames *names)
{
    DtGuardProgram *program = lower->program;
    PyObject *dict = dt_type_dict(base), *name, *value;
    Py_ssize_t at = 0;
    if (dict == NULL || !(base->tp_flags & Py_TPFLAGS_HEAPTYPE)) {
        return DT_OK; /* a static type does not change */
    }
    names->rows = DT_ARENA_ARRAY(&program->arena, DtTypeName, PyDict_GET_SIZE(dict));
    if (names->rows == NULL) {
        return dt_no_memory();
    }
    while (PyDict_Next(dict, &at, &name, &value)) {
        DtTypeName *row = &names->rows[names->count++];
        row->name = name;
        DT_TRY(dt_program_keep(program, name));
        if (!is_free(lower->trace->guards, base, name)) {
            row->value = value;
            DT_TRY(dt_program_watch(program, value));
        }
    }
    return DT_OK;
}

DtStatus
dt_names_remember(DtLower *lower)
{
    const DtTrace *trace = lower->trace;
    if (!trace->guards->names_noted || trace->guards->names_lost
        || (trace->class_writes.count == 0 && !trace->guards->classes_vary)) {
        return DT_OK;
    }
    for (uint32_t i = 0; i < lower->all_states.count; i++) {
        DtTypeState *state = lower->all_states.items[i];
        if (is_changed_by_trace(trace, state)) {
            continue;
        }
        state->names = DT_ARENA_ARRAY(&lower->program->arena, DtTypeNames, state->nbases);
        if (state->names == NULL) {
            return dt_no_memory();
        }
        for (uint32_t k = 0; k < state->nbases; k++) {
            DT_TRY(remember_dict(lower, state->bases[k], &state->names[k]));
        }
    }
    return DT_OK;
}

bool
dt_names_are_unchanged(const DtTypeState *state, uint32_t i, PyObject *dict)
{
    const DtTypeNames *names = state->names != NULL ? &state->names[i] : NULL;
    PyObject *name, *value;
    Py_ssize_t at = 0;
    if (names == NULL || PyDict_GET_SIZE(dict) != (Py_ssize_t)names->count) {
        return false;
    }
    for (const DtTypeName *row = names->rows; PyDict_Next(dict, &at, &name, &value); row++) {
        if (name != row->name || (row->value != NULL && value != row->value)) {
            return false;
        }
    }
    return true;
}
