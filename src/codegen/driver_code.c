/* Placing real instructions; see driver_code.h.
 *
 *   instructions, labels ─► offsets (until they no longer grow) ─► bytes, line table,
 *   exception table ─► code object
 */
#include "codegen/driver_code.h"

#include <string.h>

#include "bytecode/exception_table.h"
#include "bytecode/opcodes.h"
#include "compat/errors.h"

enum { UNIT_BYTES = 2 };

static DtStatus
fault(const char *what)
{
    PyErr_Format(PyExc_SystemError, "driver code: %s", what);
    return DT_ERROR;
}

/* --- emission ------------------------------------------------------------ */

int32_t
dt_driver_code_label(DtDriverCode *code)
{
    code->no_memory |= dt_vec_push(code->arena, &code->labels, -1) != 0;
    return code->no_memory ? -1 : (int32_t)code->labels.count - 1;
}

void
dt_driver_code_bind(DtDriverCode *code, int32_t label)
{
    if (!code->no_memory) {
        code->labels.items[label] = (int32_t)code->instrs.count;
    }
}

int32_t
dt_driver_code_unit(const DtDriverCode *code, int32_t label)
{
    return (int32_t)code->offsets[code->labels.items[label]];
}

int32_t
dt_driver_code_const(DtDriverCode *code, PyObject *value)
{
    int32_t known = (int32_t)PyTuple_GET_SIZE(code->bytecode->consts);
    uintptr_t number = (uintptr_t)dt_map_get(&code->const_numbers, value);
    if (number == 0) {
        number = (uintptr_t)code->consts.count + 1;
        if (dt_map_set(code->arena, &code->const_numbers, value, (void *)number) != 0
            || dt_vec_push(code->arena, &code->consts, value) != 0) {
            code->no_memory = true;
            return 0;
        }
        Py_INCREF(value);
    }
    return known + (int32_t)number - 1;
}

void
dt_driver_code_release(DtDriverCode *code)
{
    for (uint32_t i = 0; i < code->consts.count; i++) {
        Py_DECREF(code->consts.items[i]);
    }
    code->consts.count = 0;
}

void
dt_driver_code_expect(DtDriverCode *code, uint32_t instrs)
{
    void **items = (void **)&code->instrs.items;
    code->no_memory |=
        dt_vec_reserve(code->arena, items, &code->instrs.capacity, code->instrs.count,
                       code->instrs.count + instrs, sizeof(DtRawInstr))
        != 0;
}

void
dt_driver_code_put(DtDriverCode *code, int opcode_number, int32_t arg, int32_t jump)
{
    DtRawInstr instr = {
        .opcode = (uint8_t)opcode_number,
        .arg = arg,
        .jump = jump,
        .handler = code->handler,
        .position = code->position,
    };
    code->no_memory |= dt_vec_push(code->arena, &code->instrs, instr) != 0;
}

/* The few instructions that a driver adds: their name, the name of older versions, and the argument
 * under the first one (0 under the other). */
typedef enum Added {
    ADDED_POP,
    ADDED_LOAD,
    ADDED_SWAP,
    ADDED_COPY,
    ADDED_FOR_ITER,
    ADDED_END_FOR,
    ADDED_FORWARD,
    ADDED_BACKWARD,
    ADDED_IF_TRUE,
    ADDED_LESS,
    ADDED_RETURN,
    ADDED_NOP,
    ADDED_COUNT
} Added;

