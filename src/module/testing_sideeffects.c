/* White-box functions of the journal, for `_core._testing`.
 *
 * journal_script runs changes, marks and rollbacks on one existing list, one
 * existing dict, a new cell and the globals, without tracing a function, so
 * that tests reach rollback, which no traced construct asks for yet.
 */
#include <string.h>

#include "compat/code.h"
#include "compat/text.h"
#include "module/testing.h"
#include "sideeffects/entries.h"
#include "symbolic/interp.h"

typedef struct Script {
    DtTrace *trace;
    DtVar *list, *dict, *cell;
    DtJournalMark marks[8];
    uint32_t nmarks;
} Script;

static DtStatus
step_append(Script *script, PyObject *step)
{
    DtVar *value;
    DtSeqVar *list = (DtSeqVar *)script->list;
    DT_TRY(dt_var_const(script->trace, PyTuple_GET_ITEM(step, 1), &value));
    DT_TRY(dt_journal_will_change(script->trace, script->list));
    return dt_vec_push(&script->trace->arena, list, value) == 0 ? DT_OK : dt_no_memory();
}

static DtStatus
step_store(Script *script, PyObject *step)
{
    DtVar *key, *value = NULL;
    DT_TRY(dt_var_const(script->trace, PyTuple_GET_ITEM(step, 1), &key));
    if (PyTuple_GET_SIZE(step) > 2) {
        DT_TRY(dt_var_const(script->trace, PyTuple_GET_ITEM(step, 2), &value));
    }
    return dt_var_ass_subscript(script->trace, script->dict, key, value);
}

static DtStatus
step_cell(Script *script, PyObject *step)
{
    DtVar *value;
    DT_TRY(dt_var_const(script->trace, PyTuple_GET_ITEM(step, 1), &value));
    return dt_journal_set_cell(script->trace, (DtCellVar *)script->cell, value);
}

static DtStatus
step_global(Script *script, PyObject *step)
{
    DtVar *value = NULL;
    if (PyTuple_GET_SIZE(step) > 2) {
        DT_TRY(dt_var_const(script->trace, PyTuple_GET_ITEM(step, 2), &value));
    }
    return dt_journal_set_global(script->trace, script->trace->globals, PyTuple_GET_ITEM(step, 1),
                                 value);
}

static DtStatus
step_mark(Script *script, PyObject *step)
{
    (void)step;
    if (script->nmarks == sizeof(script->marks) / sizeof(script->marks[0])) {
        PyErr_SetString(PyExc_ValueError, "too many marks");
        return DT_ERROR;
    }
    script->marks[script->nmarks++] = dt_journal_mark(script->trace);
    return DT_OK;
}

static DtStatus
step_rollback(Script *script, PyObject *step)
{
    (void)step;
    if (script->nmarks == 0) {
        PyErr_SetString(PyExc_ValueError, "a rollback without a mark");
        return DT_ERROR;
    }
    return dt_journal_rollback(script->trace, script->marks[--script->nmarks]);
}

typedef struct StepRow {
    const char *name;
    Py_ssize_t least, most;
    DtStatus (*run)(Script *script, PyObject *step);
} StepRow;

static const StepRow step_rows[] = {
    {"append", 2, 2, step_append}, {"store", 2, 3, step_store}, {"cell", 2, 2, step_cell},
    {"global", 2, 3, step_global}, {"mark", 1, 1, step_mark},   {"rollback", 1, 1, step_rollback},
};

static DtStatus
run_step(Script *script, PyObject *step)
{
    const char *name = PyTuple_Check(step) && PyTuple_GET_SIZE(step) > 0
                           ? PyUnicode_AsUTF8(PyTuple_GET_ITEM(step, 0))
                           : "";
    for (size_t i = 0; name != NULL && i < sizeof(step_rows) / sizeof(step_rows[0]); i++) {
        const StepRow *row = &step_rows[i];
        if (strcmp(row->name, name) == 0 && PyTuple_GET_SIZE(step) >= row->least
            && PyTuple_GET_SIZE(step) <= row->most) {
            return row->run(script, step);
        }
    }
    PyErr_Format(PyExc_ValueError, "no such step: %R", step);
    return DT_ERROR;
}

static DtStatus
start(Script *script, PyObject *items, PyObject *dict)
{
    DtTrace *trace = script->trace;
    PyObject *names[2] = {PyUnicode_InternFromString("items"), PyUnicode_InternFromString("dict")};
    PyObject *objects[2] = {items, dict};
    DtVar **vars[2] = {&script->list, &script->dict};
    for (int i = 0; i < 2; i++) {
        if (dt_trace_keep_take(trace, names[i]) == NULL) {
            return DT_ERROR;
        }
        const DtSource *source = dt_source_local(trace, i, names[i]);
        if (source == NULL) {
            return DT_ERROR;
        }
        DT_TRY(dt_var_build(trace, objects[i], source, vars[i]));
    }
    return dt_var_cell(trace, NULL, -1, NULL, &script->cell);
}

static PyObject *
describe(const Script *script)
{
    DtStrbuf list = {0}, dict = {0}, cell = {0};
    const DtVar *contents = ((DtCellVar *)script->cell)->contents;
    dt_var_repr(script->list, &list);
    dt_var_repr(script->dict, &dict);
    if (contents != NULL) {
        dt_var_repr((DtVar *)contents, &cell);
    }
    const DtJournal *journal = script->trace->journal;
    return Py_BuildValue("(NNNII)", dt_text_take(&list), dt_text_take(&dict), dt_text_take(&cell),
                         journal->entries.count, journal->writes.count);
}

static PyObject *
journal_script(PyObject *Py_UNUSED(module), PyObject *args)
{
    PyObject *function, *items, *dict, *steps;
    if (!PyArg_ParseTuple(args, "O!O!O!O!:journal_script", &PyFunction_Type, &function,
                          &PyList_Type, &items, &PyDict_Type, &dict, &PyList_Type, &steps)) {
        return NULL;
    }
    Script script = {.trace = dt_testing_trace(function)};
    if (script.trace == NULL) {
        return NULL;
    }
    DtStatus status = start(&script, items, dict);
    for (Py_ssize_t i = 0; status == DT_OK && i < PyList_GET_SIZE(steps); i++) {
        status = dt_raised_break_if(script.trace, run_step(&script, PyList_GET_ITEM(steps, i)));
    }
    if (status == DT_OK) {
        status = dt_journal_finish(script.trace, dt_none(script.trace));
    }
    PyObject *answer = NULL;
    if (status == DT_OK) {
        answer = describe(&script);
    }
    else if (status == DT_BREAK) {
        PyErr_Format(PyExc_ValueError, "break: %s", script.trace->brk.message);
    }
    dt_trace_release(script.trace);
    return answer;
}

PyMethodDef dt_testing_sideeffects_methods[] = {
    {"journal_script", journal_script, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};
