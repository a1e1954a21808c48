/* The part of an instance that a builtin base keeps: of a subclass of list its
 * items, of a subclass of dict its entries.
 *
 * Not in here: attributes and operators of the instance (v_instance.c).
 */
#include "compat/type.h"
#include "variables/kinds.h"

DtVar *
dt_payload_of(DtVar *var)
{
    DtVar *payload = var->type->kind == DT_KIND_INSTANCE ? ((DtInstanceVar *)var)->payload : NULL;
    return payload != NULL ? payload : var;
}

PyTypeObject *
dt_build_layout(PyTypeObject *cls)
{
    if (cls == &PyBaseObject_Type || dt_build_is_user_class(cls)) {
        return &PyBaseObject_Type;
    }
    return NULL;
}
