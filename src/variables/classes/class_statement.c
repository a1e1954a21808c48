/* Class statements, and descriptors that their bodies make.
 *
 *   __build_class__ ─► the body is followed over a new namespace
 *                   └► a real class of the same parts stands for the new one while
 *                      tracing: look-ups, layouts and errors are CPython's own
 *
 * In the real class every value that the trace has made is a *stand-in* (a
 * function of the same code, or a plain object) that leads back to its tracker,
 * so whatever finds it in the class gets the tracker.
 *
 * A class that leaves the trace is made by the emitted code, once per call.
 *
 * Invariant: neither the real class nor a stand-in leaves the trace; no guard
 * looks at them.
 *
 * Not in here: the instructions of the body (symbolic/op_names.c), metaclasses and
 * others who hear of the class (class_hooks.c).
 */
#include "compat/type.h"
#include "variables/kinds.h"
#include "variables/substitutes.h"

DtMade *
dt_made_find(const DtTrace *trace, PyObject *object)
{
    return trace->made.count > 0 ? dt_map_get(&trace->made, object) : NULL;
}

/* `object`, which is kept, stands for `var` from now on. */
static DtStatus
stand_for(DtTrace *trace, PyObject *object, DtVar *var)
{
    return dt_map_set(&trace->arena, &trace->by_object, object, var) == 0
                   && dt_map_set(&trace->arena, &trace->stand_ins, object, var) == 0
               ? DT_OK
               : dt_no_memory();
}

static DtStatus
register_made(DtTrace *trace, PyObject *object, DtKind kind, DtMade made, DtVar **out)
{
    DtMade *copy = DT_ARENA_NEW(&trace->arena, DtMade);
    DtObjectVar *self;
    if (copy == NULL) {
        return dt_no_memory();
    }
    *copy = made;
    copy->real = object;
    DT_TRY(dt_object_new(trace, kind, object, NULL, &self));
    *out = &self->base;
    if (kind == DT_KIND_CLASS) {
        self->base.mutation = DT_ATTRIBUTE_MUTATION_NEW;
    }
    if (dt_map_set(&trace->arena, &trace->made, object, copy) != 0) {
        return dt_no_memory();
    }
    return stand_for(trace, object, *out);
}

/* ---- Stand-ins ------------------------------------------------------------------------------- */

static DtStatus
refuse_value(DtTrace *trace, DtVar *value)
{
    return dt_break(trace, DT_BREAK_UNKNOWN_CALLABLE, "a class body with a %s",
                    dt_kinds_type_name(trace, value));
}

/* A real function of the same code, which is never called. */
static DtStatus
stand_in_function(DtTrace *trace, DtFunctionVar *function, PyObject **out)
{
    *out = dt_trace_keep_take(trace, PyFunction_New((PyObject *)function->code, function->globals));
    PyObject *name = dt_trace_keep_take(trace, PyUnicode_InternFromString("__isabstractmethod__"));
    if (*out == NULL || name == NULL) {
        return DT_ERROR;
    }
    bool deleted;
    DtVar *abstract = dt_journal_get_attr(trace, &function->base, name, &deleted);
    if (abstract != NULL && dt_var_peek_constant(abstract) == Py_True
        && PyObject_SetAttr(*out, name, Py_True) < 0) {
        return DT_ERROR;
    }
    return stand_for(trace, *out, &function->base);
}

static bool
type_takes_part(PyTypeObject *type)
{
    return type->tp_descr_get != NULL || type->tp_descr_set != NULL
           || dt_hooks_type_has(type, "__set_name__");
}

static DtStatus
stand_in_object(DtTrace *trace, DtVar *value, PyObject **out)
{
    PyTypeObject *type = dt_var_python_type(trace, value);
    if (type == NULL || type_takes_part(type)) {
        return refuse_value(trace, value);
    }
    *out = dt_trace_keep_take(trace,
                              PyObject_CallNoArgs((PyObject *)&PyBaseObject_Type)); /* object() */
    return *out != NULL ? stand_for(trace, *out, value) : DT_ERROR;
}

