/* Kernels of places and sizes.
 *
 *   flatnonzero(a), nonzero(a), argwhere(a)
 *       count, then store each place, and go on to the next if the item there is not zero
 *   searchsorted(a, v)
 *       NumPy's own C function, which its Python function would call
 *   sized(a, ...), longer(a, ...)
 *       the array itself, if it is so large
 *
 * What NumPy gives as a view of memory that it made itself is one here: its base can be seen.
 */
#include "backend/native/kernels.h"

#include <string.h>

#include "backend/native/masks.h"
#include "backend/native/vector.h"
#include "compat/object.h"

static DtFusedRun
give(const DtKernel *kernel, DtNativeRun *run, PyObject *made)
{
    run->values[kernel->node->index] = made;
    return made == NULL ? DT_FUSED_ERROR : DT_FUSED_OK;
}

/* The operand, in C order and neither empty nor large; or NULL. */
static PyArrayObject *
operand(const DtKernel *kernel, const DtNativeRun *run, uint32_t i)
{
    PyArrayObject *array = dt_kernel_array(run, &kernel->values[i]);
    return array != NULL && PyArray_IS_C_CONTIGUOUS(array) && PyArray_SIZE(array) > 0
                   && PyArray_NBYTES(array) <= DT_KERNEL_MAX_COPIED
               ? array
               : NULL;
}

/* ---- Places ---------------------------------------------------------------------------------- */

#define TRUTHS_OF(T)                                                                               \
    {                                                                                              \
        const T *x = (const T *)from;                                                              \
        for (npy_intp i = 0; i < total; i++) {                                                     \
            truths[i] = x[i] != 0;                                                                 \
        }                                                                                          \
    }                                                                                              \
    break

/* False: no such type. */
DT_VECTOR static bool
find_truths(const char *from, int type_num, npy_intp total, npy_bool *truths)
{
    switch (type_num) {
    case NPY_BYTE:
    case NPY_UBYTE:
        TRUTHS_OF(npy_ubyte);
    case NPY_SHORT:
    case NPY_USHORT:
        TRUTHS_OF(npy_ushort);
    case NPY_INT:
    case NPY_UINT:
        TRUTHS_OF(npy_uint);
    case NPY_LONG:
    case NPY_ULONG:
        TRUTHS_OF(npy_ulong);
    case NPY_FLOAT:
        TRUTHS_OF(npy_float);
    case NPY_DOUBLE:
        TRUTHS_OF(npy_double);
    default:
        return false;
    }
    return true;
}

/* The array's truths, in `room` or, if there are more, in new memory that *owned has then; NULL:
 * there are none, or no memory. */
static const npy_bool *
truths_of(PyArrayObject *array, npy_bool *room, npy_intp size, npy_bool **owned)
{
    npy_intp total = PyArray_SIZE(array);
    npy_bool *truths = room;
    *owned = NULL;
    if (PyArray_TYPE(array) == NPY_BOOL) {
        return PyArray_DATA(array);
    }
    if (total > size && (truths = *owned = PyMem_Malloc((size_t)total)) == NULL) {
        return NULL;
    }
    return find_truths(PyArray_BYTES(array), PyArray_TYPE(array), total, truths) ? truths : NULL;
}

/* The places of the truths in order, `count` at most (another thread may write the mask).  No
 * branch is taken on a truth; of few of them each is looked for. */
static npy_intp
store_places(const npy_bool *mask, npy_intp total, npy_intp *places, npy_intp count)
{
    npy_intp *place = places, *end = places + count, i = 0;
    bool few = DT_FIRST_IS_LOWEST && count < total / 4;
    for (; end - place >= 8 && i + 8 <= total; i += 8) {
        DtTruths eight = dt_eight_truths(mask + i);
        if (few) {
            for (eight &= DT_ALL_TRUE; eight != 0; eight &= eight - 1) {
                *place++ = i + __builtin_ctzll(eight) / 8;
            }
            continue;
        }
        for (npy_intp k = 0; k < 8 && eight != 0; k++) {
            *place = i + k;
            place += mask[i + k] & 1;
        }
    }
    for (; place < end && i < total; i++) {
        *place = i;
        place += mask[i] & 1;
    }
    return place - places;
}

/* Places as they are numbered in C order become those in each dimension, the last one first: none
 * is overwritten before it is read.  From place to place it is `stride`, from dimension to
 * dimension `step`. */
static void
split_places(npy_intp *places, npy_intp count, int ndim, const npy_intp *shape, npy_intp step,
             npy_intp stride)
{
    for (npy_intp i = count; i-- > 0 && ndim > 1;) {
        npy_intp place = places[i];
        for (int axis = ndim; axis-- > 0;) {
            places[i * stride + axis * step] = place % shape[axis];
            place /= shape[axis];
        }
    }
}

/* The places of what is not zero in the operand, in `ndim` dimensions (1: as they are numbered in C
 * order): an array of a row per place, or turned, a row per dimension.  NULL: *failed says what
 * becomes of the run. */
