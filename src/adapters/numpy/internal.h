/* What the files of the NumPy adapter share.
 *
 * Words: an operand is what NumPy would convert to an array: a graph value, a
 * Python number that is known, or a symbolic one.  Python numbers are weak
 * (NEP 50): only their category takes part in the choice of a dtype.
 * Every function that emits a node gives it metadata that does not depend on
 * the example's sizes.
 */
#ifndef DT_ADAPTERS_NUMPY_INTERNAL_H
#define DT_ADAPTERS_NUMPY_INTERNAL_H

#include "adapters/numbers.h"
#include "adapters/numpy/api.h"
#include "graph/graph.h"
#include "variables/adapter.h"
#include "variables/classes/array_part.h"
#include "variables/trace.h"

#define DT_NP_MAXDIMS 32
#define DT_NP_MAXARGS 16
#define DT_NP_MAXOUTS 4 /* of a ufunc */

/* ---- Callables (ops.def, table.c, foreign.c, follow.c) --------------------------------------- */

typedef enum DtNpOp {
#define NP_UFUNC(NAME) DT_NP_##NAME,
#define NP_FUNC(NAME, HANDLER) DT_NP_##NAME,
#define NP_FUNC_AT(ID, PATH, HANDLER) DT_NP_##ID,
#define NP_CALLEE(ID, MODULE, PATH, TARGET) DT_NP_##ID,
#include "adapters/numpy/ops.def"
    DT_NP_OP_COUNT
} DtNpOp;

typedef DtStatus (*DtNpFunction)(DtTrace *, DtNpOp op, const DtArgs *, DtVar **out);
typedef DtStatus (*DtNpMethod)(DtTrace *, DtArrayVar *self, const DtArgs *, DtVar **out);
typedef DtStatus (*DtNpAttr)(DtTrace *, DtArrayVar *self, DtVar **out);

extern const DtAdapter dt_np_adapter;
extern const DtAdapter dt_np_called_adapter; /* called.c */

/* The callable of a row, or NULL when this NumPy has none (no error) or with an error set.
 * DT_BORROWED. */
PyObject *dt_np_callee(DtNpOp op);
const char *dt_np_target(DtNpOp op); /* "numpy.add" */
const char *dt_np_name(DtNpOp op);   /* "add" */
bool dt_np_is_ufunc(DtNpOp op);
/* Ufuncs without a row (foreign.c): the number of one, -1: it is not taken, -2: no memory. */
int dt_np_foreign_op(PyObject *ufunc);
bool dt_np_is_foreign(DtNpOp op);
PyObject *dt_np_foreign_callee(DtNpOp op); /* DT_BORROWED */
const char *dt_np_foreign_target(DtNpOp op);
/* What a graph calls for a ufunc: itself, or one that raises where it would warn. DT_BORROWED */
PyObject *dt_np_called_ufunc(DtNpOp op);
/* ufunc.reduce of a ufunc row, and its target; NULL with an error. */
PyObject *dt_np_reduce_callee(DtNpOp op);
const char *dt_np_reduce_target(DtNpOp op);
/* An attribute of the numpy module by name, kept for the process; NULL with an error. DT_BORROWED.
 */
PyObject *dt_np_module_attr(const char *name);

bool dt_np_owns_callable(const DtAdapter *, PyObject *object);
/* Has the callable a row of its own? */
bool dt_np_has_row(PyObject *callable);
/* Is it a function of Python without one? (follow.c) */
bool dt_np_follows(const DtAdapter *, PyObject *callable);
/* A call of a function that dispatches on __array_function__, if an argument has one. */
DtStatus dt_np_try_array_function(DtTrace *, PyObject *callable, const DtArgs *, bool *found,
                                  DtVar **out) DT_MUST_CHECK;
/* A call of such a function without a row: the function of Python behind it, if there is one. */
DtStatus dt_np_call_implementation(DtTrace *, PyObject *callable, const DtArgs *, bool *found,
                                   DtVar **out) DT_MUST_CHECK;
bool dt_np_is_fixed(const DtAdapter *, PyObject *object); /* a dtype of numbers */
DtStatus dt_np_call(const DtAdapter *, DtTrace *, PyObject *callable, const DtArgs *,
                    DtVar **out) DT_MUST_CHECK;
DtStatus dt_np_getattr(const DtAdapter *, DtTrace *, DtArrayVar *, PyObject *name,
                       DtVar **out) DT_MUST_CHECK;
DtStatus dt_np_call_method(const DtAdapter *, DtTrace *, DtArrayVar *, PyObject *name,
                           const DtArgs *, DtVar **out) DT_MUST_CHECK;

/* ---- Arrays and their guards (arrays.c, settings.c, called*.c ...) --------------------------- */

void dt_np_arrays_init(void);
bool dt_np_is_array(const DtAdapter *, PyObject *object);
char dt_np_number_kind(const DtMeta *); /* see DtAdapter */
DtStatus dt_np_build(const DtAdapter *, DtTrace *, PyObject *object, const DtSource *,
                     DtVar **out) DT_MUST_CHECK;
