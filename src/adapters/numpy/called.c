/* Arrays of dates, texts and records: in the graph, and called, never fused.
 *
 *   dates + step ─────────► numpy.add(dates, step)        the dtype from NumPy's own resolution
 *   points["x"] ──────────► operator.getitem(points, "x")  a view: of numbers, it is fused
 *   points["x"] = v ──────► setitem(points["x"], ..., v)
 *
 * Their adapter is one of its own, so that no rule about numbers ever sees such an array: handlers
 * of the other adapter take them where they ask for them by name (dt_np_any_array,
 * dt_np_read_operands), and everything else breaks.  ops.def lists the methods and attributes that
 * rest on sizes alone (NP_ANY_DTYPE).
 *
 * Not in here: dtypes (called_dtypes.c), objects (they run code of the program), texts of any
 * length, items of texts and records (an item of a record is a view that is no array).
 */
#include "adapters/numpy/internal.h"

#include <string.h>

#include "variables/kinds.h"
#include "variables/substitutes.h"

/* ---- Trackers and guards --------------------------------------------------------------------- */

/* Of a date or a span of time that is no array.  The type comes first, as in the guards of arrays.
 */
typedef struct ScalarSpec {
    PyTypeObject *type;
    PyArray_DatetimeMetaData unit;
} ScalarSpec;

static bool
is_date(const PyTypeObject *type)
{
    return type == &PyDatetimeArrType_Type || type == &PyTimedeltaArrType_Type;
}

bool
dt_np_is_called_type(PyObject *object)
{
    return PyType_Check(object) && is_date((PyTypeObject *)object);
}

static PyArray_DatetimeMetaData
unit_of(PyObject *scalar)
{
    return Py_IS_TYPE(scalar, &PyDatetimeArrType_Type)
               ? ((PyDatetimeScalarObject *)scalar)->obmeta
               : ((PyTimedeltaScalarObject *)scalar)->obmeta;
}

static bool
is_array(const DtAdapter *adapter, PyObject *object)
{
    (void)adapter;
    return Py_IS_TYPE(object, &PyArray_Type)
               ? dt_np_dtype_called(PyArray_DESCR((PyArrayObject *)object))
               : is_date(Py_TYPE(object)) && unit_of(object).base != NPY_FR_GENERIC;
}

/* Metadata of a scalar like this one; NULL with an exception. */
static DtMeta *
scalar_meta(DtTrace *trace, PyObject *scalar)
{
    PyObject *dtype = dt_trace_keep_take(trace, (PyObject *)PyArray_DescrFromScalar(scalar));
    DtMeta *meta = dtype != NULL ? dt_np_meta(trace, dtype, 0) : NULL;
    if (meta != NULL) {
        dt_np_meta_unwrap(meta);
        meta->layout = DT_LAYOUT_C | DT_LAYOUT_F | DT_LAYOUT_ALIGNED | DT_LAYOUT_NATIVE;
    }
    return meta;
}

static DtStatus
build(const DtAdapter *adapter, DtTrace *trace, PyObject *object, const DtSource *source,
      DtVar **out)
{
    if (Py_IS_TYPE(object, &PyArray_Type)) {
        return dt_np_build(adapter, trace, object, source, out);
    }
    ScalarSpec spec;
    DtNode *node;
    memset(&spec, 0, sizeof(spec));
    spec.type = Py_TYPE(object);
    spec.unit = unit_of(object);
    PyObject *refs[] = {(PyObject *)spec.type};
    DtMeta *meta = scalar_meta(trace, object);
    if (meta == NULL) {
        return DT_ERROR;
    }
    DT_TRY(dt_trace_use_adapter(trace, adapter));
    DT_TRY(dt_guard_adapter(trace, source, adapter, &spec, sizeof(spec), refs, 1));
    DT_TRY(dt_graph_input(trace->graph, source, meta, &node));
    DT_TRY(dt_var_array(trace, node, 0, meta, out));
    (*out)->source = source;
    return DT_OK;
}

