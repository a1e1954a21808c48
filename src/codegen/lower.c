/* Real opcodes for emitted instructions: with lower_flow.c (jumps, exceptions,
 * prologue) the only file that writes opcode numbers.
 *
 * One table row per operation: most are one opcode of the same meaning with
 * the same argument (lower_plain); the others have a function.  What a version
 * lacks is composed of what it has, as the comments say.
 */
#include "codegen/lower.h"

#include "bytecode/opcodes.h"
#include "codegen/lower_flow.h"
#include "compat/opcode_numbers.h"

typedef struct LowerRow {
    DtLowerFunction lower;
    int opcode_number; /* for lower_plain and its relatives */
} LowerRow;

static const LowerRow rows[DT_OP_COUNT];

int
dt_lower_row_opcode(const DtEmitInstr *instr)
{
    return rows[instr->op].opcode_number;
}

static DtStatus
fault(const DtEmitInstr *instr, const char *what)
{
    PyErr_Format(PyExc_SystemError, "emitted %s: %s", dt_canonical_name(instr->op), what);
    return DT_ERROR;
}

/* --- one opcode ---------------------------------------------------------- */

static DtStatus
lower_plain(DtLegal *legal, const DtEmitInstr *instr)
{
    return dt_legal_put(legal, instr, dt_lower_row_opcode(instr), instr->arg);
}

static DtStatus
lower_no_argument(DtLegal *legal, const DtEmitInstr *instr)
{
    return dt_legal_put(legal, instr, dt_lower_row_opcode(instr), 0);
}

static DtStatus
lower_frame_slot(DtLegal *legal, const DtEmitInstr *instr)
{
    return dt_legal_put(legal, instr, dt_lower_row_opcode(instr), legal->frame_slot[instr->arg]);
}

static DtStatus
lower_deref_slot(DtLegal *legal, const DtEmitInstr *instr)
{
    return dt_legal_put(legal, instr, dt_lower_row_opcode(instr), legal->deref_slot[instr->arg]);
}

static DtStatus
lower_const(DtLegal *legal, const DtEmitInstr *instr)
{
    int number;
    DT_TRY(dt_legal_const(legal, instr->object, &number));
    return dt_legal_put(legal, instr, LOAD_CONST, number);
}

static DtStatus
lower_name(DtLegal *legal, const DtEmitInstr *instr)
{
    int number;
    DT_TRY(dt_legal_name(legal, instr->object, &number));
    return dt_legal_put(legal, instr, dt_lower_row_opcode(instr), number);
}

static DtStatus
lower_load_attr(DtLegal *legal, const DtEmitInstr *instr)
{
    int number;
    DT_TRY(dt_legal_name(legal, instr->object, &number));
    return dt_legal_put(legal, instr, LOAD_ATTR, DT_PY_AT_LEAST(3, 12) ? number << 1 : number);
}

static DtStatus
lower_load_global(DtLegal *legal, const DtEmitInstr *instr)
{
    int number;
    uint32_t index = (uint32_t)(instr - legal->emit->instrs.items);
    DT_TRY(dt_legal_name(legal, instr->object, &number));
    return dt_legal_put(legal, instr, LOAD_GLOBAL,
                        DT_PY310 ? number : number << 1 | dt_lower_pushes_null(legal, index));
}

static DtStatus
lower_load_fast(DtLegal *legal, const DtEmitInstr *instr)
{
#if DT_PY_AT_LEAST(3, 12)
    int opcode_number = instr->flags & DT_EMIT_CHECK ? LOAD_FAST_CHECK : LOAD_FAST;
#else
    int opcode_number = LOAD_FAST;
#endif
    return dt_legal_put(legal, instr, opcode_number, legal->frame_slot[instr->arg]);
}

static DtStatus
lower_load_closure(DtLegal *legal, const DtEmitInstr *instr)
{
#if DT_PY313
    return dt_legal_put(legal, instr, LOAD_FAST, legal->frame_slot[instr->arg]);
#else
    return dt_legal_put(legal, instr, LOAD_CLOSURE, legal->deref_slot[instr->arg]);
#endif
}

/* --- stack moves --------------------------------------------------------- */

#if DT_PY310
static DtStatus
rotate(DtLegal *legal, const DtEmitInstr *instr, int n, int times)
{
    for (int i = 0; i < times && n > 1; i++) {
        DT_TRY(dt_legal_put(legal, instr, ROT_N, n));
    }
    return DT_OK;
}
#endif

/* 3.10: ROT_N moves the top down to place n.  n - 1 of them bring the value at place n up;
 * it is doubled, and the copy below sent back to its place. */
