/* See messages.h. */
#include "compat/messages.h"

const bool dt_messages_close_returns_value = DT_PY_AT_LEAST(3, 13);
const bool dt_messages_throw_warns = DT_PY_AT_LEAST(3, 12);

#if DT_PY310
const DtWithMessages dt_messages_with = {
    &PyExc_AttributeError, "__enter__", "__exit__", "__enter__", "__exit__",
};
const DtWithMessages dt_messages_async_with = {
    &PyExc_AttributeError, "__aenter__", "__aexit__", "__aenter__", "__aexit__",
};
const char dt_messages_unbound_local[] = "local variable '%U' referenced before assignment";
const char dt_messages_unbound_free[] =
    "free variable '%U' referenced before assignment in enclosing scope";
#else
const char dt_messages_unbound_local[] =
    "cannot access local variable '%U' where it is not associated with a value";
const char dt_messages_unbound_free[] =
    "cannot access free variable '%U' where it is not associated with a value in enclosing scope";
const DtWithMessages dt_messages_with = {
    &PyExc_TypeError,
    "__enter__",
    "__exit__",
    "'%.200s' object does not support the context manager protocol",
    "'%.200s' object does not support the context manager protocol (missed __exit__ method)",
};
const DtWithMessages dt_messages_async_with = {
    &PyExc_TypeError,
    "__aenter__",
    "__aexit__",
    "'%.200s' object does not support the asynchronous context manager protocol",
    "'%.200s' object does not support the asynchronous context manager protocol "
    "(missed __aexit__ method)",
};
#endif

#if DT_PY310 || DT_PY311
const char dt_messages_match_class[] = "called match pattern must be a type";
#else
const char dt_messages_match_class[] = "called match pattern must be a class";
#endif

PyObject *
dt_messages_slot_owner(PyTypeObject *type)
{
    /* PyMember_GetOne() prints tp_name, and "%T" since 3.13. */
#if DT_PY_AT_LEAST(3, 13)
    return PyType_GetFullyQualifiedName(type);
#else
    return PyUnicode_FromString(type->tp_name);
#endif
}
