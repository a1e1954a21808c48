/* Loads: how each kind of source is read by a guard program.
 *
 * What is read by name from a dict or a type is gathered into groups, so that a
 * warm check compares one version per container.  Everything else has an
 * instruction of its own.
 *
 * Not in here: facts (lower.c).
 */
#include "guards/lower.h"

#include "compat/object.h"
#include "compat/type.h"

/* ---- What is known of a source --------------------------------------------------------------- */

PyTypeObject *
dt_lower_known_type(const DtLowerSource *source)
{
    for (const DtFact *fact = source->facts; fact != NULL; fact = fact->previous) {
        switch (fact->kind) {
        case DT_GUARD_TYPE:
        case DT_GUARD_TYPE_VERSION:
        case DT_GUARD_LENGTH:
            return (PyTypeObject *)fact->object;
        case DT_GUARD_IDENTITY:
        case DT_GUARD_CONSTANT:
            return Py_TYPE(fact->object);
        default:
            break;
        }
    }
    return source->source->kind == DT_SOURCE_OBJECT ? Py_TYPE(source->source->key) : NULL;
}

/* The object that an identity fact gives it, or NULL. */
static PyObject *
known_object(const DtLowerSource *source)
{
    for (const DtFact *fact = source->facts; fact != NULL; fact = fact->previous) {
        if (fact->kind == DT_GUARD_IDENTITY) {
            return fact->object;
        }
    }
    return source->source->kind == DT_SOURCE_OBJECT ? source->source->key : NULL;
}

static bool
is_module(const DtLowerSource *source)
{
    PyTypeObject *type = dt_lower_known_type(source);
    return type != NULL && PyType_IsSubtype(type, &PyModule_Type);
}

static bool
is_class(const DtLowerSource *source)
{
    PyTypeObject *type = dt_lower_known_type(source);
    return source->source->kind == DT_SOURCE_TYPE
           || (type != NULL && PyType_IsSubtype(type, &PyType_Type));
}

static DtGroupKind
group_kind(const DtLowerSource *source)
{
    switch (source->source->kind) {
    case DT_SOURCE_GLOBAL:
        return DT_GROUP_GLOBALS;
    case DT_SOURCE_BUILTIN:
        return DT_GROUP_BUILTINS;
    case DT_SOURCE_FUNC_GLOBAL:
        return DT_GROUP_FUNC_GLOBALS;
    case DT_SOURCE_ITEM:
    case DT_SOURCE_BASE_ITEM:
        return DT_GROUP_DICT;
    case DT_SOURCE_TYPE_ATTR:
        return DT_GROUP_TYPE;
    case DT_SOURCE_ATTR:
        return is_module(source->base)  ? DT_GROUP_MODULE
               : is_class(source->base) ? DT_GROUP_CLASS
                                        : DT_GROUP_NONE;
    default:
        return DT_GROUP_NONE;
    }
}

/* ---- Groups ---------------------------------------------------------------------------------- */

static DtStatus
find_group(DtLower *lower, DtGroupKind kind, DtLowerSource *base, DtLowerGroup **out)
{
    for (uint32_t i = 0; i < lower->groups.count; i++) {
        DtLowerGroup *group = lower->groups.items[i];
        if (group->kind == kind && group->base == base) {
            *out = group;
            return DT_OK;
        }
    }
    DtLowerGroup *group = DT_ARENA_NEW(lower->arena, DtLowerGroup);
    if (group == NULL || dt_vec_push(lower->arena, &lower->groups, group) < 0) {
        return dt_no_memory();
    }
    group->kind = kind;
    group->base = base;
    if (base != NULL) {
        base->needed = true;
    }
    *out = group;
    return DT_OK;
}

static DtStatus
group_absent(DtLower *lower, const DtFact *fact)
{
    DtLowerSource *source = dt_lower_find(lower, fact->source);
    DtGroupKind kind = DT_GROUP_NONE;
    if (fact->kind == DT_GUARD_GLOBAL_ABSENT) {
        kind = source == NULL ? DT_GROUP_GLOBALS : DT_GROUP_FUNC_GLOBALS;
    }
    else if (fact->kind == DT_GUARD_ATTR_ABSENT) {
        kind = is_module(source)  ? DT_GROUP_MODULE
               : is_class(source) ? DT_GROUP_TYPE_OWN
                                  : DT_GROUP_NONE;
    }
    if (kind == DT_GROUP_NONE) {
        return DT_OK;
    }
    DtLowerGroup *group;
    DtLowerName name = {NULL, fact};
    DT_TRY(find_group(lower, kind, source, &group));
    if (dt_vec_push(lower->arena, &group->names, name) < 0
        || dt_map_set(lower->arena, &lower->absent_names, fact, group) < 0) {
        return dt_no_memory();
    }
    return DT_OK;
}

