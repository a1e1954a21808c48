/* White-box runs of trackers, for tests/variables/.
 *
 * trace_program(function, inputs, program, fail_at=0) makes a trace of `function`'s code,
 * builds trackers for the inputs and applies dispatchers to them:
 *   inputs   [(how, object), ...]   how: "input" (guarded, read from L['x<i>']), "known", "const"
 *   program  [(operation, operand ...), ...]   ints are numbers of earlier results (inputs first),
 *            other operands are plain Python values as the operation wants them
 * The answer is a dict: results [(kind, text, constant or None), ...], break (id, message) or None,
 * guards (text).  Inputs need an argument of the function each.  The fail_at-th allocation fails.
 */
#include <string.h>

#include "compat/text.h"
#include "guards/program.h"
#include "module/testing.h"
#include "variables/kinds.h"
#include "variables/substitutes.h"

typedef struct Machine {
    DtTrace *trace;
    DT_VEC(DtVar *) results;
} Machine;

/* Operands of the operation being applied. */
typedef struct Operands {
    PyObject *tuple; /* the whole instruction */
    DtVar *vars[16]; /* operand i as a tracker, if it is a number of a result */
    uint32_t count;
} Operands;

typedef DtStatus (*Operation)(DtTrace *trace, Operands *in, DtVar **out);

static int
int_operand(const Operands *in, uint32_t i)
{
    return (int)PyLong_AsLong(PyTuple_GET_ITEM(in->tuple, i + 1));
}

static PyObject *
object_operand(const Operands *in, uint32_t i)
{
    return PyTuple_GET_ITEM(in->tuple, i + 1);
}

static DtStatus
op_binary(DtTrace *trace, Operands *in, DtVar **out)
{
    return dt_var_binary(trace, (DtBinaryOp)int_operand(in, 0), in->vars[1], in->vars[2], out);
}

static DtStatus
op_compare(DtTrace *trace, Operands *in, DtVar **out)
{
    return dt_var_compare(trace, int_operand(in, 0), in->vars[1], in->vars[2], out);
}

static DtStatus
op_negative(DtTrace *trace, Operands *in, DtVar **out)
{
    return dt_var_negative(trace, in->vars[0], out);
}

static DtStatus
op_positive(DtTrace *trace, Operands *in, DtVar **out)
{
    return dt_var_positive(trace, in->vars[0], out);
}

static DtStatus
op_invert(DtTrace *trace, Operands *in, DtVar **out)
{
    return dt_var_invert(trace, in->vars[0], out);
}

static DtStatus
op_not(DtTrace *trace, Operands *in, DtVar **out)
{
    return dt_var_not(trace, in->vars[0], out);
}

static DtStatus
op_truth(DtTrace *trace, Operands *in, DtVar **out)
{
    bool truth;
    DT_TRY(dt_var_truth(trace, in->vars[0], &truth));
    return dt_var_bool(trace, truth, out);
}

static DtStatus
op_is(DtTrace *trace, Operands *in, DtVar **out)
{
    bool same;
    DT_TRY(dt_var_is(trace, in->vars[0], in->vars[1], &same));
    return dt_var_bool(trace, same, out);
}

static DtStatus
op_contains(DtTrace *trace, Operands *in, DtVar **out)
{
    return dt_var_contains(trace, in->vars[0], in->vars[1], out);
}

static DtStatus
op_length(DtTrace *trace, Operands *in, DtVar **out)
{
    return dt_var_length(trace, in->vars[0], out);
}

static DtStatus
op_subscript(DtTrace *trace, Operands *in, DtVar **out)
{
    return dt_var_subscript(trace, in->vars[0], in->vars[1], out);
}

static DtStatus
op_setitem(DtTrace *trace, Operands *in, DtVar **out)
{
    *out = dt_none(trace);
    return dt_var_ass_subscript(trace, in->vars[0], in->vars[1], in->vars[2]);
}

static DtStatus
op_delitem(DtTrace *trace, Operands *in, DtVar **out)
{
    *out = dt_none(trace);
    return dt_var_ass_subscript(trace, in->vars[0], in->vars[1], NULL);
}

static DtStatus
op_getattr(DtTrace *trace, Operands *in, DtVar **out)
{
    return dt_var_getattr(trace, in->vars[0], object_operand(in, 1), out);
}

static DtStatus
op_setattr(DtTrace *trace, Operands *in, DtVar **out)
{
    *out = dt_none(trace);
    return dt_var_setattr(trace, in->vars[0], object_operand(in, 1), in->vars[2]);
}

static DtStatus
op_call(DtTrace *trace, Operands *in, DtVar **out)
{
    DtArgs args = {.pos = in->vars + 1, .npos = in->count - 1};
    return dt_var_call(trace, in->vars[0], &args, out);
}

