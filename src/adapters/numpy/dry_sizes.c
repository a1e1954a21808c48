/* Dry runs of arrays whose sizes depend on data.
 *
 *   np.append(x[mask], 0)   dummies of 5, 10 and 17 items ─► results of 6, 11 and 18: one more
 *
 * Each size that depends on data is another number in each of three runs.  A size of the result
 * that is the same in all of them is a constant, one that goes with a size of an argument is that
 * and an offset, of any other nothing is known.  That is a guess, so the call of the graph is one
 * that looks at what came out (shaped.c): if it is of another form, the run
 * is dropped, and the call is made again plainly.
 */
#include "adapters/numpy/dry.h"

#include <string.h>

#include "adapters/numbers.h"

#define RUNS 3

/* What a symbol without a source is in a run: no two go up alike. */
static int64_t
value_of_symbol(uint32_t id, uint32_t run)
{
    static const int64_t first[RUNS] = {5, 9, 14}, each[RUNS] = {1, 2, 4};
    return first[run] + each[run] * (int64_t)(id % 8);
}

DtStatus
dt_np_dry_size(const DtNpDry *dry, const DtSym *size, npy_intp *out)
{
    DtTrace *trace = dry->trace;
    *out = (npy_intp)size->hint.i;
    if (dry->counted || !dt_trace_depends_on_data(trace, size)) {
        return DT_OK;
    }
    DtNumber *values = DT_ARENA_ARRAY(&trace->arena, DtNumber, trace->symbols.count);
    DtNumber value;
    if (values == NULL) {
        return dt_no_memory();
    }
    for (uint32_t id = 0; id < trace->symbols.count; id++) {
        const DtSymbol *symbol = &trace->symbols.items[id];
        values[id] =
            symbol->source != NULL ? symbol->hint : (DtNumber){.i = value_of_symbol(id, dry->run)};
    }
    if (!dt_sym_eval(size, values, &value) || value.i <= 0 || value.i > INT16_MAX) {
        return dt_break(trace, DT_BREAK_DATA_SIZE, "%s of such a selection", dry->function);
    }
    *out = (npy_intp)value.i;
    return DT_OK;
}

DtStatus
dt_np_dry_open(DtNpDry *dry, const DtSym *size)
{
    for (uint32_t i = 0; i < dry->nsizes; i++) {
        if (dt_sym_equal(dry->sizes[i], size)) {
            return DT_OK;
        }
    }
    if (dry->nsizes == Py_ARRAY_LENGTH(dry->sizes)) {
        return dt_break(dry->trace, DT_BREAK_DATA_SIZE, "%s of so many selections", dry->function);
    }
    dry->sizes[dry->nsizes++] = size;
    return DT_OK;
}

/* ---- What came out --------------------------------------------------------------------------- */

/* The size that an axis had in each run. */
static DtStatus
learn_size(DtNpDry *dry, const npy_intp *seen, const DtSym **out)
{
    DtTrace *trace = dry->trace;
    if (seen[0] == seen[1] && seen[0] == seen[2]) {
        *out = dt_np_size(trace, seen[0]);
        return *out != NULL ? DT_OK : DT_ERROR;
    }
    for (uint32_t i = 0; i < dry->nsizes; i++) {
        npy_intp offset[RUNS];
        for (uint32_t run = 0; run < RUNS; run++) {
            dry->run = run;
            DT_TRY(dt_np_dry_size(dry, dry->sizes[i], &offset[run]));
            offset[run] = seen[run] - offset[run];
        }
        if (offset[0] == offset[1] && offset[0] == offset[2]) {
            return dt_np_offset(trace, dry->sizes[i], offset[0], out);
        }
    }
    return dt_trace_symbol(trace, NULL, DT_SYM_INT, (DtNumber){.i = 2}, out);
}

static bool
owns_memory(PyObject *array)
{
    return PyArray_CHKFLAGS((PyArrayObject *)array, NPY_ARRAY_OWNDATA);
}

/* Of one type, dtype and number of axes, and no argument? */
static bool
is_alike(const DtNpDry *dry, PyObject *a, PyObject *b)
{
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(dry->dummies); i++) {
        if (PyList_GET_ITEM(dry->dummies, i) == b) {
            return false;
        }
    }
    if (Py_TYPE(a) != Py_TYPE(b) || !PyArray_Check(a)) {
        return Py_TYPE(a) == Py_TYPE(b);
    }
    PyArrayObject *one = (PyArrayObject *)a, *other = (PyArrayObject *)b;
    return PyArray_NDIM(one) == PyArray_NDIM(other)
           && PyArray_EquivTypes(PyArray_DESCR(one), PyArray_DESCR(other))
           && owns_memory(a) == owns_memory(b);
}

static PyObject *
item_of(PyObject *result, uint32_t i)
{
    return PyTuple_Check(result) ? PyTuple_GET_ITEM(result, i) : result;
}