int dt_np_check(const DtAdapter *, const void *spec, PyObject *object);
/* Guards that NumPy's own object for its dtype stands in the input, or that it does not, as now. */
DtStatus dt_np_guard_dtype_object(DtTrace *, const DtNode *input) DT_MUST_CHECK;
/* Is it NumPy's own object for a dtype of numbers (dtype_objects.c)? */
bool dt_np_is_usual_dtype(PyObject *dtype);
/* Does that stand in the array? */
DtStatus dt_np_has_usual_dtype(DtTrace *, const DtArrayVar *array, bool *usual) DT_MUST_CHECK;
uint64_t dt_np_tell_apart(const DtAdapter *, PyObject *object);
void dt_np_print_guard(const DtAdapter *, const void *spec, DtStrbuf *);
void dt_np_print_found(const DtAdapter *, PyObject *object, DtStrbuf *);
int64_t dt_np_dim(const DtAdapter *, PyObject *object, int dim);
bool dt_np_adapter_extent(const DtAdapter *, PyObject *object, const char **low, const char **high);
DT_OWNED PyObject *dt_np_spec_to_object(const DtAdapter *, const void *spec);
DtStatus dt_np_spec_from_object(const DtAdapter *, DtTrace *, PyObject *, void **spec,
                                size_t *size) DT_MUST_CHECK;
int dt_np_check_state(const DtAdapter *, const void *spec);
/* Settings that guards compare (settings.c). */
enum { DT_NP_BUFFER_SIZE = 1, DT_NP_ERROR_MODES, DT_NP_ERROR_CALL };
long dt_np_setting(int which); /* -1 with an exception */
void dt_np_print_setting(int which, int32_t value, DtStrbuf *);
/* Guards the setting; *value, if not NULL, is what it is. */
DtStatus dt_np_guard_setting(DtTrace *, int which, long *value) DT_MUST_CHECK;
/* Guards np.getbufsize(): the bits of a node that casts inside of a loop depend on it. */
DtStatus dt_np_guard_bufsize(DtTrace *) DT_MUST_CHECK;
/* Is this dtype one that the adapter captures (booleans and numbers, no metadata)? */
bool dt_np_dtype_captured(const PyArray_Descr *descr);
/* A text that stands for a dtype, about which NumPy never warns: no list of them, and not 'a' for
 * 'S'. */
bool dt_np_names_dtype(PyObject *object);
/* Is it one of the dtypes of called.c: dates, texts, records? */
bool dt_np_dtype_called(const PyArray_Descr *descr);
/* The adapter whose arrays have this dtype; NULL: none captures them. */
const DtAdapter *dt_np_adapter_of_dtype(PyObject *dtype);
/* The one dtype that stands for all that are equal to this one, numbers in another byte order
 * apart. DT_BORROWED; NULL with an exception. */
PyObject *dt_np_one_dtype(PyObject *dtype);
/* numpy.datetime64 and numpy.timedelta64. */
bool dt_np_is_called_type(PyObject *object);
/* Does an argument, or an item of one, hold an array of them? */
DtStatus dt_np_holds_called(DtTrace *, const DtArgs *, bool *out) DT_MUST_CHECK;
/* A call of the row with such arguments; a break unless ops.def says that the function takes them.
 */
DtStatus dt_np_call_any_dtype(DtTrace *, DtNpOp op, DtNpFunction rule, const DtArgs *,
                              DtVar **out) DT_MUST_CHECK;
/* A text of a date, of which NumPy never warns. */
bool dt_np_is_plain_date(PyObject *text);
/* where(condition, x, y) of dates or texts; *done false: they are no two of one kind. */
DtStatus dt_np_where_called(DtTrace *, DtVar *const *slots, bool *done, DtVar **out) DT_MUST_CHECK;
DtStatus dt_np_make_date(DtTrace *, PyTypeObject *type, const DtArgs *, DtVar **out) DT_MUST_CHECK;
/* The exact NumPy scalar types: dtype number, or -1. */
int dt_np_scalar_type_num(const PyTypeObject *type);

/* ---- Operands and sizes (nodes.c, sizes.c, called.c, lists.c, sequence.c) -------------------- */

typedef struct DtNpOperand {
    DtOperand operand;
    DtArrayVar *array;  /* or NULL: a number, which the graph computes if it is none of these */
    const DtSym *sym;   /* a symbolic Python number, or NULL */
    PyObject *constant; /* a known Python number, or NULL */
    PyObject *dtype;    /* a dtype; for weak ones int, float or complex (the classes) */
} DtNpOperand;

static inline DtOperand
dt_np_const(PyObject *value)
{
    return (DtOperand){.kind = DT_OPERAND_CONST, .u.object = value};
}

