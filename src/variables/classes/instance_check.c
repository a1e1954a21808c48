/* isinstance() and issubclass().
 *
 *   exact type, plain classes ─► the MRO
 *   tuples and unions ─► one after the other
 *   __instancecheck__ or __subclasscheck__ of Python ─► followed
 *   abstract classes ─► what they remember; else asked, if nothing but code of the
 *                       standard library can take part
 *
 * An abstract class remembers what it has said: a yes for good, a no until
 * somebody registers a class with any abstract class.  So a no is guarded by
 * the number that each registration changes (ABC_TOKEN), and a yes needs no guard.
 *
 * Not in here: the other builtins about types (builtins_types.c).
 */
#include <string.h>

#include "compat/abc.h"
#include "compat/import.h"
#include "compat/type.h"
#include "variables/fold.h"
#include "variables/substitutes.h"

#define MOST_CLASSES 4000 /* below an abstract class, or registered with one of them */

/* What is asked about: an object (NULL for issubclass), and its type or the class itself. */
typedef struct Subject {
    DtVar *object;
    PyTypeObject *type;
    const char *check; /* the special method that classes answer with */
    int depth;         /* of the tuple that is asked */
} Subject;

enum { MOST_NESTED = 20 }; /* tuples: how deep the interpreter goes depends on its stack */

/* ---- Who answers ----------------------------------------------------------------------------- */

/* Whether the function or class says that it is from one of the modules; the list ends with NULL.
 */
static bool
is_from(PyObject *object, const char *const *modules)
{
    /* Read where it lies: a metaclass of Python could answer for the attribute. */
    PyObject *module = NULL;
    if (PyFunction_Check(object)) {
        module = ((PyFunctionObject *)object)->func_module;
    }
    else if (PyType_Check(object)) {
        module = dt_type_own_lookup_text((PyTypeObject *)object, "__module__");
    }
    return module != NULL && PyUnicode_Check(module) && dt_kinds_is_among(module, modules);
}

static bool
is_types_own(PyTypeObject *meta, const char *check)
{
    return dt_type_lookup_text(meta, check) == dt_type_lookup_text(&PyType_Type, check);
}

/* Whether ABCMeta's own check answers. */
static bool
is_abstract(PyTypeObject *meta, const char *check)
{
    static const char *const modules[] = {"abc", NULL};
    PyObject *found = dt_type_lookup_text(meta, check);
    return found != NULL && is_from(found, modules);
}

/* The same, or what typing puts before it for protocols: it only refuses some of them. */
static bool
is_abstract_or_protocol(PyTypeObject *meta)
{
    static const char *const modules[] = {"abc", "typing", NULL};
    PyObject *found = dt_type_lookup_text(meta, "__subclasscheck__");
    return found != NULL && is_from(found, modules);
}

/* What ABCMeta's own check says, asked past what typing puts before it, as isinstance() does. */
static int
ask_abc(PyObject *cls, PyTypeObject *type)
{
    PyObject *meta = dt_import_attr("abc", "ABCMeta");
    PyObject *answer =
        meta != NULL ? PyObject_CallMethod(meta, "__subclasscheck__", "OO", cls, type) : NULL;
    int result = answer != NULL ? PyObject_IsTrue(answer) : -1;
    Py_XDECREF(meta);
    Py_XDECREF(answer);
    return result;
}

/* The function behind a __subclasshook__, which is a function or a class method. */
static PyObject *
hook_function(PyObject *hook)
{
    if (hook == NULL || !Py_IS_TYPE(hook, &PyClassMethod_Type)) {
        return hook;
    }
    PyObject *function = PyObject_GetAttrString(hook, "__func__"); /* a member of C */
    Py_XDECREF(function); /* the class method, which the class holds, keeps it */
    PyErr_Clear();        /* no memory: unknown */
    return function;
}

/* Whether asking an abstract class about another runs no code but that of the standard library:
 * its own hook, and whatever answers for the classes below it and those registered with it. */
