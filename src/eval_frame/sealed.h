/* A copy of the process that can reach nothing but its own memory.
 *
 *   open files ─► none but three: what is written to output and error stays in memory, and a pipe
 *   shared memory ─► our own, with the same content
 *   system calls ─► those of system_calls.def; the others end the copy, or fail
 *
 * For good, and for all threads that begin later.
 */
#ifndef DT_EVAL_FRAME_SEALED_H
#define DT_EVAL_FRAME_SEALED_H

#include <stdbool.h>

/* The files of a sealed copy; 0 is empty. */
enum { DT_SEALED_OUTPUT = 1, DT_SEALED_ERROR = 2, DT_SEALED_PIPE = 3 };

/* What becomes of work that asks the system for more than it may. */
typedef enum DtSealing {
    DT_SEALED_FILES,   /* files may be opened and written: nothing is asked */
    DT_SEALED_ENDS,    /* the copy ends by DT_SEALED_SIGNAL */
    DT_SEALED_REFUSES, /* the call fails with EPERM */
} DtSealing;

#define DT_SEALED_SIGNAL 31 /* SIGSYS, as Linux has it */

typedef enum DtSealed {
    DT_SEALED_FAILED,
    DT_SEALED_PARTLY, /* this system can't refuse calls: only files and memory are shut off */
    DT_SEALED_WHOLLY,
} DtSealed;

/* `told`: an open file, which becomes DT_SEALED_PIPE. */
DtSealed dt_sealed_begin(DtSealing sealing, int told);

#endif
