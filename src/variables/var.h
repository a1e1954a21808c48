/* VariableTracker: what the symbolic interpreter knows about one value.
 *
 * A tracker is an arena object that begins with DtVar.  Its DtVarType is const,
 * one per kind, with slots named after CPython's.  Payloads are private to the
 * file of the kind, except for the few structs below that several layers need.
 *
 * Nobody calls slots directly: the dt_var_* dispatchers (dispatch.c) first
 * realise lazy operands, then follow CPython's protocol (reflected operand,
 * NotImplemented), and turn a missing slot into a graph break naming the slot
 * and the kind.  Dispatchers and slots run no user code.
 */
#ifndef DT_VARIABLES_VAR_H
#define DT_VARIABLES_VAR_H

#include <stdbool.h>
#include <stdint.h>

#include "bytecode/canonical.h"
#include "compat/python.h"
#include "core/status.h"
#include "core/strbuf.h"
#include "variables/source.h"
#include "variables/numbers/sym.h"

#define DT_MAX_ADAPTERS 16 /* that may be registered (adapter.h) */

typedef struct DtVar DtVar;
typedef struct DtVarType DtVarType;
typedef struct DtCodegen DtCodegen;             /* codegen/codegen.h */
typedef struct DtAdapter DtAdapter;             /* variables/adapter.h */
typedef struct DtNode DtNode;                   /* graph/graph.h */
typedef struct DtNumberRow DtNumberRow;         /* variables/numbers/array_numbers.h */
typedef struct DtMeta DtMeta;                   /* variables/adapter.h */
typedef struct DtSymbolicFrame DtSymbolicFrame; /* symbolic/frame.h */

typedef enum DtKind {
#define KIND(NAME, TEXT, MUTATION) DT_KIND_##NAME,
#include "variables/kinds.def"
#undef KIND
    DT_KIND_COUNT
} DtKind;

typedef enum DtMutation {
    DT_IMMUTABLE = 0,
    DT_VALUE_MUTATION_NEW,
    DT_VALUE_MUTATION_EXISTING,
    DT_ATTRIBUTE_MUTATION_NEW,
    DT_ATTRIBUTE_MUTATION_EXISTING
} DtMutation;

struct DtVar {
    const DtVarType *type;
    const DtSource *source; /* NULL: made by the trace */
    uint8_t mutation;       /* DtMutation; ask dt_var_is_mutable() */
};

static inline bool
dt_var_is_mutable(const DtVar *var)
{
    return var->mutation != DT_IMMUTABLE;
}

static inline bool
dt_var_is_immutable(const DtVar *var)
{
    return var->mutation == DT_IMMUTABLE;
}

/* Arguments of a symbolic call.  Keyword i has value kw[i] and name kwnames[i]. */
typedef struct DtArgs {
    DtVar **pos;
    uint32_t npos;
    DtVar **kw;
    PyObject **kwnames; /* DT_BORROWED, interned str */
    uint32_t nkw;
} DtArgs;

typedef DtStatus (*DtUnarySlot)(DtTrace *, DtVar *self, DtVar **out);
typedef DtStatus (*DtBinarySlot)(DtTrace *, DtVar *self, DtVar *other, DtVar **out);

/* One row per method: arity is checked by the base (too few, too many: the traced TypeError is a
 * graph break "call-mismatch"), so handlers may index args->pos up to `min_args`. */
typedef struct DtMethodRow {
    const char *name;
    DtStatus (*call)(DtTrace *, DtVar *self, const DtArgs *args, DtVar **out);
    int8_t min_args;
    int8_t max_args; /* -1: any number */
    bool keywords;   /* takes keyword arguments itself; else any keyword is a break */
} DtMethodRow;

typedef struct DtGetSetRow {
    const char *name;
    DtUnarySlot get;
} DtGetSetRow;

struct DtVarType {
    const char *name;
    DtKind kind;
    const DtVarType *base; /* missing slots are inherited from it at start-up */

