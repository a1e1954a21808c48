/* The graph: what array code a trace found, as data.
 *
 * A graph owns its arena and its Python references, outlives the trace, and is
 * immutable once published.  Nodes stand in program order.  Nodes with an
 * effect (mutates, random, called) keep their order among each other; pure ones
 * may be moved, but they may warn: whoever runs a graph runs all of them.
 * Python sees a graph as dyntrace.Graph (py_graph.c).
 *
 *   input ... input   call ... call   output
 *
 * Operands are trees: node results, Python constants, symbolic numbers, tuples,
 * lists, dicts, slices, and nested graphs with explicit captures.
 */
#ifndef DT_GRAPH_GRAPH_H
#define DT_GRAPH_GRAPH_H

#include "core/map.h"
#include "core/vec.h"
#include "variables/adapter.h"
#include "variables/trace.h"

typedef enum DtNodeKind { DT_NODE_INPUT, DT_NODE_CALL, DT_NODE_OUTPUT } DtNodeKind;

typedef enum DtEffect {
    DT_EFFECT_PURE = 0,
    DT_EFFECT_CALLED, /* may do anything visible; kept in order */
    DT_EFFECT_RANDOM,
    DT_EFFECT_MUTATES /* writes the memory of `mutated` operands */
} DtEffect;

/* An exact tuple of constants is a TUPLE of CONSTs, never a CONST: consumers see one form. */
typedef enum DtOperandKind {
    DT_OPERAND_NODE,
    DT_OPERAND_CONST,
    DT_OPERAND_SYM, /* never a constant expression */
    DT_OPERAND_TUPLE,
    DT_OPERAND_LIST,
    DT_OPERAND_DICT,  /* items alternate key, value */
    DT_OPERAND_SLICE, /* three items */
    DT_OPERAND_GRAPH  /* a nested graph; items are its captures */
} DtOperandKind;

typedef struct DtOperand {
    uint8_t kind;    /* DtOperandKind */
    uint32_t result; /* NODE: which result */
    uint32_t count;  /* containers and captures */
    union {
        DtNode *node;
        PyObject *object; /* kept by the graph */
        const DtSym *sym;
        DtGraph *graph; /* kept by the graph */
    } u;
    struct DtOperand *items;
} DtOperand;

/* Result `result` shares memory with operand `arg` (a view) of this node. */
typedef struct DtAlias {
    uint32_t result;
    uint32_t arg;
} DtAlias;

struct DtNode {
    DtGraph *graph;
    uint32_t index; /* position in graph->nodes */
    uint8_t kind;   /* DtNodeKind */
    uint8_t effect; /* DtEffect */
    /* Floating-point errors that the program has said what to do about (np.errstate): bits 0 to 3
     * are ignored, 4 to 7 reported, of division, overflow, underflow, invalid operation.  Of all
     * others the context in which the graph runs decides. */
    uint8_t fp_region;
    const char *name;   /* unique in the graph: "x", "add", "add_1" */
    const char *target; /* CALL: qualified, e.g. "numpy.add", "operator.getitem", "ndarray.T" */
    PyObject *callee;   /* CALL: what eager execution calls; kept by the graph */
    DtOperand *args;    /* positional, then keyword values */
    uint32_t nargs;     /* of all */
    PyObject *kwnames;  /* tuple of the last ones' names, or NULL; kept by the graph */
    DtMeta *results;    /* one per result; in the graph's arena */
    uint32_t nresults;  /* OUTPUT: 0 */
    DtAlias *aliases;
    uint32_t naliases;
    uint32_t *mutated; /* operands whose memory is written */
    uint32_t nmutated;
    DtPosition where;       /* user's instruction; where.code is kept by the graph */
    const DtSource *source; /* INPUT: while the trace lives; afterwards only its text counts */
    const char *source_text;
    void *native; /* the native backend's own, or NULL */
};

/* One value that the graph takes. */
typedef struct DtGraphInput {
    DtNode *node;           /* array input; NULL for a number */
    uint32_t symbol;        /* number input: its symbol */
    const DtSource *source; /* valid while the trace lives */
    const char *source_text;
} DtGraphInput;

