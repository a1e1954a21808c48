"""On an interpreter that is not supported, functions come back unchanged, with one warning."""

import subprocess
import sys
import textwrap

import pytest

PRETEND = {
    "a newer CPython": "sys.version_info = (3, 14, 0, 'final', 0)",
    "an older CPython": "sys.version_info = (3, 9, 0, 'final', 0)",
    "a free-threaded build": "sys._is_gil_enabled = lambda: False",
    "another implementation": "sys.implementation.name = 'other'",
}


@pytest.mark.parametrize("change", PRETEND.values(), ids=PRETEND)
def test_functions_come_back_unchanged_with_one_warning(change):
    script = f"""
    import sys
    import dataclasses, functools, types, warnings  # before the pretence: they ask for the version
    {change}
    warnings.simplefilter("always")
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        import dyntrace

        def f(x):
            return x + 1

        assert dyntrace.compile(f) is f
        assert dyntrace.compile(backend="native")(f) is f
        assert dyntrace.compile(f, fullgraph=True)(2) == 3
    assert len(seen) == 1 and "run plainly" in str(seen[0].message), seen
    assert seen[0].filename == "<string>", seen[0].filename
    dyntrace.reset()
    assert dyntrace.list_backends() == []
    assert dyntrace.is_compiling() is False
    try:
        dyntrace.compile(3)
    except TypeError as error:
        assert "fn: expected" in str(error)
    else:
        raise AssertionError("compile(3) must raise")
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
