/* Builds one fused stage: which memory each operand lives in, and the steps in order.
 *
 * Slots are numbered inputs, scalars, outputs and registers as they come up.  A register is taken
 * when a node needs one and free again after the node's last use; a result may take the
 * register of an operand that dies with it if the elements have the same size, for
 * NumPy's loops give the same bits in place.
 */
#include <string.h>

#include "backend/native/kernels.h"

typedef struct Builder {
    DtNative *exe;
    DtPlan *plan;
    DtPlanStage *stage;
    DtFused *fused;
    uint16_t free_slots[DT_FUSED_MAX_SLOTS]; /* registers nobody uses now */
    uint32_t nfree;
    /* Casts of inputs, made once per block. */
    struct {
        uint16_t from, to;
        int type_num;
    } casts[DT_FUSED_MAX_INPUTS * 2];
    uint32_t ncasts;
} Builder;

static uint8_t
register_size(const DtFused *fused, uint16_t slot)
{
    for (uint32_t i = 0; i < fused->nregisters; i++) {
        if (fused->registers[i].slot == slot) {
            return fused->registers[i].size;
        }
    }
    return 0;
}

static uint16_t
take_register(Builder *builder, uint8_t size)
{
    DtFused *fused = builder->fused;
    for (uint32_t i = builder->nfree; i > 0; i--) {
        uint16_t slot = builder->free_slots[i - 1];
        if (register_size(fused, slot) == size) {
            builder->free_slots[i - 1] = builder->free_slots[--builder->nfree];
            return slot;
        }
    }
    uint16_t slot = (uint16_t)fused->nslots++;
    fused->registers[fused->nregisters++] = (DtFusedRegister){slot, size};
    fused->register_bytes += size;
    return slot;
}

static void
free_register(Builder *builder, uint16_t slot)
{
    if (register_size(builder->fused, slot) != 0) {
        builder->free_slots[builder->nfree++] = slot;
    }
}

static uint8_t
type_size(int type_num)
{
    PyArray_Descr *descr = PyArray_DescrFromType(type_num);
    uint8_t size = (uint8_t)PyDataType_ELSIZE(descr);
    Py_DECREF(descr);
    return size;
}

/* The input for an array from outside of the stage. */
static DtFusedInput *
find_input(Builder *builder, const DtPlanUse *use, uint8_t allow)
{
    DtFused *fused = builder->fused;
    const DtOperand *operand = use->operand;
    const DtPlanNode *producer = dt_plan_maker(&builder->plan->nodes[operand->u.node->index]);
    bool view = producer->level == DT_LEVEL_VIEW;
    DtValue value = {view ? producer->node : operand->u.node, operand->result};
    DtFusedInput *input;
    for (uint32_t i = 0; i < fused->ninputs; i++) {
        input = &fused->inputs[i];
        if (input->value.node == value.node && input->value.result == value.result) {
            input->allow = allow < input->allow ? allow : input->allow;
            return input;
        }
    }
    input = &fused->inputs[fused->ninputs++];
    input->value = value;
    input->view = view ? producer->view : NULL;
    input->type_num = use->type_num;
    input->size = type_size(use->type_num);
    input->allow = allow;
    input->slot = (uint16_t)fused->nslots++;
    return input;
}

static void
take_cell(Builder *builder, DtFusedScalar *scalar)
{
    const DtPlanNode *own = &builder->plan->nodes[scalar->value.node->index];
    if (own->cell_type != DT_CELL_NONE) {
        scalar->box = dt_plan_box(own);
    }
}

/* A constant: that of the same bits, or a new one. */
static uint16_t
add_constant(DtFused *fused, const DtFusedScalar *constant)
{
    for (uint32_t i = 0; i < fused->nscalars; i++) {
        const DtFusedScalar *other = &fused->scalars[i];
        if (other->kind == DT_SCALAR_CONST && other->type_num == constant->type_num
            && memcmp(other->cell, constant->cell, sizeof(other->cell)) == 0) {
            return other->slot;
        }
    }
    fused->scalars[fused->nscalars] = *constant;
    fused->scalars[fused->nscalars].slot = (uint16_t)fused->nslots++;
    return fused->scalars[fused->nscalars++].slot;
}