/* An object of a class of the program that takes part in look-ups, or hears of the class: itself,
 * or an empty one of that class. */
static DtStatus
stand_in_descriptor(DtTrace *trace, DtVar *value, PyObject **out)
{
    DtInstanceVar *instance = (DtInstanceVar *)value;
    if (!dt_build_is_user_class(instance->cls)) {
        return refuse_value(trace, value);
    }
    DT_TRY(dt_instance_stand_in(trace, value, out));
    return instance->object == NULL ? stand_for(trace, *out, value) : DT_OK;
}

/* What type() looks at itself has to be what it is. */
static bool
is_read_by_type(PyObject *name)
{
    static const char *const names[] = {
        "__slots__", "__match_args__", "__qualname__", "__module__", "__doc__", "__name__", NULL};
    return dt_kinds_is_among(name, names);
}

/* The real object that stands for a value in the real class. */
DtStatus
dt_made_stand_in(DtTrace *trace, PyObject *name, DtVar *value, PyObject **out)
{
    PyObject *object = dt_payload_object(value);
    if (value->type->kind == DT_KIND_CONSTANT
        && dt_constant_is_safe(((DtConstVar *)value)->value)) {
        *out = ((DtConstVar *)value)->value;
        return DT_OK;
    }
    if (is_read_by_type(name)) {
        *out = dt_var_as_constant(trace, value);
        return *out != NULL && dt_constant_is_safe(*out) ? DT_OK : refuse_value(trace, value);
    }
    switch (value->type->kind) {
    case DT_KIND_FUNCTION:
        if (object == NULL) {
            return stand_in_function(trace, (DtFunctionVar *)value, out);
        }
        *out = object;
        return DT_OK;
    case DT_KIND_CLASS:
        *out = object;
        return dt_hooks_type_has(Py_TYPE(object), "__get__")
                       || dt_hooks_type_has(Py_TYPE(object), "__set_name__")
                   ? refuse_value(trace, value)
                   : DT_OK;
    case DT_KIND_BUILTIN:
    case DT_KIND_OPAQUE:
        *out = object;
        return !dt_type_is_static(Py_TYPE(object)) ? refuse_value(trace, value) : DT_OK;
    case DT_KIND_INSTANCE:
        if (type_takes_part(((DtInstanceVar *)value)->cls)) {
            return stand_in_descriptor(trace, value, out);
        }
        return stand_in_object(trace, value, out);
    default:
        return stand_in_object(trace, value, out);
    }
}

/* ---- Making a class -------------------------------------------------------------------------- */

static bool
is_name(PyObject *name, const char *text)
{
    return PyUnicode_CompareWithASCIIString(name, text) == 0;
}

static DtStatus
check_base(DtTrace *trace, DtVar *base)
{
    if (base->type->kind != DT_KIND_CLASS
        || dt_substitute_hides_class((PyTypeObject *)dt_payload_object(base))) {
        return dt_break(trace, DT_BREAK_UNKNOWN_CALLABLE,
                        "a class statement with a base that is no class, or none of the program");
    }
    return dt_class_guard_unchanged(trace, base);
}

/* The real namespace; the cell __class__ is left out. */
static DtStatus
fill_namespace(DtTrace *trace, DtDictVar *names, PyObject *real, DtVar **cell)
{
    *cell = NULL;
    for (uint32_t i = 0; i < names->count; i++) {
        const DtEntry *entry = &names->items[i];
        DtVar *value;
        PyObject *object;
        if (entry->key == NULL || !PyUnicode_CheckExact(entry->key)) {
            return dt_break(trace, DT_BREAK_UNKNOWN_CALLABLE, "a class body with odd names");
        }
        DT_TRY(dt_var_realize(trace, entry->value, &value));
        if (is_name(entry->key, "__classcell__")) {
            if (value->type->kind != DT_KIND_CELL) {
                return dt_break(trace, DT_BREAK_UNKNOWN_CALLABLE,
                                "a __classcell__ of another kind");
            }
            if (((DtCellVar *)value)->contents != NULL) {
                return dt_break(trace, DT_BREAK_UNKNOWN_CALLABLE,
                                "a second class of the namespace of a class");
            }
            *cell = value;
            continue;
        }
        if (is_name(entry->key, "__classdictcell__") || is_name(entry->key, "__del__")) {
            return dt_break(trace, DT_BREAK_UNKNOWN_CALLABLE, "a class body with %s",
                            dt_kinds_text(entry->key));
        }
        DT_TRY(dt_made_stand_in(trace, entry->key, value, &object));
        if (PyDict_SetItem(real, entry->key, object) < 0) {
            return DT_ERROR;
        }
    }
    return DT_OK;
}

