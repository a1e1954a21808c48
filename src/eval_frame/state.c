/* See state.h. */
#include "eval_frame/state.h"

#include <string.h>

#include "backend/backend.h"
#include "core/clock.h"

DtState dt_state;

static const char *const log_names[DT_LOG_COUNT] = {
#define LOG(NAME, TEXT) TEXT,
    DT_LOG_ARTIFACTS(LOG)
#undef LOG
};

static int
unknown_log(const char *name, size_t length)
{
    DtStrbuf text = {0};
    dt_strbuf_add(&text, "DYNTRACE_LOGS: unknown name '");
    dt_strbuf_addn(&text, name, length);
    dt_strbuf_add(&text, "'; known are");
    for (int i = 0; i < DT_LOG_COUNT; i++) {
        dt_strbuf_addf(&text, "%s %s", i ? "," : "", log_names[i]);
    }
    PyErr_SetString(PyExc_ValueError, dt_strbuf_text(&text));
    dt_strbuf_release(&text);
    return -1;
}

int
dt_state_set_logs(const char *names)
{
    uint32_t logs = 0;
    while (*names != '\0') {
        size_t length = strcspn(names, ",");
        int found = -1;
        for (int i = 0; i < DT_LOG_COUNT; i++) {
            if (strlen(log_names[i]) == length && memcmp(log_names[i], names, length) == 0) {
                found = i;
            }
        }
        if (found >= 0) {
            logs |= 1u << found;
        }
        else if (length != 0) {
            return unknown_log(names, length);
        }
        names += length;
        names += *names == ',';
    }
    dt_state.logs = logs;
    return 0;
}

int
dt_state_init(void)
{
    dt_state.trace_options = dt_trace_default_options;
    dt_state.rest_until_ns = INT64_MAX;
    dt_state.recompile_limit = 8;
    dt_state.recompile_total_limit = 256;
    dt_state.guess_limit = 8;
    dt_state.translate_loops = true;
    dt_state.attempt_limit = 4;
    dt_state.hot_count = 3;
    dt_state.weigh_after = 8;
    dt_state.replay = dt_replay_sentinel;
    dt_state.name_key = PyUnicode_InternFromString("__name__");
    return dt_state.name_key != NULL ? 0 : -1;
}

int
dt_state_load(void)
{
    PyObject *errors = PyImport_ImportModule("dyntrace._errors");
    if (errors == NULL) {
        return -1;
    }
    Py_XSETREF(dt_state.unsupported, PyObject_GetAttrString(errors, "Unsupported"));
    Py_XSETREF(dt_state.recompile_error, PyObject_GetAttrString(errors, "RecompileError"));
    Py_XSETREF(dt_backend_error, PyObject_GetAttrString(errors, "BackendError"));
    Py_DECREF(errors);
    dt_state.loaded = dt_state.unsupported != NULL && dt_state.recompile_error != NULL
                      && dt_backend_error != NULL && dt_variables_load() == 0;
    return dt_state.loaded ? 0 : -1;
}
