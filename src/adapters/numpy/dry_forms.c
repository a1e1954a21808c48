/* The handlers of rows without a rule: which forms of a function a dry run may stand for. See
 * dry.h.
 */
#include "adapters/numpy/dry.h"
#include "adapters/numpy/index.h"

#include <stdio.h>
#include <string.h>

#include "variables/kinds.h"

/* Functions that write an argument, and how many arguments come by place before one can say so. */
static const struct {
    DtNpOp op;
    uint32_t before;
} writers[] = {
    {DT_NP_choose, 2},      {DT_NP_nan_to_num, 1}, {DT_NP_nanargmax, 2},     {DT_NP_nanargmin, 2},
    {DT_NP_nancumprod, 3},  {DT_NP_nancumsum, 3},  {DT_NP_nanmax, 2},        {DT_NP_nanmean, 3},
    {DT_NP_nanmedian, 2},   {DT_NP_nanmin, 2},     {DT_NP_nanpercentile, 3}, {DT_NP_nanprod, 3},
    {DT_NP_nanquantile, 3}, {DT_NP_nanstd, 3},     {DT_NP_nansum, 3},        {DT_NP_nanvar, 3},
    {DT_NP_percentile, 3},  {DT_NP_quantile, 3},
};

/* Is a function told, or may it be, to write an argument? */
static bool
may_write(DtNpOp op, const DtArgs *args)
{
    static const char *const options[] = {"out", "overwrite_input", "copy", NULL};
    for (uint32_t i = 0; i < args->nkw; i++) {
        if (dt_kinds_is_among(args->kwnames[i], options)) {
            return true;
        }
    }
    for (size_t i = 0; i < Py_ARRAY_LENGTH(writers); i++) {
        if (writers[i].op == op) {
            return args->npos > writers[i].before;
        }
    }
    return false;
}

/* Calls the row's own function; `how` says what is known of its results. */
static DtStatus
call_row(DtTrace *trace, DtNpOp op, DtNpDry how, const DtArgs *args, DtVar **out)
{
    PyObject *callee = dt_np_callee(op);
    how.trace = trace;
    how.op = op;
    how.function = dt_np_target(op);
    return callee != NULL ? dt_np_dry_call(&how, callee, args, out) : DT_ERROR;
}

static const struct Form {
    DtNpOp op;
    const char *argument;
} forms[] = {
#define NP_DRY_WITH(NAME, ARGUMENT) {DT_NP_##NAME, ARGUMENT},
#include "adapters/numpy/ops.def"
};

int
dt_np_dry_form(const char *name, const DtArgs *args)
{
    for (size_t i = 0; i < Py_ARRAY_LENGTH(forms); i++) {
        for (uint32_t j = 0; j < args->nkw; j++) {
            if (strcmp(dt_np_name(forms[i].op), name) == 0
                && PyUnicode_CompareWithASCIIString(args->kwnames[j], forms[i].argument) == 0) {
                return (int)forms[i].op;
            }
        }
    }
    return -1;
}


/* Methods that are the functions of their names; of dates and texts as those take them. */
static DtStatus
call_as_function(DtTrace *trace, DtNpOp op, DtNpFunction rule, DtArrayVar *self, const DtArgs *args,
                 DtVar **out)
{
    DtArgs with_self;
    DT_TRY(dt_args_prepend(trace, args, &self->base, &with_self));
    return self->adapter == &dt_np_called_adapter
               ? dt_np_call_any_dtype(trace, op, rule, &with_self, out)
               : rule(trace, op, &with_self, out);
}

