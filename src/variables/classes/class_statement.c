/* Class statements.
 *
 *   __build_class__ ─► the body is followed over a new namespace
 *                   └► a real class of the same parts stands for the new one while
 *                      tracing: look-ups, layouts and errors are CPython's own
 *
 * Invariant: the real class does not leave the trace; no guard looks at it.
 *
 * Not in here: what its values are in the real class (stand_ins.c), the code that makes it again
 * when it leaves the trace (made_rebuild.c), the instructions of the body (symbolic/op_names.c),
 * metaclasses and others who hear of the class (class_hooks.c).
 */
#include "compat/type.h"
#include "variables/classes/made.h"
#include "variables/substitutes.h"

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
        const DtDictEntry *entry = &names->items[i];
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
    DT_TRY(dt_made_register(trace, cls, DT_KIND_CLASS, made, out));
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

static const DtMethodRow rows[] = {
    {"__build_class__", call_build_class, 2, -1, true},
    {NULL, NULL, 0, 0, false},
};

const DtBuiltinTable dt_builtin_classes_table = {"builtins", rows};
