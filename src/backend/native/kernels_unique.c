/* The kernel of np.unique(a), with the inverse and counts or without.
 *
 * Of integers that lie close together a table is made, with a place for each that there may be; of
 * others, and of floats, a copy is sorted.  Not done: NaN, and zeros of both signs, which are equal
 * but not the same.
 */
#include "backend/native/kernels.h"

#include <math.h>
#include <string.h>

#include "compat/object.h"

enum { INVERSE = 1, COUNTS = 2 }; /* kernel->axis: what is wanted besides the items */

/* Floats without NaN and negative zero are compared as the integers that their bits become. */
static inline npy_intp
float_order(npy_intp bits)
{
    return bits < 0 ? bits ^ INT64_MAX : bits;
}

typedef struct Unique {
    npy_intp *items, total;
    npy_intp *values, *counts, count; /* sorted; with room for one more than there are */
    npy_intp *table;                  /* 2 * total + MORE of them */
} Unique;
enum { MORE = 64 };

#define READ(T)                                                                                    \
    for (npy_intp i = 0; i < total; i++) {                                                         \
        to[i] = (npy_intp)((const T *)from)[i];                                                    \
    }                                                                                              \
    return true

/* False: items of another type, or some that are equal without being the same. */
static bool
read_items(const char *from, int type_num, npy_intp total, npy_intp *to)
{
    switch (type_num) {
    case NPY_BYTE:
        READ(npy_byte);
    case NPY_UBYTE:
        READ(npy_ubyte);
    case NPY_SHORT:
        READ(npy_short);
    case NPY_USHORT:
        READ(npy_ushort);
    case NPY_INT:
        READ(npy_int);
    case NPY_UINT:
        READ(npy_uint);
    case NPY_LONG:
        READ(npy_long);
    case NPY_DOUBLE:
        break;
    default:
        return false;
    }
    memcpy(to, from, (size_t)total * sizeof(npy_intp));
    bool usual = true;
    for (npy_intp i = 0; i < total; i++) {
        usual = usual && !isnan(((const double *)from)[i]) && to[i] != INT64_MIN;
        to[i] = float_order(to[i]);
    }
    return usual;
}

#define WRITE(T)                                                                                   \
    for (npy_intp i = 0; i < count; i++) {                                                         \
        ((T *)to)[i] = (T)from[i];                                                                 \
    }                                                                                              \
    return

static void
write_items(char *to, int type_num, npy_intp count, const npy_intp *from)
{
    switch (type_num) {
    case NPY_BYTE:
    case NPY_UBYTE:
        WRITE(npy_ubyte);
    case NPY_SHORT:
    case NPY_USHORT:
        WRITE(npy_ushort);
    case NPY_INT:
    case NPY_UINT:
        WRITE(npy_uint);
    case NPY_DOUBLE:
        for (npy_intp i = 0; i < count; i++) {
            ((npy_intp *)to)[i] = float_order(from[i]);
        }
        return;
    default:
        WRITE(npy_long);
    }
}

/* Integers of which the least and the largest are no further apart than the table is long. */
static void
find_by_table(Unique *u, npy_intp least, npy_intp length, npy_intp *inverse)
{
    memset(u->table, 0, (size_t)length * sizeof(npy_intp));
    for (npy_intp i = 0; i < u->total; i++) {
        u->table[u->items[i] - least]++;
    }
    for (npy_intp i = 0; i < length; i++) {
        npy_intp found = u->table[i];
        u->values[u->count] = least + i;
        u->counts[u->count] = found;
        u->table[i] = u->count;
        u->count += found != 0;
    }
    for (npy_intp i = 0; inverse != NULL && i < u->total; i++) {
        inverse[i] = u->table[u->items[i] - least];
    }
}

static npy_intp
rank_of(const Unique *u, npy_intp item)
{
    npy_intp low = 0, high = u->count - 1;
    while (low < high) {
        npy_intp middle = (low + high) / 2;
        low = u->values[middle] < item ? middle + 1 : low;
        high = u->values[middle] < item ? high : middle;
    }
    return low;
}

static int
find_by_order(Unique *u, npy_intp *inverse)
{
    memcpy(u->table, u->items, (size_t)u->total * sizeof(npy_intp));
    PyObject *sorted = PyArray_SimpleNewFromData(1, &u->total, NPY_INTP, u->table);
    int failed = sorted == NULL ? -1 : PyArray_Sort((PyArrayObject *)sorted, 0, NPY_QUICKSORT);
    Py_XDECREF(sorted);
    if (failed) {
        return -1;
    }
    for (npy_intp i = 0; i < u->total; i++) {
        bool same = i > 0 && u->table[i] == u->table[i - 1];
        u->count += !same;
        u->values[u->count - 1] = u->table[i];
        u->counts[u->count - 1] = same ? u->counts[u->count - 1] + 1 : 1;
    }
    for (npy_intp i = 0; inverse != NULL && i < u->total; i++) {
        inverse[i] = rank_of(u, u->items[i]);
    }
    return 0;
}

static PyObject *
new_places(npy_intp count)
{
    PyArray_Descr *descr = PyArray_DescrFromType(NPY_INTP);
    PyObject *made = dt_memory_new_array(descr, 1, &count, NULL, 0);
    Py_DECREF(descr); /* NumPy keeps it */
    return made;
}

