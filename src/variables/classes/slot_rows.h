/* Rows of special methods that C defines: what each of them does over trackers.  Private to
 * inherited.c, slots_of_builtins.c and slots_of_object.c.
 *
 * Invariant: a row gives NotImplemented where the C slot would, so that the caller's protocol goes
 * on.
 */
#ifndef DT_VARIABLES_SLOT_ROWS_H
#define DT_VARIABLES_SLOT_ROWS_H

#include "variables/kinds.h"

typedef enum DtSlotSort {
    DT_SLOT_OTHER,
    DT_SLOT_OPERATOR,   /* x + y, either way round */
    DT_SLOT_COMPARISON, /* of objects: by identity */
} DtSlotSort;

typedef struct DtSlotRow {
    const char *name;
    DtStatus (*call)(DtTrace *, const struct DtSlotRow *row, DtVar *self, const DtArgs *args,
                     DtVar **out);
    int8_t min_args, max_args; /* without self; -1: any, keywords too */
    int8_t op;
    uint8_t sort; /* DtSlotSort */
} DtSlotRow;

/* The row of that name, or NULL: of any builtin type, by its tracker's slots; of object; of type.
 */
const DtSlotRow *dt_slot_row_of_builtins(PyObject *name);
const DtSlotRow *dt_slot_row_of_object(PyObject *name);
const DtSlotRow *dt_slot_row_of_type(PyObject *name);

/* Of rows that end with one without a name. */
const DtSlotRow *dt_slot_row_find(const DtSlotRow *rows, PyObject *name);

/* A comparison as the slot of the value's type makes it: the handler of such rows. */
DtStatus dt_slot_compare(DtTrace *trace, const DtSlotRow *row, DtVar *self, const DtArgs *args,
                         DtVar **out) DT_MUST_CHECK;

/* Do C's number slots decide what an operator of the value says, rather than a sequence's? */
bool dt_slot_is_number(DtTrace *trace, DtVar *var);

#endif
