/* Called stages: nodes that NumPy runs itself, by a Python call.
 *
 * Nothing may be reported from here, for there is no frame of the user's function.
 * Floating-point errors are made exceptions by an errstate that raises for whatever
 * the user's does not ignore; any exception drops the run and the call is made again
 * plainly.  The one Python-level warning that array functions give without a
 * floating-point flag is about empty operands (mean of nothing), so functions that
 * are written in Python are not called on them: replay.
 *
 * Writes to arrays that others can see are taken back when the run fails later (written.h), or
 * made when nothing can fail any more.  Once any other effect has happened nothing can be
 * replayed: exceptions are the user's then, and NumPy reports as the context says.
 */
#include <string.h>

#include "adapters/numbers.h"
#include "backend/eager.h"
#include "backend/native/cells.h"

/* Targets that look at no element. */
static const char *const quiet_targets[] = {
    "operator.getitem",
    "ndarray.reshape",
    "ndarray.transpose",
    "ndarray.swapaxes",
    "ndarray.ravel",
    "ndarray.flatten",
    "ndarray.squeeze",
    "ndarray.copy",
    "numpy.reshape",
    "numpy.transpose",
    "numpy.zeros",
    "numpy.ones",
    "numpy.broadcast_to",
    "numpy.empty",
    "dyntrace._numbers.sized",
    "dyntrace._numbers.longer",
    "numpy.lib.stride_tricks.as_strided",
    "numpy.lib.stride_tricks.sliding_window_view",
};

/* Targets that only move elements, but may cast them on their way, and a cast can report. */
static const char *const moving_targets[] = {"numpy.where", "numpy.concatenate", "numpy.stack"};

static bool
is_one_of(const char *target, const char *const *targets, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (strcmp(target, targets[i]) == 0) {
            return true;
        }
    }
    return false;
}

uint8_t
dt_called_flags(const DtNode *node)
{
    uint8_t flags = dt_eager_has_effect(node) ? DT_CALLED_EFFECT : 0;
    if (dt_written_is_setitem(node)) {
        return flags | DT_CALLED_SETITEM | (dt_write_is_sure(node) ? DT_CALLED_QUIET : 0);
    }
    if (is_one_of(node->target, quiet_targets, Py_ARRAY_LENGTH(quiet_targets))) {
        return flags | DT_CALLED_QUIET;
    }
    if (is_one_of(node->target, moving_targets, Py_ARRAY_LENGTH(moving_targets))) {
        return flags;
    }
    char number = node->nresults == 1 ? dt_number_kind_of(&node->results[0]) : 0;
    if (dt_written_is_draw(node) || (number != 0 && number != 's')) {
        return flags | DT_CALLED_QUIET; /* Python's arithmetic raises, or says nothing */
    }
    PyObject *callee = node->callee;
    if (PyObject_TypeCheck(callee, &PyUFunc_Type)) {
        return flags;
    }
    /* ufunc.reduce and the like. */
    if (PyCFunction_Check(callee)) {
        PyObject *self = PyCFunction_GET_SELF(callee);
        if (self != NULL && PyObject_TypeCheck(self, &PyUFunc_Type)) {
            return flags;
        }
    }
    return flags | DT_CALLED_PYTHON;
}

binaryfunc
dt_called_binary(const DtNode *node)
{
    static const struct {
        const char *target;
        binaryfunc call;
    } rows[] = {
        {"operator.add", PyNumber_Add},
        {"operator.sub", PyNumber_Subtract},
        {"operator.mul", PyNumber_Multiply},
        {"operator.truediv", PyNumber_TrueDivide},
        {"operator.floordiv", PyNumber_FloorDivide},
        {"operator.mod", PyNumber_Remainder},
        {"operator.and_", PyNumber_And},
        {"operator.or_", PyNumber_Or},
        {"operator.xor", PyNumber_Xor},
        {"operator.getitem", PyObject_GetItem},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]) && node->nargs == 2; i++) {
        if (strcmp(node->target, rows[i].target) == 0 && node->kwnames == NULL) {
            return rows[i].call;
        }
    }
    return NULL;
}

/* The value of an operand that needs no making, borrowed; else NULL. */
static PyObject *
ready_value(const DtOperand *operand, const DtNativeRun *run)
{
    if (operand->kind == DT_OPERAND_CONST) {
        return operand->u.object;
    }
    DtValue value = {operand->u.node, operand->result};
    return operand->kind == DT_OPERAND_NODE ? dt_native_value(run, &value) : NULL;
}

/* A new reference, or NULL with an exception. */
static PyObject *
call_callee(const DtNode *node, binaryfunc binary, const DtNativeRun *run)
{
    if (binary != NULL) {
        PyObject *left = ready_value(&node->args[0], run),
                 *right = ready_value(&node->args[1], run);
        if (left != NULL && right != NULL) {
            return binary(left, right);
        }
    }
    return dt_eager_call(node, run->values, run->symbols);
}

