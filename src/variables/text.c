/* The text of trackers: see text.h.
 *
 * Not in here: the instructions of f-strings (symbolic/op_misc.c).
 */
#include "variables/text.h"

#include "variables/substitutes.h"

#include <string.h>

#include "compat/type.h"
#include "variables/numbers/array_numbers.h"
#include "variables/fold.h"
#include "variables/proxy.h"

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

static bool
is_array(DtVar *var)
{
    return dt_var_peek(var)->type->kind == DT_KIND_ARRAY;
}

/* The adapter of the first array decides; the values are realised. */
static DtStatus
text_of_arrays(DtTrace *trace, const char *function, DtVar *const *vars, uint32_t count,
               DtVar **out)
{
    for (uint32_t i = 0; i < count; i++) {
        if (is_array(vars[i])) {
            DtArrayVar *array = (DtArrayVar *)dt_var_peek(vars[i]);
            return array->adapter->text != NULL
                       ? array->adapter->text(trace, function, vars, count, out)
                       : no_text(trace, &array->base);
        }
    }
    return dt_break(trace, DT_BREAK_MISSING_SLOT, "a text of nothing that is an array");
}

/* The same with a known text before the values. */
static DtStatus
text_with_form(DtTrace *trace, const char *function, PyObject *form, DtVar *const *vars,
               uint32_t count, DtVar **out)
{
    DtVar **all = DT_ARENA_ARRAY(&trace->arena, DtVar *, count + 1);
    if (all == NULL) {
        return dt_no_memory();
    }
    DT_TRY(dt_var_const(trace, form, &all[0]));
    memcpy(all + 1, vars, sizeof(all[0]) * count);
    return text_of_arrays(trace, function, all, count + 1, out);
}

/* A text of the graph is its own str(), and its own format() without a spec. */
static bool
is_text(DtTrace *trace, DtVar *var)
{
    return is_array(var) && dt_var_python_type(trace, var) == &PyUnicode_Type;
}

DtStatus
dt_text_join(DtTrace *trace, PyObject *separator, DtVar *const *parts, uint32_t count, DtVar **out)
{
    for (uint32_t i = 0; i < count; i++) {
        PyObject *known = dt_var_as_constant(trace, parts[i]);
        if (!is_text(trace, parts[i]) && (known == NULL || !PyUnicode_CheckExact(known))) {
            return PyErr_Occurred() ? DT_ERROR
                                    : dt_break(trace, DT_BREAK_MISSING_SLOT,
                                               "a text with a part that is not constant");
        }
    }
    return text_with_form(trace, "joined", separator, parts, count, out);
}

/* Asks a function of dyntrace._texts about a form. */
static DtStatus
ask_about(PyObject *form, const char *function, bool *out)
{
    PyObject *module = PyImport_ImportModule("dyntrace._texts");
    PyObject *answer = module != NULL ? PyObject_CallMethod(module, function, "O", form) : NULL;
    *out = answer == Py_True;
    Py_XDECREF(module);
    Py_XDECREF(answer);
    return answer != NULL ? DT_OK : DT_ERROR;
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
    return *out != NULL ? DT_OK : dt_break_from_exception(trace);
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
    if (is_array(var)) {
        return text_of_arrays(trace, "representation", &var, 1, out);
    }
    DT_TRY(repr_of(trace, var, NULL, &text));
    return dt_var_const_take(trace, text, out);
}