static int
check(const DtAdapter *adapter, const void *data, PyObject *object)
{
    const ScalarSpec *spec = data;
    if (spec->type == &PyArray_Type) {
        return dt_np_check(adapter, data, object);
    }
    if (dt_np_is_record_guard(data)) {
        return dt_np_check_record_dtype(data, object);
    }
    if (!Py_IS_TYPE(object, spec->type)) {
        return 0;
    }
    PyArray_DatetimeMetaData unit = unit_of(object);
    return unit.base == spec->unit.base && unit.num == spec->unit.num;
}

static void
print_guard(const DtAdapter *adapter, const void *data, DtStrbuf *out)
{
    const ScalarSpec *spec = data;
    if (spec->type == &PyArray_Type) {
        dt_np_print_guard(adapter, data, out);
        return;
    }
    if (dt_np_is_record_guard(data)) {
        dt_strbuf_add(out, "a dtype whose fields have the names that they had");
        return;
    }
    dt_strbuf_addf(out, "a %s of that unit", spec->type->tp_name);
}

/* ---- Operands -------------------------------------------------------------------------------- */

DtArrayVar *
dt_np_any_array(DtVar *var)
{
    var = dt_var_peek(var);
    bool called =
        var->type->kind == DT_KIND_ARRAY && ((DtArrayVar *)var)->adapter == &dt_np_called_adapter;
    return called ? (DtArrayVar *)var : dt_np_array_of(var);
}

DtStatus
dt_np_any_operand(DtTrace *trace, DtVar *var, DtNpOperand *out, bool *ok)
{
    DT_TRY(dt_var_realize(trace, var, &var));
    DtArrayVar *array = dt_np_any_array(var);
    if (array == NULL || array->adapter == &dt_np_adapter) {
        return dt_np_operand(trace, var, out, ok);
    }
    *ok = true;
    *out = (DtNpOperand){.operand = dt_np_node(array), .array = array, .dtype = array->meta->dtype};
    return DT_OK;
}

DtStatus
dt_np_need_date(DtTrace *trace, const DtNpOperand *operand, PyObject *dtype)
{
    bool date = is_date(dt_np_descr(dtype)->typeobj);
    if (date && (dt_np_is_weak(operand) || !is_date(dt_np_descr(operand->dtype)->typeobj))) {
        return dt_break(trace, DT_BREAK_ARRAY_OP, "a number that is taken for a %s",
                        dt_np_descr(dtype)->typeobj->tp_name);
    }
    return DT_OK;
}

/* A text or bytes as an operand; *ok false: it is neither. */
static DtStatus
text_operand(DtTrace *trace, DtVar *var, DtNpOperand *out, bool *ok)
{
    PyObject *constant = dt_var_peek_constant(dt_var_peek(var));
    *ok = constant != NULL && (PyUnicode_CheckExact(constant) || PyBytes_CheckExact(constant));
    if (!*ok) {
        return DT_OK;
    }
    PyObject *array = PyArray_FROM_O(constant);
    if (array == NULL) {
        return DT_ERROR;
    }
    PyObject *dtype = Py_NewRef((PyObject *)PyArray_DESCR((PyArrayObject *)array));
    Py_DECREF(array);
    *out = (DtNpOperand){.operand = dt_np_const(constant),
                         .constant = constant,
                         .dtype = dt_trace_keep_take(trace, dtype)};
    return out->dtype != NULL ? DT_OK : DT_ERROR;
}

/* A text or bytes that stand beside arrays of the same. */
static DtStatus
read_text(DtTrace *trace, DtVar *var, const DtNpOperand *others, uint32_t count, DtNpOperand *out,
          bool *ok)
{
    DtNpOperand text;
    DT_TRY(text_operand(trace, var, &text, ok));
    for (uint32_t i = 0; i < count && *ok; i++) {
        if (others[i].array != NULL
            && dt_np_descr(others[i].dtype)->type_num == dt_np_descr(text.dtype)->type_num) {
            *out = text;
            return DT_OK;
        }
    }
    *ok = false;
    return DT_OK;
}