/* What the class statement or the call asks for. */
typedef struct Wanted {
    PyTypeObject *meta;
    PyObject *name;
    DtVar **bases;
    uint32_t nbases;
    DtDictVar *names;
    DtArgs keywords; /* for __init_subclass__ */
} Wanted;

/* type.__new__ */
static DtStatus
make_class(DtTrace *trace, const Wanted *wanted, DtVar **out)
{
    DtVar *cell;
    PyObject *real = dt_trace_keep_take(trace, PyDict_New());
    PyObject *tuple = dt_trace_keep_take(trace, PyTuple_New((Py_ssize_t)wanted->nbases));
    if (real == NULL || tuple == NULL) {
        return DT_ERROR;
    }
    for (uint32_t i = 0; i < wanted->nbases; i++) {
        DT_TRY(dt_var_realize(trace, wanted->bases[i], &wanted->bases[i]));
        DT_TRY(check_base(trace, wanted->bases[i]));
        PyTuple_SET_ITEM(tuple, (Py_ssize_t)i, Py_NewRef(dt_payload_object(wanted->bases[i])));
    }
    DT_TRY(fill_namespace(trace, wanted->names, real, &cell));
    bool hooked = dt_hooks_are_in(tuple);
    PyObject *cls = dt_hooks_make_real(wanted->meta, wanted->name, tuple, real);
    if (cls == NULL) {
        return hooked ? dt_break_on_exception(trace) : dt_raise_from_exception(trace);
    }
    DtMade made = {.maker = (PyObject *)&PyType_Type,
                   .args = wanted->bases,
                   .nargs = wanted->nbases,
                   .name = wanted->name,
                   .names = wanted->names,
                   .cell = cell};
    cls = dt_trace_keep_take(trace, cls);
    if (cls == NULL) {
        return DT_ERROR;
    }
    DT_TRY(register_made(trace, cls, DT_KIND_CLASS, made, out));
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(tuple); i++) {
        PyObject *base = PyTuple_GET_ITEM(tuple, i);
        if (dt_made_find(trace, base) == NULL) { /* base.__subclasses__() must not show it */
            dt_type_forget_subclass((PyTypeObject *)base, (PyTypeObject *)cls);
        }
    }
    if (cell != NULL && cell->type->kind == DT_KIND_CELL) {
        DT_TRY(dt_journal_set_cell(trace, (DtCellVar *)cell, *out));
    }
    return dt_hooks_tell(trace, *out, wanted->names, &wanted->keywords);
}

/* Keyword arguments without `metaclass`; *meta is that one, or NULL. */
static DtStatus
split_keywords(DtTrace *trace, const DtArgs *args, DtArgs *out, DtVar **meta)
{
    *meta = NULL;
    *out = (DtArgs){0};
    out->kw = DT_ARENA_ARRAY(&trace->arena, DtVar *, args->nkw + 1);
    out->kwnames = DT_ARENA_ARRAY(&trace->arena, PyObject *, args->nkw + 1);
    if (out->kw == NULL || out->kwnames == NULL) {
        return dt_no_memory();
    }
    for (uint32_t i = 0; i < args->nkw; i++) {
        if (is_name(args->kwnames[i], "metaclass")) {
            *meta = args->kw[i];
            continue;
        }
        out->kw[out->nkw] = args->kw[i];
        out->kwnames[out->nkw++] = args->kwnames[i];
    }
    return DT_OK;
}

