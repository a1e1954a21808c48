/* From a code object to canonical instructions; see decode.h.
 *
 *   units ─walk─► expanded instructions, jump targets still in units
 *         ─link─► targets as indices, exhausted loops past their clean-up
 *         ─annotate─► positions, handlers ─► stack.c: depths
 *
 * Nothing is trusted: every index is checked against what it indexes, so that
 * a broken code object is an error and never a wild read.
 */
#include "bytecode/decode.h"

#include "bytecode/exception_table.h"
#include "bytecode/line_table.h"
#include "bytecode/opcodes.h"
#include "bytecode/stack.h"
#include "compat/errors.h"
#include "core/vec.h"

enum { OPARG_LIMIT = 1 << 28 };

typedef struct Decoder {
    DtArena *arena;
    DtBytecode *bytecode;
    PyObject *linetable;
    PyObject *exceptiontable;
    const uint8_t *bytes;
    uint32_t units;
    int32_t *first; /* per unit: first canonical instruction that begins there, or -1 */
    DT_VEC(DtInstr) instrs;
    DT_VEC(uint32_t) reals; /* per real instruction: its first canonical one */
    DtExpand expand;
} Decoder;

static DtStatus
broken(const Decoder *decoder, uint32_t unit, const char *what)
{
    PyErr_Format(PyExc_ValueError, "broken code object %R: %s at offset %u",
                 dt_code_name(decoder->bytecode->code), what, (unsigned)unit * DT_UNIT_BYTES);
    return DT_ERROR;
}

/* --- walk ---------------------------------------------------------------- */

typedef struct RealInstr {
    uint32_t start; /* unit of its first EXTENDED_ARG */
    uint32_t unit;  /* unit of the opcode itself */
    uint32_t next;  /* unit behind its caches */
    int opcode;
    int oparg;
} RealInstr;

/* Reads one real instruction with its prefixes. */
static DtStatus
read_real(const Decoder *decoder, uint32_t unit, int extended_arg, RealInstr *real)
{
    uint32_t oparg = 0;
    real->start = unit;
    for (;; unit++) {
        if (unit >= decoder->units) {
            return broken(decoder, unit, "an instruction is cut short");
        }
        if (oparg >= OPARG_LIMIT >> 8) {
            return broken(decoder, unit, "an argument is too large");
        }
        oparg = oparg << 8 | decoder->bytes[unit * DT_UNIT_BYTES + 1];
        real->opcode = decoder->bytes[unit * DT_UNIT_BYTES];
        if (real->opcode != extended_arg) {
            break;
        }
    }
    const DtOpcodeInfo *info = dt_opcodes_get(real->opcode);
    real->unit = unit;
    real->next = unit + 1 + (info->name != NULL ? info->caches : 0);
    real->oparg = (int)oparg;
    if (info->name == NULL || real->next > decoder->units) {
        return broken(decoder, unit, "an unknown or truncated instruction");
    }
    return DT_OK;
}

/* The unit that a jump goes to; -1 for other instructions, -2 for a bad one. */
static int64_t
jump_unit(const Decoder *decoder, const RealInstr *real)
{
    int64_t target = -1;
    switch ((DtJumpKind)dt_opcodes_get(real->opcode)->jump) {
    case DT_JUMP_NONE:
        return -1;
    case DT_JUMP_ABS:
        target = real->oparg;
        break;
    case DT_JUMP_FWD:
        target = (int64_t)real->next + real->oparg;
        break;
    case DT_JUMP_BACK:
        target = (int64_t)real->next - real->oparg;
        break;
    }
    return target < 0 || target >= decoder->units ? -2 : target;
}

static int
limit_of_operand(const DtBytecode *bytecode, DtOpArg operand)
{
    switch (operand) {
    case DT_OPARG_CONST:
        return (int)PyTuple_GET_SIZE(bytecode->consts);
    case DT_OPARG_NAME:
        return (int)PyTuple_GET_SIZE(bytecode->names);
    case DT_OPARG_LOCAL:
    case DT_OPARG_CELL:
        return bytecode->layout.nslots;
    case DT_OPARG_COMPARE:
        return Py_GE + 1;
    case DT_OPARG_BINARY:
        return DT_BINARY_COUNT;
    default:
        return INT32_MAX;
    }
}

