/* The list of emitted instructions; see instrs.h. */
#include "codegen/instrs.h"

#include "compat/errors.h"

void
dt_emit_init(DtEmit *emit, DtArena *arena)
{
    *emit = (DtEmit){.arena = arena, .position = {-1, -1, -1, -1}};
}

DtStatus
dt_emit_add_slot(DtEmit *emit, PyObject *name, int kind, int *slot)
{
    DtSlot added = {name, kind};
    *slot = (int)emit->slots.count;
    return dt_vec_push(emit->arena, &emit->slots, added) == 0 ? DT_OK : dt_no_memory();
}

DtStatus
dt_emit_use_layout(DtEmit *emit, const DtCodeLayout *layout)
{
    int slot;
    for (int i = 0; i < layout->nslots; i++) {
        DT_TRY(dt_emit_add_slot(emit, layout->slots[i].name, layout->slots[i].kind, &slot));
    }
    return DT_OK;
}

void
dt_emit_set_position(DtEmit *emit, DtSpan position)
{
    emit->position = position;
}

static DtStatus
add(DtEmit *emit, int op, int32_t arg, DtLabel label, PyObject *object)
{
    DtEmitInstr instr = {
        .op = (uint16_t)op,
        .arg = arg,
        .label = label,
        .object = object,
        .position = emit->position,
    };
    return dt_vec_push(emit->arena, &emit->instrs, instr) == 0 ? DT_OK : dt_no_memory();
}

DtStatus
dt_emit_op(DtEmit *emit, int op, int32_t arg)
{
    return add(emit, op, arg, -1, NULL);
}

DtStatus
dt_emit_const(DtEmit *emit, PyObject *constant)
{
    return add(emit, DT_OP_LOAD_CONST, 0, -1, constant);
}

DtStatus
dt_emit_name(DtEmit *emit, int op, PyObject *name)
{
    return add(emit, op, 0, -1, name);
}

DtStatus
dt_emit_slot(DtEmit *emit, int op, int slot)
{
    return add(emit, op, slot, -1, NULL);
}

DtStatus
dt_emit_jump(DtEmit *emit, int op, DtLabel label)
{
    return add(emit, op, 0, label, NULL);
}

DtStatus
dt_emit_call_kw(DtEmit *emit, int32_t argc, PyObject *names)
{
    return add(emit, DT_OP_CALL_KW, argc, -1, names);
}

DtStatus
dt_emit_make_function(DtEmit *emit, int32_t flags, PyObject *qualname)
{
    return add(emit, DT_OP_MAKE_FUNCTION, flags, -1, qualname);
}

void
dt_emit_mark(DtEmit *emit, uint16_t flags)
{
    emit->instrs.items[emit->instrs.count - 1].flags |= flags;
}

void
dt_emit_mark_callable(DtEmit *emit)
{
    dt_emit_mark(emit, DT_EMIT_CALLABLE);
}

DtStatus
dt_emit_new_label(DtEmit *emit, DtLabel *label)
{
    *label = (DtLabel)emit->labels.count;
    return dt_vec_push(emit->arena, &emit->labels, UINT32_MAX) == 0 ? DT_OK : dt_no_memory();
}

void
dt_emit_bind(DtEmit *emit, DtLabel label)
{
    emit->labels.items[label] = emit->instrs.count;
}

DtStatus
dt_emit_try(DtEmit *emit, DtLabel start, DtLabel end, DtLabel handler, DtLabel handler_end)
{
    DtEmitTry region = {start, end, handler, handler_end};
    return dt_vec_push(emit->arena, &emit->tries, region) == 0 ? DT_OK : dt_no_memory();
}

/* Calls are the only operations whose picture here has fewer values than the
 * canonical one: the callable has no NULL, keyword names are no operand. */
int
dt_emit_popped(const DtEmitInstr *instr)
{
    if (instr->op == DT_OP_CALL || instr->op == DT_OP_CALL_KW) {
        return instr->arg + 1;
    }
    return dt_canonical_popped(instr->op, instr->arg, 0);
}

int
dt_emit_pushed(const DtEmitInstr *instr, bool jumped)
{
    return dt_canonical_pushed(instr->op, instr->arg, 0, jumped);
}

static bool
is_printable(PyObject *object)
{
    return object == Py_None || PyBool_Check(object) || PyLong_CheckExact(object)
           || PyFloat_CheckExact(object) || PyUnicode_CheckExact(object)
           || PyBytes_CheckExact(object);
}

static DtStatus
print_object(PyObject *object, DtStrbuf *out)
{
    if (!is_printable(object)) {
        dt_strbuf_addf(out, " <%s>", Py_TYPE(object)->tp_name);
        return DT_OK;
    }
    PyObject *text = PyObject_Repr(object);
    const char *utf8 = text != NULL ? PyUnicode_AsUTF8(text) : NULL;
    if (utf8 != NULL) {
        dt_strbuf_addf(out, " %s", utf8);
    }
    Py_XDECREF(text);
    return utf8 != NULL ? DT_OK : DT_ERROR;
}

static DtStatus
print_operand(const DtEmit *emit, const DtEmitInstr *instr, DtStrbuf *out)
{
    switch (dt_canonical_operand(instr->op)) {
    case DT_OPARG_NONE:
        break;
    case DT_OPARG_JUMP:
        dt_strbuf_addf(out, " to %u", (unsigned)emit->labels.items[instr->label]);
        break;
    case DT_OPARG_LOCAL:
    case DT_OPARG_CELL:
        return print_object(emit->slots.items[instr->arg].name, out);
    case DT_OPARG_BINARY:
        dt_strbuf_addf(out, " %s", dt_canonical_binary_symbol(instr->arg));
        break;
    case DT_OPARG_CONST:
    case DT_OPARG_NAME:
        break;
    default:
        dt_strbuf_addf(out, " %d", (int)instr->arg);
        break;
    }
    return instr->object != NULL ? print_object(instr->object, out) : DT_OK;
}

DtStatus
dt_emit_print(const DtEmit *emit, DtStrbuf *out)
{
    int32_t line = -1;
    for (uint32_t i = 0; i < emit->instrs.count; i++) {
        const DtEmitInstr *instr = &emit->instrs.items[i];
        if (instr->position.line != line) {
            line = instr->position.line;
            dt_strbuf_addf(out, "line %d\n", (int)line);
        }
        dt_strbuf_addf(out, "%5u  %s", (unsigned)i, dt_canonical_name(instr->op));
        DT_TRY(print_operand(emit, instr, out));
        dt_strbuf_add(out, instr->flags & DT_EMIT_CALLABLE ? "  # callable\n" : "\n");
    }
    return DT_OK;
}
