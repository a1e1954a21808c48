/* See pure.h.
 *
 * Invariant: a type has a row here only if nothing that its attributes and the
 * listed methods do depends on anything but the object and the arguments, and
 * leaves no trace.
 */
#include "variables/pure.h"

#include <string.h>

#include "compat/dict.h"
#include "compat/type.h"
#include "variables/fold.h"
#include "variables/substitutes.h"

typedef struct PureRow {
    const char *type; /* tp_name */
    const char *methods[20];
    bool text;        /* its repr and str show values only */
    const char *over; /* a member: the object is pure if that can't change, either */
} PureRow;

static const PureRow pure_rows[] = {
    {"code", {NULL}, false, NULL},
    {"datetime.date",
     {"isoformat", "weekday", "isoweekday", "toordinal", "replace", "ctime", "strftime",
      "timetuple", "isocalendar", NULL},
     true,
     NULL},
    {"datetime.datetime",
     {"isoformat", "weekday", "isoweekday", "toordinal", "replace", "ctime", "date", "time",
      "timetz", "utcoffset", "tzname", "dst", "timetuple", "utctimetuple", "isocalendar",
      "astimezone", "timestamp", NULL},
     false, /* a zone is an object of any class */
     "tzinfo"},
    {"datetime.time", {"isoformat", "replace", "strftime", "utcoffset", NULL}, false, "tzinfo"},
    {"datetime.timedelta", {"total_seconds", NULL}, true, NULL},
    {"datetime.timezone", {"utcoffset", "tzname", NULL}, true, NULL},
    {"operator.attrgetter", {NULL}, false, NULL},
    {"operator.itemgetter", {NULL}, false, NULL},
    {"operator.methodcaller", {NULL}, false, NULL},
    {"datetime.IsoCalendarDate", {"__getitem__", NULL}, true, NULL},
    {"_struct.Struct", {"pack", "unpack", "unpack_from", NULL}, false, NULL},
    {"re.Match",
     {"group", "groups", "groupdict", "start", "end", "span", "expand", "__getitem__", NULL},
     false,
     "string"},
    {"re.Pattern",
     {"match", "fullmatch", "search", "sub", "subn", "split", "findall", "finditer", NULL},
     true,
     NULL},
    {"time.struct_time", {"__getitem__", NULL}, true, NULL},
    {"sys.flags", {"__getitem__", NULL}, false, NULL},
    {"sys.float_info", {"__getitem__", NULL}, false, NULL},
    {"sys.hash_info", {"__getitem__", NULL}, false, NULL},
    {"sys.int_info", {"__getitem__", NULL}, false, NULL},
    {"sys." /* no version is tested here */ "version_info", {"__getitem__", NULL}, false, NULL},
};

/* Functions of C modules that are pure, too: of what they are given they make one value. */
typedef struct PureModule {
    const char *name;
    const char *functions[12];
} PureModule;

static const PureModule pure_modules[] = {
    {"_json", {"encode_basestring", "encode_basestring_ascii", NULL}},
    {"_statistics", {"_normal_dist_inv_cdf", NULL}},
    {"_struct", {"calcsize", "pack", "unpack", "unpack_from", NULL}},
    {"binascii",
     {"a2b_base64", "a2b_hex", "b2a_base64", "b2a_hex", "crc32", "crc_hqx", "hexlify", "unhexlify",
      NULL}},
    {"_hashlib", {"compare_digest", NULL}},
    {"nt", {"_path_normpath", "_path_splitroot", "_path_splitroot_ex", NULL}},
    {"posix", {"_path_normpath", "_path_splitroot", "_path_splitroot_ex", NULL}},
    {"sys", {"intern", NULL}},
    {"unicodedata",
     {"bidirectional", "category", "combining", "decimal", "digit", "east_asian_width", "lookup",
      "mirrored", "name", "normalize", "numeric", NULL}},
    {"zlib", {"adler32", "crc32", NULL}},
};

/* A class statement could give a class the same name. */
static bool
is_written_in_c(PyTypeObject *type)
{
    return type->tp_dealloc != NULL && !dt_build_is_user_class(type)
           && !dt_build_has_class_statement(type);
}

static const PureRow *
find_row(PyTypeObject *type)
{
    for (size_t i = 0; i < sizeof(pure_rows) / sizeof(pure_rows[0]); i++) {
        if (strcmp(type->tp_name, pure_rows[i].type) == 0) {
            return is_written_in_c(type) ? &pure_rows[i] : NULL;
        }
    }
    return NULL;
}

