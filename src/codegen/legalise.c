/* From emitted to real instructions; see legalise.h. */
#include "codegen/legalise.h"

#include "codegen/lower.h"
#include "compat/errors.h"

DtStatus
dt_legal_put(DtLegal *legal, const DtEmitInstr *instr, int opcode_number, int arg)
{
    DtRealInstr real = {
        .opcode = (uint8_t)opcode_number,
        .arg = arg,
        .jump = -1,
        .position = instr->position,
    };
    return dt_vec_push(legal->arena, &legal->instrs, real) == 0 ? DT_OK : dt_no_memory();
}

DtStatus
dt_legal_put_jump(DtLegal *legal, const DtEmitInstr *instr, int opcode_number, DtLabel label)
{
    DT_TRY(dt_legal_put(legal, instr, opcode_number, 0));
    legal->instrs.items[legal->instrs.count - 1].jump = label;
    return DT_OK;
}

DtStatus
dt_legal_const(DtLegal *legal, PyObject *constant, int *number)
{
    uintptr_t known = (uintptr_t)dt_map_get(&legal->const_numbers, constant);
    if (known == 0) {
        known = legal->consts.count + 1;
        if (dt_vec_push(legal->arena, &legal->consts, constant) != 0
            || dt_map_set(legal->arena, &legal->const_numbers, constant, (void *)known) != 0) {
            return dt_no_memory();
        }
    }
    *number = (int)known - 1;
    return DT_OK;
}

DtStatus
dt_legal_name(DtLegal *legal, PyObject *name, int *number)
{
    uintptr_t known = (uintptr_t)dt_map_get(&legal->name_numbers, name);
    if (known == 0) {
        known = legal->names.count + 1;
        if (dt_vec_push(legal->arena, &legal->names, name) != 0
            || dt_map_set(legal->arena, &legal->name_numbers, name, (void *)known) != 0) {
            return dt_no_memory();
        }
    }
    *number = (int)known - 1;
    return DT_OK;
}

int
dt_legal_slot_kind(const DtLegal *legal, uint32_t slot)
{
    int kind = legal->emit->slots.items[slot].kind;
    bool captured_local = (kind & DT_SLOT_LOCAL) && (kind & DT_SLOT_CELL);
    return captured_local && (int)slot >= legal->nargs ? DT_SLOT_CELL : kind;
}

/* Locals in order, then cells that are no locals, then free variables; DEREF
 * numbers are those slots, except on 3.10: cells then free variables, from 0. */
static DtStatus
place_slots(DtLegal *legal)
{
    const DtEmit *emit = legal->emit;
    uint32_t count = emit->slots.count;
    legal->frame_slot = DT_ARENA_ARRAY(legal->arena, int, count + 1);
    legal->deref_slot = DT_ARENA_ARRAY(legal->arena, int, count + 1);
    if (legal->frame_slot == NULL || legal->deref_slot == NULL) {
        return dt_no_memory();
    }
    int next = 0;
    int deref = 0;
    for (uint32_t i = 0; i < count; i++) {
        legal->frame_slot[i] = dt_legal_slot_kind(legal, i) & DT_SLOT_LOCAL ? next++ : -1;
    }
    for (int kind = DT_SLOT_CELL; kind <= DT_SLOT_FREE; kind *= 2) {
        for (uint32_t i = 0; i < count; i++) {
            if (!(dt_legal_slot_kind(legal, i) & kind)) {
                continue;
            }
            if (legal->frame_slot[i] < 0) {
                legal->frame_slot[i] = next++;
            }
            legal->deref_slot[i] = DT_PY310 ? deref : legal->frame_slot[i];
            deref++;
            *(kind == DT_SLOT_CELL ? &legal->ncells : &legal->nfrees) += 1;
        }
    }
    return DT_OK;
}

/* --- landings ------------------------------------------------------------ */

/* Instructions that an exhausted FOR_ITER skips, in front of its destination;
 * whatever else falls in there jumps over them. */
