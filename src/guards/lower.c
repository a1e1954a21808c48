/* From a recipe to a guard program.
 *
 *   facts, wanted sources, symbols
 *        │ collect: every source that is needed, bases first, a register each
 *        │ group:   sources read by name from one dict or type
 *        ▼
 *   emit: arguments and their types, array metadata and conditions on sizes,
 *         then globals, attributes and the rest; Python adapters last
 *
 * Invariant: a source's load stands behind its base's and that of its number, its facts directly
 * behind the load, in the order of guards.def.
 *
 * Not in here: loads by kind of source (lower_load.c), the instructions of facts
 * (lower_facts.c), several in one (lower_runs.c), their final form (lower_pack.c), running
 * (program.c).
 */
#include "guards/names.h"

#include <string.h>

#include "compat/code.h"
#include "compat/dict.h"

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
        DtLowerSource *base = NULL, *at = NULL;
        if (source->base != NULL) {
            DT_TRY(need(lower, source->base, &base));
            base->needed = true;
        }
        if (source->at != NULL) {
            DT_TRY(need(lower, source->at, &at));
            at->needed = true;
        }
        found = DT_ARENA_NEW(lower->arena, DtLowerSource);
        if (found == NULL) {
            return dt_no_memory();
        }
        found->source = source;
        found->base = base;
        found->at = at;
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
    program->sources = DT_ARENA_ARRAY(&program->arena, DtSource, program->nregs);
    if (program->sources == NULL) {
        return dt_no_memory();
    }
    for (uint32_t i = 0; i < program->nregs; i++) {
        DtLowerSource *source = lower->sources.items[i];
        DtSource *copy = &program->sources[i];
        *copy = *source->source;
        copy->id = i;
        copy->base = source->base == NULL ? NULL : &program->sources[source->base->reg];
        copy->at = source->at == NULL ? NULL : &program->sources[source->at->reg];
        if (copy->key == NULL) {
            continue;
        }
        copy->watched = copy->kind == DT_SOURCE_OBJECT || !dt_dict_is_plain_key(copy->key);
        if (copy->watched) {
            DT_TRY(dt_program_watch(program, copy->key));
        }
        else {
            DT_TRY(dt_program_keep(program, copy->key));
        }
    }
    return DT_OK;
}

/* Symbols keep their numbers; those that no guard reads have no place. */
static DtStatus
copy_symbols(DtLower *lower)
{
    DtGuardProgram *program = lower->program;
    uint32_t count = lower->trace->symbols.count;
    program->nsymbols = count;
    program->symbols = DT_ARENA_ARRAY(&program->arena, DtGuardSymbol, count);
    program->numbers = DT_ARENA_ARRAY(&program->arena, DtNumber, count);
    lower->symbol_read = DT_ARENA_ARRAY(lower->arena, bool, count + 1);
    if (program->symbols == NULL || program->numbers == NULL || lower->symbol_read == NULL) {
        return dt_no_memory();
    }
    for (uint32_t i = 0; i < count; i++) {
        const DtSymbol *symbol = &lower->trace->symbols.items[i];
        const DtLowerSource *place = dt_lower_find(lower, dt_lower_symbol_place(symbol->source));
        bool dim = place != NULL && symbol->source->kind == DT_SOURCE_ARRAY_DIM;
        if (dim && symbol->source->index > INT16_MAX) {
            PyErr_SetString(PyExc_SystemError, "an array of more than 32767 dimensions");
            return DT_ERROR;
        }
        program->symbols[i] = (DtGuardSymbol){
            .hint = symbol->hint,
            .place = place == NULL ? 0 : place->reg + 1,
            .dim = dim ? (int16_t)symbol->source->index : -1,
            .type = (uint8_t)symbol->type,
        };
    }
    return DT_OK;
}

