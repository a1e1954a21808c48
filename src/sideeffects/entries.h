/* The inside of the journal, shared by its files only. */
#ifndef DT_SIDEEFFECTS_ENTRIES_H
#define DT_SIDEEFFECTS_ENTRIES_H

#include "sideeffects/journal.h"

typedef enum DtEntryKind {
    DT_ENTRY_ATTR,     /* object.name = value, or deleted */
    DT_ENTRY_GLOBAL,   /* globals[name] = value, or deleted */
    DT_ENTRY_CELL,     /* an existing cell was written */
    DT_ENTRY_CONTENTS, /* an existing list, dict or set was changed */
    DT_ENTRY_CALL      /* object(*items) was called for its effect */
} DtEntryKind;

typedef struct DtJournalEntry {
    uint8_t kind; /* DtEntryKind */
    DtVar *object;
    PyObject *globals;
    PyObject *name;
    DtVar *value;   /* ATTR, GLOBAL: NULL means deleted.  CELL: contents before the first write */
    DtVar **items;  /* CONTENTS: items (dict: keys) before the first change ... CALL: arguments */
    DtVar **values; /* ... and the dict's values */
    uint32_t count;
    uint32_t changes;  /* CONTENTS of a dict: its own before the first change */
    uint32_t previous; /* 1 + index of the entry before with the same object or globals, or 0 */
} DtJournalEntry;

typedef enum DtWriteKind {
#define WRITE(NAME, STACK) DT_WRITE_##NAME,
#include "sideeffects/writes.def"
#undef WRITE
    DT_WRITE_COUNT
} DtWriteKind;

/* One write of the replay. */
typedef struct DtWrite {
    uint8_t kind; /* DtWriteKind */
    DtVar *object;
    PyObject *globals;
    PyObject *name;
    DtVar *key;
    PyTypeObject *base; /* METHOD: whose method `name` it is */
    DtVar **values;
    uint32_t count;
    int64_t start, stop; /* SLICE */
} DtWrite;

typedef enum DtUndoKind { DT_UNDO_ENTRY, DT_UNDO_VALUE, DT_UNDO_CELL, DT_UNDO_PAYLOAD } DtUndoKind;

typedef struct DtUndo {
    uint8_t kind;      /* DtUndoKind */
    bool written;      /* CELL */
    uint32_t index;    /* VALUE: of the entry */
    DtVar *var;        /* CELL, PAYLOAD */
    DtVar *value;      /* VALUE, CELL: what was there */
    const void *saved; /* PAYLOAD: by dt_payload_snapshot() */
} DtUndo;

struct DtJournal {
    DT_VEC(DtJournalEntry) entries;
    DtMap latest; /* object (realised tracker) or globals dict -> 1 + index of its latest entry */
    DT_VEC(DtUndo) undo;
    uint32_t epoch;         /* number of marks and rollbacks; 0: nothing is ever rolled back */
    DtMap saved;            /* tracker -> epoch in which its payload was saved last */
    DT_VEC(DtWrite) writes; /* by dt_journal_finish() */
};

/* Copies of what a list, dict or set holds now: items, or keys with their values (else NULL). */
DtStatus dt_diff_items(DtTrace *trace, DtVar *container, DtVar ***items, DtVar ***values,
                       uint32_t *count) DT_MUST_CHECK;

/* Gives the write its one value; NULL: it has none. */
DtStatus dt_diff_set_value(DtTrace *trace, DtWrite *write, DtVar *value) DT_MUST_CHECK;

/* Turns one entry of an existing container into writes. */
DtStatus dt_diff_contents(DtTrace *trace, const DtJournalEntry *entry) DT_MUST_CHECK;

/* Breaks when a write lets go of an object that acts when it dies; `seen` are the trackers that
 * stay reachable. */
DtStatus dt_drops_check(DtTrace *trace, const DtMap *seen) DT_MUST_CHECK;

#endif
