/* Facts as instructions: of one source, and relations between several.
 *
 * Facts that an unchanged dict or type implies are folded into its group; facts
 * that follow from others of the same source are left out; an argument's type
 * is checked by the instruction that loads it.
 *
 * Not in here: what is read before (lower_load.c), the order of it all (lower.c).
 */
#include "guards/lower.h"

#include "compat/dict.h"
#include "compat/dying.h"
#include "compat/type.h"

static int32_t
origin_of(DtLower *lower, const DtFact *fact)
{
    return (int32_t)((uintptr_t)dt_map_get(&lower->fact_index, fact) - 1);
}

/* ---- Instructions of facts ------------------------------------------------------------------- */

static DtStatus
make_type_state(DtLower *lower, PyTypeObject *type, void **out)
{
    DtArena *arena = &lower->program->arena;
    PyObject *mro = type->tp_mro;
    if (mro == NULL) {
        PyErr_SetString(PyExc_SystemError, "guard on a type that is not ready");
        return DT_ERROR;
    }
    *out = dt_map_get(&lower->states, type);
    if (*out != NULL) {
        return DT_OK;
    }
    DtTypeState *state = DT_ARENA_NEW(arena, DtTypeState);
    uint32_t count = (uint32_t)PyTuple_GET_SIZE(mro);
    PyTypeObject **bases = DT_ARENA_ARRAY(arena, PyTypeObject *, count);
    uint64_t *versions = DT_ARENA_ARRAY(arena, uint64_t, count);
    if (state == NULL || bases == NULL || versions == NULL) {
        return dt_no_memory();
    }
    for (uint32_t i = 0; i < count; i++) {
        bases[i] = (PyTypeObject *)PyTuple_GET_ITEM(mro, i);
        PyObject *dict = PyType_Check((PyObject *)bases[i]) ? dt_type_dict(bases[i]) : NULL;
        versions[i] = dict == NULL ? 0 : dt_dict_version(dict);
    }
    *state = (DtTypeState){.type = type,
                           .version = dt_type_version(type),
                           .nbases = count,
                           .bases = bases,
                           .versions = versions};
    *out = state;
    bool noted = dt_map_set(lower->arena, &lower->states, type, state) == 0
                 && dt_vec_push(lower->arena, &lower->all_states, state) == 0;
    return noted ? DT_OK : dt_no_memory();
}

static DtStatus
constant_instr(PyObject *value, DtLowerInstr *instr)
{
    int overflow = 1;
    if (value == Py_None || PyBool_Check(value) || value == Py_Ellipsis
        || value == Py_NotImplemented) {
        instr->op = DT_GOP_IS;
        instr->x = value;
        return DT_OK;
    }
    if (PyLong_CheckExact(value)) {
        instr->y = PyLong_AsLongLongAndOverflow(value, &overflow);
    }
    instr->op = overflow ? DT_GOP_IS_CONST : DT_GOP_IS_INT;
    instr->x = value;
    return DT_OK;
}