DtSource
dt_program_symbol_source(const DtGuardProgram *program, uint32_t id)
{
    const DtGuardSymbol *symbol = &program->symbols[id];
    DtSource *place = &program->sources[symbol->place - 1];
    if (symbol->dim < 0) {
        return *place;
    }
    return (DtSource){.kind = DT_SOURCE_ARRAY_DIM, .index = symbol->dim, .base = place};
}

/* Objects of these facts are known by identity: held weakly, described now. */
static bool
is_identity_fact(uint8_t kind)
{
    return kind == DT_GUARD_TYPE || kind == DT_GUARD_TYPE_VERSION || kind == DT_GUARD_IDENTITY
           || kind == DT_GUARD_CLASS_VERSION || kind == DT_GUARD_LENGTH;
}

static bool
is_keys_fact(uint8_t kind)
{
    return kind == DT_GUARD_DICT_KEYS || kind == DT_GUARD_SET_ITEMS || kind == DT_GUARD_SET_LAYOUT;
}

static bool
is_adapter_fact(uint8_t kind)
{
    return kind == DT_GUARD_ADAPTER || kind == DT_GUARD_ADAPTER_STATE || kind == DT_GUARD_APART;
}

enum { SPECS_LOOKED_AT = 32 };

/* The adapter's data for the fact that is copied to `copy`: arrays of one kind share theirs. */
static DtStatus
copy_spec(DtGuardProgram *program, const DtFact *fact, DtGuardFact *copy)
{
    for (const DtGuardFact *other = copy; other > program->facts && copy - other < SPECS_LOOKED_AT;
         other--) {
        bool has_one = is_adapter_fact(other[-1].kind);
        const DtSpecHead *made = has_one ? (const DtSpecHead *)other[-1].spec - 1 : NULL;
        if (made != NULL && made->size == fact->spec_size && made->adapter == fact->adapter
            && (made->size == 0 || memcmp(made + 1, fact->spec, made->size) == 0)) {
            copy->spec = made + 1;
            return DT_OK;
        }
    }
    DtSpecHead *head = dt_arena_alloc(&program->arena, sizeof(*head) + fact->spec_size);
    if (head == NULL) {
        return dt_no_memory();
    }
    *head = (DtSpecHead){fact->adapter, fact->spec_size};
    if (fact->spec_size != 0) {
        memcpy(head + 1, fact->spec, fact->spec_size);
    }
    copy->spec = head + 1;
    return DT_OK;
}

/* The object in words; objects that many facts are about have one text. */
static DtStatus
copy_text(DtGuardProgram *program, PyObject *object, const char **out)
{
    *out = dt_map_get(&program->texts, object);
    if (*out == NULL) {
        DtStrbuf text = {0};
        dt_program_describe(object, &text);
        char *copy = dt_arena_strdup(&program->arena, dt_strbuf_text(&text));
        dt_strbuf_release(&text);
        if (copy == NULL || dt_map_set(program->scratch, &program->texts, object, copy) < 0) {
            return dt_no_memory();
        }
        *out = copy;
    }
    return DT_OK;
}

/* Number of the file in `filenames`, from 1; 0 where there is none, or too many. */
static DtStatus
copy_filename(DtGuardProgram *program, PyObject *filename, uint16_t *out)
{
    *out = 0;
    if (filename == NULL) {
        return DT_OK;
    }
    uint32_t at = program->filenames.count;
    while (at > 0 && program->filenames.items[at - 1] != filename) {
        at--;
    }
    if (at == 0 && program->filenames.count < UINT16_MAX) {
        DT_TRY(dt_program_keep(program, filename));
        if (dt_vec_push(program->scratch, &program->filenames, filename) < 0) {
            return dt_no_memory();
        }
        at = program->filenames.count;
    }
    *out = (uint16_t)at;
    return DT_OK;
}

static uint32_t
register_after(const DtLower *lower, const DtSource *source)
{
    return source == NULL ? 0 : dt_lower_find((DtLower *)lower, source)->reg + 1;
}

