/* See region.h: life and death of regions, caches and entries. */
#include "eval_frame/region.h"

#include <string.h>

#include "compat/code.h"
#include "core/clock.h"
#include "eval_frame/broken.h"
#include "eval_frame/resting.h"
#include "eval_frame/verify.h"

static void
entry_clear_parts(DtEntry *entry)
{
    DtGuardProgram *guards = entry->guards;
    DtExecutable *executable = entry->executable;
    DtResultProgram *result = entry->result;
    entry->guards = NULL;
    entry->executable = NULL;
    entry->result = NULL;
    if (guards != NULL) {
        dt_program_free(guards);
    }
    if (entry->lent != NULL) {
        dt_executable_take_back(entry->lent);
        Py_CLEAR(entry->lent);
    }
    if (executable != NULL) {
        dt_executable_decref(executable);
    }
    if (result != NULL) {
        dt_result_free(result);
    }
    Py_CLEAR(entry->code);
    Py_CLEAR(entry->inlined);
}

static void
entry_dealloc(PyObject *self)
{
    DtEntry *entry = (DtEntry *)self;
    PyObject_GC_UnTrack(self);
    entry_clear_parts(entry);
    PyMem_Free(entry->input_regs);
    PyMem_Free(entry->load_regs);
    PyMem_Free(entry->nulls.items);
    PyMem_Free(entry->bounds.items);
    PyMem_Free(entry->overwritten.items);
    Py_CLEAR(entry->next);
    Py_TYPE(self)->tp_free(self);
}

static int
entry_traverse(PyObject *self, visitproc visit, void *arg)
{
    DtEntry *entry = (DtEntry *)self;
    Py_VISIT(entry->next);
    Py_VISIT(entry->lent);
    Py_VISIT(entry->code);
    Py_VISIT(entry->inlined);
    if (entry->guards != NULL) {
        int stop = dt_program_traverse(entry->guards, visit, arg);
        if (stop) {
            return stop;
        }
    }
    if (entry->executable != NULL) {
        int stop = dt_executable_traverse(entry->executable, visit, arg);
        if (stop) {
            return stop;
        }
    }
    return entry->result != NULL ? dt_result_traverse(entry->result, visit, arg) : 0;
}

PyTypeObject DtEntry_Type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "dyntrace._core.Entry",
    .tp_basicsize = sizeof(DtEntry),
    .tp_dealloc = entry_dealloc,
    .tp_traverse = entry_traverse,
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .tp_doc = "One compiled version of a code object.",
};

DtCodeCache *
dt_region_cache(DtRegion *region, PyCodeObject *code)
{
    DtCodeCache *cache = dt_map_get(&region->by_code, code);
    if (cache != NULL) {
        return cache;
    }
    cache = DT_ARENA_NEW(&region->arena, DtCodeCache);
    if (cache == NULL || dt_map_set(&region->arena, &region->by_code, code, cache) < 0) {
        PyErr_NoMemory();
        return NULL;
    }
    Py_INCREF(code);
    cache->code = code;
    cache->region = region;
    cache->refusing = -1;
    cache->nargs = dt_code_argument_slots(code);
    cache->simple = cache->nargs == dt_code_argcount(code);
    cache->next = region->caches;
    region->caches = cache;
    return cache;
}

PyObject *
dt_cache_row(const DtCodeCache *cache, int line, PyObject *more)
{
    PyObject *row = NULL;
    if (more != NULL) {
        row = Py_BuildValue("{s:O,s:O,s:i}", "function", dt_code_qualname(cache->code), "file",
                            dt_code_filename(cache->code), "line",
                            line >= 0 ? line : dt_code_firstlineno(cache->code));
    }
    if (row != NULL && PyDict_Update(row, more) < 0) {
        Py_CLEAR(row);
    }
    Py_XDECREF(more);
    return row;
}

PyObject *
dt_cache_forsaken_row(const DtCodeCache *cache, int line)
{
    return dt_cache_row(cache, line,
                        Py_BuildValue("{s:O,s:L,s:L}", "part", cache->point ? Py_True : Py_False,
                                      "compiled_ns",
                                      (long long)cache->scale.medians[DT_SIDE_COMPILED], "plain_ns",
                                      (long long)cache->scale.medians[DT_SIDE_PLAIN]));
}

void
dt_cache_publish(DtCodeCache *cache, DtEntry *entry)
{
    entry->made_ns = dt_clock_ns();
    entry->next = cache->entries;
    if (entry->nregs > cache->max_regs) {
        cache->max_regs = entry->nregs;
    }
    cache->nentries++;
    cache->made++;
    cache->version++;
    __atomic_store_n(&cache->entries, entry, __ATOMIC_RELEASE);
    dt_state.compiled++;
}

