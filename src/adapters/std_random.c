/* See std_random.h.
 *
 * Breaks: a choice of anything but numbers, states asked for or set, and arguments that are no
 * Python numbers.  A generator with attributes of its own, or of a class that was changed,
 * is an object like any other, whose draws break.
 *
 * Not in here: draws of several numbers (std_random_several.c), NumPy's generators
 * (adapters/numpy/random.c), where the state lies (compat/twister.c).
 */
#include "adapters/std_random.h"

#include <string.h>

#include "adapters/generators.h"
#include "adapters/numbers.h"
#include "compat/object.h"
#include "compat/twister.h"
#include "compat/type.h"
#include "variables/kinds.h"

typedef enum DrawArgs { ARGS_REALS, ARGS_INTS, ARGS_FLOATS, ARGS_SEED, ARGS_NUMBERS } DrawArgs;
typedef enum DrawResult {
    RESULT_NOTHING = 0,
    RESULT_INT = 'i',
    RESULT_FLOAT = 'f',
    RESULT_ITEM = '?'
} DrawResult;

typedef struct Row {
    const char *name, *target;
    uint8_t result, args;
} Row;

static const Row rows[] = {
#define DRAW(NAME, RESULT, ARGS) {#NAME, "random.Random." #NAME, RESULT_##RESULT, ARGS_##ARGS},
#include "adapters/std_random.def"
#undef DRAW
};

enum { MAX_ARGS = 4, MAX_ITEMS = 32 };

/* ---- The module ------------------------------------------------------------------------------ */

/* The names of `random` if the module is loaded, else NULL; no error. DT_BORROWED */
static PyObject *
module_dict(void)
{
    PyObject *module = PyDict_GetItemString(PyImport_GetModuleDict(), "random");
    return module != NULL && PyModule_Check(module) ? PyModule_GetDict(module) : NULL;
}

static PyObject *
module_attr(const char *name)
{
    PyObject *dict = module_dict();
    return dict != NULL ? PyDict_GetItemString(dict, name) : NULL;
}

/* random.Random, or NULL while the module is not loaded. */
static PyTypeObject *
generator_type(void)
{
    static PyTypeObject *type; /* kept by the process */
    if (type == NULL) {
        PyObject *found = module_attr("Random");
        type = found != NULL && PyType_Check(found) ? (PyTypeObject *)Py_NewRef(found) : NULL;
    }
    return type;
}

/* The generator behind the functions of the module, or NULL. */
static PyObject *
hidden_generator(void)
{
    static PyObject *hidden; /* kept by the process */
    if (hidden == NULL) {
        hidden = Py_XNewRef(module_attr("_inst"));
    }
    return hidden;
}

static PyObject *
gauss_name(void)
{
    static PyObject *name; /* kept by the process */
    if (name == NULL) {
        name = PyUnicode_InternFromString("gauss_next");
        PyErr_Clear(); /* no memory: no generator is known this time */
    }
    return name;
}

static bool
is_generator(const DtAdapter *adapter, PyObject *object)
{
    static PyTypeObject *known; /* borrowed from generator_type() */
    (void)adapter;
    if (Py_TYPE(object) != known) {
        if (strcmp(Py_TYPE(object)->tp_name, "Random") != 0 || Py_TYPE(object) != generator_type()
            || gauss_name() == NULL || !dt_twister_is_known()) {
            return false;
        }
        known = Py_TYPE(object);
    }
    return dt_object_has_only(object, gauss_name());
}

/* A method as the standard library defines it: of C, or a function of the module under its own
 * name. */
static bool
is_original(PyTypeObject *type, const char *name)
{
    char qualname[64];
    PyObject *found = dt_type_lookup_text(type, name);
    if (found == NULL || !PyFunction_Check(found)) {
        return found != NULL && Py_IS_TYPE(found, &PyMethodDescr_Type)
               && PyDescr_TYPE(found) == type->tp_base;
    }
    (void)PyOS_snprintf(qualname, sizeof(qualname), "Random.%s", name);
    return PyFunction_GET_GLOBALS(found) == module_dict()
           && PyUnicode_CompareWithASCIIString(((PyFunctionObject *)found)->func_qualname, qualname)
                  == 0;
}

