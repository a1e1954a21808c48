/* See prepared.h. */
#include "eval_frame/prepared.h"

#include "compat/code.h"
#include "compat/function.h"
#include "compat/recursion.h"
#include "eval_frame/broken.h"
#include "eval_frame/compiled_function.h"
#include "eval_frame/function_subtype.h"
#include "eval_frame/hook.h"
#include "eval_frame/horizon.h"
#include "eval_frame/investment.h"
#include "eval_frame/reach.h"
#include "variables/rules.h"

/* Of a function that is not timed any more: who rests is woken by others, too. */
#define CALLS_BETWEEN_LOOKS 16

struct DtPrepared {
    PyObject *compiled; /* DtCompiledFunction, made at the first call; DT_OWNED */
    DtRegion *region;   /* DT_OWNED */
    bool hot;           /* calls go to `compiled`; before, they are counted */
    uint64_t calls;
    uint32_t version; /* of the plain function ... */
    PyObject *code;   /* ... with this code (borrowed, only compared), */
    bool bare;        /* and without defaults */
};

static PyTypeObject prepared_function_type;

static inline DtPrepared *
row_of(PyObject *function)
{
    return dt_map_get(&dt_state.prepared, function);
}

static void
free_row(DtPrepared *row)
{
    PyObject *compiled = row->compiled;
    DtRegion *region = row->region;
    PyMem_Free(row);
    Py_XDECREF(compiled);
    Py_DECREF(region);
}

static void
drop_row(PyObject *function)
{
    DtPrepared *row = dt_map_remove(&dt_state.prepared, function);
    if (row != NULL) {
        free_row(row);
    }
}

static DtCompiledFunction *
compiled_of(DtPrepared *row, PyObject *function)
{
    PyFunctionObject *parts = (PyFunctionObject *)function;
    if (DT_UNLIKELY(row->compiled == NULL)) {
        row->compiled = dt_compiled_function_hidden(function, row->region);
    }
    else if (DT_UNLIKELY(!dt_function_is_synced((PyFunctionObject *)row->compiled, parts))) {
        dt_function_sync((PyFunctionObject *)row->compiled, parts);
    }
    return (DtCompiledFunction *)row->compiled;
}

static DtCodeCache *
cache_of(const DtPrepared *row)
{
    return row->compiled != NULL ? ((DtCompiledFunction *)row->compiled)->cache : NULL;
}

/* ---- What a list of them says -------------------------------------------------------------- */

static PyObject *
describe(PyObject *function, const DtPrepared *row, const char *state)
{
    PyCodeObject *code = (PyCodeObject *)((PyFunctionObject *)function)->func_code;
    DtCodeCache *cache = cache_of(row);
    const DtScale *scale = cache != NULL ? &cache->scale : NULL;
    return Py_BuildValue(
        "{s:O,s:O,s:i,s:s,s:K,s:L,s:L}", "function", ((PyFunctionObject *)function)->func_qualname,
        "file", dt_code_filename(code), "line", dt_code_firstlineno(code), "state", state, "calls",
        (unsigned long long)row->calls, "plain_ns",
        (long long)(scale != NULL ? scale->medians[DT_SIDE_PLAIN] : 0), "compiled_ns",
        (long long)(scale != NULL ? scale->medians[DT_SIDE_COMPILED] : 0));
}

static int
append_taken(PyObject *list, DT_STEALS PyObject *item)
{
    int failed = item == NULL || PyList_Append(list, item) < 0;
    Py_XDECREF(item);
    return failed ? -1 : 0;
}

static int
append_resting(PyObject *function, DtPrepared *row, void *list)
{
    return append_taken(list, describe(function, row, "resting"));
}

static uint32_t
count_slots(PyObject *list)
{
    uint32_t count = 0;
    for (uint32_t i = 0; dt_state.prepared.mask && i <= dt_state.prepared.mask; i++) {
        PyObject *function = (PyObject *)dt_state.prepared.slots[i].key;
        if (function != NULL && list != NULL) {
            PyList_SET_ITEM(list, count, Py_NewRef(function));
        }
        count += function != NULL;
    }
    return count;
}

/* The functions that are prepared now, as a list: whatever is made may let the collector run, and
 * functions die. */
