/* The compiled versions of a function as Python data, for people and tests. */
#ifndef DT_EVAL_FRAME_CACHE_LIST_H
#define DT_EVAL_FRAME_CACHE_LIST_H

#include "eval_frame/region.h"

/* cache_entries(): a list of dicts, one per entry; `cache` may be NULL.  NULL with an exception. */
DT_OWNED PyObject *dt_cache_list(DtCodeCache *cache);

/* Which guard of the entry fails on the frame, or that a branch goes another way. */
DtStatus dt_cache_explain(const DtEntry *entry, const DtGuardFrame *frame,
                          DtStrbuf *out) DT_MUST_CHECK;

/* Which guard of each entry fails on the frame: a list of str.  NULL with an exception. */
DT_OWNED PyObject *dt_cache_failing(DtCodeCache *cache, const DtGuardFrame *frame);

extern const char dt_cache_list_doc[];

#endif
