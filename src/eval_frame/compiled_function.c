/* See compiled_function.h. */
#include "eval_frame/compiled_function.h"

#include "compat/code.h"
#include "compat/function.h"
#include "compat/tracing.h"
#include "eval_frame/bind.h"
#include "eval_frame/broken.h"
#include "eval_frame/cache_list.h"
#include "eval_frame/dispatch.h"
#include "eval_frame/function_subtype.h"
#include "eval_frame/hook.h"
#include "eval_frame/policy.h"
#include "eval_frame/record.h"
#include "eval_frame/running_loops.h"
#include "eval_frame/verify.h"

static void
sync_twin(DtCompiledFunction *self)
{
    PyFunctionObject *twin = (PyFunctionObject *)self->twin;
    if (DT_UNLIKELY(!dt_function_is_synced(twin, &self->base))) {
        dt_function_sync(twin, &self->base);
    }
}

static PyObject *
call_twin(DtCompiledFunction *self, PyObject *const *args, size_t nargsf, PyObject *kwnames)
{
    sync_twin(self);
    return dt_hook_call(self->cache, self->twin, args, nargsf, kwnames);
}

/* The function object that runs the driver of a code that breaks, with this function's closure. */
static PyObject *
driven_function(DtCompiledFunction *self, PyCodeObject *driver)
{
    PyFunctionObject *made = (PyFunctionObject *)self->driven;
    if (made == NULL || made->func_code != (PyObject *)driver
        || made->func_defaults != self->base.func_defaults
        || made->func_kwdefaults != self->base.func_kwdefaults) {
        PyObject *fresh = dt_function_with_code(driver, &self->base);
        if (fresh == NULL) {
            return NULL;
        }
        Py_XSETREF(self->driven, fresh);
    }
    Py_INCREF(self->driven);
    return self->driven;
}

static PyObject *
call_driver(DtCompiledFunction *self, PyCodeObject *driver, PyObject *const *args, size_t nargsf,
            PyObject *kwnames)
{
    if (driver == NULL) {
        return call_twin(self, args, nargsf, kwnames);
    }
    PyObject *function = driven_function(self, driver);
    if (function == NULL) {
        return NULL;
    }
    PyObject *answer = dt_hook_call(self->cache, function, args, nargsf, kwnames);
    Py_DECREF(function);
    return answer;
}

/* A call that no entry serves whole. */
static PyObject *
call_in_frame(DtCompiledFunction *self, PyObject *const *args, size_t nargsf, PyObject *kwnames)
{
    return call_driver(self, dt_broken_driver(self->cache), args, nargsf, kwnames);
}

/* The function object that runs an entry's rewritten code with this function's closure. */
static PyObject *
framed_function(DtCompiledFunction *self, DtEntry *entry)
{
    PyFunctionObject *made = (PyFunctionObject *)self->framed_code;
    if (self->framed != entry || made->func_defaults != self->base.func_defaults
        || made->func_kwdefaults != self->base.func_kwdefaults) {
        PyObject *fresh = dt_function_with_code((PyCodeObject *)entry->code, &self->base);
        if (fresh == NULL) {
            return NULL;
        }
        Py_INCREF(entry);
        Py_XSETREF(self->framed, entry);
        Py_XSETREF(self->framed_code, fresh);
    }
    Py_INCREF(self->framed_code);
    return self->framed_code;
}

static PyObject *
run_framed(DtCompiledFunction *self, DtEntry *entry, PyObject *const *args, size_t nargsf,
           PyObject *kwnames)
{
    PyObject *function = framed_function(self, entry);
    if (function == NULL) {
        return NULL;
    }
    PyObject *answer = dt_hook_call(NULL, function, args, nargsf, kwnames);
    Py_DECREF(function);
    if (answer == dt_state.replay) {
        Py_DECREF(answer);
        dt_dispatch_replayed(entry);
        return call_twin(self, args, nargsf, kwnames);
    }
    return answer;
}

/* The code object was assigned, or this is the first call. */
static bool
refresh_cache(DtCompiledFunction *self)
{
    self->cache = dt_region_cache(self->region, (PyCodeObject *)self->base.func_code);
    return self->cache != NULL;
}

DtCodeCache *
dt_compiled_function_cache(DtCompiledFunction *self)
{
    bool stale = self->cache == NULL || (PyObject *)self->cache->code != self->base.func_code;
    return stale && !refresh_cache(self) ? NULL : self->cache;
}