static DtStatus
add_instr(Decoder *decoder, const RealInstr *real, uint16_t op, uint16_t flags, int32_t arg,
          int64_t target)
{
    bool jumps = dt_canonical_operand(op) == DT_OPARG_JUMP;
    if (op == DT_OP_INVALID || arg < 0
        || arg >= limit_of_operand(decoder->bytecode, dt_canonical_operand(op))) {
        return broken(decoder, real->unit, "an operand out of range");
    }
    DtInstr instr = {
        .op = op,
        .flags = flags,
        .arg = arg,
        .target = jumps ? (int32_t)target : -1,
        .offset = real->unit * DT_UNIT_BYTES,
        .real = decoder->reals.count - 1,
        .line = -1,
        .end_line = -1,
        .col = -1,
        .end_col = -1,
        .handler = -1,
        .depth = -1,
    };
    return dt_vec_push(decoder->arena, &decoder->instrs, instr) == 0 ? DT_OK : dt_no_memory();
}

static DtStatus
add_real(Decoder *decoder, const RealInstr *real)
{
    int64_t target = jump_unit(decoder, real);
    if (target == -2) {
        return broken(decoder, real->unit, "a jump out of the code");
    }
    dt_opcodes_expand(&decoder->expand, real->opcode, real->oparg);
    if (decoder->expand.failed || decoder->expand.count == 0) {
        return broken(decoder, real->unit, "an instruction that stands for nothing");
    }
    for (uint32_t unit = real->start; unit <= real->unit; unit++) {
        decoder->first[unit] = (int32_t)decoder->instrs.count;
    }
    if (dt_vec_push(decoder->arena, &decoder->reals, decoder->instrs.count) != 0) {
        return dt_no_memory();
    }
    for (int i = 0; i < decoder->expand.count; i++) {
        DT_TRY(add_instr(decoder, real, decoder->expand.ops[i].op, decoder->expand.ops[i].flags,
                         decoder->expand.ops[i].arg, target));
    }
    return DT_OK;
}

static DtStatus
walk_units(Decoder *decoder)
{
    int extended_arg = dt_opcodes_find("EXTENDED_ARG");
    RealInstr real = {0};
    for (uint32_t unit = 0; unit < decoder->units; unit++) {
        decoder->first[unit] = -1;
    }
    for (uint32_t unit = 0; unit < decoder->units; unit = real.next) {
        DT_TRY(read_real(decoder, unit, extended_arg, &real));
        DT_TRY(add_real(decoder, &real));
    }
    return DT_OK;
}

/* 3.10 makes cells and copies the closure before the first instruction; later
 * versions have instructions for it.  Here all look like the later ones. */
static DtStatus
add_prologue(Decoder *decoder)
{
#if DT_PY310
    const DtCodeLayout *layout = &decoder->bytecode->layout;
    const RealInstr none = {0};
    if (layout->nfrees > 0) {
        DT_TRY(add_instr(decoder, &none, DT_OP_COPY_FREE_VARS, DT_INSTR_SYNTHETIC, layout->nfrees,
                         -1));
    }
    for (int slot = 0; slot < layout->nslots; slot++) {
        if (layout->slots[slot].kind & DT_SLOT_CELL) {
            DT_TRY(add_instr(decoder, &none, DT_OP_MAKE_CELL, DT_INSTR_SYNTHETIC, slot, -1));
        }
    }
    for (uint32_t i = 0; i < decoder->instrs.count; i++) {
        decoder->instrs.items[i].real = 0;
    }
#else
    (void)decoder;
#endif
    return DT_OK;
}

/* --- link ---------------------------------------------------------------- */

