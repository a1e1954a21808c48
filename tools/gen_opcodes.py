"""Turn src/bytecode/opcodes.def into C tables for the running CPython, and prove them.

    python tools/gen_opcodes.py --table src/bytecode/opcodes.def --out DIR

writes DIR/opcode_tables.h.  It is run by the interpreter that the extension is built for and
fails, listing every disagreement, unless

* each name of ``dis.opmap`` below 256 that is not ``INSTRUMENTED_*`` has exactly one row,
  and the others are listed as pseudo or instrumented;
* each row's stack picture agrees with ``dis.stack_effect``, with and without the jump, for
  several arguments (or with its ``model`` column where the compiler's model differs);
* each row's canonical operations have together the same effect as its picture;
* each row's cache units agree with the ``opcode`` module.

The syntax of a row is described at the top of the table.  Standard library only.
"""

import argparse
import dis
import opcode
import os
import re
import sys

KNOWN = [(3, 10), (3, 11), (3, 12), (3, 13)]
ARGUMENTS = [0, 1, 2, 3, 4, 5, 6, 7, 8, 11, 15, 16, 17, 33, 255, 256, 258, 771]
JUMPS = ["none", "abs", "fwd", "back"]
FLAGS = {
    "CHECK": 4,
    "NULL_FIRST": 8,
    "NO_INTERRUPT": 32,
    "QUALNAME": 64,
    "TWO_ARGS": 128,
}


class TableError(Exception):
    """A line of a table that cannot be read."""


class Names(dict):
    """The names that expressions may use; binary operators only matter in C."""

    def __missing__(self, key):
        if key.startswith("DT_BINARY_"):
            return 0
        raise KeyError(key)


def evaluate(expression, **values):
    """The value of a C and Python expression of `oparg`."""
    names = Names(FLAGS)
    names["DEREF"] = int
    names.update(values)
    return int(eval(expression, {"__builtins__": {}}, names))


def to_c(expression):
    """The same expression in C."""
    expression = expression.replace(" and ", " && ").replace(" or ", " || ")
    for flag in FLAGS:
        expression = re.sub(r"\b%s\b" % flag, "DT_INSTR_" + flag, expression)
    return expression


class Op:
    """One canonical operation of a row: ``NAME(arg)[flags] if condition``."""

    SYNTAX = re.compile(r"(?P<name>[A-Z0-9_]+)(?P<rest>.*)$", re.S)

    def __init__(self, text):
        match = self.SYNTAX.match(text.strip())
        if match is None:
            raise TableError("cannot read operation %r" % text)
        self.name = match["name"]
        body, _, condition = match["rest"].partition(" if ")
        self.condition = condition.strip() or "1"
        self.flags = "0"
        body = body.strip()
        if body.endswith("]"):
            body, _, self.flags = body[:-1].rpartition("[")
        self.arg = "0"
        if body.startswith("(") and body.endswith(")"):
            self.arg = body[1:-1].strip()
        elif body:
            raise TableError("cannot read operand %r of %s" % (body, self.name))

    def applies(self, oparg):
        return bool(evaluate(self.condition, oparg=oparg))


class Row:
    """One line of the table."""

    def __init__(self, line, number):
        fields = [field.strip() for field in line.split("|")]
        if len(fields) != 6:
            raise TableError("line %d: six columns expected" % number)
        self.line = number
        self.name = fields[0]
        self.versions = versions_of(fields[1])
        self.open_ended = fields[1] == "all" or fields[1].endswith("-")
        self.caches = [int(n) for n in fields[2].split(",")]
        if len(self.caches) > len(self.versions):
            raise TableError("line %d: more cache counts than versions" % number)
        self.popped, self.pushed, self.jumped, self.model = picture_of(fields[3], number)
        kind, _, skip = fields[4].partition("+")
        self.jump = "none" if kind == "-" else kind
        self.skip = int(skip or 0)
        if self.jump not in JUMPS:
            raise TableError("line %d: unknown jump %r" % (number, fields[4]))
        self.repeat = None
        self.ops = []
        self.becomes(fields[5])

    def becomes(self, text):
        if text.startswith("repeat "):
            match = re.match(r"repeat i from oparg to 2: (.*)$", text)
            self.repeat = Op(match[1])
        elif text != "none":
            self.ops = [Op(part) for part in text.split(";")]

    def covers(self, version):
        return version in self.versions or (self.open_ended and version > KNOWN[-1])

    def cache_units(self, version):
        index = self.versions.index(version) if version in self.versions else -1
        return self.caches[min(index, len(self.caches) - 1) if index >= 0 else -1]

    def canonical(self, oparg):
        """(name, arg, flags) of each canonical operation for this argument."""
        if self.repeat is not None:
            return [
                (self.repeat.name, evaluate(self.repeat.arg, i=i, oparg=oparg), 0)
                for i in range(oparg, 1, -1)
            ]
        return [
            (op.name, evaluate(op.arg, oparg=oparg), evaluate(op.flags, oparg=oparg))
            for op in self.ops
            if op.applies(oparg)
        ]


