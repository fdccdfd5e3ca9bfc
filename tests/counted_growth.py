"""Count the work of a merge: the lines that Python runs, and the characters that libyaml is given.

    python tests/counted_growth.py SHAPE COUNT...      one number for each count of units

It needs a process of its own: the parser that counts has to be there before the package makes its
own of it. A file of a shape has the same few changes, whatever its size.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

Trio = tuple[str, str, str]  # base, ours, theirs
CONFIG = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {}\ndata:\n"


def _changed(units: list[str], head: str = "", join: str = "") -> Trio:
    """Each side changes a value in three units; the sides meet in one of them, in two lines."""
    count = len(units)
    ours, theirs = units.copy(), units.copy()
    for side, one, places in (
        (ours, "one", (count // 5, count // 2, count - 2)),
        (theirs, "two", (count // 4, count // 2, count - 3)),
    ):
        for place in places:
            side[place] = side[place].replace(f"{one}: a", f"{one}: b")
            assert side[place] != units[place]
    return head + join.join(units), head + join.join(ours), head + join.join(theirs)


def documents(count: int) -> Trio:
    """Resources in one file."""
    units = [
        f"{CONFIG.format(f'n{n:05}')}  one: a{n:05}\n  more: c\n  two: a{n:05}\n"
        for n in range(count)
    ]
    return _changed(units, join="---\n")


def map_entries(count: int) -> Trio:
    """Entries of one map, each with a small map."""
    units = [f"  k{n:05}:\n    one: a{n:05}\n    two: a{n:05}\n" for n in range(count)]
    return _changed(units, "kind: Things\nmetadata:\n  name: x\nspec:\n")


def keyed_elements(count: int) -> Trio:
    """Elements of a list that have a name."""
    units = [f"  - name: n{n:05}\n    one: a{n:05}\n    two: a{n:05}\n" for n in range(count)]
    return _changed(units, "kind: Things\nmetadata:\n  name: x\nspec:\n  items:\n")


def unkeyed_elements(count: int) -> Trio:
    """Elements of a list that have nothing like a name."""
    units = [f"  - from: f{n:05}\n    one: a{n:05}\n    two: a{n:05}\n" for n in range(count)]
    return _changed(units, "kind: Things\nmetadata:\n  name: x\nspec:\n  rules:\n")


def scalar_elements(count: int) -> Trio:
    """Scalars in a list, as in `args`."""
    units = [f"  - --one: a{n:05} two: a{n:05}\n".replace(": a", "=a") for n in range(count)]
    ours, theirs = units.copy(), units.copy()
    ours[count // 5], theirs[count // 2] = "  - --ours\n", "  - --theirs\n"
    head = "kind: Things\nmetadata:\n  name: x\nspec:\n  args:\n"
    return head + "".join(units), head + "".join(ours), head + "".join(theirs)


def text_lines(count: int) -> Trio:
    """Lines of one block text."""
    units = [f"    one: a{n:05}, two: a{n:05}\n" for n in range(count)]
    ours, theirs = units.copy(), units.copy()
    for side, name, places in ((ours, "ours", (3, 5)), (theirs, "theirs", (2, 4))):
        for place in places:
            side[count * place // 6] = f"    {name} {place}\n"
    head = f"{CONFIG.format('x')}  script: |\n"
    return head + "".join(units), head + "".join(ours), head + "".join(theirs)


def template_lines(count: int) -> Trio:
    """Lines of a template that git merges; every third has an action."""
    units = [
        f"  k{n:05}-one: a\n  k{n:05}: {{{{ .Values.x }}}}\n  k{n:05}-two: a\n"
        for n in range(count // 3)
    ]
    return _changed(units, CONFIG.format("{{ .Release.Name }}"))


def template_blocks(count: int) -> Trio:
    """Lines of a template with blocks, where git's lines conflict and blocks do not."""
    lines = [f"  k{n:05}: a\n" for n in range(count)]
    for n in range(0, count, 8):
        lines[n] = f"  {{{{- if .k{n:05} }}}}\n{lines[n]}  {{{{- end }}}}\n"
    base = CONFIG.format("{{ .Release.Name }}") + "".join(lines)
    at = f"  {{{{- if .k{count // 16 * 8:05} }}}}\n"
    ours = base.replace(at, f"  ours: 1\n{at}")
    other = at.replace("if .", "if and .on .")
    return base, ours, base.replace(at, f"  theirs: 2\n{other}")


SHAPES: dict[str, Callable[[int], Trio]] = {
    shape.__name__: shape
    for shape in (
        documents,
        map_entries,
        keyed_elements,
        unkeyed_elements,
        scalar_elements,
        text_lines,
        template_lines,
        template_blocks,
    )
}


def counted(shape: str, counts: list[int]) -> list[int]:
    """The work of the merge of such a file, for each count."""
    import yaml._yaml as binding

    work = 0

    class Counting(binding.CParser):  # type: ignore[misc]
        def __init__(self, text: str | bytes) -> None:
            nonlocal work
            work += len(text)
            super().__init__(text)

    binding.CParser = Counting

    def line(frame: FrameType, event: str, _: Any) -> Any:
        nonlocal work
        work += event == "line"
        return line

    from kmerge_git import merge_files

    made = []
    for count in (20, *counts):  # what is loaded once is loaded by the first
        base, ours, theirs = (text.encode() for text in SHAPES[shape](count))
        work = 0
        sys.settrace(line)
        try:
            outcome = merge_files(base, ours, theirs, path="a.yaml")
            is_merged = bool(outcome.text) and outcome.clean
        finally:
            sys.settrace(None)
        assert is_merged, outcome.reason
        assert "more than" not in outcome.reason, outcome.reason
        made.append(work)
    return made[1:]


if __name__ == "__main__":
    print(*counted(sys.argv[1], [int(word) for word in sys.argv[2:]]))