static const struct {
    const char *name;
    const char *older;
    int32_t arg;
} added_rows[ADDED_COUNT] = {
    [ADDED_POP] = {"POP_TOP", NULL, 0},
    [ADDED_LOAD] = {"LOAD_CONST", NULL, 0},
    [ADDED_SWAP] = {"SWAP", "ROT_TWO", 2},
    [ADDED_COPY] = {"COPY", "DUP_TOP", 1},
    [ADDED_FOR_ITER] = {"FOR_ITER", NULL, 0},
    [ADDED_END_FOR] = {"END_FOR", "NOP", 0},
    [ADDED_FORWARD] = {"JUMP_FORWARD", NULL, 0},
    [ADDED_BACKWARD] = {"JUMP_BACKWARD", "JUMP_ABSOLUTE", 0},
#if DT_PY310
    /* POP_JUMP_IF_TRUE may run a signal handler, whose exception would find a stack in between. */
    [ADDED_IF_TRUE] = {"JUMP_IF_TRUE_OR_POP", NULL, 0},
#else
    [ADDED_IF_TRUE] = {"POP_JUMP_IF_TRUE", "POP_JUMP_FORWARD_IF_TRUE", 0},
#endif
    [ADDED_LESS] = {"BINARY_OP", "BINARY_SUBTRACT", DT_BINARY_SUBTRACT}, /* landing_minus() */
    [ADDED_RETURN] = {"RETURN_VALUE", NULL, 0},
    [ADDED_NOP] = {"NOP", NULL, 0},
};

void
dt_driver_code_start(DtDriverCode *code)
{
    for (int i = 0; i < ADDED_COUNT; i++) {
        int number = dt_opcodes_find(added_rows[i].name);
        code->added[i].arg = number >= 0 ? added_rows[i].arg : 0;
        code->added[i].opcode =
            (uint8_t)(number >= 0 ? number : dt_opcodes_find(added_rows[i].older));
    }
}

static void
put_added(DtDriverCode *code, Added added, int32_t arg, int32_t jump)
{
    dt_driver_code_put(code, code->added[added].opcode, code->added[added].arg + arg, jump);
}

void
dt_driver_code_switch(DtDriverCode *code, int32_t label, bool jumps)
{
    put_added(code, jumps ? ADDED_FORWARD : ADDED_NOP, 0, jumps ? label : -1);
}

int
dt_driver_code_switch_opcode(bool jumps)
{
    return dt_opcodes_find(added_rows[jumps ? ADDED_FORWARD : ADDED_NOP].name);
}

void
dt_driver_code_pop(DtDriverCode *code, int count)
{
    for (; count > 0; count--) {
        put_added(code, ADDED_POP, 0, -1);
    }
}

void
dt_driver_code_load(DtDriverCode *code, PyObject *constant)
{
    put_added(code, ADDED_LOAD, dt_driver_code_const(code, constant), -1);
}

void
dt_driver_code_swap_two(DtDriverCode *code)
{
    put_added(code, ADDED_SWAP, 0, -1);
}

void
dt_driver_code_copy_top(DtDriverCode *code)
{
    put_added(code, ADDED_COPY, 0, -1);
}

void
dt_driver_code_for_iter(DtDriverCode *code, int32_t exhausted)
{
    put_added(code, ADDED_FOR_ITER, 0, exhausted);
}

int
dt_driver_code_loop_skip(const DtDriverCode *code)
{
    return dt_opcodes_get(code->added[ADDED_FOR_ITER].opcode)->skip;
}

void
dt_driver_code_loop_end(DtDriverCode *code, int32_t exhausted)
{
    int skip = dt_driver_code_loop_skip(code);
    dt_driver_code_bind(code, exhausted);
    if (skip > 0) {
        put_added(code, ADDED_END_FOR, 0, -1);
    }
    dt_driver_code_pop(code, skip - 1);
}

void
dt_driver_code_jump(DtDriverCode *code, int32_t label)
{
    bool forward = !code->no_memory && code->labels.items[label] < 0;
    put_added(code, forward ? ADDED_FORWARD : ADDED_BACKWARD, 0, label);
}

void
dt_driver_code_jump_if(DtDriverCode *code, int32_t label)
{
    put_added(code, ADDED_IF_TRUE, 0, label);
}

void
dt_driver_code_less(DtDriverCode *code)
{
    put_added(code, ADDED_LESS, 0, -1);
}

void
dt_driver_code_return(DtDriverCode *code)
{
    put_added(code, ADDED_RETURN, 0, -1);
}

/* --- offsets ------------------------------------------------------------- */

static uint32_t
size_of(const DtRawInstr *instr)
{
    int32_t arg = instr->arg;
    uint32_t prefixes = arg > 0xFFFFFF ? 3 : arg > 0xFFFF ? 2 : arg > 0xFF ? 1 : 0;
    return prefixes + 1 + dt_opcodes_get(instr->opcode)->caches;
}