static inline DtOperand
dt_np_node(const DtArrayVar *array)
{
    return (DtOperand){.kind = DT_OPERAND_NODE, .result = array->result, .u.node = array->node};
}

static inline bool
dt_np_is_weak(const DtNpOperand *operand)
{
    return PyType_Check(operand->dtype);
}

/* An exact ndarray, no NumPy scalar. */
static inline bool
dt_np_is_ndarray(const DtArrayVar *array)
{
    return array->meta->type == &PyArray_Type;
}

/* This adapter's array behind the tracker (realised), or NULL. */
DtArrayVar *dt_np_array_of(DtVar *var);
/* The same, or one of dates, texts or records. */
DtArrayVar *dt_np_any_array(DtVar *var);
/* *ok = false: no operand that the adapter takes. */
DtStatus dt_np_operand(DtTrace *, DtVar *var, DtNpOperand *out, bool *ok) DT_MUST_CHECK;
/* The same with arrays of dates, texts and records. */
DtStatus dt_np_any_operand(DtTrace *, DtVar *var, DtNpOperand *out, bool *ok) DT_MUST_CHECK;
/* Breaks if the operand is no date (or span of time) and `dtype`, which it is brought to, is one:
 * NumPy warns of numbers that are taken for spans of no unit. */
DtStatus dt_np_need_date(DtTrace *, const DtNpOperand *operand, PyObject *dtype) DT_MUST_CHECK;
/* All operands of an elementwise operation, those and known texts beside arrays of texts too; a
 * break naming `what` if one is none. */
DtStatus dt_np_read_operands(DtTrace *, DtVar *const *vars, uint32_t count, const char *what,
                             DtNpOperand *out) DT_MUST_CHECK;
/* An existing list of numbers, read at once (lists.c): the array of this dtype, or of the one that
 * NumPy chooses, that it makes of it; *out NULL: the items have to be read. */
DtStatus dt_np_list_array(DtTrace *, DtVar *var, PyObject *dtype, DtVar **out) DT_MUST_CHECK;
DT_OWNED PyObject *dt_np_of_items(const DtAdapter *, PyObject *const *items, Py_ssize_t count);
/* Like dt_var_realize(), but such a list stays unread, for dt_np_array_like() or dt_np_items(). */
DtStatus dt_np_realize(DtTrace *, DtVar *var, DtVar **out) DT_MUST_CHECK;
/* Whether it is such a list, or a text or bytes, that nobody has read: nothing in it is an array.
 */
DtStatus dt_np_holds_no_array(DtTrace *, DtVar *var, bool *out) DT_MUST_CHECK;
/* A list or tuple of numbers becomes the array that NumPy makes of it; others stay. */
DtStatus dt_np_array_like(DtTrace *, DtVar **var) DT_MUST_CHECK;
/* The same of a sequence or a Python number. */
DtStatus dt_np_array_or_number(DtTrace *, DtVar **var) DT_MUST_CHECK;
/* A text or bytes, of which only the type is guarded (and the length, unless any will do): an
 * operand, and what it is now; *value = NULL: it is nothing of that type (buffers.c). */
DtStatus dt_np_unread(DtTrace *, DtVar *var, PyTypeObject *type, bool any_length,
                      DtOperand *operand, PyObject **value) DT_MUST_CHECK;
/* dt_np_operand(), a break naming `what` in place of *ok = false. */
DtStatus dt_np_need_operand(DtTrace *, DtVar *var, const char *what,
                            DtNpOperand *out) DT_MUST_CHECK;
/* A size as an operand: a constant int or a symbol. */
DtStatus dt_np_size_operand(DtTrace *, const DtSym *size, DtOperand *out) DT_MUST_CHECK;
DtStatus dt_np_shape_operand(DtTrace *, const DtSym *const *shape, uint32_t ndim,
                             DtOperand *out) DT_MUST_CHECK;
DtStatus dt_np_int_operand(DtTrace *, int64_t value, DtOperand *out) DT_MUST_CHECK;
DtStatus dt_np_tuple_operand(DtTrace *, const DtOperand *items, uint32_t count,
                             DtOperand *out) DT_MUST_CHECK;
/* Guards that a weak number can be converted to `dtype` as NumPy would without an error; may turn a
 * symbol into a constant. */
DtStatus dt_np_fit_weak(DtTrace *, DtNpOperand *operand, PyObject *dtype) DT_MUST_CHECK;

/* Bounds that hold for every call (sizes are at least 2). */
void dt_np_bounds(const DtTrace *, const DtSym *sym, int64_t *low, int64_t *high);
/* Binary expression; a break if it can't be formed. */
DtStatus dt_np_expr(DtTrace *, DtSymOp op, const DtSym *a, const DtSym *b,
                    const DtSym **out) DT_MUST_CHECK;
DtStatus dt_np_expr_int(DtTrace *, DtSymOp op, const DtSym *a, int64_t b,
                        const DtSym **out) DT_MUST_CHECK;
