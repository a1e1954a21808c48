/* Loading sources: one row per kind says how its value is reached from its
 * base's.
 *
 * Not in here: values that the trace made (codegen.c, reconstruct slots).
 */
#include "codegen/state.h"
#include "compat/iterators.h"
#include "compat/lru_cache.h"
#include "compat/referents.h"
#include "variables/kinds.h"
#include "variables/substitutes.h"

typedef enum Access {
    NONE,
    KEY_ATTR,   /* base.<key> */
    OWN_ATTR,   /* object.__getattribute__(base, key) */
    BASE_INDEX, /* list.__getitem__(base, index), where key is list */
    BASE_ITEM,  /* dict.__getitem__(base, key) */
    BASE_SIZE,  /* list.__len__(base), of the type that the key is, if there is one */
    KEY_ITEM,   /* base[key] */
    INDEX_ITEM, /* base[index] */
    AT_ITEM,    /* base[at + index] */
    OPERATION,  /* base and at in the operation `index` */
    TUPLE,      /* (base, at) */
    FROM_END,   /* base[-index] */
    SLOT,       /* unified slot `index` of the root frame */
    GLOBAL,     /* LOAD_GLOBAL key */
    ASKED,      /* function(base[, key[, index]]), those that there are */
    CONSTANT    /* the key itself */
} Access;

/* How a source is loaded: callable(base) if there is one, then .attribute, then the access. */
typedef struct SourceRow {
    bool loadable;
    PyTypeObject *callable;
    const char *attribute;
    Access access;
    int op;                   /* SLOT */
    PyObject *(*asked)(void); /* ASKED: what gives the function, DT_BORROWED */
} SourceRow;

static const SourceRow rows[DT_SOURCE_COUNT] = {
    [DT_SOURCE_LOCAL] = {true, NULL, NULL, SLOT, DT_OP_LOAD_FAST, NULL},
    [DT_SOURCE_LOCAL_DEREF] = {true, NULL, NULL, SLOT, DT_OP_LOAD_DEREF, NULL},
    [DT_SOURCE_LOCAL_CELL] = {true, NULL, NULL, SLOT, DT_OP_LOAD_CLOSURE, NULL},
    [DT_SOURCE_GLOBAL] = {true, NULL, NULL, GLOBAL, 0, NULL},
    [DT_SOURCE_BUILTIN] = {true, NULL, NULL, GLOBAL, 0, NULL},
    [DT_SOURCE_ATTR] = {true, NULL, NULL, KEY_ATTR, 0, NULL},
    [DT_SOURCE_MEMBER] = {true, NULL, NULL, KEY_ATTR, 0, NULL},
    [DT_SOURCE_OWN_ATTR] = {true, NULL, NULL, OWN_ATTR, 0, NULL},
    [DT_SOURCE_ATTR_DICT] = {true, NULL, NULL, KEY_ATTR, 0, NULL},
    [DT_SOURCE_TYPE_ATTR] = {true, &PyType_Type, NULL, KEY_ATTR, 0, NULL},
    [DT_SOURCE_TYPE] = {true, &PyType_Type, NULL, NONE, 0, NULL},
    [DT_SOURCE_INDEX] = {true, NULL, NULL, INDEX_ITEM, 0, NULL},
    [DT_SOURCE_LIST_ITEM] = {true, NULL, NULL, INDEX_ITEM, 0, NULL},
    [DT_SOURCE_PICKED] = {true, NULL, NULL, AT_ITEM, 0, NULL},
    [DT_SOURCE_LIST_ARRAY] = {true, NULL, NULL, ASKED, 0, dt_list_array_function},
    [DT_SOURCE_LIST_SIZE] = {true, NULL, NULL, BASE_SIZE, 0, NULL},
    [DT_SOURCE_DEQUE_ITEM] = {true, NULL, NULL, BASE_INDEX, 0, NULL},
    [DT_SOURCE_DEQUE_SIZE] = {true, NULL, NULL, BASE_SIZE, 0, NULL},
    [DT_SOURCE_ITEM] = {true, NULL, NULL, KEY_ITEM, 0, NULL},
    [DT_SOURCE_BASE_INDEX] = {true, NULL, NULL, BASE_INDEX, 0, NULL},
    [DT_SOURCE_BASE_ITEM] = {true, NULL, NULL, BASE_ITEM, 0, NULL},
    [DT_SOURCE_DICT_KEY] = {true, &PyList_Type, NULL, INDEX_ITEM, 0, NULL},
    [DT_SOURCE_FUNC_GLOBAL] = {true, NULL, "__globals__", KEY_ITEM, 0, NULL},
    [DT_SOURCE_FUNC_CODE] = {true, NULL, "__code__", NONE, 0, NULL},
    [DT_SOURCE_FUNC_PART] = {true, NULL, NULL, KEY_ATTR, 0, NULL},
    [DT_SOURCE_FUNC_DEFAULT] = {true, NULL, "__defaults__", FROM_END, 0, NULL},
    [DT_SOURCE_FUNC_CLOSURE] = {true, NULL, "__closure__", INDEX_ITEM, 0, NULL},
    [DT_SOURCE_CELL_CONTENTS] = {true, NULL, "cell_contents", NONE, 0, NULL},
    [DT_SOURCE_METHOD_FUNC] = {true, NULL, "__func__", NONE, 0, NULL},
    [DT_SOURCE_METHOD_SELF] = {true, NULL, "__self__", NONE, 0, NULL},
    [DT_SOURCE_PARTIAL_FUNC] = {true, NULL, "func", NONE, 0, NULL},
    [DT_SOURCE_CACHED] = {true, NULL, NULL, ASKED, 0, dt_lru_cache_finder},
    [DT_SOURCE_ITERATED] = {true, NULL, NULL, ASKED, 0, dt_iterators_fresh_function},
    [DT_SOURCE_COUNTED] = {true, NULL, NULL, ASKED, 0, dt_iterators_count_function},
    [DT_SOURCE_REFERENT] = {true, NULL, NULL, ASKED, 0, dt_referents_function},
    [DT_SOURCE_COMPUTED] = {true, NULL, NULL, OPERATION, 0, NULL},
    [DT_SOURCE_PAIR] = {true, NULL, NULL, TUPLE, 0, NULL},
    [DT_SOURCE_ARRAY_DIM] = {true, NULL, "shape", INDEX_ITEM, 0, NULL},
    [DT_SOURCE_OBJECT] = {true, NULL, NULL, CONSTANT, 0, NULL},
};

