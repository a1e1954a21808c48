/* Guards in words: what a program checks, and which guard fails on a frame.
 *
 * Explaining runs the very program that a call runs and then puts the place
 * where it stopped into words.  No user code runs: objects of types other than
 * the builtin constants are named by kind, never by their repr.
 */
#include "guards/internal.h"

#include <string.h>

#include "compat/text.h"
#include "compat/type.h"

#define LONGEST_VALUE 80 /* bytes of a constant's text */

static void
add_text(PyObject *text, bool shorten, DtStrbuf *buf)
{
    const char *utf8 = text != NULL && PyUnicode_Check(text) ? PyUnicode_AsUTF8(text) : NULL;
    if (utf8 == NULL) {
        PyErr_Clear(); /* lone surrogates, or an int too long to print: texts are for people */
        dt_strbuf_add(buf, "?");
        return;
    }
    size_t length = strlen(utf8);
    if (shorten && length > LONGEST_VALUE) {
        length = LONGEST_VALUE;
        while (length > 0 && ((unsigned char)utf8[length] & 0xC0) == 0x80) {
            length--; /* not within a character */
        }
        dt_strbuf_addn(buf, utf8, length);
        dt_strbuf_add(buf, "...");
        return;
    }
    dt_strbuf_add(buf, utf8);
}

void
dt_program_describe(PyObject *object, DtStrbuf *buf)
{
    if (object == NULL) {
        dt_strbuf_add(buf, "missing");
    }
    else if (dt_recipe_is_constant(object)) {
        PyObject *text = PyObject_Repr(object);
        add_text(text, true, buf);
        Py_XDECREF(text);
    }
    else if (PyType_Check(object)) {
        dt_strbuf_add(buf, ((PyTypeObject *)object)->tp_name);
    }
    else if (PyObject_TypeCheck(object, &PyFunction_Type)) {
        dt_strbuf_add(buf, "function ");
        add_text(((PyFunctionObject *)object)->func_qualname, false, buf);
    }
    else if (PyCFunction_Check(object)) {
        dt_strbuf_addf(buf, "built-in %s", ((PyCFunctionObject *)object)->m_ml->ml_name);
    }
    else if (PyModule_CheckExact(object)) {
        PyObject *name = PyModule_GetNameObject(object);
        dt_strbuf_add(buf, "module ");
        add_text(name, false, buf);
        Py_XDECREF(name);
    }
    else {
        dt_strbuf_addf(buf, "a %s object", Py_TYPE(object)->tp_name);
    }
}

/* ---- Conditions ------------------------------------------------------------------------------ */

static const char *const op_texts[DT_SYM_OP_COUNT] = {
#define SYM_OP(NAME, ARITY, TEXT) TEXT,
#include "variables/numbers/sym_ops.def"
#undef SYM_OP
};

static const uint8_t op_arity[DT_SYM_OP_COUNT] = {
#define SYM_OP(NAME, ARITY, TEXT) ARITY,
#include "variables/numbers/sym_ops.def"
#undef SYM_OP
};

/* As dt_sym_print(), with sources instead of the names of symbols. */
static void
print_sym(const DtGuardProgram *program, const DtSym *sym, bool outer, DtStrbuf *buf)
{
    if (sym->op == DT_SYM_OP_SYMBOL) {
        DtSource source = dt_program_symbol_source(program, sym->id);
        dt_source_print(&source, buf);
        return;
    }
    if (sym->op == DT_SYM_OP_CONST) {
        dt_sym_print(sym, buf);
        return;
    }
    bool call = sym->op == DT_SYM_OP_MIN || sym->op == DT_SYM_OP_MAX || sym->op == DT_SYM_OP_ABS
                || sym->op >= DT_SYM_OP_FLOAT;
    if (call || op_arity[sym->op] == 1) {
        dt_strbuf_addf(buf, call ? "%s(" : "(%s", op_texts[sym->op]);
        print_sym(program, sym->a, true, buf);
        if (op_arity[sym->op] == 2) {
            dt_strbuf_add(buf, ", ");
            print_sym(program, sym->b, true, buf);
        }
        dt_strbuf_add(buf, ")");
        return;
    }
    dt_strbuf_add(buf, outer ? "" : "(");
    print_sym(program, sym->a, false, buf);
    dt_strbuf_addf(buf, " %s ", op_texts[sym->op]);
    print_sym(program, sym->b, false, buf);
    dt_strbuf_add(buf, outer ? "" : ")");
}