/* Truth of a comparison, guarded unless its bounds settle it. */
DtStatus dt_np_decide(DtTrace *, DtSymOp op, const DtSym *a, const DtSym *b,
                      bool *truth) DT_MUST_CHECK;
DtStatus dt_np_decide_int(DtTrace *, DtSymOp op, const DtSym *a, int64_t b,
                          bool *truth) DT_MUST_CHECK;
/* Brings an expression into the form that DtMeta wants: 0 and 1 are constants, others guarded >= 2.
 */
DtStatus dt_np_settle_size(DtTrace *, const DtSym *sym, const DtSym **out) DT_MUST_CHECK;
/* Guards that the sizes are equal, or breaks; of two, *result is the constant one. */
DtStatus dt_np_match_size(DtTrace *, const char *function, const DtSym *size,
                          const DtSym **result) DT_MUST_CHECK;
/* a + offset and a - b, with constants gathered so that equal sizes look equal. */
DtStatus dt_np_offset(DtTrace *, const DtSym *a, int64_t offset, const DtSym **out) DT_MUST_CHECK;
DtStatus dt_np_difference(DtTrace *, const DtSym *a, const DtSym *b,
                          const DtSym **out) DT_MUST_CHECK;
DtStatus dt_np_product(DtTrace *, const DtSym *const *sizes, uint32_t count,
                       const DtSym **out) DT_MUST_CHECK;
const DtSym *dt_np_size(DtTrace *, int64_t value); /* NULL with MemoryError */
/* A Python int or symbol as a size expression; *out = NULL if it is neither. */
DtStatus dt_np_sym_of(DtTrace *, DtVar *var, const DtSym **out) DT_MUST_CHECK;
/* ---- Sizes that the graph computes (computed_sizes.c) ---------------------------------------- */

/* The size of the axis as a number: an int of the graph where it depends on data. */
DtStatus dt_np_axis_size(DtTrace *, const DtArrayVar *, uint32_t axis, DtVar **out) DT_MUST_CHECK;
/* As dt_np_sym_of(), of ints of the graph too: what they are, if they are sizes. */
DtStatus dt_np_size_of(DtTrace *, DtVar *var, const DtSym **out) DT_MUST_CHECK;
/* Is the size an int of the graph of which nothing else is known? */
bool dt_np_is_computed_int(const DtTrace *, const DtSym *size);
/* The int of the graph that a size is that depends on data; *found = false: no array has it yet. */
DtStatus dt_np_find_size(DtTrace *, const DtSym *size, DtOperand *out, bool *found) DT_MUST_CHECK;
/* The length of a slice of a size, if that or a bound is known to the graph alone; *out = NULL: it
 * is not so. */
DtStatus dt_np_computed_length(DtTrace *, const DtSym *size, DtSeqVar *slice, int64_t step,
                               const DtSym **out) DT_MUST_CHECK;
/* The array, which has more items than that along the axes of the mask, all taken together. */
DtStatus dt_np_expect_more_items(DtTrace *, DtArrayVar *, uint32_t mask, int64_t than,
                                 DtArrayVar **out) DT_MUST_CHECK;
/* The length of a range whose bounds[0] or bounds[1] the graph computes. */
DtStatus dt_np_computed_range(DtTrace *, DtVar *const *bounds, const DtSym *step,
                              const DtSym **out) DT_MUST_CHECK;
/* Arrays whose sizes have to be equal, but are only known to the graph, go through nodes that see
 * to it. */
DtStatus dt_np_agree(DtTrace *, DtNpOperand *operands, uint32_t count) DT_MUST_CHECK;
/* Is the size known to be exactly this constant? */
static inline bool
dt_np_size_is(const DtSym *size, int64_t value)
{
    return dt_sym_is_const(size) && size->hint.i == value;
}

/* ---- Metadata and nodes (shapes.c, nodes.c) -------------------------------------------------- */

/* Zeroed metadata for an ndarray of this dtype; the shape has room for ndim sizes.  NULL with
 * MemoryError. */
DtMeta *dt_np_meta(DtTrace *, PyObject *dtype, uint32_t ndim);
/* The same for another array over the memory of `base`, in no known order; `shape` may be NULL, for
 * sizes that are filled in later. */
DtMeta *dt_np_view_meta(DtTrace *, const DtMeta *base, const DtSym *const *shape, uint32_t ndim);
/* With 0 dimensions: the type becomes the dtype's scalar type, as ufuncs and reductions return it.
 */
void dt_np_meta_unwrap(DtMeta *);
/* C order from the slowest axis to the fastest, as meta->stride_order. */
DtStatus dt_np_natural_order(DtTrace *, DtMeta *meta) DT_MUST_CHECK;
/* The order of what has axis i of `base` at place[i] (-1: it is gone), as meta->stride_order; axes
 * that the base lacks are the slowest. */
