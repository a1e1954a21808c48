/* The interface between the core and an array library.
 *
 * The core knows no library.  An adapter says what is an array, which facts to
 * guard, and how operators, attributes, methods and functions become graph
 * nodes.  NumPy's is in C (adapters/numpy/), others are Python objects behind
 * adapters/python.c.  Slots return DT_BREAK through dt_break() for what they do
 * not take; they run no user code unless the adapter is a Python one.
 */
#ifndef DT_VARIABLES_ADAPTER_H
#define DT_VARIABLES_ADAPTER_H

#include "variables/var.h"

typedef enum DtLayoutFlag {
    DT_LAYOUT_C = 1, /* C contiguous */
    DT_LAYOUT_F = 2, /* Fortran contiguous */
    DT_LAYOUT_ALIGNED = 4,
    DT_LAYOUT_NATIVE = 8,    /* native byte order */
    DT_LAYOUT_NEGATIVE = 16, /* some stride is negative */
    DT_LAYOUT_WRITEABLE = 32,
    DT_LAYOUT_FRESH = 64,     /* made by the graph, nobody else can hold its memory */
    DT_LAYOUT_VIEW = 128,     /* though FRESH, it is a view of another array that nobody sees */
    DT_LAYOUT_OWN_DTYPE = 256 /* of an input: its dtype is not the usual object for that kind */
} DtLayoutFlag;

/* What is known of a graph value.  Shapes are symbolic; a dimension of 0 or 1 is always a constant.
 */
struct DtMeta {
    const DtAdapter *adapter;
    PyTypeObject *type; /* exact class: np.ndarray, np.float64 (a NumPy scalar), a subclass ... */
    PyObject *dtype;    /* library's dtype object, DT_BORROWED from trace or graph */
    PyObject *device;   /* or NULL */
    uint8_t ndim;
    uint32_t layout; /* DtLayoutFlag */
    const DtSym **shape;
    const int8_t *stride_order; /* axes from slowest to fastest in memory, or NULL: unknown */
    void *extra;                /* adapter's own, in the same arena, or NULL */
};

/* What a node does that asks for the truth of a number. */
typedef enum DtExpect {
    DT_EXPECT_TRUE, /* where it is another, the run is dropped and the call made again plainly */
    DT_EXPECT_FALSE,
    DT_GUESS_TRUE, /* where it is another, the run is dropped, and the entry does not hold */
    DT_GUESS_FALSE,
    DT_LOOK /* it is noted (backend/guessed.h), and the run is dropped */
} DtExpect;

struct DtAdapter {
    const char *name;
    void *state; /* of a Python adapter: its object */

    /* Exact test, no user code. */
    bool (*is_array)(const DtAdapter *, PyObject *object);
    /* Is this callable (a ufunc, a function of the library, a type such as np.float64) its own? */
    bool (*owns_callable)(const DtAdapter *, PyObject *object);
    /* Of a function of Python that is its own: is it followed as one of the program?  NULL: none.
     */
    bool (*follows)(const DtAdapter *, PyObject *callable);
    /* A tracker for an input array: guards, symbols for its sizes, a graph input. */
    DtStatus (*build)(const DtAdapter *, DtTrace *, PyObject *object, const DtSource *,
                      DtVar **out);
    DtStatus (*call)(const DtAdapter *, DtTrace *, PyObject *callable, const DtArgs *, DtVar **out);
    /* Operators; at least one operand is this adapter's array.  Operands are realised. */
    DtStatus (*binary)(const DtAdapter *, DtTrace *, DtBinaryOp, DtVar *l, DtVar *r, DtVar **out);
    DtStatus (*compare)(const DtAdapter *, DtTrace *, int op, DtVar *l, DtVar *r, DtVar **out);
    DtStatus (*unary)(const DtAdapter *, DtTrace *, const char *op, DtArrayVar *, DtVar **out);
    DtStatus (*truth)(const DtAdapter *, DtTrace *, DtArrayVar *, bool *out);
    DtStatus (*length)(const DtAdapter *, DtTrace *, DtArrayVar *, DtVar **out);
    DtStatus (*subscript)(const DtAdapter *, DtTrace *, DtArrayVar *, DtVar *key, DtVar **out);
    DtStatus (*ass_subscript)(const DtAdapter *, DtTrace *, DtArrayVar *, DtVar *key, DtVar *value);
    /* Attributes; a method is returned as a DT_KIND_METHOD_ROW by dt_var_adapter_method(). */
    DtStatus (*getattr)(const DtAdapter *, DtTrace *, DtArrayVar *, PyObject *name, DtVar **out);
    DtStatus (*call_method)(const DtAdapter *, DtTrace *, DtArrayVar *, PyObject *name,
                            const DtArgs *, DtVar **out);
    DtStatus (*iter)(const DtAdapter *, DtTrace *, DtArrayVar *, DtVar **out);
    /* NULL: breaks. */
    DtStatus (*setattr)(const DtAdapter *, DtTrace *, DtArrayVar *, PyObject *name, DtVar *value);
    DtStatus (*contains)(const DtAdapter *, DtTrace *, DtArrayVar *, DtVar *item, DtVar **out);

    /* A call of sum, min, max, any or all with the array alone; *out NULL: its items are taken one
     * by one.  NULL: these of any array. */
    DtStatus (*fold)(DtTrace *, PyObject *builtin, DtArrayVar *, DtVar **out);