bool
dt_lower_is_absent_name(DtLower *lower, const DtFact *fact)
{
    return dt_map_get(&lower->absent_names, fact) != NULL;
}

DtStatus
dt_lower_group(DtLower *lower)
{
    for (uint32_t i = 0; i < lower->sources.count; i++) {
        DtLowerSource *source = lower->sources.items[i];
        DtGroupKind kind = group_kind(source);
        if (kind == DT_GROUP_NONE) {
            continue;
        }
        DtLowerName name = {source, NULL};
        DT_TRY(find_group(lower, kind, source->base, &source->group));
        if (dt_vec_push(lower->arena, &source->group->names, name) < 0) {
            return dt_no_memory();
        }
    }
    const DtGuardRecipe *recipe = lower->trace->guards;
    for (uint32_t i = 0; i < recipe->facts.count; i++) {
        DT_TRY(group_absent(lower, recipe->facts.items[i]));
    }
    return DT_OK;
}

/* One name into its place; the needed ones come first. */
static DtStatus
place_name(DtLower *lower, DtGroup *group, const DtLowerName *name, uint32_t index)
{
    DtGroupName *out = &group->names[index];
    out->hint = -1;
    if (name->absent != NULL) {
        out->reg = DT_GROUP_ABSENT;
        out->origin = (int32_t)((uintptr_t)dt_map_get(&lower->fact_index, name->absent) - 1);
        return dt_lower_intern(lower, name->absent->object, &out->name);
    }
    out->reg = name->source->reg;
    out->origin = ~(int32_t)out->reg;
    DT_TRY(dt_lower_facts(lower, name->source, true));
    if (dt_lower_folds_symbol(name->source)) {
        DT_TRY(dt_lower_number(lower, name->source, &lower->folded));
    }
    if (name->source->needed) {
        group->regs[index] = out->reg;
    }
    return dt_lower_intern(lower, name->source->source->key, &out->name);
}

static bool
is_needed(const DtLowerName *name)
{
    return name->source != NULL && name->source->needed;
}

static DtStatus
emit_group(DtLower *lower, DtLowerGroup *from)
{
    if (from->emitted) {
        return DT_OK;
    }
    from->emitted = true;
    if (from->base != NULL) {
        DT_TRY(dt_lower_source(lower, from->base));
    }
    DtArena *arena = &lower->program->arena;
    DtGroup *group = DT_ARENA_NEW(arena, DtGroup);
    uint32_t count = from->names.count;
    if (group == NULL) {
        return dt_no_memory();
    }
    group->kind = (uint8_t)from->kind;
    group->count = count;
    uint32_t nneeded = 0;
    for (uint32_t i = 0; i < count; i++) {
        nneeded += is_needed(&from->names.items[i]);
    }
    group->names = DT_ARENA_ARRAY(arena, DtGroupName, count);
    group->cached = DT_ARENA_ARRAY(arena, PyObject *, nneeded);
    group->regs = DT_ARENA_ARRAY(arena, uint32_t, nneeded);
    if (group->names == NULL || group->cached == NULL || group->regs == NULL) {
        return dt_no_memory();
    }
    group->nneeded = nneeded;
    group->checks = lower->folded.count;
    uint32_t next = 0;
    for (int needed = 1; needed >= 0; needed--) {
        for (uint32_t i = 0; i < count; i++) {
            const DtLowerName *name = &from->names.items[i];
            if (is_needed(name) == (needed == 1)) {
                DT_TRY(place_name(lower, group, name, next));
                next++;
            }
        }
    }
    DtLowerInstr end = {.op = DT_GOP_END};
    DT_TRY(dt_lower_emit(lower, &lower->folded, end));
    DtLowerInstr instr = {.op = DT_GOP_GROUP, .x = group};
    PyObject *module = from->kind == DT_GROUP_MODULE ? known_object(from->base) : NULL;
    if (from->kind == DT_GROUP_GLOBALS) {
        instr.op = DT_GOP_GROUP_GLOBALS;
    }
    else if (module != NULL && PyModule_Check(module)) {
        instr.op = DT_GOP_GROUP_KNOWN;
        group->kind = DT_GROUP_KNOWN_DICT;
        group->dict = PyModule_GetDict(module); /* a module keeps its dict for life */
    }
    if (dt_vec_push(lower->arena, &lower->made, group) < 0) {
        return dt_no_memory();
    }
    if (from->base != NULL) {
        instr.a = from->base->reg;
        instr.origin = ~(int32_t)from->base->reg;
    }
    else {
        instr.origin = group->names[0].origin;
    }
    DT_TRY(dt_lower_emit(lower, &lower->pure, instr));
    for (uint32_t i = 0; i < count; i++) {
        if (from->names.items[i].source != NULL) {
            from->names.items[i].source->loaded = true;
        }
    }
    for (uint32_t i = 0; i < count; i++) {
        if (from->names.items[i].source != NULL) {
            DT_TRY(dt_lower_facts(lower, from->names.items[i].source, false));
            DT_TRY(dt_lower_number(lower, from->names.items[i].source, &lower->pure));
        }
    }
    return DT_OK;
}

