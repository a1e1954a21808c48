/* DtTrace: one attempt at following one frame, and the services that trackers
 * ask of the layers above (declared here, defined there).
 *
 * Everything in a trace lives in its arena.  Python objects are kept alive by
 * one list and borrowed everywhere else; dt_trace_release() lets go of all.
 */
#ifndef DT_VARIABLES_TRACE_H
#define DT_VARIABLES_TRACE_H

#include "core/arena.h"
#include "compat/errors.h"
#include "core/map.h"
#include "core/vec.h"
#include "variables/var.h"

typedef struct DtGraph DtGraph;             /* graph/graph.h */
typedef struct DtGuardRecipe DtGuardRecipe; /* guards/recipe.h */
typedef struct DtJournal DtJournal;         /* sideeffects/journal.h */

typedef enum DtBreakId {
#define BREAK(NAME, ID, WHAT, ADVICE) DT_BREAK_##NAME,
#include "variables/breaks.def"
#undef BREAK
    DT_BREAK_COUNT
} DtBreakId;

typedef struct DtBreakRow {
    const char *id;
    const char *what;
    const char *advice;
} DtBreakRow;
extern const DtBreakRow dt_break_rows[DT_BREAK_COUNT];

typedef struct DtPosition {
    PyCodeObject *code;               /* DT_BORROWED */
    int line, end_line, col, end_col; /* -1: unknown */
} DtPosition;

typedef struct DtBreakInfo {
    DtBreakId id;
    const char *message; /* with the user's values; in the arena */
    DtPosition where;
    const DtPosition *chain; /* callers of the inlined frame, innermost first */
    uint32_t nchain;
    bool refused; /* it happened where breaks are errors (dyntrace.error_on_graph_break) */
} DtBreakInfo;

/* The branches on data that the trace may follow as they go in this call (symbolic/guess.c), in the
 * order in which it comes to them. */
typedef struct DtGuesses {
    uint32_t limit; /* how many there may be; 0: none */
    uint32_t known; /* of how many it is known which way they go ... */
    uint32_t ways;  /* ... a bit each, the truth of what is asked */
} DtGuesses;

typedef struct DtTraceOptions {
    uint32_t inline_depth; /* default 64 */
    uint32_t unroll_limit; /* iterations of one loop; default 4096 */
    uint32_t unroll_nodes; /* of a graph, from which on no loop is unrolled further; default 1024 */
    uint32_t trace_limit;  /* instructions; default 1000000 */
    int64_t budget_ns;     /* default 10 ms; 0: none */
    bool refusing;         /* breaks are errors, unless the program says otherwise */
    bool fp_regions;       /* the backend heeds DtNode.fp_region */
    PyObject *varied;      /* set of printed sources whose number has varied: symbols; or NULL */
    /* Is a call of `callee` in code `caller` left to the frame?  NULL: all are followed. */
    bool (*leaves_alone)(PyCodeObject *callee, PyObject *globals, PyCodeObject *caller);
    PyObject *opened; /* the same of those that no loop is unrolled for: see v_range.c */
    DtGuesses guesses;
    int dynamic; /* -1 automatic, 0 specialise sizes and numbers, 1 never */
    /* Tests only: break before the root's instruction number break_at - 1, and before every
     * break_every-th that it comes to; 0: don't. */
    uint32_t break_at;
    uint32_t break_every;
    uint32_t break_below; /* before every break_below-th instruction, if it is a callee's */
} DtTraceOptions;

extern const DtTraceOptions dt_trace_default_options;

/* A bound of a slice: what a node computes, or a number, or none. */
typedef struct DtSizeBound {
    const DtNode *node;
    uint32_t result;
    const DtSym *number;
} DtSizeBound;

/* What is known of a size that depends on data: it is as long as the slice first:last:step of a
 * size. */
typedef struct DtSizeOrigin {
    const DtSym *of; /* NULL: as long as that range, or the int `first` itself */
    DtSizeBound first, last;
    int64_t step; /* 0: it is the int */
} DtSizeOrigin;