/* metaclass(name, bases, namespace, **keywords) */
static DtStatus
call_metaclass(DtTrace *trace, DtVar *meta, const Wanted *wanted, DtVar *bases, DtVar **out)
{
    DtVar *pos[3] = {NULL, bases, &wanted->names->base};
    DT_TRY(dt_var_const(trace, wanted->name, &pos[0]));
    DtArgs args = wanted->keywords;
    args.pos = pos;
    args.npos = 3;
    return dt_var_call(trace, meta, &args, out);
}

/* A metaclass has to hand the cell __class__, which the body has returned, on to type.__new__. */
static DtStatus
check_class_cell(DtTrace *trace, DtVar *cell, DtVar *made)
{
    DT_TRY(dt_var_realize(trace, cell, &cell));
    DT_TRY(dt_var_realize(trace, made, &made));
    if (cell->type->kind != DT_KIND_CELL || made->type->kind != DT_KIND_CLASS) {
        return DT_OK;
    }
    DtVar *contents = ((DtCellVar *)cell)->contents;
    return contents != NULL && dt_var_peek(contents) == made
               ? DT_OK
               : dt_break(trace, DT_BREAK_UNKNOWN_CALLABLE,
                          "a metaclass that does not set the cell __class__");
}

/* __build_class__(body, name, *bases, metaclass=..., **keywords) */
static DtStatus
call_build_class(DtTrace *trace, DtVar *self, const DtArgs *args, DtVar **out)
{
    (void)self;
    DtVar *body, *cell, *meta, *asked, *tuple, *originals, *prepare[2];
    Wanted wanted = {.name = dt_var_as_constant(trace, args->pos[1]), .nbases = args->npos - 2};
    DT_TRY(dt_var_realize(trace, args->pos[0], &body));
    if (wanted.name == NULL || !PyUnicode_CheckExact(wanted.name)
        || body->type->kind != DT_KIND_FUNCTION) {
        return dt_break(trace, DT_BREAK_UNKNOWN_CALLABLE, "a class statement of another kind");
    }
    wanted.bases = DT_ARENA_ARRAY(&trace->arena, DtVar *, wanted.nbases + 1);
    if (wanted.bases == NULL) {
        return dt_no_memory();
    }
    for (uint32_t i = 0; i < wanted.nbases; i++) {
        DT_TRY(dt_var_realize(trace, args->pos[2 + i], &wanted.bases[i]));
    }
    /* Before the body runs, as CPython does. */
    DT_TRY(dt_class_resolve_bases(trace, &wanted.bases, &wanted.nbases, &originals));
    for (uint32_t i = 0; i < wanted.nbases; i++) {
        DT_TRY(check_base(trace, wanted.bases[i]));
    }
    DT_TRY(split_keywords(trace, args, &wanted.keywords, &asked));
    DT_TRY(dt_hooks_metaclass(trace, asked, wanted.bases, wanted.nbases, &meta));
    wanted.meta = (PyTypeObject *)dt_payload_object(meta);
    DT_TRY(dt_var_tuple(trace, wanted.bases, wanted.nbases, &tuple));
    DtArgs for_prepare = wanted.keywords;
    prepare[1] = tuple;
    DT_TRY(dt_var_const(trace, wanted.name, &prepare[0]));
    for_prepare.pos = prepare;
    for_prepare.npos = 2;
    DT_TRY(dt_hooks_prepare(trace, meta, &for_prepare, &wanted.names));
    DT_TRY(dt_inline_class_body(trace, (DtFunctionVar *)body, &wanted.names->base, &cell));
    if (originals != NULL) {
        DtVar *key;
        DT_TRY(dt_var_const_take(trace, PyUnicode_InternFromString("__orig_bases__"), &key));
        DT_TRY(dt_var_ass_subscript(trace, &wanted.names->base, key, originals));
    }
    DT_TRY(wanted.meta == &PyType_Type ? make_class(trace, &wanted, out)
                                       : call_metaclass(trace, meta, &wanted, tuple, out));
    return check_class_cell(trace, cell, *out);
}

