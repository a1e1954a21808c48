/* Exception groups: making them, taking them apart, and except*.
 *
 *   split(condition) ─► whole matches stay what they are; of a group that matches
 *                       in parts, derive() makes the parts, which get its
 *                       traceback, cause, context and notes
 *   except* ─► split by type; afterwards what was raised again unchanged is put
 *              together as it lay in the original group
 *
 * Mirrors BaseExceptionGroup of CPython 3.11 - 3.13; 3.10 has no groups.
 *
 * Invariant: the fields "message" and "exceptions" of a new group are constant.
 *
 * Not in here: the instructions (symbolic/op_exception.c).
 */
#include "variables/kinds.h"

enum { MESSAGE, EXCEPTIONS, FIELD_COUNT };

static PyObject *
find_builtin(const char *name)
{
    PyObject *found = PyDict_GetItemString(PyEval_GetBuiltins(), name);
    return found != NULL && PyExceptionClass_Check(found) ? found : NULL;
}

/* Found once: the interpreter's own, which nobody can change. */
static PyTypeObject *
base_group(void)
{
    static PyTypeObject *found;
    if (found == NULL) {
        PyTypeObject *type = (PyTypeObject *)find_builtin("BaseExceptionGroup");
        found = type != NULL && !(type->tp_flags & Py_TPFLAGS_HEAPTYPE) ? type : NULL;
    }
    return found;
}

/* ExceptionGroup lies behind its base in the hierarchy: a class of C that the builtins name. */
static PyTypeObject *
exception_group(void)
{
    static PyTypeObject *found;
    if (found == NULL) {
        found = (PyTypeObject *)find_builtin("ExceptionGroup");
    }
    return found;
}

bool
dt_group_is_class(PyTypeObject *cls)
{
    return cls != NULL && base_group() != NULL && PyType_IsSubtype(cls, base_group());
}

static bool
is_group(DtVar *var)
{
    return dt_exception_is(var) && dt_group_is_class(((DtInstanceVar *)var)->cls);
}

static DtStatus
intern(DtTrace *trace, const char *text, PyObject **out)
{
    *out = dt_trace_keep_take(trace, PyUnicode_InternFromString(text));
    return *out != NULL ? DT_OK : DT_ERROR;
}

/* ---- Making ---------------------------------------------------------------------------------- */

static DtStatus
check_items(DtTrace *trace, DtVar **items, uint32_t count, bool *only_exceptions)
{
    *only_exceptions = true;
    if (count == 0) {
        return dt_raise(trace, PyExc_ValueError,
                        "second argument (exceptions) must be a non-empty sequence");
    }
    for (uint32_t i = 0; i < count; i++) {
        PyTypeObject *type = dt_var_python_type(trace, items[i]);
        if (type == NULL) {
            return dt_break(trace, DT_BREAK_UNKNOWN_TYPE, "an item of an exception group");
        }
        if (!PyExceptionClass_Check((PyObject *)type)) {
            return dt_raise(trace, PyExc_ValueError,
                            "Item %u of second argument (exceptions) is not an exception", i);
        }
        *only_exceptions =
            *only_exceptions && PyType_IsSubtype(type, (PyTypeObject *)PyExc_Exception);
    }
    return DT_OK;
}

/* The class that the call really makes. */
static DtStatus
choose_class(DtTrace *trace, DtVar **cls_var, bool only_exceptions)
{
    PyTypeObject *cls = (PyTypeObject *)dt_payload_object(*cls_var);
    if (cls == base_group()) {
        return only_exceptions ? dt_build_known(trace, (PyObject *)exception_group(), cls_var)
                               : DT_OK;
    }
    if (only_exceptions || !PyType_IsSubtype(cls, (PyTypeObject *)PyExc_Exception)) {
        return DT_OK;
    }
    return cls == exception_group()
               ? dt_raise(trace, PyExc_TypeError, "Cannot nest BaseExceptions in an ExceptionGroup")
               : dt_raise(trace, PyExc_TypeError, "Cannot nest BaseExceptions in '%.200s'",
                          cls->tp_name);
}