/* A number that was read when its group was verified has no register. */
static void
print_number(const DtGuardProgram *program, const DtSym *symbol, PyObject *object, DtStrbuf *buf)
{
    DtNumber number = program->numbers[symbol->id];
    if (object != NULL) {
        dt_program_describe(object, buf);
    }
    else if (symbol->type == DT_SYM_FLOAT) {
        dt_strbuf_addf(buf, "%.17g", number.d);
    }
    else {
        dt_strbuf_addf(buf, "%lld", (long long)number.i);
    }
}

/* The value of every symbol of the condition, once each. */
static void
print_numbers(const DtGuardProgram *program, const DtSym *sym, PyObject *const *regs, bool *seen,
              uint32_t *count, DtStrbuf *buf)
{
    if (sym == NULL) {
        return;
    }
    if (sym->op != DT_SYM_OP_SYMBOL) {
        print_numbers(program, sym->a, regs, seen, count, buf);
        print_numbers(program, sym->b, regs, seen, count, buf);
        return;
    }
    if (seen[sym->id]) {
        return;
    }
    seen[sym->id] = true;
    dt_strbuf_add(buf, (*count)++ == 0 ? "" : ", ");
    const DtGuardSymbol *symbol = &program->symbols[sym->id];
    PyObject *object = regs[symbol->place - 1];
    if (symbol->dim < 0) {
        print_number(program, sym, object, buf);
        return;
    }
    const DtAdapter *adapter = NULL;
    for (uint32_t i = 0; i < program->nfacts; i++) {
        if (program->facts[i].kind == DT_GUARD_ADAPTER
            && program->facts[i].source == symbol->place) {
            adapter = DT_SPEC_ADAPTER(program->facts[i].spec);
        }
    }
    if (adapter != NULL && object != NULL) {
        dt_strbuf_addf(buf, "%lld", (long long)adapter->dim(adapter, object, symbol->dim));
    }
}

/* ---- Facts ----------------------------------------------------------------------------------- */

static void
print_expected(const DtGuardProgram *program, const DtToldFact *row, DtStrbuf *buf)
{
    const DtFact *fact = &row->fact;
    switch ((DtGuardKind)fact->kind) {
    case DT_GUARD_ADAPTER:
        fact->adapter->print_guard(fact->adapter, fact->spec, buf);
        break;
    case DT_GUARD_ADAPTER_STATE:
        dt_strbuf_add(buf, fact->adapter->name);
        break;
    case DT_GUARD_SYM:
        print_sym(program, fact->sym, true, buf);
        break;
    case DT_GUARD_LENGTH:
        dt_strbuf_addf(buf, "%lld (a %s)", (long long)fact->number, row->text);
        break;
    default:
        if (row->text != NULL) {
            dt_strbuf_add(buf, row->text);
        }
        else {
            dt_program_describe(fact->object, buf);
        }
    }
}

static void
print_source(const DtSource *source, DtStrbuf *buf)
{
    if (source == NULL) {
        dt_strbuf_add(buf, "the function");
    }
    else {
        dt_source_print(source, buf);
    }
}

static void
print_fact(const DtGuardProgram *program, const DtToldFact *row, DtStrbuf *buf)
{
    for (const char *text = dt_guard_rows[row->fact.kind].text; *text != '\0'; text++) {
        if (*text != '%') {
            dt_strbuf_addn(buf, text, 1);
            continue;
        }
        switch (*++text) {
        case 's':
            print_source(row->fact.source, buf);
            break;
        case 'o':
            print_source(row->fact.other, buf);
            break;
        default:
            print_expected(program, row, buf);
        }
    }
}