/* Steps over the clean-up behind a loop, which an exhausted iterator skips. */
static DtStatus
skip_cleanup(const Decoder *decoder, const DtInstr *instr, int skip, int32_t *target)
{
    const DtInstr *landing = &decoder->instrs.items[*target];
    uint32_t next = landing->real + (uint32_t)skip;
    if (next >= decoder->reals.count) {
        return broken(decoder, instr->offset / DT_UNIT_BYTES, "a loop that ends nowhere");
    }
    int32_t end = (int32_t)decoder->reals.items[next];
    for (int32_t i = *target; i < end; i++) {
        if (decoder->instrs.items[i].op != DT_OP_POP_TOP) {
            return broken(decoder, instr->offset / DT_UNIT_BYTES, "a loop without its clean-up");
        }
    }
    *target = end;
    return DT_OK;
}

static DtStatus
link_jumps(Decoder *decoder)
{
    for (uint32_t i = 0; i < decoder->instrs.count; i++) {
        DtInstr *instr = &decoder->instrs.items[i];
        if (instr->target < 0) {
            continue;
        }
        int skip = dt_opcodes_get(decoder->bytes[instr->offset])->skip;
        int32_t target = decoder->first[instr->target];
        if (target < 0) {
            return broken(decoder, instr->offset / DT_UNIT_BYTES, "a jump into an instruction");
        }
        if (skip > 0) {
            DT_TRY(skip_cleanup(decoder, instr, skip, &target));
        }
        instr->target = target;
        instr->flags |=
            target <= (int32_t)i && !(instr->flags & DT_INSTR_NO_INTERRUPT) ? DT_INSTR_BACKWARD : 0;
        decoder->instrs.items[target].flags |= DT_INSTR_BLOCK_TARGET;
    }
    return DT_OK;
}

/* --- annotate ------------------------------------------------------------ */

static DtStatus
add_positions(Decoder *decoder)
{
    PyCodeObject *code = decoder->bytecode->code;
    PyObject *table = decoder->linetable;
    DtLineEntry *entries;
    uint32_t count;
    uint32_t at = 0;
    DT_TRY(dt_line_table_decode(
        decoder->arena, dt_line_table_format(), (const uint8_t *)PyBytes_AS_STRING(table),
        (size_t)PyBytes_GET_SIZE(table), dt_code_firstlineno(code), &entries, &count));
    for (uint32_t i = 0; i < decoder->instrs.count; i++) {
        DtInstr *instr = &decoder->instrs.items[i];
        while (at < count && entries[at].end <= instr->offset) {
            at++;
        }
        if (at == count || instr->flags & DT_INSTR_SYNTHETIC) {
            continue;
        }
        instr->line = entries[at].position.line;
        instr->end_line = entries[at].position.end_line;
        instr->col = entries[at].position.col;
        instr->end_col = entries[at].position.end_col;
    }
    return DT_OK;
}

/* The first instruction at or behind a unit. */
static int32_t
instr_from(const Decoder *decoder, uint32_t unit)
{
    while (unit < decoder->units && decoder->first[unit] < 0) {
        unit++;
    }
    return unit < decoder->units ? decoder->first[unit] : (int32_t)decoder->instrs.count;
}

