/* The one place that includes Python.h.
 *
 * Everything above core/ gets CPython through this file, so that the order of
 * the includes and the private headers are decided once.  The build defines
 * Py_BUILD_CORE_MODULE on the command line: defined later, the private headers
 * of 3.11 and 3.12 clash with the public ones.
 *
 * Not in here: functions.  Layout knowledge is spread over the compat/ files
 * that name what they mirror.  Opcode metadata headers (pycore_opcode*.h) hold
 * data, not declarations, and are included by nobody.
 */
#ifndef DT_COMPAT_PYTHON_H
#define DT_COMPAT_PYTHON_H

#ifndef Py_BUILD_CORE_MODULE
#error "compile with -DPy_BUILD_CORE_MODULE"
#endif

#ifndef PY_SSIZE_T_CLEAN
#define PY_SSIZE_T_CLEAN
#endif

/* CPython's headers are not written for our warning flags. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"
#pragma GCC diagnostic ignored "-Wstrict-prototypes"
#pragma GCC diagnostic ignored "-Wextra"
#pragma GCC diagnostic ignored "-Wunused-parameter"
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"

#include <Python.h>

#if PY_VERSION_HEX < 0x030A0000 || PY_VERSION_HEX >= 0x030E0000
#error "dyntrace knows the layouts of CPython 3.10 to 3.13 only"
#endif
#ifdef Py_GIL_DISABLED
#error "free-threaded builds of CPython are not supported"
#endif

#include <frameobject.h>
#include <structmember.h>

/* 3.12's and 3.13's syntax-tree headers come along with these and typedef everyday words,
 * which -Wshadow then refuses as the name of any variable. */
#define constant dt_asdl_constant
#define identifier dt_asdl_identifier
#define object dt_asdl_object
#define string dt_asdl_string
#include "internal/pycore_ceval.h"
#include "internal/pycore_code.h"
#include "internal/pycore_interp.h"
#include "internal/pycore_object.h"
#include "internal/pycore_pystate.h"
#if PY_VERSION_HEX >= 0x030B0000
#include "internal/pycore_dict.h"
#include "internal/pycore_frame.h"
#include "internal/pycore_function.h"
#endif
#undef constant
#undef identifier
#undef object
#undef string

#pragma GCC diagnostic pop

/* Names for the versions, so that `#if` lines read as sentences. */
#define DT_PY310 (PY_VERSION_HEX < 0x030B0000)
#define DT_PY311 (PY_VERSION_HEX >= 0x030B0000 && PY_VERSION_HEX < 0x030C0000)
#define DT_PY312 (PY_VERSION_HEX >= 0x030C0000 && PY_VERSION_HEX < 0x030D0000)
#define DT_PY313 (PY_VERSION_HEX >= 0x030D0000)

#define DT_PY_AT_LEAST(major, minor) (PY_VERSION_HEX >= (((major) << 24) | ((minor) << 16)))

#endif
