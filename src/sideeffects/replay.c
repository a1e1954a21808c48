/* Emitting the writes.
 *
 *   operands of the last write ... operands of the first │ first write ... last write
 *
 * The attributes of new objects are written before all else: what comes after it may hash them, and
 * other threads see them.
 *
 * All operands are on the stack before anything is written, because a write
 * may change what the source of a later operand loads.
 */
#include "sideeffects/entries.h"

static DtStatus
push_values(DtCodegen *codegen, const DtWrite *write)
{
    for (uint32_t i = 0; i < write->count; i++) {
        DT_TRY(dt_codegen_var(codegen, write->values[i]));
    }
    return DT_OK;
}

static DtStatus
push_int(DtCodegen *codegen, int64_t number)
{
    DtTrace *trace = dt_codegen_trace(codegen);
    PyObject *object = dt_trace_keep_take(trace, PyLong_FromLongLong(number));
    return object != NULL ? dt_codegen_const(codegen, object) : DT_ERROR;
}

static DtStatus
push_slice(DtCodegen *codegen, const DtWrite *write)
{
    DT_TRY(push_values(codegen, write));
    DT_TRY(dt_codegen_op(codegen, DT_OP_BUILD_LIST, (int32_t)write->count));
    DT_TRY(dt_codegen_var(codegen, write->object));
    DT_TRY(push_int(codegen, write->start));
    DT_TRY(push_int(codegen, write->stop));
    return dt_codegen_op(codegen, DT_OP_BUILD_SLICE, 2);
}

/* A method of a builtin class as a descriptor, so that a subclass's own is not asked, and what is
 * written as its first argument. */
static DtStatus
push_descriptor(DtCodegen *codegen, PyTypeObject *cls, const char *name, const DtWrite *write)
{
    DtTrace *trace = dt_codegen_trace(codegen);
    PyObject *method = dt_trace_keep_take(trace, PyObject_GetAttrString((PyObject *)cls, name));
    if (method == NULL) {
        return DT_ERROR;
    }
    DT_TRY(dt_codegen_push_callable(codegen, method));
    return dt_codegen_var(codegen, write->object);
}

static DtStatus
push_set_call(DtCodegen *codegen, const DtWrite *write)
{
    const char *name = write->kind == DT_WRITE_ADD ? "add" : "discard";
    DT_TRY(push_descriptor(codegen, &PySet_Type, name, write));
    return push_values(codegen, write);
}

static DtStatus
push_own_attribute(DtCodegen *codegen, const DtWrite *write)
{
    const char *name = write->kind == DT_WRITE_OWN_ATTR ? "__setattr__" : "__delattr__";
    DT_TRY(push_descriptor(codegen, &PyBaseObject_Type, name, write));
    DT_TRY(dt_codegen_const(codegen, write->name));
    return push_values(codegen, write);
}

static DtStatus
push_method(DtCodegen *codegen, const DtWrite *write)
{
    PyObject *method = PyObject_GetAttr((PyObject *)write->base, write->name);
    method = dt_trace_keep_take(dt_codegen_trace(codegen), method);
    if (method == NULL) {
        return DT_ERROR;
    }
    DT_TRY(dt_codegen_push_callable(codegen, method));
    DT_TRY(dt_codegen_var(codegen, write->object));
    return push_values(codegen, write);
}

static DtStatus
push_operands(DtCodegen *codegen, const DtWrite *write)
{
    switch ((DtWriteKind)write->kind) {
    case DT_WRITE_GLOBAL:
    case DT_WRITE_DELETE_GLOBAL:
    case DT_WRITE_DEREF:
    case DT_WRITE_DELETE_DEREF:
        return push_values(codegen, write);
    case DT_WRITE_ATTR:
    case DT_WRITE_DELETE_ATTR:
    case DT_WRITE_CELL:
    case DT_WRITE_DELETE_CELL:
        DT_TRY(push_values(codegen, write));
        return dt_codegen_var(codegen, write->object);
    case DT_WRITE_OWN_ATTR:
    case DT_WRITE_DELETE_OWN_ATTR:
        return push_own_attribute(codegen, write);
    case DT_WRITE_OTHER_GLOBAL:
    case DT_WRITE_DELETE_OTHER_GLOBAL:
        DT_TRY(push_values(codegen, write));
        DT_TRY(dt_codegen_const(codegen, write->globals));
        return dt_codegen_const(codegen, write->name);
    case DT_WRITE_ITEM:
    case DT_WRITE_DELETE_ITEM:
        DT_TRY(push_values(codegen, write));
        DT_TRY(dt_codegen_var(codegen, write->object));
        return dt_codegen_var(codegen, write->key);
    case DT_WRITE_SLICE:
        return push_slice(codegen, write);
    case DT_WRITE_ADD:
    case DT_WRITE_DISCARD:
        return push_set_call(codegen, write);
    case DT_WRITE_CALL:
        DT_TRY(dt_codegen_push_callable_var(codegen, write->object));
        return push_values(codegen, write);
    case DT_WRITE_METHOD:
        return push_method(codegen, write);
    case DT_WRITE_COUNT:
        break;
    }
    PyErr_SetString(PyExc_SystemError, "unknown write in the journal");
    return DT_ERROR;
}

