/* Line tables; see line_table.h.
 *
 * Pairs (3.10): an unsigned length in bytes and a signed change of the line;
 * -128 means "no line" and leaves the running line as it is.
 *
 * Locations (3.11): a first byte 1cccclll (form c, l + 1 instruction units),
 * then what the form needs.  All further bytes have a clear top bit.
 *
 *   form 0-9    column in two parts: c * 8 + bits 4-6, length of the span in bits 0-3
 *   form 10-12  line change c - 10, column, end column: one byte each
 *   form 13     line change, no columns
 *   form 14     line change, change to the end line, column + 1, end column + 1
 *   form 15     no location
 *
 * Numbers are little-endian groups of six bits, bit 6 says "more"; signed ones
 * carry the sign in the lowest bit.
 */
#include "bytecode/line_table.h"

#include <stdbool.h>

#include "compat/errors.h"
#include "compat/python.h"
#include "core/vec.h"

enum {
    FORM_SHORT_LAST = 9,
    FORM_LINE_FIRST = 10,
    FORM_LINE_LAST = 12,
    FORM_NO_COLUMNS = 13,
    FORM_LONG = 14,
    FORM_NONE = 15,
    UNITS_PER_ENTRY = 8,
    NO_LINE = -128
};

typedef DT_VEC(DtLineEntry) EntryVec;
typedef DT_VEC(uint8_t) ByteVec;

static DtStatus
broken(const char *what)
{
    PyErr_Format(PyExc_ValueError, "broken line table: %s", what);
    return DT_ERROR;
}

DtLineFormat
dt_line_table_format(void)
{
    return DT_PY310 ? DT_LINES_PAIRS : DT_LINES_LOCATIONS;
}

/* A line number, or an error when the running sum has left the sensible range. */
static DtStatus
checked_line(int64_t line, int32_t *out)
{
    if (line > INT32_MAX / 2 || line < INT32_MIN / 2) {
        return broken("line number out of range");
    }
    *out = (int32_t)line;
    return DT_OK;
}

/* --- pairs ------------------------------------------------------------- */

static DtStatus
decode_pairs(DtArena *arena, const uint8_t *data, size_t size, int32_t firstlineno, EntryVec *out)
{
    int64_t line = firstlineno;
    uint32_t start = 0;
    if (size % 2 != 0) {
        return broken("odd length");
    }
    for (size_t i = 0; i < size; i += 2) {
        int change = (int8_t)data[i + 1];
        DtLineEntry entry = {start, start + data[i], {-1, -1, -1, -1}};
        start = entry.end;
        if (change != NO_LINE) {
            line += change;
            DT_TRY(checked_line(line, &entry.position.line));
            entry.position.end_line = entry.position.line;
        }
        if (entry.end > entry.start && dt_vec_push(arena, out, entry) != 0) {
            return dt_no_memory();
        }
    }
    return DT_OK;
}

static int
push_pair(DtArena *arena, ByteVec *out, uint32_t length, int change)
{
    if (dt_vec_push(arena, out, (uint8_t)length) != 0) {
        return -1;
    }
    return dt_vec_push(arena, out, (uint8_t)(int8_t)change);
}

/* One entry: changes beyond a byte go first, with empty ranges; lengths beyond
 * a byte are continued with change 0 (or again "no line"). */
static int
encode_pair(DtArena *arena, ByteVec *out, uint32_t length, int64_t change, bool has_line)
{
    while (has_line && (change > 127 || change < -127)) {
        int step = change > 0 ? 127 : -127;
        if (push_pair(arena, out, 0, step) != 0) {
            return -1;
        }
        change -= step;
    }
    int step = has_line ? (int)change : NO_LINE;
    while (length > 254) {
        if (push_pair(arena, out, 254, step) != 0) {
            return -1;
        }
        length -= 254;
        step = has_line ? 0 : NO_LINE;
    }
    return push_pair(arena, out, length, step);
}

