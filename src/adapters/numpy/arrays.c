/* Input arrays: which objects are NumPy's, what is guarded of them, and the check.
 *
 * Guarded of an ndarray: exact type, dtype, rank, the flags C, F and ALIGNED, which sizes are
 * 0, 1 or more, and for memory that is neither C nor F ordered also the sign of every
 * stride and the order of the axes in memory.  Sizes of 2 and more are symbols.
 * Guarded of a NumPy scalar: its exact type.
 * Not in here: what is done with arrays.
 */
#include "adapters/numpy/internal.h"

#include <stddef.h>
#include <string.h>

#define CHECKED_FLAGS (NPY_ARRAY_C_CONTIGUOUS | NPY_ARRAY_F_CONTIGUOUS | NPY_ARRAY_ALIGNED)

typedef struct ArraySpec {
    PyTypeObject *type;
    PyArray_Descr *descr; /* of an ndarray */
    int32_t flags;
    uint8_t
        is_state; /* not an array's: the guard of a setting (settings.c), `flags` is its value */
    uint8_t of_dtype; /* a guard of the dtype alone, `type` NULL: 1: it is `descr`, 2: it is not */
    uint8_t ndim;
    uint8_t strides_checked;
    uint8_t ordered;              /* `order` is meaningful */
    uint8_t dims[DT_NP_MAXDIMS];  /* 0, 1, or 2 for more; of a spec without strides the end */
    int8_t signs[DT_NP_MAXDIMS];  /* of the strides, where dims is 2 */
    uint8_t order[DT_NP_MAXDIMS]; /* axes by falling stride */
} ArraySpec;

/* What a guard keeps of it: most arrays are contiguous, and a check reads no more than this. */
static size_t
spec_size(const ArraySpec *spec)
{
    return spec->strides_checked ? sizeof(*spec) : offsetof(ArraySpec, dims) + spec->ndim;
}

static const int scalar_type_nums[] = {
    NPY_DOUBLE, NPY_FLOAT, NPY_LONG,     NPY_BOOL,      NPY_INT,        NPY_CDOUBLE,
    NPY_CFLOAT, NPY_HALF,  NPY_BYTE,     NPY_UBYTE,     NPY_SHORT,      NPY_USHORT,
    NPY_UINT,   NPY_ULONG, NPY_LONGLONG, NPY_ULONGLONG, NPY_LONGDOUBLE, NPY_CLONGDOUBLE,
};
#define SCALAR_TYPES (sizeof(scalar_type_nums) / sizeof(scalar_type_nums[0]))
static PyTypeObject *scalar_types[SCALAR_TYPES];

void
dt_np_arrays_init(void)
{
    dt_np_part.base = &PyArray_Type;
    dt_array_part_register(&dt_np_part);
    for (size_t i = 0; i < SCALAR_TYPES; i++) {
        PyArray_Descr *descr = PyArray_DescrFromType(scalar_type_nums[i]);
        scalar_types[i] = descr->typeobj; /* static types of NumPy */
        Py_DECREF(descr);
    }
}

int
dt_np_scalar_type_num(const PyTypeObject *type)
{
    for (size_t i = 0; i < SCALAR_TYPES; i++) {
        if (type == scalar_types[i]) {
            return scalar_type_nums[i];
        }
    }
    return -1;
}

bool
dt_np_is_array(const DtAdapter *adapter, PyObject *object)
{
    (void)adapter;
    return Py_IS_TYPE(object, &PyArray_Type)
               ? !dt_np_dtype_called(PyArray_DESCR((PyArrayObject *)object))
               : dt_np_scalar_type_num(Py_TYPE(object)) >= 0;
}

bool
dt_np_dtype_captured(const PyArray_Descr *descr)
{
    int num = descr->type_num; /* of kinds of dtypes that others have made: -1 */
    if (num < 0 || (!PyTypeNum_ISNUMBER(num) && num != NPY_BOOL)) {
        return false;
    }
    return PyDataType_METADATA(descr) == NULL && !PyDataType_HASFIELDS(descr);
}

bool
dt_np_is_fixed(const DtAdapter *adapter, PyObject *object)
{
    (void)adapter;
    return PyArray_DescrCheck(object) && dt_np_dtype_captured((PyArray_Descr *)object);
}

/* ---- Building -------------------------------------------------------------------------------- */