/* The instruction of a fact about one source (not SAME, NOT_SAME; not what groups check). */
static DtStatus
fact_instr(DtLower *lower, const DtLowerSource *source, const DtFact *fact, DtLowerInstr *instr)
{
    const DtGuardFact *copy = &lower->program->facts[origin_of(lower, fact)];
    *instr = (DtLowerInstr){.a = source->reg, .origin = origin_of(lower, fact), .x = copy->object};
    switch ((DtGuardKind)fact->kind) {
    case DT_GUARD_TYPE:
        instr->op = DT_GOP_IS_TYPE;
        return DT_OK;
    case DT_GUARD_TYPE_VERSION:
        instr->op = DT_GOP_TYPE_VERSION;
        return make_type_state(lower, (PyTypeObject *)fact->object, &instr->x);
    case DT_GUARD_CLASS_VERSION:
        instr->op = DT_GOP_CLASS_VERSION;
        return make_type_state(lower, (PyTypeObject *)fact->object, &instr->x);
    case DT_GUARD_IDENTITY:
        instr->op = DT_GOP_IS;
        return DT_OK;
    case DT_GUARD_CONSTANT:
        return constant_instr(fact->object, instr);
    case DT_GUARD_LENGTH:
        instr->op = DT_GOP_LENGTH;
        instr->y = fact->number;
        return DT_OK;
    case DT_GUARD_ADAPTER:
        instr->op = DT_GOP_ADAPTER;
        instr->x = (void *)(uintptr_t)copy->spec;
        return DT_OK;
    case DT_GUARD_DICT_KEYS: {
        DtKeys *keys = DT_ARENA_NEW(&lower->program->arena, DtKeys);
        if (keys == NULL) {
            return dt_no_memory();
        }
        PyTypeObject *known = dt_lower_known_type(source);
        keys->keys = copy->object;
        keys->type = known != NULL && PyType_IsSubtype(known, &PyDict_Type) ? known : &PyDict_Type;
        instr->op = DT_GOP_KEYS;
        instr->x = keys;
        return DT_OK;
    }
    case DT_GUARD_SET_ITEMS:
        instr->op = DT_GOP_SET_ITEMS;
        return DT_OK;
    case DT_GUARD_DEQUE:
        instr->op = DT_GOP_DEQUE;
        return DT_OK;
    case DT_GUARD_SET_LAYOUT:
        instr->op = DT_GOP_SET_LAYOUT;
        return DT_OK;
    case DT_GUARD_ATTR_ABSENT: {
        DtAttrPlace *place;
        PyTypeObject *type = dt_lower_known_type(source);
        Py_ssize_t offset = type != NULL ? dt_lower_slot_offset(type, fact->object) : 0;
        if (offset > 0) {
            instr->op = DT_GOP_SLOT_EMPTY;
            instr->x = type;
            instr->y = offset;
            return dt_program_watch(lower->program, (PyObject *)type);
        }
        DT_TRY(dt_lower_place(lower, fact->object, NULL, &place));
        instr->op = DT_GOP_ABSENT;
        instr->x = place;
        return DT_OK;
    }
    case DT_GUARD_CELL_EMPTY:
        instr->op = DT_GOP_CELL_EMPTY;
        return DT_OK;
    default:
        PyErr_Format(PyExc_SystemError, "guard %s has no instruction of its own",
                     dt_guard_rows[fact->kind].name);
        return DT_ERROR;
    }
}

/* Facts that say nothing beyond another fact of the same source. */
static bool
is_implied(const DtLowerSource *source, const DtFact *fact)
{
    if (fact->kind != DT_GUARD_TYPE) {
        return false;
    }
    for (const DtFact *other = source->facts; other != NULL; other = other->previous) {
        bool same_type = other->kind == DT_GUARD_TYPE_VERSION || other->kind == DT_GUARD_LENGTH;
        if ((same_type && other->object == fact->object) || other->kind == DT_GUARD_CONSTANT) {
            return true;
        }
    }
    return false;
}

/* Facts that an unchanged dict or type implies, because they hold for this object for ever. */
static bool
is_folded(const DtLowerSource *source, const DtFact *fact)
{
    if (source->group == NULL) {
        return false;
    }
    switch (fact->kind) {
    case DT_GUARD_IDENTITY:
        return true;
    case DT_GUARD_CONSTANT:
        return !PyByteArray_Check(fact->object); /* which can change */
    case DT_GUARD_LENGTH:
        return fact->object == (PyObject *)&PyTuple_Type;
    case DT_GUARD_TYPE: {
        /* __class__ can be assigned to instances of heap types and modules; functions change it
         * when they are compiled. */
        PyTypeObject *type = (PyTypeObject *)fact->object;
        return dt_type_is_static(type) && !PyType_IsSubtype(type, &PyModule_Type)
               && !PyType_IsSubtype(type, &PyFunction_Type);
    }
    default:
        return false;
    }
}

