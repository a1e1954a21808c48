/* Single reads and checks of a guard program; see read.h. */
#include "guards/read.h"

#include "guards/names.h"

#include "compat/dict.h"
#include "compat/dying.h"
#include "compat/iterators.h"
#include "compat/list.h"
#include "compat/object.h"
#include "compat/set.h"
#include "compat/type_names.h"
#include "variables/numbers/sym_apply.h"

/* ---- Attributes ------------------------------------------------------------------------------ */

PyObject *
dt_read_member(PyObject *object, PyObject *descriptor)
{
    return descriptor != NULL ? dt_object_member(object, descriptor) : NULL;
}

/* An attribute of the object's own; NULL if there is none or that can't be told. */
PyObject *
dt_read_own_attr(PyObject *object, DtAttrPlace *place)
{
    PyObject *value = dt_object_get_hinted(object, place->name, place->hint);
    if (value == NULL && dt_object_instance_dict_get(object, place->name, &value) == 1) {
        place->hint = dt_object_hint(object, place->name);
        place->shared = place->hint >= 0 && dt_object_inline_values(object) != NULL;
    }
    return value;
}

/* What lies at the place, in the object itself or in a slot; NULL: nothing. */
static PyObject *
read_kept(PyObject *object, DtAttrPlace *place)
{
    if (PyType_Check(object)) {
        return dt_type_own_find((PyTypeObject *)object, place->name);
    }
    PyObject *value = dt_read_own_attr(object, place);
    return value != NULL ? value
                         : dt_read_member(object, dt_type_find(Py_TYPE(object), place->name));
}

static bool
goes_quietly(DtDying *play, DtQuiet *quiet, const DtGuardFrame *frame, PyObject *const *regs)
{
    PyObject *object = quiet->reg >= 0 ? regs[quiet->reg] : frame->globals;
    int found;
    switch (quiet->kind) {
    case DT_GUARD_QUIET_CONTENTS:
        return dt_dying_contents_go(play, object);
    case DT_GUARD_QUIET_ATTR:
        object = read_kept(object, &quiet->place);
        break;
    case DT_GUARD_QUIET_GLOBAL:
        if (!PyDict_Check(object)) {
            return false;
        }
        object = dt_read_dict(object, quiet->place.name, &quiet->place.hint, &found);
        if (found < 0) {
            return false;
        }
        break;
    default:
        break;
    }
    return object == NULL || dt_dying_goes(play, object);
}

bool
dt_read_are_quiet(const DtQuiets *quiets, const DtGuardFrame *frame, PyObject *const *regs,
                  int32_t *origin)
{
    DtDying play;
    dt_dying_begin(&play, NULL);
    for (uint32_t i = 0; i < quiets->count; i++) {
        if (quiets->rows[i].stays >= 0) {
            dt_dying_stays(&play, regs[quiets->rows[i].stays]);
        }
    }
    bool quiet = true;
    for (uint32_t i = 0; quiet && i < quiets->count; i++) {
        *origin = quiets->rows[i].origin;
        quiet = goes_quietly(&play, &quiets->rows[i], frame, regs);
    }
    dt_dying_end(&play);
    return quiet;
}

PyObject *
dt_read_attr_dict(PyObject *object)
{
    PyObject *dict = NULL;
    if (!PyType_Check(object) && dt_object_type_has_dict(Py_TYPE(object))) {
        dict = dt_object_dict(object);
        PyErr_Clear(); /* MemoryError: the guard fails, and the call runs plainly */
    }
    return dict;
}

PyObject *
dt_read_handled(void)
{
    PyObject *type, *value, *traceback;
    PyErr_GetExcInfo(&type, &value, &traceback);
    Py_XDECREF(type);
    Py_XDECREF(traceback);
    Py_XDECREF(value); /* the thread keeps it */
    return value != NULL ? value : Py_None;
}

PyObject *
dt_read_dict(PyObject *dict, PyObject *name, Py_ssize_t *hint, int *found)
{
    PyObject *value = dt_dict_get_hinted(dict, name, *hint);
    *found = 1;
    if (value == NULL) {
        *found = dt_dict_get(dict, name, &value);
        if (*found == 1) {
            *hint = dt_dict_hint(dict, name);
        }
    }
    return value;
}

