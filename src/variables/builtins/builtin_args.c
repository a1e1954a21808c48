/* What the handlers of builtins share: arguments by position or name, calls of the real builtin.
 *
 * Not in here: binding to Python functions (symbolic/bind.c).
 */
#include "variables/builtins/builtin_args.h"

#include <string.h>

#include "variables/adapter.h"
#include "variables/fold.h"

bool
dt_builtin_knows(const DtArgs *args, const char *const *allowed)
{
    for (uint32_t i = 0; i < args->nkw; i++) {
        if (!dt_kinds_is_among(args->kwnames[i], allowed)) {
            return false;
        }
    }
    return true;
}

DtStatus
dt_builtin_bind(DtTrace *trace, DtVar *self, const DtArgs *args, const char *const *names,
                uint32_t count, DtVar **out)
{
    memset(out, 0, count * sizeof(DtVar *));
    for (uint32_t i = 0; i < args->npos && i < count; i++) {
        out[i] = args->pos[i];
    }
    bool fits = args->npos <= count;
    for (uint32_t k = 0; k < args->nkw && fits; k++) {
        uint32_t i = 0;
        while (i < count && PyUnicode_CompareWithASCIIString(args->kwnames[k], names[i]) != 0) {
            i++;
        }
        fits = i < count && out[i] == NULL;
        if (fits) {
            out[i] = args->kw[k];
        }
    }
    return fits ? DT_OK : dt_kinds_mismatch(trace, self, "", args);
}

DtStatus
dt_builtin_misfit(DtTrace *trace, DtVar *self, const DtArgs *args)
{
    return dt_kinds_mismatch(trace, self, "", args);
}

DtStatus
dt_builtin_fold(DtTrace *trace, DtVar *self, const DtArgs *args, DtVar **out)
{
    return dt_fold_call(trace, ((DtObjectVar *)self)->object, NULL, args, out);
}

DtStatus
dt_builtin_scalar(DtTrace *trace, const char *function)
{
    return dt_break(trace, DT_BREAK_ARRAY_TO_SCALAR, "%s() of an array", function);
}

DtStatus
dt_builtin_of_array(DtTrace *trace, DtVar *self, const DtArgs *args, DtVar **out)
{
    *out = NULL;
    if (args->npos != 1 || args->nkw != 0) {
        return DT_OK;
    }
    DtVar *only;
    DT_TRY(dt_var_realize(trace, args->pos[0], &only));
    only = dt_var_peek(only);
    if (only->type->kind != DT_KIND_ARRAY || ((DtArrayVar *)only)->adapter->fold == NULL) {
        return DT_OK;
    }
    DtArrayVar *array = (DtArrayVar *)only;
    return array->adapter->fold(trace, ((DtObjectVar *)self)->object, array, out);
}
