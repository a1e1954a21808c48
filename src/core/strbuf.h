/* A string that grows by malloc, for texts: logs, printed graphs, guards.
 * Errors stick: after a failed growth the buffer stays as it is and
 * `failed` is set, so callers check once at the end. */
#ifndef DT_CORE_STRBUF_H
#define DT_CORE_STRBUF_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

#include "core/status.h"

typedef struct DtStrbuf {
    char *text; /* NUL-terminated once anything was added; else NULL */
    size_t length;
    size_t capacity;
    bool failed;
} DtStrbuf;

void dt_strbuf_add(DtStrbuf *buf, const char *text);
void dt_strbuf_addn(DtStrbuf *buf, const char *text, size_t length);
void dt_strbuf_addf(DtStrbuf *buf, const char *format, ...) DT_PRINTF(2, 3);
void dt_strbuf_vaddf(DtStrbuf *buf, const char *format, va_list args) DT_PRINTF(2, 0);
const char *dt_strbuf_text(const DtStrbuf *buf); /* "" when empty */
void dt_strbuf_release(DtStrbuf *buf);

#endif
