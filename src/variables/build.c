/* dt_var_build: the single way from a Python object to a tracker.
 *
 *   object -> seen before in this trace? the same tracker, alias guard
 *          -> callable of an adapter or registered builtin?
 *          -> exact type in the table?
 *          -> first category that fits (array, module, class, ... , opaque)
 *
 * Invariants: one mutable object, array or function has one tracker per trace.
 * No user code runs: only exact types and type flags are looked at.
 *
 * Not in here: what a kind reads of its object (v_*.c).
 */
#include "variables/kinds.h"

#include "compat/abc.h"
#include "compat/import.h"
#include "compat/object.h"
#include "compat/type.h"
#include "variables/pure.h"

/* Types are static or kept alive here; filled once per process. */
static DtArena table_arena;
static DtMap builders; /* exact type -> BuilderBox */
static destructor class_statement_dealloc;
static PyObject *generic; /* typing.Generic; kept by the process */

typedef struct BuilderBox {
    DtBuilder build;
} BuilderBox;

typedef struct ExactRow {
    const char *module; /* NULL: `type` is given */
    const char *name;
    PyTypeObject *type;
    DtBuilder build;
} ExactRow;

static const ExactRow exact_rows[] = {
    {NULL, NULL, &PyLong_Type, dt_symbolic_build},
    {NULL, NULL, &PyFloat_Type, dt_symbolic_build},
    {NULL, NULL, &PyBool_Type, dt_constant_build},
    {NULL, NULL, &PyUnicode_Type, dt_constant_build},
    {NULL, NULL, &PyBytes_Type, dt_constant_build},
    {NULL, NULL, &PyComplex_Type, dt_constant_build},
    {NULL, NULL, &PyEllipsis_Type, dt_constant_build},
    {"types", "NoneType", NULL, dt_constant_build},
    {"types", "NotImplementedType", NULL, dt_constant_build},
    {NULL, NULL, &PyTuple_Type, dt_tuple_build},
    {NULL, NULL, &PyList_Type, dt_list_build},
    {NULL, NULL, &PyDict_Type, dt_dict_build},
    {NULL, NULL, &PySet_Type, dt_set_build},
    {NULL, NULL, &PyFrozenSet_Type, dt_set_build},
    {NULL, NULL, &PyByteArray_Type, dt_bytearray_build},
    {NULL, NULL, &PyRange_Type, dt_range_build},
    {NULL, NULL, &PySlice_Type, dt_slice_build},
    {NULL, NULL, &PyCell_Type, dt_cell_build},
    {NULL, NULL, &PyFunction_Type, dt_function_build},
    {NULL, NULL, &PyMethod_Type, dt_method_build},
    {NULL, NULL, &PyCFunction_Type, dt_builtin_build},
    {NULL, NULL, &PyCMethod_Type, dt_builtin_build},
    {NULL, NULL, &PyMethodDescr_Type, dt_builtin_build},
    {NULL, NULL, &PyWrapperDescr_Type, dt_builtin_build},
    {NULL, NULL, &PyClassMethodDescr_Type, dt_builtin_build},
    {"types", "MethodWrapperType", NULL, dt_builtin_build},
    {NULL, NULL, &PyType_Type, dt_class_build},
    {NULL, NULL, &PyModule_Type, dt_module_build},
    {"types", "TracebackType", NULL, dt_traceback_build},
    {NULL, NULL, &PyFrame_Type, dt_stranger_build},
    {NULL, NULL, &PyDictIterKey_Type, dt_stranger_build},
    {NULL, NULL, &PyDictIterValue_Type, dt_stranger_build},
    {NULL, NULL, &PyDictIterItem_Type, dt_stranger_build},
    {NULL, NULL, &PySetIter_Type, dt_stranger_build},
    {NULL, NULL, &PyDictProxy_Type, dt_mapping_proxy_build},
    {NULL, NULL, &_PyWeakref_RefType, dt_weakref_build},
    {"functools", "partial", NULL, dt_partial_build},
    {"itertools", "count", NULL, dt_existing_count_build},
    {NULL, NULL, &PyListIter_Type, dt_existing_sequence_build},
    {NULL, NULL, &PyTupleIter_Type, dt_existing_sequence_build},
};

static int
add_builder(const ExactRow *row)
{
    PyObject *type = (PyObject *)row->type;
    if (row->module != NULL) {
        /* The reference is kept for the life of the process, like the table. */
        type = dt_import_attr(row->module, row->name);
        if (type == NULL) {
            return -1;
        }
    }
    BuilderBox *box = DT_ARENA_NEW(&table_arena, BuilderBox);
    if (box == NULL || dt_map_set(&table_arena, &builders, type, box) < 0) {
        PyErr_NoMemory();
        return -1;
    }
    box->build = row->build;
    return 0;
}

