/* Kernels: the table, operands, and writes of single items.  See kernels.h. */
#include "backend/native/kernels.h"

#include <string.h>

#include "adapters/numbers.h"
#include "backend/eager.h"
#include "backend/native/cells_choose.h"

bool
dt_kernel_gives_number(const DtNode *node)
{
    static const char *const targets[] = {
        "numpy.argmax", "numpy.argmin", "numpy.dot",         "numpy.inner",
        "numpy.vdot",   "numpy.matmul", "numpy.linalg.norm", "numpy.linalg.det",
        "builtins.max", "builtins.min", "builtins.sum",
    };
    bool found = false;
    for (size_t i = 0; i < Py_ARRAY_LENGTH(targets) && !found; i++) {
        found = strcmp(node->target, targets[i]) == 0;
    }
    for (const DtKernelRow *row = dt_kernels_draws; row->target != NULL && !found; row++) {
        found = strcmp(node->target, row->target) == 0;
    }
    return found && node->nresults == 1 && dt_cell_type_of(&node->results[0]) != DT_CELL_NONE;
}

/* ---- Operands -------------------------------------------------------------------------------- */

bool
dt_kernel_take_value(const DtNode *node, uint32_t i, DtKernel *kernel)
{
    const DtOperand *operand = &node->args[i];
    if (operand->kind != DT_OPERAND_NODE) {
        return false;
    }
    const DtMeta *meta = &operand->u.node->results[operand->result];
    if (meta->type != &PyArray_Type || meta->dtype == NULL || !PyArray_DescrCheck(meta->dtype)
        || !dt_loop_knows_type(((PyArray_Descr *)meta->dtype)->type_num)) {
        return false;
    }
    kernel->values[kernel->nvalues++] = (DtValue){operand->u.node, operand->result};
    return true;
}

bool
dt_kernel_scalar(const DtPlan *plan, const DtOperand *operand, int type_num, DtFusedScalar *out)
{
    *out = (DtFusedScalar){.type_num = type_num};
    switch ((DtOperandKind)operand->kind) {
    case DT_OPERAND_CONST:
        out->kind = DT_SCALAR_CONST;
        if (type_num == NPY_BOOL) {
            *(npy_bool *)out->cell = operand->u.object == Py_True;
            return PyBool_Check(operand->u.object);
        }
        return dt_cast_number(operand->u.object, type_num, out->cell);
    case DT_OPERAND_SYM:
        out->kind = DT_SCALAR_SYM;
        out->sym = operand->u.sym;
        return out->sym->type != DT_SYM_FLOAT || PyTypeNum_ISFLOAT(type_num)
               || PyTypeNum_ISCOMPLEX(type_num);
    case DT_OPERAND_NODE:
        break;
    default:
        return false;
    }
    const DtMeta *meta = &operand->u.node->results[operand->result];
    const DtPlanNode *own = &plan->nodes[operand->u.node->index];
    char number = dt_number_kind_of(meta);
    out->value = (DtValue){operand->u.node, operand->result};
    if (own->cell_type != DT_CELL_NONE) {
        out->box = dt_plan_box(own);
    }
    if (number != 0) {
        out->kind = DT_SCALAR_NUMBER;
        return number == 'f'   ? PyTypeNum_ISFLOAT(type_num)
               : number == 'i' ? type_num != NPY_BOOL
                               : number == 'b';
    }
    if (meta->dtype == NULL || !PyArray_DescrCheck(meta->dtype) || meta->ndim != 0
        || (meta->type != &PyArray_Type && !PyType_IsSubtype(meta->type, &PyGenericArrType_Type))) {
        return false;
    }
    out->kind = DT_SCALAR_VALUE;
    out->from_type = ((PyArray_Descr *)meta->dtype)->type_num;
    return out->from_type == type_num ? dt_loop_knows_type(type_num)
                                      : dt_cast_get(out->from_type, type_num) != NULL;
}

/* An int that the graph computes, or that comes in. */
static bool
take_node_index(const DtPlan *plan, const DtOperand *operand, DtCellIndex *out)
{
    DtCellOperand looked;
    const DtPlanNode *own = &plan->nodes[operand->u.node->index];
    out->kind = own->cell_type != DT_CELL_NONE ? DT_INDEX_CELL : DT_INDEX_VALUE;
    out->cell = own->cell;
    out->from = (DtValue){operand->u.node, operand->result};
    return dt_cells_look(operand, &looked) && looked.type == DT_CELL_INT && !looked.is_array;
}

bool
dt_kernel_index(const DtPlan *plan, const DtOperand *operand, DtCellIndex *out)
{
    *out = (DtCellIndex){0};
    if (operand->kind == DT_OPERAND_NODE) {
        return take_node_index(plan, operand, out);
    }
    if (operand->kind == DT_OPERAND_SYM) {
        out->kind = DT_INDEX_SYM;
        out->sym = operand->u.sym;
        return operand->u.sym->type == DT_SYM_INT;
    }
    if (operand->kind != DT_OPERAND_CONST || !PyLong_CheckExact(operand->u.object)) {
        return false;
    }
    int overflow;
    out->kind = DT_INDEX_CONST;
    out->value = (npy_intp)PyLong_AsLongLongAndOverflow(operand->u.object, &overflow);
    return overflow == 0;
}

