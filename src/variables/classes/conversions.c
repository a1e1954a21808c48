/* Objects of user classes as numbers: through the special methods that CPython would call.
 *
 * A result of a subclass, of which CPython warns, and one of another type, which it refuses, are
 * left to plain execution.
 */
#include <string.h>

#include "variables/kinds.h"

typedef struct Conversion {
    const char *name;
    PyTypeObject *exact; /* what the method has to give */
} Conversion;

static const Conversion conversions[] = {
    {"__complex__", &PyComplex_Type},
    {"__float__", &PyFloat_Type},
    {"__index__", &PyLong_Type},
    {"__int__", &PyLong_Type},
};

/* NULL: anything will do. */
static PyTypeObject *
exact_result(const char *name)
{
    for (size_t i = 0; i < sizeof(conversions) / sizeof(conversions[0]); i++) {
        if (strcmp(conversions[i].name, name) == 0) {
            return conversions[i].exact;
        }
    }
    return NULL;
}

DtStatus
dt_instance_convert(DtTrace *trace, DtVar *instance, const char *const *names, DtVar **out)
{
    DtVar *method = NULL;
    for (; *names != NULL; names++) {
        DT_TRY(dt_instance_special(trace, instance, *names, &method));
        if (method != NULL) {
            break;
        }
    }
    *out = NULL;
    if (method == NULL) {
        return DT_OK;
    }
    const DtArgs none = {0};
    DT_TRY(dt_var_call(trace, method, &none, out));
    DT_TRY(dt_var_realize(trace, *out, out));
    PyTypeObject *exact = exact_result(*names);
    return exact == NULL || dt_var_python_type(trace, *out) == exact
               ? DT_OK
               : dt_break(trace, DT_BREAK_MISSING_SLOT, "%s() that gives a %s", *names,
                          dt_kinds_type_name(trace, *out));
}
