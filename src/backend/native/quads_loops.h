/* The functions of quads.c, for registers of REGISTER bytes: included once for each, with VERSION,
 * what a function is compiled for, and NAMED(name), what it is called.
 */

/* Elements of a type that are worked on at once: four, or as many as fill a register. */
#define VECTOR(T)                                                                                  \
    T __attribute__((vector_size(sizeof(T) == 8 ? REGISTER : 4 * sizeof(T)), aligned(sizeof(T)),   \
                     may_alias))
#define LANES (sizeof(Vector) / sizeof (Vector){0}[0])
#define EACH_OF_QUAD for (size_t i = 0; i < 4; i += LANES)
#define EACH_LANE for (size_t k = 0; k < LANES; k++)

/* The result may take the place of an operand. */
#define QUADS_TWO(UFUNC, NAME, TYPES, T, RESULT)                                                   \
    VERSION static void NAMED(NAME)(char *const *args, npy_intp quads)                             \
    {                                                                                              \
        typedef VECTOR(T) Vector;                                                                  \
        const Vector *a = (const Vector *)args[0], *b = (const Vector *)args[1];                   \
        Vector *to = (Vector *)args[2];                                                            \
        do {                                                                                       \
            EACH_OF_QUAD                                                                           \
            {                                                                                      \
                Vector x = *a++, y = *b++;                                                         \
                *to++ = (Vector)(RESULT);                                                          \
            }                                                                                      \
        } while (--quads > 0);                                                                     \
    }
#define QUADS_ONE(UFUNC, NAME, TYPES, T, RESULT)                                                   \
    VERSION static void NAMED(NAME)(char *const *args, npy_intp quads)                             \
    {                                                                                              \
        typedef VECTOR(T) Vector;                                                                  \
        const Vector *a = (const Vector *)args[0];                                                 \
        Vector *to = (Vector *)args[1];                                                            \
        do {                                                                                       \
            EACH_OF_QUAD                                                                           \
            {                                                                                      \
                Vector x = *a++;                                                                   \
                *to++ = (Vector)(RESULT);                                                          \
            }                                                                                      \
        } while (--quads > 0);                                                                     \
    }
#define QUADS_LANE(UFUNC, NAME, TYPES, T, RESULT)                                                  \
    VERSION static void NAMED(NAME)(char *const *args, npy_intp quads)                             \
    {                                                                                              \
        typedef VECTOR(T) Vector;                                                                  \
        const Vector *a = (const Vector *)args[0];                                                 \
        Vector *to = (Vector *)args[1];                                                            \
        do {                                                                                       \
            EACH_OF_QUAD                                                                           \
            {                                                                                      \
                Vector all = *a++;                                                                 \
                EACH_LANE                                                                          \
                {                                                                                  \
                    T x = all[k];                                                                  \
                    all[k] = RESULT;                                                               \
                }                                                                                  \
                *to++ = all;                                                                       \
            }                                                                                      \
        } while (--quads > 0);                                                                     \
    }
/* The truths of a group are written as one word: read again as a whole, bytes that were written one
 * by one take several times as long. */
#define QUADS_TEST(UFUNC, NAME, TYPES, T, RESULT)                                                  \
    VERSION static void NAMED(NAME)(char *const *args, npy_intp quads)                             \
    {                                                                                              \
        typedef VECTOR(T) Vector;                                                                  \
        typedef VECTOR(LANE(T)) Mask;                                                              \
        const Vector *a = (const Vector *)args[0], *b = (const Vector *)args[1];                   \
        char *to = args[2];                                                                        \
        do {                                                                                       \
            uint32_t truths = 0;                                                                   \
            EACH_OF_QUAD                                                                           \
            {                                                                                      \
                Vector x = *a++, y = *b++;                                                         \
                Mask mask = (Mask)(RESULT);                                                        \
                EACH_LANE                                                                          \
                {                                                                                  \
                    truths |= (uint32_t)mask[k] & (uint32_t)1 << BYTE_SHIFT(i + k);                \
                }                                                                                  \
            }                                                                                      \
            memcpy(to, &truths, sizeof(truths));                                                   \
            to += sizeof(truths);                                                                  \
        } while (--quads > 0);                                                                     \
    }

/* The operand that compares so with the other one.  Which one NumPy's loop takes of two zeros of
 * different sign, and of NaNs, depends on how it was compiled: then the result is in doubt, and a
 * flag is raised for who calls us. */