/* A call of a method runs none of the program's code. */
static bool
is_untouched(PyTypeObject *type)
{
    static const char *const inner[] = {"_randbelow_with_getrandbits", "gauss", "random",
                                        "getrandbits"};
    PyObject *below = dt_type_lookup_text(type, "_randbelow");
    bool good = below != NULL && below == dt_type_lookup_text(type, inner[0]);
    for (size_t i = 0; good && i < Py_ARRAY_LENGTH(inner); i++) {
        good = is_original(type, inner[i]);
    }
    for (size_t i = 0; good && i < Py_ARRAY_LENGTH(rows); i++) {
        good = dt_type_lookup_text(type, rows[i].name) == NULL || is_original(type, rows[i].name);
    }
    for (const DtRandomSeveral *row = dt_random_several; good && row->name != NULL; row++) {
        good = is_original(type, row->name);
    }
    return good;
}

/* ---- Trackers -------------------------------------------------------------------------------- */

static DtStatus
build(const DtAdapter *adapter, DtTrace *trace, PyObject *object, const DtSource *source,
      DtVar **out)
{
    static const char spec[] = "Random";
    PyTypeObject *type = Py_TYPE(object);
    const DtSource *from = source;
    DtNode *node;
    if (!is_untouched(type)) {
        return dt_break(trace, DT_BREAK_ARRAY_KIND,
                        "a generator of random numbers whose class was changed");
    }
    if (object == hidden_generator()) {
        from = dt_source_get(trace, DT_SOURCE_OBJECT, NULL, object, 0);
        if (from == NULL) {
            return DT_ERROR;
        }
        DT_TRY(dt_build_guard_identity(trace, object, source, false));
    }
    DT_TRY(dt_guard_type_version(trace, from, type));
    DT_TRY(dt_guard_adapter(trace, from, adapter, spec, sizeof(spec), NULL, 0));
    DtMeta *meta = DT_ARENA_NEW(&trace->arena, DtMeta);
    if (meta == NULL) {
        return dt_no_memory();
    }
    meta->adapter = adapter;
    meta->type = type;
    meta->layout = DT_LAYOUT_WRITEABLE;
    DT_TRY(dt_graph_input(trace->graph, from, meta, &node));
    DT_TRY(dt_var_array(trace, node, 0, meta, out));
    (*out)->source = source;
    return DT_OK;
}

static int
check(const DtAdapter *adapter, const void *spec, PyObject *object)
{
    (void)spec;
    return is_generator(adapter, object);
}

static void
print_guard(const DtAdapter *adapter, const void *spec, DtStrbuf *out)
{
    (void)adapter, (void)spec;
    dt_strbuf_addf(out, "a random.Random");
}

static void
print_found(const DtAdapter *adapter, PyObject *object, DtStrbuf *out)
{
    dt_strbuf_addf(out,
                   Py_TYPE(object) == generator_type() && !is_generator(adapter, object)
                       ? "a %s with attributes of its own"
                       : "a %s",
                   Py_TYPE(object)->tp_name);
}

static PyObject *
spec_to_object(const DtAdapter *adapter, const void *spec)
{
    (void)adapter;
    return PyUnicode_FromString(spec);
}

static DtStatus
spec_from_object(const DtAdapter *adapter, DtTrace *trace, PyObject *object, void **out,
                 size_t *size)
{
    (void)adapter;
    const char *text = PyUnicode_Check(object) ? PyUnicode_AsUTF8(object) : NULL;
    if (text == NULL) {
        PyErr_SetString(PyExc_ValueError, "the guard of a generator is not a text");
        return DT_ERROR;
    }
    *out = dt_arena_strdup(&trace->arena, text);
    *size = strlen(text) + 1;
    return *out != NULL ? DT_OK : dt_no_memory();
}

/* ---- Draws ----------------------------------------------------------------------------------- */

DtStatus
dt_random_kind_of_items(DtTrace *trace, DtVar *var, uint32_t most, char *out)
{
    DtKind of = (DtKind)var->type->kind;
    const DtSeqVar *items = (const DtSeqVar *)var;
    *out = of == DT_KIND_RANGE && dt_var_as_constant(trace, var) != NULL ? 'i' : 0;
    if ((of != DT_KIND_LIST && of != DT_KIND_TUPLE)
        || (items->cls != &PyList_Type && items->cls != &PyTuple_Type) || items->count > most) {
        return DT_OK;
    }
    for (uint32_t i = 0; i < items->count; i++) {
        bool array;
        DtVar *item;
        DT_TRY(dt_var_realize(trace, items->items[i], &item));
        char kind = dt_number_of(item, &array);
        if ((kind != 'i' && kind != 'f') || array || (i > 0 && kind != *out)) {
            *out = 0;
            return DT_OK;
        }
        *out = kind;
    }
    return DT_OK;
}