static uint16_t
add_scalar(Builder *builder, const DtPlanUse *use, int type_num)
{
    DtFused *fused = builder->fused;
    const DtOperand *operand = use->operand;
    if (use->kind != DT_USE_SCALAR && operand->kind != DT_OPERAND_SYM
        && operand->kind != DT_OPERAND_NODE) {
        DtFusedScalar constant = {
            .kind = DT_SCALAR_CONST, .type_num = type_num, .size = type_size(type_num)};
        /* The planner has checked that it fits. */
        (void)dt_cast_number(operand->u.object, type_num, constant.cell);
        return add_constant(fused, &constant);
    }
    DtFusedScalar *scalar = &fused->scalars[fused->nscalars++];
    scalar->slot = (uint16_t)fused->nslots++;
    scalar->type_num = type_num;
    scalar->size = type_size(type_num);
    if (use->kind == DT_USE_SCALAR) {
        scalar->kind = DT_SCALAR_VALUE;
        scalar->value = (DtValue){operand->u.node, operand->result};
        scalar->from_type = use->type_num;
        take_cell(builder, scalar);
    }
    else if (operand->kind == DT_OPERAND_SYM) {
        scalar->kind = DT_SCALAR_SYM;
        scalar->sym = operand->u.sym;
    }
    else {
        scalar->kind = DT_SCALAR_NUMBER;
        scalar->value = (DtValue){operand->u.node, operand->result};
        take_cell(builder, scalar);
    }
    return scalar->slot;
}

/* A step that casts `from` to a register; inputs keep theirs for later users.  `flags` says what
 * the step runs over. */
static uint16_t
add_cast(Builder *builder, uint16_t from, int from_type, int to_type, bool keep, uint8_t flags)
{
    DtFused *fused = builder->fused;
    for (uint32_t i = 0; keep && i < builder->ncasts; i++) {
        if (builder->casts[i].from == from && builder->casts[i].type_num == to_type) {
            return builder->casts[i].to;
        }
    }
    uint8_t size = type_size(to_type), from_size = type_size(from_type);
    uint16_t to = take_register(builder, size);
    fused->steps[fused->nsteps++] = (DtStep){
        .call = dt_cast_get(from_type, to_type),
        .strides = {from_size, size},
        .widest = size > from_size ? size : from_size,
        .slots = {from, to},
        .nargs = 2,
        .flags = flags,
    };
    if (keep && builder->ncasts < sizeof(builder->casts) / sizeof(builder->casts[0])) {
        builder->casts[builder->ncasts].from = from;
        builder->casts[builder->ncasts].to = to;
        builder->casts[builder->ncasts++].type_num = to_type;
    }
    return to;
}

/* An intermediate of the stage, or NULL for a value from outside. */
static DtPlanNode *
inner_node(const Builder *builder, const DtPlanUse *use, const DtPlanNode *user)
{
    DtPlanNode *producer = &builder->plan->nodes[use->operand->u.node->index];
    return producer->stage == user->stage && producer->level != DT_LEVEL_VIEW
               ? dt_plan_maker(producer)
               : NULL;
}

/* Does the loop compute without floating-point numbers, or only move them? */
static bool
is_silent(const DtLoop *loop)
{
    bool floats = false;
    for (int i = 0; i < loop->nargs; i++) {
        floats = floats || !(PyTypeNum_ISINTEGER(loop->types[i]) || loop->types[i] == NPY_BOOL);
    }
    return (loop->row->flags & DT_UFUNC_MOVES) || (loop->no_flags && !floats);
}

static DtStep
step_of(const DtLoop *loop)
{
    unsigned flags = loop->row->flags & DT_UFUNC_KEEPS ? 0 : DT_STEP_READ | DT_STEP_MAY_CLEAR;
    if (is_silent(loop)) {
        flags |= DT_STEP_SILENT | (loop->no_flags ? DT_STEP_READ : 0);
    }
    else if (loop->no_flags) {
        flags |= DT_STEP_READ | DT_STEP_CLEAR;
    }
    uint8_t widest = 0;
    for (int i = 0; i < loop->nargs; i++) {
        widest = loop->sizes[i] > widest ? loop->sizes[i] : widest;
    }
    return (DtStep){
        .call = loop->call,
        .context = loop->context,
        .auxdata = loop->auxdata,
        .nargs = loop->nargs,
        .flags = (uint8_t)flags,
        .widest = widest,
        .quads = loop->quads,
    };
}