void
dt_cache_retire(DtCodeCache *cache, DtEntry *entry)
{
    for (DtEntry **link = &cache->entries; *link != NULL; link = &(*link)->next) {
        if (*link == entry) {
            *link = entry->next;
            entry->next = NULL;
            cache->nentries--;
            cache->version++;
            Py_DECREF(entry);
            return;
        }
    }
}

void
dt_cache_reset(DtCodeCache *cache)
{
    if (cache->broken != NULL) {
        dt_broken_reset(cache->broken);
    }
    DtEntry *entry = cache->entries;
    cache->entries = NULL;
    cache->nentries = 0;
    cache->version++;
    dt_selector_free(cache->selector);
    cache->selector = NULL;
    cache->failures = 0;
    cache->closed = false;
    cache->judged = false;
    cache->root = (DtRootRuns){0};
    cache->budget_ns = 0;
    cache->misses = 0;
    cache->made = 0;
    Py_CLEAR(cache->varied);
    Py_CLEAR(cache->specialised);
    Py_CLEAR(cache->opened);
    memset(&cache->scale, 0, sizeof(cache->scale));
    cache->spent_ns = cache->tried_ns = 0;
    cache->skips = cache->put_off = 0;
    cache->idle = cache->rests = 0;
    cache->idle_until_ns = 0;
    cache->verify.quarantined = false;
    while (entry != NULL) { /* one by one: a long chain must not recurse */
        DtEntry *next = entry->next;
        entry->next = NULL;
        Py_DECREF(entry);
        entry = next;
    }
}

void
dt_region_reset(DtRegion *region)
{
    for (DtCodeCache *cache = region->caches; cache != NULL; cache = cache->next) {
        dt_cache_reset(cache);
    }
}

void
dt_region_reset_all(void)
{
    dt_resting_wake(INT64_MAX);
    /* Releasing entries can run anything, the end of regions included: both neighbours are held. */
    DtRegion *region = dt_state.regions;
    Py_XINCREF(region);
    while (region != NULL) {
        dt_region_reset(region);
        DtRegion *next = region->next_region;
        Py_XINCREF(next);
        Py_DECREF(region);
        region = next;
    }
}

int
dt_region_load_numpy(void)
{
#if DYNTRACE_HAVE_NUMPY
    return dt_adapter_by_name("numpy") != NULL           ? 0
           : dt_numpy_init() < 0 || dt_native_init() < 0 ? -1
                                                         : 0;
#else
    return 0;
#endif
}

static PyObject *
region_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"backend", "fullgraph", "dynamic", "name",
                            "options", "record",    "quiet",   NULL};
    PyObject *backend, *dynamic = Py_None, *name = Py_None, *options = Py_None;
    int fullgraph = 0, record = 0, quiet = 0;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|pOOOpp:Region", names, &backend, &fullgraph,
                                     &dynamic, &name, &options, &record, &quiet)
        || (!quiet && dt_region_load_numpy() < 0)) {
        return NULL;
    }
    DtRegion *region = (DtRegion *)type->tp_alloc(type, 0);
    if (region == NULL) {
        return NULL;
    }
    Py_INCREF(backend);
    region->backend = backend;
    Py_INCREF(name);
    region->name = name;
    Py_INCREF(options);
    region->options = options;
    region->fullgraph = fullgraph;
    region->quiet = quiet;
    region->dynamic = dynamic == Py_None ? -1 : PyObject_IsTrue(dynamic);
    region->next_region = dt_state.regions;
    if (dt_state.regions != NULL) {
        dt_state.regions->previous = region;
    }
    dt_state.regions = region;
    if (record) {
        region->records = PyList_New(0);
    }
    if ((record && region->records == NULL) || (region->dynamic < 0 && dynamic != Py_None)) {
        Py_DECREF(region);
        return NULL;
    }
    return (PyObject *)region;
}

static int
region_traverse(PyObject *self, visitproc visit, void *arg)
{
    DtRegion *region = (DtRegion *)self;
    for (DtCodeCache *cache = region->caches; cache != NULL; cache = cache->next) {
        Py_VISIT(cache->code);
        Py_VISIT(cache->entries);
        if (cache->broken != NULL) {
            int stop = dt_broken_traverse(cache->broken, visit, arg);
            if (stop) {
                return stop;
            }
        }
    }
    Py_VISIT(region->backend);
    Py_VISIT(region->options);
    Py_VISIT(region->records);
    return 0;
}

