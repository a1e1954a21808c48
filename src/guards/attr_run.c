/* See attr_run.h: what is done when a run has changed, or fails. */
#include "guards/attr_run.h"

#include "guards/read.h"

int
dt_attr_run_blame(DtGuardProgram *program, const DtAttrRun *run, uint32_t i, PyObject *value,
                  PyObject **regs)
{
    int32_t origin = run->attrs[i].origins[value != NULL];
    if (origin >= 0) {
        regs[program->facts[origin].source - 1] = value;
    }
    program->failed = origin;
    return 0;
}

/* Puts the compared ones into the order of inline values; there are at most some tens. */
static void
sort_compared(DtAttrRun *run)
{
    for (uint32_t i = 1; i < run->ncompared; i++) {
        for (uint32_t j = i; j > 0 && run->hints[j - 1] > run->hints[j]; j--) {
            uint32_t hint = run->hints[j];
            PyObject *expected = run->expected[j];
            DtAttr attr = run->attrs[j];
            run->hints[j] = run->hints[j - 1];
            run->expected[j] = run->expected[j - 1];
            run->attrs[j] = run->attrs[j - 1];
            run->hints[j - 1] = hint;
            run->expected[j - 1] = expected;
            run->attrs[j - 1] = attr;
        }
    }
    uint32_t count = run->ncompared;
    run->first = count > 0 ? run->hints[0] : 0;
    run->side_by_side = count > 0 && run->hints[count - 1] - run->first == count - 1;
}

int
dt_attr_run_by_name(DtGuardProgram *program, DtAttrRun *run, PyObject *object, PyObject **regs)
{
    bool shared = dt_object_inline_values(object) != NULL;
    run->version = 0; /* what was remembered of it is overwritten */
    for (uint32_t i = 0; i < run->count; i++) {
        DtAttrPlace *place = run->attrs[i].place;
        PyObject *value = dt_read_own_attr(object, place);
        bool holds = i < run->ncompared ? dt_attr_run_is_expected(run, i, value)
                                        : dt_attr_run_take(run, i, value, regs);
        if (!holds) {
            return dt_attr_run_blame(program, run, i, value, regs);
        }
        if (i >= run->ncompared) {
            run->cached[i - run->ncompared] = value;
        }
        run->hints[i] = (uint32_t)place->hint;
        shared = shared && place->shared;
    }
    PyObject *dict = dt_object_existing_dict(object);
    run->version = dict != NULL ? dt_dict_version(dict) : 0;
    run->shared = shared;
    if (shared) {
        sort_compared(run);
    }
    return 1;
}
