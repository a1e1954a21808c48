/* See selector.h.
 *
 * What is looked at is found by partition: of all sources on which the facts of two
 * programs differ, the one that splits the programs into the most groups, then the one
 * that splits these further, until each is alone or nothing helps.
 */
#include "guards/read.h"
#include "guards/selector.h"

#include <string.h>

#include "compat/dict.h"

#define MOST_LOOKS 6
#define DEEPEST 6       /* steps from the frame to a value */
#define MOST_STATES 512 /* candidates that are weighed; a program can have thousands of sources */
#define SLOTS_EACH 4    /* of the table, per program */
#define PROBES 16

/* What of a value goes into the key; its type always does. */
enum { LOOK_VALUE = 1, LOOK_IDENTITY = 2, LOOK_LENGTH = 4, LOOK_ARRAY = 8 };

typedef struct Step {
    uint8_t kind; /* DtGuardOp: LOCAL, LOCAL_CONTENTS, CLOSURE, GROUP_GLOBALS, ATTR_ANY, INDEX,
                     DICT_KEY */
    int64_t index;
    DtAttrPlace place;
} Step;

typedef struct Look {
    uint8_t what;
    uint8_t nsteps;
    int32_t argument;         /* the slot, when there is but one step, to an argument; else -1 */
    const DtAdapter *adapter; /* LOOK_ARRAY */
    Step steps[DEEPEST];
} Look;

typedef struct Slot {
    uint64_t key;
    void *value;
} Slot;

struct DtSelector {
    uint32_t nlooks;
    uint32_t mask;
    uint32_t victim;
    Slot *slots;
    Look looks[MOST_LOOKS];
};

static inline uint64_t
mix(uint64_t key, uint64_t value)
{
    key = (key ^ value) * UINT64_C(0x9E3779B97F4A7C15);
    return key ^ (key >> 29);
}

/* ---- Reading a frame ------------------------------------------------------------------------- */

static uint64_t
key_of_constant(PyObject *value)
{
    if (PyUnicode_CheckExact(value) && ((PyASCIIObject *)value)->hash != -1) {
        return (uint64_t)((PyASCIIObject *)value)->hash;
    }
    if (PyLong_CheckExact(value)) {
        int overflow;
        int64_t number = PyLong_AsLongLongAndOverflow(value, &overflow);
        return overflow ? 1 : (uint64_t)number;
    }
    if (PyUnicode_CheckExact(value) || PyBytes_CheckExact(value)) {
        return (uint64_t)PyObject_Hash(value); /* kept in the object; never fails for these */
    }
    if (PyFloat_CheckExact(value)) {
        double number = PyFloat_AS_DOUBLE(value);
        uint64_t bits;
        memcpy(&bits, &number, sizeof(bits));
        return bits;
    }
    if (value == Py_None || PyBool_Check(value)) {
        return (uint64_t)(uintptr_t)value;
    }
    return PyTuple_CheckExact(value) ? (uint64_t)Py_SIZE(value) : 0;
}

static uint64_t
length_of(PyObject *value)
{
    if (PyTuple_Check(value) || PyList_Check(value)) {
        return (uint64_t)Py_SIZE(value);
    }
    if (PyDict_Check(value)) {
        return (uint64_t)((PyDictObject *)value)->ma_used;
    }
    return PyAnySet_Check(value) ? (uint64_t)((PySetObject *)value)->used : 0;
}

static PyObject *
take_step(Step *step, const DtGuardFrame *frame, PyObject *from)
{
    PyObject *value = NULL;
    int found;
    switch (step->kind) {
    case DT_GOP_LOCAL:
        return frame->locals[step->index];
    case DT_GOP_LOCAL_CONTENTS:
        value = frame->locals[step->index];
        return value != NULL && PyCell_Check(value) ? PyCell_GET(value) : NULL;
    case DT_GOP_CLOSURE:
        return dt_read_closure(frame->function, step->index, true);
    case DT_GOP_GROUP_GLOBALS:
        return PyDict_Check(frame->globals)
                   ? dt_read_dict(frame->globals, step->place.name, &step->place.hint, &found)
                   : NULL;
    case DT_GOP_ATTR_ANY:
        return dt_program_read_attr(from, &step->place, &value) ? value : NULL;
    case DT_GOP_INDEX:
        return PyList_Check(from) || PyTuple_Check(from) ? dt_read_index(from, step->index) : NULL;
    case DT_GOP_DICT_KEY:
        return PyDict_CheckExact(from)
                   ? dt_read_dict(from, step->place.name, &step->place.hint, &found)
                   : NULL;
    default:
        return NULL;
    }
}