/* A symbol: where its value is read at call time. */
typedef struct DtSymbol {
    /* ARRAY_DIM of an array, or the number itself; NULL: a size that depends on data and is known
     * when the graph runs: no guard can ask for it. */
    const DtSource *source;
    DtSymType type;
    DtNumber hint;
    const DtSym *stands_for;    /* what it was found equal to (equal_symbols.c), or NULL */
    const DtSizeOrigin *origin; /* of one without a source, or NULL */
} DtSymbol;

/* One level of "the exception being handled": the root frame has one, and so has each generator
 * that is traced (`previous`: of whoever resumed it).  Plain calls share their caller's. */
typedef struct DtExcInfo {
    DtVar *value; /* NULL: none at this level, the previous one counts */
    struct DtExcInfo *previous;
} DtExcInfo;

/* What a segment leaves in the frame that it ran for, when the trace is cut before the root's
 * instruction `at`.  A place is a unified slot, or nslots + a position on the value stack. */
typedef struct DtCutWrite {
    int32_t place;
    DtVar *value; /* NULL: unbound, or a NULL that belongs to a callable */
    bool kept;    /* read by nobody again, but it lives on in its slot: written if made anyway */
} DtCutWrite;

typedef struct DtCut {
    bool made;
    int32_t at;
    DtCutWrite *writes; /* of slots, and of the stack below what is pushed */
    uint32_t nwrites;
    DtVar **pushed; /* the stack from there up; the null tracker where NULL is */
    uint32_t npushed;
} DtCut;

/* An existing object, and the memory that it shows: an array, or a bytearray (adapter NULL). */
typedef struct DtShowing {
    const DtAdapter *adapter;
    PyObject *object;
    const DtSource *source;
} DtShowing;

/* An attribute that the trace has given a class; `stand_in`: the real object that leads to the
 * tracker, NULL: deleted. */
typedef struct DtClassWrite {
    PyTypeObject *cls;
    PyObject *name;
    PyObject *stand_in;
} DtClassWrite;

/* What calls for their effect, which are made behind the graph, would change for what comes after
 * them in the trace (see effect() in v_api.c). */
typedef enum DtUnsettled {
    DT_UNSETTLED_BITS = 1, /* of results of operations */
    DT_UNSETTLED_CALL = 2  /* the function that is called for floating-point errors */
} DtUnsettled;

/* A branch that was followed as it goes in this call. */
typedef struct DtGuess {
    const DtArrayVar *asked; /* DT_BORROWED */
    uint64_t place;          /* of the branch, and of the calls on the way to it */
    bool truth;
} DtGuess;

struct DtTrace {
    DtArena arena;
    DT_VEC(PyObject *) kept; /* DT_OWNED: every object that the arena refers to */
    DtMap kept_set;          /* address -> anything: is it kept already? */

    /* The root frame. */
    PyCodeObject *code;
    PyObject *globals;           /* exact dict, or tracing breaks at once */
    PyObject *builtins;          /* exact dict */
    PyObject *function;          /* function object of the root frame or NULL */
    struct DtBytecode *bytecode; /* of the root, if it is at hand; not changed */
    DtTraceOptions options;
    uint8_t fp_region;      /* what floating-point errors mean here, see DtNode.fp_region */
    uint8_t fp_warned;      /* of those that it reports: a warning, no exception; bits 0 to 3 */
    uint8_t fp_depth;       /* regions that end in this trace */
    PyObject *printing;     /* tuple of what was set about printing, in order, or NULL */
    uint8_t printing_depth; /* of that, in regions that end in this trace */
    DT_VEC(DtGuess) guesses;
    bool looks;           /* with DT_RESTART: the last node looks which way a branch goes */
    bool goes_in_circles; /* with DT_RESTART: a branch was come to again, nothing is guessed */
    uint8_t unsettled;    /* DtUnsettled: what effects that are not made yet change */

