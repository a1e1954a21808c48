/* See dispatch.h. */
#include "eval_frame/dispatch.h"

#include <string.h>

#include "compat/tracing.h"

/* In the stress build every call is a long one, with registers on the heap. */
#ifdef DT_STRESS
#define ON_STACK 1
#else
#define ON_STACK DT_DISPATCH_STACK
#endif

/* Enough calls to judge, and the share (1/2^k) of calls that may replay. */
#define REPLAYS_BEFORE_JUDGING 16
#define REPLAY_SHARE_SHIFT 2

void
dt_dispatch_replayed(DtEntry *entry)
{
    entry->replays++;
    if (entry->replays >= REPLAYS_BEFORE_JUDGING
        && entry->replays > entry->hits >> REPLAY_SHARE_SHIFT) {
        entry->plain = true;
    }
}

/* The segment's effects, what it changes in the frame, and how the frame goes on. */
static DtDispatch
finish_segment(DtEntry *entry, const DtGuardFrame *frame, const DtSegmentCall *segment,
               PyObject **outputs, PyObject *const *loads, PyObject **answer)
{
    PyObject *few[ON_STACK];
    PyObject **landing = few;
    PyObject *ticket = NULL, *done = NULL;
    if (entry->npushed + 1 > ON_STACK) {
        landing = PyMem_New(PyObject *, entry->npushed + 1);
    }
    if (landing == NULL) {
        PyErr_NoMemory();
    }
    else if (dt_driver_reserve(segment->site, entry->target, &ticket) == DT_OK) {
        DtRunFrame run = {frame->globals, segment->memory, landing};
        done = dt_result_run(entry->result, outputs, loads, &run);
    }
    if (done == NULL) {
        Py_XDECREF(ticket);
        for (uint32_t i = 0; entry->executable != NULL && i < entry->executable->noutputs; i++) {
            Py_CLEAR(outputs[i]);
        }
    }
    else {
        if (entry->target == DT_LAND_RETURN) {
            landing[0] = done;
        }
        else {
            Py_DECREF(done);
        }
        *answer = dt_driver_land(segment->site, segment->frame, entry->target, landing, ticket);
    }
    if (landing != few) {
        PyMem_Free(landing);
    }
    return done != NULL ? DT_DISPATCH_DONE : DT_DISPATCH_ERROR;
}

/* Everything that has to stay alive while the entry runs is held: the caller keeps its arguments,
 * but an array behind a global or an attribute can be let go of by anything that runs meanwhile. */
static DtDispatch
run_kernel(DtEntry *entry, const DtGuardFrame *frame, const DtSegmentCall *segment, PyObject **regs,
           PyObject **answer)
{
    PyObject *few[ON_STACK * 2];
    uint32_t noutputs = entry->executable != NULL ? entry->executable->noutputs : 0;
    uint32_t nheld = entry->ninputs + entry->nloads;
    PyObject **held = few;
    if (nheld + noutputs > ON_STACK * 2) {
        held = PyMem_New(PyObject *, nheld + noutputs);
        if (held == NULL) {
            PyErr_NoMemory();
            return DT_DISPATCH_ERROR;
        }
    }
    PyObject **loads = held + entry->ninputs;
    PyObject **outputs = held + nheld;
    for (uint32_t i = 0; i < entry->ninputs; i++) {
        held[i] = regs[entry->input_regs[i]];
        Py_INCREF(held[i]);
    }
    for (uint32_t i = 0; i < entry->nloads; i++) {
        loads[i] = regs[entry->load_regs[i]];
        Py_INCREF(loads[i]);
    }
    DtRun ran = DT_RUN_OK;
    if (entry->executable != NULL) {
        memset(outputs, 0, sizeof(PyObject *) * noutputs);
        ran = entry->executable->type->run(entry->executable, held, outputs);
    }
    DtDispatch found = DT_DISPATCH_DONE;
    if (DT_LIKELY(ran == DT_RUN_OK)) {
        if (DT_UNLIKELY(segment != NULL)) {
            found = finish_segment(entry, frame, segment, outputs, loads, answer);
        }
        else {
            DtRunFrame run = {.globals = frame->globals};
            *answer = dt_result_run(entry->result, outputs, loads, &run);
            if (*answer == NULL) {
                found = DT_DISPATCH_ERROR;
            }
        }
    }
    else if (ran == DT_RUN_REPLAY) {
        dt_dispatch_replayed(entry);
        found = DT_DISPATCH_PLAIN;
    }
    else {
        found = DT_DISPATCH_ERROR;
    }
    for (uint32_t i = 0; i < nheld; i++) {
        Py_DECREF(held[i]);
    }
    if (held != few) {
        PyMem_Free(held);
    }
    return found;
}