    /* Numbers.  `op` is the NB_* code of BINARY_OP (in-place codes included); self may stand on the
     * right.  *out = dt_not_implemented(trace) asks for the other operand's turn. */
    DtStatus (*nb_binary)(DtTrace *, DtBinaryOp op, DtVar *left, DtVar *right, DtVar **out);
    DtUnarySlot nb_negative, nb_positive, nb_invert;
    DtStatus (*nb_bool)(DtTrace *, DtVar *self, bool *out); /* may add guards */
    /* Containers. */
    DtUnarySlot sq_length; /* an int constant or symbol */
    DtBinarySlot mp_subscript;
    DtStatus (*mp_ass_subscript)(DtTrace *, DtVar *self, DtVar *key,
                                 DtVar *value); /* NULL: delete */
    DtStatus (*sq_contains)(DtTrace *, DtVar *self, DtVar *item, DtVar **out);
    /* Objects. */
    DtStatus (*tp_call)(DtTrace *, DtVar *self, const DtArgs *args, DtVar **out);
    DtStatus (*tp_getattro)(DtTrace *, DtVar *self, PyObject *name, DtVar **out);
    DtStatus (*tp_setattro)(DtTrace *, DtVar *self, PyObject *name,
                            DtVar *value); /* NULL: delete */
    DtUnarySlot tp_iter;
    DtUnarySlot tp_iternext; /* *out = NULL: exhausted */
    DtStatus (*tp_richcompare)(DtTrace *, int op, DtVar *left, DtVar *right,
                               DtVar **out); /* Py_LT.. */
    const DtMethodRow *methods;              /* ends with a NULL name */
    const DtGetSetRow *getsets;              /* ends with a NULL name */

    /* Ours. */
    PyTypeObject *(*python_type)(DtTrace *, DtVar *self); /* DT_BORROWED; NULL: unknown */
    /* The value as a constant, or NULL (no error) when it is none.  May specialise a symbol, adding
     * a guard.  DT_BORROWED from the trace. */
    PyObject *(*as_constant)(DtTrace *, DtVar *self);
    /* Emits instructions that leave the value on the stack. */
    DtStatus (*reconstruct)(DtCodegen *, DtVar *self);
    /* Calls visit() on every tracker inside (items, values, attributes). */
    DtStatus (*children)(DtTrace *, DtVar *self, DtStatus (*visit)(DtTrace *, DtVar *, void *),
                         void *);
    void (*repr)(DtVar *self, DtStrbuf *buf);
};

/* ---- Shared payloads ------------------------------------------------------------------------ */

typedef struct DtConstVar { /* DT_KIND_CONSTANT: None, bool, int, float, complex, str, bytes, ... */
    DtVar base;
    PyObject *value; /* kept by the trace */
} DtConstVar;

typedef struct DtLazyVar { /* DT_KIND_LAZY: an input nobody looked at yet */
    DtVar base;
    PyObject *object;
    DtVar *real; /* NULL until realised */
} DtLazyVar;

typedef struct DtSymVar { /* DT_KIND_SYMBOLIC: a Python int, float or bool that is not specialised
                           */
    DtVar base;
    const DtSym *sym;
    PyObject *chooser; /* min or max if it is the very object of one of two; else NULL */
    DtVar *candidates[2];
} DtSymVar;

typedef struct DtArrayVar { /* DT_KIND_ARRAY */
    DtVar base;
    const DtAdapter *adapter;
    DtNode *node;    /* the graph node whose result it is ... */
    uint32_t result; /* ... and which of its results */
    DtMeta *meta;
    /* What was last written to all of it: a value that can be read in its place as long as the
     * graph has no effect at `content_until` or later.  NULL: nothing. */
    DtNode *content;
    uint32_t content_result, content_until;
} DtArrayVar;

typedef struct DtSeqVar { /* DT_KIND_TUPLE, DT_KIND_LIST, DT_KIND_SLICE (3 items) */
    DtVar base;
    DtVar **items;
    uint32_t count;
    uint32_t capacity;
    PyTypeObject *cls; /* exact Python type */
    PyObject *object;  /* what existed before, where dt_picked_item() may ask it; DT_BORROWED */
} DtSeqVar;

typedef struct DtCellVar { /* DT_KIND_CELL */
    DtVar base;
    DtVar *contents; /* NULL: empty */
    PyObject *cell;  /* the real cell, if it existed before; DT_BORROWED */
    PyObject *name;  /* for messages */
    int root_slot;   /* unified slot of the root frame that holds it, or -1 */
    bool written;    /* by the trace */
} DtCellVar;

typedef struct DtFunctionVar { /* DT_KIND_FUNCTION: existing, or made in the trace */
    DtVar base;
    PyObject *function; /* existing function, or NULL */
    PyCodeObject *code;
    PyObject *globals;   /* dict */
    PyObject *name;      /* qualified name */
    DtVar *defaults;     /* tuple tracker or NULL */
    DtVar *kwdefaults;   /* dict tracker or NULL */
    DtVar *annotations;  /* tuple or dict tracker, or NULL */
    DtCellVar **closure; /* co_freevars of them */
    uint32_t nclosure;
    DtVar *cells;           /* the tuple of them, once somebody has asked for it */
    const DtSource *module; /* of a new one: what __module__ was read from, or NULL */
    PyObject *like;         /* of a new one: a real one that was never called, or NULL */
    bool assigned;          /* __defaults__, __kwdefaults__ or __qualname__ may be in the journal */
} DtFunctionVar;

