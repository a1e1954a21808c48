/* Slots of Python adapters for arrays and guards; private to adapters/. */
#ifndef DT_ADAPTERS_PYTHON_ARRAYS_H
#define DT_ADAPTERS_PYTHON_ARRAYS_H

#include "variables/adapter.h"

/* As in DtAdapter. */
bool dt_python_is_array(const DtAdapter *adapter, PyObject *object);
bool dt_python_owns_callable(const DtAdapter *adapter, PyObject *object);
DtStatus dt_python_build(const DtAdapter *adapter, DtTrace *trace, PyObject *object,
                         const DtSource *source, DtVar **out) DT_MUST_CHECK;
int dt_python_check(const DtAdapter *adapter, const void *data, PyObject *object);
void dt_python_print_guard(const DtAdapter *adapter, const void *data, DtStrbuf *buf);
void dt_python_print_found(const DtAdapter *adapter, PyObject *object, DtStrbuf *buf);
int64_t dt_python_dim(const DtAdapter *adapter, PyObject *object, int dim);
PyObject *dt_python_spec_to_object(const DtAdapter *adapter, const void *data);
DtStatus dt_python_spec_from_object(const DtAdapter *adapter, DtTrace *trace, PyObject *object,
                                    void **spec, size_t *size) DT_MUST_CHECK;
DtStatus dt_python_guard_state(const DtAdapter *adapter, DtTrace *trace) DT_MUST_CHECK;
int dt_python_check_state(const DtAdapter *adapter, const void *data);

#endif
