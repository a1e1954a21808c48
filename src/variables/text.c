/* The text of trackers: see text.h.
 *
 * Not in here: the methods of strings (text_methods.c), the instructions of f-strings
 * (symbolic/op_misc.c).
 */
#include "variables/text.h"

#include "variables/substitutes.h"

#include <string.h>

#include "compat/type.h"
#include "variables/numbers/array_numbers.h"
#include "variables/fold.h"

typedef PyObject *(*Converter)(PyObject *);

/* A text that is being put together: containers that lie around an item, innermost first. */
typedef struct Around {
    const DtVar *container;
    const struct Around *outer;
    uint32_t depth;
} Around;

#define MAX_DEPTH 200

static DtStatus repr_of(DtTrace *trace, DtVar *var, const Around *around, PyObject **out);

static DtStatus
no_text(DtTrace *trace, DtVar *var)
{
    if (var->type->kind == DT_KIND_ARRAY) {
        return dt_break(trace, DT_BREAK_ARRAY_TO_SCALAR, "the text of an array");
    }
    return dt_break(trace, DT_BREAK_MISSING_SLOT, "the text of a %s", var->type->name);
}

/* ---- Texts of the graph ---------------------------------------------------------------------- */

bool
dt_text_is_array(DtVar *var)
{
    return dt_var_peek(var)->type->kind == DT_KIND_ARRAY;
}

DtStatus
dt_text_of_arrays(DtTrace *trace, const char *function, DtVar *const *vars, uint32_t count,
                  DtVar **out)
{
    for (uint32_t i = 0; i < count; i++) {
        if (dt_text_is_array(vars[i])) {
            DtArrayVar *array = (DtArrayVar *)dt_var_peek(vars[i]);
            return array->adapter->text != NULL
                       ? array->adapter->text(trace, function, vars, count, out)
                       : no_text(trace, &array->base);
        }
    }
    return dt_break(trace, DT_BREAK_MISSING_SLOT, "a text of nothing that is an array");
}

bool
dt_text_in_graph(DtTrace *trace, DtVar *var)
{
    return dt_text_is_array(var) && dt_var_python_type(trace, var) == &PyUnicode_Type;
}

/* ---- Instances ------------------------------------------------------------------------------- */

/* What a special method returned must be a str. */
static DtStatus
take_text(DtTrace *trace, DtVar *result, const char *method, PyObject **out)
{
    PyObject *text = dt_var_as_constant(trace, result);
    if (text != NULL && PyUnicode_CheckExact(text)) {
        *out = Py_NewRef(text);
        return DT_OK;
    }
    PyTypeObject *type = dt_var_python_type(trace, result);
    if (type == NULL || PyType_IsSubtype(type, &PyUnicode_Type)) {
        return dt_break(trace, DT_BREAK_MISSING_SLOT, "%s returned a str that is not known",
                        method);
    }
    return dt_raise(trace, PyExc_TypeError,
                    strcmp(method, "__format__") == 0 ? "%s must return a str, not %.200s"
                                                      : "%s returned non-string (type %.200s)",
                    method, type->tp_name);
}

/* Calls the special method; *out NULL: the type has none of its own. */
static DtStatus
special_text(DtTrace *trace, DtVar *var, const char *name, DtVar *arg, PyObject **out)
{
    DtVar *method = NULL, *result;
    *out = NULL;
    if (var->type->kind == DT_KIND_INSTANCE) {
        DT_TRY(dt_instance_special(trace, var, name, &method));
    }
    else if (var->type->kind == DT_KIND_CLASS) { /* the metaclass's: its own are of its instances */
        DT_TRY(dt_class_special(trace, var, name, &method));
    }
    else {
        PyObject *text = dt_trace_keep_take(trace, PyUnicode_InternFromString(name));
        if (text == NULL) {
            return DT_ERROR;
        }
        /* Kinds with rows of their own for it (exceptions), and classes that derive from tuple. */
        PyTypeObject *type = dt_var_python_type(trace, var);
        PyObject *found = type != NULL ? dt_type_lookup(type, text) : NULL;
        if (dt_kinds_find_method(var->type, text) != NULL
            || (found != NULL && PyFunction_Check(found))) {
            DT_TRY(dt_var_getattr(trace, var, text, &method));
        }
    }
    if (method == NULL) {
        return DT_OK;
    }
    DtArgs args = dt_args_of(&arg, arg != NULL ? 1 : 0);
    DT_TRY(dt_var_call(trace, method, &args, &result));
    return take_text(trace, result, name, out);
}

/* ---- Containers ------------------------------------------------------------------------------ */