DtStatus dt_np_kept_order(DtTrace *, const DtMeta *base, const int8_t *place,
                          DtMeta *meta) DT_MUST_CHECK;
/* Freshly allocated in C order. */
DtStatus dt_np_fresh_c(DtTrace *, DtMeta *) DT_MUST_CHECK;
/* Freshly allocated, axes from slowest to fastest in `order` (NULL: unknown). */
DtStatus dt_np_fresh(DtTrace *, DtMeta *, const int8_t *order) DT_MUST_CHECK;
/* Flags C and F from meta->stride_order for memory without gaps. */
void dt_np_contiguous_flags(DtMeta *);
/* Shape of `count` operands broadcast together into *ndim and shape; breaks if they don't fit. */
DtStatus dt_np_broadcast(DtTrace *, const DtNpOperand *operands, uint32_t count,
                         const DtSym **shape, uint32_t *ndim) DT_MUST_CHECK;
/* The order that NumPy's iterator gives a new result ("K"), or NULL when it is not known. */
DtStatus dt_np_k_order(DtTrace *, const DtNpOperand *operands, uint32_t count, uint32_t ndim,
                       const int8_t **order) DT_MUST_CHECK;
/* Broadcast shape, K order, fresh: metadata of an elementwise result. */
DtStatus dt_np_elementwise_meta(DtTrace *, const DtNpOperand *operands, uint32_t count,
                                PyObject *dtype, DtMeta **out) DT_MUST_CHECK;

/* Emits the node; *out is the array tracker, or a tuple of them for several results. */
DtStatus dt_np_emit(DtTrace *, const DtCallSpec *spec, DtVar **out) DT_MUST_CHECK;
/* A pure node of one result. */
DtStatus dt_np_emit_one(DtTrace *, DtNpOp op, const DtOperand *args, uint32_t nargs,
                        const DtMeta *meta, DtVar **out) DT_MUST_CHECK;
/* The same, its result a view of the first operand. */
DtStatus dt_np_emit_view(DtTrace *, DtNpOp op, const DtOperand *args, uint32_t nargs,
                         const DtMeta *meta, DtVar **out) DT_MUST_CHECK;

/* ---- Arguments (args.c) ---------------------------------------------------------------------- */

/* Puts arguments into `slots` by position (the first `npos` of the names) or by name; NULL: not
 * given.  All come back realised.  `self`, if not NULL, is the first. */
DtStatus dt_np_bind(DtTrace *, const char *function, DtVar *self, const DtArgs *args,
                    const char *const *names, uint32_t count, uint32_t npos, uint32_t required,
                    DtVar **slots) DT_MUST_CHECK;
bool dt_np_is_none(DtVar *var);    /* not given, or None */
bool dt_np_is_default(DtVar *var); /* not given, None or numpy's "no value" */
/* Breaks unless the argument was left at its default. */
DtStatus dt_np_need_default(DtTrace *, const char *function, const char *name,
                            DtVar *var) DT_MUST_CHECK;
/* Breaks unless it is this text, or not given. */
DtStatus dt_np_need_text(DtTrace *, const char *function, const char *name, DtVar *var,
                         const char *value) DT_MUST_CHECK;
/* A dtype argument: *out = NULL when it was not given. */
DtStatus dt_np_dtype_arg(DtTrace *, const char *function, DtVar *var, PyObject **out) DT_MUST_CHECK;
/* The same, of dates, texts and records too. */
DtStatus dt_np_any_dtype_arg(DtTrace *, const char *function, DtVar *var,
                             PyObject **out) DT_MUST_CHECK;
/* The same, of what items of `from` are cast to: `str` gets the length that they need. */
DtStatus dt_np_cast_dtype_arg(DtTrace *, const char *function, DtVar *var, PyObject *from,
                              PyObject **out) DT_MUST_CHECK;
/* What NumPy turns into a dtype of one item without running code of the program. */
bool dt_np_is_dtype_spec(PyObject *object);
/* A dtype argument that is one of records (records.c), as it is handed on; *dtype NULL: it is none.
 */
DtStatus dt_np_record_dtype_arg(DtTrace *, const char *function, DtVar *var, PyObject **dtype,
                                DtOperand *operand) DT_MUST_CHECK;
/* A guard on a dtype of records: data begins with the type of dtypes. */
bool dt_np_is_record_guard(const void *data);
int dt_np_check_record_dtype(const void *data, PyObject *object);
DtStatus dt_np_bool_arg(DtTrace *, const char *function, DtVar *var, bool missing,
                        bool *out) DT_MUST_CHECK;
/* An order= that is 'C' (also where it is left out) or, *fortran, 'F'; for memory in a known order
 * also what stands for that. */
DtStatus dt_np_order_arg(DtTrace *, const char *function, DtVar *var, const DtMeta *meta,
                         bool *fortran) DT_MUST_CHECK;