    DtMap sources; /* interning table of source.c (private to it) */
    uint32_t source_count;
    DtMap by_object;                /* object -> DtVar, for dt_var_build */
    DT_VEC(DtShowing) arrays_built; /* existing ones (shown_memory.c) ... */
    DT_VEC(DtShowing) bytes_built;  /* ... and bytearrays */
    DtMap payload_owners; /* tracker of an instance's builtin part -> the instance (payload.c) */
    DT_VEC(DtSymbol) symbols;
    DtMap symbol_of[DT_SYM_TYPE_COUNT]; /* source -> DtSym, the symbol of each type */
    bool some_symbols_equal;            /* one at least stands for another (equal_symbols.c) */
    DtGraph *graph;                     /* DT_OWNED; taken by the entry */
    DtGuardRecipe *guards;
    DtJournal *journal;
    const DtAdapter *adapters_used[DT_MAX_ADAPTERS];
    uint32_t adapters_used_count;

    DtSymbolicFrame *frame; /* the innermost frame being interpreted */
    uint32_t instructions;  /* interpreted so far */
    uint32_t ticks;         /* steps so far: instructions, and items that one of them goes over */
    uint32_t inlined;       /* calls followed */
    uint32_t effects;       /* changes of anything so far */
    uint32_t hashing;       /* followed __hash__ methods that have not returned yet */
    bool hashed_changed; /* an attribute of something that a followed __hash__ read was written */
    uint32_t depth;
    int64_t started_ns; /* on dt_clock_ns() */
    int64_t thread_ns;  /* the same on dt_clock_thread_ns(); 0: nobody has looked yet */
    DtBreakInfo brk;    /* after DT_BREAK */
    /* dyntrace.error_on_graph_break as the trace has entered it; the innermost counts. */
    DT_VEC(bool) refusing;
    uint32_t refusing_since; /* root instructions begun when the outermost was entered */
    DtVar *raised;           /* after DT_RAISE: the exception on its way, an instance tracker */
    DtExcInfo root_exc_info;
    DtExcInfo *exc_info; /* the innermost level */
    DtVar *none, *not_implemented, *null;
    DtMap made;            /* real object that stands for one the trace has made -> DtMade */
    DtMap stand_ins;       /* objects that lead to a tracker of another one */
    DtMap changed_classes; /* existing class -> the tracker whose attributes are written */
    DT_VEC(DtClassWrite) class_writes; /* to existing classes, in order */
    DtMap shown_classes;               /* dict of a class -> tracker of what it holds */
    DtMap namespaces;                  /* dict of globals -> its namespace tracker */
    DtMap weakrefs;  /* tracker of an object -> of the weak reference made to it */
    DtMap by_source; /* source -> DtVar: lazy trackers already made for it */
    DT_VEC(DtVar *)
    generators; /* generators, coroutines, steps of asynchronous ones that the trace made */
    DT_VEC(DtVar *) changed; /* existing containers but sets that the trace has written */
    /* Positions of the active frames, innermost first; returns how many were written.  Set by the
     * interpreter; NULL: no position is known. */
    uint32_t (*positions)(const DtTrace *trace, DtPosition *out, uint32_t max);
    PyObject *wanted_polyfills; /* after DT_RESTART: what to load first, or NULL; kept */
    PyObject *wanted_module;    /* the same: what to import */
    /* A segment: the root is a running frame. */
    bool live;
    int32_t live_at;             /* live: the instruction it begins at */
    const int32_t *frame_index;  /* live: place -> index in the frame's memory */
    int32_t live_places;         /* live: slots and stack values at the start */
    DT_VEC(DtVar *) temporaries; /* live: stack values at the start that are held yet */
    DT_VEC(int32_t) nulls;       /* live: places that must hold NULL at every call */
    DT_VEC(int32_t)
    overwritten;             /* live: slots that hold NULL, or what nobody hears of when it goes */
    DT_VEC(int32_t) bounds;  /* live: slots that must not, and may have no guard that says so */
    PyObject *rebound;       /* live, module code: the globals that its loops store, or NULL */
    uint32_t stop_at;        /* root instructions after which it is cut; UINT32_MAX: never */
    DT_VEC(int32_t) history; /* the root's instructions in the order they were begun */
    DtCut cut;
    const struct DtPlaces *places; /* live: where it may be cut; NULL: unknown */
    uint32_t loads_facts; /* live: guards when the loads began that the root is at, or comes from */
    bool cut_here;   /* the segment ends before a call that breaks, and nothing of which was begun:
                        trace->brk says why ... */
    int32_t cut_for; /* ... and this is the call */
    bool cut_wanted; /* with DT_RESTART: the segment ends before the root's current instruction */
    DT_VEC(PyObject *)
    inlined_codes; /* code objects of inlined functions, for monitoring and logs; DT_BORROWED */
};

