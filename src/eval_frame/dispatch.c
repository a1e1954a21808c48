/* See dispatch.h. */
#include "eval_frame/dispatch.h"

#include <string.h>

#include "codegen/result.h"
#include "compat/dying.h"
#include "compat/tracing.h"
#include "eval_frame/broken.h"
#include "eval_frame/compile.h"
#include "eval_frame/verify.h"

/* In the stress build every call is a long one, with registers on the heap. */
#ifdef DT_STRESS
#define ON_STACK 1
#else
#define ON_STACK DT_DISPATCH_STACK
#endif

/* Enough calls to judge, and the share (1/2^k) of calls that may replay. */
#define REPLAYS_BEFORE_JUDGING 16
#define REPLAY_SHARE_SHIFT 2
/* The same of calls in which a branch went another way than the entry's: what they cost in vain is
 * about four times what it costs to begin again behind the branch (broken.h). */
#define STRAYS_BEFORE_JUDGING 8
#define STRAY_SHARE_SHIFT 2

/* A branch goes another way than the entry's, as far as is known. */
static void
note_stray(DtEntry *entry)
{
    entry->strays++;
    entry->astray =
        entry->strays >= STRAYS_BEFORE_JUDGING && entry->strays > entry->hits >> STRAY_SHARE_SHIFT;
}

