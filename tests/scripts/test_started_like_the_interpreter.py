"""``python -m dyntrace program``: the program finds around it what ``python program`` has there."""

import os
import py_compile
import zipfile

import pytest

PROGRAM = """\
import sys

print(__file__, __name__, __package__, __doc__, __spec__ and (__spec__.name, __spec__.origin))
print(type(__loader__).__name__, getattr(__loader__, "name", None), getattr(__loader__, "path", None))
print(sys.argv, sys.path[0], sys._getframe().f_code.co_filename, sorted(globals()))
import beside

print(beside.__file__, sys.modules["__main__"].__dict__ is globals(), sys.path.count(sys.path[0]))
x: int = 3
print(__annotations__)
"""


@pytest.fixture
def program(tmp_path):
    for folder in (tmp_path / "inner", tmp_path / "package"):
        folder.mkdir()
        (folder / "program.py").write_text(PROGRAM)
        (folder / "__main__.py").write_text(PROGRAM)
        (folder / "beside.py").write_text("")
    (tmp_path / "package" / "__init__.py").write_text("")
    (tmp_path / "linked.py").symlink_to(tmp_path / "inner" / "program.py")
    (tmp_path / "program.py").write_text(PROGRAM)
    (tmp_path / "beside.py").write_text("")
    py_compile.compile(str(tmp_path / "program.py"), str(tmp_path / "inner" / "compiled.pyc"))
    with zipfile.ZipFile(tmp_path / "archive.pyz", "w") as archive:
        archive.write(tmp_path / "inner" / "__main__.py", "__main__.py")
        archive.writestr("beside.py", "")
    return tmp_path


def told(done):
    return done[0], done[1].splitlines(), done[2]


@pytest.mark.parametrize(
    "given",
    [
        ["program.py", "a", "-b"], ["./program.py"], ["inner/program.py"], ["inner/../program.py"],
        ["linked.py", "x"], ["./inner/../linked.py"], ["inner", "a"], ["inner/"], ["archive.pyz", "-v"],
        ["inner/compiled.pyc"], ["-m", "package.program", "a"], ["-m", "package"], ["-m", "program"],
    ],
)  # fmt: skip
def test_what_a_program_finds(run, program, given):
    assert told(run("-m", "dyntrace", *given)) == told(run(*given))


def test_from_another_folder(run, program):
    for given in (["../program.py"], [str(program / "program.py")], [os.path.join("..", "linked.py")]):
        plain = run(*given, cwd=program / "inner")
        assert plain[0] == 0
        assert told(run("-m", "dyntrace", *given, cwd=program / "inner")) == told(plain)


@pytest.mark.parametrize("given", [["missing.py"], ["package/nothing"], ["-m", "nothing"]])
def test_no_program(run, program, given):
    code, out, err = run("-m", "dyntrace", *given)
    assert (code, out) == (2, "")
    assert err.count("\n") == 1
    assert given[-1] in err


def test_a_folder_without_a_program(run, program):
    (program / "empty").mkdir()
    code, out, err = run("-m", "dyntrace", "empty")
    assert (code, out) == (2, "")
    assert "can't find '__main__' module in 'empty'" in err