/* An empty trace: arena, singletons, graph, recipe and journal; options NULL: the defaults.  NULL
 * with an error set. */
DT_OWNED DtTrace *dt_trace_new(PyCodeObject *code, PyObject *globals, PyObject *builtins,
                               PyObject *function, const DtTraceOptions *options);
void dt_trace_release(DT_STEALS DtTrace *trace);
/* Is a break an error where the trace stands? */
bool dt_trace_refuses(const DtTrace *trace);

/* Keeps `object` alive as long as the trace (a new reference, once per object). */
DtStatus dt_trace_keep(DtTrace *trace, PyObject *object) DT_MUST_CHECK;
/* The same, taking the caller's reference (also on failure).  Returns it borrowed, or NULL. */
PyObject *dt_trace_keep_take(DtTrace *trace, DT_STEALS PyObject *object);

/* One step more: an instruction, or an item where one instruction goes over many.  A break when the
 * trace has held the interpreter for longer than its budget. */
DtStatus dt_trace_check_budget(DtTrace *trace) DT_MUST_CHECK;
#define DT_TICKS_PER_LOOK 256 /* at the clock */
static inline DtStatus
dt_trace_tick(DtTrace *trace)
{
    return DT_LIKELY(++trace->ticks % DT_TICKS_PER_LOOK != 0) ? DT_OK
                                                              : dt_trace_check_budget(trace);
}

/* The same for one step that looks at many items, each in a few instructions of the machine. */
static inline DtStatus
dt_trace_search(DtTrace *trace, uint32_t items)
{
    uint32_t looks = trace->ticks / DT_TICKS_PER_LOOK;
    trace->ticks += items / 16;
    return DT_LIKELY(trace->ticks / DT_TICKS_PER_LOOK == looks) ? DT_OK
                                                                : dt_trace_check_budget(trace);
}

/* Records the reason (with the position of the current instruction) and returns DT_BREAK. */
DtStatus dt_break(DtTrace *trace, DtBreakId id, const char *format, ...) DT_PRINTF(3, 4);
/* For a status from a C API call that failed with a Python exception: clears it and breaks with
 * "raises", its text in the message.  For adapters, whose own calls may fail with other texts than
 * the program would see.  MemoryError and KeyboardInterrupt stay set: DT_ERROR. */
DtStatus dt_break_on_exception(DtTrace *trace);

/* ---- Exceptions of the traced program (exception.c).  A raise returns DT_RAISE; the exception is
 * then in trace->raised until a handler of the program, or dt_raised_take(), takes it.  Uncaught in
 * the root frame it becomes the break "raises".
 * ------------------------------------------------------------------------------------------- */

/* Raises type(text).  The format is PyUnicode_FromFormat's (%s, %d, %zd, %U, %.200s ...; %R and %S
 * only of objects whose repr and str run no user code), and the text is exactly CPython's. */
DtStatus dt_raise(DtTrace *trace, PyObject *type, const char *format, ...);
/* Raises type(value): KeyError and StopIteration take an object rather than a text. */
DtStatus dt_raise_value(DtTrace *trace, PyObject *type, DtVar *value);
/* Raises an exception instance, as `raise` does: the handled exception becomes its context.  One
 * that existed before the trace is a break. */