int
dt_build_init(void)
{
    if (builders.count > 0) {
        return 0;
    }
    if (dt_abc_init() < 0) {
        return -1;
    }
    dt_arena_init(&table_arena);
    for (size_t i = 0; i < sizeof(exact_rows) / sizeof(exact_rows[0]); i++) {
        if (add_builder(&exact_rows[i]) < 0) {
            return -1;
        }
    }
    /* Every class statement gives its class the same deallocator: take it from one. */
    PyObject *probe = PyObject_CallFunction((PyObject *)&PyType_Type, "s(){}", "probe");
    if (probe == NULL) {
        return -1;
    }
    class_statement_dealloc = ((PyTypeObject *)probe)->tp_dealloc;
    Py_DECREF(probe);
    generic = dt_import_attr("typing", "Generic");
    return generic != NULL ? 0 : -1;
}

/* ---- Categories: types with many exact types ------------------------------------------------- */

bool
dt_build_is_from_statement(PyTypeObject *type)
{
    return (type->tp_flags & Py_TPFLAGS_HEAPTYPE) && type->tp_dealloc == class_statement_dealloc;
}

bool
dt_build_is_like_statement(PyTypeObject *type)
{
    return dt_build_is_from_statement(type) || (PyObject *)type == generic;
}

/* Whether class statements made the type and all its bases but `root` and object. */
static bool
is_made_on(PyTypeObject *type, PyTypeObject *root)
{
    PyObject *mro = type->tp_mro;
    if (mro == NULL || type == root) {
        return false;
    }
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(mro); i++) {
        PyTypeObject *base = (PyTypeObject *)PyTuple_GET_ITEM(mro, i);
        if (base != &PyBaseObject_Type && base != root && !dt_build_is_like_statement(base)) {
            return false;
        }
    }
    return true;
}

bool
dt_build_is_user_class(PyTypeObject *type)
{
    return is_made_on(type, &PyBaseObject_Type);
}

bool
dt_build_is_metaclass(PyTypeObject *type)
{
    return type->tp_new != NULL && is_made_on(type, &PyType_Type);
}

bool
dt_build_has_class_statement(PyTypeObject *type)
{
    return (type->tp_flags & Py_TPFLAGS_HEAPTYPE) && type->tp_dealloc == class_statement_dealloc;
}

static bool
is_array(PyObject *object)
{
    return dt_adapter_of_array(object) != NULL;
}

static bool
is_module(PyObject *object)
{
    return PyModule_Check(object);
}

static bool
is_class(PyObject *object)
{
    return PyType_Check(object);
}

/* Only static C types can derive from function, so the layout is a function's. */
static bool
is_function(PyObject *object)
{
    return PyObject_TypeCheck(object, &PyFunction_Type);
}

static bool
is_user_instance(PyObject *object)
{
    return dt_build_is_user_class(Py_TYPE(object));
}

static bool
is_builtin_subclass(PyObject *object)
{
    return PyLong_Check(object) || PyFloat_Check(object) || PyUnicode_Check(object)
           || PyBytes_Check(object) || PyTuple_Check(object) || PyList_Check(object)
           || PyDict_Check(object) || PyAnySet_Check(object);
}

/* A class that derives from another C type as well has a layout that nobody knows. */
static bool
is_exception(PyObject *object)
{
    return PyExceptionInstance_Check(object);
}

static bool
is_namedtuple(PyObject *object)
{
    return dt_namedtuple_is_class(Py_TYPE(object));
}

/* sys.version_info and the like. */
static bool
is_pure_tuple(PyObject *object)
{
    return PyTuple_Check(object) && dt_pure_is(object);
}

static bool
is_anything(PyObject *object)
{
    (void)object;
    return true;
}

static DtStatus
build_array(DtTrace *trace, PyObject *object, const DtSource *source, bool trusted, DtVar **out)
{
    (void)trusted; /* the metadata is guarded in any case */
    const DtAdapter *adapter = dt_adapter_of_array(object);
    DT_TRY(dt_trace_use_adapter(trace, adapter));
    DT_TRY(dt_memory_of_array(trace, adapter, object, source));
    return adapter->build(adapter, trace, object, source, out);
}

static DtStatus
build_subclass(DtTrace *trace, PyObject *object, const DtSource *source, bool trusted, DtVar **out)
{
    (void)source;
    (void)trusted;
    (void)out;
    return dt_break(trace, DT_BREAK_UNKNOWN_TYPE, "a value of type %s, derived from a builtin type",
                    Py_TYPE(object)->tp_name);
}

typedef struct CategoryRow {
    bool (*fits)(PyObject *object);
    DtBuilder build;
} CategoryRow;

static const CategoryRow category_rows[] = {
    {is_array, build_array},
    {is_module, dt_module_build},
    {is_class, dt_class_build},
    {is_function, dt_function_build},
    {is_user_instance, dt_instance_build},
    {is_namedtuple, dt_namedtuple_build},
    {is_pure_tuple, dt_opaque_build},
    {dt_payload_fits, dt_instance_build},
    {is_exception, dt_exception_build},
    {is_builtin_subclass, build_subclass},
    {is_anything, dt_opaque_build},
};

/* ---- Guards that builders share -------------------------------------------------------------- */

