/* Special methods that C defines, called by name: list.__len__(x), super().__init__(),
 * object.__setattr__(obj, name, value), and the inherited operators of subclasses of builtin types.
 *
 *   of object, type   ─► a row that does what the default does
 *   of a builtin type ─► a row that asks the slot of the value's tracker (an
 *                        instance's payload)
 *
 * Not in here: the rows (slot_rows.h), the protocols (dispatch.c, instance_ops.c).
 */
#include <string.h>

#include "compat/type.h"
#include "variables/classes/array_part.h"
#include "variables/fold.h"
#include "variables/pure.h"
#include "variables/text.h"
#include "variables/classes/slot_rows.h"

const DtSlotRow *
dt_slot_row_find(const DtSlotRow *rows, PyObject *name)
{
    while (rows->name != NULL && PyUnicode_CompareWithASCIIString(name, rows->name) != 0) {
        rows++;
    }
    return rows->name != NULL ? rows : NULL;
}

/* What object defines is its own, whatever the type has in its place: comparisons go by identity;
 * of the rest the slots of the type know only what the type inherits. */
static const DtSlotRow *
row_of_object(DtTrace *trace, DtVar *self, PyObject *descriptor)
{
    PyObject *name = ((PyDescrObject *)descriptor)->d_name;
    PyTypeObject *type = dt_var_python_type(trace, self);
    const DtSlotRow *row = dt_slot_row_of_object(name);
    bool compares = row != NULL && row->sort == DT_SLOT_COMPARISON;
    if (self->type->kind == DT_KIND_INSTANCE || compares) {
        return row;
    }
    bool inherits = type != NULL && dt_type_lookup(type, name) == descriptor;
    return inherits ? dt_slot_row_of_builtins(name) : NULL;
}

/* What the real wrapper does with an operand that the slot does not know: NotImplemented, or the
 * exception of a sequence's operator. */
static DtStatus
ask_wrapper(DtTrace *trace, const char *name, DtVar *self, DtVar *other, DtVar **out)
{
    PyObject *a = NULL, *b = NULL, *result = NULL;
    *out = dt_not_implemented(trace);
    if (dt_var_peek(other)->type->kind == DT_KIND_ARRAY) {
        return DT_OK;
    }
    DtStatus status = dt_fold_stand_in(trace, self, &a);
    if (status == DT_OK) {
        status = dt_fold_stand_in(trace, other, &b);
    }
    if (status == DT_OK) {
        result = PyObject_CallMethod(a, name, "(O)", b);
        if (result == NULL) {
            status = dt_raise_from_exception(trace);
        }
        else if (result != Py_NotImplemented) {
            status = dt_break(trace, DT_BREAK_MISSING_SLOT, "%s of a %s", name, self->type->name);
        }
    }
    Py_XDECREF(result);
    Py_XDECREF(a);
    Py_XDECREF(b);
    return status;
}

static bool
row_fits(const DtSlotRow *row, const DtArgs *args)
{
    return row->max_args < 0
           || (args->nkw == 0 && args->npos >= (uint32_t)row->min_args
               && args->npos <= (uint32_t)row->max_args);
}

static DtStatus
call_row(DtTrace *trace, const DtSlotRow *row, DtVar *self, const DtArgs *args, DtVar **out)
{
    if (!row_fits(row, args)) {
        bool is_callable = self->type->kind == DT_KIND_BUILTIN || self->type->kind == DT_KIND_CLASS;
        return is_callable ? dt_break(trace, DT_BREAK_CALL_MISMATCH, "%s() of a %s", row->name,
                                      dt_kinds_type_name(trace, self))
                           : dt_kinds_mismatch(trace, self, row->name, args);
    }
    DT_TRY(row->call(trace, row, self, args, out));
    bool is_operator = row->sort == DT_SLOT_OPERATOR;
    return is_operator && *out == dt_not_implemented(trace) && !dt_slot_is_number(trace, self)
               ? ask_wrapper(trace, row->name, self, args->pos[0], out)
               : DT_OK;
}

/* What the descriptor's own type is responsible for: the whole value, or an instance's payload. */
static DtVar *
subject_of(DtTrace *trace, DtVar *self, PyObject *descriptor, PyTypeObject *of)
{
    PyObject *name = ((PyDescrObject *)descriptor)->d_name;
    PyTypeObject *type = dt_var_python_type(trace, self);
    DtVar *payload = dt_payload_of(self);
    if (of == &PyBaseObject_Type || of == &PyType_Type
        || (payload == self
            && (type == of
                || (type != NULL && dt_type_lookup(type, name) == descriptor
                    && (self->type->kind == DT_KIND_TUPLE /* a named tuple */
                        || !(type->tp_flags & Py_TPFLAGS_HEAPTYPE)))))) {
        return self;
    }
    if (payload != self) {
        return PyType_IsSubtype(dt_build_layout(((DtInstanceVar *)self)->cls), of) ? payload : NULL;
    }
    return NULL;
}

