/* Runs loop programs.
 *
 * Writes to arrays go into a log, so that an iteration can be taken back; a commit empties it.  The
 * machine gives way at a commit as soon as the interpreter has something else to do.
 */
#include "compat/signals.h"
#include "core/floor_division.h"
#include "scalar_loops/loop_memory.h"
#include "scalar_loops/loop_numbers.h"

/* Jumps backward inside of one iteration. */
#define MOST_TICKS 100000
/* Ints up to here are doubles. */
#define EXACT ((int64_t)1 << 53)
#define MOST_INT 4611686018427387904.0 /* 2 ** 62 */

static void
save(DtLoopRun *run, const DtLoopCommit *commit, uint32_t room, const DtLoopRegister *iterator)
{
    run->commit = commit;
    for (uint32_t i = 0; i < commit->count; i++) {
        const DtLoopWrite *write = &commit->writes[i];
        if (write->how <= DT_LOOP_FROM_BOX && write->from >= 0) {
            run->saved[i] = run->registers[write->from];
        }
    }
    if (iterator != NULL) {
        memcpy(&run->saved[room], iterator, 3 * sizeof(*iterator));
    }
}

#define D r[at->d]
#define A r[at->a]
#define B r[at->b]
#define C r[at->u.more.c]
#define E r[at->u.more.e]
#define FAIL_UNLESS(condition)                                                                     \
    if (DT_UNLIKELY(!(condition))) {                                                               \
        goto failed;                                                                               \
    }
#define GO(target)                                                                                 \
    {                                                                                              \
        at = code + (target) - 1; /* and the next one */                                           \
        continue;                                                                                  \
    }
#define GO_IF(condition)                                                                           \
    if (condition) {                                                                               \
        GO(at->u.to);                                                                              \
    }                                                                                              \
    break;
#define NUMPY(operator)                                                                            \
    {                                                                                              \
        double result = A.d operator B.d;                                                          \
        FAIL_UNLESS(isfinite(result) || dt_loop_numbers_is_unreported(A.d, B.d, result));          \
        D.d = result;                                                                              \
        break;                                                                                     \
    }
#define PLACE_1 dt_loop_memory_step(A.array, 0, B.i, &item)
#define PLACE_2 (PLACE_1 && dt_loop_memory_step(A.array, 1, C.i, &item))
#define PLACE_3 (PLACE_2 && dt_loop_memory_step(A.array, 2, E.i, &item))
/* What lies there may be read and written: its alignment was looked at. */
#define ITEMS(RANK, PLACE)                                                                         \
    case DT_LOOP_OP_GET_##RANK##_F: {                                                              \
        char *item = A.array->data;                                                                \
        FAIL_UNLESS(PLACE);                                                                        \
        D.d = *(double *)item;                                                                     \
        break;                                                                                     \
    }                                                                                              \
    case DT_LOOP_OP_GET_##RANK##_I: {                                                              \
        char *item = A.array->data;                                                                \
        FAIL_UNLESS(PLACE);                                                                        \
        D.i = *(int64_t *)item;                                                                    \
        break;                                                                                     \
    }                                                                                              \
    case DT_LOOP_OP_GET_##RANK##_B: {                                                              \
        char *item = A.array->data;                                                                \
        FAIL_UNLESS(PLACE);                                                                        \
        D.i = *(uint8_t *)item != 0;                                                               \
        break;                                                                                     \
    }                                                                                              \
    case DT_LOOP_OP_SET_##RANK##_F: {                                                              \
        char *item = A.array->data;                                                                \
        FAIL_UNLESS(PLACE && dt_loop_memory_note(log, item, 8));                                   \
        *(double *)item = D.d;                                                                     \
        break;                                                                                     \
    }                                                                                              \
    case DT_LOOP_OP_SET_##RANK##_I: {                                                              \
        char *item = A.array->data;                                                                \
        FAIL_UNLESS(PLACE && dt_loop_memory_note(log, item, 8));                                   \
        *(int64_t *)item = D.i;                                                                    \
        break;                                                                                     \
    }                                                                                              \
    case DT_LOOP_OP_SET_##RANK##_B: {                                                              \
        char *item = A.array->data;                                                                \
        FAIL_UNLESS(PLACE && dt_loop_memory_note(log, item, 1));                                   \
        *(uint8_t *)item = D.i != 0;                                                               \
        break;                                                                                     \
    }

