"""`from package import name` where the name is a submodule that was not imported yet."""

import sys

import dyntrace
import pytest
from differential import Compiled


@pytest.fixture
def package(tmp_path, monkeypatch):
    (tmp_path / "dt_package").mkdir()
    (tmp_path / "dt_package" / "__init__.py").write_text("present = 5\n")
    (tmp_path / "dt_package" / "late.py").write_text("x = 1\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    import dt_package  # noqa: F401

    yield
    for name in [name for name in sys.modules if name.startswith("dt_package")]:
        del sys.modules[name]


def late():
    from dt_package import late

    return late.x


def both():
    from dt_package import late, present

    return late.x, present


def lacking():
    from dt_package import nothing

    return nothing


@pytest.mark.parametrize("fn, expected", [(late, 1), (both, (1, 5))])
def test_submodule(package, fn, expected):
    with dyntrace.config.patch(everything=True, strict=True):
        compiled = Compiled(fn)
        assert [compiled() for _ in range(3)] == [expected] * 3


def test_name_that_is_nowhere(package):
    with dyntrace.config.patch(everything=True, strict=True):
        with pytest.raises(ImportError, match="nothing"):
            Compiled(lacking)()
