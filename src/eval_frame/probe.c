/* A probe: asks, in front of an instruction of a driver, whether a segment begins here.
 *
 *   asleep? watched? ─► plain
 *   the frame's memory ─► guards of the point's entries ─► graph ─► effects, places ─► landing
 *                              └► none: trace, then the same
 *
 * Not in here: points and drivers (broken.c), running an entry (dispatch.c).
 */
#include "compat/tracing.h"
#include "eval_frame/broken.h"
#include "eval_frame/dispatch.h"
#include "eval_frame/investment.h"
#include "eval_frame/policy.h"
#include "eval_frame/running_loops.h"
#include "eval_frame/scalar_loop.h"

static PyObject *
run_probe(DtProbe *self, DtPoint *point, DtPyFrame *frame, const DtPyFrameParts *parts)
{
    DtSegmentCall segment = {&self->site, frame, parts->memory};
    DtGuardFrame guarded = {parts->memory, parts->globals, parts->builtins, parts->called};
    DtEntry *framed = NULL;
    PyObject *answer = NULL;
    if (point->loop != NULL && dt_scalar_loop_run(point, &self->site, frame, &guarded, &answer)) {
        return answer;
    }
    DtDispatch found = dt_dispatch_find(&point->cache, &guarded, &segment, &framed, &answer);
    if (found == DT_DISPATCH_MISS) {
        int may = dt_policy_may_compile(&point->cache, &guarded);
        if (may > 0 && dt_scalar_loop_compile(point, &self->site, &guarded)
            && dt_scalar_loop_run(point, &self->site, frame, &guarded, &answer)) {
            return answer;
        }
        if (may != 0) {
            found = may < 0
                        ? DT_DISPATCH_ERROR
                        : dt_dispatch_compile(&point->cache, &guarded, &segment, &framed, &answer);
        }
    }
    switch (found) {
    case DT_DISPATCH_DONE:
        return answer;
    case DT_DISPATCH_ERROR:
        return NULL;
    default:
        return dt_driver_plain(&self->site);
    }
}

static PyObject *
probe_next(PyObject *object)
{
    DtProbe *self = (DtProbe *)object;
    DtPoint *point = self->point;
    if (point == NULL) {
        return dt_driver_plain(&self->site);
    }
    if (dt_investment_skips(&point->cache)) {
        return dt_driver_plain(&self->site);
    }
    PyThreadState *tstate = PyThreadState_GET();
    DtPyFrame *frame = dt_pyframe_current(tstate);
    if (dt_broken_sleeps(point)) {
        if (frame != NULL && dt_pyframe_code(frame) == self->driver) {
            dt_driver_switch(self->driver, &self->site, true);
        }
        return dt_driver_plain(&self->site);
    }
    DtPyFrameParts parts = {0};
    if (DT_LIKELY(frame != NULL)) {
        dt_pyframe_read(frame, &parts);
    }
    if (DT_UNLIKELY(parts.code == NULL || parts.code != self->driver || dt_tracing_is_active(tstate)
                    || dt_tracing_code_is_watched(point->cache.code)
                    || dt_tracing_code_is_watched(self->driver))) {
        return dt_driver_plain(&self->site);
    }
    if (point->broken->entering && !dt_running_loops_is_hot(point, frame)) {
        return dt_driver_plain(&self->site);
    }
    if (DT_UNLIKELY(dt_scale_is_due(&point->cache.scale)) && !dt_broken_weigh(point, frame)) {
        return dt_driver_plain(&self->site);
    }
    DtRegion *region = point->cache.region;
    Py_INCREF(region); /* what runs now can let go of the function */
    PyObject *answer = run_probe(self, point, frame, &parts);
    Py_DECREF(region);
    return answer;
}

PyTypeObject DtProbe_Type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "dyntrace._core.Probe",
    .tp_basicsize = sizeof(DtProbe),
    .tp_dealloc = (destructor)PyObject_Free,
    .tp_iter = PyObject_SelfIter,
    .tp_iternext = probe_next,
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .tp_doc = "Stands in front of an instruction of a function that breaks.",
};