DtStatus dt_raise_var(DtTrace *trace, DtVar *exception);
/* Raises it again, as the end of a `finally` does: its context stays. */
DtStatus dt_raise_again(DtTrace *trace, DtVar *exception);
/* Takes the pending real exception, which an operation of the traced program on constants has
 * raised.  MemoryError, KeyboardInterrupt and others that are no Exception stay set: DT_ERROR. */
DtStatus dt_raise_from_exception(DtTrace *trace);
/* After DT_RAISE: would `except type` (a class or a tuple of them) catch it? */
bool dt_raised_matches(const DtTrace *trace, PyObject *type);
/* Takes it: the trace goes on. */
DtVar *dt_raised_take(DtTrace *trace);
/* Gives the raise up: the break "raises" with its type and text.  For operations that leave partial
 * effects behind which are not modelled, and for the root frame. */
DtStatus dt_raised_break(DtTrace *trace);
/* `status`, or that break if it is DT_RAISE. */
DtStatus dt_raised_break_if(DtTrace *trace, DtStatus status);
/* The exception that `sys.exception()` gives, NULL: none that the trace knows of.  *known false:
 * one may be handled outside of the trace. */
DtVar *dt_raised_handled(const DtTrace *trace, bool *known);

/* The same, once it is certain: what the thread handles while tracing, and that it does so at every
 * call (a guard), tells for the caller of the root frame.  None where nothing is handled; a break
 * where the caller handles an exception. */
DtStatus dt_raised_handled_ask(DtTrace *trace, DtVar **out) DT_MUST_CHECK;

/* ---- Symbols (trace.c, equal_symbols.c) ------------------------------------------------------ */
/* A new symbol whose value is read from `source` (NULL: see DtSymbol). */
DtStatus dt_trace_symbol(DtTrace *trace, const DtSource *source, DtSymType type, DtNumber hint,
                         const DtSym **out) DT_MUST_CHECK;
/* Does a symbol without a source occur in it?  NULL is allowed. */
bool dt_trace_depends_on_data(const DtTrace *trace, const DtSym *sym);
/* Makes two size expressions equal, adding the guard; false in *same if the hints differ. */
DtStatus dt_trace_unify(DtTrace *trace, const DtSym *a, const DtSym *b, bool *same) DT_MUST_CHECK;
/* The symbol that stands for all symbols that were found equal to `id`. */
uint32_t dt_trace_symbol_root(const DtTrace *trace, uint32_t id);
/* What stands for `sym`, in `arena`; `sym` itself if nothing else does, or if it can't be computed
 * (*whole is false then).  `bound`, by symbol: expressions stand for symbols only where all that
 * they are made of is bound; NULL: never, symbols alone do. */
DtStatus dt_trace_canonical(const DtTrace *trace, DtArena *arena, const DtSym *sym,
                            const bool *bound, const DtSym **out, bool *whole) DT_MUST_CHECK;
/* Guards that the expression (bool) keeps the truth of its hint, and returns it. */
DtStatus dt_trace_decide(DtTrace *trace, const DtSym *condition, bool *truth) DT_MUST_CHECK;
/* Guards that the number keeps its hint. */
DtStatus dt_trace_specialize(DtTrace *trace, const DtSym *sym) DT_MUST_CHECK;
DtStatus dt_trace_use_adapter(DtTrace *trace, const DtAdapter *adapter) DT_MUST_CHECK;
DtPosition
dt_trace_position(const DtTrace *trace); /* of the current instruction, innermost frame */

/* ---- Guards (guards/recipe.c).  Duplicates are merged; synthetic sources are skipped. -------- */
DtStatus dt_guard_type(DtTrace *, const DtSource *, PyTypeObject *exact) DT_MUST_CHECK;
DtStatus dt_guard_identity(DtTrace *, const DtSource *, PyObject *object) DT_MUST_CHECK;
/* Equal exact type and value: int, float (bits, so -0.0 and NaN are told apart), complex, str,
 * bytes, and tuples of them. */
DtStatus dt_guard_constant(DtTrace *, const DtSource *, PyObject *value) DT_MUST_CHECK;
DtStatus dt_guard_length(DtTrace *, const DtSource *, PyTypeObject *exact,
                         int64_t length) DT_MUST_CHECK;
