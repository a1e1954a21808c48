/* See loop_translate.h: calls of builtin types and of functions written in C that run nobody's
 * code.
 *
 * Not in here: functions of Python (loop_frames.c).
 */
#include "scalar_loops/loop_translate.h"

#include <math.h>
#include <string.h>

#include "compat/twister.h"

typedef struct Call {
    DtLoopTranslation *t;
    DtLoopValue *args; /* held; DT_LOOP_MOST_PARTS and one more */
    int count;
    int32_t next; /* the instruction behind it */
} Call;

/* Pushes the result, or fails. */
typedef void (*Handler)(const Call *call);

static void
push_real(const Call *call, DtLoopOp op)
{
    dt_loop_state_push_op(call->t, DT_LOOP_FLOAT, op,
                          dt_loop_arithmetic_real(call->t, &call->args[0]), 0);
}

static void
push_libm(const Call *call, DtLoopFunction function)
{
    push_real(call, DT_LOOP_OP_F_CALL);
    if (!call->t->ended && call->t->code.count > 0) {
        call->t->code.items[call->t->code.count - 1].u.function = function;
    }
}

static bool
are_numbers(const Call *call, int count)
{
    bool numbers = call->count == count;
    for (int i = 0; i < call->count; i++) {
        numbers &= dt_loop_kind_is_number(call->args[i].kind);
    }
    return numbers;
}

/* ---- math ------------------------------------------------------------------------------------ */

static void
call_atan2(const Call *call)
{
    DtLoopTranslation *t = call->t;
    if (!are_numbers(call, 2)) {
        dt_loop_state_fail(t);
        return;
    }
    int32_t y = dt_loop_arithmetic_real(t, &call->args[0]);
    int32_t x = dt_loop_arithmetic_real(t, &call->args[1]);
    dt_loop_state_push_op(t, DT_LOOP_FLOAT, DT_LOOP_OP_F_CALL_2, y, x);
    if (!t->ended && t->code.count > 0) {
        t->code.items[t->code.count - 1].u.function2 = atan2;
    }
}

static void
call_pow(const Call *call)
{
    DtLoopTranslation *t = call->t;
    if (!are_numbers(call, 2)) {
        dt_loop_state_fail(t);
        return;
    }
    int32_t base = dt_loop_arithmetic_real(t, &call->args[0]);
    int32_t exponent = dt_loop_arithmetic_real(t, &call->args[1]);
    dt_loop_state_push_op(t, DT_LOOP_FLOAT, DT_LOOP_OP_F_POWER, base, exponent);
}

static void
call_fabs(const Call *call)
{
    if (are_numbers(call, 1)) {
        push_real(call, DT_LOOP_OP_F_ABSOLUTE);
    }
    else {
        dt_loop_state_fail(call->t);
    }
}

/* An int by way of a double; of an int itself: that very object. */
static void
push_whole(const Call *call, DtLoopOp op)
{
    const DtLoopValue *value = &call->args[0];
    if (call->count == 1 && dt_loop_kind_is_real(value->kind)) {
        dt_loop_state_push_op(call->t, DT_LOOP_INT, op, value->reg, 0);
    }
    else if (call->count == 1 && value->kind == DT_LOOP_INT) {
        dt_loop_state_push(call->t, *value);
    }
    else if (call->count == 1 && op == DT_LOOP_OP_F_TO_I && dt_loop_kind_is_number(value->kind)) {
        dt_loop_state_push(call->t, dt_loop_state_new(call->t, DT_LOOP_INT, value->reg));
    }
    else {
        dt_loop_state_fail(call->t);
    }
}

static void
call_floor(const Call *call)
{
    push_whole(call, DT_LOOP_OP_F_TO_I_FLOOR);
}

static void
call_ceil(const Call *call)
{
    push_whole(call, DT_LOOP_OP_F_TO_I_CEIL);
}

/* ---- builtins -------------------------------------------------------------------------------- */

static void
call_int(const Call *call)
{
    push_whole(call, DT_LOOP_OP_F_TO_I);
}

