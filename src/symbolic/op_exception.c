/* Raising: the frame runs plainly, so that the exception, its traceback and every handler are
 * CPython's.
 *
 * Bodies of try statements need nothing: the handlers' instructions are only
 * reached through an exception, and those have graph breaks (handlers.def).
 */
#include "symbolic/frame.h"

DtStatus
dt_op_raise_varargs(DtTrace *trace, DtFrame *frame, const DtInstr *instr)
{
    if (instr->arg == 0) {
        return dt_break(trace, DT_BREAK_RAISES, "raise, again");
    }
    DtStrbuf text = {0};
    dt_var_repr(*dt_frame_at(frame, instr->arg), &text);
    DtStatus status = dt_break(trace, DT_BREAK_RAISES, "raise %s", dt_strbuf_text(&text));
    dt_strbuf_release(&text);
    return status;
}

/* Only a failing assert loads it. */
DtStatus
dt_op_load_assertion_error(DtTrace *trace, DtFrame *frame, const DtInstr *instr)
{
    (void)frame;
    (void)instr;
    return dt_break(trace, DT_BREAK_RAISES, "AssertionError: an assert does not hold");
}
