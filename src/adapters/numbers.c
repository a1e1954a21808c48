/* See numbers.h.
 *
 * Not in here: numbers that are known when the call begins (v_symbolic.c), NumPy's scalars
 * (adapters/numpy), functions of numbers (numbers_functions.c).
 */
#include "adapters/numbers.h"

#include <string.h>

#include "compat/import.h"
#include "variables/kinds.h"

/* ---- What a value is ------------------------------------------------------------------------- */

static const struct {
    char kind;
    PyTypeObject *type;
} kinds[] = {
    {'b', &PyBool_Type},    {'i', &PyLong_Type},    {'f', &PyFloat_Type},
    {'c', &PyComplex_Type}, {'s', &PyUnicode_Type}, {'l', &PyList_Type},
};

PyTypeObject *
dt_number_type(char kind)
{
    for (size_t i = 0; i < Py_ARRAY_LENGTH(kinds); i++) {
        if (kinds[i].kind == kind) {
            return kinds[i].type;
        }
    }
    return NULL;
}

char
dt_number_kind_of_type(const PyTypeObject *type)
{
    for (size_t i = 0; i < Py_ARRAY_LENGTH(kinds); i++) {
        if (kinds[i].type == type) {
            return kinds[i].kind;
        }
    }
    return 0;
}

char
dt_number_kind_of(const DtMeta *meta)
{
    return meta->adapter == &dt_number_adapter ? dt_number_kind_of_type(meta->type) : 0;
}

char
dt_number_kind(DtVar *var)
{
    var = dt_var_peek(var);
    return var->type->kind == DT_KIND_ARRAY ? dt_number_kind_of(((DtArrayVar *)var)->meta) : 0;
}

static bool
is_number(char kind)
{
    return kind == 'b' || kind == 'i' || kind == 'f' || kind == 'c';
}

static char
kind_of_sym(const DtSym *sym)
{
    return sym->type == DT_SYM_FLOAT ? 'f' : sym->type == DT_SYM_BOOL ? 'b' : 'i';
}

char
dt_number_of(DtVar *var, bool *array)
{
    char kind;
    var = dt_var_peek(var);
    *array = false;
    switch (var->type->kind) {
    case DT_KIND_ARRAY: {
        DtArrayVar *value = (DtArrayVar *)var;
        *array = value->adapter != &dt_number_adapter;
        kind = value->adapter->number_kind != NULL ? value->adapter->number_kind(value->meta) : 0;
        break;
    }
    case DT_KIND_SYMBOLIC:
        kind = kind_of_sym(((DtSymVar *)var)->sym);
        break;
    case DT_KIND_CONSTANT:
        kind = dt_number_kind_of_type(Py_TYPE(((DtConstVar *)var)->value));
        break;
    default:
        kind = 0;
    }
    return is_number(kind) ? kind : 0;
}

/* ---- Nodes ----------------------------------------------------------------------------------- */

DtMeta
dt_number_meta(char kind)
{
    return (DtMeta){.adapter = &dt_number_adapter, .type = dt_number_type(kind)};
}

DtStatus
dt_number_emit_spec(DtTrace *trace, const DtCallSpec *spec, DtVar **out)
{
    DtNode *node;
    DT_TRY(dt_graph_call(trace, spec, &node));
    DtMeta *meta = DT_ARENA_NEW(&trace->arena, DtMeta);
    if (meta == NULL) {
        return dt_no_memory();
    }
    *meta = spec->results[0];
    return dt_var_array(trace, node, 0, meta, out);
}

DtStatus
dt_number_emit_meta(DtTrace *trace, const char *target, PyObject *callee, const DtOperand *args,
                    uint32_t nargs, const DtMeta *meta, DtVar **out)
{
    DtCallSpec spec = {
        .target = target,
        .callee = callee,
        .args = args,
        .nargs = nargs,
        .results = meta,
        .nresults = 1,
    };
    return dt_number_emit_spec(trace, &spec, out);
}

DtStatus
dt_number_emit(DtTrace *trace, const char *target, PyObject *callee, const DtOperand *args,
               uint32_t nargs, char kind, DtVar **out)
{
    DtMeta meta = dt_number_meta(kind);
    return dt_number_emit_meta(trace, target, callee, args, nargs, &meta, out);
}