/* Flags are read only where there may be any: they were read before the step before that raised
 * some.  The first step of a block follows the last one of another. */
static void
drop_reads(DtFused *fused)
{
    bool pending = false;
    for (int pass = 0; pass < 2; pass++) {
        for (uint32_t i = 0; i < fused->nsteps; i++) {
            DtStep *step = &fused->steps[i];
            bool reads = (step->flags & DT_STEP_READ) && pending;
            bool raises = !(step->flags & (DT_STEP_CLEAR | DT_STEP_SILENT | DT_STEP_EXPAND));
            if (pass == 1 && !pending) {
                step->flags &= (uint8_t)~DT_STEP_READ;
            }
            pending = raises || (pending && !reads);
        }
    }
}

/* Registers that a node needs for itself alone. */
typedef struct Temporaries {
    uint16_t slots[DT_LOOP_MAX_ARGS * 2];
    int count;
} Temporaries;

/* The slot of operand i, as the loop of the node wants it. */
static uint16_t
build_operand(Builder *builder, DtPlanNode *plan, uint32_t index, int i, Temporaries *temporaries)
{
    DtFused *fused = builder->fused;
    DtFusedOp *op = &fused->ops[index];
    const DtPlanUse *use = &plan->uses[i];
    int type_num = plan->loop->types[i];
    DtPlanNode *inner = inner_node(builder, use, plan);
    uint8_t flags = plan->level == DT_LEVEL_ROW ? DT_STEP_ROWS : 0;
    bool spread = inner != NULL && plan->level == DT_LEVEL_FULL && inner->level != DT_LEVEL_FULL;
    uint16_t slot;
    if (inner == NULL) {
        DtFusedInput *input = find_input(builder, use, plan->loop->allow);
        op->operands[op->nin++] = (int16_t)(input - fused->inputs);
        slot = input->slot;
    }
    else {
        if (!spread) {
            op->operands[op->nin++] = (int16_t)~inner->op;
        }
        slot = inner->slot;
    }
    if (spread) {
        op->rule = DT_ORDER_ITERATOR;
        uint8_t size = type_size(use->type_num);
        uint16_t to = take_register(builder, size);
        fused->steps[fused->nsteps++] = (DtStep){
            .strides = {size, size}, .slots = {slot, to}, .nargs = 2, .flags = DT_STEP_EXPAND};
        temporaries->slots[temporaries->count++] = to;
        fused->chained = true;
        slot = to;
    }
    if (!dt_loop_takes(plan->loop, (uint32_t)i, use->type_num)) {
        slot = add_cast(builder, slot, use->type_num, type_num, inner == NULL, flags);
        if (inner != NULL) {
            temporaries->slots[temporaries->count++] = slot;
        }
    }
    return slot;
}

/* Gives back what dies with node `index`. */
static void
free_operands(Builder *builder, const DtPlanNode *plan, uint32_t index,
              const Temporaries *temporaries)
{
    for (uint32_t i = 0; i < plan->nuses; i++) {
        DtPlanNode *inner =
            plan->uses[i].kind == DT_USE_ARRAY ? inner_node(builder, &plan->uses[i], plan) : NULL;
        if (inner != NULL && inner->last_op == index && !inner->outside) {
            free_register(builder, inner->slot);
            inner->last_op = UINT32_MAX; /* once, though it may be an operand twice */
        }
    }
    for (int i = 0; i < temporaries->count; i++) {
        free_register(builder, temporaries->slots[i]);
    }
}