DtStatus
dt_group_make(DtTrace *trace, DtVar *cls_var, const DtArgs *args, DtVar **out)
{
    PyTypeObject *cls = (PyTypeObject *)dt_payload_object(cls_var);
    DtVar **items, *message, *exceptions;
    uint32_t count;
    bool only_exceptions;
    if (args->npos != 2 || args->nkw != 0 || cls->tp_new != base_group()->tp_new) {
        return dt_break(trace, DT_BREAK_UNKNOWN_CALLABLE, "an instance of %s is made",
                        cls->tp_name);
    }
    DT_TRY(dt_var_realize(trace, args->pos[0], &message));
    DT_TRY(dt_var_realize(trace, args->pos[1], &exceptions));
    DtKind kind = exceptions->type->kind;
    if (dt_var_python_type(trace, message) != &PyUnicode_Type
        || (kind != DT_KIND_LIST && kind != DT_KIND_TUPLE)) {
        return dt_break(trace, DT_BREAK_UNKNOWN_CALLABLE, "a %s of other arguments", cls->tp_name);
    }
    DT_TRY(dt_var_unpack(trace, exceptions, &items, &count));
    DT_TRY(check_items(trace, items, count, &only_exceptions));
    DT_TRY(choose_class(trace, &cls_var, only_exceptions));
    DtInstanceVar *self;
    DtExceptionState *state;
    DT_TRY(dt_exception_new(trace, (PyTypeObject *)dt_payload_object(cls_var), args->pos,
                            args->npos, &self));
    self->cls_var = cls_var;
    DT_TRY(dt_exception_change(trace, self, &state));
    state->fields = DT_ARENA_ARRAY(&trace->arena, DtExceptionField, FIELD_COUNT);
    if (state->fields == NULL) {
        return dt_no_memory();
    }
    state->nfields = FIELD_COUNT;
    state->fields[MESSAGE] = (DtExceptionField){"message", message};
    state->fields[EXCEPTIONS].name = "exceptions";
    *out = &self->base;
    if (kind == DT_KIND_TUPLE && ((DtSeqVar *)exceptions)->cls == &PyTuple_Type) {
        state->fields[EXCEPTIONS].value = exceptions;
        return DT_OK;
    }
    return dt_var_tuple(trace, items, count, &state->fields[EXCEPTIONS].value);
}

/* The default derive(), and what except* wraps things in. */
static DtStatus
make_base(DtTrace *trace, DtVar *message, DtVar *exceptions, DtVar **out)
{
    DtVar *cls, *pos[2] = {message, exceptions};
    DtArgs args = dt_args_of(pos, 2);
    DT_TRY(dt_build_known(trace, (PyObject *)base_group(), &cls));
    return dt_var_call(trace, cls, &args, out);
}

static DtStatus
wrap_unnamed(DtTrace *trace, DtVar *const *items, uint32_t count, DtVar **out)
{
    DtVar *message, *list;
    DT_TRY(dt_var_const_take(trace, PyUnicode_FromString(""), &message));
    DT_TRY(dt_var_list(trace, items, count, &list));
    return make_base(trace, message, list, out);
}

/* ---- Parts of a group ------------------------------------------------------------------------ */

static DtStatus
read_items(DtTrace *trace, DtVar *group, DtVar ***items, uint32_t *count)
{
    PyObject *name;
    DtVar *tuple;
    DT_TRY(intern(trace, "exceptions", &name));
    DT_TRY(dt_exception_get(trace, group, name, &tuple));
    DT_TRY(dt_var_unpack(trace, tuple, items, count));
    for (uint32_t i = 0; i < *count; i++) {
        DT_TRY(dt_var_realize(trace, (*items)[i], &(*items)[i]));
        if (!dt_exception_is((*items)[i])) {
            return dt_break(trace, DT_BREAK_UNKNOWN_TYPE, "an item of an exception group");
        }
    }
    return DT_OK;
}

/* A list of the group's notes in `part`. */
static DtStatus
copy_notes(DtTrace *trace, DtVar *group, DtVar *part)
{
    PyObject *name;
    DtVar *notes, *missing, **items, *copy;
    uint32_t count;
    DT_TRY(intern(trace, "__notes__", &name));
    DtStatus status = dt_var_getattr(trace, group, name, &notes);
    if (dt_kinds_take_raised(trace, status, PyExc_AttributeError, &missing)) {
        return DT_OK;
    }
    DT_TRY(status);
    DT_TRY(dt_var_realize(trace, notes, &notes));
    if (notes->type->kind != DT_KIND_LIST && notes->type->kind != DT_KIND_TUPLE) {
        return dt_break(trace, DT_BREAK_ATTRIBUTE, "notes of an exception that are no list");
    }
    DT_TRY(dt_var_unpack(trace, notes, &items, &count));
    DT_TRY(dt_var_list(trace, items, count, &copy));
    return dt_var_setattr(trace, part, name, copy);
}

