/* Builtin functions, and the rows for what they do when called. */
#ifndef DT_VARIABLES_BUILTINS_H
#define DT_VARIABLES_BUILTINS_H

#include "variables/adapter.h"
#include "variables/classes/payloads.h"
#include "variables/trace.h"

/* ---- Builtin functions ----------------------------------------------------------------------- */

/* hash(var) and reversed(var) (builtins.c). */
DtStatus dt_builtin_hash(DtTrace *trace, DtVar *var, DtVar **out) DT_MUST_CHECK;
DtStatus dt_builtin_reversed(DtTrace *trace, DtVar *var, DtVar **out) DT_MUST_CHECK;
DtStatus dt_builtin_build(DtTrace *, PyObject *, const DtSource *, bool, DtVar **);
/* A class method of a builtin type, bound to it. */
DtStatus dt_builtin_class_method(DtTrace *trace, PyTypeObject *type, PyObject *name,
                                 DtVar **out) DT_MUST_CHECK;
/* What a builtin object does when called; NULL when there is no row. */
const DtMethodRow *dt_builtin_find(PyObject *object);
/* Breaks at a call of the function: `before`, its name with parentheses, and what is said of it. */
DtStatus dt_builtin_break(DtTrace *trace, PyObject *function, DtBreakId id, const char *before,
                          const char *after) DT_MUST_CHECK;
/* Rows for the functions of one module. */
typedef struct DtBuiltinTable {
    const char *module;
    const DtMethodRow *rows; /* ends with a NULL name */
} DtBuiltinTable;
extern const DtBuiltinTable dt_builtin_sys_table;         /* builtins_sys.c */
extern const DtBuiltinTable dt_builtin_warnings_table;    /* builtins_sys.c */
extern const DtBuiltinTable dt_builtin_abc_table;         /* class_hooks.c */
extern const DtBuiltinTable dt_builtin_classes_table;     /* class_statement.c */
extern const DtBuiltinTable dt_builtin_descriptors_table; /* made_descriptors.c */
extern const DtBuiltinTable dt_builtin_check_table,
    dt_builtin_abc_check_table; /* instance_check.c */
extern const DtBuiltinTable dt_builtin_table, dt_builtin_numbers_table, dt_builtin_math_table,
    dt_builtin_cmath_table, dt_builtin_operator_table, dt_builtin_functools_table,
    dt_builtin_method_table, dt_builtin_types_table, dt_builtin_mapping_proxy_table,
    dt_builtin_weakref_table, dt_builtin_exec_table;
int dt_builtin_init(void); /* -1 with an exception */

#endif
