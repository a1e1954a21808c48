/* Binding the arguments of an inlined call, by CPython's rules.
 *
 *   positional ──► slots 0 .. argcount-1, the rest into *args
 *   keywords ────► slots by name, the rest into **kwargs
 *   defaults ────► slots that are still empty
 *
 * A call that does not fit raises CPython's TypeError in the traced program
 * (mismatch.c).
 */
#include "symbolic/frame.h"

#include <string.h>

typedef struct Signature {
    int positional; /* positional-only included */
    int posonly;
    int kwonly;
    bool varargs, varkeywords;
    const DtSlot *slots;
} Signature;

static int
find_parameter(const Signature *signature, PyObject *name, int from)
{
    int count = signature->positional + signature->kwonly;
    for (int i = from; i < count; i++) {
        if (signature->slots[i].name == name) {
            return i;
        }
    }
    for (int i = from; i < count; i++) {
        if (PyUnicode_Compare(signature->slots[i].name, name) == 0) {
            return i;
        }
    }
    return -1;
}

static DtStatus
bind_keywords(DtTrace *trace, DtFrame *frame, const Signature *signature, const DtArgs *args,
              bool *fits)
{
    DtVar **pairs = NULL;
    uint32_t npairs = 0;
    if (signature->varkeywords && args->nkw > 0) {
        pairs = DT_ARENA_ARRAY(&trace->arena, DtVar *, 2 * args->nkw);
        if (pairs == NULL) {
            return dt_no_memory();
        }
    }
    for (uint32_t i = 0; i < args->nkw; i++) {
        PyObject *name = args->kwnames[i];
        int slot = find_parameter(signature, name, signature->posonly);
        if (slot >= 0) {
            if (frame->locals[slot] != NULL) {
                *fits = false;
                return DT_OK;
            }
            frame->locals[slot] = args->kw[i];
        }
        else if (signature->varkeywords) {
            DT_TRY(dt_var_const(trace, name, &pairs[2 * npairs]));
            pairs[2 * npairs + 1] = args->kw[i];
            npairs++;
        }
        else {
            *fits = false;
            return DT_OK;
        }
    }
    if (signature->varkeywords) {
        int slot = signature->positional + signature->kwonly + signature->varargs;
        return dt_var_dict(trace, pairs, npairs, &frame->locals[slot]);
    }
    return DT_OK;
}

/* The default of an existing function can be taken away without another guard noticing; keyword
 * defaults are guarded with their dict. */
static DtStatus
take_default(DtTrace *trace, DtFrame *frame, int slot, DtVar *value)
{
    const DtSource *source = value->source;
    frame->locals[slot] = value;
    if (source != NULL && source->kind == DT_SOURCE_FUNC_DEFAULT) {
        return dt_guard_present(trace, source);
    }
    return DT_OK;
}

static DtStatus
fill_defaults(DtTrace *trace, DtFrame *frame, const Signature *signature, DtVar *const *defaults,
              uint32_t ndefaults, bool *fits)
{
    int first = signature->positional - (int)ndefaults;
    for (int i = 0; i < first; i++) {
        if (frame->locals[i] == NULL) {
            *fits = false;
            return DT_OK;
        }
    }
    for (int i = first > 0 ? first : 0; i < signature->positional; i++) {
        if (frame->locals[i] == NULL) {
            DT_TRY(take_default(trace, frame, i, defaults[i - first]));
        }
    }
    return DT_OK;
}

static DtStatus
fill_kwdefaults(DtTrace *trace, DtFrame *frame, const Signature *signature, DtVar *kwdefaults,
                bool *fits)
{
    int end = signature->positional + signature->kwonly;
    for (int i = signature->positional; i < end; i++) {
        if (frame->locals[i] != NULL) {
            continue;
        }
        bool found = false;
        DtVar *key, *answer;
        if (kwdefaults != NULL) {
            DT_TRY(dt_var_const(trace, signature->slots[i].name, &key));
            DT_TRY(dt_var_contains(trace, kwdefaults, key, &answer));
            DT_TRY(dt_var_truth(trace, answer, &found));
        }
        if (found) {
            DT_TRY(dt_var_subscript(trace, kwdefaults, key, &answer));
            DT_TRY(take_default(trace, frame, i, answer));
        }
        else {
            *fits = false;
        }
    }
    return DT_OK;
}

static bool
has_empty(const DtFrame *frame, int from, int to)
{
    for (int i = from; i < to; i++) {
        if (frame->locals[i] == NULL) {
            return true;
        }
    }
    return false;
}

static DtStatus
bind(DtTrace *trace, DtFrame *frame, DtFunctionVar *function, const DtArgs *args, bool *fits)
{
    PyCodeObject *code = frame->bytecode->code;
    int flags = dt_code_flags(code);
    Signature signature = {
        .positional = dt_code_argcount(code),
        .posonly = dt_code_posonlyargcount(code),
        .kwonly = dt_code_kwonlyargcount(code),
        .varargs = (flags & CO_VARARGS) != 0,
        .varkeywords = (flags & CO_VARKEYWORDS) != 0,
        .slots = frame->bytecode->layout.slots,
    };
    uint32_t positional = (uint32_t)signature.positional;
    uint32_t taken = args->npos < positional ? args->npos : positional;
    if (taken > 0) {
        memcpy(frame->locals, args->pos, sizeof(DtVar *) * taken);
    }
    if (signature.varargs) {
        DT_TRY(dt_var_tuple(trace, args->npos > taken ? args->pos + taken : NULL,
                            args->npos - taken,
                            &frame->locals[signature.positional + signature.kwonly]));
    }
    DT_TRY(bind_keywords(trace, frame, &signature, args, fits));
    if (!*fits) {
        return DT_OK;
    }

    /* The defaults are looked at only when they are needed, so that they are guarded only then. */
    bool too_many = args->npos > positional && !signature.varargs;
    DtVar **defaults = NULL;
    uint32_t ndefaults = 0;
    if (too_many || has_empty(frame, 0, signature.positional)) {
        if (function->defaults != NULL) {
            DT_TRY(dt_var_unpack(trace, function->defaults, &defaults, &ndefaults));
        }
        if (ndefaults > positional) {
            defaults += ndefaults - positional;
            ndefaults = positional;
        }
    }
    if (too_many) {
        *fits = false;
        return DT_OK;
    }
    if (has_empty(frame, 0, signature.positional)) {
        DT_TRY(fill_defaults(trace, frame, &signature, defaults, ndefaults, fits));
    }
    return fill_kwdefaults(trace, frame, &signature, function->kwdefaults, fits);
}

DtStatus
dt_frame_bind(DtTrace *trace, DtFrame *frame, DtFunctionVar *function, const DtArgs *args)
{
    bool fits = true;
    DT_TRY(bind(trace, frame, function, args, &fits));
    return fits ? DT_OK : dt_frame_raise_mismatch(trace, function, args);
}
