/* Running result programs: what a frame's epilogue does, without a frame.
 *
 * Every output is taken by its last use and copied by earlier ones, so that
 * the reference lifetime is that of the rewritten code.  A step that fails
 * leaves its operands where they are; whoever called the machine drops them.
 *
 * Not in here: making programs (result.c).
 */
#include <stdlib.h>
#include <string.h>

#include "codegen/result.h"
#include "compat/function.h"

#ifdef DT_STRESS
#define ON_STACK 1
#else
#define ON_STACK 32
#endif

void
dt_result_free(DtResultProgram *program)
{
    if (program == NULL) {
        return;
    }
    for (uint32_t i = 0; i < program->nconsts; i++) {
        Py_DECREF(program->consts[i]);
    }
    Py_DECREF(program->name);
    Py_DECREF(program->filename);
    free(program);
}

int
dt_result_traverse(DtResultProgram *program, visitproc visit, void *arg)
{
    for (uint32_t i = 0; i < program->nconsts; i++) {
        Py_VISIT(program->consts[i]);
    }
    return 0;
}

/* ---- Values that are built ------------------------------------------------------------------- */

static PyObject *
build_tuple(PyObject **items, uint32_t count)
{
    PyObject *made = PyTuple_New(count);
    for (uint32_t i = 0; made != NULL && i < count; i++) {
        PyTuple_SET_ITEM(made, i, items[i]);
        items[i] = NULL;
    }
    return made;
}

static PyObject *
build_list(PyObject **items, uint32_t count)
{
    PyObject *made = PyList_New(count);
    for (uint32_t i = 0; made != NULL && i < count; i++) {
        PyList_SET_ITEM(made, i, items[i]);
        items[i] = NULL;
    }
    return made;
}

static PyObject *
build_set(PyObject **items, uint32_t count)
{
    PyObject *made = PySet_New(NULL);
    for (uint32_t i = 0; made != NULL && i < count; i++) {
        if (PySet_Add(made, items[i]) < 0) {
            Py_CLEAR(made);
        }
    }
    return made;
}

static PyObject *
build_map(PyObject **items, uint32_t count)
{
    PyObject *made = PyDict_New();
    for (uint32_t i = 0; made != NULL && i < count; i += 2) {
        if (PyDict_SetItem(made, items[i], items[i + 1]) < 0) {
            Py_CLEAR(made);
        }
    }
    return made;
}

static PyObject *
build_function(const DtRunFrame *frame, uint32_t flags, PyObject *qualname, PyObject **items,
               uint32_t count)
{
    DtFunctionParts parts = {.code = items[count - 1]};
    PyObject **places[] = {&parts.defaults, &parts.kwdefaults, &parts.annotations, &parts.closure};
    for (uint32_t i = 0, next = 0; i < 4; i++) {
        if (flags & (1u << i)) {
            *places[i] = items[next++];
        }
    }
    return dt_function_make(&parts, frame->globals, qualname);
}

/* Replaces the top `count` values by `made`; NULL on failure. */
static PyObject **
replace(PyObject **top, uint32_t count, PyObject *made)
{
    if (made == NULL) {
        return NULL;
    }
    PyObject **items = top - count;
    for (uint32_t i = 0; i < count; i++) {
        Py_CLEAR(items[i]);
    }
    *items = made;
    return items + 1;
}

/* Drops the top `count` values; NULL if the write before has failed. */
static PyObject **
drop(PyObject **top, uint32_t count, int failed)
{
    if (failed) {
        return NULL;
    }
    for (uint32_t i = 0; i < count; i++) {
        top--;
        Py_CLEAR(*top);
    }
    return top;
}

static uint32_t
count_parts(uint32_t flags)
{
    return 1 + (flags & 1) + (flags >> 1 & 1) + (flags >> 2 & 1) + (flags >> 3 & 1);
}

/* ---- The machine ----------------------------------------------------------------------------- */

/* Steps that are more than a move; the new top, or NULL with an exception. */
static PyObject **
run_step(const DtResultProgram *program, const DtResultStep *step, const DtRunFrame *frame,
         PyObject **top)
{
    uint32_t arg = step->arg;
    switch ((DtStepKind)step->step) {
    case DT_STEP_POP:
        return drop(top, 1, 0);
    case DT_STEP_TUPLE:
        return replace(top, arg, build_tuple(top - arg, arg));
    case DT_STEP_LIST:
        return replace(top, arg, build_list(top - arg, arg));
    case DT_STEP_SET:
        return replace(top, arg, build_set(top - arg, arg));
    case DT_STEP_MAP:
        return replace(top, arg * 2, build_map(top - arg * 2, arg * 2));
    case DT_STEP_SLICE:
        return replace(top, arg,
                       PySlice_New(top[-(int)arg], top[1 - (int)arg], arg == 3 ? top[-1] : NULL));
    case DT_STEP_CALL:
        return replace(top, arg + 1, PyObject_Vectorcall(*(top - arg - 1), top - arg, arg, NULL));
    case DT_STEP_FUNCTION: {
        uint32_t count = count_parts(step->flags);
        return replace(
            top, count,
            build_function(frame, step->flags, program->consts[arg], top - count, count));
    }
    case DT_STEP_LOAD_ATTR:
        return replace(top, 1, PyObject_GetAttr(top[-1], program->consts[arg]));
    case DT_STEP_STORE_ATTR:
        return drop(top, 2, PyObject_SetAttr(top[-1], program->consts[arg], top[-2]) < 0);
    case DT_STEP_DELETE_ATTR:
        return drop(top, 1, PyObject_SetAttr(top[-1], program->consts[arg], NULL) < 0);
    case DT_STEP_LOAD_ITEM:
        return replace(top, 2, PyObject_GetItem(top[-2], top[-1]));
    case DT_STEP_STORE_ITEM:
        return drop(top, 3, PyObject_SetItem(top[-2], top[-1], top[-3]) < 0);
    case DT_STEP_DELETE_ITEM:
        return drop(top, 2, PyObject_DelItem(top[-2], top[-1]) < 0);
    case DT_STEP_STORE_GLOBAL:
        return drop(top, 1, PyDict_SetItem(frame->globals, program->consts[arg], top[-1]) < 0);
    case DT_STEP_DELETE_GLOBAL:
        return drop(top, 0, PyDict_DelItem(frame->globals, program->consts[arg]) < 0);
    case DT_STEP_CLEAR_PLACE:
        Py_CLEAR(frame->memory[arg]);
        return top;
    case DT_STEP_STORE_CELL:
        return drop(top, 2, PyCell_Set(top[-1], top[-2]) < 0);
    case DT_STEP_CLEAR_CELL:
        return drop(top, 1, PyCell_Set(top[-1], NULL) < 0);
    default:
        Py_UNREACHABLE();
    }
}

