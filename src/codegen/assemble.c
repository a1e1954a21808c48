/* From real instructions to a code object.
 *
 *   DtLegal ─► direction of jumps ─► sizes and offsets (until they no longer grow)
 *           ─► stack depths ─► bytes, line table, exception table ─► code object
 *
 * Depths come from the stack pictures of opcodes.def, the same that decoding
 * uses, so an assembled code object decodes without complaint.
 */
#include "codegen/assemble.h"

#include "bytecode/opcodes.h"
#include "codegen/legalise.h"
#include "codegen/lower.h"
#include "codegen/units.h"
#include "compat/errors.h"

enum { BLOCK_VALUES = 6 };

typedef struct Assembler {
    DtArena arena;
    const DtEmit *emit;
    const DtAssembleMeta *meta;
    DtLegal legal;
    uint32_t *offsets;  /* per real instruction, in units; one more for the end */
    int32_t *depths;    /* before each real instruction; -1: not reached */
    int32_t *try_of;    /* innermost region around it, or -1 */
    int32_t *try_depth; /* per region: stack depth at its start, or -1 */
    int32_t *flooded;   /* per real instruction: mark of the last flood */
    uint32_t *work;
    uint32_t work_count;
    int32_t max_depth;
    DtExpand expand;
} Assembler;

static DtStatus
fault(uint32_t index, const char *what)
{
    PyErr_Format(PyExc_SystemError, "assembled code, instruction %u: %s", (unsigned)index, what);
    return DT_ERROR;
}

void
dt_assemble_meta_of(PyCodeObject *code, DtAssembleMeta *meta)
{
    PyObject *consts = dt_code_consts(code);
    PyObject *first = PyTuple_GET_SIZE(consts) > 0 ? PyTuple_GET_ITEM(consts, 0) : NULL;
    *meta = (DtAssembleMeta){
        .argcount = dt_code_argcount(code),
        .posonlyargcount = dt_code_posonlyargcount(code),
        .kwonlyargcount = dt_code_kwonlyargcount(code),
        .flags = dt_code_flags(code),
        .firstlineno = dt_code_firstlineno(code),
        .filename = dt_code_filename(code),
        .name = dt_code_name(code),
        .qualname = dt_code_qualname(code),
        .doc = first != NULL && PyUnicode_Check(first) ? first : NULL,
    };
}

/* --- directions, sizes --------------------------------------------------- */

static DtStatus
direct_jumps(Assembler *as)
{
    for (uint32_t i = 0; i < as->legal.instrs.count; i++) {
        DtRealInstr *real = &as->legal.instrs.items[i];
        if (real->jump < 0) {
            continue;
        }
        int opcode_number = dt_lower_jump_opcode(real->opcode, real->jump <= (int32_t)i);
        if (opcode_number < 0 || real->jump >= (int32_t)as->legal.instrs.count) {
            return fault(i, "no jump of this kind goes there");
        }
        real->opcode = (uint8_t)opcode_number;
    }
    return DT_OK;
}

/* Offsets only grow, so this ends; an argument that then needs fewer bytes
 * than it has got keeps its prefixes. */
static DtStatus
place(Assembler *as)
{
    uint32_t count = as->legal.instrs.count;
    uint32_t *sizes = DT_ARENA_ARRAY(&as->arena, uint32_t, count + 1);
    if (sizes == NULL) {
        return dt_no_memory();
    }
    for (bool grown = true; grown;) {
        grown = false;
        for (uint32_t i = 0; i < count; i++) {
            const DtRealInstr *real = &as->legal.instrs.items[i];
            uint32_t size = dt_units_size(real->opcode, real->arg);
            grown |= size > sizes[i];
            sizes[i] = size > sizes[i] ? size : sizes[i];
            as->offsets[i + 1] = as->offsets[i] + sizes[i];
        }
        for (uint32_t i = 0; i < count; i++) {
            DtRealInstr *real = &as->legal.instrs.items[i];
            if (real->jump >= 0) {
                real->arg = dt_units_jump(real->opcode, (int32_t)as->offsets[i + 1],
                                          (int32_t)as->offsets[real->jump]);
            }
        }
    }
    return DT_OK;
}

/* --- depths, regions ----------------------------------------------------- */

