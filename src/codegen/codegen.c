/* The services that reconstruct slots and the journal call while the epilogue
 * of a rewritten frame is emitted (contracts: variables/trace.h).
 *
 *   tracker ─► its source, if it has one       loaded where it lies; before the
 *           │                                  first effect if there are effects
 *           ├► a graph output                  from the temporary it is unpacked into
 *           └► its reconstruct slot            built once, then shared
 *
 * Identity is kept because every tracker is built at most once per frame.
 */
#include "codegen/codegen.h"

#include "codegen/state.h"
#include "variables/rebuild.h"

DtTrace *
dt_codegen_trace(DtCodegen *codegen)
{
    return codegen->trace;
}

void
dt_codegen_set_operands(DtCodegen *codegen, bool operands)
{
    codegen->operands = operands;
}

bool
dt_codegen_is_operands(const DtCodegen *codegen)
{
    return codegen->operands;
}

DtStatus
dt_codegen_op(DtCodegen *codegen, int op, int32_t arg)
{
    return dt_emit_op(codegen->emit, op, arg);
}

DtStatus
dt_codegen_name(DtCodegen *codegen, int op, PyObject *name)
{
    return dt_emit_name(codegen->emit, op, name);
}

DtStatus
dt_codegen_const(DtCodegen *codegen, PyObject *value)
{
    if (dt_map_get(&codegen->trace->made, value) != NULL) {
        return dt_break(codegen->trace, DT_BREAK_RECONSTRUCT,
                        "a class or descriptor made in the function leaves it");
    }
    DT_TRY(dt_trace_keep(codegen->trace, value));
    return dt_emit_const(codegen->emit, value);
}

DtStatus
dt_codegen_push_callable(DtCodegen *codegen, PyObject *callable)
{
    DT_TRY(dt_codegen_const(codegen, callable));
    dt_emit_mark_callable(codegen->emit);
    return DT_OK;
}

DtStatus
dt_codegen_push_callable_var(DtCodegen *codegen, DtVar *callable)
{
    DT_TRY(dt_codegen_var(codegen, callable));
    dt_emit_mark_callable(codegen->emit);
    return DT_OK;
}

DtStatus
dt_codegen_call(DtCodegen *codegen, uint32_t argc)
{
    return dt_emit_op(codegen->emit, DT_OP_CALL, (int32_t)argc);
}

DtStatus
dt_codegen_make_function(DtCodegen *codegen, PyObject *qualname, int32_t flags)
{
    DT_TRY(dt_trace_keep(codegen->trace, qualname));
    DT_TRY(dt_emit_name(codegen->emit, DT_OP_MAKE_FUNCTION, qualname));
    codegen->emit->instrs.items[codegen->emit->instrs.count - 1].arg = flags;
    return DT_OK;
}

/* ---- Temporaries ----------------------------------------------------------------------------- */

DtStatus
dt_codegen_temporary(DtCodegen *codegen, int *slot)
{
    PyObject *name = PyUnicode_FromFormat(".dt%d", codegen->temporaries++);
    name = dt_trace_keep_take(codegen->trace, name);
    if (name == NULL) {
        return DT_ERROR;
    }
    return dt_emit_add_slot(codegen->emit, name, DT_SLOT_LOCAL, slot);
}

/* 1 + the output that this operand is already, or 0.  Numbers that are computed alike are objects
 * of their own. */
static uintptr_t
find_output(const DtCodegen *codegen, const DtOperand *operand)
{
    return operand->kind == DT_OPERAND_NODE
               ? (uintptr_t)dt_map_get(&codegen->output_of,
                                       &operand->u.node->results[operand->result])
               : 0;
}