DtStatus
dt_np_read_operands(DtTrace *trace, DtVar *const *vars, uint32_t count, const char *what,
                    DtNpOperand *out)
{
    bool ok[DT_NP_MAXARGS];
    for (uint32_t i = 0; i < count; i++) {
        DT_TRY(dt_np_any_operand(trace, vars[i], &out[i], &ok[i]));
    }
    for (uint32_t i = 0; i < count; i++) {
        if (!ok[i]) {
            DT_TRY(read_text(trace, vars[i], out, count, &out[i], &ok[i]));
        }
        if (!ok[i]) {
            return dt_break(trace, DT_BREAK_ARRAY_OP, "%s with a %s", what,
                            dt_var_peek(vars[i])->type->name);
        }
    }
    return DT_OK;
}

DtStatus
dt_np_where_called(DtTrace *trace, DtVar *const *slots, bool *done, DtVar **out)
{
    DtNpOperand operands[3];
    DtOperand nodes[3];
    DtMeta *meta;
    bool ok;
    *done = false;
    for (int i = 1; i < 3; i++) {
        DT_TRY(dt_np_any_operand(trace, slots[i], &operands[i], &ok));
        if (!ok) {
            DT_TRY(text_operand(trace, slots[i], &operands[i], &ok));
        }
        bool called = ok && !dt_np_is_weak(&operands[i])
                      && dt_np_dtype_called(dt_np_descr(operands[i].dtype));
        if (!called || dt_np_descr(operands[i].dtype)->type_num == NPY_VOID
            || dt_np_descr(operands[i].dtype)->type_num
                   != dt_np_descr(operands[1].dtype)->type_num) {
            return DT_OK;
        }
    }
    DT_TRY(dt_np_operand(trace, slots[0], &operands[0], &ok));
    if (!ok) {
        return DT_OK;
    }
    PyObject *dtype = (PyObject *)PyArray_PromoteTypes(dt_np_descr(operands[1].dtype),
                                                       dt_np_descr(operands[2].dtype));
    if (dtype == NULL) {
        return dt_break_on_exception(trace);
    }
    dtype = dt_trace_keep_take(trace, dtype);
    dtype = dtype != NULL ? dt_np_one_dtype(dtype) : NULL;
    if (dtype == NULL) {
        return DT_ERROR;
    }
    DT_TRY(dt_np_agree(trace, operands, 3));
    for (int i = 0; i < 3; i++) {
        nodes[i] = operands[i].operand;
    }
    DT_TRY(dt_np_elementwise_meta(trace, operands, 3, dtype, &meta));
    *done = true;
    return dt_np_emit_one(trace, DT_NP_where, nodes, 3, meta, out);
}

static DtStatus
holds_called(DtTrace *trace, DtVar *var, int depth, bool *out)
{
    DtVar **items;
    uint32_t count;
    bool many, none;
    DT_TRY(dt_np_holds_no_array(trace, var, &none));
    if (none) {
        *out = false; /* stays unread, for who takes any (buffers.c, files.c, lists.c) */
        return DT_OK;
    }
    DT_TRY(dt_var_realize(trace, var, &var));
    var = dt_var_peek(var);
    *out =
        var->type->kind == DT_KIND_ARRAY && ((DtArrayVar *)var)->adapter == &dt_np_called_adapter;
    if (*out || depth == 0) {
        return DT_OK;
    }
    DT_TRY(dt_np_items(trace, var, &items, &count, &many));
    for (uint32_t i = 0; many && i < count && !*out; i++) {
        DT_TRY(holds_called(trace, items[i], depth - 1, out));
    }
    return DT_OK;
}

DtStatus
dt_np_holds_called(DtTrace *trace, const DtArgs *args, bool *out)
{
    *out = false;
    for (uint32_t i = 0; i < args->npos + args->nkw && !*out; i++) {
        DtVar *var = i < args->npos ? args->pos[i] : args->kw[i - args->npos];
        DT_TRY(holds_called(trace, var, 1, out));
    }
    return DT_OK;
}

/* ---- Fields and items ------------------------------------------------------------------------ */