static PyObject *__attribute__((noinline))
follow_steps(Look *look, const DtGuardFrame *frame)
{
    PyObject *value = NULL;
    for (uint32_t i = 0; i < look->nsteps; i++) {
        value = take_step(&look->steps[i], frame, value);
        if (value == NULL) {
            return NULL;
        }
    }
    return value;
}

static inline uint64_t
look_at(Look *look, const DtGuardFrame *frame)
{
    PyObject *value =
        DT_LIKELY(look->argument >= 0) ? frame->locals[look->argument] : follow_steps(look, frame);
    if (DT_UNLIKELY(value == NULL)) {
        return 0;
    }
    uint64_t key = (uint64_t)(uintptr_t)Py_TYPE(value);
    if (look->what == LOOK_ARRAY) {
        return mix(key, look->adapter->tell_apart(look->adapter, value));
    }
    if (look->what & LOOK_VALUE) {
        key = mix(key, key_of_constant(value));
    }
    if (look->what & LOOK_IDENTITY) {
        key = mix(key, (uint64_t)(uintptr_t)value);
    }
    if (look->what & LOOK_LENGTH) {
        key = mix(key, length_of(value));
    }
    if (look->what & LOOK_ARRAY) {
        key = mix(key, look->adapter->tell_apart(look->adapter, value));
    }
    return key;
}

uint64_t
dt_selector_key(DtSelector *selector, const DtGuardFrame *frame)
{
    Look *look = selector->looks;
    uint64_t key = mix(0, look_at(look, frame)); /* there is always one */
    for (uint32_t i = 1; DT_UNLIKELY(i < selector->nlooks); i++) {
        key = mix(key, look_at(++look, frame));
    }
    return key | 1;
}

void *
dt_selector_get(const DtSelector *selector, uint64_t key)
{
    uint64_t at = key >> 32;
    for (uint32_t i = 0; i < PROBES; i++) {
        const Slot *slot = &selector->slots[(at + i) & selector->mask];
        if (slot->key == key) {
            return slot->value;
        }
        if (slot->key == 0) {
            break;
        }
    }
    return NULL;
}

void
dt_selector_put(DtSelector *selector, uint64_t key, void *value)
{
    uint64_t at = key >> 32;
    for (uint32_t i = 0; i < PROBES; i++) {
        Slot *slot = &selector->slots[(at + i) & selector->mask];
        if (slot->key == key || slot->key == 0) {
            *slot = (Slot){key, value};
            return;
        }
    }
    at += selector->victim++ % PROBES;
    selector->slots[at & selector->mask] = (Slot){key, value};
}

/* ---- What tells programs apart --------------------------------------------------------------- */

/* A source that some programs have facts about, and what each of them says. */
typedef struct State {
    const DtSource *source;
    uint64_t hash;
    const DtGuardProgram *program; /* whose source it is */
    uint64_t *said;                /* by program; 0: nothing */
    uint8_t what;
    const DtAdapter *adapter;
} State;

typedef struct Search {
    DtGuardProgram *const *programs;
    uint32_t count;
    DT_VEC(State) states;
    uint32_t *group; /* of each program; those with the same number are not told apart yet */
    uint32_t ngroups;
    DtArena arena;
} Search;

static bool
is_same_key(PyObject *a, PyObject *b)
{
    return a == b || (a != NULL && b != NULL && dt_recipe_same_constant(a, b));
}

static uint64_t
hash_of(const DtSource *source)
{
    uint64_t hash = 0;
    for (; source != NULL; source = source->base) {
        hash = mix(mix(hash, source->kind), (uint64_t)source->index);
        hash = mix(hash, source->key != NULL ? key_of_constant(source->key) : 0);
        hash = source->at != NULL ? mix(hash, hash_of(source->at)) : hash;
    }
    return hash;
}

/* Is it reached by way of an object that may be gone already, or before the selector is asked? */
static bool
is_watched(const DtSource *source)
{
    while (source != NULL && !source->watched && (source->at == NULL || !is_watched(source->at))) {
        source = source->base;
    }
    return source != NULL;
}

static bool
is_same_source(const DtSource *a, const DtSource *b)
{
    while (a != NULL && b != NULL) {
        if (a->kind != b->kind || a->index != b->index || !is_same_key(a->key, b->key)
            || !is_same_source(a->at, b->at)) {
            return false;
        }
        a = a->base;
        b = b->base;
    }
    return a == b;
}