/* Has the node an array among its operands with at least (or, if `most`, at most) so many bytes? */
static bool
has_operand_of(const DtNode *node, const DtNativeRun *run, npy_intp bytes, bool most)
{
    for (uint32_t i = 0; i < node->nargs; i++) {
        const DtOperand *operand = &node->args[i];
        if (operand->kind != DT_OPERAND_NODE) {
            continue;
        }
        DtValue value = {operand->u.node, operand->result};
        PyObject *object = dt_native_value(run, &value);
        if (object != NULL && PyArray_Check(object)) {
            npy_intp has = PyArray_NBYTES((PyArrayObject *)object);
            if (most ? has <= bytes : has >= bytes) {
                return true;
            }
        }
    }
    return false;
}

void
dt_called_restore(DtNativeRun *run)
{
    PyObject *token = run->errstate;
    if (token == NULL) {
        return;
    }
    run->errstate = NULL;
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    if (dt_errstate_restore(token) < 0) {
        /* The token is ours and unused: this can't fail; if it does, say so without losing the run.
         */
        PyErr_WriteUnraisable(NULL);
    }
    PyErr_Restore(type, value, traceback);
}

int
dt_called_raise(uint8_t fp_region, DtNativeRun *run)
{
    if (run->errstate != NULL && run->fp_region != fp_region) {
        dt_called_restore(run);
    }
    run->fp_region = fp_region;
    return run->errstate == NULL ? dt_errstate_raise(fp_region, &run->errstate) : 0;
}

/* Before a node runs. */
static DtRun
prepare(const DtStage *stage, const DtNode *node, uint8_t flags, DtNativeRun *run)
{
    if (flags & DT_CALLED_EFFECT) {
        run->committed = true;
        dt_called_restore(run);
        dt_written_forget(&run->log);
    }
    if (run->committed) {
        return DT_RUN_OK;
    }
    if ((flags & DT_CALLED_PYTHON) && has_operand_of(node, run, 0, true)) {
        return DT_RUN_REPLAY;
    }
    if (stage->writes == DT_WRITES_AT_END) {
        run->committed = true; /* nothing from here on can fail but for want of memory */
        return DT_RUN_OK;
    }
    if (stage->writes == DT_WRITES_LAST) {
        return DT_RUN_OK; /* if it fails, it has not written: as if the run was dropped before */
    }
    if (stage->writes == DT_WRITES_SAVED) {
        DtRun saved = dt_written_save(&run->log, node, run->values, run->symbols);
        if (saved != DT_RUN_OK) {
            return saved == DT_RUN_ERROR ? dt_eager_failure(false) : saved;
        }
    }
    if (!(flags & DT_CALLED_QUIET) && dt_called_raise(node->fp_region, run) < 0) {
        return dt_eager_failure(false);
    }
    return DT_RUN_OK;
}

static DtRun
call_node(const DtStage *stage, uint32_t i, DtNativeRun *run)
{
    const DtNode *node = stage->nodes[i];
    uint8_t flags = stage->called[i];
    DtRun ready = prepare(stage, node, flags, run);
    if (ready != DT_RUN_OK) {
        return ready;
    }
    if (flags & DT_CALLED_SETITEM) {
        if (dt_write_run(node, run) < 0) {
            return dt_eager_failure(run->committed);
        }
        run->committed = run->committed || stage->writes == DT_WRITES_LAST;
        return DT_RUN_OK;
    }
    PyObject *token = NULL;
    bool large = has_operand_of(node, run, DT_MEMORY_POOLED, false);
    if (large && dt_memory_enter(&token) < 0) {
        return dt_eager_failure(run->committed);
    }
    PyObject *value = call_callee(node, stage->binary[i], run);
    if (token != NULL) {
        dt_memory_leave(token);
    }
    if (value == NULL) {
        return dt_eager_failure(run->committed);
    }
    Py_XSETREF(run->values[node->index], value);
    return DT_RUN_OK;
}

DtRun
dt_called_run(const DtStage *stage, DtNativeRun *run)
{
    if (stage->value != NULL && run->values[stage->value->index] == NULL) {
        return DT_RUN_OK; /* the stage that made the value has made it there */
    }
    if (dt_cells_box_all(stage->boxes, stage->nboxes, run) < 0) {
        return dt_eager_failure(run->committed);
    }
    for (uint32_t i = 0; i < stage->nnodes; i++) {
        DtRun result = call_node(stage, i, run);
        if (result != DT_RUN_OK) {
            return result;
        }
    }
    return DT_RUN_OK;
}