static void
print_where(const DtFact *fact, DtStrbuf *buf)
{
    if (fact->filename == NULL) {
        return;
    }
    dt_strbuf_add(buf, " (");
    add_text(fact->filename, false, buf);
    if (fact->line > 0) {
        dt_strbuf_addf(buf, ":%d", fact->line);
    }
    dt_strbuf_add(buf, ")");
}

static void
print_length(const DtFact *fact, PyObject *object, DtStrbuf *buf)
{
    if (object == NULL || (PyObject *)Py_TYPE(object) != fact->object
        || !dt_type_is_static(Py_TYPE(object))) {
        dt_strbuf_add(buf, "was ");
        dt_program_describe(object, buf);
        return;
    }
    Py_ssize_t size = PyObject_Size(object); /* a builtin container's own */
    if (size < 0) {
        PyErr_Clear(); /* no length: the text says so */
    }
    dt_strbuf_addf(buf, "was %zd", size);
}

static DtStatus
print_found(const DtGuardProgram *program, const DtFact *fact, PyObject *const *regs, DtStrbuf *buf)
{
    PyObject *object = fact->source == NULL ? NULL : regs[fact->source->id];
    dt_strbuf_add(buf, ", ");
    switch ((DtGuardKind)fact->kind) {
    case DT_GUARD_TYPE:
        dt_strbuf_addf(buf, "was %s", object == NULL ? "missing" : Py_TYPE(object)->tp_name);
        break;
    case DT_GUARD_TYPE_VERSION:
        if (object != NULL && (PyObject *)Py_TYPE(object) == fact->object) {
            dt_strbuf_add(buf, "the class or a base of it was changed");
        }
        else {
            dt_strbuf_addf(buf, "was %s", object == NULL ? "missing" : Py_TYPE(object)->tp_name);
        }
        break;
    case DT_GUARD_CLASS_VERSION:
        dt_strbuf_add(buf, "one of them was changed");
        break;
    case DT_GUARD_IDENTITY:
    case DT_GUARD_CONSTANT:
        dt_strbuf_add(buf, "was ");
        dt_program_describe(object, buf);
        break;
    case DT_GUARD_LENGTH:
        print_length(fact, object, buf);
        break;
    case DT_GUARD_ADAPTER:
        dt_strbuf_add(buf, "was ");
        fact->adapter->print_found(fact->adapter, object, buf);
        break;
    case DT_GUARD_DICT_KEYS:
        dt_strbuf_add(buf, "has other keys");
        break;
    case DT_GUARD_SET_ITEMS:
        dt_strbuf_add(buf, "has other elements");
        break;
    case DT_GUARD_DEQUE:
        dt_strbuf_add(buf, "is another one");
        break;
    case DT_GUARD_SET_LAYOUT:
        dt_strbuf_add(buf, "has them in another order");
        break;
    case DT_GUARD_ATTR_ABSENT:
        dt_strbuf_add(buf, "has one now");
        break;
    case DT_GUARD_CELL_EMPTY:
        dt_strbuf_add(buf, "has contents now");
        break;
    case DT_GUARD_SAME:
        dt_strbuf_add(buf, "are two objects");
        break;
    case DT_GUARD_NOT_SAME:
        dt_strbuf_add(buf, "are one object");
        break;
    case DT_GUARD_NOT_DICT_OF:
        dt_strbuf_add(buf, "is it");
        break;
    case DT_GUARD_APART:
        dt_strbuf_add(buf, "shows some");
        break;
    case DT_GUARD_NO_KEY:
        dt_strbuf_add(buf, "is one now");
        break;
    case DT_GUARD_QUIET:
    case DT_GUARD_QUIET_CONTENTS:
    case DT_GUARD_QUIET_ATTR:
    case DT_GUARD_QUIET_GLOBAL:
        dt_strbuf_add(buf, "something does");
        break;
    case DT_GUARD_SYM: {
        bool *seen = PyMem_Calloc(program->nsymbols + 1, sizeof(bool));
        uint32_t count = 0;
        if (seen == NULL) {
            return dt_no_memory();
        }
        dt_strbuf_add(buf, "was ");
        print_numbers(program, fact->sym, regs, seen, &count, buf);
        PyMem_Free(seen);
        break;
    }
    case DT_GUARD_GLOBAL_ABSENT:
        dt_strbuf_add(buf, "is one now");
        break;
    case DT_GUARD_ABC_TOKEN:
        dt_strbuf_add(buf, "one was");
        break;
    case DT_GUARD_ADAPTER_STATE:
        dt_strbuf_add(buf, "has changed");
        break;
    case DT_GUARD_PRESENT: /* its load fails, which is told as such */
    case DT_GUARD_COUNT:
        break;
    }
    return DT_OK;
}