/* What the object's class overrides must not be asked: the method of the builtin base is called. */
static DtStatus
load_behind(DtCodegen *codegen, const DtSource *source, Access access)
{
    PyTypeObject *of = access == OWN_ATTR                           ? &PyBaseObject_Type
                       : access == BASE_ITEM                        ? &PyDict_Type
                       : access == BASE_SIZE && source->key == NULL ? &PyList_Type
                                                                    : (PyTypeObject *)source->key;
    const char *name = access == OWN_ATTR    ? "__getattribute__"
                       : access == BASE_SIZE ? "__len__"
                                             : "__getitem__";
    PyObject *read = PyObject_GetAttrString((PyObject *)of, name);
    PyObject *key = access == BASE_INDEX ? PyLong_FromLongLong(source->index) : source->key;
    read = dt_trace_keep_take(codegen->trace, read);
    if (access == BASE_INDEX) {
        key = dt_trace_keep_take(codegen->trace, key);
    }
    if (read == NULL || (access == BASE_INDEX && key == NULL)) {
        return DT_ERROR;
    }
    DT_TRY(dt_codegen_push_callable(codegen, read));
    DT_TRY(dt_codegen_load_source(codegen, source->base));
    if (access == BASE_SIZE) {
        return dt_codegen_call(codegen, 1);
    }
    DT_TRY(dt_codegen_const(codegen, key));
    return dt_codegen_call(codegen, 2);
}

/* What only C can ask the base for. */
static DtStatus
load_asked(DtCodegen *codegen, const DtSource *source, const SourceRow *row)
{
    PyObject *function = row->asked();
    if (function == NULL) {
        return DT_ERROR;
    }
    DT_TRY(dt_codegen_push_callable(codegen, function));
    DT_TRY(dt_codegen_load_source(codegen, source->base));
    if (source->key == NULL) {
        return dt_codegen_call(codegen, 1);
    }
    DT_TRY(dt_codegen_const(codegen, source->key));
    if (source->index == 0) {
        return dt_codegen_call(codegen, 2);
    }
    PyObject *index = dt_trace_keep_take(codegen->trace, PyLong_FromLongLong(source->index));
    DT_TRY(index != NULL ? dt_codegen_const(codegen, index) : DT_ERROR);
    return dt_codegen_call(codegen, 3);
}

bool
dt_codegen_is_loadable(const DtSource *source)
{
    for (; source != NULL; source = source->base) {
        if (source->synthetic || !rows[source->kind].loadable
            || (source->at != NULL && !dt_codegen_is_loadable(source->at))) {
            return false;
        }
    }
    return true;
}

static DtStatus
load_operand(DtCodegen *codegen, const void *source)
{
    return dt_codegen_load_source(codegen, source);
}