static int
region_clear(PyObject *self)
{
    DtRegion *region = (DtRegion *)self;
    dt_region_reset(region);
    Py_CLEAR(region->backend);
    Py_CLEAR(region->options);
    Py_CLEAR(region->records);
    return 0;
}

static void
region_dealloc(PyObject *self)
{
    DtRegion *region = (DtRegion *)self;
    PyObject_GC_UnTrack(self);
    if (region->previous != NULL) {
        region->previous->next_region = region->next_region;
    }
    else if (dt_state.regions == region) {
        dt_state.regions = region->next_region;
    }
    if (region->next_region != NULL) {
        region->next_region->previous = region->previous;
    }
    region_clear(self);
    Py_CLEAR(region->name);
    while (region->caches != NULL) {
        DtCodeCache *cache = region->caches;
        region->caches = cache->next;
        if (cache->broken != NULL) {
            dt_broken_release(cache->broken);
        }
        Py_DECREF(cache->code);
    }
    dt_arena_release(&region->arena);
    Py_TYPE(self)->tp_free(self);
}

static PyObject *
region_reset(PyObject *self, PyObject *Py_UNUSED(ignored))
{
    dt_region_reset((DtRegion *)self);
    Py_RETURN_NONE;
}

static PyObject *
region_reduce(PyObject *self, PyObject *Py_UNUSED(ignored))
{
    DtRegion *region = (DtRegion *)self;
    PyObject *dynamic = region->dynamic < 0 ? Py_None : region->dynamic ? Py_True : Py_False;
    return Py_BuildValue("O(OOOOO)", Py_TYPE(self), region->backend,
                         region->fullgraph ? Py_True : Py_False, dynamic, region->name,
                         region->options);
}

/* Appends the cache if it is forsaken; `at`: of a point, the line. */
static int
append_forsaken(PyObject *list, const DtCodeCache *cache, int at)
{
    PyObject *row = dt_scale_is_forsaken(&cache->scale) ? dt_cache_forsaken_row(cache, at) : NULL;
    int failed = row != NULL ? PyList_Append(list, row) : PyErr_Occurred() ? -1 : 0;
    Py_XDECREF(row);
    return failed;
}

static PyObject *
region_forsaken(PyObject *self, PyObject *Py_UNUSED(ignored))
{
    PyObject *list = PyList_New(0);
    int failed = list == NULL ? -1 : 0;
    for (DtCodeCache *cache = ((DtRegion *)self)->caches; cache != NULL && !failed;
         cache = cache->next) {
        failed = append_forsaken(list, cache, -1);
        for (uint32_t i = 0; cache->broken != NULL && i < cache->broken->list.count && !failed;
             i++) {
            const DtPoint *point = cache->broken->list.items[i];
            failed = append_forsaken(list, &point->cache,
                                     cache->broken->bytecode->instrs[point->at].line);
        }
    }
    if (failed) {
        Py_CLEAR(list);
    }
    return list;
}

static PyMethodDef region_methods[] = {
    {"verified", dt_verify_list_region, METH_NOARGS,
     "What verify mode has found of the region's functions: a list of dicts."},
    {"forsaken", region_forsaken, METH_NOARGS,
     "A list of dicts, one per function or part of one that runs plainly because that was "
     "measured\n"
     "to be as fast: function, file, line, part (bool), compiled_ns, plain_ns."},
    {"__reduce__", region_reduce, METH_NOARGS, NULL},
    {"reset", region_reset, METH_NOARGS, "Forget everything compiled in this region."},
    {NULL, NULL, 0, NULL},
};

static PyMemberDef region_members[] = {
    {"backend", T_OBJECT, offsetof(DtRegion, backend), READONLY, "name or callable"},
    {"options", T_OBJECT, offsetof(DtRegion, options), READONLY, "dict or None"},
    {"name", T_OBJECT, offsetof(DtRegion, name), READONLY, "str or None"},
    {"fullgraph", T_BOOL, offsetof(DtRegion, fullgraph), READONLY, "raise at a graph break"},
    {"records", T_OBJECT, offsetof(DtRegion, records), READONLY, "compile records, or None"},
    {NULL, 0, 0, 0, NULL},
};

PyTypeObject DtRegion_Type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "dyntrace._core.Region",
    .tp_basicsize = sizeof(DtRegion),
    .tp_new = region_new,
    .tp_dealloc = region_dealloc,
    .tp_traverse = region_traverse,
    .tp_clear = region_clear,
    .tp_methods = region_methods,
    .tp_members = region_members,
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
    .tp_doc = "One compile request: backend, options and everything compiled for it.",
};