/* The slot of a result with one element per row that is seen outside. */
static uint16_t
add_row(DtFused *fused, const DtPlanNode *plan, uint8_t size, int16_t equal)
{
    uint16_t slot = (uint16_t)fused->nslots++;
    fused->rows[fused->nrows++] = (DtFusedRow){
        .node = plan->node,
        .descr = plan->loop->out,
        .size = size,
        .slot = slot,
        .cell = plan->cell_type != DT_CELL_NONE ? plan->cell : DT_NO_CELL,
        .equal = equal,
        .keepdims = plan->node->results[0].ndim == fused->ndim,
    };
    return slot;
}

/* The slot of a result with one element per row. */
static uint16_t
row_slot(Builder *builder, const DtPlanNode *plan, uint8_t size)
{
    DtFused *fused = builder->fused;
    /* Results of columns, and of all, live as long as the stage. */
    if (!plan->outside && fused->reduces == DT_REDUCES_ROWS) {
        return take_register(builder, size);
    }
    return add_row(fused, plan, size, -1);
}

/* A reduction whose values another one has already. */
static void
build_copy(DtFused *fused, const DtPlanNode *plan)
{
    for (uint32_t i = 0; i < fused->nrows; i++) {
        if (fused->rows[i].node == plan->same->node) {
            (void)add_row(fused, plan, fused->rows[i].size, (int16_t)i);
            return;
        }
    }
}

static void
build_reduce(Builder *builder, DtPlanNode *plan, uint32_t index)
{
    DtFused *fused = builder->fused;
    const DtLoop *loop = plan->loop;
    Temporaries temporaries = {.count = 0};
    fused->ops[index] =
        (DtFusedOp){.node = plan->node, .level = DT_LEVEL_REDUCE, .size = loop->sizes[2]};
    DtStep step = step_of(loop);
    uint16_t source = build_operand(builder, plan, index, 0, &temporaries);
    plan->slot = row_slot(builder, plan, loop->sizes[2]); /* apart from what is reduced */
    free_operands(builder, plan, index, &temporaries);
    step.flags |= DT_STEP_REDUCE;
    step.slots[0] = step.slots[2] = plan->slot;
    step.slots[1] = source;
    step.reduce = (uint8_t)fused->nreduce;
    fused->reduce[fused->nreduce++] = (DtFusedReduce){
        .loop = loop,
        .source = source,
        .slot = plan->slot,
        .first = plan->reduce.first,
        .tree = plan->reduce.tree,
        .cut_shows = plan->reduce.cut_shows,
        .identity = plan->reduce.identity,
    };
    dt_reduced_find_short(&fused->reduce[step.reduce]);
    fused->steps[fused->nsteps++] = step;
}

/* As far as is known. */
static bool
is_one_item(const DtMeta *meta)
{
    for (uint32_t i = 0; i < meta->ndim; i++) {
        if (meta->shape[i]->hint.i != 1) {
            return false;
        }
    }
    return true;
}

/* Whether one item alone gets other bits than many. */
static DtStatus
note_single(DtFused *fused, const DtPlanNode *own)
{
    const DtLoop *loop = own->loop;
    bool same = loop->allow == DT_ALLOW_ANY;
    if (loop->allow == DT_ALLOW_STRIDED && !(loop->row->flags & DT_UFUNC_POWER)
        && is_one_item(&own->node->results[0])) {
        DT_TRY(dt_loop_try(own->node->callee, loop, DT_TRIED_ARRAYS, &same));
    }
    fused->single_called = fused->single_called || !same;
    return DT_OK;
}

