/* f-strings of constants, and the simple questions of match statements. */
#include "symbolic/frame.h"

/* Types whose str(), repr() and format() are CPython's own and run no user code. */
static bool
is_plain(PyObject *value)
{
    PyTypeObject *type = Py_TYPE(value);
    return type == &PyUnicode_Type || type == &PyLong_Type || type == &PyFloat_Type
           || type == &PyBool_Type || type == &PyComplex_Type || type == &PyBytes_Type
           || value == Py_None;
}

static DtStatus
get_plain(DtTrace *trace, DtVar *var, const char *doing, PyObject **out)
{
    *out = dt_var_as_constant(trace, var);
    if (*out != NULL && is_plain(*out)) {
        return DT_OK;
    }
    if (PyErr_Occurred()) {
        return DT_ERROR;
    }
    DtStrbuf text = {0};
    dt_var_repr(var, &text);
    DtStatus status =
        dt_break(trace, DT_BREAK_MISSING_SLOT, "%s of %s", doing, dt_strbuf_text(&text));
    dt_strbuf_release(&text);
    return status;
}

static DtStatus
push_text(DtTrace *trace, DtFrame *frame, DT_STEALS PyObject *text)
{
    DtVar *var;
    if (text == NULL) {
        return dt_break_from_exception(trace);
    }
    DT_TRY(dt_var_const_take(trace, text, &var));
    dt_frame_push(frame, var);
    return DT_OK;
}

DtStatus
dt_op_convert_value(DtTrace *trace, DtFrame *frame, const DtInstr *instr)
{
    static PyObject *(*const convert[])(PyObject *) = {
        NULL,
        PyObject_Str,
        PyObject_Repr,
        PyObject_ASCII,
    };
    PyObject *value;
    DT_TRY(get_plain(trace, *dt_frame_at(frame, 1), "str()", &value));
    (void)dt_frame_pop(frame);
    return push_text(trace, frame, convert[instr->arg](value));
}

DtStatus
dt_op_format_simple(DtTrace *trace, DtFrame *frame, const DtInstr *instr)
{
    (void)instr;
    PyObject *value;
    DT_TRY(get_plain(trace, *dt_frame_at(frame, 1), "format()", &value));
    (void)dt_frame_pop(frame);
    return push_text(trace, frame, PyObject_Format(value, NULL));
}

DtStatus
dt_op_format_with_spec(DtTrace *trace, DtFrame *frame, const DtInstr *instr)
{
    (void)instr;
    PyObject *value, *spec;
    DT_TRY(get_plain(trace, *dt_frame_at(frame, 2), "format()", &value));
    DT_TRY(get_plain(trace, *dt_frame_at(frame, 1), "format()", &spec));
    frame->sp -= 2;
    return push_text(trace, frame, PyObject_Format(value, spec));
}

DtStatus
dt_op_get_len(DtTrace *trace, DtFrame *frame, const DtInstr *instr)
{
    (void)instr;
    DtVar *length;
    DT_TRY(dt_var_length(trace, *dt_frame_at(frame, 1), &length));
    dt_frame_push(frame, length);
    return DT_OK;
}

/* Which pattern a type matches is one of its flags. */
static DtStatus
match_flag(DtTrace *trace, DtFrame *frame, unsigned long flag)
{
    DtVar *var, *answer;
    DT_TRY(dt_var_realize(trace, *dt_frame_at(frame, 1), &var));
    PyTypeObject *type = dt_var_python_type(trace, var);
    if (type == NULL) {
        return dt_break(trace, DT_BREAK_UNKNOWN_TYPE, "a pattern on a value of unknown type");
    }
    DT_TRY(dt_var_bool(trace, (type->tp_flags & flag) != 0, &answer));
    dt_frame_push(frame, answer);
    return DT_OK;
}

DtStatus
dt_op_match_mapping(DtTrace *trace, DtFrame *frame, const DtInstr *instr)
{
    (void)instr;
    return match_flag(trace, frame, Py_TPFLAGS_MAPPING);
}

DtStatus
dt_op_match_sequence(DtTrace *trace, DtFrame *frame, const DtInstr *instr)
{
    (void)instr;
    return match_flag(trace, frame, Py_TPFLAGS_SEQUENCE);
}