static DtStatus
arrive(Assembler *as, uint32_t from, int64_t index, int32_t depth)
{
    if (index < 0 || index >= as->legal.instrs.count) {
        return fault(from, "it goes out of the code");
    }
    if (depth < 0) {
        return fault(from, "stack popped below zero");
    }
    if (as->depths[index] >= 0) {
        return as->depths[index] == depth ? DT_OK : fault((uint32_t)index, "two stack depths");
    }
    as->depths[index] = depth;
    as->work[as->work_count++] = (uint32_t)index;
    as->max_depth = depth > as->max_depth ? depth : as->max_depth;
    return DT_OK;
}

static DtStatus
enter_regions(Assembler *as, uint32_t index, int32_t depth)
{
    for (uint32_t k = 0; k < as->legal.tries.count; k++) {
        const DtRealTry *region = &as->legal.tries.items[k];
        if (region->start == index && as->try_depth[k] < 0 && region->end > index) {
            as->try_depth[k] = depth + region->extra;
            DT_TRY(arrive(as, index, region->handler, as->try_depth[k] + 1 + region->lasti));
        }
    }
    return DT_OK;
}

static DtStatus
step(Assembler *as, uint32_t index)
{
    const DtRealInstr *real = &as->legal.instrs.items[index];
    int32_t depth = as->depths[index];
    int32_t before_last = depth;
    int last = DT_OP_NOP;
    int last_arg = 0;
    DT_TRY(enter_regions(as, index, depth));
    dt_opcodes_expand(&as->expand, real->opcode, real->arg);
    if (as->expand.failed || as->expand.count == 0) {
        return fault(index, "an instruction that cannot be read back");
    }
    for (int i = 0; i < as->expand.count; i++) {
        int flags = as->expand.ops[i].flags;
        last = as->expand.ops[i].op;
        last_arg = as->expand.ops[i].arg;
        depth -= dt_canonical_popped(last, last_arg, flags);
        before_last = depth;
        depth += dt_canonical_pushed(last, last_arg, flags, false);
        if (before_last < 0) {
            return fault(index, "stack popped below zero");
        }
        as->max_depth = depth > as->max_depth ? depth : as->max_depth;
    }
    if (last == DT_OP_SETUP_FINALLY) {
        DT_TRY(arrive(as, index, real->jump, depth + BLOCK_VALUES));
    }
    else if (real->jump >= 0) {
        int64_t to = (int64_t)real->jump + dt_opcodes_get(real->opcode)->skip;
        DT_TRY(arrive(as, index, to, before_last + dt_canonical_pushed(last, last_arg, 0, true)));
    }
    return dt_canonical_falls_through(last) ? arrive(as, index, (int64_t)index + 1, depth) : DT_OK;
}

static DtStatus
compute_depths(Assembler *as)
{
    uint32_t count = as->legal.instrs.count;
    for (uint32_t i = 0; i < count; i++) {
        as->depths[i] = -1;
    }
    for (uint32_t k = 0; k < as->legal.tries.count; k++) {
        as->try_depth[k] = -1;
    }
    DT_TRY(arrive(as, 0, 0, 0));
    while (as->work_count > 0) {
        DT_TRY(step(as, as->work[--as->work_count]));
    }
    return DT_OK;
}

/* The clean-up of a handler covers it until POP_EXCEPT has taken the value
 * that it needs: whatever is reached from the start before that. */
static void
flood_handler(Assembler *as, int32_t number)
{
    const DtRealTry *region = &as->legal.tries.items[number];
    as->work_count = 0;
    as->work[as->work_count++] = region->start;
    while (as->work_count > 0) {
        uint32_t i = as->work[--as->work_count];
        const DtRealInstr *real = &as->legal.instrs.items[i];
        bool ends = dt_lower_is_pop_except(real->opcode) && as->depths[i] == as->try_depth[number];
        if (i < region->start || i >= region->end || as->flooded[i] == number + 1 || ends
            || as->depths[i] < 0) {
            continue;
        }
        as->flooded[i] = number + 1;
        as->work[as->work_count++] = i + 1;
        if (real->jump >= 0) {
            as->work[as->work_count++] = (uint32_t)real->jump;
        }
        if (as->try_of[i] >= 0) {
            as->work[as->work_count++] = as->legal.tries.items[as->try_of[i]].handler;
        }
        else {
            as->try_of[i] = number;
        }
    }
}

