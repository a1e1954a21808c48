/* Those who hear of a new class: metaclasses of Python, __init_subclass__ of the
 * bases, __set_name__ of what lies in it.
 *
 *   metaclass ─► its __new__ and __init__ are followed; type.__new__ ─┐
 *   class statement, type(name, bases, dict) ─────────────────────────┴─► a class of
 *                which nobody is told ─► __set_name__, __init_subclass__ are followed
 *
 * Invariant: neither the real class that stands for the new one while tracing,
 * nor the one that the emitted code makes, calls code of the program: what that
 * would do was followed, and its effects are replayed.
 *
 * Not in here: bodies and stand-ins (class_statement.c).
 */
#include "compat/type.h"
#include "variables/kinds.h"

/* ---- Making a class of which nobody is told -------------------------------------------------- */

static PyObject *
hear_nothing(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *names)
{
    (void)self;
    (void)args;
    (void)count;
    (void)names;
    Py_RETURN_NONE;
}

static PyMethodDef hear_nothing_method = {"__init_subclass__",
                                          (PyCFunction)(void (*)(void))hear_nothing,
                                          METH_FASTCALL | METH_KEYWORDS, NULL};

/* A new dict with a hook that does nothing, and `slots` if they are not NULL; or NULL. */
static PyObject *
quiet_names(PyObject *slots)
{
    PyObject *names = PyDict_New(), *hook = PyCFunction_New(&hear_nothing_method, NULL);
    if (names == NULL || hook == NULL
        || PyDict_SetItemString(names, hear_nothing_method.ml_name, hook) < 0
        || (slots != NULL && PyDict_SetItemString(names, "__slots__", slots) < 0)) {
        Py_CLEAR(names);
    }
    Py_XDECREF(hook);
    return names;
}

bool
dt_hooks_type_has(PyTypeObject *type, const char *text)
{
    PyObject *name = PyUnicode_InternFromString(text);
    bool has = name == NULL || dt_type_lookup(type, name) != NULL;
    PyErr_Clear(); /* no memory: not followed */
    Py_XDECREF(name);
    return has;
}

/* A property of this version may be told its name, too: type.__new__ does that. */
static bool
wants_name(PyTypeObject *type)
{
    return !dt_type_is_static(type) && dt_hooks_type_has(type, "__set_name__");
}

bool
dt_hooks_are_in(PyObject *bases)
{
    PyObject *name = PyUnicode_InternFromString("__init_subclass__");
    bool has = name == NULL;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(bases) && !has; i++) {
        has = dt_type_lookup((PyTypeObject *)PyTuple_GET_ITEM(bases, i), name)
              != dt_type_lookup(&PyBaseObject_Type, name);
    }
    PyErr_Clear(); /* no memory */
    Py_XDECREF(name);
    return has;
}

/* A copy in which None lies in the place of what wants to know its name. */
static PyObject *
without_named(PyObject *names)
{
    PyObject *copy = PyDict_Copy(names), *key, *value;
    Py_ssize_t at = 0;
    while (copy != NULL && PyDict_Next(names, &at, &key, &value)) {
        if (wants_name(Py_TYPE(value)) && PyDict_SetItem(copy, key, Py_None) < 0) {
            Py_CLEAR(copy);
        }
    }
    return copy;
}

static int
put_named(PyObject *cls, PyObject *names)
{
    PyObject *key, *value;
    Py_ssize_t at = 0;
    while (PyDict_Next(names, &at, &key, &value)) {
        if (wants_name(Py_TYPE(value)) && PyType_Type.tp_setattro(cls, key, value) < 0) {
            return -1;
        }
    }
    return 0;
}

/* type.__new__(meta, name, bases, names); `first` are bases of which none has a hook. */
static PyObject *
make_quietly(PyTypeObject *meta, PyObject *name, PyObject *first, PyObject *names)
{
    PyObject *args = first != NULL ? PyTuple_Pack(3, name, first, names) : NULL;
    PyObject *cls = args != NULL ? PyType_Type.tp_new(meta, args, NULL) : NULL;
    Py_XDECREF(args);
    return cls;
}

