/* The inside of a guard program; for the files of guards/ only.
 *
 *   instrs:  [ pure ........ END ][ user .... END ][ folded ... END ... ]
 *              loads and checks     Python adapters  a list of checks per name
 *              in C                 and what hangs   in a group, run only when
 *                                   on them          its dict or type has changed
 *
 * A group is everything that is read by name from one dict or type.  Its values
 * are remembered together with the version of the dict or type, so that a
 * warm check is one compare, and the remembered values are known to be alive
 * because the container with that version still holds them.
 *
 * The program owns its arena; objects are owned through `kept` (strong
 * references and weak reference objects).  Objects held weakly may only be
 * compared by address, and only while `life` is not dead.
 */
#ifndef DT_GUARDS_INTERNAL_H
#define DT_GUARDS_INTERNAL_H

#include "guards/program.h"
#include "guards/recipe.h"

typedef enum DtGuardOp {
#define GUARD_OP(NAME, FORM, USES, GIVES) DT_GOP_##NAME,
#include "guards/ops.def"
#undef GUARD_OP
    DT_GOP_COUNT
} DtGuardOp;

/* An instruction: 16 bytes, since a check reads every one.  Whom to blame when it does not hold
 * stands in the program's `origins`, at the same index.  Operands by operation: ops.def. */
typedef struct DtGuardInstr {
    uint32_t op : 8;
    uint32_t a : 24;
    union {
        struct {
            uint32_t aux : 8;
            uint32_t dst : 24;
        };
        uint32_t wide;
    };
    union {
        void *x;
        int64_t i;
        struct {
            uint32_t index, number;
        } pair;
    };
} DtGuardInstr;
/* Operands of the rare instruction whose number does not fit. */
typedef struct DtFar {
    void *x;
    int64_t i;
} DtFar;
#define DT_GUARD_MOST_REGISTERS (UINT32_C(1) << 24)

/* In front of an adapter's own bytes, which programs point at. */
typedef struct DtSpecHead {
    const DtAdapter *adapter;
    size_t size; /* of the adapter's bytes */
} DtSpecHead;
#define DT_SPEC_ADAPTER(spec) (((const DtSpecHead *)(spec))[-1].adapter)

typedef enum DtGroupKind {
    DT_GROUP_NONE,
    DT_GROUP_GLOBALS,
    DT_GROUP_BUILTINS,
    DT_GROUP_KNOWN_DICT, /* of a module known by identity */
    DT_GROUP_FUNC_GLOBALS,
    DT_GROUP_MODULE,
    DT_GROUP_DICT,
    DT_GROUP_TYPE_OWN, /* the own dict of a type */
    DT_GROUP_TYPE,     /* through the MRO of the value's type */
    DT_GROUP_CLASS     /* through the MRO of the value, a type */
} DtGroupKind;

typedef struct DtGroupName {
    PyObject *name;
    int32_t hint;
    uint32_t reg; /* DT_GROUP_ABSENT: must not be there */
    int32_t origin;
} DtGroupName;
#define DT_GROUP_ABSENT UINT32_MAX

typedef struct DtGroup {
    uint8_t kind;      /* DtGroupKind */
    uint32_t nneeded;  /* names whose register the warm path fills: the first ones */
    uint64_t version;  /* 0: never verified */
    PyObject *dict;    /* KNOWN_DICT: the dict, alive as long as `life` */
    PyObject **cached; /* of the needed ones; borrowed from the container */
    uint32_t *regs;    /* of the needed ones */
    /* Only when it has changed: */
    uint32_t count;
    uint32_t checks; /* of all names, once all are read: index into instrs */
    DtGroupName *names;
} DtGroup;

/* Where an attribute was found (or missed) last time. */
typedef struct DtAttrPlace {
    /* DT_GOP_ATTR: the exact type; DT_GOP_ABSENT: type of the last object, by address */
    PyTypeObject *type;
    Py_ssize_t hint;
    bool shared;      /* DT_GOP_ATTR: hint is an index into the type's shared keys */
    PyObject *name;   /* interned */
    uint64_t version; /* DT_GOP_ABSENT: of the dict seen last */
    Py_ssize_t nkeys; /* DT_GOP_ABSENT: shared keys seen last */
} DtAttrPlace;