/* How a symbol of the graph gets its value: dimension `dim` of input `input`, or input `input`
 * itself (dim -1).  Input DT_NO_INPUT: it depends on data, stands in shapes only and has none. */
#define DT_NO_INPUT UINT32_MAX
typedef struct DtGraphSymbol {
    uint32_t id; /* in the trace's numbering, used by DtSym */
    uint32_t input;
    int32_t dim;
    uint8_t type; /* DtSymType */
    DtNumber hint;
} DtGraphSymbol;

/* Names in use, an open-addressing table of strings (names.c). */
typedef struct DtNameSlot {
    const char *name;
    uint32_t next; /* number to try next for "name_<n>" */
} DtNameSlot;

typedef struct DtNames {
    DtNameSlot *slots;
    uint32_t count;
    uint32_t mask;
} DtNames;

struct DtGraph {
    DtArena arena;
    uint32_t refs; /* dt_graph_incref/decref, under the GIL */
    bool called;   /* has a node with DT_EFFECT_CALLED */
    bool finished; /* inputs first, then calls, then the output; immutable */
    const char *name;
    DT_VEC(PyObject *) kept; /* DT_OWNED */
    DtMap kept_set;
    DT_VEC(DtNode *) nodes;
    DT_VEC(DtGraphInput) inputs;
    DT_VEC(DtGraphSymbol) symbols;
    DT_VEC(bool) bound;    /* by symbol, until it is finished: has it a row of its own? */
    uint32_t symbol_limit; /* symbol ids are below it: the length of arrays of symbol values */
    DtOperand *outputs;    /* of the output node, once finished: NODE, SYM or CONST */
    uint32_t noutputs;
    DtNames names;
    DtGraph *parent; /* DT_OWNED: tracer of which it is a body, while it is being traced */
    DT_VEC(DtOperand) captures; /* of a body: what input i is in the parent; parallel to inputs */
    DT_VEC(DtGraph *) nested;   /* DT_OWNED: bodies that operands refer to */
};

DT_OWNED DtGraph *dt_graph_new(const char *name); /* NULL with MemoryError */
void dt_graph_incref(DtGraph *graph);
void dt_graph_decref(DtGraph *graph);
DtStatus dt_graph_keep(DtGraph *graph, PyObject *object) DT_MUST_CHECK;
/* For tp_traverse of an owner.  Visits only while the owner is the only one: objects of a shared
 * graph must not be counted once per owner. */
int dt_graph_traverse(DtGraph *graph, visitproc visit, void *arg);

/* A copy of `meta` in the graph's arena, its objects kept. */
DtMeta *dt_graph_meta(DtGraph *graph, const DtMeta *meta) DT_MUST_CHECK;

/* An array input read from `source`, with its example metadata; the same source gives the same
 * node. In a nested tracer it becomes an input of the outermost graph, lifted when it is used. */
DtStatus dt_graph_input(DtGraph *graph, const DtSource *source, const DtMeta *meta,
                        DtNode **out) DT_MUST_CHECK;
/* Has it a row of its own? */
bool dt_graph_has_symbol(const DtGraph *graph, uint32_t id);
DtStatus dt_graph_add_symbol(DtGraph *graph, DtGraphSymbol row) DT_MUST_CHECK;
/* Makes sure that the graph can evaluate `sym`: symbols in it that are no dimension of an input
 * become number inputs (free-variable lifting does the same through nested tracers). */
DtStatus dt_graph_bind_sym(DtTrace *trace, DtGraph *graph, const DtSym *sym) DT_MUST_CHECK;

/* Does the size depend on data?  Then nobody can compute it from the inputs. */
bool dt_graph_is_open_size(const DtGraph *graph, const DtSym *sym);

/* A call node; args are copied into the graph's arena, objects kept, symbols bound.  `results`
 * metas are copied.  The caller may then set effect, aliases, mutated. */