/* The fields of a named tuple of C, those behind its length as well: a program that makes one puts
 * anything there, and what can change is no value. */
static bool
has_constant_fields(PyObject *tuple)
{
    PyObject *number = PyObject_GetAttrString((PyObject *)Py_TYPE(tuple), "n_fields");
    Py_ssize_t count = number != NULL ? PyLong_AsSsize_t(number) : PyTuple_GET_SIZE(tuple);
    bool hidden = number != NULL;
    Py_XDECREF(number);
    PyErr_Clear(); /* AttributeError: it has no others */
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *field = hidden ? PyStructSequence_GetItem(tuple, i) : PyTuple_GET_ITEM(tuple, i);
        if (field != NULL && !dt_constant_is_safe(field)) {
            return false;
        }
    }
    return true;
}

bool
dt_pure_is(PyObject *object)
{
    const PureRow *row = find_row(Py_TYPE(object));
    if (row == NULL || (PyTuple_Check(object) && !has_constant_fields(object))) {
        return false;
    }
    if (row->over == NULL) {
        return true;
    }
    PyObject *over = PyObject_GetAttrString(object, row->over); /* of C: runs no user code */
    const PureRow *part = over != NULL ? find_row(Py_TYPE(over)) : NULL;
    bool safe = over != NULL && (dt_constant_is_safe(over) || (part != NULL && part->over == NULL));
    Py_XDECREF(over);
    if (over == NULL) {
        PyErr_Clear(); /* no memory: not followed */
    }
    return safe;
}

bool
dt_pure_has_text(PyObject *object)
{
    const PureRow *row = find_row(Py_TYPE(object));
    return row != NULL && row->text && dt_pure_is(object);
}

bool
dt_pure_has_row(PyTypeObject *type)
{
    return find_row(type) != NULL;
}

bool
dt_pure_is_function(PyObject *object)
{
    PyObject *module = PyCFunction_CheckExact(object) ? PyCFunction_GET_SELF(object) : NULL;
    const PyModuleDef *def =
        module != NULL && PyModule_CheckExact(module) ? PyModule_GetDef(module) : NULL;
    for (size_t i = 0; def != NULL && i < sizeof(pure_modules) / sizeof(pure_modules[0]); i++) {
        if (strcmp(def->m_name, pure_modules[i].name) != 0) {
            continue;
        }
        const char *name = ((PyCFunctionObject *)object)->m_ml->ml_name;
        for (const char *const *at = pure_modules[i].functions; *at != NULL; at++) {
            if (strcmp(name, *at) == 0) {
                return true;
            }
        }
    }
    return false;
}

/* ---- Arguments: trackers to objects ---------------------------------------------------------- */

static DtStatus known_object(DtTrace *trace, DtVar *var, PyObject **out);

static DtStatus
known_items(DtTrace *trace, DtVar *const *items, uint32_t count, PyObject **list)
{
    *list = PyList_New(0);
    for (uint32_t i = 0; *list != NULL && i < count; i++) {
        PyObject *item;
        DtStatus status = known_object(trace, items[i], &item);
        if (item == NULL || PyList_Append(*list, item) < 0) {
            Py_CLEAR(*list);
        }
        Py_XDECREF(item);
        if (status != DT_OK || item == NULL) {
            return status;
        }
    }
    return *list != NULL ? DT_OK : DT_ERROR;
}

static DtStatus
known_sequence(DtTrace *trace, DtSeqVar *sequence, PyObject **out)
{
    PyObject *list;
    DT_TRY(known_items(trace, sequence->items, sequence->count, &list));
    *out = list;
    if (list != NULL && sequence->base.type->kind == DT_KIND_TUPLE) {
        *out = sequence->cls == &PyTuple_Type ? PyList_AsTuple(list) : NULL;
        Py_DECREF(list);
        return PyErr_Occurred() ? DT_ERROR : DT_OK;
    }
    return DT_OK;
}

