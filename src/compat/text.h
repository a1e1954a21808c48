/* From a text of our own (core/strbuf.h) to a str. */
#ifndef DT_COMPAT_TEXT_H
#define DT_COMPAT_TEXT_H

#include "compat/python.h"
#include "core/status.h"
#include "core/strbuf.h"

/* The text as a str, bytes that are no UTF-8 replaced (a long name may have been cut anywhere); the
 * buffer is released.  NULL with MemoryError, also if the buffer has failed. */
DT_OWNED PyObject *dt_text_take(DtStrbuf *buf);

#endif
