/* Building driver code; see driver.h.
 *
 *   the user's instructions, with a site in front of each point:
 *
 *       NOP, or a jump to the user's instruction while the probe sleeps
 *       None × room               room for the values of the quick edge
 *       LOAD_CONST probe
 *       FOR_ITER way              exhausted: the quick edge (or "plain", if there is none)
 *       jump if True ladder       a landing lies at the context's base
 *       POP_TOP × (room + 1)      False: nothing done
 *
 *   ways of quick edges: drop what q has not, go to q
 *   per context: a ladder of POP_TOPs down to base + 1, where the landing is on top; a binary
 *   search for its q; a pad per landing: make room, let the landing fill it, go to q
 *
 *   behind an instruction, what only looks: LOAD_CONST, FOR_ITER to the next one
 *
 * All but sites and onlookers lies behind the user's instructions, so their jumps keep their
 * directions.
 */
#include "codegen/driver.h"

#include "bytecode/opcodes.h"
#include "codegen/driver_code.h"
#include "codegen/driver_map.h"
#include "codegen/driver_raws.h"
#include "compat/errors.h"

enum { SPARE = 4 };

typedef struct Builder {
    DtArena *arena;
    const DtPlaces *places;
    const DtBytecode *bytecode;
    const DtDriverPoint **point_of; /* per canonical instruction, or NULL */
    PyObject *const *behind;        /* the same, or NULL */
    DtDriverMap *map;
    DtDriverCode code;
    DtDriverRaws raws;
    int32_t **ladder; /* per context: label per stack depth; NULL: nothing comes from there */
    int32_t *ways;    /* per canonical instruction: label of its point's quick edge */
} Builder;

/* The instruction whose line and handler what leads to q has; -1: none. */
static int32_t
place_of(int32_t q)
{
    return q >= 0 ? q : q <= DT_LAND_RETURN_0 ? DT_LAND_RETURN_0 - q : -1;
}

static bool
is_return(const DtInstr *instr)
{
    return instr->op == DT_OP_RETURN_VALUE && instr->depth >= 0;
}

/* Each real instruction has two labels: with its probe, and behind it. */
static int32_t
entry_label(const Builder *builder, int32_t instr)
{
    return 2 * builder->raws.of[instr];
}

static int32_t
body_label(const Builder *builder, int32_t instr)
{
    return 2 * builder->raws.of[instr] + 1;
}

static void
need_stack(Builder *builder, int32_t depth)
{
    if (depth > builder->code.stacksize) {
        builder->code.stacksize = depth;
    }
}

/* POP_EXCEPT itself is outside of the handler that cleans up after the `except` clause, because it
 * can't raise.  A jump to it can: a signal may arrive.  Then what the clause has saved is still on
 * the stack, and the clean-up that the rest of the clause has is due. */
static int32_t
handler_around(const Builder *builder, int32_t instr)
{
    const DtInstr *instrs = builder->bytecode->instrs;
    const DtPlace *places = builder->places->places;
    if (instrs[instr].op != DT_OP_POP_EXCEPT) {
        return instrs[instr].handler;
    }
    for (int32_t i = instr - 1; i >= 0; i--) {
        int32_t handler = instrs[i].handler;
        if (places[i].context == places[instr].context && handler >= 0
            && builder->bytecode->handlers[handler].lasti) {
            return handler;
        }
    }
    return instrs[instr].handler;
}

/* What is emitted next has the line and the handler of an instruction; -1: of none. */
static void
stand_at(Builder *builder, int32_t instr)
{
    if (instr < 0) {
        builder->code.position = (DtSpan){-1, -1, -1, -1};
        builder->code.handler = -1;
        return;
    }
    const DtInstr *from = &builder->bytecode->instrs[instr];
    builder->code.position = (DtSpan){from->line, from->end_line, from->col, from->end_col};
    builder->code.handler = DT_PY310 ? -1 : handler_around(builder, instr);
}

/* --- points -------------------------------------------------------------- */

