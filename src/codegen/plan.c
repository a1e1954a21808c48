/* Planning a rewritten frame and assembling its code.
 *
 *   epilogue, emitted first        effects │ result │ RETURN_VALUE
 *        │ graph outputs it needs ─► the graph is finished
 *        ▼
 *   prologue, emitted behind it    graph call │ replay? return it │ unpack │ early loads
 *        │ rotated to the front, unused temporaries dropped
 *        ▼
 *   plan->emit
 *
 * Invariant: until the replay check has passed, nothing is written that anyone
 * can see.
 */
#include <string.h>

#include "codegen/assemble.h"
#include "codegen/state.h"
#include "sideeffects/journal.h"

static DtSpan
span_of(DtPosition where)
{
    return (DtSpan){where.line, where.end_line, where.col, where.end_col};
}

/* ---- Positions ------------------------------------------------------------------------------- */

static DtSpan
position_of_return(const DtTrace *trace)
{
    DtPosition where = dt_trace_position(trace);
    if (where.code == trace->code && where.line > 0) {
        return span_of(where);
    }
    int line = dt_code_firstlineno(trace->code);
    return (DtSpan){line, line, -1, -1};
}

/* The first array operation of the root frame, else the fallback. */
static DtSpan
position_of_graph(const DtTrace *trace, DtSpan fallback)
{
    for (uint32_t i = 0; i < trace->graph->nodes.count; i++) {
        const DtNode *node = trace->graph->nodes.items[i];
        if (node->kind == DT_NODE_CALL && node->where.code == trace->code && node->where.line > 0) {
            return span_of(node->where);
        }
    }
    return fallback;
}

/* ---- Epilogue -------------------------------------------------------------------------------- */

/* The values of one kind of writes.  A value that is only kept is dropped unless it was made. */
static DtStatus
emit_written(DtCodegen *codegen, DtCut *cut, bool kept)
{
    for (uint32_t i = 0; i < cut->nwrites; i++) {
        DtCutWrite *write = &cut->writes[i];
        if (write->kept != kept || write->value == NULL) {
            continue;
        }
        if (kept && dt_map_get(&codegen->shared, dt_var_peek(write->value)) == NULL) {
            write->value = NULL;
            continue;
        }
        DT_TRY(dt_codegen_var(codegen, write->value));
    }
    return DT_OK;
}

/* In the reverse order. */
static DtStatus
emit_stores(DtCodegen *codegen, const DtCut *cut, bool kept)
{
    for (uint32_t i = cut->nwrites; i-- > 0;) {
        const DtCutWrite *write = &cut->writes[i];
        if (write->kept == kept) {
            int op = write->value != NULL ? DT_OP_STORE_FAST : DT_OP_DELETE_FAST;
            DT_TRY(dt_emit_slot(codegen->emit, op, write->place));
        }
    }
    return DT_OK;
}

/* What a segment leaves: first all values, then the places of the frame; what it pushes stays. */
static DtStatus
emit_cut(DtCodegen *codegen)
{
    const DtTrace *trace = codegen->trace;
    DtCut *cut = &codegen->trace->cut;
    codegen->plan->npushed = cut->npushed;
    for (uint32_t i = 0; i < cut->npushed; i++) {
        DT_TRY(cut->pushed[i] == trace->null ? dt_codegen_op(codegen, DT_OP_PUSH_NULL, 0)
                                             : dt_codegen_var(codegen, cut->pushed[i]));
    }
    DT_TRY(emit_written(codegen, cut, false));
    DT_TRY(emit_written(codegen, cut, true));
    DT_TRY(emit_stores(codegen, cut, true));
    DT_TRY(emit_stores(codegen, cut, false));
    return dt_codegen_op(codegen, DT_OP_RETURN_VALUE, 0);
}

static DtStatus
emit_epilogue(DtCodegen *codegen, DtVar *result)
{
    codegen->effects = dt_journal_has_effects(codegen->trace);
    if (codegen->effects) {
        DT_TRY(dt_journal_replay(codegen->trace, codegen));
    }
    if (result == NULL) {
        return emit_cut(codegen);
    }
    DT_TRY(dt_codegen_var(codegen, result));
    DT_TRY(emit_written(codegen, &codegen->trace->cut, false));
    DT_TRY(emit_stores(codegen, &codegen->trace->cut, false));
    return dt_codegen_op(codegen, DT_OP_RETURN_VALUE, 0);
}

/* Does the node work on an array, or give something else than a number?  An input nobody uses is
 * gone by now. */
static bool
has_arrays(const DtNode *node)
{
    for (uint32_t i = 0; i < node->nresults; i++) {
        if (!node->results[i].adapter->beside) {
            return true;
        }
    }
    return false;
}

