"""The actions of a template, found as Go's text/template finds them.

What its lexer refuses is refused here, and so is what its parser refuses for the shape of one
action alone: an action without a value, a keyword or an equals sign inside a pipeline.
"""

from __future__ import annotations

from kmerge_git.errors import Unsupported
from kmerge_git.template.tokens import SPACE, SPACES, refusal, tokens

OPEN, ELSE, END, ASSIGN, COMMENT, OUTPUT = "open", "else", "end", "assign", "comment", "output"

# How every word begins that stands for an action while a text is read as YAML.
TOKEN = "kmTpl"  # noqa: S105
OPENING = frozenset(("if", "range", "with", "define", "block"))
KEYWORDS = OPENING.union(("else", "end", "template", "break", "continue"))
# Commands of a pipeline that have nothing in them, as shapes.
_HOLES = ("||", "(|", "()")


class Action:
    """One `{{ ... }}` of a text: `word` says which block it opens, or which variable it sets."""

    __slots__ = ("body", "end", "kind", "start", "trims_after", "trims_before", "word")

    def __init__(
        self,
        start: int,
        end: int,
        kind: str,
        word: str,
        body: str,
        trims_before: bool,
        trims_after: bool,
    ) -> None:
        self.start = start
        self.end = end  # behind the `}}`
        self.kind = kind
        self.word = word  # of an output: the name it begins with, if it does
        self.body = body  # without delimiters, trim marks and outer white space
        self.trims_before = trims_before
        self.trims_after = trims_after


class Told:
    """What the spelling of an action says, wherever it stands."""

    __slots__ = ("body", "kind", "size", "trims_after", "trims_before", "word")

    def __init__(
        self, size: int, kind: str, word: str, body: str, trims_before: bool, trims_after: bool
    ) -> None:
        self.size = size
        self.kind = kind
        self.word = word
        self.body = body
        self.trims_before = trims_before
        self.trims_after = trims_after


def actions(text: str) -> list[Action]:
    """The actions of a text, in their order."""
    refuse_own_words(text)
    found: list[Action] = []
    known: dict[str, Told] = {}
    at = text.find("{{")
    while at >= 0:
        found.append(action_at(text, at, 0, known))
        at = text.find("{{", found[-1].end)
    return found


def refuse_own_words(text: str) -> None:
    """Refuse a text with a word that could be taken for one that stands for an action."""
    own = text.lower().find(TOKEN.lower())
    if own >= 0:
        raise Unsupported(
            f"a word of the text holds {TOKEN}", line=text.lower().count("\n", 0, own) + 1
        )


def action_at(text: str, start: int, origin: int, known: dict[str, Told]) -> Action:
    """The action at a place, its span as from an origin; what is spelled alike is read once."""
    to_brace = text[start : text.find("}}", start) + 2]
    told = known.get(to_brace)
    if told is None:
        told = _read(text, start)
        if told.size == len(to_brace):
            known[to_brace] = told
    return Action(
        start - origin,
        start - origin + told.size,
        told.kind,
        told.word,
        told.body,
        told.trims_before,
        told.trims_after,
    )


def _read(text: str, start: int) -> Told:
    at = start + 2
    trims = text.startswith("-", at) and text[at + 1 : at + 2] in SPACES
    if trims:
        at += 2
    if text.startswith("/*", at):
        return _comment(text, start, at, trims)
    shape, names, close, end = tokens(text, start, at)
    kind, word = _kind(shape, names)
    if not kind:
        raise refusal(text, start, word)
    return Told(end - start, kind, word, text[at:close].strip(SPACE), trims, end - close == 3)


def _comment(text: str, start: int, at: int, trims: bool) -> Told:
    """A comment: its delimiter follows at once, or behind one white space and a trim mark."""
    star = text.find("*/", at + 2)
    if star < 0:
        raise refusal(text, start, "a comment of the template is not closed")
    close = star + 2
    body = text[at:close]
    if text.startswith("}}", close):
        return Told(close + 2 - start, COMMENT, "", body, trims, False)
    if text[close : close + 1] in SPACES and text.startswith("-}}", close + 1):
        return Told(close + 4 - start, COMMENT, "", body, trims, True)
    raise refusal(text, start, "a comment of the template ends before its delimiter")


def _kind(shape: str, names: list[str]) -> tuple[str, str]:
    """Kind and word of an action; or no kind, and why Go would not take it."""
    word = names[0] if shape[:1] == "w" else ""
    why = _fault(word, shape, names)
    if why:
        return "", why
    if word in OPENING:
        return OPEN, word
    if word in ("else", "end"):
        return (ELSE if word == "else" else END), word
    return (ASSIGN, names[0]) if shape.startswith("v=") else (OUTPUT, word)


def _fault(word: str, shape: str, names: list[str]) -> str:
    """What Go would not take about an action; empty: nothing."""
    if word in OPENING:
        return _no_head(word, shape[1:], names[1:])
    if word in ("end", "break", "continue"):
        return f"more than `{word}` in an action" if shape != "w" else ""
    if word == "else" and shape != "w":
        if shape[1] != "w" or names[1] not in ("if", "with"):
            return "`else` is followed by neither `if` nor `with`"
        return _no_pipeline(shape[2:], names[2:])
    if word == "template":
        if shape[1:2] != "s":
            return "`template` without a name"
        return _no_pipeline(shape[2:], names[1:]) if shape[2:] else ""
    return _no_pipeline(shape, names) if word != "else" else ""


def _no_head(word: str, shape: str, names: list[str]) -> str:
    """Why nothing can be opened by a keyword and what follows it; empty: it can."""
    if word in ("define", "block"):
        if not shape.startswith("s"):
            return f"`{word}` without a name"
        if word == "define":
            return "more than a name behind `define`" if shape != "s" else ""
        return _no_pipeline(shape[1:], names)
    if word == "range" and shape.startswith("v,v="):
        return _no_pipeline(shape[4:], names[2:])
    return _no_pipeline(shape, names)


def _no_pipeline(shape: str, names: list[str]) -> str:
    """Why tokens are no pipeline, with or without a variable that it is for; empty: they are."""
    if shape.startswith("v="):
        shape = shape[2:]
    if shape[:1] in ("", "|") or any(hole in shape for hole in _HOLES):
        return "a value is missing in an action"
    if "=" in shape or "," in shape:
        return "an equals sign or a comma inside a pipeline"
    keyword = next((name for name in names if name in KEYWORDS), "")
    return f"`{keyword}` inside a pipeline" if keyword else ""
