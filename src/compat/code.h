/* Code objects without their version: reading and making them.
 *
 * Slots are the *unified* slots of CPython 3.11 on every version: arguments
 * and other locals first (an argument that closures capture keeps its place),
 * then the cells that are no arguments, then the free variables.  CPython 3.10
 * numbers cells and free variables from 0 instead; `deref` translates.
 *
 * Instructions are always the compiler's own: PyCode_GetCode / co_code, never
 * the specialised or instrumented copy that runs.
 */
#ifndef DT_COMPAT_CODE_H
#define DT_COMPAT_CODE_H

#include <stdbool.h>
#include <stdint.h>

#include "compat/python.h"
#include "core/arena.h"
#include "core/status.h"

/* A captured argument is LOCAL and CELL. */
enum {
    DT_SLOT_LOCAL = 1, /* a local variable or argument */
    DT_SLOT_CELL = 2,  /* holds a cell that this code makes */
    DT_SLOT_FREE = 4   /* holds a cell of the function's closure */
};

typedef struct DtSlot {
    DT_BORROWED PyObject *name; /* str, kept alive by the code object */
    int kind;                   /* DT_SLOT_* bits */
} DtSlot;

typedef struct DtCodeLayout {
    int nlocals; /* slots with DT_SLOT_LOCAL: they come first */
    int ncells;  /* all cells made here, captured arguments included */
    int nfrees;
    int nslots;     /* nlocals + cells that are no arguments + nfrees */
    int free_start; /* first free slot */
    DtSlot *slots;  /* nslots of them */
    int nderef;
    int *deref;  /* 3.10's cell-and-free number -> slot; later versions: the identity */
    int *memory; /* slot -> index in the frame's array (dt_pyframe_memory); the identity, apart from
                    code on 3.10 that captures an argument: there it is where the cell lies */
    int stack_start; /* index of the value stack's first value in that array */
} DtCodeLayout;

/* Fills `layout`, in the arena. */
DtStatus dt_code_layout(DtArena *arena, PyCodeObject *code, DtCodeLayout *layout) DT_MUST_CHECK;

/* The compiler's instruction bytes as a bytes object; NULL with an exception. */
DT_OWNED PyObject *dt_code_bytes_new(PyCodeObject *code) DT_MUST_CHECK;

/* Writes one instruction unit into the copy that runs, if `opcode_was` is what stands there (a tool
 * that watches the code puts its own in the place of some).  Both instructions must be such that
 * frames may be anywhere in the code while it happens. */
void dt_code_patch(PyCodeObject *code, int32_t unit, int opcode_was, int opcode_new, int arg);

/* Borrowed parts.  No user code runs. */
DT_BORROWED PyObject *dt_code_consts(PyCodeObject *code);
DT_BORROWED PyObject *dt_code_names(PyCodeObject *code);
DT_BORROWED PyObject *dt_code_filename(PyCodeObject *code);
DT_BORROWED PyObject *dt_code_name(PyCodeObject *code);
DT_BORROWED PyObject *dt_code_qualname(PyCodeObject *code); /* 3.10: the name */
DT_BORROWED PyObject *dt_code_linetable(PyCodeObject *code);
DT_BORROWED PyObject *dt_code_exceptiontable(PyCodeObject *code); /* NULL on 3.10 */
static inline int
dt_code_flags(PyCodeObject *code)
{
    return code->co_flags;
}

/* positional, positional-only included */
static inline int
dt_code_argcount(PyCodeObject *code)
{
    return code->co_argcount;
}

static inline int
dt_code_posonlyargcount(PyCodeObject *code)
{
    return code->co_posonlyargcount;
}

static inline int
dt_code_kwonlyargcount(PyCodeObject *code)
{
    return code->co_kwonlyargcount;
}

int dt_code_stacksize(PyCodeObject *code);
int dt_code_firstlineno(PyCodeObject *code);

/* Whether calling it makes a generator, coroutine or async generator. */
bool dt_code_is_generator(PyCodeObject *code);

/* Whether a YIELD_VALUE of this code makes a value of an asynchronous generator by itself (3.10);
 * later versions have an instruction before it that does. */
bool dt_code_yield_wraps(PyCodeObject *code);

/* All slots that hold arguments: positional, keyword-only, *args, **kwargs. */
static inline int
dt_code_argument_slots(PyCodeObject *code)
{
    return code->co_argcount + code->co_kwonlyargcount + ((code->co_flags & CO_VARARGS) != 0)
           + ((code->co_flags & CO_VARKEYWORDS) != 0);
}

/* Whether locals() of a function is a new dict at each call. */
bool dt_code_locals_are_snapshots(void);

/* Everything a code object is made of.  All objects are borrowed. */
typedef struct DtCodeParts {
    int argcount;
    int posonlyargcount;
    int kwonlyargcount;
    int stacksize;
    int flags;
    int firstlineno;
    PyObject *code;           /* bytes */
    PyObject *consts;         /* tuple */
    PyObject *names;          /* tuple of str */
    PyObject *varnames;       /* tuple of str */
    PyObject *cellvars;       /* tuple of str; may repeat names of arguments */
    PyObject *freevars;       /* tuple of str */
    PyObject *filename;       /* str */
    PyObject *name;           /* str */
    PyObject *qualname;       /* str; not used on 3.10 */
    PyObject *linetable;      /* bytes */
    PyObject *exceptiontable; /* bytes; not used on 3.10 */
} DtCodeParts;

/* The same code object with other instructions: only `code`, `consts`, `linetable`,
 * `exceptiontable` and `stacksize` of the parts are used.  NULL with an exception. */
DT_OWNED PyCodeObject *dt_code_with(PyCodeObject *code, const DtCodeParts *parts) DT_MUST_CHECK;

/* A new code object; NULL with an exception.  On 3.11 and later the interpreter
 * derives slots from varnames, cellvars and freevars, in the unified order. */
DT_OWNED PyCodeObject *dt_code_new(const DtCodeParts *parts) DT_MUST_CHECK;

#endif
