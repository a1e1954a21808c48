"""opcodes.def against the running interpreter, and the generator's own behaviour."""

import dis
import re
import sys

import gen_opcodes
import pytest
from dyntrace._core import _testing
from opcode_cases import CANONICAL, ROWS, TABLE, VERSION


def test_table_describes_this_cpython():
    _, _, problems = gen_opcodes.load(str(TABLE))
    assert problems == []


def test_built_tables_are_these():
    real = {number: row for number, row in (
        (dis.opmap.get(row.name, 0), row) for row in ROWS if row.covers(VERSION))}
    built = _testing.opcodes()
    assert set(built) == set(real)
    for number, (name, caches) in built.items():
        assert (name, caches) == (real[number].name, real[number].cache_units(VERSION))


def test_one_row_per_name_and_version():
    for version in gen_opcodes.KNOWN:
        names = [row.name for row in ROWS if row.covers(version)]
        assert len(names) == len(set(names)), version


def test_canonical_rows_are_those_of_the_build():
    assert [name for name, _, _ in _testing.canonical()] == list(CANONICAL)


def test_every_canonical_operation_is_used():
    """Some row of some version stands for it; the rest is made by the decoder or by emitters."""
    used = {op.name for row in ROWS for op in row.ops}
    used |= {row.repeat.name for row in ROWS if row.repeat}
    assert set(CANONICAL) == used


def damaged(tmp_path, pattern, replacement):
    text, count = re.subn(pattern, replacement, TABLE.read_text(), flags=re.M)
    assert count >= 1
    copy = tmp_path / "opcodes.def"
    copy.write_text(text)
    (tmp_path / "canonical.def").write_text(TABLE.with_name("canonical.def").read_text())
    return copy


@pytest.mark.parametrize("pattern, replacement, problem", [
    (r"^POP_TOP .*$", "", "missing row: POP_TOP"),
    (r"^(POP_TOP \| all \| 0 \|) 1 -> 0", r"\1 1 -> 1", "POP_TOP 0, jump False: stack effect -1"),
    (r"^(POP_TOP .*)POP_TOP$", r"\1NOP", "POP_TOP 0: its canonical form has the effect 0"),
    (r"^(POP_TOP .*)POP_TOP$", r"\1NOTHING", "POP_TOP: no canonical operation NOTHING"),
    (r"^(POP_TOP \| all \| )0", r"\g<1>2", "POP_TOP: 0 cache units, the table says 2"),
    (r"^(POP_TOP .*)$", r"\1\n\1", "POP_TOP: more than one row"),
    (r"^(POP_TOP)( .*)$", r"\1\2\n\1X\2", "POP_TOPX: this CPython has no such opcode"),
])
def test_a_wrong_table_fails_the_build(tmp_path, capsys, pattern, replacement, problem):
    copy = damaged(tmp_path, pattern, replacement)
    assert gen_opcodes.main(["--table", str(copy), "--out", str(tmp_path / "out")]) == 1
    assert problem in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def refuse(number, oparg=None, jump=None):
    raise ValueError("invalid opcode or oparg")


def test_unknown_cpython(tmp_path, capsys, monkeypatch):
    """A version that nobody has looked at fails with the names that have no row."""
    monkeypatch.setitem(dis.opmap, "BRAND_NEW", 201)
    monkeypatch.setattr(dis, "stack_effect", refuse)
    monkeypatch.setattr(sys, "version_info", (3, 99, 0, "final", 0))
    assert gen_opcodes.main(["--table", str(TABLE), "--out", str(tmp_path)]) == 1
    text = capsys.readouterr().err
    assert "CPython 3.99 is not one of those in the table" in text
    assert "missing row: BRAND_NEW" in text
    assert "POP_TOP: no stack effect: invalid opcode or oparg" in text


@pytest.mark.parametrize("line", ["POP_TOP | all | 0", "X | all | 0 | nothing | - | NOP",
                                  "X | all | 0 | 0 -> 0 | sideways | NOP",
                                  "X | 3.10 | 0,1 | 0 -> 0 | - | NOP",
                                  "X | all | 0 | 0 -> 0 | - | lower(case)"])
def test_unreadable_rows(tmp_path, capsys, line):
    copy = damaged(tmp_path, r"\Z", "\n" + line + "\n")
    assert gen_opcodes.main(["--table", str(copy), "--out", str(tmp_path / "out")]) == 1
    assert "gen_opcodes:" in capsys.readouterr().err


def simulate(ops, stack):
    """COPY and SWAP on a list."""
    for name, arg, _ in ops:
        if name == "COPY":
            stack.append(stack[-arg])
        else:
            assert name == "SWAP"
            stack[-1], stack[-arg] = stack[-arg], stack[-1]
    return stack


@pytest.mark.parametrize("name, oparg, before, after", [
    ("DUP_TOP", 0, "a", "aa"),
    ("DUP_TOP_TWO", 0, "ab", "abab"),
    ("ROT_TWO", 0, "ab", "ba"),
    ("ROT_THREE", 0, "abc", "cab"),
    ("ROT_FOUR", 0, "abcd", "dabc"),
    ("ROT_N", 2, "ab", "ba"),
    ("ROT_N", 5, "abcde", "eabcd"),
    ("ROT_N", 7, "xabcdefg", "xgabcdef"),
])
def test_stack_moves_of_310(name, oparg, before, after):
    row, = [row for row in ROWS if row.name == name]
    assert "".join(simulate(row.canonical(oparg), list(before))) == after
