"""Programs whose loops are entered while they run, and how one is executed and compared.

Each program is the text of a module. `LOG` is a list in its namespace. Everything that it leaves behind is
compared, and the exception that leaves it with its lines.
"""

from __future__ import annotations

import contextlib
import io
import textwrap
import traceback

import dyntrace
import numpy as np

# name -> (source, fewest compiled pieces with a graph)
PROGRAMS = {
    "for_loop": (
        """
        x = np.ones(4)
        for i in range(12):
            x = x * 1.01 + i
        """,
        1,
    ),
    "while_loop": (
        """
        x, k = np.ones(4), 0
        while k < 12:
            x = x * 1.01 - k
            k += 1
        """,
        1,
    ),
    "print_inside": (
        """
        x = np.ones(4)
        for i in range(12):
            x = x * 1.5 + 1
            print(i)
            x = x / 1.25 - 2
        """,
        2,
    ),
    "nested": (
        """
        total = np.zeros(3)
        for i in range(6):
            row = np.ones(3)
            for j in range(5):
                row = row * 1.5 + j
                LOG.append((i, j))
            total = total + row
        """,
        1,
    ),
    "else_break_continue": (
        """
        x = np.ones(3)
        for i in range(9):
            x = x + i
            if i == 2:
                continue
            if i == 7:
                break
            x = x * 2.0
        else:
            LOG.append("never")
        for i in range(4):
            x = x - 1.0
        else:
            LOG.append("else")
        """,
        1,
    ),
    "written_in_place": (
        """
        x = np.zeros(5)
        same = x
        for i in range(10):
            x += 1.5
            x[i % 5] = i
        LOG.append(same is x)
        """,
        1,
    ),
    "names_come_and_go": (
        """
        x = np.ones(3)
        for i in range(8):
            y = x * 2
            z = y + i
            x = z - y
            del y
            if i % 2:
                del z
        LOG.append(sorted(n for n in globals() if len(n) == 1))
        """,
        1,
    ),
    "a_builtin_is_hidden": (
        """
        x = np.ones(3)
        for i in range(8):
            n = len([1, 2])
            x = x + n
            if i == 4:
                def len(what):
                    return 40
            if i == 6:
                del len
        """,
        1,
    ),
    "functions_read_the_names": (
        """
        def step(x):
            return x * scale + shift()
        def shift():
            return offset
        x, scale, offset = np.ones(3), 1.5, 0
        for i in range(9):
            x = step(x)
            offset = i * 0.5
            if i == 5:
                scale = 0.25
        """,
        1,
    ),
    "functions_write_the_names": (
        """
        def count():
            global hits
            hits += 1
            return hits
        x, hits = np.ones(3), 0
        for i in range(9):
            x = x + count()
            LOG.append(hits)
        """,
        1,
    ),
    "globals_is_called": (
        """
        x = np.ones(3)
        for i in range(6):
            x = x + 1
            globals()["y"] = x * 2
            x = y - globals()["x"]
            LOG.append(sorted(locals()) == sorted(globals()))
        """,
        1,
    ),
    "kinds_change": (
        """
        x, k = np.ones(3), 1
        for i in range(12):
            x = x * k
            k = {3: 2.5, 5: True, 7: np.float64(0.5), 9: 1 << 70, 10: 3}.get(i, k)
            x = x / (x[0] + 1.0)
        """,
        1,
    ),
    "lists_and_dicts": (
        """
        x, rows, seen = np.ones(3), [], {}
        for i in range(8):
            x = x * 1.5
            rows.append(x)
            seen[i] = x.sum()
            if i == 4:
                rows = rows[2:]
        """,
        1,
    ),
    "comprehensions": (
        """
        x = np.ones(3)
        for i in range(8):
            parts = [x * j for j in range(3)]
            x = sum(parts) / (i + 1)
            pairs = {j: i for j in range(2)}
        """,
        1,
    ),
    "a_class_is_made": (
        """
        x = np.ones(3)
        for i in range(5):
            class Here:
                factor = i
                def of(self, y):
                    return y * self.factor + 1
            x = Here().of(x)
        """,
        0,
    ),
    "imports": (
        """
        x = np.ones(3)
        for i in range(6):
            import math
            from math import sqrt
            x = x * sqrt(i) + math.pi
        """,
        1,
    ),
    "try_inside": (
        """
        x = np.ones(3)
        for i in range(9):
            try:
                x = x + 1
                if i % 3 == 2:
                    raise ValueError(i)
                x = x * 2
            except ValueError as error:
                LOG.append(error.args)
                x = x - 3
            finally:
                x = x / 2
        """,
        1,
    ),
    "with_inside": (
        """
        class Manager:
            def __enter__(self):
                LOG.append("in")
                return self
            def __exit__(self, *info):
                LOG.append(info[0])
                return True
        x = np.ones(3)
        for i in range(7):
            with Manager() as manager:
                x = x * 2
                if i == 3:
                    fail(i)
                x = x - 1
        """,
        1,
    ),
    "inside_try": (
        """
        x = np.ones(3)
        try:
            for i in range(9):
                x = x + i
                if i == 6:
                    fail("out")
                x = x * 2
        except ValueError as error:
            LOG.append(str(error))
        """,
        1,
    ),
    "name_error": (
        """
        x = np.ones(3)
        for i in range(9):
            x = x + i
            if i == 6:
                x = x + missing
        """,
        1,
    ),
    "an_error_of_numpy": (
        """
        x, y = np.ones(3), np.ones(3)
        for i in range(9):
            x = x + y
            if i == 6:
                y = np.ones(4)
        """,
        1,
    ),
    "an_error_in_a_callee": (
        """
        def part(x, i):
            if i == 5:
                raise KeyError(i)
            return x * 2
        x = np.ones(3)
        for i in range(9):
            x = x + 1
            x = part(x, i)
        """,
        1,
    ),
    "index_error": (
        """
        x = np.arange(5.0)
        s = 0.0
        for i in range(9):
            s = s + x[i] * 2
        """,
        0,
    ),
    "rows_of_an_array": (
        """
        A, s = np.arange(12.0).reshape(4, 3), np.zeros(3)
        for row in A:
            s = s + row * 2
        for i, row in enumerate(A):
            s = s + row * i
        for a, b in zip(A, A[::-1]):
            s = s - a * b
        """,
        1,
    ),
    "objects": (
        """
        class Body:
            def __init__(self):
                self.p, self.v = np.zeros(2), np.ones(2)
            def step(self, dt):
                self.p += self.v * dt
                self.v = self.v * 0.99
        body = Body()
        for i in range(10):
            body.step(0.1)
            body.age = i
        """,
        1,
    ),
    "those_who_die_act": (
        """
        class Loud:
            def __init__(self, n):
                self.n = n
            def __del__(self):
                LOG.append(("dead", self.n, float(x[0])))
        x = np.ones(3)
        for i in range(6):
            x = x + 1
            loud = Loud(i)
            x = x * 2
        del loud
        """,
        0,
    ),
    "weak_references": (
        """
        import weakref
        x, refs = np.ones(3), []
        for i in range(6):
            x = x * 2.0
            refs.append(weakref.ref(x, lambda r, i=i: LOG.append(i)))
        LOG.append([r() is None for r in refs])
        """,
        0,
    ),
    "annotations": (
        """
        x: np.ndarray = np.ones(3)
        for i in range(6):
            y: int = i * 2
            x = x + y
        LOG.append(sorted(__annotations__))
        """,
        1,
    ),
    "generators": (
        """
        def numbers():
            for n in range(6):
                LOG.append(n)
                yield n
        x = np.ones(3)
        for n in numbers():
            x = x * 0.5 + n
        for y in (x * k for k in range(6)):
            x = x + y
        """,
        1,
    ),
    "match_inside": (
        """
        x = np.ones(3)
        for i in range(9):
            match i % 3, x.shape:
                case 0, (n,):
                    x = x + n
                case 1, _:
                    x = x * 2
                case _:
                    x = x - 1
        """,
        1,
    ),
    "a_lambda_is_kept": (
        """
        x, kept = np.ones(3), []
        for i in range(5):
            x = x + 1
            kept.append(lambda y: y * i + x)
        LOG.append([f(1.0).tolist() for f in kept])
        """,
        0,
    ),
    "deep_expressions": (
        """
        x = np.ones(3)
        for i in range(8):
            x = (x * 2 + [log(i), x][1]) / (x + log(x.shape[0])) - f"{i}".count("1")
        """,
        1,
    ),
    "main_guard": (
        """
        def main(n):
            x = np.ones(3)
            for i in range(n):
                x = x * 1.5 - i
            return x
        if __name__ == "__main__":
            for i in range(5):
                x = main(4) + i
        """,
        1,
    ),
    "sorted_with_keys": (
        """
        x, order = np.ones(3), [3, 1, 2]
        for i in range(5):
            order = sorted(order, key=lambda n: (n * 7 + i) % 4)
            x = x * order[0] + 1
        """,
        1,
    ),
    "a_name_of_the_loop_ends_it": (
        """
        going, x = True, np.ones(3)
        while going:
            x = x * 2
            going = bool(x[0] < 500)
            LOG.append(going)
        """,
        0,
    ),
}