/* Metadata of the view of a field: its own axes come behind those of the array. */
static DtStatus
field_meta(DtTrace *trace, const DtMeta *base, PyArray_Descr *field, DtMeta **out)
{
    PyArray_ArrayDescr *sub = PyDataType_SUBARRAY(field);
    PyObject *dtype = sub != NULL ? (PyObject *)sub->base : (PyObject *)field;
    Py_ssize_t inner = sub == NULL                 ? 0
                       : PyTuple_Check(sub->shape) ? PyTuple_GET_SIZE(sub->shape)
                                                   : 1;
    uint32_t ndim = base->ndim + (uint32_t)inner;
    if (dt_np_adapter_of_dtype(dtype) == NULL || ndim > DT_NP_MAXDIMS
        || PyDataType_SUBARRAY(dt_np_descr(dtype)) != NULL) {
        return dt_break(trace, DT_BREAK_ARRAY_KIND, "a field of such a dtype");
    }
    DtMeta *meta = dt_np_meta(trace, dtype, ndim);
    int8_t *order = DT_ARENA_ARRAY(&trace->arena, int8_t, ndim + 1);
    if (meta == NULL || order == NULL) {
        return dt_no_memory();
    }
    memcpy(meta->shape, base->shape, sizeof(meta->shape[0]) * base->ndim);
    for (uint32_t i = 0; i < base->ndim && base->stride_order != NULL; i++) {
        order[i] = base->stride_order[i];
    }
    for (Py_ssize_t i = 0; i < inner; i++) {
        PyObject *size = PyTuple_Check(sub->shape) ? PyTuple_GET_ITEM(sub->shape, i) : sub->shape;
        meta->shape[base->ndim + i] = dt_np_size(trace, PyLong_AsLongLong(size));
        if (meta->shape[base->ndim + i] == NULL) {
            return DT_ERROR;
        }
        order[base->ndim + i] = (int8_t)(base->ndim + i);
    }
    meta->stride_order = base->stride_order != NULL || base->ndim < 2 ? order : NULL;
    meta->layout = (base->layout & DT_LAYOUT_NEGATIVE)
                   | (PyArray_ISNBO(dt_np_descr(dtype)->byteorder) ? DT_LAYOUT_NATIVE : 0u);
    *out = meta;
    return DT_OK;
}

/* array[name]; *found = false: the key is no name. */
static DtStatus
subscript_field(DtTrace *trace, DtArrayVar *self, DtVar *key, DtVar **out, bool *found)
{
    PyObject *name = dt_var_peek_constant(key);
    DtOperand args[2] = {dt_np_node(self)};
    DtMeta *meta;
    *found = name != NULL && PyUnicode_CheckExact(name);
    if (!*found) {
        return DT_OK;
    }
    PyObject *fields = PyDataType_FIELDS(dt_np_descr(self->meta->dtype));
    PyObject *field = fields != NULL && PyDict_Check(fields) && dt_np_is_ndarray(self)
                          ? PyDict_GetItemWithError(fields, name)
                          : NULL;
    if (field == NULL) {
        return PyErr_Occurred() ? DT_ERROR
                                : dt_break(trace, DT_BREAK_RAISES, "an array without such a field");
    }
    DT_TRY(field_meta(trace, self->meta, (PyArray_Descr *)PyTuple_GET_ITEM(field, 0), &meta));
    args[1] = dt_np_const(name);
    return dt_np_emit_view(trace, DT_NP_op_getitem, args, 2, meta, out);
}

/* Is the key that of one item of texts or records? */
static DtStatus
names_item(DtTrace *trace, DtArrayVar *self, DtVar *key, bool *out)
{
    DtNpRegion region;
    *out = !is_date(dt_np_descr(self->meta->dtype)->typeobj) && dt_np_is_ndarray(self);
    if (*out) {
        DT_TRY(dt_np_region(trace, self, key, &region));
        *out = !region.advanced && region.item;
    }
    return DT_OK;
}

static DtStatus
refuse_item(DtTrace *trace, const DtArrayVar *self)
{
    return dt_break(trace, DT_BREAK_ARRAY_KIND, "an item of an array of %s",
                    dt_np_descr(self->meta->dtype)->typeobj->tp_name);
}

static bool
holds_records(const DtArrayVar *self)
{
    const PyArray_Descr *descr = dt_np_descr(self->meta->dtype);
    return descr->type_num == NPY_VOID && PyDataType_NAMES(descr) != NULL;
}