#define METHOD(NAME, RULE)                                                                         \
    DtStatus dt_np_m_##NAME(DtTrace *trace, DtArrayVar *self, const DtArgs *args, DtVar **out)     \
    {                                                                                              \
        return call_as_function(trace, DT_NP_##NAME, RULE, self, args, out);                       \
    }
METHOD(argpartition, dt_np_fn_dry)
METHOD(choose, dt_np_fn_dry)
METHOD(searchsorted, dt_np_fn_dry)
METHOD(nonzero, dt_np_fn_counted)
#undef METHOD

/* The function takes the condition first. */
DtStatus
dt_np_m_compress(DtTrace *trace, DtArrayVar *self, const DtArgs *args, DtVar **out)
{
    DtVar *both[2];
    if (args->npos != 1 || args->nkw > 0) {
        return dt_break(trace, DT_BREAK_ARRAY_OP, "compress with such arguments");
    }
    both[0] = args->pos[0];
    both[1] = &self->base;
    DtArgs turned = {.pos = both, .npos = 2};
    return dt_np_fn_counted(trace, DT_NP_compress, &turned, out);
}

/* delete() and insert() at places of which an array tells: there may be one of them twice.  Without
 * an axis the result has one, which is as long as it may be. */
static DtStatus
at_places(DtTrace *trace, DtNpOp op, const DtArgs *args, const DtArrayVar *places, DtVar **out)
{
    if (args->nkw > 0 || args->npos != (op == DT_NP_insert ? 3 : 2) || places->meta->ndim > 1) {
        return dt_break(trace, DT_BREAK_ARRAY_OP, "%s at places that depend on data",
                        dt_np_target(op));
    }
    return call_row(trace, op, (DtNpDry){.open = 1}, args, out);
}

DtStatus
dt_np_fn_dry(DtTrace *trace, DtNpOp op, const DtArgs *args, DtVar **out)
{
    if (may_write(op, args)) {
        return dt_break(trace, DT_BREAK_ARRAY_OP, "%s into an argument", dt_np_target(op));
    }
    if ((op == DT_NP_delete || op == DT_NP_insert) && args->npos > 1) {
        DtVar *where;
        DT_TRY(dt_var_realize(trace, args->pos[1], &where));
        if (dt_np_array_of(where) != NULL) {
            return at_places(trace, op, args, dt_np_array_of(where), out);
        }
    }
    return call_row(trace, op, (DtNpDry){0}, args, out);
}

/* outer() of two arrays is taken apart; *out stays NULL if that is not what is asked for. */
static DtStatus
take_outer_apart(DtTrace *trace, DtNpOp op, const DtArgs *args, DtVar **out)
{
    DtArrayVar *arrays[2];
    *out = NULL;
    if (args->npos != 2 || args->nkw > 0) {
        return DT_OK;
    }
    for (int i = 0; i < 2; i++) {
        DtVar *var;
        DT_TRY(dt_var_realize(trace, args->pos[i], &var));
        arrays[i] = dt_np_array_of(var);
        if (arrays[i] == NULL || arrays[i]->meta->type != &PyArray_Type
            || arrays[i]->meta->ndim == 0) {
            return DT_OK;
        }
    }
    return arrays[0]->meta->ndim + arrays[1]->meta->ndim <= DT_NP_MAXDIMS
               ? dt_np_outer(trace, op, arrays, out)
               : DT_OK;
}

/* Methods of ufuncs that make new arrays.  Errors of arithmetic are flags, which the run tells. */
DtStatus
dt_np_call_ufunc_method(DtTrace *trace, DtNpOp op, const char *method, PyObject *callable,
                        const DtArgs *args, DtVar **out)
{
    static const struct {
        const char *name;
        uint32_t before_out; /* arguments by place */
    } methods[] = {{"accumulate", 3}, {"reduceat", 4}, {"outer", 2}, {"reduce", 3}};
    char function[80];
    snprintf(function, sizeof(function), "%s.%s", dt_np_target(op), method);
    for (size_t i = 0; i < Py_ARRAY_LENGTH(methods); i++) {
        if (strcmp(methods[i].name, method) != 0) {
            continue;
        }
        if (may_write(op, args) || args->npos > methods[i].before_out) {
            return dt_break(trace, DT_BREAK_ARRAY_OP, "%s into an argument", function);
        }
        if (strcmp(method, "outer") == 0) {
            DT_TRY(take_outer_apart(trace, op, args, out));
            if (*out != NULL) {
                return DT_OK;
            }
        }
        DtNpDry dry = {.trace = trace, .op = op, .function = function};
        return dt_np_dry_call(&dry, callable, args, out);
    }
    return dt_break(trace, DT_BREAK_ARRAY_OP, "%s is not captured", function);
}

/* Reductions with initial= or where=; `self`: of a method. */
DtStatus
dt_np_call_dry(DtTrace *trace, DtNpOp op, DtVar *self, const DtArgs *args, DtVar **out)
{
    DtArgs with_self = *args;
    if (self != NULL) {
        DT_TRY(dt_args_prepend(trace, args, self, &with_self));
    }
    return dt_np_fn_dry(trace, op, &with_self, out);
}

/* Which results of unique() have the sizes of its argument: those that say where to find an item.
 * *plain = false: other options than unique's flags. */
static DtStatus
read_unique_options(DtTrace *trace, DtNpOp op, const DtArgs *args, uint32_t *alike, bool *plain)
{
    static const char *const flags[] = {"return_index", "return_inverse", "return_counts"};
    bool set[3] = {false};
    *alike = op == DT_NP_unique_inverse ? 1u << 1 : op == DT_NP_unique_all ? 1u << 2 : 0;
    *plain = args->nkw == 0 || op == DT_NP_unique;
    for (uint32_t i = 0; i < args->nkw && *plain; i++) {
        DtVar *value;
        *plain = false;
        DT_TRY(dt_var_realize(trace, args->kw[i], &value));
        PyObject *constant = dt_var_peek_constant(value);
        for (uint32_t j = 0; j < 3 && constant != NULL && PyBool_Check(constant); j++) {
            if (PyUnicode_CompareWithASCIIString(args->kwnames[i], flags[j]) == 0) {
                set[j] = constant == Py_True;
                *plain = true;
            }
        }
    }
    if (set[1]) {
        *alike = 1u << (1 + set[0]);
    }
    return DT_OK;
}

/* The result has the sizes of the array, whatever they are, as long as only axes and the norm are
 * chosen. */
DtStatus
dt_np_fn_alike(DtTrace *trace, DtNpOp op, const DtArgs *args, DtVar **out)
{
    static const char *const choices[] = {"axis", "axes", "norm", NULL};
    bool alike = args->npos == 1;
    for (uint32_t i = 0; i < args->nkw && alike; i++) {
        alike = dt_kinds_is_among(args->kwnames[i], choices);
    }
    if (alike) {
        DtVar *var;
        DT_TRY(dt_var_realize(trace, args->pos[0], &var));
        const DtArrayVar *array = dt_np_array_of(var);
        alike = array != NULL && dt_np_is_ndarray(array);
        for (uint32_t axis = 0; alike && axis < array->meta->ndim; axis++) {
            alike = !dt_np_size_is(array->meta->shape[axis], 0);
        }
    }
    return alike ? call_row(trace, op, (DtNpDry){.counted = true, .alike = 1}, args, out)
                 : dt_np_fn_dry(trace, op, args, out);
}

/* Of each text by itself, together with what is known, whatever size the array has. */
DtStatus
dt_np_fn_texts(DtTrace *trace, DtNpOp op, const DtArgs *args, DtVar **out)
{
    bool alike = args->npos > 0;
    for (uint32_t i = 0; i < args->npos + args->nkw && alike; i++) {
        DtVar *var;
        DT_TRY(
            dt_var_realize(trace, i < args->npos ? args->pos[i] : args->kw[i - args->npos], &var));
        const DtArrayVar *array = i == 0 ? dt_np_any_array(var) : NULL;
        alike = i == 0 ? array != NULL && dt_np_is_ndarray(array)
                       : dt_var_peek_constant(dt_var_peek(var)) != NULL;
        for (uint32_t axis = 0; alike && i == 0 && axis < array->meta->ndim; axis++) {
            alike = !dt_np_size_is(array->meta->shape[axis], 0);
        }
    }
    return alike ? call_row(trace, op, (DtNpDry){.counted = true, .alike = 1}, args, out)
                 : dt_np_fn_dry(trace, op, args, out);
}

/* The second result is as long as the data says: residuals of lstsq() are there or not, leading
 * zeros of the remainder of polydiv() are dropped. */
DtStatus
dt_np_fn_second_open(DtTrace *trace, DtNpOp op, const DtArgs *args, DtVar **out)
{
    return call_row(trace, op, (DtNpDry){.open = 1u << 1}, args, out);
}

/* unique() along the first axis: how many rows are different, the data say; *done false: that is
 * not asked for. */
static DtStatus
unique_rows(DtTrace *trace, DtNpOp op, const DtArgs *args, bool *done, DtVar **out)
{
    static const char *const flags[] = {"return_index", "return_inverse", "return_counts"};
    uint32_t open = 1, result = 1;
    bool set[3] = {false};
    *done = false;
    for (uint32_t i = 0; i < args->nkw; i++) {
        DtVar *value;
        DT_TRY(dt_var_realize(trace, args->kw[i], &value));
        PyObject *constant = dt_var_peek_constant(dt_var_peek(value));
        if (PyUnicode_CompareWithASCIIString(args->kwnames[i], "axis") == 0) {
            *done = op == DT_NP_unique && args->npos == 1 && constant != NULL
                    && PyLong_CheckExact(constant) && PyLong_AsLong(constant) == 0;
            PyErr_Clear(); /* of an int that is no axis */
        }
        for (uint32_t j = 0; j < 3; j++) {
            set[j] = set[j]
                     || (PyUnicode_CompareWithASCIIString(args->kwnames[i], flags[j]) == 0
                         && constant == Py_True);
        }
    }
    for (uint32_t j = 0; j < 3; j++) { /* the inverse is as long as the array */
        open |= set[j] && j != 1 ? 1u << result : 0;
        result += set[j];
    }
    return *done ? call_row(trace, op, (DtNpDry){.open = open}, args, out) : DT_OK;
}

/* How many items come out depends on the data: one symbol, which no guard can ask for.  Options
 * may change more than that. */
DtStatus
dt_np_fn_counted(DtTrace *trace, DtNpOp op, const DtArgs *args, DtVar **out)
{
    static const struct {
        DtNpOp op;
        uint32_t arguments;
    } rows[] = {
        {DT_NP_compress, 2},  {DT_NP_extract, 2},     {DT_NP_union1d, 2},
        {DT_NP_setdiff1d, 2}, {DT_NP_intersect1d, 2}, {DT_NP_setxor1d, 2},
    };
    uint32_t most = 1;
    for (size_t i = 0; i < Py_ARRAY_LENGTH(rows); i++) {
        most = rows[i].op == op ? rows[i].arguments : most;
    }
    uint32_t alike;
    bool plain;
    DT_TRY(unique_rows(trace, op, args, &plain, out));
    if (plain) {
        return DT_OK;
    }
    DT_TRY(read_unique_options(trace, op, args, &alike, &plain));
    DtVar **pos = DT_ARENA_ARRAY(&trace->arena, DtVar *, args->npos + 1);
    if (pos == NULL) {
        return dt_no_memory();
    }
    plain = plain && args->npos == most;
    for (uint32_t i = 0; i < args->npos && plain; i++) {
        pos[i] = args->pos[i];
        DT_TRY(dt_np_array_like(trace, &pos[i]));
        const DtArrayVar *array = dt_np_any_array(pos[i]);
        plain = array != NULL && array->meta->ndim > 0;
        for (uint32_t axis = 0; plain && axis < array->meta->ndim; axis++) {
            plain = !dt_np_size_is(array->meta->shape[axis], 0);
        }
    }
    if (!plain) {
        return dt_break(trace, DT_BREAK_ARRAY_OP, "%s in this form", dt_np_target(op));
    }
    DtArgs arrays = *args;
    arrays.pos = pos;
    const DtArrayVar *only = dt_np_any_array(pos[0]);
    bool one = op == DT_NP_nonzero && only != NULL && only->meta->ndim == 1; /* a tuple of one */
    op = one ? DT_NP_flatnonzero : op;
    DtNpDry how = {.counted = true, .alike = alike};
    if (op == DT_NP_flatnonzero || op == DT_NP_nonzero || op == DT_NP_argwhere) {
        DT_TRY(dt_np_count_of_mask(trace, only, &how.count));
    }
    DT_TRY(call_row(trace, op, how, &arrays, out));
    return one ? dt_var_tuple(trace, out, 1, out) : DT_OK;
}

/* As long as the largest number says, whatever the other arguments are. */
DtStatus
dt_np_fn_bincount(DtTrace *trace, DtNpOp op, const DtArgs *args, DtVar **out)
{
    DtVar *first = args->npos > 0 ? args->pos[0] : NULL;
    if (first != NULL) {
        DT_TRY(dt_np_array_like(trace, &first));
    }
    const DtArrayVar *array = first != NULL ? dt_np_array_of(first) : NULL;
    if (array == NULL || array->meta->ndim != 1 || dt_np_size_is(array->meta->shape[0], 0)) {
        return dt_break(trace, DT_BREAK_ARRAY_OP, "%s in this form", dt_np_target(op));
    }
    DtArgs rest = {.pos = args->pos + 1,
                   .npos = args->npos - 1,
                   .kw = args->kw,
                   .kwnames = args->kwnames,
                   .nkw = args->nkw},
           whole;
    DT_TRY(dt_args_prepend(trace, &rest, first, &whole));
    return call_row(trace, op, (DtNpDry){.counted = true}, &whole, out);
}

/* About dtypes: the values of arrays and their sizes do not matter. */
DtStatus
dt_np_fn_about(DtTrace *trace, DtNpOp op, const DtArgs *args, DtVar **out)
{
    DtNpDry how = {.counted = op != DT_NP_einsum_path, .about = true};
    return call_row(trace, op, how, args, out);
}

/* With copy=False the array itself is written, and comes back. */
DtStatus
dt_np_fn_nan_to_num(DtTrace *trace, DtNpOp op, const DtArgs *args, DtVar **out)
{
    DtArgs rest = *args;
    DtVar *copy = NULL, *target;
    rest.kw = DT_ARENA_ARRAY(&trace->arena, DtVar *, args->nkw + 1);
    rest.kwnames = DT_ARENA_ARRAY(&trace->arena, PyObject *, args->nkw + 1);
    if (rest.kw == NULL || rest.kwnames == NULL) {
        return dt_no_memory();
    }
    rest.nkw = 0;
    for (uint32_t i = 0; i < args->nkw; i++) {
        if (PyUnicode_CompareWithASCIIString(args->kwnames[i], "copy") == 0) {
            DT_TRY(dt_var_realize(trace, args->kw[i], &copy));
            continue;
        }
        rest.kw[rest.nkw] = args->kw[i];
        rest.kwnames[rest.nkw++] = args->kwnames[i];
    }
    PyObject *given = copy != NULL ? dt_var_peek_constant(dt_var_peek(copy)) : Py_True;
    if (args->npos != 1 || given != Py_False) {
        return dt_np_fn_dry(trace, op, given == Py_True ? &rest : args, out);
    }
    DT_TRY(dt_var_realize(trace, args->pos[0], &target));
    const DtArrayVar *array = dt_np_array_of(target);
    if (array == NULL || !dt_np_is_ndarray(array) || array->meta->ndim == 0) { /* gives a scalar */
        return dt_break(trace, DT_BREAK_ARRAY_OP, "%s of such a %s", dt_np_target(op),
                        dt_var_peek(target)->type->name);
    }
    DT_TRY(dt_np_fn_dry(trace, op, &rest, out));
    return dt_np_put_into(trace, target, dt_np_target(op), out);
}

/* The product of vectors of two items is deprecated, and says so. */
DtStatus
dt_np_fn_cross(DtTrace *trace, DtNpOp op, const DtArgs *args, DtVar **out)
{
    for (uint32_t i = 0; i < args->npos && i < 2; i++) {
        DtVar *var;
        bool three = false;
        DT_TRY(dt_var_realize(trace, args->pos[i], &var));
        const DtArrayVar *array = dt_np_array_of(var);
        if (array != NULL && array->meta->ndim > 0) {
            DT_TRY(dt_np_decide_int(trace, DT_SYM_OP_EQ, array->meta->shape[array->meta->ndim - 1],
                                    3, &three));
        }
        if (!three || args->npos != 2 || args->nkw > 0) {
            return dt_break(trace, DT_BREAK_ARRAY_OP, "%s of anything but two arrays of 3 columns",
                            dt_np_target(op));
        }
    }
    return dt_np_fn_dry(trace, op, args, out);
}

/* ---- Results that are no arrays, or of which little is known --------------------------------- */

DtStatus
dt_np_m_tobytes(DtTrace *trace, DtArrayVar *self, const DtArgs *args, DtVar **out)
{
    DtArgs with_self;
    if (!dt_np_is_ndarray(self)) {
        return dt_break(trace, DT_BREAK_ARRAY_OP, "tobytes of a NumPy scalar");
    }
    DT_TRY(dt_args_prepend(trace, args, &self->base, &with_self));
    return dt_np_fn_told(trace, DT_NP_nd_tobytes, &with_self, out);
}

/* A number or a text, whatever the sizes are. */
DtStatus
dt_np_fn_told(DtTrace *trace, DtNpOp op, const DtArgs *args, DtVar **out)
{
    return call_row(trace, op, (DtNpDry){.counted = true, .any_type = true}, args, out);
}

/* The same, with the options that the trace has set. */
DtStatus
dt_np_fn_printed(DtTrace *trace, DtNpOp op, const DtArgs *args, DtVar **out)
{
    if (trace->printing == NULL || PyTuple_GET_SIZE(trace->printing) == 0) {
        return dt_np_fn_told(trace, op, args, out);
    }
    DtVar *options;
    DtArgs with_name, whole;
    DtNpDry dry = {.trace = trace,
                   .op = op,
                   .function = dt_np_target(DT_NP_printed),
                   .counted = true,
                   .any_type = true};
    PyObject *callee = dt_np_callee(DT_NP_printed);
    PyObject *text = dt_trace_keep_take(trace, PyUnicode_InternFromString(dt_np_name(op)));
    if (callee == NULL || text == NULL) {
        return DT_ERROR;
    }
    DT_TRY(dt_var_const(trace, text, &options));
    DT_TRY(dt_args_prepend(trace, args, options, &with_name));
    DT_TRY(dt_build_known(trace, trace->printing, &options));
    DT_TRY(dt_args_prepend(trace, &with_name, options, &whole));
    return dt_np_dry_call(&dry, callee, &whole, out);
}

/* The memory of the arrays counts, not the values that were written there last. */
DtStatus
dt_np_fn_shares(DtTrace *trace, DtNpOp op, const DtArgs *args, DtVar **out)
{
    for (uint32_t i = 0; i < args->npos; i++) {
        DtVar *var;
        DT_TRY(dt_var_realize(trace, args->pos[i], &var));
        DtArrayVar *array = dt_np_array_of(var);
        if (array != NULL) {
            array->content = NULL;
        }
    }
    return dt_np_fn_told(trace, op, args, out);
}

/* Is the first argument an array of complex numbers? And its dimensions; 0: it is no array. */
static DtStatus
look_at_first(DtTrace *trace, const DtArgs *args, bool *imaginary, uint32_t *ndim)
{
    *imaginary = false;
    *ndim = 0;
    if (args->npos > 0) {
        DtVar *var;
        DT_TRY(dt_var_realize(trace, args->pos[0], &var));
        const DtArrayVar *array = dt_np_array_of(var);
        if (array != NULL) {
            *imaginary = PyTypeNum_ISCOMPLEX(dt_np_descr(array->meta->dtype)->type_num);
            *ndim = array->meta->ndim;
        }
    }
    return DT_OK;
}

/* The data choose the dtype or the size: arrays of which nothing else is known. */
DtStatus
dt_np_fn_late(DtTrace *trace, DtNpOp op, const DtArgs *args, DtVar **out)
{
    return call_row(trace, op, (DtNpDry){.counted = true, .any_type = true, .late = true}, args,
                    out);
}

/* Of a matrix by its eigenvalues; complex zeros in pairs make a real polynomial. */
DtStatus
dt_np_fn_poly(DtTrace *trace, DtNpOp op, const DtArgs *args, DtVar **out)
{
    bool imaginary;
    uint32_t ndim;
    DT_TRY(look_at_first(trace, args, &imaginary, &ndim));
    return !imaginary && ndim == 1 ? dt_np_fn_dry(trace, op, args, out)
                                   : dt_np_fn_late(trace, op, args, out);
}

/* Edges come in a list, which is put together again here. */
DtStatus
dt_np_fn_histogramdd(DtTrace *trace, DtNpOp op, const DtArgs *args, DtVar **out)
{
    DtVar **items, *pair[2];
    uint32_t count;
    bool many;
    PyObject *callee = dt_np_callee(DT_NP_flat_histogramdd);
    DtNpDry dry = {.trace = trace, .op = op, .function = dt_np_target(op)};
    if (callee == NULL) {
        return DT_ERROR;
    }
    DT_TRY(dt_np_dry_call(&dry, callee, args, out));
    DT_TRY(dt_np_items(trace, *out, &items, &count, &many));
    pair[0] = items[0];
    DT_TRY(dt_var_list(trace, items + 1, count - 1, &pair[1]));
    return dt_var_tuple(trace, pair, 2, out);
}

/* asarray(), and a node that raises for infinities and NaN: then NumPy raises, plainly. */
DtStatus
dt_np_fn_asarray_chkfinite(DtTrace *trace, DtNpOp op, const DtArgs *args, DtVar **out)
{
    DtVar *ignored;
    (void)op;
    DT_TRY(dt_np_fn_asarray(trace, DT_NP_asarray, args, out));
    const DtArrayVar *array = dt_np_array_of(*out);
    if (array == NULL) {
        return dt_break(trace, DT_BREAK_ARRAY_OP, "asarray_chkfinite of a %s", (*out)->type->name);
    }
    int type_num = dt_np_descr(array->meta->dtype)->type_num;
    if (!PyTypeNum_ISFLOAT(type_num) && !PyTypeNum_ISCOMPLEX(type_num)) {
        return DT_OK;
    }
    DtOperand operand = dt_np_node(array);
    PyObject *callee = dt_np_callee(DT_NP_all_finite);
    return callee != NULL ? dt_number_emit(trace, dt_np_target(DT_NP_all_finite), callee, &operand,
                                           1, 'b', &ignored)
                          : DT_ERROR;
}