/* A number of a group is read again when the group has changed: int, float and bool never do. */
bool
dt_lower_folds_symbol(const DtLowerSource *source)
{
    bool typed = false;
    for (const DtFact *fact = source->facts; fact != NULL; fact = fact->previous) {
        typed = typed || (fact->kind == DT_GUARD_TYPE && is_folded(source, fact));
    }
    return source->symbol != 0 && typed;
}

static bool
has_own_instr(const DtFact *fact)
{
    return fact->kind < DT_GUARD_SAME;
}

/* Facts of a group member that it checks on every call need its register. */
bool
dt_lower_has_warm_facts(DtLower *lower, const DtLowerSource *source)
{
    for (const DtFact *fact = source->facts; fact != NULL; fact = fact->previous) {
        if (has_own_instr(fact) && !dt_lower_is_absent_name(lower, fact)
            && !is_implied(source, fact) && !is_folded(source, fact)) {
            return true;
        }
    }
    return false;
}

static bool
runs_user_code(const DtAdapter *adapter)
{
    return adapter->state != NULL;
}

/* An argument's type, or all that an adapter asks of it, is checked by the instruction that loads
 * it. */
static bool
fused_with_load(DtInstrs *list, const DtLowerInstr *instr)
{
    DtLowerInstr *last = list->count == 0 ? NULL : &list->items[list->count - 1];
    if (last == NULL || last->op != DT_GOP_LOCAL || last->dst != instr->a) {
        return false;
    }
    if (instr->op == DT_GOP_ADAPTER) {
        last->op = DT_GOP_LOCAL_ARRAY;
        last->x = instr->x;
        last->origin = instr->origin;
        return true;
    }
    if (instr->op != DT_GOP_IS_TYPE) {
        return false;
    }
    last->op = DT_GOP_LOCAL_TYPE;
    last->x = instr->x;
    last->origin = instr->origin;
    return true;
}

/* Own facts of a source, in the order of guards.def; `folded` selects those of its group. */
DtStatus
dt_lower_facts(DtLower *lower, DtLowerSource *source, bool folded)
{
    for (uint8_t kind = 0; kind < DT_GUARD_COUNT; kind++) {
        for (const DtFact *fact = source->facts; fact != NULL; fact = fact->previous) {
            if (fact->kind != kind || !has_own_instr(fact) || is_implied(source, fact)
                || is_folded(source, fact) != folded || dt_lower_is_absent_name(lower, fact)) {
                continue;
            }
            DtLowerInstr instr;
            DT_TRY(fact_instr(lower, source, fact, &instr));
            bool user = fact->kind == DT_GUARD_ADAPTER && runs_user_code(fact->adapter);
            DtInstrs *list = folded ? &lower->folded : user ? &lower->user : &lower->pure;
            if (!fused_with_load(list, &instr)) {
                DT_TRY(dt_lower_emit(lower, list, instr));
            }
        }
    }
    return DT_OK;
}

/* ---- Relations: conditions on numbers, identity of two sources ------------------------------- */

static const DtAdapter *
adapter_of(const DtLowerSource *source)
{
    for (const DtFact *fact = source->facts; fact != NULL; fact = fact->previous) {
        if (fact->kind == DT_GUARD_ADAPTER) {
            return fact->adapter;
        }
    }
    return NULL;
}

/* Whether all symbols can be read by now; *user if a Python adapter tells one of them. */
static bool
symbols_ready(DtLower *lower, const DtSym *sym, bool *user)
{
    if (sym == NULL) {
        return true;
    }
    if (sym->op == DT_SYM_OP_SYMBOL) {
        const DtSource *source = lower->trace->symbols.items[sym->id].source;
        const DtLowerSource *place = dt_lower_find(lower, dt_lower_symbol_place(source));
        if (!place->loaded) {
            return false;
        }
        if (source->kind == DT_SOURCE_ARRAY_DIM) {
            const DtAdapter *adapter = adapter_of(place);
            *user = *user || (adapter != NULL && runs_user_code(adapter));
        }
        return true;
    }
    return symbols_ready(lower, sym->a, user) && symbols_ready(lower, sym->b, user);
}