static DtStatus
finish_graph(DtCodegen *codegen)
{
    DtTrace *trace = codegen->trace;
    DtOperand *outputs = DT_ARENA_ARRAY(&trace->arena, DtOperand, codegen->outputs.count);
    if (outputs == NULL) {
        return dt_no_memory();
    }
    for (uint32_t i = 0; i < codegen->outputs.count; i++) {
        outputs[i] = codegen->outputs.items[i].operand;
    }
    DT_TRY(dt_graph_finish(trace, trace->graph, outputs, codegen->outputs.count));
    DtCodePlan *plan = codegen->plan;
    const DtGraph *graph = trace->graph;
    for (uint32_t i = 0; i < graph->nodes.count; i++) {
        const DtNode *node = graph->nodes.items[i];
        plan->ncalls += node->kind == DT_NODE_CALL;
        plan->has_arrays = plan->has_arrays || has_arrays(node);
    }
    plan->has_graph = plan->ncalls > 0 || graph->noutputs > 0;
    plan->ninputs = plan->has_graph ? graph->inputs.count : 0;
    plan->inputs = DT_ARENA_ARRAY(&trace->arena, const DtSource *, plan->ninputs);
    if (plan->inputs == NULL) {
        return dt_no_memory();
    }
    for (uint32_t i = 0; i < plan->ninputs; i++) {
        plan->inputs[i] = graph->inputs.items[i].source;
    }
    return DT_OK;
}

/* ---- Prologue -------------------------------------------------------------------------------- */

static DtStatus
emit_graph_call(DtCodegen *codegen)
{
    const DtCodePlan *plan = codegen->plan;
    DT_TRY(dt_codegen_push_callable(codegen, plan->state->callable));
    for (uint32_t i = 0; i < plan->ninputs; i++) {
        DT_TRY(dt_codegen_source(codegen, plan->inputs[i]));
    }
    DT_TRY(dt_codegen_call(codegen, plan->ninputs));

    DtLabel go_on;
    DT_TRY(dt_emit_new_label(codegen->emit, &go_on));
    DT_TRY(dt_codegen_op(codegen, DT_OP_COPY, 1));
    DT_TRY(dt_codegen_const(codegen, plan->state->replay));
    DT_TRY(dt_codegen_op(codegen, DT_OP_IS_OP, 0));
    DT_TRY(dt_emit_jump(codegen->emit, DT_OP_POP_JUMP_IF_FALSE, go_on));
    DT_TRY(dt_codegen_op(codegen, DT_OP_RETURN_VALUE, 0));
    dt_emit_bind(codegen->emit, go_on);

    uint32_t count = codegen->outputs.count;
    if (count == 0) {
        return dt_codegen_op(codegen, DT_OP_POP_TOP, 0);
    }
    DT_TRY(dt_codegen_op(codegen, DT_OP_UNPACK_SEQUENCE, (int32_t)count));
    for (uint32_t i = 0; i < count; i++) {
        DT_TRY(dt_emit_slot(codegen->emit, DT_OP_STORE_FAST, codegen->outputs.items[i].slot));
    }
    return DT_OK;
}

static DtStatus
emit_prologue(DtCodegen *codegen)
{
    codegen->prologue = true;
    if (codegen->plan->has_graph) {
        DT_TRY(emit_graph_call(codegen));
    }
    for (uint32_t i = 0; i < codegen->early.count; i++) {
        DT_TRY(dt_codegen_source(codegen, codegen->early.items[i].source));
        DT_TRY(dt_emit_slot(codegen->emit, DT_OP_STORE_FAST, codegen->early.items[i].slot));
    }
    return DT_OK;
}

/* ---- Order ----------------------------------------------------------------------------------- */

/* Moves instructions `from` and on to the front and drops those marked; labels follow. */
static DtStatus
rearrange(DtCodegen *codegen, uint32_t from, const bool *dropped)
{
    DtEmit *emit = codegen->emit;
    uint32_t count = emit->instrs.count, kept = 0;
    DtEmitInstr *instrs = DT_ARENA_ARRAY(emit->arena, DtEmitInstr, count);
    uint32_t *moved = DT_ARENA_ARRAY(emit->arena, uint32_t, count + 1);
    if (instrs == NULL || moved == NULL) {
        return dt_no_memory();
    }
    for (uint32_t n = 0; n < count; n++) {
        uint32_t i = n < count - from ? from + n : n - (count - from);
        const DtEmitInstr *instr = &emit->instrs.items[i];
        moved[i] = kept;
        if (!dropped[i]) {
            instrs[kept++] = *instr;
        }
        else if (instr->flags & DT_EMIT_CALLABLE) { /* what it would have loaded is callable */
            instrs[kept - 1].flags |= DT_EMIT_CALLABLE;
        }
    }
    moved[count] = moved[0]; /* bound behind the prologue: where the epilogue begins */
    emit->instrs.items = instrs;
    emit->instrs.capacity = count;
    emit->instrs.count = kept;
    for (uint32_t i = 0; i < emit->labels.count; i++) {
        if (emit->labels.items[i] != UINT32_MAX) {
            emit->labels.items[i] = moved[emit->labels.items[i]];
        }
    }
    return DT_OK;
}

