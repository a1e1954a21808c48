/* What the files of variables/ share: one type per kind, making trackers, and helpers that several
 * kinds need.  Of the layers above only those look in here who make trackers themselves.
 */
#ifndef DT_VARIABLES_KINDS_H
#define DT_VARIABLES_KINDS_H

#include "variables/adapter.h"
#include "variables/classes/payloads.h"
#include "variables/trace.h"

/* The types as written in v_*.c, slots not inherited yet; trackers use dt_var_type_of(). */
#define KIND(NAME, TEXT, MUTATION) extern const DtVarType dt_kind_type_##NAME;
#include "variables/kinds.def"
#undef KIND

/* Slots that any kind falls back on. */
extern const DtVarType dt_kind_base;

/* A zeroed tracker of `size` bytes; with a source it gets the kind's mutation type of an input.
 * NULL with MemoryError. */
void *dt_kinds_new(DtTrace *trace, DtKind kind, size_t size, const DtSource *source) DT_MUST_CHECK;
#define DT_KINDS_NEW(trace, NAME, type, source)                                                    \
    ((type *)dt_kinds_new((trace), DT_KIND_##NAME, sizeof(type), (source)))
size_t dt_kinds_size(DtKind kind); /* of the payload struct */

static inline bool
dt_kinds_is(DtVar *var, DtKind kind)
{
    return dt_var_peek(var)->type->kind == kind;
}

/* ---- Raising, names and rows (registry.c) ---------------------------------------------------- */

/* Raises the builtin exception of that name in the traced program.  The text is for messages only:
 * it is not vouched for, so a program that catches the exception and looks at it breaks. dt_raise()
 * is for texts that are exactly CPython's. */
DtStatus dt_kinds_raise(DtTrace *trace, const char *exception, const char *format, ...)
    DT_PRINTF(3, 4);
const char *dt_kinds_type_name(DtTrace *trace, DtVar *var); /* of the Python type, for messages */
const char *dt_kinds_text(PyObject *str);                   /* UTF-8 or "?" */
bool dt_kinds_is_among(PyObject *str, const char *const *names); /* the last one is NULL */

const DtMethodRow *dt_kinds_find_method(const DtVarType *type, PyObject *name);
bool dt_kinds_row_fits(const DtMethodRow *row, const DtArgs *args);
DtStatus dt_kinds_call_row(DtTrace *trace, DtVar *self, const DtMethodRow *row, const DtArgs *args,
                           DtVar **out) DT_MUST_CHECK;
DtStatus dt_kinds_method_row(DtTrace *trace, DtVar *self, const DtMethodRow *row, PyObject *name,
                             DtVar **out) DT_MUST_CHECK;
/* The TypeError of a call that does not fit, raised by the real method, or by `self` itself if it
 * is a function or class, on stand-ins. */
DtStatus dt_kinds_mismatch(DtTrace *trace, DtVar *self, const char *name,
                           const DtArgs *args) DT_MUST_CHECK;

/* Before an existing or new mutable tracker changes. */
DtStatus dt_kinds_will_change(DtTrace *trace, DtVar *var) DT_MUST_CHECK;
/* Emits the source if there is one and the tracker still equals what it reads; *done tells. */
DtStatus dt_kinds_load_source(DtCodegen *codegen, DtVar *var, bool *done) DT_MUST_CHECK;

/* ---- Arguments (registry.c) ------------------------------------------------------------------ */

/* One argument more, in front of those by place. */
DtStatus dt_args_prepend(DtTrace *trace, const DtArgs *args, DtVar *first,
                         DtArgs *out) DT_MUST_CHECK;
/* The argument of that name, or NULL: none is given by it. */
DtVar *dt_args_keyword(const DtArgs *args, const char *name);
/* The one at that position, or of that name, or NULL. */
DtVar *dt_args_at(const DtArgs *args, uint32_t index, const char *name);
/* The names of the arguments that are given by name, a tuple of the trace; NULL without any. */
DtStatus dt_args_kwnames(DtTrace *trace, const DtArgs *args, PyObject **out) DT_MUST_CHECK;
static inline DtArgs
dt_args_of(DtVar **pos, uint32_t npos)
{
    return (DtArgs){.pos = pos, .npos = npos};
}

/* ---- Building (build.c) ---------------------------------------------------------------------- */

/* Makes the tracker of one kind of object.  `trusted` as in dt_build_trusted(): no guard on the
 * object itself is needed. */
typedef DtStatus (*DtBuilder)(DtTrace *trace, PyObject *object, const DtSource *source,
                              bool trusted, DtVar **out);
DtStatus dt_module_build(DtTrace *, PyObject *, const DtSource *, bool, DtVar **);
DtStatus dt_adapter_callable_build(DtTrace *, PyObject *, const DtSource *, bool, DtVar **);
DtStatus dt_weakref_build(DtTrace *, PyObject *, const DtSource *, bool, DtVar **);
DtStatus dt_stranger_build(DtTrace *, PyObject *, const DtSource *, bool, DtVar **);
DtStatus dt_opaque_build(DtTrace *, PyObject *, const DtSource *, bool, DtVar **);
DtStatus dt_object_new(DtTrace *trace, DtKind kind, PyObject *object, const DtSource *source,
                       DtObjectVar **out) DT_MUST_CHECK;
/* The identity guard, unless trusted or the source is the object itself. */
DtStatus dt_build_guard_identity(DtTrace *trace, PyObject *object, const DtSource *source,
                                 bool trusted) DT_MUST_CHECK;
/* Whether what this source reads rarely changes between calls (globals, attributes of modules and
 * classes, defaults): numbers read from it are constants rather than symbols. */
bool dt_build_is_static(const DtTrace *trace, const DtSource *source);
/* Has an object of this kind one tracker, however often it is read? */
bool dt_build_is_shared(DtKind kind);
/* A tracker of a known object that no source reads: it needs no guard. */
DtStatus dt_build_known(DtTrace *trace, PyObject *object, DtVar **out) DT_MUST_CHECK;
/* dt_var_build() for one who does not look into it: a list may be left unread. */
DtStatus dt_build_receiver(DtTrace *trace, PyObject *object, const DtSource *source,
                           DtVar **out) DT_MUST_CHECK;
/* `trusted`: something else (a type's version) already guarantees that the source gives this
 * object. */
DtStatus dt_build_trusted(DtTrace *trace, PyObject *object, const DtSource *source,
                          DtVar **out) DT_MUST_CHECK;
int dt_build_init(void);

/* ---- Memory that two show (shown_memory.c) --------------------------------------------------- */

/* An existing array, or bytearray, is about to be built: a break if it shows the memory of one of
 * the other sort that was built; guards for later calls. */
DtStatus dt_memory_of_array(DtTrace *, const DtAdapter *, PyObject *array,
                            const DtSource *) DT_MUST_CHECK;
DtStatus dt_memory_of_bytes(DtTrace *, PyObject *bytes, const DtSource *) DT_MUST_CHECK;

/* ---- Addresses, weak references, context variables ------------------------------------------- */

/* id(); and what stands for the address in this trace. */
DtStatus dt_identity_of(DtTrace *trace, DtVar *callable, const DtArgs *args,
                        DtVar **out) DT_MUST_CHECK;
const void *dt_identity_address(DtVar *self);
/* What an existing weak reference, read from the source, refers to: an input, or None. */
DtStatus dt_weakref_referent(DtTrace *trace, PyObject *reference, const DtSource *source,
                             DtVar **out) DT_MUST_CHECK;
/* The method of a context variable of that name (v_contextvar.c), or NULL. */
const DtMethodRow *dt_contextvar_row(PyObject *name);

/* ---- The families ---------------------------------------------------------------------------- */

#include "variables/builtins/builtins.h"
#include "variables/classes/classes.h"
#include "variables/containers/containers.h"
#include "variables/exceptions/exceptions.h"
#include "variables/functions/functions.h"
#include "variables/iterators/iterate.h"
#include "variables/numbers/constants.h"

#endif
