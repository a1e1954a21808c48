/* From the nodes of a stage of cells to its operations: operands are loaded once and converted,
 * then each node is one operation.
 *
 * Not in here: which operation a node is (cells_choose.c).
 */
#include "backend/native/cells_choose.h"
#include "backend/native/plan.h"

typedef struct Builder {
    DtNative *exe;
    DtPlan *plan;
    DtStages *stages;
    int32_t index; /* of the stage */
    DT_VEC(DtCellOp) ops;
} Builder;

uint16_t
dt_cells_new(DtStages *stages)
{
    return (uint16_t)stages->ncells++;
}

static DtStatus
add(Builder *builder, DtCellOp op)
{
    return dt_vec_push(&builder->exe->arena, &builder->ops, op) < 0 ? dt_no_memory() : DT_OK;
}

/* The cell of a graph value, loaded if this stage does not make it. */
static DtStatus
node_cell(Builder *builder, const DtOperand *operand, DtCellType type, uint16_t *out)
{
    DtPlanNode *own = &builder->plan->nodes[operand->u.node->index];
    const DtNode *node = operand->u.node;
    bool shared = node->nresults == 1 || node->kind != DT_NODE_CALL;
    bool has_cell = own->cell_type != DT_CELL_NONE;
    if (shared && has_cell && own->stage == builder->index) {
        *out = own->cell;
        return DT_OK;
    }
    if (shared && own->loaded == builder->index + 1) {
        *out = own->loaded_cell;
        return DT_OK;
    }
    *out = has_cell ? own->cell : dt_cells_new(builder->stages);
    if (shared) {
        own->loaded = builder->index + 1;
        own->loaded_cell = *out;
    }
    return add(builder, (DtCellOp){.code = DT_CELLS_LOAD,
                                   .out = *out,
                                   .a = has_cell,
                                   .b = (uint16_t)operand->result,
                                   .c = (uint16_t)type,
                                   .u.node = node});
}

static DtStatus
operand_cell(Builder *builder, const DtOperand *operand, DtCellType type, uint16_t *out)
{
    DtCellOp op = {.code = DT_CELLS_CONST};
    DtCell cell = {.raw = 0};
    if (operand->kind == DT_OPERAND_NODE) {
        return node_cell(builder, operand, type, out);
    }
    *out = op.out = dt_cells_new(builder->stages);
    if (operand->kind == DT_OPERAND_SYM) {
        op.code = operand->u.sym->type == DT_SYM_FLOAT ? DT_CELLS_SYM_D
                  : operand->u.sym->type == DT_SYM_INT ? DT_CELLS_SYM_I
                                                       : DT_CELLS_SYM_B;
        op.u.sym = operand->u.sym;
        return add(builder, op);
    }
    PyObject *object = operand->u.object;
    if (type == DT_CELL_DOUBLE) {
        cell.d = PyFloat_AS_DOUBLE(object);
    }
    else if (type == DT_CELL_INT) {
        cell.i = PyLong_AsLongLong(object);
    }
    else {
        cell.b = object == Py_True;
    }
    op.u.constant = cell.raw;
    return add(builder, op);
}

/* *cell of type `from` becomes one of type `to`. */
static DtStatus
convert(Builder *builder, DtCellType from, DtCellType to, uint16_t *cell)
{
    if (from == to) {
        return DT_OK;
    }
    if (from == DT_CELL_BOOL && to == DT_CELL_FLOAT) {
        DT_TRY(convert(builder, from, DT_CELL_INT, cell));
        from = DT_CELL_INT;
    }
    DtCellOp op = {
        .code = dt_cells_conversions[from][to], .a = *cell, .out = dt_cells_new(builder->stages)};
    *cell = op.out;
    return add(builder, op);
}

static DtStatus
build_item(Builder *builder, const DtNode *node, uint16_t out)
{
    DtCellItem *item = DT_ARENA_NEW(&builder->exe->arena, DtCellItem);
    if (item == NULL) {
        return dt_no_memory();
    }
    (void)dt_cells_plan_item(&node->args[0], &node->args[1], item); /* classified so */
    const DtOperand *keys =
        node->args[1].kind == DT_OPERAND_TUPLE ? node->args[1].items : &node->args[1];
    for (uint32_t i = 0; i < item->ndim; i++) {
        if (item->index[i].kind == DT_INDEX_CELL) {
            DT_TRY(node_cell(builder, &keys[i], DT_CELL_INT, &item->index[i].cell));
        }
    }
    return add(builder, (DtCellOp){.code = DT_CELLS_ITEM, .out = out, .u.item = item});
}

static DtStatus
build_node(Builder *builder, DtPlanNode *own)
{
    const DtNode *node = own->node;
    DtCellChoice choice;
    bool ok;
    DT_TRY(dt_cells_choose(node, &choice, &ok));
    if (choice.is_item) {
        return build_item(builder, node, own->cell);
    }
    if (choice.code == DT_CELLS_EXTENT) {
        return add(builder, (DtCellOp){.code = DT_CELLS_EXTENT,
                                       .out = own->cell,
                                       .a = (uint16_t)node->args[0].result,
                                       .b = (uint16_t)PyLong_AsLong(node->args[1].u.object),
                                       .u.node = node->args[0].u.node});
    }
    uint16_t cells[DT_LOOP_MAX_ARGS] = {0};
    for (uint32_t i = 0; i < choice.nargs; i++) {
        DtCellOperand operand;
        DtCellType to =
            choice.loop != NULL ? dt_cell_type_of_num(choice.loop->types[i]) : choice.type;
        (void)dt_cells_look(&node->args[i], &operand);
        DT_TRY(operand_cell(builder, &node->args[i], operand.type, &cells[i]));
        DT_TRY(convert(builder, operand.type, to, &cells[i]));
    }
    DtCellOp op = {
        .code = choice.code, .out = own->cell, .a = cells[0], .b = cells[1], .c = cells[2]};
    if (choice.loop != NULL) {
        op.u.loop = choice.loop;
    }
    else if (choice.unary != NULL) {
        op.u.unary = choice.unary;
    }
    else if (choice.binary != NULL) {
        op.u.binary = choice.binary;
    }
    return add(builder, op);
}

DtStatus
dt_cells_build(DtNative *exe, DtPlan *plan, DtPlanStage *stage, DtStages *stages, DtCellStage **out)
{
    Builder builder = {.exe = exe, .plan = plan, .stages = stages};
    DtCellStage *made = DT_ARENA_NEW(&exe->arena, DtCellStage);
    if (made == NULL) {
        return dt_no_memory();
    }
    builder.index = plan->nodes[stage->nodes.items[0]].stage;
    for (uint32_t i = 0; i < stage->nodes.count; i++) {
        DT_TRY(build_node(&builder, &plan->nodes[stage->nodes.items[i]]));
    }
    made->ops = builder.ops.items;
    made->nops = builder.ops.count;
    made->fp_region = plan->nodes[stage->nodes.items[0]].node->fp_region;
    *out = made;
    return DT_OK;
}
