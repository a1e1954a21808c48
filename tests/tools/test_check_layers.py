"""tools/check_layers.py finds what it says it finds, and the sources are free of it."""

import importlib.util
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def checker(tmp_path, monkeypatch):
    spec = importlib.util.spec_from_file_location("check_layers", ROOT / "tools/check_layers.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.setattr(module, "SRC", tmp_path)
    return module


def findings(checker, name, text):
    path = checker.SRC / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return list(checker.check(path, style=True))


HEAD = "/* A file. */\n"


@pytest.mark.parametrize(
    "name, text, message",
    [
        ("core/a.c", HEAD + '#include "graph/g.h"\n', "layer 0"),
        ("variables/a.c", HEAD + '#include "symbolic/s.h"\n', "layer 3"),
        ("graph/a.c", HEAD + "#include <Python.h>\n", "compat/python.h"),
        ("core/a.c", HEAD + '#include "compat/python.h"\n', "knows no Python"),
        ("graph/a.c", HEAD + "#include <numpy/arrayobject.h>\n", "NumPy's headers"),
        ("graph/a.c", HEAD + '#include "internal/pycore_frame.h"\n', "internal headers"),
        ("symbolic/a.c", HEAD + "#if PY_VERSION_HEX > 0\n#endif\n", "version test"),
        ("graph/a.c", HEAD + "void f(void)\n{\n    PyErr_Clear();\n}\n", "PyErr_Clear"),
        ("graph/a.c", HEAD + '#include "graph/nowhere.h"\n', "no such file"),
        ("graph/a.c", "int a;\n", "begin with a comment"),
        ("graph/a.c", HEAD + "/* TO" + "DO: later */\n", "belongs into an issue"),
        ("graph/a.c", HEAD + "int a; \n", "blanks"),
        ("graph/a.c", HEAD + "/* " + "x" * 100 + " */\n", "columns"),
        ("graph/a.c", HEAD + "int a;", "no newline"),
        ("elsewhere/a.c", HEAD, "no layer"),
    ],
)
def test_finding(checker, name, text, message):
    found = findings(checker, name, text)
    assert any(message in line for line in found), found


@pytest.mark.parametrize(
    "name, text",
    [
        ("compat/python.h", HEAD + '#include <Python.h>\n#include "internal/pycore_frame.h"\n'),
        ("compat/a.c", HEAD + "#if PY_VERSION_HEX > 0\n#endif\n"),
        ("adapters/numpy/a.c", HEAD + "#include <numpy/arrayobject.h>\n"),
        ("graph/a.c", HEAD + "/* clears what f() left behind */\nvoid f(void) { PyErr_Clear(); }\n"),
        ("symbolic/a.c", HEAD + "/* not a PY_VERSION_HEX test */\n"),
        ("graph/rows.def", "# a table\n" + "x" * 120 + "\n"),
    ],
)
def test_no_finding(checker, name, text):
    assert findings(checker, name, text) == []


def test_numpy_folders_behind_the_condition(checker):
    include = '#include "adapters/numpy/n.h"\n'
    (checker.SRC / "adapters/numpy").mkdir(parents=True)
    (checker.SRC / "adapters/numpy/n.h").write_text(HEAD)
    bare = findings(checker, "module/a.c", HEAD + include)
    guarded = findings(
        checker, "module/a.c", HEAD + "#if DYNTRACE_HAVE_NUMPY\n" + include + "#endif\n"
    )
    after = findings(
        checker, "module/a.c", HEAD + "#if DYNTRACE_HAVE_NUMPY\n#else\n" + include + "#endif\n"
    )
    assert bare and after and not guarded
