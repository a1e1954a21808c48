"""Random loops over numbers and items of arrays, as they are written without a thought of ufuncs.

`for` over ranges and `while`, nested, with branches, `break`, `continue` and `else`; scalars of all kinds,
items read and written by every form of index, arrays that share memory or can't be written, ints that
outgrow 64 bits, floats that are none, divisions by zero, indices beyond the end; loops in generators and
inside of `try` and `with`.  Each call is made plainly and compiled, in equal worlds: results bit by bit,
which of them are the same object, exceptions with their lines, warnings, and all arrays afterwards have
to be the same.  `python tests/fuzz/scalar_loops.py --seed N --count M` runs many; `--show` prints one.
"""

from __future__ import annotations

import hashlib
import random
import sys
import types
import warnings

import dyntrace
import numpy as np
import turns

HEADER = """\
import math
import numpy as np

RATE = 0.25
COUNT = 5
FLAG = True
TABLE = np.arange(6) * 0.5
CODES = np.array([3, -1, 4, 1, -5, 9])


class Box:
    v = 1.5
    n = 2


BOX = Box()


def helper(a, b):
    return a * RATE + b


def clamp(v):
    if v < 0:
        return 0
    return v if v < 3 else 3


"""

INTS = ("0", "1", "2", "-1", "3", "7", "-4", "10", "255", "1000003")
WIDE = ("2**53", "(2**53 + 1)", "2**62", "(2**63 - 1)", "(-2**63)", "(-(2**62))", "2**31", "2**64")
FLOATS = ("0.0", "-0.0", "0.5", "1.5", "2.0", "-1.0", "-2.25", "3.0", "0.1")
EXTREME = (
    "1e308",
    "5e-324",
    "1e-310",
    "-1e308",
    "1e17",
    "math.inf",
    "math.nan",
    "-math.inf",
    "9007199254740993.0",
)
COMPARE = ("<", "<=", ">", ">=", "==", "!=")
TAME = 12
MATH = (
    "sqrt",
    "exp",
    "sin",
    "cos",
    "tan",
    "atan",
    "sinh",
    "cosh",
    "tanh",
    "asinh",
    "expm1",
    "fabs",
    "log",
    "log2",
    "log10",
    "asin",
    "acos",
    "acosh",
    "atanh",
    "log1p",
    "degrees",
)
MATH_TWO = ("atan2", "pow", "hypot", "fmod", "copysign")
WHOLE = ("floor", "ceil", "trunc")


