"""Random programs over a web of shared objects: what is written through one name is read by another.

`Web(seed)` has the text of a module and the recipes of its calls, like `programs.Program`.  Lists,
dicts, objects with recording setters, cells and arrays refer to each other; statements change them
through any of their names, in loops, callees and handlers, with exceptions and breaks between them.
`python tests/fuzz/web.py --seed N --count M` runs many; what is not here: comparing (`worlds.py`).
"""

from __future__ import annotations

import random
import sys

HEADER = '''\
import numpy as np

LOG = []
SHARED = [1, 2, 3]
TABLE = {"a": 1, "b": [2]}
G = 5


class Node:
    kind = "node"

    def __init__(self, a=0):
        self.a = a


class Rec:
    """Writes down who stores what."""

    def __init__(self, a=0):
        self.a = a

    def __setattr__(self, name, value):
        LOG.append(("set", name, type(value).__name__))
        object.__setattr__(self, name, value)

    def __delattr__(self, name):
        LOG.append(("del", name))
        object.__delattr__(self, name)


class Prop:
    def __init__(self, a=0):
        self._a = a

    @property
    def a(self):
        LOG.append("get a")
        return self._a

    @a.setter
    def a(self, value):
        LOG.append("set a")
        self._a = value


class Slot:
    __slots__ = ("a", "b", "__dict__")

    def __init__(self, a=0):
        self.a = a


class Data(dict):
    def __setitem__(self, key, value):
        LOG.append(("item", key))
        dict.__setitem__(self, key, value)


class Items(list):
    def append(self, value):
        LOG.append("append")
        list.append(self, value)


class Sized:
    def __init__(self, *values):
        self.values = values

    def __len__(self):
        LOG.append("len")
        return len(self.values)

    def __iter__(self):
        for value in self.values:
            LOG.append("next")
            yield value


NODE = Node(1)
REC = Rec(2)


def cells(start):
    value = start

    def read():
        return value

    def put(new):
        nonlocal value
        value = new
        return new

    def drop():
        nonlocal value
        del value

    return read, put, drop


READ, PUT, DROP = cells(7)


def give(o, name, value):
    setattr(o, name, value)
    return o


def push(items, value):
    items.append(value)
    return items


def fail(value):
    LOG.append("fail")
    raise ValueError(str(type(value).__name__))


def steps(items):
    for i in range(3):
        LOG.append("step")
        items.append(i)
        yield i


def state():
    return [LOG, SHARED, TABLE, globals().get("G", "<none>"), NODE, REC, READ, PUT]


'''

KEYS = ("'a'", "'b'", "'c'", "1")
NAMES = ("a", "b", "c")