/* records[key]: what stands for it (polyfills/numpy_objects.py) gets the place as an array of no
 * dimensions, records[key, ...]. */
static DtStatus
subscript_record(const DtAdapter *adapter, DtTrace *trace, DtArrayVar *self, DtVar *key,
                 DtVar **out)
{
    PyObject *substitute;
    DtVar *parts[DT_NP_MAXDIMS + 1], **items = &key, *args[2], *function;
    uint32_t count = 1;
    bool many;
    DT_TRY(dt_np_items(trace, key, &items, &count, &many));
    items = many ? items : &key;
    count = many ? count : 1;
    if (count > DT_NP_MAXDIMS) {
        return refuse_item(trace, self);
    }
    memcpy(parts, items, sizeof(items[0]) * count);
    DT_TRY(dt_build_known(trace, Py_Ellipsis, &parts[count]));
    DT_TRY(dt_var_tuple(trace, parts, count + 1, &key));
    DT_TRY(dt_np_subscript(adapter, trace, self, key, &args[0]));
    args[1] = trace->none;
    DT_TRY(dt_substitute_find_object(trace, (PyObject *)&PyVoidArrType_Type, "numpy", &substitute));
    if (substitute == NULL) {
        return refuse_item(trace, self);
    }
    DT_TRY(dt_build_known(trace, substitute, &function));
    DtArgs call = dt_args_of(args, 2);
    return dt_var_call(trace, function, &call, out);
}

static DtStatus
subscript(const DtAdapter *adapter, DtTrace *trace, DtArrayVar *self, DtVar *key, DtVar **out)
{
    bool found;
    DT_TRY(dt_var_realize(trace, key, &key));
    key = dt_var_peek(key);
    DT_TRY(subscript_field(trace, self, key, out, &found));
    if (found) {
        return DT_OK;
    }
    DT_TRY(names_item(trace, self, key, &found));
    if (found) {
        return holds_records(self) ? subscript_record(adapter, trace, self, key, out)
                                   : refuse_item(trace, self);
    }
    return dt_np_subscript(adapter, trace, self, key, out);
}

static DtStatus
ass_subscript(const DtAdapter *adapter, DtTrace *trace, DtArrayVar *self, DtVar *key, DtVar *value)
{
    DtVar *field, *all;
    bool found;
    DT_TRY(dt_var_realize(trace, key, &key));
    key = dt_var_peek(key);
    DT_TRY(subscript_field(trace, self, key, &field, &found));
    if (found) {
        DT_TRY(dt_var_realize(trace, value, &value));
        DtArrayVar *view = dt_np_any_array(field), *array = dt_np_any_array(value);
        DtOperand name = dt_np_const(dt_var_peek_constant(key));
        if (dt_np_is_put_back(self, &name, array)) {
            return DT_OK;
        }
        DT_TRY(dt_build_known(trace, Py_Ellipsis, &all));
        return view->adapter->ass_subscript(view->adapter, trace, view, all, value);
    }
    if (dt_np_descr(self->meta->dtype)->type_num == NPY_VOID) {
        DT_TRY(names_item(trace, self, key, &found));
    }
    if (found) {
        return refuse_item(trace, self);
    }
    return dt_np_ass_subscript(adapter, trace, self, key, value);
}

/* ---- Attributes and methods ------------------------------------------------------------------ */

static const struct Taker {
    const char *name;
    uint32_t first; /* argument of those that are brought to one dtype */
} takers[] = {
#define NP_ANY_DTYPE(NAME) {#NAME, UINT32_MAX},
#define NP_ONE_DTYPE(NAME, FIRST) {#NAME, FIRST},
#include "adapters/numpy/ops.def"
};

/* The row of a function, method or attribute that takes arrays of any dtype, or NULL. */
static const struct Taker *
taker_of(const char *name)
{
    for (size_t i = 0; i < Py_ARRAY_LENGTH(takers); i++) {
        if (strcmp(takers[i].name, name) == 0) {
            return &takers[i];
        }
    }
    return NULL;
}

/* Breaks unless the argument is an array of dates, texts or records, a text, or a sequence of them:
 * of anything else NumPy makes what it takes it for, and may warn. */
