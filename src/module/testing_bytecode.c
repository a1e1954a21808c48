/* White-box access to bytecode/ and the assembler, for the tests.
 *
 * `dt_testing_bytecode_methods` goes into the submodule `_core._testing`.
 * Nothing here is used by the product, and nothing here is a second
 * implementation: each function converts arguments and results only.
 */
#include "module/testing_bytecode.h"

#include "bytecode/cfg.h"
#include "bytecode/decode.h"
#include "bytecode/exception_table.h"
#include "bytecode/line_table.h"
#include "bytecode/loops.h"
#include "bytecode/liveness.h"
#include "bytecode/opcodes.h"
#include "compat/text.h"
#include "codegen/assemble.h"

/* A list of `count` items made by `make`; NULL with an exception. */
typedef PyObject *(*MakeItem)(const void *context, uint32_t index);

static PyObject *
list_of(uint32_t count, MakeItem make, const void *context)
{
    PyObject *list = PyList_New(count);
    for (uint32_t i = 0; list != NULL && i < count; i++) {
        PyObject *item = make(context, i);
        if (item == NULL) {
            Py_CLEAR(list);
            break;
        }
        PyList_SET_ITEM(list, i, item);
    }
    return list;
}

/* --- decode -------------------------------------------------------------- */

static PyObject *
make_instr(const void *context, uint32_t index)
{
    const DtInstr *instr = &((const DtBytecode *)context)->instrs[index];
    return Py_BuildValue("(siiiIIiiiiii)", dt_canonical_name(instr->op), (int)instr->flags,
                         instr->arg, instr->target, instr->offset, instr->real, instr->line,
                         instr->end_line, instr->col, instr->end_col, instr->handler, instr->depth);
}

static PyObject *
make_handler(const void *context, uint32_t index)
{
    const DtHandler *handler = &((const DtBytecode *)context)->handlers[index];
    return Py_BuildValue("(iiiiii)", handler->start, handler->end, handler->target, handler->depth,
                         (int)handler->lasti, (int)handler->triple);
}

static PyObject *
make_slot(const void *context, uint32_t index)
{
    const DtSlot *slot = &((const DtBytecode *)context)->layout.slots[index];
    return Py_BuildValue("(Oi)", slot->name, slot->kind);
}

static int
take_item(PyObject *dict, const char *key, PyObject *value)
{
    int failed = value == NULL || PyDict_SetItemString(dict, key, value) != 0;
    Py_XDECREF(value);
    return failed ? -1 : 0;
}

static PyObject *
bytecode_dict(const DtBytecode *bytecode)
{
    PyObject *dict = PyDict_New();
    if (dict == NULL
        || take_item(dict, "instrs", list_of(bytecode->count, make_instr, bytecode)) != 0
        || take_item(dict, "handlers", list_of(bytecode->handler_count, make_handler, bytecode))
               != 0
        || take_item(dict, "slots", list_of((uint32_t)bytecode->layout.nslots, make_slot, bytecode))
               != 0
        || take_item(dict, "max_depth", PyLong_FromLong(bytecode->max_depth)) != 0
        || take_item(dict, "free_start", PyLong_FromLong(bytecode->layout.free_start)) != 0) {
        Py_CLEAR(dict);
    }
    return dict;
}

static PyObject *
need_code(PyObject *object)
{
    if (!PyCode_Check(object)) {
        PyErr_Format(PyExc_TypeError, "a code object is needed, not %s", Py_TYPE(object)->tp_name);
        return NULL;
    }
    return object;
}

PyDoc_STRVAR(decode_doc, "decode(code) -> dict of instrs, handlers, slots, max_depth, free_start");

static PyObject *
testing_decode(PyObject *module, PyObject *code)
{
    DtArena arena;
    DtBytecode *bytecode;
    PyObject *result = NULL;
    (void)module;
    if (need_code(code) == NULL) {
        return NULL;
    }
    dt_arena_init(&arena);
    if (dt_decode_code(&arena, (PyCodeObject *)code, &bytecode) == DT_OK) {
        result = bytecode_dict(bytecode);
    }
    dt_arena_release(&arena);
    return result;
}