typedef struct Writer {
    DtTrace *trace;
    PyObject *parts; /* list of str; owned */
} Writer;

static DtStatus
write_text(Writer *writer, const char *text)
{
    PyObject *part = PyUnicode_FromString(text);
    int failed = part == NULL || PyList_Append(writer->parts, part) < 0;
    Py_XDECREF(part);
    return failed ? DT_ERROR : DT_OK;
}

static DtStatus
write_item(Writer *writer, DtVar *var, const Around *around)
{
    PyObject *part = NULL;
    DT_TRY(repr_of(writer->trace, var, around, &part));
    int failed = PyList_Append(writer->parts, part) < 0;
    Py_DECREF(part);
    return failed ? DT_ERROR : DT_OK;
}

static DtStatus
write_items(Writer *writer, DtVar *const *items, uint32_t count, const Around *around)
{
    for (uint32_t i = 0; i < count; i++) {
        DT_TRY(write_text(writer, i > 0 ? ", " : ""));
        DT_TRY(write_item(writer, items[i], around));
    }
    return DT_OK;
}

static DtStatus
write_dict(Writer *writer, DtDictVar *dict, const Around *around)
{
    uint32_t changes = dict->changes;
    DT_TRY(write_text(writer, "{"));
    for (uint32_t i = 0; i < dict->count; i++) {
        DT_TRY(write_text(writer, i > 0 ? ", " : ""));
        DT_TRY(write_item(writer, dict->items[i].key_var, around));
        DT_TRY(write_text(writer, ": "));
        DT_TRY(write_item(writer, dict->items[i].value, around));
        if (dict->changes != changes) {
            return dt_break(writer->trace, DT_BREAK_MISSING_SLOT, "a __repr__ that changes a dict");
        }
    }
    return write_text(writer, "}");
}

static DtStatus
write_iterated(Writer *writer, DtVar *var, const char *open, const char *close,
               const Around *around)
{
    DtVar **items;
    uint32_t count;
    DT_TRY(dt_var_unpack(writer->trace, var, &items, &count));
    DT_TRY(write_text(writer, open));
    DT_TRY(write_items(writer, items, count, around));
    return write_text(writer, close);
}

static DtStatus
write_set(Writer *writer, DtDictVar *set, const Around *around)
{
    bool frozen = set->cls == &PyFrozenSet_Type;
    return write_iterated(writer, &set->base, frozen ? "frozenset({" : "{", frozen ? "})" : "}",
                          around);
}

static DtStatus
write_view(Writer *writer, DtDictViewVar *view, const Around *around)
{
    static const char *const names[] = {"dict_keys([", "dict_values([", "dict_items(["};
    return write_iterated(writer, &view->base, names[view->what], "])", around);
}

static DtStatus
write_container(Writer *writer, DtVar *var, const Around *around)
{
    DtSeqVar *sequence = (DtSeqVar *)var;
    switch (var->type->kind) {
    case DT_KIND_LIST:
        return write_iterated(writer, var, "[", "]", around);
    case DT_KIND_TUPLE:
        return write_iterated(writer, var, "(", sequence->count == 1 ? ",)" : ")", around);
    case DT_KIND_SLICE:
        DT_TRY(write_text(writer, "slice("));
        DT_TRY(write_items(writer, sequence->items, 3, around));
        return write_text(writer, ")");
    case DT_KIND_DICT:
        return write_dict(writer, (DtDictVar *)var, around);
    case DT_KIND_SET:
        return write_set(writer, (DtDictVar *)var, around);
    default:
        return write_view(writer, (DtDictViewVar *)var, around);
    }
}

static bool
is_container(DtVar *var)
{
    switch (var->type->kind) {
    case DT_KIND_LIST:
    case DT_KIND_TUPLE:
        return ((DtSeqVar *)var)->cls == &PyList_Type || ((DtSeqVar *)var)->cls == &PyTuple_Type;
    case DT_KIND_DICT:
        return ((DtDictVar *)var)->cls == &PyDict_Type;
    case DT_KIND_SET:
        return ((DtDictVar *)var)->cls == &PySet_Type
               || ((DtDictVar *)var)->cls == &PyFrozenSet_Type;
    case DT_KIND_SLICE:
    case DT_KIND_DICT_VIEW:
        return true;
    default:
        return false;
    }
}

/* "[...]" of a container that contains itself. */
static const char *
repr_of_cycle(DtVar *var)
{
    switch (var->type->kind) {
    case DT_KIND_LIST:
        return "[...]";
    case DT_KIND_DICT:
        return "{...}";
    case DT_KIND_TUPLE:
        return "(...)";
    default:
        return "...";
    }
}

