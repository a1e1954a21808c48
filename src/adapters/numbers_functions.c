/* Functions of Python numbers that the graph computes: float(), int(), round(), min(), math.sin()
 * ...
 *
 * Which there are, and of what kind their results are, is variables/numbers/array_numbers.def.
 * Not in here: operators and attributes (numbers.c).
 */
#include <string.h>

#include "adapters/numbers.h"
#include "variables/kinds.h"

/* round(): a float without digits is an int; with digits, and ints, keep their type. */
static char
kind_of_round(const char *number, const bool *arrays, uint32_t count)
{
    if (count == 1) {
        return number[0] == 'f' || (number[0] == 'i' && !arrays[0]) ? 'i' : 0;
    }
    bool plain = !arrays[0] && (number[0] == 'f' || number[0] == 'i');
    return plain && number[1] == 'i' ? number[0] : 0;
}

/* An array without dimensions is no number: it would itself be the result. */
static bool
can_change(const PyTypeObject *type)
{
    return type->tp_as_mapping != NULL && type->tp_as_mapping->mp_ass_subscript != NULL;
}

/* One number of them all: of the type that they have in common. */
static DtStatus
emit_extreme(DtTrace *trace, const DtNumberRow *row, PyObject *callable, const DtArgs *args,
             DtVar **out)
{
    DtVar **items = args->pos;
    uint32_t count = args->npos;
    DtVar *only = count == 1 ? dt_var_peek(items[0]) : NULL;
    if (only != NULL && (only->type->kind == DT_KIND_TUPLE || only->type->kind == DT_KIND_LIST)) {
        items = ((DtSeqVar *)only)->items;
        count = ((DtSeqVar *)only)->count;
    }
    char kind = 0;
    const DtMeta *meta = NULL;
    DtOperand *operands = DT_ARENA_ARRAY(&trace->arena, DtOperand, count + 1);
    if (operands == NULL) {
        return dt_no_memory();
    }
    bool alike = count > 0 && (only == NULL || items != args->pos);
    for (uint32_t i = 0; i < count && alike; i++) {
        bool array;
        DtVar *item;
        DT_TRY(dt_var_realize(trace, items[i], &item));
        item = dt_var_peek(item);
        char own = dt_number_of(item, &array);
        const DtMeta *of = array ? ((DtArrayVar *)item)->meta : NULL;
        alike = own != 0 && (of == NULL || !can_change(of->type));
        if (i == 0) {
            kind = own;
            meta = of;
        }
        alike = alike && own == kind && (of == NULL) == (meta == NULL)
                && (of == NULL || (of->type == meta->type && of->dtype == meta->dtype));
        DT_TRY(dt_number_operands(trace, &item, 1, &operands[i]));
    }
    if (!alike || kind == 'c') {
        return dt_break(trace, DT_BREAK_ARRAY_TO_SCALAR,
                        "%s() of numbers of which one is of another type", row->name);
    }
    DtMeta result = meta != NULL ? *meta : dt_number_meta(kind);
    return dt_number_emit_meta(trace, row->target, callable, operands, count, &result, out);
}

static DtStatus
emit_sum(DtTrace *trace, const DtNumberRow *row, PyObject *callable, const DtArgs *args,
         DtVar **out)
{
    bool array;
    DtSeqVar *items = (DtSeqVar *)dt_var_peek(args->pos[0]);
    char kind = dt_number_of(args->pos[1], &array);
    kind = kind == 'b' ? 'i' : kind;
    for (uint32_t i = 0; i < items->count && kind != 0; i++) {
        char own = dt_number_of(items->items[i], &array);
        kind = own == 0 || array           ? 0
               : own == 'c' || kind == 'c' ? 'c'
               : own == 'f' || kind == 'f' ? 'f'
                                           : 'i';
    }
    DtOperand operands[2];
    if (kind == 0) {
        return dt_break(trace, DT_BREAK_ARRAY_TO_SCALAR, "sum() of such numbers");
    }
    DT_TRY(dt_number_operands(trace, args->pos, 2, operands));
    return dt_number_emit(trace, row->target, callable, operands, 2, kind, out);
}

DtStatus
dt_number_call(DtTrace *trace, const DtNumberRow *row, PyObject *callable, const DtArgs *args,
               DtVar **out)
{
    enum { MOST = 8 };
    char numbers[MOST] = {0};
    bool arrays[MOST], known = args->npos <= MOST, complex = false, floats = true;
    DtOperand operands[MOST];
    if (row->result == 'm') {
        return emit_extreme(trace, row, callable, args, out);
    }
    if (row->result == 's') {
        return emit_sum(trace, row, callable, args, out);
    }
    for (uint32_t i = 0; i < args->npos && known; i++) {
        numbers[i] = dt_number_of(args->pos[i], &arrays[i]);
        known = numbers[i] != 0;
        complex = complex || numbers[i] == 'c';
        floats = floats && numbers[i] == 'f';
    }
    char kind = row->result;
    bool converts = strcmp(row->module, "builtins") == 0 && kind != 'r';
    if (kind == 'r') {
        kind = known ? kind_of_round(numbers, arrays, args->npos) : 0;
    }
    else if (kind == 't') {
        kind = floats ? 'i' : 0;
    }
    else if (complex && kind != 'c' && kind != 'b') {
        kind = 0; /* the imaginary part is lost with a warning */
    }
    else if (complex && !converts) {
        kind = 0;
    }
    if (!known || kind == 0 || (converts && args->npos != 1)) {
        return dt_break(trace, DT_BREAK_ARRAY_TO_SCALAR, "%s() of an array", row->name);
    }
    if (converts && numbers[0] == kind && !arrays[0]) {
        *out = args->pos[0]; /* the very object */
        return DT_OK;
    }
    DT_TRY(dt_number_operands(trace, args->pos, args->npos, operands));
    return dt_number_emit(trace, row->target, callable, operands, args->npos, kind, out);
}
