/* The white-box functions of the bytecode layer, for `_core._testing`. */
#ifndef DT_MODULE_TESTING_BYTECODE_H
#define DT_MODULE_TESTING_BYTECODE_H

#include "compat/python.h"

/* Ends with an empty row. */
extern PyMethodDef dt_testing_bytecode_methods[];

#endif