static DtStatus
put_landing(DtLegal *legal, uint32_t index)
{
    const DtEmit *emit = legal->emit;
    const DtEmitInstr *instr = &emit->instrs.items[index];
    uint32_t over = UINT32_MAX;
    if (!legal->is_loop_end[index] || !dt_lower_needs_landing()) {
        return DT_OK;
    }
    if (dt_canonical_falls_through((instr - 1)->op)) {
        over = legal->instrs.count;
        DT_TRY(dt_legal_put_jump(legal, instr, dt_lower_jump_opcode(-1, false), 0));
    }
    legal->landings[index] = legal->instrs.count;
    DT_TRY(dt_lower_landing(legal, instr));
    if (over != UINT32_MAX) {
        legal->instrs.items[over].jump = legal->fixed_label + (int32_t)legal->instrs.count;
    }
    return DT_OK;
}

/* --- protected regions --------------------------------------------------- */

static bool
is_inside(const DtEmit *emit, const DtEmitTry *region, uint32_t index)
{
    return emit->labels.items[region->start] <= index && index < emit->labels.items[region->end];
}

static DtStatus
put_region_ends(DtLegal *legal, uint32_t index)
{
    const DtEmit *emit = legal->emit;
    for (uint32_t i = 0; i < emit->tries.count && dt_lower_has_blocks(); i++) {
        if (emit->labels.items[emit->tries.items[i].end] == index) {
            DT_TRY(dt_lower_pop_block(legal, &emit->instrs.items[index]));
        }
    }
    return DT_OK;
}

static DtStatus
put_region_starts(DtLegal *legal, uint32_t index)
{
    const DtEmit *emit = legal->emit;
    for (uint32_t i = emit->tries.count; i-- > 0 && dt_lower_has_blocks();) {
        const DtEmitTry *region = &emit->tries.items[i];
        if (emit->labels.items[region->start] == index) {
            DT_TRY(dt_lower_setup_block(legal, &emit->instrs.items[index], region->handler));
        }
    }
    return DT_OK;
}

/* A return leaves all regions around it. */
static DtStatus
put_region_exits(DtLegal *legal, uint32_t index)
{
    const DtEmit *emit = legal->emit;
    if (emit->instrs.items[index].op != DT_OP_RETURN_VALUE || !dt_lower_has_blocks()) {
        return DT_OK;
    }
    for (uint32_t i = 0; i < emit->tries.count; i++) {
        if (is_inside(emit, &emit->tries.items[i], index)) {
            DT_TRY(dt_lower_pop_block(legal, &emit->instrs.items[index]));
        }
    }
    return DT_OK;
}

/* Regions in real instructions, and the clean-up of each handler. */
static DtStatus
put_regions(DtLegal *legal)
{
    const DtEmit *emit = legal->emit;
    for (uint32_t i = 0; i < emit->tries.count && !dt_lower_has_blocks(); i++) {
        const DtEmitTry *region = &emit->tries.items[i];
        DtRealTry real = {
            .start = legal->starts[emit->labels.items[region->start]],
            .end = legal->starts[emit->labels.items[region->end]],
            .handler = legal->starts[emit->labels.items[region->handler]],
        };
        /* Behind PUSH_EXC_INFO the previously handled exception lies under the new one and
         * must be there still when the clean-up takes over. */
        DtRealTry cleanup = {
            .start = real.handler + 1,
            .end = legal->starts[emit->labels.items[region->handler_end]],
            .handler = legal->instrs.count,
            .extra = -1,
            .lasti = true,
        };
        DT_TRY(dt_lower_handler_cleanup(legal,
                                        &emit->instrs.items[emit->labels.items[region->handler]]));
        if (dt_vec_push(legal->arena, &legal->tries, real) != 0
            || dt_vec_push(legal->arena, &legal->tries, cleanup) != 0) {
            return dt_no_memory();
        }
    }
    return DT_OK;
}

/* --- everything ---------------------------------------------------------- */

static DtStatus
put_instr(DtLegal *legal, uint32_t index)
{
    const DtEmitInstr *instr = &legal->emit->instrs.items[index];
    bool own = dt_lower_pushes_null(legal, index);
    DT_TRY(put_landing(legal, index));
    legal->starts[index] = legal->instrs.count;
    DT_TRY(put_region_ends(legal, index));
    DT_TRY(put_region_starts(legal, index));
    DT_TRY(put_region_exits(legal, index));
    for (int i = legal->nulls.before[index] - (own && legal->nulls.before[index]); i > 0; i--) {
        DT_TRY(dt_lower_null(legal, instr));
    }
    DT_TRY(dt_lower_instr(legal, index));
    if (legal->nulls.after[index] && !own) {
        DT_TRY(dt_lower_null(legal, instr));
    }
    return legal->nulls.beneath[index] ? dt_lower_null_beneath(legal, instr) : DT_OK;
}