/* module.name, kept for the process. DT_BORROWED */
PyObject *
dt_number_function(const char *module, const char *name)
{
    static PyObject *found;
    char key[64];
    (void)PyOS_snprintf(key, sizeof(key), "%s.%s", module, name);
    if (found == NULL && (found = PyDict_New()) == NULL) {
        return NULL;
    }
    PyObject *callee = PyDict_GetItemString(found, key);
    if (callee != NULL) {
        return callee;
    }
    callee = dt_import_attr(module, name);
    if (callee == NULL) {
        return NULL;
    }
    int failed = PyDict_SetItemString(found, key, callee);
    Py_DECREF(callee); /* the dict keeps it */
    return failed ? NULL : callee;
}

DtStatus
dt_number_emit_named(DtTrace *trace, const char *module, const char *name, const char *target,
                     const DtOperand *args, uint32_t nargs, char kind, DtVar **out)
{
    PyObject *callee = dt_number_function(module, name);
    return callee != NULL ? dt_number_emit(trace, target, callee, args, nargs, kind, out)
                          : DT_ERROR;
}

DtStatus
dt_number_fit(DtTrace *trace, int64_t low, int64_t high, DtOperand *operand)
{
    PyObject *bounds[2] = {dt_trace_keep_take(trace, PyLong_FromLongLong(low)),
                           dt_trace_keep_take(trace, PyLong_FromLongLong(high))};
    if (bounds[0] == NULL || bounds[1] == NULL) {
        return DT_ERROR;
    }
    DtOperand args[3] = {*operand,
                         {.kind = DT_OPERAND_CONST, .u.object = bounds[0]},
                         {.kind = DT_OPERAND_CONST, .u.object = bounds[1]}};
    DtVar *checked;
    DT_TRY(dt_number_emit_named(trace, "dyntrace._numbers", "fit", "dyntrace._numbers.fit", args, 3,
                                'i', &checked));
    bool ok;
    return dt_graph_operand(trace, checked, operand, &ok);
}

DtStatus
dt_number_expect(DtTrace *trace, DtVar *value, DtExpect how, bool *done)
{
    static const struct {
        const char *module, *name, *target;
        bool truth;
    } rows[] = {
        [DT_EXPECT_TRUE] = {"dyntrace._numbers", "expect", "dyntrace._numbers.expect", true},
        [DT_EXPECT_FALSE] = {"dyntrace._numbers", "expect", "dyntrace._numbers.expect", false},
        [DT_GUESS_TRUE] = {"dyntrace._core", "guess", "dyntrace._core.guess", true},
        [DT_GUESS_FALSE] = {"dyntrace._core", "guess", "dyntrace._core.guess", false},
        [DT_LOOK] = {"dyntrace._core", "look", "dyntrace._core.look", true},
    };
    bool array;
    DtVar *checked;
    DtOperand args[2];
    *done = dt_number_of(value, &array) != 0;
    if (!*done) {
        return DT_OK;
    }
    DT_TRY(dt_number_operands(trace, &value, 1, args));
    args[1] =
        (DtOperand){.kind = DT_OPERAND_CONST, .u.object = rows[how].truth ? Py_True : Py_False};
    return dt_number_emit_named(trace, rows[how].module, rows[how].name, rows[how].target, args, 2,
                                'b', &checked);
}

/* ---- Operators ------------------------------------------------------------------------------- */

static const struct {
    const char *name, *target;
    char of_ints, of_floats; /* results, 0: none */
} operators[] = {
    [DT_BINARY_ADD] = {"add", "operator.add", 'i', 'f'},
    [DT_BINARY_AND] = {"and_", "operator.and_", 'i', 0},
    [DT_BINARY_FLOOR_DIVIDE] = {"floordiv", "operator.floordiv", 'i', 'f'},
    [DT_BINARY_LSHIFT] = {"lshift", "operator.lshift", 0, 0}, /* may be huge */
    [DT_BINARY_MATRIX_MULTIPLY] = {NULL, NULL, 0, 0},
    [DT_BINARY_MULTIPLY] = {"mul", "operator.mul", 'i', 'f'},
    [DT_BINARY_REMAINDER] = {"mod", "operator.mod", 'i', 'f'},
    [DT_BINARY_OR] = {"or_", "operator.or_", 'i', 0},
    [DT_BINARY_POWER] = {"power", "dyntrace._numbers.power", 'i', 'f'},
    [DT_BINARY_RSHIFT] = {"rshift", "operator.rshift", 'i', 0},
    [DT_BINARY_SUBTRACT] = {"sub", "operator.sub", 'i', 'f'},
    [DT_BINARY_TRUE_DIVIDE] = {"truediv", "operator.truediv", 'f', 'f'},
    [DT_BINARY_XOR] = {"xor", "operator.xor", 'i', 0},
};

