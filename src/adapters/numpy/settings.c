/* NumPy's settings as state that entries are guarded by: the buffer's size, what is done about
 * floating-point errors, and whether a function is called for them.
 *
 * Each is a number, which a guard computes again and compares.  Functions that read them are known
 * while tracing; those that change them are polyfills, whose effect is made behind the graph (see
 * DtUnsettled), so that the guards' state is that of the whole graph.
 */
#include "adapters/numpy/internal.h"

#include <string.h>

static const char *const kinds[] = {"divide", "over", "under", "invalid"};
static const char *const modes[] = {"ignore", "warn", "raise", "call", "print", "log"};

static PyObject *
ask_numpy(const char *name)
{
    PyObject *function = dt_np_module_attr(name);
    return function != NULL ? PyObject_CallNoArgs(function) : NULL;
}

/* The four modes as one number, or -1 with an exception. */
static long
read_modes(PyObject *settings)
{
    long value = 0;
    for (size_t i = 0; i < Py_ARRAY_LENGTH(kinds); i++) {
        PyObject *mode = PyDict_GetItemString(settings, kinds[i]);
        size_t found = 0;
        while (found < Py_ARRAY_LENGTH(modes)
               && (mode == NULL || PyUnicode_CompareWithASCIIString(mode, modes[found]) != 0)) {
            found++;
        }
        if (found == Py_ARRAY_LENGTH(modes)) {
            PyErr_SetString(PyExc_ValueError, "numpy.geterr() gives something unknown");
            return -1;
        }
        value = value * (long)Py_ARRAY_LENGTH(modes) + (long)found;
    }
    return value;
}

long
dt_np_setting(int which)
{
    static const char *const functions[] = {
        [DT_NP_BUFFER_SIZE] = "getbufsize",
        [DT_NP_ERROR_MODES] = "geterr",
        [DT_NP_ERROR_CALL] = "geterrcall",
    };
    PyObject *value = ask_numpy(functions[which]);
    long number = value == NULL                ? -1
                  : which == DT_NP_BUFFER_SIZE ? PyLong_AsLong(value)
                  : which == DT_NP_ERROR_MODES ? read_modes(value)
                                               : value != Py_None;
    Py_XDECREF(value);
    return number;
}

void
dt_np_print_setting(int which, int32_t value, DtStrbuf *out)
{
    switch (which) {
    case DT_NP_BUFFER_SIZE:
        dt_strbuf_addf(out, "numpy.getbufsize() == %d", (int)value);
        break;
    case DT_NP_ERROR_MODES:
        dt_strbuf_add(out, "numpy.geterr() as it was");
        break;
    default:
        dt_strbuf_add(out, "numpy.geterrcall() is None");
    }
}

DtStatus
dt_np_guard_bufsize(DtTrace *trace)
{
    return dt_np_guard_setting(trace, DT_NP_BUFFER_SIZE, NULL);
}

static DtStatus
no_arguments(DtTrace *trace, DtNpOp op, const DtArgs *args)
{
    return args->npos + args->nkw > 0
               ? dt_break(trace, DT_BREAK_RAISES, "%s with arguments", dt_np_target(op))
               : DT_OK;
}

static DtStatus
need_settled(DtTrace *trace, DtNpOp op, DtUnsettled what)
{
    return trace->unsettled & what
               ? dt_break(trace, DT_BREAK_ARRAY_OP, "%s behind a change", dt_np_target(op))
               : DT_OK;
}

DtStatus
dt_np_fn_getbufsize(DtTrace *trace, DtNpOp op, const DtArgs *args, DtVar **out)
{
    long size;
    DT_TRY(no_arguments(trace, op, args));
    DT_TRY(need_settled(trace, op, DT_UNSETTLED_BITS));
    DT_TRY(dt_np_guard_setting(trace, DT_NP_BUFFER_SIZE, &size));
    return dt_var_int(trace, size, out);
}

/* The mode of one kind of error: what the trace has said, or what it was before. */
static DtStatus
mode_here(DtTrace *trace, PyObject *name, PyObject *before, DtVar **out)
{
    for (size_t i = 0; i < Py_ARRAY_LENGTH(kinds); i++) {
        unsigned bit = 1u << i;
        const char *said = trace->fp_region & bit           ? "ignore"
                           : !(trace->fp_region & bit << 4) ? NULL
                           : trace->fp_warned & bit         ? "warn"
                                                            : "raise";
        if (said != NULL && PyUnicode_CompareWithASCIIString(name, kinds[i]) == 0) {
            return dt_var_const_take(trace, PyUnicode_InternFromString(said), out);
        }
    }
    return dt_var_const(trace, before, out);
}

DtStatus
dt_np_fn_geterr(DtTrace *trace, DtNpOp op, const DtArgs *args, DtVar **out)
{
    DtVar *pairs[2 * Py_ARRAY_LENGTH(kinds)];
    uint32_t count = 0;
    PyObject *name, *mode;
    Py_ssize_t at = 0;
    DT_TRY(no_arguments(trace, op, args));
    DT_TRY(dt_np_guard_setting(trace, DT_NP_ERROR_MODES, NULL));
    PyObject *settings = dt_trace_keep_take(trace, ask_numpy("geterr"));
    if (settings == NULL) {
        return DT_ERROR;
    }
    while (PyDict_Next(settings, &at, &name, &mode) && count < Py_ARRAY_LENGTH(pairs)) {
        DT_TRY(dt_var_const(trace, name, &pairs[count++]));
        DT_TRY(mode_here(trace, name, mode, &pairs[count++]));
    }
    return dt_var_dict(trace, pairs, count / 2, out);
}

DtStatus
dt_np_fn_geterrcall(DtTrace *trace, DtNpOp op, const DtArgs *args, DtVar **out)
{
    long set;
    DT_TRY(no_arguments(trace, op, args));
    DT_TRY(need_settled(trace, op, DT_UNSETTLED_CALL));
    DT_TRY(dt_np_guard_setting(trace, DT_NP_ERROR_CALL, &set));
    return set ? dt_break(trace, DT_BREAK_ARRAY_OP, "%s that is set", dt_np_target(op))
               : dt_var_const(trace, Py_None, out);
}
