/* Taking back what a run of a graph has written to memory that others can see.
 *
 * Before a write whose run may still fail, the part of the array that it changes is saved; when the
 * run fails, everything is put back in reverse order and the call can be made again plainly, as if
 * nothing had happened.  Private to backend/.
 */
#ifndef DT_BACKEND_WRITTEN_H
#define DT_BACKEND_WRITTEN_H

#include "backend/backend.h"

typedef struct DtWritten {
    const DtAdapter *adapter;
    const DtNode *node; /* that made the write */
    PyObject *array;    /* DT_OWNED, all three */
    PyObject *key;      /* or NULL: the whole */
    PyObject *saved;
    char *data;   /* where bytes were written, or NULL */
    uint8_t size; /* how many ... */
    char held[8]; /* ... and what they were */
    void *block;  /* DT_OWNED, of PyMem_Malloc(): what put_back() wants; or NULL */
    void (*put_back)(void *block);
} DtWritten;

enum { DT_WRITTEN_ROOM = 4 };

typedef struct DtWrittenLog {
    DtWritten *items;
    uint32_t count, capacity;
    DtWritten *room; /* memory of the caller's for DT_WRITTEN_ROOM of them, or NULL */
} DtWrittenLog;

/* Is it a write to visible memory that can be taken back? */
bool dt_written_can_undo(const DtNode *node);

/* Saves what `node` is about to change.  DT_RUN_REPLAY: plain execution would refuse the write, or
 * give a warning; DT_RUN_ERROR: an exception is set. */
DtRun dt_written_save(DtWrittenLog *log, const DtNode *node, PyObject *const *values,
                      const DtNumber *symbols) DT_MUST_CHECK;

/* Notes that `node` has written all of `array`, which held `saved` before; takes no reference.  -1
 * with MemoryError. */
int dt_written_note(DtWrittenLog *log, const DtNode *node, PyObject *array, PyObject *saved);

/* Notes that up to eight bytes at `data`, in the memory of `array`, are about to be written; takes
 * no reference.  -1 with MemoryError. */
int dt_written_save_bytes(DtWrittenLog *log, PyObject *array, char *data, uint8_t size);

/* Notes that memory of `array` is about to be written, and how it is put back: by put_back(block),
 * without Python.  Takes `block`, of PyMem_Malloc(), and no reference.  -1 with MemoryError. */
int dt_written_note_block(DtWrittenLog *log, PyObject *array, DT_STEALS void *block,
                          void (*put_back)(void *block));

/* Puts everything back, and forgets it.  An exception that is set stays. */
void dt_written_undo(DtWrittenLog *log);
void dt_written_forget(DtWrittenLog *log);

/* Do two writes change the same part of the same array?  Then saving it for the first one will do.
 */
bool dt_written_is_same_part(const DtNode *a, const DtNode *b);

/* Does the node draw random numbers: change the state of its first operand, which is no array? */
bool dt_written_is_draw(const DtNode *node);

/* Is the node array[key] = value? */
bool dt_written_is_setitem(const DtNode *node);

#endif