class Web:
    """One module and its calls; see the head of this file."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.names = {
            "list": ["p0", "SHARED"],
            "dict": ["p1", "TABLE"],
            "obj": ["p2", "p3", "NODE", "REC"],
            "arr": ["p4", "p5"],
            "read": ["READ"],
            "put": ["PUT"],
            "drop": ["DROP"],
        }
        self.count = 0
        self.loops = 0
        self.lines = ["def main(p0, p1, p2, p3, p4, p5):", "    global G"]
        for _ in range(self.random.randint(5, 14)):
            self.statement(1)
        kept = [self.random.choice(self.names[kind]) for kind in ("list", "dict", "obj", "arr")]
        self.lines.append(f"    return {', '.join(kept)}, p4 * 2.0 + p5")
        self.source = HEADER + "\n".join(self.lines) + "\n"
        self.calls = self.make_calls()

    def pick(self, kind):
        return self.random.choice(self.names[kind])

    def new(self, kind):
        self.count += 1
        name = f"v{self.count}"
        return name, kind

    def number(self):
        return self.random.choice(("1", "2", "-3", "0.5", "G", f"len({self.pick('list')})"))

    def array(self):
        a, b = self.pick("arr"), self.pick("arr")
        return self.random.choice(
            (a, f"{a} + 1.0", f"{a} * {b}", f"np.sqrt(abs({a}))", f"{a}[:]", f"{a} - {self.number()}")
        )

    def value(self):
        draw = self.random.random
        if draw() < 0.3:
            return self.number()
        return self.random.choice(
            (
                self.array(),
                self.pick("list"),
                f"{self.pick('list')}[:2]",
                self.pick("obj"),
                f"{self.pick('dict')}.get({self.random.choice(KEYS)})",
                f"getattr({self.pick('obj')}, {self.random.choice(NAMES)!r}, None)",
                f"{self.pick('read')}()",
                f"({self.number()}, {self.array()})",
                f"len({self.pick('dict')})",
            )
        )

    # ---- Statements -------------------------------------------------------------------------------

    def emit(self, depth, text):
        self.lines.append("    " * depth + text)

    def statement(self, depth):
        rows = [
            (6, self.on_list), (6, self.on_dict), (8, self.on_object), (6, self.on_array),
            (4, self.on_cells), (4, self.make), (2, self.on_globals), (1, self.break_here),
        ]  # fmt: skip
        if depth < 3:
            rows += [(2, self.handler), (1, self.loop), (1, self.branch)]
        if depth > 1:
            rows += [(1, self.raise_here)]
        total = sum(weight for weight, _ in rows)
        at = self.random.random() * total
        for weight, row in rows:
            at -= weight
            if at < 0:
                row(depth)
                return

    def on_list(self, depth):
        items, value = self.pick("list"), self.value()
        self.emit(
            depth,
            self.random.choice(
                (
                    f"{items}.append({value})",
                    f"push({items}, {value})",
                    f"{items}.insert({self.random.randint(-1, 3)}, {value})",
                    f"{items}[{self.random.randint(-1, 1)}:{self.random.randint(0, 2)}] = [{value}]",
                    f"{items}.extend([{value}, {self.value()}])",
                    f"{items} += {self.pick('list')}[:2]",
                    f"{items}[:1] = {self.pick('list')}[-1:]",
                    f"{items}.reverse()",
                    f"{items}[0] = {value}",
                    f"{items}[-1] = {items}[0]",
                    f"{items}.pop()",
                    f"del {items}[0]",
                    f"{items}.extend(Sized({self.number()}, {self.number()}))",
                    f"{items}[1:1] = Sized({self.number()})",
                    f"{items}.extend(steps({self.pick('list')}))",
                    f"{items}[0], {items}[-1] = {items}[-1], {items}[0]",
                    f"list(steps({items}))",
                )
            ),
        )

    def on_dict(self, depth):
        table, key, value = self.pick("dict"), self.random.choice(KEYS), self.value()
        self.emit(
            depth,
            self.random.choice(
                (
                    f"{table}[{key}] = {value}",
                    f"{table}[{key}] = {value}",
                    f"{table}.pop({key}, None)",
                    f"del {table}[{key}]",
                    f"{table}.update(a={value}, c={self.number()})",
                    f"{table}.setdefault({key}, {value})",
                    f"{table} |= {{{key}: {value}}}",
                    f"{table}[{key}] = {table}.pop({self.random.choice(KEYS)}, 0)",
                    f"{table}.update({self.pick('dict')})",
                    f"{table}.update({self.pick('obj')}.__dict__)",
                    f"{self.pick('list')}.extend({table})",
                    f"{self.pick('list')}.append({{**{table}}})",
                )
            ),
        )

    def on_object(self, depth):
        o, name, value = self.pick("obj"), self.random.choice(NAMES), self.value()
        self.emit(
            depth,
            self.random.choice(
                (
                    f"{o}.{name} = {value}",
                    f"{o}.{name} = {value}",
                    f"give({o}, {name!r}, {value})",
                    f"setattr({o}, 'a' + str({self.number()}), {value})",
                    f"{o}.__dict__[{name!r}] = {value}",
                    f"vars({o}).update({name}={value})",
                    f"{o}.__dict__.pop({name!r}, None)",
                    f"del {o}.{name}",
                    f"{o}.{name} = {self.pick('obj')}.a",
                    f"{o}.a, {self.pick('obj')}.a = {self.pick('obj')}.a, {value}",
                    f"{self.pick('list')}.append(sorted(vars({o})))",
                    f"{self.pick('list')}.append(hasattr({o}, {name!r}))",
                )
            ),
        )

    def on_array(self, depth):
        x, y = self.pick("arr"), self.pick("arr")
        self.emit(
            depth,
            self.random.choice(
                (
                    f"{x}[0] = {self.random.choice(('1.5', '2', '-1'))}",
                    f"{x} += 1.0",
                    f"{x} *= {y}",
                    f"{x}[...] = {y}",
                    f"{x}[1:] = {y}[:-1]",
                    f"np.add({x}, {y}, out={x})",
                    f"{x}[::-1] -= {y}",
                    f"np.copyto({x}, {y} * 2.0)",
                )
            ),
        )

    def on_cells(self, depth):
        self.emit(
            depth,
            self.random.choice(
                (
                    f"{self.pick('put')}({self.value()})",
                    f"{self.pick('put')}({self.pick('list')}).append({self.number()})",
                    f"{self.pick('list')}.append({self.pick('read')}())",
                    f"{self.pick('obj')}.a = {self.pick('read')}()",
                    f"{self.pick('drop')}()",
                    f"{self.pick('list')}.append({self.pick('read')})",
                )
            ),
        )

    def make(self, depth):
        kind = self.random.choice(("list", "dict", "obj", "arr", "cells", "alias"))
        if kind == "alias":
            kind = self.random.choice(("list", "dict", "obj", "arr"))
            text = self.pick(kind)
        elif kind == "cells":
            self.count += 1
            names = [f"{part}{self.count}" for part in ("read", "put", "drop")]
            self.emit(depth, f"{', '.join(names)} = cells({self.value()})")
            if depth == 1:
                for part, name in zip(("read", "put", "drop"), names):
                    self.names[part].append(name)
            return
        else:
            text = {
                "list": f"[{self.value()}, {self.value()}]",
                "dict": f"{{'a': {self.value()}}}",
                "obj": f"{self.random.choice(('Node', 'Rec', 'Prop', 'Slot'))}({self.value()})",
                "arr": self.random.choice((self.array(), f"{self.pick('arr')}[::-1]")),
            }[kind]
            if self.random.random() < 0.15 and kind in ("list", "dict"):
                text = {"list": "Items([1, 2])", "dict": "Data(a=1)"}[kind]
        self.count += 1
        name = f"v{self.count}"
        self.emit(depth, f"{name} = {text}")
        if depth == 1:  # elsewhere it may stay unbound
            self.names[kind].append(name)

    def on_globals(self, depth):
        self.emit(
            depth,
            self.random.choice(
                (f"G = {self.value()}", "del G", f"LOG.append({self.number()})", "G = len(LOG)")
            ),
        )

    def break_here(self, depth):
        self.emit(depth, "print(end='')")

    def raise_here(self, depth):
        self.emit(depth, self.random.choice((f"fail({self.value()})", "[][0]", "{}['x']")))

    def block(self, depth):
        for _ in range(self.random.randint(1, 3)):
            self.statement(depth)

    def handler(self, depth):
        self.emit(depth, "try:")
        self.block(depth + 1)
        self.emit(depth, "except (ValueError, LookupError, AttributeError, TypeError, NameError):")
        self.emit(depth + 1, "LOG.append('caught')")
        self.block(depth + 1)
        if self.random.random() < 0.3:
            self.emit(depth, "finally:")
            self.block(depth + 1)

    def loop(self, depth):
        self.loops += 1
        name = f"i{self.loops}"
        kind = self.random.random()
        if kind < 0.5:
            self.emit(depth, f"for {name} in range({self.random.randint(1, 3)}):")
        elif kind < 0.8:
            self.emit(depth, f"for {name} in {self.pick('list')}[:3]:")
        else:
            self.emit(depth, f"for {name} in list({self.pick('dict')}):")
        self.block(depth + 1)

    def branch(self, depth):
        test = self.random.choice(
            (
                f"{self.pick('list')}",
                f"'a' in {self.pick('dict')}",
                f"{self.pick('obj')} is {self.pick('obj')}",
                f"{self.pick('list')} is {self.pick('list')}",
                f"len({self.pick('list')}) > 3",
            )
        )
        self.emit(depth, f"if {test}:")
        self.block(depth + 1)

    # ---- Calls ------------------------------------------------------------------------------------

    def make_calls(self):
        calls = []
        layout = self.random.choice(("c", "step", "back"))
        classes = [self.random.choice(("Node", "Rec", "Prop", "Slot")) for _ in range(2)]
        aliased = self.random.random() < 0.3
        for number in range(4):
            call = [
                ("list", [1, 2.5, "x"]),
                ("dict", {"a": 1, "b": 2}),
                ("box", classes[0], 3),
                ("alias", 2) if aliased and number != 2 else ("box", classes[1], 4),
                ("array", "f8", (4,), layout, 1, False),
            ]
            call.append(
                self.random.choice(
                    (("alias", 4), ("overlap", 4, "flip"), ("array", "f8", (4,), "c", 2, False))
                )
                if number
                else ("array", "f8", (4,), "c", 2, False)
            )
            calls.append(call)
        return calls


if __name__ == "__main__":
    import sweep

    sys.exit(sweep.main(Web, HEADER, __doc__))
