/* Where a running frame may be left and entered again: points and landings.
 *
 * A *point* is an instruction in front of which code may be put; a *landing* is one at which a
 * frame may go on although the instruction before it was not the last one run.  Both are the first
 * canonical instruction of a real one, and a frame may go from p to q only in one *handler
 * context*: the stack slots that hold what exception handlers saved are the same ones.
 *
 *   instrs, depths ──walk every edge once──► context of each ──► flags
 *
 * On 3.10 a place also has the `try` blocks that are open there; later versions have tables.
 */
#ifndef DT_BYTECODE_PLACES_H
#define DT_BYTECODE_PLACES_H

#include "bytecode/decode.h"

enum {
    DT_PLACE_POINT = 1,   /* code may be put in front of it */
    DT_PLACE_LANDING = 2, /* a frame may go on here */
    DT_PLACE_PAD = 4      /* a landing at which something other than a plain move happens: every
                             driver can land here, whether or not an edge was known */
};

typedef struct DtPlace {
    int32_t context; /* index into `contexts`, or -1: not reached, or not the same on every way */
    int32_t block;   /* innermost open try block (3.10), index into `blocks`, or -1 */
    int32_t flags;   /* DT_PLACE_* */
} DtPlace;

/* Handlers that run; context 0 is that of code outside of all handlers, with base 0. */
typedef struct DtContext {
    int32_t outer; /* -1 for context 0 */
    int32_t kind;  /* private */
    int32_t base;  /* stack slots below it belong to this context and may not be touched */
    int32_t key;   /* the instruction that the handler begins with */
    int32_t block; /* 3.10: the innermost try block of `outer` that is open around it, or -1 */
} DtContext;

/* 3.10: an open try block. */
typedef struct DtOpenBlock {
    int32_t outer;   /* the next one in the same context, or -1 */
    int32_t context; /* the context that it was opened in */
    int32_t handler; /* instruction */
    int32_t level;   /* stack depth that its handler is given */
} DtOpenBlock;

typedef struct DtPlaces {
    const DtBytecode *bytecode;
    DtPlace *places; /* bytecode->count */
    DtContext *contexts;
    uint32_t context_count;
    DtOpenBlock *blocks;
    uint32_t block_count;
    int32_t entry; /* the point behind the prologue: arguments, cells and generator are ready */
} DtPlaces;

/* Fills `places`, in the arena.  DT_ERROR only when memory is out. */
DtStatus dt_places_build(DtArena *arena, const DtBytecode *bytecode,
                         DtPlaces *places) DT_MUST_CHECK;

/* May a frame go on at landing q when it has reached point p? */
bool dt_places_is_edge(const DtPlaces *places, int32_t p, int32_t q);

/* Where a trace has to stop so that a frame can do instruction `at` itself: the landing nearest
 * before it on the straight way to it, `at` itself included.  Between the two lie only parts of one
 * group (KW_NAMES .. CALL, the canonical instructions of one real one, the loop of an `await`).
 * -1: there is none. */
int32_t dt_places_landing_before(const DtPlaces *places, int32_t at);

/* Does the instruction at `at` do nothing but put a value on the stack that lies somewhere already?
 * A frame does that itself in less time than a segment can put the value into its place. */
bool dt_places_is_load(const DtPlaces *places, int32_t at);

/* The points that control reaches first when landing q has run plainly without an exception:
 * 0, 1 or 2 of them. */
int dt_places_after(const DtPlaces *places, int32_t q, int32_t points[2]);

#endif
