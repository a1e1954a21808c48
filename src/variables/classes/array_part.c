/* See array_part.h. */
#include "variables/classes/array_part.h"

#include "variables/kinds.h"

static const DtArrayPart *registered;

void
dt_array_part_register(const DtArrayPart *part)
{
    registered = part;
}

const DtArrayPart *
dt_array_part_of(const PyTypeObject *base)
{
    return registered != NULL && registered->base == base ? registered : NULL;
}

const DtArrayPart *
dt_array_part_find(const DtInstanceVar *self)
{
    bool derives = registered != NULL && self->contents != NULL
                   && PyType_IsSubtype(self->cls, registered->base);
    return derives ? registered : NULL;
}
