/* See scalar_loop.h. */
#include "eval_frame/scalar_loop.h"

#include <string.h>

#include "compat/dict.h"
#include "compat/dying.h"
#include "compat/tracing.h"
#include "eval_frame/investment.h"
#include "eval_frame/policy.h"
#include "eval_frame/scalar_frame.h"

/* Kinds of frames that a loop is translated for. */
#define MOST_PROGRAMS 4
/* A program is looked at after so many runs: too many failed, or the loop is too short to enter. */
#define RUNS_BEFORE_JUDGING 32
#define LEAST_ITERATIONS 2
/* Registers, and arrays of inputs, that lie on the stack. */
#define FEW_REGISTERS 256
#define FEW_INPUTS 8

struct DtScalarLoop {
    DtLoopPlace place;
    int32_t landing;
    bool closed; /* nothing is translated any more */
    uint32_t count;
    DtLoopProgram *programs;
};

static DtScalarLoop *
new_loop(DtPoint *point)
{
    DtBroken *broken = point->broken;
    DtScalarLoop *loop = DT_ARENA_NEW(&broken->arena, DtScalarLoop);
    if (loop == NULL) {
        return NULL;
    }
    loop->closed = !dt_scale_weighs(point->cache.region)
                   || !dt_scalar_frame_find_loop(broken, point->at, &loop->place)
                   || !dt_scalar_frame_find_names(broken, &loop->place)
                   || loop->place.nslots > DT_LOOP_MOST_SLOTS;
    loop->landing = loop->closed ? -1 : dt_scalar_frame_find_landing(broken, &loop->place);
    loop->closed |= loop->landing < 0;
    return loop;
}

/* ---- Programs -------------------------------------------------------------------------------- */

static bool
names_hold(DtLoopProgram *program, const DtGuardFrame *guarded)
{
    for (uint32_t i = 0; i < program->names.count; i++) {
        DtLoopName *name = &program->names.items[i];
        PyObject *dict = name->dict != NULL ? name->dict : guarded->globals;
        uint64_t first = dt_dict_version(dict), second = dt_dict_version(guarded->builtins);
        if (name->versions[0] != first || name->versions[1] != second) {
            PyObject *object;
            if (dt_loop_program_look_up(name, guarded->globals, guarded->builtins, &object) <= 0
                || object != name->object) {
                return false;
            }
            name->versions[0] = first;
            name->versions[1] = second;
        }
    }
    return true;
}

/* Reads what else the program wants: it is of the kinds that it was.  `arrays` has room for all. */
static bool
inputs_hold(const DtLoopProgram *program, const DtGuardFrame *guarded, const DtScalarFound *found,
            DtLoopRegister *registers, DtLoopArray *arrays)
{
    for (uint32_t i = 0; i < program->inputs.count; i++) {
        const DtLoopInput *input = &program->inputs.items[i];
        PyObject *of = input->how == DT_LOOP_INPUT_ATTRIBUTE_OF_INPUT
                           ? registers[program->inputs.items[input->from].box].object
                       : input->how != DT_LOOP_INPUT_NAME ? found->objects[input->from]
                       : input->dict != NULL              ? input->dict
                                                          : guarded->globals;
        PyObject *object = of != NULL ? dt_loop_program_read_input(input, of) : NULL;
        if (object == NULL) {
            return false;
        }
        DtLoopKind kind = dt_loop_values_read(object, &registers[input->reg], &arrays[i]);
        bool alike =
            kind == input->entry.kind
            && (kind != DT_LOOP_ARRAY
                || (arrays[i].item == input->entry.item && arrays[i].ndim == input->entry.ndim
                    && arrays[i].writable == input->entry.writable));
        if (!alike) {
            return false;
        }
        registers[input->box].object = object;
    }
    return true;
}

/* Functions that are called have the code that they had, and nobody watches it. */
static bool
callees_hold(const DtLoopProgram *program)
{
    for (uint32_t i = 0; i < program->callees.count; i++) {
        const DtLoopCallee *callee = &program->callees.items[i];
        const PyFunctionObject *function = (PyFunctionObject *)callee->function;
        if (function->func_code != callee->code || function->func_defaults != callee->defaults
            || dt_tracing_code_is_watched((PyCodeObject *)callee->code)) {
            return false;
        }
    }
    return true;
}

/* What is put over a slot's value lets go of it: nobody may act. */
static bool
overwrites_quietly(const DtLoopProgram *program, const DtLoopPlace *place, const DtDriverSite *site,
                   const DtGuardFrame *guarded)
{
    for (int slot = 0; slot < place->nslots; slot++) {
        PyObject *object =
            program->written[slot] ? dt_scalar_frame_slot(place, site, guarded, slot) : NULL;
        if (object != NULL && !dt_dying_is_plain_type(Py_TYPE(object))
            && !dt_dying_is_quiet(object, NULL)) {
            return false;
        }
    }
    return true;
}

