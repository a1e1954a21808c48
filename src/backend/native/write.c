/* Writes: which can't fail, and the short way of making them.
 *
 * A write needs no saved copy if neither it nor anything after it can fail or report anything: then
 * it happens when the run is as good as over.
 */
#include <math.h>
#include <string.h>

#include "adapters/numbers.h"
#include "backend/eager.h"
#include "backend/native/native.h"
#include "adapters/numpy/extent.h"

/* ---- What can't fail ------------------------------------------------------------------------- */

/* An index of numbers and slices, inside the array for every call: the trace has guarded it. */
static bool
is_plain_key(const DtOperand *key, bool inner)
{
    switch ((DtOperandKind)key->kind) {
    case DT_OPERAND_SYM:
        return key->u.sym->type == DT_SYM_INT;
    case DT_OPERAND_CONST:
        return PyLong_CheckExact(key->u.object) || key->u.object == Py_None
               || key->u.object == Py_Ellipsis;
    case DT_OPERAND_TUPLE:
        if (inner) {
            return false;
        }
        break;
    case DT_OPERAND_SLICE:
        break;
    default:
        return false;
    }
    for (uint32_t i = 0; i < key->count; i++) {
        if (!is_plain_key(&key->items[i], true)) {
            return false;
        }
    }
    return true;
}

/* Whether a number can be put into an array of that type without an error or a warning. */
static bool
is_plain_number(const DtOperand *operand, int type_num)
{
    uint64_t cell[2];
    bool wide = type_num == NPY_DOUBLE || type_num == NPY_CDOUBLE;
    if (operand->kind == DT_OPERAND_SYM) {
        return wide || (operand->u.sym->type != DT_SYM_FLOAT && type_num == NPY_LONG)
               || operand->u.sym->type == DT_SYM_BOOL;
    }
    PyObject *number = operand->u.object;
    if (PyBool_Check(number)) {
        return true;
    }
    if (PyLong_CheckExact(number)) {
        return dt_loop_knows_type(type_num) && dt_cast_number(number, type_num, cell);
    }
    if (!PyFloat_CheckExact(number)) {
        return false;
    }
    double value = PyFloat_AS_DOUBLE(number);
    return wide
           || ((type_num == NPY_FLOAT || type_num == NPY_CFLOAT)
               && (value == 0 || !isfinite(value) || (fabs(value) > 1e-30 && fabs(value) < 1e30)));
}

/* A mask of the array's own shape. */
static bool
is_full_mask(const DtOperand *key, const DtMeta *target)
{
    if (key->kind != DT_OPERAND_NODE) {
        return false;
    }
    const DtMeta *meta = &key->u.node->results[key->result];
    bool fits = meta->type == &PyArray_Type && meta->dtype != NULL
                && PyArray_DescrCheck(meta->dtype)
                && ((PyArray_Descr *)meta->dtype)->type_num == NPY_BOOL && meta->ndim > 0
                && meta->ndim == target->ndim;
    for (int i = 0; i < meta->ndim && fits; i++) {
        fits = dt_sym_equal(meta->shape[i], target->shape[i]);
    }
    return fits;
}

/* Is the value as long as what the mask selects?  It is where its size is that of another selection
 * by the same mask, which nothing in the graph writes. */
static bool
is_of_selection(const DtNode *node, const DtMeta *value)
{
    const DtNode *owner, *written;
    const DtOperand *mask = &node->args[1];
    const DtGraph *graph = node->graph;
    bool selected = false;
    if (value->ndim == 0) {
        return true;
    }
    if (value->ndim > 1 || dt_graph_memory(mask, &owner) != DT_MEMORY_OWN) {
        return false;
    }
    for (uint32_t i = 0; i < graph->nodes.count; i++) {
        const DtNode *other = graph->nodes.items[i];
        for (uint32_t j = 0; j < other->nmutated; j++) {
            if (dt_graph_memory(&other->args[other->mutated[j]], &written) == DT_MEMORY_UNKNOWN
                || written == owner) {
                return false;
            }
        }
        selected =
            selected
            || (other->kind == DT_NODE_CALL && other->nargs == 2
                && strcmp(other->target, "operator.getitem") == 0
                && other->args[1].kind == DT_OPERAND_NODE && other->args[1].u.node == mask->u.node
                && other->args[1].result == mask->result && other->results[0].ndim == 1
                && other->results[0].shape[0]->op == DT_SYM_OP_SYMBOL
                && dt_sym_equal(other->results[0].shape[0], value->shape[0]));
    }
    return selected;
}

bool
dt_write_is_plain(const DtOperand *value, const DtMeta *target)
{
    if (target->dtype == NULL || !PyArray_DescrCheck(target->dtype)) {
        return false;
    }
    int type_num = ((PyArray_Descr *)target->dtype)->type_num;
    if (value->kind == DT_OPERAND_CONST || value->kind == DT_OPERAND_SYM) {
        return is_plain_number(value, type_num);
    }
    if (value->kind != DT_OPERAND_NODE) {
        return false;
    }
    const DtMeta *meta = &value->u.node->results[value->result];
    return meta->dtype != NULL && PyArray_DescrCheck(meta->dtype)
           && ((PyArray_Descr *)meta->dtype)->type_num == type_num;
}

bool
dt_write_is_sure(const DtNode *node)
{
    if (!dt_written_is_setitem(node)) {
        return false;
    }
    const DtMeta *target = &node->args[0].u.node->results[node->args[0].result];
    const DtOperand *value = &node->args[2];
    bool by_mask = is_full_mask(&node->args[1], target);
    if (!by_mask && !is_plain_key(&node->args[1], false)) {
        return false;
    }
    return dt_write_is_plain(value, target)
           && (!by_mask || value->kind != DT_OPERAND_NODE
               || is_of_selection(node, &value->u.node->results[value->result]));
}

