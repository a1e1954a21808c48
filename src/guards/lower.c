/* From a recipe to a guard program.
 *
 *   facts, wanted sources, symbols
 *        │ collect: every source that is needed, bases first, a register each
 *        │ group:   sources read by name from one dict or type
 *        ▼
 *   emit: arguments and their types, array metadata and conditions on sizes,
 *         then globals, attributes and the rest; Python adapters last
 *
 * Invariant: a source's load stands behind its base's, its facts directly
 * behind the load, in the order of guards.def.
 *
 * Not in here: loads by kind of source (lower_load.c), running (program.c).
 */
#include "guards/lower.h"

#include <string.h>

#include "compat/code.h"
#include "compat/dict.h"
#include "compat/type.h"

/* ---- Collecting -------------------------------------------------------------------------------- */

DtLowerSource *
dt_lower_find(DtLower *lower, const DtSource *source)
{
    return source == NULL ? NULL : dt_map_get(&lower->by_source, source);
}

static DtStatus
need(DtLower *lower, const DtSource *source, DtLowerSource **out)
{
    DtLowerSource *found = dt_lower_find(lower, source);
    if (found == NULL) {
        DtLowerSource *base = NULL;
        if (source->base != NULL) {
            DT_TRY(need(lower, source->base, &base));
            base->needed = true;
        }
        found = DT_ARENA_NEW(lower->arena, DtLowerSource);
        if (found == NULL) {
            return dt_no_memory();
        }
        found->source = source;
        found->base = base;
        found->reg = lower->sources.count;
        found->facts = dt_map_get(&lower->trace->guards->by_source, source);
        if (dt_vec_push(lower->arena, &lower->sources, found) < 0
            || dt_map_set(lower->arena, &lower->by_source, source, found) < 0) {
            return dt_no_memory();
        }
    }
    *out = found;
    return DT_OK;
}

/* Where the value of a symbol is read: the array of a dimension, or the number itself. */
static const DtSource *
symbol_place(const DtSource *source)
{
    return source->kind == DT_SOURCE_ARRAY_DIM ? source->base : source;
}

static DtStatus
need_symbols(DtLower *lower, const DtSym *sym)
{
    if (sym == NULL) {
        return DT_OK;
    }
    if (sym->op == DT_SYM_OP_SYMBOL) {
        DtLowerSource *place;
        DT_TRY(need(lower, symbol_place(lower->trace->symbols.items[sym->id].source), &place));
        place->needed = true;
        return DT_OK;
    }
    DT_TRY(need_symbols(lower, sym->a));
    return need_symbols(lower, sym->b);
}

/* `needed` marks registers that somebody reads on every call. */
static DtStatus
collect(DtLower *lower, const DtSource *const *wanted, uint32_t nwanted)
{
    DtGuardRecipe *recipe = lower->trace->guards;
    DtLowerSource *found;
    for (uint32_t i = 0; i < recipe->facts.count; i++) {
        const DtFact *fact = recipe->facts.items[i];
        if (fact->source != NULL) {
            DT_TRY(need(lower, fact->source, &found));
        }
        if (fact->other != NULL) {
            DT_TRY(need(lower, fact->other, &found));
            found->needed = true;
            dt_lower_find(lower, fact->source)->needed = true;
        }
        DT_TRY(need_symbols(lower, fact->sym));
    }
    for (uint32_t i = 0; i < nwanted; i++) {
        DT_TRY(need(lower, wanted[i], &found));
        found->needed = true;
    }
    return DT_OK;
}

/* ---- Copies that the program keeps ------------------------------------------------------------- */

static DtStatus
copy_sources(DtLower *lower)
{
    DtGuardProgram *program = lower->program;
    program->nregs = lower->sources.count;
    program->sources = DT_ARENA_ARRAY(&program->arena, DtSource, program->nregs + 1);
    if (program->sources == NULL) {
        return dt_no_memory();
    }
    for (uint32_t i = 0; i < program->nregs; i++) {
        DtLowerSource *source = lower->sources.items[i];
        DtSource *copy = &program->sources[i];
        *copy = *source->source;
        copy->id = i;
        copy->base = source->base == NULL ? NULL : &program->sources[source->base->reg];
        if (copy->key == NULL) {
            continue;
        }
        if (copy->kind == DT_SOURCE_OBJECT) {
            DT_TRY(dt_program_watch(program, copy->key));
        }
        else {
            DT_TRY(dt_program_keep(program, copy->key));
        }
    }
    return DT_OK;
}

