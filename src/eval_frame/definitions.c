/* See definitions.h. */
#include "eval_frame/definitions.h"

#include "bytecode/decode.h"
#include "bytecode/places.h"
#include "codegen/driver.h"
#include "compat/pyframe.h"
#include "compat/tracing.h"
#include "eval_frame/prepared.h"
#include "eval_frame/reach.h"

/* Stands behind one definition. */
typedef struct Definition {
    PyObject_HEAD DtRegion *region;
    PyObject *wanted; /* wanted(function) -> bool, or None: each */
    int index;        /* of the function in the frame's memory */
    PyObject *names;  /* those of the code, which copies of it share */
} Definition;

/* A tracer of the program would see the question: what is defined under one runs plainly. */
static int
is_wanted(const Definition *self, PyObject *function)
{
    if (self->wanted == Py_None) {
        return 1;
    }
    if (dt_tracing_is_active(PyThreadState_GET())) {
        return 0;
    }
    PyObject *answer = dt_tracing_call_unseen(self->wanted, function);
    int wanted = answer != NULL ? PyObject_IsTrue(answer) : -1;
    Py_XDECREF(answer);
    return wanted;
}

/* Never an item: what runs goes on as if there were nothing.  Where the loops of the code are
 * entered, it is a copy of the code that runs. */
static PyObject *
definition_next(PyObject *object)
{
    Definition *self = (Definition *)object;
    DtPyFrame *frame = dt_pyframe_current(PyThreadState_GET());
    if (frame == NULL || dt_code_names(dt_pyframe_code(frame)) != self->names) {
        return NULL;
    }
    PyObject *const *top = dt_pyframe_memory(frame) + self->index;
    if (top[1] == object && PyFunction_Check(top[0])
        && (dt_state.everything || dt_reach_namespace(dt_pyframe_globals(frame)))
        && is_wanted(self, top[0]) > 0) {
        (void)dt_prepared_add(top[0], self->region); /* -1: with an exception, which is raised */
    }
    return NULL;
}

static void
definition_dealloc(PyObject *self)
{
    Py_DECREF(((Definition *)self)->region);
    Py_DECREF(((Definition *)self)->wanted);
    Py_DECREF(((Definition *)self)->names);
    PyObject_Free(self);
}

static PyTypeObject definition_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "dyntrace._core.Definition",
    .tp_basicsize = sizeof(Definition),
    .tp_dealloc = definition_dealloc,
    .tp_iter = PyObject_SelfIter,
    .tp_iternext = definition_next,
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
};

/* ---- Where they stand ------------------------------------------------------------------------ */

/* Is this the code of a function with a name of its own? */
static bool
is_named_function(PyObject *object)
{
    if (!PyCode_Check(object)) {
        return false;
    }
    PyCodeObject *code = (PyCodeObject *)object;
    PyObject *name = dt_code_name(code);
    return (dt_code_flags(code) & CO_OPTIMIZED) != 0
           && (PyUnicode_GET_LENGTH(name) == 0 || PyUnicode_READ_CHAR(name, 0) != '<');
}

/* The code that MAKE_FUNCTION at `at` makes a function of; on 3.10 its name is loaded after it. */
static bool
makes_named_function(const DtBytecode *bytecode, uint32_t at)
{
    uint32_t loads = bytecode->instrs[at].flags & DT_INSTR_QUALNAME ? 2 : 1;
    if (at < loads || bytecode->instrs[at - loads].op != DT_OP_LOAD_CONST) {
        return false;
    }
    int32_t number = bytecode->instrs[at - loads].arg;
    return is_named_function(PyTuple_GET_ITEM(bytecode->consts, number));
}

/* The last instruction that belongs to the definition.  What the type parameters of a function are,
 * it is told before the scope of these returns it. */
static uint32_t
end_of_definition(const DtBytecode *bytecode, uint32_t at)
{
    const DtInstr *instrs = bytecode->instrs;
    bool generic = (dt_code_flags(bytecode->code) & CO_OPTIMIZED) != 0;
    while (at + 1 < bytecode->count
           && (generic ? instrs[at + 1].op != DT_OP_RETURN_VALUE
                       : instrs[at + 1].op == DT_OP_SET_FUNCTION_ATTRIBUTE)) {
        at++;
    }
    return at;
}

static PyObject *
definition_new(const DtBytecode *bytecode, uint32_t last, const Definition *like)
{
    Definition *self = PyObject_New(Definition, &definition_type);
    if (self != NULL) {
        Py_INCREF(like->region);
        self->region = like->region;
        Py_INCREF(like->wanted);
        self->wanted = like->wanted;
        self->index = bytecode->layout.stack_start + bytecode->instrs[last + 1].depth - 1;
        Py_INCREF(dt_code_names(bytecode->code));
        self->names = dt_code_names(bytecode->code);
    }
    return (PyObject *)self;
}

/* Per instruction, what stands behind it; `list` owns them. */
static DtStatus
find_definitions(DtArena *arena, const DtBytecode *bytecode, const Definition *like, PyObject *list,
                 PyObject ***behind)
{
    *behind = DT_ARENA_ARRAY(arena, PyObject *, bytecode->count + 1);
    if (*behind == NULL) {
        return dt_no_memory();
    }
    for (uint32_t i = 0; i + 1 < bytecode->count; i++) {
        if (bytecode->instrs[i].op != DT_OP_MAKE_FUNCTION || bytecode->instrs[i].depth < 0
            || !makes_named_function(bytecode, i)) {
            continue;
        }
        uint32_t last = end_of_definition(bytecode, i);
        PyObject *definition = definition_new(bytecode, last, like);
        int failed = definition == NULL || PyList_Append(list, definition) < 0;
        Py_XDECREF(definition);
        if (failed) {
            return DT_ERROR;
        }
        (*behind)[last] = definition;
    }
    return DT_OK;
}

static DtStatus
follow(DtArena *arena, PyCodeObject *code, const Definition *like, PyObject *list,
       PyCodeObject **out)
{
    DtBytecode *bytecode;
    DtPlaces places;
    PyObject **behind;
    DT_TRY(dt_decode_code(arena, code, &bytecode));
    DT_TRY(find_definitions(arena, bytecode, like, list, &behind));
    if (PyList_GET_SIZE(list) == 0) {
        Py_INCREF(code);
        *out = code;
        return DT_OK;
    }
    DT_TRY(dt_places_build(arena, bytecode, &places));
    return dt_driver_build(arena, &places, NULL, 0, behind, out);
}

PyObject *
dt_definitions_follow(PyObject *Py_UNUSED(module), PyObject *args)
{
    Definition like;
    PyObject *code, *list;
    PyCodeObject *made = NULL;
    DtArena arena;
    if (!PyArg_ParseTuple(args, "O!O!O:follow_definitions", &DtRegion_Type, &like.region,
                          &PyCode_Type, &code, &like.wanted)
        || (list = PyList_New(0)) == NULL) {
        return NULL;
    }
    dt_arena_init(&arena);
    if (follow(&arena, (PyCodeObject *)code, &like, list, &made) != DT_OK) {
        made = NULL;
    }
    dt_arena_release(&arena);
    Py_DECREF(list);
    return (PyObject *)made;
}

int
dt_definitions_init(void)
{
    return PyType_Ready(&definition_type);
}