static DtStatus
emit_number(DtLower *lower, const DtLowerSource *place, uint32_t id, DtInstrs *list)
{
    static const uint8_t ops[] = {[DT_SYM_INT] = DT_GOP_SYM_INT,
                                  [DT_SYM_FLOAT] = DT_GOP_SYM_FLOAT,
                                  [DT_SYM_BOOL] = DT_GOP_SYM_BOOL};
    DtLowerInstr instr = {.op = ops[lower->trace->symbols.items[id].type],
                          .dst = id,
                          .a = place->reg,
                          .origin = ~(int32_t)place->reg};
    lower->symbol_read[id] = true;
    DtLowerInstr *last = list->count == 0 ? NULL : &list->items[list->count - 1];
    if (last != NULL && last->op == DT_GOP_IS_TYPE && last->a == instr.a
        && ((instr.op == DT_GOP_SYM_FLOAT && last->x == &PyFloat_Type)
            || (instr.op == DT_GOP_SYM_BOOL && last->x == &PyBool_Type))) {
        instr.origin = last->origin; /* reading it asks for the type by itself */
        *last = instr;
        return DT_OK;
    }
    return dt_lower_emit(lower, list, instr);
}

DtStatus
dt_lower_number(DtLower *lower, const DtLowerSource *source, DtInstrs *list)
{
    bool wanted = source->symbol != 0 && !lower->symbol_read[source->symbol - 1];
    return wanted ? emit_number(lower, source, source->symbol - 1, list) : DT_OK;
}

static DtStatus
read_symbols(DtLower *lower, const DtSym *sym, DtInstrs *list)
{
    if (sym == NULL) {
        return DT_OK;
    }
    if (sym->op != DT_SYM_OP_SYMBOL) {
        DT_TRY(read_symbols(lower, sym->a, list));
        return read_symbols(lower, sym->b, list);
    }
    if (lower->symbol_read[sym->id]) {
        return DT_OK;
    }
    lower->symbol_read[sym->id] = true;
    const DtSymbol *symbol = &lower->trace->symbols.items[sym->id];
    const DtLowerSource *place = dt_lower_find(lower, dt_lower_symbol_place(symbol->source));
    if (symbol->source->kind != DT_SOURCE_ARRAY_DIM) {
        return emit_number(lower, place, sym->id, list);
    }
    DtLowerInstr instr = {.op = DT_GOP_SYM_DIM,
                          .dst = sym->id,
                          .a = place->reg,
                          .origin = ~(int32_t)place->reg,
                          .x = (void *)(uintptr_t)adapter_of(place),
                          .y = symbol->source->index};
    if (instr.x == NULL) {
        PyErr_SetString(PyExc_SystemError, "a dimension of a source that no adapter guards");
        return DT_ERROR;
    }
    return dt_lower_emit(lower, list, instr);
}

/* The comparison with its operands exchanged. */
static uint32_t
mirrored(uint32_t op)
{
    switch (op) {
    case DT_SYM_OP_LT:
        return DT_SYM_OP_GT;
    case DT_SYM_OP_LE:
        return DT_SYM_OP_GE;
    case DT_SYM_OP_GT:
        return DT_SYM_OP_LT;
    case DT_SYM_OP_GE:
        return DT_SYM_OP_LE;
    default:
        return op;
    }
}

static bool
is_int_symbol(const DtSym *sym)
{
    return sym->op == DT_SYM_OP_SYMBOL && sym->type == DT_SYM_INT;
}

static bool
is_int_const(const DtSym *sym)
{
    return sym->op == DT_SYM_OP_CONST && sym->type == DT_SYM_INT;
}