/* Several attributes of one object, all loaded or compared at once: those that are only compared
 * come first. */
typedef struct DtAttr {
    DtAttrPlace *place; /* by name, when neither of the short ways is open */
    int32_t origins[2]; /* of the load and of the check */
    bool by_value;      /* compared with a constant, not by identity */
} DtAttr;

/* Short ways: the type's shared keys say where inline values lie, and a dict that is in the same
 * version as before holds what it held. */
typedef struct DtAttrRun {
    PyTypeObject *type;
    uint32_t count;
    uint32_t ncompared;
    uint32_t first;      /* of the compared ones, by their order in inline values ... */
    bool side_by_side;   /* ... in which there is nothing between them */
    bool shared;         /* all hints are good for an object with inline values */
    uint64_t version;    /* of the dict in which all was as expected; 0: of none */
    PyObject **expected; /* of a loaded one its exact type, or NULL */
    uint32_t *hints;     /* indices into the type's shared keys */
    uint32_t *regs;      /* of the loaded ones ... */
    PyObject **cached;   /* ... and what the dict held; borrowed from it */
    DtAttr *attrs;
} DtAttrRun;

typedef struct DtKeys {
    uint64_t version;   /* of the dict that matched last */
    PyObject *keys;     /* tuple */
    PyTypeObject *type; /* exact */
} DtKeys;

/* What the dict of a class held (names.h). */
typedef struct DtTypeName {
    PyObject *name;
    PyObject *value; /* NULL: it may be another one */
} DtTypeName;

typedef struct DtTypeNames {
    DtTypeName *rows; /* in the dict's order */
    uint32_t count;
} DtTypeNames;

typedef struct DtTypeState {
    PyTypeObject *type;
    unsigned int version;
    uint32_t nbases; /* of the MRO, itself included */
    PyTypeObject **bases;
    uint64_t *versions; /* of their dicts */
    DtTypeNames *names; /* by base; NULL: nothing may change */
} DtTypeState;

/* What a program makes and keeps: an int object (of a dimension, a length), or an array. */
typedef struct DtDimObject {
    const DtAdapter *adapter;
    int dim;
    int64_t value;
    PyObject *object; /* DT_OWNED */
} DtDimObject;

/* Of two objects: an int, or a tuple. */
typedef struct DtComputed {
    DtDimObject number; /* which keeps it */
    uint32_t op;        /* DtSymOp, of two ints */
    uint32_t at;        /* register of the second one */
} DtComputed;

typedef struct DtSymCheck {
    DtSymProgram program; /* count 0: too deep, `sym` is evaluated instead */
    const DtSym *sym;
} DtSymCheck;

/* A reference that goes. */
typedef struct DtQuiet {
    uint8_t kind;      /* DtGuardKind: QUIET ... */
    int64_t reg;       /* of the object, container or owner; -1: the frame's globals */
    int64_t stays;     /* register of what is referenced once more; -1: none */
    DtAttrPlace place; /* QUIET_ATTR, QUIET_GLOBAL */
    int32_t origin;    /* fact */
} DtQuiet;

/* All that go: they are played through together, since two of them may be of one object. */
typedef struct DtQuiets {
    DtQuiet *rows;
    uint32_t count;
} DtQuiets;

/* Shared with the callbacks of weak references. */
typedef struct DtLife {
    uint32_t refs;
    bool dead;
} DtLife;

/* A fact as the program keeps it: only explanations read it, through dt_program_fact(). */
typedef struct DtGuardFact {
    uint8_t kind;
    uint16_t file; /* index into `filenames` + 1; 0: unknown */
    int32_t line;
    uint32_t source, other; /* register + 1; 0: none */
    PyObject *object;       /* weak objects are addresses only */
    union {
        int64_t number;
        const DtSym *sym;
        const void *spec; /* behind its head */
    };
    const char *text; /* expected object in words, made while it lived; or NULL */
} DtGuardFact;

