"""Find the damage that a merge of a template did, and put a conflict around it.

A reading of the result is damaged if it is no YAML, or repeats a key, an element or a resource. A
text with two definitions of one name is damaged, too. Damage that a side already has does not
count. This check knows neither the values nor which conditions are true.
"""

from __future__ import annotations

from kmerge_git.errors import KmergeError, Unsupported
from kmerge_git.merge.merged import NO_DOCUMENT, MergedDocument, MergedFile, whole_conflict
from kmerge_git.merge.plan import Why
from kmerge_git.merge.three import Three
from kmerge_git.merge.verify.line_damage import places
from kmerge_git.template.template_parser import Block, Template, unset
from kmerge_git.template.template_readings import ActionWords, WantedReadings, rendered
from kmerge_git.text.diff3 import diff
from kmerge_git.text.pieces import Hunk, side_text
from kmerge_git.tree.documents import Document, split_text
from kmerge_git.tree.same import canon

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Container

    from kmerge_git.merge.verify.line_damage import Identities
    from kmerge_git.template.template_readings import Rendering
    from kmerge_git.text.pieces import Pieces
    from kmerge_git.tree.nodes import Entry

    Damages = dict[str, "Damage"]  # by the message, before its words are replaced by actions
    Cuts = dict[int, tuple[int, int]]  # a place in the result -> the first and last of a version
    Window = tuple[int, int]

MORE = (0, 1, 2, 4, 8, 16, 32, 64)  # lines added around the damage, until no answer is damaged
UNREAD = "no YAML"
_WHEN = {
    "all": "with all conditions true",
    "none": "with no condition true",
    "last": "with each `else`",
}
_OTHERWISE = "with some conditions true"


class Damage:
    """Hold what is wrong in one reading of a template, and in which lines, counted from 0."""

    __slots__ = ("at", "first", "last", "reading", "short", "what")

    def __init__(self, what: str, reading: str, first: int, last: int, at: int = -1) -> None:
        self.what = what  # `key twice: spec/template image`
        self.short = _short(what)  # `image twice`
        self.reading = reading
        self.first = first
        self.last = last
        self.at = first if at < 0 else at  # the line to show: the second of two

    @property
    def is_unread(self) -> bool:
        """Return whether there is no reading, or the reading could not be parsed."""
        return not self.reading or self.what.startswith(UNREAD)

    def show(self, words: ActionWords) -> None:
        """Replace the words in the messages by actions."""
        self.what = " ".join(words.shown(self.what).split())
        self.short = " ".join(words.shown(self.short).split())

    @property
    def why(self) -> str:
        """Return what is wrong, and under which conditions."""
        return f"{self.what} ({when(self.reading)})" if self.reading else self.what


def _short(what: str) -> str:
    kind, _, where = what.partition(": ")
    name = where.rpartition(" ")[2]
    known = {
        "key twice": f"{name} twice",
        "element twice": "an element twice",
        "defined twice": f"{name} twice",
        "resource twice": "a resource twice",
    }
    return known.get(kind, what)


def when(reading: str) -> str:
    """Return in words under which conditions a template renders a reading."""
    name, _, define = reading.partition(": ")
    return f"in {define}" if define else _WHEN.get(name, _OTHERWISE)


def new_damage(
    result: Template, at: Three[Template], path: str, sound: Container[str] = ()
) -> list[Damage]:
    """Return the damage of a result that neither ours nor theirs has, in the order of the readings.

    The result is read first; if nothing is wrong with the result, the sides are not read. The
    readings in `sound` are known to be undamaged and are not read again.
    """
    words = ActionWords()
    sides = at.ours, at.theirs
    try:
        wanted = WantedReadings(result.parts)
    except Unsupported as error:
        return _unbalanced(error, sides)
    in_text = _unset(result) | _defined_twice(result)
    damages: Damages = {}
    if is_yaml(path):
        readings = rendered(result.parts, words, wanted)
        damages = _damage([one for one in readings if one.text not in sound], path)
    if not damages and not in_text:
        return []
    try:
        for side in sides:
            for what in _unset(side) | _defined_twice(side):
                in_text.pop(what, None)
            if damages:
                _forget(damages, _damage(rendered(side.parts, words, wanted), path))
    except Unsupported:
        return []
    for damage in damages.values():
        damage.show(words)
    return [*damages.values(), *in_text.values()]


def _unset(version: Template) -> Damages:
    """Find the variables that are used where nobody sets them: Helm renders nothing then."""
    lines = {name: version.text.count("\n", 0, at) for name, at in unset(version.actions).items()}
    return {
        f"unset {name}": Damage(f"nobody sets {name}", "", line, line)
        for name, line in lines.items()
    }


def is_yaml(path: str) -> bool:
    """Return whether a template with this file name renders YAML; `.txt` notes are no YAML."""
    return not path.endswith(".txt")


def _unbalanced(error: Unsupported, sides: tuple[Template, ...]) -> list[Damage]:
    """Report that a result is no longer a valid template, if both sides are valid templates."""
    try:
        _ = [side.parts for side in sides]
    except Unsupported:
        return []
    line = max(error.line - 1, 0)
    return [Damage(f"no template any more: line {line + 1}: {error.why}", "", line, line)]


