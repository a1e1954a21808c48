/* Result programs: the answer of a frame without a Python frame.
 *
 * The same instructions as the rewritten code's epilogue (effects, result,
 * return), one step for each; a source is one step, since the guard check has
 * read it already.  An instruction without a row here needs a frame and gives
 * no program.
 *
 * Not in here: running programs (result_run.c).
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "codegen/result.h"
#include "codegen/state.h"

typedef struct Compile {
    DtCodegen *codegen;
    DT_VEC(DtResultStep) steps;
    DT_VEC(PyObject *) consts;
    DT_VEC(const DtSource *) loads;
    uint32_t *output_in;  /* by slot: 1 + the output that it holds, or 0 */
    uint32_t *pair_in;    /* by slot: 1 + the shared value that it holds, or 0 */
    uint32_t *early_in;   /* by slot: 1 + the early load that it holds, or 0 */
    bool *unused_pair_at; /* by instruction: it and the next one are dropped */
    uint32_t depth, deepest;
    bool fits; /* no instruction needs a frame so far */
} Compile;

static DtStatus
add_step(Compile *compile, DtStepKind step, uint32_t arg, uint32_t popped, uint32_t pushed)
{
    DtResultStep added = {.step = (uint16_t)step, .arg = arg};
    assert(compile->depth >= popped);
    compile->depth += pushed;
    compile->depth -= popped;
    if (compile->depth > compile->deepest) {
        compile->deepest = compile->depth;
    }
    return dt_vec_push(&compile->codegen->trace->arena, &compile->steps, added) < 0 ? dt_no_memory()
                                                                                    : DT_OK;
}

/* The index of a constant or name. */
static DtStatus
keep_const(Compile *compile, PyObject *value, uint32_t *index)
{
    *index = compile->consts.count;
    return dt_vec_push(&compile->codegen->trace->arena, &compile->consts, value) < 0
               ? dt_no_memory()
               : DT_OK;
}

static DtStatus
add_const(Compile *compile, PyObject *value)
{
    uint32_t index;
    DT_TRY(keep_const(compile, value, &index));
    return add_step(compile, DT_STEP_CONST, index, 0, 1);
}

static DtStatus
add_load(Compile *compile, const DtSource *source)
{
    if (source->kind == DT_SOURCE_OBJECT) {
        return add_const(compile, source->key);
    }
    uint32_t i = 0;
    while (i < compile->loads.count && compile->loads.items[i] != source) {
        i++;
    }
    if (i == compile->loads.count
        && dt_vec_push(&compile->codegen->trace->arena, &compile->loads, source) < 0) {
        return dt_no_memory();
    }
    return add_step(compile, DT_STEP_LOAD, i, 0, 1);
}

/* A temporary of the frame: an output of the graph, a shared value, or a source that is read before
 * the first effect, as all sources are here. */
static DtStatus
add_slot(Compile *compile, int slot)
{
    if (compile->output_in[slot] > 0) {
        return add_step(compile, DT_STEP_OUTPUT, compile->output_in[slot] - 1, 0, 1);
    }
    if (compile->pair_in[slot] > 0) {
        return add_step(compile, DT_STEP_TEMPORARY, compile->pair_in[slot] - 1, 0, 1);
    }
    if (compile->early_in[slot] > 0) {
        return add_load(compile, compile->codegen->early.items[compile->early_in[slot] - 1].source);
    }
    compile->fits = false;
    return DT_OK;
}

static DtStatus
add_store(Compile *compile, int slot)
{
    const DtTrace *trace = compile->codegen->trace;
    if (compile->pair_in[slot] > 0) {
        return add_step(compile, DT_STEP_STORE, compile->pair_in[slot] - 1, 1, 0);
    }
    if (trace->live && slot < trace->live_places) {
        return add_step(compile, DT_STEP_STORE_PLACE, (uint32_t)trace->frame_index[slot], 1, 0);
    }
    compile->fits = false;
    return DT_OK;
}