static DtStatus
condition_instr(DtLower *lower, const DtFact *fact, DtLowerInstr *instr)
{
    const DtSym *sym = fact->sym;
    if (sym->op >= DT_SYM_OP_EQ && sym->op <= DT_SYM_OP_GE) {
        const DtSym *a = sym->a, *b = sym->b;
        uint32_t op = sym->op;
        if (is_int_const(a)) {
            a = sym->b;
            b = sym->a;
            op = mirrored(op);
        }
        if (is_int_symbol(a) && (is_int_const(b) || is_int_symbol(b))) {
            instr->op = is_int_const(b) ? DT_GOP_CMP_CONST : DT_GOP_CMP;
            instr->dst = op;
            instr->a = a->id;
            instr->y = is_int_const(b) ? b->hint.i : (int64_t)b->id;
            return DT_OK;
        }
    }
    DtSymCheck *check = DT_ARENA_NEW(&lower->program->arena, DtSymCheck);
    if (check == NULL) {
        return dt_no_memory();
    }
    check->sym = lower->program->facts[instr->origin].sym;
    instr->op = DT_GOP_SYM;
    instr->x = check;
    return dt_sym_compile(&lower->program->arena, check->sym, &check->program);
}

/* What goes is of a type of which nobody notices: another fact says so. */
static bool
goes_unnoticed(DtLower *lower, const DtFact *fact)
{
    static const DtSourceKind kinds[] = {DT_SOURCE_ATTR, DT_SOURCE_OWN_ATTR};
    const DtLowerSource *source = dt_lower_find(lower, fact->source);
    if (fact->kind == DT_GUARD_QUIET) {
        PyTypeObject *type = dt_lower_known_type(source);
        return type != NULL && dt_dying_is_plain_type(type);
    }
    for (size_t i = 0; fact->kind == DT_GUARD_QUIET_ATTR && i < Py_ARRAY_LENGTH(kinds); i++) {
        for (uint32_t k = 0; k < lower->sources.count; k++) {
            const DtLowerSource *value = lower->sources.items[k];
            if (value->base != source || value->source->kind != kinds[i]
                || value->source->key != fact->object) {
                continue;
            }
            PyTypeObject *type = dt_lower_known_type(value);
            return type != NULL && dt_dying_is_plain_type(type);
        }
    }
    return false;
}

static DtStatus
add_quiet(DtLower *lower, const DtFact *fact, int32_t origin, DtQuiets *quiets)
{
    const DtLowerSource *source = dt_lower_find(lower, fact->source);
    const DtLowerSource *stays = dt_lower_find(lower, fact->other);
    DtQuiet *quiet = &quiets->rows[quiets->count++];
    *quiet = (DtQuiet){.kind = fact->kind,
                       .reg = source != NULL ? (int64_t)source->reg : -1,
                       .stays = stays != NULL ? (int64_t)stays->reg : -1,
                       .origin = origin};
    if (fact->object != NULL) {
        DtAttrPlace *place;
        DT_TRY(dt_lower_place(lower, fact->object, NULL, &place));
        quiet->place = *place;
    }
    return DT_OK;
}

DtStatus
dt_lower_quiets(DtLower *lower)
{
    const DtGuardRecipe *recipe = lower->trace->guards;
    DtArena *arena = &lower->program->arena;
    DtQuiets *quiets = NULL;
    for (uint32_t i = 0; i < recipe->facts.count; i++) {
        const DtFact *fact = recipe->facts.items[i];
        if (!dt_lower_is_quiet(fact) || goes_unnoticed(lower, fact)) {
            continue;
        }
        if (quiets == NULL) {
            quiets = DT_ARENA_NEW(arena, DtQuiets);
            if (quiets == NULL) {
                return dt_no_memory();
            }
            quiets->rows = DT_ARENA_ARRAY(arena, DtQuiet, recipe->facts.count - i);
            if (quiets->rows == NULL) {
                return dt_no_memory();
            }
        }
        DT_TRY(add_quiet(lower, fact, (int32_t)i, quiets));
    }
    if (quiets == NULL) {
        return DT_OK;
    }
    DtLowerInstr instr = {.op = DT_GOP_QUIET, .origin = quiets->rows[0].origin, .x = quiets};
    return dt_lower_emit(lower, &lower->pure, instr);
}