class Loops:
    """The text of a function `fn`; `seed` says which one."""

    def __init__(self, seed):
        self.random = random.Random(f"scalar loops {seed}")
        self.lines = []
        self.ints = ["n", "c", "d"]
        self.floats = ["f", "s", "r"]
        self.bools = ["flag"]
        self.counters = []  # of the loops around, innermost last
        self.loops = 0
        self.budget = self.random.randint(6, 22)
        self.generator = self.random.random() < 0.12
        self.tame = self.random.random() < 0.65  # hardly anything raises
        self.lists = self.random.random() < 0.35
        self.odd = not self.tame and self.random.random() < 0.7  # values of any kind take part
        self.kinds = self.random.choice(
            (
                ("x", "m"),
                ("x", "y", "k"),
                ("x", "m", "k", "b"),
                ("x", "y", "m", "k", "b"),
                ("m", "t"),
                ("k",),
                ("x",),
            )
        )
        self.body()
        self.source = HEADER + "def fn(x, y, k, m, t, b, p, q, n, f, v):\n" + "\n".join(self.lines) + "\n"

    # ---- Text -------------------------------------------------------------------------------------

    def emit(self, depth, text):
        self.lines.append("    " * depth + text)

    def pick(self, *choices):
        return self.random.choice(choices)

    def chance(self, probability):
        return self.random.random() < probability

    # ---- Indices and items ------------------------------------------------------------------------

    def index(self, size):
        """An index that is in range mostly, of an axis whose size is the text `size`."""
        roll = self.random.random() * (0.8 if self.tame else 1.0)
        counter = self.random.choice(self.counters) if self.counters else "n"
        if roll < 0.42:
            return f"{counter} % {size}"
        if roll < 0.50:
            return f"({counter} {self.pick('+', '-')} {self.pick('1', '2', 'c')}) % {size}"
        if roll < 0.62:
            return self.pick("0", "1", "-1", "1", "-2")
        if roll < 0.68:
            return f"-{counter} % {size}"
        if roll < 0.76:
            return f"k[{self.pick('0', '1', '-1')}] % {size}"
        if roll < 0.80:
            return f"{self.int(1)} % {size}"
        if roll < 0.84:
            return f"int({self.float(1)}) % {size}"
        if roll < 0.87:
            return f"np.int64({counter}) % {size}"
        if roll < 0.97:
            return counter
        return self.pick(f"{counter} + 1", f"-{counter} - 1", "n", "flag", "c", "-n", "f", "...", ":", "None")

    def place(self, array):
        if array in ("m", "q"):
            i, j = self.index("3" if self.chance(0.5) and not self.tame else f"len({array})"), self.index("4")
            return f"{array}[{i}][{j}]" if array == "q" or self.chance(0.3) else f"{array}[{i}, {j}]"
        if array == "t":
            i, j, h = self.index("2"), self.index("3"), self.index("2")
            return self.pick(
                f"t[{i}, {j}, {h}]",
                f"t[{i}, {j}, {h}]",
                f"t[{i}][{j}, {h}]",
                f"t[{i}][{j}][{h}]",
                f"t[{i}, {j}][{h}]",
            )
        size = self.pick(
            f"len({array})",
            f"len({array})" if array in "pq" else f"{array}.shape[0]",
            "len(x)" if array == "y" else "3" if self.tame else "5",
        )
        return f"{array}[{self.index(size)}]"

    def real_item(self):
        arrays = [a for a in self.kinds if a in "xymt"] or ["x"]
        return self.place(self.random.choice(arrays)) if self.chance(0.95) else f"TABLE[{self.index('6')}]"

    def int_item(self):
        if self.lists and self.chance(0.3):
            return self.place(self.pick("p", "q"))
        return self.place("k") if self.chance(0.9) else f"CODES[{self.index('6')}]"

    # ---- Expressions ------------------------------------------------------------------------------

    def int(self, depth=2):
        roll = self.random.random()
        if depth <= 0 or roll < 0.25:
            return self.int_atom()
        a, b = self.int(depth - 1), self.int(depth - 1)
        if roll < 0.50:
            return f"({a} {self.pick('+', '-', '+')} {b})"
        if roll < 0.56:
            return f"({a} * {self.pick('2', '3', '-1', '7', b)} % {self.pick('1009', '97', '-13', '2**40', '2**61')})"
        if roll < 0.62:
            return f"({a} {self.pick('//', '%')} {self.pick('2', '3', '-3', '7', *(() if self.tame else (b, b)))})"
        if roll < 0.70:
            return f"({a} {self.pick('&', '|', '^')} {b})"
        if roll < 0.74:
            return f"(({a} & {self.pick('15', '0xffff')}) << ({b} & {self.pick('3', '63', '31')}))"
        if roll < 0.77:
            return f"({a} >> {self.pick('1', '2', f'({b} & 31)', f'({b} & 63)' if self.tame else b)})"
        if roll < 0.80:
            return f"(({a} & 15) ** ({b} % {self.pick('3', '9', '20')}))"
        if roll < 0.85:
            return self.pick(f"-{a}", f"~{a}", f"+{a}", f"abs({a})", f"-(-{a})")
        if roll < 0.90:
            return f"{self.pick('min', 'max')}({a}, {b})"
        if roll < 0.93:
            return f"({a} if {self.test(1)} else {b})"
        if roll < 0.96:
            a = self.float(depth - 1)
            return f"{self.pick('int', 'math.floor', 'math.ceil', 'math.trunc', 'round')}({self.bounded(a)})"
        return self.pick(
            f"int({self.test(1)})",
            f"({a} or {b})",
            f"({a} and {b})",
            f"({self.test(1)}) + {a}",
            "len(x)",
            "x.size",
            "m.shape[1]",
            "m.shape[-1]",
            "x.ndim",
            f"clamp({a})",
            f"min({a}, {b}, 3)",
            f"int({a})",
            f"sum(({a}, {b}))",
            f"divmod({a}, 7)[1]",
            f"({a}).bit_length()",
        )

    def int_atom(self):
        roll = self.random.random()
        if roll < 0.3 and self.counters:
            return self.random.choice(self.counters)
        if roll < 0.62:
            return self.random.choice(self.ints)
        if roll < 0.80:
            return self.random.choice(INTS)
        if roll < 0.95:
            return self.int_item()
        if roll < 0.97 and not (self.tame and self.chance(0.7)):
            return self.random.choice(WIDE)
        return self.pick("COUNT", "BOX.n", "True", "COUNT" if self.tame else "None", "flag")

    def float(self, depth=2):
        roll = self.random.random()
        if depth <= 0 or roll < 0.25:
            return self.float_atom()
        a, b = self.float(depth - 1), self.float(depth - 1)
        if roll < 0.62:
            return f"({a} {self.pick('+', '-', '*', '+', '-', '*', '-' if self.tame else '/')} {b})"
        if roll < 0.66:
            return f"({a} {self.pick('-' if self.tame else '/', '*', '+', '-')} {self.int(depth - 1)})"
        if roll < 0.68:
            return f"({a} {self.pick('//', '%')} {self.pick('2', '0.5', '-3.0', '1.5' if self.tame else b)})"
        if roll < 0.70:
            return f"({a} / {self.pick('2', '4.0', '-3', f'(abs({b}) + 1.0)')})"
        if roll < 0.73:
            return f"({self.bounded(a)} ** {self.pick('2', '3', '2.0', *(() if self.tame else ('0.5', '-1', b)))})"
        if roll < 0.77:
            return self.pick(f"-{a}", f"abs({a})", f"+{a}")
        if roll < 0.81:
            return f"{self.pick('min', 'max')}({a}, {b})"
        if roll < 0.86:
            return f"math.{self.random.choice(MATH[:TAME] if self.tame else MATH)}({self.bounded(a)})"
        if roll < 0.88:
            return f"math.{'atan2' if self.tame else self.random.choice(MATH_TWO)}({a}, {b})"
        if roll < 0.92:
            return f"({a} if {self.test(1)} else {b})"
        if roll < 0.94:
            return f"float({self.pick(a, self.int(1), self.test(1))})"
        return self.pick(
            f"({self.int(1)} / {'4' if self.tame else self.int(1)})",
            f"({a} or {b})",
            f"({a} and {b})",
            f"helper({a}, {b})",
            f"round({a}, 2)",
            f"np.sqrt({a})",
            f"np.float64({a})",
            f"np.abs({a})",
            f"({a}, {b})[c % 2]",
            f"min({a}, {b}, 1.0)",
            "sum(x[:2])",
        )

    def bounded(self, text):
        return f"min(9.0, abs({text}))" if self.tame else text

    def float_atom(self):
        roll = self.random.random()
        if roll < 0.45:
            return self.random.choice(self.floats)
        if roll < 0.62:
            return self.random.choice(FLOATS)
        if roll < 0.90:
            return self.real_item()
        if roll < 0.93 and not self.tame:
            return self.random.choice(EXTREME)
        if self.odd and roll < 0.97:
            return "v"
        return self.pick("RATE", "BOX.v", "math.pi", "np.pi", "f", "s")

    def test(self, depth=2):
        roll = self.random.random()
        if depth <= 0 or roll < 0.15:
            return self.pick(
                self.random.choice(self.bools), "FLAG", "True", "b[0]", self.place("b"), self.place("b")
            )
        if roll < 0.40:
            return f"{self.int(depth - 1)} {self.random.choice(COMPARE)} {self.int(depth - 1)}"
        if roll < 0.62:
            return f"{self.float(depth - 1)} {self.random.choice(COMPARE)} {self.float(depth - 1)}"
        if roll < 0.67:
            return f"{self.int(1)} {self.pick('<', '<=', '==')} {self.int(1)} {self.pick('<', '<=', '!=')} {self.int(1)}"
        if roll < 0.72:
            return f"{self.float(1)} {self.pick('<', '<=', '>')} {self.float(1)} {self.pick('<', '<=', '!=')} {self.int(1)}"
        a, b = self.test(depth - 1), self.test(depth - 1)
        if roll < 0.80:
            return f"({a} {self.pick('and', 'or')} {b})"
        if roll < 0.85:
            return f"(not {a})"
        if roll < 0.89:
            return f"({a}) {self.pick('&', '|', '^', '==', '!=')} ({b})"
        if roll < 0.93:
            return self.pick(self.int(1), self.float(1))
        return self.pick(
            f"bool({self.int(1)})",
            f"bool({self.float(1)})",
            "v",
            "v is None",
            f"{self.int(1)} < {self.float(1)}",
            f"{self.float(1)} == {self.int(1)}",
            f"math.isnan({self.float(1)})",
            f"{self.int(1)} in (1, 2, 3)",
            "s is r",
            "c is n",
            f"~({a})",
            f"{a} is True",
        )

    # ---- Statements -------------------------------------------------------------------------------

    def simple(self, depth):
        roll = self.random.random()
        if roll < 0.20:
            name = self.random.choice(self.ints)
            self.emit(depth, f"{name} = {self.int(2)}")
        elif roll < 0.28:
            name = self.pick("c", "d", "c", "d", "n")
            op = self.pick("+", "-", "+", "-", "&", "|", "^", *(() if self.tame else ("%", "//", ">>")))
            self.emit(depth, f"{name} {op}= {self.int(1)}")
        elif roll < 0.46:
            self.emit(depth, f"{self.random.choice(self.floats)} = {self.float(2)}")
        elif roll < 0.55:
            self.emit(
                depth,
                f"{self.pick('s', 'r', 's', 'f')} {self.pick('+', '-', '*', '+', '-', *(() if self.tame else ('/', '**', '%')))}= {self.float(1)}",
            )
        elif roll < 0.69:
            arrays = [a for a in self.kinds if a in "xymt"] or ["x"]
            place = self.place(self.random.choice(arrays))
            self.emit(
                depth,
                f"{place} {self.pick('', '', '+', '-', '*', '-' if self.tame else '/')}= {self.float(2) if self.chance(0.85) else self.int(1)}",
            )
        elif roll < 0.76:
            place = self.place(self.pick("k", "k", "p", "q") if self.lists else "k")
            value = (
                f"{self.int(2)} % 1000" if self.tame else self.int(2) if self.chance(0.85) else self.float(1)
            )
            self.emit(
                depth, f"{place} {self.pick('', '', '+', '-', '^', '|', '-' if self.tame else '//')}= {value}"
            )
        elif roll < 0.79:
            self.emit(depth, f"{self.place('b')} {self.pick('', '', '&', '|', '^')}= {self.test(1)}")
        elif roll < 0.83:
            self.emit(depth, f"flag = {self.test(2)}")
        elif roll < 0.90:
            a, b = self.real_item(), self.real_item()
            self.emit(
                depth,
                self.pick(
                    "s, r = r, s",
                    "c, d = d, c",
                    f"c, d = d, {self.int(1)}",
                    f"s, r = r, {self.float(1)}",
                    f"s, c, d = {self.float(1)}, d, c",
                    f"{a}, {b} = {b}, {a}",
                    "c = d = n",
                    "s = r = f",
                    "f = s",
                    "d = c",
                    "r = s = (s + 1.0)",
                    f"c = d = {self.int(1)}",
                    "s, r, f = r, f, s",
                ),
            )
        elif roll < 0.93 and self.odd:
            self.emit(
                depth,
                self.pick(
                    "v = s",
                    "v = c",
                    "v = flag",
                    "v = v * 2",
                    "v = v + 1",
                    "v = -v",
                    "v += 0.5",
                    "v = None",
                    f"v = {self.real_item()}",
                    f"v = {self.int_item()}",
                    "v = x",
                    "x = y",
                    "v = b[0]",
                    f"v = np.float64({self.float(1)})",
                    "v = 1j * s",
                    "v = (c, s)",
                    "r = v",
                    "s = v",
                    "v = 'a'",
                ),
            )
        elif roll < 0.95:
            self.emit(
                depth,
                f"{self.random.choice(self.ints)} = {f'int({self.bounded(self.float(1))})' if self.tame else self.float(1)}",
            )
        elif roll < 0.97:
            self.emit(depth, f"{self.random.choice(self.floats)} = {self.int(1)}")
        elif self.tame:
            self.emit(depth, self.pick("pass", "BOX.v = s", "BOX.n += 1", "w = s", "p[-1] = c", "_ = s"))
        else:
            self.emit(
                depth,
                self.pick(
                    "pass",
                    "del r",
                    "r = 0.5",
                    "global RATE",
                    "BOX.v = s",
                    "BOX.n += 1",
                    "w = s",
                    "w = c",
                    "s = w",
                    "p.append(c)",
                    "raise ValueError(c)",
                    "assert c < 50, c",
                    "x = x.copy()",
                    "x[:] = s",
                    "m[0] = x[:4].sum()",
                    "del p[-1:]",
                    "_ = s",
                    "k = k[::-1]",
                ),
            )
            if self.lines[-1].strip() == "global RATE":
                self.lines[-1] = self.lines[-1].replace("global RATE", "BOX.v += 0.5")

    def statement(self, depth):
        self.budget -= 1
        roll = self.random.random()
        inside = len(self.counters)
        if self.budget < 0 or roll < 0.62 or depth > 6:
            self.simple(depth)
        elif roll < 0.82:
            self.branch(depth)
        elif roll < 0.92 and inside < 3:
            self.loop(depth)
        elif roll < 0.95:
            self.protected(depth)
        elif self.generator and inside:
            self.emit(depth, f"yield {self.pick('c', 's', self.float(1), 'flag')}")
        elif inside and roll < 0.975:
            self.emit(depth, f"if {self.test(1)}:")
            self.emit(
                depth + 1,
                self.pick(
                    "break",
                    "continue",
                    "continue",
                    "return s, c, 'early'" if not self.generator else "return",
                ),
            )
        else:
            self.simple(depth)

    def block(self, depth, least=1, most=3):
        for _ in range(self.random.randint(least, most)):
            self.statement(depth)

    def branch(self, depth):
        self.emit(depth, f"if {self.test()}:")
        self.block(depth + 1, 1, 2)
        if self.chance(0.25):
            self.emit(depth, f"elif {self.test()}:")
            self.block(depth + 1, 1, 2)
        if self.chance(0.5):
            self.emit(depth, "else:")
            self.block(depth + 1, 1, 2)

    def protected(self, depth):
        roll = self.random.random()
        if roll < 0.6:
            self.emit(depth, "try:")
            self.block(depth + 1, 1, 2)
            self.emit(
                depth,
                self.pick(
                    "except (ArithmeticError, ValueError, IndexError):",
                    "except Exception as error:",
                    "except (TypeError, LookupError):",
                    "except Exception:",
                ),
            )
            self.simple(depth + 1)
            if self.chance(0.3):
                self.emit(depth, self.pick("else:", "finally:"))
                self.simple(depth + 1)
        elif roll < 0.75:
            self.emit(depth, "try:")
            self.block(depth + 1, 1, 2)
            self.emit(depth, "finally:")
            self.simple(depth + 1)
        else:
            mode = self.pick("ignore", "raise", "warn", "ignore")
            self.emit(
                depth, f"with np.errstate({self.pick('all', 'divide', 'over', 'invalid', 'under')}={mode!r}):"
            )
            self.block(depth + 1, 1, 2)

    def bounds(self, inside):
        if inside == 0:
            return self.pick(
                "range(min(n, 70))",
                "range(n % 64)",
                "range(40)",
                "range(len(x))",
                "range(0, n % 40)",
                "range(1, min(n, 50))",
                "range(n % 50, 0, -1)",
                "range(0, 30, 3)",
                "range(len(k))",
                "range(x.shape[0])",
                "range(m.shape[0])",
                "range(60)",
                "range(25)",
                "range(200)",
                "range(100)",
                "range(150)",
                *(
                    ()
                    if self.tame
                    else (
                        "range(2**53 - 5, 2**53 + 20)",
                        "range(2**63 - 20, 2**63 - 1)",
                        "range(2**63 - 10, 2**63 + 9)",
                        "range(0)",
                    )
                ),
                "range(-1, -(n % 99), -2)",
                "range(int(f) % 30)",
                "range(np.int64(30))",
                "range(k[0] % 30)",
            )
        counter = self.counters[-1]
        return self.pick(
            "range(3)",
            "range(4)",
            f"range({counter} % 5)",
            f"range({counter} % 3, 4)",
            "range(len(x))",
            "range(2, -1, -1)",
            "range(5)",
            "range(c % 4)",
            "range(k[0] % 4)",
            "range(m.shape[1])",
            "range(0)",
            f"range({counter}, {counter} + 3)",
            "range(0, 6, c % 3)" if not self.tame else "range(0, 6, c % 3 + 1)",
        )

    def loop(self, depth):
        self.loops += 1
        inside = len(self.counters)
        name = "ijhg"[inside]
        if self.chance(0.72):
            self.emit(depth, f"for {name} in {self.bounds(inside)}:")
            self.counters.append(name)
            self.block(depth + 1, 1, 4 if inside == 0 else 3)
        else:
            limit = (
                self.pick("40", "min(n, 60)", "25", "30.0", "len(x)")
                if inside == 0
                else self.pick("3", "4", "2.5")
            )
            self.emit(
                depth, f"{name} = {self.pick('0', '0', '0', '0.0', 'False', 'k[0] % 3', 'np.int64(0)')}"
            )
            also = self.test(1)
            condition = self.pick(
                f"{name} < {limit}",
                f"{name} < {limit}",
                f"{name} < {limit} and {also}",
                f"not {name} >= {limit}",
                f"{limit} > {name}",
            )
            self.emit(depth, f"while {condition}:" if self.chance(0.85) else "while True:")
            always = self.lines[-1].endswith("while True:")
            self.counters.append(name)
            step = f"{name} {self.pick('+= 1', '+= 1', '+= 1', f'= {name} + 1', '+= True', f'= 1 + {name}')}"
            first = self.chance(0.6)
            if first or always:
                self.emit(depth + 1, step)
            if always:
                self.emit(depth + 1, f"if {name} > {limit}:")
                self.emit(depth + 2, "break")
            mark = len(self.lines)
            self.block(depth + 1, 1, 4 if inside == 0 else 3)
            if not first and not always:
                # What goes on early has to be counted too.
                self.lines[mark:] = [one.replace("continue", "pass") for one in self.lines[mark:]]
                self.emit(depth + 1, step)
        self.counters.pop()
        if self.chance(0.15):
            self.emit(depth, "else:")
            self.simple(depth + 1)

    def body(self):
        self.emit(
            1,
            f"c = {self.pick('0', '1', 'n', '-3', '2**53', '2**62', 'k[0]', 'len(p)') if self.chance(0.6) else '0'}",
        )
        self.emit(1, f"d = {self.pick('0', '1', 'c', 'n', 'k[1]', 'True')}")
        self.emit(1, f"s = {self.pick('0.0', 'f', '1.5', '0', 'x[0]', '-0.0', 'v' if self.odd else '0.25')}")
        self.emit(1, f"r = {self.pick('s', '0.5', '1', 'f', 'm[0, 1]')}")
        self.emit(1, f"flag = {self.pick('True', 'False', 'b[0]', 'n > 3')}")
        around = self.random.random()
        depth = 1
        if around < 0.12:
            self.emit(1, "try:")
            depth = 2
        elif around < 0.20:
            self.emit(1, f"with np.errstate(all={self.pick('ignore', 'raise', 'warn')!r}):")
            depth = 2
        elif around < 0.24:
            self.emit(1, "for z in (1, 2):")
            depth = 2
        self.loop(depth)
        while self.budget > 4 and self.chance(0.6):
            self.statement(depth)
            if self.chance(0.5):
                self.loop(depth)
        if around < 0.12:
            self.emit(
                1,
                self.pick("except (ArithmeticError, IndexError) as error:", "finally:", "except Exception:"),
            )
            self.simple(2)
        if self.generator:
            self.emit(1, f"yield c, d, s, r, flag, {self.pick('v', 'i', '0')}")
        elif self.chance(0.2):
            self.emit(1, "return locals()")
        else:
            self.emit(
                1, f"return c, d, s, r, flag, f, n, {self.pick('v', 'i', 'i', '0', 's is r', 'c is d')}"
            )


