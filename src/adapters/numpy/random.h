/* Generators of random numbers: what random.c (tracing) and random_state.c (their state) share.
 *
 * What a generator is to the graph: adapters/generators.h.
 */
#ifndef DT_ADAPTERS_NUMPY_RANDOM_H
#define DT_ADAPTERS_NUMPY_RANDOM_H

#include "adapters/numpy/internal.h"

typedef enum DtRandomClass { DT_RANDOM_LEGACY = 1, DT_RANDOM_MODERN = 2 } DtRandomClass;

extern const DtAdapter dt_np_random_adapter;

/* Of exact RandomState and Generator objects; 0: neither.  No user code, imports nothing. */
int dt_np_random_class(PyObject *object);
/* The bit generator in it, or NULL without an error: it has to be asked for (random_bits.c).
 * DT_BORROWED. */
PyObject *dt_np_random_bit_generator(PyObject *object, DtRandomClass);
/* Where a RandomState keeps the second of a pair of normal numbers, see random_bits.h; 0: that was
 * not found. */
Py_ssize_t dt_np_random_half_at(void);
/* The type of that class, known once an object of it was seen. DT_BORROWED. */
PyTypeObject *dt_np_random_type(DtRandomClass);
/* The generator behind numpy.random's functions, or NULL. DT_BORROWED. */
PyObject *dt_np_random_global(void);
/* An attribute of numpy.random.mtrand or numpy.random._generator, NULL while they are not loaded
 * (no error). DT_BORROWED. */
PyObject *dt_np_random_attr(DtRandomClass, const char *name);

/* Of a tracker. */
DtRandomClass dt_np_random_class_of(const DtArrayVar *self);
/* The row of an unbound method, and its class; of a method by name.  -1: there is none.  No error.
 */
int dt_np_random_find_method(PyObject *callable, DtRandomClass *cls);
int dt_np_random_find_name(DtRandomClass, PyObject *name);
/* Emits a draw from `self`, without it among the arguments. */
DtStatus dt_np_random_draw(DtTrace *, DtArrayVar *self, uint32_t row, const DtArgs *,
                           DtVar **out) DT_MUST_CHECK;

/* The adapter's slots of these names.  A state that can't be saved is no state that can be written.
 */
DT_OWNED PyObject *dt_np_random_save(const DtAdapter *, PyObject *object, PyObject *key);
int dt_np_random_restore(const DtAdapter *, PyObject *object, PyObject *key, PyObject *saved);
int dt_np_random_can_write(const DtAdapter *, PyObject *object);

#endif
