/* From a code object to canonical instructions.
 *
 *   co_code ──units──► real instructions ──opcodes.def──► DtInstr[]
 *   line table ──────► line, end_line, col, end_col of each
 *   exception table ─► DtHandler[]  (3.10: from the block stack)
 *
 * One real instruction becomes one or more canonical ones; all but the first
 * carry DT_INSTR_CONTINUES.  Jump targets and handler ranges are indices into
 * the canonical list.  Stack depths are computed along every path, so a
 * decoded code object is known to keep its stack in order.
 *
 * What is not in here: what the operations mean (symbolic/).
 */
#ifndef DT_BYTECODE_DECODE_H
#define DT_BYTECODE_DECODE_H

#include <stdint.h>

#include "bytecode/canonical.h"
#include "compat/code.h"
#include "core/arena.h"
#include "core/status.h"

typedef struct DtInstr {
    uint16_t op;    /* DtOp */
    uint16_t flags; /* DT_INSTR_* */
    int32_t arg;
    int32_t target;  /* index of an instruction, for jumps; else -1 */
    uint32_t offset; /* byte offset of the real instruction (after its EXTENDED_ARGs) */
    uint32_t real;   /* number of the real instruction */
    int32_t line;    /* -1: none */
    int32_t end_line;
    int32_t col; /* 0-based UTF-8 byte columns; -1: none */
    int32_t end_col;
    int32_t handler; /* index into `handlers` of the innermost one around it, or -1 */
    int32_t depth;   /* stack depth before it; -1 when no path leads here */
} DtInstr;

/* Where an exception goes.  The stack is cut to `depth`, then the handler
 * finds [lasti (if `lasti`), exc] on it (3.11 on) or six values (`triple`). */
typedef struct DtHandler {
    int32_t start; /* first covered instruction (3.10: of the block, may have holes) */
    int32_t end;   /* one after the last */
    int32_t target;
    int32_t depth;
    bool lasti;
    bool triple; /* 3.10: previous (tb, value, type), then (tb, value, type) */
} DtHandler;

/* One block of 3.10's block stack as it stands before an instruction. */
typedef struct DtTryBlock {
    const struct DtTryBlock *outer;
    bool running;    /* the handler is running: `depth` holds what was handled before it (tb, value,
                        type), which the end of the block restores; else a try body */
    int32_t handler; /* index into `handlers` */
} DtTryBlock;

/* How many values an exception puts on the stack above `depth`. */
#define DT_HANDLER_PUSHED(handler) ((handler)->triple ? 6 : 1 + (handler)->lasti)

typedef struct DtBytecode {
    DT_BORROWED PyCodeObject *code;
    DtInstr *instrs;
    uint32_t count;
    DtHandler *handlers;
    uint32_t handler_count;
    const DtTryBlock *
        *blocks; /* 3.10: per instruction, the innermost block; NULL on later versions */
    DtCodeLayout layout;
    DT_BORROWED PyObject *consts; /* tuple */
    DT_BORROWED PyObject *names;  /* tuple */
    int32_t max_depth; /* deepest stack; may exceed co_stacksize by one inside an expansion */
    uint32_t real_count;
} DtBytecode;

/* Decodes into the arena; the caller keeps `code` alive.  A code object that
 * breaks CPython's own rules gives DT_ERROR with ValueError.  Runs no user code. */
DtStatus dt_decode_code(DtArena *arena, PyCodeObject *code, DtBytecode **out) DT_MUST_CHECK;

/* The same with other instructions and tables (bytes objects; exceptiontable NULL on 3.10)
 * than the code object has, which lends its names, constants and slots.  For tests: CPython
 * itself does not survive making a code object of arbitrary bytes. */
DtStatus dt_decode_parts(DtArena *arena, PyCodeObject *code, PyObject *bytes, PyObject *linetable,
                         PyObject *exceptiontable, DtBytecode **out) DT_MUST_CHECK;

/* The constant or name of an instruction with such an operand. */
DT_BORROWED PyObject *dt_decode_const(const DtBytecode *bytecode, const DtInstr *instr);
DT_BORROWED PyObject *dt_decode_name(const DtBytecode *bytecode, const DtInstr *instr);

#endif
