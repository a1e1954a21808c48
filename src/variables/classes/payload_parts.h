/* The rows' own steps: how the payload of an existing instance is read (payload_existing.c). */
#ifndef DT_VARIABLES_CLASSES_PAYLOAD_PARTS_H
#define DT_VARIABLES_CLASSES_PAYLOAD_PARTS_H

#include "variables/kinds.h"

/* The payload of `object` as its layout's type `base` keeps it; NULL in *out: none is kept here. */
typedef DtStatus (*DtPayloadBuilder)(DtTrace *, PyObject *object, const DtSource *source,
                                     PyTypeObject *base, DtVar **out);

DtStatus dt_payload_sequence(DtTrace *, PyObject *, const DtSource *, PyTypeObject *, DtVar **);
DtStatus dt_payload_dict(DtTrace *, PyObject *, const DtSource *, PyTypeObject *, DtVar **);
DtStatus dt_payload_set(DtTrace *, PyObject *, const DtSource *, PyTypeObject *, DtVar **);
DtStatus dt_payload_constant(DtTrace *, PyObject *, const DtSource *, PyTypeObject *, DtVar **);

/* Nothing but attributes is to be read. */
DtStatus dt_payload_nothing(DtTrace *, PyObject *, const DtSource *, PyTypeObject *, DtVar **);

/* `self->more` of a deque: [maxlen, number of changes, whether it existed before]. */
DtStatus dt_payload_deque_limit(DtTrace *trace, DtInstanceVar *self, PyTypeObject *base);

#endif