int
dt_program_read_attr(PyObject *object, DtAttrPlace *place, PyObject **value)
{
    int found;
    if (PyType_Check(object)) {
        *value = dt_type_find((PyTypeObject *)object, place->name);
        return *value != NULL;
    }
    if (PyModule_Check(object)) {
        PyObject *dict = PyModule_GetDict(object);
        *value = dict == NULL ? NULL : dt_read_dict(dict, place->name, &place->hint, &found);
        return *value != NULL;
    }
    *value = dt_read_own_attr(object, place);
    if (*value == NULL) {
        PyObject *attr = dt_type_find(Py_TYPE(object), place->name);
        PyObject *member = dt_read_member(object, attr);
        /* A function or another descriptor is not what the attribute would give: an own attribute
         * that hid it has gone.  So has what an empty slot held. */
        bool binds = attr != NULL && Py_TYPE(attr)->tp_descr_get != NULL;
        *value = member != NULL ? member : binds ? NULL : attr;
    }
    return *value != NULL;
}

/* Whether the object has no own attribute of that name. */
int
dt_read_is_absent(PyObject *object, DtAttrPlace *place)
{
    PyObject *value;
    PyObject **values = dt_object_inline_values(object);
    if (values != NULL) {
        /* Shared keys only grow while their type lives. */
        PyTypeObject *type = Py_TYPE(object);
        PyDictKeysObject *keys = dt_object_shared_keys(type);
        Py_ssize_t nkeys = dt_dict_keys_count(keys);
        if (place->type != type || place->nkeys != nkeys) {
            if (dt_object_instance_dict_get(object, place->name, &value) != 0) {
                return 0;
            }
            place->type = type;
            place->nkeys = nkeys;
            place->hint = dt_dict_keys_find(keys, place->name);
            return 1;
        }
        if (place->hint >= 0) {
            return values[place->hint] == NULL;
        }
        return 1;
    }
    PyObject *dict = dt_object_existing_dict(object);
    if (dict == NULL) {
        return 1;
    }
    if (place->version == dt_dict_version(dict)) {
        return 1;
    }
    if (dt_dict_get(dict, place->name, &value) != 0) {
        return 0;
    }
    place->version = dt_dict_version(dict);
    return 1;
}

/* The type's tag has gone: has anything in its MRO changed that matters, or was it only taken away?
 */
int
dt_read_verify_type(DtTypeState *state)
{
    PyObject *mro = state->type->tp_mro;
    if (mro == NULL || PyTuple_GET_SIZE(mro) != (Py_ssize_t)state->nbases) {
        return 0;
    }
    for (uint32_t i = 0; i < state->nbases; i++) {
        PyTypeObject *base = (PyTypeObject *)PyTuple_GET_ITEM(mro, i);
        if (base != state->bases[i]) {
            return 0;
        }
        PyObject *dict = dt_type_dict(base);
        uint64_t version = dict == NULL ? 0 : dt_dict_version(dict);
        if (dict == NULL
            || (version != state->versions[i] && !dt_names_are_unchanged(state, i, dict))) {
            return 0;
        }
        state->versions[i] = version;
    }
    state->version = dt_type_version(state->type);
    return 1;
}

int
dt_read_has_length(PyObject *object, PyTypeObject *type, int64_t length)
{
    if (Py_TYPE(object) != type) {
        return 0;
    }
    if (PyTuple_Check(object)) {
        return Py_SIZE(object) == length;
    }
    if (PyList_Check(object)) {
        return Py_SIZE(object) == length && !dt_list_is_being_sorted(object);
    }
    if (PyDict_Check(object)) {
        return ((PyDictObject *)object)->ma_used == length;
    }
    if (PyAnySet_Check(object)) {
        return ((PySetObject *)object)->used == length;
    }
    if (PyUnicode_Check(object)) {
        return PyUnicode_GET_LENGTH(object) == length;
    }
    if (dt_type_is_static(type) && type->tp_as_sequence != NULL
        && type->tp_as_sequence->sq_length != NULL) {
        Py_ssize_t size = type->tp_as_sequence->sq_length(object); /* C code of the interpreter */
        if (size < 0) {
            PyErr_Clear(); /* a length that can't be had is not the expected one */
        }
        return size == length;
    }
    return 0;
}

static int
read_number(DtDimObject *dim, int64_t value, PyObject **out)
{
    if (dim->object == NULL || dim->value != value) {
        PyObject *number = PyLong_FromLongLong(value);
        if (number == NULL) {
            return -1;
        }
        Py_XSETREF(dim->object, number); /* an int: no user code */
        dim->value = value;
    }
    *out = dim->object;
    return 1;
}

int
dt_read_dim(DtDimObject *dim, PyObject *object, PyObject **out)
{
    return read_number(dim, dim->adapter->dim(dim->adapter, object, dim->dim), out);
}