PyDoc_STRVAR(decode_parts_doc,
             "decode_parts(code, bytes, linetable, exceptiontable) -> as decode()\n\n"
             "Other instructions with the names, constants and slots of `code`.");

static PyObject *
testing_decode_parts(PyObject *module, PyObject *args)
{
    PyObject *code;
    PyObject *bytes;
    PyObject *linetable;
    PyObject *exceptiontable;
    DtArena arena;
    DtBytecode *bytecode;
    DtCfg cfg;
    DtLiveness liveness;
    PyObject *result = NULL;
    (void)module;
    if (!PyArg_ParseTuple(args, "O!SSS", &PyCode_Type, &code, &bytes, &linetable,
                          &exceptiontable)) {
        return NULL;
    }
    dt_arena_init(&arena);
    if (dt_decode_parts(&arena, (PyCodeObject *)code, bytes, linetable,
                        DT_PY310 ? NULL : exceptiontable, &bytecode)
            == DT_OK
        && dt_cfg_build(&arena, bytecode, &cfg) == DT_OK
        && dt_liveness_build(&arena, bytecode, &cfg, &liveness) == DT_OK) {
        result = bytecode_dict(bytecode);
    }
    dt_arena_release(&arena);
    return result;
}

/* --- CFG and liveness ---------------------------------------------------- */

typedef struct LiveContext {
    const DtBytecode *bytecode;
    const DtLiveness *liveness;
} LiveContext;

static PyObject *
make_live(const void *context, uint32_t index)
{
    const LiveContext *live = context;
    PyObject *names = PyList_New(0);
    for (int slot = 0; names != NULL && slot < live->bytecode->layout.nslots; slot++) {
        if (dt_liveness_is_live(live->liveness, index, slot)
            && PyList_Append(names, live->bytecode->layout.slots[slot].name) != 0) {
            Py_CLEAR(names);
        }
    }
    return names;
}

static PyObject *
make_block(const void *context, uint32_t index)
{
    const DtBlock *block = &((const DtCfg *)context)->blocks[index];
    return Py_BuildValue("(IIiii)", block->start, block->end, block->next, block->jump,
                         block->exception);
}

PyDoc_STRVAR(flow_doc, "flow(code) -> (blocks, names live before each canonical instruction)");

static PyObject *
testing_flow(PyObject *module, PyObject *code)
{
    DtArena arena;
    DtBytecode *bytecode;
    DtCfg cfg;
    DtLiveness liveness;
    PyObject *result = NULL;
    (void)module;
    if (need_code(code) == NULL) {
        return NULL;
    }
    dt_arena_init(&arena);
    if (dt_decode_code(&arena, (PyCodeObject *)code, &bytecode) == DT_OK
        && dt_cfg_build(&arena, bytecode, &cfg) == DT_OK
        && dt_liveness_build(&arena, bytecode, &cfg, &liveness) == DT_OK) {
        LiveContext context = {bytecode, &liveness};
        PyObject *blocks = list_of(cfg.count, make_block, &cfg);
        PyObject *live = list_of(bytecode->count, make_live, &context);
        if (blocks != NULL && live != NULL) {
            result = PyTuple_Pack(2, blocks, live);
        }
        Py_XDECREF(blocks);
        Py_XDECREF(live);
    }
    dt_arena_release(&arena);
    return result;
}

static PyObject *
make_loop(const void *context, uint32_t index)
{
    const DtBytecode *bytecode = context;
    int32_t head = -1, last = -1, at = (int32_t)index;
    if (!dt_loop_around(bytecode, at, &head, &last)) {
        head = last = -1;
    }
    return Py_BuildValue("(iiOO)", head, last,
                         dt_loop_is_closed_at(bytecode, at) ? Py_True : Py_False,
                         dt_loop_may_return_to(bytecode, at) ? Py_True : Py_False);
}

PyDoc_STRVAR(loops_doc, "loops(code) -> [(head, last, closes one, may be returned to), ...]\n\n"
                        "One for each canonical instruction; head -1: no loop around it.");

static PyObject *
testing_loops(PyObject *module, PyObject *code)
{
    DtArena arena;
    DtBytecode *bytecode;
    PyObject *result = NULL;
    (void)module;
    if (need_code(code) == NULL) {
        return NULL;
    }
    dt_arena_init(&arena);
    if (dt_decode_code(&arena, (PyCodeObject *)code, &bytecode) == DT_OK) {
        result = list_of(bytecode->count, make_loop, bytecode);
    }
    dt_arena_release(&arena);
    return result;
}

