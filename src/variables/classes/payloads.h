/* Payloads of the kinds that are not in var.h, for those who copy, replay or
 * rebuild them: the journal, codegen and the interpreter's container ops.
 *
 * Payloads change only after dt_journal_will_change().  Copies for a rollback
 * are made by dt_payload_snapshot(), so the journal knows no kind.
 */
#ifndef DT_VARIABLES_PAYLOADS_H
#define DT_VARIABLES_PAYLOADS_H

#include "variables/trace.h"
#include "variables/var.h"

/* An item that the trace has stored at a number of each call (stored_items.c). */
typedef struct DtStoredItem {
    DtVar *at; /* from the start, and below the length of before */
    DtVar *before, *value;
} DtStoredItem;

/* DT_KIND_GROWING_LIST: what stands at the start and at the end of a list, or of a deque whose
 * `contents` it is; nobody has asked for the rest. */
typedef struct DtGrowingListVar {
    DtSeqVar list;        /* the items that are known */
    uint32_t head;        /* so many of them are at the start */
    uint32_t first, last; /* so many items of before were asked for at the start and at the end */
    PyTypeObject *layout; /* list or deque: whose methods read the object */
    bool guarded;         /* that it is a list */
    DtStoredItem
        *stored; /* in the gap; an array that is never changed, a new one takes its place */
    uint32_t nstored;
} DtGrowingListVar;

/* One entry of a dict or element of a set.  Keys are constants (compared by value), objects known
 * by identity (`by_identity`), or instances whose __hash__ and __eq__ are followed (`traced`);
 * `hash` is what the real key hashes to, or an address. */
typedef struct DtDictEntry {
    PyObject *key; /* DT_BORROWED from the trace; NULL: an object made by the trace */
    Py_hash_t hash;
    bool by_identity;
    bool unsaid; /* the hash goes by the address of what may be another object in the next call */
    bool traced;
    bool acts; /* its __hash__ changed something: hashing it again would do so again */
    DtVar *key_var;
    DtVar *value;      /* NULL in a set */
    uint32_t inserted; /* of a dict: its `changes` once the key was in; 0: it has been there */
} DtDictEntry;

typedef struct DtSetStep DtSetStep; /* variables/containers/set_layout.c */

typedef struct DtDictVar { /* DT_KIND_DICT, DT_KIND_SET: entries in order of insertion */
    DtVar base;
    DtDictEntry *items;
    uint32_t count;
    uint32_t capacity;
    PyTypeObject *cls; /* dict, set, frozenset */
    PyObject *object;  /* the existing dict or set, or NULL; DT_BORROWED */
    uint32_t changes;  /* how often keys came or went */
    bool acts;         /* keys were hashed or compared that change something when they are */
    DtVar *owner;      /* the new instance whose __dict__ it is, or NULL */
    /* Of a set: how its table came to be, from which the order of its elements follows.  NULL: it
     * is not known. */
    const DtSetStep *layout;
} DtDictVar;

/* Breaks if the emitted code can't hash the keys as the program did: their __hash__ or __eq__ has
 * effects, which were followed already, or would read attributes that were written since. */
DtStatus dt_dict_check_hashes(DtTrace *trace, const DtDictVar *dict) DT_MUST_CHECK;
/* The same for building a dict or set; also if it would hash objects that have no attributes so
 * far.
 */
DtStatus dt_dict_check_keys(DtCodegen *codegen, const DtDictVar *dict) DT_MUST_CHECK;

/* What one key of an existing dict is known to have. */
typedef struct DtAskedKey {
    DtVar *key;     /* as it was asked for, or stored */
    DtVar *before;  /* what it had, NULL: the key was not there */
    DtVar *value;   /* what it has now, NULL: the key is not there */
    uint32_t step;  /* when the trace put the key in, by order; 0: it has been there */
    bool was_taken; /* it was there, and was deleted in between */
} DtAskedKey;

/* DT_KIND_GROWING_DICT: keys of a dict that were asked for; nobody has asked for the rest. */
typedef struct DtGrowingDictVar {
    DtDictVar dict; /* without entries until it is read */
    DT_VEC(DtAskedKey) asked;
    uint32_t steps; /* keys that the trace has put in */
    bool guarded;   /* that it is a dict */
} DtGrowingDictVar;

static inline bool
dt_dict_is(const DtVar *var)
{
    return var->type->kind == DT_KIND_DICT || var->type->kind == DT_KIND_GROWING_DICT;
}

