/* Rows of module `builtins` about types and attributes, and those that are
 * refused: what would print, read or depend on addresses is a graph break.
 */
#include <string.h>

#include "compat/type.h"
#include "variables/fold.h"

/* Whether the function or class says that it is from one of the modules; the list ends with NULL.
 */
static bool
is_from(PyObject *object, const char *const *modules)
{
    /* Read where it lies: a metaclass of Python could answer for the attribute. */
    PyObject *name = PyUnicode_InternFromString("__module__");
    PyObject *module = NULL;
    if (PyFunction_Check(object)) {
        module = ((PyFunctionObject *)object)->func_module;
    }
    else if (PyType_Check(object) && name != NULL) {
        module = dt_type_own_lookup((PyTypeObject *)object, name);
    }
    PyErr_Clear(); /* no memory: not one of those */
    Py_XDECREF(name);
    bool found = false;
    for (; module != NULL && PyUnicode_Check(module) && !found && *modules != NULL; modules++) {
        found = PyUnicode_CompareWithASCIIString(module, *modules) == 0;
    }
    return found;
}

/* Abstract classes of the standard library: their __subclasshook__ is known to have no effect. */
static bool
is_known_abstract(PyObject *cls)
{
    static const char *const modules[] = {"collections.abc", "numbers", NULL};
    return is_from(cls, modules);
}

/* What the type finds under a name; NULL also without memory. */
static PyObject *
found_in(PyTypeObject *type, const char *text)
{
    PyObject *name = PyUnicode_InternFromString(text);
    PyObject *found = name != NULL ? dt_type_lookup(type, name) : NULL;
    PyErr_Clear(); /* no memory: differs from what any class has */
    Py_XDECREF(name);
    return found;
}

/* Whether the class may say no to one that derives from it: its metaclass has a check of its own,
 * or that of abstract classes, which leaves it to __subclasshook__. */
static bool
answers_itself(PyTypeObject *cls)
{
    static const char *const abstract[] = {"abc", NULL};
    static const char *const names[] = {"__instancecheck__", "__subclasscheck__"};
    PyTypeObject *meta = Py_TYPE(cls);
    bool own = false;
    for (int i = 0; meta != &PyType_Type && i < 2 && !own; i++) {
        PyObject *check = found_in(meta, names[i]);
        own = check != found_in(&PyType_Type, names[i])
              && (check == NULL || !is_from(check, abstract)
                  || found_in(cls, "__subclasshook__")
                         != found_in(&PyBaseObject_Type, "__subclasshook__"));
    }
    return own;
}

/* Whether `type` is one of `classes`, a class or a tuple of such; -1: can't be told. */
static int
is_subclass_of(DtTrace *trace, PyTypeObject *type, PyObject *classes)
{
    if (PyTuple_CheckExact(classes)) {
        for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(classes); i++) {
            int one = is_subclass_of(trace, type, PyTuple_GET_ITEM(classes, i));
            if (one != 0) {
                return one;
            }
        }
        return 0;
    }
    if (!PyType_Check(classes)) {
        return -1;
    }
    if (PyType_IsSubtype(type, (PyTypeObject *)classes)
        && !answers_itself((PyTypeObject *)classes)) {
        return 1;
    }
    if (Py_TYPE(classes) != &PyType_Type && is_known_abstract(classes)) {
        return PyObject_IsSubclass((PyObject *)type, classes);
    }
    PyTypeObject *meta = Py_TYPE(classes);
    if (meta == &PyType_Type || !(meta->tp_flags & Py_TPFLAGS_HEAPTYPE)) {
        return 0;
    }
    /* A metaclass may say otherwise (that of abstract classes does), as long as it overrides it. */
    if (found_in(meta, "__instancecheck__") != found_in(&PyType_Type, "__instancecheck__")
        || found_in(meta, "__subclasscheck__") != found_in(&PyType_Type, "__subclasscheck__")) {
        return -1;
    }
    const DtSource *source = dt_source_get(trace, DT_SOURCE_OBJECT, NULL, classes, 0);
    return source != NULL && dt_guard_type_version(trace, source, meta) == DT_OK ? 0 : -1;
}

