/* Generators and coroutines that the trace leaves behind unfinished: CPython closes them, which may
 * run code, or warns that nobody has awaited them.  Such a trace breaks before it lets them go.
 */
#include "symbolic/generator.h"
#include "variables/iterators/iterators.h"
#include "variables/kinds.h"

/* Instructions of handlers that only find out whether the exception is theirs, and pass it on. */
static bool
is_harmless(DtOp op)
{
    switch (op) {
    case DT_OP_NOP:
    case DT_OP_POP_TOP:
    case DT_OP_COPY:
    case DT_OP_SWAP:
    case DT_OP_LOAD_CONST:
    case DT_OP_LOAD_FAST:
    case DT_OP_STORE_FAST:
    case DT_OP_DELETE_FAST:
    case DT_OP_LOAD_GLOBAL:
    case DT_OP_BUILD_TUPLE:
    case DT_OP_PUSH_EXC_INFO:
    case DT_OP_CHECK_EXC_MATCH:
    case DT_OP_JUMP_IF_NOT_EXC_MATCH:
    case DT_OP_POP_JUMP_IF_FALSE:
    case DT_OP_POP_JUMP_IF_TRUE:
    case DT_OP_POP_EXCEPT:
    case DT_OP_POP_EXCEPT_TRIPLE:
    case DT_OP_RERAISE:
    case DT_OP_RERAISE_TRIPLE:
    case DT_OP_STOPITERATION_ERROR:
    case DT_OP_CLEANUP_THROW:
    case DT_OP_END_ASYNC_FOR:
    case DT_OP_END_ASYNC_FOR_TRIPLE:
        return true;
    default:
        return false;
    }
}

/* From the handler of a GeneratorExit to where it leaves the frame again: *runs_code tells whether
 * anything else than passing it on would be done. */
static DtStatus
pass_exit_on(DtTrace *trace, DtFrame *frame, bool *runs_code)
{
    DtStatus status = DT_RAISE;
    *runs_code = false;
    for (;;) {
        if (status == DT_RAISE) {
            status = dt_frame_unwind(trace, frame);
        }
        if (status == DT_RAISE) {
            (void)dt_raised_take(trace);
            return DT_OK;
        }
        DT_TRY(status);
        frame->pc = frame->next;
        const DtInstr *instr = &frame->bytecode->instrs[frame->pc];
        if (!is_harmless((DtOp)instr->op)) {
            *runs_code = true;
            return DT_OK;
        }
        frame->next = frame->pc + 1;
        status = dt_op_handlers[instr->op](trace, frame, instr);
    }
}

/* Would a GeneratorExit that is raised where it stands run code of the user's?  The frame is not
 * needed any more. */
static DtStatus
exit_runs_code(DtTrace *trace, DtGeneratorVar *self, bool *runs_code)
{
    DtVar *cls, *exception;
    DtArgs none = {0};
    *runs_code = false;
    if (self->frame->bytecode->instrs[self->at].handler < 0) {
        return DT_OK;
    }
    DT_TRY(dt_build_known(trace, PyExc_GeneratorExit, &cls));
    DT_TRY(dt_exception_make(trace, cls, &none, &exception));
    dt_generator_load(self);
    self->frame->pc = self->at;
    dt_frame_push(self->frame, dt_none(trace));
    DtFrame *current = trace->frame;
    self->exc.previous = trace->exc_info;
    trace->exc_info = &self->exc;
    trace->frame = self->frame;
    DtStatus status = dt_raise_again(trace, exception);
    if (status == DT_RAISE) {
        status = pass_exit_on(trace, self->frame, runs_code);
    }
    trace->exc_info = self->exc.previous;
    trace->frame = current;
    return status;
}

DtStatus
dt_generators_check(DtTrace *trace)
{
    for (uint32_t i = 0; i < trace->generators.count; i++) {
        DtVar *var = trace->generators.items[i];
        if (var->type->kind == DT_KIND_ITERATOR) {
            DT_TRY(dt_async_check_step(trace, var));
            continue;
        }
        DtGeneratorVar *self = (DtGeneratorVar *)var;
        const char *name = dt_kinds_text(self->function->name);
        bool runs_code = false;
        if (self->state == DT_GENERATOR_SUSPENDED) {
            DT_TRY(exit_runs_code(trace, self, &runs_code));
        }
        if (runs_code) {
            return dt_break(trace, DT_BREAK_GENERATOR,
                            "%s is left unfinished inside of a try or with statement", name);
        }
        if (self->state == DT_GENERATOR_CREATED && !self->rebuilt
            && self->base.type->kind == DT_KIND_COROUTINE) {
            return dt_break(trace, DT_BREAK_GENERATOR, "coroutine %s is not awaited", name);
        }
    }
    return DT_OK;
}
