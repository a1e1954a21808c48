/* The frame-less result: what stands behind the graph call, run in C.
 *
 * The same instructions as the rewritten code's epilogue, as far as they only
 * push constants, inputs and outputs and build containers; anything else needs
 * a frame and gives no program.
 *
 * Every output is taken by its last use and copied by earlier ones, so that
 * the reference lifetime is that of the rewritten code.
 */
#include <stdlib.h>
#include <string.h>

#include "codegen/state.h"

typedef enum Step {
    STEP_CONST,
    STEP_LOAD,
    STEP_OUTPUT,      /* a further use follows */
    STEP_OUTPUT_LAST, /* takes the reference */
    STEP_STORE,       /* [v] -> []; into temporary arg */
    STEP_TEMPORARY,
    STEP_TUPLE,
    STEP_LIST,
    STEP_SET,
    STEP_MAP,
    STEP_RETURN
} Step;

typedef struct ResultStep {
    uint32_t step;
    uint32_t arg;
} ResultStep;

struct DtResultProgram {
    bool single; /* the answer is output 0, nothing else */
    uint32_t nsteps;
    uint32_t noutputs;
    uint32_t ntemporaries;
    uint32_t depth;
    uint32_t nconsts;
    PyObject **consts; /* DT_OWNED; behind the steps */
    ResultStep steps[];
};

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

/* ---- Run ------------------------------------------------------------------------------------- */

