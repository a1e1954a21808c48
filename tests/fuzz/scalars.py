"""Random programs over numbers that come out of arrays: Python's, the library's scalars, 0-d arrays.

`Scalars(seed)` has the text of a module and the recipes of its calls, like `programs.Program`.  What is
taken out of an array is calculated with, compared, branched on, written back, used as an index, a
length, a key and a text, in loops and handlers.
`python tests/fuzz/scalars.py --seed N --count M` runs many; what is not here: comparing (`worlds.py`).
"""

from __future__ import annotations

import random
import sys

HEADER = """\
import math
import numpy as np

LOG = []
RATE = 0.25
STEP = 3


def state():
    return [LOG]


def helper(a, b):
    return a * RATE + b


def clamp(v, low, high):
    return low if v < low else high if v > high else v


class Box:
    def __init__(self, v):
        self.v = v


BOX = Box(1.5)
"""

BINARY = ("+", "-", "*", "/", "//", "%", "**", "+", "-", "*", "/")
BITS = ("&", "|", "^", "<<", ">>")
COMPARE = ("<", "<=", ">", ">=", "==", "!=")
MATH = ("sqrt", "exp", "log", "sin", "floor", "ceil", "trunc", "fabs", "isnan", "isfinite", "tanh", "log1p")
MATH_TWO = ("atan2", "hypot", "fmod", "copysign", "pow")
UFUNCS = ("sqrt", "exp", "abs", "sin", "negative", "sign", "floor", "rint", "square", "isnan", "tanh")
UFUNCS_TWO = ("maximum", "minimum", "add", "multiply", "divide", "arctan2", "power", "hypot", "less", "mod")
REDUCE = ("sum", "max", "min", "mean", "prod", "any", "all", "argmax", "argmin", "std", "var")
CONVERT = ("float", "int", "bool", "abs", "round", "np.float64", "np.float32", "np.int64", "complex", "str")
CONSTANTS = ("0", "1", "2", "-1", "3", "0.0", "-0.0", "0.5", "1.5", "2.0", "1e300", "True", "-7", "10", "255")