static DtStatus
copy_fact(DtLower *lower, const DtFact *fact, DtGuardFact *copy)
{
    DtGuardProgram *program = lower->program;
    copy->kind = fact->kind;
    copy->line = fact->line;
    copy->source = register_after(lower, fact->source);
    copy->other = register_after(lower, fact->other);
    copy->object = fact->object;
    copy->number = fact->number;
    DT_TRY(copy_filename(program, fact->filename, &copy->file));
    if (fact->object != NULL && is_identity_fact(fact->kind)) {
        DT_TRY(dt_program_watch(program, fact->object));
        DT_TRY(copy_text(program, fact->object, &copy->text));
    }
    else if (is_keys_fact(fact->kind)) {
        DT_TRY(dt_program_hold_keys(program, fact->object, &copy->object));
        if (copy->object != fact->object) {
            DT_TRY(copy_text(program, fact->object, &copy->text)); /* for when they are gone */
        }
    }
    else if (fact->object != NULL) {
        DT_TRY(dt_program_keep(program, fact->object));
    }
    if (fact->sym != NULL) {
        copy->sym = dt_sym_copy(&program->arena, fact->sym);
        if (copy->sym == NULL) {
            return dt_no_memory();
        }
    }
    if (is_adapter_fact(fact->kind)) {
        DT_TRY(copy_spec(program, fact, copy));
    }
    for (uint32_t i = 0; i < fact->nrefs; i++) {
        DT_TRY(dt_program_keep(program, fact->refs[i]));
    }
    return DT_OK;
}

void
dt_program_fact(const DtGuardProgram *program, uint32_t i, DtToldFact *out)
{
    const DtGuardFact *fact = &program->facts[i];
    *out = (DtToldFact){.text = fact->text};
    DtFact *told = &out->fact;
    told->kind = fact->kind;
    told->line = fact->line;
    told->source = fact->source == 0 ? NULL : &program->sources[fact->source - 1];
    told->other = fact->other == 0 ? NULL : &program->sources[fact->other - 1];
    told->object = fact->object;
    told->filename = fact->file == 0 ? NULL : program->filenames.items[fact->file - 1];
    switch ((DtGuardKind)fact->kind) {
    case DT_GUARD_SYM:
        told->sym = fact->sym;
        break;
    case DT_GUARD_ADAPTER:
    case DT_GUARD_ADAPTER_STATE:
    case DT_GUARD_APART: {
        const DtSpecHead *head = (const DtSpecHead *)fact->spec - 1;
        told->adapter = head->adapter;
        told->spec = fact->spec;
        told->spec_size = head->size;
        break;
    }
    default:
        told->number = fact->number;
    }
}

static DtStatus
copy_facts(DtLower *lower)
{
    DtGuardProgram *program = lower->program;
    DtGuardRecipe *recipe = lower->trace->guards;
    program->nfacts = recipe->facts.count;
    program->facts = DT_ARENA_ARRAY(&program->arena, DtGuardFact, program->nfacts);
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
dt_lower_emit(DtLower *lower, DtInstrs *list, DtLowerInstr instr)
{
    return dt_vec_push(lower->arena, list, instr) < 0 ? dt_no_memory() : DT_OK;
}

DtStatus
dt_lower_place(DtLower *lower, PyObject *name, PyTypeObject *type, DtAttrPlace **out)
{
    DtAttrPlace *place = DT_ARENA_NEW(&lower->program->arena, DtAttrPlace);
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
    DtStatus status = dt_program_hold_key(lower->program, name);
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
    lower.program = dt_program_new(lower.arena);
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
    DT_TRY_DONE(dt_lower_pack(&lower));
    DT_TRY_DONE(dt_names_remember(&lower));
    DT_TRY_DONE(set_wanted(&lower, wanted, nwanted));
    DT_TRY_DONE(dt_program_settle(lower.program));
    *out = lower.program;
    lower.program = NULL;
done:
    dt_program_free(lower.program);
    return status;
}
