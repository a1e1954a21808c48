/* Sources: interned descriptions of where a value came from.
 *
 * Invariant: equal sources of one trace are the same pointer; a source is
 * synthetic if it or a source that it is read by is.  Keys are kept by the trace.
 *
 * Not in here: reading a source (guards) and loading it (codegen).
 */
#include "variables/source.h"

#include <string.h>

#include "variables/kinds.h"
#include "variables/trace.h"

static const char *const operations[] = {
#define SYM_OP(NAME, ARITY, TEXT) TEXT,
#include "variables/numbers/sym_ops.def"
#undef SYM_OP
};

/* What the interning table holds; sources with one hash form a chain. */
typedef struct SourceNode {
    DtSource source;
    struct SourceNode *next;
} SourceNode;

static const char *const formats[DT_SOURCE_COUNT] = {
#define SOURCE(NAME, TEXT) TEXT,
#include "variables/sources.def"
#undef SOURCE
};

/* Keys of these types are compared by value, all others by identity; none runs user code. */
static bool
key_has_value(PyObject *key)
{
    return PyUnicode_CheckExact(key) || PyLong_CheckExact(key) || PyBytes_CheckExact(key);
}

static bool
same_key(PyObject *a, PyObject *b)
{
    if (a == b) {
        return true;
    }
    if (a == NULL || b == NULL || Py_TYPE(a) != Py_TYPE(b) || !key_has_value(a)) {
        return false;
    }
    return PyObject_RichCompareBool(a, b, Py_EQ) == 1;
}

static uint32_t
hash_source(DtSourceKind kind, const DtSource *base, const DtSource *at, PyObject *key,
            int64_t index)
{
    uint64_t hash = (uint64_t)kind * UINT64_C(0x9E3779B97F4A7C15);
    hash = (hash ^ (uintptr_t)base) * UINT64_C(0xBF58476D1CE4E5B9);
    hash = (hash ^ (uint64_t)index) * UINT64_C(0x94D049BB133111EB);
    hash = (hash ^ (uintptr_t)at) * UINT64_C(0x9E3779B97F4A7C15);
    if (key != NULL) {
        /* The types that have a value here always hash. */
        uint64_t part = key_has_value(key) ? (uint64_t)PyObject_Hash(key) : (uintptr_t)key;
        hash = (hash ^ part) * UINT64_C(0x9E3779B97F4A7C15);
    }
    return (uint32_t)(hash >> 32) | 1u;
}

static const DtSource *
intern(DtTrace *trace, DtSourceKind kind, const DtSource *base, const DtSource *at, PyObject *key,
       int64_t index)
{
    uint32_t hash = hash_source(kind, base, at, key, index);
    const void *map_key = (const void *)(uintptr_t)hash;
    SourceNode *first = dt_map_get(&trace->sources, map_key);
    for (SourceNode *node = first; node != NULL; node = node->next) {
        const DtSource *found = &node->source;
        if (found->kind == kind && found->base == base && found->at == at && found->index == index
            && same_key(found->key, key)) {
            return found;
        }
    }
    if (key != NULL && dt_trace_keep(trace, key) != DT_OK) {
        return NULL;
    }
    SourceNode *node = DT_ARENA_NEW(&trace->arena, SourceNode);
    if (node == NULL) {
        PyErr_NoMemory();
        return NULL;
    }
    node->source.kind = (uint8_t)kind;
    node->source.synthetic = kind == DT_SOURCE_SYNTHETIC || (base != NULL && base->synthetic)
                             || (at != NULL && at->synthetic);
    node->source.id = trace->source_count++;
    node->source.hash = hash;
    node->source.index = index;
    node->source.key = key;
    node->source.base = base;
    node->source.at = at;
    node->next = first;
    if (dt_map_set(&trace->arena, &trace->sources, map_key, node) < 0) {
        PyErr_NoMemory();
        return NULL;
    }
    return &node->source;
}

const DtSource *
dt_source_get(DtTrace *trace, DtSourceKind kind, const DtSource *base, PyObject *key, int64_t index)
{
    return intern(trace, kind, base, NULL, key, index);
}

/* Names of the lowest positions, made once: every segment needs some. */
enum { KNOWN_POSITIONS = 16 };

PyObject *
dt_source_stack_name(DtTrace *trace, int position)
{
    static PyObject *known[KNOWN_POSITIONS];
    if (position < KNOWN_POSITIONS && known[position] != NULL) {
        return dt_trace_keep(trace, known[position]) == DT_OK ? known[position] : NULL;
    }
    PyObject *name = PyUnicode_FromFormat("stack %d", position);
    if (position < KNOWN_POSITIONS) {
        known[position] = Py_XNewRef(name);
    }
    return dt_trace_keep_take(trace, name);
}

bool
dt_source_is_stack(const DtSource *source)
{
    return source != NULL && source->kind == DT_SOURCE_LOCAL
           && strncmp(dt_kinds_text(source->key), "stack ", 6) == 0; /* no name has a blank */
}

const DtSource *
dt_source_local(DtTrace *trace, int slot, PyObject *name)
{
    return dt_source_get(trace, DT_SOURCE_LOCAL, NULL, name, slot);
}

const DtSource *
dt_source_local_deref(DtTrace *trace, int slot, PyObject *name)
{
    return dt_source_get(trace, DT_SOURCE_LOCAL_DEREF, NULL, name, slot);
}

const DtSource *
dt_source_global(DtTrace *trace, PyObject *name)
{
    return dt_source_get(trace, DT_SOURCE_GLOBAL, NULL, name, 0);
}

