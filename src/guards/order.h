/* The order of a guard program's checks follows what fails.
 *
 *   LOCAL x │ x is an array │ load G │ load G.a ... │ k.mode is "one"     fails at most calls
 *   ──►
 *   LOCAL k │ k.mode is "one" │ LOCAL x │ x is an array │ load G ...
 *
 * A check at which most calls of late have failed moves to the front with the loads that it reads,
 * so that a call that is not this entry's is told so early.  Which checks there are stays the same,
 * and so does everything about a call for which all of them hold.
 */
#ifndef DT_GUARDS_ORDER_H
#define DT_GUARDS_ORDER_H

#include "guards/internal.h"

/* A check of the program has failed at this instruction (NULL: none).  Never in the middle of a
 * check; no error. */
void dt_order_note_failure(DtGuardProgram *program, const DtGuardInstr *failed);

#endif