static npy_intp
magnitude(npy_intp stride)
{
    return stride < 0 ? -stride : stride;
}

/* Axes by falling stride, those of size 1 and ties in place; false when some axis overlaps (stride
 * 0). */
static bool
sort_axes(PyArrayObject *array, uint8_t *order)
{
    int ndim = PyArray_NDIM(array);
    bool distinct = true;
    for (int i = 0; i < ndim; i++) {
        order[i] = (uint8_t)i;
        if (PyArray_DIM(array, i) > 1 && PyArray_STRIDE(array, i) == 0) {
            distinct = false;
        }
    }
    for (int i = 1; i < ndim; i++) {
        uint8_t axis = order[i];
        int place = i;
        for (int j = i - 1; j >= 0; j--) {
            npy_intp mine = magnitude(PyArray_STRIDE(array, axis));
            npy_intp other = magnitude(PyArray_STRIDE(array, order[j]));
            if (PyArray_DIM(array, axis) <= 1) {
                break;
            }
            if (PyArray_DIM(array, order[j]) <= 1) {
                continue;
            }
            if (mine <= other) {
                break;
            }
            place = j;
        }
        memmove(&order[place + 1], &order[place], (size_t)(i - place));
        order[place] = axis;
    }
    return distinct;
}

static void
fill_spec(PyArrayObject *array, ArraySpec *spec)
{
    spec->type = &PyArray_Type;
    spec->descr = PyArray_DESCR(array);
    spec->flags = PyArray_FLAGS(array) & CHECKED_FLAGS;
    spec->ndim = (uint8_t)PyArray_NDIM(array);
    spec->strides_checked = !(spec->flags & (NPY_ARRAY_C_CONTIGUOUS | NPY_ARRAY_F_CONTIGUOUS));
    for (int i = 0; i < spec->ndim; i++) {
        npy_intp dim = PyArray_DIM(array, i), stride = PyArray_STRIDE(array, i);
        spec->dims[i] = (uint8_t)(dim < 2 ? dim : 2);
        spec->signs[i] = (int8_t)(stride < 0 ? -1 : stride > 0);
    }
    if (spec->strides_checked) {
        spec->ordered = sort_axes(array, spec->order);
    }
}

static DtStatus
fill_layout(DtTrace *trace, const ArraySpec *spec, bool writeable, DtMeta *meta)
{
    uint32_t layout = 0;
    layout |= spec->flags & NPY_ARRAY_C_CONTIGUOUS ? DT_LAYOUT_C : 0u;
    layout |= spec->flags & NPY_ARRAY_F_CONTIGUOUS ? DT_LAYOUT_F : 0u;
    layout |= spec->flags & NPY_ARRAY_ALIGNED ? DT_LAYOUT_ALIGNED : 0u;
    layout |= PyArray_ISNBO(spec->descr->byteorder) ? DT_LAYOUT_NATIVE : 0u;
    layout |= writeable ? DT_LAYOUT_WRITEABLE : 0u;
    int8_t *order = DT_ARENA_ARRAY(&trace->arena, int8_t, spec->ndim + 1);
    if (order == NULL) {
        return dt_no_memory();
    }
    for (int i = 0; i < spec->ndim; i++) {
        if (spec->strides_checked) {
            order[i] = (int8_t)spec->order[i];
            layout |= spec->dims[i] == 2 && spec->signs[i] < 0 ? DT_LAYOUT_NEGATIVE : 0u;
        }
        else {
            order[i] = (int8_t)(layout & DT_LAYOUT_C ? i : spec->ndim - 1 - i);
        }
    }
    meta->layout = layout;
    meta->stride_order = !spec->strides_checked || spec->ordered ? order : NULL;
    return DT_OK;
}

static DtStatus
fill_shape(DtTrace *trace, PyArrayObject *array, const DtSource *source, DtMeta *meta)
{
    for (int i = 0; i < PyArray_NDIM(array); i++) {
        DtNumber hint = {.i = PyArray_DIM(array, i)};
        if (hint.i < 2) {
            meta->shape[i] = dt_np_size(trace, hint.i);
            if (meta->shape[i] == NULL) {
                return DT_ERROR;
            }
            continue;
        }
        const DtSource *dim = dt_source_get(trace, DT_SOURCE_ARRAY_DIM, source, NULL, i);
        if (dim == NULL) {
            return DT_ERROR;
        }
        DT_TRY(dt_trace_symbol(trace, dim, DT_SYM_INT, hint, &meta->shape[i]));
        if (trace->options.dynamic == 0) {
            DT_TRY(dt_trace_specialize(trace, meta->shape[i]));
            meta->shape[i] = dt_np_size(trace, hint.i);
            if (meta->shape[i] == NULL) {
                return DT_ERROR;
            }
        }
    }
    return DT_OK;
}

