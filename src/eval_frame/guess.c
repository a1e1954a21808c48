/* See guess.h. */
#include "eval_frame/guess.h"

#include "backend/eager.h"
#include "backend/guessed.h"
#include "core/clock.h"

#define MOST_BRANCHES 8 /* each lets the trace begin anew */
#define MOST_ENTRIES 4
/* Elements that the graph has come to from which on the work that is done twice would be noticed,
 * and what breaks cost would not; and what an attempt may take before it looks no further. */
#define MANY_ELEMENTS ((int64_t)1 << 18)
#define LONG_NS 2000000

uint32_t
dt_guess_limit(const DtCodeCache *cache)
{
    uint32_t guessing = 0;
    for (const DtEntry *entry = cache->entries; entry != NULL; entry = entry->next) {
        guessing += entry->astray ? MOST_ENTRIES : entry->guesses > 0;
    }
    return cache->no_guesses || cache->point || guessing >= MOST_ENTRIES || cache->region->fullgraph
                   || !dt_backend_is_native(cache->region->backend)
               ? 0
           : dt_state.guess_limit < MOST_BRANCHES ? dt_state.guess_limit
                                                  : MOST_BRANCHES;
}

/* Could anybody notice that the graph has run, and what it did was taken back? */
static bool
has_effect(const DtGraph *graph)
{
    for (uint32_t i = 0; i < graph->nodes.count; i++) {
        const DtNode *node = graph->nodes.items[i];
        if (node->kind == DT_NODE_CALL && dt_eager_has_effect(node)) {
            return true;
        }
    }
    return false;
}

static bool
is_large(const DtGraph *graph)
{
    int64_t elements = 0;
    for (uint32_t i = 0; i < graph->nodes.count; i++) {
        const DtNode *node = graph->nodes.items[i];
        for (uint32_t j = 0; j < node->nresults && elements < MANY_ELEMENTS; j++) {
            int64_t count = 1;
            for (uint32_t k = 0; k < node->results[j].ndim && count < MANY_ELEMENTS; k++) {
                int64_t size = node->results[j].shape[k]->hint.i;
                count = size < MANY_ELEMENTS ? count * size : MANY_ELEMENTS;
            }
            elements += count;
        }
    }
    return elements >= MANY_ELEMENTS;
}

/* Runs the graph on the objects that its inputs are in this call; its last node looks. */
static DtStatus
run_graph(DtAttempt *attempt, PyObject *const *inputs)
{
    DtGraph *graph = attempt->trace->graph;
    DtRegion *region = attempt->cache->region;
    DtExecutable *exe;
    PyObject *output = NULL;
    DT_TRY(dt_backend_compile(region->backend, graph, inputs, graph->inputs.count, region->options,
                              &exe));
    DtRun ran = exe->type->run(exe, inputs, &output);
    Py_XDECREF(output);
    dt_executable_decref(exe);
    return ran == DT_RUN_ERROR ? DT_ERROR : DT_OK;
}

/* The same, with the inputs read as guards would read them.  Where that can't be done, nothing is
 * looked at. */
static DtStatus
read_and_run(DtAttempt *attempt, DtGuardProgram *program)
{
    PyObject **regs = PyMem_New(PyObject *, dt_program_register_count(program) + 1);
    if (regs == NULL) {
        return dt_no_memory();
    }
    int holds = dt_program_check(program, &attempt->frame, regs);
    PyObject *inputs =
        holds > 0 ? dt_program_hold(program, regs, attempt->trace->graph->inputs.count) : NULL;
    DtStatus status = inputs != NULL ? run_graph(attempt, ((PyTupleObject *)inputs)->ob_item)
                      : holds == 0   ? DT_OK
                                     : DT_ERROR;
    Py_XDECREF(inputs);
    PyMem_Free(regs);
    return status;
}

static DtStatus
look(DtAttempt *attempt)
{
    DtTrace *trace = attempt->trace;
    DtGraph *graph = trace->graph;
    DtGuardProgram *program;
    DtOperand last = {.kind = DT_OPERAND_NODE,
                      .u.node = graph->nodes.items[graph->nodes.count - 1]};
    DT_TRY(dt_graph_finish(trace, graph, &last, 1));
    uint32_t count = graph->inputs.count;
    const DtSource **wanted = DT_ARENA_ARRAY(&trace->arena, const DtSource *, count + 1);
    if (wanted == NULL) {
        return dt_no_memory();
    }
    for (uint32_t i = 0; i < count; i++) {
        wanted[i] = graph->inputs.items[i].source;
    }
    DT_TRY(dt_program_lower(trace, wanted, count, &program));
    DtStatus status = read_and_run(attempt, program);
    dt_program_free(program);
    return status;
}

DtStatus
dt_guess_learn(DtAttempt *attempt)
{
    const DtTrace *trace = attempt->trace;
    DtGuesses *guesses = &attempt->guesses;
    if (trace->goes_in_circles) {
        attempt->cache->no_guesses = true;
        *guesses = (DtGuesses){0};
    }
    if (!trace->looks) {
        return DT_OK;
    }
    dt_guessed_take();
    bool looks = !has_effect(trace->graph) && !is_large(trace->graph);
    DtStatus status = looks ? look(attempt) : DT_OK;
    int truth = dt_guessed_take();
    if (status == DT_ERROR) {
        return DT_ERROR;
    }
    if (status != DT_OK || truth < 0) {
        guesses->limit = guesses->known; /* the branch is a break */
        return DT_OK;
    }
    guesses->ways |= (uint32_t)truth << guesses->known;
    guesses->known++;
    bool limited = dt_state.trace_options.budget_ns != 0;
    if (limited && dt_clock_ns() - attempt->began_ns > LONG_NS) {
        guesses->limit = guesses->known;
    }
    return DT_OK;
}

DtStatus
dt_guess_check(DtAttempt *attempt)
{
    if (attempt->trace->guesses.count == 0 || !has_effect(attempt->trace->graph)) {
        return DT_OK;
    }
    attempt->guesses = (DtGuesses){0};
    return DT_RESTART;
}
