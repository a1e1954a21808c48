/* Guard programs as bytes (portable.h): reading.  What doesn't fit is a ValueError. */
#include "guards/portable.h"

#include <stdlib.h>
#include <string.h>

#include "compat/dict.h"

static DtStatus
damaged(const char *what)
{
    PyErr_Format(PyExc_ValueError, "guard bytes are damaged: bad %s", what);
    return DT_ERROR;
}

static DtStatus
read_key(PyObject *written, PyObject *candidate, PyObject **out)
{
    const char *how;
    PyObject *what;
    *out = NULL;
    if (written == Py_None) {
        return DT_OK;
    }
    if (!PyTuple_Check(written) || !PyArg_ParseTuple(written, "sO", &how, &what)) {
        PyErr_SetString(PyExc_ValueError, "guard bytes are damaged: bad key");
        return DT_ERROR;
    }
    *out = strcmp(how, "c") == 0 ? Py_NewRef(what) : dt_portable_resolve(what, candidate);
    return *out == NULL ? DT_ERROR : DT_OK;
}

static DtStatus
read_number(PyObject *written, uint8_t type, DtNumber *out)
{
    if (type == DT_SYM_FLOAT) {
        out->d = PyFloat_AsDouble(written);
    }
    else {
        out->i = PyLong_AsLongLong(written);
    }
    return PyErr_Occurred() ? DT_ERROR : DT_OK;
}

static DtStatus
read_sym(DtTrace *trace, PyObject *written, const DtSym **out)
{
    int op, type;
    unsigned id;
    PyObject *hint, *left, *right;
    const DtSym *a = NULL, *b = NULL;
    DtNumber number;
    if (!PyTuple_Check(written)
        || !PyArg_ParseTuple(written, "iiIOOO", &op, &type, &id, &hint, &left, &right)) {
        return damaged("condition");
    }
    DT_TRY(read_number(hint, (uint8_t)type, &number));
    if (left != Py_None) {
        DT_TRY(read_sym(trace, left, &a));
    }
    if (right != Py_None) {
        DT_TRY(read_sym(trace, right, &b));
    }
    if (op < 0 || op >= DT_SYM_OP_COUNT || type < 0 || type > DT_SYM_BOOL
        || (op == DT_SYM_OP_SYMBOL && id >= trace->symbols.count)
        || (op > DT_SYM_OP_SYMBOL && a == NULL)) {
        return damaged("condition");
    }
    if (op == DT_SYM_OP_SYMBOL) {
        *out = dt_sym_symbol(&trace->arena, id, (DtSymType)type, number);
    }
    else if (op == DT_SYM_OP_CONST) {
        *out = type == DT_SYM_INT     ? dt_sym_int(&trace->arena, number.i)
               : type == DT_SYM_FLOAT ? dt_sym_float(&trace->arena, number.d)
                                      : dt_sym_bool(&trace->arena, number.i != 0);
    }
    else if (b != NULL) {
        DT_TRY(dt_sym_binary(&trace->arena, (DtSymOp)op, a, b, out));
    }
    else {
        DT_TRY(dt_sym_unary(&trace->arena, (DtSymOp)op, a, out));
    }
    return *out == NULL ? damaged("condition") : DT_OK;
}

typedef struct Reader {
    DtTrace *trace; /* DT_OWNED: holds nothing but sources, symbols and the recipe */
    const DtGuardFrame *frame;
    const DtSource **sources;
    uint32_t nsources;
} Reader;

static DtStatus
source_at(const Reader *reader, long index, const DtSource **out)
{
    *out = NULL;
    if (index == -1) {
        return DT_OK;
    }
    if (index < 0 || index >= (long)reader->nsources) {
        return damaged("source");
    }
    *out = reader->sources[index];
    return DT_OK;
}

static DtStatus
read_sources(Reader *reader, PyObject *list)
{
    Py_ssize_t count = PyTuple_GET_SIZE(list);
    reader->sources = DT_ARENA_ARRAY(&reader->trace->arena, const DtSource *, count + 1);
    if (reader->sources == NULL) {
        return dt_no_memory();
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        int kind;
        long base_index, at_index;
        long long index;
        PyObject *written, *key;
        const DtSource *base, *at;
        PyObject *row = PyTuple_GET_ITEM(list, i);
        if (!PyTuple_Check(row)
            || !PyArg_ParseTuple(row, "illOL", &kind, &base_index, &at_index, &written, &index)
            || kind < 0 || kind >= DT_SOURCE_COUNT) {
            return damaged("source");
        }
        DT_TRY(source_at(reader, base_index, &base));
        DT_TRY(source_at(reader, at_index, &at));
        if (dt_source_has_two(kind) != (at != NULL)) {
            return damaged("source");
        }
        DT_TRY(read_key(written, NULL, &key));
        if (key != NULL && dt_trace_keep_take(reader->trace, key) == NULL) {
            return DT_ERROR;
        }
        reader->sources[i] =
            at != NULL ? dt_source_by_two(reader->trace, (DtSourceKind)kind, base, at, index)
                       : dt_source_get(reader->trace, (DtSourceKind)kind, base, key, index);
        if (reader->sources[i] == NULL) {
            return DT_ERROR;
        }
        reader->nsources = (uint32_t)i + 1;
    }
    return DT_OK;
}