static char
result_of(int op, char a, char b)
{
    bool bitwise = op == DT_BINARY_AND || op == DT_BINARY_OR || op == DT_BINARY_XOR;
    if (a == 'c' || b == 'c') {
        bool knows = op == DT_BINARY_ADD || op == DT_BINARY_SUBTRACT || op == DT_BINARY_MULTIPLY
                     || op == DT_BINARY_TRUE_DIVIDE;
        return knows ? 'c' : 0;
    }
    if (bitwise && a == 'b' && b == 'b') {
        return 'b';
    }
    return a == 'f' || b == 'f' ? operators[op].of_floats : operators[op].of_ints;
}

DtStatus
dt_number_operands(DtTrace *trace, DtVar *const *vars, uint32_t count, DtOperand *out)
{
    for (uint32_t i = 0; i < count; i++) {
        bool ok;
        DT_TRY(dt_graph_operand(trace, vars[i], &out[i], &ok));
        if (!ok) {
            return dt_break(trace, DT_BREAK_ARRAY_TO_SCALAR, "a number of an array with a %s",
                            vars[i]->type->name);
        }
    }
    return DT_OK;
}

/* Two texts, one of them of the graph. */
static bool
are_texts(DtVar *l, DtVar *r)
{
    DtVar *both[] = {l, r};
    for (size_t i = 0; i < 2; i++) {
        PyObject *known = dt_var_peek_constant(dt_var_peek(both[i]));
        if (dt_number_kind(both[i]) != 's' && (known == NULL || !PyUnicode_CheckExact(known))) {
            return false;
        }
    }
    return true;
}

static DtStatus
add_texts(DtTrace *trace, DtVar *l, DtVar *r, DtVar **out)
{
    DtVar *parts[3] = {NULL, l, r};
    DT_TRY(dt_var_const_take(trace, PyUnicode_New(0, 0), &parts[0]));
    return dt_number_text(trace, "joined", parts, 3, out);
}

static DtStatus
number_binary(const DtAdapter *adapter, DtTrace *trace, DtBinaryOp op, DtVar *l, DtVar *r,
              DtVar **out)
{
    bool array;
    int plain = DT_BINARY_PLAIN((int)op);
    char a = dt_number_of(l, &array), b = dt_number_of(r, &array);
    char kind = a != 0 && b != 0 ? result_of(plain, a, b) : 0;
    DtVar *both[] = {l, r};
    DtOperand args[2];
    (void)adapter;
    if (plain == DT_BINARY_ADD && are_texts(l, r)) {
        return add_texts(trace, l, r, out);
    }
    if (kind == 0) {
        return dt_break(trace, DT_BREAK_ARRAY_TO_SCALAR, "%s of a number of an array and a %s",
                        dt_canonical_binary_symbol(plain),
                        dt_var_peek(dt_number_kind(l) != 0 ? r : l)->type->name);
    }
    DT_TRY(dt_number_operands(trace, both, 2, args));
    bool helped = plain == DT_BINARY_POWER;
    return dt_number_emit_named(trace, helped ? "dyntrace._numbers" : "operator",
                                operators[plain].name, operators[plain].target, args, 2, kind, out);
}