static DtStatus
illegal(int32_t at, const char *what)
{
    PyErr_Format(PyExc_SystemError, "driver code: %s at instruction %d", what, (int)at);
    return DT_ERROR;
}

static bool
is_quick_edge(const DtPlaces *places, const DtDriverPoint *point)
{
    if (point->quick == DT_LAND_NOWHERE) {
        return true;
    }
    if (dt_land_is_return(point->quick)) {
        return places->places[point->at].context == 0
               && place_of(point->quick) < (int32_t)places->bytecode->count;
    }
    return point->quick >= 0 && point->quick < (int32_t)places->bytecode->count
           && dt_places_is_edge(places, point->at, point->quick);
}

static DtStatus
take_point(Builder *builder, const DtDriverPoint *point)
{
    const DtPlaces *places = builder->places;
    if (point->at < 0 || point->at >= (int32_t)builder->bytecode->count
        || !(places->places[point->at].flags & DT_PLACE_POINT)
        || builder->point_of[point->at] != NULL) {
        return illegal(point->at, "no probe can stand");
    }
    if (!is_quick_edge(places, point) || Py_TYPE(point->probe)->tp_iternext == NULL) {
        return illegal(point->at, "no such edge");
    }
    int32_t depth = builder->bytecode->instrs[point->at].depth;
    int32_t context = places->places[point->at].context;
    int32_t there =
        point->quick == DT_LAND_NOWHERE ? 0 : dt_driver_depth(builder->map, point->quick);
    *point->site = (DtDriverSite){
        .map = builder->map,
        .at = point->at,
        .depth = depth,
        .base = places->contexts[context].base,
        .quick = point->quick,
        .there = there,
        .room = there > depth ? there - depth : 0,
    };
    builder->point_of[point->at] = point;
    return DT_OK;
}

static DtStatus
take_points(Builder *builder, const DtDriverPoint *points, uint32_t npoints)
{
    uint32_t contexts = builder->places->context_count;
    uint32_t count = builder->bytecode->count;
    builder->point_of = DT_ARENA_ARRAY(builder->arena, const DtDriverPoint *, count + 1);
    builder->ways = DT_ARENA_ARRAY(builder->arena, int32_t, count + 1);
    builder->ladder = DT_ARENA_ARRAY(builder->arena, int32_t *, contexts + 1);
    if (builder->point_of == NULL || builder->ways == NULL || builder->ladder == NULL) {
        return dt_no_memory();
    }
    for (uint32_t i = 0; i < npoints; i++) {
        DT_TRY(take_point(builder, &points[i]));
    }
    return DT_OK;
}

/* --- sites --------------------------------------------------------------- */

/* Where the rung of a context's ladder is for a stack of this depth. */
static int32_t
rung(Builder *builder, int32_t context, int32_t depth)
{
    int32_t size = builder->bytecode->max_depth + SPARE;
    int32_t **ladder = &builder->ladder[context];
    if (*ladder == NULL) {
        *ladder = DT_ARENA_ARRAY(builder->arena, int32_t, size);
        if (*ladder == NULL) {
            builder->code.no_memory = true;
            return -1;
        }
        for (int32_t i = 0; i < size; i++) {
            (*ladder)[i] = -1;
        }
    }
    if ((*ladder)[depth] < 0) {
        (*ladder)[depth] = dt_driver_code_label(&builder->code);
    }
    return (*ladder)[depth];
}

static bool
falls_to_target(const Builder *builder, const DtDriverSite *site)
{
    return site->quick > site->at && dt_driver_code_loop_skip(&builder->code) == 0
           && dt_driver_depth(builder->map, site->quick) >= site->depth;
}

