"""Lines that trim marks join: `-}}` takes the line end and the blanks before the text below it.

So does `{{-` before an output that brings no line end of its own. No reading tells, since actions
are lines there. What is joined has to be so in a version, too.
"""

from __future__ import annotations

from kmerge_git.template.lexer import ELSE, END, OPEN, OUTPUT, Action, actions
from kmerge_git.template.placed import Sided
from kmerge_git.template.places import key_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from kmerge_git.merge.three import Three


def refuse_joined(made: str, at: Three[str]) -> None:
    """Refuse a result that joins lines which no version joins."""
    known = {joint for text in at.each() for joint in _joints(text)}
    if not known.issuperset(_joints(made)):
        raise Sided("a trim mark joins lines that were apart")


def _joints(text: str) -> Iterator[tuple[str, str]]:
    """What each trim mark joins: lines without their blanks; `text` is any line of text above."""
    found = actions(text)
    above, behind = "", 0
    around: list[tuple[bool, str]] = []  # of each open block: is it a define, what is above it
    for number, action in enumerate(found):
        between = text[behind : action.start]
        is_first = _ends_in_blanks(between, is_start=not behind)
        if between.strip():
            above = "text"
        behind = action.end
        below = _below(text, found, number)
        own = _line(text, action.start) if below or is_first else ""
        if below:
            yield own, below
        if is_first and action.trims_before and (below or _is_joined(action)):
            yield above, own
        if action.kind == OUTPUT and is_first:
            above = own
        elif action.kind == OPEN:
            around.append((action.word == "define", above))
            above = "" if action.word == "define" else above
        elif action.kind == ELSE:
            above = around[-1][1]
        elif action.kind == END:
            is_define, outside = around.pop()
            above = outside if is_define else above


def _ends_in_blanks(text: str, *, is_start: bool) -> bool:
    """Whether a line begins in a text, and has nothing yet."""
    _, line_end, before = text.rpartition("\n")
    return (is_start or bool(line_end)) and not before.strip()


def _is_joined(action: Action) -> bool:
    return action.kind == OUTPUT and "nindent" not in action.body


def _below(text: str, found: list[Action], number: int) -> str:
    """The line of text or of an output that the end of an action trims; nothing if none."""
    action = found[number]
    until = found[number + 1].start if number + 1 < len(found) else len(text)
    at = text.find("\n", action.end, until)
    if not action.trims_after or at < 0 or text[action.end : at].strip():
        return ""
    while text[at : at + 1].isspace():
        at += 1
    below = _line(text, at)
    if below.startswith("{{") and (
        found[number + 1].trims_before or found[number + 1].kind != OUTPUT
    ):
        return ""
    return below


def _line(text: str, at: int) -> str:
    """The line at an offset, without its value: the other side may have changed that."""
    end = text.find("\n", at)
    line = text[text.rfind("\n", 0, at) + 1 : end if end >= 0 else len(text)].strip()
    return key_of(line) or line