void
dt_dispatch_replayed(DtEntry *entry)
{
    if (entry->guesses > 0) {
        note_stray(entry);
        return;
    }
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
    else if (entry->target == segment->site->quick
             || dt_driver_reserve(segment->site, entry->target, &ticket) == DT_OK) {
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
        if (dt_land_is_return(entry->target)) {
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
        ran = entry->executable->type->run(entry->executable, held, outputs);
    }
    DtDispatch found = DT_DISPATCH_DONE;
    if (DT_LIKELY(ran == DT_RUN_OK)) {
        if (DT_UNLIKELY(segment != NULL)) {
            found = finish_segment(entry, frame, segment, outputs, loads, answer);
        }
        else if (DT_LIKELY(entry->result->single)) {
            *answer = outputs[0];
        }
        else {
            DtRunFrame run = {.globals = frame->globals};
            *answer = dt_result_run(entry->result, outputs, loads, &run);
            if (*answer == NULL) {
                found = DT_DISPATCH_ERROR;
            }
        }
    }
    else if (ran == DT_RUN_OTHER_WAY || (ran == DT_RUN_REPLAY && entry->guesses > 0)) {
        note_stray(entry);
        found = ran == DT_RUN_REPLAY ? DT_DISPATCH_STRAY : DT_DISPATCH_MISS;
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
    if (segment != NULL && entry->target != segment->site->quick
        && !dt_driver_reaches(segment->site, entry->target)) {
        return DT_DISPATCH_PLAIN; /* the next driver can */
    }
    if (entry->result == NULL) {
        Py_INCREF(entry);
        *framed = entry;
        return DT_DISPATCH_FRAME;
    }
    return run_kernel(entry, frame, segment, regs, answer);
}

DtDispatch
dt_dispatch_run(DtEntry *entry, const DtGuardFrame *frame, const DtSegmentCall *segment,
                PyObject **regs, DtEntry **framed, PyObject **answer)
{
    return run_entry(entry, frame, segment, regs, framed, answer);
}

/* The places of a segment that were unbound, or a callable's NULL, when it was traced; and those
 * that were not, and were read. */
static inline bool
are_bound_alike(const DtEntry *entry, const DtGuardFrame *frame)
{
    for (uint32_t i = 0; i < entry->nulls.count; i++) {
        if (frame->locals[entry->nulls.items[i]] != NULL) {
            return false;
        }
    }
    for (uint32_t i = 0; i < entry->bounds.count; i++) {
        if (frame->locals[entry->bounds.items[i]] == NULL) {
            return false;
        }
    }
    for (uint32_t i = 0; i < entry->overwritten.count; i++) {
        PyObject *value = frame->locals[entry->overwritten.items[i]];
        if (value != NULL && !dt_dying_is_quiet(value, NULL)) {
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

/* ---- Which entry ----------------------------------------------------------------------------- */

#define MOST_SELECTED 1024 /* entries beyond these are asked one by one */

/* Makes the selector for the entries as they are.  Of one that is dead, what it held weakly may not
 * be looked at any more. */
static void __attribute__((noinline))
refresh_selector(DtCodeCache *cache)
{
    DtGuardProgram *programs[MOST_SELECTED];
    uint32_t count = 0;
    for (DtEntry *entry = cache->entries; entry != NULL && count < MOST_SELECTED;
         entry = entry->next) {
        if (!dt_program_is_dead(entry->guards)) {
            programs[count++] = entry->guards;
        }
    }
    dt_selector_free(cache->selector);
    cache->selector = dt_selector_new(programs, count);
    cache->selects = cache->version;
}

/* A call that looks for its entry. */
typedef struct Search {
    DtCodeCache *cache;
    const DtGuardFrame *frame;
    const DtSegmentCall *segment;
    PyObject **regs;
    DtEntry **framed;
    PyObject **answer;
    uint32_t version; /* of the cache when the search began */
    bool strayed;     /* an entry's run was dropped, it is not known why */
} Search;

/* DT_DISPATCH_MISS: this entry's guards do not hold, or a branch goes another way. */
static inline DtDispatch
ask_entry(Search *search, DtEntry *entry)
{
    Py_INCREF(entry); /* a Python adapter's guard may run anything, reset() included */
    int holds = !entry->astray && are_bound_alike(entry, search->frame)
                    ? dt_program_check(entry->guards, search->frame, search->regs)
                    : 0;
    DtDispatch found = DT_DISPATCH_MISS;
    if (DT_LIKELY(holds > 0)) {
        found = DT_UNLIKELY(dt_state.verify.on)
                    ? dt_verify_call(search->cache, entry, search->frame, search->segment,
                                     search->regs, search->framed, search->answer)
                    : run_entry(entry, search->frame, search->segment, search->regs, search->framed,
                                search->answer);
        search->strayed |= found == DT_DISPATCH_STRAY;
        if (found == DT_DISPATCH_STRAY || found == DT_DISPATCH_MISS) {
            found =
                search->version != search->cache->version ? DT_DISPATCH_PLAIN : DT_DISPATCH_MISS;
        }
    }
    else if (holds < 0) {
        found = DT_DISPATCH_ERROR;
    }
    else {
        entry->misses++;
        if (DT_UNLIKELY(search->version != search->cache->version)) {
            found = DT_DISPATCH_PLAIN; /* the list changed under us: this call runs plainly */
        }
    }
    Py_DECREF(entry);
    return found;
}

/* One after the other. */
static DtDispatch
ask_all(Search *search, const DtEntry *asked, uint64_t key)
{
    DtCodeCache *cache = search->cache;
    DtEntry *dead = NULL;
    for (DtEntry **link = &cache->entries; *link != NULL; link = &(*link)->next) {
        DtEntry *entry = *link;
        uint64_t hits = entry->hits;
        DtDispatch found = entry != asked ? ask_entry(search, entry) : DT_DISPATCH_MISS;
        if (found == DT_DISPATCH_MISS) {
            dead = dt_program_is_dead(entry->guards) ? entry : dead;
            continue;
        }
        /* What it ran may have changed the list.  Of entries that differ in the way a branch goes,
         * the one that serves most calls is the first. */
        if (search->version == cache->version && entry->hits != hits
            && (entry->guesses == 0 || asked == NULL
                || entry->hits - entry->strays > asked->hits - asked->strays)) {
            if (key != 0) {
                dt_selector_put(cache->selector, key, entry);
            }
            else if (link != &cache->entries && *link == entry) {
                move_to_front(cache, link);
            }
        }
        return found;
    }
    if (DT_UNLIKELY(dead != NULL)) {
        dt_cache_retire(cache, dead);
    }
    return DT_DISPATCH_MISS;
}

static DtDispatch
ask_selected(Search *search)
{
    DtCodeCache *cache = search->cache;
    if (DT_UNLIKELY(cache->selects != cache->version)) {
        refresh_selector(cache);
    }
    if (cache->selector == NULL) {
        return ask_all(search, NULL, 0);
    }
    uint64_t key = dt_selector_key(cache->selector, search->frame);
    DtEntry *entry = dt_selector_get(cache->selector, key);
    if (DT_LIKELY(entry != NULL)) {
        DtDispatch found = ask_entry(search, entry);
        if (DT_LIKELY(found != DT_DISPATCH_MISS)) {
            return found;
        }
    }
    return ask_all(search, entry, key);
}

/* What the newest entry does not serve. */
static DtDispatch __attribute__((noinline))
find_further(Search *search, DtEntry *newest)
{
    return search->cache->nentries > 1 ? ask_selected(search) : ask_all(search, newest, 0);
}

static inline DtDispatch
find(DtCodeCache *cache, const DtGuardFrame *frame, const DtSegmentCall *segment, PyObject **regs,
     DtEntry **framed, PyObject **answer)
{
    Search search = {cache, frame, segment, regs, framed, answer, cache->version, false};
    DtEntry *newest = NULL;
    if (DT_LIKELY(cache->nentries == 1)) {
        newest = cache->entries;
        DtDispatch found = ask_entry(&search, newest);
        if (DT_LIKELY(found != DT_DISPATCH_MISS)) {
            return found;
        }
    }
    DtDispatch found = find_further(&search, newest);
    return found == DT_DISPATCH_MISS && search.strayed ? DT_DISPATCH_PLAIN : found;
}

/* More registers than fit the C stack. */
static DtDispatch __attribute__((noinline))
find_on_heap(DtCodeCache *cache, const DtGuardFrame *frame, const DtSegmentCall *segment,
             DtEntry **framed, PyObject **answer)
{
    PyObject **regs = PyMem_New(PyObject *, cache->max_regs);
    if (regs == NULL) {
        PyErr_NoMemory();
        return DT_DISPATCH_ERROR;
    }
    DtDispatch found = find(cache, frame, segment, regs, framed, answer);
    PyMem_Free(regs);
    return found;
}

DtDispatch
dt_dispatch_find(DtCodeCache *cache, const DtGuardFrame *frame, const DtSegmentCall *segment,
                 DtEntry **framed, PyObject **answer)
{
    PyObject *regs[ON_STACK];
    if (cache->entries == NULL) {
        return DT_DISPATCH_MISS;
    }
    if (DT_UNLIKELY(cache->max_regs > ON_STACK)) {
        return find_on_heap(cache, frame, segment, framed, answer);
    }
    return find(cache, frame, segment, regs, framed, answer);
}

DtDispatch
dt_dispatch_compile(DtCodeCache *cache, const DtGuardFrame *frame, const DtSegmentCall *segment,
                    DtEntry **entry, PyObject **answer)
{
    DtCompile compiled = segment != NULL
                             ? dt_compile_segment(dt_broken_point_of(cache), segment->site, frame)
                             : dt_compile_attempt(cache, frame);
    return compiled == DT_COMPILE_PUBLISHED ? dt_dispatch_find(cache, frame, segment, entry, answer)
           : compiled == DT_COMPILE_ERROR   ? DT_DISPATCH_ERROR
                                            : DT_DISPATCH_MISS;
}