static DtStatus
known_dict(DtTrace *trace, DtDictVar *var, PyObject **out)
{
    bool is_dict = var->base.type->kind == DT_KIND_DICT;
    *out = is_dict ? PyDict_New() : PySet_New(NULL);
    if (*out == NULL) {
        return DT_ERROR;
    }
    for (uint32_t i = 0; i < var->count; i++) {
        PyObject *value = NULL;
        DtStatus status = is_dict ? known_object(trace, var->items[i].value, &value) : DT_OK;
        int failed = 0;
        bool known = !var->items[i].by_identity && (!is_dict || value != NULL);
        if (status == DT_OK && known) {
            failed = is_dict ? PyDict_SetItem(*out, var->items[i].key, value)
                             : PySet_Add(*out, var->items[i].key);
        }
        Py_XDECREF(value);
        if (status != DT_OK || !known || failed < 0) {
            Py_CLEAR(*out);
            return failed < 0 ? DT_ERROR : status;
        }
    }
    return DT_OK;
}

/* A new reference, or NULL with DT_OK when it is not known. */
static DtStatus
known_object(DtTrace *trace, DtVar *var, PyObject **out)
{
    *out = NULL;
    DT_TRY(dt_var_realize(trace, var, &var));
    PyObject *object = NULL;
    switch (var->type->kind) {
    case DT_KIND_TUPLE:
    case DT_KIND_LIST:
        if (((DtSeqVar *)var)->cls != &PyTuple_Type && ((DtSeqVar *)var)->cls != &PyList_Type) {
            return DT_OK;
        }
        return known_sequence(trace, (DtSeqVar *)var, out);
    case DT_KIND_DICT:
    case DT_KIND_SET:
        if (((DtDictVar *)var)->cls != &PyDict_Type && ((DtDictVar *)var)->cls != &PySet_Type) {
            return DT_OK;
        }
        return known_dict(trace, (DtDictVar *)var, out);
    case DT_KIND_OPAQUE:
        object = ((DtObjectVar *)var)->object;
        object = dt_pure_is(object) || dt_adapter_is_fixed(object) ? object : NULL;
        break;
    default:
        object = dt_var_as_constant(trace, var);
        object = object != NULL && dt_constant_is_safe(object) ? object : NULL;
        break;
    }
    Py_XINCREF(object);
    *out = object;
    return DT_OK;
}

DtStatus
dt_pure_knows(DtTrace *trace, DtVar *var, bool *out)
{
    PyObject *object;
    DT_TRY(known_object(trace, var, &object));
    *out = object != NULL;
    Py_XDECREF(object);
    return DT_OK;
}

/* ---- Results: objects to trackers ------------------------------------------------------------ */

static DtStatus wrap(DtTrace *trace, PyObject *object, bool by_identity, DtVar **out);

static DtStatus
wrap_items(DtTrace *trace, PyObject *sequence, bool by_identity, DtVar **out)
{
    Py_ssize_t count = PySequence_Fast_GET_SIZE(sequence);
    DtVar **items = DT_ARENA_ARRAY(&trace->arena, DtVar *, count + 1);
    if (items == NULL) {
        return dt_no_memory();
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        DT_TRY(wrap(trace, PySequence_Fast_GET_ITEM(sequence, i), by_identity, &items[i]));
    }
    return PyTuple_CheckExact(sequence) ? dt_var_tuple(trace, items, (uint32_t)count, out)
                                        : dt_var_list(trace, items, (uint32_t)count, out);
}

static DtStatus
wrap_dict(DtTrace *trace, PyObject *dict, bool by_identity, DtVar **out)
{
    DtDictVar *var;
    DT_TRY(dt_dict_new(trace, &var));
    Py_ssize_t position = 0;
    PyObject *key, *value;
    while (dt_dict_next(dict, &position, &key, &value)) {
        DtVar *key_var, *value_var;
        DT_TRY(wrap(trace, key, by_identity, &key_var));
        DT_TRY(wrap(trace, value, by_identity, &value_var));
        DT_TRY(dt_dict_store(trace, var, key_var, value_var));
    }
    *out = &var->base;
    return DT_OK;
}

/* Of a dict that nothing changes: the names of a pattern's groups. */
static DtStatus
wrap_proxy(DtTrace *trace, PyObject *proxy, bool by_identity, DtVar **out)
{
    DtVar *mapping;
    PyObject *dict = PyDict_New();
    if (dict == NULL || PyDict_Update(dict, proxy) < 0) {
        Py_XDECREF(dict);
        return DT_ERROR;
    }
    DtStatus status = wrap_dict(trace, dict, by_identity, &mapping);
    Py_DECREF(dict);
    return status == DT_OK ? dt_mapping_proxy_of_dict(trace, mapping, out) : status;
}

