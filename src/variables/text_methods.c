/* The methods of strings that ask objects for their text: join(), format() and %.
 *
 * Not in here: that text (text.c).
 */
#include "variables/text.h"

#include <string.h>

#include "variables/fold.h"
#include "variables/numbers/array_numbers.h"
#include "variables/proxy.h"

/* The same with a known text before the values. */
static DtStatus
text_with_form(DtTrace *trace, const char *function, PyObject *form, DtVar *const *vars,
               uint32_t count, DtVar **out)
{
    DtVar **all = DT_ARENA_ARRAY(&trace->arena, DtVar *, count + 1);
    if (all == NULL) {
        return dt_no_memory();
    }
    DT_TRY(dt_var_const(trace, form, &all[0]));
    memcpy(all + 1, vars, sizeof(all[0]) * count);
    return dt_text_of_arrays(trace, function, all, count + 1, out);
}

DtStatus
dt_text_join(DtTrace *trace, PyObject *separator, DtVar *const *parts, uint32_t count, DtVar **out)
{
    for (uint32_t i = 0; i < count; i++) {
        PyObject *known = dt_var_as_constant(trace, parts[i]);
        if (!dt_text_in_graph(trace, parts[i]) && (known == NULL || !PyUnicode_CheckExact(known))) {
            return PyErr_Occurred() ? DT_ERROR
                                    : dt_break(trace, DT_BREAK_MISSING_SLOT,
                                               "a text with a part that is not constant");
        }
    }
    return text_with_form(trace, "joined", separator, parts, count, out);
}

/* Asks a function of dyntrace._texts about a form. */
static DtStatus
ask_about(PyObject *form, const char *function, bool *out)
{
    PyObject *module = PyImport_ImportModule("dyntrace._texts");
    PyObject *answer = module != NULL ? PyObject_CallMethod(module, function, "O", form) : NULL;
    *out = answer == Py_True;
    Py_XDECREF(module);
    Py_XDECREF(answer);
    return answer != NULL ? DT_OK : DT_ERROR;
}

/* join() of something that is no string: what the exception names. */
static DtStatus
fail_join(DtTrace *trace, PyObject *method, DtSeqVar *parts)
{
    PyObject *list = PyList_New(parts->count);
    DtStatus status = list != NULL ? DT_OK : DT_ERROR;
    for (uint32_t i = 0; i < parts->count && status == DT_OK; i++) {
        PyObject *value = NULL;
        status = dt_fold_stand_in(trace, parts->items[i], &value);
        if (value != NULL) {
            PyList_SET_ITEM(list, i, value);
        }
    }
    PyObject *result = status == DT_OK ? PyObject_CallOneArg(method, list) : NULL;
    Py_XDECREF(list);
    DT_TRY(status);
    if (result == NULL) {
        return dt_raise_from_exception(trace);
    }
    Py_DECREF(result);
    return dt_break(trace, DT_BREAK_MISSING_SLOT, "join() of strings that are not known");
}

/* join() goes through any iterable; what it finds there must be known. */
static DtStatus
call_join(DtTrace *trace, PyObject *method, PyObject *receiver, const DtArgs *args, DtVar **out)
{
    DtVar *parts, **items;
    uint32_t count;
    PyObject *known;
    DT_TRY(dt_var_realize(trace, args->pos[0], &parts));
    PyTypeObject *type = dt_var_python_type(trace, parts);
    if (type != NULL && type->tp_iter == NULL
        && (type->tp_as_sequence == NULL || type->tp_as_sequence->sq_item == NULL)) {
        return dt_fold_failure(trace, method, args);
    }
    if (parts->type->kind != DT_KIND_LIST && parts->type->kind != DT_KIND_TUPLE) {
        DT_TRY(dt_collect_fast(trace, parts, &items, &count));
        DT_TRY(dt_var_list(trace, items, count, &parts));
    }
    DT_TRY(dt_fold_value(trace, parts, &known));
    if (known == NULL && PyUnicode_CheckExact(receiver)) {
        DtSeqVar *sequence = (DtSeqVar *)parts;
        bool arrays;
        DT_TRY(dt_array_among(trace, sequence->items, sequence->count, &arrays));
        if (arrays) {
            return dt_text_join(trace, receiver, sequence->items, sequence->count, out);
        }
    }
    if (known == NULL) {
        return fail_join(trace, method, (DtSeqVar *)parts);
    }
    Py_DECREF(known);
    DtArgs one = dt_args_of(&parts, 1);
    return dt_fold_call(trace, method, receiver, &one, out);
}

/* format() and format_map() with objects whose text is followed. */
static DtStatus
call_format(DtTrace *trace, PyObject *method, const DtArgs *args, DtVar **out)
{
    PyObject *form = PyCFunction_GET_SELF(method);
    bool arrays, plain;
    DT_TRY(dt_array_among(trace, args->pos, args->npos, &arrays));
    if (arrays && args->nkw == 0 && PyUnicode_CheckExact(form)
        && strcmp(((PyCFunctionObject *)method)->m_ml->ml_name, "format") == 0) {
        DT_TRY(ask_about(form, "only_formats", &plain));
        return plain ? text_with_form(trace, "filled", form, args->pos, args->npos, out)
                     : dt_break(trace, DT_BREAK_ARRAY_TO_SCALAR,
                                "a format that looks into the array");
    }
    DtProxyRun run = {trace, DT_OK};
    PyObject *values = PyTuple_New(args->npos);
    PyObject *keywords = PyDict_New();
    bool failed = values == NULL || keywords == NULL;
    for (uint32_t i = 0; i < args->npos + args->nkw && !failed; i++) {
        DtVar *arg = i < args->npos ? args->pos[i] : args->kw[i - args->npos];
        PyObject *value = dt_proxy_value(&run, arg);
        failed = value == NULL || dt_fold_put_argument(args, i, value, values, keywords) != DT_OK;
    }
    PyObject *text = failed ? NULL : PyObject_Call(method, values, keywords);
    Py_XDECREF(values);
    Py_XDECREF(keywords);
    if (text == NULL) {
        DT_TRY(dt_proxy_finish(&run));
        return DT_ERROR;
    }
    return dt_var_const_take(trace, text, out);
}