static int
encode_pairs(DtArena *arena, const DtLineEntry *entries, uint32_t count, int32_t firstlineno,
             ByteVec *out)
{
    int64_t line = firstlineno;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t length = entries[i].end - entries[i].start;
        int64_t now = entries[i].position.line;
        bool has_line = now >= 0;
        if (encode_pair(arena, out, length, has_line ? now - line : 0, has_line) != 0) {
            return -1;
        }
        line = has_line ? now : line;
    }
    return 0;
}

/* --- locations ----------------------------------------------------------- */

typedef struct Reader {
    const uint8_t *at;
    const uint8_t *end;
} Reader;

/* The next byte of an entry, which must not be the first of another. */
static bool
read_byte(Reader *reader, uint32_t *value)
{
    if (reader->at == reader->end || *reader->at & 0x80) {
        return false;
    }
    *value = *reader->at++;
    return true;
}

static bool
read_number(Reader *reader, uint32_t *value)
{
    uint32_t byte;
    unsigned shift = 0;
    *value = 0;
    do {
        if (!read_byte(reader, &byte) || shift > 24) {
            return false;
        }
        *value |= (byte & 63) << shift;
        shift += 6;
    } while (byte & 64);
    return true;
}

static bool
read_signed(Reader *reader, int64_t *value)
{
    uint32_t number;
    if (!read_number(reader, &number)) {
        return false;
    }
    *value = number & 1 ? -(int64_t)(number >> 1) : (int64_t)(number >> 1);
    return true;
}

/* The part of an entry behind its first byte.  `line` is the running line. */
static bool
read_location(Reader *reader, int form, int64_t *line, DtSpan *position, int64_t *end_line)
{
    uint32_t a;
    uint32_t b;
    int64_t change = 0;
    if (form <= FORM_SHORT_LAST) {
        if (!read_byte(reader, &a)) {
            return false;
        }
        position->col = form * 8 + (int32_t)(a >> 4);
        position->end_col = position->col + (int32_t)(a & 15);
    }
    else if (form <= FORM_LINE_LAST) {
        if (!read_byte(reader, &a) || !read_byte(reader, &b)) {
            return false;
        }
        change = form - FORM_LINE_FIRST;
        position->col = (int32_t)a;
        position->end_col = (int32_t)b;
    }
    else if (!read_signed(reader, &change)) {
        return false;
    }
    *line += change;
    *end_line = *line;
    if (form == FORM_LONG) {
        uint32_t more;
        if (!read_number(reader, &more) || !read_number(reader, &a) || !read_number(reader, &b)) {
            return false;
        }
        *end_line += more;
        position->col = (int32_t)a - 1;
        position->end_col = (int32_t)b - 1;
    }
    return true;
}

static DtStatus
decode_locations(DtArena *arena, const uint8_t *data, size_t size, int32_t firstlineno,
                 EntryVec *out)
{
    Reader reader = {data, data + size};
    int64_t line = firstlineno;
    uint32_t start = 0;
    while (reader.at < reader.end) {
        uint8_t first = *reader.at++;
        int form = (first >> 3) & 15;
        DtLineEntry entry = {start, start + ((first & 7) + 1) * 2u, {-1, -1, -1, -1}};
        if (!(first & 0x80)) {
            return broken("an entry does not begin where it should");
        }
        start = entry.end;
        if (form != FORM_NONE) {
            int64_t end_line = 0;
            if (!read_location(&reader, form, &line, &entry.position, &end_line)) {
                return broken("an entry is cut short");
            }
            DT_TRY(checked_line(line, &entry.position.line));
            DT_TRY(checked_line(end_line, &entry.position.end_line));
        }
        if (dt_vec_push(arena, out, entry) != 0) {
            return dt_no_memory();
        }
    }
    return DT_OK;
}

static int
push_number(DtArena *arena, ByteVec *out, uint32_t value)
{
    while (value >= 64) {
        if (dt_vec_push(arena, out, (uint8_t)(64 | (value & 63))) != 0) {
            return -1;
        }
        value >>= 6;
    }
    return dt_vec_push(arena, out, (uint8_t)value);
}

static int
push_signed(DtArena *arena, ByteVec *out, int64_t value)
{
    return push_number(arena, out, value < 0 ? ((uint32_t)-value << 1) | 1 : (uint32_t)value << 1);
}