/* Traceback, context, cause and notes of the group. */
static DtStatus
copy_metadata(DtTrace *trace, DtVar *group, DtVar *part)
{
    const DtExceptionState *from = ((DtInstanceVar *)group)->exception;
    DtExceptionState *state;
    DtVar *traceback;
    if (!dt_exception_is_new(group)) {
        return dt_break(trace, DT_BREAK_RAISES, "a group that existed before is split");
    }
    DT_TRY(dt_exception_traceback(trace, group, &traceback));
    from = ((DtInstanceVar *)group)->exception;
    DT_TRY(dt_exception_change(trace, (DtInstanceVar *)part, &state));
    if (from->raised) {
        state->traceback = traceback;
        state->raised = true;
        state->where = from->where;
    }
    state->context = from->context;
    state->context_unknown = from->context_unknown;
    state->cause = from->cause;
    state->suppress_context = true; /* setting a cause, be it none, does that */
    return copy_notes(trace, group, part);
}

/* group.derive(exceptions) with the group's metadata; *out NULL: there are none. */
static DtStatus
make_part(DtTrace *trace, DtVar *group, DtVar *const *items, uint32_t count, DtVar **out)
{
    PyObject *name;
    DtVar *derive, *list;
    *out = NULL;
    if (count == 0) {
        return DT_OK;
    }
    DT_TRY(intern(trace, "derive", &name));
    DT_TRY(dt_var_getattr(trace, group, name, &derive));
    DT_TRY(dt_var_list(trace, items, count, &list));
    DtArgs args = dt_args_of(&list, 1);
    DT_TRY(dt_var_call(trace, derive, &args, out));
    DT_TRY(dt_var_realize(trace, *out, out));
    PyTypeObject *type = dt_var_python_type(trace, *out);
    if (type == NULL || (dt_group_is_class(type) && !dt_exception_is_new(*out))) {
        return dt_break(trace, DT_BREAK_UNKNOWN_CALLABLE, "derive() gives a %s",
                        (*out)->type->name);
    }
    if (!is_group(*out)) {
        return dt_raise(trace, PyExc_TypeError,
                        "derive must return an instance of BaseExceptionGroup");
    }
    return copy_metadata(trace, group, *out);
}

/* ---- split() and subgroup() ------------------------------------------------------------------ */

typedef struct Matcher {
    PyObject *classes; /* a class or a tuple of such, or NULL */
    DtVar *predicate;  /* or NULL */
    DtVar *const *leaves;
    uint32_t nleaves;
    bool rest; /* what does not match is asked for too */
} Matcher;

static DtStatus
does_match(DtTrace *trace, const Matcher *matcher, DtVar *exception, bool *out)
{
    *out = false;
    if (matcher->classes != NULL) {
        *out = PyErr_GivenExceptionMatches((PyObject *)((DtInstanceVar *)exception)->cls,
                                           matcher->classes);
        return DT_OK;
    }
    if (matcher->predicate != NULL) {
        DtVar *answer;
        DtArgs args = dt_args_of(&exception, 1);
        DT_TRY(dt_var_call(trace, matcher->predicate, &args, &answer));
        return dt_var_truth(trace, answer, out);
    }
    for (uint32_t i = 0; i < matcher->nleaves; i++) {
        *out = *out || matcher->leaves[i] == exception;
    }
    return DT_OK;
}

/* What of it matches, and what does not; NULL: nothing. */
static DtStatus
split(DtTrace *trace, DtVar *exception, const Matcher *matcher, DtVar **match, DtVar **rest)
{
    bool whole;
    *match = *rest = NULL;
    DT_TRY(does_match(trace, matcher, exception, &whole));
    if (whole || !is_group(exception)) {
        *(whole ? match : rest) = exception;
        return DT_OK;
    }
    DtVar **items;
    uint32_t count, nmatches = 0, nrest = 0;
    DT_TRY(read_items(trace, exception, &items, &count));
    DtVar **matches = DT_ARENA_ARRAY(&trace->arena, DtVar *, 2 * (size_t)count + 1);
    if (matches == NULL) {
        return dt_no_memory();
    }
    DtVar **others = matches + count;
    for (uint32_t i = 0; i < count; i++) {
        DtVar *a, *b;
        DT_TRY(split(trace, items[i], matcher, &a, &b));
        if (a != NULL) {
            matches[nmatches++] = a;
        }
        if (b != NULL) {
            others[nrest++] = b;
        }
    }
    DT_TRY(make_part(trace, exception, matches, nmatches, match));
    return matcher->rest ? make_part(trace, exception, others, nrest, rest) : DT_OK;
}

