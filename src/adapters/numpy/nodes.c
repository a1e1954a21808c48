/* From trackers to operands, and from operands and metadata to graph nodes.
 *
 * Not in here: what the metadata of a result is (shapes.c and the handlers).
 */
#include "adapters/numpy/internal.h"

#include <string.h>

/* ---- Operands -------------------------------------------------------------------------------- */

DtArrayVar *
dt_np_array_of(DtVar *var)
{
    if (var == NULL) {
        return NULL;
    }
    var = dt_var_peek(var);
    if (var->type->kind != DT_KIND_ARRAY || ((DtArrayVar *)var)->adapter != &dt_np_adapter) {
        return NULL;
    }
    return (DtArrayVar *)var;
}

/* The array as an operand: what was written to it last, if that still is what it holds. */
static DtOperand
content_operand(const DtTrace *trace, DtArrayVar *array)
{
    const DtGraph *graph = trace->graph;
    if (array->content == NULL || array->content->graph != graph) {
        return dt_np_node(array);
    }
    for (; array->content_until < graph->nodes.count; array->content_until++) {
        if (graph->nodes.items[array->content_until]->effect != DT_EFFECT_PURE) {
            array->content = NULL;
            return dt_np_node(array);
        }
    }
    return (DtOperand){
        .kind = DT_OPERAND_NODE, .result = array->content_result, .u.node = array->content};
}

/* The weak category or dtype of an exact Python number; NULL for anything else. */
static PyObject *
number_dtype(PyObject *value)
{
    if (PyBool_Check(value)) {
        return dt_np_dtype(NPY_BOOL);
    }
    PyTypeObject *type = Py_TYPE(value);
    return type == &PyLong_Type || type == &PyFloat_Type || type == &PyComplex_Type
               ? (PyObject *)type
               : NULL;
}

static PyObject *
sym_dtype(const DtSym *sym)
{
    switch ((DtSymType)sym->type) {
    case DT_SYM_INT:
        return (PyObject *)&PyLong_Type;
    case DT_SYM_FLOAT:
        return (PyObject *)&PyFloat_Type;
    default:
        return dt_np_dtype(NPY_BOOL);
    }
}

DtStatus
dt_np_operand(DtTrace *trace, DtVar *var, DtNpOperand *out, bool *ok)
{
    memset(out, 0, sizeof(*out));
    DT_TRY(dt_var_realize(trace, var, &var));
    var = dt_var_peek(var);
    *ok = true;
    out->array = dt_np_array_of(var);
    if (out->array != NULL) {
        out->operand = content_operand(trace, out->array);
        out->dtype = out->array->meta->dtype;
        return DT_OK;
    }
    char number = dt_number_kind(var);
    if (number == 'b' || number == 'i' || number == 'f' || number == 'c') {
        DtArrayVar *value = (DtArrayVar *)var;
        out->operand = dt_np_node(value);
        out->dtype = number == 'b' ? dt_np_dtype(NPY_BOOL) : (PyObject *)value->meta->type;
        return out->dtype != NULL ? DT_OK : DT_ERROR;
    }
    if (var->type->kind == DT_KIND_SYMBOLIC) {
        out->sym = ((DtSymVar *)var)->sym;
        out->operand = (DtOperand){.kind = DT_OPERAND_SYM, .u.sym = out->sym};
        out->dtype = sym_dtype(out->sym);
        return out->dtype != NULL ? DT_OK : DT_ERROR;
    }
    if (var->type->kind == DT_KIND_CONSTANT) {
        out->constant = ((DtConstVar *)var)->value;
        out->dtype = number_dtype(out->constant);
        if (out->dtype != NULL) {
            out->operand = dt_np_const(out->constant);
            return DT_OK;
        }
        if (PyErr_Occurred()) {
            return DT_ERROR;
        }
    }
    *ok = false;
    return DT_OK;
}

DtStatus
dt_np_need_operand(DtTrace *trace, DtVar *var, const char *what, DtNpOperand *out)
{
    bool ok;
    DT_TRY(dt_np_operand(trace, var, out, &ok));
    if (!ok) {
        var = dt_var_peek(var);
        return dt_break(trace, DT_BREAK_ARRAY_OP, "%s with a %s", what, var->type->name);
    }
    return DT_OK;
}