/* Exactly these keys in this order; keys are str/int/tuples of such or compared by identity. */
DtStatus dt_guard_dict_keys(DtTrace *, const DtSource *, PyObject *dict) DT_MUST_CHECK;
/* An exact set of exactly these elements, in any order. */
DtStatus dt_guard_set_items(DtTrace *, const DtSource *, PyObject *set) DT_MUST_CHECK;
/* The same elements in the same slots of its table: the order of iteration, now and after changes.
 */
DtStatus dt_guard_set_layout(DtTrace *, const DtSource *, PyObject *set) DT_MUST_CHECK;
/* An exact deque of the same maxlen and, unless `any_length`, length. */
DtStatus dt_guard_deque(DtTrace *, const DtSource *, PyObject *deque,
                        bool any_length) DT_MUST_CHECK;
/* The name is absent from the instance dict, or from the module's/class's own dict. */
DtStatus dt_guard_attr_absent(DtTrace *, const DtSource *, PyObject *name) DT_MUST_CHECK;
/* type(object) is `exact` and neither it nor its bases have changed since (version tag or watcher).
 */
DtStatus dt_guard_type_version(DtTrace *, const DtSource *, PyTypeObject *exact) DT_MUST_CHECK;
/* The source is this class, and neither it nor its bases have changed since. */
DtStatus dt_guard_class_version(DtTrace *, const DtSource *, PyTypeObject *cls) DT_MUST_CHECK;
/* The two sources are the same object (or are not). */
DtStatus dt_guard_alias(DtTrace *, const DtSource *, const DtSource *, bool same) DT_MUST_CHECK;
DtStatus dt_guard_sym(DtTrace *, const DtSym *condition) DT_MUST_CHECK;
/* A global or builtin name is absent from the root's (or function source's) globals: builtins serve
 * it. */
DtStatus dt_guard_global_absent(DtTrace *, const DtSource *function, PyObject *name) DT_MUST_CHECK;
/* Nobody has registered a class with an abstract class: dt_abc_token() is still this. */
DtStatus dt_guard_abc_token(DtTrace *, int64_t token) DT_MUST_CHECK;
/* The source can be read, whatever it holds: for a value that the trace has read but not looked at.
 * Every other guard of the source says as much and takes its place. */
DtStatus dt_guard_present(DtTrace *, const DtSource *) DT_MUST_CHECK;
DtStatus dt_guard_cell_empty(DtTrace *, const DtSource *cell) DT_MUST_CHECK;
/* The dict is not the __dict__ of the instance, which need not have one yet. */
DtStatus dt_guard_not_dict_of(DtTrace *, const DtSource *instance,
                              const DtSource *dict) DT_MUST_CHECK;
/* The array, of this adapter, shows none of the memory of the bytearray. */
DtStatus dt_guard_apart(DtTrace *, const DtAdapter *, const DtSource *array,
                        const DtSource *bytes) DT_MUST_CHECK;
/* The exact dict has no such key; nor one that can't be compared without user code. */
DtStatus dt_guard_no_key(DtTrace *, const DtSource *dict, const DtSource *key) DT_MUST_CHECK;
/* No code runs when the reference that the source stands for goes.  `stays`: the source of what
 * takes its place, which lives on; or NULL. */
DtStatus dt_guard_quiet(DtTrace *, const DtSource *, const DtSource *stays) DT_MUST_CHECK;
DtStatus dt_guard_quiet_contents(DtTrace *, const DtSource *container) DT_MUST_CHECK;
/* The same for an own attribute or slot, if it is there, and for a global; `globals`: NULL for the
 * root's, else a dict. */
DtStatus dt_guard_quiet_attr(DtTrace *, const DtSource *owner, PyObject *name,
                             const DtSource *stays) DT_MUST_CHECK;
DtStatus dt_guard_quiet_global(DtTrace *, const DtSource *globals, PyObject *name,
                               const DtSource *stays) DT_MUST_CHECK;
