"""Every pair of small edits around comments, in a mapping, in lists of all sorts, around documents.

The truth needs no pairing: lines are counted. A comment line that one side alone added or removed
follows that side; what nobody touched is there as often as in base, and with its bytes; what both
added is there between once and for each of them.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from kmerge_git.api import merge_files
from kmerge_git.text.markers import resolve

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from kmerge_git.outcome import Outcome

    Token = tuple[
        str, str
    ]  # what it is (`note`, `entry`, `out`: commented out, or blank), its text
    Tokens = tuple[Token, ...]

BASE: Tokens = (
    ("note", "head"),
    ("blank", ""),
    ("entry", "a"),
    ("note", "of b"),
    ("entry", "b"),
    ("entry", "c # of c"),
    ("note", "of d"),
    ("out", "d"),
    ("note", "of e"),
    ("out", "e"),
    ("blank", ""),
    ("note", "foot"),
)


class Form:
    """How the tokens are written in a file."""

    def __init__(
        self, path: str, above: str, indent: int, entry: str, below: str = "", out: str = "#"
    ) -> None:
        self.path = path
        self.above = above
        self.indent = indent
        self.entry = entry
        self.below = below
        self.out = out

    def text(self, tokens: Tokens) -> bytes:
        return (self.above + "".join(map(self._lines, tokens)) + self.below).encode()

    def _lines(self, token: Token) -> str:
        kind, text = token
        if kind == "blank":
            return "\n"
        if kind == "note":
            return " " * self.indent + f"# {text}\n"
        name, hash_mark, tail = text.partition(" # ")
        name, _, value = name.partition("=")
        lines = self.entry.format(name=name, value=value or "1").split("\n")
        lines[0] += " #" * bool(hash_mark) + " " * bool(hash_mark) + tail
        mark = self.out if kind == "out" else ""
        return "".join(" " * self.indent + mark + line + "\n" for line in lines)


POD = "apiVersion: v1\nkind: Pod\nmetadata:\n  name: x\nspec:\n"
FORMS = {
    "mapping": Form("values.yaml", "", 0, "{name}: v{value}"),
    "labels": Form("x.yaml", "kind: X\nmetadata:\n  labels:\n", 4, "{name}: v{value}", "  name: x\n"),
    "last mapping": Form("x.yaml", "kind: X\nmetadata:\n  labels:\n", 4, "{name}: v{value}"),
    "set": Form("kustomization.yaml", "resources:\n", 0, "- {name}{value}.yaml"),
    "set, then a key": Form("kustomization.yaml", "resources:\n", 0, "- {name}{value}.yaml", "\nnamespace: x\n"),
    "indented set": Form("kustomization.yaml", "resources:\n", 2, "- {name}{value}.yaml", "namespace: x\n", "# "),
    "keyed": Form("x.yaml", POD + "  containers:\n", 2, "- name: {name}\n  image: i{value}", "  hostname: x\n"),
    "values below": Form("values.yaml", "", 0, "{name}:\n  k: v{value}\n  l: w"),
    "sequence": Form("x.yaml", POD + "  containers:\n  - name: x\n    args:\n", 4, "- --{name}={value}", "    image: x\n"),
}  # fmt: skip


def edits(side: str) -> Iterator[tuple[str, Tokens]]:
    """What a side may make of the base, with the name of each edit."""
    yield "nothing", BASE
    for n, (kind, text) in enumerate(BASE):
        before, behind = BASE[:n], BASE[n + 1 :]
        yield f"drop {n}", (*before, *behind)
        if kind == "blank":
            yield f"double {n}", (*before, (kind, ""), (kind, ""), *behind)
            continue
        if kind == "note":
            yield f"change {n}", (*before, (kind, f"{text}, {side}"), *behind)
            if BASE[n + 1 : n + 2] and BASE[n + 1][0] in ("entry", "out"):
                yield f"drop {n} and below", (*before, *BASE[n + 2 :])
        if kind == "entry":
            name, mark, tail = text.partition(" # ")
            yield f"edit {n}", (*before, (kind, f"{name}={side}" + mark + tail), *behind)
            yield f"tail {n}", (*before, (kind, f"{name} # of {side}"), *behind)
            yield f"comment out {n}", (*before, ("out", text), *behind)
        if kind == "out":
            yield f"comment in {n}", (*before, ("entry", text), *behind)
            yield f"comment in and edit {n}", (*before, ("entry", f"{text}={side}"), *behind)
    for n in range(len(BASE) + 1):
        before, behind = BASE[:n], BASE[n:]
        yield f"note at {n}", (*before, ("note", f"new {side}"), *behind)
        yield f"entry at {n}", (*before, ("entry", f"n{side}"), *behind)
        yield f"both at {n}", (*before, ("note", f"new {side}"), ("entry", f"n{side}"), *behind)


def worlds() -> Iterator[tuple[str, Form, Trio]]:
    """All merges: what they are, how they are written, and the three versions."""
    for name, form in FORMS.items():
        base = form.text(BASE)
        mine = [(edit, form.text(tokens)) for edit, tokens in edits("o")]
        yours = [(edit, form.text(tokens)) for edit, tokens in edits("t")]
        for edit, ours in mine:
            for other, theirs in yours:
                yield f"{name}: {edit} / {other}", form, (base, ours, theirs)


def merged(form: Form, trio: Trio) -> Outcome:
    """The structural merge alone: git's line merge has only conflicts to say."""
    return merge_files(*trio, path=form.path, style="diff3", line_merge=lambda *_: (b"", False))


def broken(trio: Trio, outcome: Outcome) -> list[str]:
    """The lines that break a law; of a conflict only those that nobody touched are asked."""
    if outcome.clean:
        found = _broken(_notes, trio, outcome.text)
        return found + _lost_lines(trio, outcome.text)
    readings = [resolve(outcome.text.decode(), side, 7).encode() for side in ("ours", "theirs")]
    return [line for text in readings for line in _lost_lines(trio, text)]


def _broken(lines_of: Callable[[bytes], Counter[str]], trio: Trio, result: bytes) -> list[str]:
    base, ours, theirs, there = map(lines_of, (*trio, result))
    return [
        f"{line!r}: {base[line]} {ours[line]} {theirs[line]} -> {there[line]}"
        for line in sorted({*base, *ours, *theirs, *there})
        if not is_lawful(base[line], ours[line], theirs[line], there[line])
    ]


def is_lawful(base: int, ours: int, theirs: int, there: int) -> bool:
    """Whether a line may be there so often."""
    if theirs == base or ours == base:
        return there == (ours if theirs == base else theirs)
    total = ours + theirs - base
    if ours > base and theirs > base:
        return max(ours, theirs) <= there <= total
    if ours < base and theirs < base:
        return max(total, 0) <= there <= min(ours, theirs)
    return there == total


def _lost_lines(trio: Trio, result: bytes) -> list[str]:
    base, ours, theirs, there = map(_lines, (*trio, result))
    kept = [line for line in base if base[line] == ours[line] == theirs[line]]
    return [f"{x!r}: all {base[x]} -> {there[x]}" for x in kept if there[x] != base[x]]


def _notes(text: bytes) -> Counter[str]:
    """The comment lines without their indentation."""
    bare = [line.strip() for line in text.decode().split("\n")]
    return Counter(line for line in bare if line.startswith("#"))


def _lines(text: bytes) -> Counter[str]:
    return Counter(line for line in text.decode().split("\n") if line)


Trio = tuple[bytes, bytes, bytes]