static DtStatus
build_scalar(DtTrace *trace, PyObject *object, ArraySpec *spec, DtMeta **meta)
{
    spec->type = Py_TYPE(object);
    PyObject *dtype = dt_np_dtype(dt_np_scalar_type_num(spec->type));
    *meta = dtype != NULL ? dt_np_meta(trace, dtype, 0) : NULL;
    if (*meta == NULL) {
        return DT_ERROR;
    }
    dt_np_meta_unwrap(*meta);
    (*meta)->layout = DT_LAYOUT_C | DT_LAYOUT_F | DT_LAYOUT_ALIGNED | DT_LAYOUT_NATIVE;
    return DT_OK;
}

static DtStatus
build_array(DtTrace *trace, PyArrayObject *array, const DtSource *source, ArraySpec *spec,
            DtMeta **meta)
{
    PyArray_Descr *descr = PyArray_DESCR(array);
    if (dt_np_adapter_of_dtype((PyObject *)descr) == NULL) {
        const PyTypeObject *type = descr->typeobj; /* of items; others' kinds may have none */
        return dt_break(trace, DT_BREAK_ARRAY_KIND, "an array of dtype %s",
                        (type != NULL ? type : Py_TYPE(descr))->tp_name);
    }
    if (PyArray_NDIM(array) > DT_NP_MAXDIMS) {
        return dt_break(trace, DT_BREAK_ARRAY_KIND, "an array of %d dimensions",
                        PyArray_NDIM(array));
    }
    fill_spec(array, spec);
    *meta = dt_np_meta(trace, (PyObject *)descr, spec->ndim);
    if (*meta == NULL) {
        return DT_ERROR;
    }
    spec->descr = dt_np_descr((*meta)->dtype);
    DT_TRY(fill_layout(trace, spec, PyArray_ISWRITEABLE(array), *meta));
    (*meta)->layout |= dt_np_is_usual_dtype((PyObject *)descr) ? 0u : DT_LAYOUT_OWN_DTYPE;
    return fill_shape(trace, array, source, *meta);
}

DtStatus
dt_np_build(const DtAdapter *adapter, DtTrace *trace, PyObject *object, const DtSource *source,
            DtVar **out)
{
    ArraySpec spec;
    DtMeta *meta;
    memset(&spec, 0, sizeof(spec));
    DT_TRY(dt_trace_use_adapter(trace, adapter));
    if (Py_IS_TYPE(object, &PyArray_Type)) {
        DT_TRY(build_array(trace, (PyArrayObject *)object, source, &spec, &meta));
    }
    else {
        DT_TRY(build_scalar(trace, object, &spec, &meta));
    }
    PyObject *refs[] = {(PyObject *)spec.type, (PyObject *)spec.descr};
    DT_TRY(dt_guard_adapter(trace, source, adapter, &spec, spec_size(&spec), refs,
                            spec.descr != NULL ? 2 : 1));
    DtNode *node;
    DT_TRY(dt_graph_input(trace->graph, source, meta, &node));
    DT_TRY(dt_var_array(trace, node, 0, meta, out));
    (*out)->source = source;
    return DT_OK;
}

/* The array of an existing instance of a class derived from ndarray: the input is the instance,
 * which no operation is given but the one that makes a plain array of the same memory. */
DtStatus
dt_np_build_part(DtTrace *trace, PyObject *object, const DtSource *source, DtVar **out)
{
    ArraySpec spec;
    DtMeta *meta, *plain;
    DtNode *node;
    memset(&spec, 0, sizeof(spec));
    DT_TRY(dt_trace_use_adapter(trace, &dt_np_adapter));
    DT_TRY(build_array(trace, (PyArrayObject *)object, source, &spec, &meta));
    spec.type = Py_TYPE(object);
    PyObject *refs[] = {(PyObject *)spec.type, (PyObject *)spec.descr};
    DT_TRY(dt_guard_adapter(trace, source, &dt_np_adapter, &spec, spec_size(&spec), refs, 2));
    DT_TRY(dt_graph_input(trace->graph, source, meta, &node));
    plain = dt_np_meta(trace, meta->dtype, meta->ndim);
    if (plain == NULL) {
        return DT_ERROR;
    }
    const DtSym **shape = plain->shape;
    *plain = *meta;
    plain->shape = shape;
    memcpy(shape, meta->shape, sizeof(shape[0]) * meta->ndim);
    DtOperand operand = {.kind = DT_OPERAND_NODE, .u.node = node};
    return dt_np_emit_view(trace, DT_NP_plain_part, &operand, 1, plain, out);
}