static bool
takes(DrawArgs what, DtVar *var)
{
    bool array;
    char kind = dt_number_of(var, &array);
    PyObject *constant = dt_var_peek_constant(var);
    switch (what) {
    case ARGS_SEED:
        return (kind != 0 && kind != 'c' && !array)
               || (constant != NULL
                   && (constant == Py_None || PyUnicode_CheckExact(constant)
                       || PyBytes_CheckExact(constant)));
    case ARGS_FLOATS:
        return constant == Py_None || (kind == 'f' && !array);
    case ARGS_INTS:
        return constant == Py_None || ((kind == 'i' || kind == 'b') && !array);
    default:
        return kind != 0 && kind != 'c' && !array;
    }
}

/* Whether the two numbers that come first are known and differ. */
static bool
are_apart(const DtArgs *args)
{
    PyObject *first = args->npos > 1 ? dt_var_peek_constant(args->pos[0]) : NULL;
    PyObject *second = args->npos > 1 ? dt_var_peek_constant(args->pos[1]) : NULL;
    bool numbers = first != NULL && second != NULL
                   && (PyLong_CheckExact(first) || PyFloat_CheckExact(first))
                   && (PyLong_CheckExact(second) || PyFloat_CheckExact(second));
    return numbers && PyObject_RichCompareBool(first, second, Py_NE) == 1;
}

static DtStatus
draw(DtTrace *trace, DtArrayVar *self, const Row *row, const DtArgs *args, DtVar **out)
{
    static const uint32_t mutated[] = {0};
    uint32_t count = args->npos + args->nkw;
    DtOperand operands[MAX_ARGS + 1] = {
        {.kind = DT_OPERAND_NODE, .result = self->result, .u.node = self->node}};
    DtMeta number;
    char result = (char)row->result;
    if (self->node->graph != trace->graph || count > MAX_ARGS) {
        return dt_break(trace, DT_BREAK_ARRAY_MUTATION, "%s of a generator from outside",
                        row->target);
    }
    DrawArgs what = row->args == ARGS_FLOATS && are_apart(args) ? ARGS_REALS : (DrawArgs)row->args;
    for (uint32_t i = 0; i < count; i++) {
        DtVar *var = i < args->npos ? args->pos[i] : args->kw[i - args->npos];
        bool ok = false;
        DT_TRY(dt_var_realize(trace, var, &var));
        var = dt_var_peek(var);
        if (row->args == ARGS_NUMBERS) {
            /* more to choose from take longer to be made anew than the draw takes */
            DT_TRY(dt_random_kind_of_items(trace, var, MAX_ITEMS, &result));
        }
        if (row->args == ARGS_NUMBERS ? result != 0
                                      : takes(what, var) || takes((DrawArgs)row->args, var)) {
            DT_TRY(dt_graph_operand(trace, var, &operands[i + 1], &ok));
        }
        if (!ok) {
            return dt_break(trace, DT_BREAK_UNKNOWN_CALLABLE, "%s() with such a %s", row->target,
                            var->type->name);
        }
    }
    DtCallSpec spec = {
        .target = row->target,
        .callee = dt_type_lookup_text(self->meta->type, row->name),
        .args = operands,
        .nargs = count + 1,
        .results = &number,
        .nresults = row->result != RESULT_NOTHING,
        .effect = DT_EFFECT_MUTATES,
        .mutated = mutated,
        .nmutated = 1,
    };
    DT_TRY(dt_args_kwnames(trace, args, &spec.kwnames));
    DtNode *node;
    if (row->result == RESULT_NOTHING) {
        *out = trace->none;
        return dt_graph_call(trace, &spec, &node);
    }
    number = dt_number_meta(result);
    return dt_number_emit_spec(trace, &spec, out);
}

static DtStatus
call_method(const DtAdapter *adapter, DtTrace *trace, DtArrayVar *self, PyObject *name,
            const DtArgs *args, DtVar **out)
{
    (void)adapter;
    for (size_t i = 0; i < Py_ARRAY_LENGTH(rows); i++) {
        if (PyUnicode_CompareWithASCIIString(name, rows[i].name) == 0) {
            return draw(trace, self, &rows[i], args, out);
        }
    }
    for (const DtRandomSeveral *row = dt_random_several; row->name != NULL; row++) {
        if (PyUnicode_CompareWithASCIIString(name, row->name) == 0
            && self->node->graph == trace->graph) {
            return row->call(trace, self, args, out);
        }
    }
    return dt_break(trace, DT_BREAK_UNKNOWN_CALLABLE, "the method %s of a random.Random",
                    dt_kinds_text(name));
}

