/* See strbuf.h. */
#include "core/strbuf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef DT_STRESS
#define FIRST_SIZE ((size_t)1) /* every text moves */
#else
#define FIRST_SIZE ((size_t)128)
#endif

static bool
reserve(DtStrbuf *buf, size_t more)
{
    size_t need = buf->length + more + 1;
    if (buf->failed) {
        return false;
    }
    if (need <= buf->capacity) {
        return true;
    }
    size_t grown = buf->capacity ? buf->capacity * 2 : FIRST_SIZE;
    if (grown < need) {
        grown = need;
    }
    char *text = realloc(buf->text, grown);
    if (text == NULL) {
        buf->failed = true;
        return false;
    }
    buf->text = text;
    buf->capacity = grown;
    return true;
}

void
dt_strbuf_addn(DtStrbuf *buf, const char *text, size_t length)
{
    if (reserve(buf, length)) {
        memcpy(buf->text + buf->length, text, length);
        buf->length += length;
        buf->text[buf->length] = '\0';
    }
}

void
dt_strbuf_add(DtStrbuf *buf, const char *text)
{
    dt_strbuf_addn(buf, text, strlen(text));
}

void
dt_strbuf_vaddf(DtStrbuf *buf, const char *format, va_list args)
{
    va_list again;
    va_copy(again, args);
    int length = vsnprintf(NULL, 0, format, args);
    if (length < 0) {
        buf->failed = true;
    }
    else if (reserve(buf, (size_t)length)) {
        vsnprintf(buf->text + buf->length, (size_t)length + 1, format, again);
        buf->length += (size_t)length;
    }
    va_end(again);
}

void
dt_strbuf_addf(DtStrbuf *buf, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    dt_strbuf_vaddf(buf, format, args);
    va_end(args);
}

const char *
dt_strbuf_text(const DtStrbuf *buf)
{
    return buf->text ? buf->text : "";
}

void
dt_strbuf_release(DtStrbuf *buf)
{
    free(buf->text);
    *buf = (DtStrbuf){0};
}