static void
build_node(Builder *builder, DtPlanNode *plan, uint32_t index)
{
    DtFused *fused = builder->fused;
    const DtLoop *loop = plan->loop;
    int nin = loop->nargs - 1;
    Temporaries temporaries = {.count = 0};
    fused->ops[index] = (DtFusedOp){
        .node = plan->node, .level = plan->level, .rule = plan->rule, .size = loop->sizes[nin]};
    DtStep step = step_of(loop);
    for (int i = 0; i < nin; i++) {
        const DtPlanUse *use = &plan->uses[i];
        if (use->kind != DT_USE_ARRAY) {
            step.slots[i] = add_scalar(builder, use, loop->types[i]);
            step.strides[i] = 0;
            continue;
        }
        step.strides[i] = loop->sizes[i];
        step.slots[i] = build_operand(builder, plan, index, i, &temporaries);
    }
    /* Registers that die here come free first, so that the result may take one of them. */
    free_operands(builder, plan, index, &temporaries);
    bool by_row = plan->level == DT_LEVEL_ROW;
    if (by_row) {
        plan->slot = row_slot(builder, plan, loop->sizes[nin]);
        step.flags |= DT_STEP_ROWS;
        fused->chained = true;
        fused->single_row_called = fused->single_row_called || loop->allow != DT_ALLOW_ANY;
    }
    else if (plan->outside) {
        plan->slot = (uint16_t)fused->nslots++;
        fused->outputs[fused->noutputs++] = (DtFusedOutput){
            .node = plan->node,
            .descr = loop->out,
            .size = loop->sizes[nin],
            .slot = plan->slot,
            .op = (uint8_t)index,
            .reuse = -1,
        };
        fused->iterated = fused->iterated || fused->ops[index].rule == DT_ORDER_ITERATOR;
    }
    else {
        plan->slot = take_register(builder, loop->sizes[nin]);
    }
    step.slots[nin] = plan->slot;
    step.strides[nin] = loop->sizes[nin];
    fused->steps[fused->nsteps++] = step;
    fused->raises =
        fused->raises
        || ((loop->row->flags & DT_UFUNC_RAISES) && PyTypeNum_ISINTEGER(loop->types[0]));
    fused->tells_nans = fused->tells_nans || (loop->row->flags & DT_UFUNC_SIGNS);
    fused->dense_called = fused->dense_called || loop->allow == DT_ALLOW_CONTIG;
}

/* An intermediate of the graph that dies with this stage may give its memory to an output of the
 * same type, if no step reads it after that output is written: NumPy does the same with its
 * temporaries. */
static void
find_reuse(DtFused *fused, const DtPlan *plan, int32_t index)
{
    bool taken[DT_FUSED_MAX_INPUTS] = {false};
    for (uint32_t i = 0; i < fused->noutputs && fused->nreduce == 0; i++) {
        DtFusedOutput *output = &fused->outputs[i]; /* a reduction may yet be called for */
        for (uint32_t k = 0; k < fused->ninputs && output->reuse < 0; k++) {
            const DtFusedInput *input = &fused->inputs[k];
            const DtNode *node = input->value.node;
            if (taken[k] || node->kind != DT_NODE_CALL || input->view != NULL
                || input->type_num != output->descr->type_num
                || plan->nodes[node->index].last_stage != index) {
                continue;
            }
            uint32_t last = 0;
            for (uint32_t op = 0; op < fused->nops; op++) {
                for (int j = 0; j < fused->ops[op].nin; j++) {
                    last = fused->ops[op].operands[j] == (int)k ? op : last;
                }
            }
            if (last <= output->op) {
                output->reuse = (int16_t)k;
                taken[k] = true;
            }
        }
    }
}

/* Numbers that a run has to look up come first. */
static void
sort_scalars(DtFused *fused)
{
    for (uint32_t i = 0; i < fused->nscalars; i++) {
        if (fused->scalars[i].kind != DT_SCALAR_CONST) {
            DtFusedScalar scalar = fused->scalars[i];
            fused->scalars[i] = fused->scalars[fused->nvarying];
            fused->scalars[fused->nvarying++] = scalar;
        }
    }
}

/* Elements per block: registers, inputs and outputs of one block together.  Best between 32 and 64
 * KB on the machine measured (32 KB of first-level cache), flat around it; below 512 elements the
 * calls show. */
static npy_intp
choose_block(const DtFused *fused)
{
    uint32_t bytes = fused->register_bytes;
    for (uint32_t i = 0; i < fused->ninputs; i++) {
        bytes += fused->inputs[i].size;
    }
    for (uint32_t i = 0; i < fused->noutputs; i++) {
        bytes += fused->outputs[i].size;
    }
    npy_intp block = 49152 / (bytes == 0 ? 1 : bytes);
    block = block < 512 ? 512 : block > 4096 ? 4096 : block;
    return block & ~(npy_intp)63;
}