DtStatus
dt_np_guard_dtype_object(DtTrace *trace, const DtNode *input)
{
    ArraySpec spec;
    const DtMeta *meta = &input->results[0];
    memset(&spec, 0, sizeof(spec));
    spec.descr = dt_np_descr(meta->dtype);
    spec.of_dtype = meta->layout & DT_LAYOUT_OWN_DTYPE ? 2 : 1;
    PyObject *refs[] = {(PyObject *)spec.descr};
    return dt_guard_adapter(trace, input->source, meta->adapter, &spec, spec_size(&spec), refs, 1);
}

/* ---- The check ------------------------------------------------------------------------------- */

static bool
strides_hold(const ArraySpec *spec, PyArrayObject *array)
{
    for (int i = 0; i < spec->ndim; i++) {
        npy_intp stride = PyArray_STRIDE(array, i);
        if (spec->dims[i] == 2 && spec->signs[i] != (stride < 0 ? -1 : stride > 0)) {
            return false;
        }
    }
    if (!spec->ordered) {
        return true;
    }
    npy_intp last = NPY_MAX_INTP;
    for (int i = 0; i < spec->ndim; i++) {
        int axis = spec->order[i];
        npy_intp stride = magnitude(PyArray_STRIDE(array, axis));
        if (spec->dims[axis] == 2) {
            if (stride > last) {
                return false;
            }
            last = stride;
        }
    }
    return true;
}

/* Another dtype object for the same thing: arrays read from files and pickles carry their own. */
static bool
same_dtype(const PyArray_Descr *wanted, const PyArray_Descr *found)
{
    return found->type_num == wanted->type_num
           && (dt_np_dtype_captured(found) || dt_np_dtype_called(found))
           && PyArray_EquivTypes((PyArray_Descr *)wanted, (PyArray_Descr *)found);
}

/* Of an instance of a class derived from ndarray, too. */
static bool __attribute__((noinline))
dtype_holds(const ArraySpec *spec, PyObject *object)
{
    return PyArray_Check(object)
           && (PyArray_DESCR((PyArrayObject *)object) == spec->descr) == (spec->of_dtype == 1);
}

/* What arrays rarely have to be asked; not inlined, so that the usual questions need no stack. */
static int __attribute__((noinline))
check_further(const ArraySpec *spec, PyArrayObject *array)
{
    return (PyArray_DESCR(array) == spec->descr || same_dtype(spec->descr, PyArray_DESCR(array)))
           && (!spec->strides_checked || strides_hold(spec, array));
}

int
dt_np_check(const DtAdapter *adapter, const void *data, PyObject *object)
{
    const ArraySpec *spec = data;
    (void)adapter;
    if (DT_UNLIKELY(Py_TYPE(object) != spec->type)) {
        return spec->of_dtype && dtype_holds(spec, object);
    }
    if (spec->descr == NULL) {
        return 1;
    }
    PyArrayObject *array = (PyArrayObject *)object;
    if (DT_UNLIKELY(PyArray_NDIM(array) != spec->ndim
                    || (PyArray_FLAGS(array) & CHECKED_FLAGS) != spec->flags)) {
        return 0;
    }
    const npy_intp *dims = PyArray_DIMS(array);
    for (int i = 0; i < spec->ndim; i++) {
        if (DT_UNLIKELY((dims[i] < 2 ? dims[i] : 2) != spec->dims[i])) {
            return 0;
        }
    }
    return DT_LIKELY(PyArray_DESCR(array) == spec->descr && !spec->strides_checked)
           || check_further(spec, array);
}

