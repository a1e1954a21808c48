/* Reading graphs from bytes: numbers, texts and objects, shared by wire_bytes.c, wire_objects.c and
 * wire_read.c.
 *
 * Nothing in the bytes is trusted to be well-formed: every count is compared
 * with the bytes that are left before memory is taken for it, every number with
 * its range.  Whatever goes wrong is a ValueError.
 */
#ifndef DT_GRAPH_WIRE_READ_H
#define DT_GRAPH_WIRE_READ_H

#include "graph/wire.h"

typedef struct DtWireReader {
    const uint8_t *next;
    const uint8_t *end;
    PyObject *objects; /* list, by number */
    int depth;
} DtWireReader;

/* ---- Numbers and texts (wire_bytes.c) -------------------------------------------------------- */

/* Sets a ValueError that says what is wrong, and returns DT_ERROR. */
DtStatus dt_wire_bad(const char *what);
/* One more level of nesting; the caller takes it off `depth` when it is done. */
DtStatus dt_wire_enter(DtWireReader *) DT_MUST_CHECK;
DtStatus dt_wire_get_byte(DtWireReader *, uint8_t *out) DT_MUST_CHECK;
/* A byte below `limit`. */
DtStatus dt_wire_get_choice(DtWireReader *, uint32_t limit, uint8_t *out) DT_MUST_CHECK;
DtStatus dt_wire_get_int(DtWireReader *, int64_t *out) DT_MUST_CHECK;
DtStatus dt_wire_get_int32(DtWireReader *, int *out) DT_MUST_CHECK;
/* A number below `limit`. */
DtStatus dt_wire_get_below(DtWireReader *, uint64_t limit, uint32_t *out) DT_MUST_CHECK;
/* A count of things that take at least one byte each. */
DtStatus dt_wire_get_count(DtWireReader *, uint32_t *out) DT_MUST_CHECK;
DtStatus dt_wire_get_double(DtWireReader *, double *out) DT_MUST_CHECK;
/* *data stays in the bytes. */
DtStatus dt_wire_get_data(DtWireReader *, const char **data, uint32_t *size) DT_MUST_CHECK;
/* A text in the graph's arena; an optional one may be NULL. */
DtStatus dt_wire_get_text(DtWireReader *, DtGraph *, const char **out) DT_MUST_CHECK;
DtStatus dt_wire_get_optional(DtWireReader *, DtGraph *, const char **out) DT_MUST_CHECK;

/* ---- Objects (wire_objects.c); may import modules and unpickle ------------------------------- */

/* *out is borrowed from the list of objects. */
DtStatus dt_wire_get_object(DtWireReader *, PyObject **out) DT_MUST_CHECK;
/* The graph keeps it alive; an optional one may be NULL. */
DtStatus dt_wire_get_kept(DtWireReader *, DtGraph *, PyObject **out) DT_MUST_CHECK;
DtStatus dt_wire_get_optional_object(DtWireReader *, DtGraph *, PyObject **out) DT_MUST_CHECK;

#endif
