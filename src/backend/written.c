/* The log of writes that can be taken back. */
#include "backend/written.h"

#include <string.h>

bool
dt_written_is_setitem(const DtNode *node)
{
    return node->nargs == 3 && node->kwnames == NULL && node->nmutated == 1 && node->mutated[0] == 0
           && strcmp(node->target, "operator.setitem") == 0;
}

static const DtMeta *
target_meta(const DtNode *node, uint32_t i)
{
    const DtOperand *operand = &node->args[node->mutated[i]];
    return &operand->u.node->results[operand->result];
}

bool
dt_written_can_undo(const DtNode *node)
{
    const DtNode *owner;
    if (!dt_graph_is_write(node)) {
        return false;
    }
    for (uint32_t i = 0; i < node->nmutated; i++) {
        if (target_meta(node, i)->adapter->save == NULL
            || dt_graph_memory(&node->args[node->mutated[i]], &owner) == DT_MEMORY_UNKNOWN) {
            return false;
        }
    }
    return true;
}

static DtWritten *
new_entry(DtWrittenLog *log)
{
    if (log->items == NULL && log->room != NULL) {
        log->items = log->room;
        log->capacity = DT_WRITTEN_ROOM;
    }
    if (log->count == log->capacity) {
        bool in_room = log->items != NULL && log->items == log->room;
        uint32_t capacity = log->capacity == 0 ? 8 : 2 * log->capacity;
        DtWritten *items = PyMem_Realloc(in_room ? NULL : log->items, capacity * sizeof(DtWritten));
        if (items == NULL) {
            PyErr_NoMemory();
            return NULL;
        }
        if (in_room) {
            memcpy(items, log->room, DT_WRITTEN_ROOM * sizeof(DtWritten));
        }
        log->items = items;
        log->capacity = capacity;
    }
    DtWritten *entry = &log->items[log->count];
    memset(entry, 0, sizeof(*entry));
    return entry;
}

static void
release(DtWritten *entry)
{
    Py_XDECREF(entry->array);
    Py_XDECREF(entry->key);
    Py_XDECREF(entry->saved);
    PyMem_Free(entry->block);
}

/* The same value in every run: nodes, constants and symbolic numbers alone. */
static bool
same_operand(const DtOperand *a, const DtOperand *b)
{
    if (a->kind != b->kind || a->count != b->count || a->kind == DT_OPERAND_GRAPH
        || (a->kind == DT_OPERAND_NODE && (a->u.node != b->u.node || a->result != b->result))
        || (a->kind == DT_OPERAND_CONST && a->u.object != b->u.object)
        || (a->kind == DT_OPERAND_SYM && !dt_sym_equal(a->u.sym, b->u.sym))) {
        return false;
    }
    for (uint32_t i = 0; i < a->count; i++) {
        if (!same_operand(&a->items[i], &b->items[i])) {
            return false;
        }
    }
    return true;
}

static bool
uses_node(const DtOperand *operand)
{
    for (uint32_t i = 0; i < operand->count; i++) {
        if (uses_node(&operand->items[i])) {
            return true;
        }
    }
    return operand->kind == DT_OPERAND_NODE;
}

/* Is there an array of the target's kind in the key?  It may be written itself. */
static bool
uses_array(const DtOperand *key, const DtMeta *target)
{
    if (key->kind == DT_OPERAND_NODE) {
        return key->u.node->results[key->result].type == target->type;
    }
    for (uint32_t i = 0; i < key->count; i++) {
        if (uses_array(&key->items[i], target)) {
            return true;
        }
    }
    return false;
}

/* The same array, or the same part of it looked at twice, as a loop does in each turn. */
static bool
same_array(const DtOperand *a, const DtOperand *b)
{
    if (same_operand(a, b)) {
        return true;
    }
    if (a->kind != DT_OPERAND_NODE || b->kind != DT_OPERAND_NODE) {
        return false;
    }
    const DtNode *one = a->u.node, *other = b->u.node;
    return one->kind == DT_NODE_CALL && other->kind == DT_NODE_CALL && one->nargs == 2
           && other->nargs == 2 && strcmp(one->target, "operator.getitem") == 0
           && strcmp(other->target, "operator.getitem") == 0
           && same_array(&one->args[0], &other->args[0]) && !uses_node(&one->args[1])
           && same_operand(&one->args[1], &other->args[1]);
}

bool
dt_written_is_draw(const DtNode *node)
{
    return node->effect == DT_EFFECT_MUTATES && node->nmutated > 0 && node->mutated[0] == 0
           && target_meta(node, 0)->dtype == NULL;
}

bool
dt_written_is_same_part(const DtNode *a, const DtNode *b)
{
    if (dt_written_is_draw(a) && dt_written_is_draw(b)) {
        return b->nmutated == 1 && same_operand(&a->args[0], &b->args[0]);
    }
    return a->nmutated == 1 && b->nmutated == 1
           && same_array(&a->args[a->mutated[0]], &b->args[b->mutated[0]])
           && dt_written_is_setitem(a) && dt_written_is_setitem(b)
           && same_operand(&a->args[1], &b->args[1]) && !uses_array(&a->args[1], target_meta(a, 0));
}