static void
emit_site(Builder *builder, const DtDriverPoint *point)
{
    const DtDriverSite *site = point->site;
    int32_t context = builder->places->places[site->at].context;
    DtDriverCode *code = &builder->code;
    stand_at(builder, site->at);
    need_stack(builder, site->depth + site->room + 2);
    dt_driver_code_switch(code, body_label(builder, site->at), point->asleep);
    for (int32_t i = 0; i < site->room; i++) {
        dt_driver_code_load(code, Py_None);
    }
    dt_driver_code_load(code, point->probe);
    if (site->quick == DT_LAND_NOWHERE) {
        int32_t plain = dt_driver_code_label(code);
        dt_driver_code_for_iter(code, plain);
        dt_driver_code_jump(code, rung(builder, context, site->depth + 2));
        dt_driver_code_loop_end(code, plain);
        return;
    }
    bool straight = falls_to_target(builder, site);
    int32_t way = straight ? body_label(builder, site->quick) : dt_driver_code_label(code);
    builder->ways[site->at] = straight ? -1 : way;
    dt_driver_code_for_iter(code, way);
    dt_driver_code_jump_if(code,
                           rung(builder, context, site->depth + site->room + 1 + DT_JUMP_IF_KEEPS));
    dt_driver_code_pop(code, site->room + 1);
}

/* `instr` is not the last one of the code. */
static void
emit_onlooker(Builder *builder, int32_t instr, PyObject *object)
{
    DtDriverCode *code = &builder->code;
    int32_t next = dt_driver_code_label(code);
    need_stack(builder, builder->bytecode->instrs[instr + 1].depth + 2);
    dt_driver_code_load(code, object);
    dt_driver_code_for_iter(code, next);
    dt_driver_code_return(code); /* never: it is exhausted at once */
    dt_driver_code_loop_end(code, next);
}

static void
emit_copies(Builder *builder)
{
    DtDriverCode *code = &builder->code;
    for (uint32_t r = 0; r < builder->raws.count; r++) {
        const DtRawSource *raw = &builder->raws.items[r];
        dt_driver_code_bind(code, entry_label(builder, raw->instr));
        if (builder->point_of[raw->instr] != NULL) {
            emit_site(builder, builder->point_of[raw->instr]);
        }
        dt_driver_code_bind(code, body_label(builder, raw->instr));
        stand_at(builder, raw->instr);
        dt_driver_code_put(code, raw->opcode, raw->arg, raw->target < 0 ? -1 : 2 * raw->target);
        if (builder->behind != NULL && builder->behind[raw->instr] != NULL) {
            emit_onlooker(builder, raw->instr, builder->behind[raw->instr]);
        }
    }
}

/* --- behind the user's instructions -------------------------------------- */

/* Goes to q, with its stack on the stack. */
static void
emit_arrival(Builder *builder, int32_t q)
{
    if (dt_land_is_return(q)) {
        dt_driver_code_return(&builder->code);
    }
    else {
        dt_driver_code_jump(&builder->code, body_label(builder, q));
    }
}

static void
emit_way(Builder *builder, const DtDriverSite *site)
{
    int32_t over = site->depth - dt_driver_depth(builder->map, site->quick);
    stand_at(builder, site->quick == DT_LAND_RETURN ? site->at : place_of(site->quick));
    dt_driver_code_loop_end(&builder->code, builder->ways[site->at]);
    dt_driver_code_pop(&builder->code, over);
    emit_arrival(builder, site->quick);
}

/* [.. landing] -> [.. the stack of q] */
static void
emit_pad(Builder *builder, int32_t q, int32_t base)
{
    DtDriverCode *code = &builder->code;
    int32_t depth = dt_driver_depth(builder->map, q);
    int32_t filled = dt_driver_code_label(code);
    need_stack(builder, depth + 2);
    if (depth > base) {
        dt_driver_code_copy_top(code);
    }
    for (int32_t i = base + 1; i < depth; i++) {
        dt_driver_code_load(code, Py_None);
        dt_driver_code_swap_two(code);
    }
    dt_driver_code_for_iter(code, filled);
    dt_driver_code_return(code); /* never: a landing is exhausted at once */
    stand_at(builder, place_of(q));
    dt_driver_code_loop_end(code, filled);
    emit_arrival(builder, q);
    stand_at(builder, -1);
}