/* Symbols keep their numbers; those that no guard reads have no source. */
static DtStatus
copy_symbols(DtLower *lower)
{
    DtGuardProgram *program = lower->program;
    uint32_t count = lower->trace->symbols.count;
    program->nsymbols = count;
    program->symbols = DT_ARENA_ARRAY(&program->arena, DtSymbol, count + 1);
    program->numbers = DT_ARENA_ARRAY(&program->arena, DtNumber, count + 1);
    lower->symbol_read = DT_ARENA_ARRAY(lower->arena, bool, count + 1);
    if (program->symbols == NULL || program->numbers == NULL || lower->symbol_read == NULL) {
        return dt_no_memory();
    }
    for (uint32_t i = 0; i < count; i++) {
        program->symbols[i] = lower->trace->symbols.items[i];
        const DtSource *source = program->symbols[i].source;
        const DtLowerSource *place = dt_lower_find(lower, symbol_place(source));
        program->symbols[i].source = NULL;
        if (place == NULL) {
            continue;
        }
        if (source->kind != DT_SOURCE_ARRAY_DIM) {
            program->symbols[i].source = &program->sources[place->reg];
            continue;
        }
        DtSource *dim = DT_ARENA_NEW(&program->arena, DtSource);
        if (dim == NULL) {
            return dt_no_memory();
        }
        *dim = *source;
        dim->base = &program->sources[place->reg];
        program->symbols[i].source = dim;
    }
    return DT_OK;
}

static const DtSource *
copied(DtLower *lower, const DtSource *source)
{
    return source == NULL ? NULL : &lower->program->sources[dt_lower_find(lower, source)->reg];
}

/* Objects of these facts are known by identity: held weakly, described now. */
static bool
is_identity_fact(uint8_t kind)
{
    return kind == DT_GUARD_TYPE || kind == DT_GUARD_TYPE_VERSION || kind == DT_GUARD_IDENTITY
           || kind == DT_GUARD_LENGTH;
}

static DtStatus
copy_fact(DtLower *lower, const DtFact *fact, DtGuardFact *copy)
{
    DtGuardProgram *program = lower->program;
    copy->fact = *fact;
    copy->fact.previous = NULL;
    copy->fact.source = copied(lower, fact->source);
    copy->fact.other = copied(lower, fact->other);
    if (fact->object != NULL && is_identity_fact(fact->kind)) {
        DT_TRY(dt_program_watch(program, fact->object));
        DtStrbuf text = {0};
        dt_program_describe(fact->object, &text);
        copy->text = dt_arena_strdup(&program->arena, dt_strbuf_text(&text));
        dt_strbuf_release(&text);
        if (copy->text == NULL) {
            return dt_no_memory();
        }
    }
    else if (fact->object != NULL) {
        DT_TRY(dt_program_keep(program, fact->object));
    }
    if (fact->filename != NULL) {
        DT_TRY(dt_program_keep(program, fact->filename));
    }
    if (fact->sym != NULL) {
        copy->fact.sym = dt_sym_copy(&program->arena, fact->sym);
        if (copy->fact.sym == NULL) {
            return dt_no_memory();
        }
    }
    if (fact->spec_size != 0) {
        void *spec = dt_arena_alloc(&program->arena, fact->spec_size);
        if (spec == NULL) {
            return dt_no_memory();
        }
        memcpy(spec, fact->spec, fact->spec_size);
        copy->fact.spec = spec;
    }
    copy->fact.refs = NULL;
    copy->fact.nrefs = 0;
    for (uint32_t i = 0; i < fact->nrefs; i++) {
        DT_TRY(dt_program_keep(program, fact->refs[i]));
    }
    return DT_OK;
}

static DtStatus
copy_facts(DtLower *lower)
{
    DtGuardProgram *program = lower->program;
    DtGuardRecipe *recipe = lower->trace->guards;
    program->nfacts = recipe->facts.count;
    program->facts = DT_ARENA_ARRAY(&program->arena, DtGuardFact, program->nfacts + 1);
    if (program->facts == NULL) {
        return dt_no_memory();
    }
    for (uint32_t i = 0; i < program->nfacts; i++) {
        DT_TRY(copy_fact(lower, recipe->facts.items[i], &program->facts[i]));
        if (dt_map_set(lower->arena, &lower->fact_index, recipe->facts.items[i],
                       (void *)(uintptr_t)(i + 1)) < 0) {
            return dt_no_memory();
        }
    }
    return DT_OK;
}