static DtStatus
op_iter(DtTrace *trace, Operands *in, DtVar **out)
{
    return dt_var_iter(trace, in->vars[0], out);
}

static DtStatus
op_next(DtTrace *trace, Operands *in, DtVar **out)
{
    DT_TRY(dt_var_iternext(trace, in->vars[0], out));
    if (*out == NULL) {
        *out = dt_null(trace);
    }
    return DT_OK;
}

static DtStatus
op_unpack(DtTrace *trace, Operands *in, DtVar **out)
{
    DtVar **items;
    uint32_t count;
    DT_TRY(dt_var_unpack(trace, in->vars[0], &items, &count));
    return dt_var_tuple(trace, items, count, out);
}

static DtStatus
op_tuple(DtTrace *trace, Operands *in, DtVar **out)
{
    return dt_var_tuple(trace, in->vars, in->count, out);
}

static DtStatus
op_list(DtTrace *trace, Operands *in, DtVar **out)
{
    return dt_var_list(trace, in->vars, in->count, out);
}

static DtStatus
op_set(DtTrace *trace, Operands *in, DtVar **out)
{
    return dt_var_set(trace, in->vars, in->count, out);
}

static DtStatus
op_dict(DtTrace *trace, Operands *in, DtVar **out)
{
    return dt_var_dict(trace, in->vars, in->count / 2, out);
}

static DtStatus
op_slice(DtTrace *trace, Operands *in, DtVar **out)
{
    return dt_var_slice(trace, in->vars[0], in->vars[1], in->vars[2], out);
}

static DtStatus
op_cell(DtTrace *trace, Operands *in, DtVar **out)
{
    return dt_var_cell(trace, NULL, -1, in->vars[0], out);
}

/* Raises the exception and catches it again. */
static DtStatus
op_raise(DtTrace *trace, Operands *in, DtVar **out)
{
    DtStatus status = dt_raise_var(trace, in->vars[0]);
    if (status == DT_RAISE) {
        *out = dt_raised_take(trace);
        return DT_OK;
    }
    return status;
}

static DtStatus
op_realize(DtTrace *trace, Operands *in, DtVar **out)
{
    return dt_var_realize(trace, in->vars[0], out);
}

static DtStatus
op_specialize(DtTrace *trace, Operands *in, DtVar **out)
{
    PyObject *value = dt_var_as_constant(trace, in->vars[0]);
    return value != NULL ? dt_var_const(trace, value, out)
                         : dt_break(trace, DT_BREAK_MISSING_SLOT, "no constant");
}

static DtStatus
op_null(DtTrace *trace, Operands *in, DtVar **out)
{
    (void)in;
    *out = dt_null(trace);
    return DT_OK;
}

static const struct {
    const char *name;
    Operation apply;
} operations[] = {
    {"binary", op_binary},
    {"call", op_call},
    {"cell", op_cell},
    {"compare", op_compare},
    {"contains", op_contains},
    {"delitem", op_delitem},
    {"dict", op_dict},
    {"getattr", op_getattr},
    {"invert", op_invert},
    {"is", op_is},
    {"iter", op_iter},
    {"length", op_length},
    {"list", op_list},
    {"negative", op_negative},
    {"next", op_next},
    {"not", op_not},
    {"raise", op_raise},
    {"null", op_null},
    {"positive", op_positive},
    {"realize", op_realize},
    {"set", op_set},
    {"setattr", op_setattr},
    {"setitem", op_setitem},
    {"slice", op_slice},
    {"specialize", op_specialize},
    {"subscript", op_subscript},
    {"truth", op_truth},
    {"tuple", op_tuple},
    {"unpack", op_unpack},
};

static DtStatus
apply_instruction(Machine *machine, PyObject *instruction, DtVar **out)
{
    const char *name = PyUnicode_AsUTF8(PyTuple_GET_ITEM(instruction, 0));
    Operands in = {.tuple = instruction, .count = (uint32_t)PyTuple_GET_SIZE(instruction) - 1};
    if (name == NULL || in.count > 16) {
        return DT_ERROR;
    }
    for (uint32_t i = 0; i < in.count; i++) {
        PyObject *operand = object_operand(&in, i);
        long number = PyLong_Check(operand) ? PyLong_AsLong(operand) : -1;
        if (number >= 0 && number < (long)machine->results.count) {
            in.vars[i] = machine->results.items[number];
        }
    }
    for (size_t i = 0; i < sizeof(operations) / sizeof(operations[0]); i++) {
        if (strcmp(operations[i].name, name) == 0) {
            return operations[i].apply(machine->trace, &in, out);
        }
    }
    PyErr_Format(PyExc_ValueError, "no operation %s", name);
    return DT_ERROR;
}