static bool
are_classes(PyObject *value)
{
    if (value == NULL || !PyTuple_CheckExact(value)) {
        return value != NULL && PyExceptionClass_Check(value);
    }
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(value); i++) {
        if (!PyExceptionClass_Check(PyTuple_GET_ITEM(value, i))) {
            return false;
        }
    }
    return true;
}

static DtStatus
split_by(DtTrace *trace, DtVar *self, DtVar *condition, bool rest, DtVar *out[2])
{
    Matcher matcher = {.rest = rest};
    DT_TRY(dt_var_realize(trace, condition, &condition));
    if (condition->type->kind == DT_KIND_FUNCTION) {
        matcher.predicate = condition;
    }
    else if (condition->type->kind == DT_KIND_CLASS || condition->type->kind == DT_KIND_TUPLE) {
        PyObject *value = dt_var_as_constant(trace, condition);
        matcher.classes = are_classes(value) ? value : NULL;
    }
    if (matcher.predicate == NULL && matcher.classes == NULL) {
        return dt_break(trace, DT_BREAK_UNKNOWN_CALLABLE, "a group is split by a %s",
                        condition->type->name);
    }
    DT_TRY(split(trace, self, &matcher, &out[0], &out[1]));
    for (int i = 0; i < 2; i++) {
        out[i] = out[i] != NULL ? out[i] : dt_none(trace);
    }
    return DT_OK;
}

static DtStatus
call_split(DtTrace *trace, DtVar *self, const DtArgs *args, DtVar **out)
{
    DtVar *parts[2];
    DT_TRY(split_by(trace, self, args->pos[0], true, parts));
    return dt_var_tuple(trace, parts, 2, out);
}

static DtStatus
call_subgroup(DtTrace *trace, DtVar *self, const DtArgs *args, DtVar **out)
{
    DtVar *parts[2];
    DT_TRY(split_by(trace, self, args->pos[0], false, parts));
    *out = parts[0];
    return DT_OK;
}

static DtStatus
read_message(DtTrace *trace, DtVar *self, DtVar **out)
{
    PyObject *name;
    DT_TRY(intern(trace, "message", &name));
    return dt_exception_get(trace, self, name, out);
}

static DtStatus
call_derive(DtTrace *trace, DtVar *self, const DtArgs *args, DtVar **out)
{
    DtVar *message;
    DT_TRY(read_message(trace, self, &message));
    return make_base(trace, message, args->pos[0], out);
}

const DtMethodRow dt_group_rows[] = {
    {"split", call_split, 1, 1, false},
    {"subgroup", call_subgroup, 1, 1, false},
    {"derive", call_derive, 1, 1, false},
    {NULL, NULL, 0, 0, false},
};

DtStatus
dt_group_str(DtTrace *trace, DtVar *self, DtVar **out)
{
    DtVar *message, **items;
    uint32_t count;
    DT_TRY(read_message(trace, self, &message));
    DT_TRY(read_items(trace, self, &items, &count));
    PyObject *text = dt_var_as_constant(trace, message);
    if (text == NULL || !PyUnicode_Check(text)) {
        return dt_break(trace, DT_BREAK_RAISES, "the text of an exception group");
    }
    return dt_var_const_take(
        trace, PyUnicode_FromFormat("%U (%u sub-exception%s)", text, count, count > 1 ? "s" : ""),
        out);
}

/* ---- except* --------------------------------------------------------------------------------- */

