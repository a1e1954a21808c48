/* White-box functions over the tables of src/variables/, sources and symbolic numbers, for
 * tests/variables/. */
#include "compat/text.h"
#include "module/testing.h"
#include "variables/kinds.h"

/* ---- Tables ---------------------------------------------------------------------------------- */

static PyObject *
kinds(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(ignored))
{
    PyObject *list = PyList_New(0);
    static const char *const names[] = {
#define KIND(NAME, TEXT, MUTATION) #NAME,
#include "variables/kinds.def"
#undef KIND
    };
    for (int kind = 0; list != NULL && kind < DT_KIND_COUNT; kind++) {
        PyObject *row = Py_BuildValue("ss", names[kind], dt_var_type_of((DtKind)kind)->name);
        if (row == NULL || PyList_Append(list, row) < 0) {
            Py_CLEAR(list);
        }
        Py_XDECREF(row);
    }
    return list;
}

static PyObject *
source_kinds(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(ignored))
{
    return dt_testing_names(dt_testing_source_names, DT_SOURCE_COUNT);
}

static PyObject *
breaks(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(ignored))
{
    PyObject *list = PyList_New(DT_BREAK_COUNT);
    for (int i = 0; list != NULL && i < DT_BREAK_COUNT; i++) {
        const DtBreakRow *row = &dt_break_rows[i];
        PyObject *entry = Py_BuildValue("sss", row->id, row->what, row->advice);
        if (entry == NULL) {
            Py_CLEAR(list);
            break;
        }
        PyList_SET_ITEM(list, i, entry);
    }
    return list;
}

/* ---- Sources --------------------------------------------------------------------------------- */

/* source_text(function, [(kind, key or None, index), ...]): a chain, outermost base first, which is
 * the second one of those that are read by two.  Also
 * checks that making the chain again gives the same pointers. */
static PyObject *
source_text(PyObject *Py_UNUSED(module), PyObject *args)
{
    PyObject *function, *chain;
    if (!PyArg_ParseTuple(args, "OO!", &function, &PyList_Type, &chain)) {
        return NULL;
    }
    DtTrace *trace = dt_testing_trace(function);
    if (trace == NULL) {
        return NULL;
    }
    PyObject *result = NULL;
    const DtSource *made[2] = {NULL, NULL}, *first = NULL;
    for (int round = 0; round < 2; round++) {
        for (Py_ssize_t i = 0; i < PyList_GET_SIZE(chain); i++) {
            int kind;
            PyObject *key;
            long long index;
            if (!PyArg_ParseTuple(PyList_GET_ITEM(chain, i), "iOL", &kind, &key, &index)) {
                goto done;
            }
            made[round] =
                dt_source_has_two(kind)
                    ? dt_source_by_two(trace, (DtSourceKind)kind, made[round], first, index)
                    : dt_source_get(trace, (DtSourceKind)kind, made[round],
                                    key == Py_None ? NULL : key, index);
            first = i == 0 ? made[round] : first;
            if (made[round] == NULL) {
                goto done;
            }
        }
    }
    if (made[0] != made[1]) {
        PyErr_SetString(PyExc_AssertionError, "equal sources are not interned");
        goto done;
    }
    DtStrbuf buf = {0};
    dt_source_print(made[0], &buf);
    result = dt_text_take(&buf);
done:
    dt_trace_release(trace);
    return result;
}

/* ---- Symbolic numbers ------------------------------------------------------------------------ */

static const DtSym *
number_sym(DtArena *arena, PyObject *value)
{
    if (PyBool_Check(value)) {
        return dt_sym_bool(arena, value == Py_True);
    }
    if (PyFloat_Check(value)) {
        return dt_sym_float(arena, PyFloat_AS_DOUBLE(value));
    }
    return dt_sym_int(arena, PyLong_AsLongLong(value));
}