/* What of the source's value the fact is about; -1: nothing that can be looked at. */
static int
look_of(const DtFact *fact)
{
    switch ((DtGuardKind)fact->kind) {
    case DT_GUARD_TYPE:
    case DT_GUARD_TYPE_VERSION:
        return 0;
    case DT_GUARD_CONSTANT:
        return LOOK_VALUE;
    case DT_GUARD_IDENTITY:
        return LOOK_IDENTITY;
    case DT_GUARD_LENGTH:
    case DT_GUARD_DICT_KEYS:
    case DT_GUARD_SET_ITEMS:
        return LOOK_LENGTH;
    case DT_GUARD_ADAPTER:
        return fact->adapter->tell_apart != NULL ? LOOK_ARRAY : 0;
    default:
        return -1;
    }
}

static uint64_t
saying_of(const DtFact *fact)
{
    uint64_t saying = (uint64_t)fact->kind + 1;
    switch ((DtGuardKind)fact->kind) {
    case DT_GUARD_CONSTANT:
        saying = mix(saying, (uint64_t)(uintptr_t)Py_TYPE(fact->object));
        return mix(saying, key_of_constant(fact->object));
    case DT_GUARD_SYM:
        return mix(saying, (uint64_t)fact->sym->b->hint.i);
    case DT_GUARD_DICT_KEYS:
    case DT_GUARD_SET_ITEMS:
        return mix(saying, (uint64_t)PyTuple_GET_SIZE(fact->object));
    case DT_GUARD_ADAPTER:
        saying = mix(saying, (uint64_t)(uintptr_t)fact->adapter);
        for (size_t i = 0; i < fact->spec_size; i++) {
            saying = mix(saying, ((const unsigned char *)fact->spec)[i]);
        }
        return saying;
    default:
        return mix(mix(saying, (uint64_t)(uintptr_t)fact->object), (uint64_t)fact->number);
    }
}

/* `symbol == number`, where the symbol is no dimension: says that of the number's source. */
static const DtSource *
source_of_equality(const DtGuardProgram *program, const DtSym *sym)
{
    bool equality = sym->op == DT_SYM_OP_EQ && sym->a->op == DT_SYM_OP_SYMBOL
                    && sym->b->op == DT_SYM_OP_CONST && sym->b->type == DT_SYM_INT;
    const DtGuardSymbol *symbol = equality ? &program->symbols[sym->a->id] : NULL;
    bool is_number = symbol != NULL && symbol->place != 0 && symbol->dim < 0;
    return is_number ? &program->sources[symbol->place - 1] : NULL;
}

static State *
state_of(Search *search, const DtGuardProgram *program, const DtSource *source)
{
    uint64_t hash = hash_of(source);
    for (uint32_t i = 0; i < search->states.count; i++) {
        State *state = &search->states.items[i];
        if (state->hash == hash && is_same_source(state->source, source)) {
            return state;
        }
    }
    State state = {.source = source, .hash = hash, .program = program};
    state.said = DT_ARENA_ARRAY(&search->arena, uint64_t, search->count);
    if (search->states.count == MOST_STATES || state.said == NULL
        || dt_vec_push(&search->arena, &search->states, state) < 0) {
        return NULL;
    }
    return &search->states.items[search->states.count - 1];
}

static void
collect(Search *search)
{
    for (uint32_t i = 0; i < search->count; i++) {
        const DtGuardProgram *program = search->programs[i];
        for (uint32_t j = 0; j < program->nfacts; j++) {
            DtToldFact row;
            dt_program_fact(program, j, &row);
            const DtFact *fact = &row.fact;
            const DtSource *source = fact->source;
            int what = look_of(fact);
            if (fact->kind == DT_GUARD_SYM) {
                source = source_of_equality(program, fact->sym);
                what = LOOK_VALUE;
            }
            bool usable = what >= 0 && source != NULL && !is_watched(source);
            State *state = usable ? state_of(search, program, source) : NULL;
            if (state == NULL) {
                continue;
            }
            state->what |= (uint8_t)what;
            if (what == LOOK_ARRAY) {
                state->adapter = fact->adapter;
            }
            state->said[i] = mix(state->said[i], saying_of(fact));
        }
    }
}

/* How many groups there are after the state has split them; group[] gets their numbers. */
static uint32_t
split(const Search *search, const State *state, uint32_t *group)
{
    uint32_t ngroups = 0;
    for (uint32_t i = 0; i < search->count; i++) {
        uint32_t j = 0;
        while (j < i
               && (search->group[j] != search->group[i] || state->said[j] != state->said[i])) {
            j++;
        }
        group[i] = j < i ? group[j] : ngroups++;
    }
    return ngroups;
}

/* ---- Steps to a source ----------------------------------------------------------------------- */

/* The instruction that loads a source of the frame's own. */
static const DtGuardInstr *
load_of(const DtGuardProgram *program, const DtSource *source)
{
    for (const DtGuardInstr *instr = program->instrs; instr->op != DT_GOP_END; instr++) {
        bool loads = instr->op == DT_GOP_LOCAL || instr->op == DT_GOP_LOCAL_TYPE
                     || instr->op == DT_GOP_LOCAL_ARRAY || instr->op == DT_GOP_LOCAL_CONTENTS
                     || instr->op == DT_GOP_CLOSURE;
        if (loads && instr->dst == source->id) {
            return instr;
        }
    }
    return NULL;
}

