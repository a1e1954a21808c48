/* Running a guard program; see program.h and internal.h.
 *
 * Invariants: nothing is allocated (but by Python adapters), no user code runs
 * in the pure part, and every load checks what it reads through, so that a
 * program is safe on any frame, also on one it was not made for.
 *
 * Not in here: making programs (lower.c), single reads and checks (read.c),
 * guards of Python adapters (run_user.c), ownership (lifetime.c), texts (explain.c).
 */
#include "guards/attr_run.h"
#include "guards/order.h"
#include "guards/read.h"
#include "guards/run.h"

#include "compat/abc.h"
#include "compat/dict.h"
#include "compat/function.h"
#include "compat/iterators.h"
#include "compat/lru_cache.h"
#include "compat/object.h"
#include "compat/referents.h"
#include "compat/type_names.h"

/* The same for an object of the type that the place was made for.  Shared keys belong to their type
 * and only grow, so an index into them found once is good for all instances with inline values. */
static inline PyObject *
read_known_attr(PyObject *object, DtAttrPlace *place)
{
    if (DT_LIKELY(place->shared)) {
        PyObject **values = dt_object_inline_values(object);
        if (DT_LIKELY(values != NULL)) {
            return values[place->hint];
        }
    }
    return dt_read_own_attr(object, place);
}

/* ---- Groups ---------------------------------------------------------------------------------- */

/* The dict or type that a group reads from, and its version; NULL if there is none. */
static inline PyObject *
group_container(const DtGroup *group, const DtGuardFrame *frame, PyObject *const *regs, uint32_t a,
                uint64_t *version)
{
    PyObject *container = NULL;
    PyObject *base = group->kind <= DT_GROUP_KNOWN_DICT ? NULL : regs[a];
    switch ((DtGroupKind)group->kind) {
    case DT_GROUP_GLOBALS:
        container = frame->globals;
        break;
    case DT_GROUP_BUILTINS:
        container = frame->builtins;
        break;
    case DT_GROUP_FUNC_GLOBALS:
        container = dt_read_is_function(base) ? ((PyFunctionObject *)base)->func_globals : NULL;
        break;
    case DT_GROUP_MODULE:
        container = PyModule_Check(base) ? PyModule_GetDict(base) : NULL;
        break;
    case DT_GROUP_KNOWN_DICT:
        container = group->dict;
        break;
    case DT_GROUP_DICT:
        container = PyDict_Check(base) ? base : NULL; /* which type, its facts say */
        break;
    case DT_GROUP_TYPE_OWN:
        container = PyType_Check(base) ? dt_type_dict((PyTypeObject *)base) : NULL;
        break;
    case DT_GROUP_TYPE:
    case DT_GROUP_CLASS: {
        PyTypeObject *type = group->kind == DT_GROUP_TYPE ? Py_TYPE(base)
                             : PyType_Check(base)         ? (PyTypeObject *)base
                                                          : NULL;
        if (type == NULL) {
            return NULL;
        }
        *version = dt_type_has_version(type, (unsigned int)group->version) ? group->version : 0;
        return (PyObject *)type;
    }
    case DT_GROUP_NONE:
        break;
    }
    if (container == NULL || !PyDict_Check(container)) {
        return NULL;
    }
    *version = dt_dict_version(container);
    return container;
}

/* The container has changed since it was verified last: reads every name anew, checks what was
 * relied on, and remembers the new version if all of it holds. */