/* What is read as a number: one like DtSymbol, of which explanations are made. */
typedef struct DtGuardSymbol {
    DtNumber hint;
    uint32_t place; /* register + 1 of the array or number; 0: no guard reads it */
    int16_t dim;    /* of the array; -1: the number itself */
    uint8_t type;   /* DtSymType */
} DtGuardSymbol;

/* The fact, spread out. */
typedef struct DtToldFact {
    DtFact fact; /* with sources of the program */
    const char *text;
} DtToldFact;

struct DtGuardProgram {
    /* What a check reads comes first. */
    DtGuardInstr *instrs;
    DtNumber *numbers;
    DtLife *life;
    uint32_t user;  /* where the user part begins; 0: there is none */
    int32_t failed; /* origin of the failure inside a group, or DT_NO_ORIGIN */
    uint32_t nregs;
    uint32_t npure;   /* instructions of the pure part, its END apart */
    uint32_t front;   /* the first ones are there because they fail (order.c) */
    uint32_t suspect; /* where failures are counted now ... */
    uint32_t votes;   /* ... and how many more there were than elsewhere */
    int32_t *origins; /* by instruction: fact, or ~register of a source that could not be read */
    uint32_t *wanted; /* registers */
    uint32_t nwanted;
    DtGuardFact *facts;
    uint32_t nfacts;
    DtSource *sources; /* one per register; id is the register */
    DtGuardSymbol *symbols;
    uint32_t nsymbols;
    int free_start;
    int argument_slots;
    DT_VEC(PyObject *) kept;  /* DT_OWNED; in `scratch` while there is one */
    DT_VEC(PyObject *) loose; /* DT_OWNED tuples that do not own their items; likewise */
    DT_VEC(DtDimObject *) dims;
    DT_VEC(PyObject *) filenames; /* kept; in `scratch` while there is one */
    PyObject *callback;           /* DT_OWNED by kept */
    DtArena arena;
    /* Only while the program is made: the trace's arena, and in it what is looked up by object. */
    DtArena *scratch;
    DtMap owned; /* object -> how it is held: kept or watched */
    DtMap texts; /* object -> its text */
};
#define DT_NO_ORIGIN INT32_MIN

/* NULL with MemoryError. `scratch` outlives the making. */
DtGuardProgram *dt_program_new(DtArena *scratch);
/* The program is made: what it holds moves out of the scratch arena. */
DtStatus dt_program_settle(DtGuardProgram *program) DT_MUST_CHECK;
/* Fact number `i`, spread out; its pointers are the program's. */
void dt_program_fact(const DtGuardProgram *program, uint32_t i, DtToldFact *out);
/* What symbol `id` is read from, where a guard reads it. */
DtSource dt_program_symbol_source(const DtGuardProgram *program, uint32_t id);
/* Keeps a strong reference. */
DtStatus dt_program_keep(DtGuardProgram *program, PyObject *object) DT_MUST_CHECK;
/* Keeps a weak reference where the type allows, else a strong one. */
DtStatus dt_program_watch(DtGuardProgram *program, PyObject *object) DT_MUST_CHECK;
/* Holds a name or a key of a dict: constants are kept, other objects watched. */
DtStatus dt_program_hold_key(DtGuardProgram *program, PyObject *key) DT_MUST_CHECK;
/* Holds a tuple of keys or elements so, and gives the tuple to compare with: with objects among
 * them it is one that owns none of its items, and nobody may look into it once `life` is dead. */
DtStatus dt_program_hold_keys(DtGuardProgram *program, PyObject *keys,
                              PyObject **out) DT_MUST_CHECK;

/* Runs the program: 1, 0, -1; *origin tells which guard failed. `regs` come zeroed and go as owned
 * references to what was loaded: putting a failure into words may run a Python adapter. */
int dt_program_run_kept(DtGuardProgram *program, const DtGuardFrame *frame, PyObject **regs,
                        int32_t *origin) DT_MUST_CHECK;

/* Attribute of whatever object it is, as ATTR sources mean it; 1 and *value, else 0. */
int dt_program_read_attr(PyObject *object, DtAttrPlace *place, PyObject **value);

/* An object in words, for people; no user code. */
void dt_program_describe(PyObject *object, DtStrbuf *buf);

#endif