/* The cell in a slot of the root frame. */
static DtStatus
add_cell(Compile *compile, int slot)
{
    DtCodegen *codegen = compile->codegen;
    const DtSource *source = dt_source_get(codegen->trace, DT_SOURCE_LOCAL_CELL, NULL,
                                           codegen->layout.slots[slot].name, slot);
    return source != NULL ? add_load(compile, source) : DT_ERROR;
}

/* Operations that are a step of their own; `popped` -1 stands for the argument, -2 for twice. */
typedef struct StepRow {
    uint8_t op, step;
    int8_t popped, pushed;
    bool named; /* the argument is a name */
} StepRow;

static const StepRow step_rows[] = {
    {DT_OP_POP_TOP, DT_STEP_POP, 1, 0, false},
    {DT_OP_BUILD_TUPLE, DT_STEP_TUPLE, -1, 1, false},
    {DT_OP_BUILD_LIST, DT_STEP_LIST, -1, 1, false},
    {DT_OP_BUILD_SET, DT_STEP_SET, -1, 1, false},
    {DT_OP_BUILD_MAP, DT_STEP_MAP, -2, 1, false},
    {DT_OP_BUILD_SLICE, DT_STEP_SLICE, -1, 1, false},
    {DT_OP_LOAD_ATTR, DT_STEP_LOAD_ATTR, 1, 1, true},
    {DT_OP_STORE_ATTR, DT_STEP_STORE_ATTR, 2, 0, true},
    {DT_OP_DELETE_ATTR, DT_STEP_DELETE_ATTR, 1, 0, true},
    {DT_OP_BINARY_SUBSCR, DT_STEP_LOAD_ITEM, 2, 1, false},
    {DT_OP_STORE_SUBSCR, DT_STEP_STORE_ITEM, 3, 0, false},
    {DT_OP_DELETE_SUBSCR, DT_STEP_DELETE_ITEM, 2, 0, false},
    {DT_OP_STORE_GLOBAL, DT_STEP_STORE_GLOBAL, 1, 0, true},
    {DT_OP_DELETE_GLOBAL, DT_STEP_DELETE_GLOBAL, 0, 0, true},
};

static DtStatus
add_row(Compile *compile, const StepRow *row, const DtEmitInstr *instr)
{
    uint32_t arg = (uint32_t)instr->arg;
    uint32_t popped = row->popped >= 0 ? (uint32_t)row->popped : arg * (uint32_t)-row->popped;
    if (row->named) {
        DT_TRY(keep_const(compile, instr->object, &arg));
    }
    return add_step(compile, (DtStepKind)row->step, arg, popped, (uint32_t)row->pushed);
}

static DtStatus
add_function(Compile *compile, const DtEmitInstr *instr)
{
    uint32_t name, flags = (uint32_t)instr->arg & 15;
    DT_TRY(keep_const(compile, instr->object, &name));
    uint32_t parts = (uint32_t)__builtin_popcount(flags) + 1;
    DT_TRY(add_step(compile, DT_STEP_FUNCTION, name, parts, 1));
    compile->steps.items[compile->steps.count - 1].flags = (uint16_t)flags;
    return DT_OK;
}