static int __attribute__((noinline))
verify_group(DT_RUN_PARAMS, DtGroup *group, PyObject *container)
{
    bool by_type = group->kind == DT_GROUP_TYPE || group->kind == DT_GROUP_CLASS;
    group->version = 0; /* what is kept of the last container is overwritten */
    for (uint32_t i = 0; i < group->count; i++) {
        DtGroupName *name = &group->names[i];
        PyObject *value;
        int found;
        if (by_type) {
            value = dt_type_find((PyTypeObject *)container, name->name);
            found = value != NULL;
        }
        else {
            Py_ssize_t hint = name->hint;
            value = dt_read_dict(container, name->name, &hint, &found);
            name->hint = hint > INT32_MAX ? -1 : (int32_t)hint;
        }
        if (found != (name->reg == DT_GROUP_ABSENT ? 0 : 1)) {
            program->failed = name->origin;
            return 0;
        }
        if (name->reg == DT_GROUP_ABSENT) {
            continue;
        }
        regs[name->reg] = value;
        if (i < group->nneeded) {
            group->cached[i] = value;
        }
    }
    const DtGuardInstr *failed;
    if (dt_run_list(DT_RUN_ARGS, &program->instrs[group->checks], &failed) != 1) {
        program->failed = program->origins[failed - program->instrs];
        return 0;
    }
    group->version =
        by_type ? dt_type_version((PyTypeObject *)container) : dt_dict_version(container);
    return 1;
}

/* ---- Small checks ---------------------------------------------------------------------------- */

static inline bool
compare_ints(uint32_t op, int64_t a, int64_t b)
{
    switch (op) {
    case DT_SYM_OP_EQ:
        return a == b;
    case DT_SYM_OP_NE:
        return a != b;
    case DT_SYM_OP_LT:
        return a < b;
    case DT_SYM_OP_LE:
        return a <= b;
    case DT_SYM_OP_GT:
        return a > b;
    default:
        return a >= b;
    }
}

static inline int
read_int(PyObject *object, DtNumber *out)
{
    int overflow;
    if (!PyLong_CheckExact(object)) {
        return 0;
    }
    out->i = PyLong_AsLongLongAndOverflow(object, &overflow);
    return overflow == 0;
}

static int
holds(const DtSymCheck *check, const DtNumber *numbers)
{
    DtNumber truth;
    bool ok = check->program.count != 0 ? dt_sym_run(&check->program, numbers, &truth)
                                        : dt_sym_eval(check->sym, numbers, &truth);
    return ok && truth.i != 0;
}

/* Have two instances of Python classes one __dict__ between them? */
static inline bool
share_dict(PyObject *a, PyObject *b)
{
    if (!(Py_TYPE(a)->tp_flags & Py_TYPE(b)->tp_flags & Py_TPFLAGS_HEAPTYPE)
        || !dt_object_type_has_dict(Py_TYPE(a)) || !dt_object_type_has_dict(Py_TYPE(b))) {
        return false;
    }
    PyObject *dict = dt_object_existing_dict(a);
    return dict != NULL && dict == dt_object_existing_dict(b);
}

/* ---- The interpreter ------------------------------------------------------------------------- */

/* Threaded code: every handler jumps to the next one by itself. */
#define NEXT                                                                                       \
    do {                                                                                           \
        in++;                                                                                      \
        goto *handlers[in->op];                                                                    \
    } while (0)
#define HOLD(condition)                                                                            \
    do {                                                                                           \
        if (DT_UNLIKELY(!(condition))) {                                                           \
            goto fail;                                                                             \
        }                                                                                          \
        NEXT;                                                                                      \
    } while (0)
#define NEED(condition)                                                                            \
    do {                                                                                           \
        if (DT_UNLIKELY(!(condition))) {                                                           \
            goto fail;                                                                             \
        }                                                                                          \
    } while (0)
/* For what may end in an error too. */
#define ANSWER(expr)                                                                               \
    do {                                                                                           \
        int answer_ = (expr);                                                                      \
        if (DT_UNLIKELY(answer_ != 1)) {                                                           \
            *failed = in;                                                                          \
            return answer_;                                                                        \
        }                                                                                          \
        NEXT;                                                                                      \
    } while (0)
#define LOAD(expr)                                                                                 \
    do {                                                                                           \
        PyObject *loaded_ = (expr);                                                                \
        regs[in->dst] = loaded_;                                                                   \
        HOLD(loaded_ != NULL);                                                                     \
    } while (0)

