/* Functions that read a file or a text: the graph calls what stands for them in
 * python/dyntrace/_numpy_files.py, which raises where reading again would not be the same.
 *
 *   np.load(path) ──► _numpy_files.load(path) ──► an array of which only the type is known
 *   np.fromfile(path, "i4") ──► a vector of that dtype, as long as the file says
 *
 * Of a path or text that comes from outside only the type is guarded, so that another file finds
 * the same entry.  Not in here: open files and other objects in a path's place, options that call
 * the program or of which NumPy may warn (graph breaks).
 */
#include "adapters/numpy/dry.h"

#include <string.h>

#include "variables/kinds.h"

#define MOST_NAMES 10

static const struct Reader {
    DtNpOp op, stand_in;
    bool vector;      /* the result has one dimension, of the dtype that was asked for */
    bool floats_only; /* of other dtypes it may warn */
    uint32_t most;    /* arguments by place */
    const char *names[MOST_NAMES + 1];
} readers[] = {
    {DT_NP_load, DT_NP_file_load, false, false, 1, {"file"}},
    {DT_NP_loadtxt,
     DT_NP_file_loadtxt,
     false,
     true,
     2,
     {"fname", "dtype", "comments", "delimiter", "skiprows", "usecols", "unpack", "ndmin",
      "max_rows", "encoding"}},
    {DT_NP_genfromtxt,
     DT_NP_file_genfromtxt,
     false,
     false,
     2,
     {"fname", "dtype", "comments", "delimiter", "skip_header", "skip_footer", "names", "usecols",
      "max_rows", "encoding"}},
    {DT_NP_fromregex, DT_NP_file_fromregex, false, false, 3, {"file", "regexp", "dtype"}},
    {DT_NP_fromfile, DT_NP_file_fromfile, true, false, 2, {"file", "dtype", "count", "offset"}},
    {DT_NP_fromstring, DT_NP_file_fromstring, true, false, 2, {"string", "dtype", "sep"}},
};

static const struct Reader *
reader_of(DtNpOp op)
{
    const struct Reader *reader = readers;
    while (reader->op != op) {
        reader++;
    }
    return reader;
}

/* The name of an argument, or NULL: it is none that the reader takes. */
static const char *
name_of(const struct Reader *reader, const DtArgs *args, uint32_t i)
{
    if (i < args->npos) {
        return i < reader->most ? reader->names[i] : NULL;
    }
    for (uint32_t j = 1; j < MOST_NAMES && reader->names[j] != NULL; j++) {
        if (PyUnicode_CompareWithASCIIString(args->kwnames[i - args->npos], reader->names[j])
            == 0) {
            return reader->names[j];
        }
    }
    return NULL;
}

/* The operands: the text first, then constants.  *dtype: the one that is asked for, or float's. */
static DtStatus
read_arguments(DtNpDry *dry, const struct Reader *reader, const DtArgs *args, DtOperand *operands,
               PyObject **dtype)
{
    PyObject *text, *example;
    if (args->npos == 0) {
        return dt_break(dry->trace, DT_BREAK_ARRAY_OP, "%s without positional arguments",
                        dry->function);
    }
    DT_TRY(dt_np_unread(dry->trace, args->pos[0], &PyUnicode_Type, true, &operands[0], &text));
    if (text == NULL) {
        return dt_break(dry->trace, DT_BREAK_ARRAY_OP, "%s of what is no text", dry->function);
    }
    *dtype = NULL;
    for (uint32_t i = 1; i < args->npos + args->nkw; i++) {
        const char *name = name_of(reader, args, i);
        if (name == NULL) {
            return dt_break(dry->trace, DT_BREAK_ARRAY_OP, "%s with such arguments", dry->function);
        }
        DtVar *var = i < args->npos ? args->pos[i] : args->kw[i - args->npos];
        DT_TRY(dt_np_dry_operand(dry, var, 0, &operands[i], &example));
        Py_DECREF(example); /* the trace keeps constants */
        if (strcmp(name, "dtype") == 0 && (reader->vector || reader->floats_only)) {
            DT_TRY(dt_var_realize(dry->trace, var, &var));
            DT_TRY(dt_np_any_dtype_arg(dry->trace, dry->function, dt_var_peek(var), dtype));
        }
    }
    if (PyList_GET_SIZE(dry->dummies) > 0) {
        return dt_break(dry->trace, DT_BREAK_ARRAY_OP, "%s with an array", dry->function);
    }
    *dtype = *dtype != NULL ? *dtype : dt_np_dtype(NPY_DOUBLE); /* None was given */
    return *dtype != NULL ? DT_OK : DT_ERROR;
}

/* A new vector of that dtype, as long as what is read says. */
static DtStatus
vector_of(DtTrace *trace, PyObject *dtype, DtMeta *out)
{
    const DtSym *counted;
    DtMeta *meta = dt_np_meta(trace, dtype, 1);
    if (meta == NULL) {
        return DT_ERROR;
    }
    DT_TRY(dt_trace_symbol(trace, NULL, DT_SYM_INT, (DtNumber){.i = 2}, &counted));
    meta->shape[0] = counted;
    DT_TRY(dt_np_fresh_c(trace, meta));
    *out = *meta;
    return DT_OK;
}

static DtStatus
emit(DtNpDry *dry, const struct Reader *reader, const DtArgs *args, DtVar **out)
{
    DtMeta meta = {.adapter = &dt_number_adapter, .type = &PyArray_Type};
    PyObject *dtype, *kwnames;
    uint32_t nargs = args->npos + args->nkw;
    DtOperand *operands = DT_ARENA_ARRAY(&dry->trace->arena, DtOperand, nargs + 1);
    if (operands == NULL) {
        return dt_no_memory();
    }
    DT_TRY(read_arguments(dry, reader, args, operands, &dtype));
    bool floats = (PyTypeNum_ISFLOAT(dt_np_descr(dtype)->type_num)
                   || PyTypeNum_ISCOMPLEX(dt_np_descr(dtype)->type_num));
    if (reader->floats_only && !floats) {
        return dt_break(dry->trace, DT_BREAK_ARRAY_OP, "%s of such a dtype", dry->function);
    }
    if (reader->vector && dt_np_dtype_captured(dt_np_descr(dtype))
        && PyArray_ISNBO(dt_np_descr(dtype)->byteorder)) {
        DT_TRY(vector_of(dry->trace, dtype, &meta));
    }
    DT_TRY(dt_args_kwnames(dry->trace, args, &kwnames));
    DtCallSpec spec = {
        .target = dt_np_target(reader->stand_in),
        .callee = dt_np_callee(reader->stand_in),
        .args = operands,
        .nargs = nargs,
        .kwnames = kwnames,
        .results = &meta,
        .nresults = 1,
    };
    return spec.callee != NULL ? dt_np_emit(dry->trace, &spec, out) : DT_ERROR;
}

DtStatus
dt_np_fn_reads(DtTrace *trace, DtNpOp op, const DtArgs *args, DtVar **out)
{
    DtNpDry dry = {
        .trace = trace,
        .op = op,
        .function = dt_np_target(op),
        .counted = true,
        .any_type = true,
    };
    dry.dummies = PyList_New(0);
    DtStatus status = dry.dummies != NULL ? emit(&dry, reader_of(op), args, out) : DT_ERROR;
    Py_XDECREF(dry.dummies);
    return status;
}