/* A call of a function whose code is run by a driver. */
typedef struct Driven {
    DtCompiledFunction *function;
    PyCodeObject *driver;
    PyObject *const *args;
    size_t nargsf;
    PyObject *kwnames;
} Driven;

static PyObject *
run_driver(void *context)
{
    const Driven *call = context;
    return call_driver(call->function, call->driver, call->args, call->nargsf, call->kwnames);
}

/* A call that no entry serves whole, where calls are compared. */
static PyObject *
call_verified(DtCompiledFunction *self, const DtGuardFrame *frame, PyObject *const *args,
              size_t nargsf, PyObject *kwnames)
{
    Driven call = {self, dt_broken_driver(self->cache), args, nargsf, kwnames};
    PyObject *answer;
    return call.driver != NULL && dt_verify_driven(self->cache, frame, run_driver, &call, &answer)
               ? answer
               : call_twin(self, args, nargsf, kwnames);
}

/* What becomes of a call that no entry has answered yet. */
static PyObject *__attribute__((noinline))
answer_otherwise(DtCompiledFunction *self, DtDispatch found, DtEntry *entry,
                 const DtGuardFrame *frame, PyObject *const *args, size_t nargsf, PyObject *kwnames)
{
    PyObject *answer = NULL;
    if (found == DT_DISPATCH_MISS) {
        found = dt_dispatch_compile(self->cache, frame, NULL, &entry, &answer);
    }
    switch (found) {
    case DT_DISPATCH_DONE:
        return answer;
    case DT_DISPATCH_FRAME:
        answer = run_framed(self, entry, args, nargsf, kwnames);
        Py_DECREF(entry);
        return answer;
    case DT_DISPATCH_ERROR:
        return NULL;
    case DT_DISPATCH_STRAY:
    case DT_DISPATCH_PLAIN:
        return call_twin(self, args, nargsf, kwnames);
    case DT_DISPATCH_MISS:
        break;
    }
    return DT_UNLIKELY(dt_state.verify.on) ? call_verified(self, frame, args, nargsf, kwnames)
                                           : call_in_frame(self, args, nargsf, kwnames);
}

static inline PyObject *
call_bound(DtCompiledFunction *self, PyObject *const *slots, PyObject *const *args, size_t nargsf,
           PyObject *kwnames)
{
    DtGuardFrame frame = {slots, self->base.func_globals, self->base.func_builtins,
                          (PyObject *)self};
    DtEntry *entry = NULL;
    PyObject *answer = NULL;
    DtDispatch found = dt_dispatch_find(self->cache, &frame, NULL, &entry, &answer);
    if (DT_LIKELY(found == DT_DISPATCH_DONE)) {
        return answer;
    }
    return answer_otherwise(self, found, entry, &frame, args, nargsf, kwnames);
}

/* Arguments that are not just those in the slots' order. */
static PyObject *__attribute__((noinline))
call_binding(DtCompiledFunction *self, PyObject *const *args, size_t nargsf, PyObject *kwnames)
{
    DtCodeCache *cache = self->cache;
    Py_ssize_t nargs = PyVectorcall_NARGS(nargsf);
    PyObject *few[DT_DISPATCH_STACK];
    PyObject **slots = few;
    if (cache->nargs > DT_DISPATCH_STACK) {
        slots = PyMem_New(PyObject *, (size_t)cache->nargs);
        if (slots == NULL) {
            return PyErr_NoMemory();
        }
    }
    PyObject *answer = NULL;
    switch (dt_bind_arguments(&self->base, args, nargs, kwnames, slots)) {
    case DT_BIND_OK:
        answer = call_bound(self, slots, args, nargsf, kwnames);
        dt_bind_release(&self->base, slots);
        break;
    case DT_BIND_NO_FIT:
        answer = call_twin(self, args, nargsf, kwnames);
        break;
    case DT_BIND_ERROR:
        break;
    }
    if (slots != few) {
        PyMem_Free(slots);
    }
    return answer;
}