/* The same of bases of which one has a hook: made with a base before them whose hook does nothing,
 * which is taken out again.  That works only where it is laid out as the base that decides; which
 * one does is tried. */
enum { LIKE_A_CLASS, LIKE_OBJECT, LIKE_FIRST, LIKES };

static PyObject *make_hooked(PyTypeObject *meta, PyObject *name, PyObject *bases, PyObject *names);

/* A base whose instances have a dict, or nothing, or what those of the first base have; a new
 * reference, or NULL. */
static PyObject *
quiet_base(int like, PyTypeObject *first)
{
    static PyObject *kept[LIKE_FIRST]; /* for good */
    if (like != LIKE_FIRST && kept[like] != NULL) {
        return Py_NewRef(kept[like]);
    }
    PyObject *bases = like == LIKE_FIRST ? Py_XNewRef(first->tp_bases) : PyTuple_New(0);
    PyObject *none = PyTuple_New(0), *slots = like == LIKE_OBJECT ? none : NULL, *made = NULL;
    PyObject *text = PyUnicode_InternFromString("quiet");
    if (like == LIKE_FIRST) {
        slots = dt_type_own_lookup_text(first, "__slots__");
    }
    PyObject *names = quiet_names(slots);
    if (bases != NULL && none != NULL && text != NULL && names != NULL) {
        made = dt_hooks_are_in(bases) ? make_hooked(Py_TYPE(first), text, bases, names)
                                      : make_quietly(&PyType_Type, text, bases, names);
    }
    if (like != LIKE_FIRST) {
        kept[like] = Py_XNewRef(made);
    }
    Py_XDECREF(names);
    Py_XDECREF(text);
    Py_XDECREF(none);
    Py_XDECREF(bases);
    return made;
}

/* Nobody finds it through the classes that it derives from. */
static void
forget(PyObject *cls)
{
    PyObject *bases = ((PyTypeObject *)cls)->tp_bases;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(bases); i++) {
        dt_type_forget_subclass((PyTypeObject *)PyTuple_GET_ITEM(bases, i), (PyTypeObject *)cls);
    }
}

/* (quiet, *bases): a new reference, or NULL. */
static PyObject *
with_quiet(DT_STEALS PyObject *quiet, PyObject *bases)
{
    Py_ssize_t count = PyTuple_GET_SIZE(bases);
    PyObject *all = PyTuple_New(count + 1);
    for (Py_ssize_t i = 0; all != NULL && i < count; i++) {
        PyTuple_SET_ITEM(all, i + 1, Py_NewRef(PyTuple_GET_ITEM(bases, i)));
    }
    if (all == NULL) {
        Py_DECREF(quiet);
        return NULL;
    }
    PyTuple_SET_ITEM(all, 0, quiet);
    return all;
}

static PyObject *
make_hooked_like(int like, PyTypeObject *meta, PyObject *name, PyObject *bases, PyObject *names)
{
    PyTypeObject *first = (PyTypeObject *)PyTuple_GET_ITEM(bases, 0);
    PyObject *quiet = quiet_base(like, first), *text = PyUnicode_InternFromString("__bases__");
    PyObject *all = quiet != NULL ? with_quiet(quiet, bases) : NULL;
    PyObject *cls = all != NULL && text != NULL ? make_quietly(meta, name, all, names) : NULL;
    if (cls != NULL && PyType_Type.tp_setattro(cls, text, bases) < 0) {
        forget(cls);
        Py_CLEAR(cls);
    }
    if (all != NULL) {
        forget(quiet);
    }
    Py_XDECREF(text);
    Py_XDECREF(all);
    return cls;
}

static PyObject *
make_hooked(PyTypeObject *meta, PyObject *name, PyObject *bases, PyObject *names)
{
    PyObject *cls = NULL;
    for (int like = 0; like < LIKES && cls == NULL; like++) {
        PyErr_Clear(); /* of the base that was tried before */
        cls = make_hooked_like(like, meta, name, bases, names);
    }
    return cls;
}

