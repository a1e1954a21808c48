/* Text: str(), repr(), ascii() and format() of trackers, and the methods of
 * strings that ask objects for theirs.
 *
 * What is wholly known is converted by the interpreter itself.  Containers with
 * other things in them are written item by item, and instances by their own
 * __str__, __repr__ and __format__, which are followed.  Formatting with such
 * objects is done by the real str.format() and % on proxies (proxy.h).
 *
 * The text of arrays and of numbers out of them is a graph value (DtAdapter.text), as is every text
 * that it becomes a part of; of what is known by address only it is a graph break.
 */
#ifndef DT_VARIABLES_TEXT_H
#define DT_VARIABLES_TEXT_H

#include "variables/kinds.h"

/* A constant str, or a graph value. */
DtStatus dt_text_str(DtTrace *trace, DtVar *var, DtVar **out) DT_MUST_CHECK;
DtStatus dt_text_repr(DtTrace *trace, DtVar *var, DtVar **out) DT_MUST_CHECK;
DtStatus dt_text_ascii(DtTrace *trace, DtVar *var, DtVar **out) DT_MUST_CHECK;
/* format(var, spec); `spec` may be NULL: "". */
DtStatus dt_text_format(DtTrace *trace, DtVar *var, DtVar *spec, DtVar **out) DT_MUST_CHECK;

/* separator.join(parts): strs, constant or of the graph. */
DtStatus dt_text_join(DtTrace *trace, PyObject *separator, DtVar *const *parts, uint32_t count,
                      DtVar **out) DT_MUST_CHECK;

/* A method of a constant called with trackers: folded, or followed where it formats or joins. */
DtStatus dt_text_call_method(DtTrace *trace, PyObject *method, PyObject *receiver,
                             const DtArgs *args, DtVar **out) DT_MUST_CHECK;
/* "..." % value */
DtStatus dt_text_percent(DtTrace *trace, PyObject *format, DtVar *value, DtVar **out) DT_MUST_CHECK;

/* ---- Texts of the graph, for text_methods.c -------------------------------------------------- */

bool dt_text_is_array(DtVar *var);
/* A text of the graph: its own str(), and its own format() without a spec. */
bool dt_text_in_graph(DtTrace *trace, DtVar *var);
/* The adapter of the first array decides; the values are realised. */
DtStatus dt_text_of_arrays(DtTrace *trace, const char *function, DtVar *const *vars, uint32_t count,
                           DtVar **out) DT_MUST_CHECK;

#endif
