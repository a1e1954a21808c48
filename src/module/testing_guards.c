/* White-box functions over guard programs, for tests/guards/ and bench/.
 *
 * A recipe is given as plain Python data:
 *   sources  [(kind, index of the base or -1, key or None, index), ...]
 *   symbols  [(index of a source, "int" | "float" | "bool", hint), ...]
 *   facts    [(kind, index of a source or -1, argument), ...]
 *   wanted   [index of a source, ...]
 * A frame is a function and the list of its locals (None: unbound).
 */
#include <string.h>

#include "compat/abc.h"
#include "compat/text.h"
#include "core/clock.h"
#include "guards/program.h"
#include "guards/recipe.h"
#include "module/testing.h"
#include "variables/adapter.h"

static const char capsule_name[] = "dyntrace.testing.guards";

/* ---- Recipes from data ----------------------------------------------------------------------- */

typedef struct Maker {
    DtTrace *trace;
    const DtSource **sources;
    Py_ssize_t nsources;
} Maker;

static const DtSource *
source_at(Maker *maker, Py_ssize_t index)
{
    return index < 0 || index >= maker->nsources ? NULL : maker->sources[index];
}

/* Of one that is read by two, the key is the number of the second. */
static const DtSource *
make_source(Maker *maker, DtSourceKind kind, Py_ssize_t base, PyObject *key, int64_t index)
{
    const DtSource *from = source_at(maker, base);
    return dt_source_has_two(kind)
               ? dt_source_by_two(maker->trace, kind, from, source_at(maker, PyLong_AsSsize_t(key)),
                                  index)
               : dt_source_get(maker->trace, kind, from, key == Py_None ? NULL : key, index);
}

static DtStatus
make_sources(Maker *maker, PyObject *list)
{
    Py_ssize_t count = PyList_GET_SIZE(list);
    maker->sources = DT_ARENA_ARRAY(&maker->trace->arena, const DtSource *, count + 1);
    if (maker->sources == NULL) {
        return dt_no_memory();
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        const char *name;
        Py_ssize_t base;
        PyObject *key;
        long long index;
        if (!PyArg_ParseTuple(PyList_GET_ITEM(list, i), "snOL", &name, &base, &key, &index)) {
            return DT_ERROR;
        }
        int kind = dt_testing_index(dt_testing_source_names, DT_SOURCE_COUNT, name);
        if (kind < 0) {
            return DT_ERROR;
        }
        maker->sources[i] = make_source(maker, (DtSourceKind)kind, base, key, index);
        if (maker->sources[i] == NULL) {
            return DT_ERROR;
        }
        maker->nsources = i + 1;
    }
    return DT_OK;
}

static DtStatus
make_symbols(Maker *maker, PyObject *list)
{
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(list); i++) {
        Py_ssize_t source;
        const char *type;
        PyObject *hint;
        DtNumber number;
        const DtSym *sym;
        if (!PyArg_ParseTuple(PyList_GET_ITEM(list, i), "nsO", &source, &type, &hint)) {
            return DT_ERROR;
        }
        DtSymType kind = type[0] == 'i' ? DT_SYM_INT : type[0] == 'f' ? DT_SYM_FLOAT : DT_SYM_BOOL;
        if (kind == DT_SYM_FLOAT) {
            number.d = PyFloat_AsDouble(hint);
        }
        else {
            number.i = PyLong_AsLongLong(hint);
        }
        if (PyErr_Occurred()) {
            return DT_ERROR;
        }
        DT_TRY(dt_trace_symbol(maker->trace, source_at(maker, source), kind, number, &sym));
    }
    return DT_OK;
}

/* ("GE", ("SYMBOL", 0), 2) */
static DtStatus
make_sym(Maker *maker, PyObject *tree, const DtSym **out)
{
    DtArena *arena = &maker->trace->arena;
    if (PyFloat_Check(tree)) {
        *out = dt_sym_float(arena, PyFloat_AS_DOUBLE(tree));
        return *out == NULL ? dt_no_memory() : DT_OK;
    }
    if (PyLong_Check(tree)) {
        *out = dt_sym_int(arena, PyLong_AsLongLong(tree));
        return *out == NULL ? dt_no_memory() : DT_OK;
    }
    const char *name;
    PyObject *left, *right = NULL;
    const DtSym *a, *b;
    if (!PyArg_ParseTuple(tree, "sO|O", &name, &left, &right)) {
        return DT_ERROR;
    }
    int op = dt_testing_index(dt_testing_sym_names, DT_SYM_OP_COUNT, name);
    if (op < 0) {
        return DT_ERROR;
    }
    if (op == DT_SYM_OP_SYMBOL) {
        uint32_t id = (uint32_t)PyLong_AsUnsignedLong(left);
        const DtSymbol *symbol = &maker->trace->symbols.items[id];
        *out = dt_sym_symbol(arena, id, symbol->type, symbol->hint);
        return *out == NULL ? dt_no_memory() : DT_OK;
    }
    DT_TRY(make_sym(maker, left, &a));
    if (right == NULL) {
        DT_TRY(dt_sym_unary(arena, (DtSymOp)op, a, out));
    }
    else {
        DT_TRY(make_sym(maker, right, &b));
        DT_TRY(dt_sym_binary(arena, (DtSymOp)op, a, b, out));
    }
    if (*out == NULL) {
        PyErr_SetString(PyExc_ValueError, "condition has no symbolic form");
        return DT_ERROR;
    }
    return DT_OK;
}