/* --- table codecs -------------------------------------------------------- */

static PyObject *
make_line_entry(const void *context, uint32_t index)
{
    const DtLineEntry *entry = &((const DtLineEntry *)context)[index];
    return Py_BuildValue("(IIiiii)", entry->start, entry->end, entry->position.line,
                         entry->position.end_line, entry->position.col, entry->position.end_col);
}

PyDoc_STRVAR(line_doc, "line_table(pairs, data, firstlineno) -> (entries, data encoded again)");

static PyObject *
testing_line_table(PyObject *module, PyObject *args)
{
    int pairs;
    int firstlineno;
    const char *data;
    Py_ssize_t size;
    DtArena arena;
    DtLineEntry *entries;
    uint32_t count;
    uint8_t *again;
    size_t again_size;
    PyObject *result = NULL;
    (void)module;
    if (!PyArg_ParseTuple(args, "py#i", &pairs, &data, &size, &firstlineno)) {
        return NULL;
    }
    DtLineFormat format = pairs ? DT_LINES_PAIRS : DT_LINES_LOCATIONS;
    dt_arena_init(&arena);
    if (dt_line_table_decode(&arena, format, (const uint8_t *)data, (size_t)size, firstlineno,
                             &entries, &count)
            == DT_OK
        && dt_line_table_encode(&arena, format, entries, count, firstlineno, &again, &again_size)
               == DT_OK) {
        result = Py_BuildValue("(Ny#)", list_of(count, make_line_entry, entries),
                               again_size ? (const char *)again : "", (Py_ssize_t)again_size);
    }
    dt_arena_release(&arena);
    return result;
}

static PyObject *
make_exception_entry(const void *context, uint32_t index)
{
    const DtExceptionEntry *entry = &((const DtExceptionEntry *)context)[index];
    return Py_BuildValue("(IIIIi)", entry->start, entry->end, entry->target, entry->depth,
                         (int)entry->lasti);
}

PyDoc_STRVAR(exception_doc, "exception_table(data) -> (entries, data encoded again)");

static PyObject *
testing_exception_table(PyObject *module, PyObject *args)
{
    const char *data;
    Py_ssize_t size;
    DtArena arena;
    DtExceptionEntry *entries;
    uint32_t count;
    uint8_t *again;
    size_t again_size;
    PyObject *result = NULL;
    (void)module;
    if (!PyArg_ParseTuple(args, "y#", &data, &size)) {
        return NULL;
    }
    dt_arena_init(&arena);
    if (dt_exception_table_decode(&arena, (const uint8_t *)data, (size_t)size, &entries, &count)
            == DT_OK
        && dt_exception_table_encode(&arena, entries, count, &again, &again_size) == DT_OK) {
        result = Py_BuildValue("(Ny#)", list_of(count, make_exception_entry, entries),
                               again_size ? (const char *)again : "", (Py_ssize_t)again_size);
    }
    dt_arena_release(&arena);
    return result;
}

/* --- assembler ----------------------------------------------------------- */

static DtStatus
emit_with_object(DtEmit *emit, int op, PyObject *operand)
{
    int number;
    PyObject *extra;
    if (op == DT_OP_CALL_KW && PyArg_ParseTuple(operand, "iO!", &number, &PyTuple_Type, &extra)) {
        return dt_emit_call_kw(emit, number, extra);
    }
    if (op == DT_OP_MAKE_FUNCTION && PyArg_ParseTuple(operand, "iU", &number, &extra)) {
        return dt_emit_make_function(emit, number, extra);
    }
    return DT_ERROR;
}

static DtStatus
emit_number(DtEmit *emit, int op, PyObject *operand)
{
    long number = operand == Py_None ? 0 : PyLong_AsLong(operand);
    if (number == -1 && PyErr_Occurred()) {
        return DT_ERROR;
    }
    switch (dt_canonical_operand(op)) {
    case DT_OPARG_JUMP:
        return dt_emit_jump(emit, op, (DtLabel)number);
    case DT_OPARG_LOCAL:
    case DT_OPARG_CELL:
        if (number < 0 || number >= (long)emit->slots.count) {
            PyErr_SetString(PyExc_IndexError, "no such slot");
            return DT_ERROR;
        }
        return dt_emit_slot(emit, op, (int)number);
    default:
        return dt_emit_op(emit, op, (int32_t)number);
    }
}