/* The key of array[key] = value, which finds the same part again whatever is written: index arrays
 * are copied. */
static PyObject *
lasting_key(const DtNode *write, const DtOperand *key, PyObject *const *values,
            const DtNumber *symbols)
{
    const DtMeta *target = target_meta(write, 0);
    bool array = uses_array(key, target);
    if (array && key->kind == DT_OPERAND_TUPLE) {
        PyObject *tuple = PyTuple_New(key->count);
        for (uint32_t i = 0; i < key->count && tuple != NULL; i++) {
            PyObject *item = lasting_key(write, &key->items[i], values, symbols);
            if (item == NULL) {
                Py_CLEAR(tuple);
                break;
            }
            PyTuple_SET_ITEM(tuple, i, item);
        }
        return tuple;
    }
    PyObject *object = dt_eager_operand(key, values, symbols);
    if (object != NULL && array && key->kind == DT_OPERAND_NODE) {
        Py_SETREF(object, target->adapter->save(target->adapter, object, NULL));
    }
    return object;
}

static DtRun
not_saved(DtWritten *entry)
{
    release(entry);
    if (!PyErr_ExceptionMatches(PyExc_MemoryError)) {
        return DT_RUN_ERROR;
    }
    PyErr_Clear(); /* plainly nothing is saved: there may be enough memory for the call itself */
    return DT_RUN_REPLAY;
}

DtRun
dt_written_save(DtWrittenLog *log, const DtNode *node, PyObject *const *values,
                const DtNumber *symbols)
{
    for (uint32_t i = 0; i < node->nmutated; i++) {
        DtWritten *entry = new_entry(log);
        if (entry == NULL) {
            return DT_RUN_ERROR;
        }
        entry->adapter = target_meta(node, i)->adapter;
        entry->node = node;
        entry->array = dt_eager_operand(&node->args[node->mutated[i]], values, symbols);
        if (entry->array == NULL) {
            return DT_RUN_ERROR;
        }
        if (!entry->adapter->can_write(entry->adapter, entry->array)) {
            release(entry);
            return DT_RUN_REPLAY;
        }
        if (dt_written_is_setitem(node)
            && !(node->args[1].kind == DT_OPERAND_CONST && node->args[1].u.object == Py_Ellipsis)) {
            entry->key = lasting_key(node, &node->args[1], values, symbols);
            if (entry->key == NULL) {
                return not_saved(entry);
            }
        }
        entry->saved = entry->adapter->save(entry->adapter, entry->array, entry->key);
        if (entry->saved == NULL) {
            return not_saved(entry);
        }
        log->count++;
    }
    return DT_RUN_OK;
}

int
dt_written_note(DtWrittenLog *log, const DtNode *node, PyObject *array, PyObject *saved)
{
    DtWritten *entry = new_entry(log);
    if (entry == NULL) {
        return -1;
    }
    entry->adapter = target_meta(node, 0)->adapter;
    entry->node = node;
    entry->array = Py_NewRef(array);
    entry->saved = Py_NewRef(saved);
    log->count++;
    return 0;
}

int
dt_written_save_bytes(DtWrittenLog *log, PyObject *array, char *data, uint8_t size)
{
    DtWritten *entry = new_entry(log);
    if (entry == NULL) {
        return -1;
    }
    entry->array = Py_NewRef(array);
    entry->data = data;
    entry->size = size;
    memcpy(entry->held, data, size);
    log->count++;
    return 0;
}

int
dt_written_note_block(DtWrittenLog *log, PyObject *array, void *block,
                      void (*put_back)(void *block))
{
    DtWritten *entry = new_entry(log);
    if (entry == NULL) {
        PyMem_Free(block);
        return -1;
    }
    entry->array = Py_NewRef(array);
    entry->block = block;
    entry->put_back = put_back;
    log->count++;
    return 0;
}

void
dt_written_undo(DtWrittenLog *log)
{
    PyObject *type, *value, *traceback;
    if (log->count == 0) {
        return;
    }
    PyErr_Fetch(&type, &value, &traceback);
    for (uint32_t i = log->count; i-- > 0;) {
        DtWritten *entry = &log->items[i];
        if (entry->data != NULL) {
            memcpy(entry->data, entry->held, entry->size);
            continue;
        }
        if (entry->block != NULL) {
            entry->put_back(entry->block);
            continue;
        }
        if (entry->adapter->restore(entry->adapter, entry->array, entry->key, entry->saved) < 0) {
            /* What was read there can be written there; only memory can be out. */
            PyErr_WriteUnraisable(entry->array);
        }
    }
    PyErr_Restore(type, value, traceback);
    dt_written_forget(log);
}

void
dt_written_forget(DtWrittenLog *log)
{
    while (log->count > 0) {
        release(&log->items[--log->count]);
    }
    if (log->items != log->room) {
        PyMem_Free(log->items);
    }
    log->items = NULL;
    log->capacity = 0;
}
