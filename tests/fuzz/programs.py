"""Random programs: a typed grammar of small Python functions, and arguments to call them with.

`Program(seed)` has the source text of a module (globals, a class, helpers and `main`) and the recipes of
several calls.  Everything is drawn from one `random.Random(seed)`, so a seed is a program on every
machine.  A program may raise; it never loops for long and never builds large values.  What is not here:
running and comparing, see `worlds.py`.
"""

# ruff: noqa: E501  (the grammar is a table)

from __future__ import annotations

import random
import re

from grammar import (
    CHANGES,
    COMPOUND,
    ERRORS,
    EXPRESSIONS,
    HEADER,
    KINDS,
    LANGUAGE,
    LEAVES,
    NUMBERS,
    RAISED,
    SIMPLE,
)

_GENERATOR = re.compile(r"\w\([^\[]* for ")

# What is no operation of a graph.
_BREAKS = re.compile(r"argmax|cumsum|np\.sort|np\.outer|float\(|int\(|^max|bool\(|bump|if \{bool\}")


class Program:
    """One module and its calls.

    Attributes
    ----------
    source : str
        Text of the module; `main` is the function to compile.
    kinds : list of str
        Kind of each parameter of `main`.
    calls : list of list
        For each call, a recipe per argument, see `worlds.build`.
    """

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.arrays = self.random.random() < 0.7
        # Dense: long chains of array operations and nothing else.
        self.dense = self.arrays and self.random.random() < 0.5
        # About the language: exceptions, with, generators, classes, match, writes to arrays.
        self.language = not self.dense and self.random.random() < 0.6
        self.kinds = [self.kind() for _ in range(self.random.randint(1, 4))]
        if self.arrays and "array" not in self.kinds:
            self.kinds[0] = "array"
        self.count = 0
        self.lines = []
        self.scope = {kind: [] for kind in (*KINDS, "fn", "any")}
        self.in_loop = self.in_nested = False
        self.main()
        self.source = HEADER + "\n".join(self.lines) + "\n"
        self.calls = self.make_calls()
        self.changes = self.make_changes(self.calls)

    # ---- Expressions --------------------------------------------------------------------------

    def kind(self):
        pool = [k for k in KINDS if k != "array"]
        if self.arrays and self.random.random() < (0.8 if self.dense else 0.5):
            return "array"
        if self.dense:
            return self.random.choice(("int", "float"))
        return self.random.choice(pool + ["int", "float", "int"])

    def new_name(self):
        self.count += 1
        return f"v{self.count}"

    def name(self, kind):
        """A variable of the kind, or what may stand where one is read or changed."""
        names = self.scope[kind]
        if kind == "any":
            names = [n for k in KINDS for n in self.scope[k]] + names
        if names and self.random.random() < 0.95:
            return self.random.choice(names[-6:])
        return {
            "int": "COUNT",
            "float": "SCALE",
            "list": "LOG" if self.random.random() < 0.9 else "NAMES",
            "dict": "TABLE",
            "array": "GRID",
            "box": "BOX",
            "fn": "bump",
            "str": None,
            "tuple": None,
            "bool": None,
            "any": None,
        }[kind]

    def expression(self, kind, depth):
        if kind == "any":
            kind = self.kind() if self.random.random() < 0.9 else "none"
        if kind == "none":
            return "None"
        if kind == "array" and not self.arrays:
            kind = "int"
        names = self.scope.get(kind, ())
        if kind in KINDS and names and self.random.random() < (0.25 if depth > 0 else 0.85):
            return self.random.choice(names)
        if depth <= 0:
            if kind == "array" and self.dense and names:
                return self.random.choice(names)
            if kind == "dtype":
                return self.random.choice(EXPRESSIONS[kind])
            return self.random.choice(LEAVES[kind])
        while True:
            table = LANGUAGE if self.language and kind in LANGUAGE and self.random.random() < 0.3 else EXPRESSIONS
            template = self.random.choice(table.get(kind) or LANGUAGE[kind])
            if not self.arrays and ("array" in template or "np." in template):
                continue
            if not self.language and _GENERATOR.search(template) and self.random.random() < 0.9:
                continue
            if self.dense and _BREAKS.search(template):
                continue
            if "bump" in template and self.random.random() < 0.6:
                continue
            text = self.fill(template, depth - 1)
            if text is None:
                continue
            plain = kind not in ("slice", "dtype") and not (text[0] in "[({'" and kind in ("small", "few"))
            return f"({text})" if plain else text

    def fill(self, template, depth, fresh=None):
        """The template with its holes filled; None if it names a variable that there is none of."""
        out, i = [], 0
        while i < len(template):
            if template.startswith("{{", i) or template.startswith("}}", i):
                out.append(template[i])
                i += 2
                # Three braces are an f-string's field around a hole.
                continue
            if template[i] != "{":
                out.append(template[i])
                i += 1
                continue
            end = i + 1
            while template[end].isalnum() or template[end] in "_" or template.startswith(":name", end):
                end += 1
            hole = template[i + 1 : end]
            if template[end] == ":":  # {name:kind}
                close = template.index("}", end)
                text = self.name(template[end + 1 : close])
                end = close
            elif hole in ("new", "new2"):
                text = fresh[hole]
            elif hole == "error":
                text = self.random.choice(ERRORS)
            elif hole == "raised":
                text = self.fill(self.random.choice(RAISED), depth)
            else:
                text = self.expression(hole, depth)
            if text is None:
                return None
            out.append(text)
            i = end + 1
        return "".join(out)

    # ---- Statements ---------------------------------------------------------------------------

    def emit(self, indent, text):
        self.lines.append("    " * indent + text)

    def simple(self, indent):
        for _ in range(20):
            text, kind = self.random.choice(SIMPLE)
            if not self.arrays and "array" in text:
                continue
            if text.startswith(("{name:array}[", "{name:array} +=", "{name:array} *=")) and self.random.random() < 0.7:
                continue
            if text.startswith(("print", "del {name:any}", "assert")) and self.random.random() < 0.8:
                continue
            if self.in_nested and text.startswith(("COUNT", "SCALE", "del {name:any}")):
                continue
            fresh = {"new": self.new_name(), "new2": self.new_name()}
            filled = self.fill(text, self.random.choice((0, 1, 1, 2, 2, 3)), fresh)
            if filled is None or (self.in_nested and filled.startswith(("COUNT", "SCALE"))):
                continue
            if kind is None and self.in_nested and "{name:" in text.split("=")[0] and "." not in text.split("=")[0]:
                continue  # would make a local of a variable of the outer function
            for line in filled.split("\n"):
                self.emit(indent, line)
            if filled.startswith("del v") and "[" not in filled and "." not in filled:
                for names in self.scope.values():
                    if filled[4:] in names and self.random.random() < 0.9:
                        names.remove(filled[4:])
            if kind is not None:
                self.scope[kind].append(fresh["new"])
                if "{new2}" in text:
                    other = {"{new}, *{new2} = {name:list}": "list"}.get(text, kind)
                    self.scope[other].append(fresh["new2"])
            return
        self.emit(indent, "pass")

    def block(self, indent, depth, count):
        for _ in range(count):
            self.statement(indent, depth)

    def inner(self, indent, depth, count):
        """A block whose new variables may be unbound after it, and mostly are not used then."""
        kept = {kind: list(names) for kind, names in self.scope.items()}
        self.block(indent, depth, count)
        if self.random.random() < 0.9:
            self.scope = kept

    def statement(self, indent, depth):
        draw = self.random.random()
        if self.dense and draw < 0.9:
            name, kind = self.new_name(), self.random.choice(("array",) * 7 + ("int", "float", "tuple"))
            self.emit(indent, f"{name} = {self.expression(kind, self.random.randint(2, 4))}")
            self.scope[kind].append(name)
        elif depth > 0 and self.language and draw < 0.3:
            self.compound(indent, depth)
        elif depth <= 0 or draw < 0.72:
            self.simple(indent)
        elif draw < 0.82:
            self.emit(indent, f"if {self.expression('bool', 2)}:")
            self.inner(indent + 1, depth - 1, self.random.randint(1, 2))
            if self.random.random() < 0.5:
                self.emit(indent, "else:")
                self.inner(indent + 1, depth - 1, self.random.randint(1, 2))
        elif draw < 0.91:
            self.loop(indent, depth)
        elif draw < 0.97:
            self.nested(indent)
        else:
            self.emit(indent, "try:")
            self.inner(indent + 1, depth - 1, self.random.randint(1, 2))
            self.emit(indent, f"except {self.random.choice(['Exception', 'ValueError', 'ZeroDivisionError', 'KeyError as e'])}:")
            self.inner(indent + 1, depth - 1, 1)

    def compound(self, indent, depth):
        """A statement of several lines, from the table."""
        for _ in range(20):
            text = self.random.choice(COMPOUND)
            if not self.arrays and ("array" in text or "GRID" in text or "ARRAYS" in text):
                continue
            if text.startswith(("return", "raise")) and self.random.random() < 0.8:
                continue
            fresh = {"new": self.new_name(), "new2": self.new_name()}
            lines = text.split("\n")
            filled = [self.fill(line, 1, fresh) if line.strip() not in ("{block}", "{one}") else line for line in lines]
            if None in filled:
                continue
            kept = {kind: list(names) for kind, names in self.scope.items()}
            for line in filled:
                deeper = indent + (len(line) - len(line.lstrip())) // 4
                if line.strip() == "{block}":
                    self.inner(deeper, depth - 1, self.random.randint(1, 2))
                elif line.strip() == "{one}":
                    self.inner(deeper, 0, 1)
                else:
                    self.emit(indent, line)
            self.scope = kept
            return
        self.emit(indent, "pass")

    def loop(self, indent, depth):
        kept = {kind: list(names) for kind, names in self.scope.items()}
        i, v = self.new_name(), self.new_name()
        draw = self.random.randint(0, 6)
        if draw == 0:
            self.emit(indent, f"for {i} in range({self.random.choice(['3', '4', '1, 4', '5, 0, -2', '0', 'min(' + (self.name('int')) + ', 5)'])}):")
            self.scope["int"].append(i)
        elif draw == 1:
            self.emit(indent, f"for {v} in {self.expression('list', 1)}[:5]:")
            self.scope["int"].append(v)
        elif draw == 2:
            self.emit(indent, f"for {i}, {v} in enumerate(list({self.expression('list', 1)})[:4]):")
            self.scope["int"] += [i, v]
        elif draw == 3:
            self.emit(indent, f"for {i}, {v} in zip(range(4), {self.expression('list', 1)}):")
            self.scope["int"] += [i, v]
        elif draw == 4:
            self.emit(indent, f"for {i}, {v} in list({self.expression('dict', 1)}.items())[:4]:")
            self.scope["str"].append(i)
            self.scope["int"].append(v)
        elif draw == 5 and self.arrays:
            self.emit(indent, f"for {v} in {self.name('array')}[:3]:")
            self.scope["array"].append(v)
        else:
            self.emit(indent, f"{i} = 0")
            self.emit(indent, f"while {i} < {self.random.choice('1234')}:")
            self.emit(indent + 1, f"{i} += 1")
            # Not in scope to be written: it ends the loop.
        outer, self.in_loop = self.in_loop, True
        self.block(indent + 1, depth - 1, self.random.randint(1, 3))
        self.in_loop = outer
        if self.random.random() < 0.25:
            self.emit(indent + 1, f"if {self.expression('bool', 1)}:")
            self.emit(indent + 2, self.random.choice(["break", "continue"]))
        if self.random.random() < 0.1:
            self.emit(indent, "else:")
            self.simple(indent + 1)
        if self.random.random() < 0.9:
            self.scope = kept

    def nested(self, indent):
        f, p = self.new_name(), self.new_name()
        cell = self.name("int")
        self.emit(indent, f"def {f}({p}, k={self.expression('int', 1)}, *rest):")
        kept = {kind: list(names) for kind, names in self.scope.items()}
        if cell is not None and cell != "COUNT" and self.random.random() < 0.5:
            self.emit(indent + 1, f"nonlocal {cell}")
            self.emit(indent + 1, f"{cell} = {cell} + {self.expression('int', 1)}")
        self.scope["int"] += [p, "k"]
        outer, self.in_nested = self.in_nested, True
        self.block(indent + 1, 0, self.random.randint(0, 2))
        kind = self.random.choice(["int", "array", "list"]) if self.arrays else "int"
        self.emit(indent + 1, f"return {self.expression(kind, 2)}")
        self.in_nested = outer
        self.scope = kept
        self.scope["fn"].append(f)

    def main(self):
        default = self.expression("int", 0)
        parameters = []
        for i, kind in enumerate(self.kinds):
            self.scope[kind].append(f"p{i}")
            parameters.append(f"p{i}")
        if self.random.random() < 0.3:
            parameters[-1] += "=" + default
        self.emit(0, f"def main({', '.join(parameters)}):")
        self.emit(1, "global COUNT, SCALE, LOG, TABLE, GRID, BOX, STACK" + ", NAMES" * (self.random.random() < 0.9))
        self.block(1, 2, self.random.choice((1, 2, 3, 4, 5, 7, 9)))
        names = [n for names in self.scope.values() for n in names]
        chosen = self.random.sample(names, min(len(names), self.random.randint(1, 4)))
        draw = self.random.random()
        last = self.expression(self.random.choice(["array", "int", "any"]), 3)
        if draw < 0.6:
            self.emit(1, f"return {', '.join([*chosen, last])}")
        elif draw < 0.75:
            self.emit(1, f"return [{', '.join(chosen)}], {{'r': {last}}}")
        elif draw < 0.95:
            self.emit(1, f"return {last}")

    # ---- Calls --------------------------------------------------------------------------------

    def make_changes(self, calls):
        """For some calls, statements that change the globals before them, or the mode they run in."""
        changes = []
        for _ in calls:
            change, mode = "", {}
            if changes and self.random.random() < 0.3:
                change = self.random.choice(CHANGES)
            if self.random.random() < 0.1:
                mode = {"all": self.random.choice(["ignore", "raise", "warn"])}
            changes.append((change, mode))
        return changes

    def make_calls(self):
        """The same twice, other values, other sizes, other types, and the first again."""
        shape = self.random.choice([(3,), (4,), (2, 3), (2, 3), (3, 3), (5,), (), (1,), (0,), (1, 3), (0, 2), (2, 3, 2), (130,)])
        first = [self.recipe(kind, shape) for kind in self.kinds]
        calls = [first, first]
        for _ in range(self.random.randint(1, 3)):
            calls.append([self.other_value(r) for r in first])
        for _ in range(self.random.randint(1, 2)):
            other = self.random.choice([(3,), (2, 3), (7,), (4, 3), (6, 2), (1,), (0,), (), (2, 1), (3, 3), (40, 30), (2, 3, 4), (1500,), (70, 90)])
            calls.append([self.recipe(r[0], other) if r[0] == "array" else self.other_value(r) for r in first])
        for _ in range(self.random.randint(1, 2)):
            i = self.random.randrange(len(first))
            changed = list(self.random.choice(calls))
            changed[i] = self.recipe(self.other_kind(first[i][0]), shape)
            calls.append(changed)
        if len(first) > 1 and self.random.random() < 0.4:
            alias = list(first)
            alias[-1] = ("alias", 0)
            calls.append(alias)
        if self.kinds.count("array") > 1 and self.random.random() < 0.4:
            overlap = list(first)
            last = max(i for i, kind in enumerate(self.kinds) if kind == "array")
            overlap[last] = ("overlap", self.kinds.index("array"), self.random.choice(["flip", "all", "T"]))
            calls.append(overlap)
        calls.append(first)
        if self.random.random() < 0.3:
            calls.append(first[:-1])
        return calls

    def other_kind(self, kind):
        if kind in NUMBERS:
            return self.random.choice(["int", "float", "bool", "scalar", "scalar", "none", "array", "str", "odd"])
        if kind in ("list", "tuple"):
            return self.random.choice(["list", "tuple", "array", "range", "arrays", "odd"])
        if kind == "array":
            return self.random.choice(["array", "scalar", "float", "int", "list", "array", "odd array", "odd array"])
        return self.random.choice([*KINDS, "none"])

    def number(self, kind):
        if kind == "int":
            return self.random.choice([0, 1, -1, 2, 3, 4, 5, 2, 3, 7, 10, -3, 1, 2, 3, 6, 8, 9, 2**31, 2**63 - 1, -(2**63), 2**64])
        if kind == "bool":
            return self.random.random() < 0.5
        # Hashing a NaN takes its address: no two runs order a set of them alike.
        nan = 4.5 if self.language else float("nan")
        return self.random.choice([0.0, -0.0, 1.0, 2.5, 0.5, -1.5, 3.0, 100.25, float("inf"), nan, 1e308, 5e-324])

    def recipe(self, kind, shape=(3,)):
        if kind in NUMBERS:
            return (kind, self.number(kind))
        if kind == "str":
            return (kind, self.random.choice(["", "a", "abc", "b", "xyz"]))
        if kind in ("list", "tuple"):
            pool = self.random.choice([("int",), ("int",), ("float",), ("int", "float")])
            return (kind, [self.number(self.random.choice(pool)) for _ in range(self.random.choice((0, 1, 2, 2, 2, 3, 3, 4)))])
        if kind == "dict":
            return (kind, [(k, self.number(self.random.choice(("int", "float")))) for k in self.random.choice(("ab", "ab", "ba", "abz", "a", "zab"))])
        if kind == "box":
            return (kind, self.random.choice(["Box", "Crate"]), self.number("int"), self.number("float"))
        if kind == "array":
            dtype = self.random.choice(["f8", "f8", "f8", "f4", "i8", "i4", "b1", "c16", "u1", "f2"])
            if len(shape) == 2 and self.random.random() < 0.2:
                shape = self.random.choice([shape[1:], (1, shape[1]), (shape[0], 1)])
            layout = self.random.choice(["c", "c", "c", "f", "step", "back", "broad", "offset"])
            return (kind, dtype, shape, layout, self.random.randrange(1000), self.random.random() < 0.15)
        if kind == "scalar":
            return (kind, self.random.choice(["f8", "f4", "i8", "i4", "b1", "c16", "u1", "f2"]), self.random.choice([0, 1, 2, 3, 100]))
        if kind == "odd":
            return (kind, self.random.randrange(14))
        if kind == "odd array":
            return (kind, self.random.randrange(16), shape)
        if kind == "arrays":
            return (kind, shape, self.random.randrange(1000))
        if kind == "range":
            return (kind, self.random.randint(0, 4))
        return ("none",)

    def other_value(self, recipe):
        """Of the same kind, mostly near."""
        if recipe[0] == "array":
            kept = list(recipe)
            kept[4] = self.random.randrange(1000)
            if self.random.random() < 0.3:
                kept[3] = self.random.choice(["c", "f", "step", "back", "broad"])
            if self.random.random() < 0.2:
                kept[1] = self.random.choice(["f8", "f4", "i8", "i4", "b1", "c16"])
            return tuple(kept)
        return recipe if self.random.random() < 0.3 else self.recipe(recipe[0])