static DtStatus
lower_copy(DtLegal *legal, const DtEmitInstr *instr, int n)
{
#if DT_PY310
    DT_TRY(rotate(legal, instr, n, n - 1));
    DT_TRY(dt_legal_put(legal, instr, DUP_TOP, 0));
    return rotate(legal, instr, n + 1, n > 1);
#else
    return dt_legal_put(legal, instr, COPY, n);
#endif
}

/* 3.10: the top goes to place n; of the n - 1 values above it the last becomes the top. */
static DtStatus
lower_swap(DtLegal *legal, const DtEmitInstr *instr, int n)
{
#if DT_PY310
    DT_TRY(rotate(legal, instr, n, n > 1));
    return rotate(legal, instr, n - 1, n - 2);
#else
    return dt_legal_put(legal, instr, SWAP, n);
#endif
}

/* A POP_TOP of the exception: on 3.10 it is three values. */
static DtStatus
lower_pop_top(DtLegal *legal, const DtEmitInstr *instr)
{
    int count = DT_PY310 && instr->flags & DT_EMIT_EXCEPTION ? 3 : 1;
    for (int i = 0; i < count; i++) {
        DT_TRY(dt_legal_put(legal, instr, POP_TOP, 0));
    }
    return DT_OK;
}

/* Operands that are depths count the NULLs between, too. */
static DtStatus
lower_depth(DtLegal *legal, const DtEmitInstr *instr)
{
    int depth = instr->arg + legal->nulls.deeper[instr - legal->emit->instrs.items];
    switch (instr->op) {
    case DT_OP_COPY:
        return lower_copy(legal, instr, depth);
    case DT_OP_SWAP:
        return depth > 1 ? lower_swap(legal, instr, depth) : DT_OK;
    default:
        return dt_legal_put(legal, instr, dt_lower_row_opcode(instr), depth);
    }
}

/* --- operators ----------------------------------------------------------- */

DtStatus
dt_lower_put_to_bool(DtLegal *legal, const DtEmitInstr *instr)
{
#if DT_PY313
    return dt_legal_put(legal, instr, TO_BOOL, 0);
#else
    (void)legal;
    (void)instr;
    return DT_OK;
#endif
}

/* Before 3.13: the truth twice inverted. */
static DtStatus
lower_to_bool(DtLegal *legal, const DtEmitInstr *instr)
{
#if !DT_PY313
    DT_TRY(dt_legal_put(legal, instr, UNARY_NOT, 0));
    DT_TRY(dt_legal_put(legal, instr, UNARY_NOT, 0));
#endif
    return dt_lower_put_to_bool(legal, instr);
}

static DtStatus
lower_unary_not(DtLegal *legal, const DtEmitInstr *instr)
{
    DT_TRY(dt_lower_put_to_bool(legal, instr));
    return dt_legal_put(legal, instr, UNARY_NOT, 0);
}

static DtStatus
lower_unary_positive(DtLegal *legal, const DtEmitInstr *instr)
{
#if DT_PY_AT_LEAST(3, 12)
    return dt_legal_put(legal, instr, CALL_INTRINSIC_1, 5);
#else
    return dt_legal_put(legal, instr, UNARY_POSITIVE, 0);
#endif
}

static DtStatus
lower_list_to_tuple(DtLegal *legal, const DtEmitInstr *instr)
{
#if DT_PY_AT_LEAST(3, 12)
    return dt_legal_put(legal, instr, CALL_INTRINSIC_1, 6);
#else
    return dt_legal_put(legal, instr, LIST_TO_TUPLE, 0);
#endif
}

static DtStatus
lower_binary_op(DtLegal *legal, const DtEmitInstr *instr)
{
#if DT_PY310
    static const uint8_t opcodes[DT_BINARY_COUNT] = {
        BINARY_ADD,
        BINARY_AND,
        BINARY_FLOOR_DIVIDE,
        BINARY_LSHIFT,
        BINARY_MATRIX_MULTIPLY,
        BINARY_MULTIPLY,
        BINARY_MODULO,
        BINARY_OR,
        BINARY_POWER,
        BINARY_RSHIFT,
        BINARY_SUBTRACT,
        BINARY_TRUE_DIVIDE,
        BINARY_XOR,
        INPLACE_ADD,
        INPLACE_AND,
        INPLACE_FLOOR_DIVIDE,
        INPLACE_LSHIFT,
        INPLACE_MATRIX_MULTIPLY,
        INPLACE_MULTIPLY,
        INPLACE_MODULO,
        INPLACE_OR,
        INPLACE_POWER,
        INPLACE_RSHIFT,
        INPLACE_SUBTRACT,
        INPLACE_TRUE_DIVIDE,
        INPLACE_XOR,
    };
    return dt_legal_put(legal, instr, opcodes[instr->arg], 0);
#else
    return dt_legal_put(legal, instr, BINARY_OP, instr->arg);
#endif
}

