/* From emitted instructions to a code object of this CPython. */
#ifndef DT_CODEGEN_ASSEMBLE_H
#define DT_CODEGEN_ASSEMBLE_H

#include "codegen/instrs.h"

/* What a code object says about itself.  All objects are borrowed. */
typedef struct DtAssembleMeta {
    int argcount; /* positional ones, positional-only included */
    int posonlyargcount;
    int kwonlyargcount;
    int flags; /* CO_*; the first slots are the arguments that they and the counts say */
    int firstlineno;
    DT_BORROWED PyObject *filename;
    DT_BORROWED PyObject *name;
    DT_BORROWED PyObject *qualname; /* NULL: the name */
    DT_BORROWED PyObject *doc;      /* first constant: the docstring, or NULL for None */
} DtAssembleMeta;

/* The same as an existing code object (doc: its first constant if that is a str). */
void dt_assemble_meta_of(PyCodeObject *code, DtAssembleMeta *meta);

/* Makes the code object; `emit` stays as it is.  An instruction that this
 * CPython cannot have, an unbound label or a stack that does not balance is an
 * internal error: DT_ERROR with SystemError.  Runs no user code. */
DtStatus dt_assemble_code(const DtEmit *emit, const DtAssembleMeta *meta,
                          DT_OWNED PyCodeObject **code) DT_MUST_CHECK;

#endif
