/* Binding the arguments of an inlined call, by CPython's rules.
 *
 *   positional ──► slots 0 .. argcount-1, the rest into *args
 *   keywords ────► slots by name, the rest into **kwargs
 *   defaults ────► slots that are still empty
 *
 * A call that does not fit is a graph break with the TypeError that CPython
 * raises when the frame runs plainly.
 */
#include "symbolic/frame.h"

#include <string.h>

typedef struct Signature {
    PyObject *name;
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

/* Names that no keyword may use. */
static bool
is_positional_only(const Signature *signature, PyObject *name)
{
    for (int i = 0; i < signature->posonly; i++) {
        if (PyUnicode_Compare(signature->slots[i].name, name) == 0) {
            return true;
        }
    }
    return false;
}

static DtStatus
bind_keywords(DtTrace *trace, DtFrame *frame, const Signature *signature, const DtArgs *args)
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
                return dt_break(trace, DT_BREAK_CALL_MISMATCH,
                                "TypeError: %s() got multiple values for argument '%s'",
                                dt_frame_text(signature->name), dt_frame_text(name));
            }
            frame->locals[slot] = args->kw[i];
        }
        else if (signature->varkeywords) {
            DT_TRY(dt_var_const(trace, name, &pairs[2 * npairs]));
            pairs[2 * npairs + 1] = args->kw[i];
            npairs++;
        }
        else if (is_positional_only(signature, name)) {
            return dt_break(trace, DT_BREAK_CALL_MISMATCH,
                            "TypeError: %s() got some positional-only arguments passed as keyword "
                            "arguments: '%s'",
                            dt_frame_text(signature->name), dt_frame_text(name));
        }
        else {
            return dt_break(trace, DT_BREAK_CALL_MISMATCH,
                            "TypeError: %s() got an unexpected keyword argument '%s'",
                            dt_frame_text(signature->name), dt_frame_text(name));
        }
    }
    if (signature->varkeywords) {
        int slot = signature->positional + signature->kwonly + signature->varargs;
        return dt_var_dict(trace, pairs, npairs, &frame->locals[slot]);
    }
    return DT_OK;
}

static DtStatus
break_too_many(DtTrace *trace, const Signature *signature, uint32_t given, uint32_t ndefaults)
{
    const char *name = dt_frame_text(signature->name);
    uint32_t most = (uint32_t)signature->positional;
    const char *were = given == 1 ? "was" : "were";
    if (ndefaults > 0) {
        return dt_break(trace, DT_BREAK_CALL_MISMATCH,
                        "TypeError: %s() takes from %u to %u positional arguments but %u %s given",
                        name, most - ndefaults, most, given, were);
    }
    return dt_break(trace, DT_BREAK_CALL_MISMATCH,
                    "TypeError: %s() takes %u positional argument%s but %u %s given", name, most,
                    most == 1 ? "" : "s", given, were);
}

/* "'a'", "'a' and 'b'", "'a', 'b', and 'c'" of the empty slots in a range. */
static DtStatus
break_missing(DtTrace *trace, DtFrame *frame, const Signature *signature, int from, int to,
              const char *what)
{
    int missing = 0, seen = 0;
    for (int i = from; i < to; i++) {
        missing += frame->locals[i] == NULL;
    }
    DtStrbuf names = {0};
    for (int i = from; i < to; i++) {
        if (frame->locals[i] == NULL) {
            const char *before = seen == 0            ? ""
                                 : seen + 1 < missing ? ", "
                                 : missing == 2       ? " and "
                                                      : ", and ";
            dt_strbuf_addf(&names, "%s'%s'", before, dt_frame_text(signature->slots[i].name));
            seen++;
        }
    }
    DtStatus status = dt_break(trace, DT_BREAK_CALL_MISMATCH,
                               "TypeError: %s() missing %d required %s argument%s: %s",
                               dt_frame_text(signature->name), missing, what,
                               missing == 1 ? "" : "s", dt_strbuf_text(&names));
    dt_strbuf_release(&names);
    return status;
}

/* The default of an existing function can be taken away without another guard noticing. */
static DtStatus
take_default(DtTrace *trace, DtFrame *frame, int slot, DtVar *value)
{
    const DtSource *source = value->source;
    frame->locals[slot] = value;
    if (source != NULL
        && (source->kind == DT_SOURCE_FUNC_DEFAULT || source->kind == DT_SOURCE_FUNC_KWDEFAULT)) {
        return dt_guard_present(trace, source);
    }
    return DT_OK;
}

static DtStatus
fill_defaults(DtTrace *trace, DtFrame *frame, const Signature *signature, DtVar *const *defaults,
              uint32_t ndefaults)
{
    int first = signature->positional - (int)ndefaults;
    for (int i = 0; i < first; i++) {
        if (frame->locals[i] == NULL) {
            return break_missing(trace, frame, signature, 0, first, "positional");
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
fill_kwdefaults(DtTrace *trace, DtFrame *frame, const Signature *signature, DtVar *kwdefaults)
{
    int end = signature->positional + signature->kwonly;
    bool missing = false;
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
        missing |= !found;
    }
    return missing
               ? break_missing(trace, frame, signature, signature->positional, end, "keyword-only")
               : DT_OK;
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

DtStatus
dt_frame_bind(DtTrace *trace, DtFrame *frame, DtFunctionVar *function, const DtArgs *args)
{
    PyCodeObject *code = frame->bytecode->code;
    int flags = dt_code_flags(code);
    Signature signature = {
        .name = function->name,
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
    DT_TRY(bind_keywords(trace, frame, &signature, args));

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
        return break_too_many(trace, &signature, args->npos, ndefaults);
    }
    if (has_empty(frame, 0, signature.positional)) {
        DT_TRY(fill_defaults(trace, frame, &signature, defaults, ndefaults));
    }
    return fill_kwdefaults(trace, frame, &signature, function->kwdefaults);
}
