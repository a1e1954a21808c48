/* What the containers are to the other kinds: making them, reading and changing what they hold. */
#ifndef DT_VARIABLES_CONTAINERS_H
#define DT_VARIABLES_CONTAINERS_H

#include "variables/adapter.h"
#include "variables/classes/payloads.h"
#include "variables/trace.h"

/* ---- Lists and tuples ------------------------------------------------------------------------ */

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
/* Replaces items [at, at + removed) by `added` ones; the journal knows already. */
DtStatus dt_list_splice(DtTrace *trace, DtSeqVar *self, int64_t at, int64_t removed,
                        DtVar *const *added, uint32_t nadded) DT_MUST_CHECK;
/* list.extend() */
DtStatus dt_list_extend(DtTrace *trace, DtSeqVar *self, DtVar *iterable) DT_MUST_CHECK;
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

/* ---- Ranges and slices (v_range.c, v_slice.c) ------------------------------------------------ */

DtStatus dt_range_build(DtTrace *, PyObject *, const DtSource *, bool, DtVar **);
DtStatus dt_slice_build(DtTrace *, PyObject *, const DtSource *, bool, DtVar **);
/* A slice tracker's concrete bounds for a sequence of `length` items. */
DtStatus dt_slice_bounds(DtTrace *trace, DtSeqVar *slice, int64_t length, int64_t *start,
                         int64_t *stop, int64_t *step, int64_t *count) DT_MUST_CHECK;
DtStatus dt_range_new(DtTrace *trace, int64_t start, int64_t stop, int64_t step,
                      DtVar **out) DT_MUST_CHECK;
/* range(*args), open if it may be. */
DtStatus dt_range_of(DtTrace *trace, const DtArgs *args, DtVar **out, bool *fits) DT_MUST_CHECK;
/* The range with its numbers specialised. */
DtStatus dt_range_close(DtTrace *trace, DtVar *range, DtRangeVar **out) DT_MUST_CHECK;

/* ---- What has any length or is read at numbers that vary (v_growing_list.c, picked.c ...) ---- */

/* The contents of a deque, whose type is known. */
DtStatus dt_growing_list_of_deque(DtTrace *trace, PyObject *deque, const DtSource *source,
                                  PyTypeObject *layout, DtVar **out) DT_MUST_CHECK;
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
/* A key that is another one in each call (picked.c): its source, and what it is now; *out NULL: it
 * has to be known. */
DtStatus dt_picked_key(DtTrace *trace, DtVar *key, const DtSource **out,
                       PyObject **now) DT_MUST_CHECK;
/* Whether it is a number that may be another one in the next call, or a tuple with such a number.
 */
DtStatus dt_picked_varies(DtTrace *trace, DtVar *key, bool *varies) DT_MUST_CHECK;

/* ---- Dicts and sets -------------------------------------------------------------------------- */

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
DtStatus dt_set_build(DtTrace *, PyObject *, const DtSource *, bool, DtVar **);
/* The elements of an instance of a subclass of set, whose type is guarded apart. */
DtStatus dt_set_build_part(DtTrace *, PyObject *, const DtSource *, DtVar **) DT_MUST_CHECK;
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

/* ---- Bytearrays (v_bytearray.c) -------------------------------------------------------------- */

DtStatus dt_bytearray_build(DtTrace *, PyObject *, const DtSource *, bool, DtVar **);
/* A new bytearray of these contents; the real one that a tracker stands for; a method of it. */
DtStatus dt_bytearray_wrap(DtTrace *trace, PyObject *real, DtVar **out) DT_MUST_CHECK;
DT_OWNED PyObject *dt_bytearray_real(DtVar *self);
DtStatus dt_bytearray_call(DtTrace *trace, DtVar *self, PyObject *descriptor, const DtArgs *args,
                           DtVar **out) DT_MUST_CHECK;

/* ---- Proxies and namespaces (v_mapping_proxy.c, v_namespace.c) ------------------------------- */

DtStatus dt_mapping_proxy_build(DtTrace *, PyObject *, const DtSource *, bool, DtVar **);
/* A new one of a dict. */
DtStatus dt_mapping_proxy_of_dict(DtTrace *trace, DtVar *dict, DtVar **out) DT_MUST_CHECK;
/* cls.__dict__, of a class that the trace has not written. */
DtStatus dt_mapping_proxy_of_class(DtTrace *trace, DtVar *cls, DtVar **out) DT_MUST_CHECK;
/* Does the dict hold the names of a module, or of functions that are followed?  Global variables
 * and attributes of modules are kept by name, so that a tracker of such a dict would not see them;
 * the keys of dicts are guarded, so no module's dict takes the place of another dict in a later
 * call. */
bool dt_namespace_is_one(DtTrace *, PyObject *dict);
/* The dict of names of a module's attributes, or (module NULL) of globals: those of an active
 * frame, or of the function that the source (or NULL) reads. */
DtStatus dt_namespace_new(DtTrace *trace, PyObject *dict, DtVar *module, const DtSource *function,
                          DtVar **out) DT_MUST_CHECK;
DtStatus dt_namespace_build(DtTrace *trace, PyObject *object, const DtSource *source, bool trusted,
                            DtVar **out) DT_MUST_CHECK;

#endif
