/* Placing real instructions; see driver_code.h.
 *
 *   instructions, labels ─► offsets (until they no longer grow) ─► bytes, line table,
 *   exception table ─► code object
 */
#include "codegen/driver_code.h"

#include "bytecode/opcodes.h"
#include "codegen/units.h"
#include "compat/errors.h"

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
        sizes[i] = dt_units_size(instr->opcode, instr->arg);
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
            instr->arg = dt_units_jump(instr->opcode, (int32_t)code->offsets[jumps[k] + 1],
                                       dt_driver_code_unit(code, instr->jump));
            if (instr->arg < 0) {
                return fault("a jump against its direction");
            }
            uint32_t size = dt_units_size(instr->opcode, instr->arg);
            grown |= size > sizes[jumps[k]];
            sizes[jumps[k]] = size > sizes[jumps[k]] ? size : sizes[jumps[k]];
        }
    }
    return DT_OK;
}

/* --- bytes and tables ---------------------------------------------------- */

static PyObject *
make_bytes(const DtDriverCode *code)
{
    DtUnits units;
    uint32_t count = code->instrs.count;
    dt_units_begin(&units, code->offsets[count]);
    for (uint32_t i = 0; units.bytes != NULL && i < count; i++) {
        const DtRawInstr *instr = &code->instrs.items[i];
        dt_units_write(&units, code->offsets[i], code->offsets[i + 1], instr->opcode, instr->arg);
    }
    return units.bytes;
}

static PyObject *
make_line_table(const DtDriverCode *code)
{
    DtLineRuns runs;
    if (dt_line_runs_begin(&runs, code->arena, code->instrs.count) != DT_OK) {
        return NULL;
    }
    for (uint32_t i = 0; i < code->instrs.count; i++) {
        dt_line_runs_add(&runs, code->offsets[i], code->offsets[i + 1],
                         &code->instrs.items[i].position);
    }
    return dt_line_runs_encode(&runs, dt_code_firstlineno(code->bytecode->code));
}

static PyObject *
make_exception_table(const DtDriverCode *code)
{
    DtHandlerRuns runs;
    if (dt_handler_runs_begin(&runs, code->arena, code->instrs.count) != DT_OK) {
        return NULL;
    }
    for (uint32_t i = 0; i < code->instrs.count; i++) {
        DtExceptionEntry entry = {0};
        int32_t now = code->instrs.items[i].handler;
        if (now >= 0) {
            const DtHandler *handler = &code->bytecode->handlers[now];
            entry.target = (uint32_t)dt_driver_code_unit(code, code->handler_labels[now]);
            entry.depth = (uint32_t)handler->depth;
            entry.lasti = handler->lasti;
        }
        dt_handler_runs_add(&runs, code->offsets[i], code->offsets[i + 1], now, entry);
    }
    return dt_handler_runs_encode(&runs);
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