PyObject *
dt_hooks_make_real(PyTypeObject *meta, PyObject *name, PyObject *bases, PyObject *names)
{
    PyObject *copy = without_named(names), *cls = NULL;
    if (copy != NULL) {
        cls = dt_hooks_are_in(bases) ? make_hooked(meta, name, bases, copy)
                                     : make_quietly(meta, name, bases, copy);
    }
    if (cls != NULL && put_named(cls, names) < 0) {
        Py_CLEAR(cls);
    }
    Py_XDECREF(copy);
    return cls;
}

/* make(metaclass, name, bases, names, what makes it abstract or None): in the emitted code. */
static PyObject *
make(PyObject *self, PyObject *const *args, Py_ssize_t count)
{
    (void)self;
    if (count != 5) {
        PyErr_SetString(PyExc_SystemError, "a class is made of five things");
        return NULL;
    }
    PyObject *cls = dt_hooks_make_real((PyTypeObject *)args[0], args[1], args[2], args[3]);
    if (cls != NULL && args[4] != Py_None) {
        PyObject *ignored = PyObject_CallOneArg(args[4], cls);
        if (ignored == NULL) {
            Py_CLEAR(cls);
        }
        Py_XDECREF(ignored);
    }
    return cls;
}

static PyMethodDef make_method = {"make_class", (PyCFunction)(void (*)(void))make, METH_FASTCALL,
                                  NULL};

DtStatus
dt_hooks_push_maker(DtCodegen *codegen, const DtMade *made)
{
    PyTypeObject *cls = (PyTypeObject *)made->real;
    if (made->abstract != NULL && (cls->tp_flags & Py_TPFLAGS_IS_ABSTRACT)) {
        /* Its functions get the attribute that says so once the class is there. */
        return dt_break(dt_codegen_trace(codegen), DT_BREAK_RECONSTRUCT,
                        "an abstract class that the trace has made leaves the function");
    }
    PyObject *function =
        dt_trace_keep_take(dt_codegen_trace(codegen), PyCFunction_New(&make_method, NULL));
    if (function == NULL) {
        return DT_ERROR;
    }
    DT_TRY(dt_codegen_push_callable(codegen, function));
    return dt_codegen_const(codegen, (PyObject *)Py_TYPE(cls));
}

/* ---- Telling them ---------------------------------------------------------------------------- */

static DtStatus
tell_value(DtTrace *trace, DtVar *cls, PyObject *key, DtVar *value)
{
    DtVar *method, *ignored, *pos[2] = {cls, NULL};
    PyTypeObject *type = dt_var_python_type(trace, value);
    if (type == NULL || !wants_name(type)) {
        return DT_OK;
    }
    if (value->type->kind != DT_KIND_INSTANCE) {
        return dt_break(trace, DT_BREAK_UNKNOWN_CALLABLE, "__set_name__() of a %s", type->tp_name);
    }
    DT_TRY(dt_instance_special(trace, value, "__set_name__", &method));
    if (method == NULL) {
        return DT_OK;
    }
    DT_TRY(dt_var_const(trace, key, &pos[1]));
    DtArgs args = dt_args_of(pos, 2);
    /* An exception of it is wrapped or gets a note, by version. */
    return dt_raised_break_if(trace, dt_var_call(trace, method, &args, &ignored));
}

DtStatus
dt_hooks_tell(DtTrace *trace, DtVar *cls, const DtDictVar *names, const DtArgs *keywords)
{
    DtVar *hook, *ignored;
    PyTypeObject *type = (PyTypeObject *)dt_payload_object(cls);
    for (uint32_t i = 0; i < names->count; i++) {
        DtVar *value;
        if (names->items[i].key == NULL) {
            continue;
        }
        DT_TRY(dt_var_realize(trace, names->items[i].value, &value));
        DT_TRY(tell_value(trace, cls, names->items[i].key, value));
    }
    if (!dt_hooks_are_in(type->tp_bases)) {
        return keywords->nkw == 0
                   ? DT_OK
                   : dt_break(trace, DT_BREAK_UNKNOWN_CALLABLE, "a class statement with keywords");
    }
    PyObject *name = dt_trace_keep_take(trace, PyUnicode_InternFromString("__init_subclass__"));
    if (name == NULL) {
        return DT_ERROR;
    }
    DT_TRY(dt_var_super_getattr(trace, cls, cls, name, &hook));
    return dt_var_call(trace, hook, keywords, &ignored);
}