static DtStatus
wrap(DtTrace *trace, PyObject *object, bool by_identity, DtVar **out)
{
    if (PySlice_Check(object)) {
        PySliceObject *slice = (PySliceObject *)object;
        DtVar *start, *stop, *step;
        DT_TRY(wrap(trace, slice->start, by_identity, &start));
        DT_TRY(wrap(trace, slice->stop, by_identity, &stop));
        DT_TRY(wrap(trace, slice->step, by_identity, &step));
        return dt_var_slice(trace, start, stop, step, out);
    }
    if (dt_constant_is_safe(object) && !PyTuple_CheckExact(object)) {
        return dt_var_const(trace, object, out);
    }
    if (PyTuple_CheckExact(object) || PyList_CheckExact(object)) {
        return wrap_items(trace, object, by_identity, out);
    }
    if (PyDict_CheckExact(object)) {
        return wrap_dict(trace, object, by_identity, out);
    }
    if (Py_IS_TYPE(object, &PyDictProxy_Type)) {
        return wrap_proxy(trace, object, by_identity, out);
    }
    if (by_identity || dt_pure_is(object)) {
        DT_TRY(dt_trace_keep(trace, object));
        return dt_build_known(trace, object, out);
    }
    return dt_break(trace, DT_BREAK_UNKNOWN_TYPE, "a computed value of type %s",
                    Py_TYPE(object)->tp_name);
}

static DtStatus
wrap_take(DtTrace *trace, PyObject *object, bool by_identity, DtVar **out)
{
    if (object == NULL) {
        return dt_raise_from_exception(trace);
    }
    DtStatus status = wrap(trace, object, by_identity, out);
    Py_DECREF(object);
    return status;
}

/* ---- Calling --------------------------------------------------------------------------------- */

static const char *
name_of(PyObject *callable)
{
    return PyCFunction_Check(callable)  ? ((PyCFunctionObject *)callable)->m_ml->ml_name
           : PyType_Check(callable)     ? ((PyTypeObject *)callable)->tp_name
           : PyFunction_Check(callable) ? dt_kinds_text(((PyFunctionObject *)callable)->func_name)
                                        : "a function";
}

static DtStatus
known_keywords(DtTrace *trace, const DtArgs *args, PyObject **out)
{
    *out = PyDict_New();
    for (uint32_t i = 0; *out != NULL && i < args->nkw; i++) {
        PyObject *value;
        DtStatus status = known_object(trace, args->kw[i], &value);
        if (value == NULL || PyDict_SetItem(*out, args->kwnames[i], value) < 0) {
            Py_CLEAR(*out);
        }
        Py_XDECREF(value);
        if (status != DT_OK || value == NULL) {
            return status;
        }
    }
    return *out != NULL ? DT_OK : DT_ERROR;
}

static DtStatus
call(DtTrace *trace, PyObject *callable, const DtArgs *args, bool by_identity, DtVar **out)
{
    PyObject *list, *keywords = NULL;
    DtStatus status = known_items(trace, args->pos, args->npos, &list);
    if (status == DT_OK && list != NULL) {
        status = known_keywords(trace, args, &keywords);
    }
    PyObject *pos = keywords != NULL ? PyList_AsTuple(list) : NULL;
    if (pos != NULL) {
        PyObject *result = PyObject_Call(callable, pos, args->nkw > 0 ? keywords : NULL);
        status = wrap_take(trace, result, by_identity, out);
    }
    else if (status == DT_OK) {
        status = keywords != NULL ? DT_ERROR
                                  : dt_break(trace, DT_BREAK_UNKNOWN_CALLABLE,
                                             "%s() of a value that is not known while tracing",
                                             name_of(callable));
    }
    Py_XDECREF(list);
    Py_XDECREF(keywords);
    Py_XDECREF(pos);
    return status;
}

DtStatus
dt_pure_call(DtTrace *trace, PyObject *callable, const DtArgs *args, DtVar **out)
{
    return call(trace, callable, args, false, out);
}

DtStatus
dt_pure_members(DtTrace *trace, PyObject *callable, const DtArgs *args, DtVar **out)
{
    return call(trace, callable, args, true, out);
}

/* ---- Pure objects ---------------------------------------------------------------------------- */

static PyObject *
object_of(DtVar *self)
{
    return ((DtObjectVar *)self)->object;
}

static bool
has_method(const PureRow *row, const char *name)
{
    for (const char *const *method = row->methods; *method != NULL; method++) {
        if (strcmp(*method, name) == 0) {
            return true;
        }
    }
    return false;
}

