/* The recipe: what a trace relied on, as (source, fact) pairs in its arena.
 *
 * Facts are recorded in the order in which the trace met them, each once, with
 * the user's position.  Facts about synthetic sources are dropped.
 *
 * Not in here: reading sources and checking (lower.c, program.c).
 */
#ifndef DT_GUARDS_RECIPE_H
#define DT_GUARDS_RECIPE_H

#include "core/vec.h"
#include "variables/adapter.h"
#include "variables/trace.h"

typedef enum DtGuardKind {
#define GUARD(NAME, TEXT) DT_GUARD_##NAME,
#include "guards/guards.def"
#undef GUARD
    DT_GUARD_COUNT
} DtGuardKind;

typedef struct DtGuardRow {
    const char *name;
    const char *text;
} DtGuardRow;
extern const DtGuardRow dt_guard_rows[DT_GUARD_COUNT];

typedef struct DtFact {
    uint8_t kind;           /* DtGuardKind */
    const DtSource *source; /* NULL: SYM, ADAPTER_STATE, ABC_TOKEN, GLOBAL_ABSENT of the globals */
    const DtSource *other;  /* of those of guards.def that have a %o */
    PyObject *object;       /* expected object, type or name; a tuple of keys for DICT_KEYS */
    int64_t number;         /* LENGTH, ABC_TOKEN */
    const DtSym *sym;       /* SYM */
    const DtAdapter *adapter;
    const void *spec;
    size_t spec_size;
    PyObject *const *refs; /* objects that the spec's bytes refer to */
    uint32_t nrefs;
    PyObject *filename;      /* str or NULL */
    int line;                /* 0: unknown */
    struct DtFact *previous; /* of the same source */
} DtFact;

typedef struct DtLookedUp DtLookedUp; /* names.c */

struct DtGuardRecipe {
    DT_VEC(DtFact *) facts;
    DtMap by_source;    /* source -> its newest fact */
    DtFact *sourceless; /* newest fact without a source, comparisons of symbols apart ... */
    DtMap by_hash;      /* ... which are many: the hash of one -> the newest fact that has it */
    DtMap looked_up;    /* name -> classes on which the trace relied on it (names.h) */
    bool classes_vary;  /* one that an earlier entry relied on has changed */
    bool names_noted;   /* `looked_up` has all of them ... */
    bool names_lost;    /* ... but for some, without memory */
    int free_start;     /* first free-variable slot of the root; -1: ask the root's code */
    int argument_slots; /* slots that a guard frame has; -1: ask the root's code */
};

/* Gives the trace an empty recipe; also declared in variables/services.h. */
DtStatus dt_recipe_init(DtTrace *trace) DT_MUST_CHECK;

/* Adds a copy of the fact (its position included) unless an equal one is there; the trace keeps its
 * objects. */
DtStatus dt_recipe_add(DtTrace *trace, const DtFact *fact) DT_MUST_CHECK;

/* Forgets the facts behind the first `count` that say where something was loaded from and no more:
 * what was loaded is not used. */
DtStatus dt_recipe_forget_loads(DtTrace *trace, uint32_t count) DT_MUST_CHECK;

/* Notes that the trace relied on what the name is in the MRO of the type (names.h).  For
 * dt_type_listen(): nothing fails, but without memory no name is free. */
void dt_names_note(DtTrace *trace, PyTypeObject *type, PyObject *name);

/* Equality of exact type and value for the constants that dt_guard_constant() takes: floats by
 * their bits, tuples item by item.  No user code. */
bool dt_recipe_same_constant(PyObject *a, PyObject *b);
/* Whether dt_guard_constant() takes it. */
bool dt_recipe_is_constant(PyObject *value);

#endif