DtStatus
dt_lower_groups(DtLower *lower)
{
    for (uint32_t i = 0; i < lower->groups.count; i++) {
        DT_TRY(emit_group(lower, lower->groups.items[i]));
    }
    return DT_OK;
}

/* ---- Single loads ---------------------------------------------------------------------------- */

/* A source that a frame at its entry can't have. */
static DtStatus
unreadable(DtLower *lower, const DtLowerSource *source)
{
    DtStrbuf text = {0};
    dt_source_print(source->source, &text);
    DtStatus status =
        dt_break(lower->trace, DT_BREAK_ATTRIBUTE, "%s can't be read when the function is entered",
                 dt_strbuf_text(&text));
    dt_strbuf_release(&text);
    return status;
}

static DtStatus
load_local(DtLower *lower, const DtLowerSource *source, DtLowerInstr *instr)
{
    int64_t slot = source->source->index;
    bool is_cell = source->source->kind == DT_SOURCE_LOCAL_CELL;
    if (lower->trace->live) {
        /* Every place of a running frame is there to be read, cells as cells. */
        bool contents = source->source->kind == DT_SOURCE_LOCAL_DEREF;
        instr->op = is_cell ? DT_GOP_LOCAL_TYPE : contents ? DT_GOP_LOCAL_CONTENTS : DT_GOP_LOCAL;
        instr->x = is_cell ? &PyCell_Type : NULL;
        instr->a = (uint32_t)lower->trace->frame_index[slot];
        return DT_OK;
    }
    if (slot >= 0 && slot < lower->program->argument_slots && !is_cell) {
        instr->op = DT_GOP_LOCAL; /* a captured argument is no cell yet */
        instr->a = (uint32_t)slot;
        return DT_OK;
    }
    if (slot >= lower->program->free_start && source->source->kind != DT_SOURCE_LOCAL) {
        instr->op = is_cell ? DT_GOP_CLOSURE_CELL : DT_GOP_CLOSURE;
        instr->y = slot - lower->program->free_start;
        return DT_OK;
    }
    return unreadable(lower, source);
}

Py_ssize_t
dt_lower_slot_offset(PyTypeObject *type, PyObject *name)
{
    PyObject *descriptor = PyUnicode_Check(name) ? dt_type_lookup(type, name) : NULL;
    if (descriptor == NULL || Py_TYPE(descriptor) != &PyMemberDescr_Type) {
        return 0;
    }
    PyMemberDef *member = ((PyMemberDescrObject *)descriptor)->d_member;
    bool is_object = member->type == T_OBJECT || member->type == T_OBJECT_EX;
    return is_object && PyType_IsSubtype(type, ((PyDescrObject *)descriptor)->d_type)
               ? member->offset
               : 0;
}

/* Whether such an attribute of an object of that type is its own, in its dict: one of the class
 * that it hides must not stand in for it when it is gone. */
static bool
reads_own_dict(PyTypeObject *type, PyObject *name)
{
    if (!dt_object_type_has_dict(type) || PyType_IsSubtype(type, &PyType_Type)) {
        return false;
    }
    PyObject *hidden = dt_type_lookup(type, name);
    return hidden == NULL || Py_TYPE(hidden)->tp_descr_set == NULL;
}

