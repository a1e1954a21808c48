/* The byte form of graphs, shared by its writer and its reader.
 *
 *   magic │ checksum of the rest │ objects in order of first use, inline │ graph
 *
 * Whole numbers are varints (7 bits a byte, low bits first), signed ones zigzag,
 * texts and bytes have their length in front, doubles are 8 bytes, low first.
 * An object is the number of an object met before, or the next number followed
 * by its definition.  What is known by identity goes by import path or pickled.
 */
#ifndef DT_GRAPH_WIRE_H
#define DT_GRAPH_WIRE_H

#include <string.h>

#include "graph/internal.h"

#define DT_WIRE_MAGIC "dtgraph1"
#define DT_WIRE_MAGIC_SIZE 8
#define DT_WIRE_HEADER (DT_WIRE_MAGIC_SIZE + 8)

/* How deep operands, expressions, tuples and graphs may be nested. */
#define DT_WIRE_DEPTH 500

/* Definition of an object, by its first byte. */
enum {
    DT_WIRE_NONE = 'N',
    DT_WIRE_TRUE = 'T',
    DT_WIRE_FALSE = 'F',
    DT_WIRE_ELLIPSIS = 'E',
    DT_WIRE_INT = 'i',
    DT_WIRE_FLOAT = 'f',
    DT_WIRE_STR = 's',
    DT_WIRE_BYTES = 'b',
    DT_WIRE_TUPLE = 't',
    DT_WIRE_PATH = 'r',      /* module, qualified name */
    DT_WIRE_ATTRIBUTE = 'a', /* object, name */
    DT_WIRE_CODE = 'c',      /* file, name, first line: where a node comes from */
    DT_WIRE_PICKLE = 'p'
};

static inline uint64_t
dt_wire_checksum(const char *data, size_t size)
{
    uint64_t hash = UINT64_C(14695981039346656037);
    for (size_t i = 0; i < size; i++) {
        hash = (hash ^ (unsigned char)data[i]) * UINT64_C(1099511628211);
    }
    return hash;
}

/* The number of operands of an expression's operation. */
int dt_wire_sym_arity(int op);

/* wire_objects.c: sys.modules[module].qualname, importing the module; NULL with an exception. */
DT_OWNED PyObject *dt_wire_import(PyObject *module, PyObject *qualname);

#endif