static PyObject *
hold_all(void)
{
    PyObject *list = NULL;
    do {
        Py_XSETREF(list, PyList_New(count_slots(NULL)));
    } while (list != NULL && PyList_GET_SIZE(list) != (Py_ssize_t)count_slots(NULL));
    if (list != NULL) {
        count_slots(list);
    }
    return list;
}

static const char *
state_of(const DtPrepared *row)
{
    const DtCodeCache *cache = cache_of(row);
    bool loops = cache != NULL && cache->broken != NULL && dt_broken_has_entries(cache->broken);
    return row->hot && cache != NULL ? "compiled" : loops ? "loops compiled" : "counting";
}

PyObject *
dt_prepared_list(void)
{
    PyObject *list = PySequence_List(dt_state.given_back);
    PyObject *held = list != NULL ? hold_all() : NULL;
    if (held == NULL || dt_resting_visit(append_resting, list) < 0) {
        Py_CLEAR(list);
    }
    for (Py_ssize_t i = 0; list != NULL && i < PyList_GET_SIZE(held); i++) {
        PyObject *function = PyList_GET_ITEM(held, i);
        const DtPrepared *row = row_of(function);
        if (row != NULL && append_taken(list, describe(function, row, state_of(row))) < 0) {
            Py_CLEAR(list);
        }
    }
    Py_XDECREF(held);
    return list;
}

/* ---- Becoming plain again ------------------------------------------------------------------ */

static bool
has_no_defaults(const PyFunctionObject *function)
{
    return function->func_defaults == NULL && function->func_kwdefaults == NULL;
}

static int
give_back(PyObject *function, const char *why)
{
    DtPrepared *row = row_of(function);
    if (row == NULL || append_taken(dt_state.given_back, describe(function, row, why)) < 0) {
        return -1;
    }
    PyFunctionObject *parts = (PyFunctionObject *)function;
    /* Call sites that know a version know how many defaults there are. */
    bool same = parts->func_code == row->code && row->compiled != NULL && row->bare
                && has_no_defaults(parts);
    dt_function_restore(function, dt_function_plain_entry(), same ? row->version : 0);
    drop_row(function);
    return 0;
}

/* Plain for a while, at a call's end, if nothing is to be had of the next ones: because the last
 * ones were idle, or because the account has to be waited for. */
static void
let_rest(PyObject *function, DtCodeCache *cache, int64_t idle_until)
{
    int64_t until = idle_until != 0 ? idle_until : dt_investment_waits_until(cache);
    DtPrepared *row =
        until != 0 && Py_IS_TYPE(function, &prepared_function_type) ? row_of(function) : NULL;
    if (row == NULL) {
        return;
    }
    DtRest rest = idle_until != 0 ? DT_REST_IDLE : DT_REST_ACCOUNT;
    if (dt_resting_add(function, row, rest, until) < 0) {
        PyErr_Clear(); /* no memory: it is asked on */
        return;
    }
    dt_map_remove(&dt_state.prepared, function);
    dt_function_restore(function, dt_function_plain_entry(), 0);
    cache->skips = 0;
    Py_CLEAR(row->compiled);
}

/* The function of a call that has just ended: does it stay prepared? */
static int
settle(PyObject *function)
{
    DtPrepared *row = Py_IS_TYPE(function, &prepared_function_type) ? row_of(function) : NULL;
    if (row == NULL || row->compiled == NULL) {
        return 0; /* the call itself has changed that */
    }
    if (dt_compiled_function_is_idle((DtCompiledFunction *)row->compiled)) {
        DtCodeCache *cache = ((DtCompiledFunction *)row->compiled)->cache;
        return give_back(function, cache->verify.quarantined ? "quarantined" : "nothing captured");
    }
    if (dt_compiled_function_is_forsaken((DtCompiledFunction *)row->compiled)) {
        return give_back(function, "slower");
    }
    DtCodeCache *cache = cache_of(row);
    if (cache != NULL && cache->scale.state == DT_SCALE_FORSAKEN) {
        dt_investment_rest(cache);
    }
    return 0;
}

/* ---- Calls --------------------------------------------------------------------------------- */

static bool
sees_arrays(const DtCompiledFunction *compiled, PyObject *const *args, size_t nargsf,
            PyObject *kwnames, uint32_t most)
{
    Py_ssize_t named = kwnames != NULL ? PyTuple_GET_SIZE(kwnames) : 0;
    return dt_horizon_of_call(&compiled->base, args, PyVectorcall_NARGS(nargsf) + named, most);
}