# ---- Arguments ------------------------------------------------------------------------------------

SPECIAL = (np.nan, np.inf, -np.inf, -0.0, 0.0, 5e-324, 1e308, -1e308, 1e-310, 2.0**53, 1e17)
WHOLES = (2**53, 2**53 + 1, 2**62, 2**63 - 1, -(2**63), -1, 0, 2**31)
NAMES = ("x", "y", "k", "m", "t", "b", "p", "q", "n", "f", "v")
VALUES = (
    0,
    3,
    -7,
    2**40,
    2**63 - 1,
    2**70,
    0.0,
    1.5,
    -0.0,
    float("nan"),
    float("inf"),
    1e300,
    True,
    False,
    None,
    1 + 2j,
    np.float64(2.5),
    np.float64("nan"),
    np.int64(3),
    np.int64(-(2**63)),
    np.bool_(True),
    np.float32(1.5),
    np.int32(4),
    "a",
)


class Arguments:
    """What a call gets, made anew for each of the two worlds."""

    def __init__(self, draws, usual):
        self.seed = draws.randrange(1 << 30)
        self.usual = usual
        self.n = (
            draws.choice((12, 20, 30)) if usual else draws.choice((0, 1, 5, 8, 30, 50, -2, True, np.int64(9)))
        )
        self.f = (
            draws.choice((0.5, 2.5, 7.25))
            if usual
            else draws.choice((0.0, 1e308, -3.5, 5, np.float64(1.25), float("inf")))
        )
        self.v = draws.choice((1.5, 3)) if usual else draws.choice(VALUES)
        self.layout = (
            "c"
            if usual
            else draws.choice(
                (
                    "c",
                    "step",
                    "back",
                    "f",
                    "shared",
                    "flipped",
                    "rows",
                    "columns",
                    "shifted",
                    "same",
                    "read only",
                    "empty",
                    "zero axes",
                    "other kind",
                    "short",
                )
            )
        )
        self.special = draws.choice((0.0, 0.0, 0.2)) if usual else draws.choice((0.0, 0.3, 0.6))
        self.whole = draws.choice((0.0, 0.0, 0.1)) if usual else draws.choice((0.0, 0.4))
        self.errors = (
            {}
            if usual or draws.random() < 0.6
            else {
                draws.choice(("all", "divide", "over", "invalid", "under")): draws.choice(
                    ("ignore", "raise", "warn")
                )
            }
        )
        self.filter = (
            "always" if usual or draws.random() < 0.85 else draws.choice(("error", "default", "ignore"))
        )

    def __repr__(self):
        return f"<{self.layout} n={self.n!r} f={self.f!r} v={self.v!r} special={self.special} {self.errors} {self.filter} seed={self.seed}>"

    def make(self):
        draws = np.random.default_rng(self.seed)

        def reals(*shape):
            a = draws.normal(size=shape).round(2) * 2
            return np.where(draws.random(shape) < self.special, draws.choice(SPECIAL, shape), a)

        def ints(*shape):
            a = draws.integers(-5, 9, shape)
            return np.where(draws.random(shape) < self.whole, draws.choice(np.array(WHOLES), shape), a)

        x, y, k, m, t, b = reals(8), reals(8), ints(7), reals(5, 6), reals(3, 4, 3), draws.random(6) < 0.5
        layout = self.layout
        if layout == "step":
            x, k, m, t = (
                np.repeat(x, 2)[::2],
                np.repeat(k, 3)[::3],
                m[::1, ::1].repeat(2, 1)[:, ::2],
                t[:, :, ::1],
            )
        elif layout == "back":
            x, y, k, m, b = x[::-1], y[::-1], k[::-1], m[::-1, ::-1], b[::-1]
        elif layout == "f":
            m, t = np.asfortranarray(m), np.asfortranarray(t)
        elif layout == "shared":
            base = reals(40)
            x, y, m = base[:8], base[4:12], base[2:32].reshape(5, 6)
        elif layout == "flipped":
            y = x[::-1]
        elif layout == "rows":
            x, y = m[0], m[1]
        elif layout == "columns":
            x, y = m[:, 0], m.T[1]
        elif layout == "shifted":
            y, k = x[1:], x.view("i8")
        elif layout == "same":
            y = x
        elif layout == "read only":
            for one in (x, k, m):
                one.flags.writeable = False
        elif layout == "empty":
            x, k = x[:0], k[:0]
        elif layout == "zero axes":
            x, m = np.array(1.5), m[0]
        elif layout == "other kind":
            x, k, m = x.astype("f4"), k.astype("i4"), m + 1j
        elif layout == "short":
            x, k, m = x[:2], k[:3], m[:1]
        p = [int(one) for one in ints(6)]
        q = [[int(one) for one in row] for row in ints(3, 4)]
        if draws.random() < 0.3:
            p[2], q[1][1] = 2.5, None
        return [x, y, k, m, t, b, p, q, self.n, self.f, self.v]


