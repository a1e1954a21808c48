/* See record.h. */
#include "eval_frame/record.h"

#include "compat/code.h"
#include "compat/text.h"
#include "eval_frame/cache_list.h"
#include "eval_frame/segment.h"

bool
dt_record_is_wanted(const DtRegion *region)
{
    return region->records != NULL || dt_state.logs != 0;
}

void
dt_record_report(const char *function, PyObject *argument)
{
    PyObject *report = argument != NULL ? PyImport_ImportModule("dyntrace._report") : NULL;
    PyObject *answer = report != NULL ? PyObject_CallMethod(report, function, "O", argument) : NULL;
    if (answer == NULL) {
        PyErr_WriteUnraisable(report);
    }
    Py_XDECREF(answer);
    Py_XDECREF(report);
    Py_XDECREF(argument);
}

static PyObject *
position_object(const DtPosition *where)
{
    if (where->code == NULL) {
        Py_RETURN_NONE;
    }
    return Py_BuildValue("{s:O,s:O,s:i,s:i,s:i,s:i}", "file", dt_code_filename(where->code),
                         "function", dt_code_qualname(where->code), "line", where->line, "end_line",
                         where->end_line, "col", where->col, "end_col", where->end_col);
}

static PyObject *
break_object(const DtBreakInfo *brk)
{
    PyObject *chain = PyList_New(0);
    for (uint32_t i = 0; chain != NULL && i < brk->nchain; i++) {
        PyObject *caller = position_object(&brk->chain[i]);
        if (caller == NULL || PyList_Append(chain, caller) < 0) {
            Py_CLEAR(chain);
        }
        Py_XDECREF(caller);
    }
    const DtBreakRow *row = &dt_break_rows[brk->id];
    PyObject *where = position_object(&brk->where);
    PyObject *answer = NULL;
    if (chain != NULL && where != NULL) {
        answer = Py_BuildValue("{s:s,s:s,s:s,s:s,s:O,s:O}", "id", row->id, "what", row->what,
                               "reason", brk->message != NULL ? brk->message : row->what, "advice",
                               row->advice, "where", where, "chain", chain);
    }
    Py_XDECREF(where);
    Py_XDECREF(chain);
    return answer;
}

static PyObject *
phases_object(const DtPhases *phases)
{
    return Py_BuildValue("{s:L,s:L,s:L,s:L,s:L}", "trace", (long long)phases->trace, "plan",
                         (long long)phases->plan, "guards", (long long)phases->guards, "backend",
                         (long long)phases->backend, "assemble", (long long)phases->assemble);
}

static PyObject *
guards_object(const DtEntry *entry)
{
    DtStrbuf text = {0};
    if (entry != NULL) {
        dt_program_print(entry->guards, &text);
    }
    return dt_text_take(&text);
}

static PyObject *
stages_object(const DtEntry *entry)
{
    DtStrbuf text = {0};
    if (entry != NULL && entry->executable != NULL && entry->executable->type->describe != NULL) {
        entry->executable->type->describe(entry->executable, &text);
    }
    return dt_text_take(&text);
}

static int
set_take(PyObject *dict, const char *key, PyObject *value)
{
    int failed = value == NULL || PyDict_SetItemString(dict, key, value) < 0;
    Py_XDECREF(value);
    return failed ? -1 : 0;
}

static PyObject *
new_reference(PyObject *object)
{
    PyObject *shown = object != NULL ? object : Py_None;
    Py_INCREF(shown);
    return shown;
}

/* Where a segment begins and ends: (line, line), the second None for a return; None of a whole
 * frame. */
static PyObject *
segment_object(const DtAttempt *attempt)
{
    const DtSegment *segment = attempt->segment;
    if (segment == NULL) {
        Py_RETURN_NONE;
    }
    const DtInstr *instrs = segment->point->broken->bytecode->instrs;
    const DtEntry *entry = attempt->entry;
    int from = instrs[segment->point->at].line;
    if (entry == NULL || entry->target < 0) {
        return Py_BuildValue("(iO)", from, Py_None);
    }
    return Py_BuildValue("(ii)", from, instrs[entry->target].line);
}