static DtStatus
emit_operand(DtEmit *emit, int op, PyObject *operand)
{
    switch (dt_canonical_operand(op)) {
    case DT_OPARG_CONST:
        return dt_emit_const(emit, operand);
    case DT_OPARG_NAME:
        return dt_emit_name(emit, op, operand);
    default:
        return PyTuple_Check(operand) ? emit_with_object(emit, op, operand)
                                      : emit_number(emit, op, operand);
    }
}

/* One item of the program: (name, operand[, flags[, line]]), or ("LABEL", number). */
static DtStatus
emit_item(DtEmit *emit, PyObject *item)
{
    const char *name;
    PyObject *operand = Py_None;
    int flags = 0;
    int line = emit->position.line;
    if (!PyArg_ParseTuple(item, "s|Oii", &name, &operand, &flags, &line)) {
        return DT_ERROR;
    }
    if (strcmp(name, "LABEL") == 0) {
        long label = PyLong_AsLong(operand);
        if (label < 0 || label >= (long)emit->labels.count) {
            PyErr_SetString(PyExc_IndexError, "no such label");
            return DT_ERROR;
        }
        dt_emit_bind(emit, (DtLabel)label);
        return DT_OK;
    }
    int op = dt_canonical_find(name);
    if (op < 0) {
        PyErr_Format(PyExc_ValueError, "no canonical operation %s", name);
        return DT_ERROR;
    }
    dt_emit_set_position(emit, (DtSpan){line, line, -1, -1});
    DT_TRY(emit_operand(emit, op, operand));
    dt_emit_mark(emit, (uint16_t)flags);
    return DT_OK;
}

static DtStatus
emit_program(DtEmit *emit, PyObject *program, PyObject *slots, PyObject *tries, int labels)
{
    DtLabel label;
    int number;
    for (int i = 0; i < labels; i++) {
        DT_TRY(dt_emit_new_label(emit, &label));
    }
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(slots); i++) {
        PyObject *name;
        int kind;
        if (!PyArg_ParseTuple(PyList_GET_ITEM(slots, i), "Ui", &name, &kind)) {
            return DT_ERROR;
        }
        DT_TRY(dt_emit_add_slot(emit, name, kind, &number));
    }
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(tries); i++) {
        DtEmitTry region;
        if (!PyArg_ParseTuple(PyList_GET_ITEM(tries, i), "iiii", &region.start, &region.end,
                              &region.handler, &region.handler_end)) {
            return DT_ERROR;
        }
        DT_TRY(dt_emit_try(emit, region.start, region.end, region.handler, region.handler_end));
    }
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(program); i++) {
        DT_TRY(emit_item(emit, PyList_GET_ITEM(program, i)));
    }
    return DT_OK;
}

PyDoc_STRVAR(assemble_doc,
             "assemble(program, slots, tries, labels, argcount, flags, firstlineno, name) -> code\n"
             "\n"
             "program: (op, operand, flags, line) tuples; slots: (name, kind) tuples; tries:\n"
             "(start, end, handler, handler_end) label numbers.");

static PyObject *
testing_assemble(PyObject *module, PyObject *args)
{
    PyObject *program;
    PyObject *slots;
    PyObject *tries;
    int labels;
    DtAssembleMeta meta = {0};
    DtArena arena;
    DtEmit emit;
    PyCodeObject *code = NULL;
    (void)module;
    if (!PyArg_ParseTuple(args, "O!O!O!iiiiU", &PyList_Type, &program, &PyList_Type, &slots,
                          &PyList_Type, &tries, &labels, &meta.argcount, &meta.flags,
                          &meta.firstlineno, &meta.name)) {
        return NULL;
    }
    meta.filename = meta.name;
    dt_arena_init(&arena);
    dt_emit_init(&emit, &arena);
    dt_emit_set_position(&emit, (DtSpan){meta.firstlineno, meta.firstlineno, -1, -1});
    if (emit_program(&emit, program, slots, tries, labels) != DT_OK
        || dt_assemble_code(&emit, &meta, &code) != DT_OK) {
        code = NULL;
    }
    dt_arena_release(&arena);
    return (PyObject *)code;
}