# ---- What is seen ---------------------------------------------------------------------------------


def show(value, seen):
    """One word of text; objects are numbered in the order in which they are met.

    Not shown is the sign of NaNs: which one of two CPython's addition gives, differs as code warms up.
    """
    if isinstance(value, (list, tuple)):
        return f"{type(value).__name__}({', '.join(show(one, seen) for one in value)})"
    if isinstance(value, dict):
        return "".join(f"{key}: {show(one, seen)} " for key, one in value.items())
    place = seen.setdefault(id(value), len(seen))
    if isinstance(value, np.ndarray):
        data = hashlib.sha1(np.where(value != value, 0, value).tobytes()).hexdigest()[:12]
        return f"{value.dtype}{value.shape}{value.strides}{value.ravel()[:9].tolist()} {data} #{place}"
    text = str(value) if isinstance(value, BaseException) else repr(value)
    return f"{type(value).__name__} {text} #{place}"


class World:
    """One of the two sides: calls and tells what came of it."""

    def __init__(self, space, target):
        self.space, self.target = space, target
        self.table = space["TABLE"].copy()

    def call(self, arguments):
        values = arguments.make()
        space, items, raised = self.space, [], False
        space["BOX"].v, space["BOX"].n, space["TABLE"][:] = 1.5, 2, self.table
        with warnings.catch_warnings(record=True) as caught, np.errstate(**arguments.errors):
            warnings.simplefilter(arguments.filter)
            space.pop("__warningregistry__", None)
            try:
                got = self.target(*values)
                if isinstance(got, types.GeneratorType):
                    for one in got:
                        items.append((one, hash(values[0].tobytes())))
                    got = None
            except Exception as error:
                kind, cls, text, lines = turns.raised(error, "scalar loops ")
                if (
                    cls is UnboundLocalError
                ):  # its line is that of the instruction before once 3.11 has warmed up
                    lines = []
                got, raised = (kind, cls.__name__, text, *lines), True
        seen = {}
        told = [f"{name} {show(one, seen)}" for name, one in zip(NAMES, values)]
        told += [f"given {show(one, seen)}" for one in items] + [
            f"{got[0] if raised else 'result'} {show(got, seen)}"
        ]
        told += [f"warning {one.message} {one.lineno}" for one in caught]
        return "\n".join([*told, str(vars(space["BOX"]))])


def run(seed, calls=9):
    """None, or the text of the first difference."""
    draws = random.Random(f"calls {seed}")
    arguments = [(Arguments(draws, number < 3 or number % 3 == 0),) for number in range(calls)]
    # Most loops are not to be unrolled into a graph: they are what this is about.
    with dyntrace.config.patch(unroll_nodes=1024 if seed % 6 == 0 else 8):
        return turns.compare(f"scalar loops {seed}", Loops(seed).source, World, arguments)


if __name__ == "__main__":
    if "--show" in sys.argv:
        print(Loops(int(sys.argv[-1])).source)
    else:
        sys.exit(turns.main(run, __doc__))