static DtStatus
check_class(DtTrace *trace, PyTypeObject *type, DtVar *classes, const char *function, DtVar **out)
{
    PyObject *wanted = dt_var_as_constant(trace, classes);
    int answer = type != NULL && wanted != NULL ? is_subclass_of(trace, type, wanted) : -1;
    if (answer < 0) {
        if (PyErr_Occurred()) {
            return dt_break_from_exception(trace);
        }
        return dt_break(trace, DT_BREAK_UNKNOWN_CALLABLE, "%s() with a class that answers itself",
                        function);
    }
    return dt_var_bool(trace, answer == 1, out);
}

static DtStatus
call_isinstance(DtTrace *trace, DtVar *self, const DtArgs *args, DtVar **out)
{
    PyTypeObject *type = dt_var_python_type(trace, args->pos[0]);
    if (type != NULL && found_in(type, "__class__") != found_in(&PyBaseObject_Type, "__class__")) {
        return dt_break(trace, DT_BREAK_ATTRIBUTE, "isinstance() asks the __class__ of a %s",
                        type->tp_name);
    }
    PyObject *wanted = dt_var_as_constant(trace, args->pos[1]);
    if (wanted != NULL && dt_constant_is_safe(wanted) && !PyTuple_Check(wanted)) {
        return dt_kinds_mismatch(trace, self, "isinstance", args);
    }
    return check_class(trace, type, args->pos[1], "isinstance", out);
}

static DtStatus
call_issubclass(DtTrace *trace, DtVar *self, const DtArgs *args, DtVar **out)
{
    PyObject *cls = dt_var_as_constant(trace, args->pos[0]);
    if (cls == NULL || !PyType_Check(cls)) {
        PyObject *known;
        DT_TRY(dt_fold_value(trace, args->pos[0], &known));
        Py_XDECREF(known);
        return known != NULL ? dt_kinds_mismatch(trace, self, "issubclass", args)
                             : dt_break(trace, DT_BREAK_UNKNOWN_CALLABLE,
                                        "issubclass() of something that is not known");
    }
    DtVar *var;
    DT_TRY(dt_var_realize(trace, args->pos[0], &var));
    if (var->type->kind == DT_KIND_CLASS) {
        DT_TRY(dt_class_guard_unchanged(trace, var)); /* its bases can be assigned */
    }
    return check_class(trace, (PyTypeObject *)cls, args->pos[1], "issubclass", out);
}

static DtStatus
call_type(DtTrace *trace, DtVar *self, const DtArgs *args, DtVar **out)
{
    if (args->npos == 2) {
        return dt_kinds_mismatch(trace, self, "type", args);
    }
    if (args->npos != 1) {
        return dt_break(trace, DT_BREAK_UNKNOWN_CALLABLE, "type() makes a class");
    }
    return dt_class_of(trace, args->pos[0], out);
}

static DtStatus
attribute_name(DtTrace *trace, DtVar *var, PyObject **out)
{
    PyObject *name = dt_var_as_constant(trace, var);
    if (name == NULL || !PyUnicode_CheckExact(name)) {
        return dt_kinds_raise(trace, "TypeError", "attribute name must be string");
    }
    Py_INCREF(name);
    PyUnicode_InternInPlace(&name);
    *out = dt_trace_keep_take(trace, name);
    return *out != NULL ? DT_OK : DT_ERROR;
}

/* Takes the exception if reading the attribute says that it is missing. */
static bool
take_attribute_error(DtTrace *trace, DtStatus status)
{
    if (status != DT_RAISE || !dt_raised_matches(trace, PyExc_AttributeError)) {
        return false;
    }
    (void)dt_raised_take(trace);
    return true;
}

static DtStatus
call_getattr(DtTrace *trace, DtVar *self, const DtArgs *args, DtVar **out)
{
    (void)self;
    PyObject *name;
    DT_TRY(attribute_name(trace, args->pos[1], &name));
    DtStatus status = dt_var_getattr(trace, args->pos[0], name, out);
    if (args->npos == 3 && take_attribute_error(trace, status)) {
        *out = args->pos[2];
        return DT_OK;
    }
    return status;
}

