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
    if (log->count == log->capacity) {
        uint32_t capacity = log->capacity == 0 ? 8 : 2 * log->capacity;
        DtWritten *items = PyMem_Realloc(log->items, capacity * sizeof(DtWritten));
        if (items == NULL) {
            PyErr_NoMemory();
            return NULL;
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
}

/* The same value in every call of a run: constants and symbolic numbers alone. */
static bool
same_operand(const DtOperand *a, const DtOperand *b)
{
    if (a->kind != b->kind || a->count != b->count) {
        return false;
    }
    if (a->kind == DT_OPERAND_NODE && (a->u.node != b->u.node || a->result != b->result)) {
        return false;
    }
    if (a->kind == DT_OPERAND_CONST && a->u.object != b->u.object) {
        return false;
    }
    if (a->kind == DT_OPERAND_SYM && !dt_sym_equal(a->u.sym, b->u.sym)) {
        return false;
    }
    if (a->kind == DT_OPERAND_GRAPH) {
        return false;
    }
    for (uint32_t i = 0; i < a->count; i++) {
        if (!same_operand(&a->items[i], &b->items[i])) {
            return false;
        }
    }
    return true;
}

/* Has the same part been saved?  Then that is what it held before the run. */
static bool
is_saved(const DtWrittenLog *log, const DtNode *node)
{
    for (uint32_t i = 0; i < log->count; i++) {
        const DtNode *other = log->items[i].node;
        if (node->nmutated == 1 && other->nmutated == 1 && dt_written_is_setitem(node)
            && dt_written_is_setitem(other) && same_operand(&node->args[0], &other->args[0])
            && same_operand(&node->args[1], &other->args[1])) {
            return true;
        }
    }
    return false;
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
        if (is_saved(log, node)) {
            release(entry);
            continue;
        }
        if (dt_written_is_setitem(node)
            && !(node->args[1].kind == DT_OPERAND_CONST && node->args[1].u.object == Py_Ellipsis)) {
            entry->key = dt_eager_operand(&node->args[1], values, symbols);
            if (entry->key == NULL) {
                release(entry);
                return DT_RUN_ERROR;
            }
        }
        entry->saved = entry->adapter->save(entry->adapter, entry->array, entry->key);
        if (entry->saved == NULL) {
            release(entry);
            return DT_RUN_ERROR;
        }
        log->count++;
    }
    return DT_RUN_OK;
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
    PyMem_Free(log->items);
    log->items = NULL;
    log->capacity = 0;
}