static DtStatus
number_compare(const DtAdapter *adapter, DtTrace *trace, int op, DtVar *l, DtVar *r, DtVar **out)
{
    static const struct {
        const char *name, *target;
    } rows[] = {
        [Py_LT] = {"lt", "operator.lt"}, [Py_LE] = {"le", "operator.le"},
        [Py_EQ] = {"eq", "operator.eq"}, [Py_NE] = {"ne", "operator.ne"},
        [Py_GT] = {"gt", "operator.gt"}, [Py_GE] = {"ge", "operator.ge"},
    };
    bool array;
    char a = dt_number_of(l, &array), b = dt_number_of(r, &array);
    DtVar *both[] = {l, r};
    DtOperand args[2];
    (void)adapter;
    if (a == 0 || b == 0 || ((a == 'c' || b == 'c') && op != Py_EQ && op != Py_NE)) {
        return dt_break(trace, DT_BREAK_ARRAY_TO_SCALAR,
                        "a comparison of a number of an array with a %s",
                        dt_var_peek(dt_number_kind(l) != 0 ? r : l)->type->name);
    }
    DT_TRY(dt_number_operands(trace, both, 2, args));
    if (a == 'i' && args[0].kind == DT_OPERAND_NODE && args[0].kind == args[1].kind
        && args[0].u.node == args[1].u.node && args[0].result == args[1].result) {
        return dt_var_bool(trace, op == Py_EQ || op == Py_LE || op == Py_GE, out);
    }
    return dt_number_emit_named(trace, "operator", rows[op].name, rows[op].target, args, 2, 'b',
                                out);
}

static DtStatus
number_unary(const DtAdapter *adapter, DtTrace *trace, const char *op, DtArrayVar *self,
             DtVar **out)
{
    static const struct {
        const char *op, *name, *target;
        char of_bool, of_int, of_float, of_complex;
    } rows[] = {
        {"negative", "neg", "operator.neg", 'i', 'i', 'f', 'c'},
        {"positive", "pos", "operator.pos", 'i', 'i', 'f', 'c'},
        {"absolute", "abs", "operator.abs", 'i', 'i', 'f', 'f'},
        {"invert", "invert", "operator.invert", 0, 'i', 0, 0}, /* ~True warns */
    };
    char kind = dt_number_kind_of(self->meta);
    DtVar *var = &self->base;
    DtOperand arg;
    (void)adapter;
    for (size_t i = 0; i < Py_ARRAY_LENGTH(rows) && is_number(kind); i++) {
        if (strcmp(rows[i].op, op) != 0) {
            continue;
        }
        char result = kind == 'b'   ? rows[i].of_bool
                      : kind == 'i' ? rows[i].of_int
                      : kind == 'f' ? rows[i].of_float
                                    : rows[i].of_complex;
        if (strcmp(op, "positive") == 0 && kind != 'b') {
            *out = var; /* the very object */
            return DT_OK;
        }
        if (result == 0) {
            break;
        }
        DT_TRY(dt_number_operands(trace, &var, 1, &arg));
        return dt_number_emit_named(trace, "operator", rows[i].name, rows[i].target, &arg, 1,
                                    result, out);
    }
    return dt_break(trace, DT_BREAK_ARRAY_TO_SCALAR, "%s of a %s out of an array", op,
                    self->meta->type->tp_name);
}

/* ---- Attributes ------------------------------------------------------------------------------ */

static const struct {
    char of;
    const char *name;
    char result;
} methods[] = {
    {'f', "is_integer", 'b'}, {'f', "hex", 's'},       {'i', "bit_length", 'i'},
    {'b', "bit_length", 'i'}, {'f', "conjugate", '='}, {'i', "conjugate", '='},
    {'c', "conjugate", 'c'},
};

static DtStatus
no_attribute(DtTrace *trace, const DtArrayVar *self, PyObject *name)
{
    return dt_break(trace, DT_BREAK_ARRAY_TO_SCALAR, "'%s' of a %s out of an array",
                    dt_kinds_text(name), self->meta->type->tp_name);
}

static DtStatus
number_getattr(const DtAdapter *adapter, DtTrace *trace, DtArrayVar *self, PyObject *name,
               DtVar **out)
{
    char kind = dt_number_kind_of(self->meta);
    (void)adapter;
    if (PyUnicode_CompareWithASCIIString(name, "__class__") == 0) {
        return dt_class_of(trace, &self->base, out);
    }
    if ((kind == 'f' || kind == 'i') && PyUnicode_CompareWithASCIIString(name, "real") == 0) {
        *out = &self->base; /* the very object */
        return DT_OK;
    }
    if (kind == 'f' && PyUnicode_CompareWithASCIIString(name, "imag") == 0) {
        return dt_var_const_take(trace, PyFloat_FromDouble(0.0), out);
    }
    for (size_t i = 0; i < Py_ARRAY_LENGTH(methods); i++) {
        if (methods[i].of == kind && PyUnicode_CompareWithASCIIString(name, methods[i].name) == 0) {
            return dt_var_adapter_method(trace, self, name, out);
        }
    }
    return no_attribute(trace, self, name);
}