/* The module of a class whose namespace names none: that of the frame which makes it. */
static DtStatus
add_module(DtTrace *trace, DtDictVar *names)
{
    DtVar *globals, *key, *module, *there;
    bool named;
    DT_TRY(dt_frame_globals(trace, &globals));
    DT_TRY(dt_var_const_take(trace, PyUnicode_InternFromString("__name__"), &key));
    DT_TRY(dt_var_contains(trace, globals, key, &there));
    DT_TRY(dt_var_truth(trace, there, &named));
    if (!named) {
        return DT_OK;
    }
    DT_TRY(dt_var_subscript(trace, globals, key, &module));
    DT_TRY(dt_var_const_take(trace, PyUnicode_InternFromString("__module__"), &key));
    return dt_var_ass_subscript(trace, &names->base, key, module);
}

/* A copy of the namespace, which type() makes. */
static DtStatus
copy_names(DtTrace *trace, DtVar *names, DtDictVar **out)
{
    DtVar *copy;
    DT_TRY(dt_var_realize(trace, names, &names));
    if (names->type->kind != DT_KIND_DICT || ((DtDictVar *)names)->cls != &PyDict_Type) {
        return dt_break(trace, DT_BREAK_UNKNOWN_CALLABLE, "type() of a namespace that is a %s",
                        dt_kinds_type_name(trace, names));
    }
    DT_TRY(dt_var_call_method(trace, names, "copy", NULL, 0, &copy));
    DT_TRY(dt_var_realize(trace, copy, &copy));
    *out = (DtDictVar *)copy;
    for (uint32_t i = 0; i < (*out)->count; i++) {
        PyObject *key = (*out)->items[i].key;
        if (key != NULL && PyUnicode_Check(key) && is_name(key, "__module__")) {
            return DT_OK;
        }
    }
    return add_module(trace, *out);
}

DtStatus
dt_made_class(DtTrace *trace, const DtArgs *args, DtVar **out)
{
    DtVar *meta, *bases, *derived;
    if (args->npos != 4) {
        return dt_break(trace, DT_BREAK_UNKNOWN_CALLABLE, "type.__new__() without a namespace");
    }
    DT_TRY(dt_var_realize(trace, args->pos[0], &meta));
    DT_TRY(dt_var_realize(trace, args->pos[2], &bases));
    Wanted wanted = {.name = dt_var_as_constant(trace, args->pos[1]), .keywords = *args};
    wanted.keywords.npos = 0;
    if (wanted.name == NULL || !PyUnicode_CheckExact(wanted.name)
        || bases->type->kind != DT_KIND_TUPLE) {
        return dt_break(trace, DT_BREAK_UNKNOWN_CALLABLE, "type() of odd arguments");
    }
    wanted.nbases = ((DtSeqVar *)bases)->count;
    wanted.bases = DT_ARENA_ARRAY(&trace->arena, DtVar *, wanted.nbases + 1);
    if (wanted.bases == NULL) {
        return dt_no_memory();
    }
    for (uint32_t i = 0; i < wanted.nbases; i++) {
        DT_TRY(dt_var_realize(trace, ((DtSeqVar *)bases)->items[i], &wanted.bases[i]));
        DT_TRY(check_base(trace, wanted.bases[i]));
    }
    DT_TRY(dt_hooks_metaclass(trace, meta, wanted.bases, wanted.nbases, &derived));
    wanted.meta = (PyTypeObject *)dt_payload_object(derived);
    if ((PyObject *)wanted.meta != dt_payload_object(meta)) {
        return dt_break(trace, DT_BREAK_UNKNOWN_CALLABLE,
                        "type() makes a class whose bases have another metaclass");
    }
    DT_TRY(copy_names(trace, args->pos[3], &wanted.names));
    return make_class(trace, &wanted, out);
}

