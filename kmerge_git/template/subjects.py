"""What blocks and outputs render: the values that they are about, however they are written.

`with .Values.extra` around `toYaml .` and `toYaml .Values.extra` in an `if` render one thing. Where
each side added one of them to a map or a list, it would stand there twice.
"""

from __future__ import annotations

from kmerge_git.errors import Unsupported
from kmerge_git.template.blocks import Row
from kmerge_git.template.lexer import COMMENT, OUTPUT, actions
from kmerge_git.template.tokens import behind_string

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from kmerge_git.merge.three import Three
    from kmerge_git.template.blocks import Arm, Part
    from kmerge_git.template.pairing import Entity
    from kmerge_git.template.placed import Path

_OF_ALL = (".Release", ".Chart", ".Capabilities", ".Template", ".Files")  # of no feature


def refuse_twice(entities: list[Entity]) -> None:
    """Refuse entries of both sides in one map or list that are about one value."""
    ours, theirs = _added(entities, "ours", "theirs"), _added(entities, "theirs", "ours")
    for path in ours.keys() & theirs.keys():
        if ours[path] & theirs[path]:
            raise Unsupported("both sides added what renders the same value")


def refuse_other_dot(word: str, arms: Three[Arm]) -> None:
    """Refuse a `with` or `range` over something else, where the other side uses its dot anew."""
    if word not in ("with", "range"):
        return
    about = arms.map(lambda arm: " ".join(arm.action.body.split()))
    for changed, other in ((about.ours, arms.theirs), (about.theirs, arms.ours)):
        if changed != about.base and _uses(other) - _uses(arms.base):
            raise Unsupported(
                "one side changed what the dot of a block is, and the other uses it there"
            )


def _uses(arm: Arm) -> set[str]:
    """The actions inside that use the dot, or a variable that is no name of the whole file."""
    found = set()
    for part in arm.parts:
        for action in actions(part.text):
            words, _ = _words(action.body) if action.kind != COMMENT else ([], [])
            if any(
                word[0] == "." or (word[0] == "$" and word[1:2] not in ("", ".")) for word in words
            ):
                found.add(action.body)
    return found


def _added(entities: list[Entity], side: str, other: str) -> dict[Path, set[str]]:
    """The values that what a side alone added is about, by the place where it stands."""
    found: dict[Path, set[str]] = {}
    for entity in entities:
        unit = getattr(entity, side)
        if unit is not None and entity.base is None and getattr(entity, other) is None:
            found.setdefault(unit.path, set()).update(_subjects(unit.part, is_inner=False))
    return found


def _subjects(part: Part, *, is_inner: bool) -> Iterator[str]:
    """The values of a part; inner ones stand where the dot is that of a `with` or `range`."""
    if isinstance(part, Row):
        for action in part.actions:
            if part.kind == OUTPUT and action.kind == OUTPUT:
                yield from _values(action.body, is_inner=is_inner)
        return
    if part.word == "define":
        return
    is_other_dot = part.word in ("with", "range")
    if is_other_dot:
        yield from _values(part.arms[0].action.body, is_inner=is_inner)
    for number, arm in enumerate(part.arms):
        for inner in arm.parts:
            yield from _subjects(inner, is_inner=is_inner or (is_other_dot and not number))


def _values(body: str, *, is_inner: bool) -> Iterator[str]:
    """The values that an action names; an `include` without any is known by its name."""
    words, quoted = _words(body)
    found = [word.lstrip("$") for word in words if _is_value(word, is_inner=is_inner)]
    yield from found
    is_named = body.startswith(("include ", "template "))
    if not found and quoted and is_named and (not is_inner or "$" in words):
        yield quoted[0]


def _is_value(word: str, *, is_inner: bool) -> bool:
    begins = "$." if is_inner else (".", "$.")
    return word.startswith(begins) and len(word) > 2 and not word.lstrip("$").startswith(_OF_ALL)


def _words(body: str) -> tuple[list[str], list[str]]:
    """The words of an action, and the strings in it."""
    words, quoted = [""], []
    at = 0
    while at < len(body):
        mark = body[at]
        if mark in "\"'`":
            end = behind_string(body, at) - 1
            quoted.append(body[at + 1 : end])
            at = end
        if mark in "._$" or mark.isalnum():
            words[-1] += mark
        else:
            words.append("")
        at += 1
    return [word for word in words if word], quoted
