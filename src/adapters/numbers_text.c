/* Texts of numbers and arrays that the graph computes: str(), repr(), format(), "%", joined pieces.
 *
 *   f"{x.mean():.2f}" ───► dyntrace._texts.formatted(mean, ".2f")
 *   "a" + text ──────────► dyntrace._texts.joined("", "a", text)
 *
 * A text is a graph value of which nothing but its type is known.  The functions are called with
 * graph values and constants that run no code of the program; what raises drops the run.
 * Not in here: which parts of the language ask for texts (variables/text.c).
 */
#include <string.h>

#include "adapters/numbers.h"
#include "compat/import.h"
#include "variables/kinds.h"

static DtStatus
no_text(DtTrace *trace, DtVar *var)
{
    return dt_break(trace, DT_BREAK_ARRAY_TO_SCALAR, "the text of a %s",
                    dt_kinds_type_name(trace, var));
}

/* Values of arrays' libraries are printed by rules that the program may have changed. */
static DtStatus
read_operand(DtTrace *trace, DtVar *var, DtOperand *out, bool *library)
{
    bool ok;
    DT_TRY(dt_var_realize(trace, var, &var));
    var = dt_var_peek(var);
    if (var->type->kind == DT_KIND_ARRAY) {
        const DtArrayVar *array = (const DtArrayVar *)var;
        bool number = array->adapter == &dt_number_adapter;
        *library = *library || !number;
        if (array->adapter->text != dt_number_text || (number && dt_number_kind(var) == 0)) {
            return no_text(trace, var);
        }
    }
    DT_TRY(dt_graph_operand(trace, var, out, &ok));
    bool plain = ok
                 && (out->kind == DT_OPERAND_NODE || out->kind == DT_OPERAND_SYM
                     || (out->kind == DT_OPERAND_CONST && dt_constant_is_safe(out->u.object)));
    return plain ? DT_OK
                 : dt_break(trace, DT_BREAK_ARRAY_TO_SCALAR, "a text of an array and a %s",
                            dt_kinds_type_name(trace, var));
}

DtStatus
dt_number_text(DtTrace *trace, const char *function, DtVar *const *vars, uint32_t count,
               DtVar **out)
{
    DtOperand *operands = DT_ARENA_ARRAY(&trace->arena, DtOperand, count + 1);
    bool library = false;
    if (operands == NULL) {
        return dt_no_memory();
    }
    for (uint32_t i = 0; i < count; i++) {
        DT_TRY(read_operand(trace, vars[i], &operands[i], &library));
    }
    if (library && trace->printing != NULL && PyTuple_GET_SIZE(trace->printing) > 0) {
        return dt_break(trace, DT_BREAK_ARRAY_TO_SCALAR, "the text of an array by new options");
    }
    const char *module = library ? "dyntrace._numpy_checked" : "dyntrace._texts";
    const char *target = dt_arena_printf(&trace->arena, "%s.%s", module, function);
    PyObject *callee = dt_trace_keep_take(trace, dt_import_attr(module, function));
    if (target == NULL || callee == NULL) {
        return target == NULL ? dt_no_memory() : DT_ERROR;
    }
    return dt_number_emit(trace, target, callee, operands, count, 's', out);
}