    /* An object of the library that is known whole and never changes (a dtype): reading a member of
     * its class, and its texts, runs none of the user's code.  NULL: there is none. */
    bool (*is_fixed)(const DtAdapter *, PyObject *object);
    /* Its values leave an operation to the adapter of any other array that takes part. */
    bool gives_way;
    /* Its values are no arrays: a graph with nothing else in it gains nothing. */
    bool beside;
    /* The Python number that float(), int() ... take out of such a value without a word: 'b', 'i',
     * 'f' or 'c'; 0: none.  NULL: none of any. */
    char (*number_kind)(const DtMeta *);
    /* A call of a function of array_numbers.def with numbers out of arrays; arguments are realised.
     * NULL: a break. */
    DtStatus (*number)(DtTrace *, const DtNumberRow *row, PyObject *callable, const DtArgs *,
                       DtVar **out);
    /* A node that asks for the truth of the value, of which a number can be taken.  *done false: no
     * number can be taken of it.  NULL: of none. */
    DtStatus (*expect)(DtTrace *, DtVar *value, DtExpect, bool *done);
    /* The text that a function of dyntrace._texts gives for such values, some of them of the graph.
     * NULL: a break. */
    DtStatus (*text)(DtTrace *, const char *function, DtVar *const *vars, uint32_t count,
                     DtVar **out);

    /* Run-time guard.  `spec` was made by the adapter at build time, has `spec_size` bytes and is
     * copied into the guard program (object references in it are kept by the trace, then by the
     * entry, as listed by dt_guard_adapter()).  Runs no user code (a Python adapter may).  1 holds,
     * 0 fails, -1 error. */
    int (*check)(const DtAdapter *, const void *spec, PyObject *object);
    /* A number for any object, by which arrays that different guards accept are told apart: advice,
     * not proof.  No user code.  NULL: they can't be. */
    uint64_t (*tell_apart)(const DtAdapter *, PyObject *object);
    /* For explain: what the guard says, and what was found instead. */
    void (*print_guard)(const DtAdapter *, const void *spec, DtStrbuf *);
    void (*print_found)(const DtAdapter *, PyObject *object, DtStrbuf *);
    /* A new array of these numbers, as the library makes one of a list of them; NULL without an
     * error: some are something else, or there are none.  No user code.  NULL: of no items. */
    DT_OWNED PyObject *(*of_items)(const DtAdapter *, PyObject *const *items, Py_ssize_t count);
    /* Size of dimension `dim` of an array that passed check(); int64, no user code. */
    int64_t (*dim)(const DtAdapter *, PyObject *object, int dim);
    /* The bytes from *low up to *high hold all that the array shows; false: it shows no memory, or
     * is no array.  No user code.  NULL: nothing of this library does. */
    bool (*extent)(const DtAdapter *, PyObject *array, const char **low, const char **high);
    /* A guard spec as a Python tuple of portable values and back (serialisation). */
    DT_OWNED PyObject *(*spec_to_object)(const DtAdapter *, const void *spec);
    DtStatus (*spec_from_object)(const DtAdapter *, DtTrace *, PyObject *, void **spec,
                                 size_t *size);
    /* State that changes results (errstate, getbufsize ...): called once per trace that used the
     * adapter; installs guards by dt_guard_adapter_state(). NULL: none. */
    DtStatus (*guard_state)(const DtAdapter *, DtTrace *);
    int (*check_state)(const DtAdapter *, const void *spec);

    /* Undoing writes, while a graph runs.  NULL: a write can't be undone. */
    /* What array[key] holds (key NULL: all of it), in memory of its own; NULL with an exception. */
    DT_OWNED PyObject *(*save)(const DtAdapter *, PyObject *array, PyObject *key);
    /* Puts it back; -1 with an exception. */
    int (*restore)(const DtAdapter *, PyObject *array, PyObject *key, PyObject *saved);
    /* Would plain execution write it without a word, each element once?  No error. */
    int (*can_write)(const DtAdapter *, PyObject *array);
};

/* Registry: adapters in order of registration; the interpreter's, at most DT_MAX_ADAPTERS. */
int dt_adapter_register(const DtAdapter *adapter); /* -1 with an exception when full */
void dt_adapter_unregister(const DtAdapter *adapter);
const DtAdapter *dt_adapter_of_array(PyObject *object);    /* or NULL */
const DtAdapter *dt_adapter_of_callable(PyObject *object); /* or NULL */
bool dt_adapter_is_fixed(PyObject *object);                /* by some adapter */
const DtAdapter *dt_adapter_by_name(const char *name);     /* or NULL */
/* What a LIST_ARRAY source with these ends is (containers/list_array.c); NULL without an error: it
 * can't be made of this object. */
DT_OWNED PyObject *dt_list_array(const DtAdapter *adapter, PyObject *list, int64_t ends);
/* array_of(list, name of the adapter[, ends]), for code that reads one. */
DT_BORROWED PyObject *dt_list_array_function(void);

/* Does this array show some of the memory of this bytearray?  Of anything else: no. */
bool dt_memory_shows(const DtAdapter *adapter, PyObject *array, PyObject *bytes);

/* A bound method of an array: calling it goes to adapter->call_method. */
DtStatus dt_var_adapter_method(DtTrace *, DtArrayVar *self, PyObject *name,
                               DtVar **out) DT_MUST_CHECK;

#endif
