/* Objects that are known by their type alone: frames, and iterators of dicts and sets.
 *
 * What is known by identity lives as long as the entry that knows it, where it can't be weakly
 * referenced, and these keep others alive: a frame all its locals, and the frames below it.  No
 * two calls have the same one, either.  They can be handed around and compared by `is`; any other
 * use is a break.
 *
 * Invariant: a stranger has a source, which tells of which object it is the stand-in.
 */
#include "variables/kinds.h"

DtStatus
dt_stranger_build(DtTrace *trace, PyObject *object, const DtSource *source, bool trusted,
                  DtVar **out)
{
    if (source == NULL || source->kind == DT_SOURCE_OBJECT) {
        return dt_opaque_build(trace, object, source, trusted, out);
    }
    DT_TRY(dt_guard_type(trace, source, Py_TYPE(object)));
    DtStrangerVar *self = DT_KINDS_NEW(trace, STRANGER, DtStrangerVar, source);
    if (self == NULL) {
        return DT_ERROR;
    }
    self->cls = Py_TYPE(object);
    *out = &self->base;
    return DT_OK;
}

static PyTypeObject *
stranger_type(DtTrace *trace, DtVar *self)
{
    (void)trace;
    return ((DtStrangerVar *)self)->cls;
}

static DtStatus
stranger_bool(DtTrace *trace, DtVar *self, bool *out)
{
    (void)trace;
    (void)self;
    *out = true; /* none of these types has a truth or a length */
    return DT_OK;
}

static DtStatus
stranger_reconstruct(DtCodegen *codegen, DtVar *self)
{
    bool done;
    DT_TRY(dt_kinds_load_source(codegen, self, &done));
    return done ? DT_OK
                : dt_break(dt_codegen_trace(codegen), DT_BREAK_RECONSTRUCT, "a %s",
                           ((DtStrangerVar *)self)->cls->tp_name);
}

const DtVarType dt_kind_type_STRANGER = {
    .kind = DT_KIND_STRANGER,
    .nb_bool = stranger_bool,
    .python_type = stranger_type,
    .reconstruct = stranger_reconstruct,
};