/* Before the function is worth compiling, its loops may be. */
static PyObject *
call_uncompiled(DtCompiledFunction *compiled, const DtCodeCache *cache, PyObject *const *args,
                size_t nargsf, PyObject *kwnames)
{
    return cache->loops ? dt_compiled_function_call_looping(compiled, args, nargsf, kwnames)
                        : dt_compiled_function_call_plainly(compiled, args, nargsf, kwnames);
}

static PyObject *
call_early(DtCompiledFunction *compiled, DtCodeCache *cache, PyObject *const *args, size_t nargsf,
           PyObject *kwnames, int64_t *idle_until)
{
    int64_t began = dt_investment_begin(cache);
    PyObject *answer = call_uncompiled(compiled, cache, args, nargsf, kwnames);
    int64_t taken = dt_investment_end(cache, began);
    if (dt_investment_is_short(cache, taken)) {
        bool reaches = sees_arrays(compiled, args, nargsf, kwnames, DT_HORIZON_SHORT);
        *idle_until = dt_investment_idle_until(cache, taken, reaches);
    }
    return answer;
}

/* An attempt would find nothing. */
static PyObject *
call_without_arrays(DtCompiledFunction *compiled, DtCodeCache *cache, PyObject *const *args,
                    size_t nargsf, PyObject *kwnames, int64_t *idle_until)
{
    int64_t began = dt_clock_ns();
    PyObject *answer = call_uncompiled(compiled, cache, args, nargsf, kwnames);
    *idle_until = dt_investment_give_up(cache, dt_clock_ns() - began);
    return answer;
}

/* A call at which nothing is asked; where the hook captures, all are asked. */
static PyObject *
call_unasked(PyObject *function, PyObject *const *args, size_t nargsf, PyObject *kwnames)
{
    PyThreadState *tstate = PyThreadState_GET();
    if (DT_UNLIKELY(!dt_recursion_enter(tstate))) {
        return NULL;
    }
    PyObject *answer = dt_function_plain_entry()(function, args, nargsf, kwnames);
    dt_recursion_leave(tstate);
    return answer;
}

static PyObject *
call_prepared(PyObject *function, PyObject *const *args, size_t nargsf, PyObject *kwnames)
{
    DtPrepared *row = row_of(function);
    DtCodeCache *known = cache_of(row);
    if (known != NULL && dt_investment_skips(known) && !dt_hook_is_installed()) {
        row->calls++;
        return call_unasked(function, args, nargsf, kwnames);
    }
    DtCompiledFunction *compiled = compiled_of(row, function);
    if (compiled == NULL) {
        return NULL;
    }
    Py_INCREF(function); /* the call may let go of both */
    Py_INCREF(compiled);
    row->calls++;
    PyObject *answer;
    int64_t idle_until = 0;
    DtCodeCache *cache; /* lives as long as its region, and that as `compiled` */
    if (DT_LIKELY(row->hot)) {
        if (dt_state.rest_until_ns != INT64_MAX && row->calls % CALLS_BETWEEN_LOOKS == 0) {
            dt_resting_look(dt_clock_ns());
        }
        answer = compiled->base.vectorcall((PyObject *)compiled, args, nargsf, kwnames);
    }
    else if ((cache = dt_compiled_function_cache(compiled)) == NULL) {
        answer = NULL;
    }
    else if (dt_investment_is_early(cache)) {
        answer = call_early(compiled, cache, args, nargsf, kwnames, &idle_until);
    }
    else if (dt_investment_is_asked(cache)
             && !sees_arrays(compiled, args, nargsf, kwnames, DT_HORIZON_LONG)) {
        answer = call_without_arrays(compiled, cache, args, nargsf, kwnames, &idle_until);
    }
    else {
        row->hot = true;
        answer = compiled->base.vectorcall((PyObject *)compiled, args, nargsf, kwnames);
    }
    if (answer != NULL && settle(function) < 0) {
        Py_CLEAR(answer);
    }
    if (DT_UNLIKELY(idle_until != 0 || dt_investment_has_to_wait(compiled->cache))
        && answer != NULL) {
        let_rest(function, compiled->cache, idle_until);
    }
    Py_DECREF(compiled);
    Py_DECREF(function);
    return answer;
}