int
dt_read_count(DtDimObject *dim, PyObject *object, PyObject **out)
{
    int64_t value;
    return dt_iterators_count(object, &value) ? read_number(dim, value, out) : 0;
}

int
dt_read_list_size(DtDimObject *dim, PyObject *list, PyObject **out)
{
    return PyList_CheckExact(list) && !dt_list_is_being_sorted(list)
               ? read_number(dim, PyList_GET_SIZE(list), out)
               : 0;
}

int
dt_read_list_array(DtDimObject *kept, PyObject *list, PyObject **out)
{
    PyObject *made = dt_list_array(kept->adapter, list, kept->value);
    if (made == NULL) {
        return PyErr_Occurred() ? -1 : 0;
    }
    Py_XSETREF(kept->object, made); /* an exact array of numbers: no user code */
    *out = made;
    return 1;
}

PyObject *
dt_read_tuple(PyObject *items, int64_t index)
{
    return items != NULL && PyTuple_Check(items) && index < PyTuple_GET_SIZE(items)
               ? PyTuple_GET_ITEM(items, index)
               : NULL;
}

/* The first of the type and its bases that no class statement has made: what it does is C code of
 * the interpreter. */
static PyTypeObject *
fixed_base(PyTypeObject *type)
{
    while (!dt_type_is_static(type) && !(type->tp_flags & Py_TPFLAGS_IMMUTABLETYPE)) {
        type = type->tp_base;
    }
    return type;
}

PyObject *
dt_read_deque(PyObject *deque)
{
    PyTypeObject *base = fixed_base(Py_TYPE(deque));
    PyObject *member = dt_type_own_lookup_text(base, "maxlen"), *limit = NULL, *facts = NULL;
    if (member != NULL && Py_TYPE(member)->tp_descr_get != NULL && base->tp_as_sequence != NULL) {
        limit = Py_TYPE(member)->tp_descr_get(member, deque, (PyObject *)Py_TYPE(deque));
    }
    if (limit != NULL) {
        facts = Py_BuildValue("(Nn)", limit, base->tp_as_sequence->sq_length(deque));
    }
    return facts;
}

bool
dt_read_is_deque(PyObject *facts, PyObject *deque)
{
    PyObject *found = dt_read_deque(deque);
    bool any_length = PyTuple_GET_ITEM(facts, 1) == Py_None;
    int same = found == NULL ? 0
               : any_length  ? PyObject_RichCompareBool(PyTuple_GET_ITEM(found, 0),
                                                        PyTuple_GET_ITEM(facts, 0), Py_EQ)
                             : PyObject_RichCompareBool(found, facts, Py_EQ);
    Py_XDECREF(found);
    PyErr_Clear(); /* MemoryError: what can't be told does not hold */
    return same == 1;
}

/* How it is a sequence, past what a subclass says. */
static const PySequenceMethods *
as_sequence(PyObject *deque)
{
    const PySequenceMethods *methods = fixed_base(Py_TYPE(deque))->tp_as_sequence;
    return methods != NULL && methods->sq_item != NULL && methods->sq_length != NULL ? methods
                                                                                     : NULL;
}

int
dt_read_deque_size(DtDimObject *dim, PyObject *deque, PyObject **out)
{
    const PySequenceMethods *methods = as_sequence(deque);
    return methods != NULL ? read_number(dim, methods->sq_length(deque), out) : 0;
}

PyObject *
dt_read_deque_item(PyObject *deque, int64_t index)
{
    const PySequenceMethods *methods = as_sequence(deque);
    if (methods == NULL) {
        return NULL;
    }
    index += index < 0 ? methods->sq_length(deque) : 0;
    PyObject *item = index >= 0 ? methods->sq_item(deque, index) : NULL;
    PyErr_Clear();    /* IndexError: it has become shorter */
    Py_XDECREF(item); /* which the deque keeps */
    return item;
}

PyObject *
dt_read_from_end(PyObject *items, int64_t index)
{
    return items != NULL && PyTuple_Check(items) && index > 0 && index <= PyTuple_GET_SIZE(items)
               ? PyTuple_GET_ITEM(items, PyTuple_GET_SIZE(items) - index)
               : NULL;
}

PyObject *
dt_read_index(PyObject *items, int64_t index)
{
    if (PyList_Check(items)) {
        return index < PyList_GET_SIZE(items) ? PyList_GET_ITEM(items, index) : NULL;
    }
    return PyTuple_Check(items) ? dt_read_tuple(items, index) : dt_read_deque_item(items, index);
}

