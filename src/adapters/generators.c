/* See generators.h. */
#include "adapters/generators.h"

#include "variables/trace.h"

static DtStatus
refuse(DtTrace *trace)
{
    return dt_break(trace, DT_BREAK_ARRAY_OP, "an operation on a generator of random numbers");
}

DtStatus
dt_generators_binary(const DtAdapter *adapter, DtTrace *trace, DtBinaryOp op, DtVar *l, DtVar *r,
                     DtVar **out)
{
    (void)adapter, (void)op, (void)l, (void)r, (void)out;
    return refuse(trace);
}

DtStatus
dt_generators_compare(const DtAdapter *adapter, DtTrace *trace, int op, DtVar *l, DtVar *r,
                      DtVar **out)
{
    (void)adapter, (void)op, (void)l, (void)r, (void)out;
    return refuse(trace);
}

DtStatus
dt_generators_unary(const DtAdapter *adapter, DtTrace *trace, const char *op, DtArrayVar *self,
                    DtVar **out)
{
    (void)adapter, (void)op, (void)self, (void)out;
    return refuse(trace);
}

DtStatus
dt_generators_truth(const DtAdapter *adapter, DtTrace *trace, DtArrayVar *self, bool *out)
{
    (void)adapter, (void)trace, (void)self;
    *out = true;
    return DT_OK;
}

DtStatus
dt_generators_ask(const DtAdapter *adapter, DtTrace *trace, DtArrayVar *self, DtVar **out)
{
    (void)adapter, (void)self, (void)out;
    return refuse(trace);
}

DtStatus
dt_generators_subscript(const DtAdapter *adapter, DtTrace *trace, DtArrayVar *self, DtVar *key,
                        DtVar **out)
{
    (void)adapter, (void)self, (void)key, (void)out;
    return refuse(trace);
}

DtStatus
dt_generators_ass_subscript(const DtAdapter *adapter, DtTrace *trace, DtArrayVar *self, DtVar *key,
                            DtVar *value)
{
    (void)adapter, (void)self, (void)key, (void)value;
    return refuse(trace);
}

int64_t
dt_generators_dim(const DtAdapter *adapter, PyObject *object, int dim)
{
    (void)adapter, (void)object, (void)dim;
    return 0;
}