def _defined_twice(version: Template) -> Damages:
    """Find repeated definitions of one name: Helm silently takes the last definition."""
    damages: Damages = {}
    known: dict[str, int] = {}
    line = 0
    for part in version.parts:
        size = part.text.count("\n")
        if isinstance(part, Block) and part.word == "define":
            name = " ".join(part.arms[0].action.body.split()[1:])
            first = known.setdefault(name, line)
            if first < line:
                what = f"defined twice: {name}"
                damages[what] = Damage(what, "", first, line + max(size - 1, 0), line)
        line += size
    return damages


def _forget(damages: Damages, known: Damages) -> None:
    """Drop the damage that a side already has.

    If a reading of a side cannot be parsed, damage in the same reading of the result does not
    count.
    """
    unread = {one.reading for one in known.values() if one.is_unread}
    mixed = any(name.startswith("mix") for name in unread)
    for key, damage in [*damages.items()]:
        name = damage.reading
        if key in known or name in unread or (mixed and name.startswith("mix")):
            del damages[key]


def _damage(readings: list[Rendering], path: str) -> Damages:
    """Find the damage in the readings of a template."""
    damages: Damages = {}
    keys: Identities = {}
    first: dict[str, Rendering] = {}  # the first reading with each text
    for reading in readings:
        first.setdefault(reading.text, reading)
    for reading in first.values():
        own = dict(keys)
        try:
            wrong = places(split_text(reading.text, path).documents, path, None, own)
        except KmergeError as error:
            line = reading.number(error.line - 1)
            what = f"{UNREAD}: {error.why.removeprefix('not YAML: ')}"
            damages[f"{UNREAD}: {reading.name}"] = Damage(what, reading.name, line, line)
            continue
        if not wrong:
            keys = own
        for what, twins in wrong.items():
            if what not in damages and _counts(what, twins, reading):
                damages[what] = Damage(what, reading.name, *_lines(twins, reading))
    return damages


def _counts(what: str, twins: list[Entry | Document], reading: Rendering) -> bool:
    """Return whether damage counts.

    In a `define`, where lists are unknown, only equal elements count.
    """
    if ": " not in reading.name or not what.startswith("element"):
        return True
    known = [canon(twin.value) for twin in twins if not isinstance(twin, Document)]
    return len(set(known)) < len(known)


def _lines(twins: list[Entry | Document], reading: Rendering) -> tuple[int, int, int]:
    """Return the first and last line of the damaged nodes, and the line of the last node."""
    starts = [one.start for one in twins]
    ends = [one.end for one in twins]
    first, last = reading.line_at(min(starts)), reading.line_at(max(max(ends) - 1, 0))
    return min(first, last), max(first, last), reading.line_at(max(starts))


# -- a conflict around the damage


def around(result: Template, at: Three[Template], path: str, damages: list[Damage]) -> MergedFile:
    """Return the result with a conflict around the damage.

    No answer to the conflict has the damage.
    """
    lines = _split(result)
    versions = at.map(_split)
    cuts = versions.map(lambda version: _cuts(lines, version))
    why = f"{Why.DAMAGE}: {damages[0].short}"
    tried: list[Window] = []
    for more in MORE:
        windows = _windows(damages, more, cuts, len(lines))
        if windows != tried:
            tried = windows
            pieces = _pieces(lines, versions, cuts, windows, why)
            if _is_sound(pieces, at, path):
                return MergedFile([], [MergedDocument(NO_DOCUMENT, "", None, pieces)], "")
    return whole_conflict(at.map(lambda version: version.text), why)


def _split(version: Template) -> list[str]:
    *lines, last = version.text.split("\n")
    return [*(f"{line}\n" for line in lines), *([last] if last else [])]


def _cuts(lines: list[str], version: list[str]) -> Cuts:
    """Map each place between lines of the result to the range of equal places in a version."""
    cuts: Cuts = {0: (0, 0)}
    ends = (len(lines), len(lines), len(version), len(version))
    for i1, i2, j1, _ in [*diff(lines, version), ends]:
        for i in range(i1, i2 + 1):
            j = j1 + i - i1
            first, last = cuts.get(i, (j, j))
            cuts[i] = min(first, j), max(last, j)
    return cuts


def _windows(damages: list[Damage], more: int, cuts: Three[Cuts], size: int) -> list[Window]:
    """Return the ranges of lines around the damage, which begin and end in all versions."""
    windows: list[Window] = []
    for first, last in sorted((one.first, one.last) for one in damages):
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
    """Return the result with a hunk in the place of each window."""
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


def _is_sound(pieces: Pieces, at: Three[Template], path: str) -> bool:
    """Return whether the sides differ in each hunk, and neither side's answer is damaged."""
    if any(isinstance(piece, Hunk) and piece.ours == piece.theirs for piece in pieces):
        return False
    answers = [Template(side_text(pieces, side)) for side in ("ours", "theirs")]
    return not any(new_damage(answer, at, path) for answer in answers)
