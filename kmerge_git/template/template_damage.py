"""Find in its readings what a merge of a template broke, and put a conflict around it.

A reading of a result is damaged where it is no YAML, or has a key, an element or a resource
twice, and no reading of a side has the same. So is a text with two definitions of one name.
Damage that a side has already does not count. No condition is known, and no value.
"""

from __future__ import annotations

from kmerge_git.errors import KmergeError, Unsupported
from kmerge_git.merge.merged import NO_DOCUMENT, MergedDocument, MergedFile, whole_conflict
from kmerge_git.merge.plan import Why
from kmerge_git.merge.three import Three
from kmerge_git.merge.verify.line_damage import places
from kmerge_git.template.action_lexer import unset
from kmerge_git.template.template_blocks import Block, parse
from kmerge_git.template.template_readings import ActionWords, WantedReadings, rendered
from kmerge_git.text.diff3 import diff
from kmerge_git.text.pieces import Hunk, side_text
from kmerge_git.text.source import Source
from kmerge_git.tree.documents import Document, split
from kmerge_git.tree.same import canon

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kmerge_git.merge.verify.line_damage import Identities
    from kmerge_git.template.template_blocks import Part
    from kmerge_git.template.template_readings import Rendering
    from kmerge_git.text.pieces import Pieces
    from kmerge_git.tree.nodes import Entry


if TYPE_CHECKING:
    Found = dict[str, "Damage"]  # by what is wrong, before words are actions again

UNREAD = "no YAML"
_WHEN = {
    "all": "with all conditions true",
    "none": "with no condition true",
    "last": "with each `else`",
}
_OTHERWISE = "with some conditions true"


class Damage:
    """What is wrong with a template in one of its readings, and in which of its lines, from 0."""

    __slots__ = ("at", "first", "last", "reading", "short", "what")

    def __init__(self, what: str, reading: str, first: int, last: int, at: int = -1) -> None:
        self.what = what  # `key twice: spec/template image`
        self.short = _short(what)  # `image twice`
        self.reading = reading
        self.first = first
        self.last = last
        self.at = first if at < 0 else at  # the line to show: of two the second one

    @property
    def is_unread(self) -> bool:
        """Whether nothing more can be said of this reading."""
        return not self.reading or self.what.startswith(UNREAD)

    def show(self, words: ActionWords) -> None:
        """Have actions in the place of their words."""
        self.what = " ".join(words.shown(self.what).split())
        self.short = " ".join(words.shown(self.short).split())

    @property
    def why(self) -> str:
        """What is wrong, and when."""
        return f"{self.what} ({when(self.reading)})" if self.reading else self.what

    def __repr__(self) -> str:
        return f"Damage({self.why!r}, {self.first}, {self.last})"


def _short(what: str) -> str:
    kind, _, where = what.partition(": ")
    name = where.rpartition(" ")[2]
    known = {
        "key twice": f"{name} twice",
        "element twice": "an element twice",
        "defined twice": f"{name} twice",
    }
    return known.get(kind, "a resource twice" if kind == "resource twice" else what)


def when(reading: str) -> str:
    """When a template comes to a reading, for people."""
    name, _, define = reading.partition(": ")
    return f"in {define}" if define else _WHEN.get(name, _OTHERWISE)


def brought(result: str, texts: Three[str], path: str) -> str:
    """What a reading of the result breaks, and no reading of a side; empty: nothing."""
    found = new_damage(result, texts, path)
    return found[0].why if found else ""


def new_damage(result: str, texts: Three[str], path: str) -> list[Damage]:
    """The damage of a result that neither ours nor theirs has, in the order of its readings.

    The result is read first: where nothing is wrong with it, the sides are not read.
    """
    words = ActionWords()
    try:
        parts = parse(result)
    except Unsupported as error:
        return _unbalanced(error, texts)
    wanted = WantedReadings(parts)
    in_text = _unset(result) | _defined_twice(parts)
    found = _damage(rendered(parts, words, wanted), path) if is_yaml(path) else {}
    if not found and not in_text:
        return []
    try:
        versions = {text: parse(text) for text in (texts.ours, texts.theirs)}
    except Unsupported:
        return []
    for text, version in versions.items():
        for what in _unset(text) | _defined_twice(version):
            in_text.pop(what, None)
        if found:
            _forget(found, _damage(rendered(version, words, wanted), path))
    for damage in found.values():
        damage.show(words)
    return [*found.values(), *in_text.values()]


def _unset(text: str) -> Found:
    """The variables that nobody sets where they are used: Helm renders nothing then."""
    found: Found = {}
    for name, at in unset(text).items():
        line = text.count("\n", 0, at)
        found[f"unset {name}"] = Damage(f"nobody sets {name}", "", line, line)
    return found


def is_yaml(path: str) -> bool:
    """Whether a template of this name makes YAML; notes for people are no YAML."""
    return not path.endswith(".txt")


def _unbalanced(error: Unsupported, texts: Three[str]) -> list[Damage]:
    """A result that is no template any more, where both sides are one."""
    try:
        _ = [parse(text) for text in (texts.ours, texts.theirs)]
    except Unsupported:
        return []
    line = max(error.line - 1, 0)
    return [Damage(f"no template any more: line {line + 1}: {error.why}", "", line, line)]


def _defined_twice(parts: tuple[Part, ...]) -> Found:
    """Definitions of one name: the last one is taken, without a word."""
    found: Found = {}
    known: dict[str, int] = {}
    line = 0
    for part in parts:
        size = part.text.count("\n")
        if isinstance(part, Block) and part.word == "define":
            name = " ".join(part.arms[0].action.body.split()[1:])
            first = known.setdefault(name, line)
            if first < line:
                what = f"defined twice: {name}"
                found[what] = Damage(what, "", first, line + max(size - 1, 0), line)
        line += size
    return found


