/* From a text of our own (core/strbuf.h) to a str. */
#ifndef DT_COMPAT_TEXT_H
#define DT_COMPAT_TEXT_H

#include <stdbool.h>

#include "compat/python.h"
#include "core/status.h"
#include "core/strbuf.h"

/* The text as a str, bytes that are no UTF-8 replaced (a long name may have been cut anywhere); the
 * buffer is released.  NULL with MemoryError, also if the buffer has failed. */
DT_OWNED PyObject *dt_text_take(DtStrbuf *buf);

/* Can its letters be read where they lie?  Before 3.12 some texts are laid out when they are first
 * asked for. */
static inline bool
dt_text_is_laid_out(PyObject *text)
{
#if DT_PY310 || DT_PY311
    return PyUnicode_IS_READY(text);
#else
    (void)text;
    return true;
#endif
}

#endif