typedef struct DtCallSpec {
    const char *target;
    PyObject *callee;
    const DtOperand *args;
    uint32_t nargs;
    PyObject *kwnames;
    const DtMeta *results;
    uint32_t nresults;
    DtEffect effect;
    const DtAlias *aliases;
    uint32_t naliases;
    const uint32_t *mutated;
    uint32_t nmutated;
} DtCallSpec;
DtStatus dt_graph_call(DtTrace *trace, const DtCallSpec *spec, DtNode **out) DT_MUST_CHECK;

/* Where the memory of a NODE operand came from. */
typedef enum DtMemory {
    DT_MEMORY_OWN,    /* made by a call of the graph: nobody outside has seen it */
    DT_MEMORY_INPUT,  /* an input's */
    DT_MEMORY_UNKNOWN /* it may be anybody's */
} DtMemory;
/* Follows alias edges; *owner is the node that made the memory (UNKNOWN: the last one met).  Two
 * results of one node count as one memory. */
DtMemory dt_graph_memory(const DtOperand *operand, const DtNode **owner);
/* Does the node write memory that others can see? */
bool dt_graph_is_write(const DtNode *node);

/* An operand for a tracker: arrays, symbolic numbers, constants, and tuples, lists, dicts, slices
 * of them; *ok = false if it is none of these. */
DtStatus dt_graph_operand(DtTrace *trace, DtVar *var, DtOperand *out, bool *ok) DT_MUST_CHECK;

/* ---- Nested tracers.  trace->graph is the innermost body. ------------------------------------ */

/* Starts a body: trace->graph becomes a new graph whose parent is the old one. */
DtStatus dt_graph_push(DtTrace *trace, const char *name) DT_MUST_CHECK;
/* Finishes the body with these outputs; *out is the DT_OPERAND_GRAPH with its captures, in terms of
 * the parent, which is trace->graph again and owns the body. */
DtStatus dt_graph_pop(DtTrace *trace, const DtOperand *outputs, uint32_t count,
                      DtOperand *out) DT_MUST_CHECK;
/* Drops the body (after a graph break in it). */
void dt_graph_abandon(DtTrace *trace);
/* The value of an outer tracer as an operand of `graph`: lifted through every tracer in between,
 * once. */
DtStatus dt_graph_lift(DtTrace *trace, DtGraph *graph, const DtOperand *outer,
                       DtOperand *inner) DT_MUST_CHECK;

/* Sets the outputs, drops views and inputs that nobody uses (other calls may warn: they stay), puts
 * equal symbols together, lints. */
DtStatus dt_graph_finish(DtTrace *trace, DtGraph *graph, const DtOperand *outputs,
                         uint32_t count) DT_MUST_CHECK;

/* Checks every invariant above; DT_ERROR with a ValueError naming the node. */
DtStatus dt_graph_lint(const DtGraph *graph) DT_MUST_CHECK;
void dt_graph_print(const DtGraph *graph, DtStrbuf *buf);

/* Symbol values from the inputs of a call; `values` has symbol_limit elements.  false: an int, of
 * the inputs or of what the graph gives, does not fit int64, or an input has another type. */
bool dt_graph_read_symbols(const DtGraph *graph, PyObject *const *inputs, DtNumber *values);

/* Bytes and back; no address in them.  Objects go by import path, or pickled: read only bytes that
 * you trust.  ValueError for what can't be written and for bytes that are no graph. */
DT_OWNED PyObject *dt_graph_to_bytes(const DtGraph *graph);
DT_OWNED DtGraph *dt_graph_from_bytes(PyObject *bytes);

/* dyntrace.Graph around it (a new reference to the graph). */
DT_OWNED PyObject *dt_graph_object(DtGraph *graph);
/* How a Graph object is called: graph(*inputs) gives a tuple of outputs.  Set by backend/, which
 * alone knows how graphs run; NULL until then. */
extern PyObject *(*dt_graph_caller)(DtGraph *graph, PyObject *const *inputs, Py_ssize_t n);
int dt_graph_add_types(PyObject *module); /* Graph, Node: at module init */

#endif