/* Whether the text of instances says their class, as that of sets and ordered dicts does. */
static bool
names_its_class(const DtVar *subject, PyTypeObject *of)
{
    return subject->type->kind == DT_KIND_SET || dt_payload_is_own(of);
}

/* The result is the builtin part: list.__iadd__ and its like give the object itself; of what can't
 * change, a plain object is made, as float.__pos__ and tuple.__getitem__ do. */
static DtStatus
give_itself(DtTrace *trace, DtVar *self, DtVar *subject, DtVar **out)
{
    if (dt_var_is_mutable(subject)) {
        *out = self;
        return DT_OK;
    }
    if (subject->type->kind == DT_KIND_TUPLE) {
        return dt_var_tuple(trace, ((DtSeqVar *)subject)->items, ((DtSeqVar *)subject)->count, out);
    }
    if (subject->type->kind == DT_KIND_SYMBOLIC) {
        return dt_var_sym(trace, ((DtSymVar *)subject)->sym,
                          out); /* not the object it was made of */
    }
    if (subject->source != NULL && subject->source == self->source) {
        return dt_break(trace, DT_BREAK_MISSING_SLOT, "the plain value of a %s",
                        dt_kinds_type_name(trace, self));
    }
    return DT_OK;
}

static bool
is_format_without_spec(DtTrace *trace, PyObject *name, const DtArgs *args)
{
    PyObject *spec =
        args->npos == 1 && args->nkw == 0 ? dt_var_as_constant(trace, args->pos[0]) : NULL;
    return spec != NULL && PyUnicode_CheckExact(spec) && PyUnicode_GET_LENGTH(spec) == 0
           && PyUnicode_CompareWithASCIIString(name, "__format__") == 0;
}