static DtStatus
build_input(Machine *machine, PyObject *input, Py_ssize_t index, DtVar **out)
{
    const char *how;
    PyObject *object;
    DtTrace *trace = machine->trace;
    if (!PyArg_ParseTuple(input, "sO", &how, &object)) {
        return DT_ERROR;
    }
    if (strcmp(how, "const") == 0) {
        return dt_var_const(trace, object, out);
    }
    if (strcmp(how, "known") == 0) {
        return dt_var_build(trace, object, NULL, out);
    }
    PyObject *name = dt_trace_keep_take(trace, PyUnicode_FromFormat("x%zd", index));
    const DtSource *source = name != NULL ? dt_source_local(trace, (int)index, name) : NULL;
    return source != NULL ? dt_var_build_lazy(trace, object, source, out) : DT_ERROR;
}

static PyObject *
describe(DtTrace *trace, DtVar *var)
{
    DtStrbuf buf = {0};
    PyObject *constant = dt_var_peek_constant(var);
    var = dt_var_peek(var);
    dt_var_repr(var, &buf);
    PyTypeObject *type = var->type->kind == DT_KIND_LAZY ? NULL : dt_var_python_type(trace, var);
    return Py_BuildValue("sNOs", var->type->name, dt_text_take(&buf),
                         constant != NULL ? constant : Py_None, type != NULL ? type->tp_name : "");
}

static PyObject *
print_guards(DtTrace *trace)
{
    DtGuardProgram *program = NULL;
    DtStatus status = dt_program_lower(trace, NULL, 0, &program);
    if (status == DT_BREAK) {
        return PyUnicode_FromFormat("not lowered: %s", trace->brk.message);
    }
    if (status != DT_OK) {
        return NULL;
    }
    DtStrbuf buf = {0};
    dt_program_print(program, &buf);
    dt_program_free(program);
    return dt_text_take(&buf);
}

/* What came of a program, or NULL with an exception. */
static PyObject *
describe_run(Machine *machine, DtStatus status)
{
    DtTrace *trace = machine->trace;
    PyObject *described = PyList_New(0), *answer = NULL;
    for (uint32_t i = 0; i < machine->results.count && described != NULL; i++) {
        PyObject *row = describe(trace, machine->results.items[i]);
        if (row == NULL || PyList_Append(described, row) < 0) {
            Py_CLEAR(described);
        }
        Py_XDECREF(row);
    }
    if (described == NULL) {
        return NULL;
    }
    PyObject *broken =
        status == DT_BREAK /* before lowering, which may break too */
            ? Py_BuildValue("ss", dt_break_rows[trace->brk.id].id, trace->brk.message)
            : Py_NewRef(Py_None);
    PyObject *guards = print_guards(trace);
    if (broken != NULL && guards != NULL) {
        answer =
            Py_BuildValue("{s:O,s:O,s:O}", "results", described, "break", broken, "guards", guards);
    }
    Py_DECREF(described);
    Py_XDECREF(broken);
    Py_XDECREF(guards);
    return answer;
}

static DtStatus
run_program(Machine *machine, PyObject *inputs, PyObject *program)
{
    Py_ssize_t ninputs = PyList_GET_SIZE(inputs), total = ninputs + PyList_GET_SIZE(program);
    DtStatus status = DT_OK;
    for (Py_ssize_t i = 0; i < total && status == DT_OK; i++) {
        DtVar *var = NULL;
        status = i < ninputs
                     ? build_input(machine, PyList_GET_ITEM(inputs, i), i, &var)
                     : apply_instruction(machine, PyList_GET_ITEM(program, i - ninputs), &var);
        status = dt_raised_break_if(machine->trace, status);
        if (status == DT_OK && dt_vec_push(&machine->trace->arena, &machine->results, var) < 0) {
            status = dt_no_memory();
        }
    }
    return status;
}

static PyObject *
trace_program(PyObject *Py_UNUSED(module), PyObject *args)
{
    PyObject *function, *inputs, *program;
    unsigned long fail_at = 0;
    if (!PyArg_ParseTuple(args, "OO!O!|k", &function, &PyList_Type, &inputs, &PyList_Type, &program,
                          &fail_at)) {
        return NULL;
    }
    dt_arena_fail_at(fail_at);
    Machine machine = {0};
    DtStatus status = DT_RESTART;
    while (status == DT_RESTART) {
        if (machine.trace != NULL && dt_substitute_load_wanted(machine.trace) < 0) {
            dt_arena_fail_at(0);
            return NULL;
        }
        machine = (Machine){.trace = dt_testing_trace(function)};
        status = machine.trace != NULL ? run_program(&machine, inputs, program) : DT_ERROR;
    }
    PyObject *answer = status != DT_ERROR ? describe_run(&machine, status) : NULL;
    dt_arena_fail_at(0);
    if (machine.trace != NULL) {
        dt_trace_release(machine.trace);
    }
    return answer;
}

PyMethodDef dt_testing_trackers_methods[] = {
    {"trace_program", trace_program, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};
