/* frombuffer: an array over bytes, which are an input of the graph.
 *
 * Of the bytes only the type and the length are guarded, so that other bytes find the same entry.
 * The result is a view of memory that nobody writes; NumPy makes it at each call, of the object
 * that is there then. Not in here: bytearray, memoryview and other buffers (graph breaks), which
 * can be written.
 */
#include "adapters/numpy/internal.h"

#include "adapters/numbers.h"
#include "variables/kinds.h"

DtStatus
dt_np_unread(DtTrace *trace, DtVar *var, PyTypeObject *type, bool any_length, DtOperand *operand,
             PyObject **value)
{
    DtMeta meta = {.adapter = &dt_number_adapter, .type = type};
    DtNode *node;
    var = dt_var_peek(var);
    bool lazy = var->type->kind == DT_KIND_LAZY;
    *value = lazy ? ((DtLazyVar *)var)->object : dt_var_peek_constant(var);
    if (*value == NULL || !Py_IS_TYPE(*value, type)) {
        *value = NULL;
        return DT_OK;
    }
    DT_TRY(dt_trace_keep(trace, *value));
    if (var->source == NULL) { /* a literal */
        *operand = dt_np_const(*value);
        return DT_OK;
    }
    if (lazy) {
        DT_TRY(any_length ? dt_guard_type(trace, var->source, type)
                          : dt_guard_length(trace, var->source, type, Py_SIZE(*value)));
    }
    DT_TRY(dt_graph_input(trace->graph, var->source, &meta, &node));
    *operand = (DtOperand){.kind = DT_OPERAND_NODE, .u.node = node};
    return DT_OK;
}

/* A constant int, or what stands for one that is left out. */
static DtStatus
int_or(DtTrace *trace, const char *function, DtVar *var, int64_t missing, int64_t *out)
{
    *out = missing;
    return var != NULL ? dt_np_int_arg(trace, function, var, out) : DT_OK;
}

DtStatus
dt_np_fn_frombuffer(DtTrace *trace, DtNpOp op, const DtArgs *args, DtVar **out)
{
    static const char *const names[] = {"dtype", "count", "offset"};
    const char *function = dt_np_target(op);
    DtVar *slots[3];
    DtOperand operands[4];
    PyObject *dtype, *bytes;
    int64_t count, offset;
    if (args->npos == 0) {
        return dt_break(trace, DT_BREAK_ARRAY_OP, "%s without positional arguments", function);
    }
    DtArgs rest = *args;
    rest.pos++;
    rest.npos--;
    DT_TRY(dt_np_bind(trace, function, NULL, &rest, names, 3, 3, 0, slots));
    DT_TRY(dt_np_dtype_arg(trace, function, slots[0], &dtype));
    DT_TRY(int_or(trace, function, slots[1], -1, &count));
    DT_TRY(int_or(trace, function, slots[2], 0, &offset));
    dtype = dtype != NULL ? dtype : dt_np_dtype(NPY_DOUBLE);
    if (dtype == NULL) {
        return DT_ERROR;
    }
    PyArray_Descr *descr = dt_np_descr(dtype);
    int64_t item = PyDataType_ELSIZE(descr);
    DT_TRY(dt_np_unread(trace, args->pos[0], &PyBytes_Type, count > 0, &operands[0], &bytes));
    if (bytes == NULL) {
        return dt_break(trace, DT_BREAK_ARRAY_OP, "%s of what are no bytes", function);
    }
    int64_t left = PyBytes_GET_SIZE(bytes) - offset;
    if (PyTypeNum_ISBOOL(descr->type_num)) {
        return dt_break(trace, DT_BREAK_ARRAY_OP, "%s as booleans, which they may not be",
                        function);
    }
    if (offset < 0 || left < item || (count < 0 && left % item != 0) || count == 0
        || count > left / item) {
        return dt_break(trace, DT_BREAK_RAISES, "%s of so few bytes", function);
    }
    const DtSym *size = dt_np_size(trace, count < 0 ? left / item : count);
    DtMeta *meta = dt_np_meta(trace, dtype, 1);
    if (meta == NULL || size == NULL) {
        return DT_ERROR;
    }
    meta->shape[0] = size;
    /* bytes begin at a fixed place of objects whose addresses are multiples of 8 at least */
    int64_t place = (int64_t)offsetof(PyBytesObject, ob_sval) + offset,
            align = PyDataType_ALIGNMENT(descr);
    bool aligned = align <= 8 && place % align == 0;
    meta->layout = DT_LAYOUT_C | DT_LAYOUT_F | (aligned ? DT_LAYOUT_ALIGNED : 0u)
                   | (PyArray_ISNBO(descr->byteorder) ? DT_LAYOUT_NATIVE : 0u);
    DT_TRY(dt_np_natural_order(trace, meta));
    operands[1] = dt_np_const(dtype);
    DT_TRY(dt_np_int_operand(trace, count, &operands[2]));
    DT_TRY(dt_np_int_operand(trace, offset, &operands[3]));
    return dt_np_emit_one(trace, op, operands, 4, meta, out);
}
