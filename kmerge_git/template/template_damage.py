"""Find the damage that a merge did to a template, and put a conflict around the damage.

A reading is a YAML text that the template may render. A reading of the result is damaged if it is
not YAML, or repeats a key, an element or a resource. A template that defines a name twice is
damaged, too. Damage that a side already has does not count. This check knows neither the values nor
which conditions are true.
"""

from __future__ import annotations

from kmerge_git.errors import KmergeError, Unsupported
from kmerge_git.merge.merged import NO_DOCUMENT, MergedDocument, MergedFile, whole_conflict
from kmerge_git.merge.plan import Why
from kmerge_git.merge.three import Three, grouped
from kmerge_git.merge.verify import line_damage
from kmerge_git.merge.verify.line_damage import places
from kmerge_git.template.template_parser import Block, Template, templates, unset
from kmerge_git.template.template_readings import ActionWords, WantedReadings, rendered
from kmerge_git.template.touched_lines import cut_down
from kmerge_git.text.diff3 import diff, lines_of
from kmerge_git.text.pieces import Hunk, side_text
from kmerge_git.tree.documents import Document, split_text
from kmerge_git.tree.same import canon

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kmerge_git.merge.verify.line_damage import Identities
    from kmerge_git.template.template_readings import Rendering
    from kmerge_git.text.pieces import Pieces
    from kmerge_git.tree.documents import YamlText
    from kmerge_git.tree.nodes import Entry

    Damages = dict[str, "Damage"]  # by the message, before its words are replaced by actions
    Cuts = dict[int, tuple[int, int]]  # place in the result: first and last in a version
    Window = tuple[int, int]

MORE = (0, 1, 2, 4, 8, 16, 32, 64)  # lines added around the damage, until no answer is damaged
UNREAD = "not valid YAML"
NOTES = ".txt"  # the end of names of templates that render no YAML
_WHEN = {
    "all": "if all conditions are true",
    "none": "if no condition is true",
    "last": "if every `else` branch is used",
}
_OTHERWISE = "if some conditions are true"


class Damage:
    """Describe the damage in one reading of a template, and its lines, which are counted from 0."""

    __slots__ = ("at", "first", "last", "reading", "same", "short", "what")

    def __init__(self, what: str, reading: str, first: int, last: int, at: int = -1) -> None:
        self.what = what  # `duplicate key: spec/template image`
        self.short = _short(what)  # `duplicate key image`
        self.reading = reading
        self.same = {reading}  # the names of all readings with the same text
        self.first = first
        self.last = last
        self.at = first if at < 0 else at  # the line to show: the line of the second twin

    @property
    def is_unread(self) -> bool:
        """Return whether the reading is missing or could not be parsed."""
        return not self.reading or self.what.startswith(UNREAD)

    def show(self, words: ActionWords) -> None:
        """Replace the words in the messages by the actions that they stand for."""
        self.what = " ".join(words.shown(self.what).split())
        self.short = " ".join(words.shown(self.short).split())

    @property
    def why(self) -> str:
        """Return a message about the damage, and the conditions under which it is rendered."""
        return f"{self.what} ({when(self.reading)})" if self.reading else self.what


def _short(what: str) -> str:
    kind, _, where = what.partition(": ")
    name = where.rpartition(" ")[2]
    known = {
        "duplicate key": f"duplicate key {name}",
        "duplicate list element": "duplicate list element",
        "template defined twice": f"template {name} defined twice",
        "duplicate resource": "duplicate resource",
    }
    return known.get(kind, what)


def when(reading: str) -> str:
    """Return the conditions under which a template renders a reading, as words for a message."""
    name, _, define = reading.partition(": ")
    return f"in {define}" if define else _WHEN.get(name, _OTHERWISE)


