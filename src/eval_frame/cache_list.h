/* The compiled versions of a function as Python data, for people and tests: cache_entries(). */
#ifndef DT_EVAL_FRAME_CACHE_LIST_H
#define DT_EVAL_FRAME_CACHE_LIST_H

#include "eval_frame/region.h"

/* A list of dicts, one per entry; `cache` may be NULL.  NULL with an exception. */
DT_OWNED PyObject *dt_cache_list(DtCodeCache *cache);

extern const char dt_cache_list_doc[];

#endif