DtStatus
dt_codegen_output(DtCodegen *codegen, const DtOperand *operand, int *slot)
{
    DtArena *arena = &codegen->trace->arena;
    uintptr_t known = find_output(codegen, operand);
    if (known > 0) {
        *slot = codegen->outputs.items[known - 1].slot;
        return DT_OK;
    }
    DT_TRY(dt_codegen_temporary(codegen, slot));
    DtPlanOutput output = {*operand, *slot};
    if (dt_vec_push(arena, &codegen->outputs, output) < 0) {
        return dt_no_memory();
    }
    if (operand->kind == DT_OPERAND_NODE
        && dt_map_set(arena, &codegen->output_of, &operand->u.node->results[operand->result],
                      (void *)(uintptr_t)codegen->outputs.count)
               < 0) {
        return dt_no_memory();
    }
    return DT_OK;
}

/* ---- Sources --------------------------------------------------------------------------------- */

/* Nothing that is replayed changes what these give. */
static bool
is_stable(const DtCodegen *codegen, const DtSource *source)
{
    if (source->kind == DT_SOURCE_OBJECT) {
        return true;
    }
    return source->kind == DT_SOURCE_LOCAL
           && !(codegen->layout.slots[source->index].kind & DT_SLOT_CELL);
}

static DtStatus
early_load(DtCodegen *codegen, const DtSource *source)
{
    for (uint32_t i = 0; i < codegen->early.count; i++) {
        if (codegen->early.items[i].source == source) {
            return dt_emit_slot(codegen->emit, DT_OP_LOAD_FAST, codegen->early.items[i].slot);
        }
    }
    DtEarlyLoad load = {source, -1};
    DT_TRY(dt_codegen_temporary(codegen, &load.slot));
    if (dt_vec_push(&codegen->trace->arena, &codegen->early, load) < 0) {
        return dt_no_memory();
    }
    return dt_emit_slot(codegen->emit, DT_OP_LOAD_FAST, load.slot);
}

DtStatus
dt_codegen_source(DtCodegen *codegen, const DtSource *source)
{
    if (!dt_codegen_is_loadable(source)) {
        return dt_codegen_load_source(codegen, source); /* breaks, naming it */
    }
    if (codegen->effects && !codegen->prologue && !is_stable(codegen, source)) {
        return early_load(codegen, source);
    }
    DtSourceRange range = {codegen->emit->instrs.count, 0, source};
    DT_TRY(dt_codegen_load_source(codegen, source));
    range.end = codegen->emit->instrs.count;
    if (!codegen->prologue && dt_vec_push(&codegen->trace->arena, &codegen->ranges, range) < 0) {
        return dt_no_memory();
    }
    return DT_OK;
}

/* ---- Trackers -------------------------------------------------------------------------------- */

static DtStatus
array_or_symbol(DtCodegen *codegen, DtVar *var, bool *done)
{
    DtOperand operand = {0};
    if (var->type->kind == DT_KIND_ARRAY) {
        operand.kind = DT_OPERAND_NODE;
        operand.u.node = ((DtArrayVar *)var)->node;
        operand.result = ((DtArrayVar *)var)->result;
    }
    else if (var->type->kind == DT_KIND_SYMBOLIC && ((DtSymVar *)var)->chooser == NULL) {
        operand.kind = DT_OPERAND_SYM;
        operand.u.sym = ((DtSymVar *)var)->sym;
    }
    else {
        return DT_OK;
    }
    *done = true;
    int slot;
    bool is_number = operand.kind == DT_OPERAND_SYM;
    uintptr_t known = is_number ? (uintptr_t)dt_map_get(&codegen->output_of, var) : 0;
    if (known > 0) {
        return dt_emit_slot(codegen->emit, DT_OP_LOAD_FAST, codegen->outputs.items[known - 1].slot);
    }
    DT_TRY(dt_codegen_output(codegen, &operand, &slot));
    if (is_number
        && dt_map_set(&codegen->trace->arena, &codegen->output_of, var,
                      (void *)(uintptr_t)codegen->outputs.count)
               < 0) {
        return dt_no_memory();
    }
    return dt_emit_slot(codegen->emit, DT_OP_LOAD_FAST, slot);
}

