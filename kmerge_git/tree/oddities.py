"""Refuse texts without fields to merge: texts that only look like YAML, and mappings with odd keys.

YAML reads `image: {{ .Values.image }}` as a map whose key is a map, and `# {{- if .Values.on }}` as
a comment. A merge field by field would have to guess what such a text means.

Parsing is slow, so the characters are searched for signs of templates and odd keys first. A text
without a sign certainly has neither. A text with a sign is parsed to be certain.
"""

from __future__ import annotations

from kmerge_git.errors import CannotParse, TextOnly
from kmerge_git.text.opaque_files import is_chart_text
from kmerge_git.tree.nodes import Collection, Scalar
from kmerge_git.tree.parser import name_end

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from kmerge_git.tree.documents import Document, Stream

TEMPLATE = "a template, not YAML"
ODD_KEY = "a key is a list or a map"
# actions that decide whether the text up to their `end` is rendered; Helm runs them in comments too
_OPEN = ("if", "range", "with", "define", "block")
_CONTROL = frozenset((*_OPEN, "else", "end", "template", "break", "continue"))
# what surrounds a collection used as a key of a flow mapping, in a text without blanks
_SIGNS = (
    *("{{", "{[", ",{", ",[", "}:", "]:", "{#", ",#", "{?", ",?", "[?"),
    *("{&", ",&", "{!", ",!", "{*", ",*"),
)
# how a quoted value writes its own quote, and what may look like that
_WRITTEN = {"'": ("''",), '"': ("\\\\", '\\"')}
_BLANK = (" ", "\t", "\n", "\r")
_LINE_END = ("\n", "")


def refuse_oddities(*versions: Stream) -> None:
    """Raise `TextOnly` if a document that only some versions have cannot be merged field by field.

    The whole file is then merged as text, because a template action can span many documents.
    """
    path = versions[0].source.path
    if is_chart_text(path):
        raise TextOnly(TEMPLATE, path=path)
    left = _left(versions)
    suspects = [
        document for documents in left for document in documents if _has_sign(document.content)
    ]
    if suspects:
        contents = [{document.content for document in documents} for documents in left]
        for document in suspects:
            if not all(document.content in known for known in contents):
                _refuse(document)
    around = [
        (stream.prologue, *(d.opening for d in stream.documents), stream.tail)
        for stream in versions
    ]
    if any(other != around[0] for other in around):
        for stream, texts in zip(versions, around, strict=True):
            for text in texts:
                if _runs_over(text, list(_actions(text))) >= 0:
                    raise TextOnly(TEMPLATE, path=stream.source.path)


def _left(versions: tuple[Stream, ...]) -> list[list[Document]]:
    """Return the documents of each version, without the documents that all versions share."""
    shared = {id(document.content) for document in versions[0].documents}
    for stream in versions[1:]:
        shared &= {id(document.content) for document in stream.documents}
    return [[d for d in stream.documents if id(d.content) not in shared] for stream in versions]


def _refuse(document: Document) -> None:
    """Raise `TextOnly` if this document cannot be merged field by field."""
    content, source = document.content, document.source
    if begins_as_template(content):  # the parser would refuse it, too
        raise source.error(TEMPLATE, document.body + content.find("{{-"))
    try:
        root = document.root
    except CannotParse:
        if "{{" in content:
            raise
        return  # if the document is needed at all, its reader will raise this error
    scalars: list[tuple[int, int, bool]] = []
    if isinstance(root, Collection):
        odd = _odd_key(document, scalars)
        if odd >= 0:
            why = TEMPLATE if source.text.startswith("{{", odd - 1) else ODD_KEY
            raise source.place(TextOnly(why), odd)
    elif isinstance(root, Scalar):
        scalars.append((root.start, root.end, not root.style))
    scalars.sort(reverse=True)
    commented: list[tuple[int, str]] = []
    for offset, word in _actions(content):
        at = document.body + offset
        while scalars and scalars[-1][1] <= at:
            scalars.pop()
        if not (scalars and scalars[-1][0] <= at):
            commented.append((offset, word))
        elif scalars[-1][2]:
            raise source.place(TextOnly(TEMPLATE), at)
    at = _runs_over(content, commented)
    if at >= 0:
        raise source.place(TextOnly(TEMPLATE), document.body + at)


def begins_as_template(content: str) -> bool:
    """Return whether a document begins with `{{- `, a template action that is never valid YAML."""
    if not content.lstrip(" \n").startswith(("{{- ", "{{-\n")):
        return False
    plain = content.replace("\n", "").replace("\t", "")
    return plain.isascii() and plain.isprintable()


def _runs_over(text: str, actions: list[tuple[int, str]]) -> int:
    """Return the offset of the first template action in comments that affects other text, or -1.

    The `end` of such an action is outside of the comments, or data is between the two. A complete
    example within one comment affects nothing.
    """
    depth = last = 0
    for at, word in actions:
        if word not in (*_OPEN, "else", "end"):
            continue
        is_apart = depth > 0 and not _is_comment(text[last:at])
        if is_apart or (depth == 0 and word not in _OPEN):
            return at
        depth += (word in _OPEN) - (word == "end")
        last = at
    return last if depth else -1


