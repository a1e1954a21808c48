/* The real instructions of the code that a driver is made from, as driver code copies them.
 *
 * Decoding has checked the code; canonical instructions that continue a real one, or stand for
 * none, belong to the real one before them. */
#ifndef DT_CODEGEN_DRIVER_RAWS_H
#define DT_CODEGEN_DRIVER_RAWS_H

#include "bytecode/decode.h"

typedef struct DtRawSource {
    int32_t instr;  /* its first canonical instruction */
    int32_t target; /* number of a real instruction, or -1 */
    int32_t arg;
    uint8_t opcode;
} DtRawSource;

typedef struct DtDriverRaws {
    DtRawSource *items;
    uint32_t count;
    int32_t *of; /* canonical instruction -> the real one */
} DtDriverRaws;

DtStatus dt_driver_raws_read(DtArena *arena, const DtBytecode *bytecode,
                             DtDriverRaws *out) DT_MUST_CHECK;

#endif
