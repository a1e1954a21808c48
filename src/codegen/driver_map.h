/* What a driver knows of its code when it runs; private to driver*.c. */
#ifndef DT_CODEGEN_DRIVER_MAP_H
#define DT_CODEGEN_DRIVER_MAP_H

#include "codegen/driver.h"

typedef struct DtDriverPlace {
    int32_t depth;   /* of the stack */
    int32_t context; /* handler context, or -1: no landing */
    int32_t block;   /* 3.10: its first in `blocks` */
    int16_t nblocks; /* 3.10: blocks open there and not around its handler */
    bool pad;        /* every point of the context can land here */
} DtDriverPlace;

struct DtDriverMap {
    PyObject_HEAD uint32_t count;
    DtDriverPlace *places; /* per instruction of the original */
    int nslots;
    int stack_start;
    int *memory;     /* nslots: slot -> index in the frame's array */
    int32_t *around; /* per context, 3.10: blocks that are open around it */
    DtPyBlock *blocks;
};

/* From the analysis; nothing is a pad yet, and handlers of blocks are instructions, not units. */
DT_OWNED DtDriverMap *dt_driver_map_new(const DtPlaces *places) DT_MUST_CHECK;

#endif