static DtStatus
read_symbols(Reader *reader, PyObject *list)
{
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(list); i++) {
        PyObject *row = PyTuple_GET_ITEM(list, i), *hint;
        long index;
        long long dim;
        int type;
        DtSymbol symbol = {0};
        if (row != Py_None) {
            if (!PyTuple_Check(row) || !PyArg_ParseTuple(row, "lLiO", &index, &dim, &type, &hint)
                || type < 0 || type > DT_SYM_BOOL || index < 0) {
                return damaged("symbol");
            }
            DT_TRY(source_at(reader, index, &symbol.source));
            symbol.type = (DtSymType)type;
            DT_TRY(read_number(hint, (uint8_t)type, &symbol.hint));
            if (dim >= 0) {
                symbol.source =
                    dt_source_get(reader->trace, DT_SOURCE_ARRAY_DIM, symbol.source, NULL, dim);
            }
        }
        else {
            /* Nothing reads it; any source will do to keep the numbering. */
            PyObject *name = PyUnicode_FromString("unused");
            if (name == NULL || dt_trace_keep_take(reader->trace, name) == NULL) {
                return DT_ERROR;
            }
            symbol.source = dt_source_get(reader->trace, DT_SOURCE_SYNTHETIC, NULL, name, i);
        }
        if (symbol.source == NULL) {
            return DT_ERROR;
        }
        if (dt_vec_push(&reader->trace->arena, &reader->trace->symbols, symbol) < 0) {
            return dt_no_memory();
        }
    }
    return DT_OK;
}

/* What the source reads on the frame: a new reference in *out, NULL if it can't be read. */
static DtStatus
read_source(Reader *reader, const DtSource *source, PyObject **out)
{
    DtGuardRecipe *recipe = reader->trace->guards;
    DtGuardRecipe none = {.free_start = recipe->free_start,
                          .argument_slots = recipe->argument_slots};
    DtGuardProgram *program;
    *out = NULL;
    if (source == NULL) {
        return DT_OK;
    }
    reader->trace->guards = &none;
    DtStatus status = dt_program_lower(reader->trace, &source, 1, &program);
    reader->trace->guards = recipe;
    if (status != DT_OK) {
        return status == DT_BREAK ? DT_OK : status;
    }
    PyObject **regs = PyMem_Calloc(program->nregs + 1, sizeof(PyObject *));
    if (regs == NULL) {
        status = dt_no_memory();
    }
    else {
        int ok = dt_program_check(program, reader->frame, regs);
        if (ok == 1) {
            *out = Py_NewRef(regs[program->wanted[0]]);
        }
        status = ok < 0 ? DT_ERROR : DT_OK;
    }
    PyMem_Free(regs);
    dt_program_free(program);
    return status;
}

static DtStatus
not_registered(const char *name)
{
    PyErr_Format(PyExc_ValueError, "guards rely on adapter '%s', which is not registered", name);
    return DT_ERROR;
}

static DtStatus
read_apart(PyObject *payload, DtFact *fact)
{
    const char *name;
    if (!PyTuple_Check(payload) || !PyArg_ParseTuple(payload, "s", &name)) {
        return damaged("adapter");
    }
    fact->adapter = dt_adapter_by_name(name);
    if (fact->adapter == NULL || fact->adapter->extent == NULL) {
        return not_registered(name);
    }
    return DT_OK;
}

static DtStatus
read_adapter(Reader *reader, PyObject *payload, DtFact *fact)
{
    const char *name;
    PyObject *written;
    void *spec;
    DtTrace *trace = reader->trace;
    if (!PyTuple_Check(payload) || !PyArg_ParseTuple(payload, "sO", &name, &written)) {
        return damaged("adapter");
    }
    fact->adapter = dt_adapter_by_name(name);
    if (fact->adapter == NULL || fact->adapter->spec_from_object == NULL) {
        return not_registered(name);
    }
    DT_TRY(fact->adapter->spec_from_object(fact->adapter, trace, written, &spec, &fact->spec_size));
    fact->spec = spec;
    /* The spec may refer to anything that the trace keeps, in an array that moves when it grows. */
    PyObject **refs = DT_ARENA_ARRAY(&trace->arena, PyObject *, trace->kept.count);
    if (refs == NULL) {
        return dt_no_memory();
    }
    memcpy(refs, trace->kept.items, sizeof(PyObject *) * trace->kept.count);
    fact->refs = refs;
    fact->nrefs = trace->kept.count;
    return DT_OK;
}