static PyObject *
find_places(const DtKernel *kernel, const DtNativeRun *run, int ndim, bool turned,
            DtFusedRun *failed)
{
    PyArrayObject *array = operand(kernel, run, 0);
    *failed = DT_FUSED_CALL;
    if (array == NULL || PyArray_NDIM(array) != (int)kernel->ndim) {
        return NULL;
    }
    npy_bool room[1024], *owned;
    npy_intp total = PyArray_SIZE(array);
    const npy_bool *truths = truths_of(array, room, (npy_intp)sizeof(room), &owned);
    npy_intp count = truths != NULL ? dt_count_truths(truths, total) : 0;
    PyObject *made = NULL;
    if (truths != NULL) {
        npy_intp shape[2] = {turned ? ndim : count, turned ? count : ndim};
        PyArray_Descr *descr = PyArray_DescrFromType(NPY_INTP);
        *failed = DT_FUSED_ERROR;
        made = dt_memory_new_array(descr, 2, shape, NULL, 0);
        Py_DECREF(descr); /* NumPy keeps it */
    }
    if (made != NULL) {
        npy_intp *places = PyArray_DATA((PyArrayObject *)made);
        npy_intp stored = store_places(truths, total, places, count);
        memset(places + stored, 0, (size_t)(count - stored) * sizeof(npy_intp));
        split_places(places, count, ndim, PyArray_DIMS(array), turned ? count : 1,
                     turned ? 1 : ndim);
    }
    PyMem_Free(owned);
    return made;
}

/* A column of `base`, of which it gets a reference of its own. */
static PyObject *
column(PyObject *base, npy_intp count, int axis)
{
    npy_intp stride = PyArray_DIM((PyArrayObject *)base, 1) * (npy_intp)sizeof(npy_intp);
    PyArray_Descr *descr = PyArray_DESCR((PyArrayObject *)base);
    Py_INCREF(descr);
    PyObject *made = PyArray_NewFromDescr(&PyArray_Type, descr, 1, &count, &stride,
                                          PyArray_BYTES((PyArrayObject *)base)
                                              + (count > 0 ? axis * (int)sizeof(npy_intp) : 0),
                                          NPY_ARRAY_WRITEABLE, NULL);
    if (made != NULL && PyArray_SetBaseObject((PyArrayObject *)made, Py_NewRef(base)) < 0) {
        Py_CLEAR(made);
    }
    return made;
}

static DtFusedRun
run_flatnonzero(const DtKernel *kernel, const DtStage *stage, DtNativeRun *run)
{
    DtFusedRun failed;
    (void)stage;
    PyObject *places = find_places(kernel, run, 1, false, &failed);
    if (places == NULL) {
        return failed;
    }
    npy_intp count = PyArray_DIM((PyArrayObject *)places, 0);
    return give(kernel, run, dt_kernel_whole_view(places, 1, &count, NULL));
}

static DtFusedRun
run_nonzero(const DtKernel *kernel, const DtStage *stage, DtNativeRun *run)
{
    DtFusedRun failed;
    int ndim = (int)kernel->ndim;
    (void)stage;
    PyObject *places = find_places(kernel, run, ndim, false, &failed);
    if (places == NULL) {
        return failed;
    }
    PyObject *made = PyTuple_New(ndim);
    for (int axis = 0; made != NULL && axis < ndim; axis++) {
        PyObject *one = column(places, PyArray_DIM((PyArrayObject *)places, 0), axis);
        if (one == NULL) {
            Py_CLEAR(made);
            break;
        }
        PyTuple_SET_ITEM(made, axis, one);
    }
    Py_DECREF(places);
    return give(kernel, run, made);
}

static DtFusedRun
run_argwhere(const DtKernel *kernel, const DtStage *stage, DtNativeRun *run)
{
    DtFusedRun failed;
    (void)stage;
    PyObject *places = find_places(kernel, run, (int)kernel->ndim, true, &failed);
    if (places == NULL) {
        return failed;
    }
    PyObject *made = PyArray_Transpose((PyArrayObject *)places, NULL);
    Py_DECREF(places);
    return give(kernel, run, made);
}

static DtStatus
choose_places(DtNative *exe, DtPlan *plan, const DtNode *node, DtKernel *kernel, bool *ok)
{
    (void)exe;
    (void)plan;
    *ok = node->nargs == 1 && node->kwnames == NULL && dt_kernel_take_value(node, 0, kernel);
    if (*ok) {
        const DtOperand *array = &node->args[0];
        kernel->ndim = array->u.node->results[array->result].ndim;
        bool many = strcmp(node->target, "numpy.nonzero") == 0;
        bool turned = strcmp(node->target, "numpy.argwhere") == 0;
        kernel->run = many ? run_nonzero : turned ? run_argwhere : run_flatnonzero;
        *ok = many ? node->nresults > 1 && node->nresults == kernel->ndim : kernel->ndim > 0;
    }
    return DT_OK;
}

/* ---- NumPy's own functions ------------------------------------------------------------------- */