static bool
is_harmless(PyObject *cls, int *left)
{
    static const char *const modules[] = {
        "collections.abc", "_collections_abc",        "numbers", "typing", "contextlib", "os",
        "importlib.abc",   "importlib.resources.abc", NULL};
    PyTypeObject *type = (PyTypeObject *)cls, *meta = Py_TYPE(type);
    if (--*left < 0 || !is_types_own(meta, "__subclasses__")) {
        return false;
    }
    if (is_types_own(meta, "__subclasscheck__")) {
        return true; /* its MRO */
    }
    PyObject *hook = dt_type_lookup_text(type, "__subclasshook__");
    PyObject *function = hook_function(hook);
    if (!is_abstract_or_protocol(meta)
        || (hook != dt_type_lookup_text(&PyBaseObject_Type, "__subclasshook__")
            && (function == NULL || !is_from(function, modules)))) {
        return false;
    }
    PyObject *below = PyObject_CallMethod((PyObject *)&PyType_Type, "__subclasses__", "O", cls);
    PyObject *registered = below != NULL ? dt_abc_registered(cls) : NULL;
    bool harmless = registered != NULL;
    for (int i = 0; i < 2 && harmless; i++) {
        PyObject *list = i == 0 ? below : registered;
        for (Py_ssize_t k = 0; k < PyList_GET_SIZE(list) && harmless; k++) {
            PyObject *other = PyList_GET_ITEM(list, k);
            harmless = PyType_Check(other) && is_harmless(other, left);
        }
    }
    Py_XDECREF(below);
    Py_XDECREF(registered);
    PyErr_Clear(); /* no memory: not known to be harmless */
    return harmless;
}

/* ---- Answers --------------------------------------------------------------------------------- */

static DtStatus
cannot_tell(DtTrace *trace, const Subject *subject)
{
    return dt_break(trace, DT_BREAK_UNKNOWN_CALLABLE, "%s() with a class that answers itself",
                    subject->object != NULL ? "isinstance" : "issubclass");
}

static DtStatus
check_class_shown(DtTrace *trace, const Subject *subject)
{
    return subject->object == NULL || dt_type_shows_itself(subject->type)
               ? DT_OK
               : dt_break(trace, DT_BREAK_ATTRIBUTE, "isinstance() asks the __class__ of a %s",
                          subject->type->tp_name);
}

/* isinstance() asks an object for its __class__ when its type is no answer. */
static DtStatus
ask_class_shown(DtTrace *trace, const Subject *subject, PyTypeObject *cls, bool *out)
{
    PyObject *object = subject->object != NULL ? dt_var_as_constant(trace, subject->object) : NULL;
    PyTypeObject *shown = object != NULL ? dt_type_shown_by(object) : NULL;
    if (*out || shown == NULL) {
        return *out ? DT_OK : check_class_shown(trace, subject);
    }
    *out = PyType_IsSubtype(shown, cls);
    return DT_OK;
}

static DtStatus
ask_abstract(DtTrace *trace, const Subject *subject, PyObject *cls, bool *out)
{
    int left = MOST_CLASSES;
    int answer = dt_abc_remembers(cls, subject->type);
    if (answer == -1 && is_harmless(cls, &left)) {
        answer = ask_abc(cls, subject->type);
    }
    if (answer < 0) {
        return PyErr_Occurred() ? dt_raise_from_exception(trace) : cannot_tell(trace, subject);
    }
    *out = answer == 1;
    return *out ? DT_OK : dt_guard_abc_token(trace, dt_abc_token());
}

static DtStatus
call_check(DtTrace *trace, const Subject *subject, DtVar *method, bool *out)
{
    DtVar *asked = subject->object, *result;
    if (asked == NULL) {
        DT_TRY(dt_build_known(trace, (PyObject *)subject->type, &asked));
    }
    DtArgs args = dt_args_of(&asked, 1);
    DT_TRY(dt_var_call(trace, method, &args, &result));
    return dt_var_truth(trace, result, out);
}