static int32_t
origin_of(DtLower *lower, const DtFact *fact)
{
    return (int32_t)((uintptr_t)dt_map_get(&lower->fact_index, fact) - 1);
}

/* ---- Instructions of facts --------------------------------------------------------------------- */

DtStatus
dt_lower_emit(DtLower *lower, DtInstrs *list, DtGuardInstr instr)
{
    return dt_vec_push(lower->arena, list, instr) < 0 ? dt_no_memory() : DT_OK;
}

DtStatus
dt_lower_place(DtLower *lower, PyObject *name, PyTypeObject *type, DtPlace **out)
{
    DtPlace *place = DT_ARENA_NEW(&lower->program->arena, DtPlace);
    if (place == NULL) {
        return dt_no_memory();
    }
    DT_TRY(dt_lower_intern(lower, name, &place->name));
    place->hint = -1;
    place->nkeys = -1;
    place->type = type;
    *out = place;
    return DT_OK;
}

DtStatus
dt_lower_intern(DtLower *lower, PyObject *name, PyObject **out)
{
    Py_INCREF(name);
    if (PyUnicode_CheckExact(name)) {
        PyUnicode_InternInPlace(&name);
    }
    *out = name;
    DtStatus status = dt_program_keep(lower->program, name);
    Py_DECREF(name);
    return status;
}