static DtStatus
load_base(DtCodegen *codegen, const DtSource *source, const SourceRow *row)
{
    if (row->callable != NULL) {
        DT_TRY(dt_codegen_push_callable(codegen, (PyObject *)row->callable));
    }
    DT_TRY(dt_codegen_load_source(codegen, source->base));
    if (row->callable != NULL) {
        DT_TRY(dt_codegen_call(codegen, 1));
    }
    return DT_OK;
}

static DtStatus
load_attribute(DtCodegen *codegen, const char *attribute)
{
    PyObject *name = PyUnicode_InternFromString(attribute);
    name = dt_trace_keep_take(codegen->trace, name);
    return name != NULL ? dt_codegen_name(codegen, DT_OP_LOAD_ATTR, name) : DT_ERROR;
}

static DtStatus
load_slot(DtCodegen *codegen, const DtSource *source, const SourceRow *row)
{
    int slot = (int)source->index;
    int kind = codegen->layout.slots[slot].kind;
    /* An argument that closures capture lies in a cell by now. */
    int op = row->op == DT_OP_LOAD_FAST && (kind & DT_SLOT_CELL) ? DT_OP_LOAD_DEREF : row->op;
    return dt_emit_slot(codegen->emit, op, slot);
}

/* at + index */
static DtStatus
load_place(DtCodegen *codegen, const DtSource *source)
{
    DT_TRY(dt_codegen_load_source(codegen, source->at));
    if (source->index == 0) {
        return DT_OK;
    }
    PyObject *offset = dt_trace_keep_take(codegen->trace, PyLong_FromLongLong(source->index));
    if (offset == NULL) {
        return DT_ERROR;
    }
    DT_TRY(dt_codegen_const(codegen, offset));
    return dt_codegen_op(codegen, DT_OP_BINARY_OP, DT_BINARY_ADD);
}

static DtStatus
subscript(DtCodegen *codegen, PyObject *key)
{
    DT_TRY(dt_codegen_const(codegen, key));
    return dt_codegen_op(codegen, DT_OP_BINARY_SUBSCR, 0);
}

DtStatus
dt_codegen_load_source(DtCodegen *codegen, const DtSource *source)
{
    const SourceRow *row = &rows[source->kind];
    if (source->synthetic || !row->loadable) {
        DtStrbuf text = {0};
        dt_source_print(source, &text);
        DtStatus status = dt_break(codegen->trace, DT_BREAK_RECONSTRUCT, "%s can't be loaded again",
                                   dt_strbuf_text(&text));
        dt_strbuf_release(&text);
        return status;
    }
    if (row->access == OPERATION) {
        return dt_symbolic_emit(codegen, (int)source->index, load_operand, source->base,
                                source->at);
    }
    if (row->access == ASKED) {
        return load_asked(codegen, source, row);
    }
    if (row->access == OWN_ATTR || row->access == BASE_INDEX || row->access == BASE_ITEM
        || row->access == BASE_SIZE) {
        return load_behind(codegen, source, row->access);
    }
    if (source->base != NULL) {
        DT_TRY(load_base(codegen, source, row));
    }
    if (row->attribute != NULL) {
        DT_TRY(load_attribute(codegen, row->attribute));
    }
    switch (row->access) {
    case NONE:
    case OWN_ATTR:
    case BASE_INDEX:
    case BASE_ITEM:
    case BASE_SIZE:
    case ASKED:
    case OPERATION:
        return DT_OK;
    case KEY_ATTR:
        return dt_codegen_name(codegen, DT_OP_LOAD_ATTR, source->key);
    case KEY_ITEM:
        return subscript(codegen, source->key);
    case INDEX_ITEM:
    case FROM_END: {
        int64_t number = row->access == FROM_END ? -source->index : source->index;
        PyObject *index = dt_trace_keep_take(codegen->trace, PyLong_FromLongLong(number));
        return index != NULL ? subscript(codegen, index) : DT_ERROR;
    }
    case AT_ITEM:
        DT_TRY(load_place(codegen, source));
        return dt_codegen_op(codegen, DT_OP_BINARY_SUBSCR, 0);
    case TUPLE:
        DT_TRY(dt_codegen_load_source(codegen, source->at));
        return dt_codegen_op(codegen, DT_OP_BUILD_TUPLE, 2);
    case SLOT:
        return load_slot(codegen, source, row);
    case GLOBAL:
        return dt_codegen_name(codegen, DT_OP_LOAD_GLOBAL, source->key);
    case CONSTANT:
        if (PyType_Check(source->key) && dt_substitute_hides_class((PyTypeObject *)source->key)) {
            return dt_break(codegen->trace, DT_BREAK_RECONSTRUCT,
                            "a class that stands for one of C leaves the function");
        }
        return dt_codegen_const(codegen, source->key);
    }
    Py_UNREACHABLE();
}