int
dt_run_list(DT_RUN_PARAMS, const DtGuardInstr *in, const DtGuardInstr **failed)
{
    static const void *const handlers[DT_GOP_COUNT] = {
#define GUARD_OP(NAME, FORM, USES, GIVES) &&do_##NAME,
#include "guards/ops.def"
#undef GUARD_OP
    };
    PyObject *a;
    goto *handlers[in->op];

do_END:
    return 1;

do_LOCAL:
    LOAD(frame->locals[in->a]);
do_LOCAL_TYPE:
    a = frame->locals[in->a];
    NEED(a != NULL);
    regs[in->dst] = a;
    HOLD(Py_TYPE(a) == (PyTypeObject *)in->x);
do_LOCAL_ARRAY:
    {
        const DtAdapter *adapter = DT_SPEC_ADAPTER(in->x);
        a = frame->locals[in->a];
        NEED(a != NULL);
        regs[in->dst] = a;
        ANSWER(adapter->check(adapter, in->x, a));
    }
do_LOCAL_CONTENTS:
    a = frame->locals[in->a];
    NEED(a != NULL && PyCell_Check(a));
    LOAD(PyCell_GET(a));
do_CLOSURE:
    LOAD(dt_read_closure(frame->function, in->i, true));
do_CLOSURE_CELL:
    LOAD(dt_read_closure(frame->function, in->i, false));
do_FUNCTION:
    LOAD(frame->function);
do_OBJECT:
    LOAD((PyObject *)in->x);
do_GROUP_GLOBALS:
    {
        DtGroup *group = in->x;
        if (DT_TOUCHED(dt_dict_version(frame->globals), group->version)) {
            ANSWER(verify_group(DT_RUN_ARGS, group, frame->globals));
        }
        for (uint32_t i = 0; i < group->nneeded; i++) {
            regs[group->regs[i]] = group->cached[i];
        }
        NEXT;
    }
do_GROUP_KNOWN:
    {
        DtGroup *group = in->x;
        if (DT_TOUCHED(dt_dict_version(group->dict), group->version)) {
            ANSWER(verify_group(DT_RUN_ARGS, group, group->dict));
        }
        for (uint32_t i = 0; i < group->nneeded; i++) {
            regs[group->regs[i]] = group->cached[i];
        }
        NEXT;
    }
do_GROUP:
    {
        DtGroup *group = in->x;
        uint64_t version = 0;
        PyObject *container = group_container(group, frame, regs, in->a, &version);
        NEED(container != NULL);
        if (DT_TOUCHED(version, group->version) || DT_UNLIKELY(version == 0)) {
            ANSWER(verify_group(DT_RUN_ARGS, group, container));
        }
        for (uint32_t i = 0; i < group->nneeded; i++) {
            regs[group->regs[i]] = group->cached[i];
        }
        NEXT;
    }
do_ATTR:
    {
        DtAttrPlace *place = in->x;
        a = regs[in->a];
        NEED(Py_TYPE(a) == place->type);
        LOAD(read_known_attr(a, place));
    }
do_ATTRS:
    ANSWER(dt_attr_run(program, in->x, regs[in->a], regs));
do_ATTR_ANY:
    {
        PyObject *value = NULL;
        dt_program_read_attr(regs[in->a], in->x, &value);
        LOAD(value);
    }
do_SLOT:
    a = regs[in->a];
    NEED(Py_TYPE(a) == (PyTypeObject *)in->x);
    LOAD(((PyObject **)a)[in->aux]);
do_SLOT_FAR:
    a = regs[in->a];
    NEED(Py_TYPE(a) == (PyTypeObject *)((DtFar *)in->x)->x);
    LOAD(*(PyObject **)((char *)a + ((DtFar *)in->x)->i));
do_MEMBER:
    a = regs[in->a];
    LOAD(dt_read_member(a, dt_type_find(Py_TYPE(a), in->x)));
do_TYPE_OF:
    LOAD((PyObject *)Py_TYPE(regs[in->a]));
do_INDEX:
    LOAD(dt_read_index(regs[in->a], in->i));
do_LIST_ITEM:
    LOAD(dt_read_list_item(regs[in->a], in->i));
do_LIST_SIZE:
    ANSWER(dt_read_list_size(in->x, regs[in->a], &regs[in->dst]));
do_LIST_ARRAY:
    ANSWER(dt_read_list_array(in->x, regs[in->a], &regs[in->dst]));
do_PICKED:
    LOAD(dt_read_picked(regs[in->a], regs[in->pair.number], (int32_t)in->pair.index));
do_COMPUTED:
    ANSWER(dt_read_computed(in->x, regs[in->a], regs[((DtComputed *)in->x)->at], &regs[in->dst]));
do_PAIR:
    ANSWER(dt_read_pair(in->x, regs[in->a], regs[((DtComputed *)in->x)->at], &regs[in->dst]));
do_DEQUE_ITEM:
    LOAD(dt_read_deque_item(regs[in->a], in->i));
do_DEQUE_SIZE:
    ANSWER(dt_read_deque_size(in->x, regs[in->a], &regs[in->dst]));
do_INDEX_FLOAT:
    {
        PyObject *items = regs[in->a];
        size_t index = in->pair.index;
        a = PyList_CheckExact(items) && index < (size_t)PyList_GET_SIZE(items)
                ? PyList_GET_ITEM(items, index)
                : dt_read_index(items, in->pair.index);
        NEED(a != NULL && PyFloat_CheckExact(a));
        regs[in->dst] = a;
        numbers[in->pair.number].d = PyFloat_AS_DOUBLE(a);
        NEXT;
    }
do_DICT_KEY:
    a = regs[in->a];
    LOAD(PyDict_CheckExact(a) ? dt_dict_key_at(a, in->i) : NULL);
do_FUNC_CODE:
    a = regs[in->a];
    LOAD(dt_read_code(a));
do_FUNC_PART:
    a = regs[in->a];
    LOAD(dt_function_part(a, in->i));
do_FUNC_DEFAULT:
    a = regs[in->a];
    LOAD(dt_read_is_function(a) ? dt_read_from_end(((PyFunctionObject *)a)->func_defaults, in->i)
                                : NULL);
do_FUNC_CLOSURE:
    a = regs[in->a];
    LOAD(dt_read_is_function(a) ? dt_read_tuple(((PyFunctionObject *)a)->func_closure, in->i)
                                : NULL);
do_CELL_CONTENTS:
    a = regs[in->a];
    LOAD(PyCell_Check(a) ? PyCell_GET(a) : NULL);
do_METHOD_FUNC:
    a = regs[in->a];
    LOAD(PyMethod_Check(a) ? PyMethod_GET_FUNCTION(a) : NULL);
do_METHOD_SELF:
    a = regs[in->a];
    LOAD(PyMethod_Check(a)      ? PyMethod_GET_SELF(a)
         : PyCFunction_Check(a) ? PyCFunction_GET_SELF(a)
                                : NULL);
do_CACHED:
    LOAD(dt_lru_cache_find(regs[in->a], in->x));
do_ITERATED:
    LOAD(dt_iterators_fresh(regs[in->a]));
do_REFERENT:
    LOAD(dt_referents_get(regs[in->a]));
do_COUNTED:
    ANSWER(dt_read_count(in->x, regs[in->a], &regs[in->dst]));
do_HANDLED:
    LOAD(dt_read_handled());
do_ATTR_DICT:
    LOAD(dt_read_attr_dict(regs[in->a]));
do_DIM_OBJECT:
    ANSWER(dt_read_dim(in->x, regs[in->a], &regs[in->dst]));

do_SYM_DIM:
    {
        const DtAdapter *adapter = in->x;
        numbers[in->dst].i = adapter->dim(adapter, regs[in->a], in->aux);
        NEXT;
    }
do_SYM_DIM_FAR:
    {
        const DtFar *far = in->x;
        const DtAdapter *adapter = far->x;
        numbers[in->dst].i = adapter->dim(adapter, regs[in->a], (int)far->i);
        NEXT;
    }
do_SYM_INT:
    HOLD(read_int(regs[in->a], &numbers[in->dst]));
do_SYM_FLOAT:
    a = regs[in->a];
    NEED(PyFloat_CheckExact(a));
    numbers[in->dst].d = PyFloat_AS_DOUBLE(a);
    NEXT;
do_SYM_BOOL:
    a = regs[in->a];
    numbers[in->dst].i = a == Py_True;
    HOLD(PyBool_Check(a));

do_IS_TYPE:
    HOLD(Py_TYPE(regs[in->a]) == (PyTypeObject *)in->x);
do_IS:
    HOLD(regs[in->a] == (PyObject *)in->x);
do_IS_SAME:
    HOLD(regs[in->a] == regs[in->dst]);
do_IS_NOT_SAME:
    HOLD(regs[in->a] != regs[in->dst] && !share_dict(regs[in->a], regs[in->dst]));
do_IS_INT:
    {
        DtNumber number;
        HOLD(read_int(regs[in->a], &number) && number.i == in->i);
    }
do_IS_CONST:
    HOLD(regs[in->a] == (PyObject *)in->x || dt_recipe_same_constant(regs[in->a], in->x));
do_LENGTH:
    HOLD(dt_read_has_length(regs[in->a], in->x, in->wide));
do_LENGTH_FAR:
    HOLD(dt_read_has_length(regs[in->a], ((DtFar *)in->x)->x, ((DtFar *)in->x)->i));
do_KEYS:
    HOLD(dt_read_has_keys(in->x, regs[in->a]));
do_SET_ITEMS:
    HOLD(dt_read_has_items(in->x, regs[in->a]));
do_DEQUE:
    HOLD(dt_read_is_deque(in->x, regs[in->a]));
do_SET_LAYOUT:
    HOLD(dt_read_has_layout(in->x, regs[in->a]));
do_ABSENT:
    HOLD(dt_read_is_absent(regs[in->a], in->x));
do_SLOT_EMPTY:
    a = regs[in->a];
    HOLD(Py_TYPE(a) == (PyTypeObject *)in->x && *(PyObject **)((char *)a + in->wide) == NULL);
do_SLOT_EMPTY_FAR:
    {
        const DtFar *far = in->x;
        a = regs[in->a];
        HOLD(Py_TYPE(a) == (PyTypeObject *)far->x && *(PyObject **)((char *)a + far->i) == NULL);
    }
do_TYPE_VERSION:
    {
        DtTypeState *state = in->x;
        NEED(Py_TYPE(regs[in->a]) == state->type);
        HOLD(DT_LIKELY(dt_type_has_version(state->type, state->version))
             || dt_read_verify_type(state));
    }
do_CLASS_VERSION:
    {
        DtTypeState *state = in->x;
        NEED(regs[in->a] == (PyObject *)state->type);
        HOLD(DT_LIKELY(dt_type_has_version(state->type, state->version))
             || dt_read_verify_type(state));
    }
do_CELL_EMPTY:
    a = regs[in->a];
    HOLD(PyCell_Check(a) && PyCell_GET(a) == NULL);
do_ADAPTER:
    {
        const DtAdapter *adapter = DT_SPEC_ADAPTER(in->x);
        ANSWER(adapter->check(adapter, in->x, regs[in->a]));
    }
do_STATE:
    {
        const DtAdapter *adapter = DT_SPEC_ADAPTER(in->x);
        ANSWER(adapter->check_state(adapter, in->x));
    }

do_ABC_TOKEN:
    HOLD(dt_abc_token() == in->i);
do_NOT_DICT_OF:
    HOLD(dt_object_existing_dict(regs[in->a]) != regs[in->dst]);
do_APART:
    HOLD(!dt_memory_shows(DT_SPEC_ADAPTER(in->x), regs[in->a], regs[in->dst]));
do_NO_KEY:
    HOLD(dt_read_lacks_key(regs[in->a], regs[in->dst]));
do_QUIET:
    {
        int32_t origin;
        if (DT_UNLIKELY(!dt_read_are_quiet(in->x, frame, regs, &origin))) {
            program->failed = origin;
            goto fail;
        }
        NEXT;
    }

do_CMP_CONST:
    HOLD(compare_ints(in->dst, numbers[in->a].i, in->i));
do_CMP:
    HOLD(compare_ints(in->dst, numbers[in->a].i, numbers[in->i].i));
do_DIMS_EQUAL:
    {
        const DtAdapter *adapter = in->x;
        HOLD(adapter->dim(adapter, regs[in->a], in->aux & 15)
             == adapter->dim(adapter, regs[in->dst], in->aux >> 4));
    }
do_SYM:
    HOLD(holds(in->x, numbers));

fail:
    *failed = in;
    return 0;
}