typedef struct DtDictViewVar { /* DT_KIND_DICT_VIEW */
    DtVar base;
    DtDictVar *dict;
    uint8_t what; /* 0 keys, 1 values, 2 items */
} DtDictViewVar;

typedef struct DtProxyVar { /* DT_KIND_MAPPING_PROXY */
    DtVar base;
    DtVar *mapping; /* what it shows: a dict, or an input of any kind */
    DtVar *cls;     /* it is the __dict__ of this class; or NULL */
} DtProxyVar;

typedef struct DtNamespaceVar { /* DT_KIND_NAMESPACE */
    DtVar base;
    PyObject *dict;           /* the real one; DT_BORROWED */
    DtVar *module;            /* whose attributes are the names, or NULL: they are globals ... */
    const DtSource *function; /* ... of this function, if of no active frame */
    bool modules;             /* it is sys.modules, whose items are modules */
} DtNamespaceVar;

typedef struct DtWeakrefVar { /* DT_KIND_WEAKREF */
    DtVar base;
    PyObject *object; /* the existing reference, or NULL; DT_BORROWED */
    DtVar *target;    /* of a new one */
} DtWeakrefVar;

typedef struct DtIdentityVar { /* DT_KIND_IDENTITY */
    DtVar base;
    DtVar *target;
    DtVar *callable; /* id itself */
} DtIdentityVar;

typedef struct DtBytesVar { /* DT_KIND_BYTEARRAY */
    DtVar base;
    PyObject *value;  /* bytes: the contents; DT_BORROWED from the trace */
    PyObject *object; /* the existing bytearray, or NULL; DT_BORROWED */
} DtBytesVar;

typedef struct DtRangeVar { /* DT_KIND_RANGE: concrete numbers, once it is closed */
    DtVar base;
    DtVar **open; /* what range() was called with, not specialised yet; NULL: closed */
    uint32_t nopen;
    int64_t start, stop, step;
    int64_t length;
} DtRangeVar;

typedef struct DtIterRow DtIterRow; /* variables/iterators/v_iter.c */
typedef struct DtIterVar {          /* DT_KIND_ITERATOR */
    DtVar base;
    const DtIterRow *row;
    DtVar *subject;  /* what is iterated over, or NULL */
    DtVar *function; /* of map and filter */
    DtVar **parts;   /* inner iterators of zip, map, enumerate ... */
    uint32_t nparts;
    DtVar *state[3];   /* other values that a step changes, by row */
    PyTypeObject *cls; /* what it is in Python, or NULL: the row knows */
    void *more;        /* by row */
    int64_t index;
    int64_t extra; /* start of enumerate, expected size of a dict */
    bool started;  /* a step was made */
    bool exhausted;
    uint32_t changes; /* of a dict or set when the iteration began */
} DtIterVar;

typedef enum DtGeneratorState {
    DT_GENERATOR_CREATED,
    DT_GENERATOR_SUSPENDED,
    DT_GENERATOR_RUNNING,
    DT_GENERATOR_CLOSED
} DtGeneratorState;

/* DT_KIND_GENERATOR, COROUTINE, ASYNC_GENERATOR: made by the trace; a symbolic frame that is
 * resumed in steps.  All that a step changes is in here, so that it can be rolled back. */
struct DtGeneratorVar {
    DtVar base;
    DtFunctionVar *function; /* whose call made it, with these arguments */
    DtArgs args;
    DtSymbolicFrame *frame;
    DtVar **values; /* the frame's slots, then its stack */
    uint32_t nvalues;
    int32_t sp;
    uint32_t at;    /* instruction that it stands at: where an exception thrown in is raised */
    uint32_t pc;    /* instruction that it goes on with */
    DtExcInfo exc;  /* the exception that it is handling */
    uint8_t state;  /* DtGeneratorState */
    bool replacing; /* code of ours in the place of C code: the call would make something else */
    bool rebuilt;   /* the emitted code makes it again */
    bool wrapped;   /* the last step ended at a yield of an asynchronous generator */
    bool in_asend;  /* an asynchronous generator that an awaitable of its own is running */
};

typedef struct DtMethodVar { /* DT_KIND_BOUND_METHOD */
    DtVar base;
    DtVar *function;
    DtVar *self;
} DtMethodVar;

typedef struct DtMethodRowVar { /* DT_KIND_METHOD_ROW */
    DtVar base;
    DtVar *self;
    const DtMethodRow *row; /* NULL: an adapter's method, known by name */
    PyObject *name;
} DtMethodRowVar;

