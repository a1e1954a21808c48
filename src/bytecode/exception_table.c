/* Exception tables; see exception_table.h.
 *
 * Four numbers per entry: start, length, target, depth * 2 + lasti.  Numbers
 * are big-endian groups of six bits, bit 6 says "more"; bit 7 marks the first
 * byte of an entry and nothing else.
 */
#include "bytecode/exception_table.h"

#include "compat/errors.h"
#include "compat/python.h"
#include "core/vec.h"

enum { NUMBERS_PER_ENTRY = 4, NUMBER_LIMIT = 1 << 30 };

typedef DT_VEC(DtExceptionEntry) EntryVec;
typedef DT_VEC(uint8_t) ByteVec;

static DtStatus
broken(const char *what)
{
    PyErr_Format(PyExc_ValueError, "broken exception table: %s", what);
    return DT_ERROR;
}

/* `first`: the number opens an entry, so exactly its first byte has bit 7. */
static DtStatus
read_number(const uint8_t **at, const uint8_t *end, bool first, uint32_t *value)
{
    *value = 0;
    for (bool more = true; more; first = false) {
        if (*at == end) {
            return broken("an entry is cut short");
        }
        uint8_t byte = *(*at)++;
        if (((byte & 0x80) != 0) != first) {
            return broken("an entry does not begin where it should");
        }
        *value = *value << 6 | (byte & 63);
        if (*value >= NUMBER_LIMIT / 64 && byte & 64) {
            return broken("number out of range");
        }
        more = (byte & 64) != 0;
    }
    return DT_OK;
}

DtStatus
dt_exception_table_decode(DtArena *arena, const uint8_t *data, size_t size,
                          DtExceptionEntry **entries, uint32_t *count)
{
    EntryVec out = {0};
    const uint8_t *at = data;
    const uint8_t *end = data + size;
    while (at < end) {
        uint32_t number[NUMBERS_PER_ENTRY];
        for (int i = 0; i < NUMBERS_PER_ENTRY; i++) {
            DT_TRY(read_number(&at, end, i == 0, &number[i]));
        }
        DtExceptionEntry entry = {
            .start = number[0],
            .end = number[0] + number[1],
            .target = number[2],
            .depth = number[3] >> 1,
            .lasti = number[3] & 1,
        };
        if (dt_vec_push(arena, &out, entry) != 0) {
            return dt_no_memory();
        }
    }
    *entries = out.items;
    *count = out.count;
    return DT_OK;
}

static int
push_number(DtArena *arena, ByteVec *out, uint32_t value, bool first)
{
    int shift = 0;
    while (shift < 24 && value >> (shift + 6)) {
        shift += 6;
    }
    for (; shift >= 0; shift -= 6) {
        uint8_t byte = (uint8_t)((value >> shift) & 63);
        byte |= shift ? 64 : 0;
        byte |= first ? 0x80 : 0;
        first = false;
        if (dt_vec_push(arena, out, byte) != 0) {
            return -1;
        }
    }
    return 0;
}

DtStatus
dt_exception_table_encode(DtArena *arena, const DtExceptionEntry *entries, uint32_t count,
                          uint8_t **data, size_t *size)
{
    ByteVec out = {0};
    for (uint32_t i = 0; i < count; i++) {
        const DtExceptionEntry *entry = &entries[i];
        if (push_number(arena, &out, entry->start, true) != 0
            || push_number(arena, &out, entry->end - entry->start, false) != 0
            || push_number(arena, &out, entry->target, false) != 0
            || push_number(arena, &out, entry->depth << 1 | entry->lasti, false) != 0) {
            return dt_no_memory();
        }
    }
    *data = out.items;
    *size = out.count;
    return DT_OK;
}
