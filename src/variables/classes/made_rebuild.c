/* Classes and descriptors of the trace that leave it: the emitted code makes them again, in each
 * call. */
#include "variables/classes/made.h"

DtStatus
dt_made_children(DtTrace *trace, const DtMade *made, DtStatus (*visit)(DtTrace *, DtVar *, void *),
                 void *arg)
{
    for (uint32_t i = 0; i < made->nargs; i++) {
        DT_TRY(visit(trace, made->args[i], arg));
    }
    return made->names != NULL ? visit(trace, &made->names->base, arg) : DT_OK;
}

DtStatus
dt_made_fills(DtCodegen *codegen, DtMade *made, DtVar *cell)
{
    if (cell == made->cell) {
        return DT_OK; /* type() does that */
    }
    return dt_vec_push(&dt_codegen_trace(codegen)->arena, &made->cells, cell) == 0 ? DT_OK
                                                                                   : dt_no_memory();
}

/* fill(cls, cell, ...): the class, which the cells hold now. */
static PyObject *
fill(PyObject *self, PyObject *const *args, Py_ssize_t count)
{
    (void)self;
    for (Py_ssize_t i = 1; i < count; i++) {
        if (PyCell_Set(args[i], args[0]) < 0) {
            return NULL;
        }
    }
    return Py_NewRef(args[0]);
}

static PyMethodDef fill_method = {"fill_cells", (PyCFunction)(void (*)(void))fill, METH_FASTCALL,
                                  NULL};

/* type.__new__(metaclass, name, bases, namespace), which copies the namespace and fills the cell
 * __class__; nobody hears of it. */
static DtStatus
emit_class(DtCodegen *codegen, const DtMade *made)
{
    DT_TRY(dt_hooks_push_maker(codegen, made));
    DT_TRY(dt_codegen_const(codegen, made->name));
    for (uint32_t i = 0; i < made->nargs; i++) {
        DT_TRY(dt_codegen_var(codegen, made->args[i]));
    }
    DT_TRY(dt_codegen_op(codegen, DT_OP_BUILD_TUPLE, (int32_t)made->nargs));
    for (uint32_t i = 0; i < made->names->count; i++) {
        DT_TRY(dt_codegen_const(codegen, made->names->items[i].key));
        DT_TRY(dt_codegen_var(codegen, made->names->items[i].value));
    }
    DT_TRY(dt_codegen_op(codegen, DT_OP_BUILD_MAP, (int32_t)made->names->count));
    DT_TRY(dt_codegen_const(codegen, made->abstract != NULL ? made->abstract : Py_None));
    return dt_codegen_call(codegen, 5);
}

static DtStatus
emit_filled_class(DtCodegen *codegen, DtMade *made)
{
    DtTrace *trace = dt_codegen_trace(codegen);
    PyObject *function = dt_trace_keep_take(trace, PyCFunction_New(&fill_method, NULL));
    if (function == NULL) {
        return DT_ERROR;
    }
    DT_TRY(dt_codegen_push_callable(codegen, function));
    made->cells.count = 0;
    made->building = true;
    DtStatus status = emit_class(codegen, made);
    made->building = false;
    DT_TRY(status);
    for (uint32_t i = 0; i < made->cells.count; i++) {
        DT_TRY(dt_codegen_var(codegen, made->cells.items[i]));
    }
    return dt_codegen_call(codegen, 1 + made->cells.count);
}

DtStatus
dt_made_reconstruct(DtCodegen *codegen, DtMade *made)
{
    if (made->names != NULL) {
        return emit_filled_class(codegen, made);
    }
    DT_TRY(dt_codegen_push_callable(codegen, made->maker));
    for (uint32_t i = 0; i < made->nargs; i++) {
        DT_TRY(dt_codegen_var(codegen, made->args[i]));
    }
    return dt_codegen_call(codegen, made->nargs);
}