def _forget(found: Found, known: Found) -> None:
    """Take away the damage that a side has.

    What cannot be parsed says nothing of its reading: a side has nothing to say there, either.
    """
    unread = {one.reading for one in known.values() if one.is_unread}
    mixed = any(name.startswith("mix") for name in unread)
    for key, damage in [*found.items()]:
        name = damage.reading
        if key in known or name in unread or (mixed and name.startswith("mix")):
            del found[key]


def _damage(made: list[Rendering], path: str) -> Found:
    """What is wrong in the readings of a template."""
    found: Found = {}
    keys: Identities = {}
    seen: set[str] = set()
    for reading in made:
        if reading.text in seen:
            continue
        seen.add(reading.text)
        own = dict(keys)
        try:
            wrong = places(split(Source.of(reading.text, path)).documents, path, None, own)
        except KmergeError as error:
            line = reading.number(error.line - 1)
            what = f"{UNREAD}: {error.why.removeprefix('not YAML: ')}"
            found[f"{UNREAD}: {reading.name}"] = Damage(what, reading.name, line, line)
            continue
        if not wrong:
            keys = own
        for what, twins in wrong.items():
            if what not in found and _counts(what, twins, reading):
                found[what] = Damage(what, reading.name, *_lines(twins, reading))
    return found


def _counts(what: str, twins: list[Entry | Document], reading: Rendering) -> bool:
    """Whether damage counts: nobody knows the lists of a `define`, only equal elements do."""
    if ": " not in reading.name or not what.startswith("element"):
        return True
    known = [canon(twin.value) for twin in twins if not isinstance(twin, Document)]
    return len(set(known)) < len(known)


def _lines(twins: list[Entry | Document], reading: Rendering) -> tuple[int, int, int]:
    """The first and the last line of the template that things stand in, and the last one's own."""
    starts = [one.start for one in twins]
    ends = [one.end for one in twins]
    first, last = reading.line_at(min(starts)), reading.line_at(max(max(ends) - 1, 0))
    return min(first, last), max(first, last), reading.line_at(max(starts))


if TYPE_CHECKING:
    Cuts = dict[int, tuple[int, int]]  # a place in the result -> the first and last of a version
    Window = tuple[int, int]

MORE = (0, 1, 2, 4, 8, 16, 32, 64)  # lines around the damage, until the answers are sound


def around(result: str, texts: Three[str], path: str, found: list[Damage]) -> MergedFile:
    """The result with a conflict around its damage, which no side's answer has any more."""
    lines = _lines_around(result)
    versions = texts.map(_lines_around)
    cuts = versions.map(lambda version: _cuts(lines, version))
    tried: list[Window] = []
    for more in MORE:
        windows = _windows(found, more, cuts, len(lines))
        if windows != tried:
            tried = windows
            pieces = _pieces(lines, versions, cuts, windows, _why(found))
            if _is_sound(pieces, texts, path):
                return MergedFile([], [MergedDocument(NO_DOCUMENT, "", None, pieces)], "")
    return whole_conflict(texts, _why(found))


def _why(found: list[Damage]) -> str:
    return f"{Why.DAMAGE}: {found[0].short}"


def _lines_around(text: str) -> list[str]:
    lines = text.split("\n")
    return [f"{line}\n" for line in lines[:-1]] + ([lines[-1]] if lines[-1] else [])


def _cuts(lines: list[str], version: list[str]) -> Cuts:
    """The places between lines of the result that have their like in a version."""
    found: Cuts = {0: (0, 0)}
    ends = (len(lines), len(lines), len(version), len(version))
    for i1, i2, j1, _ in [*diff(lines, version), ends]:
        for i in range(i1, i2 + 1):
            j = j1 + i - i1
            first, last = found.get(i, (j, j))
            found[i] = min(first, j), max(last, j)
    return found


def _windows(found: list[Damage], more: int, cuts: Three[Cuts], size: int) -> list[Window]:
    """The lines of the result around the damage, from and to where all versions can be cut."""
    windows: list[Window] = []
    for first, last in sorted((one.first, one.last) for one in found):
        start, end = max(first - more, 0), min(last + 1 + more, size)
        while not all(start in own for own in cuts.each()):
            start -= 1
        while not all(end in own for own in cuts.each()):
            end += 1
        while windows and start <= windows[-1][1]:
            before = windows.pop()
            start, end = min(start, before[0]), max(end, before[1])
        windows.append((start, end))
    return windows


def _pieces(
    lines: list[str],
    versions: Three[list[str]],
    cuts: Three[Cuts],
    windows: list[Window],
    why: str,
) -> Pieces:
    """The result with a hunk in the place of each window."""
    pieces: Pieces = []
    at = 0
    for start, end in windows:
        base, ours, theirs = (
            "".join(version[own[start][1] : max(own[end][0], own[start][1])])
            for version, own in zip(versions.each(), cuts.each(), strict=True)
        )
        pieces += ["".join(lines[at:start]), Hunk(base, ours, theirs, "", why, is_whole=True)]
        at = end
    return [piece for piece in (*pieces, "".join(lines[at:])) if piece]


def _is_sound(pieces: Pieces, texts: Three[str], path: str) -> bool:
    """Whether each conflict is one, and neither side's answer to them does damage."""
    if any(isinstance(piece, Hunk) and piece.ours == piece.theirs for piece in pieces):
        return False
    return not any(new_damage(side_text(pieces, side), texts, path) for side in ("ours", "theirs"))