/* ---- Building ------------------------------------------------------------------------------- */

/* The single way from a Python object to a tracker.  One object gives one tracker per trace: a
 * second source of the same object adds an alias guard.  Guards are installed as the kind needs. */
DtStatus dt_var_build(DtTrace *trace, PyObject *object, const DtSource *source,
                      DtVar **out) DT_MUST_CHECK;
/* A tracker that calls dt_var_build() at first use. */
DtStatus dt_var_build_lazy(DtTrace *trace, PyObject *object, const DtSource *source,
                           DtVar **out) DT_MUST_CHECK;
/* Realises a lazy tracker (others come back as they are). */
DtStatus dt_var_realize(DtTrace *trace, DtVar *var, DtVar **out) DT_MUST_CHECK;
/* The same for one who does not look into it: a list that is an input may be a
 * DT_KIND_GROWING_LIST. */
DtStatus dt_var_receiver(DtTrace *trace, DtVar *var, DtVar **out) DT_MUST_CHECK;
/* A tracker for a value made or known by the trace itself; the trace takes a new reference. */
DtStatus dt_var_const(DtTrace *trace, PyObject *value, DtVar **out) DT_MUST_CHECK;
DtStatus dt_var_const_take(DtTrace *trace, DT_STEALS PyObject *value, DtVar **out) DT_MUST_CHECK;
DtStatus dt_var_int(DtTrace *trace, int64_t value, DtVar **out) DT_MUST_CHECK;
DtStatus dt_var_bool(DtTrace *trace, bool value, DtVar **out) DT_MUST_CHECK;
DtStatus dt_var_sym(DtTrace *trace, const DtSym *sym,
                    DtVar **out) DT_MUST_CHECK; /* folds constants */
DtStatus dt_var_tuple(DtTrace *trace, DtVar *const *items, uint32_t count,
                      DtVar **out) DT_MUST_CHECK;
DtStatus dt_var_list(DtTrace *trace, DtVar *const *items, uint32_t count,
                     DtVar **out) DT_MUST_CHECK;
DtStatus dt_var_slice(DtTrace *trace, DtVar *start, DtVar *stop, DtVar *step,
                      DtVar **out) DT_MUST_CHECK;
/* keys and values alternate: k0, v0, k1, v1 ... */
DtStatus dt_var_dict(DtTrace *trace, DtVar *const *pairs, uint32_t count,
                     DtVar **out) DT_MUST_CHECK;
DtStatus dt_var_set(DtTrace *trace, DtVar *const *items, uint32_t count, DtVar **out) DT_MUST_CHECK;
DtStatus dt_var_cell(DtTrace *trace, PyObject *name, int root_slot, DtVar *contents,
                     DtVar **out) DT_MUST_CHECK;
/* A function made by the trace (MAKE_FUNCTION); fields are filled by the caller afterwards. */
DtStatus dt_var_function(DtTrace *trace, PyCodeObject *code, PyObject *globals, PyObject *name,
                         DtFunctionVar **out) DT_MUST_CHECK;
DtStatus dt_var_array(DtTrace *trace, DtNode *node, uint32_t result, DtMeta *meta,
                      DtVar **out) DT_MUST_CHECK;
/* An iterator over the items along the first axis of an array, whose size is a constant; each is
 * read in its turn. */
DtStatus dt_iter_array(DtTrace *trace, DtArrayVar *array, DtVar **out) DT_MUST_CHECK;

DtVar *dt_none(DtTrace *trace);            /* made with the trace, never NULL */
DtVar *dt_not_implemented(DtTrace *trace); /* likewise */
DtVar *dt_null(DtTrace *trace);            /* the NULL of the value stack; DT_KIND_NULL */

/* ---- Dispatch ------------------------------------------------------------------------------- */

DtStatus dt_var_binary(DtTrace *, DtBinaryOp op, DtVar *left, DtVar *right,
                       DtVar **out) DT_MUST_CHECK;
