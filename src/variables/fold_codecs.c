/* Which codecs are the interpreter's own: see fold.h.
 *
 * A program registers codecs and error handlers of its own, and these may do anything; what is
 * named here is found before them, or without asking for any.  Another one is a graph break.
 *
 * Not in here: `str(data, encoding)` and `bytes(text, encoding)`, which are not folded.
 */
#include "variables/fold.h"

#include <string.h>

/* In lower case, with hyphens for underscores and spaces. */
static const char *const encodings[] = {
    "utf-8",
    "utf8",
    "utf",
    "u8",
    "ascii",
    "us-ascii",
    "646",
    "latin-1",
    "latin1",
    "latin",
    "l1",
    "iso-8859-1",
    "iso8859-1",
    "8859",
    "utf-16",
    "utf16",
    "utf-16-le",
    "utf-16le",
    "utf-16-be",
    "utf-16be",
    "utf-32",
    "utf32",
    "utf-32-le",
    "utf-32le",
    "utf-32-be",
    "utf-32be",
    "unicode-escape",
    "raw-unicode-escape",
    NULL,
};

static const char *const error_handlers[] = {
    "strict",          "ignore",           "replace",
    "surrogateescape", "backslashreplace", "xmlcharrefreplace",
    "namereplace",     "surrogatepass",    NULL,
};

static bool
is_listed(const char *name, const char *const *list)
{
    while (*list != NULL && strcmp(name, *list) != 0) {
        list++;
    }
    return *list != NULL;
}

/* As the interpreter looks for it. */
static bool
is_own_encoding(const char *name)
{
    char plain[32];
    size_t i = 0;
    for (; name[i] != '\0' && i < sizeof(plain) - 1; i++) {
        plain[i] = name[i] == '_' || name[i] == ' ' ? '-' : (char)Py_TOLOWER(name[i]);
    }
    plain[i] = '\0';
    return name[i] == '\0' && is_listed(plain, encodings);
}

static PyObject *
argument(PyObject *args, PyObject *keywords, Py_ssize_t index, const char *name)
{
    if (index < PyTuple_GET_SIZE(args)) {
        return PyTuple_GET_ITEM(args, index);
    }
    return keywords != NULL ? PyDict_GetItemString(keywords, name) : NULL;
}

bool
dt_fold_is_own_codec(const char *name, PyObject *args, PyObject *keywords)
{
    if (strcmp(name, "encode") != 0 && strcmp(name, "decode") != 0) {
        return true;
    }
    PyObject *encoding = argument(args, keywords, 0, "encoding");
    PyObject *errors = argument(args, keywords, 1, "errors");
    /* What is no text fails before anything is asked for. */
    return (encoding == NULL || !PyUnicode_Check(encoding)
            || is_own_encoding(dt_kinds_text(encoding)))
           && (errors == NULL || !PyUnicode_Check(errors)
               || is_listed(dt_kinds_text(errors), error_handlers));
}
