/* The state of `random`'s generators, copied as it lies in them.
 *
 * getstate() makes a tuple of 625 ints, which takes longer than hundreds of draws.
 */
#ifndef DT_COMPAT_TWISTER_H
#define DT_COMPAT_TWISTER_H

#include "compat/python.h"
#include <stdbool.h>

#include "core/status.h"

enum { DT_TWISTER_SIZE = 625 * 4 };

/* Whether the state lies where this file takes it to be: tried out once, on a generator of our own.
 * Imports _random; no error is set. */
bool dt_twister_is_known(void);

/* Of an instance of _random.Random, or of a class derived from it. */
void dt_twister_save(PyObject *generator, char *saved);
void dt_twister_restore(PyObject *generator, const char *saved);

/* Is it the method random() of such a generator, as C made it? */
bool dt_twister_is_random(PyObject *callable);
/* What that gives next, if the words for it lie ready; else false, and nothing was drawn. */
bool dt_twister_random(PyObject *generator, double *out);
/* All that changes by it: an int. */
char *dt_twister_place(PyObject *generator);

#endif