/* The argument of a jump under the present offsets; negative: it can't go there. */
static int32_t
jump_argument(const DtDriverCode *code, uint32_t index)
{
    const DtRawInstr *instr = &code->instrs.items[index];
    int32_t to = dt_driver_code_unit(code, instr->jump);
    int32_t end = (int32_t)code->offsets[index + 1];
    switch ((DtJumpKind)dt_opcodes_get(instr->opcode)->jump) {
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

/* The jumps, and how large everything is that is none. */
static DtStatus
measure(DtDriverCode *code, uint32_t *sizes, uint32_t **jumps, uint32_t *njumps)
{
    uint32_t count = code->instrs.count;
    *njumps = 0;
    *jumps = DT_ARENA_ARRAY(code->arena, uint32_t, count + 1);
    if (*jumps == NULL) {
        return dt_no_memory();
    }
    for (uint32_t i = 0; i < count; i++) {
        const DtRawInstr *instr = &code->instrs.items[i];
        if (instr->jump >= 0 && code->labels.items[instr->jump] < 0) {
            return fault("a label without a place");
        }
        if (instr->jump >= 0) {
            (*jumps)[(*njumps)++] = i;
        }
        else if (instr->arg < 0) {
            return fault("a negative argument");
        }
        sizes[i] = size_of(instr);
    }
    return DT_OK;
}

/* Offsets only grow, so this ends; an argument that then needs fewer bytes than it has got keeps
 * its prefixes. */
DtStatus
dt_driver_code_place(DtDriverCode *code)
{
    uint32_t count = code->instrs.count, *jumps, njumps;
    if (code->no_memory) {
        return dt_no_memory();
    }
    uint32_t *sizes = DT_ARENA_ARRAY(code->arena, uint32_t, count + 1);
    code->offsets = DT_ARENA_ARRAY(code->arena, uint32_t, count + 2);
    if (sizes == NULL || code->offsets == NULL) {
        return dt_no_memory();
    }
    DT_TRY(measure(code, sizes, &jumps, &njumps));
    for (bool grown = true; grown;) {
        grown = false;
        for (uint32_t i = 0; i < count; i++) {
            code->offsets[i + 1] = code->offsets[i] + sizes[i];
        }
        for (uint32_t k = 0; k < njumps; k++) {
            DtRawInstr *instr = &code->instrs.items[jumps[k]];
            instr->arg = jump_argument(code, jumps[k]);
            if (instr->arg < 0) {
                return fault("a jump against its direction");
            }
            uint32_t size = size_of(instr);
            grown |= size > sizes[jumps[k]];
            sizes[jumps[k]] = size > sizes[jumps[k]] ? size : sizes[jumps[k]];
        }
    }
    return DT_OK;
}

/* --- bytes and tables ---------------------------------------------------- */

static void
write_instr(const DtDriverCode *code, uint32_t index, int extended_arg, uint8_t *bytes)
{
    const DtRawInstr *instr = &code->instrs.items[index];
    uint32_t caches = dt_opcodes_get(instr->opcode)->caches;
    uint32_t units = code->offsets[index + 1] - code->offsets[index] - caches;
    uint8_t *at = bytes + (size_t)code->offsets[index] * UNIT_BYTES;
    for (uint32_t unit = 0; unit < units; unit++, at += UNIT_BYTES) {
        at[0] = unit + 1 < units ? (uint8_t)extended_arg : instr->opcode;
        at[1] = (uint8_t)((uint32_t)instr->arg >> (8 * (units - 1 - unit)));
    }
    memset(at, 0, (size_t)caches * UNIT_BYTES);
}

static PyObject *
make_bytes(const DtDriverCode *code)
{
    uint32_t count = code->instrs.count;
    int extended_arg = dt_opcodes_find("EXTENDED_ARG");
    PyObject *bytes =
        PyBytes_FromStringAndSize(NULL, (Py_ssize_t)code->offsets[count] * UNIT_BYTES);
    for (uint32_t i = 0; bytes != NULL && i < count; i++) {
        write_instr(code, i, extended_arg, (uint8_t *)PyBytes_AS_STRING(bytes));
    }
    return bytes;
}

static bool
same_position(const DtSpan *a, const DtSpan *b)
{
    return a->line == b->line && a->end_line == b->end_line && a->col == b->col
           && a->end_col == b->end_col;
}

static PyObject *
make_line_table(const DtDriverCode *code)
{
    uint32_t count = code->instrs.count;
    uint32_t used = 0;
    uint8_t *data;
    size_t size;
    DtLineEntry *entries = DT_ARENA_ARRAY(code->arena, DtLineEntry, count + 1);
    if (entries == NULL) {
        return PyErr_NoMemory();
    }
    for (uint32_t i = 0; i < count; i++) {
        const DtSpan *position = &code->instrs.items[i].position;
        if (used == 0 || !same_position(&entries[used - 1].position, position)) {
            entries[used].start = code->offsets[i] * UNIT_BYTES;
            entries[used].position = *position;
            used++;
        }
        entries[used - 1].end = code->offsets[i + 1] * UNIT_BYTES;
    }
    if (dt_line_table_encode(code->arena, dt_line_table_format(), entries, used,
                             dt_code_firstlineno(code->bytecode->code), &data, &size)
        != DT_OK) {
        return NULL;
    }
    return PyBytes_FromStringAndSize((const char *)data, (Py_ssize_t)size);
}

static PyObject *
make_exception_table(const DtDriverCode *code)
{
    uint32_t count = code->instrs.count;
    uint32_t used = 0;
    int32_t running = -1;
    uint8_t *data;
    size_t size;
    DtExceptionEntry *entries = DT_ARENA_ARRAY(code->arena, DtExceptionEntry, count + 1);
    if (entries == NULL) {
        return PyErr_NoMemory();
    }
    for (uint32_t i = 0; i < count; i++) {
        int32_t now = code->instrs.items[i].handler;
        if (now >= 0 && now != running) {
            const DtHandler *handler = &code->bytecode->handlers[now];
            entries[used++] = (DtExceptionEntry){
                .start = code->offsets[i],
                .target = (uint32_t)dt_driver_code_unit(code, code->handler_labels[now]),
                .depth = (uint32_t)handler->depth,
                .lasti = handler->lasti,
            };
        }
        if (now >= 0) {
            entries[used - 1].end = code->offsets[i + 1];
        }
        running = now;
    }
    if (dt_exception_table_encode(code->arena, entries, used, &data, &size) != DT_OK) {
        return NULL;
    }
    return PyBytes_FromStringAndSize(used ? (const char *)data : "", (Py_ssize_t)size);
}

static PyObject *
make_consts(const DtDriverCode *code)
{
    PyObject *known = code->bytecode->consts;
    Py_ssize_t count = PyTuple_GET_SIZE(known);
    PyObject *consts = PyTuple_New(count + (Py_ssize_t)code->consts.count);
    if (consts == NULL) {
        return NULL;
    }
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(consts); i++) {
        PyObject *item = i < count ? PyTuple_GET_ITEM(known, i) : code->consts.items[i - count];
        Py_INCREF(item);
        PyTuple_SET_ITEM(consts, i, item);
    }
    return consts;
}

DtStatus
dt_driver_code_finish(DtDriverCode *code, DT_OWNED PyCodeObject **made)
{
    int32_t known = dt_code_stacksize(code->bytecode->code);
    DtCodeParts parts = {
        .stacksize = code->stacksize > known ? code->stacksize : known,
        .code = make_bytes(code),
    };
    *made = NULL;
    parts.consts = parts.code != NULL ? make_consts(code) : NULL;
    parts.linetable = parts.consts != NULL ? make_line_table(code) : NULL;
    parts.exceptiontable = parts.linetable != NULL ? make_exception_table(code) : NULL;
    if (parts.exceptiontable != NULL) {
        *made = dt_code_with(code->bytecode->code, &parts);
    }
    Py_XDECREF(parts.code);
    Py_XDECREF(parts.consts);
    Py_XDECREF(parts.linetable);
    Py_XDECREF(parts.exceptiontable);
    return *made != NULL ? DT_OK : DT_ERROR;
}
