/* One decision for many entries: which guard program is likely to hold on a frame.
 *
 *   facts of n programs ── what tells them apart ──► a few values to look at
 *   frame ── key of these values ──► table: the program that held last under this key
 *
 * A key is made of the types, constants, identities and lengths of some arguments (or of what
 * hangs on them), so that one look-up stands for asking n programs.  It is advice only: the
 * program's guards are asked anyway, and a key that leads nowhere is followed by asking all.
 *
 * A selector borrows names and sources from its programs: it is of no use once one of them is gone.
 */
#ifndef DT_GUARDS_SELECTOR_H
#define DT_GUARDS_SELECTOR_H

#include "guards/program.h"

typedef struct DtSelector DtSelector;

/* NULL if nothing that can be looked at tells the programs apart, or memory is out (no error). */
DtSelector *dt_selector_new(DtGuardProgram *const *programs, uint32_t count);
void dt_selector_free(DtSelector *selector); /* may be NULL */

/* Never 0.  Runs no user code. */
uint64_t dt_selector_key(DtSelector *selector, const DtGuardFrame *frame);
/* What was put under the key last, or NULL. */
void *dt_selector_get(const DtSelector *selector, uint64_t key);
void dt_selector_put(DtSelector *selector, uint64_t key, void *value);

#endif