PyObject *
dt_read_list_item(PyObject *list, int64_t index)
{
    if (!PyList_CheckExact(list)) {
        return NULL;
    }
    index += index < 0 ? PyList_GET_SIZE(list) : 0;
    return index >= 0 && index < PyList_GET_SIZE(list) ? PyList_GET_ITEM(list, index) : NULL;
}

static bool
read_int(PyObject *object, int64_t *out)
{
    int overflow = 1;
    *out = PyLong_CheckExact(object) ? PyLong_AsLongLongAndOverflow(object, &overflow) : 0;
    return overflow == 0;
}

int
dt_read_computed(DtComputed *computed, PyObject *a, PyObject *b, PyObject **out)
{
    DtNumber left, right, result;
    return read_int(a, &left.i) && read_int(b, &right.i)
                   && dt_sym_apply((DtSymOp)computed->op, false, left, right, &result)
               ? read_number(&computed->number, result.i, out)
               : 0;
}

int
dt_read_pair(DtComputed *pair, PyObject *a, PyObject *b, PyObject **out)
{
    PyObject *kept = pair->number.object;
    if (kept == NULL || PyTuple_GET_ITEM(kept, 0) != a || PyTuple_GET_ITEM(kept, 1) != b) {
        PyObject *made = PyTuple_Pack(2, a, b);
        if (made == NULL) {
            return -1;
        }
        Py_XSETREF(pair->number.object, made); /* of builtin constants: no user code */
    }
    *out = pair->number.object;
    return 1;
}

bool
dt_read_lacks_key(PyObject *dict, PyObject *key)
{
    PyObject *value;
    return PyDict_CheckExact(dict) && dt_dict_get(dict, key, &value) == 0;
}

PyObject *
dt_read_picked(PyObject *items, PyObject *number, int64_t offset)
{
    int64_t index;
    PyObject *value;
    if (PyDict_CheckExact(items)) {
        return dt_dict_get(items, number, &value) == 1 ? value : NULL;
    }
    if (!read_int(number, &index) || __builtin_add_overflow(index, offset, &index)) {
        return NULL;
    }
    if (PyTuple_CheckExact(items)) {
        index += index < 0 ? PyTuple_GET_SIZE(items) : 0;
        return index >= 0 ? dt_read_tuple(items, index) : NULL;
    }
    return dt_read_list_item(items, index);
}

PyObject *
dt_read_closure(PyObject *function, int64_t index, bool contents)
{
    if (function == NULL || !dt_read_is_function(function)) {
        return NULL;
    }
    PyObject *cell = dt_read_tuple(((PyFunctionObject *)function)->func_closure, index);
    return cell != NULL && contents ? PyCell_GET(cell) : cell;
}

bool
dt_read_has_keys(DtKeys *keys, PyObject *dict)
{
    if (Py_TYPE(dict) != keys->type) {
        return false;
    }
    /* An ordered dict changes its order without a new version. */
    if (dt_dict_version(dict) == keys->version && !PyODict_Check(dict)) {
        return true;
    }
    if (!dt_dict_keys_match(dict, &PyTuple_GET_ITEM(keys->keys, 0), PyTuple_GET_SIZE(keys->keys))) {
        return false;
    }
    keys->version = dt_dict_version(dict);
    return true;
}

static bool
is_among(PyObject *key, PyObject *const *items, Py_ssize_t count)
{
    for (Py_ssize_t i = 0; i < count; i++) {
        if (dt_recipe_same_constant(key, items[i])) {
            return true;
        }
    }
    return false;
}

/* Of a set, whose exact type is guarded apart.  Elements in the order of the table; most sets that
 * are passed were made in the same way. */
static bool
has_items(PyObject *set, PyObject *const *items, Py_ssize_t count, bool ordered)
{
    if (!PySet_Check(set) || PySet_GET_SIZE(set) != count) {
        return false;
    }
    Py_ssize_t slot = 0;
    PyObject *key;
    for (Py_ssize_t i = 0; dt_set_next(set, &slot, &key); i++) {
        if (!dt_recipe_same_constant(key, items[i]) && (ordered || !is_among(key, items, count))) {
            return false;
        }
    }
    return true;
}

bool
dt_read_has_items(PyObject *items, PyObject *set)
{
    return has_items(set, &PyTuple_GET_ITEM(items, 0), PyTuple_GET_SIZE(items), false);
}

bool
dt_read_has_layout(PyObject *layout, PyObject *set)
{
    return has_items(set, &PyTuple_GET_ITEM(layout, 1), PyTuple_GET_SIZE(layout) - 1, true)
           && dt_set_has_slots(set, PyTuple_GET_ITEM(layout, 0));
}