/* `slots`: temporaries, then the stack; all NULL, unless the program is sure.  Whatever is left in
 * them is the caller's to drop. */
static PyObject *
run_steps(const DtResultProgram *program, PyObject **outputs, PyObject *const *loads,
          const DtRunFrame *frame, PyObject **slots)
{
    PyObject **top = slots + program->ntemporaries;
    for (const DtResultStep *step = program->steps;; step++) {
        switch ((DtStepKind)step->step) {
        case DT_STEP_CONST:
            *top++ = Py_NewRef(program->consts[step->arg]);
            break;
        case DT_STEP_LOAD:
            *top++ = Py_NewRef(loads[step->arg]);
            break;
        case DT_STEP_OUTPUT:
            *top++ = Py_NewRef(outputs[step->arg]);
            break;
        case DT_STEP_OUTPUT_LAST:
            *top++ = outputs[step->arg];
            outputs[step->arg] = NULL;
            break;
        case DT_STEP_STORE:
            slots[step->arg] = *--top;
            *top = NULL;
            break;
        case DT_STEP_TEMPORARY:
            *top++ = Py_NewRef(slots[step->arg]);
            break;
        case DT_STEP_NULL:
            *top++ = NULL;
            break;
        case DT_STEP_STORE_PLACE: {
            PyObject *old = frame->memory[step->arg];
            frame->memory[step->arg] = *--top;
            *top = NULL;
            Py_XDECREF(old);
            break;
        }
        case DT_STEP_LAND:
            top -= step->arg;
            for (uint32_t i = 0; i < step->arg; i++) {
                frame->landing[i] = top[i];
                top[i] = NULL;
            }
            return Py_NewRef(Py_None);
        case DT_STEP_RETURN: {
            PyObject *answer = *--top;
            *top = NULL;
            return answer;
        }
        default:
            top = run_step(program, step, frame, top);
            if (top == NULL) {
                return NULL;
            }
        }
    }
}

static PyObject *
run_program(const DtResultProgram *program, PyObject **outputs, PyObject *const *loads,
            const DtRunFrame *frame)
{
    PyObject *few[ON_STACK];
    PyObject **slots = few;
    size_t count = (size_t)program->ntemporaries + program->depth;
    if (count > ON_STACK) {
        slots = PyMem_New(PyObject *, count);
    }
    PyObject *answer = NULL;
    if (slots == NULL) {
        PyErr_NoMemory();
    }
    else {
        memset(slots, 0, sizeof(PyObject *) * count);
        answer = run_steps(program, outputs, loads, frame, slots);
        if (DT_UNLIKELY(answer == NULL && frame->memory == NULL)) {
            /* The line that the rewritten code would show: a failing effect is the user's. */
            dt_function_add_traceback(program->name, program->filename, program->line);
        }
        for (size_t i = 0; i < count; i++) {
            Py_XDECREF(slots[i]);
        }
    }
    for (uint32_t i = 0; i < program->noutputs; i++) {
        Py_CLEAR(outputs[i]);
    }
    if (slots != few) {
        PyMem_Free(slots);
    }
    return answer;
}

/* The tuple that the answer is, without a stack; NULL with MemoryError, and nothing is taken. */
static PyObject *
pack(const DtResultProgram *program, PyObject **outputs)
{
    uint32_t count = program->nsteps - 2;
    PyObject *made = PyTuple_New(count);
    for (uint32_t i = 0; made != NULL && i < count; i++) {
        const DtResultStep *step = &program->steps[i];
        PyObject *item =
            step->step == DT_STEP_CONST ? program->consts[step->arg] : outputs[step->arg];
        if (step->step == DT_STEP_OUTPUT_LAST) {
            outputs[step->arg] = NULL;
        }
        else {
            Py_INCREF(item);
        }
        PyTuple_SET_ITEM(made, i, item);
    }
    return made;
}

PyObject *
dt_result_run(const DtResultProgram *program, PyObject **outputs, PyObject *const *loads,
              const DtRunFrame *frame)
{
    if (DT_LIKELY(program->single)) {
        PyObject *answer = outputs[0];
        outputs[0] = NULL;
        return answer;
    }
    if (DT_LIKELY(program->sure && program->depth <= ON_STACK)) {
        PyObject *few[ON_STACK];
        return run_steps(program, outputs, loads, frame, few);
    }
    if (program->packed) {
        PyObject *answer = pack(program, outputs);
        if (DT_LIKELY(answer != NULL)) {
            return answer;
        }
        PyErr_Clear(); /* the machine tries again, and says where it failed */
    }
    return run_program(program, outputs, loads, frame);
}
