/* How every fallible function answers, and how ownership is written down.
 *
 * Failure is a value: no longjmp, no global flag.  The Python error indicator
 * is set if and only if a function returned DT_ERROR.
 */
#ifndef DT_CORE_STATUS_H
#define DT_CORE_STATUS_H

typedef enum DtStatus {
    DT_OK = 0,
    DT_RAISE,   /* the traced program raises: goes to its symbolic handler */
    DT_BREAK,   /* a graph break; its reason is in the trace */
    DT_RESTART, /* retrace with what was learnt */
    DT_ERROR    /* a real exception is set in our own process */
} DtStatus;

/* Early return for functions that own nothing. */
#define DT_TRY(expr)                                                                               \
    do {                                                                                           \
        DtStatus dt_try_status_ = (expr);                                                          \
        if (dt_try_status_ != DT_OK) {                                                             \
            return dt_try_status_;                                                                 \
        }                                                                                          \
    } while (0)

/* The same for functions that clean up at one `done:` label; they keep their
 * status in a variable named `status`. */
#define DT_TRY_DONE(expr)                                                                          \
    do {                                                                                           \
        status = (expr);                                                                           \
        if (status != DT_OK) {                                                                     \
            goto done;                                                                             \
        }                                                                                          \
    } while (0)

#define DT_MUST_CHECK __attribute__((warn_unused_result))
#define DT_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))
#define DT_LIKELY(x) __builtin_expect(!!(x), 1)
#define DT_UNLIKELY(x) __builtin_expect(!!(x), 0)

/* Ownership, for the reader: written in front of a return type or parameter. */
#define DT_OWNED    /* the receiver must release it */
#define DT_BORROWED /* kept alive by somebody else */
#define DT_STEALS   /* the callee takes the caller's reference */

#endif
