/* Arrays of no dimensions that lie in cells: numpy.asarray(number).
 *
 * Who works on one gets NumPy scalars out of it, so it is a number as long as nobody writes it; an
 * object is made of it where it leaves the stages of cells.
 */
#include <string.h>

#include "backend/native/cells_choose.h"
#include "backend/native/memory.h"

/* Does the operand, or what is in it, show the memory of this node's result? */
static bool
shows(const DtOperand *operand, const DtNode *node)
{
    const DtNode *owner = NULL;
    if (operand->kind == DT_OPERAND_NODE) {
        (void)dt_graph_memory(operand, &owner);
        return owner == node;
    }
    for (uint32_t i = 0; i < operand->count; i++) {
        if (shows(&operand->items[i], node)) {
            return true;
        }
    }
    return false;
}

static bool
may_be_written(const DtNode *node)
{
    const DtGraph *graph = node->graph;
    for (uint32_t i = 0; i < graph->nodes.count; i++) {
        const DtNode *other = graph->nodes.items[i];
        bool any = other->effect == DT_EFFECT_CALLED;
        for (uint32_t j = 0; j < other->nargs; j++) {
            if ((any || other->args[j].kind == DT_OPERAND_GRAPH) && shows(&other->args[j], node)) {
                return true;
            }
        }
        for (uint32_t j = 0; j < other->nmutated; j++) {
            if (shows(&other->args[other->mutated[j]], node)) {
                return true;
            }
        }
    }
    return false;
}

bool
dt_cells_is_array(const DtNode *node)
{
    const DtMeta *meta = &node->results[0];
    return node->nargs == 2 && meta->type == &PyArray_Type && meta->ndim == 0
           && (strcmp(node->target, "numpy.asarray") == 0
               || strcmp(node->target, "numpy.array") == 0)
           && meta->dtype != NULL && PyArray_DescrCheck(meta->dtype)
           && PyArray_ISNBO(((PyArray_Descr *)meta->dtype)->byteorder) && !may_be_written(node);
}

DtCellType
dt_cell_type_made(const DtNode *node)
{
    return dt_cells_is_array(node)
               ? dt_cell_type_of_num(((PyArray_Descr *)node->results[0].dtype)->type_num)
               : dt_cell_type_of(&node->results[0]);
}

PyObject *
dt_cells_new_array(const DtMeta *meta, const DtCell *cell)
{
    PyObject *array = dt_memory_new_array((PyArray_Descr *)meta->dtype, 0, NULL, NULL, 0);
    if (array != NULL) {
        memcpy(PyArray_BYTES((PyArrayObject *)array), cell,
               (size_t)PyArray_ITEMSIZE((PyArrayObject *)array));
    }
    return array;
}
