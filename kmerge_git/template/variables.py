"""Variables that a text uses where none is set: Helm refuses it, whatever the values are."""

from __future__ import annotations

from kmerge_git.template.lexer import END, OPEN, OUTPUT, Action, actions
from kmerge_git.template.tokens import behind_string

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_STRINGS = frozenset("(\"'`")  # behind one of these `:=` may be text


def unset(text: str) -> dict[str, int]:
    """The variables that are used where they are not set, each with its first such place."""
    found: dict[str, int] = {}
    if "$" not in text:
        return found
    known = {"$"}
    above: list[tuple[set[str], set[str]]] = []  # what was known, and what a block adds to it
    added: set[str] = set()
    for action in actions(text):
        if action.kind == END:
            known -= added
            known, added = above.pop()
            continue
        new, used = _variables(action)
        for name in used - known:
            found.setdefault(name, action.start)
        if action.kind == OPEN:
            above.append((known, added))
            added = set()
            if action.word in ("define", "block"):
                known, new = {"$"}, set()
        added |= new - known
        known |= new
    return found


def _variables(action: Action) -> tuple[set[str], set[str]]:
    """The variables that an action sets, and those that it uses."""
    names = list(_names(action.body))
    head, assigned, _ = action.body.partition(":=")
    if action.kind == OUTPUT or not assigned or not _STRINGS.isdisjoint(head):
        return set(), set(names)
    new = list(_names(head))
    return set(new), set(names[len(new) :])


def _names(body: str) -> Iterator[str]:
    """The variables of an action, outside of its strings and comments."""
    at = 0
    while at < len(body):
        mark = body[at]
        if body.startswith("/*", at):
            return
        if mark in "\"'`":
            at = behind_string(body, at) - 1
        elif mark == "$":
            end = at + 1
            while end < len(body) and (body[end] == "_" or body[end].isalnum()):
                end += 1
            yield body[at:end]
            at = end - 1
        at += 1