/* From 3.12 on the low bits say which of unordered (1), less (2), greater (4), equal (8)
 * make it true: the specialised forms read only them. */
static DtStatus
lower_compare_op(DtLegal *legal, const DtEmitInstr *instr)
{
    static const uint8_t masks[] = {[Py_LT] = 2, [Py_LE] = 10, [Py_EQ] = 8,
                                    [Py_NE] = 7, [Py_GT] = 4,  [Py_GE] = 12};
    int shift = DT_PY313 ? 5 : DT_PY312 ? 4 : 0;
    int mask = shift > 0 ? masks[instr->arg] : 0;
    return dt_legal_put(legal, instr, COMPARE_OP, instr->arg << shift | mask);
}

static DtStatus
lower_binary_slice(DtLegal *legal, const DtEmitInstr *instr)
{
#if DT_PY_AT_LEAST(3, 12)
    return dt_legal_put(legal, instr, BINARY_SLICE, 0);
#else
    DT_TRY(dt_legal_put(legal, instr, BUILD_SLICE, 2));
    return dt_legal_put(legal, instr, BINARY_SUBSCR, 0);
#endif
}

static DtStatus
lower_store_slice(DtLegal *legal, const DtEmitInstr *instr)
{
#if DT_PY_AT_LEAST(3, 12)
    return dt_legal_put(legal, instr, STORE_SLICE, 0);
#else
    DT_TRY(dt_legal_put(legal, instr, BUILD_SLICE, 2));
    return dt_legal_put(legal, instr, STORE_SUBSCR, 0);
#endif
}

/* Before 3.13 one opcode converts and formats: formatting a str again changes nothing. */
static DtStatus
lower_format(DtLegal *legal, const DtEmitInstr *instr)
{
#if DT_PY313
    return dt_legal_put(legal, instr, dt_lower_row_opcode(instr), instr->arg);
#else
    int arg = instr->op == DT_OP_FORMAT_WITH_SPEC ? 4 : instr->arg;
    return dt_legal_put(legal, instr, FORMAT_VALUE, arg);
#endif
}

/* --- calls and functions ------------------------------------------------- */

static DtStatus
lower_call(DtLegal *legal, const DtEmitInstr *instr)
{
#if DT_PY310
    return dt_legal_put(legal, instr, CALL_FUNCTION, instr->arg);
#else
#if DT_PY311
    DT_TRY(dt_legal_put(legal, instr, PRECALL, instr->arg));
#endif
    return dt_legal_put(legal, instr, CALL, instr->arg);
#endif
}

static DtStatus
lower_call_kw(DtLegal *legal, const DtEmitInstr *instr)
{
    int number;
    DT_TRY(dt_legal_const(legal, instr->object, &number));
#if DT_PY310
    DT_TRY(dt_legal_put(legal, instr, LOAD_CONST, number));
    return dt_legal_put(legal, instr, CALL_FUNCTION_KW, instr->arg);
#elif DT_PY313
    DT_TRY(dt_legal_put(legal, instr, LOAD_CONST, number));
    return dt_legal_put(legal, instr, CALL_KW, instr->arg);
#else
    DT_TRY(dt_legal_put(legal, instr, KW_NAMES, number));
    return lower_call(legal, instr);
#endif
}

/* 3.10 wants the qualified name on top; 3.13 sets the attributes one by one, the last first. */
static DtStatus
lower_make_function(DtLegal *legal, const DtEmitInstr *instr)
{
#if DT_PY310
    int number;
    if (instr->object == NULL) {
        return fault(instr, "the qualified name is missing");
    }
    DT_TRY(dt_legal_const(legal, instr->object, &number));
    DT_TRY(dt_legal_put(legal, instr, LOAD_CONST, number));
    return dt_legal_put(legal, instr, MAKE_FUNCTION, instr->arg);
#elif DT_PY313
    DT_TRY(dt_legal_put(legal, instr, MAKE_FUNCTION, 0));
    for (int bit = 8; bit > 0; bit >>= 1) {
        if (instr->arg & bit) {
            DT_TRY(dt_legal_put(legal, instr, SET_FUNCTION_ATTRIBUTE, bit));
        }
    }
    return DT_OK;
#else
    return dt_legal_put(legal, instr, MAKE_FUNCTION, instr->arg);
#endif
}