static void
call_float(const Call *call)
{
    const DtLoopValue *value = &call->args[0];
    if (!are_numbers(call, 1)) {
        dt_loop_state_fail(call->t);
    }
    else if (value->kind == DT_LOOP_FLOAT) {
        dt_loop_state_push(call->t, *value);
    }
    else {
        int32_t reg = dt_loop_arithmetic_real(call->t, value);
        dt_loop_state_push(call->t, dt_loop_state_new(call->t, DT_LOOP_FLOAT, reg));
    }
}

static void
call_bool(const Call *call)
{
    int32_t truth = are_numbers(call, 1) ? dt_loop_arithmetic_truth(call->t, &call->args[0]) : -1;
    if (truth < 0) {
        dt_loop_state_fail(call->t);
        return;
    }
    dt_loop_state_push(call->t, dt_loop_state_new(call->t, DT_LOOP_BOOL, truth));
}

static void
call_range(const Call *call)
{
    DtLoopTranslation *t = call->t;
    bool ints = call->count >= 1 && call->count <= 3;
    for (int i = 0; i < call->count; i++) {
        ints &= call->args[i].kind == DT_LOOP_INT || call->args[i].kind == DT_LOOP_ITEM_INT;
    }
    if (!ints) {
        dt_loop_state_fail(t);
        return;
    }
    DtLoopValue zero =
        dt_loop_state_new(t, DT_LOOP_INT, dt_loop_state_constant(t, (DtLoopRegister){.i = 0}));
    DtLoopValue one =
        dt_loop_state_new(t, DT_LOOP_INT, dt_loop_state_constant(t, (DtLoopRegister){.i = 1}));
    DtLoopValue parts[] = {call->count > 1 ? call->args[0] : zero,
                           call->count > 1 ? call->args[1] : call->args[0],
                           call->count > 2 ? call->args[2] : one};
    dt_loop_state_push(t, dt_loop_state_made(t, DT_LOOP_BOUNDS, parts, 3));
}

static void
call_len(const Call *call)
{
    DtLoopKind kind = call->count == 1 ? (DtLoopKind)call->args[0].kind : DT_LOOP_NOTHING;
    DtLoopOp op = kind == DT_LOOP_ARRAY      ? DT_LOOP_OP_SIZE
                  : kind == DT_LOOP_SEQUENCE ? DT_LOOP_OP_SEQUENCE_SIZE
                  : kind == DT_LOOP_TEXT     ? DT_LOOP_OP_TEXT_SIZE
                                             : DT_LOOP_OP_FAIL;
    if (op == DT_LOOP_OP_FAIL) {
        dt_loop_state_fail(call->t);
        return;
    }
    dt_loop_state_push_op(call->t, DT_LOOP_INT, op, call->args[0].reg, 0);
}

/* Of an int that is not negative it is that very object. */
static void
call_abs(const Call *call)
{
    DtLoopTranslation *t = call->t;
    const DtLoopValue *value = &call->args[0];
    if (!are_numbers(call, 1) || dt_loop_kind_is_truth(value->kind)) {
        dt_loop_state_fail(t);
    }
    else if (dt_loop_kind_is_real(value->kind)) {
        dt_loop_state_push_op(t, (DtLoopKind)value->kind, DT_LOOP_OP_F_ABSOLUTE, value->reg, 0);
    }
    else if (value->kind == DT_LOOP_ITEM_INT) {
        dt_loop_state_push_op(t, DT_LOOP_ITEM_INT, DT_LOOP_OP_I_ABSOLUTE, value->reg, 0);
    }
    else {
        int32_t zero = dt_loop_state_constant(t, (DtLoopRegister){.i = 0});
        dt_loop_state_push_op(t, DT_LOOP_INT, DT_LOOP_OP_I_NEGATIVE, value->reg, 0);
        call->args[1] = dt_loop_state_pop(t);
        int32_t depth = t->depth;
        t->nheld = 2;
        uint32_t skip = dt_loop_blocks_fork(t, DT_LOOP_OP_JUMP_I_LT, value->reg, zero);
        t->nheld = 0; /* both ways begin with them where they are now */
        dt_loop_state_push(t, call->args[0]);
        dt_loop_blocks_go(t, call->next, false);
        dt_loop_blocks_land(t, skip, depth);
        dt_loop_state_push(t, call->args[1]);
        dt_loop_blocks_go(t, call->next, false);
    }
}

