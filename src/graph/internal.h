/* What the files of graph/ share among themselves. */
#ifndef DT_GRAPH_INTERNAL_H
#define DT_GRAPH_INTERNAL_H

#include "graph/graph.h"

/* names.c: `base` if it is free, else "base_1", "base_2" ...; in the arena, NULL when memory is
 * out. */
const char *dt_names_unique(DtArena *arena, DtNames *names, const char *base);
/* An identifier made of a source's text: L['self'].w gives self_w. */
const char *dt_names_from_source(DtArena *arena, const char *text);
/* The target without its first component, dots as underscores. */
const char *dt_names_from_target(DtArena *arena, const char *target);

/* operand.c: a copy of `operand` in the graph: objects kept, symbols copied and bound, values of
 * outer tracers lifted. */
DtStatus dt_operand_copy(DtTrace *trace, DtGraph *graph, const DtOperand *operand,
                         DtOperand *out) DT_MUST_CHECK;
/* Calls visit() on the operand and all operands inside it, captures of nested graphs included. */
typedef DtStatus (*DtOperandVisit)(DtOperand *, void *);
DtStatus dt_operand_walk(DtOperand *operand, DtOperandVisit visit, void *arg) DT_MUST_CHECK;

/* graph.c: a node of `kind` at the end of the graph; `base` is made unique. */
DtStatus dt_graph_add_node(DtGraph *graph, DtNodeKind kind, const char *base,
                           DtNode **out) DT_MUST_CHECK;
/* An array input; source may be NULL (a body's), `text` not. */
DtStatus dt_graph_add_input(DtGraph *graph, const DtSource *source, const char *text,
                            const DtMeta *meta, DtNode **out) DT_MUST_CHECK;
/* Text in the arena of `graph`; NULL with MemoryError. */
const char *dt_graph_source_text(DtGraph *graph, const DtSource *source);

/* symbols.c: calls visit() with every symbol in the expression. */
typedef DtStatus (*DtSymVisit)(const DtSym *symbol, void *arg);
DtStatus dt_symbols_walk(const DtSym *sym, DtSymVisit visit, void *arg) DT_MUST_CHECK;
/* A number of a symbolic type as a Python object. */
DT_OWNED PyObject *dt_symbols_number(DtSymType type, DtNumber number);

#endif
