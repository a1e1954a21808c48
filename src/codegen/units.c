/* See units.h. */
#include "codegen/units.h"

#include <string.h>

#include "compat/errors.h"

uint32_t
dt_units_size(uint8_t opcode, int32_t arg)
{
    uint32_t prefixes = arg > 0xFFFFFF ? 3 : arg > 0xFFFF ? 2 : arg > 0xFF ? 1 : 0;
    return prefixes + 1 + dt_opcodes_get(opcode)->caches;
}

int32_t
dt_units_jump(uint8_t opcode, int32_t end, int32_t to)
{
    switch ((DtJumpKind)dt_opcodes_get(opcode)->jump) {
    case DT_JUMP_ABS:
        return to;
    case DT_JUMP_BACK:
        return end - to;
    case DT_JUMP_FWD:
        return to - end;
    case DT_JUMP_NONE:
        break;
    }
    return -1;
}

void
dt_units_begin(DtUnits *units, uint32_t count)
{
    units->bytes = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)count * DT_UNIT_BYTES);
    units->extended_arg = (uint8_t)dt_opcodes_find("EXTENDED_ARG");
}

void
dt_units_write(DtUnits *units, uint32_t start, uint32_t end, uint8_t opcode, int32_t arg)
{
    uint32_t caches = dt_opcodes_get(opcode)->caches, written = end - start - caches;
    uint8_t *at = (uint8_t *)PyBytes_AS_STRING(units->bytes) + (size_t)start * DT_UNIT_BYTES;
    for (uint32_t unit = 0; unit < written; unit++, at += DT_UNIT_BYTES) {
        at[0] = unit + 1 < written ? units->extended_arg : opcode;
        at[1] = (uint8_t)((uint32_t)arg >> (8 * (written - 1 - unit)));
    }
    memset(at, 0, (size_t)caches * DT_UNIT_BYTES);
}

/* --- lines --------------------------------------------------------------- */

DtStatus
dt_line_runs_begin(DtLineRuns *runs, DtArena *arena, uint32_t most)
{
    *runs = (DtLineRuns){arena, DT_ARENA_ARRAY(arena, DtLineEntry, most + 1), 0};
    return runs->entries != NULL ? DT_OK : dt_no_memory();
}

static bool
same_position(const DtSpan *a, const DtSpan *b)
{
    return a->line == b->line && a->end_line == b->end_line && a->col == b->col
           && a->end_col == b->end_col;
}

void
dt_line_runs_add(DtLineRuns *runs, uint32_t start, uint32_t end, const DtSpan *position)
{
    DtLineEntry *last = runs->count > 0 ? &runs->entries[runs->count - 1] : NULL;
    if (last == NULL || !same_position(&last->position, position)) {
        last = &runs->entries[runs->count++];
        last->start = start * DT_UNIT_BYTES;
        last->position = *position;
    }
    last->end = end * DT_UNIT_BYTES;
}

PyObject *
dt_line_runs_encode(const DtLineRuns *runs, int32_t firstlineno)
{
    uint8_t *data;
    size_t size;
    if (dt_line_table_encode(runs->arena, dt_line_table_format(), runs->entries, runs->count,
                             firstlineno, &data, &size)
        != DT_OK) {
        return NULL;
    }
    return PyBytes_FromStringAndSize((const char *)data, (Py_ssize_t)size);
}

/* --- handlers ------------------------------------------------------------ */

DtStatus
dt_handler_runs_begin(DtHandlerRuns *runs, DtArena *arena, uint32_t most)
{
    *runs = (DtHandlerRuns){arena, DT_ARENA_ARRAY(arena, DtExceptionEntry, most + 1), 0, -1};
    return runs->entries != NULL ? DT_OK : dt_no_memory();
}

void
dt_handler_runs_add(DtHandlerRuns *runs, uint32_t start, uint32_t end, int32_t handler,
                    DtExceptionEntry entry)
{
    if (handler >= 0 && handler != runs->running) {
        entry.start = start;
        runs->entries[runs->count++] = entry;
    }
    if (handler >= 0) {
        runs->entries[runs->count - 1].end = end;
    }
    runs->running = handler;
}

PyObject *
dt_handler_runs_encode(const DtHandlerRuns *runs)
{
    uint8_t *data;
    size_t size;
    if (dt_exception_table_encode(runs->arena, runs->entries, runs->count, &data, &size) != DT_OK) {
        return NULL;
    }
    return PyBytes_FromStringAndSize(runs->count > 0 ? (const char *)data : "", (Py_ssize_t)size);
}