/* The guard to blame: of a group, the name that did not hold. */
static int32_t
origin_of(DtGuardProgram *program, const DtGuardInstr *failed)
{
    int32_t origin = program->failed != DT_NO_ORIGIN ? program->failed
                                                     : program->origins[failed - program->instrs];
    program->failed = DT_NO_ORIGIN;
    return origin;
}

static inline int
run(DtGuardProgram *program, const DtGuardFrame *frame, PyObject **regs, bool keep,
    const DtGuardInstr **failed)
{
    *failed = NULL;
    if (DT_UNLIKELY(program->life->dead)) {
        return 0;
    }
    if (DT_UNLIKELY(program->user != 0)) {
        return dt_run_user(program, frame, regs, keep, failed);
    }
    return dt_run_list(program, frame, regs, program->numbers, program->instrs, failed);
}

int
dt_program_run_kept(DtGuardProgram *program, const DtGuardFrame *frame, PyObject **regs,
                    int32_t *origin)
{
    const DtGuardInstr *failed;
    int ok = run(program, frame, regs, true, &failed);
    for (uint32_t i = 0; program->user == 0 && i < program->nregs; i++) {
        Py_XINCREF(regs[i]);
    }
    *origin = failed == NULL ? DT_NO_ORIGIN : origin_of(program, failed);
    return ok;
}

