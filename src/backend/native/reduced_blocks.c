/* The block loop of a stage that reduces: the units of one piece, and what parts of rows come to.
 *
 *   rows of at most a block    units are rows; a block holds whole ones
 *   longer rows                units are the 2^depth parts of each, borders of NumPy's pairwise
 *                              tree; a part is cut further as it is computed
 *   columns                    units are columns; a piece goes through all rows, in order
 *
 * Row after row, column after column is NumPy's order, whoever computes them; parts of a row are
 * put together in the order of the tree, and where it does not show, one after the other.  Products
 * of floats are not divided.
 */
#include <math.h>
#include <string.h>

#include "backend/native/lanes.h"
#include "backend/native/walk.h"

enum {
    MAX_REDUCED = DT_FUSED_MAX_OPS,
    FEW_COLUMNS = 256, /* of a piece at least: each row of it is a call of every loop */
    MANY_COLUMNS = 4096,
    PARTS_A_LANE = 4,
};

typedef union DtPart {
    uint64_t word[2];
    double large;
    float small;
} Part;

/* One lane's way through a piece. */
typedef struct Walk {
    DtLane *lane;
    const DtFused *fused;
    const DtGeometry *geometry;
    char **slots;
    char *results[MAX_REDUCED]; /* where each reduction goes */
    npy_intp begin;             /* of the part of a row that is on its way */
} Walk;

static void
call_reduce(const DtFusedReduce *reduce, char *result, char *elements, npy_intp count,
            npy_intp result_stride, DtOutcome *outcome)
{
    const DtLoop *loop = reduce->loop;
    char *args[3] = {result, elements, result};
    npy_intp strides[3] = {result_stride, loop->sizes[0], result_stride};
    if (count > 0 && loop->call(loop->context, args, &count, strides, loop->auxdata) < 0) {
        outcome->failed = true;
    }
}

/* One element; a copy of unknown size is a call. */
static inline void
copy_one(char *to, const char *from, uint8_t size)
{
    switch (size) {
    case 8:
        memcpy(to, from, 8);
        break;
    case 4:
        memcpy(to, from, 4);
        break;
    default:
        memcpy(to, from, size);
        break;
    }
}

void
dt_reduced_row(const DtFusedReduce *reduce, char *result, char *elements, npy_intp count,
               DtOutcome *outcome)
{
    uint8_t size = reduce->loop->sizes[0];
    if (reduce->first) {
        copy_one(result, elements, size);
        elements += size;
        count--;
    }
    else {
        copy_one(result, (const char *)&reduce->identity, size);
    }
    call_reduce(reduce, result, elements, count, 0, outcome);
}

void
dt_reduced_rows(const DtFusedReduce *reduce, char *result, char *elements, npy_intp rows,
                npy_intp length, DtOutcome *outcome)
{
    npy_intp size = reduce->loop->sizes[0];
    if (length <= DT_REDUCED_SHORT && reduce->short_rows != NULL
        && reduce->short_rows(elements, result, rows, length)) {
        return;
    }
    for (npy_intp i = 0; i < rows; i++, result += size, elements += length * size) {
        dt_reduced_row(reduce, result, elements, length, outcome);
    }
}

void
dt_reduced_columns(const DtFusedReduce *reduce, char *result, char *elements, bool begin,
                   npy_intp rows, npy_intp count, DtOutcome *outcome)
{
    uint8_t size = reduce->loop->sizes[0];
    if (count <= DT_REDUCED_SHORT && reduce->short_columns != NULL
        && reduce->short_columns(elements, result, begin, rows, count)) {
        return;
    }
    for (npy_intp i = 0; i < rows; i++, elements += count * size) {
        if (begin && i == 0) {
            if (reduce->first) {
                memcpy(result, elements, (size_t)(count * size));
                continue;
            }
            for (npy_intp k = 0; k < count; k++) {
                copy_one(result + k * size, (const char *)&reduce->identity, size);
            }
        }
        call_reduce(reduce, result, elements, count, size, outcome);
    }
}

/* What a run of elements is to its row, or its part of a row. */
typedef enum RowPiece { PIECE_ALL, PIECE_FIRST, PIECE_LATER } RowPiece;

