/* Guard programs as bytes (portable.h): writing. */
#include "guards/portable.h"

#include "compat/dict.h"

/* A key or name: ("c", constant) or ("r", reference); None for no key. */
static PyObject *
write_key(PyObject *key)
{
    if (key == NULL) {
        Py_RETURN_NONE;
    }
    if (dt_dict_is_plain_key(key)) {
        return Py_BuildValue("(sO)", "c", key);
    }
    return Py_BuildValue("(sN)", "r", dt_portable_reference(key));
}

static PyObject *
write_number(DtNumber number, uint8_t type)
{
    return type == DT_SYM_FLOAT ? PyFloat_FromDouble(number.d) : PyLong_FromLongLong(number.i);
}

static PyObject *
write_sym(const DtSym *sym)
{
    if (sym == NULL) {
        Py_RETURN_NONE;
    }
    return Py_BuildValue("(iiINNN)", (int)sym->op, (int)sym->type, sym->id,
                         write_number(sym->hint, sym->type), write_sym(sym->a), write_sym(sym->b));
}

static long
register_of(const DtSource *source)
{
    return source == NULL ? -1L : (long)source->id;
}

/* A tuple of `count` rows, each written from `of` and its number; NULL as soon as one is. */
static PyObject *
write_rows(PyObject *(*write)(const void *of, uint32_t i), const void *of, Py_ssize_t count)
{
    PyObject *list = PyTuple_New(count);
    for (Py_ssize_t i = 0; list != NULL && i < count; i++) {
        PyObject *row = write(of, (uint32_t)i);
        if (row == NULL) {
            Py_CLEAR(list);
            break;
        }
        PyTuple_SET_ITEM(list, i, row);
    }
    return list;
}

static PyObject *
write_source(const void *program, uint32_t i)
{
    const DtSource *source = &((const DtGuardProgram *)program)->sources[i];
    return Py_BuildValue("(illNL)", (int)source->kind, register_of(source->base),
                         register_of(source->at), write_key(source->key), (long long)source->index);
}

/* (register, dimension or -1, type, hint); None for symbols that no guard reads. */
static PyObject *
write_symbol(const void *program, uint32_t i)
{
    const DtGuardSymbol *symbol = &((const DtGuardProgram *)program)->symbols[i];
    if (symbol->place == 0) {
        Py_RETURN_NONE;
    }
    return Py_BuildValue("(lLiN)", (long)symbol->place - 1, (long long)symbol->dim,
                         (int)symbol->type, write_number(symbol->hint, symbol->type));
}

static PyObject *
write_key_at(const void *keys, uint32_t i)
{
    return write_key(PyTuple_GET_ITEM((PyObject *)keys, i));
}

static PyObject *
write_keys(PyObject *keys)
{
    return write_rows(write_key_at, keys, PyTuple_GET_SIZE(keys));
}

/* (slots, (element, element ...)) */
static PyObject *
write_layout(PyObject *layout)
{
    PyObject *items = PyTuple_GetSlice(layout, 1, PyTuple_GET_SIZE(layout));
    PyObject *written = items != NULL ? write_keys(items) : NULL;
    Py_XDECREF(items);
    return written != NULL ? Py_BuildValue("(ON)", PyTuple_GET_ITEM(layout, 0), written) : NULL;
}

static PyObject *
write_payload(const DtFact *fact)
{
    switch ((DtGuardKind)fact->kind) {
    case DT_GUARD_TYPE:
    case DT_GUARD_TYPE_VERSION:
    case DT_GUARD_IDENTITY:
    case DT_GUARD_CLASS_VERSION:
        return dt_portable_reference(fact->object);
    case DT_GUARD_LENGTH:
        return Py_BuildValue("(NL)", dt_portable_reference(fact->object), (long long)fact->number);
    case DT_GUARD_CONSTANT:
        if (fact->object != Py_NotImplemented && !dt_dict_is_plain_key(fact->object)) {
            PyErr_Format(PyExc_ValueError, "a guard on a %s can't be written",
                         Py_TYPE(fact->object)->tp_name);
            return NULL;
        }
        if (fact->object == Py_NotImplemented) {
            return Py_BuildValue("()");
        }
        return Py_BuildValue("(O)", fact->object);
    case DT_GUARD_ATTR_ABSENT:
    case DT_GUARD_GLOBAL_ABSENT:
    case DT_GUARD_QUIET_ATTR:
    case DT_GUARD_QUIET_GLOBAL:
        return write_key(fact->object);
    case DT_GUARD_DICT_KEYS:
    case DT_GUARD_SET_ITEMS:
        return write_keys(fact->object);
    case DT_GUARD_DEQUE:
        return Py_NewRef(fact->object);
    case DT_GUARD_SET_LAYOUT:
        /* Strings may lie elsewhere in the next process: then the guard does not hold. */
        return write_layout(fact->object);
    case DT_GUARD_SYM:
        return write_sym(fact->sym);
    case DT_GUARD_ABC_TOKEN:
        PyErr_SetString(PyExc_ValueError,
                        "a guard on what abstract classes have said can't be written");
        return NULL;
    case DT_GUARD_ADAPTER:
    case DT_GUARD_ADAPTER_STATE:
        if (fact->adapter->spec_to_object == NULL) {
            PyErr_Format(PyExc_ValueError, "guards of adapter '%s' can't be written",
                         fact->adapter->name);
            return NULL;
        }
        return Py_BuildValue("(sN)", fact->adapter->name,
                             fact->adapter->spec_to_object(fact->adapter, fact->spec));
    case DT_GUARD_APART:
        return Py_BuildValue("(s)", fact->adapter->name);
    case DT_GUARD_CELL_EMPTY:
    case DT_GUARD_SAME:
    case DT_GUARD_NOT_SAME:
    case DT_GUARD_NOT_DICT_OF:
    case DT_GUARD_NO_KEY:
    case DT_GUARD_QUIET:
    case DT_GUARD_QUIET_CONTENTS:
    case DT_GUARD_PRESENT:
    case DT_GUARD_COUNT:
        break;
    }
    Py_RETURN_NONE;
}

static PyObject *
write_fact(const void *program, uint32_t i)
{
    DtToldFact row;
    dt_program_fact(program, i, &row);
    const DtFact *fact = &row.fact;
    return Py_BuildValue("(sllNOi)", dt_guard_rows[fact->kind].name, register_of(fact->source),
                         register_of(fact->other), write_payload(fact),
                         fact->filename == NULL ? Py_None : fact->filename, fact->line);
}

static PyObject *
write_wanted(const void *program, uint32_t i)
{
    return PyLong_FromUnsignedLong(((const DtGuardProgram *)program)->wanted[i]);
}

PyObject *
dt_program_to_bytes(const DtGuardProgram *program)
{
    if (program->life->dead) {
        PyErr_SetString(PyExc_ValueError, "an object that the guards rely on is gone");
        return NULL;
    }
    PyObject *tree =
        Py_BuildValue("(siiiNNNN)", DT_PORTABLE_NAME, DT_PORTABLE_VERSION, program->free_start,
                      program->argument_slots, write_rows(write_source, program, program->nregs),
                      write_rows(write_symbol, program, program->nsymbols),
                      write_rows(write_fact, program, program->nfacts),
                      write_rows(write_wanted, program, program->nwanted));
    if (tree == NULL) {
        return NULL;
    }
    /* Version 2 has no back references: equal programs give equal bytes. */
    return dt_portable_marshal("dumps", Py_BuildValue("(Ni)", tree, 2));
}
