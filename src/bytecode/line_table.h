/* Line tables: which source position each instruction has.
 *
 * Two formats, both readable and writable on every version (tests and tools
 * use that): the (length, line change) byte pairs of 3.10, and the location
 * entries of 3.11 and later, which have columns too.
 */
#ifndef DT_BYTECODE_LINE_TABLE_H
#define DT_BYTECODE_LINE_TABLE_H

#include <stddef.h>
#include <stdint.h>

#include "core/arena.h"
#include "core/status.h"

typedef struct DtSpan {
    int32_t line; /* -1: none, and then nothing else counts */
    int32_t end_line;
    int32_t col; /* 0-based; -1: none */
    int32_t end_col;
} DtSpan;

typedef struct DtLineEntry {
    uint32_t start; /* byte offsets into the code */
    uint32_t end;
    DtSpan position;
} DtLineEntry;

typedef enum DtLineFormat {
    DT_LINES_PAIRS,    /* 3.10 */
    DT_LINES_LOCATIONS /* 3.11 on */
} DtLineFormat;

/* The format of this CPython. */
DtLineFormat dt_line_table_format(void);

/* Entries in order, without gaps, from offset 0.  A table that breaks the
 * format gives DT_ERROR with ValueError; nothing outside `data` is read. */
DtStatus dt_line_table_decode(DtArena *arena, DtLineFormat format, const uint8_t *data, size_t size,
                              int32_t firstlineno, DtLineEntry **entries,
                              uint32_t *count) DT_MUST_CHECK;

/* The reverse, for entries in order and without gaps whose lengths are even.
 * What the format cannot say (columns on 3.10) is dropped. */
DtStatus dt_line_table_encode(DtArena *arena, DtLineFormat format, const DtLineEntry *entries,
                              uint32_t count, int32_t firstlineno, uint8_t **data,
                              size_t *size) DT_MUST_CHECK;

#endif