static DtStatus
make_type_state(DtLower *lower, PyTypeObject *type, void **out)
{
    DtArena *arena = &lower->program->arena;
    PyObject *mro = type->tp_mro;
    if (mro == NULL) {
        PyErr_SetString(PyExc_SystemError, "guard on a type that is not ready");
        return DT_ERROR;
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
    *state = (DtTypeState){type, dt_type_version(type), count, bases, versions};
    *out = state;
    return DT_OK;
}

static DtStatus
constant_instr(PyObject *value, DtGuardInstr *instr)
{
    int overflow = 1;
    if (value == Py_None || PyBool_Check(value) || value == Py_Ellipsis || value == Py_NotImplemented) {
        instr->op = DT_GOP_IS;
        instr->x = value;
        return DT_OK;
    }
    if (PyLong_CheckExact(value)) {
        instr->y.i = PyLong_AsLongLongAndOverflow(value, &overflow);
    }
    instr->op = overflow ? DT_GOP_IS_CONST : DT_GOP_IS_INT;
    instr->x = value;
    return DT_OK;
}

/* The instruction of a fact about one source (not SAME, NOT_SAME; not what groups check). */
static DtStatus
fact_instr(DtLower *lower, const DtLowerSource *source, const DtFact *fact, DtGuardInstr *instr)
{
    const DtGuardFact *copy = &lower->program->facts[origin_of(lower, fact)];
    *instr = (DtGuardInstr){.a = source->reg, .origin = origin_of(lower, fact), .x = fact->object};
    switch ((DtGuardKind)fact->kind) {
    case DT_GUARD_TYPE:
        instr->op = DT_GOP_IS_TYPE;
        return DT_OK;
    case DT_GUARD_TYPE_VERSION:
        instr->op = DT_GOP_TYPE_VERSION;
        return make_type_state(lower, (PyTypeObject *)fact->object, &instr->x);
    case DT_GUARD_IDENTITY:
        instr->op = DT_GOP_IS;
        return DT_OK;
    case DT_GUARD_CONSTANT:
        return constant_instr(fact->object, instr);
    case DT_GUARD_LENGTH:
        instr->op = DT_GOP_LENGTH;
        instr->y.i = fact->number;
        return DT_OK;
    case DT_GUARD_ADAPTER:
        instr->op = DT_GOP_ADAPTER;
        instr->x = (void *)(uintptr_t)copy->fact.spec;
        instr->y.p = fact->adapter;
        return DT_OK;
    case DT_GUARD_DICT_KEYS: {
        DtKeys *keys = DT_ARENA_NEW(&lower->program->arena, DtKeys);
        if (keys == NULL) {
            return dt_no_memory();
        }
        keys->keys = fact->object;
        instr->op = DT_GOP_KEYS;
        instr->x = keys;
        return DT_OK;
    }
    case DT_GUARD_ATTR_ABSENT: {
        DtPlace *place;
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
    case DT_GUARD_CONSTANT:
        return true;
    case DT_GUARD_LENGTH:
        return fact->object == (PyObject *)&PyTuple_Type;
    case DT_GUARD_TYPE: {
        /* __class__ can be assigned to instances of heap types and modules; functions change it when
         * they are compiled. */
        PyTypeObject *type = (PyTypeObject *)fact->object;
        return dt_type_is_static(type) && !PyType_IsSubtype(type, &PyModule_Type)
               && !PyType_IsSubtype(type, &PyFunction_Type);
    }
    default:
        return false;
    }
}

static bool
has_own_instr(const DtFact *fact)
{
    return fact->kind < DT_GUARD_SAME;
}

/* Facts of a group member that it checks on every call need its register. */
static bool
has_warm_facts(DtLower *lower, const DtLowerSource *source)
{
    for (const DtFact *fact = source->facts; fact != NULL; fact = fact->previous) {
        if (has_own_instr(fact) && !dt_lower_is_absent_name(lower, fact) && !is_implied(source, fact) && !is_folded(source, fact)) {
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

/* An argument's type is checked by the instruction that loads it. */
static bool
fused_with_load(DtInstrs *list, const DtGuardInstr *instr)
{
    DtGuardInstr *last = list->count == 0 ? NULL : &list->items[list->count - 1];
    if (last == NULL || instr->op != DT_GOP_IS_TYPE || last->op != DT_GOP_LOCAL
        || last->dst != instr->a) {
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
            DtGuardInstr instr;
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

/* ---- Relations: conditions on numbers, identity of two sources --------------------------------- */

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
        const DtLowerSource *place = dt_lower_find(lower, symbol_place(source));
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
    const DtLowerSource *place = dt_lower_find(lower, symbol_place(symbol->source));
    DtGuardInstr instr = {.dst = sym->id, .a = place->reg, .origin = ~(int32_t)place->reg};
    if (symbol->source->kind == DT_SOURCE_ARRAY_DIM) {
        instr.op = DT_GOP_SYM_DIM;
        instr.y.i = symbol->source->index;
        instr.x = (void *)(uintptr_t)adapter_of(place);
        if (instr.x == NULL) {
            PyErr_SetString(PyExc_SystemError, "a dimension of a source that no adapter guards");
            return DT_ERROR;
        }
    }
    else {
        instr.op = symbol->type == DT_SYM_INT     ? DT_GOP_SYM_INT
                   : symbol->type == DT_SYM_FLOAT ? DT_GOP_SYM_FLOAT
                                                  : DT_GOP_SYM_BOOL;
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
condition_instr(DtLower *lower, const DtFact *fact, DtGuardInstr *instr)
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
            instr->y.i = is_int_const(b) ? b->hint.i : (int64_t)b->id;
            return DT_OK;
        }
    }
    DtSymCheck *check = DT_ARENA_NEW(&lower->program->arena, DtSymCheck);
    if (check == NULL) {
        return dt_no_memory();
    }
    check->sym = lower->program->facts[instr->origin].fact.sym;
    instr->op = DT_GOP_SYM;
    instr->x = check;
    return dt_sym_compile(&lower->program->arena, check->sym, &check->program);
}

/* Emits every relation whose sources are loaded. */
static DtStatus
flush_relations(DtLower *lower, bool *done)
{
    DtGuardRecipe *recipe = lower->trace->guards;
    for (uint32_t i = 0; i < recipe->facts.count; i++) {
        const DtFact *fact = recipe->facts.items[i];
        bool user = false;
        if (done[i]) {
            continue;
        }
        DtGuardInstr instr = {.origin = (int32_t)i};
        if (fact->kind == DT_GUARD_SYM) {
            if (!symbols_ready(lower, fact->sym, &user)) {
                continue;
            }
            DT_TRY(read_symbols(lower, fact->sym, user ? &lower->user : &lower->pure));
            DT_TRY(condition_instr(lower, fact, &instr));
        }
        else if (fact->kind == DT_GUARD_SAME || fact->kind == DT_GUARD_NOT_SAME) {
            const DtLowerSource *a = dt_lower_find(lower, fact->source);
            const DtLowerSource *b = dt_lower_find(lower, fact->other);
            if (!a->loaded || !b->loaded) {
                continue;
            }
            instr.op = fact->kind == DT_GUARD_SAME ? DT_GOP_IS_SAME : DT_GOP_IS_NOT_SAME;
            instr.a = a->reg;
            instr.dst = b->reg;
        }
        else if (fact->kind == DT_GUARD_ADAPTER_STATE) {
            instr.op = DT_GOP_STATE;
            instr.x = (void *)(uintptr_t)lower->program->facts[i].fact.spec;
            instr.y.p = fact->adapter;
            user = runs_user_code(fact->adapter);
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

/* ---- All of it ---------------------------------------------------------------------------------- */

static DtStatus
emit_all(DtLower *lower)
{
    bool *done = DT_ARENA_ARRAY(lower->arena, bool, lower->trace->guards->facts.count + 1);
    if (done == NULL) {
        return dt_no_memory();
    }
    for (uint32_t i = 0; i < lower->sources.count; i++) {
        if (lower->sources.items[i]->source->kind == DT_SOURCE_LOCAL) {
            DT_TRY(dt_lower_source(lower, lower->sources.items[i]));
        }
    }
    DT_TRY(flush_relations(lower, done));
    for (uint32_t i = 0; i < lower->sources.count; i++) {
        DT_TRY(dt_lower_source(lower, lower->sources.items[i]));
    }
    DT_TRY(dt_lower_groups(lower));
    return flush_relations(lower, done);
}

/* The three lists become one array; checks of groups are numbered within it. */
static DtStatus
join(DtLower *lower)
{
    DtGuardProgram *program = lower->program;
    uint32_t counts[] = {lower->pure.count, lower->user.count, lower->folded.count};
    uint32_t before = counts[0] + 1 + (counts[1] != 0 ? counts[1] + 1 : 0);
    program->instrs = DT_ARENA_ARRAY(&program->arena, DtGuardInstr, before + counts[2] + 1);
    if (program->instrs == NULL) {
        return dt_no_memory();
    }
    /* The arena is zeroed and END is 0: a list ends where a gap is left. */
    if (counts[0] != 0) {
        memcpy(program->instrs, lower->pure.items, sizeof(DtGuardInstr) * counts[0]);
    }
    if (counts[1] != 0) {
        program->user = counts[0] + 1;
        memcpy(program->instrs + program->user, lower->user.items, sizeof(DtGuardInstr) * counts[1]);
    }
    if (counts[2] != 0) {
        memcpy(program->instrs + before, lower->folded.items, sizeof(DtGuardInstr) * counts[2]);
    }
    for (uint32_t i = 0; i < lower->made.count; i++) {
        DtGroup *group = lower->made.items[i];
        for (uint32_t j = 0; j < group->count; j++) {
            group->names[j].first_check += before;
        }
    }
    return DT_OK;
}

static DtStatus
frame_layout(DtLower *lower)
{
    DtGuardProgram *program = lower->program;
    const DtGuardRecipe *recipe = lower->trace->guards;
    program->free_start = recipe->free_start;
    program->argument_slots = recipe->argument_slots;
    if (program->free_start < 0) {
        DtCodeLayout layout;
        DT_TRY(dt_code_layout(lower->arena, lower->trace->code, &layout));
        program->free_start = layout.free_start;
        program->argument_slots = dt_code_argument_slots(lower->trace->code);
    }
    return DT_OK;
}

static DtStatus
set_wanted(DtLower *lower, const DtSource *const *wanted, uint32_t nwanted)
{
    DtGuardProgram *program = lower->program;
    program->nwanted = nwanted;
    program->wanted = DT_ARENA_ARRAY(&program->arena, uint32_t, nwanted + 1);
    if (program->wanted == NULL) {
        return dt_no_memory();
    }
    for (uint32_t i = 0; i < nwanted; i++) {
        program->wanted[i] = dt_lower_find(lower, wanted[i])->reg;
    }
    return DT_OK;
}

DtStatus
dt_program_lower(DtTrace *trace, const DtSource *const *wanted, uint32_t nwanted,
                 DtGuardProgram **out)
{
    DtLower lower = {.trace = trace, .arena = &trace->arena};
    DtStatus status = DT_OK;
    *out = NULL;
    lower.program = dt_program_new();
    if (lower.program == NULL) {
        return DT_ERROR;
    }
    DT_TRY_DONE(frame_layout(&lower));
    DT_TRY_DONE(collect(&lower, wanted, nwanted));
    DT_TRY_DONE(copy_sources(&lower));
    DT_TRY_DONE(copy_symbols(&lower));
    DT_TRY_DONE(copy_facts(&lower));
    DT_TRY_DONE(dt_lower_group(&lower));
    for (uint32_t i = 0; i < lower.sources.count; i++) {
        DtLowerSource *source = lower.sources.items[i];
        source->needed = source->needed || has_warm_facts(&lower, source);
    }
    DT_TRY_DONE(emit_all(&lower));
    DT_TRY_DONE(join(&lower));
    DT_TRY_DONE(set_wanted(&lower, wanted, nwanted));
    *out = lower.program;
    lower.program = NULL;
done:
    dt_program_free(lower.program);
    return status;
}
