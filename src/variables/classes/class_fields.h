/* What type() keeps of a class. */
#ifndef DT_VARIABLES_CLASS_FIELDS_H
#define DT_VARIABLES_CLASS_FIELDS_H

#include "variables/kinds.h"

static inline PyTypeObject *
dt_class_type(DtVar *self)
{
    return (PyTypeObject *)((DtObjectVar *)self)->object;
}

/* The attribute `name` if it is one of these; *done: it is. */
DtStatus dt_class_field(DtTrace *trace, DtVar *self, PyObject *name, bool *done,
                        DtVar **out) DT_MUST_CHECK;

#endif