int
dt_program_check(DtGuardProgram *program, const DtGuardFrame *frame, PyObject **regs)
{
    const DtGuardInstr *failed;
    int ok = run(program, frame, regs, false, &failed);
    if (DT_UNLIKELY(ok != 1)) {
        program->failed = DT_NO_ORIGIN;
        dt_order_note_failure(program, failed);
    }
    return ok;
}

uint32_t
dt_program_register_count(const DtGuardProgram *program)
{
    return program->nregs;
}

uint32_t
dt_program_register(const DtGuardProgram *program, uint32_t wanted)
{
    return program->wanted[wanted];
}

PyObject *
dt_program_hold(const DtGuardProgram *program, PyObject *const *regs, uint32_t count)
{
    PyObject *values = PyTuple_New((Py_ssize_t)count);
    for (uint32_t i = 0; values != NULL && i < count; i++) {
        PyObject *value = regs[program->wanted[i]];
        Py_INCREF(value);
        PyTuple_SET_ITEM(values, i, value);
    }
    return values;
}

bool
dt_program_runs_user_code(const DtGuardProgram *program)
{
    return program->user != 0;
}

bool
dt_program_is_dead(const DtGuardProgram *program)
{
    return program->life->dead;
}

uint32_t
dt_program_guard_count(const DtGuardProgram *program)
{
    return program->nfacts;
}