static DtLoopProgram *
find_program(const DtScalarLoop *loop, const DtScalarFound *found)
{
    int count = loop->place.nslots + DT_LOOP_ENTRIES;
    size_t size = sizeof(found->entry[0]) * (size_t)count;
    for (DtLoopProgram *program = loop->programs; program != NULL; program = program->next) {
        if (memcmp(program->entry, found->entry, size) == 0) {
            return program;
        }
    }
    return NULL;
}

static void
drop_program(DtScalarLoop *loop, DtLoopProgram *program)
{
    for (DtLoopProgram **link = &loop->programs; *link != NULL; link = &(*link)->next) {
        if (*link == program) {
            *link = program->next;
            break;
        }
    }
    dt_loop_program_free(program);
}

/* Is it no use, by what its runs have come to? */
static bool
is_no_use(const DtLoopProgram *program)
{
    return program->runs >= RUNS_BEFORE_JUDGING
           && (program->failures > program->runs / 2
               || program->iterations < LEAST_ITERATIONS * program->runs);
}

/* ---- Behind a run ---------------------------------------------------------------------------- */

/* The new values, by the commit's writes.  False with MemoryError. */
static bool
make_values(const DtLoopRun *run, const DtScalarFound *found, PyObject **made)
{
    const DtLoopCommit *commit = run->commit;
    for (uint32_t i = 0; i < commit->count; i++) {
        const DtLoopWrite *write = &commit->writes[i];
        if (write->how == DT_LOOP_FROM_OBJECT) {
            made[i] = Py_NewRef(write->object);
        }
        else if (write->how == DT_LOOP_FROM_ENTRY) {
            made[i] = Py_NewRef(found->objects[write->from]);
        }
        else if (write->from < 0) {
            made[i] = Py_NewRef(made[~write->from]);
        }
        else if (write->how == DT_LOOP_FROM_BOX) {
            made[i] = Py_NewRef(run->saved[i].object);
        }
        else {
            made[i] = dt_loop_values_make((DtLoopKind)write->kind, run->saved[i]);
        }
        if (made[i] == NULL) {
            while (i-- > 0) {
                Py_DECREF(made[i]);
            }
            return false;
        }
    }
    return true;
}

/* The frame as the last whole iteration has left it. */
static PyObject *
land(const DtScalarLoop *loop, const DtLoopProgram *program, const DtLoopRun *run,
     const DtScalarFound *found, const DtDriverSite *site, DtPyFrame *frame,
     const DtGuardFrame *guarded, PyObject *ticket)
{
    PyObject *made[DT_LOOP_MOST_SLOTS];
    int failed = 0;
    if (!make_values(run, found, made)) {
        Py_XDECREF(ticket);
        return NULL;
    }
    if (loop->place.iterates) {
        dt_scalar_frame_move_iterator(&loop->place, site, guarded, &run->saved[program->saved]);
    }
    for (uint32_t i = 0; i < run->commit->count; i++) {
        failed |=
            dt_scalar_frame_put(&loop->place, site, guarded, run->commit->writes[i].slot, made[i]);
    }
    if (failed) {
        Py_XDECREF(ticket);
        return NULL;
    }
    PyObject *none[] = {NULL};
    return dt_driver_land(site, frame, loop->landing, none, ticket);
}

static PyObject *
enter(DtPoint *point, DtLoopProgram *program, const DtDriverSite *site, DtPyFrame *frame,
      const DtGuardFrame *guarded, const DtScalarFound *found, DtLoopRegister *registers)
{
    DtScalarLoop *loop = point->loop;
    int nslots = loop->place.nslots;
    DtLoopRegister saved[DT_LOOP_MOST_SLOTS + 3];
    PyObject *ticket = NULL;
    if (loop->landing != site->quick && dt_driver_reserve(site, loop->landing, &ticket) != DT_OK) {
        PyErr_Clear(); /* MemoryError: the frame can still run */
        return dt_driver_plain(site);
    }
    memcpy(registers, found->values, sizeof(*registers) * (size_t)nslots);
    if (program->iterator >= 0) {
        memcpy(&registers[program->iterator], found->iterator, sizeof(found->iterator));
    }
    if (program->value >= 0) {
        registers[program->value] = found->values[nslots + DT_LOOP_ENTRY_PUSHED];
    }
    DtLoopRun run;
    run.registers = registers;
    run.saved = saved;
    DtLoopEnd end = dt_loop_machine_run(program, &run);
    program->runs++;
    program->iterations += run.iterations;
    dt_state.iterations += run.iterations;
    program->failures += run.iterations == 0;
    point->cache.skips = run.failed && run.iterations > 0 && loop->place.iterates;
    PyObject *answer;
    if (run.iterations > 0) {
        answer = land(loop, program, &run, found, site, frame, guarded, ticket);
    }
    else {
        Py_XDECREF(ticket);
        answer = dt_driver_plain(site);
    }
    while (run.nowned > 0) {
        Py_DECREF(run.owned[--run.nowned]);
    }
    if (end == DT_LOOP_END_TOO_LONG || is_no_use(program)) {
        drop_program(loop, program);
    }
    return answer;
}