static DtStatus
ask_class(DtTrace *trace, const Subject *subject, PyObject *object, DtVar *var, bool *out)
{
    PyTypeObject *cls = (PyTypeObject *)object, *meta = Py_TYPE(cls);
    *out = PyType_IsSubtype(subject->type, cls);
    if (subject->object != NULL && subject->type == cls) {
        return DT_OK;
    }
    if (meta == &PyType_Type || !(meta->tp_flags & Py_TPFLAGS_HEAPTYPE)) {
        return ask_class_shown(trace, subject, cls, out);
    }
    const DtSource *source = dt_source_get(trace, DT_SOURCE_OBJECT, NULL, object, 0);
    if (source == NULL) {
        return DT_ERROR;
    }
    if (is_types_own(meta, subject->check)) {
        DT_TRY(dt_guard_type_version(trace, source, meta));
        return ask_class_shown(trace, subject, cls, out);
    }
    if (is_abstract(meta, subject->check) && is_abstract(meta, "__subclasscheck__")) {
        DT_TRY(dt_guard_type_version(trace, source, meta));
        DT_TRY(check_class_shown(trace, subject));
        return ask_abstract(trace, subject, object, out);
    }
    DtVar *method;
    if (var->type->kind != DT_KIND_CLASS) {
        DT_TRY(dt_build_known(trace, object, &var));
    }
    if (var->type->kind != DT_KIND_CLASS || !dt_build_is_metaclass(meta)) {
        return cannot_tell(trace, subject);
    }
    DT_TRY(dt_class_special(trace, var, subject->check, &method));
    return method != NULL ? call_check(trace, subject, method, out) : cannot_tell(trace, subject);
}

static DtStatus ask(DtTrace *trace, const Subject *subject, DtVar *classes, bool *out);

/* The members of int | None, which the object keeps for good. */
static DtStatus
ask_union(DtTrace *trace, const Subject *subject, PyObject *object, bool *out)
{
    PyObject *members = dt_trace_keep_take(trace, PyObject_GetAttrString(object, "__args__"));
    *out = false;
    if (members == NULL || !PyTuple_Check(members)) {
        return members != NULL ? cannot_tell(trace, subject) : DT_ERROR;
    }
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(members); i++) {
        if (!PyType_Check(PyTuple_GET_ITEM(members, i))) {
            return cannot_tell(trace, subject); /* list[int] raises, on some versions late */
        }
    }
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(members) && !*out; i++) {
        DtVar *member;
        DT_TRY(dt_build_known(trace, PyTuple_GET_ITEM(members, i), &member));
        DT_TRY(ask(trace, subject, member, out));
    }
    return DT_OK;
}

static DtStatus
ask(DtTrace *trace, const Subject *around, DtVar *classes, bool *out)
{
    Subject inside = *around, *subject = &inside;
    if (++inside.depth > MOST_NESTED) {
        return cannot_tell(trace, subject);
    }
    DT_TRY(dt_var_realize(trace, classes, &classes));
    *out = false;
    if (classes->type->kind == DT_KIND_TUPLE && ((DtSeqVar *)classes)->cls == &PyTuple_Type) {
        const DtSeqVar *tuple = (const DtSeqVar *)classes;
        for (uint32_t i = 0; i < tuple->count && !*out; i++) {
            DT_TRY(ask(trace, subject, tuple->items[i], out));
        }
        return DT_OK;
    }
    PyObject *object = dt_var_as_constant(trace, classes);
    if (object != NULL && PyType_Check(object)) {
        return ask_class(trace, subject, object, classes, out);
    }
    if (object != NULL && PyTuple_CheckExact(object)) {
        for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(object) && !*out; i++) {
            DtVar *item;
            DT_TRY(dt_build_known(trace, PyTuple_GET_ITEM(object, i), &item));
            DT_TRY(ask(trace, subject, item, out));
        }
        return DT_OK;
    }
    if (object != NULL && strcmp(Py_TYPE(object)->tp_name, "types.UnionType") == 0) {
        return ask_union(trace, subject, object, out);
    }
    if (classes->type->kind == DT_KIND_INSTANCE) {
        DtVar *method;
        DT_TRY(dt_instance_special(trace, classes, subject->check, &method));
        if (method != NULL) {
            return call_check(trace, subject, method, out);
        }
    }
    return cannot_tell(trace, subject);
}

/* ---- The builtins ---------------------------------------------------------------------------- */

static DtStatus
answer(DtTrace *trace, const Subject *subject, DtVar *classes, DtVar **out)
{
    bool truth;
    if (subject->type == NULL) {
        return cannot_tell(trace, subject);
    }
    DT_TRY(ask(trace, subject, classes, &truth));
    return dt_var_bool(trace, truth, out);
}