static bool
all_known(DtTrace *trace, const DtArgs *args, DtStatus *status)
{
    for (uint32_t i = 0; i < args->npos + args->nkw; i++) {
        PyObject *value;
        DtVar *arg = i < args->npos ? args->pos[i] : args->kw[i - args->npos];
        *status = dt_fold_value(trace, arg, &value);
        if (*status != DT_OK || value == NULL) {
            return false;
        }
        Py_DECREF(value);
    }
    return true;
}

DtStatus
dt_text_call_method(DtTrace *trace, PyObject *method, PyObject *receiver, const DtArgs *args,
                    DtVar **out)
{
    bool text = PyUnicode_CheckExact(receiver) || PyBytes_CheckExact(receiver);
    if (text && PyCFunction_CheckExact(method)) {
        const char *name = ((PyCFunctionObject *)method)->m_ml->ml_name;
        if (strcmp(name, "join") == 0 && args->npos == 1 && args->nkw == 0) {
            return call_join(trace, method, receiver, args, out);
        }
        DtStatus status = DT_OK;
        if ((strcmp(name, "format") == 0 || strcmp(name, "format_map") == 0)
            && !all_known(trace, args, &status)) {
            return status != DT_OK ? status : call_format(trace, method, args, out);
        }
    }
    return dt_fold_call(trace, method, receiver, args, out);
}

/* Numbers are converted; of arrays, and of complex numbers, NumPy warns there. */
static bool
needs_plain_form(DtVar *var)
{
    const DtArrayVar *array = (const DtArrayVar *)dt_var_peek(var);
    const DtAdapter *adapter = dt_text_is_array(var) ? array->adapter : NULL;
    char kind =
        adapter != NULL && adapter->number_kind != NULL ? adapter->number_kind(array->meta) : 0;
    return adapter != NULL && (kind == 0 || kind == 'c');
}

/* The values of a format, among which is an array; *done: there is one. */
static DtStatus
percent_of_arrays(DtTrace *trace, PyObject *format, DtVar *var, bool *done, DtVar **out)
{
    bool tuple = var->type->kind == DT_KIND_TUPLE, plain = true;
    DtVar *const *items = tuple ? ((DtSeqVar *)var)->items : &var;
    uint32_t count = tuple ? ((DtSeqVar *)var)->count : 1;
    DT_TRY(dt_array_among(trace, items, count, done));
    if (!*done) {
        return DT_OK;
    }
    for (uint32_t i = 0; i < count && plain; i++) {
        plain = !needs_plain_form(items[i]);
    }
    if (!plain) {
        DT_TRY(ask_about(format, "only_texts", &plain));
    }
    return plain ? text_with_form(trace, tuple ? "percent" : "percent_of_one", format, items, count,
                                  out)
                 : dt_break(trace, DT_BREAK_ARRAY_TO_SCALAR, "a format that converts an array");
}

/* A tuple of known values and proxies. */
static PyObject *
proxy_tuple(DtProxyRun *run, DtSeqVar *tuple)
{
    PyObject *values = PyTuple_New(tuple->count);
    for (uint32_t i = 0; values != NULL && i < tuple->count; i++) {
        PyObject *value = dt_proxy_value(run, tuple->items[i]);
        if (value == NULL) {
            Py_CLEAR(values);
            break;
        }
        PyTuple_SET_ITEM(values, i, value);
    }
    return values;
}

DtStatus
dt_text_percent(DtTrace *trace, PyObject *format, DtVar *var, DtVar **out)
{
    DtProxyRun run = {trace, DT_OK};
    PyObject *known;
    bool done;
    DT_TRY(dt_var_realize(trace, var, &var));
    if (PyUnicode_CheckExact(format)) {
        DT_TRY(percent_of_arrays(trace, format, var, &done, out));
        if (done) {
            return DT_OK;
        }
    }
    DT_TRY(dt_fold_value(trace, var, &known));
    if (known != NULL) {
        PyObject *method = PyObject_GetAttrString(format, "__mod__");
        PyObject *args = method != NULL ? PyTuple_Pack(1, known) : NULL;
        Py_DECREF(known);
        DtStatus status =
            args != NULL ? dt_fold_objects(trace, method, format, args, NULL, out) : DT_ERROR;
        Py_XDECREF(args);
        Py_XDECREF(method);
        return status;
    }
    PyObject *value = var->type->kind == DT_KIND_TUPLE ? proxy_tuple(&run, (DtSeqVar *)var)
                                                       : dt_proxy_value(&run, var);
    PyObject *text = value != NULL ? PyNumber_Remainder(format, value) : NULL;
    Py_XDECREF(value);
    if (text == NULL) {
        DT_TRY(dt_proxy_finish(&run));
        return DT_ERROR;
    }
    return dt_var_const_take(trace, text, out);
}
