/* Rows of the modules `sys`, about the exception that is being handled, and `warnings`. */
#include "variables/kinds.h"

static DtStatus
call_exc_info(DtTrace *trace, DtVar *self, const DtArgs *args, DtVar **out)
{
    (void)self;
    (void)args;
    DtVar *items[3];
    DT_TRY(dt_raised_handled_ask(trace, &items[1]));
    if (dt_var_peek_constant(items[1]) == Py_None) {
        items[0] = items[2] = items[1];
        return dt_var_tuple(trace, items, 3, out);
    }
    if (!dt_exception_is(items[1])) {
        return dt_break(trace, DT_BREAK_UNKNOWN_CALLABLE, "exc_info() of an existing exception");
    }
    DT_TRY(dt_class_of(trace, items[1], &items[0]));
    DT_TRY(dt_exception_traceback(trace, items[1], &items[2]));
    return dt_var_tuple(trace, items, 3, out);
}

static DtStatus
call_exception(DtTrace *trace, DtVar *self, const DtArgs *args, DtVar **out)
{
    (void)self;
    (void)args;
    return dt_raised_handled_ask(trace, out);
}

static const DtMethodRow sys_rows[] = {
    {"exc_info", call_exc_info, 0, 0, false},
    {"exception", call_exception, 0, 0, false},
    {NULL, NULL, 0, 0, false},
};

const DtBuiltinTable dt_builtin_sys_table = {"sys", sys_rows};

/* The interpreter is told that warnings.filters has changed: what it remembers is not looked up
 * again. No user code runs. */
static DtStatus
call_filters_mutated(DtTrace *trace, DtVar *self, const DtArgs *args, DtVar **out)
{
    (void)args;
    *out = dt_none(trace);
    return dt_journal_call(trace, self, NULL, 0);
}

static const DtMethodRow warnings_rows[] = {
    {"_filters_mutated", call_filters_mutated, 0, 0, false},
    {NULL, NULL, 0, 0, false},
};

const DtBuiltinTable dt_builtin_warnings_table = {"_warnings", warnings_rows};
