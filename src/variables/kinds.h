/* What the files of variables/ share: one type per kind, making trackers, and helpers that several
 * kinds need.  Of the layers above only those look in here who make trackers themselves.
 */
#ifndef DT_VARIABLES_KINDS_H
#define DT_VARIABLES_KINDS_H

#include "variables/adapter.h"
#include "variables/classes/payloads.h"
#include "variables/trace.h"

/* The types as written in v_*.c, slots not inherited yet; trackers use dt_var_type_of(). */
#define KIND(NAME, TEXT, MUTATION) extern const DtVarType dt_kind_type_##NAME;
#include "variables/kinds.def"
#undef KIND

/* Slots that any kind falls back on. */
extern const DtVarType dt_kind_base;

/* A zeroed tracker of `size` bytes; with a source it gets the kind's mutation type of an input.
 * NULL with MemoryError. */
void *dt_kinds_new(DtTrace *trace, DtKind kind, size_t size, const DtSource *source) DT_MUST_CHECK;
#define DT_KINDS_NEW(trace, NAME, type, source)                                                    \
    ((type *)dt_kinds_new((trace), DT_KIND_##NAME, sizeof(type), (source)))
size_t dt_kinds_size(DtKind kind); /* of the payload struct */

static inline bool
dt_kinds_is(DtVar *var, DtKind kind)
{
    return dt_var_peek(var)->type->kind == kind;
}

/* Raises the builtin exception of that name in the traced program.  The text is for messages only:
 * it is not vouched for, so a program that catches the exception and looks at it breaks. dt_raise()
 * is for texts that are exactly CPython's. */
DtStatus dt_kinds_raise(DtTrace *trace, const char *exception, const char *format, ...)
    DT_PRINTF(3, 4);
const char *dt_kinds_type_name(DtTrace *trace, DtVar *var); /* of the Python type, for messages */
const char *dt_kinds_text(PyObject *str);                   /* UTF-8 or "?" */
bool dt_kinds_is_among(PyObject *str, const char *const *names); /* the last one is NULL */

/* Rows. */
const DtMethodRow *dt_kinds_find_method(const DtVarType *type, PyObject *name);
bool dt_kinds_row_fits(const DtMethodRow *row, const DtArgs *args);
DtStatus dt_kinds_call_row(DtTrace *trace, DtVar *self, const DtMethodRow *row, const DtArgs *args,
                           DtVar **out) DT_MUST_CHECK;
DtStatus dt_kinds_method_row(DtTrace *trace, DtVar *self, const DtMethodRow *row, PyObject *name,
                             DtVar **out) DT_MUST_CHECK;

/* The TypeError of a call that does not fit, raised by the real method, or by `self` itself if it
 * is a function or class, on stand-ins. */
DtStatus dt_kinds_mismatch(DtTrace *trace, DtVar *self, const char *name,
                           const DtArgs *args) DT_MUST_CHECK;
/* The wrapper that the builtin type has for a special method which the slots can answer, or NULL
 * (slot_methods.c). */
DT_BORROWED PyObject *dt_slot_method_find(PyTypeObject *type, PyObject *name);
/* hash(var) and reversed(var) (builtins.c). */
DtStatus dt_builtin_hash(DtTrace *trace, DtVar *var, DtVar **out) DT_MUST_CHECK;
DtStatus dt_builtin_reversed(DtTrace *trace, DtVar *var, DtVar **out) DT_MUST_CHECK;

/* Before an existing or new mutable tracker changes. */
DtStatus dt_kinds_will_change(DtTrace *trace, DtVar *var) DT_MUST_CHECK;

/* Emits the source if there is one and the tracker still equals what it reads; *done tells. */
DtStatus dt_kinds_load_source(DtCodegen *codegen, DtVar *var, bool *done) DT_MUST_CHECK;

/* ---- memory that two show (shown_memory.c) ---- */
/* An existing array, or bytearray, is about to be built: a break if it shows the memory of one of
 * the other sort that was built; guards for later calls. */
DtStatus dt_memory_of_array(DtTrace *, const DtAdapter *, PyObject *array,
                            const DtSource *) DT_MUST_CHECK;
DtStatus dt_memory_of_bytes(DtTrace *, PyObject *bytes, const DtSource *) DT_MUST_CHECK;

/* ---- building ---- */
/* Makes the tracker of one kind of object.  `trusted` as in dt_build_trusted(): no guard on the
 * object itself is needed. */
typedef DtStatus (*DtBuilder)(DtTrace *trace, PyObject *object, const DtSource *source,
                              bool trusted, DtVar **out);
DtStatus dt_constant_build(DtTrace *, PyObject *, const DtSource *, bool, DtVar **);
DtStatus dt_symbolic_build(DtTrace *, PyObject *, const DtSource *, bool,
                           DtVar **); /* int, float */
DtStatus dt_tuple_build(DtTrace *, PyObject *, const DtSource *, bool, DtVar **);
/* Named tuples are tuple trackers of another class (v_namedtuple.c). */
DtStatus dt_namedtuple_build(DtTrace *, PyObject *, const DtSource *, bool, DtVar **);
bool dt_namedtuple_is_class(PyTypeObject *cls);
DtStatus dt_namedtuple_getattr(DtTrace *, DtSeqVar *self, PyObject *name,
                               DtVar **out) DT_MUST_CHECK;
/* Whether `found` in a class is the descriptor of a field, and of which. */
bool dt_namedtuple_field(PyObject *found, int64_t *index);
/* If `found` is the __new__ that namedtuple() made: the plain tuple of the fields; else *done
 * false. The first argument is the class. */
DtStatus dt_namedtuple_new(DtTrace *, PyTypeObject *type, PyObject *found, const DtArgs *args,
                           bool *done, DtVar **out) DT_MUST_CHECK;
DtStatus dt_namedtuple_reconstruct(DtCodegen *, DtSeqVar *self) DT_MUST_CHECK;
DtStatus dt_list_build(DtTrace *, PyObject *, const DtSource *, bool, DtVar **);
/* The contents of a deque, whose type is known. */
DtStatus dt_growing_list_of_deque(DtTrace *trace, PyObject *deque, const DtSource *source,
                                  PyTypeObject *layout, DtVar **out) DT_MUST_CHECK;
/* Replaces items [at, at + removed) by `added` ones; the journal knows already. */
DtStatus dt_list_splice(DtTrace *trace, DtSeqVar *self, int64_t at, int64_t removed,
                        DtVar *const *added, uint32_t nadded) DT_MUST_CHECK;
/* list.extend() */
DtStatus dt_list_extend(DtTrace *trace, DtSeqVar *self, DtVar *iterable) DT_MUST_CHECK;
/* Guards that it is a list, if it is one that nobody has read. */
DtStatus dt_growing_list_guard(DtTrace *trace, DtVar *var) DT_MUST_CHECK;
/* The item of an existing list or tuple at a number that is another one in each call (picked.c);
 * *out NULL: which one it is has to be known. */
DtStatus dt_picked_item(DtTrace *trace, DtSeqVar *self, DtVar *key, DtVar **out) DT_MUST_CHECK;
/* The same of what was there before, from the start; the trace may have changed the list. */
DtStatus dt_picked_before(DtTrace *trace, DtSeqVar *self, const DtSym *at,
                          DtVar **out) DT_MUST_CHECK;
/* Items of a list of any length at numbers that vary (stored_items.c): the one that is there now;
 * *out NULL: the list has to be read.  Storing one; *done false: the same. */
DtStatus dt_stored_find(DtTrace *trace, DtGrowingListVar *self, DtVar *key,
                        DtVar **out) DT_MUST_CHECK;
DtStatus dt_stored_put(DtTrace *trace, DtGrowingListVar *self, DtVar *key, DtVar *value,
                       bool *done) DT_MUST_CHECK;
DtStatus dt_stored_children(DtTrace *trace, DtVar *var,
                            DtStatus (*visit)(DtTrace *, DtVar *, void *), void *arg) DT_MUST_CHECK;
/* Puts them into the items of before, and `old` has what was there; the numbers are specialised. */
DtStatus dt_stored_settle(DtTrace *trace, DtGrowingListVar *self, DtVar **old,
                          DtVar **items) DT_MUST_CHECK;
/* Whether it may have any length: numbers may be symbols, and it can be read in each call. */
bool dt_growing_list_is_free(const DtTrace *trace, const DtGrowingListVar *self);
/* Whether its length is another one in each call, as far as is known. */
bool dt_growing_list_varies(DtTrace *trace, DtGrowingListVar *self);
/* Whether it can be read as one array in each call (list_array.c).  The array that the adapter
 * makes of the items of before that nobody asked for, which no one else may get; *out NULL: they
 * have to be read. */
bool dt_growing_list_may_be_array(DtTrace *trace, DtGrowingListVar *self);
DtStatus dt_growing_list_array(DtTrace *trace, DtGrowingListVar *self, const DtAdapter *adapter,
                               DtVar **out) DT_MUST_CHECK;
/* Makes a DT_KIND_LIST of it. */
DtStatus dt_growing_list_read(DtTrace *trace, DtVar *var) DT_MUST_CHECK;
/* Those of its items of before that were asked for, from the start on: `first` and `last` of them.
 */
DtStatus dt_growing_list_before(DtTrace *trace, DtGrowingListVar *self,
                                DtVar ***items) DT_MUST_CHECK;
DtStatus dt_dict_build(DtTrace *, PyObject *, const DtSource *, bool, DtVar **);
/* The entries of an existing dict, whose keys it guards. */
DtStatus dt_dict_fill(DtTrace *trace, DtDictVar *self) DT_MUST_CHECK;
/* Adds a key that is not in the dict, or takes one out, without the journal. */
DtStatus dt_dict_append(DtTrace *trace, DtDictVar *dict, DtDictEntry *entry,
                        DtVar *value) DT_MUST_CHECK;
void dt_dict_drop(DtDictVar *dict, DtDictEntry *entry);
/* Guards that it is a dict, if it is one that nobody has read; makes a DT_KIND_DICT of it. */
DtStatus dt_growing_dict_guard(DtTrace *trace, DtVar *var) DT_MUST_CHECK;
DtStatus dt_growing_dict_read(DtTrace *trace, DtVar *var) DT_MUST_CHECK;
/* A key that is another one in each call (picked.c): its source, and what it is now; *out NULL: it
 * has to be known. */
DtStatus dt_picked_key(DtTrace *trace, DtVar *key, const DtSource **out,
                       PyObject **now) DT_MUST_CHECK;
/* Whether it is a number that may be another one in the next call, or a tuple with such a number.
 */
DtStatus dt_picked_varies(DtTrace *trace, DtVar *key, bool *varies) DT_MUST_CHECK;
DtStatus dt_set_build(DtTrace *, PyObject *, const DtSource *, bool, DtVar **);
/* The elements of an instance of a subclass of set, whose type is guarded apart. */
DtStatus dt_set_build_part(DtTrace *, PyObject *, const DtSource *, DtVar **) DT_MUST_CHECK;
DtStatus dt_bytearray_build(DtTrace *, PyObject *, const DtSource *, bool, DtVar **);
DtStatus dt_range_build(DtTrace *, PyObject *, const DtSource *, bool, DtVar **);
DtStatus dt_slice_build(DtTrace *, PyObject *, const DtSource *, bool, DtVar **);
DtStatus dt_cell_build(DtTrace *, PyObject *, const DtSource *, bool, DtVar **);
DtStatus dt_function_build(DtTrace *, PyObject *, const DtSource *, bool, DtVar **);
DtStatus dt_method_build(DtTrace *, PyObject *, const DtSource *, bool, DtVar **);
DtStatus dt_builtin_build(DtTrace *, PyObject *, const DtSource *, bool, DtVar **);
DtStatus dt_class_build(DtTrace *, PyObject *, const DtSource *, bool, DtVar **);
DtStatus dt_instance_build(DtTrace *, PyObject *, const DtSource *, bool, DtVar **);
DtStatus dt_exception_build(DtTrace *, PyObject *, const DtSource *, bool, DtVar **);
DtStatus dt_traceback_build(DtTrace *, PyObject *, const DtSource *, bool, DtVar **);
DtStatus dt_module_build(DtTrace *, PyObject *, const DtSource *, bool, DtVar **);
DtStatus dt_partial_build(DtTrace *, PyObject *, const DtSource *, bool, DtVar **);
DtStatus dt_adapter_callable_build(DtTrace *, PyObject *, const DtSource *, bool, DtVar **);
/* Calls a function that lru_cache() made before the trace: a hit, or a break. */
DtStatus dt_cached_call(DtTrace *trace, DtVar *self, const DtArgs *args, DtVar **out) DT_MUST_CHECK;
DtStatus dt_existing_count_build(DtTrace *, PyObject *, const DtSource *, bool, DtVar **);
DtStatus dt_existing_sequence_build(DtTrace *, PyObject *, const DtSource *, bool, DtVar **);
DtStatus dt_mapping_proxy_build(DtTrace *, PyObject *, const DtSource *, bool, DtVar **);
DtStatus dt_weakref_build(DtTrace *, PyObject *, const DtSource *, bool, DtVar **);
DtStatus dt_stranger_build(DtTrace *, PyObject *, const DtSource *, bool, DtVar **);
DtStatus dt_opaque_build(DtTrace *, PyObject *, const DtSource *, bool, DtVar **);
/* The identity guard, unless trusted or the source is the object itself. */
DtStatus dt_build_guard_identity(DtTrace *trace, PyObject *object, const DtSource *source,
                                 bool trusted) DT_MUST_CHECK;
/* Whether what this source reads rarely changes between calls (globals, attributes of modules and
 * classes, defaults): numbers read from it are constants rather than symbols. */
bool dt_build_is_static(const DtTrace *trace, const DtSource *source);
/* Whether the type was made by a class statement on nothing but object: instances are dict and
 * slots. */
bool dt_build_is_user_class(PyTypeObject *type);
/* Whether a class statement made the type itself. */
bool dt_build_is_from_statement(PyTypeObject *type);
/* The same, or a class of C that adds nothing to instances: typing.Generic. */
bool dt_build_is_like_statement(PyTypeObject *type);
/* dt_build_is_user_class() on nothing but type. */
bool dt_build_is_metaclass(PyTypeObject *type);
/* The builtin type that gives instances of a class made by a class statement their layout: object,
 * or one whose part is an instance's payload (payload.c).  NULL: the class is of another make. */
PyTypeObject *dt_build_layout(PyTypeObject *cls);
/* Whether a class statement made the type, on whatever bases. */
bool dt_build_has_class_statement(PyTypeObject *type);
/* Has an object of this kind one tracker, however often it is read? */
bool dt_build_is_shared(DtKind kind);
/* A tracker of a known object that no source reads: it needs no guard. */
DtStatus dt_build_known(DtTrace *trace, PyObject *object, DtVar **out) DT_MUST_CHECK;
/* dt_var_build() for one who does not look into it: a list may be left unread. */
DtStatus dt_build_receiver(DtTrace *trace, PyObject *object, const DtSource *source,
                           DtVar **out) DT_MUST_CHECK;

/* ---- constants ---- */
/* Whether a NaN is in it, whose hash and equality in a container come from its address. */
bool dt_constant_has_nan(PyObject *value);
bool
dt_constant_is_safe(PyObject *value); /* exact builtin immutable type: its slots run no user code */
DtStatus dt_constant_binary(DtTrace *trace, DtBinaryOp op, PyObject *left, PyObject *right,
                            DtVar **out) DT_MUST_CHECK;
/* The operator on real objects: a new reference or NULL with its exception. */
DT_OWNED PyObject *dt_constant_operate(DtBinaryOp op, PyObject *left, PyObject *right);
DtStatus dt_constant_compare(DtTrace *trace, int op, PyObject *left, PyObject *right,
                             DtVar **out) DT_MUST_CHECK;
/* A new reference's tracker: constants become constants, tuples trackers of their items. */
DtStatus dt_constant_wrap_take(DtTrace *trace, DT_STEALS PyObject *value,
                               DtVar **out) DT_MUST_CHECK;
/* An index (int, bool, symbol: specialised); *ok false if it is none. */
DtStatus dt_constant_index(DtTrace *trace, DtVar *var, int64_t *out, bool *ok) DT_MUST_CHECK;

/* Whether a sequence times an int, or two ints, would be too large to fold. */
bool dt_constant_is_large_product(PyObject *left, PyObject *right);
/* A new bytearray of these contents; the real one that a tracker stands for; a method of it. */
DtStatus dt_bytearray_wrap(DtTrace *trace, PyObject *real, DtVar **out) DT_MUST_CHECK;
DT_OWNED PyObject *dt_bytearray_real(DtVar *self);
DtStatus dt_bytearray_call(DtTrace *trace, DtVar *self, PyObject *descriptor, const DtArgs *args,
                           DtVar **out) DT_MUST_CHECK;
/* A class method of a builtin type, bound to it. */
DtStatus dt_builtin_class_method(DtTrace *trace, PyTypeObject *type, PyObject *name,
                                 DtVar **out) DT_MUST_CHECK;

/* ---- symbols ---- */
/* Was an earlier version compiled for another value of what the source reads? */
/* Emits an operation; emit() leaves the value of one of its one or two operands. */
DtStatus dt_symbolic_emit(DtCodegen *codegen, int op,
                          DtStatus (*emit)(DtCodegen *codegen, const void *operand), const void *a,
                          const void *b) DT_MUST_CHECK;
bool dt_symbolic_has_varied(DtTrace *trace, const DtSource *source);
/* Whether the source is in a set of printed ones; NULL: an empty set. */
bool dt_symbolic_is_among(PyObject *set, const DtSource *source);
/* The expression of a symbolic number or of an int, float or bool constant; NULL if it has none. */
const DtSym *dt_symbolic_of(DtTrace *trace, DtVar *var);

/* A function of a symbolic number, under a guard that it has a value.  *out is NULL when `arg` is
 * no such number or this has no such form. */
DtStatus dt_math_symbolic(DtTrace *trace, DtSymOp op, DtVar *arg, DtVar **out) DT_MUST_CHECK;
/* That guard: plain execution raises where the number has no value. */
DtStatus dt_math_require(DtTrace *trace, const DtSym *sym) DT_MUST_CHECK;

/* The function of Python that a symbolic operation is; borrowed, kept since start-up. */
PyObject *dt_math_function(DtSymOp op);
int dt_math_init(void); /* -1 with an exception */

/* ---- sequences ---- */
DtStatus dt_sequence_new(DtTrace *trace, DtKind kind, DtVar *const *items, uint32_t count,
                         DtVar **out) DT_MUST_CHECK;
/* Its items `times` over; *items NULL: that is no number of times. */
DtStatus dt_sequence_repeated(DtTrace *trace, DtSeqVar *self, DtVar *times, DtVar ***items,
                              uint32_t *total) DT_MUST_CHECK;
DtStatus dt_sequence_length(DtTrace *trace, DtVar *self, DtVar **out) DT_MUST_CHECK;
DtStatus dt_sequence_compare(DtTrace *trace, int op, DtSeqVar *left, DtSeqVar *right,
                             DtVar **out) DT_MUST_CHECK;
DtStatus dt_sequence_subscript(DtTrace *trace, DtVar *self, DtVar *key, DtVar **out) DT_MUST_CHECK;
DtStatus dt_sequence_contains(DtTrace *trace, DtVar *self, DtVar *item, DtVar **out) DT_MUST_CHECK;
DtStatus dt_sequence_index(DtTrace *trace, DtVar *self, const DtArgs *args,
                           DtVar **out) DT_MUST_CHECK;
DtStatus dt_sequence_count(DtTrace *trace, DtVar *self, const DtArgs *args,
                           DtVar **out) DT_MUST_CHECK;
DtStatus dt_sequence_children(DtTrace *trace, DtVar *self,
                              DtStatus (*visit)(DtTrace *, DtVar *, void *),
                              void *arg) DT_MUST_CHECK;
void dt_sequence_repr(DtVar *self, DtStrbuf *buf);
/* A slice tracker's concrete bounds for a sequence of `length` items. */
DtStatus dt_slice_bounds(DtTrace *trace, DtSeqVar *slice, int64_t length, int64_t *start,
                         int64_t *stop, int64_t *step, int64_t *count) DT_MUST_CHECK;
/* Sorts items in place, stably; `key` may be NULL. */
DtStatus dt_list_sort(DtTrace *trace, DtVar **items, uint32_t count, DtVar *key,
                      bool descending) DT_MUST_CHECK;
/* The same by any keys, one per item, whose "<" is followed (sort.c). */
DtStatus dt_sort_follow(DtTrace *trace, DtVar **items, DtVar **keys, uint32_t count,
                        bool descending) DT_MUST_CHECK;
/* What `reverse=` of a sort says: a bool or an int; others break.  NULL: it was not given. */
DtStatus dt_list_descending(DtTrace *trace, DtVar *reverse, bool *out) DT_MUST_CHECK;
/* Equality of two trackers as `==` decides it, identity first; specialises. */
DtStatus dt_sequence_item_equal(DtTrace *trace, DtVar *left, DtVar *right, bool *out) DT_MUST_CHECK;

/* ---- dicts and sets ---- */
/* The entry's key for a tracker; TypeError (break) for unhashable ones, break for unknown. */
DtStatus dt_dict_key(DtTrace *trace, DtVar *var, DtDictEntry *out) DT_MUST_CHECK;
/* Whether hashing or comparing an existing object would run Python code. */
bool dt_dict_is_followed(PyObject *key);
/* The entry of an equal key, or NULL.  Follows __eq__ of instances whose hashes are equal. */
DtStatus dt_dict_find(DtTrace *trace, DtDictVar *dict, const DtDictEntry *key,
                      DtDictEntry **out) DT_MUST_CHECK;
DtStatus dt_dict_store(DtTrace *trace, DtDictVar *dict, DtVar *key, DtVar *value) DT_MUST_CHECK;
extern const DtMethodRow dt_dict_fromkeys_row;
DtStatus dt_dict_new(DtTrace *trace, DtDictVar **out) DT_MUST_CHECK;
DtStatus dt_dict_view(DtTrace *trace, DtDictVar *dict, int what, DtVar **out) DT_MUST_CHECK;
/* Copies entries of a mapping, or of an iterable of pairs, into `dict`. */
DtStatus dt_dict_update_from(DtTrace *trace, DtDictVar *dict, DtVar *other) DT_MUST_CHECK;
/* The same of the arguments of dict() or update(): at most one such, and keywords. */
DtStatus dt_dict_update_args(DtTrace *trace, DtDictVar *dict, const DtArgs *args) DT_MUST_CHECK;
/* Copies what a mapping holds: a dict, or an instance with a method keys().  *done false: it is
 * none. */
DtStatus dt_dict_merge(DtTrace *trace, DtDictVar *dict, DtVar *mapping, bool *done) DT_MUST_CHECK;
DtStatus dt_set_new(DtTrace *trace, PyTypeObject *cls, DtDictVar **out) DT_MUST_CHECK;
DtStatus dt_set_make(DtTrace *trace, PyTypeObject *cls, DtVar *const *items, uint32_t count,
                     DtVar **out) DT_MUST_CHECK;
/* set(iterable) or frozenset(iterable). */
DtStatus dt_set_from(DtTrace *trace, PyTypeObject *cls, DtVar *iterable, DtVar **out) DT_MUST_CHECK;
/* A new set or frozenset with the elements of a real one, all constants. */
DtStatus dt_set_wrap(DtTrace *trace, PyObject *set, DtVar **out) DT_MUST_CHECK;
/* A real set in which the elements lie as in the program's; *out NULL: that is not known. */
DtStatus dt_set_fold(DtTrace *trace, DtDictVar *set, DT_OWNED PyObject **out) DT_MUST_CHECK;

/* ---- collecting (collect.c) ---- */
/* What a __len__ of Python has returned, as len() gives it; raises what len() raises. */
DtStatus dt_collect_length(DtTrace *trace, DtVar *result, DtVar **out) DT_MUST_CHECK;
/* Follows what asking an object for a length hint runs; the hint itself is of no interest. */
DtStatus dt_collect_hint(DtTrace *trace, DtVar *var) DT_MUST_CHECK;
/* dt_var_unpack() as list(iterable) does it: with the length hint of the iterable. */
DtStatus dt_collect_list(DtTrace *trace, DtVar *iterable, DtVar ***items,
                         uint32_t *count) DT_MUST_CHECK;
/* As C does it where it wants a sequence: a list or tuple as it is, else list(iter(iterable)). */
DtStatus dt_collect_fast(DtTrace *trace, DtVar *iterable, DtVar ***items,
                         uint32_t *count) DT_MUST_CHECK;
/* What an iterator gives from here on. */
DtStatus dt_collect_rest(DtTrace *trace, DtVar *iterator, DtVar ***items,
                         uint32_t *count) DT_MUST_CHECK;
/* dt_var_iternext(), with a break once `done` steps have reached config.unroll_limit. */
DtStatus dt_collect_step(DtTrace *trace, DtVar *iterator, uint32_t done, DtVar **out) DT_MUST_CHECK;

/* ---- proxies, namespaces, weak references ---- */
/* cls.__dict__ (v_mapping_proxy.c); of a class that the trace has not written. */
/* A new one of a dict. */
DtStatus dt_mapping_proxy_of_dict(DtTrace *trace, DtVar *dict, DtVar **out) DT_MUST_CHECK;
DtStatus dt_mapping_proxy_of_class(DtTrace *trace, DtVar *cls, DtVar **out) DT_MUST_CHECK;
/* The dict of names of a module's attributes, or (module NULL) of globals: those of an active
 * frame, or of the function that the source (or NULL) reads. */
/* Does the dict hold the names of a module, or of functions that are followed?  Global variables
 * and attributes of modules are kept by name, so that a tracker of such a dict would not see them;
 * the keys of dicts are guarded, so no module's dict takes the place of another dict in a later
 * call. */
bool dt_namespace_is_one(DtTrace *, PyObject *dict);
DtStatus dt_namespace_new(DtTrace *trace, PyObject *dict, DtVar *module, const DtSource *function,
                          DtVar **out) DT_MUST_CHECK;
DtStatus dt_namespace_build(DtTrace *trace, PyObject *object, const DtSource *source, bool trusted,
                            DtVar **out) DT_MUST_CHECK;
/* id(); and what stands for the address in this trace. */
DtStatus dt_identity_of(DtTrace *trace, DtVar *callable, const DtArgs *args,
                        DtVar **out) DT_MUST_CHECK;
const void *dt_identity_address(DtVar *self);
/* What an existing weak reference, read from the source, refers to: an input, or None. */
DtStatus dt_weakref_referent(DtTrace *trace, PyObject *reference, const DtSource *source,
                             DtVar **out) DT_MUST_CHECK;

/* ---- iterators (v_iter.c) ---- */
DtStatus dt_iter_sequence(DtTrace *trace, DtVar *sequence, DtVar **out) DT_MUST_CHECK;
DtStatus dt_iter_reversed(DtTrace *trace, DtVar *sequence, DtVar **out) DT_MUST_CHECK;
DtStatus dt_iter_range(DtTrace *trace, DtVar *range, bool reversed, DtVar **out) DT_MUST_CHECK;
DtStatus dt_iter_dict(DtTrace *trace, DtDictVar *dict, int what, DtVar **out) DT_MUST_CHECK;
DtStatus dt_iter_getitem(DtTrace *trace, DtVar *instance, DtVar **out) DT_MUST_CHECK;
/* reversed() of an instance that has `length` items by __getitem__. */
DtStatus dt_iter_reversed_getitem(DtTrace *trace, DtVar *instance, int64_t length,
                                  DtVar **out) DT_MUST_CHECK;
DtStatus dt_iter_enumerate(DtTrace *trace, DtVar *iterable, int64_t start,
                           DtVar **out) DT_MUST_CHECK;
DtStatus dt_iter_zip(DtTrace *trace, DtVar *const *iterables, uint32_t count, bool strict,
                     DtVar **out) DT_MUST_CHECK;
DtStatus dt_iter_map(DtTrace *trace, DtVar *function, DtVar *const *iterables, uint32_t count,
                     DtVar **out) DT_MUST_CHECK;
DtStatus dt_iter_filter(DtTrace *trace, DtVar *function, DtVar *iterable,
                        DtVar **out) DT_MUST_CHECK;
/* Over the items of a str or bytes constant. */
DtStatus dt_iter_constant(DtTrace *trace, DtVar *constant, DtVar **out) DT_MUST_CHECK;
DtStatus dt_iter_reversed_constant(DtTrace *trace, DtVar *constant, DtVar **out) DT_MUST_CHECK;
DtStatus dt_iter_callable(DtTrace *trace, DtVar *callable, DtVar *sentinel,
                          DtVar **out) DT_MUST_CHECK;
/* next(iterator): what it yields, or NULL when it is exhausted, or the StopIteration that it raises
 * (dt_var_iternext() takes that for exhaustion too). */
DtStatus dt_iter_next(DtTrace *trace, DtVar *iterator, DtVar **out) DT_MUST_CHECK;
/* The value that a StopIteration carries; and, after a call that gave `status`, that of the
 * StopIteration it has raised (*returned), which is taken. */
DtStatus dt_iter_stop_value(DtTrace *trace, DtVar *exception, DtVar **out) DT_MUST_CHECK;
DtStatus dt_iter_take_stop(DtTrace *trace, DtStatus status, DtVar **out,
                           bool *returned) DT_MUST_CHECK;
/* An attribute, or NULL when there is none. */
DtStatus dt_iter_find_method(DtTrace *trace, DtVar *var, const char *name,
                             DtVar **out) DT_MUST_CHECK;
/* The traced program raises StopIteration(value), without arguments for None. */
DtStatus dt_iter_raise_stop(DtTrace *trace, DtVar *value);
DtStatus dt_range_new(DtTrace *trace, int64_t start, int64_t stop, int64_t step,
                      DtVar **out) DT_MUST_CHECK;
/* range(*args), open if it may be. */
DtStatus dt_range_of(DtTrace *trace, const DtArgs *args, DtVar **out, bool *fits) DT_MUST_CHECK;
/* The range with its numbers specialised. */
DtStatus dt_range_close(DtTrace *trace, DtVar *range, DtRangeVar **out) DT_MUST_CHECK;

/* ---- generators (v_generator.c) ---- */
/* A generator, coroutine or asynchronous generator made by the trace. */
static inline bool
dt_generator_is(const DtVar *var)
{
    return var->type->kind == DT_KIND_GENERATOR || var->type->kind == DT_KIND_COROUTINE
           || var->type->kind == DT_KIND_ASYNC_GENERATOR;
}

/* ---- exceptions ---- */
/* What calling an exception class gives: a new instance whose __init__ has run. */
DtStatus dt_exception_make(DtTrace *trace, DtVar *cls, const DtArgs *args,
                           DtVar **out) DT_MUST_CHECK;
/* A new instance of a builtin exception class with these arguments, made without calling it. */
DtStatus dt_exception_new(DtTrace *trace, PyTypeObject *cls, DtVar *const *args, uint32_t count,
                          DtInstanceVar **out) DT_MUST_CHECK;
/* What C defines for an exception of the trace: calling a method or slot wrapper, reading and
 * writing members, `raise ... from`, and the slots of its kind that end a trace. */
DtStatus dt_exception_call(DtTrace *trace, DtVar *self, PyObject *descriptor, const DtArgs *args,
                           DtVar **out) DT_MUST_CHECK;
/* Whether an attribute found in the class is a member that C keeps in an exception of the trace. */
bool dt_exception_keeps(DtVar *self, PyObject *found);
DtStatus dt_exception_get(DtTrace *trace, DtVar *self, PyObject *name, DtVar **out) DT_MUST_CHECK;
DtStatus dt_exception_set(DtTrace *trace, DtVar *self, PyObject *name, DtVar *value) DT_MUST_CHECK;
DtStatus dt_exception_set_cause(DtTrace *trace, DtVar *self, DtVar *value) DT_MUST_CHECK;
/* Makes `context`, which is not `self`, its context. */
DtStatus dt_exception_set_context(DtTrace *trace, DtVar *self, DtVar *context) DT_MUST_CHECK;
/* It is raised in a frame, or leaves one: a traceback that the program has seen is another one from
 * now on. */
DtStatus dt_exception_lengthen(DtTrace *trace, DtVar *exception) DT_MUST_CHECK;
DtStatus dt_exception_traceback(DtTrace *trace, DtVar *self, DtVar **out) DT_MUST_CHECK;
/* Has the interpreter told it of which name and object it is, when it left what was asked for that?
 * An exception that had said so itself is left alone. */
bool dt_exception_was_told(const DtExceptionState *state);
DtStatus dt_exception_children(DtTrace *trace, DtVar *self,
                               DtStatus (*visit)(DtTrace *, DtVar *, void *),
                               void *arg) DT_MUST_CHECK;
DtStatus dt_exception_reconstruct(DtCodegen *codegen, DtVar *self) DT_MUST_CHECK;
/* Groups (v_exception_group.c).  Whether a class, or NULL, is one of groups; making a group; the
 * text, and the methods, of one. */
bool dt_group_is_class(PyTypeObject *cls);
DtStatus dt_group_make(DtTrace *trace, DtVar *cls, const DtArgs *args, DtVar **out) DT_MUST_CHECK;
DtStatus dt_group_str(DtTrace *trace, DtVar *self, DtVar **out) DT_MUST_CHECK;
extern const DtMethodRow dt_group_rows[];
/* `except* wanted` of an exception, which `whole` says to be one of these: the group that the
 * clause handles, or None, and what is left. */
DtStatus dt_group_match(DtTrace *trace, DtVar *exception, bool whole, DtVar *wanted, DtVar **match,
                        DtVar **rest) DT_MUST_CHECK;
/* What is raised after the clauses, or None: `raised` is what they have raised and what no clause
 * took. */
DtStatus dt_group_prepare_reraise(DtTrace *trace, DtVar *original, DtSeqVar *raised,
                                  DtVar **out) DT_MUST_CHECK;
/* A copy of the state, for a change; the caller fills it before anything else happens. */
DtStatus dt_exception_change(DtTrace *trace, DtInstanceVar *self,
                             DtExceptionState **out) DT_MUST_CHECK;
/* Whether a realised tracker is an exception; and whether one that the trace has made. */
static inline bool
dt_exception_is(const DtVar *var)
{
    return var->type->kind == DT_KIND_INSTANCE && ((const DtInstanceVar *)var)->exception != NULL;
}
static inline bool
dt_exception_is_new(const DtVar *var)
{
    return dt_exception_is(var) && ((const DtInstanceVar *)var)->object == NULL;
}

/* ---- functions, methods, objects ---- */
/* Attributes of functions (function_attr.c). */
DtStatus dt_function_getattr(DtTrace *, DtVar *self, PyObject *name, DtVar **out) DT_MUST_CHECK;
DtStatus dt_function_setattr(DtTrace *, DtVar *self, PyObject *name, DtVar *value) DT_MUST_CHECK;
/* Stores what is in its own dict, as the trace has left it. */
DtStatus dt_function_own_attributes(DtTrace *trace, DtVar *self, DtDictVar *into) DT_MUST_CHECK;
/* The function with the defaults and the name that the trace has assigned. */
DtStatus dt_function_as_called(DtTrace *trace, DtFunctionVar *self,
                               DtFunctionVar **out) DT_MUST_CHECK;
/* `trusted`: something else (a type's version) already guarantees that the source gives this
 * object. */
DtStatus dt_build_trusted(DtTrace *trace, PyObject *object, const DtSource *source,
                          DtVar **out) DT_MUST_CHECK;
DtStatus dt_method_new(DtTrace *trace, DtVar *function, DtVar *self, DtVar **out) DT_MUST_CHECK;
/* Is the function of a bound method a descriptor of C?  Those bind in a way of their own. */
bool dt_method_is_of_c(DtVar *function);
DtStatus dt_object_new(DtTrace *trace, DtKind kind, PyObject *object, const DtSource *source,
                       DtObjectVar **out) DT_MUST_CHECK;
/* Guards that the class, its bases and a metaclass of Python stay as they are. */
DtStatus dt_class_guard_unchanged(DtTrace *trace, DtVar *cls) DT_MUST_CHECK;
/* The tracker of a class that a tracker's own type is known to be. */
DtStatus dt_class_of(DtTrace *trace, DtVar *var, DtVar **out) DT_MUST_CHECK;
/* What the attribute `__class__` gives: the same, or a break where the object answers itself. */
DtStatus dt_class_shown(DtTrace *trace, DtVar *var, DtVar **out) DT_MUST_CHECK;
/* Aliases (class_alias.c): int | None, list[int]. */
bool dt_class_is_alias(PyObject *object);
/* An alias, or an object (no class) that `typing` makes: what it does runs no code of the program.
 */
bool dt_class_is_annotation(PyObject *object);
/* Bases of a class statement that are aliases give way to what they stand for; *originals: a tuple
 * of what there was before, or NULL. */
DtStatus dt_class_resolve_bases(DtTrace *trace, DtVar ***bases, uint32_t *count,
                                DtVar **originals) DT_MUST_CHECK;
/* Guards that it is this one, where the trace knows it as an instance only. */
DtStatus dt_class_guard_annotation(DtTrace *trace, DtVar *var) DT_MUST_CHECK;
/* The | of a class or alias. */
DtStatus dt_class_union(DtTrace *trace, DtBinaryOp op, DtVar *left, DtVar *right,
                        DtVar **out) DT_MUST_CHECK;
/* Whether the builtin method is what list[int] calls; origin[part]. */
bool dt_class_makes_alias(PyObject *method);
DtStatus dt_class_alias(DtTrace *trace, PyObject *origin, DtVar *part, DtVar **out) DT_MUST_CHECK;
DtStatus dt_class_get(DtTrace *trace, PyTypeObject *type, const DtSource *source,
                      DtVar **out) DT_MUST_CHECK;
/* What `name` means on class `cls` without binding (a look-up through the MRO), and how it is read:
 * through `owner`, an instance or the class itself.  *found NULL: the class has no such attribute.
 */
typedef struct DtClassAttr {
    PyObject *found;        /* DT_BORROWED, kept by the trace */
    const DtSource *source; /* of the unbound attribute, or NULL: known */
    bool trusted;
} DtClassAttr;
DtStatus dt_class_lookup(DtTrace *trace, DtVar *owner, PyTypeObject *cls, PyObject *name,
                         DtClassAttr *out) DT_MUST_CHECK;
/* Binds it: functions to `self` (NULL: read from the class), static and class methods. */
DtStatus dt_class_bind(DtTrace *trace, const DtClassAttr *attr, PyObject *name, DtVar *self,
                       DtVar *cls_var, DtVar **out) DT_MUST_CHECK;
/* Guards that the type of what a look-up has found does not become another kind of descriptor. */
DtStatus dt_class_guard_descriptor(DtTrace *trace, PyObject *found) DT_MUST_CHECK;
/* type.__getattribute__ of a class, whatever its metaclass overrides. */
DtStatus dt_class_generic_getattr(DtTrace *trace, DtVar *cls, PyObject *name,
                                  DtVar **out) DT_MUST_CHECK;
/* A special method of a metaclass of Python, bound to the class; NULL if there is none but type's.
 */
DtStatus dt_class_special(DtTrace *trace, DtVar *cls, const char *name, DtVar **out) DT_MUST_CHECK;
/* type.__instancecheck__(cls, asked), or __subclasscheck__ (instance_check.c) */
DtStatus dt_check_by_type(DtTrace *trace, DtVar *cls, DtVar *asked, bool of_instance,
                          DtVar **out) DT_MUST_CHECK;
/* ---- attributes that the trace gives classes (class_attr.c) ---- */
DtStatus dt_class_setattr(DtTrace *trace, DtVar *cls, PyObject *name, DtVar *value) DT_MUST_CHECK;
/* The look-up of `name` through the MRO of `cls` after such writes; *done false: they don't concern
 * it. */
DtStatus dt_class_find_written(DtTrace *trace, PyTypeObject *cls, PyObject *name, DtClassAttr *out,
                               bool *done) DT_MUST_CHECK;
/* Whether the trace has written attributes of the existing class itself that has this dict. */
bool dt_class_is_written(const DtTrace *trace, PyObject *dict);
/* What the class itself, not its bases, has under the name: what was written, else what its dict
 * has; NULL: nothing.  DT_BORROWED. */
PyObject *dt_class_own_attr(const DtTrace *trace, PyTypeObject *cls, PyObject *name);
/* A call of a class (class_call.c): through its metaclass; what type.__call__ does; what
 * base.__new__(cls, ...) does; whether object.__init__ takes these arguments. */
DtStatus dt_class_call(DtTrace *trace, DtVar *cls, const DtArgs *args, DtVar **out) DT_MUST_CHECK;
DtStatus dt_class_instantiate(DtTrace *trace, DtVar *cls, const DtArgs *args,
                              DtVar **out) DT_MUST_CHECK;
DtStatus dt_class_new(DtTrace *trace, PyTypeObject *base, const DtArgs *args,
                      DtVar **out) DT_MUST_CHECK;
DtStatus dt_class_object_init(DtTrace *trace, PyTypeObject *cls, const DtArgs *args) DT_MUST_CHECK;

/* ---- classes and descriptors that the trace makes (class_statement.c, stand_ins.c, made_*.c) ----
 * A real object of the same parts stands for each while tracing, never afterwards. */
typedef struct DtMade {
    PyObject *maker; /* type, property, staticmethod, classmethod, property.getter ... */
    DtVar **args;    /* of the call that makes it again; of a class: its bases */
    uint32_t nargs;
    PyObject *real;        /* what stands for it */
    PyObject *name;        /* of a class, else NULL */
    DtDictVar *names;      /* its namespace */
    DtVar *cell;           /* the cell __class__ of its methods, or NULL */
    PyObject *abstract;    /* _abc._abc_init, which found its abstract methods; or NULL */
    bool building;         /* the code that makes the class is being emitted ... */
    DT_VEC(DtVar *) cells; /* ... and these cells are to hold it */
} DtMade;
/* The real object that stands for what lies under `name` in a class: `value` itself if it exists,
 * else an object that leads to it.  A break for values that a class would treat in a way of their
 * own. */
DtStatus dt_made_stand_in(DtTrace *trace, PyObject *name, DtVar *value,
                          PyObject **out) DT_MUST_CHECK;
/* NULL: the object is not one of those. */
DtMade *dt_made_find(const DtTrace *trace, PyObject *object);
DtStatus dt_made_children(DtTrace *trace, const DtMade *made,
                          DtStatus (*visit)(DtTrace *, DtVar *, void *), void *arg) DT_MUST_CHECK;
DtStatus dt_made_reconstruct(DtCodegen *codegen, DtMade *made) DT_MUST_CHECK;
/* A cell whose contents is the class that is being built: it is filled once the class is there. */
DtStatus dt_made_fills(DtCodegen *codegen, DtMade *made, DtVar *cell) DT_MUST_CHECK;
/* type.__new__(metaclass, name, bases, namespace, **keywords) */
DtStatus dt_made_class(DtTrace *trace, const DtArgs *args, DtVar **out) DT_MUST_CHECK;
/* property.setter and its like, as a method of a property; NULL: the name is none of them. */
const DtMethodRow *dt_made_property_row(PyObject *name);
/* The method of a context variable of that name (v_contextvar.c), or NULL. */
const DtMethodRow *dt_contextvar_row(PyObject *name);

/* ---- those who hear of a new class (class_hooks.c) ---- */
bool dt_hooks_type_has(PyTypeObject *type, const char *name);
/* type.__new__ without a call of __set_name__ or __init_subclass__: a new reference, or NULL with
 * an exception.  `bases` are classes; no code of the program runs, since the metaclass has no
 * mro(). */
DT_OWNED PyObject *dt_hooks_make_real(PyTypeObject *meta, PyObject *name, PyObject *bases,
                                      PyObject *names);
/* Whether one of the classes has an __init_subclass__ but object's.  A class of such bases is made
 * in another way, so that an exception is not the program's. */
bool dt_hooks_are_in(PyObject *bases);
/* Pushes the function that does so in the emitted code, and the metaclass. */
DtStatus dt_hooks_push_maker(DtCodegen *codegen, const DtMade *made) DT_MUST_CHECK;
/* What type.__new__ calls once the class is there. */
DtStatus dt_hooks_tell(DtTrace *trace, DtVar *cls, const DtDictVar *names,
                       const DtArgs *keywords) DT_MUST_CHECK;
/* The metaclass that a class gets: `asked` (NULL: none), or one of a base. */
DtStatus dt_hooks_metaclass(DtTrace *trace, DtVar *asked, DtVar *const *bases, uint32_t nbases,
                            DtVar **out) DT_MUST_CHECK;
/* What its __prepare__ gives for (name, bases, **keywords). */
DtStatus dt_hooks_prepare(DtTrace *trace, DtVar *meta, const DtArgs *args,
                          DtDictVar **out) DT_MUST_CHECK;
/* A call of a metaclass of Python that has no __call__ of its own above it. */
DtStatus dt_hooks_call_metaclass(DtTrace *trace, DtVar *meta, const DtArgs *args,
                                 DtVar **out) DT_MUST_CHECK;

/* ---- descriptors (descriptors.c) ---- */
/* Whether assigning the attribute calls it. */
bool dt_descr_is_data(PyObject *found);
/* Whether reading the attribute calls it before own attributes are looked at: one that can only be
 * assigned lets them go first. */
bool dt_descr_goes_first(PyObject *found);
/* Stores through it, or deletes (value NULL). */
DtStatus dt_descr_set(DtTrace *trace, const DtClassAttr *attr, PyObject *name, DtVar *self,
                      DtVar *value) DT_MUST_CHECK;

/* ---- instances ---- */
extern const DtVarType dt_instance_ops; /* slots of instance_ops.c */
/* A special method of an instance's type, bound to it; NULL if the type has none but object's. */
DtStatus dt_instance_special(DtTrace *trace, DtVar *instance, const char *name,
                             DtVar **out) DT_MUST_CHECK;

/* Attributes of what has Python's hooks: __getattribute__, or `generic` where there is none, and
 * after an AttributeError __getattr__.  Mirrors slot_tp_getattr_hook(). */
typedef DtStatus DtFindSpecial(DtTrace *trace, DtVar *self, const char *name, DtVar **out);
typedef DtStatus DtGetattr(DtTrace *trace, DtVar *self, PyObject *name, DtVar **out);
DtStatus dt_getattr_by_hooks(DtTrace *trace, DtVar *self, PyObject *name, DtFindSpecial *special,
                             DtGetattr *generic, DtVar **out) DT_MUST_CHECK;
/* The reflected method of an operator, `self` being the right operand; NotImplemented if it has
 * none.
 */
DtStatus dt_instance_reflected(DtTrace *trace, DtBinaryOp op, DtVar *self, DtVar *other,
                               DtVar **out) DT_MUST_CHECK;
/* What the first of `names` (the last is NULL) that the type has gives: conversions.c; NULL if it
 * has none of them.  Breaks when the result is not what CPython demands of that method. */
DtStatus dt_instance_convert(DtTrace *trace, DtVar *instance, const char *const *names,
                             DtVar **out) DT_MUST_CHECK;
/* Whether the type has such a method. */
bool dt_instance_overrides(DtVar *instance, const char *name);
/* Attributes: through what the type overrides, and as object.__getattribute__ and __setattr__. */
DtStatus dt_instance_getattr(DtTrace *, DtVar *self, PyObject *name, DtVar **out) DT_MUST_CHECK;
DtStatus dt_instance_setattr(DtTrace *, DtVar *self, PyObject *name, DtVar *value) DT_MUST_CHECK;
DtStatus dt_instance_generic_getattr(DtTrace *, DtVar *self, PyObject *name,
                                     DtVar **out) DT_MUST_CHECK;
DtStatus dt_instance_generic_setattr(DtTrace *, DtVar *self, PyObject *name,
                                     DtVar *value) DT_MUST_CHECK;
bool dt_instance_has_dict(DtVar *self);
/* A real object of the instance's class on which CPython can be made to raise an error: the
 * existing object, or an empty new one. */
DtStatus dt_instance_stand_in(DtTrace *trace, DtVar *self, PyObject **out) DT_MUST_CHECK;
/* ---- the __dict__ of instances (attr_dict.c) ---- */
/* The tracker of instance.__dict__; `name` is "__dict__". */
DtStatus dt_attr_dict_get(DtTrace *trace, DtVar *instance, PyObject *name,
                          DtVar **out) DT_MUST_CHECK;
bool dt_attr_dict_is_slot(PyTypeObject *cls, PyObject *name);
/* An attribute in it, or NULL; storing one (value NULL: deleting one that is there).  Only once the
 * instance has `attributes`. */
DtStatus dt_attr_dict_find(DtTrace *trace, DtVar *instance, PyObject *name,
                           DtVar **out) DT_MUST_CHECK;
DtStatus dt_attr_dict_store(DtTrace *trace, DtVar *instance, PyObject *name,
                            DtVar *value) DT_MUST_CHECK;
/* A store (value NULL: a deletion) that is in the journal already, made in the tracker alone. */
DtStatus dt_dict_replay(DtTrace *trace, DtDictVar *dict, DtVar *key, DtVar *value) DT_MUST_CHECK;

/* ---- the builtin part of instances (payload.c) ---- */
int dt_payload_init(void); /* -1 with an exception */
/* Whether an object of a subclass of a builtin type is followed as an instance with a payload. */
bool dt_payload_fits(PyObject *object);
/* Whether instances of the builtin class itself are such instances: OrderedDict, defaultdict. */
bool dt_payload_is_own(PyTypeObject *cls);
/* Makes the payload of an existing instance whose class has a builtin base. */
DtStatus dt_payload_build(DtTrace *trace, DtInstanceVar *self) DT_MUST_CHECK;
/* What base.__new__(cls, *args) makes of its arguments; args are without cls. */
DtStatus dt_payload_new(DtTrace *trace, PyTypeObject *base, const DtArgs *args,
                        DtVar **out) DT_MUST_CHECK;
DtStatus dt_payload_adopt(DtTrace *trace, DtInstanceVar *owner, DtVar *payload) DT_MUST_CHECK;
DtStatus dt_payload_reconstruct(DtCodegen *codegen, DtInstanceVar *self) DT_MUST_CHECK;
/* The same for a C type whose methods are all polyfills (deque, SimpleNamespace, _random.Random):
 * whether it is one, by the type that gives the layout; giving a new instance its contents
 * (`args` as for __new__); rebuilding. */
bool dt_payload_is_hidden(PyTypeObject *layout);
DtStatus dt_payload_new_hidden(DtTrace *trace, DtInstanceVar *self,
                               const DtArgs *args) DT_MUST_CHECK;
DtStatus dt_payload_reconstruct_hidden(DtCodegen *codegen, DtInstanceVar *self) DT_MUST_CHECK;
/* The tracker of an instance's builtin part, else the tracker itself. */
DtVar *dt_payload_of(DtVar *var);

/* Whether a binary slot of a builtin number takes `other` as CPython's slots do: a number that is
 * not wider than its own type, whichever kind of tracker has it, and nothing else. */
typedef enum DtSlotTakes { DT_SLOT_OF_NO_NUMBER, DT_SLOT_TAKES, DT_SLOT_REFUSES } DtSlotTakes;
DtSlotTakes dt_number_slot_takes(DtTrace *trace, DtVar *self, DtVar *other);
/* The same if the class overrides none of the names (which end with NULL); else NULL. */
DtVar *dt_payload_unless(DtVar *var, const char *const *names);
/* What the methods do that OrderedDict and defaultdict add or change; *done false: as the base's.
 */
DtStatus dt_payload_method(DtTrace *trace, PyTypeObject *of, PyObject *name, DtInstanceVar *self,
                           const DtArgs *args, bool *done, DtVar **out) DT_MUST_CHECK;
/* Calls a method or slot wrapper that a builtin type defines; args->pos[0] is its self. */
DtStatus dt_inherited_call(DtTrace *trace, PyObject *descriptor, const DtArgs *args,
                           DtVar **out) DT_MUST_CHECK;

/* Takes an exception that the traced program has raised, if it is a `type`; then it can be raised
 * again. */
bool dt_kinds_take_raised(DtTrace *trace, DtStatus status, PyObject *type, DtVar **exception);
DtStatus dt_kinds_raise_again(DtTrace *trace, DtVar *exception);
/* What a builtin object does when called; NULL when there is no row. */
const DtMethodRow *dt_builtin_find(PyObject *object);
/* Breaks at a call of the function: `before`, its name with parentheses, and what is said of it. */
DtStatus dt_builtin_break(DtTrace *trace, PyObject *function, DtBreakId id, const char *before,
                          const char *after) DT_MUST_CHECK;
/* Rows for the functions of one module. */
typedef struct DtBuiltinTable {
    const char *module;
    const DtMethodRow *rows; /* ends with a NULL name */
} DtBuiltinTable;
extern const DtBuiltinTable dt_builtin_sys_table;         /* builtins_sys.c */
extern const DtBuiltinTable dt_builtin_warnings_table;    /* builtins_sys.c */
extern const DtBuiltinTable dt_builtin_abc_table;         /* class_hooks.c */
extern const DtBuiltinTable dt_builtin_classes_table;     /* class_statement.c */
extern const DtBuiltinTable dt_builtin_descriptors_table; /* made_descriptors.c */
extern const DtBuiltinTable dt_builtin_check_table,
    dt_builtin_abc_check_table; /* instance_check.c */
extern const DtBuiltinTable dt_builtin_table, dt_builtin_numbers_table, dt_builtin_math_table,
    dt_builtin_cmath_table, dt_builtin_operator_table, dt_builtin_functools_table,
    dt_builtin_method_table, dt_builtin_types_table, dt_builtin_mapping_proxy_table,
    dt_builtin_weakref_table, dt_builtin_exec_table;
int dt_class_hooks_init(void);
int dt_class_alias_init(void);
int dt_builtin_init(void); /* -1 with an exception */
int dt_build_init(void);

/* Argument lists. */
DtStatus dt_args_prepend(DtTrace *trace, const DtArgs *args, DtVar *first,
                         DtArgs *out) DT_MUST_CHECK;
/* The argument of that name, or NULL: none is given by it. */
DtVar *dt_args_keyword(const DtArgs *args, const char *name);
/* The one at that position, or of that name, or NULL. */
DtVar *dt_args_at(const DtArgs *args, uint32_t index, const char *name);
/* The names of the arguments that are given by name, a tuple of the trace; NULL without any. */
DtStatus dt_args_kwnames(DtTrace *trace, const DtArgs *args, PyObject **out) DT_MUST_CHECK;
static inline DtArgs
dt_args_of(DtVar **pos, uint32_t npos)
{
    return (DtArgs){.pos = pos, .npos = npos};
}

#endif