static PyObject *
build_sequence(uint32_t step, PyObject **items, uint32_t count)
{
    PyObject *made = step == STEP_TUPLE ? PyTuple_New(count) : PyList_New(count);
    for (uint32_t i = 0; made != NULL && i < count; i++) {
        if (step == STEP_TUPLE) {
            PyTuple_SET_ITEM(made, i, items[i]);
        }
        else {
            PyList_SET_ITEM(made, i, items[i]);
        }
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

/* Replaces the top `count` values by what is made of them; NULL on failure. */
static PyObject **
build(uint32_t step, PyObject **top, uint32_t arg)
{
    uint32_t count = step == STEP_MAP ? arg * 2 : arg;
    PyObject **items = top - count;
    PyObject *made = step == STEP_SET   ? build_set(items, count)
                     : step == STEP_MAP ? build_map(items, count)
                                        : build_sequence(step, items, count);
    if (made == NULL) {
        return NULL;
    }
    for (uint32_t i = 0; i < count; i++) {
        Py_CLEAR(items[i]);
    }
    *items = made;
    return items + 1;
}

/* `slots`: temporaries, then the stack; all NULL.  Whatever is left in them is the caller's to
 * drop. */
static PyObject *
run_steps(const DtResultProgram *program, PyObject **outputs, PyObject *const *loads,
          PyObject **slots)
{
    PyObject **top = slots + program->ntemporaries;
    for (const ResultStep *step = program->steps;; step++) {
        switch ((Step)step->step) {
        case STEP_CONST:
            *top++ = Py_NewRef(program->consts[step->arg]);
            break;
        case STEP_LOAD:
            *top++ = Py_NewRef(loads[step->arg]);
            break;
        case STEP_OUTPUT:
            *top++ = Py_NewRef(outputs[step->arg]);
            break;
        case STEP_OUTPUT_LAST:
            *top++ = outputs[step->arg];
            outputs[step->arg] = NULL;
            break;
        case STEP_STORE:
            slots[step->arg] = *--top;
            *top = NULL;
            break;
        case STEP_TEMPORARY:
            *top++ = Py_NewRef(slots[step->arg]);
            break;
        case STEP_RETURN: {
            PyObject *answer = *--top;
            *top = NULL;
            return answer;
        }
        default:
            top = build(step->step, top, step->arg);
            if (top == NULL) {
                return NULL;
            }
        }
    }
}

static PyObject *
run_program(const DtResultProgram *program, PyObject **outputs, PyObject *const *loads)
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
        answer = run_steps(program, outputs, loads, slots);
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

PyObject *
dt_result_run(const DtResultProgram *program, PyObject **outputs, PyObject *const *loads)
{
    if (DT_LIKELY(program->single)) {
        PyObject *answer = outputs[0];
        outputs[0] = NULL;
        return answer;
    }
    return run_program(program, outputs, loads);
}

/* ---- Compile --------------------------------------------------------------------------------- */

typedef struct Compile {
    DtCodegen *codegen;
    DT_VEC(ResultStep) steps;
    DT_VEC(PyObject *) consts;
    DT_VEC(const DtSource *) loads;
    uint32_t *output_in;  /* by slot: 1 + the output that it holds, or 0 */
    uint32_t *pair_in;    /* by slot: 1 + the shared value that it holds, or 0 */
    bool *unused_pair_at; /* by instruction: it and the next one are dropped */
    uint32_t depth, deepest;
    bool fits; /* no instruction needs a frame so far */
} Compile;

static DtStatus
add_step(Compile *compile, Step step, uint32_t arg, uint32_t popped)
{
    ResultStep added = {step, arg};
    compile->depth += (step == STEP_STORE || step == STEP_RETURN) ? 0 : 1;
    compile->depth -= popped;
    if (compile->depth > compile->deepest) {
        compile->deepest = compile->depth;
    }
    return dt_vec_push(&compile->codegen->trace->arena, &compile->steps, added) < 0 ? dt_no_memory()
                                                                                    : DT_OK;
}

static DtStatus
add_load(Compile *compile, const DtSource *source)
{
    if (source->kind == DT_SOURCE_OBJECT) {
        if (dt_vec_push(&compile->codegen->trace->arena, &compile->consts, source->key) < 0) {
            return dt_no_memory();
        }
        return add_step(compile, STEP_CONST, compile->consts.count - 1, 0);
    }
    uint32_t i = 0;
    while (i < compile->loads.count && compile->loads.items[i] != source) {
        i++;
    }
    if (i == compile->loads.count
        && dt_vec_push(&compile->codegen->trace->arena, &compile->loads, source) < 0) {
        return dt_no_memory();
    }
    return add_step(compile, STEP_LOAD, i, 0);
}

static DtStatus
add_const(Compile *compile, PyObject *value)
{
    if (dt_vec_push(&compile->codegen->trace->arena, &compile->consts, value) < 0) {
        return dt_no_memory();
    }
    return add_step(compile, STEP_CONST, compile->consts.count - 1, 0);
}

/* A temporary of the frame: an output of the graph, or a shared value. */
static DtStatus
add_slot(Compile *compile, int slot)
{
    if (compile->output_in[slot] > 0) {
        return add_step(compile, STEP_OUTPUT, compile->output_in[slot] - 1, 0);
    }
    if (compile->pair_in[slot] > 0) {
        return add_step(compile, STEP_TEMPORARY, compile->pair_in[slot] - 1, 0);
    }
    compile->fits = false;
    return DT_OK;
}

static DtStatus
add_store(Compile *compile, int slot)
{
    if (compile->pair_in[slot] > 0) {
        return add_step(compile, STEP_STORE, compile->pair_in[slot] - 1, 1);
    }
    compile->fits = false;
    return DT_OK;
}

static DtStatus
add_instr(Compile *compile, const DtEmitInstr *instr)
{
    uint32_t arg = (uint32_t)instr->arg;
    switch (instr->op) {
    case DT_OP_LOAD_CONST:
        return add_const(compile, instr->object);
    case DT_OP_LOAD_FAST:
        return add_slot(compile, instr->arg);
    case DT_OP_STORE_FAST:
        return add_store(compile, instr->arg);
    case DT_OP_BUILD_TUPLE:
        return add_step(compile, STEP_TUPLE, arg, arg);
    case DT_OP_BUILD_LIST:
        return add_step(compile, STEP_LIST, arg, arg);
    case DT_OP_BUILD_SET:
        return add_step(compile, STEP_SET, arg, arg);
    case DT_OP_BUILD_MAP:
        return add_step(compile, STEP_MAP, arg, arg * 2);
    case DT_OP_RETURN_VALUE:
        return add_step(compile, STEP_RETURN, 0, 1);
    default:
        compile->fits = false;
        return DT_OK;
    }
}

static DtStatus
index_slots(Compile *compile)
{
    DtCodegen *codegen = compile->codegen;
    DtArena *arena = &codegen->trace->arena;
    compile->output_in = DT_ARENA_ARRAY(arena, uint32_t, codegen->emit->slots.count);
    compile->pair_in = DT_ARENA_ARRAY(arena, uint32_t, codegen->emit->slots.count);
    compile->unused_pair_at = DT_ARENA_ARRAY(arena, bool, codegen->emit->instrs.count);
    if (compile->output_in == NULL || compile->pair_in == NULL || compile->unused_pair_at == NULL) {
        return dt_no_memory();
    }
    for (uint32_t i = 0; i < codegen->outputs.count; i++) {
        compile->output_in[codegen->outputs.items[i].slot] = i + 1;
    }
    for (uint32_t i = 0; i < codegen->pairs.count; i++) {
        const DtShared *shared = codegen->pairs.items[i];
        compile->pair_in[shared->slot] = i + 1;
        compile->unused_pair_at[shared->pair] = !shared->reused;
    }
    return DT_OK;
}

static DtStatus
add_instrs(Compile *compile)
{
    DtCodegen *codegen = compile->codegen;
    const DtEmit *emit = codegen->emit;
    uint32_t range = 0;
    for (uint32_t i = 0; compile->fits && i < emit->instrs.count; i++) {
        while (range < codegen->ranges.count && codegen->ranges.items[range].start < i) {
            range++;
        }
        if (range < codegen->ranges.count && codegen->ranges.items[range].start == i) {
            DT_TRY(add_load(compile, codegen->ranges.items[range].source));
            i = codegen->ranges.items[range].end - 1;
        }
        else if (compile->unused_pair_at[i]) {
            i++;
        }
        else {
            DT_TRY(add_instr(compile, &emit->instrs.items[i]));
        }
    }
    return DT_OK;
}

/* Each output's last use takes the reference. */
static DtStatus
mark_last_uses(Compile *compile)
{
    bool *seen =
        DT_ARENA_ARRAY(&compile->codegen->trace->arena, bool, compile->codegen->outputs.count);
    if (seen == NULL) {
        return dt_no_memory();
    }
    for (uint32_t i = compile->steps.count; i-- > 0;) {
        ResultStep *step = &compile->steps.items[i];
        if (step->step == STEP_OUTPUT && !seen[step->arg]) {
            seen[step->arg] = true;
            step->step = STEP_OUTPUT_LAST;
        }
    }
    return DT_OK;
}

static DtStatus
make_program(const Compile *compile, DtResultProgram **out)
{
    size_t steps = sizeof(ResultStep) * compile->steps.count;
    size_t size = sizeof(DtResultProgram) + steps + sizeof(PyObject *) * compile->consts.count;
    DtResultProgram *program = calloc(1, size);
    if (program == NULL) {
        return dt_no_memory();
    }
    program->nsteps = compile->steps.count;
    program->noutputs = compile->codegen->outputs.count;
    program->ntemporaries = compile->codegen->pairs.count;
    program->depth = compile->deepest + 1;
    program->nconsts = compile->consts.count;
    program->consts = (PyObject **)((char *)program->steps + steps);
    memcpy(program->steps, compile->steps.items, steps);
    for (uint32_t i = 0; i < program->nconsts; i++) {
        program->consts[i] = Py_NewRef(compile->consts.items[i]);
    }
    program->single = program->noutputs == 1 && program->nsteps == 2
                      && program->steps[0].step == STEP_OUTPUT_LAST;
    *out = program;
    return DT_OK;
}

DtStatus
dt_result_compile(DtCodegen *codegen, DtResultProgram **out)
{
    *out = NULL;
    if (codegen->effects) {
        return DT_OK;
    }
    Compile compile = {.codegen = codegen, .fits = true};
    DT_TRY(index_slots(&compile));
    DT_TRY(add_instrs(&compile));
    if (!compile.fits) {
        return DT_OK;
    }
    DT_TRY(mark_last_uses(&compile));
    codegen->plan->loads = compile.loads.items;
    codegen->plan->nloads = compile.loads.count;
    return make_program(&compile, out);
}
