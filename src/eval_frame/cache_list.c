/* See cache_list.h. */
#include "eval_frame/cache_list.h"

#include "compat/text.h"
#include "core/clock.h"
#include "guards/program.h"

const char dt_cache_list_doc[] =
    "cache_entries($self, /)\n--\n\n"
    "A list of dicts, one per compiled version.\n\n"
    "guards: what it relies on, one line each; guard_count: how many.\n"
    "hits: calls that it served; misses: calls for which its guards were asked and did not hold;\n"
    "replays: calls that were made again plainly; plain: it did so too often, and always does "
    "now.\n"
    "age_ns: nanoseconds since it was compiled; compile_ns: nanoseconds that this took.\n"
    "check_bytes: memory that a check of its guards touches; text_bytes: memory that is only for\n"
    "explanations. code: the rewritten code, or None where no frame is needed.";

static PyObject *
describe(const DtEntry *entry, const DtGuardFrame *Py_UNUSED(frame))
{
    DtStrbuf guards = {0};
    DtProgramSize size;
    dt_program_print(entry->guards, &guards);
    dt_program_measure(entry->guards, &size);
    return Py_BuildValue(
        "{s:N,s:I,s:K,s:K,s:I,s:L,s:L,s:n,s:n,s:O,s:O}", "guards", dt_text_take(&guards),
        "guard_count", (unsigned int)dt_program_guard_count(entry->guards), "hits",
        (unsigned long long)entry->hits, "misses", (unsigned long long)entry->misses, "replays",
        (unsigned int)entry->replays, "age_ns", (long long)(dt_clock_ns() - entry->made_ns),
        "compile_ns", (long long)entry->compile_ns, "check_bytes", (Py_ssize_t)size.touched,
        "text_bytes", (Py_ssize_t)size.texts, "plain", entry->plain ? Py_True : Py_False, "code",
        entry->code != NULL ? entry->code : Py_None);
}

DtStatus
dt_cache_explain(const DtEntry *entry, const DtGuardFrame *frame, DtStrbuf *out)
{
    DT_TRY(dt_program_explain(entry->guards, frame, out));
    if (out->length == 0 && entry->guesses > 0) {
        dt_strbuf_add(out, "a branch on values of arrays goes another way");
    }
    return DT_OK;
}

static PyObject *
failing_guard(const DtEntry *entry, const DtGuardFrame *frame)
{
    DtStrbuf text = {0};
    bool told = dt_cache_explain(entry, frame, &text) == DT_OK;
    PyObject *line = told ? dt_text_take(&text) : NULL;
    dt_strbuf_release(&text);
    return line;
}

/* A row per entry. */
static PyObject *
rows_of(DtCodeCache *cache, PyObject *(*row_of)(const DtEntry *, const DtGuardFrame *),
        const DtGuardFrame *frame)
{
    PyObject *list = PyList_New(0);
    DtEntry *entry = cache != NULL ? cache->entries : NULL;
    Py_XINCREF(entry); /* rows may collect garbage or call a Python adapter, and that may reset() */
    while (list != NULL && entry != NULL) {
        PyObject *row = row_of(entry, frame);
        if (row == NULL || PyList_Append(list, row) < 0) {
            Py_CLEAR(list);
        }
        Py_XDECREF(row);
        DtEntry *next = entry->next;
        Py_XINCREF(next);
        Py_SETREF(entry, next);
    }
    Py_XDECREF(entry);
    return list;
}

PyObject *
dt_cache_list(DtCodeCache *cache)
{
    return rows_of(cache, describe, NULL);
}

PyObject *
dt_cache_failing(DtCodeCache *cache, const DtGuardFrame *frame)
{
    return rows_of(cache, failing_guard, frame);
}