/* Sizes of result `i`, from what came out in each run. */
static DtStatus
learn_result(DtNpDry *dry, PyObject *const *results, uint32_t i, DtMeta *out)
{
    PyObject *first = item_of(results[0], i);
    bool open = dry->open & (1u << i),
         known = PyArray_Check(first) || out->dtype != NULL || dt_number_kind_of(out) != 0;
    for (uint32_t run = 0; run < RUNS && known; run++) {
        known = Py_TYPE(results[run]) == Py_TYPE(results[0])
                && is_alike(dry, first, item_of(results[run], i));
    }
    if (!known || (PyArray_Check(first) && out->dtype == NULL)) {
        return dt_break(dry->trace, DT_BREAK_DATA_SIZE, "%s of such a selection", dry->function);
    }
    for (uint32_t axis = open ? 1 : 0; axis < out->ndim; axis++) {
        npy_intp sizes[RUNS];
        for (uint32_t run = 0; run < RUNS; run++) {
            sizes[run] = PyArray_DIM((PyArrayObject *)item_of(results[run], i), (int)axis);
        }
        DT_TRY(learn_size(dry, sizes, &out->shape[axis]));
    }
    return out->ndim > 0 && (out->layout & DT_LAYOUT_FRESH) ? dt_np_fresh(dry->trace, out, NULL)
                                                            : DT_OK;
}

/* ---- The call that looks at what came out ---------------------------------------------------- */

/* The form of a result, as shaped.c has it. */
static DtStatus
form_operand(DtTrace *trace, const DtMeta *meta, DtOperand *out)
{
    DtOperand none = dt_np_const(Py_None);
    DtOperand form[4] = {dt_np_const((PyObject *)meta->type), none, none, none};
    DtOperand sizes[DT_NP_MAXDIMS];
    if (meta->type == &PyArray_Type) {
        form[1] = dt_np_const(meta->dtype);
        for (uint32_t i = 0; i < meta->ndim; i++) {
            bool found = !dt_trace_depends_on_data(trace, meta->shape[i]);
            if (found) {
                DT_TRY(dt_np_size_operand(trace, meta->shape[i], &sizes[i]));
            }
            else {
                DT_TRY(dt_np_find_size(trace, meta->shape[i], &sizes[i], &found));
            }
            sizes[i] = found ? sizes[i] : none;
        }
        form[3] = dt_np_const(meta->layout & DT_LAYOUT_FRESH ? Py_True : Py_False);
        DT_TRY(dt_np_tuple_operand(trace, sizes, meta->ndim, &form[2]));
    }
    return dt_np_tuple_operand(trace, form, 4, out);
}

/* shaped(function, type of the tuple of results or None, forms, ...) */
static DtStatus
look_at_results(DtNpDry *dry, DtCallSpec *spec, PyObject *first, const DtMeta *results,
                uint32_t count)
{
    DtTrace *trace = dry->trace;
    DtOperand *args = DT_ARENA_ARRAY(&trace->arena, DtOperand, spec->nargs + 3);
    DtOperand forms[DT_NP_MAXARGS];
    PyObject *shaped = dt_number_function("dyntrace._core", "shaped");
    if (args == NULL) {
        return dt_no_memory();
    }
    if (shaped == NULL) {
        return DT_ERROR;
    }
    for (uint32_t i = 0; i < count; i++) {
        DT_TRY(form_operand(trace, &results[i], &forms[i]));
    }
    args[0] = dt_np_const(spec->callee);
    args[1] = dt_np_const(PyTuple_Check(first) ? (PyObject *)Py_TYPE(first) : Py_None);
    DT_TRY(dt_np_tuple_operand(trace, forms, count, &args[2]));
    memcpy(args + 3, spec->args, sizeof(args[0]) * spec->nargs);
    spec->args = args;
    spec->nargs += 3;
    spec->callee = shaped;
    spec->target = "dyntrace._core.shaped";
    return DT_OK;
}

DtStatus
dt_np_dry_learn_sizes(DtNpDry *dry, DtCallSpec *spec, DtOperand *operands, const DtArgs *args,
                      PyObject *first, DtMeta *results, uint32_t count)
{
    PyObject *seen[RUNS] = {first};
    DtStatus status = DT_OK;
    for (uint32_t run = 1; run < RUNS && status == DT_OK; run++) {
        dry->run = run;
        status =
            dt_np_dry_run_again(dry, DT_NP_DRY_ZEROS, spec->callee, operands, args, &seen[run]);
        if (status == DT_OK && seen[run] == NULL) {
            status =
                dt_break(dry->trace, DT_BREAK_DATA_SIZE, "%s of such a selection", dry->function);
        }
        if (status == DT_OK && PyTuple_Check(seen[run])
            && PyTuple_GET_SIZE(seen[run]) != (Py_ssize_t)count) {
            status =
                dt_break(dry->trace, DT_BREAK_DATA_SIZE, "%s of such a selection", dry->function);
        }
    }
    for (uint32_t i = 0; i < count && status == DT_OK; i++) {
        status = learn_result(dry, seen, i, &results[i]);
    }
    for (uint32_t run = 1; run < RUNS; run++) {
        Py_XDECREF(seen[run]);
    }
    return status == DT_OK ? look_at_results(dry, spec, first, results, count) : status;
}
