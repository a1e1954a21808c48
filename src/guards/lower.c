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
 * Not in here: loads by kind of source (lower_load.c), the instructions of facts
 * (lower_facts.c), several in one (lower_runs.c), running (program.c).
 */
#include "guards/lower.h"

#include <string.h>

#include "compat/code.h"

/* ---- Collecting ------------------------------------------------------------------------------ */

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

static DtStatus
need_symbols(DtLower *lower, const DtSym *sym)
{
    if (sym == NULL) {
        return DT_OK;
    }
    if (sym->op == DT_SYM_OP_SYMBOL) {
        const DtSource *source = lower->trace->symbols.items[sym->id].source;
        DtLowerSource *place;
        DT_TRY(need(lower, dt_lower_symbol_place(source), &place));
        if (source->kind == DT_SOURCE_ARRAY_DIM) {
            place->needed = true;
        }
        else {
            place->symbol = sym->id + 1;
        }
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
        }
        if (fact->source != NULL && (fact->other != NULL || dt_lower_is_quiet(fact))) {
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

/* ---- Copies that the program keeps ----------------------------------------------------------- */

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
        const DtLowerSource *place = dt_lower_find(lower, dt_lower_symbol_place(source));
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
           || kind == DT_GUARD_CLASS_VERSION || kind == DT_GUARD_LENGTH;
}

enum { SPECS_LOOKED_AT = 32 };

/* The adapter's data for the fact that is copied to `copy`: arrays of one kind share theirs. */
static DtStatus
copy_spec(DtGuardProgram *program, const DtFact *fact, DtGuardFact *copy)
{
    for (const DtGuardFact *other = copy; other > program->facts && copy - other < SPECS_LOOKED_AT;
         other--) {
        const DtFact *made = &other[-1].fact;
        if (made->spec_size == fact->spec_size && made->adapter == fact->adapter
            && memcmp(made->spec, fact->spec, fact->spec_size) == 0) {
            copy->fact.spec = made->spec;
            return DT_OK;
        }
    }
    void *spec = dt_arena_alloc(&program->arena, fact->spec_size);
    if (spec == NULL) {
        return dt_no_memory();
    }
    memcpy(spec, fact->spec, fact->spec_size);
    copy->fact.spec = spec;
    return DT_OK;
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
        DT_TRY(copy_spec(program, fact, copy));
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
                       (void *)(uintptr_t)(i + 1))
            < 0) {
            return dt_no_memory();
        }
    }
    return DT_OK;
}

/* ---- Building blocks ------------------------------------------------------------------------- */

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

/* ---- All of it ------------------------------------------------------------------------------- */

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
    DT_TRY(dt_lower_relations(lower, done));
    for (uint32_t i = 0; i < lower->sources.count; i++) {
        DT_TRY(dt_lower_source(lower, lower->sources.items[i]));
    }
    DT_TRY(dt_lower_groups(lower));
    DT_TRY(dt_lower_relations(lower, done));
    return dt_lower_quiets(lower);
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
        memcpy(program->instrs + program->user, lower->user.items,
               sizeof(DtGuardInstr) * counts[1]);
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
    if (lower->trace->live) {
        program->free_start = program->argument_slots = lower->trace->live_places;
    }
    else if (program->free_start < 0) {
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
        source->read = source->needed;
        source->needed = source->needed || dt_lower_has_warm_facts(&lower, source)
                         || (source->symbol != 0 && !dt_lower_folds_symbol(source));
    }
    DT_TRY_DONE(emit_all(&lower));
    DT_TRY_DONE(dt_lower_join_runs(&lower, &lower.pure));
    DT_TRY_DONE(join(&lower));
    DT_TRY_DONE(set_wanted(&lower, wanted, nwanted));
    *out = lower.program;
    lower.program = NULL;
done:
    dt_program_free(lower.program);
    return status;
}