static const DtAdapter *
adapter_and_number(PyObject *argument, int64_t *number)
{
    const char *name;
    long long value;
    if (!PyArg_ParseTuple(argument, "sL", &name, &value)) {
        return NULL;
    }
    *number = value;
    const DtAdapter *adapter = dt_adapter_by_name(name);
    if (adapter == NULL) {
        PyErr_Format(PyExc_ValueError, "unknown adapter '%s'", name);
    }
    return adapter;
}

static DtStatus
make_fact(Maker *maker, DtGuardKind kind, const DtSource *source, PyObject *argument)
{
    DtTrace *trace = maker->trace;
    const DtAdapter *adapter;
    const DtSym *sym;
    PyObject *type;
    long long number;
    int64_t spec;
    switch (kind) {
    case DT_GUARD_TYPE:
        return dt_guard_type(trace, source, (PyTypeObject *)argument);
    case DT_GUARD_TYPE_VERSION:
        return dt_guard_type_version(trace, source, (PyTypeObject *)argument);
    case DT_GUARD_CLASS_VERSION:
        return dt_guard_class_version(trace, source, (PyTypeObject *)argument);
    case DT_GUARD_IDENTITY:
        return dt_guard_identity(trace, source, argument);
    case DT_GUARD_CONSTANT:
        return dt_guard_constant(trace, source, argument);
    case DT_GUARD_LENGTH:
        if (!PyArg_ParseTuple(argument, "OL", &type, &number)) {
            return DT_ERROR;
        }
        return dt_guard_length(trace, source, (PyTypeObject *)type, number);
    case DT_GUARD_DICT_KEYS:
        return dt_guard_dict_keys(trace, source, argument);
    case DT_GUARD_SET_ITEMS:
        return dt_guard_set_items(trace, source, argument);
    case DT_GUARD_DEQUE:
        return dt_guard_deque(trace, source, argument, false);
    case DT_GUARD_SET_LAYOUT:
        return dt_guard_set_layout(trace, source, argument);
    case DT_GUARD_ATTR_ABSENT:
        return dt_guard_attr_absent(trace, source, argument);
    case DT_GUARD_CELL_EMPTY:
        return dt_guard_cell_empty(trace, source);
    case DT_GUARD_SAME:
    case DT_GUARD_NOT_SAME:
        return dt_guard_alias(trace, source, source_at(maker, PyLong_AsSsize_t(argument)),
                              kind == DT_GUARD_SAME);
    case DT_GUARD_NOT_DICT_OF:
        return dt_guard_not_dict_of(trace, source, source_at(maker, PyLong_AsSsize_t(argument)));
    case DT_GUARD_NO_KEY:
        return dt_guard_no_key(trace, source, source_at(maker, PyLong_AsSsize_t(argument)));
    case DT_GUARD_APART:
        return dt_guard_apart(trace, dt_adapter_by_name("testing"), source,
                              source_at(maker, PyLong_AsSsize_t(argument)));
    case DT_GUARD_QUIET:
        return dt_guard_quiet(trace, source, NULL);
    case DT_GUARD_QUIET_CONTENTS:
        return dt_guard_quiet_contents(trace, source);
    case DT_GUARD_QUIET_ATTR:
        return dt_guard_quiet_attr(trace, source, argument, NULL);
    case DT_GUARD_QUIET_GLOBAL:
        return dt_guard_quiet_global(trace, source, argument, NULL);
    case DT_GUARD_SYM:
        DT_TRY(make_sym(maker, argument, &sym));
        return dt_guard_sym(trace, sym);
    case DT_GUARD_GLOBAL_ABSENT:
        return dt_guard_global_absent(trace, source, argument);
    case DT_GUARD_ADAPTER:
        adapter = adapter_and_number(argument, &spec);
        return adapter == NULL
                   ? DT_ERROR
                   : dt_guard_adapter(trace, source, adapter, &spec, sizeof(spec), NULL, 0);
    case DT_GUARD_ADAPTER_STATE:
        adapter = adapter_and_number(argument, &spec);
        return adapter == NULL ? DT_ERROR
                               : dt_guard_adapter_state(trace, adapter, &spec, sizeof(spec));
    case DT_GUARD_ABC_TOKEN:
        return dt_guard_abc_token(trace, dt_abc_token());
    case DT_GUARD_PRESENT:
        return dt_guard_present(trace, source);
    case DT_GUARD_COUNT:
        break;
    }
    return DT_ERROR;
}