/* What compiled code can serve, and the rest in a frame. */
static inline PyObject *
call_served(DtCompiledFunction *self, PyObject *const *args, size_t nargsf, PyObject *kwnames)
{
    DtCodeCache *cache = self->cache;
    if (DT_UNLIKELY(cache->closed && cache->entries == NULL && !dt_policy_may_refuse(cache)
                    && !dt_state.verify.on)) {
        return call_in_frame(self, args, nargsf, kwnames);
    }
    if (DT_LIKELY(cache->simple && kwnames == NULL && PyVectorcall_NARGS(nargsf) == cache->nargs)) {
        return call_bound(self, args, args, nargsf, kwnames);
    }
    return call_binding(self, args, nargsf, kwnames);
}

/* A call that may be timed, or that runs plainly because that is as fast. */
static PyObject *
call_weighed(DtCompiledFunction *self, PyObject *const *args, size_t nargsf, PyObject *kwnames)
{
    DtCodeCache *cache = self->cache;
    DtRegion *region = self->region;
    DtScaleRun run;
    PyObject *answer;
    Py_INCREF(region); /* the call can let go of the function */
    dt_scale_begin(&cache->scale, region, dt_broken_is_ready(cache), &run);
    if (run.side == DT_SIDE_COMPILED) {
        answer = call_served(self, args, nargsf, kwnames);
    }
    else {
        sync_twin(self);
        answer = dt_hook_call(NULL, self->twin, args, nargsf, kwnames);
    }
    if (dt_scale_end(&cache->scale, &run, answer == NULL)) {
        dt_record_forsaken(cache, -1);
    }
    Py_DECREF(region);
    return answer;
}

static PyObject *
call_compiled(PyObject *callable, PyObject *const *args, size_t nargsf, PyObject *kwnames)
{
    DtCompiledFunction *self = (DtCompiledFunction *)callable;
    if (DT_UNLIKELY(dt_tracing_is_active(PyThreadState_GET()))) {
        return call_twin(self, args, nargsf, kwnames);
    }
    DtCodeCache *cache = self->cache;
    if (DT_UNLIKELY(cache == NULL || (PyObject *)cache->code != self->base.func_code)) {
        if (!refresh_cache(self)) {
            return NULL;
        }
        cache = self->cache;
    }
    if (DT_UNLIKELY(dt_tracing_code_is_watched(cache->code))) {
        return call_twin(self, args, nargsf, kwnames);
    }
    if (DT_UNLIKELY(dt_scale_is_due(&cache->scale)) && !dt_policy_wants_breaks(cache)) {
        return call_weighed(self, args, nargsf, kwnames);
    }
    return call_served(self, args, nargsf, kwnames);
}

PyObject *
dt_compiled_function_call_plainly(DtCompiledFunction *function, PyObject *const *args,
                                  size_t nargsf, PyObject *kwnames)
{
    return call_twin(function, args, nargsf, kwnames);
}

PyObject *
dt_compiled_function_call_looping(DtCompiledFunction *self, PyObject *const *args, size_t nargsf,
                                  PyObject *kwnames)
{
    PyThreadState *tstate = PyThreadState_GET();
    PyCodeObject *code = (PyCodeObject *)self->base.func_code;
    if (dt_tracing_is_active(tstate) || dt_tracing_code_is_watched(code)) {
        return call_twin(self, args, nargsf, kwnames);
    }
    if (dt_compiled_function_cache(self) == NULL) {
        return NULL;
    }
    return call_driver(self, dt_running_loops_of_function(self->cache), args, nargsf, kwnames);
}

bool
dt_compiled_function_is_idle(DtCompiledFunction *function)
{
    DtCodeCache *cache = function->cache;
    return cache != NULL && cache->closed && cache->entries == NULL
           && (cache->broken == NULL || dt_broken_is_spent(cache->broken))
           && (!cache->root.loud || dt_hook_stays_away(cache));
}

bool
dt_compiled_function_is_forsaken(DtCompiledFunction *function)
{
    DtCodeCache *cache = function->cache;
    return cache != NULL && dt_scale_is_forsaken(&cache->scale);
}

PyObject *
dt_compiled_function_hidden(PyObject *function, DtRegion *region)
{
    PyObject *twin = dt_function_copy(function);
    if (twin == NULL) {
        return NULL;
    }
    DtCompiledFunction *self =
        (DtCompiledFunction *)PyType_GenericAlloc(&DtCompiledFunction_Type, 0);
    if (self == NULL) {
        Py_DECREF(twin);
        return NULL;
    }
    dt_function_fill(&self->base, function, call_compiled);
    self->twin = twin;
    Py_INCREF(region);
    self->region = region;
    return (PyObject *)self;
}