bool
dt_scalar_loop_run(DtPoint *point, const DtDriverSite *site, DtPyFrame *frame,
                   const DtGuardFrame *guarded, PyObject **answer)
{
    DtScalarLoop *loop = point->loop;
    DtScalarFound found;
    if (loop->programs == NULL || DT_UNLIKELY(dt_state.verify.on || !dt_state.translate_loops)
        || (loop->landing != site->quick && !dt_driver_reaches(site, loop->landing))
        || !dt_scalar_frame_read(&loop->place, site, guarded, &found)) {
        return false;
    }
    DtLoopProgram *program = find_program(loop, &found);
    if (program == NULL || !callees_hold(program)
        || (program->items && !dt_loop_values_may_compute_items())
        || !overwrites_quietly(program, &loop->place, site, guarded)) {
        return false;
    }
    DtLoopRegister few[FEW_REGISTERS], *registers = few;
    DtLoopArray few_arrays[FEW_INPUTS], *arrays = few_arrays;
    if (program->nregisters > FEW_REGISTERS) {
        registers = PyMem_New(DtLoopRegister, program->nregisters);
    }
    if (program->inputs.count > FEW_INPUTS) {
        arrays = PyMem_New(DtLoopArray, program->inputs.count);
    }
    bool runs = registers != NULL && arrays != NULL;
    if (runs) {
        memcpy(registers, program->registers, sizeof(*registers) * program->nregisters);
        runs = names_hold(program, guarded)
               && inputs_hold(program, guarded, &found, registers, arrays);
    }
    if (runs) {
        *answer = enter(point, program, site, frame, guarded, &found, registers);
    }
    if (registers != few) {
        PyMem_Free(registers);
    }
    if (arrays != few_arrays) {
        PyMem_Free(arrays);
    }
    return runs;
}

bool
dt_scalar_loop_compile(DtPoint *point, const DtDriverSite *site, const DtGuardFrame *guarded)
{
    if (point->loop == NULL && (point->loop = new_loop(point)) == NULL) {
        return false;
    }
    DtScalarLoop *loop = point->loop;
    DtScalarFound found;
    if (loop->closed || !dt_state.translate_loops || dt_state.verify.on
        || !dt_scalar_frame_read(&loop->place, site, guarded, &found)) {
        return false;
    }
    DtLoopProgram *known = find_program(loop, &found);
    if (known != NULL) {
        drop_program(loop, known); /* it did not run: a name has another value now */
    }
    loop->closed = ++loop->count >= MOST_PROGRAMS;
    clockid_t clock = dt_investment_busy_clock();
    int64_t began = dt_clock_read(clock);
    DtLoopProgram *program;
    if (dt_loop_program_new(&loop->place, found.entry, found.objects, guarded->globals,
                            guarded->builtins, &program)
        != DT_OK) {
        PyErr_Clear(); /* MemoryError: the frame can still run */
        return false;
    }
    dt_investment_spend(dt_clock_read(clock) - began);
    if (program == NULL) {
        return false;
    }
    program->next = loop->programs;
    loop->programs = program;
    point->broken->served = true;
    dt_state.loops++;
    point->cache.tried_ns = dt_clock_ns();
    return true;
}

/* ---- Life ------------------------------------------------------------------------------------ */

bool
dt_scalar_loop_serves(const DtScalarLoop *loop)
{
    return loop != NULL && loop->programs != NULL;
}

int32_t
dt_scalar_loop_landing(const DtScalarLoop *loop)
{
    return dt_scalar_loop_serves(loop) ? loop->landing : -1;
}

int
dt_scalar_loop_traverse(const DtScalarLoop *loop, visitproc visit, void *arg)
{
    for (const DtLoopProgram *one = loop != NULL ? loop->programs : NULL; one; one = one->next) {
        int result = dt_loop_program_traverse(one, visit, arg);
        if (result != 0) {
            return result;
        }
    }
    return 0;
}

void
dt_scalar_loop_release(DtScalarLoop *loop)
{
    while (loop != NULL && loop->programs != NULL) {
        drop_program(loop, loop->programs);
    }
    if (loop != NULL) {
        loop->count = 0;
        loop->closed = loop->landing < 0;
    }
}