/* Regions that end at the destination but do not contain the jump are not
 * left by it: it goes past their POP_BLOCKs, which come innermost first.  Nor
 * are they left by the way into a handler: the interpreter has popped them. */
static uint32_t
region_ends_to_skip(const DtEmit *emit, const DtRealInstr *jump, uint32_t from, uint32_t to)
{
    uint32_t count = 0;
    bool to_handler = dt_lower_is_setup(jump->opcode);
    for (uint32_t i = 0; i < emit->tries.count && dt_lower_has_blocks(); i++) {
        count += emit->labels.items[emit->tries.items[i].end] == to
                 && (to_handler || !is_inside(emit, &emit->tries.items[i], from));
    }
    return count;
}

/* Labels to real instructions.  `from` follows the emitted instructions alongside. */
static void
link_jumps(DtLegal *legal)
{
    const DtEmit *emit = legal->emit;
    uint32_t from = 0;
    for (uint32_t i = 0; i < legal->instrs.count; i++) {
        DtRealInstr *real = &legal->instrs.items[i];
        while (from + 1 < emit->instrs.count && legal->starts[from + 1] <= i) {
            from++;
        }
        if (real->jump >= legal->fixed_label) {
            real->jump -= legal->fixed_label;
        }
        else if (real->jump >= 0) {
            uint32_t to = emit->labels.items[real->jump];
            bool lands = emit->instrs.items[from].op == DT_OP_FOR_ITER && dt_lower_needs_landing();
            real->jump =
                (int32_t)(lands ? legal->landings[to]
                                : legal->starts[to] + region_ends_to_skip(emit, real, from, to));
        }
    }
}

static DtStatus
make_tables(DtLegal *legal)
{
    const DtEmit *emit = legal->emit;
    uint32_t count = emit->instrs.count;
    legal->starts = DT_ARENA_ARRAY(legal->arena, uint32_t, count + 1);
    legal->landings = DT_ARENA_ARRAY(legal->arena, uint32_t, count + 1);
    legal->is_loop_end = DT_ARENA_ARRAY(legal->arena, uint8_t, count + 1);
    if (legal->starts == NULL || legal->landings == NULL || legal->is_loop_end == NULL) {
        return dt_no_memory();
    }
    for (uint32_t i = 0; i < count; i++) {
        const DtEmitInstr *instr = &emit->instrs.items[i];
        if (instr->op != DT_OP_FOR_ITER) {
            continue;
        }
        uint32_t to = emit->labels.items[instr->label];
        if (to <= i) {
            PyErr_Format(PyExc_SystemError, "emitted code, instruction %u: FOR_ITER goes back",
                         (unsigned)i);
            return DT_ERROR;
        }
        legal->is_loop_end[to] = 1;
    }
    legal->fixed_label = (int32_t)emit->labels.count;
    return DT_OK;
}

DtStatus
dt_legalise_code(DtArena *arena, const DtEmit *emit, PyObject *doc, int firstlineno, int nargs,
                 DtLegal *legal)
{
    int number;
    *legal = (DtLegal){.arena = arena, .emit = emit, .nargs = nargs};
    DT_TRY(dt_nulls_place(arena, emit, &legal->nulls));
    DT_TRY(place_slots(legal));
    DT_TRY(make_tables(legal));
    DT_TRY(dt_legal_const(legal, doc != NULL ? doc : Py_None, &number));
    DT_TRY(dt_lower_prologue(legal, firstlineno));
    for (uint32_t i = 0; i < emit->instrs.count; i++) {
        DT_TRY(put_instr(legal, i));
    }
    legal->starts[emit->instrs.count] = legal->instrs.count;
    DT_TRY(put_regions(legal));
    link_jumps(legal);
    return DT_OK;
}
