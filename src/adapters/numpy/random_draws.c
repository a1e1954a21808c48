/* What comes out of a draw of random numbers, and its node.
 *
 * Shape and dtype follow from the arguments, by the rows of random.def; arguments that a rule does
 * not know are graph breaks.  Nothing is drawn here.
 *
 * Not in here: trackers of generators, and what is called (random.c).
 */
#include "adapters/numpy/random.h"

#include <string.h>

#include "variables/kinds.h"

enum { MAX_NAMES = 6 };

typedef enum DrawKind {
    DRAW_FLOAT,
    DRAW_INT,
    DRAW_FLOAT_OF,
    DRAW_INT_OF,
    DRAW_DIMS,
    DRAW_ROWS,
    DRAW_INT_ROWS,
    DRAW_NORMAL_ROWS,
    DRAW_BYTES,
    DRAW_CHOICE,
    DRAW_PERMUTATION,
    DRAW_PERMUTED,
    DRAW_SHUFFLE,
    DRAW_SEED
} DrawKind;

enum { DT_RANDOM_BOTH = DT_RANDOM_LEGACY | DT_RANDOM_MODERN };

typedef struct Row {
    uint8_t classes;
    uint8_t kind;
    const char *name;
    const char *targets[2]; /* per class */
    const char *names[MAX_NAMES + 1];
} Row;