/* ---- Metaclasses ----------------------------------------------------------------------------- */

/* The metaclass of a class with these bases, if `first` is what it asks for or what the first base
 * has; NULL: they don't go together. */
static PyTypeObject *
derived_most(PyTypeObject *first, DtVar *const *bases, uint32_t nbases)
{
    for (uint32_t i = 0; i < nbases && first != NULL; i++) {
        PyTypeObject *other = Py_TYPE(dt_payload_object(bases[i]));
        if (PyType_IsSubtype(other, first)) {
            first = other;
        }
        else if (!PyType_IsSubtype(first, other)) {
            first = NULL;
        }
    }
    return first;
}

DtStatus
dt_hooks_metaclass(DtTrace *trace, DtVar *asked, DtVar *const *bases, uint32_t nbases, DtVar **out)
{
    PyTypeObject *meta = &PyType_Type;
    if (asked != NULL) {
        DT_TRY(dt_var_realize(trace, asked, &asked));
        if (asked->type->kind != DT_KIND_CLASS
            || !PyType_IsSubtype((PyTypeObject *)dt_payload_object(asked), &PyType_Type)) {
            return dt_break(trace, DT_BREAK_UNKNOWN_CALLABLE,
                            "a class statement with a metaclass that is none");
        }
        meta = (PyTypeObject *)dt_payload_object(asked);
    }
    meta = derived_most(meta, bases, nbases);
    if (meta == NULL || (meta != &PyType_Type && !dt_build_is_metaclass(meta))
        || Py_TYPE(meta) != &PyType_Type || meta->tp_setattro != PyType_Type.tp_setattro) {
        return dt_break(trace, DT_BREAK_UNKNOWN_CALLABLE,
                        "a class statement with a metaclass that can't be followed");
    }
    PyObject *name = dt_trace_keep_take(trace, PyUnicode_InternFromString("mro"));
    if (name == NULL) {
        return DT_ERROR;
    }
    if (dt_type_lookup(meta, name) != dt_type_lookup(&PyType_Type, name)) {
        return dt_break(trace, DT_BREAK_UNKNOWN_CALLABLE, "a metaclass with an mro() of its own");
    }
    DT_TRY(dt_build_known(trace, (PyObject *)meta, out));
    return dt_class_guard_unchanged(trace, *out);
}

/* __prepare__(name, bases, **keywords), whose result the body runs in. */
DtStatus
dt_hooks_prepare(DtTrace *trace, DtVar *meta, const DtArgs *args, DtDictVar **out)
{
    PyTypeObject *cls = (PyTypeObject *)dt_payload_object(meta);
    PyObject *name = dt_trace_keep_take(trace, PyUnicode_InternFromString("__prepare__"));
    if (name == NULL) {
        return DT_ERROR;
    }
    if (dt_type_lookup(cls, name) == dt_type_lookup(&PyType_Type, name)) {
        return dt_dict_new(trace, out);
    }
    DtVar *method, *result;
    DT_TRY(dt_var_getattr(trace, meta, name, &method));
    DT_TRY(dt_var_call(trace, method, args, &result));
    DT_TRY(dt_var_realize(trace, result, &result));
    if (result->type->kind != DT_KIND_DICT || result->mutation != DT_VALUE_MUTATION_NEW
        || ((DtDictVar *)result)->cls != &PyDict_Type) {
        return dt_break(trace, DT_BREAK_UNKNOWN_CALLABLE,
                        "a class statement whose namespace is a %s",
                        dt_kinds_type_name(trace, result));
    }
    *out = (DtDictVar *)result;
    return DT_OK;
}