/* DT_KIND_STRANGER: an object of which its type is known. */
typedef struct DtStrangerVar {
    DtVar base;
    PyTypeObject *cls;
} DtStrangerVar;

/* DT_KIND_BUILTIN, CLASS, MODULE, ADAPTER_CALLABLE, OPAQUE: one known object. */
typedef struct DtObjectVar {
    DtVar base;
    PyObject *object;         /* kept by the trace */
    const DtMethodRow *row;   /* of a known builtin, or NULL */
    const DtAdapter *adapter; /* ADAPTER_CALLABLE */
} DtObjectVar;

/* What C keeps of an exception.  A state does not change: a change makes a new one (exception.c),
 * so that the instance's snapshot is its pointer. */
typedef struct DtExceptionState {
    DtVar *args;         /* tuple; NULL: the text is not known to be CPython's */
    PyObject *prototype; /* a real exception of the same arguments, or NULL; DT_BORROWED */
    /* The class, and the tuple of constants, that gave the prototype; NULL: an operation raised it.
     */
    PyTypeObject *made_by;
    DtVar *made_of;
    DtVar *cause, *context, *traceback; /* NULL: none */
    struct DtExceptionField *fields; /* what prototype can't say: `value` of a StopIteration ... */
    uint32_t nfields;
    const char *text; /* for messages of breaks */
    bool suppress_context;
    const struct DtBreakInfo *where; /* it was first raised, for messages */
    bool context_unknown; /* an exception handled outside of the trace may be its context */
    bool raised;          /* has a traceback, if that was not replaced */
} DtExceptionState;

typedef struct DtExceptionField {
    const char *name;
    DtVar *value;
} DtExceptionField;

typedef struct DtInstanceVar { /* DT_KIND_INSTANCE */
    DtVar base;
    PyObject *object; /* existing object, or NULL: made by the trace */
    PyTypeObject *cls;
    DtVar *cls_var; /* of a new instance: tracker of its class */
    DtVar *payload; /* what a builtin base keeps, or NULL: the base is object (payload.c) */
    /* What a C type keeps.  Where all its methods are polyfills, lists that only those see:
     * `contents` of a deque its items, of a generator of random numbers its state; `more` of a
     * deque its maxlen, how often it was changed, and whether it existed before.  Of a class
     * derived from that of arrays: `contents` is the plain array over the same memory, which only
     * the adapter sees, and `more` says whose memory it shows (array_part.h). */
    DtVar *contents, *more;
    const DtExceptionState *exception; /* of an exception, else NULL; an existing one has no more
                                        * than its args there */
    bool hashed;                       /* a followed __hash__ has read attributes of it */
    DtDictVar *attributes; /* its __dict__, once the program has asked for it (attr_dict.c) */
} DtInstanceVar;

/* An instance of a subclass of int as a plain index; any other tracker as it is. */
DtVar *dt_payload_index(DtVar *var);
/* What became of an operation on `payload` in the place of `var`: its TypeError would name the
 * class of the builtin part, which is a break where that is another one. */
DtStatus dt_payload_raised(DtTrace *trace, DtStatus status, const DtVar *var, const DtVar *payload);
/* The instance whose builtin part a tracker is, or NULL. */
DtInstanceVar *dt_payload_owner(const DtTrace *trace, const DtVar *payload);
/* What a view or iterator over `var` keeps: the whole instance of which `var` is the mutable
 * builtin part, else `var`. */
DtVar *dt_payload_whole(const DtTrace *trace, DtVar *var);

typedef struct DtPartialVar { /* DT_KIND_PARTIAL */
    DtVar base;
    PyObject *object; /* existing partial or NULL */
    DtVar *function;
    DtVar *args;         /* tuple tracker */
    DtDictVar *keywords; /* its own dict, which the program may get hold of */
    bool exposed;        /* it did: a new partial can't be rebuilt around that dict */
} DtPartialVar;

/* A copy of everything that a change of `var` may touch, in the trace's arena; NULL with
 * MemoryError. */
void *dt_payload_snapshot(DtTrace *trace, const DtVar *var) DT_MUST_CHECK;
/* Puts it back.  The snapshot stays valid. */
DtStatus dt_payload_restore(DtTrace *trace, DtVar *var, const void *snapshot) DT_MUST_CHECK;

/* The real object behind a tracker that is known by identity (function, class, module, builtin,
 * existing instance, list, dict ...), or NULL.  Does not realise. */
PyObject *dt_payload_object(DtVar *var);

#endif
