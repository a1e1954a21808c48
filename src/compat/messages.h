/* Texts of exceptions that differ between the versions of CPython, as formats
 * of PyUnicode_FromFormat().  Texts that are the same everywhere stand where
 * they are raised.
 */
#ifndef DT_COMPAT_MESSAGES_H
#define DT_COMPAT_MESSAGES_H

#include "compat/python.h"

/* A manager that lacks a method: the exception, and its texts with the type's name. */
typedef struct DtWithMessages {
    PyObject **type;
    const char *enter, *exit;
    const char *no_enter, *no_exit;
} DtWithMessages;
extern const DtWithMessages dt_messages_with, dt_messages_async_with;

#endif
