/* Draws from generators of random numbers, in the graph.
 *
 *   np.random.normal(0, 1, n) ─► RandomState.normal(<generator>, 0, 1, n)   mutates the generator
 *
 * NumPy draws when the graph runs, in program order, so the stream is that of plain execution.  The
 * rules here only say what comes out: shape and dtype follow from the arguments.  A draw of a
 * single number gives a Python number, which a graph has no value for: a break, as are generators
 * whose state can't be saved (random_state.c) and methods without a row.
 *
 * Invariants: nothing is drawn while tracing; a tracker of a generator is an array tracker of this
 * adapter, without dtype and dimensions.
 */
#include "adapters/numpy/random.h"

#include <string.h>

#include "variables/kinds.h"

enum { MAX_NAMES = 5 };

typedef enum DrawKind {
    DRAW_FLOAT,
    DRAW_INT,
    DRAW_FLOAT_OF,
    DRAW_INT_OF,
    DRAW_DIMS,
    DRAW_CHOICE,
    DRAW_PERMUTATION,
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

/* ---- Trackers -------------------------------------------------------------------------------- */

typedef struct Spec {
    int32_t cls;
} Spec;

static bool
is_generator(const DtAdapter *adapter, PyObject *object)
{
    (void)adapter;
    return dt_np_random_class(object) != 0;
}

static DtMeta *
generator_meta(DtTrace *trace, DtRandomClass cls)
{
    DtMeta *meta = DT_ARENA_NEW(&trace->arena, DtMeta);
    if (meta != NULL) {
        meta->adapter = &dt_np_random_adapter;
        meta->type = dt_np_random_type(cls);
        meta->layout = DT_LAYOUT_WRITEABLE;
    }
    return meta;
}

static DtRandomClass
class_of(const DtArrayVar *self)
{
    return self->meta->type == dt_np_random_type(DT_RANDOM_LEGACY) ? DT_RANDOM_LEGACY
                                                                   : DT_RANDOM_MODERN;
}

/* The generator behind NumPy's functions is always that one object; others are told by type. */
static DtStatus
build(const DtAdapter *adapter, DtTrace *trace, PyObject *object, const DtSource *source,
      DtVar **out)
{
    Spec spec = {dt_np_random_class(object)};
    DtNode *node;
    if (!dt_np_random_can_write(adapter, object)) {
        return dt_break(trace, DT_BREAK_ARRAY_KIND, "a generator of random numbers of this kind");
    }
    const DtSource *from = source;
    if (object == dt_np_random_global()) {
        from = dt_source_get(trace, DT_SOURCE_OBJECT, NULL, object, 0);
        if (from == NULL) {
            return DT_ERROR;
        }
        if (source->kind != DT_SOURCE_OBJECT) {
            DT_TRY(dt_guard_identity(trace, source, object));
        }
    }
    DT_TRY(dt_trace_use_adapter(trace, adapter));
    DT_TRY(dt_guard_adapter(trace, from, adapter, &spec, sizeof(spec), NULL, 0));
    DtMeta *meta = generator_meta(trace, (DtRandomClass)spec.cls);
    if (meta == NULL) {
        return dt_no_memory();
    }
    DT_TRY(dt_graph_input(trace->graph, from, meta, &node));
    DT_TRY(dt_var_array(trace, node, 0, meta, out));
    (*out)->source = source;
    return DT_OK;
}

static DtArrayVar *
generator_of(DtVar *var)
{
    var = dt_var_peek(var);
    return var->type->kind == DT_KIND_ARRAY && ((DtArrayVar *)var)->adapter == &dt_np_random_adapter
               ? (DtArrayVar *)var
               : NULL;
}

static int
check(const DtAdapter *adapter, const void *spec, PyObject *object)
{
    (void)adapter;
    return dt_np_random_class(object) == ((const Spec *)spec)->cls;
}

static void
print_guard(const DtAdapter *adapter, const void *spec, DtStrbuf *out)
{
    (void)adapter;
    dt_strbuf_addf(out, "a numpy.random.%s",
                   ((const Spec *)spec)->cls == DT_RANDOM_LEGACY ? "RandomState" : "Generator");
}

static void
print_found(const DtAdapter *adapter, PyObject *object, DtStrbuf *out)
{
    (void)adapter;
    dt_strbuf_addf(out, "a %s", Py_TYPE(object)->tp_name);
}

static int64_t
no_dim(const DtAdapter *adapter, PyObject *object, int dim)
{
    (void)adapter;
    (void)object;
    (void)dim;
    return 0;
}

static PyObject *
spec_to_object(const DtAdapter *adapter, const void *spec)
{
    (void)adapter;
    return Py_BuildValue("(i)", (int)((const Spec *)spec)->cls);
}

static DtStatus
spec_from_object(const DtAdapter *adapter, DtTrace *trace, PyObject *object, void **out,
                 size_t *size)
{
    int cls;
    (void)adapter;
    if (!PyTuple_Check(object)) {
        PyErr_SetString(PyExc_ValueError, "the guard of a generator is not a tuple");
        return DT_ERROR;
    }
    if (!PyArg_ParseTuple(object, "i", &cls)) {
        return DT_ERROR;
    }
    Spec *spec = DT_ARENA_NEW(&trace->arena, Spec);
    if (spec == NULL) {
        return dt_no_memory();
    }
    spec->cls = cls;
    *out = spec;
    *size = sizeof(*spec);
    return DT_OK;
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
    PyObject *kwnames = NULL;
    DtVar *dtype = slot_of(draw, "dtype");
    if (operands == NULL) {
        return dt_no_memory();
    }
    operands[0] = dt_np_node(draw->self);
    for (uint32_t i = 0; i + 1 < total; i++) {
        DtVar *var = i < args->npos ? args->pos[i] : args->kw[i - args->npos];
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
    if (args->nkw > 0) {
        kwnames = dt_trace_keep_take(trace, PyTuple_New(args->nkw));
        if (kwnames == NULL) {
            return DT_ERROR;
        }
        for (uint32_t i = 0; i < args->nkw; i++) {
            PyTuple_SET_ITEM(kwnames, i, Py_NewRef(args->kwnames[i]));
        }
    }
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
    DT_TRY(dt_np_broadcast(draw->trace, operands, count, draw->shape, &draw->ndim));
    return draw->ndim > 0 ? DT_OK : single_number(draw);
}

static DtStatus
draw_distribution(Draw *draw, const DtArgs *args, DtVar **out)
{
    bool sized, floats = draw->row->kind == DRAW_FLOAT || draw->row->kind == DRAW_FLOAT_OF;
    DT_TRY(size_shape(draw, &sized));
    DT_TRY(read_parameters(draw, sized));
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
                   ? single_number(draw)
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

/* The array argument, or NULL: a Python int.  Breaks for anything else. */
static DtStatus
read_population(Draw *draw, DtArrayVar **array)
{
    DtNpOperand operand;
    DT_TRY(dt_np_need_operand(draw->trace, draw->slots[0], draw->function, &operand));
    *array = operand.array;
    if (operand.array == NULL
            ? operand.dtype != (PyObject *)&PyLong_Type
            : operand.array->meta->ndim == 0 || !dt_np_is_ndarray(operand.array)) {
        return dt_break(draw->trace, DT_BREAK_ARRAY_OP, "%s of such a value", draw->function);
    }
    return DT_OK;
}

/* Only of what has one dimension: along which axis does not matter then. */
static DtStatus
draw_choice(Draw *draw, const DtArgs *args, DtVar **out)
{
    DtArrayVar *array;
    bool sized;
    DT_TRY(read_population(draw, &array));
    DT_TRY(size_shape(draw, &sized));
    if (!sized) {
        return single_number(draw);
    }
    if (array != NULL && array->meta->ndim != 1) {
        return dt_break(draw->trace, DT_BREAK_ARRAY_OP, "%s of a matrix", draw->function);
    }
    if (!dt_np_is_none(slot_of(draw, "p"))) {
        DtNpOperand p;
        DT_TRY(dt_np_need_operand(draw->trace, slot_of(draw, "p"), draw->function, &p));
    }
    draw->dtype = array != NULL ? array->meta->dtype : dt_np_dtype(NPY_LONG);
    if (draw->dtype == NULL) {
        return DT_ERROR;
    }
    if (!PyArray_ISNBO(dt_np_descr(draw->dtype)->byteorder)) {
        return dt_break(draw->trace, DT_BREAK_ARRAY_OP, "%s of swapped numbers", draw->function);
    }
    return emit_result(draw, args, out);
}

static DtStatus
draw_permutation(Draw *draw, const DtArgs *args, DtVar **out)
{
    DtArrayVar *array;
    DtMeta *meta;
    DT_TRY(read_population(draw, &array));
    if (array == NULL) {
        draw->dtype = dt_np_dtype(NPY_LONG);
        DT_TRY(
            dt_np_shape_arg(draw->trace, draw->function, draw->slots[0], draw->shape, &draw->ndim));
        return emit_result(draw, args, out);
    }
    meta = dt_np_meta(draw->trace, array->meta->dtype, array->meta->ndim);
    if (meta == NULL) {
        return DT_ERROR;
    }
    memcpy(meta->shape, array->meta->shape, sizeof(meta->shape[0]) * array->meta->ndim);
    DT_TRY(dt_np_fresh(draw->trace, meta, NULL));
    if (array->meta->ndim > 1 || !(array->meta->layout & DT_LAYOUT_NATIVE)) {
        return dt_break(draw->trace, DT_BREAK_ARRAY_OP, "%s of a matrix", draw->function);
    }
    return emit(draw, args, meta, 1, out);
}

static DtStatus
draw_shuffle(Draw *draw, const DtArgs *args, DtVar **out)
{
    DtArrayVar *array = dt_np_array_of(draw->slots[0]);
    if (array == NULL || array->meta->ndim == 0 || args->npos != 1) {
        return dt_break(draw->trace, DT_BREAK_ARRAY_OP, "%s of a %s", draw->function,
                        draw->slots[0]->type->name);
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

static DtStatus
start_draw(DtTrace *trace, DtArrayVar *self, uint32_t row, const DtArgs *args, DtVar **out)
{
    static DtStatus (*const ways[])(Draw *, const DtArgs *, DtVar **) = {
        [DRAW_FLOAT] = draw_distribution,
        [DRAW_INT] = draw_distribution,
        [DRAW_FLOAT_OF] = draw_distribution,
        [DRAW_INT_OF] = draw_distribution,
        [DRAW_DIMS] = draw_dims,
        [DRAW_CHOICE] = draw_choice,
        [DRAW_PERMUTATION] = draw_permutation,
        [DRAW_SHUFFLE] = draw_shuffle,
        [DRAW_SEED] = draw_seed,
    };
    Draw draw = {.trace = trace, .row = &rows[row], .cls = class_of(self), .self = self};
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
        uint32_t needed = draw.row->kind >= DRAW_CHOICE;
        DT_TRY(dt_np_bind(trace, draw.function, NULL, args, draw.row->names, draw.count, draw.count,
                          needed, draw.slots));
    }
    return ways[draw.row->kind](&draw, args, out);
}

/* ---- Callables ------------------------------------------------------------------------------- */

/* Functions of the modules that are no methods. */
static const struct Function {
    DtRandomClass module;
    const char *name;
    const char *method; /* of the global generator; NULL: makes a generator */
    const char *target;
} functions[] = {
    {DT_RANDOM_LEGACY, "seed", "seed", NULL},
    {DT_RANDOM_LEGACY, "sample", "random_sample", NULL},
    {DT_RANDOM_LEGACY, "ranf", "random_sample", NULL},
    {DT_RANDOM_LEGACY, "RandomState", NULL, "numpy.random.RandomState"},
    {DT_RANDOM_MODERN, "default_rng", NULL, "numpy.random.default_rng"},
};

static const struct Function *
find_function(PyObject *callable)
{
    for (size_t i = 0; i < Py_ARRAY_LENGTH(functions); i++) {
        if (dt_np_random_attr(functions[i].module, functions[i].name) == callable) {
            return &functions[i];
        }
    }
    return NULL;
}

/* The row of the unbound method, or -1. */
static int
find_method(PyObject *callable, DtRandomClass *cls)
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

static int
find_name(DtRandomClass cls, PyObject *name)
{
    for (uint32_t i = 0; i < ROWS; i++) {
        if ((rows[i].classes & cls) && PyUnicode_CompareWithASCIIString(name, rows[i].name) == 0) {
            return (int)i;
        }
    }
    return -1;
}

/* NumPy's functions here are Cython's, and only looked for among those. */
static bool
owns_callable(const DtAdapter *adapter, PyObject *object)
{
    DtRandomClass cls;
    (void)adapter;
    if (PyType_Check(object)) {
        return strncmp(((PyTypeObject *)object)->tp_name, "numpy.random.", 13) == 0
               && object == (PyObject *)dt_np_random_type(DT_RANDOM_LEGACY);
    }
    return strstr(Py_TYPE(object)->tp_name, "cython_function") != NULL
           && (find_method(object, &cls) >= 0 || find_function(object) != NULL);
}

/* A new generator from an int, or from nothing. */
static DtStatus
make(DtTrace *trace, const struct Function *function, PyObject *callable, const DtArgs *args,
     DtVar **out)
{
    DtOperand operand;
    DtNpOperand seed;
    bool plain = args->nkw == 0 && args->npos <= 1;
    DtVar *var = NULL;
    if (plain && args->npos == 1) {
        DT_TRY(dt_var_realize(trace, args->pos[0], &var));
        DT_TRY(dt_np_operand(trace, var, &seed, &plain));
        plain = plain && seed.dtype == (PyObject *)&PyLong_Type;
        operand = plain ? seed.operand : dt_np_const(Py_None);
    }
    /* Made where a plain run would make it, if it is to be anybody else's. */
    DtMeta *meta = generator_meta(trace, function->module);
    if (meta == NULL) {
        return dt_no_memory();
    }
    if (!plain) {
        return dt_break(trace, DT_BREAK_ARRAY_OP, "%s of such a value", function->target);
    }
    meta->layout |= DT_LAYOUT_FRESH;
    DtCallSpec spec = {
        .target = function->target,
        .callee = callable,
        .args = &operand,
        .nargs = args->npos,
        .results = meta,
        .nresults = 1,
    };
    DT_TRY(dt_trace_use_adapter(trace, &dt_np_random_adapter));
    return dt_np_emit(trace, &spec, out);
}

static DtStatus
call_function(DtTrace *trace, const struct Function *function, PyObject *callable,
              const DtArgs *args, DtVar **out)
{
    DtVar *global;
    if (function->method == NULL) {
        return make(trace, function, callable, args, out);
    }
    PyObject *object = dt_np_random_global();
    PyObject *name = object != NULL ? PyUnicode_FromString(function->method) : NULL;
    int row = name != NULL ? find_name(DT_RANDOM_LEGACY, name) : -1;
    Py_XDECREF(name);
    if (row < 0) {
        return PyErr_Occurred()
                   ? DT_ERROR
                   : dt_break(trace, DT_BREAK_ARRAY_OP, "numpy.random.%s", function->name);
    }
    const DtSource *source = dt_source_get(trace, DT_SOURCE_OBJECT, NULL, object, 0);
    if (source == NULL) {
        return DT_ERROR;
    }
    DT_TRY(dt_var_build(trace, object, source, &global));
    DT_TRY(dt_var_realize(trace, global, &global));
    DtArrayVar *self = generator_of(global);
    return self != NULL ? start_draw(trace, self, (uint32_t)row, args, out)
                        : dt_break(trace, DT_BREAK_ARRAY_OP, "numpy.random.%s", function->name);
}

static DtStatus
call(const DtAdapter *adapter, DtTrace *trace, PyObject *callable, const DtArgs *args, DtVar **out)
{
    DtRandomClass cls = DT_RANDOM_LEGACY;
    const struct Function *function = find_function(callable);
    (void)adapter;
    if (function != NULL) {
        return call_function(trace, function, callable, args, out);
    }
    int row = find_method(callable, &cls);
    DtArrayVar *self = NULL;
    if (row >= 0 && args->npos > 0) {
        DtVar *var;
        DT_TRY(dt_var_realize(trace, args->pos[0], &var));
        self = generator_of(var);
    }
    if (self == NULL || class_of(self) != cls) {
        return dt_break(trace, DT_BREAK_ARRAY_OP, "a method of a generator of something else");
    }
    DtArgs rest = *args;
    rest.pos++;
    rest.npos--;
    return start_draw(trace, self, (uint32_t)row, &rest, out);
}

static DtStatus
call_method(const DtAdapter *adapter, DtTrace *trace, DtArrayVar *self, PyObject *name,
            const DtArgs *args, DtVar **out)
{
    int row = find_name(class_of(self), name);
    (void)adapter;
    if (row < 0) {
        return dt_break(trace, DT_BREAK_ARRAY_OP, "the method %s of a generator",
                        dt_kinds_text(name));
    }
    return start_draw(trace, self, (uint32_t)row, args, out);
}

static DtStatus
getattr(const DtAdapter *adapter, DtTrace *trace, DtArrayVar *self, PyObject *name, DtVar **out)
{
    (void)adapter;
    if (find_name(class_of(self), name) >= 0) {
        return dt_var_adapter_method(trace, self, name, out);
    }
    return dt_break(trace, DT_BREAK_ATTRIBUTE, "the attribute %s of a generator",
                    dt_kinds_text(name));
}

/* ---- What generators can't do ---------------------------------------------------------------- */

static DtStatus
refuse(DtTrace *trace)
{
    return dt_break(trace, DT_BREAK_ARRAY_OP, "an operation on a generator of random numbers");
}

static DtStatus
binary(const DtAdapter *adapter, DtTrace *trace, DtBinaryOp op, DtVar *l, DtVar *r, DtVar **out)
{
    (void)adapter, (void)op, (void)l, (void)r, (void)out;
    return refuse(trace);
}

static DtStatus
compare(const DtAdapter *adapter, DtTrace *trace, int op, DtVar *l, DtVar *r, DtVar **out)
{
    (void)adapter, (void)op, (void)l, (void)r, (void)out;
    return refuse(trace);
}

static DtStatus
unary(const DtAdapter *adapter, DtTrace *trace, const char *op, DtArrayVar *self, DtVar **out)
{
    (void)adapter, (void)op, (void)self, (void)out;
    return refuse(trace);
}

static DtStatus
truth(const DtAdapter *adapter, DtTrace *trace, DtArrayVar *self, bool *out)
{
    (void)adapter, (void)trace, (void)self;
    *out = true;
    return DT_OK;
}

static DtStatus
ask(const DtAdapter *adapter, DtTrace *trace, DtArrayVar *self, DtVar **out)
{
    (void)adapter, (void)self, (void)out;
    return refuse(trace);
}

static DtStatus
subscript(const DtAdapter *adapter, DtTrace *trace, DtArrayVar *self, DtVar *key, DtVar **out)
{
    (void)adapter, (void)self, (void)key, (void)out;
    return refuse(trace);
}

static DtStatus
ass_subscript(const DtAdapter *adapter, DtTrace *trace, DtArrayVar *self, DtVar *key, DtVar *value)
{
    (void)adapter, (void)self, (void)key, (void)value;
    return refuse(trace);
}

const DtAdapter dt_np_random_adapter = {
    .name = "numpy.random",
    .is_array = is_generator,
    .owns_callable = owns_callable,
    .build = build,
    .call = call,
    .binary = binary,
    .compare = compare,
    .unary = unary,
    .truth = truth,
    .length = ask,
    .subscript = subscript,
    .ass_subscript = ass_subscript,
    .getattr = getattr,
    .call_method = call_method,
    .iter = ask,
    .check = check,
    .print_guard = print_guard,
    .print_found = print_found,
    .dim = no_dim,
    .spec_to_object = spec_to_object,
    .spec_from_object = spec_from_object,
    .save = dt_np_random_save,
    .restore = dt_np_random_restore,
    .can_write = dt_np_random_can_write,
};
