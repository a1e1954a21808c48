"""Which of the imported modules the callbacks of whole-script mode are told of."""

from __future__ import annotations

import gc
import sys
import types
from importlib.machinery import ModuleSpec, SourceFileLoader
from pathlib import Path

import pytest
from dyntrace import _core

np = pytest.importorskip("numpy")


class Plain:
    def exec_module(self, module):
        pass


class Watched:
    exec_module = _core.after_executing(lambda self, module: None, lambda module: None)


class Derived(Watched):
    pass


class Again(Watched):
    def exec_module(self, module):
        super().exec_module(module)


class NoSpec:
    @property
    def loader(self):
        raise AttributeError("no loader")


class Failing:
    @property
    def loader(self):
        raise ZeroDivisionError


def module_of(name, path):
    module = types.ModuleType(name)
    module.__file__ = path
    return module


def told_of(*modules, others=None):
    told = []
    args = () if others is None else (others,)
    watched = _core.after_executing(lambda loader, module: module, told.append, *args)
    for module in modules:
        assert watched(None, module) is module
    return told


OWN = module_of("own", "/somewhere/own.py")
INSTALLED = module_of("package", "/lib/site-packages/package/__init__.py")
PART = module_of("package.part", "/lib/site-packages/package/part.py")
DEEPER = module_of("package.deeper.part", "/lib/site-packages/package/deeper/part.py")


def test_without_folders_all_modules_are_told():
    modules = [OWN, INSTALLED, np, np.linalg, gc, types, 3]
    assert told_of(*modules) == modules


def test_parts_of_packages_in_folders_of_others_are_not_told():
    others = {"/lib/site-packages/package"}
    modules = [OWN, INSTALLED, PART, DEEPER]
    assert told_of(*modules, others=others) == [OWN, INSTALLED, DEEPER]
    others.add("/lib/site-packages/package/deeper")
    assert told_of(*modules, others=others) == [OWN, INSTALLED]


def test_of_libraries_only_the_array_library_itself_is_told():
    numpy_folder = str(Path(np.__file__).parent)
    assert told_of(np, np.linalg, types, others=set()) == [np]
    assert told_of(np, np.linalg, types, others={numpy_folder}) == [np]


class Text(str):
    __slots__ = ()


class Module(types.ModuleType):
    pass


@pytest.mark.parametrize("name", ["own", "näme", "\udc80", None, 7, Text("types")])
@pytest.mark.parametrize("path", ["here.py", None, 7, Text("/others/x.py"), "/\udc80/x.py", ""])
def test_odd_modules_are_told(name, path):
    module = module_of("own", path)
    module.__name__ = name
    assert told_of(module, others={"/others", "/somewhere"}) == [module]


def test_other_kinds_of_modules_are_told():
    module = Module("types")
    module.__file__ = "/others/types.py"
    empty = types.ModuleType("types")
    del empty.__name__
    assert told_of(module, empty, "types", others={"/others"}) == [module, empty, "types"]


@pytest.mark.parametrize(
    ("spec", "is_told"),
    [
        (ModuleSpec("m", Plain()), True),
        (ModuleSpec("m", Again()), True),
        (ModuleSpec("m", None), True),
        (ModuleSpec("m", SourceFileLoader("m", "m.py")), True),
        (ModuleSpec("m", Watched()), False),
        (ModuleSpec("m", Derived()), False),
        (ModuleSpec("m", Watched), True),  # the class is the loader: its methods are its type's
        (NoSpec(), True),
        (Failing(), True),
        (None, True),
    ],
)
def test_specs_are_told_unless_their_loader_tells(spec, is_told):
    told = []
    load = _core.after_loading(lambda spec, name=None: (spec, name), told.append)
    assert load(spec) == (spec, None)
    assert load(spec, name="n") == (spec, "n")
    assert told == ([spec, spec] if is_told else [])


def test_a_loader_that_is_changed_later_is_seen():
    class Loader(Plain):
        pass

    told = []
    load = _core.after_loading(lambda spec: None, told.append)
    spec = ModuleSpec("m", Loader())
    load(spec)
    Plain.exec_module, before = Watched.exec_module, Plain.exec_module
    try:
        load(spec)
    finally:
        Plain.exec_module = before
    load(spec)
    assert told == [spec, spec]


def test_nothing_is_told_of_a_call_that_raises():
    told = []

    def fail(loader, module):
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        _core.after_executing(fail, told.append, set())(None, OWN)
    with pytest.raises(ZeroDivisionError):
        _core.after_loading(lambda spec: 1 / 0, told.append)(ModuleSpec("m", None))
    assert told == []


def test_folders_are_a_set():
    with pytest.raises(TypeError):
        _core.after_executing(print, print, ["/lib"])


def test_the_folders_live_as_long_as_what_looks_in_them():
    others = {"/lib/site-packages", "/" + "x" * 50}
    before = sys.getrefcount(others)
    watched = _core.after_executing(print, print, others)
    assert sys.getrefcount(others) == before + 1
    del watched
    assert sys.getrefcount(others) == before


IMPORTING = """
import sys
import {package}.tools, json.decoder, own
from dyntrace import _core
names = sorted(row["function"] for row in _core.list_prepared())
print(names, {package}.tools.double(2), own.double(3))
"""

TOOLS = """
import numpy as np
def double(x):
    return np.multiply(x, 2)
"""


@pytest.mark.parametrize("modules", ["", "pack*"])
def test_installed_modules_are_prepared_only_where_wanted(run, tmp_path, modules):
    package = tmp_path / "lib" / "site-packages" / "package"
    package.mkdir(parents=True)
    for name in ("__init__", "first", "tools"):
        text = (
            TOOLS if name == "tools" else "from package import first" if name == "__init__" else ""
        )
        (package / f"{name}.py").write_text(text)
    (tmp_path / "own.py").write_text(TOOLS.replace("double", "twice") + "double = twice\n")
    program = tmp_path / "program.py"
    program.write_text(
        f"import sys; sys.path.insert(0, {str(package.parent)!r})"
        + IMPORTING.format(package="package")
    )
    settings = {"DYNTRACE_MODULES": modules} if modules else {}
    code, out, err = run(str(program), DYNTRACE="1", **settings)
    wanted = ["double", "twice"] if modules else ["twice"]
    assert (code, out, err) == (0, f"{wanted} 4 6\n", "")