/* A step that does not run over the elements. */
static void
other_step(const Walk *walk, const DtStep *step, npy_intp row, npy_intp column, npy_intp rows,
           npy_intp length, RowPiece piece, Part *parts)
{
    char **slots = walk->slots;
    DtOutcome *outcome = &walk->lane->outcome;
    if (step->flags & DT_STEP_EXPAND) {
        dt_copy_expanded(slots[step->slots[1]], slots[step->slots[0]], rows, length,
                         (uint8_t)step->strides[1]);
        return;
    }
    if (step->flags & DT_STEP_ROWS) {
        dt_fused_step(step, slots, rows, outcome);
        return;
    }
    const DtFusedReduce *reduce = &walk->fused->reduce[step->reduce];
    if (step->flags & DT_STEP_READ) {
        outcome->flags |= dt_fpflags_read();
    }
    if (walk->geometry->columns) {
        char *result = walk->results[step->reduce] + column * reduce->loop->sizes[0];
        dt_reduced_columns(reduce, result, slots[reduce->source], row == 0, rows, length, outcome);
    }
    else if (piece == PIECE_ALL) {
        dt_reduced_rows(reduce, walk->results[step->reduce], slots[reduce->source], rows, length,
                        outcome);
    }
    else if (reduce->tree) {
        Part *part = &parts[step->reduce]; /* adding -0.0 changes no bit */
        *part = reduce->loop->sizes[0] == sizeof(double) ? (Part){.large = -0.0}
                                                         : (Part){.small = -0.0f};
        call_reduce(reduce, (char *)part, slots[reduce->source], length, 0, outcome);
    }
    else if (piece == PIECE_FIRST) {
        dt_reduced_row(reduce, walk->results[step->reduce], slots[reduce->source], length, outcome);
    }
    else {
        call_reduce(reduce, walk->results[step->reduce], slots[reduce->source], length, 0, outcome);
    }
    if (step->flags & DT_STEP_CLEAR) {
        dt_fpflags_clear();
    }
}

/* Computes `rows` runs of `length` elements that follow each other from (row, column) on. */
static void
run_block(const Walk *walk, npy_intp row, npy_intp column, npy_intp rows, npy_intp length,
          RowPiece piece, Part *parts)
{
    DtLane *lane = walk->lane;
    const DtFused *fused = walk->fused;
    npy_intp start = row * walk->geometry->length + column, count = rows * length;
    for (uint32_t i = 0; i < fused->ninputs; i++) {
        const DtFusedInput *input = &fused->inputs[i];
        walk->slots[input->slot] =
            lane->layout == NULL
                ? lane->starts[input->slot] + start * input->size
                : dt_reader_block(&lane->readers[i], lane->layout, start, count, input->size);
    }
    for (uint32_t i = 0; i < fused->noutputs; i++) {
        const DtFusedOutput *output = &fused->outputs[i];
        walk->slots[output->slot] = lane->starts[output->slot] + start * output->size;
    }
    const DtStep *step = fused->steps;
    for (const DtStep *end = step + fused->nsteps; step < end; step++) {
        if (DT_UNLIKELY(step->flags & DT_STEP_OTHER)) {
            other_step(walk, step, row, column, rows, length, piece, parts);
        }
        else {
            dt_fused_step(step, walk->slots, count, &lane->outcome);
        }
    }
}

/* The results of rows go to those of `row` and the rows after it. */
static void
seek_row(Walk *walk, npy_intp row)
{
    const DtFused *fused = walk->fused;
    for (uint32_t i = 0; i < fused->nrows; i++) {
        uint16_t slot = fused->rows[i].slot;
        walk->slots[slot] = walk->lane->starts[slot] + row * fused->rows[i].size;
    }
    for (uint32_t k = 0; k < fused->nreduce; k++) {
        walk->results[k] = walk->slots[fused->reduce[k].slot];
    }
}

/* ---- Long rows ------------------------------------------------------------------------------- */

/* *left += *right, floats of that size. */
static void
add_parts(Part *left, const Part *right, uint8_t size, DtOutcome *outcome)
{
    bool nans;
    if (size == sizeof(double)) {
        double a = left->large, b = right->large;
        nans = isnan(a) && isnan(b) && memcmp(&a, &b, sizeof(a)) != 0;
        left->large = a + b;
    }
    else {
        float a = left->small, b = right->small;
        nans = isnan(a) && isnan(b) && memcmp(&a, &b, sizeof(a)) != 0;
        left->small = a + b;
    }
    outcome->unsure = outcome->unsure || nans;
}