static void
load_number(DtDriverCode *code, int32_t number)
{
    PyObject *object = PyLong_FromLong(number);
    if (object == NULL) {
        PyErr_Clear(); /* MemoryError: told when everything is placed */
        code->no_memory = true;
        return;
    }
    dt_driver_code_load(code, object);
    Py_DECREF(object);
}

/* [.. landing]: its q is one of `landings`, which are in order. */
static void
emit_search(Builder *builder, const int32_t *landings, uint32_t count, int32_t base)
{
    DtDriverCode *code = &builder->code;
    if (count == 1) {
        emit_pad(builder, landings[0], base);
        return;
    }
    uint32_t half = count / 2;
    int32_t lower = dt_driver_code_label(code);
    dt_driver_code_copy_top(code);
    load_number(code, landings[half]);
    dt_driver_code_less(code);
    dt_driver_code_jump_if(code, lower);
    emit_search(builder, landings + half, count - half, base);
    dt_driver_code_bind(code, lower);
    dt_driver_code_pop(code, DT_JUMP_IF_KEEPS);
    emit_search(builder, landings, half, base);
}

/* The landings with a pad in a context, in order. */
static DtStatus
find_landings(Builder *builder, int32_t context, int32_t **landings, uint32_t *count)
{
    int32_t *found = DT_ARENA_ARRAY(builder->arena, int32_t, 2 * builder->bytecode->count + 1);
    uint32_t used = 0;
    if (found == NULL) {
        return dt_no_memory();
    }
    for (int32_t i = (int32_t)builder->bytecode->count - 1; context == 0 && i >= 0; i--) {
        if (is_return(&builder->bytecode->instrs[i])) {
            found[used++] = dt_land_return_at(i);
        }
    }
    if (context == 0) {
        found[used++] = DT_LAND_RETURN;
    }
    for (uint32_t i = 0; i < builder->bytecode->count; i++) {
        const DtPlace *place = &builder->places->places[i];
        if (place->context == context && place->flags & DT_PLACE_PAD) {
            builder->map->places[i].pad = true;
            found[used++] = (int32_t)i;
        }
    }
    *landings = found;
    *count = used;
    return DT_OK;
}

static DtStatus
emit_context(Builder *builder, int32_t context)
{
    int32_t *landings;
    uint32_t count;
    int32_t base = builder->places->contexts[context].base;
    const int32_t *ladder = builder->ladder[context];
    int32_t top = builder->bytecode->max_depth + SPARE - 1;
    DT_TRY(find_landings(builder, context, &landings, &count));
    stand_at(builder, -1);
    need_stack(builder, base + 3);
    while (top > base + 1 && ladder[top] < 0) {
        top--;
    }
    for (int32_t depth = top; depth >= base + 1; depth--) {
        if (ladder[depth] >= 0) {
            dt_driver_code_bind(&builder->code, ladder[depth]);
        }
        dt_driver_code_pop(&builder->code, depth > base + 1);
    }
    if (count > 0) {
        emit_search(builder, landings, count, base);
    }
    else {
        dt_driver_code_return(&builder->code); /* never: there is nowhere to land */
    }
    return DT_OK;
}

/* --- the whole ----------------------------------------------------------- */

/* About what a site and a pad with its part of the search are made of. */
enum { SITE_INSTRS = 5, PAD_INSTRS = 10 };

static void
expect_instrs(Builder *builder, uint32_t npoints)
{
    uint32_t pads = 1;
    for (uint32_t i = 0; i < builder->bytecode->count; i++) {
        pads += (builder->places->places[i].flags & DT_PLACE_PAD) != 0;
        pads += is_return(&builder->bytecode->instrs[i]);
    }
    dt_driver_code_expect(&builder->code,
                          builder->raws.count + npoints * SITE_INSTRS + pads * PAD_INSTRS);
}