DtStatus
dt_fuse_build(DtNative *exe, DtPlan *plan, DtPlanStage *stage, DtFused **out)
{
    uint32_t count = stage->nodes.count;
    DtArena *arena = &exe->arena;
    Builder *builder = DT_ARENA_NEW(&plan->arena, Builder);
    DtFused *fused = DT_ARENA_NEW(arena, DtFused);
    if (builder == NULL || fused == NULL) {
        goto no_memory;
    }
    *builder = (Builder){.exe = exe, .plan = plan, .stage = stage, .fused = fused};
    fused->ndim = stage->shape->ndim;
    fused->fp_region = plan->nodes[stage->nodes.items[0]].node->fp_region;
    fused->reduces = stage->reduces;
    fused->reduce_axes = stage->reduce_axes;
    fused->reduce = DT_ARENA_ARRAY(arena, DtFusedReduce, count);
    fused->rows = DT_ARENA_ARRAY(arena, DtFusedRow, count);
    /* Every array operand may need a cast of its own. */
    fused->inputs = DT_ARENA_ARRAY(arena, DtFusedInput, DT_FUSED_MAX_INPUTS);
    fused->scalars = DT_ARENA_ARRAY(arena, DtFusedScalar, stage->nnumbers + 1);
    fused->outputs = DT_ARENA_ARRAY(arena, DtFusedOutput, count);
    fused->registers = DT_ARENA_ARRAY(arena, DtFusedRegister, count * DT_LOOP_MAX_ARGS);
    fused->ops = DT_ARENA_ARRAY(arena, DtFusedOp, count);
    fused->layout = DT_ARENA_ARRAY(arena, DtLayout *, 1);
    fused->straight = DT_ARENA_ARRAY(arena, DtStraight *, 1);
    fused->steps = DT_ARENA_ARRAY(arena, DtStep, count * DT_LOOP_MAX_ARGS * 2);
    if (fused->reduce == NULL || fused->rows == NULL || fused->inputs == NULL
        || fused->scalars == NULL || fused->outputs == NULL || fused->registers == NULL
        || fused->ops == NULL || fused->layout == NULL || fused->straight == NULL
        || fused->steps == NULL) {
        goto no_memory;
    }
    for (uint32_t i = 0; i < count; i++) {
        plan->nodes[stage->nodes.items[i]].op = i;
    }
    dt_plan_find_equal(plan, stage);
    for (uint32_t i = 0; i < count; i++) {
        DtPlanNode *node = &plan->nodes[stage->nodes.items[i]];
        for (uint32_t j = 0; node->same == NULL && j < node->nuses; j++) {
            if (node->uses[j].kind == DT_USE_ARRAY) {
                DtPlanNode *inner = inner_node(builder, &node->uses[j], node);
                if (inner != NULL) {
                    inner->last_op = i;
                }
            }
        }
    }
    for (uint32_t i = 0; i < count; i++) {
        DtPlanNode *node = &plan->nodes[stage->nodes.items[i]];
        if (node->same != NULL) {
            fused->ops[i] = fused->ops[node->same->op];
            fused->ops[i].node = node->node;
            if (node->outside) {
                build_copy(fused, node);
            }
            continue;
        }
        if (node->level == DT_LEVEL_VIEW) {
            fused->ops[i] = (DtFusedOp){.node = node->node, .level = DT_LEVEL_VIEW};
            DT_TRY(dt_kernel_plan(exe, plan, node->node, &node->view));
            continue;
        }
        if (node->level != DT_LEVEL_REDUCE && node->level != DT_LEVEL_ROW) {
            DT_TRY(note_single(fused, node));
        }
        (node->level == DT_LEVEL_REDUCE ? build_reduce : build_node)(builder, node, i);
    }
    fused->nops = count;
    drop_reads(fused);
    sort_scalars(fused);
    for (uint32_t i = 0; i < fused->nsteps; i++) {
        fused->nquads += fused->steps[i].quads != NULL;
    }
    find_reuse(fused, plan, plan->nodes[stage->nodes.items[0]].stage);
    fused->block = choose_block(fused);
    *out = fused;
    return DT_OK;
no_memory:
    return dt_no_memory();
}