/* `count` elements of a row from `column` on, cut where NumPy's tree is; parts[k] gets the sum of
 * reduction k.  False: given up. */
static bool
run_tree(const Walk *walk, npy_intp row, npy_intp column, npy_intp count, Part *parts)
{
    const DtFused *fused = walk->fused;
    if (count <= walk->geometry->block) {
        if (!dt_lane_goes_on(walk->lane)) {
            return false;
        }
        run_block(walk, row, column, 1, count, column == walk->begin ? PIECE_FIRST : PIECE_LATER,
                  parts);
        return true;
    }
    Part right[MAX_REDUCED];
    npy_intp left = dt_reduced_left(count);
    if (!run_tree(walk, row, column, left, parts)
        || !run_tree(walk, row, column + left, count - left, right)) {
        return false;
    }
    for (uint32_t k = 0; k < fused->nreduce; k++) {
        if (fused->reduce[k].tree) {
            add_parts(&parts[k], &right[k], fused->reduce[k].loop->sizes[0], &walk->lane->outcome);
        }
    }
    return true;
}

/* Part `index` of a row of 2^depth, all its reductions. */
static bool
run_part(Walk *walk, npy_intp row, npy_intp index, Part *parts)
{
    npy_intp count = walk->geometry->length;
    walk->begin = 0;
    for (int level = walk->geometry->depth; level > 0; level--) {
        npy_intp left = dt_reduced_left(count);
        bool right = (index >> (level - 1)) & 1;
        walk->begin += right ? left : 0;
        count = right ? count - left : left;
    }
    for (uint32_t k = 0; k < walk->fused->nreduce; k++) {
        walk->results[k] = (char *)&parts[k];
    }
    return run_tree(walk, row, walk->begin, count, parts);
}

/* The sign of a zero and the bits of a NaN depend on where the row was cut. */
static bool
is_unsure(const DtFusedReduce *reduce, const Part *result)
{
    double value = reduce->loop->sizes[0] == sizeof(double) ? result->large : result->small;
    return value == 0 || isnan(value);
}

/* Puts the parts of a row together, which become worthless, to its results. */
static void
finish_row(const DtFused *fused, int depth, Part *parts, char *const *results, DtOutcome *outcome)
{
    npy_intp count = (npy_intp)1 << depth, n = fused->nreduce;
    for (uint32_t k = 0; k < fused->nreduce; k++) {
        const DtFusedReduce *reduce = &fused->reduce[k];
        uint8_t size = reduce->loop->sizes[0];
        for (npy_intp apart = 1; reduce->tree && apart < count; apart *= 2) {
            for (npy_intp i = 0; i < count; i += 2 * apart) {
                add_parts(&parts[i * n + k], &parts[(i + apart) * n + k], size, outcome);
            }
        }
        if (reduce->tree) {
            Part sum = {{reduce->identity, 0}};
            add_parts(&sum, &parts[k], size, outcome);
            parts[k] = sum;
        }
        for (npy_intp i = 1; !reduce->tree && i < count; i++) {
            outcome->flags |= dt_fpflags_read();
            call_reduce(reduce, (char *)&parts[k], (char *)&parts[i * n + k], 1, 0, outcome);
            dt_fpflags_clear(); /* integers raise none, and of extremes they don't count */
        }
        outcome->unsure = outcome->unsure || (reduce->cut_shows && is_unsure(reduce, &parts[k]));
        memcpy(results[k], &parts[k], size);
    }
}

/* ---- Pieces ---------------------------------------------------------------------------------- */

static void
run_parts(Walk *walk, DtPiece *piece)
{
    const DtGeometry *geometry = walk->geometry;
    const DtFused *fused = walk->fused;
    Part own[MAX_REDUCED];
    for (npy_intp unit = piece->start; unit < piece->end; unit++) {
        npy_intp row = unit >> geometry->depth;
        Part *parts = geometry->depth > 0 ? geometry->parts + unit * fused->nreduce : own;
        if (!run_part(walk, row, unit - (row << geometry->depth), parts)) {
            return;
        }
        if (geometry->depth == 0) {
            seek_row(walk, row);
            finish_row(fused, 0, own, walk->results, &walk->lane->outcome);
        }
    }
}