static DtStatus
make_facts(Maker *maker, PyObject *list)
{
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(list); i++) {
        const char *name;
        Py_ssize_t source;
        PyObject *argument;
        if (!PyArg_ParseTuple(PyList_GET_ITEM(list, i), "snO", &name, &source, &argument)) {
            return DT_ERROR;
        }
        int kind = 0;
        while (kind < DT_GUARD_COUNT && strcmp(dt_guard_rows[kind].name, name) != 0) {
            kind++;
        }
        if (kind == DT_GUARD_COUNT) {
            PyErr_Format(PyExc_ValueError, "unknown guard '%s'", name);
            return DT_ERROR;
        }
        DT_TRY(make_fact(maker, (DtGuardKind)kind, source_at(maker, source), argument));
    }
    return DT_OK;
}

static void
free_capsule(PyObject *capsule)
{
    dt_program_free(PyCapsule_GetPointer(capsule, capsule_name));
}

static DtStatus
make_program(Maker *maker, PyObject *sources, PyObject *symbols, PyObject *facts, PyObject *wanted,
             DtGuardProgram **out)
{
    DT_TRY(make_sources(maker, sources));
    DT_TRY(make_symbols(maker, symbols));
    DT_TRY(make_facts(maker, facts));
    Py_ssize_t count = PyList_GET_SIZE(wanted);
    const DtSource **list = DT_ARENA_ARRAY(&maker->trace->arena, const DtSource *, count + 1);
    if (list == NULL) {
        return dt_no_memory();
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        list[i] = source_at(maker, PyLong_AsSsize_t(PyList_GET_ITEM(wanted, i)));
    }
    return dt_program_lower(maker->trace, list, (uint32_t)count, out);
}

/* guards_program(function, sources, symbols, facts, wanted) -> program */
static PyObject *
guards_program(PyObject *Py_UNUSED(module), PyObject *args)
{
    PyFunctionObject *function;
    PyObject *sources, *symbols, *facts, *wanted;
    if (!PyArg_ParseTuple(args, "O!O!O!O!O!", &PyFunction_Type, &function, &PyList_Type, &sources,
                          &PyList_Type, &symbols, &PyList_Type, &facts, &PyList_Type, &wanted)) {
        return NULL;
    }
    DtGuardProgram *program = NULL;
    Maker maker = {0};
    maker.trace = dt_testing_trace((PyObject *)function);
    if (maker.trace == NULL) {
        return NULL;
    }
    DtStatus status = make_program(&maker, sources, symbols, facts, wanted, &program);
    if (status == DT_BREAK) {
        PyErr_SetString(PyExc_RuntimeError, maker.trace->brk.message);
    }
    dt_trace_release(maker.trace);
    return status == DT_OK ? PyCapsule_New(program, capsule_name, free_capsule) : NULL;
}

/* ---- Running --------------------------------------------------------------------------------- */

typedef struct Call {
    DtGuardProgram *program;
    DtGuardFrame frame;
    PyObject *locals[64];
} Call;

static int
fill_frame(Call *call, PyFunctionObject *function, PyObject *locals)
{
    if (PyList_GET_SIZE(locals) > 64) {
        PyErr_SetString(PyExc_ValueError, "more than 64 locals");
        return -1;
    }
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(locals); i++) {
        PyObject *local = PyList_GET_ITEM(locals, i);
        call->locals[i] = local == Py_None ? NULL : local;
    }
    call->frame = (DtGuardFrame){call->locals, function->func_globals, function->func_builtins,
                                 (PyObject *)function};
    return 0;
}

static int
read_call(PyObject *args, Call *call, long *count)
{
    PyObject *capsule, *locals;
    PyFunctionObject *function;
    if (!PyArg_ParseTuple(args, "OO!O!|l", &capsule, &PyFunction_Type, &function, &PyList_Type,
                          &locals, count)) {
        return -1;
    }
    memset(call, 0, sizeof(*call));
    call->program = PyCapsule_GetPointer(capsule, capsule_name);
    return call->program == NULL ? -1 : fill_frame(call, function, locals);
}

