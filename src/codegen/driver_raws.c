/* See driver_raws.h. */
#include "codegen/driver_raws.h"

#include "bytecode/opcodes.h"
#include "compat/code.h"
#include "compat/errors.h"

static int32_t
read_argument(const uint8_t *bytes, uint32_t unit, int extended_arg)
{
    uint32_t arg = bytes[unit * DT_UNIT_BYTES + 1];
    for (int shift = 8; unit > 0 && bytes[(unit - 1) * DT_UNIT_BYTES] == extended_arg; shift += 8) {
        unit--;
        arg |= (uint32_t)bytes[unit * DT_UNIT_BYTES + 1] << shift;
    }
    return (int32_t)arg;
}

/* The unit that a jump goes to, or -1. */
static int64_t
target_unit(const DtRawSource *raw, uint32_t unit)
{
    const DtOpcodeInfo *info = dt_opcodes_get(raw->opcode);
    int64_t next = (int64_t)unit + 1 + info->caches;
    switch ((DtJumpKind)info->jump) {
    case DT_JUMP_ABS:
        return raw->arg;
    case DT_JUMP_FWD:
        return next + raw->arg;
    case DT_JUMP_BACK:
        return next - raw->arg;
    case DT_JUMP_NONE:
        break;
    }
    return -1;
}

static DtStatus
read_all(DtArena *arena, const DtBytecode *bytecode, const uint8_t *bytes, uint32_t units,
         DtDriverRaws *out)
{
    int extended_arg = dt_opcodes_find("EXTENDED_ARG");
    int32_t *raw_at = DT_ARENA_ARRAY(arena, int32_t, units + 1);
    *out = (DtDriverRaws){
        .items = DT_ARENA_ARRAY(arena, DtRawSource, bytecode->count + 1),
        .of = DT_ARENA_ARRAY(arena, int32_t, bytecode->count + 1),
    };
    if (raw_at == NULL || out->items == NULL || out->of == NULL) {
        return dt_no_memory();
    }
    for (uint32_t i = 0; i < bytecode->count; i++) {
        const DtInstr *instr = &bytecode->instrs[i];
        if (!(instr->flags & (DT_INSTR_CONTINUES | DT_INSTR_SYNTHETIC))) {
            uint32_t unit = instr->offset / DT_UNIT_BYTES;
            int32_t number = (int32_t)out->count++;
            out->items[number] = (DtRawSource){
                .instr = (int32_t)i,
                .opcode = bytes[instr->offset],
                .arg = read_argument(bytes, unit, extended_arg),
            };
            raw_at[unit] = number;
            for (; unit > 0 && bytes[(unit - 1) * DT_UNIT_BYTES] == extended_arg; unit--) {
                raw_at[unit - 1] = number; /* jumps go to the first prefix */
            }
        }
        out->of[i] = (int32_t)out->count - 1;
    }
    for (uint32_t r = 0; r < out->count; r++) {
        DtRawSource *raw = &out->items[r];
        int64_t unit = target_unit(raw, bytecode->instrs[raw->instr].offset / DT_UNIT_BYTES);
        raw->target = unit < 0 ? -1 : raw_at[unit];
    }
    return DT_OK;
}

DtStatus
dt_driver_raws_read(DtArena *arena, const DtBytecode *bytecode, DtDriverRaws *out)
{
    PyObject *bytes = dt_code_bytes_new(bytecode->code);
    if (bytes == NULL) {
        return DT_ERROR;
    }
    DtStatus status = read_all(arena, bytecode, (const uint8_t *)PyBytes_AS_STRING(bytes),
                               (uint32_t)(PyBytes_GET_SIZE(bytes) / DT_UNIT_BYTES), out);
    Py_DECREF(bytes);
    return status;
}
