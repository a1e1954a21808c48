/* Python numbers that the graph computes: what float(), int(), item() and the like take out of
 * arrays.
 *
 * Such a number is a graph value of an adapter of its own.  Arithmetic and the functions of
 * array_numbers.def are called nodes, whose results are exact Python objects; whatever raises drops
 * the run, and the call is made again plainly.  Its truth is a break, as an array's is.
 */
#ifndef DT_ADAPTERS_NUMBERS_H
#define DT_ADAPTERS_NUMBERS_H

#include "graph/graph.h"
#include "variables/adapter.h"
#include "variables/numbers/array_numbers.h"

extern const DtAdapter dt_number_adapter;

int dt_number_init(void); /* registers the adapter; -1 with an exception */

/* 'b', 'i', 'f' or 'c' for a value of bool, int, float or complex that the graph computes; 's' and
 * 'l' for a str and a list; 0 for anything else. */
char dt_number_kind(DtVar *var);
char dt_number_kind_of(const DtMeta *meta);
PyTypeObject *dt_number_type(char kind); /* NULL: no such kind */
char dt_number_kind_of_type(const PyTypeObject *type);

/* The kind of Python number that a realised tracker is, or that can be taken out of it (then
 * *array); 0: none. */
char dt_number_of(DtVar *var, bool *array);
/* Operands for trackers of numbers and of arrays with one; a graph break for anything else. */
DtStatus dt_number_operands(DtTrace *, DtVar *const *vars, uint32_t count,
                            DtOperand *out) DT_MUST_CHECK;

/* Metadata of a result of that kind. */
DtMeta dt_number_meta(char kind);
/* A pure call whose result is of that kind. */
DtStatus dt_number_emit(DtTrace *, const char *target, PyObject *callee, const DtOperand *args,
                        uint32_t nargs, char kind, DtVar **out) DT_MUST_CHECK;
PyObject *dt_number_function(const char *module, const char *name); /* DT_BORROWED; NULL: error */
/* The same of a function by its module and name; `target` is both. */
DtStatus dt_number_emit_named(DtTrace *, const char *module, const char *name, const char *target,
                              const DtOperand *args, uint32_t nargs, char kind,
                              DtVar **out) DT_MUST_CHECK;
/* The same with metadata that is not a number's. */
DtStatus dt_number_emit_meta(DtTrace *, const char *target, PyObject *callee, const DtOperand *args,
                             uint32_t nargs, const DtMeta *meta, DtVar **out) DT_MUST_CHECK;
/* A call of any effect, of one result. */
DtStatus dt_number_emit_spec(DtTrace *, const DtCallSpec *spec, DtVar **out) DT_MUST_CHECK;
/* The slot DtAdapter.expect. */
DtStatus dt_number_expect(DtTrace *, DtVar *value, DtExpect how, bool *done) DT_MUST_CHECK;
/* An int operand, checked to lie in low..high when the graph runs. */
DtStatus dt_number_fit(DtTrace *, int64_t low, int64_t high, DtOperand *operand) DT_MUST_CHECK;

/* The slot DtAdapter.text (numbers_text.c). */
DtStatus dt_number_text(DtTrace *, const char *function, DtVar *const *vars, uint32_t count,
                        DtVar **out) DT_MUST_CHECK;
/* The slot DtAdapter.number (numbers_functions.c). */
DtStatus dt_number_call(DtTrace *, const DtNumberRow *row, PyObject *callable, const DtArgs *args,
                        DtVar **out) DT_MUST_CHECK;

#endif