/* The parts that are wanted, of which `inverse` is stolen. */
static PyObject *
unique_parts(const DtKernel *kernel, const Unique *u, PyObject *inverse)
{
    PyObject *parts[3] = {dt_memory_new_array(kernel->descr, 1, &u->count, NULL, 0)};
    Py_ssize_t count = 1;
    bool ok = parts[0] != NULL;
    if (ok) {
        write_items(PyArray_BYTES((PyArrayObject *)parts[0]), kernel->descr->type_num, u->count,
                    u->values);
    }
    if (inverse != NULL) {
        parts[count] = dt_kernel_whole_view(inverse, 1, &u->total, NULL);
        ok = parts[count++] != NULL && ok;
    }
    if (kernel->axis & COUNTS) {
        parts[count] = new_places(u->count);
        ok = parts[count] != NULL && ok;
        if (parts[count] != NULL) {
            memcpy(PyArray_DATA((PyArrayObject *)parts[count]), u->counts,
                   (size_t)u->count * sizeof(npy_intp));
        }
        count++;
    }
    PyObject *made = !ok ? NULL : count == 1 ? Py_NewRef(parts[0]) : PyTuple_New(count);
    for (Py_ssize_t i = 0; i < count; i++) {
        if (made != NULL && count > 1) {
            PyTuple_SET_ITEM(made, i, parts[i]);
        }
        else {
            Py_XDECREF(parts[i]);
        }
    }
    return made;
}

static DtFusedRun
find_unique(const DtKernel *kernel, DtNativeRun *run, PyArrayObject *array, Unique *u)
{
    if (!read_items(PyArray_BYTES(array), PyArray_TYPE(array), u->total, u->items)) {
        return DT_FUSED_CALL;
    }
    PyObject *inverse = kernel->axis & INVERSE ? new_places(u->total) : NULL;
    if (inverse == NULL && (kernel->axis & INVERSE)) {
        return DT_FUSED_ERROR;
    }
    npy_intp *ranks = inverse != NULL ? PyArray_DATA((PyArrayObject *)inverse) : NULL;
    npy_intp least = u->items[0], largest = u->items[0], length;
    for (npy_intp i = 1; i < u->total; i++) {
        least = u->items[i] < least ? u->items[i] : least;
        largest = u->items[i] > largest ? u->items[i] : largest;
    }
    if (!__builtin_sub_overflow(largest, least, &length) && length < 2 * u->total + MORE) {
        find_by_table(u, least, length + 1, ranks);
    }
    else if (find_by_order(u, ranks) < 0) {
        Py_XDECREF(inverse);
        return DT_FUSED_ERROR;
    }
    run->values[kernel->node->index] = unique_parts(kernel, u, inverse);
    return run->values[kernel->node->index] == NULL ? DT_FUSED_ERROR : DT_FUSED_OK;
}

static DtFusedRun
run_unique(const DtKernel *kernel, const DtStage *stage, DtNativeRun *run)
{
    enum { FEW = 128 };
    npy_intp few[5 * FEW + MORE + 2], *room = few;
    PyArrayObject *array = dt_kernel_array(run, &kernel->values[0]);
    (void)stage;
    if (array == NULL || PyArray_NDIM(array) != 1 || !PyArray_IS_C_CONTIGUOUS(array)
        || PyArray_SIZE(array) == 0 || PyArray_TYPE(array) != kernel->descr->type_num
        || PyArray_NBYTES(array) > DT_KERNEL_MAX_BYTES) {
        return DT_FUSED_CALL;
    }
    npy_intp total = PyArray_SIZE(array);
    if (total > FEW) {
        room = PyMem_Malloc((size_t)(5 * total + MORE + 2) * sizeof(*room));
        if (room == NULL) {
            PyErr_NoMemory();
            return DT_FUSED_ERROR;
        }
    }
    Unique u = {.items = room,
                .total = total,
                .values = room + total,
                .counts = room + 2 * total + 1,
                .table = room + 3 * total + 2};
    DtFusedRun result = find_unique(kernel, run, array, &u);
    if (room != few) {
        PyMem_Free(room);
    }
    return result;
}

static DtStatus
choose_unique(DtNative *exe, DtPlan *plan, const DtNode *node, DtKernel *kernel, bool *ok)
{
    Py_ssize_t nkw = node->kwnames != NULL ? PyTuple_GET_SIZE(node->kwnames) : 0;
    (void)exe;
    (void)plan;
    kernel->run = run_unique;
    if (node->nargs - nkw != 1 || node->nresults > 3 || !dt_kernel_take_value(node, 0, kernel)) {
        return DT_OK;
    }
    for (Py_ssize_t i = 0; i < nkw; i++) {
        const DtOperand *value = &node->args[1 + i];
        PyObject *name = PyTuple_GET_ITEM(node->kwnames, i);
        int part = PyUnicode_CompareWithASCIIString(name, "return_inverse") == 0  ? INVERSE
                   : PyUnicode_CompareWithASCIIString(name, "return_counts") == 0 ? COUNTS
                                                                                  : 0;
        if (part == 0 || value->kind != DT_OPERAND_CONST || value->u.object != Py_True) {
            return DT_OK;
        }
        kernel->axis |= part;
    }
    PyObject *dtype = node->results[0].dtype;
    *ok = dtype != NULL && PyArray_DescrCheck(dtype) && sizeof(npy_long) == sizeof(npy_intp)
          && PyArray_ISNBO(((PyArray_Descr *)dtype)->byteorder)
          && node->nresults == 1u + !!(kernel->axis & INVERSE) + !!(kernel->axis & COUNTS);
    kernel->descr = (PyArray_Descr *)dtype;
    return DT_OK;
}

const DtKernelRow dt_kernels_unique[] = {
    {"numpy.unique", choose_unique},
    {NULL, NULL},
};