/* (name, operands ...): an operation; ("SYMBOL", id, hint); a number: a constant. */
static const DtSym *
parse_sym(DtArena *arena, PyObject *spec)
{
    if (!PyTuple_Check(spec)) {
        const DtSym *constant = number_sym(arena, spec);
        return PyErr_Occurred() ? NULL : constant;
    }
    const char *name = PyUnicode_AsUTF8(PyTuple_GET_ITEM(spec, 0));
    int op = dt_testing_index(dt_testing_sym_names, DT_SYM_OP_COUNT, name);
    if (op < 0) {
        return NULL;
    }
    if (op == DT_SYM_OP_SYMBOL) {
        const DtSym *hint = number_sym(arena, PyTuple_GET_ITEM(spec, 2));
        long id = PyLong_AsLong(PyTuple_GET_ITEM(spec, 1));
        return dt_sym_symbol(arena, (uint32_t)id, (DtSymType)hint->type, hint->hint);
    }
    const DtSym *a = parse_sym(arena, PyTuple_GET_ITEM(spec, 1)), *result = NULL;
    const DtSym *b =
        PyTuple_GET_SIZE(spec) > 2 ? parse_sym(arena, PyTuple_GET_ITEM(spec, 2)) : NULL;
    if (a == NULL || (b == NULL && PyTuple_GET_SIZE(spec) > 2)) {
        return NULL;
    }
    DtStatus status = b != NULL ? dt_sym_binary(arena, (DtSymOp)op, a, b, &result)
                                : dt_sym_unary(arena, (DtSymOp)op, a, &result);
    if (status == DT_OK && result == NULL) {
        PyErr_SetString(PyExc_ArithmeticError, "no symbolic form");
    }
    return result;
}

static PyObject *
number_object(int type, DtNumber number)
{
    return type == DT_SYM_FLOAT  ? PyFloat_FromDouble(number.d)
           : type == DT_SYM_BOOL ? PyBool_FromLong(number.i != 0)
                                 : PyLong_FromLongLong(number.i);
}

/* sym(spec, values) -> (text, hint, value by the tree, value by the program); a value is None when
 * it leaves the range. */
static PyObject *
sym(PyObject *Py_UNUSED(module), PyObject *args)
{
    PyObject *spec, *values;
    if (!PyArg_ParseTuple(args, "OO!", &spec, &PyList_Type, &values)) {
        return NULL;
    }
    DtArena arena;
    dt_arena_init(&arena);
    PyObject *result = NULL, *answers[2] = {NULL, NULL};
    Py_ssize_t count = PyList_GET_SIZE(values);
    DtNumber *numbers = DT_ARENA_ARRAY(&arena, DtNumber, count + 1);
    const DtSym *made = parse_sym(&arena, spec);
    const DtSym *copy = made != NULL ? dt_sym_copy(&arena, made) : NULL;
    if (made == NULL || copy == NULL || numbers == NULL) {
        goto done;
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        const DtSym *number = number_sym(&arena, PyList_GET_ITEM(values, i));
        if (number == NULL || PyErr_Occurred()) {
            goto done;
        }
        numbers[i] = number->hint;
    }
    if (!dt_sym_equal(made, copy)) {
        PyErr_SetString(PyExc_AssertionError, "a copy differs");
        goto done;
    }
    DtSymProgram program;
    DtNumber out;
    if (dt_sym_compile(&arena, copy, &program) != DT_OK) {
        goto done;
    }
    answers[0] =
        dt_sym_eval(made, numbers, &out) ? number_object(made->type, out) : Py_NewRef(Py_None);
    answers[1] = program.count == 0                    ? PyUnicode_FromString("too deep")
                 : dt_sym_run(&program, numbers, &out) ? number_object(program.type, out)
                                                       : Py_NewRef(Py_None);
    DtStrbuf buf = {0};
    dt_sym_print(made, &buf);
    result = Py_BuildValue("NNOO", dt_text_take(&buf), number_object(made->type, made->hint),
                           answers[0], answers[1]);
done:
    Py_XDECREF(answers[0]);
    Py_XDECREF(answers[1]);
    dt_arena_release(&arena);
    return result;
}

PyMethodDef dt_testing_variables_methods[] = {
    {"kinds", kinds, METH_NOARGS, NULL},   {"source_kinds", source_kinds, METH_NOARGS, NULL},
    {"breaks", breaks, METH_NOARGS, NULL}, {"source_text", source_text, METH_VARARGS, NULL},
    {"sym", sym, METH_VARARGS, NULL},      {NULL, NULL, 0, NULL},
};