static const Row rows[] = {
#define RANDOM(CLASSES, NAME, KIND, ...)                                                           \
    {DT_RANDOM_##CLASSES,                                                                          \
     DRAW_##KIND,                                                                                  \
     #NAME,                                                                                        \
     {"numpy.random.RandomState." #NAME, "numpy.random.Generator." #NAME},                         \
     {__VA_ARGS__}},
#include "adapters/numpy/random.def"
#undef RANDOM
};

enum { ROWS = sizeof(rows) / sizeof(rows[0]) };

static PyObject *callees[2][ROWS]; /* the functions in the classes; kept by the process */

static PyObject *
callee_of(uint32_t row, DtRandomClass cls)
{
    PyObject **callee = &callees[cls - 1][row];
    if (*callee == NULL && (rows[row].classes & cls)) {
        PyTypeObject *type = dt_np_random_type(cls);
        *callee = type != NULL ? PyObject_GetAttrString((PyObject *)type, rows[row].name) : NULL;
        if (*callee == NULL) {
            PyErr_Clear(); /* not in this NumPy, or not loaded */
        }
    }
    return *callee;
}

/* ---- Rows ---------------------------------------------------------------------------------- */

DtRandomClass
dt_np_random_class_of(const DtArrayVar *self)
{
    return self->meta->type == dt_np_random_type(DT_RANDOM_LEGACY) ? DT_RANDOM_LEGACY
                                                                   : DT_RANDOM_MODERN;
}

int
dt_np_random_find_method(PyObject *callable, DtRandomClass *cls)
{
    for (uint32_t i = 0; i < ROWS; i++) {
        if (callee_of(i, DT_RANDOM_LEGACY) == callable) {
            *cls = DT_RANDOM_LEGACY;
            return (int)i;
        }
        if (callee_of(i, DT_RANDOM_MODERN) == callable) {
            *cls = DT_RANDOM_MODERN;
            return (int)i;
        }
    }
    return -1;
}

int
dt_np_random_find_name(DtRandomClass cls, PyObject *name)
{
    for (uint32_t i = 0; i < ROWS; i++) {
        if ((rows[i].classes & cls) && PyUnicode_CompareWithASCIIString(name, rows[i].name) == 0) {
            return (int)i;
        }
    }
    return -1;
}

/* ---- Draws ----------------------------------------------------------------------------------- */

typedef struct Draw {
    DtTrace *trace;
    const Row *row;
    DtRandomClass cls;
    const char *function;
    PyObject *callee;
    DtArrayVar *self;
    DtVar *slots[MAX_NAMES];
    uint32_t count; /* of slots */
    const DtSym *shape[DT_NP_MAXDIMS];
    uint32_t ndim;
    PyObject *dtype;
    DtArrayVar *population; /* the array that NumPy would make of the first argument, or NULL */
} Draw;

/* The slot of that name, or NULL. */
static DtVar *
slot_of(const Draw *draw, const char *name)
{
    for (uint32_t i = 0; i < draw->count; i++) {
        if (strcmp(draw->row->names[i], name) == 0) {
            return draw->slots[i];
        }
    }
    return NULL;
}

/* The call as it is, on the generator; its dtype= as a dtype. `mutated` operands are written. */
static DtStatus
emit(Draw *draw, const DtArgs *args, const DtMeta *result, uint32_t nmutated, DtVar **out)
{
    static const uint32_t mutated[] = {0, 1};
    DtTrace *trace = draw->trace;
    uint32_t total = 1 + args->npos + args->nkw;
    DtOperand *operands = DT_ARENA_ARRAY(&trace->arena, DtOperand, total);
    PyObject *kwnames;
    DtVar *dtype = slot_of(draw, "dtype");
    if (operands == NULL) {
        return dt_no_memory();
    }
    operands[0] = dt_np_node(draw->self);
    for (uint32_t i = 0; i + 1 < total; i++) {
        DtVar *var = i < args->npos ? args->pos[i] : args->kw[i - args->npos];
        if (i == 0 && draw->population != NULL && args->npos > 0) {
            var = &draw->population->base;
        }
        bool ok;
        DT_TRY(dt_var_realize(trace, var, &var));
        var = dt_var_peek(var);
        if (var == dtype && draw->dtype != NULL) {
            operands[i + 1] = dt_np_const(draw->dtype);
            continue;
        }
        DT_TRY(dt_graph_operand(trace, var, &operands[i + 1], &ok));
        if (!ok) {
            return dt_break(trace, DT_BREAK_ARRAY_OP, "%s with a %s", draw->function,
                            var->type->name);
        }
    }
    DT_TRY(dt_args_kwnames(trace, args, &kwnames));
    DtCallSpec spec = {
        .target = draw->function,
        .callee = draw->callee,
        .args = operands,
        .nargs = total,
        .kwnames = kwnames,
        .results = result,
        .nresults = result != NULL,
        .effect = DT_EFFECT_MUTATES,
        .mutated = mutated,
        .nmutated = nmutated,
    };
    if (result != NULL) {
        return dt_np_emit(trace, &spec, out);
    }
    DtNode *node;
    *out = trace->none;
    return dt_graph_call(trace, &spec, &node);
}

static DtStatus
emit_result(Draw *draw, const DtArgs *args, DtVar **out)
{
    DtMeta *meta;
    DT_TRY(dt_np_new_meta(draw->trace, draw->dtype, draw->shape, draw->ndim, &meta));
    return emit(draw, args, meta, 1, out);
}

static DtStatus
single_number(const Draw *draw)
{
    return dt_break(draw->trace, DT_BREAK_ARRAY_TO_SCALAR, "a single number drawn by %s",
                    draw->function);
}

/* One number without size=: of Python, except Generator.integers(). */
static DtStatus
emit_number(Draw *draw, const DtArgs *args, DtVar **out)
{
    DtVar *dtype = slot_of(draw, "dtype");
    uint8_t kind = draw->row->kind;
    bool is_float = kind == DRAW_FLOAT || kind == DRAW_FLOAT_OF || kind == DRAW_DIMS;
    if (!dt_np_is_none(dtype)) {
        return single_number(draw);
    }
    if (kind == DRAW_INT_OF && draw->cls == DT_RANDOM_MODERN) {
        DtMeta *meta = dt_np_meta(draw->trace, dt_np_dtype(NPY_LONG), 0);
        if (meta == NULL) {
            return DT_ERROR;
        }
        dt_np_meta_unwrap(meta);
        DT_TRY(dt_np_fresh_c(draw->trace, meta));
        return emit(draw, args, meta, 1, out);
    }
    DtMeta number = dt_number_meta(is_float ? 'f' : 'i');
    return emit(draw, args, &number, 1, out);
}

/* The shape that size= asks for; *given = false when it is left out. */
static DtStatus
size_shape(Draw *draw, bool *given)
{
    DtVar *size = slot_of(draw, "size");
    *given = !dt_np_is_none(size);
    if (!*given) {
        return DT_OK;
    }
    DT_TRY(dt_np_shape_arg(draw->trace, draw->function, size, draw->shape, &draw->ndim));
    return draw->ndim > 0 ? DT_OK : single_number(draw);
}

static bool
is_parameter(const char *name)
{
    static const char *const others[] = {"size", "dtype", "method", "endpoint"};
    for (size_t i = 0; i < Py_ARRAY_LENGTH(others); i++) {
        if (strcmp(others[i], name) == 0) {
            return false;
        }
    }
    return true;
}

/* Numbers and arrays, complex ones excepted; without size= they are broadcast together. */
static DtStatus
read_parameters(Draw *draw, bool sized)
{
    DtNpOperand operands[MAX_NAMES];
    uint32_t count = 0;
    for (uint32_t i = 0; i < draw->count; i++) {
        if (draw->slots[i] == NULL || !is_parameter(draw->row->names[i])
            || dt_np_is_none(draw->slots[i])) {
            continue;
        }
        DtNpOperand *operand = &operands[count++];
        DT_TRY(dt_np_need_operand(draw->trace, draw->slots[i], draw->function, operand));
        if (operand->dtype == (PyObject *)&PyComplex_Type
            || (!dt_np_is_weak(operand)
                && PyTypeNum_ISCOMPLEX(dt_np_descr(operand->dtype)->type_num))) {
            return dt_break(draw->trace, DT_BREAK_ARRAY_OP, "%s of complex numbers",
                            draw->function);
        }
    }
    if (sized) {
        return DT_OK;
    }
    return dt_np_broadcast(draw->trace, operands, count, draw->shape, &draw->ndim);
}

static DtStatus
draw_distribution(Draw *draw, const DtArgs *args, DtVar **out)
{
    bool sized, floats = draw->row->kind == DRAW_FLOAT || draw->row->kind == DRAW_FLOAT_OF;
    DT_TRY(size_shape(draw, &sized));
    DT_TRY(read_parameters(draw, sized));
    if (!sized && draw->ndim == 0) {
        return emit_number(draw, args, out);
    }
    DT_TRY(dt_np_dtype_arg(draw->trace, draw->function, slot_of(draw, "dtype"), &draw->dtype));
    if (draw->dtype == NULL) {
        draw->dtype = dt_np_dtype(floats ? NPY_DOUBLE : NPY_LONG);
    }
    if (draw->dtype == NULL) {
        return DT_ERROR;
    }
    if (!PyArray_ISNBO(dt_np_descr(draw->dtype)->byteorder)) {
        return dt_break(draw->trace, DT_BREAK_ARRAY_OP, "%s with such a dtype", draw->function);
    }
    return emit_result(draw, args, out);
}

/* rand(2, 3) */
static DtStatus
draw_dims(Draw *draw, const DtArgs *args, DtVar **out)
{
    if (args->nkw > 0 || args->npos == 0 || args->npos > DT_NP_MAXDIMS) {
        return args->npos == 0 && args->nkw == 0
                   ? emit_number(draw, args, out)
                   : dt_break(draw->trace, DT_BREAK_ARRAY_OP, "%s with such arguments",
                              draw->function);
    }
    for (uint32_t i = 0; i < args->npos; i++) {
        DtVar *var;
        uint32_t one;
        DT_TRY(dt_var_realize(draw->trace, args->pos[i], &var));
        DT_TRY(
            dt_np_shape_arg(draw->trace, draw->function, dt_var_peek(var), &draw->shape[i], &one));
        if (one != 1 || dt_var_peek(var)->type->kind == DT_KIND_TUPLE) {
            return dt_break(draw->trace, DT_BREAK_ARRAY_OP, "%s with a sequence", draw->function);
        }
    }
    draw->ndim = args->npos;
    draw->dtype = dt_np_dtype(NPY_DOUBLE);
    return emit_result(draw, args, out);
}

/* ---- Rows of numbers ------------------------------------------------------------------------- */

/* A vector, or a sequence of numbers: its size. */
static DtStatus
row_length(Draw *draw, DtVar *var, const DtSym **out)
{
    DtVar *vector = var;
    DT_TRY(dt_np_array_like(draw->trace, &vector));
    const DtArrayVar *array = dt_np_array_of(vector);
    if (array == NULL || array->meta->ndim != 1 || dt_np_size_is(array->meta->shape[0], 0)
        || PyTypeNum_ISCOMPLEX(dt_np_descr(array->meta->dtype)->type_num)) {
        return dt_break(draw->trace, DT_BREAK_ARRAY_OP, "%s of such a %s", draw->function,
                        dt_var_peek(var)->type->name);
    }
    *out = array->meta->shape[0];
    return DT_OK;
}

/* dirichlet, multinomial, multivariate_normal: the shape that size= asks for, of rows. */
static DtStatus
draw_rows(Draw *draw, const DtArgs *args, DtVar **out)
{
    bool ints = draw->row->kind == DRAW_INT_ROWS, sized;
    const DtSym *length;
    DtVar *number = ints ? draw->slots[0] : NULL, *row = draw->slots[ints ? 1 : 0];
    PyObject *count = number != NULL ? dt_var_as_constant(draw->trace, number) : NULL;
    if (PyErr_Occurred()) {
        return DT_ERROR;
    }
    if (row == NULL || (ints && (count == NULL || !PyLong_CheckExact(count)))) {
        return dt_break(draw->trace, DT_BREAK_ARRAY_OP, "%s of such numbers", draw->function);
    }
    DT_TRY(size_shape(draw, &sized));
    DT_TRY(row_length(draw, row, &length));
    if (draw->ndim == DT_NP_MAXDIMS) {
        return dt_break(draw->trace, DT_BREAK_ARRAY_KIND, "%s of so many dimensions",
                        draw->function);
    }
    draw->shape[draw->ndim++] = length;
    draw->dtype = dt_np_dtype(ints ? NPY_LONG : NPY_DOUBLE);
    if (draw->row->kind == DRAW_NORMAL_ROWS) { /* raises where it would warn */
        draw->callee = dt_np_callee(DT_NP_normal_rows);
        draw->function = dt_np_target(DT_NP_normal_rows);
    }
    return draw->callee != NULL && draw->dtype != NULL ? emit_result(draw, args, out) : DT_ERROR;
}

static DtStatus
draw_bytes(Draw *draw, const DtArgs *args, DtVar **out)
{
    int64_t length;
    DtMeta bytes = {.adapter = &dt_number_adapter, .type = &PyBytes_Type};
    DT_TRY(dt_np_int_arg(draw->trace, draw->function, draw->slots[0], &length));
    return emit(draw, args, &bytes, 1, out);
}

/* ---- Of what there is ------------------------------------------------------------------------ */

/* A list or tuple of texts: the dtype of the array that NumPy makes of it; *dtype NULL: it is none.
 */
static DtStatus
read_texts(Draw *draw, DtVar *population, PyObject **dtype)
{
    DtVar **items;
    uint32_t count = 0;
    bool many;
    *dtype = NULL;
    DT_TRY(dt_np_items(draw->trace, population, &items, &count, &many));
    PyObject *texts = many && count > 0 ? PyList_New(count) : NULL;
    for (uint32_t i = 0; i < count && texts != NULL; i++) {
        PyObject *text = dt_var_peek_constant(dt_var_peek(items[i]));
        if (text == NULL || !PyUnicode_CheckExact(text)) {
            Py_CLEAR(texts);
            break;
        }
        PyList_SET_ITEM(texts, i, Py_NewRef(text));
    }
    PyObject *array = texts != NULL ? PyArray_FROM_O(texts) : NULL;
    Py_XDECREF(texts);
    if (array != NULL) {
        *dtype = dt_np_one_dtype((PyObject *)PyArray_DESCR((PyArrayObject *)array));
        Py_DECREF(array);
    }
    return PyErr_Occurred() ? DT_ERROR : DT_OK;
}

/* What is chosen from, or rearranged. */
typedef struct Population {
    DtArrayVar *array;  /* NULL: it is none of numbers */
    const DtMeta *meta; /* of the array, or NULL */
    PyObject *dtype;    /* of what it holds; NULL: it is a Python int */
    uint32_t axis;
} Population;

static DtStatus
read_population(Draw *draw, Population *out)
{
    DtNpOperand operand;
    DtVar *population = draw->slots[0];
    bool ok;
    *out = (Population){0};
    DT_TRY(read_texts(draw, population, &out->dtype));
    if (out->dtype != NULL) {
        return DT_OK;
    }
    DT_TRY(dt_np_array_like(draw->trace, &population)); /* which is what NumPy makes of a list */
    DT_TRY(dt_np_any_operand(draw->trace, population, &operand, &ok));
    if (!ok
        || (operand.array == NULL
                ? operand.dtype != (PyObject *)&PyLong_Type
                : operand.array->meta->ndim == 0 || !dt_np_is_ndarray(operand.array))) {
        return dt_break(draw->trace, DT_BREAK_ARRAY_OP, "%s of such a value", draw->function);
    }
    if (operand.array == NULL) {
        return DT_OK;
    }
    out->array = operand.array;
    out->meta = operand.array->meta;
    out->dtype = out->meta->dtype;
    if (!(out->meta->layout & DT_LAYOUT_NATIVE)) {
        return dt_break(draw->trace, DT_BREAK_ARRAY_OP, "%s of swapped numbers", draw->function);
    }
    DtVar *axis = slot_of(draw, "axis");
    return dt_np_is_none(axis)
               ? DT_OK
               : dt_np_axis(draw->trace, draw->function, axis, out->meta->ndim, &out->axis);
}

/* One item of a vector. */
static DtStatus
emit_item(Draw *draw, const DtArgs *args, PyObject *dtype, DtVar **out)
{
    PyTypeObject *type = dt_np_descr(dtype)->typeobj;
    DtMeta late = {.adapter = &dt_number_adapter, .type = type};
    if (type == &PyUnicodeArrType_Type || type == &PyStringArrType_Type) {
        return emit(draw, args, &late, 1, out);
    }
    if (dt_np_descr(dtype)->type_num == NPY_VOID) {
        return dt_break(draw->trace, DT_BREAK_ARRAY_KIND, "a record chosen by %s", draw->function);
    }
    DtMeta *item = dt_np_meta(draw->trace, dtype, 0);
    if (item == NULL) {
        return DT_ERROR;
    }
    dt_np_meta_unwrap(item);
    DT_TRY(dt_np_fresh_c(draw->trace, item));
    return emit(draw, args, item, 1, out);
}

static DtStatus
draw_choice(Draw *draw, const DtArgs *args, DtVar **out)
{
    Population from;
    bool sized;
    DT_TRY(read_population(draw, &from));
    draw->population = from.array;
    DT_TRY(size_shape(draw, &sized));
    if (from.meta != NULL && from.meta->ndim > 1 && draw->cls == DT_RANDOM_LEGACY) {
        return dt_break(draw->trace, DT_BREAK_RAISES, "%s of a matrix", draw->function);
    }
    if (!dt_np_is_none(slot_of(draw, "p"))) {
        const DtSym *length;
        DT_TRY(row_length(draw, slot_of(draw, "p"), &length));
    }
    if (!sized && from.dtype == NULL) {
        return emit_number(draw, args, out);
    }
    if (!sized && (from.meta == NULL || from.meta->ndim == 1)) {
        return emit_item(draw, args, from.dtype, out);
    }
    uint32_t own = from.meta != NULL ? from.meta->ndim : 1, chosen = draw->ndim;
    if (own + chosen > DT_NP_MAXDIMS) {
        return dt_break(draw->trace, DT_BREAK_ARRAY_KIND, "%s of so many dimensions",
                        draw->function);
    }
    memmove(draw->shape + from.axis, draw->shape, sizeof(draw->shape[0]) * chosen);
    for (uint32_t i = 0; i < own; i++) { /* what is chosen stands in the place of the axis */
        if (i != from.axis) {
            draw->shape[i < from.axis ? i : i + chosen - 1] = from.meta->shape[i];
        }
    }
    draw->ndim = own + chosen - 1;
    draw->dtype = from.dtype != NULL ? from.dtype : dt_np_dtype(NPY_LONG);
    return draw->dtype != NULL ? emit_result(draw, args, out) : DT_ERROR;
}

/* The array in another order: of the sizes that it has. */
static DtStatus
emit_alike(Draw *draw, const DtArgs *args, const DtMeta *array, bool fresh, DtVar **out)
{
    DtMeta *meta = dt_np_meta(draw->trace, array->dtype, array->ndim);
    if (meta == NULL) {
        return DT_ERROR;
    }
    memcpy(meta->shape, array->shape, sizeof(meta->shape[0]) * array->ndim);
    DT_TRY(dt_np_fresh(draw->trace, meta, NULL));
    meta->layout &= ~(uint32_t)(fresh ? 0 : DT_LAYOUT_FRESH);
    return emit(draw, args, meta, 1, out);
}

static DtStatus
draw_permutation(Draw *draw, const DtArgs *args, DtVar **out)
{
    Population of;
    DT_TRY(read_population(draw, &of));
    if (of.meta != NULL) {
        return emit_alike(draw, args, of.meta, of.axis == 0, out);
    }
    draw->dtype = of.dtype != NULL ? of.dtype : dt_np_dtype(NPY_LONG);
    if (draw->dtype == NULL) {
        return DT_ERROR;
    }
    if (of.dtype != NULL) {
        return dt_break(draw->trace, DT_BREAK_ARRAY_OP, "%s of texts", draw->function);
    }
    DT_TRY(dt_np_shape_arg(draw->trace, draw->function, draw->slots[0], draw->shape, &draw->ndim));
    return emit_result(draw, args, out);
}

static DtStatus
draw_permuted(Draw *draw, const DtArgs *args, DtVar **out)
{
    Population of;
    DT_TRY(dt_np_need_default(draw->trace, draw->function, "out", slot_of(draw, "out")));
    DT_TRY(read_population(draw, &of));
    return of.meta != NULL
               ? emit_alike(draw, args, of.meta, true, out)
               : dt_break(draw->trace, DT_BREAK_ARRAY_OP, "%s of such a value", draw->function);
}

static DtStatus
draw_shuffle(Draw *draw, const DtArgs *args, DtVar **out)
{
    DtArrayVar *array = dt_np_any_array(draw->slots[0]);
    DtVar *along = slot_of(draw, "axis");
    uint32_t axis;
    if (array == NULL || array->meta->ndim == 0 || args->npos == 0) {
        return dt_break(draw->trace, DT_BREAK_ARRAY_OP, "%s of a %s", draw->function,
                        draw->slots[0]->type->name);
    }
    if (along != NULL) {
        DT_TRY(dt_np_axis(draw->trace, draw->function, along, array->meta->ndim, &axis));
    }
    DT_TRY(dt_np_need_writable(draw->trace, array, draw->function));
    return emit(draw, args, NULL, 2, out);
}

/* From an int that is no sequence of them. */
static DtStatus
draw_seed(Draw *draw, const DtArgs *args, DtVar **out)
{
    DtNpOperand seed;
    DT_TRY(dt_np_need_operand(draw->trace, draw->slots[0], draw->function, &seed));
    if (seed.dtype != (PyObject *)&PyLong_Type) {
        return dt_break(draw->trace, DT_BREAK_ARRAY_OP, "%s by such a value", draw->function);
    }
    return emit(draw, args, NULL, 1, out);
}

DtStatus
dt_np_random_draw(DtTrace *trace, DtArrayVar *self, uint32_t row, const DtArgs *args, DtVar **out)
{
    static DtStatus (*const ways[])(Draw *, const DtArgs *, DtVar **) = {
        [DRAW_FLOAT] = draw_distribution,
        [DRAW_INT] = draw_distribution,
        [DRAW_FLOAT_OF] = draw_distribution,
        [DRAW_INT_OF] = draw_distribution,
        [DRAW_DIMS] = draw_dims,
        [DRAW_ROWS] = draw_rows,
        [DRAW_INT_ROWS] = draw_rows,
        [DRAW_NORMAL_ROWS] = draw_rows,
        [DRAW_BYTES] = draw_bytes,
        [DRAW_CHOICE] = draw_choice,
        [DRAW_PERMUTATION] = draw_permutation,
        [DRAW_PERMUTED] = draw_permuted,
        [DRAW_SHUFFLE] = draw_shuffle,
        [DRAW_SEED] = draw_seed,
    };
    Draw draw = {
        .trace = trace, .row = &rows[row], .cls = dt_np_random_class_of(self), .self = self};
    draw.function = draw.row->targets[draw.cls - 1];
    draw.callee = callee_of(row, draw.cls);
    if (draw.callee == NULL) {
        return dt_break(trace, DT_BREAK_ARRAY_OP, "%s is not in this NumPy", draw.function);
    }
    if (self->node->graph != trace->graph) {
        return dt_break(trace, DT_BREAK_ARRAY_MUTATION, "a draw from a generator from outside");
    }
    while (draw.row->names[draw.count] != NULL) {
        draw.count++;
    }
    if (draw.count > 0) {
        uint32_t needed = draw.row->kind >= DRAW_BYTES;
        DT_TRY(dt_np_bind(trace, draw.function, NULL, args, draw.row->names, draw.count, draw.count,
                          needed, draw.slots));
    }
    return ways[draw.row->kind](&draw, args, out);
}