/* kernel->axis: from the right? */
static DtFusedRun
run_searchsorted(const DtKernel *kernel, const DtStage *stage, DtNativeRun *run)
{
    PyArrayObject *array = operand(kernel, run, 0), *wanted = operand(kernel, run, 1);
    (void)stage;
    if (array == NULL || wanted == NULL || PyArray_NDIM(array) != 1 || PyArray_NDIM(wanted) == 0) {
        return DT_FUSED_CALL;
    }
    return give(kernel, run,
                PyArray_SearchSorted(array, (PyObject *)wanted,
                                     kernel->axis ? NPY_SEARCHRIGHT : NPY_SEARCHLEFT, NULL));
}

static DtStatus
choose_searchsorted(DtNative *exe, DtPlan *plan, const DtNode *node, DtKernel *kernel, bool *ok)
{
    (void)exe;
    (void)plan;
    kernel->run = run_searchsorted;
    bool side =
        node->nargs == 3 && node->args[2].kind == DT_OPERAND_CONST
        && PyUnicode_Check(node->args[2].u.object)
        && (node->kwnames == NULL
            || PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(node->kwnames, 0), "side") == 0);
    if (!(node->nargs == 2 && node->kwnames == NULL) && !side) {
        return DT_OK;
    }
    PyObject *named = side ? node->args[2].u.object : NULL;
    kernel->axis = side && PyUnicode_CompareWithASCIIString(named, "right") == 0;
    *ok = (!side || kernel->axis || PyUnicode_CompareWithASCIIString(named, "left") == 0)
          && dt_kernel_take_value(node, 0, kernel) && dt_kernel_take_value(node, 1, kernel);
    return DT_OK;
}

/* ---- Sizes that have to be so ---------------------------------------------------------------- */

/* kernel->shape[0], the axis, has kernel->shape[1] items. */
static DtFusedRun
run_sized(const DtKernel *kernel, const DtStage *stage, DtNativeRun *run)
{
    PyArrayObject *array = dt_kernel_array(run, &kernel->values[0]);
    npy_intp size;
    (void)stage;
    if (array == NULL || kernel->axis >= PyArray_NDIM(array)
        || !dt_cells_index(kernel->shape, run, &size) || PyArray_DIM(array, kernel->axis) != size) {
        return DT_FUSED_CALL;
    }
    return give(kernel, run, Py_NewRef((PyObject *)array));
}

static DtStatus
choose_sized(DtNative *exe, DtPlan *plan, const DtNode *node, DtKernel *kernel, bool *ok)
{
    npy_intp axis;
    kernel->run = run_sized;
    kernel->shape = DT_ARENA_NEW(&exe->arena, DtCellIndex);
    if (kernel->shape == NULL) {
        return dt_no_memory();
    }
    *ok = node->nargs == 3 && node->kwnames == NULL && dt_kernel_take_value(node, 0, kernel)
          && dt_kernel_constant(&node->args[1], &axis)
          && dt_kernel_index(plan, &node->args[2], kernel->shape);
    kernel->axis = *ok ? (int)axis : 0;
    return DT_OK;
}

/* kernel->ndim: a bit per axis; kernel->axis: than how many items the axes have more. */
static DtFusedRun
run_longer(const DtKernel *kernel, const DtStage *stage, DtNativeRun *run)
{
    PyArrayObject *array = dt_kernel_array(run, &kernel->values[0]);
    npy_intp count = 1;
    (void)stage;
    for (int axis = 0; array != NULL && axis < PyArray_NDIM(array); axis++) {
        count *= kernel->ndim & (1u << axis) ? PyArray_DIM(array, axis) : 1;
    }
    return array != NULL && count > kernel->axis ? give(kernel, run, Py_NewRef((PyObject *)array))
                                                 : DT_FUSED_CALL;
}

static DtStatus
choose_longer(DtNative *exe, DtPlan *plan, const DtNode *node, DtKernel *kernel, bool *ok)
{
    npy_intp than, axis;
    (void)exe;
    (void)plan;
    kernel->run = run_longer;
    if (node->nargs != 3 || node->kwnames != NULL || !dt_kernel_take_value(node, 0, kernel)
        || node->args[1].kind != DT_OPERAND_TUPLE || !dt_kernel_constant(&node->args[2], &than)
        || than > INT16_MAX) {
        return DT_OK;
    }
    for (uint32_t i = 0; i < node->args[1].count; i++) {
        if (!dt_kernel_constant(&node->args[1].items[i], &axis)) {
            return DT_OK;
        }
        kernel->ndim |= 1u << axis;
    }
    kernel->axis = (int)than;
    *ok = true;
    return DT_OK;
}

const DtKernelRow dt_kernels_found[] = {
    {"numpy.flatnonzero", choose_places},
    {"numpy.argwhere", choose_places},
    {"numpy.nonzero", choose_places},
    {"numpy.searchsorted", choose_searchsorted},
    {"dyntrace._numbers.sized", choose_sized},
    {"dyntrace._numbers.longer", choose_longer},
    {NULL, NULL},
};