/* `refs` are the objects that the spec's bytes refer to. */
DtStatus dt_guard_adapter(DtTrace *, const DtSource *, const DtAdapter *, const void *spec,
                          size_t size, PyObject *const *refs, uint32_t nrefs) DT_MUST_CHECK;
DtStatus dt_guard_adapter_state(DtTrace *, const DtAdapter *, const void *spec,
                                size_t size) DT_MUST_CHECK;

/* ---- Side effects (sideeffects/journal.c). --------------------------------------------------- */
/* An existing list that may have been appended to already held these items. */
DtStatus dt_journal_was_read(DtTrace *, DtVar *list, DtVar *const *items,
                             uint32_t count) DT_MUST_CHECK;
/* An existing dict that may have been changed already held what it holds now. */
DtStatus dt_journal_was_read_now(DtTrace *, DtVar *dict) DT_MUST_CHECK;
/* Whether the trace has changed what it holds, or may have. */
bool dt_journal_has_changed(const DtTrace *, DtVar *container);
/* Must be called before the payload of a mutable tracker is changed; keeps what a rollback needs
 * and that the tracker was changed.  A kind whose change can't be replayed breaks here. */
DtStatus dt_journal_will_change(DtTrace *, DtVar *var) DT_MUST_CHECK;
DtStatus dt_journal_set_attr(DtTrace *, DtVar *object, PyObject *name,
                             DtVar *value) DT_MUST_CHECK; /* NULL: delete */
/* What the trace stored there, or NULL: never written.  *deleted tells a deletion. */
DtVar *dt_journal_get_attr(DtTrace *, DtVar *object, PyObject *name, bool *deleted);
/* Names of the attributes that the trace has stored in `object` and not deleted, in the order that
 * the dict of a new object has. */
DtStatus dt_journal_own_names(DtTrace *, DtVar *object, PyObject ***names,
                              uint32_t *count) DT_MUST_CHECK;
/* Every name that the trace has stored in `object` or deleted, in the order of the last changes. */
DtStatus dt_journal_changed_names(DtTrace *, DtVar *object, PyObject ***names,
                                  uint32_t *count) DT_MUST_CHECK;
DtStatus dt_journal_set_global(DtTrace *, PyObject *globals, PyObject *name,
                               DtVar *value) DT_MUST_CHECK;
DtVar *dt_journal_get_global(DtTrace *, PyObject *globals, PyObject *name, bool *deleted);
/* A call that has an effect, of something that existed before, with constants; what it returns is
 * dropped.  No user code may run in it. */
DtStatus dt_journal_call(DtTrace *, DtVar *callable, DtVar **args, uint32_t count) DT_MUST_CHECK;
DtStatus dt_journal_set_cell(DtTrace *, DtCellVar *cell,
                             DtVar *contents) DT_MUST_CHECK; /* NULL: empty */

/* ---- Interpreter (symbolic/inline.c). -------------------------------------------------------- */
/* Checks depth and the C stack, and counts the call; a break "inline-depth" names `name`.  On DT_OK
 * the caller owes a dt_inline_leave(). */
DtStatus dt_inline_enter(DtTrace *, PyObject *name) DT_MUST_CHECK;
void dt_inline_leave(DtTrace *);

DtStatus dt_inline_call(DtTrace *, DtFunctionVar *function, const DtArgs *args,
                        DtVar **out) DT_MUST_CHECK;

/* Follows a class body, whose names live in `names`, a new dict; *out is what it returns. */
DtStatus dt_inline_class_body(DtTrace *, DtFunctionVar *function, DtVar *names,
                              DtVar **out) DT_MUST_CHECK;

/* ---- Generators (symbolic/generator*.c) ------------------------------------------------------ */
/* One step of a generator, coroutine or asynchronous generator: to what it yields (*returned false)
 * or returns. */
typedef struct DtGeneratorVar DtGeneratorVar; /* variables/classes/payloads.h */
DtStatus dt_generator_resume(DtTrace *, DtGeneratorVar *self, DtVar *sent, DtVar **out,
                             bool *returned) DT_MUST_CHECK;
