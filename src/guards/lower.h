/* Shared by the files that lower a recipe; see lower.c. */
#ifndef DT_GUARDS_LOWER_H
#define DT_GUARDS_LOWER_H

#include "guards/internal.h"

typedef struct DtLowerGroup DtLowerGroup;

/* A source that the program reads. */
typedef struct DtLowerSource {
    const DtSource *source;
    struct DtLowerSource *base, *at;
    const DtFact *facts; /* newest first */
    DtLowerGroup *group; /* of which it is a name, or NULL */
    uint32_t reg;
    uint32_t symbol; /* id + 1 of the symbol that it is, where a condition reads it; else 0 */
    bool needed;     /* its register is read on every call */
    bool read;       /* ... by others than its own facts */
    bool loaded;
} DtLowerSource;

/* A name of a group: a source, or the fact that the name is absent. */
typedef struct DtLowerName {
    DtLowerSource *source;
    const DtFact *absent;
} DtLowerName;

struct DtLowerGroup {
    DtGroupKind kind;
    DtLowerSource *base; /* NULL: of the frame */
    DT_VEC(DtLowerName) names;
    bool emitted;
};

/* An instruction while neighbours can still be joined; lower_pack.c makes it a DtGuardInstr. */
typedef struct DtLowerInstr {
    uint8_t op;
    uint32_t dst;
    uint32_t a;
    int32_t origin; /* fact index, or ~register of the source that could not be read */
    void *x;
    int64_t y;
} DtLowerInstr;

typedef struct DtInstrs {
    DtLowerInstr *items;
    uint32_t count;
    uint32_t capacity;
} DtInstrs;

typedef struct DtLower {
    DtTrace *trace;
    DtGuardProgram *program;
    DtArena *arena;                  /* of the trace: for what lives only while lowering */
    DT_VEC(DtLowerSource *) sources; /* by register; bases first */
    DtMap by_source;
    DT_VEC(DtLowerGroup *) groups;
    DtMap fact_index;   /* fact -> index + 1 */
    DtMap absent_names; /* facts that became names of a group */
    DtMap states;       /* type -> its DtTypeState */
    DT_VEC(DtTypeState *) all_states;
    bool *symbol_read;
    bool *read_again; /* lower_runs.c */
    DtInstrs pure, user, folded;
    DT_VEC(DtGroup *) made;
} DtLower;

/* Whether the fact says that nothing acts when something goes. */
static inline bool
dt_lower_is_quiet(const DtFact *fact)
{
    return fact->kind >= DT_GUARD_QUIET && fact->kind <= DT_GUARD_QUIET_GLOBAL;
}

DtLowerSource *dt_lower_find(DtLower *lower, const DtSource *source); /* or NULL */
DtStatus dt_lower_emit(DtLower *lower, DtInstrs *list, DtLowerInstr instr) DT_MUST_CHECK;
/* The name, interned and kept by the program. */
DtStatus dt_lower_intern(DtLower *lower, PyObject *name, PyObject **out) DT_MUST_CHECK;
DtStatus dt_lower_place(DtLower *lower, PyObject *name, PyTypeObject *type,
                        DtAttrPlace **out) DT_MUST_CHECK;
/* Where the value of a symbol is read: the array of a dimension, or the number itself; NULL for a
 * size that depends on data, which is in no guard. */
static inline const DtSource *
dt_lower_symbol_place(const DtSource *source)
{
    return source != NULL && source->kind == DT_SOURCE_ARRAY_DIM ? source->base : source;
}

/* lower_facts.c: own facts of a source, in the order of guards.def; `folded` selects those of its
 * group. */
DtStatus dt_lower_facts(DtLower *lower, DtLowerSource *source, bool folded) DT_MUST_CHECK;
/* Whether facts of a group's member are checked on every call. */
bool dt_lower_has_warm_facts(DtLower *lower, const DtLowerSource *source);
/* Emits every relation whose sources are loaded by now; done[i] tells of each fact. */
DtStatus dt_lower_relations(DtLower *lower, bool *done) DT_MUST_CHECK;

/* Emits the check that nothing acts when what goes goes: the last one. */
DtStatus dt_lower_quiets(DtLower *lower) DT_MUST_CHECK;

/* Whether a number's symbol is read when its group is verified, and not on every call. */
bool dt_lower_folds_symbol(const DtLowerSource *source);
/* Emits the read of a number's symbol, if a condition reads it. */
DtStatus dt_lower_number(DtLower *lower, const DtLowerSource *source, DtInstrs *list) DT_MUST_CHECK;

/* lower_runs.c: joins neighbours into one instruction, once all are there. */
DtStatus dt_lower_join_runs(DtLower *lower, DtInstrs *list) DT_MUST_CHECK;

/* lower_pack.c: the program's instructions and origins from the three lists. */
DtStatus dt_lower_pack(DtLower *lower) DT_MUST_CHECK;

/* lower_load.c: sorts sources and absent names into groups. */
DtStatus dt_lower_group(DtLower *lower) DT_MUST_CHECK;
/* Emits the load of a source (with its base and its group) and its facts, once. */
DtStatus dt_lower_source(DtLower *lower, DtLowerSource *source) DT_MUST_CHECK;
/* Emits the groups that consist of absent names only. */
DtStatus dt_lower_groups(DtLower *lower) DT_MUST_CHECK;
/* Whether the fact is checked as an absent name of a group. */
bool dt_lower_is_absent_name(DtLower *lower, const DtFact *fact);

/* The exact type that the facts of a source give it, or NULL. */
PyTypeObject *dt_lower_known_type(const DtLowerSource *source);
/* Offset of the slot `name` of instances of `type`, or 0. */
Py_ssize_t dt_lower_slot_offset(PyTypeObject *type, PyObject *name);

#endif