static DtStatus
add_handlers(Decoder *decoder)
{
    DtBytecode *bytecode = decoder->bytecode;
    PyObject *table = decoder->exceptiontable;
    DtExceptionEntry *entries;
    uint32_t count;
    if (table == NULL) {
        return DT_OK;
    }
    DT_TRY(dt_exception_table_decode(decoder->arena, (const uint8_t *)PyBytes_AS_STRING(table),
                                     (size_t)PyBytes_GET_SIZE(table), &entries, &count));
    bytecode->handlers = DT_ARENA_ARRAY(decoder->arena, DtHandler, count + 1);
    if (bytecode->handlers == NULL) {
        return dt_no_memory();
    }
    bytecode->handler_count = count;
    for (uint32_t i = 0; i < count; i++) {
        const DtExceptionEntry *entry = &entries[i];
        DtHandler *handler = &bytecode->handlers[i];
        if (entry->end > decoder->units || entry->target >= decoder->units
            || decoder->first[entry->target] < 0) {
            return broken(decoder, entry->start, "an exception entry out of the code");
        }
        handler->start = instr_from(decoder, entry->start);
        handler->end = instr_from(decoder, entry->end);
        handler->target = decoder->first[entry->target];
        handler->depth = (int32_t)entry->depth;
        handler->lasti = entry->lasti;
        decoder->instrs.items[handler->target].flags |= DT_INSTR_BLOCK_TARGET;
        /* Entries do not overlap in compiled code; in hand-made code CPython takes the first. */
        for (int32_t k = handler->start; k < handler->end; k++) {
            if (decoder->instrs.items[k].handler < 0) {
                decoder->instrs.items[k].handler = (int32_t)i;
            }
        }
    }
    return DT_OK;
}

/* --- entry --------------------------------------------------------------- */

static DtStatus
run_decoder(Decoder *decoder)
{
    DtBytecode *bytecode = decoder->bytecode;
    decoder->first = DT_ARENA_ARRAY(decoder->arena, int32_t, decoder->units + 1);
    if (decoder->first == NULL) {
        return dt_no_memory();
    }
    DT_TRY(dt_code_layout(decoder->arena, bytecode->code, &bytecode->layout));
    decoder->expand.layout = &bytecode->layout;
    DT_TRY(add_prologue(decoder));
    DT_TRY(walk_units(decoder));
    DT_TRY(link_jumps(decoder));
    DT_TRY(add_positions(decoder));
    DT_TRY(add_handlers(decoder));
    bytecode->instrs = decoder->instrs.items;
    bytecode->count = decoder->instrs.count;
    bytecode->real_count = decoder->reals.count;
    return dt_stack_compute(decoder->arena, bytecode);
}

DtStatus
dt_decode_parts(DtArena *arena, PyCodeObject *code, PyObject *bytes, PyObject *linetable,
                PyObject *exceptiontable, DtBytecode **out)
{
    Decoder *decoder = DT_ARENA_NEW(arena, Decoder);
    DtBytecode *bytecode = DT_ARENA_NEW(arena, DtBytecode);
    if (decoder == NULL || bytecode == NULL) {
        return dt_no_memory();
    }
    bytecode->code = code;
    bytecode->consts = dt_code_consts(code);
    bytecode->names = dt_code_names(code);
    decoder->arena = arena;
    decoder->bytecode = bytecode;
    decoder->linetable = linetable;
    decoder->exceptiontable = exceptiontable;
    decoder->bytes = (const uint8_t *)PyBytes_AS_STRING(bytes);
    decoder->units = (uint32_t)(PyBytes_GET_SIZE(bytes) / DT_UNIT_BYTES);
    if (PyBytes_GET_SIZE(bytes) % DT_UNIT_BYTES != 0 || PyBytes_GET_SIZE(bytes) > INT32_MAX / 8) {
        return broken(decoder, 0, "a code string of this length");
    }
    DT_TRY(run_decoder(decoder));
    *out = bytecode;
    return DT_OK;
}

DtStatus
dt_decode_code(DtArena *arena, PyCodeObject *code, DtBytecode **out)
{
    PyObject *bytes = dt_code_bytes_new(code);
    if (bytes == NULL) {
        return DT_ERROR;
    }
    DtStatus status = dt_decode_parts(arena, code, bytes, dt_code_linetable(code),
                                      dt_code_exceptiontable(code), out);
    Py_DECREF(bytes);
    return status;
}

DT_BORROWED PyObject *
dt_decode_const(const DtBytecode *bytecode, const DtInstr *instr)
{
    return PyTuple_GET_ITEM(bytecode->consts, instr->arg);
}

DT_BORROWED PyObject *
dt_decode_name(const DtBytecode *bytecode, const DtInstr *instr)
{
    return PyTuple_GET_ITEM(bytecode->names, instr->arg);
}