DtStatus
dt_text_str(DtTrace *trace, DtVar *var, DtVar **out)
{
    PyObject *text;
    DT_TRY(dt_var_realize(trace, var, &var));
    if (is_array(var)) {
        if (is_text(trace, var)) {
            *out = var;
            return DT_OK;
        }
        return text_of_arrays(trace, "text", &var, 1, out);
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
    if (is_array(var)) {
        return text_of_arrays(trace, "escaped", &var, 1, out);
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
    if (is_array(var)) {
        DtVar *both[2] = {var, spec};
        if (is_text(trace, var) && PyUnicode_GET_LENGTH(spec_text) == 0) {
            *out = var;
            return DT_OK;
        }
        return text_of_arrays(trace, "formatted", both, 2, out);
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

/* ---- Methods of strings ---------------------------------------------------------------------- */

/* join() of something that is no string: what the exception names. */
static DtStatus
fail_join(DtTrace *trace, PyObject *method, DtSeqVar *parts)
{
    PyObject *list = PyList_New(parts->count);
    DtStatus status = list != NULL ? DT_OK : DT_ERROR;
    for (uint32_t i = 0; i < parts->count && status == DT_OK; i++) {
        PyObject *value = NULL;
        status = dt_fold_stand_in(trace, parts->items[i], &value);
        if (value != NULL) {
            PyList_SET_ITEM(list, i, value);
        }
    }
    PyObject *result = status == DT_OK ? PyObject_CallOneArg(method, list) : NULL;
    Py_XDECREF(list);
    DT_TRY(status);
    if (result == NULL) {
        return dt_break_from_exception(trace);
    }
    Py_DECREF(result);
    return dt_break(trace, DT_BREAK_MISSING_SLOT, "join() of strings that are not known");
}

/* join() goes through any iterable; what it finds there must be known. */
static DtStatus
call_join(DtTrace *trace, PyObject *method, PyObject *receiver, const DtArgs *args, DtVar **out)
{
    DtVar *parts, **items;
    uint32_t count;
    PyObject *known;
    DT_TRY(dt_var_realize(trace, args->pos[0], &parts));
    PyTypeObject *type = dt_var_python_type(trace, parts);
    if (type != NULL && type->tp_iter == NULL
        && (type->tp_as_sequence == NULL || type->tp_as_sequence->sq_item == NULL)) {
        return dt_fold_failure(trace, method, args);
    }
    if (parts->type->kind != DT_KIND_LIST && parts->type->kind != DT_KIND_TUPLE) {
        DT_TRY(dt_collect_fast(trace, parts, &items, &count));
        DT_TRY(dt_var_list(trace, items, count, &parts));
    }
    DT_TRY(dt_fold_value(trace, parts, &known));
    if (known == NULL && PyUnicode_CheckExact(receiver)) {
        DtSeqVar *sequence = (DtSeqVar *)parts;
        bool arrays;
        DT_TRY(dt_array_among(trace, sequence->items, sequence->count, &arrays));
        if (arrays) {
            return dt_text_join(trace, receiver, sequence->items, sequence->count, out);
        }
    }
    if (known == NULL) {
        return fail_join(trace, method, (DtSeqVar *)parts);
    }
    Py_DECREF(known);
    DtArgs one = dt_args_of(&parts, 1);
    return dt_fold_call(trace, method, receiver, &one, out);
}

/* format() and format_map() with objects whose text is followed. */
static DtStatus
call_format(DtTrace *trace, PyObject *method, const DtArgs *args, DtVar **out)
{
    PyObject *form = PyCFunction_GET_SELF(method);
    bool arrays, plain;
    DT_TRY(dt_array_among(trace, args->pos, args->npos, &arrays));
    if (arrays && args->nkw == 0 && PyUnicode_CheckExact(form)
        && strcmp(((PyCFunctionObject *)method)->m_ml->ml_name, "format") == 0) {
        DT_TRY(ask_about(form, "only_formats", &plain));
        return plain ? text_with_form(trace, "filled", form, args->pos, args->npos, out)
                     : dt_break(trace, DT_BREAK_ARRAY_TO_SCALAR,
                                "a format that looks into the array");
    }
    DtProxyRun run = {trace, DT_OK};
    PyObject *values = PyTuple_New(args->npos);
    PyObject *keywords = PyDict_New();
    bool failed = values == NULL || keywords == NULL;
    for (uint32_t i = 0; i < args->npos && !failed; i++) {
        PyObject *value = dt_proxy_value(&run, args->pos[i]);
        failed = value == NULL;
        if (!failed) {
            PyTuple_SET_ITEM(values, i, value);
        }
    }
    for (uint32_t i = 0; i < args->nkw && !failed; i++) {
        PyObject *value = dt_proxy_value(&run, args->kw[i]);
        failed = value == NULL || PyDict_SetItem(keywords, args->kwnames[i], value) < 0;
        Py_XDECREF(value);
    }
    PyObject *text = failed ? NULL : PyObject_Call(method, values, keywords);
    Py_XDECREF(values);
    Py_XDECREF(keywords);
    if (text == NULL) {
        DT_TRY(dt_proxy_finish(&run));
        return DT_ERROR;
    }
    return dt_var_const_take(trace, text, out);
}

static bool
all_known(DtTrace *trace, const DtArgs *args, DtStatus *status)
{
    for (uint32_t i = 0; i < args->npos + args->nkw; i++) {
        PyObject *value;
        DtVar *arg = i < args->npos ? args->pos[i] : args->kw[i - args->npos];
        *status = dt_fold_value(trace, arg, &value);
        if (*status != DT_OK || value == NULL) {
            return false;
        }
        Py_DECREF(value);
    }
    return true;
}

DtStatus
dt_text_call_method(DtTrace *trace, PyObject *method, PyObject *receiver, const DtArgs *args,
                    DtVar **out)
{
    bool text = PyUnicode_CheckExact(receiver) || PyBytes_CheckExact(receiver);
    if (text && PyCFunction_CheckExact(method)) {
        const char *name = ((PyCFunctionObject *)method)->m_ml->ml_name;
        if (strcmp(name, "join") == 0 && args->npos == 1 && args->nkw == 0) {
            return call_join(trace, method, receiver, args, out);
        }
        DtStatus status = DT_OK;
        if ((strcmp(name, "format") == 0 || strcmp(name, "format_map") == 0)
            && !all_known(trace, args, &status)) {
            return status != DT_OK ? status : call_format(trace, method, args, out);
        }
    }
    return dt_fold_call(trace, method, receiver, args, out);
}

/* Numbers are converted; of arrays, and of complex numbers, NumPy warns there. */
static bool
needs_plain_form(DtVar *var)
{
    const DtArrayVar *array = (const DtArrayVar *)dt_var_peek(var);
    const DtAdapter *adapter = is_array(var) ? array->adapter : NULL;
    char kind =
        adapter != NULL && adapter->number_kind != NULL ? adapter->number_kind(array->meta) : 0;
    return adapter != NULL && (kind == 0 || kind == 'c');
}

/* The values of a format, among which is an array; *done: there is one. */
static DtStatus
percent_of_arrays(DtTrace *trace, PyObject *format, DtVar *var, bool *done, DtVar **out)
{
    bool tuple = var->type->kind == DT_KIND_TUPLE, plain = true;
    DtVar *const *items = tuple ? ((DtSeqVar *)var)->items : &var;
    uint32_t count = tuple ? ((DtSeqVar *)var)->count : 1;
    DT_TRY(dt_array_among(trace, items, count, done));
    if (!*done) {
        return DT_OK;
    }
    for (uint32_t i = 0; i < count && plain; i++) {
        plain = !needs_plain_form(items[i]);
    }
    if (!plain) {
        DT_TRY(ask_about(format, "only_texts", &plain));
    }
    return plain ? text_with_form(trace, tuple ? "percent" : "percent_of_one", format, items, count,
                                  out)
                 : dt_break(trace, DT_BREAK_ARRAY_TO_SCALAR, "a format that converts an array");
}

/* A tuple of known values and proxies. */
static PyObject *
proxy_tuple(DtProxyRun *run, DtSeqVar *tuple)
{
    PyObject *values = PyTuple_New(tuple->count);
    for (uint32_t i = 0; values != NULL && i < tuple->count; i++) {
        PyObject *value = dt_proxy_value(run, tuple->items[i]);
        if (value == NULL) {
            Py_CLEAR(values);
            break;
        }
        PyTuple_SET_ITEM(values, i, value);
    }
    return values;
}

DtStatus
dt_text_percent(DtTrace *trace, PyObject *format, DtVar *var, DtVar **out)
{
    DtProxyRun run = {trace, DT_OK};
    PyObject *known;
    bool done;
    DT_TRY(dt_var_realize(trace, var, &var));
    if (PyUnicode_CheckExact(format)) {
        DT_TRY(percent_of_arrays(trace, format, var, &done, out));
        if (done) {
            return DT_OK;
        }
    }
    DT_TRY(dt_fold_value(trace, var, &known));
    if (known != NULL) {
        PyObject *method = PyObject_GetAttrString(format, "__mod__");
        PyObject *args = method != NULL ? PyTuple_Pack(1, known) : NULL;
        Py_DECREF(known);
        DtStatus status =
            args != NULL ? dt_fold_objects(trace, method, format, args, NULL, out) : DT_ERROR;
        Py_XDECREF(args);
        Py_XDECREF(method);
        return status;
    }
    PyObject *value = var->type->kind == DT_KIND_TUPLE ? proxy_tuple(&run, (DtSeqVar *)var)
                                                       : dt_proxy_value(&run, var);
    PyObject *text = value != NULL ? PyNumber_Remainder(format, value) : NULL;
    Py_XDECREF(value);
    if (text == NULL) {
        DT_TRY(dt_proxy_finish(&run));
        return DT_ERROR;
    }
    return dt_var_const_take(trace, text, out);
}