/* A constant int argument (a symbol is specialised). */
DtStatus dt_np_int_arg(DtTrace *, const char *function, DtVar *var, int64_t *out) DT_MUST_CHECK;
/* One axis, normalised to 0..ndim-1. */
DtStatus dt_np_axis(DtTrace *, const char *function, DtVar *var, uint32_t ndim,
                    uint32_t *out) DT_MUST_CHECK;
/* None, an int or a tuple of ints: a bit per axis; *all tells None. */
DtStatus dt_np_axes(DtTrace *, const char *function, DtVar *var, uint32_t ndim, uint32_t *mask,
                    bool *all) DT_MUST_CHECK;
/* The items of a tuple or list; left alone with *is_sequence = false if it is neither. */
DtStatus dt_np_items(DtTrace *, DtVar *var, DtVar ***items, uint32_t *count,
                     bool *is_sequence) DT_MUST_CHECK;

/* ---- Objects of the program (overrides.c) ---------------------------------------------------- */

/* Of an instance of a class of the program: *defers: operators of arrays leave the operation to it;
 * *method: its __array_ufunc__, or NULL.  Guards what the answer rests on. */
DtStatus dt_np_overrider(DtTrace *, DtVar *var, bool in_place, bool *defers,
                         DtVar **method) DT_MUST_CHECK;
/* Calls an __array_ufunc__ for ufunc(*inputs). */
DtStatus dt_np_call_override(DtTrace *, DtNpOp op, DtVar *method, DtVar *const *inputs,
                             uint32_t count, DtVar **out) DT_MUST_CHECK;
/* The same if one of the arguments has one; else *out = NULL. */
DtStatus dt_np_try_overrides(DtTrace *, DtNpOp op, const DtArgs *, DtVar **out) DT_MUST_CHECK;

/* ---- Classes derived from ndarray (parts*.c) ------------------------------------------------- */

extern DtArrayPart dt_np_part; /* `base` is set by dt_np_arrays_init() */

DtStatus dt_np_build_part(DtTrace *, PyObject *object, const DtSource *source,
                          DtVar **out) DT_MUST_CHECK; /* arrays.c */
/* The instance of such a class behind a tracker (realised), or NULL. */
DtInstanceVar *dt_np_part_of(DtVar *var);
/* Does the function of that row take them (array, asarray, asanyarray)? */
bool dt_np_takes_parts(DtNpOp op);
/* What these give for one: *out = NULL: it is none. */
DtStatus dt_np_array_of_part(DtTrace *, DtNpOp op, DtVar *object, PyObject *dtype, bool copy,
                             DtVar **out) DT_MUST_CHECK;
/* For what is nested more deeply than an array has axes: it may contain itself. */
DtStatus dt_np_break_deep(DtTrace *) DT_MUST_CHECK;
/* Is there one among the arguments, or in a list or tuple among them? */
DtStatus dt_np_holds_part(DtTrace *, const DtArgs *, bool *out) DT_MUST_CHECK;
/* ufunc(*args) with such instances. */
DtStatus dt_np_call_ufunc_of_parts(DtTrace *, DtNpOp op, const DtArgs *, DtVar **out) DT_MUST_CHECK;
/* An operator of an array on the left and such an instance on the right, whose class comes
 * first if it has a method of that name.  `swap`: the ufunc is called with the right one first. */
DtStatus dt_np_operator_of_part(DtTrace *, DtNpOp ufunc, DtVar *l, DtVar *r,
                                const char *method_name, bool swap, bool in_place, bool *done,
                                DtVar **out) DT_MUST_CHECK;
/* array.view(cls): *done false: that is no class derived from ndarray. */
DtStatus dt_np_view_as_part(DtTrace *, DtVar *from, DtArrayVar *array, DtVar *cls, bool *done,
                            DtVar **out) DT_MUST_CHECK;

/* ---- dtypes (resolve.c) ---------------------------------------------------------------------- */

/* The dtypes of the ufunc's loop for these operands: a tuple of inputs and outputs, kept for the
 * process. Breaks with NumPy's own message when there is none. */
DtStatus dt_np_resolve(DtTrace *, DtNpOp op, const DtNpOperand *operands, PyObject *dtype,
                       PyObject *casting, PyObject **dtypes) DT_MUST_CHECK;
/* The result dtype of ufunc.reduce over `input`; dtype may be NULL. */
DtStatus dt_np_resolve_reduce(DtTrace *, DtNpOp op, PyObject *input, PyObject *dtype,
                              PyObject **out) DT_MUST_CHECK;
/* np.result_type of the operands. */
DtStatus dt_np_result_type(DtTrace *, const DtNpOperand *operands, uint32_t count,
                           PyObject **out) DT_MUST_CHECK;
/* The dtype object of a builtin number; kept for the process, NULL with an error. DT_BORROWED. */
PyObject *dt_np_dtype(int type_num);

static inline PyArray_Descr *
dt_np_descr(PyObject *dtype)
{
    return (PyArray_Descr *)dtype;
}