PyObject *
dt_compiled_function_new(PyObject *function, DtRegion *region)
{
    PyObject *made = dt_compiled_function_hidden(function, region);
    /* Asked for by name, a dict would be made where the user's function has none yet. */
    PyObject *dict = ((PyFunctionObject *)function)->func_dict;
    PyObject *own = made == NULL ? NULL : dict != NULL ? PyDict_Copy(dict) : PyDict_New();
    if (own == NULL) {
        Py_XDECREF(made);
        return NULL;
    }
    ((PyFunctionObject *)made)->func_dict = own;
    if (PyDict_SetItemString(own, "__wrapped__", function) < 0
        || dt_adoption_prepare(made, own, (PyObject *)region) < 0) {
        Py_DECREF(made);
        return NULL;
    }
    return made;
}

static void
drop_parts(DtCompiledFunction *self)
{
    Py_CLEAR(self->framed_code);
    Py_CLEAR(self->framed);
    Py_CLEAR(self->driven);
    Py_CLEAR(self->twin);
    self->cache = NULL;
    Py_CLEAR(self->region);
}

static void
compiled_function_dealloc(PyObject *self)
{
    /* The function's own dealloc untracks, too; doing it twice is not allowed, so track again. */
    PyObject_GC_UnTrack(self);
    drop_parts((DtCompiledFunction *)self);
    PyObject_GC_Track(self);
    PyFunction_Type.tp_dealloc(self);
}

static int
compiled_function_traverse(PyObject *self, visitproc visit, void *arg)
{
    DtCompiledFunction *function = (DtCompiledFunction *)self;
    Py_VISIT(function->twin);
    Py_VISIT(function->region);
    Py_VISIT(function->framed);
    Py_VISIT(function->framed_code);
    Py_VISIT(function->driven);
    return PyFunction_Type.tp_traverse(self, visit, arg);
}

static int
compiled_function_clear(PyObject *self)
{
    /* The twin stays: a finaliser that runs during collection may still call this function, and the
     * twin's own tp_clear breaks its cycles. */
    DtCompiledFunction *function = (DtCompiledFunction *)self;
    Py_CLEAR(function->framed_code);
    Py_CLEAR(function->framed);
    Py_CLEAR(function->driven);
    return PyFunction_Type.tp_clear(self);
}

static PyObject *
compiled_function_reset(PyObject *self, PyObject *Py_UNUSED(ignored))
{
    dt_region_reset(((DtCompiledFunction *)self)->region);
    Py_RETURN_NONE;
}

static PyObject *
compiled_function_cache_entries(PyObject *self, PyObject *Py_UNUSED(ignored))
{
    return dt_cache_list(((DtCompiledFunction *)self)->cache);
}

static PyMethodDef compiled_function_methods[] = {
    DT_FUNCTION_SUBTYPE_METHODS,
    {"reset", compiled_function_reset, METH_NOARGS,
     "Forget everything compiled for this function and what it inlined."},
    {"cache_entries", compiled_function_cache_entries, METH_NOARGS, dt_cache_list_doc},
    {NULL, NULL, 0, NULL},
};

static PyMemberDef compiled_function_members[] = {
    {"__dyntrace_region__", T_OBJECT, offsetof(DtCompiledFunction, region), READONLY, NULL},
    DT_FUNCTION_SUBTYPE_DOC,
    {"__dyntrace_twin__", T_OBJECT, offsetof(DtCompiledFunction, twin), READONLY, NULL},
    {NULL, 0, 0, 0, NULL},
};

PyTypeObject DtCompiledFunction_Type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "dyntrace.CompiledFunction",
    .tp_basicsize = sizeof(DtCompiledFunction),
    .tp_base = &PyFunction_Type,
    .tp_dealloc = compiled_function_dealloc,
    .tp_traverse = compiled_function_traverse,
    .tp_clear = compiled_function_clear,
    .tp_call = PyVectorcall_Call,
    .tp_vectorcall_offset = offsetof(PyFunctionObject, vectorcall),
    .tp_methods = compiled_function_methods,
    .tp_members = compiled_function_members,
    .tp_flags = DT_FUNCTION_SUBTYPE_FLAGS,
};