def _is_comment(text: str) -> bool:
    """Return whether the text between two template actions in comments holds only comments."""
    _, *lines = text.split("\n")
    return all(not line.strip() or line.lstrip().startswith("#") for line in lines)


def _odd_key(document: Document, scalars: list[tuple[int, int, bool]]) -> int:
    """Return the offset of a key that is a collection, or -1; add all scalars to `scalars`.

    The function walks over the parser's nodes, because building the nodes of `tree.nodes` is
    slower.
    """
    base = document.parsed_from
    todo: list[Any] = [document.graph]
    known: set[int] = set()
    for node in todo:  # `todo` grows on the way
        if isinstance(node.value, str):
            start: int = node.start_mark.index + base
            scalars.append((start, node.end_mark.index + base, not node.style))
        elif id(node) not in known:
            known.add(id(node))
            for child in node.value:
                if isinstance(child, tuple):
                    if not isinstance(child[0].value, str):
                        odd: int = child[0].start_mark.index + base
                        return odd
                    todo += child
                else:
                    todo.append(child)
    return -1


# -- signs


def _has_sign(text: str) -> bool:
    """Return whether a text may hold template actions or odd keys. The answer False is certain."""
    if has_control(text) or _has_question(text) or _has_alias_key(text):
        return True
    if not (_opens(text, "{", "}") or _opens(text, "[", "]")):
        return False
    bare = "".join(text.split())
    return any(sign in bare for sign in _SIGNS)


def has_control(text: str) -> bool:
    """Return whether a text has template actions for control, such as `{{ if }}` or `{{ end }}`.

    Actions within one quoted value of one line do not count: they decide about no other line.
    """
    seen = 0  # the end of the last line that was looked at
    for at, _ in _actions(text):
        if at >= seen:
            start = text.rfind("\n", 0, at) + 1
            seen = text.find("\n", at) + 1 or len(text) + 1
            if not _is_closed(text[start:seen].strip()):
                return True
    return False


def _is_closed(line: str) -> bool:
    """Return whether all actions of a line are in its quoted value, each with its `end`."""
    value = line
    while value.startswith("- "):
        value = value[2:].lstrip()
    if value[:1] not in _WRITTEN:
        name, _, value = value.partition(": ")
        value = value.lstrip()
        if value[:1] not in _WRITTEN or any(mark in name for mark in "\"'#{["):
            return False
    quote, text = value[0], value[1:]
    plain = text
    for written in _WRITTEN[quote]:
        plain = plain.replace(written, "  ")
    end = plain.find(quote)
    if end < 0 or plain[end + 1 :].lstrip()[:1] not in ("", "#") or "{{" in plain[end:]:
        return False
    return _runs_over(text[:end], list(_actions(text[:end]))) < 0


def _actions(text: str) -> Iterator[tuple[int, str]]:
    """Yield the offset and the keyword of each template action for control, such as `{{ if }}`."""
    at = text.find("{{")
    while at >= 0:
        start = at + 2 + text.startswith("-", at + 2)
        while text[start : start + 1] in _BLANK:
            start += 1
        end = name_end(text, start)
        if text[start:end] in _CONTROL and text[end : end + 1] != ".":
            yield at, text[start:end]
        at = text.find("{{", at + 2)


def _has_question(text: str) -> bool:
    """Return whether a text has a `?` that may begin a key, at the start of a value or line."""
    at = text.find("?")
    while at >= 0:
        if text[at + 1 : at + 2] in _BLANK and _before(text, at) in "\n-?:":
            return True
        at = text.find("?", at + 1)
    return False


def _has_alias_key(text: str) -> bool:
    """Return whether an alias may be used as a key."""
    at = text.find("*") if "&" in text else -1
    while at >= 0:
        end = name_end(text, at + 1)
        if end > at + 1:
            while text[end : end + 1] in (" ", "\t"):
                end += 1
            if text[end : end + 1] == ":":
                return True
        at = text.find("*", at + 1)
    return False


def _opens(text: str, bracket: str, closing: str) -> bool:
    """Return whether a flow collection may begin as a value, or after an anchor or tag."""
    at = text.find(bracket)
    while at >= 0:
        is_empty = text.startswith(closing, at + 1) and text[at + 2 : at + 3] in _LINE_END
        if not is_empty and (not at or text[at - 1] in _BLANK):
            is_value = _before(text, at) in "\n-?:"
            if is_value or _word_before(text, at)[:1] in ("&", "!"):
                return True
        at = text.find(bracket, at + 1)
    return False


def _before(text: str, at: int) -> str:
    """Return the last non-blank character before an offset; at the start of a line, a line end."""
    at = _behind_word(text, at)
    return text[at - 1] if at else "\n"


def _word_before(text: str, at: int) -> str:
    """Return the last word before an offset."""
    start = end = _behind_word(text, at)
    while start and text[start - 1] not in _BLANK:
        start -= 1
    return text[start:end]


def _behind_word(text: str, at: int) -> int:
    """Return where the blanks directly before an offset begin."""
    while at and text[at - 1] in (" ", "\t"):
        at -= 1
    return at