/* min() and max() give one of the very objects: the first, unless a later one is beyond it. */
static void
choose(const Call *call, int best, int from, int how)
{
    DtLoopTranslation *t = call->t;
    int32_t depth = t->depth;
    if (from == call->count) {
        dt_loop_state_push(t, call->args[best]);
        dt_loop_blocks_go(t, call->next, false);
        return;
    }
    dt_loop_state_push(t, call->args[from]);
    dt_loop_state_push(t, call->args[best]);
    dt_loop_arithmetic_compare(t, how);
    DtLoopValue beyond = dt_loop_state_pop(t), before[DT_LOOP_MOST_PARTS];
    uint32_t skip = dt_loop_blocks_fork(t, DT_LOOP_OP_JUMP_IF, beyond.reg, beyond.reg);
    memcpy(before, call->args, sizeof(before));
    choose(call, best, from + 1, how);
    dt_loop_blocks_land(t, skip, depth);
    memcpy(call->args, before, sizeof(before));
    choose(call, from, from + 1, how);
}

static void
choose_of_all(const Call *call, int how)
{
    if (call->count < 2 || !are_numbers(call, call->count)) {
        dt_loop_state_fail(call->t);
        return;
    }
    choose(call, 0, 1, how);
}

static void
call_min(const Call *call)
{
    choose_of_all(call, Py_LT);
}

static void
call_max(const Call *call)
{
    choose_of_all(call, Py_GT);
}

/* ---- Which function it is -------------------------------------------------------------------- */

static const struct {
    const char *module, *name;
    DtLoopFunction function; /* of libm, or */
    Handler handler;
} functions[] = {
#define LOOP_LIBM(NAME, FUNCTION) {"math", #NAME, FUNCTION, NULL},
#define LOOP_OWN(MODULE, NAME, HANDLER) {#MODULE, #NAME, NULL, HANDLER},
#include "scalar_loops/loop_functions.def"
#undef LOOP_LIBM
#undef LOOP_OWN
};

static const struct {
    PyTypeObject *type;
    Handler handler;
} types[] = {
    {&PyFloat_Type, call_float},
    {&PyLong_Type, call_int},
    {&PyBool_Type, call_bool},
    {&PyRange_Type, call_range},
};

/* Was the object made as the function of that module and name? */
static bool
is_function(PyObject *object, const char *module, const char *name)
{
    PyObject *self = PyCFunction_CheckExact(object) ? PyCFunction_GET_SELF(object) : NULL;
    PyModuleDef *def = self != NULL && PyModule_CheckExact(self) ? PyModule_GetDef(self) : NULL;
    return def != NULL && strcmp(def->m_name, module) == 0
           && strcmp(((PyCFunctionObject *)object)->m_ml->ml_name, name) == 0;
}

/* A function of the library of one or two numbers, one of them at least a double. */
static bool
call_library(const Call *call, PyObject *object)
{
    DtLoopTranslation *t = call->t;
    bool one = call->count == 1, two = call->count == 2;
    if (!(one || two) || !are_numbers(call, call->count)
        || !(dt_loop_kind_is_real(call->args[0].kind)
             || (two && dt_loop_kind_is_real(call->args[1].kind)))) {
        return false;
    }
    const DtLoopCall *function = dt_loop_values_function(object, call->count);
    if (function == NULL) {
        return false;
    }
    int32_t a = dt_loop_arithmetic_real(t, &call->args[0]);
    int32_t b = two ? dt_loop_arithmetic_real(t, &call->args[1]) : a;
    dt_loop_state_push_op(t, DT_LOOP_ITEM_FLOAT, DT_LOOP_OP_N_CALL, a, b);
    if (!t->ended && t->code.count > 0) {
        t->code.items[t->code.count - 1].u.call = function;
    }
    return true;
}

/* ---- Numbers drawn at random ----------------------------------------------------------------- */

