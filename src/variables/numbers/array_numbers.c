/* See array_numbers.h.  Not in here: the graph (adapters/numbers.c). */
#include "variables/numbers/array_numbers.h"

#include <string.h>

#include "compat/import.h"
#include "variables/adapter.h"
#include "variables/builtins/builtin_args.h"

static const DtNumberRow rows[] = {
#define NUMBER_FUNCTION(MODULE, NAME, RESULT) {#MODULE, #NAME, #MODULE "." #NAME, RESULT},
#include "variables/numbers/array_numbers.def"
#undef NUMBER_FUNCTION
};

#define FUNCTIONS (sizeof(rows) / sizeof(rows[0])) /* Py_ARRAY_LENGTH() is no constant on 3.13 */
static PyObject *functions[FUNCTIONS]; /* kept for the process; NULL: not in this Python */

static DtStatus
look_up_functions(void)
{
    static bool done;
    if (done) {
        return DT_OK;
    }
    for (size_t i = 0; i < FUNCTIONS; i++) {
        functions[i] = dt_import_attr(rows[i].module, rows[i].name);
        if (functions[i] == NULL && !PyErr_ExceptionMatches(PyExc_AttributeError)) {
            return DT_ERROR;
        }
        PyErr_Clear(); /* a function of newer versions */
    }
    done = true;
    return DT_OK;
}

DtStatus
dt_array_among(DtTrace *trace, DtVar *const *vars, uint32_t count, bool *out)
{
    *out = false;
    for (uint32_t i = 0; i < count; i++) {
        DtVar *var;
        DT_TRY(dt_var_realize(trace, vars[i], &var));
        *out = *out || dt_kinds_is(var, DT_KIND_ARRAY);
    }
    return DT_OK;
}

bool
dt_array_is_number(DtVar *var)
{
    const DtArrayVar *array = (const DtArrayVar *)dt_var_peek(var);
    return array->base.type->kind == DT_KIND_ARRAY && array->adapter->number_kind != NULL
           && array->adapter->number_kind(array->meta) != 0;
}

/* The array that decides: numbers of the graph leave it to others. */
static DtArrayVar *
first_array(const DtArgs *args)
{
    DtArrayVar *found = NULL;
    for (uint32_t i = 0; i < args->npos; i++) {
        DtVar *var = dt_var_peek(args->pos[i]);
        DtSeqVar *inner = var->type->kind == DT_KIND_TUPLE || var->type->kind == DT_KIND_LIST
                              ? (DtSeqVar *)var
                              : NULL;
        for (uint32_t j = 0; j < (inner != NULL ? inner->count : 1); j++) {
            DtVar *item = inner != NULL ? dt_var_peek(inner->items[j]) : var;
            if (item->type->kind == DT_KIND_ARRAY && (found == NULL || found->adapter->gives_way)) {
                found = (DtArrayVar *)item;
            }
        }
    }
    return found;
}

DtStatus
dt_array_number(DtTrace *trace, DtVar *self, const DtArgs *args, DtVar **out)
{
    PyObject *callable = ((DtObjectVar *)self)->object;
    const DtArrayVar *array = first_array(args);
    DT_TRY(look_up_functions());
    for (size_t i = 0; i < FUNCTIONS; i++) {
        if (functions[i] == callable && args->nkw == 0 && array != NULL
            && array->adapter->number != NULL) {
            return array->adapter->number(trace, &rows[i], callable, args, out);
        }
    }
    return dt_builtin_break(trace, callable, DT_BREAK_ARRAY_TO_SCALAR, "", " of an array");
}