uint64_t
dt_np_tell_apart(const DtAdapter *adapter, PyObject *object)
{
    (void)adapter;
    if (!PyArray_CheckExact(object)) {
        return 0;
    }
    PyArrayObject *array = (PyArrayObject *)object;
    uint64_t key = (uint64_t)(uintptr_t)PyArray_DESCR(array);
    key = key * 31 + (uint64_t)(PyArray_FLAGS(array) & CHECKED_FLAGS);
    key = key * 31 + (uint64_t)PyArray_NDIM(array);
    for (int i = 0; i < PyArray_NDIM(array); i++) {
        npy_intp dim = PyArray_DIM(array, i);
        key = key * 4 + (uint64_t)(dim < 2 ? dim : 2);
    }
    return key;
}

int64_t
dt_np_dim(const DtAdapter *adapter, PyObject *object, int dim)
{
    (void)adapter;
    return PyArray_DIM((PyArrayObject *)object, dim);
}

/* ---- Text ------------------------------------------------------------------------------------ */

static const char *
scalar_name(const PyTypeObject *type)
{
    const char *dot = strrchr(type->tp_name, '.');
    return dot != NULL ? dot + 1 : type->tp_name;
}

static void
print_layout(int flags, DtStrbuf *out)
{
    bool c = flags & NPY_ARRAY_C_CONTIGUOUS, f = flags & NPY_ARRAY_F_CONTIGUOUS;
    dt_strbuf_add(out, c && f ? ", contiguous" : c ? ", C order" : f ? ", F order" : ", strided");
    if (!(flags & NPY_ARRAY_ALIGNED)) {
        dt_strbuf_add(out, ", unaligned");
    }
}

void
dt_np_print_guard(const DtAdapter *adapter, const void *data, DtStrbuf *out)
{
    static const char *const sizes[] = {"0", "1", ">=2"};
    const ArraySpec *spec = data;
    (void)adapter;
    if (spec->is_state) {
        dt_np_print_setting(spec->is_state, spec->flags, out);
        return;
    }
    if (spec->descr == NULL) {
        dt_strbuf_addf(out, "a numpy.%s", scalar_name(spec->type));
        return;
    }
    if (spec->of_dtype) {
        dt_strbuf_addf(out, "its dtype is %s object for %s",
                       spec->of_dtype == 1 ? "NumPy's" : "another",
                       scalar_name(spec->descr->typeobj));
        return;
    }
    dt_strbuf_addf(out, "an ndarray of %s%s, shape (",
                   PyArray_ISNBO(spec->descr->byteorder) ? "" : "swapped ",
                   scalar_name(spec->descr->typeobj));
    for (int i = 0; i < spec->ndim; i++) {
        dt_strbuf_addf(out, "%s%s", i ? ", " : "", sizes[spec->dims[i]]);
    }
    dt_strbuf_add(out, spec->ndim == 1 ? ",)" : ")");
    print_layout(spec->flags, out);
}

void
dt_np_print_found(const DtAdapter *adapter, PyObject *object, DtStrbuf *out)
{
    (void)adapter;
    if (!Py_IS_TYPE(object, &PyArray_Type)) {
        dt_strbuf_addf(out, "a %s", Py_TYPE(object)->tp_name);
        return;
    }
    PyArrayObject *array = (PyArrayObject *)object;
    dt_strbuf_addf(out, "an ndarray of %s%s, shape (",
                   PyArray_ISNOTSWAPPED(array) ? "" : "swapped ",
                   scalar_name(PyArray_DESCR(array)->typeobj));
    for (int i = 0; i < PyArray_NDIM(array); i++) {
        dt_strbuf_addf(out, "%s%lld", i ? ", " : "", (long long)PyArray_DIM(array, i));
    }
    dt_strbuf_add(out, PyArray_NDIM(array) == 1 ? ",)" : ")");
    print_layout(PyArray_FLAGS(array), out);
}

/* ---- Serialisation --------------------------------------------------------------------------- */

PyObject *
dt_np_spec_to_object(const DtAdapter *adapter, const void *data)
{
    const ArraySpec *spec = data;
    (void)adapter;
    if (spec->descr != NULL && spec->type != &PyArray_Type && !spec->of_dtype) {
        PyErr_Format(PyExc_ValueError, "a guard of an instance of %s can't be saved",
                     spec->type->tp_name);
        return NULL;
    }
    int num = spec->descr != NULL ? spec->descr->type_num
              : spec->is_state    ? -1
                                  : dt_np_scalar_type_num(spec->type);
    Py_ssize_t nstrides = spec->strides_checked ? spec->ndim : 0;
    const char order[] = {spec->descr != NULL ? spec->descr->byteorder : '=', 0};
    return Py_BuildValue("iisiiiiiy#y#y#", spec->descr != NULL, num, order, (int)spec->flags,
                         (int)spec->is_state, (int)spec->of_dtype, (int)spec->strides_checked,
                         (int)spec->ordered, spec->dims, (Py_ssize_t)spec->ndim,
                         (const char *)spec->signs, nstrides, (const char *)spec->order, nstrides);
}

