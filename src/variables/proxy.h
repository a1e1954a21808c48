/* Proxies: objects that stand for trackers while a builtin function of the
 * interpreter runs on them, and ask the trackers whatever they are asked.
 *
 *   list.sort, str.format, %  ──"<", str(), [..]──►  proxy  ──►  dt_var_compare, dt_text_str ...
 *
 * So the order of comparisons, what is formatted in which way and the errors
 * are CPython's own.  A proxy lives for one run; what it is asked is followed
 * like any traced code, hence runs no user code.
 *
 * Invariant: when following does not succeed, the status is kept in the run
 * and a private exception unwinds the builtin function.
 */
#ifndef DT_VARIABLES_PROXY_H
#define DT_VARIABLES_PROXY_H

#include "variables/kinds.h"

typedef struct DtProxyRun {
    DtTrace *trace;
    DtStatus status; /* the first that was not DT_OK */
} DtProxyRun;

/* The value itself if it is wholly known, else a proxy; NULL with an exception, run->status set. */
DT_OWNED PyObject *dt_proxy_value(DtProxyRun *run, DtVar *var);
/* Always a proxy. */
DT_OWNED PyObject *dt_proxy_new(DtProxyRun *run, DtVar *var);

/* After the run: the status of what was followed, or what became of the exception that the builtin
 * function has set.  DT_OK: no exception. */
DtStatus dt_proxy_finish(DtProxyRun *run) DT_MUST_CHECK;

int dt_proxy_init(void); /* -1 with an exception */

#endif