def brought(result: YamlText, texts: Three[YamlText], known: Identities) -> set[str]:
    """Return the damage that answers to conflicts brought into a file, in any of its readings.

    A file without actions is read as YAML. Documents in `known` are known to be undamaged from
    earlier results of the same inputs.
    """
    if any(b"{{" in text.data for text in (result, *texts.each())):
        try:
            at = templates(texts)
            made = Template(result.source.text, at.base)
            damages = new_damage(made, at, result.path, known=known, thorough=True)
        except KmergeError:  # the bytes are no text
            damages = []
        if damages:
            return {damage.why for damage in damages}
    return line_damage.brought(result, texts, known)


def new_damage(
    result: Template,
    at: Three[Template],
    path: str,
    known: Identities | None = None,
    *,
    thorough: bool = False,
) -> list[Damage]:
    """Return the damage of a result that neither side has, in the order of the readings.

    The sides are read only if the result has damage. The documents in `known` are known to be
    undamaged and are not read again. With `thorough` more readings are made.
    """
    sides = at.ours, at.theirs
    try:
        in_text = _unset(result) | _defined_twice(result)
    except Unsupported as error:
        return _unbalanced(error, sides)
    words = ActionWords()
    damages: Damages = {}
    if is_yaml(path):
        try:
            few = cut_down(result, sides)
        except Unsupported:
            return []
        wanted = WantedReadings(result.parts, thorough=thorough)
        found = _damage(rendered(few, words, wanted), path)
        only_names = all(what.startswith("duplicate resource") for what in found)
        if found:  # at most: so all lines are read
            damages = _damage(rendered(result.parts, words, wanted), path, only_names, known)
    if not damages and not in_text:
        return []
    try:
        for side in sides:
            for what in _unset(side) | _defined_twice(side):
                in_text.pop(what, None)
            if damages:  # the conditions of all versions, numbered as in the result
                versions = (result.parts, *(one.parts for one in sides))
                every = WantedReadings(*versions, thorough=thorough)
                _forget(damages, _damage(rendered(side.parts, words, every), path, only_names))
    except Unsupported:
        return []
    for damage in damages.values():
        damage.show(words)
    return [*damages.values(), *in_text.values()]


def refuse_damage(result: YamlText, texts: Three[YamlText]) -> None:
    """Refuse a merge field by field whose blocks, variables or names of templates are broken.

    There are no readings: the merge has checked all documents, and a reading only has less.
    """
    at = templates(texts)
    for damage in new_damage(Template(result.source.text, at.base), at, NOTES):
        raise Unsupported(f"a field-by-field merge would break the template: {damage.why}")


def _unset(version: Template) -> Damages:
    """Find the variables that are used where they are not set: Helm refuses such a template."""
    lines = unset(
        (row.number + row.text.count("\n", 0, action.start), action)
        for row in version.rows
        for action in row.actions
    )
    return {
        f"unset {name}": Damage(f"variable {name} is used but not set", "", line, line)
        for name, line in lines.items()
    }


def is_yaml(path: str) -> bool:
    """Return whether a template with this file name renders YAML. Notes (`.txt`) do not."""
    return not path.endswith(NOTES)


def _unbalanced(error: Unsupported, sides: tuple[Template, ...]) -> list[Damage]:
    """Report a result that is not a valid template although both sides are valid templates."""
    try:
        _ = [side.parts for side in sides]
    except Unsupported:
        return []
    line = max(error.line - 1, 0)
    return [Damage(f"not a valid template: line {line + 1}: {error.why}", "", line, line)]


def _defined_twice(version: Template) -> Damages:
    """Find names that are defined twice: Helm silently uses only the last definition."""
    damages: Damages = {}
    known: dict[str, int] = {}
    line = 0
    for part in version.parts:
        size = part.text.count("\n")
        if isinstance(part, Block) and part.word == "define":
            name = " ".join(part.arms[0].action.body.split()[1:])
            first = known.setdefault(name, line)
            if first < line:
                what = f"template defined twice: {name}"
                damages[what] = Damage(what, "", first, line + max(size - 1, 0), line)
        line += size
    return damages