/* A source that could not be read: shown with the place of the first fact that needs it. */
static void
print_unreadable(const DtGuardProgram *program, uint32_t reg, DtStrbuf *buf)
{
    dt_source_print(&program->sources[reg], buf);
    dt_strbuf_add(buf, " can't be read");
    for (uint32_t i = 0; i < program->nfacts; i++) {
        DtToldFact row;
        dt_program_fact(program, i, &row);
        for (const DtSource *s = row.fact.source; s != NULL; s = s->base) {
            if (s == &program->sources[reg]) {
                print_where(&row.fact, buf);
                return;
            }
        }
    }
}

/* Texts are made without keys that may be gone. */
static void
forget_dead_keys(const DtGuardProgram *program)
{
    for (uint32_t i = 0; program->life->dead && i < program->nregs; i++) {
        if (program->sources[i].watched) {
            program->sources[i].key = NULL;
        }
    }
}

static bool
is_other_number(PyObject *expected, PyObject *found)
{
    return found != NULL && Py_TYPE(found) == Py_TYPE(expected)
           && (PyLong_CheckExact(found) || PyFloat_CheckExact(found));
}

/* A symbol, or a sum of one and a constant, that must have the value that it had. */
static bool
is_specialised(const DtSym *sym)
{
    return sym->op == DT_SYM_OP_EQ && sym->a->type == DT_SYM_INT && dt_sym_is_const(sym->b);
}

static DtStatus
add_name(const DtSource *source, PyObject *names)
{
    DtStrbuf text = {0};
    dt_source_print(source, &text);
    PyObject *name = dt_text_take(&text);
    int failed = name == NULL || PyList_Append(names, name) < 0;
    Py_XDECREF(name);
    return failed ? DT_ERROR : DT_OK;
}

static DtStatus
add_names_of_symbols(const DtGuardProgram *program, const DtSym *sym, PyObject *names)
{
    if (sym == NULL) {
        return DT_OK;
    }
    if (sym->op == DT_SYM_OP_SYMBOL) {
        DtSource source = dt_program_symbol_source(program, sym->id);
        return add_name(&source, names);
    }
    DT_TRY(add_names_of_symbols(program, sym->a, names));
    return add_names_of_symbols(program, sym->b, names);
}

static DtStatus
add_size(const DtGuardProgram *program, const DtGuardFact *fact, DtSourceKind kind, PyObject *names)
{
    DtSource size = {.kind = kind, .base = &program->sources[fact->source - 1]};
    return add_name(&size, names);
}