static void
run_rows(Walk *walk, DtPiece *piece)
{
    npy_intp length = walk->geometry->length, at_once = walk->geometry->block / length;
    for (npy_intp row = piece->start; row < piece->end && dt_lane_goes_on(walk->lane);
         row += at_once) {
        npy_intp left = piece->end - row;
        seek_row(walk, row);
        run_block(walk, row, 0, left < at_once ? left : at_once, length, PIECE_ALL, NULL);
    }
}

static void
run_columns(Walk *walk, DtPiece *piece)
{
    const DtGeometry *geometry = walk->geometry;
    npy_intp block = geometry->block, rows = geometry->rows, length = geometry->length;
    npy_intp at_once = piece->end - piece->start == length && length <= block ? block / length : 1;
    seek_row(walk, 0);
    for (npy_intp row = 0; row < rows; row += at_once) {
        for (npy_intp column = piece->start; column < piece->end; column += block) {
            npy_intp left = piece->end - column;
            if (!dt_lane_goes_on(walk->lane)) {
                return;
            }
            run_block(walk, row, column, rows - row < at_once ? rows - row : at_once,
                      left < block ? left : block, PIECE_ALL, NULL);
        }
    }
}

/* The results are where seek_row() says: to clear the room for them would take as long as a small
 * row. */
static void
begin_walk(Walk *walk, DtLane *lane)
{
    walk->lane = lane;
    walk->fused = lane->fused;
    walk->geometry = lane->geometry;
    walk->slots = lane->slots;
}

void
dt_reduced_run(DtLane *lane, DtPiece *piece)
{
    Walk walk;
    begin_walk(&walk, lane);
    if (lane->geometry->columns) {
        run_columns(&walk, piece);
    }
    else if (lane->geometry->length <= lane->geometry->block) {
        run_rows(&walk, piece);
    }
    else {
        run_parts(&walk, piece);
    }
}

/* ---- Division -------------------------------------------------------------------------------- */

/* May a row of it be computed in parts? */
static bool
has_parts(const DtFusedReduce *reduce)
{
    return reduce->tree || reduce->cut_shows || !PyTypeNum_ISFLOAT(reduce->loop->types[0]);
}

/* How often rows of more than a block are halved, so that there is enough for each lane. */
static int
depth_for(const DtFused *fused, const DtGeometry *geometry, uint32_t lanes)
{
    int depth = 0;
    for (uint32_t k = 0; k < fused->nreduce; k++) {
        if (!has_parts(&fused->reduce[k])) {
            return 0;
        }
    }
    while (lanes > 1 && geometry->rows << depth < (npy_intp)(PARTS_A_LANE * lanes)
           && geometry->length >> (depth + 1) > geometry->block) {
        depth++;
    }
    return depth;
}

void
dt_reduced_divide(const DtFused *fused, DtGeometry *geometry, DtDivision *division)
{
    if (geometry->columns) {
        npy_intp grain = geometry->length;
        npy_intp each = grain / division->lanes;
        if (division->lanes > 1 && grain >= 2 * FEW_COLUMNS) {
            each = each < FEW_COLUMNS ? FEW_COLUMNS : each < MANY_COLUMNS ? each : each / 4;
            grain = (each + 63) & ~(npy_intp)63;
        }
        dt_lanes_divide(division, geometry->length, grain);
    }
    else if (geometry->length <= geometry->block) {
        dt_lanes_divide(division, geometry->rows, geometry->block / geometry->length);
    }
    else {
        geometry->depth = depth_for(fused, geometry, division->lanes);
        dt_lanes_divide(division, geometry->rows << geometry->depth, 1);
    }
}

size_t
dt_reduced_parts(const DtFused *fused, const DtGeometry *geometry)
{
    return geometry->depth == 0
               ? 0
               : ((size_t)geometry->rows << geometry->depth) * fused->nreduce * sizeof(Part);
}

void
dt_reduced_finish(DtLane *lane)
{
    const DtGeometry *geometry = lane->geometry;
    Walk walk = {.lane = lane, .fused = lane->fused, .geometry = geometry, .slots = lane->slots};
    for (npy_intp row = 0; geometry->depth > 0 && row < geometry->rows; row++) {
        seek_row(&walk, row);
        finish_row(lane->fused, geometry->depth,
                   geometry->parts + (row << geometry->depth) * lane->fused->nreduce, walk.results,
                   &lane->outcome);
    }
}
