/* What acts when a segment lets go of it: a finaliser, the callback of a weak reference, a
 * generator that is left in a `try`.
 *
 * Plain execution lets go of a value where the program stores over it, pops it, or hands it to who
 * does not keep it; a segment writes the frame's memory at its end.  So whoever would act is a
 * graph break before that instruction, and of all others is guarded that nobody acts.
 *
 * Not in here: what attributes, items and globals let go of (sideeffects/drops.c).
 */
#include "compat/dying.h"
#include "guards/recipe.h"
#include "symbolic/segment.h"

#define MOST_OF_A_DISPLAY 64

/* Whether somebody acts when the value goes out of its slot. */
static bool
acts_when_it_goes(const DtTrace *trace, PyObject *object)
{
    return !dt_dying_is_quiet(object, &trace->kept_set);
}

static DtStatus
refuse(DtTrace *trace, PyObject *object)
{
    return dt_break(trace, DT_BREAK_OBJECT_MUTATION, "a %s that may act when it dies",
                    Py_TYPE(object)->tp_name);
}

/* Of numbers and texts the type says it all, and is checked in no time. */
static DtStatus
guard_quiet(DtTrace *trace, const DtSource *source, PyObject *object)
{
    return dt_dying_is_plain_type(Py_TYPE(object)) ? dt_guard_type(trace, source, Py_TYPE(object))
                                                   : dt_guard_quiet(trace, source, NULL);
}

/* ---- Slots, and what an instruction pops ----------------------------------------------------- */

DtStatus
dt_segment_drops(DtTrace *trace, const DtFrame *frame, DtVar *value)
{
    if (!trace->live || frame->depth > 0 || value == NULL || value->type->kind != DT_KIND_LAZY
        || value->source == NULL || value->source->kind != DT_SOURCE_LOCAL) {
        return DT_OK;
    }
    PyObject *object = ((DtLazyVar *)value)->object;
    return acts_when_it_goes(trace, object) ? refuse(trace, object)
                                            : guard_quiet(trace, value->source, object);
}

/* Of a slot that was unbound at the start, and is not read, another call may find something in. */
bool
dt_segment_is_overwritten(const DtTrace *trace, int slot)
{
    for (uint32_t i = 0; i < trace->overwritten.count; i++) {
        if (trace->overwritten.items[i] == slot) {
            return true;
        }
    }
    return false;
}

DtStatus
dt_segment_overwrites(DtTrace *trace, const DtFrame *frame, int slot)
{
    if (frame->locals[slot] != NULL) {
        return dt_segment_drops(trace, frame, frame->locals[slot]);
    }
    bool unknown = trace->live && frame->depth == 0 && frame->initial[slot] == NULL;
    return !unknown || dt_segment_is_overwritten(trace, slot)
                   || dt_vec_push(&trace->arena, &trace->overwritten, slot) == 0
               ? DT_OK
               : dt_no_memory();
}

/* ---- Values that the stack held at the start ------------------------------------------------- */

typedef struct Sought {
    const DtVar *value;
    bool found;
} Sought;

static DtStatus
look_for(DtTrace *trace, DtVar *var, void *arg)
{
    (void)trace;
    Sought *sought = arg;
    sought->found = sought->found || var == sought->value;
    return DT_OK;
}

/* By the frame itself, or by a display that it has on its stack. */
static DtStatus
is_held(DtTrace *trace, const DtFrame *root, const DtVar *value, bool *held)
{
    Sought sought = {value, root->result == value};
    for (int32_t i = 0; i < root->sp && !sought.found; i++) {
        sought.found = root->stack[i] == value;
    }
    for (int i = 0; i < root->bytecode->layout.nslots && !sought.found; i++) {
        sought.found = root->locals[i] == value;
    }
    for (int32_t i = 0; i < root->sp && !sought.found; i++) {
        DtVar *holder = root->stack[i];
        if (holder->source == NULL && holder->type->children != NULL) {
            DT_TRY(holder->type->children(trace, holder, look_for, &sought));
        }
    }
    *held = sought.found;
    return DT_OK;
}

/* Of what lies in a container only a small display is asked. */
static bool
may_act(const DtTrace *trace, PyObject *value)
{
    bool display = (PyList_CheckExact(value) || PyTuple_CheckExact(value))
                   && Py_SIZE(value) <= MOST_OF_A_DISPLAY;
    return dt_dying_acts(value) || (display && acts_when_it_goes(trace, value));
}

/* What the segment has looked at is guarded; of another value the type may be another. */
static DtStatus
let_go(DtTrace *trace, DtVar *value)
{
    PyObject *object = ((DtLazyVar *)value)->object;
    if (may_act(trace, object) && acts_when_it_goes(trace, object)) {
        return refuse(trace, object);
    }
    return dt_var_peek(value) == value ? guard_quiet(trace, value->source, object) : DT_OK;
}

DtStatus
dt_segment_consumes(DtTrace *trace, const DtFrame *root)
{
    for (uint32_t i = trace->temporaries.count; i-- > 0;) {
        DtVar *value = trace->temporaries.items[i];
        bool held;
        DT_TRY(is_held(trace, root, value, &held));
        if (!held) {
            DT_TRY(let_go(trace, value));
            trace->temporaries.items[i] = trace->temporaries.items[--trace->temporaries.count];
        }
    }
    return DT_OK;
}

/* ---- Values that the segment has made -------------------------------------------------------- */

/* Objects inside of objects that are looked at; with more of them, nobody may die early. */
#define LOOK_AT 64

typedef struct Held {
    bool found;
    int seen;
} Held;

static DtStatus
find_held(DtTrace *trace, DtVar *var, void *arg)
{
    Held *held = arg;
    if (held->found || var == NULL) {
        return DT_OK;
    }
    if (var->type->kind == DT_KIND_LAZY) {
        held->found = acts_when_it_goes(trace, ((DtLazyVar *)var)->object);
        return held->found || var->source == NULL
                   ? DT_OK
                   : guard_quiet(trace, var->source, ((DtLazyVar *)var)->object);
    }
    if (var->source != NULL) {
        PyTypeObject *type = dt_var_python_type(trace, var);
        held->found = type == NULL || PyType_HasFeature(type, Py_TPFLAGS_HEAPTYPE);
        return DT_OK;
    }
    if (held->seen++ == LOOK_AT) {
        held->found = true;
        return DT_OK;
    }
    return var->type->children != NULL ? var->type->children(trace, var, find_held, held) : DT_OK;
}

DtStatus
dt_segment_acts(DtTrace *trace, DtVar *value, bool *out)
{
    Held held = {0};
    DT_TRY(find_held(trace, value, &held));
    *out = held.found;
    return DT_OK;
}
