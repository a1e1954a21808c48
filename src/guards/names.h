/* Names that the trace has looked up on classes, and classes of which some names may change.
 *
 * A guard on a class's version fails as soon as anything in the class changes.  Where
 * classes are written while the program runs, the entry remembers what the dicts of
 * its classes hold: when a version is gone, the names that the trace relied on, and
 * all that begin with an underscore, must be as they were; the other ones are free.
 */
#ifndef DT_GUARDS_NAMES_H
#define DT_GUARDS_NAMES_H

#include "guards/lower.h"

/* Gives every state of the program what the dicts of its classes hold, if the trace writes to
 * classes or ran because one had changed. */
DtStatus dt_names_remember(DtLower *lower) DT_MUST_CHECK;

/* Whether the dict of base number `i` holds what it held, but for names that are free. */
bool dt_names_are_unchanged(const DtTypeState *state, uint32_t i, PyObject *dict);

#endif