static bool
draw(const Call *call, DtLoopDraw how, int32_t generator)
{
    DtLoopTranslation *t = call->t;
    int32_t zero = dt_loop_state_constant(t, (DtLoopRegister){.i = 0}), bounds[] = {zero, zero};
    bool whole = how == DT_LOOP_DRAW_INT;
    for (int i = 0; i < call->count; i++) {
        const DtLoopValue *value = &call->args[i];
        bool fits = whole ? value->kind == DT_LOOP_INT || value->kind == DT_LOOP_ITEM_INT
                          : dt_loop_kind_is_number(value->kind);
        if (!fits || call->count > 2) {
            return false;
        }
        /* A lone bound of ints is the upper one. */
        bounds[i + (2 - call->count)] = whole ? value->reg : dt_loop_arithmetic_real(t, value);
    }
    int32_t reg = dt_loop_state_register(t);
    dt_loop_state_emit_more(t, DT_LOOP_OP_DRAW, reg, generator, bounds[0], bounds[1], (int32_t)how);
    dt_loop_state_push(t, dt_loop_state_new(t, whole ? DT_LOOP_INT : DT_LOOP_FLOAT, reg));
    return true;
}

static bool
call_method(const Call *call, const DtLoopValue *method)
{
    PyObject *generator = NULL;
    const char *name = PyUnicode_AsUTF8(method->object);
    int32_t reg = dt_loop_objects_pointer(call->t, &method->parts[0], &generator);
    DtLoopDraw how = name != NULL && reg >= 0 ? dt_loop_values_method(generator, name, call->count)
                                              : DT_LOOP_DRAW_NONE;
    PyErr_Clear(); /* a name that is no text that can be encoded */
    return how != DT_LOOP_DRAW_NONE && draw(call, how, reg);
}

/* A method that was looked up before: numpy.random.rand, random.random. */
static bool
call_bound(const Call *call, PyObject *object)
{
    PyObject *self = PyCFunction_Check(object) ? PyCFunction_GET_SELF(object) : NULL;
    if (self == NULL) {
        return false;
    }
    const char *name = ((PyCFunctionObject *)object)->m_ml->ml_name;
    DtLoopDraw how = call->count == 0 && dt_twister_is_random(object)
                         ? DT_LOOP_DRAW_TWISTER
                         : dt_loop_values_method(self, name, call->count);
    return how != DT_LOOP_DRAW_NONE
           && draw(call, how, dt_loop_state_constant(call->t, (DtLoopRegister){.object = self}));
}

/* ---- Calls ----------------------------------------------------------------------------------- */

static void
call_object(const Call *call, PyObject *object)
{
    for (size_t i = 0; i < Py_ARRAY_LENGTH(types); i++) {
        if (object == (PyObject *)types[i].type) {
            types[i].handler(call);
            return;
        }
    }
    for (size_t i = 0; i < Py_ARRAY_LENGTH(functions); i++) {
        if (!is_function(object, functions[i].module, functions[i].name)) {
            continue;
        }
        if (functions[i].handler != NULL) {
            functions[i].handler(call);
            return;
        }
        if (are_numbers(call, 1)) {
            push_libm(call, functions[i].function);
            return;
        }
    }
    bool python = PyFunction_Check(object);
    if (!(python ? dt_loop_frames_enter(call->t, object, call->args, call->count, call->next)
                 : call_library(call, object) || call_bound(call, object))) {
        dt_loop_state_fail(call->t);
    }
}

void
dt_loop_calls_call(DtLoopTranslation *t, int32_t count, int below, int32_t next)
{
    DtLoopValue args[DT_LOOP_MOST_PARTS + 1];
    int32_t first = t->depth - count - below;
    if (count > DT_LOOP_MOST_PARTS || first < t->frame->floor) {
        dt_loop_state_fail(t);
        return;
    }
    memcpy(args, t->stack + first + below, sizeof(*args) * (size_t)count);
    const DtLoopValue *callable = &t->stack[first];
    if (below == 2) {
        bool second = callable[0].kind == DT_LOOP_NULL;
        if (!second && callable[1].kind != DT_LOOP_NULL) {
            dt_loop_state_fail(t); /* a method */
            return;
        }
        callable += second;
    }
    DtLoopValue called = *callable;
    Call call = {t, args, count, next};
    t->depth = first;
    t->held = args;
    t->nheld = count;
    if (called.kind == DT_LOOP_OBJECT && called.object != NULL) {
        call_object(&call, called.object);
    }
    else if (called.kind != DT_LOOP_METHOD || !call_method(&call, &called)) {
        dt_loop_state_fail(t);
    }
    t->nheld = 0;
}