bool
dt_lower_pushes_null(const DtLegal *legal, uint32_t index)
{
    const DtEmitInstr *instr = &legal->emit->instrs.items[index];
    return !DT_PY310 && instr->op == DT_OP_LOAD_GLOBAL && instr->flags & DT_EMIT_CALLABLE
           && (legal->nulls.before[index] || legal->nulls.after[index]);
}

DtStatus
dt_lower_null(DtLegal *legal, const DtEmitInstr *instr)
{
#if DT_PY310
    (void)legal;
    return fault(instr, "there are no NULLs here");
#else
    return dt_legal_put(legal, instr, PUSH_NULL, 0);
#endif
}

DtStatus
dt_lower_null_beneath(DtLegal *legal, const DtEmitInstr *instr)
{
    DT_TRY(dt_lower_null(legal, instr));
    return lower_swap(legal, instr, 2);
}

/* --- the table ----------------------------------------------------------- */

static const LowerRow rows[DT_OP_COUNT] = {
    [DT_OP_NOP] = {lower_no_argument, NOP},
    [DT_OP_POP_TOP] = {lower_pop_top, POP_TOP},
    [DT_OP_COPY] = {lower_depth, 0},
    [DT_OP_SWAP] = {lower_depth, 0},
    [DT_OP_LOAD_CONST] = {lower_const, LOAD_CONST},
    [DT_OP_LOAD_FAST] = {lower_load_fast, LOAD_FAST},
    [DT_OP_STORE_FAST] = {lower_frame_slot, STORE_FAST},
    [DT_OP_DELETE_FAST] = {lower_frame_slot, DELETE_FAST},
    [DT_OP_LOAD_CLOSURE] = {lower_load_closure, 0},
    [DT_OP_LOAD_DEREF] = {lower_deref_slot, LOAD_DEREF},
    [DT_OP_STORE_DEREF] = {lower_deref_slot, STORE_DEREF},
    [DT_OP_DELETE_DEREF] = {lower_deref_slot, DELETE_DEREF},
    [DT_OP_LOAD_GLOBAL] = {lower_load_global, LOAD_GLOBAL},
    [DT_OP_STORE_GLOBAL] = {lower_name, STORE_GLOBAL},
    [DT_OP_DELETE_GLOBAL] = {lower_name, DELETE_GLOBAL},
    [DT_OP_LOAD_NAME] = {lower_name, LOAD_NAME},
    [DT_OP_STORE_NAME] = {lower_name, STORE_NAME},
    [DT_OP_DELETE_NAME] = {lower_name, DELETE_NAME},
    [DT_OP_LOAD_ATTR] = {lower_load_attr, LOAD_ATTR},
    [DT_OP_STORE_ATTR] = {lower_name, STORE_ATTR},
    [DT_OP_DELETE_ATTR] = {lower_name, DELETE_ATTR},
    [DT_OP_UNARY_NEGATIVE] = {lower_no_argument, UNARY_NEGATIVE},
    [DT_OP_UNARY_POSITIVE] = {lower_unary_positive, 0},
    [DT_OP_UNARY_NOT] = {lower_unary_not, UNARY_NOT},
    [DT_OP_UNARY_INVERT] = {lower_no_argument, UNARY_INVERT},
    [DT_OP_TO_BOOL] = {lower_to_bool, 0},
    [DT_OP_BINARY_OP] = {lower_binary_op, 0},
    [DT_OP_BINARY_SUBSCR] = {lower_no_argument, BINARY_SUBSCR},
    [DT_OP_STORE_SUBSCR] = {lower_no_argument, STORE_SUBSCR},
    [DT_OP_DELETE_SUBSCR] = {lower_no_argument, DELETE_SUBSCR},
    [DT_OP_BINARY_SLICE] = {lower_binary_slice, 0},
    [DT_OP_STORE_SLICE] = {lower_store_slice, 0},
    [DT_OP_COMPARE_OP] = {lower_compare_op, COMPARE_OP},
    [DT_OP_IS_OP] = {lower_plain, IS_OP},
    [DT_OP_CONTAINS_OP] = {lower_plain, CONTAINS_OP},
    [DT_OP_BUILD_TUPLE] = {lower_plain, BUILD_TUPLE},
    [DT_OP_BUILD_LIST] = {lower_plain, BUILD_LIST},
    [DT_OP_BUILD_SET] = {lower_plain, BUILD_SET},
    [DT_OP_BUILD_MAP] = {lower_plain, BUILD_MAP},
    [DT_OP_BUILD_CONST_KEY_MAP] = {lower_plain, BUILD_CONST_KEY_MAP},
    [DT_OP_BUILD_STRING] = {lower_plain, BUILD_STRING},
    [DT_OP_BUILD_SLICE] = {lower_plain, BUILD_SLICE},
    [DT_OP_LIST_TO_TUPLE] = {lower_list_to_tuple, 0},
    [DT_OP_LIST_APPEND] = {lower_depth, LIST_APPEND},
    [DT_OP_SET_ADD] = {lower_depth, SET_ADD},
    [DT_OP_MAP_ADD] = {lower_depth, MAP_ADD},
    [DT_OP_LIST_EXTEND] = {lower_depth, LIST_EXTEND},
    [DT_OP_SET_UPDATE] = {lower_depth, SET_UPDATE},
    [DT_OP_DICT_UPDATE] = {lower_depth, DICT_UPDATE},
    [DT_OP_DICT_MERGE] = {lower_depth, DICT_MERGE},
    [DT_OP_UNPACK_SEQUENCE] = {lower_plain, UNPACK_SEQUENCE},
    [DT_OP_UNPACK_EX] = {lower_plain, UNPACK_EX},
    [DT_OP_CALL] = {lower_call, 0},
    [DT_OP_CALL_KW] = {lower_call_kw, 0},
    [DT_OP_CALL_EX] = {lower_plain, CALL_FUNCTION_EX},
    [DT_OP_MAKE_FUNCTION] = {lower_make_function, MAKE_FUNCTION},
    [DT_OP_LOAD_BUILD_CLASS] = {lower_no_argument, LOAD_BUILD_CLASS},
    [DT_OP_JUMP] = {dt_lower_flow_jump, DT_FORWARD_JUMP},
    [DT_OP_POP_JUMP_IF_FALSE] = {dt_lower_flow_if_false, DT_FALSE_JUMP},
    [DT_OP_POP_JUMP_IF_TRUE] = {dt_lower_flow_if_truth, DT_TRUE_JUMP},
    [DT_OP_POP_JUMP_IF_NONE] = {dt_lower_flow_if_none, DT_NONE_JUMP},
    [DT_OP_POP_JUMP_IF_NOT_NONE] = {dt_lower_flow_if_none, DT_NOT_NONE_JUMP},
    [DT_OP_JUMP_IF_FALSE_OR_POP] = {dt_lower_flow_jump_or_pop, DT_FALSE_OR_POP_JUMP},
    [DT_OP_JUMP_IF_TRUE_OR_POP] = {dt_lower_flow_jump_or_pop, DT_TRUE_OR_POP_JUMP},
    [DT_OP_GET_ITER] = {lower_no_argument, GET_ITER},
    [DT_OP_FOR_ITER] = {dt_lower_flow_jump, FOR_ITER},
    [DT_OP_RETURN_VALUE] = {lower_no_argument, RETURN_VALUE},
    [DT_OP_RAISE_VARARGS] = {lower_plain, RAISE_VARARGS},
    [DT_OP_LOAD_ASSERTION_ERROR] = {lower_no_argument, LOAD_ASSERTION_ERROR},
    [DT_OP_PUSH_EXC_INFO] = {dt_lower_flow_push_exc_info, 0},
    [DT_OP_CHECK_EXC_MATCH] = {dt_lower_flow_check_exc_match, 0},
    [DT_OP_POP_EXCEPT] = {lower_no_argument, POP_EXCEPT},
    [DT_OP_RERAISE] = {lower_no_argument, RERAISE},
    [DT_OP_IMPORT_NAME] = {lower_name, IMPORT_NAME},
    [DT_OP_IMPORT_FROM] = {lower_name, IMPORT_FROM},
    [DT_OP_GET_LEN] = {lower_no_argument, GET_LEN},
#if DT_PY313
    [DT_OP_CONVERT_VALUE] = {lower_format, CONVERT_VALUE},
    [DT_OP_FORMAT_SIMPLE] = {lower_format, FORMAT_SIMPLE},
    [DT_OP_FORMAT_WITH_SPEC] = {lower_format, FORMAT_WITH_SPEC},
#else
    [DT_OP_CONVERT_VALUE] = {lower_format, FORMAT_VALUE},
    [DT_OP_FORMAT_SIMPLE] = {lower_format, FORMAT_VALUE},
    [DT_OP_FORMAT_WITH_SPEC] = {lower_format, FORMAT_VALUE},
#endif
};

DtStatus
dt_lower_instr(DtLegal *legal, uint32_t index)
{
    const DtEmitInstr *instr = &legal->emit->instrs.items[index];
    if (rows[instr->op].lower == NULL) {
        return fault(instr, "this operation cannot be emitted");
    }
    return rows[instr->op].lower(legal, instr);
}