static DtStatus
load_attr(DtLower *lower, const DtLowerSource *source, DtLowerInstr *instr)
{
    PyTypeObject *type = dt_lower_known_type(source->base);
    DtAttrPlace *place;
    if (type != NULL) {
        Py_ssize_t offset = dt_lower_slot_offset(type, source->source->key);
        if (offset > 0) {
            instr->op = DT_GOP_SLOT;
            instr->x = type;
            instr->y = offset;
            return dt_program_watch(lower->program, (PyObject *)type);
        }
    }
    DT_TRY(dt_lower_place(lower, source->source->key, type, &place));
    instr->x = place;
    instr->op = DT_GOP_ATTR_ANY;
    if (type != NULL && reads_own_dict(type, place->name)) {
        instr->op = DT_GOP_ATTR;
        return dt_program_watch(lower->program, (PyObject *)type);
    }
    return DT_OK;
}

static DtStatus
load_dim(DtLower *lower, const DtLowerSource *source, DtLowerInstr *instr, bool *user)
{
    DtDimObject *dim = DT_ARENA_NEW(&lower->program->arena, DtDimObject);
    if (dim == NULL || dt_vec_push(&lower->program->arena, &lower->program->dims, dim) < 0) {
        return dt_no_memory();
    }
    for (const DtFact *fact = source->base->facts; fact != NULL; fact = fact->previous) {
        if (fact->kind == DT_GUARD_ADAPTER) {
            dim->adapter = fact->adapter;
        }
    }
    if (dim->adapter == NULL) {
        return unreadable(lower, source);
    }
    dim->dim = (int)source->source->index;
    *user = dim->adapter->state != NULL;
    instr->op = DT_GOP_DIM_OBJECT;
    instr->x = dim;
    return DT_OK;
}

/* An object that the program keeps: an int, or an array. */
static DtStatus
load_number(DtLower *lower, DtGuardOp op, DtLowerInstr *instr)
{
    DtDimObject *number = DT_ARENA_NEW(&lower->program->arena, DtDimObject);
    if (number == NULL || dt_vec_push(&lower->program->arena, &lower->program->dims, number) < 0) {
        return dt_no_memory();
    }
    instr->op = (uint8_t)op;
    instr->x = number;
    return DT_OK;
}

static DtStatus
load_list_array(DtLower *lower, const DtLowerSource *source, DtLowerInstr *instr)
{
    const char *name = PyUnicode_AsUTF8(source->source->key);
    const DtAdapter *adapter = name != NULL ? dt_adapter_by_name(name) : NULL;
    if (adapter == NULL || adapter->of_items == NULL) {
        return name != NULL ? unreadable(lower, source) : DT_ERROR;
    }
    DT_TRY(load_number(lower, DT_GOP_LIST_ARRAY, instr));
    DtDimObject *kept = instr->x;
    kept->adapter = adapter;
    kept->value = source->source->index;
    return DT_OK;
}

static DtStatus
load_computed(DtLower *lower, const DtLowerSource *source, DtLowerInstr *instr)
{
    DtArena *arena = &lower->program->arena;
    DtComputed *computed = DT_ARENA_NEW(arena, DtComputed);
    bool pair = source->source->kind == DT_SOURCE_PAIR;
    if (!pair && !dt_source_computes(source->source->index)) {
        return unreadable(lower, source);
    }
    if (computed == NULL || dt_vec_push(arena, &lower->program->dims, &computed->number) < 0) {
        return dt_no_memory();
    }
    computed->op = (uint32_t)source->source->index;
    computed->at = source->at->reg;
    instr->op = pair ? DT_GOP_PAIR : DT_GOP_COMPUTED;
    instr->x = computed;
    return DT_OK;
}

static DtStatus
load_member(DtLower *lower, const char *name, DtLowerInstr *instr)
{
    PyObject *text = PyUnicode_InternFromString(name);
    if (text == NULL) {
        return DT_ERROR;
    }
    instr->op = DT_GOP_MEMBER;
    DtStatus status = dt_lower_intern(lower, text, (PyObject **)&instr->x);
    Py_DECREF(text);
    return status;
}

