/* The Python objects around a graph: Graph, Node, SymExpr, TensorMeta.
 *
 * All are read-only views; a Node or SymExpr holds its Graph object, which
 * holds a reference to the DtGraph.
 */
#ifndef DT_GRAPH_PY_TYPES_H
#define DT_GRAPH_PY_TYPES_H

#include "graph/graph.h"

typedef struct DtGraphObject {
    PyObject_HEAD DtGraph *graph; /* a reference of its own */
    PyObject *captures; /* tuple of operands where this is a nested graph's operand, or NULL */
    PyObject *weakrefs;
} DtGraphObject;

extern PyTypeObject dt_graph_type;
extern PyTypeObject dt_node_type;
extern PyTypeObject dt_sym_expr_type;

/* A wrapper with captures (stolen, may be NULL). */
DT_OWNED PyObject *dt_py_graph(DtGraph *graph, DT_STEALS PyObject *captures);
/* `result` -1: the node itself; else that one of its several results. */
DT_OWNED PyObject *dt_py_node(DtGraphObject *graph, const DtNode *node, int result);
/* An int for constants, else a SymExpr.  `source` (may be NULL) is the text of a number input. */
DT_OWNED PyObject *dt_py_sym(DtGraphObject *graph, const DtSym *sym, const char *source);
DT_OWNED PyObject *dt_py_operand(DtGraphObject *graph, const DtOperand *operand);
DT_OWNED PyObject *dt_py_operands(DtGraphObject *graph, const DtOperand *operands, uint32_t count);
DT_OWNED PyObject *dt_py_meta(DtGraphObject *graph, const DtMeta *meta);

/* Readies the types of one file; 0 or -1. */
int dt_py_node_init(PyObject *module);
int dt_py_sym_init(PyObject *module);

#endif