static DtStatus
add_instr(Compile *compile, const DtEmitInstr *instr)
{
    uint32_t arg = (uint32_t)instr->arg;
    switch (instr->op) {
    case DT_OP_LOAD_CONST:
        return add_const(compile, instr->object);
    case DT_OP_LOAD_FAST:
        return add_slot(compile, instr->arg);
    case DT_OP_STORE_FAST:
        return add_store(compile, instr->arg);
    case DT_OP_DELETE_FAST:
        return add_step(compile, DT_STEP_CLEAR_PLACE,
                        (uint32_t)compile->codegen->trace->frame_index[instr->arg], 0, 0);
    case DT_OP_PUSH_NULL:
        return add_step(compile, DT_STEP_NULL, 0, 0, 1);
    case DT_OP_RETURN_VALUE:
        arg = compile->codegen->plan->npushed;
        return compile->codegen->trace->cut.made ? add_step(compile, DT_STEP_LAND, arg, arg, 0)
                                                 : add_step(compile, DT_STEP_RETURN, 0, 1, 0);
    case DT_OP_LOAD_CLOSURE:
        return add_cell(compile, instr->arg);
    case DT_OP_STORE_DEREF:
        DT_TRY(add_cell(compile, instr->arg));
        return add_step(compile, DT_STEP_STORE_CELL, 0, 2, 0);
    case DT_OP_DELETE_DEREF:
        DT_TRY(add_cell(compile, instr->arg));
        return add_step(compile, DT_STEP_CLEAR_CELL, 0, 1, 0);
    case DT_OP_CALL:
        return add_step(compile, DT_STEP_CALL, arg, arg + 1, 1);
    case DT_OP_MAKE_FUNCTION:
        return add_function(compile, instr);
    default:
        break;
    }
    for (size_t i = 0; i < sizeof(step_rows) / sizeof(step_rows[0]); i++) {
        if (step_rows[i].op == instr->op) {
            return add_row(compile, &step_rows[i], instr);
        }
    }
    compile->fits = false;
    return DT_OK;
}

static DtStatus
index_slots(Compile *compile)
{
    DtCodegen *codegen = compile->codegen;
    DtArena *arena = &codegen->trace->arena;
    compile->output_in = DT_ARENA_ARRAY(arena, uint32_t, codegen->emit->slots.count);
    compile->pair_in = DT_ARENA_ARRAY(arena, uint32_t, codegen->emit->slots.count);
    compile->early_in = DT_ARENA_ARRAY(arena, uint32_t, codegen->emit->slots.count);
    compile->unused_pair_at = DT_ARENA_ARRAY(arena, bool, codegen->emit->instrs.count);
    if (compile->output_in == NULL || compile->pair_in == NULL || compile->early_in == NULL
        || compile->unused_pair_at == NULL) {
        return dt_no_memory();
    }
    for (uint32_t i = 0; i < codegen->outputs.count; i++) {
        compile->output_in[codegen->outputs.items[i].slot] = i + 1;
    }
    for (uint32_t i = 0; i < codegen->pairs.count; i++) {
        const DtShared *shared = codegen->pairs.items[i];
        compile->pair_in[shared->slot] = i + 1;
        compile->unused_pair_at[shared->pair] = !shared->reused;
    }
    for (uint32_t i = 0; i < codegen->early.count; i++) {
        compile->early_in[codegen->early.items[i].slot] = i + 1;
    }
    return DT_OK;
}

static DtStatus
add_instrs(Compile *compile)
{
    DtCodegen *codegen = compile->codegen;
    const DtEmit *emit = codegen->emit;
    uint32_t range = 0;
    for (uint32_t i = 0; compile->fits && i < emit->instrs.count; i++) {
        while (range < codegen->ranges.count && codegen->ranges.items[range].start < i) {
            range++;
        }
        if (range < codegen->ranges.count && codegen->ranges.items[range].start == i) {
            DT_TRY(add_load(compile, codegen->ranges.items[range].source));
            i = codegen->ranges.items[range].end - 1;
        }
        else if (compile->unused_pair_at[i]) {
            i++;
        }
        else {
            DT_TRY(add_instr(compile, &emit->instrs.items[i]));
        }
    }
    return DT_OK;
}

/* Each output's last use takes the reference. */
static DtStatus
mark_last_uses(Compile *compile)
{
    bool *seen =
        DT_ARENA_ARRAY(&compile->codegen->trace->arena, bool, compile->codegen->outputs.count);
    if (seen == NULL) {
        return dt_no_memory();
    }
    for (uint32_t i = compile->steps.count; i-- > 0;) {
        DtResultStep *step = &compile->steps.items[i];
        if (step->step == DT_STEP_OUTPUT && !seen[step->arg]) {
            seen[step->arg] = true;
            step->step = DT_STEP_OUTPUT_LAST;
        }
    }
    return DT_OK;
}

