/* Generators of random numbers as graph values: what no one of them can do.
 *
 * A generator is to the graph what an array is that a draw writes, without dtype and dimensions: an
 * input or a new one, mutated by each draw, so that draws keep their order and a run that is
 * dropped can put its state back.  It is true; everything else that arrays can do is a graph break.
 */
#ifndef DT_ADAPTERS_GENERATORS_H
#define DT_ADAPTERS_GENERATORS_H

#include "variables/adapter.h"

/* Slots of DtAdapter. */
DtStatus dt_generators_binary(const DtAdapter *, DtTrace *, DtBinaryOp, DtVar *l, DtVar *r,
                              DtVar **out) DT_MUST_CHECK;
DtStatus dt_generators_compare(const DtAdapter *, DtTrace *, int op, DtVar *l, DtVar *r,
                               DtVar **out) DT_MUST_CHECK;
DtStatus dt_generators_unary(const DtAdapter *, DtTrace *, const char *op, DtArrayVar *,
                             DtVar **out) DT_MUST_CHECK;
DtStatus dt_generators_truth(const DtAdapter *, DtTrace *, DtArrayVar *, bool *out) DT_MUST_CHECK;
DtStatus dt_generators_ask(const DtAdapter *, DtTrace *, DtArrayVar *, DtVar **out) DT_MUST_CHECK;
DtStatus dt_generators_subscript(const DtAdapter *, DtTrace *, DtArrayVar *, DtVar *key,
                                 DtVar **out) DT_MUST_CHECK;
DtStatus dt_generators_ass_subscript(const DtAdapter *, DtTrace *, DtArrayVar *, DtVar *key,
                                     DtVar *value) DT_MUST_CHECK;
int64_t dt_generators_dim(const DtAdapter *, PyObject *object, int dim);

#define DT_GENERATOR_REFUSALS                                                                      \
    .binary = dt_generators_binary, .compare = dt_generators_compare,                              \
    .unary = dt_generators_unary, .truth = dt_generators_truth, .length = dt_generators_ask,       \
    .subscript = dt_generators_subscript, .ass_subscript = dt_generators_ass_subscript,            \
    .iter = dt_generators_ask, .dim = dt_generators_dim

#endif