DtStatus
dt_inherited_call(DtTrace *trace, PyObject *descriptor, const DtArgs *args, DtVar **out)
{
    PyTypeObject *of = ((PyDescrObject *)descriptor)->d_type;
    PyObject *name = ((PyDescrObject *)descriptor)->d_name;
    const char *text = dt_kinds_text(name);
    DtVar *self;
    PyTypeObject *type = args->npos > 0 ? dt_var_python_type(trace, args->pos[0]) : NULL;
    if (args->npos == 0 || (type != NULL && !PyType_IsSubtype(type, of))) {
        return dt_fold_failure(trace, descriptor, args);
    }
    DT_TRY(dt_var_realize(trace, args->pos[0], &self));
    if (self->type->kind == DT_KIND_INSTANCE && dt_payload_is_hidden(of)) {
        return dt_break(trace, DT_BREAK_UNKNOWN_CALLABLE, "%s.%s(), which has no polyfill",
                        of->tp_name, text);
    }
    DtArgs rest = *args;
    rest.pos++;
    rest.npos--;
    if (self->type->kind == DT_KIND_BYTEARRAY && of == &PyByteArray_Type) {
        return dt_bytearray_call(trace, self, descriptor, &rest, out);
    }
    const DtArrayPart *part = self->type->kind == DT_KIND_INSTANCE ? dt_array_part_of(of) : NULL;
    if (part != NULL && dt_array_part_find((DtInstanceVar *)self) == part) {
        return part->call(trace, (DtInstanceVar *)self, descriptor, &rest, out);
    }
    if (dt_exception_is(self) && PyExceptionClass_Check((PyObject *)of)) {
        return dt_exception_call(trace, self, descriptor, &rest, out);
    }
    if (Py_IS_TYPE(descriptor, &PyWrapperDescr_Type)) {
        void *wrapped = ((PyWrapperDescrObject *)descriptor)->d_wrapped;
        if (wrapped == (void *)PyObject_GenericGetAttr
            || wrapped == (void *)PyObject_GenericSetAttr) {
            of = &PyBaseObject_Type; /* under another name */
        }
    }
    if (self->type->kind == DT_KIND_INSTANCE && is_format_without_spec(trace, name, &rest)) {
        return dt_text_str(trace, self, out); /* of everything but the exact builtin type */
    }
    PyTypeObject *layout =
        self->type->kind == DT_KIND_INSTANCE ? dt_build_layout(((DtInstanceVar *)self)->cls) : NULL;
    if (layout != NULL && layout != of && dt_payload_is_own(layout)
        && dt_type_lookup(layout, name) != descriptor) {
        /* dict.__delitem__(ordered, key): behind the back of what OrderedDict keeps beside. */
        return dt_break(trace, DT_BREAK_UNKNOWN_CALLABLE, "%s.%s() of a %s", of->tp_name, text,
                        dt_kinds_type_name(trace, self));
    }
    DtVar *subject = subject_of(trace, self, descriptor, of);
    if (subject != NULL && subject != self && names_its_class(subject, of)
        && (PyUnicode_CompareWithASCIIString(name, "__repr__") == 0
            || PyUnicode_CompareWithASCIIString(name, "__str__") == 0)) {
        return dt_break(trace, DT_BREAK_MISSING_SLOT, "the text of a %s",
                        dt_kinds_type_name(trace, self));
    }
    if (subject != NULL && subject->type->kind == DT_KIND_OPAQUE
        && dt_pure_is(((DtObjectVar *)subject)->object)) {
        return dt_pure_call(trace, descriptor, args, out); /* this very slot, not its operator */
    }
    const DtSlotRow *row = NULL;
    if (subject != NULL && subject != self) {
        bool done;
        DT_TRY(dt_payload_method(trace, of, name, (DtInstanceVar *)self, &rest, &done, out));
        if (done) {
            return DT_OK;
        }
    }
    if (subject != NULL) {
        bool is_class = self->type->kind == DT_KIND_CLASS;
        row = of == &PyBaseObject_Type ? row_of_object(trace, self, descriptor)
              : of == &PyType_Type     ? (is_class ? dt_slot_row_of_type(name) : NULL)
                                       : dt_slot_row_of_builtins(name);
    }
    bool is_method = Py_IS_TYPE(descriptor, &PyMethodDescr_Type);
    const DtMethodRow *method =
        is_method && subject != NULL ? dt_kinds_find_method(subject->type, name) : NULL;
    if (self->type->kind == DT_KIND_INSTANCE
        && (method != NULL ? !dt_kinds_row_fits(method, &rest)
                           : row != NULL && !row_fits(row, &rest))) {
        /* It names the class that defines it, or that of an object that it is bound to. */
        return dt_break(trace, DT_BREAK_CALL_MISMATCH, "%s.%s() of a %s", of->tp_name, text,
                        dt_kinds_type_name(trace, self));
    }
    if (method != NULL) {
        DT_TRY(dt_kinds_call_row(trace, subject, method, &rest, out));
    }
    else if (row != NULL && dt_payload_is_own(of) && !DT_BINARY_IS_INPLACE(row->op)
             && row->sort == DT_SLOT_OPERATOR) {
        /* `|` of an OrderedDict or defaultdict makes another one. */
        return dt_break(trace, DT_BREAK_MISSING_SLOT, "%s.%s()", of->tp_name, text);
    }
    else if (row != NULL) {
        DtStatus status = call_row(trace, row, subject, &rest, out);
        /* `|=` of an OrderedDict has texts of its own for what is no mapping. */
        DT_TRY(dt_payload_is_own(of) && row->sort == DT_SLOT_OPERATOR
                   ? dt_raised_break_if(trace, status)
                   : dt_payload_raised(trace, status, self, subject));
    }
    else if (is_method && subject != NULL && subject->type->kind != DT_KIND_INSTANCE
             && subject->type->kind != DT_KIND_CLASS) {
        DtVar *bound;
        DT_TRY(dt_var_getattr(trace, subject, name, &bound));
        DtStatus status = dt_var_call(trace, bound, &rest, out);
        if (of != type && status == DT_RAISE && dt_raised_matches(trace, PyExc_TypeError)) {
            return dt_raised_break(trace); /* it may name the class, which is another one here */
        }
        DT_TRY(status);
        if (subject != self && dt_var_peek_constant(*out) == dt_var_peek_constant(subject)
            && (PyUnicode_CompareWithASCIIString(name, "format") == 0
                || PyUnicode_CompareWithASCIIString(name, "format_map") == 0)) {
            /* Other methods give a plain copy; a format without fields is the object itself. */
            return dt_break(trace, DT_BREAK_MISSING_SLOT, "a format without fields");
        }
    }
    else {
        return dt_break(trace, DT_BREAK_UNKNOWN_CALLABLE, "%s.%s() of a %s", of->tp_name, text,
                        dt_kinds_type_name(trace, self));
    }
    return *out == subject && subject != self ? give_itself(trace, self, subject, out) : DT_OK;
}

PyObject *
dt_slot_method_find(PyTypeObject *type, PyObject *name)
{
    PyObject *found =
        type != NULL && PyUnicode_READ_CHAR(name, 0) == '_' ? dt_type_lookup(type, name) : NULL;
    if (found == NULL
        || !(Py_IS_TYPE(found, &PyWrapperDescr_Type) || Py_IS_TYPE(found, &PyMethodDescr_Type))) {
        return NULL;
    }
    return dt_slot_row_of_builtins(name) != NULL ? found : NULL;
}