/* The same with an exception that is raised where it stands; what it delegates to gets it first. */
DtStatus dt_generator_throw(DtTrace *, DtGeneratorVar *self, DtVar *exception, DtVar **out,
                            bool *returned) DT_MUST_CHECK;
/* close(): *out is what that call gives. */
DtStatus dt_generator_close(DtTrace *, DtGeneratorVar *self, DtVar **out) DT_MUST_CHECK;

/* Once everything that leaves the trace has been emitted: breaks when dropping the generators and
 * coroutines that stay behind unfinished would run code or warn. */
DtStatus dt_generators_check(DtTrace *) DT_MUST_CHECK;

/* ---- The frame that asks (symbolic/frame_dicts.c, frame_exec.c). ----------------------------- */
DtStatus dt_frame_locals(DtTrace *, DtVar **out) DT_MUST_CHECK;  /* locals() */
DtStatus dt_frame_globals(DtTrace *, DtVar **out) DT_MUST_CHECK; /* globals() */
/* A name in the globals of an active frame, or of the function that the source (or NULL) reads;
 * *out NULL: guarded to be absent. */
DtStatus dt_frame_find_global(DtTrace *, PyObject *globals, const DtSource *function,
                              PyObject *name, DtVar **out) DT_MUST_CHECK;
/* Follows a code object of exec() or eval(); globals and locals NULL: those of the frame. */
DtStatus dt_frame_exec(DtTrace *, PyObject *code, DtVar *globals, DtVar *locals,
                       DtVar **out) DT_MUST_CHECK;
/* The truth of a number of the graph as it is in this call, like that of a branch at the
 * instruction that is followed (symbolic/guess.c): DT_RESTART to look; *done false: it is not to be
 * guessed. */
DtStatus dt_frame_ask(DtTrace *, DtVar *var, bool *truth, bool *done) DT_MUST_CHECK;
/* The code of the innermost frame that the program sees; NULL: none. */
PyCodeObject *dt_frame_asking_code(const DtTrace *);
/* Whether a variable of an active frame holds exactly this. */
bool dt_frame_holds(const DtTrace *, DtVar *var);
/* Do the active frames still hold all that the trace began with and that can hold other objects? */
bool dt_frame_holds_found(DtTrace *);

/* ---- Codegen services for reconstruct slots (codegen/). -------------------------------------- */
DtStatus dt_codegen_var(DtCodegen *,
                        DtVar *var) DT_MUST_CHECK; /* leaves the value; shares by identity */
DtStatus dt_codegen_source(DtCodegen *, const DtSource *) DT_MUST_CHECK;
DtStatus dt_codegen_const(DtCodegen *,
                          PyObject *value) DT_MUST_CHECK; /* any object; it is kept by the code */
/* Emits canonical op `op` (DtOp) with an int argument / with a name. */
DtStatus dt_codegen_op(DtCodegen *, int op, int32_t arg) DT_MUST_CHECK;
DtStatus dt_codegen_name(DtCodegen *, int op, PyObject *name) DT_MUST_CHECK;
/* A constant callable with its NULL, then arguments by the caller, then dt_codegen_call(). */
DtStatus dt_codegen_push_callable(DtCodegen *, PyObject *callable) DT_MUST_CHECK;
DtStatus dt_codegen_push_callable_var(DtCodegen *, DtVar *callable) DT_MUST_CHECK;
DtStatus dt_codegen_call(DtCodegen *, uint32_t argc) DT_MUST_CHECK;
/* MAKE_FUNCTION of the code (and what `flags` say) on the stack, with its qualified name. */
DtStatus dt_codegen_make_function(DtCodegen *, PyObject *qualname, int32_t flags) DT_MUST_CHECK;
/* Whether the operands of the writes are emitted: objects that the trace made have no attributes
 * yet, so nothing may ask for the hash of one. */
void dt_codegen_set_operands(DtCodegen *, bool operands);
bool dt_codegen_is_operands(const DtCodegen *);
DtTrace *dt_codegen_trace(DtCodegen *);

#endif