/* ---- Handlers -------------------------------------------------------------------------------- */

DtStatus dt_np_binary(const DtAdapter *, DtTrace *, DtBinaryOp, DtVar *l, DtVar *r,
                      DtVar **out) DT_MUST_CHECK;
DtStatus dt_np_compare(const DtAdapter *, DtTrace *, int op, DtVar *l, DtVar *r,
                       DtVar **out) DT_MUST_CHECK;
DtStatus dt_np_unary(const DtAdapter *, DtTrace *, const char *op, DtArrayVar *,
                     DtVar **out) DT_MUST_CHECK;
DtStatus dt_np_truth(const DtAdapter *, DtTrace *, DtArrayVar *, bool *out) DT_MUST_CHECK;
/* Applies a ufunc to operands (weak ones are fitted). */
DtStatus dt_np_apply(DtTrace *, DtNpOp op, DtNpOperand *operands, uint32_t count,
                     DtVar **out) DT_MUST_CHECK;
/* The same with trackers; at most 4. */
DtStatus dt_np_apply_vars(DtTrace *, DtNpOp op, DtVar *const *vars, uint32_t count,
                          DtVar **out) DT_MUST_CHECK;
DtStatus dt_np_call_ufunc(DtTrace *, DtNpOp op, const DtArgs *, DtVar **out) DT_MUST_CHECK;
DtStatus dt_np_call_reduce(DtTrace *, DtNpOp op, PyObject *callable, const DtArgs *,
                           DtVar **out) DT_MUST_CHECK;
DtStatus dt_np_fold(DtTrace *, PyObject *builtin, DtArrayVar *array,
                    DtVar **out) DT_MUST_CHECK; /* the slot */
DtStatus dt_np_matmul(DtTrace *, DtNpOp op, DtVar *l, DtVar *r, DtVar **out) DT_MUST_CHECK;
/* Reduction without dtype and out: shared with mean, var and ptp. */
DtStatus dt_np_reduce(DtTrace *, DtNpOp op, DtArrayVar *array, uint32_t mask, bool all,
                      PyObject *dtype, bool keepdims, DtVar **out) DT_MUST_CHECK;
/* array.astype(dtype), or the array itself when it has that dtype. */
DtStatus dt_np_cast(DtTrace *, DtArrayVar *array, PyObject *dtype, DtVar **out) DT_MUST_CHECK;
/* A call of a NumPy scalar type. */
DtStatus dt_np_call_scalar_type(DtTrace *, PyTypeObject *type, const DtArgs *,
                                DtVar **out) DT_MUST_CHECK;
DtStatus dt_np_length(const DtAdapter *, DtTrace *, DtArrayVar *, DtVar **out) DT_MUST_CHECK;
DtStatus dt_np_subscript(const DtAdapter *, DtTrace *, DtArrayVar *, DtVar *key,
                         DtVar **out) DT_MUST_CHECK;
DtStatus dt_np_ass_subscript(const DtAdapter *, DtTrace *, DtArrayVar *, DtVar *key,
                             DtVar *value) DT_MUST_CHECK;
DtStatus dt_np_iter(const DtAdapter *, DtTrace *, DtArrayVar *, DtVar **out) DT_MUST_CHECK;
DtStatus dt_np_setattr(const DtAdapter *, DtTrace *, DtArrayVar *, PyObject *name,
                       DtVar *value) DT_MUST_CHECK;
DtStatus dt_np_contains(const DtAdapter *, DtTrace *, DtArrayVar *, DtVar *item,
                        DtVar **out) DT_MUST_CHECK;
/* Calls what stands for the method or attribute `name` (polyfills/numpy_objects.py), with self
 * before `args`; breaks with `id`, naming `what` it is, if nothing does. */
DtStatus dt_np_call_followed(DtTrace *, DtArrayVar *self, PyObject *name, const DtArgs *args,
                             DtBreakId id, const char *what, DtVar **out) DT_MUST_CHECK;
/* What an index names. */
typedef struct DtNpRegion {
    bool advanced; /* by index arrays: nothing else is known */
    bool item;     /* one item, not a view of no dimensions */
    uint32_t ndim;
    const DtSym *shape[DT_NP_MAXDIMS];
} DtNpRegion;
/* `key` is realised.  Guards what the shape rests on. */
DtStatus dt_np_region(DtTrace *, DtArrayVar *self, DtVar *key, DtNpRegion *out) DT_MUST_CHECK;
/* Breaks unless there are items: of index arrays that are out of bounds NumPy only warns else. */
DtStatus dt_np_need_items(DtTrace *, const DtMeta *meta) DT_MUST_CHECK;
/* array[key] = array[key], a view: what x[1:] += 1 does after the addition. */
bool dt_np_is_put_back(const DtArrayVar *self, const DtOperand *key, const DtArrayVar *value);
/* Breaks unless the array's memory is the graph's own or an input's, and may be written. */
DtStatus dt_np_need_writable(DtTrace *, const DtArrayVar *self, const char *what) DT_MUST_CHECK;
/* self[...] = value: the result of an operation that fits into `self` (up to broadcasting). */
DtStatus dt_np_write_all(DtTrace *, DtArrayVar *self, DtVar *value, const char *what) DT_MUST_CHECK;
/* The result *out of a function goes into out=`target` (None: it stays), which is then *out. */
DtStatus dt_np_put_into(DtTrace *, DtVar *target, const char *what, DtVar **out) DT_MUST_CHECK;
/* A call that writes the memory of operand `target` (an array) and gives nothing. */
DtStatus dt_np_emit_write(DtTrace *, DtNpOp op, const DtOperand *args, uint32_t nargs,
                          PyObject *kwnames, uint32_t target) DT_MUST_CHECK;