static DtLoopEnd
run_with(const DtLoopProgram *program, DtLoopRun *run, DtLoopLog *log)
{
    PyThreadState *thread = PyThreadState_GET();
    const DtLoopInstr *code = program->code, *at = code;
    DtLoopRegister *r = run->registers;
    uint32_t ticks = 0;
    for (;; at++) {
        switch ((DtLoopOp)at->op) {
        case DT_LOOP_OP_FAIL:
            goto failed;
        case DT_LOOP_OP_MOVE:
            D = A;
            break;
        case DT_LOOP_OP_JUMP:
            GO(at->u.to);
        case DT_LOOP_OP_JUMP_IF:
            GO_IF(A.i);
        case DT_LOOP_OP_JUMP_IF_NOT:
            GO_IF(!A.i);
        case DT_LOOP_OP_JUMP_I_LT:
            GO_IF(A.i < B.i);
        case DT_LOOP_OP_JUMP_I_LE:
            GO_IF(A.i <= B.i);
        case DT_LOOP_OP_JUMP_I_EQ:
            GO_IF(A.i == B.i);
        case DT_LOOP_OP_JUMP_I_NE:
            GO_IF(A.i != B.i);
        case DT_LOOP_OP_JUMP_F_LT:
            GO_IF(A.d < B.d);
        case DT_LOOP_OP_JUMP_F_LE:
            GO_IF(A.d <= B.d);
        case DT_LOOP_OP_JUMP_F_EQ:
            GO_IF(A.d == B.d);
        case DT_LOOP_OP_JUMP_F_NE:
            GO_IF(A.d != B.d);
        case DT_LOOP_OP_JUMP_NOT_F_LT:
            GO_IF(!(A.d < B.d));
        case DT_LOOP_OP_JUMP_NOT_F_LE:
            GO_IF(!(A.d <= B.d));
        case DT_LOOP_OP_COMMIT:
            save(run, &program->commits.items[at->u.to], program->saved,
                 program->iterator >= 0 ? &r[program->iterator] : NULL);
            run->iterations++;
            log->count = ticks = 0;
            if (DT_UNLIKELY(dt_signals_interrupt(thread) || run->nowned > DT_LOOP_MOST_OWNED / 2)) {
                return DT_LOOP_END_ITERATIONS;
            }
            break;
        case DT_LOOP_OP_FINISH:
            return DT_LOOP_END_ITERATIONS;
        case DT_LOOP_OP_TICK:
            if (DT_UNLIKELY(++ticks > MOST_TICKS)) {
                dt_loop_memory_take_back(log);
                run->failed = true;
                return DT_LOOP_END_TOO_LONG;
            }
            break;
        case DT_LOOP_OP_RANGE_BEGIN:
            FAIL_UNLESS(dt_loop_numbers_begin_range(A.i, B.i, C.i, &D));
            break;
        case DT_LOOP_OP_RANGE_NEXT: {
            DtLoopRegister *range = &A;
            if (range[2].i == 0) {
                GO(at->u.to);
            }
            D.i = range[0].i;
            range[0].i = (int64_t)((uint64_t)range[0].i + (uint64_t)range[1].i);
            range[2].i--;
            break;
        }
        case DT_LOOP_OP_WALK_NEXT: {
            PyObject *sequence = A.object;
            int64_t *index = &r[at->a + 1].i;
            if (*index >= Py_SIZE(sequence)) {
                GO(at->u.to);
            }
            D.object = dt_loop_memory_items(sequence)[(*index)++];
            break;
        }
        case DT_LOOP_OP_WALK_ARRAY: {
            const DtLoopArray *array = A.array;
            int64_t *index = &r[at->a + 1].i;
            if (*index >= array->sizes[0]) {
                GO(at->u.to);
            }
            dt_loop_memory_item(&D, array, (*index)++);
            break;
        }
        case DT_LOOP_OP_I_ADD:
            FAIL_UNLESS(!__builtin_add_overflow(A.i, B.i, &D.i));
            break;
        case DT_LOOP_OP_I_SUB:
            FAIL_UNLESS(!__builtin_sub_overflow(A.i, B.i, &D.i));
            break;
        case DT_LOOP_OP_I_MUL:
            FAIL_UNLESS(!__builtin_mul_overflow(A.i, B.i, &D.i));
            break;
        case DT_LOOP_OP_I_FLOOR_DIVIDE: {
            int64_t a = A.i, b = B.i;
            FAIL_UNLESS(b != 0 && !(b == -1 && a == INT64_MIN));
            D.i = a / b - ((a % b != 0) & ((a < 0) != (b < 0)));
            break;
        }
        case DT_LOOP_OP_I_REMAINDER: {
            int64_t a = A.i, b = B.i;
            FAIL_UNLESS(b != 0 && b != -1);
            int64_t rest = a % b;
            D.i = rest + ((rest != 0) & ((a < 0) != (b < 0)) ? b : 0);
            break;
        }
        case DT_LOOP_OP_I_DIVIDE: {
            int64_t a = A.i, b = B.i;
            FAIL_UNLESS(b != 0 && a <= EXACT && a >= -EXACT && b <= EXACT && b >= -EXACT);
            D.d = (double)a / (double)b;
            break;
        }
        case DT_LOOP_OP_I_POWER:
            FAIL_UNLESS(dt_loop_numbers_int_power(A.i, B.i, &D.i));
            break;
        case DT_LOOP_OP_I_AND:
            D.i = A.i & B.i;
            break;
        case DT_LOOP_OP_I_OR:
            D.i = A.i | B.i;
            break;
        case DT_LOOP_OP_I_XOR:
            D.i = A.i ^ B.i;
            break;
        case DT_LOOP_OP_I_LSHIFT:
            FAIL_UNLESS(dt_loop_numbers_shift(A.i, B.i, &D.i));
            break;
        case DT_LOOP_OP_I_RSHIFT:
            FAIL_UNLESS(B.i >= 0 && B.i < 63);
            D.i = A.i >> B.i;
            break;
        case DT_LOOP_OP_I_NEGATIVE:
            FAIL_UNLESS(A.i != INT64_MIN);
            D.i = -A.i;
            break;
        case DT_LOOP_OP_I_INVERT:
            D.i = ~A.i;
            break;
        case DT_LOOP_OP_I_ABSOLUTE:
            FAIL_UNLESS(A.i != INT64_MIN);
            D.i = A.i < 0 ? -A.i : A.i;
            break;
        case DT_LOOP_OP_I_LT:
            D.i = A.i < B.i;
            break;
        case DT_LOOP_OP_I_LE:
            D.i = A.i <= B.i;
            break;
        case DT_LOOP_OP_I_EQ:
            D.i = A.i == B.i;
            break;
        case DT_LOOP_OP_I_NE:
            D.i = A.i != B.i;
            break;
        case DT_LOOP_OP_I_TRUE:
            D.i = A.i != 0;
            break;
        case DT_LOOP_OP_NOT:
            D.i = A.i == 0;
            break;
        case DT_LOOP_OP_I_TO_F:
            D.d = (double)A.i;
            break;
        case DT_LOOP_OP_I_TO_F_EXACT:
            FAIL_UNLESS(A.i <= EXACT && A.i >= -EXACT);
            D.d = (double)A.i;
            break;
        case DT_LOOP_OP_F_ADD:
            D.d = A.d + B.d;
            break;
        case DT_LOOP_OP_F_SUB:
            D.d = A.d - B.d;
            break;
        case DT_LOOP_OP_F_MUL:
            D.d = A.d * B.d;
            break;
        case DT_LOOP_OP_F_DIVIDE:
            FAIL_UNLESS(B.d != 0.0);
            D.d = A.d / B.d;
            break;
        case DT_LOOP_OP_F_FLOOR_DIVIDE:
            FAIL_UNLESS(B.d != 0.0 && isfinite(A.d) && isfinite(B.d));
            D.d = dt_float_floor_divide(A.d, B.d);
            FAIL_UNLESS(isfinite(D.d));
            break;
        case DT_LOOP_OP_F_REMAINDER:
            FAIL_UNLESS(B.d != 0.0 && isfinite(A.d) && isfinite(B.d));
            D.d = dt_float_modulo(A.d, B.d);
            break;
        case DT_LOOP_OP_F_POWER:
            FAIL_UNLESS(dt_loop_numbers_power(A.d, B.d, &D.d));
            break;
        case DT_LOOP_OP_F_NEGATIVE:
            D.d = -A.d;
            break;
        case DT_LOOP_OP_F_ABSOLUTE:
            D.d = fabs(A.d);
            break;
        case DT_LOOP_OP_F_LT:
            D.i = A.d < B.d;
            break;
        case DT_LOOP_OP_F_LE:
            D.i = A.d <= B.d;
            break;
        case DT_LOOP_OP_F_EQ:
            D.i = A.d == B.d;
            break;
        case DT_LOOP_OP_F_NE:
            D.i = A.d != B.d;
            break;
        case DT_LOOP_OP_F_TRUE:
            D.i = A.d != 0.0;
            break;
        case DT_LOOP_OP_F_TO_I:
            FAIL_UNLESS(fabs(A.d) < MOST_INT);
            D.i = (int64_t)A.d;
            break;
        case DT_LOOP_OP_F_TO_I_FLOOR:
            FAIL_UNLESS(fabs(A.d) < MOST_INT);
            D.i = (int64_t)floor(A.d);
            break;
        case DT_LOOP_OP_F_TO_I_CEIL:
            FAIL_UNLESS(fabs(A.d) < MOST_INT);
            D.i = (int64_t)ceil(A.d);
            break;
        case DT_LOOP_OP_F_CALL: {
            double result = at->u.function(A.d);
            FAIL_UNLESS(isfinite(result) && isfinite(A.d));
            D.d = result;
            break;
        }
        case DT_LOOP_OP_F_CALL_2: {
            double result = at->u.function2(A.d, B.d);
            FAIL_UNLESS(isfinite(result) && isfinite(A.d) && isfinite(B.d));
            D.d = result;
            break;
        }
        case DT_LOOP_OP_N_ADD:
            NUMPY(+);
        case DT_LOOP_OP_N_SUB:
            NUMPY(-);
        case DT_LOOP_OP_N_MUL:
            NUMPY(*);
        case DT_LOOP_OP_N_DIVIDE:
            FAIL_UNLESS(B.d != 0.0);
            NUMPY(/);
        case DT_LOOP_OP_N_CALL: {
            double result;
            FAIL_UNLESS(at->u.call->run(at->u.call, A.d, B.d, &result));
            D.d = result;
            break;
        }
        case DT_LOOP_OP_SIZE:
            D.i = A.array->sizes[at->b];
            break;
            ITEMS(1, PLACE_1)
            ITEMS(2, PLACE_2)
            ITEMS(3, PLACE_3)
        case DT_LOOP_OP_DRAW:
            FAIL_UNLESS(dt_loop_memory_draw(log, A.object, (DtLoopDraw)at->u.more.e, B, C, &D));
            break;
        case DT_LOOP_OP_SEQUENCE_GET: {
            PyObject **place = dt_loop_memory_place(A.object, B.i);
            FAIL_UNLESS(place != NULL);
            D.object = *place;
            break;
        }
        case DT_LOOP_OP_LIST_SET:
            FAIL_UNLESS(dt_loop_memory_set(run, log, A.object, B.i, D.object));
            break;
        case DT_LOOP_OP_SEQUENCE_HAS:
            FAIL_UNLESS(Py_SIZE(A.object) == at->b);
            break;
        case DT_LOOP_OP_SEQUENCE_SIZE:
            D.i = Py_SIZE(A.object);
            break;
        case DT_LOOP_OP_TEXT_GET:
            FAIL_UNLESS(dt_loop_memory_letter(&D, A.object, B.i));
            break;
        case DT_LOOP_OP_TEXT_SIZE:
            D.i = PyUnicode_GET_LENGTH(A.object);
            break;
        case DT_LOOP_OP_READ:
            FAIL_UNLESS(A.object != NULL && dt_loop_memory_read(&D, A.object, (DtLoopKind)at->b));
            break;
        case DT_LOOP_OP_MAKE:
            D.object = dt_loop_values_make((DtLoopKind)at->b, A);
            FAIL_UNLESS(dt_loop_memory_own(run, D.object));
            break;
        case DT_LOOP_OP_COUNT:
            goto failed;
        }
    }
failed:
    dt_loop_memory_take_back(log);
    run->failed = true;
    return DT_LOOP_END_ITERATIONS;
}

DtLoopEnd
dt_loop_machine_run(const DtLoopProgram *program, DtLoopRun *run)
{
    DtLoopLog log;
    log.count = 0;
    run->iterations = 0;
    run->nowned = 0;
    run->failed = false;
    DtLoopEnd end = run_with(program, run, &log);
    return run->iterations == 0 && end == DT_LOOP_END_ITERATIONS ? DT_LOOP_END_NOTHING : end;
}