static int
push_first(DtArena *arena, ByteVec *out, int form, uint32_t units)
{
    return dt_vec_push(arena, out, (uint8_t)(0x80 | (form << 3) | (units - 1)));
}

static int
push_two(DtArena *arena, ByteVec *out, int form, uint32_t units, int32_t a, int32_t b)
{
    if (push_first(arena, out, form, units) != 0 || dt_vec_push(arena, out, (uint8_t)a) != 0) {
        return -1;
    }
    return b < 0 ? 0 : dt_vec_push(arena, out, (uint8_t)b);
}

static int
push_long(DtArena *arena, ByteVec *out, uint32_t units, int64_t change, const DtSpan *p)
{
    int32_t more = p->end_line > p->line ? p->end_line - p->line : 0;
    if (push_first(arena, out, FORM_LONG, units) != 0 || push_signed(arena, out, change) != 0
        || push_number(arena, out, (uint32_t)more) != 0
        || push_number(arena, out, (uint32_t)(p->col + 1)) != 0) {
        return -1;
    }
    return push_number(arena, out, (uint32_t)(p->end_col + 1));
}

/* At most eight units, in the shortest form that holds the position. */
static int
encode_location(DtArena *arena, ByteVec *out, uint32_t units, int64_t change, const DtSpan *p)
{
    bool one_line = p->end_line == p->line || p->end_line < 0;
    bool columns = p->col >= 0 && p->end_col >= 0;
    if (p->line < 0) {
        return push_first(arena, out, FORM_NONE, units);
    }
    if (one_line && !columns) {
        return push_first(arena, out, FORM_NO_COLUMNS, units) != 0
                   ? -1
                   : push_signed(arena, out, change);
    }
    int32_t span = p->end_col - p->col;
    if (one_line && change == 0 && p->col < 80 && span >= 0 && span < 16) {
        return push_two(arena, out, p->col / 8, units, ((p->col % 8) << 4) | span, -1);
    }
    if (one_line && change >= 0 && change <= 2 && p->col < 128 && p->end_col < 128) {
        return push_two(arena, out, FORM_LINE_FIRST + (int)change, units, p->col, p->end_col);
    }
    return push_long(arena, out, units, change, p);
}

static int
encode_locations(DtArena *arena, const DtLineEntry *entries, uint32_t count, int32_t firstlineno,
                 ByteVec *out)
{
    int64_t line = firstlineno;
    for (uint32_t i = 0; i < count; i++) {
        const DtSpan *position = &entries[i].position;
        uint32_t units = (entries[i].end - entries[i].start) / 2;
        while (units > 0) {
            uint32_t now = units < UNITS_PER_ENTRY ? units : UNITS_PER_ENTRY;
            int64_t change = position->line < 0 ? 0 : position->line - line;
            if (encode_location(arena, out, now, change, position) != 0) {
                return -1;
            }
            line += change;
            units -= now;
        }
    }
    return 0;
}

/* --- both ---------------------------------------------------------------- */

DtStatus
dt_line_table_decode(DtArena *arena, DtLineFormat format, const uint8_t *data, size_t size,
                     int32_t firstlineno, DtLineEntry **entries, uint32_t *count)
{
    EntryVec out = {0};
    if (size > INT32_MAX / 256) {
        return broken("too long");
    }
    if (format == DT_LINES_PAIRS) {
        DT_TRY(decode_pairs(arena, data, size, firstlineno, &out));
    }
    else {
        DT_TRY(decode_locations(arena, data, size, firstlineno, &out));
    }
    *entries = out.items;
    *count = out.count;
    return DT_OK;
}

DtStatus
dt_line_table_encode(DtArena *arena, DtLineFormat format, const DtLineEntry *entries,
                     uint32_t count, int32_t firstlineno, uint8_t **data, size_t *size)
{
    ByteVec out = {0};
    int failed = format == DT_LINES_PAIRS
                     ? encode_pairs(arena, entries, count, firstlineno, &out)
                     : encode_locations(arena, entries, count, firstlineno, &out);
    if (failed) {
        return dt_no_memory();
    }
    *data = out.items;
    *size = out.count;
    return DT_OK;
}