/* ---- Descriptors ----------------------------------------------------------------------------- */

/* What stands for an argument while the descriptor is made; a break for what would be asked in
 * Python. */
static DtStatus
real_part(DtTrace *trace, DtVar *part, PyObject **real)
{
    *real = dt_var_peek_constant(part) == Py_None ? Py_None : dt_payload_object(part);
    if (*real == Py_None || (*real != NULL && Py_IS_TYPE(*real, &PyProperty_Type))) {
        return DT_OK;
    }
    if (part->type->kind != DT_KIND_FUNCTION) {
        return dt_break(trace, DT_BREAK_UNKNOWN_CALLABLE, "a descriptor made of a %s",
                        part->type->name);
    }
    return *real != NULL ? DT_OK : stand_in_function(trace, (DtFunctionVar *)part, real);
}

/* maker(*args): a class, or what makes a property of a property. */
static DtStatus
make_descriptor(DtTrace *trace, PyObject *maker, DtVar *const *args, uint32_t count, DtVar **out)
{
    PyObject *real[4] = {NULL};
    DtVar **parts = DT_ARENA_ARRAY(&trace->arena, DtVar *, count + 1);
    if (parts == NULL) {
        return dt_no_memory();
    }
    for (uint32_t i = 0; i < count; i++) {
        DT_TRY(dt_var_realize(trace, args[i], &parts[i]));
        DT_TRY(real_part(trace, parts[i], &real[i]));
    }
    PyObject *object = PyObject_Vectorcall(maker, real, count, NULL);
    if (object == NULL) {
        return dt_raise_from_exception(trace);
    }
    object = dt_trace_keep_take(trace, object);
    if (object == NULL) {
        return DT_ERROR;
    }
    DtMade made = {.maker = maker, .args = parts, .nargs = count};
    return register_made(trace, object, DT_KIND_OPAQUE, made, out);
}

static DtStatus
call_descriptor_class(DtTrace *trace, DtVar *self, const DtArgs *args, DtVar **out)
{
    return make_descriptor(trace, dt_payload_object(self), args->pos, args->npos, out);
}

/* property.getter(self, value) and its like: only the property knows whether its docstring is the
 * getter's. */
static DtStatus
copy_property(DtTrace *trace, DtVar *self, const char *method, DtVar *value, DtVar **out)
{
    PyObject *maker = PyObject_GetAttrString((PyObject *)&PyProperty_Type, method);
    maker = dt_trace_keep_take(trace, maker);
    DtVar *args[] = {self, value};
    return maker != NULL ? make_descriptor(trace, maker, args, 2, out) : DT_ERROR;
}

static DtStatus
call_getter(DtTrace *trace, DtVar *self, const DtArgs *args, DtVar **out)
{
    return copy_property(trace, self, "getter", args->pos[0], out);
}

static DtStatus
call_setter(DtTrace *trace, DtVar *self, const DtArgs *args, DtVar **out)
{
    return copy_property(trace, self, "setter", args->pos[0], out);
}

static DtStatus
call_deleter(DtTrace *trace, DtVar *self, const DtArgs *args, DtVar **out)
{
    return copy_property(trace, self, "deleter", args->pos[0], out);
}

static const DtMethodRow property_rows[] = {
    {"getter", call_getter, 1, 1, false},
    {"setter", call_setter, 1, 1, false},
    {"deleter", call_deleter, 1, 1, false},
    {NULL, NULL, 0, 0, false},
};

const DtMethodRow *
dt_made_property_row(PyObject *name)
{
    for (const DtMethodRow *row = property_rows; row->name != NULL; row++) {
        if (is_name(name, row->name)) {
            return row;
        }
    }
    return NULL;
}

static const DtMethodRow class_rows[] = {
    {"__build_class__", call_build_class, 2, -1, true},
    {"classmethod", call_descriptor_class, 1, 1, false},
    {"property", call_descriptor_class, 0, 3, false},
    {"staticmethod", call_descriptor_class, 1, 1, false},
    {NULL, NULL, 0, 0, false},
};