DtStatus dt_var_negative(DtTrace *, DtVar *var, DtVar **out) DT_MUST_CHECK;
DtStatus dt_var_positive(DtTrace *, DtVar *var, DtVar **out) DT_MUST_CHECK;
DtStatus dt_var_invert(DtTrace *, DtVar *var, DtVar **out) DT_MUST_CHECK;
DtStatus dt_var_truth(DtTrace *, DtVar *var, bool *out) DT_MUST_CHECK;
DtStatus dt_var_not(DtTrace *, DtVar *var, DtVar **out) DT_MUST_CHECK;
DtStatus dt_var_compare(DtTrace *, int op, DtVar *left, DtVar *right, DtVar **out) DT_MUST_CHECK;
DtStatus dt_var_is(DtTrace *, DtVar *left, DtVar *right, bool *out) DT_MUST_CHECK;
DtStatus dt_var_contains(DtTrace *, DtVar *container, DtVar *item, DtVar **out) DT_MUST_CHECK;
DtStatus dt_var_length(DtTrace *, DtVar *var, DtVar **out) DT_MUST_CHECK;
DtStatus dt_var_subscript(DtTrace *, DtVar *var, DtVar *key, DtVar **out) DT_MUST_CHECK;
DtStatus dt_var_ass_subscript(DtTrace *, DtVar *var, DtVar *key, DtVar *value) DT_MUST_CHECK;
DtStatus dt_var_getattr(DtTrace *, DtVar *var, PyObject *name, DtVar **out) DT_MUST_CHECK;
/* Objects that contain, call or compare themselves lead back here without a frame in between: a
 * break where the C stack ends. */
DtStatus dt_var_check_stack(DtTrace *) DT_MUST_CHECK;
/* super(cls, self).name */
DtStatus dt_var_super_getattr(DtTrace *, DtVar *cls, DtVar *self, PyObject *name,
                              DtVar **out) DT_MUST_CHECK;
DtStatus dt_var_setattr(DtTrace *, DtVar *var, PyObject *name, DtVar *value) DT_MUST_CHECK;
DtStatus dt_var_call(DtTrace *, DtVar *callable, const DtArgs *args, DtVar **out) DT_MUST_CHECK;
/* object.name(*pos) */
DtStatus dt_var_call_method(DtTrace *, DtVar *object, const char *name, DtVar **pos, uint32_t npos,
                            DtVar **out) DT_MUST_CHECK;
DtStatus dt_var_iter(DtTrace *, DtVar *var, DtVar **out) DT_MUST_CHECK;
DtStatus dt_var_iternext(DtTrace *, DtVar *iterator,
                         DtVar **out) DT_MUST_CHECK; /* NULL: exhausted */
/* An iterator over a range whose bounds are open: its first step would close it. */
bool dt_iter_is_over_open_range(const DtVar *var);
/* iterator.send(value), or next(iterator) for None: what it yields, or (*returned) what it returns.
 */
DtStatus dt_var_send(DtTrace *, DtVar *iterator, DtVar *value, DtVar **out,
                     bool *returned) DT_MUST_CHECK;
/* Runs an iterable to its end; the array is in the arena.  A break past config.unroll_limit. */
DtStatus dt_var_unpack(DtTrace *, DtVar *iterable, DtVar ***items, uint32_t *count) DT_MUST_CHECK;
PyTypeObject *dt_var_python_type(DtTrace *, DtVar *var);
/* The constant behind a tracker, tuples of constants included; NULL without error when it is none.
 */
PyObject *dt_var_as_constant(DtTrace *, DtVar *var);
/* The same without specialising a symbol and without realising anything: NULL of an argument that
 * is not realised yet, so what may be None is asked by dt_var_given(). */
PyObject *dt_var_peek_constant(DtVar *var);
/* An optional argument: *var, which may be NULL, is realised, and NULL from here on if it is None.
 */
DtStatus dt_var_given(DtTrace *, DtVar **var) DT_MUST_CHECK;
void dt_var_repr(DtVar *var, DtStrbuf *buf);

/* Index of kind -> type, filled by variables/registry.c from kinds.def, slots inherited. */
const DtVarType *dt_var_type_of(DtKind kind);
/* Gives `function` the meaning that dyntrace's function `name` has in traced code; -1 with an
 * exception. */
int dt_api_register(PyObject *name, PyObject *function);
/* Called once per process, at module init. */
void dt_variables_init(void);
/* What tracing needs of the standard library, which a program that never compiles anything does
 * not import: the first call does it.  -1 with an exception, then and ever after. */
int dt_variables_load(void);

/* Makes `object` (a function, usually of the public API) a builtin that the row follows; -1 with
 * MemoryError.  The object is kept for good. */
int dt_builtin_register(PyObject *object, const DtMethodRow *row);

/* Without realising anything: a realised lazy tracker's target, else the tracker itself. */
static inline DtVar *
dt_var_peek(DtVar *var)
{
    while (var->type->kind == DT_KIND_LAZY && ((DtLazyVar *)var)->real != NULL) {
        var = ((DtLazyVar *)var)->real;
    }
    return var;
}

#endif