bool
dt_kernel_constant(const DtOperand *operand, npy_intp *out)
{
    DtCellIndex index = {0};
    bool ok = operand->kind == DT_OPERAND_CONST && dt_kernel_index(NULL, operand, &index);
    *out = ok ? index.value : 0;
    return ok;
}

/* ---- Writing an item ------------------------------------------------------------------------- */

static DtFusedRun
run_write(const DtKernel *kernel, const DtStage *stage, DtNativeRun *run)
{
    uint64_t cell[2];
    char *data = dt_cells_item(kernel->item, run);
    if (data == NULL || dt_scalar_fill(&kernel->scalars[0], run, cell) != DT_FUSED_OK) {
        return DT_FUSED_CALL;
    }
    PyObject *object = dt_native_value(run, &kernel->item->array);
    if (!dt_kernel_can_write((PyArrayObject *)object)) {
        return DT_FUSED_CALL;
    }
    if (!run->committed && stage->writes == DT_WRITES_SAVED
        && dt_written_save_bytes(&run->log, object, data, kernel->item->size) < 0) {
        return DT_FUSED_ERROR;
    }
    if (stage->writes == DT_WRITES_AT_END || stage->writes == DT_WRITES_LAST) {
        run->committed = true;
    }
    memcpy(data, cell, kernel->item->size);
    return DT_FUSED_OK;
}

static DtStatus
choose_write(DtNative *exe, DtPlan *plan, const DtNode *node, DtKernel *kernel, bool *ok)
{
    kernel->item = DT_ARENA_NEW(&exe->arena, DtCellItem);
    kernel->scalars = DT_ARENA_NEW(&exe->arena, DtFusedScalar);
    if (kernel->item == NULL || kernel->scalars == NULL) {
        return dt_no_memory();
    }
    *ok = dt_written_is_setitem(node) && !dt_eager_has_effect(node)
          && dt_cells_plan_item(&node->args[0], &node->args[1], kernel->item)
          && dt_kernel_scalar(plan, &node->args[2], kernel->item->type_num, kernel->scalars);
    const DtOperand *keys =
        node->args[1].kind == DT_OPERAND_TUPLE ? node->args[1].items : &node->args[1];
    for (uint32_t i = 0; *ok && i < kernel->item->ndim; i++) {
        DtCellIndex *index = &kernel->item->index[i];
        *ok = index->kind != DT_INDEX_CELL || dt_kernel_index(plan, &keys[i], index);
    }
    kernel->run = run_write;
    return DT_OK;
}

static const DtKernelRow writes[] = {{"operator.setitem", choose_write}, {NULL, NULL}};

/* ---- Planning -------------------------------------------------------------------------------- */

/* The row's kernel; *out = NULL: it is not for this node.  Only what draws gives numbers of Python.
 */
static DtStatus
plan_row(const DtKernelRow *row, bool draws, DtNative *exe, DtPlan *plan, const DtNode *node,
         DtKernel **out)
{
    const DtPlanNode *own = &plan->nodes[node->index];
    DtKernel *kernel = DT_ARENA_NEW(&exe->arena, DtKernel);
    if (kernel == NULL) {
        return dt_no_memory();
    }
    *kernel =
        (DtKernel){.node = node, .cell = own->cell_type != DT_CELL_NONE ? own->cell : DT_NO_CELL};
    bool python = node->nresults == 1 && dt_number_kind_of(&node->results[0]) != 0;
    if (python && !draws) {
        return DT_OK;
    }
    if (node->nresults == 1 && !python) {
        PyObject *dtype = node->results[0].dtype;
        if (dtype == NULL || !PyArray_DescrCheck(dtype)
            || !dt_loop_knows_type(((PyArray_Descr *)dtype)->type_num)
            || !PyArray_ISNBO(((PyArray_Descr *)dtype)->byteorder)) {
            return DT_OK;
        }
        kernel->descr = (PyArray_Descr *)dtype;
        kernel->size = (uint8_t)PyDataType_ELSIZE(kernel->descr);
    }
    bool ok = false;
    DT_TRY(row->choose(exe, plan, node, kernel, &ok));
    *out = ok ? kernel : NULL;
    return DT_OK;
}

DtStatus
dt_kernel_plan(DtNative *exe, DtPlan *plan, const DtNode *node, DtKernel **out)
{
    const DtKernelRow *const tables[] = {
        dt_kernels_found, dt_kernels_unique, /* these of nodes of any form */
        writes,           dt_kernels_make,     dt_kernels_products, dt_kernels_reshape,
        dt_kernels_roll,  dt_kernels_sequence, dt_kernels_views,    dt_kernels_picked,
        dt_kernels_folds, dt_kernels_draws,
    };
    bool plain = node->kwnames == NULL && node->nresults <= 1;
    *out = NULL;
    for (size_t i = 0; i < (plain ? Py_ARRAY_LENGTH(tables) : 2) && node->nargs > 0; i++) {
        for (const DtKernelRow *row = tables[i]; row->target != NULL && *out == NULL; row++) {
            if (strcmp(row->target, node->target) == 0) {
                DT_TRY(plan_row(row, tables[i] == dt_kernels_draws, exe, plan, node, out));
            }
        }
    }
    return DT_OK;
}