static bool
step_to(const State *state, const DtSource *source, Step *step)
{
    *step = (Step){.index = source->index, .place = {.name = source->key, .hint = -1, .nkeys = -1}};
    switch ((DtSourceKind)source->kind) {
    case DT_SOURCE_LOCAL:
    case DT_SOURCE_LOCAL_DEREF: {
        const DtGuardInstr *load = load_of(state->program, source);
        if (load == NULL) {
            return false;
        }
        bool contents = load->op == DT_GOP_LOCAL_CONTENTS || load->op == DT_GOP_CLOSURE;
        step->kind = contents ? load->op : DT_GOP_LOCAL;
        step->index = load->op == DT_GOP_CLOSURE ? load->i : load->a;
        return true;
    }
    case DT_SOURCE_GLOBAL:
        step->kind = DT_GOP_GROUP_GLOBALS;
        return true;
    case DT_SOURCE_ATTR:
    case DT_SOURCE_OWN_ATTR:
        step->kind = DT_GOP_ATTR_ANY;
        return true;
    case DT_SOURCE_INDEX:
        step->kind = DT_GOP_INDEX;
        return true;
    case DT_SOURCE_ITEM:
        step->kind = DT_GOP_DICT_KEY;
        return true;
    default:
        return false;
    }
}

static bool
find_steps(const State *state, Look *look)
{
    uint32_t depth = 0;
    for (const DtSource *at = state->source; at != NULL; at = at->base) {
        depth++;
    }
    if (depth > DEEPEST) {
        return false;
    }
    *look = (Look){
        .what = state->what, .nsteps = (uint8_t)depth, .argument = -1, .adapter = state->adapter};
    for (const DtSource *at = state->source; at != NULL; at = at->base) {
        if (!step_to(state, at, &look->steps[--depth])) {
            return false;
        }
    }
    if (look->nsteps == 1 && look->steps[0].kind == DT_GOP_LOCAL
        && look->steps[0].index <= INT32_MAX) {
        look->argument = (int32_t)look->steps[0].index;
    }
    return true;
}

/* ---- All of it ------------------------------------------------------------------------------- */

static bool
tells_apart(const Search *search, const State *state)
{
    uint32_t i = 1;
    while (i < search->count && state->said[i] == state->said[0]) {
        i++;
    }
    return i < search->count;
}

/* The state that makes the most groups of what is there; false if none makes more. */
static bool
choose_next(Search *search, Look *chosen)
{
    uint32_t *group = DT_ARENA_ARRAY(&search->arena, uint32_t, search->count);
    uint32_t most = search->ngroups;
    const State *best = NULL;
    for (uint32_t i = 0; group != NULL && i < search->states.count; i++) {
        const State *state = &search->states.items[i];
        Look look;
        if (!tells_apart(search, state)) {
            continue;
        }
        uint32_t ngroups = split(search, state, group);
        if (ngroups > most && find_steps(state, &look)) {
            most = ngroups;
            best = state;
            *chosen = look;
        }
    }
    if (best == NULL) {
        return false;
    }
    search->ngroups = split(search, best, group);
    search->group = group;
    return true;
}

DtSelector *
dt_selector_new(DtGuardProgram *const *programs, uint32_t count)
{
    Search search = {.programs = programs, .count = count};
    dt_arena_init(&search.arena);
    search.group = DT_ARENA_ARRAY(&search.arena, uint32_t, count);
    DtSelector *selector = PyMem_Calloc(1, sizeof(*selector));
    if (selector != NULL && search.group != NULL) {
        collect(&search);
        search.ngroups = 1;
        while (selector->nlooks < MOST_LOOKS && search.ngroups < count
               && choose_next(&search, &selector->looks[selector->nlooks])) {
            selector->nlooks++;
        }
        uint32_t nslots = 16;
        while (nslots < count * SLOTS_EACH) {
            nslots *= 2;
        }
        selector->mask = nslots - 1;
        selector->slots = selector->nlooks > 0 ? PyMem_Calloc(nslots, sizeof(Slot)) : NULL;
    }
    dt_arena_release(&search.arena);
    if (selector != NULL && selector->slots == NULL) {
        PyMem_Free(selector);
        selector = NULL;
    }
    return selector;
}

void
dt_selector_free(DtSelector *selector)
{
    if (selector != NULL) {
        PyMem_Free(selector->slots);
        PyMem_Free(selector);
    }
}
