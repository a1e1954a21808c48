"""The directive `def-table`: a table made from the rows of a .def file.

The C code and the documentation read the same file, so a row that is added appears here by itself.

    ```{def-table} src/variables/breaks.def
    :macro: BREAK
    :columns: id | what happened | what you can do
    :pick: 1 2 3
    ```

`macro` names the rows to show (`bars` for a file whose rows are lines with bars between the
columns); `pick` says which arguments become columns, counted from 0, where the word `comment` picks
the comment after the row. Adjacent string literals are joined, as in C. `code` lists the columns
that are set as code. `ref: 1` gives each row a link target made from argument 1. With `list:` no table
is made but one paragraph with the first picked argument of each row.
"""

from __future__ import annotations

import re
from pathlib import Path

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.util.docutils import SphinxDirective

ROOT = Path(__file__).resolve().parents[2]
TOKEN = re.compile(r'"(?:\\.|[^"\\])*"|[(),]|/\*.*?\*/|[^\s"(),/]+|/|\s+', re.DOTALL)


def unquote(text: str) -> str:
    return text[1:-1].replace('\\"', '"').replace("\\n", " ").replace("\\\\", "\\")


def rows(text: str, macro: str) -> list[tuple[list[str], str]]:
    """The arguments of every `macro(...)` in `text`, each with the comment after it."""
    if macro == "bars":
        lines = (line for line in text.splitlines() if not line.startswith("#"))
        return [([c.strip() for c in line.split(" | ")], "") for line in lines if " | " in line]
    found = []
    for start in re.finditer(rf"^{re.escape(macro)}\(", text, re.MULTILINE):
        arguments: list[str] = [""]
        depth, quoted, at = 1, False, start.end()
        while depth:
            token = TOKEN.match(text, at)
            if token is None:
                raise ValueError(f"unbalanced {macro}( at offset {start.start()}")
            at = token.end()
            word = token.group()
            if word.startswith("/*"):
                continue
            depth += (word == "(") - (word == ")")
            if not depth:
                break
            if word == "," and depth == 1:
                arguments.append("")
                quoted = False
            elif word.startswith('"'):
                arguments[-1] += unquote(word)
                quoted = True
            elif not (quoted and word.isspace()):
                arguments[-1] += " " if word.isspace() else word
        rest = re.match(r"[ \t]*/\*(.*?)\*/", text[at:], re.DOTALL)
        comment = " ".join(rest[1].replace("\n *", "\n").split()) if rest else ""
        found.append(([a.strip() for a in arguments], comment))
    return found


class DefTable(SphinxDirective):
    required_arguments = 1
    final_argument_whitespace = True
    option_spec = {
        "macro": directives.unchanged_required,
        "columns": directives.unchanged_required,
        "pick": directives.unchanged_required,
        "code": directives.unchanged,
        "list": directives.flag,
        "ref": directives.nonnegative_int,
    }

    def run(self) -> list[nodes.Node]:
        path = ROOT / self.arguments[0]
        if not path.exists():
            return []
        self.env.note_dependency(str(path))
        table_rows = rows(path.read_text(encoding="utf-8"), self.options["macro"])
        if not table_rows:
            raise self.error(f"no row {self.options['macro']}(...) in {self.arguments[0]}")
        if "list" in self.options:
            paragraph = nodes.paragraph()
            pick = int(self.options["pick"].split()[0])
            for index, (arguments, _) in enumerate(table_rows):
                paragraph += nodes.Text(", " if index else "")
                paragraph += nodes.literal(text=arguments[pick])
            return [paragraph]
        columns = [c.strip() for c in self.options["columns"].split("|")]
        picks = self.options["pick"].split()
        code = set(self.options.get("code", columns[0]).split("|"))

        table = nodes.table(classes=["def-table"])
        group = nodes.tgroup(cols=len(columns))
        table += group
        for _ in columns:
            group += nodes.colspec(colwidth=1)
        head = nodes.thead()
        group += head
        head += self.row([nodes.paragraph(text=c) for c in columns])
        body = nodes.tbody()
        group += body
        for arguments, comment in table_rows:
            cells: list[nodes.Node] = []
            for column, pick in zip(columns, picks, strict=True):
                value = comment if pick == "comment" else ""
                if pick != "comment" and int(pick) < len(arguments):
                    value = arguments[int(pick)]
                cell = nodes.paragraph()
                if value:
                    kind = nodes.literal if column in code else nodes.inline
                    cell += kind(text=value)
                cells.append(cell)
            made = self.row(cells)
            if "ref" in self.options:
                made["ids"].append(nodes.make_id(arguments[self.options["ref"]]))
            body += made
        return [table]

    @staticmethod
    def row(cells: list[nodes.Node]) -> nodes.row:
        made = nodes.row()
        for cell in cells:
            entry = nodes.entry()
            entry += cell
            made += entry
        return made


def setup(app):
    app.add_directive("def-table", DefTable)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