/* ---- The type ------------------------------------------------------------------------------ */

/* 1; 0: no function of ours; -1 with an exception. */
static int
is_candidate(PyObject *object)
{
    PyFunctionObject *function = (PyFunctionObject *)object;
    if (!PyFunction_Check(object) || function->vectorcall != dt_function_plain_entry()
        || dt_code_is_generator((PyCodeObject *)function->func_code)
        || !PyDict_CheckExact(function->func_globals)
        || dt_reach_is_in_the_way(function->func_globals)) {
        return 0;
    }
    DtMark mark;
    if (dt_rules_mark(object, &mark) != DT_OK) {
        return -1;
    }
    return mark != DT_MARK_DISABLED;
}

int
dt_prepared_add(PyObject *function, DtRegion *region)
{
    int candidate = is_candidate(function);
    if (candidate <= 0) {
        return candidate;
    }
    DtPrepared *row = PyMem_Calloc(1, sizeof(DtPrepared));
    if (row == NULL
        || dt_map_set(&dt_state.prepared_arena, &dt_state.prepared, function, row) < 0) {
        PyMem_Free(row);
        PyErr_NoMemory();
        return -1;
    }
    Py_INCREF(region);
    row->region = region;
    row->code = ((PyFunctionObject *)function)->func_code;
    row->bare = has_no_defaults((PyFunctionObject *)function);
    row->version = dt_function_redirect(function, &prepared_function_type, call_prepared);
    return 1;
}

void
dt_prepared_again(PyObject *function, DtPrepared *row)
{
    if (!PyFunction_Check(function) || is_candidate(function) <= 0
        || dt_map_set(&dt_state.prepared_arena, &dt_state.prepared, function, row) < 0) {
        PyErr_Clear(); /* no memory: it stays plain */
        free_row(row);
        return;
    }
    row->code = ((PyFunctionObject *)function)->func_code;
    row->version = 0;
    dt_function_redirect(function, &prepared_function_type, call_prepared);
}

static void
prepared_dealloc(PyObject *self)
{
    PyObject_GC_UnTrack(self);
    drop_row(self);
    PyObject_GC_Track(self); /* the function's own dealloc untracks, too */
    PyFunction_Type.tp_dealloc(self);
}

static int
prepared_traverse(PyObject *self, visitproc visit, void *arg)
{
    DtPrepared *row = row_of(self);
    if (row != NULL) {
        Py_VISIT(row->compiled);
        Py_VISIT(row->region);
    }
    return PyFunction_Type.tp_traverse(self, visit, arg);
}

static int
prepared_clear(PyObject *self)
{
    DtPrepared *row = row_of(self);
    if (row != NULL) {
        Py_CLEAR(row->compiled);
    }
    return PyFunction_Type.tp_clear(self);
}

static PyMethodDef prepared_methods[] = {
    DT_FUNCTION_SUBTYPE_METHODS,
    {NULL, NULL, 0, NULL},
};

static PyMemberDef prepared_members[] = {
    DT_FUNCTION_SUBTYPE_DOC,
    {NULL, 0, 0, 0, NULL},
};

/* To the user it is a function: only type(f) tells. */
static PyObject *
prepared_class(PyObject *Py_UNUSED(self), void *Py_UNUSED(closure))
{
    Py_INCREF(&PyFunction_Type);
    return (PyObject *)&PyFunction_Type;
}

static PyGetSetDef prepared_getset[] = {
    {"__class__", prepared_class, NULL, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyTypeObject prepared_function_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "function",
    .tp_base = &PyFunction_Type,
    .tp_dealloc = prepared_dealloc,
    .tp_traverse = prepared_traverse,
    .tp_clear = prepared_clear,
    .tp_call = PyVectorcall_Call,
    .tp_vectorcall_offset = offsetof(PyFunctionObject, vectorcall),
    .tp_methods = prepared_methods,
    .tp_members = prepared_members,
    .tp_getset = prepared_getset,
    .tp_flags = DT_FUNCTION_SUBTYPE_FLAGS,
};

int
dt_prepared_init(void)
{
    dt_arena_init(&dt_state.prepared_arena);
    dt_state.given_back = PyList_New(0);
    return dt_state.given_back == NULL || dt_function_plain_entry() == NULL
                   || dt_function_subtype_ready(&prepared_function_type) < 0
               ? -1
               : 0;
}
