/* Draws from generators of random numbers, in the graph.
 *
 *   np.random.normal(0, 1, n) ─► RandomState.normal(<generator>, 0, 1, n)   mutates the generator
 *
 * NumPy draws when the graph runs, in program order, so the stream is that of plain execution.
 * Breaks: an item chosen from an array, generators whose state can't be saved (random_state.c) and
 * methods without a row.
 *
 * Invariants: nothing is drawn while tracing; a tracker of a generator is an array tracker of this
 * adapter, without dtype and dimensions.
 *
 * Not in here: what comes out of a draw (random_draws.c).
 */
#include "adapters/numpy/random.h"

#include <string.h>

#include "adapters/generators.h"
#include "variables/kinds.h"

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
           && (dt_np_random_find_method(object, &cls) >= 0 || find_function(object) != NULL);
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
    int row = name != NULL ? dt_np_random_find_name(DT_RANDOM_LEGACY, name) : -1;
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
    return self != NULL ? dt_np_random_draw(trace, self, (uint32_t)row, args, out)
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
    int row = dt_np_random_find_method(callable, &cls);
    DtArrayVar *self = NULL;
    if (row >= 0 && args->npos > 0) {
        DtVar *var;
        DT_TRY(dt_var_realize(trace, args->pos[0], &var));
        self = generator_of(var);
    }
    if (self == NULL || dt_np_random_class_of(self) != cls) {
        return dt_break(trace, DT_BREAK_ARRAY_OP, "a method of a generator of something else");
    }
    DtArgs rest = *args;
    rest.pos++;
    rest.npos--;
    return dt_np_random_draw(trace, self, (uint32_t)row, &rest, out);
}

static DtStatus
call_method(const DtAdapter *adapter, DtTrace *trace, DtArrayVar *self, PyObject *name,
            const DtArgs *args, DtVar **out)
{
    int row = dt_np_random_find_name(dt_np_random_class_of(self), name);
    (void)adapter;
    if (row < 0) {
        return dt_break(trace, DT_BREAK_ARRAY_OP, "the method %s of a generator",
                        dt_kinds_text(name));
    }
    return dt_np_random_draw(trace, self, (uint32_t)row, args, out);
}

static DtStatus
getattr(const DtAdapter *adapter, DtTrace *trace, DtArrayVar *self, PyObject *name, DtVar **out)
{
    (void)adapter;
    if (dt_np_random_find_name(dt_np_random_class_of(self), name) >= 0) {
        return dt_var_adapter_method(trace, self, name, out);
    }
    return dt_break(trace, DT_BREAK_ATTRIBUTE, "the attribute %s of a generator",
                    dt_kinds_text(name));
}

const DtAdapter dt_np_random_adapter = {
    .name = "numpy.random",
    .is_array = is_generator,
    .owns_callable = owns_callable,
    .build = build,
    .call = call,
    .getattr = getattr,
    .call_method = call_method,
    .check = check,
    .print_guard = print_guard,
    .print_found = print_found,
    DT_GENERATOR_REFUSALS,
    .spec_to_object = spec_to_object,
    .spec_from_object = spec_from_object,
    .save = dt_np_random_save,
    .restore = dt_np_random_restore,
    .can_write = dt_np_random_can_write,
};