static DtStatus
put_in_order(DtCodegen *codegen, uint32_t epilogue_end)
{
    bool *dropped = DT_ARENA_ARRAY(codegen->emit->arena, bool, codegen->emit->instrs.count + 1);
    if (dropped == NULL) {
        return dt_no_memory();
    }
    for (uint32_t i = 0; i < codegen->pairs.count; i++) {
        const DtShared *shared = codegen->pairs.items[i];
        dropped[shared->pair] = dropped[shared->pair + 1] = !shared->reused;
    }
    return rearrange(codegen, epilogue_end, dropped);
}

/* ---- The plan -------------------------------------------------------------------------------- */

static PyObject *
placeholder(DtTrace *trace)
{
    return dt_trace_keep_take(trace, PyObject_CallNoArgs((PyObject *)&PyBaseObject_Type));
}

/* Of code that is assembled: a segment has none. */
static DtStatus
add_prologue(DtCodegen *codegen, DtSpan at_graph)
{
    uint32_t epilogue_end = codegen->emit->instrs.count;
    struct DtCodegenState *state = codegen->plan->state;
    state->callable = placeholder(codegen->trace);
    state->replay = placeholder(codegen->trace);
    if (state->callable == NULL || state->replay == NULL) {
        return DT_ERROR;
    }
    dt_emit_set_position(codegen->emit, at_graph);
    DT_TRY(emit_prologue(codegen));
    return put_in_order(codegen, epilogue_end);
}

/* The stack values that a segment begins with are places behind the slots. */
static DtStatus
add_stack_places(DtCodegen *codegen)
{
    DtTrace *trace = codegen->trace;
    DtCodeLayout *layout = &codegen->layout;
    int count = trace->live ? trace->live_places : layout->nslots;
    if (count == layout->nslots) {
        return DT_OK;
    }
    DtSlot *slots = DT_ARENA_ARRAY(&trace->arena, DtSlot, count + 1);
    if (slots == NULL) {
        return dt_no_memory();
    }
    memcpy(slots, layout->slots, sizeof(DtSlot) * (size_t)layout->nslots);
    for (int i = layout->nslots; i < count; i++) {
        slots[i] = (DtSlot){dt_source_stack_name(trace, i - layout->nslots), DT_SLOT_LOCAL};
        if (slots[i].name == NULL) {
            return DT_ERROR;
        }
    }
    layout->slots = slots;
    layout->nslots = count;
    return DT_OK;
}

static DtStatus
start(DtCodegen *codegen)
{
    DtArena *arena = &codegen->trace->arena;
    DtCodePlan *plan = codegen->plan;
    memset(plan, 0, sizeof *plan);
    plan->emit = DT_ARENA_NEW(arena, DtEmit);
    plan->state = DT_ARENA_NEW(arena, struct DtCodegenState);
    if (plan->emit == NULL || plan->state == NULL) {
        return dt_no_memory();
    }
    codegen->emit = plan->emit;
    dt_emit_init(plan->emit, arena);
    DT_TRY(dt_code_layout(arena, codegen->trace->code, &codegen->layout));
    DT_TRY(add_stack_places(codegen));
    return dt_emit_use_layout(plan->emit, &codegen->layout);
}

DtStatus
dt_codegen_plan(DtTrace *trace, DtVar *result, DtCodePlan *plan)
{
    DtCodegen codegen = {.trace = trace, .plan = plan};
    DT_TRY(start(&codegen));
    DtSpan at_return = position_of_return(trace);
    dt_emit_set_position(plan->emit, at_return);
    DT_TRY(emit_epilogue(&codegen, result));
    DT_TRY(dt_generators_check(trace));
    DtSpan at_graph = position_of_graph(trace, at_return);
    DT_TRY(finish_graph(&codegen));
    DT_TRY(dt_result_compile(&codegen, &plan->result));
    if (trace->live && plan->result == NULL) {
        return dt_break(trace, DT_BREAK_RECONSTRUCT,
                        "a value that only a frame of its own can build");
    }
    DtStatus status = trace->live ? DT_OK : add_prologue(&codegen, at_graph);
    if (status != DT_OK) {
        dt_result_free(plan->result);
        plan->result = NULL;
    }
    return status;
}

DtStatus
dt_codegen_assemble(DtTrace *trace, DtCodePlan *plan, PyObject *graph_callable, PyObject *replay,
                    PyObject **code)
{
    DtEmit emit = *plan->emit;
    DtEmitInstr *instrs = DT_ARENA_ARRAY(&trace->arena, DtEmitInstr, emit.instrs.count);
    if (instrs == NULL) {
        return dt_no_memory();
    }
    for (uint32_t i = 0; i < emit.instrs.count; i++) {
        instrs[i] = emit.instrs.items[i];
        if (instrs[i].object == plan->state->callable) {
            instrs[i].object = graph_callable;
        }
        else if (instrs[i].object == plan->state->replay) {
            instrs[i].object = replay;
        }
    }
    emit.instrs.items = instrs;
    DtAssembleMeta meta;
    dt_assemble_meta_of(trace->code, &meta);
    PyCodeObject *made;
    DT_TRY(dt_assemble_code(&emit, &meta, &made));
    *code = (PyObject *)made;
    return DT_OK;
}