/* NumPy looks at all of an index, and at the shapes, before it writes the first item. */
static bool
is_index(const DtOperand *key)
{
    if (key->kind == DT_OPERAND_NODE) {
        const DtMeta *meta = &key->u.node->results[key->result];
        PyObject *dtype = meta->dtype;
        return dt_number_kind_of(meta) == 'i'
               || (dtype != NULL && PyArray_DescrCheck(dtype)
                   && (PyTypeNum_ISINTEGER(((PyArray_Descr *)dtype)->type_num)
                       || ((PyArray_Descr *)dtype)->type_num == NPY_BOOL));
    }
    for (uint32_t i = 0; i < key->count; i++) {
        if (!is_index(&key->items[i])) {
            return false;
        }
    }
    return key->count > 0 || is_plain_key(key, true);
}

bool
dt_write_is_whole(const DtNode *node)
{
    if (!dt_written_is_setitem(node) || !is_index(&node->args[1])) {
        return false;
    }
    const DtMeta *target = &node->args[0].u.node->results[node->args[0].result];
    return dt_write_is_plain(&node->args[2], target)
           && dt_loop_knows_type(((PyArray_Descr *)target->dtype)->type_num);
}

bool
dt_write_is_sure_view(const DtNode *node)
{
    static const char *const targets[] = {"ndarray.reshape", "ndarray.transpose",
                                          "ndarray.squeeze"};
    if (node->effect != DT_EFFECT_PURE) {
        return false;
    }
    for (size_t i = 0; i < sizeof(targets) / sizeof(targets[0]); i++) {
        if (strcmp(node->target, targets[i]) == 0) {
            return node->naliases > 0;
        }
    }
    return strcmp(node->target, "operator.getitem") == 0 && node->nargs == 2
           && is_plain_key(&node->args[1], false);
}

/* ---- Memory ---------------------------------------------------------------------------------- */

/* Two generators of random numbers may draw from one state. */
static bool
may_overlap(const DtGraph *graph, PyObject *const *inputs, uint32_t a, uint32_t b)
{
    const char *low_a, *high_a, *low_b, *high_b;
    if (dt_np_extent(inputs[a], &low_a, &high_a) && dt_np_extent(inputs[b], &low_b, &high_b)) {
        return low_a < high_b && low_b < high_a;
    }
    return graph->inputs.items[a].node->results[0].dtype == NULL
           && graph->inputs.items[b].node->results[0].dtype == NULL;
}

DtWriteInputs
dt_write_check_inputs(const DtNative *exe, PyObject *const *inputs)
{
    const DtGraph *graph = exe->base.graph;
    DtWriteInputs answer = DT_WRITE_APART;
    for (uint32_t i = 0; i < exe->nwritten; i++) {
        uint32_t index = exe->written[i];
        const DtAdapter *adapter = graph->inputs.items[index].node->results[0].adapter;
        if (!adapter->can_write(adapter, inputs[index])) {
            return DT_WRITE_REFUSED;
        }
        for (uint32_t j = 0; j < graph->inputs.count; j++) {
            if (j != index && graph->inputs.items[j].node != NULL
                && may_overlap(graph, inputs, index, j)) {
                if (exe->apart) {
                    return DT_WRITE_REFUSED;
                }
                answer = DT_WRITE_OVERLAP;
            }
        }
    }
    return answer;
}

/* ---- Making it ------------------------------------------------------------------------------- */

static bool
dense_alike(PyArrayObject *a, PyArrayObject *b)
{
    int order =
        PyArray_FLAGS(a) & PyArray_FLAGS(b) & (NPY_ARRAY_C_CONTIGUOUS | NPY_ARRAY_F_CONTIGUOUS);
    int ndim = PyArray_NDIM(a);
    return order != 0 && ndim == PyArray_NDIM(b) && PyArray_TYPE(a) == PyArray_TYPE(b)
           && dt_loop_knows_type(PyArray_TYPE(a)) /* of numbers: one type is one size and unit */
           && PyArray_ISNOTSWAPPED(a) && PyArray_ISNOTSWAPPED(b)
           && memcmp(PyArray_DIMS(a), PyArray_DIMS(b), (size_t)ndim * sizeof(npy_intp)) == 0;
}

int
dt_write_run(const DtNode *node, DtNativeRun *run)
{
    int result = -1;
    PyObject *key = NULL;
    PyObject *array = dt_eager_operand(&node->args[0], run->values, run->symbols);
    PyObject *value =
        array == NULL ? NULL : dt_eager_operand(&node->args[2], run->values, run->symbols);
    if (value == NULL) {
        goto done;
    }
    const DtOperand *index = &node->args[1];
    if (index->kind == DT_OPERAND_CONST && PyLong_CheckExact(index->u.object)) {
        result = PyObject_SetItem(array, index->u.object, value);
        goto done;
    }
    bool whole = index->kind == DT_OPERAND_CONST && index->u.object == Py_Ellipsis;
    if (whole && PyArray_CheckExact(array) && PyArray_CheckExact(value)
        && PyArray_ISWRITEABLE((PyArrayObject *)array)
        && dense_alike((PyArrayObject *)array, (PyArrayObject *)value)) {
        memmove(PyArray_DATA((PyArrayObject *)array), PyArray_DATA((PyArrayObject *)value),
                (size_t)PyArray_NBYTES((PyArrayObject *)array));
        result = 0;
        goto done;
    }
    key = dt_eager_operand(index, run->values, run->symbols);
    result = key == NULL ? -1 : PyObject_SetItem(array, key, value);
done:
    Py_XDECREF(key);
    Py_XDECREF(value);
    Py_XDECREF(array);
    return result;
}
