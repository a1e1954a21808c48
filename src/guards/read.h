/* Single reads and checks that a guard program is made of; private to guards/.
 *
 * Results are borrowed and NULL when there is nothing to read; no user code
 * runs, nothing is allocated unless said, no error is left behind.
 */
#ifndef DT_GUARDS_READ_H
#define DT_GUARDS_READ_H

#include "compat/function.h"
#include "guards/internal.h"

static inline bool
dt_read_is_function(PyObject *object)
{
    return Py_TYPE(object) == &PyFunction_Type || PyObject_TypeCheck(object, &PyFunction_Type);
}

/* The code that a call of the function runs, or NULL. */
static inline PyObject *
dt_read_code(PyObject *object)
{
    bool runs = dt_read_is_function(object) && !dt_function_is_diverted(object);
    return runs ? ((PyFunctionObject *)object)->func_code : NULL;
}

/* What a member descriptor (a slot), or a getter of an exception, gives for the object. */
PyObject *dt_read_member(PyObject *object, PyObject *descriptor);
/* An attribute of the object's own; remembers where it was. */
PyObject *dt_read_own_attr(PyObject *object, DtAttrPlace *place);
/* A name of a dict; *found is 1, 0, or -1 for "can't tell"; remembers where it was. */
PyObject *dt_read_dict(PyObject *dict, PyObject *name, Py_ssize_t *hint, int *found);
/* Item of a tuple; of a tuple or list; a cell of the function's closure, or its contents. */
PyObject *dt_read_tuple(PyObject *items, int64_t index);
/* (maxlen, length) of a deque, a new tuple or NULL; whether one has these (length None: any). */
PyObject *dt_read_deque(PyObject *deque);
bool dt_read_is_deque(PyObject *facts, PyObject *deque);
PyObject *dt_read_from_end(PyObject *items, int64_t index); /* of a tuple; 1 is the last */
PyObject *dt_read_index(PyObject *items, int64_t index);
/* Item of an exact list, counted from the end where the index is negative; NULL: it has none. */
PyObject *dt_read_list_item(PyObject *list, int64_t index);
/* The same at the int `number` plus `offset`, of an exact list or tuple; of an exact dict under
 * that key, if no user code runs. */
PyObject *dt_read_picked(PyObject *items, PyObject *number, int64_t offset);
bool dt_read_lacks_key(PyObject *dict, PyObject *key);
int dt_read_pair(DtComputed *pair, PyObject *a, PyObject *b, PyObject **out);
int dt_read_computed(DtComputed *computed, PyObject *a, PyObject *b, PyObject **out);
/* An item of a deque, whose type was checked, as of a list. */
PyObject *dt_read_deque_item(PyObject *deque, int64_t index);
PyObject *dt_read_closure(PyObject *function, int64_t index, bool contents);

/* The dict of its attributes, which is made if there is none yet, as whoever asks for it makes it.
 */
PyObject *dt_read_attr_dict(PyObject *object);

/* The exception that the thread handles, or None. */
PyObject *dt_read_handled(void);

/* Whether the object has no own attribute of that name. */
int dt_read_is_absent(PyObject *object, DtAttrPlace *place);
/* Whether the type is as it was although its tag has gone. */
int dt_read_verify_type(DtTypeState *state);
/* Exact type and number of items. */
int dt_read_has_length(PyObject *object, PyTypeObject *type, int64_t length);
bool dt_read_has_keys(DtKeys *keys, PyObject *dict);
/* An exact set of these elements, in any order; elements are identical, or equal constants. */
bool dt_read_has_items(PyObject *items, PyObject *set);
/* The same in the same slots of the table: `layout` is (slots, element, element ...). */
bool dt_read_has_layout(PyObject *layout, PyObject *set);
/* Whether nothing acts when all of these go; *origin is the fact that does not hold. */
bool dt_read_are_quiet(const DtQuiets *quiets, const DtGuardFrame *frame, PyObject *const *regs,
                       int32_t *origin);
/* A dimension as an int object that the program owns, made anew when it has changed: 1, or -1 with
 * an error. */
int dt_read_dim(DtDimObject *dim, PyObject *object, PyObject **out);
/* The same for what an itertools.count gives next; 0: it is none, or counts no plain ints. */
int dt_read_count(DtDimObject *dim, PyObject *object, PyObject **out);
/* The same for the length of a list; 0: it is no exact one, or is being sorted. */
int dt_read_list_size(DtDimObject *dim, PyObject *list, PyObject **out);
/* The array of numbers in a list, which `kept` owns; 0: it holds something else, or is none. */
int dt_read_list_array(DtDimObject *kept, PyObject *list, PyObject **out);
int dt_read_deque_size(DtDimObject *dim, PyObject *deque, PyObject **out);

#endif