static DtStatus
read_keys(PyObject *payload, PyObject *dict, PyObject **out)
{
    if (!PyTuple_Check(payload)) {
        return damaged("keys");
    }
    PyObject *keys = PyTuple_New(PyTuple_GET_SIZE(payload));
    if (keys == NULL) {
        return DT_ERROR;
    }
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(payload); i++) {
        PyObject *candidate =
            dict != NULL && PyDict_CheckExact(dict) ? dt_dict_key_at(dict, i) : NULL;
        PyObject *key;
        DtStatus status = read_key(PyTuple_GET_ITEM(payload, i), candidate, &key);
        if (status != DT_OK || key == NULL) {
            Py_DECREF(keys);
            return status != DT_OK ? status : damaged("keys");
        }
        PyTuple_SET_ITEM(keys, i, key);
    }
    *out = keys;
    return DT_OK;
}

static DtStatus
read_layout(PyObject *payload, PyObject **out)
{
    if (!PyTuple_Check(payload) || PyTuple_GET_SIZE(payload) != 2
        || !PyBytes_CheckExact(PyTuple_GET_ITEM(payload, 0))) {
        return damaged("order of a set");
    }
    PyObject *items, *slots = PyTuple_Pack(1, PyTuple_GET_ITEM(payload, 0));
    if (slots == NULL) {
        return DT_ERROR;
    }
    DtStatus status = read_keys(PyTuple_GET_ITEM(payload, 1), NULL, &items);
    if (status == DT_OK) {
        *out = PySequence_Concat(slots, items);
        Py_DECREF(items);
        status = *out != NULL ? DT_OK : DT_ERROR;
    }
    Py_DECREF(slots);
    return status;
}

static DtStatus
read_payload(Reader *reader, PyObject *payload, PyObject *value, DtFact *fact)
{
    PyObject *object = NULL, *part = payload;
    long long number = 0;
    switch ((DtGuardKind)fact->kind) {
    case DT_GUARD_LENGTH:
        if (!PyTuple_Check(payload) || !PyArg_ParseTuple(payload, "OL", &part, &number)) {
            return damaged("length");
        }
        fact->number = number;
        object = dt_portable_resolve(part, value == NULL ? NULL : (PyObject *)Py_TYPE(value));
        break;
    case DT_GUARD_TYPE:
    case DT_GUARD_TYPE_VERSION:
        object = dt_portable_resolve(payload, value == NULL ? NULL : (PyObject *)Py_TYPE(value));
        break;
    case DT_GUARD_IDENTITY:
    case DT_GUARD_CLASS_VERSION:
        object = dt_portable_resolve(payload, value);
        break;
    case DT_GUARD_CONSTANT:
        if (!PyTuple_Check(payload) || PyTuple_GET_SIZE(payload) > 1) {
            return damaged("constant");
        }
        object = Py_NewRef(PyTuple_GET_SIZE(payload) == 0 ? Py_NotImplemented
                                                          : PyTuple_GET_ITEM(payload, 0));
        break;
    case DT_GUARD_ATTR_ABSENT:
    case DT_GUARD_GLOBAL_ABSENT:
    case DT_GUARD_QUIET_ATTR:
    case DT_GUARD_QUIET_GLOBAL:
        DT_TRY(read_key(payload, NULL, &object));
        break;
    case DT_GUARD_DICT_KEYS:
    case DT_GUARD_SET_ITEMS:
        DT_TRY(read_keys(payload, value, &object));
        break;
    case DT_GUARD_DEQUE:
        if (!PyTuple_Check(payload) || PyTuple_GET_SIZE(payload) != 2) {
            return damaged("deque");
        }
        object = Py_NewRef(payload);
        break;
    case DT_GUARD_SET_LAYOUT:
        DT_TRY(read_layout(payload, &object));
        break;
    case DT_GUARD_SYM:
        return read_sym(reader->trace, payload, &fact->sym);
    case DT_GUARD_ABC_TOKEN: /* never written */
        return damaged("abstract classes");
    case DT_GUARD_APART:
        return read_apart(payload, fact);
    case DT_GUARD_ADAPTER:
    case DT_GUARD_ADAPTER_STATE:
        return read_adapter(reader, payload, fact);
    default:
        return DT_OK;
    }
    fact->object = dt_trace_keep_take(reader->trace, object);
    return fact->object == NULL ? DT_ERROR : DT_OK;
}

static int
kind_by_name(const char *name)
{
    for (int i = 0; i < DT_GUARD_COUNT; i++) {
        if (strcmp(dt_guard_rows[i].name, name) == 0) {
            return i;
        }
    }
    return -1;
}