static DtStatus
emit_cell(DtCodegen *codegen, int op)
{
    DtTrace *trace = dt_codegen_trace(codegen);
    PyObject *name = dt_trace_keep_take(trace, PyUnicode_InternFromString("cell_contents"));
    return name != NULL ? dt_codegen_name(codegen, op, name) : DT_ERROR;
}

static DtStatus
emit_write(DtCodegen *codegen, const DtWrite *write)
{
    switch ((DtWriteKind)write->kind) {
    case DT_WRITE_ATTR:
        return dt_codegen_name(codegen, DT_OP_STORE_ATTR, write->name);
    case DT_WRITE_DELETE_ATTR:
        return dt_codegen_name(codegen, DT_OP_DELETE_ATTR, write->name);
    case DT_WRITE_OWN_ATTR:
    case DT_WRITE_DELETE_OWN_ATTR:
        DT_TRY(dt_codegen_call(codegen, 2 + write->count));
        return dt_codegen_op(codegen, DT_OP_POP_TOP, 0);
    case DT_WRITE_GLOBAL:
        return dt_codegen_name(codegen, DT_OP_STORE_GLOBAL, write->name);
    case DT_WRITE_DELETE_GLOBAL:
        return dt_codegen_name(codegen, DT_OP_DELETE_GLOBAL, write->name);
    case DT_WRITE_DEREF:
        return dt_codegen_op(codegen, DT_OP_STORE_DEREF, ((DtCellVar *)write->object)->root_slot);
    case DT_WRITE_DELETE_DEREF:
        return dt_codegen_op(codegen, DT_OP_DELETE_DEREF, ((DtCellVar *)write->object)->root_slot);
    case DT_WRITE_CELL:
        return emit_cell(codegen, DT_OP_STORE_ATTR);
    case DT_WRITE_DELETE_CELL:
        return emit_cell(codegen, DT_OP_DELETE_ATTR);
    case DT_WRITE_ITEM:
    case DT_WRITE_SLICE:
    case DT_WRITE_OTHER_GLOBAL:
        return dt_codegen_op(codegen, DT_OP_STORE_SUBSCR, 0);
    case DT_WRITE_DELETE_ITEM:
    case DT_WRITE_DELETE_OTHER_GLOBAL:
        return dt_codegen_op(codegen, DT_OP_DELETE_SUBSCR, 0);
    case DT_WRITE_CALL:
        DT_TRY(dt_codegen_call(codegen, write->count));
        return dt_codegen_op(codegen, DT_OP_POP_TOP, 0);
    case DT_WRITE_METHOD:
        DT_TRY(dt_codegen_call(codegen, 1 + write->count));
        return dt_codegen_op(codegen, DT_OP_POP_TOP, 0);
    case DT_WRITE_ADD:
    case DT_WRITE_DISCARD:
        DT_TRY(dt_codegen_call(codegen, 2));
        return dt_codegen_op(codegen, DT_OP_POP_TOP, 0);
    case DT_WRITE_COUNT:
        break;
    }
    PyErr_SetString(PyExc_SystemError, "unknown write in the journal");
    return DT_ERROR;
}

DtStatus
dt_journal_replay(DtTrace *trace, DtCodegen *codegen)
{
    const DtJournal *journal = trace->journal;
    dt_codegen_set_operands(codegen, true);
    for (uint32_t i = journal->writes.count; i > 0; i--) {
        DT_TRY(push_operands(codegen, &journal->writes.items[i - 1]));
    }
    dt_codegen_set_operands(codegen, false);
    for (uint32_t i = 0; i < journal->writes.count; i++) {
        DT_TRY(emit_write(codegen, &journal->writes.items[i]));
    }
    return DT_OK;
}