def log_in(log):
    @dyntrace.disable
    def write(value):
        log.append(value)
        return 1.0

    return write


@dyntrace.disable
def fail(text):
    raise ValueError(text)


def portrait(value, names):
    """What a value is, with objects that have names told apart by them."""
    if isinstance(value, np.ndarray):
        return ("array", value.dtype.str, value.shape, value.tobytes(), names.get(id(value)))
    if isinstance(value, (list, tuple)):
        return (type(value).__name__, [portrait(v, names) for v in value])
    if isinstance(value, dict):
        return ("dict", [(k, portrait(v, names)) for k, v in value.items()])
    if isinstance(value, (int, float, str, bytes, bool, type(None), np.generic)):
        return (type(value).__name__, repr(value))
    if type(value).__module__ == "__main__" and hasattr(value, "__dict__"):
        return (type(value).__name__, portrait(vars(value), names))
    return type(value).__name__


def run(code, log=None, more=None):
    log = [] if log is None else log
    space = {"__name__": "__main__", "np": np, "LOG": log, "fail": fail, "log": log_in(log)}
    hidden = {"__builtins__", "log", *(more or ())}
    space.update(more or {})
    out = io.StringIO()
    lines = None
    with contextlib.redirect_stdout(out):
        try:
            exec(code, space)
        except Exception as error:
            lines = [f.lineno for f in traceback.extract_tb(error.__traceback__)[1:]]
            lines.append(("", type(error), str(error)))
            error.__traceback__ = None
    names = {}
    for name, value in space.items():
        names.setdefault(id(value), name)
    kept = {k: v for k, v in space.items() if k not in hidden}
    order = [k for k in kept if not k.startswith("__")]
    return portrait(kept, names), order, portrait(log, names), out.getvalue(), lines


def source_of(name):
    return textwrap.dedent(PROGRAMS[name][0])
