/* See text.h. */
#include "compat/text.h"

PyObject *
dt_text_take(DtStrbuf *buf)
{
    PyObject *text =
        buf->failed ? PyErr_NoMemory()
                    : PyUnicode_DecodeUTF8(dt_strbuf_text(buf), (Py_ssize_t)buf->length, "replace");
    dt_strbuf_release(buf);
    return text;
}
