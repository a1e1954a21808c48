/* Rows of module `sys` about the exception that is being handled. */
#include "variables/kinds.h"

static DtStatus
find_handled(DtTrace *trace, DtVar **out)
{
    bool known;
    *out = dt_raised_handled(trace, &known);
    return *out != NULL ? DT_OK
                        : dt_break(trace, DT_BREAK_UNKNOWN_CALLABLE,
                                   "the exception that the function's caller handles");
}

static DtStatus
call_exc_info(DtTrace *trace, DtVar *self, const DtArgs *args, DtVar **out)
{
    (void)self;
    (void)args;
    DtVar *items[3];
    DT_TRY(find_handled(trace, &items[1]));
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
    return find_handled(trace, out);
}

static const DtMethodRow sys_rows[] = {
    {"exc_info", call_exc_info, 0, 0, false},
    {"exception", call_exception, 0, 0, false},
    {NULL, NULL, 0, 0, false},
};

const DtBuiltinTable dt_builtin_sys_table = {"sys", sys_rows};