const DtBuiltinTable dt_builtin_classes_table = {"builtins", class_rows};

/* ---- Leaving the trace ----------------------------------------------------------------------- */

DtStatus
dt_made_children(DtTrace *trace, const DtMade *made, DtStatus (*visit)(DtTrace *, DtVar *, void *),
                 void *arg)
{
    for (uint32_t i = 0; i < made->nargs; i++) {
        DT_TRY(visit(trace, made->args[i], arg));
    }
    return made->names != NULL ? visit(trace, &made->names->base, arg) : DT_OK;
}

DtStatus
dt_made_fills(DtCodegen *codegen, DtMade *made, DtVar *cell)
{
    if (cell == made->cell) {
        return DT_OK; /* type() does that */
    }
    return dt_vec_push(&dt_codegen_trace(codegen)->arena, &made->cells, cell) == 0 ? DT_OK
                                                                                   : dt_no_memory();
}

/* fill(cls, cell, ...): the class, which the cells hold now. */
static PyObject *
fill(PyObject *self, PyObject *const *args, Py_ssize_t count)
{
    (void)self;
    for (Py_ssize_t i = 1; i < count; i++) {
        if (PyCell_Set(args[i], args[0]) < 0) {
            return NULL;
        }
    }
    return Py_NewRef(args[0]);
}

static PyMethodDef fill_method = {"fill_cells", (PyCFunction)(void (*)(void))fill, METH_FASTCALL,
                                  NULL};

/* type.__new__(metaclass, name, bases, namespace), which copies the namespace and fills the cell
 * __class__; nobody hears of it. */
static DtStatus
emit_class(DtCodegen *codegen, const DtMade *made)
{
    DT_TRY(dt_hooks_push_maker(codegen, made));
    DT_TRY(dt_codegen_const(codegen, made->name));
    for (uint32_t i = 0; i < made->nargs; i++) {
        DT_TRY(dt_codegen_var(codegen, made->args[i]));
    }
    DT_TRY(dt_codegen_op(codegen, DT_OP_BUILD_TUPLE, (int32_t)made->nargs));
    for (uint32_t i = 0; i < made->names->count; i++) {
        DT_TRY(dt_codegen_const(codegen, made->names->items[i].key));
        DT_TRY(dt_codegen_var(codegen, made->names->items[i].value));
    }
    DT_TRY(dt_codegen_op(codegen, DT_OP_BUILD_MAP, (int32_t)made->names->count));
    DT_TRY(dt_codegen_const(codegen, made->abstract != NULL ? made->abstract : Py_None));
    return dt_codegen_call(codegen, 5);
}

static DtStatus
emit_filled_class(DtCodegen *codegen, DtMade *made)
{
    DtTrace *trace = dt_codegen_trace(codegen);
    PyObject *function = dt_trace_keep_take(trace, PyCFunction_New(&fill_method, NULL));
    if (function == NULL) {
        return DT_ERROR;
    }
    DT_TRY(dt_codegen_push_callable(codegen, function));
    made->cells.count = 0;
    made->building = true;
    DtStatus status = emit_class(codegen, made);
    made->building = false;
    DT_TRY(status);
    for (uint32_t i = 0; i < made->cells.count; i++) {
        DT_TRY(dt_codegen_var(codegen, made->cells.items[i]));
    }
    return dt_codegen_call(codegen, 1 + made->cells.count);
}

DtStatus
dt_made_reconstruct(DtCodegen *codegen, DtMade *made)
{
    if (made->names != NULL) {
        return emit_filled_class(codegen, made);
    }
    DT_TRY(dt_codegen_push_callable(codegen, made->maker));
    for (uint32_t i = 0; i < made->nargs; i++) {
        DT_TRY(dt_codegen_var(codegen, made->args[i]));
    }
    return dt_codegen_call(codegen, made->nargs);
}