static DtStatus
load_single(DtLower *lower, DtLowerSource *source)
{
    static const uint8_t plain[DT_SOURCE_COUNT] = {
        [DT_SOURCE_FUNCTION] = DT_GOP_FUNCTION,
        [DT_SOURCE_TYPE] = DT_GOP_TYPE_OF,
        [DT_SOURCE_INDEX] = DT_GOP_INDEX,
        [DT_SOURCE_BASE_INDEX] = DT_GOP_INDEX,
        [DT_SOURCE_DICT_KEY] = DT_GOP_DICT_KEY,
        [DT_SOURCE_FUNC_CODE] = DT_GOP_FUNC_CODE,
        [DT_SOURCE_FUNC_PART] = DT_GOP_FUNC_PART,
        [DT_SOURCE_FUNC_DEFAULT] = DT_GOP_FUNC_DEFAULT,
        [DT_SOURCE_FUNC_CLOSURE] = DT_GOP_FUNC_CLOSURE,
        [DT_SOURCE_CELL_CONTENTS] = DT_GOP_CELL_CONTENTS,
        [DT_SOURCE_METHOD_FUNC] = DT_GOP_METHOD_FUNC,
        [DT_SOURCE_METHOD_SELF] = DT_GOP_METHOD_SELF,
        [DT_SOURCE_OBJECT] = DT_GOP_OBJECT,
        [DT_SOURCE_ATTR_DICT] = DT_GOP_ATTR_DICT,
        [DT_SOURCE_HANDLED] = DT_GOP_HANDLED,
        [DT_SOURCE_ITERATED] = DT_GOP_ITERATED,
        [DT_SOURCE_REFERENT] = DT_GOP_REFERENT,
    };
    const DtSource *from = source->source;
    bool user = false;
    DtLowerInstr instr = {.dst = source->reg,
                          .origin = ~(int32_t)source->reg,
                          .a = source->base == NULL ? 0 : source->base->reg};
    switch (from->kind) {
    case DT_SOURCE_LOCAL:
    case DT_SOURCE_LOCAL_DEREF:
    case DT_SOURCE_LOCAL_CELL:
        DT_TRY(load_local(lower, source, &instr));
        break;
    case DT_SOURCE_ATTR:
    case DT_SOURCE_OWN_ATTR:
        DT_TRY(load_attr(lower, source, &instr));
        break;
    case DT_SOURCE_PARTIAL_FUNC:
        DT_TRY(load_member(lower, "func", &instr));
        break;
    case DT_SOURCE_COUNTED:
        DT_TRY(load_number(lower, DT_GOP_COUNTED, &instr));
        break;
    case DT_SOURCE_LIST_SIZE:
        DT_TRY(load_number(lower, DT_GOP_LIST_SIZE, &instr));
        break;
    case DT_SOURCE_LIST_ARRAY:
        DT_TRY(load_list_array(lower, source, &instr));
        break;
    case DT_SOURCE_DEQUE_SIZE:
        DT_TRY(load_number(lower, DT_GOP_DEQUE_SIZE, &instr));
        break;
    case DT_SOURCE_LIST_ITEM:
    case DT_SOURCE_DEQUE_ITEM:
        instr.op = from->kind == DT_SOURCE_LIST_ITEM ? DT_GOP_LIST_ITEM : DT_GOP_DEQUE_ITEM;
        instr.y = from->index;
        break;
    case DT_SOURCE_COMPUTED:
    case DT_SOURCE_PAIR:
        DT_TRY(load_computed(lower, source, &instr));
        break;
    case DT_SOURCE_PICKED:
        instr.op = DT_GOP_PICKED;
        instr.x = (void *)(uintptr_t)source->at->reg;
        instr.y = from->index;
        break;
    case DT_SOURCE_CACHED:
        instr.op = DT_GOP_CACHED;
        DT_TRY(dt_lower_intern(lower, from->key, (PyObject **)&instr.x));
        break;
    case DT_SOURCE_MEMBER:
        DT_TRY(load_member(lower, PyUnicode_AsUTF8(from->key), &instr));
        break;
    case DT_SOURCE_ARRAY_DIM:
        DT_TRY(load_dim(lower, source, &instr, &user));
        break;
    default:
        instr.op = plain[from->kind];
        if (instr.op == 0 || from->index < 0) {
            return unreadable(lower, source);
        }
        instr.x = from->kind == DT_SOURCE_OBJECT ? from->key : NULL;
        instr.y = from->index;
    }
    return dt_lower_emit(lower, user ? &lower->user : &lower->pure, instr);
}

DtStatus
dt_lower_source(DtLower *lower, DtLowerSource *source)
{
    if (source->loaded) {
        return DT_OK;
    }
    if (source->base != NULL) {
        DT_TRY(dt_lower_source(lower, source->base));
    }
    if (source->at != NULL) {
        DT_TRY(dt_lower_source(lower, source->at));
    }
    if (source->group != NULL) {
        return emit_group(lower, source->group);
    }
    DT_TRY(load_single(lower, source));
    source->loaded = true;
    DT_TRY(dt_lower_facts(lower, source, false));
    return dt_lower_number(lower, source, &lower->pure);
}
