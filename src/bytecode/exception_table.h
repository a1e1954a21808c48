/* Exception tables of 3.11 and later: which handler covers which instructions.
 *
 * The codec works on every version; only 3.11 and later have such tables.
 */
#ifndef DT_BYTECODE_EXCEPTION_TABLE_H
#define DT_BYTECODE_EXCEPTION_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/arena.h"
#include "core/status.h"

typedef struct DtExceptionEntry {
    uint32_t start; /* instruction units */
    uint32_t end;   /* one after the last */
    uint32_t target;
    uint32_t depth;
    bool lasti; /* the handler finds the instruction number below the exception */
} DtExceptionEntry;

/* A table that breaks the format gives DT_ERROR with ValueError; nothing
 * outside `data` is read.  The entries are not compared with any code. */
DtStatus dt_exception_table_decode(DtArena *arena, const uint8_t *data, size_t size,
                                   DtExceptionEntry **entries, uint32_t *count) DT_MUST_CHECK;

/* The reverse; all numbers must be below 2**29. */
DtStatus dt_exception_table_encode(DtArena *arena, const DtExceptionEntry *entries, uint32_t count,
                                   uint8_t **data, size_t *size) DT_MUST_CHECK;

#endif