/* What the fact, which does not hold, is about; `found` is what its source has, or NULL. */
static DtStatus
varied_by(const DtGuardProgram *program, const DtGuardFact *fact, PyObject *found, DtVaried *varied,
          PyObject *names)
{
    if (fact->kind == DT_GUARD_SYM && is_specialised(fact->sym)) {
        *varied = DT_VARIED_SPECIALISED;
        return add_names_of_symbols(program, fact->sym->a, names);
    }
    if (fact->kind == DT_GUARD_CONSTANT && is_other_number(fact->object, found)) {
        *varied = DT_VARIED_NUMBER;
        return add_name(&program->sources[fact->source - 1], names);
    }
    if (fact->kind == DT_GUARD_DEQUE && found != NULL) {
        *varied = DT_VARIED_NUMBER;
        return add_size(program, fact, DT_SOURCE_DEQUE_SIZE, names);
    }
    if (fact->kind == DT_GUARD_LENGTH && fact->object == (PyObject *)&PyList_Type && found != NULL
        && PyList_CheckExact(found)) {
        *varied = DT_VARIED_NUMBER;
        return add_size(program, fact, DT_SOURCE_LIST_SIZE, names);
    }
    if (fact->kind == DT_GUARD_DICT_KEYS && found != NULL && PyDict_CheckExact(found)) {
        *varied = DT_VARIED_NUMBER;
        return add_size(program, fact, DT_SOURCE_LIST_SIZE, names); /* printed as that of a dict */
    }
    if (found != NULL
        && ((fact->kind == DT_GUARD_TYPE_VERSION && (PyObject *)Py_TYPE(found) == fact->object)
            || (fact->kind == DT_GUARD_CLASS_VERSION && found == fact->object))) {
        *varied = DT_VARIED_CLASS;
    }
    return DT_OK;
}

DtStatus
dt_program_varied(DtGuardProgram *program, const DtGuardFrame *frame, DtVaried *varied,
                  PyObject *names)
{
    DtStatus status = DT_OK;
    *varied = DT_VARIED_OTHER;
    if (program->user != 0) {
        return DT_OK; /* its guards can run anything */
    }
    PyObject **regs = PyMem_Calloc(program->nregs + 1, sizeof(PyObject *));
    int32_t origin = DT_NO_ORIGIN;
    if (regs == NULL) {
        return dt_no_memory();
    }
    int ok = dt_program_run_kept(program, frame, regs, &origin);
    forget_dead_keys(program);
    if (ok == 0 && origin >= 0) {
        const DtGuardFact *fact = &program->facts[origin];
        PyObject *found = fact->source != 0 ? regs[fact->source - 1] : NULL;
        status = varied_by(program, fact, found, varied, names);
    }
    for (uint32_t i = 0; i < program->nregs; i++) {
        Py_XDECREF(regs[i]);
    }
    PyMem_Free(regs);
    return ok < 0 ? DT_ERROR : status;
}

DtStatus
dt_program_explain(DtGuardProgram *program, const DtGuardFrame *frame, DtStrbuf *out)
{
    PyObject **regs = PyMem_Calloc(program->nregs + 1, sizeof(PyObject *));
    int32_t origin = DT_NO_ORIGIN;
    DtStatus status = DT_OK;
    if (regs == NULL) {
        return dt_no_memory();
    }
    int ok = dt_program_run_kept(program, frame, regs, &origin);
    forget_dead_keys(program);
    if (ok < 0) {
        status = DT_ERROR;
    }
    else if (ok == 0 && origin == DT_NO_ORIGIN) {
        dt_strbuf_add(out, "an object that the compiled code relies on is gone");
    }
    else if (ok == 0 && origin < 0) {
        print_unreadable(program, (uint32_t)~origin, out);
    }
    else if (ok == 0) {
        DtToldFact row;
        dt_program_fact(program, (uint32_t)origin, &row);
        print_fact(program, &row, out);
        status = print_found(program, &row.fact, regs, out);
        print_where(&row.fact, out);
    }
    for (uint32_t i = 0; i < program->nregs; i++) {
        Py_XDECREF(regs[i]);
    }
    PyMem_Free(regs);
    if (status == DT_OK && out->failed) {
        return dt_no_memory();
    }
    return status;
}

void
dt_program_print(const DtGuardProgram *program, DtStrbuf *out)
{
    forget_dead_keys(program);
    for (uint32_t i = 0; i < program->nfacts; i++) {
        DtToldFact row;
        dt_program_fact(program, i, &row);
        print_fact(program, &row, out);
        print_where(&row.fact, out);
        dt_strbuf_add(out, "\n");
    }
}