static DtStatus
need_no_numbers(DtTrace *trace, DtNpOp op, DtVar *var, int depth)
{
    DtVar **items;
    uint32_t count;
    bool many;
    DT_TRY(dt_var_realize(trace, var, &var));
    var = dt_var_peek(var);
    const DtArrayVar *array = dt_np_any_array(var);
    PyObject *constant = dt_var_peek_constant(var);
    if (array != NULL ? array->adapter == &dt_np_called_adapter
                      : constant != NULL && PyUnicode_CheckExact(constant)) {
        return DT_OK;
    }
    DT_TRY(dt_np_items(trace, var, &items, &count, &many));
    if (!many || depth == 0) {
        return dt_break(trace, DT_BREAK_ARRAY_OP, "%s of a %s and other things than numbers",
                        dt_np_target(op), var->type->name);
    }
    for (uint32_t i = 0; i < count; i++) {
        DT_TRY(need_no_numbers(trace, op, items[i], depth - 1));
    }
    return DT_OK;
}

DtStatus
dt_np_call_any_dtype(DtTrace *trace, DtNpOp op, DtNpFunction rule, const DtArgs *args, DtVar **out)
{
    const struct Taker *taker = taker_of(dt_np_name(op));
    if (taker == NULL) {
        return dt_break(trace, DT_BREAK_ARRAY_KIND, "%s of dates, texts or records",
                        dt_np_target(op));
    }
    if (op == DT_NP_where && args->npos == 3 && args->nkw == 0) {
        bool done;
        DtVar *slots[3];
        for (int i = 0; i < 3; i++) {
            DT_TRY(dt_var_realize(trace, args->pos[i], &slots[i]));
        }
        DT_TRY(dt_np_where_called(trace, slots, &done, out));
        if (done) {
            return DT_OK;
        }
    }
    for (uint32_t i = taker->first; i < args->npos; i++) {
        DT_TRY(need_no_numbers(trace, op, args->pos[i], 1));
    }
    bool takes = rule == dt_np_fn_counted || rule == dt_np_fn_texts || rule == dt_np_fn_late;
    bool rearranges = rule == dt_np_fn_sorted || rule == dt_np_fn_take || rule == dt_np_fn_repeat
                      || rule == dt_np_fn_position;
    return (takes || (rearranges && args->nkw == 0) ? rule : dt_np_fn_dry)(trace, op, args, out);
}

static DtStatus
refuse_name(DtTrace *trace, const DtArrayVar *self, PyObject *name)
{
    return dt_break(trace, DT_BREAK_ARRAY_OP, "%s of %s %s", dt_kinds_text(name),
                    dt_np_is_ndarray(self) ? "an array of" : "a",
                    dt_np_descr(self->meta->dtype)->typeobj->tp_name);
}

/* The polyfill is told what is known of the dtype: it is none of the few that everybody shares. */
static DtStatus
get_dtype(DtTrace *trace, DtArrayVar *self, PyObject *name, DtVar **out)
{
    static const char *const asked[] = {"names", "kind", "char", "itemsize", "num", "name", "str"};
    DtVar *pos[Py_ARRAY_LENGTH(asked)];
    for (size_t i = 0; i < Py_ARRAY_LENGTH(asked); i++) {
        PyObject *value =
            dt_trace_keep_take(trace, PyObject_GetAttrString(self->meta->dtype, asked[i]));
        if (value == NULL) {
            return DT_ERROR;
        }
        DT_TRY(dt_build_known(trace, value, &pos[i]));
    }
    DtArgs args = dt_args_of(pos, Py_ARRAY_LENGTH(asked));
    return dt_np_call_followed(trace, self, name, &args, DT_BREAK_ARRAY_OP, "attribute", out);
}

static DtStatus
get_attr(const DtAdapter *adapter, DtTrace *trace, DtArrayVar *self, PyObject *name, DtVar **out)
{
    if (PyUnicode_CompareWithASCIIString(name, "dtype") == 0 && dt_np_is_ndarray(self)) {
        return get_dtype(trace, self, name, out);
    }
    return taker_of(dt_kinds_text(name)) != NULL ? dt_np_getattr(adapter, trace, self, name, out)
                                                 : refuse_name(trace, self, name);
}