/* Steps that only move values, each output to where it stays. */
static bool
is_sure(const Compile *compile)
{
    bool sure = compile->codegen->pairs.count == 0;
    uint32_t taken = 0;
    for (uint32_t i = 0; sure && i < compile->steps.count; i++) {
        switch ((DtStepKind)compile->steps.items[i].step) {
        case DT_STEP_OUTPUT_LAST:
            taken++;
            break;
        case DT_STEP_CONST:
        case DT_STEP_LOAD:
        case DT_STEP_OUTPUT:
        case DT_STEP_NULL:
        case DT_STEP_STORE_PLACE:
        case DT_STEP_CLEAR_PLACE:
        case DT_STEP_LAND:
        case DT_STEP_RETURN:
            break;
        default:
            sure = false;
        }
    }
    return sure && taken == compile->codegen->outputs.count;
}

/* Outputs, all of them, and constants, a tuple of these, and that returned.  Loads are not among
 * them: to make a tuple may run other code, which may let go of what is loaded. */
static bool
is_packed(const Compile *compile)
{
    uint32_t count = compile->steps.count, taken = 0;
    const DtResultStep *steps = compile->steps.items;
    bool packed = count > 2 && steps[count - 2].step == DT_STEP_TUPLE
                  && steps[count - 2].arg == count - 2 && steps[count - 1].step == DT_STEP_RETURN;
    for (uint32_t i = 0; packed && i < count - 2; i++) {
        taken += steps[i].step == DT_STEP_OUTPUT_LAST;
        packed = steps[i].step == DT_STEP_OUTPUT_LAST || steps[i].step == DT_STEP_OUTPUT
                 || steps[i].step == DT_STEP_CONST;
    }
    return packed && taken == compile->codegen->outputs.count;
}

static DtStatus
make_program(const Compile *compile, DtResultProgram **out)
{
    size_t steps = sizeof(DtResultStep) * compile->steps.count;
    size_t size = sizeof(DtResultProgram) + steps + sizeof(PyObject *) * compile->consts.count;
    DtResultProgram *program = calloc(1, size);
    if (program == NULL) {
        return dt_no_memory();
    }
    program->nsteps = compile->steps.count;
    program->noutputs = compile->codegen->outputs.count;
    program->ntemporaries = compile->codegen->pairs.count;
    program->depth = compile->deepest + 1;
    program->nconsts = compile->consts.count;
    program->name = Py_NewRef(dt_code_name(compile->codegen->trace->code));
    program->filename = Py_NewRef(dt_code_filename(compile->codegen->trace->code));
    program->line = compile->codegen->emit->position.line;
    program->consts = (PyObject **)((char *)program->steps + steps);
    memcpy(program->steps, compile->steps.items, steps);
    for (uint32_t i = 0; i < program->nconsts; i++) {
        program->consts[i] = Py_NewRef(compile->consts.items[i]);
    }
    program->single = program->noutputs == 1 && program->nsteps == 2
                      && program->steps[0].step == DT_STEP_OUTPUT_LAST
                      && program->steps[1].step == DT_STEP_RETURN;
    program->sure = is_sure(compile);
    program->packed = is_packed(compile);
    *out = program;
    return DT_OK;
}

DtStatus
dt_result_compile(DtCodegen *codegen, DtResultProgram **out)
{
    *out = NULL;
    Compile compile = {.codegen = codegen, .fits = true};
    DT_TRY(index_slots(&compile));
    DT_TRY(add_instrs(&compile));
    if (!compile.fits) {
        return DT_OK;
    }
    DT_TRY(mark_last_uses(&compile));
    codegen->plan->loads = compile.loads.items;
    codegen->plan->nloads = compile.loads.count;
    return make_program(&compile, out);
}
