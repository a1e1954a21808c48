/* Reading and making code objects; see code.h.
 *
 * Mirrors of CPython: on 3.10 a captured argument is listed in co_varnames and
 * co_cellvars, joined by co_cell2arg; from 3.11 on co_localsplusnames and
 * co_localspluskinds hold the unified slots as they are.
 */
#include "compat/code.h"

#include "compat/errors.h"

DT_OWNED void
dt_code_patch(PyCodeObject *code, int32_t unit, int opcode_was, int opcode_new, int arg)
{
#if DT_PY310
    uint8_t *at = (uint8_t *)PyBytes_AS_STRING(code->co_code) + (size_t)unit * 2;
#else
    uint8_t *at = (uint8_t *)code->co_code_adaptive + (size_t)unit * 2;
#endif
    if (at[0] == opcode_was) {
        at[0] = (uint8_t)opcode_new;
        at[1] = (uint8_t)arg;
    }
}

#if !DT_PY310
/* Where the code object keeps its instructions once somebody has asked for them. */
static PyObject **
kept_bytes(PyCodeObject *code)
{
#if DT_PY311
    return &code->_co_code;
#else
    return code->_co_cached != NULL ? &code->_co_cached->_co_code : NULL;
#endif
}
#endif

PyObject *
dt_code_bytes_new(PyCodeObject *code)
{
#if DT_PY310
    Py_INCREF(code->co_code);
    return code->co_code;
#else
    PyObject **kept = kept_bytes(code);
    bool asked_before = kept != NULL && *kept != NULL;
    PyObject *bytes = PyCode_GetCode(code);
    if (bytes != NULL && !asked_before) {
        Py_CLEAR(*kept_bytes(code)); /* or the user's code would stay larger than it was */
    }
    return bytes;
#endif
}

#if DT_PY310

/* Locals first, then every cell that is no argument, then the free variables. */
static void
fill_slots(PyCodeObject *code, DtCodeLayout *layout)
{
    int slot = 0;
    for (; slot < layout->nlocals; slot++) {
        layout->memory[slot] = slot;
        layout->slots[slot].name = PyTuple_GET_ITEM(code->co_varnames, slot);
        layout->slots[slot].kind = DT_SLOT_LOCAL;
    }
    for (int i = 0; i < layout->ncells; i++) {
        Py_ssize_t arg = code->co_cell2arg ? code->co_cell2arg[i] : CO_CELL_NOT_AN_ARG;
        layout->memory[arg != CO_CELL_NOT_AN_ARG ? (int)arg : slot] = layout->nlocals + i;
        if (arg != CO_CELL_NOT_AN_ARG) {
            layout->slots[arg].kind |= DT_SLOT_CELL;
            layout->deref[i] = (int)arg;
            continue;
        }
        layout->slots[slot].name = PyTuple_GET_ITEM(code->co_cellvars, i);
        layout->slots[slot].kind = DT_SLOT_CELL;
        layout->deref[i] = slot++;
    }
    layout->free_start = slot;
    for (int i = 0; i < layout->nfrees; i++, slot++) {
        layout->slots[slot].name = PyTuple_GET_ITEM(code->co_freevars, i);
        layout->slots[slot].kind = DT_SLOT_FREE;
        layout->deref[layout->ncells + i] = slot;
        layout->memory[slot] = layout->nlocals + layout->ncells + i;
    }
    layout->stack_start = layout->nlocals + layout->nderef;
}

static void
count_slots(PyCodeObject *code, DtCodeLayout *layout)
{
    layout->nlocals = code->co_nlocals;
    layout->ncells = (int)PyTuple_GET_SIZE(code->co_cellvars);
    layout->nfrees = (int)PyTuple_GET_SIZE(code->co_freevars);
    layout->nderef = layout->ncells + layout->nfrees;
    layout->nslots = layout->nlocals + layout->nderef;
    for (int i = 0; i < layout->ncells && code->co_cell2arg; i++) {
        layout->nslots -= code->co_cell2arg[i] != CO_CELL_NOT_AN_ARG;
    }
}

#else

static void
fill_slots(PyCodeObject *code, DtCodeLayout *layout)
{
    const char *kinds = PyBytes_AS_STRING(code->co_localspluskinds);
    layout->free_start = layout->nslots;
    for (int i = 0; i < layout->nslots; i++) {
        DtSlot *slot = &layout->slots[i];
        slot->name = PyTuple_GET_ITEM(code->co_localsplusnames, i);
        slot->kind = (kinds[i] & CO_FAST_LOCAL ? DT_SLOT_LOCAL : 0)
                     | (kinds[i] & CO_FAST_CELL ? DT_SLOT_CELL : 0)
                     | (kinds[i] & CO_FAST_FREE ? DT_SLOT_FREE : 0);
        if (slot->kind & DT_SLOT_FREE && i < layout->free_start) {
            layout->free_start = i;
        }
        layout->deref[i] = i;
        layout->memory[i] = i;
    }
    layout->stack_start = layout->nslots;
}

static void
count_slots(PyCodeObject *code, DtCodeLayout *layout)
{
    layout->nlocals = code->co_nlocals;
    layout->ncells = code->co_ncellvars;
    layout->nfrees = code->co_nfreevars;
    layout->nslots = code->co_nlocalsplus;
    layout->nderef = layout->nslots;
}

#endif

DtStatus
dt_code_layout(DtArena *arena, PyCodeObject *code, DtCodeLayout *layout)
{
    count_slots(code, layout);
    layout->slots = DT_ARENA_ARRAY(arena, DtSlot, layout->nslots + 1);
    layout->deref = DT_ARENA_ARRAY(arena, int, layout->nderef + 1);
    layout->memory = DT_ARENA_ARRAY(arena, int, layout->nslots + 1);
    if (layout->slots == NULL || layout->deref == NULL || layout->memory == NULL) {
        return dt_no_memory();
    }
    fill_slots(code, layout);
    return DT_OK;
}