DtStatus
dt_np_int_operand(DtTrace *trace, int64_t value, DtOperand *out)
{
    PyObject *number = dt_trace_keep_take(trace, PyLong_FromLongLong(value));
    if (number == NULL) {
        return DT_ERROR;
    }
    *out = dt_np_const(number);
    return DT_OK;
}

DtStatus
dt_np_size_operand(DtTrace *trace, const DtSym *size, DtOperand *out)
{
    if (dt_sym_is_const(size)) {
        return dt_np_int_operand(trace, size->hint.i, out);
    }
    if (dt_trace_depends_on_data(trace, size)) {
        bool found;
        DT_TRY(dt_np_find_size(trace, size, out, &found));
        return found ? DT_OK
                     : dt_break(trace, DT_BREAK_DATA_SIZE, "the size of a selection as a number");
    }
    *out = (DtOperand){.kind = DT_OPERAND_SYM, .u.sym = size};
    return DT_OK;
}

DtStatus
dt_np_tuple_operand(DtTrace *trace, const DtOperand *items, uint32_t count, DtOperand *out)
{
    *out = (DtOperand){.kind = DT_OPERAND_TUPLE, .count = count};
    out->items = DT_ARENA_ARRAY(&trace->arena, DtOperand, count + 1);
    if (out->items == NULL) {
        return dt_no_memory();
    }
    if (count > 0) {
        memcpy(out->items, items, sizeof(DtOperand) * count);
    }
    return DT_OK;
}

DtStatus
dt_np_shape_operand(DtTrace *trace, const DtSym *const *shape, uint32_t ndim, DtOperand *out)
{
    DT_TRY(dt_np_tuple_operand(trace, NULL, 0, out));
    out->items = DT_ARENA_ARRAY(&trace->arena, DtOperand, ndim + 1);
    if (out->items == NULL) {
        return dt_no_memory();
    }
    out->count = ndim;
    for (uint32_t i = 0; i < ndim; i++) {
        DT_TRY(dt_np_size_operand(trace, shape[i], &out->items[i]));
    }
    return DT_OK;
}

/* ---- Nodes ----------------------------------------------------------------------------------- */

DtStatus
dt_np_emit(DtTrace *trace, const DtCallSpec *spec, DtVar **out)
{
    DtNode *node;
    DtVar *results[DT_NP_MAXARGS];
    DT_TRY(dt_trace_use_adapter(trace, &dt_np_adapter));
    DT_TRY(dt_graph_call(trace, spec, &node));
    for (uint32_t i = 0; i < spec->nresults; i++) {
        DtMeta *meta = DT_ARENA_NEW(&trace->arena, DtMeta);
        if (meta == NULL) {
            return dt_no_memory();
        }
        *meta = spec->results[i];
        DT_TRY(dt_var_array(trace, node, i, meta, &results[i]));
    }
    if (spec->nresults == 1) {
        *out = results[0];
        return DT_OK;
    }
    return dt_var_tuple(trace, results, spec->nresults, out);
}

static DtStatus
emit_row(DtTrace *trace, DtNpOp op, const DtOperand *args, uint32_t nargs, const DtMeta *meta,
         bool view, DtVar **out)
{
    static const DtAlias of_first = {0, 0};
    DtCallSpec spec = {
        .target = dt_np_target(op),
        .callee = dt_np_callee(op),
        .args = args,
        .nargs = nargs,
        .results = meta,
        .nresults = 1,
        .aliases = view ? &of_first : NULL,
        .naliases = view,
    };
    if (spec.callee == NULL) {
        if (PyErr_Occurred()) {
            return DT_ERROR;
        }
        return dt_break(trace, DT_BREAK_ARRAY_OP, "%s is not in this NumPy", spec.target);
    }
    return dt_np_emit(trace, &spec, out);
}

DtStatus
dt_np_emit_one(DtTrace *trace, DtNpOp op, const DtOperand *args, uint32_t nargs, const DtMeta *meta,
               DtVar **out)
{
    return emit_row(trace, op, args, nargs, meta, false, out);
}

DtStatus
dt_np_emit_view(DtTrace *trace, DtNpOp op, const DtOperand *args, uint32_t nargs,
                const DtMeta *meta, DtVar **out)
{
    return emit_row(trace, op, args, nargs, meta, true, out);
}