static DtStatus
call_isinstance(DtTrace *trace, DtVar *self, const DtArgs *args, DtVar **out)
{
    PyTypeObject *type = dt_var_python_type(trace, args->pos[0]);
    PyObject *wanted = dt_var_as_constant(trace, args->pos[1]);
    /* Polyfills ask for their own classes; the program would get the wrong answer. */
    if (type != NULL && dt_var_peek(args->pos[0])->type->kind == DT_KIND_INSTANCE
        && dt_substitute_hides_class(type)
        && !(wanted != NULL && PyType_Check(wanted)
             && dt_substitute_hides_class((PyTypeObject *)wanted))) {
        return dt_break(trace, DT_BREAK_ATTRIBUTE,
                        "isinstance() of an object that stands for one of a C type");
    }
    if (wanted != NULL && dt_constant_is_safe(wanted) && !PyTuple_Check(wanted)) {
        return dt_kinds_mismatch(trace, self, "isinstance", args);
    }
    Subject subject = {.object = args->pos[0], .type = type, .check = "__instancecheck__"};
    return answer(trace, &subject, args->pos[1], out);
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
    Subject subject = {.type = (PyTypeObject *)cls, .check = "__subclasscheck__"};
    return answer(trace, &subject, args->pos[1], out);
}

/* type.__instancecheck__ and type.__subclasscheck__, which a metaclass of Python reaches by super()
 */
DtStatus
dt_check_by_type(DtTrace *trace, DtVar *cls, DtVar *asked, bool of_instance, DtVar **out)
{
    PyObject *wanted = dt_var_as_constant(trace, cls);
    PyObject *other = of_instance ? NULL : dt_var_as_constant(trace, asked);
    PyTypeObject *type = of_instance ? dt_var_python_type(trace, asked) : (PyTypeObject *)other;
    if (type == NULL || wanted == NULL || !PyType_Check(type) || !dt_type_shows_itself(type)) {
        return dt_break(trace, DT_BREAK_UNKNOWN_CALLABLE, "type's own check of odd arguments");
    }
    if (!of_instance) {
        DT_TRY(dt_var_realize(trace, asked, &asked));
        DT_TRY(dt_class_guard_unchanged(trace, asked));
    }
    return dt_var_bool(trace, PyType_IsSubtype(type, (PyTypeObject *)wanted), out);
}

/* _abc._abc_instancecheck(cls, object) and _abc._abc_subclasscheck(cls, other), which ABCMeta calls
 */
static DtStatus
check_abstract(DtTrace *trace, const DtArgs *args, bool of_instance, DtVar **out)
{
    PyObject *wanted = dt_var_as_constant(trace, args->pos[0]);
    PyObject *other = of_instance ? NULL : dt_var_as_constant(trace, args->pos[1]);
    bool truth;
    Subject subject = {.object = of_instance ? args->pos[1] : NULL,
                       .type = of_instance ? dt_var_python_type(trace, args->pos[1])
                                           : (PyTypeObject *)other};
    if (subject.type == NULL || !PyType_Check(subject.type) || wanted == NULL
        || !PyType_Check(wanted) || !is_abstract_or_protocol(Py_TYPE(wanted))
        || !dt_type_shows_itself(subject.type)) {
        return cannot_tell(trace, &subject);
    }
    DT_TRY(ask_abstract(trace, &subject, wanted, &truth));
    return dt_var_bool(trace, truth, out);
}

static DtStatus
call_abc_instancecheck(DtTrace *trace, DtVar *self, const DtArgs *args, DtVar **out)
{
    (void)self;
    return check_abstract(trace, args, true, out);
}

static DtStatus
call_abc_subclasscheck(DtTrace *trace, DtVar *self, const DtArgs *args, DtVar **out)
{
    (void)self;
    return check_abstract(trace, args, false, out);
}

static const DtMethodRow abstract_rows[] = {
    {"_abc_instancecheck", call_abc_instancecheck, 2, 2, false},
    {"_abc_subclasscheck", call_abc_subclasscheck, 2, 2, false},
    {NULL, NULL, 0, 0, false},
};

const DtBuiltinTable dt_builtin_abc_check_table = {"_abc", abstract_rows};

static const DtMethodRow check_rows[] = {
    {"isinstance", call_isinstance, 2, 2, false},
    {"issubclass", call_issubclass, 2, 2, false},
    {NULL, NULL, 0, 0, false},
};

const DtBuiltinTable dt_builtin_check_table = {"builtins", check_rows};