#define CHOOSE(X, OPERATOR, Y, RESULT)                                                             \
    Mask is_##RESULT = (Mask)((X)OPERATOR(Y));                                                     \
    Vector RESULT = (Vector)(((Mask)(X) & is_##RESULT) | ((Mask)(Y) & ~is_##RESULT));              \
    doubt |= ((Mask)((X) == (Y)) & (Mask)((Mask)(X) != (Mask)(Y)));                                \
    doubt |= (Mask)((X) != (X)) | (Mask)((Y) != (Y));
#define RAISE_DOUBT                                                                                \
    LANE_OF_MASK in_doubt = 0;                                                                     \
    EACH_LANE                                                                                      \
    {                                                                                              \
        in_doubt |= doubt[k];                                                                      \
    }                                                                                              \
    if (in_doubt != 0) {                                                                           \
        dt_fpflags_raise();                                                                        \
    }
#define LANE_OF_MASK __typeof__((Mask){0}[0])
#define QUADS_CHOICE(UFUNC, NAME, TYPES, T, OPERATOR)                                              \
    VERSION static void NAMED(NAME)(char *const *args, npy_intp quads)                             \
    {                                                                                              \
        typedef VECTOR(T) Vector;                                                                  \
        typedef VECTOR(LANE(T)) Mask;                                                              \
        const Vector *a = (const Vector *)args[0], *b = (const Vector *)args[1];                   \
        Vector *to = (Vector *)args[2];                                                            \
        Mask doubt = {0};                                                                          \
        do {                                                                                       \
            EACH_OF_QUAD                                                                           \
            {                                                                                      \
                Vector x = *a++, y = *b++;                                                         \
                CHOOSE(x, OPERATOR, y, chosen)                                                     \
                *to++ = chosen;                                                                    \
            }                                                                                      \
        } while (--quads > 0);                                                                     \
        RAISE_DOUBT                                                                                \
    }
#define QUADS_CLIP(UFUNC, NAME, TYPES, T)                                                          \
    VERSION static void NAMED(NAME)(char *const *args, npy_intp quads)                             \
    {                                                                                              \
        typedef VECTOR(T) Vector;                                                                  \
        typedef VECTOR(LANE(T)) Mask;                                                              \
        const Vector *a = (const Vector *)args[0], *b = (const Vector *)args[1];                   \
        const Vector *c = (const Vector *)args[2];                                                 \
        Vector *to = (Vector *)args[3];                                                            \
        Mask doubt = {0};                                                                          \
        do {                                                                                       \
            EACH_OF_QUAD                                                                           \
            {                                                                                      \
                Vector x = *a++, low = *b++, high = *c++;                                          \
                CHOOSE(x, >, low, above)                                                           \
                CHOOSE(above, <, high, between)                                                    \
                *to++ = between;                                                                   \
            }                                                                                      \
        } while (--quads > 0);                                                                     \
        RAISE_DOUBT                                                                                \
    }
#include "backend/native/quads.def"
#undef QUADS_TWO
#undef QUADS_ONE
#undef QUADS_LANE
#undef QUADS_TEST
#undef QUADS_CHOICE
#undef QUADS_CLIP

#define WHERE(NAME, T)                                                                             \
    VERSION static void NAMED(NAME)(char *const *args, npy_intp quads)                             \
    {                                                                                              \
        typedef VECTOR(T) Vector;                                                                  \
        typedef int8_t Truths __attribute__((vector_size(LANES), aligned(1), may_alias));          \
        const Truths *condition = (const Truths *)args[0];                                         \
        const Vector *a = (const Vector *)args[1], *b = (const Vector *)args[2];                   \
        Vector *to = (Vector *)args[3];                                                            \
        do {                                                                                       \
            EACH_OF_QUAD                                                                           \
            {                                                                                      \
                Vector x = *a++, y = *b++;                                                         \
                Vector mask = __builtin_convertvector((Truths)(*condition++ != 0), Vector);        \
                *to++ = (x & mask) | (y & ~mask);                                                  \
            }                                                                                      \
        } while (--quads > 0);                                                                     \
    }
WHERE(where_1, int8_t)
WHERE(where_4, int32_t)
WHERE(where_8, int64_t)
#undef WHERE
#undef VECTOR
#undef LANES
#undef EACH_OF_QUAD
#undef EACH_LANE
#undef CHOOSE
#undef RAISE_DOUBT
#undef LANE_OF_MASK
#undef REGISTER
#undef VERSION
#undef NAMED
