/* See config.h: one row per setting. */
#include "module/config.h"

#include <stddef.h>
#include <string.h>

#include "core/workers.h"
#include "eval_frame/state.h"

typedef enum SettingType { SETTING_U32, SETTING_I64, SETTING_BOOL } SettingType;

typedef struct Setting {
    const char *name;
    SettingType type;
    void *place;
    long long least;
} Setting;

static const Setting settings[] = {
    {"inline_depth", SETTING_U32, &dt_state.trace_options.inline_depth, 0},
    {"unroll_limit", SETTING_U32, &dt_state.trace_options.unroll_limit, 0},
    {"unroll_nodes", SETTING_U32, &dt_state.trace_options.unroll_nodes, 0},
    {"trace_limit", SETTING_U32, &dt_state.trace_options.trace_limit, 1},
    {"trace_budget_ns", SETTING_I64, &dt_state.trace_options.budget_ns, 0},
    {"recompile_limit", SETTING_U32, &dt_state.recompile_limit, 0},
    {"recompile_total_limit", SETTING_U32, &dt_state.recompile_total_limit, 0},
    {"guess_limit", SETTING_U32, &dt_state.guess_limit, 0},
    {"error_on_recompile", SETTING_BOOL, &dt_state.error_on_recompile, 0},
    {"attempt_limit", SETTING_U32, &dt_state.attempt_limit, 1},
    {"hot_count", SETTING_U32, &dt_state.hot_count, 0},
    {"hot_ns", SETTING_I64, &dt_state.hot_ns, 0},
    {"weigh_after", SETTING_U32, &dt_state.weigh_after, 0},
    {"num_threads", SETTING_U32, &dt_workers_wanted, 0},
    {"strict", SETTING_BOOL, &dt_state.strict, 0},
    {"everything", SETTING_BOOL, &dt_state.everything, 0},
    {"translate_loops", SETTING_BOOL, &dt_state.translate_loops, 0},
};

static const Setting *
find_setting(PyObject *name)
{
    for (size_t i = 0; i < sizeof(settings) / sizeof(settings[0]); i++) {
        if (PyUnicode_Check(name)
            && PyUnicode_CompareWithASCIIString(name, settings[i].name) == 0) {
            return &settings[i];
        }
    }
    PyErr_Format(PyExc_AttributeError, "dyntrace.config has no setting %R", name);
    return NULL;
}

PyObject *
dt_config_get(PyObject *Py_UNUSED(module), PyObject *name)
{
    const Setting *setting = find_setting(name);
    if (setting == NULL) {
        return NULL;
    }
    switch (setting->type) {
    case SETTING_U32:
        return PyLong_FromUnsignedLong(*(uint32_t *)setting->place);
    case SETTING_I64:
        return PyLong_FromLongLong(*(int64_t *)setting->place);
    case SETTING_BOOL:
        break;
    }
    return PyBool_FromLong(*(bool *)setting->place);
}

static int
set_number(const Setting *setting, PyObject *value)
{
    if (!PyLong_Check(value) || PyBool_Check(value)) {
        PyErr_Format(PyExc_TypeError, "config.%s: expected an int, got %s", setting->name,
                     Py_TYPE(value)->tp_name);
        return -1;
    }
    long long number = PyLong_AsLongLong(value);
    if (number == -1 && PyErr_Occurred()) {
        return -1;
    }
    long long most = setting->type == SETTING_U32 ? (long long)UINT32_MAX : INT64_MAX;
    if (number < setting->least || number > most) {
        PyErr_Format(PyExc_ValueError, "config.%s: expected %lld to %lld, got %lld", setting->name,
                     setting->least, most, number);
        return -1;
    }
    if (setting->type == SETTING_U32) {
        *(uint32_t *)setting->place = (uint32_t)number;
    }
    else {
        *(int64_t *)setting->place = number;
    }
    return 0;
}

PyObject *
dt_config_set(PyObject *Py_UNUSED(module), PyObject *args)
{
    PyObject *name, *value;
    if (!PyArg_ParseTuple(args, "OO:set_config", &name, &value)) {
        return NULL;
    }
    const Setting *setting = find_setting(name);
    if (setting == NULL) {
        return NULL;
    }
    if (setting->type != SETTING_BOOL) {
        if (set_number(setting, value) < 0) {
            return NULL;
        }
    }
    else if (PyBool_Check(value)) {
        *(bool *)setting->place = value == Py_True;
    }
    else {
        PyErr_Format(PyExc_TypeError, "config.%s: expected a bool, got %s", setting->name,
                     Py_TYPE(value)->tp_name);
        return NULL;
    }
    Py_RETURN_NONE;
}
