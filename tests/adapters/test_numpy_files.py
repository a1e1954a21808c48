"""NumPy's functions that read files and texts: in the graph, where a file can be read again."""

import builtins
import io
import os
import re
import warnings
from pathlib import Path

import dyntrace
import numpy as np
import pytest
from differential import Compiled, Outcome, check, compare

V = np.arange(1.0, 7.0)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("files")
    np.save(path / "matrix.npy", np.arange(6.0).reshape(2, 3))
    np.save(path / "fortran.npy", np.asfortranarray(np.arange(6).reshape(2, 3)))
    np.save(path / "date.npy", np.array(["2020-01-01"], "M8[D]"))
    np.save(path / "objects.npy", np.array([None, 1], dtype=object), allow_pickle=True)
    np.savez(path / "archive.npz", a=V)
    V.tofile(path / "raw")
    (path / "empty").write_bytes(b"")
    (path / "table.txt").write_text("# x y\n1 2.5\n3 4\n5 6\n")
    (path / "one.txt").write_text("7\n")
    (path / "names.csv").write_text("a,b\n1,2.5\n3,x\n")
    (path / "bad.txt").write_text("1 2\n3\n")
    (path / "lines.log").write_text("n=1 x=2.5\nn=2 x=3.5\n")
    return path


READS = {
    "load": (lambda p, a: (a * 2, np.load(p)), "matrix.npy"),
    "load of Fortran's order": (lambda p, a: (a * 2, np.load(p)), "fortran.npy"),
    "load of dates": (lambda p, a: (a * 2, np.load(p)), "date.npy"),
    "fromfile": (lambda p, a: (np.fromfile(p) * 2, a + 1), "raw"),
    "fromfile of a dtype": (lambda p, a: (np.fromfile(p, np.uint8).sum(), a + 1), "raw"),
    "fromfile of dates": (lambda p, a: (np.fromfile(p, "M8[s]"), a + 1), "raw"),
    "fromfile of another byte order": (lambda p, a: (np.fromfile(p, ">i4"), a + 1), "raw"),
    "fromfile of a part": (
        lambda p, a: (np.fromfile(p, dtype="f4", count=3, offset=8) * 2, a + 1), "raw",
    ),
    "fromfile of nothing": (lambda p, a: (np.fromfile(p, "i4") * 2, a + 1), "empty"),
    "loadtxt": (lambda p, a: (np.loadtxt(p), a + 1), "table.txt"),
    "loadtxt of columns": (lambda p, a: (np.loadtxt(p, usecols=(1,), skiprows=1), a + 1), "table.txt"),
    "loadtxt of columns apart": (lambda p, a: (np.loadtxt(p, unpack=True, ndmin=2), a + 1), "table.txt"),
    "loadtxt of one number": (lambda p, a: (np.loadtxt(p), a + 1), "one.txt"),
    "genfromtxt": (lambda p, a: (np.genfromtxt(p), a + 1), "table.txt"),
    "genfromtxt with names": (
        lambda p, a: (np.genfromtxt(p, delimiter=",", names=True), a + 1), "names.csv",
    ),
    "genfromtxt of any dtype": (
        lambda p, a: (np.genfromtxt(p, dtype=None, delimiter=",", skip_header=1, encoding="utf8"), a + 1),
        "names.csv",
    ),
    "fromregex": (
        lambda p, a: (np.fromregex(p, r"n=(\d+) x=([\d.]+)", [("n", "i8"), ("x", "f8")]), a + 1),
        "lines.log",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", READS)
def test_reads_in_the_graph(name, folder):
    fn, file = READS[name]
    check(fn, str(folder / file), V)


TEXTS = {
    "fromstring": (lambda t, a: (np.fromstring(t, sep=" ") * 2, a + 1), "1 2.5 3e2 -4 .5 6."),
    "fromstring with commas": (lambda t, a: (np.fromstring(t, sep=",").sum(), a + 1), "1,2, 3\n"),
    "fromstring of ints": (lambda t, a: (np.fromstring(t, dtype=int, sep=";") * 2, a + 1), "-1;2;3"),
    "fromstring of a large int": (
        lambda t, a: (np.fromstring(t, np.int64, sep=" "), a + 1), "99999999999999999999999",
    ),
    "fromstring of a literal": (lambda t, a: (np.fromstring("1 2 3", sep=" ") + 1, a + 1), ""),
}  # fmt: skip


@pytest.mark.parametrize("name", TEXTS)
def test_reads_a_text_in_the_graph(name):
    fn, text = TEXTS[name]
    check(fn, text, V)


@pytest.mark.parametrize("text", ["", "1 x", "1 2 3 ", "1_0", "nan 1", "0x10", "\u0661", "1,2"])
def test_other_texts_run_plainly(text):
    """NumPy warns of them, or raises, in the caller's line; each time, and once."""

    def fn(t, a):
        return np.fromstring(t, sep=" "), a + 1

    compiled = Compiled(fn)
    for t in ("1 2", text, "3 4 5", text):
        compare(Outcome(fn, [t, V], {}), Outcome(compiled, [t, V], {}))


def test_another_file_finds_the_same_entry(folder):
    def fn(p, a):
        return np.fromfile(p, np.uint8) * 2, a + 1

    compiled = dyntrace.compile(fn)
    for name in ("raw", "one.txt", "table.txt", "empty", "names.csv"):
        found, plain = compiled(str(folder / name), V), fn(str(folder / name), V)
        assert found[0].tobytes() == plain[0].tobytes()
    assert dyntrace.explain(fn)(str(folder / "raw"), V).graph_count == 1


ODD = {
    "no such file": (lambda p, a: (a + 1, np.load(p)), "nothing.npy"),
    "no such text": (lambda p, a: (a + 1, np.loadtxt(p)), "nothing.txt"),
    "a folder": (lambda p, a: (a + 1, np.fromfile(p)), "."),
    "rows of several lengths": (lambda p, a: (a + 1, np.loadtxt(p)), "bad.txt"),
    "rows that are left out": (lambda p, a: (a + 1, np.genfromtxt(p)), "bad.txt"),
    "nothing to read": (lambda p, a: (a + 1, np.loadtxt(p)), "empty"),
    "nothing to make numbers of": (lambda p, a: (a + 1, np.genfromtxt(p)), "empty"),
    "no numbers": (lambda p, a: (a + 1, np.loadtxt(p)), "lines.log"),
    "a pattern that may warn": (
        lambda p, a: (a + 1, np.fromregex(p, r"n=([[\d]+)", [("n", "i8")])), "lines.log",
    ),
    "no array": (lambda p, a: (a + 1, np.load(p)), "raw"),
    "pickled": (lambda p, a: (a + 1, np.load(p)), "objects.npy"),
}  # fmt: skip


@pytest.mark.parametrize("name", ODD)
def test_what_cannot_be_read_is_said_in_the_program(name, folder):
    fn, file = ODD[name]
    path = str(folder / file)
    compiled = Compiled(fn)
    for _ in range(3):
        re.purge()  # a pattern is warned of when it is compiled
        plain = Outcome(fn, [path, V], {})
        re.purge()
        compare(plain, Outcome(compiled, [path, V], {}))


def test_an_archive(folder):
    def fn(p, a):
        return a + 1, np.load(p)["a"] * 2

    compiled = dyntrace.compile(fn)
    for _ in range(3):
        found = compiled(str(folder / "archive.npz"), V)
        assert found[1].tobytes() == (V * 2).tobytes()


def test_a_pipe_is_read_once(tmp_path):
    path = str(tmp_path / "pipe")
    os.mkfifo(path)

    def fn(p, a):
        return a + 1, np.loadtxt(p)

    compiled = dyntrace.compile(fn)
    (tmp_path / "file").write_text("1 2\n")
    compiled(str(tmp_path / "file"), V)
    child = os.fork()
    if child == 0:
        with open(path, "w") as out:
            out.write("5 6\n")
        os._exit(0)
    try:
        assert compiled(path, V)[1].tolist() == [5, 6]
    finally:
        os.waitpid(child, 0)


def test_open_of_the_program_is_called_once(folder, monkeypatch):
    opened = []

    def fn(p, a):
        return a + 1, np.load(p)

    def own(*args, **kwargs):
        opened.append(args[0])
        return io.open(*args, **kwargs)

    compiled = dyntrace.compile(fn)
    path = str(folder / "matrix.npy")
    compiled(path, V)
    monkeypatch.setattr(builtins, "open", own)
    compiled(path, V)
    assert opened == [path]


BREAKS = {
    "a path that is no text": lambda p, a: (a + 1, np.load(Path(p))),
    "memory that is mapped": lambda p, a: (a + 1, np.load(p, mmap_mode="r")),
    "lines": lambda p, a: (a + 1, np.loadtxt(["1 2", "3 4"])),
    "a converter": lambda p, a: (a + 1, np.genfromtxt(p, converters={0: float}, encoding="latin1")),
}


@pytest.mark.parametrize("name", BREAKS)
def test_is_a_break(name, folder):
    fn = BREAKS[name]
    check(fn, str(folder / "matrix.npy"), V, breaks="array-op")


def test_ints_are_a_break(folder):
    """Of a float in the place of an int NumPy warns."""
    check(lambda p, a: (a + 1, np.loadtxt(p, dtype=int)), str(folder / "one.txt"), V, breaks="array-op")


def test_a_flag_in_the_same_run(folder):
    """The run is dropped behind the reading, which is then made again."""

    def fn(p, a):
        b = np.fromfile(p)
        return a / (a - 1), b

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check(fn, str(folder / "raw"), V)