static DtStatus
call_vars(DtTrace *trace, DtVar *self, const DtArgs *args, DtVar **out)
{
    (void)self;
    PyObject *name = dt_trace_keep_take(trace, PyUnicode_InternFromString("__dict__"));
    if (name == NULL) {
        return DT_ERROR;
    }
    if (args->npos == 0) {
        return dt_break(trace, DT_BREAK_UNKNOWN_CALLABLE, "vars() of the frame itself");
    }
    DtStatus status = dt_var_getattr(trace, args->pos[0], name, out);
    if (take_attribute_error(trace, status)) {
        return dt_raise(trace, PyExc_TypeError, "vars() argument must have __dict__ attribute");
    }
    return status;
}

static DtStatus
call_hasattr(DtTrace *trace, DtVar *self, const DtArgs *args, DtVar **out)
{
    (void)self;
    PyObject *name;
    DtVar *ignored;
    DT_TRY(attribute_name(trace, args->pos[1], &name));
    DtStatus status = dt_var_getattr(trace, args->pos[0], name, &ignored);
    if (status == DT_OK || take_attribute_error(trace, status)) {
        return dt_var_bool(trace, status == DT_OK, out);
    }
    return status;
}

static DtStatus
call_setattr(DtTrace *trace, DtVar *self, const DtArgs *args, DtVar **out)
{
    (void)self;
    PyObject *name;
    DT_TRY(attribute_name(trace, args->pos[1], &name));
    *out = dt_none(trace);
    return dt_var_setattr(trace, args->pos[0], name, args->pos[2]);
}

static DtStatus
call_delattr(DtTrace *trace, DtVar *self, const DtArgs *args, DtVar **out)
{
    (void)self;
    PyObject *name;
    DT_TRY(attribute_name(trace, args->pos[1], &name));
    *out = dt_none(trace);
    return dt_var_setattr(trace, args->pos[0], name, NULL);
}

static DtStatus
call_callable(DtTrace *trace, DtVar *self, const DtArgs *args, DtVar **out)
{
    (void)self;
    PyTypeObject *type = dt_var_python_type(trace, args->pos[0]);
    if (type == NULL) {
        return dt_break(trace, DT_BREAK_UNKNOWN_CALLABLE, "callable() of a %s",
                        dt_var_peek(args->pos[0])->type->name);
    }
    return dt_var_bool(trace, type->tp_call != NULL, out);
}

static DtStatus
call_refused(DtTrace *trace, DtVar *self, const DtArgs *args, DtVar **out)
{
    (void)args;
    (void)out;
    return dt_break(trace, DT_BREAK_UNKNOWN_CALLABLE, "%s() is called",
                    ((DtObjectVar *)self)->row->name);
}

static DtStatus
call_object(DtTrace *trace, DtVar *self, const DtArgs *args, DtVar **out)
{
    (void)args;
    DtInstanceVar *instance = DT_KINDS_NEW(trace, INSTANCE, DtInstanceVar, NULL);
    if (instance == NULL) {
        return DT_ERROR;
    }
    instance->base.mutation = DT_ATTRIBUTE_MUTATION_NEW;
    instance->cls = &PyBaseObject_Type;
    instance->cls_var = self;
    *out = &instance->base;
    return DT_OK;
}

static const DtMethodRow type_rows[] = {
    {"callable", call_callable, 1, 1, false},
    {"delattr", call_delattr, 2, 2, false},
    {"vars", call_vars, 0, 1, false},
    {"getattr", call_getattr, 2, 3, false},
    {"hasattr", call_hasattr, 2, 2, false},
    {"id", call_refused, 0, -1, true},
    {"input", call_refused, 0, -1, true},
    {"isinstance", call_isinstance, 2, 2, false},
    {"issubclass", call_issubclass, 2, 2, false},
    {"object", call_object, 0, 0, false},
    {"open", call_refused, 0, -1, true},
    {"print", call_refused, 0, -1, true},
    {"setattr", call_setattr, 3, 3, false},
    {"type", call_type, 1, 3, false},
    {NULL, NULL, 0, 0, false},
};

const DtBuiltinTable dt_builtin_types_table = {"builtins", type_rows};