const DtSource *
dt_source_builtin(DtTrace *trace, PyObject *name)
{
    return dt_source_get(trace, DT_SOURCE_BUILTIN, NULL, name, 0);
}

const DtSource *
dt_source_attr(DtTrace *trace, const DtSource *base, PyObject *name)
{
    return dt_source_get(trace, DT_SOURCE_ATTR, base, name, 0);
}

const DtSource *
dt_source_item(DtTrace *trace, const DtSource *base, PyObject *key)
{
    return dt_source_get(trace, DT_SOURCE_ITEM, base, key, 0);
}

const DtSource *
dt_source_index(DtTrace *trace, const DtSource *base, int64_t index)
{
    return dt_source_get(trace, DT_SOURCE_INDEX, base, NULL, index);
}

const DtSource *
dt_source_by_two(DtTrace *trace, DtSourceKind kind, const DtSource *base, const DtSource *at,
                 int64_t index)
{
    return intern(trace, kind, base, at, NULL, index);
}

bool
dt_source_has_two(int kind)
{
    return kind == DT_SOURCE_PICKED || kind == DT_SOURCE_COMPUTED || kind == DT_SOURCE_PAIR;
}

bool
dt_source_computes(int64_t op)
{
    switch (op) {
    case DT_SYM_OP_ADD:
    case DT_SYM_OP_SUB:
    case DT_SYM_OP_MUL:
    case DT_SYM_OP_FLOORDIV:
    case DT_SYM_OP_MOD:
    case DT_SYM_OP_MIN:
    case DT_SYM_OP_MAX:
    case DT_SYM_OP_BITAND:
    case DT_SYM_OP_BITOR:
    case DT_SYM_OP_BITXOR:
    case DT_SYM_OP_LSHIFT:
    case DT_SYM_OP_RSHIFT:
        return true;
    default:
        return false;
    }
}

/* Names in brackets are quoted ('x'), after a dot bare; other objects of exact simple types by
 * their repr, the rest by their type's name, since a repr could run user code. */
static void
print_key(PyObject *key, bool bare, DtStrbuf *buf)
{
    if (key == NULL) {
        dt_strbuf_add(buf, "?");
        return;
    }
    if (PyUnicode_CheckExact(key) && bare) {
        const char *text = PyUnicode_AsUTF8(key);
        if (text == NULL) {
            PyErr_Clear(); /* a lone surrogate has no UTF-8; the text is for people only */
            text = "?";
        }
        dt_strbuf_add(buf, text);
        return;
    }
    if (key_has_value(key) || key == Py_None || PyBool_Check(key) || PyFloat_CheckExact(key)) {
        PyObject *repr = PyObject_Repr(key);
        const char *text = repr != NULL ? PyUnicode_AsUTF8(repr) : NULL;
        if (text == NULL) {
            PyErr_Clear(); /* as above, or no memory: printing goes on without the key */
            text = "?";
        }
        dt_strbuf_add(buf, text);
        Py_XDECREF(repr);
        return;
    }
    PyObject *name = PyType_Check(key)     ? NULL
                     : PyModule_Check(key) ? PyModule_GetNameObject(key)
                                           : NULL;
    if (name != NULL) {
        const char *text = PyUnicode_AsUTF8(name);
        dt_strbuf_addf(buf, "module %s", text != NULL ? text : "?");
        Py_DECREF(name);
    }
    else if (PyType_Check(key)) {
        dt_strbuf_addf(buf, "class %s", ((PyTypeObject *)key)->tp_name);
    }
    else {
        dt_strbuf_addf(buf, "%s object", Py_TYPE(key)->tp_name);
    }
    PyErr_Clear(); /* a module without a name: printed by its type */
}

static void
print_place(const DtSource *source, DtStrbuf *buf)
{
    dt_source_print(source->at, buf);
    if (source->kind == DT_SOURCE_PICKED && source->index != 0) {
        dt_strbuf_addf(buf, " %c %lld", source->index < 0 ? '-' : '+',
                       (long long)(source->index < 0 ? -source->index : source->index));
    }
}

/* Nothing where it is all of it. */
static void
print_slice(int64_t ends, DtStrbuf *buf)
{
    uint32_t first = dt_source_first(ends), last = dt_source_last(ends);
    if (last > 0) {
        dt_strbuf_addf(buf, "[%" PRIu32 ":-%" PRIu32 "]", first, last);
    }
    else if (first > 0) {
        dt_strbuf_addf(buf, "[%" PRIu32 ":]", first);
    }
}

void
dt_source_print(const DtSource *source, DtStrbuf *buf)
{
    if (source == NULL) {
        dt_strbuf_add(buf, "<made by the trace>");
        return;
    }
    const char *format = formats[source->kind];
    for (const char *c = format; *c != '\0'; c++) {
        if (*c != '%') {
            dt_strbuf_addn(buf, c, 1);
            continue;
        }
        c++;
        if (*c == 'b') {
            dt_source_print(source->base, buf);
        }
        else if (*c == 'a') {
            print_place(source, buf);
        }
        else if (*c == 'o') {
            dt_strbuf_add(buf, operations[source->index]);
        }
        else if (*c == 's') {
            print_slice(source->index, buf);
        }
        else if (*c == 'i') {
            dt_strbuf_addf(buf, "%lld", (long long)source->index);
        }
        else {
            bool bracket = c - format >= 2 && c[-2] == '[';
            print_key(source->key, !bracket, buf);
        }
    }
}