/* Does a tool ask for events of a function that was traced into?  The root's own code was looked at
 * before the call came here. */
static bool
watches_inlined(const DtEntry *entry)
{
    Py_ssize_t count = PyTuple_GET_SIZE(entry->inlined);
    for (Py_ssize_t i = 1; i < count; i++) {
        if (dt_tracing_code_is_watched((PyCodeObject *)PyTuple_GET_ITEM(entry->inlined, i))) {
            return true;
        }
    }
    return false;
}

static DtDispatch
run_entry(DtEntry *entry, const DtGuardFrame *frame, const DtSegmentCall *segment, PyObject **regs,
          DtEntry **framed, PyObject **answer)
{
    entry->hits++;
    if (DT_UNLIKELY(entry->plain || watches_inlined(entry))) {
        return DT_DISPATCH_PLAIN;
    }
    if (segment != NULL && !dt_driver_reaches(segment->site, entry->target)) {
        return DT_DISPATCH_PLAIN; /* the next driver can */
    }
    if (entry->result == NULL) {
        Py_INCREF(entry);
        *framed = entry;
        return DT_DISPATCH_FRAME;
    }
    return run_kernel(entry, frame, segment, regs, answer);
}

/* The places of a segment that were unbound, or a callable's NULL, when it was traced. */
static inline bool
are_null(const DtEntry *entry, const DtGuardFrame *frame)
{
    for (uint32_t i = 0; i < entry->nnulls; i++) {
        if (frame->locals[entry->nulls[i]] != NULL) {
            return false;
        }
    }
    return true;
}

static void
move_to_front(DtCodeCache *cache, DtEntry **link)
{
    DtEntry *entry = *link;
    *link = entry->next;
    entry->next = cache->entries;
    cache->entries = entry;
}

DtDispatch
dt_dispatch_find(DtCodeCache *cache, const DtGuardFrame *frame, const DtSegmentCall *segment,
                 DtEntry **framed, PyObject **answer)
{
    PyObject *few[ON_STACK];
    PyObject **regs = few;
    if (DT_UNLIKELY(cache->max_regs > ON_STACK)) {
        regs = PyMem_New(PyObject *, cache->max_regs);
        if (regs == NULL) {
            PyErr_NoMemory();
            return DT_DISPATCH_ERROR;
        }
    }
    DtDispatch found = DT_DISPATCH_MISS;
    DtEntry *dead = NULL;
    uint32_t version = cache->version;
    for (DtEntry **link = &cache->entries; *link != NULL; link = &(*link)->next) {
        DtEntry *entry = *link;
        Py_INCREF(entry); /* a Python adapter's guard may run anything, reset() included */
        int holds = are_null(entry, frame) ? dt_program_check(entry->guards, frame, regs) : 0;
        if (DT_LIKELY(holds > 0)) {
            if (DT_UNLIKELY(link != &cache->entries && version == cache->version)) {
                move_to_front(cache, link);
            }
            found = run_entry(entry, frame, segment, regs, framed, answer);
            Py_DECREF(entry);
            break;
        }
        entry->misses++;
        bool is_dead = dt_program_is_dead(entry->guards);
        Py_DECREF(entry);
        if (holds < 0) {
            found = DT_DISPATCH_ERROR;
            break;
        }
        if (DT_UNLIKELY(version != cache->version)) {
            found = DT_DISPATCH_PLAIN; /* the list changed under us: this call runs plainly */
            break;
        }
        if (DT_UNLIKELY(is_dead)) {
            dead = entry;
        }
    }
    if (regs != few) {
        PyMem_Free(regs);
    }
    if (DT_UNLIKELY(dead != NULL && found == DT_DISPATCH_MISS)) {
        dt_cache_retire(cache, dead);
    }
    return found;
}