/* guards_check(program, function, locals) -> None (fails) or the list of wanted values */
static PyObject *
guards_check(PyObject *Py_UNUSED(module), PyObject *args)
{
    Call call;
    long nwanted = 0;
    if (read_call(args, &call, &nwanted) < 0) {
        return NULL;
    }
    PyObject **regs = PyMem_Calloc(dt_program_register_count(call.program) + 1, sizeof(PyObject *));
    if (regs == NULL) {
        return PyErr_NoMemory();
    }
    int ok = dt_program_check(call.program, &call.frame, regs);
    PyObject *result = NULL;
    if (ok == 0) {
        result = Py_NewRef(Py_None);
    }
    else if (ok == 1) {
        result = PyList_New(nwanted);
        for (long i = 0; result != NULL && i < nwanted; i++) {
            PyList_SET_ITEM(result, i,
                            Py_NewRef(regs[dt_program_register(call.program, (uint32_t)i)]));
        }
    }
    PyMem_Free(regs);
    return result;
}

/* guards_time(program, function, locals, n) -> ns per check, over n checks */
static PyObject *
guards_time(PyObject *Py_UNUSED(module), PyObject *args)
{
    Call call;
    long count = 1;
    PyObject *regs[256];
    if (read_call(args, &call, &count) < 0) {
        return NULL;
    }
    if (dt_program_register_count(call.program) > 256) {
        PyErr_SetString(PyExc_ValueError, "more than 256 registers");
        return NULL;
    }
    long held = 0;
    int64_t begin = dt_clock_ns();
    for (long i = 0; i < count; i++) {
        held += dt_program_check(call.program, &call.frame, regs);
    }
    int64_t end = dt_clock_ns();
    if (held != count) {
        PyErr_SetString(PyExc_ValueError, "the guards do not hold");
        return NULL;
    }
    return PyFloat_FromDouble((double)(end - begin) / (double)count);
}

static PyObject *
guards_explain(PyObject *Py_UNUSED(module), PyObject *args)
{
    Call call;
    long unused = 0;
    DtStrbuf buf = {0};
    if (read_call(args, &call, &unused) < 0) {
        return NULL;
    }
    if (dt_program_explain(call.program, &call.frame, &buf) != DT_OK) {
        dt_strbuf_release(&buf);
        return NULL;
    }
    return dt_text_take(&buf);
}

static PyObject *
guards_print(PyObject *Py_UNUSED(module), PyObject *capsule)
{
    DtGuardProgram *program = PyCapsule_GetPointer(capsule, capsule_name);
    DtStrbuf buf = {0};
    if (program == NULL) {
        return NULL;
    }
    dt_program_print(program, &buf);
    return dt_text_take(&buf);
}

static PyObject *
guards_is_dead(PyObject *Py_UNUSED(module), PyObject *capsule)
{
    DtGuardProgram *program = PyCapsule_GetPointer(capsule, capsule_name);
    return program == NULL ? NULL : PyBool_FromLong(dt_program_is_dead(program));
}

static PyObject *
guards_to_bytes(PyObject *Py_UNUSED(module), PyObject *capsule)
{
    DtGuardProgram *program = PyCapsule_GetPointer(capsule, capsule_name);
    return program == NULL ? NULL : dt_program_to_bytes(program);
}

/* guards_from_bytes(bytes, function, locals) -> program */
static PyObject *
guards_from_bytes(PyObject *Py_UNUSED(module), PyObject *args)
{
    PyObject *bytes, *locals;
    PyFunctionObject *function;
    Call call;
    if (!PyArg_ParseTuple(args, "OO!O!", &bytes, &PyFunction_Type, &function, &PyList_Type,
                          &locals)) {
        return NULL;
    }
    memset(&call, 0, sizeof(call));
    if (fill_frame(&call, function, locals) < 0
        || dt_program_from_bytes(bytes, &call.frame, &call.program) != DT_OK) {
        return NULL;
    }
    return PyCapsule_New(call.program, capsule_name, free_capsule);
}

static PyObject *
guards_kinds(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(ignored))
{
    const char *names[DT_GUARD_COUNT];
    for (int i = 0; i < DT_GUARD_COUNT; i++) {
        names[i] = dt_guard_rows[i].name;
    }
    return dt_testing_names(names, DT_GUARD_COUNT);
}

PyMethodDef dt_testing_guards_methods[] = {
    {"guards_kinds", guards_kinds, METH_NOARGS, "Names of guards.def."},
    {"guards_program", guards_program, METH_VARARGS, "A program from a recipe as data."},
    {"guards_check", guards_check, METH_VARARGS, "Check it: None, or the wanted values."},
    {"guards_time", guards_time, METH_VARARGS, "Nanoseconds per check."},
    {"guards_explain", guards_explain, METH_VARARGS, "The guard that fails."},
    {"guards_print", guards_print, METH_O, "All guards."},
    {"guards_is_dead", guards_is_dead, METH_O, "Whether an object has gone."},
    {"guards_to_bytes", guards_to_bytes, METH_O, "The portable recipe."},
    {"guards_from_bytes", guards_from_bytes, METH_VARARGS, "A program from it."},
    {NULL, NULL, 0, NULL},
};