static DtStatus
read_fact(Reader *reader, PyObject *row)
{
    const char *name;
    long source, other;
    PyObject *payload, *filename, *value;
    DtFact fact = {0};
    if (!PyTuple_Check(row)
        || !PyArg_ParseTuple(row, "sllOOi", &name, &source, &other, &payload, &filename,
                             &fact.line)) {
        return damaged("guard");
    }
    int kind = kind_by_name(name);
    if (kind < 0 || (source < 0 && kind < DT_GUARD_QUIET_GLOBAL)
        || (other < 0 && kind >= DT_GUARD_SAME && kind <= DT_GUARD_NO_KEY)) {
        return damaged("guard");
    }
    fact.kind = (uint8_t)kind;
    fact.filename = PyUnicode_Check(filename) ? filename : NULL;
    DT_TRY(source_at(reader, source, &fact.source));
    DT_TRY(source_at(reader, other, &fact.other));
    bool by_source = kind <= DT_GUARD_LENGTH || kind == DT_GUARD_DICT_KEYS;
    DT_TRY(read_source(reader, by_source ? fact.source : NULL, &value));
    DtStatus status = read_payload(reader, payload, value, &fact);
    Py_XDECREF(value);
    DT_TRY(status);
    return dt_recipe_add(reader->trace, &fact);
}

static DtStatus
read_wanted(Reader *reader, PyObject *list, const DtSource ***out)
{
    const DtSource **wanted =
        DT_ARENA_ARRAY(&reader->trace->arena, const DtSource *, PyTuple_GET_SIZE(list) + 1);
    if (wanted == NULL) {
        return dt_no_memory();
    }
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(list); i++) {
        long index = PyLong_AsLong(PyTuple_GET_ITEM(list, i));
        if (index < 0) {
            return damaged("register");
        }
        DT_TRY(source_at(reader, index, &wanted[i]));
    }
    *out = wanted;
    return DT_OK;
}

static DtStatus
read_tree(Reader *reader, PyObject *tree, DtGuardProgram **out)
{
    const char *name;
    int version, free_start, argument_slots;
    PyObject *sources, *symbols, *facts, *wanted_list;
    const DtSource **wanted;
    if (!PyTuple_Check(tree)
        || !PyArg_ParseTuple(tree, "siiiO!O!O!O!", &name, &version, &free_start, &argument_slots,
                             &PyTuple_Type, &sources, &PyTuple_Type, &symbols, &PyTuple_Type,
                             &facts, &PyTuple_Type, &wanted_list)
        || strcmp(name, DT_PORTABLE_NAME) != 0 || free_start < 0 || argument_slots < 0) {
        return damaged("head");
    }
    if (version != DT_PORTABLE_VERSION) {
        PyErr_Format(PyExc_ValueError, "guard bytes of version %d, expected %d", version,
                     DT_PORTABLE_VERSION);
        return DT_ERROR;
    }
    DT_TRY(dt_recipe_init(reader->trace));
    reader->trace->guards->free_start = free_start;
    reader->trace->guards->argument_slots = argument_slots;
    DT_TRY(read_sources(reader, sources));
    DT_TRY(read_symbols(reader, symbols));
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(facts); i++) {
        DT_TRY(read_fact(reader, PyTuple_GET_ITEM(facts, i)));
    }
    DT_TRY(read_wanted(reader, wanted_list, &wanted));
    return dt_program_lower(reader->trace, wanted, (uint32_t)PyTuple_GET_SIZE(wanted_list), out);
}

DtStatus
dt_program_from_bytes(PyObject *bytes, const DtGuardFrame *frame, DtGuardProgram **out)
{
    *out = NULL;
    if (!PyBytes_Check(bytes)) {
        PyErr_Format(PyExc_TypeError, "guards: expected bytes, got %s", Py_TYPE(bytes)->tp_name);
        return DT_ERROR;
    }
    PyObject *tree = dt_portable_marshal("loads", PyTuple_Pack(1, bytes));
    if (tree == NULL) {
        if (PyErr_ExceptionMatches(PyExc_MemoryError)) {
            return DT_ERROR;
        }
        PyErr_Clear(); /* EOFError, ValueError, TypeError of marshal: one message for all */
        return damaged("encoding");
    }
    Reader reader = {.frame = frame};
    DtStatus status = DT_ERROR;
    reader.trace = calloc(1, sizeof(DtTrace));
    if (reader.trace == NULL) {
        PyErr_NoMemory();
    }
    else {
        dt_arena_init(&reader.trace->arena);
        status = read_tree(&reader, tree, out);
        if (status == DT_BREAK) {
            PyErr_Format(PyExc_ValueError, "guards can't be made here: %s",
                         reader.trace->brk.message);
            status = DT_ERROR;
        }
        dt_trace_release(reader.trace);
    }
    Py_DECREF(tree);
    return status;
}