/* Two dimensions of arrays that are equal: no need for their numbers. */
static bool
equal_dims(DtLower *lower, const DtSym *sym, DtLowerInstr *instr)
{
    const DtSource *dims[2];
    const DtSym *sides[2] = {sym->a, sym->b};
    const DtAdapter *adapter = NULL;
    if (sym->op != DT_SYM_OP_EQ) {
        return false;
    }
    for (int i = 0; i < 2; i++) {
        if (!is_int_symbol(sides[i]) || lower->symbol_read[sides[i]->id]) {
            return false;
        }
        dims[i] = lower->trace->symbols.items[sides[i]->id].source;
        if (dims[i]->kind != DT_SOURCE_ARRAY_DIM || dims[i]->index > 15) {
            return false;
        }
        const DtAdapter *own = adapter_of(dt_lower_find(lower, dims[i]->base));
        if (own == NULL || runs_user_code(own) || (i == 1 && own != adapter)) {
            return false;
        }
        adapter = own;
    }
    instr->op = DT_GOP_DIMS_EQUAL;
    instr->x = (void *)(uintptr_t)adapter;
    instr->a = dt_lower_find(lower, dims[0]->base)->reg;
    instr->dst = dt_lower_find(lower, dims[1]->base)->reg;
    instr->y = dims[0]->index | dims[1]->index << 4;
    return true;
}

/* Emits every relation whose sources are loaded. */
DtStatus
dt_lower_relations(DtLower *lower, bool *done)
{
    DtGuardRecipe *recipe = lower->trace->guards;
    for (uint32_t i = 0; i < recipe->facts.count; i++) {
        const DtFact *fact = recipe->facts.items[i];
        bool user = false;
        if (done[i]) {
            continue;
        }
        DtLowerInstr instr = {.origin = (int32_t)i};
        if (fact->kind == DT_GUARD_SYM) {
            if (!symbols_ready(lower, fact->sym, &user)) {
                continue;
            }
            if (!equal_dims(lower, fact->sym, &instr)) {
                DT_TRY(read_symbols(lower, fact->sym, user ? &lower->user : &lower->pure));
                DT_TRY(condition_instr(lower, fact, &instr));
            }
        }
        else if (fact->kind >= DT_GUARD_SAME && fact->kind <= DT_GUARD_NO_KEY) {
            const DtLowerSource *a = dt_lower_find(lower, fact->source);
            const DtLowerSource *b = dt_lower_find(lower, fact->other);
            if (!a->loaded || !b->loaded) {
                continue;
            }
            instr.op = fact->kind == DT_GUARD_SAME       ? DT_GOP_IS_SAME
                       : fact->kind == DT_GUARD_NOT_SAME ? DT_GOP_IS_NOT_SAME
                       : fact->kind == DT_GUARD_APART    ? DT_GOP_APART
                       : fact->kind == DT_GUARD_NO_KEY   ? DT_GOP_NO_KEY
                                                         : DT_GOP_NOT_DICT_OF;
            if (fact->kind == DT_GUARD_APART) {
                instr.x = (void *)(uintptr_t)lower->program->facts[i].spec;
            }
            instr.a = a->reg;
            instr.dst = b->reg;
        }
        else if (fact->kind == DT_GUARD_ADAPTER_STATE) {
            instr.op = DT_GOP_STATE;
            instr.x = (void *)(uintptr_t)lower->program->facts[i].spec;
            user = runs_user_code(fact->adapter);
        }
        else if (fact->kind == DT_GUARD_ABC_TOKEN) {
            instr.op = DT_GOP_ABC_TOKEN;
            instr.y = fact->number;
        }
        else {
            done[i] = true;
            continue;
        }
        done[i] = true;
        DT_TRY(dt_lower_emit(lower, user ? &lower->user : &lower->pure, instr));
    }
    return DT_OK;
}