static DtStatus
call_method(const DtAdapter *adapter, DtTrace *trace, DtArrayVar *self, PyObject *name,
            const DtArgs *args, DtVar **out)
{
    return taker_of(dt_kinds_text(name)) != NULL
               ? dt_np_call_method(adapter, trace, self, name, args, out)
               : refuse_name(trace, self, name);
}

/* ---- np.datetime64 and np.timedelta64 -------------------------------------------------------- */

/* A date with a unit, its own or one that is given, and without a zone: NumPy may warn of others.
 */
static bool
is_plain_date(PyObject *text, bool unit)
{
    Py_ssize_t length;
    const char *data = PyUnicode_AsUTF8AndSize(text, &length);
    bool time = false;
    if (data == NULL) {
        PyErr_Clear(); /* surrogates are no date */
        return false;
    }
    if (strcmp(data, "NaT") == 0) {
        return unit;
    }
    for (Py_ssize_t i = 0; i < length; i++) {
        bool digit = data[i] >= '0' && data[i] <= '9';
        if (data[i] == 'T' && !time) {
            time = true;
        }
        else if (!digit && !(time ? data[i] == ':' || data[i] == '.' : data[i] == '-')) {
            return false;
        }
    }
    return length > 0;
}

bool
dt_np_is_plain_date(PyObject *text)
{
    return PyUnicode_CheckExact(text) && is_plain_date(text, false);
}

DtStatus
dt_np_make_date(DtTrace *trace, PyTypeObject *type, const DtArgs *args, DtVar **out)
{
    DtOperand operands[2];
    bool known = args->nkw == 0 && (args->npos == 1 || args->npos == 2);
    for (uint32_t i = 0; i < args->npos && known; i++) {
        PyObject *constant = dt_var_as_constant(trace, args->pos[i]);
        if (constant == NULL && PyErr_Occurred()) {
            return DT_ERROR;
        }
        bool text = constant != NULL && PyUnicode_CheckExact(constant);
        bool number = constant != NULL && PyLong_CheckExact(constant) && args->npos == 2;
        known = i == 0 ? number || (text && is_plain_date(constant, args->npos == 2))
                       : text && PyUnicode_CompareWithASCIIString(constant, "generic") != 0;
        operands[i] = dt_np_const(constant);
    }
    if (!known) {
        return dt_break(trace, DT_BREAK_ARRAY_OP, "%s with such arguments", type->tp_name);
    }
    PyObject *made =
        PyObject_CallFunctionObjArgs((PyObject *)type, operands[0].u.object,
                                     args->npos == 2 ? operands[1].u.object : NULL, NULL);
    if (made == NULL) {
        return dt_break_on_exception(trace);
    }
    DtMeta *meta = scalar_meta(trace, made);
    Py_DECREF(made);
    DtCallSpec spec = {
        .target = type->tp_name,
        .callee = (PyObject *)type,
        .args = operands,
        .nargs = args->npos,
        .results = meta,
        .nresults = 1,
    };
    return meta != NULL ? dt_np_emit(trace, &spec, out) : DT_ERROR;
}

/* ---- The adapter ----------------------------------------------------------------------------- */

static bool
owns_nothing(const DtAdapter *adapter, PyObject *object)
{
    (void)adapter;
    (void)object;
    return false;
}

const DtAdapter dt_np_called_adapter = {
    .name = "numpy.called",
    .is_array = is_array,
    .owns_callable = owns_nothing,
    .build = build,
    .binary = dt_np_binary,
    .compare = dt_np_compare,
    .unary = dt_np_unary,
    .truth = dt_np_truth,
    .length = dt_np_length,
    .subscript = subscript,
    .ass_subscript = ass_subscript,
    .getattr = get_attr,
    .call_method = call_method,
    .iter = dt_np_iter,
    .text = dt_number_text,
    .check = check,
    .tell_apart = dt_np_tell_apart,
    .print_guard = print_guard,
    .print_found = dt_np_print_found,
    .dim = dt_np_dim,
    .extent = dt_np_adapter_extent,
    .save = dt_np_save,
    .restore = dt_np_restore,
    .can_write = dt_np_can_write,
};