static DtStatus
repr_of_container(DtTrace *trace, DtVar *var, const Around *around, PyObject **out)
{
    Around here = {var, around, around != NULL ? around->depth + 1 : 0};
    if (here.depth > MAX_DEPTH) {
        return dt_break(trace, DT_BREAK_SYMBOLIC_RANGE, "the text of containers nested too deeply");
    }
    for (const Around *outer = around; outer != NULL; outer = outer->outer) {
        if (outer->container == var) {
            *out = PyUnicode_FromString(repr_of_cycle(var));
            return *out != NULL ? DT_OK : DT_ERROR;
        }
    }
    Writer writer = {trace, PyList_New(0)};
    PyObject *empty = PyUnicode_New(0, 0);
    DtStatus status = writer.parts != NULL && empty != NULL ? DT_OK : DT_ERROR;
    if (status == DT_OK) {
        status = write_container(&writer, var, &here);
    }
    if (status == DT_OK) {
        *out = PyUnicode_Join(empty, writer.parts);
        status = *out != NULL ? DT_OK : DT_ERROR;
    }
    Py_XDECREF(writer.parts);
    Py_XDECREF(empty);
    return status;
}

/* ---- Conversions ----------------------------------------------------------------------------- */

static DtStatus
convert(DtTrace *trace, DT_STEALS PyObject *value, Converter converter, PyObject **out)
{
    *out = converter(value);
    Py_DECREF(value);
    return *out != NULL ? DT_OK : dt_raise_from_exception(trace);
}

static DtStatus
attribute_text(DtTrace *trace, DtVar *cls, const char *text, PyObject **out)
{
    PyObject *name = dt_trace_keep_take(trace, PyUnicode_InternFromString(text));
    DtVar *value;
    if (name == NULL) {
        return DT_ERROR;
    }
    DT_TRY(dt_var_getattr(trace, cls, name, &value));
    *out = dt_var_as_constant(trace, value);
    return *out != NULL && PyUnicode_CheckExact(*out) ? DT_OK : no_text(trace, cls);
}

/* What type.__repr__ gives for a class of the program. */
static DtStatus
text_of_class(DtTrace *trace, DtVar *cls, PyObject **out)
{
    PyTypeObject *type = (PyTypeObject *)dt_payload_object(cls);
    PyObject *module, *name;
    if (Py_TYPE(type)->tp_repr != PyType_Type.tp_repr || !(type->tp_flags & Py_TPFLAGS_HEAPTYPE)
        || dt_substitute_hides_class(type)) {
        return no_text(trace, cls);
    }
    DT_TRY(attribute_text(trace, cls, "__module__", &module));
    DT_TRY(attribute_text(trace, cls, "__qualname__", &name));
    if (PyUnicode_CompareWithASCIIString(module, "builtins") == 0) {
        return no_text(trace, cls);
    }
    *out = PyUnicode_FromFormat("<class '%U.%U'>", module, name);
    return *out != NULL ? DT_OK : DT_ERROR;
}

static DtStatus
repr_of(DtTrace *trace, DtVar *var, const Around *around, PyObject **out)
{
    PyObject *value;
    DT_TRY(dt_var_realize(trace, var, &var));
    DT_TRY(dt_fold_value(trace, var, &value));
    if (value != NULL) {
        return convert(trace, value, PyObject_Repr, out);
    }
    if (is_container(var)) {
        return repr_of_container(trace, var, around, out);
    }
    DT_TRY(special_text(trace, var, "__repr__", NULL, out));
    if (*out != NULL) {
        return DT_OK;
    }
    return var->type->kind == DT_KIND_CLASS ? text_of_class(trace, var, out) : no_text(trace, var);
}

static DtStatus
str_of(DtTrace *trace, DtVar *var, PyObject **out)
{
    PyObject *value;
    DT_TRY(dt_var_realize(trace, var, &var));
    DT_TRY(dt_fold_value(trace, var, &value));
    if (value != NULL) {
        return convert(trace, value, PyObject_Str, out);
    }
    if (!is_container(var)) {
        DT_TRY(special_text(trace, var, "__str__", NULL, out));
        if (*out != NULL) {
            return DT_OK;
        }
    }
    return repr_of(trace, var, NULL, out);
}

DtStatus
dt_text_repr(DtTrace *trace, DtVar *var, DtVar **out)
{
    PyObject *text;
    DT_TRY(dt_var_realize(trace, var, &var));
    if (dt_text_is_array(var)) {
        return dt_text_of_arrays(trace, "representation", &var, 1, out);
    }
    DT_TRY(repr_of(trace, var, NULL, &text));
    return dt_var_const_take(trace, text, out);
}

