/* Many attributes of one object, read and checked at once.
 *
 *   inline values:  compared ones side by side ── memcmp ──┐
 *                   the others, one by one ────────────────┤
 *   a dict:         its version is that of last time ──────┼──► holds
 *   else:           each by its name ──────────────────────┘
 *
 * A dict of the same version holds the very objects that it held when all was as expected, so
 * that only the types of loaded ones are left to ask: __class__ can be assigned.
 * Not in here: making runs (lower_runs.c).
 */
#ifndef DT_GUARDS_ATTR_RUN_H
#define DT_GUARDS_ATTR_RUN_H

#include "guards/internal.h"

#include <string.h>

#include "compat/object.h"

/* Whether a container was touched since it was verified; the stress build looks at it every time.
 */
#ifdef DT_STRESS
#define DT_TOUCHED(version, verified) ((void)(version), (void)(verified), true)
#else
#define DT_TOUCHED(version, verified) DT_UNLIKELY((version) != (verified))
#endif

/* 1: all is as expected; else 0, and program->failed tells what is not, if it is an attribute. */
int dt_attr_run_by_name(DtGuardProgram *program, DtAttrRun *run, PyObject *object,
                        PyObject **regs) DT_MUST_CHECK;
/* The attribute of a run that does not hold; what was found in its place is for explanations. */
int dt_attr_run_blame(DtGuardProgram *program, const DtAttrRun *run, uint32_t i, PyObject *value,
                      PyObject **regs) DT_MUST_CHECK;

/* One that is only compared: is it what was expected? */
static inline bool
dt_attr_run_is_expected(const DtAttrRun *run, uint32_t i, PyObject *value)
{
    return DT_LIKELY(value == run->expected[i])
           || (value != NULL && run->attrs[i].by_value
               && dt_recipe_same_constant(value, run->expected[i]));
}

/* One that is loaded: is it there, and of the type that was expected? */
static inline bool
dt_attr_run_take(const DtAttrRun *run, uint32_t i, PyObject *value, PyObject **regs)
{
    regs[run->regs[i - run->ncompared]] = value;
    PyTypeObject *type = (PyTypeObject *)run->expected[i];
    return value != NULL && (type == NULL || Py_TYPE(value) == type);
}

static inline int
dt_attr_run_of_dict(DtGuardProgram *program, DtAttrRun *run, PyObject *object, PyObject **regs)
{
    PyObject *dict = dt_object_existing_dict(object);
    if (dict == NULL || DT_TOUCHED(dt_dict_version(dict), run->version)) {
        return dt_attr_run_by_name(program, run, object, regs);
    }
    for (uint32_t i = run->ncompared; i < run->count; i++) {
        PyObject *value = run->cached[i - run->ncompared];
        if (DT_UNLIKELY(!dt_attr_run_take(run, i, value, regs))) {
            return dt_attr_run_blame(program, run, i, value, regs);
        }
    }
    return 1;
}

static inline int
dt_attr_run(DtGuardProgram *program, DtAttrRun *run, PyObject *object, PyObject **regs)
{
    if (DT_UNLIKELY(Py_TYPE(object) != run->type)) {
        return 0;
    }
    PyObject **values = dt_object_inline_values(object);
    if (values == NULL) {
        return dt_attr_run_of_dict(program, run, object, regs);
    }
    if (DT_UNLIKELY(!run->shared)) {
        return dt_attr_run_by_name(program, run, object, regs);
    }
    uint32_t i = 0;
    if (DT_LIKELY(run->side_by_side)
        && memcmp(values + run->first, run->expected, run->ncompared * sizeof(*values)) == 0) {
        i = run->ncompared;
    }
    for (; i < run->ncompared; i++) {
        PyObject *value = values[run->hints[i]];
        if (DT_UNLIKELY(!dt_attr_run_is_expected(run, i, value))) {
            return dt_attr_run_blame(program, run, i, value, regs);
        }
    }
    for (; i < run->count; i++) {
        PyObject *value = values[run->hints[i]];
        if (DT_UNLIKELY(!dt_attr_run_take(run, i, value, regs))) {
            return dt_attr_run_blame(program, run, i, value, regs);
        }
    }
    return 1;
}

#endif