DtStatus
dt_build_guard_identity(DtTrace *trace, PyObject *object, const DtSource *source, bool trusted)
{
    if (trusted || source == NULL || source->kind == DT_SOURCE_OBJECT) {
        return DT_OK;
    }
    return dt_guard_identity(trace, source, object);
}

/* A global that a loop of the module itself stores is a variable like any other. */
static bool
is_rebound(const DtTrace *trace, const DtSource *source)
{
    return trace->rebound != NULL && source->key != NULL
           && PySet_Contains(trace->rebound, source->key) == 1;
}

bool
dt_build_is_static(const DtTrace *trace, const DtSource *source)
{
    for (; source != NULL; source = source->base) {
        switch ((DtSourceKind)source->kind) {
        case DT_SOURCE_GLOBAL:
            return !is_rebound(trace, source);
        case DT_SOURCE_BUILTIN:
        case DT_SOURCE_FUNC_GLOBAL:
        case DT_SOURCE_FUNC_DEFAULT:
        case DT_SOURCE_FUNC_PART:
        case DT_SOURCE_TYPE_ATTR:
        case DT_SOURCE_OBJECT:
            return true;
        case DT_SOURCE_ATTR:
            break; /* as its base */
        default:
            return false;
        }
    }
    return true;
}

/* ---- The entry ------------------------------------------------------------------------------- */

bool
dt_build_is_shared(DtKind kind)
{
    switch (kind) {
    case DT_KIND_ARRAY:
    case DT_KIND_LIST:
    case DT_KIND_GROWING_LIST:
    case DT_KIND_DICT:
    case DT_KIND_GROWING_DICT:
    case DT_KIND_SET:
    case DT_KIND_BYTEARRAY:
    case DT_KIND_CELL:
    case DT_KIND_FUNCTION:
    case DT_KIND_INSTANCE:
    case DT_KIND_ITERATOR:
    case DT_KIND_PARTIAL:
    case DT_KIND_TRACEBACK:
    case DT_KIND_STRANGER:
    case DT_KIND_MAPPING_PROXY:
    case DT_KIND_WEAKREF:
        return true;
    default:
        return false;
    }
}

static DtBuilder
choose_builder(PyObject *object)
{
    if (Py_TYPE(object)->tp_call != NULL) {
        if (dt_builtin_find(object) != NULL) {
            return PyType_Check(object) ? dt_class_build : dt_builtin_build;
        }
        const DtAdapter *adapter = dt_adapter_of_callable(object);
        bool follows = adapter != NULL && adapter->follows != NULL;
        if (adapter != NULL && !(follows && adapter->follows(adapter, object))) {
            return dt_adapter_callable_build;
        }
    }
    const BuilderBox *box = dt_map_get(&builders, Py_TYPE(object));
    if (box != NULL) {
        return box->build;
    }
    const CategoryRow *row = category_rows;
    while (!row->fits(object)) {
        row++;
    }
    return row->build;
}

static DtStatus
build(DtTrace *trace, PyObject *object, const DtSource *source, bool trusted, DtVar **out)
{
    DtVar *seen = dt_map_get(&trace->by_object, object);
    if (seen != NULL) {
        *out = seen;
        if (source == NULL || seen->source == NULL || seen->source == source
            || dt_map_get(&trace->stand_ins, object) != NULL) {
            return DT_OK;
        }
        /* Known by now which object the second source holds: then the first one holds it, too. */
        return trusted || source->kind == DT_SOURCE_OBJECT
                   ? dt_build_guard_identity(trace, object, seen->source, false)
                   : dt_guard_alias(trace, seen->source, source, true);
    }
    DT_TRY(dt_var_check_stack(trace));
    DT_TRY(dt_trace_keep(trace, object));
    DT_TRY(choose_builder(object)(trace, object, source, trusted, out));
    if (dt_build_is_shared((*out)->type->kind)
        && dt_map_set(&trace->arena, &trace->by_object, object, *out) < 0) {
        return dt_no_memory();
    }
    return DT_OK;
}

/* What was built, to those who may look into it. */
static DtStatus
build_read(DtTrace *trace, PyObject *object, const DtSource *source, bool trusted, DtVar **out)
{
    DT_TRY(build(trace, object, source, trusted, out));
    return dt_var_realize(trace, *out, out);
}

DtStatus
dt_build_receiver(DtTrace *trace, PyObject *object, const DtSource *source, DtVar **out)
{
    return build(trace, object, source, false, out);
}

DtStatus
dt_var_build(DtTrace *trace, PyObject *object, const DtSource *source, DtVar **out)
{
    if (source == NULL) {
        return dt_build_known(trace, object, out);
    }
    return build_read(trace, object, source, false, out);
}

DtStatus
dt_build_trusted(DtTrace *trace, PyObject *object, const DtSource *source, DtVar **out)
{
    return build_read(trace, object, source, true, out);
}

DtStatus
dt_build_known(DtTrace *trace, PyObject *object, DtVar **out)
{
    const DtSource *source = dt_source_get(trace, DT_SOURCE_OBJECT, NULL, object, 0);
    if (source == NULL) {
        return DT_ERROR;
    }
    return build_read(trace, object, source, true, out);
}