static void
assign_regions(Assembler *as)
{
    const DtLegal *legal = &as->legal;
    for (uint32_t i = 0; i < legal->instrs.count; i++) {
        as->try_of[i] = -1;
    }
    for (uint32_t k = 0; k < legal->tries.count; k++) {
        const DtRealTry *region = &legal->tries.items[k];
        if (as->try_depth[k] >= 0 && region->lasti) {
            flood_handler(as, (int32_t)k);
        }
        for (uint32_t i = region->start; !region->lasti && i < region->end; i++) {
            as->try_of[i] = as->try_of[i] < 0 ? (int32_t)k : as->try_of[i];
        }
    }
    /* The clean-up of a handler lies at the end, but is covered as the handler's start is. */
    for (uint32_t k = 0; k < legal->tries.count; k++) {
        const DtRealTry *region = &legal->tries.items[k];
        for (uint32_t i = region->handler; region->lasti && i < region->handler + 3; i++) {
            as->try_of[i] = as->try_of[region->start - 1];
        }
    }
}

/* --- bytes and tables ---------------------------------------------------- */

static PyObject *
make_bytes(const Assembler *as)
{
    DtUnits units;
    uint32_t count = as->legal.instrs.count;
    dt_units_begin(&units, as->offsets[count]);
    for (uint32_t i = 0; units.bytes != NULL && i < count; i++) {
        const DtRealInstr *real = &as->legal.instrs.items[i];
        dt_units_write(&units, as->offsets[i], as->offsets[i + 1], real->opcode, real->arg);
    }
    return units.bytes;
}

static PyObject *
make_line_table(Assembler *as)
{
    DtLineRuns runs;
    if (dt_line_runs_begin(&runs, &as->arena, as->legal.instrs.count) != DT_OK) {
        return NULL;
    }
    for (uint32_t i = 0; i < as->legal.instrs.count; i++) {
        dt_line_runs_add(&runs, as->offsets[i], as->offsets[i + 1],
                         &as->legal.instrs.items[i].position);
    }
    return dt_line_runs_encode(&runs, as->meta->firstlineno);
}

static PyObject *
make_exception_table(Assembler *as)
{
    DtHandlerRuns runs;
    if (dt_handler_runs_begin(&runs, &as->arena, as->legal.instrs.count) != DT_OK) {
        return NULL;
    }
    for (uint32_t i = 0; i < as->legal.instrs.count; i++) {
        DtExceptionEntry entry = {0};
        int32_t now = as->try_of[i];
        now = now >= 0 && as->try_depth[now] < 0 ? -1 : now;
        if (now >= 0) {
            const DtRealTry *region = &as->legal.tries.items[now];
            entry.target = as->offsets[region->handler];
            entry.depth = (uint32_t)as->try_depth[now];
            entry.lasti = region->lasti;
        }
        dt_handler_runs_add(&runs, as->offsets[i], as->offsets[i + 1], now, entry);
    }
    return dt_handler_runs_encode(&runs);
}

/* --- the code object ----------------------------------------------------- */

static PyObject *
make_tuple(PyObject *const *items, uint32_t count)
{
    PyObject *tuple = PyTuple_New(count);
    for (uint32_t i = 0; tuple != NULL && i < count; i++) {
        Py_INCREF(items[i]);
        PyTuple_SET_ITEM(tuple, i, items[i]);
    }
    return tuple;
}

/* The names of the slots of one kind, in their order. */
static PyObject *
make_slot_names(Assembler *as, int kind)
{
    uint32_t count = 0;
    PyObject **names = DT_ARENA_ARRAY(&as->arena, PyObject *, as->emit->slots.count + 1);
    if (names == NULL) {
        return PyErr_NoMemory();
    }
    for (uint32_t i = 0; i < as->emit->slots.count; i++) {
        if (dt_legal_slot_kind(&as->legal, i) & kind) {
            names[count++] = as->emit->slots.items[i].name;
        }
    }
    return make_tuple(names, count);
}