static DtStatus
restore_dtype(DtTrace *trace, ArraySpec *spec, int num, bool is_array, char order)
{
    PyArray_Descr *descr = PyArray_DescrFromType(num);
    if (descr == NULL) {
        return DT_ERROR;
    }
    spec->type = is_array ? &PyArray_Type : descr->typeobj;
    if (is_array && !PyArray_ISNBO(order)) {
        Py_SETREF(descr, PyArray_DescrNewByteorder(descr, NPY_SWAP));
        if (descr == NULL) {
            return DT_ERROR;
        }
    }
    spec->descr = is_array ? descr : NULL;
    return dt_trace_keep_take(trace, (PyObject *)descr) != NULL ? DT_OK : DT_ERROR;
}

DtStatus
dt_np_spec_from_object(const DtAdapter *adapter, DtTrace *trace, PyObject *object, void **out,
                       size_t *size)
{
    int is_array, num, flags, is_state, of_dtype, checked, ordered;
    const char *byteorder, *dims, *signs, *order;
    Py_ssize_t ndim, nsigns, norder;
    (void)adapter;
    if (!PyTuple_Check(object)) {
        PyErr_SetString(PyExc_ValueError, "the guard of an array is not a tuple");
        return DT_ERROR;
    }
    if (!PyArg_ParseTuple(object, "iisiiiiiy#y#y#", &is_array, &num, &byteorder, &flags, &is_state,
                          &of_dtype, &checked, &ordered, &dims, &ndim, &signs, &nsigns, &order,
                          &norder)) {
        return DT_ERROR;
    }
    Py_ssize_t nstrides = checked ? ndim : 0;
    if (ndim > DT_NP_MAXDIMS || nsigns != nstrides || norder != nstrides) {
        PyErr_SetString(PyExc_ValueError, "the guard of an array has the wrong length");
        return DT_ERROR;
    }
    ArraySpec *spec = DT_ARENA_NEW(&trace->arena, ArraySpec);
    if (spec == NULL) {
        return dt_no_memory();
    }
    spec->flags = flags;
    if (is_state < 0 || is_state > DT_NP_ERROR_CALL) {
        PyErr_SetString(PyExc_ValueError, "the guard of an unknown setting");
        return DT_ERROR;
    }
    spec->is_state = (uint8_t)is_state;
    spec->of_dtype = of_dtype == 0 ? 0 : of_dtype == 1 ? 1 : 2;
    spec->ndim = (uint8_t)ndim;
    spec->strides_checked = (uint8_t)checked;
    spec->ordered = (uint8_t)ordered;
    memcpy(spec->dims, dims, (size_t)ndim);
    memcpy(spec->signs, signs, (size_t)nstrides);
    memcpy(spec->order, order, (size_t)nstrides);
    if (!is_state) {
        DT_TRY(restore_dtype(trace, spec, num, is_array, byteorder[0]));
        spec->type = spec->of_dtype ? NULL : spec->type;
    }
    *out = spec;
    *size = spec_size(spec);
    return DT_OK;
}

/* ---- State ----------------------------------------------------------------------------------- */

DtStatus
dt_np_guard_setting(DtTrace *trace, int which, long *value)
{
    ArraySpec spec;
    memset(&spec, 0, sizeof(spec));
    long now = dt_np_setting(which);
    if (now < 0) {
        return DT_ERROR;
    }
    spec.is_state = (uint8_t)which;
    spec.flags = (int32_t)now;
    if (value != NULL) {
        *value = now;
    }
    return dt_guard_adapter_state(trace, &dt_np_adapter, &spec, sizeof(spec));
}

int
dt_np_check_state(const DtAdapter *adapter, const void *data)
{
    const ArraySpec *spec = data;
    (void)adapter;
    long now = dt_np_setting(spec->is_state);
    return now < 0 ? -1 : now == spec->flags;
}
