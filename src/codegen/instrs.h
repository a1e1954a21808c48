/* The list of canonical instructions that emitters write.
 *
 *   emitters ──► DtEmit (no NULLs, no caches, symbolic slots and labels)
 *                  │ legalise.c: real opcodes of this CPython, NULLs, FOR_ITER landings
 *                  ▼
 *                assemble.c: argument prefixes, jumps, tables, code object
 *
 * Rules for emitters:
 * - No NULL exists.  The instruction that leaves a callable on the stack is
 *   marked by dt_emit_mark_callable; its arguments follow; then CALL argc,
 *   CALL_KW argc (all arguments counted, `object` the tuple of keyword names,
 *   which is *not* on the stack), or CALL_EX flags.  The stack is then
 *   [callable, arguments...], on every version.
 * - Slots are numbers from dt_emit_add_slot or dt_emit_use_layout; where they
 *   lie in the frame is decided by the assembler.  Arguments come first.
 * - A prologue (cells, closure, RESUME) is never emitted; it is made.
 * - FOR_ITER and JUMP_IF_x_OR_POP go forward.  Other jumps go both ways.
 * - A protected region is left by falling off its end or by an exception only.
 *   (RETURN_VALUE inside is fine, jumps out of it are not.)  Its handler lies
 *   behind it, is entered with the stack cut to the depth at the start of the
 *   region and begins with PUSH_EXC_INFO.  There the exception counts as one
 *   value, that POP_TOP flagged DT_EMIT_EXCEPTION drops; CHECK_EXC_MATCH must
 *   be followed by POP_JUMP_IF_FALSE.  POP_EXCEPT ends the handler once the
 *   exception is dropped; or RERAISE (arg 0) does, with the exception on top.
 * - LOAD_FAST is unchecked unless flagged DT_EMIT_CHECK: a slot that may be
 *   unbound must be flagged.
 *
 * All objects are borrowed: the trace (or the caller) keeps them alive until
 * the code object is made.
 */
#ifndef DT_CODEGEN_INSTRS_H
#define DT_CODEGEN_INSTRS_H

#include <stdbool.h>
#include <stdint.h>

#include "bytecode/canonical.h"
#include "bytecode/line_table.h"
#include "compat/code.h"
#include "core/arena.h"
#include "core/strbuf.h"
#include "core/vec.h"

typedef int32_t DtLabel; /* -1: none */

enum {
    DT_EMIT_CALLABLE = 1, /* leaves a callable on the stack: a NULL belongs to it */
    DT_EMIT_CHECK = 2,    /* LOAD_FAST of a slot that may be unbound */
    DT_EMIT_EXCEPTION = 4 /* POP_TOP of the exception that a handler has got */
};

typedef struct DtEmitInstr {
    uint16_t op;                  /* DtOp */
    uint16_t flags;               /* DT_EMIT_* */
    int32_t arg;                  /* by the operand kind of the op; slots for LOCAL and CELL */
    DtLabel label;                /* of a jump, else -1 */
    DT_BORROWED PyObject *object; /* the constant, name, keyword names (CALL_KW) or
                                     qualified name (MAKE_FUNCTION); else NULL */
    DtSpan position;
} DtEmitInstr;

/* One protected region: start <= instruction < end. */
typedef struct DtEmitTry {
    DtLabel start;
    DtLabel end;
    DtLabel handler;
    DtLabel handler_end; /* behind the handler's last instruction */
} DtEmitTry;

typedef struct DtEmit {
    DtArena *arena;
    DT_VEC(DtEmitInstr) instrs;
    DT_VEC(uint32_t) labels; /* label -> index of an instruction; UINT32_MAX: not bound */
    DT_VEC(DtEmitTry) tries; /* inner ones before outer ones */
    DT_VEC(DtSlot) slots;
    DtSpan position; /* given to every instruction that is added */
} DtEmit;

/* An empty list; no position, no slots. */
void dt_emit_init(DtEmit *emit, DtArena *arena);

/* Adds a slot (DT_SLOT_* kind) and gives its number.  All arguments before all others. */
DtStatus dt_emit_add_slot(DtEmit *emit, PyObject *name, int kind, int *slot) DT_MUST_CHECK;

/* Adds the slots of a code object, so that its unified numbers are slot numbers here.
 * Only on a list without slots. */
DtStatus dt_emit_use_layout(DtEmit *emit, const DtCodeLayout *layout) DT_MUST_CHECK;

/* Position of the instructions that follow; line -1: none. */
void dt_emit_set_position(DtEmit *emit, DtSpan position);

/* Instructions by the kind of their operand. */
DtStatus dt_emit_op(DtEmit *emit, int op, int32_t arg) DT_MUST_CHECK;
DtStatus dt_emit_const(DtEmit *emit, PyObject *constant) DT_MUST_CHECK; /* LOAD_CONST */
DtStatus dt_emit_name(DtEmit *emit, int op, PyObject *name) DT_MUST_CHECK;
DtStatus dt_emit_slot(DtEmit *emit, int op, int slot) DT_MUST_CHECK;
DtStatus dt_emit_jump(DtEmit *emit, int op, DtLabel label) DT_MUST_CHECK;
DtStatus dt_emit_call_kw(DtEmit *emit, int32_t argc, PyObject *names) DT_MUST_CHECK;
DtStatus dt_emit_make_function(DtEmit *emit, int32_t flags, PyObject *qualname) DT_MUST_CHECK;

/* Marks the last instruction: it (with what it is computed from) leaves a callable. */
void dt_emit_mark_callable(DtEmit *emit);

/* Marks the last instruction with DT_EMIT_* flags. */
void dt_emit_mark(DtEmit *emit, uint16_t flags);

/* A label, bound later to the next instruction that will be added. */
DtStatus dt_emit_new_label(DtEmit *emit, DtLabel *label) DT_MUST_CHECK;
void dt_emit_bind(DtEmit *emit, DtLabel label);

DtStatus dt_emit_try(DtEmit *emit, DtLabel start, DtLabel end, DtLabel handler,
                     DtLabel handler_end) DT_MUST_CHECK;

/* How many values an emitted instruction takes and leaves (NULLs do not exist here). */
int dt_emit_popped(const DtEmitInstr *instr);
int dt_emit_pushed(const DtEmitInstr *instr, bool jumped);

/* One line per instruction, for the log.  Runs repr() of constants only when they are
 * None, bool, int, float, str or bytes; other constants are shown by type. */
DtStatus dt_emit_print(const DtEmit *emit, DtStrbuf *out) DT_MUST_CHECK;

#endif