def versions_of(text):
    if text == "all":
        return list(KNOWN)
    first, dash, last = text.partition("-")
    first = tuple(int(n) for n in first.split("."))
    if not dash:
        return [first]
    last = tuple(int(n) for n in last.split(".")) if last else KNOWN[-1]
    return [version for version in KNOWN if first <= version <= last]


def picture_of(text, number):
    text, _, model = text.partition(" model ")
    popped, arrow, pushed = text.partition("->")
    if not arrow:
        raise TableError("line %d: no picture" % number)
    pushed, _, jumped = pushed.partition(" / ")
    model = tuple(part.strip() for part in model.split("/")) if model else None
    return popped.strip(), pushed.strip(), jumped.strip() or pushed.strip(), model


def read_table(path):
    """(rows, pseudo names, instrumented names)."""
    rows, listed = [], {"pseudo": set(), "instrumented": set()}
    with open(path, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            line = line.strip()
            if not line or line.startswith("#"):
                continue
            kind, _, names = line.partition("|")
            if kind.strip() in listed:
                listed[kind.strip()].update(names.split())
            else:
                rows.append(Row(line, number))
    return rows, listed["pseudo"], listed["instrumented"]


def read_canonical(path):
    """name -> (operand kind, popped, pushed, pushed on jump)."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    row = re.compile(r'^DT_CANON\((\w+), (\w+), (.*), (".*")\)$', re.M)
    result = {}
    for match in row.finditer(text):
        expressions = [part.strip() for part in match[3].split(", ")]
        if len(expressions) != 3:
            raise TableError("canonical.def: cannot read the picture of %s" % match[1])
        result[match[1]] = (match[2], *expressions)
    return result


def real_caches():
    entries = getattr(opcode, "_inline_cache_entries", None)
    if entries is None:
        return lambda name, number: 0
    if isinstance(entries, dict):
        return lambda name, number: entries.get(name, 0)
    return lambda name, number: entries[number]


def rows_by_opcode(rows, pseudo, instrumented, problems, version):
    """opcode -> row for the running interpreter; every gap is a problem."""
    chosen, claimed = {}, set()
    for row in rows:
        if row.covers(version):
            if row.name in claimed:
                problems.append("%s: more than one row for %d.%d" % ((row.name,) + version))
            claimed.add(row.name)
            number = dis.opmap.get(row.name)
            if number is None and row.name == "CACHE":
                number = 0
            if number is None or number > 255:
                problems.append(
                    "%s: this CPython has no such opcode (line %d)" % (row.name, row.line)
                )
            else:
                chosen[number] = row
    for name, number in sorted(dis.opmap.items()):
        if name.startswith("INSTRUMENTED_"):
            if name not in instrumented:
                problems.append("missing: instrumented name %s" % name)
        elif number > 255:
            if name not in pseudo:
                problems.append("missing: pseudo name %s" % name)
        elif name not in claimed:
            problems.append("missing row: %s" % name)
    return chosen


def check_effects(number, row, problems):
    takes = number >= dis.HAVE_ARGUMENT
    for oparg in ARGUMENTS if takes else [0]:
        for jump in (False, True):
            try:
                real = dis.stack_effect(number, oparg if takes else None, jump=jump)
            except ValueError as error:
                problems.append("%s: no stack effect: %s" % (row.name, error))
                return
            if row.model is not None:
                ours = evaluate(row.model[jump], oparg=oparg)
            else:
                pushed = row.jumped if jump else row.pushed
                ours = evaluate(pushed, oparg=oparg) - evaluate(row.popped, oparg=oparg)
            if ours != real:
                problems.append(
                    "%s %d, jump %s: stack effect %d, the table says %d"
                    % (row.name, oparg, jump, real, ours)
                )
                return


def check_canonical(row, canonical, problems):
    """The canonical operations together do what the picture says."""
    for oparg in ARGUMENTS:
        popped = evaluate(row.popped, oparg=oparg)
        depth, lowest, kinds = 0, 0, set()
        ops = row.canonical(oparg)
        if any(name == "INVALID" for name, _, _ in ops) or not ops:
            continue
        after = {False: row.pushed, True: row.jumped}
        for index, (name, arg, flags) in enumerate(ops):
            if name not in canonical:
                problems.append("%s: no canonical operation %s" % (row.name, name))
                return
            kind, pops, pushes, jumps = canonical[name]
            kinds.add(kind)
            depth -= evaluate(pops, oparg=arg, flags=flags)
            lowest = min(lowest, depth)
            if index == len(ops) - 1 and kind == "JUMP" and row.jump != "none":
                taken = depth + evaluate(jumps, oparg=arg, flags=flags)
                if taken != evaluate(after[True], oparg=oparg) - popped:
                    problems.append(
                        "%s %d: the jump of its canonical form leaves %d" % (row.name, oparg, taken)
                    )
            depth += evaluate(pushes, oparg=arg, flags=flags)
        if depth != evaluate(after[False], oparg=oparg) - popped:
            problems.append(
                "%s %d: its canonical form has the effect %d" % (row.name, oparg, depth)
            )
            return
        if -lowest > popped:
            problems.append("%s %d: its canonical form pops %d values" % (row.name, oparg, -lowest))
            return
        if (row.jump != "none") != ("JUMP" in kinds):
            problems.append("%s: jump column and canonical form disagree" % row.name)
            return


def check(chosen, canonical, problems, version):
    caches = real_caches()
    for number, row in sorted(chosen.items()):
        if row.cache_units(version) != caches(row.name, number):
            problems.append(
                "%s: %d cache units, the table says %d"
                % (row.name, caches(row.name, number), row.cache_units(version))
            )
        check_effects(number, row, problems)
        check_canonical(row, canonical, problems)


def emit_line(op):
    arg = to_c(op.arg)
    call = "dt_expand_add(out, DT_OP_%s, %s, %s);" % (op.name, arg, to_c(op.flags))
    if op.condition == "1":
        return "        %s\n" % call
    return "        if (%s) {\n            %s\n        }\n" % (to_c(op.condition), call)


def write_tables(chosen, version, out):
    lines = [
        "/* Made by tools/gen_opcodes.py for CPython %d.%d; not to be edited. */\n" % version,
        "#if PY_MAJOR_VERSION != %d || PY_MINOR_VERSION != %d\n" % version,
        '#error "opcode tables of another CPython"\n#endif\n\n',
        "static const DtOpcodeInfo opcode_infos[256] = {\n",
    ]
    for number, row in sorted(chosen.items()):
        lines.append(
            '    [%d] = {"%s", %d, DT_JUMP_%s, %d},\n'
            % (number, row.name, row.cache_units(version), row.jump.upper(), row.skip)
        )
    lines.append("};\n\n#define DEREF(n) dt_expand_deref(out, (n))\n\n")
    lines.append(
        "static void\nexpand_row(DtExpand *out, int opcode_number, int oparg)\n{\n"
        "    switch (opcode_number) {\n"
    )
    for number, row in sorted(chosen.items()):
        lines.append("    case %d: /* %s */\n" % (number, row.name))
        if row.repeat is not None:
            lines.append(
                "        for (int i = oparg; i >= 2; i--) {\n    %s        }\n"
                % emit_line(row.repeat)
            )
        for op in row.ops:
            lines.append(emit_line(op))
        lines.append("        break;\n")
    lines.append("    default:\n        break;\n    }\n    (void)oparg;\n}\n\n#undef DEREF\n")
    os.makedirs(out, exist_ok=True)
    with open(os.path.join(out, "opcode_tables.h"), "w", encoding="utf-8") as file:
        file.writelines(lines)


def load(table):
    """(chosen rows, canonical operations, problems) for the running interpreter."""
    version = tuple(sys.version_info[:2])
    problems = []
    if version not in KNOWN:
        problems.append("CPython %d.%d is not one of those in the table" % version)
    rows, pseudo, instrumented = read_table(table)
    canonical = read_canonical(os.path.join(os.path.dirname(table), "canonical.def"))
    chosen = rows_by_opcode(rows, pseudo, instrumented, problems, version)
    check(chosen, canonical, problems, version)
    return chosen, canonical, problems


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--table", required=True, help="path of opcodes.def")
    parser.add_argument("--out", required=True, help="folder for opcode_tables.h")
    options = parser.parse_args(argv)
    try:
        chosen, _, problems = load(options.table)
    except TableError as error:
        print("gen_opcodes: %s" % error, file=sys.stderr)
        return 1
    if problems:
        print("gen_opcodes: the table does not describe this CPython:", file=sys.stderr)
        for problem in problems:
            print("  " + problem, file=sys.stderr)
        return 1
    write_tables(chosen, tuple(sys.version_info[:2]), options.out)
    return 0


if __name__ == "__main__":
    sys.exit(main())