DtStatus
dt_text_str(DtTrace *trace, DtVar *var, DtVar **out)
{
    PyObject *text;
    DT_TRY(dt_var_realize(trace, var, &var));
    if (dt_text_is_array(var)) {
        if (dt_text_in_graph(trace, var)) {
            *out = var;
            return DT_OK;
        }
        return dt_text_of_arrays(trace, "text", &var, 1, out);
    }
    DT_TRY(str_of(trace, var, &text));
    return dt_var_const_take(trace, text, out);
}

/* ascii() of a str with the given repr: PyObject_ASCII asks for a repr itself. */
static PyObject *
escape(PyObject *repr)
{
    PyObject *bytes = PyUnicode_AsEncodedString(repr, "ascii", "backslashreplace");
    PyObject *text = bytes != NULL ? PyUnicode_DecodeASCII(PyBytes_AS_STRING(bytes),
                                                           PyBytes_GET_SIZE(bytes), "strict")
                                   : NULL;
    Py_XDECREF(bytes);
    return text;
}

DtStatus
dt_text_ascii(DtTrace *trace, DtVar *var, DtVar **out)
{
    PyObject *repr, *text;
    DT_TRY(dt_var_realize(trace, var, &var));
    if (dt_text_is_array(var)) {
        return dt_text_of_arrays(trace, "escaped", &var, 1, out);
    }
    DT_TRY(repr_of(trace, var, NULL, &repr));
    DT_TRY(convert(trace, repr, escape, &text));
    return dt_var_const_take(trace, text, out);
}

static DtStatus
format_known(DtTrace *trace, PyObject *value, PyObject *spec, DtVar **out)
{
    PyObject *method = PyObject_GetAttrString(value, "__format__");
    PyObject *args = method != NULL ? PyTuple_Pack(1, spec) : NULL;
    if (args == NULL) {
        Py_XDECREF(method);
        return DT_ERROR;
    }
    DtStatus status = dt_fold_objects(trace, method, NULL, args, NULL, out);
    Py_DECREF(args);
    Py_DECREF(method);
    return status;
}

DtStatus
dt_text_format(DtTrace *trace, DtVar *var, DtVar *spec, DtVar **out)
{
    PyObject *value, *text = NULL, *spec_text;
    if (spec == NULL) {
        DT_TRY(dt_var_const_take(trace, PyUnicode_New(0, 0), &spec));
    }
    spec_text = dt_var_as_constant(trace, spec);
    if (spec_text != NULL && !PyUnicode_Check(spec_text)) {
        DtVar *both[2] = {var, spec};
        PyObject *format = PyDict_GetItemString(PyEval_GetBuiltins(), "format");
        DtArgs args = dt_args_of(both, 2);
        return format != NULL ? dt_fold_failure(trace, format, &args)
                              : dt_break(trace, DT_BREAK_MISSING_SLOT, "format is gone");
    }
    if (spec_text == NULL || !PyUnicode_CheckExact(spec_text)) {
        return dt_break(trace, DT_BREAK_MISSING_SLOT, "a format that is not known");
    }
    DT_TRY(dt_var_realize(trace, var, &var));
    DT_TRY(dt_fold_value(trace, var, &value));
    if (value != NULL && !PyType_Check(value)) { /* the __format__ of a class is of its instances */
        DtStatus status = format_known(trace, value, spec_text, out);
        Py_DECREF(value);
        return status;
    }
    Py_XDECREF(value);
    if (dt_text_is_array(var)) {
        DtVar *both[2] = {var, spec};
        if (dt_text_in_graph(trace, var) && PyUnicode_GET_LENGTH(spec_text) == 0) {
            *out = var;
            return DT_OK;
        }
        return dt_text_of_arrays(trace, "formatted", both, 2, out);
    }
    if (var->type->kind == DT_KIND_IDENTITY) {
        return no_text(trace, var);
    }
    if (!is_container(var)) {
        DT_TRY(special_text(trace, var, "__format__", spec, &text));
        if (text != NULL) {
            return dt_var_const_take(trace, text, out);
        }
    }
    if (PyUnicode_GET_LENGTH(spec_text) > 0) {
        return dt_raise(trace, PyExc_TypeError,
                        "unsupported format string passed to %.200s.__format__",
                        dt_var_python_type(trace, var)->tp_name);
    }
    return dt_text_str(trace, var, out);
}