static DtStatus
make_code(Assembler *as, PyCodeObject **code)
{
    const DtAssembleMeta *meta = as->meta;
    DtCodeParts parts = {
        .argcount = meta->argcount,
        .posonlyargcount = meta->posonlyargcount,
        .kwonlyargcount = meta->kwonlyargcount,
        .stacksize = as->max_depth > 0 ? as->max_depth : 1,
        .flags = meta->flags,
        .firstlineno = meta->firstlineno,
        .code = make_bytes(as),
        .consts = make_tuple(as->legal.consts.items, as->legal.consts.count),
        .names = make_tuple(as->legal.names.items, as->legal.names.count),
        .varnames = make_slot_names(as, DT_SLOT_LOCAL),
        .cellvars = make_slot_names(as, DT_SLOT_CELL),
        .freevars = make_slot_names(as, DT_SLOT_FREE),
        .filename = meta->filename,
        .name = meta->name,
        .qualname = meta->qualname != NULL ? meta->qualname : meta->name,
        .linetable = make_line_table(as),
        .exceptiontable = make_exception_table(as),
    };
    *code = NULL;
    if (parts.code != NULL && parts.consts != NULL && parts.names != NULL && parts.varnames != NULL
        && parts.cellvars != NULL && parts.freevars != NULL && parts.linetable != NULL
        && parts.exceptiontable != NULL) {
        *code = dt_code_new(&parts);
    }
    Py_XDECREF(parts.code);
    Py_XDECREF(parts.consts);
    Py_XDECREF(parts.names);
    Py_XDECREF(parts.varnames);
    Py_XDECREF(parts.cellvars);
    Py_XDECREF(parts.freevars);
    Py_XDECREF(parts.linetable);
    Py_XDECREF(parts.exceptiontable);
    return *code != NULL ? DT_OK : DT_ERROR;
}

static int
count_arguments(const DtAssembleMeta *meta)
{
    return meta->argcount + meta->kwonlyargcount + ((meta->flags & CO_VARARGS) != 0)
           + ((meta->flags & CO_VARKEYWORDS) != 0);
}

static DtStatus
check_arguments(const DtEmit *emit, int nargs)
{
    for (int i = 0; i < nargs; i++) {
        if (i >= (int)emit->slots.count || !(emit->slots.items[i].kind & DT_SLOT_LOCAL)) {
            PyErr_Format(PyExc_SystemError, "assembled code: slot %d has to be an argument", i);
            return DT_ERROR;
        }
    }
    return DT_OK;
}

/* What reading back needs to know of cells: their number. */
static DtStatus
make_layout(Assembler *as, DtCodeLayout *layout)
{
    *layout = (DtCodeLayout){.nderef = (int)as->emit->slots.count};
    layout->deref = DT_ARENA_ARRAY(&as->arena, int, layout->nderef + 1);
    as->expand.layout = layout;
    return layout->deref != NULL ? DT_OK : dt_no_memory();
}

static DtStatus
allocate(Assembler *as)
{
    size_t count = as->legal.instrs.count;
    as->offsets = DT_ARENA_ARRAY(&as->arena, uint32_t, count + 2);
    as->depths = DT_ARENA_ARRAY(&as->arena, int32_t, count + 1);
    as->try_of = DT_ARENA_ARRAY(&as->arena, int32_t, count + 1);
    as->try_depth = DT_ARENA_ARRAY(&as->arena, int32_t, as->legal.tries.count + 1);
    as->flooded = DT_ARENA_ARRAY(&as->arena, int32_t, count + 1);
    as->work = DT_ARENA_ARRAY(&as->arena, uint32_t, 3 * count + 1); /* three edges at most */
    return as->offsets != NULL && as->depths != NULL && as->try_of != NULL && as->try_depth != NULL
                   && as->flooded != NULL && as->work != NULL
               ? DT_OK
               : dt_no_memory();
}

static DtStatus
run(Assembler *as, PyCodeObject **code)
{
    DtCodeLayout layout;
    int nargs = count_arguments(as->meta);
    DT_TRY(check_arguments(as->emit, nargs));
    DT_TRY(dt_legalise_code(&as->arena, as->emit, as->meta->doc, as->meta->firstlineno, nargs,
                            &as->legal));
    DT_TRY(make_layout(as, &layout));
    DT_TRY(allocate(as));
    DT_TRY(direct_jumps(as));
    DT_TRY(place(as));
    DT_TRY(compute_depths(as));
    assign_regions(as);
    return make_code(as, code);
}

DtStatus
dt_assemble_code(const DtEmit *emit, const DtAssembleMeta *meta, DT_OWNED PyCodeObject **code)
{
    Assembler *as = PyMem_Calloc(1, sizeof(Assembler));
    if (as == NULL) {
        return dt_no_memory();
    }
    as->emit = emit;
    as->meta = meta;
    dt_arena_init(&as->arena);
    DtStatus status = run(as, code);
    dt_arena_release(&as->arena);
    PyMem_Free(as);
    return status;
}
