/* Guard programs as bytes: the recipe, by source and by content.
 *
 *   program ── facts, sources, symbols as a tree of tuples ── marshal ──► bytes (portable_write.c)
 *   bytes ──► recipe in a trace of its own ── dt_program_lower ──► program (portable_read.c)
 *
 * No address is written.  An object known by identity is written as where it is
 * defined (module and qualified name) and what type it has; when the bytes are
 * read, it is looked up through its source on the given frame, else by that
 * name, and must fit the description (portable.c).
 *
 * Reading runs imports' results only (sys.modules), never an import.  The bytes
 * come from a cache that the user trusts; damaged ones give a ValueError.
 */
#ifndef DT_GUARDS_PORTABLE_H
#define DT_GUARDS_PORTABLE_H

#include "guards/internal.h"

#define DT_PORTABLE_NAME "dyntrace guards"
#define DT_PORTABLE_VERSION 3

/* (module, qualified name, name of the type). */
DT_OWNED PyObject *dt_portable_reference(PyObject *object);

/* The object that a reference means: `candidate` (from its source on the frame, or NULL) if it
 * fits, else by name.  NULL with ValueError. */
DT_OWNED PyObject *dt_portable_resolve(PyObject *reference, PyObject *candidate);

/* marshal.<name>(*args), taking the arguments over. */
DT_OWNED PyObject *dt_portable_marshal(const char *name, DT_STEALS PyObject *args);

#endif
