/* Real instructions of this CPython, in order, and the code object that they become.
 *
 * Lower than instrs.h: an instruction here is an opcode number with its argument, a line and a
 * handler.  Arguments are the original's; only jumps are placed anew. */
#ifndef DT_CODEGEN_DRIVER_CODE_H
#define DT_CODEGEN_DRIVER_CODE_H

#include "bytecode/decode.h"
#include "bytecode/line_table.h"
#include "core/map.h"
#include "core/vec.h"

typedef struct DtRawInstr {
    uint8_t opcode;
    int32_t arg;
    int32_t jump;    /* label, or -1 */
    int32_t handler; /* entry of bytecode->handlers that covers it, or -1 */
    DtSpan position;
} DtRawInstr;

enum { DT_DRIVER_ADDED = 16 };

typedef struct DtDriverCode {
    DtArena *arena;
    const DtBytecode *bytecode; /* what it is made from */
    DT_VEC(DtRawInstr) instrs;
    DT_VEC(int32_t) labels;        /* label -> instruction, -1 while unbound */
    DT_VEC(PyObject *) consts;     /* new ones, behind the original's; owned */
    DtMap const_numbers;           /* of those, plus 1 */
    const int32_t *handler_labels; /* per handler */
    int32_t stacksize;
    bool no_memory; /* sticky; emitters need not look */
    /* What the next instructions get. */
    DtSpan position;
    int32_t handler;
    struct {
        uint8_t opcode;
        int32_t arg;
    } added[DT_DRIVER_ADDED]; /* what this CPython calls the instructions below */
    uint32_t *offsets;        /* after place: per instruction, in units; one more for the end */
} DtDriverCode;

/* Before anything else, on a struct whose first two members and `handler` are set. */
void dt_driver_code_start(DtDriverCode *code);

int32_t dt_driver_code_label(DtDriverCode *code);
void dt_driver_code_bind(DtDriverCode *code, int32_t label);

/* The unit that a bound label stands for, after place. */
int32_t dt_driver_code_unit(const DtDriverCode *code, int32_t label);

/* The number of a constant, new or not. */
int32_t dt_driver_code_const(DtDriverCode *code, DT_BORROWED PyObject *value);

/* About so many instructions will be put. */
void dt_driver_code_expect(DtDriverCode *code, uint32_t instrs);

void dt_driver_code_put(DtDriverCode *code, int opcode_number, int32_t arg, int32_t jump);

/* A switch: a jump to the label, or a NOP. */
void dt_driver_code_switch(DtDriverCode *code, int32_t label, bool jumps);
/* What a switch is made of. */
int dt_driver_code_switch_opcode(bool jumps);

void dt_driver_code_pop(DtDriverCode *code, int count);
void dt_driver_code_load(DtDriverCode *code, PyObject *constant);
void dt_driver_code_swap_two(DtDriverCode *code);
void dt_driver_code_copy_top(DtDriverCode *code);
void dt_driver_code_for_iter(DtDriverCode *code, int32_t exhausted);
/* Binds the label of a for_iter, in front of what an exhausted one skips: so many instructions. */
int dt_driver_code_loop_skip(const DtDriverCode *code);
void dt_driver_code_loop_end(DtDriverCode *code, int32_t exhausted);
/* Anywhere; checks for signals when it goes back. */
void dt_driver_code_jump(DtDriverCode *code, int32_t label);
/* [bool] -> [], forward, without a check for signals.  On 3.10 the bool stays when it jumps. */
void dt_driver_code_jump_if(DtDriverCode *code, int32_t label);
enum { DT_JUMP_IF_KEEPS = DT_PY310 };
/* [a, b] -> [a < b] */
void dt_driver_code_less(DtDriverCode *code);
void dt_driver_code_return(DtDriverCode *code);

/* Drops the new constants. */
void dt_driver_code_release(DtDriverCode *code);

/* Places everything: `offsets` are known. */
DtStatus dt_driver_code_place(DtDriverCode *code) DT_MUST_CHECK;

/* The code object, like the original in all but instructions, constants and tables. */
DtStatus dt_driver_code_finish(DtDriverCode *code, DT_OWNED PyCodeObject **made) DT_MUST_CHECK;

#endif
