/* Views of dicts: they see every change of their dict.
 *
 * Not in here: iterating (v_iter.c).
 */
#include "variables/fold.h"

DtStatus
dt_dict_view(DtTrace *trace, DtDictVar *dict, int what, DtVar **out)
{
    DtDictViewVar *view = DT_KINDS_NEW(trace, DICT_VIEW, DtDictViewVar, NULL);
    if (view == NULL) {
        return DT_ERROR;
    }
    view->dict = dict;
    view->what = (uint8_t)what;
    *out = &view->base;
    return DT_OK;
}

static DtStatus
view_length(DtTrace *trace, DtVar *self, DtVar **out)
{
    return dt_var_int(trace, ((DtDictViewVar *)self)->dict->count, out);
}

static DtStatus
view_iter(DtTrace *trace, DtVar *self, DtVar **out)
{
    DtDictViewVar *view = (DtDictViewVar *)self;
    return dt_iter_dict(trace, view->dict, view->what, out);
}

static DtStatus
view_contains(DtTrace *trace, DtVar *self, DtVar *item, DtVar **out)
{
    DtDictViewVar *view = (DtDictViewVar *)self;
    return view->what == 0 ? dt_var_contains(trace, &view->dict->base, item, out)
                           : dt_kind_base.sq_contains(trace, self, item, out);
}

static PyTypeObject *
view_type(DtTrace *trace, DtVar *self)
{
    (void)trace;
    static PyTypeObject *const types[] = {&PyDictKeys_Type, &PyDictValues_Type, &PyDictItems_Type};
    return types[((DtDictViewVar *)self)->what];
}

static const char *const view_names[] = {"keys", "values", "items"};

static DtStatus
view_reconstruct(DtCodegen *codegen, DtVar *self)
{
    DtDictViewVar *view = (DtDictViewVar *)self;
    PyObject *name = PyUnicode_InternFromString(view_names[view->what]);
    name = dt_trace_keep_take(dt_codegen_trace(codegen), name);
    if (name == NULL) {
        return DT_ERROR;
    }
    DtVar *method;
    DT_TRY(dt_var_getattr(dt_codegen_trace(codegen), &view->dict->base, name, &method));
    DT_TRY(dt_codegen_push_callable_var(codegen, method));
    return dt_codegen_call(codegen, 0);
}

static DtStatus
view_children(DtTrace *trace, DtVar *self, DtStatus (*visit)(DtTrace *, DtVar *, void *), void *arg)
{
    return visit(trace, &((DtDictViewVar *)self)->dict->base, arg);
}

const DtVarType dt_kind_type_DICT_VIEW = {
    .kind = DT_KIND_DICT_VIEW,
    .sq_length = view_length,
    .sq_contains = view_contains,
    .tp_iter = view_iter,
    .python_type = view_type,
    .reconstruct = view_reconstruct,
    .children = view_children,
};
