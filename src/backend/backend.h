/* What turns a graph into something callable.
 *
 * An executable is immutable and reference counted under the GIL.  `run` gets the
 * graph's inputs (borrowed; arrays and Python numbers, already guarded) and
 * stores owned outputs.  It reports nothing: when a floating-point flag that
 * the current errstate does not ignore is raised, an operation fails or a size
 * overflows, it drops what it computed and answers DT_RUN_REPLAY, having
 * written nothing that anyone can see; the caller makes the call again plainly.
 */
#ifndef DT_BACKEND_BACKEND_H
#define DT_BACKEND_BACKEND_H

#include "graph/graph.h"

typedef enum DtRun {
    DT_RUN_OK,
    DT_RUN_REPLAY,    /* no exception set */
    DT_RUN_OTHER_WAY, /* the same: a branch that was guessed goes the other way (guessed.h) */
    DT_RUN_ERROR /* exception set, and plain execution would not help: KeyboardInterrupt, a user
                    backend's own, or what was met after an effect */
} DtRun;

typedef struct DtExecutable DtExecutable;
typedef struct DtExecutableType {
    const char *name;
    /* DT_RUN_OK: all outputs are filled; else none is. */
    DtRun (*run)(DtExecutable *, PyObject *const *inputs, PyObject **outputs);
    void (*dealloc)(DtExecutable *); /* frees the struct */
    int (*traverse)(DtExecutable *, visitproc, void *);
    void (*describe)(const DtExecutable *, DtStrbuf *); /* for explain: stages, fused ops */
} DtExecutableType;

struct DtExecutable {
    const DtExecutableType *type;
    uint32_t refs;
    DtGraph *graph; /* DT_OWNED */
    uint32_t noutputs;
    bool replayable; /* false for user backends: their errors are the user's */
};

static inline void
dt_executable_incref(DtExecutable *exe)
{
    exe->refs++;
}
void dt_executable_decref(DtExecutable *exe);
/* Fills the common part of a new executable: one reference, a reference to the graph, replayable.
 */
void dt_executable_init(DtExecutable *exe, const DtExecutableType *type, DtGraph *graph);
/* Visits what the executable keeps, if the caller is its only owner. */
int dt_executable_traverse(DtExecutable *exe, visitproc visit, void *arg);

/* dyntrace.CompiledGraph around it (a new reference to the executable): called with the graph's
 * inputs it returns a tuple of the outputs, or dt_replay_sentinel. */
DT_OWNED PyObject *dt_executable_object(DtExecutable *exe);
/* The same without owning the executable, for the constants of rewritten code: code objects are
 * invisible to the garbage collector.  The lender calls dt_executable_take_back() before it lets
 * go. */
DT_OWNED PyObject *dt_executable_lend(DtExecutable *exe);
void dt_executable_take_back(PyObject *object);
DtExecutable *dt_executable_of_object(PyObject *object); /* DT_BORROWED; NULL with TypeError */
extern PyObject *dt_replay_sentinel;                     /* DT_BORROWED; made by dt_callable_init */
int dt_callable_init(void);                              /* at module init; may be called again */

/* Backends: `backend` is "native", "eager", a registered name, or a callable
 * (graph, example_inputs[, options=...]) -> callable.  `examples` are the inputs of the current
 * call. DT_ERROR: dyntrace.BackendError (cause attached) for user backends.  *out = NULL with DT_OK
 * never happens. */
DtStatus dt_backend_compile(PyObject *backend, DtGraph *graph, PyObject *const *examples,
                            uint32_t nexamples, PyObject *options,
                            DT_OWNED DtExecutable **out) DT_MUST_CHECK;
/* Is it the native executor, which heeds DtNode.fp_region? */
bool dt_backend_is_native(PyObject *backend);
/* ValueError listing the known ones / TypeError, or 0. */
int dt_backend_validate(PyObject *backend);
int dt_backend_register(PyObject *name, PyObject *callable);
DT_OWNED PyObject *dt_backend_list(void); /* list of names */

/* The executor that runs any graph op by op through Python calls. */
DtStatus dt_eager_compile(DtGraph *graph, DT_OWNED DtExecutable **out) DT_MUST_CHECK;
/* Evaluates one operand tree; shared by the eager executor and the native one's called stages.
 * `values[node index]` are node results (a tuple for several). */
DT_OWNED PyObject *dt_eager_operand(const DtOperand *operand, PyObject *const *values,
                                    const DtNumber *symbols);
#if DYNTRACE_HAVE_NUMPY
DtStatus dt_native_compile(DtGraph *graph, DT_OWNED DtExecutable **out) DT_MUST_CHECK;
int dt_native_init(void); /* imports NumPy's C API for the executor; may be called again */
int dt_numpy_init(void);  /* import_array, adapter registration */
#endif

/* The exception class dyntrace.BackendError; made at module init, DT_BORROWED. */
extern PyObject *dt_backend_error;

#endif