/* type.__call__ of a metaclass of Python: __new__, then __init__ if a class of it came out. */
DtStatus
dt_hooks_call_metaclass(DtTrace *trace, DtVar *meta, const DtArgs *args, DtVar **out)
{
    PyTypeObject *type = (PyTypeObject *)dt_payload_object(meta);
    PyObject *name = dt_trace_keep_take(trace, PyUnicode_InternFromString("__new__"));
    DtVar *function, *init;
    DtArgs with_class;
    if (name == NULL) {
        return DT_ERROR;
    }
    DT_TRY(dt_class_guard_unchanged(trace, meta));
    DT_TRY(dt_args_prepend(trace, args, meta, &with_class));
    DT_TRY(dt_var_getattr(trace, meta, name, &function));
    DT_TRY(dt_var_call(trace, function, &with_class, out));
    DT_TRY(dt_var_realize(trace, *out, out));
    PyTypeObject *made = dt_var_python_type(trace, *out);
    if (made == NULL || !PyType_IsSubtype(made, type)) {
        return made != NULL ? DT_OK
                            : dt_break(trace, DT_BREAK_UNKNOWN_CALLABLE,
                                       "%s.__new__() gives something else", type->tp_name);
    }
    DT_TRY(dt_class_special(trace, *out, "__init__", &init));
    DtVar *ignored;
    return init != NULL ? dt_var_call(trace, init, args, &ignored) : DT_OK;
}

/* _abc._abc_init(cls), which ABCMeta.__new__ calls: finds the abstract methods of a new class. */
static DtStatus
call_abc_init(DtTrace *trace, DtVar *self, const DtArgs *args, DtVar **out)
{
    PyObject *object = dt_var_as_constant(trace, args->pos[0]);
    DtMade *made = object != NULL ? dt_made_find(trace, object) : NULL;
    if (made == NULL) {
        return dt_break(trace, DT_BREAK_UNKNOWN_CALLABLE, "_abc_init() of a class that exists");
    }
    PyObject *function = dt_payload_object(self);
    PyObject *ignored = PyObject_CallOneArg(function, object);
    if (ignored == NULL) {
        return dt_raise_from_exception(trace);
    }
    Py_DECREF(ignored);
    made->abstract = function;
    *out = dt_none(trace);
    return DT_OK;
}

static const DtMethodRow abc_rows[] = {
    {"_abc_init", call_abc_init, 1, 1, false},
    {NULL, NULL, 0, 0, false},
};

const DtBuiltinTable dt_builtin_abc_table = {"_abc", abc_rows};

/* object.__init_subclass__(), as a class method of any class. */
static DtStatus
call_init_subclass(DtTrace *trace, DtVar *self, const DtArgs *args, DtVar **out)
{
    (void)self;
    if (args->npos != 1 || args->nkw > 0) { /* the text names the class */
        return dt_break(trace, DT_BREAK_UNKNOWN_CALLABLE,
                        "object.__init_subclass__() with arguments");
    }
    *out = dt_none(trace);
    return DT_OK;
}

/* type.__prepare__(), as a class method of any metaclass: whatever it is given. */
static DtStatus
call_prepare(DtTrace *trace, DtVar *self, const DtArgs *args, DtVar **out)
{
    DtDictVar *names;
    (void)self;
    (void)args;
    DT_TRY(dt_dict_new(trace, &names));
    *out = &names->base;
    return DT_OK;
}

int
dt_class_hooks_init(void)
{
    static const struct {
        PyTypeObject *type;
        DtMethodRow row;
    } rows[] = {
        {&PyBaseObject_Type, {"__init_subclass__", call_init_subclass, 0, -1, true}},
        {&PyType_Type, {"__prepare__", call_prepare, 0, -1, true}},
    };
    for (size_t i = 0; i < Py_ARRAY_LENGTH(rows); i++) {
        PyObject *method = dt_type_own_lookup_text(rows[i].type, rows[i].row.name);
        if (method == NULL || dt_builtin_register(method, &rows[i].row) < 0) {
            return -1;
        }
    }
    return 0;
}