PyDoc_STRVAR(print_doc, "print_program(program, slots, labels) -> the log's text of it");

static PyObject *
testing_print_program(PyObject *module, PyObject *args)
{
    PyObject *program;
    PyObject *slots;
    int labels;
    DtArena arena;
    DtEmit emit;
    DtStrbuf text = {0};
    PyObject *result = NULL;
    PyObject *tries = PyList_New(0);
    (void)module;
    dt_arena_init(&arena);
    dt_emit_init(&emit, &arena);
    if (tries != NULL
        && PyArg_ParseTuple(args, "O!O!i", &PyList_Type, &program, &PyList_Type, &slots, &labels)
        && emit_program(&emit, program, slots, tries, labels) == DT_OK
        && dt_emit_print(&emit, &text) == DT_OK) {
        result = dt_text_take(&text);
    }
    dt_strbuf_release(&text);
    dt_arena_release(&arena);
    Py_XDECREF(tries);
    return result;
}

PyDoc_STRVAR(fail_doc,
             "fail_arena_at(n) -> int: the n-th arena allocation from now fails; 0: none does.\n\n"
             "Returns what was left of the countdown before: 0 when it has run out.");

static PyObject *
testing_fail_arena_at(PyObject *module, PyObject *number)
{
    size_t n = PyLong_AsSize_t(number);
    (void)module;
    if (n == (size_t)-1 && PyErr_Occurred()) {
        return NULL;
    }
    return PyLong_FromSize_t(dt_arena_fail_at(n));
}

/* --- rows ---------------------------------------------------------------- */

PyDoc_STRVAR(opcodes_doc, "opcodes() -> {number: (name, caches)} of this CPython's rows");

static PyObject *
testing_opcodes(PyObject *module, PyObject *unused)
{
    PyObject *dict = PyDict_New();
    (void)module;
    (void)unused;
    for (int i = 0; dict != NULL && i < 256; i++) {
        const DtOpcodeInfo *info = dt_opcodes_get(i);
        if (info->name == NULL) {
            continue;
        }
        PyObject *key = PyLong_FromLong(i);
        PyObject *value = Py_BuildValue("(si)", info->name, (int)info->caches);
        if (key == NULL || value == NULL || PyDict_SetItem(dict, key, value) != 0) {
            Py_CLEAR(dict);
        }
        Py_XDECREF(key);
        Py_XDECREF(value);
    }
    return dict;
}

static PyObject *
make_canonical(const void *context, uint32_t index)
{
    (void)context;
    return Py_BuildValue("(sis)", dt_canonical_name((int)index),
                         (int)dt_canonical_operand((int)index), dt_canonical_doc((int)index));
}

PyDoc_STRVAR(canonical_doc, "canonical() -> list of (name, operand kind, doc)");

static PyObject *
testing_canonical(PyObject *module, PyObject *unused)
{
    (void)module;
    (void)unused;
    return list_of(DT_OP_COUNT, make_canonical, NULL);
}

PyMethodDef dt_testing_bytecode_methods[] = {
    {"decode", testing_decode, METH_O, decode_doc},
    {"decode_parts", testing_decode_parts, METH_VARARGS, decode_parts_doc},
    {"flow", testing_flow, METH_O, flow_doc},
    {"loops", testing_loops, METH_O, loops_doc},
    {"line_table", testing_line_table, METH_VARARGS, line_doc},
    {"exception_table", testing_exception_table, METH_VARARGS, exception_doc},
    {"assemble", testing_assemble, METH_VARARGS, assemble_doc},
    {"print_program", testing_print_program, METH_VARARGS, print_doc},
    {"fail_arena_at", testing_fail_arena_at, METH_O, fail_doc},
    {"opcodes", testing_opcodes, METH_NOARGS, opcodes_doc},
    {"canonical", testing_canonical, METH_NOARGS, canonical_doc},
    {NULL, NULL, 0, NULL},
};