DT_BORROWED PyObject *
dt_code_consts(PyCodeObject *code)
{
    return code->co_consts;
}

DT_BORROWED PyObject *
dt_code_names(PyCodeObject *code)
{
    return code->co_names;
}

DT_BORROWED PyObject *
dt_code_filename(PyCodeObject *code)
{
    return code->co_filename;
}

DT_BORROWED PyObject *
dt_code_name(PyCodeObject *code)
{
    return code->co_name;
}

DT_BORROWED PyObject *
dt_code_qualname(PyCodeObject *code)
{
#if DT_PY310
    return code->co_name;
#else
    return code->co_qualname;
#endif
}

DT_BORROWED PyObject *
dt_code_linetable(PyCodeObject *code)
{
    return code->co_linetable;
}

DT_BORROWED PyObject *
dt_code_exceptiontable(PyCodeObject *code)
{
#if DT_PY310
    (void)code;
    return NULL;
#else
    return code->co_exceptiontable;
#endif
}

int
dt_code_stacksize(PyCodeObject *code)
{
    return code->co_stacksize;
}

int
dt_code_firstlineno(PyCodeObject *code)
{
    return code->co_firstlineno;
}

bool
dt_code_is_generator(PyCodeObject *code)
{
    return (code->co_flags & (CO_GENERATOR | CO_COROUTINE | CO_ASYNC_GENERATOR)) != 0;
}

DT_OWNED PyCodeObject *
dt_code_new(const DtCodeParts *p)
{
    int nlocals = (int)PyTuple_GET_SIZE(p->varnames);
#if DT_PY310
    return PyCode_NewWithPosOnlyArgs(p->argcount, p->posonlyargcount, p->kwonlyargcount, nlocals,
                                     p->stacksize, p->flags, p->code, p->consts, p->names,
                                     p->varnames, p->freevars, p->cellvars, p->filename, p->name,
                                     p->firstlineno, p->linetable);
#elif DT_PY311
    return PyCode_NewWithPosOnlyArgs(p->argcount, p->posonlyargcount, p->kwonlyargcount, nlocals,
                                     p->stacksize, p->flags, p->code, p->consts, p->names,
                                     p->varnames, p->freevars, p->cellvars, p->filename, p->name,
                                     p->qualname, p->firstlineno, p->linetable, p->exceptiontable);
#else
    return PyUnstable_Code_NewWithPosOnlyArgs(
        p->argcount, p->posonlyargcount, p->kwonlyargcount, nlocals, p->stacksize, p->flags,
        p->code, p->consts, p->names, p->varnames, p->freevars, p->cellvars, p->filename, p->name,
        p->qualname, p->firstlineno, p->linetable, p->exceptiontable);
#endif
}

#if DT_PY310

DT_OWNED PyCodeObject *
dt_code_with(PyCodeObject *code, const DtCodeParts *p)
{
    return PyCode_NewWithPosOnlyArgs(
        code->co_argcount, code->co_posonlyargcount, code->co_kwonlyargcount, code->co_nlocals,
        p->stacksize, code->co_flags, p->code, p->consts, code->co_names, code->co_varnames,
        code->co_freevars, code->co_cellvars, code->co_filename, code->co_name,
        code->co_firstlineno, p->linetable);
}

#else

/* A new code object derives the kinds of its slots from three tuples of names, which can't say that
 * a variable is hidden (of a comprehension in a class body, 3.12 on).  Same slots, same kinds. */
static void
share_slot_kinds(PyCodeObject *made, PyCodeObject *code)
{
    if (PyBytes_GET_SIZE(made->co_localspluskinds) == PyBytes_GET_SIZE(code->co_localspluskinds)) {
        PyObject *derived = made->co_localspluskinds;
        Py_INCREF(code->co_localspluskinds);
        made->co_localspluskinds = code->co_localspluskinds;
        Py_DECREF(derived);
    }
}

DT_OWNED PyCodeObject *
dt_code_with(PyCodeObject *code, const DtCodeParts *p)
{
    PyCodeObject *made = NULL;
    DtCodeParts parts = *p;
    parts.argcount = code->co_argcount;
    parts.posonlyargcount = code->co_posonlyargcount;
    parts.kwonlyargcount = code->co_kwonlyargcount;
    parts.flags = code->co_flags;
    parts.firstlineno = code->co_firstlineno;
    parts.names = code->co_names;
    parts.varnames = PyCode_GetVarnames(code);
    parts.cellvars = PyCode_GetCellvars(code);
    parts.freevars = PyCode_GetFreevars(code);
    parts.filename = code->co_filename;
    parts.name = code->co_name;
    parts.qualname = code->co_qualname;
    if (parts.varnames != NULL && parts.cellvars != NULL && parts.freevars != NULL) {
        made = dt_code_new(&parts);
    }
    if (made != NULL) {
        share_slot_kinds(made, code);
    }
    Py_XDECREF(parts.varnames);
    Py_XDECREF(parts.cellvars);
    Py_XDECREF(parts.freevars);
    return made;
}

#endif

bool
dt_code_yield_wraps(PyCodeObject *code)
{
#if DT_PY310
    return (code->co_flags & CO_ASYNC_GENERATOR) != 0;
#else
    (void)code;
    return false;
#endif
}

bool
dt_code_locals_are_snapshots(void)
{
    return DT_PY_AT_LEAST(3, 13);
}