DtStatus
dt_group_match(DtTrace *trace, DtVar *exception, bool whole, DtVar *wanted, DtVar **match,
               DtVar **rest)
{
    if (whole) {
        *match = exception;
        *rest = dt_none(trace);
        return is_group(exception) ? DT_OK : wrap_unnamed(trace, &exception, 1, match);
    }
    *match = dt_none(trace);
    *rest = exception;
    if (!is_group(exception)) {
        return DT_OK;
    }
    PyObject *name;
    DtVar *method, *pair, **parts;
    uint32_t count;
    DtArgs args = dt_args_of(&wanted, 1);
    DT_TRY(intern(trace, "split", &name));
    DT_TRY(dt_var_getattr(trace, exception, name, &method));
    DT_TRY(dt_var_call(trace, method, &args, &pair));
    DT_TRY(dt_var_realize(trace, pair, &pair));
    if (pair->type->kind != DT_KIND_TUPLE || ((DtSeqVar *)pair)->count != 2) {
        return dt_break(trace, DT_BREAK_EXCEPTION_HANDLER, "split() of a group gives no pair");
    }
    DT_TRY(dt_var_unpack(trace, pair, &parts, &count));
    DT_TRY(dt_var_realize(trace, parts[0], match));
    /* Nothing of it matches: the exception itself goes on. */
    return dt_var_peek_constant(*match) != Py_None ? dt_var_realize(trace, parts[1], rest) : DT_OK;
}

/* Whether it still has the traceback, cause and context of the other: it was not raised anew. */
static DtStatus
is_unchanged(DtTrace *trace, DtVar *one, DtVar *other, bool *out)
{
    DtVar *tracebacks[2];
    DT_TRY(dt_exception_traceback(trace, one, &tracebacks[0]));
    DT_TRY(dt_exception_traceback(trace, other, &tracebacks[1]));
    const DtExceptionState *a = ((DtInstanceVar *)one)->exception;
    const DtExceptionState *b = ((DtInstanceVar *)other)->exception;
    *out = dt_var_peek(tracebacks[0]) == dt_var_peek(tracebacks[1]) && a->cause == b->cause
           && a->context == b->context && a->context_unknown == b->context_unknown;
    return DT_OK;
}

/* Appends the exceptions in it that are no groups. */
static DtStatus
collect_leaves(DtTrace *trace, DtVar *exception, DtVar *list)
{
    if (!is_group(exception)) {
        DtVar **grown;
        DtSeqVar *leaves = (DtSeqVar *)list;
        if (leaves->count == leaves->capacity) {
            grown = DT_ARENA_ARRAY(&trace->arena, DtVar *, 2 * (size_t)leaves->capacity + 8);
            if (grown == NULL) {
                return dt_no_memory();
            }
            for (uint32_t i = 0; i < leaves->count; i++) {
                grown[i] = leaves->items[i];
            }
            leaves->items = grown;
            leaves->capacity = 2 * leaves->capacity + 8;
        }
        leaves->items[leaves->count++] = exception;
        return DT_OK;
    }
    DtVar **items;
    uint32_t count;
    DT_TRY(read_items(trace, exception, &items, &count));
    for (uint32_t i = 0; i < count; i++) {
        DT_TRY(collect_leaves(trace, items[i], list));
    }
    return DT_OK;
}

DtStatus
dt_group_prepare_reraise(DtTrace *trace, DtVar *original, DtSeqVar *raised, DtVar **out)
{
    DtVar **anew = DT_ARENA_ARRAY(&trace->arena, DtVar *, (size_t)raised->count + 2), *leaves;
    uint32_t count = 0;
    if (anew == NULL) {
        return dt_no_memory();
    }
    *out = dt_none(trace);
    if (raised->count > 0 && !is_group(original)) {
        /* It was wrapped for the one clause that took it. */
        return dt_var_realize(trace, raised->items[0], out);
    }
    DT_TRY(dt_var_list(trace, NULL, 0, &leaves));
    for (uint32_t i = 0; i < raised->count; i++) {
        DtVar *one;
        bool unchanged;
        DT_TRY(dt_var_realize(trace, raised->items[i], &one));
        if (dt_var_peek_constant(one) == Py_None) {
            continue;
        }
        if (!dt_exception_is_new(one)) {
            return dt_break(trace, DT_BREAK_EXCEPTION_HANDLER, "except* of an existing exception");
        }
        DT_TRY(is_unchanged(trace, one, original, &unchanged));
        if (unchanged) {
            DT_TRY(collect_leaves(trace, one, leaves));
        }
        else {
            anew[count++] = one;
        }
    }
    Matcher matcher = {.leaves = ((DtSeqVar *)leaves)->items,
                       .nleaves = ((DtSeqVar *)leaves)->count};
    if (matcher.nleaves > 0) {
        DtVar *kept, *rest;
        DT_TRY(split(trace, original, &matcher, &kept, &rest));
        if (kept != NULL) {
            anew[count++] = kept;
        }
    }
    if (count > 0) {
        *out = anew[0];
    }
    return count > 1 ? wrap_unnamed(trace, anew, count, out) : DT_OK;
}
