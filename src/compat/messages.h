/* Texts of exceptions that differ between the versions of CPython, as formats
 * of PyUnicode_FromFormat().  Texts that are the same everywhere stand where
 * they are raised.
 */
#ifndef DT_COMPAT_MESSAGES_H
#define DT_COMPAT_MESSAGES_H

#include <stdbool.h>

#include "compat/python.h"

/* A manager that lacks a method: the exception, and its texts with the type's name. */
typedef struct DtWithMessages {
    PyObject **type;
    const char *enter, *exit;
    const char *no_enter, *no_exit;
} DtWithMessages;
/* close() of a generator gives what it returns (3.13 on), else None. */
extern const bool dt_messages_close_returns_value;
/* throw(type, value, traceback) warns (3.12 on). */
extern const bool dt_messages_throw_warns;

extern const DtWithMessages dt_messages_with, dt_messages_async_with;

/* A local variable, and a free one, without a value: with the variable's name (%U). */
extern const char dt_messages_unbound_local[], dt_messages_unbound_free[];

/* An empty slot of an object of this class: what the text calls the class; NULL with an exception.
 */
PyObject *dt_messages_slot_owner(PyTypeObject *type);

/* A class pattern with something that is no class. */
extern const char dt_messages_match_class[];

#endif
