/* The adapters of this process, in order of registration.
 *
 * Asked for every object that a trace builds a tracker for, so it is a plain
 * array; the extension refuses sub-interpreters, hence one array is enough.
 * Changed under the GIL only; an adapter lives as long as it is registered and
 * as long as traces and programs that use it (C adapters: for ever; Python ones
 * are kept by adapters/python.c).
 */
#include "variables/adapter.h"

#include <string.h>

static const DtAdapter *adapters[DT_MAX_ADAPTERS];
static uint32_t adapter_count;

int
dt_adapter_register(const DtAdapter *adapter)
{
    if (adapter_count == DT_MAX_ADAPTERS) {
        PyErr_Format(PyExc_RuntimeError, "adapter '%s': no more than %d adapters can be registered",
                     adapter->name, DT_MAX_ADAPTERS);
        return -1;
    }
    if (dt_adapter_by_name(adapter->name) != NULL) {
        PyErr_Format(PyExc_ValueError, "an adapter named '%s' is registered already",
                     adapter->name);
        return -1;
    }
    adapters[adapter_count++] = adapter;
    return 0;
}

void
dt_adapter_unregister(const DtAdapter *adapter)
{
    for (uint32_t i = 0; i < adapter_count; i++) {
        if (adapters[i] == adapter) {
            adapter_count--;
            memmove(&adapters[i], &adapters[i + 1], sizeof(adapters[0]) * (adapter_count - i));
            return;
        }
    }
}

const DtAdapter *
dt_adapter_of_array(PyObject *object)
{
    for (uint32_t i = 0; i < adapter_count; i++) {
        if (adapters[i]->is_array(adapters[i], object)) {
            return adapters[i];
        }
    }
    return NULL;
}

const DtAdapter *
dt_adapter_of_callable(PyObject *object)
{
    for (uint32_t i = 0; i < adapter_count; i++) {
        if (adapters[i]->owns_callable(adapters[i], object)) {
            return adapters[i];
        }
    }
    return NULL;
}

bool
dt_adapter_is_fixed(PyObject *object)
{
    for (uint32_t i = 0; i < adapter_count; i++) {
        if (adapters[i]->is_fixed != NULL && adapters[i]->is_fixed(adapters[i], object)) {
            return true;
        }
    }
    return false;
}

const DtAdapter *
dt_adapter_by_name(const char *name)
{
    for (uint32_t i = 0; i < adapter_count; i++) {
        if (strcmp(adapters[i]->name, name) == 0) {
            return adapters[i];
        }
    }
    return NULL;
}