/* ufunc.accumulate, outer, reduceat, and reduce with initial= or where=. */
/* ufunc.outer() of two arrays: the ufunc of the first with an axis of one item for each of the
 * second; of at most DT_NP_MAXDIMS dimensions together. */
DtStatus dt_np_outer(DtTrace *, DtNpOp op, DtArrayVar *const *arrays, DtVar **out) DT_MUST_CHECK;
/* The function of that name if a call with these arguments takes a dry run (NP_DRY_WITH), or -1. */
int dt_np_dry_form(const char *name, const DtArgs *);
DtStatus dt_np_call_ufunc_method(DtTrace *, DtNpOp op, const char *method, PyObject *callable,
                                 const DtArgs *, DtVar **out) DT_MUST_CHECK;
/* numpy.sum and the like with initial= or where=; `self`: NULL, or of a method. */
DtStatus dt_np_call_dry(DtTrace *, DtNpOp op, DtVar *self, const DtArgs *,
                        DtVar **out) DT_MUST_CHECK;
/* ufunc.at. */
DtStatus dt_np_call_at(DtTrace *, DtNpOp op, PyObject *callable, const DtArgs *,
                       DtVar **out) DT_MUST_CHECK;
DT_OWNED PyObject *dt_np_save(const DtAdapter *, PyObject *array, PyObject *key);
int dt_np_restore(const DtAdapter *, PyObject *array, PyObject *key, PyObject *saved);
int dt_np_can_write(const DtAdapter *, PyObject *array);
/* A shape argument: an int or a sequence of them. `shape` has room for DT_NP_MAXDIMS. */
DtStatus dt_np_shape_arg(DtTrace *, const char *function, DtVar *var, const DtSym **shape,
                         uint32_t *ndim) DT_MUST_CHECK;
/* Metadata of a new array in C order. */
DtStatus dt_np_new_meta(DtTrace *, PyObject *dtype, const DtSym *const *shape, uint32_t ndim,
                        DtMeta **out) DT_MUST_CHECK;
/* The dtype that NumPy gives to a Python number that stands alone; NULL with an error. */
PyObject *dt_np_strong_dtype(PyObject *dtype);
/* Would a conversion warn that it drops imaginary parts? */
bool dt_np_drops_imaginary(PyObject *from, PyObject *to);
/* array.reshape(shape); `shape` has no -1. */
DtStatus dt_np_reshape(DtTrace *, DtArrayVar *, const DtSym *const *shape, uint32_t ndim,
                       DtVar **out) DT_MUST_CHECK;
DtStatus dt_np_transpose(DtTrace *, DtArrayVar *, const int8_t *axes, DtVar **out) DT_MUST_CHECK;
DtStatus dt_np_transpose_reversed(DtTrace *, DtArrayVar *, DtVar **out) DT_MUST_CHECK;
/* Breaks for a NumPy scalar. */
DtStatus dt_np_need_ndarray(DtTrace *, const DtArrayVar *self, const char *what) DT_MUST_CHECK;
/* What every view of an array has of its layout. */
static inline uint32_t
dt_np_shared_layout(const DtMeta *meta)
{
    return meta->layout & (DT_LAYOUT_ALIGNED | DT_LAYOUT_NATIVE | DT_LAYOUT_NEGATIVE);
}

#define NP_FUNC(NAME, HANDLER)                                                                     \
    DtStatus HANDLER(DtTrace *, DtNpOp, const DtArgs *, DtVar **) DT_MUST_CHECK;
#define NP_FUNC_AT(ID, PATH, HANDLER) NP_FUNC(ID, HANDLER)
#define NP_METHOD(NAME, HANDLER)                                                                   \
    DtStatus HANDLER(DtTrace *, DtArrayVar *, const DtArgs *, DtVar **) DT_MUST_CHECK;
#define NP_ATTR(NAME, HANDLER) DtStatus HANDLER(DtTrace *, DtArrayVar *, DtVar **) DT_MUST_CHECK;
#include "adapters/numpy/ops.def"

#endif
