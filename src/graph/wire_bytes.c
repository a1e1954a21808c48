/* Numbers and texts from the bytes of a graph, each checked against its range and what is left. */
#include "graph/wire_read.h"

DtStatus
dt_wire_bad(const char *what)
{
    PyErr_Format(PyExc_ValueError, "these bytes are no graph: %s", what);
    return DT_ERROR;
}

DtStatus
dt_wire_get_byte(DtWireReader *reader, uint8_t *out)
{
    if (reader->next == reader->end) {
        return dt_wire_bad("they end too early");
    }
    *out = *reader->next++;
    return DT_OK;
}

DtStatus
dt_wire_get_choice(DtWireReader *reader, uint32_t limit, uint8_t *out)
{
    DT_TRY(dt_wire_get_byte(reader, out));
    return *out < limit ? DT_OK : dt_wire_bad("a number out of its range");
}

static DtStatus
get_uint64(DtWireReader *reader, uint64_t *out)
{
    *out = 0;
    for (int shift = 0; shift < 64; shift += 7) {
        uint8_t byte;
        DT_TRY(dt_wire_get_byte(reader, &byte));
        *out |= (uint64_t)(byte & 0x7F) << shift;
        if (!(byte & 0x80)) {
            return DT_OK;
        }
    }
    return dt_wire_bad("a number that does not end");
}

DtStatus
dt_wire_get_int(DtWireReader *reader, int64_t *out)
{
    uint64_t bits;
    DT_TRY(get_uint64(reader, &bits));
    *out = (int64_t)(bits >> 1) ^ -(int64_t)(bits & 1);
    return DT_OK;
}

DtStatus
dt_wire_get_below(DtWireReader *reader, uint64_t limit, uint32_t *out)
{
    uint64_t value;
    DT_TRY(get_uint64(reader, &value));
    if (value >= limit || value > UINT32_MAX) {
        return dt_wire_bad("a number out of its range");
    }
    *out = (uint32_t)value;
    return DT_OK;
}

DtStatus
dt_wire_get_count(DtWireReader *reader, uint32_t *out)
{
    return dt_wire_get_below(reader, (uint64_t)(reader->end - reader->next) + 1, out);
}

DtStatus
dt_wire_get_int32(DtWireReader *reader, int *out)
{
    int64_t value;
    DT_TRY(dt_wire_get_int(reader, &value));
    if (value < INT32_MIN || value > INT32_MAX) {
        return dt_wire_bad("a number out of its range");
    }
    *out = (int)value;
    return DT_OK;
}

DtStatus
dt_wire_get_data(DtWireReader *reader, const char **data, uint32_t *size)
{
    DT_TRY(dt_wire_get_count(reader, size));
    if (*size > (size_t)(reader->end - reader->next)) {
        return dt_wire_bad("they end too early");
    }
    *data = (const char *)reader->next;
    reader->next += *size;
    return DT_OK;
}

DtStatus
dt_wire_get_double(DtWireReader *reader, double *out)
{
    uint64_t bits = 0;
    for (int i = 0; i < 8; i++) {
        uint8_t byte;
        DT_TRY(dt_wire_get_byte(reader, &byte));
        bits |= (uint64_t)byte << (8 * i);
    }
    memcpy(out, &bits, sizeof bits);
    return DT_OK;
}

DtStatus
dt_wire_get_text(DtWireReader *reader, DtGraph *graph, const char **out)
{
    const char *data;
    uint32_t size;
    DT_TRY(dt_wire_get_data(reader, &data, &size));
    char *text = dt_arena_alloc(&graph->arena, (size_t)size + 1);
    if (text == NULL) {
        return dt_no_memory();
    }
    memcpy(text, data, size);
    text[size] = '\0';
    *out = text;
    return DT_OK;
}

DtStatus
dt_wire_get_optional(DtWireReader *reader, DtGraph *graph, const char **out)
{
    uint8_t there;
    DT_TRY(dt_wire_get_choice(reader, 2, &there));
    *out = NULL;
    return there ? dt_wire_get_text(reader, graph, out) : DT_OK;
}

DtStatus
dt_wire_enter(DtWireReader *reader)
{
    return ++reader->depth > DT_WIRE_DEPTH ? dt_wire_bad("they are nested too deeply") : DT_OK;
}
