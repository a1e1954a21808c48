/* A loop over numbers in its frame: where it stands, what lies in its variables, and putting that
 * back.
 *
 * Slots are those of the frame, and behind them the variables of module code, which are its
 * globals.
 */
#ifndef DT_EVAL_FRAME_SCALAR_FRAME_H
#define DT_EVAL_FRAME_SCALAR_FRAME_H

#include "eval_frame/broken.h"
#include "scalar_loops/loop_program.h"

/* What lies in a frame. */
typedef struct DtScalarFound {
    DtLoopEntrySlot entry[DT_LOOP_MOST_SLOTS + DT_LOOP_ENTRIES];
    DtLoopRegister values[DT_LOOP_MOST_SLOTS + DT_LOOP_ENTRIES];
    DtLoopArray arrays[DT_LOOP_MOST_SLOTS + DT_LOOP_ENTRIES];
    PyObject *objects[DT_LOOP_MOST_SLOTS + DT_LOOP_ENTRIES]; /* of an iterator: what it is over */
    DtLoopRegister iterator[3];
} DtScalarFound;

/* The loop whose iterations are entered at `at`. */
bool dt_scalar_frame_find_loop(const DtBroken *broken, int32_t at, DtLoopPlace *place);
/* The variables of module code that the loop reads or stores; false without memory. */
bool dt_scalar_frame_find_names(DtBroken *broken, DtLoopPlace *place);
/* Behind an iteration: a jump back to the FOR_ITER, or the head itself; -1: none that is legal. */
int32_t dt_scalar_frame_find_landing(const DtBroken *broken, const DtLoopPlace *place);

/* What lies in a slot, borrowed; NULL: nothing. */
PyObject *dt_scalar_frame_slot(const DtLoopPlace *place, const DtDriverSite *site,
                               const DtGuardFrame *guarded, int slot);
/* All of it; false: the loop walks over something that is not known. */
bool dt_scalar_frame_read(const DtLoopPlace *place, const DtDriverSite *site,
                          const DtGuardFrame *guarded, DtScalarFound *found);

/* The loop's iterator goes on as the registers say. */
void dt_scalar_frame_move_iterator(const DtLoopPlace *place, const DtDriverSite *site,
                                   const DtGuardFrame *guarded, const DtLoopRegister *state);
/* Puts a value into its slot, or under its name; -1 with MemoryError. */
int dt_scalar_frame_put(const DtLoopPlace *place, const DtDriverSite *site,
                        const DtGuardFrame *guarded, int slot, DT_STEALS PyObject *value);

#endif