def _forget(damages: Damages, known: Damages) -> None:
    """Remove the damage that a side already has.

    If a reading of a side cannot be parsed, the damage in the same reading of the result is removed
    too.
    """
    unreadable = [one for one in known.values() if one.is_unread]
    unread = {name for one in unreadable for name in one.same}
    mixed = any(one.reading.startswith("mix") for one in unreadable)
    for key, damage in [*damages.items()]:
        name = damage.reading
        if key in known or name in unread or (mixed and name.startswith("mix")):
            del damages[key]


def _damage(
    readings: list[Rendering],
    path: str,
    only_names: bool = False,
    known: Identities | None = None,
) -> Damages:
    """Find the damage in the readings of a template; add the undamaged documents to `known`.

    With `only_names`, find repeated resources; their fields are not looked at.
    """
    damages: Damages = {}
    keys: Identities = {} if known is None or only_names else known
    by_text = grouped((reading.text, reading) for reading in readings)
    for reading, *others in by_text.values():
        own = dict(keys)
        try:
            documents = split_text(reading.text, path).documents
            checked = {document.content for document in documents if only_names}
            wrong = places(documents, path, checked, own)
        except KmergeError as error:
            line = reading.number(error.line - 1)
            what = f"{UNREAD}: {error.why.removeprefix('not YAML: ')}"
            damage = Damage(what, reading.name, line, line)
            damage.same.update(other.name for other in others)
            damages[f"{UNREAD}: {reading.name}"] = damage
            continue
        if not wrong:
            keys.update(own)
        for what, twins in wrong.items():
            if what not in damages and _counts(what, twins, reading):
                damages[what] = Damage(what, reading.name, *_lines(twins, reading))
    return damages


def _counts(what: str, twins: list[Entry | Document], reading: Rendering) -> bool:
    """Return whether a repeated element or key is really damage.

    In a `define`, where the kind of a list is unknown, elements are repeated only if they are
    equal.
    """
    if ": " not in reading.name or not what.startswith("duplicate list element"):
        return True
    known = [canon(twin.value) for twin in twins if not isinstance(twin, Document)]
    return len(set(known)) < len(known)


def _lines(twins: list[Entry | Document], reading: Rendering) -> tuple[int, int, int]:
    """Return the first and last line of the damaged nodes, and the first line of the last node."""
    starts = [one.start for one in twins]
    ends = [one.end for one in twins]
    first, last = reading.line_at(min(starts)), reading.line_at(max(max(ends) - 1, 0))
    return min(first, last), max(first, last), reading.line_at(max(starts))


# -- a conflict around the damage


def around(result: Template, at: Three[Template], path: str, damages: list[Damage]) -> MergedFile:
    """Return the result with a conflict around the damage.

    Whichever side of the conflict a user takes, the damage is gone.
    """
    lines = lines_of(result.text)
    versions = at.map(lambda version: lines_of(version.text))
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


def _cuts(lines: list[str], version: list[str]) -> Cuts:
    """Map places between lines of the result to the equal places between lines of a version.

    Each place of the result is mapped to a range: the first and the last equal place.
    """
    cuts: Cuts = {0: (0, 0)}
    ends = (len(lines), len(lines), len(version), len(version))
    for i1, i2, j1, _ in [*diff(lines, version), ends]:
        for i in range(i1, i2 + 1):
            j = j1 + i - i1
            first, last = cuts.get(i, (j, j))
            cuts[i] = min(first, j), max(last, j)
    return cuts


def _windows(damages: list[Damage], more: int, cuts: Three[Cuts], size: int) -> list[Window]:
    """Return ranges of lines around the damage. Each range begins and ends in all versions."""
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
    """Return the pieces of the result, with a hunk in place of each window."""
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
    """Return whether the sides differ in each hunk, and taking either side leaves no damage."""
    if any(isinstance(piece, Hunk) and piece.ours == piece.theirs for piece in pieces):
        return False
    answers = [Template(side_text(pieces, side), at.base) for side in ("ours", "theirs")]
    return not any(new_damage(answer, at, path) for answer in answers)