static DtStatus
emit_all(Builder *builder, uint32_t npoints)
{
    const DtBytecode *bytecode = builder->bytecode;
    expect_instrs(builder, npoints);
    for (uint32_t i = 0; i < 2 * builder->raws.count; i++) {
        dt_driver_code_label(&builder->code);
    }
    emit_copies(builder);
    for (uint32_t i = 0; i < bytecode->count; i++) {
        const DtDriverPoint *point = builder->point_of[i];
        if (point != NULL && point->quick != DT_LAND_NOWHERE && builder->ways[i] >= 0) {
            emit_way(builder, point->site);
        }
    }
    for (uint32_t c = 0; c < builder->places->context_count; c++) {
        if (builder->ladder[c] != NULL) {
            DT_TRY(emit_context(builder, (int32_t)c));
        }
    }
    dt_driver_code_const(&builder->code, (PyObject *)builder->map);
    return DT_OK;
}

static DtStatus
label_handlers(Builder *builder)
{
    const DtBytecode *bytecode = builder->bytecode;
    int32_t *labels = DT_ARENA_ARRAY(builder->arena, int32_t, bytecode->handler_count + 1);
    if (labels == NULL) {
        return dt_no_memory();
    }
    for (uint32_t i = 0; i < bytecode->handler_count; i++) {
        labels[i] = entry_label(builder, bytecode->handlers[i].target);
    }
    builder->code.handler_labels = labels;
    return DT_OK;
}

/* 3.10: the blocks of landings lead to units of the new code. */
static void
place_blocks(Builder *builder)
{
    DtDriverMap *map = builder->map;
    uint32_t total = 0;
    for (uint32_t i = 0; i < map->count; i++) {
        total += (uint32_t)map->places[i].nblocks;
    }
    for (uint32_t i = 0; i < total; i++) {
        map->blocks[i].handler =
            dt_driver_code_unit(&builder->code, entry_label(builder, map->blocks[i].handler));
    }
}

/* Everything is placed: where the switches are, and how far they jump. */
static void
place_switches(Builder *builder, const DtDriverPoint *points, uint32_t npoints)
{
    for (uint32_t i = 0; i < npoints; i++) {
        DtDriverSite *site = points[i].site;
        site->unit = dt_driver_code_unit(&builder->code, entry_label(builder, site->at));
        site->skip =
            dt_driver_code_unit(&builder->code, body_label(builder, site->at)) - site->unit - 1;
        site->asleep = points[i].asleep;
    }
}

void
dt_driver_switch(PyCodeObject *driver, DtDriverSite *site, bool asleep)
{
    if (site->asleep != asleep && site->skip >= 0 && site->skip < 256) {
        dt_code_patch(driver, site->unit, dt_driver_code_switch_opcode(site->asleep),
                      dt_driver_code_switch_opcode(asleep), asleep ? site->skip : 0);
        site->asleep = asleep;
    }
}

static DtStatus
build(Builder *builder, const DtDriverPoint *points, uint32_t npoints, PyCodeObject **driver)
{
    DT_TRY(dt_driver_raws_read(builder->arena, builder->bytecode, &builder->raws));
    DT_TRY(take_points(builder, points, npoints));
    DT_TRY(label_handlers(builder));
    DT_TRY(emit_all(builder, npoints));
    DT_TRY(dt_driver_code_place(&builder->code));
    place_blocks(builder);
    place_switches(builder, points, npoints);
    return dt_driver_code_finish(&builder->code, driver);
}

DtStatus
dt_driver_build(DtArena *arena, const DtPlaces *places, const DtDriverPoint *points,
                uint32_t npoints, PyObject *const *behind, DT_OWNED PyCodeObject **driver)
{
    Builder builder = {
        .arena = arena,
        .places = places,
        .bytecode = places->bytecode,
        .behind = behind,
        .map = dt_driver_map_new(places),
        .code = {.arena = arena, .bytecode = places->bytecode, .handler = -1},
    };
    *driver = NULL;
    dt_driver_code_start(&builder.code);
    if (builder.map == NULL) {
        return DT_ERROR;
    }
    DtStatus status = build(&builder, points, npoints, driver);
    dt_driver_code_release(&builder.code);
    Py_DECREF(builder.map); /* the driver has it, or nobody */
    return status;
}