static PyObject *
attempt_object(const DtAttempt *attempt)
{
    const DtTrace *trace = attempt->trace;
    const DtEntry *entry = attempt->entry;
    PyCodeObject *code = attempt->cache->code;
    PyObject *record = PyDict_New();
    if (record == NULL) {
        return NULL;
    }
    bool has_graph = entry != NULL && entry->executable != NULL;
    if (set_take(record, "function", new_reference(dt_code_qualname(code))) < 0
        || set_take(record, "file", new_reference(dt_code_filename(code))) < 0
        || set_take(record, "line", PyLong_FromLong(dt_code_firstlineno(code))) < 0
        || set_take(record, "graph",
                    has_graph ? dt_graph_object(entry->executable->graph) : new_reference(NULL))
               < 0
        || set_take(record, "guards", guards_object(entry)) < 0
        || set_take(record, "stages", stages_object(entry)) < 0
        || set_take(record, "code", new_reference(entry != NULL ? entry->code : NULL)) < 0
        || set_take(record, "frameless",
                    PyBool_FromLong(entry != NULL && entry->result != NULL && !entry->segment))
               < 0
        || set_take(record, "published", PyBool_FromLong(entry != NULL)) < 0
        || set_take(record, "instructions",
                    PyLong_FromUnsignedLong(trace != NULL ? trace->instructions : 0))
               < 0
        || set_take(record, "inlined", PyLong_FromUnsignedLong(trace != NULL ? trace->inlined : 0))
               < 0
        || set_take(record, "phases", phases_object(&attempt->phases)) < 0
        || set_take(record, "break",
                    attempt->broke != NULL ? new_reference(attempt->broke)
                    : attempt->has_break   ? break_object(&trace->brk)
                                           : new_reference(NULL))
               < 0
        || set_take(record, "segment", segment_object(attempt)) < 0
        || set_take(record, "fault",
                    attempt->fault != NULL ? PyUnicode_FromString(attempt->fault)
                                           : new_reference(NULL))
               < 0) {
        Py_CLEAR(record);
    }
    return record;
}

void
dt_record_attempt(DtAttempt *attempt)
{
    DtRegion *region = attempt->cache->region;
    if (!dt_record_is_wanted(region)) {
        return;
    }
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    PyObject *record = attempt_object(attempt);
    if (record == NULL || (region->records != NULL && PyList_Append(region->records, record) < 0)) {
        PyErr_WriteUnraisable(NULL);
        Py_CLEAR(record);
    }
    if (record != NULL && dt_state.logs != 0) {
        dt_record_report("log_attempt", record);
    }
    else {
        Py_XDECREF(record);
    }
    PyErr_Restore(type, value, traceback);
}

void
dt_record_keep_break(DtAttempt *attempt)
{
    if (attempt->broke != NULL || !dt_record_is_wanted(attempt->cache->region)) {
        return;
    }
    attempt->broke = break_object(&attempt->trace->brk);
    if (attempt->broke == NULL) {
        PyErr_WriteUnraisable(NULL);
    }
}

void
dt_record_forsaken(const DtCodeCache *cache, int line)
{
    if (dt_state_logs(DT_LOG_PLAIN)) {
        dt_record_report("log_forsaken", dt_cache_forsaken_row(cache, line));
    }
}

void
dt_record_miss(DtAttempt *attempt)
{
    DtEntry *newest = attempt->cache->entries;
    if (newest == NULL || !dt_state_logs(DT_LOG_RECOMPILES)) {
        return;
    }
    DtStrbuf text = {0};
    Py_INCREF(newest); /* a Python adapter may run anything, reset() included */
    if (dt_cache_explain(newest, &attempt->frame, &text) == DT_OK) {
        dt_record_report("log_recompile",
                         dt_cache_row(attempt->cache, -1,
                                      Py_BuildValue("{s:I,s:s}", "entries",
                                                    (unsigned int)attempt->cache->nentries,
                                                    "reason", dt_strbuf_text(&text))));
    }
    else {
        PyErr_WriteUnraisable(NULL);
    }
    dt_strbuf_release(&text);
    Py_DECREF(newest);
}

void
dt_record_raise_unsupported(DtAttempt *attempt)
{
    PyObject *brk = break_object(&attempt->trace->brk);
    PyObject *error = brk != NULL ? PyObject_CallOneArg(dt_state.unsupported, brk) : NULL;
    if (error != NULL) {
        PyErr_SetObject(dt_state.unsupported, error);
    }
    Py_XDECREF(error);
    Py_XDECREF(brk);
}