/* A size is computed by the graph, which has the array anyway; all other values with a source are
 * loaded from it, and are the very objects that they were. */
static bool
lies_in_source(const DtVar *var)
{
    return var->source != NULL && var->source->kind != DT_SOURCE_ARRAY_DIM
           && dt_codegen_is_loadable(var->source);
}

/* One instruction that gives the same object each time needs no temporary. */
static bool
is_cheap(const DtEmitInstr *instr)
{
    return instr->op == DT_OP_LOAD_CONST || instr->op == DT_OP_LOAD_FAST
           || instr->op == DT_OP_LOAD_CLOSURE;
}

static DtStatus
build_shared(DtCodegen *codegen, DtVar *var)
{
    DtArena *arena = &codegen->trace->arena;
    DtShared *shared = DT_ARENA_NEW(arena, DtShared);
    if (shared == NULL) {
        return dt_no_memory();
    }
    shared->slot = -1;
    if (dt_map_set(arena, &codegen->shared, var, shared) < 0) {
        return dt_no_memory();
    }
    uint32_t start = codegen->emit->instrs.count;
    DT_TRY(var->type->reconstruct(codegen, var));
    uint32_t end = codegen->emit->instrs.count;
    if (end == start + 1 && is_cheap(&codegen->emit->instrs.items[start])) {
        return dt_map_set(arena, &codegen->shared, var, NULL) < 0 ? dt_no_memory() : DT_OK;
    }
    DT_TRY(dt_codegen_temporary(codegen, &shared->slot));
    shared->pair = end;
    DT_TRY(dt_emit_slot(codegen->emit, DT_OP_STORE_FAST, shared->slot));
    DT_TRY(dt_emit_slot(codegen->emit, DT_OP_LOAD_FAST, shared->slot));
    return dt_vec_push(arena, &codegen->pairs, shared) < 0 ? dt_no_memory() : DT_OK;
}

DtStatus
dt_codegen_fill_later(DtCodegen *codegen, DtCellVar *cell)
{
    return dt_vec_push(&codegen->trace->arena, &codegen->fills, cell) == 0 ? DT_OK : dt_no_memory();
}

/* Nothing is half-built here, so a function that is its own cell's contents can be loaded. */
static DtStatus
fill_cells(DtCodegen *codegen)
{
    PyObject *name =
        dt_trace_keep_take(codegen->trace, PyUnicode_InternFromString("cell_contents"));
    while (name != NULL && codegen->fills.count > 0) {
        DtCellVar *cell = codegen->fills.items[--codegen->fills.count];
        DT_TRY(dt_codegen_var(codegen, cell->contents));
        DT_TRY(dt_codegen_var(codegen, &cell->base));
        DT_TRY(dt_codegen_name(codegen, DT_OP_STORE_ATTR, name));
    }
    return name != NULL ? DT_OK : DT_ERROR;
}

static DtStatus
build_nested(DtCodegen *codegen, DtVar *var)
{
    codegen->building++;
    DtStatus status = build_shared(codegen, var);
    codegen->building--;
    return status == DT_OK && codegen->building == 0 && codegen->fills.count > 0
               ? fill_cells(codegen)
               : status;
}

DtStatus
dt_codegen_var(DtCodegen *codegen, DtVar *var)
{
    var = dt_var_peek(var);
    if (lies_in_source(var)) {
        return dt_codegen_source(codegen, var->source);
    }
    bool done = false;
    DT_TRY(array_or_symbol(codegen, var, &done));
    if (done) {
        return DT_OK;
    }
    DtShared *shared = dt_map_get(&codegen->shared, var);
    if (shared == NULL) {
        return build_nested(codegen, var);
    }
    if (shared->slot < 0) {
        return dt_break(codegen->trace, DT_BREAK_RECONSTRUCT, "a %s that contains itself",
                        var->type->name);
    }
    shared->reused = true;
    return dt_emit_slot(codegen->emit, DT_OP_LOAD_FAST, shared->slot);
}
