/* See driver_map.h. */
#include "codegen/driver_map.h"

#include <string.h>

#include "compat/errors.h"

static void
map_dealloc(PyObject *self)
{
    DtDriverMap *map = (DtDriverMap *)self;
    PyMem_Free(map->places);
    PyMem_Free(map->memory);
    PyMem_Free(map->around);
    PyMem_Free(map->blocks);
    PyObject_Free(self);
}

static PyTypeObject map_type = {
    .ob_base = {PyObject_HEAD_INIT(NULL) 0},
    .tp_name = "dyntrace._core.DriverMap",
    .tp_basicsize = sizeof(DtDriverMap),
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_dealloc = map_dealloc,
};

/* 3.10: the open blocks of each instruction, outermost first. */
static DtStatus
fill_blocks(DtDriverMap *map, const DtPlaces *places)
{
    size_t total = 0;
    for (uint32_t i = 0; i < map->count; i++) {
        for (int32_t b = places->places[i].block; b >= 0; b = places->blocks[b].outer) {
            map->places[i].nblocks++;
        }
        map->places[i].block = (int32_t)total;
        total += (size_t)map->places[i].nblocks;
    }
    map->blocks = PyMem_Calloc(total + 1, sizeof(DtPyBlock));
    if (map->blocks == NULL) {
        return dt_no_memory();
    }
    for (uint32_t i = 0; i < map->count; i++) {
        int32_t at = map->places[i].block + map->places[i].nblocks;
        for (int32_t b = places->places[i].block; b >= 0; b = places->blocks[b].outer) {
            map->blocks[--at] = (DtPyBlock){places->blocks[b].handler, places->blocks[b].level};
        }
    }
    return DT_OK;
}

/* 3.10: blocks around each context; its own, which says that the handler runs, included. */
static void
fill_around(DtDriverMap *map, const DtPlaces *places)
{
    for (uint32_t c = 1; c < places->context_count; c++) {
        const DtContext *context = &places->contexts[c];
        int32_t around = map->around[context->outer] + 1; /* an outer one has a lower number */
        for (int32_t b = context->block; b >= 0; b = places->blocks[b].outer) {
            around++;
        }
        map->around[c] = around;
    }
}

static DtStatus
fill(DtDriverMap *map, const DtPlaces *places)
{
    const DtBytecode *bytecode = places->bytecode;
    size_t nslots = (size_t)bytecode->layout.nslots;
    map->places = PyMem_Calloc(bytecode->count + 1, sizeof(DtDriverPlace));
    map->memory = PyMem_Calloc(nslots + 1, sizeof(int));
    map->around = PyMem_Calloc(places->context_count + 1, sizeof(int32_t));
    if (map->places == NULL || map->memory == NULL || map->around == NULL) {
        return dt_no_memory();
    }
    map->count = bytecode->count;
    map->nslots = bytecode->layout.nslots;
    map->stack_start = bytecode->layout.stack_start;
    for (size_t i = 0; i < nslots; i++) {
        map->memory[i] = bytecode->layout.memory[i];
    }
    for (uint32_t i = 0; i < bytecode->count; i++) {
        const DtPlace *place = &places->places[i];
        map->places[i].depth = bytecode->instrs[i].depth;
        map->places[i].context = place->flags & DT_PLACE_LANDING ? place->context : -1;
    }
    fill_around(map, places);
    return fill_blocks(map, places);
}

DT_OWNED DtDriverMap *
dt_driver_map_new(const DtPlaces *places)
{
    if (PyType_Ready(&map_type) < 0) {
        return NULL;
    }
    DtDriverMap *map = PyObject_New(DtDriverMap, &map_type);
    if (map == NULL) {
        return NULL;
    }
    memset((char *)map + sizeof(PyObject), 0, sizeof(DtDriverMap) - sizeof(PyObject));
    if (fill(map, places) != DT_OK) {
        Py_CLEAR(map);
    }
    return map;
}

int32_t
dt_driver_depth(const DtDriverMap *map, int32_t q)
{
    return dt_land_is_return(q) ? 1 : map->places[q].depth;
}

int
dt_driver_nslots(const DtDriverMap *map)
{
    return map->nslots;
}

int
dt_driver_slot(const DtDriverMap *map, int slot)
{
    return slot < map->nslots ? map->memory[slot] : map->stack_start + slot - map->nslots;
}