static DtStatus
number_call_method(const DtAdapter *adapter, DtTrace *trace, DtArrayVar *self, PyObject *name,
                   const DtArgs *args, DtVar **out)
{
    char kind = dt_number_kind_of(self->meta);
    DtVar *var = &self->base;
    DtOperand operand;
    (void)adapter;
    for (size_t i = 0; i < Py_ARRAY_LENGTH(methods) && args->npos + args->nkw == 0; i++) {
        if (methods[i].of != kind || PyUnicode_CompareWithASCIIString(name, methods[i].name) != 0) {
            continue;
        }
        if (methods[i].result == '=') {
            *out = var; /* the very object */
            return DT_OK;
        }
        const char *target = dt_arena_printf(&trace->arena, "builtins.%s.%s",
                                             self->meta->type->tp_name, methods[i].name);
        PyObject *callee =
            dt_trace_keep_take(trace, PyObject_GetAttr((PyObject *)self->meta->type, name));
        if (target == NULL || callee == NULL) {
            return target == NULL ? dt_no_memory() : DT_ERROR;
        }
        DT_TRY(dt_number_operands(trace, &var, 1, &operand));
        return dt_number_emit(trace, target, callee, &operand, 1, methods[i].result, out);
    }
    return no_attribute(trace, self, name);
}

/* ---- What breaks ----------------------------------------------------------------------------- */

static DtStatus
number_truth(const DtAdapter *adapter, DtTrace *trace, DtArrayVar *self, bool *out)
{
    (void)adapter;
    (void)out;
    return dt_break(trace, DT_BREAK_ARRAY_BRANCH, "the truth of a %s out of an array",
                    self->meta->type->tp_name);
}

static DtStatus
unknown(DtTrace *trace, const char *what, const DtArrayVar *self)
{
    return dt_break(trace, DT_BREAK_ARRAY_TO_SCALAR, "%s of a %s out of an array", what,
                    self->meta->type->tp_name);
}

static DtStatus
number_length(const DtAdapter *adapter, DtTrace *trace, DtArrayVar *self, DtVar **out)
{
    (void)adapter;
    (void)out;
    return unknown(trace, "the length", self);
}

static DtStatus
number_subscript(const DtAdapter *adapter, DtTrace *trace, DtArrayVar *self, DtVar *key,
                 DtVar **out)
{
    (void)adapter;
    (void)key;
    (void)out;
    return unknown(trace, "an item", self);
}

static DtStatus
number_ass_subscript(const DtAdapter *adapter, DtTrace *trace, DtArrayVar *self, DtVar *key,
                     DtVar *value)
{
    (void)adapter;
    (void)key;
    (void)value;
    return unknown(trace, "an item", self);
}

static DtStatus
number_iter(const DtAdapter *adapter, DtTrace *trace, DtArrayVar *self, DtVar **out)
{
    (void)adapter;
    (void)out;
    return unknown(trace, "the items", self);
}

static bool
owns_nothing(const DtAdapter *adapter, PyObject *object)
{
    (void)adapter;
    (void)object;
    return false; /* no input is one: it would be a symbolic number */
}

const DtAdapter dt_number_adapter = {
    .name = "numbers",
    .gives_way = true,
    .beside = true,
    .is_array = owns_nothing,
    .owns_callable = owns_nothing,
    .binary = number_binary,
    .compare = number_compare,
    .unary = number_unary,
    .truth = number_truth,
    .length = number_length,
    .subscript = number_subscript,
    .ass_subscript = number_ass_subscript,
    .getattr = number_getattr,
    .call_method = number_call_method,
    .iter = number_iter,
    .number_kind = dt_number_kind_of,
    .number = dt_number_call,
    .expect = dt_number_expect,
    .text = dt_number_text,
};

int
dt_number_init(void)
{
    return dt_adapter_by_name(dt_number_adapter.name) != NULL
               ? 0
               : dt_adapter_register(&dt_number_adapter);
}
