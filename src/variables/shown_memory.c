/* Bytes that a trace knows by value, and arrays that may show the same memory.
 *
 *   an array is built      ──► compared with each bytearray of the trace
 *   a bytearray is built   ──► compared with each array of the trace
 *
 *   one shows the other's memory: a break; none does: so it is guarded (APART)
 *
 * The contents of a bytearray are known while tracing and written when the trace ends; arrays are
 * read and written by the graph.  Where both are one memory neither would see the other's writes.
 * Addresses are compared, since nothing else tells: np.ndarray(buffer=b) gives the buffer back at
 * once, so that b counts none.
 *
 * Not in here: buffers that a bytearray counts (v_bytearray.c); arrays that show each other's
 * memory (the backend asks at each call).
 */
#include "variables/kinds.h"

bool
dt_memory_shows(const DtAdapter *adapter, PyObject *array, PyObject *bytes)
{
    const char *low, *high;
    if (!PyByteArray_CheckExact(bytes) || !adapter->extent(adapter, array, &low, &high)) {
        return false;
    }
    const char *start = PyByteArray_AS_STRING(bytes);
    return low < start + PyByteArray_GET_SIZE(bytes) && start < high;
}

static DtStatus
keep_apart(DtTrace *trace, const DtShowing *array, const DtShowing *bytes)
{
    if (dt_memory_shows(array->adapter, array->object, bytes->object)) {
        return dt_break(trace, DT_BREAK_MISSING_SLOT,
                        "a bytearray beside an array that may show its memory");
    }
    return dt_guard_apart(trace, array->adapter, array->source, bytes->source);
}

DtStatus
dt_memory_of_array(DtTrace *trace, const DtAdapter *adapter, PyObject *array,
                   const DtSource *source)
{
    DtShowing showing = {adapter, array, source};
    if (adapter->extent == NULL) {
        return DT_OK;
    }
    for (uint32_t i = 0; i < trace->bytes_built.count; i++) {
        DT_TRY(keep_apart(trace, &showing, &trace->bytes_built.items[i]));
    }
    return dt_vec_push(&trace->arena, &trace->arrays_built, showing) == 0 ? DT_OK : dt_no_memory();
}

DtStatus
dt_memory_of_bytes(DtTrace *trace, PyObject *bytes, const DtSource *source)
{
    DtShowing shown = {NULL, bytes, source};
    for (uint32_t i = 0; i < trace->arrays_built.count; i++) {
        DT_TRY(keep_apart(trace, &trace->arrays_built.items[i], &shown));
    }
    return dt_vec_push(&trace->arena, &trace->bytes_built, shown) == 0 ? DT_OK : dt_no_memory();
}