DtStatus
dt_pure_getattr(DtTrace *trace, DtVar *self, PyObject *name, DtVar **out)
{
    PyObject *object = object_of(self);
    const PureRow *row = find_row(Py_TYPE(object));
    PyObject *found = dt_type_lookup(Py_TYPE(object), name);
    bool method = found != NULL && Py_TYPE(found) == &PyMethodDescr_Type;
    bool member =
        found != NULL
        && (Py_TYPE(found) == &PyMemberDescr_Type || Py_TYPE(found) == &PyGetSetDescr_Type);
    if (found != NULL && !member && !(method && has_method(row, dt_kinds_text(name)))) {
        return dt_break(trace, DT_BREAK_ATTRIBUTE, "attribute '%s' of a %s", dt_kinds_text(name),
                        Py_TYPE(object)->tp_name);
    }
    PyObject *value = PyObject_GetAttr(object, name); /* raises for a name that it lacks */
    if (value == NULL || !method) {
        return wrap_take(trace, value, false, out);
    }
    value = dt_trace_keep_take(trace, value);
    return value != NULL ? dt_build_known(trace, value, out) : DT_ERROR;
}

/* Follows the polyfill of a method of the type, if there is one, with self before the arguments. */
static DtStatus
call_polyfill(DtTrace *trace, PyObject *self, const char *name, const DtArgs *args, DtVar **out,
              bool *done)
{
    PyObject *function;
    DT_TRY(dt_substitute_find_method(trace, Py_TYPE(self), name, &function));
    *done = function != NULL;
    if (function == NULL) {
        return DT_OK;
    }
    DtVar *callable, *first;
    DtArgs all;
    DT_TRY(dt_build_known(trace, function, &callable));
    DT_TRY(dt_build_known(trace, self, &first));
    DT_TRY(dt_args_prepend(trace, args, first, &all));
    if (!dt_substitute_fits(function, &all)) {
        PyObject *method = dt_trace_keep_take(trace, PyObject_GetAttrString(self, name));
        return method != NULL ? dt_fold_failure(trace, method, args) : DT_ERROR;
    }
    return dt_var_call(trace, callable, &all, out);
}

DtStatus
dt_pure_call_method(DtTrace *trace, PyObject *method, const DtArgs *args, DtVar **out)
{
    bool done;
    DT_TRY(call_polyfill(trace, PyCFunction_GET_SELF(method),
                         ((PyCFunctionObject *)method)->m_ml->ml_name, args, out, &done));
    return done ? DT_OK : dt_pure_call(trace, method, args, out);
}

DtStatus
dt_pure_call_object(DtTrace *trace, DtVar *self, const DtArgs *args, DtVar **out)
{
    bool done;
    DT_TRY(call_polyfill(trace, object_of(self), "__call__", args, out, &done));
    if (!done) {
        return dt_kinds_raise(trace, "TypeError", "'%s' object is not callable",
                              Py_TYPE(object_of(self))->tp_name);
    }
    return DT_OK;
}

DtStatus
dt_pure_binary(DtTrace *trace, DtBinaryOp op, DtVar *left, DtVar *right, DtVar **out)
{
    PyObject *a, *b = NULL;
    DT_TRY(known_object(trace, left, &a));
    DtStatus status = a != NULL ? known_object(trace, right, &b) : DT_OK;
    if (status == DT_OK && a != NULL && b != NULL) {
        status = wrap_take(trace, dt_constant_operate(op, a, b), false, out);
    }
    else if (status == DT_OK) {
        status = dt_break(trace, DT_BREAK_MISSING_SLOT, "%s of a %s",
                          dt_canonical_binary_symbol((int)op), dt_kinds_type_name(trace, left));
    }
    Py_XDECREF(a);
    Py_XDECREF(b);
    return status;
}

DtStatus
dt_pure_subscript(DtTrace *trace, DtVar *self, DtVar *key, DtVar **out)
{
    const PureRow *row = find_row(Py_TYPE(object_of(self)));
    PyObject *index;
    DT_TRY(known_object(trace, key, &index));
    if (index == NULL || !has_method(row, "__getitem__")) {
        Py_XDECREF(index);
        return dt_break(trace, DT_BREAK_MISSING_SLOT, "[] of a %s", row->type);
    }
    PyObject *value = PyObject_GetItem(object_of(self), index);
    Py_DECREF(index);
    return wrap_take(trace, value, false, out);
}