class Scalars:
    def __init__(self, seed):
        self.random = random.Random(f"scalars {seed}")
        self.lines = []
        self.names = ["k", "f", "s"]
        self.loops = 0
        for name in ("a", "b"):
            self.names.append(name)
            self.emit(1, f"{name} = {self.out_of_array()}")
        for _ in range(self.random.randint(3, 9)):
            self.statement(1)
        self.names += ["x", "m"]
        result = ", ".join(self.random.sample(self.names, min(5, len(self.names))))
        self.emit(1, f"return {result}")
        self.source = HEADER + "\n\ndef main(x, m, k, f, s):\n" + "\n".join(self.lines) + "\n"
        self.calls = self.make_calls()

    def emit(self, depth, text):
        self.lines.append("    " * depth + text)

    def pick(self, *choices):
        return self.random.choice(choices)

    # ---- Expressions ------------------------------------------------------------------------------

    def index(self):
        return self.pick("0", "1", "-1", "2", "k", "k % 3", "int(s) % 3", "int(m[0, 0]) % 4")

    def out_of_array(self):
        return self.pick(
            f"x[{self.index()}]",
            f"m[{self.pick('0', '1', '-1')}, {self.index()}]",
            f"x.{self.pick(*REDUCE)}()",
            f"np.{self.pick('sum', 'max', 'mean', 'median', 'ptp', 'argmax', 'count_nonzero')}(x)",
            f"x[{self.index()}].item()",
            f"float(x[{self.index()}])",
            f"int(x[{self.index()}])",
            f"bool(x[{self.index()}] > {self.pick(*CONSTANTS)})",
            "len(x)",
            "x.size",
            "np.dot(m[0], m[1])",
            "m[1] @ m[2]",
            "x[1:2].sum()",
            "np.linalg.norm(m[0])",
            "np.array(f)",
            "np.asarray(k) * 2",
            "m.mean(axis=0)[1]",
            "x.astype('f8')[0]",
        )

    def atom(self):
        roll = self.random.random()
        if roll < 0.55:
            return self.random.choice(self.names)
        if roll < 0.7:
            return self.random.choice(CONSTANTS)
        if roll < 0.75:
            return self.pick("RATE", "STEP", "BOX.v")
        return self.out_of_array()

    def value(self, depth=2):
        if depth == 0 or self.random.random() < 0.15:
            return self.atom()
        a, b = self.value(depth - 1), self.value(depth - 1)
        roll = self.random.random()
        if roll < 0.42:
            return f"({a} {self.pick(*BINARY)} {b})"
        if roll < 0.46:
            return f"({a} {self.pick(*BITS)} {b})"
        if roll < 0.54:
            return f"({a} {self.pick(*COMPARE)} {b})"
        if roll < 0.62:
            return f"{self.pick(*CONVERT)}({a})"
        if roll < 0.68:
            return f"math.{self.pick(*MATH)}({a})"
        if roll < 0.71:
            return f"math.{self.pick(*MATH_TWO)}({a}, {b})"
        if roll < 0.78:
            return f"np.{self.pick(*UFUNCS)}({a})"
        if roll < 0.84:
            return f"np.{self.pick(*UFUNCS_TWO)}({a}, {b})"
        return self.pick(
            f"(-{a})",
            f"(+{a})",
            f"(not {a})",
            f"({a} if {self.test()} else {b})",
            f"({a} or {b})",
            f"({a} and {b})",
            f"min({a}, {b})",
            f"max({a}, {b})",
            f"divmod({a}, {b})[{self.pick('0', '1')}]",
            f"round({a}, {self.pick('0', '1', '2')})",
            f"helper({a}, {b})",
            f"clamp({a}, 0, 2)",
            f"sum([{a}, {b}])",
            f"np.where({a} > {b}, {a}, {b})",
            f"np.clip({a}, -1, 2)",
            f"({a} is {b})",
            f"isinstance({a}, {self.pick('float', 'int', 'np.floating', '(int, float)')})",
            f"len(str({a}))",
            f"({a} in ({b}, 1, 2.0))",
            f"(1.0).__add__(float({a}))",
        )

    def test(self):
        a, b = self.value(1), self.value(1)
        return self.pick(
            f"{a} {self.pick(*COMPARE)} {b}",
            a,
            f"not {a}",
            f"{self.random.choice(CONSTANTS)} < {a} < {self.random.choice(CONSTANTS)}",
            f"{a} > 0 and {b} > 0",
            f"math.isnan({a})",
            f"abs({a}) < 1e-6",
            f"{a} is True",
        )

    # ---- Statements -------------------------------------------------------------------------------

    def assign(self, depth):
        value = self.value(self.random.randint(1, 3))
        if len(self.names) < 9 and self.random.random() < 0.5:
            name = f"v{len(self.names)}"
            self.emit(depth, f"{name} = {value}")
            if depth == 1:
                self.names.append(name)
        else:
            name = self.random.choice(self.names)
            self.emit(depth, f"{name} {self.pick('', '', '+', '*', '-', '/')}= {value}")

    def statement(self, depth):
        roll = self.random.random()
        if roll < 0.5 or depth > 3:
            self.assign(depth)
        elif roll < 0.62:
            target = self.pick(f"x[{self.index()}]", f"m[{self.pick('0', '1')}, {self.index()}]", "BOX.v")
            self.emit(depth, f"{target} {self.pick('', '+', '*', '-')}= {self.value(2)}")
        elif roll < 0.74:
            self.emit(depth, f"if {self.test()}:")
            self.block(depth + 1)
            if self.random.random() < 0.5:
                self.emit(depth, "else:")
                self.block(depth + 1)
        elif roll < 0.82:
            self.loops += 1
            name = f"i{self.loops}"
            self.emit(depth, f"for {name} in {self.pick('range(3)', 'x[:3]', 'range(len(x))', 'm[0]')}:")
            self.names.append(name)
            self.block(depth + 1)
            self.names.remove(name)
        elif roll < 0.86:
            self.loops += 1
            name = f"n{self.loops}"
            self.emit(depth, f"{name} = 0")
            self.emit(depth, f"while {name} < 3 and {self.test()}:")
            self.emit(depth + 1, f"{name} += 1")
            self.block(depth + 1)
        elif roll < 0.92:
            self.emit(depth, "try:")
            self.block(depth + 1)
            self.emit(depth, "except (ArithmeticError, ValueError, TypeError, IndexError) as error:")
            self.emit(depth + 1, "LOG.append(type(error).__name__ + str(error))")
        else:
            a = self.value(1)
            text = self.pick(
                f"LOG.append({a})",
                f'LOG.append(f\"\"\"{{{a}}}\"\"\")',
                f"LOG.append({{{a}: 1}})",
                f"LOG.append(x[:int({a}) % 4])",
                f"with np.errstate(all={self.pick(repr('ignore'), repr('raise'))}): a = {a}",
            )
            self.emit(depth, text)

    def block(self, depth):
        for _ in range(self.random.randint(1, 2)):
            self.statement(depth)

    # ---- Calls ------------------------------------------------------------------------------------

    def make_calls(self):
        calls = []
        dtype = self.pick("f8", "f8", "f8", "f4", "i8", "i4", "u1", "b1", "c16")
        scalar = self.pick("f8", "f8", "f4", "i8", "i4", "u1", "b1")
        special = self.random.random() < 0.3
        for number in range(5):
            size = 5 if number < 3 else self.pick(3, 4, 5)
            calls.append(
                [
                    ("array", dtype, (size,), self.pick("c", "step", "back"), number, special),
                    ("array", "f8", (3, 4), "c", 7 + number, special and number == 2),
                    ("int", self.pick(0, 1, 2, 3)),
                    ("float", self.pick(0.0, 1.5, -2.25, 1e308)),
                    ("scalar", scalar, self.pick(0, 1, 2, 3)),
                ]
            )
        return calls


if __name__ == "__main__":
    import sweep

    sys.exit(sweep.main(Scalars, HEADER, __doc__))