static DtStatus
getattr(const DtAdapter *adapter, DtTrace *trace, DtArrayVar *self, PyObject *name, DtVar **out)
{
    PyObject *found = dt_type_lookup(self->meta->type, name);
    (void)adapter;
    if (PyUnicode_CompareWithASCIIString(name, "__class__") == 0) {
        return dt_class_of(trace, &self->base, out);
    }
    if (found != NULL && (PyFunction_Check(found) || Py_IS_TYPE(found, &PyMethodDescr_Type))) {
        return dt_var_adapter_method(trace, self, name, out);
    }
    return dt_break(trace, DT_BREAK_ATTRIBUTE, "the attribute %s of a random.Random",
                    dt_kinds_text(name));
}

/* Functions of the module that are methods of C. */
static bool
owns_callable(const DtAdapter *adapter, PyObject *object)
{
    PyObject *self = PyCFunction_CheckExact(object) ? PyCFunction_GET_SELF(object) : NULL;
    return self != NULL && is_generator(adapter, self) && self == hidden_generator();
}

static DtStatus
call(const DtAdapter *adapter, DtTrace *trace, PyObject *callable, const DtArgs *args, DtVar **out)
{
    DtVar *self;
    PyObject *name = dt_trace_keep_take(
        trace, PyUnicode_InternFromString(((PyCFunctionObject *)callable)->m_ml->ml_name));
    if (name == NULL) {
        return DT_ERROR;
    }
    DT_TRY(dt_build_known(trace, PyCFunction_GET_SELF(callable), &self));
    DT_TRY(dt_var_realize(trace, self, &self));
    return call_method(adapter, trace, (DtArrayVar *)self, name, args, out);
}

/* ---- What a run does with the state ---------------------------------------------------------- */

/* A tuple of the words and the other half of a pair of normal numbers.  The last one that was made
 * is used again when nobody has it any more: to make one takes longer than to fill it. */
static PyObject *
save(const DtAdapter *adapter, PyObject *object, PyObject *key)
{
    static PyObject *spare; /* kept by the process */
    PyObject *gauss;
    (void)adapter, (void)key;
    if (dt_object_instance_dict_get(object, gauss_name(), &gauss) != 1) {
        PyErr_SetString(PyExc_AttributeError, "a generator without gauss_next");
        return NULL;
    }
    if (spare == NULL || Py_REFCNT(spare) > 1) {
        PyObject *words = PyBytes_FromStringAndSize(NULL, DT_TWISTER_SIZE);
        PyObject *made = words != NULL ? PyTuple_Pack(2, words, Py_None) : NULL;
        Py_XDECREF(words);
        if (made == NULL) {
            return NULL;
        }
        Py_XSETREF(spare, made);
    }
    dt_twister_save(object, PyBytes_AS_STRING(PyTuple_GET_ITEM(spare, 0)));
    PyObject *before = PyTuple_GET_ITEM(spare, 1);
    PyTuple_SET_ITEM(spare, 1, Py_NewRef(gauss));
    PyObject *saved = Py_NewRef(spare); /* before anything that dies could ask for one */
    Py_DECREF(before);
    return saved;
}

static int
restore(const DtAdapter *adapter, PyObject *object, PyObject *key, PyObject *saved)
{
    (void)adapter, (void)key;
    dt_twister_restore(object, PyBytes_AS_STRING(PyTuple_GET_ITEM(saved, 0)));
    return PyObject_SetAttr(object, gauss_name(), PyTuple_GET_ITEM(saved, 1));
}

static int
can_write(const DtAdapter *adapter, PyObject *object)
{
    return is_generator(adapter, object);
}

const DtAdapter dt_std_random_adapter = {
    .name = "random",
    .beside = true,
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
    .save = save,
    .restore = restore,
    .can_write = can_write,
};

int
dt_std_random_init(void)
{
    return dt_adapter_by_name(dt_std_random_adapter.name) != NULL
               ? 0
               : dt_adapter_register(&dt_std_random_adapter);
}
